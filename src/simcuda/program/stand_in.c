/* SPDX-License-Identifier: MIT */
#include "simcuda/program/stand_in.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/api/nvml.h"
#include "simcuda/process.h"

/*
 * ---- numbers that calls write through their parameters ----
 *
 * From cublas_api.h, cusolverDn.h, cusparse.h, cusparseLt.h, cufft.h and
 * cupti_activity.h of CUDA Toolkit 12.9 and 13.0.
 */

/* Consecutive parameters that point to numbers, which are set to 0. */
struct outputs {
	const char *pattern; /* of names, for fnmatch */
	unsigned char first; /* parameter, from 1; never the second */
	unsigned char count, bytes;
};

/* Success, no dropped records, a handle: numbers that are not workspace sizes.
 */
static const struct outputs states[] = {
	{ "cublas?geqrfBatched", 7, 1, 4 },
	{ "cublas?gelsBatched", 10, 1, 4 },
	{ "cudaGraphConditionalHandleCreate", 1, 1, 8 },
	{ "cuptiActivityGetNumDroppedRecords", 3, 1, 8 },
};

static const struct outputs sizes[] = {
	{ "cusolverDn?gesvd_bufferSize", 4, 1, 4 },
	{ "cusolverDn?sytrf_bufferSize", 5, 1, 4 },
	{ "cusolverDn?geqrf_bufferSize", 6, 1, 4 },
	{ "cusolverDn?getrf_bufferSize", 6, 1, 4 },
	{ "cusolverDn?potrf_bufferSize", 6, 1, 4 },
	{ "cusolverDn*gqr_bufferSize", 8, 1, 4 },
	{ "cusolverDn*mqr_bufferSize", 12, 1, 4 },
	{ "cusolverDn??yev*_bufferSize", 8, 1, 4 },
	{ "cusolverDn?heev*_bufferSize", 8, 1, 4 },
	{ "cusolverDn?gesvdj_bufferSize", 13, 1, 4 },
	{ "cusolverDn?gesvdjBatched_bufferSize", 12, 1, 4 },
	{ "cusolverDn?gesvdaStridedBatched_bufferSize", 17, 1, 4 },
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
};

/* NULL: not known. */
static const struct outputs *outputs_of(const char *name,
					const struct outputs *table,
					size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!fnmatch(table[i].pattern, name, 0))
			return &table[i];
	return NULL;
}

/* Families of calls that compute, describe a computation, or monitor. */
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

