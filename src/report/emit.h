/* SPDX-License-Identifier: MIT */
/*
 * JSON onto a stream, one key a line, or one container on one line.
 *
 * Integers are written in full (to 2^64 - 1), ratios with six digits, so that
 * the same numbers are the same bytes everywhere.  key NULL: in an array.
 */
#ifndef REPORT_EMIT_H
#define REPORT_EMIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "report/schema.h"

struct gp_emit {
	FILE *out;
	unsigned depth;
	unsigned flat_depth; /* containers from here on share a line; 0: none */
	bool has_items;	     /* of the container being written */
};

enum gp_emit_shape { GP_EMIT_LINES, GP_EMIT_FLAT };

/* The outermost object, open, with its schema. */
struct gp_emit gp_emit_begin(const char *schema, FILE *out);

void gp_emit_open(struct gp_emit *json, const char *key, char bracket,
		  enum gp_emit_shape shape);
void gp_emit_close(struct gp_emit *json, char bracket);

void gp_emit_uint(struct gp_emit *json, const char *key, uint64_t value);
void gp_emit_int(struct gp_emit *json, const char *key, int64_t value);
void gp_emit_ratio(struct gp_emit *json, const char *key, double value);
/* As few digits as name the value: settings, which people typed. */
void gp_emit_real(struct gp_emit *json, const char *key, double value);
void gp_emit_bool(struct gp_emit *json, const char *key, bool value);
/* Bytes that are not UTF-8 become U+FFFD; NULL is null. */
void gp_emit_text(struct gp_emit *json, const char *key, const char *text);
void gp_emit_null(struct gp_emit *json, const char *key);

#endif
