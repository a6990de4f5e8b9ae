/* SPDX-License-Identifier: MIT */
/*
 * Pools: the default small and large one, and private pairs of them for
 * MemPools and CUDA graphs, with the routing of requests to them. PyTorch:
 * BlockPool, PrivatePool, get_pool, beginAllocateToPool and endAllocateToPool,
 * releasePool.
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
	struct tally *tally; /* of its kind: small or large */
	bool is_small;
	/* False after everything releasable was released, until another
	 * releasable block is freed: while it is false, release_cached_blocks
	 * need not walk the free blocks. */
	bool may_release;
	uint64_t searches; /* get_free_blocks_call_count */
	/* By stream, in chunks, so that a pool with few streams stays small.
	 * NULL: no block was ever free there. */
	struct free_list ***free_lists;
	/* The list that was looked up last, or NULL. */
	struct free_list *recent;
	/* The lists that may have blocks, in any order. */
	struct free_list **listed;
	size_t listed_count, listed_room;
	struct pools *pools;
};

/* The size of the chunks of caching_pool.free_lists. */
#define FREE_LISTS_SHIFT     8
#define FREE_LISTS_PER_CHUNK (1u << FREE_LISTS_SHIFT)

/* The small and large pool of one pool id; index 0 in struct pools is the
 * default pair. */
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
	uint32_t capture; /* only requests on its streams; 0: every request */
	uint16_t origin;  /* the stream on which the capture began */
};

/* reserved_bytes_by_private_pools */
struct pool_reserved {
	bool is_there;
	struct gp_stat by_kind[3]; /* enum gp_stat_kind */
};

struct pools {
	struct pool_pair **pairs; /* by index; created on first use */
	size_t pair_count;
	struct pool_reserved *reserved; /* by index */
	bool *no_split;	   /* by index; a set beside the pools in PyTorch */
	bool has_no_split; /* any of no_split is true, or was */
	struct pool_route *routes; /* oldest first */
	size_t route_count, route_room;
	size_t captures;	  /* number of routes that are captures */
	struct pool_pair *erased; /* erased pairs whose index has been reused */
	struct robin freeable, use_on_oom;
	/*
	 * All free lists ever created. When there are many, a binary tree over
	 * them keeps the largest free block: leaf i, at largest[leaves + i], is
	 * the largest block of list i, and each inner node is the larger of its
	 * two children. The lists that changed since the last query are linked
	 * in `changed`. When there are few, there is no tree: a query scans all
	 * of them.
	 */
	struct free_list **all;
	size_t free_list_count, free_list_room, leaves;
	uint64_t *largest;
	struct free_list *changed;
	/* False up to 2.9: of several matching routes, the oldest one
	 * applies. */
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

/* The pair of that index, created with use_count 1 if it does not exist. */
struct pool_pair *pool_pair_get(struct caching *c, uint16_t index);

/* The free list of a stream; NULL: no block was ever free there. */
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

/* The same, created if it does not exist. */
static inline struct free_list *pool_make_free_list(struct caching_pool *pool,
						    uint16_t stream)
{
	struct free_list *list = pool_free_list(pool, stream);

	return list ? list : pool_add_free_list(pool, stream);
}

/* The free lists that have blocks, sorted by stream. Valid until an empty list
 * of the pool gets a block. */
size_t pool_listed(struct caching_pool *pool, struct free_list ***free_lists);

/* Sets request->pool: that of the given index, or the one that the request is
 * routed to. */
enum gp_answer pool_of_request(struct caching *c, struct request *request,
			       uint16_t index);

/* Whether a routing suspends event processing, retries and empty_cache: any
 * routing up to 2.12, only captures from 2.13 on. */
bool pools_are_suspended(const struct caching *c);

/* The same while a request to the pool of that index is served. A request only
 * goes to a private pool while a routing is open, even if the trace does not
 * say when that began; for a pool that a capture made, the routing is a
 * capture's. */
bool pools_suspend_request(const struct caching *c, uint16_t index);

/* Starts the routing to route.pool. */
enum gp_answer pool_begin(struct caching *c, struct pool_route route);
enum gp_answer pool_end(struct caching *c, uint16_t index);
/* createOrIncrefPool: adds a user to the pool, which is created if need be. */
enum gp_answer pool_incref(struct caching *c, uint16_t index);
enum gp_answer pool_change(struct caching *c, uint16_t index,
			   enum gp_event_kind change);
enum gp_answer pool_decref(struct caching *c, uint16_t index);
/* The largest free block of any pool, in bytes. */
uint64_t pools_largest_free(struct caching *c);
/* Erases a freeable pool that has no segments left. */
void pool_erase(struct caching *c, struct pool_pair *pair);

#endif
