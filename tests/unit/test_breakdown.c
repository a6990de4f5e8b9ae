/* SPDX-License-Identifier: MIT */
/* What a peak is made of: the parts add up, and each cause has its own part. */
#include "study/metrics/change.h"

#include <glob.h>

#include "played.h"
#include "random_trace.h"
#include "trace_text.h"

#define MIB	 UINT64_C(1048576)
#define ALLOC(n) "{\"op\": \"alloc\", \"id\": " #n ", \"size\": "
#define FREE(n)	 "{\"op\": \"free\", \"id\": " #n "}"

struct taken {
	struct gp_breakdown breakdown;
	struct gp_replay_result result;
};

/* A what-if on a device with unlimited memory. */
static bool take(const struct gp_trace *trace, uint32_t device,
		 const char *conf, struct taken *taken)
{
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_diag diag = { 0 };

	config.device = device;
	config.conf = conf;
	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	return gp_breakdown_take(&config, &taken->breakdown, &taken->result,
				 &diag) == GP_OK;
}

static bool take_at(const struct gp_trace *trace, uint64_t moment,
		    const char *conf, struct taken *taken)
{
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_diag diag = { 0 };

	config.conf = conf;
	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	return gp_breakdown_take_at(&config, moment, &taken->breakdown,
				    &taken->result, &diag) == GP_OK;
}

static struct gp_breakdown breakdown_of(const char *events, const char *conf)
{
	struct gp_trace *trace = trace_of(events);
	struct taken taken;

	ck_assert(take(trace, 0, conf, &taken));
	gp_replay_release(&taken.result);
	gp_trace_destroy(trace);
	return taken.breakdown;
}

/* B has that many more bytes of that part than A, and as many of the others. */
static void check_only(enum gp_part_id part, uint64_t by,
		       const struct gp_breakdown *a,
		       const struct gp_breakdown *b)
{
	ck_assert_uint_eq(b->reserved, a->reserved + by);
	for (unsigned i = 0; i < GP_PARTS; i++)
		ck_assert_msg(b->part[i] == a->part[i] + (i == part ? by : 0),
			      "%s: %llu, then %llu", gp_parts[i].key,
			      (unsigned long long)a->part[i],
			      (unsigned long long)b->part[i]);
}

/* 22 MiB, freed and requested again. */
static const char *const reused =
	ONE_DEVICE(ALLOC(1) "23068672}," FREE(1) "," ALLOC(2) "23068672}");

/* A segment of 22 MiB before the first event. */
#define START(place, block, events)                                            \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"source\": "         \
	"{\"complete\": false}, \"devices\": [{\"device\": 0, \"start\": "     \
	"{\"segments\": [{\"address\": 1073741824, \"total_size\": 23068672, " \
	"\"segment_type\": \"large\", " place ", \"blocks\": [{\"address\": "  \
	"1073741824, \"size\": 23068672, \"requested_size\": 23068672, " block \
	"}]}]}, \"events\": [" events "]}]}"
#define INACTIVE "\"state\": \"inactive\""
#define PENDING	 "\"state\": \"active_pending_free\", \"id\": 0"

