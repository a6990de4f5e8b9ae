/* SPDX-License-Identifier: MIT */
/*
 * Fingerprints. Two rolling digests are kept during a run: one of its requests,
 * one of the allocator's actions. Both are noted at evenly spaced requests. A
 * later run notes its own at the same requests. Comparing them shows between
 * which two requests the runs diverged, and which of program and allocator
 * diverged first.
 *
 * Requests are counted rather than events: recorded outcomes between them are
 * not the program's doing. Streams and pools are numbered by their order of
 * appearance, because handles differ from process to process; so are addresses,
 * unless the simulated device assigned them.
 */
#include <string.h>

#include "base/map.h"
#include "report/gate/gate.h"

#define MARK_MASK 0xffffff

/* Without settings, blocks exceed their requests by at most this much. Such
 * blocks are left out of the digest, which keeps it the same as in the first
 * baselines. */
#define MOST_UNSPLIT (UINT64_C(1) << 20)

static uint64_t mix(uint64_t digest, uint64_t value)
{
	return gp_hash64(digest * UINT64_C(0x9e3779b97f4a7c15) + value + 1);
}

static uint64_t mix_text(uint64_t digest, const char *text)
{
	for (; *text; text++)
		digest = mix(digest, (unsigned char)*text);
	return digest;
}

static bool is_request(const struct gp_event *event)
{
	return event->kind < GP_FIRST_OUTCOME && event->kind != GP_MARK;
}

static uint64_t mix_event(uint64_t digest, const struct gp_trace *trace,
			  const struct gp_event *event)
{
	uint8_t fields = gp_event_fields(event->kind);
	uint64_t fraction = 0;

	digest = mix(digest, event->kind);
	if (fields & GP_HAS_ID)
		digest = mix(digest, event->id);
	if (fields & GP_HAS_SIZE)
		digest = mix(digest, event->size);
	if (fields & (GP_HAS_STREAM | GP_HAS_POOL))
		digest = mix(digest,
			     (uint64_t)event->stream << 16 | event->pool);
	if (fields & GP_HAS_FRACTION) {
		memcpy(&fraction, &event->fraction, sizeof(fraction));
		digest = mix(digest, fraction);
	}
	if (fields & GP_HAS_TEXT)
		digest = mix_text(digest, trace->texts[event->text]);
	return digest;
}

/* Mixes in the blocks that are live at the beginning of the trace. */
static uint64_t mix_start(uint64_t digest, const struct gp_state *start)
{
	for (size_t i = 0; i < start->segment_count; i++)
		digest = mix(digest, start->segments[i].size);
	for (size_t i = 0; i < start->block_count; i++)
		digest = mix(mix(digest, start->blocks[i].size),
			     start->blocks[i].state);
	return digest;
}

static uint64_t count_requests(const struct gp_device_trace *device)
{
	uint64_t count = 0;

	for (size_t i = 0; i < device->event_count; i++)
		count += is_request(&device->events[i]);
	return count;
}

/* The spacing is a power of two, so that marks keep their places when a trace
 * grows a little. */
static uint64_t fit_spacing(uint64_t requests)
{
	uint64_t spacing = 1;

	while (requests / spacing >= GP_FINGERPRINT_MARKS)
		spacing *= 2;
	return spacing;
}

void gp_fingerprint_begin(struct gp_fingerprint_maker *maker,
			  const struct gp_trace *trace, size_t device,
			  uint64_t spacing, struct gp_fingerprint *fingerprint)
{
	*maker = (struct gp_fingerprint_maker){
		.trace = trace,
		.device = &trace->devices[device],
		.fingerprint = fingerprint,
		.reserved_bound = INT64_MAX,
		.reserved_event = GP_EVENT_NONE,
	};
	*fingerprint = (struct gp_fingerprint){ 0 };
	fingerprint->requests = count_requests(maker->device);
	fingerprint->spacing =
		spacing ? spacing : fit_spacing(fingerprint->requests);
	maker->program = mix_start(1, &maker->device->start);
	maker->allocator = 1;
	maker->reserved += (int64_t)gp_state_reserved(&maker->device->start);
}

