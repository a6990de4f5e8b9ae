/* SPDX-License-Identifier: MIT */
/*
 * The settings for which a single run stands: all those within struct gp_alike
 * have the same actions, event by event, with the same addresses and sizes.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "conform/parts/author.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "suite.h"

#define SEEDS	  40 /* in each class */
#define PROGRAMS  400
#define REQUESTS  60
#define MOST_LIVE 12
#define POINTS	  14 /* within the ranges, for each run */
#define KEPT_OF	  1  /* MiB: a range of this length is more than a point */

/* ---- one run, and a hash of its actions ---- */

struct course {
	uint64_t hash;
	uint64_t actions;
	uint64_t collected; /* segments that were released */
	uint64_t ooms, retries;
	struct gp_alike alike;
};

static void mix(struct course *course, uint64_t value)
{
	course->hash = gp_hash64(course->hash ^ value);
}

static void hear(void *arg, const struct gp_action *action, uint64_t event)
{
	struct course *course = arg;

	mix(course, event);
	mix(course, (uint64_t)action->kind << 48 |
			    (uint64_t)action->stream << 32 | action->pool);
	mix(course, action->id);
	mix(course, action->addr);
	mix(course, action->size);
	mix(course, action->block);
	course->actions++;
	course->collected += action->kind == GP_SEGMENT_FREE;
}

static void end_course(struct course *course,
		       const struct gp_replay_result *result)
{
	course->ooms = (uint64_t)result->stats.num_ooms;
	course->retries = (uint64_t)result->stats.num_alloc_retries;
	mix(course, course->ooms);
	mix(course, course->retries);
	mix(course, result->dropped);
	mix(course, result->refused);
	mix(course, result->at_peak.reserved);
	mix(course, result->at_peak.allocated);
	mix(course, result->at_end.reserved);
	course->alike = result->alike;
}

struct play {
	const struct gp_trace *trace;
	uint64_t capacity;
	enum gp_on_oom on_oom;
};

static struct course run(const struct play *play,
			 const struct gp_settings *settings)
{
	struct course course = { 0 };
	struct gp_replay_config config = {
		.trace = play->trace,
		.settings = settings,
		.engine = gp_engine_find("caching"),
		.mode = GP_WHAT_IF,
		.on_oom = play->on_oom,
		.capacity = play->capacity,
		.keep_alike = true,
		.action = hear,
		.action_arg = &course,
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_replay(&config, &result, &diag), GP_OK);
	end_course(&course, &result);
	gp_replay_release(&result);
	return course;
}

/* ---- settings within the ranges ---- */

enum where { AT_LEAST, AT_MOST, BETWEEN, AS_IT_WAS, WHERES };

static uint64_t choose(struct dice *dice, enum where where, uint64_t least,
		       uint64_t most, uint64_t now)
{
	uint64_t room;

	switch (where) {
	case AT_LEAST: return least;
	case AT_MOST: return most;
	case AS_IT_WAS: return now;
	default: break;
	}
	/* Near the lower end, where blocks have such sizes. */
	room = most - least < 4 * GIB ? most - least : 4 * GIB;
	return room ? dice_between(dice, least, least + room) : least;
}

/* Ends above this are practically unlimited, and sums with them overflow. */
#define MOST_SEGMENT GIB

static double choose_ratio(struct dice *dice, enum where where,
			   const struct gp_alike *alike, double now)
{
	double part = (double)dice_below(dice, 1001) / 1000;
	bool has_some = alike->gc_least <= alike->gc_most;

	if (where == AS_IT_WAS || (!has_some && !alike->gc_off))
		return now;
	if (!has_some || (alike->gc_off && where == BETWEEN && part < 0.3))
		return 0;
	if (where == AT_LEAST)
		return alike->gc_least;
	if (where == AT_MOST)
		return alike->gc_most;
	return alike->gc_least + (alike->gc_most - alike->gc_least) * part;
}

static struct gp_settings settings_in(struct dice *dice,
				      const struct gp_alike *alike,
				      const struct gp_settings *now,
				      const enum where where[4])
{
	struct gp_settings other = *now;
	uint64_t most = alike->large_most;

	if (most == GP_UNLIMITED)
		most = alike->large_least > MOST_SEGMENT ? alike->large_least
							 : MOST_SEGMENT;
	other.max_split_size =
		choose(dice, where[0], alike->max_split_least,
		       alike->max_split_most, now->max_split_size);
	other.max_non_split_rounding =
		choose(dice, where[1], alike->non_split_least,
		       alike->non_split_most, now->max_non_split_rounding);
	other.large_segment_size = choose(dice, where[2], alike->large_least,
					  most, now->large_segment_size);
	other.gc_threshold =
		choose_ratio(dice, where[3], alike, now->gc_threshold);
	return other;
}

