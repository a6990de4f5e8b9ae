/* SPDX-License-Identifier: MIT */
/* gpupool-info/2: what is in a trace, for a program. */
#include "report/report.h"

#include "report/census.h"
#include "report/emit_parts.h"
#include "report/emit.h"
#include "report/ranks.h"

static void write_events(struct gp_emit *json, const struct gp_census *census)
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

/* What only a replay tells. */
static void write_replayed(struct gp_emit *json,
			   const struct gp_replay_result *result)
{
	gp_emit_open(json, "replayed", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "checked", result->fidelity.checked);
	gp_emit_uint(json, "matched", result->fidelity.matched);
	gp_emit_moment(json, "at_peak", &result->at_peak);
	gp_emit_moment(json, "at_end", &result->at_end);
	gp_emit_close(json, '}');
}

static void write_recorded(struct gp_emit *json, const struct gp_recorded *told)
{
	if (!told->has_reserved && !told->has_allocated)
		return;
	gp_emit_open(json, "recorded", '{', GP_EMIT_LINES);
	if (told->has_reserved)
		gp_emit_count(json, GP_RECORDED_RESERVED, told->reserved);
	if (told->has_allocated)
		gp_emit_count(json, GP_RECORDED_ALLOCATED, told->allocated);
	if (told->has_first) {
		gp_emit_count(json, GP_RECORDED_START, told->first_reserved);
		gp_emit_uint(json, "recorded_allocated_at_start_bytes",
			     told->first_allocated);
	}
	gp_emit_close(json, '}');
}

static void write_device(struct gp_emit *json, const struct gp_info *info,
			 size_t i)
{
	const struct gp_device_trace *device = &info->trace->devices[i];
	struct gp_census census = gp_census_take(device);
	struct gp_recorded told;

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	gp_emit_limit(json, "total_memory",
		      device->total_memory ? device->total_memory
					   : GP_UNLIMITED);
	gp_emit_uint(json, "event_count", device->event_count);
	write_events(json, &census);
	gp_emit_guesses(json, "guesses", &device->guesses);
	told = gp_trace_recorded(info->trace, (uint32_t)i);
	write_recorded(json, &told);
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
	if (trace->values)
		gp_emit_text(&json, "values", trace->values);
	if (gp_trace_unknown(trace))
		gp_emit_text(&json, "not_told", gp_trace_unknown(trace));
	write_release(&json, info);
	gp_emit_text(&json, "trouble", info->trouble);
	write_tables(&json, trace);
	gp_emit_open(&json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < trace->device_count; i++)
		write_device(&json, info, i);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
