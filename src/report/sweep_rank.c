/* SPDX-License-Identifier: MIT */
/* The combinations of a sweep, best first, and their table. */
#include "report/sweep_rank.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "report/head.h"
#include "report/page.h"
#include "report/sweep_report.h"
#include "report/table.h"

#define ROUND_TO 10000. /* precision of the ends of a threshold's range */

/* Combines the runs of all traces into one row, taking the worst of each;
 * false: a run is missing. */
static bool join(const struct gp_sweep_report *sweep, size_t combination,
		 struct gp_sweep_row *row)
{
	const struct gp_sweep_report_run *runs =
		sweep->runs + combination * sweep->trace_count;

	for (size_t t = 0; t < sweep->trace_count; t++) {
		if (!runs[t].is_done)
			return false;
		gp_row_join(row, &runs[t].row, (uint32_t)t);
	}
	return sweep->trace_count > 0;
}

/* ---- combinations without a rank ---- */

const char *const sweep_other_titles[SWEEP_OTHERS] = {
	[SWEEP_CUT] = "Cut short",
	[SWEEP_EXCLUDED] = "Not to be used",
	[SWEEP_NO_ANSWER] = "No answer",
	[SWEEP_IMPOSSIBLE] = "Not possible",
};

static const char *cut_text(const struct gp_sweep_row *row,
			    char text[SWEEP_CUT_TEXT])
{
	char dropped[64] = "";

	if (row->dropped)
		snprintf(dropped, sizeof(dropped), ", and had not served %s",
			 GP_PLURAL(row->dropped, "request"));
	snprintf(text, SWEEP_CUT_TEXT, "after %s it already reserved %s%s",
		 GP_PLURAL(row->cut_events, "event"), GP_BYTES(row->reserved),
		 dropped);
	return text;
}

/* Why a combination has no rank, if the reason is of that kind; else NULL. */
static const char *why_not(const struct gp_sweep_report_entry *entry,
			   const struct gp_sweep_row *row,
			   enum sweep_other_kind kind,
			   char text[SWEEP_CUT_TEXT])
{
	bool has_failed = *row->failure;

	switch (kind) {
	case SWEEP_CUT:
		return row->cut_events && !has_failed ? cut_text(row, text)
						      : NULL;
	case SWEEP_EXCLUDED: return entry->is_excluded ? entry->reason : NULL;
	case SWEEP_NO_ANSWER:
		if (entry->is_undecided)
			return entry->reason;
		return has_failed ? row->failure : NULL;
	default:
		return entry->is_undecided || entry->is_excluded
			       ? NULL
			       : entry->reason;
	}
}

static void list_others(const struct gp_sweep_report *sweep, struct ranking *r)
{
	size_t room = 0;
	char text[SWEEP_CUT_TEXT];

	for (int kind = 0; kind < SWEEP_OTHERS; kind++)
		for (size_t i = 0; i < sweep->entry_count; i++) {
			const char *why =
				why_not(&sweep->entries[i], &r->rows[i],
					(enum sweep_other_kind)kind, text);

			if (!why)
				continue;
			GP_GROW(r->others, r->other_count + 1, room);
			r->others[r->other_count++] = (struct sweep_other){
				i, (enum sweep_other_kind)kind,
				gp_mem_copy_text(why, strlen(why))
			};
		}
}

/* ---- the ranking ---- */

struct ranking ranking_make(const struct gp_sweep_report *sweep,
			    enum gp_rank_by by)
{
	struct ranking r = {
		.sweep = sweep,
		.contenders =
			gp_mem_alloc(sweep->entry_count, sizeof(*r.contenders)),
		.rows = gp_mem_alloc(sweep->entry_count, sizeof(*r.rows)),
	};

