/* SPDX-License-Identifier: MIT */
/* gpupool floor: how little memory would be enough. */
#include "study/floor/floor.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/studying.h"
#include "commands/trace_file.h"
#include "report/report.h"
#include "device/gpu.h"
#include "gpupool/study.h"

#define MILLION UINT64_C(1000000)

struct session {
	const struct gp_options *options;
	struct gp_progress progress;
	struct gp_trace *trace; /* NULL: spans of a CSV */
	struct gp_plan plan;
	struct gp_floor_report report;
	struct gp_floor_device *devices;
};

static void find(struct session *s, struct gp_floor_device *device,
		 uint64_t capacity)
{
	const struct gp_floor_config config = {
		.spans = &device->spans,
		.capacity = capacity,
		.work = s->options->steps * MILLION,
	};

	gp_progress_step(&s->progress, "looking for a packing");
	gp_floor_find(&config, &device->floor);
}

/* ---- of a trace ---- */

/* The bytes of spans that are live at a peak: after its event; or before the
 * first event, unless that is an alloc, after which more is live. */
static uint64_t live_at(const struct gp_device_trace *trace,
			const struct gp_spans *spans,
			const struct gp_breakdown *peak)
{
	bool is_start =
		peak->is_from_start && !peak->event &&
		!(trace->event_count && trace->events[0].kind == GP_ALLOC);
	uint64_t time = is_start ? 0 : peak->event + 1, live = 0;

	for (size_t i = 0; i < spans->count; i++)
		if (spans->items[i].lower <= time &&
		    time < spans->items[i].upper)
			live += spans->items[i].size;
	return live;
}

static enum gp_status replay(const struct gp_replay_config *config,
			     struct gp_breakdown *breakdown,
			     struct gp_diag *diag)
{
	struct gp_replay_result result;
	enum gp_status status =
		gp_breakdown_take(config, breakdown, &result, diag);

	if (status == GP_OK)
		gp_replay_release(&result);
	return status;
}

/* Replays as asked; if memory runs out, without a limit, because only then does
 * the run hold what the packing holds. */
static enum gp_status run_device(struct session *s, uint32_t i,
				 struct gp_floor_device *device,
				 struct gp_diag *diag)
{
	struct gp_replay_config config = gp_plan_config(&s->plan, i);
	enum gp_status status;

	gp_progress_step(&s->progress, "replaying");
	device->capacity = config.capacity;
	status = replay(&config, &device->breakdown, diag);
	if (status != GP_OK || !device->breakdown.dropped)
		return status;
	device->dropped = device->breakdown.dropped;
	config.capacity = GP_UNLIMITED;
	config.mode = GP_WHAT_IF;
	return replay(&config, &device->breakdown, diag);
}

static enum gp_status estimate(struct session *s, struct gp_diag *diag)
{
	struct gp_estimate *estimates;
	enum gp_status status =
		gp_estimating_make(&s->plan, s->trace, &estimates, diag);

	for (size_t i = 0; estimates && i < s->report.count; i++)
		s->devices[i].estimate = estimates[i];
	free(estimates);
	return status;
}

static enum gp_status measure(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	uint64_t round = s->report.round;

	for (uint32_t i = 0; i < s->trace->device_count && status == GP_OK;
	     i++) {
		struct gp_floor_device *device = &s->devices[s->report.count++];

		device->device = s->trace->devices[i].device;
		device->requested = gp_study_live(s->trace, i, 1);
		gp_spans_of_trace(s->trace, i, round, &device->spans);
		find(s, device, 0);
		status = run_device(s, i, device, diag);
		device->live_then = live_at(&s->trace->devices[i],
					    &device->spans, &device->breakdown);
	}
	if (status == GP_OK)
		status = estimate(s, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->options->operands[0]);
	return status;
}

static enum gp_status make_plan(struct session *s, struct gp_diag *diag)
{
	enum gp_status status =
		gp_plan_make(&s->plan, s->trace, s->options, diag);

	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->options->operands[0]);
	s->report.conf = s->plan.conf;
	s->report.trace = s->trace;
	s->report.settings = &s->plan.settings;
	return status;
}

/* Spans may have a few bytes in total, but a device may not. */
static enum gp_status check_capacity(uint64_t capacity, struct gp_diag *diag)
{
	struct gp_diag why = { 0 };
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, capacity);
	if (!capacity || gp_capacity_parse(text, &capacity, &why) == GP_OK)
		return GP_OK;
	gp_diag_hint(diag, "%s", why.hint);
	return gp_diag_set(diag, GP_USAGE, "--capacity %.400s", why.what);
}

static enum gp_status do_trace(struct session *s, struct gp_diag *diag)
{
	uint64_t capacity = s->options->capacity;
	enum gp_status status = GP_OK;

	if (capacity != GP_UNLIMITED)
		status = check_capacity(capacity, diag);
	if (status == GP_OK)
		status = gp_trace_file_read(s->options->operands[0],
					    &s->progress, &s->trace, diag);
	if (status != GP_OK)
		return status;
	s->devices =
		gp_mem_alloc(s->trace->device_count + 1, sizeof(*s->devices));
	status = make_plan(s, diag);
	if (status == GP_OK)
		status = measure(s, diag);
	return status;
}

