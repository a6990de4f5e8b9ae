/* SPDX-License-Identifier: MIT */
/* What a recorded program left: one file of events a process. */
#ifndef COMMANDS_RECORDED_H
#define COMMANDS_RECORDED_H

#include "commands/options.h"

struct gp_recorded_options {
	bool quiet;	     /* only what is not as it should be is told */
	const char *context; /* what is told where free memory was asked for */
	bool strict; /* GP_FAILED where values that nobody knows were read */
};

struct gp_recorded_result {
	size_t count; /* of traces */
	/* Bytes, of the device and process that had most. */
	uint64_t peak_allocated, peak_reserved;
	bool is_doubted;  /* some program may take another path on a GPU */
	bool has_guessed; /* for it read values that nobody knows */
};

/* Writes the trace of each process in the folder to output or, of several,
 * output.N; replays it and tells on standard error.  The folder is removed. */
enum gp_status gp_recorded_take(const char *folder, const char *output,
				struct gp_recorded_options how,
				struct gp_recorded_result *result,
				struct gp_diag *diag);
/* The name of the trace of that index. */
void gp_recorded_name(const char *output, size_t index, size_t count,
		      char *name, size_t size);

#endif
