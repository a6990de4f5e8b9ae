/* SPDX-License-Identifier: MIT */
/* The dicts and lists of a pickled snapshot, and what they are converted to. */
#include "formats/snapshot_object.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* ---- memory ---- */

void gp_objects_init(struct gp_snapshot_objects *o, struct gp_build *build,
		     struct gp_diag *diag)
{
	memset(o, 0, sizeof(*o));
	o->build = build;
	o->delivery.build = build;
	o->delivery.diag = diag;
	o->frames_list = GP_NO_LIST;
	for (uint32_t i = 0; i < GP_WORDS; i++) {
		const char *word = gp_word_texts[i];
		uint32_t number = gp_intern(&o->texts, word, strlen(word));

		assert(number == i); /* a text below GP_WORDS is a word */
		(void)number;
	}
	/* Number 0 is the default pool, as in an entry without a pool id; runs
	 * and parts are counted from 1. */
	gp_objects_pair(o, 0, 0);
	GP_GROW(o->runs, 1, o->runs_room);
	GP_GROW(o->parts, 1, o->parts_room);
	o->runs_count = o->parts_count = 1;
}

void gp_objects_release(struct gp_snapshot_objects *o)
{
	free(o->dicts);
	free(o->lists);
	free(o->runs);
	free(o->parts);
	free(o->wides);
	free(o->pairs);
	free(o->entries);
	free(o->blocks);
	free(o->segments);
	free(o->annotations);
	free(o->settings);
	free(o->divisions);
	free(o->tops);
	free(o->frames);
	free(o->items);
	gp_map_release(&o->pair_of);
	gp_intern_release(&o->texts);
}

void gp_objects_reserve(struct gp_snapshot_objects *o, size_t n)
{
	GP_GROW(o->dicts, o->dicts_count + n, o->dicts_room);
	GP_GROW(o->lists, o->lists_count + n, o->lists_room);
}

void gp_objects_reserve_entries(struct gp_snapshot_objects *o)
{
	GP_GROW(o->entries, o->entries_count + 1, o->entries_room);
}

/* ---- texts, integers and pairs ---- */

static uint64_t intern(struct gp_snapshot_objects *o, const char *text,
		       size_t length)
{
	uint32_t number = gp_intern(&o->texts, text, length);

	if (number < GP_WORDS)
		return number << 8 | (GP_VALUE_WORD + number);
	return gp_value(GP_VALUE_TEXT, number);
}

uint64_t gp_objects_text(struct gp_snapshot_objects *o, const char *text,
			 size_t length)
{
	struct gp_short_text *known;
	uint64_t bytes = (uint64_t)length << 56;

	if (length > GP_SHORT_TEXT)
		return intern(o, text, length);
	for (size_t i = 0; i < length; i++)
		bytes |= (uint64_t)(unsigned char)text[i] << 8 * i;
	known = gp_objects_short_slot(o, bytes);
	if (known->bytes != bytes || !known->value) {
		known->bytes = bytes;
		known->value = intern(o, text, length);
	}
	return known->value;
}

/* NULL: not a text */
static const char *text_of(const struct gp_snapshot_objects *o, uint64_t value)
{
	return gp_value_is_text(value) ? o->texts.texts[gp_value_payload(value)]
				       : NULL;
}

uint64_t gp_objects_integer(struct gp_snapshot_objects *o, uint64_t magnitude,
			    bool is_negative)
{
	uint64_t limit = UINT64_C(1) << (GP_VALUE_INT_BITS - 1);

	if (magnitude < limit)
		return gp_value(GP_VALUE_INT,
				is_negative ? -magnitude : magnitude);
	if (is_negative) /* so negative that it is always rejected */
		return GP_VALUE_OPAQUE;
	GP_GROW(o->wides, o->wides_count + 1, o->wides_room);
	o->wides[o->wides_count] = magnitude;
	return gp_value(GP_VALUE_WIDE, o->wides_count++);
}

bool gp_objects_number(const struct gp_snapshot_objects *o, uint64_t value,
		       uint64_t *number)
{
	if (gp_value_is_small(value))
		*number = gp_value_payload(value);
	else if (gp_value_tag(value) == GP_VALUE_WIDE)
		*number = o->wides[gp_value_payload(value)];
	else
		return false;
	return true;
}

