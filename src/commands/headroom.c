/* SPDX-License-Identifier: MIT */
/* gpupool headroom: how small the device may be. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "commands/studying.h"
#include "commands/sweep_grid.h"
#include "study/sweep/thread_pool.h"
#include "study/headroom.h"
#include "report/report.h"

#define POINTS 12
#define TRIES  4000 /* all capacities of most traces, in seconds */

/* The state of one run of the command: the plan of each run, and its result on
 * each device. */
struct session {
	const struct gp_options *options;
	struct gp_ranking ranking; /* under the most common settings */
	const char *path;	   /* of the rank that needs most */
	const struct gp_trace *trace;
	struct gp_grid grid; /* of --set */
	struct gp_plan *plans;
	struct gp_plan *judged; /* by class: the first plan, at the capacity
				 * asked for */
	struct gp_studying studying;
	struct gp_headroom_run *runs;
	struct gp_headroom **results;
	struct gp_estimate **estimates; /* likewise */
	uint8_t release;		/* of the recording */
	size_t run_count, run_room;
	struct gp_headroom_refusal *refused;
	size_t refused_count, refused_room;
	struct gp_progress progress;
	size_t pieces, done;
	bool is_alone; /* one piece, on the caller's thread */
	atomic_bool has_failed;
	enum gp_status status; /* of the first that failed */
	struct gp_diag diag;
};

static enum gp_status plan_without_limit(void *arg, struct gp_plan *plan,
					 const struct gp_trace *trace,
					 const struct gp_options *asked,
					 struct gp_diag *diag)
{
	struct gp_options options = *asked;

	(void)arg;
	options.capacity = GP_UNLIMITED;
	return gp_plan_asked(plan, trace, &options, diag);
}

static void take_class(struct session *s, size_t index)
{
	const struct gp_rank_class *class = &s->ranking.ranks.classes[index];

	s->path = class->paths[0];
	s->trace = class->trace;
}

/* The first class has the most common release and settings. */
static enum gp_status read_traces(struct session *s, struct gp_diag *diag)
{
	const struct gp_ranking_config config = {
		.options = s->options,
		.needs_requests = true,
		.make = plan_without_limit,
		.progress = &s->progress,
	};
	enum gp_status status = gp_ranking_make(&s->ranking, &config, diag);

	if (status == GP_OK)
		take_class(s, 0);
	return status;
}

/* ---- what is asked ---- */

static struct gp_plan *new_plan(struct session *s)
{
	GP_GROW(s->plans, s->run_count + 1, s->run_room);
	s->plans[s->run_count] = (struct gp_plan){ 0 };
	return &s->plans[s->run_count++];
}

/* conf NULL: the recorded settings, to which the flags add; torch NULL: the
 * release that the flags give. */
static enum gp_status add_plan(struct session *s, const char *conf,
			       const char *knobs, const char *torch,
			       struct gp_diag *diag)
{
	struct gp_options options = *s->options;
	enum gp_status status;

	options.alloc_conf = conf;
	options.knobs = (char *)(knobs ? knobs : "");
	options.capacity = GP_UNLIMITED;
	if (torch)
		options.torch = torch;
	status = gp_plan_asked(new_plan(s), s->trace, &options, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	return status;
}

static void add_refused(struct session *s, const struct gp_combination *c)
{
	GP_GROW(s->refused, s->refused_count + 1, s->refused_room);
	s->refused[s->refused_count++] = (struct gp_headroom_refusal){
		.conf = c->conf,
		.reason = c->reason,
		.release = c->settings.release,
	};
}

static enum gp_status make_grid(struct session *s, uint8_t *release,
				struct gp_diag *diag)
{
	struct gp_options options = *s->options;
	struct gp_plan base = { 0 };
	enum gp_status status;

