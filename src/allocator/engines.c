/* The registry of engines. */
#include "allocator/engines.h"

#include <stdlib.h>
#include <string.h>

static const struct gp_engine engines[] = {
	{ "caching", "PyTorch's caching allocator", gp_caching_create },
	{ "direct", "one cudaMalloc a request: the baseline",
	  gp_direct_create },
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
