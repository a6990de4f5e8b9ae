/* SPDX-License-Identifier: MIT */
/*
 * The events of a gpupool-trace: see gpupool-trace(5).
 *
 * Almost all events have a plain form, which is parsed in place: only known
 * keys, each once, whole numbers, and ASCII strings without escapes. Others are
 * parsed by jansson. Only events parsed by jansson are ever rejected, so that
 * messages do not depend on how an event is written.
 */
#include <inttypes.h>
#include <string.h>

#include "formats/json_plain.h"
#include "formats/json_trace.h"

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
	OWNER,
	KEYS,
};

static const char *const names[KEYS] = {
	"op",	    "device", "id",	     "size",	 "addr",     "stream",
	"pool",	    "time",   "site",	     "fraction", "bytes",    "conf",
	"name",	    "stage",  "device_free", "at_once",	 "inferred", "refused",
	"restored", "by",     "owner",
};

static const uint8_t lengths[KEYS] = { 2, 6, 2, 4,  4, 6, 4, 4, 4, 8, 5,
				       4, 4, 5, 11, 7, 8, 7, 8, 2, 5 };

#define BIT(key) (1u << (key))

/* The keys that each kind requires. */
static const uint32_t needs[GP_EVENT_KINDS] = {
	[GP_ALLOC] = BIT(ID) | BIT(SIZE),
	[GP_FREE] = BIT(ID),
	[GP_RECORD_STREAM] = BIT(ID),
	[GP_SET_FRACTION] = BIT(FRACTION),
	[GP_OTHER_MEMORY] = BIT(BYTES),
	[GP_POOL_BEGIN] = BIT(POOL),
	[GP_POOL_END] = BIT(POOL),
	[GP_POOL_RELEASE] = BIT(POOL),
	[GP_CAPTURE_BEGIN] = BIT(POOL),
	[GP_CAPTURE_END] = BIT(POOL),
	[GP_POOL_CREATE] = BIT(POOL),
	[GP_POOL_USE_ON_OOM] = BIT(POOL),
	[GP_POOL_NO_USE_ON_OOM] = BIT(POOL),
	[GP_POOL_NO_SPLIT] = BIT(POOL),
	[GP_SET_SETTINGS] = BIT(CONF),
	[GP_MARK] = BIT(NAME),
	[GP_SEGMENT_ALLOC] = BIT(ADDR) | BIT(SIZE),
	[GP_SEGMENT_FREE] = BIT(ADDR) | BIT(SIZE),
	[GP_SEGMENT_MAP] = BIT(ADDR) | BIT(SIZE),
	[GP_SEGMENT_UNMAP] = BIT(ADDR) | BIT(SIZE),
	[GP_OOM] = BIT(SIZE),
};

/*
 * The keys of an event: plain values or, if the event is not plain, jansson's
 * values, NULL for missing keys.
 */
struct raw {
	uint32_t has; /* a bit per key; null counts as missing */
	bool is_plain;
	uint32_t is_true; /* plain: a bit per key; 0: false */
	const char *op;	  /* once known, together with fields */
	uint8_t fields;	  /* enum gp_event_field */
	uint64_t numbers[KEYS];
	struct gp_pool_id pool;
	struct gp_plain_text texts[KEYS];
	const json_t *values[KEYS];
};

static bool has(const struct raw *raw, enum key key)
{
	return raw->has & BIT(key);
}

static const json_t *value_of(const struct raw *raw, enum key key)
{
	return has(raw, key) ? raw->values[key] : NULL;
}

/* Reports an invalid key. For a plain event, that is left to the parse by
 * jansson. */
static bool wrong(struct gp_json_trace *t, const struct raw *raw, enum key key,
		  const char *must_be)
{
	if (!raw->is_plain)
		gp_json_trace_wrong(t, raw->op ? raw->op : "the event",
				    names[key], value_of(raw, key), must_be);
	return false;
}

/* ---- values; if one is missing, *to is unchanged ---- */

static bool take_number(struct gp_json_trace *t, const struct raw *raw,
			enum key key, uint64_t *to)
{
	if (!has(raw, key))
		return true;
	if (!raw->is_plain)
		return gp_json_trace_number(t, raw->op ? raw->op : "the event",
					    names[key], raw->values[key], to);
	*to = raw->numbers[key];
	return true;
}

static bool take_stream(struct gp_json_trace *t, const struct raw *raw,
			enum key key, uint16_t *to)
{
	if (!has(raw, key))
		return true;
	if (!raw->is_plain)
		return gp_json_trace_stream(t, raw->op, names[key],
					    raw->values[key], to);
	t->scan->status =
		gp_build_stream(t->build, raw->numbers[key], to, t->diag);
	return t->scan->status == GP_OK;
}

