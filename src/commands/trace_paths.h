/* SPDX-License-Identifier: MIT */
/* The traces that a command line names: files, and all files of folders. */
#ifndef COMMANDS_TRACE_PATHS_H
#define COMMANDS_TRACE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

#include "gpupool/status.h"

struct gp_paths {
	char **items;
	size_t count, room;
	bool *is_named; /* of the first named_count; the others are not */
	size_t named_count, named_room;
};

/* Those of a folder by name, without hidden ones and folders. */
enum gp_status gp_paths_add(struct gp_paths *paths, const char *path,
			    struct gp_diag *diag);
/* Whether a path was named by itself: what was found in a folder need be no
 * trace. */
bool gp_paths_is_named(const struct gp_paths *paths, size_t index);
void gp_paths_release(struct gp_paths *paths);

#endif
