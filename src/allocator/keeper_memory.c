/* SPDX-License-Identifier: MIT */
/*
 * The device as a plug-in engine sees it, and the blocks in the memory obtained
 * from it. An impossible answer ends the use of the engine (keeper_fail).
 */
#include "allocator/keeper.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"

#define PAGE GP_ENGINE_PAGE

/* ---- ranges by address ---- */

/* The first range that ends after addr. */
static size_t find(const struct keeper_spans *spans, uint64_t addr)
{
	size_t low = 0, high = spans->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct keeper_span *span = &spans->items[middle];

		if (span->addr + span->size <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct keeper_spans *spans, size_t at,
		   struct keeper_span span)
{
	GP_INSERT(spans->items, spans->count, spans->room, at);
	spans->items[at] = span;
}

static bool covers(const struct keeper_span *span, uint64_t addr, uint64_t size)
{
	return addr >= span->addr && size <= span->size &&
	       addr - span->addr <= span->size - size;
}

/* The range that contains [addr, addr + size); NULL: there is none. */
static struct keeper_span *around(const struct keeper_spans *spans,
				  uint64_t addr, uint64_t size)
{
	size_t at = find(spans, addr);

	return at < spans->count && covers(&spans->items[at], addr, size)
		       ? &spans->items[at]
		       : NULL;
}

/* ---- blocks by address ---- */

/* The first live block that ends after addr, as an index into live. */
static size_t find_live(const struct keeper *l, uint64_t addr)
{
	size_t low = 0, high = l->live_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gp_piece *p = &l->blocks[l->live[middle]].piece;

		if (p->addr + p->size <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct gp_piece *live_within(const struct keeper *l, uint64_t addr,
					  uint64_t size)
{
	size_t at = find_live(l, addr);
	const struct gp_piece *p;

	if (at == l->live_count)
		return NULL;
	p = &l->blocks[l->live[at]].piece;
	return p->addr < addr + size ? p : NULL;
}

static bool is_possible(struct keeper *l, const struct keeper_block *b)
{
	const struct gp_piece *p = &b->piece, *other;

	if (p->size < b->requested) {
		keeper_fail(l, "it says that the block has %" PRIu64 " bytes",
			    p->size);
		return false;
	}
	if (!l->is_checked)
		return true;
	if (!around(&l->memory, p->addr, p->size)) {
		keeper_fail(l,
			    "0x%" PRIx64 " to 0x%" PRIx64 " is not memory "
			    "that it took from the device",
			    p->addr, p->addr + p->size);
		return false;
	}
	other = live_within(l, p->addr, p->size);
	if (!other)
		return true;
	keeper_fail(l,
		    "%" PRIu64 " bytes at 0x%" PRIx64 " overlap a block "
		    "of %" PRIu64 " at 0x%" PRIx64 " that is in use",
		    p->size, p->addr, other->size, other->addr);
	return false;
}

bool keeper_place(struct keeper *l, uint32_t id)
{
	const struct keeper_block *b = &l->blocks[id];
	size_t at;

	if (!is_possible(l, b))
		return false;
	if (!l->is_checked)
		return true;
	at = find_live(l, b->piece.addr);
	GP_INSERT(l->live, l->live_count, l->live_room, at);
	l->live[at] = id;
	return true;
}

void keeper_displace(struct keeper *l, uint32_t id)
{
	size_t at;

	if (!l->is_checked)
		return;
	at = find_live(l, l->blocks[id].piece.addr);
	GP_REMOVE(l->live, l->live_count, at);
}

/* ---- the device ---- */

static bool has_room(const struct keeper *l, uint64_t size)
{
	uint64_t now = (uint64_t)l->levels[GP_STAT_RESERVED_BYTES].peak;

	return l->limit == GP_UNLIMITED ||
	       (now <= l->limit && size <= l->limit - now);
}

static bool memory_malloc(void *device, uint64_t size, uint64_t *addr)
{
	const struct keeper_heap *heap = device;
	struct keeper *l = heap->keeper;
	struct gp_device *from = l->config.device;

	if (keeper_is_broken(l) || !has_room(l, size))
		return false;
	if (!size) {
		keeper_fail(l, "it asks the device for 0 bytes");
		return false;
	}
	if (!from->ops->malloc(from, size, addr))
		return false;
	insert(&l->memory, find(&l->memory, *addr),
	       (struct keeper_span){ *addr, size, heap->index, false });
	l->stats.num_device_alloc++;
	keeper_count(l, GP_STAT_SEGMENT, 1);
	keeper_count(l, GP_STAT_RESERVED_BYTES, (int64_t)size);
	keeper_act(l, GP_SEGMENT_ALLOC, heap, GP_NO_ID, *addr, size);
	return true;
}

/* Whether the range may be released: no block in use overlaps it. */
static bool is_unused(struct keeper *l, uint64_t addr, uint64_t size)
{
	const struct gp_piece *p =
		l->is_checked ? live_within(l, addr, size) : NULL;

	if (p)
		keeper_fail(l,
			    "it releases memory with a block of %" PRIu64
			    " bytes at 0x%" PRIx64 " that is in use",
			    p->size, p->addr);
	return !p;
}

static void memory_free(void *device, uint64_t addr)
{
	const struct keeper_heap *heap = device;
	struct keeper *l = heap->keeper;
	struct gp_device *to = l->config.device;
	size_t at = find(&l->memory, addr);
	struct keeper_span span;

	if (keeper_is_broken(l))
		return;
	if (at == l->memory.count || l->memory.items[at].addr != addr ||
	    l->memory.items[at].is_mapped) {
		keeper_fail(l,
			    "it releases 0x%" PRIx64
			    ", which it did not get from the device",
			    addr);
		return;
	}
	span = l->memory.items[at];
	if (!is_unused(l, addr, span.size))
		return;
	GP_REMOVE(l->memory.items, l->memory.count, at);
	to->ops->free(to, addr, span.size);
	l->stats.num_device_free++;
	keeper_count(l, GP_STAT_SEGMENT, -1);
	keeper_count(l, GP_STAT_RESERVED_BYTES, -(int64_t)span.size);
	keeper_act(l, GP_SEGMENT_FREE, heap, GP_NO_ID, addr, span.size);
}

static bool memory_reserve(void *device, uint64_t size, uint64_t *addr)
{
	const struct keeper_heap *heap = device;
	struct keeper *l = heap->keeper;
	struct gp_device *from = l->config.device;

	if (keeper_is_broken(l) || !from->ops->reserve(from, size, addr))
		return false;
	insert(&l->reserved, find(&l->reserved, *addr),
	       (struct keeper_span){ *addr, size, heap->index, false });
	return true;
}

static bool are_pages(struct keeper *l, uint64_t addr, uint64_t size)
{
	if (size && addr % PAGE == 0 && size % PAGE == 0 &&
	    around(&l->reserved, addr, size))
		return true;
	keeper_fail(l,
		    "%" PRIu64 " bytes at 0x%" PRIx64
		    " are not whole pages of addresses that it reserved",
		    size, addr);
	return false;
}

/* Adds a range, merged with adjacent ranges of the same reservation. */
static void join(struct keeper *l, struct keeper_span span)
{
	size_t at = find(&l->memory, span.addr);
	struct keeper_span *before = at ? &l->memory.items[at - 1] : NULL;
	struct keeper_span *next =
		at < l->memory.count ? &l->memory.items[at] : NULL;

	if (before && before->is_mapped && before->heap == span.heap &&
	    before->addr + before->size == span.addr) {
		before->size += span.size;
		if (next && next->is_mapped && next->heap == span.heap &&
		    next->addr == before->addr + before->size) {
			before->size += next->size;
			GP_REMOVE(l->memory.items, l->memory.count, at);
			keeper_count(l, GP_STAT_SEGMENT, -1);
		}
	} else if (next && next->is_mapped && next->heap == span.heap &&
		   span.addr + span.size == next->addr) {
		next->addr = span.addr;
		next->size += span.size;
	} else {
		insert(&l->memory, at, span);
		keeper_count(l, GP_STAT_SEGMENT, 1);
	}
}

static bool memory_map(void *device, uint64_t addr, uint64_t size)
{
	const struct keeper_heap *heap = device;
	struct keeper *l = heap->keeper;
	struct gp_device *from = l->config.device;
	size_t at = find(&l->memory, addr);

	if (keeper_is_broken(l) || !are_pages(l, addr, size) ||
	    !has_room(l, size))
		return false;
	if (at < l->memory.count && l->memory.items[at].addr < addr + size) {
		keeper_fail(l, "0x%" PRIx64 " has memory already", addr);
		return false;
	}
	if (!from->ops->map(from, addr, size, PAGE))
		return false;
	join(l, (struct keeper_span){ addr, size, heap->index, true });
	l->stats.num_device_alloc++;
	keeper_count(l, GP_STAT_RESERVED_BYTES, (int64_t)size);
	keeper_act(l, GP_SEGMENT_MAP, heap, GP_NO_ID, addr, size);
	return true;
}

/* Removes a part of a range. */
static void cut(struct keeper *l, struct keeper_span *span, uint64_t addr,
		uint64_t size)
{
	struct keeper_span rest = *span;
	size_t at = (size_t)(span - l->memory.items);

	rest.addr = addr + size;
	rest.size = span->addr + span->size - rest.addr;
	span->size = addr - span->addr;
	if (rest.size && span->size) {
		insert(&l->memory, at + 1, rest);
		keeper_count(l, GP_STAT_SEGMENT, 1);
	} else if (rest.size) {
		*span = rest;
	} else if (!span->size) {
		GP_REMOVE(l->memory.items, l->memory.count, at);
		keeper_count(l, GP_STAT_SEGMENT, -1);
	}
}

static void memory_unmap(void *device, uint64_t addr, uint64_t size)
{
	const struct keeper_heap *heap = device;
	struct keeper *l = heap->keeper;
	struct gp_device *to = l->config.device;
	struct keeper_span *span = around(&l->memory, addr, size);

	if (keeper_is_broken(l) || !are_pages(l, addr, size))
		return;
	if (!span || !span->is_mapped) {
		keeper_fail(l, "it unmaps 0x%" PRIx64 ", which has no memory",
			    addr);
		return;
	}
	if (!is_unused(l, addr, size))
		return;
	cut(l, span, addr, size);
	to->ops->unmap(to, addr, size, PAGE);
	l->stats.num_device_free++;
	keeper_count(l, GP_STAT_RESERVED_BYTES, -(int64_t)size);
	keeper_act(l, GP_SEGMENT_UNMAP, heap, GP_NO_ID, addr, size);
}

static void memory_info(void *device, uint64_t *free_bytes,
			uint64_t *total_bytes)
{
	const struct keeper_heap *heap = device;
	struct gp_device *of = heap->keeper->config.device;

	of->ops->info(of, free_bytes, total_bytes);
	of->reach.is_size_told = true;
}

#define AMOUNT_PAGE 4096 /* bytes: the host's pages */
#define ADDRESSES   (UINT64_C(1) << 47)

static bool begin_amount(struct keeper *l)
{
	struct gp_device *from = l->config.device;
	uint64_t size = ADDRESSES, addr;

	while (size && !from->ops->reserve(from, size, &addr))
		size /= 2;
	insert(&l->reserved, 0, (struct keeper_span){ addr, size, 0, true });
	l->is_amount = true;
	return size;
}

/* Keeps a single range, which grows and shrinks at its end. */
bool keeper_hold(struct keeper *l, uint64_t bytes)
{
	struct gp_device *from = l->config.device;
	uint64_t held = (uint64_t)l->levels[GP_STAT_RESERVED_BYTES].peak;
	uint64_t size, base;
	bool is_more;

	bytes = gp_round_up(bytes, AMOUNT_PAGE);
	if (!l->heap_count || bytes == held)
		return true;
	if (!l->is_amount && !begin_amount(l))
		return false;
	base = l->reserved.items[0].addr;
	is_more = bytes > held;
	size = is_more ? bytes - held : held - bytes;
	if (is_more && (!has_room(l, size) ||
			!from->ops->map(from, base + held, size, size)))
		return false;
	if (!is_more)
		from->ops->unmap(from, base + bytes, size, size);
	l->stats.num_device_alloc += is_more;
	l->stats.num_device_free += !is_more;
	keeper_count(l, GP_STAT_SEGMENT, (bytes > 0) - (held > 0));
	keeper_count(l, GP_STAT_RESERVED_BYTES, (int64_t)bytes - (int64_t)held);
	keeper_act(l, is_more ? GP_SEGMENT_MAP : GP_SEGMENT_UNMAP, l->heaps[0],
		   GP_NO_ID, base + (is_more ? held : bytes), size);
	return true;
}

struct gp_memory keeper_memory(struct keeper_heap *heap)
{
	return (struct gp_memory){
		.device = heap,
		.malloc = memory_malloc,
		.free = memory_free,
		.reserve = memory_reserve,
		.map = memory_map,
		.unmap = memory_unmap,
		.info = memory_info,
	};
}

/* ---- segments and blocks ---- */

static size_t list_live(const struct keeper *l, struct gp_block *live)
{
	size_t count = 0;

	for (uint32_t id = 0; id < l->config.block_ids; id++) {
		const struct keeper_block *b = &l->blocks[id];

		if (b->state == GP_INACTIVE)
			continue;
		live[count++] = (struct gp_block){
			.addr = b->piece.addr,
			.size = b->piece.size,
			.requested = b->requested,
			.id = id,
			.state = b->state,
			.site = GP_NO_SITE,
		};
	}
	gp_sort(GP_SORTED(live, count, struct gp_block, addr));
	return count;
}

/* Adds a free block for the gap between `at` and the next block. */
static void put_free(struct gp_block *blocks, struct gp_segment *segment,
		     uint64_t at, uint64_t end)
{
	if (at < end)
		blocks[segment->first_block + segment->blocks++] =
			(struct gp_block){ .addr = at,
					   .size = end - at,
					   .id = GP_NO_ID,
					   .site = GP_NO_SITE };
}

/* Writes a segment's blocks and the gaps between them; returns how many of
 * `live` are in it. */
static size_t fill(struct gp_segment *segment, struct gp_block *blocks,
		   const struct gp_block *live, size_t count)
{
	uint64_t at = segment->addr, end = segment->addr + segment->size;
	size_t n = 0;

	for (; n < count && live[n].addr < end; n++) {
		put_free(blocks, segment, at, live[n].addr);
		blocks[segment->first_block + segment->blocks++] = live[n];
		at = live[n].addr + live[n].size;
	}
	put_free(blocks, segment, at, end);
	return n;
}

/* Each block is a segment of its own; all other memory held is one free
 * segment. */
static void state_of_amount(const struct keeper *l, struct gp_block *live,
			    size_t count, struct gp_state *state)
{
	struct gp_segment *segments =
		gp_mem_alloc(count + 1, sizeof(*segments));
	uint64_t rest = (uint64_t)l->levels[GP_STAT_RESERVED_BYTES].peak;
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		const struct keeper_heap *heap =
			l->heaps[l->blocks[live[i].id].heap];

		end = live[i].addr + live[i].size;
		segments[i] = (struct gp_segment){ .addr = live[i].addr,
						   .size = live[i].size,
						   .stream = heap->stream,
						   .pool = heap->pool };
		rest -= rest < live[i].size ? rest : live[i].size;
	}
	if (rest) {
		live[count] = (struct gp_block){ .addr = end,
						 .size = rest,
						 .id = GP_NO_ID,
						 .site = GP_NO_SITE };
		segments[count++] =
			(struct gp_segment){ .addr = end, .size = rest };
	}
	for (uint32_t i = 0; i < count; i++) {
		segments[i].first_block = i;
		segments[i].blocks = 1;
		segments[i].site = GP_NO_SITE;
	}
	*state = (struct gp_state){ segments, live, count, count };
}

void keeper_state(struct gp_allocator *allocator, struct gp_state *state)
{
	const struct keeper *l = (const struct keeper *)allocator;
	size_t active = (size_t)l->levels[GP_STAT_ACTIVE].peak, done = 0;
	struct gp_segment *segments =
		gp_mem_alloc(l->memory.count, sizeof(*segments));
	struct gp_block *live = gp_mem_alloc(active + 1, sizeof(*live));
	struct gp_block *blocks =
		gp_mem_alloc(2 * active + l->memory.count, sizeof(*blocks));
	uint32_t first = 0;

	list_live(l, live);
	if (l->is_amount) {
		free(segments);
		free(blocks);
		state_of_amount(l, live, active, state);
		return;
	}
	for (size_t i = 0; i < l->memory.count; i++) {
		const struct keeper_span *span = &l->memory.items[i];

		segments[i] = (struct gp_segment){
			.addr = span->addr,
			.size = span->size,
			.stream = l->heaps[span->heap]->stream,
			.pool = l->heaps[span->heap]->pool,
			.is_expandable = span->is_mapped,
			.first_block = first,
			.site = GP_NO_SITE,
		};
		done += fill(&segments[i], blocks, live + done, active - done);
		first += segments[i].blocks;
	}
	free(live);
	*state = (struct gp_state){ segments, blocks, l->memory.count, first };
}
