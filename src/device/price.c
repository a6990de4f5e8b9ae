/* SPDX-License-Identifier: MIT */
/*
 * Prices of device calls: the built-in ones, and those of a file: {"format":
 * "gpupool-prices", ...}.
 *
 * The built-in prices are from public measurements. They serve to rank
 * settings, and predict the times of no particular machine; --prices reads the
 * prices of one.
 */
#include "gpupool/device.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/mem.h"

/* ---- built-in prices ---- */

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

#define VMM                                                                    \
	"A100, 4096 pages of 2 MiB, mean: "                                    \
	"github.com/magnate3/linux-riscv-dev, nccl/gpu/shm/bench_vmm"
#define PAIR                                                                   \
	"half of the 31.2 ms that allocating and freeing 1 GiB takes "         \
	"without a pool: github.com/vortex-data/vortex/pull/7831"

static const struct gp_price shipped_rows[] = {
	{ GP_PRICE_MALLOC, MIB / 2, 50,
	  "about 50 us for each size from 4 KiB to 512 KiB: University of "
	  "Virginia, cs.virginia.edu/~mwb7w/cuda_support" },
	{ GP_PRICE_MALLOC, GIB, 15600, PAIR },
	{ GP_PRICE_FREE, 0, 14,
	  "at most: cudaMalloc, launch and cudaFree of a few bytes together, "
	  "RTX 2080 Ti: github.com/Cytnx-dev/Cytnx/pull/850" },
	{ GP_PRICE_FREE, GIB, 15600, PAIR },
	{ GP_PRICE_RESERVE, 0, 19,
	  "8 GB reserved on an A100: "
	  "github.com/magnate3/linux-riscv-dev, nccl/gpu/shm/bench_vmm" },
	{ GP_PRICE_UNRESERVE, 0, 0, "no public measurement: left out" },
	{ GP_PRICE_CREATE, 2 * MIB, 193.32, VMM },
	{ GP_PRICE_MAP, 2 * MIB, 1.45, VMM },
	{ GP_PRICE_ACCESS, 0, 35.99, VMM },
	{ GP_PRICE_UNMAP, 2 * MIB, 25.63, VMM },
	{ GP_PRICE_RELEASE, 0, 0, "no public measurement: left out" },
	{ GP_PRICE_SYNCHRONIZE, 0, 0,
	  "waits for pending work of the device, which no trace records: left "
	  "out" },
};

static const struct gp_prices shipped = {
	.name = "built in",
	.rows = shipped_rows,
	.count = sizeof(shipped_rows) / sizeof(*shipped_rows),
};

const struct gp_prices *gp_prices_built_in(void)
{
	return &shipped;
}

/* ---- prices from a file ---- */

/* Limits that no real table exceeds. */
#define MOST_BYTES (1 << 20)
#define MOST_US	   1e9

struct price_list {
	/* Must be first: the caller has a pointer to it. */
	struct gp_prices prices;
	struct gp_arena arena;
	struct gp_price *rows;
	size_t room;
	bool is_given[GP_PRICE_CALLS];
};

static char *keep(struct price_list *all, const char *text)
{
	return gp_arena_text(&all->arena, text, strlen(text));
}

static void add(struct price_list *all, const struct gp_price *row)
{
	struct gp_prices *prices = &all->prices;

	GP_GROW(all->rows, prices->count + 1, all->room);
	all->rows[prices->count++] = *row;
}

static enum gp_status find_call(const char *name, enum gp_price_call *call,
				struct gp_diag *diag)
{
	for (unsigned i = 0; name && i < GP_PRICE_CALLS; i++)
		if (!strcmp(gp_price_call_name(i), name)) {
			*call = i;
			return GP_OK;
		}
	gp_diag_hint(diag, "for example: cudaMalloc, cudaFree, cuMemCreate, "
			   "cuMemMap, cuMemSetAccess, cuMemUnmap");
	return gp_diag_set(diag, GP_INPUT, "\"call\" is %s%.60s",
			   name ? "not a call with a price: " : "missing",
			   name ? name : "");
}

static enum gp_status read_row(struct price_list *all, const json_t *object,
			       struct gp_diag *diag)
{
	const json_t *size = json_object_get(object, "size");
	const json_t *us = json_object_get(object, "us");
	const char *source =
		json_string_value(json_object_get(object, "source"));
	struct gp_price row = { .us = json_number_value(us) };

