/* SPDX-License-Identifier: MIT */
/*
 * Profiles of torch.profiler with profile_memory=True, as written by
 * export_chrome_trace: an object whose traceEvents contain "[memory]" instants
 * among operators and kernels (libkineto/src/output_json.cpp). Each instant is
 * the allocation or free of a block of the caching allocator, with its address,
 * its size and the sums after it.
 *
 * The relevant events are collected first. Once all are read, each memory event
 * is assigned the operators that were running, and becomes a request.
 */
#include "formats/readers.h"

#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/ledger.h"

#define CPU	0 /* c10::DeviceType */
#define STEP	"ProfilerStep#"
#define STEP_AT (sizeof(STEP) - 1)

/* ---- collected events ---- */

/* Ordered as they are sorted at equal times. */
enum kineto_kind { KINETO_STEP_END, KINETO_STEP, KINETO_MEMORY };

struct kineto_record {
	double ts; /* microseconds */
	uint64_t order;
	uint64_t thread;
	uint64_t addr, size; /* KINETO_MEMORY */
	uint64_t total;	     /* allocated after it; UINT64_MAX: unknown */
	uint64_t reserved;   /* likewise */
	uint32_t device;
	uint32_t site;
	uint32_t text; /* KINETO_STEP */
	uint8_t kind;  /* enum kineto_kind */
	bool is_free;
};

/* Something that ran on a thread, from ts to end. */
struct kineto_span {
	double ts, end;
	uint64_t order;
	uint64_t thread;
	uint32_t text;
};

/* The properties of devices, by CUDA's ordinal. */
#define KINETO_DEVICES 64 /* most devices with properties */
struct kineto_memory {
	uint64_t ordinal, bytes;
};

struct kineto_profile {
	struct kineto_record *records; /* will be sorted */
	size_t count;
	const struct kineto_memory *memory;
	size_t memory_count;
	uint64_t base_us; /* is added to times */
};

/* ---- the operators in which a memory event happened ---- */

static int compare(double a, double b)
{
	return (a > b) - (a < b);
}

/* By thread, then by begin; of those that begin together, the longest first. */
static int by_begin(const void *a, const void *b)
{
	const struct kineto_span *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ts != y->ts)
		return compare(x->ts, y->ts);
	if (x->end != y->end)
		return compare(y->end, x->end);
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_thread(const void *a, const void *b)
{
	const struct kineto_record *x = *(struct kineto_record *const *)a;
	const struct kineto_record *y = *(struct kineto_record *const *)b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ts != y->ts)
		return compare(x->ts, y->ts);
	return x->order < y->order ? -1 : x->order > y->order;
}

/* The spans that are running, outermost first. */
struct stack {
	struct gp_build *build;
	struct open {
		double end;
		uint32_t site;
	} * open;
	size_t depth, room;
	uint64_t thread;
};

static void close_until(struct stack *stack, double ts)
{
	while (stack->depth && stack->open[stack->depth - 1].end < ts)
		stack->depth--;
}

/* Times are rounded to nanoseconds: half of one, or the precision of a double
 * if that is coarser. */
static double rounding_of(double ts)
{
	double most = 0.0005, last = ts * DBL_EPSILON * 2;

	return last > most ? last : most;
}

/* Closes the spans that end where this one begins, unless this one ends there
 * too: they precede it and do not enclose it. */
static void close_before(struct stack *stack, const struct kineto_span *span)
{
	double rounding = rounding_of(span->ts);

	while (stack->depth) {
		double end = stack->open[stack->depth - 1].end;

		if (end > span->ts + rounding || span->end <= end + rounding)
			break;
		stack->depth--;
	}
}

static void open_span(struct stack *stack, const struct kineto_span *span)
{
	uint32_t caller = GP_NO_SITE;

	if (span->thread != stack->thread)
		stack->depth = 0;
	stack->thread = span->thread;
	close_until(stack, span->ts);
	close_before(stack, span);
	if (stack->depth)
		caller = stack->open[stack->depth - 1].site;
	GP_GROW(stack->open, stack->depth + 1, stack->room);
	stack->open[stack->depth++] =
		(struct open){ span->end, gp_build_call(stack->build,
							span->text, caller) };
}

