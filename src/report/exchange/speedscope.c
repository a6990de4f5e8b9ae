/* SPDX-License-Identifier: MIT */
/*
 * Memory at the peak for speedscope (https://www.speedscope.app): one sampled
 * profile per device, with bytes as weights.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "report/exchange/exchange.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

/* Frames that are not in the trace come first. */
enum { FRAME_PENDING, FRAME_NOT_ALLOCATED, FRAME_NO_STACK, OWN_FRAMES };
static const char *const own_frames[OWN_FRAMES] = {
	[FRAME_PENDING] = PEAK_PENDING,
	[FRAME_NOT_ALLOCATED] = PEAK_NOT_ALLOCATED,
	[FRAME_NO_STACK] = PEAK_NO_STACK,
};
#define NO_FRAME OWN_FRAMES

struct speedscope {
	const struct gp_trace *trace;
	const char *name;
	FILE *out;
	uint32_t device;  /* index */
	uint32_t *frames; /* by text: its number, 0: not used */
	uint32_t *texts;  /* the inverse: text by frame number */
	uint32_t count;	  /* frames so far */
};

static void *begin(const struct gp_exchange_config *config)
{
	struct speedscope *s = gp_mem_alloc(1, sizeof(*s));

	s->trace = config->trace;
	s->name = config->name;
	s->out = config->out;
	s->count = OWN_FRAMES;
	s->frames = gp_mem_alloc(s->trace->text_count, sizeof(*s->frames));
	s->texts = gp_mem_alloc(s->trace->text_count + OWN_FRAMES + 1,
				sizeof(*s->texts));
	fputs("{\"$schema\":\"" SCHEMA "\",\"exporter\":\"gpupool\",\"name\":",
	      s->out);
	gp_quote_json(s->name, strlen(s->name), s->out);
	fputs(",\"activeProfileIndex\":0,\"profiles\":[", s->out);
	return s;
}

static void begin_device(void *state, uint32_t device)
{
	struct speedscope *s = state;

	s->device = device;
}

/* ---- a profile ---- */

/* The stacks that hold memory, in a fixed order. */
struct walk {
	struct speedscope *s;
	uint64_t total;
	void (*put)(struct speedscope *s, uint32_t site, uint32_t leaf,
		    uint64_t bytes);
	bool is_next; /* not the first */
};

static void visit(struct walk *w, uint32_t site, uint32_t leaf, uint64_t bytes)
{
	if (!bytes)
		return;
	if (w->is_next)
		putc(',', w->s->out);
	w->is_next = true;
	w->total += bytes;
	w->put(w->s, site, leaf, bytes);
}

static uint64_t walk(struct speedscope *s, const struct peak *peak,
		     void (*put)(struct speedscope *s, uint32_t site,
				 uint32_t leaf, uint64_t bytes))
{
	struct walk w = { .s = s, .put = put };
	size_t n = s->trace->site_count;

	for (uint32_t i = 0; i < n; i++) {
		visit(&w, i, NO_FRAME, peak->allocated[i]);
		visit(&w, i, FRAME_PENDING, peak->pending[i]);
	}
	visit(&w, GP_NO_SITE, FRAME_NO_STACK, peak->allocated[n]);
	visit(&w, GP_NO_SITE, FRAME_PENDING, peak->pending[n]);
	visit(&w, GP_NO_SITE, FRAME_NOT_ALLOCATED, peak->not_allocated);
	return w.total;
}

static uint32_t frame_number(struct speedscope *s, uint32_t text)
{
	if (!s->frames[text]) {
		s->texts[s->count] = text;
		s->frames[text] = s->count++;
	}
	return s->frames[text];
}

static void put_sample(struct speedscope *s, uint32_t site, uint32_t leaf,
		       uint64_t bytes)
{
	uint32_t texts[MOST_FRAMES];
	size_t n = frame_stack_shown(s->trace, site, texts);
	const char *between = "[";

	(void)bytes;
	for (size_t i = n; i-- > 0; between = ",")
		fprintf(s->out, "%s%" PRIu32, between,
			frame_number(s, texts[i]));
	if (leaf != NO_FRAME)
		fprintf(s->out, "%s%" PRIu32, between, leaf);
	putc(']', s->out);
}

static void put_weight(struct speedscope *s, uint32_t site, uint32_t leaf,
		       uint64_t bytes)
{
	(void)site;
	(void)leaf;
	fprintf(s->out, "%" PRIu64, bytes);
}

static void add_result(void *state, const struct gp_replay_result *result)
{
	struct speedscope *s = state;
	struct peak peak;
	uint64_t total;

	peak_init(&peak, s->trace, s->device, result);
	fprintf(s->out,
		"%s{\"type\":\"sampled\",\"unit\":\"bytes\",\"name\":\"device "
		"%" PRIu32 " at the peak, event %" PRIu64
		"\",\"startValue\":0,\"samples\":[",
		s->device ? ",\n" : "\n", s->trace->devices[s->device].device,
		result->at_fullest.event);
	walk(s, &peak, put_sample);
	fputs("],\"weights\":[", s->out);
	total = walk(s, &peak, put_weight);
	fprintf(s->out, "],\"endValue\":%" PRIu64 "}", total);
	peak_release(&peak);
}

/* ---- the frames ---- */

static void put_frame(const struct speedscope *s, const char *text)
{
	struct frame_parts frame = frame_parts_of(text);

	fputs("{\"name\":", s->out);
	gp_quote_json(frame.name, frame.name_length, s->out);
	if (frame.line) {
		fputs(",\"file\":", s->out);
		gp_quote_json(frame.file, frame.file_length, s->out);
		fprintf(s->out, ",\"line\":%" PRIu64, frame.line);
	}
	putc('}', s->out);
}

static void end(void *state)
{
	struct speedscope *s = state;

	fputs("],\n\"shared\":{\"frames\":[", s->out);
	for (uint32_t i = 0; i < s->count; i++) {
		fputs(i ? ",\n" : "\n", s->out);
		put_frame(s, i < OWN_FRAMES ? own_frames[i]
					    : s->trace->texts[s->texts[i]]);
	}
	fputs("]}}\n", s->out);
}

static void release(void *state)
{
	struct speedscope *s = state;

	free(s->frames);
	free(s->texts);
	free(s);
}

const struct writer speedscope_writer = {
	.has_peak = true,
	.begin = begin,
	.device = begin_device,
	.result = add_result,
	.end = end,
	.release = release,
};
