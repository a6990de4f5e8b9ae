/* SPDX-License-Identifier: MIT */
/*
 * Expandable segments: reserved address ranges into which memory is mapped page
 * by page. PyTorch: ExpandableSegment, find_expandable_block, map_block,
 * try_allocate_expandable_block, unmap_block.
 */
#include "allocator/caching/caching.h"

#include <stdlib.h>

#include "allocator/release.h"
#include "base/larger.h"
#include "base/mem.h"

static uint64_t page_of(struct caching *c, const struct caching_pool *pool)
{
	if (pool->is_small)
		return SMALL_BUFFER;
	alike_large(c);
	return c->settings.large_segment_size;
}

uint64_t expandable_range(const struct caching *c, uint64_t page)
{
	const struct gp_settings *s = &c->settings;
	uint64_t size = gp_device_range(c->device_total);
	uint64_t set = s->reserve_bytes;

	if (s->reserve_fraction > 0)
		set = (uint64_t)(s->reserve_fraction * (double)c->device_total);
	return gp_round_up(set && set < size ? set : size, page);
}

/* large_segment_size_mb:-1 is accepted and means almost 2^64 bytes; no device
 * has pages of such a size. */
#define MOST_PAGE (UINT64_C(1) << 60)

void expandable_note_range(struct caching *c, uint64_t bytes, bool is_there)
{
	struct gp_device_reach *reach = &c->device->reach;

	if (is_there && bytes > reach->longest_range)
		reach->longest_range = bytes;
	if (!is_there && bytes < reach->shortest_range)
		reach->shortest_range = bytes;
}

static void note_second(struct caching *c, const struct free_list *list)
{
	const struct expandable_segment *segment = c->expandable;

	while (segment && segment->list != list)
		segment = segment->next;
	c->device->reach.has_two_ranges |= segment != NULL;
}

/* Creates a segment, which begins as one unmapped block. */
static struct block *add_segment(struct caching *c,
				 const struct request *request)
{
	uint64_t page = page_of(c, request->pool);
	uint64_t size, addr;
	struct expandable_segment *segment;
	struct free_list *list;
	struct block *b;

	if (page > MOST_PAGE)
		return NULL;
	size = expandable_range(c, page);
	expandable_note_range(c, request->rounded, request->rounded <= size);
	if (request->rounded > size &&
	    gp_release_has(c->settings.release, GP_CHANGE_RESERVE_CHECKED))
		return NULL;
	if (!c->device->ops->reserve(c->device, size, &addr))
		return NULL;
	list = pool_make_free_list(request->pool, request->stream);
	note_second(c, list);
	segment = gp_mem_alloc(1, sizeof(*segment));
	*segment = (struct expandable_segment){ .addr = addr,
						.size = size,
						.page = page,
						.list = list,
						.next = c->expandable,
						.link = &c->expandable };
	if (c->expandable)
		c->expandable->link = &segment->next;
	c->expandable = segment;
	b = block_create(&c->blocks);
	b->addr = addr;
	b->size = size;
	b->stream = request->stream;
	b->list = list;
	b->segment = segment;
	b->is_mapped = false;
	b->counter = c->order == BY_ADDRESS ? 0 : ++c->counter;
	free_list_insert_unmapped(b->list, b);
	return b;
}

static void drop_segment(struct caching *c, struct block *b)
{
	struct expandable_segment *segment = b->segment;

	free_list_remove_unmapped(b->list, b);
	c->device->ops->unreserve(c->device, segment->addr, segment->size);
	*segment->link = segment->next;
	if (segment->next)
		segment->next->link = segment->link;
	free(segment);
	block_destroy(&c->blocks, b);
}

/* The first block of the lowest run of adjacent free blocks that contains an
 * unmapped one and is long enough; else of a new segment. */
static struct block *find_run(struct caching *c, const struct request *request)
{
	struct free_list *list = pool_free_list(request->pool, request->stream);

	for (size_t i = 0; list && i < list->unmapped_count; i++) {
		struct block *unmapped = list->unmapped[i];
		struct block *first = unmapped, *b;
		uint64_t sum = 0;

		if (unmapped->prev && unmapped->prev->use == BLOCK_FREE)
			first = unmapped->prev;
		for (b = first;
		     b && b->use == BLOCK_FREE && sum < request->rounded;
		     b = b->next)
			sum += b->size;
		if (!b || sum >= request->rounded)
			expandable_note_range(c,
					      first->addr + request->rounded -
						      first->segment->addr,
					      sum >= request->rounded);
		if (sum >= request->rounded)
			return first;
	}
	return add_segment(c, request);
}

