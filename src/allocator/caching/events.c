/* SPDX-License-Identifier: MIT */
/* Blocks that wait for other streams. */
#include "allocator/caching/events.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/caching/caching.h"
#include "allocator/release.h"
#include "base/mem.h"

/* c10::Stream's hash: device type CUDA, device index, stream id. */
static uint64_t hash_of(const struct caching *c, uint16_t stream)
{
	const uint64_t id_bits = (UINT64_C(1) << 48) - 1;

	return UINT64_C(1) << 56 | (uint64_t)c->config.device_ordinal << 48 |
	       (c->config.streams[stream] & id_bits);
}

/* ---- small containers ---- */

static void push(struct block_list *list, struct block *b)
{
	list->blocks = gp_mem_grow(list->blocks, &list->room, list->count + 1,
				   sizeof(struct block *));
	list->blocks[list->count++] = b;
}

static bool drop(struct block_list *list, const struct block *b)
{
	size_t i = 0;

	while (i < list->count && list->blocks[i] != b)
		i++;
	if (i == list->count)
		return false;
	list->count--;
	memmove(list->blocks + i, list->blocks + i + 1,
		(list->count - i) * sizeof(struct block *));
	return true;
}

static struct stream_set *make_set(struct events *events)
{
	struct stream_set *set = events->spare;

	if (!set)
		return gp_mem_alloc(1, sizeof(*set));
	events->spare = set->spare;
	/* A new map, whatever size this one grew to. */
	robin_release(&set->streams);
	return set;
}

static void drop_set(struct events *events, struct stream_set **set)
{
	if (!*set)
		return;
	(*set)->spare = events->spare;
	events->spare = *set;
	*set = NULL;
}

static void add_to_set(struct caching *c, struct stream_set **set,
		       uint16_t stream)
{
	uint64_t hash = hash_of(c, stream);

	if (!*set)
		*set = make_set(&c->events);
	if (!robin_find(&(*set)->streams, hash, stream))
		robin_insert(&(*set)->streams, hash, stream, NULL);
}

static void enqueue(struct event_queue *queue, struct block *b)
{
	if (queue->head + queue->count == queue->room && queue->head) {
		memmove(queue->events, queue->events + queue->head,
			queue->count * sizeof(*queue->events));
		queue->head = 0;
	}
	queue->events = gp_mem_grow(queue->events, &queue->room,
				    queue->head + queue->count + 1,
				    sizeof(*queue->events));
	queue->events[queue->head + queue->count++] =
		(struct event){ ++queue->issued, b };
}

/* The waiting streams; the walk may change the map. */
static size_t list_waiting(const struct events *events, uint32_t **streams)
{
	const struct robin *map = &events->waiting;
	size_t n = 0;

	*streams = gp_mem_alloc(map->count, sizeof(**streams));
	for (size_t i = robin_begin(map); i < robin_end(map);
	     i = robin_after(map, i))
		(*streams)[n++] = map->slots[i].key;
	return n;
}

/* ---- life ---- */

void events_init(struct caching *c)
{
	c->events.queues =
		gp_mem_alloc(c->config.stream_count, sizeof(*c->events.queues));
}

static void free_set(struct stream_set *set)
{
	if (set)
		robin_release(&set->streams);
	free(set);
}

void events_release(struct caching *c)
{
	struct events *events = &c->events;
	struct stream_set *set;

	for (size_t i = 0; i < c->config.stream_count; i++)
		free(events->queues[i].events);
	for (size_t i = 0; i < c->blocks.chunk_count * BLOCKS_PER_CHUNK; i++) {
		struct block *b = &c->blocks.chunks[i / BLOCKS_PER_CHUNK]
						   [i % BLOCKS_PER_CHUNK];

		free_set(b->uses);
		free_set(b->captured);
	}
	while ((set = events->spare)) {
		events->spare = set->spare;
		free_set(set);
	}
	robin_release(&events->waiting);
	free(events->queues);
	free(events->unnamed.blocks);
	free(events->ready.blocks);
	for (size_t i = 0; i < events->deferred.count; i++)
		free(events->deferred.items[i].mark);
	free(events->deferred.items);
}

void block_forget_captured(struct block *b)
{
	free_set(b->captured);
	b->captured = NULL;
}

/* ---- what happens ---- */

