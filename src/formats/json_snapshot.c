/* SPDX-License-Identifier: MIT */
/*
 * PyTorch snapshots as written by json.dump: entries, segments and blocks are
 * read key by key and delivered one by one (snapshot_record.h). Stacks, which
 * make up most of such a file and recur often, are recognised by their text and
 * parsed once.
 */
#include "formats/readers.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "formats/snapshot_record.h"

/* A list of frames, by its text. */
struct stack {
	size_t length; /* 0: its text does not determine its end */
	uint32_t site;
	uint32_t after; /* the stack that followed it last time */
};

struct json_snapshot {
	struct gp_json_scan *scan; /* borrowed */
	struct gp_diag *diag;
	struct gp_build *build;
	struct gp_snapshot_delivery delivery;
	struct gp_intern pair_of; /* the bytes of a struct gp_pool_id */
	size_t pair_room;
	struct gp_intern stack_texts; /* of frames, up to a limit */
	struct stack *stacks;	      /* by number of their text */
	size_t stack_room, stack_bytes;
	uint32_t last_stack;
	/* the key that followed in the previous entry */
	uint8_t key_after[GP_WORDS + 1];
	uint32_t *frames; /* of the stack being read */
	size_t frame_room;
	bool has_something;
};

/* ---- stacks ---- */

/* Most bytes of stacks kept; a program has some thousands of stacks, of some
 * KiB each. */
#define STACK_BYTES (64u << 20)

static uint32_t frame_of(struct json_snapshot *s, const json_t *object)
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

static bool is_frame(const json_t *object)
{
	return json_object_get(object, "filename") ||
	       json_object_get(object, "line");
}

/* Elements that are not frames are left out. */
static uint32_t frames_of(struct json_snapshot *s, const json_t *list)
{
	size_t most = json_array_size(list), count = 0;

	GP_GROW(s->frames, most, s->frame_room);
	for (size_t i = 0; i < most; i++) {
		const json_t *object = json_array_get(list, i);

		if (is_frame(object))
			s->frames[count++] = frame_of(s, object);
	}
	return gp_build_site(s->build, s->frames, count);
}

static uint32_t parse(struct json_snapshot *s)
{
	json_t *list = gp_json_parse(s->scan);
	uint32_t site = list ? frames_of(s, list) : GP_NO_SITE;

	json_decref(list);
	return site;
}

/* Within a step, a program's stacks come in the order of the previous step. */
static uint32_t follow(struct json_snapshot *s, uint32_t number)
{
	s->stacks[s->last_stack].after = number;
	s->last_stack = number;
	return s->stacks[number].site;
}

static void add_stack(struct json_snapshot *s, uint32_t number)
{
	const struct gp_json_scan *scan = s->scan;
	bool is_list = scan->item[scan->length - 1] == ']';
	size_t length = scan->length;
	uint32_t site = parse(s);

	s->stack_bytes += length;
	GP_GROW(s->stacks, number + 1, s->stack_room);
	s->stacks[number] =
		(struct stack){ .length = is_list ? length : 0, .site = site };
}

static uint32_t read_frames(struct json_snapshot *s)
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

/* No other value begins with the whole text of a list, so a prefix match
 * suffices. */
static bool is_announced(const struct json_snapshot *s, const unsigned char *at,
			 uint32_t number)
{
	size_t length = s->stacks[number].length;

	return length && length < (size_t)(s->scan->source->end - at) &&
	       !memcmp(s->stack_texts.texts[number], at, length);
}