static const struct row {
	enum gp_part_id part;
	uint64_t by;
	const char *conf; /* B's */
	const char *events;
} rows[] = {
	{ GP_PART_LIVE, 2 * MIB, "", ONE_DEVICE(ALLOC(1) "25165824}") },
	/* A segment for 22 MiB has 24. */
	{ GP_PART_ROUNDING, 2 * MIB, "roundup_power2_divisions:2",
	  ONE_DEVICE(ALLOC(1) "23068672}") },
	/* The freed block is too small. */
	{ GP_PART_PACKING, 20 * MIB, "",
	  ONE_DEVICE(ALLOC(1) "20971520}," FREE(1) "," ALLOC(2) "23068672}") },
	{ GP_PART_STREAMS, 22 * MIB, "",
	  ONE_DEVICE(ALLOC(1) "23068672}," FREE(1) "," ALLOC(
		  2) "23068672, \"stream\": 7}") },
	{ GP_PART_POOLS, 22 * MIB, "",
	  ONE_DEVICE(ALLOC(1) "23068672}," FREE(1) "," ALLOC(
		  2) "23068672, \"pool\": [0, 1]}") },
	/* The request itself does not name the pool. */
	{ GP_PART_POOLS, 22 * MIB, "",
	  ONE_DEVICE(ALLOC(1) "23068672}," FREE(
		  1) ",{\"op\": \"pool_begin\", \"pool\": [0, "
		     "1]}," ALLOC(2) "23068672},"
				     "{\"op\": \"pool_end\", \"pool\": "
				     "[0, 1]}") },
	{ GP_PART_WAITING, 22 * MIB, "",
	  ONE_DEVICE(
		  ALLOC(1) "23068672},"
			   "{\"op\": \"record_stream\", \"id\": 1, \"stream\": "
			   "7}," FREE(1) "," ALLOC(2) "23068672}") },
	/* Memory that is cached or pending free when a window begins. */
	{ GP_PART_STREAMS, 22 * MIB, "",
	  START("\"stream\": 7", INACTIVE, ALLOC(2) "23068672}") },
	{ GP_PART_STREAMS, 22 * MIB, "",
	  START("\"stream\": 0", PENDING,
		"{\"op\": \"synchronize\"}," ALLOC(
			2) "23068672, \"stream\": 7}") },
	{ GP_PART_POOLS, 22 * MIB, "",
	  START("\"stream\": 0, \"segment_pool_id\": [0, 1]", INACTIVE,
		ALLOC(2) "23068672}") },
};

START_TEST(each_cause_alone_is_told_by_its_name)
{
	struct gp_breakdown a = breakdown_of(reused, "");

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_breakdown b =
			breakdown_of(rows[i].events, rows[i].conf);

		check_only(rows[i].part, rows[i].by, &a, &b);
	}
}
END_TEST

/* A block that is pending free counts as such, although it is on another stream
 * than the request. */
START_TEST(waiting_is_not_counted_as_streams)
{
	struct gp_breakdown b = breakdown_of(
		ONE_DEVICE(ALLOC(1) "23068672},"
				    "{\"op\": \"record_stream\", \"id\": 1, "
				    "\"stream\": 7}," FREE(1) "," ALLOC(
					    2) "23068672, \"stream\": 7}"),
		"");

	ck_assert_uint_eq(b.reserved, 44 * MIB);
	ck_assert_uint_eq(b.part[GP_PART_WAITING], 22 * MIB);
	ck_assert_uint_eq(b.part[GP_PART_STREAMS], 0);
}
END_TEST

/* A pool's memory can be released once the pool is. */
START_TEST(a_pool_that_ends_is_in_nobodys_way)
{
	struct gp_breakdown b = breakdown_of(
		ONE_DEVICE(
			"{\"op\": \"pool_begin\", \"pool\": [0, 1]},"
			"{\"op\": \"alloc\", \"id\": 1, \"pool\": [0, 1], "
			"\"size\": 23068672}," FREE(
				1) ",{\"op\": \"pool_end\", \"pool\": [0, 1]},"
				   "{\"op\": \"pool_release\", \"pool\": "
				   "[0, 1]}, {\"op\": \"empty_cache\"}," ALLOC(
					   2) "46137344}"),
		"");

	ck_assert_uint_eq(b.reserved, 44 * MIB);
	ck_assert_uint_eq(b.part[GP_PART_LIVE], 44 * MIB);
	ck_assert_uint_eq(b.part[GP_PART_POOLS], 0);
	ck_assert_uint_eq(b.part[GP_PART_WAITING], 0);
}
END_TEST

/* Memory that is put to use while the peak lasts is not free. */
START_TEST(the_fullest_moment_of_the_peak_counts)
{
	struct gp_breakdown b =
		breakdown_of(ONE_DEVICE(ALLOC(1) "20971520}," FREE(1) "," ALLOC(
				     2) "23068672}," ALLOC(3) "20971520}"),
			     "");

	ck_assert_uint_eq(b.reserved, 42 * MIB);
	ck_assert_uint_eq(b.part[GP_PART_PACKING], 0);
	ck_assert_uint_eq(b.event, 3);
}
END_TEST

/* ---- on every trace in the repository ---- */

static uint64_t sum(const struct gp_breakdown *breakdown)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < GP_PARTS; i++)
		total += breakdown->part[i];
	return total;
}

