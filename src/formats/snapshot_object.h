/* SPDX-License-Identifier: MIT */
/*
 * The dicts and lists of a pickled PyTorch snapshot, reduced as they arrive.
 *
 * When a dict gets its items, its keys say what it is, and it becomes a record
 * (snapshot_record.h) or an interned frame immediately; a list becomes the
 * range of its records, and a list of frames a site. No tree is kept, and data
 * that is not needed takes no memory.
 *
 * Dicts that get their items one at a time are kept as parts until they are
 * used.
 */
#ifndef FORMATS_SNAPSHOT_OBJECT_H
#define FORMATS_SNAPSHOT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/intern.h"
#include "base/map.h"
#include "formats/snapshot_record.h"

/*
 * A value on the stack or in the memo of the pickle reader: 64 bits, of which
 * the low 8 are its tag and the others its payload.
 *
 * The tag of a text is also its word, so that keys are recognised when they are
 * first read and never compared again. Dicts and lists are numbers of objects,
 * so that all references to an object see its changes.
 */
enum gp_value_tag {
	GP_VALUE_UNSET,	 /* a memo entry that does not exist */
	GP_VALUE_OPAQUE, /* anything else: meaningless, and takes no memory */
	GP_VALUE_NONE,
	GP_VALUE_FALSE,
	GP_VALUE_TRUE,
	GP_VALUE_INT,	/* payload signed */
	GP_VALUE_WIDE,	/* a larger integer: its number in wides */
	GP_VALUE_FLOAT, /* payload: the high 56 bits of a double */
	GP_VALUE_PAIR,	/* two integers: their number in pairs */
	GP_VALUE_DICT,
	GP_VALUE_LIST,
	GP_VALUE_WORD = 64,  /* + enum gp_word; payload: the text's number */
	GP_VALUE_TEXT = 255, /* a text that is no word */
};
_Static_assert(GP_VALUE_WORD + GP_WORDS < GP_VALUE_TEXT, "one byte");

/* Signed integers of 56 bits fit in the payload. */
#define GP_VALUE_INT_BITS 56

static inline uint64_t gp_value(enum gp_value_tag tag, uint64_t payload)
{
	return payload << 8 | tag;
}

static inline unsigned gp_value_tag(uint64_t value)
{
	return value & 255;
}

static inline uint64_t gp_value_payload(uint64_t value)
{
	return value >> 8;
}

static inline bool gp_value_is_text(uint64_t value)
{
	return gp_value_tag(value) >= GP_VALUE_WORD;
}

/* GP_WORDS: it is not a word. */
static inline enum gp_word gp_value_word(uint64_t value)
{
	unsigned word = gp_value_tag(value) - GP_VALUE_WORD;

	return word < GP_WORDS ? (enum gp_word)word : GP_WORDS;
}

static inline bool gp_value_fits(int64_t integer)
{
	int64_t limit = INT64_C(1) << (GP_VALUE_INT_BITS - 1);

	return integer >= -limit && integer < limit;
}

/* An integer of at least 0 that fits the payload: almost always the case. */
static inline bool gp_value_is_small(uint64_t value)
{
	return (value & (UINT64_C(1) << 63 | 255)) == GP_VALUE_INT;
}

enum gp_object_kind {
	GP_OBJECT_EMPTY,
	GP_OBJECT_PARTS, /* number: the latest part */
	GP_OBJECT_OTHER, /* meaningless, or mixed */
	GP_OBJECT_ENTRY,
	GP_OBJECT_FRAME, /* number: of the build */
	GP_OBJECT_BLOCK,
	GP_OBJECT_SEGMENT,
	GP_OBJECT_ANNOTATION,
	GP_OBJECT_HISTORY,  /* number: its site */
	GP_OBJECT_SETTINGS, /* number: of settings */
	GP_OBJECT_DIVISIONS,
	GP_OBJECT_TOP,
	GP_OBJECT_LIST, /* in a list: lists */
	GP_OBJECT_INT,	/* in a list: integers; first: the pair */
};

/* Elements of one kind; their numbers are first, ..., first + n - 1, followed
 * by those of the runs from head on. */
