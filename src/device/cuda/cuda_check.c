/* SPDX-License-Identifier: MIT */
/*
 * Patterns in device memory: what a block's owner would write and read.
 *
 * All of a block is set to one byte, and windows of it to words that follow
 * from the block and the place: one at the start of each GP_DEVICE_GRAIN, and
 * one at the end.  Of two blocks that overlap one starts within the other; so
 * whoever comes second is seen where the first is read, unless it is smaller
 * than a grain and lies between two windows.
 */
#include "device/cuda/cuda_device.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define WORD   sizeof(uint64_t)
#define WINDOW (512 * WORD)
#define ROOM   (WINDOW + WORD) /* the last one has the odd bytes, too */

struct window {
	uint64_t offset, size;
};

/* Begins at a whole word, so that windows that overlap say the same. */
static uint64_t last_offset(uint64_t size)
{
	return size > WINDOW ? (size - WINDOW) / WORD * WORD : 0;
}

static uint64_t window_count(uint64_t size)
{
	uint64_t last = last_offset(size);

	return (last + GP_DEVICE_GRAIN - 1) / GP_DEVICE_GRAIN + 1;
}

static struct window window_at(uint64_t size, uint64_t index)
{
	uint64_t last = last_offset(size), offset = index * GP_DEVICE_GRAIN;

	if (offset < last)
		return (struct window){ offset, WINDOW };
	return (struct window){ last, size - last };
}

static void write_words(unsigned char *to, uint64_t seed,
			const struct window *window)
{
	for (uint64_t i = 0; i < window->size; i += WORD) {
		uint64_t place = window->offset + i, rest = window->size - i;
		uint64_t word = gp_hash64(seed ^ gp_hash64(place));

		memcpy(to + i, &word, rest < WORD ? rest : WORD);
	}
}

/* Host memory for two windows. */
static unsigned char *host_of(struct cuda_device *d)
{
	if (!d->window)
		d->window = gp_mem_alloc(2, ROOM);
	return d->window;
}

static unsigned char *real_of(const struct cuda_device *d, uint64_t addr)
{
	const struct range *range = ranges_find(&d->ranges, addr);

	if (!range)
		return NULL;
	return (unsigned char *)(uintptr_t)(range->real + (addr - range->addr));
}

void cuda_fill(struct gp_device *device, uint64_t addr, uint64_t size,
	       uint64_t seed)
{
	struct cuda_device *d = cuda_device_of(device);
	unsigned char *host = host_of(d), *real = real_of(d, addr);

	if (!real)
		return;
	cuda_note(d, GP_BENCH_COPY,
		  d->calls->cudaMemset(real, (int)(gp_hash64(seed) & 0xff),
				       size));
	for (uint64_t i = 0; i < window_count(size); i++) {
		struct window window = window_at(size, i);

		write_words(host, seed, &window);
		cuda_note(d, GP_BENCH_COPY,
			  d->calls->cudaMemcpy(real + window.offset, host,
					       window.size, CUDA_TO_DEVICE));
	}
}

bool cuda_check(struct gp_device *device, uint64_t addr, uint64_t size,
		uint64_t seed)
{
	struct cuda_device *d = cuda_device_of(device);
	unsigned char *host = host_of(d), *real = real_of(d, addr);
	bool same = real != NULL;

	for (uint64_t i = 0; same && i < window_count(size); i++) {
		struct window window = window_at(size, i);

		write_words(host, seed, &window);
		cuda_note(d, GP_BENCH_COPY,
			  d->calls->cudaMemcpy(host + ROOM,
					       real + window.offset,
					       window.size, CUDA_TO_HOST));
		same = !memcmp(host, host + ROOM, window.size);
	}
	return same;
}
