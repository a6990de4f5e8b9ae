/* SPDX-License-Identifier: MIT */
/* What a trace shows about the machine on which it was recorded. */
#include "gpupool/replay.h"

#include <inttypes.h>
#include <stdlib.h>

#include "gpupool/device.h"
#include "played.h"
#include "replay/recorded.h"
#include "suite.h"
#include "trace_text.h"

#define MIB(n) ((uint64_t)(n) << 20)

/* Sizes and addresses in MiB. These tests do not depend on addresses. */
#define GROW(addr, size) EVENT("segment_alloc", addr, size)
#define DROP(addr, size) EVENT("segment_free", addr, size)
#define EVENT(op, addr, size)                                                  \
	"{\"op\": \"" op "\", \"addr\": " #addr "000000, \"size\": " #size     \
	"000000}"
#define ALLOC(id, addr, size)                                                  \
	"{\"op\": \"alloc\", \"id\": " #id ", \"addr\": " #addr                \
	"000000, \"size\": " #size "000000}"
#define FREE(id) "{\"op\": \"free\", \"id\": " #id "}"
#define OOM(free)                                                              \
	"{\"op\": \"oom\", \"size\": 900000000, \"device_free\": " #free       \
	"000000}"
#define OOM_EXACT(free)                                                        \
	"{\"op\": \"oom\", \"size\": 900000000, \"device_free\": " #free "}"
#define EMPTY "{\"op\": \"empty_cache\"}"
#define M(n)  ((uint64_t)(n)*1000000)

static const struct {
	const char *events;
	uint64_t capacity;
} told[] = {
	{ ONE_DEVICE(GROW(2, 30)), GP_UNLIMITED },
	{ ONE_DEVICE(GROW(2, 30) ", " OOM(5)), M(35) },
	{ ONE_DEVICE(GROW(2, 30) ", " GROW(40, 8) ", " EMPTY
						  ", " DROP(2, 30) ", " OOM(5)),
	  M(13) },
	{ ONE_DEVICE(OOM(5) ", " GROW(2, 30) ", " OOM(9)), M(5) },
};

START_TEST(an_oom_tells_how_large_the_device_is)
{
	struct gp_trace *trace = trace_of(told[_i].events);

	ck_assert_uint_eq(gp_replay_capacity_of(trace, 0), told[_i].capacity);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_the_trace_says_comes_first)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
		"[{\"device\": 0, \"total_memory\": 77, \"events\": [" OOM(
			5) "]}]}");

	ck_assert_uint_eq(gp_replay_capacity_of(trace, 0), 77);
	gp_trace_destroy(trace);
}
END_TEST

/* Two segments, then a request that made room by releasing the first one. */
#define MADE_ROOM                                                              \
	GROW(100, 30)                                                          \
	", " ALLOC(1, 100, 30) ", " GROW(200, 40) ", " ALLOC(                  \
		2, 200,                                                        \
		40) ", " FREE(1) ", " DROP(100,                                \
					   30) ", " GROW(300,                  \
							 50) ", " ALLOC(3,     \
									300,   \
									50)

static const struct {
	const char *events;
	bool is_told;
	uint64_t least, below;
} rooms[] = {
	/* No room was made for a request. */
	{ ONE_DEVICE(GROW(100, 30) ", " ALLOC(1, 100, 30)), false, M(30),
	  GP_UNLIMITED },
	/* 70 MiB were reserved and 50 more were refused; then 90 were
	 * granted. */
	{ ONE_DEVICE(MADE_ROOM), true, M(90), M(120) },
	/* Segments that empty_cache released were not in the way of a
	 * request. */
	{ ONE_DEVICE(GROW(100, 30) ", " ALLOC(1, 100, 30) ", " FREE(
		  1) ", " EMPTY
		     ", " DROP(100, 30) ", " GROW(300, 50) ", " ALLOC(3, 300,
								      50)),
	  false, M(50), GP_UNLIMITED },
	/* Later, more was reserved than had been refused. */
	{ ONE_DEVICE(MADE_ROOM ", " GROW(400, 30) ", " ALLOC(4, 400, 30)),
	  false, M(120), M(120) },
	/* Refused by a limit although there was room: a segment is at most 32
	 * MiB larger than its request. */
	{ ONE_DEVICE(GROW(100, 30) ", " ALLOC(1, 100, 30) ", " OOM(934)), true,
	  M(30), M(930) + MIB(32) },
	{ ONE_DEVICE(GROW(100, 30) ", " ALLOC(1, 100, 30) ", " OOM(933)), false,
	  M(30), GP_UNLIMITED },
	{ ONE_DEVICE(OOM_EXACT(933554432)), true, 0, M(900) + MIB(32) },
	{ ONE_DEVICE(OOM_EXACT(933554431)), false, 0, GP_UNLIMITED },
	/* The lower of two bounds. */
	{ ONE_DEVICE(MADE_ROOM ", " FREE(3) ", " DROP(300, 50) ", " GROW(
		  500, 10) ", " ALLOC(5, 500, 10)),
	  true, M(90), M(100) },
};

