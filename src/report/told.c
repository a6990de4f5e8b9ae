/* SPDX-License-Identifier: MIT */
/* What a recording tells of itself, beside its replay. */
#include "report/told.h"

#include <stdio.h>

#include "base/bytes.h"

const char *gp_told_more(const struct gp_recorded *told, uint64_t replayed,
			 char text[GP_TOLD_TEXT])
{
	char most[GP_BYTES_TEXT], first[GP_BYTES_TEXT], used[GP_BYTES_TEXT];
	char hidden[GP_BYTES_TEXT], here[GP_BYTES_TEXT];
	int n;

	if (!told->has_reserved || told->reserved <= replayed)
		return NULL;
	n = snprintf(text, GP_TOLD_TEXT,
		     "At least %s was reserved at the peak: the recording "
		     "itself says so. Its requests come to %s, which is what "
		     "the replay's numbers are about. ",
		     gp_bytes_text(told->reserved, most),
		     gp_bytes_text(replayed, here));
	if (told->has_first)
		n += snprintf(
			text + n, GP_TOLD_TEXT - (size_t)n,
			"It began with %s reserved: %s in use, and %s free, in "
			"memory that it never shows. ",
			gp_bytes_text(told->first_reserved, first),
			gp_bytes_text(told->first_allocated, used),
			gp_bytes_text(told->first_reserved -
					      told->first_allocated,
				      hidden));
	snprintf(text + n, GP_TOLD_TEXT - (size_t)n,
		 "A recording from the start of the program tells it all.");
	return text;
}
