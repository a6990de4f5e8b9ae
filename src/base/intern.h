/* SPDX-License-Identifier: MIT */
/*
 * Interned texts: equal texts have the same number, counted from 0.
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct gp_intern_slot;

/* Zeroed: empty. */
struct gp_intern {
	struct gp_arena arena;
	const char **texts; /* NUL-terminated; a text may contain NULs */
	size_t count, texts_room;
	struct gp_intern_slot *slots;
	size_t slots_room;
	uint32_t seed; /* of the hashes */
};

uint32_t gp_intern(struct gp_intern *intern, const char *text, size_t length);
/* The number of a text, or GP_INTERN_NONE if it is not interned. */
#define GP_INTERN_NONE UINT32_MAX
uint32_t gp_intern_find(const struct gp_intern *intern, const char *text,
			size_t length);
void gp_intern_release(struct gp_intern *intern);

#endif
