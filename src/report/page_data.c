/* SPDX-License-Identifier: MIT */
/* What a page's script reads: moments, films and the names in them, as JSON. */
#include "report/page_data.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/text_sink.h"
#include "metrics/explain.h"
#include "metrics/film.h"
#include "trace/site.h"
#include "trace/steps.h"
#include "report/emit.h"
#include "report/film_code.h"
#include "report/group.h"
#include "report/head.h"
#include "report/svg_parts.h"

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

/* JSON in a script: nothing in it may look like the script's end. */
static void write_json(const char *text, size_t length, FILE *out)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] == '<')
			fputs("\\u003c", out);
		else
			putc(text[i], out);
}

static void emit_code(struct gp_emit *json, const char *key,
		      const struct gp_code *code)
{
	struct gp_text_sink sink;
	FILE *memory = gp_text_sink_open(&sink);
	char *text;

	gp_code_base64(code, memory);
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
	struct gp_film_limits limits = {
		.bytes = FILM_BYTES / report->run_count /
			 report->trace->device_count,
		.events = gp_head_events(report, r, device),
		.ends = ends,
		.end_count = result->first_oom.is_there ? 2 : 1,
		.name_site = name_site,
		.arg = sites,
	};
	struct gp_code code = { 0 };
	uint64_t every;

	gp_code_film(&code, r->tracks[device].film, &limits, &every);
	emit_code(json, "film", &code);
	gp_emit_uint(json, "every", every);
	gp_code_release(&code);
}

static void emit_run(struct gp_emit *json, const struct gp_report *report,
		     size_t run, size_t device, struct sites *sites)
{
	const struct gp_run *r = &report->runs[run];
	const struct gp_replay_result *result = &r->results[device];
	struct gp_code code = { 0 };
	struct gp_moment *moments;
	size_t count = gp_thin_moments(r->tracks[device].thin, &moments);

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "conf", gp_head_settings(r->conf));
	gp_emit_uint(json, "peak", result->at_peak.event);
	if (result->first_oom.is_there)
		gp_emit_uint(json, "oom", result->first_oom.event);
	else
		gp_emit_null(json, "oom");
	gp_code_moments(&code, moments, count);
	emit_code(json, "moments", &code);
	gp_code_release(&code);
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
	write_json(sink.text, sink.size, out);
	free(sink.text);
	free(sites.shown);
	free(sites.names);
	free(sites.list);
}
