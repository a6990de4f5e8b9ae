/* Who holds the live set: its blocks by site, or by size class. */
#include "gpupool/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define CLASSES 65 /* powers of two, and no bytes at all */

/* ---- which frame of a stack names it ---- */

static bool ends_in_python(const char *text, size_t length)
{
	return length >= 3 && !strncmp(text + length - 3, ".py", 3);
}

/* "file.py:42 function": the file's length, else 0. */
static size_t python_file(const char *text)
{
	for (const char *colon = strchr(text, ':'); colon;
	     colon = strchr(colon + 1, ':')) {
		size_t length = (size_t)(colon - text);

		if (colon[1] >= '0' && colon[1] <= '9' &&
		    ends_in_python(text, length))
			return length;
	}
	return 0;
}

static bool has(const char *text, size_t length, const char *part)
{
	return memmem(text, length, part, strlen(part)) != NULL;
}

/* How well a frame tells a person where memory was asked for. */
enum worth { OTHER, OPERATOR, BACKWARD, LIBRARY, PROGRAM };

static enum worth worth_of(const char *text)
{
	size_t length = python_file(text);

	if (!length && strstr(text, "autograd::generated::"))
		return BACKWARD;
	if (!length)
		return strstr(text, "at::_ops::") ? OPERATOR : OTHER;
	if (has(text, length, "site-packages") ||
	    has(text, length, "dist-packages") ||
	    has(text, length, "lib/python") || has(text, length, "torch/nn/") ||
	    has(text, length, "torch/optim/"))
		return LIBRARY;
	return PROGRAM;
}

/* Of equally good frames the innermost. */
static uint32_t text_of(const struct gp_trace *trace, uint32_t site)
{
	uint32_t best = GP_NO_SITE;
	enum worth most = OTHER;

	for (; site != GP_NO_SITE; site = trace->sites[site].caller) {
		uint32_t text = trace->sites[site].text;
		enum worth worth = worth_of(trace->texts[text]);

		if (best == GP_NO_SITE || worth > most) {
			best = text;
			most = worth;
		}
		if (most == PROGRAM)
			break;
	}
	return best;
}

const char *gp_share_site(const struct gp_trace *trace, uint32_t site)
{
	return trace->texts[text_of(trace, site)];
}

/* ---- summing ---- */

/* By id, the site that asked for the block. */
static uint32_t *sites_of(const struct gp_device_trace *device)
{
	uint32_t *sites =
		gp_mem_alloc((size_t)device->block_ids + 1, sizeof(*sites));

	for (size_t i = 0; i < device->block_ids; i++)
		sites[i] = GP_NO_SITE;
	for (size_t i = 0; i < device->start.block_count; i++)
		if (device->start.blocks[i].id < device->block_ids)
			sites[device->start.blocks[i].id] =
				device->start.blocks[i].site;
	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_ALLOC)
			sites[device->events[i].id] = device->events[i].site;
	return sites;
}

static unsigned class_of(uint64_t size)
{
	unsigned bits = 0;

	while (size) {
		bits++;
		size >>= 1;
	}
	return bits;
}

static void add(struct gp_share *share, const struct gp_block *block)
{
	uint64_t live =
		block->requested < block->size ? block->requested : block->size;

	share->blocks++;
	share->requested += live;
	share->rounding += block->size - live;
}

/* Those that have blocks, in front. */
static size_t pack(struct gp_share *shares, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (shares[i].blocks)
			shares[kept++] = shares[i];
	return kept;
}

static size_t by_size(const struct gp_state *state, struct gp_share **shares)
{
	struct gp_share *all = gp_mem_alloc(CLASSES, sizeof(*all));

	for (unsigned i = 1; i < CLASSES; i++)
		all[i].floor = UINT64_C(1) << (i - 1);
	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].state == GP_ACTIVE)
			add(&all[class_of(state->blocks[i].requested)],
			    &state->blocks[i]);
	*shares = all;
	return pack(all, CLASSES);
}

/* The text that names a site, found once for each. */
static uint32_t *names_of(const struct gp_trace *trace)
{
	uint32_t *names = gp_mem_alloc(trace->site_count + 1, sizeof(*names));

	for (size_t i = 0; i < trace->site_count; i++)
		names[i] = text_of(trace, (uint32_t)i);
	return names;
}

static size_t by_site(const struct gp_trace *trace,
		      const struct gp_device_trace *device,
		      const struct gp_state *state, struct gp_share **shares)
{
	/* The last is for blocks of which no site is known. */
	size_t texts = trace->text_count;
	struct gp_share *all = gp_mem_alloc(texts + 1, sizeof(*all));
	uint32_t *sites = sites_of(device), *names = names_of(trace);

	for (size_t i = 0; i < texts; i++)
		all[i].name = trace->texts[i];
	for (size_t i = 0; i < state->block_count; i++) {
		const struct gp_block *block = &state->blocks[i];
		uint32_t site = GP_NO_SITE;

		if (block->state != GP_ACTIVE)
			continue;
		if (block->id < device->block_ids)
			site = sites[block->id];
		add(&all[site < trace->site_count ? names[site] : texts],
		    block);
	}
	free(sites);
	free(names);
	*shares = all;
	return pack(all, texts + 1);
}

size_t gp_share_out(const struct gp_trace *trace, uint32_t device,
		    const struct gp_state *state, enum gp_sharing sharing,
		    struct gp_share **shares)
{
	if (sharing == GP_SHARE_BY_SIZE)
		return by_size(state, shares);
	return by_site(trace, &trace->devices[device], state, shares);
}
