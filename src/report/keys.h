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

/* An object, whose keys follow. */
#define REPORT(key, schema, words)                                             \
	{                                                                      \
		key, GP_KEY_NEW, 0, schema, words, 0                           \
	}
#define NEW(key, words)                                                        \
	{                                                                      \
		key, GP_KEY_NEW, 0, NULL, words, 0                             \
	}
#define KEYS_END                                                               \
	{                                                                      \
		NULL, GP_KEY_NEW, 0, NULL, NULL, 0                             \
	}

#define KEY(key, kind, flags, words)                                           \
	{                                                                      \
		key, GP_KEY_##kind, flags, NULL, words, 0                      \
	}
#define WORD(key, flags, choices, words)                                       \
	{                                                                      \
		key, GP_KEY_WORD, flags, choices, words, 0                     \
	}
/* Told by the object's own sentence, or by another. */
#define OBJECT(key, flags, object)                                             \
	{                                                                      \
		key, GP_KEY_OBJECT, flags, object, NULL, 0                     \
	}
#define NAMED(key, flags, object, words)                                       \
	{                                                                      \
		key, GP_KEY_OBJECT, flags, object, words, 0                    \
	}

/* Rows that stand for others. */
#define MEASURE(id)                                                            \
	{                                                                      \
		NULL, GP_KEY_MEASURE, 0, NULL, NULL, id                        \
	}
#define SCOPE(scope, flags)                                                    \
	{                                                                      \
		NULL, GP_KEY_SCOPE, flags, NULL, NULL, scope                   \
	}
#define KEYS_OF(object)                                                        \
	{                                                                      \
		NULL, GP_KEY_KEYS_OF, 0, object, NULL, 0                       \
	}
#define ROWS(table)                                                            \
	{                                                                      \
		NULL, table, 0, NULL, NULL, 0                                  \
	}

struct key_type {
	const char *json; /* JSON Schema's type */
	const char *unit; /* for a person */
	bool has_sign;
};
extern const struct key_type key_types[GP_KEY_TYPES];

/* keys_of_advice goes on behind the end of keys_of_runs. */
extern const struct gp_key keys_of_runs[], keys_of_advice[];
extern const struct gp_key *const keys_of_runs_end;

#endif
