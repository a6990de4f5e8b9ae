/* SPDX-License-Identifier: MIT */
/*
 * Requests to a plug-in engine: one allocator for each stream of each pool,
 * counters, and pending frees.
 *
 * A pending block is returned to the engine when the trace says that the
 * streams which used it are done (synchronize, complete), or when memory has
 * run out, because PyTorch then waits for all streams, too
 * (synchronize_and_free_events).
 */
#include "allocator/keeper.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/engines.h"
#include "base/mem.h"

static struct keeper *keeper_of(struct gp_allocator *allocator)
{
	return (struct keeper *)allocator;
}

void keeper_fail(struct keeper *l, const char *format, ...)
{
	size_t room = sizeof(l->trouble), n;
	va_list args;

	if (*l->trouble)
		return;
	n = (size_t)snprintf(l->trouble, room, "%s", l->call.name);
	if (l->call.size)
		n += (size_t)snprintf(l->trouble + n, room - n,
				      " of %" PRIu64 " bytes, block %" PRIu64,
				      l->call.size, l->call.id);
	n += (size_t)snprintf(l->trouble + n, room - n, ": ");
	va_start(args, format);
	vsnprintf(l->trouble + n, room - n, format, args);
	va_end(args);
}

static void begin(struct keeper *l, const char *call)
{
	l->call.name = call;
	l->call.size = 0;
}

static void begin_about(struct keeper *l, const char *call, uint64_t size,
			uint64_t id)
{
	l->call.name = call;
	l->call.size = size;
	l->call.id = id;
}

const char *keeper_setting(const struct gp_memory *memory, const char *name)
{
	const struct keeper_heap *heap = memory->device;

	return engine_setting(heap->keeper->config.engine, name);
}

uint64_t keeper_planned(const struct gp_memory *memory, uint32_t id)
{
	const struct keeper_heap *heap = memory->device;
	const uint64_t *places = heap->keeper->config.places;

	return places ? places[id] : GP_NO_PLACE;
}

/* ---- counters and actions ---- */

void keeper_count(struct keeper *l, enum gp_stat_id id, int64_t amount)
{
	struct gp_stat *stat = &l->stats.by_pool[id][GP_STAT_ALL];

	gp_stat_change(stat, amount);
	l->levels[id].peak = stat->current;
}

void keeper_act(struct keeper *l, enum gp_event_kind kind,
		const struct keeper_heap *heap, uint32_t id, uint64_t addr,
		uint64_t size)
{
	const struct gp_action action = {
		.kind = (uint8_t)kind,
		.stream = heap->stream,
		.pool = heap->pool,
		.id = id,
		.addr = addr,
		.size = size,
		.block = id == GP_NO_ID ? 0 : l->blocks[id].piece.size,
	};

	if (l->config.action)
		l->config.action(l->config.action_arg, &action);
}

/* ---- heaps: the allocators of an engine ---- */

static uint32_t add_heap(struct keeper *l, uint16_t stream, uint16_t pool)
{
	struct keeper_heap *heap = gp_mem_alloc(1, sizeof(*heap));

	heap->keeper = l;
	heap->index = (uint32_t)l->heap_count;
	heap->stream = stream;
	heap->pool = pool;
	heap->memory = keeper_memory(heap);
	GP_GROW(l->heaps, l->heap_count + 1, l->heap_room);
	l->heaps[l->heap_count++] = heap;
	begin(l, "create");
	heap->self = l->table->create ? l->table->create(&heap->memory)
				      : &heap->memory;
	if (!heap->self)
		keeper_fail(l, "it created no allocator");
	return heap->index;
}

static uint32_t heap_for(struct keeper *l, uint16_t stream, uint16_t pool)
{
	uint64_t key = l->table->is_shared ? 0 : (uint64_t)pool << 16 | stream;
	uint32_t heap = gp_map_get(&l->heap_of, key);

	if (heap != GP_MAP_NONE)
		return heap;
	heap = l->table->is_shared ? add_heap(l, 0, 0)
				   : add_heap(l, stream, pool);
	gp_map_put(&l->heap_of, key, heap);
	return heap;
}

