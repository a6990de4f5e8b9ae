/* SPDX-License-Identifier: MIT */
/*
 * Copies of an allocator, and its shape: everything that its decisions depend
 * on. Allocators of equal shape make the same decisions from there on.
 */
#include <stdlib.h>
#include <string.h>

#include "allocator/caching/caching.h"
#include "base/mem.h"

/* Open captures, and erased pools whose index has been reused: rare, and
 * therefore not copied. */
static bool has_what_stays(const struct caching *c)
{
	return c->captures.open || c->pools.erased;
}

static struct block *block_at(const struct block_table *table, size_t i)
{
	return &table->chunks[i / BLOCKS_PER_CHUNK][i % BLOCKS_PER_CHUNK];
}

static size_t block_count(const struct caching *c)
{
	return c->blocks.chunk_count * BLOCKS_PER_CHUNK;
}

/* ---- pointers: where each leads in the copy ---- */

struct chunk {
	const struct block *from;
	struct block *to;
};

struct copying {
	const struct caching *from;
	struct caching *to;
	struct chunk *chunks; /* ascending */
	const struct expandable_segment *segment;
	struct expandable_segment *its_copy; /* of the last one asked for */
};

static int by_place(const void *a, const void *b)
{
	const struct chunk *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

static struct block *block_in(const struct copying *copying,
			      const struct block *b)
{
	size_t low = 0, high = copying->from->blocks.chunk_count;

	if (!b)
		return NULL;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (copying->chunks[middle].from <= b)
			low = middle;
		else
			high = middle;
	}
	return copying->chunks[low].to + (b - copying->chunks[low].from);
}

static struct free_list *list_in(const struct copying *copying,
				 const struct free_list *list)
{
	return list ? copying->to->pools.all[list->number] : NULL;
}

/* The segment at the same place in the copy's list, which has the same
 * order. */
static struct expandable_segment *segment_in(struct copying *copying,
					     const struct expandable_segment *s)
{
	struct expandable_segment *to = copying->to->expandable;
	const struct expandable_segment *from = copying->from->expandable;

	if (!s || s == copying->segment)
		return s ? copying->its_copy : NULL;
	for (; from != s; from = from->next)
		to = to->next;
	copying->segment = from;
	return copying->its_copy = to;
}

/* ---- small parts ---- */

static void *copy_items(const void *items, size_t count, size_t size)
{
	void *copy = count ? gp_mem_take(count * size) : NULL;

	if (count)
		memcpy(copy, items, count * size);
	return copy;
}

static struct stream_set *copy_set(const struct stream_set *set)
{
	struct stream_set *copy;

	if (!set)
		return NULL;
	copy = gp_mem_alloc(1, sizeof(*copy));
	copy->streams = robin_copy(&set->streams);
	return copy;
}

static void copy_segments(struct copying *copying)
{
	const struct expandable_segment *from = copying->from->expandable;
	struct expandable_segment **link = &copying->to->expandable;

	for (; from; from = from->next) {
		struct expandable_segment *s = gp_mem_alloc(1, sizeof(*s));

		*s = *from;
		s->list = list_in(copying, from->list);
		s->link = link;
		*link = s;
		link = &s->next;
	}
	*link = NULL;
}

/* ---- blocks ---- */

static void copy_chunks(struct copying *copying)
{
	const struct block_table *from = &copying->from->blocks;
	struct block_table *to = &copying->to->blocks;
	size_t count = from->chunk_count;

	*to = (struct block_table){
		.chunks = gp_mem_alloc(count + 1, sizeof(*to->chunks)),
		.chunk_count = count,
		.chunk_room = count + 1,
	};
	copying->chunks = gp_mem_alloc(count + 1, sizeof(*copying->chunks));
	for (size_t i = 0; i < count; i++) {
		to->chunks[i] = copy_items(from->chunks[i], BLOCKS_PER_CHUNK,
					   sizeof(**to->chunks));
		copying->chunks[i] =
			(struct chunk){ from->chunks[i], to->chunks[i] };
	}
	qsort(copying->chunks, count, sizeof(*copying->chunks), by_place);
	to->spare = block_in(copying, from->spare);
}

/* In a block that is in no free list, left, right and parent are stale. */
static void move_block(struct copying *copying, struct block *b)
{
	b->prev = block_in(copying, b->prev);
	b->next = block_in(copying, b->next);
	b->left = block_in(copying, b->left);
	b->right = block_in(copying, b->right);
	b->parent = block_in(copying, b->parent);
	b->list = list_in(copying, b->list);
	b->segment = segment_in(copying, b->segment);
	b->uses = copy_set(b->uses);
	b->captured = copy_set(b->captured);
	if (b->use != BLOCK_FREE)
		copying->to->live[b->id] = b;
}

