/* SPDX-License-Identifier: MIT */
/* gpupool sweep: many settings over the same traces, ranked; gpupool merge. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text_sink.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/options.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "commands/studying.h"
#include "commands/sweep_grid.h"
#include "commands/sweep_runs.h"
#include "commands/installed.h"
#include "commands/nearest.h"
#include "commands/trace_file.h"
#include "gpupool/replay.h"
#include "report/sweep_report.h"
#include "study/same.h"
#include "study/sweep/thread_pool.h"
#include "study/sweep/grid.h"
#include "study/sweep/rank.h"

/* ---- combinations that are not run ---- */

/* PyTorch's own allocator must be installed for the release. Returns its folder
 * by combination, NULL for other engines; the caller frees each folder, and the
 * list. */
static char **find_engines(struct gp_grid *grid, const char *torch_lib)
{
	char **libs = gp_mem_alloc(grid->count, sizeof(*libs));

	for (size_t i = 0; i < grid->count; i++) {
		struct gp_combination *c = &grid->items[i];
		struct gp_diag reason = { 0 };
		enum gp_status status;

		if (c->reason || strcmp(c->engine->name, "torch") != 0)
			continue;
		if (torch_lib)
			status = gp_torch_lib_prepare(torch_lib, &libs[i],
						      &reason);
		else
			status = gp_torch_lib_find(c->settings.release,
						   &libs[i], &reason);
		if (status != GP_OK)
			c->reason = gp_mem_copy_text(reason.what,
						     strlen(reason.what));
	}
	return libs;
}

static void ask(struct gp_combination *c, const struct gp_trace *trace)
{
	struct gp_diag why = { 0 };

	if (c->reason || !c->capacity ||
	    gp_replay_decides(trace, c->capacity, &why) == GP_OK)
		return;
	c->reason = gp_mem_copy_text(why.what, strlen(why.what));
	c->is_undecided = true;
}

/* A window may begin with more memory than a combination's capacity. */
static void mark_undecided(struct gp_grid *grid, struct gp_trace *const *traces,
			   size_t count)
{
	for (size_t i = 0; i < grid->count; i++)
		for (size_t t = 0; t < count; t++)
			ask(&grid->items[i], traces[t]);
}

static void mark_excluded(struct gp_grid *grid, const struct gp_texts *without)
{
	char why[120];

	for (size_t i = 0; i < grid->count; i++)
		for (size_t k = 0; k < without->count; k++) {
			struct gp_combination *c = &grid->items[i];

			if (c->reason ||
			    !gp_conf_changes(c->conf, without->items[k],
					     c->settings.release))
				continue;
			snprintf(why, sizeof(why), "--without %s",
				 without->items[k]);
			c->reason = gp_mem_copy_text(why, strlen(why));
			c->is_excluded = true;
		}
}

/* ---- the report ---- */

struct written {
	const struct gp_sweep_report *sweep;
	const struct gp_options *options;
	bool is_part;
};

static void write_report(void *arg, const struct gp_report_style *terminal,
			 FILE *out)
{
	const struct written *written = arg;
	const struct gp_sweep_report *sweep = written->sweep;
	struct gp_sweep_report_style style = {
		.by = (enum gp_rank_by)written->options->rank_by,
		.is_part = written->is_part,
		.style = *terminal,
	};

	switch (written->options->format) {
	case GP_FORMAT_JSON: gp_sweep_report_json(sweep, &style, out); break;
	case GP_FORMAT_CSV: gp_sweep_report_csv(sweep, &style, out); break;
	case GP_FORMAT_MARKDOWN:
		gp_sweep_report_markdown(sweep, &style, out);
		break;
	case GP_FORMAT_HTML: gp_sweep_report_html(sweep, &style, out); break;
	default: gp_sweep_report_text(sweep, &style, out);
	}
}

/* Writes the report to the output that the options name. */
static enum gp_status report(const struct gp_sweep_report *sweep,
			     const struct gp_options *options, bool is_part,
			     struct gp_diag *diag)
{
	struct gp_options asked = *options;
	struct written written = { sweep, &asked, is_part };

	if (is_part)
		asked.format = GP_FORMAT_JSON;
	if (sweep->is_cut && options->rank_by) {
		gp_diag_file(diag, "merge");
		return gp_diag_set(diag, GP_USAGE,
				   "runs were cut short by what is reserved, "
				   "and cannot be ranked by anything else");
	}
	return gp_outlet_report_as_is(&asked, write_report, &written, diag);
}

