/* SPDX-License-Identifier: MIT */
/* Runs of one device of a trace, each of which answers more than one
 * question. */
#include "study/runs.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/ranges.h"
#include "study/branches.h"
#include "study/same.h"
#include "study/sweep/thread_pool.h"

#define GRAIN	 GP_DEVICE_GRAIN
#define INFINITE UINT64_MAX

struct run {
	struct gp_settings settings;
	char *conf; /* owned; NULL: irrelevant beside settings */
	struct gp_alike alike;
	bool is_whole; /* to the end of the trace */
	struct run_outcome outcome;
};

/* A run made in advance and not used yet. */
struct foreseen {
	struct run_asked asked;
	struct gp_replay_result result;
	bool is_there; /* false: it failed, or was used */
};

/* The runs of a range of capacities, made in advance. */
struct ranged {
	struct gp_settings settings;
	uint64_t from, to;
	struct branches branches;
};

/* The ranges by which runs are found: in each, a run answers for a range of
 * bytes. */
enum way { BY_CAPACITY, BY_MAX_SPLIT, BY_NON_SPLIT, BY_LARGE_SEGMENT, WAYS };

struct runs {
	struct runs_config config;
	struct run *list;
	size_t count, room;
	struct gp_ranges by[WAYS];
	uint32_t made;
	struct foreseen *foreseen;
	size_t foreseen_count, foreseen_room;
	struct ranged *ranged;
	size_t ranged_count, ranged_room;
	struct same same;
	bool sets_limit; /* the trace sets a memory fraction */
};

struct runs *runs_create(const struct runs_config *config)
{
	struct runs *runs = gp_mem_alloc(1, sizeof(*runs));
	const struct gp_device_trace *t;

	runs->config = *config;
	t = &config->trace->devices[config->device];
	for (size_t i = 0; i < t->event_count; i++)
		runs->sets_limit |= t->events[i].kind == GP_SET_FRACTION;
	same_init(&runs->same, config->trace, config->device);
	return runs;
}

void runs_destroy(struct runs *runs)
{
	if (!runs)
		return;
	for (size_t i = 0; i < runs->count; i++)
		free(runs->list[i].conf);
	free(runs->list);
	for (enum way way = 0; way < WAYS; way++)
		gp_ranges_release(&runs->by[way]);
	runs_forget(runs);
	free(runs->foreseen);
	for (size_t i = 0; i < runs->ranged_count; i++)
		branches_release(&runs->ranged[i].branches);
	free(runs->ranged);
	same_release(&runs->same);
	free(runs);
}

uint32_t runs_made(const struct runs *runs)
{
	return runs->made;
}

/* ---- capacities for which a run is the same ---- */

static bool is_default_engine(const struct runs *runs)
{
	size_t count;

	return runs->config.engine == gp_engine_table(&count);
}

/* Garbage collection starts at a fraction of a limit, and does not exist
 * without one. */
static bool follows_size(const struct runs *runs,
			 const struct gp_settings *settings)
{
	return settings->throw_on_oom || settings->memory_fraction < 1 ||
	       settings->reserve_fraction > 0 || runs->sets_limit ||
	       runs->same.sets_settings;
}

/* Only the default engine reports its reservations (struct gp_device_reach). */
static bool knows_ranges(const struct runs *runs,
			 const struct gp_settings *settings)
{
	return !settings->expandable_segments || is_default_engine(runs);
}

static bool is_plain(const struct runs *runs,
		     const struct gp_settings *settings)
{
	return !follows_size(runs, settings) && knows_ranges(runs, settings);
}

/* The smallest capacity with which a reservation could have that many bytes
 * after rounding up to a page. */
static uint64_t near_range(const struct gp_settings *settings, uint64_t bytes)
{
	uint64_t page = settings->large_segment_size;

	if (bytes == UINT64_MAX)
		return INFINITE;
	return bytes > page ? (bytes - page) / 9 * 8 / GRAIN * GRAIN : 0;
}