static void copy_blocks(struct copying *copying)
{
	struct caching *to = copying->to;

	to->live = gp_mem_alloc(to->config.block_ids, sizeof(*to->live));
	for (size_t i = 0; i < block_count(to); i++) {
		struct block *b = block_at(&to->blocks, i);

		if (b->is_object)
			move_block(copying, b);
		else
			b->next = block_in(copying, b->next);
	}
}

/* ---- pools ---- */

static void copy_page(const struct copying *copying, struct bin_page *page)
{
	for (unsigned i = 0; i < BINS_PER_PAGE; i++) {
		struct bin *bin = &page->bins[i];

		bin->first = block_in(copying, bin->first);
		bin->tree.root = block_in(copying, bin->tree.root);
	}
}

static struct caching_pool *pool_in(const struct copying *copying,
				    const struct caching_pool *pool)
{
	struct pool_pair *pair = copying->to->pools.pairs[pool_index(pool)];

	return pool->is_small ? &pair->small : &pair->large;
}

static void copy_free_list(const struct copying *copying,
			   const struct free_list *from, struct free_list *to)
{
	*to = *from;
	to->newest = block_in(copying, from->newest);
	to->next_changed = list_in(copying, from->next_changed);
	to->pool = pool_in(copying, from->pool);
	for (unsigned i = 0; i < BIN_PAGES; i++) {
		if (!from->pages[i])
			continue;
		to->pages[i] =
			copy_items(from->pages[i], 1, sizeof(*to->pages[i]));
		if (from->bin_bits[i])
			copy_page(copying, to->pages[i]);
	}
	to->unmapped = copy_items(from->unmapped, from->unmapped_count,
				  sizeof(*to->unmapped));
	to->unmapped_room = from->unmapped_count;
	for (size_t i = 0; i < to->unmapped_count; i++)
		to->unmapped[i] = block_in(copying, from->unmapped[i]);
}

/* Allocates the free lists before they are filled, so that list_in() can refer
 * to them. */
static void make_lists(struct pools *to)
{
	to->all = gp_mem_alloc(to->free_list_room + 1, sizeof(*to->all));
	for (size_t i = 0; i < to->free_list_count; i++)
		to->all[i] = gp_mem_take(sizeof(**to->all));
}

static void copy_pool(const struct copying *copying,
		      const struct caching_pool *from, struct caching_pool *to)
{
	size_t streams = copying->to->config.stream_count;

	to->tally = copying->to->tally + (from->tally - copying->from->tally);
	to->pools = &copying->to->pools;
	to->recent = NULL;
	to->free_lists = gp_mem_alloc((streams + FREE_LISTS_PER_CHUNK - 1) /
					      FREE_LISTS_PER_CHUNK,
				      sizeof(*to->free_lists));
	for (size_t i = 0; i * FREE_LISTS_PER_CHUNK < streams; i++) {
		to->free_lists[i] = copy_items(
			from->free_lists[i],
			from->free_lists[i] ? FREE_LISTS_PER_CHUNK : 0,
			sizeof(**to->free_lists));
		for (size_t k = 0;
		     k < FREE_LISTS_PER_CHUNK && to->free_lists[i]; k++)
			to->free_lists[i][k] =
				list_in(copying, to->free_lists[i][k]);
	}
	to->listed = copy_items(from->listed, from->listed_count,
				sizeof(*to->listed));
	to->listed_room = from->listed_count;
	for (size_t i = 0; i < to->listed_count; i++)
		to->listed[i] = list_in(copying, to->listed[i]);
}

static void copy_pair(const struct copying *copying, size_t index)
{
	const struct pool_pair *from = copying->from->pools.pairs[index];
	struct pool_pair *to;

	if (!from)
		return;
	to = copy_items(from, 1, sizeof(*to));
	to->small.pair = to->large.pair = to;
	copy_pool(copying, &from->small, &to->small);
	copy_pool(copying, &from->large, &to->large);
	copying->to->pools.pairs[index] = to;
}

static void copy_pools(const struct copying *copying)
{
	const struct pools *from = &copying->from->pools;
	struct pools *to = &copying->to->pools;

	make_lists(to);
	to->pairs = gp_mem_alloc(to->pair_count, sizeof(*to->pairs));
	for (size_t i = 0; i < to->pair_count; i++)
		copy_pair(copying, i);
	for (size_t i = 0; i < to->free_list_count; i++)
		copy_free_list(copying, from->all[i], to->all[i]);
	to->changed = list_in(copying, from->changed);
	to->largest = copy_items(from->largest, 2 * from->leaves,
				 sizeof(*to->largest));
	to->reserved = copy_items(from->reserved, from->pair_count,
				  sizeof(*to->reserved));
	to->no_split = copy_items(from->no_split, from->pair_count,
				  sizeof(*to->no_split));
	to->routes = copy_items(from->routes, from->route_count,
				sizeof(*to->routes));
	to->route_room = from->route_count;
	to->use_on_oom = robin_copy(&from->use_on_oom);
	to->freeable = robin_copy(&from->freeable);
	for (size_t i = robin_begin(&to->freeable);
	     i < robin_end(&to->freeable); i = robin_after(&to->freeable, i))
		to->freeable.slots[i].value =
			to->pairs[to->freeable.slots[i].key];
}

