/* SPDX-License-Identifier: MIT */
/*
 * cuDNN: versions, sizes, and the graph API.
 *
 * How much workspace cuDNN needs depends on device, release and shape, and is
 * not documented. Here it is 0. Calls that ask for it are counted, so that the
 * recording can report them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "record/plans_wire.h"
#include "simcuda/process.h"
#include "simcuda/program/plans.h"
#include "simcuda/program/owners.h"
#include "simcuda/program/stand_in.h"
#include "simcuda/program/torch.h"

/* Programs call these through CUDA's own declarations; few arguments matter. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

#define SUCCESS 0

size_t cudnnGetVersion(void)
{
	return versions_cudnn();
}

size_t cudnnGetCudartVersion(void)
{
	return CUDART_VERSION;
}

/* libraryPropertyType: major, minor, patch. From version 9 on, 90100 is 9.1.0;
 * before, 8902 is 8.9.2. */
int cudnnGetProperty(int property, int *value)
{
	int version = (int)versions_cudnn();
	int major = version >= 90000 ? 10000 : 1000;

	*value = property == 0	 ? version / major
		 : property == 1 ? version % major / 100
				 : version % 100;
	return SUCCESS;
}

/* ---- convolutions of the legacy API ---- */

/* cudnnConvolution*AlgoPerf_t: algorithm 0, success, no memory. */
#define PERF_BYTES 48

#define ALGORITHMS(X)                                                          \
	X(cudnnGetConvolutionForwardAlgorithm_v7)                              \
	X(cudnnGetConvolutionBackwardDataAlgorithm_v7)                         \
	X(cudnnGetConvolutionBackwardFilterAlgorithm_v7)

#define ALGORITHM(name)                                                        \
	int name(void *handle, void *a, void *b, void *c, void *d, int room,   \
		 int *count, void *perf)                                       \
	{                                                                      \
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
		 void *f, void *g, int room, int *count, void *perf)           \
	{                                                                      \
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
		 int algorithm, size_t *size)                                  \
	{                                                                      \
		return no_size(size, #name);                                   \
	}
CONVOLUTION_SIZES(CONVOLUTION_SIZE)

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
	void *handle, int mode, int ops, void *x, void *z, void *y, void *scale,
	void *activation, size_t *size)
{
	return no_size(size, __func__);
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(void *handle, int mode,
							 int ops,
							 void *activation,
							 void *x, size_t *size)
{
	return no_size(size, __func__);
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(
	void *handle, int mode, int ops, void *x, void *y, void *dy, void *dz,
	void *dx, void *scale, void *activation, size_t *size)
{
	return no_size(size, __func__);
}

int cudnnGetCTCLossWorkspaceSize(void *handle, void *probabilities,
				 void *gradients, const int *labels,
				 const int *label_lengths,
				 const int *input_lengths, int algorithm,
				 void *descriptor, size_t *size)
{
	return no_size(size, __func__);
}

int cudnnGetCTCLossWorkspaceSize_v8(void *handle, int algorithm,
				    void *descriptor, void *probabilities,
				    void *gradients, size_t *size)
{
	return no_size(size, __func__);
}

/* ---- the graph API ---- */

/*
 * Descriptors with attributes, from which plans are made.
 *
 * If the real library is available (plans.h), it holds the descriptors and
 * makes the plans, with their workspace. If not, every request gets one plan
 * without workspace, and is counted.
 */

/* cudnnBackendDescriptorType_t: the arguments of a plan's execution, which
 * never happens. */
#define VARIANT_PACK 16

/* What a handle points to. */
struct descriptor {
	int type;
	uint32_t id; /* the real library's descriptor; 0: there is none */
};

int cudnnBackendCreateDescriptor(int type, struct descriptor **descriptor)
{
	struct descriptor *d = gp_mem_alloc(1, sizeof(*d));

	d->type = type;
	if (type != VARIANT_PACK && plans_can())
		d->id = plans_create(type);
	*descriptor = d;
	return SUCCESS;
}

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

int cudnnBackendFinalize(struct descriptor *descriptor)
{
	return is_real(descriptor) ? plans_finalize(descriptor->id) : SUCCESS;
}

/* The real library's ids of the descriptors. To be freed by the caller. */
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

/* ---- attributes that are read ---- */

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

/* The caller has made the descriptors to be filled; one of them stands for the
 * answer. Attributes that are lists are empty. */
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
			     int64_t room, int64_t *count, void *values)
{
	if (is_real(descriptor))
		return ask(descriptor, name, type, room, count, values);
	return stand_in(name, room, count, values);
}
