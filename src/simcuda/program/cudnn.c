/* SPDX-License-Identifier: MIT */
/*
 * cuDNN: versions, the sizes that are asked for, graphs of operations, and
 * recurrent networks.
 *
 * How much workspace is needed is a secret of cuDNN's, by device, release and
 * shape: here it is none, and what asked for it is counted, so that the
 * recording can say so.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/plans.h"
#include "simcuda/process.h"
#include "simcuda/program/plans.h"
#include "simcuda/program/owners.h"
#include "simcuda/program/stand_in.h"
#include "simcuda/program/versions.h"

#define SUCCESS 0

size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void)
{
	return versions_cudnn();
}

size_t cudnnGetCudartVersion(void);
size_t cudnnGetCudartVersion(void)
{
	return CUDART_VERSION;
}

/* libraryPropertyType: major, minor, patch.  From 9 on 90100 is 9.1.0; before,
 * 8902 is 8.9.2. */
int cudnnGetProperty(int property, int *value);
int cudnnGetProperty(int property, int *value)
{
	int version = (int)versions_cudnn();
	int major = version >= 90000 ? 10000 : 1000;

	*value = property == 0	 ? version / major
		 : property == 1 ? version % major / 100
				 : version % 100;
	return SUCCESS;
}

/* ---- convolutions of the older interface ---- */

/* cudnnConvolution*AlgoPerf_t: algorithm 0, success, no memory. */
#define PERF_BYTES 48

#define ALGORITHMS(X)                                                          \
	X(cudnnGetConvolutionForwardAlgorithm_v7)                              \
	X(cudnnGetConvolutionBackwardDataAlgorithm_v7)                         \
	X(cudnnGetConvolutionBackwardFilterAlgorithm_v7)

#define ALGORITHM(name)                                                        \
	int name(void *handle, void *a, void *b, void *c, void *d, int room,   \
		 int *count, void *perf);                                      \
	int name(void *handle, void *a, void *b, void *c, void *d, int room,   \
		 int *count, void *perf)                                       \
	{                                                                      \
		(void)handle, (void)a, (void)b, (void)c, (void)d;              \
		*count = room > 0;                                             \
		if (room > 0)                                                  \
			memset(perf, 0, PERF_BYTES);                           \
		return SUCCESS;                                                \
	}
ALGORITHMS(ALGORITHM)

#define TRIALS(X)                                                              \
	X(cudnnFindConvolutionForwardAlgorithmEx)                              \
	X(cudnnFindConvolutionBackwardDataAlgorithmEx)                         \
	X(cudnnFindConvolutionBackwardFilterAlgorithmEx)

#define TRIAL(name)                                                            \
	int name(void *handle, void *a, void *b, void *c, void *d, void *e,    \
		 void *f, void *g, int room, int *count, void *perf);          \
	int name(void *handle, void *a, void *b, void *c, void *d, void *e,    \
		 void *f, void *g, int room, int *count, void *perf)           \
	{                                                                      \
		(void)handle, (void)a, (void)b, (void)c, (void)d, (void)e;     \
		(void)f, (void)g;                                              \
		*count = room > 0;                                             \
		if (room > 0)                                                  \
			memset(perf, 0, PERF_BYTES);                           \
		return SUCCESS;                                                \
	}
TRIALS(TRIAL)

/* ---- sizes ---- */

static int no_size(size_t *size, const char *of)
{
	*size = 0;
	stand_in_size(of);
	return SUCCESS;
}

#define CONVOLUTION_SIZES(X)                                                   \
	X(cudnnGetConvolutionForwardWorkspaceSize)                             \
	X(cudnnGetConvolutionBackwardDataWorkspaceSize)                        \
	X(cudnnGetConvolutionBackwardFilterWorkspaceSize)

#define CONVOLUTION_SIZE(name)                                                 \
	int name(void *handle, void *a, void *b, void *c, void *d,             \
		 int algorithm, size_t *size);                                 \
	int name(void *handle, void *a, void *b, void *c, void *d,             \
		 int algorithm, size_t *size)                                  \
	{                                                                      \
		(void)handle, (void)a, (void)b, (void)c, (void)d;              \
		(void)algorithm;                                               \
		return no_size(size, #name);                                   \
	}
CONVOLUTION_SIZES(CONVOLUTION_SIZE)

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
	void *handle, int mode, int ops, void *x, void *z, void *y, void *scale,
	void *activation, size_t *size);
