/* SPDX-License-Identifier: MIT */
/*
 * A shelf: the free blocks of one pool and stream, by (size, counter, address).
 *
 * What PyTorch keeps in one std::set per pool is here one bin per size class,
 * and a bitmap over the bins: the best fit is the first block of the request's
 * own bin that is large enough, else the first of the next bin that holds any.
 * Up to 32 KiB a bin is one size; above, an octave has 32 bins.
 */
#ifndef CACHING_SHELF_H
#define CACHING_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/caching/bin.h"
#include "allocator/caching/block.h"

#define SHELF_UNIT_SHIFT  9  /* sizes are multiples of 512 */
#define SHELF_EXACT	  64 /* units with a bin of their own */
#define SHELF_STEPS_SHIFT 5  /* 32 bins an octave above */
#define SHELF_BINS	  (SHELF_EXACT + (55 - 6) * (1 << SHELF_STEPS_SHIFT))
#define SHELF_WORDS	  ((SHELF_BINS + 63) / 64)

/* What is known of a shelf elsewhere, so that nobody looks at them all. */
enum shelf_note {
	SHELF_LISTED = 1 << 0,	/* where blocks are collected: pool.h */
	SHELF_CHANGED = 1 << 1, /* its largest block may be another */
};

/* Zeroed is empty. */
struct shelf {
	uint64_t summary; /* bit w: words[w] is not 0 */
	uint8_t notes;	  /* enum shelf_note */
	uint16_t stream;
	uint32_t number; /* among all shelves, from 0 */
	struct shelf *next_changed;
	struct caching_pool *pool; /* NULL: of none */
	uint64_t words[SHELF_WORDS];
	struct bin bins[SHELF_BINS];
	/* Unmapped blocks of expandable segments, by address. */
	struct block **unmapped;
	size_t unmapped_count, unmapped_room;
};

static inline bool shelf_is_empty(const struct shelf *shelf)
{
	return !shelf->summary;
}

void shelf_insert(struct shelf *shelf, struct block *b);
void shelf_remove(struct shelf *shelf, struct block *b);
/* Takes bytes off the low end of a shelved block. */
void shelf_shrink(struct shelf *shelf, struct block *b, uint64_t bytes);

/* The first block of at least size bytes; NULL: none. */
struct block *shelf_best(struct shelf *shelf, uint64_t size);
/* The neighbours of a shelved block in the shelf's order; NULL: none. */
struct block *shelf_next(const struct shelf *shelf, const struct block *b);
struct block *shelf_prev(const struct shelf *shelf, const struct block *b);
/* The largest block; NULL: none. */
struct block *shelf_last(const struct shelf *shelf);

void shelf_insert_unmapped(struct shelf *shelf, struct block *b);
void shelf_remove_unmapped(struct shelf *shelf, const struct block *b);

#endif
