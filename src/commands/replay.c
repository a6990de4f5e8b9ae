/* SPDX-License-Identifier: MIT */
/* gpupool replay: replays a trace, and writes a report. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "report/page.h"
#include "commands/command.h"
#include "commands/installed.h"
#include "commands/output.h"
#include "commands/live_page.h"
#include "commands/options.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "commands/studying.h"
#include "commands/trace_file.h"
#include "gpupool/metrics.h"
#include "report/report.h"

/* ---- what is kept during the replay: --alert, --timeline and --map ---- */

struct keep {
	struct gp_alert *alerts; /* owned */
	size_t alert_count;
	struct gp_map_choice map;
	bool has_map;
	unsigned parts; /* enum gp_track_part */
};

static enum gp_status parse_map(const char *text, struct gp_map_choice *map,
				struct gp_diag *diag)
{
	static const struct {
		const char *word;
		enum gp_map_when when;
	} words[] = {
		{ "peak", GP_MAP_PEAK },
		{ "oom", GP_MAP_OOM },
		{ "end", GP_MAP_END },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(text, words[i].word)) {
			map->when = words[i].when;
			return GP_OK;
		}
	map->when = GP_MAP_EVENT;
	if (gp_count_parse(text, &map->event))
		return GP_OK;
	return gp_diag_set(diag, GP_USAGE,
			   "--map %s: it takes peak, oom, end or the number of "
			   "an event",
			   text);
}

/* GP_USAGE if an option is not understood; to be released in any case. */
static enum gp_status keep_make(struct keep *keep,
				const struct gp_options *options,
				struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	*keep = (struct keep){ .map.when = GP_MAP_PEAK,
			       .has_map = options->map != NULL,
			       .alert_count = options->alerts.count };
	keep->alerts =
		gp_mem_alloc(keep->alert_count + 1, sizeof(*keep->alerts));
	for (size_t i = 0; i < keep->alert_count && status == GP_OK; i++)
		status = gp_alert_parse(options->alerts.items[i],
					&keep->alerts[i], diag);
	if (status == GP_OK && options->map)
		status = parse_map(options->map, &keep->map, diag);
	if (status != GP_OK)
		gp_diag_file(diag, "replay");
	if (options->timeline)
		keep->parts |= GP_TRACK_THIN;
	if (options->map)
		keep->parts |= GP_TRACK_FILM;
	if (options->format == GP_FORMAT_HTML ||
	    options->format == GP_FORMAT_SVG)
		keep->parts |= GP_TRACK_THIN | GP_TRACK_FILM;
	return status;
}

static void keep_release(struct keep *keep)
{
	free(keep->alerts);
}

/* To be called before the plan is played; is_last: alerts apply to it. */
static void keep_track(const struct keep *keep, struct gp_plan *plan,
		       bool is_last)
{
	size_t alerts = is_last ? keep->alert_count : 0;

	if (keep->parts || alerts)
		gp_plan_track(plan, keep->parts, keep->alerts, alerts);
}

static bool is_json(const char *name)
{
	size_t length = strlen(name);

	return length >= 5 && !strcmp(name + length - 5, ".json");
}

/* Writes --timeline's file. */
static enum gp_status keep_timeline(const struct gp_options *options,
				    const struct gp_report *report,
				    struct gp_diag *diag)
{
	struct gp_output output = { 0 };
	enum gp_status status;

	if (!options->timeline)
		return GP_OK;
	status = gp_outlet_open(&output, options->timeline, diag);
	if (status == GP_OK && is_json(options->timeline))
		gp_report_timeline_json(report, output.stream);
	else if (status == GP_OK)
		gp_report_timeline_csv(report, output.stream);
	return gp_outlet_close(&output, status, diag);
}

static enum gp_status say_alert(const struct gp_plan *plan, size_t device,
				const struct gp_alert *alert,
				struct gp_diag *diag)
{
	char text[GP_ALERT_TEXT];

	if (plan->trace->device_count > 1)
		gp_diag_record(diag, "device %u",
			       plan->trace->devices[device].device);
	return gp_diag_set(diag, GP_FAILED, "%s", gp_alert_text(alert, text));
}

/* GP_FAILED with the first alert that fired, and the number of others that
 * did. */
