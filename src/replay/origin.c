/* SPDX-License-Identifier: MIT */
/*
 * The origin of a trace: the release that wrote it, and the memory of its
 * device. Also which runs a recording cannot decide.
 */
#include "gpupool/replay.h"

#include <stdio.h>
#include <stdlib.h>

#include "gpupool/knob.h"
#include "base/bytes.h"
#include "base/larger.h"
#include "base/mem.h"

/* ---- the release ---- */

/* Verifies all devices under one release; false: that release rejects conf. */
static bool try_release(const struct gp_trace *trace, const char *conf,
			struct gp_release_choice *choice)
{
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };

	gp_settings_init(&settings, choice->release);
	if (gp_settings_parse(&settings, conf, &ignored) != GP_OK)
		return false;
	for (uint32_t i = 0; i < trace->device_count; i++) {
		struct gp_replay_config config = {
			.trace = trace,
			.device = i,
			.settings = &settings,
			.engine = gp_engine_table(&(size_t){ 0 }),
			.mode = GP_VERIFY,
			.capacity = gp_replay_fit_capacity(trace, i, &settings),
		};
		struct gp_replay_result result;

		if (gp_replay(&config, &result, &ignored) != GP_OK)
			return false;
		choice->checked += result.fidelity.checked;
		choice->matched += result.fidelity.matched;
		gp_replay_release(&result);
	}
	return true;
}

static void explain_keys(const struct gp_trace *trace,
			 struct gp_release_choice *choice)
{
	const struct gp_release_range *range = &trace->release;

	if (range->first == range->last)
		snprintf(choice->why, sizeof(choice->why), "%s", range->why);
	else if (!choice->checked)
		snprintf(choice->why, sizeof(choice->why),
			 "the trace fits 2.%d to 2.%d equally", range->first,
			 range->last);
	else
		snprintf(choice->why, sizeof(choice->why),
			 "its keys allow 2.%d to 2.%d, and of these 2.%d "
			 "matches %s",
			 range->first, range->last, choice->release,
			 choice->matched == choice->checked ? "every address"
							    : "best");
}

/* Tries the newest release first; of releases that make the same decisions,
 * only the newest is tried. */
static bool choose(const struct gp_trace *trace, const char *conf,
		   struct gp_release_choice *best)
{
	const struct gp_release_range *range = &trace->release;
	bool found = false;

	for (int r = range->last; r >= range->first; r--) {
		struct gp_release_choice choice = { .release = (uint8_t)r };

		if (found && gp_release_alike((uint8_t)r, (uint8_t)(r + 1)))
			continue;
		if (!try_release(trace, conf, &choice))
			continue;
		if (!found || choice.matched > best->matched)
			*best = choice;
		found = true;
		if (best->matched == best->checked)
			break;
	}
	return found;
}

enum gp_status gp_replay_release_of(const struct gp_trace *trace,
				    const char *conf,
				    struct gp_release_choice *choice,
				    struct gp_diag *diag)
{
	struct gp_settings settings;

	*choice = (struct gp_release_choice){ .release = trace->release.last };
	if (trace->release.first == trace->release.last ||
	    !gp_trace_has_addresses(trace) || !choose(trace, conf, choice)) {
		gp_settings_init(&settings, choice->release);
		explain_keys(trace, choice);
		return gp_settings_parse(&settings, conf, diag);
	}
	explain_keys(trace, choice);
	return GP_OK;
}

/* ---- the device's memory ---- */

#define MIB UINT64_C(1048576)

/* An upper bound for the segment that a request of this size gets, under any
 * settings. */
static uint64_t segment_at_most(uint64_t size)
{
	return size + 32 * MIB;
}

/* The device had room for the request that failed, so PyTorch itself refused it
 * because of set_per_process_memory_fraction(), which a snapshot does not
 * contain. */
static bool is_refused_by_limit(const struct gp_event *event)
{
	return event->kind == GP_OOM &&
	       event->addr >= segment_at_most(event->size);
}

static void init_recorded(struct gp_settings *settings,
			  const struct gp_trace *trace)
{
	struct gp_diag ignored = { 0 };

	gp_settings_init(settings, trace->release.last);
	if (trace->settings)
		gp_settings_parse(settings, trace->settings, &ignored);
}

bool gp_replay_was_limited(const struct gp_trace *trace, uint32_t device)
{
	const struct gp_device_trace *t = &trace->devices[device];
	struct gp_settings settings;
	bool was_limited = false;

	init_recorded(&settings, trace);
	if (settings.memory_fraction < 1)
		return false;
	for (size_t i = 0; i < t->event_count; i++) {
		if (t->events[i].kind == GP_SET_FRACTION)
			return false;
		was_limited |= is_refused_by_limit(&t->events[i]);
	}
	return was_limited;
}

