/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's allocator of pinned host memory: ATen/core/CachingHostAllocator.h
 * and ATen/cuda/CachingHostAllocator.cpp, 2.0 to 2.15.
 *
 * A request is rounded up to a power of two and served by a free block of that
 * size; blocks are neither split nor merged. The free of a block that streams
 * used is pending on an event per stream. Events are queried at the next
 * request and when the cache is emptied, oldest first, up to the first that is
 * not complete: later ones remain pending even if they are. When the host is
 * out of memory, nothing is released and retried: the program gets the error.
 *
 * The device represents the host: its malloc stands for cudaHostAlloc.
 */
#include "allocator/engines.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/release.h"
#include "base/mem.h"
#include "base/sorted.h"

#define LISTS	     65 /* free lists: up to 1, 2, 4 ... 2^64 bytes */
#define RESERVE_PAGE UINT64_C(4096)

/* A block of memory obtained from the host; number 0 is not used. */
struct pinned_block {
	uint64_t addr, size; /* size 0: unused number */
	uint64_t requested;
	uint32_t id;	 /* GP_NO_ID: the block is cached */
	uint32_t events; /* pending events */
	uint16_t stream, pool;
	bool is_freed, is_reserved; /* is_reserved: in the reserve segment */
};

/* A stream that uses a block; a linked list for each block id. */
struct pinned_use {
	uint32_t next; /* index + 1 */
	uint16_t stream;
};

struct pinned_event {
	uint32_t block;
	uint16_t stream;
	bool is_ready;
};

struct pinned_list {
	uint32_t *blocks;
	size_t count, room;
};

struct pinned_pool {
	struct pinned_list free[LISTS];
	struct pinned_event *events; /* oldest first */
	/* asked: events found complete, at the front of the list */
	size_t event_count, event_room, asked;
	bool is_released;
};

struct pinned {
	struct gp_allocator head;
	struct gp_allocator_config config;
	struct gp_settings settings;
	struct pinned_block *blocks;
	size_t block_count, block_room;
	uint32_t spare; /* head of a list, linked through id */
	uint32_t *by_id;
	uint32_t *uses_of; /* by id; index + 1 */
	struct {
		struct pinned_use *items;
		size_t count, room;
		uint32_t spare; /* index + 1 */
	} uses;
	struct pinned_pool *pools;
	struct {
		uint64_t addr, size, used;
		bool is_taken; /* the segment was obtained */
	} reserve;
	struct gp_diag diag;
	struct gp_stats stats;
	struct gp_level levels[GP_STAT_COUNT];
};

static struct pinned *pinned_of(struct gp_allocator *allocator)
{
	return (struct pinned *)allocator;
}

/* ---- counters and actions ---- */

static void count(struct pinned *p, enum gp_stat_id id, int64_t amount)
{
	struct gp_stat *stat = &p->stats.by_pool[id][GP_STAT_ALL];

	gp_stat_change(stat, amount);
	p->levels[id] = (struct gp_level){ stat->current, 0 };
}

static void act(struct pinned *p, enum gp_event_kind kind,
		const struct pinned_block *b, uint32_t id)
{
	const struct gp_action action = {
		.kind = (uint8_t)kind,
		.stream = b->stream,
		.pool = b->pool,
		.id = id,
		.addr = b->addr,
		.size = id == GP_NO_ID ? b->size : b->requested,
		.block = id == GP_NO_ID ? 0 : b->size,
	};

	if (p->config.action)
		p->config.action(p->config.action_arg, &action);
}

/* ---- memory from the host ---- */

static bool take(struct pinned *p, struct pinned_block *b)
{
	struct gp_device *device = p->config.device;

	if (!device->ops->malloc(device, b->size, &b->addr))
		return false;
	act(p, GP_SEGMENT_ALLOC, b, GP_NO_ID);
	count(p, GP_STAT_SEGMENT, 1);
	count(p, GP_STAT_RESERVED_BYTES, (int64_t)b->size);
	p->stats.num_device_alloc++;
	return true;
}

static void give(struct pinned *p, const struct pinned_block *b)
{
	struct gp_device *device = p->config.device;

	act(p, GP_SEGMENT_FREE, b, GP_NO_ID);
	count(p, GP_STAT_SEGMENT, -1);
	count(p, GP_STAT_RESERVED_BYTES, -(int64_t)b->size);
	p->stats.num_device_free++;
	device->ops->free(device, b->addr, b->size);
}

/* pinned_reserve_segment_size_mb: the segment is obtained with the first block;
 * blocks are taken from its beginning to its end, and never returned to it. */
