/* SPDX-License-Identifier: MIT */
/*
 * Training of a transformer, from its shape: weights, then for each step the
 * activations of the forward pass, gradients in reverse order, and an optimizer
 * whose state is created in its first step. The tensors are those of a
 * GPT-2-like block with fused attention, which keeps its output and a row of
 * sums but not the scores.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "trace/scenario/scenarios.h"

enum {
	LAYERS,
	WIDTH,
	HEADS,
	SEQUENCE,
	BATCH,
	VOCABULARY,
	PRECISION,
	OPTIMIZER,
	CHECKPOINTING,
	STEPS,
};

static const char *const precisions[] = { "fp32", "amp", "bf16" };
static const char *const optimizers[] = { "sgd", "momentum", "adamw" };
static const char *const answers[] = { "no", "yes" };

static const struct gp_parameter parameters[] = {
	[LAYERS] = { "layers", GP_PARAMETER_COUNT, 12, 1, 1024, NULL,
		     "transformer blocks" },
	[WIDTH] = { "width", GP_PARAMETER_COUNT, 768, 8, 1 << 16, NULL,
		    "channels" },
	[HEADS] = { "heads", GP_PARAMETER_COUNT, 12, 1, 1024, NULL,
		    "attention heads" },
	[SEQUENCE] = { "sequence", GP_PARAMETER_COUNT, 1024, 1, 1 << 20, NULL,
		       "tokens of a sequence" },
	[BATCH] = { "batch", GP_PARAMETER_COUNT, 8, 1, 1 << 16, NULL,
		    "sequences of a step" },
	[VOCABULARY] = { "vocabulary", GP_PARAMETER_COUNT, 50257, 2, 1 << 20,
			 NULL, "size of the vocabulary, in tokens" },
	[PRECISION] = { "precision", GP_PARAMETER_WORD, 1, 0, 2, precisions,
			"type of weights and activations; amp: activations in "
			"half precision" },
	[OPTIMIZER] = { "optimizer", GP_PARAMETER_WORD, 2, 0, 2, optimizers,
			"optimizer, with a state of 0, 1 or 2 times the "
			"weights" },
	[CHECKPOINTING] = { "checkpointing", GP_PARAMETER_WORD, 0, 0, 1,
			    answers,
			    "keep a block's input only, and recompute the "
			    "rest" },
	[STEPS] = { "steps", GP_PARAMETER_COUNT, 3, 1, 100000, NULL,
		    "training steps" },
};

#define FULL 4 /* bytes of fp32 */
#define HALF 2

/* A block's weights in order of creation, in units of width times width, and of
 * width. */
static const struct {
	uint64_t squares, widths;
} block_weights[] = {
	{ 0, 1 }, { 0, 1 }, /* ln_1 */
	{ 3, 0 }, { 0, 3 }, /* attn.c_attn */
	{ 1, 0 }, { 0, 1 }, /* attn.c_proj */
	{ 0, 1 }, { 0, 1 }, /* ln_2 */
	{ 4, 0 }, { 0, 4 }, /* mlp.c_fc */
	{ 4, 0 }, { 0, 1 }, /* mlp.c_proj */
};
#define BLOCK_WEIGHTS (sizeof(block_weights) / sizeof(*block_weights))

/* What a block keeps for its backward pass, in forward order: activations
 * (batch x sequence x width), or rows of fp32 sums. */
enum unit { ACTIVATION, SUM_A_TOKEN, SUM_A_HEAD };
static const struct {
	enum unit unit;
	uint64_t times;
} block_kept[] = {
	{ ACTIVATION, 1 },  /* ln_1 */
	{ SUM_A_TOKEN, 1 }, /* its means */
	{ SUM_A_TOKEN, 1 }, /* and deviations */
	{ ACTIVATION, 3 },  /* queries, keys, values */
	{ ACTIVATION, 1 },  /* attention */
	{ SUM_A_HEAD, 1 },  /* its logsumexp */
	{ ACTIVATION, 1 },  /* the residual sum */
	{ ACTIVATION, 1 },  /* ln_2 */
	{ SUM_A_TOKEN, 1 }, { SUM_A_TOKEN, 1 },
	{ ACTIVATION, 4 }, /* mlp.c_fc */
	{ ACTIVATION, 4 }, /* gelu */
};
#define BLOCK_KEPT (sizeof(block_kept) / sizeof(*block_kept))

