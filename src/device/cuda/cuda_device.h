/* SPDX-License-Identifier: MIT */
/* The device with real memory, for the files it is made of. */
#ifndef DEVICE_CUDA_CUDA_DEVICE_H
#define DEVICE_CUDA_CUDA_DEVICE_H

#include "device/cuda/cuda.h"
#include "device/cuda/ranges.h"
#include "base/samples.h"
#include "device/bench.h"

struct cuda_device {
	struct gp_device device;
	struct gp_cuda *cuda;
	const struct cuda_calls *calls;
	struct gp_device *plan; /* the simulated one, which chooses addresses */
	struct ranges ranges;
	struct samples times[GP_BENCH_CALLS];
	double begin; /* of the call under way */
	/* The first call that failed and should not have. */
	unsigned failed_call;
	int error;
	uint64_t asked, failed_asked; /* bytes, of the call under way */
	unsigned char *window;	      /* host memory for patterns; or NULL */
	void **streams;		      /* by index; NULL: not made yet */
	size_t stream_room;
	void *event, *pool; /* NULL: not used */
	uint64_t pool_threshold;
	int pool_flags[3]; /* as found */
};

static inline struct cuda_device *cuda_device_of(struct gp_device *device)
{
	return (struct cuda_device *)device;
}

/* Around each call: when it began, for how many bytes or 0; then, what it
 * answered. */
void cuda_begin(struct cuda_device *d, uint64_t asked);
/* false: it failed.  Out of memory is an answer, all else is noted. */
bool cuda_took(struct cuda_device *d, unsigned call, int error);
/* The same of a call that is not timed. */
bool cuda_note(struct cuda_device *d, unsigned call, int error);

/* struct gp_device_ops's, of address space and pages. */
bool cuda_reserve(struct gp_device *device, uint64_t size, uint64_t *addr);
void cuda_unreserve(struct gp_device *device, uint64_t addr, uint64_t size);
bool cuda_map(struct gp_device *device, uint64_t addr, uint64_t size,
	      uint64_t page);
void cuda_unmap(struct gp_device *device, uint64_t addr, uint64_t size,
		uint64_t page);
/* Pages where nobody reserved any: those of a start state. */
bool cuda_map_anew(struct cuda_device *d, uint64_t addr, uint64_t size);
/* Unmaps what is mapped there, and gives the addresses back. */
void cuda_drop_pages(struct cuda_device *d, struct range *range);

extern const struct gp_pool_ops cuda_pool_ops;
bool cuda_managed(struct gp_device *device, uint64_t size, uint64_t *addr);
void cuda_managed_free(struct gp_device *device, uint64_t addr, uint64_t size);
/* Leaves the pool as it was found. */
void cuda_pool_end(struct cuda_device *d);

void cuda_fill(struct gp_device *device, uint64_t addr, uint64_t size,
	       uint64_t seed);
bool cuda_check(struct gp_device *device, uint64_t addr, uint64_t size,
		uint64_t seed);

#endif
