/* SPDX-License-Identifier: MIT */
/*
 * Ragged batches: the activations of a step are as long as its longest
 * sequence, so no two steps request the same sizes.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/scenario/scenarios.h"

enum { STEPS, BATCH, SHORTEST, LONGEST, LAYERS, WIDTH };

static const struct gp_parameter parameters[] = {
	[STEPS] = { "steps", GP_PARAMETER_COUNT, 50, 1, 100000, NULL,
		    "training steps" },
	[BATCH] = { "batch", GP_PARAMETER_COUNT, 8, 1, 65536, NULL,
		    "sequences in a batch" },
	[SHORTEST] = { "shortest", GP_PARAMETER_COUNT, 64, 1, 1 << 20, NULL,
		       "tokens of the shortest batch" },
	[LONGEST] = { "longest", GP_PARAMETER_COUNT, 1024, 1, 1 << 20, NULL,
		      "tokens of the longest batch" },
	[LAYERS] = { "layers", GP_PARAMETER_COUNT, 12, 1, 1024, NULL,
		     "layers that keep activations" },
	[WIDTH] = { "width", GP_PARAMETER_COUNT, 768, 1, 1 << 18, NULL,
		    "channels" },
};

#define ELEMENT	     2 /* bytes: half precision */
#define KEPT_A_LAYER 4 /* activations that the backward pass needs */

/* The activations that a layer keeps; one of them is four times as wide, as in
 * an MLP. */
static uint64_t kept_size(uint64_t activation, unsigned i)
{
	return i == KEPT_A_LAYER - 1 ? 4 * activation : activation;
}

static void step(struct trace_writer *writer, const uint64_t *values,
		 struct written_block *kept)
{
	uint64_t longest = values[LONGEST] > values[SHORTEST]
				   ? values[LONGEST]
				   : values[SHORTEST];
	uint64_t tokens =
		gp_rng_between(&writer->rng, values[SHORTEST], longest);
	uint64_t size = values[BATCH] * tokens * values[WIDTH] * ELEMENT;
	uint64_t n = values[LAYERS] * KEPT_A_LAYER;

	writer_mark(writer, "step", GP_MARK_START);
	for (uint64_t i = 0; i < n; i++) {
		struct written_block scratch;

		writer_site(writer, "model.py:21 forward");
		kept[i] =
			writer_alloc(writer, kept_size(size, i % KEPT_A_LAYER));
		writer_site(writer, "model.py:24 scratch");
		scratch = writer_alloc(writer, size / 2 + 1);
		writer_free(writer, &scratch);
	}
	while (n--) {
		struct written_block gradient;

		writer_site(writer, "train.py:12 backward");
		gradient = writer_alloc(writer, kept[n].size);
		writer_free(writer, &kept[n]);
		writer_free(writer, &gradient);
	}
	writer_mark(writer, "step", GP_MARK_END);
}

static void write(struct trace_writer *writer, const uint64_t *values,
		  struct gp_budget *budget)
{
	uint64_t weight = 12 * values[WIDTH] * values[WIDTH] * ELEMENT;
	struct written_block *kept =
		gp_mem_alloc(values[LAYERS] * KEPT_A_LAYER, sizeof(*kept));

	writer_site(writer, "model.py:8 __init__");
	for (uint64_t i = 0; i < values[LAYERS]; i++)
		writer_alloc(writer, weight);
	budget_add(budget, "weights", values[LAYERS] * weight);
	for (uint64_t i = 0; i < values[STEPS]; i++)
		step(writer, values, kept);
	free(kept);
}

const struct gp_scenario ragged_scenario = {
	.name = "ragged",
	.sentence = "training steps whose batches differ in length",
	.parameters = parameters,
	.parameter_count = sizeof(parameters) / sizeof(*parameters),
	.write = write,
};
