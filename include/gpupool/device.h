/* SPDX-License-Identifier: MIT */
/*
 * A device: the source of an allocator's memory, and what its calls cost.
 *
 * "Out of memory" is an answer, not an error. Addresses are numbers; whether
 * there is memory behind them is up to the device. Sizes are in bytes. A device
 * may be used by one thread at a time.
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

/* Physical memory comes in units of 2 MiB. */
#define GP_DEVICE_GRAIN (UINT64_C(2) << 20)

struct gp_device;

/* The measured time of one kind of call, in microseconds of the calling
 * thread. */
struct gp_call_time {
	const char *call;
	uint64_t count;
	double total_us, p10_us, median_us, p90_us, most_us;
};

/* The settings of a pool of cudaMallocAsync. */
struct gp_pool_settings {
	/* Bytes kept at a synchronisation; GP_UNLIMITED: all. */
	uint64_t threshold;
	/* Memory freed on one stream may serve another one: follows_events, if
	 * that one has waited for the free; is_opportunistic, if the free
	 * happens to be complete already; adds_waits, after the driver has
	 * inserted a wait. */
	bool follows_events, is_opportunistic, adds_waits;
	uint64_t keep; /* bytes that empty_cache keeps in the pool */
};

/*
 * Stream-ordered memory: cudaMallocAsync and the device's pool.
 *
 * Streams are indices. When freed memory is reused is up to the driver. The
 * simulated device's pool packs blocks without gaps and serves each stream with
 * memory that others freed: a lower bound for every real pool.
 */
struct gp_pool_ops {
	void (*set)(struct gp_device *device,
		    const struct gp_pool_settings *settings);
	bool (*malloc)(struct gp_device *device, uint64_t size, uint16_t stream,
		       uint64_t *addr);
	void (*free)(struct gp_device *device, uint64_t addr, uint64_t size,
		     uint16_t stream);
	/* The stream `by` waits for all work issued so far on `stream`. */
	void (*wait)(struct gp_device *device, uint16_t stream, uint16_t by);
	void (*synchronize)(struct gp_device *device);
	/* Releases unused memory, except for `keep` bytes. */
	void (*trim)(struct gp_device *device, uint64_t keep);
	/* cudaMemPoolAttrReservedMemCurrent, -UsedMemCurrent */
	void (*usage)(struct gp_device *device, uint64_t *reserved,
		      uint64_t *used);
};

/* The recorded address of a segment: the lowest one of those that the recording
 * begins with, else the first one allocated. */
struct gp_device_place {
	uint64_t addr, size;
	bool is_window;	   /* the segment will be adopted */
	bool is_simulated; /* a simulated device placed it, as the trace
			      says */
};

/* All operations are mandatory, except for those whose comments say what NULL
 * means. The device counts its calls itself (gp_call_malloc() etc.). */
struct gp_device_ops {
	const char *name;
	/* cudaMalloc and cudaFree; false: out of memory. */
	bool (*malloc)(struct gp_device *device, uint64_t size, uint64_t *addr);
	void (*free)(struct gp_device *device, uint64_t addr, uint64_t size);
	/* Free and total bytes, as reported by cudaMemGetInfo. */
	void (*info)(struct gp_device *device, uint64_t *free_bytes,
		     uint64_t *total_bytes);
	/* Sets the bytes that others use from now on. */
	void (*set_other)(struct gp_device *device, uint64_t bytes);
	/* Reserves and releases address space without memory:
	 * cuMemAddressReserve and cuMemAddressFree. */
	bool (*reserve)(struct gp_device *device, uint64_t size,
			uint64_t *addr);
	void (*unreserve)(struct gp_device *device, uint64_t addr,
			  uint64_t size);
	/* Maps memory into reserved addresses, all of it or none: cuMemCreate
	 * and cuMemMap for each page. False: out of memory. */
	bool (*map)(struct gp_device *device, uint64_t addr, uint64_t size,
		    uint64_t page);
	void (*unmap)(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint64_t page);
	/* Adds memory that exists when a replay begins (is_mapped: in pages,
	 * not by cudaMalloc); and a reserved range of addresses. */
	void (*adopt)(struct gp_device *device, uint64_t addr, uint64_t size,
		      bool is_mapped);
	void (*adopt_range)(struct gp_device *device, uint64_t addr,
			    uint64_t size);
	void (*destroy)(struct gp_device *device);
	const struct gp_pool_ops *pool; /* NULL: it has no pool */
	/* cudaMallocManaged, which may return more memory than the device has;
	 * false: the host is out of memory. NULL: not supported. */
	bool (*managed)(struct gp_device *device, uint64_t size,
			uint64_t *addr);
	void (*managed_free)(struct gp_device *device, uint64_t addr,
			     uint64_t size);
	/* To be called before anything is adopted or allocated: memory is
	 * placed as by the driver that placed this recorded segment. NULL: the
	 * device chooses its addresses. */
	void (*place_as)(struct gp_device *device,
			 const struct gp_device_place *place);
	/* The next allocation of that size gets that address, if it is free.
	 * NULL where place_as is. */
	void (*prefer)(struct gp_device *device, uint64_t addr, uint64_t size);
	/* The operations below are for real devices only, and NULL
	 * otherwise. */
	/* The time taken by each kind of call: returns how many kinds there
	 * are, and writes as many of them as there is room for. */
	size_t (*times)(struct gp_device *device, struct gp_call_time *times,
			size_t room);
	/* fill() writes a pattern made from that seed; check() returns whether
	 * it is still intact. */
	void (*fill)(struct gp_device *device, uint64_t addr, uint64_t size,
		     uint64_t seed);
	bool (*check)(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint64_t seed);
	/* GP_OK while the device itself works. */
	enum gp_status (*health)(struct gp_device *device,
				 struct gp_diag *diag);
};

