/* SPDX-License-Identifier: MIT */
/* Trials. */
#include "study/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "study/estimate.h"
#include "study/headroom.h"
#include "study/runs.h"

#define TRIES 300 /* most replays to confirm a need */

bool trial_must_not(const struct study_state *s, const char *conf)
{
	for (size_t i = 0; i < s->config->without_count; i++)
		if (gp_conf_changes(conf, s->config->without[i],
				    s->config->release))
			return true;
	return false;
}

static void check_settings(const struct study_state *s, struct gp_trial *trial)
{
	struct gp_settings settings;
	struct gp_diag reason = { 0 };

	gp_settings_init(&settings, s->config->release);
	if (gp_settings_parse(&settings, trial->conf, &reason) != GP_OK)
		snprintf(trial->refusal, sizeof(trial->refusal), "%.150s",
			 reason.what);
	trial->is_excluded = trial_must_not(s, trial->conf);
}

struct gp_trial *trial_add(struct study_state *s, char *conf,
			   const struct gp_candidate_conf *candidate)
{
	struct gp_study *study = s->study;
	struct gp_trial *trial;

	for (size_t i = 0; i < study->count; i++)
		if (!strcmp(study->trials[i].conf, conf)) {
			free(conf);
			return NULL;
		}
	GP_GROW(study->trials, study->count + 1, s->room);
	trial = &study->trials[study->count++];
	*trial = (struct gp_trial){
		.conf = conf,
		.candidate = candidate,
		.cases = gp_mem_alloc(s->config->case_count + 1,
				      sizeof(*trial->cases)),
	};
	check_settings(s, trial);
	return trial;
}

/* The conf must be one that the release accepts. */
static struct gp_settings settings_of(const struct study_state *s,
				      const struct gp_trial *trial)
{
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };

	gp_settings_init(&settings, s->config->release);
	gp_settings_parse(&settings, trial->conf, &ignored);
	return settings;
}

static void notify(const struct study_state *s, const struct gp_trial *trial)
{
	char what[96];

	if (!s->config->progress)
		return;
	snprintf(what, sizeof(what), "trying %.60s: replay %u",
		 *trial->conf ? trial->conf : "default settings",
		 s->study->replays + 1);
	s->config->progress(s->config->progress_arg, what);
}

/* The run of that case, or an equivalent one; NULL: it failed. */
static const struct run_outcome *play(struct study_state *s,
				      const struct gp_trial *trial,
				      size_t index, uint64_t capacity,
				      enum gp_on_oom on_oom)
{
	struct gp_settings settings = settings_of(s, trial);
	const struct run_asked asked = {
		.settings = &settings,
		.conf = trial->conf,
		.capacity = capacity,
		.on_oom = on_oom,
	};
	uint32_t before = runs_made(s->study->runs[index]);
	const struct run_outcome *outcome;

	if (s->status != GP_OK)
		return NULL;
	notify(s, trial);
	s->status = runs_ask(s->study->runs[index], &asked, &outcome, s->diag);
	s->study->replays += runs_made(s->study->runs[index]) - before;
	return s->status == GP_OK ? outcome : NULL;
}

static bool is_served(const struct study_state *s, size_t index,
		      const struct run_outcome *outcome)
{
	return outcome->has_room && outcome->refused <= s->refused[index];
}

static uint64_t refused_without_limit(struct study_state *s, const char *conf,
				      size_t index)
{
	struct gp_trial trial = { .conf = (char *)conf };
	const struct run_outcome *outcome = NULL;

	check_settings(s, &trial);
	if (trial_is_possible(&trial))
		outcome = play(s, &trial, index, GP_UNLIMITED, GP_OOM_STOP);
	return outcome ? outcome->refused : UINT64_MAX;
}

/* Of the requests that the present setting refuses, `most` in number: those
 * that are refused neither for lack of memory nor because of these settings. */
static uint64_t refused_anyhow(struct study_state *s, size_t index,
			       uint64_t most)
{
	char *plain;
	uint64_t as_is, refused;

	if (!most)
		return 0;
	plain = gp_candidate_apply(s->config->conf, "");
	as_is = refused_without_limit(s, s->config->conf, index);
	refused = refused_without_limit(s, plain, index);
	free(plain);
	refused = as_is < refused ? as_is : refused;
	return most < refused ? most : refused;
}

