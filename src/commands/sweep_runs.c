/* SPDX-License-Identifier: MIT */
/* The runs of a sweep: for a combination, and for every value of a setting. */
#include "commands/sweep_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "commands/studying.h"
#include "study/sweep/thread_pool.h"

/* ---- one combination over one trace ---- */

static void make_plan(const struct gp_sweep_run *run, struct gp_plan *plan)
{
	const struct gp_combination *c = run->combination;
	const struct gp_trace *trace = run->trace;
	const char *lib = run->torch_lib;

	*plan = (struct gp_plan){
		.trace = trace,
		.settings = c->settings,
		.conf = gp_mem_copy_text(c->conf, strlen(c->conf)),
		.torch_lib = lib ? gp_mem_copy_text(lib, strlen(lib)) : NULL,
		.engine = c->engine,
		.mode = GP_WHAT_IF,
		.cut = run->cut,
		.capacity = gp_mem_alloc(trace->device_count + 1,
					 sizeof(*plan->capacity)),
		.results = gp_mem_alloc(trace->device_count + 1,
					sizeof(*plan->results)),
	};
	for (size_t d = 0; d < trace->device_count; d++)
		plan->capacity[d] =
			c->capacity ? c->capacity : run->recorded->capacity[d];
	gp_plan_foresee(plan);
}

static void keep(const struct gp_sweep_run *run, const struct gp_plan *plan,
		 const struct gp_estimate *estimates,
		 struct gp_sweep_report_run *kept)
{
	struct gp_run played = gp_plan_run(plan);
	struct gp_report report = {
		.path = run->path,
		.trace = plan->trace,
		.runs = &played,
		.run_count = 1,
	};

	played.estimates = estimates;
	for (size_t d = 0; d < plan->trace->device_count; d++)
		gp_row_add(&kept->row, &plan->results[d],
			   estimates ? &estimates[d] : NULL, run->prices);
	if (run->keeps_body)
		kept->body = gp_sweep_report_body(&report);
}

/* A failed run has no numbers; the other runs continue. */
static void keep_failure(const struct gp_sweep_run *run,
			 const struct gp_plan *plan, const struct gp_diag *why,
			 struct gp_sweep_report_run *kept)
{
	struct gp_run played = gp_plan_run(plan);

	snprintf(kept->row.failure, sizeof(kept->row.failure), "%.*s",
		 GP_FAILURE_TEXT - 1, why->what);
	if (run->keeps_body)
		kept->body = gp_sweep_report_failed_body(&played);
}

/* The values for which all devices of the plan would run alike. */
static struct gp_alike alike_of(const struct gp_plan *plan)
{
	struct gp_alike alike = plan->results[0].alike;

	for (size_t d = 1; d < plan->trace->device_count; d++)
		alike = gp_alike_both(&alike, &plan->results[d].alike);
	return alike;
}

enum gp_status gp_sweep_play(const struct gp_sweep_run *run,
			     struct gp_sweep_report_run *kept,
			     struct gp_alike *alike, struct gp_diag *diag)
{
	struct gp_estimate *estimates = NULL;
	struct gp_plan plan;
	enum gp_status status;

	make_plan(run, &plan);
	plan.keep_alike = alike != NULL;
	status = gp_plan_play(&plan, NULL, NULL, diag);
	/* An estimate replays from another start, for which other values may be
	 * equivalent: so it is only made without --set =all. */
	if (status == GP_OK && !alike)
		status =
			gp_estimating_make(&plan, run->trace, &estimates, diag);
	if (status == GP_OK)
		keep(run, &plan, estimates, kept);
	else
		keep_failure(run, &plan, diag, kept);
	if (status == GP_OK && alike)
		*alike = alike_of(&plan);
	kept->is_done = true;
	free(estimates);
	gp_plan_release(&plan);
	return status;
}

/* ---- every value of a setting ---- */

/* Larger segment sizes are unusual and many. */
#define MOST_LARGE 1024 /* MiB */
#define MOST_RUNS  2000 /* unless the options give a number */

/* A combination of the other axes, and the values that are still to be tried.
 */
struct cell {
	struct gp_combination *of;
	struct gp_space *space; /* NULL: it is not possible */
	bool is_done;		/* nothing is left, or a run failed */
	bool is_complete;
	uint64_t top_mb; /* where the highest class of max_split begins */
	/* The combinations made for its classes, and their runs by trace. */
	struct gp_combination *made;
	struct gp_sweep_report_run *runs;
	size_t count, room, run_room;
};

/* One value of a cell, with a run for each trace. */
struct
try {
	struct cell *cell;
	struct gp_combination combination;
};

/* A run. */
struct piece {
	struct gp_sweep_report_run kept;
	struct gp_alike alike;
	enum gp_status status;
	struct gp_diag diag;
};

struct search {
	const struct gp_sweep_all_config *config;
	struct gp_sweep_all *all;
	uint64_t most_runs; /* over all traces */
	struct cell *cells;
	size_t cell_count;
	/* The tries of this round; pieces are ordered by try, then trace. */
	struct try *tries;
	size_t try_count;
	struct piece *pieces;
	bool has_failed;
};

