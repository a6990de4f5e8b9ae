/* SPDX-License-Identifier: MIT */
/*
 * Prices: what the calls of a device take, in microseconds, as data.
 *
 * A price is a point: a call, a size, a time, and who measured it.  Between two
 * points of a call the time is on the line between them; beyond the first and
 * the last it is theirs.  What a call then waits for (work that the device has
 * still to do) is no part of it.
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

/* The names are CUDA's (gp_price_call_name). */
enum gp_price_call {
	GP_PRICE_MALLOC,      /* cudaMalloc; also one that fails, at size 0 */
	GP_PRICE_FREE,	      /* cudaFree */
	GP_PRICE_RESERVE,     /* cuMemAddressReserve */
	GP_PRICE_UNRESERVE,   /* cuMemAddressFree */
	GP_PRICE_CREATE,      /* cuMemCreate, of each page */
	GP_PRICE_MAP,	      /* cuMemMap, of each page */
	GP_PRICE_ACCESS,      /* cuMemSetAccess, of each range of pages */
	GP_PRICE_UNMAP,	      /* cuMemUnmap, of each page */
	GP_PRICE_RELEASE,     /* cuMemRelease, of each page */
	GP_PRICE_SYNCHRONIZE, /* cudaDeviceSynchronize */
	GP_PRICE_CALLS,
};

const char *gp_price_call_name(enum gp_price_call call);

struct gp_price {
	enum gp_price_call call;
	uint64_t size; /* bytes */
	double us;
	const char *source; /* a sentence: which device, who measured */
};

/* Points ordered by call, then size. */
struct gp_prices {
	const char *name; /* "built in", or the file's */
	const struct gp_price *rows;
	size_t count;
	void *memory; /* owned: all of it, or NULL */
};

/* The table that ships: public measurements. */
const struct gp_prices *gp_prices_built_in(void);

/*
 * A file of prices, man/gpupool-sweep.1.  Calls that it does not list keep the
 * built-in price.  The caller destroys.
 */
enum gp_status gp_prices_read(const char *path, struct gp_prices **prices,
			      struct gp_diag *diag);
void gp_prices_destroy(struct gp_prices *prices);

/* Microseconds of one call. */
double gp_price_at(const struct gp_prices *prices, enum gp_price_call call,
		   uint64_t size);

/* Microseconds of all calls; synchronizes: struct gp_stats'
 * num_sync_all_streams. */
double gp_price_of(const struct gp_prices *prices,
		   const struct gp_device_calls *calls, int64_t synchronizes);

/* The same, to the microsecond, as reports say it. */
uint64_t gp_price_whole_us(const struct gp_prices *prices,
			   const struct gp_device_calls *calls,
			   int64_t synchronizes);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
