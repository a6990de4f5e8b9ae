/* SPDX-License-Identifier: MIT */
/*
 * cudaMallocAsync on the device's default pool, and cudaMallocManaged.
 *
 * The pool of the simulated device beside it holds a capacity that was asked
 * for; what the device's own pool has reserved and uses is read from its
 * attributes.  Managed memory has no pages before somebody touches it, so each
 * block is set to zero on the device: if it is too full, others move out.
 */
#include "device/cuda/cuda_device.h"

#include "base/mem.h"

static void *pointer_of(cuda_addr addr)
{
	return (void *)(uintptr_t)addr;
}

/* The trace's first stream is CUDA's default one; the others are made when they
 * are first used. */
static void *stream_of(struct cuda_device *d, uint16_t index)
{
	size_t before = d->stream_room;

	if (!index)
		return NULL;
	d->streams = gp_mem_grow(d->streams, &d->stream_room, index + (size_t)1,
				 sizeof(*d->streams));
	for (size_t i = before; i < d->stream_room; i++)
		d->streams[i] = NULL;
	if (!d->streams[index])
		cuda_note(d, GP_BENCH_STREAM_WAIT,
			  d->calls->cudaStreamCreateWithFlags(
				  &d->streams[index], CUDA_NON_BLOCKING));
	return d->streams[index];
}

/* ---- the pool ---- */

static const int attributes[] = { CUDA_POOL_FOLLOW_EVENTS,
				  CUDA_POOL_OPPORTUNISTIC, CUDA_POOL_INTERNAL };

static void set_attributes(struct cuda_device *d, uint64_t threshold,
			   const int flags[3])
{
	d->calls->cudaMemPoolSetAttribute(d->pool, CUDA_POOL_THRESHOLD,
					  &threshold);
	for (int i = 0; i < 3; i++) {
		int flag = flags[i];

		d->calls->cudaMemPoolSetAttribute(d->pool, attributes[i],
						  &flag);
	}
}

/* What it is set to now is put back in the end. */
static void pool_set(struct gp_device *device,
		     const struct gp_pool_settings *settings)
{
	struct cuda_device *d = cuda_device_of(device);
	int flags[3] = { settings->follows_events, settings->is_opportunistic,
			 settings->adds_waits };

	d->plan->ops->pool->set(d->plan, settings);
	if (!d->pool) {
		cuda_note(d, GP_BENCH_MALLOC_ASYNC,
			  d->calls->cudaDeviceGetDefaultMemPool(&d->pool, 0));
		if (d->error)
			return;
		d->calls->cudaMemPoolGetAttribute(d->pool, CUDA_POOL_THRESHOLD,
						  &d->pool_threshold);
		for (int i = 0; i < 3; i++)
			d->calls->cudaMemPoolGetAttribute(
				d->pool, attributes[i], &d->pool_flags[i]);
	}
	set_attributes(d, settings->threshold, flags);
}

void cuda_pool_end(struct cuda_device *d)
{
	if (d->pool) {
		d->calls->cudaMemPoolTrimTo(d->pool, 0);
		set_attributes(d, d->pool_threshold, d->pool_flags);
	}
	for (size_t i = 0; i < d->stream_room; i++)
		if (d->streams[i])
			d->calls->cudaStreamDestroy(d->streams[i]);
	if (d->event)
		d->calls->cudaEventDestroy(d->event);
}

static void add(struct cuda_device *d, uint64_t addr, uint64_t size, void *real,
		bool is_pooled)
{
	struct range range = {
		.addr = addr,
		.size = size,
		.real = (uintptr_t)real,
		.is_pooled = is_pooled,
	};

	ranges_add(&d->ranges, &range);
}

static bool pool_malloc(struct gp_device *device, uint64_t size,
			uint16_t stream, uint64_t *addr)
{
	struct cuda_device *d = cuda_device_of(device);
	const struct gp_pool_ops *plan = d->plan->ops->pool;
	void *cuda_stream = stream_of(d, stream), *real = NULL;
	int error;

	if (!plan->malloc(d->plan, size, stream, addr))
		return false;
	cuda_begin(d, size);
	error = d->calls->cudaMallocAsync(&real, size, cuda_stream);
	if (cuda_took(d, GP_BENCH_MALLOC_ASYNC, error)) {
		add(d, *addr, size, real, true);
		return true;
	}
	plan->free(d->plan, *addr, size, stream);
	return false;
}

