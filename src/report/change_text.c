/* SPDX-License-Identifier: MIT */
/* What changed between two runs, for a person. */
#include "report/change_report.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/change_parting.h"
#include "report/change_shares.h"
#include "report/change_words.h"
#include "report/head.h"
#include "report/page.h"
#include "report/ranks.h"

#define LABEL 16
#define VALUE 12
#define BAR   18 /* cells of the longest */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* ---- the sentence ---- */

static const char *part_label(const struct gp_change *change,
			      enum gp_part_id id)
{
	if (id == GP_PART_PACKING && !change->a.makeup.is_split)
		return "free";
	return gp_parts[id].label;
}

/* Parts by how much they changed, the most first. */
static void rank(const struct gp_change *change, enum gp_part_id order[])
{
	const uint64_t *a = change->a.makeup.part, *b = change->b.makeup.part;

	for (unsigned i = 0; i < GP_PARTS; i++) {
		unsigned at = i;

		for (; at && distance(a[order[at - 1]], b[order[at - 1]]) <
				     distance(a[i], b[i]);
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* "+0.9 GiB live set, +0.3 GiB packing" */
static void list_causes(const struct gp_change *change, char *text, size_t size)
{
	const uint64_t *a = change->a.makeup.part, *b = change->b.makeup.part;
	enum gp_part_id order[GP_PARTS];
	char bytes[GP_SIGNED_TEXT];
	size_t length = 0;

	*text = 0;
	rank(change, order);
	for (unsigned i = 0; i < GP_PARTS; i++) {
		enum gp_part_id id = order[i];

		if (a[id] == b[id])
			break;
		length += (size_t)snprintf(text + length, size - length,
					   "%s%s %s", length ? ", " : "",
					   gp_signed_text(a[id], b[id], bytes),
					   part_label(change, id));
	}
}

static void print_verdict(const struct gp_page *page,
			  const struct gp_change *change)
{
	uint64_t a = change->a.makeup.reserved, b = change->b.makeup.reserved;
	char bytes[GP_BYTES_TEXT], causes[512], percent[32] = "";

	list_causes(change, causes, sizeof(causes));
	if (a)
		snprintf(percent, sizeof(percent), " (%+.1f %%)",
			 ((double)b - (double)a) / (double)a * 100);
	if (a == b)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Both reserve %s at the peak%s%s.",
			     gp_bytes_text(a, bytes),
			     *causes ? ", made of other things: " : "", causes);
	else
		gp_page_line(page, b > a ? GP_TONE_BAD : GP_TONE_GOOD, 2,
			     "B reserves %s %s than A at the peak%s: %s.",
			     gp_bytes_text(distance(a, b), bytes),
			     b > a ? "more" : "less", percent, causes);
}

/* ---- the table that adds up ---- */

static void print_bar(const struct gp_page *page, uint64_t part, uint64_t most)
{
	unsigned cells =
		most ? (unsigned)((double)part / (double)most * BAR + 0.5) : 0;

	if (page->columns < LABEL + 3 * VALUE + BAR + 2 || !part || !most)
		return;
	fputs("  ", page->out);
	for (unsigned i = 0; i < (cells ? cells : 1); i++)
		fputs(page->style->ascii ? "#" : "█", page->out);
}

static void print_row(const struct gp_page *page, const char *label, uint64_t a,
		      uint64_t b, uint64_t most)
{
	char x[GP_BYTES_TEXT], y[GP_BYTES_TEXT], by[GP_SIGNED_TEXT];

	fprintf(page->out, "%-*s%*s%*s%*s", LABEL, label, VALUE,
		gp_bytes_text(a, x), VALUE, gp_bytes_text(b, y), VALUE,
		gp_signed_text(a, b, by));
	print_bar(page, distance(a, b), most);
	putc('\n', page->out);
}

static void print_counts(const struct gp_page *page, const char *label,
			 uint64_t a, uint64_t b)
{
	char x[GP_COUNT_TEXT], y[GP_COUNT_TEXT], by[GP_COUNT_TEXT];
	char difference[GP_COUNT_TEXT + 1] = "=";

	if (!a && !b)
		return;
	if (a != b)
		snprintf(difference, sizeof(difference), "%c%s",
			 b > a ? '+' : '-', gp_count_text(distance(a, b), by));
	fprintf(page->out, "%-*s%*s%*s%*s\n", LABEL, label, VALUE,
		gp_count_text(a, x), VALUE, gp_count_text(b, y), VALUE,
		difference);
}

static void print_table(const struct gp_page *page,
			const struct gp_change *change)
{
	const struct gp_makeup *a = &change->a.makeup, *b = &change->b.makeup;
	uint64_t most = 0;
	char label[32];

	for (unsigned i = 0; i < GP_PARTS; i++)
		if (distance(a->part[i], b->part[i]) > most)
			most = distance(a->part[i], b->part[i]);
	gp_page_blank(page);
	fprintf(page->out, "%-*s%*s%*s%*s\n", LABEL, "", VALUE, "A", VALUE, "B",
		VALUE, "B - A");
	for (unsigned i = 0; i < GP_PARTS; i++) {
		if (!a->part[i] && !b->part[i] && i != GP_PART_LIVE)
			continue;
		snprintf(label, sizeof(label), "%s", part_label(change, i));
		print_row(page, label, a->part[i], b->part[i], most);
	}
	print_row(page, "Peak reserved", a->reserved, b->reserved, 0);
	gp_page_blank(page);
	print_row(page, "Peak allocated", a->peak_allocated, b->peak_allocated,
		  0);
	print_counts(page, "OOMs", a->ooms, b->ooms);
	print_counts(page, "Alloc retries", a->retries, b->retries);
}

/* ---- what there is to know about it ---- */

#define FROM_START                                                             \
	" It begins with all that it reserves; what made that is not in the "  \
	"trace."

/* device: CUDA's ordinal; a side may have but one of another. */
static const char *event_words(const struct gp_change_side *side,
			       uint32_t device, char text[GP_EVENT_TEXT])
{
	char count[GP_COUNT_TEXT];
	uint32_t i = 0;

	if (!side->trace) {
		snprintf(text, GP_EVENT_TEXT, "event %s",
			 gp_count_text(side->makeup.event, count));
		return text;
	}
	while (i + 1 < side->trace->device_count &&
	       side->trace->devices[i].device != device)
		i++;
	return gp_event_words(side->trace, i, side->makeup.event, text);
}

static void print_moment(const struct gp_page *page, const char *name,
			 uint32_t device, const struct gp_change_side *side,
			 bool is_same)
{
	const struct gp_makeup *makeup = &side->makeup;
	char event[GP_EVENT_TEXT], requests[GP_PLURAL_TEXT];

	if (!is_same)
		gp_page_line(page, GP_TONE_PLAIN, 2, "%s: at %s.%s", name,
			     event_words(side, device, event),
			     makeup->is_from_start ? FROM_START : "");
	else if (makeup->is_from_start)
		gp_page_line(page, GP_TONE_PLAIN, 2, "%s:%s", name, FROM_START);
	if (makeup->dropped)
		gp_page_line(
			page, GP_TONE_BAD, 2,
			"%s could not serve %s: its peak is that of a "
			"smaller program.",
			name,
			gp_plural_text(makeup->dropped, "request", requests));
}

/* Runs of one program differ in when they peak. */
static void print_notes(const struct gp_page *page,
			const struct gp_change *change)
{
	const struct gp_makeup *a = &change->a.makeup, *b = &change->b.makeup;
	char bytes[GP_BYTES_TEXT], event[GP_EVENT_TEXT];

	gp_page_blank(page);
	if (change->is_same)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Both make the same requests, and are looked at "
			     "where the program holds the most: behind "
			     "%s. What they reserve beyond that is free.",
			     event_words(&change->a, change->device, event));
	print_moment(page, "A", change->device, &change->a, change->is_same);
	print_moment(page, "B", change->device, &change->b, change->is_same);
	if (!change->is_same &&
	    a->part[GP_PART_LIVE] != b->part[GP_PART_LIVE] &&
	    a->peak_allocated == b->peak_allocated)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Both allocate the same at most, %s; they peak "
			     "at other moments.",
			     gp_bytes_text(a->peak_allocated, bytes));
	if (!a->is_split)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Reports do not tell packing, streams and pools "
			     "apart, nor who holds the live set: compare the "
			     "traces for that.");
}

