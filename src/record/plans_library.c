/* SPDX-License-Identifier: MIT */
/*
 * Loads the real cuDNN from PyTorch's wheels and has it plan for a described
 * device. Loading and planning need no device, but a libcuda; cuDNN loads
 * cuBLASLt and NVRTC by itself.
 */
#include "record/plans.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

/*
 * ---- the device ----
 *
 * A device as cuDNN describes it: CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION.
 * The keys are those that cuDNN 9.10 to 9.28 report as missing if a description
 * lacks them; the values are the CUDA attributes of these names, taken from the
 * table of devices.
 */

/* The driver of the last CUDA release of a major version; the recorded
 * machine's actual driver is not known. */
static int driver_of(unsigned cuda)
{
	return cuda >= 13 ? 13000 : 12090;
}

/* Bytes of a block's shared memory reserved by the driver: CUDA C++ Programming
 * Guide, compute capability 8.x and later. */
static int reserved(const struct gp_gpu_properties *p)
{
	return p->major >= 8 ? 1024 : 0;
}

size_t gp_plans_describe(const struct gp_gpu *gpu, unsigned cuda, char *text,
			 size_t size)
{
	const struct gp_gpu_properties *p = &gpu->properties;
	int n = snprintf(
		text, size,
		"{\"cudaDeviceId\":0,\"deviceName\":\"%s\",\"deviceVer\":%d,"
		"\"driverVer\":%d,\"totalGlobalMem\":%" PRIu64
		",\"multiProcessorCount\":%d,\"smClockRateKHz\":%d,"
		"\"memClockRateKHz\":%d,\"memoryBusWidth\":%d,"
		"\"l2CacheSize\":%d,\"warpSize\":32,"
		"\"maxGridSize\":[2147483647,65535,65535],"
		"\"maxBlockSize\":[1024,1024,64],\"maxThreadsPerBlock\":1024,"
		"\"maxThreadsPerSM\":%d,\"maxCtasPerSM\":%d,"
		"\"regsPerBlock\":65536,\"maxRegistersPerSM\":65536,"
		"\"maxSharedMemoryPerBlock\":%d,"
		"\"maxSharedMemoryPerBlockOptin\":%d,"
		"\"reservedSharedMemoryPerBlock\":%d,"
		"\"oversizedSharedMemoryPerBlock\":0,\"pciDeviceId\":0,"
		"\"isTccDriver\":0,\"supportCoopLaunch\":1}",
		p->name, p->major * 100 + p->minor * 10, driver_of(cuda),
		gpu->capacity, p->multiprocessors, p->clock_khz,
		p->memory_clock_khz, p->bus_width_bits, p->l2_bytes,
		p->threads_per_sm, p->blocks_per_sm, p->shared_per_block,
		p->shared_per_block_optin, reserved(p));

	return n > 0 && (size_t)n < size ? (size_t)n : 0;
}

/*
 * ---- its driver ----
 *
 * A libcuda for cuDNN to load: engines whose kernels are compiled while
 * planning need the driver library with all its functions, and load the
 * compiled code with it. The functions that simcuda implements are used; all
 * others are led to its stand-in by a library written here.
 */

/* The driver API of cuda.h in CUDA 12.9 and 13.0, without graphics
 * interoperability. */
static const char functions[] =
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

/* The driver functions that this library does not define. */
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
	char *text = gp_mem_copy_text(functions, sizeof(functions) - 1);
	char **chosen = gp_mem_alloc(sizeof(functions) / 4, sizeof(*chosen));
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

/* false: there is no driver library. */
static bool load_driver(const char *simcuda, const char *folder)
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

/* ---- the library ---- */

enum {
	DEVICEPROP_DESCRIPTOR = 38,
	DEVICEPROP_JSON = 2702,
};

/* ISO C cannot convert object pointers to function pointers. */
union symbol {
	void *object;
	int (*create)(int, void **);
	int (*destroy)(void *);
	int (*set)(void *, int, int, int64_t, const void *);
	int (*get)(void *, int, int, int64_t, int64_t *, void *);
	size_t (*version)(void);
};

