/* SPDX-License-Identifier: MIT */
/* The memory pool of the engine async. */
#include "commands/pool_flags.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"

static enum gp_status bytes(const char *flag, const char *text, uint64_t *bytes,
			    struct gp_diag *diag)
{
	if (!text)
		return GP_OK;
	*bytes = GP_UNLIMITED;
	if (!strcmp(text, "unlimited") || gp_bytes_parse(text, bytes))
		return GP_OK;
	return gp_diag_set(diag, GP_USAGE,
			   "--%s %s: not a size such as 2GiB, 0 or unlimited",
			   flag, text);
}

static const struct {
	const char *name;
	size_t offset;
} reuses[] = {
	{ "events", offsetof(struct gp_pool_settings, follows_events) },
	{ "opportunistic",
	  offsetof(struct gp_pool_settings, is_opportunistic) },
	{ "internal", offsetof(struct gp_pool_settings, adds_waits) },
};
#define REUSES (sizeof(reuses) / sizeof(*reuses))

static bool *flag_of(struct gp_pool_settings *settings, size_t index)
{
	return (bool *)((char *)settings + reuses[index].offset);
}

static bool set_reuse(struct gp_pool_settings *settings, const char *name,
		      size_t length)
{
	for (size_t i = 0; i < REUSES; i++)
		if (strlen(reuses[i].name) == length &&
		    !strncmp(reuses[i].name, name, length)) {
			*flag_of(settings, i) = true;
			return true;
		}
	return false;
}

static enum gp_status reuse(const char *text, struct gp_pool_settings *settings,
			    struct gp_diag *diag)
{
	if (!text)
		return GP_OK;
	for (size_t i = 0; i < REUSES; i++)
		*flag_of(settings, i) = false;
	for (const char *at = text; strcmp(text, "none") != 0;) {
		size_t length = strcspn(at, ",");

		if (!set_reuse(settings, at, length)) {
			gp_diag_hint(diag, "events, opportunistic and "
					   "internal, with commas; or none");
			return gp_diag_set(diag, GP_USAGE,
					   "--pool-reuse: there is no %.*s",
					   (int)length, at);
		}
		if (!at[length])
			break;
		at += length + 1;
	}
	return GP_OK;
}

enum gp_status gp_pool_flags_parse(const struct gp_options *options,
				   struct gp_pool_settings *settings,
				   struct gp_diag *diag)
{
	enum gp_status status;

	*settings = gp_pool_settings_pytorch;
	status = bytes("pool-threshold", options->pool_threshold,
		       &settings->threshold, diag);
	if (status == GP_OK)
		status = bytes("pool-keep", options->pool_keep, &settings->keep,
			       diag);
	if (status == GP_OK)
		status = reuse(options->pool_reuse, settings, diag);
	if (status != GP_OK)
		gp_diag_file(diag, "replay");
	return status;
}