static enum gp_status keep_verdict(const struct gp_plan *plan,
				   struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	uint64_t others = 0;

	for (size_t d = 0; plan->tracks && d < plan->trace->device_count; d++) {
		const struct gp_track *track = &plan->tracks[d];

		for (size_t i = 0; i < track->alert_count; i++) {
			if (!track->alerts[i].has_fired)
				continue;
			others += status != GP_OK;
			if (status == GP_OK)
				status = say_alert(plan, d, &track->alerts[i],
						   diag);
		}
	}
	if (others)
		gp_diag_hint(diag, "%s fired, too",
			     GP_PLURAL(others, "other alert"));
	return status;
}

/* ---- the command, step by step ---- */

#define EVENTS_BUFFER (1 << 20) /* bytes; lines are short and many */

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct gp_ranks ranks;
	struct gp_rank_runs rank_runs; /* if there are several classes */
	/* The first failure of a rank, and its diag. */
	enum gp_status rank_status;
	struct gp_diag rank_diag;
	const char *path; /* of the worst rank */
	const struct gp_trace *trace;
	/* base: what `asked` is compared with, as recorded or without
	 * what-ifs. */
	struct gp_plan base, asked;
	bool has_base, has_asked;
	struct gp_what_ifs what_ifs;
	struct gp_estimate *estimates; /* of asked, by device; NULL: none */
	struct gp_cuda *cuda;
	struct gp_output events;
	struct keep keep;
	struct gp_timing timing;
	struct gp_progress progress;
	struct gp_live_parts live;	    /* for pages, like what follows */
	struct gp_explaining explaining[2]; /* of each run */
	struct gp_explanation explanations[2];
	size_t explained;
};

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

/* Refuses flags that cannot be combined. */
static enum gp_status check(const struct gp_options *options,
			    struct gp_diag *diag)
{
	bool asked = gp_plan_is_asked(options);
	int to_stdout;

	if (options->compare && !asked)
		return gp_diag_usage(
			diag, "replay",
			"--compare needs settings to compare with",
			"for example: --max-split-mb 128 --compare");
	if (options->strict && asked && !options->compare)
		return gp_diag_usage(
			diag, "replay",
			"--strict needs a replay as recorded, and these "
			"settings make it a what-if",
			"leave out the settings, or add --compare");
	if (options->map && options->format != GP_FORMAT_TEXT &&
	    options->format != GP_FORMAT_SVG)
		return gp_diag_usage(diag, "replay",
				     "--map is drawn in text or as SVG",
				     "leave out --format");
	if ((options->pool_threshold || options->pool_reuse ||
	     options->pool_keep) &&
	    (!options->engine || strcmp(options->engine, "async") != 0))
		return gp_diag_usage(
			diag, "replay",
			"--pool-threshold, --pool-reuse and --pool-keep are "
			"for the pool of cudaMallocAsync",
			"add --engine async");
	to_stdout = is_stdout(options->events) + is_stdout(options->timeline) +
		    is_stdout(options->output);
	if (to_stdout > 1)
		return gp_diag_usage(
			diag, "replay",
			"of report, events and timeline only one can go to "
			"standard output",
			"give the others a file");
	return gp_options_check_device(options, diag);
}

static enum gp_status read_traces(struct session *s, struct gp_diag *diag)
{
	double start = gp_progress_now();
	enum gp_status status =
		gp_rank_files(s->options->operands, s->options->operand_count,
			      &s->progress, &s->ranks, diag);

	s->timing.read_s = gp_progress_now() - start;
	return status;
}

static void take_class(struct session *s, size_t index)
{
	const struct gp_rank_class *class = &s->ranks.classes[index];

	s->path = class->paths[0];
	s->trace = class->trace;
	s->timing.events = 0;
	for (size_t i = 0; i < s->trace->device_count; i++)
		s->timing.events += s->trace->devices[i].event_count;
}

