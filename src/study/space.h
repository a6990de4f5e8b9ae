/* SPDX-License-Identifier: MIT */
/*
 * Spaces: all values of some settings, tried one class after the other.
 *
 * A replay tells for which other values of max_split_size_mb,
 * garbage_collection_threshold and large_segment_size_mb it would have gone the
 * same way (struct gp_alike).  What one replay speaks for is taken off the
 * space, and the next one is made with a value from what is left:
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
	/* Settings that are not searched hold as they are here; those that are
	 * searched are passed over. */
	const char *conf;
	unsigned searched;   /* 1 << enum gp_space_axis, of several */
	uint64_t large_most; /* MiB of large_segment_size_mb, if searched */
};

/* Values that one replay speaks for, in PyTorch's units; both ends included. */
struct gp_box {
	/* GP_UNLIMITED as most: "not set" is one of them. */
	uint64_t split_least_mb, split_most_mb;
	uint64_t large_least_mb, large_most_mb;
	double gc_least, gc_most; /* least above most: off alone */
	bool gc_off;
};

struct gp_space;

/* GP_INPUT: the release does not take conf. */
enum gp_status gp_space_create(const struct gp_space_config *config,
			       struct gp_space **space, struct gp_diag *diag);
void gp_space_destroy(struct gp_space *space);

/* Settings that nothing taken speaks for; NULL: nothing is left.  What is not
 * set comes before what is, and round numbers before others.  Owned by the
 * space, until the next call. */
const char *gp_space_next(struct gp_space *space);

/* The replay of the settings that were next speaks for those: takes them off,
 * and tells them. */
void gp_space_take(struct gp_space *space, const struct gp_alike *alike,
		   struct gp_box *box);

/* Of a box the settings that a person would type; the caller frees. */
char *gp_space_conf(const struct gp_space *space, const struct gp_box *box);

/* How many values there are, where one setting of whole MiB is searched; those
 * of max_split_size_mb from top on, which are one class, count as one.  0: they
 * are not counted. */
uint64_t gp_space_values(const struct gp_space *space, uint64_t top_mb);

/* Alike to both. */
struct gp_alike gp_alike_both(const struct gp_alike *a,
			      const struct gp_alike *b);

#endif
