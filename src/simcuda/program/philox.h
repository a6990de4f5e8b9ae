/* SPDX-License-Identifier: MIT */
/*
 * The device's random numbers, as PyTorch's kernels draw them from cuRAND's
 * Philox4x32-10. They depend on the generator's seed and offset and on how many
 * threads the device runs at once.
 */
#ifndef SIMCUDA_PROGRAM_PHILOX_H
#define SIMCUDA_PROGRAM_PHILOX_H

#include <stdbool.h>
#include <stdint.h>

/* Its state before an operator draws. */
struct generator {
	bool is_known;
	uint64_t seed, offset;
	uint64_t blocks; /* of 256 threads, that the device runs at once */
};

/* The state of an at::CUDAGeneratorImpl; NULL: of the default generator of the
 * device that has the address. */
struct generator generator_read(const void *impl, uint64_t addr);

/* What a kernel makes of random words. */
enum {
	RANDOM_BITS,	     /* 32 bits, modulo a range: int64_t */
	RANDOM_WIDE_BITS,    /* 64 bits, likewise */
	RANDOM_UNIFORM,	     /* above 0, up to 1: float */
	RANDOM_WIDE_UNIFORM, /* double */
	RANDOM_NORMAL,	     /* float */
	RANDOM_WIDE_NORMAL,  /* double */
};

struct random_numbers {
	uint64_t kind, count;
	/* Elements that a thread computes side by side, from one counter or as
	 * many as needed; the rest of the last counter is unused. 0: each
	 * thread computes every n-th element, n being the number of threads. */
	uint64_t neighbours;
	bool is_alone; /* as many threads as the elements require */
	bool is_one;   /* a single thread, number `thread`, computes all */
	uint64_t thread;
	uint64_t range;
};

/* Fills `to` in the order of elements. Returns how often each thread drew four
 * words; the generator's offset advances by four times that. */
uint64_t random_numbers(const struct generator *generator,
			const struct random_numbers *numbers, void *to);

/* The mask by which FlashAttention 2 drops weights, in the order of elements
 * (dropout.h and philox.cuh of ATen's flash_attn): a matrix for each head of
 * each item of the batch. */
struct flash_weights {
	uint64_t matrices, queries, keys;
};
void random_flash(const struct generator *generator,
		  const struct flash_weights *weights, unsigned char *to);

#endif
