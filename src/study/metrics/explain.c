/* SPDX-License-Identifier: MIT */
/* Explaining a run by observed replays. */
#include "study/metrics/explain.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gpupool/study.h"
#include "study/floor/floor.h"
#include "study/metrics/attempt.h"
#include "study/metrics/culprit.h"
#include "study/metrics/failure.h"
#include "study/metrics/track.h"

static void notify(const struct gp_explain_config *config, const char *what)
{
	if (config->progress)
		config->progress(config->progress_arg, what);
}

/* ---- the moment ---- */

static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct gp_explain *explain = arg;

	(void)event;
	allocator->ops->state(allocator, &explain->state);
}

/* Replays the run while tracking it, and examines the state at the moment to
 * explain. */
static enum gp_status follow(const struct gp_explain_config *config,
			     const struct askers *askers,
			     struct gp_explain *explain, struct gp_diag *diag)
{
	struct gp_replay_config run = *config->run;
	struct gp_replay_result again;
	enum gp_status status;
	struct track *track = track_create(run.trace, run.device, run.settings,
					   askers, explain);

	notify(config, "following the run");
	run.action = track_action;
	run.action_arg = track;
	run.look = look;
	run.look_arg = explain;
	run.looks = &explain->event;
	run.look_count = 1;
	status = gp_replay(&run, &again, diag);
	track_end(track);
	if (status == GP_OK)
		gp_replay_release(&again);
	return status;
}

/* The work for a packing: some tenths of a second. */
#define FLOOR_WORK (UINT64_C(1) << 25)
#define TENTH	   10

static void find_floor(struct gp_explain *explain)
{
	struct gp_spans spans;
	const struct gp_floor_config config = { .spans = &spans,
						.work = FLOOR_WORK };
	struct gp_floor floor;

	gp_spans_of_trace(explain->trace, explain->device, GP_FLOOR_ROUND,
			  &spans);
	gp_floor_find(&config, &floor);
	explain->floor.bound = floor.bound;
	explain->floor.packing = floor.height;
	gp_floor_release(&floor);
	gp_spans_release(&spans);
}

/* The event to explain. A window may begin at its peak, which no event in it
 * explains. */
static uint64_t moment_of(const struct gp_explain_config *config,
			  const struct gp_explain *explain)
{
	const struct gp_replay_result *result = &explain->result;

	if (result->first_oom.is_there)
		return result->first_oom.event;
	if (result->peak_is_from_start && !result->at_fullest.event)
		return gp_study_fullest(explain->trace, explain->device);
	return result->at_peak.event && !config->look_at_fullest
		       ? result->at_peak.event
		       : result->at_fullest.event;
}

/* Clears the durations: a state alone has no history. */
static void forget_times(struct gp_culprits *culprits)
{
	for (size_t i = 0; i < culprits->count; i++) {
		culprits->list[i].from_start = false;
		culprits->list[i].events = 0;
	}
}

/* If the trace has no events, the start state is all there is. */
static void stay_at_start(struct gp_explain *explain)
{
	if (explain->trace->devices[explain->device].event_count)
		return;
	explain->state = explain->result.end;
	explain->result.end = (struct gp_state){ 0 };
}

static void hold_by(enum gp_hold_by by, const struct gp_explain *explain,
		    const struct gp_state *state, struct gp_culprits *live)
{
	struct askers askers;

	if (!askers_can_be(by, explain->trace))
		return;
	askers_init_by(&askers, by, explain->trace,
		       &explain->trace->devices[explain->device], NULL);
	culprits_live(&askers, state, explain->live_event, live);
	askers_release(&askers);
}

static void look_at_use(const struct askers *askers,
			const struct gp_state *state, uint64_t event,
			struct gp_explain *explain)
{
	explain->live_event = event;
	culprits_live(askers, state, event, &explain->live);
	hold_by(GP_HOLD_BY_CATEGORY, explain, state, &explain->by_category);
	hold_by(GP_HOLD_BY_MODULE, explain, state, &explain->by_module);
	for (size_t i = 0; i < explain->live.count; i++)
		explain->live_bytes += explain->live.list[i].bytes;
}

static void take_state(void *arg, struct gp_allocator *allocator,
		       uint64_t event)
{
	(void)event;
	allocator->ops->state(allocator, arg);
}

