/* SPDX-License-Identifier: MIT */
/*
 * Memory at the peak as folded stacks, one per line, outermost frame first:
 * "main;step;forward 1048576", the format of flamegraph.pl and similar tools.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "report/exchange/exchange.h"

struct folded {
	const struct gp_trace *trace;
	FILE *out;
	uint32_t device; /* index */
};

static void *begin(const struct gp_exchange_config *config)
{
	struct folded *f = gp_mem_alloc(1, sizeof(*f));

	f->trace = config->trace;
	f->out = config->out;
	return f;
}

static void begin_device(void *state, uint32_t device)
{
	struct folded *f = state;

	f->device = device;
}

/* Names of templates can be very long. */
#define FRAME_BYTES 1024

static bool continues_character(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Replaces the characters that separate frames and lines. */
static void put_frame(FILE *out, const char *text)
{
	const char *end = text + FRAME_BYTES;

	for (; *text && (text < end || continues_character(*text)); text++)
		putc(*text == ';'		  ? ','
		     : (unsigned char)*text < ' ' ? ' '
						  : *text,
		     out);
}

/* leaf: a frame added at the end; NULL: none. */
static void put_line(const struct folded *f, uint32_t site, const char *leaf,
		     uint64_t bytes)
{
	const struct gp_trace *t = f->trace;
	uint32_t texts[MOST_FRAMES];
	const char *between = "";
	size_t n;

	if (!bytes)
		return;
	n = frame_stack_shown(t, site, texts);
	if (t->device_count > 1) {
		fprintf(f->out, "device %" PRIu32,
			t->devices[f->device].device);
		between = ";";
	}
	for (size_t i = n; i-- > 0; between = ";") {
		fputs(between, f->out);
		put_frame(f->out, t->texts[texts[i]]);
	}
	if (leaf)
		fprintf(f->out, "%s%s", between, leaf);
	fprintf(f->out, " %" PRIu64 "\n", bytes);
}

static void add_result(void *state, const struct gp_replay_result *result)
{
	struct folded *f = state;
	size_t n = f->trace->site_count;
	struct peak peak;

	peak_init(&peak, f->trace, f->device, result);
	for (uint32_t i = 0; i < n; i++) {
		put_line(f, i, NULL, peak.allocated[i]);
		put_line(f, i, PEAK_PENDING, peak.pending[i]);
	}
	put_line(f, GP_NO_SITE, PEAK_NO_STACK, peak.allocated[n]);
	put_line(f, GP_NO_SITE, PEAK_PENDING, peak.pending[n]);
	put_line(f, GP_NO_SITE, PEAK_NOT_ALLOCATED, peak.not_allocated);
	peak_release(&peak);
}

static void end(void *state)
{
	(void)state;
}

const struct writer folded_writer = {
	.has_peak = true,
	.begin = begin,
	.device = begin_device,
	.result = add_result,
	.end = end,
	.release = free,
};
