/* SPDX-License-Identifier: MIT */
/*
 * An arena: many allocations that are given back together.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct gp_arena {
	struct gp_arena_chunk *chunks; /* the newest first */
	size_t used, room;	       /* bytes of the newest */
};

/* Zeroed, aligned for any type; lives until the release. */
void *gp_arena_alloc(struct gp_arena *arena, size_t n, size_t size);
char *gp_arena_text(struct gp_arena *arena, const char *text, size_t length);

/* Takes over memory that malloc gave; it is freed with the rest. */
void gp_arena_adopt(struct gp_arena *arena, void *memory);

void gp_arena_release(struct gp_arena *arena);

#endif