static void trim(struct keeper *l, uint16_t pool)
{
	if (!l->table->trim)
		return;
	begin(l, "trim");
	for (size_t i = 0; i < l->heap_count && !keeper_is_broken(l); i++)
		if (!pool || l->heaps[i]->pool == pool)
			l->table->trim(l->heaps[i]->self);
}

/* ---- pending frees ---- */

static void add_use(struct keeper *l, struct keeper_block *b, uint16_t stream)
{
	uint32_t index = l->uses.spare;

	if (index) {
		l->uses.spare = l->uses.items[index - 1].next;
	} else {
		GP_GROW(l->uses.items, l->uses.count + 1, l->uses.room);
		index = (uint32_t)++l->uses.count;
	}
	l->uses.items[index - 1] = (struct keeper_use){ b->uses, stream };
	b->uses = index;
}

/* Removes the uses on that stream, or on GP_ALL_STREAMS. */
static void end_uses(struct keeper *l, struct keeper_block *b, uint16_t stream)
{
	uint32_t *link = &b->uses;

	while (*link) {
		uint32_t index = *link;
		struct keeper_use *use = &l->uses.items[index - 1];

		if (stream != GP_ALL_STREAMS && use->stream != stream) {
			link = &use->next;
			continue;
		}
		*link = use->next;
		use->next = l->uses.spare;
		l->uses.spare = index;
	}
}

static void give_back(struct keeper *l, uint32_t id)
{
	struct keeper_block *b = &l->blocks[id];
	const struct keeper_heap *heap = l->heaps[b->heap];

	keeper_act(l, GP_FREE_COMPLETED, heap, id, b->piece.addr, b->requested);
	keeper_displace(l, id);
	keeper_count(l, GP_STAT_ACTIVE, -1);
	keeper_count(l, GP_STAT_ACTIVE_BYTES, -(int64_t)b->piece.size);
	keeper_count(l, GP_STAT_REQUESTED_BYTES, -(int64_t)b->requested);
	b->state = GP_INACTIVE;
	if (keeper_is_broken(l))
		return;
	begin_about(l, "free", b->requested, id);
	l->table->free(heap->self, &b->piece);
}

/* Frees the pending blocks that have no use left. */
static void complete_pending(struct keeper *l, uint16_t stream)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->pending_count; i++) {
		struct keeper_block *b = &l->blocks[l->pending[i]];

		end_uses(l, b, stream);
		if (b->uses)
			l->pending[kept++] = l->pending[i];
		else
			give_back(l, l->pending[i]);
	}
	l->pending_count = kept;
}

static void await(struct keeper *l, uint32_t id)
{
	l->blocks[id].state = GP_PENDING_FREE;
	GP_GROW(l->pending, l->pending_count + 1, l->pending_room);
	l->pending[l->pending_count++] = id;
}

static void keeper_record_stream(struct gp_allocator *allocator, uint32_t id,
				 uint16_t stream)
{
	struct keeper *l = keeper_of(allocator);
	struct keeper_block *b = &l->blocks[id];

	if (b->state == GP_ACTIVE && stream != l->heaps[b->heap]->stream)
		add_use(l, b, stream);
}

static void keeper_synchronize(struct gp_allocator *allocator, uint16_t stream)
{
	complete_pending(keeper_of(allocator), stream);
}

static void keeper_complete(struct gp_allocator *allocator, uint32_t id)
{
	struct keeper *l = keeper_of(allocator);

	if (l->blocks[id].state != GP_PENDING_FREE)
		return;
	end_uses(l, &l->blocks[id], GP_ALL_STREAMS);
	for (size_t i = 0; i < l->pending_count; i++) {
		if (l->pending[i] != id)
			continue;
		GP_REMOVE(l->pending, l->pending_count, i);
		break;
	}
	give_back(l, id);
}

/* ---- requests ---- */

static bool ask(struct keeper *l, struct keeper_heap *heap,
		const struct gp_ask *asked, struct gp_piece *piece)
{
	*piece = (struct gp_piece){ 0 };
	begin_about(l, "alloc", asked->size, asked->id);
	return l->table->alloc(heap->self, asked, piece);
}

