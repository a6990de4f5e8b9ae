/* SPDX-License-Identifier: MIT */
/*
 * The outer structure of a JSON text of any size: walks objects and lists,
 * cuts out single values for jansson to parse, skips the rest.
 *
 * Memory is bounded by the largest value that is cut out (16 MiB at most),
 * nesting is counted, never recursed into.  The first failure stays: every
 * later call then answers "no more".
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

#define GP_JSON_KEY_ROOM 64 /* longer keys are none that we know */

struct gp_json_scan {
	struct gp_source *source; /* borrowed */
	struct gp_diag *diag;
	enum gp_status status;
	bool is_strict; /* no object has a key twice; others: the last holds */
	const char *item; /* the value cut out last, until the source moves */
	size_t length;
	char *kept; /* where it lies, if not in the window */
	size_t room;
	uint64_t start; /* where it stood */
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
 * Where the next value stands, for a reader of plain values; NULL behind a
 * failure, or where all is to go to jansson.  The window then holds some KiB
 * more where the text does, so that few values cross its end.
 */
const unsigned char *gp_json_ahead(struct gp_json_scan *scan);

/* Behind the value that begins there, which cutting would not change; NULL: it
 * would, or the window ends first. */
const unsigned char *gp_json_past(const struct gp_json_scan *scan,
				  const unsigned char *at);

/* The next character that is not space, or -1 at the end of the text. */
int gp_json_peek(struct gp_json_scan *scan);

/* Steps into the '{' or '[' that must come next. */
bool gp_json_enter(struct gp_json_scan *scan, char open,
		   struct gp_json_walk *walk);
/* To the next item; false behind the last one, and on a failure. */
bool gp_json_next(struct gp_json_scan *scan, struct gp_json_walk *walk);
bool gp_json_next_key(struct gp_json_scan *scan, struct gp_json_walk *walk,
		      char key[GP_JSON_KEY_ROOM]);

/*
 * The next value, whole; NULL on a failure.  Integers from 2^63 to 2^64 - 1,
 * which jansson cannot hold, arrive as strings: GP_JSON_WIDE and the digits.
 * The caller gives it back with json_decref.
 */
#define GP_JSON_WIDE '\x7f'
json_t *gp_json_value(struct gp_json_scan *scan);

/* The same, where most values are plain, which jansson then does not see. */
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
	/* Up to a NUL; until the source moves, or json goes. */
	struct gp_plain_text text;
	json_t *json; /* NULL: plain; else the caller's */
};

void gp_json_scalar(struct gp_json_scan *scan, struct gp_json_scalar *to);
/* Of a plain value; false: it is none. */
bool gp_json_plain_scalar(struct gp_plain *p, struct gp_json_scalar *to);
/* Of what jansson read, which it then holds; NULL: of a failure. */
void gp_json_scalar_of(json_t *json, struct gp_json_scalar *to);
/* The same in two steps: its text into item and length, then parsed. */
bool gp_json_cut(struct gp_json_scan *scan);
json_t *gp_json_parse(struct gp_json_scan *scan);
void gp_json_skip(struct gp_json_scan *scan);

/* Fails with record "line L, byte N": where the source stands. */
void gp_json_fail(struct gp_json_scan *scan, const char *what);
/* Fails where anything but space is left. */
void gp_json_expect_end(struct gp_json_scan *scan);

/*
 * What values of jansson mean: each answers false for anything else;
 * gp_json_show says what it was, for the message.
 */

/* 0 to 2^64 - 1; see GP_JSON_WIDE. */
bool gp_json_number(const json_t *value, uint64_t *number);
/* [first, second] */
bool gp_json_pool(const json_t *value, struct gp_pool_id *pool);

#define GP_JSON_SHOWN 48
const char *gp_json_show(const json_t *value, char text[GP_JSON_SHOWN]);

#endif