/* Calls by size class. Classes are powers of two; the first is below 2 MiB, the
 * last is unbounded. */
#define GP_CALL_CLASSES 20
struct gp_call_sizes {
	uint64_t count[GP_CALL_CLASSES], bytes[GP_CALL_CLASSES];
};

/* The number of calls made to a device, each of which takes real time. */
struct gp_device_calls {
	uint64_t malloc, malloc_failed, free;
	uint64_t reserve, unreserve;
	uint64_t map, map_failed, unmap; /* pages */
	/* cuMemSetAccess: ranges of pages mapped in one call */
	uint64_t access;
	struct gp_call_sizes malloc_sizes, free_sizes;
	struct gp_call_sizes map_sizes, unmap_sizes; /* by page size */
};

/* Counts n calls of that size. */
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
 * How close the requests came to the capacity. Values are bytes in use,
 * including those of others: after the largest granted request, and as they
 * would be after the smallest refused one. Any capacity from most_granted to
 * below least_refused gives every request the same answer. An increase of the
 * memory of others (set_other) also counts as a request, although nothing in
 * the trace fails because of it: others_short is what the first one that did
 * not fit lacked.
 *
 * Expandable segments also reserve address space in proportion to the capacity,
 * and requests depend on whether the rest of it is long enough. Any reservation
 * of at least longest_range and less than shortest_range bytes gives the same
 * answers.
 */
struct gp_device_reach {
	uint64_t most_granted;
	uint64_t least_refused; /* UINT64_MAX: nothing was refused */
	uint64_t longest_range;
	uint64_t shortest_range; /* UINT64_MAX: none was too short */
	uint64_t others_short;	 /* 0: there was room for others */
	/* One pool and stream had two reservations at once; which of them has
	 * the lower address may depend on the lengths of all reservations. */
	bool has_two_ranges;
	/* An engine asked for the device's size, so its decisions may depend on
	 * it. */
	bool is_size_told;
};

/* The bytes that an expandable segment reserves on a device of that capacity:
 * 9/8 of it, as in c10's ExpandableSegment, before rounding to whole pages. */
static inline uint64_t gp_device_range(uint64_t capacity)
{
	return capacity + capacity / 8;
}

/* The first member of every device's own struct. */
struct gp_device {
	const struct gp_device_ops *ops;
	struct gp_device_calls calls;
	struct gp_device_reach reach; /* only set by the simulated device */
};

static inline void gp_device_destroy(struct gp_device *device)
{
	if (device)
		device->ops->destroy(device);
}

/*
 * The simulated device. cudaMalloc is first fit, upward from GP_SIM_BASE +
 * ordinal * 2^40; reservations are first fit, upward from GP_SIM_RESERVE_BASE;
 * both in units of GP_DEVICE_GRAIN. Mapped pages count against the capacity.
 */
