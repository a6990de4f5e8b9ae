/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "simcuda/program/stand_in.h"

#define SUCCESS 0

/* ---- recurrent networks ---- */

/*
 * Where in one buffer the weights lie.  PyTorch packs a network's weights into
 * a buffer of the size told here and asks for the place of each.
 *
 * cudnnRNNMode_t and cudnnGetRNNWeightParams, cudnn_adv.h of cuDNN 9: layer by
 * layer and direction by direction, first all matrices, then all biases; of
 * each, the gates' for the input, the gates' for what was before, and with a
 * projection one matrix more.
 */

enum cell { RELU, TANH, LSTM, GRU };
enum bias { NO_BIAS, INPUT_BIAS, BOTH_BIASES, RECURRENT_BIAS };

struct rnn {
	int cell, bias, directions, type, inputs, hidden, projection, layers;
};

struct tensor {
	int type, count, dims[3];
};

int cudnnCreateRNNDescriptor(struct rnn **rnn);
int cudnnCreateRNNDescriptor(struct rnn **rnn)
{
	*rnn = gp_mem_alloc(1, sizeof(**rnn));
	return SUCCESS;
}

int cudnnDestroyRNNDescriptor(struct rnn *rnn);
int cudnnDestroyRNNDescriptor(struct rnn *rnn)
{
	free(rnn);
	return SUCCESS;
}

int cudnnSetRNNDescriptor_v8(struct rnn *rnn, int algorithm, int cell, int bias,
			     int direction, int input, int type, int precision,
			     int math, int inputs, int hidden, int projection,
			     int layers, void *dropout, unsigned flags);
int cudnnSetRNNDescriptor_v8(struct rnn *rnn, int algorithm, int cell, int bias,
			     int direction, int input, int type, int precision,
			     int math, int inputs, int hidden, int projection,
			     int layers, void *dropout, unsigned flags)
{
	(void)algorithm, (void)input, (void)precision, (void)math;
	(void)dropout, (void)flags;
	*rnn = (struct rnn){
		.cell = cell,
		.bias = bias,
		.directions = direction + 1,
		.type = type,
		.inputs = inputs,
		.hidden = hidden,
		.projection = projection,
		.layers = layers,
	};
	return SUCCESS;
}

/* ---- the places of weights ---- */

static int gates(const struct rnn *rnn)
{
	return rnn->cell == LSTM ? 4 : rnn->cell == GRU ? 3 : 1;
}

static bool is_projected(const struct rnn *rnn)
{
	return rnn->cell == LSTM && rnn->projection < rnn->hidden;
}

/* What a layer gives to the next, and to itself. */
static int outputs(const struct rnn *rnn)
{
	return is_projected(rnn) ? rnn->projection : rnn->hidden;
}

/* cudnnDataType_t: float, double, half, ..., bfloat16 */
static size_t element(const struct rnn *rnn)
{
	return rnn->type == 0 ? 4 : rnn->type == 1 ? 8 : 2;
}

/* Matrix number id of a layer in one direction; false: there is none. */
static bool matrix(const struct rnn *rnn, int layer, int id, struct tensor *m)
{
	int n = gates(rnn), inputs;

	inputs = layer / rnn->directions ? rnn->directions * outputs(rnn)
					 : rnn->inputs;
	*m = (struct tensor){ rnn->type, 3, { 1, rnn->hidden, 0 } };
	if (id == 2 * n && is_projected(rnn)) {
		m->dims[1] = rnn->projection;
		m->dims[2] = rnn->hidden;
		return true;
	}
	m->dims[2] = id < n ? inputs : outputs(rnn);
	return id >= 0 && id < 2 * n;
}

static bool has_bias(const struct rnn *rnn, int id)
{
	int n = gates(rnn);

	return (id < n &&
		(rnn->bias == INPUT_BIAS || rnn->bias == BOTH_BIASES)) ||
	       (id >= n && id < 2 * n &&
		(rnn->bias == RECURRENT_BIAS || rnn->bias == BOTH_BIASES));
}

/* Elements of the matrices, or of the biases, before one; of all of them, with
 * layer the number of layers. */
