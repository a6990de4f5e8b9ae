/* SPDX-License-Identifier: MIT */
/* The holders of the live set: its blocks by site, or by size class. */
#include "study/metrics/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/site.h"

#define CLASSES 65 /* powers of two, and a class for 0 bytes */

/* ---- summing ---- */

/* By id, the site that allocated the block. */
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

/* Moves the shares that have blocks to the front; returns their number. */
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

static size_t by_site(const struct gp_trace *trace,
		      const struct gp_device_trace *device,
		      const struct gp_state *state, struct gp_share **shares)
{
	/* The last entry is for blocks without a known site. */
	size_t count = trace->site_count, kept;
	struct gp_share *all = gp_mem_alloc(count + 1, sizeof(*all));
	uint32_t *sites = sites_of(device), *shown = gp_sites_shown(trace);

	for (size_t i = 0; i < state->block_count; i++) {
		const struct gp_block *block = &state->blocks[i];
		uint32_t site = GP_NO_SITE;

		if (block->state != GP_ACTIVE)
			continue;
		if (block->id < device->block_ids)
			site = sites[block->id];
		add(&all[site < count ? shown[site] : count], block);
	}
	for (uint32_t i = 0; i < count; i++)
		if (all[i].blocks)
			gp_site_text(trace, i, all[i].name);
	kept = pack(all, count + 1);
	free(sites);
	free(shown);
	*shares = all;
	return kept;
}

size_t gp_share_out(const struct gp_trace *trace, uint32_t device,
		    const struct gp_state *state, enum gp_sharing sharing,
		    struct gp_share **shares)
{
	if (sharing == GP_SHARE_BY_SIZE)
		return by_size(state, shares);
	return by_site(trace, &trace->devices[device], state, shares);
}
