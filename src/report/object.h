/* SPDX-License-Identifier: MIT */
/*
 * Objects of reports by the table of their keys: written from a struct, and
 * read back into one. A key that the table places in a struct (keys.h, KEY_IN)
 * needs no other code.
 */
#ifndef REPORT_OBJECT_H
#define REPORT_OBJECT_H

#include <jansson.h>
#include <stddef.h>

#include "base/arena.h"
#include "report/emit.h"

/* Writes the keys that are members of the struct, in the table's order. */
void gp_emit_keys(struct gp_emit *json, const char *object, const void *value);
/* Writes an object that has only such keys; value NULL: null. */
void gp_emit_object(struct gp_emit *json, const char *key, const char *object,
		    const void *value, enum gp_emit_shape shape);
/* Writes a list of such objects, one per line, from an array of structs of that
 * size. */
void gp_emit_objects(struct gp_emit *json, const char *key, const char *object,
		     const void *values, size_t count, size_t size);

/* Reads into *value, with texts in the arena; members that the table lacks keep
 * their values. Returns the key that is missing or has another type; NULL:
 * none. */
const char *gp_object_read(const json_t *json, const char *object, void *value,
			   struct gp_arena *arena);

#endif
