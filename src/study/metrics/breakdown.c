/* SPDX-License-Identifier: MIT */
/*
 * The breakdown of a peak of reserved memory, at its fullest moment: of the
 * moments with as much reserved, the first with the most allocated. So memory
 * that is used at some time during the peak does not count as free.
 *
 *	reserved = live + rounding + waiting + streams + pools + packing
 *
 * The first three are sums over the blocks at that moment. The rest is free,
 * and is divided up by replaying the same blocks with the same lifetimes on one
 * stream, and then also in one pool.
 */
#include "study/metrics/change.h"

#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "trace/draft.h"

const struct gp_part gp_parts[GP_PARTS] = {
	[GP_PART_LIVE] = { "live_set", "live set",
			   "requested by the program and in use" },
	[GP_PART_ROUNDING] = { "rounding", "rounding",
			       "by how much its blocks are larger than "
			       "requested" },
	[GP_PART_WAITING] = { "pending_free", "pending free",
			      "freed, but still in use by another stream" },
	[GP_PART_STREAMS] = { "streams", "streams",
			      "free; would not be reserved if all were on one "
			      "stream" },
	[GP_PART_POOLS] = { "pools", "pools",
			    "free; would not be reserved without private "
			    "pools" },
	[GP_PART_PACKING] = { "packing", "packing",
			      "free for other reasons: left in segments "
			      "that are partly used, or cached in sizes that "
			      "did not fit" },
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

struct gp_breakdown gp_breakdown_of_moment(const struct gp_moment *moment)
{
	struct gp_breakdown breakdown = {
		.reserved = moment->reserved,
		.event = moment->event,
	};
	/* Each part is limited to what is left, so that they add up even if the
	 * numbers are inconsistent. */
	uint64_t active = gp_smaller(moment->active, moment->reserved);
	uint64_t allocated = gp_smaller(moment->allocated, active);
	uint64_t rounding =
		gp_smaller(less(active, moment->requested), allocated);

	breakdown.part[GP_PART_LIVE] = allocated - rounding;
	breakdown.part[GP_PART_ROUNDING] = rounding;
	breakdown.part[GP_PART_WAITING] = active - allocated;
	breakdown.part[GP_PART_PACKING] = moment->reserved - active;
	return breakdown;
}

/* ---- from the blocks ---- */

static void add_block(struct gp_breakdown *breakdown,
		      const struct gp_block *block)
{
	uint64_t *part = breakdown->part;
	uint64_t live = gp_smaller(block->requested, block->size);

	switch (block->state) {
	case GP_ACTIVE:
		part[GP_PART_LIVE] += live;
		part[GP_PART_ROUNDING] += block->size - live;
		break;
	case GP_PENDING_FREE: part[GP_PART_WAITING] += block->size; break;
	default: part[GP_PART_PACKING] += block->size; break;
	}
}

static void add_segment(struct gp_breakdown *breakdown,
			const struct gp_state *state,
			const struct gp_segment *segment)
{
	const struct gp_block *blocks = state->blocks + segment->first_block;
	bool is_used = false;

	breakdown->reserved += segment->size;
	for (uint32_t i = 0; i < segment->blocks; i++) {
		add_block(breakdown, &blocks[i]);
		is_used |= blocks[i].state != GP_INACTIVE;
	}
	if (!is_used)
		breakdown->unused_segments += segment->size;
}

static struct gp_breakdown sum(const struct gp_replay_result *result)
{
	struct gp_breakdown breakdown = {
		.event = result->at_fullest.event,
		.is_from_start = result->peak_is_from_start,
		.is_split = true,
		.ooms = result->ooms.count,
		.retries = (uint64_t)result->counts.retries,
		.dropped = result->dropped,
		.peak_allocated = gp_replay_peak_allocated(result),
	};

	for (size_t i = 0; i < result->peak.segment_count; i++)
		add_segment(&breakdown, &result->peak,
			    &result->peak.segments[i]);
	return breakdown;
}

/* Whatever is reserved at the peak but not in use at the moment counts as
 * free. */
static struct gp_breakdown sum_at(const struct gp_replay_result *result,
				  uint64_t moment)
{
	struct gp_breakdown breakdown = sum(result);

	if (moment == GP_AT_FULLEST)
		return breakdown;
	breakdown.event = moment;
	breakdown.reserved = result->at_peak.reserved;
	breakdown.part[GP_PART_PACKING] = breakdown.reserved -
					  breakdown.part[GP_PART_LIVE] -
					  breakdown.part[GP_PART_ROUNDING] -
					  breakdown.part[GP_PART_WAITING];
	return breakdown;
}

static void keep_state(void *arg, struct gp_allocator *allocator,
		       uint64_t event)
{
	(void)event;
	allocator->ops->state(allocator, arg);
}

/* ---- the same blocks, on one stream or in one pool ---- */

/*
 * A trace with the same blocks and lifetimes as in an observed run, in which
 * streams and pools may be merged.
 *
 * While observing a run it is recorded which requests were served, and when
 * each block's memory became free again, however long after its free. So the
 * traces made from it occupy the same bytes at every moment, and their reserved
 * memory differs only because of where blocks may be placed.
 */
struct occupancy_end {
	uint64_t event;
	uint32_t id;
};

struct occupancy {
	const struct gp_device_trace *device; /* borrowed */
	bool *is_served;		      /* by event */
	struct occupancy_end *ends;
	size_t end_count, end_room;
};

enum merge { MERGE_NOTHING, MERGE_STREAMS, MERGE_ALL };

static void occupancy_init(struct occupancy *occupancy,
			   const struct gp_device_trace *device)
{
	*occupancy = (struct occupancy){
		.device = device,
		.is_served = gp_mem_alloc(device->event_count,
					  sizeof(*occupancy->is_served)),
	};
}

static void occupancy_release(struct occupancy *occupancy)
{
	free(occupancy->is_served);
	free(occupancy->ends);
	*occupancy = (struct occupancy){ 0 };
}

/* For struct gp_replay_config's action; arg is the struct occupancy. */
static void occupancy_action(void *arg, const struct gp_action *action,
			     uint64_t event)
{
	struct occupancy *o = arg;

	if (action->kind == GP_ALLOC)
		o->is_served[event] = true;
	if (action->kind != GP_FREE_COMPLETED || action->id == GP_NO_ID)
		return;
	GP_GROW(o->ends, o->end_count + 1, o->end_room);
	o->ends[o->end_count++] = (struct occupancy_end){ event, action->id };
}

/* Whether a request is kept in the merged trace. Frees are not: new ones are
 * added at the time at which the memory became free. */
static bool is_kept(const struct occupancy *o, size_t i, enum merge merge)
{
	switch (o->device->events[i].kind) {
	case GP_ALLOC: return o->is_served[i];
	case GP_EMPTY_CACHE:
		return merge != MERGE_ALL || !o->device->events[i].pool;
	case GP_SYNCHRONIZE:
		return merge == MERGE_NOTHING &&
		       o->device->events[i].flags & GP_STREAM_WAITS;
	case GP_SET_FRACTION:
	case GP_OTHER_MEMORY:
	case GP_SET_SETTINGS: return true;
	default:
		return merge != MERGE_ALL &&
		       gp_event_is_of_pool(o->device->events[i].kind);
	}
}

static struct gp_event make_free(uint32_t id)
{
	return (struct gp_event){
		.kind = GP_FREE,
		.id = id,
		.site = GP_NO_SITE,
		.flags = GP_AT_ONCE,
	};
}

static void merge_event(struct gp_event *event, enum merge merge)
{
	bool is_alloc = event->kind == GP_ALLOC;

	if (merge == MERGE_NOTHING)
		return;
	if (is_alloc || event->kind == GP_CAPTURE_BEGIN)
		event->stream = 0;
	if (is_alloc && merge == MERGE_ALL)
		event->pool = 0;
}

/* Pending frees of the start state are live blocks until their memory is
 * free. */
static void merge_start(struct gp_draft_device *device, enum merge merge)
{
	for (size_t i = 0; i < device->segment_count; i++) {
		if (merge != MERGE_NOTHING)
			device->segments[i].stream = 0;
		if (merge == MERGE_ALL)
			device->segments[i].pool = 0;
	}
	for (size_t i = 0; i < device->block_count; i++)
		if (device->blocks[i].state == GP_PENDING_FREE)
			device->blocks[i].state = GP_ACTIVE;
}

/* Makes the trace. Borrows the tables of the trace whose device was
 * observed. */
static struct gp_trace *merged_make(const struct gp_trace *trace,
				    uint32_t device,
				    const struct occupancy *occupancy,
				    enum merge merge)
{
	struct gp_draft draft;
	struct gp_draft_device *d;

	gp_draft_init(&draft, trace);
	d = &draft.devices[device];
	for (size_t i = 0; i < d->event_count; i++)
		if (is_kept(occupancy, i, merge))
			merge_event(&d->events[i], merge);
		else
			gp_draft_leave_out(&d->events[i]);
	for (size_t i = 0; i < occupancy->end_count; i++) {
		struct gp_event end = make_free(occupancy->ends[i].id);

		gp_draft_add(d, occupancy->ends[i].event, &end);
	}
	merge_start(d, merge);
	return gp_draft_finish(&draft);
}

/* ---- merged runs ---- */

/* Whether memory comes from one stream and pool, or from several. */
struct places {
	bool any, streams, pools;
	uint16_t stream, pool; /* the first one */
};

static void add_place(struct places *places, uint16_t stream, uint16_t pool)
{
	if (!places->any)
		*places = (struct places){ .any = true,
					   .stream = stream,
					   .pool = pool };
	places->streams |= stream != places->stream;
	places->pools |= pool != places->pool;
}

static struct places places_of(const struct gp_device_trace *device)
{
	struct places places = { 0 };

	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		if (event->kind == GP_ALLOC)
			add_place(&places, event->stream, event->pool);
		/* Not every trace has the pool of each request. */
		places.pools |= event->kind == GP_POOL_BEGIN ||
				event->kind == GP_CAPTURE_BEGIN;
	}
	for (size_t i = 0; i < device->start.segment_count; i++)
		add_place(&places, device->start.segments[i].stream,
			  device->start.segments[i].pool);
	return places;
}

