/* SPDX-License-Identifier: MIT */
/*
 * Serving a request (alloc_serve, near the end): from a free block, or with
 * memory from the device, including everything that is tried when the device
 * has none; and returning memory to the device. PyTorch:
 * DeviceCachingAllocator::malloc, get_free_block, alloc_block,
 * try_mempool_fallback, release_available_cached_blocks, release_block,
 * release_cached_blocks, garbage_collect_cached_blocks, should_split,
 * alloc_found_block, setSegmentStateToCheckpoint.
 */
#include <stdlib.h>

#include "allocator/caching/caching.h"
#include "allocator/release.h"
#include "base/mem.h"

/* ---- finding a free block ---- */

/* expandable_size: the size of a block and of the unmapped memory after it. */
static uint64_t expandable_size(const struct block *b)
{
	return b->size + (b->next && !b->next->is_mapped ? b->next->size : 0);
}

/* Whether the unmapped memory after it ends where the segment's reservation
 * ends. */
static bool is_last(const struct block *b)
{
	return b->next && !b->next->is_mapped && !b->next->next;
}

/* Whether a has fewer mapped and unmapped bytes than b. For the last block of a
 * segment these depend on the length of the reservation, and so on the
 * capacity: what decided is then noted. */
static bool extends_less(struct caching *c, const struct block *a,
			 const struct block *b)
{
	uint64_t size_a = expandable_size(a), size_b = expandable_size(b);

	if (is_last(b) && !is_last(a))
		expandable_note_range(c,
				      b->addr - b->segment->addr + size_a + 1,
				      size_a < size_b);
	else if (is_last(a) && !is_last(b) && a->segment)
		expandable_note_range(c, a->addr - a->segment->addr + size_b,
				      size_a >= size_b);
	return size_a < size_b;
}

/* get_free_block: prefers a block in the middle of a segment to one at its end,
 * which can still grow: takes the first block in best-fit order whose successor
 * does not have fewer bytes in this sense. */
static struct block *prefer_inner(struct caching *c, struct free_list *list,
				  struct block *b)
{
	while (b->segment) {
		struct block *next = free_list_next(list, b);

		if (!next || !extends_less(c, next, b))
			break;
		b = next;
	}
	return b;
}

/* The free block that serves the request, still in its free list; NULL:
 * none. */
