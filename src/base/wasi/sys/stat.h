/* SPDX-License-Identifier: MIT */
/* What WASI's <sys/stat.h> lacks; no file is written there. */
#ifndef WASM_POSIX_SYS_STAT_H
#define WASM_POSIX_SYS_STAT_H
#include_next <sys/stat.h>
#ifdef __wasi__

static inline mode_t umask(mode_t mask)
{
	(void)mask;
	return 0;
}

static inline int fchmod(int file, mode_t mode)
{
	(void)file, (void)mode;
	return -1;
}

#endif
#endif