/* ---- the sweep ---- */

/* The state of one run of the command. */
struct session {
	const struct gp_options *options;
	struct gp_ranks ranks; /* a class is one trace of the sweep */
	size_t trace_count;    /* those with requests; others are only judged */
	struct gp_shard shard;
	const struct gp_prices *prices;
	struct gp_prices *own_prices; /* from a file */
	struct gp_progress progress;

	/* One for each class of ranks. */
	struct gp_trace **traces; /* borrowed */
	struct gp_plan *recorded;
	struct gp_run *recorded_runs;
	struct gp_report *reports;
	struct gp_sweep_run *runs; /* templates without a combination */

	struct gp_studying studying; /* for the advice, whatever the grid */
	struct gp_grid grid;
	struct gp_sweep_all all;
	char **torch_libs; /* by combination; owned */
	struct gp_sweep_report sweep;
	bool keeps_bodies;
	size_t threads;
	struct gp_replay_cut cut; /* at which --cut ends runs */
	bool is_cut;		  /* the cut is known */

	/* Of the current trace. */
	size_t trace;
	size_t *pieces; /* combinations to run */
	size_t piece_count;
	atomic_bool *taken; /* by combination: it is run, or stood for */
	struct same same;
	bool is_shared;	    /* a run stands for all that decide alike */
	size_t total, done; /* runs of all traces */
	atomic_bool has_failed;
	enum gp_status status; /* of the first that failed */
	struct gp_diag diag;
};

/* ---- traces ---- */

static const char *path_of(const struct session *s, size_t t)
{
	return s->ranks.classes[t].paths[0];
}

/* If no release replays as recorded, the newest one is used. */
static enum gp_status play_recorded(struct session *s, size_t t,
				    struct gp_diag *diag)
{
	const struct gp_trace *trace = s->ranks.classes[t].trace;
	struct gp_plan *plan = &s->recorded[t];
	struct gp_options none = { .capacity = 0 };
	enum gp_status status = gp_plan_recorded(plan, trace, diag);

	if (status != GP_OK) {
		*diag = (struct gp_diag){ 0 };
		gp_plan_release(plan);
		status = gp_plan_asked(plan, trace, &none, diag);
	}
	if (status == GP_OK)
		status = gp_plan_play(plan, NULL, &s->progress, diag);
	if (status != GP_OK)
		gp_diag_file(diag, path_of(s, t));
	return status;
}

/* ---- what is asked ---- */

/* Advice is about PyTorch's allocator: a sweep over other engines has none. */
static bool is_of_pytorch(const struct gp_grid *grid)
{
	for (size_t i = 0; i < grid->count; i++)
		if (gp_engine_is_pytorch(grid->items[i].engine->name))
			return true;
	return false;
}

static enum gp_status begin_book(struct session *s, struct gp_diag *diag)
{
	static const struct gp_study no_advice;
	struct gp_sweep_report_setup setup = {
		.grid = &s->grid,
		.prices = s->prices,
		.recorded = s->reports,
		.study = is_of_pytorch(&s->grid) ? &s->studying.study
						 : &no_advice,
		.cases = s->studying.cases,
		.trace_count = s->trace_count,
		.ranks = s->ranks.files + s->ranks.unread_count > 1 ? &s->ranks
								    : NULL,
		.is_cut = s->options->cut,
		.classes = s->all.classes,
	};
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);

	gp_sweep_report_write_head(&setup, out);
	return gp_sweep_report_begin(&s->sweep, gp_text_sink_close(&sink, out),
				     diag);
}

/* Studies the recorded runs under the release and capacity that were asked
 * for. */
static enum gp_status study(struct session *s, struct gp_diag *diag)
{
	struct gp_options options = *s->options;
	struct gp_plan *plans = gp_mem_alloc(s->ranks.count, sizeof(*plans));
	enum gp_status status = GP_OK;

	options.alloc_conf = NULL;
	options.engine = NULL;
	for (size_t t = 0; t < s->ranks.count && status == GP_OK; t++)
		status = gp_plan_asked(&plans[t], s->traces[t], &options, diag);
	if (status == GP_OK)
		status = gp_studying_of(&s->studying, plans, s->ranks.count,
					s->options, &s->progress, diag);
	for (size_t t = 0; t < s->ranks.count; t++)
		gp_plan_release(&plans[t]);
	free(plans);
	return status;
}