static enum gp_status make_plans(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	bool has_what_ifs = s->options->what_if_count;

	s->has_asked = gp_plan_is_asked(s->options);
	s->has_base = !s->has_asked || s->options->compare || has_what_ifs;
	if (has_what_ifs && !s->options->compare) {
		status = gp_plan_asked(&s->base, s->trace, s->options, diag);
	} else if (s->has_base) {
		status = gp_plan_recorded(&s->base, s->trace, diag);
		s->base.on_oom = (enum gp_on_oom)s->options->on_oom;
	}
	if (status == GP_OK && s->has_asked)
		status = gp_plan_asked(&s->asked, s->trace, s->options, diag);
	if (status == GP_OK && s->options->capacity)
		status =
			gp_replay_decides(s->trace, s->options->capacity, diag);
	if (status == GP_OK && s->cuda) {
		if (has_what_ifs && !s->options->compare)
			gp_plan_on_cuda(&s->base, s->cuda, s->options);
		gp_plan_on_cuda(&s->asked, s->cuda, s->options);
		s->asked.is_interrupted = gp_interrupt_came;
		gp_interrupt_catch();
	}
	if (status == GP_OK && s->has_asked)
		status = gp_plan_alter(&s->asked, s->options, &s->progress,
				       &s->what_ifs, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	return status;
}

/* ---- the ranks, each by itself ---- */

/* Checks a rank's alerts and fidelity; the first failure is kept. */
static void hold_rank(struct session *s, const struct session *one)
{
	const struct gp_plan *last = one->has_asked ? &one->asked : &one->base;
	struct gp_diag diag = { 0 };
	enum gp_status status = keep_verdict(last, &diag);

	if (status == GP_OK && s->options->strict)
		status = gp_plan_verdict(&one->base, &diag);
	if (status == GP_OK || s->rank_status != GP_OK)
		return;
	gp_diag_file(&diag, one->path);
	s->rank_status = status;
	s->rank_diag = diag;
}

static void play_rank(struct session *s, size_t index)
{
	struct session one = {
		.options = s->options,
		.cuda = s->cuda,
		.progress = s->progress,
		.path = s->ranks.classes[index].paths[0],
		.trace = s->ranks.classes[index].trace,
	};
	struct gp_plan *last;
	struct gp_diag why = { 0 };
	enum gp_status status = make_plans(&one, &why);

	last = one.has_asked ? &one.asked : &one.base;
	if (status == GP_OK)
		gp_plan_track(last, 0, s->keep.alerts, s->keep.alert_count);
	if (status == GP_OK)
		status = gp_plan_play(last, NULL, &one.progress, &why);
	if (status == GP_OK && one.has_base && last != &one.base)
		status = gp_plan_play(&one.base, NULL, &one.progress, &why);
	if (status == GP_OK) {
		gp_rank_runs_note(&s->rank_runs, &s->ranks, index, last);
		hold_rank(s, &one);
	} else {
		gp_rank_runs_trouble(&s->rank_runs, index, &why);
	}
	s->progress = one.progress;
	gp_plan_release(&one.asked);
	gp_plan_release(&one.base);
	gp_what_ifs_release(&one.what_ifs);
}

/* The report is about the worst rank. */
static void choose_rank(struct session *s)
{
	if (s->ranks.count > 1) {
		gp_rank_runs_init(&s->rank_runs, &s->ranks);
		for (size_t i = 0; i < s->ranks.count; i++)
			play_rank(s, i);
		take_class(s, gp_rank_runs_worst(&s->rank_runs));
	} else {
		take_class(s, 0);
	}
}

static enum gp_status open_events(struct session *s, struct gp_diag *diag)
{
	enum gp_status status;

	if (!s->options->events)
		return GP_OK;
	status = gp_outlet_open(&s->events, s->options->events, diag);
	if (status == GP_OK)
		setvbuf(s->events.stream, NULL, _IOFBF, EVENTS_BUFFER);
	return status;
}

/* Replays; the events are those of the run that was asked for. */
static enum gp_status play(struct session *s, struct gp_diag *diag)
{
	struct gp_plan *last = s->has_asked ? &s->asked : &s->base;
	enum gp_status status = GP_OK;
	double start;

	if (s->has_base)
		keep_track(&s->keep, &s->base, last == &s->base);
	if (s->has_asked)
		keep_track(&s->keep, &s->asked, true);
	if (s->has_base && last != &s->base)
		status = gp_plan_play(&s->base, NULL, &s->progress, diag);
	start = gp_progress_now();
	if (status == GP_OK)
		status = gp_plan_play(last, s->events.stream, &s->progress,
				      diag);
	s->timing.replay_s = gp_progress_now() - start;
	if (status == GP_OK && gp_interrupt_came())
		status = gp_diag_set(
			diag, GP_SYSTEM,
			"interrupted; the device's memory was released");
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	return status;
}

static void write_as(const struct gp_report *report, uint32_t format,
		     const struct keep *keep,
		     const struct gp_report_style *style, FILE *out)
{
	switch (format) {
	case GP_FORMAT_JSON: gp_report_json(report, out); break;
	case GP_FORMAT_SUMMARY:
		gp_report_memory_summary(report, false, out);
		break;
	case GP_FORMAT_SUMMARY_ABBREVIATED:
		gp_report_memory_summary(report, true, out);
		break;
	case GP_FORMAT_HTML: gp_report_html(report, out); break;
	case GP_FORMAT_SVG: gp_report_svg(report, &keep->map, out); break;
	default: gp_report_text(report, style, out);
	}
}

static struct gp_report report_of(const struct session *s,
				  struct gp_run runs[2])
{
	struct gp_report report = {
		.path = s->path,
		.trace = s->trace,
		.runs = runs,
		.timing = s->options->timing ? &s->timing : NULL,
		.explanations = s->explained ? s->explanations : NULL,
		.ranks = s->ranks.files + s->ranks.unread_count > 1 ? &s->ranks
								    : NULL,
		.rank_runs = s->ranks.count > 1 ? &s->rank_runs : NULL,
		.live = &s->live.page,
	};

	if (s->has_base)
		runs[report.run_count++] = gp_plan_run(&s->base);
	if (s->has_asked) {
		runs[report.run_count] = gp_plan_run(&s->asked);
		runs[report.run_count++].estimates = s->estimates;
	}
	return report;
}

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;
	struct gp_run runs[2];
	struct gp_report report = report_of(s, runs);

	write_as(&report, s->options->format, &s->keep, style, out);
	if (s->keep.has_map && s->options->format == GP_FORMAT_TEXT)
		gp_report_map(&report, &s->keep.map, style, out);
}

