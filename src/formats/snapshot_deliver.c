/* SPDX-License-Identifier: MIT */
/* The roles of a pickled snapshot's lists, once the whole of it is read. */
#include "formats/snapshot_object.h"

#define DAMAGED "is it damaged, or changed by another tool?"

/* The ranges of a list's records, one after the other. */
struct walk {
	const struct gp_snapshot_objects *objects;
	uint32_t first, n; /* this range */
	uint32_t next;	   /* the run behind it */
	size_t passed;	   /* elements before it */
};

static struct walk walk_start(const struct gp_snapshot_objects *o,
			      const struct gp_object_list *list)
{
	return (struct walk){ o, list->first, list->n, list->head, 0 };
}

static bool walk_next(struct walk *walk)
{
	const struct gp_object_run *run = &walk->objects->runs[walk->next];

	if (!walk->next)
		return false;
	walk->passed += walk->n;
	walk->first = run->first;
	walk->n = run->n;
	walk->next = run->next;
	return true;
}

/*
 * The list that a value is, if it is one of that kind; NULL if it is empty or
 * absent.  A list has one place: a file that has it twice would otherwise
 * unpack to any size.
 */
static enum gp_status open_list(struct gp_snapshot_objects *o, uint64_t value,
				enum gp_object_kind kind, const char *what,
				struct gp_object_list **list,
				struct gp_diag *diag)
{
	unsigned tag = gp_value_tag(value);

	*list = NULL;
	if (tag == GP_VALUE_UNSET || tag == GP_VALUE_NONE)
		return GP_OK;
	if (tag == GP_VALUE_LIST)
		*list = &o->lists[gp_value_payload(value)];
	if (*list && (*list)->kind == GP_OBJECT_EMPTY) {
		*list = NULL;
		return GP_OK;
	}
	if (*list && (*list)->kind == kind && !(*list)->is_delivered) {
		(*list)->is_delivered = true;
		return GP_OK;
	}
	gp_diag_hint(diag, DAMAGED);
	if (!*list ||
	    ((*list)->kind != kind && (*list)->kind != GP_OBJECT_OTHER))
		return gp_diag_set(diag, GP_INPUT, "it is not a list of %s",
				   what);
	if ((*list)->kind == GP_OBJECT_OTHER)
		return gp_diag_set(diag, GP_INPUT,
				   "element %u of the list is none of the %s "
				   "that it should hold",
				   (*list)->count, what);
	return gp_diag_set(diag, GP_INPUT,
			   "the same list of %s is in two places", what);
}

enum gp_status gp_objects_deliver_early(struct gp_snapshot_objects *o,
					uint64_t value, uint64_t ordinal,
					const uint64_t *items,
					const uint64_t *end)
{
	struct gp_object_list *list = &o->lists[gp_value_payload(value)];
	struct gp_snapshot_delivery *d = &o->delivery;
	enum gp_status status;

	if (list->kind != GP_OBJECT_ENTRY || list->tail || !list->n ||
	    ordinal > UINT32_MAX)
		return GP_OK;
	d->pairs = o->pairs;
	status = gp_snapshot_deliver_entries(d, ordinal,
					     o->entries + list->first, list->n,
					     list->count - list->n);
	/* A dict that is used once more is not what it was. */
	for (; items < end; items++)
		if (gp_value_tag(*items) == GP_VALUE_DICT)
			o->dicts[gp_value_payload(*items)] = GP_OBJECT_OTHER;
	if (list->first + list->n == o->entries_count)
		o->entries_count = list->first;
	o->early_lists += !list->is_early;
	list->is_early = true;
	list->early_ordinal = (uint32_t)ordinal;
	list->n = 0;
	return status;
}