struct gp_object_list {
	uint8_t kind; /* of the elements */
	bool is_delivered;
	uint32_t count;
	uint32_t early;	   /* of these, delivered while the list is read */
	uint32_t first, n; /* FRAME, HISTORY: first is the site */
	uint32_t head, tail;
	uint32_t early_ordinal;
};

struct gp_object_run {
	uint32_t first, n, next; /* next 0: last run */
};

struct gp_object_part {
	uint64_t key, value;
	uint32_t before; /* 0: none */
};

struct gp_object_settings {
	struct gp_snapshot_settings settings;
	uint64_t divisions; /* value: a dict */
};

struct gp_object_divisions {
	uint32_t divisions[GP_DIVISIONS];
};

struct gp_object_top {
	uint64_t keys;
	uint64_t segments, traces, settings, annotations; /* values */
	uint64_t host_traces;
};

/* Texts of up to 7 bytes, looked up by their bytes: every entry has "N/A". */
#define GP_SHORT_TEXTS 256
struct gp_short_text {
	uint64_t bytes; /* and the length in the top byte */
	uint64_t value;
};

#define GP_ARRAY(type, name)                                                   \
	type *name;                                                            \
	size_t name##_count, name##_room

struct gp_snapshot_objects {
	struct gp_build *build;
	struct gp_snapshot_delivery delivery;
	size_t early_lists;
	/* By dict: enum gp_object_kind, and the number of its record << 8. */
	GP_ARRAY(uint64_t, dicts);
	GP_ARRAY(struct gp_object_list, lists);
	GP_ARRAY(struct gp_object_run, runs);
	GP_ARRAY(struct gp_object_part, parts);
	GP_ARRAY(uint64_t, wides);
	GP_ARRAY(struct gp_snapshot_pair, pairs);
	GP_ARRAY(struct gp_snapshot_entry, entries);
	GP_ARRAY(struct gp_snapshot_block, blocks);
	GP_ARRAY(struct gp_snapshot_segment, segments);
	GP_ARRAY(struct gp_snapshot_annotation, annotations);
	GP_ARRAY(struct gp_object_settings, settings);
	GP_ARRAY(struct gp_object_divisions, divisions);
	GP_ARRAY(struct gp_object_top, tops);
	/* The frames of the list that is being collected, which is not a site
	 * yet. */
	GP_ARRAY(uint32_t, frames);
	uint32_t frames_list; /* GP_NO_LIST: none */
	bool frames_changed;

	struct gp_map pair_of; /* hash of the pair -> its number */
	uint32_t last_pair;
	struct gp_intern texts; /* the first are the words */
	struct gp_short_text short_texts[GP_SHORT_TEXTS];

	/* The dict being reduced: values, indexed by the tag of their keys. */
	uint64_t mask;
	uint64_t value[256];
	GP_ARRAY(uint64_t, items); /* parts in order */
};

void gp_objects_init(struct gp_snapshot_objects *objects,
		     struct gp_build *build, struct gp_diag *diag);
void gp_objects_release(struct gp_snapshot_objects *objects);

/* Makes room for n more dicts and n more lists. */
void gp_objects_reserve(struct gp_snapshot_objects *objects, size_t n);

/* Makes room for one more entry. */
void gp_objects_reserve_entries(struct gp_snapshot_objects *objects);

static inline uint64_t gp_objects_dict(struct gp_snapshot_objects *objects)
{
	objects->dicts[objects->dicts_count] = GP_OBJECT_EMPTY;
	return gp_value(GP_VALUE_DICT, objects->dicts_count++);
}

static inline uint64_t gp_objects_list(struct gp_snapshot_objects *objects)
{
	objects->lists[objects->lists_count] = (struct gp_object_list){ 0 };
	return gp_value(GP_VALUE_LIST, objects->lists_count++);
}

/* The place of the next entry, for a caller that writes all of its members. */
static inline struct gp_snapshot_entry *gp_objects_next_entry(
	struct gp_snapshot_objects *objects)
{
	if (objects->entries_count == objects->entries_room)
		gp_objects_reserve_entries(objects);
	return &objects->entries[objects->entries_count];
}

