/* SPDX-License-Identifier: MIT */
/*
 * Why a release reserves another amount than the one before:
 *
 *	one_change TRACE CONF MINOR
 *
 * replays the trace as release 2.MINOR, each time without one of the changes of
 * that release (src/allocator/release.c).  If the run then reserves the same as
 * the release before, this change is the reason, and its sentence is printed.
 * Linked with --wrap=gp_release_has, which removes a change.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/release.h"
#include "gpupool/ask.h"

static enum gp_change without = GP_CHANGES; /* none */

bool __real_gp_release_has(uint8_t release, enum gp_change change);
bool __wrap_gp_release_has(uint8_t release, enum gp_change change);

bool __wrap_gp_release_has(uint8_t release, enum gp_change change)
{
	return change != without && __real_gp_release_has(release, change);
}

/* Bytes, of the device with the most. */
static uint64_t peak_reserved(const char *trace, const char *conf, int minor)
{
	static const char key[] = "\"reserved_bytes.all.peak\":";
	char release[16];
	const char *question[] = { "replay",  trace,	  "-q",
				   "--torch", release,	  "--alloc-conf",
				   conf,      "--format", "json" };
	struct gp_reply reply;
	uint64_t most = 0;

	snprintf(release, sizeof(release), "2.%d", minor);
	gp_ask(NULL, sizeof(question) / sizeof(*question), question, &reply);
	for (const char *at = reply.out; (at = strstr(at, key));) {
		uint64_t bytes = strtoull(at += sizeof(key) - 1, NULL, 10);

		most = bytes > most ? bytes : most;
	}
	if (!most)
		fputs(reply.err, stderr);
	gp_reply_release(&reply);
	return most;
}

int main(int argc, char **argv)
{
	const struct gp_change_row *rows;
	uint64_t before, after;
	size_t count, reasons = 0;
	int minor;

	if (argc != 4) {
		fputs("usage: one_change TRACE CONF MINOR\n", stderr);
		return 2;
	}
	minor = atoi(argv[3]);
	before = peak_reserved(argv[1], argv[2], minor - 1);
	after = peak_reserved(argv[1], argv[2], minor);
	if (!before || !after)
		return 1;
	rows = gp_change_table(&count);
	for (size_t i = 0; i < count && before != after; i++) {
		if (rows[i].since != minor)
			continue;
		without = (enum gp_change)i;
		if (peak_reserved(argv[1], argv[2], minor) == before)
			printf("%s%s", reasons++ ? "; " : "", rows[i].sentence);
	}
	puts(reasons ? "" : "no change alone");
	return 0;
}
