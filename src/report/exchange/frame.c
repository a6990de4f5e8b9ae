/* SPDX-License-Identifier: MIT */
/* Frames and stacks. */
#include "report/exchange/frame.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/site.h"

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* ":42 " with a number that a reader would write the same; its length. */
static size_t line_at(const char *at, uint64_t *line)
{
	size_t n = 1;

	if (*at != ':' || at[1] == '0')
		return 0;
	for (*line = 0; is_digit(at[n]); n++) {
		if (*line > (UINT64_MAX - 9) / 10)
			return 0;
		*line = *line * 10 + (uint64_t)(at[n] - '0');
	}
	return n > 1 && at[n] == ' ' ? n + 1 : 0;
}

struct frame frame_of(const char *text)
{
	struct frame frame = { .file = text, .name = text };

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

uint32_t *frame_sites(const struct gp_device_trace *device)
{
	uint32_t *sites =
		gp_mem_alloc((size_t)device->block_ids + 1, sizeof(*sites));

	for (uint32_t i = 0; i < device->block_ids; i++)
		sites[i] = GP_NO_SITE;
	for (size_t i = 0; i < device->start.block_count; i++) {
		const struct gp_block *block = &device->start.blocks[i];

		if (block->id != GP_NO_ID)
			sites[block->id] = block->site;
	}
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_ALLOC)
			sites[device->events[i].id] = device->events[i].site;
	return sites;
}