static void check_shares(const struct gp_trace *trace, uint32_t device,
			 const struct taken *taken, enum gp_sharing sharing)
{
	struct gp_share *shares;
	size_t count =
		gp_share_out(trace, device, &taken->result, sharing, &shares);
	uint64_t live = 0, rounding = 0;

	for (size_t i = 0; i < count; i++) {
		live += shares[i].requested;
		rounding += shares[i].rounding;
	}
	ck_assert_uint_eq(live, taken->breakdown.part[GP_PART_LIVE]);
	ck_assert_uint_eq(rounding, taken->breakdown.part[GP_PART_ROUNDING]);
	free(shares);
}

/* The bytes of segments whose blocks are all free. */
static uint64_t unused(const struct gp_state *state)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *s = &state->segments[i];
		uint32_t used = 0;

		for (uint32_t k = 0; k < s->blocks; k++)
			used += state->blocks[s->first_block + k].state !=
				GP_INACTIVE;
		bytes += used ? 0 : s->size;
	}
	return bytes;
}

static void check_sums(const struct gp_trace *trace, uint32_t device,
		       const struct taken *taken)
{
	const struct gp_breakdown *m = &taken->breakdown;
	const struct gp_moment *fullest = &taken->result.at_fullest;

	ck_assert_uint_eq(sum(m), m->reserved);
	ck_assert_uint_eq(m->reserved, taken->result.at_peak.reserved);
	ck_assert_uint_eq(m->reserved, fullest->reserved);
	ck_assert_uint_eq(m->part[GP_PART_LIVE] + m->part[GP_PART_ROUNDING],
			  fullest->allocated);
	ck_assert_uint_eq(m->part[GP_PART_WAITING],
			  fullest->active - fullest->allocated);
	ck_assert_uint_eq(m->unused_segments, unused(&taken->result.peak));
	check_shares(trace, device, taken, GP_SHARE_BY_SITE);
	check_shares(trace, device, taken, GP_SHARE_BY_SIZE);
}

static const char *const confs[] = {
	"",
	"expandable_segments:True",
	"max_split_size_mb:32",
	"roundup_power2_divisions:8",
	"expandable_segments:True,roundup_power2_divisions:4",
};

static void check_trace(const char *path)
{
	struct gp_trace *trace = trace_at(path);
	struct taken taken;

	ck_assert_msg(trace != NULL, "%s is not there", path);
	for (size_t i = 0; i < COUNT_OF(confs); i++)
		for (uint32_t d = 0; d < trace->device_count; d++) {
			ck_assert_msg(take(trace, d, confs[i], &taken),
				      "%s: %s", path, confs[i]);
			check_sums(trace, d, &taken);
			gp_replay_release(&taken.result);
		}
	gp_trace_destroy(trace);
}

static size_t check_all(const char *pattern)
{
	glob_t found;
	size_t count = 0;

	if (!glob(pattern, 0, NULL, &found))
		count = found.gl_pathc;
	for (size_t i = 0; i < count; i++)
		check_trace(found.gl_pathv[i]);
	globfree(&found);
	return count;
}

START_TEST(the_first_moment_that_holds_the_most_is_taken)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		ALLOC(1) "31457280}," FREE(1) "," ALLOC(2) "31457280}"));

	ck_assert_uint_eq(gp_breakdown_moment(trace, 0, GP_REFUSALS_COUNT), 0);
	gp_trace_destroy(trace);
}
END_TEST

/* Requested bytes after an event, including blocks of the start state. */
static uint64_t held_at(const struct gp_device_trace *d, size_t event)
{
	uint64_t sum = 0;

	for (uint32_t id = 0; id < d->block_ids; id++) {
		uint64_t size = 0;

		for (size_t i = 0; i < d->start.block_count; i++)
			if (d->start.blocks[i].id == id &&
			    d->start.blocks[i].state == GP_ACTIVE)
				size = d->start.blocks[i].requested;
		for (size_t i = 0; i <= event; i++)
			if (d->events[i].id == id &&
			    d->events[i].kind == GP_ALLOC)
				size = d->events[i].size;
			else if (d->events[i].id == id &&
				 d->events[i].kind == GP_FREE)
				size = 0;
		sum += size;
	}
	return sum;
}

