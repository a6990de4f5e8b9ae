/* SPDX-License-Identifier: MIT */
/* A sweep for a person: the line to paste, why, and the table. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "gpupool/book.h"
#include "report/head.h"
#include "report/page.h"
#include "report/sweep_rank.h"

#define ROWS 20 /* of the table; CSV and JSON have all */

struct scene {
	struct gp_page page;
	const struct gp_book *book;
	struct ranking ranking;
	enum gp_rank_by by;
};

#define TIME_TEXT 24
static const char *time_text(uint64_t us, char text[TIME_TEXT])
{
	if (us < 10000)
		snprintf(text, TIME_TEXT, "%.2f ms", (double)us / 1e3);
	else if (us < 10000000)
		snprintf(text, TIME_TEXT, "%.0f ms", (double)us / 1e3);
	else
		snprintf(text, TIME_TEXT, "%.1f s", (double)us / 1e6);
	return text;
}

#define CHANGE_TEXT 40
static const char *change_text(uint64_t a, uint64_t b, char text[CHANGE_TEXT])
{
	char bytes[GP_BYTES_TEXT];

	if (a == b)
		return "=";
	gp_bytes_text(a > b ? a - b : b - a, bytes);
	snprintf(text, CHANGE_TEXT, "%c%s", a > b ? '+' : '-', bytes);
	return text;
}

/* ---- what was asked ---- */

static void tell_recorded(const struct scene *s)
{
	const struct gp_book_trace *trace = &s->book->traces[0];
	char matched[GP_COUNT_TEXT], checked[GP_COUNT_TEXT];
	char capacity[GP_BYTES_TEXT];
	uint64_t all_checked = 0, all_matched = 0;

	for (size_t t = 0; t < s->book->trace_count; t++) {
		all_checked += s->book->traces[t].checked;
		all_matched += s->book->traces[t].matched;
	}
	gp_page_line(&s->page, GP_TONE_PLAIN, 2,
		     "Recorded: %s; PyTorch %s; memory: %s.",
		     gp_head_settings(trace->conf), trace->torch,
		     gp_head_capacity(trace->capacity, capacity));
	if (all_checked)
		gp_page_line(&s->page,
			     all_checked == all_matched ? GP_TONE_PLAIN
							: GP_TONE_BAD,
			     2, "%s of %s addresses as recorded.",
			     gp_count_text(all_matched, matched),
			     gp_count_text(all_checked, checked));
}

static void tell_head(const struct scene *s)
{
	const struct gp_book *book = s->book;
	size_t asked = gp_book_asked(book), done = gp_book_done(book);
	char runs[GP_PLURAL_TEXT], more[GP_PLURAL_TEXT];

	gp_plural_text(book->entry_count, "combination", runs);
	gp_plural_text(book->trace_count, "trace", more);
	if (book->trace_count == 1)
		gp_page_line(&s->page, GP_TONE_TITLE, 2, "%s: %s of settings",
			     gp_page_name(book->traces[0].path), runs);
	else
		gp_page_line(&s->page, GP_TONE_TITLE, 2,
			     "%s: %s of settings; the worst trace counts", more,
			     runs);
	tell_recorded(s);
	if (done < asked)
		gp_page_line(&s->page, GP_TONE_BAD, 2,
			     "Not finished: %zu of %zu runs are done.", done,
			     asked);
	gp_page_blank(&s->page);
}

/* ---- the answer ---- */

static void tell_line_to_paste(const struct scene *s,
			       const struct gp_book_entry *entry)
{
	const char *minor = strchr(entry->torch, '.');

	fprintf(s->page.out, "    PYTORCH_CUDA_ALLOC_CONF=%s%s%s\n",
		strchr(entry->conf, '[') || !*entry->conf ? "'" : "",
		entry->conf,
		strchr(entry->conf, '[') || !*entry->conf ? "'" : "");
	if (minor && atoi(minor + 1) >= 10)
		gp_page_line(&s->page, GP_TONE_PLAIN, 4,
			     "    (PyTorch 2.10 and newer also read it from "
			     "PYTORCH_ALLOC_CONF)");
}

