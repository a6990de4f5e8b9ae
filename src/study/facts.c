/* SPDX-License-Identifier: MIT */
/* What a trace shows whatever its allocator does: live memory, and how it
 * ends. */
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "gpupool/study.h"

/* ---- live memory ---- */

struct live {
	/* How requests are rounded: by settings, or up to a multiple of
	 * round. */
	const struct gp_settings *settings; /* NULL: by round */
	uint64_t round;
	uint64_t *sizes; /* by id; 0: not live */
	uint64_t now, most;
	uint64_t other, most_beside; /* memory of others; peak including it */
	uint64_t event;		     /* the current one, or GP_AT_START */
	uint64_t fullest; /* first event after which that peak is reached */
	uint64_t most_at; /* the same for `most` */
	uint64_t from, to, most_within; /* peak after requests among these */
};

static uint64_t rounded(const struct live *live, uint64_t size)
{
	if (live->settings)
		return gp_settings_round(live->settings, size);
	return gp_round_up(size, live->round);
}

static void note_most(struct live *live)
{
	uint64_t beside = gp_sum(live->now, live->other);

	if (live->now > live->most) {
		live->most = live->now;
		live->most_at = live->event;
	}
	if (beside > live->most_beside) {
		live->most_beside = beside;
		live->fullest = live->event;
	}
}

static void grow(struct live *live, uint64_t size)
{
	live->now += size;
	note_most(live);
}

static void take_beside(struct live *live, uint64_t other)
{
	live->other = other;
	note_most(live);
}

static void give(struct live *live, uint32_t id)
{
	live->now -= live->sizes[id];
	live->sizes[id] = 0;
}

/* Blocks that are never freed in the trace have no id. */
static void begin(struct live *live, const struct gp_state *start)
{
	for (size_t i = 0; i < start->block_count; i++) {
		const struct gp_block *b = &start->blocks[i];
		uint64_t size = rounded(live, b->requested);

		if (b->state != GP_ACTIVE)
			continue;
		/* The requested size is not always known. */
		if (!size || size > b->size)
			size = b->size;
		if (b->id != GP_NO_ID)
			live->sizes[b->id] = size;
		grow(live, size);
	}
}

/* Runs through the trace; returns the updated struct, without sizes. */
static struct live follow(const struct gp_trace *trace, uint32_t device,
			  struct live live)
{
	const struct gp_device_trace *t = &trace->devices[device];

	live.sizes =
		gp_mem_alloc(t->block_ids + (size_t)1, sizeof(*live.sizes));
	live.event = live.fullest = live.most_at = GP_AT_START;
	begin(&live, &t->start);
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		live.event = i;
		if (event->kind == GP_ALLOC) {
			live.sizes[event->id] = rounded(&live, event->size);
			grow(&live, live.sizes[event->id]);
			if (i >= live.from && i < live.to)
				live.most_within =
					gp_larger(live.most_within, live.now);
		} else if (event->kind == GP_FREE) {
			give(&live, event->id);
		} else if (event->kind == GP_OTHER_MEMORY) {
			take_beside(&live, event->size);
		}
	}
	free(live.sizes);
	live.sizes = NULL;
	return live;
}

uint64_t gp_study_live(const struct gp_trace *trace, uint32_t device,
		       uint64_t round)
{
	return follow(trace, device, (struct live){ .round = round }).most;
}

uint64_t gp_study_live_beside(const struct gp_trace *trace, uint32_t device,
			      uint64_t *most)
{
	struct live live = follow(trace, device,
				  (struct live){ .round = GP_MIN_BLOCK_SIZE });

	*most = live.most;
	return live.most_beside;
}

uint64_t gp_study_fullest(const struct gp_trace *trace, uint32_t device)
{
	return follow(trace, device,
		      (struct live){ .round = GP_MIN_BLOCK_SIZE })
		.fullest;
}

uint64_t gp_study_most_live(const struct gp_trace *trace, uint32_t device)
{
	return follow(trace, device,
		      (struct live){ .round = GP_MIN_BLOCK_SIZE })
		.most_at;
}

uint64_t gp_study_live_under(const struct gp_trace *trace, uint32_t device,
			     uint64_t event)
{
	const struct gp_device_trace *t = &trace->devices[device];
	struct live live = { .round = GP_MIN_BLOCK_SIZE,
			     .from = event,
			     .to = event };

	while (live.from && t->events[live.from - 1].kind != GP_SET_FRACTION)
		live.from--;
	while (live.to < t->event_count &&
	       t->events[live.to].kind != GP_SET_FRACTION)
		live.to++;
	return follow(trace, device, live).most_within;
}

uint64_t gp_study_live_rounded(const struct gp_trace *trace, uint32_t device,
			       const struct gp_settings *settings)
{
	return follow(trace, device, (struct live){ .settings = settings })
		.most;
}

/* ---- how the trace ends ---- */

/* The most requests after a failure that ended the program: those of its
 * exception handlers. */
#define LAST_FEW 16

enum gp_ends gp_study_ends(const struct gp_trace *trace, uint32_t device)
{
	const struct gp_device_trace *t = &trace->devices[device];
	size_t behind = 0;

	for (size_t i = t->event_count; i-- > 0 && behind <= LAST_FEW;) {
		if (t->events[i].kind != GP_ALLOC)
			continue;
		if (t->events[i].flags & GP_REFUSED)
			return GP_ENDS_FAILURE;
		behind++;
	}
	return trace->is_complete ? GP_ENDS_END : GP_ENDS_UNKNOWN;
}

static bool is_refused(const struct gp_device_trace *t, uint64_t *event)
{
	for (size_t i = 0; i < t->event_count; i++) {
		if (t->events[i].kind != GP_ALLOC ||
		    !(t->events[i].flags & GP_REFUSED))
			continue;
		*event = i;
		return true;
	}
	return false;
}

bool gp_study_refused(const struct gp_trace *trace, uint32_t *device,
		      uint64_t *event)
{
	for (*device = 0; *device < trace->device_count; ++*device)
		if (is_refused(&trace->devices[*device], event))
			return true;
	return false;
}

bool gp_study_refused_on(const struct gp_trace *trace, uint32_t device)
{
	uint64_t event;

	return is_refused(&trace->devices[device], &event);
}

const char *const gp_begins_names[] = {
	[GP_BEGINS_WHOLE] = "whole",
	[GP_BEGINS_WINDOW] = "window",
};

const char *const gp_ends_names[] = {
	[GP_ENDS_UNKNOWN] = "unknown",
	[GP_ENDS_END] = "end",
	[GP_ENDS_FAILURE] = "failure",
};