/* Whether the span begins before the event, or on an earlier thread. */
static bool is_before(const struct kineto_span *span,
		      const struct kineto_record *record)
{
	if (span->thread != record->thread)
		return span->thread < record->thread;
	return span->ts <= record->ts;
}

/* Assigns to each memory event the stack of what was running on its thread. */
static void kineto_place(struct gp_build *build, struct kineto_record *records,
			 size_t record_count, struct kineto_span *spans,
			 size_t span_count)
{
	struct kineto_record **sorted =
		gp_mem_alloc(record_count, sizeof(*sorted));
	struct stack stack = { .build = build };
	size_t span = 0, count = 0;

	for (size_t i = 0; i < record_count; i++)
		if (records[i].kind == KINETO_MEMORY)
			sorted[count++] = &records[i];
	qsort(sorted, count, sizeof(*sorted), by_thread);
	if (span_count)
		qsort(spans, span_count, sizeof(*spans), by_begin);
	for (size_t i = 0; i < count; i++) {
		while (span < span_count && is_before(&spans[span], sorted[i]))
			open_span(&stack, &spans[span++]);
		close_until(&stack, sorted[i]->ts);
		if (stack.depth && stack.thread == sorted[i]->thread)
			sorted[i]->site = stack.open[stack.depth - 1].site;
	}
	free(stack.open);
	free(sorted);
}

/*
 * ---- the requests ----
 *
 * The events of a profile are ordered by thread; here they are ordered by time.
 *
 * A profile begins while the program is running. Blocks that are freed without
 * an allocation existed before it. So did the remainder of the first event's
 * sum; it is represented by one block, because its parts are unknown.
 */

#define BEFORE "(before the profile began)"

/* Marks are copied to each device, up to that many. */
#define MARKED_DEVICES 16

struct device {
	struct gp_ledger ledger;
	struct gp_map live; /* address -> 1, while looking for earlier blocks */
	uint64_t before;    /* bytes in use before the first event */
	uint64_t known;	    /* the part of these that is freed later */
	uint64_t unknown_at; /* an address without a block */
	bool has_first;
	struct gp_recorded recorded;
	struct gp_guesses guesses;
};

struct requests {
	struct gp_build *build;
	const struct kineto_profile *profile;
	struct gp_diag *diag;
	struct gp_map of_ordinal; /* -> index */
	struct device *devices;
	size_t count, room;
};

