/* SPDX-License-Identifier: MIT */
/*
 * One cudaMalloc per request and one cudaFree per free: the baseline, and a
 * template for new engines. The engine "managed" is the same with
 * cudaMallocManaged, whose pages the driver moves between host and device.
 *
 * An engine is a struct that begins with struct gp_allocator, a table of
 * operations, a constructor, and a row in engines.c. It requests memory from
 * config->device, reports its actions to config->action in PyTorch's terms, and
 * keeps gp_stats so that allocated + cached == reserved at all times.
 */
#include "allocator/engines.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/sorted.h"

struct direct_block {
	uint64_t addr;
	uint64_t size; /* bytes; 0: not live */
	uint16_t stream, pool;
};

struct direct {
	struct gp_allocator head;
	struct gp_allocator_config config;
	struct direct_block *blocks; /* by id */
	bool (*take)(struct gp_device *device, uint64_t size, uint64_t *addr);
	void (*give)(struct gp_device *device, uint64_t addr, uint64_t size);
	struct gp_stats stats;
	struct gp_level levels[GP_STAT_COUNT];
};

static struct direct *direct_of(struct gp_allocator *allocator)
{
	return (struct direct *)allocator;
}

/* Nothing is cached, so these statistics change together. */
static const enum gp_stat_id counts[] = { GP_STAT_ALLOCATION, GP_STAT_ACTIVE,
					  GP_STAT_SEGMENT };
static const enum gp_stat_id sums[] = { GP_STAT_ALLOCATED_BYTES,
					GP_STAT_ACTIVE_BYTES,
					GP_STAT_RESERVED_BYTES,
					GP_STAT_REQUESTED_BYTES };

static void count(struct direct *d, int64_t blocks, int64_t bytes)
{
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++)
		gp_stat_change(&d->stats.by_pool[counts[i]][GP_STAT_ALL],
			       blocks);
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		gp_stat_change(&d->stats.by_pool[sums[i]][GP_STAT_ALL], bytes);
	for (int i = 0; i < GP_STAT_COUNT; i++)
		d->levels[i] = (struct gp_level){
			d->stats.by_pool[i][GP_STAT_ALL].current, 0
		};
}

static void act(struct direct *d, enum gp_event_kind kind, uint32_t id,
		uint64_t addr, uint64_t size)
{
	const struct direct_block *b = &d->blocks[id];
	bool is_block = kind == GP_ALLOC || kind == GP_FREE ||
			kind == GP_FREE_COMPLETED;
	struct gp_action action = {
		.kind = (uint8_t)kind,
		.stream = b->stream,
		.pool = b->pool,
		.id = is_block ? id : GP_NO_ID,
		.addr = addr,
		.size = size,
	};

	if (d->config.action)
		d->config.action(d->config.action_arg, &action);
}

static enum gp_answer direct_alloc(struct gp_allocator *allocator, uint32_t id,
				   uint64_t size, uint16_t stream,
				   uint16_t pool, uint64_t *addr)
{
	struct direct *d = direct_of(allocator);
	struct gp_device *device = d->config.device;
	struct direct_block *b = &d->blocks[id];
	uint64_t free_bytes, total;

	if (!size)
		return GP_SERVED;
	b->stream = stream;
	b->pool = pool;
	if (!d->take(device, size, addr)) {
		device->ops->info(device, &free_bytes, &total);
		act(d, GP_OOM, id, free_bytes, size);
		d->stats.num_ooms++;
		return GP_OUT_OF_MEMORY;
	}
	b->addr = *addr;
	b->size = size;
	act(d, GP_SEGMENT_ALLOC, id, b->addr, size);
	act(d, GP_ALLOC, id, b->addr, size);
	count(d, 1, (int64_t)size);
	d->stats.num_device_alloc++;
	return GP_SERVED;
}

/* cudaFree synchronises with the device, so no other stream can still be using
 * the block. */
static void direct_free(struct gp_allocator *allocator, uint32_t id)
{
	struct direct *d = direct_of(allocator);
	struct direct_block *b = &d->blocks[id];

	if (!b->size)
		return;
	act(d, GP_FREE, id, b->addr, b->size);
	act(d, GP_FREE_COMPLETED, id, b->addr, b->size);
	act(d, GP_SEGMENT_FREE, id, b->addr, b->size);
	d->give(d->config.device, b->addr, b->size);
	count(d, -1, -(int64_t)b->size);
	d->stats.num_device_free++;
	b->size = 0;
}

static void direct_reset_peak(struct gp_allocator *allocator)
{
	gp_stats_reset_peak(&direct_of(allocator)->stats);
}

