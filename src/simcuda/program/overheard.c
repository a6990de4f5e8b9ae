/* SPDX-License-Identifier: MIT */
/*
 * A block that other streams used is free when the last of the events is done
 * that were recorded in its free.  While a stream is captured the allocator
 * records them later; when such a free completes is not known.
 */
#include "simcuda/program/overheard.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "simcuda/simcuda.h"
#include "simcuda/process.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/tracker.h"

/* An event that a free waits for. */
struct wait {
	const void *event;
	uint64_t addr;
	int device;
};

static struct {
	struct wait *items;
	size_t count, room;
	struct gp_map devices;	/* address of a live block -> its device */
	struct gp_map segments; /* address -> index of its size and stream */
	struct entry *kept;
	size_t kept_count, kept_room;
} waits;

/* What this thread is in the midst of. */
static _Thread_local struct {
	bool is_asking, is_freeing;
	struct entry request;
	uint64_t freeing;
	int device;
} now;

/* ---- the map and the list: under the process's lock ---- */

static uint32_t take_device(uint64_t addr)
{
	uint32_t device;

	process_lock();
	device = gp_map_take(&waits.devices, addr);
	process_unlock();
	return device;
}

static void put_device(uint64_t addr, int device)
{
	process_lock();
	gp_map_put(&waits.devices, addr, (uint32_t)device);
	process_unlock();
}

static bool is_waited_for(uint64_t addr)
{
	for (size_t i = 0; i < waits.count; i++)
		if (waits.items[i].addr == addr)
			return true;
	return false;
}

/* True: the free that waited for it waits for no other. */
static bool take_wait(const void *event, struct wait *wait)
{
	for (size_t i = 0; i < waits.count; i++) {
		if (waits.items[i].event != event)
			continue;
		*wait = waits.items[i];
		waits.items[i] = waits.items[--waits.count];
		return !is_waited_for(wait->addr);
	}
	return false;
}

/* ---- events ---- */

static void tell(enum action action, int device, uint64_t addr)
{
	const struct entry entry = { .action = action,
				     .device = device,
				     .addr = addr };

	tracker_tell(&entry);
}

static void on_event(const void *event, bool is_done)
{
	struct wait wait;
	bool is_last = false;

	process_lock();
	if (is_done) {
		is_last = take_wait(event, &wait);
	} else if (now.is_freeing) {
		waits.items = gp_mem_grow(waits.items, &waits.room,
					  waits.count + 1, sizeof(wait));
		waits.items[waits.count++] =
			(struct wait){ event, now.freeing, now.device };
	}
	process_unlock();
	if (is_last)
		tell(FREE_COMPLETED, wait.device, wait.addr);
}

/* ---- segments ---- */

static bool keep_segment(const struct entry *segment)
{
	process_lock();
	gp_map_put(&waits.segments, segment->addr, (uint32_t)waits.kept_count);
	waits.kept = gp_mem_grow(waits.kept, &waits.kept_room,
				 waits.kept_count + 1, sizeof(*segment));
	waits.kept[waits.kept_count++] = *segment;
	process_unlock();
	return true;
}

static bool take_segment(uint64_t addr, struct entry *segment)
{
	uint32_t index;

	process_lock();
	index = gp_map_take(&waits.segments, addr);
	if (index != GP_MAP_NONE)
		*segment = waits.kept[index];
	process_unlock();
	segment->action = SEGMENT_FREE;
	return index != GP_MAP_NONE;
}

static void on_memory(int device, uint64_t addr, uint64_t bytes)
{
	struct entry segment = { .action = SEGMENT_ALLOC,
				 .device = device,
				 .addr = addr,
				 .size = bytes,
				 .stream = now.request.stream };

	if (bytes ? now.is_asking && keep_segment(&segment)
		  : take_segment(addr, &segment))
		tracker_tell(&segment);
}

/* ---- calls ---- */

static uint64_t free_bytes_of(int device)
{
	struct gp_device *memory;
	uint64_t free_bytes, total;

	process_lock();
	memory = process_memory(device);
	memory->ops->info(memory, &free_bytes, &total);
	process_unlock();
	return free_bytes;
}

/* As the allocator rounds, unless it is told to round to more. */
#define ROUNDING 512

void overheard_settle(void)
{
	if (!now.is_asking)
		return;
	now.is_asking = false;
	now.request.action = OOM;
	now.request.addr = free_bytes_of(now.request.device);
	now.request.size =
		(now.request.size + ROUNDING - 1) / ROUNDING * ROUNDING;
	tracker_tell(&now.request);
}

void overheard_ask(int device, uint64_t bytes, uint64_t stream)
{
	overheard_settle();
	now.is_asking = bytes > 0;
	now.request = (struct entry){
		.action = ALLOC,
		.device = device,
		.size = bytes,
		.asked = bytes,
		.stream = stream,
	};
}

void overheard_alloc(uint64_t addr)
{
	if (!now.is_asking)
		return;
	now.is_asking = false;
	now.request.addr = addr;
	put_device(addr, now.request.device);
	tracker_tell(&now.request);
}

void overheard_free(uint64_t addr)
{
	uint32_t device = take_device(addr);

	overheard_settle();
	if (device == GP_MAP_NONE)
		return;
	now.is_freeing = true;
	now.freeing = addr;
	now.device = (int)device;
	tell(FREE_REQUESTED, now.device, addr);
}

void overheard_freed(void)
{
	bool is_waiting;

	if (!now.is_freeing)
		return;
	now.is_freeing = false;
	process_lock();
	is_waiting = is_waited_for(now.freeing);
	process_unlock();
	if (!is_waiting)
		tell(FREE_COMPLETED, now.device, now.freeing);
}

/* ---- the deleter ---- */

/* mov $mine, %rax; jmp *%rax */
#define JUMP_BYTES 12

static void lead(void (*function)(void *), void (*mine)(void *))
{
	uint8_t jump[JUMP_BYTES] = { 0x48, 0xb8, [10] = 0xff, [11] = 0xe0 };
	uintptr_t at = (uintptr_t)function;
	uintptr_t page = at & ~(uintptr_t)(getpagesize() - 1);
	size_t size = at + JUMP_BYTES - page;
	uintptr_t to = (uintptr_t)mine;

	memcpy(jump + 2, &to, sizeof(to));
	if (mprotect((void *)page, size, PROT_READ | PROT_WRITE | PROT_EXEC))
		return;
	memcpy((void *)at, jump, JUMP_BYTES);
	mprotect((void *)page, size, PROT_READ | PROT_EXEC);
}

void overheard_start(void (*deleter)(void *), void (*mine)(void *))
{
	lead(deleter, mine);
	process_observe_events(on_event);
	process_observe_memory(on_memory);
}
