/* SPDX-License-Identifier: MIT */
/* Runs for a program: the report, the measures over time, and the allocator's
 * actions, one per line. */
#include "report/report.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gpupool/metrics.h"
#include "report/device_calls.h"
#include "report/emit.h"
#include "report/number.h"
#include "report/head.h"
#include "report/object.h"
#include "report/trouble.h"
#include "report/ranks.h"
#include "report/schema.h"

static const char *const modes[] = {
	[GP_VERIFY] = "verify",
	[GP_WHAT_IF] = "what-if",
};

static const char *const causes[] = {
	[GP_CAUSE_CAPACITY] = "capacity",
	[GP_CAUSE_FRAGMENTATION] = "fragmentation",
};

/* ---- where a run diverges from its recording, and where memory ran out
 * ---- */

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

static void write_stat(void *arg, const char *key, int64_t value)
{
	gp_emit_int(arg, key, value);
}

/* torch.cuda.memory_stats(), key for key, in that function's order. */
static void write_stats(struct gp_emit *json, const struct gp_trace *trace,
			const struct gp_replay_result *result, uint8_t release)
{
	gp_emit_open(json, "memory_stats", '{', GP_EMIT_LINES);
	gp_stats_each(trace, result, release, write_stat, json);
	gp_emit_close(json, '}');
}

static void write_measures(struct gp_emit *json,
			   const struct gp_replay_result *result)
{
	struct gp_subject end = gp_at_end(result);

	gp_emit_open(json, "measures", '{', GP_EMIT_LINES);
	gp_emit_measures(json, GP_SCOPE_RUN, &end);
	gp_emit_measures(json, GP_SCOPE_COUNTER, &end);
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
	write_stats(json, trace, result, run->settings->release);
	write_fidelity(json, trace, &result->fidelity);
	write_oom(json, trace, &result->first_oom);
	if (result->others.missing)
		gp_emit_object(json, "others_no_room", "others_no_room",
			       &result->others, GP_EMIT_LINES);
	gp_emit_object(json, "first_refusal", "first_refusal",
		       result->refused ? result : NULL, GP_EMIT_LINES);
	write_measures(json, result);
	/* Repeated in a place that simple scripts find easily. */
	gp_emit_object(json, "at_peak", "at_peak", &result->at_peak,
		       GP_EMIT_FLAT);
	gp_emit_object(json, "estimate", "estimate", gp_run_estimate(run, i),
		       GP_EMIT_LINES);
	gp_emit_calls(json, &result->calls);
	gp_device_calls_emit(json, result);
	gp_emit_guesses(json, "guesses", &device->guesses);
	/* For a device without requests, the recorded state, if there is one.
	 */
	gp_emit_state(json, "end", trace,
		      result->requests || !device->end.segment_count
			      ? &result->end
			      : &device->end);
	write_timeline(json, &result->timeline);
	gp_emit_close(json, '}');
}

/* A note for engines whose numbers are only bounds if there is no real
 * device. */
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

/* ---- the measures over time, as a table for other programs ---- */

static bool is_column(unsigned id)
{
	return gp_measures[id].scope == GP_SCOPE_MOMENT;
}

static void write_csv_row(uint32_t device, const struct gp_moment *moment,
			  FILE *out)
{
	struct gp_subject subject = { .moment = moment };

	fprintf(out, "%u,%" PRIu64, device, moment->event);
	for (unsigned id = 0; id < GP_MEASURES; id++) {
		if (!is_column(id))
			continue;
		if (gp_measures[id].unit == GP_UNIT_RATIO)
			fprintf(out, ",%.6f", gp_measure_ratio(id, &subject));
		else
			fprintf(out, ",%" PRIu64,
				gp_measure_count(id, &subject));
	}
	putc('\n', out);
}

void gp_report_timeline_csv(const struct gp_report *report, FILE *out)
{
	const struct gp_run *run = &report->runs[report->run_count - 1];

	fputs("device,event", out);
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if (is_column(id))
			fprintf(out, ",%s", gp_measures[id].key);
	putc('\n', out);
	for (size_t d = 0; d < report->trace->device_count; d++) {
		struct gp_moment *moments;
		size_t count = gp_thin_moments(run->tracks[d].thin, &moments);

		for (size_t i = 0; i < count; i++)
			write_csv_row(report->trace->devices[d].device,
				      &moments[i], out);
		free(moments);
	}
}

