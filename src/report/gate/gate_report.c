/* SPDX-License-Identifier: MIT */
/* The gate's report, for a person and for a program, and values in words. */
#include "report/gate/gate_report.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"
#include "report/emit.h"
#include "report/head.h"
#include "report/object.h"
#include "report/page.h"

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? (uint64_t)-value : (uint64_t)value;
}

/* "40.00 MiB", "12,345", "98.5 %". */
static const char *value_text(const struct gp_number *number, int64_t value,
			      char text[GP_GATE_TEXT])
{
	const char *sign = value < 0 ? "-" : "";
	char part[GP_COUNT_TEXT];

	switch ((enum gp_number_unit)number->unit) {
	case GP_NUMBER_BYTES: gp_bytes_text(magnitude(value), part); break;
	case GP_NUMBER_COUNT: gp_count_text(magnitude(value), part); break;
	case GP_NUMBER_RATIO:
		gp_percent_text((double)magnitude(value) / GP_NUMBER_MILLION,
				part);
		break;
	}
	snprintf(text, GP_GATE_TEXT, "%s%s", sign, part);
	return text;
}

const char *gp_gate_reading_text(const struct gp_number *number,
				 const struct gp_reading *reading,
				 char text[GP_GATE_TEXT])
{
	if (reading->is_there)
		return value_text(number, reading->value, text);
	snprintf(text, GP_GATE_TEXT, "none");
	return text;
}

const char *gp_gate_change_text(const struct gp_number *number,
				const struct gp_reading *from,
				const struct gp_reading *to,
				char text[2 * GP_GATE_TEXT])
{
	int64_t by = to->value - from->value;
	char value[GP_GATE_TEXT], part[GP_PERCENT_CHANGE] = "";

	*text = 0;
	if (!from->is_there || !to->is_there)
		return text;
	value_text(number, by, value);
	if (number->unit == GP_NUMBER_RATIO)
		snprintf(value, sizeof(value), "%s%.2f points",
			 by < 0 ? "-" : "",
			 (double)magnitude(by) * 100 / GP_NUMBER_MILLION);
	else
		gp_percent_aside((double)from->value, (double)to->value, part);
	snprintf(text, 2 * GP_GATE_TEXT, "%s%s%s", by < 0 ? "" : "+", value,
		 part);
	return text;
}

/* If the value is beyond the bound but both print the same, adds by how
 * much. */
static void tell_apart(const struct gp_number *number,
		       const struct gp_gate_verdict *verdict, const char *bound,
		       char limit[GP_GATE_LIMIT])
{
	int64_t more = verdict->now.value - verdict->bound;
	char now[GP_GATE_TEXT], by[GP_PLURAL_TEXT];
	size_t length = strlen(limit);

	value_text(number, verdict->now.value, now);
	if (!verdict->is_worse || number->unit != GP_NUMBER_BYTES || !more ||
	    strcmp(now, bound) != 0)
		return;
	snprintf(limit + length, GP_GATE_LIMIT - length, ", which is %s %s",
		 gp_plural_text(magnitude(more), "byte", by),
		 more < 0 ? "more" : "less");
}

const char *gp_gate_limit_text(const struct gp_number *number,
			       const struct gp_gate_verdict *verdict,
			       char text[GP_GATE_LIMIT])
{
	const struct gp_limit *limit = verdict->limit;
	const char *least = number->more_is_better ? "at least" : "at most";
	char bound[GP_GATE_TEXT];

	value_text(number, verdict->bound, bound);
	if (limit->is_default) {
		snprintf(text, GP_GATE_LIMIT, "no worse than the baseline");
		return text;
	}
	if (limit->kind == GP_LIMIT_VALUE)
		snprintf(text, GP_GATE_LIMIT, "%s %s", least, bound);
	else
		snprintf(text, GP_GATE_LIMIT, "%s, %s %s", limit->text, least,
			 bound);
	tell_apart(number, verdict, bound, text);
	return text;
}

static bool is_same(const struct gp_reading *a, const struct gp_reading *b)
{
	return a->is_there && b->is_there && a->value == b->value;
}

static const char *where(const struct gp_gate_verdict *verdict, char text[32])
{
	if (*verdict->where)
		return verdict->where;
	snprintf(text, 32, "event %" PRIu64, verdict->event);
	return text;
}