	for (size_t i = 0; i < sweep->entry_count; i++)
		if (join(sweep, i, &r.rows[i]) && !*r.rows[i].failure &&
		    !r.rows[i].cut_events)
			r.contenders[r.count++] = (struct gp_contender){
				&r.rows[i], sweep->entries[i].conf, i
			};
	for (size_t t = 0; t < sweep->trace_count; t++)
		gp_row_join(&r.recorded, &sweep->traces[t].row, (uint32_t)t);
	gp_rank(r.contenders, r.count, by);
	list_others(sweep, &r);
	return r;
}

void ranking_release(struct ranking *ranking)
{
	for (size_t i = 0; i < ranking->other_count; i++)
		free(ranking->others[i].why);
	free(ranking->others);
	free(ranking->contenders);
	free(ranking->rows);
}

/* ---- ranges ---- */

static void put_mib(uint64_t least, uint64_t most, FILE *out)
{
	if (least == GP_UNLIMITED)
		fputs("none", out);
	else if (most == GP_UNLIMITED)
		fprintf(out, "%" PRIu64 "..none", least);
	else if (least == most)
		fprintf(out, "%" PRIu64, least);
	else
		fprintf(out, "%" PRIu64 "..%" PRIu64, least, most);
}

/* Writes a range of ratios, with its ends rounded inwards if there is room. */
static void put_ratio(const struct gp_box *box, FILE *out)
{
	double least = ceil(box->gc_least * ROUND_TO) / ROUND_TO;
	double most = floor(box->gc_most * ROUND_TO) / ROUND_TO;

	if (box->gc_off && box->gc_least <= DBL_MIN)
		fputs("any", out);
	else if (box->gc_least > box->gc_most)
		fputs("none", out);
	else if (box->gc_off && least < 1)
		fprintf(out, "%.6g..none", least);
	else if (box->gc_off)
		fprintf(out, "%.17g..none", box->gc_least);
	else if (least < most)
		fprintf(out, "%.6g..%.6g", least, most);
	else
		fprintf(out, "%.17g..%.17g", box->gc_least, box->gc_most);
}

static void put_range(const struct gp_sweep_report_entry *entry,
		      enum gp_space_axis axis, FILE *out)
{
	const struct gp_box *box = &entry->box;

	if (axis == GP_SPACE_SPLIT)
		put_mib(box->split_least_mb, box->split_most_mb, out);
	else if (axis == GP_SPACE_LARGE)
		put_mib(box->large_least_mb, box->large_most_mb, out);
	else
		put_ratio(box, out);
}

/* is_named: the setting's name is written already, and is left out here. */
static char *alike_text(const struct gp_sweep_report_entry *entry,
			bool is_named)
{
	const char *separator = "";
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);

	for (int i = 0; i < GP_SPACE_AXES; i++) {
		if (!(entry->searched >> i & 1))
			continue;
		fputs(separator, out);
		if (!is_named)
			fprintf(out, "%s ", gp_space_names[i]);
		put_range(entry, (enum gp_space_axis)i, out);
		separator = ", ";
	}
	return gp_text_sink_close(&sink, out);
}

/* The values that a combination stands for: "max_split_size_mb 52..71", or
 * "..none" up to "not set". "": only itself. The caller frees the text. */
static char *sweep_alike(const struct gp_sweep_report *sweep,
			 size_t combination)
{
	return alike_text(&sweep->entries[combination], false);
}

/* Appends the range to the settings, as in " (52..71)"; nothing if the
 * combination stands only for itself. */
static void put_alike(const struct gp_sweep_report_entry *entry, FILE *out)
{
	bool is_named = false;
	char *text;

	for (int i = 0; i < GP_SPACE_AXES; i++)
		is_named |= entry->searched == 1U << i &&
			    gp_conf_names(entry->conf, gp_space_names[i]);
	text = alike_text(entry, is_named);
	if (*text && (!is_named || strstr(text, "..")))
		fprintf(out, " (%s)", text);
	free(text);
}

/* ---- labels ---- */

enum part { OF_TORCH, OF_CAPACITY, OF_ENGINE };