/* As PyTorch does when the device is out of memory: waits for all pending
 * frees, releases cached memory, and tries once more. */
static bool serve(struct keeper *l, struct keeper_heap *heap,
		  const struct gp_ask *asked, struct gp_piece *piece)
{
	if (ask(l, heap, asked, piece))
		return true;
	if (keeper_is_broken(l))
		return false;
	l->stats.num_alloc_retries++;
	l->stats.num_sync_all_streams += l->pending_count > 0;
	complete_pending(l, GP_ALL_STREAMS);
	trim(l, 0);
	return !keeper_is_broken(l) && ask(l, heap, asked, piece);
}

/* The pool of the newest open route that accepts the stream. */
static uint16_t routed(const struct keeper *l, uint16_t stream)
{
	for (size_t i = l->route_count; i-- > 0;)
		if (l->routes[i].stream == GP_ALL_STREAMS ||
		    l->routes[i].stream == stream)
			return l->routes[i].pool;
	return 0;
}

static enum gp_answer refuse(struct keeper *l, const struct keeper_heap *heap,
			     uint64_t size)
{
	uint64_t free_bytes, total;

	if (keeper_is_broken(l))
		return GP_REFUSED_BY_RULE;
	l->config.device->ops->info(l->config.device, &free_bytes, &total);
	keeper_act(l, GP_OOM, heap, GP_NO_ID, free_bytes, size);
	l->stats.num_ooms++;
	return GP_OUT_OF_MEMORY;
}

static enum gp_answer keeper_alloc(struct gp_allocator *allocator, uint32_t id,
				   uint64_t size, uint16_t stream,
				   uint16_t pool, uint64_t *addr)
{
	struct keeper *l = keeper_of(allocator);
	uint16_t to = pool || !l->route_count ? pool : routed(l, stream);
	const struct gp_ask asked = {
		.size = size,
		.id = id,
		.stream = l->config.streams[stream],
		.pool = { l->config.pools[to].first,
			  l->config.pools[to].second },
	};
	struct keeper_block *b = &l->blocks[id];
	uint32_t heap;

	if (!size)
		return GP_SERVED;
	if (keeper_is_broken(l))
		return GP_REFUSED_BY_RULE;
	heap = heap_for(l, stream, to);
	if (keeper_is_broken(l) || !serve(l, l->heaps[heap], &asked, &b->piece))
		return refuse(l, l->heaps[heap], size);
	b->requested = size;
	b->heap = heap;
	b->uses = 0;
	if (!keeper_place(l, id))
		return GP_REFUSED_BY_RULE;
	b->state = GP_ACTIVE;
	*addr = b->piece.addr;
	keeper_act(l, GP_ALLOC, l->heaps[heap], id, *addr, size);
	keeper_count(l, GP_STAT_ALLOCATION, 1);
	keeper_count(l, GP_STAT_ACTIVE, 1);
	keeper_count(l, GP_STAT_ALLOCATED_BYTES, (int64_t)b->piece.size);
	keeper_count(l, GP_STAT_ACTIVE_BYTES, (int64_t)b->piece.size);
	keeper_count(l, GP_STAT_REQUESTED_BYTES, (int64_t)size);
	return GP_SERVED;
}

static void keeper_free(struct gp_allocator *allocator, uint32_t id)
{
	struct keeper *l = keeper_of(allocator);
	struct keeper_block *b = &l->blocks[id];

	if (b->state != GP_ACTIVE)
		return;
	keeper_act(l, GP_FREE, l->heaps[b->heap], id, b->piece.addr,
		   b->requested);
	keeper_count(l, GP_STAT_ALLOCATION, -1);
	keeper_count(l, GP_STAT_ALLOCATED_BYTES, -(int64_t)b->piece.size);
	if (b->uses)
		await(l, id);
	else
		give_back(l, id);
}

