/* SPDX-License-Identifier: MIT */
/* Stacks of a snapshot in JSON. */
#include <string.h>

#include "base/mem.h"
#include "formats/json_record.h"
#include "formats/json_value.h"

/* Texts of stacks that are kept; a program has some thousands of some KiB. */
#define STACK_BYTES (64u << 20)

static uint32_t frame_of(struct gp_json_snapshot *s, const json_t *object)
{
	const char *file =
		json_string_value(json_object_get(object, "filename"));
	const char *function =
		json_string_value(json_object_get(object, "name"));
	uint64_t line = 0;

	gp_json_number(json_object_get(object, "line"), &line);
	return gp_build_frame(s->build, file ? file : "", line,
			      function ? function : "");
}

uint32_t gp_json_frames_of(struct gp_json_snapshot *s, const json_t *list)
{
	size_t count = json_array_size(list), i;

	s->frames = gp_mem_grow(s->frames, &s->frame_room, count,
				sizeof(*s->frames));
	for (i = 0; i < count; i++)
		s->frames[i] = frame_of(s, json_array_get(list, i));
	return gp_build_site(s->build, s->frames, count);
}

static uint32_t parse(struct gp_json_snapshot *s)
{
	json_t *list = gp_json_parse(s->scan);
	uint32_t site = list ? gp_json_frames_of(s, list) : GP_NO_SITE;

	json_decref(list);
	return site;
}

uint32_t gp_json_frames(struct gp_json_snapshot *s)
{
	size_t known = s->stacks.count;
	uint32_t number;

	if (!gp_json_cut(s->scan))
		return GP_NO_SITE;
	if (s->stack_bytes + s->scan->length > STACK_BYTES)
		return parse(s);
	number = gp_intern(&s->stacks, s->scan->item, s->scan->length);
	if (number < known)
		return s->stack_sites[number];
	s->stack_bytes += s->scan->length;
	s->stack_sites = gp_mem_grow(s->stack_sites, &s->stack_room, known + 1,
				     sizeof(*s->stack_sites));
	s->stack_sites[number] = parse(s);
	return s->stack_sites[number];
}
