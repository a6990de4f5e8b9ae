/* SPDX-License-Identifier: MIT */
/* How many threads a command uses unless told. */
#ifndef COMMANDS_THREADS_H
#define COMMANDS_THREADS_H

#include <stddef.h>

/* The processors that this process may run on. */
size_t gp_threads_by_default(void);

#endif
