/* SPDX-License-Identifier: MIT */
/*
 * The device with real memory.
 *
 * A simulated device beside it chooses the addresses, so that decisions that
 * depend on addresses are the same in every run, and the same as without a GPU.
 * The memory, the time of calls and the OOMs are those of the real device.
 */
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/samples.h"
#include "base/sorted.h"
#include "device/bench.h"
#include "device/cuda/cuda_load.h"

/*
 * The real memory behind the engine's addresses: ranges that do not overlap. A
 * range is found by any address within it.
 */

/* A page of a reservation; size 0: no page begins here. */
struct page {
	cuda_addr handle;
	uint64_t size;
};

struct range {
	uint64_t addr, size; /* as the engine sees them */
	cuda_addr real;
	struct page *pages; /* one per GP_DEVICE_GRAIN; NULL: a block */
	bool is_pooled;	    /* from cudaMallocAsync */
};

struct ranges {
	struct range *items; /* by address */
	size_t count, room;
};

struct cuda_device {
	struct gp_device device;
	struct gp_cuda *cuda;
	const struct cuda_calls *calls;
	struct gp_device *plan; /* simulated; chooses the addresses */
	struct ranges ranges;
	struct samples times[GP_BENCH_CALLS];
	double begin; /* of the current call */
	/* The first call that failed unexpectedly. */
	unsigned failed_call;
	int error;
	uint64_t asked, failed_asked; /* bytes: current call, failed call */
	unsigned char *window;	      /* host memory for patterns; or NULL */
	void **streams;		      /* by index; NULL: not yet created */
	size_t stream_room;
	void *event, *pool; /* NULL: not used */
	uint64_t pool_threshold;
	int pool_flags[3]; /* to restore at the end */
};

static inline struct cuda_device *cuda_device_of(struct gp_device *device)
{
	return (struct cuda_device *)device;
}

/* ---- ranges: a few, so a sorted array ---- */

/* The number of ranges that begin at or below the address. */
static size_t count_to(const struct ranges *ranges, uint64_t addr)
{
	return gp_sorted_above(
		GP_SORTED(ranges->items, ranges->count, struct range, addr),
		addr);
}

/* The range that contains the address, or NULL. Valid until a range is added or
 * removed. */
static struct range *ranges_find(const struct ranges *ranges, uint64_t addr)
{
	size_t n = count_to(ranges, addr);
	struct range *range = n ? &ranges->items[n - 1] : NULL;

	return range && addr - range->addr < range->size ? range : NULL;
}

static void ranges_add(struct ranges *ranges, const struct range *range)
{
	size_t at = count_to(ranges, range->addr);

	GP_GROW(ranges->items, ranges->count + 1, ranges->room);
	memmove(&ranges->items[at + 1], &ranges->items[at],
		(ranges->count - at) * sizeof(*range));
	ranges->items[at] = *range;
	ranges->count++;
}

static void ranges_remove(struct ranges *ranges, const struct range *range)
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

/* ---- timing and errors of calls ---- */

/* Called before each timed call; asked: its size in bytes, or 0. cuda_took() is
 * called with the result. */
static void cuda_begin(struct cuda_device *d, uint64_t asked)
{
	d->asked = asked;
	d->begin = d->cuda->now();
}

static bool note(struct cuda_device *d, unsigned call, uint64_t asked,
		 int error)
{
	if (!error)
		return true;
	/* As in PyTorch: clears the error, so that later calls do not report
	 * it. */
	d->calls->cudaGetLastError();
	if (!d->error && error != CUDA_OUT_OF_MEMORY) {
		d->failed_call = call;
		d->failed_asked = asked;
		d->error = error;
	}
	return false;
}

/* For a call that is not timed. */
static bool cuda_note(struct cuda_device *d, unsigned call, int error)
{
	return note(d, call, 0, error);
}

/* False: the call failed. Out of memory is a regular result; any other error is
 * kept for health(). */
static bool cuda_took(struct cuda_device *d, unsigned call, int error)
{
	samples_add(&d->times[call], (d->cuda->now() - d->begin) * 1e6);
	return note(d, call, d->asked, error);
}

/* ---- address space and pages ---- */

