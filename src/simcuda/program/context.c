/* SPDX-License-Identifier: MIT */
/*
 * Contexts of the driver, which are devices here, and what it says of addresses
 * and streams to those that came without the runtime.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "simcuda/memory.h"
#include "simcuda/process.h"
#include "simcuda/program/cubin.h"

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
				    int *active);
CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
				    int *active)
{
	(void)device;
	*flags = 0;
	*active = 1;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	*context = (CUcontext)(uintptr_t)(device + 1);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = process_current_device();
	return CUDA_SUCCESS;
}

/* CUlimit 1: bytes for what kernels print, of which the first MiB is there
 * unless more is asked for. */
CUresult cuCtxGetLimit(size_t *value, int limit);
CUresult cuCtxGetLimit(size_t *value, int limit)
{
	*value = limit == 1 ? 1 << 20 : 0;
	return CUDA_SUCCESS;
}

CUresult cuStreamIsCapturing(cudaStream_t stream,
			     enum cudaStreamCaptureStatus *status);
CUresult cuStreamIsCapturing(cudaStream_t stream,
			     enum cudaStreamCaptureStatus *status)
{
	return (CUresult)cudaStreamIsCapturing(stream, status);
}

/* CUpointer_attribute */
enum pointer_attribute {
	CONTEXT = 1,
	MEMORY_TYPE = 2,
	DEVICE_POINTER = 3,
	HOST_POINTER = 4,
	DEVICE = 9,
};

static CUresult attribute_of(void *value, enum pointer_attribute attribute,
			     const struct cudaPointerAttributes *a)
{
	uint64_t context = (uint64_t)a->device + 1;

	switch (attribute) {
	case CONTEXT: memcpy(value, &context, 8); break;
	case MEMORY_TYPE: memcpy(value, &a->type, 4); break;
	case DEVICE_POINTER: memcpy(value, &a->devicePointer, 8); break;
	case HOST_POINTER: memcpy(value, &a->hostPointer, 8); break;
	case DEVICE: memcpy(value, &a->device, 4); break;
	default: return CUDA_ERROR_NOT_SUPPORTED;
	}
	return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer);
CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer)
{
	struct cudaPointerAttributes a;

	cudaPointerGetAttributes(&a, (const void *)(uintptr_t)pointer);
	if (a.type == cudaMemoryTypeUnregistered)
		return CUDA_ERROR_INVALID_VALUE;
	return attribute_of(value, (enum pointer_attribute)attribute, &a);
}

/* ---- modules ---- */

/*
 * Kernels that a program brings along or compiles while it runs, as Triton
 * does: modules of the driver, and what is asked about their kernels.
 */

struct module {
	struct kernel *kernels;
};

/* Kernels that were handed out, by their address: other handles come too. */
static struct gp_map handed_out;

CUresult cuModuleLoadData(struct module **module, const void *image);
CUresult cuModuleLoadData(struct module **module, const void *image)
{
	*module = gp_mem_alloc(1, sizeof(**module));
	cubin_read(image, &(*module)->kernels);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(struct module **module, const void *image,
			    unsigned count, void *options, void **values);
CUresult cuModuleLoadDataEx(struct module **module, const void *image,
			    unsigned count, void *options, void **values)
{
	(void)count;
	(void)options;
	(void)values;
	return cuModuleLoadData(module, image);
}

/* NULL: it cannot be read.  A NUL follows, as images may be text. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rbe");
	size_t used = 0, room = 0, n = 1;
	char *bytes = NULL;

	while (file && n) {
		bytes = gp_mem_grow(bytes, &room, used + BUFSIZ + 1, 1);
		n = fread(bytes + used, 1, BUFSIZ, file);
		used += n;
	}
	if (file)
		fclose(file);
	if (bytes)
		bytes[used] = 0;
	return bytes;
}

CUresult cuModuleLoad(struct module **module, const char *path);
CUresult cuModuleLoad(struct module **module, const char *path)
{
	char *image = read_file(path);

	if (!image)
		return CUDA_ERROR_FILE_NOT_FOUND;
	cuModuleLoadData(module, image);
	free(image);
	return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(struct kernel **kernel, struct module *module,
			     const char *name);
CUresult cuModuleGetFunction(struct kernel **kernel, struct module *module,
			     const char *name)
{
	process_lock();
	*kernel = cubin_kernel(&module->kernels, name);
	gp_map_put(&handed_out, (uintptr_t)*kernel, 1);
	process_unlock();
	return CUDA_SUCCESS;
}

const struct kernel *kernel_of(const void *handle)
{
	return gp_map_get(&handed_out, (uintptr_t)handle) != GP_MAP_NONE
		       ? handle
		       : NULL;
}

CUresult cuModuleUnload(struct module *module);
CUresult cuModuleUnload(struct module *module)
{
	process_lock();
	for (struct kernel *k = module->kernels; k; k = k->next)
		gp_map_take(&handed_out, (uintptr_t)k);
	cubin_forget(&module->kernels);
	process_unlock();
	free(module);
	return CUDA_SUCCESS;
}

/* CUfunction_attribute; the others are 0. */
enum function_attribute {
	THREADS_PER_BLOCK = 0,
	LOCAL_BYTES = 3,
	REGISTERS = 4,
};

CUresult cuFuncGetAttribute(int *value, int attribute,
			    const struct kernel *kernel);
CUresult cuFuncGetAttribute(int *value, int attribute,
			    const struct kernel *kernel)
{
	bool is_known;

	process_lock();
	is_known = kernel_of(kernel) != NULL;
	*value = 0;
	if (attribute == THREADS_PER_BLOCK)
		*value = 1024;
	else if (attribute == LOCAL_BYTES && is_known)
		*value = kernel->local_bytes;
	else if (attribute == REGISTERS)
		*value = is_known ? kernel->registers : KERNEL_REGISTERS;
	process_unlock();
	return CUDA_SUCCESS;
}
