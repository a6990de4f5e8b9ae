/* SPDX-License-Identifier: MIT */
/*
 * Expandable segments: reserved addresses that memory is mapped into page by
 * page.  PyTorch: ExpandableSegment, find_expandable_block, map_block,
 * try_allocate_expandable_block, unmap_block.
 */
#ifndef CACHING_EXPANDABLE_H
#define CACHING_EXPANDABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/allocator.h"

struct block;
struct caching;
struct request;

struct expandable_segment {
	uint64_t addr, size, page;		 /* bytes */
	struct expandable_segment *next, **link; /* all of an allocator */
};

/* What a decision showed of a segment's reservation, in bytes from its start
 * on (struct gp_device_reach): there were so many, or with so many it would
 * have been another. */
void expandable_note_range(struct caching *c, uint64_t bytes, bool is_there);

/* A mapped free block of at least the request, off its shelf; *found is written
 * only when served. */
enum gp_answer expandable_obtain(struct caching *c,
				 const struct request *request,
				 struct block **found);

/* Gives the whole pages of a shelved block back. */
enum gp_answer expandable_unmap(struct caching *c, struct block *b);

#endif