void events_record_use(struct caching *c, struct block *b, uint16_t stream)
{
	if (stream == GP_NO_STREAM) {
		b->uses_unknown = true;
		return;
	}
	if (stream == b->stream)
		return;
	add_to_set(c, &b->uses, stream);
	if (pools_are_suspended(c) &&
	    gp_release_has(c->settings.release, GP_CHANGE_CAPTURED_USES))
		add_to_set(c, &b->captured, stream);
}

/* Events behind all that the block's streams do so far. */
static void insert_events(struct caching *c, struct block *b)
{
	struct robin *uses = b->uses ? &b->uses->streams : NULL;

	if (b->uses_unknown) {
		b->uses_unknown = false;
		b->event_count++;
		push(&c->events.unnamed, b);
	}
	for (size_t i = uses ? robin_begin(uses) : 0;
	     uses && i < robin_end(uses); i = robin_after(uses, i)) {
		uint16_t stream = (uint16_t)uses->slots[i].key;

		b->event_count++;
		enqueue(&c->events.queues[stream], b);
		if (!robin_find(&c->events.waiting, hash_of(c, stream), stream))
			robin_insert(&c->events.waiting, hash_of(c, stream),
				     stream, NULL);
	}
	drop_set(&c->events, &b->uses);
}

static void defer(struct caching *c, struct block *b)
{
	struct deferred_list *list = &c->events.deferred;

	list->items = gp_mem_grow(list->items, &list->room, list->count + 1,
				  sizeof(*list->items));
	list->items[list->count++] = (struct deferred){
		b, c->settings.capture_reuse ? capture_mark(c, b) : NULL
	};
}

bool events_hold(struct caching *c, struct block *b)
{
	if (!b->uses && !b->uses_unknown)
		return false;
	if (pools_are_suspended(c))
		defer(c, b);
	else
		insert_events(c, b);
	return true;
}

static void event_passed(struct caching *c, struct block *b)
{
	if (!--b->event_count)
		caching_free_block(c, b);
}

/* Uses recorded while suspended are forgotten: the graph orders them. */
static void forget_captured(struct caching *c, struct block *b)
{
	const struct robin *captured;

	if (!b->captured)
		return;
	captured = &b->captured->streams;
	for (size_t i = robin_begin(captured);
	     b->uses && i < robin_end(captured); i = robin_after(captured, i))
		robin_erase(&b->uses->streams, captured->slots[i].hash,
			    captured->slots[i].key);
	drop_set(&c->events, &b->captured);
}

/* It now waits only for what was recorded before. */
static void resume(struct caching *c, const struct deferred *deferred)
{
	struct block *b = deferred->block;

	free(deferred->mark);
	forget_captured(c, b);
	insert_events(c, b);
	if (!b->event_count)
		caching_free_block(c, b);
}

static void flush_deferred(struct caching *c)
{
	struct deferred_list deferred = c->events.deferred;

	c->events.deferred = (struct deferred_list){ 0 };
	for (size_t i = 0; i < deferred.count; i++)
		resume(c, &deferred.items[i]);
	free(deferred.items);
}

void events_end_routing(struct caching *c, uint16_t pool)
{
	struct deferred_list *list = &c->events.deferred;
	size_t kept = 0;

	if (!c->settings.capture_reuse ||
	    !gp_release_has(c->settings.release, GP_CHANGE_REUSE_ENDS))
		return;
	for (size_t i = 0; i < list->count; i++) {
		struct deferred deferred = list->items[i];

		if (pool_index(deferred.block->pool) == pool)
			resume(c, &deferred);
		else
			list->items[kept++] = deferred;
	}
	list->count = kept;
}

void events_reuse(struct caching *c, uint16_t stream)
{
	struct deferred_list *list = &c->events.deferred;
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++) {
		struct deferred deferred = list->items[i];
		struct block *b = deferred.block;

		if (!deferred.mark || b->stream != stream ||
		    !capture_is_past(c, stream, deferred.mark)) {
			list->items[kept++] = deferred;
			continue;
		}
		free(deferred.mark);
		drop_set(&c->events, &b->uses);
		caching_free_block(c, b);
	}
	list->count = kept;
}

