/* SPDX-License-Identifier: MIT */
/*
 * The outer structure of a JSON text of any size: walks over objects and lists,
 * cuts out single values for jansson to parse, and skips the rest.
 *
 * Memory is bounded by the largest value that is cut out (at most 16 MiB).
 * Nesting is counted instead of recursed into. After the first failure, all
 * later calls answer "no more".
 */
#ifndef FORMATS_JSON_SCAN_H
#define FORMATS_JSON_SCAN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"
#include "formats/json_plain.h"
#include "formats/source.h"

#define GP_JSON_KEY_ROOM 64 /* longer keys are all unknown */

struct gp_json_scan {
	struct gp_source *source; /* borrowed */
	struct gp_diag *diag;
	enum gp_status status;
	/* duplicate keys are errors; otherwise the last one counts */
	bool is_strict;
	const char *item; /* the last value cut out, until the source moves */
	size_t length;
	char *kept; /* its storage, if it is not in the window */
	size_t room;
	uint64_t start; /* offset of the value */
	uint64_t line;	/* line breaks passed */
};

/* One object or list being walked. */
struct gp_json_walk {
	char close;
	bool has_begun;
};

void gp_json_scan_init(struct gp_json_scan *scan, struct gp_source *source,
		       struct gp_diag *diag);
void gp_json_scan_release(struct gp_json_scan *scan);

/*
 * The position of the next value, for parsing plain values in place; NULL after
 * a failure, or if everything is to be parsed by jansson. The window then
 * extends some KiB further, if the text does, so that few values cross its end.
 */
const unsigned char *gp_json_ahead(struct gp_json_scan *scan);

/* The end of the value that begins at `at`, if it can be used unchanged; NULL:
 * it has to be cut out, or the window ends first. */
const unsigned char *gp_json_past(const struct gp_json_scan *scan,
				  const unsigned char *at);

/* Skips white space; returns the next character, or -1 at the end of the
 * text. */
int gp_json_peek(struct gp_json_scan *scan);

/* Enters the object or list whose '{' or '[' must be next. */
bool gp_json_enter(struct gp_json_scan *scan, char open,
		   struct gp_json_walk *walk);
/* Advances to the next item; false after the last one, and on failure. */
bool gp_json_next(struct gp_json_scan *scan, struct gp_json_walk *walk);
bool gp_json_next_key(struct gp_json_scan *scan, struct gp_json_walk *walk,
		      char key[GP_JSON_KEY_ROOM]);

/*
 * The next value; NULL on failure. Integers from 2^63 to 2^64 - 1, which
 * jansson cannot represent, become strings: GP_JSON_WIDE followed by the
 * digits. The caller releases it with json_decref.
 */
#define GP_JSON_WIDE '\x7f'
json_t *gp_json_value(struct gp_json_scan *scan);

/* The same for values that are mostly plain and then bypass jansson. */
enum gp_json_kind {
	GP_JSON_OTHER, /* or a failure */
	GP_JSON_NUMBER,
	GP_JSON_TEXT,
	GP_JSON_TRUE,
	GP_JSON_FALSE,
	GP_JSON_PAIR,
};

struct gp_json_scalar {
	enum gp_json_kind kind;
	uint64_t number;
	struct gp_pool_id pair;
	/* up to a NUL; valid until the source moves, or json is released */
	struct gp_plain_text text;
	json_t *json; /* NULL: plain; else owned by the caller */
};

void gp_json_scalar(struct gp_json_scan *scan, struct gp_json_scalar *to);
/* Parses a plain value; false: it is not plain. */
bool gp_json_plain_scalar(struct gp_plain *p, struct gp_json_scalar *to);
/* Converts jansson's value, which *to then owns; NULL stands for a failure. */
void gp_json_scalar_of(json_t *json, struct gp_json_scalar *to);
/* The same in two steps: cuts out the text into item and length; then parses
 * it. */
bool gp_json_cut(struct gp_json_scan *scan);
json_t *gp_json_parse(struct gp_json_scan *scan);
void gp_json_skip(struct gp_json_scan *scan);

/* Fails unless only white space is left. */
void gp_json_expect_end(struct gp_json_scan *scan);

/*
 * The meaning of jansson's values. Each returns false for other values, which
 * gp_json_show describes for a message.
 */

/* 0 to 2^64 - 1; see GP_JSON_WIDE. */
bool gp_json_number(const json_t *value, uint64_t *number);
/* [first, second] */
bool gp_json_pool(const json_t *value, struct gp_pool_id *pool);

#define GP_JSON_SHOWN 48
const char *gp_json_show(const json_t *value, char text[GP_JSON_SHOWN]);

#endif
