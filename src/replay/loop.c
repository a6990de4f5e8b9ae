/* SPDX-License-Identifier: MIT */
/*
 * A replay: the loop over a device's events.
 *
 * Requests go to the engine. Of the recorded outcomes, a segment_alloc tells
 * the device which address to prefer, and the others are skipped; in a
 * verification the recorded device takes its answers from them.
 */
#include "gpupool/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "replay/recorded.h"
#include "replay/requests.h"
#include "replay/watch.h"

struct replay {
	const struct gp_replay_config *config;
	const struct gp_trace *trace;
	const struct gp_device_trace *device_trace;
	struct gp_replay_result *result;
	const struct order *order; /* of the start segments */
	struct gp_device *device;
	struct gp_allocator *allocator;
	struct recorded recorded;
	struct watch watch;
	struct memory_check check;
	struct configured configured; /* at the last OOM */
	size_t event;		      /* index of the current event */
	size_t look;	      /* index into config->looks, or the next event */
	size_t first_outcome; /* of those not yet compared, in a verification */
	uint64_t next;	      /* next_pause(); 0: pause after this event */
	bool is_verifying, may_end_early;
	bool may_end_anywhere; /* not only at an OOM */
	bool is_checked;       /* verifying, or checking memory */
};

static void pass_action(void *arg, const struct gp_action *action)
{
	struct replay *r = arg;

	r->config->action(r->config->action_arg, action, r->event);
}

static enum gp_status start(struct replay *r, struct gp_diag *diag)
{
	const struct gp_device_trace *t = r->device_trace;
	struct gp_allocator_config config = {
		.engine = r->config->engine,
		.settings = r->config->settings,
		.device_ordinal = t->device,
		.streams = r->trace->streams,
		.stream_count = r->trace->stream_count,
		.pools = r->trace->pools,
		.pool_count = r->trace->pool_count,
		.block_ids = t->block_ids,
		.start = t->start.segment_count ? &t->start : NULL,
		.start_ranks = r->order->ranks,
		.action = r->config->action ? pass_action : NULL,
		.action_arg = r,
		.conf = r->config->conf,
		.torch_lib = r->config->torch_lib,
		.torch_cuda = r->config->torch_cuda,
		.pool_settings = r->config->pool_settings,
		.places = r->config->places,
	};
	enum gp_status status;

	r->is_verifying = r->config->mode == GP_VERIFY;
	if (r->config->keep_alike && !r->is_verifying)
		config.alike = &r->result->alike;
	if (r->is_verifying) {
		recorded_init(&r->recorded, t, r->config->capacity);
		r->device = &r->recorded.device;
	} else if (r->config->make_device) {
		r->device =
			r->config->make_device(r->config->make_device_arg,
					       t->device, r->config->capacity);
	} else {
		r->device = gp_sim_create(t->device, r->config->capacity);
	}
	request_places(r->device, r->trace, t);
	config.device = r->device;
	status = r->config->engine->create(&config, &r->allocator, diag);
	if (status != GP_OK) {
		gp_device_destroy(r->device);
		return status;
	}
	watch_init(&r->watch, r->allocator, t->event_count, r->result);
	if (r->config->check_memory)
		memory_check_init(&r->check, r->device, t->block_ids,
				  &r->result->memory);
	r->is_checked = r->is_verifying || r->check.blocks;
	return GP_OK;
}

/* ---- requests ---- */

static void note_refusal(struct replay *r)
{
	struct gp_replay_result *result = r->result;

	if (!result->refused++) {
		if (r->allocator->ops->refusal)
			snprintf(result->first_refusal,
				 sizeof(result->first_refusal), "%s",
				 r->allocator->ops->refusal(r->allocator));
		result->first_refusal_event = r->event;
	}
}

static void note_oom(struct replay *r, const struct gp_event *event,
		     enum gp_answer answer)
{
	struct gp_oom oom;

	if (r->config->on_oom == GP_OOM_STOP)
		r->next = 0;
	if (!oom_is_described(r->config, r->result)) {
		oom_add(r->result, r->config, r->event, NULL);
		return;
	}
	oom = watch_oom(&r->watch, r->device, event, r->event);
	oom_describe(&oom, r->config, &r->configured, r->allocator, r->device);
	oom.is_rejected = answer == GP_REJECTED;
	oom_add(r->result, r->config, r->event, &oom);
}

