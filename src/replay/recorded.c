/* SPDX-License-Identifier: MIT */
/* The recorded device, fidelity, and the order of start segments. */
#include "replay/recorded.h"

#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "gpupool/knob.h"

/* ---- the recorded device ---- */

/* Addresses for segments that the recording does not have: a range that no
 * driver uses, above all others. */
#define SPARE_BASE (UINT64_C(1) << 60)

static struct recorded *recorded_of(struct gp_device *device)
{
	return (struct recorded *)device;
}

static const struct gp_event *next_outcome(struct recorded *r)
{
	while (r->at < r->stop && (r->events[r->at].kind < GP_FIRST_OUTCOME ||
				   r->events[r->at].kind == GP_FREE_COMPLETED ||
				   r->events[r->at].kind == GP_SNAPSHOT))
		r->at++;
	return r->at < r->stop ? &r->events[r->at] : NULL;
}

static void note_surprise(struct recorded *r, enum recorded_surprise surprise,
			  uint64_t asked, uint64_t had)
{
	if (r->surprise != RECORDED_AGREES)
		return;
	r->surprise = surprise;
	r->asked = asked;
	r->had = had;
}

static uint64_t spare_addresses(struct recorded *r, uint64_t size)
{
	uint64_t addr = r->spare;

	r->spare += gp_round_up(size, GP_DEVICE_GRAIN);
	return addr;
}

/* Whether the recording's device refused memory here. */
static bool was_refused(const struct gp_event *outcome)
{
	return outcome &&
	       (outcome->kind == GP_SEGMENT_FREE ||
		outcome->kind == GP_SEGMENT_UNMAP || outcome->kind == GP_OOM);
}

static bool recorded_malloc(struct gp_device *device, uint64_t size,
			    uint64_t *addr)
{
	struct recorded *r = recorded_of(device);
	const struct gp_event *outcome = next_outcome(r);

	if (was_refused(outcome)) {
		device->calls.malloc_failed++;
		return false;
	}
	gp_call_malloc(&device->calls, size);
	if (!outcome || outcome->kind != GP_SEGMENT_ALLOC) {
		note_surprise(r, RECORDED_NO_SEGMENT, size, 0);
		*addr = spare_addresses(r, size);
		return true;
	}
	r->at++;
	r->segments++;
	if (outcome->size != size)
		note_surprise(r, RECORDED_OTHER_SIZE, size, outcome->size);
	*addr = outcome->addr;
	return true;
}

/* Skips the recorded outcome of a release by the engine: the next one, or one
 * after other releases. */
static void skip_release(struct recorded *r, enum gp_event_kind kind,
			 uint64_t addr)
{
	size_t at = r->at;

	for (; at < r->stop && r->events[at].kind != GP_SEGMENT_ALLOC &&
	       r->events[at].kind != GP_SEGMENT_MAP;
	     at++)
		if (r->events[at].kind == kind && r->events[at].addr == addr) {
			r->at = at + 1;
			return;
		}
}

static void recorded_free(struct gp_device *device, uint64_t addr,
			  uint64_t size)
{
	gp_call_free(&device->calls, size);
	skip_release(recorded_of(device), GP_SEGMENT_FREE, addr);
}

static void recorded_info(struct gp_device *device, uint64_t *free_bytes,
			  uint64_t *total_bytes)
{
	struct recorded *r = recorded_of(device);
	const struct gp_event *outcome = next_outcome(r);

	*total_bytes =
		r->total == GP_UNLIMITED ? GP_SIM_UNLIMITED_TOTAL : r->total;
	*free_bytes = outcome && outcome->kind == GP_OOM ? outcome->addr : 0;
}

static void recorded_set_other(struct gp_device *device, uint64_t bytes)
{
	(void)device;
	(void)bytes;
}

static size_t range_behind(const struct recorded *r, uint64_t addr)
{
	return gp_sorted_above(GP_SORTED(r->ranges, r->range_count,
					 struct recorded_range, addr),
			       addr);
}

