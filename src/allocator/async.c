/* SPDX-License-Identifier: MIT */
/*
 * cudaMallocAsync and the device's pool, used as in PyTorch's backend of that
 * name (c10/cuda/CUDAMallocAsyncAllocator.cpp): the pool keeps all freed
 * memory, a freed block waits for the streams that used it, and nothing is
 * retried when memory runs out.
 *
 * Where blocks are placed, and what else the pool holds, is up to the driver:
 * there are no segments to report, and reserved and allocated are the pool's
 * own attributes.
 */
#include "allocator/engines.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sorted.h"

/* A stream, other than the block's own, that used it. A linked list, which ends
 * with 0. */
struct use {
	uint32_t next; /* index + 1 */
	uint16_t stream;
};

struct async_block {
	uint64_t addr;
	uint64_t size; /* bytes; 0: not live */
	uint16_t stream, pool;
	uint32_t uses; /* index + 1 */
};

struct async {
	struct gp_allocator head;
	struct gp_allocator_config config;
	struct async_block *blocks; /* by id */
	struct {
		struct use *items;
		size_t count, room;
		uint32_t spare; /* index + 1 */
	} uses;
	uint64_t limit; /* bytes; GP_UNLIMITED */
	uint64_t keep;	/* bytes that empty_cache keeps */
	struct gp_stats stats;
	struct gp_level levels[GP_STAT_COUNT];
};

static struct async *async_of(struct gp_allocator *allocator)
{
	return (struct async *)allocator;
}

static const struct gp_pool_ops *pool_of(const struct async *a)
{
	return a->config.device->ops->pool;
}

/* ---- counters ---- */

static void set_stat(struct async *a, enum gp_stat_id id, int64_t now)
{
	struct gp_stat *stat = &a->stats.by_pool[id][GP_STAT_ALL];

	gp_stat_change(stat, now - stat->current);
	a->levels[id] = (struct gp_level){ now, 0 };
}

static void add_stat(struct async *a, enum gp_stat_id id, int64_t amount)
{
	set_stat(a, id, a->stats.by_pool[id][GP_STAT_ALL].current + amount);
}

static void count(struct async *a, int64_t blocks, int64_t bytes)
{
	uint64_t reserved, used;

	add_stat(a, GP_STAT_ALLOCATION, blocks);
	add_stat(a, GP_STAT_ACTIVE, blocks);
	add_stat(a, GP_STAT_ACTIVE_BYTES, bytes);
	add_stat(a, GP_STAT_REQUESTED_BYTES, bytes);
	pool_of(a)->usage(a->config.device, &reserved, &used);
	set_stat(a, GP_STAT_ALLOCATED_BYTES, (int64_t)used);
	set_stat(a, GP_STAT_RESERVED_BYTES, (int64_t)reserved);
}

static void act(struct async *a, enum gp_event_kind kind, uint32_t id,
		uint64_t addr, uint64_t size)
{
	const struct async_block *b = &a->blocks[id];
	struct gp_action action = {
		.kind = (uint8_t)kind,
		.stream = b->stream,
		.pool = b->pool,
		.id = kind == GP_OOM ? GP_NO_ID : id,
		.addr = addr,
		.size = size,
	};

	if (a->config.action)
		a->config.action(a->config.action_arg, &action);
}

/* ---- requests ---- */

/* The memory fraction limits what the program itself has allocated. */
static bool is_beyond(const struct async *a, uint64_t size)
{
	uint64_t now =
		(uint64_t)gp_level_now(&a->levels[GP_STAT_REQUESTED_BYTES]);

	return a->limit != GP_UNLIMITED && now + size > a->limit;
}

static enum gp_answer async_alloc(struct gp_allocator *allocator, uint32_t id,
				  uint64_t size, uint16_t stream, uint16_t pool,
				  uint64_t *addr)
{
	struct async *a = async_of(allocator);
	struct gp_device *device = a->config.device;
	struct async_block *b = &a->blocks[id];
	uint64_t free_bytes, total;

	if (!size)
		return GP_SERVED;
	b->stream = stream;
	b->pool = pool;
	b->uses = 0;
	if (is_beyond(a, size) ||
	    !pool_of(a)->malloc(device, size, stream, addr)) {
		device->ops->info(device, &free_bytes, &total);
		act(a, GP_OOM, id, free_bytes, size);
		a->stats.num_ooms++;
		return GP_OUT_OF_MEMORY;
	}
	b->addr = *addr;
	b->size = size;
	act(a, GP_ALLOC, id, b->addr, size);
	count(a, 1, (int64_t)size);
	a->stats.num_device_alloc++;
	return GP_SERVED;
}

