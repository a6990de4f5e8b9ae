/* SPDX-License-Identifier: MIT */
/* A program, run over CUDA without a device, and its traces. */
#ifndef COMMANDS_RECORDING_H
#define COMMANDS_RECORDING_H

#include <stdint.h>
#include <limits.h>
#include <stdio.h>

#include "commands/options.h"
#include "device/gpu.h"

struct gp_recording {
	const struct gp_options *options; /* as gpupool record takes them */
	bool is_boundless;    /* what is shown of a device is no limit */
	bool is_output_aside; /* what the program prints is no answer: it goes
			       * to standard error */
	/* After it: */
	size_t count; /* of traces, named by gp_recorded_name */
	/* Bytes, of the device and process that had most. */
	uint64_t peak_allocated, peak_reserved;
	int ending;   /* as waitpid has it */
	bool runs_on; /* a process that it started is there all the same */
};

enum gp_status gp_record_program(struct gp_recording *recording,
				 struct gp_diag *diag);
/* How the program ended, as a shell has it: its status, or 128 and the signal.
 */
int gp_recording_status(const struct gp_recording *recording);

/* The device of --gpu, or the default one; NULL: there is none of that name,
 * and diag says so, with GP_USAGE. */
const struct gp_gpu *gp_record_gpu(const struct gp_options *options,
				   struct gp_diag *diag);
/* What --gpu help shows. */
void gp_record_list_gpus(FILE *out);

/* ---- a program that is recorded several times: what nobody knows of its
 * values is drawn with another seed each time ---- */

struct gp_seeds {
	struct gp_recording *recording; /* what is to be recorded; then that of
					 * the largest peak */
	/* After it: */
	uint64_t count;	       /* of recordings; 1 where none are asked for */
	uint64_t first;	       /* seed */
	uint64_t worst;	       /* seed, of the largest peak */
	uint64_t least, most;  /* bytes reserved at the peak, of all seeds */
	char output[PATH_MAX]; /* the worst's trace, as it was named */
};

/* Each seed's trace has its number in its name: trace.seed2.json.  Stops at the
 * first that fails, as its status says, or that ends with another status than
 * 0. */
enum gp_status gp_record_seeds(struct gp_seeds *seeds, struct gp_diag *diag);
/* "5 seeds: reserved at the peak 1.2 GiB to 1.4 GiB, the most with seed 3" */
#define GP_SEEDS_TEXT 160
void gp_seeds_text(const struct gp_seeds *seeds, char text[GP_SEEDS_TEXT]);
/* What several came to, on standard error. */
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
			"Record N times, with values drawn with a seed each, " \
			"and tell the "                                        \
			"range of the peak."                                   \
	}

#endif
