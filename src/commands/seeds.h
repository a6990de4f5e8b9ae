/* SPDX-License-Identifier: MIT */
/* A program that is recorded several times: what nobody knows of its values is
 * drawn with another seed each time. */
#ifndef COMMANDS_SEEDS_H
#define COMMANDS_SEEDS_H

#include <limits.h>
#include <stdint.h>

#include "commands/recording.h"

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
