/* SPDX-License-Identifier: MIT */
/*
 * Where a recorded program keeps what torch.compile and Triton make.  Kernels
 * that were compiled before are neither compiled nor tried out again, so the
 * trace would depend on what was run earlier; and which kernel was the fastest
 * on a simulated clock is nothing to remember for a real device.  So each
 * program has a folder of its own, which is empty, unless its user names one.
 */
#ifndef COMMANDS_KERNEL_CACHE_H
#define COMMANDS_KERNEL_CACHE_H

#include <limits.h>

#include "gpupool/status.h"

struct gp_kernel_cache {
	char folder[PATH_MAX]; /* "": none was made */
};

enum gp_status gp_kernel_cache_make(struct gp_kernel_cache *cache,
				    struct gp_diag *diag);

/* For the program, in the environment. */
void gp_kernel_cache_tell(const struct gp_kernel_cache *cache);

void gp_kernel_cache_remove(const struct gp_kernel_cache *cache);

#endif
