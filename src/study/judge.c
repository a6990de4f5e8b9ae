/* SPDX-License-Identifier: MIT */
/*
 * The judge: derives the verdict on the trace from the settings that were tried
 * (study_cases is the outline).
 *
 * Until a case is judged, its kind is GP_VERDICT_FITS, unless it is undecided
 * or too small whatever is tried. The current group is the cases that a
 * choice of a setting is for.
 */
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "study/choice.h"
#include "study/runs.h"
#include "study/search.h"
#include "study/trial.h"
#include "trace/site.h"

/* The default budget of a search: this many events, which takes a minute or
 * two, but no fewer than this many runs. */
#define BUDGET_EVENTS UINT64_C(2000000000)
#define BUDGET_RUNS   300

const char *const gp_verdict_kinds[] = {
	[GP_VERDICT_FITS] = "fits",
	[GP_VERDICT_SETTING] = "setting",
	[GP_VERDICT_TOO_SMALL] = "too-small",
	[GP_VERDICT_NO_SETTING] = "no-setting",
	[GP_VERDICT_UNDECIDED] = "undecided",
};

const char *const gp_verdict_causes[] = {
	[GP_BY_NONE] = "",
	[GP_BY_CAPACITY] = "capacity",
	[GP_BY_FRAGMENTATION] = "fragmentation",
	[GP_BY_LIMIT] = "memory-limit",
	[GP_BY_SETTINGS] = "settings",
	[GP_BY_CHOICE] = "excluded",
	[GP_BY_OTHERS] = "others",
};

/* ---- what is known before any choice ---- */

static void note_facts(const struct gp_study_config *config,
		       const struct gp_case *c, struct gp_verdict *v)
{
	const struct gp_device_trace *t = &c->trace->devices[c->device];
	uint32_t device;
	uint64_t event;

	*v = (struct gp_verdict){
		.release = config->release,
		.capacity = c->capacity,
		.capacity_below = c->below,
		.start = gp_state_reserved(&t->start),
		.begins = t->start.segment_count ? GP_BEGINS_WINDOW
						 : GP_BEGINS_WHOLE,
		.ends = gp_study_ends(c->trace, c->device),
		.was_refused = gp_study_refused(c->trace, &device, &event),
		.platform = gp_trace_platform(c->trace),
		.was_limited = gp_replay_was_limited(c->trace, c->device),
	};
	v->others = gp_study_live_beside(c->trace, c->device, &v->live);
	v->others -= v->live;
	v->is_unplayable =
		gp_replay_undecided(c->trace, c->device, c->capacity) ||
		!gp_trace_has_allocs(t);
	/* Live memory is a proof, even without a run. */
	if (v->live + v->others > c->capacity)
		v->kind = GP_VERDICT_TOO_SMALL;
	else if (v->is_unplayable)
		v->kind = GP_VERDICT_UNDECIDED;
}

/* A profile includes what was reserved before it began, without the requests.
 * Live memory still proves that a device is too small. */
static void note_recorded(struct study_state *s, size_t index)
{
	const struct gp_case *c = &s->config->cases[index];
	const struct gp_recorded recorded =
		gp_trace_recorded(c->trace, c->device);
	struct gp_verdict *v = &s->study->verdicts[index];
	uint64_t peak;

	if (!recorded.has_reserved || v->is_unplayable)
		return;
	peak = trial_peak(s, index);
	if (!peak || !gp_study_is_less(peak, recorded.reserved))
		return;
	v->recorded = recorded.reserved;
	if (recorded.has_first && recorded.first_reserved > v->start) {
		v->begins = GP_BEGINS_WINDOW;
		v->start = recorded.first_reserved;
	}
	if (v->kind != GP_VERDICT_TOO_SMALL && v->recorded > v->capacity)
		v->kind = GP_VERDICT_UNDECIDED;
}

static void notify(const struct study_state *s, const char *what)
{
	if (s->config->progress)
		s->config->progress(s->config->progress_arg, what);
}