/* Calls that return information: their answer is missing. */
static bool asks(const char *name)
{
	static const char *const words[] = { "*Get*", "*Query*", "*Size*",
					     "*size*", "*Estimat*" };
	static const char *const answered[] = { "*String", "*GetLastError",
						"*ModuleGetFunction",
						"*GetUniqueId", "*GetKernel" };
	/* LU factorisations and their solvers compute; they ask nothing. */
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

bool stand_in_does_nothing(const char *name)
{
	return is_of_a_family(name) && !asks(name);
}

/* ---- calls without an implementation: success, and new handles ---- */

/* The size of what a handle points to; callers do not read it. */
#define HANDLE_BYTES	256
/* The most parameters of a call whose outputs are known. */
#define MOST_PARAMETERS 20

struct called {
	const char *name;
	const struct outputs *outputs;
	uint64_t calls;
	enum stand_in_kind kind;
	bool makes_handle, gives_text, is_named, computes;
};

static struct {
	struct called *items;
	size_t count, room;
	struct gp_map by_name; /* the name's pointer -> index */
} all;

static bool has(const char *name, const char *part)
{
	return strstr(name, part) != NULL;
}

/* CUDA's libraries return a new handle through the first argument. */
static bool makes_handle(const char *name)
{
	return has(name, "Create") || has(name, "_init") ||
	       (strlen(name) > 4 && !strcmp(name + strlen(name) - 4, "Init")) ||
	       has(name, "ModuleLoad") || has(name, "ModuleGetFunction") ||
	       has(name, "LibraryLoad") || has(name, "LibraryGetKernel");
}

static bool gives_text(const char *name)
{
	return has(name, "ErrorString") || has(name, "StatusString") ||
	       has(name, "StatusName") || has(name, "GetLastError");
}

/* Calls of CUDA's libraries that launch kernels. */
static bool computes(const char *name)
{
	static const char *const makers[] = {
		"cublas",     "cudnn",	    "cufft",	"curand",
		"cusolver",   "cusparse",   "cudaMemc", "cudaMemset",
		"cudaLaunch", "cudaGraphL", "cuMemc",	"cuMemset",
		"cuLaunch",   "cuGraphL",
	};
	static const char *const others[] = { "Create", "Destroy", "Set",
					      "Get",	"Query",   "Init",
					      "Size",	"Finalize" };
	bool is_of_a_family = false;

	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		is_of_a_family |= !strncmp(name, makers[i], strlen(makers[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (has(name, others[i]))
			return false;
	return is_of_a_family;
}

static struct called *find(const char *name)
{
	uint32_t index = gp_map_get(&all.by_name, (uintptr_t)name);
	const struct outputs *size, *outputs;

	if (index != GP_MAP_NONE)
		return &all.items[index];
	size = outputs_of(name, sizes, sizeof(sizes) / sizeof(*sizes));
	outputs = size ? size
		       : outputs_of(name, states,
				    sizeof(states) / sizeof(*states));
	index = (uint32_t)all.count++;
	GP_GROW(all.items, all.count, all.room);
	all.items[index] = (struct called){
		.name = name,
		.outputs = outputs,
		.kind = size ? STAND_IN_SIZE : STAND_IN_ANSWER,
		.makes_handle = !outputs && makes_handle(name),
		.gives_text = gives_text(name),
		.computes = computes(name),
		.is_named = size || !stand_in_does_nothing(name),
	};
	gp_map_put(&all.by_name, (uintptr_t)name, index);
	return &all.items[index];
}

static struct called count(const char *name)
{
	struct called *called, copy;

	process_lock();
	called = find(name);
	called->calls++;
	copy = *called;
	process_unlock();
	return copy;
}

static void write_zeros(const struct outputs *outputs,
			void *const parameters[MOST_PARAMETERS])
{
	for (size_t i = 0; i < outputs->count; i++)
		if (parameters[outputs->first - 1 + i])
			memset(parameters[outputs->first - 1 + i], 0,
			       outputs->bytes);
}

uint64_t simcuda_stand_in(void **first, const char *name, void *third,
			  void *fourth, void *fifth, void *sixth, ...)
{
	static const char text[] = "no device";
	struct called called = count(name);
	void *parameters[MOST_PARAMETERS] = { first,  NULL,  third,
					      fourth, fifth, sixth };
	va_list others;

	if (called.outputs) {
		va_start(others, sixth);
		for (size_t i = 6; i < (size_t)called.outputs->first +
					       called.outputs->count - 1;
		     i++)
			parameters[i] = va_arg(others, void *);
		va_end(others);
		write_zeros(called.outputs, parameters);
	}
	if (called.computes)
		process_notify_work(NULL);
	/* The copy is not made: its destination does not have what it would
	 * have on a GPU. */
	if (has(name, "Memcpy"))
		process_notify_guess();
	if (called.gives_text)
		return (uintptr_t)text;
	/* Callers of NVML would take success for an answer. */
	if (!strncmp(name, "nvml", 4))
		return NVML_ERROR_NOT_SUPPORTED;
	if (called.makes_handle && first)
		*first = gp_mem_alloc(1, HANDLE_BYTES);
	return 0;
}

static void (*notify_size)(void); /* NULL: nobody listens */

void stand_in_watch(void (*notify)(void))
{
	notify_size = notify;
}

static void note_call(const char *name, enum stand_in_kind kind)
{
	struct called *called;
	bool is_new;

	process_lock();
	called = find(name);
	is_new = !called->calls++;
	/* A size reported as 0 takes precedence over one that was measured. */
	if (is_new || kind == STAND_IN_SIZE)
		called->kind = kind;
	called->is_named = true;
	process_unlock();
	if (is_new && notify_size)
		notify_size();
}

void stand_in_size(const char *name)
{
	note_call(name, STAND_IN_SIZE);
}

void stand_in_measured(const char *name)
{
	note_call(name, STAND_IN_MEASURED);
}

const char *stand_in_called(uint32_t index, enum stand_in_kind *kind,
			    uint64_t *calls)
{
	const char *name = NULL;

	process_lock();
	for (size_t i = 0; i < all.count && !name; i++) {
		if (!all.items[i].is_named || index--)
			continue;
		name = all.items[i].name;
		*kind = all.items[i].kind;
		*calls = all.items[i].calls;
	}
	process_unlock();
	return name;
}