START_TEST(room_that_was_made_tells_how_large_the_device_is)
{
	struct gp_trace *trace = trace_of(rooms[_i].events);
	struct gp_settings settings;
	struct gp_refused_room room;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_replay_refused_room(trace, 0, &settings, &room),
			 rooms[_i].is_told);
	ck_assert_uint_eq(room.least, rooms[_i].least);
	ck_assert_uint_eq(room.below, rooms[_i].below);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(room_that_a_limit_made_tells_nothing)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(MADE_ROOM));
	struct gp_settings settings;
	struct gp_refused_room room;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.gc_threshold = 0.5;
	ck_assert(!gp_replay_refused_room(trace, 0, &settings, &room));
	settings.gc_threshold = 0;
	settings.memory_fraction = 0.5;
	ck_assert(!gp_replay_refused_room(trace, 0, &settings, &room));
	gp_trace_destroy(trace);
}
END_TEST

/* Garbage was collected at 64 MiB reserved, so 64 MiB is more than 0.8 of the
 * device; and 64 MiB fit. The device has between 64 and 80 MiB. What
 * empty_cache released at 20 MiB, before the next segment, is not garbage. */
#define AT_32_MIB	 "\"addr\": 33554432, \"size\": "
#define GROW_EXACT(size) "{\"op\": \"segment_alloc\", " AT_32_MIB #size "}, "
#define DROP_EXACT(size) "{\"op\": \"segment_free\", " AT_32_MIB #size "}, "
#define ALLOC_EXACT(id, size)                                                  \
	"{\"op\": \"alloc\", \"id\": " #id ", " AT_32_MIB #size "}"
#define OTHER_32_MIB                                                           \
	"{\"op\": \"segment_alloc\", \"addr\": 134217728, "                    \
	"\"size\": 33554432}, "                                                \
	"{\"op\": \"alloc\", \"id\": 2, \"addr\": 134217728, "                 \
	"\"size\": 33554432}, "
#define EMPTIED                                                                \
	GROW_EXACT(20971520)                                                   \
	ALLOC_EXACT(9, 16777216)                                               \
	", " FREE(9) ", " EMPTY ", " DROP_EXACT(20971520)
#define COLLECTED                                                              \
	GROW_EXACT(33554432)                                                   \
	ALLOC_EXACT(1, 33554432)                                               \
	", " OTHER_32_MIB FREE(1) ", " DROP_EXACT(33554432)                    \
		GROW_EXACT(20971520) ALLOC_EXACT(3, 16777216)

static const char *const collected = ONE_DEVICE(EMPTIED COLLECTED);

static const struct {
	double threshold, fraction;
	uint64_t least, most;
} fits[] = {
	{ 0.8, 1, MIB(64), MIB(80) },
	{ 0.8, 0.5, MIB(128), MIB(160) },
	/* Without garbage collection, nothing shows when a limit was
	 * reached. */
	{ 0, 0.5, GP_UNLIMITED, GP_UNLIMITED },
	{ 0, 1, GP_UNLIMITED, GP_UNLIMITED },
	{ 0.8, 0, GP_UNLIMITED, GP_UNLIMITED },
};

START_TEST(collection_tells_how_large_the_device_is)
{
	struct gp_trace *trace = trace_of(collected);
	struct gp_settings settings;
	uint64_t fit;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.gc_threshold = fits[_i].threshold;
	settings.memory_fraction = fits[_i].fraction;
	fit = gp_replay_fit_capacity(trace, 0, &settings);
	ck_assert_uint_ge(fit, fits[_i].least);
	ck_assert_uint_le(fit, fits[_i].most);
	gp_trace_destroy(trace);
}
END_TEST