/* Rounds up; UINT64_MAX becomes INFINITE. */
static uint64_t end_at(uint64_t bytes)
{
	return bytes == UINT64_MAX ? INFINITE : runs_grid_up(bytes);
}

static void find_range(struct run_outcome *outcome,
		       const struct gp_settings *settings,
		       const struct gp_device_reach *reach)
{
	bool is_unlimited = outcome->capacity == GP_UNLIMITED;

	outcome->from = outcome->capacity;
	outcome->to = is_unlimited ? 0 : outcome->capacity + 1;
	outcome->least_capacity = runs_grid_up(reach->most_granted);
	if (!outcome->is_plain)
		return;
	outcome->least_capacity = gp_larger(
		outcome->least_capacity, runs_with_range(reach->longest_range));
	outcome->from = gp_smaller(outcome->from, outcome->least_capacity);
	outcome->to = gp_larger(
		outcome->to,
		gp_smaller(end_at(reach->least_refused),
			   near_range(settings, reach->shortest_range)));
}

/* ---- finding ---- */

/* The results of a run with failures, such as the free memory at the first one,
 * depend on the size of the device. */
static bool speaks_for(const struct run *run, uint64_t capacity,
		       enum gp_on_oom on_oom)
{
	const struct run_outcome *outcome = &run->outcome;

	if (!run->is_whole && on_oom == GP_OOM_GO_ON)
		return false;
	if (capacity == outcome->capacity)
		return true;
	if (outcome->first_oom.is_there && on_oom == GP_OOM_GO_ON)
		return false;
	if (capacity == GP_UNLIMITED)
		return outcome->from <= GP_SIM_UNLIMITED_TOTAL &&
		       outcome->to == INFINITE;
	return outcome->from <= capacity && capacity < outcome->to;
}

static bool is_of_settings(const struct runs *runs, const struct run *run,
			   const struct run_asked *asked)
{
	if (run->conf && (!asked->conf || strcmp(run->conf, asked->conf) != 0))
		return false;
	return same_holds(&runs->same, &run->alike, &run->settings,
			  asked->settings);
}

/* The runs that may answer, from the index in which they are fewest. */
static struct gp_ranges_walk candidates(const struct runs *runs,
					const struct run_asked *asked)
{
	const uint64_t at[WAYS] = {
		[BY_CAPACITY] = asked->capacity,
		[BY_MAX_SPLIT] = asked->settings->max_split_size,
		[BY_NON_SPLIT] = asked->settings->max_non_split_rounding,
		[BY_LARGE_SEGMENT] = asked->settings->large_segment_size,
	};
	size_t least = SIZE_MAX;
	enum way best = BY_CAPACITY;

	for (enum way way = 0; way < WAYS; way++) {
		size_t count = gp_ranges_count(&runs->by[way], at[way]);

		if (count < least) {
			least = count;
			best = way;
		}
	}
	return gp_ranges_at(&runs->by[best], at[best]);
}

/* The first run that answers; NULL: none. Valid until the next run is made. */
static const struct run_outcome *find_run(const struct runs *runs,
					  const struct run_asked *asked)
{
	const struct run *first = NULL;
	struct gp_ranges_walk walk = candidates(runs, asked);

	while (gp_ranges_next(&walk)) {
		const struct run *run = &runs->list[walk.item];

		if ((!first || run < first) &&
		    speaks_for(run, asked->capacity, asked->on_oom) &&
		    is_of_settings(runs, run, asked))
			first = run;
	}
	return first ? &first->outcome : NULL;
}