static bool is_pair(const struct gp_snapshot_pair *pair, uint64_t first,
		    uint64_t second)
{
	return pair->id.first == first && pair->id.second == second;
}

/* Most keys tried for a pair; only a hostile file has more collisions. */
#define PAIR_TRIES 8

static uint32_t find_pair(struct gp_snapshot_objects *o, uint64_t first,
			  uint64_t second)
{
	uint64_t key = gp_hash64(first) * 3 + gp_hash64(second);
	uint64_t last = key + PAIR_TRIES;
	uint32_t number = GP_MAP_NONE;

	/* Two pairs may have the same hash; the next key is then tried. A pair
	 * for which no key is left is stored again each time, which is
	 * harmless. */
	for (; key != last; key++) {
		number = gp_map_get(&o->pair_of, key);
		if (number == GP_MAP_NONE)
			break;
		if (is_pair(&o->pairs[number], first, second))
			return number;
	}
	number = (uint32_t)o->pairs_count;
	GP_GROW(o->pairs, o->pairs_count + 1, o->pairs_room);
	o->pairs[o->pairs_count++] =
		(struct gp_snapshot_pair){ { first, second }, GP_NO_POOL };
	if (key != last)
		gp_map_put(&o->pair_of, key, number);
	return number;
}

uint64_t gp_objects_pair(struct gp_snapshot_objects *o, uint64_t first,
			 uint64_t second)
{
	if (!o->pairs_count || !is_pair(&o->pairs[o->last_pair], first, second))
		o->last_pair = find_pair(o, first, second);
	return gp_value(GP_VALUE_PAIR, o->last_pair);
}

/* ---- stacks of frames ---- */

static void flush_frames(struct gp_snapshot_objects *o)
{
	if (!o->frames_changed)
		return;
	o->lists[o->frames_list].first =
		gp_build_site(o->build, o->frames, o->frames_count);
	o->frames_changed = false;
}

/*
 * Frames are collected until the list is used, because a long list comes in
 * parts. Only one list at a time is collected; a list that was interrupted by
 * another, or was used, is complete. As building a site takes time proportional
 * to the length of the list, it is done only once.
 */
static bool gathers_frames(struct gp_snapshot_objects *o, uint32_t list,
			   size_t n)
{
	if (o->lists[list].count &&
	    (o->frames_list != list || !o->frames_changed))
		return false;
	if (o->frames_list != list) {
		flush_frames(o);
		o->frames_list = list;
		o->frames_count = 0;
	}
	GP_GROW(o->frames, o->frames_count + n, o->frames_room);
	o->frames_changed = true;
	return true;
}

uint32_t gp_objects_site(struct gp_snapshot_objects *o, uint64_t value)
{
	uint64_t number = gp_value_payload(value);

	if (gp_value_tag(value) != GP_VALUE_LIST ||
	    o->lists[number].kind != GP_OBJECT_FRAME)
		return GP_NO_SITE;
	if (o->frames_list == number)
		flush_frames(o);
	return o->lists[number].first;
}

/* ---- kinds of dict ---- */

static bool has(const struct gp_snapshot_objects *o, enum gp_word key)
{
	return o->mask & GP_WORD_BIT(key);
}

static uint64_t value_of(const struct gp_snapshot_objects *o, enum gp_word key)
{
	return o->value[GP_VALUE_WORD + key];
}

/* Sets *to if the key exists; returns the key's bit if its value is invalid. */
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

/* A handle may have its top bit set; PyTorch writes it as a signed number. */
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
	/* 2.0: the latest allocation comes first. */
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
	/* -1 means unlimited, as does an invalid number. */
	take_number(o, GP_WORD_MAX_SPLIT_SIZE, &s->max_split_size);
	take_ratio(o, GP_WORD_GC_THRESHOLD, &s->gc_threshold);
	take_flag(o, GP_WORD_EXPANDABLE_SEGMENTS, &s->is_expandable);
	take_flag(o, GP_WORD_RELEASE_LOCK, &s->releases_lock);
	take_flag(o, GP_WORD_CAPTURE_REUSE, &s->reuses_in_capture);
	if (has(o, GP_WORD_CONF))
		s->conf = text_of(o, value_of(o, GP_WORD_CONF));
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
	GP_GROW(o->blocks, o->blocks_count + 1, o->blocks_room);
	o->blocks[o->blocks_count] =
		(struct gp_snapshot_block){ .site = GP_NO_SITE };
	return (uint32_t)o->blocks_count++;
}