static void describe(struct session *s, size_t t)
{
	s->recorded_runs[t] = gp_plan_run(&s->recorded[t]);
	s->reports[t] = (struct gp_report){
		.path = path_of(s, t),
		.trace = s->traces[t],
		.runs = &s->recorded_runs[t],
		.run_count = 1,
	};
	s->runs[t] = (struct gp_sweep_run){
		.path = path_of(s, t),
		.trace = s->traces[t],
		.recorded = &s->recorded[t],
		.prices = s->prices,
		.keeps_body = s->keeps_bodies,
	};
}

static void note_recorded(struct session *s, size_t t)
{
	struct gp_rank_class *class = &s->ranks.classes[t];
	const char *conf = s->recorded[t].conf;

	class->release = s->recorded[t].settings.release;
	class->conf = gp_mem_copy_text(conf, strlen(conf));
}

/* Puts the most common release and settings first: grid and advice start from
 * them. */
static void put_lead_first(struct session *s)
{
	size_t lead = gp_ranks_lead(&s->ranks);
	struct gp_plan plan = s->recorded[lead];
	struct gp_rank_class class = s->ranks.classes[lead];

	s->recorded[lead] = s->recorded[0];
	s->recorded[0] = plan;
	s->ranks.classes[lead] = s->ranks.classes[0];
	s->ranks.classes[0] = class;
}

static enum gp_status play_traces(struct session *s, struct gp_diag *diag)
{
	size_t count = s->ranks.count;
	enum gp_status status = GP_OK;

	s->traces = gp_mem_alloc(count, sizeof(*s->traces));
	s->recorded = gp_mem_alloc(count, sizeof(*s->recorded));
	s->recorded_runs = gp_mem_alloc(count, sizeof(*s->recorded_runs));
	s->reports = gp_mem_alloc(count, sizeof(*s->reports));
	s->runs = gp_mem_alloc(count, sizeof(*s->runs));
	for (size_t t = 0; t < count && status == GP_OK; t++) {
		status = play_recorded(s, t, diag);
		if (status == GP_OK)
			note_recorded(s, t);
	}
	if (status != GP_OK)
		return status;
	put_lead_first(s);
	for (size_t t = 0; t < count; t++) {
		s->traces[t] = s->ranks.classes[t].trace;
		describe(s, t);
	}
	return GP_OK;
}

static enum gp_status read_traces(struct session *s, struct gp_diag *diag)
{
	enum gp_status status =
		gp_rank_files(s->options->operands, s->options->operand_count,
			      &s->progress, &s->ranks, diag);

	if (status == GP_OK)
		status = gp_rank_files_requests(&s->ranks, diag);
	s->trace_count = gp_ranks_busy(&s->ranks);
	return status == GP_OK ? play_traces(s, diag) : status;
}

static enum gp_status make_grid(struct session *s, struct gp_diag *diag)
{
	struct gp_sweep_base base = {
		.conf = s->recorded[0].conf,
		.release = s->recorded[0].settings.release,
		.traces = s->traces,
		.trace_count = s->trace_count,
	};

	return gp_sweep_grid(s->options, &base, &s->grid, diag);
}

/* Tries every value of the settings given as =all. */
static enum gp_status try_all(struct session *s, struct gp_diag *diag)
{
	struct gp_sweep_all_config config = {
		.options = s->options,
		.runs = s->runs,
		.trace_count = s->trace_count,
		.threads = s->threads,
		.progress = &s->progress,
		.stop = gp_interrupt_flag(),
	};
	enum gp_status status;

	gp_interrupt_catch();
	status = gp_sweep_all_run(&config, &s->grid, &s->all, diag);
	if (status == GP_USAGE)
		gp_diag_file(diag, "sweep");
	s->status = s->all.status;
	s->diag = s->all.diag;
	return status;
}

/* Moves the finished runs into the report. */
static void take_runs(struct session *s)
{
	for (size_t i = 0; i < s->all.run_count; i++) {
		s->sweep.runs[i] = s->all.runs[i];
		s->all.runs[i] = (struct gp_sweep_report_run){ 0 };
	}
}

