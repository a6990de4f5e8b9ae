/* SPDX-License-Identifier: MIT */
/* One setting, replayed. */
#include "study/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/estimate.h"
#include "study/headroom.h"

#define TRIES 300 /* replays at most to make sure of a need */

static void check_settings(const struct session *s, struct gp_trial *trial)
{
	const struct gp_study_config *config = s->config;
	struct gp_settings settings;
	struct gp_diag reason = { 0 };

	gp_settings_init(&settings, config->release);
	if (gp_settings_parse(&settings, trial->conf, &reason) != GP_OK)
		snprintf(trial->refusal, sizeof(trial->refusal), "%.150s",
			 reason.what);
	for (size_t k = 0; k < config->without_count; k++)
		trial->is_excluded |=
			gp_conf_names(trial->conf, config->without[k]);
}

struct gp_trial *trial_add(struct session *s, char *conf,
			   const struct gp_candidate_conf *candidate)
{
	struct gp_study *study = s->study;
	struct gp_trial *trial;

	for (size_t i = 0; i < study->count; i++)
		if (!strcmp(study->trials[i].conf, conf)) {
			free(conf);
			return NULL;
		}
	study->trials = gp_mem_grow(study->trials, &s->room, study->count + 1,
				    sizeof(*study->trials));
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

/* Of a conf that the release takes. */
static struct gp_settings settings_of(const struct session *s,
				      const struct gp_trial *trial)
{
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };

	gp_settings_init(&settings, s->config->release);
	gp_settings_parse(&settings, trial->conf, &ignored);
	return settings;
}

static void tell(const struct session *s, const struct gp_trial *trial)
{
	char what[96];

	if (!s->config->progress)
		return;
	snprintf(what, sizeof(what), "trying %.60s: replay %u",
		 *trial->conf ? trial->conf : "default settings",
		 s->study->replays + 1);
	s->config->progress(s->config->progress_arg, what);
}

/* The trial's run of a case; borrows settings. */
static struct gp_replay_config run_of(const struct session *s,
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

static bool play(struct session *s, const struct gp_trial *trial,
		 const struct gp_case *c, uint64_t capacity,
		 enum gp_on_oom on_oom, struct gp_replay_result *result)
{
	struct gp_settings settings = settings_of(s, trial);
	struct gp_replay_config replay = run_of(s, trial, c, &settings);

	replay.on_oom = on_oom;
	replay.capacity = capacity;
	if (s->status != GP_OK)
		return false;
	tell(s, trial);
	s->study->replays++;
	s->status = gp_replay(&replay, result, s->diag);
	return s->status == GP_OK;
}

static bool is_served(const struct session *s, size_t index,
		      const struct gp_replay_result *result)
{
	return !result->first_oom.is_there &&
	       result->refused <= s->refused[index];
}

static uint64_t refused_without_limit(struct session *s, const char *conf,
				      const struct gp_case *c)
{
	struct gp_trial trial = { .conf = (char *)conf };
	struct gp_replay_result result;
	uint64_t refused = UINT64_MAX;

	check_settings(s, &trial);
	if (trial_is_possible(&trial) &&
	    play(s, &trial, c, GP_UNLIMITED, GP_OOM_STOP, &result)) {
		refused = result.refused;
		gp_replay_release(&result);
	}
	return refused;
}

/* Of so many that are refused as it is: those that are neither for want of
 * memory nor by these settings alone. */
static uint64_t refused_anyhow(struct session *s, const struct gp_case *c,
			       uint64_t most)
{
	char *plain;
	uint64_t as_is, refused;

	if (!most)
		return 0;
	plain = gp_candidate_apply(s->config->conf, "");
	as_is = refused_without_limit(s, s->config->conf, c);
	refused = refused_without_limit(s, plain, c);
	free(plain);
	refused = as_is < refused ? as_is : refused;
	return most < refused ? most : refused;
}

static void add_result(struct session *s, struct gp_trial *trial,
		       uint32_t index, const struct gp_replay_result *result)
{
	struct gp_trial_case *one = &trial->cases[index];

	if (trial == s->study->trials)
		s->refused[index] = refused_anyhow(s, &s->config->cases[index],
						   result->refused);
	one->is_served = is_served(s, index, result);
	one->ooms = (uint64_t)result->ooms.count;
	one->retries = (uint64_t)result->stats.num_alloc_retries;
	one->reserved = result->at_peak.reserved;
	one->mallocs = result->calls.malloc;
	one->pages = result->calls.map;
	one->time_us = gp_price_of(s->config->prices, &result->calls,
				   result->stats.num_sync_all_streams);
	one->first_oom = result->first_oom;
	trial->is_served &= one->is_served;
	trial->ooms += one->ooms;
	trial->retries += one->retries;
	trial->mallocs += one->mallocs;
	trial->pages += one->pages;
	trial->time_us += one->time_us;
	if (one->reserved > trial->reserved)
		trial->reserved = one->reserved;
}

void trial_play(struct session *s, struct gp_trial *trial)
{
	struct gp_replay_result result;

	if (!trial_is_possible(trial))
		return;
	trial->is_served = true;
	for (uint32_t i = 0; i < s->config->case_count; i++) {
		const struct gp_case *c = &s->config->cases[i];

		if (s->study->verdicts[i].kind == GP_VERDICT_UNDECIDED)
			continue;
		if (!play(s, trial, c, c->capacity, GP_OOM_GO_ON, &result))
			return;
		add_result(s, trial, i, &result);
		gp_replay_release(&result);
	}
}

/* ---- of the group ---- */

bool trial_is_served(const struct session *s, const struct gp_trial *trial)
{
	for (size_t i = 0; i < s->config->case_count; i++)
		if (s->is_in[i] && !trial->cases[i].is_served)
			return false;
	return true;
}

uint64_t trial_need(const struct session *s, const struct gp_trial *trial)
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

static bool serves_at(struct session *s, const struct gp_trial *trial,
		      size_t index, uint64_t capacity)
{
	struct gp_replay_result result;
	bool serves;

	if (!play(s, trial, &s->config->cases[index], capacity, GP_OOM_STOP,
		  &result))
		return false;
	serves = is_served(s, index, &result);
	gp_replay_release(&result);
	return serves;
}

static uint64_t need_of(struct session *s, const struct gp_trial *trial,
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
		.tries = TRIES,
		.only_need = true,
	};
	struct gp_headroom headroom;
	struct gp_headroom_bound bound;

	if (s->status != GP_OK)
		return GP_UNLIMITED;
	tell(s, trial);
	s->status = gp_headroom(&config, &headroom, s->diag);
	if (s->status != GP_OK)
		return GP_UNLIMITED;
	s->study->replays += headroom.replays;
	bound = headroom.bounds[GP_NO_OOM];
	if (headroom.refused > s->refused[index])
		bound.is_there = false;
	gp_headroom_release(&headroom);
	return bound.is_there ? bound.capacity : GP_UNLIMITED;
}

