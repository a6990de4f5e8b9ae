/* SPDX-License-Identifier: MIT */
/* Memory from the device and back, and the order in which it is tried. */
#include "allocator/caching/segment.h"

#include <stdlib.h>

#include "allocator/caching/alike.h"
#include "allocator/caching/caching.h"
#include "allocator/caching/counter.h"
#include "allocator/caching/expandable.h"
#include "allocator/caching/gc.h"
#include "allocator/caching/size.h"
#include "allocator/release.h"
#include "base/mem.h"

/* ---- finding a free block ---- */

/* An expandable block counts with the unmapped memory behind it. */
static uint64_t size_to_grow(const struct block *b)
{
	return b->size + (b->next && !b->next->is_mapped ? b->next->size : 0);
}

/* Whether it grows as far as its segment's reservation does. */
static bool is_last(const struct block *b)
{
	return b->next && !b->next->is_mapped && !b->next->next;
}

static bool grows_less(struct caching *c, const struct block *a,
		       const struct block *b)
{
	uint64_t size_a = size_to_grow(a), size_b = size_to_grow(b);

	if (is_last(b) && !is_last(a))
		expandable_note_range(c,
				      b->addr - b->segment->addr + size_a + 1,
				      size_a < size_b);
	else if (is_last(a) && !is_last(b) && a->segment)
		expandable_note_range(c, a->addr - a->segment->addr + size_b,
				      size_a >= size_b);
	return size_a < size_b;
}

/* Rather a block in the middle than the end that still can grow. */
static struct block *prefer_inner(struct caching *c, const struct shelf *shelf,
				  struct block *b)
{
	while (b->segment) {
		struct block *next = shelf_next(shelf, b);

		if (!next || !grows_less(c, next, b))
			break;
		b = next;
	}
	return b;
}

struct block *segment_find_free(struct caching *c,
				const struct request *request)
{
	const struct gp_settings *s = &c->settings;
	struct caching_pool *pool = request->pool;
	struct shelf *shelf = pool_shelf(pool, request->stream);
	struct block *b;

	if (c->gc_enabled)
		pool->searches++;
	b = shelf ? shelf_best(shelf, request->rounded) : NULL;
	if (b && b->segment) {
		if (request->is_expandable)
			b = prefer_inner(c, shelf, b);
		else
			while (b && b->segment)
				b = shelf_next(shelf, b);
	}
	if (!b)
		return NULL;
	alike_find(c, b->size, request->rounded);
	return gp_settings_is_too_large(s, b->size, request->rounded) ? NULL
								      : b;
}

/* ---- asking the device ---- */

static struct block *add_segment(struct caching *c,
				 const struct request *request, uint64_t addr)
{
	struct block *b = block_create(&c->blocks);
	struct tally *own;

	b->addr = addr;
	b->size = request->segment_size;
	b->stream = request->stream;
	b->pool = request->pool;
	b->counter = c->order == BY_ADDRESS ? 0 : ++c->counter;
	own = b->pool->tally;
	b->pool->pair->malloc_count++;
	counter_add(c, GP_STAT_SEGMENT, own, 1);
	counter_reserve(c, b->pool, b->size);
	if (b->size >= c->settings.max_split_size)
		counter_increase(&c->stats.oversize_segments, 1);
	c->stats.num_device_alloc++;
	caching_act(c, GP_SEGMENT_ALLOC, b, addr, b->size);
	return b;
}

static bool uses_expandable(const struct caching *c,
			    const struct request *request)
{
	return request->is_expandable &&
	       (!pool_is_private(request->pool) ||
		gp_release_has(c->settings.release,
			       GP_CHANGE_EXPANDABLE_IN_POOLS));
}

static bool exceeds(uint64_t used, uint64_t more, uint64_t limit)
{
	return more > limit || used > limit - more;
}

static enum gp_answer ask_device(struct caching *c,
				 const struct request *request, bool is_retry,
				 struct block **found)
{
	uint64_t addr;

	if (is_retry)
		c->stats.num_alloc_retries++;
	if (exceeds(c->reserved, request->segment_size, c->limit))
		return GP_OUT_OF_MEMORY;
	if (c->settings.throw_on_oom &&
	    exceeds(c->reserved, request->segment_size,
		    (uint64_t)(c->settings.memory_fraction *
			       (double)c->device_total))) {
		c->stats.num_oom_rejections++;
		return GP_REJECTED;
	}
	if (uses_expandable(c, request)) {
		enum gp_answer answer = expandable_obtain(c, request, found);

		if (answer == GP_SERVED)
			request->pool->pair->malloc_count++;
		return answer;
	}
	if (!c->device->ops->malloc(c->device, request->segment_size, &addr))
		return GP_OUT_OF_MEMORY;
	*found = add_segment(c, request, addr);
	return GP_SERVED;
}