static inline __attribute__((always_inline)) enum gp_answer ask(
	struct replay *r, const struct gp_event *event, uint64_t *addr)
{
	const struct gp_allocator_ops *ops = r->allocator->ops;
	bool is_restored = event->flags & GP_RESTORED && ops->restore &&
			   !r->config->places_nothing;

	*addr = is_restored ? event->addr : 0;
	return (is_restored ? ops->restore
			    : ops->alloc)(r->allocator, event->id, event->size,
					  event->stream, event->pool, addr);
}

static void note_unserved(struct replay *r, const struct gp_event *event,
			  enum gp_answer answer)
{
	r->result->dropped++;
	if (answer == GP_REFUSED_BY_RULE)
		note_refusal(r);
	else
		note_oom(r, event, answer);
}

/* An alloc whose answer is compared with the recording, or whose memory is
 * written. */
static void do_checked_alloc(struct replay *r, const struct gp_event *event)
{
	enum gp_answer answer;
	uint64_t addr;

	if (r->is_verifying)
		recorded_aim(&r->recorded, r->first_outcome, r->event);
	answer = ask(r, event, &addr);
	if (answer != GP_SERVED)
		note_unserved(r, event, answer);
	else if (r->check.blocks)
		memory_check_write(&r->check, event->id, addr, event->size,
				   r->event);
	if (r->is_verifying)
		fidelity_check(&r->result->fidelity, &r->recorded, event,
			       r->event, answer, addr);
}

static void do_alloc(struct replay *r, const struct gp_event *event)
{
	enum gp_answer answer;
	uint64_t addr;

	r->result->allocs++;
	if (r->is_checked) {
		do_checked_alloc(r, event);
		return;
	}
	answer = ask(r, event, &addr);
	if (answer != GP_SERVED)
		note_unserved(r, event, answer);
}

static void set_other(struct replay *r, uint64_t bytes)
{
	struct gp_no_room *others = &r->result->others;

	r->device->ops->set_other(r->device, bytes);
	if (!others->missing && r->device->reach.others_short)
		*others = (struct gp_no_room){
			.event = r->event,
			.missing = r->device->reach.others_short,
		};
}

/* Whether the outcomes before this event belong to no later request. */
static bool ends_outcomes(const struct gp_event *event)
{
	return event->kind < GP_FIRST_OUTCOME && event->kind != GP_MARK &&
	       event->kind != GP_SYNCHRONIZE;
}

static void pass_outcomes(struct replay *r, const struct gp_event *event)
{
	/* The outcomes of empty_cache are recorded after it. */
	if (event->kind == GP_EMPTY_CACHE)
		r->first_outcome =
			recorded_end_of_returns(r->device_trace, r->event);
	else if (ends_outcomes(event))
		r->first_outcome = r->event + 1;
}

static void do_free(struct replay *r, const struct gp_event *event)
{
	if (r->check.blocks)
		memory_check_read(&r->check, event->id, r->event);
	r->allocator->ops->free(r->allocator, event->id);
}

/* Adds what the allocator counted since the last reset. */
static void add_counts(struct gp_run_counts *counts,
		       struct gp_allocator *allocator)
{
	const struct gp_stats *stats = allocator->ops->stats(allocator);

	counts->retries += stats->num_alloc_retries;
	counts->synchronizes += stats->num_sync_all_streams;
	counts->device_allocs += stats->num_device_alloc;
	counts->device_frees += stats->num_device_free;
}

static void do_other(struct replay *r, const struct gp_event *event)
{
	enum gp_answer answer = GP_SERVED;

	if (event->kind == GP_RESET_ACCUMULATED)
		add_counts(&r->result->counts, r->allocator);
	if (event->kind == GP_OTHER_MEMORY)
		set_other(r, event->size);
	else if (event->kind == GP_SEGMENT_ALLOC)
		request_prefers(r->device, event);
	else
		answer = request_other(r->allocator, r->trace, event);
	if (answer == GP_REFUSED_BY_RULE)
		note_refusal(r);
}

/* Most events are an alloc or a free, in no predictable order. Comparisons
 * cause fewer branch mispredictions here than a switch with a jump table. */
static inline void do_event(struct replay *r, const struct gp_event *event)
{
	if (event->kind == GP_FREE)
		do_free(r, event);
	else if (event->kind == GP_ALLOC)
		do_alloc(r, event);
	else
		do_other(r, event);
}

