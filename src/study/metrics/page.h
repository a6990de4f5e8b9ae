/* SPDX-License-Identifier: MIT */
/* Pages: the unit in which a segment is returned to the device, which is the
 * whole segment unless it is expandable. */
#ifndef STUDY_METRICS_PAGE_H
#define STUDY_METRICS_PAGE_H

#include "base/larger.h"
#include "gpupool/knob.h"
#include "gpupool/trace.h"

#define METRICS_SMALL_PAGE (UINT64_C(2) << 20) /* PyTorch's kSmallBuffer */

static inline uint64_t page_of_segment(const struct gp_settings *settings,
				       const struct gp_segment *segment)
{
	uint64_t page = segment->is_small ? METRICS_SMALL_PAGE
					  : settings->large_segment_size;

	if (!segment->is_expandable)
		return segment->size;
	/* If the settings have changed, other segments have other page sizes,
	 * of which it is only known that they are multiples of the smallest. */
	return segment->size % page ? METRICS_SMALL_PAGE : page;
}

/* The whole pages within a block, relative to its segment, which begins with a
 * page; size 0: none. */
struct page_range {
	uint64_t addr, size;
};

static inline struct page_range whole_pages(const struct gp_segment *segment,
					    uint64_t page, uint64_t addr,
					    uint64_t size)
{
	uint64_t from = addr - segment->addr, to = from + size;
	uint64_t first = gp_round_up(from, page);
	uint64_t last = to / page * page;

	if (first >= last)
		return (struct page_range){ addr, 0 };
	return (struct page_range){ segment->addr + first, last - first };
}

/* The number of bytes of a block within a range. */
static inline uint64_t overlap(const struct gp_block *block, uint64_t addr,
			       uint64_t size)
{
	uint64_t from = block->addr > addr ? block->addr : addr;
	uint64_t to = block->addr + block->size;

	if (to > addr + size)
		to = addr + size;
	return to > from ? to - from : 0;
}

/* 2^class <= size < 2^(class + 1); the class of 0 is 0. */
static inline unsigned size_class(uint64_t size)
{
	unsigned class = 0;

	while (size >>= 1)
		class ++;
	return class;
}

#endif
