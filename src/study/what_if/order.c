/* SPDX-License-Identifier: MIT */
/* What-ifs: requests in another order. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "study/what_if/scene.h"

/* A request, to be sorted by size, largest first; equal ones keep their
 * order. */
struct request {
	uint64_t size;
	size_t event;
};

static int by_size(const void *a, const void *b)
{
	const struct request *x = a, *y = b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->event < y->event ? -1 : x->event > y->event;
}

/* ---- long-lived blocks first ---- */

/* Parses "50%" as 0.5. */
static bool parse_share(const char *text, double *share)
{
	char *end;
	unsigned long percent = strtoul(text, &end, 10);

	if (*text < '0' || strcmp(end, "%") != 0 || percent > 100)
		return false;
	*share = (double)percent / 100;
	return true;
}

/* The number of the event that frees each block; the number of events: none. */
static uint64_t *find_frees(const struct gp_draft_device *device)
{
	uint64_t *frees = gp_mem_alloc(device->block_ids, sizeof(*frees));

	for (uint32_t id = 0; id < device->block_ids; id++)
		frees[id] = device->event_count;
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_FREE)
			frees[device->events[i].id] = i;
	return frees;
}

/* The first event after the settings that precede the first request. */
static size_t beginning(const struct gp_draft_device *device)
{
	size_t i = 0;

	while (i < device->event_count &&
	       (device->events[i].kind == GP_SET_FRACTION ||
		device->events[i].kind == GP_SET_SETTINGS ||
		device->events[i].kind == GP_OTHER_MEMORY ||
		device->events[i].kind == GP_MARK))
		i++;
	return i;
}

/* The requests of blocks that live for at least that many events. */
static struct request *find_long_lived(const struct gp_draft_device *device,
				       double least, size_t *count)
{
	uint64_t *frees = find_frees(device);
	struct request *found = NULL;
	uint32_t pools_in_use = 0;
	size_t room = 0;

	*count = 0;
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		pools_in_use = scene_pools_in_use(event, pools_in_use);
		if (event->kind != GP_ALLOC || event->pool || pools_in_use ||
		    (double)(frees[event->id] - i) < least)
			continue;
		GP_GROW(found, *count + 1, room);
		found[(*count)++] = (struct request){ event->size, i };
	}
	free(frees);
	return found;
}

/* Returns the number of blocks. */
static size_t put_first(struct gp_draft_device *device, double share,
			uint64_t *bytes)
{
	size_t count, first = beginning(device);
	struct request *moved = find_long_lived(
		device, share * (double)device->event_count, &count);

	if (count)
		qsort(moved, count, sizeof(*moved), by_size);
	for (size_t i = 0; i < count; i++) {
		gp_draft_add(device, first, &device->events[moved[i].event]);
		gp_draft_leave_out(&device->events[moved[i].event]);
		*bytes += moved[i].size;
	}
	free(moved);
	return count;
}

enum gp_status preallocate(struct scene *scene)
{
	uint64_t blocks = 0, bytes = 0;
	double share;

	if (!parse_share(scene->note->asked.argument, &share))
		return scene_usage(scene, "not a share such as 50%");
	for (size_t d = 0; d < scene->config->trace->device_count; d++)
		blocks += put_first(&scene->draft->devices[d], share, &bytes);
	scene_note(scene, blocks, "block", "requested first, %s in all",
		   GP_BYTES(bytes));
	return GP_OK;
}

/* ---- runs of requests, sorted ---- */

/* Events that may be part of a run: allocs, and outcomes, which are left
 * out. */
static bool belongs(const struct gp_event *event)
{
	return event->kind == GP_ALLOC || event->kind >= GP_FIRST_OUTCOME;
}

/* A run of consecutive requests in sorted order, and their positions. The
 * arrays are reused, because most runs are short. */
struct sorting {
	struct request *run;
	size_t *places;
	struct gp_event *copy;
	size_t run_room, place_room, copy_room;
	size_t count;
};

static void add_to_run(struct sorting *s, const struct gp_event *events,
		       size_t event)
{
	size_t n = s->count + 1;

	GP_GROW(s->run, n, s->run_room);
	GP_GROW(s->places, n, s->place_room);
	GP_GROW(s->copy, n, s->copy_room);
	s->places[s->count] = event;
	s->run[s->count++] = (struct request){ events[event].size, event };
}

/* Requests are permuted; times keep their positions. */
static uint64_t sort_run(struct sorting *s, struct gp_event *events)
{
	uint64_t moved = 0;

	if (s->count < 2)
		return 0;
	qsort(s->run, s->count, sizeof(*s->run), by_size);
	for (size_t i = 0; i < s->count; i++)
		s->copy[i] = events[s->run[i].event];
	for (size_t i = 0; i < s->count; i++) {
		struct gp_event *place = &events[s->places[i]];
		uint64_t time_us = place->time_us;

		*place = s->copy[i];
		place->time_us = time_us;
		moved += s->run[i].event != s->places[i];
	}
	return moved;
}

static uint64_t sort_device(struct gp_draft_device *device)
{
	size_t count = device->event_count;
	struct gp_event *events = device->events;
	struct sorting s = { 0 };
	uint64_t moved = 0;

	for (size_t i = 0; i < count; i++) {
		for (s.count = 0; i < count && belongs(&events[i]); i++)
			if (events[i].kind == GP_ALLOC)
				add_to_run(&s, events, i);
		moved += sort_run(&s, events);
	}
	free(s.run);
	free(s.places);
	free(s.copy);
	return moved;
}

/* Whether a request directly follows a smaller one. */
static bool is_out_of_order(const struct gp_device_trace *device)
{
	uint64_t before = UINT64_MAX;

	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		if (event->kind == GP_ALLOC && event->size > before)
			return true;
		if (event->kind == GP_ALLOC)
			before = event->size;
		else if (!belongs(event))
			before = UINT64_MAX;
	}
	return false;
}

bool has_unsorted_requests(const struct gp_trace *trace)
{
	bool may = false;

	for (size_t d = 0; d < trace->device_count && !may; d++)
		may = is_out_of_order(&trace->devices[d]);
	return may;
}

enum gp_status sort_step(struct scene *scene)
{
	uint64_t moved = 0;

	for (size_t d = 0; d < scene->config->trace->device_count; d++)
		moved += sort_device(&scene->draft->devices[d]);
	scene_note(scene, moved, "request", "moved to another place");
	return GP_OK;
}
