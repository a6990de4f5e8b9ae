/* SPDX-License-Identifier: MIT */
/*
 * An allocator that starts with the state of another one has all of it: the
 * same segments and blocks, the same counts, and it can grow and release them.
 */
#include "conform/parts/author.h"
#include "conform/parts/one.h"
#include "gpupool/knob.h"
#include "suite.h"

#define SEEDS	    20 /* in each class */
#define ADOPT_EVERY 20

struct run {
	const struct gp_trace *trace;
	const struct gp_device_trace *of;
	const struct gp_settings *settings;
	struct dice *dice;
	size_t adopted, emptied, grown;
};

/* ---- the comparison ---- */

static bool same_segments(const struct gp_segment *a,
			  const struct gp_segment *b)
{
	return a->addr == b->addr && a->size == b->size &&
	       a->stream == b->stream && a->pool == b->pool &&
	       a->is_small == b->is_small &&
	       a->is_expandable == b->is_expandable &&
	       a->first_block == b->first_block && a->blocks == b->blocks &&
	       a->offset == b->offset;
}

static bool same_blocks(const struct gp_block *a, const struct gp_block *b)
{
	return a->addr == b->addr && a->size == b->size &&
	       a->state == b->state && a->id == b->id &&
	       (a->state == GP_INACTIVE || a->requested == b->requested);
}

static void check_states(const struct gp_state *a, const struct gp_state *b)
{
	bool same = a->segment_count == b->segment_count &&
		    a->block_count == b->block_count;

	for (size_t i = 0; same && i < a->segment_count; i++)
		same = same_segments(&a->segments[i], &b->segments[i]);
	for (size_t i = 0; same && i < a->block_count; i++)
		same = same_blocks(&a->blocks[i], &b->blocks[i]);
	ck_assert(same);
}

/* Whether everything was decided under the settings and limits with which the
 * run began. */
static bool keeps_settings(const struct gp_device_trace *of)
{
	for (size_t i = 0; i < of->event_count; i++)
		if (of->events[i].kind == GP_SET_SETTINGS ||
		    of->events[i].kind == GP_SET_FRACTION ||
		    of->events[i].kind == GP_OTHER_MEMORY)
			return false;
	return true;
}

static void check_counts(const struct run *run, const struct one *a,
			 const struct one *b)
{
	const struct gp_stats *x = a->allocator->ops->stats(a->allocator);
	const struct gp_stats *y = b->allocator->ops->stats(b->allocator);

	for (int id = 0; id < GP_STAT_COUNT; id++)
		for (int kind = GP_STAT_ALL; kind <= GP_STAT_LARGE; kind++)
			ck_assert_msg(x->by_pool[id][kind].current ==
					      y->by_pool[id][kind].current,
				      "%s", gp_stat_names[id]);
	ck_assert_uint_eq(a->allocator->ops->largest_free(a->allocator),
			  b->allocator->ops->largest_free(b->allocator));
	if (!keeps_settings(run->of))
		return;
	ck_assert_int_eq(x->oversize_allocations.current,
			 y->oversize_allocations.current);
	ck_assert_int_eq(x->oversize_segments.current,
			 y->oversize_segments.current);
}

static int64_t reserved_by(const struct one *one)
{
	return gp_level_now(&one->allocator->levels[GP_STAT_RESERVED_BYTES]);
}

/* A request for which no free block is large enough, for the stream and pool of
 * one of the segments. */
static void check_growth(struct run *run, const struct one *from,
			 const struct one *other, const struct gp_state *state)
{
	const struct gp_segment *s =
		&state->segments[dice_below(run->dice, state->segment_count)];
	struct gp_event event = {
		.kind = GP_ALLOC,
		.id = run->of->block_ids,
		.size = from->allocator->ops->largest_free(from->allocator) +
			1 + dice_below(run->dice, 40 * MIB),
		.stream = s->stream,
		.pool = s->pool,
	};
	struct one *copy = one_copy(from);

	if (!copy)
		return;
	ck_assert_int_eq(one_give(other, run->trace, &event).answer,
			 one_give(copy, run->trace, &event).answer);
	ck_assert_int_eq(reserved_by(other), reserved_by(copy));
	event.kind = GP_FREE;
	one_give(other, run->trace, &event);
	run->grown++;
	one_drop(copy);
}

