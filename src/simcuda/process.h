/* SPDX-License-Identifier: MIT */
/*
 * CUDA's state in one process: its devices, under one lock.
 *
 * Like the real runtime's, it is global and mutable: programs call functions
 * that take no context. Streams, handles and the like are under the same lock,
 * each in the file named after it.
 */
#ifndef SIMCUDA_PROCESS_H
#define SIMCUDA_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "gpupool/device.h"
#include "simcuda/api/cuda.h"
#include "simcuda/api/cuda_runtime_api.h"
#include "simcuda/simcuda.h"

/* Every call that is implemented here. Calls are counted by this list. */
#define SIMCUDA_CALLS(X)                                                       \
	X(cudaMalloc)                                                          \
	X(cudaFree)                                                            \
	X(cudaMemGetInfo)                                                      \
	X(cudaPointerGetAttributes)                                            \
	X(cudaMallocHost)                                                      \
	X(cudaHostAlloc)                                                       \
	X(cudaMallocManaged)                                                   \
	X(cudaFreeHost)                                                        \
	X(cudaHostRegister)                                                    \
	X(cudaHostUnregister)                                                  \
	X(cudaHostGetDevicePointer)                                            \
	X(cudaMemcpy)                                                          \
	X(cudaMemcpyAsync)                                                     \
	X(cudaMemcpyPeerAsync)                                                 \
	X(cudaMemcpy2DAsync)                                                   \
	X(cudaMemset)                                                          \
	X(cudaMemsetAsync)                                                     \
	X(cudaIpcGetMemHandle)                                                 \
	X(cudaIpcOpenMemHandle)                                                \
	X(cudaIpcCloseMemHandle)                                               \
	X(cudaMallocAsync)                                                     \
	X(cudaFreeAsync)                                                       \
	X(cudaMallocFromPoolAsync)                                             \
	X(cudaMemPoolCreate)                                                   \
	X(cudaMemPoolDestroy)                                                  \
	X(cudaDeviceGetDefaultMemPool)                                         \
	X(cudaDeviceGetMemPool)                                                \
	X(cudaMemPoolGetAttribute)                                             \
	X(cudaMemPoolSetAttribute)                                             \
	X(cudaMemPoolSetAccess)                                                \
	X(cudaMemPoolTrimTo)                                                   \
	X(cudaDeviceGetGraphMemAttribute)                                      \
	X(cudaDeviceSetGraphMemAttribute)                                      \
	X(cudaGetDeviceCount)                                                  \
	X(cudaGetDevice)                                                       \
	X(cudaSetDevice)                                                       \
	X(cudaDeviceSynchronize)                                               \
	X(cudaGetDeviceProperties)                                             \
	X(cudaGetDeviceProperties_v2)                                          \
	X(cudaDeviceGetAttribute)                                              \
	X(cudaDeviceGetPCIBusId)                                               \
	X(cudaDeviceGetStreamPriorityRange)                                    \
	X(cudaDeviceCanAccessPeer)                                             \
	X(cudaDeviceEnablePeerAccess)                                          \
	X(cudaDeviceDisablePeerAccess)                                         \
	X(cudaStreamCreate)                                                    \
	X(cudaStreamCreateWithFlags)                                           \
	X(cudaStreamCreateWithPriority)                                        \
	X(cudaStreamDestroy)                                                   \
	X(cudaStreamGetPriority)                                               \
	X(cudaStreamQuery)                                                     \
	X(cudaStreamSynchronize)                                               \
	X(cudaStreamWaitEvent)                                                 \
	X(cudaEventCreate)                                                     \
	X(cudaEventCreateWithFlags)                                            \
	X(cudaEventDestroy)                                                    \
	X(cudaEventRecord)                                                     \
	X(cudaEventRecordWithFlags)                                            \
	X(cudaEventQuery)                                                      \
	X(cudaEventSynchronize)                                                \
	X(cudaEventElapsedTime)                                                \
	X(cudaIpcGetEventHandle)                                               \
	X(cudaIpcOpenEventHandle)                                              \
	X(cudaStreamBeginCapture)                                              \
	X(cudaStreamEndCapture)                                                \
	X(cudaStreamIsCapturing)                                               \
	X(cudaStreamGetCaptureInfo)                                            \
	X(cudaStreamGetCaptureInfo_v2)                                         \
	X(cudaThreadExchangeStreamCaptureMode)                                 \
	X(cudaGraphDestroy)                                                    \
	X(cudaGraphGetNodes)                                                   \
	X(cudaGraphInstantiate)                                                \
	X(cudaGraphInstantiateWithFlags)                                       \
	X(cudaGraphLaunch)                                                     \
	X(cudaGraphExecDestroy)                                                \
	X(cudaUserObjectCreate)                                                \
	X(cudaUserObjectRelease)                                               \
	X(cudaGraphRetainUserObject)                                           \
	X(cudaGraphNodeGetDependencies)                                        \
	X(cudaGraphNodeGetType)                                                \
	X(cudaGraphAddEmptyNode)                                               \
	X(cudaStreamUpdateCaptureDependencies)                                 \
	X(cudaGetDriverEntryPoint)                                             \
	X(cudaGetDriverEntryPointByVersion)                                    \
	X(cuInit)                                                              \
	X(cuDriverGetVersion)                                                  \
	X(cuDeviceGet)                                                         \
	X(cuDeviceGetCount)                                                    \
	X(cuDeviceGetAttribute)                                                \
	X(cuCtxGetCurrent)                                                     \
	X(cuCtxSetCurrent)                                                     \
	X(cuMemAddressReserve)                                                 \
	X(cuMemAddressFree)                                                    \
	X(cuMemCreate)                                                         \
	X(cuMemRelease)                                                        \
	X(cuMemMap)                                                            \
	X(cuMemUnmap)                                                          \
	X(cuMemSetAccess)                                                      \
	X(cuMemGetAllocationGranularity)                                       \
	X(cuMemGetAddressRange)                                                \
	X(cuMemExportToShareableHandle)                                        \
	X(cuMemImportFromShareableHandle)                                      \
	X(nvmlInit_v2)                                                         \
	X(nvmlDeviceGetHandleByPciBusId_v2)                                    \
	X(nvmlDeviceGetComputeRunningProcesses)

