/* SPDX-License-Identifier: MIT */
/*
 * cuDNN but for graphs of operations (cudnn_graph.c): versions, and the sizes
 * that are asked for.
 *
 * How much workspace is needed is a secret of cuDNN's, by device, release and
 * shape: here it is none, and what asked for it is counted, so that the
 * recording can say so.
 */
#include <stdint.h>
#include <string.h>

#include "simcuda/process.h"
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