/* Tries the table's settings, in addition to the present one. */
static void try_table(struct study_state *s)
{
	const struct gp_study_config *config = s->config;
	size_t count;
	const struct gp_candidate_conf *table = gp_candidate_table(&count);

	for (size_t i = 0; i < count; i++)
		trial_add(s, gp_candidate_apply(config->conf, table[i].conf),
			  &table[i]);
	trials_play(s);
}

static uint32_t tried(const struct gp_study *study)
{
	uint32_t count = 0;

	for (size_t i = 0; i < study->count; i++)
		count += trial_is_possible(&study->trials[i]);
	return count;
}

/* ---- groups ---- */

static void take_none(struct study_state *s)
{
	memset(s->is_in, 0, s->study->case_count * sizeof(*s->is_in));
}

static void take_only(struct study_state *s, size_t index)
{
	take_none(s);
	s->is_in[index] = true;
}

/* Returns the number of cases in the group. */
static size_t take_kind(struct study_state *s, enum gp_verdict_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < s->study->case_count; i++) {
		s->is_in[i] = s->study->verdicts[i].kind == kind;
		count += s->is_in[i];
	}
	return count;
}

/* Whether any case is to be played. */
static bool has_played(const struct study_state *s)
{
	for (size_t i = 0; i < s->study->case_count; i++)
		if (trial_is_played(&s->study->verdicts[i]))
			return true;
	return false;
}

/* ---- cases that are neither undecided nor too small ---- */

static bool is_fine(const struct study_state *s, const struct gp_trial *trial)
{
	return trial_is_served(s, trial) && !trial->is_excluded &&
	       trial_is_possible(trial);
}

/* The trial to advise to the group: 0, the present setting; the study's count,
 * none. */
static size_t choose_for_group(struct study_state *s)
{
	struct gp_study *study = s->study;
	uint64_t limit = GP_UNLIMITED;
	size_t best;

	if (is_fine(s, &study->trials[0]))
		limit = choice_limit(s);
	best = choice_best(s, ALLOWED, limit);
	study->unconstrained = best;
	if (s->config->without_count)
		study->unconstrained = choice_best(s, EVERYBODY, limit);
	if (best == study->count && is_fine(s, &study->trials[0]))
		return 0;
	return best;
}

/* Finds the setting with the smallest need of all that can be searched: no
 * other one serves the trace with a granule less. */
static void search_nearest(struct study_state *s, struct search *search)
{
	struct gp_verdict *v = &s->study->verdicts[search->index];
	bool none_serves = search->is_complete;

	notify(s, "searching for the setting that needs the least");
	search_least(s, none_serves && v->begins == GP_BEGINS_WHOLE, search);
	v->trial = choice_nearest(s);
	v->is_complete = search->is_complete && none_serves;
}

static bool is_served_by_any(struct study_state *s, bool for_sure)
{
	for (size_t i = 0; i < s->study->count; i++) {
		struct gp_trial *trial = &s->study->trials[i];

		if (choice_takes_part(trial, ALLOWED) &&
		    trial_is_served(s, trial) &&
		    (!for_sure || trial_is_sure(s, trial)))
			return true;
	}
	return false;
}

/* A window does not show what other settings would have cached before it, so a
 * replay from its start proves nothing about them, whether it fails or not. */
static void judge_window(struct study_state *s, size_t index)
{
	struct gp_verdict *v = &s->study->verdicts[index];
	size_t likely = choice_likely(s, index);

	v->kind = GP_VERDICT_UNDECIDED;
	v->is_failure = true;
	v->trial = likely < s->study->count ? likely : 0;
}

/* Only if nothing else serves the case, because limits are set for a reason. */
static void try_without_limits(struct study_state *s)
{
	const struct gp_candidate_conf *lifted;
	struct gp_trial *trial;
	size_t next = 0;
	char *conf;

	while (!is_served_by_any(s, false) &&
	       (lifted = gp_candidate_lifted(s->config->conf, &next, &conf))) {
		trial = trial_add(s, conf, lifted);
		if (trial)
			trial_play(s, trial);
	}
}

