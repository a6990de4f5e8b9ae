/* SPDX-License-Identifier: MIT */
/*
 * Plain values, read where they stand: numbers of up to 19 digits, texts of
 * ASCII without escapes, true, false, pairs of numbers.  Anything else is left
 * to jansson.
 *
 * Behind the window of a source lie zeros, at which every step ends.  A number
 * that ends there may go on: what follows it has to be looked at.
 */
#ifndef FORMATS_JSON_PLAIN_H
#define FORMATS_JSON_PLAIN_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "gpupool/trace.h"

/* Where the reading stands. */
struct gp_plain {
	const unsigned char *at;
	uint64_t lines; /* line breaks passed */
};

struct gp_plain_text {
	const char *bytes;
	size_t length;
};

/* The next character that is not space. */
static inline unsigned char gp_plain_next(struct gp_plain *p)
{
	while (*p->at <= ' ' && (*p->at == ' ' || *p->at == '\n' ||
				 *p->at == '\t' || *p->at == '\r'))
		p->lines += *p->at++ == '\n';
	return *p->at;
}

/* Over that character, if it comes next. */
static inline bool gp_plain_step(struct gp_plain *p, unsigned char expected)
{
	if (*p->at != expected && gp_plain_next(p) != expected)
		return false;
	p->at++;
	return true;
}

/*
 * The digits that come next, eight at the most, all at once: their number and
 * how many they are.  A branch for each would not be foretold.
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
		/* Their places are those of the last of eight. */
		digits = (unsigned)__builtin_ctzll(others) >> 3;
		v = digits ? v << (64 - 8 * digits) : 0;
	}
	/* Two by two, and so on. */
	v = (v * 10 + (v >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v * 100 + (v >> 16)) & UINT64_C(0x0000ffff0000ffff);
	*to = (uint32_t)(v * 10000 + (v >> 32));
	return digits;
}

/* 19 digits at the most, which no overflow comes of. */
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

/* The high bit of each byte that ends a run of plain characters: quotes,
 * backslashes, and what is not printable ASCII.  A byte above one that ends the
 * run may have it without reason. */
static inline uint64_t gp_plain_ends(uint64_t v)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);
	const uint64_t high = UINT64_C(0x8080808080808080);
	uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\';

	return (((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) |
		((v - ones * ' ') & ~v) | v | (v + ones)) &
	       high;
}

/* The first character from there on that is not plain: eight at once. */
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

/* A number, as jansson holds it. */
struct gp_plain_value {
	bool is_integer;
	int64_t integer;
	double real;
};

/* A whole number of 64 bits, or one with a fraction; none with an exponent. */
bool gp_plain_signed(struct gp_plain *p, struct gp_plain_value *to);

/* Over any value that jansson would take; false: it may not. */
bool gp_plain_skip(struct gp_plain *p);

/* Whether it is all of other; neither holds a NUL. */
static inline bool gp_plain_is(struct gp_plain_text text, const char *other)
{
	if (!text.length || *text.bytes != *other)
		return !text.length && !*other;
	return !strncmp(text.bytes, other, text.length) && !other[text.length];
}

#endif