static void tell_reserved(const struct scene *s, const char *label)
{
	const struct gp_sweep_row *best = s->ranking.contenders[0].row;
	const struct gp_sweep_row *was = &s->ranking.recorded;
	char bytes[GP_BYTES_TEXT], change[GP_BYTES_TEXT];
	bool is_less = best->reserved < was->reserved;
	uint64_t by = is_less ? was->reserved - best->reserved
			      : best->reserved - was->reserved;

	if (!by)
		gp_page_line(&s->page, GP_TONE_TITLE, 2,
			     "Best: %s. It reserves %s at the peak, as "
			     "recorded.",
			     label, gp_bytes_text(best->reserved, bytes));
	else
		gp_page_line(&s->page, is_less ? GP_TONE_GOOD : GP_TONE_BAD, 2,
			     "Best: %s. It reserves %s at the peak, %s %s than "
			     "recorded (%+.1f %%).",
			     label, gp_bytes_text(best->reserved, bytes),
			     gp_bytes_text(by, change),
			     is_less ? "less" : "more",
			     was->reserved ? ((double)best->reserved /
						      (double)was->reserved -
					      1) * 100
					   : 0.0);
}

static void tell_ooms(const struct scene *s)
{
	const struct gp_sweep_row *best = s->ranking.contenders[0].row;
	char count[GP_COUNT_TEXT], was[GP_COUNT_TEXT];

	if (best->dropped)
		gp_page_line(&s->page, GP_TONE_BAD, 2,
			     "Even so %s requests are not served (as recorded: "
			     "%s): no combination here is enough.",
			     gp_count_text(best->dropped, count),
			     gp_count_text(s->ranking.recorded.dropped, was));
	else if (s->ranking.recorded.dropped)
		gp_page_line(&s->page, GP_TONE_GOOD, 2,
			     "Every request is served; as recorded, %s were "
			     "not.",
			     gp_count_text(s->ranking.recorded.dropped, was));
}

/* The first with other numbers than the best, or count. */
static size_t first_other(const struct ranking *ranking)
{
	size_t i = 1;

	while (i < ranking->count &&
	       gp_rank_is_tie(&ranking->contenders[0], &ranking->contenders[i]))
		i++;
	return i;
}

static void tell_why(const struct scene *s)
{
	const struct ranking *r = &s->ranking;
	size_t other = first_other(r);
	const struct gp_sweep_row *a = r->contenders[0].row, *b;
	char bytes[GP_BYTES_TEXT], time[TIME_TEXT], more[TIME_TEXT];
	char *label;

	if (other > 1)
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "%zu more %s the same numbers; the one with the "
			     "fewest settings is named.",
			     other - 1, other == 2 ? "has" : "have");
	if (other == r->count)
		return;
	b = r->contenders[other].row;
	label = sweep_label(s->book, r->contenders[other].index);
	if (a->dropped != b->dropped)
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "The next, %s, serves %" PRIu64 " requests less.",
			     label, b->dropped - a->dropped);
	else if (a->reserved != b->reserved)
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "The next, %s, reserves %s %s.", label,
			     gp_bytes_text(a->reserved < b->reserved
						   ? b->reserved - a->reserved
						   : a->reserved - b->reserved,
					   bytes),
			     a->reserved < b->reserved ? "more" : "less");
	else
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "The next, %s, reserves as much, with %" PRIu64
			     " retries for %" PRIu64
			     " and %s in device calls for %s.",
			     label, b->retries, a->retries,
			     time_text(b->device_time_us, time),
			     time_text(a->device_time_us, more));
	free(label);
}

/* Many programs cannot have expandable segments (CUDA IPC, RDMA, MemPool). */
static void tell_without_expandable(const struct scene *s)
{
	const struct ranking *r = &s->ranking;
	const char *name = "expandable_segments:True";
	char change[CHANGE_TEXT];

	if (!strstr(r->contenders[0].conf, name))
		return;
	for (size_t i = 1; i < r->count; i++) {
		char *label;

		if (strstr(r->contenders[i].conf, name))
			continue;
		label = sweep_label(s->book, r->contenders[i].index);
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "Without expandable_segments: %s (%s).", label,
			     change_text(r->contenders[i].row->reserved,
					 r->contenders[0].row->reserved,
					 change));
		free(label);
		return;
	}
}