static bool is_served_by_excluded(const struct study_state *s, size_t index)
{
	for (size_t i = 0; i < s->study->count; i++) {
		const struct gp_trial *trial = &s->study->trials[i];

		if (trial->is_excluded && trial->cases[index].is_served)
			return true;
	}
	return false;
}

/* For a case that nothing in the table serves: searches all values. */
static void search_case(struct study_state *s, size_t index,
			struct search *search)
{
	struct gp_verdict *v = &s->study->verdicts[index];
	uint32_t before = search->runs;

	take_only(s, index);
	try_without_limits(s);
	search->index = index;
	if (!is_served_by_any(s, false)) {
		notify(s, "searching all values");
		search_serving(s, search);
	}
	if (!is_served_by_any(s, false) && v->begins == GP_BEGINS_WHOLE)
		search_together(s, search);
	if (is_served_by_any(s, true)) {
		/* The group's choice comes later. */
	} else if (trial_is_of_part(v)) {
		judge_window(s, index);
	} else {
		v->kind = GP_VERDICT_NO_SETTING;
		v->is_constrained = is_served_by_excluded(s, index);
		search_nearest(s, search);
	}
	v->searched = search->runs - before;
}

/* For cases that each have a setting that serves, without one that serves
 * all. */
static void judge_alone(struct study_state *s)
{
	struct gp_study *study = s->study;

	study->is_divided = true;
	for (size_t i = 0; i < study->case_count; i++) {
		struct gp_verdict *v = &study->verdicts[i];

		if (v->kind != GP_VERDICT_FITS)
			continue;
		take_only(s, i);
		if (is_fine(s, &study->trials[0]))
			continue;
		v->trial = choice_best(s, ALLOWED, GP_UNLIMITED);
		v->kind = GP_VERDICT_SETTING;
	}
}

/* Advises one setting to all cases of the group. */
static void advise(struct study_state *s, size_t best)
{
	struct gp_study *study = s->study;

	study->best = best;
	study->is_change = best;
	for (size_t i = 0; i < study->case_count; i++) {
		struct gp_verdict *v = &study->verdicts[i];

		if (v->kind != GP_VERDICT_FITS)
			continue;
		v->trial = best;
		take_only(s, i);
		if (!is_fine(s, &study->trials[0]))
			v->kind = GP_VERDICT_SETTING;
	}
}

/* Judges all cases that are neither undecided nor too small. Those that nothing
 * serves get their verdict first, and leave the group. */
static void judge_open(struct study_state *s, struct search *search)
{
	struct gp_study *study = s->study;
	size_t best;

	if (!take_kind(s, GP_VERDICT_FITS))
		return;
	best = choose_for_group(s);
	if (best == study->count) {
		size_t unconstrained = study->unconstrained;

		for (size_t i = 0; i < study->case_count; i++)
			if (study->verdicts[i].kind == GP_VERDICT_FITS)
				search_case(s, i, search);
		if (!take_kind(s, GP_VERDICT_FITS))
			return;
		best = choose_for_group(s);
		if (best == study->count) {
			notify(s, "searching pairs of settings");
			search_pairs(s, search);
			best = choose_for_group(s);
		}
		study->unconstrained = unconstrained;
	}
	if (best == study->count)
		judge_alone(s);
	else
		advise(s, best);
}

/* No setting can help: the trial is the one of the table with the smallest
 * need. */
static void judge_too_small(struct study_state *s)
{
	for (size_t i = 0; i < s->study->case_count; i++) {
		struct gp_verdict *v = &s->study->verdicts[i];

		if (v->kind != GP_VERDICT_TOO_SMALL || v->is_unplayable)
			continue;
		take_only(s, i);
		v->trial = choice_nearest(s);
	}
}

/* ---- the verdict ---- */

/* Live memory is a lower bound for any allocator. What a run without a limit
 * reserves is an upper bound. */
static void note_bounds(const struct gp_trial_case *best, struct gp_verdict *v)
{
	if (v->recorded) {
		v->low = v->live;
		v->need = v->high = v->recorded;
	}
	if (!best->high)
		return;
	v->need = best->estimated;
	v->low = gp_smaller(gp_larger(v->live + v->others, best->low), v->need);
	v->high = best->high > v->need ? best->high : v->need;
}

