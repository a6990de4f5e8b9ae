/* SPDX-License-Identifier: MIT */
/*
 * What one process holds of CUDA: its devices, under one lock.
 *
 * The real runtime is a mutable global too: programs reach it through functions
 * that take no context.  Streams, handles and the like are behind the same
 * lock, each in the file that is named after it.
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

/* Every call that is here, by name: one list, from which they are counted. */
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
	X(nvmlInit_v2)                                                         \
	X(nvmlDeviceGetHandleByPciBusId_v2)                                    \
	X(nvmlDeviceGetComputeRunningProcesses)

enum simcuda_call {
#define SIMCUDA_ENUM(name) CALL_##name,
	SIMCUDA_CALLS(SIMCUDA_ENUM)
#undef SIMCUDA_ENUM
		CALLS,
};

/* Work that waits for another process: places in a table of 64, as bits, and
 * how much of it was issued when this was noted, as places are used anew. */
struct awaited {
	uint64_t places, issued;
};
#define AWAITED_EVERYTHING ((struct awaited){ UINT64_MAX, UINT64_MAX })

struct simcuda_device {
	struct gp_device *memory; /* NULL until it is used */
	bool is_borrowed;
	uint64_t capacity;
	uint64_t lowest, highest; /* of what cudaMalloc handed out */
	struct gp_map grains; /* cudaMalloc'd address -> its size in grains */
	struct simcuda_properties properties;
	uint32_t peers; /* whose memory it reaches: a bit each */
};

struct process {
	struct simcuda_device devices[SIMCUDA_MOST_DEVICES];
	int device_count;
	int most_wanted; /* the largest ordinal that there is no device of */
	uint64_t context_bytes; /* of a device, that no allocation has */
	bool is_boundless; /* what is shown of a device's memory is no limit */
	bool is_downward;  /* memory is placed as CUDA does on Linux */
	int reserving;	   /* whose memory serves reservations: one for all, as
			    * their addresses belong to the process */
	uint64_t highest_reserved; /* end of what was */
	uint64_t calls[CALLS];
};
extern struct process process;

/* Each call begins and ends with these: they lock, count, and keep the last
 * error of the thread. */
void process_begin(enum simcuda_call call);
cudaError_t process_end(cudaError_t error);
CUresult process_end_driver(CUresult error);

/* The same without counting, for the control interface. */
void process_lock(void);
void process_unlock(void);

/* Device addresses that a kernel was given. */
#define MOST_REACHED 64
struct process_reach {
	uint64_t addresses[MOST_REACHED];
	size_t count;
};

/* What the rest of the library wants to know; each is called with no lock held,
 * and NULL where nobody does. */
struct process_hooks {
	/* A program is about to use a device: it asks how many there are. */
	void (*count)(void);
	/* The program waits for its device. */
	void (*pause)(void);
	/* An event was recorded, or somebody was told that it is done. */
	void (*event)(const void *event, bool is_done);
	/* Somebody asked for an event that nobody waited for yet, and that
	 * waits for other processes. */
	void (*unfinished)(const struct awaited *what);
	/* What cudaMalloc took, or what cudaFree gave back (0 bytes). */
	void (*memory)(int device, uint64_t addr, uint64_t bytes);
	/* A program read what nobody knows. */
	void (*guess)(void);
	/* Something that computes was launched: a kernel, a library's call, a
	 * graph.  What it wrote is not known here, nor where, if reach is NULL.
	 * It is captured when it goes into a graph instead. */
	void (*work)(bool is_captured, const struct process_reach *reach);
	/* A program reads bytes that nobody knows: what it should read may be
	 * put there; true, it is known. */
	bool (*read)(void *to, uint64_t from, size_t size);
	/* A captured stream is waited for by another, which is then captured
	 * too. */
	void (*wait)(uint64_t stream, uint64_t by);

	/* Bytes from other processes.  Two may wait: before the program reads
	 * or writes device memory, and before it waits for its device, with
	 * what a stream's work waits for (stream.h). */
	void (*before)(uint64_t addr, uint64_t size, bool is_written);
	void (*await)(const struct awaited *what);
	bool (*is_awaited)(const struct awaited *what);
};
extern struct process_hooks process_hooks;

void process_notify_count(void);
cudaError_t process_end_waiting(void);
void process_notify_event(const void *event, bool is_done);
void process_notify_unfinished(const struct awaited *what);
void process_notify_memory(int device, uint64_t addr, uint64_t bytes);
void process_notify_guess(void);
void process_notify_work(const struct process_reach *reach);
bool process_ask_read(void *to, uint64_t from, size_t size);
void process_notify_wait(uint64_t stream, uint64_t by);

void process_before_read(uint64_t addr, uint64_t size);
void process_before_write(uint64_t addr, uint64_t size);
void process_wait_for(const struct awaited *what);
bool process_is_awaited(const struct awaited *what);
/* Of this thread.  Which memory PyTorch takes for free must not depend on when
 * other processes do something: what it asks for has come. */
void process_ignore_others(bool ignores);

/* The thread's. */
int process_current_device(void);
void process_set_current_device(int device);

/* What is asked for beyond those is kept in most_wanted. */
bool process_has_device(int device);
/* Of a device that is there. */
struct gp_device *process_memory(int device);

static inline uint64_t process_grains(uint64_t size)
{
	return size / GP_DEVICE_GRAIN + (size % GP_DEVICE_GRAIN != 0);
}

/* What the other files hold, forgotten. */
void streams_forget(void);
void unknown_forget(void);

#endif
