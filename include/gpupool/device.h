/* SPDX-License-Identifier: MIT */
/*
 * A device: where an allocator gets its memory.
 *
 * "Out of memory" is an answer, not an error.  Addresses are numbers; whether
 * anything stands behind them is the device's affair.  Sizes are bytes.
 */
#ifndef GPUPOOL_DEVICE_H
#define GPUPOOL_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define GP_DEVICE_GRAIN                                                        \
	(UINT64_C(2) << 20) /* physical memory comes in 2 MiB                  \
			     */

struct gp_device;

/* What calls of a kind took, measured: microseconds of the caller. */
struct gp_call_time {
	const char *call;
	uint64_t count;
	double total_us, p10_us, median_us, p90_us, most_us;
};

/* What a pool of cudaMallocAsync is told. */
struct gp_pool_settings {
	uint64_t threshold; /* bytes kept when somebody waits; GP_UNLIMITED */
	/* Memory freed on one stream serves another that waited for it; that
	 * happens to be done; with a wait put in between. */
	bool follows_events, is_opportunistic, adds_waits;
	uint64_t keep; /* bytes that empty_cache leaves in the pool */
};

/*
 * Memory in the order of streams: cudaMallocAsync and the device's pool.
 *
 * Streams are indices; what is freed may be used again, by the driver's own
 * lights.  The simulated device has a pool that packs without a gap and serves
 * each stream with what another one freed: no pool can do with less.
 */
struct gp_pool_ops {
	void (*set)(struct gp_device *device,
		    const struct gp_pool_settings *settings);
	bool (*malloc)(struct gp_device *device, uint64_t size, uint16_t stream,
		       uint64_t *addr);
	void (*free)(struct gp_device *device, uint64_t addr, uint64_t size,
		     uint16_t stream);
	/* What is freed by a stream from here on comes behind what was issued
	 * on the other one. */
	void (*wait)(struct gp_device *device, uint16_t stream, uint16_t by);
	void (*synchronize)(struct gp_device *device);
	/* All but so many bytes of what is not used goes back. */
	void (*trim)(struct gp_device *device, uint64_t keep);
	/* cudaMemPoolAttrReservedMemCurrent, -UsedMemCurrent */
	void (*usage)(struct gp_device *device, uint64_t *reserved,
		      uint64_t *used);
};

struct gp_device_ops {
	const char *name;
	/* cudaMalloc, cudaFree: false is out of memory. */
	bool (*malloc)(struct gp_device *device, uint64_t size, uint64_t *addr);
	void (*free)(struct gp_device *device, uint64_t addr, uint64_t size);
	/* Free and total bytes, as cudaMemGetInfo answers. */
	void (*info)(struct gp_device *device, uint64_t *free_bytes,
		     uint64_t *total_bytes);
	/* Bytes that others use from here on. */
	void (*set_other)(struct gp_device *device, uint64_t bytes);
	/* Address space without memory: cuMemAddressReserve, -Free. */
	bool (*reserve)(struct gp_device *device, uint64_t size,
			uint64_t *addr);
	void (*unreserve)(struct gp_device *device, uint64_t addr,
			  uint64_t size);
	/* Memory for reserved addresses, all of it or none: cuMemCreate and
	 * cuMemMap for each page. */
	bool (*map)(struct gp_device *device, uint64_t addr, uint64_t size,
		    uint64_t page);
	void (*unmap)(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint64_t page);
	/* Memory, and reserved addresses, that are there when a replay begins.
	 */
	void (*adopt)(struct gp_device *device, uint64_t addr, uint64_t size,
		      bool is_mapped);
	void (*adopt_range)(struct gp_device *device, uint64_t addr,
			    uint64_t size);
	void (*destroy)(struct gp_device *device);
	const struct gp_pool_ops *pool; /* NULL: there is none */
	/* cudaMallocManaged, which may have more than the device; false is out
	 * of memory of the machine.  NULL: there is none. */
	bool (*managed)(struct gp_device *device, uint64_t size,
			uint64_t *addr);
	void (*managed_free)(struct gp_device *device, uint64_t addr,
			     uint64_t size);
	/* Those below are of devices that are there: NULL for the others. */
	/* What calls took, by name; returns how many there are, and writes as
	 * many as there is room for. */
	size_t (*times)(struct gp_device *device, struct gp_call_time *times,
			size_t room);
	/* Writes a pattern of that seed there; whether it still stands. */
	void (*fill)(struct gp_device *device, uint64_t addr, uint64_t size,
		     uint64_t seed);
	bool (*check)(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint64_t seed);
	/* Whether the device itself still works. */
	enum gp_status (*health)(struct gp_device *device,
				 struct gp_diag *diag);
};