static bool is_over(const struct replay *r)
{
	r->result->is_interrupted =
		r->config->is_interrupted && r->config->is_interrupted();
	if (r->config->cut)
		watch_cut(&r->watch, r->config->cut, r->event);
	return r->result->is_interrupted || r->result->is_cut ||
	       (r->config->on_oom == GP_OOM_STOP &&
		r->result->first_oom.is_there) ||
	       (r->config->until_mismatch &&
		r->result->fidelity.first.is_there);
}

/* The event after which config->look is called next. */
static uint64_t next_look(const struct replay *r)
{
	const struct gp_replay_config *config = r->config;

	if (!config->look)
		return UINT64_MAX;
	if (!config->looks)
		return r->look;
	return r->look < config->look_count ? config->looks[r->look]
					    : UINT64_MAX;
}

static void do_look(struct replay *r)
{
	r->config->look(r->config->look_arg, r->allocator, r->event);
	while (next_look(r) == r->event)
		r->look++;
}

/*
 * The next event after which anything but the request itself is to be done. The
 * loop compares each event with this one number only.
 */
static uint64_t next_pause(const struct replay *r)
{
	if (r->is_verifying || r->may_end_anywhere)
		return 0;
	return gp_smaller(next_look(r), r->watch.bin_end);
}

/* Returns false if the run ends here. */
static bool pause(struct replay *r, const struct gp_event *event)
{
	if (r->is_verifying)
		pass_outcomes(r, event);
	watch_event(&r->watch, r->event);
	watch_rise(&r->watch, r->event);
	if (r->event == next_look(r))
		do_look(r);
	return !r->may_end_early || !is_over(r);
}

/* An alloc and the free of its block, which is the next event, in one call;
 * false: nothing was done. */
static inline bool do_both(struct replay *r, const struct gp_event *event)
{
	uint64_t bytes = r->allocator->ops->alloc_and_free(
		r->allocator, event->size, event->stream, event->pool,
		watch_most(&r->watch));

	if (!bytes)
		return false;
	watch_touch(&r->watch, bytes);
	r->result->allocs++;
	return true;
}

/* The first event that must not be part of an alloc_and_free, because something
 * is to be done after it. */
static uint64_t end_of_both(const struct replay *r, uint64_t next, size_t stop)
{
	if (!r->allocator->ops->alloc_and_free || r->is_checked || !stop)
		return 0;
	return gp_smaller(next, stop - 1);
}

/* Runs events up to but not including stop. */
static void run(struct replay *r, size_t stop)
{
	const struct gp_event *events = r->device_trace->events;
	uint64_t requests = 0, both;

	r->next = next_pause(r);
	both = end_of_both(r, r->next, stop);
	for (r->event = 0; r->event < stop; r->event++) {
		const struct gp_event *event = &events[r->event];

		if (r->event < both && request_is_both(event) &&
		    do_both(r, event)) {
			requests++;
			r->event++;
			event++;
		} else {
			do_event(r, event);
		}
		requests += event->kind < GP_FIRST_OUTCOME;
		if (r->event >= r->next) {
			if (!pause(r, event))
				break;
			r->next = next_pause(r);
			both = end_of_both(r, r->next, stop);
		} else if (event->kind != GP_FREE) {
			watch_rise(&r->watch, r->event);
		}
	}
	r->result->requests = requests;
}

/* ---- the result ---- */

static void note_pools(struct gp_replay_result *result,
		       const struct gp_trace *trace,
		       struct gp_allocator *allocator)
{
	const struct gp_allocator_ops *ops = allocator->ops;

	if (!ops->pool_reserved || trace->pool_count < 2)
		return;
	result->pools = gp_mem_alloc(trace->pool_count, sizeof(*result->pools));
	for (size_t i = 1; i < trace->pool_count; i++)
		result->pool_count +=
			ops->pool_reserved(allocator, (uint16_t)i,
					   &result->pools[result->pool_count]);
}

static void collect_results(struct gp_replay_result *result,
			    const struct gp_replay_config *config,
			    struct gp_allocator *allocator,
			    struct gp_device *device)
{
	result->stats = *allocator->ops->stats(allocator);
	add_counts(&result->counts, allocator);
	result->recorded = gp_trace_recorded(config->trace, config->device);
	note_pools(result, config->trace, allocator);
	result->calls = device->calls;
	result->reach = device->reach;
	if (device->ops->times)
		result->time_count = device->ops->times(device, result->times,
							GP_CALL_TIMES);
	allocator->ops->state(allocator, &result->end);
}

