/* SPDX-License-Identifier: MIT */
/*
 * Timing of device calls.
 *
 * A scene is a sequence of calls with one size: allocating and freeing blocks,
 * or creating, mapping and unmapping pages. It is repeated until each of its
 * calls was made often enough. A scene ends early if the device does not
 * support it or if memory runs out because others use it.
 */
#include "device/bench.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/samples.h"
#include "device/cuda/cuda_load.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)

#define BATCH 16 /* blocks held at once */
#define SHARE 4	 /* at most a quarter of the free memory is used */

static const char *const names[] = {
	"cudaMallocAsync",	  "cudaFreeAsync",
	"cudaMallocAsync (kept)", "cudaFreeAsync (kept)",
	"cudaStreamSynchronize",  "cudaEventRecord",
	"cudaEventQuery",	  "cudaMemGetInfo",
	"cudaMalloc, refused",	  "cudaMemcpy",
	"cudaStreamWaitEvent",	  "cudaMemPoolTrimTo",
	"cudaMallocManaged",	  "cudaMemset, first touch",
};

const char *gp_bench_call_name(unsigned call)
{
	return call < GP_PRICE_CALLS
		       ? gp_price_call_name((enum gp_price_call)call)
		       : names[call - GP_PRICE_CALLS];
}

struct bench {
	const struct gp_bench_config *config;
	const struct gp_cuda *cuda;
	const struct cuda_calls *calls;
	void *stream, *event, *pool;
	struct samples samples[GP_BENCH_CALLS];
	struct gp_bench *result;
	size_t room;
	double begin;	/* of the call in progress */
	bool is_broken; /* the current scene has failed */
	/* The first call that failed unexpectedly. */
	unsigned failed_call;
	/* Of the current scene, and of the failed call. */
	uint64_t size, failed_size;
	int error;
};

static void start(struct bench *b)
{
	b->begin = b->cuda->now();
}

/* Records the call whose time start() took; true: it succeeded. */
static bool took(struct bench *b, unsigned call, int error)
{
	double end = b->cuda->now();

	if (!error) {
		samples_add(&b->samples[call], (end - b->begin) * 1e6);
		return true;
	}
	b->calls->cudaGetLastError();
	if (error == CUDA_OUT_OF_MEMORY || error == CUDA_NOT_SUPPORTED)
		return false;
	b->is_broken = true;
	if (!b->error) {
		b->failed_call = call;
		b->failed_size = b->size;
		b->error = error;
	}
	return false;
}

/* ---- scenes: one round each; false: stop ---- */

static size_t batch_of(const struct bench *b, uint64_t size)
{
	uint64_t fits = b->cuda->about.free_bytes / SHARE / size;

	return fits < BATCH ? (size_t)fits : BATCH;
}

static bool blocks(struct bench *b, uint64_t size)
{
	void *held[BATCH];
	size_t n = 0, most = batch_of(b, size);
	bool ok = most > 0;

	while (ok && n < most) {
		start(b);
		ok = took(b, GP_PRICE_MALLOC,
			  b->calls->cudaMalloc(&held[n], size));
		n += ok;
	}
	for (size_t i = 0; i < n; i++) {
		start(b);
		ok &= took(b, GP_PRICE_FREE, b->calls->cudaFree(held[i]));
	}
	return ok;
}

/* Requests more memory than there is: the failure that makes PyTorch release
 * its cache. */
static bool refused(struct bench *b, uint64_t size)
{
	void *none = NULL;
	int error;

	(void)size;
	start(b);
	error = b->calls->cudaMalloc(&none,
				     2 * (size_t)b->cuda->about.total_bytes);
	if (error && error != CUDA_OUT_OF_MEMORY)
		return took(b, GP_PRICE_MALLOC, error);
	took(b, GP_BENCH_REFUSED, 0);
	b->calls->cudaGetLastError();
	if (!error)
		b->calls->cudaFree(none);
	return error == CUDA_OUT_OF_MEMORY;
}

static bool ordered_blocks(struct bench *b, uint64_t size, unsigned take,
			   unsigned give)
{
	void *held[BATCH];
	size_t n = 0, most = batch_of(b, size);
	bool ok = most > 0 && b->pool;

	while (ok && n < most) {
		start(b);
		ok = took(b, take,
			  b->calls->cudaMallocAsync(&held[n], size, b->stream));
		n += ok;
	}
	for (size_t i = 0; i < n; i++) {
		start(b);
		ok &= took(b, give,
			   b->calls->cudaFreeAsync(held[i], b->stream));
	}
	b->calls->cudaStreamSynchronize(b->stream);
	return ok;
}

/* The pool releases all free memory at each synchronisation: CUDA's default. */
static bool async_blocks(struct bench *b, uint64_t size)
{
	return ordered_blocks(b, size, GP_BENCH_MALLOC_ASYNC,
			      GP_BENCH_FREE_ASYNC);
}