enum simcuda_call {
#define SIMCUDA_ENUM(name) CALL_##name,
	SIMCUDA_CALLS(SIMCUDA_ENUM)
#undef SIMCUDA_ENUM
		CALLS,
};

/* Work that waits for another process: the places it waits for, as bits of a
 * table of 64; and how many waits had been issued, as places are reused. */
struct awaited {
	uint64_t places, issued;
};
#define AWAITED_EVERYTHING ((struct awaited){ UINT64_MAX, UINT64_MAX })

struct simcuda_device {
	struct gp_device *memory; /* NULL until it is used */
	bool is_borrowed;
	uint64_t capacity;
	uint64_t lowest, highest; /* of the addresses cudaMalloc returned */
	struct gp_map grains;	  /* cudaMalloc address -> size in grains */
	struct gp_gpu_properties properties;
	uint32_t peers; /* bit set of the devices whose memory it may access */
};

struct process {
	struct simcuda_device devices[SIMCUDA_MOST_DEVICES];
	int device_count;
	int most_wanted; /* highest ordinal requested of a missing device */
	uint64_t context_bytes; /* of each device, taken by the context */
	bool is_boundless; /* the memory size that is reported is no limit */
	bool is_downward;  /* memory is placed as CUDA does on Linux */
	int reserving;	   /* the device that serves all reservations: addresses
			    * belong to the process */
	uint64_t highest_reserved; /* end of the highest reservation */
	cudaError_t failed; /* a kernel; from then on nothing is computed */
	uint64_t calls[CALLS];
};
extern struct process process;