/* No device can be tried that is too small for what a window begins with. */
static bool is_at_most(const struct gp_study_config *config,
		       const struct gp_trial_case *as_it_is,
		       const struct gp_verdict *v)
{
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };

	gp_settings_init(&settings, config->release);
	gp_settings_parse(&settings, config->conf, &ignored);
	return v->begins == GP_BEGINS_WINDOW && v->kind == GP_VERDICT_FITS &&
	       !as_it_is->high && v->live + v->others < v->start &&
	       v->need_as_recorded <
		       gp_settings_device_for(&settings, v->start) +
			       GP_DEVICE_GRAIN;
}

static void note_start(struct gp_verdict *v)
{
	if (!v->is_at_most || v->high || v->need != v->need_as_recorded)
		return;
	v->low = v->live + v->others;
	v->high = v->need;
}

/* A limit that is not in the trace, an open pool or a graph capture may have
 * kept memory from the request. */
static bool is_unexplained(const struct gp_study_config *config,
			   const struct gp_case *c, const struct gp_verdict *v)
{
	return v->kind == GP_VERDICT_FITS &&
	       gp_study_refused_on(c->trace, c->device) &&
	       c->capacity != GP_UNLIMITED &&
	       c->capacity == gp_replay_capacity_of(c->trace, c->device) &&
	       !strcmp(config->conf, gp_trace_conf(c->trace));
}

static bool is_advised(const struct gp_verdict *v)
{
	return v->trial &&
	       (v->kind == GP_VERDICT_FITS || v->kind == GP_VERDICT_SETTING);
}

/* Whether live memory exceeds the memory fraction while that is in force,
 * before the first failure or after it. */
static bool exceeds_limit(const struct gp_case *c, const struct gp_oom *oom)
{
	uint64_t live = gp_study_live_under(c->trace, c->device, oom->event);

	return gp_larger(live, oom->live + oom->size) > oom->limit;
}

/* Why the present setting does not serve: shown by its first failure. */
static enum gp_verdict_cause cause_of(const struct gp_case *c,
				      const struct gp_trial_case *as_it_is,
				      const struct gp_verdict *v)
{
	const struct gp_oom *oom = &as_it_is->first_oom;

	if (v->kind == GP_VERDICT_FITS)
		return GP_BY_NONE;
	if (v->kind == GP_VERDICT_TOO_SMALL)
		return GP_BY_CAPACITY;
	if (as_it_is->is_served)
		return GP_BY_CHOICE;
	if (!oom->is_there)
		return as_it_is->has_room ? GP_BY_SETTINGS : GP_BY_OTHERS;
	if (oom->limit != GP_UNLIMITED)
		return exceeds_limit(c, oom) ? GP_BY_LIMIT
					     : GP_BY_FRAGMENTATION;
	return oom->device_free < oom->segment_size ? GP_BY_FRAGMENTATION
						    : GP_BY_SETTINGS;
}

/* The missing bytes, or their lower bound if no more is known; GP_UNLIMITED: it
 * fails on any device. */
static uint64_t missing(const struct gp_verdict *v)
{
	if (v->need == GP_UNLIMITED)
		return GP_UNLIMITED;
	if (v->recorded)
		return v->low > v->capacity ? v->low - v->capacity : 0;
	return v->need > v->capacity ? v->need - v->capacity : 0;
}

/* Live memory shows that at least this much is missing; the need is unknown. */
static void fill_unplayed(struct gp_verdict *v)
{
	v->cause = GP_BY_CAPACITY;
	v->missing = v->live + v->others - v->capacity;
	v->is_complete = true;
}