int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
	void *handle, int mode, int ops, void *x, void *z, void *y, void *scale,
	void *activation, size_t *size)
{
	(void)handle, (void)mode, (void)ops, (void)x, (void)z, (void)y;
	(void)scale, (void)activation;
	return no_size(size, __func__);
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode,
							 int ops,
							 void *activation,
							 void *x, size_t *size);
int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode,
							 int ops,
							 void *activation,
							 void *x, size_t *size)
{
	(void)handle, (void)mode, (void)ops, (void)activation, (void)x;
	return no_size(size, __func__);
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(
	void *handle, int mode, int ops, void *x, void *y, void *dy, void *dz,
	void *dx, void *scale, void *activation, size_t *size);
int cudnnGetBatchNormalizationBackwardExWorkspaceSize(
	void *handle, int mode, int ops, void *x, void *y, void *dy, void *dz,
	void *dx, void *scale, void *activation, size_t *size)
{
	(void)handle, (void)mode, (void)ops, (void)x, (void)y, (void)dy;
	(void)dz, (void)dx, (void)scale, (void)activation;
	return no_size(size, __func__);
}

int cudnnDropoutGetStatesSize(void *handle, size_t *size);
int cudnnDropoutGetStatesSize(void *handle, size_t *size)
{
	(void)handle;
	return no_size(size, __func__);
}

int cudnnGetCTCLossWorkspaceSize(void *handle, void *probabilities,
				 void *gradients, const int *labels,
				 const int *label_lengths,
				 const int *input_lengths, int algorithm,
				 void *descriptor, size_t *size);
int cudnnGetCTCLossWorkspaceSize(void *handle, void *probabilities,
				 void *gradients, const int *labels,
				 const int *label_lengths,
				 const int *input_lengths, int algorithm,
				 void *descriptor, size_t *size)
{
	(void)handle, (void)probabilities, (void)gradients, (void)labels;
	(void)label_lengths, (void)input_lengths, (void)algorithm;
	(void)descriptor;
	return no_size(size, __func__);
}

int cudnnGetCTCLossWorkspaceSize_v8(void *handle, int algorithm,
				    void *descriptor, void *probabilities,
				    void *gradients, size_t *size);
int cudnnGetCTCLossWorkspaceSize_v8(void *handle, int algorithm,
				    void *descriptor, void *probabilities,
				    void *gradients, size_t *size)
{
	(void)handle, (void)algorithm, (void)descriptor, (void)probabilities;
	(void)gradients;
	return no_size(size, __func__);
}

/* ---- graphs of operations ---- */

/*
 * Descriptors with attributes, from which plans are made.
 *
 * Where the real library is there (plans.h), it has the descriptors and gives
 * the plans, with their workspace.  Where it is not, whatever is asked for has
 * one plan without workspace, and that is counted.
 */

/* cudnnBackendDescriptorType_t: what a plan is run with, which nobody does. */
#define VARIANT_PACK 16

/* What a handle points to. */
struct descriptor {
	int type;
	uint32_t id; /* the real library's, 0: it has none */
};

int cudnnBackendCreateDescriptor(int type, struct descriptor **descriptor);
int cudnnBackendCreateDescriptor(int type, struct descriptor **descriptor)
{
	struct descriptor *d = gp_mem_alloc(1, sizeof(*d));
	int status = SUCCESS;

	d->type = type;
	if (type != VARIANT_PACK && plans_can())
		status = plans_create(type, &d->id);
	if (status && plans_can()) {
		free(d);
		return status;
	}
	*descriptor = d;
	return SUCCESS;
}

int cudnnBackendDestroyDescriptor(struct descriptor *descriptor);
int cudnnBackendDestroyDescriptor(struct descriptor *descriptor)
{
	if (descriptor && descriptor->id)
		plans_destroy(descriptor->id);
	free(descriptor);
	return SUCCESS;
}

static bool is_real(const struct descriptor *descriptor)
{
	return descriptor && descriptor->id && plans_can();
}

int cudnnBackendFinalize(struct descriptor *descriptor);
int cudnnBackendFinalize(struct descriptor *descriptor)
{
	return is_real(descriptor) ? plans_finalize(descriptor->id) : SUCCESS;
}

/* The real library's numbers of descriptors; free them. */
static uint64_t *ids_of(int64_t count, struct descriptor *const *descriptors)
{
	uint64_t *ids = gp_mem_alloc((size_t)count + 1, sizeof(*ids));

	for (int64_t i = 0; i < count; i++)
		if (descriptors && descriptors[i])
			ids[i] = descriptors[i]->id;
	return ids;
}

#define VARIANT_PACK_WORKSPACE 1003

int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type,
			     int64_t count, const void *values);