static void add_range(struct recorded *r, const struct recorded_range *range)
{
	size_t i = range_behind(r, range->addr);

	GP_INSERT(r->ranges, r->range_count, r->range_room, i);
	r->ranges[i] = *range;
}

/* Whether an address is in a reservation for such segments. Only the last
 * reservation that begins below the address counts, because the lengths may not
 * be known. */
static bool is_reserved(const struct recorded *r, uint64_t addr,
			const struct recorded_range *wanted)
{
	size_t i = range_behind(r, addr);
	const struct recorded_range *below;

	if (!i)
		return false;
	below = &r->ranges[i - 1];
	return addr - below->addr < below->size &&
	       below->stream == wanted->stream && below->pool == wanted->pool &&
	       below->is_small == wanted->is_small;
}

/* The recorded event that first mapped pages into a reservation: an outcome of
 * the current request or, if that request was refused, of a later one. */
static const struct gp_event *first_map(struct recorded *r,
					const struct recorded_range *wanted)
{
	size_t stop = was_refused(next_outcome(r)) ? r->count : r->stop;

	for (size_t i = r->at; i < stop; i++) {
		const struct gp_event *e = &r->events[i];

		if (e->kind == GP_SEGMENT_MAP && e->stream == wanted->stream &&
		    e->pool == wanted->pool &&
		    (e->size == GP_DEVICE_GRAIN) == wanted->is_small &&
		    !is_reserved(r, e->addr, wanted))
			return e;
	}
	return NULL;
}

/* A reservation begins where its first page was mapped, even if that only
 * succeeded in a retry of the request or for a later request. One in which
 * nothing was mapped lies above all others, because the lowest free addresses
 * are taken first. */
static bool recorded_reserve(struct gp_device *device, uint64_t size,
			     uint64_t *addr)
{
	struct recorded *r = recorded_of(device);
	const struct gp_event *request = &r->events[r->stop], *map;
	struct recorded_range range = {
		.size = size,
		.stream = request->stream,
		.pool = request->pool,
		.is_small = request->size <= GP_SMALL_SIZE,
	};

	map = first_map(r, &range);
	device->calls.reserve++;
	*addr = range.addr = map ? map->addr : spare_addresses(r, size);
	add_range(r, &range);
	return true;
}

/* A reservation of the start state: it has the stream and pool of the first
 * segment at or above its address. */
static void recorded_adopt_range(struct gp_device *device, uint64_t addr,
				 uint64_t size)
{
	struct recorded *r = recorded_of(device);
	const struct gp_segment *segment = &r->start->segments[gp_sorted_from(
		GP_SORTED(r->start->segments, r->start->segment_count,
			  struct gp_segment, addr),
		addr)];

	add_range(r,
		  &(struct recorded_range){ addr, size, segment->stream,
					    segment->pool, segment->is_small });
}

static void recorded_unreserve(struct gp_device *device, uint64_t addr,
			       uint64_t size)
{
	struct recorded *r = recorded_of(device);
	size_t i = range_behind(r, addr);

	(void)size;
	device->calls.unreserve++;
	if (i)
		GP_REMOVE(r->ranges, r->range_count, i - 1);
}

static bool recorded_map(struct gp_device *device, uint64_t addr, uint64_t size,
			 uint64_t page)
{
	struct recorded *r = recorded_of(device);
	const struct gp_event *outcome = next_outcome(r);

	if (was_refused(outcome)) {
		device->calls.map_failed++;
		return false;
	}
	gp_call_map(&device->calls, size, page);
	if (!outcome || outcome->kind != GP_SEGMENT_MAP ||
	    outcome->addr != addr) {
		note_surprise(r, RECORDED_NO_SEGMENT, size, 0);
		return true;
	}
	r->at++;
	r->segments++;
	if (outcome->size != size)
		note_surprise(r, RECORDED_OTHER_SIZE, size, outcome->size);
	return true;
}

static void recorded_unmap(struct gp_device *device, uint64_t addr,
			   uint64_t size, uint64_t page)
{
	gp_call_unmap(&device->calls, size, page);
	skip_release(recorded_of(device), GP_SEGMENT_UNMAP, addr);
}

