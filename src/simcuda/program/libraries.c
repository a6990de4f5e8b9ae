/* SPDX-License-Identifier: MIT */
/*
 * The few calls of CUDA's libraries whose answers programs go by; all others
 * answer success (stand_in.h).
 */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/process.h"
#include "simcuda/program/owners.h"
#include "simcuda/stream.h"

/* ---- cuBLAS ---- */

int cublasGetVersion_v2(void *handle, int *version);
int cublasGetVersion_v2(void *handle, int *version)
{
	(void)handle;
	*version = SIMCUDA_MAJOR * 10000;
	return 0;
}

size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void)
{
	return SIMCUDA_MAJOR * 10000;
}

/* One algorithm, with no workspace.  cublasLtMatmulHeuristicResult_t is 96
 * bytes: the algorithm (64), its workspace (8), its status, and so on. */
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a,
				   void *b, void *c, void *d, void *preference,
				   int requested, void *results, int *returned);
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *operation, void *a,
				   void *b, void *c, void *d, void *preference,
				   int requested, void *results, int *returned)
{
	(void)handle;
	(void)operation;
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)preference;
	if (requested > 0)
		memset(results, 0, 80);
	*returned = requested > 0;
	return 0;
}

int cublasSetWorkspace_v2(void *handle, uint64_t workspace, size_t size);
int cublasSetWorkspace_v2(void *handle, uint64_t workspace, size_t size)
{
	(void)handle;
	(void)size;
	owners_workspace(OWNERS_CUBLAS, workspace);
	return 0;
}

/* As PyTorch calls it: nine arguments more than anybody asks for here. */
int cublasLtMatmul(void *handle, void *operation, void *alpha, void *a,
		   void *a_like, void *b, void *b_like, void *beta, void *c,
		   void *c_like, void *d, void *d_like, void *algorithm,
		   uint64_t workspace);
int cublasLtMatmul(void *handle, void *operation, void *alpha, void *a,
		   void *a_like, void *b, void *b_like, void *beta, void *c,
		   void *c_like, void *d, void *d_like, void *algorithm,
		   uint64_t workspace)
{
	(void)handle, (void)operation, (void)alpha, (void)a, (void)a_like;
	(void)b, (void)b_like, (void)beta, (void)c, (void)c_like, (void)d;
	(void)d_like, (void)algorithm;
	owners_workspace(OWNERS_CUBLAS, workspace);
	process_notify_work(NULL);
	return 0;
}

/* ---- what is set for a handle stays what it is unless it is set ---- */

int cublasGetMathMode(void *handle, int *mode);
int cublasGetMathMode(void *handle, int *mode)
{
	(void)handle;
	*mode = 0; /* CUBLAS_DEFAULT_MATH */
	return 0;
}

int cublasGetPointerMode_v2(void *handle, int *mode);
int cublasGetPointerMode_v2(void *handle, int *mode)
{
	(void)handle;
	*mode = 0; /* CUBLAS_POINTER_MODE_HOST */
	return 0;
}

int cudnnGetStream(void *handle, void **stream);
int cudnnGetStream(void *handle, void **stream)
{
	(void)handle;
	*stream = NULL;
	return 0;
}

int cuptiGetVersion(uint32_t *version);
int cuptiGetVersion(uint32_t *version)
{
	*version = SIMCUDA_MAJOR * 10000;
	return 0;
}

/* ---- cuSPARSE ---- */

/* Sums have no elements: how many there are is computed on the device. */
int cusparseSpMatGetSize(void *matrix, int64_t *rows, int64_t *columns,
			 int64_t *elements);
int cusparseSpMatGetSize(void *matrix, int64_t *rows, int64_t *columns,
			 int64_t *elements)
{
	(void)matrix;
	*rows = *columns = *elements = 0;
	return 0;
}

/* ---- NVRTC: programs are compiled to nothing ---- */

int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor)
{
	*major = SIMCUDA_MAJOR;
	*minor = 0;
	return 0;
}

#define SIZES(X)                                                               \
	X(nvrtcGetPTXSize)                                                     \
	X(nvrtcGetCUBINSize)                                                   \
	X(nvrtcGetProgramLogSize)

#define SIZE(name)                                                             \
	int name(void *program, size_t *size);                                 \
	int name(void *program, size_t *size)                                  \
	{                                                                      \
		(void)program;                                                 \
		*size = 1;                                                     \
		return 0;                                                      \
	}
SIZES(SIZE)

#define TEXTS(X)                                                               \
	X(nvrtcGetPTX)                                                         \
	X(nvrtcGetCUBIN)                                                       \
	X(nvrtcGetProgramLog)

#define TEXT(name)                                                             \
	int name(void *program, char *text);                                   \
	int name(void *program, char *text)                                    \
	{                                                                      \
		(void)program;                                                 \
		*text = 0;                                                     \
		return 0;                                                      \
	}
TEXTS(TEXT)

/* The name that was asked for has as long a life as the program. */
int nvrtcGetLoweredName(void *program, const char *expression,
			const char **name);
int nvrtcGetLoweredName(void *program, const char *expression,
			const char **name)
{
	(void)program;
	*name = expression;
	return 0;
}
