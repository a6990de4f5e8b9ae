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

#include "base/larger.h"
#include "study/metrics/merged.h"

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