/* Adds that entry; returns the new dict that stands for it. */
static inline uint64_t gp_objects_entry_dict(
	struct gp_snapshot_objects *objects)
{
	objects->dicts[objects->dicts_count] =
		objects->entries_count++ << 8 | GP_OBJECT_ENTRY;
	return gp_value(GP_VALUE_DICT, objects->dicts_count++);
}

/* Scalars. */
uint64_t gp_objects_text(struct gp_snapshot_objects *objects, const char *text,
			 size_t length);
uint64_t gp_objects_integer(struct gp_snapshot_objects *objects,
			    uint64_t magnitude, bool is_negative);
uint64_t gp_objects_pair(struct gp_snapshot_objects *objects, uint64_t first,
			 uint64_t second);
/* An integer of at least 0; false: it is something else. */
bool gp_objects_number(const struct gp_snapshot_objects *objects,
		       uint64_t value, uint64_t *number);

/* A text of up to 7 bytes: its bytes, and its length << 56. */
#define GP_SHORT_TEXT 7
static inline struct gp_short_text *gp_objects_short_slot(
	struct gp_snapshot_objects *objects, uint64_t bytes)
{
	/* The multiplier is splitmix64's. */
	return &objects->short_texts[bytes * UINT64_C(0xbf58476d1ce4e5b9) >>
				     56];
}

/* Whether two small integers are the same as last time; else gp_objects_pair is
 * called. */
static inline __attribute__((always_inline)) bool gp_objects_is_last_pair(
	const struct gp_snapshot_objects *objects, uint64_t first,
	uint64_t second)
{
	const struct gp_pool_id *id = &objects->pairs[objects->last_pair].id;

	return first == gp_value(GP_VALUE_INT, id->first) &&
	       second == gp_value(GP_VALUE_INT, id->second);
}

/* items: keys and values, alternating. */
void gp_objects_set(struct gp_snapshot_objects *objects, uint64_t dict,
		    const uint64_t *items, const uint64_t *end);
/*
 * The same for a new dict, whose items the caller has gathered one by one;
 * mask: the results of gp_objects_gather() combined.
 */
void gp_objects_fill(struct gp_snapshot_objects *objects, uint64_t dict,
		     uint64_t mask, const uint64_t *items, const uint64_t *end);

/* Notes an item of the next dict; returns its key's bit, or 0. Does not check
 * what the key is: each tag has a place of its own, and those of other tags are
 * never read. */
static inline __attribute__((always_inline)) uint64_t gp_objects_gather(
	struct gp_snapshot_objects *objects, uint64_t key, uint64_t value)
{
	unsigned tag = gp_value_tag(key);
	uint64_t is_key = tag - GP_VALUE_WORD < (unsigned)GP_WORD_KEYS;

	objects->value[tag] = value;
	return is_key << (tag & 63);
}
_Static_assert(GP_VALUE_WORD == 64, "a key's low 6 bits are its word");

/* Determines what a dict is; parts that are added later are ignored. */
uint64_t gp_objects_settle(struct gp_snapshot_objects *objects, uint64_t dict);

void gp_objects_append(struct gp_snapshot_objects *objects, uint64_t list,
		       const uint64_t *items, const uint64_t *end);
/* The site of a list of frames; GP_NO_SITE if it is not such a list. */
uint32_t gp_objects_site(struct gp_snapshot_objects *objects, uint64_t list);

/*
 * Delivers and forgets the new elements of a list of entries that is already
 * known to be the trace of the device with that ordinal, so that the records of
 * a large trace never leave the cache. items: as in gp_objects_append().
 */
enum gp_status gp_objects_deliver_early(struct gp_snapshot_objects *objects,
					uint64_t list, uint64_t ordinal,
					const uint64_t *items,
					const uint64_t *end);

/* Delivers the result of the pickle to the build (snapshot_deliver.c). */
enum gp_status gp_objects_deliver(struct gp_snapshot_objects *objects,
				  uint64_t value);

#endif
