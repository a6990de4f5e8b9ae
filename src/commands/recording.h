/* SPDX-License-Identifier: MIT */
/* Runs a program on a CUDA without a device, and keeps its traces. */
#ifndef COMMANDS_RECORDING_H
#define COMMANDS_RECORDING_H

#include <stdint.h>
#include <limits.h>
#include <stdio.h>

#include "commands/options.h"
#include "device/gpu.h"

struct gp_recording {
	const struct gp_options *options; /* as for gpupool record */
	bool is_boundless; /* the size of device memory that is reported to the
			    * program is not a limit */
	bool is_output_aside; /* the program's output goes to standard error */
	bool is_silent;	      /* the output is discarded */
	/* Results: */
	size_t count; /* of traces; gp_recorded_name names them */
	/* Bytes, for the device and process that had most. */
	uint64_t peak_allocated, peak_reserved;
	int ending;   /* as from waitpid */
	bool runs_on; /* a process that it started is still running */
};

enum gp_status gp_record_program(struct gp_recording *recording,
				 struct gp_diag *diag);
/* The program's exit status as a shell reports it: its own, or 128 plus the
 * signal. */
int gp_recording_status(const struct gp_recording *recording);

/* The device of --gpu, or the default one; NULL, with GP_USAGE in diag: there
 * is none of that name. */
const struct gp_gpu *gp_record_gpu(const struct gp_options *options,
				   struct gp_diag *diag);
/* Prints the answer to --gpu help. */
void gp_record_list_gpus(FILE *out);

/* ---- a program that is recorded several times: each time its unknown values
 * are drawn with another seed ---- */

struct gp_seeds {
	struct gp_recording *recording; /* what to record; afterwards, the one
					 * with the largest peak */
	/* Results: */
	uint64_t count;	       /* of recordings; 1 if no seeds are asked for */
	uint64_t first;	       /* seed */
	uint64_t worst;	       /* seed, of the largest peak */
	uint64_t least, most;  /* bytes reserved at the peak, over all seeds */
	char output[PATH_MAX]; /* the name of the worst one's trace file */
};

/* The name of each trace contains its seed: trace.seed2.json. Stops at the
 * first recording that fails, or whose program does not exit with status 0. */
enum gp_status gp_record_seeds(struct gp_seeds *seeds, struct gp_diag *diag);
/* "5 seeds: reserved at the peak 1.2 GiB to 1.4 GiB, the most with seed 3" */
#define GP_SEEDS_TEXT 160
void gp_seeds_text(const struct gp_seeds *seeds, char text[GP_SEEDS_TEXT]);
/* Prints the range of the peaks to standard error, if there were several seeds.
 */
void gp_seeds_print(const struct gp_seeds *seeds);

/* Rows of options. */
#define GP_VALUES_OPTIONS                                                      \
	{ "values",                                                            \
	  0,                                                                   \
	  GP_OPTION_TEXT,                                                      \
	  GP_AT(values),                                                       \
	  "known|drawn:SEED|all",                                              \
	  "What the program's values are: those that follow from what it "     \
	  "knows, and zeros for the others, which is the default; noise for "  \
	  "the others; or all computed, which takes long." },                  \
	{                                                                      \
		"seeds", 0, GP_OPTION_SOME, GP_AT(seeds), "N",                 \
			"Record N times, each time with values drawn from "    \
			"another seed, and report the range of the peak."      \
	}

#endif
