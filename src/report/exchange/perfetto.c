/* SPDX-License-Identifier: MIT */
/*
 * A run over time as Chrome's trace events, which Perfetto and chrome://tracing
 * read: a process for each device, with memory as counters, marks as slices and
 * device calls as instants.
 *
 * Format: "Trace Event Format", google/trace-viewer. Times are in microseconds
 * since the first event.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/exchange/exchange.h"
#include "trace/site.h"

enum thread { THREAD_STEPS = 1, THREAD_CALLS };

static const struct counter {
	const char *name;
	enum gp_stat_id id;
} counters[] = {
	{ "reserved", GP_STAT_RESERVED_BYTES },
	{ "allocated", GP_STAT_ALLOCATED_BYTES },
	{ "active", GP_STAT_ACTIVE_BYTES },
	{ "inactive_split", GP_STAT_INACTIVE_SPLIT_BYTES },
};
#define COUNTERS (sizeof(counters) / sizeof(*counters))

static const char *const calls[GP_EVENT_KINDS] = {
	[GP_SEGMENT_ALLOC] = "segment_alloc",
	[GP_SEGMENT_FREE] = "segment_free",
	[GP_SEGMENT_MAP] = "segment_map",
	[GP_SEGMENT_UNMAP] = "segment_unmap",
	[GP_OOM] = "oom",
};

struct perfetto {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	FILE *out;
	struct ticks ticks;
	uint64_t first_us;
	int64_t values[COUNTERS]; /* written last; -1: none */
	bool has_events, is_in_step;
	struct gp_site_known *known;
};

/* ---- one event ---- */

/* Writes an event up to its time; the caller adds its other keys and "}". */
static void open_event(struct perfetto *p, const char *phase, uint64_t time_us)
{
	fprintf(p->out, "%s{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"ts\":%" PRIu64,
		p->has_events ? ",\n" : "\n", phase,
		(uint64_t)p->device->device + 1, time_us - p->first_us);
	p->has_events = true;
}

static void put_name(struct perfetto *p, const char *name)
{
	fputs(",\"name\":", p->out);
	gp_quote_json(name, strlen(name), p->out);
}

static void put_label(struct perfetto *p, const char *kind, unsigned thread,
		      const char *label, uint64_t number)
{
	open_event(p, "M", p->first_us);
	fprintf(p->out, ",\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":\"%s",
		thread, kind, label);
	if (!thread)
		fprintf(p->out, " %" PRIu64, number);
	fputs("\"}}", p->out);
}

/* ---- devices ---- */

static void *begin(const struct gp_exchange_config *config)
{
	struct perfetto *p = gp_mem_alloc(1, sizeof(*p));

	p->trace = config->trace;
	p->out = config->out;
	p->known = gp_sites_known(p->trace);
	p->first_us = ticks_first(p->trace);
	fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"writer\":"
	      "\"gpupool\",\"trace\":",
	      p->out);
	gp_quote_json(config->name, strlen(config->name), p->out);
	fprintf(p->out, ",\"time\":\"%s\"},\"traceEvents\":[",
		p->first_us ? "as recorded"
			    : "not recorded: one microsecond for each event");
	return p;
}

static void begin_device(void *state, uint32_t device)
{
	struct perfetto *p = state;

	p->device = &p->trace->devices[device];
	ticks_begin(&p->ticks, p->device);
	for (size_t i = 0; i < COUNTERS; i++)
		p->values[i] = -1;
	put_label(p, "process_name", 0, "device", p->device->device);
	put_label(p, "thread_name", THREAD_STEPS, "steps", 0);
	put_label(p, "thread_name", THREAD_CALLS, "device calls", 0);
}

/* Never before the trace's first time: the event may precede it and have no
 * time. */
static uint64_t time_of(struct perfetto *p, uint64_t event)
{
	uint64_t time_us = ticks_of(&p->ticks, event);

	return time_us < p->first_us ? p->first_us : time_us;
}

