/* SPDX-License-Identifier: MIT */
/* "Did you mean": the known name nearest to an unknown one. */
#ifndef COMMANDS_NEAREST_H
#define COMMANDS_NEAREST_H

#include <stddef.h>

#include "gpupool/status.h"

/* The word that is nearest to an unknown one; NULL: none is near enough. */
const char *gp_nearest(const char *word, const char *const *words,
		       size_t count);
/* The same among PyTorch's names of settings. */
const char *gp_nearest_setting(const char *word);
/* If a failure is about a key of these settings that is near to another one,
 * adds a hint that names it. */
void gp_hint_settings(const char *conf, struct gp_diag *diag);

#endif
