/* SPDX-License-Identifier: MIT */
/* Where PyTorch's own allocator is, and how to make it ready to run. */
#ifndef COMMANDS_TORCH_LIB_H
#define COMMANDS_TORCH_LIB_H

#include <stdint.h>

#include "gpupool/status.h"

/* A prepared engine of that release, or of one that decides alike, beside the
 * program or in the cache.  The caller frees *folder. */
enum gp_status gp_torch_lib_find(uint8_t release, char **folder,
				 struct gp_diag *diag);

/* What the user named: a prepared engine as it is; a wheel or a folder with
 * PyTorch is prepared, once, in the cache. */
enum gp_status gp_torch_lib_prepare(const char *path, char **folder,
				    struct gp_diag *diag);

/* The release of a prepared engine. */
enum gp_status gp_torch_lib_release(const char *folder, uint8_t *release,
				    struct gp_diag *diag);

#endif
