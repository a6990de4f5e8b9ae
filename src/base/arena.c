/* SPDX-License-Identifier: MIT */
/* An arena: a list of chunks of at least CHUNK_BYTES each; if memory is exact
 * (base/mem.h), each allocation has a chunk of its own. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"

#define CHUNK_BYTES (GP_MEM_IS_EXACT ? 0 : 16384)

struct gp_arena_chunk {
	struct gp_arena_chunk *next;
	void *adopted; /* malloc's; or NULL and the bytes are here */
	max_align_t bytes[];
};

static struct gp_arena_chunk *push(struct gp_arena *arena, size_t bytes)
{
	struct gp_arena_chunk *chunk = gp_mem_alloc(1, sizeof(*chunk) + bytes);

	chunk->next = arena->chunks;
	arena->chunks = chunk;
	return chunk;
}

/* Adds a chunk after the newest one, which is still being filled. */
static void push_behind(struct gp_arena *arena, void *memory)
{
	struct gp_arena_chunk *chunk = gp_mem_alloc(1, sizeof(*chunk));
	struct gp_arena_chunk **at = &arena->chunks;

	if (*at)
		at = &(*at)->next;
	chunk->adopted = memory;
	chunk->next = *at;
	*at = chunk;
}

void *gp_arena_alloc(struct gp_arena *arena, size_t n, size_t size)
{
	const size_t align = sizeof(max_align_t);
	size_t bytes;
	char *at;

	if (size && n > (SIZE_MAX / 2 - align) / size)
		return gp_mem_alloc(n, size); /* ends the run */
	bytes = GP_MEM_IS_EXACT ? n * size : gp_round_up(n * size, align);
	if (!arena->chunks || bytes > arena->room - arena->used) {
		arena->room = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
		arena->used = 0;
		push(arena, arena->room);
	}
	at = (char *)arena->chunks->bytes + arena->used;
	arena->used += bytes;
	return at;
}

char *gp_arena_text(struct gp_arena *arena, const char *text, size_t length)
{
	char *copy = gp_arena_alloc(arena, length + 1, 1);

	memcpy(copy, text, length);
	return copy;
}

void gp_arena_adopt(struct gp_arena *arena, void *memory)
{
	if (!arena->chunks) { /* the newest must be one of our own */
		arena->room = arena->used = 0;
		push(arena, 0);
	}
	push_behind(arena, memory);
}

void gp_arena_release(struct gp_arena *arena)
{
	struct gp_arena_chunk *chunk = arena->chunks, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		free(chunk->adopted);
		free(chunk);
	}
	*arena = (struct gp_arena){ 0 };
}