static enum gp_status deliver_trace(struct gp_snapshot_objects *o,
				    struct gp_snapshot_delivery *d,
				    uint64_t ordinal, uint64_t value)
{
	struct gp_object_list *list;
	enum gp_status status;
	struct walk walk;

	gp_diag_record(d->diag, "device %llu", (unsigned long long)ordinal);
	status = open_list(o, value, GP_OBJECT_ENTRY, "trace entries", &list,
			   d->diag);
	if (status != GP_OK || !list)
		return status;
	if (list->is_early && list->early_ordinal == ordinal)
		o->early_lists--;
	walk = walk_start(o, list);
	do
		status = gp_snapshot_deliver_entries(d, ordinal,
						     o->entries + walk.first,
						     walk.n, walk.passed);
	while (status == GP_OK && walk_next(&walk));
	return status;
}

static enum gp_status deliver_traces(struct gp_snapshot_objects *o,
				     struct gp_snapshot_delivery *d,
				     uint64_t value)
{
	struct gp_object_list *list;
	enum gp_status status;
	struct walk walk;

	gp_diag_record(d->diag, "device_traces");
	status = open_list(o, value, GP_OBJECT_LIST, "lists of trace entries",
			   &list, d->diag);
	if (status != GP_OK || !list)
		return status;
	walk = walk_start(o, list);
	do
		for (uint32_t i = 0; i < walk.n && status == GP_OK; i++)
			status = deliver_trace(
				o, d, walk.passed + i,
				gp_value(GP_VALUE_LIST, walk.first + i));
	while (status == GP_OK && walk_next(&walk));
	return status;
}

static enum gp_status deliver_blocks(struct gp_snapshot_objects *o,
				     struct gp_snapshot_delivery *d,
				     uint32_t blocks, size_t segment)
{
	struct gp_object_list *list;
	enum gp_status status;
	struct walk walk;

	if (blocks == GP_NO_LIST)
		return GP_OK;
	gp_diag_record(d->diag, "segment %zu", segment);
	status = open_list(o, gp_value(GP_VALUE_LIST, blocks), GP_OBJECT_BLOCK,
			   "blocks", &list, d->diag);
	if (status != GP_OK || !list)
		return status;
	walk = walk_start(o, list);
	do
		status = gp_snapshot_deliver_blocks(d, o->blocks + walk.first,
						    walk.n, segment,
						    walk.passed);
	while (status == GP_OK && walk_next(&walk));
	return status;
}

static enum gp_status deliver_segment(struct gp_snapshot_objects *o,
				      struct gp_snapshot_delivery *d,
				      uint32_t number, size_t segment)
{
	enum gp_status status =
		gp_snapshot_deliver_segment(d, &o->segments[number], segment);

	if (status == GP_OK)
		status = deliver_blocks(o, d, o->segments[number].blocks,
					segment);
	return status;
}

static enum gp_status deliver_segments(struct gp_snapshot_objects *o,
				       struct gp_snapshot_delivery *d,
				       uint64_t value)
{
	struct gp_object_list *list;
	enum gp_status status;
	struct walk walk;

	gp_diag_record(d->diag, "segments");
	status = open_list(o, value, GP_OBJECT_SEGMENT, "segments", &list,
			   d->diag);
	if (status != GP_OK || !list)
		return status;
	walk = walk_start(o, list);
	do
		for (uint32_t i = 0; i < walk.n && status == GP_OK; i++)
			status = deliver_segment(o, d, walk.first + i,
						 walk.passed + i);
	while (status == GP_OK && walk_next(&walk));
	return status;
}

static enum gp_status deliver_annotations(struct gp_snapshot_objects *o,
					  struct gp_snapshot_delivery *d,
					  uint64_t value)
{
	struct gp_object_list *list;
	enum gp_status status;
	struct walk walk;

	gp_diag_record(d->diag, "external_annotations");
	status = open_list(o, value, GP_OBJECT_ANNOTATION, "annotations", &list,
			   d->diag);
	if (status != GP_OK || !list)
		return status;
	walk = walk_start(o, list);
	do
		for (uint32_t i = 0; i < walk.n && status == GP_OK; i++) {
			const struct gp_snapshot_annotation *a =
				&o->annotations[walk.first + i];

			status = gp_snapshot_deliver_annotation(
				d, a, o->texts.texts[a->text], walk.passed + i);
		}
	while (status == GP_OK && walk_next(&walk));
	return status;
}

