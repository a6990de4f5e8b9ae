/* SPDX-License-Identifier: MIT */
/*
 * gpupool bench TRACE: what reading and replaying it take.
 *
 * Replays are what-ifs under the recorded settings, each engine in turn, so
 * that what else the machine does meets all of them.
 */
#include "commands/bench_trace.h"

#include <stdio.h>

#include "base/samples.h"
#include "commands/outlet.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "report/bench_report.h"
#include "gpupool/input.h"

#define RUNS 10

enum row { READ, CACHING, DIRECT, ROWS };

static const struct {
	const char *what, *engine;
} rows[ROWS] = {
	[READ] = { "read", NULL },
	[CACHING] = { "replay: caching", "caching" },
	[DIRECT] = { "replay: direct", "direct" },
};

struct session {
	const struct gp_options *options;
	const char *path;
	struct samples samples[ROWS]; /* ns an event */
	uint64_t events;
	struct gp_progress progress;
};

static void note(struct session *s, enum row row, double start)
{
	double ns = (gp_progress_now() - start) * 1e9;

	samples_add(&s->samples[row], s->events ? ns / (double)s->events : ns);
}

static enum gp_status read_trace(struct session *s, struct gp_trace **trace,
				 struct gp_diag *diag)
{
	struct gp_input_config config = { .path = s->path };
	double start = gp_progress_now();
	enum gp_status status = gp_input_read(&config, trace, diag);

	if (status != GP_OK)
		return status;
	s->events = 0;
	for (size_t i = 0; i < (*trace)->device_count; i++)
		s->events += (*trace)->devices[i].event_count;
	note(s, READ, start);
	return GP_OK;
}

static enum gp_status replay(struct session *s, const struct gp_trace *trace,
			     enum row row, struct gp_diag *diag)
{
	struct gp_options options = *s->options;
	struct gp_plan plan = { 0 };
	enum gp_status status;
	double start;

	options.engine = rows[row].engine;
	status = gp_plan_asked(&plan, trace, &options, diag);
	start = gp_progress_now();
	if (status == GP_OK)
		status = gp_plan_play(&plan, NULL, NULL, diag);
	if (status == GP_OK)
		note(s, row, start);
	gp_plan_release(&plan);
	return status;
}

static enum gp_status run(struct session *s, struct gp_diag *diag)
{
	uint64_t repeat = s->options->repeat;
	uint64_t runs = repeat ? repeat : RUNS;
	enum gp_status status = GP_OK;

	gp_progress_restart(&s->progress);
	for (uint64_t i = 0; status == GP_OK && i < runs; i++) {
		struct gp_trace *trace = NULL;

		status = read_trace(s, &trace, diag);
		for (enum row row = CACHING; status == GP_OK && row < ROWS;
		     row++)
			status = replay(s, trace, row, diag);
		gp_trace_destroy(trace);
		gp_progress_count(&s->progress, i + 1, runs);
	}
	gp_progress_end(&s->progress);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	return status;
}

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	struct session *s = arg;
	struct gp_speed speeds[ROWS];
	struct gp_speed_report report = { s->path, s->events, speeds, ROWS };

	for (size_t i = 0; i < ROWS; i++) {
		struct samples *samples = &s->samples[i];

		samples_sort(samples);
		speeds[i] = (struct gp_speed){ rows[i].what,
					       (uint32_t)samples->count,
					       samples_at(samples, 0.1),
					       samples_at(samples, 0.5),
					       samples_at(samples, 0.9) };
	}
	if (s->options->format == GP_FORMAT_JSON)
		gp_report_speed_json(&report, out);
	else
		gp_report_speed_text(&report, style, out);
}

enum gp_status gp_bench_trace(const struct gp_options *options,
			      struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.path = options->operands[0],
		.progress = gp_progress_make(options),
	};
	enum gp_status status = run(&s, diag);

	if (status == GP_OK)
		status = gp_outlet_report(options, write_report, &s, diag);
	for (size_t i = 0; i < ROWS; i++)
		samples_release(&s.samples[i]);
	return status;
}
