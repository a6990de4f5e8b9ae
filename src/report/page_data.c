/* SPDX-License-Identifier: MIT */
/* What a page's script reads: moments, films and the names in them, as JSON. */
#include "report/html.h"

#include <stdlib.h>

#include "base/base64.h"
#include "base/mem.h"
#include "base/text_sink.h"
#include "metrics/explain.h"
#include "metrics/film.h"
#include "trace/site.h"
#include "trace/steps.h"
#include "report/emit.h"
#include "report/group.h"
#include "report/head.h"
#include "report/svg_parts.h"

/*
 * ---- numbers as text ----
 *
 * Variable-length integers, each the difference to what came before, in base64.
 * A number is written seven bits a byte, lowest first, the top bit set but in
 * the last; a signed one as 2n, or -2n - 1.  Addresses and sizes of blocks are
 * in units of 512 bytes.
 */

struct code {
	uint8_t *bytes;
	size_t count, room;
};

#define UNIT 512 /* kMinBlockSize */

/* ---- numbers ---- */

static void code_release(struct code *code)
{
	free(code->bytes);
	*code = (struct code){ 0 };
}

static void put_byte(struct code *code, uint8_t byte)
{
	code->bytes = gp_mem_grow(code->bytes, &code->room, code->count + 1, 1);
	code->bytes[code->count++] = byte;
}

static void put(struct code *code, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		put_byte(code, (uint8_t)(value | 128));
	put_byte(code, (uint8_t)value);
}

/* b - a, signed. */
static void put_difference(struct code *code, uint64_t a, uint64_t b)
{
	put(code, b >= a ? (b - a) << 1 : ((a - b) << 1) - 1);
}

/* ---- moments ---- */

/* Event, reserved, allocated, active, requested, inactive_split, largest_free,
 * each as its difference. */
static void code_moments(struct code *code, const struct gp_moment *moments,
			 size_t count)
{
	struct gp_moment last = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct gp_moment *m = &moments[i];

		put(code, m->event - last.event);
		put_difference(code, last.reserved, m->reserved);
		put_difference(code, last.allocated, m->allocated);
		put_difference(code, last.active, m->active);
		put_difference(code, last.requested, m->requested);
		put_difference(code, last.inactive_split, m->inactive_split);
		put_difference(code, last.largest_free, m->largest_free);
		last = *m;
	}
}

/* ---- films ---- */

/*
 * Shots: kind | expandable << 3 | small << 4, event, then
 *   map:   address (signed, to the last one's end), size, stream, pool
 *   unmap: address (signed, to the last map's), size
 *   alloc: address (signed, to the last one's), size, size - requested in
 *          bytes (signed), site + 1
 *   wait, free: how many allocs ago
 *
 * A film larger than limit bytes is thinned: blocks that come and go between
 * two frames are left out.  A frame ends before each multiple of *every and
 * before each of the events in ends.  *every 1: all is there.
 */
struct film_limits {
	size_t bytes;
	uint64_t events;
	const uint64_t *ends; /* ascending */
	size_t end_count;
	/* What a site is called in the code; GP_NO_SITE: nothing. */
	uint32_t (*name_site)(void *arg, uint32_t site);
	void *arg;
};

/* By id, the alloc under way: its shot and its ordinal in the code. */
struct live {
	size_t shot;
	uint64_t ordinal;
};

struct coder {
	struct code *code;
	const struct film_limits *limits;
	const struct gp_shot *shots;
	size_t count;
	bool *is_left_out; /* by shot */
	struct live *live; /* by id */
	size_t ids;
	uint64_t event, memory, block; /* of the last shots */
	uint64_t allocs;
};

/* Which frame an event is in: changes when a frame ends. */
static uint64_t frame_of(const struct coder *c, uint64_t event, uint64_t every)
{
	uint64_t frame = event / every;

	for (size_t i = 0; i < c->limits->end_count; i++)
		frame += event >= c->limits->ends[i];
	return frame;
}