static enum gp_status prepare(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = read_traces(s, diag);

	if (status == GP_OK)
		status = make_grid(s, diag);
	if (status == GP_OK)
		status = study(s, diag);
	if (status != GP_OK)
		return status;
	mark_excluded(&s->grid, &s->options->without);
	mark_undecided(&s->grid, s->traces, s->trace_count);
	status = try_all(s, diag);
	if (status != GP_OK)
		return status;
	s->torch_libs = find_engines(&s->grid, s->options->torch_lib);
	status = begin_book(s, diag);
	if (status == GP_OK)
		take_runs(s);
	return status;
}

static enum gp_status resume(struct session *s, struct gp_diag *diag)
{
	const char *path = s->options->resume, *output = s->options->output;
	struct gp_sweep_report before;
	enum gp_status status;

	if (!path || (output && !strcmp(path, output) && access(path, F_OK)))
		return GP_OK;
	status = gp_sweep_report_read(&before, path, diag);
	if (status != GP_OK)
		return status;
	status =
		gp_sweep_report_join(&s->sweep, &before, GP_SWEEP_RESUME, diag);
	if (status != GP_OK)
		gp_diag_file(diag, path);
	gp_sweep_report_release(&before);
	return status;
}

/* ---- runs ---- */

/* The run of a combination for the current trace. */
static struct gp_sweep_run run_of(const struct session *s, size_t combination)
{
	struct gp_sweep_run run = s->runs[s->trace];

	run.combination = &s->grid.items[combination];
	run.torch_lib = s->torch_libs[combination];
	run.cut = s->is_cut ? &s->cut : NULL;
	return run;
}

/* Whether one combination's run is also the run of the other. */
static bool is_same_run(const struct session *s, const struct gp_alike *alike,
			size_t one, size_t other)
{
	const struct gp_combination *a = &s->grid.items[one];
	const struct gp_combination *b = &s->grid.items[other];

	return a->engine == b->engine && a->capacity == b->capacity &&
	       same_holds(&s->same, alike, &a->settings, &b->settings);
}

/* Copies the run to later combinations that would run alike and are not
 * started. */
static void share(struct session *s, size_t piece, const struct gp_alike *alike)
{
	size_t count = s->trace_count, one = s->pieces[piece];
	const struct gp_sweep_report_run *run =
		&s->sweep.runs[one * count + s->trace];

	for (size_t i = piece + 1; i < s->piece_count; i++) {
		size_t other = s->pieces[i];

		if (!is_same_run(s, alike, one, other) ||
		    atomic_exchange(&s->taken[other], true))
			continue;
		s->sweep.runs[other * count + s->trace] = *run;
	}
}

/* Runs on any thread: writes only the runs that it has taken, or the failure.
 */
static void work(void *arg, size_t piece)
{
	struct session *s = arg;
	size_t combination = s->pieces[piece];
	struct gp_sweep_report_run *run =
		&s->sweep.runs[combination * s->trace_count + s->trace];
	struct gp_sweep_run asked = run_of(s, combination);
	size_t engines;
	bool is_shared = s->is_shared &&
			 asked.combination->engine == gp_engine_table(&engines);
	struct gp_diag diag = { 0 };
	struct gp_alike alike;
	enum gp_status status;

	if (atomic_exchange(&s->taken[combination], true))
		return;
	status = gp_sweep_play(&asked, run, is_shared ? &alike : NULL, &diag);
	if (status == GP_OK && is_shared)
		share(s, piece, &alike);
	if (status != GP_OK && !atomic_exchange(&s->has_failed, true)) {
		s->status = status;
		s->diag = diag;
		gp_diag_file(&s->diag, asked.path);
	}
}

/* ---- cutting short ---- */

/* Replays one trace under the combination that sets the limit for the
 * others. */
static enum gp_status play_first(struct session *s, size_t first,
				 struct gp_sweep_row *row, struct gp_diag *diag)
{
	struct gp_sweep_report_run *run =
		&s->sweep.runs[first * s->trace_count + s->trace];
	struct gp_sweep_run asked = run_of(s, first);
	struct gp_sweep_report_run played = { 0 };
	enum gp_status status;

	if (run->is_done) {
		gp_row_join(row, &run->row, 0);
		return GP_OK;
	}
	asked.keeps_body = false;
	status = gp_sweep_play(&asked, &played, NULL, diag);
	if (status == GP_OK)
		*row = played.row;
	return status;
}