/* Splits an unmapped block: the rest becomes an unmapped block after it. */
static void split_unmapped(struct caching *c, struct block *b, uint64_t size)
{
	struct block *rest = caching_part(c, b, b->addr + size, b->size - size);

	rest->is_mapped = false;
	rest->prev = b;
	rest->next = b->next;
	if (rest->next)
		rest->next->prev = rest;
	b->next = rest;
	b->size = size;
	free_list_insert_unmapped(b->list, rest);
}

/* Maps at least size bytes from the start of an unmapped block, and merges it
 * with its free neighbours. An odd large_segment_size_mb gives a page size that
 * CUDA does not support. */
static enum gp_answer map_block(struct caching *c, struct block *b,
				uint64_t size)
{
	uint64_t page = b->segment->page, addr = b->addr;

	if (page % GP_DEVICE_GRAIN)
		return caching_refuse(c, "CUDA driver error: invalid argument");
	size = gp_round_up(size, page);
	if (!c->device->ops->map(c->device, addr, size, page))
		return GP_OUT_OF_MEMORY;
	/* Whether address space is left after it, which later requests could
	 * find. */
	expandable_note_range(c, addr + size + 1 - b->segment->addr,
			      addr + size <
				      b->segment->addr + b->segment->size);
	free_list_remove_unmapped(b->list, b);
	b->is_mapped = true;
	if (size < b->size)
		split_unmapped(c, b, size);
	caching_merge(c, b, b->prev);
	caching_merge(c, b, b->next);
	caching_insert_free(b);
	c->stats.num_device_alloc++;
	counter_reserve(c, b->list->pool, size);
	caching_act(c, GP_SEGMENT_MAP, b, addr, size);
	return GP_SERVED;
}

enum gp_answer expandable_obtain(struct caching *c,
				 const struct request *request,
				 struct block **found)
{
	uint64_t want = request->rounded;
	struct block *b = find_run(c, request);
	enum gp_answer answer = GP_SERVED;

	if (!b)
		return GP_OUT_OF_MEMORY;
	if (!b->is_mapped)
		answer = map_block(c, b, gp_smaller(b->size, want));
	while (answer == GP_SERVED && b->size < want) {
		uint64_t missing = want - b->size;

		b = b->next;
		/* The reservation may be smaller than the request. */
		if (!b || b->is_mapped)
			return GP_OUT_OF_MEMORY;
		answer = map_block(c, b, gp_smaller(missing, b->size));
	}
	if (answer != GP_SERVED)
		return answer;
	free_list_remove(b->list, b);
	*found = b;
	return GP_SERVED;
}

static void split_front(struct caching *c, struct block *b, uint64_t start)
{
	struct block *front = caching_part(c, b, b->addr, start - b->addr);

	front->prev = b->prev;
	front->next = b;
	if (front->prev)
		front->prev->next = front;
	b->prev = front;
	b->size -= front->size;
	b->addr = start;
	caching_insert_free(front);
}

static void split_back(struct caching *c, struct block *b, uint64_t stop)
{
	struct block *back = caching_part(c, b, stop, b->addr + b->size - stop);

	back->prev = b;
	back->next = b->next;
	if (back->next)
		back->next->prev = back;
	b->next = back;
	b->size = stop - b->addr;
	caching_insert_free(back);
}

/* The range of whole pages within a block; false: there is none. */
static bool pages_inside(const struct block *b, uint64_t *start, uint64_t *stop)
{
	const struct expandable_segment *segment = b->segment;
	uint64_t offset = b->addr - segment->addr;

	*start = segment->addr + gp_round_up(offset, segment->page);
	*stop = segment->addr +
		(offset + b->size) / segment->page * segment->page;
	return *start < *stop;
}

enum gp_answer expandable_unmap(struct caching *c, struct block *b)
{
	struct caching_pool *pool = b->list->pool;
	uint64_t start, stop, size;

	if (!pages_inside(b, &start, &stop))
		return GP_SERVED;
	if (pool_is_private(pool) && pool->pair->malloc_count <= 0)
		return caching_refuse(c, "cudaMalloc_count > 0 INTERNAL "
					 "ASSERT FAILED");
	size = stop - start;
	c->device->ops->unmap(c->device, start, size, b->segment->page);
	free_list_remove(b->list, b);
	if (b->addr < start)
		split_front(c, b, start);
	if (stop < b->addr + b->size)
		split_back(c, b, stop);
	b->is_mapped = false;
	caching_merge(c, b, b->prev);
	caching_merge(c, b, b->next);
	free_list_insert_unmapped(b->list, b);
	pool->pair->malloc_count--;
	c->stats.num_device_free++;
	counter_unreserve(c, pool, size);
	caching_act(c, GP_SEGMENT_UNMAP, b, start, size);
	if (!block_is_split(b))
		drop_segment(c, b);
	return GP_SERVED;
}