/* ---- use_on_oom pools ---- */

/* One pool's free blocks; it is routed to for the search, so one that is gone
 * comes back. */
static enum gp_answer search_pool(struct caching *c, uint16_t index,
				  const struct request *request,
				  struct block **found)
{
	enum gp_answer answer = pool_hold(c, index);
	struct request there = *request;
	struct pool_pair *pair;

	if (answer != GP_SERVED)
		return answer;
	pair = c->pools.pairs[index];
	there.pool = request->pool->is_small ? &pair->small : &pair->large;
	*found = segment_find_free(c, &there);
	if (*found)
		shelf_remove(pool_shelf(there.pool, there.stream), *found);
	return pool_let_go(c, index);
}

/* try_mempool_fallback; only for the default pools. */
static enum gp_answer fall_back(struct caching *c, struct request *request,
				struct block **found)
{
	const struct robin *map = &c->pools.use_on_oom;
	struct request there = *request;
	enum gp_answer answer;

	*found = NULL;
	if (pool_is_private(request->pool) || !map->count)
		return GP_OUT_OF_MEMORY;
	there.is_expandable = request->is_expandable &&
			      !gp_release_has(c->settings.release,
					      GP_CHANGE_FALLBACK_PER_REQUEST);
	for (size_t i = robin_begin(map); i < robin_end(map);
	     i = robin_after(map, i)) {
		answer = search_pool(c, (uint16_t)map->slots[i].key, &there,
				     found);
		if (answer != GP_SERVED)
			return answer;
		if (*found) {
			request->is_expandable = there.is_expandable;
			return GP_SERVED;
		}
	}
	return GP_OUT_OF_MEMORY;
}

/* ---- giving back ---- */

void segment_release(struct caching *c, struct block *b)
{
	struct tally *own = b->pool->tally;

	shelf_remove(pool_shelf(b->pool, b->stream), b);
	caching_act(c, GP_SEGMENT_FREE, b, b->addr, b->size);
	c->device->ops->free(c->device, b->addr, b->size);
	b->pool->pair->malloc_count--;
	c->stats.num_device_free++;
	counter_sub(c, GP_STAT_SEGMENT, own, 1);
	counter_unreserve(c, b->pool, b->size);
	if (b->size >= c->settings.max_split_size)
		counter_decrease(&c->stats.oversize_segments, 1);
	block_destroy(&c->blocks, b);
}

/*
 * Just enough for the request: the smallest free block that is large enough,
 * or several from the largest downwards.  Only with max_split_size.
 */
static enum gp_answer release_available(struct caching *c,
					const struct request *request,
					bool *released)
{
	uint64_t max_split = c->settings.max_split_size, sum = 0;
	uint64_t want =
		request->rounded > max_split ? request->rounded : max_split;
	struct shelf *shelf = pool_shelf(request->pool, request->stream);
	struct block *b, *prev;

	*released = false;
	if (c->alike)
		alike_release(c, request);
	if (max_split == GP_UNLIMITED || !shelf)
		return GP_SERVED;
	b = shelf_best(shelf, want);
	if (b && !b->segment) {
		if (block_is_split(b))
			return caching_refuse(c, "release_available_cached_"
						 "blocks would free a part of "
						 "a segment");
		segment_release(c, b);
		*released = true;
		return GP_SERVED;
	}
	for (b = b ? shelf_prev(shelf, b) : shelf_last(shelf);
	     b && sum < want && b->size >= max_split; b = prev) {
		prev = shelf_prev(shelf, b);
		if (b->segment)
			continue;
		if (block_is_split(b))
			return caching_refuse(c, "release_available_cached_"
						 "blocks would free a part of "
						 "a segment");
		sum += b->size;
		segment_release(c, b);
	}
	*released = sum >= want;
	return GP_SERVED;
}

/* All unsplit free blocks; expandable ones are unmapped afterwards. */
static enum gp_answer release_blocks(struct caching *c,
				     struct caching_pool *pool)
{
	size_t n = caching_collect(c, pool), expandable = 0;
	enum gp_answer answer = GP_SERVED;

