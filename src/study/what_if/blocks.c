/* SPDX-License-Identifier: MIT */
/* What-ifs: blocks that are never allocated, never freed, or freed earlier. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "study/what_if/scene.h"

/* ---- never allocated ---- */

static void drop(struct gp_draft_device *device, const bool *marked)
{
	for (size_t i = 0; i < device->block_count; i++)
		if (device->blocks[i].id != GP_NO_ID &&
		    marked[device->blocks[i].id])
			gp_draft_set_free(&device->blocks[i]);
	for (size_t i = 0; i < device->event_count; i++)
		if (gp_draft_has_block(&device->events[i]) &&
		    marked[device->events[i].id])
			gp_draft_leave_out(&device->events[i]);
}

enum gp_status without_site(struct scene *scene)
{
	struct marked marked;
	enum gp_status status =
		which_mark(scene, scene->note->asked.argument, &marked);

	if (status != GP_OK)
		return status;
	for (size_t d = 0; d < marked.devices; d++)
		drop(&scene->draft->devices[d], marked.of[d]);
	scene_note(scene, marked.blocks, "block", "never requested, %s in all",
		   GP_BYTES(marked.bytes));
	marked_release(&marked);
	return GP_OK;
}

/* ---- never freed ---- */

enum gp_status keep_site(struct scene *scene)
{
	struct marked marked;
	uint64_t frees = 0;
	enum gp_status status =
		which_mark(scene, scene->note->asked.argument, &marked);

	if (status != GP_OK)
		return status;
	for (size_t d = 0; d < marked.devices; d++) {
		struct gp_draft_device *device = &scene->draft->devices[d];

		for (size_t i = 0; i < device->event_count; i++) {
			struct gp_event *event = &device->events[i];

			if (event->kind != GP_FREE || !marked.of[d][event->id])
				continue;
			gp_draft_leave_out(event);
			frees++;
		}
	}
	scene_note(scene, frees, "free",
		   "left out; blocks selected: %s, %s in all",
		   GP_COUNT(marked.blocks), GP_BYTES(marked.bytes));
	marked_release(&marked);
	return GP_OK;
}

/* ---- freed earlier ---- */

/* Splits off ",N" at the end; *events is UINT64_MAX if there is none. */
static char *cut_events(const char *argument, uint64_t *events)
{
	const char *comma = strrchr(argument, ',');
	size_t digits = comma ? strspn(comma + 1, "0123456789") : 0;

	*events = UINT64_MAX;
	if (!digits || comma[1 + digits])
		return gp_mem_copy_text(argument, strlen(argument));
	*events = strtoull(comma + 1, NULL, 10);
	return gp_mem_copy_text(argument, (size_t)(comma - argument));
}

/* A block while walking over the events. */
struct use {
	uint64_t after; /* the event after its last use; 0: the start */
	uint64_t size;	/* as requested */
	bool is_live;
};

/* The new position of a free, moved forward by `events` but not beyond the last
 * use. */
static uint64_t earlier(uint64_t event, uint64_t events, const struct use *use)
{
	uint64_t to = event > events ? event - events : 0;

	return to < use->after ? use->after : to;
}

static uint64_t move_free(struct gp_draft_device *device, size_t at,
			  uint64_t events, const struct use *use)
{
	struct gp_event *event = &device->events[at];
	uint64_t to = earlier(at, events, use);

	if (to >= at)
		return 0;
	gp_draft_add(device, to, event);
	gp_draft_leave_out(event);
	return 1;
}

/* Blocks that are never freed are treated as freed at the end. */
static uint64_t free_rest(struct gp_draft_device *device, uint32_t ids,
			  uint64_t events, const struct use *uses)
{
	uint64_t added = 0;

	for (uint32_t id = 0; id < ids; id++) {
		struct gp_event event = {
			.kind = GP_FREE,
			.size = uses[id].size,
			.id = id,
			.site = GP_NO_SITE,
			.flags = GP_AT_ONCE,
		};

		if (!uses[id].is_live)
			continue;
		gp_draft_add(device,
			     earlier(device->event_count, events, &uses[id]),
			     &event);
		added++;
	}
	return added;
}

static uint64_t free_early(struct gp_draft_device *device, const bool *marked,
			   uint64_t events)
{
	struct use *uses = gp_mem_alloc(device->block_ids, sizeof(*uses));
	uint64_t moved = 0;

	for (size_t i = 0; i < device->block_count; i++) {
		const struct gp_block *block = &device->blocks[i];

		if (block->state == GP_ACTIVE && marked[block->id])
			uses[block->id] =
				(struct use){ 0, block->requested, true };
	}
	for (size_t i = 0; i < device->event_count; i++) {
		struct gp_event *event = &device->events[i];
		struct use *use;

		if (!gp_draft_has_block(event) || !marked[event->id])
			continue;
		use = &uses[event->id];
		if (event->kind == GP_ALLOC)
			*use = (struct use){ i + 1, event->size, true };
		else if (event->kind != GP_FREE)
			use->after = i + 1;
		if (event->kind != GP_FREE)
			continue;
		use->is_live = false;
		moved += move_free(device, i, events, use);
	}
	moved += free_rest(device, device->block_ids, events, uses);
	free(uses);
	return moved;
}

enum gp_status free_earlier(struct scene *scene)
{
	uint64_t events, moved = 0;
	char *which = cut_events(scene->note->asked.argument, &events);
	struct marked marked;
	enum gp_status status = which_mark(scene, which, &marked);

	free(which);
	if (status != GP_OK)
		return status;
	for (size_t d = 0; d < marked.devices; d++)
		moved += free_early(&scene->draft->devices[d], marked.of[d],
				    events);
	scene_note(scene, moved, "free",
		   "moved; blocks selected: %s, %s in all",
		   GP_COUNT(marked.blocks), GP_BYTES(marked.bytes));
	marked_release(&marked);
	return GP_OK;
}
