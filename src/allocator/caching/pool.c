/* SPDX-License-Identifier: MIT */
/* Default and private pools, and the routing of requests to them. */
#include "allocator/caching/pool.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/caching/caching.h"
#include "allocator/release.h"
#include "base/larger.h"
#include "base/mem.h"

static size_t chunk_count(const struct caching *c)
{
	return (c->config.stream_count + SHELVES - 1) / SHELVES;
}

static void init_pool(struct caching *c, struct pool_pair *pair,
		      struct caching_pool *pool, bool is_small)
{
	pool->pair = pair;
	pool->tally = &c->tally[is_small ? GP_STAT_SMALL : GP_STAT_LARGE];
	pool->is_small = is_small;
	pool->pools = &c->pools;
	pool->shelves = gp_mem_alloc(chunk_count(c), sizeof(*pool->shelves));
}

static void release_pool(struct caching *c, struct caching_pool *pool)
{
	for (size_t i = 0; i < chunk_count(c); i++)
		free(pool->shelves[i]);
	free(pool->shelves);
	free(pool->listed);
}

/* PyTorch hashes the first number of an id, or the second if that is 0. */
static uint64_t hash_of(const struct caching *c, uint16_t index)
{
	const struct gp_pool_id *id = &c->config.pools[index];

	return id->first ? id->first : id->second;
}

void pools_init(struct caching *c)
{
	c->pools.pair_count = c->config.pool_count ? c->config.pool_count : 1;
	c->pools.pairs =
		gp_mem_alloc(c->pools.pair_count, sizeof(*c->pools.pairs));
	c->pools.newest_route_first =
		gp_release_has(c->settings.release, GP_CHANGE_NEWEST_ROUTE);
	c->pools.reserved =
		gp_mem_alloc(c->pools.pair_count, sizeof(*c->pools.reserved));
	c->pools.no_split = gp_mem_alloc(c->pools.pair_count, sizeof(bool));
	pool_pair_get(c, 0);
}

static void release_pair(struct caching *c, struct pool_pair *pair)
{
	if (!pair)
		return;
	release_pool(c, &pair->small);
	release_pool(c, &pair->large);
	free(pair);
}

static void release_shelves(struct pools *pools)
{
	for (size_t i = 0; i < pools->shelf_count; i++) {
		shelf_release(pools->all[i]);
		free(pools->all[i]);
	}
	free(pools->all);
	free(pools->largest);
}

void pools_release(struct caching *c)
{
	struct pool_pair *pair;

	for (size_t i = 0; i < c->pools.pair_count; i++)
		release_pair(c, c->pools.pairs[i]);
	while ((pair = c->pools.erased)) {
		c->pools.erased = pair->erased;
		release_pair(c, pair);
	}
	release_shelves(&c->pools);
	robin_release(&c->pools.freeable);
	robin_release(&c->pools.use_on_oom);
	free(c->pools.no_split);
	free(c->pools.reserved);
	free(c->pools.pairs);
	free(c->pools.routes);
}

struct pool_pair *pool_pair_get(struct caching *c, uint16_t index)
{
	struct pool_pair *pair = c->pools.pairs[index];

	if (pair && pair->exists)
		return pair;
	/* An erased pool's blocks may live on; they are not the new one's. */
	if (pair) {
		pair->erased = c->pools.erased;
		c->pools.erased = pair;
	}
	pair = gp_mem_alloc(1, sizeof(*pair));
	pair->index = index;
	pair->exists = true;
	pair->use_count = 1;
	init_pool(c, pair, &pair->small, true);
	init_pool(c, pair, &pair->large, false);
	c->pools.pairs[index] = pair;
	return pair;
}

/* ---- shelves ---- */

/* As many are looked at one by one. */
#define FEW 16

static void change(struct pools *pools, struct shelf *shelf)
{
	shelf->notes |= SHELF_CHANGED;
	shelf->next_changed = pools->changed;
	pools->changed = shelf;
}

/* Room for them in the tree, which is filled when somebody asks. */
static void grow_tree(struct pools *pools)
{
	if (pools->shelf_count <= FEW || pools->shelf_count <= pools->leaves)
		return;
	pools->leaves = pools->leaves ? 2 * pools->leaves : 4 * FEW;
	free(pools->largest);
	pools->largest =
		gp_mem_alloc(2 * pools->leaves, sizeof(*pools->largest));
	pools->changed = NULL;
	for (size_t i = 0; i < pools->shelf_count; i++)
		change(pools, pools->all[i]);
}

struct shelf *pool_add_shelf(struct caching_pool *pool, uint16_t stream)
{
	struct shelf ***chunk = &pool->shelves[stream >> SHELVES_SHIFT];
	struct pools *pools = pool->pools;
	struct shelf *shelf = gp_mem_alloc(1, sizeof(*shelf));

