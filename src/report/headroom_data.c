/* SPDX-License-Identifier: MIT */
/* How small the device may be, for programs: JSON and CSV. */
#include <inttypes.h>

#include "base/quote.h"
#include "gpupool/price.h"
#include "report/report.h"
#include "report/schema.h"
#include "report/emit.h"
#include "report/emit_parts.h"
#include "report/ranks.h"
#include "report/verdict.h"

static void emit_size(struct gp_emit *json, const char *key, uint64_t bytes)
{
	if (bytes)
		gp_emit_uint(json, key, bytes);
	else
		gp_emit_null(json, key);
}

static void write_bound(struct gp_emit *json, const char *key,
			const struct gp_headroom_bound *bound)
{
	if (!bound->is_there) {
		gp_emit_null(json, key);
		return;
	}
	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "capacity", bound->capacity);
	emit_size(json, "failing", bound->failing);
	gp_emit_uint(json, "known_to", bound->top);
	gp_emit_uint(json, "unknown_above", bound->unknown_above);
	emit_size(json, "fine_below", bound->fine_below);
	gp_emit_uint(json, "unknown_below", bound->unknown_below);
	gp_emit_close(json, '}');
}

static uint64_t time_of(const struct gp_prices *prices,
			const struct gp_headroom_point *point)
{
	return gp_price_whole_us(prices, &point->calls, point->synchronizes);
}

static void write_point(struct gp_emit *json, const struct gp_prices *prices,
			const struct gp_headroom_point *point)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "capacity", point->capacity);
	gp_emit_outcome(json, point->peak_reserved, point->retries,
			point->ooms);
	gp_emit_count(json, GP_DEVICE_TIME, time_of(prices, point));
	gp_emit_calls(json, &point->calls);
	gp_emit_close(json, '}');
}

static void write_device(struct gp_emit *json, const struct gp_prices *prices,
			 const struct gp_device_trace *device,
			 const struct gp_headroom *h)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	write_bound(json, "no_oom", &h->bounds[GP_NO_OOM]);
	write_bound(json, "no_retry", &h->bounds[GP_NO_RETRY]);
	gp_emit_count(json, GP_PEAK_RESERVED, h->unlimited);
	gp_emit_uint(json, "grain", GP_DEVICE_GRAIN);
	gp_emit_uint(json, "live", h->live);
	gp_emit_count(json, GP_PEAK_ALLOCATED, h->peak_allocated);
	gp_emit_uint(json, "other", h->other);
	gp_emit_uint(json, "least_tried", h->least);
	if (h->goes_on_after_oom)
		gp_emit_uint(json, "goes_on_after_oom", h->recorded_oom);
	else
		gp_emit_null(json, "goes_on_after_oom");
	gp_emit_bool(json, "known_beyond", h->is_settled);
	gp_emit_uint(json, "replays", h->replays);
	gp_emit_open(json, "curve", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < h->point_count; i++)
		write_point(json, prices, &h->points[i]);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

static void write_run(struct gp_emit *json,
		      const struct gp_headroom_report *report,
		      const struct gp_headroom_run *run)
{
	const struct gp_trace *trace = report->trace;

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_settings(json, "settings", run->settings);
	gp_emit_text(json, "alloc_conf", run->conf);
	gp_emit_release(json, "torch", run->settings->release);
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < trace->device_count; i++)
		write_device(json, report->prices, &trace->devices[i],
			     &run->devices[i]);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

void gp_report_headroom_json(const struct gp_headroom_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_trace_path(&json, report->path);
	gp_emit_ranks(&json, report->ranks);
	if (report->ranks)
		gp_emit_rank_verdicts(&json, report->ranks, report->study);
	else
		gp_emit_verdicts(&json, report->trace, report->study);
	gp_emit_open(&json, "headroom", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->run_count; i++)
		write_run(&json, report, &report->runs[i]);
	gp_emit_close(&json, ']');
	gp_emit_open(&json, "refused", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->refused_count; i++) {
		gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(&json, "alloc_conf", report->refused[i].conf);
		gp_emit_release(&json, "torch", report->refused[i].release);
		gp_emit_text(&json, "reason", report->refused[i].reason);
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}

static void put_points(FILE *out, const struct gp_headroom_report *report,
		       const struct gp_headroom_run *run, size_t device)
{
	const struct gp_headroom *h = &run->devices[device];

	for (size_t i = 0; i < h->point_count; i++) {
		const struct gp_headroom_point *point = &h->points[i];

		gp_quote_csv(run->conf, out);
		fprintf(out,
			",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",2.%u\n",
			report->trace->devices[device].device, point->capacity,
			point->ooms, point->retries, point->peak_reserved,
			point->calls.malloc, point->calls.free,
			point->calls.map, point->calls.unmap,
			time_of(report->prices, point), run->settings->release);
	}
}

void gp_report_headroom_csv(const struct gp_headroom_report *report, FILE *out)
{
	fputs("settings,device,capacity,num_ooms,num_alloc_retries,"
	      "peak_reserved_bytes,device_calls.malloc,device_calls.free,"
	      "device_calls.map,device_calls.unmap,device_time_us,torch\n",
	      out);
	for (size_t i = 0; i < report->run_count; i++)
		for (size_t d = 0; d < report->trace->device_count; d++)
			put_points(out, report, &report->runs[i], d);
}
