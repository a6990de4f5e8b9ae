/* SPDX-License-Identifier: MIT */
/*
 * A driver for cuDNN to load: engines whose kernels are compiled when they are
 * planned want the driver's library to be there, with all its functions, and
 * hand it what was compiled.  Functions that behave are simcuda's; each other
 * one is led to its stand-in, by a library that is written for it.
 */
#include "record/plans.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/* Functions of the driver, cuda.h of CUDA 12.9 and 13.0, but for graphics. */
static const char names[] =
	/* clang-format off */
	"cuArray3DCreate cuArray3DCreate_v2 cuArray3DGetDescriptor "
	"cuArray3DGetDescriptor_v2 cuArrayCreate cuArrayCreate_v2 "
	"cuArrayDestroy cuArrayGetDescriptor cuArrayGetDescriptor_v2 "
	"cuArrayGetMemoryRequirements cuArrayGetPlane "
	"cuArrayGetSparseProperties cuCtxCreate cuCtxCreate_v2 "
	"cuCtxCreate_v4 cuCtxDestroy cuCtxDestroy_v2 cuCtxDetach "
	"cuCtxDisablePeerAccess cuCtxEnablePeerAccess "
	"cuCtxFromGreenCtx cuCtxGetApiVersion cuCtxGetCacheConfig "
	"cuCtxGetCurrent cuCtxGetDevResource cuCtxGetDevice "
	"cuCtxGetDevice_v2 cuCtxGetFlags cuCtxGetId cuCtxGetLimit "
	"cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange "
	"cuCtxPopCurrent cuCtxPopCurrent_v2 cuCtxPushCurrent "
	"cuCtxPushCurrent_v2 cuCtxRecordEvent "
	"cuCtxResetPersistingL2Cache cuCtxSetCacheConfig "
	"cuCtxSetCurrent cuCtxSetLimit cuCtxSetSharedMemConfig "
	"cuCtxSynchronize cuCtxSynchronize_v2 cuCtxWaitEvent "
	"cuDestroyExternalMemory cuDestroyExternalSemaphore "
	"cuDevResourceGenerateDesc cuDevSmResourceSplit "
	"cuDevSmResourceSplitByCount cuDeviceCanAccessPeer "
	"cuDeviceGet cuDeviceGetAttribute cuDeviceGetByPCIBusId "
	"cuDeviceGetCount cuDeviceGetDefaultMemPool "
	"cuDeviceGetDevResource cuDeviceGetGraphMemAttribute "
	"cuDeviceGetHostAtomicCapabilities cuDeviceGetMemPool "
	"cuDeviceGetName cuDeviceGetNvSciSyncAttributes "
	"cuDeviceGetP2PAtomicCapabilities cuDeviceGetP2PAttribute "
	"cuDeviceGetPCIBusId cuDeviceGetTexture1DLinearMaxWidth "
	"cuDeviceGetUuid cuDeviceGraphMemTrim "
	"cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease "
	"cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset "
	"cuDevicePrimaryCtxReset_v2 cuDevicePrimaryCtxRetain "
	"cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2 "
	"cuDeviceRegisterAsyncNotification "
	"cuDeviceSetGraphMemAttribute cuDeviceSetMemPool "
	"cuDeviceTotalMem cuDeviceTotalMem_v2 "
	"cuDeviceUnregisterAsyncNotification cuDriverGetVersion "
	"cuEventCreate cuEventDestroy cuEventDestroy_v2 "
	"cuEventElapsedTime cuEventElapsedTime_v2 cuEventQuery "
	"cuEventRecord cuEventRecordWithFlags "
	"cuEventRecordWithFlags_ptsz cuEventRecord_ptsz "
	"cuEventSynchronize cuExternalMemoryGetMappedBuffer "
	"cuExternalMemoryGetMappedMipmappedArray "
	"cuFlushGPUDirectRDMAWrites cuFuncGetAttribute "
	"cuFuncGetModule cuFuncGetName cuFuncGetParamCount "
	"cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad "
	"cuFuncSetAttribute cuFuncSetCacheConfig "
	"cuFuncSetSharedMemConfig cuGetErrorName cuGetErrorString "
	"cuGraphAddChildGraphNode cuGraphAddDependencies "
	"cuGraphAddDependencies_v2 cuGraphAddEmptyNode "
	"cuGraphAddEventRecordNode cuGraphAddEventWaitNode "
	"cuGraphAddExternalSemaphoresSignalNode "
	"cuGraphAddExternalSemaphoresWaitNode cuGraphAddHostNode "
	"cuGraphAddKernelNode cuGraphAddKernelNode_v2 "
	"cuGraphAddMemAllocNode cuGraphAddMemFreeNode "
	"cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddNode "
	"cuGraphAddNode_v2 cuGraphChildGraphNodeGetGraph "
	"cuGraphClone cuGraphConditionalHandleCreate cuGraphCreate "
	"cuGraphDebugDotPrint cuGraphDestroy cuGraphDestroyNode "
	"cuGraphEventRecordNodeGetEvent "
	"cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent "
	"cuGraphEventWaitNodeSetEvent "
	"cuGraphExecChildGraphNodeSetParams cuGraphExecDestroy "
	"cuGraphExecEventRecordNodeSetEvent "
	"cuGraphExecEventWaitNodeSetEvent "
	"cuGraphExecExternalSemaphoresSignalNodeSetParams "
	"cuGraphExecExternalSemaphoresWaitNodeSetParams "
	"cuGraphExecGetFlags cuGraphExecGetId "
	"cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams "
	"cuGraphExecKernelNodeSetParams_v2 "
	"cuGraphExecMemcpyNodeSetParams "
	"cuGraphExecMemsetNodeSetParams cuGraphExecNodeSetParams "
	"cuGraphExecUpdate cuGraphExecUpdate_v2 "
	"cuGraphExternalSemaphoresSignalNodeGetParams "
	"cuGraphExternalSemaphoresSignalNodeSetParams "
	"cuGraphExternalSemaphoresWaitNodeGetParams "
	"cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges "
	"cuGraphGetEdges_v2 cuGraphGetId cuGraphGetNodes "
	"cuGraphGetRootNodes cuGraphHostNodeGetParams "
	"cuGraphHostNodeSetParams cuGraphInstantiate "
	"cuGraphInstantiateWithFlags cuGraphInstantiateWithParams "
	"cuGraphInstantiateWithParams_ptsz cuGraphInstantiate_v2 "
	"cuGraphKernelNodeCopyAttributes "
	"cuGraphKernelNodeGetAttribute cuGraphKernelNodeGetParams "
	"cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetAttribute "
	"cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2 "
	"cuGraphLaunch cuGraphLaunch_ptsz "
	"cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams "
	"cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams "
	"cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams "
	"cuGraphNodeFindInClone cuGraphNodeGetContainingGraph "
	"cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2 "
	"cuGraphNodeGetDependentNodes "
	"cuGraphNodeGetDependentNodes_v2 cuGraphNodeGetEnabled "
	"cuGraphNodeGetLocalId cuGraphNodeGetParams "
	"cuGraphNodeGetToolsId cuGraphNodeGetType "
	"cuGraphNodeSetEnabled cuGraphNodeSetParams "
	"cuGraphReleaseUserObject cuGraphRemoveDependencies "
	"cuGraphRemoveDependencies_v2 cuGraphRetainUserObject "
	"cuGraphUpload cuGraphUpload_ptsz cuGreenCtxCreate "
	"cuGreenCtxDestroy cuGreenCtxGetDevResource cuGreenCtxGetId "
	"cuGreenCtxRecordEvent cuGreenCtxStreamCreate "
	"cuGreenCtxWaitEvent cuImportExternalMemory "
	"cuImportExternalSemaphore cuInit cuIpcCloseMemHandle "
	"cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle "
	"cuIpcOpenMemHandle cuIpcOpenMemHandle_v2 "
	"cuKernelGetAttribute cuKernelGetFunction cuKernelGetLibrary "
	"cuKernelGetName cuKernelGetParamCount cuKernelGetParamInfo "
	"cuKernelSetAttribute cuKernelSetCacheConfig "
	"cuLaunchCooperativeKernel "
	"cuLaunchCooperativeKernelMultiDevice "
	"cuLaunchCooperativeKernel_ptsz cuLaunchHostFunc "
	"cuLaunchHostFunc_ptsz cuLaunchHostFunc_v2 "
	"cuLaunchHostFunc_v2_ptsz cuLaunchKernel cuLaunchKernelEx "
	"cuLaunchKernelEx_ptsz cuLaunchKernel_ptsz "
	"cuLibraryEnumerateKernels cuLibraryGetGlobal "
	"cuLibraryGetKernel cuLibraryGetKernelCount "
	"cuLibraryGetManaged cuLibraryGetModule "
	"cuLibraryGetUnifiedFunction cuLibraryLoadData "
	"cuLibraryLoadFromFile cuLibraryUnload cuLinkAddData "
	"cuLinkAddData_v2 cuLinkAddFile cuLinkAddFile_v2 "
	"cuLinkComplete cuLinkCreate cuLinkCreate_v2 cuLinkDestroy "
	"cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory "
	"cuLogsRegisterCallback cuLogsUnregisterCallback cuMemAdvise "
	"cuMemAdvise_v2 cuMemAlloc cuMemAllocAsync "
	"cuMemAllocAsync_ptsz cuMemAllocFromPoolAsync "
	"cuMemAllocFromPoolAsync_ptsz cuMemAllocHost "
	"cuMemAllocHost_v2 cuMemAllocManaged cuMemAllocPitch "
	"cuMemAllocPitch_v2 cuMemAlloc_v2 "
	"cuMemDiscardAndPrefetchBatchAsync "
	"cuMemDiscardAndPrefetchBatchAsync_ptsz "
	"cuMemDiscardBatchAsync cuMemDiscardBatchAsync_ptsz "
	"cuMemFree cuMemFreeAsync cuMemFreeAsync_ptsz cuMemFreeHost "
	"cuMemFree_v2 cuMemGetAddressRange cuMemGetAddressRange_v2 "
	"cuMemGetDefaultMemPool cuMemGetInfo cuMemGetInfo_v2 "
	"cuMemGetLocationInfo cuMemGetMemPool cuMemHostAlloc "
	"cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2 "
	"cuMemHostGetFlags cuMemHostRegister cuMemHostRegister_v2 "
	"cuMemHostUnregister cuMemPoolCreate cuMemPoolDestroy "
	"cuMemPoolExportPointer cuMemPoolExportToShareableHandle "
	"cuMemPoolGetAccess cuMemPoolGetAttribute "
	"cuMemPoolImportFromShareableHandle cuMemPoolImportPointer "
	"cuMemPoolSetAccess cuMemPoolSetAttribute cuMemPoolTrimTo "
	"cuMemPrefetchAsync cuMemPrefetchAsync_ptsz "
	"cuMemPrefetchAsync_v2 cuMemPrefetchAsync_v2_ptsz "
	"cuMemPrefetchBatchAsync cuMemPrefetchBatchAsync_ptsz "
	"cuMemRangeGetAttribute cuMemRangeGetAttributes "
	"cuMemSetMemPool cuMemcpy cuMemcpy2DAsync cuMemcpy2DAsync_v2 "
	"cuMemcpy2DAsync_v2_ptsz cuMemcpy2DUnaligned "
	"cuMemcpy2DUnaligned_v2 cuMemcpy3D cuMemcpy3DAsync "
	"cuMemcpy3DAsync_v2 cuMemcpy3DAsync_v2_ptsz "
	"cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_ptsz "
	"cuMemcpy3DBatchAsync_v2 cuMemcpy3DBatchAsync_v2_ptsz "
	"cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpy3DPeerAsync_ptsz "
	"cuMemcpy3DWithAttributesAsync "
	"cuMemcpy3DWithAttributesAsync_ptsz cuMemcpy3D_v2 "
	"cuMemcpyAsync cuMemcpyAsync_ptsz cuMemcpyBatchAsync "
	"cuMemcpyBatchAsync_ptsz cuMemcpyBatchAsync_v2 "
	"cuMemcpyBatchAsync_v2_ptsz cuMemcpyDtoD cuMemcpyDtoDAsync "
	"cuMemcpyDtoDAsync_v2 cuMemcpyDtoDAsync_v2_ptsz "
	"cuMemcpyDtoD_v2 cuMemcpyDtoH cuMemcpyDtoHAsync "
	"cuMemcpyDtoHAsync_v2 cuMemcpyDtoHAsync_v2_ptsz "
	"cuMemcpyDtoH_v2 cuMemcpyHtoD cuMemcpyHtoDAsync "
	"cuMemcpyHtoDAsync_v2 cuMemcpyHtoDAsync_v2_ptsz "
	"cuMemcpyHtoD_v2 cuMemcpyPeer cuMemcpyPeerAsync "
	"cuMemcpyPeerAsync_ptsz cuMemcpyWithAttributesAsync "
	"cuMemcpyWithAttributesAsync_ptsz cuMemsetD16Async "
	"cuMemsetD2D8 cuMemsetD2D8Async cuMemsetD2D8Async_ptsz "
	"cuMemsetD2D8_v2 cuMemsetD32Async cuMemsetD8 cuMemsetD8Async "
	"cuMemsetD8Async_ptsz cuMemsetD8_v2 cuMipmappedArrayCreate "
	"cuMipmappedArrayDestroy cuMipmappedArrayGetLevel "
	"cuMipmappedArrayGetMemoryRequirements "
	"cuMipmappedArrayGetSparseProperties cuModuleGetFunction "
	"cuModuleGetGlobal cuModuleGetGlobal_v2 "
	"cuModuleGetLoadingMode cuModuleGetSurfRef cuModuleGetTexRef "
	"cuModuleLoad cuModuleLoadData cuModuleLoadDataEx "
	"cuModuleLoadFatBinary cuModuleUnload "
	"cuOccupancyAvailableDynamicSMemPerBlock "
	"cuOccupancyMaxActiveBlocksPerMultiprocessor "
	"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags "
	"cuOccupancyMaxActiveClusters "
	"cuOccupancyMaxPotentialClusterSize cuPointerGetAttribute "
	"cuPointerGetAttributes cuProfilerInitialize cuProfilerStart "
	"cuProfilerStop cuSignalExternalSemaphoresAsync "
	"cuSignalExternalSemaphoresAsync_ptsz cuStreamAddCallback "
	"cuStreamAddCallback_ptsz cuStreamAttachMemAsync "
	"cuStreamAttachMemAsync_ptsz cuStreamBatchMemOp "
	"cuStreamBatchMemOp_ptsz cuStreamBeginCapture "
	"cuStreamBeginCaptureToGraph "
	"cuStreamBeginCaptureToGraph_ptsz cuStreamBeginCapture_ptsz "
	"cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz "
	"cuStreamBeginRecaptureToGraph "
	"cuStreamBeginRecaptureToGraph_ptsz cuStreamCopyAttributes "
	"cuStreamCopyAttributes_ptsz cuStreamCreate "
	"cuStreamCreateWithPriority cuStreamDestroy "
	"cuStreamDestroy_v2 cuStreamEndCapture "
	"cuStreamEndCapture_ptsz cuStreamGetAttribute "
	"cuStreamGetAttribute_ptsz cuStreamGetCaptureInfo "
	"cuStreamGetCaptureInfo_ptsz cuStreamGetCaptureInfo_v2 "
	"cuStreamGetCaptureInfo_v2_ptsz cuStreamGetCaptureInfo_v3 "
	"cuStreamGetCaptureInfo_v3_ptsz cuStreamGetCtx "
	"cuStreamGetCtx_v2 cuStreamGetCtx_v2_ptsz "
	"cuStreamGetDevResource cuStreamGetDevResource_ptsz "
	"cuStreamGetDevice cuStreamGetDevice_ptsz cuStreamGetFlags "
	"cuStreamGetFlags_ptsz cuStreamGetGreenCtx cuStreamGetId "
	"cuStreamGetId_ptsz cuStreamGetPriority "
	"cuStreamGetPriority_ptsz cuStreamIsCapturing "
	"cuStreamIsCapturing_ptsz cuStreamQuery cuStreamQuery_ptsz "
	"cuStreamSetAttribute cuStreamSetAttribute_ptsz "
	"cuStreamSynchronize cuStreamSynchronize_ptsz "
	"cuStreamUpdateCaptureDependencies "
	"cuStreamUpdateCaptureDependencies_ptsz "
	"cuStreamUpdateCaptureDependencies_v2 "
	"cuStreamUpdateCaptureDependencies_v2_ptsz cuStreamWaitEvent "
	"cuStreamWaitEvent_ptsz cuStreamWaitValue32 "
	"cuStreamWaitValue32_ptsz cuStreamWaitValue64 "
	"cuStreamWaitValue64_ptsz cuStreamWriteValue32 "
	"cuStreamWriteValue32_ptsz cuStreamWriteValue64 "
	"cuStreamWriteValue64_ptsz cuSubgridCreate "
	"cuSubgridWorkerGridCreate cuSubgridWorksetCreate "
	"cuSurfObjectCreate cuSurfObjectDestroy "
	"cuSurfObjectGetResourceDesc cuTensorMapEncodeIm2col "
	"cuTensorMapEncodeIm2colWide cuTensorMapEncodeTiled "
	"cuTensorMapReplaceAddress cuTexObjectCreate "
	"cuTexObjectDestroy cuTexObjectGetResourceDesc "
	"cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc "
	"cuThreadExchangeStreamCaptureMode cuUserObjectCreate "
	"cuUserObjectRelease cuUserObjectRetain "
	"cuWaitExternalSemaphoresAsync "
	"cuWaitExternalSemaphoresAsync_ptsz";
