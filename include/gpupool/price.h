/* SPDX-License-Identifier: MIT */
/*
 * Prices: the time that calls of a device take, in microseconds, as data.
 *
 * A price is a point: a call, a size, a time, and a source. Between two points
 * of a call the time is interpolated linearly; beyond the first and the last it
 * is constant. The time that a call then waits for pending work of the device
 * is not included.
 */
#ifndef GPUPOOL_PRICE_H
#define GPUPOOL_PRICE_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/device.h"
#include "gpupool/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

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
