/* SPDX-License-Identifier: MIT */
/* Trying settings, and choosing one. */
#include "gpupool/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/headroom.h"
#include "gpupool/remedy.h"

#define ABOUT_ALIKE 100 /* reserved within 1/100 of the capacity */
#define QUICK	    2	/* times the least time */

struct session {
	const struct gp_suggest_config *config;
	struct gp_suggestion *result;
	uint32_t replays;
	struct gp_diag *diag;
	enum gp_status status;
};

/* ---- what is tried ---- */

static void add_trial(struct session *s, char *conf, const char *about)
{
	struct gp_suggestion *result = s->result;

	for (size_t i = 0; i < result->count; i++)
		if (!strcmp(result->trials[i].conf, conf)) {
			free(conf);
			return;
		}
	result->trials[result->count++] =
		(struct gp_trial){ .conf = conf, .about = about };
}

static void add_trials(struct session *s)
{
	const struct gp_suggest_config *config = s->config;
	size_t count;
	const struct gp_remedy *remedies = gp_remedy_table(&count);

	s->result->trials = gp_mem_alloc(count + 1, sizeof(*s->result->trials));
	add_trial(s, gp_mem_copy_text(config->conf, strlen(config->conf)),
		  NULL);
	for (size_t i = 0; i < count; i++)
		add_trial(s, gp_remedy_conf(config->conf, &remedies[i]),
			  remedies[i].about);
	for (size_t i = 0; i < s->result->count; i++)
		for (size_t k = 0; k < config->without_count; k++)
			if (gp_remedy_names(s->result->trials[i].conf,
					    config->without[k]))
				s->result->trials[i].is_excluded = true;
}

/* ---- trying ---- */

static void add_result(struct gp_trial *trial,
		       const struct gp_replay_result *result,
		       const struct gp_prices *prices)
{
	if (result->at_peak.reserved > trial->peak_reserved)
		trial->peak_reserved = result->at_peak.reserved;
	trial->ooms += (uint64_t)result->stats.num_ooms;
	trial->retries += (uint64_t)result->stats.num_alloc_retries;
	trial->mallocs += result->calls.malloc;
	trial->pages += result->calls.map;
	trial->time_us += gp_price_of(prices, &result->calls,
				      result->stats.num_sync_all_streams);
	if (!trial->first_oom.is_there)
		trial->first_oom = result->first_oom;
}

static void step(struct session *s)
{
	if (s->config->progress)
		s->config->progress(s->config->progress_arg, s->replays);
	s->replays++;
}

static bool parse(struct session *s, struct gp_trial *trial,
		  struct gp_settings *settings)
{
	struct gp_diag reason = { 0 };

	gp_settings_init(settings, s->config->release);
	if (gp_settings_parse(settings, trial->conf, &reason) == GP_OK)
		return true;
	snprintf(trial->refusal, sizeof(trial->refusal), "%.150s", reason.what);
	return false;
}

static void try_one(struct session *s, struct gp_trial *trial)
{
	const struct gp_suggest_config *config = s->config;
	struct gp_settings settings;

	if (!parse(s, trial, &settings))
		return;
	for (uint32_t i = 0; i < config->trace->device_count; i++) {
		struct gp_replay_config replay = {
			.trace = config->trace,
			.device = i,
			.settings = &settings,
			.engine = config->engine,
			.conf = trial->conf,
			.mode = GP_WHAT_IF,
			.capacity = config->capacity[i],
		};
		struct gp_replay_result result;

		step(s);
		s->status = gp_replay(&replay, &result, s->diag);
		if (s->status != GP_OK)
			return;
		add_result(trial, &result, config->prices);
		gp_replay_release(&result);
	}
}

/* ---- how small the device may be ---- */

/* Of one device; UINT64_MAX: none is large enough. */
static uint64_t need_of(struct session *s, const struct gp_trial *trial,
			const struct gp_settings *settings, uint32_t device,
			uint32_t tries, bool *is_exact)
{
	struct gp_headroom_config config = {
		.trace = s->config->trace,
		.device = device,
		.settings = settings,
		.engine = s->config->engine,
		.conf = trial->conf,
		.tries = tries,
	};
	struct gp_headroom headroom;
	struct gp_headroom_bound bound;

	step(s);
	s->status = gp_headroom(&config, &headroom, s->diag);
	if (s->status != GP_OK)
		return 0;
	bound = headroom.bounds[GP_NO_OOM];
	gp_headroom_release(&headroom);
	*is_exact = *is_exact && !bound.unknown_above;
	return bound.is_there ? bound.capacity : UINT64_MAX;
}

static void measure_need(struct session *s, struct gp_trial *trial,
			 uint32_t tries, bool *is_exact)
{
	struct gp_settings settings;

	trial->need = trial->missing = 0;
	trial->spare = UINT64_MAX;
	*is_exact = true;
	if (!parse(s, trial, &settings))
		return;
	for (uint32_t i = 0; i < s->config->trace->device_count; i++) {
		uint64_t capacity = s->config->capacity[i];
		uint64_t need =
			need_of(s, trial, &settings, i, tries, is_exact);
		uint64_t missing = need > capacity ? need - capacity : 0;
		uint64_t spare = need < capacity ? capacity - need : 0;

		if (need == UINT64_MAX)
			missing = need;
		if (missing > trial->missing || spare < trial->spare)
			trial->need = need;
		if (missing > trial->missing)
			trial->missing = missing;
		if (spare < trial->spare)
			trial->spare = spare;
	}
}

/* ---- choosing among those that fit ---- */

enum who { ALLOWED, EVERYBODY };

static bool takes_part(const struct gp_trial *trial, enum who who)
{
	return !*trial->refusal && (who == EVERYBODY || !trial->is_excluded);
}