/* The peak of reserved with merged streams or pools; GP_UNLIMITED if a block
 * found no memory, because such a run proves nothing. */
static enum gp_status merged_peak(const struct gp_replay_config *config,
				  const struct occupancy *occupancy,
				  enum merge merge, uint64_t *peak,
				  struct gp_diag *diag)
{
	struct gp_replay_config would = *config;
	struct gp_replay_result result;
	enum gp_status status;
	struct gp_trace *merged =
		merged_make(config->trace, config->device, occupancy, merge);

	would.trace = merged;
	would.mode = GP_WHAT_IF;
	would.on_oom = GP_OOM_GO_ON;
	would.action = NULL;
	would.keep_peak = false;
	status = gp_replay(&would, &result, diag);
	if (status == GP_OK) {
		*peak = result.dropped ? GP_UNLIMITED : result.at_peak.reserved;
		gp_replay_release(&result);
	}
	gp_trace_destroy(merged);
	return status;
}

/*
 * Moves the saving of a merge from packing to its own part. A merged run lacks
 * the retries that the recorded device made necessary; if it therefore reserves
 * more than the run itself, nothing is saved.
 */
static void take(struct gp_breakdown *breakdown, enum gp_part_id part,
		 uint64_t before, uint64_t after)
{
	uint64_t saved = 0;

	if (before != GP_UNLIMITED)
		saved = less(gp_smaller(before, breakdown->reserved), after);
	saved = gp_smaller(saved, breakdown->part[GP_PART_PACKING]);
	breakdown->part[part] = saved;
	breakdown->part[GP_PART_PACKING] -= saved;
}

