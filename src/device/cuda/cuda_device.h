/* SPDX-License-Identifier: MIT */
/* A loaded CUDA runtime, and the device with real memory, for the files they
 * are made of. */
#ifndef DEVICE_CUDA_CUDA_DEVICE_H
#define DEVICE_CUDA_CUDA_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/samples.h"
#include "device/bench.h"
#include "device/cuda.h"
#include "device/cuda/cuda_calls.h"

/* ---- the runtime ---- */

struct gp_cuda {
	struct cuda_calls calls;
	struct gp_cuda_about about;
	double (*now)(void);
	bool is_too_new;    /* for the driver */
	void *libraries[3]; /* of dlopen: runtime, driver, NVML; or NULL */
};

/* Device memory of the first device, as cuMemCreate wants it described. */
extern const struct cuda_allocation cuda_page;
extern const struct cuda_access cuda_access;

/* GP_SYSTEM, with what CUDA says to that error of a call for so many bytes; 0:
 * they do not matter. */
enum gp_status cuda_fail(const struct gp_cuda *cuda, const char *call,
			 uint64_t bytes, int error, struct gp_diag *diag);

/* ---- ranges ---- */

/*
 * What stands behind addresses: ranges that do not overlap, found by any
 * address within.
 */

/* A page of a reservation; size 0: none begins here. */
struct page {
	cuda_addr handle;
	uint64_t size;
};

struct range {
	uint64_t addr, size; /* as the engine knows them */
	cuda_addr real;
	struct page *pages; /* one each GP_DEVICE_GRAIN; NULL: a block */
	bool is_pooled;	    /* cudaMallocAsync's */
};

struct ranges {
	struct range *items; /* by address */
	size_t count, room;
};

/* The one that holds the address, or NULL; until the next change. */
struct range *ranges_find(const struct ranges *ranges, uint64_t addr);
void ranges_add(struct ranges *ranges, const struct range *range);
void ranges_remove(struct ranges *ranges, const struct range *range);

/* ---- the device ---- */

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
