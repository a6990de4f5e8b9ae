/* SPDX-License-Identifier: MIT */
/*
 * gpupool bench: measures the calls of a device, or reading and replaying a
 * trace.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/samples.h"
#include "commands/command.h"
#include "commands/installed.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"
#include "report/report.h"

/* ---- gpupool itself, for a trace ---- */

#define RUNS 10

enum row { READ, CACHING, DIRECT, ROWS };

static const struct {
	const char *what, *engine;
} rows[ROWS] = {
	[READ] = { "read", NULL },
	[CACHING] = { "replay: caching", "caching" },
	[DIRECT] = { "replay: direct", "direct" },
};

struct timing {
	const struct gp_options *options;
	const char *path;
	struct samples samples[ROWS]; /* ns an event */
	uint64_t events;
	struct gp_progress progress;
};

static void note_time(struct timing *s, enum row row, double start)
{
	double ns = (gp_progress_now() - start) * 1e9;

	samples_add(&s->samples[row], s->events ? ns / (double)s->events : ns);
}

static enum gp_status read_trace(struct timing *s, struct gp_trace **trace,
				 struct gp_diag *diag)
{
	struct gp_input_config config = { .path = s->path };
	double start = gp_progress_now();
	enum gp_status status = gp_trace_file_input(&config, trace, diag);

	if (status != GP_OK)
		return status;
	s->events = 0;
	for (size_t i = 0; i < (*trace)->device_count; i++)
		s->events += (*trace)->devices[i].event_count;
	note_time(s, READ, start);
	return GP_OK;
}

static enum gp_status replay(struct timing *s, const struct gp_trace *trace,
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
		note_time(s, row, start);
	gp_plan_release(&plan);
	return status;
}

static enum gp_status time_trace(struct timing *s, struct gp_diag *diag)
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
	struct timing *s = arg;
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

static enum gp_status bench_trace(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct timing s = {
		.options = options,
		.path = options->operands[0],
		.progress = gp_progress_make(options),
	};
	enum gp_status status = time_trace(&s, diag);

	if (status == GP_OK)
		status = gp_outlet_report(options, write_report, &s, diag);
	for (size_t i = 0; i < ROWS; i++)
		samples_release(&s.samples[i]);
	return status;
}

/* ---- the calls of a device ---- */

#define REPEATS 200
#define ROW_S	2.0 /* seconds: all of it ends within a minute or two */

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct gp_cuda *cuda;
	struct gp_bench bench;
	struct gp_output report, prices;
	struct gp_progress progress;
	char date[16];
};

static enum gp_status check(const struct gp_options *options,
			    struct gp_diag *diag)
{
	bool has_trace = options->operand_count, on_cuda = options->device;

	if (has_trace && !strcmp(options->operands[0], "-"))
		return gp_diag_set(diag, GP_USAGE,
				   "the trace is read more than once, so it "
				   "cannot come from standard input");
	if (has_trace && !on_cuda && (options->prices_out || options->about))
		return gp_diag_set(diag, GP_USAGE,
				   "%s is about a GPU, and a trace has none",
				   options->about ? "--about" : "--prices-out");
	if (has_trace != on_cuda)
		return GP_OK;
	gp_diag_hint(diag, "use --device cuda to measure a GPU's calls, or "
			   "give a TRACE to measure its replay");
	return gp_diag_set(diag, GP_USAGE,
			   has_trace ? "a GPU is measured without a trace"
				     : "there is nothing to measure");
}

static void notify(void *arg, const char *call, uint64_t size)
{
	char what[80];

	snprintf(what, sizeof(what), "measuring %s of %s", call,
		 GP_BYTES(size));
	gp_progress_step(arg, what);
}

static enum gp_status measure(struct session *s, struct gp_diag *diag)
{
	uint64_t repeat = s->options->repeat;
	struct gp_bench_config config = {
		.cuda = s->cuda,
		.repeats = repeat ? (uint32_t)repeat : REPEATS,
		.row_s = ROW_S,
		.progress = notify,
		.progress_arg = &s->progress,
	};
	time_t now = time(NULL);
	struct tm day;

