/* SPDX-License-Identifier: MIT */
/* What is in a trace, for a person and for a program. */
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/bytes.h"
#include "report/emit.h"
#include "report/group.h"
#include "report/head.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/object.h"

/* ---- counting the events of a device's trace ---- */

struct census {
	uint64_t by_kind[GP_EVENT_KINDS];
	uint64_t inferred;	    /* by the reader, rather than recorded */
	uint64_t first_us, last_us; /* 0: no times were recorded */
};

static struct census take_census(const struct gp_device_trace *device)
{
	struct census census = { 0 };

	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		census.by_kind[event->kind]++;
		census.inferred += (event->flags & GP_INFERRED) != 0;
		if (!event->time_us)
			continue;
		if (!census.first_us || event->time_us < census.first_us)
			census.first_us = event->time_us;
		if (event->time_us > census.last_us)
			census.last_us = event->time_us;
	}
	return census;
}

#define LABEL  14
#define BYTES  11
#define KIND   22 /* width of an event kind's name, in columns */
#define NUMBER 12 /* width of its count */
#define GUTTER 4
#define NAMED  4 /* streams and pools that are named before "and more" */

/* ---- the whole trace ---- */

static void print_title(const struct gp_page *page, const struct gp_info *info)
{
	const struct gp_trace *trace = info->trace;
	char title[RANKS_TITLE];
	uint64_t count = 0;

	for (size_t i = 0; i < trace->device_count; i++)
		count += trace->devices[i].event_count;
	gp_page_line(page, GP_TONE_TITLE, 2, "%s: %s, %s, %s",
		     ranks_run_title(info->ranks, info->rank_runs, info->path,
				     title),
		     trace->source ? trace->source : "a trace",
		     GP_PLURAL(count, "event"),
		     GP_PLURAL(trace->device_count, "device"));
}

static void print_release(const struct gp_page *page,
			  const struct gp_info *info)
{
	const struct gp_release_range *range = &info->trace->release;

	if (range->first == range->last)
		gp_page_field(page, "PyTorch", "2.%u; %s", range->first,
			      range->why);
	else
		gp_page_field(page, "PyTorch", "2.%u to 2.%u%s%s", range->first,
			      range->last, *range->why ? "; " : "", range->why);
	if (info->choice && range->first != range->last)
		gp_page_field(page, "", "replayed as 2.%u: %s",
			      info->choice->release, info->choice->why);
}

static const char *coverage(const struct gp_trace *trace)
{
	if (!trace->device_count)
		return "nothing: no segments and no requests";
	if (trace->is_complete)
		return "the whole process, from its first allocation";
	if (gp_trace_has_start(trace))
		return "a window: earlier events are not in the file";
	for (size_t i = 0; i < trace->device_count; i++)
		if (trace->devices[i].guesses.start_blocks)
			return "a window: what was there before is allocated "
			       "at its beginning";
	return "from empty memory on";
}

static void print_settings(const struct gp_page *page,
			   const struct gp_trace *trace)
{
	gp_page_field(page, "Settings", "%s",
		      trace->settings ? gp_head_settings(trace->settings)
				      : "not recorded; taken as default");
	gp_page_field(page, "Coverage", "%s", coverage(trace));
	if (trace->values)
		gp_page_field(page, "Path", "%s", trace->values);
	if (gp_trace_unknown(trace))
		gp_page_field(page, "Unknown", "%s", gp_trace_unknown(trace));
}

/* "3: stream 0 (default), stream 0x55, and 1 more" */
static void print_names(const struct gp_page *page, const char *title,
			const struct gp_trace *trace, enum gp_grouping grouping,
			size_t count)
{
	char names[NAMED * (GP_GROUP_LABEL + 2)] = "", label[GP_GROUP_LABEL];
	size_t length = 0;

	for (size_t i = 0; i < count && i < NAMED; i++)
		length += (size_t)snprintf(
			names + length, sizeof(names) - length, "%s%s",
			i ? ", " : "",
			gp_group_label(trace, grouping, (uint32_t)i, label));
	gp_page_field(page, title, "%s: %s%s%s%s", GP_COUNT(count), names,
		      count > NAMED ? ", and " : "",
		      count > NAMED ? GP_COUNT(count - NAMED) : "",
		      count > NAMED ? " more" : "");
}

/* ---- one device ---- */

static void print_moment(const struct gp_page *page, const char *label,
			 const struct gp_group *sums)
{
	const uint64_t values[] = { sums->reserved, sums->allocated,
				    sums->active, sums->requested };

	fprintf(page->out, "%-*s", LABEL, label);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		fprintf(page->out, "%*s", BYTES, GP_BYTES(values[i]));
	putc('\n', page->out);
}