static void pool_free(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint16_t stream)
{
	struct cuda_device *d = cuda_device_of(device);
	struct range *range = ranges_find(&d->ranges, addr);
	void *cuda_stream = stream_of(d, stream);

	d->plan->ops->pool->free(d->plan, addr, size, stream);
	cuda_begin(d, size);
	cuda_took(
		d, GP_BENCH_FREE_ASYNC,
		d->calls->cudaFreeAsync(pointer_of(range->real), cuda_stream));
	ranges_remove(&d->ranges, range);
}

static void pool_wait(struct gp_device *device, uint16_t stream, uint16_t by)
{
	struct cuda_device *d = cuda_device_of(device);
	void *before = stream_of(d, stream), *behind = stream_of(d, by);

	if (!d->event)
		cuda_note(d, GP_BENCH_EVENT_RECORD,
			  d->calls->cudaEventCreateWithFlags(&d->event,
							     CUDA_NO_TIMING));
	cuda_begin(d, 0);
	cuda_took(d, GP_BENCH_EVENT_RECORD,
		  d->calls->cudaEventRecord(d->event, before));
	cuda_begin(d, 0);
	cuda_took(d, GP_BENCH_STREAM_WAIT,
		  d->calls->cudaStreamWaitEvent(behind, d->event, 0));
}

static void pool_synchronize(struct gp_device *device)
{
	struct cuda_device *d = cuda_device_of(device);

	d->plan->ops->pool->synchronize(d->plan);
	cuda_begin(d, 0);
	cuda_took(d, GP_PRICE_SYNCHRONIZE, d->calls->cudaDeviceSynchronize());
}

static void pool_trim(struct gp_device *device, uint64_t keep)
{
	struct cuda_device *d = cuda_device_of(device);

	d->plan->ops->pool->trim(d->plan, keep);
	cuda_begin(d, 0);
	cuda_took(d, GP_BENCH_TRIM, d->calls->cudaMemPoolTrimTo(d->pool, keep));
}

static void pool_usage(struct gp_device *device, uint64_t *reserved,
		       uint64_t *used)
{
	struct cuda_device *d = cuda_device_of(device);

	*reserved = *used = 0;
	if (!d->pool)
		return;
	d->calls->cudaMemPoolGetAttribute(d->pool, CUDA_POOL_RESERVED,
					  reserved);
	d->calls->cudaMemPoolGetAttribute(d->pool, CUDA_POOL_USED, used);
}

const struct gp_pool_ops cuda_pool_ops = {
	.set = pool_set,
	.malloc = pool_malloc,
	.free = pool_free,
	.wait = pool_wait,
	.synchronize = pool_synchronize,
	.trim = pool_trim,
	.usage = pool_usage,
};

/* ---- managed memory ---- */

bool cuda_managed(struct gp_device *device, uint64_t size, uint64_t *addr)
{
	struct cuda_device *d = cuda_device_of(device);
	void *real = NULL;
	int error;

	if (!d->calls->cudaMallocManaged) {
		cuda_note(d, GP_BENCH_MANAGED, CUDA_NOT_SUPPORTED);
		return false;
	}
	if (!d->plan->ops->managed(d->plan, size, addr))
		return false;
	cuda_begin(d, size);
	error = d->calls->cudaMallocManaged(&real, size, CUDA_ATTACH_GLOBAL);
	if (!cuda_took(d, GP_BENCH_MANAGED, error)) {
		d->plan->ops->managed_free(d->plan, *addr, size);
		return false;
	}
	cuda_begin(d, size);
	error = d->calls->cudaMemset(real, 0, size);
	if (!error)
		error = d->calls->cudaDeviceSynchronize();
	cuda_took(d, GP_BENCH_TOUCH, error);
	add(d, *addr, size, real, false);
	return true;
}

void cuda_managed_free(struct gp_device *device, uint64_t addr, uint64_t size)
{
	struct cuda_device *d = cuda_device_of(device);
	struct range *range = ranges_find(&d->ranges, addr);

	d->plan->ops->managed_free(d->plan, addr, size);
	cuda_begin(d, size);
	cuda_took(d, GP_PRICE_FREE,
		  d->calls->cudaFree(pointer_of(range->real)));
	ranges_remove(&d->ranges, range);
}