const char *gp_gate_sentence(const struct gp_gate_report *report,
			     const struct gp_gate_verdict *verdict,
			     char text[GP_GATE_SENTENCE])
{
	const struct gp_number *number =
		&report->numbers->items[verdict->limit->number];
	char from[GP_GATE_TEXT], to[GP_GATE_TEXT], by[2 * GP_GATE_TEXT];
	char limit[GP_GATE_LIMIT];

	gp_gate_change_text(number, &verdict->baseline, &verdict->now, by);
	gp_gate_reading_text(number, &verdict->baseline, from);
	gp_gate_reading_text(number, &verdict->now, to);
	gp_gate_limit_text(number, verdict, limit);
	if (is_same(&verdict->baseline, &verdict->now))
		snprintf(text, GP_GATE_SENTENCE,
			 "%s: %s, as in the baseline; limit: %s", number->name,
			 to, limit);
	else
		snprintf(text, GP_GATE_SENTENCE, "%s: %s -> %s%s%s; limit: %s",
			 number->name, from, to, *by ? ", " : "", by, limit);
	if (verdict->event != GP_EVENT_NONE) {
		size_t length = strlen(text);
		char event[32];

		snprintf(text + length, GP_GATE_SENTENCE - length,
			 "; first at %s%s%s", where(verdict, event),
			 *verdict->about ? ": " : "", verdict->about);
	}
	return text;
}

const char *gp_gate_run_text(const struct gp_gate_result *result,
			     const struct gp_gate_device *device,
			     char text[GP_GATE_SENTENCE])
{
	if (device && result->device_count > 1)
		snprintf(text, GP_GATE_SENTENCE, "%s, device %" PRIu32,
			 result->run->name, device->device);
	else
		snprintf(text, GP_GATE_SENTENCE, "%s", result->run->name);
	return text;
}

/* A baseline's settings are text from outside, and may not be valid
 * settings. */