struct model {
	struct trace_writer *writer;
	const uint64_t *values;
	uint64_t tokens; /* per step */
	uint64_t weight_element, element;
	uint64_t weight_count;
	struct written_block *weights, *gradients;
	struct written_block
		*inputs; /* of each block, and the output of the last one */
	struct written_block *kept; /* BLOCK_KEPT per block */
	bool has_state;		    /* the optimizer's state exists */
};

/* ---- weights ---- */

static uint64_t weight_size(const struct model *m, uint64_t i)
{
	uint64_t width = m->values[WIDTH];
	uint64_t blocks = m->values[LAYERS] * BLOCK_WEIGHTS;

	if (i == 0) /* token embedding; the output layer shares it */
		return m->values[VOCABULARY] * width * m->weight_element;
	if (i == 1) /* position embedding */
		return m->values[SEQUENCE] * width * m->weight_element;
	if (i >= 2 + blocks) /* ln_f */
		return width * m->weight_element;
	i = (i - 2) % BLOCK_WEIGHTS;
	return (block_weights[i].squares * width + block_weights[i].widths) *
	       width * m->weight_element;
}

static uint64_t weights_size(const struct model *m)
{
	uint64_t size = 0;

	for (uint64_t i = 0; i < m->weight_count; i++)
		size += weight_size(m, i);
	return size;
}

static void load(struct model *m)
{
	writer_site(m->writer, "model.py:40 __init__");
	for (uint64_t i = 0; i < m->weight_count; i++)
		m->weights[i] = writer_alloc(m->writer, weight_size(m, i));
}

/* ---- activations ---- */

static uint64_t activation(const struct model *m, uint64_t times)
{
	return m->tokens * m->values[WIDTH] * times * m->element;
}

static uint64_t kept_size(const struct model *m, size_t i)
{
	switch (block_kept[i].unit) {
	case SUM_A_TOKEN: return m->tokens * FULL;
	case SUM_A_HEAD: return m->tokens * m->values[HEADS] * FULL;
	default: return activation(m, block_kept[i].times);
	}
}

/* The forward pass of a block; projections are temporary and added to the
 * residual. */
static void forward_block(struct model *m, uint64_t layer)
{
	struct written_block *kept = m->kept + layer * BLOCK_KEPT;

	for (size_t i = 0; i < BLOCK_KEPT; i++) {
		struct written_block scratch = { 0 };

		writer_site(m->writer, "model.py:61 forward");
		if (i == 6) {
			writer_site(m->writer, "model.py:58 c_proj");
			scratch = writer_alloc(m->writer, activation(m, 1));
		}
		kept[i] = writer_alloc(m->writer, kept_size(m, i));
		writer_free(m->writer, &scratch);
	}
}

static void drop_block(struct model *m, uint64_t layer)
{
	for (size_t i = BLOCK_KEPT; i--;)
		writer_free(m->writer, &m->kept[layer * BLOCK_KEPT + i]);
}

static void forward(struct model *m)
{
	bool is_checkpointed = m->values[CHECKPOINTING];

	writer_site(m->writer, "model.py:70 embed");
	m->inputs[0] = writer_alloc(m->writer, activation(m, 1));
	for (uint64_t i = 0; i < m->values[LAYERS]; i++) {
		forward_block(m, i);
		writer_site(m->writer, "model.py:63 residual");
		m->inputs[i + 1] = writer_alloc(m->writer, activation(m, 1));
		if (is_checkpointed)
			drop_block(m, i);
	}
}

/* ---- backward ---- */

/* The first use creates it; later ones add to it. */
static void gradient_of(struct model *m, uint64_t weight)
{
	writer_site(m->writer, "train.py:33 backward");
	if (!m->gradients[weight].size)
		m->gradients[weight] =
			writer_alloc(m->writer, weight_size(m, weight));
}

/* The gradient of an activation lives until the next one exists. */
static struct written_block backward_block(struct model *m, uint64_t layer,
					   struct written_block gradient)
{
	struct written_block *kept = m->kept + layer * BLOCK_KEPT;
	uint64_t weight = 2 + (layer + 1) * BLOCK_WEIGHTS;