/* An unlimited run speaks for GP_UNLIMITED, whatever its range. */
static void index_run(struct runs *runs, const struct run *run)
{
	const struct run_outcome *outcome = &run->outcome;
	const struct gp_alike *alike = &run->alike;
	bool is_unlimited = outcome->capacity == GP_UNLIMITED;
	const struct {
		uint64_t least, most;
	} by[WAYS] = {
		[BY_CAPACITY] = { outcome->from, is_unlimited
							 ? GP_UNLIMITED
							 : outcome->to - 1 },
		[BY_MAX_SPLIT] = { alike->max_split_least,
				   alike->max_split_most },
		[BY_NON_SPLIT] = { alike->non_split_least,
				   alike->non_split_most },
		[BY_LARGE_SEGMENT] = { alike->large_least, alike->large_most },
	};

	for (enum way way = 0; way < WAYS; way++)
		gp_ranges_add(&runs->by[way], by[way].least, by[way].most,
			      (uint32_t)(run - runs->list));
}

/* ---- making ---- */

static struct run *add(struct runs *runs, const struct run_asked *asked,
		       const struct gp_alike *alike,
		       const struct run_outcome *outcome,
		       const struct gp_device_reach *reach)
{
	struct run *run;
	bool keeps_conf = !is_default_engine(runs) && asked->conf;

	GP_GROW(runs->list, runs->count + 1, runs->room);
	run = &runs->list[runs->count++];
	*run = (struct run){
		.settings = *asked->settings,
		.conf = keeps_conf ? gp_mem_copy_text(asked->conf,
						      strlen(asked->conf))
				   : NULL,
		.alike = *alike,
		.is_whole = asked->on_oom == GP_OOM_GO_ON ||
			    !outcome->first_oom.is_there,
		.outcome = *outcome,
	};
	run->outcome.capacity = asked->capacity;
	run->outcome.follows_size =
		follows_size(runs, asked->settings) || reach->is_size_told;
	run->outcome.is_plain =
		is_plain(runs, asked->settings) && !reach->is_size_told;
	find_range(&run->outcome, asked->settings, reach);
	index_run(runs, run);
	runs->made++;
	return run;
}

static struct run *add_replay(struct runs *runs, const struct run_asked *asked,
			      const struct gp_replay_result *result)
{
	const struct run_outcome outcome = {
		.ooms = result->ooms.count,
		.retries = (uint64_t)result->counts.retries,
		.refused = result->refused,
		.reserved = result->at_peak.reserved,
		.peak_allocated = gp_replay_peak_allocated(result),
		.calls = result->calls,
		.synchronizes = result->counts.synchronizes,
		.has_room = gp_replay_has_room(result),
		.first_oom = result->first_oom,
	};

	return add(runs, asked, &result->alike, &outcome, &result->reach);
}

static struct run *add_branch(struct runs *runs, const struct run_asked *asked,
			      const struct branch_facts *facts)
{
	const struct run_outcome outcome = {
		.ooms = facts->is_out,
		.retries = facts->retries,
		.refused = facts->refused,
		.reserved = facts->reserved,
		.peak_allocated = facts->allocated,
		.calls = facts->calls,
		.synchronizes = (int64_t)facts->synchronizes,
		.has_room = !facts->is_out,
		.first_oom = { .is_there = facts->is_out,
			       .event = facts->event },
	};

	return add(runs, asked, &facts->alike, &outcome, &facts->reach);
}

static enum gp_status make(const struct runs *runs,
			   const struct run_asked *asked,
			   struct gp_replay_result *result,
			   struct gp_diag *diag)
{
	const struct gp_replay_config replay = {
		.trace = runs->config.trace,
		.device = runs->config.device,
		.settings = asked->settings,
		.engine = runs->config.engine,
		.conf = asked->conf,
		.torch_lib = runs->config.torch_lib,
		.places = runs->config.places,
		.mode = GP_WHAT_IF,
		.on_oom = asked->on_oom,
		.capacity = asked->capacity,
		.keep_alike = true,
	};

	return gp_replay(&replay, result, diag);
}

/* ---- runs made in advance ---- */

