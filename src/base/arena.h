/* SPDX-License-Identifier: MIT */
/*
 * An arena: many allocations that are freed together.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct gp_arena {
	struct gp_arena_chunk *chunks; /* the newest first */
	size_t used, room;	       /* bytes of the newest */
};

/* Zeroed and aligned for any type; valid until the release. */
void *gp_arena_alloc(struct gp_arena *arena, size_t n, size_t size);
char *gp_arena_text(struct gp_arena *arena, const char *text, size_t length);

/* Takes ownership of memory from malloc, which is freed with the rest. */
void gp_arena_adopt(struct gp_arena *arena, void *memory);

void gp_arena_release(struct gp_arena *arena);

#endif