static void recorded_adopt(struct gp_device *device, uint64_t addr,
			   uint64_t size, bool is_mapped)
{
	(void)device;
	(void)addr;
	(void)size;
	(void)is_mapped;
}

static void recorded_destroy(struct gp_device *device)
{
	free(recorded_of(device)->ranges);
}

static const struct gp_device_ops recorded_ops = {
	.name = "recorded",
	.malloc = recorded_malloc,
	.free = recorded_free,
	.info = recorded_info,
	.set_other = recorded_set_other,
	.reserve = recorded_reserve,
	.unreserve = recorded_unreserve,
	.map = recorded_map,
	.unmap = recorded_unmap,
	.adopt = recorded_adopt,
	.adopt_range = recorded_adopt_range,
	.destroy = recorded_destroy,
};

/* Whether the outcome belongs to an empty_cache: segment_alloc, segment_map and
 * releases from pools that are not emptied belong to the next request. */
static bool is_returned(const struct gp_event *event, uint16_t pool)
{
	switch ((enum gp_event_kind)event->kind) {
	case GP_SEGMENT_FREE:
	case GP_SEGMENT_UNMAP: return !pool || event->pool == pool;
	case GP_FREE_COMPLETED:
	case GP_SNAPSHOT: return true;
	case GP_SYNCHRONIZE: return event->id != GP_NO_ID;
	default: return false;
	}
}

size_t recorded_end_of_returns(const struct gp_device_trace *trace,
			       size_t empty_cache)
{
	uint16_t pool = trace->events[empty_cache].pool;
	size_t at = empty_cache + 1;

	while (at < trace->event_count && is_returned(&trace->events[at], pool))
		at++;
	return at;
}

void recorded_init(struct recorded *recorded,
		   const struct gp_device_trace *trace, uint64_t total)
{
	*recorded = (struct recorded){
		.device = { .ops = &recorded_ops },
		.events = trace->events,
		.count = trace->event_count,
		.total = total,
		.spare = SPARE_BASE,
		.start = &trace->start,
	};
}

void recorded_aim(struct recorded *recorded, size_t at, size_t stop)
{
	recorded->at = at;
	recorded->stop = stop;
	recorded->surprise = RECORDED_AGREES;
	recorded->segments = 0;
}

/* The size of a recorded segment_alloc or segment_map of this request that was
 * not requested by the engine; 0: there is none. */
static uint64_t segment_left(const struct recorded *recorded)
{
	for (size_t i = recorded->at; i < recorded->stop; i++)
		if (recorded->events[i].kind == GP_SEGMENT_ALLOC ||
		    recorded->events[i].kind == GP_SEGMENT_MAP)
			return recorded->events[i].size;
	return 0;
}

/* ---- fidelity ---- */

static void mismatch(struct gp_fidelity *fidelity, const struct gp_event *event,
		     uint64_t index, int kind, uint64_t chosen,
		     uint64_t recorded)
{
	struct gp_mismatch *first = &fidelity->first;

	if (first->is_there)
		return;
	*first = (struct gp_mismatch){
		.is_there = true,
		.kind = kind,
		.event = index,
		.requested = event->size,
		.stream = event->stream,
		.pool = event->pool,
		.site = event->site,
		.chosen = chosen,
		.recorded = recorded,
	};
}

static void check_segments(struct gp_fidelity *fidelity,
			   const struct recorded *recorded,
			   const struct gp_event *event, uint64_t index,
			   bool is_out_of_memory)
{
	uint64_t left = segment_left(recorded);

	fidelity->segments_checked +=
		recorded->segments + !!left +
		(recorded->surprise == RECORDED_NO_SEGMENT);
	fidelity->segments_matched +=
		recorded->segments -
		(recorded->surprise == RECORDED_OTHER_SIZE);
	if (recorded->surprise == RECORDED_NO_SEGMENT)
		mismatch(fidelity, event, index, GP_UNEXPECTED_SEGMENT,
			 recorded->asked, 0);
	else if (recorded->surprise == RECORDED_OTHER_SIZE)
		mismatch(fidelity, event, index, GP_WRONG_SEGMENT_SIZE,
			 recorded->asked, recorded->had);
	else if (left && !is_out_of_memory)
		mismatch(fidelity, event, index, GP_MISSING_SEGMENT, 0, left);
}