/* Frees from the front of the queue while its events are complete. */
static void process_queue(struct caching *c, uint16_t stream)
{
	struct event_queue *queue = &c->events.queues[stream];

	while (queue->count &&
	       queue->events[queue->head].number <= queue->done) {
		struct block *b = queue->events[queue->head].block;

		queue->head++;
		queue->count--;
		event_passed(c, b);
	}
	if (!queue->count) {
		queue->head = 0;
		robin_erase(&c->events.waiting, hash_of(c, stream), stream);
	}
}

static void process_ready(struct caching *c)
{
	struct block_list *ready = &c->events.ready;

	for (size_t i = 0; i < ready->count; i++)
		if (drop(&c->events.unnamed, ready->blocks[i]))
			event_passed(c, ready->blocks[i]);
	ready->count = 0;
}

void events_process(struct caching *c)
{
	uint32_t *streams;
	size_t n;

	if (c->events.deferred.count)
		flush_deferred(c);
	if (c->events.ready.count)
		process_ready(c);
	if (!c->events.waiting.count)
		return;
	n = list_waiting(&c->events, &streams);
	for (size_t i = 0; i < n; i++)
		process_queue(c, (uint16_t)streams[i]);
	free(streams);
}

static bool concerns(const struct block *b, const struct pool_pair *only)
{
	return !only || b->pool->pair == only;
}

/* Takes the events that concern the pool out of a queue and frees theirs. */
static void synchronize_queue(struct caching *c, uint16_t stream,
			      const struct pool_pair *only)
{
	struct event_queue *queue = &c->events.queues[stream];
	struct event *events = queue->events + queue->head;
	size_t n = queue->count, kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct event event = events[i];

		if (!concerns(event.block, only)) {
			events[kept++] = event;
			continue;
		}
		if (queue->done < event.number)
			queue->done = event.number;
		event_passed(c, event.block);
	}
	queue->count = kept;
	if (!kept)
		queue->head = 0;
	if (only && !kept)
		robin_erase(&c->events.waiting, hash_of(c, stream), stream);
}

static void synchronize_unnamed(struct caching *c, const struct pool_pair *only)
{
	struct block_list *unnamed = &c->events.unnamed;
	size_t kept = 0, n = unnamed->count;

	for (size_t i = 0; i < n; i++) {
		struct block *b = unnamed->blocks[i];

		if (concerns(b, only)) {
			drop(&c->events.ready, b);
			event_passed(c, b);
		} else {
			unnamed->blocks[kept++] = b;
		}
	}
	unnamed->count = kept;
}

void events_synchronize(struct caching *c, const struct pool_pair *only)
{
	uint32_t *streams;
	size_t n;

	c->stats.num_sync_all_streams++;
	flush_deferred(c);
	synchronize_unnamed(c, only);
	n = list_waiting(&c->events, &streams);
	for (size_t i = 0; i < n; i++)
		synchronize_queue(c, (uint16_t)streams[i], only);
	free(streams);
	if (!only)
		robin_clear(&c->events.waiting);
}

void events_complete_stream(struct caching *c, uint16_t stream)
{
	struct event_queue *queues = c->events.queues;

	if (stream != GP_ALL_STREAMS) {
		queues[stream].done = queues[stream].issued;
		return;
	}
	for (size_t i = 0; i < c->config.stream_count; i++)
		queues[i].done = queues[i].issued;
	c->events.ready.count = 0;
	for (size_t i = 0; i < c->events.unnamed.count; i++)
		push(&c->events.ready, c->events.unnamed.blocks[i]);
}

/* With an event of the block all that was issued before it is done. */
static void complete_in(struct event_queue *queue, const struct block *b)
{
	const struct event *events = queue->events + queue->head;

	for (size_t i = 0; i < queue->count; i++)
		if (events[i].block == b && events[i].number > queue->done)
			queue->done = events[i].number;
}

void events_complete_block(struct caching *c, struct block *b)
{
	const struct block_list *unnamed = &c->events.unnamed;
	const struct robin *waiting = &c->events.waiting;

	for (size_t i = robin_begin(waiting); i < robin_end(waiting);
	     i = robin_after(waiting, i))
		complete_in(&c->events.queues[waiting->slots[i].key], b);

	for (size_t i = 0; i < unnamed->count; i++)
		if (unnamed->blocks[i] == b) {
			push(&c->events.ready, b);
			return;
		}
}
