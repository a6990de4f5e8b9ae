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

/* Those keys that lie in the struct, in their order. */
void gp_emit_keys(struct gp_emit *json, const char *object, const void *value);
/* An object that has no others; value NULL: null. */
void gp_emit_object(struct gp_emit *json, const char *key, const char *object,
		    const void *value, enum gp_emit_shape shape);
/* A list of them, each on a line: of structs of that size. */
void gp_emit_objects(struct gp_emit *json, const char *key, const char *object,
		     const void *values, size_t count, size_t size);

/* Into *value, texts into the arena; what the table does not know to lie in it
 * stays.  The name of a key that is missing or not as the table has it; NULL:
 * there is none. */
const char *gp_object_read(const json_t *json, const char *object, void *value,
			   struct gp_arena *arena);

#endif
