/* SPDX-License-Identifier: MIT */
/*
 * The part of the CUDA driver API that is provided, in place of <cuda.h>; see
 * cuda_runtime_api.h. Names, numbers and layouts: cuda.h of CUDA Toolkit 13.0;
 * those of 11.8 and 12.9 are the same.
 */
#ifndef SIMCUDA_API_CUDA_H
#define SIMCUDA_API_CUDA_H

#include <stddef.h>
#include <stdint.h>

#ifndef SIMCUDA_MAJOR
#define SIMCUDA_MAJOR 13
#endif
#define CUDA_VERSION (SIMCUDA_MAJOR * 1000)

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError_enum {
	CUDA_SUCCESS = 0,
	CUDA_ERROR_INVALID_VALUE = 1,
	CUDA_ERROR_OUT_OF_MEMORY = 2,
	CUDA_ERROR_INVALID_DEVICE = 101,
	CUDA_ERROR_FILE_NOT_FOUND = 301,
	CUDA_ERROR_NOT_FOUND = 500,
	CUDA_ERROR_NOT_SUPPORTED = 801,
} CUresult;

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef struct CUctx_st *CUcontext;

/* CUdevice_attribute: those that are not 0 here */
#define CU_ATTRIBUTE_MULTIPROCESSORS 16
#define CU_ATTRIBUTE_MAJOR	     75
#define CU_ATTRIBUTE_MINOR	     76
#define CU_ATTRIBUTE_VIRTUAL_MEMORY  102
#define CU_ATTRIBUTE_MEMORY_POOLS    115

/* CUmemAllocationHandleType; POSIX: ..._POSIX_FILE_DESCRIPTOR */
#define CU_MEM_HANDLE_TYPE_POSIX  0x1
#define CU_MEM_HANDLE_TYPE_FABRIC 0x8

typedef struct CUmemLocation_st {
	int type, id;
} CUmemLocation;

typedef struct CUmemAllocationProp_st {
	int type, requestedHandleTypes;
	CUmemLocation location;
	void *win32HandleMetaData;
	struct {
		unsigned char compressionType, gpuDirectRDMACapable;
		unsigned short usage;
		unsigned char reserved[4];
	} allocFlags;
} CUmemAllocationProp;

typedef struct CUmemAccessDesc_st {
	CUmemLocation location;
	int flags;
} CUmemAccessDesc;

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorString(CUresult error, const char **text);
CUresult cuGetErrorName(CUresult error, const char **name);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device);
CUresult cuGetProcAddress(const char *name, void **function, int version,
			  uint64_t flags);
CUresult cuGetProcAddress_v2(const char *name, void **function, int version,
			     uint64_t flags, int *result);
CUresult cuGetExportTable(const void **table, const void *id);
CUresult cuCtxGetCurrent(CUcontext *context);
CUresult cuCtxSetCurrent(CUcontext context);

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t align,
			     CUdeviceptr wanted, unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr address, size_t size);
CUresult cuMemExportToShareableHandle(void *shared,
				      CUmemGenericAllocationHandle handle,
				      int type, unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle,
					void *shared, int type);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
		     const CUmemAllocationProp *prop, unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
		  CUmemGenericAllocationHandle handle,
		  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr address, size_t size);
CUresult cuMemSetAccess(CUdeviceptr address, size_t size,
			const CUmemAccessDesc *access, size_t count);
CUresult cuMemGetAllocationGranularity(size_t *granularity,
				       const CUmemAllocationProp *prop,
				       int option);
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size,
			      CUdeviceptr address);
CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size,
				 CUdeviceptr address);

#ifdef __cplusplus
}
#endif

#endif
