/* SPDX-License-Identifier: MIT */
/* What a device's calls take: a table, JSON, and a list of prices; and what
 * gpupool itself takes. */
#include "report/report.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "report/emit.h"
#include "report/page.h"
#include "report/schema.h"
#include "report/object.h"

#define SOURCE 512

/* ---- for a person ---- */

#define VERSION_TEXT 32
static const char *version_text(int version, char text[VERSION_TEXT])
{
	snprintf(text, VERSION_TEXT, "%d.%d", version / 1000,
		 version % 1000 / 10);
	return text;
}

static void print_about(const struct gp_page *page,
			const struct gp_bench_report *report)
{
	const struct gp_cuda_about *about = report->about;
	char runtime[VERSION_TEXT], supports[VERSION_TEXT];

	gp_page_field(page, "GPU", "%s, %s, %s free", about->gpu,
		      GP_BYTES(about->total_bytes),
		      GP_BYTES(about->free_bytes));
	gp_page_field(page, "driver", "%s%sCUDA %s", about->driver,
		      *about->driver ? ", " : "",
		      version_text(about->supports, supports));
	gp_page_field(page, "runtime", "CUDA %s: %s",
		      version_text(about->runtime, runtime), about->library);
	gp_page_field(page, "date", "%s", report->date);
	if (about->is_stand_in)
		gp_page_field(page, "no device",
			      "this runtime is a stand-in: the times below are "
			      "those of its own code, not of a GPU");
}

static const char *size_text(uint64_t size, char text[GP_BYTES_TEXT])
{
	return size ? gp_bytes_text(size, text) : "";
}

void gp_report_bench_text(const struct gp_bench_report *report,
			  const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);
	char size[GP_BYTES_TEXT];

	print_about(&page, report);
	if (!report->bench->count)
		return;
	gp_page_blank(&page);
	fprintf(out, "%-22s %9s %9s %9s %9s %9s %6s\n", "us per call", "size",
		"first", "p10", "median", "p90", "calls");
	for (size_t i = 0; i < report->bench->count; i++) {
		const struct gp_bench_row *row = &report->bench->rows[i];

		fprintf(out, "%-22s %9s %9.2f %9.2f %9.2f %9.2f %6" PRIu32 "\n",
			gp_bench_call_name(row->call),
			size_text(row->size, size), row->first_us, row->p10_us,
			row->median_us, row->p90_us, row->count);
	}
}

/* ---- for programs ---- */

static void write_about(struct gp_emit *json,
			const struct gp_bench_report *report)
{
	const struct gp_cuda_about *about = report->about;
	char text[VERSION_TEXT];

	gp_emit_text(json, "date", report->date);
	gp_emit_text(json, "gpu", about->gpu);
	gp_emit_uint(json, "total_bytes", about->total_bytes);
	gp_emit_uint(json, "free_bytes", about->free_bytes);
	snprintf(text, sizeof(text), "%d.%d", about->capability[0],
		 about->capability[1]);
	gp_emit_text(json, "compute_capability", text);
	gp_emit_text(json, "driver", *about->driver ? about->driver : NULL);
	gp_emit_text(json, "driver_cuda", version_text(about->supports, text));
	gp_emit_text(json, "runtime", version_text(about->runtime, text));
	gp_emit_bool(json, "is_stand_in", about->is_stand_in);
}

/* To hundredths of a microsecond, the resolution of the clock. */
static double rounded(double us)
{
	return (double)(uint64_t)(us * 100 + 0.5) / 100;
}

/* source: where the price is from; NULL: not written. */
static void write_row(struct gp_emit *json, const struct gp_bench_row *row,
		      unsigned call, const char *source)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_text(json, "call", gp_bench_call_name(call));
	gp_emit_uint(json, "size", row->size);
	gp_emit_real(json, "us", rounded(row->median_us));
	gp_emit_real(json, "first_us", rounded(row->first_us));
	gp_emit_real(json, "p10_us", rounded(row->p10_us));
	gp_emit_real(json, "p90_us", rounded(row->p90_us));
	gp_emit_real(json, "most_us", rounded(row->most_us));
	gp_emit_uint(json, "count", row->count);
	if (source)
		gp_emit_text(json, "source", source);
	gp_emit_close(json, '}');
}

