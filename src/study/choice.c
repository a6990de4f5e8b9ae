/* SPDX-License-Identifier: MIT */
/* The choice of the best of the settings that were tried. */
#include "study/choice.h"

#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"

#define MIB (UINT64_C(1) << 20)

/* Differences below 64 MiB or below 1 % do not count. */
#define LEAST_MARGIN (64 * MIB)
#define HUNDREDTH    100

/* The smallest difference that counts. */
static uint64_t margin(uint64_t need)
{
	return need / HUNDREDTH < LEAST_MARGIN ? LEAST_MARGIN
					       : need / HUNDREDTH;
}

bool gp_study_is_less(uint64_t need, uint64_t than)
{
	return need < than && than - need >= margin(than);
}

/* The largest need that does not count as larger. */
static uint64_t largest_equal(uint64_t need)
{
	return need == GP_UNLIMITED ? need : need + margin(need) - 1;
}

/* ---- which trials may be chosen ---- */

bool choice_takes_part(const struct gp_trial *trial, enum who who)
{
	return trial_is_possible(trial) &&
	       (who == EVERYBODY || !trial->is_excluded);
}

/* Whether the setting has a drawback for programs: in the table, a warning. */
static bool is_hazard(const struct gp_trial *trial)
{
	return trial->candidate
		       ? trial->candidate->warning != NULL
		       : gp_conf_names(trial->conf, "expandable_segments") &&
				 gp_conf_names(trial->conf,
					       "max_split_size_mb");
}

/* ---- choosing the best of several ---- */

/* Indices of the trials to compare. */
struct field {
	size_t *items;
	size_t count;
};

/* Whether the trial reserves clearly more than the present setting on a device
 * where that one fits and can stay. A user of the advice would see memory grow,
 * even if the need is lower. */
static bool is_growth(const struct study_state *s, const struct gp_trial *trial)
{
	const struct gp_trial *as_it_is = s->study->trials;

	if (as_it_is->is_excluded || !trial_is_served(s, as_it_is))
		return false;
	for (size_t i = 0; i < s->study->case_count; i++)
		if (s->is_in[i] &&
		    s->study->verdicts[i].capacity != GP_UNLIMITED &&
		    trial->cases[i].reserved >
			    largest_equal(as_it_is->cases[i].reserved))
			return true;
	return false;
}

static struct field field_of(struct study_state *s, enum who who, bool hazards)
{
	const struct gp_study *study = s->study;
	struct field field = {
		.items = gp_mem_alloc(study->count + 1, sizeof(*field.items)),
	};

	for (size_t i = 0; i < study->count; i++) {
		struct gp_trial *trial = &study->trials[i];

		if (choice_takes_part(trial, who) &&
		    trial_is_served(s, trial) && is_hazard(trial) == hazards &&
		    !is_growth(s, trial) && trial_is_sure(s, trial))
			field.items[field.count++] = i;
	}
	return field;
}

static uint64_t retries_of(const struct study_state *s,
			   const struct gp_trial *trial)
{
	uint64_t retries = 0;

	for (size_t i = 0; i < s->study->case_count; i++)
		retries += s->is_in[i] ? trial->cases[i].retries : 0;
	return retries;
}

static double time_of(const struct study_state *s, const struct gp_trial *trial)
{
	double time_us = 0;

	for (size_t i = 0; i < s->study->case_count; i++)
		time_us += s->is_in[i] ? trial->cases[i].time_us : 0;
	return time_us;
}

/* Compares two trials of about the same need; below 0: a is better. */
static int by_merit(const struct study_state *s, const struct gp_trial *a,
		    const struct gp_trial *b)
{
	size_t x = gp_conf_length(a->conf), y = gp_conf_length(b->conf);
	uint64_t m = retries_of(s, a), n = retries_of(s, b);
	double t = time_of(s, a), u = time_of(s, b);

	if (m != n)
		return m < n ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	if (s->config->prices != gp_prices_built_in() && t != u)
		return t < u ? -1 : 1;
	return 0;
}

/* Stable, because the table begins with the least unusual settings. */
static void sort_by_merit(const struct study_state *s, struct field *field)
{
	const struct gp_trial *trials = s->study->trials;

	for (size_t i = 1; i < field->count; i++) {
		size_t item = field->items[i], k = i;

		for (; k && by_merit(s, &trials[item],
				     &trials[field->items[k - 1]]) < 0;
		     k--)
			field->items[k] = field->items[k - 1];
		field->items[k] = item;
	}
}

static bool needs_at_most(struct study_state *s, struct gp_trial *trial,
			  uint64_t most)
{
	if (most == GP_UNLIMITED)
		trial_measure(s, trial);
	else
		trial_measure_to(s, trial, most);
	return trial_need(s, trial) && trial_need(s, trial) <= most;
}

/* The index of the first item, of the leading `count`, that needs at most
 * `most`; count: none does. */
static size_t first_within(struct study_state *s, const struct field *field,
			   size_t count, uint64_t most)
{
	size_t i = 0;

	while (i < count &&
	       !needs_at_most(s, &s->study->trials[field->items[i]], most))
		i++;
	return i;
}

/* A bound: every need above it is not clearly less than `need`. */
static uint64_t clearly_less(uint64_t need)
{
	uint64_t more = need - gp_smaller(need, margin(need));

	return need == GP_UNLIMITED ? need
				    : need - gp_smaller(need, margin(more));
}

