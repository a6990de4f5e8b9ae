/* SPDX-License-Identifier: MIT */
/* How little memory would do, for a program. */
#include "report/floor_report.h"
#include "report/schema.h"
#include "report/emit.h"
#include "report/emit_parts.h"

static void write_floor(struct gp_emit *json, const struct gp_floor_device *d)
{
	gp_emit_uint(json, "blocks", d->spans.count);
	gp_emit_uint(json, "bound", d->floor.bound);
	gp_emit_uint(json, "packing", d->floor.height);
	gp_emit_text(json, "method", gp_floor_method_name(d->floor.method));
	gp_emit_bool(json, "is_least", d->floor.is_least);
	gp_emit_uint(json, "steps", d->floor.work);
}

static void write_parts(struct gp_emit *json, const struct gp_floor_device *d)
{
	struct gp_floor_parts parts = gp_floor_parts_of(d);

	gp_emit_open(json, "beyond_packing", '{', GP_EMIT_LINES);
	gp_emit_int(json, "packing", parts.packing);
	gp_emit_int(json, "streams", parts.streams);
	gp_emit_int(json, "pools", parts.pools);
	gp_emit_int(json, "pending_free", parts.waiting);
	gp_emit_int(json, "rounding", parts.rounding);
	gp_emit_int(json, "shape", parts.shape);
	gp_emit_int(json, "not_found", parts.height);
	gp_emit_close(json, '}');
}

static void write_device(struct gp_emit *json,
			 const struct gp_floor_report *report,
			 const struct gp_floor_device *d)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	if (report->settings)
		gp_emit_uint(json, "device", d->device);
	write_floor(json, d);
	if (report->settings) {
		gp_emit_count(json, GP_REQUESTED, d->requested);
		gp_emit_count(json, GP_PEAK_RESERVED, d->makeup.reserved);
		gp_emit_limit(json, "capacity", d->capacity);
		gp_emit_count(json, GP_DROPPED, d->dropped);
		write_parts(json, d);
	} else {
		gp_emit_uint(json, "bound_time", d->floor.bound_time);
		gp_emit_bool(json, "is_impossible", d->floor.is_impossible);
	}
	gp_emit_close(json, '}');
}

void gp_report_floor_json(const struct gp_floor_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_open(&json, "floor", '{', GP_EMIT_LINES);
	gp_emit_text(&json, "path", report->path);
	if (report->settings) {
		gp_emit_text(&json, "alloc_conf", report->conf);
		gp_emit_release(&json, "torch", report->settings->release);
		gp_emit_uint(&json, "round", report->round);
	} else if (report->capacity) {
		gp_emit_uint(&json, "capacity", report->capacity);
	}
	gp_emit_open(&json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->count; i++)
		write_device(&json, report, &report->devices[i]);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
	gp_emit_close(&json, '}');
}
