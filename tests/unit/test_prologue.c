/* SPDX-License-Identifier: MIT */
/* Requests that rebuild a start state, compared with that state. */
#include <stdlib.h>
#include <string.h>

#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "suite.h"
#include "trace_text.h"
#include "replay/verify/prologue.h"

#define EVENTS 400
#define MIB    (UINT64_C(1) << 20)

/* A linear congruential generator (Knuth's MMIX): the same on every machine. */
static uint64_t next(uint64_t *seed)
{
	*seed = *seed * UINT64_C(6364136223846793005) +
		UINT64_C(1442695040888963407);
	return *seed >> 33;
}

static uint64_t some_size(uint64_t *seed)
{
	/* The limits between small and large segments, and between their
	 * sizes. */
	static const uint64_t limits[] = {
		512,	  MIB - 512,	  MIB,	   MIB + 512, 2 * MIB, 9 * MIB,
		10 * MIB, 10 * MIB - 512, 20 * MIB
	};

	switch (next(seed) % 6) {
	case 0: return 1 + next(seed) % 4096;
	case 1: return 1 + next(seed) % MIB;
	case 2: return MIB + next(seed) % (9 * MIB);
	case 3:
	case 4: return limits[next(seed) % COUNT_OF(limits)];
	default: return 10 * MIB + next(seed) % (60 * MIB);
	}
}

/* Allocations of any size, half of them freed in random order; some of the
 * freed blocks are still in use on the other stream. */
static size_t make_events(uint64_t seed, bool waits, struct gp_event *events)
{
	uint32_t live[EVENTS], ids = 0;
	size_t count = 0, n = 0;

	while (n < EVENTS) {
		struct gp_event *e = &events[n++];

		*e = (struct gp_event){ .site = GP_NO_SITE };
		if (count && next(&seed) % 100 < 45) {
			size_t i = next(&seed) % count;

			if (waits && next(&seed) % 4 == 0 && n < EVENTS) {
				e->kind = GP_RECORD_STREAM;
				e->id = live[i];
				e->stream = (uint16_t)(next(&seed) % 2);
				e = &events[n++];
				*e = (struct gp_event){ .site = GP_NO_SITE };
			}
			e->kind = GP_FREE;
			e->id = live[i];
			live[i] = live[--count];
			continue;
		}
		e->kind = GP_ALLOC;
		e->id = live[count++] = ids++;
		e->size = some_size(&seed);
		e->stream = (uint16_t)(next(&seed) % 2);
	}
	return n;
}

static void replay(const struct gp_trace *trace,
		   const struct gp_settings *settings,
		   struct gp_replay_result *result)
{
	size_t count;
	struct gp_diag diag = { 0 };
	struct gp_replay_config config = {
		.trace = trace,
		.settings = settings,
		.engine = gp_engine_table(&count),
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
	};

	ck_assert_int_eq(gp_replay(&config, result, &diag), GP_OK);
	ck_assert_uint_eq(result->dropped, 0);
}

/* Takes the final state of a run as the start state of another trace, and
 * rebuilds it. */
static void check(const char *conf, bool waits, uint64_t seed)
{
	static const uint64_t streams[] = { 0, 0x1010 };
	static const struct gp_pool_id pools[] = { { 0, 0 } };
	struct gp_event events[EVENTS];
	struct gp_device_trace device = { .events = events,
					  .block_ids = EVENTS };
	struct gp_trace trace = {
		.devices = &device,
		.device_count = 1,
		.streams = streams,
		.stream_count = COUNT_OF(streams),
		.pools = pools,
		.pool_count = 1,
	};
	struct gp_replay_result first, second;
	struct gp_settings settings;
	struct prologue prologue;
	struct gp_diag diag;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	device.event_count = make_events(seed, waits, events);
	replay(&trace, &settings, &first);

	device.start = first.end;
	device.event_count = 0;
	prologue_make(&prologue, &trace, 0, &settings);
	ck_assert_uint_eq(prologue.length, prologue.count);
	replay(&prologue.trace, &settings, &second);
	ck_assert_uint_eq(second.end.segment_count, first.end.segment_count);
	ck_assert_msg(prologue_alike(&first.end, &second.end) ==
			      first.end.segment_count,
		      "%s, seed %u", conf, (unsigned)seed);
	prologue_release(&prologue);
	gp_replay_release(&first);
	gp_replay_release(&second);
}

static void check_all(const char *conf, bool waits)
{
	for (uint64_t seed = 1; seed <= 20; seed++)
		check(conf, waits, seed);
}

