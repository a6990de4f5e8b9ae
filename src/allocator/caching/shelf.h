/* SPDX-License-Identifier: MIT */
/*
 * Blocks, the pieces that segments are cut into, and shelves, where the free
 * ones lie.
 */
#ifndef CACHING_SHELF_H
#define CACHING_SHELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/larger.h"
#include "gpupool/trace.h"

struct caching_pool;
struct expandable_segment;
struct shelf;
struct stream_set;

/* ---- blocks ---- */

enum block_use {
	BLOCK_IDLE,
	BLOCK_ALLOCATED,
	BLOCK_WAITING, /* freed, but some stream may still use it */
};

/*
 * A block: a piece of a segment.
 *
 * It is allocated, free (on its pool's shelf), waiting for events, or,
 * in an expandable segment, unmapped.  prev and next are its neighbours by
 * address within its segment.  Fields are PyTorch's struct Block
 * (c10/cuda/CUDACachingAllocator.cpp); the ones a request touches come first,
 * in one cache line.
 */
struct block {
	uint64_t addr, size;
	struct block *prev, *next;
	struct block *left, *right; /* in the shelf's list or tree */
	/* Decides between free blocks of one size before the address does:
	 * 0 up to 2.11, the object's number in 2.12, its segment's from 2.13.
	 */
	uint32_t counter;
	uint16_t stream;
	uint8_t use; /* enum block_use */
	bool is_mapped : 1;
	bool is_in_tree : 1;
	struct shelf *shelf; /* of its pool and stream */

	struct block *parent; /* in the tree */
	uint64_t requested;
	struct expandable_segment *segment; /* NULL: from cudaMalloc */
	/* Other streams; NULL: none, or it waits for one, which is wait_stream,
	 * and gc_base the number of its event. */
	struct stream_set *uses;
	struct stream_set *captured; /* those recorded while suspended */
	uint64_t gc_base; /* the pool's searches when it was last shelved */
	uint32_t id;
	uint32_t event_count;
	bool uses_unknown; /* used on a stream the trace does not name */
	bool is_unnamed;   /* among the events' unnamed */
	bool is_object;	   /* false: on the table's free list */
	uint16_t wait_stream;
};

static inline bool block_is_split(const struct block *b)
{
	return (b->prev != NULL) | (b->next != NULL);
}

/* The shelf's order. */
static inline bool block_is_before(const struct block *a, const struct block *b)
{
	if (a->size != b->size)
		return a->size < b->size;
	if (a->counter != b->counter)
		return a->counter < b->counter;
	return a->addr < b->addr;
}

/* ---- shelves ---- */

/*
 * A tree of free blocks in the shelf's order: a treap (Seidel and Aragon 1996),
 * which is a binary search tree by key and a heap by random priorities.  Zeroed
 * is empty.
 */
struct tree {
	struct block *root;
};

/*
 * A bin: free blocks of about one size, in the shelf's order.
 *
 * A list and behind it, for what is far back, a tree.  In recorded and
 * generated traces over half of the blocks come to an empty bin and two in
 * three of the others to the front of theirs, as onto a stack: what is freed is
 * what will be taken next.  So both ends of a block's stay are a few steps.  A
 * search that gets far puts what is behind into the tree, so that none is ever
 * long.
 */
struct bin {
	struct block *first; /* of the list, through left and right */
	struct tree tree;    /* all of it behind all of the list */
};

/*
 * A shelf: the free blocks of one pool and stream, by (size, counter, address).
 *
 * What PyTorch keeps in one std::set per pool is here one bin per size class,
 * and a bitmap over the bins: the best fit is the first block of the request's
 * own bin that is large enough, else the first of the next bin that holds any.
 * An octave has 32 bins, so that up to 32 KiB a bin is one multiple of 512.
 *
 * The block that came last is in no bin but in hand, until another one comes:
 * what is cut off it or freed beside it then moves nothing.  Two in five never
 * see a bin.
 *
 * Bins are in pages, which are there from their first block on: most streams
 * have blocks of few sizes, and programs may have thousands of streams.
 */
#define SHELF_STEPS_SHIFT 5 /* 32 bins an octave */
#define SHELF_PAGE_SHIFT  6 /* two octaves */
#define SHELF_PAGE	  (1 << SHELF_PAGE_SHIFT)
#define SHELF_PAGES	  ((64 << SHELF_STEPS_SHIFT) / SHELF_PAGE)
/* Behind the first page, the bit of the one behind the last. */
#define SHELF_NO_PAGE	  (UINT64_C(1) << (SHELF_PAGES - 1))

struct shelf_page {
	struct bin bins[SHELF_PAGE];
};

/* What is known of a shelf elsewhere, so that nobody looks at them all. */
enum shelf_note {
	SHELF_LISTED = 1 << 0,	/* where blocks are collected: pool.h */
	SHELF_CHANGED = 1 << 1, /* its largest block may be another */
};