static bool take_reserved(struct pinned *p, struct pinned_block *b)
{
	struct pinned_block whole = { .size = p->settings.pinned_reserve };
	uint64_t size = (b->size + RESERVE_PAGE - 1) & ~(RESERVE_PAGE - 1);

	if (!p->reserve.is_taken && whole.size && take(p, &whole)) {
		p->reserve.addr = whole.addr;
		p->reserve.size = whole.size;
	}
	p->reserve.is_taken = true;
	if (!size || size > p->reserve.size - p->reserve.used)
		return false;
	b->addr = p->reserve.addr + p->reserve.used;
	b->is_reserved = true;
	p->reserve.used += size;
	return true;
}

/* ---- free blocks ---- */

static unsigned list_of(uint64_t size)
{
	return size > 1 ? 64U - (unsigned)__builtin_clzll(size - 1) : 0;
}

static bool by_size(const struct pinned *p)
{
	return !gp_release_has(p->settings.release, GP_CHANGE_PINNED_LISTS);
}

/* Adds a block to its free list, which is used from its end: up to 2.4, the
 * block with the lowest address is there. */
static void keep(struct pinned *p, uint32_t number)
{
	const struct pinned_block *b = &p->blocks[number];
	struct pinned_list *list = &p->pools[b->pool].free[list_of(b->size)];
	size_t at = list->count;

	GP_GROW(list->blocks, list->count + 1, list->room);
	while (at && by_size(p) &&
	       p->blocks[list->blocks[at - 1]].addr < b->addr) {
		list->blocks[at] = list->blocks[at - 1];
		at--;
	}
	list->blocks[at] = number;
	list->count++;
}

static uint32_t find_in(struct pinned *p, struct pinned_list *list,
			uint64_t size)
{
	for (size_t i = list->count; i-- > 0;) {
		uint32_t number = list->blocks[i];

		if (p->blocks[number].size < size)
			continue;
		GP_REMOVE(list->blocks, list->count, i);
		return number;
	}
	return 0;
}

static uint32_t find(struct pinned *p, uint64_t size, uint16_t pool)
{
	unsigned first = list_of(size), last = by_size(p) ? LISTS : first + 1;
	uint32_t number = 0;

	for (unsigned i = first; i < last && !number; i++)
		number = find_in(p, &p->pools[pool].free[i], size);
	return number;
}

static void drop(struct pinned *p, uint32_t number)
{
	struct pinned_block *b = &p->blocks[number];

	if (!b->is_reserved)
		give(p, b);
	*b = (struct pinned_block){ .id = p->spare };
	p->spare = number;
}

/* ---- pending frees ---- */

static void complete(struct pinned *p, uint32_t number)
{
	struct pinned_block *b = &p->blocks[number];

	act(p, GP_FREE_COMPLETED, b, b->id);
	count(p, GP_STAT_ACTIVE, -1);
	count(p, GP_STAT_ACTIVE_BYTES, -(int64_t)b->size);
	count(p, GP_STAT_REQUESTED_BYTES, -(int64_t)b->requested);
	p->by_id[b->id] = 0;
	b->id = GP_NO_ID;
	if (b->size > p->settings.pinned_cached_most)
		drop(p, number);
	else
		keep(p, number);
}

static void ask_for_events(struct pinned *p, struct pinned_pool *pool)
{
	while (pool->asked < pool->event_count &&
	       pool->events[pool->asked].is_ready) {
		uint32_t block = pool->events[pool->asked++].block;

		if (!--p->blocks[block].events)
			complete(p, block);
	}
	if (!pool->asked || pool->asked * 2 < pool->event_count)
		return;
	pool->event_count -= pool->asked;
	memmove(pool->events, pool->events + pool->asked,
		pool->event_count * sizeof(*pool->events));
	pool->asked = 0;
}

/* Marks the events of a stream, or of a block, as complete; number 0: of any
 * block. */
static void make_ready(struct pinned *p, uint16_t stream, uint32_t number)
{
	for (size_t i = 0; i < p->config.pool_count; i++) {
		struct pinned_pool *pool = &p->pools[i];

		for (size_t k = pool->asked; k < pool->event_count; k++) {
			struct pinned_event *event = &pool->events[k];

			if (number ? event->block == number
				   : stream == GP_ALL_STREAMS ||
					     event->stream == stream)
				event->is_ready = true;
		}
	}
	if (p->settings.pinned_background_thread)
		ask_for_events(p, &p->pools[0]);
}

