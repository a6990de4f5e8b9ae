/* SPDX-License-Identifier: MIT */
/* Texts, integers and pairs of a pickled snapshot; and the objects' memory. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/snapshot_object.h"

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
	/* Number 0 is the default pool, as in an entry without a pool id;
	 * runs and parts count from 1. */
	gp_objects_pair(o, 0, 0);
	o->runs = gp_mem_grow(o->runs, &o->runs_room, 1, sizeof(*o->runs));
	o->parts = gp_mem_grow(o->parts, &o->parts_room, 1, sizeof(*o->parts));
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
	o->dicts = gp_mem_grow(o->dicts, &o->dicts_room, o->dicts_count + n,
			       sizeof(*o->dicts));
	o->lists = gp_mem_grow(o->lists, &o->lists_room, o->lists_count + n,
			       sizeof(*o->lists));
}

void gp_objects_reserve_entries(struct gp_snapshot_objects *o)
{
	o->entries = gp_mem_grow(o->entries, &o->entries_room,
				 o->entries_count + 1, sizeof(*o->entries));
}

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

const char *gp_objects_text_of(const struct gp_snapshot_objects *o,
			       uint64_t value)
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
	if (is_negative) /* so far below 0 that nothing takes it */
		return GP_VALUE_OPAQUE;
	o->wides = gp_mem_grow(o->wides, &o->wides_room, o->wides_count + 1,
			       sizeof(*o->wides));
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

/* Keys tried for a pair; more only serves who makes them collide. */
#define PAIR_TRIES 8

static uint32_t find_pair(struct gp_snapshot_objects *o, uint64_t first,
			  uint64_t second)
{
	uint64_t key = gp_hash64(first) * 3 + gp_hash64(second);
	uint64_t last = key + PAIR_TRIES;
	uint32_t number = GP_MAP_NONE;

	/* Two pairs may have one hash: the next key is the second choice.  One
	 * that finds no key is stored each time, which does no harm. */
	for (; key != last; key++) {
		number = gp_map_get(&o->pair_of, key);
		if (number == GP_MAP_NONE)
			break;
		if (is_pair(&o->pairs[number], first, second))
			return number;
	}
	number = (uint32_t)o->pairs_count;
	o->pairs = gp_mem_grow(o->pairs, &o->pairs_room, o->pairs_count + 1,
			       sizeof(*o->pairs));
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
