/* SPDX-License-Identifier: MIT */
/* The same traces under several allocators: text, Markdown, CSV, HTML, JSON. */
#include "report/report.h"

#include <stdio.h>
#include <string.h>

#include "report/emit.h"
#include "report/head.h"
#include "report/html.h"
#include "report/object.h"
#include "report/page.h"

#define BAR 16 /* columns */

/* ---- sums ---- */

/* The baseline has no cache and so no gap: it reserves what is live, and its
 * cost is in the number of calls. */
static bool is_baseline(const char *engine)
{
	return !strcmp(engine, "direct");
}

static bool is_served(const struct gp_engine_run *run)
{
	return !run->trouble && !run->dropped && !run->lacks_room;
}

static uint64_t least_of(const struct gp_engine_run *runs, size_t count)
{
	uint64_t least = UINT64_MAX;

	for (size_t i = 0; i < count; i++)
		if (is_served(&runs[i]) && !is_baseline(runs[i].engine) &&
		    runs[i].reserved < least)
			least = runs[i].reserved;
	return least;
}

static void add(struct gp_engine_entry *entry, const struct gp_engine_run *run,
		uint64_t least)
{
	double ratio;

	entry->ooms += run->dropped;
	if (!is_served(run) || !run->packing)
		return;
	ratio = (double)run->reserved / (double)run->packing;
	entry->mean += ratio;
	entry->traces++;
	entry->wins += run->reserved == least && !is_baseline(run->engine);
	if (ratio > entry->worst)
		entry->worst = ratio;
}

void gp_engines_sum(struct gp_engines_report *report)
{
	size_t n = report->entry_count;

	for (size_t r = 0; r < report->run_count; r += n)
		for (size_t e = 0; e < n; e++)
			add(&report->entries[e], &report->runs[r + e],
			    least_of(report->runs + r, n));
	for (size_t e = 0; e < n; e++)
		if (report->entries[e].traces)
			report->entries[e].mean /=
				(double)report->entries[e].traces;
}

/* ---- cells ---- */

static struct gp_cell number(enum gp_cell_kind kind, uint64_t value)
{
	return (struct gp_cell){ .kind = kind, .number = value };
}

static struct gp_cell word(const char *text)
{
	return (struct gp_cell){ .kind = GP_CELL_WORD, .text = text };
}

static struct gp_cell words(const char *text)
{
	return (struct gp_cell){ .kind = GP_CELL_TEXT, .text = text };
}

/* "1.083": a number where numbers are, so that a table can be sorted. */
#define RATIO_TEXT 24
static struct gp_cell ratio(double value, char text[RATIO_TEXT])
{
	snprintf(text, RATIO_TEXT, "%.3f", value);
	return (struct gp_cell){ .kind = GP_CELL_WORD,
				 .text = text,
				 .number = (uint64_t)(value * 1000) };
}

/* The text of the settings column: the settings that were asked for. */
static const char *settings(const char *conf)
{
	return !conf ? "" : *conf ? conf : "(defaults)";
}

/* A bar: reserved as a share of the most that any engine reserves. */
static const char *bar(uint64_t value, uint64_t most, bool is_ascii,
		       char text[3 * BAR + 1])
{
	static const char plain[] = "################",
			  blocks[] = "\u2588\u2588\u2588\u2588\u2588\u2588"
				     "\u2588\u2588\u2588\u2588\u2588\u2588"
				     "\u2588\u2588\u2588\u2588";
	double part = most ? (double)value / (double)most : 0;
	int n = (int)(part * BAR + 0.5);

	snprintf(text, 3 * BAR + 1, "%.*s", is_ascii ? n : 3 * n,
		 is_ascii ? plain : blocks);
	return text;
}

/* ---- runs ---- */

enum {
	TRACE,
	DEVICE,
	ENGINE,
	CONF,
	RESERVED,
	RATIO,
	FRAGMENTATION,
	CALLS,
	TIME,
	OOMS,
	RETRIES,
	NEED,
	PACKING,
	LIVE,
	DRAWN,
	TROUBLE,
	COLUMNS
};

#define CSV(name)                                                              \
	{                                                                      \
		.title[GP_TABLE_CSV] = name                                    \
	}

