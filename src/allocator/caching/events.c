/* SPDX-License-Identifier: MIT */
/* Pending frees, and streams under capture. */
#include "allocator/caching/events.h"

#include <stdlib.h>
#include <string.h>

#include "allocator/caching/caching.h"
#include "allocator/release.h"
#include "base/mem.h"
#include "gpupool/trace.h"

/* ---- captures: sets of nodes ---- */

/* The index of the stream in the set, or where it would be inserted. */
static size_t place_in(const struct node_set *set, uint16_t stream)
{
	size_t low = 0, high = set->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (set->list[middle].stream < stream)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint32_t count_in(const struct node_set *set, uint16_t stream)
{
	size_t at = place_in(set, stream);

	return at < set->count && set->list[at].stream == stream
		       ? set->list[at].count
		       : 0;
}

static void raise_to(struct node_set *set, uint16_t stream, uint32_t count)
{
	size_t at = place_in(set, stream);

	if (at == set->count || set->list[at].stream != stream) {
		GP_INSERT(set->list, set->count, set->room, at);
		set->list[at] = (struct nodes){ stream, 0 };
	}
	if (set->list[at].count < count)
		set->list[at].count = count;
}

/* Union. */
static void union_nodes(struct node_set *to, const struct node_set *from)
{
	for (size_t i = 0; i < from->count; i++)
		raise_to(to, from->list[i].stream, from->list[i].count);
}

/* Intersection. */
static void intersect_nodes(struct node_set *to, const struct node_set *from)
{
	size_t kept = 0;

	for (size_t i = 0; i < to->count; i++) {
		struct nodes nodes = to->list[i];
		uint32_t other = count_in(from, nodes.stream);

		if (nodes.count > other)
			nodes.count = other;
		if (nodes.count)
			to->list[kept++] = nodes;
	}
	to->count = kept;
}

static void copy_nodes(struct node_set *to, const struct node_set *from)
{
	to->count = 0;
	union_nodes(to, from);
}

/* ---- captures: streams ---- */

static void release_stream(struct captured_stream *s)
{
	free(s->preds.list);
	free(s->common_preds.list);
	*s = (struct captured_stream){ 0 };
}

static bool is_in_capture(uint16_t stream)
{
	return stream != GP_NO_STREAM;
}

void captures_release(struct caching *c)
{
	struct captures *captures = &c->captures;
	uint16_t stream, next;

	for (stream = captures->streams ? captures->first : GP_NO_STREAM;
	     is_in_capture(stream); stream = next) {
		next = captures->streams[stream].next;
		release_stream(&captures->streams[stream]);
	}
	free(captures->streams);
}

/* Puts the stream into that capture, and takes it out of any other. */
static void enter(struct captures *captures, uint16_t stream, uint32_t capture)
{
	struct captured_stream *s = &captures->streams[stream];

	if (!s->capture) {
		s->next = captures->first;
		captures->first = stream;
	}
	s->capture = capture;
}

uint32_t capture_begin(struct caching *c, uint16_t stream)
{
	struct captures *captures = &c->captures;

	if (!captures->streams) {
		captures->streams = gp_mem_alloc(c->config.stream_count,
						 sizeof(*captures->streams));
		captures->first = GP_NO_STREAM;
	}
	captures->open++;
	enter(captures, stream, ++captures->begun);
	return captures->begun;
}

void capture_end(struct caching *c, uint32_t capture)
{
	struct captures *captures = &c->captures;
	uint16_t *link = &captures->first;

	captures->open--;
	while (is_in_capture(*link)) {
		struct captured_stream *s = &captures->streams[*link];
		uint16_t next = s->next;

		if (s->capture != capture) {
			link = &s->next;
			continue;
		}
		release_stream(s);
		*link = next;
	}
}

uint32_t capture_of(const struct caching *c, uint16_t stream)
{
	return c->captures.open ? c->captures.streams[stream].capture : 0;
}

void capture_work(struct caching *c, uint16_t stream)
{
	struct captured_stream *s;

	if (!capture_of(c, stream))
		return;
	s = &c->captures.streams[stream];
	raise_to(&s->preds, stream, count_in(&s->preds, stream) + 1);
	copy_nodes(&s->common_preds, &s->preds);
}

/* CUDA reports an error if one capture waits for another, or for uncaptured
 * work. */
void capture_wait(struct caching *c, uint16_t stream, uint16_t by)
{
	uint32_t capture = capture_of(c, stream);
	const struct captured_stream *from;
	struct captured_stream *to;

	if (!capture || (capture_of(c, by) && capture_of(c, by) != capture))
		return;
	enter(&c->captures, by, capture);
	from = &c->captures.streams[stream];
	to = &c->captures.streams[by];
	if (!from->preds.count || from == to)
		return;
	if (!to->preds.count)
		copy_nodes(&to->common_preds, &from->common_preds);
	intersect_nodes(&to->common_preds, &from->common_preds);
	union_nodes(&to->preds, &from->preds);
}

static bool marks_itself(const struct caching *c)
{
	return gp_release_has(c->settings.release, GP_CHANGE_CAPTURE_MARKS);
}

/* Adds the predecessors of a stream's next node; false: the stream is not
 * captured. */
static bool add_preds(struct caching *c, struct node_set *mark, uint16_t stream)
{
	if (!capture_of(c, stream))
		return false;
	if (!marks_itself(c))
		capture_work(c, stream);
	union_nodes(mark, &c->captures.streams[stream].preds);
	return true;
}

/*
 * The nodes after which the uses of a block that is freed now have ended; the
 * caller frees the list. Empty if a stream that uses the block is not captured
 * or has no node: then the graph does not order the uses.
 */
static struct node_set capture_mark(struct caching *c, const struct block *b)
{
	const struct robin *uses = b->uses ? &b->uses->streams : NULL;
	struct node_set mark = { 0 };
	bool is_known = !b->uses_unknown && add_preds(c, &mark, b->stream);

	for (size_t i = uses ? robin_begin(uses) : 0;
	     is_known && uses && i < robin_end(uses); i = robin_after(uses, i))
		is_known = add_preds(c, &mark, (uint16_t)uses->slots[i].key);
	if (is_known && mark.count)
		return mark;
	free(mark.list);
	return (struct node_set){ 0 };
}

/* Whether all further work of the stream comes after the mark. */
static bool capture_is_past(const struct caching *c, uint16_t stream,
			    const struct node_set *mark)
{
	const struct captured_stream *s;
	const struct node_set *preds;

	if (!capture_of(c, stream))
		return false;
	s = &c->captures.streams[stream];
	preds = marks_itself(c) ? &s->preds : &s->common_preds;
	for (size_t i = 0; i < mark->count; i++)
		if (mark->list[i].count > count_in(preds, mark->list[i].stream))
			return false;
	return true;
}

/* c10::Stream's hash: device type CUDA, device index, stream id. */
static uint64_t hash_of(const struct caching *c, uint16_t stream)
{
	const uint64_t id_bits = (UINT64_C(1) << 48) - 1;

	return UINT64_C(1) << 56 | (uint64_t)c->config.device_ordinal << 48 |
	       (c->config.streams[stream] & id_bits);
}

/* ---- small containers ---- */

static void append(struct block_list *list, struct block *b)
{
	b->is_unnamed = true;
	b->left = list->last;
	b->right = NULL;
	*(list->last ? &list->last->right : &list->first) = b;
	list->last = b;
}

static void drop(struct block_list *list, struct block *b)
{
	*(b->left ? &b->left->right : &list->first) = b->right;
	*(b->right ? &b->right->left : &list->last) = b->left;
	b->is_unnamed = false;
}

static void add_stream(struct stream_list *list, bool *is_listed,
		       uint16_t stream)
{
	if (*is_listed)
		return;
	*is_listed = true;
	GP_GROW(list->streams, list->count + 1, list->room);
	list->streams[list->count++] = stream;
}

static struct stream_set *make_set(struct stream_events *events)
{
	struct stream_set *set = events->spare;

	if (!set)
		return gp_mem_alloc(1, sizeof(*set));
	events->spare = set->spare;
	/* A new map, whatever size this one grew to. */
	robin_release(&set->streams);
	return set;
}

static void drop_set(struct stream_events *events, struct stream_set **set)
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

/* Returns the number of the new event. */
static uint64_t enqueue(struct event_queue *queue, struct block *b)
{
	if (queue->head + queue->count == queue->room && queue->head) {
		memmove(queue->events, queue->events + queue->head,
			queue->count * sizeof(*queue->events));
		queue->head = 0;
	}
	GP_GROW(queue->events, queue->head + queue->count + 1, queue->room);
	queue->events[queue->head + queue->count++] =
		(struct block_event){ ++queue->issued, b };
	return queue->issued;
}

/* ---- streams in PyTorch's iteration order ---- */

struct place {
	size_t at; /* slot in events.waiting */
	uint16_t stream;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

/* The streams of the list that have events, in iteration order. A copy, because
 * the walk may change the map. */
static size_t list_streams(const struct caching *c,
			   const struct stream_list *list,
			   struct place **places)
{
	size_t n = 0;

	*places = gp_mem_alloc(list->count, sizeof(**places));
	for (size_t i = 0; i < list->count; i++) {
		uint16_t stream = list->streams[i];
		size_t at = robin_place(&c->events.waiting, hash_of(c, stream),
					stream);

		if (at != SIZE_MAX)
			(*places)[n++] = (struct place){ at, stream };
	}
	if (n > 1)
		qsort(*places, n, sizeof(**places), by_place);
	return n;
}

/* Marks that events of the stream may be complete. */
static void touch(struct stream_events *events, uint16_t stream)
{
	add_stream(&events->touched, &events->queues[stream].is_touched,
		   stream);
}

static void forget_touched(struct stream_events *events)
{
	for (size_t i = 0; i < events->touched.count; i++)
		events->queues[events->touched.streams[i]].is_touched = false;
	events->touched.count = 0;
}

/* Removes the streams that have no events left. */
static void prune_busy(struct stream_events *events)
{
	struct stream_list *busy = &events->busy;
	size_t kept = 0;

	for (size_t i = 0; i < busy->count; i++) {
		struct event_queue *queue = &events->queues[busy->streams[i]];

		queue->is_busy = queue->count;
		if (queue->is_busy)
			busy->streams[kept++] = busy->streams[i];
	}
	busy->count = kept;
}

/* ---- creation and destruction ---- */

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
	struct stream_events *events = &c->events;
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
	free(events->busy.streams);
	free(events->touched.streams);
	free(events->ready);
	for (size_t i = 0; i < events->deferred.count; i++)
		free(events->deferred.items[i].mark.list);
	free(events->deferred.items);
}

void block_forget_captured(struct block *b)
{
	free_set(b->captured);
	b->captured = NULL;
}

/* ---- uses, frees and completion ---- */

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

/* Inserts an event after all present work of the stream; returns its number. */
static uint64_t insert_event(struct caching *c, struct block *b,
			     uint16_t stream)
{
	struct stream_events *events = &c->events;
	struct event_queue *queue = &events->queues[stream];

	b->event_count++;
	events->all_done = false;
	add_stream(&events->busy, &queue->is_busy, stream);
	if (!robin_find(&events->waiting, hash_of(c, stream), stream))
		robin_insert(&events->waiting, hash_of(c, stream), stream,
			     NULL);
	return enqueue(queue, b);
}

/* Inserts an event on each stream that uses the block. */
static void insert_events(struct caching *c, struct block *b)
{
	struct robin *uses = b->uses ? &b->uses->streams : NULL;

	if (b->uses_unknown) {
		b->uses_unknown = false;
		b->event_count++;
		append(&c->events.unnamed, b);
		c->events.all_done = false;
	}
	for (size_t i = uses ? robin_begin(uses) : 0;
	     uses && i < robin_end(uses); i = robin_after(uses, i)) {
		b->wait_stream = (uint16_t)uses->slots[i].key;
		b->gc_base = insert_event(c, b, b->wait_stream);
		uses->slots[i].value = (void *)(uintptr_t)b->gc_base;
	}
	/* With several events the set stays until all are complete; a single
	 * one is kept in the block. */
	if (uses && uses->count < 2)
		drop_set(&c->events, &b->uses);
}

static void defer(struct caching *c, struct block *b)
{
	struct deferred_list *list = &c->events.deferred;

	GP_GROW(list->items, list->count + 1, list->room);
	list->items[list->count++] =
		(struct deferred){ b, c->settings.capture_reuse
					      ? capture_mark(c, b)
					      : (struct node_set){ 0 } };
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
	if (--b->event_count)
		return;
	drop_set(&c->events, &b->uses);
	caching_free_block(c, b);
}

/* Drops uses recorded while suspended: the graph orders those. */
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

/* Processes a deferred free: only uses from before the suspension get
 * events. */
static void resume(struct caching *c, const struct deferred *deferred)
{
	struct block *b = deferred->block;

	free(deferred->mark.list);
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

		if (pool_index(deferred.block->list->pool) == pool)
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

		if (!deferred.mark.count || b->stream != stream ||
		    !capture_is_past(c, stream, &deferred.mark)) {
			list->items[kept++] = deferred;
			continue;
		}
		free(deferred.mark.list);
		drop_set(&c->events, &b->uses);
		caching_free_block(c, b);
	}
	list->count = kept;
}

