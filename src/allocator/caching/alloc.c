/* SPDX-License-Identifier: MIT */
/* Serving a request. */
#include "allocator/caching/alloc.h"

#include "allocator/caching/alike.h"
#include "allocator/caching/caching.h"
#include "allocator/caching/counter.h"
#include "allocator/caching/segment.h"
#include "allocator/caching/size.h"

static bool should_split(struct caching *c, const struct block *b,
			 const struct request *request)
{
	uint64_t rest = b->size - request->rounded;

	if (request->is_restored)
		return rest > 0;
	if (c->pools.no_split[pool_index(b->pool)])
		return false;
	if (b->pool->is_small || request->is_expandable)
		return rest >= GP_MIN_BLOCK_SIZE;
	if (rest <= SMALL_SIZE)
		return false;
	if (c->alike)
		alike_split(c, request->rounded);
	return request->rounded < c->settings.max_split_size;
}

/*
 * The caller gets a new object for the low part; the rest keeps the old one,
 * and its place on the shelf where it still fits there.
 */
static struct block *split(struct caching *c, struct block *rest, uint64_t size,
			   bool is_shelved)
{
	struct block *b = caching_part(c, rest, rest->addr, size);

	b->prev = rest->prev;
	if (b->prev)
		b->prev->next = b;
	b->next = rest;
	rest->prev = b;
	if (is_shelved) {
		rest->gc_base = rest->pool->searches;
		shelf_shrink(pool_shelf(rest->pool, rest->stream), rest, size);
		return b;
	}
	rest->addr += size;
	rest->size -= size;
	caching_shelve(rest);
	return b;
}

/* Splits if need be, and counts what that does to inactive_split.  Inline, as
 * is hand_out: a restore calls them, too, and calls would cost a replay 3 %. */
static inline struct block *cut_to_size(struct caching *c, struct block *b,
					const struct request *request,
					bool is_shelved)
{
	struct tally *own = b->pool->tally;
	bool was_split = block_is_split(b);
	bool is_cut = should_split(c, b, request);
	uint64_t before = was_split * b->size, after = 0;

	if (is_cut) {
		after = b->size - request->rounded;
		b = split(c, b, request->rounded, is_shelved);
	} else if (is_shelved) {
		shelf_remove(pool_shelf(b->pool, b->stream), b);
	}
	if (!b->segment) {
		counter_net(c, GP_STAT_INACTIVE_SPLIT, own, is_cut - was_split);
		counter_net(c, GP_STAT_INACTIVE_SPLIT_BYTES, own,
			    (int64_t)(after - before));
	}
	return b;
}

static inline void hand_out(struct caching *c, struct block *b, uint32_t id,
			    uint64_t size)
{
	struct tally *own = b->pool->tally;

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

static void tell_oom(struct caching *c, const struct request *request)
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
	return c->rounds_plainly ? round_up(size, GP_MIN_BLOCK_SIZE)
				 : gp_settings_round(&c->settings, size);
}

/* What the request is to the pools. */
static enum gp_answer aim(struct caching *c, struct request *request,
			  uint64_t size, uint16_t pool)
{
	if (size > LARGEST_REQUEST)
		size = LARGEST_REQUEST;
	request->rounded = round_request(c, size);
	request->is_expandable = c->settings.expandable_segments;
	if (!pool && !c->pools.route_count) {
		struct pool_pair *pair = c->pools.pairs[0];

		request->pool = request->rounded <= SMALL_SIZE ? &pair->small
							       : &pair->large;
		return GP_SERVED;
	}
	return pool_of_request(c, request, pool);
}

enum gp_answer alloc_serve(struct gp_allocator *allocator, uint32_t id,
			   uint64_t size, uint16_t stream, uint16_t pool,
			   uint64_t *addr)
{
	struct caching *c = caching_of(allocator);
	struct request request;
	enum gp_answer answer;
	struct block *b;
	bool is_shelved = true;

	if (!size)
		return GP_SERVED;
	request.stream = stream;
	request.is_restored = false;
	if (events_are_pending(&c->events)) {
		if (!pools_are_suspended(c))
			events_process(c);
		else if (c->settings.capture_reuse)
			events_reuse(c, stream);
	}
	answer = aim(c, &request, size, pool);
	if (answer != GP_SERVED)
		return answer;
	b = segment_find_free(c, &request);
	if (!b) {
		is_shelved = false;
		request.segment_size =
			size_of_segment(&c->settings, request.rounded);
		if (request.rounded > SMALL_SIZE &&
		    request.rounded < MIN_LARGE_ALLOC)
			alike_large(c);
		answer = segment_obtain(c, &request, &b);
		if (answer == GP_OUT_OF_MEMORY)
			tell_oom(c, &request);
		if (answer != GP_SERVED)
			return answer;
	}
	b = cut_to_size(c, b, &request, is_shelved);
	hand_out(c, b, id, size);
	*addr = b->addr;
	capture_work(c, stream);
	return GP_SERVED;
}

/* The free block there, large enough; NULL: there is none. */
static struct block *find_at(const struct caching_pool *pool, uint16_t stream,
			     uint64_t addr, uint64_t size)
{
	struct shelf *shelf = pool_shelf(pool, stream);
	struct block *b = shelf ? shelf_best(shelf, size) : NULL;

	while (b && b->addr != addr)
		b = shelf_next(shelf, b);
	return b;
}

enum gp_answer alloc_restore(struct gp_allocator *allocator, uint32_t id,
			     uint64_t size, uint16_t stream, uint16_t pool,
			     uint64_t *addr)
{
	struct caching *c = caching_of(allocator);
	const struct pool_pair *pair = c->pools.pairs[pool];
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
