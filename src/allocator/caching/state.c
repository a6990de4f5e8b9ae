/* SPDX-License-Identifier: MIT */
/*
 * Adopting a start state at the beginning of a window, exporting the current
 * state as a snapshot, and listing the free blocks that a request could have
 * used. PyTorch: snapshot(), for what a segment is and which blocks it lists.
 */
#include <stdlib.h>

#include "allocator/caching/caching.h"
#include "base/larger.h"
#include "base/mem.h"

/* ---- adopting a start state ---- */

static struct block *make_block(struct caching *c,
				const struct gp_segment *segment, uint64_t addr,
				uint64_t size)
{
	struct pool_pair *pair = pool_pair_get(c, segment->pool);
	struct block *b = block_create(&c->blocks);

	b->addr = addr;
	b->size = size;
	b->stream = segment->stream;
	b->list = pool_make_free_list(segment->is_small ? &pair->small
							: &pair->large,
				      segment->stream);
	if (c->order == BY_OBJECT)
		b->counter = ++c->counter;
	else if (c->order == BY_SEGMENT)
		b->counter = c->counter;
	return b;
}

static void link_after(struct block *prev, struct block *b)
{
	b->prev = prev;
	if (prev)
		prev->next = b;
}

static void adopt_live(struct caching *c, struct block *b,
		       const struct gp_block *from)
{
	struct tally *own = b->list->pool->tally;
	struct gp_stats *stats = &c->stats;

	b->id = from->id;
	b->requested = from->requested;
	c->live[b->id] = b;
	counter_add(c, GP_STAT_ACTIVE, own, 1);
	counter_add(c, GP_STAT_ACTIVE_BYTES, own, b->size);
	counter_add(c, GP_STAT_REQUESTED_BYTES, own, b->requested);
	if (from->state == GP_PENDING_FREE) {
		b->use = BLOCK_PENDING_FREE;
		b->uses_unknown = true;
		events_hold(c, b);
		return;
	}
	b->use = BLOCK_ALLOCATED;
	counter_add(c, GP_STAT_ALLOCATION, own, 1);
	counter_add(c, GP_STAT_ALLOCATED_BYTES, own, b->size);
	if (b->size >= c->settings.max_split_size)
		counter_increase(&stats->oversize_allocations, 1);
}

static void adopt_free(struct caching *c, struct block *b)
{
	c->has_unmerged |=
		b->prev && b->prev->use == BLOCK_FREE && b->prev->is_mapped;
	struct tally *own = b->list->pool->tally;

	caching_insert_free(b);
	if (b->segment || !block_is_split(b))
		return;
	counter_add(c, GP_STAT_INACTIVE_SPLIT, own, 1);
	counter_add(c, GP_STAT_INACTIVE_SPLIT_BYTES, own, b->size);
}

/* Adopts the blocks of one segment, as successors of prev; returns the last
 * one. */
static struct block *adopt_blocks(struct caching *c,
				  const struct gp_state *start,
				  const struct gp_segment *segment,
				  struct expandable_segment *expandable,
				  struct block *prev)
{
	const struct gp_block *from = start->blocks + segment->first_block;
	struct block *first = NULL, *b = prev;

	for (uint32_t i = 0; i < segment->blocks; i++) {
		struct block *made =
			make_block(c, segment, from[i].addr, from[i].size);

		made->segment = expandable;
		link_after(b, made);
		first = first ? first : made;
		b = made;
	}
	/* Which blocks are split is only known now that all are linked. */
	b = first;
	for (uint32_t i = 0; i < segment->blocks; i++, b = b->next) {
		if (from[i].state == GP_INACTIVE)
			adopt_free(c, b);
		else
			adopt_live(c, b, &from[i]);
		if (!b->next)
			break;
	}
	return b;
}

static void count_segment(struct caching *c, const struct gp_segment *segment)
{
	struct pool_pair *pair = pool_pair_get(c, segment->pool);
	struct caching_pool *pool =
		segment->is_small ? &pair->small : &pair->large;

	pair->malloc_count++;
	counter_reserve(c, pool, segment->size);
	c->device->ops->adopt(c->device, segment->addr, segment->size,
			      segment->is_expandable);
	if (segment->is_expandable)
		return;
	counter_add(c, GP_STAT_SEGMENT, pool->tally, 1);
	if (segment->size >= c->settings.max_split_size)
		counter_increase(&c->stats.oversize_segments, 1);
}

/* ---- reservations ---- */

/* Consecutive segments of a state that are mapped runs of one reservation. */
struct runs {
	const struct gp_segment *first;
	size_t count;
	uint64_t page;
};

static uint64_t end_of(const struct gp_segment *segment)
{
	return segment->addr + segment->size;
}

static uint64_t begin_of(const struct gp_segment *segment)
{
	return segment->addr - segment->offset;
}

static bool is_made_of(const struct runs *runs, uint64_t page)
{
	for (size_t i = 0; i < runs->count; i++)
		if ((runs->first[i].addr - begin_of(runs->first)) % page ||
		    runs->first[i].size % page)
			return false;
	return true;
}

