/* SPDX-License-Identifier: MIT */
/* What the dicts of a PyTorch snapshot are, and how each becomes a record. */
#include "formats/snapshot_kind.h"

#include <string.h>

#include "base/mem.h"

static bool has(const struct gp_snapshot_objects *o, enum gp_word key)
{
	return o->mask & GP_WORD_BIT(key);
}

static uint64_t value_of(const struct gp_snapshot_objects *o, enum gp_word key)
{
	return o->value[GP_VALUE_WORD + key];
}

/* Sets *to where the key is there; returns the key's bit if it is bad. */
static uint64_t take_number(const struct gp_snapshot_objects *o,
			    enum gp_word key, uint64_t *to)
{
	uint64_t value = value_of(o, key);

	if (!has(o, key))
		return 0;
	if (gp_value_is_small(value))
		*to = gp_value_payload(value);
	else if (!gp_objects_number(o, value, to))
		return GP_WORD_BIT(key);
	return 0;
}

/* A handle may have its top bit set, and PyTorch writes it signed. */
static uint64_t take_stream(const struct gp_snapshot_objects *o, uint64_t *to)
{
	uint64_t value = value_of(o, GP_WORD_STREAM);

	if (has(o, GP_WORD_STREAM) && gp_value_tag(value) == GP_VALUE_INT) {
		*to = (uint64_t)((int64_t)value >> 8);
		return 0;
	}
	return take_number(o, GP_WORD_STREAM, to);
}

static uint64_t take_pair(const struct gp_snapshot_objects *o, enum gp_word key,
			  uint32_t *to)
{
	uint64_t value = value_of(o, key);
	uint64_t number = gp_value_payload(value);

	if (!has(o, key))
		return 0;
	if (gp_value_tag(value) == GP_VALUE_PAIR)
		*to = (uint32_t)number;
	else if (gp_value_tag(value) == GP_VALUE_LIST &&
		 o->lists[number].kind == GP_OBJECT_INT)
		*to = o->lists[number].first;
	else
		return GP_WORD_BIT(key);
	return 0;
}

/* One of the words from first to last. */
static uint64_t take_word(const struct gp_snapshot_objects *o, enum gp_word key,
			  enum gp_word first, enum gp_word last, uint8_t *to)
{
	enum gp_word word = gp_value_word(value_of(o, key));

	if (!has(o, key))
		return 0;
	if (word < first || word > last)
		return GP_WORD_BIT(key);
	*to = (uint8_t)word;
	return 0;
}

static void take_site(struct gp_snapshot_objects *o, uint32_t *to)
{
	if (has(o, GP_WORD_FRAMES))
		*to = gp_objects_site(o, value_of(o, GP_WORD_FRAMES));
}

static void set_entry(struct gp_snapshot_objects *o, uint32_t number)
{
	struct gp_snapshot_entry *entry = &o->entries[number];
	uint64_t bad;

	entry->keys |= (uint16_t)o->mask;
	if (has(o, GP_WORD_ACTION))
		entry->action =
			(uint8_t)gp_value_word(value_of(o, GP_WORD_ACTION));
	bad = take_number(o, GP_WORD_ADDR, &entry->addr);
	bad |= take_number(o, GP_WORD_DEVICE_FREE, &entry->addr);
	bad |= take_number(o, GP_WORD_SIZE, &entry->size);
	bad |= take_stream(o, &entry->stream);
	bad |= take_number(o, GP_WORD_TIME_US, &entry->time_us);
	bad |= take_pair(o, GP_WORD_POOL_ID, &entry->pair);
	take_site(o, &entry->site);
	entry->bad |= (uint16_t)bad;
}

static void set_block(struct gp_snapshot_objects *o, uint32_t number)
{
	struct gp_snapshot_block *block = &o->blocks[number];
	uint64_t value = value_of(o, GP_WORD_HISTORY);
	const struct gp_object_list *history;

	block->keys |= o->mask;
	block->bad |= take_number(o, GP_WORD_ADDRESS, &block->addr);
	block->bad |= take_number(o, GP_WORD_SIZE, &block->size);
	block->bad |= take_number(o, GP_WORD_REQUESTED_SIZE, &block->requested);
	block->bad |= take_word(o, GP_WORD_STATE, GP_WORD_ACTIVE_ALLOCATED,
				GP_WORD_INACTIVE, &block->state);
	take_site(o, &block->site);
	if (!has(o, GP_WORD_HISTORY) || gp_value_tag(value) != GP_VALUE_LIST)
		return;
	/* 2.0: the newest allocation comes first. */
	history = &o->lists[gp_value_payload(value)];
	if (history->kind == GP_OBJECT_HISTORY)
		block->site = history->first;
}