static bool take_pool(struct gp_json_trace *t, const struct raw *raw,
		      uint16_t *to)
{
	if (!has(raw, POOL))
		return true;
	if (!raw->is_plain)
		return gp_json_trace_pool(t, raw->op, names[POOL],
					  raw->values[POOL], to);
	t->scan->status = gp_build_pool(t->build, raw->pool, to, t->diag);
	return t->scan->status == GP_OK;
}

/* An index into "sites" or "owners"; `none` if the key is missing. read: reads
 * it from jansson's value. */
static bool take_index(struct gp_json_trace *t, const struct raw *raw,
		       enum key key, uint32_t none,
		       bool (*read)(struct gp_json_trace *t, const char *owner,
				    const json_t *value, uint32_t *to),
		       uint32_t *to)
{
	*to = none;
	if (!has(raw, key))
		return true;
	if (!raw->is_plain)
		return read(t, raw->op, raw->values[key], to);
	*to = (uint32_t)raw->numbers[key];
	return raw->numbers[key] < none;
}

static bool take_text(struct gp_json_trace *t, const struct raw *raw,
		      enum key key, struct gp_plain_text *to)
{
	const json_t *value = raw->is_plain ? NULL : value_of(raw, key);

	if (!raw->is_plain) {
		*to = (struct gp_plain_text){ json_string_value(value),
					      json_string_length(value) };
		return gp_json_trace_text(t, raw->op, names[key], value);
	}
	*to = raw->texts[key];
	return has(raw, key);
}

static bool is_true(struct gp_json_trace *t, const struct raw *raw,
		    enum key key)
{
	return raw->is_plain ? raw->is_true & BIT(key)
			     : gp_json_trace_flag(t, raw->op, names[key],
						  value_of(raw, key));
}

static bool is_false(const struct raw *raw, enum key key)
{
	return raw->is_plain ? has(raw, key) && !(raw->is_true & BIT(key))
			     : json_is_false(value_of(raw, key));
}

/* ---- the meaning of the values ---- */

/* GP_EVENT_KINDS: there is no kind with that name. */
static uint8_t kind_of(struct gp_plain_text op)
{
	uint8_t kind = 0;

	/* almost all */
	if (op.length == 5 && !memcmp(op.bytes, "alloc", 5))
		return GP_ALLOC;
	if (op.length == 4 && !memcmp(op.bytes, "free", 4))
		return GP_FREE;
	while (kind < GP_EVENT_KINDS &&
	       !gp_plain_is(op, gp_event_kind_name(kind)))
		kind++;
	return kind;
}

static bool find_kind(struct gp_json_trace *t, struct raw *raw, uint8_t *kind)
{
	char shown[GP_JSON_SHOWN];
	struct gp_plain_text op = raw->texts[OP];

	if (!raw->is_plain) {
		op.bytes = json_string_value(value_of(raw, OP));
		op.length = op.bytes ? strlen(op.bytes) : 0;
	}
	if (!op.bytes)
		return wrong(t, raw, OP, "a text");
	*kind = kind_of(op);
	if (*kind < GP_EVENT_KINDS) {
		raw->op = gp_event_kind_name(*kind);
		raw->fields = gp_event_fields(*kind);
		return true;
	}
	if (raw->is_plain)
		return false;
	gp_diag_hint(t->diag, "man 5 gpupool-trace lists them all; is the file "
			      "from a newer gpupool?");
	t->scan->status = gp_diag_set(t->diag, GP_INPUT, "unknown op %s",
				      gp_json_show(raw->values[OP], shown));
	return false;
}

static bool has_needed(struct gp_json_trace *t, const struct raw *raw,
		       uint8_t kind)
{
	uint32_t missing = needs[kind] & ~raw->has;
	enum key key = 0;

	if (!missing)
		return true;
	while (!(missing & BIT(key)))
		key++;
	return wrong(t, raw, key, "");
}

/* Some kinds have other names for the size or the address. */
static bool read_numbers(struct gp_json_trace *t, const struct raw *raw,
			 struct gp_event *event, uint64_t *name)
{
	enum key size = event->kind == GP_OTHER_MEMORY ? BYTES : SIZE;
	enum key addr = event->kind == GP_OOM ? DEVICE_FREE : ADDR;
	uint8_t fields = raw->fields;

	if (fields & GP_HAS_ID && has(raw, ID)) {
		event->id = 0;
		if (!take_number(t, raw, ID, name))
			return false;
	}
	if (fields & GP_HAS_SIZE && !take_number(t, raw, size, &event->size))
		return false;
	if (fields & GP_HAS_ADDR && !take_number(t, raw, addr, &event->addr))
		return false;
	return take_number(t, raw, TIME, &event->time_us) &&
	       take_index(t, raw, SITE, GP_NO_SITE, gp_json_trace_site,
			  &event->site);
}

