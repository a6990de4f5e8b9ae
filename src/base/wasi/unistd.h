/* SPDX-License-Identifier: MIT */
/* What WASI's <unistd.h> lacks: files have no owners. */
#ifndef WASM_POSIX_UNISTD_H
#define WASM_POSIX_UNISTD_H
#include_next <unistd.h>
#ifdef __wasi__

static inline int fchown(int file, uid_t owner, gid_t group)
{
	(void)file, (void)owner, (void)group;
	return -1;
}

#endif
#endif