static void set_segment(struct gp_snapshot_objects *o, uint32_t number)
{
	struct gp_snapshot_segment *segment = &o->segments[number];
	uint64_t blocks = value_of(o, GP_WORD_BLOCKS);

	segment->keys |= o->mask;
	segment->bad |= take_number(o, GP_WORD_DEVICE, &segment->device);
	segment->bad |= take_number(o, GP_WORD_ADDRESS, &segment->addr);
	segment->bad |= take_number(o, GP_WORD_TOTAL_SIZE, &segment->size);
	segment->bad |= take_stream(o, &segment->stream);
	segment->bad |= take_pair(o, GP_WORD_SEGMENT_POOL_ID, &segment->pair);
	segment->bad |= take_word(o, GP_WORD_SEGMENT_TYPE, GP_WORD_SMALL,
				  GP_WORD_LARGE, &segment->type);
	take_site(o, &segment->site);
	if (has(o, GP_WORD_IS_EXPANDABLE))
		segment->is_expandable =
			value_of(o, GP_WORD_IS_EXPANDABLE) == GP_VALUE_TRUE;
	if (!has(o, GP_WORD_BLOCKS))
		return;
	if (gp_value_tag(blocks) == GP_VALUE_LIST)
		segment->blocks = (uint32_t)gp_value_payload(blocks);
	else
		segment->bad |= GP_WORD_BIT(GP_WORD_BLOCKS);
}

static void set_annotation(struct gp_snapshot_objects *o, uint32_t number)
{
	struct gp_snapshot_annotation *a = &o->annotations[number];
	uint64_t name = value_of(o, GP_WORD_NAME);
	uint8_t stage = GP_WORDS;

	a->keys |= o->mask;
	a->bad |= take_number(o, GP_WORD_DEVICE, &a->device);
	a->bad |= take_number(o, GP_WORD_TIME_US, &a->time_us);
	take_word(o, GP_WORD_STAGE, GP_WORD_START, GP_WORD_END, &stage);
	if (has(o, GP_WORD_STAGE))
		a->stage = stage;
	if (!has(o, GP_WORD_NAME))
		return;
	if (gp_value_is_text(name))
		a->text = (uint32_t)gp_value_payload(name);
	else
		a->bad |= GP_WORD_BIT(GP_WORD_NAME);
}

static void take_flag(const struct gp_snapshot_objects *o, enum gp_word key,
		      bool *to)
{
	if (has(o, key))
		*to = value_of(o, key) == GP_VALUE_TRUE;
}

static void take_ratio(const struct gp_snapshot_objects *o, enum gp_word key,
		       double *to)
{
	uint64_t value = value_of(o, key), bits = value & ~UINT64_C(255);

	if (has(o, key) && gp_value_tag(value) == GP_VALUE_FLOAT)
		memcpy(to, &bits, sizeof(*to));
}

static void set_settings(struct gp_snapshot_objects *o, uint32_t number)
{
	struct gp_object_settings *object = &o->settings[number];
	struct gp_snapshot_settings *s = &object->settings;

	s->keys |= o->mask;
	/* -1 is unlimited, which is what a bad number is left at. */
	take_number(o, GP_WORD_MAX_SPLIT_SIZE, &s->max_split_size);
	take_ratio(o, GP_WORD_GC_THRESHOLD, &s->gc_threshold);
	take_flag(o, GP_WORD_EXPANDABLE_SEGMENTS, &s->is_expandable);
	take_flag(o, GP_WORD_RELEASE_LOCK, &s->releases_lock);
	take_flag(o, GP_WORD_CAPTURE_REUSE, &s->reuses_in_capture);
	if (has(o, GP_WORD_CONF))
		s->conf = gp_objects_text_of(o, value_of(o, GP_WORD_CONF));
	if (has(o, GP_WORD_ROUNDUP))
		object->divisions = value_of(o, GP_WORD_ROUNDUP);
}

static void set_top(struct gp_snapshot_objects *o, uint32_t number)
{
	struct gp_object_top *top = &o->tops[number];

	top->keys |= o->mask;
	if (has(o, GP_WORD_SEGMENTS))
		top->segments = value_of(o, GP_WORD_SEGMENTS);
	if (has(o, GP_WORD_DEVICE_TRACES))
		top->traces = value_of(o, GP_WORD_DEVICE_TRACES);
	if (has(o, GP_WORD_HOST_TRACES))
		top->host_traces = value_of(o, GP_WORD_HOST_TRACES);
	if (has(o, GP_WORD_ALLOCATOR_SETTINGS))
		top->settings = value_of(o, GP_WORD_ALLOCATOR_SETTINGS);
	if (has(o, GP_WORD_EXTERNAL_ANNOTATIONS))
		top->annotations = value_of(o, GP_WORD_EXTERNAL_ANNOTATIONS);
}