/* Zeroed is empty. */
struct shelf {
	uint64_t holds; /* bit i: pages[i] holds any */
	/* By page, bit i: its bins[i] is not empty; behind the last none is. */
	uint64_t held[SHELF_PAGES + 1];
	struct block *hand; /* that came last, and is in no bin */
	uint8_t notes;	    /* enum shelf_note */
	uint16_t stream;
	uint32_t number; /* among all shelves, from 0 */
	struct shelf *next_changed;
	struct caching_pool *pool;	       /* NULL: of none */
	struct shelf_page *pages[SHELF_PAGES]; /* NULL: none so far */
	/* Unmapped blocks of expandable segments, by address. */
	struct block **unmapped;
	size_t unmapped_count, unmapped_room;
};

static inline bool shelf_is_empty(const struct shelf *shelf)
{
	return !shelf->holds && !shelf->hand;
}

void shelf_release(struct shelf *shelf);

/* Into its bin, and out of it. */
void shelf_put(struct shelf *shelf, struct block *b);
void shelf_take(struct shelf *shelf, struct block *b);

void pool_note_new(struct shelf *shelf, uint8_t notes);

/* A block came to the shelf or went, or is another size. */
static inline void shelf_note(struct shelf *shelf, uint8_t notes)
{
	if (notes & ~shelf->notes)
		pool_note_new(shelf, notes);
}

/* What every request does is inline: as calls it would cost a replay 10 %. */
static inline void shelf_insert(struct shelf *shelf, struct block *b)
{
	struct block *hand = shelf->hand;

	shelf_note(shelf, SHELF_LISTED | SHELF_CHANGED);
	shelf->hand = b;
	if (hand)
		shelf_put(shelf, hand);
}

static inline void shelf_remove(struct shelf *shelf, struct block *b)
{
	shelf_note(shelf, SHELF_CHANGED);
	if (b == shelf->hand)
		shelf->hand = NULL;
	else
		shelf_take(shelf, b);
}

/* Takes bytes off the low end of a shelved block. */
static inline void shelf_shrink(struct shelf *shelf, struct block *b,
				uint64_t bytes)
{
	if (b != shelf->hand) {
		shelf_remove(shelf, b);
		shelf_insert(shelf, b);
	}
	shelf_note(shelf, SHELF_CHANGED);
	b->addr += bytes;
	b->size -= bytes;
}

/* A double's exponent and the first bits of its mantissa.  The lowest bit,
 * which no size needs, keeps 0 from being special.  2^63, to which the largest
 * request is rounded, is a negative number: its sign goes. */
static inline unsigned shelf_bin(uint64_t size)
{
	double number = (double)(int64_t)(size | 1);
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return (unsigned)(bits << 1 >> (53 - SHELF_STEPS_SHIFT)) -
	       (1023u << SHELF_STEPS_SHIFT);
}

static inline struct bin *shelf_bin_at(const struct shelf *shelf, unsigned bin)
{
	return &shelf->pages[bin >> SHELF_PAGE_SHIFT]->bins[bin % SHELF_PAGE];
}

/* The first block of at least size bytes in that bin or behind it; NULL: none.
 * What is in hand does not count. */
struct block *shelf_search(struct shelf *shelf, unsigned bin, uint64_t size);

/* The first of the first of these bins that holds any, where that is large
 * enough; NULL: a search has to tell.  Both pages are looked at, because which
 * of them it is no processor foretells. */
static inline struct block *shelf_look(const struct shelf *shelf, unsigned bin,
				       uint64_t size)
{
	unsigned n = bin >> SHELF_PAGE_SHIFT;
	uint64_t behind = shelf->holds >> n >> 1 | SHELF_NO_PAGE >> n;
	unsigned next = n + 1 + (unsigned)__builtin_ctzll(behind);
	uint64_t here = shelf->held[n] >> bin % SHELF_PAGE;
	uint64_t bins = gp_pick(here, here, shelf->held[next]);
	struct block *first;

	if (!bins)
		return NULL;
	bin = (unsigned)gp_pick(here, bin, next << SHELF_PAGE_SHIFT) +
	      (unsigned)__builtin_ctzll(bins);
	first = shelf_bin_at(shelf, bin)->first;
	return first && first->size >= size ? first : NULL;
}

/* The first block of at least size bytes; NULL: none. */
static inline struct block *shelf_best(struct shelf *shelf, uint64_t size)
{
	unsigned bin = shelf_bin(size);
	struct block *hand = shelf->hand, *best = shelf_look(shelf, bin, size);
	/* How much too large; of none, and of too small ones, more than any. */
	uint64_t over = INT64_MAX, over_hand;

	if (!best)
		best = shelf_search(shelf, bin, size);
	if (best)
		over = best->size - size;
	over_hand = hand ? hand->size - size : UINT64_MAX;
	if (over_hand == over && best)
		return block_is_before(hand, best) ? hand : best;
	return (struct block *)gp_pick(over_hand < over, (uintptr_t)hand,
				       (uintptr_t)best);
}

/* The neighbours of a shelved block in the shelf's order; NULL: none. */
struct block *shelf_next(struct shelf *shelf, const struct block *b);
struct block *shelf_prev(struct shelf *shelf, const struct block *b);
/* The largest block; NULL: none. */
struct block *shelf_last(struct shelf *shelf);

void shelf_insert_unmapped(struct shelf *shelf, struct block *b);
void shelf_remove_unmapped(struct shelf *shelf, const struct block *b);

#endif
