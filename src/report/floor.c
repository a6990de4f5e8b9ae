/* SPDX-License-Identifier: MIT */
/* How little memory would be enough: for a person, as JSON, and as minimalloc's
 * CSV. */
#include "report/report.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "report/emit.h"
#include "report/head.h"
#include "report/page.h"
#include "report/schema.h"
#include "report/object.h"

#define LABEL 18
#define VALUE 12

/* ---- what the run reserves beyond the packing ---- */

static int64_t minus(uint64_t a, uint64_t b)
{
	return (int64_t)(a - b);
}

/*
 * The terms of what the run reserves beyond the packing:
 *	reserved - height = shape + rounding + pending + streams + pools +
 *			    packing - (height - bound)
 * shape: live memory at the run's peak minus the bound, so at most 0; rounding:
 * of blocks, beyond the rounding that is part of the bound.
 */
static struct gp_floor_parts parts_of(const struct gp_floor_device *device)
{
	const uint64_t *part = device->breakdown.part;
	const struct gp_floor *floor = &device->floor;

	return (struct gp_floor_parts){
		.shape = minus(device->live_then, floor->bound),
		.rounding = minus(part[GP_PART_LIVE] + part[GP_PART_ROUNDING],
				  device->live_then),
		.pending = (int64_t)part[GP_PART_WAITING],
		.streams = (int64_t)part[GP_PART_STREAMS],
		.pools = (int64_t)part[GP_PART_POOLS],
		.packing = (int64_t)part[GP_PART_PACKING],
		.height = minus(floor->bound, floor->height),
	};
}

/* "+12.0 MiB", "-3.00 MiB" */
#define SIGNED_TEXT (GP_BYTES_TEXT + 1)
static const char *signed_text(int64_t bytes, char text[SIGNED_TEXT])
{
	uint64_t distance = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;

	snprintf(text, SIGNED_TEXT, "%s%s", bytes < 0 ? "-" : "+",
		 GP_BYTES(distance));
	return text;
}

static void print_part(const struct gp_page *page, const char *label,
		       int64_t bytes, const char *meaning)
{
	char text[SIGNED_TEXT];

	if (bytes)
		gp_page_row(page, &(struct gp_page_row){
					  label, signed_text(bytes, text),
					  meaning, GP_TONE_PLAIN });
}

static void print_parts(const struct gp_page *page,
			const struct gp_floor_device *d)
{
	struct gp_floor_parts parts = parts_of(d);
	char text[SIGNED_TEXT];

	gp_page_blank(page);
	gp_page_line(page, GP_TONE_TITLE, 2,
		     "Reserved at the peak, beyond that packing: %s",
		     signed_text(minus(d->breakdown.reserved, d->floor.height),
				 text));
	print_part(page, "  packing", parts.packing,
		   "free in partly used segments, or cached in sizes that "
		   "did not fit");
	print_part(page, "  streams", parts.streams,
		   "free; would not be reserved if all were on one stream");
	print_part(page, "  pools", parts.pools,
		   "free; would not be reserved without private pools");
	print_part(page, "  pending free", parts.pending,
		   "pending free: still in use by another stream");
	print_part(page, "  rounding", parts.rounding,
		   "blocks larger than their rounded request");
	print_part(page, "  shape", parts.shape,
		   "less is live at that peak than at the maximum");
	print_part(page, "  not found", parts.height,
		   "what the packing needs above what is live");
}

/* ---- the answer ---- */

static void print_bound(const struct gp_page *page,
			const struct gp_floor_report *report,
			const struct gp_floor_device *d)
{
	char bytes[GP_BYTES_TEXT], note[128];

	if (!report->settings)
		snprintf(note, sizeof(note), "at time %s",
			 GP_COUNT(d->floor.bound_time));
	else
		snprintf(note, sizeof(note), "%s%s; %s as requested",
			 d->floor.bound_time ? "event " : "at the start",
			 d->floor.bound_time ? GP_COUNT(d->floor.bound_time - 1)
					     : "",
			 GP_BYTES(d->requested));
	gp_page_row(page,
		    &(struct gp_page_row){ "Live at once",
					   gp_bytes_text(d->floor.bound, bytes),
					   note, GP_TONE_PLAIN });
}

static void print_packing(const struct gp_page *page,
			  const struct gp_floor_device *d)
{
	const struct gp_floor *f = &d->floor;
	char bytes[GP_BYTES_TEXT];
	char note[192], above[GP_BYTES_TEXT + 16] = "no more than that";

	if (f->height > f->bound)
		snprintf(above, sizeof(above), "%s more",
			 GP_BYTES(f->height - f->bound));
	snprintf(note, sizeof(note), "%s; of %s, %s%s", above,
		 GP_PLURAL(d->spans.count, "block"),
		 gp_floor_method_name(f->method),
		 f->is_least && f->height > f->bound ? "; none needs less"
						     : "");
	gp_page_row(page,
		    &(struct gp_page_row){ "Packing found",
					   gp_bytes_text(f->height, bytes),
					   note, GP_TONE_PLAIN });
	if (f->height > f->bound && gp_spans_have_windows(&d->spans))
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "It makes no use of what a gap's window leaves "
			     "free: a packing that does may need less.");
}

