/* SPDX-License-Identifier: MIT */
/*
 * The device with real memory.
 *
 * A simulated device stands beside it and chooses the addresses: what an engine
 * decides by them is then the same in every run, and the same as without a GPU.
 * The memory, the time its calls take and what is refused are the device's.
 */
#include "device/cuda/cuda_device.h"

#include <stdlib.h>

#include "base/mem.h"

void cuda_begin(struct cuda_device *d, uint64_t asked)
{
	d->asked = asked;
	d->begin = d->cuda->now();
}

static bool note(struct cuda_device *d, unsigned call, uint64_t asked,
		 int error)
{
	if (!error)
		return true;
	/* As PyTorch does: a later call must not be told of it. */
	d->calls->cudaGetLastError();
	if (!d->error && error != CUDA_OUT_OF_MEMORY) {
		d->failed_call = call;
		d->failed_asked = asked;
		d->error = error;
	}
	return false;
}

bool cuda_note(struct cuda_device *d, unsigned call, int error)
{
	return note(d, call, 0, error);
}

bool cuda_took(struct cuda_device *d, unsigned call, int error)
{
	samples_add(&d->times[call], (d->cuda->now() - d->begin) * 1e6);
	return note(d, call, d->asked, error);
}

/* CUDA takes addresses as pointers. */
static void *pointer_of(cuda_addr addr)
{
	return (void *)(uintptr_t)addr;
}

static bool obtain(struct cuda_device *d, uint64_t addr, uint64_t size)
{
	struct range range = { .addr = addr, .size = size };
	void *pointer = NULL;
	int error;

	cuda_begin(d, size);
	error = d->calls->cudaMalloc(&pointer, size);
	if (!cuda_took(d,
		       error == CUDA_OUT_OF_MEMORY ? GP_BENCH_REFUSED
						   : GP_PRICE_MALLOC,
		       error))
		return false;
	range.real = (uintptr_t)pointer;
	ranges_add(&d->ranges, &range);
	return true;
}

static bool cuda_malloc(struct gp_device *device, uint64_t size, uint64_t *addr)
{
	struct cuda_device *d = cuda_device_of(device);
	uint64_t planned;

	if (!d->plan->ops->malloc(d->plan, size, &planned)) {
		device->calls.malloc_failed++;
		return false;
	}
	if (!obtain(d, planned, size)) {
		d->plan->ops->free(d->plan, planned, size);
		device->calls.malloc_failed++;
		return false;
	}
	gp_call_malloc(&device->calls, size);
	*addr = planned;
	return true;
}

