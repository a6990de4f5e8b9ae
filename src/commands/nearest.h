/* SPDX-License-Identifier: MIT */
/* "Did you mean": the word that is nearest to one that is not known. */
#ifndef COMMANDS_NEAREST_H
#define COMMANDS_NEAREST_H

#include <stddef.h>

/* NULL when none is near enough to be meant. */
const char *gp_nearest(const char *word, const char *const *words,
		       size_t count);

#endif
