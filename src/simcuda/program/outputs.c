/* SPDX-License-Identifier: MIT */
/*
 * What calls of CUDA's libraries write through their parameters, from
 * cusolverDn.h, cusparse.h, cusparseLt.h, cufft.h and cupti_activity.h of the
 * CUDA Toolkit 12.9 and 13.0.
 */
#include "simcuda/program/outputs.h"

#include <fnmatch.h>
#include <string.h>

static const struct outputs table[] = {
	{ "cusolverDn?gesvd_bufferSize", 4, 1, 4 },
	{ "cusolverDn?sytrf_bufferSize", 5, 1, 4 },
	{ "cusolverDnXgeqrf_bufferSize", 11, 2, 8 },
	{ "cusolverDn?geqrf_bufferSize", 6, 1, 4 },
	{ "cusolverDn?getrf_bufferSize", 6, 1, 4 },
	{ "cusolverDnXpotrf_bufferSize", 9, 2, 8 },
	{ "cusolverDn?potrf_bufferSize", 6, 1, 4 },
	{ "cusolverDn*gqr_bufferSize", 8, 1, 4 },
	{ "cusolverDn*mqr_bufferSize", 12, 1, 4 },
	{ "cusolverDnXsyevd_bufferSize", 12, 2, 8 },
	{ "cusolverDnXsyevBatched_bufferSize", 12, 2, 8 },
	{ "cusolverDn??yev*_bufferSize", 8, 1, 4 },
	{ "cusolverDn?heev*_bufferSize", 8, 1, 4 },
	{ "cusolverDn?gesvdj_bufferSize", 13, 1, 4 },
	{ "cusolverDn?gesvdjBatched_bufferSize", 12, 1, 4 },
	{ "cusolverDn?gesvdaStridedBatched_bufferSize", 17, 1, 4 },
	{ "cusolverDnXgeev_bufferSize", 18, 2, 8 },
	{ "cusolverDnXsytrs_bufferSize", 12, 2, 8 },
	{ "cusparseSpMM_bufferSize", 11, 1, 8 },
	{ "cusparseSDDMM_bufferSize", 11, 1, 8 },
	{ "cusparseSpSM_bufferSize", 11, 1, 8 },
	{ "cusparseSpMV_bufferSize", 10, 1, 8 },
	{ "cusparseSpSV_bufferSize", 10, 1, 8 },
	{ "cusparse?bsrsm2_bufferSize", 14, 1, 4 },
	{ "cusparse?bsrsv2_bufferSize", 12, 1, 4 },
	{ "cusparse?csrgeam2_bufferSizeExt", 20, 1, 8 },
	{ "cusparseXcoosort_bufferSizeExt", 7, 1, 8 },
	{ "cusparseXcsrsort_bufferSizeExt", 7, 1, 8 },
	{ "cusparseSpGEMM_workEstimation", 11, 1, 8 },
	{ "cusparseSpGEMM_compute", 11, 1, 8 },
	{ "cusparseLtMatmulGetWorkspace", 3, 1, 8 },
	{ "cusparseLtSpMMACompressedSize2", 3, 2, 8 },
	{ "cufftMakePlanMany64", 12, 1, 8 },
	{ "cufftXtMakePlanMany", 13, 1, 8 },
	{ "cuptiActivityGetNumDroppedRecords", 3, 1, 8 },
	{ "cudaGraphConditionalHandleCreate", 1, 1, 8 },
};

const struct outputs *outputs_of(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!fnmatch(table[i].pattern, name, 0))
			return &table[i];
	return NULL;
}

/* Families whose calls compute, describe what is to be computed, or watch. */
static const char *const families[] = {
	"cublas*",
	"cudnn*",
	"cufft*",
	"curand*",
	"cusolver*",
	"cusparse*",
	"nccl*",
	"nvrtc*",
	"nvtx*",
	"cupti*",
	"nvshmem*",
	"cuModule*",
	"cuLibrary*",
	"cuLink*",
	"cuFuncSet*",
	"cuCtxSetLimit",
	"cuTensorMapEncode*",
	"cuLogsRegisterCallback",
	"cudaFuncSet*",
	"cudaKernelSet*",
	"cudaLibrary*",
	"cudaProfilerSt*",
	"cudaMemcpyToSymbol",
	"cudaDeviceSetLimit",
	"cudaGraphDebugDotPrint",
};

static bool is_of_a_family(const char *name)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(*families); i++)
		if (!fnmatch(families[i], name, 0))
			return true;
	return false;
}

/* One that is asked something: its answer is missing. */
static bool asks(const char *name)
{
	static const char *const words[] = { "*Get*", "*Query*", "*Size*",
					     "*size*", "*Estimat*" };
	static const char *const answered[] = { "*String", "*GetLastError",
						"*ModuleGetFunction",
						"*GetUniqueId", "*GetKernel" };
	/* LU factorisations are no questions. */
	static const char *const others[] = { "*getrf*", "*getrs*", "*getri*" };

	for (size_t i = 0; i < sizeof(answered) / sizeof(*answered); i++)
		if (!fnmatch(answered[i], name, 0))
			return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!fnmatch(others[i], name, 0) && !strstr(name, "Size"))
			return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!fnmatch(words[i], name, 0))
			return true;
	return false;
}

bool outputs_does_nothing(const char *name)
{
	return is_of_a_family(name) && !asks(name);
}