void trial_measure(struct session *s, struct gp_trial *trial)
{
	if (!trial_is_possible(trial))
		return;
	for (size_t i = 0; i < s->config->case_count; i++)
		if (s->is_in[i] && !trial->cases[i].need)
			trial->cases[i].need = need_of(s, trial, i);
}

/* Whether one case shows that it needs more, by what is known or by a replay.
 */
static bool needs_more(struct session *s, struct gp_trial *trial, size_t index,
		       uint64_t than)
{
	struct gp_trial_case *one = &trial->cases[index];

	if (one->need)
		return one->need > than;
	if (one->need_above < than && !serves_at(s, trial, index, than))
		one->need_above = than;
	return one->need_above >= than;
}

void trial_measure_to(struct session *s, struct gp_trial *trial, uint64_t most)
{
	if (!trial_is_possible(trial))
		return;
	most = most / GP_DEVICE_GRAIN * GP_DEVICE_GRAIN;
	for (size_t i = 0; i < s->config->case_count; i++)
		if (s->is_in[i] && needs_more(s, trial, i, most))
			return;
	trial_measure(s, trial);
}

static void estimate(struct session *s, struct gp_trial *trial, size_t index)
{
	struct gp_trial_case *one = &trial->cases[index];
	struct gp_settings settings = settings_of(s, trial);
	struct gp_replay_config run =
		run_of(s, trial, &s->config->cases[index], &settings);
	struct gp_estimate estimate = { 0 };

	one->is_estimated = true;
	tell(s, trial);
	s->status = gp_estimate(&run, s->config->conf, s->config->release,
				&estimate, s->diag);
	if (s->status == GP_OK && estimate.is_there) {
		one->high = estimate.high;
		one->estimated = estimate.reserved;
	}
}

static bool is_window(const struct session *s, size_t index)
{
	return s->study->verdicts[index].begins == GP_BEGINS_WINDOW;
}

void trial_estimate(struct session *s, struct gp_trial *trial)
{
	if (trial == s->study->trials)
		return;
	for (size_t i = 0; i < s->config->case_count; i++)
		if (s->is_in[i] && is_window(s, i) && s->status == GP_OK &&
		    !trial->cases[i].is_estimated)
			estimate(s, trial, i);
}

/* What a case that is whole needs is exact. */
static uint64_t high_of(struct session *s, struct gp_trial *trial, size_t index)
{
	struct gp_trial_case *one = &trial->cases[index];

	if (is_window(s, index))
		return one->high;
	if (!one->need)
		one->need = need_of(s, trial, index);
	return one->need;
}

uint64_t trial_high(struct session *s, struct gp_trial *trial)
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