	for (size_t i = 0; i < n; i++) {
		struct block *b = c->scratch[i];

		if (b->segment)
			c->scratch[expandable++] = b;
		else if (!block_is_split(b))
			segment_release(c, b);
	}
	for (size_t i = 0; i < expandable && answer == GP_SERVED; i++)
		answer = expandable_unmap(c, c->scratch[i]);
	return answer;
}

static enum gp_answer release_pair(struct caching *c, struct pool_pair *pair)
{
	enum gp_answer answer = release_blocks(c, &pair->small);

	if (answer == GP_SERVED)
		answer = release_blocks(c, &pair->large);
	if (answer == GP_SERVED && !pair->malloc_count)
		pool_erase(c, pair);
	return answer;
}

static enum gp_answer refuse_underway(struct caching *c)
{
	c->stats.num_sync_all_streams++;
	return caching_refuse(c, "captures_underway.empty() INTERNAL ASSERT "
				 "FAILED");
}

/* Freeable private pools; index 0: all of them. */
static enum gp_answer release_freeable(struct caching *c, uint16_t index)
{
	const struct robin *map = &c->pools.freeable;
	enum gp_answer answer = GP_SERVED;
	size_t n = 0, count = map->count;
	struct pool_pair **pairs;

	if (!count)
		return GP_SERVED;
	pairs = gp_mem_alloc(count, sizeof(*pairs));
	for (size_t i = robin_begin(map); i < robin_end(map);
	     i = robin_after(map, i))
		if (!index || map->slots[i].key == index)
			pairs[n++] = map->slots[i].value;
	for (size_t i = 0; i < n && answer == GP_SERVED; i++) {
		if (index && pools_are_suspended(c))
			answer = refuse_underway(c);
		else if (index)
			events_synchronize(c, pairs[i]);
		if (answer == GP_SERVED)
			answer = release_pair(c, pairs[i]);
	}
	free(pairs);
	return answer;
}

enum gp_answer segment_release_cached(struct caching *c, uint16_t index)
{
	struct pool_pair *pair = c->pools.pairs[0];
	enum gp_answer answer = GP_SERVED;

	if (c->pools.route_count &&
	    !gp_release_has(c->settings.release, GP_CHANGE_EMPTY_WHILE_ROUTING))
		return refuse_underway(c);
	if (!index && !pools_are_suspended(c)) {
		events_synchronize(c, NULL);
		answer = release_blocks(c, &pair->large);
		if (answer == GP_SERVED)
			answer = release_blocks(c, &pair->small);
	}
	return answer == GP_SERVED ? release_freeable(c, index) : answer;
}

/* ---- the ladder ---- */

/* release_available, then once more. */
static enum gp_answer make_room(struct caching *c,
				const struct request *request,
				struct block **found)
{
	bool released;
	enum gp_answer answer = release_available(c, request, &released);

	if (answer != GP_SERVED)
		return answer;
	return released ? ask_device(c, request, false, found)
			: GP_OUT_OF_MEMORY;
}

/* release_cached_blocks, then the retry that is counted. */
static enum gp_answer retry(struct caching *c, const struct request *request,
			    struct block **found)
{
	enum gp_answer answer;

	if (pools_are_suspended(c))
		return GP_OUT_OF_MEMORY;
	answer = segment_release_cached(c, 0);
	return answer == GP_SERVED ? ask_device(c, request, true, found)
				   : answer;
}

enum gp_answer segment_obtain(struct caching *c, struct request *request,
			      struct block **found)
{
	uint8_t release = c->settings.release;
	bool falls_back_first =
		gp_release_has(release, GP_CHANGE_FALLBACK_FIRST);
	enum gp_answer answer;

	if (c->alike)
		alike_before_gc(c);
	if (c->gc_enabled)
		gc_collect(c);
	answer = ask_device(c, request, false, found);
	if (answer == GP_OUT_OF_MEMORY && falls_back_first)
		answer = fall_back(c, request, found);
	if (answer == GP_OUT_OF_MEMORY)
		answer = make_room(c, request, found);
	if (answer == GP_OUT_OF_MEMORY)
		answer = retry(c, request, found);
	if (answer == GP_OUT_OF_MEMORY && !falls_back_first &&
	    gp_release_has(release, GP_CHANGE_FALLBACK))
		answer = fall_back(c, request, found);
	return answer;
}