static void deliver_settings(struct gp_snapshot_objects *o,
			     struct gp_snapshot_delivery *d, uint64_t value)
{
	struct gp_object_settings *object;
	uint64_t dict;

	if (gp_value_tag(value) != GP_VALUE_DICT)
		return;
	dict = gp_objects_settle(o, value);
	if ((dict & 255) != GP_OBJECT_SETTINGS)
		return;
	object = &o->settings[dict >> 8];
	if (gp_value_tag(object->divisions) == GP_VALUE_DICT) {
		dict = gp_objects_settle(o, object->divisions);
		object->settings.divisions = NULL;
		if ((dict & 255) == GP_OBJECT_DIVISIONS)
			object->settings.divisions =
				o->divisions[dict >> 8].divisions;
	}
	gp_snapshot_deliver_settings(d, &object->settings);
}

static enum gp_status deliver_top(struct gp_snapshot_objects *o,
				  struct gp_snapshot_delivery *d,
				  const struct gp_object_top *top)
{
	enum gp_status status;

	gp_snapshot_keys_add(&d->keys, GP_IN_TOP, top->keys);
	deliver_settings(o, d, top->settings);
	if (d->is_of_host)
		return deliver_trace(o, d, 0, top->host_traces);
	status = deliver_traces(o, d, top->traces);
	if (status == GP_OK)
		status = deliver_segments(o, d, top->segments);
	if (status == GP_OK)
		status = deliver_annotations(o, d, top->annotations);
	return status;
}

static enum gp_status fail_role(struct gp_diag *diag)
{
	gp_diag_hint(diag, "torch.cuda.memory._dump_snapshot(\"file.pickle\") "
			   "writes one: a dict with segments and "
			   "device_traces");
	return gp_diag_foreign(diag,
			       "it is a pickle, but not of a PyTorch memory "
			       "snapshot");
}

/* A whole snapshot, or one of its lists by itself. */
static enum gp_status deliver_role(struct gp_snapshot_objects *o,
				   struct gp_snapshot_delivery *d,
				   uint64_t value)
{
	uint64_t number = gp_value_payload(value), dict;

	if (gp_value_tag(value) == GP_VALUE_DICT) {
		dict = gp_objects_settle(o, value);
		if ((dict & 255) == GP_OBJECT_TOP)
			return deliver_top(o, d, &o->tops[dict >> 8]);
	}
	if (gp_value_tag(value) == GP_VALUE_LIST) {
		switch (o->lists[number].kind) {
		case GP_OBJECT_LIST: return deliver_traces(o, d, value);
		case GP_OBJECT_ENTRY: return deliver_trace(o, d, 0, value);
		case GP_OBJECT_SEGMENT: return deliver_segments(o, d, value);
		}
	}
	return fail_role(d->diag);
}

enum gp_status gp_objects_deliver(struct gp_snapshot_objects *o, uint64_t value)
{
	struct gp_diag *diag = o->delivery.diag;
	enum gp_status status;

	o->delivery.pairs = o->pairs;
	status = deliver_role(o, &o->delivery, value);
	if (status != GP_OK)
		return status;
	if (o->early_lists) {
		gp_diag_record(diag, "device_traces");
		gp_diag_hint(diag, DAMAGED);
		return gp_diag_set(diag, GP_INPUT,
				   "a trace did not stay where it was read");
	}
	gp_build_source(o->build, "pytorch-snapshot");
	gp_snapshot_keys_bound(&o->delivery.keys, o->build);
	diag->record[0] = 0;
	diag->hint[0] = 0;
	return GP_OK;
}
