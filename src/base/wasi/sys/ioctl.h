/* SPDX-License-Identifier: MIT */
/* The parts of <sys/ioctl.h> that the program uses; there is no terminal. */
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