static int by_time(const void *a, const void *b)
{
	const struct kineto_record *x = a, *y = b;

	if (x->ts != y->ts)
		return x->ts < y->ts ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static uint64_t time_of(const struct requests *r,
			const struct kineto_record *record)
{
	/* Outside this range it is not a time, and may not fit an integer. */
	if (!(record->ts > 0 && record->ts < 1e18))
		return r->profile->base_us;
	return r->profile->base_us + (uint64_t)record->ts;
}

static void put_memory(struct requests *r, uint32_t ordinal, uint32_t device)
{
	const struct kineto_profile *p = r->profile;

	for (size_t i = 0; i < p->memory_count; i++)
		if (p->memory[i].ordinal == ordinal)
			gp_build_total_memory(r->build, device,
					      p->memory[i].bytes);
}

static enum gp_status find_device(struct requests *r, uint32_t ordinal,
				  struct device **device)
{
	uint32_t index = gp_map_get(&r->of_ordinal, ordinal);
	enum gp_status status = GP_OK;
	struct device *made;

	if (index == GP_MAP_NONE) {
		index = (uint32_t)r->count;
		GP_GROW(r->devices, r->count + 1, r->room);
		made = &r->devices[r->count++];
		*made = (struct device){ .ledger.build = r->build };
		gp_map_put(&r->of_ordinal, ordinal, index);
		status = gp_build_device(r->build, ordinal,
					 &made->ledger.device, r->diag);
		if (status == GP_OK)
			put_memory(r, ordinal, made->ledger.device);
	}
	*device = &r->devices[index];
	return status;
}

/* ---- blocks from before the profile ---- */

static struct gp_event event_of(const struct requests *r,
				const struct kineto_record *record)
{
	return (struct gp_event){
		.addr = record->addr,
		.size = record->size,
		.time_us = time_of(r, record),
		.site = record->site,
	};
}

static void add_before(struct requests *r, struct device *d, uint64_t addr,
		       uint64_t size)
{
	uint32_t text = gp_build_text(r->build, BEFORE, sizeof(BEFORE) - 1);
	struct gp_event event = {
		.addr = addr,
		.size = size,
		.time_us = time_of(r, r->profile->records),
		.site = gp_build_call(r->build, text, GP_NO_SITE),
		.flags = GP_INFERRED,
	};

	gp_ledger_alloc(&d->ledger, &event);
}

static void note_first(struct device *d, const struct kineto_record *record)
{
	if (d->has_first)
		return;
	d->has_first = true;
	if (record->total == UINT64_MAX)
		return;
	if (record->is_free)
		d->before = record->total + record->size;
	else if (record->total > record->size)
		d->before = record->total - record->size;
}

static void raise(bool *has, uint64_t *most, uint64_t value)
{
	if (value == UINT64_MAX)
		return;
	*has = true;
	if (value > *most)
		*most = value;
}

/* Notes the profile's own sums after each event. */
static void note_recorded(struct gp_recorded *recorded,
			  const struct kineto_record *record, bool is_first)
{
	raise(&recorded->has_reserved, &recorded->reserved, record->reserved);
	raise(&recorded->has_allocated, &recorded->allocated, record->total);
	if (!is_first || record->reserved == UINT64_MAX ||
	    record->total == UINT64_MAX)
		return;
	recorded->has_first = true;
	recorded->first_reserved = record->reserved;
	recorded->first_allocated = record->total;
}

static void put_recorded(const struct requests *r, uint32_t device,
			 const struct gp_recorded *recorded)
{
	const struct {
		const char *name;
		bool is_there;
		uint64_t value;
	} counters[] = {
		{ GP_RECORDED_RESERVED_PEAK, recorded->has_reserved,
		  recorded->reserved },
		{ GP_RECORDED_ALLOCATED_PEAK, recorded->has_allocated,
		  recorded->allocated },
		{ GP_RECORDED_RESERVED_FIRST, recorded->has_first,
		  recorded->first_reserved },
		{ GP_RECORDED_ALLOCATED_FIRST, recorded->has_first,
		  recorded->first_allocated },
	};

	for (size_t i = 0; i < sizeof(counters) / sizeof(*counters); i++)
		if (counters[i].is_there && counters[i].value <= INT64_MAX)
			gp_build_counter(r->build, device, counters[i].name,
					 (int64_t)counters[i].value);
}

static enum gp_status look_back(struct requests *r,
				const struct kineto_record *record)
{
	struct device *d;
	enum gp_status status = find_device(r, record->device, &d);

	if (status != GP_OK)
		return status;
	note_recorded(&d->recorded, record, !d->has_first);
	note_first(d, record);
	if (!record->is_free) {
		gp_map_put(&d->live, record->addr, 1);
	} else if (gp_map_take(&d->live, record->addr) == GP_MAP_NONE) {
		add_before(r, d, record->addr, record->size);
		d->known += record->size;
	}
	if (record->addr >= d->unknown_at)
		d->unknown_at = record->addr + 1;
	return GP_OK;
}

static void finish_before(struct requests *r, struct device *d)
{
	if (d->before > d->known && d->unknown_at)
		add_before(r, d, d->unknown_at, d->before - d->known);
	d->guesses.start_blocks = d->ledger.names;
}

/* ---- all requests ---- */

static void push_mark(struct requests *r, const struct kineto_record *record)
{
	struct gp_event event = {
		.kind = GP_MARK,
		.mark = record->kind == KINETO_STEP ? GP_MARK_START
						    : GP_MARK_END,
		.text = record->text,
		.time_us = time_of(r, record),
		.site = GP_NO_SITE,
	};

	for (size_t i = 0; i < r->count && r->count <= MARKED_DEVICES; i++)
		gp_build_event(r->build, r->devices[i].ledger.device, &event,
			       0);
}

static void push_memory(struct requests *r, const struct kineto_record *record)
{
	uint32_t index = gp_map_get(&r->of_ordinal, record->device);
	struct gp_ledger *ledger = &r->devices[index].ledger;
	struct gp_event event = event_of(r, record);

	if (record->is_free)
		gp_ledger_free(ledger, &event);
	else
		gp_ledger_alloc(ledger, &event);
}

static enum gp_status request(struct requests *r)
{
	const struct kineto_record *records = r->profile->records;
	size_t count = r->profile->count;
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < count && status == GP_OK; i++)
		if (records[i].kind == KINETO_MEMORY)
			status = look_back(r, &records[i]);
	if (status != GP_OK)
		return status;
	for (size_t i = 0; i < r->count; i++)
		finish_before(r, &r->devices[i]);
	for (size_t i = 0; i < count; i++) {
		if (records[i].kind == KINETO_MEMORY)
			push_memory(r, &records[i]);
		else
			push_mark(r, &records[i]);
	}
	for (size_t i = 0; i < r->count; i++) {
		struct device *d = &r->devices[i];

		d->guesses.lost_entries = d->ledger.lost;
		gp_build_guesses(r->build, d->ledger.device, &d->guesses);
		put_recorded(r, d->ledger.device, &d->recorded);
	}
	return GP_OK;
}

