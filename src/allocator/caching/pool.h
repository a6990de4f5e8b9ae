/* SPDX-License-Identifier: MIT */
/*
 * Pools: the default small and large one, and pairs of private ones for
 * MemPools and CUDA graphs, with the routing that sends requests there.
 * PyTorch: BlockPool, PrivatePool, get_pool, beginAllocateToPool and
 * endAllocateToPool, releasePool.
 */
#ifndef CACHING_POOL_H
#define CACHING_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/caching/robin.h"
#include "allocator/caching/free_list.h"
#include "gpupool/allocator.h"

struct caching;
struct pool_pair;
struct request;
struct tally;

struct caching_pool {
	struct pool_pair *pair;
	struct tally *tally; /* of its kind */
	bool is_small;
	/* Since all that could be released was, a block came on a free list
	 * that could be: no walk over the free blocks is needed until one does.
	 */
	bool may_release;
	uint64_t searches; /* get_free_blocks_call_count */
	/* By stream, in chunks, so that a pool of few streams is small; NULL:
	 * nothing yet. */
	struct free_list ***free_lists;
	struct free_list *recent; /* the one that was asked for last; or NULL */
	/* Those that may hold blocks, in any order. */
	struct free_list **listed;
	size_t listed_count, listed_room;
	struct pools *pools;
};

#define FREE_LISTS_SHIFT     8
#define FREE_LISTS_PER_CHUNK (1u << FREE_LISTS_SHIFT) /* of a chunk */

/* The pools of one id; index 0 of struct pools is the default one. */
struct pool_pair {
	struct caching_pool small, large;
	uint16_t index; /* in the trace's table */
	bool exists;
	int64_t use_count;	  /* 0: freeable */
	int64_t malloc_count;	  /* cudaMalloc_count */
	struct pool_pair *erased; /* the next in pools.erased */
};

struct pool_route {
	uint16_t pool;
	bool is_capture;
	uint32_t capture; /* only its streams; 0: every request */
	uint16_t origin;  /* the first of them */
};

/* reserved_bytes_by_private_pools */
struct pool_reserved {
	bool is_there;
	struct gp_stat by_kind[3]; /* enum gp_stat_kind */
};

struct pools {
	struct pool_pair **pairs; /* by index; made when first used */
	size_t pair_count;
	struct pool_reserved *reserved; /* by index */
	bool *no_split;	   /* by index: PyTorch has a set beside the pools */
	bool has_no_split; /* any of them is, or was */
	struct pool_route *routes; /* oldest first */
	size_t route_count, route_room;
	size_t captures;	  /* of the routes */
	struct pool_pair *erased; /* whose index is used again */
	struct robin freeable, use_on_oom;
	/*
	 * All free lists there ever were.  When they are many, a tree over them
	 * tells the largest free block of all: leaf i, at largest[leaves + i],
	 * is what free list i holds, a node is the larger of its two below.
	 * Shelves that changed since somebody asked are in a list; when they
	 * are few, each always counts as changed.
	 */
	struct free_list **all;
	size_t free_list_count, free_list_room, leaves;
	uint64_t *largest;
	struct free_list *changed;
	/* Requests go back to the oldest route's pool, up to 2.9. */
	bool newest_route_first;
};

static inline bool pool_is_private(const struct caching_pool *pool)
{
	return pool->pair->index != 0;
}

static inline uint16_t pool_index(const struct caching_pool *pool)
{
	return pool->pair->index;
}

void pools_init(struct caching *c);
void pools_release(struct caching *c);

/* The pair of that index, made with use_count 1 if it does not exist. */
struct pool_pair *pool_pair_get(struct caching *c, uint16_t index);

/* The free list of a stream; NULL: nothing was ever there. */
static inline struct free_list *pool_free_list(struct caching_pool *pool,
					       uint16_t stream)
{
	struct free_list **chunk;

	if (pool->recent && pool->recent->stream == stream)
		return pool->recent;
	chunk = pool->free_lists[stream >> FREE_LISTS_SHIFT];
	return pool->recent =
		       chunk ? chunk[stream % FREE_LISTS_PER_CHUNK] : NULL;
}

struct free_list *pool_add_free_list(struct caching_pool *pool,
				     uint16_t stream);

/* The same, made if need be. */
static inline struct free_list *pool_make_free_list(struct caching_pool *pool,
						    uint16_t stream)
{
	struct free_list *list = pool_free_list(pool, stream);

	return list ? list : pool_add_free_list(pool, stream);
}

/* Shelves with blocks, by stream; valid until one gets its first. */
size_t pool_listed(struct caching_pool *pool, struct free_list ***free_lists);

/* Where a request for pool index goes, routing considered. */
enum gp_answer pool_of_request(struct caching *c, struct request *request,
			       uint16_t index);

/* Whether events, retries and empty_cache wait for a routing to end: any up to
 * 2.12, only captures from 2.13. */
bool pools_are_suspended(const struct caching *c);

/* route.pool and what else there is of it. */
enum gp_answer pool_begin(struct caching *c, struct pool_route route);
enum gp_answer pool_end(struct caching *c, uint16_t index);
/* createOrIncrefPool: one more holder of the pool, which is made if need be. */
enum gp_answer pool_incref(struct caching *c, uint16_t index);
enum gp_answer pool_change(struct caching *c, uint16_t index,
			   enum gp_event_kind change);
enum gp_answer pool_decref(struct caching *c, uint16_t index);
/* The largest free block of any pool, in bytes. */
uint64_t pools_largest_free(struct caching *c);
/* Forgets a freeable pool without memory. */
void pool_erase(struct caching *c, struct pool_pair *pair);

#endif
