/* SPDX-License-Identifier: MIT */
/* What changed between two runs, for a person and for a program. */
#include "report/change_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/utf8.h"
#include "gpupool/study.h"
#include "report/emit.h"
#include "report/group.h"
#include "report/head.h"
#include "report/object.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/schema.h"

/* ---- differences as people read them ---- */

static const char *const fate_words[] = {
	[GP_SHARE_STAYED] = "stayed",
	[GP_SHARE_MOVED] = "moved",
	[GP_SHARE_NEW] = "new",
	[GP_SHARE_GONE] = "gone",
};

/* Powers of two need no decimals. */
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

/* "1 MiB to 2 MiB" */
#define CLASS_TEXT 64
static const char *class_text(uint64_t floor, char text[CLASS_TEXT])
{
	char from[24], to[24] = "more";

	power_text(floor, from, sizeof(from));
	if (floor < UINT64_C(1) << 63)
		power_text(floor * 2, to, sizeof(to));
	snprintf(text, CLASS_TEXT, "%s to %s", from, to);
	return text;
}

/* ---- the holders that account for the change of the live set ---- */

#define MOST_ROWS   8
#define VALUE	    12
#define NAME_COLUMN (3 * VALUE + 2) /* column of a name */
#define LEAST	    24		    /* columns for a name */

/* Length of the name of a C++ function without its parameters. */
static size_t length_of(const char *name)
{
	return strstr(name, ".py:") ? strlen(name) : strcspn(name, "(");
}

/* The end of a name, as much as fits: it contains the line and the function. */
static void put_name(const struct gp_page *page, const char *name,
		     const char *note)
{
	size_t room = page->columns > NAME_COLUMN + LEAST
			      ? page->columns - NAME_COLUMN
			      : LEAST;
	size_t length = *name == '(' ? strlen(name) : length_of(name);
	size_t used = strlen(note);
	const char *end = name + length;

	room = room > used + 4 ? room - used : 4;
	if (length > room) {
		name += length - room + 3;
		while ((*name & 0xc0) == 0x80)
			name++;
		fputs("...", page->out);
	}
	fprintf(page->out, "%.*s%s", (int)(end - name), name, note);
}

static const char *side_text(const struct gp_share *share,
			     char text[GP_BYTES_TEXT])
{
	return share->blocks ? gp_bytes_text(share->requested, text) : "-";
}

static void put_amounts(const struct gp_page *page,
			const struct gp_share_pair *pair)
{
	char a[GP_BYTES_TEXT], b[GP_BYTES_TEXT], by[GP_BYTES_CHANGE];

	fprintf(page->out, "%*s%*s%*s  ", VALUE, side_text(&pair->a, a), VALUE,
		side_text(&pair->b, b), VALUE,
		gp_bytes_change(pair->a.requested, pair->b.requested, by));
}

/* The digits of "train.py:42 forward". */
static const char *line_of(const char *name)
{
	const char *line = name;

	for (const char *c = strchr(name, ':'); c; c = strchr(c + 1, ':'))
		if (c[1] >= '0' && c[1] <= '9') {
			line = c + 1;
			break;
		}
	return line;
}

/* Whether a line holds more at some other moment than at the one compared. */
static bool holds_more(const struct gp_share_pair *pair)
{
	return pair->a.most > pair->a.requested ||
	       pair->b.most > pair->b.requested;
}

#define FATE_NOTE 48
static void fate_note(const struct gp_share_pair *pair, char note[FATE_NOTE])
{
	const char *line = line_of(pair->a.name);

	*note = '\0';
	if (pair->fate == GP_SHARE_MOVED)
		snprintf(note, FATE_NOTE, " (was line %.*s)",
			 (int)strspn(line, "0123456789"), line);
	else if (pair->fate != GP_SHARE_STAYED)
		snprintf(note, FATE_NOTE, " (%s)", fate_words[pair->fate]);
}