static uint32_t add_segment(struct gp_snapshot_objects *o)
{
	GP_GROW(o->segments, o->segments_count + 1, o->segments_room);
	o->segments[o->segments_count] =
		(struct gp_snapshot_segment){ .site = GP_NO_SITE,
					      .blocks = GP_NO_LIST };
	return (uint32_t)o->segments_count++;
}

static uint32_t add_annotation(struct gp_snapshot_objects *o)
{
	GP_GROW(o->annotations, o->annotations_count + 1, o->annotations_room);
	o->annotations[o->annotations_count] =
		(struct gp_snapshot_annotation){ .stage = GP_WORDS };
	return (uint32_t)o->annotations_count++;
}

static uint32_t add_settings(struct gp_snapshot_objects *o)
{
	GP_GROW(o->settings, o->settings_count + 1, o->settings_room);
	o->settings[o->settings_count] = (struct gp_object_settings){ 0 };
	return (uint32_t)o->settings_count++;
}

static uint32_t add_top(struct gp_snapshot_objects *o)
{
	GP_GROW(o->tops, o->tops_count + 1, o->tops_room);
	o->tops[o->tops_count] = (struct gp_object_top){ 0 };
	return (uint32_t)o->tops_count++;
}

static const char *text_or_empty(const struct gp_snapshot_objects *o,
				 enum gp_word key)
{
	const char *text = NULL;