static bool plain_frames(struct json_snapshot *s, struct gp_plain *p,
			 uint32_t *site)
{
	const unsigned char *end;
	uint32_t number;

	if (!s->stack_texts.count)
		return false;
	number = s->stacks[s->last_stack].after;
	if (is_announced(s, p->at, number)) {
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

static uint32_t number_pair(struct json_snapshot *s, struct gp_pool_id id)
{
	size_t known = s->pair_of.count;
	uint32_t number = gp_intern(&s->pair_of, (const char *)&id, sizeof(id));

	if (number < known)
		return number;
	GP_GROW(s->delivery.pairs, known + 1, s->pair_room);
	s->delivery.pairs[number] = (struct gp_snapshot_pair){ id, GP_NO_POOL };
	return number;
}

/* ---- values: each sets the key's bit in *bad if the value is invalid ---- */

static enum gp_word find_word(struct gp_plain_text text, enum gp_word first,
			      enum gp_word last)
{
	unsigned word;

	for (word = first; word <= last; word++)
		if (gp_plain_is(text, gp_word_texts[word]))
			return (enum gp_word)word;
	return GP_WORDS;
}

static void take_number(const struct gp_json_scalar *value, enum gp_word key,
			uint64_t *to, uint64_t *bad)
{
	if (value->kind == GP_JSON_NUMBER)
		*to = value->number;
	else
		*bad |= GP_WORD_BIT(key);
}

/* A handle may have its top bit set; PyTorch writes it as a signed number. */
static void take_stream(const struct gp_json_scalar *value, uint64_t *to,
			uint64_t *bad)
{
	if (json_is_integer(value->json))
		*to = (uint64_t)json_integer_value(value->json);
	else
		take_number(value, GP_WORD_STREAM, to, bad);
}

static void take_pair(struct json_snapshot *s,
		      const struct gp_json_scalar *value, enum gp_word key,
		      uint32_t *to, uint64_t *bad)
{
	if (value->kind == GP_JSON_PAIR)
		*to = number_pair(s, value->pair);
	else
		*bad |= GP_WORD_BIT(key);
}

static uint8_t word_of(const struct gp_json_scalar *value, enum gp_word first,
		       enum gp_word last)
{
	if (value->kind != GP_JSON_TEXT)
		return GP_WORDS;
	return (uint8_t)find_word(value->text, first, last);
}

static void take_word(const struct gp_json_scalar *value, enum gp_word key,
		      enum gp_word first, enum gp_word last, uint8_t *to,
		      uint64_t *bad)
{
	*to = word_of(value, first, last);
	if (*to == GP_WORDS)
		*bad |= GP_WORD_BIT(key);
}

/* ---- objects, key by key ---- */

typedef void set_key(struct json_snapshot *s, void *record, enum gp_word key);

/* Reads an object, starting at its first key. */
static void read_keys(struct json_snapshot *s, struct gp_json_walk *walk,
		      char *key, set_key *set, void *record)
{
	do {
		enum gp_word word =
			find_word((struct gp_plain_text){ key, strlen(key) }, 0,
				  GP_WORD_KEYS - 1);

		if (word == GP_WORDS)
			gp_json_skip(s->scan);
		else
			set(s, record, word);
	} while (gp_json_next_key(s->scan, walk, key));
}

static void read_object(struct json_snapshot *s, set_key *set, void *record)
{
	char key[GP_JSON_KEY_ROOM];
	struct gp_json_walk walk;

	if (gp_json_enter(s->scan, '{', &walk) &&
	    gp_json_next_key(s->scan, &walk, key))
		read_keys(s, &walk, key, set, record);
}

/* ---- entries ---- */

static void set_entry_value(struct json_snapshot *s,
			    struct gp_snapshot_entry *entry, enum gp_word key,
			    const struct gp_json_scalar *value)
{
	uint64_t bad = 0;

	switch ((unsigned)key) {
	case GP_WORD_ACTION:
		entry->action = word_of(value, GP_WORD_ALLOC, GP_WORD_ANNOTATE);
		break;
	case GP_WORD_ADDR:
	case GP_WORD_DEVICE_FREE:
		take_number(value, key, &entry->addr, &bad);
		break;
	case GP_WORD_SIZE: take_number(value, key, &entry->size, &bad); break;
	case GP_WORD_STREAM: take_stream(value, &entry->stream, &bad); break;
	case GP_WORD_TIME_US:
		take_number(value, key, &entry->time_us, &bad);
		break;
	case GP_WORD_POOL_ID:
		take_pair(s, value, key, &entry->pair, &bad);
		break;
	default: break;
	}
	entry->bad |= (uint16_t)bad;
}

static void set_entry(struct json_snapshot *s, void *record, enum gp_word key)
{
	struct gp_snapshot_entry *entry = record;
	struct gp_json_scalar value;

	entry->keys |= (uint16_t)GP_WORD_BIT(key);
	if (key == GP_WORD_FRAMES) {
		entry->site = read_frames(s);
		return;
	}
	gp_json_scalar(s->scan, &value);
	set_entry_value(s, entry, key, &value);
	json_decref(value.json);
}

static void deliver_entry(struct json_snapshot *s, uint64_t ordinal,
			  const struct gp_snapshot_entry *entry, size_t number)
{
	if (!s->scan->status)
		s->scan->status = gp_snapshot_deliver_entries(
			&s->delivery, ordinal, entry, 1, number);
}

static const struct gp_snapshot_entry no_entry = { .site = GP_NO_SITE,
						   .action = GP_WORDS };

/* Keys come in the same order in every entry, so the key that followed last
 * time is compared first. */
static enum gp_word find_key(struct json_snapshot *s, struct gp_plain_text text,
			     enum gp_word before)
{
	enum gp_word key = s->key_after[before];

	if (gp_plain_is(text, gp_word_texts[key]))
		return key;
	key = find_word(text, 0, GP_WORD_KEYS - 1);
	if (key != GP_WORDS)
		s->key_after[before] = (uint8_t)key;
	return key;
}

/* Parses the value of a key; false: it is not plain. */
static bool plain_value(struct json_snapshot *s, struct gp_plain *p,
			struct gp_snapshot_entry *entry, enum gp_word key)
{
	struct gp_json_scalar value;

	gp_plain_next(p);
	if (key == GP_WORDS)
		return gp_plain_skip(p);
	entry->keys |= (uint16_t)GP_WORD_BIT(key);
	if (key == GP_WORD_FRAMES)
		return plain_frames(s, p, &entry->site);
	if (key == GP_WORD_USER_METADATA || key == GP_WORD_COMPILE_CONTEXT)
		return gp_plain_skip(p);
	if (!gp_json_plain_scalar(p, &value))
		return false;
	set_entry_value(s, entry, key, &value);
	return true;
}

/* Parses the next entry in place, which works for most. False: it is not plain,
 * or not all in the window; nothing is read then. */
static bool plain_entry(struct json_snapshot *s,
			struct gp_snapshot_entry *entry)
{
	struct gp_plain p = { .at = gp_json_ahead(s->scan) };
	enum gp_word key = GP_WORDS;
	struct gp_plain_text text;

	if (!p.at || !gp_plain_step(&p, '{'))
		return false;
	do {
		gp_plain_next(&p);
		if (!gp_plain_string(&p, &text) || !gp_plain_step(&p, ':'))
			return false;
		key = find_key(s, text, key);
		if (!plain_value(s, &p, entry, key))
			return false;
	} while (gp_plain_step(&p, ','));
	if (!gp_plain_step(&p, '}'))
		return false;
	s->scan->source->at = p.at;
	s->scan->line += p.lines;
	return true;
}

static void read_entry(struct json_snapshot *s, uint64_t ordinal, size_t number)
{
	struct gp_snapshot_entry entry = no_entry;

	if (!plain_entry(s, &entry)) {
		entry = no_entry;
		read_object(s, set_entry, &entry);
	}
	deliver_entry(s, ordinal, &entry, number);
}

/* ---- blocks ---- */

/* 2.0: the latest allocation comes first. */
static uint32_t history_site(struct json_snapshot *s, const json_t *value)
{
	const json_t *frames =
		json_object_get(json_array_get(value, 0), "frames");

	return frames ? frames_of(s, frames) : GP_NO_SITE;
}

static void set_block(struct json_snapshot *s, void *record, enum gp_word key)
{
	struct gp_snapshot_block *block = record;
	struct gp_json_scalar value;

	block->keys |= GP_WORD_BIT(key);
	if (key == GP_WORD_FRAMES) {
		block->site = read_frames(s);
		return;
	}
	gp_json_scalar(s->scan, &value);
	switch ((unsigned)key) {
	case GP_WORD_ADDRESS:
		take_number(&value, key, &block->addr, &block->bad);
		break;
	case GP_WORD_SIZE:
		take_number(&value, key, &block->size, &block->bad);
		break;
	case GP_WORD_REQUESTED_SIZE:
		take_number(&value, key, &block->requested, &block->bad);
		break;
	case GP_WORD_STATE:
		take_word(&value, key, GP_WORD_ACTIVE_ALLOCATED,
			  GP_WORD_INACTIVE, &block->state, &block->bad);
		break;
	case GP_WORD_HISTORY: block->site = history_site(s, value.json); break;
	default: break;
	}
	json_decref(value.json);
}

/* ---- segments ---- */

/* Blocks may precede the keys that a segment requires. */
struct segment {
	struct gp_snapshot_segment record;
	struct gp_snapshot_block *blocks;
	size_t block_count, block_room;
};

static void read_blocks(struct json_snapshot *s, struct segment *segment)
{
	struct gp_json_walk walk;

	if (!gp_json_enter(s->scan, '[', &walk))
		return;
	while (gp_json_next(s->scan, &walk)) {
		struct gp_snapshot_block block = { .site = GP_NO_SITE };

		read_object(s, set_block, &block);
		GP_GROW(segment->blocks, segment->block_count + 1,
			segment->block_room);
		segment->blocks[segment->block_count++] = block;
	}
}

static void set_segment(struct json_snapshot *s, void *record, enum gp_word key)
{
	struct segment *segment = record;
	struct gp_snapshot_segment *r = &segment->record;
	struct gp_json_scalar value;

	r->keys |= GP_WORD_BIT(key);
	if (key == GP_WORD_FRAMES) {
		r->site = read_frames(s);
		return;
	}
	if (key == GP_WORD_BLOCKS) {
		read_blocks(s, segment);
		return;
	}
	gp_json_scalar(s->scan, &value);
	switch ((unsigned)key) {
	case GP_WORD_DEVICE:
		take_number(&value, key, &r->device, &r->bad);
		break;
	case GP_WORD_ADDRESS:
		take_number(&value, key, &r->addr, &r->bad);
		break;
	case GP_WORD_TOTAL_SIZE:
		take_number(&value, key, &r->size, &r->bad);
		break;
	case GP_WORD_STREAM: take_stream(&value, &r->stream, &r->bad); break;
	case GP_WORD_SEGMENT_POOL_ID:
		take_pair(s, &value, key, &r->pair, &r->bad);
		break;
	case GP_WORD_SEGMENT_TYPE:
		take_word(&value, key, GP_WORD_SMALL, GP_WORD_LARGE, &r->type,
			  &r->bad);
		break;
	case GP_WORD_IS_EXPANDABLE:
		r->is_expandable = value.kind == GP_JSON_TRUE;
		break;
	default: break;
	}
	json_decref(value.json);
}

static void deliver_segment(struct json_snapshot *s,
			    const struct segment *segment, size_t number)
{
	if (!s->scan->status)
		s->scan->status = gp_snapshot_deliver_segment(
			&s->delivery, &segment->record, number);
	if (!s->scan->status)
		s->scan->status = gp_snapshot_deliver_blocks(
			&s->delivery, segment->blocks, segment->block_count,
			number, 0);
}

static const struct segment no_segment = {
	.record = { .site = GP_NO_SITE, .blocks = GP_NO_LIST },
};

static void read_segment(struct json_snapshot *s, size_t number)
{
	struct segment segment = no_segment;

	read_object(s, set_segment, &segment);
	deliver_segment(s, &segment, number);
	free(segment.blocks);
}

/* An entry begins with its action. */
static void read_entry_or_segment(struct json_snapshot *s, size_t number)
{
	struct gp_snapshot_entry entry = no_entry;
	struct segment segment = no_segment;
	char key[GP_JSON_KEY_ROOM];
	struct gp_json_walk walk;

	if (!gp_json_enter(s->scan, '{', &walk) ||
	    !gp_json_next_key(s->scan, &walk, key))
		return;
	if (!strcmp(key, gp_word_texts[GP_WORD_ACTION])) {
		read_keys(s, &walk, key, set_entry, &entry);
		deliver_entry(s, 0, &entry, number);
	} else {
		read_keys(s, &walk, key, set_segment, &segment);
		deliver_segment(s, &segment, number);
		free(segment.blocks);
	}
}

/* ---- annotations ---- */

struct annotation {
	struct gp_snapshot_annotation record;
	json_t *name;
};

static void set_annotation(struct json_snapshot *s, void *record,
			   enum gp_word key)
{
	struct annotation *a = record;
	struct gp_snapshot_annotation *r = &a->record;
	struct gp_json_scalar value;

	gp_json_scalar_of(gp_json_value(s->scan), &value);
	r->keys |= GP_WORD_BIT(key);
	switch ((unsigned)key) {
	case GP_WORD_DEVICE:
		take_number(&value, key, &r->device, &r->bad);
		break;
	case GP_WORD_TIME_US:
		take_number(&value, key, &r->time_us, &r->bad);
		break;
	case GP_WORD_STAGE:
		r->stage = word_of(&value, GP_WORD_START, GP_WORD_END);
		break;
	case GP_WORD_NAME:
		json_decref(a->name);
		a->name = json_incref(value.json);
		if (!json_is_string(value.json))
			r->bad |= GP_WORD_BIT(key);
		break;
	default: break;
	}
	json_decref(value.json);
}

static void read_annotation(struct json_snapshot *s, size_t number)
{
	struct annotation a = { .record = { .stage = GP_WORDS } };
	const char *name;

	read_object(s, set_annotation, &a);
	name = json_string_value(a.name);
	if (!s->scan->status)
		s->scan->status = gp_snapshot_deliver_annotation(
			&s->delivery, &a.record, name ? name : "", number);
	json_decref(a.name);
}

/* ---- the outer object ---- */

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

/* A list; null stands for an empty one. */
static bool enter_list(struct json_snapshot *s, struct gp_json_walk *walk)
{
	if (gp_json_peek(s->scan) == 'n') {
		gp_json_skip(s->scan);
		return false;
	}
	return gp_json_enter(s->scan, '[', walk);
}

static void read_trace(struct json_snapshot *s, uint64_t ordinal)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!enter_list(s, &walk))
		return;
	while (gp_json_next(s->scan, &walk))
		read_entry(s, ordinal, number++);
}

