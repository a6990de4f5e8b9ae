/* SPDX-License-Identifier: MIT */
/*
 * Spikes: equal steps, and now and then a checkpoint that first copies the
 * whole state in pieces; the memory cached for it stays reserved.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/scenario/scenarios.h"

enum { STEPS, EVERY, STATE, PIECES, WORKING };

static const struct gp_parameter parameters[] = {
	[STEPS] = { "steps", GP_PARAMETER_COUNT, 40, 1, 100000, NULL,
		    "training steps" },
	[EVERY] = { "every", GP_PARAMETER_COUNT, 10, 1, 100000, NULL,
		    "steps from one checkpoint to the next" },
	[STATE] = { "state", GP_PARAMETER_BYTES, 4 * GIB, MIB, 1024 * GIB, NULL,
		    "bytes of weights and optimizer" },
	[PIECES] = { "pieces", GP_PARAMETER_COUNT, 64, 1, 65536, NULL,
		     "tensors in the state" },
	[WORKING] = { "working", GP_PARAMETER_BYTES, 2 * GIB, MIB, 1024 * GIB,
		      NULL, "bytes of a step's activations" },
};

#define ACTIVATIONS 32 /* tensors per step */

static void step(struct trace_writer *writer, const uint64_t *values)
{
	struct written_block held[ACTIVATIONS];

	writer_site(writer, "train.py:18 step");
	for (unsigned i = 0; i < ACTIVATIONS; i++)
		held[i] =
			writer_alloc(writer, values[WORKING] / ACTIVATIONS + 1);
	for (unsigned i = ACTIVATIONS; i--;)
		writer_free(writer, &held[i]);
}

/* A few results outlive the checkpoint, and are placed between its pieces. */
static void checkpoint(struct trace_writer *writer, const uint64_t *values,
		       struct written_block *copies)
{
	writer_mark(writer, "checkpoint", GP_MARK_START);
	for (uint64_t i = 0; i < values[PIECES]; i++) {
		writer_site(writer, "checkpoint.py:7 save");
		copies[i] = writer_alloc(writer,
					 values[STATE] / values[PIECES] + 1);
	}
	writer_site(writer, "checkpoint.py:11 digest");
	writer_alloc(writer, 2 * MIB);
	for (uint64_t i = 0; i < values[PIECES]; i++)
		writer_free(writer, &copies[i]);
	writer_mark(writer, "checkpoint", GP_MARK_END);
}

static void write(struct trace_writer *writer, const uint64_t *values,
		  struct gp_budget *budget)
{
	struct written_block *copies =
		gp_mem_alloc(values[PIECES], sizeof(*copies));

	writer_site(writer, "train.py:5 load");
	for (uint64_t i = 0; i < values[PIECES]; i++)
		writer_alloc(writer, values[STATE] / values[PIECES] + 1);
	for (uint64_t i = 1; i <= values[STEPS]; i++) {
		writer_mark(writer, "step", GP_MARK_START);
		step(writer, values);
		writer_mark(writer, "step", GP_MARK_END);
		if (i % values[EVERY] == 0)
			checkpoint(writer, values, copies);
	}
	budget_add(budget, "state", values[STATE]);
	budget_add(budget, "a checkpoint's copies", values[STATE]);
	budget_add(budget, "activations", values[WORKING]);
	free(copies);
}

const struct gp_scenario spikes_scenario = {
	.name = "spikes",
	.sentence = "training that copies its state for a checkpoint now and "
		    "then",
	.parameters = parameters,
	.parameter_count = sizeof(parameters) / sizeof(*parameters),
	.write = write,
};