/* clang-format on */

#define SONAME "libcuda.so.1"

/* The names that the library at this handle has no function of. */
static size_t choose(void *library, char *text, char **chosen)
{
	size_t count = 0;

	for (char *name, *rest = text; (name = strsep(&rest, " "));)
		if (*name && !dlsym(library, name))
			chosen[count++] = name;
	return count;
}

static enum gp_status write_driver(void *library, const char *path,
				   struct gp_diag *diag)
{
	static const char *const needed[] = { "libgpupool-simcuda.so" };
	char *text = gp_mem_copy_text(names, sizeof(names) - 1);
	char **chosen = gp_mem_alloc(sizeof(names) / 4, sizeof(*chosen));
	const struct gp_object object = {
		.soname = SONAME,
		.needed = needed,
		.needed_count = 1,
		.symbols = chosen,
		.symbol_count = choose(library, text, chosen),
	};
	enum gp_status status = gp_object_write(&object, path, diag);

	free(chosen);
	free(text);
	return status;
}

bool gp_plans_load_driver(const char *simcuda, const char *folder)
{
	void *library = dlopen(simcuda, RTLD_NOW | RTLD_LOCAL);
	struct gp_diag diag = { 0 };
	char path[PATH_MAX];
	bool is_there;

	snprintf(path, sizeof(path), "%s/driver-%ld.so", folder,
		 (long)getpid());
	if (!library || write_driver(library, path, &diag) != GP_OK)
		return false;
	is_there = dlopen(path, RTLD_NOW | RTLD_LOCAL) != NULL;
	unlink(path);
	return is_there;
}
