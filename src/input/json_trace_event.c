/* SPDX-License-Identifier: MIT */
/* Events of gpupool-trace: gpupool-trace(5). */
#include <inttypes.h>
#include <string.h>

#include "input/json_trace.h"
#include "input/json_value.h"

enum key {
	OP,
	DEVICE,
	ID,
	SIZE,
	ADDR,
	STREAM,
	POOL,
	TIME,
	SITE,
	FRACTION,
	BYTES,
	CONF,
	NAME,
	STAGE,
	DEVICE_FREE,
	AT_ONCE,
	INFERRED,
	REFUSED,
	RESTORED,
	BY,
	KEYS,
};

static const char *const names[KEYS] = {
	"op",	   "device",   "id",	  "size",     "addr",
	"stream",  "pool",     "time",	  "site",     "fraction",
	"bytes",   "conf",     "name",	  "stage",    "device_free",
	"at_once", "inferred", "refused", "restored", "by",
};

#define NEEDS(key) (1u << (key))

/* What an event cannot do without. */
static const uint32_t needs[GP_EVENT_KINDS] = {
	[GP_ALLOC] = NEEDS(ID) | NEEDS(SIZE),
	[GP_FREE] = NEEDS(ID),
	[GP_RECORD_STREAM] = NEEDS(ID),
	[GP_SET_FRACTION] = NEEDS(FRACTION),
	[GP_OTHER_MEMORY] = NEEDS(BYTES),
	[GP_POOL_BEGIN] = NEEDS(POOL),
	[GP_POOL_END] = NEEDS(POOL),
	[GP_POOL_RELEASE] = NEEDS(POOL),
	[GP_CAPTURE_BEGIN] = NEEDS(POOL),
	[GP_CAPTURE_END] = NEEDS(POOL),
	[GP_POOL_CREATE] = NEEDS(POOL),
	[GP_POOL_USE_ON_OOM] = NEEDS(POOL),
	[GP_POOL_NO_USE_ON_OOM] = NEEDS(POOL),
	[GP_POOL_NO_SPLIT] = NEEDS(POOL),
	[GP_SET_SETTINGS] = NEEDS(CONF),
	[GP_MARK] = NEEDS(NAME),
	[GP_SEGMENT_ALLOC] = NEEDS(ADDR) | NEEDS(SIZE),
	[GP_SEGMENT_FREE] = NEEDS(ADDR) | NEEDS(SIZE),
	[GP_SEGMENT_MAP] = NEEDS(ADDR) | NEEDS(SIZE),
	[GP_SEGMENT_UNMAP] = NEEDS(ADDR) | NEEDS(SIZE),
	[GP_OOM] = NEEDS(SIZE),
};

/* An event as parsed: a value or NULL by key. */
struct raw {
	const char *op;
	const json_t *values[KEYS];
};

static void spread(const json_t *object, struct raw *raw)
{
	const char *name;
	json_t *value;
	unsigned key;

	memset(raw, 0, sizeof(*raw));
	json_object_foreach((json_t *)object, name, value)
	{
		for (key = 0; key < KEYS; key++)
			if (name[0] == names[key][0] &&
			    !strcmp(name, names[key]))
				break;
		if (key < KEYS && !json_is_null(value))
			raw->values[key] = value;
	}
}

static bool find_kind(struct gp_json_trace *t, struct raw *raw, uint8_t *kind)
{
	const json_t *op = raw->values[OP];
	char shown[GP_JSON_SHOWN];

	if (!json_is_string(op)) {
		gp_json_trace_wrong(t, "the event", "op", op, "a text");
		return false;
	}
	raw->op = json_string_value(op);
	for (*kind = 0; *kind < GP_EVENT_KINDS; ++*kind)
		if (!strcmp(raw->op, gp_event_kind_name(*kind)))
			return true;
	gp_diag_hint(t->diag, "man 5 gpupool-trace lists them all; is the file "
			      "from a newer gpupool?");
	t->scan->status = gp_diag_set(t->diag, GP_INPUT, "unknown op %s",
				      gp_json_show(op, shown));
	return false;
}

static bool has_needed(struct gp_json_trace *t, const struct raw *raw,
		       uint8_t kind)
{
	for (unsigned key = 0; key < KEYS; key++)
		if (needs[kind] & NEEDS(key) && !raw->values[key]) {
			gp_json_trace_wrong(t, raw->op, names[key], NULL, "");
			return false;
		}
	return true;
}

/* Size and address go by other names where they are something else. */
static bool read_numbers(struct gp_json_trace *t, const struct raw *raw,
			 struct gp_event *event, uint64_t *name)
{
	unsigned size = event->kind == GP_OTHER_MEMORY ? BYTES : SIZE;
	unsigned addr = event->kind == GP_OOM ? DEVICE_FREE : ADDR;
	uint8_t has = gp_event_fields(event->kind);

	if (has & GP_HAS_ID && raw->values[ID]) {
		event->id = 0;
		if (!gp_json_trace_number(t, raw->op, "id", raw->values[ID],
					  name))
			return false;
	}
	if (has & GP_HAS_SIZE &&
	    !gp_json_trace_number(t, raw->op, names[size], raw->values[size],
				  &event->size))
		return false;
	if (has & GP_HAS_ADDR &&
	    !gp_json_trace_number(t, raw->op, names[addr], raw->values[addr],
				  &event->addr))
		return false;
	return gp_json_trace_number(t, raw->op, "time", raw->values[TIME],
				    &event->time_us) &&
	       gp_json_trace_site(t, raw->op, raw->values[SITE], &event->site);
}

