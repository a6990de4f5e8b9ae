/* SPDX-License-Identifier: MIT */
/* Folders that belong to this user alone: their contents are executed or
 * loaded, so no other user may be able to write there. */
#ifndef COMMANDS_OWN_FOLDER_H
#define COMMANDS_OWN_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpupool/status.h"

/* $XDG_CACHE_HOME/gpupool/NAME or $HOME/.cache/gpupool/NAME; "" and false where
 * neither is set. */
bool gp_own_cache(const char *name, char path[PATH_MAX]);

/* The path of the program gpupool: this one or, if another program uses the
 * library, the one that was installed with it; "" if unknown. */
void gp_own_path(char path[PATH_MAX]);
/* Its folder; "" if unknown. */
void gp_own_program(char *path, size_t size);

/* Whether the path and its parent belong to this user, and nobody else can
 * write there. */
bool gp_own_is_safe(const char *path);

/* Makes the folder and its missing parents, for this user only; false: that is
 * not possible, or the folder is not safe. */
bool gp_own_make(const char *path);

/* Makes an empty folder within the one for temporary files. */
enum gp_status gp_own_fresh(const char *name, char path[PATH_MAX],
			    struct gp_diag *diag);

/* Removes a folder and its contents; does nothing for "". */
void gp_own_remove(const char *path);

#endif