/* Makes the requests of the devices that have any. */
static enum gp_status kineto_request(struct gp_build *build,
				     const struct kineto_profile *profile,
				     struct gp_diag *diag)
{
	struct requests r = { .build = build,
			      .profile = profile,
			      .diag = diag };
	enum gp_status status;

	if (profile->count)
		qsort(profile->records, profile->count,
		      sizeof(*profile->records), by_time);
	status = request(&r);
	for (size_t i = 0; i < r.count; i++) {
		gp_ledger_release(&r.devices[i].ledger);
		gp_map_release(&r.devices[i].live);
	}
	free(r.devices);
	gp_map_release(&r.of_ordinal);
	return status;
}

/* ---- reading ---- */

struct kineto {
	struct gp_json_scan *scan; /* borrowed */
	struct gp_diag *diag;
	struct gp_build *build;
	struct kineto_record *records;
	size_t record_count, record_room;
	struct kineto_span *spans;
	size_t span_count, span_room;
	struct kineto_memory memory[KINETO_DEVICES];
	size_t memory_count;
	uint64_t base_us;
	uint64_t events; /* of traceEvents so far */
	uint64_t memory_events;
};

bool gp_kineto_knows(const char *key)
{
	return !strcmp(key, "traceEvents") ||
	       !strcmp(key, "deviceProperties") ||
	       !strcmp(key, "baseTimeNanoseconds");
}

static void fail(struct kineto *k, const char *key)
{
	if (k->scan->status)
		return;
	gp_diag_record(k->diag, "trace event %" PRIu64, k->events);
	gp_diag_hint(k->diag, "was it changed after torch.profiler wrote it?");
	k->scan->status = gp_diag_set(k->diag, GP_INPUT,
				      "its %s is not what it should be", key);
}

static struct kineto_record *add_record(struct kineto *k)
{
	GP_GROW(k->records, k->record_count + 1, k->record_room);
	k->records[k->record_count] =
		(struct kineto_record){ .order = k->record_count,
					.site = GP_NO_SITE };
	return &k->records[k->record_count++];
}

/* ---- an event in the file ---- */

enum key {
	NAME,
	CATEGORY,
	TIME,
	DURATION,
	THREAD,
	ARGS,
	TYPE, /* from here on, keys of ARGS */
	DEVICE,
	ADDR,
	BYTES,
	ALLOCATED,
	RESERVED,
	KEYS,
};

