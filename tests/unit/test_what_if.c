/* SPDX-License-Identifier: MIT */
/* What-ifs: what each one changes, and that a file of the changed trace has the
 * same replay. */
#include "study/what_if/what_if.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#include "gpupool/knob.h"
#include "played.h"
#include "suite.h"
#include "study/what_if/scene.h"
#include "trace_text.h"

#define MIB (UINT64_C(1) << 20)

#define ALLOC(id, mib)                                                         \
	"{\"op\": \"alloc\", \"id\": " #id ", \"size\": " mib "},"
#define FREE(id) "{\"op\": \"free\", \"id\": " #id "},"
#define MIB_2	 "2097152"
#define MIB_20	 "20971520"
#define MIB_30	 "31457280"
#define MIB_40	 "41943040"
#define WAIT	 "{\"op\": \"synchronize\"},"
#define HEAD                                                                   \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "        \
	"[{\"device\": 0, \"events\": ["
#define END "{\"op\": \"mark\", \"name\": \"end\"}"

/* "merge-streams" or "without-site=size:2MiB". */
static enum gp_status make(const struct gp_trace *trace,
			   const char *const *asked, size_t count,
			   struct gp_what_ifs *made, struct gp_diag *diag)
{
	static struct gp_settings settings;
	/* With one item per device, so that a sanitizer sees reads beyond
	 * them. */
	uint64_t *capacity = malloc(trace->device_count * sizeof(*capacity));
	struct gp_what_if list[16];
	struct gp_what_if_config config = {
		.trace = trace,
		.asked = list,
		.count = count,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.conf = "",
		.capacity = capacity,
	};
	size_t rows;
	const struct gp_what_if_row *table = gp_what_if_table(&rows);
	enum gp_status status;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	for (size_t i = 0; i < count; i++) {
		size_t length = strcspn(asked[i], "=");

		list[i] = (struct gp_what_if){
			NULL, asked[i][length] ? asked[i] + length + 1 : NULL
		};
		for (size_t k = 0; k < rows; k++)
			if (strlen(table[k].name) == length &&
			    !strncmp(table[k].name, asked[i], length))
				list[i].row = &table[k];
		ck_assert_ptr_nonnull(list[i].row);
	}
	for (size_t d = 0; d < trace->device_count; d++)
		capacity[d] = GP_UNLIMITED;
	*diag = (struct gp_diag){ 0 };
	status = gp_what_ifs_make(&config, made, diag);
	free(capacity);
	return status;
}

static struct gp_what_ifs must_make(const struct gp_trace *trace,
				    const char *asked)
{
	struct gp_what_ifs made;
	struct gp_diag diag;

	ck_assert_msg(make(trace, &asked, 1, &made, &diag) == GP_OK, "%s: %s",
		      asked, diag.what);
	return made;
}

/* ---- what each does to the peak of a small trace ---- */

static const char *const two_streams =
	ONE_DEVICE(ALLOC(1, MIB_20) FREE(1) "{\"op\": \"alloc\", \"id\": 2, "
					    "\"size\": 20971520, \"stream\": "
					    "7}," END);
static const char *const private_pool = ONE_DEVICE(ALLOC(1, MIB_20) FREE(
	1) "{\"op\": \"pool_begin\", \"pool\": [0, 1]},"
	   "{\"op\": \"alloc\", \"id\": 2, \"size\": 20971520, "
	   "\"pool\": [0, 1]},"
	   "{\"op\": \"pool_end\", \"pool\": [0, 1]}");
/* A pool that its requests do not name: the last request stays in it. */
static const char *const untold_pool = ONE_DEVICE(
	ALLOC(1, MIB_20) FREE(
		1) "{\"op\": \"pool_begin\", \"pool\": [0, 1]}," ALLOC(2,
								       MIB_20)
		FREE(2) ALLOC(
			3, MIB_20) "{\"op\": \"pool_end\", \"pool\": [0, 1]}");
static const char *const recorded_stream = ONE_DEVICE(
	ALLOC(1, MIB_20) "{\"op\": \"record_stream\", \"id\": 1, "
			 "\"stream\": 7}," FREE(1) ALLOC(2, MIB_20) END);
/* 20 MiB and 30 MiB are live at once; 30 MiB are freed late. */
static const char *const two_blocks =
	ONE_DEVICE(ALLOC(1, MIB_30) ALLOC(2, MIB_20) FREE(2) ALLOC(3, MIB_20)
			   FREE(1) FREE(3) ALLOC(4, MIB_40) END);
/* 30 MiB exist at the start, and are freed later or never. */
#define START                                                                  \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "        \
	"[{\"device\": 0, \"start\": {\"segments\": [{\"address\": 4194304, "  \
	"\"total_size\": " MIB_30 ", \"stream\": 0, \"segment_type\": "        \
	"\"large\", \"blocks\": [{\"size\": " MIB_30                           \
	", \"requested_size\": " MIB_30                                        \
	", \"state\": \"active_allocated\", \"id\": 1}]}]}, \"events\": ["