/* The segment that was allocated lies beyond the end of that trace. */
START_TEST(nothing_behind_the_last_event_tells_a_size)
{
	struct gp_trace *trace = trace_of(collected);
	struct gp_device_trace device = trace->devices[0];
	struct gp_trace part = *trace;
	struct gp_settings settings;

	part.devices = &device;
	device.event_count--;
	while (device.events[device.event_count].kind != GP_SEGMENT_ALLOC)
		device.event_count--;
	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.gc_threshold = 0.8;
	ck_assert_uint_eq(gp_replay_fit_capacity(&part, 0, &settings),
			  GP_UNLIMITED);
	device.event_count++;
	ck_assert_uint_ne(gp_replay_fit_capacity(&part, 0, &settings),
			  GP_UNLIMITED);
	gp_trace_destroy(trace);
}
END_TEST

/* A segment and a block at its start, in MiB. */
static void put_segment(FILE *out, unsigned id, uint64_t addr, uint64_t size,
			uint64_t block)
{
	fprintf(out,
		"{\"op\": \"segment_alloc\", \"addr\": %" PRIu64
		", \"size\": %" PRIu64
		"}, {\"op\": \"alloc\", \"id\": %u, \"addr\": %" PRIu64
		", \"size\": %" PRIu64 "},",
		MIB(addr), MIB(size), id, MIB(addr), MIB(block));
}

/* Segment 2, of 20 MiB, was free when 996 MiB were reserved, and was not
 * collected; with 2 MiB more, it was. */
static char *narrow(void)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [",
	      out);
	put_segment(out, 1, 1000, 600, 600);
	put_segment(out, 2, 2000, 20, 20);
	fputs(FREE(2) ",", out);
	put_segment(out, 3, 3000, 376, 376);
	put_segment(out, 4, 4000, 2, 1);
	fprintf(out,
		"{\"op\": \"alloc\", \"id\": 5, \"addr\": %" PRIu64
		", \"size\": %" PRIu64
		"}, " FREE(5) ","
			      "{\"op\": \"segment_free\", \"addr\": %" PRIu64
			      ", \"size\": %" PRIu64 "},",
		MIB(2000), MIB(20), MIB(2000), MIB(20));
	put_segment(out, 6, 5000, 32, 32);
	put_segment(out, 7, 6000, 20, 20);
	fputs("{\"op\": \"empty_cache\"}]}]}", out);
	fclose(out);
	return text;
}

START_TEST(a_narrow_range_of_sizes_is_found)
{
	char *text = narrow();
	struct gp_trace *trace = trace_of(text);
	struct gp_settings settings;
	uint64_t fit;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.gc_threshold = 0.8;
	settings.memory_fraction = 0.5;
	fit = gp_replay_fit_capacity(trace, 0, &settings);
	ck_assert_uint_ge(fit, MIB(2490));
	ck_assert_uint_le(fit, MIB(2495));
	gp_trace_destroy(trace);
	free(text);
}
END_TEST

START_TEST(growth_alone_tells_no_size)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(GROW(2, 30)));
	struct gp_settings settings;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.gc_threshold = 0.8;
	ck_assert_uint_eq(gp_replay_fit_capacity(trace, 0, &settings),
			  GP_UNLIMITED);
	gp_trace_destroy(trace);
}
END_TEST

/* The first block lies where no allocator would place it. */
START_TEST(what_is_never_the_same_tells_no_size)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(GROW_EXACT(
		20971520) "{\"op\": \"alloc\", \"id\": 9, "
			  "\"addr\": 34603008, "
			  "\"size\": 16777216}, " FREE(
				  9) ", " EMPTY ", " DROP_EXACT(20971520)
							     COLLECTED));
	struct gp_settings settings;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.gc_threshold = 0.8;
	ck_assert_uint_eq(gp_replay_fit_capacity(trace, 0, &settings),
			  GP_UNLIMITED);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(a_size_that_is_told_is_not_fitted)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(MADE_ROOM ", " OOM(5)));
	struct gp_settings settings;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	settings.gc_threshold = 0.8;
	ck_assert_uint_eq(gp_replay_fit_capacity(trace, 0, &settings), M(95));
	gp_trace_destroy(trace);
}
END_TEST

/* A window that begins with two segments, at 1 GiB and at 2 GiB, each with a
 * free block of 4 MiB at its beginning. */
