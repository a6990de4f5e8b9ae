/* SPDX-License-Identifier: MIT */
/* A sweep as a table in Markdown: every combination, best first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bytes.h"
#include "report/book.h"
#include "report/sweep_rank.h"

static void put_cell(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '\\')
			putc('\\', out);
		putc(*text == '\n' ? ' ' : *text, out);
	}
}

static void put_numbers(const struct gp_sweep_row *row, FILE *out)
{
	char reserved[GP_BYTES_TEXT], gap[GP_BYTES_TEXT];

	fprintf(out,
		" | %s | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64
		" | %.1f |\n",
		gp_bytes_text(gp_row_peak(row), reserved),
		gp_bytes_text(gp_row_gap(row), gap), row->retries, row->ooms,
		row->device_allocs, (double)row->device_time_us / 1e3);
}

static void put_row(const struct gp_book *book, const struct ranking *ranking,
		    size_t i, FILE *out)
{
	const struct gp_contender *c = &ranking->contenders[i];
	char *label = sweep_label(book, c->index);

	fprintf(out, "| %zu | ", i + 1);
	put_cell(label, out);
	put_numbers(c->row, out);
	free(label);
}

/* A line of its own: "Cut short: SETTINGS (WHY)". */
static void put_other(const struct gp_book *book, size_t index,
		      const char *what, const char *why, FILE *out)
{
	char *label = sweep_label(book, index);

	fprintf(out, "\n%s: ", what);
	put_cell(label, out);
	fprintf(out, " (%s)\n", why);
	free(label);
}

static void put_others(const struct gp_book *book,
		       const struct ranking *ranking, FILE *out)
{
	char text[CUT_TEXT];

	for (size_t i = 0; i < ranking->cut_count; i++) {
		size_t index = ranking->cut[i];

		put_other(book, index, "Cut short",
			  ranking_cut_text(&ranking->rows[index], text), out);
	}
	for (size_t i = 0; i < book->entry_count; i++)
		if (ranking_no_answer(book, ranking, i))
			put_other(book, i, "No answer",
				  ranking_no_answer(book, ranking, i), out);
	for (size_t i = 0; i < book->entry_count; i++)
		if (ranking_impossible(book, i))
			put_other(book, i, "Not possible",
				  ranking_impossible(book, i), out);
}

void gp_book_markdown(const struct gp_book *book,
		      const struct gp_book_style *style, FILE *out)
{
	struct ranking ranking = ranking_make(book, style->by);

	fputs("| # | settings | peak reserved | gap | retries | OOMs | "
	      "cudaMalloc and maps | est. ms |\n"
	      "|--:|---|--:|--:|--:|--:|--:|--:|\n",
	      out);
	for (size_t i = 0; i < ranking.count; i++)
		put_row(book, &ranking, i, out);
	fputs("| | *as recorded*", out);
	put_numbers(&ranking.recorded, out);
	put_others(book, &ranking, out);
	ranking_release(&ranking);
}