int cudnnBackendSetAttribute(struct descriptor *descriptor, int name, int type,
			     int64_t count, const void *values)
{
	uint64_t *ids;
	int status;

	if (name == VARIANT_PACK_WORKSPACE && count == 1)
		owners_workspace(OWNERS_CUDNN, *(const uint64_t *)values);
	if (!is_real(descriptor))
		return SUCCESS;
	if (type != GP_PLANS_DESCRIPTOR || count < 0)
		return plans_set(descriptor->id, name, type, count, values);
	ids = ids_of(count, values);
	status = plans_set(descriptor->id, name, type, count, ids);
	free(ids);
	return status;
}

/* ---- what is asked about them ---- */

/* cudnnBackendAttributeName_t, cudnn_graph.h of cuDNN 9. */
enum attribute {
	ENGINEHEUR_RESULTS = 202,
	ENGINECFG_ENGINE = 300,
	ENGINECFG_WORKSPACE_SIZE = 303,
	ENGINECFG_SHARED_MEMORY_USED = 304, /* four bytes */
	EXECUTION_PLAN_ENGINE_CONFIG = 401,
	EXECUTION_PLAN_WORKSPACE_SIZE = 402,
	OPERATIONGRAPH_ENGINE_GLOBAL_COUNT = 802,
	ENGINE_GLOBAL_INDEX = 1301,
};

/* Descriptors that are asked for were made by the caller; one of them stands
 * for the answer.  Attributes that are lists are empty. */
static int stand_in(int name, int64_t room, int64_t *count, void *values)
{
	int64_t number = name == OPERATIONGRAPH_ENGINE_GLOBAL_COUNT, found = 0;

	switch (name) {
	case ENGINECFG_SHARED_MEMORY_USED:
		if (room > 0 && values)
			memcpy(values, &number, sizeof(int32_t));
		found = 1;
		break;
	case ENGINECFG_WORKSPACE_SIZE:
	case EXECUTION_PLAN_WORKSPACE_SIZE:
	case OPERATIONGRAPH_ENGINE_GLOBAL_COUNT:
	case ENGINE_GLOBAL_INDEX:
		if (room > 0 && values)
			memcpy(values, &number, sizeof(number));
		found = 1;
		break;
	case ENGINEHEUR_RESULTS:
	case ENGINECFG_ENGINE:
	case EXECUTION_PLAN_ENGINE_CONFIG: found = 1; break;
	default: break;
	}
	if (name == EXECUTION_PLAN_WORKSPACE_SIZE)
		stand_in_size("cudnnBackendGetAttribute");
	if (count)
		*count = found;
	return SUCCESS;
}

static int ask(const struct descriptor *descriptor, int name, int type,
	       int64_t room, int64_t *count, void *values)
{
	uint64_t *ids;
	int status;

	if (name == EXECUTION_PLAN_WORKSPACE_SIZE && room > 0)
		plans_count();
	if (type != GP_PLANS_DESCRIPTOR || room <= 0 || !values)
		return plans_get(descriptor->id, name, type, room, count,
				 values);
	ids = ids_of(room, values);
	status = plans_get(descriptor->id, name, type, room, count, ids);
	free(ids);
	return status;
}

int cudnnBackendGetAttribute(struct descriptor *descriptor, int name, int type,
			     int64_t room, int64_t *count, void *values);
int cudnnBackendGetAttribute(struct descriptor *descriptor, int name, int type,
			     int64_t room, int64_t *count, void *values)
{
	if (is_real(descriptor))
		return ask(descriptor, name, type, room, count, values);
	return stand_in(name, room, count, values);
}

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
