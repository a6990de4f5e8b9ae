/* SPDX-License-Identifier: MIT */
/*
 * Folders of this user's alone: what lies in them is run or loaded, so nobody
 * else may have put it there.
 */
#ifndef COMMANDS_OWN_FOLDER_H
#define COMMANDS_OWN_FOLDER_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "gpupool/status.h"

/* $XDG_CACHE_HOME/gpupool/NAME or $HOME/.cache/gpupool/NAME; "" and false where
 * neither is set. */
bool gp_own_cache(const char *name, char path[PATH_MAX]);

/* The folder that holds this program; "" where that is not known. */
void gp_own_program(char *path, size_t size);

/* It and the one that holds it belong to this user, and no other may write
 * there. */
bool gp_own_is_safe(const char *path);

/* Makes it and what is above it, for this user only, where they are not there;
 * false: cannot be made, or is not safe. */
bool gp_own_make(const char *path);

/* An empty folder in the one for temporary files. */
enum gp_status gp_own_fresh(const char *name, char path[PATH_MAX],
			    struct gp_diag *diag);

/* With all that is in it; nothing for "". */
void gp_own_remove(const char *path);

#endif
