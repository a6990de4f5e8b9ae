/* SPDX-License-Identifier: MIT */
/* The reductions that collectives compute, for elements of an ncclDataType_t
 * and an ncclRedOp_t. */
#ifndef SIMCUDA_PROGRAM_ELEMENTS_H
#define SIMCUDA_PROGRAM_ELEMENTS_H

#include <stddef.h>

/* 0: an unknown type. */
size_t elements_bytes(int type);

/* sum[i] = sum[i] op with[i] */
void elements_reduce(void *sum, const void *with, size_t count, int type,
		     int op);
/* The last step, when all parts are combined: turns a sum into an average. */
void elements_finish(void *sum, size_t count, int type, int op, int ranks);

#endif