/* The least memory that the device can have, given the events up to an OOM: the
 * peak of live bytes, or the live and free bytes at the OOM. */
static uint64_t least_up_to(const struct gp_device_trace *t, size_t oom)
{
	uint64_t *sizes = gp_mem_alloc(t->block_ids, sizeof(*sizes));
	uint64_t live = 0, most = 0;

	for (size_t i = 0; i < oom; i++) {
		const struct gp_event *event = &t->events[i];

		if (event->kind == GP_ALLOC && !(event->flags & GP_REFUSED)) {
			sizes[event->id] = event->size;
			live += event->size;
			most = gp_larger(most, live);
		} else if (event->kind == GP_FREE) {
			live -= sizes[event->id];
			sizes[event->id] = 0;
		}
	}
	free(sizes);
	return gp_larger(most, gp_sum(live, t->events[oom].addr));
}

/* The bytes that were free at an OOM and could be allocated: fewer than the
 * segment that was refused, even if the device reported more as free. */
static uint64_t room_at(const struct gp_event *oom,
			const struct gp_settings *settings)
{
	uint64_t segment = gp_settings_segment(
		settings, gp_settings_round(settings, oom->size));

	return oom->addr < segment ? oom->addr : segment - GP_DEVICE_GRAIN;
}

/* The first OOM, and what was reserved then; NULL: there is none. */
static const struct gp_event *first_oom(const struct gp_device_trace *t,
					uint64_t *reserved)
{
	*reserved = gp_state_reserved(&t->start);
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (event->kind == GP_OOM)
			return event;
		if (gp_event_is_growth(event->kind))
			*reserved += event->size;
		else if (gp_event_is_release(event->kind))
			*reserved -= event->size;
	}
	return NULL;
}

/* An OOM event has the bytes that were free; all others were reserved, or were
 * in use by other processes during the whole recording. In a recording without
 * segments the reserved bytes are unknown. */
uint64_t gp_replay_capacity_of(const struct gp_trace *trace, uint32_t device)
{
	const struct gp_device_trace *t = &trace->devices[device];
	const struct gp_event *oom;
	struct gp_settings settings;
	uint64_t reserved;

	if (t->total_memory)
		return t->total_memory;
	oom = first_oom(t, &reserved);
	if (!oom || is_refused_by_limit(oom))
		return GP_UNLIMITED;
	if (!reserved)
		return least_up_to(t, (size_t)(oom - t->events));
	init_recorded(&settings, trace);
	return reserved + room_at(oom, &settings);
}

/* What the recording says about the memory limit. */
struct bounds {
	uint64_t most; /* peak of reserved bytes: within the limit */
	/* Least reserved bytes at which segments were released to make room:
	 * above the threshold. */
	uint64_t collected;
};

/* Whether the request releases segments without another request needing
 * room. */
static bool gives_back(const struct gp_event *event)
{
	return event->kind == GP_EMPTY_CACHE || event->kind == GP_POOL_RELEASE;
}

static struct bounds find_bounds(const struct gp_device_trace *t)
{
	struct bounds bounds = { 0, GP_UNLIMITED };
	uint64_t reserved = gp_state_reserved(&t->start);
	uint64_t before = 0; /* reserved before the last releases; 0: none */
	bool is_given_back = false;

	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (gp_event_is_growth(event->kind)) {
			if (before && before < bounds.collected)
				bounds.collected = before;
			reserved += event->size;
			if (reserved > bounds.most)
				bounds.most = reserved;
		} else if (gp_event_is_release(event->kind)) {
			if (!before && !is_given_back)
				before = reserved;
			reserved -= event->size;
			continue;
		}
		if (event->kind != GP_FREE_COMPLETED)
			before = 0;
		if (event->kind < GP_FIRST_OUTCOME)
			is_given_back = gives_back(event);
	}
	return bounds;
}

bool gp_replay_refused_room(const struct gp_trace *trace, uint32_t device,
			    const struct gp_settings *settings,
			    struct gp_refused_room *room)
{
	const struct gp_device_trace *t = &trace->devices[device];
	uint64_t reserved = gp_state_reserved(&t->start);
	uint64_t refused_at = 0; /* reserved before the releases; 0: none */
	bool is_given_back = false;

	*room = (struct gp_refused_room){ reserved, GP_UNLIMITED };
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (gp_event_is_release(event->kind)) {
			if (!refused_at && !is_given_back)
				refused_at = reserved;
			reserved -= event->size;
		} else if (gp_event_is_growth(event->kind)) {
			if (refused_at &&
			    refused_at + event->size < room->below)
				room->below = refused_at + event->size;
			reserved += event->size;
			if (reserved > room->least)
				room->least = reserved;
		} else if (is_refused_by_limit(event)) {
			/* This holds whether or not garbage was collected
			 * first: nothing more is released at this point. */
			if (reserved + segment_at_most(event->size) <
			    room->below)
				room->below =
					reserved + segment_at_most(event->size);
		}
		if (event->kind < GP_FIRST_OUTCOME) {
			is_given_back = gives_back(event);
			refused_at = 0;
		}
	}
	return room->below != GP_UNLIMITED && room->below > room->least &&
	       settings->gc_threshold <= 0 && settings->memory_fraction >= 1;
}

