/* SPDX-License-Identifier: MIT */
/*
 * A value on the stack or in the memo of the pickle reader: 64 bits, of which
 * the low 8 say what it is and the others hold it.
 *
 * A text's low byte also says which word it is, so that keys are recognised
 * when they are first seen and never compared again.  Dicts and lists are
 * numbers of objects, so that all references to one see what becomes of it.
 */
#ifndef FORMATS_PICKLE_VALUE_H
#define FORMATS_PICKLE_VALUE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/snapshot_word.h"

enum gp_value_tag {
	GP_VALUE_UNSET,	 /* a memo entry that is not there */
	GP_VALUE_OPAQUE, /* anything else: costs nothing, means nothing */
	GP_VALUE_NONE,
	GP_VALUE_FALSE,
	GP_VALUE_TRUE,
	GP_VALUE_INT,	/* payload signed */
	GP_VALUE_WIDE,	/* an integer beyond that, a number of wides */
	GP_VALUE_FLOAT, /* payload: the high 56 bits of a double */
	GP_VALUE_PAIR,	/* two integers, a number of pairs */
	GP_VALUE_DICT,
	GP_VALUE_LIST,
	GP_VALUE_WORD = 64,  /* + enum gp_word; payload: the text's number */
	GP_VALUE_TEXT = 255, /* a text that is no word */
};
_Static_assert(GP_VALUE_WORD + GP_WORDS < GP_VALUE_TEXT, "one byte");

/* Integers of 56 bits, sign and all, fit in the payload. */
#define GP_VALUE_INT_BITS 56

static inline uint64_t gp_value(enum gp_value_tag tag, uint64_t payload)
{
	return payload << 8 | tag;
}

static inline unsigned gp_value_tag(uint64_t value)
{
	return value & 255;
}

static inline uint64_t gp_value_payload(uint64_t value)
{
	return value >> 8;
}

static inline bool gp_value_is_text(uint64_t value)
{
	return gp_value_tag(value) >= GP_VALUE_WORD;
}

/* GP_WORDS if it is none. */
static inline enum gp_word gp_value_word(uint64_t value)
{
	unsigned word = gp_value_tag(value) - GP_VALUE_WORD;

	return word < GP_WORDS ? (enum gp_word)word : GP_WORDS;
}

static inline bool gp_value_fits(int64_t integer)
{
	int64_t limit = INT64_C(1) << (GP_VALUE_INT_BITS - 1);

	return integer >= -limit && integer < limit;
}

/* An integer of 0 or more that fits: the case that is nearly every case. */
static inline bool gp_value_is_small(uint64_t value)
{
	return (value & (UINT64_C(1) << 63 | 255)) == GP_VALUE_INT;
}

#endif