static const char *plain(const char *text)
{
	static const char usual[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "abcdefghijklmnopqrstuvwxyz"
				    "0123456789_:,.[]>- ";

	return text[strspn(text, usual)] ? "unknown" : text;
}

/* The settings and the release under which a run is recorded may have
 * changed. */
static void add_changes(const struct gp_record *then,
			const struct gp_record *now,
			char text[GP_GATE_SENTENCE])
{
	size_t length = strlen(text);

	if (strcmp(then->conf, now->conf) != 0)
		length += (size_t)snprintf(text + length,
					   GP_GATE_SENTENCE - length,
					   "; settings: %.140s -> %.140s",
					   gp_head_settings(plain(then->conf)),
					   gp_head_settings(plain(now->conf)));
	if (strcmp(then->torch, now->torch) != 0)
		snprintf(text + length, GP_GATE_SENTENCE - length,
			 "; PyTorch: %.16s -> %.16s", plain(then->torch),
			 now->torch);
}

const char *gp_gate_divergence_text(const struct gp_gate_result *result,
				    const struct gp_gate_device *device,
				    char text[GP_GATE_SENTENCE])
{
	const struct gp_gate_divergence *divergence = &device->divergence;
	const char *who = divergence->is_program
				  ? "the program makes different requests"
				  : "the same requests are served differently";

	*text = 0;
	if (!divergence->is_there)
		return text;
	if (divergence->first == divergence->last)
		snprintf(text, GP_GATE_SENTENCE,
			 "the runs diverge at event %" PRIu64 ": %s",
			 divergence->first, who);
	else
		snprintf(text, GP_GATE_SENTENCE,
			 "the runs diverge between events %" PRIu64
			 " and %" PRIu64 ": %s",
			 divergence->first, divergence->last, who);
	add_changes(result->baseline, result->now, text);
	return text;
}

const char *gp_gate_estimate_text(const struct gp_gate_device *device,
				  char text[GP_GATE_SENTENCE])
{
	const struct gp_estimate *estimate = &device->estimate;
	char bounds[GP_ESTIMATE_TEXT];

	*text = 0;
	if (estimate->is_there)
		snprintf(text, GP_GATE_SENTENCE,
			 "the numbers are of a replay from what the trace "
			 "begins with, which was cached under other settings; "
			 "the whole program's peak reserved is %s, %s",
			 GP_BYTES(estimate->reserved),
			 gp_estimate_text(estimate, bounds));
	return text;
}

/* False: it makes at least half of the requests of its baseline. */
static bool tell_shrunk(const char *what, uint64_t requests, uint64_t before,
			char text[GP_GATE_SENTENCE])
{
	char now[GP_PLURAL_TEXT], then[GP_COUNT_TEXT];

	if (requests >= before - before / 2)
		return false;
	snprintf(text, GP_GATE_SENTENCE,
		 "%s makes %s, its baseline %s: look whether the program ran "
		 "to its end",
		 what, gp_plural_text(requests, "request", now),
		 gp_count_text(before, then));
	return true;
}

const char *gp_gate_shrunk_text(const struct gp_gate_result *result,
				char text[GP_GATE_SENTENCE])
{
	const struct gp_record *now = result->now, *then = result->baseline;
	uint64_t requests = 0, before = 0;
	bool is_told;

	*text = 0;
	if (result->status != GP_OK)
		return text;
	for (size_t d = 0; d < now->device_count; d++) {
		requests += now->devices[d].fingerprint.requests;
		before += then->devices[d].fingerprint.requests;
	}
	is_told = tell_shrunk("it", requests, before, text);
	for (size_t d = 0; d < now->device_count && !is_told; d++) {
		char name[32];

		snprintf(name, sizeof(name), "device %u",
			 now->devices[d].device);
		is_told = tell_shrunk(
			name, now->devices[d].fingerprint.requests,
			then->devices[d].fingerprint.requests, text);
	}
	return text;
}

const char *gp_gate_trouble(const struct gp_diag *diag,
			    char text[GP_GATE_TROUBLE])
{
	const char *parts[] = { diag->file, diag->record, diag->what };
	size_t length = 0;

	*text = 0;
	for (size_t i = 0; i < 3; i++)
		if (*parts[i])
			length += (size_t)snprintf(
				text + length, GP_GATE_TROUBLE - length, "%s%s",
				length ? ": " : "", parts[i]);
	if (*diag->hint)
		snprintf(text + length, GP_GATE_TROUBLE - length, "; %s",
			 diag->hint);
	return text;
}

void gp_gate_emit_value(struct gp_emit *json, const char *key,
			const struct gp_number *number, int64_t value)
{
	if (number->unit == GP_NUMBER_RATIO)
		gp_emit_ratio(json, key, (double)value / GP_NUMBER_MILLION);
	else
		gp_emit_int(json, key, value);
}

/* An absolute path below the working directory, made relative to it. */
static const char *below_here(const char *path)
{
	char here[PATH_MAX];
	size_t length;

	if (path[0] != '/' || !getcwd(here, sizeof(here)))
		return path;
	length = strlen(here);
	if (strncmp(path, here, length) != 0 || path[length] != '/')
		return path;
	return path + length + strspn(path + length, "/");
}

const char *gp_gate_repository_path(const struct gp_gate *gate)
{
	const char *path = below_here(gate->path);

	while (path[0] == '.' && path[1] == '/') {
		path += 2;
		path += strspn(path, "/");
	}
	return path;
}

size_t gp_gate_count(const struct gp_gate_file *file, enum gp_status status)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++)
		count += status >= GP_INPUT ? file->results[i].status >= status
					    : file->results[i].status == status;
	return count;
}

/* ---- for a person: first what got worse ---- */

static bool is_any_worse(const struct gp_gate_device *device)
{
	size_t i = 0;

	while (i < device->verdict_count && !device->verdicts[i].is_worse)
		i++;
	return i < device->verdict_count;
}

static void write_failures(const struct gp_page *page,
			   const struct gp_gate_report *report,
			   const struct gp_gate_result *result)
{
	char text[GP_GATE_SENTENCE], divergence[GP_GATE_SENTENCE];

	for (size_t d = 0; d < result->device_count; d++) {
		const struct gp_gate_device *device = &result->devices[d];

		gp_gate_divergence_text(result, device, divergence);
		if (!is_any_worse(device) && !*divergence)
			continue;
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
		if (*divergence)
			gp_page_line(page, GP_TONE_PLAIN, 4, "  %s",
				     divergence);
	}
}

/* "device 1: ", before a sentence; "" where the run has one device. */
#define WHICH 24
static const char *which_text(size_t count, uint32_t device, char text[WHICH])
{
	*text = 0;
	if (count > 1)
		snprintf(text, WHICH, "device %" PRIu32 ": ", device);
	return text;
}