static void leave_out(struct coder *c, uint64_t every)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct gp_shot *shot = &c->shots[i];

		c->is_left_out[i] = false;
		if (every == 1 || shot->id == GP_NO_ID)
			continue;
		if (shot->kind == GP_SHOT_ALLOC)
			c->live[shot->id].shot = i;
		if (shot->kind == GP_SHOT_FREE) {
			size_t first = c->live[shot->id].shot;

			c->is_left_out[first] = c->is_left_out[i] =
				frame_of(c, c->shots[first].event, every) ==
				frame_of(c, shot->event, every);
		}
	}
	/* What waits in between goes with its block. */
	for (size_t i = 0; i < c->count && every > 1; i++) {
		const struct gp_shot *shot = &c->shots[i];

		if (shot->kind == GP_SHOT_ALLOC)
			c->live[shot->id].shot = i;
		if (shot->kind == GP_SHOT_WAIT)
			c->is_left_out[i] =
				c->is_left_out[c->live[shot->id].shot];
	}
}

static void put_memory(struct coder *c, const struct gp_shot *shot)
{
	uint64_t addr = shot->addr / UNIT;

	put_difference(c->code, c->memory, addr);
	put(c->code, shot->size / UNIT);
	if (shot->kind == GP_SHOT_MAP) {
		put(c->code, shot->stream);
		put(c->code, shot->pool);
	}
	c->memory = shot->kind == GP_SHOT_MAP ? addr + shot->size / UNIT : addr;
}

static void put_block(struct coder *c, const struct gp_shot *shot)
{
	uint32_t name =
		shot->site == GP_NO_SITE
			? GP_NO_SITE
			: c->limits->name_site(c->limits->arg, shot->site);

	put_difference(c->code, c->block, shot->addr / UNIT);
	put(c->code, shot->size / UNIT);
	put_difference(c->code, shot->requested, shot->size);
	put(c->code, name == GP_NO_SITE ? 0 : name + UINT64_C(1));
	c->block = shot->addr / UNIT;
	c->live[shot->id].ordinal = c->allocs++;
}

static void put_shot(struct coder *c, const struct gp_shot *shot)
{
	put(c->code, shot->kind | (unsigned)shot->is_expandable << 3 |
			     (unsigned)shot->is_small << 4);
	put(c->code, shot->event - c->event);
	c->event = shot->event;
	if (shot->kind == GP_SHOT_ALLOC)
		put_block(c, shot);
	else if (shot->id == GP_NO_ID)
		put_memory(c, shot);
	else
		put(c->code, c->allocs - c->live[shot->id].ordinal);
}

static void put_film(struct coder *c, uint64_t every)
{
	c->code->count = 0;
	c->event = c->memory = c->block = c->allocs = 0;
	leave_out(c, every);
	for (size_t i = 0; i < c->count; i++)
		if (!c->is_left_out[i])
			put_shot(c, &c->shots[i]);
}

static size_t ids_of(const struct gp_shot *shots, size_t count)
{
	size_t ids = 0;

	for (size_t i = 0; i < count; i++)
		if (shots[i].id != GP_NO_ID && shots[i].id >= ids)
			ids = (size_t)shots[i].id + 1;
	return ids;
}

static void code_film(struct code *code, const struct gp_film *film,
		      const struct film_limits *limits, uint64_t *every)
{
	struct coder c = { .code = code, .limits = limits };

	c.count = gp_film_shots(film, &c.shots);
	c.ids = ids_of(c.shots, c.count);
	c.is_left_out = gp_mem_alloc(c.count + 1, sizeof(bool));
	c.live = gp_mem_alloc(c.ids + 1, sizeof(*c.live));
	*every = 1;
	put_film(&c, *every);
	while (code->count > limits->bytes && *every < limits->events) {
		*every *= *every == 1 ? 16 : 2;
		put_film(&c, *every);
	}
	free(c.is_left_out);
	free(c.live);
}

#define FILM_BYTES 900000 /* of all films of a page, before base64 */
#define SITE_DEPTH 64	  /* frames of a stack on the page */

/* Sites of the trace that blocks of the films have, as they were first met. */
struct sites {
	uint32_t *shown; /* by site: where its stack begins on the page */
	uint32_t *names; /* by site: 1 + its place in list */
	uint32_t *list;
	size_t count, room, site_count;
};