/* Examines what is in use at the moment of most memory in use on an unlimited
 * device. */
static enum gp_status look_at_most_use(const struct gp_explain_config *config,
				       const struct askers *askers,
				       struct gp_explain *explain,
				       struct gp_diag *diag)
{
	struct gp_replay_config run = *config->run;
	uint64_t event = gp_study_fullest(run.trace, run.device);
	struct gp_replay_result endless;
	struct gp_state state = { 0 };
	enum gp_status status;

	notify(config, "looking for the moment with the most in use");
	run.capacity = GP_UNLIMITED;
	run.look = take_state;
	run.look_arg = &state;
	run.looks = &event;
	run.look_count = 1;
	status = gp_replay(&run, &endless, diag);
	if (status != GP_OK)
		return status;
	look_at_use(askers, &state, event, explain);
	gp_state_release(&state);
	gp_replay_release(&endless);
	return GP_OK;
}

/* Whether clearly more memory is in use at another moment. */
static bool is_use_elsewhere(const struct gp_explain_config *config,
			     const struct gp_explain *explain)
{
	const struct gp_replay_result *result = &explain->result;
	uint64_t peak = gp_replay_peak_allocated(result);

	if (!explain->has_requests)
		return false;
	return config->is_too_small ||
	       (config->look_at_most_use && !result->first_oom.is_there &&
		explain->gap.allocated < peak - peak / TENTH);
}

/* Evaluates the state at the moment explained. */
static void look_at_state(const struct askers *askers,
			  const struct gp_settings *settings,
			  struct gp_explain *explain)
{
	gp_gap_of(explain->trace, settings, &explain->state, &explain->gap);
	gp_pins_of(settings, &explain->state, &explain->pins);
	culprits_now(askers, &explain->pins, explain->event, &explain->now);
	if (!explain->has_requests)
		explain->over_time.count = 0;
	if (explain->result.first_oom.is_there)
		gp_relief_find(&explain->result.first_oom, &explain->state,
			       &explain->relief);
}

enum gp_status gp_explain(const struct gp_explain_config *config,
			  struct gp_explain *explain, struct gp_diag *diag)
{
	struct gp_replay_config run = *config->run;
	const struct gp_device_trace *device = &run.trace->devices[run.device];
	struct askers askers;
	enum gp_status status;

	*explain = (struct gp_explain){ .trace = run.trace,
					.device = run.device,
					.capacity = run.capacity };
	notify(config, "replaying");
	run.keep_ooms = true;
	status = gp_replay(&run, &explain->result, diag);
	if (status != GP_OK)
		return status;
	explain->event = moment_of(config, explain);
	explain->has_requests = gp_trace_has_allocs(device);
	askers_init(&askers, run.trace, device);
	gp_steps_find(run.trace, run.device, &explain->steps);
	status = follow(config, &askers, explain, diag);
	if (status == GP_OK) {
		stay_at_start(explain);
		look_at_state(&askers, run.settings, explain);
		if (is_use_elsewhere(config, explain))
			status = look_at_most_use(config, &askers, explain,
						  diag);
		else
			look_at_use(&askers, &explain->state, explain->event,
				    explain);
		if (!explain->has_requests) {
			forget_times(&explain->now);
			forget_times(&explain->live);
		}
		if (status == GP_OK && !config->skip_attempts)
			status = attempts_run(config, explain, diag);
	}
	if (status == GP_OK && !config->skip_attempts) {
		notify(config, "looking for a packing");
		find_floor(explain);
	}
	failures_judge(explain);
	askers_release(&askers);
	if (status != GP_OK)
		gp_explain_release(explain);
	return status;
}

void gp_explain_release(struct gp_explain *explain)
{
	gp_replay_release(&explain->result);
	gp_state_release(&explain->state);
	gp_gap_release(&explain->gap);
	gp_pins_release(&explain->pins);
	free(explain->now.list);
	free(explain->over_time.list);
	free(explain->live.list);
	free(explain->by_category.list);
	free(explain->by_module.list);
	free(explain->retries.list);
	free(explain->empty_caches.list);
	free(explain->steps.list);
	free(explain->attempts);
	free(explain->failures);
	*explain = (struct gp_explain){ 0 };
}
