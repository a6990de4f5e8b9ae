/* SPDX-License-Identifier: MIT */
/*
 * cuDNN's recurrent networks: their descriptors, the layout of their weights,
 * and the memory they need while they run.
 */
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "simcuda/device.h"
#include "simcuda/process.h"
#include "simcuda/program/owners.h"
#include "simcuda/program/stand_in.h"

/* Programs call these through CUDA's own declarations; few arguments matter. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SUCCESS	  0
#define BAD_PARAM 2000

/* ---- descriptors ---- */

/* The relevant values of cudnnRNNMode_t, cudnnRNNBiasMode_t, cudnnRNNAlgo_t and
 * cudnnDataType_t: cudnn_adv.h and cudnn_graph.h of cuDNN 9. */
enum cell { RELU, TANH, LSTM, GRU };
enum bias { NO_BIAS, INPUT_BIAS, BOTH_BIASES, RECURRENT_BIAS };
enum algorithm { STANDARD, PERSIST_STATIC };
enum type { FLOAT = 0, DOUBLE = 1, BFLOAT16 = 9 };

struct dropout {
	float probability;
};

struct rnn {
	bool has_dropout;
	int algorithm, cell, bias, directions, type;
	int inputs, hidden, projection, layers;
};

/* Steps of the longest sequence, and the number of sequences. */
struct sequences {
	int steps, batch;
};

struct tensor {
	int type, count, dims[3];
};

int cudnnCreateDropoutDescriptor(struct dropout **dropout)
{
	*dropout = gp_mem_alloc(1, sizeof(**dropout));
	return SUCCESS;
}

int cudnnDestroyDropoutDescriptor(struct dropout *dropout)
{
	free(dropout);
	return SUCCESS;
}

#define DROPOUTS(X)                                                            \
	X(cudnnSetDropoutDescriptor)                                           \
	X(cudnnRestoreDropoutDescriptor)

#define DROPOUT(name)                                                          \
	int name(struct dropout *dropout, void *handle, float probability,     \
		 uint64_t states, size_t size, unsigned long long seed)        \
	{                                                                      \
		dropout->probability = probability;                            \
		owners_workspace(OWNERS_CUDNN, states);                        \
		return SUCCESS;                                                \
	}
DROPOUTS(DROPOUT)

int cudnnCreateRNNDescriptor(struct rnn **rnn)
{
	*rnn = gp_mem_alloc(1, sizeof(**rnn));
	return SUCCESS;
}

int cudnnDestroyRNNDescriptor(struct rnn *rnn)
{
	free(rnn);
	return SUCCESS;
}