static void throw_settings(struct dice *dice, struct gp_settings *settings)
{
	static const double ratios[] = { 0, 0.2, 0.5, 0.7, 0.9 };

	if (dice_permille(dice, 700))
		settings->max_split_size = dice_between(dice, 2, 60) * MIB;
	if (settings->max_split_size < GIB && dice_permille(dice, 200))
		settings->max_split_size += dice_below(dice, MIB);
	if (dice_permille(dice, 300))
		settings->max_non_split_rounding =
			dice_between(dice, 1, 30) * MIB;
	if (dice_permille(dice, 300))
		settings->large_segment_size =
			dice_between(dice, 6, 20) * 2 * MIB;
	if (dice_permille(dice, 600))
		settings->gc_threshold = ratios[dice_below(dice, 5)];
	if (dice_permille(dice, 500))
		settings->memory_fraction =
			(double)dice_between(dice, 30, 99) / 100;
}

/* ---- the comparison ---- */

struct found {
	uint64_t runs, points;
	uint64_t wide_split, wide_gc; /* runs with more than a point */
	uint64_t collecting, failing; /* runs in which these happen */
	uint64_t tight; /* ends of max_split beyond which the run differs */
};

static void tell(const struct trial *trial, const struct gp_settings *was,
		 const struct gp_settings *other)
{
	printf("%s, 2.%u: split %llu, rounding %llu, segment %llu, gc %.17g\n"
	       "is not split %llu, rounding %llu, segment %llu, gc %.17g\n",
	       trial->about, was->release,
	       (unsigned long long)was->max_split_size,
	       (unsigned long long)was->max_non_split_rounding,
	       (unsigned long long)was->large_segment_size, was->gc_threshold,
	       (unsigned long long)other->max_split_size,
	       (unsigned long long)other->max_non_split_rounding,
	       (unsigned long long)other->large_segment_size,
	       other->gc_threshold);
}

static void compare(const struct play *play, const struct trial *trial,
		    struct dice *dice, const struct gp_settings *settings,
		    const struct course *course)
{
	const enum where only[][4] = {
		{ AT_LEAST, AS_IT_WAS, AS_IT_WAS, AS_IT_WAS },
		{ AT_MOST, AS_IT_WAS, AS_IT_WAS, AS_IT_WAS },
		{ AS_IT_WAS, AT_LEAST, AS_IT_WAS, AS_IT_WAS },
		{ AS_IT_WAS, AT_MOST, AS_IT_WAS, AS_IT_WAS },
		{ AS_IT_WAS, AS_IT_WAS, AS_IT_WAS, AT_LEAST },
		{ AS_IT_WAS, AS_IT_WAS, AS_IT_WAS, AT_MOST },
	};

	ck_assert(gp_alike_holds(&course->alike, settings));
	for (size_t i = 0; i < POINTS; i++) {
		enum where where[4];
		struct gp_settings other;

		for (int k = 0; k < 4; k++)
			where[k] =
				i < COUNT_OF(only)
					? only[i][k]
					: (enum where)dice_below(dice, WHERES);
		other = settings_in(dice, &course->alike, settings, where);
		ck_assert(gp_alike_holds(&course->alike, &other));
		if (run(play, &other).hash != course->hash) {
			tell(trial, settings, &other);
			ck_abort_msg("other decisions");
		}
	}
}

static void count_tight(const struct play *play, struct found *found,
			const struct gp_settings *settings,
			const struct course *course)
{
	struct gp_settings beyond = *settings;

	if (course->alike.max_split_least) {
		beyond.max_split_size = course->alike.max_split_least - 1;
		found->tight += run(play, &beyond).hash != course->hash;
	}
}

static void count(struct found *found, const struct gp_settings *settings,
		  const struct course *course)
{
	const struct gp_alike *a = &course->alike;

	found->runs++;
	found->wide_split +=
		a->max_split_most - a->max_split_least > KEPT_OF * MIB;
	found->wide_gc += a->gc_most - a->gc_least > 0.01;
	found->collecting += settings->gc_threshold > 0 && !a->gc_off;
	found->failing += course->ooms != 0;
}

