/* SPDX-License-Identifier: MIT */
/* Runs that also answer for others, compared with replays. */
#include "study/runs.h"

#include "gpupool/knob.h"
#include "suite.h"
#include "trace_text.h"

#define MIB    (UINT64_C(1) << 20)
#define TRACES 12

static const char *const confs[] = {
	"",
	"max_split_size_mb:256",
	"max_split_size_mb:64",
	"max_split_size_mb:32",
	"max_split_size_mb:32,max_non_split_rounding_mb:64",
	"max_split_size_mb:21",
	"garbage_collection_threshold:0.6",
	"max_split_size_mb:32,garbage_collection_threshold:0.5",
	"roundup_power2_divisions:1",
	"roundup_power2_divisions:8",
	"roundup_power2_divisions:16",
	"large_segment_size_mb:12",
	"large_segment_size_mb:64",
	"expandable_segments:True",
	"expandable_segments:True,roundup_power2_divisions:16",
	"expandable_segments:True,max_split_size_mb:128",
	"expandable_segments:True,garbage_collection_threshold:0.8",
	"expandable_segments:True,large_segment_size_mb:12",
};

/* Some sizes are whole fractions of the distance between two powers of two, so
 * not every rounding changes them. */
static void print_alloc(FILE *out, unsigned seed, unsigned streams)
{
	unsigned size = (seed >> 8) % 48 + 1;

	if (seed >> 30 == 3)
		size = 1U << (seed >> 8) % 6;
	fprintf(out, ",\"size\":%llu,\"stream\":%u",
		(unsigned long long)(size * MIB / (seed >> 29 & 1 ? 1 : 3)),
		(seed >> 4) % streams);
}

/* Random allocs and frees from a seed. A third of the traces sets a memory
 * fraction, on which garbage collection depends. */
static struct gp_trace *made_up(unsigned seed)
{
	bool live[12] = { false }, has_fraction = seed % 3 == 2;
	unsigned streams = seed % 2 + 1;
	char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");

	fputs("{\"format\":\"gpupool-trace\",\"version\":1,"
	      "\"devices\":[{\"device\":0}]}\n",
	      out);
	if (has_fraction)
		fputs("{\"op\":\"set_memory_fraction\",\"fraction\":0.9}\n",
		      out);
	for (unsigned i = 0; i < 120; i++) {
		unsigned id;

		seed = seed * 1664525 + 1013904223;
		id = (seed >> 16) % COUNT_OF(live);
		fprintf(out, "{\"op\":\"%s\",\"id\":%u",
			live[id] ? "free" : "alloc", id);
		if (!live[id])
			print_alloc(out, seed, streams);
		fputs("}\n", out);
		live[id] = !live[id];
	}
	fclose(out);
	return trace_of(text);
}

static void check_told(const struct run_outcome *told,
		       const struct gp_replay_result *result,
		       enum gp_on_oom on_oom)
{
	ck_assert_int_eq(told->first_oom.is_there, result->first_oom.is_there);
	ck_assert_uint_eq(told->first_oom.event, result->first_oom.event);
	if (on_oom == GP_OOM_STOP && result->first_oom.is_there)
		return;
	ck_assert_uint_eq(told->ooms, result->ooms.count);
	ck_assert_uint_eq(told->retries,
			  (uint64_t)result->stats.num_alloc_retries);
	ck_assert_uint_eq(told->refused, result->refused);
	ck_assert_uint_eq(told->reserved, result->at_peak.reserved);
	ck_assert_uint_eq(told->peak_allocated,
			  gp_replay_peak_allocated(result));
	ck_assert_mem_eq(&told->calls, &result->calls, sizeof(told->calls));
	ck_assert_int_eq(told->synchronizes,
			 result->stats.num_sync_all_streams);
	ck_assert_uint_eq(told->first_oom.device_free,
			  result->first_oom.device_free);
}

/* Compares an answer with a replay. */
static void check(struct runs *runs, const struct gp_trace *trace,
		  const char *conf, uint64_t capacity, enum gp_on_oom on_oom)
{
	struct gp_settings settings;
	struct gp_replay_config replay = {
		.trace = trace,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.conf = conf,
		.mode = GP_WHAT_IF,
		.on_oom = on_oom,
		.capacity = capacity,
	};
	const struct run_asked asked = { &settings, conf, capacity, on_oom };
	const struct run_outcome *told;
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	ck_assert_int_eq(runs_ask(runs, &asked, &told, &diag), GP_OK);
	ck_assert_int_eq(gp_replay(&replay, &result, &diag), GP_OK);
	check_told(told, &result, on_oom);
	gp_replay_release(&result);
}

/* Returns the percentage of questions that needed a run of their own. */
static uint32_t check_trace(unsigned seed)
{
	struct gp_trace *trace = made_up(seed);
	const struct runs_config config = {
		.trace = trace,
		.engine = gp_engine_find("caching"),
	};
	struct runs *runs = runs_create(&config);
	uint32_t asked = 0, made;

	for (uint64_t c = 480 * MIB; c > 60 * MIB; c -= 14 * MIB)
		for (size_t k = 0; k < COUNT_OF(confs); k++) {
			check(runs, trace, confs[k],
			      c == 480 * MIB ? GP_UNLIMITED : c,
			      (c / MIB + k) % 3 ? GP_OOM_STOP : GP_OOM_GO_ON);
			asked++;
		}
	made = runs_made(runs);
	runs_destroy(runs);
	gp_trace_destroy(trace);
	return made * 100 / asked;
}

START_TEST(what_another_run_tells_is_what_its_own_would)
{
	uint32_t percent = 0;

	for (unsigned seed = 0; seed < TRACES; seed++)
		percent += check_trace(seed);
	/* Many questions are answered without one. */
	ck_assert_uint_lt(percent / TRACES, 60);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ what_another_run_tells_is_what_its_own_would, 0 },
	};

	return suite_run("runs", tests, COUNT_OF(tests));
}
