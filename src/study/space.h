/* SPDX-License-Identifier: MIT */
/*
 * Spaces: all values of some settings, tried one equivalence class after
 * another.
 *
 * A replay determines for which other values of max_split_size_mb,
 * garbage_collection_threshold and large_segment_size_mb it would have been the
 * same (struct gp_alike). These values are removed from the space, and the next
 * replay uses a value from what is left:
 *
 *	while ((conf = gp_space_next(space))) {
 *		... replay conf, for alike ...
 *		gp_space_take(space, &alike, &box);
 *	}
 */
#ifndef STUDY_SPACE_H
#define STUDY_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/knob.h"
#include "gpupool/status.h"

enum gp_space_axis {
	GP_SPACE_SPLIT,
	GP_SPACE_LARGE,
	GP_SPACE_GC,
	GP_SPACE_AXES,
};

/* PyTorch's names. */
extern const char *const gp_space_names[GP_SPACE_AXES];

struct gp_space_config {
	uint8_t release;
	/* The values of settings that are not searched; those that are searched
	 * are ignored. */
	const char *conf;
	unsigned searched;   /* a bit mask: 1 << enum gp_space_axis */
	uint64_t large_most; /* largest large_segment_size_mb, if searched */
};

/* The values that one replay covers, in PyTorch's units; both ends included. */
struct gp_box {
	/* Most GP_UNLIMITED: "not set" is included. */
	uint64_t split_least_mb, split_most_mb;
	uint64_t large_least_mb, large_most_mb;
	double gc_least, gc_most; /* least above most: only off */
	bool gc_off;
};

struct gp_space;

/* GP_INPUT: the release does not accept conf. */
enum gp_status gp_space_create(const struct gp_space_config *config,
			       struct gp_space **space, struct gp_diag *diag);
void gp_space_destroy(struct gp_space *space);

/* The settings to replay next, which no earlier replay covers; NULL: nothing is
 * left. Unset values come before set ones, and round numbers before others.
 * Owned by the space; valid until the next call. */
const char *gp_space_next(struct gp_space *space);

/* Removes the values that the replay of the last settings covers, and stores
 * them in *box. */
void gp_space_take(struct gp_space *space, const struct gp_alike *alike,
		   struct gp_box *box);

/* The settings in a box that a person would choose; the caller frees it. */
char *gp_space_conf(const struct gp_space *space, const struct gp_box *box);

/* The number of values, if one setting of whole MiB is searched; all
 * max_split_size_mb from top_mb on, which are equivalent, count as one. 0: not
 * countable. */
uint64_t gp_space_values(const struct gp_space *space, uint64_t top_mb);

/* The values that are equivalent to both runs: the intersection. */
struct gp_alike gp_alike_both(const struct gp_alike *a,
			      const struct gp_alike *b);

#endif
