/* SPDX-License-Identifier: MIT */
/* One setting of a sweep and its values. */
#ifndef STUDY_SWEEP_AXIS_H
#define STUDY_SWEEP_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"

/*
 * An axis: "NAME=VALUE,...". NAME is PyTorch's name of a setting, or the name
 * of an engine's own setting, or torch, capacity or engine. A VALUE may be none
 * (not set), a range A..B*F or A..B+S, or contain commas within brackets. Or
 * the only value is all.
 */
struct gp_axis {
	char *name;
	char **values; /* "none": not set */
	size_t count;
	/* The only value is "all": every value that makes a difference. */
	bool is_all;
	bool is_of_engine; /* a setting of an engine's own */
};

/* Parses an axis; GP_USAGE if the text is invalid. largest: the largest request
 * in bytes, which bounds the roundings that make a difference; 0: "all" is not
 * permitted. */
enum gp_status gp_axis_parse(const char *text, uint64_t largest,
			     struct gp_axis *axis, struct gp_diag *diag);
void gp_axis_release(struct gp_axis *axis);

#endif
