/* SPDX-License-Identifier: MIT */
/* Runs for a program. */
#include "report/report.h"

#include <stddef.h>

#include "gpupool/metrics.h"
#include "report/device_calls.h"
#include "report/emit.h"
#include "report/emit_parts.h"
#include "report/head.h"
#include "report/object.h"
#include "report/oom_message.h"
#include "report/ranks.h"
#include "report/schema.h"
#include "report/trouble.h"

static const char *const modes[] = {
	[GP_VERIFY] = "verify",
	[GP_WHAT_IF] = "what-if",
};

static const char *const causes[] = {
	[GP_CAUSE_CAPACITY] = "capacity",
	[GP_CAUSE_FRAGMENTATION] = "fragmentation",
};

/* ---- where run and recording part, and where memory ran out ---- */

static void write_mismatch(struct gp_emit *json, const struct gp_trace *trace,
			   const struct gp_mismatch *mismatch)
{
	if (!mismatch->is_there) {
		gp_emit_null(json, "first_mismatch");
		return;
	}
	gp_emit_open(json, "first_mismatch", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "event", mismatch->event);
	gp_emit_text(json, "kind", gp_mismatch_rows[mismatch->kind].key);
	gp_emit_uint(json, "requested", mismatch->requested);
	gp_emit_uint(json, "stream", trace->streams[mismatch->stream]);
	gp_emit_pool(json, "pool", trace->pools[mismatch->pool]);
	gp_emit_site(json, trace, mismatch->site);
	gp_emit_uint(json, "chosen", mismatch->chosen);
	gp_emit_uint(json, "recorded", mismatch->recorded);
	gp_emit_objects(json, "candidates", "candidate", mismatch->candidates,
			mismatch->candidate_count,
			sizeof(*mismatch->candidates));
	gp_emit_close(json, '}');
}

static void write_fidelity(struct gp_emit *json, const struct gp_trace *trace,
			   const struct gp_fidelity *fidelity)
{
	gp_emit_open(json, "fidelity", '{', GP_EMIT_LINES);
	gp_emit_keys(json, "fidelity_sum", fidelity);
	gp_emit_keys(json, "fidelity", fidelity);
	write_mismatch(json, trace, &fidelity->first);
	gp_emit_close(json, '}');
}

static void write_oom(struct gp_emit *json, const struct gp_trace *trace,
		      const struct gp_oom *oom)
{
	char message[GP_OOM_MESSAGE];

	if (!oom->is_there) {
		gp_emit_null(json, "first_oom");
		return;
	}
	gp_emit_open(json, "first_oom", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "alloc", oom->alloc);
	gp_emit_uint(json, "size", oom->size);
	gp_emit_uint(json, "event", oom->event);
	gp_emit_text(json, "cause", causes[oom->cause]);
	gp_emit_uint(json, "free", oom->free_bytes);
	gp_emit_uint(json, "largest_free", oom->largest_free);
	gp_emit_uint(json, "device_free", oom->device_free);
	gp_emit_count(json, GP_RESERVED, oom->reserved);
	gp_emit_count(json, GP_ALLOCATED, oom->allocated);
	gp_emit_text(json, "message", gp_oom_message(oom, message));
	gp_emit_site(json, trace, oom->site);
	gp_emit_close(json, '}');
}

/* ---- numbers ---- */

static void write_measures(struct gp_emit *json,
			   const struct gp_replay_result *result)
{
	struct gp_subject end = gp_at_end(result);

	gp_emit_open(json, "measures", '{', GP_EMIT_LINES);
	gp_emit_measures(json, GP_SCOPE_RUN, &end);
	gp_emit_moment(json, "at_peak", &result->at_peak);
	gp_emit_moment(json, "at_fullest", &result->at_fullest);
	gp_emit_moment(json, "at_end", &result->at_end);
	gp_emit_close(json, '}');
}

static void write_series(struct gp_emit *json, enum gp_measure_id id,
			 const uint64_t *values, uint32_t count)
{
	gp_emit_open(json, gp_measures[id].key, '[', GP_EMIT_FLAT);
	for (uint32_t i = 0; i < count; i++)
		gp_emit_uint(json, NULL, values[i]);
	gp_emit_close(json, ']');
}

