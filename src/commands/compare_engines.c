/* SPDX-License-Identifier: MIT */
/* gpupool compare: the same traces under several allocators. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "commands/command.h"
#include "commands/engine_named.h"
#include "commands/output.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/ranking.h"
#include "commands/sweep_grid.h"
#include "commands/trace_file.h"
#include "gpupool/device.h"
#include "report/report.h"
#include "study/floor/floor.h"
#include "study/headroom.h"

#define FLOOR_WORK	UINT64_C(100000000) /* steps; a second or so */
/* Of the search for the need of one run. */
#define NEED_TRIES	12
#define NEED_MOST_TRIES 8000
#define NEED_EVENTS	UINT64_C(4000000) /* replayed in a second or so */

struct session {
	const struct gp_options *options;
	struct gp_progress progress;
	struct gp_ranks ranks;
	char *names;	     /* owned: what --engine lists, cut up */
	struct gp_grid grid; /* of --set, whose texts entries borrow */
	struct gp_engine_entry *entries;
	struct gp_engine_run *runs;
	char **troubles; /* owned; count of them */
	size_t trouble_count, trouble_room;
	struct gp_engines_report report;
	struct gp_prices *own_prices;
	size_t entry_room, run_room;
	enum gp_status worst;	 /* the worst status of runs that failed */
	const char *failed_with; /* the engine of the first such run */
};

/* ---- what is compared ---- */

static void add_entry(struct session *s, const char *engine, const char *conf)
{
	struct gp_engines_report *r = &s->report;

	GP_GROW(s->entries, r->entry_count + 1, s->entry_room);
	s->entries[r->entry_count++] =
		(struct gp_engine_entry){ .engine = engine, .conf = conf };
}

/* Adds each engine under each value of its settings. */
static enum gp_status add_sets(struct session *s, struct gp_diag *diag)
{
	enum gp_status status =
		gp_compare_grid(s->options, s->names, &s->grid, diag);

	for (size_t i = 0; i < s->grid.count; i++) {
		const struct gp_combination *c = &s->grid.items[i];

		add_entry(s, c->engine->name, *c->conf ? c->conf : NULL);
	}
	return status;
}

static void add_names(struct session *s, bool has_all)
{
	char *rest = NULL;

	for (char *name = strtok_r(s->names, ",", &rest); name;
	     name = strtok_r(NULL, ",", &rest)) {
		add_entry(s, name, NULL);
		if (has_all && !strcmp(name, "caching"))
			add_entry(s, name, "expandable_segments:True");
	}
}

static enum gp_status add_engines(struct session *s, struct gp_diag *diag)
{
	const char *list = s->options->engine;
	const struct gp_engine *one = list ? gp_engine_find(list) : NULL;
	enum gp_status status = GP_OK;
	size_t count;
	bool has_all;

	/* --alloc-conf is either for PyTorch's allocator of devices, or for
	 * that of the host. */
	if (!gp_engine_is_of_host(one))
		one = gp_engine_table(&count);
	if (!list)
		list = "all";
	s->names = gp_engine_names(list, &has_all);
	if (*s->names && s->options->sets.count)
		status = add_sets(s, diag);
	else
		add_names(s, has_all);
	for (size_t i = 0; i < s->options->confs.count; i++)
		add_entry(s, one->name, s->options->confs.items[i]);
	return status != GP_OK || s->report.entry_count
		       ? status
		       : gp_diag_set(diag, GP_USAGE,
				     "--engine %s: it names no engine", list);
}

/* ---- runs ---- */

static const char *keep_trouble(struct session *s, const char *engine,
				const struct gp_diag *diag,
				enum gp_status status)
{
	if (!s->trouble_count)
		s->failed_with = engine;
	if (status > s->worst)
		s->worst = status;
	GP_GROW(s->troubles, s->trouble_count + 1, s->trouble_room);
	s->troubles[s->trouble_count] =
		gp_mem_copy_text(diag->what, strlen(diag->what));
	return s->troubles[s->trouble_count++];
}

static uint64_t calls_of(const struct gp_device_calls *calls)
{
	return calls->malloc + calls->malloc_failed + calls->free +
	       calls->reserve + calls->unreserve + calls->map +
	       calls->map_failed + calls->unmap;
}

static void note(struct session *s, struct gp_engine_run *run,
		 const struct gp_replay_result *result)
{
	const struct gp_moment *peak = &result->at_fullest;

	run->reserved = peak->reserved;
	run->allocated = peak->allocated;
	if (peak->reserved)
		run->fragmentation =
			(double)(peak->reserved - peak->allocated) /
			(double)peak->reserved;
	run->device_calls = calls_of(&result->calls);
	run->time_us = gp_price_whole_us(s->report.prices, &result->calls,
					 result->counts.synchronizes);
	run->dropped = result->dropped;
	run->retries = (uint64_t)result->counts.retries;
	run->lacks_room = result->others.missing > 0;
}