/* The stream that waits, if it is not the host that waits. */
static bool read_by(struct gp_json_trace *t, const struct raw *raw,
		    struct gp_event *event)
{
	if (event->kind != GP_SYNCHRONIZE || !has(raw, BY))
		return true;
	if (has(raw, ID) || !has(raw, STREAM))
		return wrong(t, raw, BY, "beside a \"stream\" and no \"id\"");
	event->flags |= GP_STREAM_WAITS;
	return take_stream(t, raw, BY, &event->by);
}

static bool read_stream_pool(struct gp_json_trace *t, const struct raw *raw,
			     struct gp_event *event)
{
	uint8_t fields = raw->fields;

	event->stream = event->kind == GP_SYNCHRONIZE	  ? GP_ALL_STREAMS
			: event->kind == GP_RECORD_STREAM ? GP_NO_STREAM
							  : 0;
	if (fields & GP_HAS_STREAM &&
	    !take_stream(t, raw, STREAM, &event->stream))
		return false;
	if (event->kind == GP_CAPTURE_BEGIN && has(raw, STREAM))
		event->flags |= GP_NAMES_STREAM;
	if (!read_by(t, raw, event))
		return false;
	return !(fields & GP_HAS_POOL) || take_pool(t, raw, &event->pool);
}

static bool read_fraction(struct gp_json_trace *t, const struct raw *raw,
			  struct gp_event *event)
{
	if (event->kind != GP_SET_FRACTION)
		return true;
	event->fraction = json_number_value(raw->values[FRACTION]);
	if (json_is_number(raw->values[FRACTION]))
		return true;
	return wrong(t, raw, FRACTION, "a number");
}

static bool read_stage(struct gp_json_trace *t, const struct raw *raw,
		       struct gp_event *event)
{
	struct gp_plain_text stage = raw->texts[STAGE];

	if (event->kind != GP_MARK || !has(raw, STAGE))
		return true;
	if (!raw->is_plain) {
		stage.bytes = json_string_value(raw->values[STAGE]);
		stage.length = stage.bytes ? strlen(stage.bytes) : 0;
	}
	if (stage.bytes && gp_plain_is(stage, "start"))
		event->mark = GP_MARK_START;
	else if (stage.bytes && gp_plain_is(stage, "end"))
		event->mark = GP_MARK_END;
	else
		return wrong(t, raw, STAGE, "start or end, or absent");
	return true;
}

static bool read_text(struct gp_json_trace *t, const struct raw *raw,
		      struct gp_event *event)
{
	struct gp_plain_text text;

	if (!(raw->fields & GP_HAS_TEXT))
		return true;
	if (!take_text(t, raw, event->kind == GP_MARK ? NAME : CONF, &text))
		return false;
	event->text = gp_build_text(t->build, text.bytes, text.length);
	return true;
}

static bool read_flags(struct gp_json_trace *t, const struct raw *raw,
		       struct gp_event *event)
{
	if (is_true(t, raw, INFERRED))
		event->flags |= GP_INFERRED;
	if (event->kind == GP_ALLOC && is_true(t, raw, REFUSED))
		event->flags |= GP_REFUSED;
	if (event->kind == GP_ALLOC && is_true(t, raw, RESTORED))
		event->flags |= GP_RESTORED;
	if (event->kind == GP_FREE && is_true(t, raw, AT_ONCE))
		event->flags |= GP_AT_ONCE;
	else if (event->kind == GP_FREE && is_false(raw, AT_ONCE))
		event->flags |= GP_BUILD_LATE;
	return !t->scan->status;
}

