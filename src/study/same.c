/* SPDX-License-Identifier: MIT */
/* Which settings lead to the same run of a trace. */
#include "study/same.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct listing {
	struct same *same;
	struct gp_map seen; /* sizes */
	size_t room;
};

static void list(struct listing *l, const struct gp_device_trace *t)
{
	struct same *same = l->same;

	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		same->sets_settings |= event->kind == GP_SET_SETTINGS;
		if (event->kind != GP_ALLOC ||
		    gp_map_get(&l->seen, event->size) != GP_MAP_NONE)
			continue;
		gp_map_put(&l->seen, event->size, 0);
		same->sizes =
			gp_mem_grow(same->sizes, &l->room, same->size_count + 1,
				    sizeof(*same->sizes));
		same->sizes[same->size_count++] = event->size;
	}
}

void same_init(struct same *same, const struct gp_trace *trace, uint32_t device)
{
	struct listing l = { .same = same };

	*same = (struct same){ 0 };
	for (uint32_t i = 0; i < trace->device_count; i++)
		if (device == SAME_ALL_DEVICES || device == i)
			list(&l, &trace->devices[i]);
	gp_map_release(&l.seen);
}

void same_release(struct same *same)
{
	free(same->sizes);
	*same = (struct same){ 0 };
}

/* Beside those that struct gp_alike tells of, and rounding. */
static bool is_like(const struct gp_settings *a, const struct gp_settings *b)
{
	return a->release == b->release &&
	       a->memory_fraction == b->memory_fraction &&
	       a->expandable_segments == b->expandable_segments &&
	       a->capture_reuse == b->capture_reuse &&
	       a->throw_on_oom == b->throw_on_oom &&
	       a->reserve_fraction == b->reserve_fraction &&
	       a->reserve_bytes == b->reserve_bytes &&
	       a->pinned_round_most == b->pinned_round_most &&
	       a->pinned_cached_most == b->pinned_cached_most &&
	       a->pinned_reserve == b->pinned_reserve &&
	       a->pinned_background_thread == b->pinned_background_thread;
}

/* What is set in the course of the trace may leave the rounding as it was. */
static bool rounds_alike(const struct same *same, const struct gp_settings *a,
			 const struct gp_settings *b)
{
	if (!memcmp(a->divisions, b->divisions, sizeof(a->divisions)))
		return true;
	for (size_t i = 0; i < same->size_count; i++)
		if (gp_settings_round(a, same->sizes[i]) !=
		    gp_settings_round(b, same->sizes[i]))
			return false;
	return !same->sets_settings;
}

bool same_holds(const struct same *same, const struct gp_alike *alike,
		const struct gp_settings *one, const struct gp_settings *other)
{
	return gp_alike_holds(alike, other) && is_like(one, other) &&
	       rounds_alike(same, one, other);
}
