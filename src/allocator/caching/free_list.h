/* SPDX-License-Identifier: MIT */
/*
 * Blocks, the parts of segments, and the free lists that hold the free ones.
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
	BLOCK_PENDING_FREE, /* freed, but another stream may still use it */
};

/*
 * A block: a part of a segment.
 *
 * It is allocated, pending free, or free. A free block is either mapped, and
 * then in the free list of its pool and stream, or (only in an expandable
 * segment) unmapped. prev and next are its neighbours by address within its
 * segment. The fields are those of PyTorch's struct Block
 * (c10/cuda/CUDACachingAllocator.cpp); the ones that every request touches come
 * first, in one cache line.
 */
struct block {
	uint64_t addr, size;
	struct block *prev, *next;
	struct block *left, *right; /* within a bin: linked list or tree */
	/* Breaks ties between free blocks of equal size, before the address: 0
	 * up to 2.11, the number of the block object in 2.12, that of its
	 * segment from 2.13. */
	uint32_t counter;
	uint16_t stream;
	uint8_t use; /* enum block_use */
	bool is_mapped : 1;
	bool is_in_tree : 1;
	struct free_list *list; /* of its pool and stream, even while in use */

	struct block *parent; /* in the bin's tree */
	uint64_t requested;
	struct expandable_segment *segment; /* NULL: from cudaMalloc */
	/* Other streams that use it. NULL if there are none, and also while the
	 * free is pending on exactly one event, which is then kept in
	 * wait_stream (its stream) and gc_base (its number). */
	struct stream_set *uses;
	struct stream_set *captured; /* uses recorded while suspended */
	uint64_t gc_base;	     /* pool->searches at its last insertion */
	uint32_t id;
	uint32_t event_count;
	bool uses_unknown; /* used on a stream the trace does not name */
	bool is_unnamed;   /* in events.unnamed */
	bool is_object;	   /* false: an unused slot of the block table */
	uint16_t wait_stream;
};

static inline bool block_is_split(const struct block *b)
{
	return (b->prev != NULL) | (b->next != NULL);
}

/* The best-fit order: PyTorch's BlockComparatorSize. */
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
 * A tree of free blocks in best-fit order: a treap (Seidel and Aragon 1996),
 * that is, a binary search tree by key and a heap by random priority. Zeroed is
 * empty.
 */
struct tree {
	struct block *root;
};

/*
 * A bin: the free blocks of one size class, in best-fit order.
 *
 * It is a sorted linked list, followed by a tree for the blocks beyond the
 * first few. Free lists behave like stacks: in recorded and generated traces
 * more than half of the insertions find the bin empty, and two thirds of the
 * others go to its front, because the block freed last is the first to be
 * reused. So insertion and removal usually take a few steps of the list. A walk
 * that takes too many steps moves the tail of the list into the tree, which
 * keeps lists short.
 */
struct bin {
	struct block *first; /* head of the linked list (left, right) */
	struct tree tree;    /* every block here sorts after the whole list */
};

/*
 * The free list of one pool and stream, ordered by (size, counter, address).
 *
 * PyTorch keeps one std::set per pool. Here each size class has a bin, and a
 * bitmap tells which bins are not empty. The best fit is the first block of the
 * request's own bin that is large enough, or else the first block of the next
 * non-empty bin. There are 32 bins per power of two, so up to 32 KiB each bin
 * holds a single multiple of 512.
 *
 * The block inserted last is kept outside the bins, in `newest`, until the next
 * insertion: splitting it or merging a neighbour into it then moves nothing.
 * Two in five blocks never enter a bin.
 *
 * Bins are allocated by page, when the first block enters one: most streams
 * have blocks of few sizes, and a program may have thousands of streams.
 */