static void direct_reset_accumulated(struct gp_allocator *allocator)
{
	gp_stats_reset_accumulated(&direct_of(allocator)->stats);
}

static const struct gp_stats *direct_stats(struct gp_allocator *allocator)
{
	return &direct_of(allocator)->stats;
}

/* Each live block is a segment of its own. */
static void direct_state(struct gp_allocator *allocator, struct gp_state *state)
{
	struct direct *d = direct_of(allocator);
	size_t n = (size_t)d->stats.by_pool[GP_STAT_ACTIVE][0].current, at = 0;
	struct gp_segment *segments = gp_mem_alloc(n, sizeof(*segments));
	struct gp_block *blocks = gp_mem_alloc(n, sizeof(*blocks));

	for (uint32_t id = 0; id < d->config.block_ids; id++) {
		const struct direct_block *b = &d->blocks[id];

		if (!b->size)
			continue;
		/* first_block keeps the id while sorting */
		segments[at++] = (struct gp_segment){
			.addr = b->addr,
			.size = b->size,
			.stream = b->stream,
			.pool = b->pool,
			.first_block = id,
			.blocks = 1,
			.site = GP_NO_SITE,
		};
	}
	gp_sort(GP_SORTED(segments, n, struct gp_segment, addr));
	for (size_t i = 0; i < n; i++) {
		blocks[i] = (struct gp_block){
			.addr = segments[i].addr,
			.size = segments[i].size,
			.requested = segments[i].size,
			.id = segments[i].first_block,
			.state = GP_ACTIVE,
			.site = GP_NO_SITE,
		};
		segments[i].first_block = (uint32_t)i;
	}
	*state = (struct gp_state){ segments, blocks, n, n };
}

/* Free memory is returned to the device at once. */
static uint64_t no_largest_free(struct gp_allocator *allocator)
{
	(void)allocator;
	return 0;
}

static void direct_destroy(struct gp_allocator *allocator)
{
	struct direct *d = direct_of(allocator);

	free(d->blocks);
	free(d);
}

static const struct gp_allocator_ops direct_ops = {
	.name = "direct",
	.alloc = direct_alloc,
	.free = direct_free,
	.reset_peak = direct_reset_peak,
	.reset_accumulated = direct_reset_accumulated,
	.stats = direct_stats,
	.state = direct_state,
	.largest_free = no_largest_free,
	.destroy = direct_destroy,
};

/* Allocates the live blocks of a start state. A block whose free is pending is
 * left out: here it was returned when the program freed it. */
static void adopt(struct direct *d, const struct gp_state *start)
{
	struct gp_device *device = d->config.device;
	bool is_managed = d->take != device->ops->malloc;

	for (size_t i = 0; i < start->segment_count; i++) {
		const struct gp_segment *segment = &start->segments[i];

		for (uint32_t k = 0; k < segment->blocks; k++) {
			const struct gp_block *b =
				&start->blocks[segment->first_block + k];
			uint64_t addr = b->addr;

			if (b->state != GP_ACTIVE)
				continue;
			if (!is_managed)
				device->ops->adopt(device, addr, b->size,
						   false);
			else if (!d->take(device, b->size, &addr))
				/* reported by the device's health() */
				continue;
			d->blocks[b->id] = (struct direct_block){
				addr, b->size, segment->stream, segment->pool
			};
			count(d, 1, (int64_t)b->size);
		}
	}
}

static struct direct *create(const struct gp_allocator_config *config)
{
	const struct gp_device_ops *ops = config->device->ops;
	struct direct *d = gp_mem_alloc(1, sizeof(*d));

	d->head.ops = &direct_ops;
	d->head.levels = d->levels;
	d->config = *config;
	d->blocks = gp_mem_alloc(config->block_ids, sizeof(*d->blocks));
	d->stats.max_split_size = -1;
	d->take = ops->malloc;
	d->give = ops->free;
	return d;
}

struct gp_allocator *gp_direct_create(const struct gp_allocator_config *config)
{
	struct direct *d = create(config);

	if (config->start)
		adopt(d, config->start);
	return &d->head;
}

enum gp_status gp_managed_create(const struct gp_allocator_config *config,
				 struct gp_allocator **allocator,
				 struct gp_diag *diag)
{
	const struct gp_device_ops *ops = config->device->ops;
	struct direct *d;

	if (!ops->managed)
		return gp_diag_set(diag, GP_SYSTEM,
				   "this device has no managed memory");
	d = create(config);
	d->take = ops->managed;
	d->give = ops->managed_free;
	if (config->start)
		adopt(d, config->start);
	*allocator = &d->head;
	return GP_OK;
}