static enum gp_answer keeper_empty_cache(struct gp_allocator *allocator,
					 uint16_t pool)
{
	trim(keeper_of(allocator), pool);
	return GP_SERVED;
}

static enum gp_answer keeper_set_fraction(struct gp_allocator *allocator,
					  double fraction)
{
	struct keeper *l = keeper_of(allocator);
	uint64_t free_bytes, total;

	/* A fraction that PyTorch refuses has no effect. */
	if (!engine_is_fraction(fraction))
		return GP_SERVED;
	l->config.device->ops->info(l->config.device, &free_bytes, &total);
	l->limit = fraction < 1 ? (uint64_t)(fraction * (double)total)
				: GP_UNLIMITED;
	return GP_SERVED;
}

static enum gp_answer begin_route(struct keeper *l, uint16_t pool,
				  uint16_t stream)
{
	GP_GROW(l->routes, l->route_count + 1, l->route_room);
	l->routes[l->route_count++] = (struct keeper_route){ pool, stream };
	return GP_SERVED;
}

static enum gp_answer keeper_pool_begin(struct gp_allocator *allocator,
					uint16_t pool, bool is_capture)
{
	(void)is_capture;
	return begin_route(keeper_of(allocator), pool, GP_ALL_STREAMS);
}

static enum gp_answer keeper_capture(struct gp_allocator *allocator,
				     uint16_t pool, uint16_t stream)
{
	return begin_route(keeper_of(allocator), pool, stream);
}

static enum gp_answer keeper_pool_end(struct gp_allocator *allocator,
				      uint16_t pool)
{
	struct keeper *l = keeper_of(allocator);
	size_t i = 0;

	while (i < l->route_count && l->routes[i].pool != pool)
		i++;
	if (i == l->route_count)
		return GP_SERVED;
	GP_REMOVE(l->routes, l->route_count, i);
	return GP_SERVED;
}

static void keeper_mark(struct gp_allocator *allocator, const char *name)
{
	struct keeper *l = keeper_of(allocator);

	if (!l->table->mark)
		return;
	begin(l, "mark");
	for (size_t i = 0; i < l->heap_count && !keeper_is_broken(l); i++)
		l->table->mark(l->heaps[i]->self, name);
}

/* ---- state ---- */

static void keeper_reset_peak(struct gp_allocator *allocator)
{
	gp_stats_reset_peak(&keeper_of(allocator)->stats);
}

static void keeper_reset_accumulated(struct gp_allocator *allocator)
{
	gp_stats_reset_accumulated(&keeper_of(allocator)->stats);
}

static const struct gp_stats *keeper_stats(struct gp_allocator *allocator)
{
	return &keeper_of(allocator)->stats;
}

static uint64_t largest_between(struct keeper *l)
{
	struct gp_state state;
	uint64_t largest = 0;

	keeper_state(&l->head, &state);
	for (size_t i = 0; i < state.block_count; i++)
		if (state.blocks[i].state == GP_INACTIVE &&
		    state.blocks[i].size > largest)
			largest = state.blocks[i].size;
	gp_state_release(&state);
	return largest;
}

static uint64_t keeper_largest_free(struct gp_allocator *allocator)
{
	struct keeper *l = keeper_of(allocator);
	uint64_t largest = 0;

	if (!l->table->largest_free)
		return largest_between(l);
	begin(l, "largest_free");
	for (size_t i = 0; i < l->heap_count && !keeper_is_broken(l); i++) {
		uint64_t one = l->table->largest_free(l->heaps[i]->self);

		if (one > largest)
			largest = one;
	}
	return largest;
}

static const char *keeper_refusal(struct gp_allocator *allocator)
{
	return keeper_of(allocator)->trouble;
}

static enum gp_status keeper_health(struct gp_allocator *allocator,
				    struct gp_diag *diag)
{
	struct keeper *l = keeper_of(allocator);

	if (!keeper_is_broken(l))
		return GP_OK;
	if (l->config.engine)
		gp_diag_file(diag, l->config.engine->name);
	return gp_diag_set(diag, GP_INPUT, "%s", l->trouble);
}

/* ---- creation and destruction ---- */