static void print_run(const struct gp_page *page,
		      const struct gp_floor_report *report,
		      const struct gp_floor_device *d)
{
	char bytes[GP_BYTES_TEXT], note[512], estimate[GP_ESTIMATE_TEXT];

	snprintf(note, sizeof(note), "%s; PyTorch 2.%u%s",
		 gp_head_settings(report->conf), report->settings->release,
		 d->dropped ? "; memory: no limit" : "");
	gp_page_row(page, &(struct gp_page_row){
				  "Reserved",
				  gp_bytes_text(d->breakdown.reserved, bytes),
				  note, GP_TONE_PLAIN });
	if (d->estimate.is_there)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "That is a replay from what the trace begins "
			     "with, which was cached under other settings. The "
			     "whole program's peak is %s, %s.",
			     GP_BYTES(d->estimate.reserved),
			     gp_estimate_text(&d->estimate, estimate));
	if (d->breakdown.dropped)
		gp_page_line(
			page, GP_TONE_BAD, 2,
			"It runs out of memory however much there is: %s "
			"not served, for which nothing is reserved here.",
			gp_plural_text(d->breakdown.dropped, "request", note));
	else if (d->dropped)
		gp_page_line(page, GP_TONE_BAD, 2,
			     "With %s it runs out of memory: %s not served. "
			     "All requests are counted here, as if they had "
			     "been.",
			     GP_BYTES(d->capacity),
			     gp_plural_text(d->dropped, "request", note));
}

static void print_sentence(const struct gp_page *page,
			   const struct gp_floor_report *report,
			   const struct gp_floor_device *d)
{
	char rounding[GP_COUNT_TEXT + 64] = "";

	if (report->round > 1)
		snprintf(rounding, sizeof(rounding),
			 " that rounds sizes up to %s bytes",
			 GP_COUNT(report->round));
	gp_page_line(page, GP_TONE_TITLE, 2,
		     "No allocator%s could do with less than %s; a packing of "
		     "%s exists; PyTorch reserves %s.",
		     rounding, GP_BYTES(d->floor.bound),
		     GP_BYTES(d->floor.height),
		     GP_BYTES(d->breakdown.reserved));
}

static void print_spans(const struct gp_page *page,
			const struct gp_floor_report *report,
			const struct gp_floor_device *d)
{
	const struct gp_floor *f = &d->floor;

	if (!report->capacity)
		gp_page_line(page, GP_TONE_TITLE, 2,
			     "A packing of %s bytes exists; none needs less "
			     "than %s.",
			     GP_COUNT(f->height),
			     GP_COUNT(f->is_least ? f->height : f->bound));
	else if (f->height <= report->capacity)
		gp_page_line(page, GP_TONE_GOOD, 2,
			     "They fit %s bytes: a packing of %s exists.",
			     GP_COUNT(report->capacity), GP_COUNT(f->height));
	else
		gp_page_line(page, GP_TONE_BAD, 2,
			     f->is_impossible
				     ? "They do not fit %s bytes."
				     : "No packing in %s bytes was found.",
			     GP_COUNT(report->capacity));
}

void gp_report_floor_text(const struct gp_floor_report *report,
			  const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	if (!report->count) {
		gp_page_line(&page, GP_TONE_TITLE, 0, "%s",
			     gp_page_name(report->path));
		gp_head_nothing(&page);
	}
	for (size_t i = 0; i < report->count; i++) {
		const struct gp_floor_device *d = &report->devices[i];

		if (i)
			gp_page_blank(&page);
		if (report->count > 1)
			gp_page_line(&page, GP_TONE_TITLE, 2, "%s, device %u",
				     gp_page_name(report->path), d->device);
		else
			gp_page_line(&page, GP_TONE_TITLE, 2, "%s",
				     gp_page_name(report->path));
		if (report->trace)
			gp_head_doubts(&page, report->trace);
		gp_page_blank(&page);
		if (report->settings)
			print_sentence(&page, report, d);
		else
			print_spans(&page, report, d);
		gp_page_blank(&page);
		print_bound(&page, report, d);
		print_packing(&page, d);
		if (!report->settings)
			continue;
		print_run(&page, report, d);
		if (!d->breakdown.dropped)
			print_parts(&page, d);
	}
}

/* ---- as minimalloc's CSV ---- */

void gp_report_floor_csv(const struct gp_floor_report *report, FILE *out)
{
	const struct gp_trace *trace = report->trace;

	for (size_t i = 0; i < report->count; i++) {
		const struct gp_floor_device *d = &report->devices[i];

		gp_spans_write(&d->spans, d->floor.offsets,
			       trace ? trace->devices[i].names : NULL, out);
	}
}

/* ---- for a program ---- */

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
	struct gp_floor_parts parts = parts_of(d);

	gp_emit_object(json, "beyond_packing", "beyond_packing", &parts,
		       GP_EMIT_LINES);
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
		gp_emit_count(json, GP_PEAK_RESERVED, d->breakdown.reserved);
		gp_emit_object(json, "estimate", "estimate",
			       d->estimate.is_there ? &d->estimate : NULL,
			       GP_EMIT_LINES);
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
	if (report->trace)
		gp_emit_told(&json, report->trace);
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