static void async_record_stream(struct gp_allocator *allocator, uint32_t id,
				uint16_t stream)
{
	struct async *a = async_of(allocator);
	struct async_block *b = &a->blocks[id];
	uint32_t index = a->uses.spare;

	if (!b->size || stream == b->stream || stream == GP_NO_STREAM)
		return;
	if (index) {
		a->uses.spare = a->uses.items[index - 1].next;
	} else {
		GP_GROW(a->uses.items, a->uses.count + 1, a->uses.room);
		index = (uint32_t)++a->uses.count;
	}
	a->uses.items[index - 1] = (struct use){ b->uses, stream };
	b->uses = index;
}

/* Makes the block's stream wait for the work of the others, then frees the
 * block. */
static void wait_for_uses(struct async *a, struct async_block *b)
{
	while (b->uses) {
		struct use *use = &a->uses.items[b->uses - 1];
		uint32_t next = use->next;

		pool_of(a)->wait(a->config.device, use->stream, b->stream);
		use->next = a->uses.spare;
		a->uses.spare = b->uses;
		b->uses = next;
	}
}

static void async_free(struct gp_allocator *allocator, uint32_t id)
{
	struct async *a = async_of(allocator);
	struct async_block *b = &a->blocks[id];
	uint64_t size = b->size;

	if (!size)
		return;
	act(a, GP_FREE, id, b->addr, size);
	act(a, GP_FREE_COMPLETED, id, b->addr, size);
	wait_for_uses(a, b);
	b->size = 0;
	pool_of(a)->free(a->config.device, b->addr, size, b->stream);
	count(a, -1, -(int64_t)size);
	a->stats.num_device_free++;
}

/* A synchronisation lets the pool shrink to its threshold. */
static void async_synchronize(struct gp_allocator *allocator, uint16_t stream)
{
	struct async *a = async_of(allocator);

	(void)stream;
	pool_of(a)->synchronize(a->config.device);
	count(a, 0, 0);
}

static enum gp_answer async_empty_cache(struct gp_allocator *allocator,
					uint16_t pool)
{
	struct async *a = async_of(allocator);

	(void)pool;
	pool_of(a)->synchronize(a->config.device);
	pool_of(a)->trim(a->config.device, a->keep);
	count(a, 0, 0);
	return GP_SERVED;
}

static enum gp_answer async_set_fraction(struct gp_allocator *allocator,
					 double fraction)
{
	struct async *a = async_of(allocator);
	uint64_t free_bytes, total;

	if (!engine_is_fraction(fraction))
		return GP_REFUSED_BY_RULE;
	a->config.device->ops->info(a->config.device, &free_bytes, &total);
	a->limit = (uint64_t)(fraction * (double)total);
	return GP_SERVED;
}

/* The memory fraction is the only rule that refuses a request. */
static const char *async_refusal(struct gp_allocator *allocator)
{
	(void)allocator;
	return ENGINE_NO_FRACTION;
}

/* ---- state ---- */

static void async_reset_peak(struct gp_allocator *allocator)
{
	gp_stats_reset_peak(&async_of(allocator)->stats);
}

static void async_reset_accumulated(struct gp_allocator *allocator)
{
	gp_stats_reset_accumulated(&async_of(allocator)->stats);
}

static const struct gp_stats *async_stats(struct gp_allocator *allocator)
{
	return &async_of(allocator)->stats;
}

/* Adds a segment that consists of one block; id GP_NO_ID: a free one. */
static void put(struct gp_state *state, uint64_t addr, uint64_t size,
		uint32_t id, const struct async_block *block)
{
	struct gp_segment *segments = (struct gp_segment *)state->segments;

	segments[state->segment_count++] = (struct gp_segment){
		.addr = addr,
		.size = size,
		.stream = block ? block->stream : 0,
		.pool = block ? block->pool : 0,
		.first_block = id, /* keeps the id while sorting */
		.blocks = 1,
		.site = GP_NO_SITE,
	};
}

static void put_blocks(struct gp_state *state)
{
	struct gp_segment *segments = (struct gp_segment *)state->segments;
	struct gp_block *blocks = (struct gp_block *)state->blocks;

	gp_sort(GP_SORTED(segments, state->segment_count, struct gp_segment,
			  addr));
	for (size_t i = 0; i < state->segment_count; i++) {
		uint32_t id = segments[i].first_block;

		blocks[i] = (struct gp_block){
			.addr = segments[i].addr,
			.size = segments[i].size,
			.requested = id == GP_NO_ID ? 0 : segments[i].size,
			.id = id,
			.state = id == GP_NO_ID ? GP_INACTIVE : GP_ACTIVE,
			.site = GP_NO_SITE,
		};
		segments[i].first_block = (uint32_t)i;
	}
	state->block_count = state->segment_count;
}