	options.capacity = GP_UNLIMITED;
	status = gp_plan_asked(&base, s->trace, &options, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	*release = base.settings.release;
	if (status == GP_OK)
		status = gp_headroom_grid(&options, base.conf, *release,
					  &s->grid, diag);
	gp_plan_release(&base);
	return status;
}

/* Adds each combination of --set; impossible ones are reported as refused. */
static enum gp_status add_grid(struct session *s, struct gp_diag *diag)
{
	uint8_t release;
	enum gp_status status = make_grid(s, &release, diag);

	for (size_t i = 0; i < s->grid.count && status == GP_OK; i++) {
		const struct gp_combination *c = &s->grid.items[i];
		bool is_other = c->settings.release != release;
		char torch[16];

		snprintf(torch, sizeof(torch), "2.%u", c->settings.release);
		if (c->reason)
			add_refused(s, c);
		else
			status = add_plan(s, c->conf, NULL,
					  is_other ? torch : NULL, diag);
	}
	if (status == GP_OK && !s->run_count) {
		gp_diag_file(diag, "headroom");
		status = gp_diag_set(diag, GP_USAGE,
				     "PyTorch refuses each of them: %s",
				     s->refused[0].reason);
	}
	return status;
}

static enum gp_status make_plans(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *options = s->options;
	const struct gp_texts *confs = &options->confs;
	enum gp_status status = GP_OK;

	if (options->compare)
		status = add_plan(s, NULL, NULL, NULL, diag);
	if (options->sets.count)
		return status == GP_OK ? add_grid(s, diag) : status;
	for (size_t i = 0; i < confs->count && status == GP_OK; i++)
		status = add_plan(s, confs->items[i], options->knobs, NULL,
				  diag);
	if (!confs->count && status == GP_OK)
		status = add_plan(s, NULL, options->knobs, NULL, diag);
	return status;
}

/* ---- searching ---- */

static void notify_replay(void *arg, uint32_t replays)
{
	char what[64];

	snprintf(what, sizeof(what), "searching: replay %u", replays + 1);
	gp_progress_step(arg, what);
}

static void notify_piece(void *arg, size_t piece)
{
	struct session *s = arg;

	(void)piece;
	gp_progress_count(&s->progress, ++s->done, s->pieces);
}

static uint32_t count_or(uint64_t asked, uint32_t by_default)
{
	return asked == GP_COUNT_BY_DEFAULT ? by_default : (uint32_t)asked;
}

static size_t first_case_of(const struct session *s)
{
	const struct gp_rank_class *class = s->ranking.ranks.classes;

	while (class->trace != s->trace)
		class ++;
	return class->first_case;
}

/* The judge's replays of that device, which are under the first plan's
 * settings. Other plans have their own, as they may run at the same time. */
static struct runs *judged_runs(const struct session *s, size_t run,
				uint32_t device)
{
	size_t count;

	return run || s->plans[0].engine != gp_engine_table(&count)
		       ? NULL
		       : s->studying.study.runs[first_case_of(s) + device];
}

/* What the whole program needs under settings that the window's start was not
 * cached under. */
static enum gp_status estimate(struct session *s, size_t run, uint32_t device,
			       struct gp_diag *diag)
{
	const struct gp_plan *plan = &s->plans[run];
	struct gp_estimate *estimate = &s->estimates[run][device];
	const struct gp_replay_config what_if = {
		.trace = s->trace,
		.device = device,
		.settings = &plan->settings,
		.engine = plan->engine,
		.conf = plan->conf,
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
	};
	enum gp_status status = gp_estimate(&what_if, gp_trace_conf(s->trace),
					    s->release, estimate, diag);

