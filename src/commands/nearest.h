/* SPDX-License-Identifier: MIT */
/* "Did you mean": what a name that is not known is near to. */
#ifndef COMMANDS_NEAREST_H
#define COMMANDS_NEAREST_H

#include <stddef.h>

#include "gpupool/status.h"

/* The one of the words that is nearest to one that is not known; NULL when none
 * is near enough to be meant. */
const char *gp_nearest(const char *word, const char *const *words,
		       size_t count);
/* The same of PyTorch's names of settings. */
const char *gp_nearest_setting(const char *word);
/* Where a failure is about a key of these settings that is near to another one,
 * the hint says which. */
void gp_hint_settings(const char *conf, struct gp_diag *diag);

#endif