static void note_mark(struct gp_fingerprint_maker *maker)
{
	struct gp_fingerprint *fingerprint = maker->fingerprint;

	if (fingerprint->count > GP_FINGERPRINT_MARKS)
		return;
	fingerprint->events[fingerprint->count] = maker->event;
	fingerprint->marks[fingerprint->count++] = (struct gp_fingerprint_mark){
		maker->program & MARK_MASK,
		maker->allocator & MARK_MASK,
	};
}

/* Mixes in the requests before event stop. */
static void pass_requests(struct gp_fingerprint_maker *maker, uint64_t stop)
{
	for (; maker->event < stop; maker->event++) {
		const struct gp_event *event =
			&maker->device->events[maker->event];

		if (!is_request(event))
			continue;
		if (maker->request &&
		    maker->request % maker->fingerprint->spacing == 0)
			note_mark(maker);
		maker->program = mix_event(maker->program, maker->trace, event);
		maker->request++;
	}
}

static void add_up(struct gp_fingerprint_maker *maker,
		   const struct gp_action *action, uint64_t event)
{
	if (gp_event_is_growth(action->kind))
		maker->reserved += (int64_t)action->size;
	if (gp_event_is_release(action->kind))
		maker->reserved -= (int64_t)action->size;
	if (maker->reserved > maker->reserved_bound &&
	    maker->reserved_event == GP_EVENT_NONE)
		maker->reserved_event = event;
}

void gp_fingerprint_action(void *arg, const struct gp_action *action,
			   uint64_t event)
{
	struct gp_fingerprint_maker *maker = arg;
	uint64_t digest;

	pass_requests(maker, event + 1);
	digest = mix(maker->allocator, action->kind);
	digest = mix(digest, action->size);
	if (action->block > action->size + MOST_UNSPLIT)
		digest = mix(digest, action->block);
	digest = mix(digest, (uint64_t)action->stream << 16 | action->pool);
	if (action->id != GP_NO_ID)
		digest = mix(digest, action->id);
	if (maker->has_addresses)
		digest = mix(digest, action->addr);
	maker->allocator = digest;
	add_up(maker, action, event);
}

void gp_fingerprint_end(struct gp_fingerprint_maker *maker)
{
	pass_requests(maker, maker->device->event_count);
	note_mark(maker);
	maker->fingerprint->digest = maker->program;
}

/* The events between a mark and the one before it; the end of the run if the
 * mark is past the last one. */
static struct gp_gate_divergence before(const struct gp_fingerprint *now,
					uint32_t mark, bool is_program)
{
	uint64_t end = now->count ? now->events[now->count - 1] : 0;
	struct gp_gate_divergence divergence = {
		.is_there = true,
		.is_program = is_program,
		.first = end,
		.last = end,
	};

	if (mark < now->count) {
		divergence.first = mark ? now->events[mark - 1] : 0;
		divergence.last = now->events[mark];
		divergence.last -= divergence.last > divergence.first;
	}
	return divergence;
}

static bool same_mark(const struct gp_fingerprint *a,
		      const struct gp_fingerprint *b, uint32_t i)
{
	return a->marks[i].program == b->marks[i].program &&
	       a->marks[i].allocator == b->marks[i].allocator;
}

/* The number of marks that are at the same requests in both. The last mark of
 * each is at its end, which may be at different requests. */
static uint32_t common_marks(const struct gp_fingerprint *a,
			     const struct gp_fingerprint *b)
{
	uint64_t shorter =
		a->requests < b->requests ? a->requests : b->requests;
	uint64_t marks = shorter / a->spacing;

	if (a->requests == b->requests)
		marks = a->count;
	if (marks > a->count)
		marks = a->count;
	return (uint32_t)(marks > b->count ? b->count : marks);
}

struct gp_gate_divergence gp_fingerprint_compare(
	const struct gp_fingerprint *baseline, const struct gp_fingerprint *now)
{
	uint32_t common = common_marks(baseline, now), i = 0;

	while (i < common && same_mark(baseline, now, i))
		i++;
	if (i < common)
		return before(now, i,
			      baseline->marks[i].program !=
				      now->marks[i].program);
	if (baseline->requests != now->requests ||
	    baseline->digest != now->digest)
		return before(now, i, true);
	return (struct gp_gate_divergence){ 0 };
}
