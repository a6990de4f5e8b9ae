/* SPDX-License-Identifier: MIT */
/*
 * Both runs of the same requests, and the first place where they part.
 */
#include "replay/verify/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "replay/verify/deeds.h"
#include "replay/verify/prologue.h"
#include "replay/verify/told.h"

/* Where PyTorch walks blocks or pools by the hash of a pointer. */
#define FIRST_HASHED 9
#define LAST_HASHED  12

struct run {
	struct gp_deed *deeds;
	size_t count, room;
	struct gp_replay_result result;
};

struct verify {
	const struct gp_verify_config *config;
	struct gp_verify_result *result;
	struct gp_diag *diag;
	struct prologue prologue;
	struct run ours, theirs;
	struct told_script script; /* what ours follows, if it is to */
};

/* ---- runs ---- */

static void keep(void *arg, const struct gp_action *action, uint64_t event)
{
	struct run *run = arg;

	if (action->kind == GP_SNAPSHOT)
		return;
	run->deeds = gp_mem_grow(run->deeds, &run->room, run->count + 1,
				 sizeof(*run->deeds));
	run->deeds[run->count++] = (struct gp_deed){ *action, event };
}

static void run_release(struct run *run)
{
	free(run->deeds);
	gp_replay_release(&run->result);
	*run = (struct run){ 0 };
}

enum side { OURS, THEIRS };

static const struct gp_engine *engine_of(const struct verify *v, enum side side)
{
	const struct gp_engine *torch = gp_engine_find("torch");
	const struct gp_engine *engine =
		v->config->engine ? v->config->engine : torch;

	return side == OURS && engine == torch ? gp_engine_find("caching")
					       : engine;
}

/* The first requests, by one side. */
static enum gp_status play(struct verify *v, enum side side, size_t events,
			   struct run *run)
{
	struct gp_trace trace = v->prologue.trace;
	struct gp_device_trace device = v->prologue.device;
	struct gp_replay_config config = {
		.trace = &trace,
		.settings = v->config->settings,
		.engine = engine_of(v, side),
		.conf = v->config->conf,
		.torch_lib = v->config->torch_lib,
		.mode = GP_WHAT_IF,
		.capacity = v->config->capacity,
		.places_nothing = true,
		.action = keep,
		.action_arg = run,
		.is_interrupted = v->config->is_interrupted,
	};

	/* PyTorch's addresses are the device's; ours are to be the same. */
	if (side == OURS && v->script.count) {
		config.make_device = told_create;
		config.make_device_arg = &v->script;
	}
	if (side == THEIRS) {
		config.make_device = v->config->make_device;
		config.make_device_arg = v->config->make_device_arg;
		config.check_memory = v->config->check_memory;
		config.torch_cuda = v->config->torch_cuda;
	}
	device.event_count = events;
	trace.devices = &device;
	*run = (struct run){ 0 };
	return gp_replay(&config, &run->result, v->diag);
}

static enum gp_status play_both(struct verify *v, size_t events,
				struct run *ours, struct run *theirs)
{
	enum gp_status status = play(v, OURS, events, ours);

	*theirs = (struct run){ 0 };
	return status == GP_OK ? play(v, THEIRS, events, theirs) : status;
}

/* ---- actions ---- */

static bool has_event(const struct verify *v, enum gp_event_kind kind,
		      uint16_t stream)
{
	for (size_t i = 0; i < v->prologue.count; i++)
		if (v->prologue.events[i].kind == kind &&
		    (stream == GP_ALL_STREAMS ||
		     v->prologue.events[i].stream == stream))
			return true;
	return false;
}

/* From 2.13 on only captures still defer blocks.  Those that wait for a stream
 * the trace does not name are also walked in an order of our making. */
static bool order_is_open(const struct verify *v)
{
	uint8_t release = v->config->settings->release;

	if (release >= FIRST_HASHED &&
	    (release <= LAST_HASHED ||
	     has_event(v, GP_CAPTURE_BEGIN, GP_ALL_STREAMS)))
		return true;
	return has_event(v, GP_RECORD_STREAM, GP_NO_STREAM);
}

static size_t permuted(const struct verify *v, const struct deed_terms *terms,
		       size_t at)
{
	return deeds_permuted(terms, v->ours.deeds + at, v->ours.count - at,
			      v->theirs.deeds + at, v->theirs.count - at);
}

/* The index of the first action that differs, or SIZE_MAX. */
static size_t compare_actions(struct verify *v)
{
	struct deed_terms terms = {
		.is_on_device = v->config->make_device != NULL,
	};
	bool is_open = order_is_open(v);
	size_t i = 0, n;

	while (i < v->ours.count && i < v->theirs.count) {
		if (deed_is_equal(&terms, &v->ours.deeds[i],
				  &v->theirs.deeds[i])) {
			i++;
			continue;
		}
		n = is_open ? permuted(v, &terms, i) : 0;
		if (!n)
			return i;
		v->result->permuted += n;
		i += n;
	}
	v->result->actions = i;
	return v->ours.count == v->theirs.count ? SIZE_MAX : i;
}

