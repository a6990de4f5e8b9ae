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
		GP_GROW(same->sizes, same->size_count + 1, l->room);
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

/* Settings covered by struct gp_alike, and rounding, which is compared by
 * size. */
static bool is_asked_of_later(const struct gp_knob *knob)
{
	return knob->id == GP_KNOB_MAX_SPLIT || knob->id == GP_KNOB_ROUNDUP ||
	       knob->id == GP_KNOB_MAX_NON_SPLIT_ROUNDING ||
	       knob->id == GP_KNOB_GC_THRESHOLD ||
	       knob->id == GP_KNOB_LARGE_SEGMENT;
}

static bool is_like(const struct gp_settings *a, const struct gp_settings *b)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		if (!is_asked_of_later(&knobs[i]) &&
		    !gp_knob_is_equal(&knobs[i], a, b))
			return false;
	return a->release == b->release;
}

/* If the trace changes settings later, only equal divisions are alike: such a
 * change may leave what was set before in effect. */
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