/* ---- events ---- */

static void copy_queue(const struct copying *copying,
		       const struct event_queue *from, struct event_queue *to)
{
	*to = *from;
	to->head = 0;
	to->room = from->count;
	to->events = copy_items(from->count ? from->events + from->head : NULL,
				from->count, sizeof(*to->events));
	for (size_t i = 0; i < to->count; i++)
		to->events[i].block = block_in(copying, to->events[i].block);
}

static void copy_list(const struct stream_list *from, struct stream_list *to)
{
	to->streams =
		copy_items(from->streams, from->count, sizeof(*to->streams));
	to->room = from->count;
}

static void copy_deferred(const struct copying *copying,
			  const struct deferred_list *from,
			  struct deferred_list *to)
{
	to->items = copy_items(from->items, from->count, sizeof(*to->items));
	to->room = from->count;
	for (size_t i = 0; i < to->count; i++) {
		struct deferred *item = &to->items[i];
		struct node_set *mark = &item->mark;

		item->block = block_in(copying, item->block);
		mark->list = copy_items(mark->list, mark->count,
					sizeof(*mark->list));
		mark->room = mark->count;
	}
}

static void copy_events(const struct copying *copying)
{
	const struct stream_events *from = &copying->from->events;
	struct stream_events *to = &copying->to->events;
	size_t streams = copying->to->config.stream_count;

	to->queues = gp_mem_alloc(streams, sizeof(*to->queues));
	for (size_t i = 0; i < streams; i++)
		copy_queue(copying, &from->queues[i], &to->queues[i]);
	to->waiting = robin_copy(&from->waiting);
	copy_list(&from->busy, &to->busy);
	copy_list(&from->touched, &to->touched);
	to->unnamed.first = block_in(copying, from->unnamed.first);
	to->unnamed.last = block_in(copying, from->unnamed.last);
	to->ready =
		copy_items(from->ready, from->ready_count, sizeof(*to->ready));
	to->ready_room = from->ready_count;
	for (size_t i = 0; i < to->ready_count; i++)
		to->ready[i].block = block_in(copying, to->ready[i].block);
	copy_deferred(copying, &from->deferred, &to->deferred);
	to->spare = NULL;
}

/* ---- the whole ---- */

struct gp_allocator *copy_make(struct gp_allocator *allocator,
			       struct gp_device *device, struct gp_alike *alike)
{
	struct caching *from = caching_of(allocator), *to;
	struct copying copying = { .from = from };

	if (has_what_stays(from))
		return NULL;
	copying.to = to = copy_items(from, 1, sizeof(*to));
	to->head.levels = to->tally[GP_STAT_ALL].levels;
	to->device = to->config.device = device;
	to->config.alike = alike;
	to->alike = from->alike ? alike : NULL;
	to->captures = (struct captures){ .begun = from->captures.begun };
	to->scratch = NULL;
	to->scratch_room = 0;
	if (from->refusal == from->refusal_text)
		to->refusal = to->refusal_text;
	copy_chunks(&copying);
	copy_pools(&copying);
	copy_segments(&copying);
	copy_blocks(&copying);
	copy_events(&copying);
	free(copying.chunks);
	return &to->head;
}

/* ---- shapes ---- */

static void put(struct gp_shape *shape, uint64_t word)
{
	if (shape->count == shape->room)
		GP_GROW(shape->words, shape->count + 1, shape->room);
	shape->words[shape->count++] = word;
}

/* Adds the slots of a map, in iteration order. */
static void put_map(struct gp_shape *shape, const struct robin *map)
{
	put(shape, map->size);
	put(shape, map->count);
	for (size_t i = robin_begin(map); i < robin_end(map);
	     i = robin_after(map, i)) {
		put(shape, i);
		put(shape, map->slots[i].key);
	}
}

/* The size of a reservation's unmapped end is left out, because struct
 * gp_device_reach accounts for it. What a block waits for is in the queues
 * (put_events). */
