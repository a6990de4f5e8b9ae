/* SPDX-License-Identifier: MIT */
/* Dicts of a pickled snapshot: their keys say what they become. */
#include "base/mem.h"
#include "formats/snapshot_kind.h"

static bool is_division(enum gp_word word)
{
	return word >= GP_WORD_DIVISION && word <= GP_WORD_DIVISION_LAST;
}

/* roundup_power2_divisions: its keys are numbers, as texts. */
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
	o->divisions =
		gp_mem_grow(o->divisions, &o->divisions_room,
			    o->divisions_count + 1, sizeof(*o->divisions));
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
	for (size_t i = 0; i < GP_DICT_KINDS; i++) {
		const struct gp_dict_kind *kind = &gp_dict_kinds[i];
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
	for (size_t i = 0; i < GP_DICT_KINDS; i++)
		if (gp_dict_kinds[i].kind == (dict & 255) &&
		    gp_dict_kinds[i].set)
			gp_dict_kinds[i].set(o, (uint32_t)(dict >> 8));
}

static void add_parts(struct gp_snapshot_objects *o, uint64_t *dict,
		      const uint64_t *items, const uint64_t *end)
{
	for (; items < end; items += 2) {
		if (gp_value_word(items[0]) == GP_WORDS)
			continue;
		o->parts = gp_mem_grow(o->parts, &o->parts_room,
				       o->parts_count + 1, sizeof(*o->parts));
		o->parts[o->parts_count] =
			(struct gp_object_part){ items[0], items[1],
						 (uint32_t)(*dict >> 8) };
		*dict = (uint64_t)o->parts_count++ << 8 | GP_OBJECT_PARTS;
	}
}

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
	if (kind == GP_OBJECT_EMPTY || kind == GP_OBJECT_OTHER)
		*dict = reduce(o, items, end);
	else
		set_more(o, *dict);
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
	o->items = gp_mem_grow(o->items, &o->items_room, n, sizeof(*o->items));
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