/* The page size of a reservation; large_segment_size_mb may have had another
 * value when it was made. */
static uint64_t page_of(struct caching *c, const struct runs *runs)
{
	if (runs->first->is_small)
		return SMALL_BUFFER;
	alike_large(c);
	if (is_made_of(runs, c->settings.large_segment_size))
		return c->settings.large_segment_size;
	return is_made_of(runs, LARGE_BUFFER) ? LARGE_BUFFER : GP_DEVICE_GRAIN;
}

static bool may_follow(const struct gp_segment *a, const struct gp_segment *b)
{
	return b->is_expandable && a->stream == b->stream &&
	       a->pool == b->pool && a->is_small == b->is_small &&
	       (!b->offset || begin_of(a) == begin_of(b)) &&
	       (b->addr - a->addr) % GP_DEVICE_GRAIN == 0 &&
	       b->size % GP_DEVICE_GRAIN == 0;
}

/* Mapped runs of one pool and stream belong to one reservation as far as its
 * length allows: the allocator makes another one only when the first is
 * full. */
static struct runs find_runs(struct caching *c, const struct gp_state *start,
			     size_t at)
{
	struct runs runs = { .first = &start->segments[at], .count = 1 };
	size_t n = start->segment_count - at;
	uint64_t range;

	while (runs.count < n &&
	       may_follow(runs.first, &runs.first[runs.count]))
		runs.count++;
	runs.page = page_of(c, &runs);
	range = expandable_range(c, runs.page);
	n = runs.count;
	for (runs.count = 1; runs.count < n; runs.count++) {
		uint64_t bytes =
			end_of(&runs.first[runs.count]) - begin_of(runs.first);

		expandable_note_range(c, bytes, bytes <= range);
		if (bytes > range)
			break;
	}
	return runs;
}

/* Adds an unmapped block for the addresses in [addr, stop) of a reservation. */
static struct block *add_unmapped(struct caching *c,
				  const struct gp_segment *segment,
				  struct expandable_segment *expandable,
				  struct block *prev, uint64_t addr,
				  uint64_t stop)
{
	struct block *b;

	if (addr >= stop)
		return prev;
	b = make_block(c, segment, addr, stop - addr);
	b->segment = expandable;
	b->is_mapped = false;
	link_after(prev, b);
	free_list_insert_unmapped(b->list, b);
	return b;
}

static struct expandable_segment *add_expandable(struct caching *c,
						 uint64_t addr, uint64_t stop,
						 uint64_t page)
{
	struct expandable_segment *made = gp_mem_alloc(1, sizeof(*made));

	*made = (struct expandable_segment){ .addr = addr,
					     .size = stop - addr,
					     .page = page,
					     .next = c->expandable,
					     .link = &c->expandable };
	if (c->expandable)
		c->expandable->link = &made->next;
	c->expandable = made;
	c->device->ops->adopt_range(c->device, addr, stop - addr);
	return made;
}

/*
 * Adopts a reservation that lies between the one below, which ends at low, and
 * the next segment. Its beginning is known if its segments carry their offset;
 * otherwise it begins at the first segment, as if nothing below had been
 * unmapped. Returns its end.
 */
static uint64_t adopt_runs(struct caching *c, const struct gp_state *start,
			   const struct runs *runs, uint64_t low)
{
	const struct gp_segment *first = runs->first;
	const struct gp_segment *last = &first[runs->count - 1];
	bool is_last = last + 1 == &start->segments[start->segment_count];
	uint64_t high = is_last ? UINT64_MAX : begin_of(last + 1);
	uint64_t front = gp_smaller(first->offset, first->addr - low) /
			 runs->page * runs->page;
	uint64_t addr = first->addr - front;
	uint64_t stop = gp_sum(addr, expandable_range(c, runs->page));
	struct expandable_segment *expandable;
	struct block *b;

	stop = end_of(last) < gp_smaller(stop, high) ? gp_smaller(stop, high)
						     : end_of(last);
	stop -= (stop - end_of(last)) % runs->page;
	expandable = add_expandable(c, addr, stop, runs->page);
	b = add_unmapped(c, first, expandable, NULL, addr, first->addr);
	for (size_t i = 0; i < runs->count; i++) {
		count_segment(c, &first[i]);
		if (i)
			b = add_unmapped(c, &first[i], expandable, b,
					 end_of(&first[i - 1]), first[i].addr);
		b = adopt_blocks(c, start, &first[i], expandable, b);
	}
	add_unmapped(c, last, expandable, b, end_of(last), stop);
	return stop;
}

/* From 2.13 on, blocks are ordered by the age of their segment. */
static void take_rank(struct caching *c, size_t segment, uint32_t base)
{
	if (c->order != BY_SEGMENT)
		return;
	c->counter = base + 1 +
		     (c->config.start_ranks ? c->config.start_ranks[segment]
					    : (uint32_t)segment);
}