/* As many tries as take about a second, and a few in any case. An engine that
 * is not part of gpupool gets no more than a few, because each replay starts a
 * process. */
static uint32_t need_tries(const struct gp_engine *engine,
			   const struct gp_device_trace *device)
{
	uint64_t tries = NEED_EVENTS / (device->event_count + 1);

	if (engine->needs || engine->close)
		return NEED_TRIES;
	return (uint32_t)gp_larger(NEED_TRIES,
				   gp_smaller(tries, NEED_MOST_TRIES));
}

static void find_need(struct gp_plan *plan, uint32_t device,
		      struct gp_engine_run *run)
{
	const struct gp_headroom_config config = {
		.trace = plan->trace,
		.device = device,
		.settings = &plan->settings,
		.engine = plan->engine,
		.conf = plan->conf,
		.places = plan->places ? plan->places[device] : NULL,
		.tries =
			need_tries(plan->engine, &plan->trace->devices[device]),
		.only_need = true,
	};
	struct gp_headroom headroom;
	struct gp_diag ignored = { 0 };

	if (gp_headroom(&config, &headroom, &ignored) != GP_OK)
		return;
	if (headroom.bounds[GP_NO_OOM].is_there) {
		run->need = headroom.bounds[GP_NO_OOM].capacity;
		run->need_unknown = headroom.bounds[GP_NO_OOM].unknown_above;
	}
	gp_headroom_release(&headroom);
}

static enum gp_status play(struct session *s, struct gp_plan *plan,
			   struct gp_engine_run *runs, struct gp_diag *diag)
{
	size_t devices = plan->trace->device_count, n = s->report.entry_count;
	enum gp_status status = gp_plan_play(plan, NULL, NULL, diag);

	for (uint32_t d = 0; d < devices; d++)
		runs[d * n].capacity = plan->capacity[d];
	for (uint32_t d = 0; d < devices && status == GP_OK; d++) {
		note(s, &runs[d * n], &plan->results[d]);
		if (s->options->details)
			find_need(plan, d, &runs[d * n]);
	}
	return status;
}

/* Replays all devices of a trace under one entry; errors go into its rows. */
static void compare_one(struct session *s, const struct gp_trace *trace,
			const struct gp_engine_entry *entry,
			struct gp_engine_run *runs)
{
	struct gp_options options = *s->options;
	struct gp_diag diag = { 0 };
	struct gp_plan plan = { 0 };
	enum gp_status status;

	options.engine = entry->engine;
	options.alloc_conf = entry->conf;
	gp_progress_step(&s->progress, entry->engine);
	status = gp_plan_asked(&plan, trace, &options, &diag);
	if (status == GP_OK)
		status = play(s, &plan, runs, &diag);
	if (status != GP_OK)
		for (size_t d = 0; d < trace->device_count; d++)
			runs[d * s->report.entry_count].trouble =
				keep_trouble(s, entry->engine, &diag, status);
	gp_plan_release(&plan);
}

static void find_floor(struct session *s, const struct gp_trace *trace,
		       uint32_t device, struct gp_engine_run *run)
{
	struct gp_spans spans;
	struct gp_floor floor;
	const struct gp_floor_config config = { .spans = &spans,
						.work = FLOOR_WORK };

	gp_progress_step(&s->progress, "looking for a packing");
	gp_spans_of_trace(trace, device, GP_FLOOR_ROUND, &spans);
	gp_floor_find(&config, &floor);
	run->start = gp_state_reserved(&trace->devices[device].start);
	run->live = floor.bound;
	run->packing = floor.height;
	gp_floor_release(&floor);
	gp_spans_release(&spans);
}

static void compare(void *arg, struct gp_rank_class *class)
{
	struct session *s = arg;
	size_t n = s->report.entry_count, first = s->report.run_count;
	const struct gp_trace *trace = class->trace;
	struct gp_engine_run *runs;

	class->first_case = first;
	s->report.run_count += n * trace->device_count;
	GP_GROW(s->runs, s->report.run_count, s->run_room);
	runs = s->runs + first;
	for (uint32_t d = 0; d < trace->device_count; d++) {
		struct gp_engine_run about = {
			.path = class->paths[0],
			.device = trace->devices[d].device,
			.capacity = GP_UNLIMITED,
		};

		find_floor(s, trace, d, &about);
		for (size_t e = 0; e < n; e++) {
			about.engine = s->entries[e].engine;
			about.conf = s->entries[e].conf;
			runs[d * n + e] = about;
		}
	}
	for (size_t e = 0; e < n; e++)
		compare_one(s, trace, &s->entries[e], runs + e);
}