static void print_side(const struct gp_page *page, const char *name,
		       const struct gp_change_side *side)
{
	char capacity[GP_BYTES_TEXT];

	gp_page_line(page, GP_TONE_PLAIN, 3,
		     "%s  %s: %s; PyTorch 2.%u; memory: %s", name,
		     gp_page_name(side->path), gp_head_settings(side->conf),
		     side->release, gp_head_capacity(side->capacity, capacity));
}

static void print_change(const struct gp_page *page,
			 const struct gp_change *change)
{
	print_verdict(page, change);
	print_table(page, change);
	print_notes(page, change);
	gp_change_print_sites(page, change);
	gp_change_print_sizes(page, change);
	gp_change_print_parting(page, change);
}

/* ---- ranks ---- */

#define NAME	   27
#define ROWS_SHOWN 12

static void print_only(const struct gp_page *page, const char *label,
		       size_t count, const char *name)
{
	char files[GP_PLURAL_TEXT];

	if (count)
		gp_page_field(page, label, "%s, such as %.120s",
			      gp_plural_text(count, "file", files),
			      gp_page_name(name));
}

static void print_pair(const struct gp_page *page, const struct gp_change *c)
{
	uint64_t a = c->a.makeup.reserved, b = c->b.makeup.reserved;
	const char *name = gp_page_name(c->b.path);
	char text[GP_BYTES_TEXT], other[GP_BYTES_TEXT], more[GP_BYTES_TEXT];
	char change[GP_BYTES_TEXT + 2];

	snprintf(change, sizeof(change), "%c%s", b < a ? '-' : '+',
		 gp_bytes_text(b < a ? a - b : b - a, more));
	if (strlen(name) < NAME)
		fprintf(page->out, "%-*s", NAME, name);
	else
		fprintf(page->out, "%s\n%*s", name, NAME, "");
	fprintf(page->out, "%6zu%12s%12s%13s\n", c->files,
		gp_bytes_text(a, text), gp_bytes_text(b, other),
		a == b ? "the same" : change);
}

