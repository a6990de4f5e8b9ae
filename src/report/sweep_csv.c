/* SPDX-License-Identifier: MIT */
/* A sweep as CSV: every combination, best first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quote.h"
#include "report/book.h"
#include "report/sweep_rank.h"

static void put_capacity(uint64_t capacity, FILE *out)
{
	if (capacity == GP_UNLIMITED)
		fputs("unlimited", out);
	else if (capacity)
		fprintf(out, "%" PRIu64, capacity);
}

/* The column that a sweep over all values has. */
static void end_line(const struct gp_book *book, size_t combination, FILE *out)
{
	char *text;

	if (book->classes.searched) {
		text = sweep_alike(book, combination);
		putc(',', out);
		gp_quote_csv(text, out);
		free(text);
	}
	putc('\n', out);
}

/* Of windows; else the columns are empty. */
static void put_estimate(const struct gp_sweep_row *row, FILE *out)
{
	if (row->estimated)
		fprintf(out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
			row->estimated, row->estimated_low,
			row->estimated_high);
	else
		fputs(",,,", out);
}

static void put_row(const struct gp_book *book, const struct ranking *ranking,
		    size_t i, FILE *out)
{
	const struct gp_contender *c = &ranking->contenders[i];
	const struct gp_book_entry *entry = &book->entries[c->index];
	const struct gp_sweep_row *row = c->row;

	fprintf(out, "%zu,%zu,", i + 1, c->index);
	gp_quote_csv(entry->conf, out);
	fprintf(out, ",%s,%s,", entry->torch, entry->engine);
	put_capacity(entry->capacity, out);
	fprintf(out,
		",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
		",%" PRId64 ",%d,",
		row->reserved, row->allocated, row->reserved - row->allocated,
		row->retries, row->ooms, row->dropped, row->first_oom_alloc,
		row->device_allocs, row->device_time_us, row->least_reserved,
		(int64_t)(gp_row_peak(row) - ranking->recorded.reserved),
		gp_rank_is_front(ranking->contenders, ranking->count, i));
	put_estimate(row, out);
	end_line(book, c->index, out);
}

/* Those that cannot be, or were cut short, have a reason and no numbers. */
static void put_skipped(const struct gp_book *book, size_t index,
			const char *reason, FILE *out)
{
	const struct gp_book_entry *entry = &book->entries[index];

	fprintf(out, ",%zu,", index);
	gp_quote_csv(entry->conf, out);
	fprintf(out, ",%s,%s,", entry->torch, entry->engine);
	put_capacity(entry->capacity, out);
	fputs(",,,,,,,,,,,,,", out);
	gp_quote_csv(reason, out);
	fputs(",,,", out);
	end_line(book, index, out);
}

void gp_book_csv(const struct gp_book *book, const struct gp_book_style *style,
		 FILE *out)
{
	struct ranking ranking = ranking_make(book, style->by);
	char text[CUT_TEXT + 16], why[CUT_TEXT];

	fputs("rank,combination,alloc_conf,torch,engine,capacity,"
	      "peak_reserved_bytes,allocated_bytes,gap_bytes,"
	      "num_alloc_retries,num_ooms,dropped,first_oom_alloc,"
	      "device_allocs,device_time_us,least_peak_reserved_bytes,"
	      "peak_reserved_minus_recorded_bytes,pareto,reason,"
	      "estimated_bytes,estimated_low_bytes,estimated_high_bytes",
	      out);
	fputs(book->classes.searched ? ",alike\n" : "\n", out);
	for (size_t i = 0; i < ranking.count; i++)
		put_row(book, &ranking, i, out);
	for (size_t i = 0; i < ranking.cut_count; i++) {
		size_t index = ranking.cut[i];

		snprintf(text, sizeof(text), "cut short: %s",
			 ranking_cut_text(&ranking.rows[index], why));
		put_skipped(book, index, text, out);
	}
	for (size_t i = 0; i < book->entry_count; i++)
		if (ranking_no_answer(book, &ranking, i))
			put_skipped(book, i,
				    ranking_no_answer(book, &ranking, i), out);
	for (size_t i = 0; i < book->entry_count; i++)
		if (ranking_impossible(book, i))
			put_skipped(book, i, ranking_impossible(book, i), out);
	ranking_release(&ranking);
}
