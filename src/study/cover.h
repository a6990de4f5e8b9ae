/* SPDX-License-Identifier: MIT */
/*
 * Cover: all values of some settings, covered by few replays.
 *
 * The values that a replay proves to be equivalent are removed from the space
 * of all values (space.h), until nothing is left. Then it is known for every
 * value whether it serves the trace. Replays end at the first OOM.
 */
#ifndef STUDY_COVER_H
#define STUDY_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

struct gp_cover_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	uint8_t release;
	/* The values of settings that are not searched; those that are searched
	 * are ignored. */
	const char *conf;
	const struct gp_engine *engine;
	uint64_t capacity;   /* bytes, or GP_UNLIMITED */
	unsigned searched;   /* a bit mask: 1 << enum gp_space_axis */
	uint64_t large_most; /* largest large_segment_size_mb, if searched */
	uint64_t refused; /* requests that PyTorch refuses with any setting */
	uint32_t budget;  /* most replays, of all calls */
	/* Stop at the first value that serves; gp_cover_resume goes on. */
	bool first_only;
};

/* Values that one replay covers, all of which serve the trace. Boxes may
 * overlap. */
struct gp_cover_box {
	/* The value that a person would choose: unset rather than set, and
	 * round numbers. Owned. */
	char *conf;
	struct gp_alike alike; /* bytes */
};

struct gp_cover {
	struct gp_cover_box *boxes; /* that serve, in order of discovery */
	size_t count, room;
	uint32_t runs;
	bool complete; /* every value is covered */
	bool is_over;  /* that, or first_only found one: the last box */
	struct gp_space *space; /* what is not covered yet */
};

/* Searches on where the last call ended; before the first, *cover is zero.
 * GP_INPUT: the release does not accept conf. A trace with requests that fail
 * under all settings, beyond `refused`, has no box. */
enum gp_status gp_cover_search(const struct gp_cover_config *config,
			       struct gp_cover *cover, struct gp_diag *diag);
/* Drops the box that first_only found. Its values are covered, or else the next
 * call tries them again, at the capacity that it is given. */
void gp_cover_resume(struct gp_cover *cover, bool is_covered);
void gp_cover_release(struct gp_cover *cover);

#endif