	if (has(o, key))
		text = text_of(o, value_of(o, key));
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

/* The keys that identify a kind of dict, and its conversion to a record. Both
 * functions use the members gathered last: objects->mask and objects->value. */
struct dict_kind {
	enum gp_object_kind kind;
	uint64_t keys; /* any of them; GP_WORD_BITs */
	/* Creates a record; returns its number. */
	uint32_t (*add)(struct gp_snapshot_objects *objects);
	/* Sets the items of a new record, and those added later; NULL: add sets
	 * them, and later ones are ignored. */
	void (*set)(struct gp_snapshot_objects *objects, uint32_t number);
};

/* A dict is of the first kind of which it has a key. Entries come first,
 * because almost all dicts are entries. */
static const struct dict_kind kinds[] = {
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
#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* ---- dicts ---- */

static bool is_division(enum gp_word word)
{
	return word >= GP_WORD_DIVISION && word <= GP_WORD_DIVISION_LAST;
}

/* roundup_power2_divisions: its keys are numbers, written as texts. */
static uint64_t reduce_divisions(struct gp_snapshot_objects *o,
				 const uint64_t *items, const uint64_t *end)
{
	struct gp_object_divisions row = { { 0 } };
	bool is_one = false;

	for (; items < end; items += 2) {
		enum gp_word word = gp_value_word(items[0]);
		uint64_t number;

		if (!is_division(word) ||
		    !gp_objects_number(o, items[1], &number))
			continue;
		is_one = true;
		row.divisions[word - GP_WORD_DIVISION] = (uint32_t)number;
	}
	if (!is_one)
		return GP_OBJECT_OTHER;
	GP_GROW(o->divisions, o->divisions_count + 1, o->divisions_room);
	o->divisions[o->divisions_count] = row;
	return o->divisions_count++ << 8 | GP_OBJECT_DIVISIONS;
}

static void gather(struct gp_snapshot_objects *o, const uint64_t *items,
		   const uint64_t *end)
{
	o->mask = 0;
	for (; items < end; items += 2)
		o->mask |= gp_objects_gather(o, items[0], items[1]);
}

static uint64_t reduce(struct gp_snapshot_objects *o, const uint64_t *items,
		       const uint64_t *end)
{
	for (size_t i = 0; i < KINDS; i++) {
		const struct dict_kind *kind = &kinds[i];
		uint32_t number;

		if (!(o->mask & kind->keys))
			continue;
		number = kind->add(o);
		if (kind->set)
			kind->set(o, number);
		return (uint64_t)number << 8 | kind->kind;
	}
	return reduce_divisions(o, items, end);
}

static void set_more(struct gp_snapshot_objects *o, uint64_t dict)
{
	for (size_t i = 0; i < KINDS; i++)
		if (kinds[i].kind == (dict & 255) && kinds[i].set)
			kinds[i].set(o, (uint32_t)(dict >> 8));
}

static void add_parts(struct gp_snapshot_objects *o, uint64_t *dict,
		      const uint64_t *items, const uint64_t *end)
{
	for (; items < end; items += 2) {
		if (gp_value_word(items[0]) == GP_WORDS)
			continue;
		GP_GROW(o->parts, o->parts_count + 1, o->parts_room);
		o->parts[o->parts_count] =
			(struct gp_object_part){ items[0], items[1],
						 (uint32_t)(*dict >> 8) };
		*dict = (uint64_t)o->parts_count++ << 8 | GP_OBJECT_PARTS;
	}
}

/* Python's pickle sets the items of a large dict 1000 at a time; this counts
 * keys and values. The keys that identify the dict may be among later ones. */
#define BATCH 2000

void gp_objects_set(struct gp_snapshot_objects *o, uint64_t value,
		    const uint64_t *items, const uint64_t *end)
{
	uint64_t *dict = &o->dicts[gp_value_payload(value)];
	uint8_t kind = (uint8_t)*dict;

	if (kind == GP_OBJECT_PARTS ||
	    (kind == GP_OBJECT_EMPTY && end - items == 2)) {
		add_parts(o, dict, items, end);
		return;
	}
	gather(o, items, end);
	if (kind != GP_OBJECT_EMPTY && kind != GP_OBJECT_OTHER) {
		set_more(o, *dict);
		return;
	}
	*dict = reduce(o, items, end);
	if (*dict == GP_OBJECT_OTHER && end - items >= BATCH) {
		*dict = GP_OBJECT_EMPTY;
		add_parts(o, dict, items, end);
	}
}

void gp_objects_fill(struct gp_snapshot_objects *o, uint64_t value,
		     uint64_t mask, const uint64_t *items, const uint64_t *end)
{
	if (end - items == 2) {
		gp_objects_set(o, value, items, end);
		return;
	}
	o->mask = mask;
	o->dicts[gp_value_payload(value)] = reduce(o, items, end);
}

uint64_t gp_objects_settle(struct gp_snapshot_objects *o, uint64_t value)
{
	uint64_t *dict = &o->dicts[gp_value_payload(value)];
	uint32_t part;
	size_t n = 0;

	if ((uint8_t)*dict != GP_OBJECT_PARTS)
		return *dict;
	for (part = (uint32_t)(*dict >> 8); part; part = o->parts[part].before)
		n += 2;
	GP_GROW(o->items, n, o->items_room);
	o->items_count = n;
	for (part = (uint32_t)(*dict >> 8); part;
	     part = o->parts[part].before) {
		o->items[--n] = o->parts[part].value;
		o->items[--n] = o->parts[part].key;
	}
	gather(o, o->items, o->items + o->items_count);
	*dict = reduce(o, o->items, o->items + o->items_count);
	return *dict;
}

/* ---- lists ---- */

/* The first run is stored in the list itself; most lists have no other. */
static void add_number(struct gp_snapshot_objects *o,
		       struct gp_object_list *list, uint32_t number)
{
	struct gp_object_run *run = &o->runs[list->tail];
	uint32_t *first = list->tail ? &run->first : &list->first;
	uint32_t *n = list->tail ? &run->n : &list->n;

	if (!*n)
		*first = number;
	if (*first + *n == number) {
		++*n;
		return;
	}
	GP_GROW(o->runs, o->runs_count + 1, o->runs_room);
	o->runs[o->runs_count] = (struct gp_object_run){ number, 1, 0 };
	if (list->tail)
		o->runs[list->tail].next = (uint32_t)o->runs_count;
	else
		list->head = (uint32_t)o->runs_count;
	list->tail = (uint32_t)o->runs_count++;
}

/* The object that an element stands for. */
static uint64_t element(struct gp_snapshot_objects *o, uint64_t value)
{
	if (gp_value_tag(value) == GP_VALUE_DICT) {
		uint64_t dict = o->dicts[gp_value_payload(value)];

		return (uint8_t)dict == GP_OBJECT_PARTS
			       ? gp_objects_settle(o, value)
			       : dict;
	}
	if (gp_value_tag(value) == GP_VALUE_LIST)
		return gp_value_payload(value) << 8 | GP_OBJECT_LIST;
	return GP_OBJECT_OTHER;
}

/* JSON has no tuples: a pool id that was converted to JSON and back is a
 * list. */
static bool append_pair(struct gp_snapshot_objects *o,
			struct gp_object_list *list, const uint64_t *items,
			const uint64_t *end)
{
	uint64_t first, second;

	if (list->kind != GP_OBJECT_EMPTY || end - items != 2 ||
	    !gp_objects_number(o, items[0], &first) ||
	    !gp_objects_number(o, items[1], &second))
		return false;
	list->kind = GP_OBJECT_INT;
	list->first =
		(uint32_t)gp_value_payload(gp_objects_pair(o, first, second));
	return true;
}

/* Adds one element; false: the list is mixed from here on. */
static bool append(struct gp_snapshot_objects *o, uint32_t number,
		   uint64_t item)
{
	struct gp_object_list *list = &o->lists[number];
	uint64_t what = element(o, item);
	uint8_t kind = (uint8_t)what;
	uint32_t record = (uint32_t)(what >> 8);

	if (list->kind == GP_OBJECT_EMPTY)
		list->kind = kind;
	if (kind == GP_OBJECT_HISTORY && list->kind == kind)
		list->first = list->count ? list->first : record;
	else if (list->kind != kind || kind <= GP_OBJECT_OTHER ||
		 list->count == UINT32_MAX)
		return false;
	else
		add_number(o, list, record);
	list->count++;
	return true;
}

/* Adds consecutive entries, the common case; returns the first item that is not
 * one. */
static const uint64_t *append_entries(struct gp_snapshot_objects *o,
				      struct gp_object_list *list,
				      const uint64_t *items,
				      const uint64_t *end)
{
	const uint64_t *item = items;
	uint64_t expected;

	if (list->kind != GP_OBJECT_ENTRY || list->tail || !list->n)
		return items;
	expected = (uint64_t)(list->first + list->n) << 8 | GP_OBJECT_ENTRY;
	for (; item < end && gp_value_tag(*item) == GP_VALUE_DICT; item++) {
		if (o->dicts[gp_value_payload(*item)] != expected)
			break;
		expected += 1 << 8;
	}
	if (item - items > UINT32_MAX - list->count)
		return items;
	list->n += (uint32_t)(item - items);
	list->count += (uint32_t)(item - items);
	return item;
}

static bool is_frames(struct gp_snapshot_objects *o, uint32_t list,
		      const uint64_t *items, const uint64_t *end)
{
	if (o->lists[list].kind != GP_OBJECT_EMPTY)
		return o->lists[list].kind == GP_OBJECT_FRAME;
	return items < end && (uint8_t)element(o, *items) == GP_OBJECT_FRAME;
}

/* Elements that are not frames are left out. */
static void append_frames(struct gp_snapshot_objects *o, uint32_t number,
			  const uint64_t *items, const uint64_t *end)
{
	size_t n = (size_t)(end - items);
	bool gathers = gathers_frames(o, number, n);

	for (; items < end; items++) {
		uint64_t what = element(o, *items);

		if ((uint8_t)what == GP_OBJECT_FRAME && gathers)
			o->frames[o->frames_count++] = (uint32_t)(what >> 8);
	}
	/* only whether there are any matters */
	o->lists[number].count = 1;
	o->lists[number].kind = GP_OBJECT_FRAME;
}

void gp_objects_append(struct gp_snapshot_objects *o, uint64_t value,
		       const uint64_t *items, const uint64_t *end)
{
	uint32_t number = (uint32_t)gp_value_payload(value);

	if (append_pair(o, &o->lists[number], items, end))
		return;
	if (is_frames(o, number, items, end)) {
		append_frames(o, number, items, end);
		return;
	}
	if (items < end && o->lists[number].kind <= GP_OBJECT_ENTRY &&
	    append(o, number, *items))
		items = append_entries(o, &o->lists[number], items + 1, end);
	for (; items < end && o->lists[number].kind != GP_OBJECT_OTHER; items++)
		if (!append(o, number, *items))
			o->lists[number].kind = GP_OBJECT_OTHER;
}
