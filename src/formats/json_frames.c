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

/* A program's stacks come in the order of the step before. */
static uint32_t follow(struct gp_json_snapshot *s, uint32_t number)
{
	s->stacks[s->last_stack].after = number;
	s->last_stack = number;
	return s->stacks[number].site;
}

static void add_stack(struct gp_json_snapshot *s, uint32_t number)
{
	const struct gp_json_scan *scan = s->scan;
	bool is_list = scan->item[scan->length - 1] == ']';
	size_t length = scan->length;
	uint32_t site = parse(s);

	s->stack_bytes += length;
	s->stacks = gp_mem_grow(s->stacks, &s->stack_room, number + 1,
				sizeof(*s->stacks));
	s->stacks[number] =
		(struct gp_json_stack){ .length = is_list ? length : 0,
					.site = site };
}

uint32_t gp_json_frames(struct gp_json_snapshot *s)
{
	size_t known = s->stack_texts.count;
	uint32_t number;

	if (!gp_json_cut(s->scan))
		return GP_NO_SITE;
	if (s->stack_bytes + s->scan->length > STACK_BYTES)
		return parse(s);
	number = gp_intern(&s->stack_texts, s->scan->item, s->scan->length);
	if (number == known)
		add_stack(s, number);
	return follow(s, number);
}

/* A list ends by itself: nothing else begins with all of its text. */
static bool is_foretold(const struct gp_json_snapshot *s,
			const unsigned char *at, uint32_t number)
{
	size_t length = s->stacks[number].length;

	return length && length < (size_t)(s->scan->source->end - at) &&
	       !memcmp(s->stack_texts.texts[number], at, length);
}

bool gp_json_plain_frames(struct gp_json_snapshot *s, struct gp_plain *p,
			  uint32_t *site)
{
	const unsigned char *end;
	uint32_t number;

	if (!s->stack_texts.count)
		return false;
	number = s->stacks[s->last_stack].after;
	if (is_foretold(s, p->at, number)) {
		p->at += s->stacks[number].length;
	} else {
		end = gp_json_past(s->scan, p->at);
		if (!end)
			return false;
		number = gp_intern_find(&s->stack_texts, (const char *)p->at,
					(size_t)(end - p->at));
		if (number == GP_INTERN_NONE)
			return false;
		p->at = end;
	}
	*site = follow(s, number);
	return true;
}