static enum gp_status split(struct gp_breakdown *breakdown,
			    const struct gp_replay_config *config,
			    const struct occupancy *occupancy,
			    struct gp_diag *diag)
{
	struct places places = places_of(occupancy->device);
	enum gp_status status;
	uint64_t apart = 0, one_stream, one_pool;

	if (!places.streams && !places.pools)
		return GP_OK;
	status = merged_peak(config, occupancy, MERGE_NOTHING, &apart, diag);
	one_stream = apart;
	if (status == GP_OK && places.streams)
		status = merged_peak(config, occupancy, MERGE_STREAMS,
				     &one_stream, diag);
	one_pool = one_stream;
	if (status == GP_OK && places.pools)
		status = merged_peak(config, occupancy, MERGE_ALL, &one_pool,
				     diag);
	if (status != GP_OK)
		return status;
	take(breakdown, GP_PART_STREAMS, apart, one_stream);
	take(breakdown, GP_PART_POOLS, one_stream, one_pool);
	return GP_OK;
}

enum gp_status gp_breakdown_take(const struct gp_replay_config *config,
				 struct gp_breakdown *breakdown,
				 struct gp_replay_result *result,
				 struct gp_diag *diag)
{
	return gp_breakdown_take_at(config, GP_AT_FULLEST, breakdown, result,
				    diag);
}