#define SEGMENT(addr, rest, id)                                                \
	"{\"address\": " addr ", \"total_size\": 20971520, \"stream\": 0, "    \
	"\"segment_type\": \"large\", \"blocks\": ["                           \
	"{\"address\": " addr ", \"size\": 4194304, \"requested_size\": 0, "   \
	"\"state\": \"inactive\"}, {\"address\": " rest ", \"size\": 16777216" \
	", \"requested_size\": 16777216, \"state\": \"active_allocated\", "    \
	"\"id\": " id "}]}"
#define WINDOW(events)                                                         \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"source\": "         \
	"{\"kind\": \"gpupool-trace\", \"complete\": false}, \"devices\": "    \
	"[{\"device\": 0, \"start\": {\"segments\": [" SEGMENT(                \
		"1073741824", "1077936128",                                    \
		"101") ", " SEGMENT("2147483648", "2151677952",                \
				    "102") "]}, "                              \
					   "\"events\": [" events "]}]}"
#define TAKE(id, addr)                                                         \
	"{\"op\": \"alloc\", \"id\": " #id ", \"addr\": " addr                 \
	", \"size\": 4194304}"
#define LOW  "1073741824"
#define HIGH "2147483648"

static const struct {
	const char *events;
	uint64_t matched, checked;
} ages[] = {
	{ WINDOW(TAKE(1, LOW)), 1, 1 },
	/* The segment at the higher address is the older one throughout the
	 * window. */
	{ WINDOW(TAKE(1, HIGH)), 1, 1 },
	{ WINDOW(TAKE(1, HIGH) ", " FREE(1) ", " TAKE(2, HIGH)), 2, 2 },
	{ WINDOW(TAKE(1, HIGH) ", " TAKE(2, LOW)), 2, 2 },
	/* No order of ages explains both. */
	{ WINDOW(TAKE(1, HIGH) ", " FREE(1) ", " TAKE(2, LOW)), 1, 2 },
};

START_TEST(what_was_taken_tells_which_segment_is_older)
{
	struct gp_trace *trace = trace_of(ages[_i].events);
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_replay_result result;

	config.mode = GP_VERIFY;
	result = played(&config);
	ck_assert_uint_eq(result.fidelity.checked, ages[_i].checked);
	ck_assert_uint_eq(result.fidelity.matched, ages[_i].matched);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* Two adjacent segments, each with a free block of 20; the second one has
 * another free block. */
static const struct gp_segment two[] = { { .addr = 150, .size = 50 },
					 { .addr = 200, .size = 50 } };
static const struct {
	int kind; /* as in struct gp_mismatch */
	uint64_t chosen, recorded;
	bool shows_age;
} lessons[] = {
	{ GP_WRONG_ADDRESS, 150, 200, true },
	{ GP_WRONG_ADDRESS, 200, 150, true },
	{ GP_UNEXPECTED_OOM, 150, 200, false },
	{ GP_WRONG_ADDRESS, 200, 230, false }, /* in the same segment */
	{ GP_WRONG_ADDRESS, 140, 200, false }, /* in no segment */
	{ GP_WRONG_ADDRESS, 150, 250, false },
	{ GP_WRONG_ADDRESS, 160, 200, false }, /* no free block */
	{ GP_WRONG_ADDRESS, 150, 230, false }, /* blocks of different sizes */
	/* In a segment that was not there at the start. */
	{ GP_WRONG_ADDRESS, 150, 300, false },
	{ GP_WRONG_ADDRESS, 300, 150, false },
};

START_TEST(what_shows_no_age_is_not_learned)
{
	static struct candidates candidates = {
		.list = { { 150, 20, 150, 50 },
			  { 200, 20, 200, 50 },
			  { 230, 10, 200, 50 },
			  { 300, 20, 300, 50 } },
		.count = 4,
	};
	const struct gp_state start = { .segments = two, .segment_count = 2 };
	const struct gp_mismatch mismatch = {
		.is_there = true,
		.kind = lessons[_i].kind,
		.chosen = lessons[_i].chosen,
		.recorded = lessons[_i].recorded,
	};
	struct order order = { 0 };

	ck_assert(order_learn(&order, &start, &mismatch, &candidates) ==
		  lessons[_i].shows_age);
	/* By now, this is known. */
	ck_assert(!order_learn(&order, &start, &mismatch, &candidates));
	order_release(&order);
}
END_TEST

/* No release returns that address; releases without the setting are not
 * tried. */
START_TEST(a_release_without_the_setting_is_none_of_these)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(GROW(
		2,
		30) ", {\"op\": \"other_memory\", \"bytes\": 5}, " ALLOC(1, 9,
									 30)));
	struct gp_release_choice choice;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_replay_release_of(trace, "large_segment_size_mb:64",
					      &choice, &diag),
			 GP_OK);
	ck_assert_uint_eq(choice.release, GP_RELEASE_LAST);
	ck_assert_uint_eq(choice.checked, 1);
	ck_assert_uint_eq(choice.matched, 0);
	gp_trace_destroy(trace);
}
END_TEST

