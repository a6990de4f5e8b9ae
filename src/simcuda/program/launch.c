/*
 * Kernels: they are registered, asked about and launched, and nothing runs.
 * A launch is work, by which events complete (stream.h).
 */
#include <string.h>

#include "simcuda/properties.h"
#include "simcuda/stream.h"

struct dim3 {
	unsigned x, y, z;
};

/* As cuda_runtime_api.h lays it out, in 12 and 13. */
struct cudaFuncAttributes {
	size_t shared_bytes, const_bytes, local_bytes;
	int threads_per_block, registers, ptx_version, binary_version;
	int rest[24];
};

static cudaError_t launch(void)
{
	process_lock();
	streams_work();
	process_unlock();
	return cudaSuccess;
}

#define LAUNCHES(X)                                                            \
	X(cudaLaunchKernel)                                                    \
	X(cudaLaunchKernelExC)                                                 \
	X(cudaLaunchCooperativeKernel)                                         \
	X(__cudaLaunchKernel)                                                  \
	X(__cudaLaunchKernel_ptsz)                                             \
	X(cuLaunchKernel)                                                      \
	X(cuLaunchKernelEx)                                                    \
	X(cuLaunchCooperativeKernel)

#define LAUNCH(name)                                                           \
	cudaError_t name(void);                                                \
	cudaError_t name(void)                                                 \
	{                                                                      \
		return launch();                                               \
	}
LAUNCHES(LAUNCH)

/* ---- what the compiler generates around launches ---- */

unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block,
				     size_t shared, void *stream);
unsigned __cudaPushCallConfiguration(struct dim3 grid, struct dim3 block,
				     size_t shared, void *stream)
{
	(void)grid;
	(void)block;
	(void)shared;
	(void)stream;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block,
				       size_t *shared, void **stream);
cudaError_t __cudaPopCallConfiguration(struct dim3 *grid, struct dim3 *block,
				       size_t *shared, void **stream)
{
	*grid = *block = (struct dim3){ 1, 1, 1 };
	*shared = 0;
	*stream = NULL;
	return cudaSuccess;
}

static void *fat_binary;

void **__cudaRegisterFatBinary(const void *binary);
void **__cudaRegisterFatBinary(const void *binary)
{
	(void)binary;
	return &fat_binary;
}

#define NOTHING(name)                                                          \
	void name(void);                                                       \
	void name(void)                                                        \
	{                                                                      \
	}
NOTHING(__cudaRegisterFatBinaryEnd)
NOTHING(__cudaUnregisterFatBinary)
NOTHING(__cudaRegisterFunction)
NOTHING(__cudaRegisterVar)

char __cudaInitModule(void **binary);
char __cudaInitModule(void **binary)
{
	(void)binary;
	return 1;
}

cudaError_t __cudaGetKernel(const void **kernel, const void *function);
cudaError_t __cudaGetKernel(const void **kernel, const void *function)
{
	*kernel = function;
	return cudaSuccess;
}

/* ---- what is asked about kernels ---- */

/* Kernels use few registers and no memory of their own. */
#define REGISTERS 32

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
				  const void *function);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes,
				  const void *function)
{
	const struct simcuda_properties *p;

	(void)function;
	process_lock();
	p = properties_of(process_current_device());
	memset(attributes, 0, sizeof(*attributes));
	attributes->threads_per_block = 1024;
	attributes->registers = REGISTERS;
	attributes->ptx_version =
		p->compiled_for ? p->compiled_for : 10 * p->major + p->minor;
	attributes->binary_version = attributes->ptx_version;
	process_unlock();
	return cudaSuccess;
}

/* CUfunction_attribute: 0 is the most threads, 4 the registers. */
CUresult cuFuncGetAttribute(int *value, int attribute, void *function);
CUresult cuFuncGetAttribute(int *value, int attribute, void *function)
{
	(void)function;
	*value = attribute == 0 ? 1024 : attribute == 4 ? REGISTERS : 0;
	return CUDA_SUCCESS;
}

#define BLOCKS_PER_SM 2

#define OCCUPANCIES(X)                                                         \
	X(cudaOccupancyMaxActiveBlocksPerMultiprocessor)                       \
	X(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)              \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessor)                         \
	X(cuOccupancyMaxActiveClusters)

#define OCCUPANCY(name)                                                        \
	cudaError_t name(int *blocks);                                         \
	cudaError_t name(int *blocks)                                          \
	{                                                                      \
		*blocks = BLOCKS_PER_SM;                                       \
		return cudaSuccess;                                            \
	}
OCCUPANCIES(OCCUPANCY)

/* A variable on the device: an address that nobody else has. */
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol);
cudaError_t cudaGetSymbolAddress(void **pointer, const void *symbol)
{
	(void)symbol;
	*pointer = (void *)(uintptr_t)GP_SIM_BASE;
	return cudaSuccess;
}

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

/* The callbacks of a stream's work run at once, as the work does. */
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
			       void *data);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
			       void *data)
{
	(void)stream;
	launch();
	function(data);
	return cudaSuccess;
}

typedef void (*stream_callback)(cudaStream_t stream, cudaError_t status,
				void *data);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, stream_callback function,
				  void *data, unsigned flags);
cudaError_t cudaStreamAddCallback(cudaStream_t stream, stream_callback function,
				  void *data, unsigned flags)
{
	(void)flags;
	launch();
	function(stream, cudaSuccess, data);
	return cudaSuccess;
}
