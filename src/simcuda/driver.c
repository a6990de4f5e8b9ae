/* SPDX-License-Identifier: MIT */
/*
 * The driver's functions by name. A function that is not implemented gets its
 * own stand-in, which answers "not supported" and counts its calls;
 * simcuda_unknown reports it by name.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/process.h"

/* Programs call these through CUDA's own declarations; few arguments matter. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* Converts between dlsym's object pointers and function pointers. */
union address {
	void *object;
	void (*function)(void);
};

#define FUNCTION(name)                                                         \
	{                                                                      \
#name,                                                         \
		{                                                              \
			.function = (void (*)(void))name                       \
		}                                                              \
	}

/* Settings for kernels have no effect here. Where PyTorch's libraries import
 * such calls, generated stand-ins answer them; Triton looks these up by name.
 */
#define SETTINGS(X)                                                            \
	X(cuFuncSetAttribute)                                                  \
	X(cuFuncSetCacheConfig)                                                \
	X(cuCtxSetLimit)                                                       \
	X(cuTensorMapEncodeTiled)                                              \
	X(cuTensorMapEncodeIm2col)                                             \
	X(cuTensorMapEncodeIm2colWide)                                         \
	X(cuTensorMapReplaceAddress)

#define SETTING(name)                                                          \
	CUresult name(void)                                                    \
	{                                                                      \
		return CUDA_SUCCESS;                                           \
	}
SETTINGS(SETTING)

static CUresult refuse_runtime(void);

static const struct {
	const char *name;
	union address address;
} known[] = {
	FUNCTION(cuInit),
	FUNCTION(cuDriverGetVersion),
	FUNCTION(cuGetErrorString),
	FUNCTION(cuGetErrorName),
	FUNCTION(cuDeviceGet),
	FUNCTION(cuDeviceGetCount),
	FUNCTION(cuDeviceGetAttribute),
	FUNCTION(cuCtxGetCurrent),
	FUNCTION(cuCtxSetCurrent),
	FUNCTION(cuMemAddressReserve),
	FUNCTION(cuMemAddressFree),
	FUNCTION(cuMemCreate),
	FUNCTION(cuMemRelease),
	FUNCTION(cuMemMap),
	FUNCTION(cuMemUnmap),
	FUNCTION(cuMemSetAccess),
	FUNCTION(cuMemGetAllocationGranularity),
	FUNCTION(cuMemExportToShareableHandle),
	FUNCTION(cuMemImportFromShareableHandle),
	FUNCTION(cuMemGetAddressRange),
	FUNCTION(cuFuncSetAttribute),
	FUNCTION(cuFuncSetCacheConfig),
	FUNCTION(cuCtxSetLimit),
	FUNCTION(cuTensorMapEncodeTiled),
	FUNCTION(cuTensorMapEncodeIm2col),
	FUNCTION(cuTensorMapEncodeIm2colWide),
	FUNCTION(cuTensorMapReplaceAddress),
	{ "cuGetProcAddress", { .function = (void (*)(void))refuse_runtime } },
};

#define STAND_INS 64

/* The last one is shared by all functions beyond that number. */
#define OTHERS "other functions of the driver"
static struct {
	char *names[STAND_INS];
	uint64_t calls[STAND_INS];
	size_t count;
} unknown;

static CUresult refuse(size_t index)
{
	process_lock();
	unknown.calls[index]++;
	process_unlock();
	return CUDA_ERROR_NOT_SUPPORTED;
}