static void cuda_free(struct gp_device *device, uint64_t addr, uint64_t size)
{
	struct cuda_device *d = cuda_device_of(device);
	struct range *range = ranges_find(&d->ranges, addr);

	gp_call_free(&device->calls, size);
	d->plan->ops->free(d->plan, addr, size);
	if (!range)
		return; /* a start state's that did not fit */
	cuda_begin(d, size);
	cuda_took(d, GP_PRICE_FREE,
		  d->calls->cudaFree(pointer_of(range->real)));
	ranges_remove(&d->ranges, range);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void cuda_info(struct gp_device *device, uint64_t *free_bytes,
		      uint64_t *total_bytes)
{
	struct cuda_device *d = cuda_device_of(device);
	size_t free_now = 0, total = 0;
	int error;

	d->plan->ops->info(d->plan, free_bytes, total_bytes);
	cuda_begin(d, 0);
	error = d->calls->cudaMemGetInfo(&free_now, &total);
	if (!cuda_took(d, GP_BENCH_MEM_GET_INFO, error))
		return;
	*free_bytes = smaller(*free_bytes, free_now);
	*total_bytes = smaller(*total_bytes, total);
}

/* Others of the recording; those of this machine are in the way by
 * themselves. */
static void cuda_set_other(struct gp_device *device, uint64_t bytes)
{
	struct gp_device *plan = cuda_device_of(device)->plan;

	plan->ops->set_other(plan, bytes);
}

/* Not by the replay's own wish, so not timed.  What does not fit is told by
 * health. */
static void cuda_adopt(struct gp_device *device, uint64_t addr, uint64_t size,
		       bool is_mapped)
{
	struct cuda_device *d = cuda_device_of(device);
	struct range range = { .addr = addr, .size = size };
	void *pointer = NULL;
	int error = 0;

	d->plan->ops->adopt(d->plan, addr, size, is_mapped);
	if (is_mapped) {
		if (cuda_map_anew(d, addr, size) || d->error)
			return;
		error = CUDA_OUT_OF_MEMORY;
	} else {
		error = d->calls->cudaMalloc(&pointer, size);
	}
	if (error) {
		d->calls->cudaGetLastError();
		d->failed_call = GP_PRICE_MALLOC;
		d->failed_asked = size;
		d->error = error;
		return;
	}
	range.real = (uintptr_t)pointer;
	ranges_add(&d->ranges, &range);
}

static size_t cuda_times(struct gp_device *device, struct gp_call_time *times,
			 size_t room)
{
	struct cuda_device *d = cuda_device_of(device);
	size_t count = 0;

	for (unsigned call = 0; call < GP_BENCH_CALLS; call++) {
		struct samples *samples = &d->times[call];

		if (!samples->count || count++ >= room)
			continue;
		samples_sort(samples);
		times[count - 1] = (struct gp_call_time){
			.call = gp_bench_call_name(call),
			.count = samples->count,
			.total_us = samples->total,
			.p10_us = samples_at(samples, 0.1),
			.median_us = samples_at(samples, 0.5),
			.p90_us = samples_at(samples, 0.9),
			.most_us = samples_at(samples, 1),
		};
	}
	return count;
}

static enum gp_status cuda_health(struct gp_device *device,
				  struct gp_diag *diag)
{
	struct cuda_device *d = cuda_device_of(device);

	if (!d->error)
		return GP_OK;
	if (d->error == CUDA_OUT_OF_MEMORY)
		gp_diag_hint(diag, "the memory that the trace begins with does "
				   "not fit on this device");
	return cuda_fail(d->cuda, gp_bench_call_name(d->failed_call),
			 d->failed_asked, d->error, diag);
}

static void cuda_destroy(struct gp_device *device)
{
	struct cuda_device *d = cuda_device_of(device);

	d->calls->cudaDeviceSynchronize();
	for (size_t i = 0; i < d->ranges.count; i++) {
		struct range *range = &d->ranges.items[i];

		if (range->pages)
			cuda_drop_pages(d, range);
		else if (range->is_pooled)
			d->calls->cudaFreeAsync(pointer_of(range->real), NULL);
		else
			d->calls->cudaFree(pointer_of(range->real));
	}
	d->calls->cudaDeviceSynchronize();
	cuda_pool_end(d);
	for (unsigned call = 0; call < GP_BENCH_CALLS; call++)
		samples_release(&d->times[call]);
	free(d->streams);
	ranges_release(&d->ranges);
	gp_device_destroy(d->plan);
	free(d->window);
	free(d);
}

static const struct gp_device_ops cuda_ops = {
	.name = "cuda",
	.malloc = cuda_malloc,
	.free = cuda_free,
	.info = cuda_info,
	.set_other = cuda_set_other,
	.reserve = cuda_reserve,
	.unreserve = cuda_unreserve,
	.map = cuda_map,
	.unmap = cuda_unmap,
	.adopt = cuda_adopt,
	.destroy = cuda_destroy,
	.pool = &cuda_pool_ops,
	.managed = cuda_managed,
	.managed_free = cuda_managed_free,
	.times = cuda_times,
	.fill = cuda_fill,
	.check = cuda_check,
	.health = cuda_health,
};

struct gp_device *gp_cuda_device_create(struct gp_cuda *cuda, uint32_t ordinal,
					uint64_t capacity)
{
	struct cuda_device *d = gp_mem_alloc(1, sizeof(*d));

	d->device.ops = &cuda_ops;
	d->device.reach.least_refused = UINT64_MAX;
	d->cuda = cuda;
	d->calls = &cuda->calls;
	d->plan = gp_sim_create(ordinal, capacity);
	return &d->device;
}