/* Frees the blocks at the front of the queue whose events are complete. */
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
	struct stream_events *events = &c->events;

	for (size_t i = 0; i < events->ready_count; i++) {
		struct block *b = events->ready[i].block;

		if (b->id != events->ready[i].id || !b->is_unnamed)
			continue;
		drop(&events->unnamed, b);
		event_passed(c, b);
	}
	events->ready_count = 0;
}

void events_process(struct caching *c)
{
	struct place *places;
	size_t n;

	if (c->events.deferred.count)
		flush_deferred(c);
	if (c->events.ready_count)
		process_ready(c);
	if (!c->events.touched.count)
		return;
	n = list_streams(c, &c->events.touched, &places);
	forget_touched(&c->events);
	for (size_t i = 0; i < n; i++)
		process_queue(c, places[i].stream);
	free(places);
}

static bool concerns(const struct block *b, const struct pool_pair *only)
{
	return !only || b->list->pool->pair == only;
}

/* Completes the queue's events of that pool's blocks, and frees those. */
static void synchronize_queue(struct caching *c, uint16_t stream,
			      const struct pool_pair *only)
{
	struct event_queue *queue = &c->events.queues[stream];
	struct block_event *events = queue->events + queue->head;
	size_t n = queue->count, kept = 0;

	for (size_t i = 0; i < n; i++) {
		struct block_event event = events[i];

		if (!concerns(event.block, only)) {
			events[kept++] = event;
			continue;
		}
		if (queue->done < event.number)
			queue->done = event.number;
		event_passed(c, event.block);
	}
	queue->count = kept;
	if (kept) {
		touch(&c->events, stream);
		return;
	}
	queue->head = 0;
	robin_erase(&c->events.waiting, hash_of(c, stream), stream);
}