START_TEST(test_default_settings)
{
	check_all("", false);
}
END_TEST

START_TEST(test_expandable_segments)
{
	check_all("expandable_segments:True", false);
}
END_TEST

START_TEST(test_blocks_that_may_not_be_split)
{
	check_all("max_split_size_mb:32", false);
}
END_TEST

START_TEST(test_blocks_that_wait)
{
	check_all("", true);
}
END_TEST

/* A free block at the beginning of a segment that would not serve requests of
 * up to 1 MiB. */
START_TEST(test_no_small_request_cuts_a_large_segment)
{
	static const uint64_t sizes[] = { 512, MIB - 512, MIB, MIB + 512 };
	const struct gp_segment segment = { .size = 20 * MIB, .blocks = 2 };

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		uint64_t rest = 20 * MIB - sizes[i];
		const struct gp_block blocks[] = {
			{ .size = sizes[i], .id = GP_NO_ID },
			{ .addr = sizes[i],
			  .size = rest,
			  .requested = rest,
			  .state = GP_ACTIVE },
		};
		struct gp_device_trace device = {
			.start = { &segment, blocks, 1, 2 }, .block_ids = 1
		};
		struct gp_trace trace = { .devices = &device,
					  .device_count = 1 };
		struct gp_settings settings;
		struct prologue p;
		size_t cuts = 0;

		gp_settings_init(&settings, GP_RELEASE_LAST);
		prologue_make(&p, &trace, 0, &settings);
		for (size_t k = 0; k < p.length; k++) {
			if (p.events[k].kind == GP_ALLOC)
				ck_assert_uint_gt(p.events[k].size, MIB);
			cuts += p.events[k].size == sizes[i];
		}
		ck_assert_uint_eq(cuts, sizes[i] > MIB);
		prologue_release(&p);
	}
}
END_TEST

/* A segment with three blocks, and a variant for each difference. */
START_TEST(test_what_differs_is_not_alike)
{
	const struct gp_block blocks[] = {
		{ .size = 512, .id = 1, .state = GP_ACTIVE },
		{ .size = 1024, .id = 7, .state = GP_INACTIVE },
		{ .size = 512, .id = 2, .state = GP_PENDING_FREE },
	};
	const struct gp_segment segment = { .size = 2048, .blocks = 3 };
	const struct gp_state one = { &segment, blocks, 1, 3 };
	struct gp_segment others[] = { segment, segment, segment,
				       segment, segment, segment };
	struct gp_block pieces[3];
	struct gp_state other = { &segment, pieces, 1, 3 };

	others[1].size = 4096;
	others[2].stream = 1;
	others[3].pool = 1;
	others[4].is_small = true;
	others[5].blocks = 2;
	for (size_t i = 0; i < COUNT_OF(others); i++) {
		other = (struct gp_state){ &others[i], blocks, 1, 3 };
		ck_assert_uint_eq(prologue_alike(&one, &other), !i);
	}
	other = (struct gp_state){ &segment, pieces, 1, 3 };
	for (size_t i = 0; i < 9; i++) {
		struct gp_block *piece = &pieces[i / 3];

		memcpy(pieces, blocks, sizeof(pieces));
		piece->size += i % 3 == 0;
		piece->state ^= i % 3 == 1;
		piece->id += i % 3 == 2;
		/* The id of a free block is ignored. */
		ck_assert_uint_eq(prologue_alike(&one, &other), i == 5);
	}
	/* So is anything beyond the last segment. */
	memcpy(pieces, blocks, sizeof(pieces));
	ck_assert_uint_eq(prologue_alike(&one, &other), 1);
	other.segment_count = 0;
	ck_assert_uint_eq(prologue_alike(&one, &other), 0);
	ck_assert_uint_eq(prologue_alike(&other, &one), 0);
}
END_TEST

START_TEST(test_an_empty_start_has_no_prologue)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1000}"));
	struct gp_settings settings;
	struct prologue prologue;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	prologue_make(&prologue, trace, 0, &settings);
	ck_assert_uint_eq(prologue.length, 0);
	ck_assert_uint_eq(prologue.count, 1);
	prologue_release(&prologue);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_default_settings, 0 },
		{ test_expandable_segments, 0 },
		{ test_blocks_that_may_not_be_split, 0 },
		{ test_no_small_request_cuts_a_large_segment, 0 },
		{ test_blocks_that_wait, 0 },
		{ test_what_differs_is_not_alike, 0 },
		{ test_an_empty_start_has_no_prologue, 0 },
	};

	return suite_run("prologue", tests, COUNT_OF(tests));
}