static void keeper_destroy(struct gp_allocator *allocator)
{
	struct keeper *l = keeper_of(allocator);

	l->config.action = NULL;
	for (size_t i = 0; i < l->heap_count; i++) {
		struct keeper_heap *heap = l->heaps[i];

		if (l->table->destroy && heap->self && !keeper_is_broken(l))
			l->table->destroy(heap->self);
		free(heap);
	}
	if (l->destroyed)
		l->destroyed(l);
	gp_map_release(&l->heap_of);
	free(l->heaps);
	free(l->blocks);
	free(l->uses.items);
	free(l->pending);
	free(l->routes);
	free(l->memory.items);
	free(l->reserved.items);
	free(l->live);
	free(l);
}

static const struct gp_allocator_ops keeper_ops = {
	.name = "keeper",
	.alloc = keeper_alloc,
	.free = keeper_free,
	.record_stream = keeper_record_stream,
	.synchronize = keeper_synchronize,
	.complete = keeper_complete,
	.empty_cache = keeper_empty_cache,
	.set_fraction = keeper_set_fraction,
	.pool_begin = keeper_pool_begin,
	.capture = keeper_capture,
	.pool_end = keeper_pool_end,
	.reset_peak = keeper_reset_peak,
	.reset_accumulated = keeper_reset_accumulated,
	.stats = keeper_stats,
	.state = keeper_state,
	.largest_free = keeper_largest_free,
	.refusal = keeper_refusal,
	.health = keeper_health,
	.destroy = keeper_destroy,
	.mark = keeper_mark,
};

/* Allocates a block of the start state. A pending one waits for work that is
 * unknown. */
static bool adopt_block(struct keeper *l, const struct gp_segment *segment,
			const struct gp_block *from)
{
	uint64_t addr;

	if (from->state == GP_INACTIVE)
		return true;
	if (keeper_alloc(&l->head, from->id,
			 from->requested ? from->requested : from->size,
			 segment->stream, segment->pool, &addr) != GP_SERVED)
		return false;
	if (from->state == GP_PENDING_FREE) {
		add_use(l, &l->blocks[from->id], GP_NO_STREAM);
		keeper_free(&l->head, from->id);
	}
	return true;
}

static enum gp_status adopt(struct keeper *l, const struct gp_state *start,
			    struct gp_diag *diag)
{
	for (size_t i = 0; i < start->segment_count; i++) {
		const struct gp_segment *segment = &start->segments[i];

		for (uint32_t k = 0; k < segment->blocks; k++)
			if (!adopt_block(
				    l, segment,
				    &start->blocks[segment->first_block + k]))
				return keeper_is_broken(l)
					       ? keeper_health(&l->head, diag)
					       : gp_diag_set(
							 diag, GP_SYSTEM,
							 "the memory that the "
							 "trace begins with "
							 "does not fit");
	}
	return GP_OK;
}

enum gp_status keeper_init(struct keeper *l,
			   const struct gp_engine_table *table,
			   const struct gp_allocator_config *config,
			   struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	l->head.ops = &keeper_ops;
	l->head.levels = l->levels;
	l->config = *config;
	l->table = table;
	l->blocks = gp_mem_alloc(config->block_ids, sizeof(*l->blocks));
	l->stats.max_split_size = -1;
	l->limit = GP_UNLIMITED;
	if (config->settings->memory_fraction < 1)
		keeper_set_fraction(&l->head,
				    config->settings->memory_fraction);
	l->config.action = NULL;
	if (config->start)
		status = adopt(l, config->start, diag);
	l->config.action = config->action;
	if (status != GP_OK)
		keeper_destroy(&l->head);
	return status;
}

enum gp_status keeper_create(const struct gp_engine_table *table,
			     const struct gp_allocator_config *config,
			     struct gp_allocator **allocator,
			     struct gp_diag *diag)
{
	struct keeper *l = gp_mem_alloc(1, sizeof(*l));
	enum gp_status status = keeper_init(l, table, config, diag);

	if (status == GP_OK)
		*allocator = &l->head;
	return status;
}
