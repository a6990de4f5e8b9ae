/* SPDX-License-Identifier: MIT */
/* gpupool-check/1, the gate's verdict for a program; and the baseline. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/emit.h"
#include "report/gate_report.h"

static const char *status_word(enum gp_status status)
{
	switch (status) {
	case GP_OK: return "ok";
	case GP_FAILED: return "worse";
	default: return "error";
	}
}

static void write_reading(struct gp_emit *json, const char *key,
			  const struct gp_number *number,
			  const struct gp_reading *reading)
{
	if (reading->is_there)
		gp_gate_emit_value(json, key, number, reading->value);
	else
		gp_emit_null(json, key);
}

static void write_verdict(struct gp_emit *json,
			  const struct gp_gate_report *report,
			  const struct gp_gate_verdict *v)
{
	const struct gp_number *number =
		&report->numbers->items[v->limit->number];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "number", number->name);
	gp_emit_text(json, "status", v->is_worse ? "worse" : "ok");
	write_reading(json, "baseline", number, &v->baseline);
	write_reading(json, "value", number, &v->now);
	gp_emit_text(json, "limit", v->limit->text);
	gp_gate_emit_value(json, "bound", number, v->bound);
	if (v->event == GP_EVENT_NONE)
		gp_emit_null(json, "event");
	else
		gp_emit_uint(json, "event", v->event);
	gp_emit_close(json, '}');
}

static void write_divergence(struct gp_emit *json,
			     const struct gp_divergence *divergence)
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

static void write_device(struct gp_emit *json,
			 const struct gp_gate_report *report,
			 const struct gp_gate_device *device)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	write_divergence(json, &device->divergence);
	gp_emit_open(json, "limits", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < device->verdict_count; i++)
		write_verdict(json, report, &device->verdicts[i]);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

static void write_result(struct gp_emit *json,
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
		write_device(json, report, &result->devices[d]);
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
			write_result(&json, report, &file->results[k]);
		gp_emit_close(&json, ']');
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}

/* ---- gpupool.baseline.json: sorted, one number a line, for diffs ---- */

#define MARKS_A_ROW 5
#define MARK_DIGITS 12

static void write_row(struct gp_emit *json, const struct gp_print_mark *marks,
		      size_t count)
{
	char row[MARKS_A_ROW * MARK_DIGITS + 1] = "";

	for (size_t i = 0; i < count; i++)
		snprintf(row + i * MARK_DIGITS, MARK_DIGITS + 1,
			 "%06" PRIx32 "%06" PRIx32, marks[i].program,
			 marks[i].allocator);
	gp_emit_text(json, NULL, row);
}

static void write_print(struct gp_emit *json, const struct gp_print *print)
{
	char digest[17];

	snprintf(digest, sizeof(digest), "%016" PRIx64, print->digest);
	gp_emit_open(json, "fingerprint", '{', GP_EMIT_LINES);
	gp_emit_open(json, "marks", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < print->count; i += MARKS_A_ROW)
		write_row(json, print->marks + i,
			  print->count - i < MARKS_A_ROW ? print->count - i
							 : MARKS_A_ROW);
	gp_emit_close(json, ']');
	gp_emit_text(json, "program", digest);
	gp_emit_uint(json, "requests", print->requests);
	gp_emit_uint(json, "spacing", print->spacing);
	gp_emit_close(json, '}');
}

static void write_record_device(struct gp_emit *json,
				const struct gp_record *record,
				const struct gp_numbers *numbers, size_t d)
{
	const struct gp_record_device *device = &record->devices[d];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	write_print(json, &device->print);
	gp_emit_open(json, "numbers", '{', GP_EMIT_LINES);
	for (size_t i = 0; i < numbers->count; i++)
		if (device->readings[i].is_there)
			gp_gate_emit_value(json, numbers->items[i].name,
					   &numbers->items[i],
					   device->readings[i].value);
	gp_emit_close(json, '}');
	gp_emit_close(json, '}');
}

static void write_record(struct gp_emit *json, const struct gp_record *record,
			 const struct gp_numbers *numbers)
{
	gp_emit_open(json, record->name, '{', GP_EMIT_LINES);
	gp_gate_emit_asked(json, &record->asked);
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < record->device_count; i++)
		write_record_device(json, record, numbers, i);
	gp_emit_close(json, ']');
	gp_emit_open(json, "played", '{', GP_EMIT_LINES);
	gp_emit_text(json, "alloc_conf", record->conf);
	gp_emit_text(json, "torch", record->torch);
	gp_emit_close(json, '}');
	gp_emit_text(json, "trace", record->trace);
	gp_emit_close(json, '}');
}

static int by_name(const void *a, const void *b)
{
	const struct gp_record *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

void gp_report_baseline(const struct gp_record *const *records, size_t count,
			const struct gp_numbers *numbers, FILE *out)
{
	const struct gp_record **sorted = gp_mem_alloc(count, sizeof(*sorted));
	struct gp_emit json = { .out = out };

	for (size_t i = 0; i < count; i++)
		sorted[i] = records[i];
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_name);
	gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
	gp_emit_open(&json, "runs", '{', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		write_record(&json, sorted[i], numbers);
	gp_emit_close(&json, '}');
	gp_emit_text(&json, "schema", "gpupool-baseline/1");
	gp_emit_close(&json, '}');
	free(sorted);
}
