/* SPDX-License-Identifier: MIT */
/*
 * What a replay reports about its run agrees with a look at all memory after
 * each event; and a run without such looks, one that stops, and one of a part
 * of the events report the same for what they ran.
 */
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "conform/parts/author.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "same_states.h"
#include "suite.h"

#define SEEDS 8 /* in each class */

/* ---- looking at all memory ---- */

struct seen {
	const struct gp_device_trace *trace;
	struct gp_moment *after; /* each event */
	bool *is_served;	 /* each event */
	struct gp_oom *failed;	 /* for each event: a failure of it */
};

/* Whether other blocks of an expandable segment share the segment. */
static bool is_part(const struct gp_segment *s)
{
	return s->blocks > 1 && !s->is_expandable;
}

static struct gp_moment sum_of(const struct gp_state *state, uint64_t event)
{
	struct gp_moment sum = { .event = event };

	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *s = &state->segments[i];
		const struct gp_block *b = &state->blocks[s->first_block];

		sum.reserved += s->size;
		for (uint32_t k = 0; k < s->blocks; k++, b++) {
			bool is_free = b->state == GP_INACTIVE;

			sum.allocated += b->state == GP_ACTIVE ? b->size : 0;
			sum.active += is_free ? 0 : b->size;
			sum.requested += is_free ? 0 : b->requested;
			sum.inactive_split +=
				is_free && is_part(s) ? b->size : 0;
			if (is_free)
				sum.largest_free =
					gp_larger(sum.largest_free, b->size);
		}
	}
	return sum;
}

/* The free blocks that a request could use, and those that it could not. */
static struct gp_oom failure_of(struct gp_allocator *allocator,
				const struct gp_state *state,
				const struct gp_event *event)
{
	struct gp_oom oom = { 0 };

	allocator->ops->route(allocator, event->size, event->stream,
			      event->pool, &oom.route);
	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *s = &state->segments[i];
		const struct gp_block *b = &state->blocks[s->first_block];
		uint64_t sum = 0, largest = 0;

		for (uint32_t k = 0; k < s->blocks; k++, b++) {
			if (b->state == GP_ACTIVE)
				oom.live += gp_smaller((b->requested + 511) /
							       512 * 512,
						       b->size);
			if (b->state != GP_INACTIVE)
				continue;
			sum += b->size;
			largest = gp_larger(largest, b->size);
		}
		oom.free_bytes += sum;
		oom.pool_free += s->pool ? sum : 0;
		if (s->pool != oom.route.pool ||
		    s->is_small != (oom.route.rounded <= MIB))
			oom.free_other_pool += sum;
		else if (s->stream != event->stream)
			oom.free_other_stream += sum;
		else
			oom.free_its_own += sum;
		if (s->pool == oom.route.pool && s->stream == event->stream &&
		    s->is_small == (oom.route.rounded <= MIB))
			oom.largest_free = gp_larger(oom.largest_free, largest);
	}
	return oom;
}

static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct seen *seen = arg;
	const struct gp_event *e = &seen->trace->events[event];
	struct gp_state state;

	allocator->ops->state(allocator, &state);
	seen->after[event] = sum_of(&state, event);
	if (e->kind == GP_ALLOC)
		seen->failed[event] = failure_of(allocator, &state, e);
	gp_state_release(&state);
}

static void hear(void *arg, const struct gp_action *action, uint64_t event)
{
	struct seen *seen = arg;

	seen->is_served[event] |= action->kind == GP_ALLOC;
}

/* ---- the expected report, for the first `count` events ---- */

static bool has_failed(const struct seen *seen, size_t i)
{
	return seen->trace->events[i].kind == GP_ALLOC &&
	       seen->trace->events[i].size && !seen->is_served[i];
}

static void check_moment(const struct gp_moment *a, const struct gp_moment *b)
{
	ck_assert_uint_eq(a->event, b->event);
	ck_assert_uint_eq(a->reserved, b->reserved);
	ck_assert_uint_eq(a->allocated, b->allocated);
	ck_assert_uint_eq(a->active, b->active);
	ck_assert_uint_eq(a->requested, b->requested);
	ck_assert_uint_eq(a->inactive_split, b->inactive_split);
	ck_assert_uint_eq(a->largest_free, b->largest_free);
}

static void check_peaks(const struct gp_replay_result *result,
			const struct seen *seen, size_t count)
{
	struct gp_moment peak = { 0 }, fullest = { 0 }, last = { 0 };

	for (size_t i = 0; i < count; i++) {
		last = seen->after[i];
		if (last.reserved > peak.reserved)
			peak = fullest = last;
		if (last.reserved == peak.reserved &&
		    last.allocated > fullest.allocated)
			fullest = last;
	}
	check_moment(&result->at_peak, &peak);
	check_moment(&result->at_fullest, &fullest);
	last.event = result->at_end.event;
	check_moment(&result->at_end, &last);
}

