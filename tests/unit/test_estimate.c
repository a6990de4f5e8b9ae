/* SPDX-License-Identifier: MIT */
/* Estimates for windows of programs whose past is known. */
#include "study/estimate.h"

#include "gpupool/knob.h"
#include "played.h"
#include "suite.h"
#include "trace_text.h"

#define MIB (UINT64_C(1) << 20)

/* A window whose steps each take 30 and 50 MiB; both were cached before. */
#define STEP(a, b)                                                             \
	"{\"op\": \"alloc\", \"id\": " a ", \"size\": 31457280},"              \
	"{\"op\": \"alloc\", \"id\": " b ", \"size\": 52428800},"              \
	"{\"op\": \"free\", \"id\": " a "},"                                   \
	"{\"op\": \"free\", \"id\": " b "}"
#define FREE_SEGMENT(address, size)                                            \
	"{\"address\": " address ", \"total_size\": " size                     \
	", \"segment_type\": \"large\", \"blocks\": [{\"size\": " size         \
	", \"state\": \"inactive\"}]}"
#define WINDOW(segments, events)                                               \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "        \
	"[{\"device\": 0, \"start\": {\"segments\": [" segments "]}, "         \
	"\"events\": [" events "]}]}"

static const char *const steps =
	WINDOW(FREE_SEGMENT("4194304", "31457280") "," FREE_SEGMENT("41943040",
								    "52428800"),
	       STEP("1", "2") "," STEP("3", "4"));

/* The same steps, after a request of 120 MiB was served. */
static const char *const larger_past =
	WINDOW(FREE_SEGMENT("4194304", "125829120"),
	       STEP("1", "2") "," STEP("3", "4"));

static struct gp_estimate estimate_of(const char *text, const char *recorded,
				      const char *asked)
{
	struct gp_trace *trace = trace_of(text);
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_estimate estimate;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_settings_parse(&settings, asked, &diag), GP_OK);
	ck_assert_int_eq(gp_estimate(&config, recorded, GP_RELEASE_LAST,
				     &estimate, &diag),
			 GP_OK);
	gp_trace_destroy(trace);
	return estimate;
}

static bool is_within(const struct gp_estimate *estimate, uint64_t truth)
{
	return estimate->is_there && estimate->low <= truth &&
	       truth <= estimate->high && estimate->low <= estimate->reserved &&
	       estimate->reserved <= estimate->high;
}

START_TEST(there_is_none_where_the_replay_is_the_answer)
{
	static const char *const whole = ONE_DEVICE(STEP("1", "2"));

	ck_assert(!estimate_of(steps, "", "").is_there);
	ck_assert(!estimate_of(steps, "max_split_size_mb:64",
			       "max_split_size_mb:64")
			   .is_there);
	ck_assert(!estimate_of(steps, NULL, "").is_there);
	/* Without a memory limit, there is no garbage collection. */
	ck_assert(!estimate_of(steps, "", "garbage_collection_threshold:0.8")
			   .is_there);
	ck_assert(!estimate_of(whole, "", "expandable_segments:True").is_there);
	ck_assert(estimate_of(steps, "", "expandable_segments:True").is_there);
}
END_TEST

START_TEST(cached_segments_are_asked_for_as_the_other_settings_would)
{
	/* Rounded up to 32 MiB and 64 MiB. */
	struct gp_estimate estimate =
		estimate_of(steps, "", "roundup_power2_divisions:2");

	ck_assert(is_within(&estimate, 96 * MIB));
	ck_assert_uint_eq(estimate.reserved, 96 * MIB);
}
END_TEST

START_TEST(expandable_segments_take_what_the_window_needs)
{
	struct gp_estimate estimate =
		estimate_of(steps, "", "expandable_segments:True");

	ck_assert(is_within(&estimate, 80 * MIB));
	ck_assert_uint_eq(estimate.reserved, 80 * MIB);
	ck_assert_ptr_nonnull(estimate.how);
}
END_TEST

START_TEST(a_larger_past_is_within_the_bounds)
{
	struct gp_estimate estimate =
		estimate_of(larger_past, "", "expandable_segments:True");

	ck_assert(is_within(&estimate, 120 * MIB));
	ck_assert_uint_gt(estimate.reserved, 80 * MIB);
}
END_TEST

START_TEST(no_estimate_is_above_the_capacity)
{
	struct gp_trace *trace = trace_of(larger_past);
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_estimate estimate;
	struct gp_diag diag = { 0 };

	settings.expandable_segments = true;
	config.capacity = 90 * MIB;
	ck_assert_int_eq(
		gp_estimate(&config, "", GP_RELEASE_LAST, &estimate, &diag),
		GP_OK);
	ck_assert(estimate.is_there);
	ck_assert_uint_le(estimate.high, 90 * MIB);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ there_is_none_where_the_replay_is_the_answer, 0 },
		{ cached_segments_are_asked_for_as_the_other_settings_would,
		  0 },
		{ expandable_segments_take_what_the_window_needs, 0 },
		{ a_larger_past_is_within_the_bounds, 0 },
		{ no_estimate_is_above_the_capacity, 0 },
	};

	return suite_run("estimate", tests, COUNT_OF(tests));
}
