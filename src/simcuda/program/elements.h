/* SPDX-License-Identifier: MIT */
/* Sums and the like, as collectives compute them, of elements in ncclDataType_t
 * by ncclRedOp_t. */
#ifndef SIMCUDA_PROGRAM_ELEMENTS_H
#define SIMCUDA_PROGRAM_ELEMENTS_H

#include <stddef.h>

/* 0: not a type that is known. */
size_t elements_bytes(int type);

/* sum[i] = sum[i] op with[i] */
void elements_reduce(void *sum, const void *with, size_t count, int type,
		     int op);
/* What is left to do once all are in: an average is a sum by then. */
void elements_finish(void *sum, size_t count, int type, int op, int ranks);

#endif