static void add_event(struct pinned *p, uint32_t number, uint16_t stream)
{
	struct pinned_block *b = &p->blocks[number];
	struct pinned_pool *pool = &p->pools[b->pool];

	b->events++;
	/* A block allocated in a graph capture is never reused. */
	if (b->pool)
		return;
	GP_GROW(pool->events, pool->event_count + 1, pool->event_room);
	pool->events[pool->event_count++] =
		(struct pinned_event){ number, stream, false };
}

/* ---- requests ---- */

static uint64_t rounded(const struct pinned *p, uint64_t size)
{
	if (size > p->settings.pinned_round_most ||
	    size > p->settings.pinned_cached_most || list_of(size) > 63)
		return size;
	return UINT64_C(1) << list_of(size);
}

static uint32_t new_block(struct pinned *p, const struct pinned_block *from)
{
	uint32_t number = p->spare;

	if (number) {
		p->spare = p->blocks[number].id;
	} else {
		GP_GROW(p->blocks, p->block_count + 1, p->block_room);
		number = (uint32_t)p->block_count++;
	}
	p->blocks[number] = *from;
	return number;
}

static enum gp_answer refuse(struct pinned *p, struct pinned_block *b)
{
	struct gp_device *device = p->config.device;
	uint64_t total;

	device->ops->info(device, &b->addr, &total);
	act(p, GP_OOM, b, GP_NO_ID);
	p->stats.num_ooms++;
	return GP_OUT_OF_MEMORY;
}

static enum gp_answer pinned_alloc(struct gp_allocator *allocator, uint32_t id,
				   uint64_t size, uint16_t stream,
				   uint16_t pool, uint64_t *addr)
{
	struct pinned *p = pinned_of(allocator);
	struct pinned_block new = { .size = rounded(p, size),
				    .stream = stream,
				    .pool = pool };
	struct pinned_block *b;
	uint32_t number;

	if (!size)
		return GP_SERVED;
	if (pool || !p->settings.pinned_background_thread)
		ask_for_events(p, &p->pools[pool]);
	number = find(p, new.size, pool);
	if (!number) {
		if (!take_reserved(p, &new) && !take(p, &new))
			return refuse(p, &new);
		number = new_block(p, &new);
	}
	b = &p->blocks[number];
	b->id = id;
	b->requested = size;
	b->stream = stream;
	b->is_freed = false;
	p->by_id[id] = number;
	*addr = b->addr;
	act(p, GP_ALLOC, b, id);
	count(p, GP_STAT_ALLOCATION, 1);
	count(p, GP_STAT_ACTIVE, 1);
	count(p, GP_STAT_ALLOCATED_BYTES, (int64_t)b->size);
	count(p, GP_STAT_ACTIVE_BYTES, (int64_t)b->size);
	count(p, GP_STAT_REQUESTED_BYTES, (int64_t)size);
	return GP_SERVED;
}

static void pinned_record_stream(struct gp_allocator *allocator, uint32_t id,
				 uint16_t stream)
{
	struct pinned *p = pinned_of(allocator);
	uint32_t number = p->by_id[id], index = p->uses.spare;

	if (!number || p->blocks[number].is_freed)
		return;
	for (uint32_t i = p->uses_of[id]; i; i = p->uses.items[i - 1].next)
		if (p->uses.items[i - 1].stream == stream)
			return;
	if (index) {
		p->uses.spare = p->uses.items[index - 1].next;
	} else {
		GP_GROW(p->uses.items, p->uses.count + 1, p->uses.room);
		index = (uint32_t)++p->uses.count;
	}
	p->uses.items[index - 1] =
		(struct pinned_use){ p->uses_of[id], stream };
	p->uses_of[id] = index;
}

static void pinned_free(struct gp_allocator *allocator, uint32_t id)
{
	struct pinned *p = pinned_of(allocator);
	uint32_t number = p->by_id[id];
	struct pinned_block *b = &p->blocks[number];

	if (!number || b->is_freed)
		return;
	b->is_freed = true;
	act(p, GP_FREE, b, id);
	count(p, GP_STAT_ALLOCATION, -1);
	count(p, GP_STAT_ALLOCATED_BYTES, -(int64_t)b->size);
	for (uint32_t i = p->uses_of[id], next; i; i = next) {
		struct pinned_use *use = &p->uses.items[i - 1];

		add_event(p, number, use->stream);
		next = use->next;
		use->next = p->uses.spare;
		p->uses.spare = i;
	}
	p->uses_of[id] = 0;
	if (!b->events)
		complete(p, number);
}

