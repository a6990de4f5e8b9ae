/* SPDX-License-Identifier: MIT */
/*
 * Address space and pages of the device with real memory, called in the order
 * in which PyTorch's expandable segments call the driver
 * (c10/cuda/CUDACachingAllocator.cpp, ExpandableSegment::map and unmapHandles):
 * all pages of a range are made before the first one is mapped, the range is
 * opened at once, and pages go one by one behind a wait for the stream.
 */
#include "device/cuda/cuda_device.h"

#include "base/mem.h"

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

bool cuda_reserve(struct gp_device *device, uint64_t size, uint64_t *addr)
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

bool cuda_map(struct gp_device *device, uint64_t addr, uint64_t size,
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

void cuda_unmap(struct gp_device *device, uint64_t addr, uint64_t size,
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

bool cuda_map_anew(struct cuda_device *d, uint64_t addr, uint64_t size)
{
	struct range *range = range_for(d, addr, size);

	return range && map_all(d, range, addr, size, GP_DEVICE_GRAIN);
}

void cuda_drop_pages(struct cuda_device *d, struct range *range)
{
	for (uint64_t at = 0; at < range->size; at += GP_DEVICE_GRAIN)
		if (page_at(range, range->addr + at)->size)
			unmap(d, range, range->addr + at);
	d->calls->cuMemAddressFree(range->real, range->size);
}

void cuda_unreserve(struct gp_device *device, uint64_t addr, uint64_t size)
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