/* One measure at all moments. */
static void write_column(struct gp_emit *json, unsigned id,
			 const struct gp_moment *moments, size_t count)
{
	gp_emit_open(json, gp_measures[id].key, '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < count; i++) {
		struct gp_subject subject = { .moment = &moments[i] };

		if (gp_measures[id].unit == GP_UNIT_RATIO)
			gp_emit_ratio(json, NULL,
				      gp_measure_ratio(id, &subject));
		else
			gp_emit_uint(json, NULL,
				     gp_measure_count(id, &subject));
	}
	gp_emit_close(json, ']');
}

static void write_track(struct gp_emit *json, uint32_t device,
			const struct gp_track *track)
{
	struct gp_moment *moments;
	size_t count = gp_thin_moments(track->thin, &moments);

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", device);
	gp_emit_open(json, "event", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < count; i++)
		gp_emit_uint(json, NULL, moments[i].event);
	gp_emit_close(json, ']');
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if (is_column(id))
			write_column(json, id, moments, count);
	gp_emit_close(json, '}');
	free(moments);
}

void gp_report_timeline_json(const struct gp_report *report, FILE *out)
{
	const struct gp_run *run = &report->runs[report->run_count - 1];
	struct gp_emit json = gp_emit_begin("gpupool-timeline/1", out);

	gp_emit_open(&json, "devices", '[', GP_EMIT_LINES);
	for (size_t d = 0; d < report->trace->device_count; d++)
		write_track(&json, report->trace->devices[d].device,
			    &run->tracks[d]);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}

/* ---- a line of --events: there may be millions, so numbers are formatted by
 * hand into one buffer and written at once ---- */

/* PyTorch's names; NULL: not something an allocator does. */
static const char *const action_names[GP_EVENT_KINDS] = {
	[GP_ALLOC] = "alloc",
	[GP_FREE] = "free_requested",
	[GP_SEGMENT_ALLOC] = "segment_alloc",
	[GP_SEGMENT_FREE] = "segment_free",
	[GP_SEGMENT_MAP] = "segment_map",
	[GP_SEGMENT_UNMAP] = "segment_unmap",
	[GP_FREE_COMPLETED] = "free_completed",
	[GP_OOM] = "oom",
	[GP_SNAPSHOT] = "snapshot",
};

static char *put_text(char *at, const char *text)
{
	size_t length = strlen(text);

	memcpy(at, text, length);
	return at + length;
}

static char *put_number(char *at, uint64_t number)
{
	char digits[20];
	size_t first = sizeof(digits);

	do {
		digits[--first] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	memcpy(at, digits + first, sizeof(digits) - first);
	return at + sizeof(digits) - first;
}

static char *put(char *at, const char *key, uint64_t number)
{
	return put_number(put_text(at, key), number);
}

/* Stream and pool of an action. */
static char *put_place(char *at, const struct gp_trace *trace,
		       const struct gp_action *action)
{
	uint64_t stream = 0;
	struct gp_pool_id pool = { 0, 0 };

	if (action->stream < trace->stream_count)
		stream = trace->streams[action->stream];
	if (action->pool < trace->pool_count)
		pool = trace->pools[action->pool];
	at = put(at, ",\"stream\":", stream);
	at = put(at, ",\"pool\":[", pool.first);
	at = put(at, ",", pool.second);
	return put_text(at, "]");
}

void gp_report_action(const struct gp_trace *trace,
		      const struct gp_device_trace *device,
		      const struct gp_action *action, uint64_t event, FILE *out)
{
	char line[384]; /* at most nine numbers of 20 digits, and the keys */
	char *at = put_text(line, "{\"action\":\"");

	at = put_text(at, action_names[action->kind]);
	at = put(at,
		 action->kind == GP_OOM ? "\",\"device_free\":"
					: "\",\"addr\":",
		 action->addr);
	at = put(at, ",\"size\":", action->size);
	at = put_place(at, trace, action);
	at = put(at, ",\"device\":", device->device);
	if (action->id != GP_NO_ID)
		at = put(at, ",\"id\":",
			 device->names ? device->names[action->id]
				       : action->id);
	at = put(at, ",\"event\":", event);
	at = put_text(at, "}\n");
	fwrite(line, 1, (size_t)(at - line), out);
}