/* Replays the first possible combination over all traces: a run that exceeds
 * its result at any moment cannot be the best and is cut short. The limit does
 * not depend on the order of the other runs. */
static enum gp_status find_cut(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	struct gp_sweep_row row = { 0 };
	size_t first = 0;

	while (first < s->grid.count && s->grid.items[first].reason)
		first++;
	if (!s->options->cut || first == s->grid.count)
		return GP_OK;
	for (s->trace = 0; s->trace < s->trace_count && status == GP_OK;
	     s->trace++) {
		struct gp_sweep_row one = { 0 };

		status = play_first(s, first, &one, diag);
		if (status == GP_OK)
			gp_row_join(&row, &one, 0);
	}
	s->cut.dropped = row.dropped;
	/* A run that serves more requests may reserve more: no limit then. */
	s->cut.reserved = row.dropped ? UINT64_MAX : row.reserved;
	s->is_cut = status == GP_OK;
	return status;
}

static void notify(void *arg, size_t piece)
{
	struct session *s = arg;

	(void)piece;
	s->done++;
	gp_progress_count(&s->progress, s->done, s->total);
}

/* Each shard has every N-th run of the grid, so that none has all the slow
 * ones. */
static bool is_mine(const struct session *s, size_t combination, size_t trace)
{
	size_t run = combination * s->trace_count + trace;

	return !s->grid.items[combination].reason &&
	       run % s->shard.count == s->shard.index - 1 &&
	       !s->sweep.runs[run].is_done;
}

static size_t list_pieces(struct session *s, size_t trace)
{
	size_t count = 0;

	for (size_t i = 0; i < s->grid.count; i++)
		if (is_mine(s, i, trace))
			s->pieces[count++] = i;
	return count;
}

static void sweep_trace(struct session *s, size_t trace)
{
	s->trace = trace;
	s->piece_count = list_pieces(s, trace);
	for (size_t i = 0; i < s->grid.count; i++)
		atomic_init(&s->taken[i], false);
	same_init(&s->same, s->traces[trace], SAME_ALL_DEVICES);
	/* Runs are not shared if their JSON is kept, because it names the
	 * settings, nor if they are estimated. */
	s->is_shared =
		!s->keeps_bodies && !gp_trace_has_start(s->traces[trace]);
	gp_thread_pool_run(&(struct gp_thread_pool_config){
		.threads = s->threads,
		.count = s->piece_count,
		.work = work,
		.done = notify,
		.arg = s,
		.stop = gp_interrupt_flag(),
	});
	same_release(&s->same);
}

static void sweep(struct session *s)
{
	s->pieces = gp_mem_alloc(s->grid.count, sizeof(*s->pieces));
	s->taken = gp_mem_alloc(s->grid.count, sizeof(*s->taken));
	for (size_t t = 0; t < s->trace_count; t++)
		s->total += list_pieces(s, t);
	gp_progress_restart(&s->progress);
	for (size_t t = 0; t < s->trace_count; t++)
		if (!gp_interrupt_came())
			sweep_trace(s, t);
	/* Restore the usual signal handling, unless interrupted: the signal may
	 * be repeated while the report is written. */
	if (!gp_interrupt_came())
		gp_outlet_guard();
}

/* ---- the command ---- */

static enum gp_status begin(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *options = s->options;
	enum gp_status status = gp_sweep_shard(options, &s->shard, diag);

	if (status == GP_OK && options->shard &&
	    options->format != GP_FORMAT_TEXT &&
	    options->format != GP_FORMAT_JSON) {
		gp_diag_hint(diag, "gpupool merge takes --format");
		status = gp_diag_set(diag, GP_USAGE,
				     "--shard writes a part, which is JSON");
	}
	if (status == GP_OK && options->cut && options->rank_by) {
		status = gp_diag_set(diag, GP_USAGE,
				     "--cut compares what is reserved, so it "
				     "does not work with another --rank-by");
	}
	s->threads = gp_options_threads(options);
	s->prices = gp_prices_built_in();
	if (status == GP_OK && options->prices) {
		status = gp_prices_read(options->prices, &s->own_prices, diag);
		s->prices = s->own_prices;
	}
	s->keeps_bodies = options->shard || options->format == GP_FORMAT_JSON;
	return status;
}

/* GP_USAGE if PyTorch accepts none of the combinations. */
static enum gp_status check_possible(const struct session *s,
				     struct gp_diag *diag)
{
	const struct gp_combination *c = NULL;

