/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's caching allocator: blocks, and every request but alloc. PyTorch:
 * DeviceCachingAllocator::free, free_block, try_merge_blocks,
 * setMemoryFraction, emptyCache.
 */
#include "allocator/caching/caching.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/release.h"
#include "base/mem.h"

enum gp_answer caching_refuse(struct caching *c, const char *reason)
{
	c->refusal = reason;
	return GP_REFUSED_BY_RULE;
}

void caching_notify(struct caching *c, enum gp_event_kind kind,
		    const struct block *b, uint64_t addr, uint64_t size)
{
	struct gp_action action = {
		.kind = (uint8_t)kind,
		.stream = b->stream,
		.pool = pool_index(b->list->pool),
		.id = b->id,
		.addr = addr,
		.size = size,
		.block = b->size,
	};

	c->config.action(c->config.action_arg, &action);
}

/* ---- blocks ---- */

void block_table_grow(struct block_table *table)
{
	struct block *chunk = gp_mem_alloc(BLOCKS_PER_CHUNK, sizeof(*chunk));

	GP_GROW(table->chunks, table->chunk_count + 1, table->chunk_room);
	table->chunks[table->chunk_count++] = chunk;
	for (size_t i = BLOCKS_PER_CHUNK; i-- > 0;) {
		chunk[i].next = table->spare;
		table->spare = &chunk[i];
	}
}

static void block_table_release(struct block_table *table)
{
	for (size_t i = 0; i < table->chunk_count; i++)
		free(table->chunks[i]);
	free(table->chunks);
	*table = (struct block_table){ 0 };
}

inline void caching_insert_free(struct block *b)
{
	struct caching_pool *pool = b->list->pool;

	b->gc_base = pool->searches;
	pool->may_release |= b->segment || !block_is_split(b);
	free_list_insert(b->list, b);
}

inline uint64_t caching_merge(struct caching *c, struct block *dst,
			      struct block *src)
{
	uint64_t gained;

	if (!src || src->use != BLOCK_FREE || src->is_mapped != dst->is_mapped)
		return 0;
	if (src->is_mapped)
		free_list_remove(src->list, src);
	else
		free_list_remove_unmapped(src->list, src);
	if (dst->prev == src) {
		dst->addr = src->addr;
		dst->prev = src->prev;
		if (dst->prev)
			dst->prev->next = dst;
	} else {
		dst->next = src->next;
		if (dst->next)
			dst->next->prev = dst;
	}
	gained = src->size;
	dst->size += gained;
	block_destroy(&c->blocks, src);
	return gained;
}

size_t caching_collect(struct caching *c, struct caching_pool *pool)
{
	struct free_list **free_lists;
	size_t n = 0, count = pool_listed(pool, &free_lists);

	for (size_t i = 0; i < count; i++) {
		struct free_list *list = free_lists[i];
		struct block *b = free_list_best_fit(list, 0);

		for (; b; b = free_list_next(list, b)) {
			GP_GROW(c->scratch, n + 1, c->scratch_room);
			c->scratch[n++] = b;
		}
	}
	return n;
}

/* ---- free ---- */

inline __attribute__((always_inline)) void caching_free_block(struct caching *c,
							      struct block *b)
{
	struct tally *own = b->list->pool->tally;
	uint64_t size = b->size, below, above;

	caching_act(c, GP_FREE_COMPLETED, b, b->addr, b->requested);
	c->live[b->id] = NULL;
	b->id = GP_NO_ID;
	b->use = BLOCK_FREE;
	below = caching_merge(c, b, b->prev);
	above = caching_merge(c, b, b->next);
	caching_insert_free(b);
	if (!b->segment) {
		bool is_split = block_is_split(b);

		counter_net(c, GP_STAT_INACTIVE_SPLIT, own,
			    is_split - (below != 0) - (above != 0));
		counter_net(c, GP_STAT_INACTIVE_SPLIT_BYTES, own,
			    (int64_t)(is_split * b->size - below - above));
	}
	counter_sub(c, GP_STAT_ACTIVE, own, 1);
	counter_sub(c, GP_STAT_ACTIVE_BYTES, own, size);
	counter_sub(c, GP_STAT_REQUESTED_BYTES, own, b->requested);
}

static struct block *live_block(struct caching *c, uint32_t id)
{
	struct block *b = c->live[id];

	return b && b->use == BLOCK_ALLOCATED ? b : NULL;
}

static void caching_free(struct gp_allocator *allocator, uint32_t id)
{
	struct caching *c = caching_of(allocator);
	struct block *b = live_block(c, id);
	struct tally *own;

	if (!b)
		return;
	own = b->list->pool->tally;
	b->use = BLOCK_PENDING_FREE;
	counter_sub(c, GP_STAT_ALLOCATION, own, 1);
	counter_sub(c, GP_STAT_ALLOCATED_BYTES, own, b->size);
	caching_act(c, GP_FREE, b, b->addr, b->requested);
	if (b->size >= c->settings.max_split_size)
		counter_decrease(&c->stats.oversize_allocations, 1);
	if ((!b->uses && !b->uses_unknown) || !events_hold(c, b))
		caching_free_block(c, b);
}