#define BIN_OCTAVE_SHIFT 5 /* 32 bins per power of two */
#define BIN_PAGE_SHIFT	 6 /* two powers of two */
#define BINS_PER_PAGE	 (1 << BIN_PAGE_SHIFT)
#define BIN_PAGES	 ((64 << BIN_OCTAVE_SHIFT) / BINS_PER_PAGE)
/* A sentinel bit, one past the last page, for a scan that starts after page
 * 0. */
#define BIN_NO_PAGE	 (UINT64_C(1) << (BIN_PAGES - 1))

struct bin_page {
	struct bin bins[BINS_PER_PAGE];
};

/* What other structures already record about a free list, so that they need not
 * scan all free lists. */
enum free_list_set_flags {
	FREE_LIST_LISTED = 1 << 0, /* in caching_pool.listed */
	/* In pools.changed: its largest block may differ. */
	FREE_LIST_CHANGED = 1 << 1,
};

/* Zeroed is empty. */
struct free_list {
	uint64_t page_bits; /* bit i: pages[i] has a block */
	/* Per page, bit i: bins[i] is not empty. The entry past the last page
	 * is always 0. */
	uint64_t bin_bits[BIN_PAGES + 1];
	struct block *newest; /* inserted last, and in no bin; NULL: none */
	uint8_t flags;	      /* enum free_list_set_flags */
	uint16_t stream;
	uint32_t number; /* index in pools.all */
	struct free_list *next_changed;
	struct caching_pool *pool; /* NULL: belongs to no pool (tests) */
	struct bin_page *pages[BIN_PAGES]; /* NULL: not allocated yet */
	/* Unmapped blocks of expandable segments, by address. */
	struct block **unmapped;
	size_t unmapped_count, unmapped_room;
};

static inline bool free_list_is_empty(const struct free_list *list)
{
	return !list->page_bits && !list->newest;
}

void free_list_release(struct free_list *list);

/* Inserts a block into its bin, and removes it from there. */
void free_list_add_to_bin(struct free_list *list, struct block *b);
void free_list_remove_from_bin(struct free_list *list, struct block *b);

void pool_set_list_flags(struct free_list *list, uint8_t flags);

/* Call after a block was inserted, removed or resized. */
static inline void free_list_set_flags(struct free_list *list, uint8_t flags)
{
	if (flags & ~list->flags)
		pool_set_list_flags(list, flags);
}

/* The operations of every request are inline: as calls they would slow a replay
 * by 10 %. */
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

/* Removes bytes from the low end of a free block. */
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

/* The exponent and the leading mantissa bits of the size as a double. Sizes are
 * multiples of 512, so setting the lowest bit changes no bin; it avoids the
 * special encoding of 0. A request can be rounded up to 2^63, which is negative
 * as int64_t: the shift to the left drops the sign. */
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

/* The best fit in that bin or a later one, without `newest`; NULL: none. */
struct block *free_list_search(struct free_list *list, unsigned bin,
			       uint64_t size);

/* The first block of the first non-empty bin from `bin` on, if it is large
 * enough. NULL: only free_list_search() can tell. Computes the answer for this
 * page and for the next non-empty one and selects without a branch, because
 * which of them it is cannot be predicted. */
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

/* The best fit for size bytes; NULL: none. */
static inline struct block *free_list_best_fit(struct free_list *list,
					       uint64_t size)
{
	unsigned bin = bin_index(size);
	struct block *newest = list->newest,
		     *best = free_list_peek(list, bin, size);
	/* Bytes in excess of the request. INT64_MAX stands for "no block in the
	 * bins"; for a newest block that is too small, the difference wraps
	 * around to more than that. */
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

/* The neighbours of a free block in best-fit order; NULL: none. */
struct block *free_list_next(struct free_list *list, const struct block *b);
struct block *free_list_prev(struct free_list *list, const struct block *b);
/* The largest block; NULL: none. */
struct block *free_list_last(struct free_list *list);

void free_list_insert_unmapped(struct free_list *list, struct block *b);
void free_list_remove_unmapped(struct free_list *list, const struct block *b);

#endif
