/* SPDX-License-Identifier: MIT */
/* The rarely needed part of json_plain.h: numbers with a fraction, and skipping
 * values. */
#include "formats/json_plain.h"

#include <stdlib.h>

#define DEPTH 16 /* most nested brackets; jansson reads deeper ones */

/* larger whole numbers may not be exact doubles */
#define EXACT (UINT64_C(1) << 53)

/* Powers of ten that are exact doubles. */
static const double powers[] = { 1e0,  1e1,  1e2,  1e3,	 1e4,  1e5,  1e6,  1e7,
				 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
				 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

/*
 * The number between `from` and p, with that many digits after the point. The
 * division of two exact doubles is rounded only once, so the result is that of
 * strtod (Clinger 1990, "How to read floating point numbers accurately").
 */
static bool real_of(const struct gp_plain *p, const unsigned char *from,
		    uint64_t digits, size_t behind, double *to)
{
	char *end;

	if (p->at - from < 20 && digits <= EXACT) {
		*to = (double)digits / powers[behind];
		return true;
	}
	/* In some locales, strtod does not accept a point. */
	*to = strtod((const char *)from, &end);
	return end == (const char *)p->at;
}

bool gp_plain_signed(struct gp_plain *p, struct gp_plain_value *to)
{
	bool is_negative = *p->at == '-';
	const unsigned char *from, *point;
	uint64_t number;

	p->at += is_negative;
	from = p->at;
	if (!gp_plain_number(p, &number) || number > INT64_MAX)
		return false;
	to->is_integer = *p->at != '.';
	to->integer = is_negative ? -(int64_t)number : (int64_t)number;
	to->real = (double)to->integer;
	if (!to->is_integer) {
		point = p->at++;
		for (; *p->at >= '0' && *p->at <= '9'; p->at++)
			number = number * 10 + (*p->at - '0');
		if (p->at == point + 1 ||
		    !real_of(p, from, number, (size_t)(p->at - point - 1),
			     &to->real))
			return false;
		to->real = is_negative ? -to->real : to->real;
	}
	return *p->at != 'e' && *p->at != 'E';
}

/* Skips a string, which may contain escapes of one character. */
static bool skip_string(struct gp_plain *p)
{
	if (*p->at != '"')
		return false;
	p->at = gp_plain_run(p->at + 1);
	while (*p->at == '\\') {
		if (!p->at[1] || !strchr("\"\\/bfnrt", p->at[1]))
			return false;
		p->at = gp_plain_run(p->at + 2);
	}
	return *p->at++ == '"';
}

static bool skip_word(struct gp_plain *p, const char *word, size_t length)
{
	if (memcmp(p->at, word, length) != 0)
		return false;
	p->at += length;
	return true;
}

static bool skip_to(struct gp_plain *p, unsigned depth);

/* Skips a list or an object, starting at its bracket. */
static bool skip_items(struct gp_plain *p, unsigned depth)
{
	const bool is_object = *p->at++ == '{';
	const unsigned char close = is_object ? '}' : ']';

	if (gp_plain_step(p, close))
		return true;
	do {
		if (is_object) {
			gp_plain_next(p);
			if (!skip_string(p) || !gp_plain_step(p, ':'))
				return false;
		}
		if (!skip_to(p, depth))
			return false;
	} while (gp_plain_step(p, ','));
	return gp_plain_step(p, close);
}

static bool skip_to(struct gp_plain *p, unsigned depth)
{
	struct gp_plain_value value;

	switch (gp_plain_next(p)) {
	case '"': return skip_string(p);
	case '{':
	case '[': return depth < DEPTH && skip_items(p, depth + 1);
	case 't': return skip_word(p, "true", 4);
	case 'f': return skip_word(p, "false", 5);
	case 'n': return skip_word(p, "null", 4);
	default: return gp_plain_signed(p, &value);
	}
}

bool gp_plain_skip(struct gp_plain *p)
{
	return skip_to(p, 0);
}