#define STAND_IN(n)                                                            \
	static CUresult stand_in_##n(void)                                     \
	{                                                                      \
		return refuse(0##n);                                           \
	}
#define EIGHT(X, n)                                                            \
	X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
/* The numbers are octal. */
#define ALL(X)                                                                 \
	EIGHT(X, 0)                                                            \
	EIGHT(X, 1)                                                            \
	EIGHT(X, 2)                                                            \
	EIGHT(X, 3)                                                            \
	EIGHT(X, 4)                                                            \
	EIGHT(X, 5)                                                            \
	EIGHT(X, 6)                                                            \
	EIGHT(X, 7)
ALL(STAND_IN)

#define ENTRY(n) stand_in_##n,
static CUresult (*const stand_ins[STAND_INS])(void) = { ALL(ENTRY) };

void unknown_forget(void)
{
	for (size_t i = 0; i < unknown.count; i++)
		free(unknown.names[i]);
	memset(&unknown, 0, sizeof(unknown));
}

/* Its stand-in, which is the last one if there are too many. */
static size_t number_of(const char *name)
{
	size_t i = 0;

	while (i < unknown.count && i < STAND_INS - 1 &&
	       strcmp(unknown.names[i], name) != 0)
		i++;
	if (i == STAND_INS - 1)
		name = OTHERS;
	if (i == unknown.count)
		unknown.names[unknown.count++] =
			gp_mem_copy_text(name, strlen(name));
	return i;
}

/* The first function that a CUDA runtime asks for if it is linked into a
 * library, where it cannot be replaced. Such a runtime needs tables that only a
 * real driver has. */
static CUresult refuse_runtime(void)
{
	char name[300] = "the CUDA runtime";
	Dl_info about;
	const char *slash;
	size_t number;

	if (dladdr(__builtin_return_address(0), &about) && about.dli_fname) {
		slash = strrchr(about.dli_fname, '/');
		snprintf(name, sizeof(name), "the CUDA runtime within %s",
			 slash ? slash + 1 : about.dli_fname);
	}
	process_lock();
	number = number_of(name);
	process_unlock();
	return refuse(number);
}

static union address find(const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strcmp(known[i].name, name))
			return known[i].address;
	return (union address){ .function = (void (*)(
					void))stand_ins[number_of(name)] };
}

const char *simcuda_unknown(size_t index, uint64_t *calls)
{
	const char *name = NULL;

	process_lock();
	if (index < unknown.count) {
		name = unknown.names[index];
		*calls = unknown.calls[index];
	}
	process_unlock();
	return name;
}

static cudaError_t look_up(enum simcuda_call call, const char *name,
			   void **function,
			   enum cudaDriverEntryPointQueryResult *result)
{
	process_begin(call);
	*function = find(name).object;
	if (result)
		*result = cudaDriverEntryPointSuccess;
	return process_end(cudaSuccess);
}

cudaError_t cudaGetDriverEntryPoint(
	const char *name, void **function, unsigned long long flags,
	enum cudaDriverEntryPointQueryResult *result)
{
	return look_up(CALL_cudaGetDriverEntryPoint, name, function, result);
}

/* The driver's own version of the same. */
CUresult cuGetProcAddress(const char *name, void **function, int version,
			  uint64_t flags)
{
	process_lock();
	*function = find(name).object;
	process_unlock();
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
			     uint64_t flags, int *result)
{
	if (result)
		*result = cudaDriverEntryPointSuccess;
	return cuGetProcAddress(name, function, version, flags);
}

/* Undocumented tables: none is provided. */
CUresult cuGetExportTable(const void **table, const void *id)
{
	*table = NULL;
	return CUDA_ERROR_NOT_FOUND;
}

cudaError_t cudaGetDriverEntryPointByVersion(
	const char *name, void **function, unsigned version,
	unsigned long long flags, enum cudaDriverEntryPointQueryResult *result)
{
	return look_up(CALL_cudaGetDriverEntryPointByVersion, name, function,
		       result);
}

/* ---- refused ---- */

/*
 * Calls that PyTorch's libraries link to and that have no meaning without a
 * device: each answers "not supported". Their parameters do not matter, so only
 * names are listed.
 */

/* Older PyTorch builds look these up in libcuda.so.1 one by one and require all
 * of them. */
#define REFUSED_DRIVER(X)                                                      \
	X(cuMemsetD32Async)                                                    \
	X(cuMulticastAddDevice)                                                \
	X(cuMulticastBindMem)                                                  \
	X(cuMulticastCreate)                                                   \
	X(cuMulticastUnbind)                                                   \
	X(cuStreamWriteValue32)

#define REFUSE_DRIVER(name)                                                    \
	CUresult name(void)                                                    \
	{                                                                      \
		return CUDA_ERROR_NOT_SUPPORTED;                               \
	}
REFUSED_DRIVER(REFUSE_DRIVER)
