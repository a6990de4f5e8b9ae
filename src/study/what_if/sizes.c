/* SPDX-License-Identifier: MIT */
/* What-if: requests rounded up to size classes. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "study/what_if/scene.h"

#define MOST_CLASSES 256
#define MOST_STEPS   1024 /* most steps per power of two */

struct classes {
	enum { MULTIPLES, POWERS, LIST } kind;
	uint64_t step;		      /* MULTIPLES: bytes; POWERS: steps */
	uint64_t sizes[MOST_CLASSES]; /* LIST: ascending */
	size_t count;
};

static uint64_t round_to(uint64_t size, uint64_t step)
{
	uint64_t over = size % step;

	return over && size <= INT64_MAX - step ? size + step - over : size;
}

static uint64_t round_up(const struct classes *classes, uint64_t size)
{
	uint64_t power = 1;

	if (!size)
		return size;
	if (classes->kind == MULTIPLES)
		return round_to(size, classes->step);
	if (classes->kind == LIST) {
		for (size_t i = 0; i < classes->count; i++)
			if (size <= classes->sizes[i])
				return classes->sizes[i];
		return size;
	}
	while (power <= size / 2)
		power *= 2;
	return power == size ? size
			     : round_to(size, power > classes->step
						      ? power / classes->step
						      : 1);
}

/* ---- parsing ---- */

static bool parse_powers(const char *text, struct classes *classes)
{
	char *end;
	unsigned long steps = 1;

	classes->kind = POWERS;
	if (text[4] == '/') {
		steps = strtoul(text + 5, &end, 10);
		if (*end)
			return false;
	} else if (text[4]) {
		return false;
	}
	classes->step = steps;
	return steps >= 1 && steps <= MOST_STEPS && !(steps & (steps - 1));
}

static bool add_class(struct classes *classes, const char *text, size_t length)
{
	char *one = gp_mem_copy_text(text, length);
	uint64_t size = 0;
	bool ok =
		gp_bytes_parse(one, &size) && size && size <= INT64_MAX &&
		classes->count < MOST_CLASSES &&
		(!classes->count || size > classes->sizes[classes->count - 1]);

	free(one);
	if (ok)
		classes->sizes[classes->count++] = size;
	return ok;
}

static bool parse(const char *text, struct classes *classes)
{
	*classes = (struct classes){ .kind = LIST };
	if (!strncmp(text, "pow2", 4))
		return parse_powers(text, classes);
	for (;; text++) {
		size_t length = strcspn(text, ",");

		if (!add_class(classes, text, length))
			return false;
		text += length;
		if (!*text)
			break;
	}
	if (classes->count > 1)
		return true;
	classes->kind = MULTIPLES;
	classes->step = classes->sizes[0];
	return true;
}

/* ---- the what-if ---- */

struct rounded {
	uint64_t requests, bytes;
};

static void round_device(const struct classes *classes,
			 struct gp_draft_device *device,
			 struct rounded *rounded)
{
	uint64_t *sizes = gp_mem_alloc(device->block_ids, sizeof(*sizes));

	for (size_t i = 0; i < device->event_count; i++) {
		struct gp_event *event = &device->events[i];

		if (event->kind == GP_ALLOC) {
			uint64_t size = round_up(classes, event->size);

			rounded->requests += size != event->size;
			rounded->bytes += size - event->size;
			event->size = sizes[event->id] = size;
		} else if (event->kind == GP_FREE && sizes[event->id]) {
			event->size = sizes[event->id];
		}
	}
	free(sizes);
}

enum gp_status round_sizes(struct scene *scene)
{
	struct classes classes;
	struct rounded rounded = { 0 };

	if (!parse(scene->note->asked.argument, &classes))
		return scene_usage(scene, "not a size, a list of ascending "
					  "sizes, pow2 or pow2/8");
	for (size_t d = 0; d < scene->config->trace->device_count; d++)
		round_device(&classes, &scene->draft->devices[d], &rounded);
	scene_note(scene, rounded.requests, "request",
		   "rounded up, by %s in all", GP_BYTES(rounded.bytes));
	return GP_OK;
}
