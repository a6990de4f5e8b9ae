/* SPDX-License-Identifier: MIT */
/* Which settings lead to the same run of a trace. */
#ifndef STUDY_SAME_H
#define STUDY_SAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/knob.h"
#include "gpupool/trace.h"

/* What this depends on in a trace. */
struct same {
	uint64_t *sizes; /* of all requests, without duplicates */
	size_t size_count;
	bool sets_settings; /* the trace changes settings */
};

#define SAME_ALL_DEVICES UINT32_MAX

/* device: an index into trace->devices, or SAME_ALL_DEVICES. */
void same_init(struct same *same, const struct gp_trace *trace,
	       uint32_t device);
void same_release(struct same *same);

/* alike: from the run under `one`, with the default engine. */
bool same_holds(const struct same *same, const struct gp_alike *alike,
		const struct gp_settings *one, const struct gp_settings *other);

#endif
