/* SPDX-License-Identifier: MIT */
/*
 * Checkerboard: many blocks, every other one of which is freed, then one
 * request for as much as was freed. The simplest case of fragmentation.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/scenario/scenarios.h"

enum { BLOCKS, SIZE, LARGE };

static const struct gp_parameter parameters[] = {
	[BLOCKS] = { "blocks", GP_PARAMETER_COUNT, 100, 2, 1000000, NULL,
		     "number of blocks that are allocated first" },
	[SIZE] = { "size", GP_PARAMETER_BYTES, 4 * MIB, 1, 1024 * GIB, NULL,
		   "bytes of each" },
	[LARGE] = { "large", GP_PARAMETER_BYTES, 0, 0, 1024 * GIB, NULL,
		    "the last request; 0: as much as was freed" },
};

static void write(struct trace_writer *writer, const uint64_t *values,
		  struct gp_budget *budget)
{
	struct written_block *held =
		gp_mem_alloc(values[BLOCKS], sizeof(*held));
	uint64_t freed = 0;

	writer_site(writer, "checkerboard.py:3 fill");
	for (uint64_t i = 0; i < values[BLOCKS]; i++)
		held[i] = writer_alloc(writer, values[SIZE]);
	for (uint64_t i = 0; i < values[BLOCKS]; i += 2) {
		freed += held[i].size;
		writer_free(writer, &held[i]);
	}
	writer_site(writer, "checkerboard.py:9 large");
	writer_alloc(writer, values[LARGE] ? values[LARGE] : freed);
	budget_add(budget, "freed in pieces", freed);
	free(held);
}

const struct gp_scenario checkerboard_scenario = {
	.name = "checkerboard",
	.sentence = "every other one of many blocks is freed, then one large "
		    "request comes",
	.parameters = parameters,
	.parameter_count = sizeof(parameters) / sizeof(*parameters),
	.write = write,
};