/* ---- counters ---- */

/* Only the present value does not depend on the order of completions. */
static bool is_loose(const struct verify *v, const char *name)
{
	static const char last[] = "current";
	size_t length = strlen(name);

	return v->result->permuted && !strncmp(name, "inactive", 8) &&
	       (length < sizeof(last) ||
		strcmp(name + length - (sizeof(last) - 1), last) != 0);
}

/* What the release does not count is 0 in PyTorch's answer. */
static bool is_counted(const struct verify *v, const char *name)
{
	uint8_t release = v->config->settings->release;

	if (!strcmp(name, "num_oom_rejections"))
		return release >= 12;
	if (!strcmp(name, "num_sync_all_streams") ||
	    !strncmp(name, "num_device", 10))
		return release >= 4;
	return true;
}

static bool counters_are_equal(struct verify *v, const struct gp_stats *a,
			       const struct gp_stats *b)
{
	uint64_t compared = 0;
	bool equal = true;
	int64_t x, y;
	char name[64];

	for (size_t i = 0;
	     gp_verify_counter(i, name, sizeof(name), a, b, &x, &y); i++) {
		if (is_loose(v, name) || !is_counted(v, name))
			continue;
		compared++;
		equal = equal && x == y;
	}
	v->result->counters = compared;
	return equal;
}

/* ---- the first difference ---- */