/* What the line holds at its own peak, on a row of its own. */
static void put_most(const struct gp_page *page,
		     const struct gp_share_pair *pair)
{
	char a[GP_BYTES_TEXT] = "-", b[GP_BYTES_TEXT] = "-";
	char by[GP_BYTES_CHANGE];

	if (pair->fate != GP_SHARE_NEW)
		gp_bytes_text(pair->a.most, a);
	if (pair->fate != GP_SHARE_GONE)
		gp_bytes_text(pair->b.most, b);
	fprintf(page->out, "%*s%*s%*s    at most in the whole run\n", VALUE, a,
		VALUE, b, VALUE,
		gp_bytes_change(pair->a.most, pair->b.most, by));
}

static void print_site(const struct gp_page *page,
		       const struct gp_share_pair *pair)
{
	const char *name = gp_share_pair_some(pair)->name;
	char note[FATE_NOTE];

	put_amounts(page, pair);
	fate_note(pair, note);
	put_name(page, *name ? name : "(no stack recorded)", note);
	putc('\n', page->out);
	if (holds_more(pair))
		put_most(page, pair);
}

static void print_size(const struct gp_page *page,
		       const struct gp_share_pair *pair)
{
	const struct gp_share *some = gp_share_pair_some(pair);
	char class[CLASS_TEXT];

	put_amounts(page, pair);
	fprintf(page->out, "%s", class_text(some->floor, class));
	if (pair->a.blocks == pair->b.blocks)
		fprintf(page->out, " (blocks: %s)\n", GP_COUNT(pair->a.blocks));
	else
		fprintf(page->out, " (blocks: %s, %s)\n",
			GP_COUNT(pair->a.blocks), GP_COUNT(pair->b.blocks));
}

/* The sum of the rows that are not shown. */
static void print_rest(const struct gp_page *page,
		       const struct gp_share_pair *pairs, size_t count)
{
	struct gp_share_pair rest = { 0 };

	for (size_t i = 0; i < count; i++) {
		rest.a.requested += pairs[i].a.requested;
		rest.b.requested += pairs[i].b.requested;
		rest.a.blocks += pairs[i].a.blocks;
		rest.b.blocks += pairs[i].b.blocks;
	}
	if (!count)
		return;
	put_amounts(page, &rest);
	fprintf(page->out, "%zu more\n", count);
}

static void print_title(const struct gp_page *page, const char *title)
{
	gp_page_blank(page);
	fprintf(page->out, "%*s%*s%*s  %s\n", VALUE, "A", VALUE, "B", VALUE,
		"B - A", title);
}

static size_t changed(const struct gp_share_pair *pairs, size_t count)
{
	size_t n = 0;

	while (n < count && pairs[n].a.requested != pairs[n].b.requested)
		n++;
	return n;
}

static void print_pairs(const struct gp_page *page,
			const struct gp_share_pair *pairs, size_t count,
			void (*print)(const struct gp_page *,
				      const struct gp_share_pair *))
{
	size_t n = changed(pairs, count);

	if (n > MOST_ROWS)
		n = MOST_ROWS;
	for (size_t i = 0; i < n; i++)
		print(page, &pairs[i]);
	print_rest(page, pairs + n, count - n);
}

static bool has_names(const struct gp_change *change)
{
	for (size_t i = 0; i < change->site_count; i++)
		if (*change->sites[i].a.name || *change->sites[i].b.name)
			return true;
	return false;
}

static void print_sites(const struct gp_page *page,
			const struct gp_change *change)
{
	if (!has_names(change) || !changed(change->sites, change->site_count))
		return;
	print_title(page, "live set by source line");
	print_pairs(page, change->sites, change->site_count, print_site);
}

static void print_sizes(const struct gp_page *page,
			const struct gp_change *change)
{
	if (!changed(change->sizes, change->size_count))
		return;
	print_title(page, "live set by size of the request");
	print_pairs(page, change->sizes, change->size_count, print_size);
}

/* ---- where two programs diverge ---- */

#define DEED 160