/* Calls by size, in classes of powers of two: the first is below 2 MiB, the
 * last has no end. */
#define GP_CALL_CLASSES 20
struct gp_call_sizes {
	uint64_t count[GP_CALL_CLASSES], bytes[GP_CALL_CLASSES];
};

/* What was asked of a device; each is a call that takes real time. */
struct gp_device_calls {
	uint64_t malloc, malloc_failed, free;
	uint64_t reserve, unreserve;
	uint64_t map, map_failed, unmap; /* pages */
	uint64_t access;		 /* ranges of pages, mapped at once */
	struct gp_call_sizes malloc_sizes, free_sizes;
	struct gp_call_sizes map_sizes, unmap_sizes; /* by size of a page */
};

/* n calls of that size. */
static inline void gp_call_count(struct gp_call_sizes *sizes, uint64_t size,
				 uint64_t n)
{
	unsigned bin = 0;

	for (uint64_t rest = size / GP_DEVICE_GRAIN;
	     rest && bin < GP_CALL_CLASSES - 1; rest /= 2)
		bin++;
	sizes->count[bin] += n;
	sizes->bytes[bin] += n * size;
}

static inline void gp_call_malloc(struct gp_device_calls *calls, uint64_t size)
{
	calls->malloc++;
	gp_call_count(&calls->malloc_sizes, size, 1);
}

static inline void gp_call_free(struct gp_device_calls *calls, uint64_t size)
{
	calls->free++;
	gp_call_count(&calls->free_sizes, size, 1);
}

static inline void gp_call_map(struct gp_device_calls *calls, uint64_t size,
			       uint64_t page)
{
	calls->map += size / page;
	calls->access++;
	gp_call_count(&calls->map_sizes, page, size / page);
}

static inline void gp_call_unmap(struct gp_device_calls *calls, uint64_t size,
				 uint64_t page)
{
	calls->unmap += size / page;
	gp_call_count(&calls->unmap_sizes, page, size / page);
}

/*
 * How near the answers came to the capacity, in bytes in use with others'
 * counted: what the largest granted request brought it to, and what the
 * smallest refused one would have.  Any capacity from most_granted to below
 * least_refused gives every request the same answer.  What others take more
 * (set_other) is a request, too, which nothing in the trace tells to fail:
 * others_short is what the first that there was no room for lacked.
 *
 * Expandable segments also reserve addresses by the capacity, and a request
 * asks whether what is left of them is long enough: any reservation of at least
 * longest_range and below shortest_range bytes gives the same answers.
 */
struct gp_device_reach {
	uint64_t most_granted;
	uint64_t least_refused; /* UINT64_MAX: nothing was refused */
	uint64_t longest_range;
	uint64_t shortest_range; /* UINT64_MAX: none was too short */
	uint64_t others_short;	 /* 0: others had room */
};

/* Bytes that an expandable segment reserves on a device of that capacity: 9/8
 * of it, as c10's ExpandableSegment does, before whole pages. */
static inline uint64_t gp_device_range(uint64_t capacity)
{
	return capacity + capacity / 8;
}

/* The head of every device. */
struct gp_device {
	const struct gp_device_ops *ops;
	struct gp_device_calls calls;
	struct gp_device_reach reach; /* of the simulated one */
};

static inline void gp_device_destroy(struct gp_device *device)
{
	if (device)
		device->ops->destroy(device);
}

/*
 * The simulated device.  cudaMalloc is first fit upward from GP_SIM_BASE +
 * ordinal * 2^40, reservations are first fit upward from GP_SIM_RESERVE_BASE,
 * both in units of GP_DEVICE_GRAIN; pages come out of the capacity.
 */
#define GP_SIM_BASE	    UINT64_C(0x700000000000)
#define GP_SIM_RESERVE_BASE UINT64_C(0x780000000000)

/* capacity GP_UNLIMITED: never out of memory; info then tells
 * GP_SIM_UNLIMITED_TOTAL. */
#define GP_SIM_UNLIMITED_TOTAL (UINT64_C(1) << 40)
struct gp_device *gp_sim_create(uint32_t ordinal, uint64_t capacity);
/* Never out of memory, whatever total info shows, which is not 0: for a program
 * that asks how large the device is, and is to go on where it is full. */
struct gp_device *gp_sim_boundless(uint32_t ordinal, uint64_t shown);
/* Before its first allocation: cudaMalloc places memory as CUDA does on Linux,
 * in the lowest room of the ranges of addresses that it has, or in a new one as
 * high as the system has room; one that is empty goes back to the system. Which
 * of equal free blocks an allocator takes hangs on it. */
void gp_sim_place_downward(struct gp_device *device);
/* Whether the first allocation of such a device was placed here. */
bool gp_sim_was_downward(uint64_t addr, uint64_t size);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