static size_t matrices_before(const struct rnn *rnn, int layer, int id)
{
	size_t sum = 0;
	struct tensor m;

	for (int l = 0; l <= layer && l < rnn->layers * rnn->directions; l++)
		for (int i = 0; (l < layer || i < id) && matrix(rnn, l, i, &m);
		     i++)
			sum += (size_t)m.dims[1] * (size_t)m.dims[2];
	return sum;
}

static size_t biases_before(const struct rnn *rnn, int layer, int id)
{
	size_t each = 0, before = 0;

	for (int i = 0; i < 2 * gates(rnn); i++) {
		each += has_bias(rnn, i);
		before += i < id && has_bias(rnn, i);
	}
	return ((size_t)layer * each + before) * (size_t)rnn->hidden;
}

int cudnnGetRNNWeightSpaceSize(void *handle, const struct rnn *rnn,
			       size_t *size);
int cudnnGetRNNWeightSpaceSize(void *handle, const struct rnn *rnn,
			       size_t *size)
{
	int all = rnn->layers * rnn->directions;

	(void)handle;
	*size = element(rnn) *
		(matrices_before(rnn, all, 0) + biases_before(rnn, all, 0));
	return SUCCESS;
}

static const void *matrix_at(const struct rnn *rnn, int layer, int id,
			     const char *space, struct tensor *m)
{
	if (!matrix(rnn, layer, id, m))
		return NULL;
	return space + element(rnn) * matrices_before(rnn, layer, id);
}

static const void *bias_at(const struct rnn *rnn, int layer, int id,
			   const char *space, struct tensor *b)
{
	int all = rnn->layers * rnn->directions;

	*b = (struct tensor){ rnn->type, 3, { 1, rnn->hidden, 1 } };
	if (!has_bias(rnn, id))
		return NULL;
	return space + element(rnn) * (matrices_before(rnn, all, 0) +
				       biases_before(rnn, layer, id));
}

/* Callers leave out the half that they do not ask for. */
int cudnnGetRNNWeightParams(void *handle, const struct rnn *rnn, int layer,
			    size_t size, const char *space, int id,
			    struct tensor *m, const void **m_at,
			    struct tensor *b, const void **b_at);
int cudnnGetRNNWeightParams(void *handle, const struct rnn *rnn, int layer,
			    size_t size, const char *space, int id,
			    struct tensor *m, const void **m_at,
			    struct tensor *b, const void **b_at)
{
	(void)handle, (void)size;
	if (m && m_at)
		*m_at = matrix_at(rnn, layer, id, space, m);
	if (b && b_at)
		*b_at = bias_at(rnn, layer, id, space, b);
	return SUCCESS;
}

/* What a network needs while it runs is cuDNN's secret: none, and counted. */
int cudnnGetRNNTempSpaceSizes(void *handle, const struct rnn *rnn, int mode,
			      void *x, size_t *work, size_t *reserve);
int cudnnGetRNNTempSpaceSizes(void *handle, const struct rnn *rnn, int mode,
			      void *x, size_t *work, size_t *reserve)
{
	(void)handle, (void)rnn, (void)mode, (void)x;
	if (work)
		*work = 0;
	if (reserve)
		*reserve = 0;
	stand_in_size(__func__);
	return SUCCESS;
}

/* ---- tensors, as far as they are asked for again ---- */

int cudnnCreateTensorDescriptor(struct tensor **tensor);
int cudnnCreateTensorDescriptor(struct tensor **tensor)
{
	*tensor = gp_mem_alloc(1, sizeof(**tensor));
	return SUCCESS;
}

int cudnnDestroyTensorDescriptor(struct tensor *tensor);
int cudnnDestroyTensorDescriptor(struct tensor *tensor)
{
	free(tensor);
	return SUCCESS;
}

int cudnnGetTensorNdDescriptor(const struct tensor *tensor, int room, int *type,
			       int *count, int *dims, int *strides);
int cudnnGetTensorNdDescriptor(const struct tensor *tensor, int room, int *type,
			       int *count, int *dims, int *strides)
{
	int stride = 1;

	*type = tensor->type;
	*count = tensor->count;
	for (int i = tensor->count; i--; stride *= tensor->dims[i]) {
		if (i >= room)
			continue;
		dims[i] = tensor->dims[i];
		strides[i] = stride;
	}
	return SUCCESS;
}
