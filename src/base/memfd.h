/* SPDX-License-Identifier: MIT */
/* A file in memory, without a name in any folder. */
#ifndef BASE_MEMFD_H
#define BASE_MEMFD_H

#include <errno.h>

#ifdef __linux__
#include <linux/memfd.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* memfd_create, which C libraries before glibc 2.27 do not have; programs that
 * are started do not get it.  -1 and errno: there is none. */
static inline int gp_memfd(const char *name)
{
#ifdef __linux__
	return (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC);
#else
	(void)name;
	errno = ENOSYS;
	return -1;
#endif
}

#endif
