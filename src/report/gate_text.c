/* SPDX-License-Identifier: MIT */
/* The gate's verdict for a person: what got worse first; also as GitHub's
 * annotations. */
#include <inttypes.h>
#include <limits.h>
#include <string.h>

#include "base/safe.h"
#include "report/gate_report.h"
#include "report/page.h"

static void write_failures(const struct gp_page *page,
			   const struct gp_gate_report *report,
			   const struct gp_gate_result *result)
{
	char text[GP_GATE_SENTENCE];

	for (size_t d = 0; d < result->device_count; d++) {
		const struct gp_gate_device *device = &result->devices[d];

		if (result->device_count > 1)
			gp_page_line(page, GP_TONE_PLAIN, 4,
				     "  device %u:", device->device);
		for (size_t i = 0; i < device->verdict_count; i++)
			if (device->verdicts[i].is_worse)
				gp_page_line(
					page, GP_TONE_PLAIN, 4, "  %s",
					gp_gate_sentence(report,
							 &device->verdicts[i],
							 text));
		if (*gp_gate_divergence(&device->divergence, text))
			gp_page_line(page, GP_TONE_PLAIN, 4, "  %s", text);
	}
}

/* A baseline can be brought down to what is now. */
static void write_gains(const struct gp_page *page,
			const struct gp_gate_report *report,
			const struct gp_gate_result *result)
{
	char by[2 * GP_GATE_TEXT];

	for (size_t d = 0; d < result->device_count; d++)
		for (size_t i = 0; i < result->devices[d].verdict_count; i++) {
			const struct gp_gate_verdict *v =
				&result->devices[d].verdicts[i];
			const struct gp_number *number =
				&report->numbers->items[v->limit->number];

			if (v->is_better)
				gp_page_line(page, GP_TONE_GOOD, 4,
					     "  %s is better: %s", number->name,
					     gp_gate_change_text(number,
								 &v->baseline,
								 &v->now, by));
		}
}

static size_t count_verdicts(const struct gp_gate_result *result)
{
	size_t count = 0;

	for (size_t d = 0; d < result->device_count; d++)
		count += result->devices[d].verdict_count;
	return count;
}

static void write_result(const struct gp_page *page,
			 const struct gp_gate_report *report,
			 const struct gp_gate_result *result)
{
	char trouble[GP_GATE_TROUBLE], held[GP_PLURAL_TEXT];

	if (result->status == GP_OK) {
		gp_page_line(
			page, GP_TONE_PLAIN, 4, "ok     %s: %s kept",
			result->run->name,
			gp_plural_text(count_verdicts(result), "limit", held));
		write_gains(page, report, result);
	} else if (result->status == GP_FAILED) {
		gp_page_line(page, GP_TONE_BAD, 4, "WORSE  %s (%s)",
			     result->run->name, result->run->trace);
		write_failures(page, report, result);
	} else {
		gp_page_line(page, GP_TONE_BAD, 4, "ERROR  %s: %s",
			     result->run->name,
			     gp_gate_trouble(&result->diag, trouble));
	}
}

static void write_title(const struct gp_page *page,
			const struct gp_gate_file *file)
{
	size_t worse = gp_gate_count(file, GP_FAILED);
	size_t wrong = gp_gate_count(file, GP_INPUT);
	char runs[GP_PLURAL_TEXT];

	gp_plural_text(file->count, "run", runs);
	if (!worse && !wrong)
		gp_page_line(page, GP_TONE_GOOD, 2, "%s: %s, all limits kept",
			     file->gate->path, runs);
	else if (!wrong)
		gp_page_line(page, GP_TONE_BAD, 2,
			     "%s: %zu of %s got worse than the limits allow",
			     file->gate->path, worse, runs);
	else
		gp_page_line(page, GP_TONE_BAD, 2,
			     "%s: %zu of %s could not be judged, %zu got worse",
			     file->gate->path, wrong, runs, worse);
}

static void write_file(const struct gp_page *page,
		       const struct gp_gate_report *report,
		       const struct gp_gate_file *file)
{
	write_title(page, file);
	for (size_t i = 0; i < file->count; i++)
		write_result(page, report, &file->results[i]);
	if (gp_gate_is_relative(file))
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "If that is meant: gpupool check --update %s, and "
			     "commit %s.",
			     file->gate->path, file->gate->baseline_path);
	else if (gp_gate_count(file, GP_FAILED))
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "If that is meant: change the limit in %s.",
			     file->gate->path);
}