enum gp_status gp_breakdown_take_at(const struct gp_replay_config *config,
				    uint64_t moment,
				    struct gp_breakdown *breakdown,
				    struct gp_replay_result *result,
				    struct gp_diag *diag)
{
	struct gp_replay_config first = *config;
	struct gp_state then = { 0 };
	struct occupancy occupancy;
	enum gp_status status;

	occupancy_init(&occupancy, &config->trace->devices[config->device]);
	first.action = occupancy_action;
	first.action_arg = &occupancy;
	first.keep_peak = moment == GP_AT_FULLEST;
	if (moment != GP_AT_FULLEST) {
		first.look = keep_state;
		first.look_arg = &then;
		first.looks = &moment;
		first.look_count = 1;
	}
	status = gp_replay(&first, result, diag);
	if (status == GP_OK) {
		if (moment != GP_AT_FULLEST)
			result->peak = then;
		*breakdown = sum_at(result, moment);
		status = split(breakdown, config, &occupancy, diag);
		if (status != GP_OK)
			gp_replay_release(result);
	}
	occupancy_release(&occupancy);
	return status;
}

/* ---- when a program holds the most memory, whatever its allocator ---- */

struct held {
	uint64_t *sizes; /* by id, as requested; 0: not live */
	uint64_t now, most;
	uint64_t event; /* first event with the most */
};

static void hold(struct held *held, uint32_t id, uint64_t size)
{
	held->now += size - held->sizes[id];
	held->sizes[id] = size;
}

static void hold_start(struct held *held, const struct gp_state *start)
{
	for (size_t i = 0; i < start->block_count; i++)
		if (start->blocks[i].state == GP_ACTIVE &&
		    start->blocks[i].id != GP_NO_ID)
			hold(held, start->blocks[i].id,
			     start->blocks[i].requested);
}

static bool is_held(const struct gp_event *event, enum gp_refusals refusals)
{
	return refusals == GP_REFUSALS_COUNT || !(event->flags & GP_REFUSED);
}

uint64_t gp_breakdown_moment(const struct gp_trace *trace, uint32_t device,
			     enum gp_refusals refusals)
{
	const struct gp_device_trace *t = &trace->devices[device];
	struct held held = {
		.sizes = gp_mem_alloc(t->block_ids + (size_t)1,
				      sizeof(*held.sizes)),
		.event = GP_AT_FULLEST,
	};

	hold_start(&held, &t->start);
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (event->kind == GP_ALLOC && is_held(event, refusals))
			hold(&held, event->id, event->size);
		else if (event->kind == GP_FREE)
			hold(&held, event->id, 0);
		if (held.now <= held.most && held.event != GP_AT_FULLEST)
			continue;
		held.most = held.now;
		held.event = i;
	}
	free(held.sizes);
	return held.event;
}
