/* SPDX-License-Identifier: MIT */
/*
 * Objects of reports by the table of their keys: written from a struct, and
 * read back into one.  A key that the table says to lie in the struct
 * (keys.h, KEY_IN) needs no other code.
 */
#ifndef REPORT_OBJECT_H
#define REPORT_OBJECT_H

#include <jansson.h>
#include <stddef.h>

#include "base/arena.h"
#include "report/emit.h"

/* Writes the keys that are members of the struct, in the table's order. */
void gp_emit_keys(struct gp_emit *json, const char *object, const void *value);
/* Writes an object that has no other keys; value NULL: null. */
void gp_emit_object(struct gp_emit *json, const char *key, const char *object,
		    const void *value, enum gp_emit_shape shape);
/* Writes a list of such objects, one on each line, from structs of that size.
 */
void gp_emit_objects(struct gp_emit *json, const char *key, const char *object,
		     const void *values, size_t count, size_t size);

/* Reads into *value, texts into the arena; members that the table does not have
 * stay as they are. Returns the key that is missing or of another type; NULL:
 * none is. */
const char *gp_object_read(const json_t *json, const char *object, void *value,
			   struct gp_arena *arena);

#endif