/* Every call begins and ends with these: they take and release the lock, count
 * the call, and set the thread's last error. */
void process_begin(enum simcuda_call call);
cudaError_t process_end(cudaError_t error);
CUresult process_end_driver(CUresult error);

/* The same without counting, for the control interface. */
void process_lock(void);
void process_unlock(void);

/* The device addresses among a kernel's arguments. */
#define MOST_REACHED 64
struct process_reach {
	uint64_t addresses[MOST_REACHED];
	size_t count;
	bool is_anywhere; /* they may point anywhere */
	bool is_foreign;  /* launched by other code than PyTorch's */
	bool is_linked;	  /* the kernel is part of a library */
};

/* Callbacks of the rest of the library. They are called without the lock; NULL:
 * nobody listens. */
struct process_hooks {
	/* The program is about to use a device: it asks how many there are. */
	void (*count)(void);
	/* The program waits for its device. */
	void (*pause)(void);
	/* An event was recorded, or was reported as complete. */
	void (*event)(const void *event, bool is_done);
	/* The program queried an event that nothing has waited for yet and that
	 * depends on other processes. */
	void (*unfinished)(const struct awaited *what);
	/* cudaMalloc allocated this memory, or cudaFree freed it (bytes is 0).
	 */
	void (*memory)(int device, uint64_t addr, uint64_t bytes);
	/* The program read a value that is not known. */
	void (*guess)(void);
	/* The program asked how long work took, or, if is_query, whether work
	 * that nothing has waited for is complete. */
	void (*timed)(bool is_query);
	/* A kernel, a library call or a graph was launched. What it writes is
	 * not known here; nor is where, if reach is NULL. is_captured: it
	 * became a node of a graph instead. */
	void (*work)(bool is_captured, const struct process_reach *reach);
	/* The program reads bytes that are not known. The callback may put the
	 * right ones there; it then returns true. */
	bool (*read)(void *to, uint64_t from, size_t size);
	/* A stream waits for a captured one and so becomes captured too. */
	void (*wait)(uint64_t stream, uint64_t by);

	/* For bytes that come from other processes. `before` and `await` may
	 * block: before the program reads or writes device memory, and before
	 * it waits for its device, with what the stream's work waits for
	 * (stream.h). */
	void (*before)(uint64_t addr, uint64_t size, bool is_written);
	void (*await)(const struct awaited *what);
	bool (*is_awaited)(const struct awaited *what);
};
extern struct process_hooks process_hooks;

void process_notify_count(void);
/* For calls that wait for the device: they report the error of a kernel. */
cudaError_t process_end_waiting(void);
/* A kernel has failed. */
void process_fail(cudaError_t error);
void process_notify_event(const void *event, bool is_done);
void process_notify_unfinished(const struct awaited *what);
void process_notify_memory(int device, uint64_t addr, uint64_t bytes);
void process_notify_guess(void);
void process_notify_timed(bool is_query);
void process_notify_work(const struct process_reach *reach);
bool process_ask_read(void *to, uint64_t from, size_t size);
void process_notify_wait(uint64_t stream, uint64_t by);

void process_before_read(uint64_t addr, uint64_t size);
void process_before_write(uint64_t addr, uint64_t size);
void process_wait_for(const struct awaited *what);
bool process_is_awaited(const struct awaited *what);
/* For this thread: data from other processes is treated as arrived. Which
 * blocks PyTorch's allocator regards as free must not depend on when other
 * processes act. */
void process_ignore_others(bool ignores);

/* Of the calling thread. */
int process_current_device(void);
void process_set_current_device(int device);

/* An ordinal that is too high is recorded in most_wanted. */
bool process_has_device(int device);
/* The device must exist. */
struct gp_device *process_memory(int device);

static inline uint64_t process_grains(uint64_t size)
{
	return size / GP_DEVICE_GRAIN + (size % GP_DEVICE_GRAIN != 0);
}

/* Clears the state of the other files. */
void streams_forget(void);
void unknown_forget(void);

#endif