/* Free memory of the pool is assumed to be contiguous. */
static uint64_t async_largest_free(struct gp_allocator *allocator)
{
	const struct gp_level *levels = async_of(allocator)->levels;
	int64_t rest = gp_level_now(&levels[GP_STAT_RESERVED_BYTES]) -
		       gp_level_now(&levels[GP_STAT_ACTIVE_BYTES]);

	return rest > 0 ? (uint64_t)rest : 0;
}

/* Each live block is a segment of its own, and so is the free memory. */
static void async_state(struct gp_allocator *allocator, struct gp_state *state)
{
	struct async *a = async_of(allocator);
	size_t n = (size_t)gp_level_now(&a->levels[GP_STAT_ACTIVE]) + 1;
	uint64_t rest = async_largest_free(allocator), end = 0;

	*state = (struct gp_state){
		.segments = gp_mem_alloc(n, sizeof(*state->segments)),
		.blocks = gp_mem_alloc(n, sizeof(*state->blocks)),
	};
	for (uint32_t id = 0; id < a->config.block_ids; id++) {
		const struct async_block *b = &a->blocks[id];

		if (!b->size)
			continue;
		put(state, b->addr, b->size, id, b);
		if (b->addr + b->size > end)
			end = b->addr + b->size;
	}
	if (rest)
		put(state, end, rest, GP_NO_ID, NULL);
	put_blocks(state);
}

static void async_destroy(struct gp_allocator *allocator)
{
	struct async *a = async_of(allocator);

	free(a->blocks);
	free(a->uses.items);
	free(a);
}

static const struct gp_allocator_ops async_ops = {
	.name = "async",
	.alloc = async_alloc,
	.free = async_free,
	.record_stream = async_record_stream,
	.synchronize = async_synchronize,
	.empty_cache = async_empty_cache,
	.set_fraction = async_set_fraction,
	.refusal = async_refusal,
	.reset_peak = async_reset_peak,
	.reset_accumulated = async_reset_accumulated,
	.stats = async_stats,
	.state = async_state,
	.largest_free = async_largest_free,
	.destroy = async_destroy,
};

/* Allocates the live blocks of a start state. A block whose free is pending is
 * left out: here it was free as soon as the program freed it. */
static enum gp_status adopt(struct async *a, const struct gp_state *start,
			    struct gp_diag *diag)
{
	for (size_t i = 0; i < start->segment_count; i++) {
		const struct gp_segment *segment = &start->segments[i];

		for (uint32_t k = 0; k < segment->blocks; k++) {
			const struct gp_block *from =
				&start->blocks[segment->first_block + k];
			uint64_t addr, size = from->requested ? from->requested
							      : from->size;
			struct async_block *b;

			if (from->state != GP_ACTIVE)
				continue;
			if (!pool_of(a)->malloc(a->config.device, size,
						segment->stream, &addr))
				return gp_diag_set(diag, GP_SYSTEM,
						   "the memory that the trace "
						   "begins with does not fit");
			b = &a->blocks[from->id];
			*b = (struct async_block){ addr, size, segment->stream,
						   segment->pool, 0 };
			count(a, 1, (int64_t)b->size);
		}
	}
	return GP_OK;
}

const struct gp_pool_settings gp_pool_settings_pytorch = {
	.threshold = GP_UNLIMITED,
	.follows_events = true,
	.is_opportunistic = true,
	.adds_waits = true,
};

enum gp_status gp_async_create(const struct gp_allocator_config *config,
			       struct gp_allocator **allocator,
			       struct gp_diag *diag)
{
	const struct gp_pool_settings *settings = &gp_pool_settings_pytorch;
	struct gp_device *device = config->device;
	enum gp_status status = GP_OK;
	struct async *a;

	if (!device->ops->pool)
		return gp_diag_set(diag, GP_SYSTEM,
				   "this device has no memory pool");
	a = gp_mem_alloc(1, sizeof(*a));
	a->head.ops = &async_ops;
	a->head.levels = a->levels;
	a->config = *config;
	a->blocks = gp_mem_alloc(config->block_ids, sizeof(*a->blocks));
	a->limit = GP_UNLIMITED;
	a->stats.max_split_size = -1;
	if (config->pool_settings)
		settings = config->pool_settings;
	a->keep = settings->keep;
	device->ops->pool->set(device, settings);
	if (config->start)
		status = adopt(a, config->start, diag);
	if (status == GP_OK)
		*allocator = &a->head;
	else
		async_destroy(&a->head);
	return status;
}
