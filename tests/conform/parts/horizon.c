/* SPDX-License-Identifier: MIT */
/* How far PyTorch can be compared. */
#include "horizon.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * From 2.4 on, a use that is recorded while routing is on (from 2.13 on: during
 * a capture) is stored under the heap address of its Block, which a later Block
 * may get as well. From 2.9 on, blocks that were freed in the meantime are
 * completed in the order of these addresses.
 */
#define HEAP_FIRST	   4
#define HEAP_ORDER_FIRST   9
#define HEAP_CAPTURES_ONLY 13

static void lower(struct horizon *horizon, uint64_t event, enum verdict verdict)
{
	if (event < horizon->event)
		*horizon = (struct horizon){ event, verdict };
}

static int routing_step(const struct gp_event *event, uint8_t release)
{
	int of_pools = release < HEAP_CAPTURES_ONLY;

	switch (event->kind) {
	case GP_POOL_BEGIN: return of_pools;
	case GP_CAPTURE_BEGIN: return 1;
	case GP_POOL_END: return -of_pools;
	case GP_CAPTURE_END: return -1;
	default: return 0;
	}
}

/* The first request for which the heap address of a Block matters. */
static uint64_t first_heap_event(const struct gp_device_trace *trace,
				 uint8_t release)
{
	bool *is_used = gp_mem_alloc(trace->block_ids + 1, sizeof(*is_used));
	uint64_t found = HORIZON_NEVER;
	int routes = 0;

	for (size_t i = 0; i < trace->event_count; i++) {
		const struct gp_event *event = &trace->events[i];
		bool records = event->kind == GP_RECORD_STREAM;
		bool defers = event->kind == GP_FREE && is_used[event->id] &&
			      release >= HEAP_ORDER_FIRST;

		routes += routing_step(event, release);
		if (routes > 0 && (records || defers)) {
			found = i;
			break;
		}
		if (records)
			is_used[event->id] = true;
	}
	free(is_used);
	return found;
}

static bool is_assertion(const char *refusal)
{
	static const char *const words[] = { "INTERNAL ASSERT", "Should never",
					     "captures_underway" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(refusal, words[i]))
			return true;
	return false;
}

struct horizon horizon_find(const struct gp_device_trace *trace,
			    const struct outcome *ours,
			    const struct outcome *theirs)
{
	const struct gp_replay_result *us = &ours->result;
	const struct gp_replay_result *them = &theirs->result;
	struct horizon horizon = { HORIZON_NEVER, VERDICT_DIFFERENT };

	if (ours->release >= HEAP_FIRST)
		lower(&horizon, first_heap_event(trace, ours->release),
		      VERDICT_HEAP);
	if (them->refused && is_assertion(them->first_refusal))
		lower(&horizon, them->first_refusal_event, VERDICT_ASSERTS);
	if (us->refused && strstr(us->first_refusal, "part of a segment"))
		lower(&horizon, us->first_refusal_event,
		      VERDICT_PART_OF_SEGMENT);
	return horizon;
}
