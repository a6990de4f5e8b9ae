/* SPDX-License-Identifier: MIT */
/* Every call that is here, by name: one list, from which they are counted. */
#ifndef SIMCUDA_CALLS_H
#define SIMCUDA_CALLS_H

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

#endif
