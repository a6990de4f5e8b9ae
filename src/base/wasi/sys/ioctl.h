/* SPDX-License-Identifier: MIT */
/* Of <sys/ioctl.h> what the program uses, where there is no terminal. */
#ifndef WASM_POSIX_SYS_IOCTL_H
#define WASM_POSIX_SYS_IOCTL_H
#ifdef __wasi__

struct winsize {
	unsigned short ws_row, ws_col;
};

#define TIOCGWINSZ 0

static inline int ioctl(int file, int request, ...)
{
	(void)file, (void)request;
	return -1;
}

#endif
#endif
