/* SPDX-License-Identifier: MIT */
/* Lists of a pickled snapshot: ranges of records, and stacks of frames. */
#include "base/mem.h"
#include "formats/snapshot_object.h"

static void flush_frames(struct gp_snapshot_objects *o)
{
	if (!o->frames_changed)
		return;
	o->lists[o->frames_list].first =
		gp_build_site(o->build, o->frames, o->frames_count);
	o->frames_changed = false;
}

/*
 * Frames gather until the list is used, as a long one comes in parts.  Only
 * one list gathers at a time; one that another interrupted, or that was used,
 * stays as it is: a site costs as much as its list is long, so it is built
 * once.
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
	o->frames = gp_mem_grow(o->frames, &o->frames_room, o->frames_count + n,
				sizeof(*o->frames));
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

/* The first run is in the list itself; most lists have no other. */
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
	o->runs = gp_mem_grow(o->runs, &o->runs_room, o->runs_count + 1,
			      sizeof(*o->runs));
	o->runs[o->runs_count] = (struct gp_object_run){ number, 1, 0 };
	if (list->tail)
		o->runs[list->tail].next = (uint32_t)o->runs_count;
	else
		list->head = (uint32_t)o->runs_count;
	list->tail = (uint32_t)o->runs_count++;
}

/* What an element is, as a dict's word. */
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

/* JSON has no tuples: a pool id that went through it is a list. */
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
	list->count = 2;
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

/* The entries that follow on each other, which is nearly all there is; returns
 * the first item that is none. */
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

/* Whatever is no frame is left out. */
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
	/* It only matters that there are some. */
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