	if (m->values[CHECKPOINTING])
		forward_block(m, layer);
	for (size_t i = BLOCK_KEPT; i--;) {
		struct written_block next = { 0 };

		writer_site(m->writer, "train.py:33 backward");
		if (block_kept[i].unit == ACTIVATION)
			next = writer_alloc(m->writer, kept[i].size);
		writer_free(m->writer, &kept[i]);
		gradient_of(m, --weight);
		if (next.size) {
			writer_free(m->writer, &gradient);
			gradient = next;
		}
	}
	writer_free(m->writer, &m->inputs[layer + 1]);
	return gradient;
}

static void backward(struct model *m)
{
	uint64_t logits = m->tokens * m->values[VOCABULARY];
	struct written_block output, loss, gradient;

	writer_site(m->writer, "model.py:74 lm_head");
	output = writer_alloc(m->writer, logits * m->element);
	writer_site(m->writer, "train.py:31 cross_entropy");
	loss = writer_alloc(m->writer, logits * FULL);
	writer_site(m->writer, "train.py:33 backward");
	gradient = writer_alloc(m->writer, logits * m->element);
	writer_free(m->writer, &loss);
	writer_free(m->writer, &output);
	gradient_of(m, m->weight_count - 1);
	gradient_of(m, m->weight_count - 2);
	for (uint64_t i = m->values[LAYERS]; i--;)
		gradient = backward_block(m, i, gradient);
	gradient_of(m, 1);
	gradient_of(m, 0);
	writer_free(m->writer, &gradient);
	writer_free(m->writer, &m->inputs[0]);
}

/* ---- the optimizer ---- */

static void optimize(struct model *m)
{
	writer_site(m->writer, "train.py:35 optimizer.step");
	for (uint64_t i = 0; !m->has_state && i < m->weight_count; i++)
		for (uint64_t k = 0; k < m->values[OPTIMIZER]; k++)
			writer_alloc(m->writer, weight_size(m, i));
	m->has_state = true;
	for (uint64_t i = 0; i < m->weight_count; i++)
		writer_free(m->writer, &m->gradients[i]);
}

static void fill_budget(const struct model *m, struct gp_budget *budget)
{
	uint64_t weights = weights_size(m), kept = activation(m, 1);
	uint64_t layers = m->values[LAYERS];
	uint64_t logits = m->tokens * m->values[VOCABULARY];

	for (size_t i = 0; i < BLOCK_KEPT; i++)
		kept += kept_size(m, i);
	if (m->values[CHECKPOINTING])
		kept = kept + (layers - 1) * activation(m, 1);
	else
		kept *= layers;
	budget_add(budget, "weights", weights);
	budget_add(budget, "gradients", weights);
	budget_add(budget, "optimizer state", m->values[OPTIMIZER] * weights);
	budget_add(budget, "activations", kept);
	budget_add(budget, "logits, loss and their gradient",
		   logits * (2 * m->element + FULL));
}

static void write(struct trace_writer *writer, const uint64_t *values,
		  struct gp_budget *budget)
{
	struct model m = {
		.writer = writer,
		.values = values,
		.tokens = values[BATCH] * values[SEQUENCE],
		.weight_element = values[PRECISION] == 2 ? HALF : FULL,
		.element = values[PRECISION] == 0 ? FULL : HALF,
		.weight_count = 2 + values[LAYERS] * BLOCK_WEIGHTS + 2,
	};

	m.weights = gp_mem_alloc(m.weight_count, sizeof(*m.weights));
	m.gradients = gp_mem_alloc(m.weight_count, sizeof(*m.gradients));
	m.inputs = gp_mem_alloc(values[LAYERS] + 1, sizeof(*m.inputs));
	m.kept = gp_mem_alloc(values[LAYERS] * BLOCK_KEPT, sizeof(*m.kept));
	load(&m);
	for (uint64_t i = 0; i < values[STEPS]; i++) {
		writer_mark(writer, "step", GP_MARK_START);
		forward(&m);
		backward(&m);
		optimize(&m);
		writer_mark(writer, "step", GP_MARK_END);
	}
	fill_budget(&m, budget);
	free(m.kept);
	free(m.inputs);
	free(m.gradients);
	free(m.weights);
}

const struct gp_scenario transformer_scenario = {
	.name = "transformer",
	.sentence = "a transformer's training steps, from its shape",
	.parameters = parameters,
	.parameter_count = sizeof(parameters) / sizeof(*parameters),
	.write = write,
};