static const char *const from_start =
	START ALLOC(2, MIB_20) FREE(2) FREE(1) ALLOC(3, MIB_30) END "]}]}";
static const char *const kept_from_start =
	START ALLOC(2, MIB_20) FREE(2) END "]}]}";
/* They are freed before anything else. */
static const char *const freed_first =
	START FREE(1) ALLOC(2, MIB_20) ALLOC(3, MIB_30) END "]}]}";
static const char *const at_addresses =
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": " MIB_20
		   ", \"addr\": 16777216}," FREE(1) END);
/* Reports show it as 30.00 MiB. */
static const char *const odd_block = ONE_DEVICE(ALLOC(1, "31457290") END);
/* 20 MiB take half of the cached 40 MiB, so the next 40 MiB need a segment. */
static const char *const rising = ONE_DEVICE(
	ALLOC(1, MIB_40) FREE(1) ALLOC(2, MIB_20) ALLOC(3, MIB_40) END);
/* The same, with recorded outcomes. */
static const char *const rising_recorded =
	ONE_DEVICE(ALLOC(1, MIB_40) FREE(1)
			   ALLOC(2, MIB_20) "{\"op\": \"segment_alloc\", "
					    "\"addr\": 2097152, \"size\": "
					    "2097152}," ALLOC(3, MIB_40) END);
static const char *const after_capture = ONE_DEVICE(
	"{\"op\": \"capture_begin\", \"pool\": [0, 1], \"stream\": 7},"
	"{\"op\": \"capture_end\", \"pool\": [0, 1]}," ALLOC(1, MIB_40) FREE(1)
		ALLOC(2, MIB_20) ALLOC(3, MIB_40) END);
static const char *const emptied = ONE_DEVICE(ALLOC(1, MIB_20) FREE(
	1) "{\"op\": \"empty_cache\"}," ALLOC(2, MIB_40) END);

