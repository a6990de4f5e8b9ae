/* SPDX-License-Identifier: MIT */
/* Interned texts: FNV-1a, open addressing, at most half full. */
#include "base/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct gp_intern_slot {
	uint32_t hash;
	uint32_t number; /* plus one; 0: free */
	size_t length;
};

static uint32_t hash_of(const struct gp_intern *intern, const char *text,
			size_t length)
{
	uint32_t hash = 2166136261u ^ intern->seed;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 16777619u;
	return hash ^ hash >> 15;
}

static void grow(struct gp_intern *intern)
{
	struct gp_intern_slot *old = intern->slots;
	size_t old_room = intern->slots_room, i, at;

	intern->slots_room = old_room ? old_room * 2 : 64;
	intern->slots = gp_mem_alloc(intern->slots_room, sizeof(*old));
	/* As in map.c: no file can have texts of one hash. */
	if (!old)
		intern->seed = (uint32_t)gp_hash64((uintptr_t)intern->slots);
	for (i = 0; i < old_room; i++) {
		if (!old[i].number)
			continue;
		at = old[i].hash & (intern->slots_room - 1);
		while (intern->slots[at].number)
			at = (at + 1) & (intern->slots_room - 1);
		intern->slots[at] = old[i];
	}
	free(old);
}

static uint32_t add(struct gp_intern *intern, const char *text, size_t length)
{
	GP_GROW(intern->texts, intern->count + 1, intern->texts_room);
	intern->texts[intern->count] =
		gp_arena_text(&intern->arena, text, length);
	return (uint32_t)++intern->count;
}

/* The text's slot, or the free one where it belongs. */
static struct gp_intern_slot *find(const struct gp_intern *intern,
				   uint32_t hash, const char *text,
				   size_t length)
{
	size_t at = hash & (intern->slots_room - 1);

	for (;; at = (at + 1) & (intern->slots_room - 1)) {
		struct gp_intern_slot *slot = &intern->slots[at];

		if (!slot->number ||
		    (slot->hash == hash && slot->length == length &&
		     !memcmp(intern->texts[slot->number - 1], text, length)))
			return slot;
	}
}

uint32_t gp_intern(struct gp_intern *intern, const char *text, size_t length)
{
	struct gp_intern_slot *slot;
	uint32_t hash;

	if (intern->count >= intern->slots_room / 2)
		grow(intern);
	hash = hash_of(intern, text, length);
	slot = find(intern, hash, text, length);
	if (!slot->number)
		*slot = (struct gp_intern_slot){ hash,
						 add(intern, text, length),
						 length };
	return slot->number - 1;
}

uint32_t gp_intern_find(const struct gp_intern *intern, const char *text,
			size_t length)
{
	if (!intern->slots_room)
		return GP_INTERN_NONE;
	/* A free slot has number 0, so the result is GP_INTERN_NONE. */
	return find(intern, hash_of(intern, text, length), text, length)
		       ->number -
	       1;
}

void gp_intern_release(struct gp_intern *intern)
{
	gp_arena_release(&intern->arena);
	free(intern->texts);
	free(intern->slots);
	*intern = (struct gp_intern){ 0 };
}
