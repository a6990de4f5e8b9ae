/* SPDX-License-Identifier: MIT */
/* Values of settings, as C++'s library reads them. */
#include "allocator/conf_values.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More address space than 9/8 of the device changes nothing. */
#define MOST_DEVICES 1e6

static enum gp_status no_number(struct gp_conf *conf, const char *function,
				const char *text)
{
	gp_diag_hint(conf->diag,
		     "PyTorch says no more; \"%.60s\" is no number, or too "
		     "large a one",
		     text);
	return gp_diag_set(conf->diag, GP_INPUT, "%s", function);
}

static enum gp_status to_unsigned(struct gp_conf *conf, const char *function,
				  const char *text, uint64_t *value)
{
	unsigned long long parsed;
	char *end;

	errno = 0;
	parsed = strtoull(text, &end, 10); /* "-1" is the largest, as there */
	if (end == text || errno)
		return no_number(conf, function, text);
	*value = parsed;
	return GP_OK;
}

enum gp_status gp_conf_unsigned(struct gp_conf *conf, const char *text,
				uint64_t *value)
{
	return to_unsigned(conf, conf->is_strict ? "stoul" : "stoull", text,
			   value);
}

enum gp_status gp_conf_integer(struct gp_conf *conf, const char *text,
			       uint64_t *value)
{
	char *end;
	long parsed;

	if (!conf->is_strict)
		return to_unsigned(conf, "stoull", text, value);
	errno = 0;
	parsed = strtol(text, &end, 10);
	if (end == text || errno || parsed < INT_MIN || parsed > INT_MAX)
		return no_number(conf, "stoi", text);
	*value = (uint64_t)parsed; /* "-1" is the largest size_t */
	return GP_OK;
}

enum gp_status gp_conf_real(struct gp_conf *conf, const char *text,
			    double *value)
{
	char *end;
	double parsed;

	errno = 0;
	parsed = strtod(text, &end);
	if (end == text || errno)
		return no_number(conf, "stod", text);
	*value = parsed;
	return GP_OK;
}

enum gp_status gp_conf_bool(struct gp_conf *conf, size_t at, const char *name,
			    bool *value)
{
	bool is_true = gp_conf_is(conf, at, "True");

	if (is_true || gp_conf_is(conf, at, "False")) {
		*value = is_true;
		return GP_OK;
	}
	gp_diag_hint(conf->diag, "%s takes True or False, written like this",
		     name);
	if (conf->is_strict)
		return gp_diag_set(conf->diag, GP_INPUT,
				   "Expected a single True/False argument for "
				   "%s",
				   name);
	return gp_diag_set(conf->diag, GP_INPUT,
			   "Expected 'True' or 'False' at index %zu in "
			   "ConfigTokenizer but got '%s'",
			   at, conf->tokens[at]);
}

static const char *skip_digits(const char *text)
{
	while (isdigit((unsigned char)*text))
		text++;
	return text;
}

/* A decimal number up to its end: no "0x", no "inf", nothing behind it. */
static bool is_decimal(const char *text, const char *end)
{
	const char *start = text += *text == '+' || *text == '-', *point;

	point = skip_digits(text);
	text = *point == '.' ? skip_digits(point + 1) : point;
	if (text - start == (*point == '.'))
		return false; /* no digit */
	if (*text == 'e' || *text == 'E') {
		text++;
		start = text += *text == '+' || *text == '-';
		text = skip_digits(text);
		if (text == start)
			return false;
	}
	return text == end;
}

bool gp_conf_reserve(const char *text, struct gp_conf_reserve *reserve)
{
	const char *end = text + strlen(text);
	bool is_gib = end != text && (end[-1] == 'G' || end[-1] == 'g');
	double value;

	if (!is_decimal(text, end - is_gib))
		return false;
	value = strtod(text, NULL);
	if (!isfinite(value) || value <= 0)
		return false;
	*reserve = (struct gp_conf_reserve){ 0 };
	if (!is_gib)
		reserve->fraction = value < MOST_DEVICES ? value : MOST_DEVICES;
	else if (value >= 0x1p34)
		reserve->bytes = UINT64_MAX; /* more than there is: no limit */
	else
		reserve->bytes = (uint64_t)(value * 0x1p30);
	if (is_gib && !reserve->bytes) /* under a byte: set, and nothing */
		reserve->fraction = DBL_MIN;
	return true;
}

bool gp_conf_is_power(uint64_t value)
{
	return value && !(value & (value - 1));
}