#define GP_SIM_BASE	    UINT64_C(0x700000000000)
#define GP_SIM_RESERVE_BASE UINT64_C(0x780000000000)

/* Creates a simulated device. With capacity GP_UNLIMITED it is never out of
 * memory, and info() reports GP_SIM_UNLIMITED_TOTAL. */
#define GP_SIM_UNLIMITED_TOTAL (UINT64_C(1) << 40)
struct gp_device *gp_sim_create(uint32_t ordinal, uint64_t capacity);
/* On Linux, CUDA places memory at addresses that it obtains from the system, at
 * or above this one. On Windows and WSL, and for a few segments on Linux, it
 * uses a range of its own below. */
#define GP_SYSTEM_ADDRESSES (UINT64_C(1) << 46)

/* A device that is never out of memory although info() reports `shown` bytes in
 * total, which must not be 0: for a program that asks for the size of the
 * device and should continue when it is full. */
struct gp_device *gp_sim_boundless(uint32_t ordinal, uint64_t shown);
/* Returns a copy of a simulated device in its present state. */
struct gp_device *gp_sim_copy(const struct gp_device *device);
/* Changes the capacity of a simulated device from here on. capacity is not
 * GP_UNLIMITED. */
void gp_sim_resize(struct gp_device *device, uint64_t capacity);
/* Makes cudaMalloc place memory as CUDA does on Linux: at the lowest free place
 * of its address ranges, or in a new range at the highest address that the
 * system has free; an empty range is returned to the system. Addresses decide
 * which of several equal free blocks an allocator takes. To be called before
 * the first allocation. */
void gp_sim_place_downward(struct gp_device *device);

/* ---- prices: the time that calls take, in microseconds, as data ---- */

/*
 * A price is a point: a call, a size, a time, and a source. Between two points
 * of a call the time is interpolated linearly; beyond the first and the last it
 * is constant. The time that a call then waits for pending work of the device
 * is not included.
 */

/* CUDA's calls; see gp_price_call_name(). */
enum gp_price_call {
	GP_PRICE_MALLOC,      /* cudaMalloc; one that fails counts as size 0 */
	GP_PRICE_FREE,	      /* cudaFree */
	GP_PRICE_RESERVE,     /* cuMemAddressReserve */
	GP_PRICE_UNRESERVE,   /* cuMemAddressFree */
	GP_PRICE_CREATE,      /* cuMemCreate, per page */
	GP_PRICE_MAP,	      /* cuMemMap, per page */
	GP_PRICE_ACCESS,      /* cuMemSetAccess, per range of pages */
	GP_PRICE_UNMAP,	      /* cuMemUnmap, per page */
	GP_PRICE_RELEASE,     /* cuMemRelease, per page */
	GP_PRICE_SYNCHRONIZE, /* cudaDeviceSynchronize */
	GP_PRICE_CALLS,
};

/* CUDA's name of a call, such as "cudaMalloc". */
const char *gp_price_call_name(enum gp_price_call call);

struct gp_price {
	enum gp_price_call call;
	uint64_t size; /* bytes */
	double us;
	const char *source; /* a sentence: which device, measured by whom */
};

/* Prices, sorted by call, then size. */
struct gp_prices {
	const char *name; /* "built in", or that of the file */
	const struct gp_price *rows;
	size_t count;
	void *memory; /* owned; holds all of the above; NULL: static */
};

/* The built-in table: published measurements. */
const struct gp_prices *gp_prices_built_in(void);

/*
 * Reads a file of prices; its format is in gpupool-sweep(1). Calls that it does
 * not list keep their built-in price. The caller destroys *prices.
 */
enum gp_status gp_prices_read(const char *path, struct gp_prices **prices,
			      struct gp_diag *diag);
void gp_prices_destroy(struct gp_prices *prices);

/* The time of one call, in microseconds. */
double gp_price_at(const struct gp_prices *prices, enum gp_price_call call,
		   uint64_t size);

/* The time of all calls, in microseconds. synchronizes: num_sync_all_streams of
 * struct gp_stats. */
double gp_price_of(const struct gp_prices *prices,
		   const struct gp_device_calls *calls, int64_t synchronizes);

/* The same, rounded to whole microseconds as in reports. */
uint64_t gp_price_whole_us(const struct gp_prices *prices,
			   const struct gp_device_calls *calls,
			   int64_t synchronizes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