static void caching_record_stream(struct gp_allocator *allocator, uint32_t id,
				  uint16_t stream)
{
	struct caching *c = caching_of(allocator);
	struct block *b = live_block(c, id);

	if (!b)
		return;
	events_record_use(c, b, stream);
	if (stream != GP_NO_STREAM)
		capture_work(c, stream);
}

static void caching_synchronize(struct gp_allocator *allocator, uint16_t stream)
{
	events_complete_stream(caching_of(allocator), stream);
}

static void caching_complete(struct gp_allocator *allocator, uint32_t id)
{
	struct caching *c = caching_of(allocator);

	if (c->live[id])
		events_complete_block(c, c->live[id]);
}

/* ---- other requests ---- */

static enum gp_answer caching_empty_cache(struct gp_allocator *allocator,
					  uint16_t pool)
{
	struct caching *c = caching_of(allocator);

	if (pool && !gp_release_has(c->settings.release, GP_CHANGE_POOL_EMPTY))
		return GP_SERVED;
	return alloc_release_cached(c, pool);
}

/* Updates what is derived from the settings and the limit. */
static void follow_settings(struct caching *c)
{
	c->rounds_plainly = true;
	variant_restrict(c);
	c->gc_enabled =
		c->limit != GP_UNLIMITED && c->settings.gc_threshold > 0;
	for (int i = 0; i < GP_DIVISIONS; i++)
		c->rounds_plainly &= !c->settings.divisions[i];
}

static enum gp_answer caching_set_fraction(struct gp_allocator *allocator,
					   double fraction)
{
	struct caching *c = caching_of(allocator);

	if (!engine_is_fraction(fraction))
		return caching_refuse(c, ENGINE_NO_FRACTION);
	c->limit = (uint64_t)(fraction * (double)c->device_total);
	if (fraction == 1 &&
	    gp_release_has(c->settings.release, GP_CHANGE_FRACTION_ONE))
		c->limit = GP_UNLIMITED;
	follow_settings(c);
	return GP_SERVED;
}

static enum gp_answer caching_set_settings(struct gp_allocator *allocator,
					   const char *conf)
{
	struct caching *c = caching_of(allocator);
	struct gp_diag diag = { 0 };
	enum gp_status status;

	alike_end(c, conf);
	status = gp_settings_set(&c->settings, conf, &diag);
	/* As in PyTorch, the options before an invalid one take effect. */
	follow_settings(c);
	if (status == GP_OK)
		return GP_SERVED;
	snprintf(c->refusal_text, sizeof(c->refusal_text), "%.200s", diag.what);
	return caching_refuse(c, c->refusal_text);
}

/* In releases before use_mem_pool, these requests have no effect. */
static bool has_routing(const struct caching *c)
{
	return gp_release_has(c->settings.release, GP_CHANGE_ROUTING);
}

static enum gp_answer caching_pool_begin(struct gp_allocator *allocator,
					 uint16_t pool, bool is_capture)
{
	struct caching *c = caching_of(allocator);

	if (!is_capture && !has_routing(c))
		return GP_SERVED;
	if (is_capture && c->settings.capture_reuse)
		return caching_refuse(
			c,
			"a capture with graph_capture_record_stream_reuse "
			"depends on its streams, which are not in the trace");
	return pool_begin(c, (struct pool_route){ pool, is_capture, 0, 0 });
}

/* A capture whose stream is in the trace. */
static enum gp_answer caching_capture(struct gp_allocator *allocator,
				      uint16_t pool, uint16_t stream)
{
	struct caching *c = caching_of(allocator);
	struct pool_route route = { pool, true, 0, stream };
	enum gp_answer answer;

	if (capture_of(c, stream))
		return caching_refuse(c, "the stream is being captured");
	if (c->captures.open && c->settings.capture_reuse)
		return caching_refuse(
			c,
			"two captures at the same time with "
			"graph_capture_record_stream_reuse are not modelled");
	route.capture = capture_begin(c, stream);
	answer = pool_begin(c, route);
	if (answer != GP_SERVED)
		capture_end(c, route.capture);
	return answer;
}

static void caching_wait(struct gp_allocator *allocator, uint16_t stream,
			 uint16_t by)
{
	capture_wait(caching_of(allocator), stream, by);
}

static enum gp_answer caching_pool_end(struct gp_allocator *allocator,
				       uint16_t pool)
{
	struct caching *c = caching_of(allocator);

	if (!c->pools.route_count && !has_routing(c))
		return GP_SERVED;
	return pool_end(c, pool);
}

static enum gp_answer caching_pool_release(struct gp_allocator *allocator,
					   uint16_t pool)
{
	struct caching *c = caching_of(allocator);

	if (!c->pools.pairs[pool] && !has_routing(c))
		return GP_SERVED;
	return pool_decref(c, pool);
}

