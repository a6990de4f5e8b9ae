/* SPDX-License-Identifier: MIT */
/* What would have to go for a request to be served, against a replay of each
 * set of segments that could go. */
#include "study/metrics/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "played.h"
#include "random_trace.h"
#include "suite.h"

#define MOST_SEGMENTS 9

struct tried {
	const struct gp_explain *explain;
	uint64_t bytes, segments; /* of the set under way */
	struct gp_event *events;
	size_t count;
};

/* The segment's live blocks are freed before the request, and wait for no other
 * stream. */
static void let_go(struct tried *t, const struct gp_segment *segment)
{
	for (uint32_t k = 0; k < segment->blocks; k++) {
		const struct gp_block *b =
			&t->explain->state.blocks[segment->first_block + k];

		if (b->state != GP_ACTIVE)
			continue;
		t->bytes += b->size;
		t->events[t->count++] =
			(struct gp_event){ .kind = GP_FREE, .id = b->id };
		t->events[t->count++] =
			(struct gp_event){ .kind = GP_SYNCHRONIZE,
					   .id = b->id };
	}
	t->segments++;
}

static bool is_served(const struct gp_replay_config *config,
		      const struct tried *t)
{
	struct gp_device_trace device = config->trace->devices[0];
	struct gp_trace trace = *config->trace;
	struct gp_replay_config run = *config;
	struct gp_replay_result result;
	bool is;

	device.events = t->events;
	device.event_count = t->count;
	trace.devices = &device;
	run.trace = &trace;
	result = played(&run);
	is = !result.dropped;
	gp_replay_release(&result);
	return is;
}

/* The set of segments whose bits are there goes. */
static bool serves(const struct gp_replay_config *config, struct tried *t,
		   unsigned set)
{
	const struct gp_explain *e = t->explain;
	const struct gp_event *events = config->trace->devices[0].events;

	memcpy(t->events, events, e->event * sizeof(*events));
	t->count = e->event;
	t->bytes = t->segments = 0;
	for (unsigned i = 0; i < e->state.segment_count; i++)
		if (set >> i & 1)
			let_go(t, &e->state.segments[i]);
	t->events[t->count++] = events[e->event];
	return is_served(config, t);
}

static void compare(const struct gp_replay_config *config,
		    const struct gp_explain *e)
{
	size_t room = e->event + 2 * e->state.block_count + 1;
	struct tried t = { .explain = e,
			   .events = gp_mem_alloc(room, sizeof(*t.events)) };
	uint64_t bytes = 0, segments = 0;

	for (unsigned set = 1; set < 1u << e->state.segment_count; set++) {
		if (!serves(config, &t, set) ||
		    (segments && (t.bytes > bytes || (t.bytes == bytes &&
						      t.segments >= segments))))
			continue;
		bytes = t.bytes;
		segments = t.segments;
	}
	ck_assert(e->relief.is_told);
	ck_assert_uint_eq(e->relief.bytes, bytes);
	ck_assert_uint_eq(e->relief.segments, segments);
	free(t.events);
}

/* On a device that has less than the run takes, by sixteenths. */
static unsigned look_at(const struct gp_trace *trace, unsigned sixteenths)
{
	struct gp_settings settings;
	struct gp_replay_config run = run_of(trace, &settings);
	struct gp_explain_config config = { .run = &run,
					    .skip_attempts = true };
	struct gp_explain explain;
	struct gp_diag diag = { 0 };
	unsigned compared = 0;

	run.capacity = peak_of(trace) / 16 * sixteenths;
	ck_assert_int_eq(gp_explain(&config, &explain, &diag), GP_OK);
	if (explain.result.first_oom.is_there &&
	    explain.state.segment_count <= MOST_SEGMENTS) {
		compare(&run, &explain);
		compared++;
	}
	gp_explain_release(&explain);
	return compared;
}

START_TEST(no_fewer_live_bytes_would_do)
{
	unsigned compared = 0;

	for (uint64_t seed = 1; seed <= 400; seed++) {
		struct gp_trace *trace = random_trace(seed, 120);

		for (unsigned part = 6; part < 16; part += 3)
			compared += look_at(trace, part);
		gp_trace_destroy(trace);
	}
	ck_assert_uint_ge(compared, 400);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ no_fewer_live_bytes_would_do, 0 },
	};

	return suite_run("relief", tests, COUNT_OF(tests));
}