static uint32_t add_entry(struct gp_snapshot_objects *o)
{
	*gp_objects_next_entry(o) =
		(struct gp_snapshot_entry){ .site = GP_NO_SITE,
					    .action = GP_WORDS };
	return (uint32_t)o->entries_count++;
}

static uint32_t add_block(struct gp_snapshot_objects *o)
{
	o->blocks = gp_mem_grow(o->blocks, &o->blocks_room, o->blocks_count + 1,
				sizeof(*o->blocks));
	o->blocks[o->blocks_count] =
		(struct gp_snapshot_block){ .site = GP_NO_SITE };
	return (uint32_t)o->blocks_count++;
}

static uint32_t add_segment(struct gp_snapshot_objects *o)
{
	o->segments = gp_mem_grow(o->segments, &o->segments_room,
				  o->segments_count + 1, sizeof(*o->segments));
	o->segments[o->segments_count] =
		(struct gp_snapshot_segment){ .site = GP_NO_SITE,
					      .blocks = GP_NO_LIST };
	return (uint32_t)o->segments_count++;
}

static uint32_t add_annotation(struct gp_snapshot_objects *o)
{
	o->annotations =
		gp_mem_grow(o->annotations, &o->annotations_room,
			    o->annotations_count + 1, sizeof(*o->annotations));
	o->annotations[o->annotations_count] =
		(struct gp_snapshot_annotation){ .stage = GP_WORDS };
	return (uint32_t)o->annotations_count++;
}

static uint32_t add_settings(struct gp_snapshot_objects *o)
{
	o->settings = gp_mem_grow(o->settings, &o->settings_room,
				  o->settings_count + 1, sizeof(*o->settings));
	o->settings[o->settings_count] = (struct gp_object_settings){ 0 };
	return (uint32_t)o->settings_count++;
}

static uint32_t add_top(struct gp_snapshot_objects *o)
{
	o->tops = gp_mem_grow(o->tops, &o->tops_room, o->tops_count + 1,
			      sizeof(*o->tops));
	o->tops[o->tops_count] = (struct gp_object_top){ 0 };
	return (uint32_t)o->tops_count++;
}

static const char *text_or_empty(const struct gp_snapshot_objects *o,
				 enum gp_word key)
{
	const char *text = NULL;

	if (has(o, key))
		text = gp_objects_text_of(o, value_of(o, key));
	return text ? text : "";
}

static uint32_t add_frame(struct gp_snapshot_objects *o)
{
	uint64_t line = 0;

	take_number(o, GP_WORD_LINE, &line);
	return gp_build_frame(o->build, text_or_empty(o, GP_WORD_FILENAME),
			      line, text_or_empty(o, GP_WORD_NAME));
}

static uint32_t add_history(struct gp_snapshot_objects *o)
{
	uint32_t site = GP_NO_SITE;

	take_site(o, &site);
	return site;
}

/* Entries first: they are nearly all there are. */
const struct gp_dict_kind gp_dict_kinds[GP_DICT_KINDS] = {
	{ GP_OBJECT_ENTRY, GP_WORD_BIT(GP_WORD_ACTION), add_entry, set_entry },
	{ GP_OBJECT_TOP,
	  GP_WORD_BIT(GP_WORD_SEGMENTS) | GP_WORD_BIT(GP_WORD_DEVICE_TRACES),
	  add_top, set_top },
	{ GP_OBJECT_FRAME,
	  GP_WORD_BIT(GP_WORD_FILENAME) | GP_WORD_BIT(GP_WORD_LINE), add_frame,
	  NULL },
	{ GP_OBJECT_BLOCK, GP_WORD_BIT(GP_WORD_STATE), add_block, set_block },
	{ GP_OBJECT_SEGMENT, GP_WORD_BIT(GP_WORD_TOTAL_SIZE), add_segment,
	  set_segment },
	{ GP_OBJECT_HISTORY, GP_WORD_BIT(GP_WORD_REAL_SIZE), add_history,
	  NULL },
	{ GP_OBJECT_ANNOTATION, GP_WORD_BIT(GP_WORD_STAGE), add_annotation,
	  set_annotation },
	{ GP_OBJECT_SETTINGS,
	  GP_WORD_BIT(GP_WORD_CONF) | GP_WORD_BIT(GP_WORD_MAX_SPLIT_SIZE) |
		  GP_WORD_BIT(GP_WORD_EXPANDABLE_SEGMENTS) |
		  GP_WORD_BIT(GP_WORD_ROUNDUP),
	  add_settings, set_settings },
};