static void put_block(struct gp_shape *shape, const struct block *b)
{
	bool is_rest = !b->is_mapped && !b->next;
	const uint8_t parts[sizeof(uint64_t)] = {
		b->use,	   b->is_mapped,  b->uses_unknown, b->is_unnamed,
		!!b->uses, !!b->captured, !!b->next,
	};
	uint64_t word;

	memcpy(&word, parts, sizeof(word));
	put(shape, word);
	put(shape, b->id);
	put(shape, is_rest ? 0 : b->size);
	if (b->uses)
		put_map(shape, &b->uses->streams);
	if (b->captured)
		put_map(shape, &b->captured->streams);
}

/* The address of a reservation is part of the shape, because it decides where
 * the next reservation is placed. */
static void put_segment(struct gp_shape *shape, const struct block *first)
{
	const struct caching_pool *pool = first->list->pool;

	put(shape, pool_index(pool));
	put(shape, pool->is_small);
	put(shape, first->stream);
	put(shape, !!first->segment);
	if (first->segment)
		put(shape, first->segment->addr);
	for (const struct block *b = first; b; b = b->next)
		put_block(shape, b);
}

static int by_rank(const void *a, const void *b)
{
	const struct block *x = *(const struct block *const *)a;
	const struct block *y = *(const struct block *const *)b;

	return x->counter < y->counter ? -1 : x->counter > y->counter;
}

/* The blocks that begin a segment, oldest segment first; the caller frees the
 * list. */
static struct block **firsts(const struct caching *c, size_t *count)
{
	struct block **list = NULL;
	size_t room = 0;

	*count = 0;
	for (size_t i = 0; i < block_count(c); i++) {
		struct block *b = block_at(&c->blocks, i);

		if (!b->is_object || b->prev)
			continue;
		GP_GROW(list, *count + 1, room);
		list[(*count)++] = b;
	}
	if (*count)
		qsort(list, *count, sizeof(*list), by_rank);
	return list;
}

/* Whether no two segments have the same age. Of equal free blocks, the one in
 * the oldest segment is taken, so addresses then never decide between segments;
 * in a start state, several segments may have the same age. */
static bool decide_by_age(struct block *const *segments, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (i && segments[i]->counter == segments[i - 1]->counter)
			return false;
		for (const struct block *b = segments[i]; b; b = b->next)
			if (b->counter != segments[i]->counter)
				return false;
	}
	return true;
}

static void put_pools(struct gp_shape *shape, const struct pools *pools)
{
	for (size_t i = 0; i < pools->pair_count; i++) {
		const struct pool_pair *pair = pools->pairs[i];

		put(shape, pools->no_split[i]);
		put(shape, !!pair);
		if (!pair)
			continue;
		put(shape, pair->exists);
		put(shape, (uint64_t)pair->use_count);
		put(shape, (uint64_t)pair->malloc_count);
	}
	put(shape, pools->route_count);
	for (size_t i = 0; i < pools->route_count; i++)
		put(shape, pools->routes[i].pool);
	put_map(shape, &pools->freeable);
	put_map(shape, &pools->use_on_oom);
}

/* Events are numbered relative to the last one issued, because it does not
 * matter how many there were before. */
static void put_events(struct gp_shape *shape, const struct caching *c)
{
	const struct stream_events *events = &c->events;

	put_map(shape, &events->waiting);
	put(shape, events->all_done);
	for (size_t i = 0; i < c->config.stream_count; i++) {
		const struct event_queue *q = &events->queues[i];

		if (!q->count && !q->is_touched)
			continue;
		put(shape, i);
		put(shape, (uint64_t)q->is_touched);
		put(shape, q->issued - q->done);
		put(shape, q->count);
		for (size_t k = 0; k < q->count; k++) {
			put(shape, q->events[q->head + k].block->id);
			put(shape, q->issued - q->events[q->head + k].number);
		}
	}
	put(shape, events->ready_count);
	for (const struct block *b = events->unnamed.first; b; b = b->right)
		put(shape, b->id);
	for (size_t i = 0; i < events->ready_count; i++)
		put(shape, events->ready[i].id);
}

bool copy_shape(struct gp_allocator *allocator, struct gp_shape *shape)
{
	const struct caching *c = caching_of(allocator);
	struct block **segments;
	size_t count;
	bool is_decided;

	shape->count = 0;
	if (c->order != BY_SEGMENT || c->has_unmerged || c->gc_enabled ||
	    c->events.deferred.count || has_what_stays(c))
		return false;
	segments = firsts(c, &count);
	is_decided = decide_by_age(segments, count);
	put(shape, count);
	for (size_t i = 0; i < count && is_decided; i++)
		put_segment(shape, segments[i]);
	free(segments);
	put_pools(shape, &c->pools);
	put_events(shape, c);
	return is_decided;
}
