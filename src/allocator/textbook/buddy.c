/* SPDX-License-Identifier: MIT */
/*
 * The buddy system: Knowlton, A Fast Storage Allocator, 1965; Knuth, The Art of
 * Computer Programming 1, 2.5, algorithms R and S. Block sizes are powers of
 * two of at least 512 bytes, and blocks are aligned to their size. A block is
 * halved until it is just large enough, and merged with its buddy when both are
 * free.
 *
 * The initial free block covers the whole address range. A page gets memory
 * when a block that overlaps it is first allocated, and keeps it until trim
 * finds it free: reserved memory is what blocks have touched.
 */
#include <stdlib.h>
#include <string.h>

#include "allocator/textbook/sbrk_heap.h"
#include "allocator/textbook/textbook.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/sorted.h"

#define LEAST 9 /* 512 bytes */
#define MOST  48
#define PAGE  21 /* order of a page */

/* A free block in the free list of its order. */
struct node {
	uint64_t at; /* offset from base */
	uint32_t before, next;
	unsigned order;
};

/* A range of offsets from base. */
struct run {
	uint64_t at, end;
};

struct buddy {
	const struct gp_memory *memory;
	uint64_t base;
	unsigned top;	    /* order of the initial block */
	struct node *nodes; /* index 0 is not used */
	size_t count, room;
	uint32_t spare, first[MOST];
	struct gp_map by_place; /* free blocks: offset to node */
	struct run *runs;	/* mapped ranges of pages, by address */
	size_t run_count, run_room;
};

static void add(struct buddy *b, uint64_t at, unsigned order)
{
	uint32_t node = b->spare;

	if (node) {
		b->spare = b->nodes[node].next;
	} else {
		GP_GROW(b->nodes, b->count + 1, b->room);
		node = (uint32_t)b->count++;
	}
	b->nodes[node] = (struct node){ at, 0, b->first[order], order };
	if (b->first[order])
		b->nodes[b->first[order]].before = node;
	b->first[order] = node;
	gp_map_put(&b->by_place, at, node);
}

static void drop(struct buddy *b, uint32_t node)
{
	struct node *n = &b->nodes[node];

	gp_map_take(&b->by_place, n->at);
	if (n->next)
		b->nodes[n->next].before = n->before;
	if (n->before)
		b->nodes[n->before].next = n->next;
	else
		b->first[n->order] = n->next;
	n->next = b->spare;
	b->spare = node;
}

static void *create(const struct gp_memory *memory)
{
	struct buddy *b = gp_mem_alloc(1, sizeof(*b));
	uint64_t size = heap_reserve(memory, &b->base);

	if (!size) {
		free(b);
		return NULL;
	}
	b->memory = memory;
	b->nodes = gp_mem_grow(NULL, &b->room, 64, sizeof(*b->nodes));
	b->count = 1;
	b->top = 63U - (unsigned)__builtin_clzll(size);
	add(b, 0, b->top);
	return b;
}

static void destroy(void *self)
{
	struct buddy *b = self;

	gp_map_release(&b->by_place);
	free(b->nodes);
	free(b->runs);
	free(b);
}

/* ---- memory ---- */

/* The first run that ends after at. */
static size_t run_at(const struct buddy *b, uint64_t at)
{
	return gp_sorted_above(
		GP_SORTED(b->runs, b->run_count, struct run, end), at);
}

/* Replaces the runs [first, end) with `count` others. */
static void replace_runs(struct buddy *b, size_t first, size_t end,
			 const struct run *runs, size_t count)
{
	size_t rest = b->run_count - end;

	b->run_count = first + count + rest;
	GP_GROW(b->runs, b->run_count + 1, b->run_room);
	memmove(b->runs + first + count, b->runs + end,
		rest * sizeof(*b->runs));
	for (size_t i = 0; i < count; i++)
		b->runs[first + i] = runs[i];
}

/* Maps [at, end), which lies before the next run, and merges it with adjacent
 * runs. */
static bool map_gap(struct buddy *b, uint64_t at, uint64_t end)
{
	size_t i = run_at(b, at), first = i, last = i;
	struct run run = { at, end };

	if (!b->memory->map(b->memory->device, b->base + at, end - at))
		return false;
	if (i && b->runs[i - 1].end == at)
		run.at = b->runs[first = i - 1].at;
	if (i < b->run_count && b->runs[i].at == end) {
		run.end = b->runs[i].end;
		last = i + 1;
	}
	replace_runs(b, first, last, &run, 1);
	return true;
}