static bool varies(const struct gp_sweep_report *sweep, enum part part)
{
	const struct gp_sweep_report_entry *first = sweep->entries;

	for (size_t i = 1; i < sweep->entry_count; i++) {
		const struct gp_sweep_report_entry *entry = &sweep->entries[i];

		if (part == OF_TORCH && strcmp(first->torch, entry->torch) != 0)
			return true;
		if (part == OF_CAPACITY && first->capacity != entry->capacity)
			return true;
		if (part == OF_ENGINE &&
		    strcmp(first->engine, entry->engine) != 0)
			return true;
	}
	return false;
}

char *sweep_label(const struct gp_sweep_report *sweep, size_t combination)
{
	const struct gp_sweep_report_entry *entry =
		&sweep->entries[combination];
	char capacity[GP_BYTES_TEXT];
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	bool is_pytorch = gp_engine_is_pytorch(entry->engine);

	/* Other allocators have no PyTorch settings. */
	if (is_pytorch || *entry->conf) {
		fputs(gp_head_settings(entry->conf), out);
		put_alike(entry, out);
	}
	if (!is_pytorch)
		fprintf(out, "%sengine %s", *entry->conf ? "; " : "",
			entry->engine);
	if (varies(sweep, OF_TORCH) && is_pytorch)
		fprintf(out, "; PyTorch %s", entry->torch);
	if (varies(sweep, OF_CAPACITY))
		fprintf(out, "; %s",
			entry->capacity
				? gp_head_capacity(entry->capacity, capacity)
				: "the recorded memory");
	if (varies(sweep, OF_ENGINE) && is_pytorch)
		fprintf(out, "; engine %s", entry->engine);
	return gp_text_sink_close(&sink, out);
}

/* ---- as a table ---- */

/* Columns, in the order of each format. */
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
	FIRST_OOM_TRACE,
	FIRST_OOM_DEVICE,
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
	[FIRST_OOM_TRACE] = CSV("first_oom_trace"),
	[FIRST_OOM_DEVICE] = CSV("first_oom_device"),
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

static void fill_numbers(const struct gp_sweep_row *row,
			 const struct gp_sweep_row *recorded,
			 struct gp_cell cells[COLUMNS])
{
	cells[PEAK] = number(GP_CELL_BYTES, gp_row_peak(row));
	if (!*recorded->failure)
		cells[CHANGE] = number(GP_CELL_MORE,
				       gp_row_peak(row) - recorded->reserved);
	cells[RESERVED] = number(GP_CELL_BYTES, row->reserved);
	cells[ALLOCATED] = number(GP_CELL_BYTES, row->allocated);
	cells[GAP] = number(GP_CELL_BYTES, gp_row_gap(row));
	cells[RESERVED_GAP] =
		number(GP_CELL_BYTES, row->reserved - row->allocated);
	cells[RETRIES] = number(GP_CELL_COUNT, row->retries);
	cells[OOMS] = number(GP_CELL_COUNT, row->ooms);
	cells[DROPPED] = number(GP_CELL_COUNT, row->dropped);
	cells[FIRST_OOM] = number(GP_CELL_COUNT, row->first_oom_alloc);
	if (row->ooms)
		cells[FIRST_OOM_TRACE] =
			number(GP_CELL_COUNT, row->first_oom_run);
	if (row->ooms && row->first_oom_device != GP_UNLIMITED)
		cells[FIRST_OOM_DEVICE] =
			number(GP_CELL_COUNT, row->first_oom_device);
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
		       const char *alike, struct gp_cell cells[COLUMNS])
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
	cells[ALIKE] = text(GP_CELL_TEXT, alike);
}