void gp_report_gate_text(const struct gp_gate_report *report,
			 const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	for (size_t i = 0; i < report->count; i++)
		write_file(&page, report, &report->files[i]);
}

/* ---- what --update wrote ---- */

static void write_change(const struct gp_page *page,
			 const struct gp_number *number,
			 const struct gp_reading *from,
			 const struct gp_reading *to)
{
	char a[GP_GATE_TEXT], b[GP_GATE_TEXT], by[2 * GP_GATE_TEXT];

	if (from->is_there == to->is_there && from->value == to->value)
		return;
	gp_gate_change_text(number, from, to, by);
	gp_page_line(page, GP_TONE_PLAIN, 4, "  %s: %s -> %s%s%s", number->name,
		     gp_gate_reading_text(number, from, a),
		     gp_gate_reading_text(number, to, b), *by ? ", " : "", by);
}

static void write_changes(const struct gp_page *page,
			  const struct gp_gate_result *result,
			  const struct gp_numbers *numbers)
{
	const struct gp_reading none = { 0 };

	gp_page_line(page, GP_TONE_PLAIN, 2, "%s%s", result->run->name,
		     result->baseline ? "" : " (new)");
	for (size_t d = 0; d < result->now->device_count; d++) {
		const struct gp_record_device *now = &result->now->devices[d];
		const struct gp_record_device *then =
			gp_record_find(result->baseline, now->device);

		for (size_t i = 0; i < numbers->count; i++)
			write_change(page, &numbers->items[i],
				     then ? &then->readings[i] : &none,
				     &now->readings[i]);
	}
}

void gp_report_update(const struct gp_gate_file *file,
		      const struct gp_numbers *numbers,
		      const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	gp_page_line(&page, GP_TONE_TITLE, 2, "%s: written",
		     file->gate->baseline_path);
	for (size_t i = 0; i < file->count; i++)
		if (file->results[i].now)
			write_changes(&page, &file->results[i], numbers);
}

/* ---- as GitHub's workflow commands, which it shows at the file:
 * "::error file=gpupool.json,title=train::peak_reserved_bytes: ..." ---- */

/* A message keeps to its line; a property also ends at : and , */
static void put(FILE *out, const char *unsafe, const char *special)
{
	char safe[GP_GATE_SENTENCE + PATH_MAX];
	const char *text = gp_safe_text(unsafe, safe, sizeof(safe));

	for (; *text; text++)
		if (*text == '%' || *text == '\r' || *text == '\n' ||
		    strchr(special, *text))
			fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
		else
			putc(*text, out);
}

/* verdict NULL: of the run. */
static void annotate(FILE *out, const struct gp_gate_file *file,
		     const struct gp_gate_result *result,
		     const struct gp_gate_verdict *verdict, const char *message,
		     const char *more)
{
	fputs("::error file=", out);
	if (verdict && verdict->is_here) {
		put(out, verdict->source, ":,");
		fprintf(out, ",line=%" PRIu64, verdict->line);
	} else {
		put(out, gp_gate_repository_path(file->gate), ":,");
	}
	fputs(",title=gpupool%3A ", out);
	put(out, result->run->name, ":,");
	fputs("::", out);
	put(out, message, "");
	if (*more) {
		fputs("; ", out);
		put(out, more, "");
	}
	putc('\n', out);
}

static void annotate_result(FILE *out, const struct gp_gate_report *report,
			    const struct gp_gate_file *file,
			    const struct gp_gate_result *result)
{
	char text[GP_GATE_TROUBLE], divergence[GP_GATE_SENTENCE];

	if (result->status >= GP_INPUT)
		annotate(out, file, result, NULL,
			 gp_gate_trouble(&result->diag, text), "");
	for (size_t d = 0; d < result->device_count; d++) {
		const struct gp_gate_device *device = &result->devices[d];

		gp_gate_divergence(&device->divergence, divergence);
		for (size_t i = 0; i < device->verdict_count; i++)
			if (device->verdicts[i].is_worse)
				annotate(out, file, result,
					 &device->verdicts[i],
					 gp_gate_sentence(report,
							  &device->verdicts[i],
							  text),
					 divergence);
	}
}

void gp_report_gate_github(const struct gp_gate_report *report,
			   const struct gp_report_style *style, FILE *out)
{
	for (size_t i = 0; i < report->count; i++)
		for (size_t k = 0; k < report->files[i].count; k++)
			annotate_result(out, report, &report->files[i],
					&report->files[i].results[k]);
	gp_report_gate_text(report, style, out);
}