static bool find_device(struct gp_json_trace *t, const struct raw *raw,
			uint32_t *device)
{
	uint64_t ordinal;

	if (!has(raw, DEVICE))
		return true;
	return take_number(t, raw, DEVICE, &ordinal) &&
	       (ordinal == t->devices[*device].ordinal ||
		gp_json_trace_device(t, ordinal, device));
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

/* False: a failure, or a plain event that has to be parsed by jansson. */
static bool deliver(struct gp_json_trace *t, uint32_t device, struct raw *raw)
{
	struct gp_event event = { .id = GP_NO_ID };
	uint32_t owner;
	uint64_t name = 0;

	if (find_device(t, raw, &device) && find_kind(t, raw, &event.kind) &&
	    has_needed(t, raw, event.kind) &&
	    read_numbers(t, raw, &event, &name) &&
	    read_stream_pool(t, raw, &event) && read_fraction(t, raw, &event) &&
	    read_stage(t, raw, &event) && read_text(t, raw, &event) &&
	    take_index(t, raw, OWNER, GP_NO_OWNER, gp_json_trace_owner,
		       &owner) &&
	    read_flags(t, raw, &event)) {
		gp_build_event(t->build, device, &event, name);
		if (owner != GP_NO_OWNER &&
		    (event.kind == GP_ALLOC || event.kind == GP_FREE))
			gp_build_claim(t->build, device, name, owner, false);
		t->devices[device].events++;
		return true;
	}
	if (t->scan->status)
		name_event(t, device);
	return false;
}

/* ---- events parsed by jansson ---- */

static void spread(const json_t *object, struct raw *raw)
{
	const char *name;
	json_t *value;
	unsigned key;

	raw->has = 0;
	raw->is_plain = false;
	raw->op = NULL;
	json_object_foreach((json_t *)object, name, value)
	{
		for (key = 0; key < KEYS; key++)
			if (name[0] == names[key][0] &&
			    !strcmp(name, names[key]))
				break;
		if (key == KEYS || json_is_null(value))
			continue;
		raw->values[key] = value;
		raw->has |= BIT(key);
	}
}

void gp_json_trace_event(struct gp_json_trace *t, uint32_t device,
			 const json_t *object)
{
	struct raw raw;

	spread(object, &raw);
	if (json_is_object(object)) {
		deliver(t, device, &raw);
		return;
	}
	gp_json_trace_wrong(t, "the list", "events", object,
			    "objects, each with an \"op\"");
	name_event(t, device);
}

/* ---- plain events ---- */

#define IS(name) (!memcmp(at, name "\"", sizeof(name)))

/* The key whose name, with its closing quote, begins here; KEYS: unknown. */
static enum key plain_key(const unsigned char *at)
{
	switch (*at) {
	case 'a': return IS("addr") ? ADDR : IS("at_once") ? AT_ONCE : KEYS;
	case 'b': return IS("by") ? BY : IS("bytes") ? BYTES : KEYS;
	case 'c': return IS("conf") ? CONF : KEYS;
	case 'd':
		return IS("device")	   ? DEVICE
		       : IS("device_free") ? DEVICE_FREE
					   : KEYS;
	case 'i': return IS("id") ? ID : IS("inferred") ? INFERRED : KEYS;
	case 'n': return IS("name") ? NAME : KEYS;
	case 'o': return IS("op") ? OP : IS("owner") ? OWNER : KEYS;
	case 'p': return IS("pool") ? POOL : KEYS;
	case 'r':
		return IS("refused")	? REFUSED
		       : IS("restored") ? RESTORED
					: KEYS;
	case 's':
		return IS("size")     ? SIZE
		       : IS("site")   ? SITE
		       : IS("stream") ? STREAM
		       : IS("stage")  ? STAGE
				      : KEYS;
	case 't': return IS("time") ? TIME : KEYS;
	default: return KEYS;
	}
}

static bool plain_flag(struct gp_plain *p, struct raw *raw, enum key key)
{
	bool is_true;

	if (!gp_plain_flag(p, &is_true))
		return false;
	if (is_true)
		raw->is_true |= BIT(key);
	return true;
}

static bool plain_value(struct gp_plain *p, struct raw *raw, enum key key)
{
	switch (key) {
	case OP:
	case CONF:
	case NAME:
	case STAGE: return gp_plain_string(p, &raw->texts[key]);
	case POOL: return gp_plain_pair(p, &raw->pool);
	case AT_ONCE:
	case INFERRED:
	case REFUSED:
	case RESTORED: return plain_flag(p, raw, key);
	case FRACTION:
	case KEYS: return false;
	default: return gp_plain_number(p, &raw->numbers[key]);
	}
}

/* Parses an object, starting at its brace. */
static bool plain_event(struct gp_plain *p, struct raw *raw)
{
	raw->has = raw->is_true = 0;
	raw->is_plain = true;
	raw->op = NULL;
	if (!gp_plain_step(p, '{'))
		return false;
	do {
		enum key key;

		if (!gp_plain_step(p, '"'))
			return false;
		key = plain_key(p->at);
		if (key == KEYS || has(raw, key))
			return false;
		raw->has |= BIT(key);
		p->at += lengths[key] + 1;
		if (!gp_plain_step(p, ':'))
			return false;
		gp_plain_next(p);
		if (!plain_value(p, raw, key))
			return false;
	} while (gp_plain_step(p, ','));
	return gp_plain_step(p, '}') && has(raw, OP);
}

bool gp_json_trace_plain_event(struct gp_json_trace *t, uint32_t device)
{
	struct gp_plain p = { .at = t->scan->source->at };
	struct raw raw;

	if (t->scan->status || t->scan->source->config->by_jansson ||
	    !plain_event(&p, &raw) ||
	    (!deliver(t, device, &raw) && !t->scan->status))
		return false;
	t->scan->source->at = p.at;
	t->scan->line += p.lines;
	return true;
}
