/* SPDX-License-Identifier: MIT */
/* PyTorch snapshots as JSON: the object, its lists, and the settings. */
#include "formats/json_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/json_record.h"
#include "formats/json_value.h"

static const enum gp_word top_keys[] = {
	GP_WORD_SEGMENTS,	    GP_WORD_DEVICE_TRACES,
	GP_WORD_ALLOCATOR_SETTINGS, GP_WORD_EXTERNAL_ANNOTATIONS,
	GP_WORD_HOST_SEGMENTS,	    GP_WORD_HOST_TRACES,
};

static enum gp_word find_top(const char *key)
{
	size_t i;

	for (i = 0; i < sizeof(top_keys) / sizeof(*top_keys); i++)
		if (!strcmp(key, gp_word_texts[top_keys[i]]))
			return top_keys[i];
	return GP_WORDS;
}

bool gp_json_snapshot_knows(const char *key)
{
	return find_top(key) != GP_WORDS;
}

struct gp_json_snapshot *gp_json_snapshot_create(struct gp_json_scan *scan,
						 struct gp_diag *diag)
{
	struct gp_json_snapshot *s = gp_mem_alloc(1, sizeof(*s));

	s->scan = scan;
	s->diag = diag;
	s->build = gp_build_create(GP_BUILD_HISTORY);
	s->delivery.build = s->build;
	s->delivery.diag = diag;
	gp_json_pair(s, (struct gp_pool_id){ 0, 0 }); /* number 0 */
	return s;
}

void gp_json_snapshot_destroy(struct gp_json_snapshot *s)
{
	gp_build_destroy(s->build);
	gp_intern_release(&s->pair_of);
	gp_intern_release(&s->stack_texts);
	free(s->delivery.pairs);
	free(s->stacks);
	free(s->frames);
	free(s);
}

/* A list, or null where there is nothing. */
static bool enter_list(struct gp_json_snapshot *s, struct gp_json_walk *walk)
{
	if (gp_json_peek(s->scan) == 'n') {
		gp_json_skip(s->scan);
		return false;
	}
	return gp_json_enter(s->scan, '[', walk);
}

static void read_trace(struct gp_json_snapshot *s, uint64_t ordinal)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!enter_list(s, &walk))
		return;
	while (gp_json_next(s->scan, &walk))
		gp_json_entry(s, ordinal, number++);
}

static void read_traces(struct gp_json_snapshot *s)
{
	struct gp_json_walk walk;
	uint64_t ordinal = 0;

	if (!enter_list(s, &walk))
		return;
	while (gp_json_next(s->scan, &walk))
		read_trace(s, ordinal++);
}

static void read_segments(struct gp_json_snapshot *s)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!enter_list(s, &walk))
		return;
	while (gp_json_next(s->scan, &walk))
		gp_json_segment(s, number++);
}

static void read_annotations(struct gp_json_snapshot *s)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!enter_list(s, &walk))
		return;
	while (gp_json_next(s->scan, &walk))
		gp_json_annotation(s, number++);
}

static bool is_true(const json_t *object, enum gp_word key)
{
	return json_is_true(json_object_get(object, gp_word_texts[key]));
}

static bool read_divisions(const json_t *object, uint32_t *divisions)
{
	bool is_one = false;
	unsigned i;

	for (i = 0; i < GP_DIVISIONS; i++) {
		const char *key = gp_word_texts[GP_WORD_DIVISION + i];
		uint64_t number = 0;

		if (gp_json_number(json_object_get(object, key), &number))
			is_one = true;
		divisions[i] = (uint32_t)number;
	}
	return is_one;
}

static void read_settings(struct gp_json_snapshot *s)
{
	struct gp_snapshot_settings settings = { 0 };
	json_t *object = gp_json_value(s->scan);
	uint32_t divisions[GP_DIVISIONS];
	unsigned word;

	if (json_is_object(object)) {
		for (word = 0; word < GP_WORD_KEYS; word++)
			if (json_object_get(object, gp_word_texts[word]))
				settings.keys |= GP_WORD_BIT(word);
		gp_json_number(json_object_get(object, "max_split_size"),
			       &settings.max_split_size);
		settings.gc_threshold = json_number_value(json_object_get(
			object, gp_word_texts[GP_WORD_GC_THRESHOLD]));
		settings.conf = json_string_value(
			json_object_get(object, gp_word_texts[GP_WORD_CONF]));
		settings.is_expandable =
			is_true(object, GP_WORD_EXPANDABLE_SEGMENTS);
		settings.releases_lock = is_true(object, GP_WORD_RELEASE_LOCK);
		settings.reuses_in_capture =
			is_true(object, GP_WORD_CAPTURE_REUSE);
		if (read_divisions(
			    json_object_get(object,
					    gp_word_texts[GP_WORD_ROUNDUP]),
			    divisions))
			settings.divisions = divisions;
		if (settings.keys)
			gp_snapshot_deliver_settings(&s->delivery, &settings);
	}
	json_decref(object);
}

void gp_json_snapshot_key(struct gp_json_snapshot *s, const char *key)
{
	enum gp_word word = find_top(key);

	if (word != GP_WORDS)
		gp_snapshot_keys_add(&s->delivery.keys, GP_IN_TOP,
				     GP_WORD_BIT(word));
	switch ((unsigned)word) {
	case GP_WORD_SEGMENTS: read_segments(s); break;
	case GP_WORD_DEVICE_TRACES: read_traces(s); break;
	case GP_WORD_ALLOCATOR_SETTINGS: read_settings(s); break;
	case GP_WORD_EXTERNAL_ANNOTATIONS: read_annotations(s); break;
	default: gp_json_skip(s->scan);
	}
	s->has_something |= word != GP_WORDS;
}

void gp_json_snapshot_list(struct gp_json_snapshot *s)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!gp_json_enter(s->scan, '[', &walk))
		return;
	while (gp_json_next(s->scan, &walk)) {
		if (gp_json_peek(s->scan) == '[')
			read_trace(s, number);
		else
			gp_json_entry_or_segment(s, number);
		s->has_something = true;
		number++;
	}
}

enum gp_status gp_json_snapshot_finish(struct gp_json_snapshot *s,
				       struct gp_trace **trace)
{
	struct gp_build *build = s->build;

	if (s->scan->status)
		return s->scan->status;
	if (!s->has_something)
		return gp_diag_foreign(s->diag,
				       "it is an empty list, not a trace");
	gp_build_source(build, "pytorch-snapshot");
	gp_snapshot_keys_bound(&s->delivery.keys, build);
	s->build = NULL;
	return gp_build_finish(build, trace, s->diag);
}