/* The first segment is just below the top of the address range, where gpupool
 * record places it. A what-if places it there too, and the next one below
 * it. */
START_TEST(memory_is_placed_as_where_the_first_segment_lies)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"segment_alloc\", \"addr\": 124244746829824, "
		"\"size\": 20971520}, {\"op\": \"alloc\", \"id\": 1, \"size\": "
		"2097152, \"addr\": 124244746829824}, {\"op\": \"alloc\", "
		"\"id\": 2, \"size\": 33554432}"));
	struct gp_replay_result result = replayed(trace);

	ck_assert_uint_eq(result.end.segment_count, 2);
	ck_assert_uint_eq(result.end.segments[0].addr,
			  UINT64_C(124244746829824) - (UINT64_C(32) << 20));
	ck_assert_uint_eq(result.end.segments[1].addr,
			  UINT64_C(124244746829824));
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(what_a_later_request_made_tells_no_place)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 512}, "
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520}, "
		"{\"op\": \"segment_alloc\", \"addr\": 124244746829824, "
		"\"size\": 20971520}"));
	struct gp_replay_result result = replayed(trace);

	ck_assert_uint_eq(result.end.segments[0].addr, GP_SIM_BASE);
	gp_replay_release(&result);
	gp_trace_destroy(trace);
}
END_TEST

/* ---- generated recordings, walked in a straightforward way ---- */

#define MIB32 MIB(32)

/* The bytes reserved, live and requested so far. */
struct walk {
	uint64_t reserved, most_reserved, live, most_live;
	/* bytes reserved before memory was released to make room; 0: none
	 * was */
	uint64_t refused_at;
	bool gave_back; /* the last request did so in vain */
	uint64_t sizes[64];
	/* the conclusions */
	uint64_t capacity, least, below;
	bool is_told;
};

static void tell(struct walk *w, uint64_t capacity)
{
	if (!w->is_told)
		w->capacity = capacity;
	w->is_told = true;
}

/* The size that the default settings request from the device. */
static uint64_t segment_for(uint64_t size)
{
	uint64_t rounded = (size + 511) / 512 * 512;

	if (rounded <= MIB(1))
		return MIB(2);
	if (rounded < MIB(10))
		return MIB(20);
	return (rounded + MIB(2) - 1) / MIB(2) * MIB(2);
}

static void walk_oom(struct walk *w, uint64_t size, uint64_t left)
{
	uint64_t before = w->live + left;

	if (left >= size + MIB32) {
		tell(w, GP_UNLIMITED);
		if (w->reserved + size + MIB32 < w->below)
			w->below = w->reserved + size + MIB32;
		return;
	}
	/* Less than the segment was available, whatever was free. */
	if (w->reserved && left < segment_for(size))
		before = w->reserved + left;
	else if (w->reserved)
		before = w->reserved + segment_for(size) - MIB(2);
	else if (w->most_live > before)
		before = w->most_live;
	tell(w, before);
}

static void walk_segment(struct walk *w, bool is_more, uint64_t size)
{
	if (!is_more) {
		if (!w->refused_at && !w->gave_back)
			w->refused_at = w->reserved;
		w->reserved -= size;
		return;
	}
	if (w->refused_at && w->refused_at + size < w->below)
		w->below = w->refused_at + size;
	w->reserved += size;
	if (w->reserved > w->least)
		w->least = w->reserved;
}

static void walk_request(struct walk *w, bool gave_back)
{
	w->gave_back = gave_back;
	w->refused_at = 0;
}

