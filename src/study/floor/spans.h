/* SPDX-License-Identifier: MIT */
/* Operations on spans that all packing methods share. */
#ifndef STUDY_FLOOR_SPANS_H
#define STUDY_FLOOR_SPANS_H

#include "study/floor/floor.h"

/* At equal times, ENDS precedes BEGINS. Packed, as a list of these is much of
 * the memory that a floor takes. */
enum { ENDS, BEGINS };
struct moment {
	uint64_t time;
	uint32_t span : 31;
	uint32_t kind : 1;
} __attribute__((packed));

/* All moments in order of time; the caller frees *moments. */
size_t spans_moments(const struct gp_spans *spans, bool with_gaps,
		     struct moment **moments);

/* Whether both spans are in use at some time. */
bool spans_meet(const struct gp_spans *spans, uint32_t i, uint32_t k);

uint64_t spans_top(const struct gp_spans *spans, const uint64_t *offsets);

static inline uint64_t align_up(uint64_t offset, uint64_t align)
{
	uint64_t over = align > 1 ? offset % align : 0;

	return over ? offset + align - over : offset;
}

#endif
