/* SPDX-License-Identifier: MIT */
/* The files that a recorded program left: one file of events for each
 * process. */
#ifndef COMMANDS_RECORDED_H
#define COMMANDS_RECORDED_H

#include "commands/options.h"

struct gp_recorded_options {
	bool quiet;	     /* print problems only */
	const char *context; /* printed if the program asked how much is free */
	bool strict;	     /* GP_FAILED if unknown values were read */
};

struct gp_recorded_result {
	size_t count; /* of traces */
	/* Bytes, for the device and process that had most. */
	uint64_t peak_allocated, peak_reserved;
	bool is_doubted;  /* some program may take another path on a GPU */
	bool has_guessed; /* because it read unknown values */
};

/* Writes the trace of each process in the folder to output or, if there are
 * several, to output.N; replays it and prints a summary to standard error.
 * Removes the folder. */
enum gp_status gp_recorded_take(const char *folder, const char *output,
				struct gp_recorded_options how,
				struct gp_recorded_result *result,
				struct gp_diag *diag);
/* The name of the trace with that index. */
void gp_recorded_name(const char *output, size_t index, size_t count,
		      char *name, size_t size);

#endif
