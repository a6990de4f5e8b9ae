/* A sweep as CSV and as Markdown: every combination, best first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/quote.h"
#include "gpupool/book.h"
#include "report/sweep_rank.h"

static void put_capacity(uint64_t capacity, FILE *out)
{
	if (capacity == GP_UNLIMITED)
		fputs("unlimited", out);
	else if (capacity)
		fprintf(out, "%" PRIu64, capacity);
}

static void put_csv_row(const struct gp_book *book,
			const struct ranking *ranking, size_t i, FILE *out)
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
		",%" PRId64 ",%d,\n",
		row->reserved, row->allocated, row->reserved - row->allocated,
		row->retries, row->ooms, row->dropped, row->first_oom_alloc,
		row->device_allocs, row->device_time_us, row->least_reserved,
		(int64_t)(row->reserved - ranking->recorded.reserved),
		gp_rank_is_front(ranking->contenders, ranking->count, i));
}

/* Those that cannot be, or were cut short, have a reason and no numbers. */
static void put_csv_skipped(const struct gp_book *book, size_t index,
			    const char *reason, FILE *out)
{
	const struct gp_book_entry *entry = &book->entries[index];

	fprintf(out, ",%zu,", index);
	gp_quote_csv(entry->conf, out);
	fprintf(out, ",%s,%s,", entry->torch, entry->engine);
	put_capacity(entry->capacity, out);
	fputs(",,,,,,,,,,,,,", out);
	gp_quote_csv(reason, out);
	putc('\n', out);
}

void gp_book_csv(const struct gp_book *book, const struct gp_book_style *style,
		 FILE *out)
{
	struct ranking ranking = ranking_make(book, style->by);
	char text[CUT_TEXT + 16], why[CUT_TEXT];

	fputs("rank,combination,alloc_conf,torch,engine,capacity,reserved,"
	      "allocated,gap,retries,ooms,dropped,first_oom_alloc,"
	      "device_allocs,device_time_us,least_reserved,"
	      "reserved_minus_recorded,pareto,reason\n",
	      out);
	for (size_t i = 0; i < ranking.count; i++)
		put_csv_row(book, &ranking, i, out);
	for (size_t i = 0; i < ranking.cut_count; i++) {
		size_t index = ranking.cut[i];

		snprintf(text, sizeof(text), "cut short: %s",
			 ranking_cut_text(&ranking.rows[index], why));
		put_csv_skipped(book, index, text, out);
	}
	for (size_t i = 0; i < book->entry_count; i++)
		if (book->entries[i].reason)
			put_csv_skipped(book, i, book->entries[i].reason, out);
	ranking_release(&ranking);
}

/* ---- Markdown ---- */

static void put_cell(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '\\')
			putc('\\', out);
		putc(*text == '\n' ? ' ' : *text, out);
	}
}

static void put_markdown_row(const struct gp_book *book,
			     const struct ranking *ranking, size_t i, FILE *out)
{
	const struct gp_contender *c = &ranking->contenders[i];
	char *label = sweep_label(book, c->index);
	char reserved[GP_BYTES_TEXT], gap[GP_BYTES_TEXT];

	fprintf(out, "| %zu | ", i + 1);
	put_cell(label, out);
	fprintf(out,
		" | %s | %s | %" PRIu64 " | %" PRIu64 " | %" PRIu64
		" | %.1f |\n",
		gp_bytes_text(c->row->reserved, reserved),
		gp_bytes_text(c->row->reserved - c->row->allocated, gap),
		c->row->retries, c->row->ooms, c->row->device_allocs,
		(double)c->row->device_time_us / 1e3);
	free(label);
}

void gp_book_markdown(const struct gp_book *book,
		      const struct gp_book_style *style, FILE *out)
{
	struct ranking ranking = ranking_make(book, style->by);
	char reserved[GP_BYTES_TEXT], gap[GP_BYTES_TEXT];
	const struct gp_sweep_row *row = &ranking.recorded;
	char text[CUT_TEXT];

	fputs("| # | settings | peak reserved | gap | retries | OOMs | "
	      "cudaMalloc and maps | est. ms |\n"
	      "|--:|---|--:|--:|--:|--:|--:|--:|\n",
	      out);
	for (size_t i = 0; i < ranking.count; i++)
		put_markdown_row(book, &ranking, i, out);
	fprintf(out,
		"| | *as recorded* | %s | %s | %" PRIu64 " | %" PRIu64
		" | %" PRIu64 " | %.1f |\n",
		gp_bytes_text(row->reserved, reserved),
		gp_bytes_text(row->reserved - row->allocated, gap),
		row->retries, row->ooms, row->device_allocs,
		(double)row->device_time_us / 1e3);
	for (size_t i = 0; i < ranking.cut_count; i++) {
		char *label = sweep_label(book, ranking.cut[i]);

		fputs("\nCut short: ", out);
		put_cell(label, out);
		fprintf(out, " (%s)\n",
			ranking_cut_text(&ranking.rows[ranking.cut[i]], text));
		free(label);
	}
	for (size_t i = 0; i < book->entry_count; i++) {
		char *label;

		if (!book->entries[i].reason)
			continue;
		label = sweep_label(book, i);
		fputs("\nNot possible: ", out);
		put_cell(label, out);
		fprintf(out, " (%s)\n", book->entries[i].reason);
		free(label);
	}
	ranking_release(&ranking);
}
