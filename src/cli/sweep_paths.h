/* SPDX-License-Identifier: MIT */
/* The traces that a sweep is over: files, and all files of folders. */
#ifndef CLI_SWEEP_PATHS_H
#define CLI_SWEEP_PATHS_H

#include <stddef.h>

#include "gpupool/status.h"

struct gp_paths {
	char **items;
	size_t count, room;
};

/* Those of a folder by name, without hidden ones and folders. */
enum gp_status gp_paths_add(struct gp_paths *paths, const char *path,
			    struct gp_diag *diag);
void gp_paths_release(struct gp_paths *paths);

#endif