/* The number of addresses that match before the first mismatch. */
static uint64_t try_capacity(const struct gp_trace *trace, uint32_t device,
			     const struct gp_settings *settings,
			     uint64_t capacity, bool *is_exact)
{
	struct gp_replay_config config = {
		.trace = trace,
		.device = device,
		.settings = settings,
		.engine = gp_engine_table(&(size_t){ 0 }),
		.mode = GP_VERIFY,
		.until_mismatch = true,
		.capacity = capacity,
	};
	struct gp_replay_result result;
	struct gp_diag ignored = { 0 };
	uint64_t matched;

	if (gp_replay(&config, &result, &ignored) != GP_OK)
		return 0;
	*is_exact = !result.fidelity.first.is_there;
	matched = result.fidelity.matched;
	gp_replay_release(&result);
	return matched;
}

#define FIT_TRIES 256

/* The limit is a fraction of the device's total memory, which may be a little
 * more than the bytes that are reserved or free, because others use some: by at
 * most one part in so many. */
#define MOST_BESIDE 8 /* an eighth */

/* The memory of a device that refused a request at a known fraction of it;
 * GP_UNLIMITED: none did. */
static uint64_t capacity_at_limit(const struct gp_device_trace *t,
				  double fraction)
{
	uint64_t reserved, room, limit, least;
	const struct gp_event *oom = first_oom(t, &reserved);

	if (!oom || !is_refused_by_limit(oom))
		return GP_UNLIMITED;
	room = gp_sum(reserved, oom->addr);
	limit = (uint64_t)(fraction * (double)room);
	/* All reserved memory was within the limit. */
	least = gp_round_up((uint64_t)((double)find_bounds(t).most / fraction),
			    MIB);
	if (limit >= reserved + segment_at_most(oom->size) ||
	    least > room + room / MOST_BESIDE)
		return GP_UNLIMITED;
	return gp_larger(room, least);
}

uint64_t gp_replay_fit_capacity(const struct gp_trace *trace, uint32_t device,
				const struct gp_settings *settings)
{
	uint64_t known = gp_replay_capacity_of(trace, device);
	double fraction = settings->memory_fraction;
	double threshold = settings->gc_threshold;
	uint64_t low, high, step, best = 0, fitted = GP_UNLIMITED;
	struct bounds bounds;
	bool is_exact = false;

	/* In the second case the result does not depend on the size, so the
	 * events need not be looked at. */
	if (known != GP_UNLIMITED || (fraction >= 1 && threshold <= 0) ||
	    fraction <= 0)
		return known;
	known = capacity_at_limit(&trace->devices[device], fraction);
	if (known != GP_UNLIMITED)
		return known;
	bounds = find_bounds(&trace->devices[device]);
	if (bounds.collected == GP_UNLIMITED || threshold <= 0)
		return known; /* nothing in the recording depends on a limit */
	low = (uint64_t)((double)bounds.most / fraction) / MIB * MIB;
	high = (uint64_t)((double)bounds.collected / fraction / threshold);
	step = high > low ? (high - low) / FIT_TRIES / MIB * MIB : 0;
	step = step ? step : MIB;
	for (uint64_t at = low; at <= high && !is_exact; at += step) {
		uint64_t matched =
			try_capacity(trace, device, settings, at, &is_exact);

		if (matched > best || is_exact) {
			best = matched;
			fitted = at;
		}
	}
	return fitted;
}

/* ---- runs that a recording cannot decide ---- */

uint64_t gp_replay_undecided(const struct gp_trace *trace, uint32_t device,
			     uint64_t capacity)
{
	uint64_t reserved = gp_state_reserved(&trace->devices[device].start);

	return reserved > capacity ? reserved : 0;
}

enum gp_status gp_replay_decides(const struct gp_trace *trace,
				 uint64_t capacity, struct gp_diag *diag)
{
	for (uint32_t i = 0; i < trace->device_count; i++) {
		uint64_t reserved = gp_replay_undecided(trace, i, capacity);

		if (!reserved)
			continue;
		gp_diag_hint(diag, "record from the start of the program, or "
				   "give a larger capacity");
		return gp_diag_set(
			diag, GP_INPUT,
			"undecided: the trace begins with %s reserved, so it "
			"does not show how the program would run in %s",
			GP_BYTES(reserved), GP_BYTES(capacity));
	}
	return GP_OK;
}
