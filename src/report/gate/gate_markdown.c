/* SPDX-License-Identifier: MIT */
/*
 * The gate's verdict as Markdown, for a pull request or a build summary: what
 * got worse and from which line on, drawn as bars, then all limits.
 *
 * Bars are text: GitHub and GitLab accept neither SVG nor data: images in
 * Markdown, and the scripts of diagrams do not run in mails and on mirrors.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/larger.h"
#include "report/gate/gate_report.h"
#include "report/page.h"
#include "report/table.h"

/* ---- texts from outside: as code, in which nothing is markup or a mention
 * ---- */

#define CODE_TEXT (GP_GATE_TROUBLE + 8)

static const char *code(const char *text, char out[CODE_TEXT])
{
	size_t n = 0;

	out[n++] = '`';
	for (; *text && n < CODE_TEXT - 2; text++)
		out[n++] = *text == '`' || *text == '\n' ? '\'' : *text;
	if (n == 1)
		n = 0;
	else
		out[n++] = '`';
	out[n] = '\0';
	return out;
}

static void put_code(const char *text, FILE *out)
{
	char made[CODE_TEXT];

	fputs(code(text, made), out);
}

/* ---- tables ---- */

static void write_where(const struct gp_gate_verdict *v, char text[CODE_TEXT])
{
	char plain[GP_GATE_SENTENCE];

	snprintf(plain, sizeof(plain), "%s%s%s", v->where,
		 *v->where && *v->about ? ": " : "", v->about);
	code(plain, text);
}

static void write_run(const struct gp_gate_result *result,
		      const struct gp_gate_device *device, char text[CODE_TEXT])
{
	char plain[GP_GATE_SENTENCE];

	code(gp_gate_run_text(result, device, plain), text);
}

static const struct gp_column columns[] = {
	{ { [GP_TABLE_MARKDOWN] = " " }, 0, NULL },
	{ { [GP_TABLE_MARKDOWN] = "run" }, 0, NULL },
	{ { [GP_TABLE_MARKDOWN] = "number" }, 0, NULL },
	{ { [GP_TABLE_MARKDOWN] = "baseline" }, 0, "" },
	{ { [GP_TABLE_MARKDOWN] = "now" }, 0, "" },
	{ { [GP_TABLE_MARKDOWN] = "change" }, 0, "" },
	{ { [GP_TABLE_MARKDOWN] = "limit" }, 0, NULL },
	{ { [GP_TABLE_MARKDOWN] = "first at" }, 0, NULL },
};
#define COLUMNS (sizeof(columns) / sizeof(*columns))

struct row {
	const struct gp_gate_result *result;
	const struct gp_gate_device *device;
	const struct gp_gate_verdict *verdict;
	const struct gp_number *number;
};

static bool is_same(const struct gp_gate_verdict *v)
{
	return v->baseline.is_there && v->now.is_there &&
	       v->baseline.value == v->now.value;
}

static void put_row(const struct gp_table *table, const struct row *row)
{
	const struct gp_gate_verdict *v = row->verdict;
	char run[CODE_TEXT], where[CODE_TEXT], name[CODE_TEXT];
	char from[GP_GATE_TEXT], to[GP_GATE_TEXT], by[2 * GP_GATE_TEXT];
	char limit[GP_GATE_LIMIT];
	const char *texts[COLUMNS] = {
		v->is_worse    ? "worse"
		: v->is_better ? "better"
			       : "ok",
		run,
		code(row->number->name, name),
		gp_gate_reading_text(row->number, &v->baseline, from),
		gp_gate_reading_text(row->number, &v->now, to),
		is_same(v) ? ""
			   : gp_gate_change_text(row->number, &v->baseline,
						 &v->now, by),
		gp_gate_limit_text(row->number, v, limit),
		where,
	};
	struct gp_cell cells[COLUMNS];

	write_run(row->result, row->device, run);
	write_where(v, where);
	for (size_t i = 0; i < COLUMNS; i++)
		cells[i] = (struct gp_cell){ .kind = GP_CELL_TEXT,
					     .text = texts[i] };
	gp_table_row(table, cells);
}

/* Calls `call` for each verdict of a file, or for each that is worse; returns
 * their number. */
enum which { ALL, WORSE };
static size_t each(const struct gp_gate_report *report,
		   const struct gp_gate_file *file, enum which which,
		   void (*call)(void *arg, const struct row *row), void *arg)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++)
		for (size_t d = 0; d < file->results[i].device_count; d++) {
			const struct gp_gate_device *device =
				&file->results[i].devices[d];

			for (size_t k = 0; k < device->verdict_count; k++) {
				const struct gp_gate_verdict *v =
					&device->verdicts[k];
				struct row row = {
					&file->results[i], device, v,
					&report->numbers
						 ->items[v->limit->number]
				};

				if (which == WORSE && !v->is_worse)
					continue;
				if (call)
					call(arg, &row);
				count++;
			}
		}
	return count;
}

static void call_row(void *arg, const struct row *row)
{
	put_row(arg, row);
}

static void put_table(const struct gp_gate_report *report,
		      const struct gp_gate_file *file, enum which which,
		      FILE *out)
{
	struct gp_table table = { GP_TABLE_MARKDOWN, columns, COLUMNS, out };

	gp_table_begin(&table, "limits");
	each(report, file, which, call_row, &table);
	gp_table_end(&table);
	putc('\n', out);
}

/* ---- bars ---- */

#define BAR 30 /* characters */

