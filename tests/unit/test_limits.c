/* SPDX-License-Identifier: MIT */
/* What a program's limit shows about the device that it ran on, by the rule for
 * a request that was refused although there was room; and the memory that can
 * hold the start state of a window. */
#include <stdlib.h>
#include <string.h>

#include "allocator/release.h"
#include "gpupool/replay.h"
#include "gpupool/knob.h"
#include "played.h"
#include "suite.h"
#include "trace_text.h"

#define MIB(n)	    ((uint64_t)(n) << 20)
#define MOST_EVENTS 12
#define BESIDE	    MIB(32) /* the most a segment has beyond its request */

/* ---- refused at a known fraction ---- */

/* Growth, released memory, and an OOM. */
struct made_up {
	struct gp_event events[MOST_EVENTS];
	struct gp_device_trace device;
	struct gp_trace trace;
	uint64_t reserved, most;
};

static void put(struct made_up *m, enum gp_event_kind kind, uint64_t size,
		uint64_t addr)
{
	m->events[m->device.event_count++] =
		(struct gp_event){ .kind = kind, .size = size, .addr = addr };
	if (kind == GP_SEGMENT_ALLOC)
		m->reserved += size;
	if (kind == GP_SEGMENT_FREE)
		m->reserved -= size;
	m->most = m->reserved > m->most ? m->reserved : m->most;
}

static void make_up(struct made_up *m, uint64_t *seed)
{
	*m = (struct made_up){ .device.events = m->events };
	m->trace = (struct gp_trace){ .devices = &m->device,
				      .device_count = 1,
				      .release = { .last = GP_RELEASE_LAST } };
	for (uint64_t n = next_random(seed) % 4; n; n--)
		put(m, GP_SEGMENT_ALLOC, MIB(2 + next_random(seed) % 200), 0);
	if (m->reserved && next_random(seed) % 2) {
		put(m, GP_EMPTY_CACHE, 0, 0);
		put(m, GP_SEGMENT_FREE, MIB(next_random(seed) % 2 + 1), 0);
	}
}

/* GP_UNLIMITED: the limit was not the reason, or such a device could not have
 * served all that was served. */
static uint64_t plain_device(uint64_t reserved, uint64_t size, uint64_t free,
			     uint64_t most, double fraction)
{
	uint64_t room = reserved + free, least = 0;

	while ((double)least < (double)most / fraction && least <= 2 * room)
		least += MIB(1);
	if ((double)(reserved + size + BESIDE) <= fraction * (double)room ||
	    8 * least > 9 * room)
		return GP_UNLIMITED;
	return room > least ? room : least;
}

/* Near the values at which the limit, or what was served, just allows it. */
static uint64_t some_free(const struct made_up *m, uint64_t size,
			  double fraction, uint64_t *seed)
{
	uint64_t least = size + BESIDE, room = m->reserved + least;
	uint64_t near = next_random(seed) % 3 - 1;

	if (next_random(seed) % 3 == 0)
		return least + MIB(next_random(seed) % 400);
	if (next_random(seed) % 2)
		room = (uint64_t)((double)room / fraction) + 8 * near;
	else
		room = (uint64_t)((double)m->most / fraction) / 9 * 8 +
		       MIB(1) * near;
	return room > m->reserved + least ? room - m->reserved : least;
}

START_TEST(a_limit_that_refused_tells_how_large_the_device_is)
{
	static const double fractions[] = { 0.125, 0.25, 0.5, 0.75, 0.875, 1 };
	size_t told = 0;
	uint64_t seed = 1;

	for (int round = 0; round < 20000; round++) {
		double fraction =
			fractions[next_random(&seed) % COUNT_OF(fractions)];
		uint64_t size = MIB(1 + next_random(&seed) % 300), free, plain;
		struct gp_settings settings;
		struct made_up m;
		uint64_t at;

		make_up(&m, &seed);
		at = m.reserved;
		free = some_free(&m, size, fraction, &seed);
		put(&m, GP_OOM, size, free);
		if (next_random(&seed) % 2)
			put(&m, GP_SEGMENT_ALLOC, MIB(next_random(&seed) % 90),
			    0);
		plain = plain_device(at, size, free, m.most, fraction);
		gp_settings_init(&settings, GP_RELEASE_LAST);
		settings.memory_fraction = fraction;
		ck_assert_uint_eq(
			gp_replay_fit_capacity(&m.trace, 0, &settings), plain);
		told += plain != GP_UNLIMITED;
		m.device.total_memory = MIB(77);
		ck_assert_uint_eq(
			gp_replay_fit_capacity(&m.trace, 0, &settings),
			MIB(77));
	}
	ck_assert_uint_gt(told, 2000);
}
END_TEST

/* If there is no memory at all, a request is always refused. */
START_TEST(a_limit_of_nothing_tells_nothing)
{
	static const double thresholds[] = { 0, 0.5 };
	struct gp_settings settings;
	struct made_up m;
	uint64_t seed = 1;

	for (size_t i = 0; i < COUNT_OF(thresholds); i++) {
		make_up(&m, &seed);
		put(&m, GP_OOM, MIB(3), MIB(80));
		put(&m, GP_SEGMENT_FREE, MIB(1), 0);
		put(&m, GP_SEGMENT_ALLOC, MIB(4), 0);
		gp_settings_init(&settings, GP_RELEASE_LAST);
		settings.memory_fraction = 0;
		settings.gc_threshold = thresholds[i];
		ck_assert_uint_eq(
			gp_replay_fit_capacity(&m.trace, 0, &settings),
			GP_UNLIMITED);
	}
}
END_TEST

