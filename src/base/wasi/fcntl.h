/* SPDX-License-Identifier: MIT */
/* What WASI's <fcntl.h> lacks. */
#ifndef WASM_POSIX_FCNTL_H
#define WASM_POSIX_FCNTL_H
#include_next <fcntl.h>
#ifdef __wasi__

#define F_DUPFD_CLOEXEC 1030
#ifndef AT_EACCESS
#define AT_EACCESS 0x200
#endif

#endif
#endif
