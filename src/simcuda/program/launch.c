/* SPDX-License-Identifier: MIT */
/*
 * Kernels are registered, loaded, queried and launched, but nothing runs. A
 * launch counts as work, which completes events (stream.h). Also the driver's
 * contexts, which stand for devices here, and the driver's queries of addresses
 * and streams, for programs that do not use the runtime.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "simcuda/device.h"
#include "simcuda/memory.h"
#include "simcuda/program/cubin.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/stream.h"

/* Programs call these through CUDA's own declarations; few arguments matter. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- modules ---- */

/*
 * Kernels that a program loads or compiles at run time, as Triton does: modules
 * of the driver, and queries about their kernels.
 */

struct module {
	struct kernel *kernels;
};

/* The kernels given out here, by address: other kinds of handles are passed
 * too. */
static struct gp_map handed_out;

CUresult cuModuleLoadData(struct module **module, const void *image)
{
	*module = gp_mem_alloc(1, sizeof(**module));
	cubin_read(image, &(*module)->kernels);
	return CUDA_SUCCESS;
}

CUresult cuModuleLoadDataEx(struct module **module, const void *image,
			    unsigned count, void *options, void **values)
{
	return cuModuleLoadData(module, image);
}

/* NULL: it cannot be read. Terminated with NUL, as images may be text. */
static char *read_file(const char *path)
{
	FILE *file = fopen(path, "rbe");
	size_t used = 0, room = 0, n = 1;
	char *bytes = NULL;

	while (file && n) {
		GP_GROW(bytes, used + BUFSIZ + 1, room);
		n = fread(bytes + used, 1, BUFSIZ, file);
		used += n;
	}
	if (file)
		fclose(file);
	if (bytes)
		bytes[used] = 0;
	return bytes;
}

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
			     const char *name)
{
	process_lock();
	*kernel = cubin_kernel(&module->kernels, name);
	gp_map_put(&handed_out, (uintptr_t)*kernel, 1);
	process_unlock();
	return CUDA_SUCCESS;
}

static const struct kernel *kernel_of(const void *handle)
{
	return gp_map_get(&handed_out, (uintptr_t)handle) != GP_MAP_NONE
		       ? handle
		       : NULL;
}

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

/* ---- launches ---- */

struct dim3 {
	unsigned x, y, z;
};

/* Layout in cuda_runtime_api.h of CUDA 12 and 13. */
struct cudaFuncAttributes {
	size_t shared_bytes, const_bytes, local_bytes;
	int threads_per_block, registers, ptx_version, binary_version;
	int rest[24];
};

static void work(const void *stream)
{
	process_lock();
	stream_work((uintptr_t)stream);
	process_unlock();
}

/* The code that calls a function of CUDA's. */
#define CALLER __builtin_return_address(0)

/* Whether code is neither PyTorch's nor that of packages whose operators are
 * computed here (COMPUTED_SPACES in evaluate.py). Called under the lock. */
static bool is_foreign(const void *code)
{
	static struct gp_map by_page;
	uint64_t page = (uintptr_t)code / 4096;
	uint32_t found = gp_map_get(&by_page, page);
	Dl_info library;

	if (found != GP_MAP_NONE)
		return found;
	found = !dladdr(code, &library) ||
		(!strstr(library.dli_fname, "/torch/lib/") &&
		 !strstr(library.dli_fname, "/torchvision/"));
	gp_map_put(&by_page, page, found);
	return found;
}

/*
 * A kernel of PyTorch or of a library. Its simulated time grows with its number
 * of threads. Autotuners time kernels and clear the device's cache in between,
 * with a launch over a buffer of its size; they repeat a kernel as often as
 * fits in a tenth of a second, on a GPU hundreds of times.
 */
static cudaError_t launch(const void *caller, const void *stream,
			  const unsigned grid[3], const unsigned block[3])
{
	struct process_reach reach = { .is_anywhere = true, .is_linked = true };
	uint64_t threads = 1;

	for (int i = 0; i < 3; i++)
		threads *= (uint64_t)grid[i] * block[i];
	process_lock();
	stream_launch((uintptr_t)stream, threads);
	reach.is_foreign = is_foreign(caller);
	process_unlock();
	process_notify_work(reach.is_foreign ? &reach : NULL);
	return cudaSuccess;
}