/* "alloc 3"; with several devices, which one: "alloc 3 of b.json, device 1". */
static void put_first_oom(const struct gp_sweep_report *sweep,
			  const struct gp_sweep_row *row, FILE *out)
{
	const char *of = " of";

	fprintf(out, " (first OOM: alloc %" PRIu64, row->first_oom_alloc);
	if (sweep->trace_count > 1) {
		fprintf(out, " of %s",
			gp_page_name(sweep->traces[row->first_oom_run].path));
		of = ",";
	}
	if (row->devices > sweep->trace_count &&
	    row->first_oom_device != GP_UNLIMITED)
		fprintf(out, "%s device %" PRIu64, of, row->first_oom_device);
	putc(')', out);
}

/* Only CSV has columns for these notes; other formats append them to the
 * settings. */
static char *noted(const struct gp_sweep_report *sweep, const char *label,
		   const struct gp_sweep_row *row)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);

	fputs(label, out);
	if (row->estimated)
		fprintf(out, " (estimated: %s to %s)",
			GP_BYTES(row->estimated_low),
			GP_BYTES(row->estimated_high));
	if (row->ooms)
		put_first_oom(sweep, row, out);
	return gp_text_sink_close(&sink, out);
}

/* ---- rows ---- */

static void put_row(const struct gp_table *table,
		    const struct gp_sweep_report *sweep, const char *label,
		    const struct gp_sweep_row *row,
		    struct gp_cell cells[COLUMNS])
{
	char *settings = noted(sweep, label, row);

	cells[SETTINGS] = cells[LABEL] = text(GP_CELL_WORD, settings);
	gp_table_row(table, cells);
	free(settings);
}

void sweep_table_contender(const struct gp_table *table,
			   const struct ranking *ranking, size_t i)
{
	const struct gp_sweep_report *sweep = ranking->sweep;
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
	fill_entry(sweep, c->index, alike, cells);
	fill_numbers(c->row, &ranking->recorded, cells);
	put_row(table, sweep, label, c->row, cells);
	free(label);
	free(alike);
}

void sweep_table_recorded(const struct gp_table *table,
			  const struct ranking *ranking)
{
	const struct gp_sweep_row *row = &ranking->recorded;
	struct gp_cell cells[COLUMNS] = { 0 };
	char label[GP_FAILURE_TEXT + 24];

	snprintf(label, sizeof(label), "%s",
		 table->format == GP_TABLE_MARKDOWN ? "*as recorded*"
						    : "as recorded");
	if (*row->failure) {
		size_t length = strlen(label);

		snprintf(label + length, sizeof(label) - length, " (%s)",
			 row->failure);
	} else {
		fill_numbers(row, row, cells);
	}
	put_row(table, ranking->sweep, label, row, cells);
}

/* A combination without a rank: the reason, and no numbers. */
static void put_other(const struct gp_table *table,
		      const struct gp_sweep_report *sweep,
		      const struct sweep_other *other)
{
	char *alike = sweep_alike(sweep, other->index);
	struct gp_cell cells[COLUMNS] = { 0 };
	char cut[SWEEP_CUT_TEXT + 16];

	snprintf(cut, sizeof(cut), "cut short: %s", other->why);
	fill_entry(sweep, other->index, alike, cells);
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
		sweep_table_contender(&table, &ranking, i);
	for (size_t i = 0; i < ranking.other_count; i++)
		put_other(&table, sweep, &ranking.others[i]);
	ranking_release(&ranking);
}

/* The table, followed by a paragraph for each combination without a rank: "Cut
 * short: SETTINGS (WHY)". */
void gp_sweep_report_markdown(const struct gp_sweep_report *sweep,
			      const struct gp_sweep_report_style *style,
			      FILE *out)
{
	struct gp_table table = sweep_table(sweep, GP_TABLE_MARKDOWN, out);
	struct ranking ranking = ranking_make(sweep, style->by);

	gp_table_begin(&table, NULL);
	for (size_t i = 0; i < ranking.count; i++)
		sweep_table_contender(&table, &ranking, i);
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

bool sweep_is_of_part(const struct gp_sweep_report *sweep)
{
	for (size_t i = 0; i < sweep->swept_count; i++)
		if (sweep->verdicts[i].recorded)
			return true;
	return false;
}