/* HTML's first column names the row. */
static const struct gp_column columns[COLUMNS] = {
	[TRACE] = { { NULL, "trace", "trace", "trace" }, 0, NULL },
	[DEVICE] = CSV("device"),
	[ENGINE] = { { "engine", "engine", "engine", "engine" }, -11, NULL },
	[CONF] = { { NULL, "settings", "alloc_conf", "settings" }, 0, NULL },
	[RESERVED] = { { "reserved", "peak reserved", "peak_reserved_bytes",
			 "peak reserved" },
		       10,
		       "reserved" },
	[RATIO] = { { "/floor", "of the floor", "of_packing_ratio",
		      "of the floor" },
		    6,
		    "ratio" },
	[FRAGMENTATION] = { { "frag.", "fragmented", "fragmentation_ratio",
			      "fragmented" },
			    6,
			    "fragmentation" },
	[CALLS] = { { "calls", "device calls", "device_calls", "device calls" },
		    7,
		    "calls" },
	[TIME] = { { "est.", "est. ms", "device_time_us", "est. ms" },
		   8,
		   "time" },
	[OOMS] = { { "OOMs", "OOMs", "dropped", "OOMs" }, 5, "ooms" },
	[RETRIES] = CSV("num_alloc_retries"),
	[NEED] = { { NULL, "need", "need_bytes", "need" }, 0, "need" },
	[PACKING] = CSV("packing_bytes"),
	[LIVE] = CSV("live_bytes"),
	[DRAWN] = { { "" }, -BAR, NULL },
	[TROUBLE] = { { NULL, NULL, "trouble", NULL }, 0, NULL },
};

struct texts {
	char ratio[RATIO_TEXT], part[RATIO_TEXT];
	char bar[3 * BAR + 1];
};

static double ratio_of(const struct gp_engine_run *run)
{
	return run->packing ? (double)run->reserved / (double)run->packing : 0;
}

/* Why the run does not serve the trace, apart from failed requests; NULL: it
 * does. */
static const char *trouble_of(const struct gp_engine_run *run)
{
	return run->trouble ? run->trouble
	       : run->lacks_room
		       ? "it leaves too little of the device to others"
		       : NULL;
}

static void fill_run(const struct gp_engine_run *run, struct texts *texts,
		     struct gp_cell cells[COLUMNS])
{
	cells[TRACE] = words(gp_page_name(run->path));
	cells[DEVICE] = number(GP_CELL_COUNT, run->device);
	cells[ENGINE] = word(run->engine);
	cells[CONF] = words(settings(run->conf));
	cells[PACKING] = number(GP_CELL_BYTES, run->packing);
	cells[LIVE] = number(GP_CELL_BYTES, run->live);
	if (trouble_of(run))
		cells[TROUBLE] = words(trouble_of(run));
	if (run->trouble)
		return;
	cells[RESERVED] = number(GP_CELL_BYTES, run->reserved);
	cells[RATIO] = ratio(ratio_of(run), texts->ratio);
	cells[FRAGMENTATION] = ratio(run->fragmentation, texts->part);
	cells[CALLS] = number(GP_CELL_COUNT, run->device_calls);
	cells[TIME] = number(GP_CELL_TIME, run->time_us);
	cells[OOMS] = number(GP_CELL_COUNT, run->dropped);
	cells[RETRIES] = number(GP_CELL_COUNT, run->retries);
	if (run->need)
		cells[NEED] = number(GP_CELL_BYTES, run->need);
}

static uint64_t most_of(const struct gp_engine_run *runs, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (runs[i].reserved > most)
			most = runs[i].reserved;
	return most;
}

#define CONF_TEXT 1024

/* Adds a space after each comma, so that lines can be wrapped there; PyTorch
 * ignores the space. */
static const char *spaced(const char *conf, char text[CONF_TEXT])
{
	size_t at = 0;

	for (; *conf && at + 2 < CONF_TEXT; conf++) {
		text[at++] = *conf;
		if (*conf == ',' && conf[1] != ' ')
			text[at++] = ' ';
	}
	text[at] = '\0';
	return text;
}

/* Prints below a row what does not fit in it: settings, or why it has no
 * numbers. */
static void put_below(const struct gp_page *page, const char *conf,
		      const char *trouble)
{
	char text[CONF_TEXT];

	if (*settings(conf))
		gp_page_line(page, GP_TONE_PLAIN, 6, "    with %s",
			     spaced(settings(conf), text));
	if (trouble)
		gp_page_line(page, GP_TONE_BAD, 6, "    %s", trouble);
}

/* page: where to print what goes below a row, in text; NULL in other formats.
 */
static void put_runs(const struct gp_table *table,
		     const struct gp_engine_run *runs, size_t count,
		     const struct gp_page *page, bool is_ascii)
{
	uint64_t most = most_of(runs, count);

	for (size_t i = 0; i < count; i++) {
		struct gp_cell cells[COLUMNS] = { 0 };
		struct texts texts;

		fill_run(&runs[i], &texts, cells);
		if (page && !runs[i].trouble)
			cells[DRAWN] = word(bar(runs[i].reserved, most,
						is_ascii, texts.bar));
		/* No column says why. */
		if (runs[i].lacks_room && !runs[i].dropped &&
		    (table->format == GP_TABLE_MARKDOWN ||
		     table->format == GP_TABLE_HTML))
			cells[OOMS] = word("no room");
		gp_table_row(table, cells);
		if (page)
			put_below(page, runs[i].conf, trouble_of(&runs[i]));
	}
}