/* The trial with the most merit among those that need about as little as the
 * best, and at most limit; the study's count: none does. Needs are measured
 * only if a single replay does not already rule the trial out: a trial with
 * less merit must need clearly less. */
static size_t best_of(struct study_state *s, struct field *field,
		      uint64_t limit)
{
	struct gp_trial *trials = s->study->trials;
	size_t best;

	sort_by_merit(s, field);
	best = first_within(s, field, field->count, limit);
	for (size_t i = best + 1; i < field->count; i++) {
		uint64_t need = trial_need(s, &trials[field->items[best]]);
		struct gp_trial *other = &trials[field->items[i]];
		uint64_t most;

		if (!needs_at_most(s, other, clearly_less(need)))
			continue;
		most = largest_equal(trial_need(s, other));
		if (most < need)
			best = first_within(s, field, i + 1, most);
	}
	return best < field->count ? field->items[best] : s->study->count;
}

/* ---- choosing the advice ---- */

uint64_t choice_limit(struct study_state *s)
{
	uint64_t need;

	trial_measure(s, &s->study->trials[0]);
	need = trial_need(s, &s->study->trials[0]);
	if (need == GP_UNLIMITED)
		return GP_UNLIMITED;
	return need > margin(need) ? need - margin(need) : 0;
}

/* For windows. The start state was cached under the recorded settings, so
 * replays from it do not show the need of other settings; the upper bounds of
 * the estimates are compared instead. The study's count: none certainly needs
 * at most limit. */
static size_t best_by_estimate(struct study_state *s, const struct field *field,
			       uint64_t limit)
{
	struct gp_study *study = s->study;
	uint64_t least = limit;
	size_t best = study->count;

	for (size_t i = 0; i < field->count; i++) {
		uint64_t high = trial_high(s, &study->trials[field->items[i]]);

		if (high && high < least)
			least = high;
	}
	for (size_t i = 0; i < field->count; i++) {
		struct gp_trial *trial = &study->trials[field->items[i]];
		uint64_t high = trial_high(s, trial);

		if (!high || high > gp_smaller(largest_equal(least), limit))
			continue;
		if (best == study->count ||
		    by_merit(s, trial, &study->trials[best]) < 0)
			best = field->items[i];
	}
	return best;
}

static bool has_window(const struct study_state *s)
{
	const struct gp_study *study = s->study;

	for (size_t i = 0; i < study->case_count; i++)
		if (s->is_in[i] && trial_is_of_part(&study->verdicts[i]))
			return true;
	return false;
}

size_t choice_best(struct study_state *s, enum who who, uint64_t limit)
{
	bool is_estimate = has_window(s);
	size_t best = s->study->count;

	for (int hazards = 0; hazards < 2 && best == s->study->count;
	     hazards++) {
		struct field field = field_of(s, who, hazards);

		best = is_estimate ? best_by_estimate(s, &field, limit)
				   : best_of(s, &field, limit);
		free(field.items);
	}
	return best;
}

/* For a group of a single case: the trial's need, or its estimate; 0: that is
 * not below `than`. */
static uint64_t need_below(struct study_state *s, struct gp_trial *trial,
			   uint64_t than)
{
	uint64_t need = 0;

	trial_estimate(s, trial);
	for (size_t i = 0; i < s->study->case_count; i++)
		if (s->is_in[i])
			need = trial->cases[i].estimated;
	if (!need && than == GP_UNLIMITED)
		trial_measure(s, trial);
	else if (!need)
		trial_measure_to(s, trial, than - GP_DEVICE_GRAIN);
	if (!need)
		need = trial_need(s, trial);
	return need < than ? need : 0;
}

size_t choice_nearest(struct study_state *s)
{
	struct gp_study *study = s->study;
	uint64_t least = GP_UNLIMITED;
	size_t best = 0;

	for (size_t i = 0; i < study->count; i++) {
		struct gp_trial *trial = &study->trials[i];
		uint64_t need;

		if (!choice_takes_part(trial, ALLOWED))
			continue;
		need = need_below(s, trial, least);
		if (need) {
			least = need;
			best = i;
		}
	}
	return best;
}

/* The estimated need; GP_UNLIMITED: unknown, or the setting must not be
 * advised. */
static uint64_t likely_need(struct study_state *s, size_t i, size_t index)
{
	struct gp_trial *trial = &s->study->trials[i];
	uint64_t need;

	if (!choice_takes_part(trial, ALLOWED) || is_hazard(trial))
		return GP_UNLIMITED;
	trial_estimate(s, trial);
	need = trial->cases[index].estimated;
	return need ? need : GP_UNLIMITED;
}

size_t choice_likely(struct study_state *s, size_t index)
{
	struct gp_study *study = s->study;
	uint64_t least = GP_UNLIMITED, as_it_is, most;

	for (size_t i = 1; i < study->count; i++)
		least = gp_smaller(least, likely_need(s, i, index));
	trial_measure(s, &study->trials[0]);
	as_it_is = study->verdicts[index].recorded;
	if (!as_it_is)
		as_it_is = trial_need(s, &study->trials[0]);
	if (least >= as_it_is)
		return study->count;
	most = gp_smaller(largest_equal(least), as_it_is - 1);
	for (size_t i = 1; i < study->count; i++)
		if (likely_need(s, i, index) <= most)
			return i;
	return study->count;
}
