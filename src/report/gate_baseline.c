/* SPDX-License-Identifier: MIT */
/* gpupool.baseline.json, written: sorted, one number a line, for diffs. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "report/gate_report.h"
#include "report/emit.h"
#include "report/gate_value.h"

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

static void write_device(struct gp_emit *json, const struct gp_record *record,
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
		write_device(json, record, numbers, i);
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