static const struct {
	const char *const *trace;
	const char *asked;
	uint64_t before, after; /* MiB reserved at the peak */
	const char *note;
} rows[] = {
	{ &two_streams, "merge-streams", 40, 20,
	  "1 change of stream, and waits left out" },
	{ &two_streams, "no-delay", 40, 40,
	  "0 waits for another stream left out" },
	{ &private_pool, "no-private-pools", 40, 20,
	  "3 changes of pool, and uses of pools left out" },
	{ &recorded_stream, "no-delay", 40, 20,
	  "1 wait for another stream left out" },
	{ &recorded_stream, "merge-streams", 40, 20,
	  "1 change of stream, and waits left out" },
	{ &two_blocks, "without-site=id:1", 90, 60,
	  "1 block never requested, 30.00 MiB in all" },
	{ &at_addresses, "without-site=addr:0x1000000", 20, 0,
	  "1 block never requested, 20.00 MiB in all" },
	{ &two_blocks, "without-site=event:0", 90, 60,
	  "1 block never requested, 30.00 MiB in all" },
	{ &two_blocks, "without-site=size:30MiB", 90, 60,
	  "1 block never requested, 30.00 MiB in all" },
	{ &odd_block, "without-site=size:30MiB", 32, 0,
	  "1 block never requested, 30.00 MiB in all" },
	{ &two_blocks, "without-site=size:25MiB..35MiB", 90, 60,
	  "1 block never requested, 30.00 MiB in all" },
	{ &two_blocks, "without-site=size:30MiB..30MiB", 90, 60,
	  "1 block never requested, 30.00 MiB in all" },
	{ &two_blocks, "keep-site=id:2", 90, 110,
	  "1 free left out; blocks selected: 1, 20.00 MiB in all" },
	{ &two_blocks, "free-earlier=id:1", 90, 70,
	  "1 free moved; blocks selected: 1, 30.00 MiB in all" },
	{ &two_blocks, "free-earlier=all", 90, 70,
	  "3 frees moved; blocks selected: 4, 110.0 MiB in all" },
	{ &two_blocks, "free-earlier=id:4", 90, 90,
	  "1 free moved; blocks selected: 1, 40.00 MiB in all" },
	{ &rising, "free-earlier=id:2", 80, 40,
	  "1 free moved; blocks selected: 1, 20.00 MiB in all" },
	{ &rising, "free-earlier=id:2,1", 80, 80,
	  "1 free moved; blocks selected: 1, 20.00 MiB in all" },
	{ &two_blocks, "round-sizes=64MiB", 90, 128,
	  "4 requests rounded up, by 146.0 MiB in all" },
	{ &two_blocks, "round-sizes=pow2", 90, 128,
	  "4 requests rounded up, by 50.00 MiB in all" },
	{ &two_blocks, "round-sizes=pow2/8", 90, 90,
	  "0 requests rounded up, by 0 B in all" },
	{ &two_blocks, "round-sizes=pow2/1024", 90, 90,
	  "0 requests rounded up, by 0 B in all" },
	{ &two_blocks, "round-sizes=40MiB,80MiB", 90, 80,
	  "3 requests rounded up, by 50.00 MiB in all" },
	{ &two_blocks, "empty-cache-at=6", 90, 50, "1 call of empty_cache" },
	{ &two_blocks, "empty-cache-at=8", 90, 90, "1 call of empty_cache" },
	{ &two_blocks, "empty-cache-at=end", 90, 90, "1 call of empty_cache" },
	{ &two_blocks, "empty-cache-at=best", 90, 50,
	  "called before event 6; 6 replays of up to 24 places" },
	{ &two_blocks, "empty-cache-at=best:2", 90, 50,
	  "called before event 6; 11 replays of up to 24 places" },
	{ &two_blocks, "empty-cache-at=best:16", 90, 50,
	  "called before event 6; 11 replays of up to 24 places" },
	{ &rising, "sort-step", 80, 60, "2 requests moved to another place" },
	{ &rising_recorded, "sort-step", 80, 60,
	  "2 requests moved to another place" },
	{ &rising, "preallocate=25%", 80, 100,
	  "2 blocks requested first, 60.00 MiB in all" },
	{ &after_capture, "preallocate=25%", 80, 100,
	  "2 blocks requested first, 60.00 MiB in all" },
	{ &rising, "preallocate=0%", 80, 100,
	  "3 blocks requested first, 100.0 MiB in all" },
	{ &rising, "preallocate=100%", 80, 80,
	  "0 blocks requested first, 0 B in all" },
	{ &untold_pool, "preallocate=25%", 40, 40,
	  "0 blocks requested first, 0 B in all" },
	{ &from_start, "free-earlier=id:1", 50, 30,
	  "1 free moved; blocks selected: 1, 30.00 MiB in all" },
	{ &kept_from_start, "free-earlier=id:1", 50, 30,
	  "1 free moved; blocks selected: 1, 30.00 MiB in all" },
	{ &from_start, "keep-site=id:1", 50, 80,
	  "1 free left out; blocks selected: 1, 30.00 MiB in all" },
	{ &from_start, "without-site=id:1", 50, 30,
	  "1 block never requested, 30.00 MiB in all" },
	{ &from_start, "without-site=size:30MiB", 50, 30,
	  "2 blocks never requested, 60.00 MiB in all" },
	{ &from_start, "round-sizes=64MiB", 50, 94,
	  "2 requests rounded up, by 78.00 MiB in all" },
	{ &freed_first, "keep-site=id:1", 60, 80,
	  "1 free left out; blocks selected: 1, 30.00 MiB in all" },
	{ &freed_first, "without-site=id:1", 60, 60,
	  "1 block never requested, 30.00 MiB in all" },
	{ &freed_first, "free-earlier=id:1", 60, 60,
	  "0 frees moved; blocks selected: 1, 30.00 MiB in all" },
	{ &freed_first, "preallocate=0%", 60, 80,
	  "2 blocks requested first, 50.00 MiB in all" },
	{ &freed_first, "sort-step", 60, 50,
	  "2 requests moved to another place" },
	{ &two_blocks, "checkpointing=all", 90, 90,
	  "0 blocks dropped and recomputed, 0 B in all, no steps found: the "
	  "trace is taken as one step" },
	{ &emptied, "no-empty-cache", 40, 60,
	  "1 call of empty_cache left out" },
};

START_TEST(each_changes_what_it_says)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = trace_of(*rows[i].trace);
		struct gp_what_ifs made = must_make(trace, rows[i].asked);

		ck_assert_msg(peak_of(trace) == rows[i].before * MIB &&
				      peak_of(made.trace) ==
					      rows[i].after * MIB,
			      "%s: %llu to %llu MiB", rows[i].asked,
			      (unsigned long long)(peak_of(trace) / MIB),
			      (unsigned long long)(peak_of(made.trace) / MIB));
		ck_assert_str_eq(made.notes->text, rows[i].note);
		gp_what_ifs_release(&made);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* No changed trace was made. */
