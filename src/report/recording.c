/* SPDX-License-Identifier: MIT */
/* What a recording tells of itself, and what it does not tell. */
#include "report/recording.h"

#include <stddef.h>
#include <stdio.h>

#include "base/bytes.h"

const char *gp_recorded_more(const struct gp_recorded *recorded,
			     uint64_t replayed, char text[GP_RECORDED_TEXT])
{
	char most[GP_BYTES_TEXT], first[GP_BYTES_TEXT], used[GP_BYTES_TEXT];
	char hidden[GP_BYTES_TEXT], here[GP_BYTES_TEXT];
	int n;

	if (!recorded->has_reserved || recorded->reserved <= replayed)
		return NULL;
	n = snprintf(text, GP_RECORDED_TEXT,
		     "At least %s was reserved at the peak: the recording "
		     "itself says so. Its requests come to %s, which is what "
		     "the replay's numbers are about. ",
		     gp_bytes_text(recorded->reserved, most),
		     gp_bytes_text(replayed, here));
	if (recorded->has_first)
		n += snprintf(
			text + n, GP_RECORDED_TEXT - (size_t)n,
			"It began with %s reserved: %s in use, and %s free, in "
			"memory that it never shows. ",
			gp_bytes_text(recorded->first_reserved, first),
			gp_bytes_text(recorded->first_allocated, used),
			gp_bytes_text(recorded->first_reserved -
					      recorded->first_allocated,
				      hidden));
	snprintf(text + n, GP_RECORDED_TEXT - (size_t)n,
		 "A recording from the start of the program tells it all.");
	return text;
}

/* ---- guesses ---- */

#define AT(member) offsetof(struct gp_guesses, member)

static const struct {
	size_t offset; /* in struct gp_guesses */
	const char *sentence;
} sentences[] = {
	{ AT(start_blocks),
	  "blocks live at the start, sized by their later free" },
	{ AT(block_slack),
	  "blocks live at the start whose end moved by up to 1 MiB" },
	{ AT(segment_order),
	  "segments there at the start, in an unknown order of age" },
	{ AT(empty_caches),
	  "empty_cache calls concluded from segments given back" },
	{ AT(late_frees),
	  "frees that waited for another stream, not known which" },
	{ AT(pool_of_segment),
	  "segments whose pool is unknown, taken as the default pool" },
	{ AT(lost_entries), "frees whose beginning is not in the recording" },
};

const char *gp_guess_sentence(const struct gp_guess_row *row)
{
	for (size_t i = 0; i < sizeof(sentences) / sizeof(*sentences); i++)
		if (sentences[i].offset == row->offset)
			return sentences[i].sentence;
	return row->name;
}

uint64_t gp_guess_count(const struct gp_guesses *guesses,
			const struct gp_guess_row *row)
{
	const char *base = (const char *)guesses;

	return *(const uint64_t *)(base + row->offset);
}

uint64_t gp_guess_total(const struct gp_guesses *guesses)
{
	size_t count;
	const struct gp_guess_row *rows = gp_guess_table(&count);
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += gp_guess_count(guesses, &rows[i]);
	return total;
}

void gp_guess_print(const struct gp_page *page,
		    const struct gp_guesses *guesses)
{
	size_t count;
	const struct gp_guess_row *rows = gp_guess_table(&count);
	char number[GP_COUNT_TEXT];

	if (!gp_guess_total(guesses))
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "Guessed, because the trace does not say:");
	for (size_t i = 0; i < count; i++) {
		uint64_t n = gp_guess_count(guesses, &rows[i]);

		if (n)
			gp_page_line(page, GP_TONE_PLAIN, 11, "%9s  %s",
				     gp_count_text(n, number),
				     gp_guess_sentence(&rows[i]));
	}
}
