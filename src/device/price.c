/* SPDX-License-Identifier: MIT */
/* Prices: what the calls of a device take. */
#include "gpupool/price.h"

#include <math.h>

static const char *const names[GP_PRICE_CALLS] = {
	[GP_PRICE_MALLOC] = "cudaMalloc",
	[GP_PRICE_FREE] = "cudaFree",
	[GP_PRICE_RESERVE] = "cuMemAddressReserve",
	[GP_PRICE_UNRESERVE] = "cuMemAddressFree",
	[GP_PRICE_CREATE] = "cuMemCreate",
	[GP_PRICE_MAP] = "cuMemMap",
	[GP_PRICE_ACCESS] = "cuMemSetAccess",
	[GP_PRICE_UNMAP] = "cuMemUnmap",
	[GP_PRICE_RELEASE] = "cuMemRelease",
	[GP_PRICE_SYNCHRONIZE] = "cudaDeviceSynchronize",
};

const char *gp_price_call_name(enum gp_price_call call)
{
	return names[call];
}

/* On the line from a to b. */
static double between(const struct gp_price *a, const struct gp_price *b,
		      uint64_t size)
{
	double share = (double)(size - a->size) / (double)(b->size - a->size);

	return a->us + share * (b->us - a->us);
}

double gp_price_at(const struct gp_prices *prices, enum gp_price_call call,
		   uint64_t size)
{
	const struct gp_price *below = NULL;

	for (size_t i = 0; i < prices->count; i++) {
		const struct gp_price *row = &prices->rows[i];

		if (row->call != call)
			continue;
		if (row->size > size)
			return below ? between(below, row, size) : row->us;
		below = row;
	}
	return below ? below->us : 0;
}

/* Calls of a class are taken to be of its mean size: right to the digit where
 * no point lies within the class. */
static double of_sizes(const struct gp_prices *prices, enum gp_price_call call,
		       const struct gp_call_sizes *sizes)
{
	double us = 0;

	for (unsigned i = 0; i < GP_CALL_CLASSES; i++)
		if (sizes->count[i])
			us += (double)sizes->count[i] *
			      gp_price_at(prices, call,
					  sizes->bytes[i] / sizes->count[i]);
	return us;
}

static double of_count(const struct gp_prices *prices, enum gp_price_call call,
		       uint64_t count)
{
	return (double)count * gp_price_at(prices, call, 0);
}

double gp_price_of(const struct gp_prices *prices,
		   const struct gp_device_calls *calls, int64_t synchronizes)
{
	const struct gp_call_sizes *map = &calls->map_sizes;
	const struct gp_call_sizes *unmap = &calls->unmap_sizes;
	uint64_t waits = synchronizes > 0 ? (uint64_t)synchronizes : 0;

	return of_sizes(prices, GP_PRICE_MALLOC, &calls->malloc_sizes) +
	       of_count(prices, GP_PRICE_MALLOC, calls->malloc_failed) +
	       of_sizes(prices, GP_PRICE_FREE, &calls->free_sizes) +
	       of_count(prices, GP_PRICE_RESERVE, calls->reserve) +
	       of_count(prices, GP_PRICE_UNRESERVE, calls->unreserve) +
	       of_sizes(prices, GP_PRICE_CREATE, map) +
	       of_count(prices, GP_PRICE_CREATE, calls->map_failed) +
	       of_sizes(prices, GP_PRICE_MAP, map) +
	       of_count(prices, GP_PRICE_ACCESS, calls->access) +
	       of_sizes(prices, GP_PRICE_UNMAP, unmap) +
	       of_sizes(prices, GP_PRICE_RELEASE, unmap) +
	       of_count(prices, GP_PRICE_SYNCHRONIZE, waits);
}

uint64_t gp_price_whole_us(const struct gp_prices *prices,
			   const struct gp_device_calls *calls,
			   int64_t synchronizes)
{
	return (uint64_t)llround(gp_price_of(prices, calls, synchronizes));
}