/* Writes one event, and walks over it. */
static void make_event(struct walk *w, uint32_t i, bool has_segments,
		       uint64_t *seed, FILE *out)
{
	uint64_t size = MIB(1 + next_random(seed) % 40), at;

	switch (next_random(seed) % 8) {
	case 0:
	case 1:
		if (!has_segments)
			return;
		fprintf(out,
			", {\"op\": \"segment_alloc\", \"addr\": %" PRIu64
			", \"size\": %" PRIu64 "}",
			MIB(100 * (i + 1)), size);
		walk_segment(w, true, size);
		return;
	case 2:
		if (w->reserved <= size)
			return;
		fprintf(out,
			", {\"op\": \"segment_free\", \"addr\": %" PRIu64
			", \"size\": %" PRIu64 "}",
			MIB(100), size);
		walk_segment(w, false, size);
		return;
	case 3:
		fprintf(out, ", " EMPTY);
		walk_request(w, true);
		return;
	case 4:
		at = next_random(seed) % i;
		if (!w->sizes[at])
			return;
		fprintf(out, ", {\"op\": \"free\", \"id\": %" PRIu64 "}", at);
		w->live -= w->sizes[at];
		w->sizes[at] = 0;
		walk_request(w, false);
		return;
	case 5:
		if (next_random(seed) % 3)
			return;
		at = size + MIB(next_random(seed) % 3 + 31) - MIB(1) / 2;
		at = next_random(seed) % 2 ? MIB(3) : at;
		fprintf(out,
			", {\"op\": \"oom\", \"size\": %" PRIu64
			", \"device_free\": %" PRIu64 "}",
			size, at);
		walk_oom(w, size, at);
		return;
	default:
		fprintf(out,
			", {\"op\": \"alloc\", \"id\": %u, \"size\": %" PRIu64
			"}",
			i, size);
		w->sizes[i] = size;
		w->live += size;
		if (w->live > w->most_live)
			w->most_live = w->live;
		walk_request(w, false);
	}
}

START_TEST(each_event_tells_what_a_walk_is_told)
{
	uint64_t seed = 9;

	for (int round = 0; round < 400; round++) {
		struct walk w = { .capacity = GP_UNLIMITED,
				  .below = GP_UNLIMITED };
		struct gp_settings settings;
		struct gp_refused_room room;
		struct gp_trace *trace;
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		fputs("{\"format\": \"gpupool-trace\", \"version\": 1, "
		      "\"devices\": [{\"device\": 0, \"events\": [" EMPTY,
		      out);
		walk_request(&w, true);
		for (uint32_t i = 1; i < 1 + (uint32_t)round % 40; i++)
			make_event(&w, i, round % 3, &seed, out);
		fputs("]}]}", out);
		fclose(out);
		trace = trace_of(text);
		gp_settings_init(&settings, GP_RELEASE_LAST);
		ck_assert_uint_eq(gp_replay_capacity_of(trace, 0), w.capacity);
		ck_assert_int_eq(
			gp_replay_refused_room(trace, 0, &settings, &room),
			w.below != GP_UNLIMITED && w.below > w.least);
		ck_assert_uint_eq(room.least, w.least);
		ck_assert_uint_eq(room.below, w.below);
		gp_trace_destroy(trace);
		free(text);
	}
}
END_TEST

/* ---- compared with plain rules, for any few events ---- */

#define MOST_EVENTS 12
#define GIB	    (UINT64_C(1) << 30)

/* A device that has grown a little, and events of all kinds that show its
 * memory; each block is requested and freed once. */
struct made_up {
	struct gp_event events[MOST_EVENTS];
	struct gp_device_trace device;
	struct gp_trace trace;
};

static struct gp_event some_event(uint64_t *seed, uint32_t *ids)
{
	static const uint8_t kinds[] = {
		GP_ALLOC,	  GP_FREE,	     GP_EMPTY_CACHE,
		GP_POOL_RELEASE,  GP_SET_FRACTION,   GP_MARK,
		GP_SEGMENT_ALLOC, GP_SEGMENT_FREE,   GP_SEGMENT_MAP,
		GP_SEGMENT_UNMAP, GP_FREE_COMPLETED, GP_OOM,
		GP_OOM,		  GP_ALLOC,
	};
	struct gp_event event = {
		.kind = kinds[next_random(seed) % COUNT_OF(kinds)],
		.size = MIB(1 + next_random(seed) % 40),
	};

	if (event.kind == GP_ALLOC) {
		event.id = (*ids)++;
		event.flags = next_random(seed) % 4 ? 0 : GP_REFUSED;
	}
	if (event.kind == GP_FREE)
		event.id = *ids ? (uint32_t)(next_random(seed) % *ids) : 0;
	/* about a segment more than was requested */
	if (event.kind == GP_OOM)
		event.addr = event.size + MIB(30 + next_random(seed) % 3) +
			     next_random(seed) % 3 * (MIB(1) - 1);
	if (event.kind == GP_OOM && next_random(seed) % 2)
		event.addr = MIB(next_random(seed) % 40);
	return event;
}

