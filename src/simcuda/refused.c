/* SPDX-License-Identifier: MIT */
/*
 * Calls that PyTorch's libraries link to and that mean nothing without a
 * device: each answers "not supported".  Their parameters do not matter to
 * that, so the list has only names.
 */
#include "simcuda/process.h"

/* Older builds take these out of libcuda.so.1 one by one and want all. */
#define REFUSED_DRIVER(X)                                                      \
	X(cuMemExportToShareableHandle)                                        \
	X(cuMemImportFromShareableHandle)                                      \
	X(cuMemsetD32Async)                                                    \
	X(cuMulticastAddDevice)                                                \
	X(cuMulticastBindMem)                                                  \
	X(cuMulticastCreate)                                                   \
	X(cuMulticastUnbind)                                                   \
	X(cuStreamWriteValue32)

#define REFUSE_DRIVER(name)                                                    \
	CUresult name(void);                                                   \
	CUresult name(void)                                                    \
	{                                                                      \
		return CUDA_ERROR_NOT_SUPPORTED;                               \
	}
REFUSED_DRIVER(REFUSE_DRIVER)
