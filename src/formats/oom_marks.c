/* SPDX-License-Identifier: MIT */
/* The texts by which the message of a program that ran out of memory is
 * recognised. */
#include <string.h>

#include "formats/readers.h"

const struct gp_oom_mark gp_oom_marks[GP_OOM_MARKS] = {
	{ "out of memory. Tried to allocate ", GP_OOM_OF_ALLOCATOR },
	{ "out of memory. Allocation was preemptively rejected",
	  GP_OOM_OF_ALLOCATOR },
	{ "Allocation on device ", GP_OOM_OF_ASYNC },
	{ "MPS backend out of memory", GP_OOM_OF_MPS },
	/* PyTorch's checks of calls to CUDA, and those of its libraries. */
	{ "CUDA error: out of memory", GP_OOM_OF_DRIVER },
	{ "CUDA driver error: out of memory", GP_OOM_OF_DRIVER },
	{ "HIP error: out of memory", GP_OOM_OF_DRIVER },
	{ "cuda runtime error (2) : out of memory", GP_OOM_OF_DRIVER },
	{ "CUDA_ERROR_OUT_OF_MEMORY", GP_OOM_OF_DRIVER },
	{ "failure 2 'out of memory'", GP_OOM_OF_DRIVER },
	{ "failure 'out of memory'", GP_OOM_OF_DRIVER },
	{ "ERROR_OUT_OF_DEVICE_MEMORY", GP_OOM_OF_DRIVER },
	{ "CUBLAS_STATUS_ALLOC_FAILED", GP_OOM_OF_DRIVER },
	{ "CUDNN_STATUS_ALLOC_FAILED", GP_OOM_OF_DRIVER },
	/* PyTorch on the host, the kernel, Slurm, Kubernetes. */
	{ "DefaultCPUAllocator: can't allocate memory", GP_OOM_OF_HOST },
	{ "DefaultCPUAllocator: not enough memory", GP_OOM_OF_HOST },
	{ "Out of memory: Killed process ", GP_OOM_OF_HOST },
	{ "oom_kill event", GP_OOM_OF_HOST },
	{ "oom-kill event", GP_OOM_OF_HOST },
	{ "OOMKilled", GP_OOM_OF_HOST },
};

const char *gp_oom_mark_in(const char *at, size_t n,
			   const struct gp_oom_mark **mark)
{
	const char *first = NULL;

	for (size_t i = 0; i < GP_OOM_MARKS; i++) {
		const char *found = memmem(at, n, gp_oom_marks[i].text,
					   strlen(gp_oom_marks[i].text));

		if (!found)
			continue;
		first = found;
		n = (size_t)(found - at);
		*mark = &gp_oom_marks[i];
	}
	return first;
}