static void read_traces(struct json_snapshot *s)
{
	struct gp_json_walk walk;
	uint64_t ordinal = 0;

	if (!enter_list(s, &walk))
		return;
	while (gp_json_next(s->scan, &walk))
		read_trace(s, ordinal++);
}

static void read_segments(struct json_snapshot *s)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!enter_list(s, &walk))
		return;
	while (gp_json_next(s->scan, &walk))
		read_segment(s, number++);
}

static void read_annotations(struct json_snapshot *s)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!enter_list(s, &walk))
		return;
	while (gp_json_next(s->scan, &walk))
		read_annotation(s, number++);
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

static void read_settings(struct json_snapshot *s)
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

static void read_top_key(struct json_snapshot *s, const char *key)
{
	enum gp_word word = find_top(key);

	if (word != GP_WORDS)
		gp_snapshot_keys_add(&s->delivery.keys, GP_IN_TOP,
				     GP_WORD_BIT(word));
	if (s->delivery.is_of_host && word != GP_WORD_ALLOCATOR_SETTINGS)
		word = word == GP_WORD_HOST_TRACES ? word : GP_WORDS;
	switch ((unsigned)word) {
	case GP_WORD_SEGMENTS: read_segments(s); break;
	case GP_WORD_DEVICE_TRACES: read_traces(s); break;
	case GP_WORD_HOST_TRACES:
		if (s->delivery.is_of_host)
			read_trace(s, 0);
		else
			gp_json_skip(s->scan);
		break;
	case GP_WORD_ALLOCATOR_SETTINGS: read_settings(s); break;
	case GP_WORD_EXTERNAL_ANNOTATIONS: read_annotations(s); break;
	default: gp_json_skip(s->scan);
	}
	s->has_something |= word != GP_WORDS;
}

