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
	uint64_t range;
};

/* In the order of elements. */
void random_numbers(const struct generator *generator,
		    const struct random_numbers *numbers, void *to);

/* Of one thread, one after the other, 32 bits each. */
void random_of_thread(const struct generator *generator, uint64_t thread,
		      uint64_t count, uint32_t *to);

/* What attention drops weights by, in the order of elements. */
struct attention_weights {
	/* FlashAttention 2 goes by bytes (dropout.h and philox.cuh of ATen's
	 * flash_attn), the kernel that saves memory by float, above 0 to 1
	 * (kernel_forward.h of its mem_eff_attention). */
	bool is_flash;
	/* Of each head of each of a batch there is a matrix. */
	uint64_t matrices, queries, keys;
};
void random_attention(const struct generator *generator,
		      const struct attention_weights *weights, void *to);

#endif
