/* SPDX-License-Identifier: MIT */
/*
 * A bump arena (also "region" or "pool"): blocks are placed one after the
 * other, and nothing is reused before the arena is reset, as in
 * std::pmr::monotonic_buffer_resource, whose buffers also double in size.
 *
 * It is reset at marks of the trace, such as steps, and by empty_cache. A real
 * arena may only be reset when nothing in it is in use; here this is decided
 * per buffer, so blocks that live across steps keep their buffers.
 */
#include <stdlib.h>

#include "allocator/textbook/sbrk_heap.h"
#include "allocator/textbook/textbook.h"
#include "base/larger.h"
#include "base/mem.h"

#define FIRST_BUFFER (UINT64_C(20) << 20)
#define LAST_BUFFER  (UINT64_C(1) << 30) /* no growth beyond this */

struct buffer {
	uint64_t addr, size, used;
	uint64_t live; /* blocks */
};

struct arena {
	const struct gp_memory *memory;
	struct buffer *buffers; /* in order of use */
	size_t count, room;
	size_t current; /* the one in use */
	uint64_t next;	/* size of the next buffer */
};

static void *create(const struct gp_memory *memory)
{
	struct arena *a = gp_mem_alloc(1, sizeof(*a));

	a->memory = memory;
	a->next = FIRST_BUFFER;
	return a;
}

static void destroy(void *self)
{
	struct arena *a = self;

	free(a->buffers);
	free(a);
}

static bool add_buffer(struct arena *a, uint64_t size)
{
	struct buffer buffer = { .size = size > a->next ? size : a->next };

	buffer.size = gp_round_up(buffer.size, GP_ENGINE_PAGE);
	if (!a->memory->malloc(a->memory->device, buffer.size, &buffer.addr))
		return false;
	GP_GROW(a->buffers, a->count + 1, a->room);
	a->buffers[a->count++] = buffer;
	if (a->next < LAST_BUFFER)
		a->next *= 2;
	return true;
}

/* Finds room in the current buffer or a later one; buffers that are skipped are
 * not used again before the next mark. */
static bool find(struct arena *a, uint64_t size)
{
	for (; a->current < a->count; a->current++)
		if (a->buffers[a->current].size - a->buffers[a->current].used >=
		    size)
			return true;
	return add_buffer(a, size);
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct arena *a = self;
	uint64_t size = heap_round(ask->size);
	struct buffer *buffer;

	if (ask->size > HEAP_ADDRESSES || !find(a, size))
		return false;
	buffer = &a->buffers[a->current];
	*piece = (struct gp_piece){ buffer->addr + buffer->used, size, 0 };
	buffer->used += size;
	buffer->live++;
	return true;
}

/* Most frees are of recent blocks: the search for the buffer starts at the
 * current one and goes backwards, wrapping around. */
static void release(void *self, const struct gp_piece *piece)
{
	struct arena *a = self;
	size_t i = a->current < a->count ? a->current : a->count - 1;

	while (piece->addr - a->buffers[i].addr >= a->buffers[i].size)
		i = i ? i - 1 : a->count - 1;
	a->buffers[i].live--;
}

static void reset(void *self, const char *name)
{
	struct arena *a = self;

	(void)name;
	a->current = 0;
	for (size_t i = 0; i < a->count; i++)
		if (!a->buffers[i].live)
			a->buffers[i].used = 0;
}

/* Releases empty buffers. */
static void trim(void *self)
{
	struct arena *a = self;
	size_t kept = 0;

	for (size_t i = 0; i < a->count; i++) {
		if (a->buffers[i].live)
			a->buffers[kept++] = a->buffers[i];
		else
			a->memory->free(a->memory->device, a->buffers[i].addr);
	}
	a->count = kept;
	a->current = 0;
	if (!kept)
		a->next = FIRST_BUFFER;
}

static uint64_t largest_free(void *self)
{
	const struct arena *a = self;
	uint64_t largest = 0;

	for (size_t i = 0; i < a->count; i++)
		if (a->buffers[i].size - a->buffers[i].used > largest)
			largest = a->buffers[i].size - a->buffers[i].used;
	return largest;
}

const struct gp_engine_table textbook_arena = {
	.version = GP_ENGINE_VERSION,
	.name = "arena",
	.create = create,
	.destroy = destroy,
	.alloc = alloc,
	.free = release,
	.trim = trim,
	.mark = reset,
	.largest_free = largest_free,
};
