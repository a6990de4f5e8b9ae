/* SPDX-License-Identifier: MIT */
/* The rows of the table of keys. */
#ifndef REPORT_KEYS_H
#define REPORT_KEYS_H

#include <stdbool.h>

#include "report/schema.h"

#define NULLABLE GP_KEY_NULL
#define MAYBE	 GP_KEY_MAYBE
#define LIST	 GP_KEY_LIST
#define MAP	 GP_KEY_MAP
#define ENDLESS	 GP_KEY_ENDLESS
#define ZERO	 GP_KEY_ZERO

/* An object, whose keys follow. */
#define REPORT(key, schema, words)                                             \
	{                                                                      \
		.name = key, .type = GP_KEY_NEW, .of = schema,                 \
		.sentence = words                                              \
	}
#define NEW(key, words) REPORT(key, NULL, words)
#define KEYS_END                                                               \
	{                                                                      \
		.type = GP_KEY_NEW                                             \
	}

#define KEY(key, kind, bits, words)                                            \
	{                                                                      \
		.name = key, .type = GP_KEY_##kind, .flags = bits,             \
		.sentence = words                                              \
	}
#define WORD(key, bits, choices, words)                                        \
	{                                                                      \
		.name = key, .type = GP_KEY_WORD, .flags = bits,               \
		.of = choices, .sentence = words                               \
	}

/* The same for a member of a struct, from which it is written and into which it
 * is read back (object.h). A key that may be null or absent is so if the member
 * is 0, false or NULL; with ENDLESS, if it is GP_UNLIMITED. Words are those of
 * an enum, in order. */
#define KEY_IN(owner, member, key, kind, bits, words)                          \
	{                                                                      \
		.name = key, .type = GP_KEY_##kind, .flags = bits,             \
		.sentence = words, HELD_IN(owner, member)                      \
	}
#define WORD_IN(owner, member, key, bits, choices, words)                      \
	{                                                                      \
		.name = key, .type = GP_KEY_WORD, .flags = bits,               \
		.of = choices, .sentence = words, HELD_IN(owner, member)       \
	}
#define MEASURE_IN(owner, member, measure)                                     \
	{                                                                      \
		.type = GP_KEY_MEASURE, .id = measure, HELD_IN(owner, member)  \
	}
/* The same for a value that a uint64_t (*)(const void *) computes. */
#define KEY_BY(function, key, kind, bits, words)                               \
	{                                                                      \
		.name = key, .type = GP_KEY_##kind, .flags = bits,             \
		.sentence = words, .held = GP_HELD_MADE, .number = function    \
	}
#define MEASURE_BY(function, measure)                                          \
	{                                                                      \
		.type = GP_KEY_MEASURE, .id = measure, .held = GP_HELD_MADE,   \
		.number = function                                             \
	}
/* The same for a member that is read back, but written as `function` computes
 * it. */
#define KEY_AS(function, owner, member, key, kind, bits, words)                \
	{                                                                      \
		.name = key, .type = GP_KEY_##kind, .flags = bits,             \
		.sentence = words, .number = function, HELD_IN(owner, member)  \
	}
/* The same for an object that a function writes; it receives the struct. */
#define OBJECT_BY(function, key, bits, object)                                 \
	{                                                                      \
		.name = key, .type = GP_KEY_OBJECT, .flags = bits,             \
		.of = object, .held = GP_HELD_CODE, .write = function          \
	}
#define HELD_IN(owner, member)                                                 \
	.held = HELD_AS(((struct owner *)0)->member),                          \
	.at = offsetof(struct owner, member)
#define HELD_AS(value)                                                         \
	_Generic((value),                                                      \
		uint64_t: GP_HELD_U64,                                         \
		uint32_t: GP_HELD_U32,                                         \
		uint8_t: GP_HELD_U8,                                           \
		int64_t: GP_HELD_I64,                                          \
		double: GP_HELD_REAL,                                          \
		bool: GP_HELD_BOOL,                                            \
		const char *: GP_HELD_TEXT,                                    \
		char *: sizeof(value) == sizeof(char *) ? GP_HELD_TEXT         \
							: GP_HELD_CHARS)

/* An object, described by its own sentence, or by another one. */
#define NAMED(key, bits, object, words)                                        \
	{                                                                      \
		.name = key, .type = GP_KEY_OBJECT, .flags = bits,             \
		.of = object, .sentence = words                                \
	}
#define OBJECT(key, bits, object) NAMED(key, bits, object, NULL)

/* Rows that stand for several keys. */
#define MEASURE(measure)                                                       \
	{                                                                      \
		.type = GP_KEY_MEASURE, .id = measure                          \
	}
#define SCOPE(scope, bits)                                                     \
	{                                                                      \
		.type = GP_KEY_SCOPE, .flags = bits, .id = scope               \
	}
#define KEYS_OF(object)                                                        \
	{                                                                      \
		.type = GP_KEY_KEYS_OF, .of = object                           \
	}
#define ROWS(table)                                                            \
	{                                                                      \
		.type = table                                                  \
	}

/* ---- functions that write keys ---- */

/* src/report/sweep_json.c; for a struct gp_sweep_report_entry */
void keys_write_alike(struct gp_emit *json, const struct gp_key *key,
		      const void *entry);

/* src/report/object.c; an object with members of the same struct. */
void gp_emit_same(struct gp_emit *json, const struct gp_key *key,
		  const void *value);

/* ---- the table ---- */

/* In this order. */
extern const struct gp_key keys_of_runs[], keys_of_advice[], keys_of_changes[];
extern const struct gp_key *const keys_of_runs_end, *const keys_of_advice_end;

#endif