static void print_ranks(const struct gp_page *page,
			const struct gp_change *changes, size_t count,
			const struct gp_change_ranks *ranks)
{
	size_t shown = 0;

	gp_page_line(page, GP_TONE_TITLE, 0, "Ranks of %s",
		     ranks->b ? "two jobs, A and B" : "a job, A and B");
	ranks_side(page, "A", ranks->a);
	ranks_side(page, "B", ranks->b ? ranks->b : ranks->a);
	print_only(page, "Only in A", ranks->only_a, ranks->a_name);
	print_only(page, "Only in B", ranks->only_b, ranks->b_name);
	gp_page_blank(page);
	fprintf(page->out, "%-*s%6s%12s%12s%13s\n", NAME, "Pairs that differ",
		"files", "A reserves", "B reserves", "change");
	for (size_t i = ranks->first; i < ranks->first + ranks->count; i++)
		print_pair(page, &changes[i]);
	shown = ranks->count;
	for (size_t i = 0; i < count && shown < ROWS_SHOWN; i++)
		if (i < ranks->first || i >= ranks->first + ranks->count) {
			print_pair(page, &changes[i]);
			shown++;
		}
	if (count > shown)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "%zu more: --format json has them all.",
			     count - shown);
	gp_page_blank(page);
}

void gp_change_text(const struct gp_change *changes, size_t count,
		    const struct gp_change_ranks *ranks,
		    const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	if (ranks) {
		print_ranks(&page, changes, count, ranks);
		changes += ranks->first;
		count = ranks->count;
	}
	for (size_t i = 0; i < count; i++) {
		const struct gp_change *c = &changes[i];

		if (i)
			gp_page_blank(&page);
		print_side(&page, "A", &c->a);
		print_side(&page, "B", &c->b);
		if (count > 1)
			gp_page_line(&page, GP_TONE_TITLE, 2, "Device %u",
				     c->device);
		gp_page_blank(&page);
		print_change(&page, c);
	}
}