static void tell_spread(const struct scene *s)
{
	const struct gp_sweep_row *row = s->ranking.contenders[0].row;
	char least[GP_BYTES_TEXT], most[GP_BYTES_TEXT];

	if (row->devices > 1)
		gp_page_line(&s->page, GP_TONE_PLAIN, 2,
			     "From %s to %s at the peak, over %" PRIu64
			     " devices; worst: %s.",
			     gp_bytes_text(row->least_reserved, least),
			     gp_bytes_text(row->reserved, most), row->devices,
			     gp_page_name(s->book->traces[row->worst].path));
}

static void tell_answer(const struct scene *s)
{
	const struct gp_contender *best = &s->ranking.contenders[0];
	char *label = sweep_label(s->book, best->index);

	tell_reserved(s, label);
	tell_line_to_paste(s, &s->book->entries[best->index]);
	tell_ooms(s);
	tell_why(s);
	tell_without_expandable(s);
	tell_spread(s);
	gp_page_blank(&s->page);
	free(label);
}

/* ---- the table ---- */

static void put_row(const struct scene *s, const char *place,
		    const struct gp_sweep_row *row, const char *label)
{
	char reserved[GP_BYTES_TEXT], gap[GP_BYTES_TEXT], time[TIME_TEXT];
	char allocs[GP_COUNT_TEXT], change[CHANGE_TEXT];

	fprintf(s->page.out,
		"%5s %10s %12s %10s %7" PRIu64 " %5" PRIu64 " %9s %8s  %s",
		place, gp_bytes_text(row->reserved, reserved),
		change_text(row->reserved, s->ranking.recorded.reserved,
			    change),
		gp_bytes_text(row->reserved - row->allocated, gap),
		row->retries, row->ooms,
		gp_count_text(row->device_allocs, allocs),
		time_text(row->device_time_us, time), label);
	if (row->ooms)
		fprintf(s->page.out, " (first OOM: alloc %" PRIu64 ")",
			row->first_oom_alloc);
	putc('\n', s->page.out);
}

static void put_contender(const struct scene *s, size_t i)
{
	const struct ranking *r = &s->ranking;
	const struct gp_contender *c = &r->contenders[i];
	bool ties = i && gp_rank_is_tie(c - 1, c);
	bool is_front = gp_rank_is_front(r->contenders, r->count, i);
	char *label = sweep_label(s->book, c->index);
	char place[32];

	snprintf(place, sizeof(place), "%zu%s%s", i + 1, ties ? "=" : "",
		 is_front ? "*" : "");
	put_row(s, place, c->row, label);
	free(label);
}

static void tell_table(const struct scene *s)
{
	const struct ranking *r = &s->ranking;
	size_t front = 0;

	fprintf(s->page.out, "%5s %10s %12s %10s %7s %5s %9s %8s  %s\n", "#",
		"peak", "to recorded", "gap", "retries", "OOMs", "allocs",
		"est.", "settings");
	for (size_t i = 0; i < r->count; i++) {
		front += gp_rank_is_front(r->contenders, r->count, i);
		if (i < ROWS)
			put_contender(s, i);
		else if (gp_rank_is_front(r->contenders, r->count, i))
			put_contender(s, i);
	}
	put_row(s, "", &r->recorded, "as recorded");
	if (r->count > ROWS)
		gp_page_line(
			&s->page, GP_TONE_PLAIN, 2,
			"%zu combinations in all: --format csv lists them.",
			r->count);
	gp_page_blank(&s->page);
	gp_page_line(&s->page, GP_TONE_PLAIN, 2,
		     "* nothing here takes both less memory and less time "
		     "(%zu of %zu).  = the same numbers as the line above.",
		     front, r->count);
	gp_page_line(&s->page, GP_TONE_PLAIN, 2,
		     "allocs: cudaMalloc calls and pages mapped. est.: time in "
		     "such calls by the prices %s%s; waiting for the device "
		     "is not in it.",
		     strcmp(s->book->prices, "built in") ? "in " : "",
		     strcmp(s->book->prices, "built in") ? s->book->prices
							 : "built in");
}