static void add_action(void *state, const struct gp_action *action,
		       uint64_t event)
{
	struct perfetto *p = state;
	const struct gp_event *cause = &p->device->events[event];
	const struct gp_trace *t = p->trace;

	if (!calls[action->kind])
		return;
	open_event(p, "i", time_of(p, event));
	fprintf(p->out, ",\"s\":\"%s\",\"tid\":%d,\"name\":\"%s\"",
		action->kind == GP_OOM ? "p" : "t", THREAD_CALLS,
		calls[action->kind]);
	fprintf(p->out,
		",\"args\":{\"event\":%" PRIu64 ",\"size\":%" PRIu64
		",\"%s\":%" PRIu64,
		event, action->size,
		action->kind == GP_OOM ? "device_free" : "addr", action->addr);
	if (cause->site != GP_NO_SITE) {
		char site[GP_SITE_TEXT];

		fputs(",\"site\":", p->out);
		gp_site_known_text(t, p->known, cause->site, site);
		gp_quote_json(site, strlen(site), p->out);
	}
	fputs("}}", p->out);
}

/* ---- marks ---- */

static void end_step(struct perfetto *p, uint64_t time_us)
{
	if (!p->is_in_step)
		return;
	p->is_in_step = false;
	open_event(p, "E", time_us);
	fprintf(p->out, ",\"tid\":%d}", THREAD_STEPS);
}

/* A mark without a duration begins a step; the next mark ends it. */
static void put_step(struct perfetto *p, const char *name, uint64_t time_us)
{
	end_step(p, time_us);
	open_event(p, "B", time_us);
	fprintf(p->out, ",\"tid\":%d", THREAD_STEPS);
	put_name(p, name);
	putc('}', p->out);
	p->is_in_step = true;
}

/* Phases may overlap, so each has its own track. */
static void put_phase(struct perfetto *p, const struct gp_event *mark,
		      uint64_t time_us)
{
	open_event(p, mark->mark == GP_MARK_START ? "b" : "e", time_us);
	fprintf(p->out,
		",\"tid\":%d,\"cat\":\"mark\",\"id\":\"%" PRIu32 ".%" PRIu32
		"\"",
		THREAD_STEPS, p->device->device, mark->text);
	put_name(p, p->trace->texts[mark->text]);
	putc('}', p->out);
}

static void put_mark(struct perfetto *p, const struct gp_event *mark,
		     uint64_t time_us)
{
	if (mark->mark == GP_MARK_POINT)
		put_step(p, p->trace->texts[mark->text], time_us);
	else
		put_phase(p, mark, time_us);
}

/* ---- counters ---- */

static void look(void *state, struct gp_allocator *allocator, uint64_t event)
{
	struct perfetto *p = state;
	const struct gp_event *e = &p->device->events[event];

	if (e->kind == GP_MARK)
		put_mark(p, e, time_of(p, event));
	for (size_t i = 0; i < COUNTERS; i++) {
		int64_t now = gp_level_now(&allocator->levels[counters[i].id]);

		if (now == p->values[i])
			continue;
		p->values[i] = now;
		open_event(p, "C", time_of(p, event));
		fprintf(p->out,
			",\"name\":\"%s\",\"args\":{\"bytes\":%" PRId64 "}}",
			counters[i].name, now);
	}
}

static void end_device(void *state, const struct gp_replay_result *result)
{
	struct perfetto *p = state;

	(void)result;
	end_step(p,
		 p->ticks.now_us > p->first_us ? p->ticks.now_us : p->first_us);
}

static void end(void *state)
{
	struct perfetto *p = state;

	fputs("]}\n", p->out);
}

static void release(void *state)
{
	struct perfetto *p = state;

	free(p->known);
	free(p);
}

const struct writer perfetto_writer = {
	.begin = begin,
	.device = begin_device,
	.action = add_action,
	.look = look,
	.result = end_device,
	.end = end,
	.release = release,
};
