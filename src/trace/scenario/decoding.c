/* SPDX-License-Identifier: MIT */
/*
 * Decoding: requests come and go, and the key-value cache of each grows token
 * by token, by copying it into a larger tensor as torch.cat does.
 */
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "trace/scenario/scenarios.h"

enum { REQUESTS, ACTIVE, SHORTEST, LONGEST, LAYERS, WIDTH, STRIDE };

static const struct gp_parameter parameters[] = {
	[REQUESTS] = { "requests", GP_PARAMETER_COUNT, 40, 1, 1000000, NULL,
		       "requests that are served" },
	[ACTIVE] = { "active", GP_PARAMETER_COUNT, 4, 1, 4096, NULL,
		     "requests at one time" },
	[SHORTEST] = { "shortest", GP_PARAMETER_COUNT, 32, 1, 1 << 20, NULL,
		       "tokens of the shortest" },
	[LONGEST] = { "longest", GP_PARAMETER_COUNT, 512, 1, 1 << 20, NULL,
		      "tokens of the longest" },
	[LAYERS] = { "layers", GP_PARAMETER_COUNT, 8, 1, 1024, NULL,
		     "layers, each with keys and values" },
	[WIDTH] = { "width", GP_PARAMETER_COUNT, 4096, 1, 1 << 18, NULL,
		    "channels of keys, and of values" },
	[STRIDE] = { "stride", GP_PARAMETER_COUNT, 16, 1, 1 << 20, NULL,
		     "tokens that a cache grows by" },
};

#define ELEMENT 2 /* bytes: half precision */

struct request {
	uint64_t tokens, end;
	struct written_block *caches; /* 2 per layer */
};

static void grow(struct trace_writer *writer, const uint64_t *values,
		 struct request *request)
{
	uint64_t size;

	request->tokens += values[STRIDE];
	size = request->tokens * values[WIDTH] * ELEMENT;
	for (uint64_t i = 0; i < 2 * values[LAYERS]; i++) {
		struct written_block larger;

		writer_site(writer, "cache.py:31 update");
		larger = writer_alloc(writer, size);
		writer_free(writer, &request->caches[i]);
		request->caches[i] = larger;
	}
}

static void begin(struct trace_writer *writer, const uint64_t *values,
		  struct request *request)
{
	uint64_t longest = gp_larger(values[LONGEST], values[SHORTEST]);

	request->tokens = 0;
	request->end = gp_rng_between(&writer->rng, values[SHORTEST], longest);
}

static void finish(struct trace_writer *writer, const uint64_t *values,
		   struct request *request)
{
	for (uint64_t i = 0; i < 2 * values[LAYERS]; i++)
		writer_free(writer, &request->caches[i]);
}

/* One step of each request; a finished request is replaced by the next one. */
static uint64_t serve(struct trace_writer *writer, const uint64_t *values,
		      struct request *requests, uint64_t waiting)
{
	for (uint64_t i = 0; i < values[ACTIVE]; i++) {
		struct request *r = &requests[i];

		if (r->end && r->tokens >= r->end) {
			finish(writer, values, r);
			r->end = 0;
		}
		if (!r->end && waiting) {
			begin(writer, values, r);
			waiting--;
		}
		if (r->end)
			grow(writer, values, r);
	}
	return waiting;
}

static bool is_idle(const struct request *requests, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		if (requests[i].end)
			return false;
	return true;
}

static void write(struct trace_writer *writer, const uint64_t *values,
		  struct gp_budget *budget)
{
	uint64_t weights = 12 * values[WIDTH] * values[WIDTH] * ELEMENT;
	uint64_t waiting = values[REQUESTS], n = 2 * values[LAYERS];
	struct request *requests =
		gp_mem_alloc(values[ACTIVE], sizeof(*requests));
	struct written_block *caches =
		gp_mem_alloc(values[ACTIVE] * n, sizeof(*caches));

	writer_site(writer, "model.py:8 load");
	for (uint64_t i = 0; i < values[LAYERS]; i++)
		writer_alloc(writer, weights);
	budget_add(budget, "weights", values[LAYERS] * weights);
	budget_add(budget, "all caches at their longest",
		   values[ACTIVE] * n * values[LONGEST] * values[WIDTH] *
			   ELEMENT);
	for (uint64_t i = 0; i < values[ACTIVE]; i++)
		requests[i].caches = caches + i * n;
	do
		waiting = serve(writer, values, requests, waiting);
	while (waiting || !is_idle(requests, values[ACTIVE]));
	free(caches);
	free(requests);
}

const struct gp_scenario decoding_scenario = {
	.name = "decoding",
	.sentence = "inference whose caches grow token by token",
	.parameters = parameters,
	.parameter_count = sizeof(parameters) / sizeof(*parameters),
	.write = write,
};
