/* SPDX-License-Identifier: MIT */
/* Cubins: the resources that the assembler recorded for each kernel. */
#ifndef SIMCUDA_PROGRAM_CUBIN_H
#define SIMCUDA_PROGRAM_CUBIN_H

#include <stdbool.h>
#include <stdint.h>

/* Pointers to it are given out as handles, so it is never moved. */
struct kernel {
	char *name;
	int registers;		 /* per thread */
	int local_bytes;	 /* per thread: spilled from registers */
	int parameters;		 /* 0: their number is not known */
	uint64_t wide;		 /* bit set of the parameters of eight bytes */
	bool has_odd_parameters; /* larger ones, or too many */
	struct kernel *next;
};

/* A kernel with more parameters is treated as one whose parameters are unknown.
 */
#define MOST_PARAMETERS 64

/* Assumed of a kernel about which nothing is known. */
#define KERNEL_REGISTERS 32

/* Adds the kernels that an image names to the list, which owns them. Adds none
 * if it is not a cubin. */
void cubin_read(const void *image, struct kernel **kernels);

/* The kernel of that name; created if needed. */
struct kernel *cubin_kernel(struct kernel **kernels, const char *name);
void cubin_forget(struct kernel **kernels);

#endif