/* Private pools keep their memory for their holders. */
static bool may_be_emptied(const struct gp_state *state)
{
	for (size_t i = 0; i < state->segment_count; i++)
		if (state->segments[i].pool)
			return false;
	return true;
}

static void check_emptied(const struct one *one, const struct gp_state *start)
{
	struct gp_allocator *a = one->allocator;
	uint64_t free_bytes, total;
	struct gp_state state;

	for (size_t i = 0; i < start->block_count; i++)
		if (start->blocks[i].state == GP_ACTIVE)
			a->ops->free(a, start->blocks[i].id);
	a->ops->synchronize(a, GP_ALL_STREAMS);
	a->ops->empty_cache(a, 0);
	a->ops->state(a, &state);
	one->device->ops->info(one->device, &free_bytes, &total);
	ck_assert_uint_eq(state.segment_count, 0);
	ck_assert_uint_eq(free_bytes, total);
	gp_state_release(&state);
}

/* Whether the state has everything that matters: it lacks reservations in which
 * nothing is mapped, routes to pools, ages, and what blocks wait for. */
static bool shows_all(const struct run *run, const struct one *one,
		      const struct gp_state *state)
{
	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].state == GP_PENDING_FREE)
			return false;
	return state->segment_count && !one->device->calls.unmap &&
	       run->trace->pool_count == 1 &&
	       run->settings->gc_threshold <= 0 && keeps_settings(run->of);
}

static void adopt(struct run *run, const struct one *one)
{
	struct gp_state from, to;
	struct one *other;

	one->allocator->ops->state(one->allocator, &from);
	other = one_make(run->trace, run->of, run->settings, &from);
	other->allocator->ops->state(other->allocator, &to);
	check_states(&from, &to);
	check_counts(run, one, other);
	if (shows_all(run, one, &from))
		check_growth(run, one, other, &from);
	run->adopted += from.segment_count > 1;
	if (may_be_emptied(&from)) {
		check_emptied(other, &from);
		run->emptied++;
	}
	one_drop(other);
	gp_state_release(&from);
	gp_state_release(&to);
}

static void try_trial(struct run *run, const struct trial *trial)
{
	struct gp_settings settings;
	struct gp_trace *trace;
	struct gp_diag diag;

	ck_assert_int_eq(trial_trace(trial, &trace, &diag), GP_OK);
	run->trace = trace;
	run->settings = &settings;
	gp_settings_init(&settings,
			 (uint8_t)dice_between(run->dice, trial_since(trial),
					       GP_RELEASE_LAST));
	for (uint32_t d = 0;
	     d < trace->device_count &&
	     gp_settings_parse(&settings, trial->conf, &diag) == GP_OK;
	     d++) {
		struct one *one;

		run->of = &trace->devices[d];
		one = one_make(trace, run->of, &settings, NULL);
		for (size_t i = 0; i < run->of->event_count; i++) {
			one_give(one, trace, &run->of->events[i]);
			if (!dice_below(run->dice, ADOPT_EVERY))
				adopt(run, one);
		}
		one_drop(one);
	}
	gp_trace_destroy(trace);
}

START_TEST(test_what_is_adopted_is_all_there)
{
	size_t classes;
	const struct trial_class *table = trial_class_table(&classes);
	struct dice dice;
	struct run run = { .dice = &dice };

	dice_init(&dice, 1, "adopt");
	for (size_t i = 0; i < classes; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct trial trial;

			author_write(&trial, 9000 + seed, &table[i]);
			try_trial(&run, &trial);
			trial_release(&trial);
		}
	ck_assert_uint_gt(run.adopted, 10 * classes);
	ck_assert_uint_gt(run.emptied, 10 * classes);
	ck_assert_uint_gt(run.grown, 10 * classes);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_is_adopted_is_all_there, 0 },
	};

	return suite_run("adopt", tests, COUNT_OF(tests));
}