/* Who waits, if it is not the program. */
static bool read_by(struct gp_json_trace *t, const struct raw *raw,
		    struct gp_event *event)
{
	const json_t *value = raw->values[BY];

	if (event->kind != GP_SYNCHRONIZE || !value)
		return true;
	if (raw->values[ID] || !raw->values[STREAM]) {
		gp_json_trace_wrong(t, raw->op, "by", value,
				    "beside a \"stream\" and no \"id\"");
		return false;
	}
	event->flags |= GP_STREAM_WAITS;
	return gp_json_trace_stream(t, raw->op, "by", value, &event->by);
}

static bool read_stream_pool(struct gp_json_trace *t, const struct raw *raw,
			     struct gp_event *event)
{
	uint8_t has = gp_event_fields(event->kind);

	event->stream = event->kind == GP_SYNCHRONIZE	  ? GP_ALL_STREAMS
			: event->kind == GP_RECORD_STREAM ? GP_NO_STREAM
							  : 0;
	if (has & GP_HAS_STREAM &&
	    !gp_json_trace_stream(t, raw->op, "stream", raw->values[STREAM],
				  &event->stream))
		return false;
	if (event->kind == GP_CAPTURE_BEGIN && raw->values[STREAM])
		event->flags |= GP_NAMES_STREAM;
	if (!read_by(t, raw, event))
		return false;
	return !(has & GP_HAS_POOL) ||
	       gp_json_trace_pool(t, raw->op, "pool", raw->values[POOL],
				  &event->pool);
}

static bool read_fraction(struct gp_json_trace *t, const struct raw *raw,
			  struct gp_event *event)
{
	const json_t *value = raw->values[FRACTION];

	if (event->kind != GP_SET_FRACTION)
		return true;
	event->fraction = json_number_value(value);
	if (json_is_number(value))
		return true;
	gp_json_trace_wrong(t, raw->op, "fraction", value, "a number");
	return false;
}

static bool read_stage(struct gp_json_trace *t, const struct raw *raw,
		       struct gp_event *event)
{
	const json_t *value = raw->values[STAGE];
	const char *stage = json_string_value(value);

	if (event->kind != GP_MARK || !value)
		return true;
	if (stage && !strcmp(stage, "start")) {
		event->mark = GP_MARK_START;
	} else if (stage && !strcmp(stage, "end")) {
		event->mark = GP_MARK_END;
	} else {
		gp_json_trace_wrong(t, raw->op, "stage", value,
				    "start or end, or not there");
		return false;
	}
	return true;
}

static bool read_text(struct gp_json_trace *t, const struct raw *raw,
		      struct gp_event *event)
{
	unsigned key = event->kind == GP_MARK ? NAME : CONF;
	const json_t *value = raw->values[key];

	if (!(gp_event_fields(event->kind) & GP_HAS_TEXT))
		return true;
	if (!gp_json_trace_text(t, raw->op, names[key], value))
		return false;
	event->text = gp_build_text(t->build, json_string_value(value),
				    json_string_length(value));
	return true;
}

static void read_flags(const struct raw *raw, struct gp_event *event)
{
	if (json_is_true(raw->values[INFERRED]))
		event->flags |= GP_INFERRED;
	if (json_is_true(raw->values[REFUSED]) && event->kind == GP_ALLOC)
		event->flags |= GP_REFUSED;
	if (json_is_true(raw->values[RESTORED]) && event->kind == GP_ALLOC)
		event->flags |= GP_RESTORED;
	if (event->kind != GP_FREE)
		return;
	if (json_is_true(raw->values[AT_ONCE]))
		event->flags |= GP_AT_ONCE;
	else if (json_is_false(raw->values[AT_ONCE]))
		event->flags |= GP_BUILD_LATE;
}

static void name_event(const struct gp_json_trace *t, uint32_t device)
{
	if (t->device_count > 1)
		gp_diag_record(t->diag, "device %" PRIu64 ", event %zu",
			       t->devices[device].ordinal,
			       t->devices[device].events);
	else
		gp_diag_record(t->diag, "event %zu", t->devices[device].events);
}

void gp_json_trace_event(struct gp_json_trace *t, uint32_t device,
			 const json_t *object)
{
	struct gp_event event = { .id = GP_NO_ID };
	uint64_t name = 0, ordinal = t->devices[device].ordinal;
	struct raw raw;

	spread(object, &raw);
	if (!json_is_object(object))
		gp_json_trace_wrong(t, "the list", "events", object,
				    "objects, each with an \"op\"");
	else if (gp_json_trace_number(t, "the event", "device",
				      raw.values[DEVICE], &ordinal) &&
		 gp_json_trace_device(t, ordinal, &device) &&
		 find_kind(t, &raw, &event.kind) &&
		 has_needed(t, &raw, event.kind) &&
		 read_numbers(t, &raw, &event, &name) &&
		 read_stream_pool(t, &raw, &event) &&
		 read_fraction(t, &raw, &event) &&
		 read_stage(t, &raw, &event) && read_text(t, &raw, &event)) {
		read_flags(&raw, &event);
		gp_build_event(t->build, device, &event, name);
		t->devices[device].events++;
		return;
	}
	name_event(t, device);
}