static void fill_verdict(struct study_state *s, size_t index)
{
	struct gp_study *study = s->study;
	const struct gp_case *c = &s->config->cases[index];
	struct gp_verdict *v = &study->verdicts[index];
	struct gp_trial *best = &study->trials[v->trial];
	struct gp_trial_case *as_it_is = &study->trials[0].cases[index];

	v->searched += tried(study);
	if (v->kind == GP_VERDICT_TOO_SMALL && v->is_unplayable)
		fill_unplayed(v);
	if (gp_verdict_is_open(v))
		return;
	v->cause = cause_of(c, as_it_is, v);
	v->is_unexplained = is_unexplained(s->config, c, v);
	take_only(s, index);
	trial_measure(s, &study->trials[0]);
	if (v->recorded)
		as_it_is->need = v->recorded;
	trial_estimate(s, &study->trials[0]);
	trial_estimate(s, best);
	v->need = v->is_failure ? 0 : best->cases[index].need;
	note_bounds(&best->cases[index], v);
	v->need_as_recorded =
		as_it_is->high ? as_it_is->estimated : as_it_is->need;
	v->is_at_most = is_at_most(s->config, as_it_is, v);
	note_start(v);
	if (is_advised(v))
		v->conf = gp_mem_copy_text(best->conf, strlen(best->conf));
	if (v->is_failure && v->high)
		v->likely = gp_mem_copy_text(best->conf, strlen(best->conf));
	if (v->kind == GP_VERDICT_NO_SETTING || v->kind == GP_VERDICT_TOO_SMALL)
		v->missing = missing(v);
	else if (v->capacity != GP_UNLIMITED && v->need < v->capacity &&
		 !v->is_failure)
		v->spare = v->capacity - v->need;
	if (v->kind != GP_VERDICT_NO_SETTING && !v->is_failure)
		v->is_complete = true;
}

/* Sets the need of each trial, over the cases that were played. */
static void note_needs(struct study_state *s)
{
	const struct gp_study *study = s->study;

	for (size_t i = 0; i < study->case_count; i++)
		s->is_in[i] = trial_is_played(&study->verdicts[i]);
	for (size_t i = 0; i < study->count; i++)
		study->trials[i].need = trial_need(s, &study->trials[i]);
}

static void fill_verdicts(struct study_state *s)
{
	struct gp_study *study = s->study;

	for (size_t i = 0; i < study->case_count; i++)
		fill_verdict(s, i);
	note_needs(s);
	if (!study->best && study->case_count)
		study->best =
			study->verdicts[gp_verdict_worst(study->verdicts,
							 study->case_count)]
				.trial;
}

/* ---- the study ---- */

static uint32_t budget_of(const struct gp_study_config *config)
{
	uint64_t events = 1, runs;

	for (size_t i = 0; i < config->case_count; i++) {
		const struct gp_case *c = &config->cases[i];

		if (c->trace->devices[c->device].event_count > events)
			events = c->trace->devices[c->device].event_count;
	}
	runs = BUDGET_EVENTS / events;
	if (config->budget)
		return config->budget;
	return runs < BUDGET_RUNS  ? BUDGET_RUNS
	       : runs > UINT32_MAX ? UINT32_MAX
				   : (uint32_t)runs;
}

/* Sets what the caller left at its default. */
static struct gp_study_config complete(const struct gp_study_config *given)
{
	struct gp_study_config config = *given;
	const char *recorded =
		given->case_count ? given->cases->trace->settings : NULL;
	size_t count;

	if (!config.conf)
		config.conf = recorded ? recorded : "";
	if (!config.engine)
		config.engine = gp_engine_table(&count);
	if (!config.prices)
		config.prices = gp_prices_built_in();
	return config;
}

static void study_cases(struct study_state *s)
{
	struct gp_study *study = s->study;
	const struct gp_study_config *config = s->config;
	struct search search = { .budget = budget_of(config) };

	for (size_t i = 0; i < config->case_count; i++)
		note_facts(config, &config->cases[i], &study->verdicts[i]);
	trial_add(s, gp_mem_copy_text(config->conf, strlen(config->conf)),
		  NULL);
	for (size_t i = 0; i < config->case_count; i++)
		note_recorded(s, i);
	if (has_played(s)) {
		try_table(s);
		judge_too_small(s);
		judge_open(s, &search);
	}
	fill_verdicts(s);
}

