/* Sizes as people read and write them. */
#include "base/bytes.h"

#include <ctype.h>
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

bool gp_bytes_parse(const char *text, uint64_t *bytes)
{
	static const char *const units[] = { "",    "b", "k",	"kib", "m",
					     "mib", "g", "gib", "t",   "tib" };
	double value, scale = 1;
	char *end;
	size_t i;

	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	value = strtod(text, &end);
	while (isspace((unsigned char)*end))
		end++;
	for (i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (!strcasecmp(end, units[i]))
			break;
	if (i == sizeof(units) / sizeof(*units))
		return false;
	for (i /= 2; i; i--)
		scale *= 1024;
	if (!(value * scale < 18446744073709551616.0))
		return false;
	/* Whole numbers beyond 2^53 must not go through a double. */
	*bytes = *end ? (uint64_t)(value * scale) : strtoull(text, NULL, 10);
	return true;
}