/*
 * The driver calls are made in the order of PyTorch's expandable segments
 * (c10/cuda/CUDACachingAllocator.cpp, ExpandableSegment::map and unmapHandles):
 * all pages of a range are created before the first one is mapped, access is
 * enabled for the whole range at once, and pages are unmapped one by one after
 * a stream synchronisation.
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

/* Creates pages from addr up to stop; *made is where the last one ends. */
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

/* Maps all pages or none. */
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

/* The range that contains the addresses. The address space next to a start
 * state's pages was never reserved by a call, so it is reserved here. */
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
	/* Unlike cudaFree, cuMemUnmap does not wait for work that uses the
	 * memory. */
	cuda_begin(d, 0);
	cuda_took(d, GP_BENCH_STREAM_SYNCHRONIZE,
		  d->calls->cudaStreamSynchronize(NULL));
	for (uint64_t at = addr; at < addr + size; at += GP_DEVICE_GRAIN) {
		struct range *range = ranges_find(&d->ranges, at);

		if (range && range->pages && page_at(range, at)->size)
			unmap(d, range, at);
	}
}

/* Maps pages of a start state, whose addresses were not reserved. */
static bool cuda_map_anew(struct cuda_device *d, uint64_t addr, uint64_t size)
{
	struct range *range = range_for(d, addr, size);

	return range && map_all(d, range, addr, size, GP_DEVICE_GRAIN);
}

/* Unmaps all pages of a range and releases its addresses. */
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

/* ---- blocks ---- */

/* CUDA's interface uses pointers for addresses. */
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
		return; /* a block of the start state that did not fit */
	cuda_begin(d, size);
	cuda_took(d, GP_PRICE_FREE,
		  d->calls->cudaFree(pointer_of(range->real)));
	ranges_remove(&d->ranges, range);
}

/*
 * ---- cudaMallocAsync on the device's default pool, and cudaMallocManaged ----
 *
 * A capacity is enforced by the pool of the simulated device; what the real
 * pool has reserved and uses is read from its attributes. Managed memory has no
 * pages before it is first accessed, so each new block is set to zero on the
 * device; if the device is full, pages of other blocks are evicted to host
 * memory.
 */

/* The trace's first stream is CUDA's default stream; the others are created
 * when they are first used. */
static void *stream_of(struct cuda_device *d, uint16_t index)
{
	size_t before = d->stream_room;

	if (!index)
		return NULL;
	GP_GROW(d->streams, index + (size_t)1, d->stream_room);
	for (size_t i = before; i < d->stream_room; i++)
		d->streams[i] = NULL;
	if (!d->streams[index])
		cuda_note(d, GP_BENCH_STREAM_WAIT,
			  d->calls->cudaStreamCreateWithFlags(
				  &d->streams[index], CUDA_NON_BLOCKING));
	return d->streams[index];
}

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

/* At the first call, saves the pool's attributes for cuda_pool_end(). */
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

/* Restores the attributes that the pool had before the run. */
static void cuda_pool_end(struct cuda_device *d)
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

static void add_block(struct cuda_device *d, uint64_t addr, uint64_t size,
		      void *real, bool is_pooled)
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
		add_block(d, *addr, size, real, true);
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

static const struct gp_pool_ops cuda_pool_ops = {
	.set = pool_set,
	.malloc = pool_malloc,
	.free = pool_free,
	.wait = pool_wait,
	.synchronize = pool_synchronize,
	.trim = pool_trim,
	.usage = pool_usage,
};

static bool cuda_managed(struct gp_device *device, uint64_t size,
			 uint64_t *addr)
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
	add_block(d, *addr, size, real, false);
	return true;
}

static void cuda_managed_free(struct gp_device *device, uint64_t addr,
			      uint64_t size)
{
	struct cuda_device *d = cuda_device_of(device);
	struct range *range = ranges_find(&d->ranges, addr);

	d->plan->ops->managed_free(d->plan, addr, size);
	cuda_begin(d, size);
	cuda_took(d, GP_PRICE_FREE,
		  d->calls->cudaFree(pointer_of(range->real)));
	ranges_remove(&d->ranges, range);
}

/*
 * ---- patterns in memory: what a block's owner would write and read ----
 *
 * The whole block is set to one byte. Windows of it are then filled with words
 * computed from the block's seed and the position: a window at each multiple of
 * GP_DEVICE_GRAIN, and one at the end. If two blocks overlap, one starts within
 * the other, so reading the block that was written first finds the start of the
 * second one, unless the second is smaller than a grain and lies between two
 * windows.
 */

