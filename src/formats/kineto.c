/* SPDX-License-Identifier: MIT */
/* Reading a profile: what matters of its many events. */
#include "formats/kineto.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/json_value.h"
#include "formats/kineto_record.h"

#define CPU	0 /* c10::DeviceType */
#define STEP	"ProfilerStep#"
#define STEP_AT (sizeof(STEP) - 1)

struct gp_kineto {
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
	return !strcmp(key, "traceEvents") || !strcmp(key, "deviceProperties");
}

struct gp_kineto *gp_kineto_create(struct gp_json_scan *scan,
				   struct gp_diag *diag)
{
	struct gp_kineto *k = gp_mem_alloc(1, sizeof(*k));

	k->scan = scan;
	k->diag = diag;
	k->build = gp_build_create(GP_BUILD_REQUESTS);
	return k;
}

void gp_kineto_destroy(struct gp_kineto *k)
{
	gp_build_destroy(k->build);
	free(k->records);
	free(k->spans);
	free(k);
}

/* ---- events ---- */

static void fail(struct gp_kineto *k, const char *key)
{
	if (k->scan->status)
		return;
	gp_diag_record(k->diag, "trace event %" PRIu64, k->events);
	gp_diag_hint(k->diag, "is it as torch.profiler wrote it?");
	k->scan->status = gp_diag_set(k->diag, GP_INPUT,
				      "its %s is not what it should be", key);
}

static struct kineto_record *add_record(struct gp_kineto *k)
{
	k->records = gp_mem_grow(k->records, &k->record_room,
				 k->record_count + 1, sizeof(*k->records));
	k->records[k->record_count] =
		(struct kineto_record){ .order = k->record_count,
					.site = GP_NO_SITE };
	return &k->records[k->record_count++];
}

static uint64_t thread_of(const json_t *event)
{
	const json_t *tid = json_object_get(event, "tid");

	return json_is_integer(tid) ? (uint64_t)json_integer_value(tid) : 0;
}

static void read_memory(struct gp_kineto *k, const json_t *event)
{
	const json_t *args = json_object_get(event, "args");
	const json_t *bytes = json_object_get(args, "Bytes");
	const json_t *ts = json_object_get(event, "ts");
	struct kineto_record *r;
	uint64_t device = 0, type = CPU, addr;
	int64_t size;

	if (!gp_json_number(json_object_get(args, "Device Type"), &type))
		fail(k, "\"Device Type\"");
	if (type == CPU || k->scan->status)
		return;
	k->memory_events++;
	if (!gp_json_number(json_object_get(args, "Addr"), &addr))
		fail(k, "\"Addr\"");
	else if (!json_is_integer(bytes) ||
		 json_integer_value(bytes) == INT64_MIN)
		fail(k, "\"Bytes\"");
	else if (!gp_json_number(json_object_get(args, "Device Id"), &device) ||
		 device > UINT32_MAX)
		fail(k, "\"Device Id\"");
	else if (!json_is_number(ts))
		fail(k, "\"ts\"");
	size = json_integer_value(bytes);
	if (k->scan->status || !size)
		return;
	r = add_record(k);
	r->kind = KINETO_MEMORY;
	r->ts = json_number_value(ts);
	r->thread = thread_of(event);
	r->addr = addr;
	r->is_free = size < 0;
	r->size = (uint64_t)(size < 0 ? -size : size);
	r->device = (uint32_t)device;
	if (!gp_json_number(json_object_get(args, "Total Allocated"),
			    &r->total))
		r->total = UINT64_MAX;
	if (!gp_json_number(json_object_get(args, "Total Reserved"),
			    &r->reserved))
		r->reserved = UINT64_MAX;
}

static void add_step(struct gp_kineto *k, double ts, uint32_t text,
		     enum kineto_kind kind)
{
	struct kineto_record *r = add_record(k);

	r->kind = (uint8_t)kind;
	r->ts = ts;
	r->text = text;
}

static void read_span(struct gp_kineto *k, const json_t *event)
{
	const json_t *name = json_object_get(event, "name");
	const json_t *ts = json_object_get(event, "ts");
	const json_t *dur = json_object_get(event, "dur");
	double from = json_number_value(ts), to = from + json_number_value(dur);
	uint32_t text;

	if (!json_is_string(name) || !json_is_number(ts) ||
	    !json_is_number(dur))
		return;
	text = gp_build_text(k->build, json_string_value(name),
			     json_string_length(name));
	if (!strncmp(json_string_value(name), STEP, STEP_AT)) {
		add_step(k, from, text, KINETO_STEP);
		add_step(k, to, text, KINETO_STEP_END);
		return;
	}
	k->spans = gp_mem_grow(k->spans, &k->span_room, k->span_count + 1,
			       sizeof(*k->spans));
	k->spans[k->span_count] = (struct kineto_span){
		.ts = from,
		.end = to,
		.order = k->span_count,
		.thread = thread_of(event),
		.text = text,
	};
	k->span_count++;
}

static bool holds(const struct gp_json_scan *scan, const char *word)
{
	return memmem(scan->item, scan->length, word, strlen(word)) != NULL;
}

/* Most events are neither: they are not worth parsing. */
static void read_event(struct gp_kineto *k)
{
	struct gp_json_scan *scan = k->scan;
	const char *category;
	json_t *event;

	if (!gp_json_cut(scan))
		return;
	if (!holds(scan, "\"[memory]\"") && !holds(scan, "\"cpu_op\"") &&
	    !holds(scan, "\"user_annotation\"") &&
	    !holds(scan, "\"python_function\""))
		return;
	event = gp_json_parse(scan);
	category = json_string_value(json_object_get(event, "cat"));
	if (json_is_object(event)) {
		const char *name =
			json_string_value(json_object_get(event, "name"));

		if (name && !strcmp(name, "[memory]"))
			read_memory(k, event);
		else if (category && (!strcmp(category, "cpu_op") ||
				      !strcmp(category, "user_annotation") ||
				      !strcmp(category, "python_function")))
			read_span(k, event);
	}
	json_decref(event);
}

/* ---- the outer object ---- */

static void read_device(struct gp_kineto *k)
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

static void read_list(struct gp_kineto *k, void (*read)(struct gp_kineto *k))
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

static void read_base(struct gp_kineto *k)
{
	json_t *value = gp_json_value(k->scan);
	uint64_t ns;

	if (gp_json_number(value, &ns))
		k->base_us = ns / 1000;
	json_decref(value);
}

void gp_kineto_key(struct gp_kineto *k, const char *key)
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

enum gp_status gp_kineto_finish(struct gp_kineto *k, struct gp_trace **trace)
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
