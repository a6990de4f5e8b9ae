/* SPDX-License-Identifier: MIT */
/* The requests of a trace, read once for all branches of a run. */
#include "study/branch_steps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "replay/requests.h"

static void take_id(struct ids *ids, uint32_t id)
{
	ids->of[id] = ids->spare_count ? ids->spare[--ids->spare_count]
				       : ids->count++;
}

static void give_id(struct ids *ids, uint32_t id)
{
	if (ids->is_kept[id])
		return;
	GP_GROW(ids->spare, ids->spare_count + 1, ids->spare_room);
	ids->spare[ids->spare_count++] = ids->of[id];
}

static bool names_block(const struct gp_event *e)
{
	return (e->kind == GP_RECORD_STREAM || e->kind == GP_SYNCHRONIZE) &&
	       e->id != GP_NO_ID;
}

static void keep_waiting(struct ids *ids, const struct gp_device_trace *t)
{
	for (size_t i = 0; i < t->start.block_count; i++)
		if (t->start.blocks[i].state == GP_PENDING_FREE)
			ids->is_kept[t->start.blocks[i].id] = true;
	for (size_t i = 0; i < t->event_count; i++)
		if (names_block(&t->events[i]))
			ids->is_kept[t->events[i].id] = true;
}

/* Blocks of the start state get the first ids. */
static void take_start(struct reading *r)
{
	const struct gp_state *start = &r->trace->start;

	r->start = *start;
	r->start_blocks =
		gp_mem_alloc(start->block_count + 1, sizeof(*r->start_blocks));
	r->start.blocks = r->start_blocks;
	for (size_t i = 0; i < start->block_count; i++) {
		r->start_blocks[i] = start->blocks[i];
		if (start->blocks[i].state == GP_INACTIVE)
			continue;
		take_id(&r->ids, start->blocks[i].id);
		r->start_blocks[i].id = r->ids.of[start->blocks[i].id];
	}
}

/* Finds the largest number of ids in use at once. */
static void count_ids(struct reading *r)
{
	const struct gp_device_trace *t = r->trace;
	uint32_t count = r->ids.count;

	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *e = &t->events[i];

		if (e->kind == GP_ALLOC)
			count++;
		else if (e->kind == GP_FREE)
			count -= !r->ids.is_kept[e->id];
		if (count > r->ids.most)
			r->ids.most = count;
	}
}

void reading_init(struct reading *r, const struct gp_device_trace *trace)
{
	size_t ids = (size_t)trace->block_ids + 1;

	*r = (struct reading){ .trace = trace };
	r->ids.of = gp_mem_alloc(ids, sizeof(*r->ids.of));
	r->ids.is_kept = gp_mem_alloc(ids, sizeof(*r->ids.is_kept));
	keep_waiting(&r->ids, trace);
	take_start(r);
	r->ids.most = r->ids.count;
	count_ids(r);
}

void reading_release(struct reading *r)
{
	free(r->ids.of);
	free(r->ids.is_kept);
	free(r->ids.spare);
	free(r->start_blocks);
	free(r->steps);
}

/* Returns the number of events that the step consists of. */
static size_t read_step(struct reading *r, const struct gp_event *e,
			bool is_last)
{
	struct branch_step *step = &r->steps[r->count++];
	bool both = !is_last && request_is_both(e);

	*step = (struct branch_step){
		.size = e->size,
		.event = (size_t)(e - r->trace->events),
		.stream = e->stream,
		.pool = e->pool,
		.kind = both		      ? STEP_BOTH
			: e->kind == GP_ALLOC ? STEP_ALLOC
			: e->kind == GP_FREE  ? STEP_FREE
					      : STEP_OTHER,
	};
	if (e->kind == GP_ALLOC)
		take_id(&r->ids, e->id);
	if (step->kind == STEP_OTHER) {
		step->other = *e;
		if (names_block(e))
			step->other.id = r->ids.of[e->id];
		return 1;
	}
	step->id = r->ids.of[e->id];
	if (both || e->kind == GP_FREE)
		give_id(&r->ids, e->id);
	return both ? 2 : 1;
}

/* Outcomes and marks are not requests, but the device needs the addresses of
 * recorded segments. */
static bool is_step(const struct gp_event *e)
{
	return e->kind == GP_SEGMENT_ALLOC ||
	       (e->kind < GP_FIRST_OUTCOME && e->kind != GP_MARK);
}

void read_steps(struct reading *r, size_t events)
{
	const struct gp_device_trace *t = r->trace;
	size_t end = events < t->event_count - r->at ? r->at + events
						     : t->event_count;

	if (!r->steps)
		r->steps = gp_mem_alloc(events, sizeof(*r->steps));
	r->count = 0;
	while (r->at < end) {
		const struct gp_event *e = &t->events[r->at];

		if (!is_step(e))
			r->at++;
		else
			r->at += read_step(r, e, r->at + 1 == end);
	}
}