/* ---- cells ---- */

static enum gp_status open_cell(struct cell *cell, struct gp_combination *c,
				struct gp_diag *diag)
{
	const struct gp_space_config space = {
		.release = c->settings.release,
		.conf = c->conf,
		.searched = c->searched,
		.large_most = MOST_LARGE,
	};

	*cell = (struct cell){ .of = c, .is_done = c->reason != NULL };
	if (c->reason)
		return GP_OK;
	if (c->searched && strcmp(c->engine->name, "caching") != 0)
		return gp_diag_set(diag, GP_USAGE,
				   "--set with all: the engine %s does not "
				   "know which values are alike",
				   c->engine->name);
	return gp_space_create(&space, &cell->space, diag);
}

static enum gp_status open_cells(struct search *s, const struct gp_grid *grid,
				 struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	s->cells = gp_mem_alloc(grid->count, sizeof(*s->cells));
	s->tries = gp_mem_alloc(grid->count, sizeof(*s->tries));
	for (size_t i = 0; i < grid->count && status == GP_OK; i++) {
		status = open_cell(&s->cells[i], &grid->items[i], diag);
		s->cell_count = i + 1;
		s->all->classes.searched |= grid->items[i].searched;
	}
	return status;
}

/* ---- a round: the next value of each cell ---- */

static struct gp_combination combination_of(const struct gp_combination *of,
					    const char *conf)
{
	struct gp_combination c = *of;
	struct gp_diag ignored = { 0 };

	c.conf = gp_mem_copy_text(conf, strlen(conf));
	gp_settings_init(&c.settings, of->settings.release);
	gp_settings_parse(&c.settings, conf, &ignored);
	return c;
}

/* Whether the limits permit another run. */
static bool may_try(const struct search *s)
{
	const struct gp_sweep_all_config *config = s->config;
	uint64_t runs =
		s->all->classes.runs + (s->try_count + 1) * config->trace_count;

	return runs <= s->most_runs && !atomic_load(config->stop) &&
	       !s->has_failed;
}

static void begin_round(struct search *s)
{
	s->try_count = 0;
	for (size_t i = 0; i < s->cell_count; i++) {
		struct cell *cell = &s->cells[i];
		const char *conf;

		if (cell->is_done || !may_try(s))
			continue;
		conf = gp_space_next(cell->space);
		cell->is_done = cell->is_complete = !conf;
		if (conf)
			s->tries[s->try_count++] =
				(struct try){ cell,
					      combination_of(cell->of, conf) };
	}
}

/* Runs on any thread: writes only its own piece. */
static void work(void *arg, size_t index)
{
	struct search *s = arg;
	size_t count = s->config->trace_count;
	struct piece *piece = &s->pieces[index];
	struct gp_sweep_run run = s->config->runs[index % count];

	run.combination = &s->tries[index / count].combination;
	piece->status =
		gp_sweep_play(&run, &piece->kept, &piece->alike, &piece->diag);
}

static void notify(void *arg, size_t index)
{
	struct search *s = arg;

	(void)index;
	s->all->classes.runs++;
	gp_progress_count(s->config->progress, s->all->classes.runs,
			  s->most_runs);
}

static void note_failure(struct search *s, const struct piece *piece,
			 const char *path)
{
	if (!s->has_failed) {
		s->all->status = piece->status;
		s->all->diag = piece->diag;
		gp_diag_file(&s->all->diag, path);
	}
	s->has_failed = true;
}

static void keep_try(struct search *s, const struct try *t,
		     const struct piece *pieces, const struct gp_box *box)
{
	struct cell *cell = t->cell;
	size_t count = s->config->trace_count;

	GP_GROW(cell->made, cell->count + 1, cell->room);
	GP_GROW(cell->runs, (cell->count + 1) * count, cell->run_room);
	for (size_t i = 0; i < count; i++)
		cell->runs[cell->count * count + i] = pieces[i].kept;
	cell->made[cell->count] = t->combination;
	cell->made[cell->count++].box = *box;
}

/* Drops a try that was not started for all traces. */
static void drop_try(struct search *s, struct try *t, struct piece *pieces)
{
	for (size_t i = 0; i < s->config->trace_count; i++)
		free(pieces[i].kept.body);
	free(t->combination.conf);
	t->cell->is_done = true;
}

/* Removes the values that the runs of all traces stand for; a failed run stands
 * for its own value only. */
static void end_try(struct search *s, struct try *t, struct piece *pieces)
{
	struct gp_alike alike = pieces[0].alike;
	struct cell *cell = t->cell;
	struct gp_box box;

	for (size_t i = 0; i < s->config->trace_count; i++) {
		if (!pieces[i].kept.is_done) {
			drop_try(s, t, pieces);
			return;
		}
		alike = gp_alike_both(&alike, &pieces[i].alike);
		if (pieces[i].status != GP_OK) {
			note_failure(s, &pieces[i], s->config->runs[i].path);
			cell->is_done = true;
		}
	}
	if (cell->is_done)
		alike = gp_alike_of(&t->combination.settings);
	gp_space_take(cell->space, &alike, &box);
	if (box.split_most_mb == GP_UNLIMITED &&
	    (!cell->top_mb || box.split_least_mb < cell->top_mb))
		cell->top_mb = box.split_least_mb;
	keep_try(s, t, pieces, &box);
}