static void write_gains_of(const struct gp_page *page,
			   const struct gp_gate_report *report,
			   const struct gp_gate_device *device,
			   const char *which)
{
	char by[2 * GP_GATE_TEXT];

	for (size_t i = 0; i < device->verdict_count; i++) {
		const struct gp_gate_verdict *v = &device->verdicts[i];
		const struct gp_number *number =
			&report->numbers->items[v->limit->number];

		if (v->is_better)
			gp_page_line(page, GP_TONE_GOOD, 4,
				     "  %s%s is better: %s", which,
				     number->name,
				     gp_gate_change_text(number, &v->baseline,
							 &v->now, by));
	}
}

/* Lists what is better than the baseline, which could therefore be lowered. */
static void write_gains(const struct gp_page *page,
			const struct gp_gate_report *report,
			const struct gp_gate_result *result)
{
	char which[WHICH];

	for (size_t d = 0; d < result->device_count; d++)
		write_gains_of(page, report, &result->devices[d],
			       which_text(result->device_count,
					  result->devices[d].device, which));
}

static void write_estimates(const struct gp_page *page,
			    const struct gp_gate_result *result)
{
	char text[GP_GATE_SENTENCE], which[WHICH];

	for (size_t d = 0; d < result->device_count; d++) {
		const struct gp_gate_device *device = &result->devices[d];

		if (*gp_gate_estimate_text(device, text))
			gp_page_line(page, GP_TONE_PLAIN, 4, "  %s%s",
				     which_text(result->device_count,
						device->device, which),
				     text);
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
	char trouble[GP_GATE_TROUBLE], shrunk[GP_GATE_SENTENCE];

	if (result->status == GP_OK) {
		gp_page_line(page, GP_TONE_PLAIN, 4, "ok     %s: %s kept",
			     result->run->name,
			     GP_PLURAL(count_verdicts(result), "limit"));
		if (*gp_gate_shrunk_text(result, shrunk))
			gp_page_line(page, GP_TONE_BAD, 4, "  %s", shrunk);
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
	write_estimates(page, result);
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

bool gp_gate_is_over(const struct gp_gate_file *file, enum gp_gate_over over)
{
	for (size_t i = 0; i < file->count; i++)
		for (size_t d = 0; d < file->results[i].device_count; d++) {
			const struct gp_gate_device *device =
				&file->results[i].devices[d];

			for (size_t k = 0; k < device->verdict_count; k++) {
				const struct gp_gate_verdict *v =
					&device->verdicts[k];

				if (v->is_worse &&
				    (v->limit->kind == GP_LIMIT_VALUE) ==
					    (over == GP_GATE_OVER_VALUE))
					return true;
			}
		}
	return false;
}

static void write_file(const struct gp_page *page,
		       const struct gp_gate_report *report,
		       const struct gp_gate_file *file)
{
	char path[PATH_MAX + 8];

	write_title(page, file);
	for (size_t i = 0; i < file->count; i++)
		write_result(page, report, &file->results[i]);
	if (gp_gate_is_over(file, GP_GATE_OVER_BASELINE))
		gp_page_line(
			page, GP_TONE_PLAIN, 2,
			"If this is intended: %sgpupool check --update %s, "
			"and commit %s.",
			gp_gate_is_over(file, GP_GATE_OVER_VALUE)
				? "change the limit that is a value, then "
				: "",
			gp_quote_shell(file->gate->path, path, sizeof(path)),
			file->gate->baseline_path);
	else if (gp_gate_count(file, GP_FAILED))
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "If this is intended: change the limit in %s.",
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

static void write_change(const struct gp_page *page, const char *which,
			 const struct gp_number *number,
			 const struct gp_reading *from,
			 const struct gp_reading *to)
{
	char a[GP_GATE_TEXT], b[GP_GATE_TEXT], by[2 * GP_GATE_TEXT];

	if (from->is_there == to->is_there && from->value == to->value)
		return;
	gp_gate_change_text(number, from, to, by);
	gp_page_line(page, GP_TONE_PLAIN, 4, "  %s%s: %s -> %s%s%s", which,
		     number->name, gp_gate_reading_text(number, from, a),
		     gp_gate_reading_text(number, to, b), *by ? ", " : "", by);
}

static void write_changes(const struct gp_page *page,
			  const struct gp_gate_result *result,
			  const struct gp_numbers *numbers)
{
	const struct gp_reading none = { 0 };
	char which[WHICH];

	gp_page_line(page, GP_TONE_PLAIN, 2, "%s%s", result->run->name,
		     result->baseline ? "" : " (new)");
	for (size_t d = 0; d < result->now->device_count; d++) {
		const struct gp_record_device *now = &result->now->devices[d];
		const struct gp_record_device *then =
			gp_record_find(result->baseline, now->device);

		which_text(result->now->device_count, now->device, which);
		for (size_t i = 0; i < numbers->count; i++)
			write_change(page, which, &numbers->items[i],
				     then ? &then->readings[i] : &none,
				     &now->readings[i]);
	}
}

/* Runs of the old baseline that the file no longer lists. */
static void write_removed(const struct gp_page *page,
			  const struct gp_gate_file *file)
{
	size_t count = file->baseline ? file->baseline->record_count : 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = file->baseline->records[i].name;
		size_t k = 0;

		while (k < file->gate->run_count &&
		       strcmp(file->gate->runs[k].name, name) != 0)
			k++;
		if (k == file->gate->run_count)
			gp_page_line(page, GP_TONE_PLAIN, 2, "%s (removed)",
				     name);
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
	write_removed(&page, file);
}

/* ---- gpupool-check/1, for a program ---- */

static const char *status_word(enum gp_status status)
{
	switch (status) {
	case GP_OK: return "ok";
	case GP_FAILED: return "worse";
	default: return "error";
	}
}

static void emit_reading(struct gp_emit *json, const char *key,
			 const struct gp_number *number,
			 const struct gp_reading *reading)
{
	if (reading->is_there)
		gp_gate_emit_value(json, key, number, reading->value);
	else
		gp_emit_null(json, key);
}

static void emit_verdict(struct gp_emit *json,
			 const struct gp_gate_report *report,
			 const struct gp_gate_verdict *v)
{
	const struct gp_number *number =
		&report->numbers->items[v->limit->number];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "number", number->name);
	gp_emit_text(json, "status", v->is_worse ? "worse" : "ok");
	emit_reading(json, "baseline", number, &v->baseline);
	emit_reading(json, "value", number, &v->now);
	gp_emit_text(json, "limit", v->limit->text);
	gp_gate_emit_value(json, "bound", number, v->bound);
	if (v->event == GP_EVENT_NONE)
		gp_emit_null(json, "event");
	else
		gp_emit_uint(json, "event", v->event);
	gp_emit_close(json, '}');
}

static void emit_divergence(struct gp_emit *json,
			    const struct gp_gate_divergence *divergence)
{
	if (!divergence->is_there) {
		gp_emit_null(json, "divergence");
		return;
	}
	gp_emit_open(json, "divergence", '{', GP_EMIT_LINES);
	gp_emit_text(json, "who",
		     divergence->is_program ? "program" : "allocator");
	gp_emit_uint(json, "first_event", divergence->first);
	gp_emit_uint(json, "last_event", divergence->last);
	gp_emit_close(json, '}');
}

static void emit_device(struct gp_emit *json,
			const struct gp_gate_report *report,
			const struct gp_gate_device *device)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	emit_divergence(json, &device->divergence);
	gp_emit_object(json, "estimate", "estimate",
		       device->estimate.is_there ? &device->estimate : NULL,
		       GP_EMIT_LINES);
	gp_emit_open(json, "limits", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < device->verdict_count; i++)
		emit_verdict(json, report, &device->verdicts[i]);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

static void emit_result(struct gp_emit *json,
			const struct gp_gate_report *report,
			const struct gp_gate_result *result)
{
	char trouble[GP_GATE_TROUBLE];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "name", result->run->name);
	gp_emit_text(json, "trace", result->run->trace);
	gp_emit_text(json, "status", status_word(result->status));
	gp_emit_text(json, "error",
		     result->status < GP_INPUT
			     ? NULL
			     : gp_gate_trouble(&result->diag, trouble));
	gp_emit_text(json, "alloc_conf",
		     result->now ? result->now->conf : NULL);
	gp_emit_text(json, "torch", result->now ? result->now->torch : NULL);
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t d = 0; d < result->device_count; d++)
		emit_device(json, report, &result->devices[d]);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

void gp_report_gate_json(const struct gp_gate_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin("gpupool-check/1", out);

	gp_emit_open(&json, "files", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->count; i++) {
		const struct gp_gate_file *file = &report->files[i];

		gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
		gp_emit_text(&json, "path", file->gate->path);
		gp_emit_open(&json, "runs", '[', GP_EMIT_LINES);
		for (size_t k = 0; k < file->count; k++)
			emit_result(&json, report, &file->results[k]);
		gp_emit_close(&json, ']');
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