/* ---- engines ---- */

enum { ENTRY, SETTINGS, MEAN, WORST, WINS, TRACES, ALL_OOMS, SUM_COLUMNS };

static const struct gp_column sum_columns[SUM_COLUMNS] = {
	[ENTRY] = { { "engine", "engine", NULL, "engine" }, -11, NULL },
	[SETTINGS] = { { NULL, "settings", NULL, "settings" }, 0, NULL },
	[MEAN] = { { "mean", "mean, of the floor", NULL, "mean" }, 6, "mean" },
	[WORST] = { { "worst", "worst", NULL, "worst" }, 6, "worst" },
	[WINS] = { { "wins", "wins", NULL, "wins" }, 5, "wins" },
	[TRACES] = { { "served", "traces served", NULL, "traces served" },
		     6,
		     "traces" },
	[ALL_OOMS] = { { "OOMs", "OOMs", NULL, "OOMs" }, 6, "ooms" },
};

/* An empty cell if the engine served no trace in full. */
static struct gp_cell mean_of(const struct gp_engine_entry *entry, double value,
			      char text[RATIO_TEXT])
{
	return entry->traces ? ratio(value, text)
			     : (struct gp_cell){ .kind = GP_CELL_NONE };
}

/* Width of the name column: engines with settings, and libraries, have long
 * names. */
static int name_width(const struct gp_engines_report *report)
{
	size_t width = 11;

	for (size_t e = 0; e < report->entry_count; e++)
		if (strlen(report->entries[e].engine) > width)
			width = strlen(report->entries[e].engine);
	return -(int)width;
}

static void put_sums(const struct gp_engines_report *report,
		     enum gp_table_format format, const struct gp_page *page,
		     FILE *out)
{
	struct gp_column chosen[SUM_COLUMNS];
	const struct gp_table table = { format, chosen, SUM_COLUMNS, out };

	memcpy(chosen, sum_columns, sizeof(chosen));
	chosen[ENTRY].width = name_width(report);
	gp_table_begin(&table, "engines");
	for (size_t e = 0; e < report->entry_count; e++) {
		const struct gp_engine_entry *entry = &report->entries[e];
		char mean[RATIO_TEXT], worst[RATIO_TEXT];
		const struct gp_cell cells[SUM_COLUMNS] = {
			[ENTRY] = word(entry->engine),
			[SETTINGS] = words(settings(entry->conf)),
			[MEAN] = mean_of(entry, entry->mean, mean),
			[WORST] = mean_of(entry, entry->worst, worst),
			[WINS] = number(GP_CELL_COUNT, entry->wins),
			[TRACES] = number(GP_CELL_COUNT, entry->traces),
			[ALL_OOMS] = number(GP_CELL_COUNT, entry->ooms),
		};

		gp_table_row(&table, cells);
		if (page)
			put_below(page, entry->conf, NULL);
	}
	gp_table_end(&table);
}

/* ---- reports ---- */

static bool has_need(const struct gp_engines_report *report)
{
	for (size_t i = 0; i < report->run_count; i++)
		if (report->runs[i].need)
			return true;
	return false;
}

static bool has_ooms(const struct gp_engines_report *report)
{
	for (size_t i = 0; i < report->run_count; i++)
		if (report->runs[i].dropped)
			return true;
	return false;
}

/* A line has room for either the settings or the bar. */
static void choose_columns(const struct gp_engines_report *report,
			   struct gp_column chosen[COLUMNS])
{
	memcpy(chosen, columns, sizeof(columns));
	chosen[ENGINE].width = name_width(report);
	if (!has_need(report))
		return;
	chosen[NEED].title[GP_TABLE_TEXT] = "need";
	chosen[NEED].width = 10;
	chosen[DRAWN].title[GP_TABLE_TEXT] = NULL;
}

/* The capacity of the first run that was made. */
static uint64_t memory_of(const struct gp_engine_run *runs, size_t count)
{
	size_t i = 0;

	while (i + 1 < count && runs[i].trouble)
		i++;
	return runs[i].capacity;
}

