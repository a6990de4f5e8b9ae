/* SPDX-License-Identifier: MIT */
/*
 * The random numbers of a device: those that PyTorch's kernels draw of cuRAND's
 * Philox4x32-10, by the seed and the offset of the generator and by how many
 * threads the device has at once.
 */
#ifndef SIMCUDA_PROGRAM_PHILOX_H
#define SIMCUDA_PROGRAM_PHILOX_H

#include <stdbool.h>
#include <stdint.h>

/* As it is before an operator draws. */
struct generator {
	bool is_known;
	uint64_t seed, offset;
	uint64_t blocks; /* of 256 threads, that a device has at once */
};

/* Of an at::CUDAGeneratorImpl; NULL: that of the device with the address. */
struct generator generator_read(const void *impl, uint64_t addr);

/* What a kernel makes of numbers. */
enum {
	RANDOM_BITS,	     /* of 32 bits, modulo a range: int64_t */
	RANDOM_WIDE_BITS,    /* of 64 bits, likewise */
	RANDOM_UNIFORM,	     /* above 0 to 1: float */
	RANDOM_WIDE_UNIFORM, /* double */
	RANDOM_NORMAL,	     /* float */
	RANDOM_WIDE_NORMAL,  /* double */
};

struct random_numbers {
	uint64_t kind, count;
	/* A thread takes so many elements side by side, of one counter or of as
	 * many as they want, and leaves the rest; 0: it takes every so manyth,
	 * as many as there are threads. */
	uint64_t neighbours;
	bool is_alone; /* as many threads as elements want */
	bool is_one;   /* one thread takes all, one after the other: this */
	uint64_t thread;
	uint64_t range;
};

/* In the order of elements.  How often each thread took four numbers: so many
 * times four the generator's offset is behind. */
uint64_t random_numbers(const struct generator *generator,
			const struct random_numbers *numbers, void *to);

/* What FlashAttention 2 drops weights by, bytes in the order of elements
 * (dropout.h and philox.cuh of ATen's flash_attn): of each head of each of a
 * batch there is a matrix. */
struct flash_weights {
	uint64_t matrices, queries, keys;
};
void random_flash(const struct generator *generator,
		  const struct flash_weights *weights, unsigned char *to);

#endif