	gmtime_r(&now, &day);
	strftime(s->date, sizeof(s->date), "%Y-%m-%d", &day);
	return s->options->about ? GP_OK
				 : gp_bench_run(&config, &s->bench, diag);
}

/* Opened before measuring, so that a file that cannot be written is reported
 * first. */
static enum gp_status open_outputs(struct session *s, struct gp_diag *diag)
{
	enum gp_status status =
		gp_outlet_open_report(&s->report, s->options, diag);

	if (status == GP_OK && s->options->prices_out)
		status = gp_outlet_open(&s->prices, s->options->prices_out,
					diag);
	return status;
}

static struct gp_bench_report measured(const struct session *s)
{
	return (struct gp_bench_report){
		.about = gp_cuda_about(s->cuda),
		.bench = &s->bench,
		.date = s->date,
	};
}

static void write_calls(void *arg, const struct gp_report_style *style,
			FILE *out)
{
	const struct session *s = arg;
	struct gp_bench_report report = measured(s);

	if (s->options->format == GP_FORMAT_JSON)
		gp_report_bench_json(&report, out);
	else
		gp_report_bench_text(&report, style, out);
}

static void report(struct session *s)
{
	struct gp_bench_report report = measured(s);

	gp_outlet_write(s->options, write_calls, s, s->report.stream);
	if (s->prices.stream)
		gp_report_bench_prices(&report, s->prices.stream);
}

static enum gp_status bench_device(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = gp_cuda_runtime_open(options, &s.cuda, diag);
	enum gp_status measured;

	if (status == GP_OK)
		status = open_outputs(&s, diag);
	if (status == GP_OK)
		status = measure(&s, diag);
	gp_progress_end(&s.progress);
	measured = status;
	/* Report what was measured before a call failed. */
	if (s.bench.count || (options->about && status == GP_OK)) {
		report(&s);
		status = GP_OK;
	}
	status = gp_outlet_close(&s.prices, status, diag);
	status = gp_outlet_close(&s.report, status, diag);
	gp_bench_release(&s.bench);
	gp_cuda_close(s.cuda);
	return measured == GP_OK ? status : measured;
}

static enum gp_status bench_command(const struct gp_options *options,
				    struct gp_diag *diag)
{
	enum gp_status status = check(options, diag);

	if (status != GP_OK)
		return status;
	return options->operand_count ? bench_trace(options, diag)
				      : bench_device(options, diag);
}

static const struct gp_option bench_options[] = {
	{ "device", 0, GP_OPTION_WORD, GP_AT(device), "sim|cuda",
	  "The device to measure: cuda, the first GPU." },
	{ "about", 0, GP_OPTION_FLAG, GP_AT(about), NULL,
	  "With --device cuda: show the GPU, its driver, its runtime and its "
	  "memory, and measure nothing." },
	{ "prices-out", 0, GP_OPTION_TEXT, GP_AT(prices_out), "FILE",
	  "Write the measured times as a list of prices, for gpupool sweep." },
	{ "repeat", 0, GP_OPTION_COUNT, GP_AT(repeat), "N",
	  "How often each call is made (default: 200); with a trace, how often "
	  "it is read and replayed (default: 10)." },
	{ 0 },
};

const struct gp_command gp_bench_command = {
	.name = "bench",
	.operands = "[TRACE]",
	.most = 1,
	.sentence = "Measure a GPU's memory calls, or gpupool itself.",
	.about = "Times each call that an allocator makes, by size, on a GPU "
		 "that should be idle otherwise, and writes the times as a "
		 "list of prices. Takes at most a quarter of the free memory "
		 "and releases all of it.\n"
		 "Needs the CUDA runtime, which PyTorch includes, and NVIDIA's "
		 "driver, but no toolkit.\n"
		 "With a TRACE it times gpupool instead: reading it, and "
		 "replaying it on a simulated device.",
	.options = "device cudart about prices-out repeat format output ascii "
		   "color quiet",
	.own = bench_options,
	.run = bench_command,
};
