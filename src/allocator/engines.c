/* SPDX-License-Identifier: MIT */
/* The registry of engines. */
#include "allocator/engines.h"

#include <stdlib.h>
#include <string.h>

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