/* The rows of one device of a trace. */
static void put_device(const struct gp_engines_report *report,
		       const struct gp_engine_run *runs,
		       const struct gp_report_style *style,
		       const struct gp_page *page, FILE *out)
{
	struct gp_column chosen[COLUMNS];
	const struct gp_table table = { GP_TABLE_TEXT, chosen, COLUMNS, out };
	char capacity[GP_BYTES_TEXT];

	choose_columns(report, chosen);
	gp_page_line(page, GP_TONE_TITLE, 2, "%s, device %u; memory: %s",
		     gp_page_name(runs->path), runs->device,
		     gp_head_capacity(memory_of(runs, report->entry_count),
				      capacity));
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "Floor: %s is live at once, and a packing of %s exists.",
		     GP_BYTES(runs->live), GP_BYTES(runs->packing));
	if (runs->start)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The trace begins with %s reserved under the "
			     "recorded settings, and so does caching under "
			     "others, whose peaks gpupool sweep estimates; "
			     "other allocators begin with what was in use.",
			     GP_BYTES(runs->start));
	gp_page_blank(page);
	gp_table_begin(&table, "runs");
	put_runs(&table, runs, report->entry_count, page, style->ascii);
	gp_table_end(&table);
	gp_page_blank(page);
}

/* Names the engines that may need more than the report says. */
static void put_doubts(const struct gp_engines_report *report,
		       const struct gp_page *page)
{
	size_t n = report->entry_count;

	for (size_t e = 0; e < n; e++) {
		const struct gp_engine_entry *entry = &report->entries[e];
		bool is_doubtful = false;

		for (size_t r = e; r < report->run_count; r += n)
			is_doubtful |= report->runs[r].need_unknown > 0;
		if (is_doubtful)
			gp_page_line(page, GP_TONE_PLAIN, 2,
				     "%s%s%s may need more: not all larger "
				     "devices were tried.",
				     entry->engine, entry->conf ? " with " : "",
				     entry->conf ? settings(entry->conf) : "");
	}
}

static void put_text(const struct gp_engines_report *report,
		     const struct gp_report_style *style, FILE *out)
{
	const struct gp_page page = gp_page_make(style, out);
	size_t n = report->entry_count;

	for (size_t r = 0; r < report->run_count; r += n)
		put_device(report, &report->runs[r], style, &page, out);
	if (report->run_count > n) {
		gp_page_line(&page, GP_TONE_TITLE, 2,
			     "All %zu, peak reserved as a multiple of the "
			     "floor",
			     report->run_count / n);
		gp_page_blank(&page);
		put_sums(report, GP_TABLE_TEXT, &page, out);
		gp_page_blank(&page);
	}
	gp_page_line(&page, GP_TONE_PLAIN, 2,
		     "/floor: peak reserved divided by the size of the "
		     "packing; frag.: the share of it that is not allocated; "
		     "est.: ms in device calls, by prices: %s.%s",
		     report->prices->name,
		     has_ooms(report) ? " With OOMs, the numbers are of what "
					"was served."
				      : "");
	if (has_need(report))
		gp_page_line(&page, GP_TONE_PLAIN, 2,
			     "need: the smallest device that serves all, as "
			     "do all larger ones. A device gives whole pages "
			     "of 2 MiB for each call, so an allocator that "
			     "asks for less at a time needs more than it "
			     "reserves.");
	put_doubts(report, &page);
}

static void put_tables(const struct gp_engines_report *report,
		       enum gp_table_format format, FILE *out)
{
	const struct gp_table table = { format, columns, COLUMNS, out };
	size_t n = report->entry_count;

	if (format != GP_TABLE_CSV) {
		put_sums(report, format, NULL, out);
		putc('\n', out);
	}
	gp_table_begin(&table, "runs");
	for (size_t r = 0; r < report->run_count; r += n)
		put_runs(&table, report->runs + r, n, NULL, true);
	gp_table_end(&table);
}

void gp_report_engines(const struct gp_engines_report *report,
		       enum gp_table_format format,
		       const struct gp_report_style *style, FILE *out)
{
	if (format == GP_TABLE_TEXT) {
		put_text(report, style, out);
		return;
	}
	if (format == GP_TABLE_HTML) {
		gp_html_begin(out, "Engines");
		fputs("</header>\n", out);
	}
	put_tables(report, format, out);
	if (format == GP_TABLE_HTML) {
		fputs("</main>\n", out);
		gp_html_end(out);
	}
}

void gp_report_engines_json(const struct gp_engines_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_objects(&json, "engines", "engine_entry", report->entries,
			report->entry_count, sizeof(*report->entries));
	gp_emit_open(&json, "engine_runs", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->run_count; i++)
		gp_emit_object(&json, NULL,
			       report->runs[i].trouble ? "engine_no_run"
						       : "engine_run",
			       &report->runs[i], GP_EMIT_FLAT);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
