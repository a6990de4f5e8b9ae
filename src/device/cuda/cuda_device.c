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
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"

/* ---- ranges: a few, so a sorted array ---- */

/* How many begin at the address or below. */
static size_t count_to(const struct ranges *ranges, uint64_t addr)
{
	size_t low = 0, high = ranges->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct range *ranges_find(const struct ranges *ranges, uint64_t addr)
{
	size_t n = count_to(ranges, addr);
	struct range *range = n ? &ranges->items[n - 1] : NULL;

	return range && addr - range->addr < range->size ? range : NULL;
}

void ranges_add(struct ranges *ranges, const struct range *range)
{
	size_t at = count_to(ranges, range->addr);

	ranges->items = gp_mem_grow(ranges->items, &ranges->room,
				    ranges->count + 1, sizeof(*range));
	memmove(&ranges->items[at + 1], &ranges->items[at],
		(ranges->count - at) * sizeof(*range));
	ranges->items[at] = *range;
	ranges->count++;
}

void ranges_remove(struct ranges *ranges, const struct range *range)
{
	size_t at = (size_t)(range - ranges->items);

	free(range->pages);
	ranges->count--;
	memmove(&ranges->items[at], &ranges->items[at + 1],
		(ranges->count - at) * sizeof(*range));
}

static void ranges_release(struct ranges *ranges)
{
	for (size_t i = 0; i < ranges->count; i++)
		free(ranges->items[i].pages);
	free(ranges->items);
	*ranges = (struct ranges){ 0 };
}

/* ---- calls, timed and noted ---- */

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

/* ---- address space and pages ---- */

/*
 * In the order in which PyTorch's expandable segments call the driver
 * (c10/cuda/CUDACachingAllocator.cpp, ExpandableSegment::map and unmapHandles):
 * all pages of a range are made before the first one is mapped, the range is
 * opened at once, and pages go one by one behind a wait for the stream.
 */

static bool add_reservation(struct cuda_device *d, uint64_t addr, uint64_t size,
			    cuda_addr real)
{
	struct range range = {
		.addr = addr,
		.size = size,
		.real = real,
		.pages = gp_mem_alloc(size / GP_DEVICE_GRAIN + 1,
				      sizeof(*range.pages)),
	};

	ranges_add(&d->ranges, &range);
	return true;
}

static bool cuda_reserve(struct gp_device *device, uint64_t size,
			 uint64_t *addr)
{
	struct cuda_device *d = cuda_device_of(device);
	cuda_addr real = 0;
	int error;

	device->calls.reserve++;
	if (!d->plan->ops->reserve(d->plan, size, addr))
		return false;
	cuda_begin(d, size);
	error = d->calls->cuMemAddressReserve(&real, size, 0, 0, 0);
	if (cuda_took(d, GP_PRICE_RESERVE, error))
		return add_reservation(d, *addr, size, real);
	d->plan->ops->unreserve(d->plan, *addr, size);
	return false;
}

static struct page *page_at(const struct range *range, uint64_t addr)
{
	return &range->pages[(addr - range->addr) / GP_DEVICE_GRAIN];
}

static void release(struct cuda_device *d, struct range *range, uint64_t addr)
{
	struct page *page = page_at(range, addr);

	cuda_begin(d, page->size);
	cuda_took(d, GP_PRICE_RELEASE, d->calls->cuMemRelease(page->handle));
	*page = (struct page){ 0 };
}

static void unmap(struct cuda_device *d, struct range *range, uint64_t addr)
{
	cuda_begin(d, page_at(range, addr)->size);
	cuda_took(d, GP_PRICE_UNMAP,
		  d->calls->cuMemUnmap(range->real + (addr - range->addr),
				       page_at(range, addr)->size));
	release(d, range, addr);
}

/* Pages from addr up to stop; *made is where they end. */
static bool make_pages(struct cuda_device *d, struct range *range,
		       uint64_t addr, uint64_t stop, uint64_t page,
		       uint64_t *made)
{
	for (*made = addr; *made < stop; *made += page) {
		struct page *p = page_at(range, *made);
		int error;

		cuda_begin(d, page);
		error = d->calls->cuMemCreate(&p->handle, page, &cuda_page, 0);
		if (!cuda_took(d, GP_PRICE_CREATE, error))
			return false;
		p->size = page;
	}
	return true;
}

static bool map_pages(struct cuda_device *d, struct range *range, uint64_t addr,
		      uint64_t stop, uint64_t page, uint64_t *mapped)
{
	cuda_addr real = range->real + (addr - range->addr);

	for (*mapped = addr; *mapped < stop; *mapped += page) {
		cuda_begin(d, page);
		if (!cuda_took(d, GP_PRICE_MAP,
			       d->calls->cuMemMap(
				       real + (*mapped - addr), page, 0,
				       page_at(range, *mapped)->handle, 0)))
			return false;
	}
	cuda_begin(d, stop - addr);
	return cuda_took(
		d, GP_PRICE_ACCESS,
		d->calls->cuMemSetAccess(real, stop - addr, &cuda_access, 1));
}

/* All of them or none. */
static bool map_all(struct cuda_device *d, struct range *range, uint64_t addr,
		    uint64_t size, uint64_t page)
{
	uint64_t made, mapped = addr, stop = addr + size;
	bool ok = make_pages(d, range, addr, stop, page, &made) &&
		  map_pages(d, range, addr, stop, page, &mapped);

	if (ok)
		return true;
	for (uint64_t at = addr; at < mapped; at += page)
		unmap(d, range, at);
	for (uint64_t at = mapped; at < made; at += page)
		release(d, range, at);
	return false;
}

/* Beside a start state's pages lies address space that was never asked for. */
static struct range *range_for(struct cuda_device *d, uint64_t addr,
			       uint64_t size)
{
	struct range *range = ranges_find(&d->ranges, addr);
	cuda_addr real = 0;

	if (range && range->addr + range->size - addr >= size)
		return range;
	if (d->calls->cuMemAddressReserve(&real, size, 0, 0, 0))
		return NULL;
	add_reservation(d, addr, size, real);
	return ranges_find(&d->ranges, addr);
}

static bool cuda_map(struct gp_device *device, uint64_t addr, uint64_t size,
		     uint64_t page)
{
	struct cuda_device *d = cuda_device_of(device);
	struct range *range;

	if (d->plan->ops->map(d->plan, addr, size, page)) {
		range = range_for(d, addr, size);
		if (range && map_all(d, range, addr, size, page)) {
			gp_call_map(&device->calls, size, page);
			return true;
		}
		d->plan->ops->unmap(d->plan, addr, size, page);
	}
	device->calls.map_failed++;
	return false;
}

static void cuda_unmap(struct gp_device *device, uint64_t addr, uint64_t size,
		       uint64_t page)
{
	struct cuda_device *d = cuda_device_of(device);

	gp_call_unmap(&device->calls, size, page);
	d->plan->ops->unmap(d->plan, addr, size, page);
	/* Unlike cudaFree, cuMemUnmap does not wait for work on the memory. */
	cuda_begin(d, 0);
	cuda_took(d, GP_BENCH_STREAM_SYNCHRONIZE,
		  d->calls->cudaStreamSynchronize(NULL));
	for (uint64_t at = addr; at < addr + size; at += GP_DEVICE_GRAIN) {
		struct range *range = ranges_find(&d->ranges, at);

		if (range && range->pages && page_at(range, at)->size)
			unmap(d, range, at);
	}
}

/* Pages where nobody reserved any: those of a start state. */
static bool cuda_map_anew(struct cuda_device *d, uint64_t addr, uint64_t size)
{
	struct range *range = range_for(d, addr, size);

	return range && map_all(d, range, addr, size, GP_DEVICE_GRAIN);
}

/* Unmaps what is mapped there, and gives the addresses back. */
static void cuda_drop_pages(struct cuda_device *d, struct range *range)
{
	for (uint64_t at = 0; at < range->size; at += GP_DEVICE_GRAIN)
		if (page_at(range, range->addr + at)->size)
			unmap(d, range, range->addr + at);
	d->calls->cuMemAddressFree(range->real, range->size);
}

static void cuda_unreserve(struct gp_device *device, uint64_t addr,
			   uint64_t size)
{
	struct cuda_device *d = cuda_device_of(device);
	struct range *range = ranges_find(&d->ranges, addr);

	device->calls.unreserve++;
	d->plan->ops->unreserve(d->plan, addr, size);
	if (!range || !range->pages)
		return;
	cuda_begin(d, size);
	cuda_took(d, GP_PRICE_UNRESERVE,
		  d->calls->cuMemAddressFree(range->real, range->size));
	ranges_remove(&d->ranges, range);
}

/* ---- blocks, and the device ---- */

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
	*free_bytes = gp_smaller(*free_bytes, free_now);
	*total_bytes = gp_smaller(*total_bytes, total);
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

/* What is mapped of it has addresses of its own. */
static void cuda_adopt_range(struct gp_device *device, uint64_t addr,
			     uint64_t size)
{
	struct gp_device *plan = cuda_device_of(device)->plan;

	plan->ops->adopt_range(plan, addr, size);
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
	.adopt_range = cuda_adopt_range,
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