int cudnnSetRNNDescriptor_v8(struct rnn *rnn, int algorithm, int cell, int bias,
			     int direction, int input, int type, int precision,
			     int math, int inputs, int hidden, int projection,
			     int layers, const struct dropout *dropout,
			     unsigned flags)
{
	if (cell < RELU || cell > GRU)
		return BAD_PARAM;
	*rnn = (struct rnn){
		.has_dropout = dropout && dropout->probability > 0,
		.algorithm = algorithm,
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

int cudnnCreateRNNDataDescriptor(struct sequences **sequences)
{
	*sequences = gp_mem_alloc(1, sizeof(**sequences));
	return SUCCESS;
}

int cudnnDestroyRNNDataDescriptor(struct sequences *sequences)
{
	free(sequences);
	return SUCCESS;
}

int cudnnSetRNNDataDescriptor(struct sequences *sequences, int type, int layout,
			      int steps, int batch, int width,
			      const int *lengths, void *padding)
{
	*sequences = (struct sequences){ steps, batch };
	return SUCCESS;
}

/*
 * ---- the layout of weights ----
 *
 * PyTorch packs a network's weights into a buffer of the size given here, and
 * asks for the place of each.
 *
 * cudnnGetRNNWeightParams, cudnn_adv.h of cuDNN 9: first all matrices, then all
 * biases, each by layer and direction. A layer's matrices are the gates' for
 * the input, the gates' for the hidden state, and with a projection one more.
 */

static int gates(const struct rnn *rnn)
{
	return rnn->cell == LSTM ? 4 : rnn->cell == GRU ? 3 : 1;
}

static bool is_projected(const struct rnn *rnn)
{
	return rnn->cell == LSTM && rnn->projection < rnn->hidden;
}

/* The outputs of a layer, for the next layer and for its own next step. */
static int outputs(const struct rnn *rnn)
{
	return is_projected(rnn) ? rnn->projection : rnn->hidden;
}

static size_t element(const struct rnn *rnn)
{
	return rnn->type == FLOAT ? 4 : rnn->type == DOUBLE ? 8 : 2;
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

/* The number of elements in the matrices, or biases, before the given one; with
 * layer the number of layers, in all of them. */
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
			       size_t *size)
{
	int all = rnn->layers * rnn->directions;

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

/* Callers may omit the matrix or the bias. */
int cudnnGetRNNWeightParams(void *handle, const struct rnn *rnn, int layer,
			    size_t size, const char *space, int id,
			    struct tensor *m, const void **m_at,
			    struct tensor *b, const void **b_at)
{
	if (m && m_at)
		*m_at = matrix_at(rnn, layer, id, space, m);
	if (b && b_at)
		*b_at = bias_at(rnn, layer, id, space, b);
	return SUCCESS;
}

/*
 * ---- memory while a network runs ----
 *
 * cuDNN does not document how much it needs. These formulas were derived from
 * what cuDNN 9.19 asked for on an H200 (tests/gpu/workspaces.py compares them).
 * All 1,183 reserve spaces are exact. Of 1,688 workspaces, 1,652 are exact to
 * the byte, 35 differ by 304 bytes because of how small parts are aligned, and
 * one differs. Of networks with dropout one was measured; networks of double or
 * with a projection were not, and batches were only 1, 4, 8, 16, 32, 64 and
 * 128.
 *
 * In elements: for each step of a sequence, by hidden unit, plus those given
 * separately; and for each sequence, by layer and hidden unit. Training needs
 * the larger of forward and backward.
 */

struct costs {
	size_t forward, forward_state, backward, backward_state;
};

static const struct costs plain[] = {
	[RELU] = { 2, 3, 3, 5 },
	[TANH] = { 2, 3, 3, 5 },
	[LSTM] = { 5, 10, 3, 11 },
	[GRU] = { 4, 5, 3, 5 },
};

/* If gates are computed separately; elements by step are added to those of
 * plain. */
static const struct costs apart[] = {
	[RELU] = { 4, 4, 9, 6 },
	[TANH] = { 4, 4, 9, 6 },
	[LSTM] = { 16, 8, 12, 12 },
	[GRU] = { 12, 4, 14, 6 },
};

/* For small matrices, and if one kernel persists for all steps. The limit lies
 * between 64 Ki and 192 Ki elements. */
#define SMALL_WEIGHTS 100000

static bool is_apart(const struct rnn *rnn)
{
	int n = gates(rnn);

	return rnn->type != BFLOAT16 &&
	       ((size_t)n * (size_t)rnn->hidden * (size_t)rnn->hidden <
			SMALL_WEIGHTS ||
		rnn->algorithm == PERSIST_STATIC);
}

/* Layers that wait for each other process time in pieces of this many steps,
 * and keep only some pieces. */
static size_t kept_steps(const struct rnn *rnn, const struct sequences *x)
{
	static const struct {
		int batch;
		size_t piece;
	} pieces[] = {
		{ 1, 32 }, { 8, 16 }, { 16, 8 }, { 64, 4 }, { INT_MAX, 2 },
	};
	size_t i = 0, steps = (size_t)x->steps, kept;

	while (x->batch > pieces[i].batch)
		i++;
	kept = (size_t)rnn->layers * pieces[i].piece +
	       gp_larger(pieces[i].piece, 8);
	return kept < steps ? kept : steps;
}

/* The units passed between layers, of which dropout zeroes some. */
static size_t dropped(const struct rnn *rnn)
{
	bool is_given = rnn->has_dropout && rnn->layers > 1;

	return is_given ? (size_t)rnn->directions * (size_t)rnn->hidden : 0;
}

static size_t forward_elements(const struct rnn *rnn, const struct sequences *x)
{
	size_t d = (size_t)rnn->directions, hidden = (size_t)rnn->hidden;
	const struct costs *costs = &plain[rnn->cell];
	size_t step = (d * costs->forward + (d - 1) * 4) * hidden;
	size_t state = d * costs->forward_state + (d - 1) * 4;

	if (is_apart(rnn)) {
		step += apart[rnn->cell].forward * hidden;
		state = d * apart[rnn->cell].forward_state + (d - 1) * 2;
	}
	step += (size_t)rnn->inputs + dropped(rnn);
	return (size_t)x->batch *
	       ((size_t)x->steps * step + (size_t)rnn->layers * state * hidden);
}

static size_t backward_elements(const struct rnn *rnn,
				const struct sequences *x)
{
	size_t d = (size_t)rnn->directions, hidden = (size_t)rnn->hidden;
	size_t inputs = (size_t)rnn->inputs, steps = (size_t)x->steps;
	const struct costs *costs = &plain[rnn->cell];
	size_t step = d * costs->backward * hidden + 2 * inputs +
		      d * d * gp_larger(inputs, hidden);
	size_t state = d * costs->backward_state + (d - 1) * 4;
	size_t saved = 0;

	if (is_apart(rnn)) {
		step += apart[rnn->cell].backward * hidden;
		state = d * apart[rnn->cell].backward_state + (d - 1) * 2;
	} else if (rnn->layers > 1 && d == 1) {
		saved = (steps - kept_steps(rnn, x)) * hidden;
	}
	if (rnn->layers > 1 && (is_apart(rnn) || d > 1))
		step += d * hidden;
	step += dropped(rnn);
	return (size_t)x->batch *
	       (steps * step + (size_t)rnn->layers * state * hidden - saved);
}

/* Of a matrix product, by layer and direction; at the beginning; and of two
 * numbers for each sequence. */
#define PRODUCT_BYTES  ((size_t)8 << 20)
#define HEADER_BYTES   256
#define SEQUENCE_BYTES 8
#define ALIGNMENT      32

static size_t workspace(const struct rnn *rnn, const struct sequences *x,
			bool is_training)
{
	size_t all = (size_t)(rnn->layers * rnn->directions);
	size_t most = forward_elements(rnn, x);

	if (is_training)
		most = gp_larger(most, backward_elements(rnn, x));
	return all * PRODUCT_BYTES + HEADER_BYTES +
	       gp_round_up((size_t)x->batch * SEQUENCE_BYTES, ALIGNMENT) +
	       element(rnn) * (matrices_before(rnn, (int)all, 0) + most);
}

/* What backward needs from forward: outputs of each layer, values between
 * layers, and a bit for each unit that was dropped there or not. */
static size_t reserve_space(const struct rnn *rnn, const struct sequences *x)
{
	size_t by_layer = rnn->cell == LSTM ? 5 : rnn->cell == GRU ? 6 : 1;
	size_t layers = (size_t)rnn->layers;
	size_t units = (size_t)x->steps * (size_t)x->batch *
		       (size_t)rnn->hidden * (size_t)rnn->directions;
	size_t bits = rnn->has_dropout ? units * (layers - 1) : 0;

	return HEADER_BYTES +
	       gp_round_up(units * (by_layer * layers + layers - 1) *
				   element(rnn),
			   ALIGNMENT) +
	       gp_round_up((bits + 7) / 8, ALIGNMENT);
}

int cudnnGetRNNTempSpaceSizes(void *handle, const struct rnn *rnn,
			      int is_training, const struct sequences *x,
			      size_t *work, size_t *reserve)
{
	if (work)
		*work = workspace(rnn, x, is_training);
	if (reserve)
		*reserve = is_training ? reserve_space(rnn, x) : 0;
	stand_in_measured(__func__);
	return SUCCESS;
}

/* States of the random number generators for dropout, for 1,024 threads on each
 * multiprocessor: 6,488,064 bytes on the H200's 132. */
#define STATE_BYTES	    48
#define STATES_BY_PROCESSOR 1024

int cudnnDropoutGetStatesSize(void *handle, size_t *size)
{
	const struct gp_gpu_properties *p;

	process_lock();
	p = properties_of(process_current_device());
	*size = (size_t)p->multiprocessors * STATES_BY_PROCESSOR * STATE_BYTES;
	process_unlock();
	stand_in_measured(__func__);
	return SUCCESS;
}

/* ---- tensors, as far as they are read back ---- */

int cudnnCreateTensorDescriptor(struct tensor **tensor)
{
	*tensor = gp_mem_alloc(1, sizeof(**tensor));
	return SUCCESS;
}

int cudnnDestroyTensorDescriptor(struct tensor *tensor)
{
	free(tensor);
	return SUCCESS;
}

/* Three dimensions are enough for those that are read back. */
int cudnnSetTensorNdDescriptor(struct tensor *tensor, int type, int count,
			       const int *dims, const int *strides)
{
	*tensor = (struct tensor){ .type = type, .count = count };
	for (int i = 0; i < count && i < 3; i++)
		tensor->dims[i] = dims[i];
	tensor->count = count < 3 ? count : 3;
	return SUCCESS;
}

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

/* ---- running ---- */

/* Counts as a kernel that uses this workspace. */
static int run(uint64_t workspace)
{
	owners_workspace(OWNERS_CUDNN, workspace);
	process_notify_work(NULL);
	return SUCCESS;
}

int cudnnRNNForward(void *handle, const struct rnn *rnn, int is_training,
		    const int *lengths, void *x, const void *x_at, void *y,
		    void *y_at, void *h, const void *hx, void *hy, void *c,
		    const void *cx, void *cy, size_t weights, const void *w,
		    size_t size, uint64_t workspace, size_t reserve,
		    void *reserved)
{
	return run(workspace);
}

int cudnnRNNBackwardData_v8(void *handle, const struct rnn *rnn,
			    const int *lengths, void *y, const void *y_at,
			    const void *dy, void *x, void *dx, void *h,
			    const void *hx, const void *dhy, void *dhx, void *c,
			    const void *cx, const void *dcy, void *dcx,
			    size_t weights, const void *w, size_t size,
			    uint64_t workspace, size_t reserve, void *reserved)
{
	return run(workspace);
}

int cudnnRNNBackwardWeights_v8(void *handle, const struct rnn *rnn, int how,
			       const int *lengths, void *x, const void *x_at,
			       void *h, const void *hx, void *y,
			       const void *y_at, size_t weights, void *dw,
			       size_t size, uint64_t workspace, size_t reserve,
			       void *reserved)
{
	return run(workspace);
}

/*
 * ---- the API of cuDNN 8 ----
 *
 * PyTorch up to 2.3 uses it: a network's type and inputs are those of the
 * tensors passed for each step. Memory needs were measured with cuDNN 9 only.
 * cudnn_adv_infer.h and cudnn_ops_infer.h of cuDNN 8.9.
 */

int cudnnSetRNNDescriptor_v6(void *handle, struct rnn *rnn, int hidden,
			     int layers, const struct dropout *dropout,
			     int input, int direction, int cell, int algorithm,
			     int precision)
{
	return cudnnSetRNNDescriptor_v8(rnn, algorithm, cell, BOTH_BIASES,
					direction, input, FLOAT, precision, 0,
					0, hidden, hidden, layers, dropout, 0);
}

int cudnnSetRNNProjectionLayers(void *handle, struct rnn *rnn, int recurrent,
				int given)
{
	rnn->projection = recurrent;
	return SUCCESS;
}

static struct rnn given(const struct rnn *rnn, const struct tensor *x)
{
	struct rnn of = *rnn;

	of.type = x->type;
	of.inputs = x->dims[1];
	return of;
}

int cudnnGetRNNParamsSize(void *handle, const struct rnn *rnn,
			  const struct tensor *x, size_t *size, int type)
{
	struct rnn of = given(rnn, x);

	of.type = type;
	return cudnnGetRNNWeightSpaceSize(handle, &of, size);
}

int cudnnGetRNNLinLayerMatrixParams(void *handle, const struct rnn *rnn,
				    int layer, const struct tensor *x, void *w,
				    const char *space, int id, struct tensor *m,
				    const void **at)
{
	struct rnn of = given(rnn, x);

	*at = matrix_at(&of, layer, id, space, m);
	return SUCCESS;
}

int cudnnGetRNNLinLayerBiasParams(void *handle, const struct rnn *rnn,
				  int layer, const struct tensor *x, void *w,
				  const char *space, int id, struct tensor *b,
				  const void **at)
{
	struct rnn of = given(rnn, x);

	*at = bias_at(&of, layer, id, space, b);
	return SUCCESS;
}

/* Whether the network is trained is only asked later: assumes training. */
int cudnnGetRNNWorkspaceSize(void *handle, const struct rnn *rnn, int steps,
			     const struct tensor *const *x, size_t *size)
{
	const struct sequences sequences = { steps, x[0]->dims[0] };
	struct rnn of = given(rnn, x[0]);

	*size = workspace(&of, &sequences, true);
	stand_in_measured(__func__);
	return SUCCESS;
}

int cudnnGetRNNTrainingReserveSize(void *handle, const struct rnn *rnn,
				   int steps, const struct tensor *const *x,
				   size_t *size)
{
	const struct sequences sequences = { steps, x[0]->dims[0] };
	struct rnn of = given(rnn, x[0]);

	*size = reserve_space(&of, &sequences);
	stand_in_measured(__func__);
	return SUCCESS;
}

int cudnnCreateFilterDescriptor(struct tensor **filter)
{
	return cudnnCreateTensorDescriptor(filter);
}

int cudnnDestroyFilterDescriptor(struct tensor *filter)
{
	return cudnnDestroyTensorDescriptor(filter);
}

int cudnnGetFilterNdDescriptor(const struct tensor *filter, int room, int *type,
			       int *format, int *count, int *dims)
{
	*type = filter->type;
	*format = 0;
	*count = filter->count;
	for (int i = 0; i < filter->count && i < room; i++)
		dims[i] = filter->dims[i];
	return SUCCESS;
}
