/* SPDX-License-Identifier: MIT */
/*
 * Plain values, parsed in place: numbers of up to 19 digits, ASCII strings
 * without escapes, true, false, and pairs of numbers. Everything else is left
 * to jansson.
 *
 * The window of a source is followed by zeros, at which every step stops. A
 * number that ends there may continue beyond the window, so the caller has to
 * check what follows.
 */
#ifndef FORMATS_JSON_PLAIN_H
#define FORMATS_JSON_PLAIN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gpupool/trace.h"

/* The position in the text. */
struct gp_plain {
	const unsigned char *at;
	uint64_t lines; /* line breaks passed */
};

struct gp_plain_text {
	const char *bytes;
	size_t length;
};

/* Skips white space; returns the next character. */
static inline unsigned char gp_plain_next(struct gp_plain *p)
{
	while (*p->at <= ' ' && (*p->at == ' ' || *p->at == '\n' ||
				 *p->at == '\t' || *p->at == '\r'))
		p->lines += *p->at++ == '\n';
	return *p->at;
}

/* Skips white space and that character, if it is next. */
static inline bool gp_plain_step(struct gp_plain *p, unsigned char expected)
{
	if (*p->at != expected && gp_plain_next(p) != expected)
		return false;
	p->at++;
	return true;
}

/*
 * Parses up to eight digits at once: returns how many there are, and their
 * value. A branch per digit would often be mispredicted.
 */
static inline unsigned gp_plain_digits(const unsigned char *at, uint32_t *to)
{
	const uint64_t high = UINT64_C(0x8080808080808080);
	unsigned digits = 8;
	uint64_t v, others;

	memcpy(&v, at, sizeof(v));
	v = le64toh(v) - UINT64_C(0x3030303030303030);
	others = (v | (v + UINT64_C(0x7676767676767676))) & high;
	if (others) {
		/* Moves the digits to the last of the eight places. */
		digits = (unsigned)__builtin_ctzll(others) >> 3;
		v = digits ? v << (64 - 8 * digits) : 0;
	}
	/* Adds neighbouring digits, then pairs, then groups of four. */
	v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
	*to = (uint32_t)(v * 10000 + (v >> 32));
	return digits;
}

/* At most 19 digits, which cannot overflow. */
static inline bool gp_plain_number(struct gp_plain *p, uint64_t *to)
{
	static const uint32_t powers[] = { 1,	    10,	      100,
					   1000,    10000,    100000,
					   1000000, 10000000, 100000000 };
	const unsigned char *from = p->at;
	unsigned digits;
	uint32_t part;

	*to = 0;
	do {
		digits = gp_plain_digits(p->at, &part);
		*to = *to * powers[digits] + part;
		p->at += digits;
	} while (digits == 8 && p->at - from < 20);
	return p->at > from && p->at - from < 20 &&
	       (*from != '0' || p->at == from + 1);
}

/* Sets the high bit of each byte that ends a run of plain characters: quotes,
 * backslashes, and everything except printable ASCII. Bytes above the first of
 * these may be marked wrongly. */
static inline uint64_t gp_plain_ends(uint64_t v)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t high = UINT64_C(0x8080808080808080);
	uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\';

	return (((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) |
		((v - ones * ' ') & ~v) | v | (v + ones)) &
	       high;
}

/* Skips plain characters, eight at a time. */
static inline const unsigned char *gp_plain_run(const unsigned char *at)
{
	uint64_t v, ends;

	for (;; at += sizeof(v)) {
		memcpy(&v, at, sizeof(v));
		ends = gp_plain_ends(le64toh(v));
		if (ends)
			return at + (__builtin_ctzll(ends) >> 3);
	}
}

static inline bool gp_plain_string(struct gp_plain *p, struct gp_plain_text *to)
{
	const unsigned char *from = p->at + 1;

	if (*p->at != '"')
		return false;
	p->at = gp_plain_run(from);
	*to = (struct gp_plain_text){ (const char *)from,
				      (size_t)(p->at - from) };
	return *p->at++ == '"';
}

static inline bool gp_plain_pair(struct gp_plain *p, struct gp_pool_id *to)
{
	if (!gp_plain_step(p, '['))
		return false;
	gp_plain_next(p);
	if (!gp_plain_number(p, &to->first) || !gp_plain_step(p, ','))
		return false;
	gp_plain_next(p);
	return gp_plain_number(p, &to->second) && gp_plain_step(p, ']');
}

static inline bool gp_plain_flag(struct gp_plain *p, bool *to)
{
	*to = !memcmp(p->at, "true", 4);
	if (!*to && memcmp(p->at, "false", 5) != 0)
		return false;
	p->at += *to ? 4 : 5;
	return true;
}

/* A number, as in jansson. */
struct gp_plain_value {
	bool is_integer;
	int64_t integer;
	double real;
};

/* A 64-bit integer, or a number with a fraction but no exponent. */
bool gp_plain_signed(struct gp_plain *p, struct gp_plain_value *to);

/* Skips any value that jansson would accept; false: it might not. */
bool gp_plain_skip(struct gp_plain *p);

/* Whether the text equals other; neither contains a NUL. */
static inline bool gp_plain_is(struct gp_plain_text text, const char *other)
{
	if (!text.length || *text.bytes != *other)
		return !text.length && !*other;
	return !strncmp(text.bytes, other, text.length) && !other[text.length];
}

#endif