static void pinned_synchronize(struct gp_allocator *allocator, uint16_t stream)
{
	make_ready(pinned_of(allocator), stream, 0);
}

static void pinned_complete(struct gp_allocator *allocator, uint32_t id)
{
	struct pinned *p = pinned_of(allocator);

	if (p->by_id[id])
		make_ready(p, GP_ALL_STREAMS, p->by_id[id]);
}

/* Empties the default pool, and the pools that no graph uses any more. */
static enum gp_answer pinned_empty_cache(struct gp_allocator *allocator,
					 uint16_t pool)
{
	struct pinned *p = pinned_of(allocator);

	(void)pool;
	for (size_t i = 0; i < p->config.pool_count; i++) {
		struct pinned_pool *one = &p->pools[i];

		if (i && !one->is_released)
			continue;
		ask_for_events(p, one);
		for (unsigned k = 0; k < LISTS; k++) {
			for (size_t n = 0; n < one->free[k].count; n++)
				drop(p, one->free[k].blocks[n]);
			one->free[k].count = 0;
		}
	}
	return GP_SERVED;
}

static enum gp_answer pinned_pool_release(struct gp_allocator *allocator,
					  uint16_t pool)
{
	pinned_of(allocator)->pools[pool].is_released = true;
	return GP_SERVED;
}

static enum gp_answer pinned_set_settings(struct gp_allocator *allocator,
					  const char *conf)
{
	struct pinned *p = pinned_of(allocator);

	return gp_settings_set(&p->settings, conf, &p->diag) == GP_OK
		       ? GP_SERVED
		       : GP_REFUSED_BY_RULE;
}

static const char *pinned_refusal(struct gp_allocator *allocator)
{
	return pinned_of(allocator)->diag.what;
}

/* ---- state ---- */

static void pinned_reset_peak(struct gp_allocator *allocator)
{
	gp_stats_reset_peak(&pinned_of(allocator)->stats);
}

static void pinned_reset_accumulated(struct gp_allocator *allocator)
{
	gp_stats_reset_accumulated(&pinned_of(allocator)->stats);
}

static const struct gp_stats *pinned_stats(struct gp_allocator *allocator)
{
	return &pinned_of(allocator)->stats;
}

static struct gp_block block_state(const struct pinned_block *b)
{
	bool is_cached = b->id == GP_NO_ID;

	return (struct gp_block){
		.addr = b->addr,
		.size = b->size,
		.requested = is_cached ? 0 : b->requested,
		.id = b->id,
		.state = is_cached     ? GP_INACTIVE
			 : b->is_freed ? GP_PENDING_FREE
				       : GP_ACTIVE,
		.site = GP_NO_SITE,
	};
}

struct listing {
	struct gp_segment *segments;
	struct gp_block *blocks;
	size_t segment_count, block_count;
};

static void list_block(struct listing *t, const struct gp_block *block)
{
	t->blocks[t->block_count++] = *block;
	t->segments[t->segment_count - 1].blocks++;
}

static void list_segment(struct listing *t, uint64_t addr, uint64_t size)
{
	t->segments[t->segment_count++] =
		(struct gp_segment){ .addr = addr,
				     .size = size,
				     .first_block = (uint32_t)t->block_count,
				     .site = GP_NO_SITE };
}

/* Lists the gap between the last block and an address. */
static void list_gap(struct listing *t, uint64_t from, uint64_t to)
{
	if (from < to)
		list_block(t, &(struct gp_block){ .addr = from,
						  .size = to - from,
						  .id = GP_NO_ID,
						  .state = GP_INACTIVE,
						  .site = GP_NO_SITE });
}

/* Lists all blocks, which are in address order; those of the reserve segment
 * are adjacent. */
static void list_all(const struct pinned *p, struct listing *t,
		     const struct gp_block *blocks, size_t n)
{
	uint64_t begin = p->reserve.addr, end = begin + p->reserve.size;
	bool is_open = false;
	uint64_t at = begin;

	for (size_t i = 0; i <= n; i++) {
		uint64_t addr = i < n ? blocks[i].addr : UINT64_MAX;

		if (addr >= begin && !is_open && p->reserve.size) {
			list_segment(t, begin, p->reserve.size);
			is_open = true;
		}
		if (is_open && at < end) {
			list_gap(t, at, addr < end ? addr : end);
			at = addr < end ? addr + blocks[i].size : end;
		}
		if (i == n)
			break;
		if (addr < begin || addr >= end)
			list_segment(t, addr, blocks[i].size);
		list_block(t, &blocks[i]);
	}
}

