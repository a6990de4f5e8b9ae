/* SPDX-License-Identifier: MIT */
/* The table of a sweep, best first: its columns, in text, Markdown, CSV and
 * HTML. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text_sink.h"
#include "report/sweep_report.h"
#include "report/sweep_rank.h"
#include "report/table.h"

/* In the order of every format that has them. */
enum {
	MARKED_PLACE,
	PLACE,
	COMBINATION,
	CONF,
	TORCH,
	ENGINE,
	CAPACITY,
	LABEL,
	PEAK,
	CHANGE,
	RESERVED,
	ALLOCATED,
	GAP,
	RESERVED_GAP,
	RETRIES,
	OOMS,
	DROPPED,
	FIRST_OOM,
	ALLOCS,
	TIME,
	LEAST,
	RESERVED_CHANGE,
	FRONT,
	SETTINGS,
	REASON,
	ESTIMATED,
	ESTIMATED_LOW,
	ESTIMATED_HIGH,
	ALIKE, /* only of a sweep over all values */
	COLUMNS
};

#define CSV(name)                                                              \
	{                                                                      \
		.title[GP_TABLE_CSV] = name                                    \
	}

static const struct gp_column columns[COLUMNS] = {
	[MARKED_PLACE] = { { "#" }, 5, NULL },
	[PLACE] = { { NULL, "#", "rank", "place" }, 0, "" },
	[COMBINATION] = CSV("combination"),
	[CONF] = CSV("alloc_conf"),
	[TORCH] = CSV("torch"),
	[ENGINE] = CSV("engine"),
	[CAPACITY] = CSV("capacity"),
	[LABEL] = { { NULL, "settings" }, 0, NULL },
	[PEAK] = { { "peak", "peak reserved", NULL, "peak reserved" },
		   10,
		   "reserved" },
	[CHANGE] = { { "to recorded" }, 12, NULL },
	[RESERVED] = CSV("peak_reserved_bytes"),
	[ALLOCATED] = CSV("allocated_bytes"),
	[GAP] = { { "gap", "gap", NULL, "gap" }, 10, "gap" },
	[RESERVED_GAP] = CSV("gap_bytes"),
	[RETRIES] = { { "retries", "retries", "num_alloc_retries", "retries" },
		      7,
		      "retries" },
	[OOMS] = { { "OOMs", "OOMs", "num_ooms", "OOMs" }, 5, "ooms" },
	[DROPPED] = CSV("dropped"),
	[FIRST_OOM] = CSV("first_oom_alloc"),
	[ALLOCS] = { { "allocs", "cudaMalloc and maps", "device_allocs",
		       "mallocs, maps" },
		     9,
		     "device_allocs" },
	[TIME] = { { "est.", "est. ms", "device_time_us", "est. ms" },
		   8,
		   "device_time_us" },
	[LEAST] = CSV("least_peak_reserved_bytes"),
	[RESERVED_CHANGE] = CSV("peak_reserved_minus_recorded_bytes"),
	[FRONT] = { { NULL, NULL, "pareto", "on the front" }, 0, NULL },
	[SETTINGS] = { { "settings", NULL, NULL, "settings" }, 0, NULL },
	[REASON] = CSV("reason"),
	[ESTIMATED] = CSV("estimated_bytes"),
	[ESTIMATED_LOW] = CSV("estimated_low_bytes"),
	[ESTIMATED_HIGH] = CSV("estimated_high_bytes"),
	[ALIKE] = CSV("alike"),
};

struct gp_table sweep_table(const struct gp_sweep_report *sweep,
			    enum gp_table_format format, FILE *out)
{
	return (struct gp_table){
		.format = format,
		.columns = columns,
		.count = sweep->classes.searched ? COLUMNS : ALIKE,
		.out = out,
	};
}

/* ---- cells ---- */

static struct gp_cell number(enum gp_cell_kind kind, uint64_t value)
{
	return (struct gp_cell){ .kind = kind, .number = value };
}

