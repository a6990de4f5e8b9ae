/* SPDX-License-Identifier: MIT */
/* One setting of a sweep, and the values it takes. */
#ifndef STUDY_SWEEP_AXIS_H
#define STUDY_SWEEP_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"

/*
 * An axis: "NAME=VALUE,...".  NAME is PyTorch's name of a setting, or one of an
 * engine's own, or torch, capacity, engine.  A value may be none (not set), a
 * range A..B*F or A..B+S, and has its commas within brackets.  Or there is one
 * value alone, all.
 */
struct gp_axis {
	char *name;
	char **values; /* "none" is not set */
	size_t count;
	/* The only value is "all": every value that makes a difference. */
	bool is_all;
	bool is_of_engine; /* a setting of an engine's own */
};

/* GP_USAGE for what is none.  largest: of the requests, in bytes, which bounds
 * the rounding that makes a difference; 0: no axis may take all values. */
enum gp_status gp_axis_parse(const char *text, uint64_t largest,
			     struct gp_axis *axis, struct gp_diag *diag);
void gp_axis_release(struct gp_axis *axis);

#endif