static struct foreseen *find_foreseen(const struct runs *runs,
				      const struct run_asked *asked)
{
	for (size_t i = 0; i < runs->foreseen_count; i++) {
		struct foreseen *f = &runs->foreseen[i];

		if (f->is_there && f->asked.conf == asked->conf &&
		    f->asked.capacity == asked->capacity &&
		    f->asked.on_oom == asked->on_oom)
			return f;
	}
	return NULL;
}

/* Thread pool callback. */
static void make_foreseen(void *arg, size_t piece)
{
	struct runs *runs = arg;
	struct foreseen *f = &runs->foreseen[piece];
	struct gp_diag ignored = { 0 };

	if (!f->is_there)
		f->is_there =
			make(runs, &f->asked, &f->result, &ignored) == GP_OK;
}

static void drop_taken(struct runs *runs)
{
	size_t kept = 0;

	for (size_t i = 0; i < runs->foreseen_count; i++)
		if (runs->foreseen[i].is_there)
			runs->foreseen[kept++] = runs->foreseen[i];
	runs->foreseen_count = kept;
}

static void add_foreseen(struct runs *runs, const struct run_asked *asked)
{
	GP_GROW(runs->foreseen, runs->foreseen_count + 1, runs->foreseen_room);
	runs->foreseen[runs->foreseen_count++] =
		(struct foreseen){ .asked = *asked };
}

/* ---- all runs of a range ---- */

static bool is_under(const struct runs *runs, const struct ranged *ranged,
		     const struct gp_settings *settings)
{
	struct gp_alike alike = gp_alike_of(&ranged->settings);

	return same_holds(&runs->same, &alike, &ranged->settings, settings);
}

/* NULL: there is no answer. */
static const struct branch_facts *facts_in(const struct branches *branches,
					   const struct run_asked *asked)
{
	const struct branch_result *one;

	one = branches_find(branches, asked->capacity);
	if (!one || (one->facts.is_out && asked->on_oom == GP_OOM_GO_ON))
		return NULL;
	return &one->facts;
}

static const struct branch_facts *find_facts(const struct runs *runs,
					     const struct run_asked *asked)
{
	const struct branch_facts *facts = NULL;

	for (size_t i = 0; i < runs->ranged_count && !facts; i++)
		if (is_under(runs, &runs->ranged[i], asked->settings))
			facts = facts_in(&runs->ranged[i].branches, asked);
	return facts;
}

/* For so few capacities, separate runs are as fast. */
#define FEW_CAPACITIES 4

static bool is_ranged(const struct runs *runs, const struct run_asked *asked)
{
	for (size_t i = 0; i < runs->ranged_count; i++)
		if (is_under(runs, &runs->ranged[i], asked->settings))
			return false;
	return is_default_engine(runs) && is_plain(runs, asked->settings) &&
	       branches_follow(runs->config.trace, runs->config.device);
}

static enum gp_status play_range(struct runs *runs,
				 const struct run_asked *asked,
				 const struct runs_range *range, uint64_t from,
				 uint64_t to, struct gp_diag *diag)
{
	const struct gp_device_trace *t =
		&runs->config.trace->devices[runs->config.device];
	const struct branches_config config = {
		.trace = runs->config.trace,
		.device = runs->config.device,
		.settings = asked->settings,
		.engine = runs->config.engine,
		.conf = asked->conf,
		.from = from,
		.to = to,
		.most_events = range->most * t->event_count,
		.threads = range->threads,
		.progress = range->progress,
		.progress_arg = range->progress_arg,
	};
	struct branches branches;
	enum gp_status status;

	if (from >= to || (to - from) / GRAIN < FEW_CAPACITIES)
		return GP_OK;
	status = branches_play(&config, &branches, diag);
	if (status != GP_OK)
		return status;
	GP_GROW(runs->ranged, runs->ranged_count + 1, runs->ranged_room);
	runs->ranged[runs->ranged_count++] =
		(struct ranged){ *asked->settings, from, to, branches };
	return GP_OK;
}