static const char *deed(const struct gp_request *r, char text[DEED])
{
	char bytes[GP_BYTES_TEXT], stream[GP_GROUP_LABEL], by[GP_GROUP_LABEL];

	gp_bytes_text(r->size, bytes);
	gp_group_stream(r->stream, stream);
	if (!r->is_there)
		snprintf(text, DEED, "is over");
	else if (r->kind == GP_ALLOC && r->stream)
		snprintf(text, DEED, "allocates %s on %s", bytes, stream);
	else if (r->kind == GP_ALLOC)
		snprintf(text, DEED, "allocates %s", bytes);
	else if (r->kind == GP_FREE)
		snprintf(text, DEED, "frees %s", bytes);
	else if (r->waits)
		snprintf(text, DEED, "does %s: %s waits for %s",
			 gp_event_kind_name(r->kind),
			 gp_group_stream(r->by, by), stream);
	else if (r->kind == GP_SET_FRACTION)
		snprintf(text, DEED, "does %s: %.6g",
			 gp_event_kind_name(r->kind), r->fraction);
	else if (r->kind == GP_OTHER_MEMORY)
		snprintf(text, DEED, "does %s: %s", gp_event_kind_name(r->kind),
			 bytes);
	else if (r->text)
		snprintf(text, DEED, "does %s: %.60s",
			 gp_event_kind_name(r->kind), r->text);
	else
		snprintf(text, DEED, "does %s", gp_event_kind_name(r->kind));
	return text;
}

/* What distinguishes two requests with the same words: exact sizes, pools,
 * or their blocks. */
static void add_detail(const struct gp_request *r,
		       const struct gp_request *other, char text[DEED])
{
	char stream[GP_GROUP_LABEL];
	size_t used = strlen(text);

	text += used;
	if (r->size != other->size)
		snprintf(text, DEED - used, " (%s)",
			 GP_PLURAL(r->size, "byte"));
	else if (r->pool.first != other->pool.first ||
		 r->pool.second != other->pool.second)
		snprintf(text, DEED - used,
			 " in pool (%" PRIu64 ", %" PRIu64 ")", r->pool.first,
			 r->pool.second);
	else if (r->stream != other->stream)
		snprintf(text, DEED - used, " on %s",
			 gp_group_stream(r->stream, stream));
	else if (r->born != other->born && r->born)
		snprintf(text, DEED - used, " of event %s",
			 GP_COUNT(r->born - 1));
	else if (r->born != other->born)
		snprintf(text, DEED - used, " of before the trace");
}

static void print_request(const struct gp_page *page, const char *name,
			  const struct gp_request *r, const char *text)
{
	const char *step = r->step ? r->step : "";
	bool is_known = *step || *r->site;

	gp_page_line(page, GP_TONE_PLAIN, 5, "  %s  %s%s%s%sevent %s%s: %s",
		     name, step, *step && *r->site ? ", " : "", r->site,
		     is_known ? " (" : "", GP_COUNT(r->event),
		     is_known ? ")" : "", text);
}

static void print_requests(const struct gp_page *page,
			   const struct gp_request *a,
			   const struct gp_request *b)
{
	char of_a[DEED], of_b[DEED];

	deed(a, of_a);
	deed(b, of_b);
	if (!strcmp(of_a, of_b)) {
		add_detail(a, b, of_a);
		add_detail(b, a, of_b);
	}
	print_request(page, "A", a, of_a);
	print_request(page, "B", b, of_b);
}

static void print_steps(const struct gp_page *page,
			const struct gp_divergence_steps *steps)
{
	if (!steps->a && !steps->b)
		return;
	if (!steps->both) {
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "No step of A has the name of one of B (marks: "
			     "%s, %s).",
			     GP_COUNT(steps->a), GP_COUNT(steps->b));
		return;
	}
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "From mark to mark, %s in both (A has %s, B has %s): "
		     "%s with the same sizes allocated and freed.",
		     GP_PLURAL(steps->both, "step"), GP_COUNT(steps->a),
		     GP_COUNT(steps->b), GP_COUNT(steps->alike));
	if (steps->first)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The first that differs: %.200s, number %" PRIu64
			     " of that name, with %s in A and %s in B.",
			     steps->first, steps->first_ordinal,
			     GP_PLURAL(steps->a_requests, "request"),
			     GP_COUNT(steps->b_requests));
}

