/* SPDX-License-Identifier: MIT */
/* Cubins: what the assembler says of the kernels in them. */
#ifndef SIMCUDA_PROGRAM_CUBIN_H
#define SIMCUDA_PROGRAM_CUBIN_H

#include <stdbool.h>
#include <stdint.h>

/* Handles of such are handed out: they stay where they are. */
struct kernel {
	char *name;
	int registers;	 /* of a thread */
	int local_bytes; /* of a thread: what registers have no room for */
	int parameters;	 /* 0: how many is not known */
	uint64_t wide;	 /* those of eight bytes, a bit each */
	bool has_odd_parameters; /* larger ones, or too many */
	struct kernel *next;
};

/* More of them are as good as not known. */
#define MOST_PARAMETERS 64

/* What is taken of a kernel of which nothing is known. */
#define KERNEL_REGISTERS 32

/* Adds the kernels that an image names to the list, which owns them; none, when
 * it is no cubin. */
void cubin_read(const void *image, struct kernel **kernels);

/* The kernel of that name, made if it is not there. */
struct kernel *cubin_kernel(struct kernel **kernels, const char *name);
void cubin_forget(struct kernel **kernels);

#endif