/*
 * Branches use reservations of the length that the largest device of the range
 * has, and give up smaller devices for which that matters. Their capacities are
 * run again, except those just below the next known one: there a reservation
 * has the same length after rounding up to a page.
 */
static enum gp_status play_gaps(struct runs *runs,
				const struct run_asked *asked,
				const struct runs_range *range, size_t index,
				struct gp_diag *diag)
{
	const struct ranged ranged = runs->ranged[index];
	const struct branch_result *list = ranged.branches.list;
	uint64_t page = runs_grid_up(asked->settings->large_segment_size);
	uint64_t from = ranged.from, near = page + GRAIN;
	enum gp_status status = GP_OK;

	for (size_t i = 0; i <= ranged.branches.count && status == GP_OK; i++) {
		bool is_end = i == ranged.branches.count;
		uint64_t to = is_end ? ranged.to : list[i].from;

		if (to > from + near)
			status = play_range(runs, asked, range, from, to - near,
					    diag);
		from = is_end ? to : list[i].to;
	}
	return status;
}

#define MOST_RANGES 8

enum gp_status runs_foresee_range(struct runs *runs,
				  const struct run_asked *asked,
				  const struct runs_range *range,
				  struct gp_diag *diag)
{
	size_t first = runs->ranged_count;
	enum gp_status status;

	if (!range->most || !is_ranged(runs, asked))
		return GP_OK;
	status = play_range(runs, asked, range, range->from, range->to, diag);
	for (size_t i = first;
	     asked->settings->expandable_segments && i < runs->ranged_count &&
	     i < first + MOST_RANGES && status == GP_OK;
	     i++)
		status = play_gaps(runs, asked, range, i, diag);
	return status;
}

/* ---- one by one, on several threads ---- */

void runs_foresee(struct runs *runs, const struct run_asked *asked,
		  size_t count, size_t threads)
{
	size_t begun = 0, most = gp_smaller(threads, RUNS_FORESEEN);

	if (threads < 2 || !is_default_engine(runs))
		return;
	drop_taken(runs);
	for (size_t i = 0; i < count && begun < most; i++) {
		if (!find_run(runs, &asked[i]) &&
		    !find_facts(runs, &asked[i]) &&
		    !find_foreseen(runs, &asked[i])) {
			add_foreseen(runs, &asked[i]);
			begun++;
		} else if (!i) {
			return;
		}
	}
	gp_thread_pool_run(&(struct gp_thread_pool_config){
		.threads = threads,
		.count = runs->foreseen_count,
		.work = make_foreseen,
		.arg = runs,
	});
}

void runs_forget(struct runs *runs)
{
	for (size_t i = 0; i < runs->foreseen_count; i++)
		if (runs->foreseen[i].is_there)
			gp_replay_release(&runs->foreseen[i].result);
	runs->foreseen_count = 0;
}

/* ---- asking ---- */

static enum gp_status ask(struct runs *runs, const struct run_asked *asked,
			  struct gp_replay_result *result, struct gp_diag *diag)
{
	struct foreseen *foreseen = find_foreseen(runs, asked);

	if (!foreseen)
		return make(runs, asked, result, diag);
	*result = foreseen->result;
	foreseen->is_there = false;
	return GP_OK;
}

enum gp_status runs_ask(struct runs *runs, const struct run_asked *asked,
			const struct run_outcome **outcome,
			struct gp_diag *diag)
{
	const struct branch_facts *facts;
	struct gp_replay_result result;
	enum gp_status status;

	*outcome = find_run(runs, asked);
	if (*outcome)
		return GP_OK;
	facts = find_facts(runs, asked);
	if (facts) {
		*outcome = &add_branch(runs, asked, facts)->outcome;
		return GP_OK;
	}
	status = ask(runs, asked, &result, diag);
	if (status != GP_OK)
		return status;
	*outcome = &add_replay(runs, asked, &result)->outcome;
	gp_replay_release(&result);
	return GP_OK;
}