static bool kept_blocks(struct bench *b, uint64_t size)
{
	uint64_t before = 0, all = UINT64_MAX;
	const struct cuda_calls *calls = b->calls;
	bool ok;

	if (!b->pool || calls->cudaMemPoolGetAttribute(
				b->pool, CUDA_POOL_THRESHOLD, &before))
		return false;
	calls->cudaMemPoolSetAttribute(b->pool, CUDA_POOL_THRESHOLD, &all);
	ok = ordered_blocks(b, size, GP_BENCH_MALLOC_KEPT, GP_BENCH_FREE_KEPT);
	calls->cudaMemPoolSetAttribute(b->pool, CUDA_POOL_THRESHOLD, &before);
	return ok;
}

static bool addresses(struct bench *b, uint64_t size)
{
	cuda_addr at = 0;

	start(b);
	if (!took(b, GP_PRICE_RESERVE,
		  b->calls->cuMemAddressReserve(&at, size, 0, 0, 0)))
		return false;
	start(b);
	return took(b, GP_PRICE_UNRESERVE,
		    b->calls->cuMemAddressFree(at, size));
}

static bool make_pages(struct bench *b, uint64_t size, cuda_addr *handles,
		       size_t most, size_t *n)
{
	for (*n = 0; *n < most; ++*n) {
		start(b);
		if (!took(b, GP_PRICE_CREATE,
			  b->calls->cuMemCreate(&handles[*n], size, &cuda_page,
						0)))
			return false;
	}
	return true;
}

/* Maps page by page and enables access to each, as a growing segment does. */
static bool map_pages(struct bench *b, cuda_addr at, uint64_t size,
		      const cuda_addr *handles, size_t most, size_t *n)
{
	for (*n = 0; *n < most; ++*n) {
		start(b);
		if (!took(b, GP_PRICE_MAP,
			  b->calls->cuMemMap(at + *n * size, size, 0,
					     handles[*n], 0)))
			return false;
	}
	for (size_t i = 0; i < most; i++) {
		start(b);
		if (!took(b, GP_PRICE_ACCESS,
			  b->calls->cuMemSetAccess(at + i * size, size,
						   &cuda_access, 1)))
			return false;
	}
	return true;
}

static bool pages(struct bench *b, uint64_t size)
{
	cuda_addr handles[BATCH], at = 0;
	size_t most = batch_of(b, size), made, mapped = 0;
	bool ok = most &&
		  !b->calls->cuMemAddressReserve(&at, BATCH * size, 0, 0, 0);

	if (!ok)
		return false;
	ok = make_pages(b, size, handles, most, &made);
	if (ok)
		ok = map_pages(b, at, size, handles, made, &mapped);
	for (size_t i = 0; i < mapped; i++) {
		start(b);
		ok &= took(b, GP_PRICE_UNMAP,
			   b->calls->cuMemUnmap(at + i * size, size));
	}
	for (size_t i = 0; i < made; i++) {
		start(b);
		ok &= took(b, GP_PRICE_RELEASE,
			   b->calls->cuMemRelease(handles[i]));
	}
	b->calls->cuMemAddressFree(at, BATCH * size);
	return ok;
}

/* On an idle device: the cost of a synchronisation itself. */
static bool waits(struct bench *b, uint64_t size)
{
	size_t free_bytes, total;
	bool ok;

	(void)size;
	start(b);
	ok = took(b, GP_BENCH_EVENT_RECORD,
		  b->calls->cudaEventRecord(b->event, b->stream));
	start(b);
	ok &= took(b, GP_BENCH_STREAM_SYNCHRONIZE,
		   b->calls->cudaStreamSynchronize(b->stream));
	start(b);
	ok &= took(b, GP_BENCH_EVENT_QUERY, b->calls->cudaEventQuery(b->event));
	start(b);
	ok &= took(b, GP_PRICE_SYNCHRONIZE, b->calls->cudaDeviceSynchronize());
	start(b);
	ok &= took(b, GP_BENCH_MEM_GET_INFO,
		   b->calls->cudaMemGetInfo(&free_bytes, &total));
	return ok;
}

/* PyTorch's segments are 2 MiB, 20 MiB or more; its pages are 2 and 20 MiB. */
static const uint64_t block_sizes[] = { 512,	  64 * KIB, MIB,       2 * MIB,
					20 * MIB, 64 * MIB, 256 * MIB, GIB,
					4 * GIB,  16 * GIB, 0 };
static const uint64_t page_sizes[] = { 2 * MIB, 20 * MIB, 64 * MIB, 0 };
static const uint64_t reach_sizes[] = { 20 * MIB, GIB, 64 * GIB, 0 };
static const uint64_t no_size[] = { 1, 0 };