static void add_result(struct study_state *s, struct gp_trial *trial,
		       uint32_t index, const struct run_outcome *outcome)
{
	struct gp_trial_case *one = &trial->cases[index];

	one->is_served = is_served(s, index, outcome);
	one->ooms = outcome->ooms;
	one->retries = outcome->retries;
	one->reserved = outcome->reserved;
	one->mallocs = outcome->calls.malloc;
	one->pages = outcome->calls.map;
	one->time_us = gp_price_of(s->config->prices, &outcome->calls,
				   outcome->synchronizes);
	one->has_room = outcome->has_room;
	one->first_oom = outcome->first_oom;
	trial->is_served &= one->is_served;
	trial->has_room &= one->has_room;
	trial->ooms += one->ooms;
	trial->retries += one->retries;
	trial->mallocs += one->mallocs;
	trial->pages += one->pages;
	trial->time_us += one->time_us;
	if (one->reserved > trial->reserved)
		trial->reserved = one->reserved;
}

/* For the first trial, which is the present setting: computes s->refused. */
static void note_refused(struct study_state *s, const struct gp_trial *trial,
			 uint32_t index, uint64_t refused)
{
	if (trial == s->study->trials)
		s->refused[index] = refused_anyhow(s, index, refused);
}

void trial_play(struct study_state *s, struct gp_trial *trial)
{
	if (!trial_is_possible(trial))
		return;
	trial->is_served = true;
	trial->has_room = true;
	for (uint32_t i = 0; i < s->config->case_count; i++) {
		const struct gp_case *c = &s->config->cases[i];
		const struct run_outcome *outcome;
		struct run_outcome copy;

		if (!trial_is_played(&s->study->verdicts[i]))
			continue;
		outcome = play(s, trial, i, c->capacity, GP_OOM_GO_ON);
		if (!outcome)
			return;
		/* note_refused() may make replays, which move the outcome. */
		copy = *outcome;
		note_refused(s, trial, i, copy.refused);
		add_result(s, trial, i, &copy);
	}
}

/* Trials to be played one after another, and what runs_ask() will be asked for
 * each, at the capacity of some case. */
struct ahead {
	struct gp_trial **trials;
	struct gp_settings *settings;
	struct run_asked *asked;
	size_t count;
};

static struct ahead ahead_of(const struct study_state *s)
{
	size_t most = s->study->count;
	struct ahead ahead = {
		.trials = gp_mem_alloc(most, sizeof(*ahead.trials)),
		.settings = gp_mem_alloc(most, sizeof(*ahead.settings)),
		.asked = gp_mem_alloc(most, sizeof(*ahead.asked)),
	};

	for (size_t i = 0; i < most; i++) {
		struct gp_trial *trial = &s->study->trials[i];
		size_t n = ahead.count;

		if (!trial_is_possible(trial))
			continue;
		ahead.trials[n] = trial;
		ahead.settings[n] = settings_of(s, trial);
		ahead.asked[n] = (struct run_asked){
			.settings = &ahead.settings[n],
			.conf = trial->conf,
			.on_oom = GP_OOM_GO_ON,
		};
		ahead.count++;
	}
	return ahead;
}

/* Makes a case's replays in advance, from those of that trial on. */
static void foresee(struct study_state *s, const struct ahead *ahead,
		    size_t from, size_t index)
{
	for (size_t i = from; i < ahead->count; i++)
		ahead->asked[i].capacity = s->config->cases[index].capacity;
	runs_foresee(s->study->runs[index], ahead->asked + from,
		     ahead->count - from, s->config->threads);
}

void trials_play(struct study_state *s)
{
	struct gp_study *study = s->study;
	struct ahead ahead = ahead_of(s);

	for (size_t i = 0; i < ahead.count; i++) {
		for (size_t c = 0; c < study->case_count; c++)
			if (trial_is_played(&study->verdicts[c]))
				foresee(s, &ahead, i, c);
		trial_play(s, ahead.trials[i]);
	}
	for (size_t c = 0; c < study->case_count; c++)
		runs_forget(study->runs[c]);
	free(ahead.trials);
	free(ahead.settings);
	free(ahead.asked);
}

uint64_t trial_peak(struct study_state *s, size_t index)
{
	const struct gp_trial *as_it_is = s->study->trials;
	const struct run_outcome *outcome = NULL;

	if (trial_is_possible(as_it_is))
		outcome = play(s, as_it_is, index, GP_UNLIMITED, GP_OOM_GO_ON);
	return outcome ? outcome->reserved : 0;
}

/* ---- for the current group ---- */

