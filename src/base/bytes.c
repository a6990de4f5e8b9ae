/* SPDX-License-Identifier: MIT */
/* Sizes as people read and write them. */
#include "base/bytes.h"

#include <ctype.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *gp_bytes_text(uint64_t bytes, char text[GP_BYTES_TEXT])
{
	static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	double value = (double)bytes;
	size_t unit = 0;

	while (value >= 1023.95 && unit < 6) {
		value /= 1024;
		unit++;
	}
	if (!unit)
		snprintf(text, GP_BYTES_TEXT, "%u B", (unsigned)bytes);
	else
		snprintf(text, GP_BYTES_TEXT,
			 value < 99.995 ? "%.2f %s" : "%.1f %s", value,
			 units[unit]);
	return text;
}

const char *gp_bytes_change(uint64_t from, uint64_t to,
			    char text[GP_BYTES_CHANGE])
{
	if (from == to)
		return "=";
	snprintf(text, GP_BYTES_CHANGE, "%c%s", to > from ? '+' : '-',
		 GP_BYTES(to > from ? to - from : from - to));
	return text;
}

const char *gp_bytes_exact(uint64_t bytes, char text[GP_BYTES_TEXT])
{
	static const char *const units[] = { "", "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	while (bytes && bytes % 1024 == 0 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	snprintf(text, GP_BYTES_TEXT, "%" PRIu64 "%s", bytes, units[unit]);
	return text;
}

const char *gp_count_text(uint64_t count, char text[GP_COUNT_TEXT])
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu",
			      (unsigned long long)count);
	char *at = text;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*at++ = ',';
		*at++ = digits[i];
	}
	*at = 0;
	return text;
}

bool gp_count_parse(const char *text, uint64_t *count)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value = 0;
	char shown[GP_COUNT_TEXT];

	for (const char *at = text; *at; at++) {
		unsigned digit = (unsigned)(*at - '0');

		if (*at == ',')
			continue;
		if (digit > 9 || value > (UINT64_MAX - digit) / 10)
			return false;
		value = value * 10 + digit;
	}
	if (!digits ||
	    (text[digits] && strcmp(text, gp_count_text(value, shown)) != 0))
		return false;
	*count = value;
	return true;
}

/* The text after a number such as "80", "1.5", ".5" or "1e9". There is no sign,
 * no 0x and no inf. */
static const char *behind_number(const char *text, bool *is_digits)
{
	static const char digits[] = "0123456789";
	size_t whole = strspn(text, digits), part = 0, exponent;

	*is_digits = whole > 0;
	text += whole;
	if (*text == '.') {
		*is_digits = false;
		part = strspn(++text, digits);
		text += part;
	}
	if (!whole && !part)
		return NULL;
	if (*text != 'e' && *text != 'E')
		return text;
	exponent = 1 + (text[1] == '+' || text[1] == '-');
	if (!isdigit((unsigned char)text[exponent]))
		return text;
	*is_digits = false;
	return text + exponent + strspn(text + exponent, digits);
}

/* The power of 1024 that a unit stands for, or -1. */
static int power_of(const char *unit)
{
	static const char *const units[][3] = {
		{ "", "b", "" },      { "k", "kb", "kib" },
		{ "m", "mb", "mib" }, { "g", "gb", "gib" },
		{ "t", "tb", "tib" },
	};

	for (int power = 0; power < 5; power++)
		for (int i = 0; i < 3; i++)
			if (!strcasecmp(unit, units[power][i]))
				return power;
	return -1;
}

bool gp_bytes_parse(const char *text, uint64_t *bytes)
{
	bool is_digits;
	const char *unit = behind_number(text, &is_digits);
	double value;
	int power;

	if (!unit)
		return false;
	while (isspace((unsigned char)*unit))
		unit++;
	power = power_of(unit);
	if (power < 0)
		return false;
	value = ldexp(strtod(text, NULL), 10 * power);
	if (!(value < 18446744073709551616.0))
		return false;
	if (!power && value != floor(value))
		return false; /* 1.5 bytes: the unit is missing */
	/* Whole numbers above 2^53 would lose digits in a double. */
	*bytes = is_digits && !power ? strtoull(text, NULL, 10)
				     : (uint64_t)value;
	return true;
}

bool gp_percent_parse(const char *text, double *percent)
{
	bool is_digits;
	const char *unit = behind_number(text, &is_digits);

	if (!unit)
		return false;
	*percent = strtod(text, NULL);
	while (isspace((unsigned char)*unit))
		unit++;
	return !strcmp(unit, "%") && isfinite(*percent);
}

uint64_t gp_percent_of(uint64_t whole, double percent)
{
	/* Two roundings may have left the result just below a whole number. */
	double part = (double)whole * percent / 100 * (1 + 4 * DBL_EPSILON);

	return part < 18446744073709551616.0 ? (uint64_t)part : UINT64_MAX;
}

bool gp_bytes_lacks_unit(const char *text)
{
	bool is_digits;
	const char *end = behind_number(text, &is_digits);

	return end && !end[strspn(end, " ")];
}