static void make_up(struct made_up *m, uint64_t seed)
{
	uint32_t ids = 0;
	bool has_segments = next_random(&seed) % 3;

	*m = (struct made_up){ .device.events = m->events };
	while (m->device.event_count < 1 + seed % MOST_EVENTS) {
		struct gp_event event = some_event(&seed, &ids);

		if (has_segments || (!gp_event_is_growth(event.kind) &&
				     !gp_event_is_release(event.kind)))
			m->events[m->device.event_count++] = event;
	}
	m->device.block_ids = MOST_EVENTS;
	m->trace = (struct gp_trace){ .devices = &m->device,
				      .device_count = 1,
				      .release = { .last = GP_RELEASE_LAST } };
}

/* The bytes reserved before an event. */
static uint64_t reserved_at(const struct made_up *m, size_t event)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < event; i++) {
		if (gp_event_is_growth(m->events[i].kind))
			bytes += m->events[i].size;
		if (gp_event_is_release(m->events[i].kind))
			bytes -= m->events[i].size;
	}
	return bytes;
}

static uint64_t live_at(const struct made_up *m, size_t event)
{
	uint64_t sizes[MOST_EVENTS] = { 0 }, sum = 0;

	for (size_t i = 0; i < event; i++)
		if (m->events[i].kind == GP_FREE)
			sizes[m->events[i].id] = 0;
		else if (m->events[i].kind == GP_ALLOC &&
			 !(m->events[i].flags & GP_REFUSED))
			sizes[m->events[i].id] = m->events[i].size;
	for (size_t i = 0; i < MOST_EVENTS; i++)
		sum += sizes[i];
	return sum;
}

/* There was room, so a limit was the reason for the refusal. */
static bool is_limited(const struct gp_event *event)
{
	return event->kind == GP_OOM && event->addr >= event->size + MIB(32);
}

static uint64_t plain_capacity(const struct made_up *m)
{
	struct gp_settings settings;
	const struct gp_event *oom = m->events;
	size_t at = 0;
	uint64_t most, segment;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	while (at < m->device.event_count && oom->kind != GP_OOM)
		at++, oom++;
	if (at == m->device.event_count || is_limited(oom))
		return GP_UNLIMITED;
	if (reserved_at(m, at)) {
		segment = gp_settings_segment(
			&settings, gp_settings_round(&settings, oom->size));
		return reserved_at(m, at) +
		       (oom->addr < segment ? oom->addr
					    : segment - GP_DEVICE_GRAIN);
	}
	most = live_at(m, at) + oom->addr;
	for (size_t i = 0; i <= at; i++)
		most = live_at(m, i) > most ? live_at(m, i) : most;
	return most;
}

static bool plain_limited(const struct made_up *m)
{
	bool is = false;

	for (size_t i = 0; i < m->device.event_count; i++) {
		if (m->events[i].kind == GP_SET_FRACTION)
			return false;
		is |= is_limited(&m->events[i]);
	}
	return is;
}

/* The bytes reserved before the first release that made room for this event; 0:
 * no release did. */
static uint64_t made_room(const struct made_up *m, size_t event)
{
	size_t first = event, request = event;

	while (request && m->events[request - 1].kind >= GP_FIRST_OUTCOME) {
		request--;
		if (gp_event_is_release(m->events[request].kind))
			first = request;
	}
	if (request && (m->events[request - 1].kind == GP_EMPTY_CACHE ||
			m->events[request - 1].kind == GP_POOL_RELEASE))
		return 0;
	return first == event ? 0 : reserved_at(m, first);
}

static struct gp_refused_room plain_room(const struct made_up *m)
{
	struct gp_refused_room room = { 0, GP_UNLIMITED };

	for (size_t i = 0; i < m->device.event_count; i++) {
		const struct gp_event *event = &m->events[i];
		uint64_t before = made_room(m, i), below = GP_UNLIMITED;

		if (is_limited(event))
			below = reserved_at(m, i) + event->size + MIB(32);
		if (gp_event_is_growth(event->kind) && before)
			below = before + event->size;
		if (gp_event_is_growth(event->kind) &&
		    reserved_at(m, i + 1) > room.least)
			room.least = reserved_at(m, i + 1);
		room.below = below < room.below ? below : room.below;
	}
	return room;
}