static void print_divergence(const struct gp_page *page,
			     const struct gp_change *change)
{
	const struct gp_divergence *divergence = change->divergence;
	char common[GP_PLURAL_TEXT];

	if (!divergence)
		return;
	gp_page_blank(page);
	gp_plural_text(divergence->common, "request", common);
	if (divergence->starts_differ)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The traces begin with different memory live.");
	if (!divergence->is_there) {
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The requests are the same throughout: %s.",
			     common);
		return;
	}
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "The programs diverge after %s in common:", common);
	print_requests(page, &divergence->a, &divergence->b);
	print_steps(page, &divergence->steps);
}

#define LABEL 16
#define BAR   18 /* cells of the longest */

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* ---- the sentence ---- */

static const char *part_label(const struct gp_change *change,
			      enum gp_part_id id)
{
	if (id == GP_PART_PACKING && !change->a.breakdown.is_split)
		return "free";
	return gp_parts[id].label;
}

/* Parts sorted by how much they changed, the largest change first. */
static void rank(const struct gp_change *change, enum gp_part_id order[])
{
	const uint64_t *a = change->a.breakdown.part,
		       *b = change->b.breakdown.part;

	for (unsigned i = 0; i < GP_PARTS; i++) {
		unsigned at = i;

		for (; at && distance(a[order[at - 1]], b[order[at - 1]]) <
				     distance(a[i], b[i]);
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
}

/* The parts that changed, in order: "+0.9 GiB live set, +0.3 GiB packing" */
static void list_causes(const struct gp_change *change, char *text, size_t size)
{
	const uint64_t *a = change->a.breakdown.part,
		       *b = change->b.breakdown.part;
	enum gp_part_id order[GP_PARTS];
	char bytes[GP_BYTES_CHANGE];
	size_t length = 0;

	*text = 0;
	rank(change, order);
	for (unsigned i = 0; i < GP_PARTS; i++) {
		enum gp_part_id id = order[i];

		if (a[id] == b[id])
			break;
		length += (size_t)snprintf(text + length, size - length,
					   "%s%s %s", length ? ", " : "",
					   gp_bytes_change(a[id], b[id], bytes),
					   part_label(change, id));
	}
}

static void print_estimate(const struct gp_page *page, const char *name,
			   const struct gp_estimate *estimate)
{
	char text[GP_ESTIMATE_TEXT];

	if (estimate)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "%s's peak is %s, %s; the trace begins with "
			     "memory in use, cached under other settings: %s.",
			     name, GP_BYTES(estimate->reserved),
			     gp_estimate_text(estimate, text), estimate->how);
}

static void print_verdict(const struct gp_page *page,
			  const struct gp_change *change)
{
	bool is_estimated = change->a.estimate || change->b.estimate;
	const char *from =
		is_estimated ? ", replayed from what the trace begins with"
			     : "";
	uint64_t a = change->a.breakdown.reserved,
		 b = change->b.breakdown.reserved;
	char causes[512], percent[GP_PERCENT_CHANGE];

	list_causes(change, causes, sizeof(causes));
	if (a == b)
		gp_page_line(
			page, GP_TONE_PLAIN, 2,
			"Both reserve %s at the peak%s%s%s.", GP_BYTES(a), from,
			*causes ? ", but not of the same parts: " : "", causes);
	else
		gp_page_line(page,
			     is_estimated ? GP_TONE_PLAIN
			     : b > a	  ? GP_TONE_BAD
					  : GP_TONE_GOOD,
			     2, "B reserves %s %s than A at the peak%s%s: %s.",
			     GP_BYTES(distance(a, b)), b > a ? "more" : "less",
			     gp_percent_aside((double)a, (double)b, percent),
			     from, causes);
	print_estimate(page, "A", change->a.estimate);
	print_estimate(page, "B", change->b.estimate);
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
	char by[GP_BYTES_CHANGE];

	fprintf(page->out, "%-*s%*s%*s%*s", LABEL, label, VALUE, GP_BYTES(a),
		VALUE, GP_BYTES(b), VALUE, gp_bytes_change(a, b, by));
	print_bar(page, distance(a, b), most);
	putc('\n', page->out);
}

static void print_counts(const struct gp_page *page, const char *label,
			 uint64_t a, uint64_t b)
{
	char difference[GP_COUNT_TEXT + 1] = "=";

	if (!a && !b)
		return;
	if (a != b)
		snprintf(difference, sizeof(difference), "%c%s",
			 b > a ? '+' : '-', GP_COUNT(distance(a, b)));
	fprintf(page->out, "%-*s%*s%*s%*s\n", LABEL, label, VALUE, GP_COUNT(a),
		VALUE, GP_COUNT(b), VALUE, difference);
}

static void print_table(const struct gp_page *page,
			const struct gp_change *change)
{
	const struct gp_breakdown *a = &change->a.breakdown,
				  *b = &change->b.breakdown;
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

/* ---- notes on the comparison ---- */

#define FROM_START                                                             \
	" It begins with all that it reserves; what made that is not in the "  \
	"trace."

/* device: CUDA's ordinal, which may differ if a side has a single device. */
static uint32_t index_of(const struct gp_trace *trace, uint32_t device)
{
	uint32_t i = 0;

	while (i + 1 < trace->device_count &&
	       trace->devices[i].device != device)
		i++;
	return i;
}

/* Whether more is live at the beginning of the trace, before the first event,
 * than at the moment compared. */
static bool begins_with_more(const struct gp_change_side *side, uint32_t device)
{
	return !side->breakdown.dropped &&
	       gp_study_live(side->trace, index_of(side->trace, device), 1) >
		       side->breakdown.part[GP_PART_LIVE];
}

static const char *event_words(const struct gp_change_side *side,
			       uint32_t device, char text[GP_EVENT_TEXT])
{
	uint32_t i;

	if (!side->trace) {
		snprintf(text, GP_EVENT_TEXT, "event %s",
			 GP_COUNT(side->breakdown.event));
		return text;
	}
	i = index_of(side->trace, device);
	if (!side->trace->devices[i].event_count)
		return "the start";
	return gp_event_words(side->trace, i, side->breakdown.event, text);
}

static void print_moment(const struct gp_page *page, const char *name,
			 uint32_t device, const struct gp_change_side *side,
			 bool is_same)
{
	const struct gp_breakdown *breakdown = &side->breakdown;
	bool is_from_start = breakdown->is_from_start && breakdown->reserved;
	char event[GP_EVENT_TEXT];

	if (!is_same)
		gp_page_line(page, GP_TONE_PLAIN, 2, "%s: at %s.%s", name,
			     event_words(side, device, event),
			     is_from_start ? FROM_START : "");
	else if (is_from_start)
		gp_page_line(page, GP_TONE_PLAIN, 2, "%s:%s", name, FROM_START);
	if (breakdown->dropped)
		gp_page_line(page, GP_TONE_BAD, 2,
			     "%s could not serve %s: its peak is that of a "
			     "smaller program.",
			     name, GP_PLURAL(breakdown->dropped, "request"));
}

/* Two runs of one program may peak at different events. */
static void print_notes(const struct gp_page *page,
			const struct gp_change *change)
{
	const struct gp_breakdown *a = &change->a.breakdown,
				  *b = &change->b.breakdown;
	char event[GP_EVENT_TEXT];

	gp_page_blank(page);
	if (change->is_same)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Both make the same requests, and are compared "
			     "where the program holds the most: after %s%s.%s",
			     event_words(&change->a, change->device, event),
			     begins_with_more(&change->a, change->device)
				     ? ", though it begins with more"
				     : "",
			     a->dropped || b->dropped
				     ? ""
				     : " What they reserve beyond that is "
				       "free.");
	print_moment(page, "A", change->device, &change->a, change->is_same);
	print_moment(page, "B", change->device, &change->b, change->is_same);
	if (!change->is_same &&
	    a->part[GP_PART_LIVE] != b->part[GP_PART_LIVE] &&
	    a->peak_allocated == b->peak_allocated)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Both have the same peak allocated, %s; they "
			     "reserve the most at other moments.",
			     GP_BYTES(a->peak_allocated));
	if (!a->is_split)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Reports do not distinguish packing, streams and "
			     "pools, and do not say who holds the live set: "
			     "compare the traces for that.");
}

