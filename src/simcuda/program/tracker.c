/* SPDX-License-Identifier: MIT */
/*
 * A tracker is a std::function, built by hand in libstdc++'s layout. A trace
 * entry is read at the offsets in layout.h.
 */
#include "simcuda/program/tracker.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/larger.h"
#include "base/map.h"
#include "base/mem.h"
#include "simcuda/process.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/guesses.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/pools.h"
#include "simcuda/program/recorder.h"
#include "simcuda/simcuda.h"

static const struct layout *layout;
static _Thread_local size_t asked_bytes;
static _Thread_local bool is_told;
static _Thread_local uint32_t asking_site = NO_SITE;
static _Thread_local const uint64_t *restored_pool;

/* Threads of the program that take memory at the same time: which of them is
 * first depends on timing, and so does the placement of blocks. They race if a
 * thread requests memory again after another one did, and that one is not
 * waiting. Threads of a backward pass do not count, because the program waits
 * for them. */
static void watch_races(int device)
{
	/* The thread that requested memory last. */
	static const void *_Atomic last_of[SIMCUDA_MOST_DEVICES];
	static atomic_bool have_raced;
	static _Thread_local uint32_t was_on; /* a bit per device */
	const void *self = have_raced ? NULL : interpreter_thread(), *last;
	uint32_t bit;

	if (!self || device < 0 || device >= SIMCUDA_MOST_DEVICES)
		return;
	bit = UINT32_C(1) << device;
	last = atomic_exchange(&last_of[device], self);
	if (last && last != self && (was_on & bit) &&
	    interpreter_is_busy(last) && !atomic_exchange(&have_raced, true))
		guesses_add_race();
	was_on |= bit;
}

void tracker_ask(size_t bytes)
{
	uint32_t site = interpreter_site(); /* may run other requests */

	asking_site = site;
	asked_bytes = bytes;
	is_told = false;
	watch_races(process_current_device());
}

bool tracker_is_told(void)
{
	return is_told;
}

void tracker_restore(const uint64_t *pool)
{
	restored_pool = pool;
}

static uint64_t word_at(const char *from, size_t offset)
{
	uint64_t word;

	memcpy(&word, from + offset, sizeof(word));
	return word;
}

static void read_entry(const char *from, struct entry *e)
{
	*e = (struct entry){
		.action = (uint32_t)word_at(from, 0),
		.device = (signed char)from[ENTRY_DEVICE],
		.addr = word_at(from, ENTRY_ADDR),
		.size = word_at(from, ENTRY_SIZE),
		.stream = word_at(from, ENTRY_STREAM),
		.asked = asked_bytes,
		.site = asking_site,
	};
	if (layout->pool) {
		e->pool[0] = word_at(from, layout->pool);
		e->pool[1] = word_at(from, layout->pool + 8u);
	}
}

static void write_entry(struct entry *e)
{
	if (e->device < 0 || e->device >= SIMCUDA_MOST_DEVICES)
		return;
	if (!layout || !layout->pool)
		pools_guess(e);
	e->is_restored = restored_pool && e->action == ALLOC;
	if (e->is_restored)
		memcpy(e->pool, restored_pool, sizeof(e->pool));
	else
		pools_turn_for_entry(e);
	e->is_routed = !e->is_restored && pools_are_underway(e);
	if (!recorder_enter())
		return;
	entries_write(e);
	recorder_leave();
}

/* An entry without pool, for a release without trackers. */
static void record_entry(const struct entry *entry)
{
	struct entry e = *entry;

	e.site = asking_site;
	write_entry(&e);
}

static void track(const void *functor, const void *from)
{
	struct entry e;

	(void)functor;
	read_entry(from, &e);
	if (e.action == OOM) /* thrown as an exception */
		process_ignore_others(false);
	is_told |= e.action == ALLOC;
	write_entry(&e);
}

/* It holds nothing, so there is nothing to copy or destroy. */
static bool manage(void *to, const void *from, int operation)
{
	(void)to;
	(void)from;
	(void)operation;
	return false;
}

void tracker_attach(const struct layout *new_layout, void *allocator,
		    void (*attach)(void))
{
	struct callable tracker = { .manage = manage,
				    .invoke = (void (*)(void))track };

	layout = new_layout;
	((void (*)(void *, struct callable *))attach)(allocator, &tracker);
}

/* ---- intercepted calls ---- */

/*
 * A block used by other streams becomes free when the last of the events
 * recorded in its free is complete. During captures the allocator records these
 * events later, and when such a free completes is not known.
 */

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
	struct gp_map segments; /* address -> index in `kept` */
	struct entry *kept;
	size_t kept_count, kept_room;
} waits;

/* The request or free that this thread is executing. */
static _Thread_local struct {
	bool is_asking, is_freeing;
	struct entry request;
	uint64_t freeing;
	int device;
} now;

/* ---- the maps and the list: under the process's lock ---- */

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

/* true: the free that waited for the event waits for no other. */
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

static void record(enum action action, int device, uint64_t addr)
{
	const struct entry entry = { .action = action,
				     .device = device,
				     .addr = addr };

	record_entry(&entry);
}

static void on_event(const void *event, bool is_done)
{
	struct wait wait;
	bool is_last = false;

	process_lock();
	if (is_done) {
		is_last = take_wait(event, &wait);
	} else if (now.is_freeing) {
		GP_GROW(waits.items, waits.count + 1, waits.room);
		waits.items[waits.count++] =
			(struct wait){ event, now.freeing, now.device };
	}
	process_unlock();
	if (is_last)
		record(FREE_COMPLETED, wait.device, wait.addr);
}

/* ---- segments ---- */

static bool keep_segment(const struct entry *segment)
{
	process_lock();
	gp_map_put(&waits.segments, segment->addr, (uint32_t)waits.kept_count);
	GP_GROW(waits.kept, waits.kept_count + 1, waits.kept_room);
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
		record_entry(&segment);
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

/* The allocator's rounding, unless it is set to round to more. */
#define ROUNDING 512

void intercepted_settle(void)
{
	if (!now.is_asking)
		return;
	now.is_asking = false;
	now.request.action = OOM;
	now.request.addr = free_bytes_of(now.request.device);
	now.request.size = gp_round_up(now.request.size, ROUNDING);
	record_entry(&now.request);
}

void intercepted_ask(int device, uint64_t bytes, uint64_t stream)
{
	intercepted_settle();
	now.is_asking = bytes > 0;
	now.request = (struct entry){
		.action = ALLOC,
		.device = device,
		.size = bytes,
		.asked = bytes,
		.stream = stream,
	};
}

void intercepted_alloc(uint64_t addr)
{
	if (!now.is_asking)
		return;
	now.is_asking = false;
	now.request.addr = addr;
	put_device(addr, now.request.device);
	record_entry(&now.request);
}

void intercepted_free(uint64_t addr)
{
	uint32_t device = take_device(addr);

	intercepted_settle();
	if (device == GP_MAP_NONE)
		return;
	now.is_freeing = true;
	now.freeing = addr;
	now.device = (int)device;
	record(FREE_REQUESTED, now.device, addr);
}

void intercepted_freed(void)
{
	bool is_waiting;

	if (!now.is_freeing)
		return;
	now.is_freeing = false;
	process_lock();
	is_waiting = is_waited_for(now.freeing);
	process_unlock();
	if (!is_waiting)
		record(FREE_COMPLETED, now.device, now.freeing);
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

void intercepted_start(void (*deleter)(void *), void (*mine)(void *))
{
	lead(deleter, mine);
	process_hooks.event = on_event;
	process_hooks.memory = on_memory;
}