static void try_trial(const struct trial *trial, struct dice *dice,
		      struct found *found)
{
	uint8_t since = trial_since(trial);
	struct gp_settings settings;
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };
	struct play play;
	struct course course;

	ck_assert_int_eq(trial_trace(trial, &trace, &diag), GP_OK);
	play = (struct play){
		.trace = trace,
		.capacity = trial->capacity,
		.on_oom = dice_permille(dice, 300) ? GP_OOM_STOP : GP_OOM_GO_ON,
	};
	gp_settings_init(&settings,
			 (uint8_t)dice_between(dice, since, GP_RELEASE_LAST));
	if (gp_settings_parse(&settings, trial->conf, &diag) == GP_OK) {
		throw_settings(dice, &settings);
		course = run(&play, &settings);
		count(found, &settings, &course);
		compare(&play, trial, dice, &settings, &course);
		count_tight(&play, found, &settings, &course);
	}
	gp_trace_destroy(trace);
}

START_TEST(test_settings_within_the_ranges_decide_alike)
{
	struct found found = { 0 };
	struct dice dice;
	size_t classes;
	const struct trial_class *table = trial_class_table(&classes);

	dice_init(&dice, 20, "alike");
	for (size_t i = 0; i < classes; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct trial trial;

			author_write(&trial, seed, &table[i]);
			try_trial(&trial, &dice, &found);
			trial_release(&trial);
		}
	printf("%llu runs, wide split %llu gc %llu, collecting %llu, failing "
	       "%llu, tight %llu\n",
	       (unsigned long long)found.runs,
	       (unsigned long long)found.wide_split,
	       (unsigned long long)found.wide_gc,
	       (unsigned long long)found.collecting,
	       (unsigned long long)found.failing,
	       (unsigned long long)found.tight);
	/* The comparison is meaningful: all of these occur. */
	ck_assert_uint_gt(found.wide_split, found.runs / 4);
	ck_assert_uint_gt(found.wide_gc, found.runs / 4);
	ck_assert_uint_gt(found.collecting, 10);
	ck_assert_uint_gt(found.failing, 50);
}
END_TEST

/* A program with few large blocks, so that oversize ones are released one by
 * one, and several at a time. */
static void write_oversize(struct trial *trial, struct dice *dice)
{
	struct author author = { .trial = trial };
	struct desk desk = { 0 };
	uint64_t live[MOST_LIVE], count = 0, id = 0;

	*trial = (struct trial){ .about = "oversize blocks" };
	trial->capacity = dice_between(dice, 100, 400) * MIB;
	for (int i = 0; i < REQUESTS; i++) {
		struct op op = { .kind = GP_ALLOC, .id = ++id };

		op.size = dice_between(dice, 10, 100) * MIB;
		if (count == MOST_LIVE || (count && dice_permille(dice, 500))) {
			uint64_t at = dice_below(dice, count);

			op = (struct op){ .kind = GP_FREE, .id = live[at] };
			live[at] = live[--count];
		} else {
			live[count++] = op.id;
		}
		desk_add(&author, &desk, op);
	}
}

START_TEST(test_so_they_do_where_oversize_blocks_are_released)
{
	struct found found = { 0 };
	struct dice dice;

	dice_init(&dice, 7, "oversize");
	for (int i = 0; i < PROGRAMS; i++) {
		struct trial trial;

		write_oversize(&trial, &dice);
		try_trial(&trial, &dice, &found);
		trial_release(&trial);
	}
	ck_assert_uint_gt(found.failing, found.runs / 10);
}
END_TEST

/* Ages count from the start of a program, even if a threshold is set later. */
START_TEST(test_so_they_do_where_settings_change)
{
	struct found found = { 0 };
	struct dice dice;

	dice_init(&dice, 9, "changes");
	for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
		struct trial trial;

		author_write(&trial, seed, trial_class_find("settings"));
		try_trial(&trial, &dice, &found);
		trial_release(&trial);
	}
	ck_assert_uint_gt(found.runs, 0);
}
END_TEST

/* ---- cases with known ranges ---- */

/* Steps, in MiB: a request; or, if negative, the number of a request to
 * free. */
struct known {
	const char *conf;
	uint64_t capacity; /* MiB */
	int steps[12];
	/* If an end is 0, the range is unlimited there. */
	uint64_t split_least, split_most, non_split_least, non_split_most;
	double gc_least, gc_below;
};

static struct course run_known(const struct known *known)
{
	struct trial trial = { .capacity = known->capacity * MIB };
	struct author author = { .trial = &trial };
	struct desk desk = { 0 };
	struct gp_settings settings;
	struct play play = { .capacity = trial.capacity,
			     .on_oom = GP_OOM_GO_ON };
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };
	struct course course;
	uint64_t id = 0;

	for (const int *step = known->steps; *step; step++) {
		struct op op = { .kind = GP_FREE, .id = (uint64_t) - *step };

		if (*step > 0)
			op = (struct op){ .kind = GP_ALLOC,
					  .id = ++id,
					  .size = (uint64_t)*step * MIB };
		desk_add(&author, &desk, op);
	}
	ck_assert_int_eq(trial_trace(&trial, &trace, &diag), GP_OK);
	play.trace = trace;
	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_settings_parse(&settings, known->conf, &diag),
			 GP_OK);
	course = run(&play, &settings);
	ck_assert(gp_alike_holds(&course.alike, &settings));
	gp_trace_destroy(trace);
	trial_release(&trial);
	return course;
}