/* ---- what was cut short ---- */

static void tell_cut(const struct scene *s)
{
	const struct ranking *r = &s->ranking;
	char text[CUT_TEXT];

	if (!r->cut_count)
		return;
	gp_page_blank(&s->page);
	gp_page_line(&s->page, GP_TONE_TITLE, 2,
		     "Cut short, since they cannot be best: the first "
		     "combination that is possible serves more requests, or "
		     "reserves less. What they might save in time is not "
		     "known.");
	for (size_t i = 0; i < r->cut_count && i < ROWS; i++) {
		char *label = sweep_label(s->book, r->cut[i]);

		gp_page_line(&s->page, GP_TONE_PLAIN, 4, "  %s: %s", label,
			     ranking_cut_text(&r->rows[r->cut[i]], text));
		free(label);
	}
	if (r->cut_count > ROWS)
		gp_page_line(&s->page, GP_TONE_PLAIN, 4,
			     "  and %zu more: --format csv lists them.",
			     r->cut_count - ROWS);
}

/* ---- what cannot be ---- */

static void tell_skipped(const struct scene *s)
{
	const struct gp_book *book = s->book;
	size_t count = 0;

	for (size_t i = 0; i < book->entry_count; i++) {
		char *label;

		if (!ranking_impossible(book, i))
			continue;
		if (!count++) {
			gp_page_blank(&s->page);
			fputs("Not possible:\n", s->page.out);
		}
		if (count > ROWS)
			continue;
		label = sweep_label(book, i);
		gp_page_line(&s->page, GP_TONE_PLAIN, 4, "  %s: PyTorch %s: %s",
			     label, book->entries[i].torch,
			     book->entries[i].reason);
		free(label);
	}
	if (count > ROWS)
		gp_page_line(&s->page, GP_TONE_PLAIN, 4,
			     "  and %zu more: --format csv lists them.",
			     count - ROWS);
}

/* ---- what is not known ---- */

static void tell_no_answer(const struct scene *s)
{
	const struct gp_book *book = s->book;
	size_t count = 0;

	for (size_t i = 0; i < book->entry_count; i++) {
		const char *why = ranking_no_answer(book, &s->ranking, i);
		char *label;

		if (!why)
			continue;
		if (!count++) {
			gp_page_blank(&s->page);
			gp_page_line(&s->page, GP_TONE_BAD, 2, "No answer:");
		}
		if (count > ROWS)
			continue;
		label = sweep_label(book, i);
		gp_page_line(&s->page, GP_TONE_PLAIN, 4, "  %s: %s", label,
			     why);
		free(label);
	}
	if (count > ROWS)
		gp_page_line(&s->page, GP_TONE_PLAIN, 4,
			     "  and %zu more: --format csv lists them.",
			     count - ROWS);
}

static struct scene scene_of(const struct gp_book *book,
			     const struct gp_book_style *style, FILE *out)
{
	return (struct scene){
		.page = gp_page_make(&style->style, out),
		.book = book,
		.ranking = ranking_make(book, style->by),
		.by = style->by,
	};
}

void gp_book_answer(const struct gp_book *book,
		    const struct gp_book_style *style, FILE *out)
{
	struct scene s = scene_of(book, style, out);

	tell_head(&s);
	if (s.ranking.count)
		tell_answer(&s);
	ranking_release(&s.ranking);
}

void gp_book_text(const struct gp_book *book, const struct gp_book_style *style,
		  FILE *out)
{
	struct scene s = scene_of(book, style, out);

	tell_head(&s);
	if (s.ranking.count) {
		tell_answer(&s);
		tell_table(&s);
	}
	tell_cut(&s);
	tell_no_answer(&s);
	tell_skipped(&s);
	ranking_release(&s.ranking);
}
