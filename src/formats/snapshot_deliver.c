/* SPDX-License-Identifier: MIT */
/* Delivers the lists of a pickled snapshot by their role, once all of it is
 * read. */
#include "formats/snapshot_object.h"

#define DAMAGED "is it damaged, or changed by another tool?"

/*
 * The list that a value stands for, if its elements are of that kind; NULL if
 * it is empty or missing. A list may be used once only: otherwise a small file
 * could expand to any size.
 */
static enum gp_status open_list(struct gp_snapshot_objects *o, uint64_t value,
				enum gp_object_kind kind, const char *what,
				struct gp_object_list **list)
{
	struct gp_diag *diag = o->delivery.diag;
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
				   "the list of %s has something else as "
				   "element %u",
				   what, (*list)->count);
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
	/* If such a dict is used again, it is no longer an entry. */
	for (; items < end; items++)
		if (gp_value_tag(*items) == GP_VALUE_DICT)
			o->dicts[gp_value_payload(*items)] = GP_OBJECT_OTHER;
	if (list->first + list->n == o->entries_count)
		o->entries_count = list->first;
	o->early_lists += !list->early;
	list->early = list->count;
	list->early_ordinal = (uint32_t)ordinal;
	list->n = 0;
	return status;
}

/*
 * Delivers a list's records range by range: first is the index of n records,
 * and passed the number of elements before them. of: the owner of the list.
 */
static enum gp_status deliver_list(
	struct gp_snapshot_objects *o, uint64_t value, enum gp_object_kind kind,
	const char *what, uint64_t of,
	enum gp_status (*deliver)(struct gp_snapshot_objects *o, uint64_t of,
				  uint32_t first, uint32_t n, size_t passed))
{
	struct gp_object_list *list;
	enum gp_status status = open_list(o, value, kind, what, &list);
	struct gp_object_run run;
	size_t passed;

	if (status != GP_OK || !list)
		return status;
	if (list->early && list->early_ordinal == of)
		o->early_lists--;
	passed = list->early;
	run = (struct gp_object_run){ list->first, list->n, list->head };
	for (;;) {
		status = deliver(o, of, run.first, run.n, passed);
		if (status != GP_OK || !run.next)
			return status;
		passed += run.n;
		run = o->runs[run.next];
	}
}

static enum gp_status deliver_entries(struct gp_snapshot_objects *o,
				      uint64_t ordinal, uint32_t first,
				      uint32_t n, size_t passed)
{
	return gp_snapshot_deliver_entries(&o->delivery, ordinal,
					   o->entries + first, n, passed);
}

static enum gp_status deliver_trace(struct gp_snapshot_objects *o,
				    uint64_t ordinal, uint64_t value)
{
	gp_diag_record(o->delivery.diag, "device %llu",
		       (unsigned long long)ordinal);
	return deliver_list(o, value, GP_OBJECT_ENTRY, "trace entries", ordinal,
			    deliver_entries);
}

static enum gp_status deliver_traces(struct gp_snapshot_objects *o, uint64_t of,
				     uint32_t first, uint32_t n, size_t passed)
{
	enum gp_status status = GP_OK;

	(void)of;
	for (uint32_t i = 0; i < n && status == GP_OK; i++)
		status = deliver_trace(o, passed + i,
				       gp_value(GP_VALUE_LIST, first + i));
	return status;
}

static enum gp_status deliver_device_traces(struct gp_snapshot_objects *o,
					    uint64_t value)
{
	gp_diag_record(o->delivery.diag, "device_traces");
	return deliver_list(o, value, GP_OBJECT_LIST, "lists of trace entries",
			    0, deliver_traces);
}

static enum gp_status deliver_blocks(struct gp_snapshot_objects *o,
				     uint64_t segment, uint32_t first,
				     uint32_t n, size_t passed)
{
	return gp_snapshot_deliver_blocks(&o->delivery, o->blocks + first, n,
					  segment, passed);
}

