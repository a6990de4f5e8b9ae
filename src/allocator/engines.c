/* SPDX-License-Identifier: MIT */
/* The registry of engines, and what they share. */
#include "allocator/engines.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/keeper.h"
#include "allocator/textbook/textbook.h"
#include "gpupool/allocator.h"

/* Nothing can go wrong with these. */

static enum gp_status create_caching(const struct gp_allocator_config *config,
				     struct gp_allocator **allocator,
				     struct gp_diag *diag)
{
	(void)diag;
	*allocator = gp_caching_create(config);
	return GP_OK;
}

static enum gp_status create_direct(const struct gp_allocator_config *config,
				    struct gp_allocator **allocator,
				    struct gp_diag *diag)
{
	(void)diag;
	*allocator = gp_direct_create(config);
	return GP_OK;
}

static const struct gp_engine_table *const tables[] = {
	&textbook_first_fit, &textbook_best_fit, &textbook_next_fit,
	&textbook_tlsf,	     &textbook_buddy,	 &textbook_slab,
	&textbook_arena,
};

/* The table that is named as the engine. */
static enum gp_status create_table(const struct gp_allocator_config *config,
				   struct gp_allocator **allocator,
				   struct gp_diag *diag)
{
	size_t i = 0;

	while (strcmp(tables[i]->name, config->engine->name) != 0)
		i++;
	return keeper_create(tables[i], config, allocator, diag);
}

static const struct gp_engine engines[] = {
	{ "caching", "PyTorch's caching allocator", NULL, create_caching },
	{ "direct", "one cudaMalloc a request: the baseline", NULL,
	  create_direct },
	{ "torch", "PyTorch's own allocator, out of a wheel", NULL,
	  gp_torch_create },
	{ "async", "cudaMallocAsync and the device's pool",
	  "the driver places its memory; reserved is the least that any "
	  "placement needs, and the pool of a GPU may hold more",
	  gp_async_create },
	{ "managed", "one cudaMallocManaged a request",
	  "the driver moves its pages between host and device, which takes "
	  "time that only a GPU tells; memory beyond the device's is the "
	  "host's",
	  gp_managed_create },
	{ "first-fit", "one heap: the lowest free range that is long enough",
	  NULL, create_table },
	{ "best-fit", "one heap: the smallest free range that is long enough",
	  NULL, create_table },
	{ "next-fit",
	  "one heap: first fit from where the last block was found on", NULL,
	  create_table },
	{ "tlsf",
	  "one heap: two-level segregated fit, a good fit in constant time",
	  NULL, create_table },
	{ "buddy", "the buddy system: powers of two, halved and joined", NULL,
	  create_table },
	{ "slab", "slabs of 2 MiB by size class up to 1 MiB, first fit beyond",
	  NULL, create_table },
	{ "arena", "blocks one behind the other, used again from marks on only",
	  NULL, create_table },
};

const struct gp_engine *gp_engine_table(size_t *count)
{
	*count = sizeof(engines) / sizeof(*engines);
	return engines;
}

const struct gp_engine *gp_engine_find(const char *name)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(*engines); i++)
		if (!strcmp(engines[i].name, name))
			return &engines[i];
	return NULL;
}

void gp_state_release(struct gp_state *state)
{
	free((void *)state->segments);
	free((void *)state->blocks);
	*state = (struct gp_state){ 0 };
}

/* ---- counters by PyTorch's names ---- */

const char *const gp_stat_names[GP_STAT_COUNT] = {
	[GP_STAT_ALLOCATION] = "allocation",
	[GP_STAT_SEGMENT] = "segment",
	[GP_STAT_ACTIVE] = "active",
	[GP_STAT_INACTIVE_SPLIT] = "inactive_split",
	[GP_STAT_ALLOCATED_BYTES] = "allocated_bytes",
	[GP_STAT_RESERVED_BYTES] = "reserved_bytes",
	[GP_STAT_ACTIVE_BYTES] = "active_bytes",
	[GP_STAT_INACTIVE_SPLIT_BYTES] = "inactive_split_bytes",
	[GP_STAT_REQUESTED_BYTES] = "requested_bytes",
};

const char *const gp_stat_kind_names[3] = {
	[GP_STAT_ALL] = "all",
	[GP_STAT_SMALL] = "small_pool",
	[GP_STAT_LARGE] = "large_pool",
};

const char *const gp_stat_part_names[GP_STAT_PARTS] = { "current", "peak",
							"allocated", "freed" };

int64_t gp_stat_part(const struct gp_stat *stat, size_t part)
{
	const int64_t values[GP_STAT_PARTS] = { stat->current, stat->peak,
						stat->allocated, stat->freed };

	assert(part < GP_STAT_PARTS);
	return values[part];
}