#define WORD   sizeof(uint64_t)
#define WINDOW (512 * WORD)
#define ROOM   (WINDOW + WORD) /* the last window may end in a partial word */

struct window {
	uint64_t offset, size;
};

/* A multiple of WORD, so that overlapping windows contain the same words. */
static uint64_t last_offset(uint64_t size)
{
	return size > WINDOW ? (size - WINDOW) / WORD * WORD : 0;
}

static uint64_t window_count(uint64_t size)
{
	uint64_t last = last_offset(size);

	return (last + GP_DEVICE_GRAIN - 1) / GP_DEVICE_GRAIN + 1;
}

static struct window window_at(uint64_t size, uint64_t index)
{
	uint64_t last = last_offset(size), offset = index * GP_DEVICE_GRAIN;

	if (offset < last)
		return (struct window){ offset, WINDOW };
	return (struct window){ last, size - last };
}

static void write_words(unsigned char *to, uint64_t seed,
			const struct window *window)
{
	for (uint64_t i = 0; i < window->size; i += WORD) {
		uint64_t place = window->offset + i, rest = window->size - i;
		uint64_t word = gp_hash64(seed ^ gp_hash64(place));

		memcpy(to + i, &word, rest < WORD ? rest : WORD);
	}
}

/* Host memory for two windows. */
static unsigned char *host_of(struct cuda_device *d)
{
	if (!d->window)
		d->window = gp_mem_alloc(2, ROOM);
	return d->window;
}

static unsigned char *real_of(const struct cuda_device *d, uint64_t addr)
{
	const struct range *range = ranges_find(&d->ranges, addr);

	if (!range)
		return NULL;
	return (unsigned char *)(uintptr_t)(range->real + (addr - range->addr));
}

static void cuda_fill(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint64_t seed)
{
	struct cuda_device *d = cuda_device_of(device);
	unsigned char *host = host_of(d), *real = real_of(d, addr);

	if (!real)
		return;
	cuda_note(d, GP_BENCH_COPY,
		  d->calls->cudaMemset(real, (int)(gp_hash64(seed) & 0xff),
				       size));
	for (uint64_t i = 0; i < window_count(size); i++) {
		struct window window = window_at(size, i);

		write_words(host, seed, &window);
		cuda_note(d, GP_BENCH_COPY,
			  d->calls->cudaMemcpy(real + window.offset, host,
					       window.size, CUDA_TO_DEVICE));
	}
}

static bool cuda_check(struct gp_device *device, uint64_t addr, uint64_t size,
		       uint64_t seed)
{
	struct cuda_device *d = cuda_device_of(device);
	unsigned char *host = host_of(d), *real = real_of(d, addr);
	bool same = real != NULL;

	for (uint64_t i = 0; same && i < window_count(size); i++) {
		struct window window = window_at(size, i);

		write_words(host, seed, &window);
		cuda_note(d, GP_BENCH_COPY,
			  d->calls->cudaMemcpy(host + ROOM,
					       real + window.offset,
					       window.size, CUDA_TO_HOST));
		same = !memcmp(host, host + ROOM, window.size);
	}
	return same;
}

/* ---- the device ---- */

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

/* Memory of others in the recording. Others on this machine use the device
 * anyway. */
static void cuda_set_other(struct gp_device *device, uint64_t bytes)
{
	struct gp_device *plan = cuda_device_of(device)->plan;

	plan->ops->set_other(plan, bytes);
}

/* Not part of the replay, so not timed. If the memory does not fit, health()
 * reports it. */
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

/* The mapped parts of the range get addresses of their own. */
static void cuda_adopt_range(struct gp_device *device, uint64_t addr,
			     uint64_t size)
{
	struct gp_device *plan = cuda_device_of(device)->plan;

	plan->ops->adopt_range(plan, addr, size);
}

static void cuda_place_as(struct gp_device *device,
			  const struct gp_device_place *place)
{
	struct gp_device *plan = cuda_device_of(device)->plan;

	plan->ops->place_as(plan, place);
}

static void cuda_prefer(struct gp_device *device, uint64_t addr, uint64_t size)
{
	struct gp_device *plan = cuda_device_of(device)->plan;

	plan->ops->prefer(plan, addr, size);
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
	.place_as = cuda_place_as,
	.prefer = cuda_prefer,
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