static void read_list(struct json_snapshot *s)
{
	struct gp_json_walk walk;
	size_t number = 0;

	if (!gp_json_enter(s->scan, '[', &walk))
		return;
	while (gp_json_next(s->scan, &walk)) {
		if (gp_json_peek(s->scan) == '[')
			read_trace(s, number);
		else
			read_entry_or_segment(s, number);
		s->has_something = true;
		number++;
	}
}

static void begin(struct json_snapshot *s, struct gp_json_scan *scan)
{
	*s = (struct json_snapshot){
		.scan = scan,
		.diag = scan->diag,
		.build = gp_build_create(GP_BUILD_HISTORY),
	};
	s->delivery.build = s->build;
	s->delivery.diag = s->diag;
	s->delivery.is_of_host = scan->source->config->is_of_host;
	number_pair(s, (struct gp_pool_id){ 0, 0 }); /* number 0 */
}

static enum gp_status deliver(struct json_snapshot *s, struct gp_trace **trace)
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

static enum gp_status finish(struct json_snapshot *s, struct gp_trace **trace)
{
	enum gp_status status;

	gp_json_expect_end(s->scan);
	status = deliver(s, trace);
	gp_build_destroy(s->build);
	gp_intern_release(&s->pair_of);
	gp_intern_release(&s->stack_texts);
	free(s->delivery.pairs);
	free(s->stacks);
	free(s->frames);
	return status;
}

enum gp_status gp_json_snapshot_read(struct gp_json_scan *scan,
				     struct gp_json_walk *walk, char *key,
				     struct gp_trace **trace)
{
	struct json_snapshot s;

	begin(&s, scan);
	do
		read_top_key(&s, key);
	while (gp_json_next_key(scan, walk, key));
	return finish(&s, trace);
}

enum gp_status gp_json_snapshot_read_list(struct gp_json_scan *scan,
					  struct gp_trace **trace)
{
	struct json_snapshot s;

	begin(&s, scan);
	read_list(&s);
	return finish(&s, trace);
}