START_TEST(so_it_is_of_any_program_and_window)
{
	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct gp_trace *trace = trace_like(
			seed, &(struct trace_like){ .events = 40,
						    .has_start = seed % 2 });
		const struct gp_device_trace *d = &trace->devices[0];
		size_t first = 0;

		for (size_t i = 1; i < d->event_count; i++)
			if (held_at(d, i) > held_at(d, first))
				first = i;
		ck_assert_uint_eq(
			gp_breakdown_moment(trace, 0, GP_REFUSALS_COUNT),
			first);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* Without splitting, the peak of reserved memory may come while less is
 * allocated. */
START_TEST(the_same_requests_hold_the_same)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE(ALLOC(1) "31457280}," ALLOC(2) "31457280}," FREE(
			1) "," FREE(2) "," ALLOC(3) "41943040}"));
	uint64_t moment = gp_breakdown_moment(trace, 0, GP_REFUSALS_COUNT);
	struct taken a = { 0 }, b = { 0 };

	ck_assert_uint_eq(moment, 1);
	ck_assert(take_at(trace, moment, "", &a));
	ck_assert(take_at(trace, moment, "expandable_segments:True", &b));
	ck_assert_uint_eq(a.breakdown.part[GP_PART_LIVE], 60 * MIB);
	ck_assert_uint_eq(b.breakdown.part[GP_PART_LIVE], 60 * MIB);
	ck_assert_uint_eq(a.breakdown.reserved, 100 * MIB);
	ck_assert_uint_eq(b.breakdown.reserved, 60 * MIB);
	ck_assert_uint_eq(a.breakdown.part[GP_PART_PACKING], 40 * MIB);
	ck_assert_uint_eq(b.breakdown.part[GP_PART_PACKING], 0);
	gp_replay_release(&a.result);
	gp_replay_release(&b.result);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(parts_add_up_at_each_moment)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = trace_of(rows[i].events);
		uint64_t moments = trace->devices->event_count;
		struct taken taken;

		for (uint64_t at = 0; at < moments; at++) {
			ck_assert(take_at(trace, at, rows[i].conf, &taken));
			ck_assert_uint_eq(sum(&taken.breakdown),
					  taken.breakdown.reserved);
			ck_assert_uint_eq(taken.breakdown.event, at);
			gp_replay_release(&taken.result);
		}
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(parts_add_up_on_every_trace)
{
	ck_assert_uint_ge(check_all("traces/tiny/*.json"), 15);
	ck_assert_uint_ge(check_all("traces/recorded/*.gz"), 2);
}
END_TEST

START_TEST(parts_add_up_on_real_snapshots)
{
	if (!check_all("../shared/snapshots/*-window.pickle"))
		skip_test("parts_add_up_on_real_snapshots",
			  "no ../shared/snapshots");
	check_all("../shared/recorded/*.pickle");
}
END_TEST

/* A report may claim anything of a moment. */
START_TEST(a_moment_that_cannot_be_adds_up_all_the_same)
{
	struct gp_moment moment = {
		.reserved = 10, .active = 30, .allocated = 20, .requested = 1
	};
	struct gp_breakdown m = gp_breakdown_of_moment(&moment);

	ck_assert_uint_eq(sum(&m), 10);
	moment = (struct gp_moment){
		.reserved = 10, .active = 5, .allocated = 9, .requested = 99
	};
	m = gp_breakdown_of_moment(&moment);
	ck_assert_uint_eq(sum(&m), 10);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ each_cause_alone_is_told_by_its_name, 0 },
		{ waiting_is_not_counted_as_streams, 0 },
		{ a_pool_that_ends_is_in_nobodys_way, 0 },
		{ the_fullest_moment_of_the_peak_counts, 0 },
		{ the_first_moment_that_holds_the_most_is_taken, 0 },
		{ so_it_is_of_any_program_and_window, 0 },
		{ the_same_requests_hold_the_same, 0 },
		{ parts_add_up_at_each_moment, 0 },
		{ parts_add_up_on_every_trace, 0 },
		{ parts_add_up_on_real_snapshots, 0 },
		{ a_moment_that_cannot_be_adds_up_all_the_same, 0 },
	};

	return suite_run("breakdown", tests, COUNT_OF(tests));
}
