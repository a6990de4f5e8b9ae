/*
 * The few calls of CUDA's libraries whose answers programs go by; all others
 * answer success (stand_in.h).
 */
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/process.h"
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

/* ---- NVRTC ---- */

int nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor)
{
	*major = SIMCUDA_MAJOR;
	*minor = 0;
	return 0;
}