static uint32_t name_site(void *arg, uint32_t site)
{
	struct sites *sites = arg;

	if (site >= sites->site_count)
		return GP_NO_SITE;
	site = sites->shown[site];
	if (!sites->names[site]) {
		sites->list =
			gp_mem_grow(sites->list, &sites->room, sites->count + 1,
				    sizeof(*sites->list));
		sites->list[sites->count++] = site;
		sites->names[site] = (uint32_t)sites->count;
	}
	return sites->names[site] - 1;
}

/* Texts of frames, as they were first met. */
struct frames {
	uint32_t *names; /* by text: 1 + its place in list */
	uint32_t *list;	 /* a site that has it */
	size_t count, room;
};

static uint32_t name_frame(struct frames *frames, const struct gp_trace *trace,
			   uint32_t site)
{
	uint32_t text = trace->sites[site].text;

	if (!frames->names[text]) {
		frames->list =
			gp_mem_grow(frames->list, &frames->room,
				    frames->count + 1, sizeof(*frames->list));
		frames->list[frames->count++] = site;
		frames->names[text] = (uint32_t)frames->count;
	}
	return frames->names[text] - 1;
}

/* [name, place of the frame that gives it, frames from the innermost on] */
static void emit_site(struct gp_emit *json, const struct gp_trace *trace,
		      uint32_t site, struct frames *frames)
{
	uint32_t named = gp_site_frame(trace, site), at = site;
	char text[GP_SITE_TEXT];
	uint64_t place = 0;

	while (at != named && at != GP_NO_SITE) {
		at = trace->sites[at].caller;
		place++;
	}
	gp_emit_open(json, NULL, '[', GP_EMIT_FLAT);
	gp_emit_text(json, NULL, gp_site_text(trace, site, text));
	gp_emit_uint(json, NULL, at == GP_NO_SITE ? 0 : place);
	for (int i = 0; i < SITE_DEPTH && site != GP_NO_SITE; i++) {
		gp_emit_uint(json, NULL, name_frame(frames, trace, site));
		site = trace->sites[site].caller;
	}
	gp_emit_close(json, ']');
}

/* "machinery": which of them say nothing of the program */
static void emit_frames(struct gp_emit *json, const struct gp_trace *trace,
			const struct frames *frames)
{
	gp_emit_open(json, "frames", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < frames->count; i++)
		gp_emit_text(json, NULL,
			     trace->texts[trace->sites[frames->list[i]].text]);
	gp_emit_close(json, ']');
	gp_emit_open(json, "machinery", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < frames->count; i++)
		if (gp_site_is_machinery(trace, frames->list[i]))
			gp_emit_uint(json, NULL, i);
	gp_emit_close(json, ']');
}

static void emit_sites(struct gp_emit *json, const struct gp_trace *trace,
		       const struct sites *sites)
{
	struct frames frames = {
		.names = gp_mem_alloc(trace->text_count + 1, sizeof(uint32_t)),
	};

	gp_emit_open(json, "sites", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < sites->count; i++)
		emit_site(json, trace, sites->list[i], &frames);
	gp_emit_close(json, ']');
	emit_frames(json, trace, &frames);
	free(frames.names);
	free(frames.list);
}

void gp_html_json(const char *text, size_t length, FILE *out)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			putc(text[i], out);
}

static void emit_code(struct gp_emit *json, const char *key,
		      const struct code *code)
{
	struct gp_text_sink sink;
	FILE *memory = gp_text_sink_open(&sink);
	char *text;

	gp_base64_put(code->bytes, code->count, memory);
	text = gp_text_sink_close(&sink, memory);
	gp_emit_text(json, key, text);
	free(text);
}

static void emit_film(struct gp_emit *json, const struct gp_report *report,
		      size_t run, size_t device, struct sites *sites)
{
	const struct gp_run *r = &report->runs[run];
	const struct gp_replay_result *result = &r->results[device];
	uint64_t ends[2] = { result->at_peak.event + 1,
			     result->first_oom.event + 1 };
	struct film_limits limits = {
		.bytes = FILM_BYTES / report->run_count /
			 report->trace->device_count,
		.events = gp_head_events(report, r, device),
		.ends = ends,
		.end_count = result->first_oom.is_there ? 2 : 1,
		.name_site = name_site,
		.arg = sites,
	};
	struct code code = { 0 };
	uint64_t every;

	code_film(&code, r->tracks[device].film, &limits, &every);
	emit_code(json, "film", &code);
	gp_emit_uint(json, "every", every);
	code_release(&code);
}