static struct gp_group sums_of(const struct gp_moment *moment)
{
	return (struct gp_group){
		.reserved = moment->reserved,
		.allocated = moment->allocated,
		.active = moment->active,
		.requested = moment->requested,
	};
}

static void print_moments(const struct gp_page *page,
			  const struct gp_device_trace *device,
			  const struct gp_replay_result *result)
{
	struct gp_group start = gp_group_total(&device->start);
	struct gp_group end = gp_group_total(&device->end);
	char text[GP_RECORDED_TEXT];

	fprintf(page->out, "%*s%*s%*s%*s%*s\n", LABEL, "", BYTES, "reserved",
		BYTES, "allocated", BYTES, "active", BYTES, "requested");
	print_moment(page, "at the start", &start);
	if (result) {
		struct gp_group peak = sums_of(&result->at_peak);

		print_moment(page, "at the peak", &peak);
		if (!device->end.segment_count)
			end = sums_of(&result->at_end);
	} else if (!device->end.segment_count) {
		end = start;
	}
	if (result || device->end.segment_count || !device->event_count)
		print_moment(page, "at the end", &end);
	if (result && gp_recorded_more(&result->recorded,
				       result->at_peak.reserved, text)) {
		gp_page_blank(page);
		gp_page_line(page, GP_TONE_BAD, 2, "%s", text);
	}
}

/* Advances *kind to the next kind below last that occurs; false: there is
 * none. */
static bool next_kind(const struct census *census, unsigned *kind,
		      unsigned last)
{
	while (*kind < last && !census->by_kind[*kind])
		++*kind;
	return *kind < last;
}

static void print_count(const struct gp_page *page, const struct census *census,
			unsigned kind)
{
	fprintf(page->out, "%-*s%*s", KIND, gp_event_kind_name(kind), NUMBER,
		GP_COUNT(census->by_kind[kind]));
}

/* Two columns: the program's requests, and the allocator's actions. */
static void print_events(const struct gp_page *page,
			 const struct census *census)
{
	unsigned asked = 0, done = GP_FIRST_OUTCOME;

	gp_page_blank(page);
	if (next_kind(census, &done, GP_EVENT_KINDS))
		fprintf(page->out, "%-*sRecorded outcomes\n",
			KIND + NUMBER + GUTTER, "Requests");
	else
		fputs("Requests\n", page->out);
	for (;;) {
		bool left = next_kind(census, &asked, GP_FIRST_OUTCOME);
		bool right = next_kind(census, &done, GP_EVENT_KINDS);

		if (!left && !right)
			break;
		if (left)
			print_count(page, census, asked++);
		if (right) {
			fprintf(page->out, "%*s",
				left ? GUTTER : KIND + NUMBER + GUTTER, "");
			print_count(page, census, done++);
		}
		putc('\n', page->out);
	}
}

static void print_span(const struct gp_page *page, const struct census *census)
{
	uint64_t span = census->last_us - census->first_us;
	bool is_short = span < 10000;

	if (census->first_us)
		gp_page_field(page, "Time span", "%.3f %s",
			      (double)span / (is_short ? 1e3 : 1e6),
			      is_short ? "ms" : "s");
}

static void print_fidelity(const struct gp_page *page,
			   const struct gp_replay_result *result)
{
	if (result && result->fidelity.checked)
		gp_page_field(page, "Replayed",
			      "%s of %s addresses as recorded",
			      GP_COUNT(result->fidelity.matched),
			      GP_COUNT(result->fidelity.checked));
}

static void print_device(const struct gp_page *page, const struct gp_info *info,
			 size_t i)
{
	const struct gp_device_trace *device = &info->trace->devices[i];
	const struct gp_replay_result *result =
		info->results && info->results[i].requests ? &info->results[i]
							   : NULL;
	struct census census = take_census(device);
	char label[32];

	gp_page_blank(page);
	snprintf(label, sizeof(label), "Device %u", device->device);
	gp_page_field(
		page, label, "%s%s%s", GP_PLURAL(device->event_count, "event"),
		device->total_memory ? "; memory: " : "",
		device->total_memory ? GP_BYTES(device->total_memory) : "");
	print_span(page, &census);
	print_fidelity(page, result);
	gp_page_blank(page);
	print_moments(page, device, result);
	if (device->event_count)
		print_events(page, &census);
	gp_group_print(page, info->trace, &device->end, "State at the end");
	gp_guess_print(page, &device->guesses);
}

void gp_report_info_text(const struct gp_info *info,
			 const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);
	const struct gp_trace *trace = info->trace;

	print_title(&page, info);
	ranks_head(&page, info->ranks, RANKS_OWN_SETTINGS);
	print_release(&page, info);
	print_settings(&page, trace);
	print_names(&page, "Streams", trace, GP_BY_STREAM, trace->stream_count);
	print_names(&page, "Pools", trace, GP_BY_POOL, trace->pool_count);
	if (!trace->device_count)
		gp_head_nothing(&page);
	if (info->trouble)
		gp_page_field(&page, "No replay", "%s", info->trouble);
	ranks_runs(&page, info->rank_runs);
	for (size_t i = 0; i < trace->device_count; i++)
		print_device(&page, info, i);
}