/* Sorts the runs by class; a run has the first path of its class. */
static void sort_runs(struct session *s)
{
	size_t count = s->report.run_count, n = 0;
	struct gp_engine_run *sorted = gp_mem_alloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < s->ranks.count; i++) {
		const struct gp_rank_class *class = &s->ranks.classes[i];

		for (size_t k = class->first_case;
		     k < count && s->runs[k].path == class->paths[0]; k++)
			sorted[n++] = s->runs[k];
	}
	free(s->runs);
	s->runs = sorted;
}

/* ---- the report ---- */

static void write_report(void *arg, const struct gp_report_style *style,
			 FILE *out)
{
	const struct session *s = arg;
	enum gp_table_format format = GP_TABLE_TEXT;

	switch (s->options->format) {
	case GP_FORMAT_JSON: gp_report_engines_json(&s->report, out); return;
	case GP_FORMAT_CSV: format = GP_TABLE_CSV; break;
	case GP_FORMAT_MARKDOWN: format = GP_TABLE_MARKDOWN; break;
	case GP_FORMAT_HTML: format = GP_TABLE_HTML; break;
	default: break;
	}
	gp_report_engines(&s->report, format, style, out);
}

static enum gp_status compare_all(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *o = s->options;
	enum gp_status status = GP_OK;

	s->report.prices = gp_prices_built_in();
	if (o->prices) {
		status = gp_prices_read(o->prices, &s->own_prices, diag);
		s->report.prices = s->own_prices;
	}
	if (status == GP_OK)
		status = gp_rank_each(o->operands, o->operand_count, compare, s,
				      &s->progress, &s->ranks, diag);
	return status;
}

static enum gp_status verdict(const struct session *s, struct gp_diag *diag)
{
	if (!s->trouble_count)
		return gp_rank_files_verdict(&s->ranks, diag);
	gp_diag_file(diag, s->failed_with);
	return gp_diag_set(diag, s->worst, "%s", s->troubles[0]);
}

static void release(struct session *s)
{
	for (size_t i = 0; i < s->trouble_count; i++)
		free(s->troubles[i]);
	free(s->troubles);
	free(s->names);
	gp_grid_release(&s->grid);
	free(s->entries);
	free(s->runs);
	gp_prices_destroy(s->own_prices);
	gp_ranks_release(&s->ranks);
}

static enum gp_status compare_command(const struct gp_options *options,
				      struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options),
	};
	enum gp_status status = add_engines(&s, diag);

	if (status == GP_OK)
		status = compare_all(&s, diag);
	if (status == GP_OK) {
		sort_runs(&s);
		s.report.entries = s.entries;
		s.report.runs = s.runs;
		gp_engines_sum(&s.report);
	}
	gp_progress_end(&s.progress);
	if (status == GP_OK)
		status =
			gp_outlet_report_as_is(options, write_report, &s, diag);
	if (status == GP_OK)
		status = verdict(&s, diag);
	release(&s);
	return status;
}

static const struct gp_option compare_options[] = {
	{ "engine", 0, GP_OPTION_TEXT, GP_AT(engine), "NAME,...",
	  "The allocators: names from gpupool help engines, and libraries such "
	  "as ./mine.so. Default: all that need neither a GPU nor anything "
	  "installed, and caching with expandable segments. host: the "
	  "allocators of host programs." },
	{ "alloc-conf", 0, GP_OPTION_CONFS, GP_AT(confs), "STRING",
	  "Also compare PyTorch's allocator under these settings; may be given "
	  "more than once." },
	{ "set", 0, GP_OPTION_LIST, GP_AT(sets), "NAME=VALUE,...",
	  "Run each engine that has this setting once for each of these "
	  "values; none: the default, or, for PyTorch's settings, as recorded. "
	  "Given more than once: all combinations." },
	{ "need", 0, GP_OPTION_FLAG, GP_AT(details), NULL,
	  "Find the smallest capacity that serves every request, by more "
	  "replays." },
	{ "format", 0, GP_OPTION_FORMAT, GP_AT(format),
	  "text|json|csv|markdown|html",
	  "For people, for programs, as a table, or as a page for a browser." },
	{ 0 },
};

const struct gp_command gp_compare_command = {
	.name = "compare",
	.operands = "TRACE...",
	.least = 1,
	.most = 100000,
	.sentence = "Replay traces with several allocators, side by side.",
	.about = "Shows the most that each would have reserved, how that "
		 "compares with the floor (a packing of the same lifetimes), "
		 "and the device calls. For several traces also the mean, the "
		 "worst, and how often it reserved the least.\n"
		 "TRACE may be a folder: all traces in it; those that are "
		 "alike are compared once.",
	.options = "engine alloc-conf set need torch capacity prices format "
		   "output "
		   "ascii color max-input quiet",
	.own = compare_options,
	.run = compare_command,
};