/* GP_OK, unless the engine or the device failed during the run. */
static enum gp_status check_health(struct gp_allocator *allocator,
				   struct gp_device *device,
				   struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	if (allocator->ops->health)
		status = allocator->ops->health(allocator, diag);
	if (status == GP_OK && device->ops->health)
		status = device->ops->health(device, diag);
	return status;
}

bool gp_replay_has_room(const struct gp_replay_result *result)
{
	return !result->first_oom.is_there && !result->others.missing;
}

uint64_t gp_replay_peak_allocated(const struct gp_replay_result *result)
{
	uint64_t peak = result->at_end.allocated;

	for (uint32_t i = 0; i < result->timeline.bins; i++)
		if (result->timeline.allocated[i] > peak)
			peak = result->timeline.allocated[i];
	return peak;
}

void gp_replay_release(struct gp_replay_result *result)
{
	free(result->pools);
	free(result->ooms.events);
	free(result->ooms.list);
	gp_state_release(&result->end);
	gp_state_release(&result->peak);
}

/* ---- whole runs ---- */

static enum gp_status end(struct replay *r, struct gp_diag *diag)
{
	enum gp_status status;

	watch_end(&r->watch, r->event);
	memory_check_end(&r->check, r->event);
	collect_results(r->result, r->config, r->allocator, r->device);
	status = check_health(r->allocator, r->device, diag);
	r->allocator->ops->destroy(r->allocator);
	gp_device_destroy(r->device);
	return status;
}

static void replay_init(struct replay *r, const struct gp_replay_config *config,
			const struct order *order,
			struct gp_replay_result *result)
{
	*r = (struct replay){
		.config = config,
		.trace = config->trace,
		.device_trace = &config->trace->devices[config->device],
		.order = order,
		.result = result,
		.configured = configured_at_start(config->settings),
		.may_end_anywhere = config->until_mismatch ||
				    config->is_interrupted || config->cut,
	};
	r->may_end_early = r->may_end_anywhere || config->on_oom == GP_OOM_STOP;
	*result = (struct gp_replay_result){ 0 };
	result->alike = gp_alike_of(config->settings);
}

/* The same run without callbacks and checks. */
static struct gp_replay_config quietly(const struct gp_replay_config *config)
{
	struct gp_replay_config quiet = *config;

	quiet.action = NULL;
	quiet.look = NULL;
	quiet.check_memory = false;
	quiet.keep_alike = false;
	return quiet;
}

/* Lists the free blocks that could have been taken at the first mismatch, by a
 * run up to that event. */
static void list_candidates(const struct gp_replay_config *config,
			    const struct order *order,
			    const struct gp_mismatch *mismatch,
			    struct candidates *candidates)
{
	struct gp_replay_config quiet = quietly(config);
	struct gp_replay_result result;
	struct gp_diag ignored = { 0 };
	struct replay r;

	candidates->count = 0;
	replay_init(&r, &quiet, order, &result);
	if (start(&r, &ignored) != GP_OK)
		return;
	run(&r, mismatch->event);
	if (r.allocator->ops->candidates)
		candidates->count = r.allocator->ops->candidates(
			r.allocator, mismatch->requested, mismatch->stream,
			mismatch->pool, candidates->list, MOST_CANDIDATES);
	end(&r, &ignored);
	gp_replay_release(&result);
}

/* Keeps as many as a report has room for. */
static void note_candidates(const struct gp_replay_config *config,
			    const struct order *order,
			    struct gp_mismatch *mismatch)
{
	struct candidates candidates;
	size_t n;

	list_candidates(config, order, mismatch, &candidates);
	n = candidates.count < GP_CANDIDATES ? candidates.count : GP_CANDIDATES;
	memcpy(mismatch->candidates, candidates.list,
	       n * sizeof(*candidates.list));
	mismatch->candidate_count = (uint32_t)n;
}

static void look_at_start(struct replay *r)
{
	const struct gp_replay_config *config = r->config;

	if (!config->look || !config->look_count ||
	    config->looks[0] != GP_AT_START)
		return;
	config->look(config->look_arg, r->allocator, GP_AT_START);
	r->look++;
}

static enum gp_status run_all(const struct gp_replay_config *config,
			      const struct order *order,
			      struct gp_replay_result *result,
			      struct gp_diag *diag)
{
	enum gp_status status;
	struct gp_moment at_start;
	struct replay r;