static enum gp_status write_timeline(struct session *s, struct gp_diag *diag)
{
	struct gp_run runs[2];
	struct gp_report report = report_of(s, runs);

	return keep_timeline(s->options, &report, diag);
}

static enum gp_status explain(struct session *s, const struct gp_plan *plan,
			      struct gp_diag *diag)
{
	size_t i = s->explained++;
	enum gp_status status = gp_explaining_make(
		&s->explaining[i], plan, plan == &s->asked ? s->options : NULL,
		&s->progress, diag);

	s->explanations[i] = gp_explaining_of(&s->explaining[i], plan,
					      s->options, plan == &s->asked);
	s->explanations[i].path = s->path;
	return status;
}

/* The further parts of a page: explanations, and what replays in it. */
static enum gp_status explain_runs(struct session *s, struct gp_diag *diag)
{
	enum gp_status status;

	if (s->options->format != GP_FORMAT_HTML)
		return GP_OK;
	status = gp_live_parts_make(&s->live, s->options, &s->ranks,
				    s->has_asked ? &s->asked : NULL, diag);
	if (status == GP_OK && s->has_base)
		status = explain(s, &s->base, diag);
	if (status == GP_OK && s->has_asked)
		status = explain(s, &s->asked, diag);
	return status;
}

/* Events or a timeline on standard output replace the report. */
static enum gp_status report(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *options = s->options;

	if (!options->output &&
	    (is_stdout(options->events) || is_stdout(options->timeline)))
		return GP_OK;
	return gp_outlet_report(s->options, write_report, s, diag);
}

static enum gp_status check_map(const struct session *s, struct gp_diag *diag)
{
	const struct gp_trace *trace = s->has_asked ? s->asked.trace : s->trace;
	uint64_t event = s->keep.map.event;

	gp_diag_file(diag, s->path);
	return gp_check_event(event, gp_trace_moments(trace), "map", event,
			      diag);
}

static enum gp_status run(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = read_traces(s, diag);

	if (status == GP_OK) {
		choose_rank(s);
		status = make_plans(s, diag);
	}
	if (status == GP_OK && s->keep.map.when == GP_MAP_EVENT)
		status = check_map(s, diag);
	/* Before the runs, whose films would take memory in the meantime. */
	if (status == GP_OK)
		status = explain_runs(s, diag);
	if (status == GP_OK)
		status = open_events(s, diag);
	if (status == GP_OK)
		status = play(s, diag);
	if (status == GP_OK && s->has_asked)
		status = gp_estimating_make(&s->asked, s->trace, &s->estimates,
					    diag);
	gp_progress_end(&s->progress);
	if (status == GP_OK)
		status = report(s, diag);
	status = gp_outlet_close(&s->events, status, diag);
	if (status == GP_OK)
		status = write_timeline(s, diag);
	if (status == GP_OK) {
		status =
			keep_verdict(s->has_asked ? &s->asked : &s->base, diag);
		gp_diag_file(diag, s->path);
	}
	if (status == GP_OK)
		status = gp_plan_memory(&s->asked, diag);
	if (status == GP_OK && s->options->strict) {
		status = gp_plan_verdict(&s->base, diag);
		gp_diag_file(diag, s->path);
	}
	if (status == GP_OK && s->rank_status != GP_OK) {
		*diag = s->rank_diag;
		status = s->rank_status;
	}
	if (status == GP_OK)
		status = gp_rank_files_verdict(&s->ranks, diag);
	return status;
}

