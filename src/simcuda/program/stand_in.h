/*
 * Calls that nothing here knows: libraries that gpupool record writes (src/
 * record) lead every symbol that PyTorch's libraries want of CUDA's, and that
 * is not defined here, to one function, which answers success.
 */
#ifndef SIMCUDA_PROGRAM_STAND_IN_H
#define SIMCUDA_PROGRAM_STAND_IN_H

#include <stdint.h>

/* name is the call's, and the same pointer each time. */
uint64_t simcuda_stand_in(void **first_argument, const char *name);

/* Calls that were answered this way, in the order they were first made: the
 * index-th name, or NULL; how often. */
const char *stand_in_called(uint32_t index, uint64_t *calls);

#endif