void state_adopt(struct caching *c, const struct gp_state *start)
{
	uint32_t base = c->counter;
	uint64_t low = 0;

	for (size_t i = 0; i < start->segment_count;) {
		const struct gp_segment *segment = &start->segments[i];

		take_rank(c, i, base);
		if (segment->is_expandable) {
			struct runs runs = find_runs(c, start, i);

			low = adopt_runs(c, start, &runs, low);
			i += runs.count;
			continue;
		}
		count_segment(c, segment);
		adopt_blocks(c, start, segment, NULL, NULL);
		low = end_of(segment);
		i++;
	}
	if (c->order == BY_SEGMENT)
		c->counter = base + (uint32_t)start->segment_count;
}

/* ---- exporting the current state ---- */

struct export
{
	struct gp_segment *segments;
	struct gp_block *blocks;
	size_t segment_count, segment_room, block_count, block_room;
};

/* Whether the block is the first one of a segment of a snapshot: of a segment
 * from cudaMalloc, or of a run of mapped blocks. */
static bool starts_segment(const struct block *b)
{
	return b->is_object && b->is_mapped &&
	       (!b->prev || !b->prev->is_mapped);
}

static int by_address(const void *a, const void *b)
{
	const struct block *x = *(struct block *const *)a;
	const struct block *y = *(struct block *const *)b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static size_t collect_starts(struct caching *c, struct block ***starts)
{
	size_t n = 0, room = 0;

	*starts = NULL;
	for (size_t i = 0; i < c->blocks.chunk_count * BLOCKS_PER_CHUNK; i++) {
		struct block *b = &c->blocks.chunks[i / BLOCKS_PER_CHUNK]
						   [i % BLOCKS_PER_CHUNK];

		if (!starts_segment(b))
			continue;
		GP_GROW(*starts, n + 1, room);
		(*starts)[n++] = b;
	}
	if (n)
		qsort(*starts, n, sizeof(**starts), by_address);
	return n;
}

static enum gp_block_state state_of(const struct block *b)
{
	static const enum gp_block_state states[] = {
		[BLOCK_FREE] = GP_INACTIVE,
		[BLOCK_ALLOCATED] = GP_ACTIVE,
		[BLOCK_PENDING_FREE] = GP_PENDING_FREE,
	};

	return states[b->use];
}

static void export_block(struct export *s, const struct block *b)
{
	GP_GROW(s->blocks, s->block_count + 1, s->block_room);
	s->blocks[s->block_count++] = (struct gp_block){
		.addr = b->addr,
		.size = b->size,
		.requested = b->requested,
		.id = b->id,
		.state = (uint8_t)state_of(b),
		.site = GP_NO_SITE,
	};
}

static void export_segment(struct export *s, const struct block *b)
{
	struct gp_segment segment = {
		.addr = b->addr,
		.stream = b->stream,
		.pool = pool_index(b->list->pool),
		.is_small = b->list->pool->is_small,
		.is_expandable = b->segment != NULL,
		.offset = b->segment ? b->addr - b->segment->addr : 0,
		.first_block = (uint32_t)s->block_count,
		.site = GP_NO_SITE,
	};

	for (; b && b->is_mapped; b = b->next) {
		export_block(s, b);
		segment.size += b->size;
		segment.blocks++;
	}
	GP_GROW(s->segments, s->segment_count + 1, s->segment_room);
	s->segments[s->segment_count++] = segment;
}

void state_export(struct caching *c, struct gp_state *state)
{
	struct export s = { 0 };
	struct block **starts;
	size_t n = collect_starts(c, &starts);

	for (size_t i = 0; i < n; i++)
		export_segment(&s, starts[i]);
	free(starts);
	*state = (struct gp_state){ .segments = s.segments,
				    .blocks = s.blocks,
				    .segment_count = s.segment_count,
				    .block_count = s.block_count };
}

size_t state_candidates(struct caching *c, uint64_t size, uint16_t stream,
			uint16_t pool, struct gp_candidate *out, size_t room)
{
	const struct block *b = NULL;
	struct gp_route route;
	struct pool_pair *pair;
	struct free_list *list;
	size_t n = 0;

	/* The request would process events first, and could take what that
	 * frees. */
	if (events_are_pending(&c->events) && !pools_suspend_request(c, pool))
		events_process(c);
	if (!alloc_route(&c->head, size, stream, pool, &route))
		return 0;
	pair = pool_pair_get(c, route.pool);
	list = pool_free_list(route.is_small ? &pair->small : &pair->large,
			      stream);
	if (list)
		b = free_list_best_fit(list, route.rounded);
	for (; b && n < room; b = free_list_next(list, b)) {
		const struct block *first = b, *last = b;

		while (first->prev)
			first = first->prev;
		while (last->next)
			last = last->next;
		out[n++] = (struct gp_candidate){
			.addr = b->addr,
			.size = b->size,
			.segment_addr = first->addr,
			.segment_size = last->addr + last->size - first->addr,
		};
	}
	return n;
}