static void synchronize_unnamed(struct caching *c, const struct pool_pair *only)
{
	struct block *b, *next;

	for (b = c->events.unnamed.first; b; b = next) {
		next = b->right;
		if (!concerns(b, only))
			continue;
		drop(&c->events.unnamed, b);
		event_passed(c, b);
	}
}

void events_synchronize(struct caching *c, const struct pool_pair *only)
{
	struct place *places;
	size_t n;

	c->stats.num_sync_all_streams++;
	flush_deferred(c);
	synchronize_unnamed(c, only);
	if (!c->events.waiting.count)
		return;
	n = list_streams(c, &c->events.busy, &places);
	for (size_t i = 0; i < n; i++)
		synchronize_queue(c, places[i].stream, only);
	free(places);
	prune_busy(&c->events);
}

static void make_ready(struct stream_events *events, struct block *b)
{
	GP_GROW(events->ready, events->ready_count + 1, events->ready_room);
	events->ready[events->ready_count++] = (struct ready_block){ b, b->id };
}

static void complete_up_to(struct stream_events *events, uint16_t stream,
			   uint64_t number)
{
	struct event_queue *queue = &events->queues[stream];

	if (queue->done < number)
		queue->done = number;
	if (queue->count)
		touch(events, stream);
}

static void complete_all(struct stream_events *events)
{
	prune_busy(events);
	for (size_t i = 0; i < events->busy.count; i++) {
		uint16_t stream = events->busy.streams[i];

		complete_up_to(events, stream, events->queues[stream].issued);
	}
	events->ready_count = 0;
	for (struct block *b = events->unnamed.first; b; b = b->right)
		make_ready(events, b);
	events->all_done = true;
}

void events_complete_stream(struct caching *c, uint16_t stream)
{
	struct stream_events *events = &c->events;

	if (stream != GP_ALL_STREAMS)
		complete_up_to(events, stream, events->queues[stream].issued);
	else if (!events->all_done)
		complete_all(events);
}

/* When an event of the block is complete, so are all earlier ones of its
 * stream. */
void events_complete_block(struct caching *c, struct block *b)
{
	const struct robin *map = b->uses ? &b->uses->streams : NULL;
	struct stream_events *events = &c->events;

	if (!b->event_count)
		return;
	if (b->is_unnamed)
		make_ready(events, b);
	if (!map && b->event_count > b->is_unnamed)
		complete_up_to(events, b->wait_stream, b->gc_base);
	for (size_t i = map ? robin_begin(map) : 0; map && i < robin_end(map);
	     i = robin_after(map, i))
		complete_up_to(events, (uint16_t)map->slots[i].key,
			       (uintptr_t)map->slots[i].value);
}