	for (size_t i = 0; i < s->grid.count; i++) {
		c = &s->grid.items[i];
		if (!c->reason || c->is_undecided)
			return GP_OK;
	}
	if (!c)
		return GP_OK;
	gp_diag_file(diag, s->ranks.files == 1 ? s->ranks.classes[0].paths[0]
					       : "sweep");
	gp_diag_hint(diag, "see: gpupool help settings");
	gp_diag_set(diag, GP_INPUT,
		    "none of the settings can be used; the last: %.200s",
		    c->reason);
	gp_hint_settings(c->conf, diag);
	return GP_INPUT;
}

/* The exit status after an interruption or failures; finished runs have been
 * written. */
static enum gp_status verdict(const struct session *s, struct gp_diag *diag)
{
	if (s->status != GP_OK)
		*diag = s->diag;
	if (!gp_interrupt_came() ||
	    (s->done >= s->total && s->all.classes.is_complete))
		return s->status;
	gp_diag_file(diag, "sweep");
	if (s->all.classes.searched)
		return gp_diag_set(diag, GP_SYSTEM,
				   "interrupted, with values left that were "
				   "not tried");
	gp_diag_hint(
		diag,
		s->keeps_bodies
			? "the report has the finished ones; --resume FILE "
			  "continues from there"
			: "the report has the finished ones; only a report "
			  "written by --format json can be resumed");
	return gp_diag_set(diag, GP_SYSTEM, "interrupted after %zu of %zu runs",
			   s->done, s->total);
}

static enum gp_status run(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = begin(s, diag);

	if (status == GP_OK)
		status = prepare(s, diag);
	if (status == GP_OK)
		status = resume(s, diag);
	if (status == GP_OK)
		status = find_cut(s, diag);
	if (status == GP_OK)
		sweep(s);
	gp_progress_end(&s->progress);
	if (status == GP_OK)
		status = report(&s->sweep, s->options,
				s->options->shard != NULL, diag);
	if (status == GP_OK)
		status = verdict(s, diag);
	if (status == GP_OK)
		status = check_possible(s, diag);
	return status == GP_OK ? gp_rank_files_verdict(&s->ranks, diag)
			       : status;
}

static void release(struct session *s)
{
	for (size_t t = 0; s->recorded && t < s->ranks.count; t++)
		gp_plan_release(&s->recorded[t]);
	for (size_t i = 0; s->torch_libs && i < s->grid.count; i++)
		free(s->torch_libs[i]);
	free(s->torch_libs);
	free(s->pieces);
	free(s->taken);
	free(s->traces);
	free(s->recorded);
	free(s->recorded_runs);
	free(s->reports);
	free(s->runs);
	gp_sweep_all_release(&s->all);
	gp_sweep_report_release(&s->sweep);
	gp_grid_release(&s->grid);
	gp_studying_release(&s->studying);
	gp_prices_destroy(s->own_prices);
	gp_ranks_release(&s->ranks);
}

static enum gp_status sweep_command(const struct gp_options *options,
				    struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = gp_studying_check(options, diag);

	if (status == GP_OK)
		status = run(&s, diag);
	release(&s);
	return status;
}

/* For sweep and merge. */
#define FORMATS                                                                \
	"format", 0, GP_OPTION_FORMAT, GP_AT(format),                          \
		"text|json|csv|markdown|html",                                 \
		"For people, for programs, as a table, or as a page for a "    \
		"browser."