static enum gp_status replay_command(const struct gp_options *options,
				     struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = check(options, diag);

	if (status == GP_OK)
		status = keep_make(&s.keep, options, diag);
	if (status == GP_OK && options->device == GP_DEVICE_CUDA)
		status = gp_cuda_runtime_open(options, &s.cuda, diag);
	if (status == GP_OK)
		status = run(&s, diag);
	while (s.explained)
		gp_explaining_release(&s.explaining[--s.explained]);
	gp_live_parts_release(&s.live);
	keep_release(&s.keep);
	free(s.estimates);
	gp_plan_release(&s.asked);
	gp_plan_release(&s.base);
	gp_what_ifs_release(&s.what_ifs);
	gp_cuda_close(s.cuda);
	gp_rank_runs_release(&s.rank_runs);
	gp_ranks_release(&s.ranks);
	return status;
}

static const struct gp_option replay_options[] = {
	{ "engine", 0, GP_OPTION_TEXT, GP_AT(engine), "NAME",
	  "The allocator; default: caching, which makes PyTorch's decisions. "
	  "gpupool help engines lists the others." },
	{ "pool-threshold", 0, GP_OPTION_TEXT, GP_AT(pool_threshold), "SIZE",
	  "Engine async: how much the pool keeps when the program "
	  "synchronizes; default: unlimited, as PyTorch sets it. CUDA's "
	  "default is 0." },
	{ "pool-reuse", 0, GP_OPTION_TEXT, GP_AT(pool_reuse),
	  "events,opportunistic,internal",
	  "Engine async: when memory freed on one stream may serve another; "
	  "default: all three. none: never." },
	{ "pool-keep", 0, GP_OPTION_TEXT, GP_AT(pool_keep), "SIZE",
	  "Engine async: how much empty_cache leaves in the pool; default: "
	  "0." },
	{ "device", 0, GP_OPTION_WORD, GP_AT(device), "sim|cuda",
	  "The device: a simulated one, or the first GPU, whose memory is "
	  "allocated and whose calls are timed." },
	{ "strict", 0, GP_OPTION_FLAG, GP_AT(strict), NULL,
	  "Exit 1 unless every recorded address is matched." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "text|json|markdown|memory-summary|memory-summary-abbreviated|html|"
	  "svg",
	  "For people, for programs, for an issue (short: md), as "
	  "torch.cuda.memory_summary() prints it, as a page for a browser, or "
	  "as a drawing." },
	{ "events", 0, GP_OPTION_TEXT, GP_AT(events), "FILE",
	  "Write each action of the allocator, one JSON object per line; with "
	  "- and without -o, in place of the report." },
	{ "map", 0, GP_OPTION_TEXT, GP_AT(map), "peak|oom|end|EVENT",
	  "Draw the segments and blocks in memory at that moment." },
	{ "timeline", 0, GP_OPTION_TEXT, GP_AT(timeline), "FILE",
	  "Write the measures over time, thinned so that every peak is kept, "
	  "as CSV, or as JSON if the name ends in .json. See gpupool help "
	  "metrics." },
	{ "alert", 0, GP_OPTION_LIST, GP_AT(alerts), "CONDITION",
	  "Exit 1 if this was ever true, and say when: \"fragmentation>0.3 for "
	  "100 events\"; may be given more than once." },
	{ "timing", 0, GP_OPTION_FLAG, GP_AT(timing), NULL,
	  "Say how long reading and replaying took." },
	{ 0 },
};

const struct gp_command gp_replay_command = {
	.name = "replay",
	.operands = "TRACE...",
	.least = 1,
	.most = 100000,
	.sentence = "Replay a trace and report what happened.",
	.about = "Without settings, the trace is replayed under the settings "
		 "and the release it was recorded with, and every address is "
		 "compared with the recorded one.\n"
		 "With settings, a release, a capacity or an engine it is a "
		 "what-if on a simulated device. A setting's own flag is added "
		 "to the recorded settings; --alloc-conf replaces "
		 "them.\n" GP_ABOUT_RANKS,
	.options = "alloc-conf torch capacity engine pool-threshold "
		   "pool-reuse pool-keep torch-lib device check-memory cudart "
		   "on-oom compare strict format output events map timeline "
		   "alert timing ascii color max-input quiet",
	.own = replay_options,
	.takes_settings = true,
	.takes_what_ifs = true,
	.run = replay_command,
};