	if (find_call(json_string_value(json_object_get(object, "call")),
		      &row.call, diag) != GP_OK)
		return GP_INPUT;
	if (size && (!json_is_integer(size) || json_integer_value(size) < 0))
		return gp_diag_set(diag, GP_INPUT,
				   "\"size\" is not a number of bytes");
	if (!json_is_number(us) || !(row.us >= 0 && row.us <= MOST_US))
		return gp_diag_set(diag, GP_INPUT,
				   "\"us\" is not a time in microseconds");
	row.size = (uint64_t)json_integer_value(size);
	row.source = source ? keep(all, source) : all->prices.name;
	all->is_given[row.call] = true;
	add(all, &row);
	return GP_OK;
}

static enum gp_status read_rows(struct price_list *all, const json_t *root,
				struct gp_diag *diag)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	const json_t *list = json_object_get(root, "prices");

	if (!format || strcmp(format, "gpupool-prices") != 0)
		return gp_diag_set(diag, GP_INPUT,
				   "\"format\" is not \"gpupool-prices\"");
	if (json_integer_value(json_object_get(root, "version")) != 1)
		return gp_diag_set(diag, GP_INPUT, "\"version\" is not 1");
	if (!json_is_array(list))
		return gp_diag_set(diag, GP_INPUT, "\"prices\" is not a list");
	for (size_t i = 0; i < json_array_size(list); i++)
		if (read_row(all, json_array_get(list, i), diag) != GP_OK) {
			gp_diag_record(diag, "price %zu", i + 1);
			return GP_INPUT;
		}
	return GP_OK;
}

static void add_missing(struct price_list *all)
{
	const struct gp_prices *built_in = gp_prices_built_in();

	for (size_t i = 0; i < built_in->count; i++)
		if (!all->is_given[built_in->rows[i].call])
			add(all, &built_in->rows[i]);
}

static int by_call_and_size(const void *left, const void *right)
{
	const struct gp_price *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

static enum gp_status sort(struct price_list *all, struct gp_diag *diag)
{
	const struct gp_price *rows = all->rows;

	qsort(all->rows, all->prices.count, sizeof(*rows), by_call_and_size);
	for (size_t i = 1; i < all->prices.count; i++)
		if (!by_call_and_size(&rows[i - 1], &rows[i]))
			return gp_diag_set(diag, GP_INPUT,
					   "%s of %llu bytes has two prices",
					   gp_price_call_name(rows[i].call),
					   (unsigned long long)rows[i].size);
	return GP_OK;
}

static enum gp_status load(const char *path, json_t **root,
			   struct gp_diag *diag)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	int error = file ? gp_file_load(file, MOST_BYTES, &text, &size) : errno;
	enum gp_status status = GP_OK;
	json_error_t problem;

	if (file)
		fclose(file);
	if (error)
		return gp_diag_set(diag, gp_file_status(error), "%s",
				   strerror(error));
	if (size > MOST_BYTES)
		status = gp_diag_set(diag, GP_INPUT,
				     "too large for a list of prices");
	else if (!(*root = json_loadb(text, size, JSON_REJECT_DUPLICATES,
				      &problem))) {
		gp_diag_record(diag, "line %d", problem.line);
		status = gp_diag_set(diag, GP_INPUT, "%s", problem.text);
	}
	free(text);
	return status;
}

enum gp_status gp_prices_read(const char *path, struct gp_prices **prices,
			      struct gp_diag *diag)
{
	struct price_list *all = gp_mem_alloc(1, sizeof(*all));
	json_t *root = NULL;
	enum gp_status status = load(path, &root, diag);

	all->prices.memory = all;
	all->prices.name = keep(all, path);
	if (status == GP_OK)
		status = read_rows(all, root, diag);
	if (status == GP_OK) {
		add_missing(all);
		status = sort(all, diag);
	}
	all->prices.rows = all->rows;
	json_decref(root);
	if (status == GP_OK) {
		*prices = &all->prices;
		return GP_OK;
	}
	gp_diag_file(diag, path);
	gp_prices_destroy(&all->prices);
	return status;
}

void gp_prices_destroy(struct gp_prices *prices)
{
	struct price_list *all = prices ? prices->memory : NULL;

	if (!all)
		return;
	free(all->rows);
	gp_arena_release(&all->arena);
	free(all);
}

/* ---- the cost of calls ---- */

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

/* Linear interpolation between a and b. */
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

/* Assumes that all calls of a size class have the mean size: exact if no point
 * of the price lies within the class. */
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