/* ---- for a program: gpupool-info/2 ---- */

static void write_events(struct gp_emit *json, const struct census *census)
{
	gp_emit_open(json, "events", '{', GP_EMIT_LINES);
	for (unsigned kind = 0; kind < GP_EVENT_KINDS; kind++)
		if (census->by_kind[kind])
			gp_emit_uint(json, gp_event_kind_name(kind),
				     census->by_kind[kind]);
	gp_emit_close(json, '}');
	gp_emit_uint(json, "inferred_events", census->inferred);
	gp_emit_uint(json, "first_us", census->first_us);
	gp_emit_uint(json, "last_us", census->last_us);
}

/* Keys that come from a replay. */
static void write_replayed(struct gp_emit *json,
			   const struct gp_replay_result *result)
{
	gp_emit_open(json, "replayed", '{', GP_EMIT_LINES);
	gp_emit_keys(json, "fidelity_sum", &result->fidelity);
	gp_emit_moment(json, "at_peak", &result->at_peak);
	gp_emit_moment(json, "at_end", &result->at_end);
	gp_emit_close(json, '}');
}

static void write_recorded(struct gp_emit *json,
			   const struct gp_recorded *recorded)
{
	if (!recorded->has_reserved && !recorded->has_allocated)
		return;
	gp_emit_open(json, "recorded", '{', GP_EMIT_LINES);
	if (recorded->has_reserved)
		gp_emit_count(json, GP_RECORDED_RESERVED, recorded->reserved);
	if (recorded->has_allocated)
		gp_emit_count(json, GP_RECORDED_ALLOCATED, recorded->allocated);
	if (recorded->has_first) {
		gp_emit_count(json, GP_RECORDED_START,
			      recorded->first_reserved);
		gp_emit_uint(json, "recorded_allocated_at_start_bytes",
			     recorded->first_allocated);
	}
	gp_emit_close(json, '}');
}

static void write_device(struct gp_emit *json, const struct gp_info *info,
			 size_t i)
{
	const struct gp_device_trace *device = &info->trace->devices[i];
	struct census census = take_census(device);
	struct gp_recorded recorded;

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	gp_emit_limit(json, "total_memory",
		      device->total_memory ? device->total_memory
					   : GP_UNLIMITED);
	gp_emit_uint(json, "event_count", device->event_count);
	write_events(json, &census);
	gp_emit_guesses(json, "guesses", &device->guesses);
	recorded = gp_trace_recorded(info->trace, (uint32_t)i);
	write_recorded(json, &recorded);
	gp_emit_state(json, "start", info->trace, &device->start);
	if (info->results && info->results[i].requests)
		write_replayed(json, &info->results[i]);
	else
		gp_emit_null(json, "replayed");
	gp_emit_state(json, "end", info->trace, &device->end);
	gp_emit_close(json, '}');
}

static void write_release(struct gp_emit *json, const struct gp_info *info)
{
	const struct gp_release_range *range = &info->trace->release;

	gp_emit_open(json, "release", '{', GP_EMIT_LINES);
	gp_emit_release(json, "first", range->first);
	gp_emit_release(json, "last", range->last);
	gp_emit_text(json, "why", range->why);
	gp_emit_choice(json, "choice", info->choice);
	gp_emit_close(json, '}');
}

static void write_tables(struct gp_emit *json, const struct gp_trace *trace)
{
	gp_emit_open(json, "streams", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < trace->stream_count; i++)
		gp_emit_uint(json, NULL, trace->streams[i]);
	gp_emit_close(json, ']');
	gp_emit_open(json, "pools", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < trace->pool_count; i++)
		gp_emit_pool(json, NULL, trace->pools[i]);
	gp_emit_close(json, ']');
}

void gp_report_info_json(const struct gp_info *info, FILE *out)
{
	struct gp_emit json = gp_emit_begin("gpupool-info/2", out);
	const struct gp_trace *trace = info->trace;

	gp_emit_text(&json, "path", info->path);
	gp_emit_ranks(&json, info->ranks);
	gp_emit_rank_runs(&json, info->rank_runs);
	gp_emit_text(&json, "source", trace->source);
	gp_emit_text(&json, "settings", trace->settings);
	gp_emit_bool(&json, "complete", trace->is_complete);
	gp_emit_told(&json, trace);
	write_release(&json, info);
	gp_emit_text(&json, "trouble", info->trouble);
	write_tables(&json, trace);
	gp_emit_open(&json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < trace->device_count; i++)
		write_device(&json, info, i);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