/* Maps those pages of the block that have no memory. */
static bool map(struct buddy *b, uint64_t at, uint64_t size)
{
	uint64_t end = (at + size + GP_ENGINE_PAGE - 1) >> PAGE << PAGE;

	at = at >> PAGE << PAGE;
	while (at < end) {
		size_t i = run_at(b, at);
		uint64_t stop = end;

		if (i < b->run_count && b->runs[i].at <= at) {
			at = b->runs[i].end;
			continue;
		}
		if (i < b->run_count && b->runs[i].at < end)
			stop = b->runs[i].at;
		if (!map_gap(b, at, stop))
			return false;
		at = stop;
	}
	return true;
}

/* Unmaps the part of a run that lies between at and end. */
static void unmap_part(struct buddy *b, size_t i, uint64_t at, uint64_t end)
{
	struct run run = b->runs[i], kept[2];
	size_t count = 0;

	if (run.at < at)
		kept[count++] = (struct run){ run.at, at };
	else
		at = run.at;
	if (run.end > end)
		kept[count++] = (struct run){ end, run.end };
	else
		end = run.end;
	replace_runs(b, i, i + 1, kept, count);
	b->memory->unmap(b->memory->device, b->base + at, end - at);
}

static void unmap(struct buddy *b, uint64_t at, uint64_t end)
{
	size_t i = run_at(b, at);

	while (i < b->run_count && b->runs[i].at < end) {
		unmap_part(b, i, at, end);
		i = run_at(b, at);
	}
}

/* ---- blocks ---- */

static void give(struct buddy *b, uint64_t at, unsigned order)
{
	for (; order < b->top; order++) {
		uint64_t other = at ^ UINT64_C(1) << order;
		uint32_t node = gp_map_get(&b->by_place, other);

		if (node == GP_MAP_NONE || b->nodes[node].order != order)
			break;
		drop(b, node);
		if (other < at)
			at = other;
	}
	add(b, at, order);
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct buddy *b = self;
	unsigned order = LEAST, found;
	uint64_t at;

	while (order <= b->top && UINT64_C(1) << order < ask->size)
		order++;
	for (found = order; found <= b->top && !b->first[found];)
		found++;
	if (found > b->top)
		return false;
	at = b->nodes[b->first[found]].at;
	drop(b, b->first[found]);
	while (found-- > order)
		add(b, at + (UINT64_C(1) << found), found);
	if (!map(b, at, UINT64_C(1) << order)) {
		give(b, at, order);
		return false;
	}
	*piece = (struct gp_piece){ b->base + at, UINT64_C(1) << order, order };
	return true;
}

static void release(void *self, const struct gp_piece *piece)
{
	struct buddy *b = self;

	give(b, piece->addr - b->base, (unsigned)piece->handle);
}

static void trim(void *self)
{
	struct buddy *b = self;

	for (unsigned order = PAGE; order <= b->top; order++)
		for (uint32_t n = b->first[order]; n; n = b->nodes[n].next)
			unmap(b, b->nodes[n].at,
			      b->nodes[n].at + (UINT64_C(1) << order));
}

static bool has_memory(const struct buddy *b, uint64_t at, uint64_t size)
{
	size_t i = run_at(b, at);

	return i < b->run_count && b->runs[i].at <= at &&
	       b->runs[i].end - at >= size;
}

/* The largest free block that has memory. */
static uint64_t largest_free(void *self)
{
	const struct buddy *b = self;

	for (unsigned order = b->top + 1; order-- > LEAST;) {
		uint64_t size = UINT64_C(1) << order;

		for (uint32_t n = b->first[order]; n; n = b->nodes[n].next)
			if (has_memory(b, b->nodes[n].at, size))
				return size;
	}
	return 0;
}

const struct gp_engine_table textbook_buddy = {
	.version = GP_ENGINE_VERSION,
	.name = "buddy",
	.create = create,
	.destroy = destroy,
	.alloc = alloc,
	.free = release,
	.trim = trim,
	.largest_free = largest_free,
};