static void print_side(const struct gp_page *page, const char *name,
		       const struct gp_change_side *side)
{
	const char *engine = gp_head_engine(side->engine);
	char capacity[GP_BYTES_TEXT];

	gp_page_line(page, GP_TONE_PLAIN, 3,
		     "%s  %s: %s%s%s; PyTorch 2.%u; memory: %s%s%.400s", name,
		     side->name, engine ? engine : "", engine ? "; " : "",
		     gp_head_settings(side->conf), side->release,
		     gp_head_run_capacity(side->mode, side->capacity, capacity),
		     side->what_if ? "; what if: " : "",
		     side->what_if ? side->what_if : "");
	if (side->recorded.below)
		gp_page_line(page, GP_TONE_PLAIN, 3, "   Recorded %s.",
			     gp_head_room(&side->recorded).text);
	if (side->trace)
		gp_head_doubts(page, side->trace);
}

static void print_change(const struct gp_page *page,
			 const struct gp_change *change)
{
	print_verdict(page, change);
	print_table(page, change);
	print_notes(page, change);
	print_sites(page, change);
	print_sizes(page, change);
	print_divergence(page, change);
}

/* ---- ranks ---- */

#define NAME	   27
#define ROWS_SHOWN 12

static void print_only(const struct gp_page *page, const char *label,
		       size_t count, const char *name)
{
	if (count)
		gp_page_field(page, label, "%s, such as %.*s",
			      GP_PLURAL(count, "file"), GP_WITHIN(120, name));
}