	replay_init(&r, config, order, result);
	status = start(&r, diag);
	if (status != GP_OK)
		return status;
	at_start = result->at_peak;
	look_at_start(&r);
	run(&r, r.device_trace->event_count);
	result->peak_is_from_start =
		result->at_peak.reserved == at_start.reserved;
	result->fullest_is_start =
		result->peak_is_from_start &&
		result->at_fullest.allocated == at_start.allocated;
	return end(&r, diag);
}

/* Runs without callbacks up to the first mismatch; false: there is none. */
static bool find_mismatch(const struct gp_replay_config *config,
			  const struct order *order,
			  struct gp_mismatch *mismatch)
{
	struct gp_replay_config quiet = quietly(config);
	struct gp_replay_result result;
	struct gp_diag ignored = { 0 };

	quiet.until_mismatch = true;
	if (run_all(&quiet, order, &result, &ignored) != GP_OK)
		return false;
	*mismatch = result.fidelity.first;
	gp_replay_release(&result);
	return mismatch->is_there;
}

/* Keeps the allocator's state at the fullest moment of the peak, by a second
 * run up to that event. */
static enum gp_status keep_peak(const struct gp_replay_config *config,
				const struct order *order,
				struct gp_replay_result *result,
				struct gp_diag *diag)
{
	const struct gp_moment *fullest = &result->at_fullest;
	struct gp_replay_config quiet = quietly(config);
	struct gp_replay_result again;
	enum gp_status status;
	struct replay r;

	replay_init(&r, &quiet, order, &again);
	status = start(&r, diag);
	if (status != GP_OK)
		return status;
	if (!result->fullest_is_start)
		run(&r, fullest->event + 1);
	status = end(&r, diag);
	result->peak = again.end;
	again.end = (struct gp_state){ 0 };
	gp_replay_release(&again);
	return status;
}

#define ORDER_TRIES 256

/* In a verification of a window: learns the age of its segments from one
 * mismatch after the other (replay/recorded.h). */
static void learn_order(const struct gp_replay_config *config,
			struct order *order)
{
	const struct gp_state *start =
		&config->trace->devices[config->device].start;
	struct candidates candidates;
	struct gp_mismatch mismatch;

	if (config->mode != GP_VERIFY || !start->segment_count)
		return;
	for (int i = 0; i < ORDER_TRIES; i++) {
		if (!find_mismatch(config, order, &mismatch))
			return;
		list_candidates(config, order, &mismatch, &candidates);
		if (!order_learn(order, start, &mismatch, &candidates))
			return;
	}
}

/* Sets what the caller left at its default. */
static enum gp_status set_defaults(struct gp_replay_config *config,
				   struct gp_settings *settings,
				   struct gp_diag *diag)
{
	const struct gp_trace *trace = config->trace;
	size_t count;

	if (config->device >= trace->device_count)
		return gp_diag_set(diag, GP_USAGE,
				   "the trace has no device of index %u",
				   config->device);
	if (!config->engine)
		config->engine = gp_engine_table(&count);
	if (config->settings)
		return GP_OK;
	if (!config->conf)
		config->conf = gp_trace_conf(trace);
	if (!config->capacity)
		config->capacity = gp_replay_capacity_of(trace, config->device);
	config->settings = settings;
	gp_settings_init(settings, trace->release.last);
	return gp_settings_parse(settings, config->conf, diag);
}

static enum gp_status replay(const struct gp_replay_config *config,
			     struct gp_replay_result *result,
			     struct gp_diag *diag)
{
	struct order order = { 0 };
	enum gp_status status;

	learn_order(config, &order);
	status = run_all(config, &order, result, diag);
	if (status == GP_OK && result->fidelity.first.is_there &&
	    !config->until_mismatch)
		note_candidates(config, &order, &result->fidelity.first);
	if (status == GP_OK && config->keep_peak)
		status = keep_peak(config, &order, result, diag);
	order_release(&order);
	return status;
}

enum gp_status gp_replay(const struct gp_replay_config *given,
			 struct gp_replay_result *result, struct gp_diag *diag)
{
	struct gp_replay_config config = *given;
	struct gp_settings settings;
	enum gp_status status = set_defaults(&config, &settings, diag);

	*result = (struct gp_replay_result){ 0 };
	if (status == GP_OK)
		status = replay(&config, result, diag);
	if (status != GP_OK) {
		gp_replay_release(result);
		*result = (struct gp_replay_result){ 0 };
	}
	return status;
}