	if (estimate->is_there)
		*estimate = gp_estimate_need(
			estimate, &plan->settings,
			gp_trace_others(&s->trace->devices[device]));
	return status;
}

/* Runs on any thread: measures one device of one run. */
static void work(void *arg, size_t piece)
{
	struct session *s = arg;
	size_t devices = s->trace->device_count, run = piece / devices;
	uint32_t device = (uint32_t)(piece % devices);
	const struct gp_plan *plan = &s->plans[run];
	struct gp_headroom_config config = {
		.trace = s->trace,
		.device = device,
		.settings = &plan->settings,
		.engine = plan->engine,
		.conf = plan->conf,
		.runs = judged_runs(s, run, device),
		.tries = count_or(s->options->tries, TRIES),
		.points = count_or(s->options->points,
				   s->options->sets.count ? 0 : POINTS),
		.threads = gp_options_threads(s->options) / s->pieces,
		.progress = s->is_alone ? notify_replay : NULL,
		.progress_arg = &s->progress,
	};
	struct gp_diag diag = { 0 };
	enum gp_status status;

	if (atomic_load(&s->has_failed))
		return;
	status = gp_headroom(&config, &s->results[run][device], &diag);
	if (status == GP_OK)
		status = estimate(s, run, device, &diag);
	if (status == GP_OK || atomic_exchange(&s->has_failed, true))
		return;
	s->status = status;
	s->diag = diag;
}

static void make_runs(struct session *s)
{
	s->runs = gp_mem_alloc(s->run_count + 1, sizeof(*s->runs));
	s->results = gp_mem_alloc(s->run_count + 1, sizeof(*s->results));
	s->estimates = gp_mem_alloc(s->run_count + 1, sizeof(*s->estimates));
	if (gp_trace_has_start(s->trace))
		s->release = gp_estimating_release(s->trace);
	for (size_t i = 0; i < s->run_count; i++) {
		const struct gp_plan *plan = &s->plans[i];

		s->results[i] = gp_mem_alloc(s->trace->device_count + 1,
					     sizeof(**s->results));
		s->estimates[i] = gp_mem_alloc(s->trace->device_count + 1,
					       sizeof(**s->estimates));
		s->runs[i] = (struct gp_headroom_run){
			.settings = &plan->settings,
			.conf = plan->conf,
			.choice = plan->has_choice ? &plan->choice : NULL,
			.devices = s->results[i],
			.estimates = s->estimates[i],
		};
	}
}

static enum gp_status measure(struct session *s, struct gp_diag *diag)
{
	size_t threads = gp_options_threads(s->options);

	make_runs(s);
	s->pieces = s->run_count * s->trace->device_count;
	s->is_alone = threads < 2 || s->pieces < 2;
	gp_progress_restart(&s->progress);
	gp_thread_pool_run(&(struct gp_thread_pool_config){
		.threads = threads,
		.count = s->pieces,
		.work = work,
		.done = s->is_alone ? NULL : notify_piece,
		.arg = s,
		.stop = &s->has_failed,
	});
	if (s->status != GP_OK) {
		*diag = s->diag;
		if (!*diag->file)
			gp_diag_file(diag, s->path);
	}
	return s->status;
}

/* ---- judged ---- */

/* Plans of each class under the first plan's settings. */
static enum gp_status make_judged(struct session *s, struct gp_diag *diag)
{
	const struct gp_ranks *ranks = &s->ranking.ranks;
	struct gp_options options = *s->options;
	enum gp_status status = GP_OK;
	char torch[8];

	options.alloc_conf = s->plans[0].conf;
	options.knobs = NULL;
	s->judged = gp_mem_alloc(ranks->count, sizeof(*s->judged));
	for (size_t i = 0; i < ranks->count && status == GP_OK; i++) {
		status = gp_plan_asked(&s->judged[i], ranks->classes[i].trace,
				       &options, diag);
		snprintf(torch, sizeof(torch), "2.%u",
			 s->judged[0].settings.release);
		options.torch = torch;
	}
	return status;
}

/* Judges all classes, and continues with the one that needs most: a device that
 * is large enough for it is large enough for all. */
static enum gp_status judge(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = make_judged(s, diag);

	if (status == GP_OK)
		status = gp_ranking_study(&s->ranking, s->judged, s->options,
					  &s->studying, &s->progress, diag);
	if (status == GP_OK)
		take_class(s, gp_ranking_neediest(&s->ranking, &s->studying));
	else if (!*diag->file)
		gp_diag_file(diag, s->path);
	return status;
}

/* ---- the report ---- */

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;
	struct gp_headroom_report report = {
		.path = s->path,
		.trace = s->trace,
		.runs = s->runs,
		.run_count = s->run_count,
		.refused = s->refused,
		.refused_count = s->refused_count,
		.study = &s->studying.study,
		.ranks = gp_ranking_ranks(&s->ranking),
		.first_case = first_case_of(s),
		.prices = s->studying.prices,
	};