static void write_timeline(struct gp_emit *json,
			   const struct gp_timeline *timeline)
{
	gp_emit_open(json, "timeline", '{', GP_EMIT_LINES);
	gp_emit_uint(json, "bins", timeline->bins);
	write_series(json, GP_RESERVED, timeline->reserved, timeline->bins);
	write_series(json, GP_ALLOCATED, timeline->allocated, timeline->bins);
	write_series(json, GP_ACTIVE_BYTES, timeline->active, timeline->bins);
	gp_emit_close(json, '}');
}

/* ---- the whole ---- */

static void write_device(struct gp_emit *json, const struct gp_report *report,
			 const struct gp_run *run, size_t i)
{
	const struct gp_trace *trace = report->trace;
	const struct gp_device_trace *device = &trace->devices[i];
	const struct gp_replay_result *result = &run->results[i];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device->device);
	gp_emit_limit(json, "capacity", run->capacity[i]);
	gp_emit_stats(json, "memory_stats", trace, result,
		      run->settings->release);
	write_fidelity(json, trace, &result->fidelity);
	write_oom(json, trace, &result->first_oom);
	if (result->others.missing)
		gp_emit_object(json, "others_no_room", "others_no_room",
			       &result->others, GP_EMIT_LINES);
	gp_emit_object(json, "first_refusal", "first_refusal",
		       result->refused ? result : NULL, GP_EMIT_LINES);
	write_measures(json, result);
	/* Also where programs look that want nothing else. */
	gp_emit_object(json, "at_peak", "at_peak", &result->at_peak,
		       GP_EMIT_FLAT);
	gp_emit_object(json, "estimate", "estimate", gp_run_estimate(run, i),
		       GP_EMIT_LINES);
	gp_emit_calls(json, &result->calls);
	gp_device_calls_emit(json, result);
	gp_emit_guesses(json, "guesses", &device->guesses);
	/* Of a file without requests: the state it has. */
	gp_emit_state(json, "end", trace,
		      result->requests ? &result->end : &device->end);
	write_timeline(json, &result->timeline);
	gp_emit_close(json, '}');
}

/* Of engines whose numbers are bounds where there is no device. */
static void emit_engine_note(struct gp_emit *json, const struct gp_run *run)
{
	const char *note = gp_engine_note(run->engine);

	if (note && !run->cuda)
		gp_emit_text(json, "engine_note", note);
}

void gp_json_run(struct gp_emit *json, const struct gp_report *report,
		 const struct gp_run *run, enum gp_emit_shape shape)
{
	gp_emit_open(json, NULL, '{', shape);
	gp_emit_settings(json, "settings", run->settings);
	gp_emit_text(json, "alloc_conf", run->conf);
	gp_emit_release(json, "torch", run->settings->release);
	gp_emit_text(json, "engine", run->engine);
	emit_engine_note(json, run);
	gp_emit_text(json, "mode", modes[run->mode]);
	if (run->cuda)
		gp_emit_text(json, "gpu", run->cuda->gpu);
	gp_emit_choice(json, "release_choice", run->choice);
	if (run->what_ifs)
		gp_emit_what_ifs(json, "what_ifs", run->what_ifs);
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->trace->device_count; i++)
		write_device(json, report, run, i);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

void gp_json_trace(struct gp_emit *json, const struct gp_report *report)
{
	const struct gp_trace *trace = report->trace;

	gp_emit_open(json, "trace", '{', GP_EMIT_LINES);
	gp_emit_text(json, "path", report->path);
	gp_emit_text(json, "source", trace->source);
	gp_emit_text(json, "settings", trace->settings);
	gp_emit_bool(json, "complete", trace->is_complete);
	gp_emit_told(json, trace);
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < trace->device_count; i++) {
		const struct gp_device_trace *device = &trace->devices[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_uint(json, "device", device->device);
		gp_emit_uint(json, "events", device->event_count);
		gp_emit_limit(json, "total_memory",
			      device->total_memory ? device->total_memory
						   : GP_UNLIMITED);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

void gp_report_json(const struct gp_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_json_trace(&json, report);
	gp_emit_ranks(&json, report->ranks);
	gp_emit_rank_runs(&json, report->rank_runs);
	if (report->timing)
		gp_emit_object(&json, "timing", "timing", report->timing,
			       GP_EMIT_LINES);
	gp_emit_open(&json, "runs", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->run_count; i++)
		gp_json_run(&json, report, &report->runs[i], GP_EMIT_LINES);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}
