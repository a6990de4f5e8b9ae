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
	return (c->config.stream_count + FREE_LISTS_PER_CHUNK - 1) /
	       FREE_LISTS_PER_CHUNK;
}

static void init_pool(struct caching *c, struct pool_pair *pair,
		      struct caching_pool *pool, bool is_small)
{
	pool->pair = pair;
	pool->tally = &c->tally[is_small ? GP_STAT_SMALL : GP_STAT_LARGE];
	pool->is_small = is_small;
	pool->pools = &c->pools;
	pool->free_lists =
		gp_mem_alloc(chunk_count(c), sizeof(*pool->free_lists));
}

static void release_pool(struct caching *c, struct caching_pool *pool)
{
	for (size_t i = 0; i < chunk_count(c); i++)
		free(pool->free_lists[i]);
	free(pool->free_lists);
	free(pool->listed);
}

/* PyTorch hashes the first number of a pool id, or the second if that is 0. */
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

static void release_free_lists(struct pools *pools)
{
	for (size_t i = 0; i < pools->free_list_count; i++) {
		free_list_release(pools->all[i]);
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
	release_free_lists(&c->pools);
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
	/* Blocks of the erased pool may still be live; they do not belong to
	 * the new one. */
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

/* ---- free lists ---- */

/* Up to this many free lists are scanned one by one. */
#define FEW 16

static void change(struct pools *pools, struct free_list *list)
{
	list->flags |= FREE_LIST_CHANGED;
	list->next_changed = pools->changed;
	pools->changed = list;
}

/* Grows the tree for the free lists; pools_largest_free() fills it. */
static void grow_tree(struct pools *pools)
{
	if (pools->free_list_count <= FEW ||
	    pools->free_list_count <= pools->leaves)
		return;
	pools->leaves = pools->leaves ? 2 * pools->leaves : 4 * FEW;
	free(pools->largest);
	pools->largest =
		gp_mem_alloc(2 * pools->leaves, sizeof(*pools->largest));
	pools->changed = NULL;
	for (size_t i = 0; i < pools->free_list_count; i++)
		change(pools, pools->all[i]);
}

struct free_list *pool_add_free_list(struct caching_pool *pool, uint16_t stream)
{
	struct free_list ***chunk =
		&pool->free_lists[stream >> FREE_LISTS_SHIFT];
	struct pools *pools = pool->pools;
	struct free_list *list = gp_mem_alloc(1, sizeof(*list));

	if (!*chunk)
		*chunk = gp_mem_alloc(FREE_LISTS_PER_CHUNK, sizeof(**chunk));
	(*chunk)[stream % FREE_LISTS_PER_CHUNK] = list;
	list->pool = pool;
	list->stream = stream;
	list->number = (uint32_t)pools->free_list_count;
	list->flags = FREE_LIST_CHANGED;
	GP_GROW(pools->all, pools->free_list_count + 1, pools->free_list_room);
	pools->all[pools->free_list_count++] = list;
	if (pools->leaves)
		change(pools, list);
	grow_tree(pools);
	return list;
}

void pool_set_list_flags(struct free_list *list, uint8_t flags)
{
	struct caching_pool *pool = list->pool;

	if (!pool)
		return;
	flags &= (uint8_t)~list->flags;
	if (flags & FREE_LIST_CHANGED)
		change(pool->pools, list);
	if (!(flags & FREE_LIST_LISTED))
		return;
	list->flags |= FREE_LIST_LISTED;
	GP_GROW(pool->listed, pool->listed_count + 1, pool->listed_room);
	pool->listed[pool->listed_count++] = list;
}

static int by_stream(const void *a, const void *b)
{
	const struct free_list *x = *(struct free_list *const *)a;
	const struct free_list *y = *(struct free_list *const *)b;

	return x->stream < y->stream ? -1 : x->stream > y->stream;
}

size_t pool_listed(struct caching_pool *pool, struct free_list ***free_lists)
{
	size_t kept = 0;

	for (size_t i = 0; i < pool->listed_count; i++) {
		struct free_list *list = pool->listed[i];

		if (free_list_is_empty(list))
			list->flags &= (uint8_t)~FREE_LIST_LISTED;
		else
			pool->listed[kept++] = list;
	}
	pool->listed_count = kept;
	if (kept > 1)
		qsort(pool->listed, kept, sizeof(*pool->listed), by_stream);
	*free_lists = pool->listed;
	return kept;
}

static uint64_t largest_of(struct free_list *list)
{
	const struct block *b =
		free_list_is_empty(list) ? NULL : free_list_last(list);

	return b ? b->size : 0;
}

/* Updates the list's leaf and the nodes above it. */
static void update_path(struct pools *pools, struct free_list *list)
{
	uint64_t *largest = pools->largest;
	size_t i = pools->leaves + list->number;

	largest[i] = largest_of(list);
	for (i /= 2; i; i /= 2)
		largest[i] = gp_larger(largest[2 * i], largest[2 * i + 1]);
}

uint64_t pools_largest_free(struct caching *c)
{
	struct pools *pools = &c->pools;
	uint64_t largest = 0;
	struct free_list *list;

	if (pools->leaves) {
		while ((list = pools->changed)) {
			pools->changed = list->next_changed;
			list->flags &= (uint8_t)~FREE_LIST_CHANGED;
			update_path(pools, list);
		}
		return pools->largest[1];
	}
	for (size_t i = 0; i < pools->free_list_count; i++)
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

/* The route for allocations on that stream; NULL: none. */
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

/* 2.9 assumes that every routing belongs to a capture of the stream. */
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
		request->rounded <= GP_SMALL_SIZE ? &pair->small : &pair->large;
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

bool pools_suspend_request(const struct caching *c, uint16_t index)
{
	if (pools_are_suspended(c))
		return true;
	return index && find_route(&c->pools, index) == c->pools.route_count &&
	       (!gp_release_has(c->settings.release,
				GP_CHANGE_ROUTING_GOES_ON) ||
		c->config.pools[index].first);
}

enum gp_answer pool_incref(struct caching *c, uint16_t index)
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

	/* PyTorch increments the use count before it checks for an error. */
	answer = pool_incref(c, route.pool);
	if (answer != GP_SERVED)
		return answer;
	if (find_route(pools, route.pool) < pools->route_count)
		return caching_refuse(c, "beginAllocateToPool: already "
					 "recording to mempool_id");
	GP_GROW(pools->routes, pools->route_count + 1, pools->route_room);
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
	GP_REMOVE(pools->routes, pools->route_count, i);
	events_end_routing(c, index);
	return GP_SERVED;
}

enum gp_answer pool_decref(struct caching *c, uint16_t index)
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
		return pool_incref(c, index);
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