static enum gp_status deliver_segment(struct gp_snapshot_objects *o,
				      const struct gp_snapshot_segment *segment,
				      size_t number)
{
	enum gp_status status =
		gp_snapshot_deliver_segment(&o->delivery, segment, number);

	if (status != GP_OK || segment->blocks == GP_NO_LIST)
		return status;
	gp_diag_record(o->delivery.diag, "segment %zu", number);
	return deliver_list(o, gp_value(GP_VALUE_LIST, segment->blocks),
			    GP_OBJECT_BLOCK, "blocks", number, deliver_blocks);
}

static enum gp_status deliver_segments(struct gp_snapshot_objects *o,
				       uint64_t of, uint32_t first, uint32_t n,
				       size_t passed)
{
	enum gp_status status = GP_OK;

	(void)of;
	for (uint32_t i = 0; i < n && status == GP_OK; i++)
		status =
			deliver_segment(o, &o->segments[first + i], passed + i);
	return status;
}

static enum gp_status deliver_all_segments(struct gp_snapshot_objects *o,
					   uint64_t value)
{
	gp_diag_record(o->delivery.diag, "segments");
	return deliver_list(o, value, GP_OBJECT_SEGMENT, "segments", 0,
			    deliver_segments);
}

static enum gp_status deliver_annotations(struct gp_snapshot_objects *o,
					  uint64_t of, uint32_t first,
					  uint32_t n, size_t passed)
{
	enum gp_status status = GP_OK;

	(void)of;
	for (uint32_t i = 0; i < n && status == GP_OK; i++) {
		const struct gp_snapshot_annotation *a =
			&o->annotations[first + i];

		status = gp_snapshot_deliver_annotation(
			&o->delivery, a, o->texts.texts[a->text], passed + i);
	}
	return status;
}

static void deliver_settings(struct gp_snapshot_objects *o, uint64_t value)
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
	gp_snapshot_deliver_settings(&o->delivery, &object->settings);
}

static enum gp_status deliver_top(struct gp_snapshot_objects *o,
				  const struct gp_object_top *top)
{
	enum gp_status status;

	gp_snapshot_keys_add(&o->delivery.keys, GP_IN_TOP, top->keys);
	deliver_settings(o, top->settings);
	if (o->delivery.is_of_host)
		return deliver_trace(o, 0, top->host_traces);
	status = deliver_device_traces(o, top->traces);
	if (status == GP_OK)
		status = deliver_all_segments(o, top->segments);
	if (status != GP_OK)
		return status;
	gp_diag_record(o->delivery.diag, "external_annotations");
	return deliver_list(o, top->annotations, GP_OBJECT_ANNOTATION,
			    "annotations", 0, deliver_annotations);
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

/* Delivers a whole snapshot, or one of its lists. */
static enum gp_status deliver_role(struct gp_snapshot_objects *o,
				   uint64_t value)
{
	uint64_t number = gp_value_payload(value), dict;

	if (gp_value_tag(value) == GP_VALUE_DICT) {
		dict = gp_objects_settle(o, value);
		if ((dict & 255) == GP_OBJECT_TOP)
			return deliver_top(o, &o->tops[dict >> 8]);
	}
	if (gp_value_tag(value) == GP_VALUE_LIST) {
		switch (o->lists[number].kind) {
		case GP_OBJECT_LIST: return deliver_device_traces(o, value);
		case GP_OBJECT_ENTRY: return deliver_trace(o, 0, value);
		case GP_OBJECT_SEGMENT: return deliver_all_segments(o, value);
		}
	}
	return fail_role(o->delivery.diag);
}

enum gp_status gp_objects_deliver(struct gp_snapshot_objects *o, uint64_t value)
{
	struct gp_diag *diag = o->delivery.diag;
	enum gp_status status;

	o->delivery.pairs = o->pairs;
	status = deliver_role(o, value);
	if (status != GP_OK)
		return status;
	if (o->early_lists) {
		gp_diag_record(diag, "device_traces");
		gp_diag_hint(diag, DAMAGED);
		return gp_diag_set(
			diag, GP_INPUT,
			"the trace of a device is also in another place");
	}
	gp_build_source(o->build, "pytorch-snapshot");
	gp_snapshot_keys_bound(&o->delivery.keys, o->build);
	diag->record[0] = 0;
	diag->hint[0] = 0;
	return GP_OK;
}
