/* SPDX-License-Identifier: MIT */
/*
 * Blocks, the pieces that segments are cut into, and free lists, where the free
 * ones lie.
 */
#ifndef CACHING_FREE_LIST_H
#define CACHING_FREE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/larger.h"
#include "gpupool/trace.h"

struct caching_pool;
struct expandable_segment;
struct free_list;
struct stream_set;

/* ---- blocks ---- */

enum block_use {
	BLOCK_FREE,
	BLOCK_ALLOCATED,
	BLOCK_PENDING_FREE, /* freed, but some stream may still use it */
};

/*
 * A block: a piece of a segment.
 *
 * It is allocated, free (on its pool's free list), waiting for events, or,
 * in an expandable segment, unmapped.  prev and next are its neighbours by
 * address within its segment.  Fields are PyTorch's struct Block
 * (c10/cuda/CUDACachingAllocator.cpp); the ones a request touches come first,
 * in one cache line.
 */
struct block {
	uint64_t addr, size;
	struct block *prev, *next;
	struct block *left, *right; /* in the free list's list or tree */
	/* Decides between free blocks of one size before the address does:
	 * 0 up to 2.11, the object's number in 2.12, its segment's from 2.13.
	 */
	uint32_t counter;
	uint16_t stream;
	uint8_t use; /* enum block_use */
	bool is_mapped : 1;
	bool is_in_tree : 1;
	struct free_list *list; /* of its pool and stream */

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

/* The free list's order. */
static inline bool block_is_before(const struct block *a, const struct block *b)
{
	if (a->size != b->size)
		return a->size < b->size;
	if (a->counter != b->counter)
		return a->counter < b->counter;
	return a->addr < b->addr;
}

/* ---- free lists ---- */

/*
 * A tree of free blocks in the free list's order: a treap (Seidel and Aragon
 * 1996), which is a binary search tree by key and a heap by random priorities.
 * Zeroed is empty.
 */
struct tree {
	struct block *root;
};

/*
 * A bin: free blocks of about one size, in the free list's order.
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
 * A free list: the free blocks of one pool and stream, by (size, counter,
 * address).
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
#define BIN_OCTAVE_SHIFT 5 /* 32 bins an octave */
#define BIN_PAGE_SHIFT	 6 /* two octaves */
#define BINS_PER_PAGE	 (1 << BIN_PAGE_SHIFT)
#define BIN_PAGES	 ((64 << BIN_OCTAVE_SHIFT) / BINS_PER_PAGE)
/* Behind the first page, the bit of the one behind the last. */
#define BIN_NO_PAGE	 (UINT64_C(1) << (BIN_PAGES - 1))

struct bin_page {
	struct bin bins[BINS_PER_PAGE];
};

/* What is known of a free list elsewhere, so that nobody looks at them all. */
enum free_list_set_flags {
	FREE_LIST_LISTED = 1 << 0,  /* where blocks are collected: pool.h */
	FREE_LIST_CHANGED = 1 << 1, /* its largest block may be another */
};

/* Zeroed is empty. */
struct free_list {
	uint64_t page_bits; /* bit i: pages[i] holds any */
	/* By page, bit i: its bins[i] is not empty; behind the last none is. */
	uint64_t bin_bits[BIN_PAGES + 1];
	struct block *newest; /* that came last, and is in no bin */
	uint8_t flags;	      /* enum free_list_set_flags */
	uint16_t stream;
	uint32_t number; /* among all free lists, from 0 */
	struct free_list *next_changed;
	struct caching_pool *pool;	   /* NULL: of none */
	struct bin_page *pages[BIN_PAGES]; /* NULL: none so far */
	/* Unmapped blocks of expandable segments, by address. */
	struct block **unmapped;
	size_t unmapped_count, unmapped_room;
};

static inline bool free_list_is_empty(const struct free_list *list)
{
	return !list->page_bits && !list->newest;
}

void free_list_release(struct free_list *list);

/* Into its bin, and out of it. */
void free_list_add_to_bin(struct free_list *list, struct block *b);
void free_list_remove_from_bin(struct free_list *list, struct block *b);

void pool_set_list_flags(struct free_list *list, uint8_t flags);

/* A block came to the free list or went, or is another size. */
static inline void free_list_set_flags(struct free_list *list, uint8_t flags)
{
	if (flags & ~list->flags)
		pool_set_list_flags(list, flags);
}

/* What every request does is inline: as calls it would cost a replay 10 %. */
static inline void free_list_insert(struct free_list *list, struct block *b)
{
	struct block *newest = list->newest;

	free_list_set_flags(list, FREE_LIST_LISTED | FREE_LIST_CHANGED);
	list->newest = b;
	if (newest)
		free_list_add_to_bin(list, newest);
}

static inline void free_list_remove(struct free_list *list, struct block *b)
{
	free_list_set_flags(list, FREE_LIST_CHANGED);
	if (b == list->newest)
		list->newest = NULL;
	else
		free_list_remove_from_bin(list, b);
}

/* Takes bytes off the low end of a shelved block. */
static inline void free_list_shrink(struct free_list *list, struct block *b,
				    uint64_t bytes)
{
	if (b != list->newest) {
		free_list_remove(list, b);
		free_list_insert(list, b);
	}
	free_list_set_flags(list, FREE_LIST_CHANGED);
	b->addr += bytes;
	b->size -= bytes;
}

/* A double's exponent and the first bits of its mantissa.  The lowest bit,
 * which no size needs, keeps 0 from being special.  2^63, to which the largest
 * request is rounded, is a negative number: its sign goes. */
static inline unsigned bin_index(uint64_t size)
{
	double number = (double)(int64_t)(size | 1);
	uint64_t bits;

	memcpy(&bits, &number, sizeof(bits));
	return (unsigned)(bits << 1 >> (53 - BIN_OCTAVE_SHIFT)) -
	       (1023u << BIN_OCTAVE_SHIFT);
}

static inline struct bin *bin_at(const struct free_list *list, unsigned bin)
{
	return &list->pages[bin >> BIN_PAGE_SHIFT]->bins[bin % BINS_PER_PAGE];
}

/* The first block of at least size bytes in that bin or behind it; NULL: none.
 * What is in hand does not count. */
struct block *free_list_search(struct free_list *list, unsigned bin,
			       uint64_t size);

/* The first of the first of these bins that holds any, where that is large
 * enough; NULL: a search has to tell.  Both pages are looked at, because which
 * of them it is no processor foretells. */
static inline struct block *free_list_peek(const struct free_list *list,
					   unsigned bin, uint64_t size)
{
	unsigned n = bin >> BIN_PAGE_SHIFT;
	uint64_t behind = list->page_bits >> n >> 1 | BIN_NO_PAGE >> n;
	unsigned next = n + 1 + (unsigned)__builtin_ctzll(behind);
	uint64_t here = list->bin_bits[n] >> bin % BINS_PER_PAGE;
	uint64_t bins = gp_pick(here, here, list->bin_bits[next]);
	struct block *first;

	if (!bins)
		return NULL;
	bin = (unsigned)gp_pick(here, bin, next << BIN_PAGE_SHIFT) +
	      (unsigned)__builtin_ctzll(bins);
	first = bin_at(list, bin)->first;
	return first && first->size >= size ? first : NULL;
}

/* The first block of at least size bytes; NULL: none. */
static inline struct block *free_list_best_fit(struct free_list *list,
					       uint64_t size)
{
	unsigned bin = bin_index(size);
	struct block *newest = list->newest,
		     *best = free_list_peek(list, bin, size);
	/* How much too large; of none, and of too small ones, more than any. */
	uint64_t excess = INT64_MAX, newest_excess;

	if (!best)
		best = free_list_search(list, bin, size);
	if (best)
		excess = best->size - size;
	newest_excess = newest ? newest->size - size : UINT64_MAX;
	if (newest_excess == excess && best)
		return block_is_before(newest, best) ? newest : best;
	return (struct block *)gp_pick(newest_excess < excess,
				       (uintptr_t)newest, (uintptr_t)best);
}

/* The neighbours of a shelved block in the free list's order; NULL: none. */
struct block *free_list_next(struct free_list *list, const struct block *b);
struct block *free_list_prev(struct free_list *list, const struct block *b);
/* The largest block; NULL: none. */
struct block *free_list_last(struct free_list *list);

void free_list_insert_unmapped(struct free_list *list, struct block *b);
void free_list_remove_unmapped(struct free_list *list, const struct block *b);

#endif
