/* SPDX-License-Identifier: MIT */
/*
 * Tenants: several models in one process that take turns, each with a private
 * pool and a stream of its own. Memory freed by one does not serve the others.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/scenario/scenarios.h"

enum { TENANTS, TURNS, LEAST, MOST, BLOCKS };

static const struct gp_parameter parameters[] = {
	[TENANTS] = { "tenants", GP_PARAMETER_COUNT, 3, 1, 1000, NULL,
		      "models, with a pool and a stream each" },
	[TURNS] = { "turns", GP_PARAMETER_COUNT, 30, 1, 100000, NULL,
		    "turns in all" },
	[LEAST] = { "least", GP_PARAMETER_BYTES, MIB, 1, 64 * GIB, NULL,
		    "bytes of the smallest block" },
	[MOST] = { "most", GP_PARAMETER_BYTES, 64 * MIB, 1, 64 * GIB, NULL,
		   "bytes of the largest block" },
	[BLOCKS] = { "blocks", GP_PARAMETER_COUNT, 20, 1, 65536, NULL,
		     "blocks of a turn" },
};

static void turn(struct trace_writer *writer, const uint64_t *values,
		 struct written_block *held)
{
	uint64_t most =
		values[MOST] > values[LEAST] ? values[MOST] : values[LEAST];

	writer_ask(writer, GP_POOL_BEGIN);
	for (uint64_t i = 0; i < values[BLOCKS]; i++)
		held[i] = writer_alloc(
			writer,
			gp_rng_between(&writer->rng, values[LEAST], most));
	writer_ask(writer, GP_POOL_END);
	for (uint64_t i = 0; i < values[BLOCKS]; i++)
		writer_free(writer, &held[i]);
}

static void write(struct trace_writer *writer, const uint64_t *values,
		  struct gp_budget *budget)
{
	struct written_block *held =
		gp_mem_alloc(values[BLOCKS], sizeof(*held));

	(void)budget;
	writer_site(writer, "serve.py:14 run");
	for (uint64_t i = 0; i < values[TURNS]; i++) {
		uint64_t tenant = gp_rng_below(&writer->rng, values[TENANTS]);

		writer->pool = writer_pool(writer, tenant + 1);
		writer->stream = writer_stream(writer, tenant + 1);
		turn(writer, values, held);
	}
	free(held);
}

const struct gp_scenario tenants_scenario = {
	.name = "tenants",
	.sentence = "several models in one process, with private pools",
	.parameters = parameters,
	.parameter_count = sizeof(parameters) / sizeof(*parameters),
	.write = write,
};