/* A kernel that the program loaded may write wherever its arguments point. */
static void find_reach(const void *function, void **arguments,
		       struct process_reach *reach)
{
	const struct kernel *kernel = kernel_of(function);
	uint64_t value;

	reach->is_anywhere = !kernel || !kernel->parameters ||
			     kernel->has_odd_parameters || !arguments;
	if (reach->is_anywhere)
		return;
	for (int i = 0; i < kernel->parameters; i++) {
		if (!(kernel->wide >> i & 1))
			continue;
		memcpy(&value, arguments[i], sizeof(value));
		if (memory_is_device(value))
			reach->addresses[reach->count++] = value;
	}
}

static CUresult launch_kernel(const void *caller, const void *stream,
			      const void *function, void **arguments)
{
	struct process_reach reach = { .count = 0 };

	process_lock();
	stream_work((uintptr_t)stream);
	reach.is_foreign = is_foreign(caller);
	find_reach(function, arguments, &reach);
	process_unlock();
	process_notify_work(&reach);
	return CUDA_SUCCESS;
}

#define LAUNCHES(X)                                                            \
	X(cudaLaunchKernel)                                                    \
	X(cudaLaunchKernel_ptsz)                                               \
	X(cudaLaunchCooperativeKernel)                                         \
	X(__cudaLaunchKernel)                                                  \
	X(__cudaLaunchKernel_ptsz)

#define LAUNCH(name)                                                           \
	cudaError_t name(const void *function, struct dim3 grid,               \
			 struct dim3 block, void **arguments, size_t shared,   \
			 const void *stream)                                   \
	{                                                                      \
		return launch(                                                 \
			CALLER, stream,                                        \
			(const unsigned[]){ grid.x, grid.y, grid.z },          \
			(const unsigned[]){ block.x, block.y, block.z });      \
	}
LAUNCHES(LAUNCH)

/* The common beginning of cudaLaunchConfig_t and CUlaunchConfig. */
struct launch_config {
	unsigned grid[3], block[3];
	uint64_t shared; /* in CUlaunchConfig, 4 bytes and padding */
	const void *stream;
};

#define CONFIGURED_LAUNCHES(X)                                                 \
	X(cudaLaunchKernelExC)                                                 \
	X(cudaLaunchKernelExC_ptsz)

#define CONFIGURED_LAUNCH(name)                                                \
	cudaError_t name(const struct launch_config *config)                   \
	{                                                                      \
		return launch(CALLER, config->stream, config->grid,            \
			      config->block);                                  \
	}
CONFIGURED_LAUNCHES(CONFIGURED_LAUNCH)

CUresult cuLaunchKernelEx(const struct launch_config *config,
			  const void *function, void **arguments)
{
	return launch_kernel(CALLER, config->stream, function, arguments);
}

#define DRIVER_LAUNCHES(X)                                                     \
	X(cuLaunchKernel)                                                      \
	X(cuLaunchCooperativeKernel)

#define DRIVER_LAUNCH(name)                                                    \
	CUresult name(const void *function, unsigned grid_x, unsigned grid_y,  \
		      unsigned grid_z, unsigned block_x, unsigned block_y,     \
		      unsigned block_z, unsigned shared, const void *stream,   \
		      void **arguments)                                        \
	{                                                                      \
		return launch_kernel(CALLER, stream, function, arguments);     \
	}
DRIVER_LAUNCHES(DRIVER_LAUNCH)

/* ---- code that nvcc generates around launches ---- */

/* Kept for the call that follows, which is the same thread's. */
static _Thread_local struct {
	struct dim3 grid, block;
	size_t shared;
	void *stream;
} pushed;

unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block,
				     size_t shared, void *stream)
{
	pushed.grid = grid;
	pushed.block = block;
	pushed.shared = shared;
	pushed.stream = stream;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block,
				       size_t *shared, void **stream)
{
	*grid = pushed.grid;
	*block = pushed.block;
	*shared = pushed.shared;
	*stream = pushed.stream;
	return cudaSuccess;
}

static void *fat_binary;

void **__cudaRegisterFatBinary(const void *binary)
{
	interpreter_watch_imports();
	return &fat_binary;
}

