/* SPDX-License-Identifier: MIT */
/* The holders of the live set: its blocks by site, or by size class, and what
 * each of them holds at most in the whole run. */
#include "study/metrics/change.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/metrics/event_search.h"
#include "trace/site.h"

#define CLASSES 65 /* powers of two, and a class for 0 bytes */

/* ---- which share a request belongs to ---- */

static unsigned class_of(uint64_t size)
{
	unsigned bits = 0;

	while (size) {
		bits++;
		size >>= 1;
	}
	return bits;
}

/* Shares by index; the last one by site is of requests without a known site. */
struct sharing {
	struct gp_share *shares;
	size_t count;
	enum gp_sharing kind;
	const uint32_t *shown; /* by site: the one that stands for it */
};

static size_t index_of(const struct sharing *s, uint32_t site, uint64_t size)
{
	if (s->kind == GP_SHARE_BY_SIZE)
		return class_of(size);
	return site < s->count - 1 ? s->shown[site] : s->count - 1;
}

/* What was requested of a block. */
static uint64_t live_of(const struct gp_block *block)
{
	return block->requested < block->size ? block->requested : block->size;
}

/* ---- the whole run ---- */

/* A block that a request brought: its share and what was requested. */
struct held {
	size_t share;
	uint64_t size; /* 0: not live */
};

struct walk {
	struct sharing *sharing;
	struct held *held; /* by id */
	uint64_t *now;	   /* by share: requested bytes that are live */
};

static void drop(struct walk *w, uint32_t id)
{
	w->now[w->held[id].share] -= w->held[id].size;
	w->held[id].size = 0;
}

static void take(struct walk *w, uint32_t id, uint32_t site, uint64_t size)
{
	size_t i = index_of(w->sharing, site, size);
	struct gp_share *share = &w->sharing->shares[i];

	drop(w, id);
	w->held[id] = (struct held){ i, size };
	w->now[i] += size;
	share->requests++;
	share->asked += size;
	if (w->now[i] > share->most)
		share->most = w->now[i];
}

/* Adds up what each share requests, and holds at most, in the whole run. */
static void follow(const struct gp_device_trace *device,
		   struct sharing *sharing)
{
	size_t ids = (size_t)device->block_ids + 1;
	struct walk w = {
		.sharing = sharing,
		.held = gp_mem_alloc(ids, sizeof(*w.held)),
		.now = gp_mem_alloc(sharing->count, sizeof(*w.now)),
	};

	for (size_t i = 0; i < device->start.block_count; i++) {
		const struct gp_block *block = &device->start.blocks[i];

		if (block->state == GP_ACTIVE && block->id < device->block_ids)
			take(&w, block->id, block->site, live_of(block));
	}
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		if (event->kind == GP_ALLOC && !(event->flags & GP_REFUSED))
			take(&w, event->id, event->site, event->size);
		else if (event->kind == GP_FREE)
			drop(&w, event->id);
	}
	free(w.held);
	free(w.now);
}

/* ---- the moment ---- */

static void add(struct gp_share *share, const struct gp_block *block)
{
	uint64_t live = live_of(block);

	share->blocks++;
	share->requested += live;
	share->rounding += block->size - live;
	if (share->requested > share->most)
		share->most = share->requested;
}

/* Sums the live blocks of the state. */
static void sum(const struct gp_device_trace *device,
		const struct gp_state *state, struct sharing *sharing)
{
	uint32_t *sites = gp_alloc_sites(device);

	for (size_t i = 0; i < state->block_count; i++) {
		const struct gp_block *block = &state->blocks[i];
		uint32_t site = GP_NO_SITE;

		if (block->state != GP_ACTIVE)
			continue;
		if (block->id < device->block_ids)
			site = sites[block->id];
		add(&sharing->shares[index_of(sharing, site, block->requested)],
		    block);
	}
	free(sites);
}

/* ---- the shares ---- */

static void name_shares(const struct gp_trace *trace, struct sharing *sharing)
{
	for (size_t i = 0; i < sharing->count; i++) {
		struct gp_share *share = &sharing->shares[i];

		if (sharing->kind == GP_SHARE_BY_SIZE)
			share->floor = i ? UINT64_C(1) << (i - 1) : 0;
		else if (i < trace->site_count &&
			 (share->requests || share->blocks))
			gp_site_text(trace, (uint32_t)i, share->name);
	}
}

/* Moves the shares of something to the front; returns their number. */
static size_t pack(struct gp_share *shares, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (shares[i].requests || shares[i].blocks)
			shares[kept++] = shares[i];
	return kept;
}

size_t gp_share_out(const struct gp_trace *trace, uint32_t device,
		    const struct gp_state *state, enum gp_sharing kind,
		    struct gp_share **shares)
{
	const struct gp_device_trace *t = &trace->devices[device];
	uint32_t *shown = gp_sites_shown(trace);
	struct sharing sharing = {
		.count = kind == GP_SHARE_BY_SIZE ? CLASSES
						  : trace->site_count + 1,
		.kind = kind,
		.shown = shown,
	};

	sharing.shares = gp_mem_alloc(sharing.count, sizeof(*sharing.shares));
	follow(t, &sharing);
	sum(t, state, &sharing);
	name_shares(trace, &sharing);
	free(shown);
	*shares = sharing.shares;
	return pack(sharing.shares, sharing.count);
}