__attribute__((format(printf, 2, 3))) static void refuse(
	struct gp_plans_library *library, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(library->why, sizeof(library->why), format, arguments);
	va_end(arguments);
	library->device = NULL;
}

static bool find(struct gp_plans_library *library, void *handle)
{
	union symbol create, destroy, set, get, finalize, version;

	create.object = dlsym(handle, "cudnnBackendCreateDescriptor");
	destroy.object = dlsym(handle, "cudnnBackendDestroyDescriptor");
	set.object = dlsym(handle, "cudnnBackendSetAttribute");
	get.object = dlsym(handle, "cudnnBackendGetAttribute");
	finalize.object = dlsym(handle, "cudnnBackendFinalize");
	version.object = dlsym(handle, "cudnnGetVersion");
	library->create = create.create;
	library->destroy = destroy.destroy;
	library->set = set.set;
	library->get = get.get;
	library->finalize = finalize.destroy;
	library->version = version.version;
	return create.object && destroy.object && set.object && get.object &&
	       finalize.object && version.object;
}

/* Loads a library from the wheels in this folder; "": from the system. */
static bool load_from(const char *folder, const char *name, unsigned cuda)
{
	static const char *const places[] = { "cublas/lib", "cuda_nvrtc/lib",
					      "cu13/lib" };
	char path[PATH_MAX];

	if (!*folder) {
		snprintf(path, sizeof(path), "%s.so.%u", name, cuda);
		return dlopen(path, RTLD_NOW | RTLD_GLOBAL) != NULL;
	}
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%s/%s/%s.so.%u", folder,
			 places[i], name, cuda);
		if (dlopen(path, RTLD_NOW | RTLD_GLOBAL))
			return true;
	}
	return false;
}

/* cuDNN ends the process if it does not find cuBLASLt, and leaves out engines
 * if it does not find NVRTC. So both are loaded first: from the wheels beside
 * cuDNN, else from PyTorch's, else from the system. */
static bool load(const char *name, const struct gp_plans_source *source)
{
	const char *end = strrchr(source->cudnn, '/');
	char beside[PATH_MAX], of_torch[PATH_MAX];

	snprintf(beside, sizeof(beside), "%.*s/../..",
		 end ? (int)(end - source->cudnn) : 0, source->cudnn);
	snprintf(of_torch, sizeof(of_torch), "%s/../nvidia", source->torch);
	return load_from(beside, name, source->cuda) ||
	       load_from(of_torch, name, source->cuda) ||
	       load_from("", name, source->cuda);
}

static bool load_needed(struct gp_plans_library *library,
			const struct gp_plans_source *source)
{
	static const char *const names[] = { "libcublasLt", "libnvrtc" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (load(names[i], source))
			continue;
		refuse(library, "it needs %s.so.%u, which was not found",
		       names[i], source->cuda);
		return false;
	}
	if (load_driver(source->simcuda, source->folder))
		return true;
	refuse(library, "no stand-in for the driver could be loaded");
	return false;
}

static void describe(struct gp_plans_library *library,
		     const struct gp_plans_source *source)
{
	char text[2048];
	size_t size = gp_plans_describe(source->gpu, source->cuda, text,
					sizeof(text));

	if (library->create(DEVICEPROP_DESCRIPTOR, &library->device) ||
	    library->set(library->device, DEVICEPROP_JSON, GP_PLANS_CHAR,
			 (int64_t)size, text) ||
	    library->finalize(library->device))
		refuse(library, "it cannot plan for a device that is not "
				"present; cuDNN 9.8 and later can");
}

void gp_plans_load(struct gp_plans_library *library,
		   const struct gp_plans_source *source)
{
	void *handle;

	*library = (struct gp_plans_library){ 0 };
	if (!load_needed(library, source))
		return;
	handle = dlopen(source->cudnn, RTLD_NOW);
	if (!handle || !find(library, handle)) {
		const char *why = dlerror();

		*library = (struct gp_plans_library){ 0 };
		refuse(library, "it cannot be loaded: %s",
		       why ? why : "it is not cuDNN");
		return;
	}
	describe(library, source);
	library->is_hopper = source->gpu->properties.major == 9 &&
			     source->gpu->properties.multiprocessors == 132;
}