static struct gp_cell text(enum gp_cell_kind kind, const char *value)
{
	return (struct gp_cell){ .kind = value ? kind : GP_CELL_NONE,
				 .text = value };
}

static void fill_numbers(const struct gp_sweep_row *row, uint64_t recorded,
			 struct gp_cell cells[COLUMNS])
{
	cells[PEAK] = number(GP_CELL_BYTES, gp_row_peak(row));
	cells[CHANGE] = number(GP_CELL_MORE, gp_row_peak(row) - recorded);
	cells[RESERVED] = number(GP_CELL_BYTES, row->reserved);
	cells[ALLOCATED] = number(GP_CELL_BYTES, row->allocated);
	cells[GAP] = number(GP_CELL_BYTES, gp_row_gap(row));
	cells[RESERVED_GAP] =
		number(GP_CELL_BYTES, row->reserved - row->allocated);
	cells[RETRIES] = number(GP_CELL_COUNT, row->retries);
	cells[OOMS] = number(GP_CELL_COUNT, row->ooms);
	cells[DROPPED] = number(GP_CELL_COUNT, row->dropped);
	cells[FIRST_OOM] = number(GP_CELL_COUNT, row->first_oom_alloc);
	cells[ALLOCS] = number(GP_CELL_COUNT, row->device_allocs);
	cells[TIME] = number(GP_CELL_TIME, row->device_time_us);
	cells[LEAST] = number(GP_CELL_BYTES, row->least_reserved);
	cells[RESERVED_CHANGE] = cells[CHANGE];
	if (!row->estimated)
		return;
	cells[ESTIMATED] = number(GP_CELL_BYTES, row->estimated);
	cells[ESTIMATED_LOW] = number(GP_CELL_BYTES, row->estimated_low);
	cells[ESTIMATED_HIGH] = number(GP_CELL_BYTES, row->estimated_high);
}

static void fill_entry(const struct gp_sweep_report *sweep, size_t index,
		       const char *label, const char *alike,
		       struct gp_cell cells[COLUMNS])
{
	const struct gp_sweep_report_entry *entry = &sweep->entries[index];

	cells[COMBINATION] = number(GP_CELL_COUNT, index);
	cells[CONF] = text(GP_CELL_TEXT, entry->conf);
	cells[TORCH] = text(GP_CELL_WORD, entry->torch);
	cells[ENGINE] = text(GP_CELL_WORD, entry->engine);
	if (entry->capacity == GP_UNLIMITED)
		cells[CAPACITY] = text(GP_CELL_WORD, "unlimited");
	else if (entry->capacity)
		cells[CAPACITY] = number(GP_CELL_BYTES, entry->capacity);
	cells[LABEL] = text(GP_CELL_WORD, label);
	cells[ALIKE] = text(GP_CELL_TEXT, alike);
}

/* Behind the settings in text, which has no columns for it. */
static char *noted(const char *label, const struct gp_sweep_row *row)
{
	char low[GP_BYTES_TEXT], high[GP_BYTES_TEXT];
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);

	fputs(label, out);
	if (row->estimated)
		fprintf(out, " (estimated: %s to %s)",
			gp_bytes_text(row->estimated_low, low),
			gp_bytes_text(row->estimated_high, high));
	if (row->ooms)
		fprintf(out, " (first OOM: alloc %" PRIu64 ")",
			row->first_oom_alloc);
	return gp_text_sink_close(&sink, out);
}

/* ---- rows ---- */

static void put_row(const struct gp_table *table, const char *label,
		    const struct gp_sweep_row *row,
		    struct gp_cell cells[COLUMNS])
{
	char *settings =
		table->format == GP_TABLE_TEXT ? noted(label, row) : NULL;

	cells[SETTINGS] = text(GP_CELL_WORD, settings ? settings : label);
	gp_table_row(table, cells);
	free(settings);
}

