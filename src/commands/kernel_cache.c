/* SPDX-License-Identifier: MIT */
/* Where a recorded program keeps the kernels it compiles. */
#include "commands/kernel_cache.h"

#include <stdio.h>
#include <stdlib.h>

#include "commands/own_folder.h"

#define INDUCTOR "TORCHINDUCTOR_CACHE_DIR"
#define TRITON	 "TRITON_CACHE_DIR"

enum gp_status gp_kernel_cache_make(struct gp_kernel_cache *cache,
				    struct gp_diag *diag)
{
	*cache = (struct gp_kernel_cache){ .folder = "" };
	if (getenv(INDUCTOR))
		return GP_OK;
	return gp_own_fresh("kernels", cache->folder, diag);
}

/* Inductor has Triton keep its kernels in a folder within its own, where none
 * is named; kernels that the program itself wrote may come before it. */
void gp_kernel_cache_tell(const struct gp_kernel_cache *cache)
{
	char triton[PATH_MAX + 8];

	if (!*cache->folder)
		return;
	setenv("SIMCUDA_KERNELS", cache->folder, 1);
	setenv(INDUCTOR, cache->folder, 1);
	snprintf(triton, sizeof(triton), "%s/triton", cache->folder);
	setenv(TRITON, triton, 0);
}

void gp_kernel_cache_remove(const struct gp_kernel_cache *cache)
{
	gp_own_remove(cache->folder);
}