/* The fraction is so small that anything served would be too much, and nothing
 * was served. */
START_TEST(what_served_nothing_may_be_of_any_size)
{
	struct made_up m = { .device.events = m.events };
	struct gp_settings settings;

	m.trace = (struct gp_trace){ .devices = &m.device,
				     .device_count = 1,
				     .release = { .last = GP_RELEASE_LAST } };
	put(&m, GP_OOM, MIB(3), MIB(80));
	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.memory_fraction = 1e-9;
	ck_assert_uint_eq(gp_replay_fit_capacity(&m.trace, 0, &settings),
			  MIB(80));
}
END_TEST

/* ---- the start state of a window ---- */

START_TEST(a_window_runs_where_what_it_begins_with_has_room)
{
	static const uint64_t capacities[] = { 0,	    1,
					       MIB(20) - 1, MIB(20),
					       MIB(20) + 1, MIB(60) - 1,
					       MIB(60),	    GP_UNLIMITED };
	static const uint64_t starts[][2] = {
		{ 0, 0 },	{ MIB(20), 0 },	      { 0, MIB(20) },
		{ 0, MIB(60) }, { MIB(60), MIB(20) }, { MIB(20), MIB(60) },
	};

	for (size_t i = 0; i < COUNT_OF(starts) * COUNT_OF(capacities); i++) {
		const uint64_t *start = starts[i / COUNT_OF(capacities)];
		uint64_t capacity = capacities[i % COUNT_OF(capacities)];
		/* The third segment is on a device beyond those of the
		 * trace. */
		struct gp_segment segments[3] = { { .size = start[0] },
						  { .size = start[1] },
						  { .size = MIB(90) } };
		struct gp_device_trace devices[3] = { { .device = 0 } };
		const struct gp_trace trace = { .devices = devices,
						.device_count = 2 };
		struct gp_diag diag = { 0 };
		bool decides = start[0] <= capacity && start[1] <= capacity;

		for (size_t d = 0; d < 3; d++) {
			devices[d].start.segments = &segments[d];
			devices[d].start.segment_count = 1;
		}
		for (uint32_t d = 0; d < 2; d++)
			ck_assert_uint_eq(
				gp_replay_undecided(&trace, d, capacity),
				start[d] > capacity ? start[d] : 0);
		ck_assert_int_eq(gp_replay_decides(&trace, capacity, &diag),
				 decides ? GP_OK : GP_INPUT);
		ck_assert(decides || strstr(diag.what, "undecided"));
	}
}
END_TEST

/* ---- limits ---- */

/* 202 of 400 MiB are cached when more is needed. If that is above half of a
 * limit, they are collected. */
static bool is_limit(uint8_t release, const char *fraction)
{
	char text[1024];
	struct gp_trace *trace;
	struct gp_settings settings;
	struct gp_replay_config config;
	struct gp_replay_result result;
	struct gp_diag diag;
	bool is_collected;

	snprintf(
		text, sizeof(text),
		ONE_DEVICE("%s{\"op\": \"alloc\", \"id\": 1, \"size\": "
			   "211812352}, {\"op\": \"free\", \"id\": 1}, "
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 67108864, "
			   "\"stream\": 9}"),
		fraction);
	trace = trace_of(text);
	config = run_of(trace, &settings);
	gp_settings_init(&settings, release);
	ck_assert_int_eq(gp_settings_parse(&settings,
					   "garbage_collection_threshold:0.5",
					   &diag),
			 GP_OK);
	config.capacity = MIB(400);
	result = played(&config);
	is_collected = result.calls.free == 1;
	ck_assert_uint_le(result.calls.free, 1);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
	return is_collected;
}

#define FRACTION(f) "{\"op\": \"set_memory_fraction\", \"fraction\": " f "}, "

START_TEST(a_fraction_is_a_limit_where_the_release_says)
{
	for (uint8_t r = 0; r <= GP_RELEASE_LAST; r++) {
		ck_assert(!is_limit(r, ""));
		ck_assert(is_limit(r, FRACTION("0.999")));
		ck_assert_int_eq(is_limit(r, FRACTION("1.0")),
				 gp_release_limits(r, 1));
		ck_assert_int_eq(is_limit(r, FRACTION("0.5") FRACTION("1.0")),
				 gp_release_limits(r, 1));
	}
	ck_assert(gp_release_limits(9, 1) && !gp_release_limits(10, 1));
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ a_limit_that_refused_tells_how_large_the_device_is, 0 },
		{ a_limit_of_nothing_tells_nothing, 0 },
		{ what_served_nothing_may_be_of_any_size, 0 },
		{ a_window_runs_where_what_it_begins_with_has_room, 0 },
		{ a_fraction_is_a_limit_where_the_release_says, 0 },
	};

	return suite_run("limits", tests, COUNT_OF(tests));
}
