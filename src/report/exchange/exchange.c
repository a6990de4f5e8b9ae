/* SPDX-License-Identifier: MIT */
/* Writing a run: the choice of format, and what all formats share. */
#include "report/exchange/exchange.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/text.h"
#include "study/metrics/event_search.h"
#include "trace/site.h"

/* ---- frames of stacks ---- */

/* Length of ":42 " with a number in canonical form (no leading zero); 0: it is
 * not of that form. */
static size_t line_at(const char *at, uint64_t *line)
{
	size_t n = 1;

	if (*at != ':' || at[1] == '0')
		return 0;
	for (*line = 0; gp_is_digit(at[n]); n++) {
		if (*line > (UINT64_MAX - 9) / 10)
			return 0;
		*line = *line * 10 + (uint64_t)(at[n] - '0');
	}
	return n > 1 && at[n] == ' ' ? n + 1 : 0;
}

struct frame_parts frame_parts_of(const char *text)
{
	struct frame_parts frame = { .file = text, .name = text };

	for (const char *at = text; (at = strchr(at, ':')); at++) {
		uint64_t line;
		size_t n = line_at(at, &line);

		if (!n)
			continue;
		frame.file_length = (size_t)(at - text);
		frame.line = line;
		frame.name = at + n;
		break;
	}
	frame.name_length = strlen(frame.name);
	return frame;
}

size_t frame_stack(const struct gp_trace *trace, uint32_t site,
		   uint32_t texts[MOST_FRAMES])
{
	size_t n = 0;

	for (; site != GP_NO_SITE && n < MOST_FRAMES;
	     site = trace->sites[site].caller)
		texts[n++] = trace->sites[site].text;
	return n;
}

size_t frame_stack_shown(const struct gp_trace *trace, uint32_t site,
			 uint32_t texts[MOST_FRAMES])
{
	size_t n = 0;

	for (uint32_t at = site; at != GP_NO_SITE && n < MOST_FRAMES;
	     at = trace->sites[at].caller)
		if (!gp_site_is_machinery(trace, at))
			texts[n++] = trace->sites[at].text;
	return n ? n : frame_stack(trace, site, texts);
}

/* ---- when things happened ---- */

/* The first recorded time of a device; 0: there is none. */
static uint64_t first_time(const struct gp_device_trace *device)
{
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].time_us)
			return device->events[i].time_us;
	return 0;
}

void ticks_begin(struct ticks *ticks, const struct gp_device_trace *device)
{
	uint64_t first = first_time(device);

	*ticks = (struct ticks){ device, first != 0, first };
}

uint64_t ticks_of(struct ticks *ticks, uint64_t event)
{
	uint64_t time_us = ticks->has_times
				   ? ticks->device->events[event].time_us
				   : event + 1;

	return ticks->now_us = gp_larger(ticks->now_us, time_us);
}

uint64_t ticks_first(const struct gp_trace *trace)
{
	uint64_t first = 0;

	for (size_t i = 0; i < trace->device_count; i++) {
		uint64_t time_us = first_time(&trace->devices[i]);

		if (time_us)
			first = first ? gp_smaller(first, time_us) : time_us;
	}
	return first;
}

/* ---- memory at the peak, by stack ---- */

static void add_block(struct peak *peak, const struct gp_trace *trace,
		      const struct gp_block *block, const uint32_t *sites)
{
	uint32_t site = block->id == GP_NO_ID ? block->site : sites[block->id];
	size_t at = site == GP_NO_SITE ? trace->site_count : site;

	if (block->state == GP_ACTIVE)
		peak->allocated[at] += block->size;
	else if (block->state == GP_PENDING_FREE)
		peak->pending[at] += block->size;
	else
		peak->not_allocated += block->size;
}

void peak_init(struct peak *peak, const struct gp_trace *trace, uint32_t device,
	       const struct gp_replay_result *result)
{
	uint32_t *sites = gp_alloc_sites(&trace->devices[device]);
	size_t n = trace->site_count + 1;

	*peak = (struct peak){
		.allocated = gp_mem_alloc(n, sizeof(*peak->allocated)),
		.pending = gp_mem_alloc(n, sizeof(*peak->pending)),
	};
	for (size_t i = 0; i < result->peak.block_count; i++)
		add_block(peak, trace, &result->peak.blocks[i], sites);
	free(sites);
}

void peak_release(struct peak *peak)
{
	free(peak->allocated);
	free(peak->pending);
}

/* ---- a run ---- */

/* PyTorch's device index is one signed byte (c10::DeviceIndex), and a snapshot
 * lists all devices up to the last. */
#define MOST_DEVICE 127

struct gp_exchange {
	struct gp_exchange_config config;
	const struct writer *writer;
	void *state;
	uint32_t devices; /* begun */
};

static const struct writer *const writers[GP_EXCHANGE_FORMATS] = {
	[GP_EXCHANGE_PICKLE] = &snapshot_writer,
	[GP_EXCHANGE_PERFETTO] = &perfetto_writer,
	[GP_EXCHANGE_SPEEDSCOPE] = &speedscope_writer,
	[GP_EXCHANGE_FOLDED] = &folded_writer,
	[GP_EXCHANGE_CSV] = &csv_writer,
};

static enum gp_status check(const struct gp_exchange_config *config,
			    struct gp_diag *diag)
{
	const struct gp_trace *trace = config->trace;
	uint32_t last = trace->device_count
				? trace->devices[trace->device_count - 1].device
				: 0;

	if (config->format != GP_EXCHANGE_PICKLE || last <= MOST_DEVICE)
		return GP_OK;
	gp_diag_hint(diag, "another format can: --to perfetto");
	return gp_diag_set(diag, GP_INPUT,
			   "a snapshot cannot hold device %u: PyTorch numbers "
			   "them up to %d",
			   last, MOST_DEVICE);
}

enum gp_status gp_exchange_begin(const struct gp_exchange_config *config,
				 struct gp_exchange **exchange,
				 struct gp_diag *diag)
{
	enum gp_status status = check(config, diag);
	struct gp_exchange *e;

	if (status != GP_OK)
		return status;
	e = gp_mem_alloc(1, sizeof(*e));
	e->config = *config;
	e->writer = writers[config->format];
	e->state = e->writer->begin(&e->config);
	*exchange = e;
	return GP_OK;
}

void gp_exchange_listen(struct gp_exchange *e, struct gp_replay_config *config)
{
	e->writer->device(e->state, e->devices++);
	config->action = e->writer->action;
	config->action_arg = e->state;
	config->look = e->writer->look;
	config->look_arg = e->state;
	config->keep_peak = e->writer->has_peak;
}

void gp_exchange_add(struct gp_exchange *e,
		     const struct gp_replay_result *result)
{
	e->writer->result(e->state, result);
}

void gp_exchange_end(struct gp_exchange *e)
{
	e->writer->end(e->state);
	gp_exchange_abandon(e);
}

void gp_exchange_abandon(struct gp_exchange *e)
{
	if (!e)
		return;
	e->writer->release(e->state);
	free(e);
}