static int by_size(const void *a, const void *b)
{
	const struct gp_candidate *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static size_t free_blocks(const struct gp_state *state, size_t segment,
			  uint64_t least, struct gp_candidate *found)
{
	const struct gp_segment *s = &state->segments[segment];
	size_t n = 0;

	for (uint32_t i = 0; i < s->blocks; i++) {
		const struct gp_block *b = &state->blocks[s->first_block + i];

		if (b->state == GP_INACTIVE && b->size >= least)
			found[n++] = (struct gp_candidate){ b->addr, b->size,
							    s->addr, s->size };
	}
	return n;
}

static void list_candidates(const struct verify *v,
			    const struct gp_event *request,
			    const struct gp_state *state,
			    struct gp_verify_side *side)
{
	struct gp_candidate *found =
		gp_mem_alloc(state->block_count + 1, sizeof(*found));
	uint64_t least = gp_settings_round(v->config->settings, request->size);
	size_t n = 0;

	for (size_t i = 0; i < state->segment_count; i++)
		if (state->segments[i].stream == request->stream)
			n += free_blocks(state, i, least, found + n);
	qsort(found, n, sizeof(*found), by_size);
	side->candidate_count = n < GP_CANDIDATES ? n : GP_CANDIDATES;
	memcpy(side->candidates, found, side->candidate_count * sizeof(*found));
	free(found);
}

static void list_deeds(const struct run *run, size_t from, size_t stop,
		       struct gp_verify_side *side)
{
	for (size_t i = from; i < stop && i < run->count; i++)
		side->deeds[side->count++] = run->deeds[i];
}

/* What the release does not count is no difference. */
static void keep_end(const struct verify *v, const struct run *run,
		     struct gp_verify_side *side)
{
	_Static_assert(sizeof(side->refusal) ==
			       sizeof(run->result.first_refusal),
		       "one text goes into the other");
	side->stats = run->result.stats;
	if (!is_counted(v, "num_oom_rejections"))
		side->stats.num_oom_rejections = 0;
	if (!is_counted(v, "num_sync_all_streams"))
		side->stats.num_sync_all_streams =
			side->stats.num_device_alloc =
				side->stats.num_device_free = 0;
	memcpy(side->refusal, run->result.first_refusal, sizeof(side->refusal));
	side->refusal_event = run->result.first_refusal_event;
}

/* The state before the request, and the counters behind it. */
static enum gp_status look_closer(struct verify *v, size_t event)
{
	struct gp_difference *d = &v->result->first;
	struct run ours, theirs;
	enum gp_status status = play_both(v, event, &ours, &theirs);

	if (status == GP_OK && d->request.kind == GP_ALLOC) {
		list_candidates(v, &d->request, &ours.result.end, &d->ours);
		list_candidates(v, &d->request, &theirs.result.end, &d->theirs);
	}
	run_release(&ours);
	run_release(&theirs);
	if (status == GP_OK)
		status = play_both(v, event + 1, &ours, &theirs);
	keep_end(v, &ours, &d->ours);
	keep_end(v, &theirs, &d->theirs);
	run_release(&ours);
	run_release(&theirs);
	return status;
}

static enum gp_status differ(struct verify *v, enum gp_difference_kind kind,
			     size_t event, size_t deed)
{
	struct gp_difference *d = &v->result->first;
	size_t from = deed > GP_VERIFY_BEFORE ? deed - GP_VERIFY_BEFORE : 0;

	d->is_there = true;
	d->kind = kind;
	d->is_in_start = event < v->prologue.length;
	d->event = d->is_in_start ? event : event - v->prologue.length;
	d->request = v->prologue.events[event];
	d->before = deed - from;
	list_deeds(&v->ours, from, deed + GP_VERIFY_AFTER, &d->ours);
	list_deeds(&v->theirs, from, deed + GP_VERIFY_AFTER, &d->theirs);
	return look_closer(v, event);
}

static size_t event_of(const struct run *run, size_t deed, size_t otherwise)
{
	return deed < run->count ? run->deeds[deed].event : otherwise;
}

static enum gp_status differ_in_action(struct verify *v, size_t deed)
{
	size_t last = v->prologue.count ? v->prologue.count - 1 : 0;
	size_t a = event_of(&v->ours, deed, last);
	size_t b = event_of(&v->theirs, deed, last);

	return differ(v, GP_DIFFERENT_ACTION, a < b ? a : b, deed);
}

/* Actions caused by requests before that one. */
static size_t deeds_before(const struct run *run, size_t event)
{
	size_t i = 0;

	while (i < run->count && run->deeds[i].event < event)
		i++;
	return i;
}

static bool is_alike_after(struct verify *v, size_t events,
			   enum gp_status *status)
{
	struct run ours, theirs;
	bool alike;

	*status = play_both(v, events, &ours, &theirs);
	alike = counters_are_equal(v, &ours.result.stats,
				   &theirs.result.stats) &&
		ours.result.dropped == theirs.result.dropped &&
		ours.result.refused == theirs.result.refused;
	run_release(&ours);
	run_release(&theirs);
	return alike;
}

/* Halves the requests until the one is found behind which they differ. */
static enum gp_status differ_in_counter(struct verify *v,
					enum gp_difference_kind kind)
{
	size_t low = 0, high = v->prologue.count; /* alike, and not */
	enum gp_status status = GP_OK;

	while (high - low > 1 && status == GP_OK) {
		size_t middle = low + (high - low) / 2;

		if (is_alike_after(v, middle, &status))
			low = middle;
		else
			high = middle;
	}
	if (status != GP_OK)
		return status;
	return differ(v, kind, low, deeds_before(&v->ours, low));
}

/* ---- the whole ---- */

static enum gp_status check_start(struct verify *v)
{
	const struct gp_state *start =
		&v->config->trace->devices[v->config->device].start;
	enum gp_status status;
	struct run run;

	v->result->start_segments = start->segment_count;
	v->result->start_requests = v->prologue.length;
	if (!v->prologue.length)
		return GP_OK;
	status = play(v, OURS, v->prologue.length, &run);
	v->result->start_rebuilt = prologue_alike(start, &run.result.end);
	run_release(&run);
	return status;
}

/* Whether what the first run reserved is there for the second one. */
static void weigh(struct verify *v)
{
	struct gp_verify_result *result = v->result;

	result->peak = v->ours.result.at_peak.reserved;
	result->is_too_large =
		v->config->room && result->peak > v->config->room;
}

/* The first run again, with memory where the second one's is. */
static enum gp_status follow(struct verify *v)
{
	v->script = (struct told_script){ v->theirs.deeds, v->theirs.count };
	run_release(&v->ours);
	return play(v, OURS, v->prologue.count, &v->ours);
}

static enum gp_status compare(struct verify *v)
{
	size_t deed = compare_actions(v);

	if (deed != SIZE_MAX) {
		v->result->actions = deed;
		return differ_in_action(v, deed);
	}
	if (!counters_are_equal(v, &v->ours.result.stats,
				&v->theirs.result.stats))
		return differ_in_counter(v, GP_DIFFERENT_COUNTER);
	if (v->ours.result.dropped != v->theirs.result.dropped ||
	    v->ours.result.refused != v->theirs.result.refused)
		return differ_in_counter(v, GP_DIFFERENT_ANSWER);
	return GP_OK;
}

enum gp_status gp_verify(const struct gp_verify_config *config,
			 struct gp_verify_result *result, struct gp_diag *diag)
{
	struct verify v = { .config = config, .result = result, .diag = diag };
	enum gp_status status;

	*result = (struct gp_verify_result){ 0 };
	prologue_make(&v.prologue, config->trace, config->device,
		      config->settings);
	status = check_start(&v);
	if (status == GP_OK)
		status = play(&v, OURS, v.prologue.count, &v.ours);
	if (status == GP_OK)
		weigh(&v);
	if (status == GP_OK && !result->is_too_large) {
		status = play(&v, THEIRS, v.prologue.count, &v.theirs);
		result->memory = v.theirs.result.memory;
		if (status == GP_OK && config->torch_cuda)
			status = follow(&v);
		if (status == GP_OK)
			status = compare(&v);
	}
	run_release(&v.ours);
	run_release(&v.theirs);
	prologue_release(&v.prologue);
	return status;
}