void sweep_table_contender(const struct gp_table *table,
			   const struct gp_sweep_report *sweep,
			   const struct ranking *ranking, size_t i)
{
	const struct gp_contender *c = &ranking->contenders[i];
	bool is_front =
		gp_rank_is_front(ranking->contenders, ranking->count, i);
	char *label = sweep_label(sweep, c->index);
	char *alike = sweep_alike(sweep, c->index);
	struct gp_cell cells[COLUMNS] = { 0 };
	char place[32];

	snprintf(place, sizeof(place), "%zu%s%s", i + 1,
		 i && gp_rank_is_tie(c - 1, c) ? "=" : "", is_front ? "*" : "");
	cells[MARKED_PLACE] = text(GP_CELL_WORD, place);
	cells[PLACE] = number(GP_CELL_COUNT, i + 1);
	cells[FRONT] = number(GP_CELL_FLAG, is_front);
	fill_entry(sweep, c->index, label, alike, cells);
	fill_numbers(c->row, ranking->recorded.reserved, cells);
	put_row(table, label, c->row, cells);
	free(label);
	free(alike);
}

void sweep_table_recorded(const struct gp_table *table,
			  const struct ranking *ranking)
{
	struct gp_cell cells[COLUMNS] = { 0 };

	cells[LABEL] = text(GP_CELL_WORD, "*as recorded*");
	fill_numbers(&ranking->recorded, ranking->recorded.reserved, cells);
	put_row(table, "as recorded", &ranking->recorded, cells);
}

/* Those that cannot be, or were cut short, have a reason and no numbers. */
static void put_other(const struct gp_table *table,
		      const struct gp_sweep_report *sweep,
		      const struct sweep_other *other)
{
	char *alike = sweep_alike(sweep, other->index);
	struct gp_cell cells[COLUMNS] = { 0 };
	char cut[SWEEP_CUT_TEXT + 16];

	snprintf(cut, sizeof(cut), "cut short: %s", other->why);
	fill_entry(sweep, other->index, "", alike, cells);
	cells[REASON] =
		text(GP_CELL_TEXT, other->kind == SWEEP_CUT ? cut : other->why);
	gp_table_row(table, cells);
	free(alike);
}

/* ---- whole reports ---- */

void gp_sweep_report_csv(const struct gp_sweep_report *sweep,
			 const struct gp_sweep_report_style *style, FILE *out)
{
	struct gp_table table = sweep_table(sweep, GP_TABLE_CSV, out);
	struct ranking ranking = ranking_make(sweep, style->by);

	gp_table_begin(&table, NULL);
	for (size_t i = 0; i < ranking.count; i++)
		sweep_table_contender(&table, sweep, &ranking, i);
	for (size_t i = 0; i < ranking.other_count; i++)
		put_other(&table, sweep, &ranking.others[i]);
	ranking_release(&ranking);
}

/* Behind the table, a paragraph each: "Cut short: SETTINGS (WHY)". */
void gp_sweep_report_markdown(const struct gp_sweep_report *sweep,
			      const struct gp_sweep_report_style *style,
			      FILE *out)
{
	struct gp_table table = sweep_table(sweep, GP_TABLE_MARKDOWN, out);
	struct ranking ranking = ranking_make(sweep, style->by);

	gp_table_begin(&table, NULL);
	for (size_t i = 0; i < ranking.count; i++)
		sweep_table_contender(&table, sweep, &ranking, i);
	sweep_table_recorded(&table, &ranking);
	for (size_t i = 0; i < ranking.other_count; i++) {
		const struct sweep_other *other = &ranking.others[i];
		char *label = sweep_label(sweep, other->index);

		fprintf(out, "\n%s: ", sweep_other_titles[other->kind]);
		gp_table_markdown(label, out);
		fprintf(out, " (%s)\n", other->why);
		free(label);
	}
	ranking_release(&ranking);
}
