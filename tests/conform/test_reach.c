/* SPDX-License-Identifier: MIT */
/*
 * The reservations for which a single run stands: those within struct
 * gp_device_reach lead to the same addresses, and those beyond its ends to
 * other ones.
 */
#include "base/larger.h"
#include "conform/parts/author.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "suite.h"

#define PROGRAMS  3000
#define REQUESTS  40
#define MOST_LIVE 10
#define PAGE	  (20 * MIB) /* large_segment_size */

/* One stream and large blocks, half of them of whole pages, so that all are in
 * one reservation, in which many free parts are equally large; some of them are
 * released to the device. */
static void write_program(struct trial *trial, struct dice *dice)
{
	struct author author = { .trial = trial };
	struct desk desk = { 0 };
	uint64_t live[MOST_LIVE], count = 0, id = 0;
	uint64_t most = dice_between(dice, 2, 12);
	uint64_t unit = dice_permille(dice, 500) ? PAGE : PAGE / 4;

	*trial = (struct trial){ .about = "one reservation" };
	trial->capacity = dice_between(dice, 15, 90) * PAGE;
	for (int i = 0; i < REQUESTS; i++) {
		struct op op = { .kind = GP_ALLOC };

		if (dice_permille(dice, 100)) {
			op.kind = GP_EMPTY_CACHE;
		} else if (count == MOST_LIVE ||
			   (count && dice_permille(dice, 500))) {
			uint64_t at = dice_below(dice, count);

			op = (struct op){ .kind = GP_FREE, .id = live[at] };
			live[at] = live[--count];
		} else {
			op.id = ++id;
			op.size = dice_between(dice, 1, most) * unit;
			live[count++] = op.id;
		}
		desk_add(&author, &desk, op);
	}
}

static void hear(void *arg, const struct gp_action *action, uint64_t event)
{
	uint64_t *hash = arg;

	*hash = gp_hash64(*hash ^ event);
	*hash = gp_hash64(*hash ^ (uint64_t)action->kind);
	*hash = gp_hash64(*hash ^ action->addr);
	*hash = gp_hash64(*hash ^ action->size);
}

/* Returns a hash of its actions, with reservations of that many bytes. */
static uint64_t run(const struct gp_trace *trace, uint64_t capacity,
		    uint64_t range, struct gp_device_reach *reach)
{
	struct gp_settings settings;
	uint64_t hash = 0;
	const struct gp_replay_config config = {
		.trace = trace,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.capacity = capacity,
		.action = hear,
		.action_arg = &hash,
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.expandable_segments = true;
	settings.reserve_bytes = range;
	ck_assert_int_eq(gp_replay(&config, &result, &diag), GP_OK);
	*reach = result.reach;
	gp_replay_release(&result);
	return hash;
}

struct found {
	uint64_t runs, lower, upper, tight;
};

/* One page shorter or longer than the reservations for which the run stands. */
static void look_beyond(const struct gp_trace *trace, uint64_t capacity,
			uint64_t hash, uint64_t range, struct found *found)
{
	struct gp_device_reach ignored;

	if (range && range <= gp_device_range(capacity))
		found->tight += run(trace, capacity, range, &ignored) != hash;
}

static void try_program(const struct gp_trace *trace, uint64_t capacity,
			uint64_t range, struct found *found)
{
	struct gp_device_reach reach, ignored;
	uint64_t hash = run(trace, capacity, range, &reach), least, most;

	range = gp_smaller(range, gp_round_up(gp_device_range(capacity), PAGE));
	if (reach.has_two_ranges)
		return;
	ck_assert_uint_le(reach.longest_range, range);
	ck_assert_uint_gt(reach.shortest_range, range);
	least = gp_round_up(reach.longest_range, PAGE);
	most = reach.shortest_range == UINT64_MAX
		       ? gp_device_range(capacity) / PAGE * PAGE
		       : (reach.shortest_range - 1) / PAGE * PAGE;
	for (uint64_t other = least; other <= most; other += PAGE)
		ck_assert_uint_eq(run(trace, capacity, other, &ignored), hash);
	found->runs++;
	found->lower += least < range;
	found->upper += reach.shortest_range != UINT64_MAX;
	look_beyond(trace, capacity, hash, least - PAGE, found);
	look_beyond(trace, capacity, hash, most + PAGE, found);
}

START_TEST(test_reservations_within_reach_decide_alike)
{
	struct found found = { 0 };
	struct dice dice;

	dice_init(&dice, 3, "reservations");
	for (int i = 0; i < PROGRAMS; i++) {
		struct trial trial;
		struct gp_trace *trace;
		struct gp_diag diag = { 0 };

		write_program(&trial, &dice);
		ck_assert_int_eq(trial_trace(&trial, &trace, &diag), GP_OK);
		try_program(trace, trial.capacity,
			    dice_between(&dice, 3, 25) * PAGE, &found);
		gp_trace_destroy(trace);
		trial_release(&trial);
	}
	/* The comparison is meaningful: all of these occur, and so many ends
	 * are exact. */
	ck_assert_uint_gt(found.lower, found.runs / 2);
	ck_assert_uint_gt(found.upper, 100);
	ck_assert_uint_ge(found.tight, 473);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_reservations_within_reach_decide_alike, 0 },
	};

	return suite_run("reach", tests, COUNT_OF(tests));
}