static const struct {
	const char *name;
	size_t length;
} keys[KEYS] = {
#define KEY(name)                                                              \
	{                                                                      \
		name, sizeof(name) - 1                                         \
	}
	[NAME] = KEY("name"),
	[CATEGORY] = KEY("cat"),
	[TIME] = KEY("ts"),
	[DURATION] = KEY("dur"),
	[THREAD] = KEY("tid"),
	[ARGS] = KEY("args"),
	[TYPE] = KEY("Device Type"),
	[DEVICE] = KEY("Device Id"),
	[ADDR] = KEY("Addr"),
	[BYTES] = KEY("Bytes"),
	[ALLOCATED] = KEY("Total Allocated"),
	[RESERVED] = KEY("Total Reserved"),
#undef KEY
};

#define BIT(key) (1u << (key))

/* By key; missing values, or those of another type, have no bit. */
struct event {
	uint32_t texts, numbers, integers;
	struct gp_plain_text text[CATEGORY + 1];
	double real[KEYS];
	int64_t integer[KEYS];
	uint64_t number[KEYS]; /* integers from 0 to 2^64 - 1 */
	uint32_t naturals;     /* the bits of keys with such numbers */
};

static uint64_t thread_of(const struct event *e)
{
	return e->integers & BIT(THREAD) ? (uint64_t)e->integer[THREAD] : 0;
}

static bool natural(const struct event *e, enum key key, uint64_t *to)
{
	if (!(e->naturals & BIT(key)))
		return false;
	*to = e->number[key];
	return true;
}

static void set_integer(struct event *e, enum key key, int64_t integer)
{
	e->integers |= BIT(key);
	e->integer[key] = integer;
	if (integer < 0)
		return;
	e->naturals |= BIT(key);
	e->number[key] = (uint64_t)integer;
}

static void set_real(struct event *e, enum key key, double real)
{
	e->numbers |= BIT(key);
	e->real[key] = real;
}

static void set_text(struct event *e, enum key key, struct gp_plain_text text)
{
	e->texts |= BIT(key);
	e->text[key] = text;
}

/* Whether the value is that text, up to its end or a NUL. */
static bool is_text(const struct event *e, enum key key, const char *text)
{
	size_t length = strlen(text);

	return e->texts & BIT(key) && e->text[key].length >= length &&
	       !memcmp(e->text[key].bytes, text, length) &&
	       (e->text[key].length == length || !e->text[key].bytes[length]);
}

/* ---- relevant events ---- */

static void read_memory(struct kineto *k, const struct event *e)
{
	struct kineto_record *r;
	uint64_t device = 0, type = CPU, addr = 0;
	int64_t size;

	if (!natural(e, TYPE, &type))
		fail(k, "\"Device Type\"");
	if (type == CPU || k->scan->status)
		return;
	k->memory_events++;
	if (!natural(e, ADDR, &addr))
		fail(k, "\"Addr\"");
	else if (!(e->integers & BIT(BYTES)) || e->integer[BYTES] == INT64_MIN)
		fail(k, "\"Bytes\"");
	else if (!natural(e, DEVICE, &device) || device > UINT32_MAX)
		fail(k, "\"Device Id\"");
	else if (!(e->numbers & BIT(TIME)))
		fail(k, "\"ts\"");
	if (k->scan->status || !e->integer[BYTES])
		return;
	size = e->integer[BYTES];
	r = add_record(k);
	r->kind = KINETO_MEMORY;
	r->ts = e->real[TIME];
	r->thread = thread_of(e);
	r->addr = addr;
	r->is_free = size < 0;
	r->size = (uint64_t)(size < 0 ? -size : size);
	r->device = (uint32_t)device;
	if (!natural(e, ALLOCATED, &r->total))
		r->total = UINT64_MAX;
	if (!natural(e, RESERVED, &r->reserved))
		r->reserved = UINT64_MAX;
}

static void add_step(struct kineto *k, double ts, uint32_t text,
		     enum kineto_kind kind)
{
	struct kineto_record *r = add_record(k);

	r->kind = (uint8_t)kind;
	r->ts = ts;
	r->text = text;
}