bool trial_is_served(const struct study_state *s, const struct gp_trial *trial)
{
	for (size_t i = 0; i < s->config->case_count; i++)
		if (s->is_in[i] && !trial->cases[i].is_served)
			return false;
	return true;
}

uint64_t trial_need(const struct study_state *s, const struct gp_trial *trial)
{
	uint64_t most = 0;

	for (size_t i = 0; i < s->config->case_count; i++) {
		if (s->is_in[i] && !trial->cases[i].need)
			return 0;
		if (s->is_in[i] && trial->cases[i].need > most)
			most = trial->cases[i].need;
	}
	return most;
}

static bool serves_at(struct study_state *s, const struct gp_trial *trial,
		      size_t index, uint64_t capacity)
{
	const struct run_outcome *outcome =
		play(s, trial, index, capacity, GP_OOM_STOP);

	return outcome && is_served(s, index, outcome);
}

bool trial_serves_group(struct study_state *s, const char *conf)
{
	struct gp_trial trial = { .conf = (char *)conf };
	bool serves;

	check_settings(s, &trial);
	serves = trial_is_possible(&trial);
	for (size_t i = 0; i < s->config->case_count && serves; i++)
		if (s->is_in[i])
			serves = serves_at(s, &trial, i,
					   s->config->cases[i].capacity);
	return serves && s->status == GP_OK;
}

static uint64_t need_of(struct study_state *s, const struct gp_trial *trial,
			size_t index)
{
	const struct gp_case *c = &s->config->cases[index];
	struct gp_settings settings = settings_of(s, trial);
	struct gp_headroom_config config = {
		.trace = c->trace,
		.device = c->device,
		.settings = &settings,
		.engine = s->config->engine,
		.conf = trial->conf,
		.runs = s->study->runs[index],
		.threads = s->config->threads,
		.tries = TRIES,
		.only_need = true,
	};
	uint32_t before = runs_made(s->study->runs[index]);
	struct gp_headroom headroom;
	struct gp_headroom_bound bound;

	if (s->status != GP_OK)
		return GP_UNLIMITED;
	notify(s, trial);
	s->status = gp_headroom(&config, &headroom, s->diag);
	if (s->status != GP_OK)
		return GP_UNLIMITED;
	s->study->replays += headroom.replays - before;
	bound = headroom.bounds[GP_NO_OOM];
	if (headroom.refused > s->refused[index])
		bound.is_there = false;
	gp_headroom_release(&headroom);
	return bound.is_there ? bound.capacity : GP_UNLIMITED;
}

void trial_measure(struct study_state *s, struct gp_trial *trial)
{
	if (!trial_is_possible(trial))
		return;
	for (size_t i = 0; i < s->config->case_count; i++)
		if (s->is_in[i] && !trial->cases[i].need)
			trial->cases[i].need = need_of(s, trial, i);
}

/* Cached by divisions, because most settings round the same way. */
static uint64_t live_rounded(struct study_state *s, size_t index,
			     const struct gp_settings *settings)
{
	const struct gp_case *c = &s->config->cases[index];
	struct rounded_live *live;

	for (size_t i = 0; i < s->live_count; i++) {
		live = &s->lives[i];
		if (live->index == index &&
		    !memcmp(live->divisions, settings->divisions,
			    sizeof(live->divisions)))
			return live->bytes;
	}
	GP_GROW(s->lives, s->live_count + 1, s->live_room);
	live = &s->lives[s->live_count++];
	live->index = index;
	memcpy(live->divisions, settings->divisions, sizeof(live->divisions));
	live->bytes = gp_study_live_rounded(c->trace, c->device, settings);
	return live->bytes;
}

/*
 * What may be reserved of the capacity. The memory fraction counts only if it
 * applies to all that is reserved. Expandable segments may exceed it by less
 * than a page: the limit is compared with the request, before it is rounded up
 * to whole pages. PyTorch: alloc_block, ExpandableSegment::map.
 */
static uint64_t most_reserved(const struct gp_case *c,
			      const struct gp_settings *settings,
			      uint64_t capacity)
{
	const struct gp_device_trace *t = &c->trace->devices[c->device];
	double fraction = settings->memory_fraction;

	if (fraction <= 0 || fraction >= 1 || t->start.segment_count)
		return capacity;
	for (size_t i = 0; i < t->event_count; i++)
		if (t->events[i].kind == GP_SET_FRACTION ||
		    t->events[i].kind == GP_SET_SETTINGS)
			return capacity;
	return gp_smaller(capacity,
			  gp_sum((uint64_t)(fraction * (double)capacity),
				 settings->expandable_segments
					 ? settings->large_segment_size
					 : 0));
}

