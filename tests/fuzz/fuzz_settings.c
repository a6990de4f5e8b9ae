/* SPDX-License-Identifier: MIT */
/*
 * Any text as settings or release is understood, or refused with a reason; if
 * settings are refused at the start, they stay unchanged.
 */
#include <string.h>

#include "fuzz/target.h"
#include "gpupool/knob.h"

static void parse_settings(const char *text, uint8_t release)
{
	struct gp_settings settings, before;
	struct gp_diag diag = { 0 };
	enum gp_status status;

	/* Including padding, so that memcmp can be used. */
	memset(&settings, 0, sizeof(settings));
	gp_settings_init(&settings, release);
	memcpy(&before, &settings, sizeof(before));
	status = gp_settings_parse(&settings, text, &diag);
	must(status == GP_OK || status == GP_INPUT, "neither read nor refused");
	if (status != GP_OK) {
		must(diag.what[0], "an error says nothing");
		must(!memcmp(&settings, &before, sizeof(before)),
		     "refused settings were changed");
	}
}

static void set_settings(const char *text, uint8_t release)
{
	struct gp_settings settings;
	struct gp_diag diag = { 0 };
	enum gp_status status;

	gp_settings_init(&settings, release);
	status = gp_settings_set(&settings, text, &diag);
	must(status == GP_OK || status == GP_INPUT, "neither set nor refused");
	must(status == GP_OK || diag.what[0], "an error says nothing");
	gp_settings_round(&settings, 1000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gp_diag diag = { 0 };
	uint8_t minor;
	char *text;

	if (!size)
		return 0;
	text = calloc(size, 1);
	memcpy(text, data + 1, size - 1);
	parse_settings(text, data[0] % (GP_RELEASE_LAST + 1));
	set_settings(text, data[0] % (GP_RELEASE_LAST + 1));
	if (gp_release_parse(text, &minor, &diag) == GP_OK)
		must(minor <= GP_RELEASE_LAST, "there is no such release");
	free(text);
	return 0;
}