START_TEST(what_changes_nothing_is_known)
{
	static const char *const ascending =
		ONE_DEVICE(ALLOC(1, MIB_20) ALLOC(2, MIB_30) END);
	static const struct {
		const char *const *trace;
		const char *may; /* of those that explain tries */
	} traces[] = {
		{ &two_streams, "merge-streams" },
		{ &private_pool, "no-private-pools" },
		{ &recorded_stream, "merge-streams no-delay" },
		{ &emptied, "no-empty-cache" },
		{ &two_blocks, "" },
		{ &ascending, "sort-step" },
		{ &rising_recorded, "sort-step" },
	};
	size_t count;
	const struct gp_what_if_row *table = gp_what_if_table(&count);

	for (size_t i = 0; i < COUNT_OF(traces); i++) {
		struct gp_trace *trace = trace_of(*traces[i].trace);

		for (size_t k = 0; k < count; k++)
			if (table[k].words && !table[k].tried)
				ck_assert_msg(gp_what_if_may_change(&table[k],
								    trace) ==
						      !!strstr(traces[i].may,
							       table[k].name),
					      "trace %zu: %s", i,
					      table[k].name);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* ---- arguments ---- */

static const struct {
	const char *asked, *what;
} mistakes[] = {
	{ "without-site=", "which blocks" },
	{ "without-site=train.py:42", "no block" },
	{ "without-site=size:x", "not a size" },
	{ "without-site=size:8MiB..1MiB", "not a size" },
	{ "without-site=event:1x", "not a number" },
	{ "without-site=id:77", "no block" },
	{ "free-earlier=id:77,5", "no block" },
	{ "round-sizes=x", "not a size" },
	{ "round-sizes=pow2/3", "not a size" },
	{ "round-sizes=pow2/", "not a size" },
	{ "round-sizes=pow2/8x", "not a size" },
	{ "round-sizes=pow2/2048", "not a size" },
	{ "round-sizes=pow2/0", "not a size" },
	{ "round-sizes=pow3", "not a size" },
	{ "round-sizes=2MiB,1MiB", "not a size" },
	{ "round-sizes=2MiB,2MiB", "not a size" },
	{ "round-sizes=0", "not a size" },
	{ "round-sizes=0,1MiB", "not a size" },
	{ "round-sizes=9223372036854775808", "not a size" },
	{ "round-sizes=", "not a size" },
	{ "preallocate=half", "not a share" },
	{ "preallocate=101%", "not a share" },
	{ "preallocate=", "not a share" },
	{ "preallocate=%", "not a share" },
	{ "preallocate=-5%", "not a share" },
	{ "preallocate=+5%", "not a share" },
	{ "preallocate=25", "not a share" },
	{ "preallocate=25x%", "not a share" },
	{ "preallocate=25%%", "not a share" },
	{ "empty-cache-at=9", "not an event" },
	{ "empty-cache-at=99", "not an event" },
	{ "empty-cache-at=nowhere", "not the name of a mark" },
	{ "empty-cache-at=best:0", "not the name of a mark" },
	{ "empty-cache-at=best:17", "not the name of a mark" },
	{ "empty-cache-at=step", "not the name of a mark" },
};

START_TEST(what_is_not_understood_is_said)
{
	struct gp_trace *trace = trace_of(two_blocks);

	for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
		struct gp_what_ifs made;
		struct gp_diag diag;

		ck_assert_msg(make(trace, &mistakes[i].asked, 1, &made,
				   &diag) == GP_USAGE,
			      "%s is taken", mistakes[i].asked);
		ck_assert_msg(strstr(diag.what, mistakes[i].what), "%s: %s",
			      mistakes[i].asked, diag.what);
		ck_assert_ptr_null(made.trace);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* The ends of expandable segments at the start are unknown, so none of these is
 * moved to the addresses of others, on any device. */
START_TEST(expandable_segments_of_the_start_stay_where_they_are)
{
#define SEGMENT(more)                                                          \
	"{\"address\": 4194304, \"total_size\": 2097152, \"segment_type\": "   \
	"\"large\", \"blocks\": [{\"size\": 2097152, \"state\": "              \
	"\"inactive\"}], " more "}"
#define OF(number, segment)                                                    \
	"{\"device\": " number ", \"start\": {\"segments\": [" segment         \
	"]}, \"events\": []}"
#define BOTH(a, b)                                                             \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": [" OF(   \
		"0", SEGMENT(a)) ", " OF("1", SEGMENT(b)) "]}"
#define PLAIN	  "\"stream\": 7, \"segment_pool_id\": [0, 1]"
#define HERE	  "\"stream\": 0, \"is_expandable\": true"
#define ON_STREAM "\"stream\": 7, \"is_expandable\": true"
#define IN_POOL	  HERE ", \"segment_pool_id\": [0, 1]"
	static const struct {
		const char *text;
		bool streams, pools; /* can be merged */
	} starts[] = {
		{ BOTH(PLAIN, PLAIN), true, true },
		{ BOTH(HERE, HERE), true, true },
		{ BOTH(ON_STREAM, PLAIN), false, true },
		{ BOTH(PLAIN, ON_STREAM), false, true },
		{ BOTH(IN_POOL, PLAIN), true, false },
		{ BOTH(PLAIN, IN_POOL), true, false },
	};

	for (size_t i = 0; i < COUNT_OF(starts); i++)
		for (int of_pools = 0; of_pools < 2; of_pools++) {
			struct gp_trace *trace = trace_of(starts[i].text);
			const char *asked =
				of_pools ? "no-private-pools" : "merge-streams";
			bool can =
				of_pools ? starts[i].pools : starts[i].streams;
			struct gp_what_ifs made;
			struct gp_diag diag;

			ck_assert_msg(make(trace, &asked, 1, &made, &diag) ==
					      (can ? GP_OK : GP_USAGE),
				      "%zu %s: %s", i, asked, diag.what);
			gp_what_ifs_release(&made);
			gp_trace_destroy(trace);
		}
}
END_TEST

START_TEST(frees_that_come_earlier_are_counted)
{
	struct gp_trace *trace = trace_of(two_blocks);
	struct gp_what_ifs made = must_make(trace, "free-earlier=id:1");

	ck_assert_uint_eq(made.notes->changes, 1);
	gp_what_ifs_release(&made);
	gp_trace_destroy(trace);
}
END_TEST

/* Blocks that do not fit in memory freed before, each freed at once: a call
 * after each one helps. */
START_TEST(so_many_places_are_told)
{
	static const char *const more[] = {
		[5] = "", [6] = "", [7] = " and others"
	};

	for (unsigned calls = 5; calls < COUNT_OF(more); calls++) {
		char text[4096], asked[32];
		const char *told;
		struct gp_trace *trace;
		struct gp_what_ifs made;
		int n = snprintf(text, sizeof(text), "%s", HEAD), commas = 0;

		for (int i = 1; i < 24; i++)
			n += snprintf(text + n, sizeof(text) - (size_t)n,
				      ALLOC(1, "%d") FREE(1), i * 20 << 20);
		snprintf(text + n, sizeof(text) - (size_t)n, END "]}]}");
		snprintf(asked, sizeof(asked), "empty-cache-at=best:%u", calls);
		trace = trace_of(text);
		made = must_make(trace, asked);
		told = made.notes->text;
		ck_assert_uint_eq(made.notes->changes, calls);
		ck_assert_msg(!!strstr(told, " and others") == !!*more[calls],
			      "%s", told);
		for (const char *c = told; *c && *c != ';'; c++)
			commas += *c == ',' && c[1] == ' ';
		ck_assert_int_eq(commas, calls < 6 ? (int)calls - 1 : 5);
		gp_what_ifs_release(&made);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(a_pool_that_ends_began_before)
{
	static const struct {
		enum gp_event_kind kind;
		uint32_t before, after;
	} events[] = {
		{ GP_POOL_BEGIN, 0, 1 },    { GP_POOL_END, 0, 0 },
		{ GP_POOL_END, 1, 0 },	    { GP_POOL_END, 2, 1 },
		{ GP_CAPTURE_BEGIN, 1, 2 }, { GP_CAPTURE_END, 0, 0 },
		{ GP_CAPTURE_END, 1, 0 },   { GP_ALLOC, 1, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(events); i++)
		ck_assert_uint_eq(
			scene_pools_in_use(
				&(struct gp_event){ .kind = events[i].kind },
				events[i].before),
			events[i].after);
}
END_TEST

START_TEST(a_place_that_helps_nothing_is_not_chosen)
{
	struct gp_trace *trace =
		trace_of(ONE_DEVICE(ALLOC(1, MIB_20) ALLOC(2, MIB_20) END));
	struct gp_what_ifs made = must_make(trace, "empty-cache-at=best");

	ck_assert_uint_eq(made.notes->changes, 0);
	ck_assert_ptr_nonnull(strstr(made.notes->text, "no place helps"));
	gp_what_ifs_release(&made);
	gp_trace_destroy(trace);
}
END_TEST

/* A linear search for the smallest class that is at least as large; steps: the
 * number of classes for each power of two, if there are such. 0 remains 0. */
static uint64_t class_of(uint64_t size, const uint64_t *list, size_t count,
			 uint64_t steps)
{
	for (size_t i = 0; size && count > 1 && i < count; i++)
		if (list[i] >= size)
			return list[i];
	for (uint64_t to = size; count < 2 && size; to++) {
		uint64_t power = 1;

		while (power <= to / 2)
			power *= 2;
		if (steps ? to * steps % power == 0 : to % list[0] == 0)
			return to;
	}
	return size;
}

#define SIZES 140

/* Requests of 0, 1 and more bytes. */
static struct gp_trace *of_each_size(void)
{
	struct gp_trace *trace;
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	fputs(HEAD, out);
	for (int size = 0; size < SIZES; size++)
		fprintf(out, "{\"op\": \"alloc\", \"id\": %d, \"size\": %d},",
			size, size);
	fputs(END "]}]}", out);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

START_TEST(each_size_becomes_the_next_of_its_classes)
{
	static const struct {
		const char *asked;
		uint64_t list[3], steps;
		size_t count;
	} classes[] = {
		{ "round-sizes=1", { 1 }, 0, 1 },
		{ "round-sizes=7", { 7 }, 0, 1 },
		{ "round-sizes=64", { 64 }, 0, 1 },
		{ "round-sizes=1,64,100", { 1, 64, 100 }, 0, 3 },
		{ "round-sizes=99,200", { 99, 200 }, 0, 2 },
		{ "round-sizes=pow2", { 0 }, 1, 0 },
		{ "round-sizes=pow2/1", { 0 }, 1, 0 },
		{ "round-sizes=pow2/4", { 0 }, 4, 0 },
		{ "round-sizes=pow2/1024", { 0 }, 1024, 0 },
	};
	struct gp_trace *trace = of_each_size();

	for (size_t i = 0; i < COUNT_OF(classes); i++) {
		struct gp_what_ifs made = must_make(trace, classes[i].asked);

		for (uint64_t size = 0; size < SIZES; size++)
			ck_assert_uint_eq(
				made.trace->devices->events[size].size,
				class_of(size, classes[i].list,
					 classes[i].count, classes[i].steps));
		gp_what_ifs_release(&made);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* Sizes that would become larger than any request remain. */
START_TEST(the_largest_sizes_are_rounded_where_they_can_be)
{
	static const struct {
		uint64_t less, becomes_less;
		const char *asked;
	} sizes[] = {
		{ 0, 0, "round-sizes=64" },
		{ 62, 62, "round-sizes=64" },
		{ 63, 63, "round-sizes=64" },
		{ 64, 63, "round-sizes=64" },
		{ 126, 63, "round-sizes=64" },
		{ 127, 127, "round-sizes=64" },
		{ 128, 127, "round-sizes=64" },
		{ 5, 0, "round-sizes=512,9223372036854775807" },
	};

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		char text[256];
		struct gp_trace *trace;
		struct gp_what_ifs made;

		snprintf(text, sizeof(text),
			 ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, "
				    "\"size\": %llu}"),
			 (unsigned long long)INT64_MAX - sizes[i].less);
		trace = trace_of(text);
		made = must_make(trace, sizes[i].asked);
		ck_assert_uint_eq(made.trace->devices->events[0].size,
				  INT64_MAX - sizes[i].becomes_less);
		gp_what_ifs_release(&made);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* 512, 1024 and so on. */
static bool takes_classes(const struct gp_trace *trace, int count)
{
	char text[4096] = "round-sizes=";
	const char *asked = text;
	size_t at = strlen(text);
	struct gp_what_ifs made;
	struct gp_diag diag;
	bool is_taken;

	for (int i = 1; i <= count; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%d",
				       i > 1 ? "," : "", 512 * i);
	is_taken = make(trace, &asked, 1, &made, &diag) == GP_OK;
	gp_what_ifs_release(&made);
	return is_taken;
}

START_TEST(sizes_are_rounded_to_256_classes_at_most)
{
	struct gp_trace *trace = trace_of(two_blocks);

	ck_assert(takes_classes(trace, 256));
	ck_assert(!takes_classes(trace, 257));
	gp_trace_destroy(trace);
}
END_TEST

static const char *const with_sites =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
	"[\"train.py:4 main\", \"train.py:42 step\"], \"devices\": "
	"[{\"device\": 0, \"events\": ["
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520, \"site\": 0},"
	"{\"op\": \"alloc\", \"id\": 2, \"size\": 31457280, \"site\": 1}]}]}";

/* The bytes before a text do not belong to it. */
START_TEST(a_text_has_numbers_as_they_are)
{
	static const struct {
		const char *text, *pattern;
		bool has;
	} texts[] = {
		{ &"712"[1], "12", true },    { "x12", "12", true },
		{ "312", "12", false },	      { "12", "12", true },
		{ "123", "12", false },	      { "312 12", "12", true },
		{ "12x", "12", true },	      { "3x12", "x12", true },
		{ "12x3", "12x", true },      { "112", "12", false },
		{ "a.py:1", "a.py", true },   { "b.py:1", "a.py", false },
		{ "a.py:12", "py:1", false }, { "1", "12", false },
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++)
		ck_assert_msg(scene_text_has(texts[i].text, texts[i].pattern) ==
				      texts[i].has,
			      "%s in %s", texts[i].pattern, texts[i].text);
}
END_TEST

START_TEST(sites_are_found_with_their_numbers_whole)
{
	struct gp_trace *trace = trace_of(with_sites);
	const struct {
		const char *asked;
		uint64_t left;
	} cases[] = {
		{ "without-site=train.py:4", 30 },
		{ "without-site=train.py:42", 20 },
		{ "without-site=step", 20 },
		{ "without-site=train.py", 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct gp_what_ifs made = must_make(trace, cases[i].asked);

		ck_assert_uint_eq(peak_of(made.trace), cases[i].left * MIB);
		gp_what_ifs_release(&made);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* ---- checkpointing ---- */

/* Forward: a and b are kept, t is temporary; backward: b is freed, then a. */
#define STEP(a, t, b, u, v)                                                    \
	"{\"op\": \"mark\", \"name\": \"step\"}," ALLOC(a, MIB_20)             \
		ALLOC(t, MIB_2) FREE(t) ALLOC(b, MIB_20) ALLOC(u, MIB_2)       \
			FREE(u) ALLOC(v, MIB_20) FREE(v) FREE(b) FREE(a)

START_TEST(checkpointing_shortens_what_waits_for_the_backward_pass)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(STEP(1, 2, 3, 4, 5) STEP(
		6, 7, 8, 9, 10) STEP(11, 12, 13, 14, 15) END));
	struct gp_what_ifs made = must_make(trace, "checkpointing=all");

	/* In each step, a and b: each is freed one event after its alloc, and
	 * made again one event before its free. */
	ck_assert_uint_eq(made.notes->changes, 6);
	ck_assert_ptr_nonnull(strstr(made.notes->text, "3 steps"));
	ck_assert_uint_eq(peak_of(trace), 60 * MIB);
	ck_assert_uint_eq(peak_of(made.trace), 40 * MIB);
	ck_assert_uint_eq(made.trace->devices[0].block_ids, 15 + 6);
	gp_what_ifs_release(&made);
	gp_trace_destroy(trace);
}
END_TEST

/* Block 1 is held across the turn, where the most is live. Block 2 shows how
 * long it takes to make it again: one event, not the four of the block that is
 * requested then. */
START_TEST(what_is_asked_for_at_the_turn_has_no_usual_life)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		ALLOC(1, MIB_20) ALLOC(2, MIB_2) FREE(2) ALLOC(3, MIB_20)
			WAIT WAIT WAIT FREE(3) FREE(1) END));
	struct gp_what_ifs made = must_make(trace, "checkpointing=all");

	ck_assert_uint_eq(made.notes->changes, 1);
	ck_assert_uint_eq(made.trace->devices[0].events[1].kind, GP_FREE);
	gp_what_ifs_release(&made);
	gp_trace_destroy(trace);
}
END_TEST

/* Blocks that are freed before the turn are not live there: 1 and 3 are made
 * again, those that are temporary between them are not. */
START_TEST(the_turn_is_where_most_is_live)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		ALLOC(1, MIB_20) ALLOC(2, MIB_2) FREE(2) ALLOC(3, MIB_20)
			ALLOC(4, MIB_2) FREE(4) ALLOC(5, MIB_20) WAIT FREE(5)
				FREE(3) FREE(1) END));
	struct gp_what_ifs made = must_make(trace, "checkpointing=all");

	ck_assert_uint_eq(made.notes->changes, 2);
	ck_assert_uint_eq(peak_of(made.trace), 40 * MIB);
	gp_what_ifs_release(&made);
	gp_trace_destroy(trace);
}
END_TEST

/* Making the block again takes one event, as block 2 shows, and there is no
 * event to spare before the turn or after it. */
START_TEST(what_would_be_made_again_at_the_turn_is_left)
{
#define BEFORE ALLOC(2, MIB_2) FREE(2)
#define BEHIND WAIT FREE(3) END
	static const struct {
		const char *text;
		uint64_t changes;
	} steps[] = {
		{ ONE_DEVICE(BEFORE ALLOC(1, MIB_20) ALLOC(3, MIB_20)
				     WAIT FREE(1) BEHIND),
		  0 },
		{ ONE_DEVICE(BEFORE ALLOC(1, MIB_20) WAIT ALLOC(3, MIB_20)
				     WAIT FREE(1) BEHIND),
		  1 },
		{ ONE_DEVICE(BEFORE ALLOC(1, MIB_20) WAIT ALLOC(3, MIB_20)
				     FREE(1) BEHIND),
		  0 },
	};

	for (size_t i = 0; i < COUNT_OF(steps); i++) {
		struct gp_trace *trace = trace_of(steps[i].text);
		struct gp_what_ifs made = must_make(trace, "checkpointing=all");

		ck_assert_msg(made.notes->changes == steps[i].changes, "%zu",
			      i);
		gp_what_ifs_release(&made);
		gp_trace_destroy(trace);
	}
}
END_TEST

static void put_alloc(FILE *out, unsigned id, uint64_t size)
{
	fprintf(out, "{\"op\": \"alloc\", \"id\": %u, \"size\": %llu},", id,
		(unsigned long long)size);
}

static void put_free(FILE *out, unsigned id)
{
	fprintf(out, "{\"op\": \"free\", \"id\": %u},", id);
}

/* The first block of a step is held until after the turn; because of the blocks
 * left at its end, the most memory is live at the next step's first request. */
static void put_step(FILE *out, unsigned step)
{
	unsigned id = 100 * step;

	put_alloc(out, id, 20 * MIB);
	for (unsigned i = 1; i <= 13; i++) {
		put_alloc(out, id + i, 512 * i);
		put_free(out, id + i);
	}
	put_alloc(out, id + 14, 22 * MIB);
	put_free(out, id + 14);
	put_free(out, id);
	put_alloc(out, id + 15, 30 * MIB);
}

START_TEST(a_turn_is_within_its_step)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;
	struct gp_what_ifs made;

	fputs(HEAD, out);
	for (unsigned step = 0; step < 10; step++)
		put_step(out, step);
	fputs(END "]}]}", out);
	fclose(out);
	trace = trace_of(text);
	made = must_make(trace, "checkpointing=all");
	ck_assert_str_eq(made.notes->text, "10 blocks dropped and recomputed, "
					   "200.0 MiB in all, in 10 steps");
	gp_what_ifs_release(&made);
	/* Without marks, there are steps, too. */
	made = must_make(trace, "empty-cache-at=step");
	ck_assert_uint_eq(made.notes->changes, 10);
	gp_what_ifs_release(&made);
	gp_trace_destroy(trace);
	free(text);
}
END_TEST

/* ---- several ---- */

START_TEST(they_are_made_in_the_tables_order)
{
	static const char *const one[] = { "empty-cache-at=0",
					   "merge-streams" };
	static const char *const other[] = { "merge-streams",
					     "empty-cache-at=0" };
	struct gp_trace *trace = trace_of(two_streams);
	struct gp_what_ifs a, b;
	struct gp_diag diag;

	ck_assert_int_eq(make(trace, one, 2, &a, &diag), GP_OK);
	ck_assert_int_eq(make(trace, other, 2, &b, &diag), GP_OK);
	ck_assert_str_eq(a.notes[0].asked.row->name, "merge-streams");
	ck_assert(gp_trace_equal(a.trace, b.trace));
	gp_what_ifs_release(&a);
	gp_what_ifs_release(&b);
	gp_trace_destroy(trace);
}
END_TEST

/* ---- traces written and read again have the same results ---- */

static const char *const all[] = {
	"without-site=size:512..1MiB",
	"keep-site=size:512..1MiB",
	"free-earlier=all,3",
	"checkpointing=all",
	"round-sizes=pow2/4",
	"merge-streams",
	"no-delay",
	"no-private-pools",
	"no-empty-cache",
	"preallocate=50%",
	"sort-step",
	"empty-cache-at=best",
};

static void must_replay_alike(const struct gp_trace *a,
			      const struct gp_trace *b, const char *asked)
{
	struct gp_replay_result x = replayed(a), y = replayed(b);

	ck_assert_msg(
		!memcmp(&x.stats, &y.stats, sizeof(x.stats)) &&
			!memcmp(&x.at_peak, &y.at_peak, sizeof(x.at_peak)) &&
			!memcmp(&x.calls, &y.calls, sizeof(x.calls)) &&
			x.dropped == y.dropped,
		"%s: the file replays otherwise", asked);
	gp_replay_release(&x);
	gp_replay_release(&y);
}

/* The reader checks, for example, that no unknown block is freed. */
static void must_survive(const struct gp_trace *altered, const char *asked)
{
	const enum gp_trace_format formats[] = { GP_TRACE_BINARY,
						 GP_TRACE_JSONL };

	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		struct gp_trace *copy = again(altered, formats[i]);

		must_replay_alike(altered, copy, asked);
		gp_trace_destroy(copy);
	}
}

static void check_file(const char *path)
{
	struct gp_trace *trace = trace_at(path);
	struct gp_what_ifs made;
	struct gp_diag diag;

	for (size_t i = 0; i < COUNT_OF(all); i++) {
		/* There are no such blocks, or the memory cannot be merged. */
		if (make(trace, &all[i], 1, &made, &diag) != GP_OK)
			continue;
		must_survive(made.trace, all[i]);
		if (!made.notes->changes)
			must_replay_alike(trace, made.trace, all[i]);
		gp_what_ifs_release(&made);
	}
	if (make(trace, all, COUNT_OF(all), &made, &diag) == GP_OK) {
		must_survive(made.trace, "all");
		gp_what_ifs_release(&made);
	}
	gp_trace_destroy(trace);
}

static void check_files(const char *pattern)
{
	glob_t found;

	ck_assert_int_eq(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		check_file(found.gl_pathv[i]);
	globfree(&found);
}

START_TEST(altered_traces_survive_being_written)
{
	check_files("traces/tiny/*.json");
	check_files("traces/stories/*.jsonl");
	check_files("traces/recorded/*.pickle.gz");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ each_changes_what_it_says, 0 },
		{ what_changes_nothing_is_known, 0 },
		{ what_is_not_understood_is_said, 0 },
		{ expandable_segments_of_the_start_stay_where_they_are, 0 },
		{ frees_that_come_earlier_are_counted, 0 },
		{ so_many_places_are_told, 0 },
		{ a_pool_that_ends_began_before, 0 },
		{ a_place_that_helps_nothing_is_not_chosen, 0 },
		{ each_size_becomes_the_next_of_its_classes, 0 },
		{ the_largest_sizes_are_rounded_where_they_can_be, 0 },
		{ sizes_are_rounded_to_256_classes_at_most, 0 },
		{ a_text_has_numbers_as_they_are, 0 },
		{ sites_are_found_with_their_numbers_whole, 0 },
		{ checkpointing_shortens_what_waits_for_the_backward_pass, 0 },
		{ what_is_asked_for_at_the_turn_has_no_usual_life, 0 },
		{ the_turn_is_where_most_is_live, 0 },
		{ what_would_be_made_again_at_the_turn_is_left, 0 },
		{ a_turn_is_within_its_step, 0 },
		{ they_are_made_in_the_tables_order, 0 },
		{ altered_traces_survive_being_written, 0 },
	};

	return suite_run("what_if", tests, COUNT_OF(tests));
}