/* Whether the device grew right after releases that the program did not ask
 * for; completions in between do not count. */
static bool has_collected(const struct made_up *m)
{
	for (size_t i = 0; i < m->device.event_count; i++) {
		size_t first = i, at = i;

		while (at && (gp_event_is_release(m->events[at - 1].kind) ||
			      m->events[at - 1].kind == GP_FREE_COMPLETED))
			if (gp_event_is_release(m->events[--at].kind))
				first = at;
		while (at && m->events[at - 1].kind >= GP_FIRST_OUTCOME)
			at--;
		if (gp_event_is_growth(m->events[i].kind) && first < i &&
		    reserved_at(m, first) &&
		    !(at && (m->events[at - 1].kind == GP_EMPTY_CACHE ||
			     m->events[at - 1].kind == GP_POOL_RELEASE)))
			return true;
	}
	return false;
}

static bool has_oom(const struct made_up *m)
{
	for (size_t i = 0; i < m->device.event_count; i++)
		if (m->events[i].kind == GP_OOM)
			return true;
	return false;
}

static bool never_is_below_nothing(const struct made_up *m)
{
	for (size_t i = 0; i <= m->device.event_count; i++)
		if (reserved_at(m, i) > GIB)
			return false;
	return true;
}

START_TEST(any_events_tell_what_the_rules_say)
{
	for (uint64_t seed = 1; seed < 30000; seed++) {
		struct made_up m;
		struct gp_settings settings;
		struct gp_refused_room room, plain;
		bool is_told;

		make_up(&m, seed);
		if (!never_is_below_nothing(&m))
			continue;
		gp_settings_init(&settings, GP_RELEASE_LAST);
		ck_assert_uint_eq(gp_replay_capacity_of(&m.trace, 0),
				  plain_capacity(&m));
		ck_assert_int_eq(gp_replay_was_limited(&m.trace, 0),
				 plain_limited(&m));
		is_told = gp_replay_refused_room(&m.trace, 0, &settings, &room);
		plain = plain_room(&m);
		ck_assert_uint_eq(room.least, plain.least);
		ck_assert_uint_eq(room.below, plain.below);
		ck_assert_int_eq(is_told, plain.below != GP_UNLIMITED &&
						  plain.below > plain.least);
		/* It is not known of what memory a limit is a fraction. */
		settings.memory_fraction = 0.5;
		ck_assert(
			!gp_replay_refused_room(&m.trace, 0, &settings, &room));
		settings.gc_threshold = seed % 2 ? 0.8 : 0;
		if (!has_oom(&m) && !(seed % 2 && has_collected(&m)))
			ck_assert_uint_eq(
				gp_replay_fit_capacity(&m.trace, 0, &settings),
				GP_UNLIMITED);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("origin");

	tcase_add_loop_test(tcase, an_oom_tells_how_large_the_device_is, 0,
			    COUNT_OF(told));
	tcase_add_test(tcase, what_the_trace_says_comes_first);
	tcase_add_test(tcase, any_events_tell_what_the_rules_say);
	tcase_add_loop_test(tcase,
			    room_that_was_made_tells_how_large_the_device_is, 0,
			    COUNT_OF(rooms));
	tcase_add_test(tcase, room_that_a_limit_made_tells_nothing);
	tcase_add_loop_test(tcase, collection_tells_how_large_the_device_is, 0,
			    COUNT_OF(fits));
	tcase_add_test(tcase, nothing_behind_the_last_event_tells_a_size);
	tcase_add_test(tcase, a_narrow_range_of_sizes_is_found);
	tcase_add_test(tcase, growth_alone_tells_no_size);
	tcase_add_test(tcase, what_is_never_the_same_tells_no_size);
	tcase_add_test(tcase, a_size_that_is_told_is_not_fitted);
	tcase_add_loop_test(tcase, what_was_taken_tells_which_segment_is_older,
			    0, COUNT_OF(ages));
	tcase_add_test(tcase, memory_is_placed_as_where_the_first_segment_lies);
	tcase_add_test(tcase, what_a_later_request_made_tells_no_place);
	tcase_add_test(tcase, a_release_without_the_setting_is_none_of_these);
	tcase_add_loop_test(tcase, what_shows_no_age_is_not_learned, 0,
			    COUNT_OF(lessons));
	tcase_add_test(tcase, each_event_tells_what_a_walk_is_told);
	return suite_play("origin", tcase);
}