	if (s->options->format == GP_FORMAT_JSON)
		gp_report_headroom_json(&report, out);
	else if (s->options->format == GP_FORMAT_CSV)
		gp_report_headroom_csv(&report, out);
	else
		gp_report_headroom_text(&report, style, out);
}

static void release(struct session *s)
{
	for (size_t i = 0; s->results && i < s->run_count; i++) {
		for (size_t d = 0; d < s->trace->device_count; d++)
			gp_headroom_release(&s->results[i][d]);
		free(s->results[i]);
		free(s->estimates[i]);
	}
	for (size_t i = 0; i < s->run_count; i++)
		gp_plan_release(&s->plans[i]);
	free(s->results);
	free(s->estimates);
	free(s->runs);
	free(s->plans);
	free(s->refused);
	gp_grid_release(&s->grid);
	gp_studying_release(&s->studying);
	for (size_t i = 0; s->judged && i < s->ranking.ranks.count; i++)
		gp_plan_release(&s->judged[i]);
	free(s->judged);
	gp_ranking_release(&s->ranking);
}

static enum gp_status headroom_command(const struct gp_options *options,
				       struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = gp_studying_check(options, diag);

	if (status == GP_OK)
		status = read_traces(&s, diag);
	if (status == GP_OK)
		status = make_plans(&s, diag);
	if (status == GP_OK)
		status = judge(&s, diag);
	if (status == GP_OK)
		status = measure(&s, diag);
	gp_progress_end(&s.progress);
	if (status == GP_OK)
		status = gp_outlet_report(options, write_report, &s, diag);
	if (status == GP_OK)
		status = gp_rank_files_verdict(&s.ranking.ranks, diag);
	release(&s);
	return status;
}

static const struct gp_option headroom_options[] = {
	{ "alloc-conf", 0, GP_OPTION_CONFS, GP_AT(confs), "STRING",
	  "Settings in the syntax of PYTORCH_CUDA_ALLOC_CONF, in place of the "
	  "recorded ones; \"\" is PyTorch's defaults. Given more than once, "
	  "they are compared." },
	{ "set", 0, GP_OPTION_LIST, GP_AT(sets), "NAME=VALUE,...",
	  "Compare each of these values, combined with everything else: a "
	  "setting by PyTorch's name, or torch. none: not set; 32..512*2 and "
	  "0.6..0.9+0.1 are ranges. May be given more than once." },
	{ "points", 0, GP_OPTION_COUNT, GP_AT(points), "N",
	  "Number of capacities in the curve, besides the answers; 0: no "
	  "curve. Default: 12, and 0 with --set." },
	{ "tries", 0, GP_OPTION_COUNT, GP_AT(tries), "N",
	  "The most replays to verify each answer; default: 4000." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "text|json|markdown|csv",
	  "For people, for programs, for an issue (short: md), or the curve as "
	  "a table." },
	{ 0 },
};

const struct gp_command gp_headroom_command = {
	.name = "headroom",
	.operands = "TRACE...",
	.least = 1,
	.most = 100000,
	.sentence = "Find the smallest device a trace runs on.",
	.about = "Finds the smallest capacity without an out-of-memory error, "
		 "and without a retry, by a search over replays, and shows "
		 "what happens between them. More memory is not always better, "
		 "so it says how certain each answer is.\n"
		 "Settings are the recorded ones unless others are given; "
		 "--alloc-conf may be given more than once.\n" GP_ABOUT_RANKS,
	.options = "alloc-conf set prices jobs torch capacity compare points "
		   "tries without format output ascii color max-input quiet",
	.own = headroom_options,
	.takes_settings = true,
	.run = headroom_command,
};