void fidelity_check(struct gp_fidelity *fidelity,
		    const struct recorded *recorded,
		    const struct gp_event *event, uint64_t index,
		    enum gp_answer answer, uint64_t addr)
{
	bool is_compared = event->addr && !(event->flags & GP_REFUSED);

	check_segments(fidelity, recorded, event, index,
		       is_compared && answer != GP_SERVED);
	if (!is_compared)
		return;
	fidelity->checked++;
	if (answer == GP_SERVED && addr == event->addr)
		fidelity->matched++;
	else
		mismatch(fidelity, event, index,
			 answer == GP_SERVED ? GP_WRONG_ADDRESS
					     : GP_UNEXPECTED_OOM,
			 addr, event->addr);
}

/* ---- the age of start segments, derived from the blocks that were taken
 * ---- */

/* The start segment that contains the address; segment_count: none does. */
static size_t segment_of(const struct gp_state *start, uint64_t addr)
{
	size_t i = 0;

	while (i < start->segment_count &&
	       addr - start->segments[i].addr >= start->segments[i].size)
		i++;
	return i;
}

static uint64_t size_at(const struct candidates *candidates, uint64_t addr)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->list[i].addr == addr)
			return candidates->list[i].size;
	return 0;
}

/* Of the segments without a rank, the one with the lowest address among those
 * not known to be younger than another. */
static size_t next_oldest(const struct order *order, const bool *is_placed)
{
	for (size_t i = 0; i < order->count; i++) {
		bool is_oldest = !is_placed[i];

		for (size_t k = 0; k < order->lesson_count && is_oldest; k++)
			is_oldest = order->lessons[k].younger != i ||
				    is_placed[order->lessons[k].older];
		if (is_oldest)
			return i;
	}
	return order->count;
}

/* Ranks the segments according to all lessons; false: the lessons contradict
 * each other. */
static bool rank(struct order *order)
{
	bool *is_placed = gp_mem_alloc(order->count, sizeof(*is_placed));
	uint32_t n = 0;
	size_t i;

	while ((i = next_oldest(order, is_placed)) < order->count) {
		order->ranks[i] = n++;
		is_placed[i] = true;
	}
	free(is_placed);
	return n == order->count;
}

static void add_lesson(struct order *order, size_t older, size_t younger)
{
	GP_GROW(order->lessons, order->lesson_count + 1, order->lesson_room);
	order->lessons[order->lesson_count++] =
		(struct order_lesson){ (uint32_t)older, (uint32_t)younger };
}

bool order_learn(struct order *order, const struct gp_state *start,
		 const struct gp_mismatch *mismatch,
		 const struct candidates *candidates)
{
	size_t chosen = segment_of(start, mismatch->chosen);
	size_t recorded = segment_of(start, mismatch->recorded);
	uint64_t size = size_at(candidates, mismatch->chosen);

	if (mismatch->kind != GP_WRONG_ADDRESS || chosen == recorded ||
	    chosen == start->segment_count ||
	    recorded == start->segment_count || !size ||
	    size_at(candidates, mismatch->recorded) != size)
		return false;
	if (order->ranks && order->ranks[recorded] < order->ranks[chosen])
		return false; /* known already, so age is not the cause */
	if (!order->ranks) {
		order->count = start->segment_count;
		order->ranks =
			gp_mem_alloc(order->count, sizeof(*order->ranks));
	}
	add_lesson(order, recorded, chosen);
	if (rank(order))
		return true;
	order->lesson_count--;
	rank(order);
	return false;
}

void order_release(struct order *order)
{
	free(order->ranks);
	free(order->lessons);
	*order = (struct order){ 0 };
}