static void emit_run(struct gp_emit *json, const struct gp_report *report,
		     size_t run, size_t device, struct sites *sites)
{
	const struct gp_run *r = &report->runs[run];
	const struct gp_replay_result *result = &r->results[device];
	struct code code = { 0 };
	struct gp_moment *moments;
	size_t count = gp_thin_moments(r->tracks[device].thin, &moments);

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "conf", gp_head_settings(r->conf));
	gp_emit_uint(json, "peak", result->at_peak.event);
	if (result->first_oom.is_there)
		gp_emit_uint(json, "oom", result->first_oom.event);
	else
		gp_emit_null(json, "oom");
	code_moments(&code, moments, count);
	emit_code(json, "moments", &code);
	code_release(&code);
	free(moments);
	emit_film(json, report, run, device, sites);
	gp_emit_close(json, '}');
}

#define MOST_STEPS 1000 /* of more, none: a page stays small */

/* Of each its first event, the one behind its last, and its number. */
static void emit_steps(struct gp_emit *json, const struct gp_trace *trace,
		       uint32_t device)
{
	struct gp_steps steps;

	gp_steps_find(trace, device, &steps);
	gp_emit_open(json, "steps", '[', GP_EMIT_FLAT);
	for (size_t i = 0; steps.count <= MOST_STEPS && i < steps.count; i++) {
		gp_emit_open(json, NULL, '[', GP_EMIT_FLAT);
		gp_emit_uint(json, NULL, steps.list[i].first);
		gp_emit_uint(json, NULL, steps.list[i].end);
		gp_emit_uint(json, NULL,
			     gp_step_number(trace, device, &steps, i));
		gp_emit_close(json, ']');
	}
	gp_emit_close(json, ']');
	free(steps.list);
}

static void emit_device(struct gp_emit *json, const struct gp_report *report,
			size_t device, struct sites *sites)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", report->trace->devices[device].device);
	gp_emit_uint(json, "events", gp_head_most_events(report, device));
	emit_steps(json, report->trace, (uint32_t)device);
	gp_emit_uint(json, "top", gp_svg_ceiling(gp_svg_top(report, device)));
	gp_emit_open(json, "runs", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->run_count; i++)
		emit_run(json, report, i, device, sites);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

static void emit_streams(struct gp_emit *json, const struct gp_trace *trace)
{
	char label[GP_GROUP_LABEL];

	gp_emit_open(json, "streams", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < trace->stream_count; i++)
		gp_emit_text(json, NULL,
			     gp_group_label(trace, GP_BY_STREAM, (uint32_t)i,
					    label));
	gp_emit_close(json, ']');
	gp_emit_open(json, "pools", '[', GP_EMIT_FLAT);
	for (size_t i = 0; i < trace->pool_count; i++)
		gp_emit_text(
			json, NULL,
			gp_group_label(trace, GP_BY_POOL, (uint32_t)i, label));
	gp_emit_close(json, ']');
}

void gp_page_data(const struct gp_report *report, FILE *out)
{
	struct gp_text_sink sink;
	FILE *memory = gp_text_sink_open(&sink);
	struct gp_emit json = { .out = memory };
	struct sites sites = { .site_count = report->trace->site_count };

	sites.shown = gp_sites_shown(report->trace);
	sites.names = gp_mem_alloc(sites.site_count + 1, sizeof(uint32_t));
	gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
	emit_streams(&json, report->trace);
	gp_emit_open(&json, "devices", '[', GP_EMIT_LINES);
	for (size_t d = 0; d < report->trace->device_count; d++)
		emit_device(&json, report, d, &sites);
	gp_emit_close(&json, ']');
	emit_sites(&json, report->trace, &sites);
	gp_emit_close(&json, '}');
	gp_text_sink_close(&sink, memory);
	gp_html_json(sink.text, sink.size, out);
	free(sink.text);
	free(sites.shown);
	free(sites.names);
	free(sites.list);
}