/* ---- of a CSV ---- */

/* Spans are not rounded and have no run, so some options do not apply. */
static enum gp_status check_csv(const struct gp_options *options,
				struct gp_diag *diag)
{
	struct gp_options others = *options;

	others.capacity = 0;
	if (options->round)
		return gp_diag_usage(
			diag, "floor",
			"--round has no effect on spans, whose sizes are as "
			"they are",
			"a column alignment says where each may begin");
	if (gp_plan_has_settings(&others))
		return gp_diag_usage(diag, "floor",
				     "settings have no effect on spans, which "
				     "have no run",
				     "give a trace, or leave them out");
	return GP_OK;
}

static enum gp_status do_csv(struct session *s, struct gp_diag *diag)
{
	uint64_t capacity = s->options->capacity;
	enum gp_status status = check_csv(s->options, diag);

	if (status != GP_OK)
		return status;
	s->devices = gp_mem_alloc(1, sizeof(*s->devices));
	status = gp_spans_read(s->options->operands[0], &s->devices->spans,
			       diag);
	if (status != GP_OK)
		return status;
	s->report.count = 1;
	s->report.capacity = capacity == GP_UNLIMITED ? 0 : capacity;
	find(s, s->devices, s->report.capacity);
	return GP_OK;
}

/* ---- the report ---- */

/* Whether to write the packing, according to the format or the file's name. */
static bool is_for_csv(const struct gp_options *options)
{
	size_t n = options->output ? strlen(options->output) : 0;

	return options->format == GP_FORMAT_CSV ||
	       (n > 4 && !strcmp(options->output + n - 4, ".csv"));
}

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	struct session *s = arg;

	s->report.devices = s->devices;
	if (s->options->format == GP_FORMAT_JSON)
		gp_report_floor_json(&s->report, out);
	else if (is_for_csv(s->options))
		gp_report_floor_csv(&s->report, out);
	else
		gp_report_floor_text(&s->report, style, out);
}

/* GP_FAILED if no packing was found for the capacity that was asked for. */
static enum gp_status judge(const struct session *s, struct gp_diag *diag)
{
	if (!s->report.capacity ||
	    s->devices->floor.height <= s->report.capacity)
		return GP_OK;
	return gp_diag_set(diag, GP_FAILED, "%s",
			   s->devices->floor.is_impossible
				   ? "no packing fits that capacity"
				   : "no packing was found that fits that "
				     "capacity");
}

static void release(struct session *s)
{
	for (size_t i = 0; i < s->report.count; i++) {
		gp_floor_release(&s->devices[i].floor);
		gp_spans_release(&s->devices[i].spans);
	}
	free(s->devices);
	gp_plan_release(&s->plan);
	gp_trace_destroy(s->trace);
}

static enum gp_status floor_command(const struct gp_options *options,
				    struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
		.report = { .path = options->operands[0],
			    .round = options->round ? options->round
						    : GP_FLOOR_ROUND },
	};
	enum gp_status status = gp_spans_is_csv(options->operands[0])
					? do_csv(&s, diag)
					: do_trace(&s, diag);

	gp_progress_end(&s.progress);
	if (status == GP_OK)
		status = gp_outlet_report(options, write_report, &s, diag);
	if (status == GP_OK)
		status = judge(&s, diag);
	release(&s);
	return status;
}

static const struct gp_option floor_options[] = {
	{ "capacity", 0, GP_OPTION_ROOM, GP_AT(capacity), "SIZE",
	  "Memory of the device, or for the spans: 80GiB, 512MiB, a number "
	  "of bytes, a device such as h100, or unlimited." },
	{ "round", 0, GP_OPTION_BYTES, GP_AT(round), "SIZE",
	  "Sizes are rounded up to a multiple of this; default: 512, as in "
	  "PyTorch." },
	{ "steps", 0, GP_OPTION_COUNT, GP_AT(steps), "N",
	  "The most steps of the search for a packing, in millions; default: "
	  "2147." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "text|json|markdown|csv",
	  "For people, for programs, for an issue (short: md), or the packing "
	  "as minimalloc's CSV, which -o FILE.csv selects, too." },
	{ 0 },
};

const struct gp_command gp_floor_command = {
	.name = "floor",
	.operands = "TRACE",
	.least = 1,
	.most = 1,
	.sentence =
		"Say how little memory would be enough, and show a packing.",
	.about = "Shows the most that is live at once, which no allocator can "
		 "do without; the best packing found of the same lifetimes, "
		 "all streams and pools in one range; and what the rest of the "
		 "reserved memory consists of.\n"
		 "TRACE may be minimalloc's CSV: id,lower,upper,size and more. "
		 "Then --capacity is the memory to fit into, and the exit "
		 "status is 1 if no packing that fits is found.",
	.options = "alloc-conf torch capacity round steps format output ascii "
		   "color max-input quiet",
	.own = floor_options,
	.takes_settings = true,
	.run = floor_command,
};