void gp_report_bench_json(const struct gp_bench_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_open(&json, "bench", '{', GP_EMIT_LINES);
	write_about(&json, report);
	gp_emit_open(&json, "calls", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->bench->count; i++)
		write_row(&json, &report->bench->rows[i],
			  report->bench->rows[i].call, NULL);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
	gp_emit_close(&json, '}');
}

static void write_source(const struct gp_bench_report *report,
			 const struct gp_bench_row *row, char source[SOURCE])
{
	const struct gp_cuda_about *about = report->about;
	char runtime[VERSION_TEXT], supports[VERSION_TEXT];

	snprintf(source, SOURCE,
		 "%s%s, driver %s%s, CUDA runtime %s, %s: median of %" PRIu32,
		 about->is_stand_in ? "no device: " : "", about->gpu,
		 *about->driver ? about->driver : "for CUDA ",
		 *about->driver ? "" : version_text(about->supports, supports),
		 version_text(about->runtime, runtime), report->date,
		 row->count);
}

/* The call whose price a measured call is: a refused cudaMalloc is one of 0
 * bytes. */
static unsigned priced_as(unsigned call)
{
	return call == GP_BENCH_REFUSED ? GP_PRICE_MALLOC : call;
}

/* Writes the calls that are in the price list, or those that are not. */
static void write_prices(struct gp_emit *json,
			 const struct gp_bench_report *report, const char *key,
			 bool has_price)
{
	char source[SOURCE];

	gp_emit_open(json, key, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->bench->count; i++) {
		const struct gp_bench_row *row = &report->bench->rows[i];
		unsigned call = priced_as(row->call);

		if ((call < GP_PRICE_CALLS) != has_price)
			continue;
		write_source(report, row, source);
		write_row(json, row, call, source);
	}
	gp_emit_close(json, ']');
}

void gp_report_bench_prices(const struct gp_bench_report *report, FILE *out)
{
	struct gp_emit json = { .out = out };

	gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(&json, "format", "gpupool-prices");
	gp_emit_uint(&json, "version", 1);
	gp_emit_open(&json, "measured", '{', GP_EMIT_LINES);
	write_about(&json, report);
	gp_emit_close(&json, '}');
	write_prices(&json, report, "prices", true);
	write_prices(&json, report, "others", false);
	gp_emit_close(&json, '}');
}

/* ---- what gpupool itself takes for a trace ---- */

void gp_report_speed_text(const struct gp_speed_report *report,
			  const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	gp_page_line(&page, GP_TONE_TITLE, 2, "%s: %s",
		     gp_page_name(report->path),
		     GP_PLURAL(report->events, "event"));
	gp_page_blank(&page);
	fprintf(out, "%-22s %10s %10s %10s %6s\n", "ns per event", "p10",
		"median", "p90", "runs");
	for (size_t i = 0; i < report->count; i++) {
		const struct gp_speed *row = &report->rows[i];

		fprintf(out, "%-22s %10.1f %10.1f %10.1f %6" PRIu32 "\n",
			row->what, row->p10_ns, row->median_ns, row->p90_ns,
			row->runs);
	}
}

void gp_report_speed_json(const struct gp_speed_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_open(&json, "trace", '{', GP_EMIT_LINES);
	gp_emit_text(&json, "path", report->path);
	gp_emit_uint(&json, "events", report->events);
	gp_emit_close(&json, '}');
	gp_emit_objects(&json, "speed", "speed_row", report->rows,
			report->count, sizeof(*report->rows));
	gp_emit_close(&json, '}');
}