/* Files of one side that have nothing to be compared with. */
static void print_lost(const struct gp_page *page, const char *side,
		       size_t count, const struct gp_rank_unread *one)
{
	char others[48] = "";

	if (!count)
		return;
	if (count > 1)
		snprintf(others, sizeof(others), "; and %zu more", count - 1);
	gp_page_field(page, "No pair", "%s's %.120s cannot be read: %.160s%s",
		      side, gp_page_name(one->path), one->reason, others);
}

/* A pair is named after its file in B, or in A if B is a single file; the
 * device is added if there are several. */
#define PAIR_NAME 240
static const char *pair_name(const struct gp_change_ranks *ranks,
			     const struct gp_change *c, char text[PAIR_NAME])
{
	bool is_one = ranks->b && ranks->b->files == 1;
	char device[32] = "";

	if (c->a.trace->device_count > 1 || c->b.trace->device_count > 1)
		snprintf(device, sizeof(device), ", device %" PRIu32,
			 c->device);
	snprintf(text, PAIR_NAME, "%.*s%s",
		 GP_WITHIN(200, is_one ? c->a.name : c->b.name), device);
	return text;
}

static void print_pair(const struct gp_page *page,
		       const struct gp_change_ranks *ranks,
		       const struct gp_change *c)
{
	uint64_t a = c->a.breakdown.reserved, b = c->b.breakdown.reserved;
	char name[PAIR_NAME];
	char change[GP_BYTES_CHANGE];

	gp_page_cell(page, NAME, pair_name(ranks, c, name));
	fprintf(page->out, "%6zu%12s%12s%13s\n", c->files, GP_BYTES(a),
		GP_BYTES(b),
		a == b ? "the same" : gp_bytes_change(a, b, change));
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
	if (ranks->b) {
		print_lost(page, "A", ranks->lost_a, ranks->a_lost);
		print_lost(page, "B", ranks->lost_b, ranks->b_lost);
	}
	if (ranks->tells_idle) {
		ranks_idle(page, ranks->a);
		if (ranks->b)
			ranks_idle(page, ranks->b);
	}
	gp_page_blank(page);
	fprintf(page->out, "%-*s%6s%12s%12s%13s\n", NAME, "Pairs that differ",
		"files", "A reserves", "B reserves", "change");
	for (size_t i = ranks->first; i < ranks->first + ranks->count; i++)
		print_pair(page, ranks, &changes[i]);
	shown = ranks->count;
	for (size_t i = 0; i < count && shown < ROWS_SHOWN; i++)
		if (i < ranks->first || i >= ranks->first + ranks->count) {
			print_pair(page, ranks, &changes[i]);
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
	for (const struct gp_change *c = changes; c < changes + count; c++) {
		if (c > changes)
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

/* ---- for a program ---- */

static void write_breakdown(struct gp_emit *json, const struct gp_breakdown *m)
{
	gp_emit_uint(json, "event", m->event);
	gp_emit_bool(json, "from_start", m->is_from_start);
	gp_emit_count(json, GP_PEAK_RESERVED, m->reserved);
	gp_emit_open(json, "parts", '{', GP_EMIT_LINES);
	for (unsigned i = 0; i < GP_PARTS; i++) {
		if (!m->is_split && i == GP_PART_PACKING)
			gp_emit_uint(json, "free", m->part[i]);
		else if (m->is_split ||
			 (i != GP_PART_STREAMS && i != GP_PART_POOLS))
			gp_emit_uint(json, gp_parts[i].key, m->part[i]);
	}
	gp_emit_close(json, '}');
	if (m->is_split)
		gp_emit_uint(json, "unused_segments", m->unused_segments);
	gp_emit_count(json, GP_PEAK_ALLOCATED, m->peak_allocated);
	gp_emit_count(json, GP_NUM_RETRIES, m->retries);
	gp_emit_count(json, GP_NUM_OOMS, m->ooms);
	gp_emit_count(json, GP_DROPPED, m->dropped);
}

static void write_side(struct gp_emit *json, const char *key,
		       const struct gp_change_side *side)
{
	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	gp_emit_text(json, "path", side->path);
	if (side->of_trace)
		gp_emit_text(json, "trace", side->of_trace);
	if (side->trace)
		gp_emit_told(json, side->trace);
	gp_emit_text(json, "alloc_conf", side->conf);
	gp_emit_release(json, "torch", side->release);
	gp_emit_text(json, "engine", side->engine);
	gp_emit_text(json, "what_if", side->what_if);
	gp_emit_limit(json, "capacity", side->capacity);
	gp_emit_object(json, "estimate", "estimate", side->estimate,
		       GP_EMIT_LINES);
	write_breakdown(json, &side->breakdown);
	gp_emit_close(json, '}');
}

static int64_t minus(uint64_t b, uint64_t a)
{
	return (int64_t)(b - a);
}

static void write_difference(struct gp_emit *json,
			     const struct gp_change *change)
{
	const struct gp_breakdown *a = &change->a.breakdown,
				  *b = &change->b.breakdown;
	bool is_split = a->is_split && b->is_split;

	gp_emit_open(json, "difference", '{', GP_EMIT_LINES);
	gp_emit_int(json, gp_measures[GP_PEAK_RESERVED].key,
		    minus(b->reserved, a->reserved));
	for (unsigned i = 0; i < GP_PARTS; i++) {
		bool is_split_part = i == GP_PART_STREAMS || i == GP_PART_POOLS;

		if (is_split || !is_split_part)
			gp_emit_int(json,
				    !is_split && i == GP_PART_PACKING
					    ? "free"
					    : gp_parts[i].key,
				    minus(b->part[i], a->part[i]));
	}
	gp_emit_close(json, '}');
}

static void write_pair(struct gp_emit *json, const struct gp_share_pair *pair,
		       bool is_site)
{
	const struct gp_share *some = gp_share_pair_some(pair);

	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	if (is_site)
		gp_emit_text(json, "site", *some->name ? some->name : NULL);
	else
		gp_emit_uint(json, "from", some->floor);
	if (is_site && pair->fate == GP_SHARE_MOVED)
		gp_emit_text(json, "site_in_a", pair->a.name);
	gp_emit_keys(json, "change_pair", pair);
	gp_emit_close(json, '}');
}

static void write_pairs(struct gp_emit *json, const char *key,
			const struct gp_share_pair *pairs, size_t count,
			bool is_site)
{
	gp_emit_open(json, key, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		write_pair(json, &pairs[i], is_site);
	gp_emit_close(json, ']');
}

static void write_request(struct gp_emit *json, const char *key,
			  const struct gp_request *r)
{
	if (!r->is_there) {
		gp_emit_null(json, key);
		return;
	}
	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "event", r->event);
	gp_emit_text(json, "op", gp_event_kind_name(r->kind));
	gp_emit_uint(json, "size", r->size);
	gp_emit_uint(json, "stream", r->stream);
	if (r->waits)
		gp_emit_uint(json, "by", r->by);
	gp_emit_pool(json, "pool", r->pool);
	gp_emit_text(json, "site", *r->site ? r->site : NULL);
	gp_emit_text(json, "step", r->step);
	gp_emit_close(json, '}');
}

static void write_divergence(struct gp_emit *json,
			     const struct gp_divergence *p)
{
	if (!p) {
		gp_emit_null(json, "requests");
		return;
	}
	gp_emit_open(json, "requests", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "in_common", p->common);
	gp_emit_bool(json, "same", !p->is_there);
	gp_emit_bool(json, "starts_differ", p->starts_differ);
	write_request(json, "a", &p->a);
	write_request(json, "b", &p->b);
	gp_emit_object(json, "steps", "change_steps", &p->steps, GP_EMIT_LINES);
	gp_emit_close(json, '}');
}

static void write_change(struct gp_emit *json, const struct gp_change *change)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", change->device);
	if (change->files)
		gp_emit_uint(json, "files", change->files);
	gp_emit_bool(json, "same_requests", change->is_same);
	write_side(json, "a", &change->a);
	write_side(json, "b", &change->b);
	write_difference(json, change);
	write_pairs(json, "sites", change->sites, change->site_count, true);
	write_pairs(json, "sizes", change->sizes, change->size_count, false);
	write_divergence(json, change->divergence);
	gp_emit_close(json, '}');
}

static void write_ranks(struct gp_emit *json,
			const struct gp_change_ranks *ranks)
{
	if (!ranks)
		return;
	gp_emit_open(json, "a", '{', GP_EMIT_LINES);
	gp_emit_ranks(json, ranks->a);
	gp_emit_uint(json, "without_counterpart", ranks->only_a);
	gp_emit_uint(json, "counterpart_unread", ranks->lost_b);
	gp_emit_close(json, '}');
	if (!ranks->b)
		return;
	gp_emit_open(json, "b", '{', GP_EMIT_LINES);
	gp_emit_ranks(json, ranks->b);
	gp_emit_uint(json, "without_counterpart", ranks->only_b);
	gp_emit_uint(json, "counterpart_unread", ranks->lost_a);
	gp_emit_close(json, '}');
}

void gp_change_json(const struct gp_change *changes, size_t count,
		    const struct gp_change_ranks *ranks, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	write_ranks(&json, ranks);
	gp_emit_open(&json, "changes", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		write_change(&json, &changes[i]);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