static struct runs **begin_runs(const struct gp_study_config *config)
{
	struct runs **runs =
		gp_mem_alloc(config->case_count + 1, sizeof(*runs));

	for (size_t i = 0; i < config->case_count; i++)
		runs[i] = runs_create(&(struct runs_config){
			.trace = config->cases[i].trace,
			.device = config->cases[i].device,
			.engine = config->engine,
		});
	return runs;
}

static enum gp_status check_cases(const struct gp_study_config *config,
				  struct gp_diag *diag)
{
	for (size_t i = 0; i < config->case_count; i++) {
		const struct gp_case *one = &config->cases[i];

		if (one->device >= one->trace->device_count)
			return gp_diag_set(diag, GP_USAGE,
					   "the trace has no device of index "
					   "%u",
					   one->device);
	}
	return GP_OK;
}

static enum gp_status study_checked(const struct gp_study_config *given,
				    struct gp_study *study,
				    struct gp_diag *diag)
{
	const struct gp_study_config config = complete(given);
	struct study_state s = {
		.config = &config,
		.study = study,
		.refused =
			gp_mem_alloc(config.case_count + 1, sizeof(*s.refused)),
		.is_in = gp_mem_alloc(config.case_count + 1, sizeof(*s.is_in)),
		.diag = diag,
	};

	*study = (struct gp_study){
		.verdicts = gp_mem_alloc(config.case_count + 1,
					 sizeof(*study->verdicts)),
		.case_count = config.case_count,
		.runs = begin_runs(&config),
	};
	study_cases(&s);
	free(s.refused);
	free(s.is_in);
	free(s.lives);
	if (s.status != GP_OK)
		gp_study_release(study);
	return s.status;
}

enum gp_status gp_study(const struct gp_study_config *config,
			struct gp_study *study, struct gp_diag *diag)
{
	enum gp_status status = check_cases(config, diag);

	return status == GP_OK ? study_checked(config, study, diag) : status;
}

void gp_study_release(struct gp_study *study)
{
	for (size_t i = 0; i < study->count; i++) {
		free(study->trials[i].conf);
		free(study->trials[i].cases);
	}
	for (size_t i = 0; i < study->case_count; i++) {
		free(study->verdicts[i].conf);
		free(study->verdicts[i].likely);
		runs_destroy(study->runs[i]);
	}
	free(study->runs);
	free(study->trials);
	free(study->verdicts);
	*study = (struct gp_study){ 0 };
}

/* A rank: lower is more serious. */
static int gravity(const struct gp_verdict *v)
{
	static const int order[] = {
		[GP_VERDICT_TOO_SMALL] = 0, [GP_VERDICT_NO_SETTING] = 1,
		[GP_VERDICT_UNDECIDED] = 2, [GP_VERDICT_SETTING] = 3,
		[GP_VERDICT_FITS] = 4,
	};
	/* No run was made, or its result proves nothing, and what the trace
	 * shows is within the capacity. */
	bool is_silent = gp_verdict_is_open(v) && v->start <= v->capacity &&
			 v->recorded <= v->capacity;

	return is_silent ? 5 : order[v->kind];
}

/* At least how many bytes are missing with the present setting; 0: none, or
 * unknown. */
static uint64_t lack_of(const struct gp_verdict *v)
{
	if (!v->need_as_recorded)
		return v->missing;
	return v->need_as_recorded > v->capacity
		       ? v->need_as_recorded - v->capacity
		       : 0;
}

static bool is_worse(const struct gp_verdict *a, const struct gp_verdict *b)
{
	int x = gravity(a), y = gravity(b);

	if (x != y)
		return x < y;
	if (lack_of(a) != lack_of(b))
		return lack_of(a) > lack_of(b);
	if (a->need_as_recorded != b->need_as_recorded)
		return a->need_as_recorded > b->need_as_recorded;
	return a->start > b->start;
}

size_t gp_verdict_worst(const struct gp_verdict *verdicts, size_t count)
{
	size_t worst = 0;

	for (size_t i = 1; i < count; i++)
		if (is_worse(&verdicts[i], &verdicts[worst]))
			worst = i;
	return worst;
}
