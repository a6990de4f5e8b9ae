/* SPDX-License-Identifier: MIT */
/* Where a number that is worse shows first. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/gate/gate.h"
#include "report/report.h"

enum clue {
	CLUE_RESERVED,	/* the first moment beyond the bound */
	CLUE_OOM,	/* the first of them */
	CLUE_DROPPED,	/* the first oom or refusal */
	CLUE_FIDELITY,	/* the first mismatch */
	CLUE_ALLOCATED, /* since when the counter has been beyond the bound */
	CLUE_PEAK_ALLOCATED, /* the first moment beyond the bound */
	CLUE_RETRIES,	     /* as CLUE_ALLOCATED */
};

static const struct {
	const char *name;
	enum clue clue;
} clues[] = {
	{ "peak_reserved_bytes", CLUE_RESERVED },
	{ "reserved_bytes.all.peak", CLUE_RESERVED },
	{ "peak_allocated_bytes", CLUE_PEAK_ALLOCATED },
	{ "allocated_bytes.all.peak", CLUE_ALLOCATED },
	{ "num_alloc_retries", CLUE_RETRIES },
	{ "num_ooms", CLUE_OOM },
	{ "dropped", CLUE_DROPPED },
	{ "fidelity", CLUE_FIDELITY },
};

static uint64_t first_dropped(const struct gp_replay_result *result)
{
	uint64_t oom = result->first_oom.is_there ? result->first_oom.event
						  : GP_EVENT_NONE;
	uint64_t refusal =
		result->refused ? result->first_refusal_event : GP_EVENT_NONE;

	return oom < refusal ? oom : refusal;
}

static uint64_t event_of(enum clue clue, const struct gp_replay_result *result,
			 const struct gp_print_maker *maker,
			 const struct gp_gate_watch *watch)
{
	switch (clue) {
	case CLUE_ALLOCATED: return watch->event[GP_WATCH_ALLOCATED];
	case CLUE_PEAK_ALLOCATED: return watch->event[GP_WATCH_PEAK_ALLOCATED];
	case CLUE_RETRIES: return watch->event[GP_WATCH_RETRIES];
	case CLUE_RESERVED: return maker->reserved_event;
	case CLUE_OOM:
		return result->first_oom.is_there ? result->first_oom.event
						  : GP_EVENT_NONE;
	case CLUE_DROPPED: return first_dropped(result);
	case CLUE_FIDELITY:
		return result->fidelity.first.is_there
			       ? result->fidelity.first.event
			       : GP_EVENT_NONE;
	}
	return GP_EVENT_NONE;
}

static void describe(struct gp_gate_verdict *verdict,
		     const struct gp_print_maker *maker)
{
	const struct gp_event *event = &maker->device->events[verdict->event];
	const char *kind = gp_event_kind_name(event->kind);
	char size[GP_BYTES_TEXT];

	snprintf(verdict->about, sizeof(verdict->about), "%s", kind);
	if (event->kind == GP_ALLOC)
		snprintf(verdict->about, sizeof(verdict->about), "%s of %s",
			 kind, gp_bytes_text(event->size, size));
	gp_event_words(maker->trace,
		       (uint32_t)(maker->device - maker->trace->devices),
		       verdict->event, verdict->where);
}

static bool has_clue(const char *name, enum clue clue)
{
	for (size_t i = 0; i < sizeof(clues) / sizeof(*clues); i++)
		if (clues[i].clue == clue && !strcmp(clues[i].name, name))
			return true;
	return false;
}

int64_t gp_gate_reserved_bound(const struct gp_gate_run *run,
			       const struct gp_numbers *numbers,
			       const struct gp_reading *baseline)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < run->limit_count; i++) {
		const struct gp_limit *limit = &run->limits[i];
		const struct gp_number *number = &numbers->items[limit->number];
		int64_t bound;

		if (limit->kind == GP_LIMIT_NONE ||
		    !has_clue(number->name, CLUE_RESERVED))
			continue;
		bound = gp_limit_bound(limit, number,
				       baseline[limit->number].value);
		least = bound < least ? bound : least;
	}
	return least;
}

static int64_t watched(const struct gp_stats *stats, enum gp_watched which)
{
	const struct gp_stat *allocated =
		&stats->by_pool[GP_STAT_ALLOCATED_BYTES][GP_STAT_ALL];

	if (which == GP_WATCH_RETRIES)
		return stats->num_alloc_retries;
	if (which == GP_WATCH_PEAK_ALLOCATED)
		return allocated->current;
	return allocated->peak;
}

bool gp_gate_watch_begin(struct gp_gate_watch *watch,
			 const struct gp_numbers *numbers,
			 const struct gp_gate_verdict *verdicts, size_t count)
{
	static const enum clue clue_of[GP_WATCHES] = {
		[GP_WATCH_ALLOCATED] = CLUE_ALLOCATED,
		[GP_WATCH_PEAK_ALLOCATED] = CLUE_PEAK_ALLOCATED,
		[GP_WATCH_RETRIES] = CLUE_RETRIES,
	};
	bool any = false;

	*watch = (struct gp_gate_watch){ 0 };
	for (int w = 0; w < GP_WATCHES; w++) {
		watch->event[w] = GP_EVENT_NONE;
		watch->bound[w] = INT64_MAX;
		for (size_t i = 0; i < count; i++) {
			const struct gp_gate_verdict *v = &verdicts[i];
			size_t number = v->limit->number;

			if (!v->is_worse ||
			    !has_clue(numbers->items[number].name, clue_of[w]))
				continue;
			any = watch->is_worse[w] = true;
			if (v->bound < watch->bound[w])
				watch->bound[w] = v->bound;
		}
	}
	return any;
}

void gp_gate_watch_look(void *arg, struct gp_allocator *allocator,
			uint64_t event)
{
	const struct gp_stats *stats = allocator->ops->stats(allocator);
	struct gp_gate_watch *watch = arg;

	for (int w = 0; w < GP_WATCHES; w++) {
		bool is_beyond =
			watched(stats, (enum gp_watched)w) > watch->bound[w];

		if (!watch->is_worse[w])
			continue;
		/* A reset of the counters begins anew. */
		if (!is_beyond && w != GP_WATCH_PEAK_ALLOCATED)
			watch->event[w] = GP_EVENT_NONE;
		else if (is_beyond && watch->event[w] == GP_EVENT_NONE)
			watch->event[w] = event;
	}
}

void gp_verdict_locate(struct gp_gate_verdict *verdict,
		       const struct gp_numbers *numbers,
		       const struct gp_replay_result *result,
		       const struct gp_print_maker *maker,
		       const struct gp_gate_watch *watch)
{
	const char *name = numbers->items[verdict->limit->number].name;

	if (!verdict->is_worse)
		return;
	for (size_t i = 0; i < sizeof(clues) / sizeof(*clues); i++)
		if (!strcmp(clues[i].name, name))
			verdict->event =
				event_of(clues[i].clue, result, maker, watch);
	if (verdict->event < maker->device->event_count)
		describe(verdict, maker);
}