static void check_timeline(const struct gp_timeline *told,
			   const struct seen *seen, size_t count)
{
	size_t events = seen->trace->event_count;
	uint64_t bins = gp_smaller(events, GP_BINS);
	struct gp_timeline most = { 0 };

	ck_assert_uint_eq(told->bins, bins);
	for (size_t i = 0; i < count; i++) {
		const struct gp_moment *m = &seen->after[i];
		size_t bin = i * bins / events;

		most.reserved[bin] = gp_larger(most.reserved[bin], m->reserved);
		most.allocated[bin] =
			gp_larger(most.allocated[bin], m->allocated);
		most.active[bin] = gp_larger(most.active[bin], m->active);
	}
	ck_assert_mem_eq(told->reserved, most.reserved, sizeof(most.reserved));
	ck_assert_mem_eq(told->allocated, most.allocated,
			 sizeof(most.allocated));
	ck_assert_mem_eq(told->active, most.active, sizeof(most.active));
}

static void check_failure(const struct gp_oom *told, const struct seen *seen,
			  size_t i)
{
	const struct gp_event *event = &seen->trace->events[i];
	const struct gp_moment *m = &seen->after[i];
	const struct gp_oom *oom = &seen->failed[i];
	uint64_t pending = m->active - m->allocated;

	ck_assert_uint_eq(told->event, i);
	ck_assert_uint_eq(told->size, event->size);
	ck_assert_uint_eq(told->reserved, m->reserved);
	ck_assert_uint_eq(told->allocated, m->allocated);
	ck_assert_uint_eq(told->free_bytes, oom->free_bytes);
	ck_assert_uint_eq(m->allocated + pending + oom->free_bytes,
			  m->reserved);
	ck_assert_uint_eq(told->free_its_own, oom->free_its_own);
	ck_assert_uint_eq(told->free_other_stream, oom->free_other_stream);
	ck_assert_uint_eq(told->free_other_pool, oom->free_other_pool);
	ck_assert_uint_eq(told->largest_free, oom->largest_free);
	ck_assert_uint_eq(told->pool_free, oom->pool_free);
	ck_assert_uint_eq(told->live, oom->live);
	ck_assert_int_eq(told->cause,
			 oom->free_bytes + told->room >= event->size
				 ? GP_CAUSE_FRAGMENTATION
				 : GP_CAUSE_CAPACITY);
}

static void check_counts(const struct gp_replay_result *result,
			 const struct seen *seen, size_t count)
{
	uint64_t allocs = 0, requests = 0, dropped = 0;
	size_t oom = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gp_event *event = &seen->trace->events[i];

		allocs += event->kind == GP_ALLOC;
		requests += event->kind < GP_FIRST_OUTCOME;
		if (!has_failed(seen, i))
			continue;
		dropped++;
		if (oom < result->ooms.count && result->ooms.events[oom] == i)
			oom++;
	}
	ck_assert_uint_eq(result->allocs, allocs);
	ck_assert_uint_eq(result->requests, requests);
	ck_assert_uint_eq(result->dropped, dropped);
	ck_assert_uint_eq(result->ooms.count, oom);
	ck_assert_uint_ge(result->refused, dropped - oom);
}

static void check(const struct gp_replay_result *result,
		  const struct seen *seen, size_t count)
{
	const struct gp_ooms *ooms = &result->ooms;

	check_peaks(result, seen, count);
	check_timeline(&result->timeline, seen, count);
	check_counts(result, seen, count);
	ck_assert_int_eq(result->first_oom.is_there, ooms->count > 0);
	if (ooms->count)
		check_failure(&result->first_oom, seen, ooms->events[0]);
	for (size_t i = 0; i < ooms->kept; i++)
		check_failure(&ooms->list[i], seen, ooms->events[i]);
}

/* ---- the same run in other ways ---- */

static struct gp_replay_result must_run(const struct gp_replay_config *config)
{
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	ck_assert_msg(gp_replay(config, &result, &diag) == GP_OK, "%s",
		      diag.what);
	return result;
}

static void keep(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	(void)event;
	allocator->ops->state(allocator, arg);
}

/* There is a look only when most is in use. */
static void check_quick(struct gp_replay_config config,
			const struct gp_replay_result *looked,
			const struct seen *seen)
{
	struct gp_state fullest = { 0 };
	struct gp_replay_result result;

	config.keep_peak = true;
	config.looks = &looked->at_fullest.event;
	config.look_count = 1;
	config.look = keep;
	config.look_arg = &fullest;
	result = must_run(&config);
	check(&result, seen, seen->trace->event_count);
	ck_assert_mem_eq(&result.stats, &looked->stats, sizeof(result.stats));
	ck_assert_mem_eq(&result.calls, &looked->calls, sizeof(result.calls));
	ck_assert_uint_eq(result.refused, looked->refused);
	ck_assert(same_states(&result.end, &looked->end));
	if (!result.peak_is_from_start)
		ck_assert(same_states(&result.peak, &fullest));
	gp_state_release(&fullest);
	gp_replay_release(&result);
}

static void check_stopped(struct gp_replay_config config,
			  const struct gp_replay_result *looked,
			  const struct seen *seen)
{
	struct gp_replay_result result;
	size_t count = seen->trace->event_count;

	if (looked->first_oom.is_there)
		count = looked->first_oom.event + 1;
	config.on_oom = GP_OOM_STOP;
	result = must_run(&config);
	ck_assert_uint_eq(result.at_end.event,
			  looked->first_oom.is_there ? count - 1 : count);
	check(&result, seen, count);
	gp_replay_release(&result);
}