bool trial_is_below_live(struct study_state *s,
			 const struct gp_settings *settings, size_t index,
			 uint64_t capacity)
{
	const struct gp_case *c = &s->config->cases[index];

	return !s->refused[index] && most_reserved(c, settings, capacity) <
					     live_rounded(s, index, settings);
}

/* Whether a case is known, or shown by one replay, to need more. */
static bool needs_more(struct study_state *s, struct gp_trial *trial,
		       size_t index, uint64_t than)
{
	struct gp_trial_case *one = &trial->cases[index];
	struct gp_settings settings;

	if (one->need)
		return one->need > than;
	settings = settings_of(s, trial);
	if (one->need_above < than &&
	    (trial_is_below_live(s, &settings, index, than) ||
	     !serves_at(s, trial, index, than)))
		one->need_above = than;
	return one->need_above >= than;
}

void trial_measure_to(struct study_state *s, struct gp_trial *trial,
		      uint64_t most)
{
	if (!trial_is_possible(trial))
		return;
	most = most / GP_DEVICE_GRAIN * GP_DEVICE_GRAIN;
	for (size_t i = 0; i < s->config->case_count; i++)
		if (s->is_in[i] && needs_more(s, trial, i, most))
			return;
	trial_measure(s, trial);
}

/* The trial's replay of a case without limit; borrows settings. */
static struct gp_replay_config run_of(const struct study_state *s,
				      const struct gp_trial *trial,
				      const struct gp_case *c,
				      const struct gp_settings *settings)
{
	return (struct gp_replay_config){
		.trace = c->trace,
		.device = c->device,
		.settings = settings,
		.engine = s->config->engine,
		.conf = trial->conf,
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
	};
}

static void estimate(struct study_state *s, struct gp_trial *trial,
		     size_t index)
{
	struct gp_trial_case *one = &trial->cases[index];
	struct gp_settings settings = settings_of(s, trial);
	struct gp_replay_config run =
		run_of(s, trial, &s->config->cases[index], &settings);
	struct gp_estimate estimate = { 0 };

	one->is_estimated = true;
	notify(s, trial);
	s->status = gp_estimate(&run, gp_trace_conf(run.trace),
				s->config->release, &estimate, s->diag);
	if (s->status == GP_OK && estimate.is_there) {
		estimate = gp_estimate_need(
			&estimate, &settings,
			gp_trace_others(&run.trace->devices[run.device]));
		one->low = estimate.low;
		one->high = estimate.high;
		one->estimated = estimate.reserved;
	}
}

static bool is_window(const struct study_state *s, size_t index)
{
	return trial_is_of_part(&s->study->verdicts[index]);
}

void trial_estimate(struct study_state *s, struct gp_trial *trial)
{
	for (size_t i = 0; i < s->config->case_count; i++)
		if (s->is_in[i] && is_window(s, i) && s->status == GP_OK &&
		    !trial->cases[i].is_estimated &&
		    strcmp(trial->conf,
			   gp_trace_conf(s->config->cases[i].trace)) != 0)
			estimate(s, trial, i);
}

/* Without an estimate the need is exact: the case is complete, or the setting
 * caches as the recorded one did. */
static uint64_t high_of(struct study_state *s, struct gp_trial *trial,
			size_t index)
{
	struct gp_trial_case *one = &trial->cases[index];

	if (one->high)
		return one->high;
	if (!one->need)
		one->need = need_of(s, trial, index);
	return one->need;
}

uint64_t trial_high(struct study_state *s, struct gp_trial *trial)
{
	uint64_t most = 0;

	if (trial == s->study->trials)
		return 0;
	trial_estimate(s, trial);
	for (size_t i = 0; i < s->config->case_count; i++) {
		uint64_t high = s->is_in[i] ? high_of(s, trial, i) : 1;

		if (!high)
			return 0;
		if (high > most)
			most = high;
	}
	return most;
}

bool trial_is_sure(struct study_state *s, struct gp_trial *trial)
{
	for (size_t i = 0; i < s->config->case_count; i++) {
		uint64_t capacity = s->config->cases[i].capacity;

		if (!s->is_in[i] || capacity == GP_UNLIMITED)
			continue;
		trial_estimate(s, trial);
		if (trial->cases[i].high > capacity)
			return false;
	}
	return true;
}