static void play_round(struct search *s)
{
	size_t count = s->config->trace_count;

	s->pieces = gp_mem_alloc(s->try_count * count, sizeof(*s->pieces));
	gp_thread_pool_run(&(struct gp_thread_pool_config){
		.threads = s->config->threads,
		.count = s->try_count * count,
		.work = work,
		.done = notify,
		.arg = s,
		.stop = s->config->stop,
	});
	for (size_t i = 0; i < s->try_count; i++)
		end_try(s, &s->tries[i], s->pieces + i * count);
	free(s->pieces);
}

/* ---- the results ---- */

static void count_values(struct search *s)
{
	struct gp_classes *classes = &s->all->classes;
	bool is_counted = true;

	classes->is_complete = true;
	for (size_t i = 0; i < s->cell_count; i++) {
		const struct cell *cell = &s->cells[i];
		uint64_t values;

		if (!cell->space)
			continue;
		values = gp_space_values(cell->space, cell->top_mb);
		classes->values += values;
		is_counted &= values > 0;
		classes->is_complete &= cell->is_complete;
	}
	if (!is_counted || !classes->is_complete)
		classes->values = 0;
}

/* Appends a combination and its runs. */
static void add(struct search *s, struct gp_grid *grid,
		const struct gp_combination *c,
		const struct gp_sweep_report_run *runs)
{
	size_t count = s->config->trace_count;

	if (runs)
		memcpy(s->all->runs + s->all->run_count, runs,
		       count * sizeof(*runs));
	s->all->run_count += count;
	grid->items[grid->count++] = *c;
}

/* Fills the grid with the cells in order, each with its classes; impossible
 * combinations stay. */
static void fill_grid(struct search *s, struct gp_grid *grid)
{
	size_t total = 0, traces = s->config->trace_count;
	struct gp_grid made = { 0 };

	for (size_t i = 0; i < s->cell_count; i++)
		total += s->cells[i].space ? s->cells[i].count : 1;
	made.items = gp_mem_alloc(total + 1, sizeof(*made.items));
	s->all->runs = gp_mem_alloc(total * traces + 1, sizeof(*s->all->runs));
	for (size_t i = 0; i < s->cell_count; i++) {
		const struct cell *cell = &s->cells[i];

		if (!cell->space) {
			add(s, &made, cell->of, NULL);
			cell->of->conf = NULL;
			cell->of->reason = NULL;
		}
		for (size_t k = 0; k < cell->count; k++)
			add(s, &made, &cell->made[k], cell->runs + k * traces);
	}
	made.engines = grid->engines;
	made.engine_count = grid->engine_count;
	made.engine_room = grid->engine_room;
	grid->engines = NULL;
	grid->engine_count = 0;
	gp_grid_release(grid);
	*grid = made;
}

static void release(struct search *s)
{
	for (size_t i = 0; i < s->cell_count; i++) {
		gp_space_destroy(s->cells[i].space);
		free(s->cells[i].made);
		free(s->cells[i].runs);
	}
	free(s->cells);
	free(s->tries);
}

/* ---- the whole search ---- */

/* Refuses options that do not work if each run depends on earlier ones. */
static enum gp_status refuse(const struct gp_options *options,
			     struct gp_diag *diag)
{
	const char *flag = options->shard    ? "--shard"
			   : options->resume ? "--resume"
			   : options->cut    ? "--cut"
					     : NULL;

	if (!flag)
		return GP_OK;
	return gp_diag_set(
		diag, GP_USAGE,
		"with all values of a setting, each complete run decides which "
		"value is next, so it does not work with %s",
		flag);
}

static bool is_asked(const struct gp_grid *grid)
{
	for (size_t i = 0; i < grid->count; i++)
		if (grid->items[i].searched)
			return true;
	return false;
}

enum gp_status gp_sweep_all_run(const struct gp_sweep_all_config *config,
				struct gp_grid *grid, struct gp_sweep_all *all,
				struct gp_diag *diag)
{
	uint64_t most = config->options->most_runs;
	struct search s = { .config = config,
			    .all = all,
			    .most_runs = most ? most : MOST_RUNS };
	enum gp_status status;

	*all = (struct gp_sweep_all){ 0 };
	if (!is_asked(grid))
		return GP_OK;
	status = refuse(config->options, diag);
	if (status != GP_OK)
		return status;
	gp_progress_restart(config->progress);
	status = open_cells(&s, grid, diag);
	if (status == GP_OK) {
		begin_round(&s);
		while (s.try_count) {
			play_round(&s);
			begin_round(&s);
		}
		count_values(&s);
		fill_grid(&s, grid);
	}
	release(&s);
	return status;
}

void gp_sweep_all_release(struct gp_sweep_all *all)
{
	for (size_t i = 0; i < all->run_count; i++)
		free(all->runs[i].body);
	free(all->runs);
	*all = (struct gp_sweep_all){ 0 };
}