static const struct gp_option sweep_options[] = {
	{ "alloc-conf", 0, GP_OPTION_CONFS, GP_AT(confs), "STRING",
	  "Try these settings, as PYTORCH_CUDA_ALLOC_CONF has them; may be "
	  "given more than once." },
	{ "confs", 0, GP_OPTION_TEXT, GP_AT(confs_file), "FILE",
	  "Try the settings in FILE, one PYTORCH_CUDA_ALLOC_CONF per line; # "
	  "begins a comment, \"\" is PyTorch's defaults." },
	{ "preset", 0, GP_OPTION_TEXT, GP_AT(preset), "quick|full",
	  "Try the settings that people use: each by itself, or all "
	  "combinations. Default: quick, if nothing else says what to try." },
	{ "engine", 0, GP_OPTION_TEXT, GP_AT(engine), "NAME,...",
	  "The allocators: names from gpupool help engines, and libraries such "
	  "as ./mine.so; default: caching. PyTorch's settings are tried with "
	  "PyTorch's allocator only." },
	{ "set", 0, GP_OPTION_LIST, GP_AT(sets), "NAME=VALUE,...",
	  "Try each of these values, combined with everything else: a setting "
	  "by PyTorch's name, or torch, capacity or engine. none: not set; "
	  "32..512*2 and 0.6..0.9+0.1 are ranges; all: every value that makes "
	  "a difference. May be given more than once." },
	{ "most-runs", 0, GP_OPTION_COUNT, GP_AT(most_runs), "N",
	  "If --set asks for all values, make at most N replays; default: "
	  "2000." },
	{ "cut", 0, GP_OPTION_FLAG, GP_AT(cut), NULL,
	  "Cut runs short once they reserve more than the first "
	  "combination does, or serve fewer requests, and say which." },
	{ "shard", 0, GP_OPTION_TEXT, GP_AT(shard), "I/N",
	  "Run only the I-th of N parts, and write it for gpupool merge." },
	{ "resume", 0, GP_OPTION_TEXT, GP_AT(resume), "FILE",
	  "Reuse the runs in FILE, an unfinished report or part; it may be the "
	  "output file, which then need not exist yet." },
	{ FORMATS },
	{ 0 },
};

const struct gp_command gp_sweep_command = {
	.name = "sweep",
	.operands = "TRACE...",
	.least = 1,
	.most = 100000,
	.sentence = "Try many settings and say which is best.",
	.about =
		"Each combination of settings, releases, capacities and "
		"engines is replayed, and they are ranked: fewest requests not "
		"served, then least memory reserved, fewest retries, least "
		"time in device calls, fewest settings. Those that PyTorch "
		"refuses are named.\n"
		"Without --set, --preset, --confs or --alloc-conf it tries the "
		"settings that people use. --set changes the recorded "
		"settings, or those of the other three.\n"
		"TRACE may be a folder: all traces in it. Several traces are "
		"ranks of one job: the worst one decides, and those that are "
		"alike are replayed once.",
	.options = "alloc-conf confs preset set most-runs rank-by cut prices "
		   "jobs shard resume torch capacity engine torch-lib without "
		   "format output ascii color max-input quiet",
	.own = sweep_options,
	.run = sweep_command,
};

/* ---- gpupool merge ---- */

static enum gp_status add_part(struct gp_sweep_report *sweep, const char *path,
			       struct gp_diag *diag)
{
	struct gp_sweep_report part;
	enum gp_status status = gp_sweep_report_read(&part, path, diag);

	if (status != GP_OK)
		return status;
	status = gp_sweep_report_join(sweep, &part, GP_SWEEP_MERGE, diag);
	if (status != GP_OK)
		gp_diag_file(diag, path);
	gp_sweep_report_release(&part);
	return status;
}

static enum gp_status merge_command(const struct gp_options *options,
				    struct gp_diag *diag)
{
	struct gp_sweep_report sweep = { 0 };
	enum gp_status status =
		gp_sweep_report_read(&sweep, options->operands[0], diag);
	size_t asked, done;

	for (size_t i = 1; i < options->operand_count && status == GP_OK; i++)
		status = add_part(&sweep, options->operands[i], diag);
	asked = gp_sweep_report_asked(&sweep);
	done = gp_sweep_report_done(&sweep);
	if (status == GP_OK && done < asked) {
		gp_diag_file(diag, "merge");
		gp_diag_hint(diag, "a part is missing, or was not finished: "
				   "run that shard again with --resume");
		status = gp_diag_set(diag, GP_INPUT,
				     "%zu of %zu runs are in none of the parts",
				     asked - done, asked);
	}
	if (status == GP_OK)
		status = report(&sweep, options, false, diag);
	gp_sweep_report_release(&sweep);
	return status;
}

static const struct gp_option merge_options[] = {
	{ FORMATS },
	{ 0 },
};

const struct gp_command gp_merge_command = {
	.name = "merge",
	.operands = "PART...",
	.least = 1,
	.most = 100000,
	.sentence = "Put the parts of a split sweep together.",
	.about = "The report is byte for byte that of a sweep that was not "
		 "split.",
	.options = "rank-by format output ascii color quiet",
	.own = merge_options,
	.run = merge_command,
};