static void read_span(struct kineto *k, const struct event *e)
{
	const struct gp_plain_text *name = &e->text[NAME];
	double from, to;
	uint32_t text;

	if (!(e->texts & BIT(NAME)) || ~e->numbers & BIT(TIME) ||
	    ~e->numbers & BIT(DURATION))
		return;
	from = e->real[TIME];
	to = from + e->real[DURATION];
	text = gp_build_text(k->build, name->bytes, name->length);
	if (name->length >= STEP_AT && !memcmp(name->bytes, STEP, STEP_AT)) {
		add_step(k, from, text, KINETO_STEP);
		add_step(k, to, text, KINETO_STEP_END);
		return;
	}
	GP_GROW(k->spans, k->span_count + 1, k->span_room);
	k->spans[k->span_count] = (struct kineto_span){
		.ts = from,
		.end = to,
		.order = k->span_count,
		.thread = thread_of(e),
		.text = text,
	};
	k->span_count++;
}

static void take_event(struct kineto *k, const struct event *e)
{
	if (is_text(e, NAME, "[memory]"))
		read_memory(k, e);
	else if (is_text(e, CATEGORY, "cpu_op") ||
		 is_text(e, CATEGORY, "user_annotation") ||
		 is_text(e, CATEGORY, "python_function"))
		read_span(k, e);
}

/* ---- events parsed by jansson ---- */

static void spread(const json_t *object, struct event *e)
{
	const json_t *args = json_object_get(object, keys[ARGS].name);

	e->texts = e->numbers = e->integers = e->naturals = 0;
	for (enum key key = 0; key < KEYS; key++) {
		const json_t *value = json_object_get(
			key < ARGS ? object : args, keys[key].name);

		if (json_is_string(value) && key <= CATEGORY)
			set_text(e, key,
				 (struct gp_plain_text){
					 json_string_value(value),
					 json_string_length(value) });
		if (json_is_integer(value))
			set_integer(e, key, json_integer_value(value));
		else if (gp_json_number(value, &e->number[key]))
			e->naturals |= BIT(key);
		if (json_is_number(value))
			set_real(e, key, json_number_value(value));
	}
}

static bool holds(const struct gp_json_scan *scan, const char *word)
{
	return memmem(scan->item, scan->length, word, strlen(word)) != NULL;
}

/* Most events are irrelevant and need not be parsed. */
static void parse_event(struct kineto *k)
{
	struct gp_json_scan *scan = k->scan;
	struct event e;
	json_t *object;

	if (!gp_json_cut(scan))
		return;
	if (!holds(scan, "\"[memory]\"") && !holds(scan, "\"cpu_op\"") &&
	    !holds(scan, "\"user_annotation\"") &&
	    !holds(scan, "\"python_function\""))
		return;
	object = gp_json_parse(scan);
	if (json_is_object(object)) {
		spread(object, &e);
		take_event(k, &e);
	}
	json_decref(object);
}

/* ---- plain events, parsed in place ---- */

static enum key find_key(struct gp_plain_text text, enum key first,
			 enum key last)
{
	for (enum key key = first; key <= last; key++)
		if (keys[key].length == text.length &&
		    keys[key].name[0] == text.bytes[0] &&
		    !memcmp(keys[key].name, text.bytes, text.length))
			return key;
	return KEYS;
}

static bool plain_value(struct gp_plain *p, struct event *e, enum key key)
{
	struct gp_plain_value value;
	struct gp_plain_text text;
	unsigned char c = gp_plain_next(p);

	if (c == '"' && key <= CATEGORY) {
		if (!gp_plain_string(p, &text))
			return false;
		set_text(e, key, text);
		return true;
	}
	if (key == KEYS || (c != '-' && (c < '0' || c > '9')))
		return gp_plain_skip(p);
	if (!gp_plain_signed(p, &value))
		return false;
	if (value.is_integer)
		set_integer(e, key, value.integer);
	set_real(e, key, value.real);
	return true;
}

/* Parses an object in which each known key from first to last occurs at most
 * once. */
static bool plain_object(struct gp_plain *p, struct event *e, enum key first,
			 enum key last)
{
	struct gp_plain_text text;
	uint32_t seen = 0;