static void check_known(const struct known *known, const struct gp_alike *a)
{
	double gc_below = known->gc_below > 0 ? known->gc_below : 1;

	ck_assert_uint_eq(a->max_split_least, known->split_least);
	ck_assert_uint_eq(a->max_split_most,
			  known->split_most ? known->split_most : GP_UNLIMITED);
	ck_assert_uint_eq(a->non_split_least, known->non_split_least);
	ck_assert_uint_eq(a->non_split_most, known->non_split_most
						     ? known->non_split_most
						     : GP_UNLIMITED);
	ck_assert(a->gc_least ==
		  (known->gc_least > 0 ? known->gc_least : DBL_TRUE_MIN));
	ck_assert(a->gc_most == nextafter(gc_below, 0));
	ck_assert_int_eq(a->gc_off, gc_below == 1);
}

START_TEST(test_known_ranges)
{
#define SPLIT(mib) "max_split_size_mb:" #mib
#define GC                                                                     \
	"per_process_memory_fraction:0.5,"                                     \
	"garbage_collection_threshold:"
	static const struct known rows[] = {
		/* A segment of 20 MiB is split. */
		{ .conf = SPLIT(50),
		  .capacity = 99,
		  .steps = { 3 },
		  .split_least = 3 * MIB + 1 },
		/* A block is used: it is below the limit; or the request is
		 * above; or nothing is left over. */
		{ .conf = SPLIT(50),
		  .capacity = 99,
		  .steps = { 40, -1, 35 },
		  .split_least = 40 * MIB + 1 },
		{ .conf = SPLIT(20),
		  .capacity = 99,
		  .steps = { 40, -1, 36 },
		  .split_most = 36 * MIB,
		  .non_split_least = 4 * MIB + 1 },
		{ .conf = SPLIT(20),
		  .capacity = 99,
		  .steps = { 40, -1, 40 },
		  .non_split_least = 1 },
		/* The block is too large for a request below the limit, or
		 * above it. */
		{ .conf = SPLIT(30),
		  .capacity = 99,
		  .steps = { 40, -1, 26 },
		  .split_least = 26 * MIB + 1,
		  .split_most = 40 * MIB },
		{ .conf = SPLIT(20),
		  .capacity = 199,
		  .steps = { 60, -1, 30 },
		  .split_most = 60 * MIB,
		  .non_split_most = 30 * MIB },
		/* The released segments suffice, to the byte; or they do not;
		 * or one would, if the limit were higher. */
		{ .conf = SPLIT(20),
		  .capacity = 96,
		  .steps = { 40, 30, 26, -1, -2, -3, 70 },
		  .split_most = 30 * MIB },
		{ .conf = SPLIT(28),
		  .capacity = 96,
		  .steps = { 40, 30, 26, -1, -2, -3, 90 },
		  .split_least = 26 * MIB + 1,
		  .split_most = 30 * MIB },
		{ .conf = SPLIT(70),
		  .capacity = 96,
		  .steps = { 60, 36, -1, -2, 70 },
		  .split_least = 60 * MIB + 1 },
		/* Nothing is collected, because there is nothing, or because
		 * the threshold is not reached. */
		{ .conf = GC "0.6", .capacity = 256, .steps = { 48, 40 } },
		{ .conf = GC "0.6",
		  .capacity = 256,
		  .steps = { 32, -1, 40 },
		  .gc_least = 32 / 128. },
		/* The older of two segments is collected, and suffices. */
		{ .conf = GC "0.6",
		  .capacity = 256,
		  .steps = { 16, -1, 24, -2, 48, 40 },
		  .gc_least = 72 / 128.,
		  .gc_below = 88 / 128. },
		/* With a lower threshold, it would have been collected
		 * earlier. */
		{ .conf = GC "0.6",
		  .capacity = 256,
		  .steps = { 32, 16, -1, -2, 40, 40 },
		  .gc_least = 48 / 128.,
		  .gc_below = 88 / 128. },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct course course = run_known(&rows[i]);

		check_known(&rows[i], &course.alike);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_known_ranges, 0 },
		{ test_so_they_do_where_oversize_blocks_are_released, 0 },
		{ test_so_they_do_where_settings_change, 0 },
		{ test_settings_within_the_ranges_decide_alike, 0 },
	};

	return suite_run("alike", tests, COUNT_OF(tests));
}