static void check_cut(struct gp_replay_config config, const struct seen *seen,
		      const struct gp_replay_cut *cut)
{
	struct gp_replay_result result;
	size_t n = 0;
	uint64_t dropped = 0;
	bool is_cut = false;

	while (n < seen->trace->event_count && !is_cut) {
		dropped += has_failed(seen, n);
		is_cut = seen->after[n++].reserved > cut->reserved ||
			 dropped > cut->dropped;
	}
	config.cut = cut;
	result = must_run(&config);
	ck_assert_int_eq(result.is_cut, is_cut);
	ck_assert_uint_eq(result.cut_events, is_cut ? n : 0);
	check(&result, seen, n);
	gp_replay_release(&result);
}

/* ---- all programs ---- */

static void try_device(const struct gp_replay_config *given, struct dice *dice)
{
	const struct gp_device_trace *trace =
		&given->trace->devices[given->device];
	size_t n = trace->event_count + 1;
	struct seen seen = {
		.trace = trace,
		.after = gp_mem_alloc(n, sizeof(*seen.after)),
		.is_served = gp_mem_alloc(n, sizeof(*seen.is_served)),
		.failed = gp_mem_alloc(n, sizeof(*seen.failed)),
	};
	struct gp_replay_config config = *given;
	struct gp_replay_result result;
	struct gp_replay_cut cut = { UINT64_MAX, dice_below(dice, 3) };

	config.look = look;
	config.action = hear;
	config.look_arg = config.action_arg = &seen;
	result = must_run(&config);
	ck_assert_uint_eq(result.at_end.event, trace->event_count);
	check(&result, &seen, trace->event_count);
	check_quick(*given, &result, &seen);
	check_stopped(*given, &result, &seen);
	check_cut(*given, &seen, &cut);
	cut = (struct gp_replay_cut){
		dice_below(dice, result.at_peak.reserved + 1), UINT64_MAX
	};
	check_cut(*given, &seen, &cut);
	gp_replay_release(&result);
	free(seen.after);
	free(seen.is_served);
	free(seen.failed);
}

static void try_trial(const struct trial *trial, struct dice *dice)
{
	struct gp_settings settings;
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };
	struct gp_replay_config config = {
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.keep_ooms = true,
		.capacity = trial->capacity,
	};

	ck_assert_int_eq(trial_trace(trial, &trace, &diag), GP_OK);
	config.trace = trace;
	gp_settings_init(&settings,
			 (uint8_t)dice_between(dice, trial_since(trial),
					       GP_RELEASE_LAST));
	if (gp_settings_parse(&settings, trial->conf, &diag) == GP_OK)
		for (; config.device < trace->device_count; config.device++)
			try_device(&config, dice);
	gp_trace_destroy(trace);
}

START_TEST(test_a_result_is_what_one_sees_who_looks)
{
	size_t classes;
	const struct trial_class *table = trial_class_table(&classes);
	struct dice dice;

	dice_init(&dice, 1, "result");
	for (size_t i = 0; i < classes; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct trial trial;

			author_write(&trial, 7000 + seed, &table[i]);
			try_trial(&trial, &dice);
			trial_release(&trial);
		}
}
END_TEST

/* Blocks that are freed at once, of sizes near the limit for oversize ones and
 * near the free memory. */
static void write_passing(struct trial *trial, struct dice *dice)
{
	static const uint64_t beside[] = { 0, 1, 512, 513, 2 * MIB };
	struct author author = { .trial = trial };
	struct desk desk = { 0 };
	uint64_t limit = dice_between(dice, 20, 30), id = 0;

	*trial = (struct trial){ .about = "passing blocks",
				 .capacity = 20 * limit * MIB };
	snprintf(trial->conf, sizeof(trial->conf), "max_split_size_mb:%u",
		 (unsigned)limit);
	/* Several events for each bin of the timeline, or no free at once. */
	for (int i = 0; i < 2 * GP_BINS; i++) {
		struct op op = { .kind = GP_ALLOC, .id = ++id };

		op.size = dice_between(dice, 1, 2) * limit * MIB;
		if (dice_permille(dice, 500))
			op.size += DICE_PICK(dice, beside);
		else
			op.size -= DICE_PICK(dice, beside);
		desk_add(&author, &desk, op);
		if (dice_permille(dice, 990))
			desk_add(&author, &desk,
				 (struct op){ .kind = GP_FREE, .id = op.id });
	}
}

START_TEST(test_so_it_is_where_blocks_are_freed_at_once)
{
	struct dice dice;

	dice_init(&dice, 2, "passing");
	for (int i = 0; i < 12; i++) {
		struct trial trial;

		write_passing(&trial, &dice);
		try_trial(&trial, &dice);
		trial_release(&trial);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_result_is_what_one_sees_who_looks, 0 },
		{ test_so_it_is_where_blocks_are_freed_at_once, 0 },
	};

	return suite_run("result", tests, COUNT_OF(tests));
}
