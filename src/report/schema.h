/* SPDX-License-Identifier: MIT */
/* The reports that programs read: the name of their schema, whose number is
 * raised when a key changes its name or meaning, and all their keys
 * (gpupool-report(5)). */
#ifndef REPORT_SCHEMA_H
#define REPORT_SCHEMA_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/status.h"

/* What `gpupool SOMETHING --format json` writes, unless it says otherwise. */
#define GP_REPORT_FAMILY "gpupool-report/"
#define GP_REPORT_SCHEMA GP_REPORT_FAMILY "2"

/* schema: text that begins with a report's schema and may go on after a quote.
 * GP_INPUT, with a hint in diag: it is from a version of gpupool whose keys
 * have other names. */
enum gp_status gp_report_check(const char *schema, struct gp_diag *diag);

/* ---- every key of every report, described once ---- */

enum gp_key_type {
	GP_KEY_TEXT,
	GP_KEY_WORD,	/* one of those in `of` */
	GP_KEY_RELEASE, /* "2.15" */
	GP_KEY_BOOL,
	GP_KEY_BYTES,
	GP_KEY_MORE_BYTES, /* with a sign */
	GP_KEY_CAPACITY,   /* bytes, or "unlimited" */
	GP_KEY_COUNT,
	GP_KEY_INTEGER, /* with a sign */
	GP_KEY_EVENT,	/* index of a device's request */
	GP_KEY_ADDRESS,
	GP_KEY_BYTE_EVENTS,
	GP_KEY_WHOLE_US,
	GP_KEY_US,
	GP_KEY_NS,
	GP_KEY_SECONDS,
	GP_KEY_RATIO,
	GP_KEY_NUMBER,
	GP_KEY_POOL,	  /* two numbers */
	GP_KEY_RANGE,	  /* the same, each or null */
	GP_KEY_DIVISIONS, /* a number, or an object with one per interval */
	GP_KEY_OBJECT,	  /* of: its name, or the names it may have */
	GP_KEY_TYPES,
	/* Rows that stand for several keys; gp_keys_each visits those instead.
	 */
	GP_KEY_MEASURE = GP_KEY_TYPES, /* id: enum gp_measure_id */
	GP_KEY_SCOPE,		       /* id: enum gp_measure_scope */
	GP_KEY_KEYS_OF,		       /* of: the other object */
	GP_KEY_KNOBS,
	GP_KEY_GUESSES,
	GP_KEY_GAP_REASONS,
	GP_KEY_PARTS,
	GP_KEY_EVENT_KINDS,
	GP_KEY_AXES,
	GP_KEY_NEW, /* begins an object; its keys follow */
};

enum gp_key_flag {
	GP_KEY_NULL = 1,  /* may be null */
	GP_KEY_MAYBE = 2, /* may be absent */
	GP_KEY_LIST = 4,  /* a list of such values */
	GP_KEY_MAP = 8,	  /* an object with such values, under any names */
	/* Null or absent means GP_UNLIMITED; with GP_KEY_ZERO, 0 is written
	 * that way, too. */
	GP_KEY_ENDLESS = 16,
	GP_KEY_ZERO = 32,
};

/* The type of the member that a key is written from. */
enum gp_key_held {
	GP_HELD_NOWHERE, /* code writes it */
	GP_HELD_U64,
	GP_HELD_U32,
	GP_HELD_U8,
	GP_HELD_I64,
	GP_HELD_REAL,
	GP_HELD_BOOL,
	GP_HELD_TEXT,  /* a pointer; NULL: none */
	GP_HELD_CHARS, /* in the struct itself; empty: none */
	GP_HELD_MADE,  /* computed by `number`; not read back */
	GP_HELD_CODE,  /* the function `write` writes it */
};

struct gp_emit;

/* A row of the table. */
struct gp_key {
	const char *name;
	enum gp_key_type type;
	unsigned flags;
	const char *of;	      /* words or object names, separated by spaces */
	const char *sentence; /* NULL: the object's own sentence */
	int id;
	enum gp_key_held held;
	size_t at;			       /* offset in that struct */
	uint64_t (*number)(const void *value); /* NULL: the member itself */
	void (*write)(struct gp_emit *json, const struct gp_key *key,
		      const void *value);
};

/* The object after this one; for NULL, the first. NULL: there are no more.
 * Objects are rows of type GP_KEY_NEW, whose `of` is the schema of a whole
 * report, or else NULL. */
const struct gp_key *gp_key_object_after(const struct gp_key *object);
/* The object of that name, which must exist. */
const struct gp_key *gp_key_object(const char *name);
/* The object of the first name in *of, which is advanced past it. */
const struct gp_key *gp_key_object_next(const char **of);
/* Visits a row, or the keys that it stands for; GP_KEY_KEYS_OF is passed as it
 * is. */
void gp_key_visit(const struct gp_key *row,
		  void (*visit)(void *arg, const struct gp_key *key),
		  void *arg);
/* Visits all keys of the object, expanding rows that stand for several. */
void gp_keys_each(const struct gp_key *object,
		  void (*visit)(void *arg, const struct gp_key *key),
		  void *arg);
const char *gp_key_sentence(const struct gp_key *key);
/* A key's unit in words: "bytes; or null", "one of: ..." */
#define GP_KEY_UNIT 160
const char *gp_key_unit(const struct gp_key *key, char text[GP_KEY_UNIT]);
/* The whole table as a JSON Schema, draft 2020-12. */
void gp_key_schema(FILE *out);

#endif