static enum gp_answer caching_pool_change(struct gp_allocator *allocator,
					  uint16_t pool,
					  enum gp_event_kind change)
{
	struct caching *c = caching_of(allocator);

	return has_routing(c) ? pool_change(c, pool, change) : GP_SERVED;
}

static void caching_reset_peak(struct gp_allocator *allocator)
{
	counter_reset_peak(caching_of(allocator));
}

static void caching_reset_accumulated(struct gp_allocator *allocator)
{
	counter_reset_accumulated(caching_of(allocator));
}

static const struct gp_stats *caching_stats(struct gp_allocator *allocator)
{
	struct caching *c = caching_of(allocator);

	counter_fill(c);
	return &c->stats;
}

static bool caching_pool_reserved(struct gp_allocator *allocator, uint16_t pool,
				  struct gp_pool_reserved *reserved)
{
	const struct pool_reserved *from =
		&caching_of(allocator)->pools.reserved[pool];

	reserved->pool = pool;
	memcpy(reserved->by_kind, from->by_kind, sizeof(from->by_kind));
	return from->is_there;
}

static void caching_state(struct gp_allocator *allocator,
			  struct gp_state *state)
{
	state_export(caching_of(allocator), state);
}

static size_t caching_candidates(struct gp_allocator *allocator, uint64_t size,
				 uint16_t stream, uint16_t pool,
				 struct gp_candidate *out, size_t room)
{
	return state_candidates(caching_of(allocator), size, stream, pool, out,
				room);
}

static uint64_t caching_largest_free(struct gp_allocator *allocator)
{
	return pools_largest_free(caching_of(allocator));
}

static const char *caching_refusal(struct gp_allocator *allocator)
{
	return caching_of(allocator)->refusal;
}

/* ---- creation and destruction ---- */

static void caching_destroy(struct gp_allocator *allocator)
{
	struct caching *c = caching_of(allocator);
	struct expandable_segment *next;

	events_release(c);
	captures_release(c);
	pools_release(c);
	block_table_release(&c->blocks);
	for (; c->expandable; c->expandable = next) {
		next = c->expandable->next;
		free(c->expandable);
	}
	free(c->live);
	free(c->scratch);
	free(c);
}

static const struct gp_allocator_ops caching_ops = {
	.name = "caching",
	.alloc = alloc_serve,
	.alloc_and_free = alloc_and_free,
	.restore = alloc_restore,
	.free = caching_free,
	.record_stream = caching_record_stream,
	.synchronize = caching_synchronize,
	.complete = caching_complete,
	.empty_cache = caching_empty_cache,
	.set_fraction = caching_set_fraction,
	.set_settings = caching_set_settings,
	.pool_begin = caching_pool_begin,
	.capture = caching_capture,
	.wait = caching_wait,
	.pool_end = caching_pool_end,
	.pool_release = caching_pool_release,
	.pool_change = caching_pool_change,
	.reset_peak = caching_reset_peak,
	.reset_accumulated = caching_reset_accumulated,
	.stats = caching_stats,
	.pool_reserved = caching_pool_reserved,
	.state = caching_state,
	.candidates = caching_candidates,
	.route = alloc_route,
	.largest_free = caching_largest_free,
	.refusal = caching_refusal,
	.destroy = caching_destroy,
	.copy = copy_make,
	.shape = copy_shape,
};

static enum block_order order_of(uint8_t release)
{
	if (gp_release_has(release, GP_CHANGE_SEGMENT_ORDER))
		return BY_SEGMENT;
	if (gp_release_has(release, GP_CHANGE_OBJECT_ORDER))
		return BY_OBJECT;
	return BY_ADDRESS;
}

struct gp_allocator *gp_caching_create(const struct gp_allocator_config *config)
{
	struct caching *c = gp_mem_alloc(1, sizeof(*c));
	uint64_t free_bytes;

	c->head.ops = &caching_ops;
	c->head.levels = c->tally[GP_STAT_ALL].levels;
	c->config = *config;
	c->settings = *config->settings;
	c->device = config->device;
	c->device->ops->info(c->device, &free_bytes, &c->device_total);
	c->order = order_of(c->settings.release);
	if (config->engine && config->engine->values)
		variant_apply(c, config->engine);
	c->live = gp_mem_alloc(config->block_ids, sizeof(struct block *));
	c->stats.max_split_size = c->settings.max_split_size == GP_UNLIMITED
					  ? -1
					  : (int64_t)c->settings.max_split_size;
	c->limit = GP_UNLIMITED;
	pools_init(c);
	events_init(c);
	alike_begin(c);
	if (c->settings.memory_fraction < 1)
		caching_set_fraction(&c->head, c->settings.memory_fraction);
	follow_settings(c);
	if (config->start)
		state_adopt(c, config->start);
	return &c->head;
}