#define NOTHING(name)                                                          \
	void name(void)                                                        \
	{                                                                      \
	}
NOTHING(__cudaRegisterFatBinaryEnd)
NOTHING(__cudaUnregisterFatBinary)
NOTHING(__cudaRegisterFunction)
NOTHING(__cudaRegisterVar)

char __cudaInitModule(void **binary)
{
	return 1;
}

cudaError_t __cudaGetKernel(const void **kernel, const void *function)
{
	*kernel = function;
	return cudaSuccess;
}

/* ---- queries about kernels ---- */

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
				  const void *function)
{
	const struct gp_gpu_properties *p;

	process_lock();
	p = properties_of(process_current_device());
	memset(attributes, 0, sizeof(*attributes));
	attributes->threads_per_block = 1024;
	attributes->registers = KERNEL_REGISTERS;
	attributes->ptx_version =
		p->compiled_for ? p->compiled_for : 10 * p->major + p->minor;
	attributes->binary_version = attributes->ptx_version;
	process_unlock();
	return cudaSuccess;
}

/*
 * How many blocks of a kernel a multiprocessor runs at once, given its threads
 * and the shared memory of its launch; the kernel's own requirements, such as
 * registers, are not known. CUB sizes the partial sums of a reduction by it: on
 * an H200 those of nonzero() are for 8 blocks of 256 threads, as computed here.
 */
static int blocks_per_sm(int threads, size_t shared)
{
	const struct gp_gpu_properties *p;
	int most, by_threads;

	process_lock();
	p = properties_of(process_current_device());
	most = properties_blocks(p);
	by_threads = properties_threads(p) / (threads > 0 ? threads : 1);
	if (by_threads < most)
		most = by_threads;
	if (shared && (size_t)p->shared_per_sm / shared < (size_t)most)
		most = (int)((size_t)p->shared_per_sm / shared);
	process_unlock();
	return most;
}

#define OCCUPANCIES(X)                                                         \
	X(cudaOccupancyMaxActiveBlocksPerMultiprocessor)                       \
	X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)              \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor)

#define OCCUPANCY(name)                                                        \
	cudaError_t name(int *blocks, const void *function, int threads,       \
			 size_t shared)                                        \
	{                                                                      \
		*blocks = blocks_per_sm(threads, shared);                      \
		return cudaSuccess;                                            \
	}
OCCUPANCIES(OCCUPANCY)

CUresult cuOccupancyMaxActiveClusters(int *clusters)
{
	*clusters = 2;
	return CUDA_SUCCESS;
}

/* A variable on the device: an address that is not otherwise used. */
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
	*pointer = (void *)(uintptr_t)GP_SIM_BASE;
	return cudaSuccess;
}

/* Host functions in a stream run at once, like all of its work. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
			       void *data)
{
	work(stream);
	function(data);
	return cudaSuccess;
}

/* Looked up by name, by vLLM, so that no library imports it. The process's
 * state stays as it is. */
cudaError_t cudaDeviceReset(void)
{
	return cudaSuccess;
}

typedef void (*stream_callback)(cudaStream_t stream, cudaError_t status,
				void *data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, stream_callback function,
				  void *data, unsigned flags)
{
	work(stream);
	function(stream, cudaSuccess, data);
	return cudaSuccess;
}

/* ---- contexts of the driver ---- */

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags,
				    int *active)
{
	*flags = 0;
	*active = 1;
	return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
	*context = (CUcontext)(uintptr_t)(device + 1);
	return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
	*device = process_current_device();
	return CUDA_SUCCESS;
}

/* CUlimit 1 is the printf buffer, by default 1 MiB. */
CUresult cuCtxGetLimit(size_t *value, int limit)
{
	*value = limit == 1 ? 1 << 20 : 0;
	return CUDA_SUCCESS;
}

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

CUresult cuPointerGetAttribute(void *value, int attribute, CUdeviceptr pointer)
{
	struct cudaPointerAttributes a;

	cudaPointerGetAttributes(&a, (const void *)(uintptr_t)pointer);
	if (a.type == cudaMemoryTypeUnregistered)
		return CUDA_ERROR_INVALID_VALUE;
	return attribute_of(value, (enum pointer_attribute)attribute, &a);
}