	if (!gp_plain_step(p, '{'))
		return false;
	if (gp_plain_step(p, '}'))
		return true;
	do {
		enum key key;

		gp_plain_next(p);
		if (!gp_plain_string(p, &text) || !gp_plain_step(p, ':'))
			return false;
		key = find_key(text, first, last);
		if (key != KEYS && seen & BIT(key))
			return false;
		seen |= key == KEYS ? 0 : BIT(key);
		if (key == ARGS && gp_plain_next(p) == '{') {
			if (!plain_object(p, e, TYPE, RESERVED))
				return false;
		} else if (!plain_value(p, e, key)) {
			return false;
		}
	} while (gp_plain_step(p, ','));
	return gp_plain_step(p, '}');
}

/* False: the event is not plain, or not all in the window. */
static bool plain_event(struct kineto *k)
{
	struct gp_plain p = { .at = gp_json_ahead(k->scan) };
	struct event e;

	e.texts = e.numbers = e.integers = e.naturals = 0;
	if (!p.at || !plain_object(&p, &e, NAME, ARGS))
		return false;
	k->scan->source->at = p.at;
	k->scan->line += p.lines;
	take_event(k, &e);
	return true;
}

static void read_event(struct kineto *k)
{
	if (!plain_event(k))
		parse_event(k);
}

/* ---- the outer object ---- */

static void read_device(struct kineto *k)
{
	json_t *properties = gp_json_value(k->scan);
	struct kineto_memory memory;

	if (k->memory_count < KINETO_DEVICES &&
	    gp_json_number(json_object_get(properties, "id"),
			   &memory.ordinal) &&
	    gp_json_number(json_object_get(properties, "totalGlobalMem"),
			   &memory.bytes))
		k->memory[k->memory_count++] = memory;
	json_decref(properties);
}

static void read_list(struct kineto *k, void (*read)(struct kineto *k))
{
	struct gp_json_walk walk;

	if (gp_json_peek(k->scan) != '[') {
		gp_json_skip(k->scan);
		return;
	}
	gp_json_enter(k->scan, '[', &walk);
	for (k->events = 0; gp_json_next(k->scan, &walk); k->events++)
		read(k);
}

static void read_base(struct kineto *k)
{
	json_t *value = gp_json_value(k->scan);
	uint64_t ns;

	if (gp_json_number(value, &ns))
		k->base_us = ns / 1000;
	json_decref(value);
}

static void read_key(struct kineto *k, const char *key)
{
	if (!strcmp(key, "traceEvents"))
		read_list(k, read_event);
	else if (!strcmp(key, "deviceProperties"))
		read_list(k, read_device);
	else if (!strcmp(key, "baseTimeNanoseconds"))
		read_base(k);
	else
		gp_json_skip(k->scan);
}

static enum gp_status finish(struct kineto *k, struct gp_trace **trace)
{
	enum gp_status status = k->scan->status;
	struct gp_build *build = k->build;

	if (status == GP_OK && !k->memory_events) {
		gp_diag_hint(k->diag, "torch.profiler.profile(profile_memory="
				      "True) records them");
		status = gp_diag_set(k->diag, GP_INPUT,
				     "it is a profile without memory events of "
				     "a GPU");
	}
	if (status != GP_OK)
		return status;
	kineto_place(build, k->records, k->record_count, k->spans,
		     k->span_count);
	status = kineto_request(build,
				&(struct kineto_profile){
					.records = k->records,
					.count = k->record_count,
					.memory = k->memory,
					.memory_count = k->memory_count,
					.base_us = k->base_us,
				},
				k->diag);
	if (status != GP_OK)
		return status;
	gp_build_source(build, "torch-profiler");
	k->build = NULL;
	return gp_build_finish(build, trace, k->diag);
}

enum gp_status gp_kineto_read(struct gp_json_scan *scan,
			      struct gp_json_walk *walk, char *key,
			      struct gp_trace **trace)
{
	struct kineto k = {
		.scan = scan,
		.diag = scan->diag,
		.build = gp_build_create(GP_BUILD_REQUESTS),
	};
	enum gp_status status;

	do
		read_key(&k, key);
	while (gp_json_next_key(scan, walk, key));
	gp_json_expect_end(scan);
	status = finish(&k, trace);
	gp_build_destroy(k.build);
	free(k.records);
	free(k.spans);
	return status;
}
