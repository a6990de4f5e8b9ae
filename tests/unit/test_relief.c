/* SPDX-License-Identifier: MIT */
/* What would have to be released for a request to be served, compared with a
 * replay for each set of segments that could be. */
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
	uint64_t bytes, segments; /* of the set that is tried */
	struct gp_event *events;
	size_t count;
};

/* Frees the segment's live blocks before the request, without waiting for
 * another stream. */
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

/* Whether the request is served without the segments whose bits are set. */
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

/* On devices with less memory than the run takes, in steps of a sixteenth. */
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

/* ---- single cases ---- */

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* A request for a segment of the default pool, and what is known about the
 * cached memory that is released for it. */
#define ASKS(bytes, gives)                                                     \
	.segment_size = (bytes), .route.rounded = (bytes),                     \
	.route.gives_back = (gives)
#define KNOWN(bytes)   .is_routed = true, ASKS(bytes, true)
#define NOTHING(bytes) .is_routed = true, ASKS(bytes, false)

/* Segments with a live block of 1 MiB each; how many would have to go. */
static const struct row {
	struct gp_oom oom;
	struct gp_segment segments[2];
	bool is_told;
	uint64_t count;
} rows[] = {
	{ { KNOWN(20 * MIB) }, { { .size = 20 * MIB } }, true, 1 },
	{ { KNOWN(20 * MIB) }, { { .size = 18 * MIB } }, true, 0 },
	{ { KNOWN(20 * MIB) },
	  { { .size = 18 * MIB }, { .size = 2 * MIB } },
	  true,
	  2 },
	/* Memory that the device has is not needed; what it lacks is needed,
	 * too. */
	{ { KNOWN(20 * MIB), .room = 10 * MIB },
	  { { .size = 10 * MIB } },
	  true,
	  1 },
	{ { KNOWN(20 * MIB), .room = 10 * MIB, .overdrawn = MIB },
	  { { .size = 10 * MIB } },
	  true,
	  0 },
	/* A segment of a private pool serves requests to that pool only. */
	{ { KNOWN(20 * MIB) }, { { .size = 20 * MIB, .pool = 1 } }, true, 0 },
	{ { KNOWN(20 * MIB), .route.pool = 1 },
	  { { .size = 20 * MIB, .pool = 1 } },
	  true,
	  1 },
	/* Nothing is released; a segment of another stream does not help. */
	{ { NOTHING(20 * MIB) }, { { .size = 20 * MIB } }, true, 1 },
	{ { NOTHING(20 * MIB) },
	  { { .size = 20 * MIB, .stream = 1 } },
	  true,
	  0 },
	/* Cases without an answer. */
	{ { ASKS(20 * MIB, true) }, { { .size = 20 * MIB } }, false, 0 },
	{ { KNOWN(20 * MIB), .is_expandable = true },
	  { { .size = 20 * MIB } },
	  false,
	  0 },
	{ { KNOWN(20 * MIB) },
	  { { .size = 20 * MIB, .is_expandable = true } },
	  false,
	  0 },
	{ { NOTHING(20 * MIB), .route.collects = true },
	  { { .size = 20 * MIB } },
	  false,
	  0 },
	/* If much memory is needed, small segments do not count. */
	{ { KNOWN(16 * GIB) },
	  { { .size = 8 * GIB }, { .size = 8 * GIB } },
	  true,
	  2 },
	{ { KNOWN(16 * GIB) },
	  { { .size = 16 * GIB - 2 * MIB }, { .size = 2 * MIB } },
	  false,
	  0 },
};

START_TEST(what_would_have_to_go_is_told_where_it_is_known)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_segment segments[2];
		const struct gp_block blocks[2] = {
			{ .size = MIB, .state = GP_ACTIVE },
			{ .size = MIB, .state = GP_ACTIVE },
		};
		struct gp_state state = { segments, blocks, 0, 0 };
		struct gp_relief relief;

		memcpy(segments, rows[i].segments, sizeof(segments));
		for (uint32_t k = 0; k < 2 && segments[k].size; k++) {
			segments[k].first_block = k;
			segments[k].blocks = 1;
			state.segment_count = state.block_count = k + 1;
		}
		gp_relief_find(&rows[i].oom, &state, &relief);
		ck_assert_msg(relief.is_told == rows[i].is_told &&
				      relief.segments == rows[i].count &&
				      relief.blocks == rows[i].count &&
				      relief.bytes == rows[i].count * MIB,
			      "row %zu: %d, %llu segments", i, relief.is_told,
			      (unsigned long long)relief.segments);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ no_fewer_live_bytes_would_do, 0 },
		{ what_would_have_to_go_is_told_where_it_is_known, 0 },
	};

	return suite_run("relief", tests, COUNT_OF(tests));
}