static void pinned_state(struct gp_allocator *allocator, struct gp_state *state)
{
	struct pinned *p = pinned_of(allocator);
	struct gp_block *blocks = gp_mem_alloc(p->block_count, sizeof(*blocks));
	struct listing t = {
		gp_mem_alloc(p->block_count + 1, sizeof(*t.segments)),
		gp_mem_alloc(2 * p->block_count + 1, sizeof(*t.blocks)),
		0,
		0,
	};
	size_t n = 0;

	for (size_t i = 1; i < p->block_count; i++)
		if (p->blocks[i].size)
			blocks[n++] = block_state(&p->blocks[i]);
	gp_sort(GP_SORTED(blocks, n, struct gp_block, addr));
	list_all(p, &t, blocks, n);
	free(blocks);
	*state = (struct gp_state){ t.segments, t.blocks, t.segment_count,
				    t.block_count };
}

static uint64_t pinned_largest_free(struct gp_allocator *allocator)
{
	struct pinned *p = pinned_of(allocator);
	uint64_t largest = p->reserve.size - p->reserve.used;

	for (size_t i = 1; i < p->block_count; i++)
		if (p->blocks[i].id == GP_NO_ID && p->blocks[i].size > largest)
			largest = p->blocks[i].size;
	return largest;
}

/* ---- creation and destruction ---- */

static void pinned_destroy(struct gp_allocator *allocator)
{
	struct pinned *p = pinned_of(allocator);

	for (size_t i = 0; i < p->config.pool_count; i++) {
		for (unsigned k = 0; k < LISTS; k++)
			free(p->pools[i].free[k].blocks);
		free(p->pools[i].events);
	}
	free(p->pools);
	free(p->uses.items);
	free(p->uses_of);
	free(p->by_id);
	free(p->blocks);
	free(p);
}

static const struct gp_allocator_ops pinned_ops = {
	.name = "pinned",
	.alloc = pinned_alloc,
	.free = pinned_free,
	.record_stream = pinned_record_stream,
	.synchronize = pinned_synchronize,
	.complete = pinned_complete,
	.empty_cache = pinned_empty_cache,
	.set_settings = pinned_set_settings,
	.pool_release = pinned_pool_release,
	.reset_peak = pinned_reset_peak,
	.reset_accumulated = pinned_reset_accumulated,
	.stats = pinned_stats,
	.state = pinned_state,
	.largest_free = pinned_largest_free,
	.refusal = pinned_refusal,
	.destroy = pinned_destroy,
};

/* Allocates the blocks of a start state. */
static enum gp_status adopt(struct pinned *p, const struct gp_state *start,
			    struct gp_diag *diag)
{
	for (size_t i = 0; i < start->block_count; i++) {
		const struct gp_block *b = &start->blocks[i];
		uint64_t addr;

		if (b->state == GP_INACTIVE)
			continue;
		if (pinned_alloc(&p->head, b->id,
				 b->requested ? b->requested : b->size, 0, 0,
				 &addr) != GP_SERVED)
			return gp_diag_set(diag, GP_SYSTEM,
					   "the memory that the trace begins "
					   "with does not fit");
		if (b->state != GP_PENDING_FREE)
			continue;
		pinned_record_stream(&p->head, b->id, GP_NO_STREAM);
		pinned_free(&p->head, b->id);
	}
	return GP_OK;
}

enum gp_status gp_pinned_create(const struct gp_allocator_config *config,
				struct gp_allocator **allocator,
				struct gp_diag *diag)
{
	struct pinned *p = gp_mem_alloc(1, sizeof(*p));
	enum gp_status status = GP_OK;

	p->head.ops = &pinned_ops;
	p->head.levels = p->levels;
	p->config = *config;
	p->settings = *config->settings;
	p->stats.max_split_size = -1;
	p->by_id = gp_mem_alloc(config->block_ids, sizeof(*p->by_id));
	p->uses_of = gp_mem_alloc(config->block_ids, sizeof(*p->uses_of));
	p->pools = gp_mem_alloc(config->pool_count, sizeof(*p->pools));
	p->blocks = gp_mem_grow(NULL, &p->block_room, 16, sizeof(*p->blocks));
	p->blocks[p->block_count++] = (struct pinned_block){ 0 };
	p->config.action = NULL;
	if (config->start)
		status = adopt(p, config->start, diag);
	p->config.action = config->action;
	if (status == GP_OK)
		*allocator = &p->head;
	else
		pinned_destroy(&p->head);
	return status;
}