static inline struct block *get_free_block(struct caching *c,
					   const struct request *request)
{
	const struct gp_settings *s = &c->settings;
	struct caching_pool *pool = request->pool;
	struct free_list *list = pool_free_list(pool, request->stream);
	struct block *b;

	if (c->gc_enabled)
		pool->searches++;
	b = list ? free_list_best_fit(list, request->rounded) : NULL;
	if (b && b->segment) {
		if (request->is_expandable)
			b = prefer_inner(c, list, b);
		else
			while (b && b->segment)
				b = free_list_next(list, b);
	}
	if (!b)
		return NULL;
	alike_fit(c, b->size, request->rounded);
	if (gp_settings_is_too_large(s, b->size, request->rounded) &&
	    !(b->segment && c->reuses_oversize))
		return NULL;
	return b;
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
	b->list = pool_make_free_list(request->pool, request->stream);
	b->counter = c->order == BY_ADDRESS ? 0 : ++c->counter;
	own = b->list->pool->tally;
	b->list->pool->pair->malloc_count++;
	counter_add(c, GP_STAT_SEGMENT, own, 1);
	counter_reserve(c, b->list->pool, b->size);
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

/* Searches one pool's free blocks. PyTorch routes to the pool for the search,
 * which recreates a pool that was erased. */
static enum gp_answer search_pool(struct caching *c, uint16_t index,
				  const struct request *request,
				  struct block **found)
{
	enum gp_answer answer = pool_incref(c, index);
	struct request there = *request;
	struct pool_pair *pair;

	if (answer != GP_SERVED)
		return answer;
	pair = c->pools.pairs[index];
	there.pool = request->pool->is_small ? &pair->small : &pair->large;
	*found = get_free_block(c, &there);
	if (*found)
		free_list_remove((*found)->list, *found);
	return pool_decref(c, index);
}

/* try_mempool_fallback; only for requests to the default pools. */
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

/* ---- returning memory to the device ---- */

/* Returns an unsplit free block, which is a whole segment from cudaMalloc, to
 * the device. */
static void release_block(struct caching *c, struct block *b)
{
	struct tally *own = b->list->pool->tally;

	free_list_remove(b->list, b);
	caching_act(c, GP_SEGMENT_FREE, b, b->addr, b->size);
	c->device->ops->free(c->device, b->addr, b->size);
	b->list->pool->pair->malloc_count--;
	c->stats.num_device_free++;
	counter_sub(c, GP_STAT_SEGMENT, own, 1);
	counter_unreserve(c, b->list->pool, b->size);
	if (b->size >= c->settings.max_split_size)
		counter_decrease(&c->stats.oversize_segments, 1);
	block_destroy(&c->blocks, b);
}

/*
 * release_available_cached_blocks: releases just enough for the request, either
 * the smallest free block that is large enough, or several from the largest
 * downwards. Only with max_split_size.
 */
static enum gp_answer release_available(struct caching *c,
					const struct request *request,
					bool *released)
{
	uint64_t max_split = c->settings.max_split_size, sum = 0;
	uint64_t want =
		request->rounded > max_split ? request->rounded : max_split;
	struct free_list *list = pool_free_list(request->pool, request->stream);
	struct block *b, *prev;

	*released = false;
	if (c->alike)
		alike_release(c, request);
	if (max_split == GP_UNLIMITED || !list)
		return GP_SERVED;
	b = free_list_best_fit(list, want);
	if (b && !b->segment) {
		if (block_is_split(b))
			return caching_refuse(c, "release_available_cached_"
						 "blocks would free a part of "
						 "a segment");
		release_block(c, b);
		*released = true;
		return GP_SERVED;
	}
	for (b = b ? free_list_prev(list, b) : free_list_last(list);
	     b && sum < want && b->size >= max_split; b = prev) {
		prev = free_list_prev(list, b);
		if (b->segment)
			continue;
		if (block_is_split(b))
			return caching_refuse(c, "release_available_cached_"
						 "blocks would free a part of "
						 "a segment");
		sum += b->size;
		release_block(c, b);
	}
	*released = sum >= want;
	return GP_SERVED;
}

/* Releases all unsplit free blocks of a pool. Expandable segments are unmapped
 * after all others were freed. */
static enum gp_answer release_blocks(struct caching *c,
				     struct caching_pool *pool)
{
	size_t n, expandable = 0;
	enum gp_answer answer = GP_SERVED;

	if (!pool->may_release)
		return GP_SERVED;
	n = caching_collect(c, pool);
	for (size_t i = 0; i < n; i++) {
		struct block *b = c->scratch[i];

		if (b->segment)
			c->scratch[expandable++] = b;
		else if (!block_is_split(b))
			release_block(c, b);
	}
	for (size_t i = 0; i < expandable && answer == GP_SERVED; i++)
		answer = expandable_unmap(c, c->scratch[i]);
	pool->may_release = answer != GP_SERVED;
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

/* synchronize_and_free_events, which counts the call before it asserts. */
static enum gp_answer refuse_underway(struct caching *c)
{
	c->stats.num_sync_all_streams++;
	return caching_refuse(c, "captures_underway.empty() INTERNAL ASSERT "
				 "FAILED");
}

/* Releases freeable private pools: all of them if index is 0. */
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

enum gp_answer alloc_release_cached(struct caching *c, uint16_t index)
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

/* ---- garbage collection of the default large pool ---- */

static uint64_t age_of(const struct block *b)
{
	return b->list->pool->searches - b->gc_base;
}

/* Of the n collected blocks, keeps those that are whole segments, and sums
 * their ages. */
static size_t keep_whole(struct caching *c, size_t n, double *total_age)
{
	size_t whole = 0;

	for (size_t i = 0; i < n; i++) {
		struct block *b = c->scratch[i];

		if (block_is_split(b))
			continue;
		*total_age += (double)age_of(b);
		c->scratch[whole++] = b;
	}
	return whole;
}

/* One round over the remaining blocks, with a fixed age threshold; returns the
 * bytes reclaimed. */
static uint64_t release_old(struct caching *c, size_t *n, size_t *count,
			    double *total_age)
{
	double threshold = *total_age / (double)*count;
	uint64_t reclaimed = 0;
	size_t left = 0;

	for (size_t i = 0; i < *n; i++) {
		struct block *b = c->scratch[i];

		if (b->segment || (double)age_of(b) < threshold) {
			c->scratch[left++] = b;
			continue;
		}
		*total_age -= (double)age_of(b);
		(*count)--;
		reclaimed += b->size;
		release_block(c, b);
	}
	*n = left;
	return reclaimed;
}

/* garbage_collect_cached_blocks. Does nothing while reserved is at most
 * gc_threshold x limit. */
static void gc_collect(struct caching *c)
{
	uint64_t threshold =
		(uint64_t)(c->settings.gc_threshold * (double)c->limit);
	struct alike_gc did = { .reserved = c->reserved };
	uint64_t target, more = 1;
	double total_age = 0;
	size_t n, count;

	if (c->reserved <= threshold)
		return;
	target = c->reserved - threshold;
	n = caching_collect(c, &c->pools.pairs[0]->large);
	n = count = keep_whole(c, n, &total_age);
	while (did.reclaimed < target && more && count) {
		more = release_old(c, &n, &count, &total_age);
		if (more)
			did.before_last = did.reclaimed;
		did.reclaimed += more;
	}
	did.reached_target = did.reclaimed >= target && count;
	if (c->alike)
		alike_after_gc(c, &did);
}

/* ---- fallbacks, in PyTorch's order ---- */

/* release_available_cached_blocks, then another try. */
static enum gp_answer release_and_retry(struct caching *c,
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

/* release_cached_blocks, then the try that num_alloc_retries counts. */
static enum gp_answer release_all_and_retry(struct caching *c,
					    const struct request *request,
					    struct block **found)
{
	enum gp_answer answer;

	if (pools_suspend_request(c, pool_index(request->pool)))
		return GP_OUT_OF_MEMORY;
	answer = alloc_release_cached(c, 0);
	if (answer != GP_SERVED)
		return answer;
	if (c->searches_again) {
		*found = get_free_block(c, request);
		if (*found) {
			free_list_remove((*found)->list, *found);
			return GP_SERVED;
		}
	}
	return ask_device(c, request, true, found);
}

/*
 * Obtains memory from the device, or by whatever PyTorch tries when there is
 * none. The block found is in no free list. May change request->is_expandable.
 */
static enum gp_answer obtain_block(struct caching *c, struct request *request,
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
		answer = release_and_retry(c, request, found);
	if (answer == GP_OUT_OF_MEMORY)
		answer = release_all_and_retry(c, request, found);
	if (answer == GP_OUT_OF_MEMORY && !falls_back_first &&
	    gp_release_has(release, GP_CHANGE_FALLBACK))
		answer = fall_back(c, request, found);
	return answer;
}

/* ---- splitting and allocating a block ---- */

static inline bool should_split(struct caching *c, const struct block *b,
				const struct request *request)
{
	uint64_t rest = b->size - request->rounded, least;
	bool cuts_all;

	if (request->is_restored)
		return rest > 0;
	if (c->pools.has_no_split &&
	    c->pools.no_split[pool_index(b->list->pool)])
		return false;
	cuts_all = request->pool->is_small | request->is_expandable;
	if (c->alike && !cuts_all && rest > GP_SMALL_SIZE)
		alike_split(c, request->rounded);
	least = gp_pick(cuts_all, GP_MIN_BLOCK_SIZE, GP_SMALL_SIZE + 1);
	return (rest >= least) &
	       (cuts_all | (request->rounded < c->settings.max_split_size));
}

/*
 * Splits the low part off as a new block, which is returned; the rest keeps the
 * block object, and its place in the free list if the order allows.
 */
static struct block *split(struct caching *c, struct block *rest, uint64_t size,
			   bool is_in_free_list)
{
	struct block *b = caching_part(c, rest, rest->addr, size);

	b->prev = rest->prev;
	if (b->prev)
		b->prev->next = b;
	b->next = rest;
	rest->prev = b;
	if (is_in_free_list) {
		rest->gc_base = rest->list->pool->searches;
		free_list_shrink(rest->list, rest, size);
		return b;
	}
	rest->addr += size;
	rest->size -= size;
	caching_insert_free(rest);
	return b;
}

/* Splits the block if required and updates inactive_split. Inline, like
 * hand_out, because alloc_restore calls both as well: as calls they would slow
 * a replay by 3 %. */
static inline __attribute__((always_inline)) struct block *cut_to_size(
	struct caching *c, struct block *b, const struct request *request,
	bool is_in_free_list)
{
	struct tally *own = b->list->pool->tally;
	bool was_split = block_is_split(b);
	bool is_cut = should_split(c, b, request);
	uint64_t before = was_split * b->size, after = 0;

	if (is_cut) {
		after = b->size - request->rounded;
		b = split(c, b, request->rounded, is_in_free_list);
	} else if (is_in_free_list) {
		free_list_remove(b->list, b);
	}
	if (!b->segment) {
		counter_net(c, GP_STAT_INACTIVE_SPLIT, own, is_cut - was_split);
		counter_net(c, GP_STAT_INACTIVE_SPLIT_BYTES, own,
			    (int64_t)(after - before));
	}
	return b;
}

static inline __attribute__((always_inline)) void hand_out(struct caching *c,
							   struct block *b,
							   uint32_t id,
							   uint64_t size)
{
	struct tally *own = b->list->pool->tally;

	b->use = BLOCK_ALLOCATED;
	b->requested = size;
	b->id = id;
	c->live[id] = b;
	caching_act(c, GP_ALLOC, b, b->addr, size);
	counter_add(c, GP_STAT_ALLOCATION, own, 1);
	counter_add(c, GP_STAT_ALLOCATED_BYTES, own, b->size);
	counter_add(c, GP_STAT_ACTIVE, own, 1);
	counter_add(c, GP_STAT_ACTIVE_BYTES, own, b->size);
	counter_add(c, GP_STAT_REQUESTED_BYTES, own, size);
	if (b->size >= c->settings.max_split_size)
		counter_increase(&c->stats.oversize_allocations, 1);
}

/* Notifies the listener of a request that failed, and counts it. */
static void notify_oom(struct caching *c, const struct request *request)
{
	uint64_t free_bytes, total;
	struct gp_action action = {
		.kind = GP_OOM,
		.stream = request->stream,
		.pool = pool_index(request->pool),
		.id = GP_NO_ID,
		.size = request->rounded,
	};

	c->device->ops->info(c->device, &free_bytes, &total);
	action.addr = free_bytes;
	if (c->config.action)
		c->config.action(c->config.action_arg, &action);
	c->stats.num_ooms++;
}

static uint64_t round_request(const struct caching *c, uint64_t size)
{
	return c->rounds_plainly ? gp_round_up(size, GP_MIN_BLOCK_SIZE)
				 : variant_round(c, size);
}

/* Fills in the rounded size and the pool. */
static inline enum gp_answer resolve_request(struct caching *c,
					     struct request *request,
					     uint64_t size, uint16_t pool)
{
	if (size > LARGEST_REQUEST)
		size = LARGEST_REQUEST;
	request->rounded = round_request(c, size);
	request->is_expandable = c->settings.expandable_segments;
	if (!pool && !c->pools.route_count) {
		struct pool_pair *pair = c->pools.pairs[0];

		request->pool = request->rounded <= GP_SMALL_SIZE
					? &pair->small
					: &pair->large;
		return GP_SERVED;
	}
	return pool_of_request(c, request, pool);
}

/* ---- a request ---- */

enum gp_answer alloc_serve(struct gp_allocator *allocator, uint32_t id,
			   uint64_t size, uint16_t stream, uint16_t pool,
			   uint64_t *addr)
{
	struct caching *c = caching_of(allocator);
	struct request request;
	enum gp_answer answer;
	struct block *b;
	bool is_in_free_list = true;

	if (!size)
		return GP_SERVED;
	request.stream = stream;
	request.is_restored = false;
	if (events_are_pending(&c->events)) {
		if (!pools_suspend_request(c, pool))
			events_process(c);
		else if (c->settings.capture_reuse)
			events_reuse(c, stream);
	}
	answer = resolve_request(c, &request, size, pool);
	if (answer != GP_SERVED)
		return answer;
	b = get_free_block(c, &request);
	if (!b) {
		is_in_free_list = false;
		request.segment_size =
			gp_settings_segment(&c->settings, request.rounded);
		if (request.rounded > GP_SMALL_SIZE &&
		    request.rounded < GP_MIN_LARGE_ALLOC)
			alike_large(c);
		answer = obtain_block(c, &request, &b);
		if (answer == GP_OUT_OF_MEMORY)
			notify_oom(c, &request);
		if (answer != GP_SERVED)
			return answer;
	}
	b = cut_to_size(c, b, &request, is_in_free_list);
	hand_out(c, b, id, size);
	*addr = b->addr;
	capture_work(c, stream);
	return GP_SERVED;
}

/* ---- an allocation that is freed by the next event ---- */

/* Whether this alloc and free might have effects beyond the counters. */
static bool has_more_to_do(const struct caching *c)
{
	return (c->config.action != NULL) | c->gc_enabled | c->has_unmerged |
	       (c->captures.open != 0) | (c->order == BY_OBJECT) |
	       events_are_pending(&c->events);
}

static inline void count_round_trip(struct caching *c, const struct block *b,
				    struct tally *own, uint64_t allocated,
				    uint64_t size)
{
	int64_t bytes = (int64_t)allocated, whole = (int64_t)b->size;

	if (!b->segment) {
		/* The change of inactive_split while the block is allocated:
		 * free bytes of its segment during the allocation, less those
		 * before. */
		int64_t was_split = block_is_split(b), is_cut = bytes < whole;
		int64_t more = whole - bytes - was_split * whole;

		counter_touch(c, GP_STAT_INACTIVE_SPLIT, own,
			      is_cut - was_split, is_cut ^ was_split);
		counter_touch(c, GP_STAT_INACTIVE_SPLIT_BYTES, own, more,
			      more < 0 ? -more : more);
	}
	counter_touch(c, GP_STAT_ALLOCATION, own, 1, 1);
	counter_touch(c, GP_STAT_ALLOCATED_BYTES, own, bytes, bytes);
	counter_touch(c, GP_STAT_ACTIVE, own, 1, 1);
	counter_touch(c, GP_STAT_ACTIVE_BYTES, own, bytes, bytes);
	counter_touch(c, GP_STAT_REQUESTED_BYTES, own, (int64_t)size,
		      (int64_t)size);
}

/*
 * Shortcut for a block that is allocated and freed at once: one in seven
 * requests of a training, and more where there are many temporaries. The block
 * is split off a free one and merged into it again, so in the end only the
 * counters have changed.
 */
uint64_t alloc_and_free(struct gp_allocator *allocator, uint64_t size,
			uint16_t stream, uint16_t pool, uint64_t most)
{
	struct caching *c = caching_of(allocator);
	struct request request = { .stream = stream };
	uint64_t allocated;
	struct block *b;
	bool is_cut;

	if (!size || has_more_to_do(c) ||
	    resolve_request(c, &request, size, pool) != GP_SERVED)
		return 0;
	b = get_free_block(c, &request);
	if (!b)
		return 0;
	is_cut = should_split(c, b, &request);
	allocated = gp_pick(is_cut, request.rounded, b->size);
	if (allocated >= c->settings.max_split_size ||
	    (uint64_t)gp_level_now(
		    &c->tally[GP_STAT_ALL].levels[GP_STAT_ALLOCATED_BYTES]) +
			    allocated >
		    most)
		return 0;
	count_round_trip(c, b, request.pool->tally, allocated, size);
	b->requested = size;
	b->gc_base = request.pool->searches;
	return allocated;
}

/* ---- where a request would be served ---- */

bool alloc_route(struct gp_allocator *allocator, uint64_t size, uint16_t stream,
		 uint16_t pool, struct gp_route *route)
{
	struct caching *c = caching_of(allocator);
	struct request request = { .stream = stream };

	if (resolve_request(c, &request, size, pool) != GP_SERVED)
		return false;
	*route = (struct gp_route){
		.rounded = request.rounded,
		.pool = pool_index(request.pool),
		.is_small = request.pool->is_small,
		.gives_back =
			!pools_suspend_request(c, pool_index(request.pool)),
		.collects = c->gc_enabled,
	};
	return true;
}

/* ---- restoring a checkpointed pool state ---- */

/* The free block at that address, if it is large enough; NULL: there is
 * none. */
static struct block *find_at(struct caching_pool *pool, uint16_t stream,
			     uint64_t addr, uint64_t size)
{
	struct free_list *list = pool_free_list(pool, stream);
	struct block *b = list ? free_list_best_fit(list, size) : NULL;

	while (b && b->addr != addr)
		b = free_list_next(list, b);
	return b;
}

enum gp_answer alloc_restore(struct gp_allocator *allocator, uint32_t id,
			     uint64_t size, uint16_t stream, uint16_t pool,
			     uint64_t *addr)
{
	struct caching *c = caching_of(allocator);
	struct pool_pair *pair = c->pools.pairs[pool];
	struct request request = { .rounded = size,
				   .stream = stream,
				   .is_restored = true };
	struct block *b = NULL;

	if (pair && size && size % GP_MIN_BLOCK_SIZE == 0) {
		b = find_at(&pair->small, stream, *addr, size);
		if (!b)
			b = find_at(&pair->large, stream, *addr, size);
	}
	*addr = 0;
	if (!b)
		return alloc_serve(allocator, id, size, stream, pool, addr);
	b = cut_to_size(c, b, &request, true);
	hand_out(c, b, id, size);
	*addr = b->addr;
	return GP_SERVED;
}
