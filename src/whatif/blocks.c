/* Blocks that were never asked for, never freed, or freed earlier. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "whatif/scene.h"
#include "whatif/which.h"

/* ---- never asked for ---- */

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
	char bytes[GP_BYTES_TEXT];
	enum gp_status status =
		which_mark(scene, scene->note->asked.argument, &marked);

	if (status != GP_OK)
		return status;
	for (size_t d = 0; d < marked.devices; d++)
		drop(&scene->draft->devices[d], marked.of[d]);
	scene_note(scene, marked.blocks, "block", "never asked for, %s in all",
		   gp_bytes_text(marked.bytes, bytes));
	marked_release(&marked);
	return GP_OK;
}

/* ---- never freed ---- */

enum gp_status keep_site(struct scene *scene)
{
	struct marked marked;
	char bytes[GP_BYTES_TEXT];
	uint64_t frees = 0;
	char count[GP_COUNT_TEXT];
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
		   "left out, of %s blocks with %s in all",
		   gp_count_text(marked.blocks, count),
		   gp_bytes_text(marked.bytes, bytes));
	marked_release(&marked);
	return GP_OK;
}

/* ---- freed earlier ---- */

/* Cuts ",N" off the end; UINT64_MAX where there is none. */
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

static uint64_t free_early(struct gp_draft_device *device, const bool *marked,
			   uint64_t events)
{
	/* The event behind the last use of each block; 0: the start. */
	uint64_t *earliest =
		gp_mem_alloc((size_t)device->block_ids + 1, sizeof(*earliest));
	uint64_t moved = 0;

	for (size_t i = 0; i < device->event_count; i++) {
		struct gp_event *event = &device->events[i];
		uint64_t to;

		if (!gp_draft_has_block(event) || !marked[event->id])
			continue;
		if (event->kind != GP_FREE) {
			earliest[event->id] = i + 1;
			continue;
		}
		to = i > events ? i - events : 0;
		if (to < earliest[event->id])
			to = earliest[event->id];
		if (to >= i)
			continue;
		gp_draft_add(device, to, event);
		gp_draft_leave_out(event);
		moved++;
	}
	free(earliest);
	return moved;
}

enum gp_status free_earlier(struct scene *scene)
{
	uint64_t events, moved = 0;
	char count[GP_COUNT_TEXT];
	char *which = cut_events(scene->note->asked.argument, &events);
	struct marked marked;
	char bytes[GP_BYTES_TEXT];
	enum gp_status status = which_mark(scene, which, &marked);

	free(which);
	if (status != GP_OK)
		return status;
	for (size_t d = 0; d < marked.devices; d++)
		moved += free_early(&scene->draft->devices[d], marked.of[d],
				    events);
	scene_note(scene, moved, "free", "moved, of %s blocks with %s in all",
		   gp_count_text(marked.blocks, count),
		   gp_bytes_text(marked.bytes, bytes));
	marked_release(&marked);
	return GP_OK;
}