static const struct scene {
	bool (*round)(struct bench *b, uint64_t size);
	unsigned call; /* the call whose count ends the scene */
	const uint64_t *sizes;
	bool has_size;
} scenes[] = {
	{ refused, GP_BENCH_REFUSED, no_size, false },
	{ blocks, GP_PRICE_MALLOC, block_sizes, true },
	{ addresses, GP_PRICE_RESERVE, reach_sizes, true },
	{ pages, GP_PRICE_CREATE, page_sizes, true },
	{ waits, GP_PRICE_SYNCHRONIZE, no_size, false },
	{ async_blocks, GP_BENCH_MALLOC_ASYNC, block_sizes, true },
	{ kept_blocks, GP_BENCH_MALLOC_KEPT, block_sizes, true },
};

/* ---- rows ---- */

static void add_row(struct bench *b, unsigned call, uint64_t size)
{
	struct samples *samples = &b->samples[call];
	struct gp_bench *result = b->result;
	struct gp_bench_row row = {
		.call = call,
		.size = size,
		.count = (uint32_t)samples->count,
		.first_us = samples->us[0],
	};

	samples_sort(samples);
	row.p10_us = samples_at(samples, 0.1);
	row.median_us = samples_at(samples, 0.5);
	row.p90_us = samples_at(samples, 0.9);
	row.most_us = samples_at(samples, 1);
	GP_GROW(result->rows, result->count + 1, b->room);
	result->rows[result->count++] = row;
	samples_release(samples);
}

/* Releases the pool's memory, so that it does not affect the next size. */
static void run_size(struct bench *b, const struct scene *scene, uint64_t size)
{
	const struct gp_bench_config *config = b->config;
	double end = b->cuda->now() + config->row_s;
	bool more = true;

	b->size = scene->has_size ? size : 0;
	if (config->progress)
		config->progress(config->progress_arg,
				 gp_bench_call_name(scene->call), size);
	while (more && b->samples[scene->call].count < config->repeats)
		more = scene->round(b, size) && b->cuda->now() < end;
	for (unsigned call = 0; call < GP_BENCH_CALLS; call++)
		if (b->samples[call].count)
			add_row(b, call, scene->has_size ? size : 0);
	if (b->pool)
		b->calls->cudaMemPoolTrimTo(b->pool, 0);
}

static int by_call_and_size(const void *left, const void *right)
{
	const struct gp_bench_row *a = left, *b = right;

	if (a->call != b->call)
		return a->call < b->call ? -1 : 1;
	return (a->size > b->size) - (a->size < b->size);
}

/* A failed scene does not stop the others. */
static void run_scene(struct bench *b, const struct scene *scene)
{
	b->is_broken = false;
	for (const uint64_t *size = scene->sizes; *size && !b->is_broken;
	     size++)
		run_size(b, scene, *size);
}

static void run_all(struct bench *b)
{
	for (size_t i = 0; i < sizeof(scenes) / sizeof(*scenes); i++)
		run_scene(b, &scenes[i]);
	if (b->result->count)
		qsort(b->result->rows, b->result->count,
		      sizeof(*b->result->rows), by_call_and_size);
}

static enum gp_status prepare(struct bench *b, struct gp_diag *diag)
{
	const struct cuda_calls *calls = b->calls;
	int error =
		calls->cudaStreamCreateWithFlags(&b->stream, CUDA_NON_BLOCKING);

	if (error)
		return cuda_fail(b->cuda, "cudaStreamCreateWithFlags", 0, error,
				 diag);
	error = calls->cudaEventCreateWithFlags(&b->event, CUDA_NO_TIMING);
	if (error)
		return cuda_fail(b->cuda, "cudaEventCreateWithFlags", 0, error,
				 diag);
	/* Some devices have no pool. */
	if (calls->cudaDeviceGetDefaultMemPool(&b->pool, 0))
		b->pool = NULL;
	return GP_OK;
}

static void give_back(struct bench *b)
{
	if (b->event)
		b->calls->cudaEventDestroy(b->event);
	if (b->stream)
		b->calls->cudaStreamDestroy(b->stream);
	for (unsigned call = 0; call < GP_BENCH_CALLS; call++)
		samples_release(&b->samples[call]);
}

enum gp_status gp_bench_run(const struct gp_bench_config *config,
			    struct gp_bench *bench, struct gp_diag *diag)
{
	struct bench b = {
		.config = config,
		.cuda = config->cuda,
		.calls = &config->cuda->calls,
		.result = bench,
	};
	enum gp_status status = prepare(&b, diag);

	*bench = (struct gp_bench){ 0 };
	if (status == GP_OK)
		run_all(&b);
	give_back(&b);
	if (b.error)
		status = cuda_fail(b.cuda, gp_bench_call_name(b.failed_call),
				   b.failed_size, b.error, diag);
	return status;
}

void gp_bench_release(struct gp_bench *bench)
{
	free(bench->rows);
	*bench = (struct gp_bench){ 0 };
}
