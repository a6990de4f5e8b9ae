/* SPDX-License-Identifier: MIT */
/* The state that is kept for the peak of a long run is that of the fullest
 * moment, even if the block that caused it is freed at once. */
#include <inttypes.h>
#include <stdlib.h>

#include "played.h"
#include "suite.h"
#include "trace_text.h"

#define REQUESTS 1500

/* Blocks that are allocated and freed one by one, and some that stay. */
static struct gp_trace *brief_blocks(uint64_t seed)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;
	uint64_t most = 1 + next_random(&seed) % (UINT64_C(1) << 24);

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [",
	      out);
	for (unsigned i = 0; i < REQUESTS; i++) {
		fprintf(out,
			"%s{\"op\": \"alloc\", \"id\": %u, \"size\": %" PRIu64
			"}",
			i ? ", " : "", i, 1 + next_random(&seed) % most);
		if (!i || next_random(&seed) % 50)
			fprintf(out, ", {\"op\": \"free\", \"id\": %u}", i);
	}
	fputs("]}]}", out);
	ck_assert_int_eq(fclose(out), 0);
	trace = trace_of(text);
	free(text);
	return trace;
}

static bool is_active(const struct gp_state *state, uint32_t id)
{
	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].state == GP_ACTIVE &&
		    state->blocks[i].id == id)
			return true;
	return false;
}

static void compare(const struct gp_trace *trace,
		    const struct gp_replay_result *result)
{
	const struct gp_device_trace *device = &trace->devices[0];
	const struct gp_state *peak = &result->peak;
	uint64_t reserved = 0, allocated = 0;

	for (size_t i = 0; i < peak->segment_count; i++)
		reserved += peak->segments[i].size;
	for (size_t i = 0; i < peak->block_count; i++)
		if (peak->blocks[i].state == GP_ACTIVE)
			allocated += peak->blocks[i].size;
	ck_assert_uint_eq(reserved, result->at_peak.reserved);
	ck_assert_uint_eq(allocated, result->at_fullest.allocated);
	ck_assert(is_active(peak, device->events[result->at_fullest.event].id));
}

START_TEST(the_peak_has_the_block_that_made_it)
{
	size_t brief = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct gp_trace *trace = brief_blocks(seed);
		struct gp_settings settings;
		struct gp_replay_config config = run_of(trace, &settings);
		struct gp_replay_result result;

		config.keep_peak = true;
		result = played(&config);
		compare(trace, &result);
		brief += trace->devices[0]
				 .events[result.at_fullest.event + 1]
				 .kind == GP_FREE;
		gp_replay_release(&result);
		gp_trace_destroy(trace);
	}
	ck_assert_uint_gt(brief, 20);
}
END_TEST

/* The block's free is beyond the end of the trace. */
START_TEST(the_last_block_stays)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct gp_trace *trace = brief_blocks(seed);
		struct gp_device_trace device = trace->devices[0];
		struct gp_trace part = *trace;
		struct gp_settings settings;
		struct gp_replay_config config = run_of(&part, &settings);
		struct gp_replay_result result;

		part.devices = &device;
		device.event_count--;
		while (device.events[device.event_count].kind != GP_FREE ||
		       device.events[device.event_count - 1].kind != GP_ALLOC)
			device.event_count--;
		result = played(&config);
		ck_assert(is_active(&result.end,
				    device.events[device.event_count - 1].id));
		gp_replay_release(&result);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* Whether or not an engine can allocate and free in a single step. */
START_TEST(every_engine_serves_what_is_freed_at_once)
{
	struct gp_trace *trace = brief_blocks(1);
	size_t engines, tried = 0;
	const struct gp_engine *table = gp_engine_table(&engines);

	for (size_t i = 0; i < engines; i++) {
		struct gp_settings settings;
		struct gp_replay_config config = run_of(trace, &settings);
		struct gp_replay_result result;
		struct gp_diag diag = { 0 };

		config.engine = &table[i];
		if (gp_replay(&config, &result, &diag) != GP_OK)
			continue;
		ck_assert_msg(result.allocs + result.dropped == REQUESTS, "%s",
			      table[i].name);
		gp_replay_release(&result);
		tried++;
	}
	ck_assert_uint_gt(tried, 5);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_peak_has_the_block_that_made_it, 0 },
		{ the_last_block_stays, 0 },
		{ every_engine_serves_what_is_freed_at_once, 0 },
	};

	return suite_run("peak_state", tests, COUNT_OF(tests));
}