static void put_bar(const char *label, const struct row *row,
		    const struct gp_reading *reading, int64_t most, FILE *out)
{
	char value[GP_GATE_TEXT];
	int64_t filled = reading->value * BAR / most;

	if (!filled && reading->value)
		filled = 1;
	fprintf(out, "  %-9s ", label);
	for (int64_t i = 0; i < BAR; i++)
		fputs(i < filled ? "█" : "░", out);
	fprintf(out, " %s\n",
		gp_gate_reading_text(row->number, reading, value));
}

/* Bars are drawn only for bytes, and only if the baseline has the number. Above
 * this limit, value * BAR would overflow. */
static bool has_bars(const struct row *row)
{
	const struct gp_reading *from = &row->verdict->baseline;
	const struct gp_reading *to = &row->verdict->now;

	return row->number->unit == GP_NUMBER_BYTES && from->is_there &&
	       to->is_there && from->value >= 0 && to->value > 0 &&
	       from->value < INT64_MAX / BAR && to->value < INT64_MAX / BAR;
}

static void count_bars(void *arg, const struct row *row)
{
	*(size_t *)arg += has_bars(row);
}

static void call_bars(void *arg, const struct row *row)
{
	const struct gp_gate_verdict *v = row->verdict;
	int64_t most;
	char run[CODE_TEXT];
	FILE *out = arg;

	if (!has_bars(row))
		return;
	most = (int64_t)gp_larger((uint64_t)v->now.value,
				  (uint64_t)v->baseline.value);
	write_run(row->result, row->device, run);
	/* without the backquotes around it */
	fprintf(out, "%.*s: %s\n", (int)strlen(run) - 2, run + 1,
		row->number->name);
	put_bar("baseline", row, &v->baseline, most, out);
	put_bar("now", row, &v->now, most, out);
}

static void put_bars(const struct gp_gate_report *report,
		     const struct gp_gate_file *file, FILE *out)
{
	size_t count = 0;

	each(report, file, WORSE, count_bars, &count);
	if (!count)
		return;
	fputs("```text\n", out);
	each(report, file, WORSE, call_bars, out);
	fputs("```\n\n", out);
}

/* ---- what else there is to say ---- */

static bool put_note(const struct gp_gate_result *result,
		     const struct gp_gate_device *device, const char *text,
		     FILE *out)
{
	char run[GP_GATE_SENTENCE];

	if (!*text)
		return false;
	fputs("- ", out);
	put_code(gp_gate_run_text(result, device, run), out);
	fprintf(out, ": %s\n", text);
	return true;
}

static void put_notes(const struct gp_gate_file *file, FILE *out)
{
	char text[GP_GATE_TROUBLE];
	bool any = false;

	for (size_t i = 0; i < file->count; i++) {
		const struct gp_gate_result *result = &file->results[i];

		if (result->status >= GP_INPUT) {
			fputs("- ", out);
			put_code(result->run->name, out);
			fputs(" could not be judged: ", out);
			put_code(gp_gate_trouble(&result->diag, text), out);
			putc('\n', out);
			any = true;
		}
		for (size_t d = 0; d < result->device_count; d++) {
			gp_gate_divergence_text(result, &result->devices[d],
						text);
			if (result->status == GP_FAILED)
				any |= put_note(result, &result->devices[d],
						text, out);
			any |= put_note(result, &result->devices[d],
					gp_gate_estimate_text(
						&result->devices[d], text),
					out);
		}
		any |= put_note(result, NULL, gp_gate_shrunk_text(result, text),
				out);
	}
	if (any)
		putc('\n', out);
}

static void put_title(const struct gp_gate_file *file, FILE *out)
{
	size_t worse = gp_gate_count(file, GP_FAILED);
	size_t wrong = gp_gate_count(file, GP_INPUT);
	char runs[GP_PLURAL_TEXT];

	gp_plural_text(file->count, "run", runs);
	fputs("### GPU memory: ", out);
	if (wrong)
		fprintf(out, "%zu of %s could not be judged", wrong, runs);
	if (worse)
		fprintf(out, "%s%zu of %s got worse than the limits allow",
			wrong ? ", " : "", worse, runs);
	if (!wrong && !worse)
		fprintf(out, "%s, all limits kept", runs);
	fputs("\n\n", out);
}

static void put_file(const struct gp_gate_report *report,
		     const struct gp_gate_file *file, FILE *out)
{
	size_t worse = each(report, file, WORSE, NULL, NULL);
	size_t all = each(report, file, ALL, NULL, NULL);

	put_title(file, out);
	if (worse) {
		put_table(report, file, WORSE, out);
		put_bars(report, file, out);
	}
	put_notes(file, out);
	if (all) {
		fprintf(out, "<details><summary>All limits (%zu)</summary>\n\n",
			all);
		put_table(report, file, ALL, out);
		fputs("</details>\n\n", out);
	}
	if (gp_gate_is_over(file, GP_GATE_OVER_BASELINE)) {
		fprintf(out,
			"If this is intended: %s`gpupool check --update` with ",
			gp_gate_is_over(file, GP_GATE_OVER_VALUE)
				? "change the limit that is a value, then "
				: "");
		put_code(file->gate->path, out);
		fputs(", and commit ", out);
		put_code(file->gate->baseline_path, out);
		fputs(".\n\n", out);
	} else if (worse) {
		fputs("If this is intended: change the limit in ", out);
		put_code(file->gate->path, out);
		fputs(".\n\n", out);
	}
}

void gp_report_gate_markdown(const struct gp_gate_report *report, FILE *out)
{
	for (size_t i = 0; i < report->count; i++)
		put_file(report, &report->files[i], out);
}
