/* SPDX-License-Identifier: MIT */
/* Differences as people read them. */
#include "report/change_words.h"

#include <stdio.h>

const char *const gp_fate_words[] = {
	[GP_SHARE_STAYED] = "stayed",
	[GP_SHARE_MOVED] = "moved",
	[GP_SHARE_NEW] = "new",
	[GP_SHARE_GONE] = "gone",
};

const char *gp_signed_text(uint64_t a, uint64_t b, char text[GP_SIGNED_TEXT])
{
	char bytes[GP_BYTES_TEXT];

	if (a == b)
		return "=";
	snprintf(text, GP_SIGNED_TEXT, "%c%s", b > a ? '+' : '-',
		 gp_bytes_text(a > b ? a - b : b - a, bytes));
	return text;
}

/* Powers of two need no digits behind the point. */
static void power_text(uint64_t bytes, char *text, size_t size)
{
	static const char *const units[] = { "B",   "KiB", "MiB", "GiB",
					     "TiB", "PiB", "EiB" };
	unsigned unit = 0;

	while (bytes >= 1024) {
		bytes >>= 10;
		unit++;
	}
	snprintf(text, size, "%u %s", (unsigned)bytes, units[unit]);
}

const char *gp_class_text(uint64_t floor, char text[GP_CLASS_TEXT])
{
	char from[24], to[24] = "more";

	power_text(floor, from, sizeof(from));
	if (floor < UINT64_C(1) << 63)
		power_text(floor * 2, to, sizeof(to));
	snprintf(text, GP_CLASS_TEXT, "%s to %s", from, to);
	return text;
}