	if (!*chunk)
		*chunk = gp_mem_alloc(SHELVES, sizeof(**chunk));
	(*chunk)[stream % SHELVES] = shelf;
	shelf->pool = pool;
	shelf->stream = stream;
	shelf->number = (uint32_t)pools->shelf_count;
	shelf->notes = SHELF_CHANGED;
	pools->all = gp_mem_grow(pools->all, &pools->shelf_room,
				 pools->shelf_count + 1, sizeof(*pools->all));
	pools->all[pools->shelf_count++] = shelf;
	if (pools->leaves)
		change(pools, shelf);
	grow_tree(pools);
	return shelf;
}

void pool_note_new(struct shelf *shelf, uint8_t notes)
{
	struct caching_pool *pool = shelf->pool;

	if (!pool)
		return;
	notes &= (uint8_t)~shelf->notes;
	if (notes & SHELF_CHANGED)
		change(pool->pools, shelf);
	if (!(notes & SHELF_LISTED))
		return;
	shelf->notes |= SHELF_LISTED;
	pool->listed =
		gp_mem_grow(pool->listed, &pool->listed_room,
			    pool->listed_count + 1, sizeof(*pool->listed));
	pool->listed[pool->listed_count++] = shelf;
}

static int by_stream(const void *a, const void *b)
{
	const struct shelf *x = *(struct shelf *const *)a;
	const struct shelf *y = *(struct shelf *const *)b;

	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

size_t pool_listed(struct caching_pool *pool, struct shelf ***shelves)
{
	size_t kept = 0;

	for (size_t i = 0; i < pool->listed_count; i++) {
		struct shelf *shelf = pool->listed[i];

		if (shelf_is_empty(shelf))
			shelf->notes &= (uint8_t)~SHELF_LISTED;
		else
			pool->listed[kept++] = shelf;
	}
	pool->listed_count = kept;
	if (kept > 1)
		qsort(pool->listed, kept, sizeof(*pool->listed), by_stream);
	*shelves = pool->listed;
	return kept;
}

static uint64_t largest_of(struct shelf *shelf)
{
	const struct block *b =
		shelf_is_empty(shelf) ? NULL : shelf_last(shelf);

	return b ? b->size : 0;
}

/* The leaf, and what is above it. */
static void climb(struct pools *pools, struct shelf *shelf)
{
	uint64_t *largest = pools->largest;
	size_t i = pools->leaves + shelf->number;

	largest[i] = largest_of(shelf);
	for (i /= 2; i; i /= 2)
		largest[i] = gp_larger(largest[2 * i], largest[2 * i + 1]);
}

uint64_t pools_largest_free(struct caching *c)
{
	struct pools *pools = &c->pools;
	uint64_t largest = 0;
	struct shelf *shelf;

	if (pools->leaves) {
		while ((shelf = pools->changed)) {
			pools->changed = shelf->next_changed;
			shelf->notes &= (uint8_t)~SHELF_CHANGED;
			climb(pools, shelf);
		}
		return pools->largest[1];
	}
	for (size_t i = 0; i < pools->shelf_count; i++)
		largest = gp_larger(largest, largest_of(pools->all[i]));
	return largest;
}

/* ---- routing ---- */

static bool accepts(const struct caching *c, const struct pool_route *route,
		    uint16_t stream)
{
	if (!route->capture)
		return true;
	if (gp_release_has(c->settings.release, GP_CHANGE_ONE_STREAM) &&
	    !gp_release_has(c->settings.release, GP_CHANGE_ROUTING))
		return route->origin == stream;
	return route->capture == capture_of(c, stream);
}

/* NULL: none takes what is allocated on the stream. */
static const struct pool_route *find_route_of(const struct caching *c,
					      uint16_t stream)
{
	const struct pools *pools = &c->pools;

	for (size_t i = 0; i < pools->route_count; i++) {
		size_t at = pools->newest_route_first
				    ? pools->route_count - 1 - i
				    : i;

		if (accepts(c, &pools->routes[at], stream))
			return &pools->routes[at];
	}
	return NULL;
}

/* 2.9 takes every routing for a capture of the stream. */
static bool asserts_capture(const struct caching *c, uint16_t stream)
{
	return c->settings.capture_reuse && !capture_of(c, stream) &&
	       !gp_release_has(c->settings.release, GP_CHANGE_CAPTURE_MARKS);
}

enum gp_answer pool_of_request(struct caching *c, struct request *request,
			       uint16_t index)
{
	const struct pool_route *route =
		index ? NULL : find_route_of(c, request->stream);
	struct pool_pair *pair;

	if (asserts_capture(c, request->stream))
		return caching_refuse(c, "status == "
					 "cudaStreamCaptureStatusActive "
					 "INTERNAL ASSERT FAILED");
	if (route) {
		pair = c->pools.pairs[route->pool];
		if (!pair || !pair->exists)
			return caching_refuse(c, "it1 != graph_pools.end() "
						 "INTERNAL ASSERT FAILED");
	} else {
		pair = pool_pair_get(c, index);
	}
	request->pool =
		request->rounded <= SMALL_SIZE ? &pair->small : &pair->large;
	return GP_SERVED;
}

bool pools_are_suspended(const struct caching *c)
{
	if (gp_release_has(c->settings.release, GP_CHANGE_ROUTING_GOES_ON))
		return c->pools.captures > 0;
	return c->pools.route_count > 0;
}

static size_t find_route(const struct pools *pools, uint16_t index)
{
	size_t i = 0;

	while (i < pools->route_count && pools->routes[i].pool != index)
		i++;
	return i;
}

enum gp_answer pool_hold(struct caching *c, uint16_t index)
{
	struct pool_pair *pair = c->pools.pairs[index];

	if (!pair || !pair->exists) {
		pool_pair_get(c, index);
		return GP_SERVED;
	}
	if (!pair->use_count)
		return caching_refuse(c, "use_count > 0 INTERNAL ASSERT "
					 "FAILED");
	pair->use_count++;
	return GP_SERVED;
}

enum gp_answer pool_begin(struct caching *c, struct pool_route route)
{
	struct pools *pools = &c->pools;
	enum gp_answer answer;

	/* PyTorch counts a holder before it looks. */
	answer = pool_hold(c, route.pool);
	if (answer != GP_SERVED)
		return answer;
	if (find_route(pools, route.pool) < pools->route_count)
		return caching_refuse(c, "beginAllocateToPool: already "
					 "recording to mempool_id");
	pools->routes =
		gp_mem_grow(pools->routes, &pools->route_room,
			    pools->route_count + 1, sizeof(*pools->routes));
	pools->routes[pools->route_count++] = route;
	pools->captures += route.is_capture;
	return GP_SERVED;
}

enum gp_answer pool_end(struct caching *c, uint16_t index)
{
	struct pools *pools = &c->pools;
	size_t i = find_route(pools, index);

	if (i == pools->route_count)
		return caching_refuse(c, "endAllocatePool: not currently "
					 "recording to mempool_id");
	pools->captures -= pools->routes[i].is_capture;
	if (pools->routes[i].capture)
		capture_end(c, pools->routes[i].capture);
	pools->route_count--;
	memmove(pools->routes + i, pools->routes + i + 1,
		(pools->route_count - i) * sizeof(*pools->routes));
	events_end_routing(c, index);
	return GP_SERVED;
}

enum gp_answer pool_let_go(struct caching *c, uint16_t index)
{
	struct pool_pair *pair = c->pools.pairs[index];

	if (!index || !pair || !pair->exists || !pair->use_count)
		return caching_refuse(c, "releasePool: no such pool in use");
	if (--pair->use_count)
		return GP_SERVED;
	robin_insert(&c->pools.freeable, hash_of(c, index), index, pair);
	if (gp_release_has(c->settings.release, GP_CHANGE_NO_SPLIT_ENDS))
		c->pools.no_split[index] = false;
	return GP_SERVED;
}

static void set_use_on_oom(struct caching *c, uint16_t index, bool use)
{
	struct robin *map = &c->pools.use_on_oom;
	uint64_t hash = hash_of(c, index);

	if (!use &&
	    gp_release_has(c->settings.release, GP_CHANGE_FALLBACK_FIRST))
		robin_erase(map, hash, index);
	else if (use && !robin_find(map, hash, index))
		robin_insert(map, hash, index, NULL);
}

enum gp_answer pool_change(struct caching *c, uint16_t index,
			   enum gp_event_kind change)
{
	switch (change) {
	case GP_POOL_CREATE:
		if (!gp_release_has(c->settings.release,
				    GP_CHANGE_POOL_OBJECTS))
			return GP_SERVED;
		return pool_hold(c, index);
	case GP_POOL_NO_SPLIT:
		c->pools.no_split[index] = gp_release_has(
			c->settings.release, GP_CHANGE_POOL_NO_SPLIT);
		c->pools.has_no_split |= c->pools.no_split[index];
		return GP_SERVED;
	default:
		set_use_on_oom(c, index, change == GP_POOL_USE_ON_OOM);
		return GP_SERVED;
	}
}

void pool_erase(struct caching *c, struct pool_pair *pair)
{
	robin_erase(&c->pools.freeable, hash_of(c, pair->index), pair->index);
	pair->exists = false;
}