static bool fits(const struct gp_trial *trial, enum who who)
{
	return takes_part(trial, who) && !trial->ooms;
}

/* At most twice the least time: a retry gives its cache back and asks for it
 * again, which is what takes time. */
static bool is_quick(const struct gp_suggestion *result,
		     const struct gp_trial *trial, enum who who)
{
	double least = trial->time_us;

	for (size_t i = 0; i < result->count; i++)
		if (fits(&result->trials[i], who) &&
		    result->trials[i].time_us < least)
			least = result->trials[i].time_us;
	return trial->time_us <= QUICK * least;
}

/* What counts for nothing: 1 % of the capacity, or of what is needed where that
 * is not known. */
static uint64_t about_nothing(const struct gp_suggestion *result,
			      const struct gp_trial *trial)
{
	return (result->is_open ? trial->need : trial->spare + trial->need) /
	       ABOUT_ALIKE;
}

/* count: none fits. */
static size_t choose(const struct gp_suggestion *result, enum who who)
{
	uint64_t spare = 0;

	for (size_t i = 0; i < result->count; i++)
		if (fits(&result->trials[i], who) &&
		    is_quick(result, &result->trials[i], who) &&
		    result->trials[i].spare > spare)
			spare = result->trials[i].spare;
	for (size_t i = 0; i < result->count; i++) {
		const struct gp_trial *trial = &result->trials[i];

		if (fits(trial, who) && is_quick(result, trial, who) &&
		    spare - trial->spare <= about_nothing(result, trial))
			return i;
	}
	return result->count;
}

/* ---- when none fits ---- */

static size_t least_missing(const struct gp_suggestion *result)
{
	uint64_t least = UINT64_MAX, alike;

	for (size_t i = 0; i < result->count; i++)
		if (takes_part(&result->trials[i], ALLOWED) &&
		    result->trials[i].missing < least)
			least = result->trials[i].missing;
	for (size_t i = 0; i < result->count; i++) {
		alike = result->trials[i].need / ABOUT_ALIKE;
		if (takes_part(&result->trials[i], ALLOWED) &&
		    result->trials[i].missing - least <= alike)
			return i;
	}
	return 0;
}

/* Roughly for all, then surely for the one that lacks least. */
static void find_missing(struct session *s)
{
	struct gp_suggestion *result = s->result;

	for (size_t i = 0; i < result->count && s->status == GP_OK; i++)
		measure_need(s, &result->trials[i], 0, &result->is_exact);
	result->chosen = least_missing(result);
	if (s->status == GP_OK)
		measure_need(s, &result->trials[result->chosen],
			     s->config->tries, &result->is_exact);
}

/* Of those that may be chosen, roughly. */
static void measure_margins(struct session *s)
{
	struct gp_suggestion *result = s->result;
	bool ignored;

	for (size_t i = 0; i < result->count && s->status == GP_OK; i++) {
		struct gp_trial *trial = &result->trials[i];

		if ((fits(trial, ALLOWED) &&
		     is_quick(result, trial, ALLOWED)) ||
		    (fits(trial, EVERYBODY) &&
		     is_quick(result, trial, EVERYBODY)) ||
		    (!i && takes_part(trial, EVERYBODY)))
			measure_need(s, trial, 0, &ignored);
	}
}

/* Halving may stop at a small device that happens to be fine: a report that
 * compares two settings tells from where on all are. */
static void make_sure(struct session *s)
{
	struct gp_suggestion *result = s->result;
	size_t shown[] = { 0, result->chosen };
	bool ignored;

	for (size_t i = 0; i < 2 && s->status == GP_OK; i++)
		if (result->trials[shown[i]].need)
			measure_need(s, &result->trials[shown[i]],
				     s->config->tries, &ignored);
}

static void decide(struct session *s)
{
	struct gp_suggestion *result = s->result;
	const struct gp_trial *recorded = &result->trials[0];
	bool is_well = !result->is_open && fits(recorded, ALLOWED) &&
		       !recorded->retries;

	measure_margins(s);
	result->unconstrained = choose(result, EVERYBODY);
	result->chosen = is_well ? 0 : choose(result, ALLOWED);
	result->verdict = result->chosen == 0		   ? GP_KEEP
			  : result->chosen < result->count ? GP_CHANGE
							   : GP_CAPACITY;
	if (result->verdict == GP_CAPACITY)
		find_missing(s);
	if (result->verdict == GP_CHANGE)
		make_sure(s);
}

enum gp_status gp_suggest(const struct gp_suggest_config *config,
			  struct gp_suggestion *suggestion,
			  struct gp_diag *diag)
{
	struct session s = {
		.config = config,
		.result = suggestion,
		.diag = diag,
	};

	*suggestion = (struct gp_suggestion){ .is_open = true };
	add_trials(&s);
	for (uint32_t i = 0; i < config->trace->device_count; i++) {
		uint64_t live = gp_headroom_live(config->trace, i);

		suggestion->is_open &= config->capacity[i] == GP_UNLIMITED;
		if (live > suggestion->live)
			suggestion->live = live;
	}
	for (size_t i = 0; i < suggestion->count && s.status == GP_OK; i++)
		try_one(&s, &suggestion->trials[i]);
	if (s.status == GP_OK)
		decide(&s);
	if (s.status != GP_OK)
		gp_suggestion_release(suggestion);
	return s.status;
}

void gp_suggestion_release(struct gp_suggestion *suggestion)
{
	for (size_t i = 0; i < suggestion->count; i++)
		free(suggestion->trials[i].conf);
	free(suggestion->trials);
	*suggestion = (struct gp_suggestion){ 0 };
}
