/* SPDX-License-Identifier: MIT */
/*
 * Interned texts: equal texts get one number, 0, 1, 2, ...
 */
#ifndef BASE_INTERN_H
#define BASE_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct gp_intern_slot;

/* Zeroed is empty. */
struct gp_intern {
	struct gp_arena arena;
	const char **texts; /* NUL-terminated; a text may hold NULs itself */
	size_t count, texts_room;
	struct gp_intern_slot *slots;
	size_t slots_room;
};

uint32_t gp_intern(struct gp_intern *intern, const char *text, size_t length);
/* Its number, or none where it was never interned. */
#define GP_INTERN_NONE UINT32_MAX
uint32_t gp_intern_find(const struct gp_intern *intern, const char *text,
			size_t length);
void gp_intern_release(struct gp_intern *intern);

#endif
