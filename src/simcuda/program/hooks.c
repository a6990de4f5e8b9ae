/* SPDX-License-Identifier: MIT */
/*
 * Calls on PyTorch's allocator that it does not report to its trackers.
 *
 * The allocator is an object in libc10_cuda.so with virtual functions. Those
 * that matter are intercepted: their slots in its vtable are replaced. The
 * slots are internal to PyTorch and differ between releases; layout.h has them.
 * Arguments are passed as in the Itanium C++ ABI on x86-64: a result that is
 * not trivially copyable is returned through a pointer passed before `this`,
 * and such arguments are passed by pointer.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simcuda/process.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/interpreter.h"
#include "simcuda/program/layout.h"
#include "simcuda/program/tracker.h"
#include "simcuda/program/pools.h"
#include "simcuda/program/recorder.h"
#include "simcuda/program/torch.h"
#include "simcuda/program/tracker.h"

#define ALLOCATOR "_ZN3c104cuda20CUDACachingAllocator9allocatorE"

typedef void (*function)(void);

/* c10::cuda::CUDAStream, passed in two registers. */
struct torch_stream {
	uint64_t device, id;
};

/* MempoolId_t, returned in two registers. */
struct torch_pool_id {
	uint64_t first, second;
};

/* One in a process, like the allocator. */
static struct {
	const struct layout *layout;
	void *lib; /* libc10_cuda.so */
	void *allocator;
	function *slots; /* the allocator's vtable */
	function original[64];
	struct torch_stream (*current)(signed char device);
	uint64_t (*handle)(const struct torch_stream *stream);
	void *(*active_pool)(void);
	struct torch_pool_id (*pool_id)(void *pool);
} hooks;

#define ORIGINAL(slot, type, ...)                                              \
	((type(*)(__VA_ARGS__))hooks.original[hooks.layout->slot])

static uint64_t handle_of(struct torch_stream stream)
{
	return hooks.handle ? hooks.handle(&stream) : 0;
}

static uint64_t current_stream(signed char device)
{
	return hooks.current ? handle_of(hooks.current(device)) : 0;
}

/* ---- requests: only their size is recorded ---- */

/* The result of allocate() is a DataPtr. */
static bool has_trackers(void)
{
	return hooks.layout->release >= FIRST_WITH_TRACKERS;
}

static void ask(size_t bytes)
{
	int device = process_current_device();

	process_ignore_others(true);
	tracker_ask(bytes);
	if (pools_are_any())
		pools_turn_for_request(device,
				       current_stream((signed char)device));
	if (!has_trackers())
		intercepted_ask(device, bytes,
				current_stream((signed char)device));
}

static void answer(uint64_t addr)
{
	process_ignore_others(false);
	if (!has_trackers())
		intercepted_alloc(addr);
	else if (addr && !tracker_is_told())
		recorder_note_uncached();
}

static void *on_allocate(uint64_t *result, void *self, size_t bytes)
{
	ask(bytes);
	ORIGINAL(allocate, void *, void *, void *, size_t)(result, self, bytes);
	answer(*result);
	return result;
}

static void *on_raw_alloc(void *self, size_t bytes)
{
	void *addr;

	ask(bytes);
	addr = ORIGINAL(raw_alloc, void *, void *, size_t)(self, bytes);
	answer((uintptr_t)addr);
	return addr;
}

static void *on_raw_alloc_with_stream(void *self, size_t bytes, void *stream)
{
	void *addr;

	process_ignore_others(true);
	tracker_ask(bytes);
	pools_turn_for_request(process_current_device(), (uintptr_t)stream);
	if (!has_trackers())
		intercepted_ask(process_current_device(), bytes,
				(uintptr_t)stream);
	addr = ORIGINAL(raw_alloc_with_stream, void *, void *, size_t,
			void *)(self, bytes, stream);
	answer((uintptr_t)addr);
	return addr;
}

/* ---- frees, in releases without trackers ---- */

static void on_raw_delete(void *self, void *addr)
{
	intercepted_free((uintptr_t)addr);
	((void (*)(void *, void *))hooks.original[SLOT_RAW_DELETE])(self, addr);
	intercepted_freed();
}

/* A separate function that does the same. */
static void on_delete(void *addr)
{
	on_raw_delete(hooks.allocator, addr);
}

/* A DataPtr begins with the address. */
static void on_record_stream(void *self, const uint64_t *data,
			     struct torch_stream stream)
{
	uint64_t handle = handle_of(stream);

	if (recorder_enter()) {
		entries_record_stream(*data, handle);
		recorder_leave();
	}
	ORIGINAL(record_stream, void, void *, const uint64_t *,
		 struct torch_stream)
	(self, data, stream);
}

/* ---- the cache and its counters ---- */

static void on_set_fraction(void *self, double fraction, signed char device)
{
	if (recorder_begin("set_memory_fraction", device)) {
		entries_put(",\"fraction\":%.17g", fraction);
		recorder_end();
	}
	ORIGINAL(set_fraction, void, void *, double, signed char)
	(self, fraction, device);
}

/* The pool that emptyCache is limited to: in 2.6 and 2.7 that of the innermost
 * MemPoolContext. */
static struct torch_pool_id pool_to_empty(uint64_t first, uint64_t second)
{
	void *active;

	if (hooks.layout->release >= FIRST_EMPTY_CACHE_POOL)
		return (struct torch_pool_id){ first, second };
	active =
		hooks.active_pool && hooks.pool_id ? hooks.active_pool() : NULL;
	return active ? hooks.pool_id(active) : (struct torch_pool_id){ 0 };
}

/* In releases whose empty_cache takes no pool, these registers hold garbage. */
static void on_empty_cache(void *self, uint64_t first, uint64_t second)
{
	struct torch_pool_id id = pool_to_empty(first, second);
	const uint64_t pool[] = { id.first, id.second };

	intercepted_settle();
	for (int i = 0; i < process.device_count; i++) {
		if (!recorder_begin("empty_cache", i))
			continue;
		if (pool[0] || pool[1])
			recorder_put_pool(pool);
		recorder_end();
	}
	ORIGINAL(empty_cache, void, void *, uint64_t, uint64_t)
	(self, first, second);
}

static void on_reset_accumulated(void *self, signed char device)
{
	if (recorder_begin("reset_accumulated_stats", device))
		recorder_end();
	ORIGINAL(reset_accumulated, void, void *, signed char)(self, device);
}

static void on_reset_peak(void *self, signed char device)
{
	if (recorder_begin("reset_peak_stats", device))
		recorder_end();
	ORIGINAL(reset_peak, void, void *, signed char)(self, device);
}

/* ---- pools ---- */

static void put_pool_event(const char *op, signed char device,
			   const uint64_t pool[2])
{
	if (!recorder_begin(op, device))
		return;
	recorder_put_pool(pool);
	recorder_end();
}

static void put_capture_begin(signed char device, const uint64_t pool[2],
			      uint64_t stream)
{
	if (!recorder_begin("capture_begin", device))
		return;
	recorder_put_pool(pool);
	entries_put(",\"stream\":%" PRIu64, stream);
	recorder_end();
}

/*
 * For a capture, this is called before the capture begins on the current
 * stream; all other callers use the pool at once.
 */
static void on_begin_pool(void *self, signed char device, uint64_t first,
			  uint64_t second, const struct callable *filter)
{
	const uint64_t pool[] = { first, second };
	uint64_t stream = current_stream(device);

	if (pools_begin(device, pool, filter, stream))
		put_pool_event("pool_begin", device, pool);
	else
		put_capture_begin(device, pool, stream);
	ORIGINAL(begin_pool, void, void *, signed char, uint64_t, uint64_t,
		 const struct callable *)
	(self, device, first, second, filter);
}

static void on_end_pool(void *self, signed char device, uint64_t first,
			uint64_t second)
{
	const uint64_t pool[] = { first, second };

	put_pool_event(pools_end(device, pool) ? "capture_end" : "pool_end",
		       device, pool);
	ORIGINAL(end_pool, void, void *, signed char, uint64_t, uint64_t)
	(self, device, first, second);
}

/* Before 2.3 the stream is passed, and it is only used for captures. */
static void on_begin_stream(void *self, int device, uint64_t stream,
			    uint64_t first, uint64_t second)
{
	const uint64_t pool[] = { first, second };

	pools_begin_stream(device, pool, stream);
	put_capture_begin((signed char)device, pool, stream);
	ORIGINAL(begin_pool, void, void *, int, uint64_t, uint64_t, uint64_t)
	(self, device, stream, first, second);
}

static void on_end_stream(void *self, int device, uint64_t stream)
{
	uint64_t pool[2];

	if (pools_end_stream(device, stream, pool))
		put_pool_event("capture_end", (signed char)device, pool);
	ORIGINAL(end_pool, void, void *, int, uint64_t)(self, device, stream);
}

static void on_release_pool(void *self, signed char device, uint64_t first,
			    uint64_t second)
{
	const uint64_t pool[] = { first, second };

	put_pool_event("pool_release", device, pool);
	ORIGINAL(release_pool, void, void *, signed char, uint64_t, uint64_t)
	(self, device, first, second);
}

/* The type of the last argument differs by release; it is passed on in its
 * register. */
static void on_create_pool(void *self, signed char device, uint64_t first,
			   uint64_t second, void *allocator)
{
	const uint64_t pool[] = { first, second };

	put_pool_event("pool_create", device, pool);
	ORIGINAL(create_pool, void, void *, signed char, uint64_t, uint64_t,
		 void *)
	(self, device, first, second, allocator);
}

static void on_use_on_oom(void *self, signed char device, uint64_t first,
			  uint64_t second, bool choice)
{
	const uint64_t pool[] = { first, second };
	bool is_used =
		choice || hooks.layout->release < FIRST_USE_ON_OOM_CHOICE;

	put_pool_event(is_used ? "pool_use_on_oom" : "pool_no_use_on_oom",
		       device, pool);
	ORIGINAL(use_on_oom, void, void *, signed char, uint64_t, uint64_t,
		 bool)
	(self, device, first, second, choice);
}

static void on_no_split(void *self, signed char device, uint64_t first,
			uint64_t second)
{
	const uint64_t pool[] = { first, second };

	put_pool_event("pool_no_split", device, pool);
	ORIGINAL(no_split, void, void *, signed char, uint64_t, uint64_t)
	(self, device, first, second);
}

/* The std::shared_ptr points to the state: a vtable pointer, then the pool. */
static void *on_restore(void *result, void *self, signed char device,
			const uint64_t *const *state)
{
	tracker_restore(*state + 1);
	ORIGINAL(restore, void *, void *, void *, signed char, const void *)
	(result, self, device, state);
	tracker_restore(NULL);
	return result;
}

/* A stream that waits for a captured stream becomes captured too. */
static void on_wait(uint64_t stream, uint64_t by)
{
	if (!recorder_begin("synchronize", process_current_device()))
		return;
	entries_put(",\"stream\":%" PRIu64 ",\"by\":%" PRIu64, stream, by);
	recorder_end();
}

/* ---- installing the hooks ---- */

/* The vtable is read-only: its pages are made writable for a moment. */
static void exchange(uint8_t slot, function mine)
{
	uintptr_t at = (uintptr_t)&hooks.slots[slot];
	uintptr_t page = at & ~(uintptr_t)(getpagesize() - 1);
	size_t size = at + sizeof(mine) - page;

	if (!slot || mprotect((void *)page, size, PROT_READ | PROT_WRITE))
		return;
	hooks.original[slot] = hooks.slots[slot];
	hooks.slots[slot] = mine;
	mprotect((void *)page, size, PROT_READ);
}

static void on_init(void *self, int device_count)
{
	function deleter;

	ORIGINAL(init, void, void *, int)(self, device_count);
	hooks.allocator = self;
	recorder_start();
	interpreter_prepare();
	if (has_trackers()) {
		tracker_attach(hooks.layout, self,
			       hooks.slots[hooks.layout->attach]);
		return;
	}
	deleter = ((function(*)(void *))hooks.slots[SLOT_RAW_DELETER])(self);
	intercepted_start((void (*)(void *))deleter, on_delete);
}

static void exchange_all(void)
{
	const struct layout *l = hooks.layout;
	bool has_filters = l->release >= FIRST_WITH_FILTERS;
	const struct {
		uint8_t slot;
		function mine;
	} all[] = {
		{ l->allocate, (function)on_allocate },
		{ l->raw_alloc, (function)on_raw_alloc },
		{ l->raw_alloc_with_stream,
		  (function)on_raw_alloc_with_stream },
		{ has_trackers() ? 0 : SLOT_RAW_DELETE,
		  (function)on_raw_delete },
		{ l->init, (function)on_init },
		{ l->set_fraction, (function)on_set_fraction },
		{ l->empty_cache, (function)on_empty_cache },
		{ l->record_stream, (function)on_record_stream },
		{ l->reset_accumulated, (function)on_reset_accumulated },
		{ l->reset_peak, (function)on_reset_peak },
		{ l->begin_pool, has_filters ? (function)on_begin_pool
					     : (function)on_begin_stream },
		{ l->end_pool, has_filters ? (function)on_end_pool
					   : (function)on_end_stream },
		{ l->release_pool, (function)on_release_pool },
		{ l->create_pool, (function)on_create_pool },
		{ l->use_on_oom, (function)on_use_on_oom },
		{ l->no_split, (function)on_no_split },
		{ l->restore, (function)on_restore },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		exchange(all[i].slot, all[i].mine);
}

/* Whether it is PyTorch's own allocator, whose vtable is in that library. */
static bool is_own(void ***allocator)
{
	Dl_info about;

	return allocator && *allocator && dladdr(**allocator, &about) &&
	       about.dli_fname && strstr(about.dli_fname, "libc10_cuda.so");
}

void hooks_set(const struct layout *layout)
{
	void ***allocator;

	if (hooks.slots || recorder_bypass())
		return;
	hooks.lib = torch_library("c10_cuda");
	if (!hooks.lib)
		return;
	allocator = dlsym(hooks.lib, ALLOCATOR);
	if (!is_own(allocator))
		return;
	hooks.layout = layout;
	hooks.slots = (function *)**allocator;
	hooks.current = (struct torch_stream(*)(signed char))dlsym(
		hooks.lib, "_ZN3c104cuda20getCurrentCUDAStreamEa");
	hooks.handle = (uint64_t(*)(const struct torch_stream *))dlsym(
		hooks.lib, "_ZNK3c104cuda10CUDAStream6streamEv");
	hooks.active_pool = (void *(*)(void))dlsym(
		hooks.lib, "_ZN3c104cuda14MemPoolContext16getActiveMemPoolEv");
	hooks.pool_id = (struct torch_pool_id(*)(void *))dlsym(
		hooks.lib, "_ZN3c104cuda7MemPool2idEv");
	exchange_all();
	process_hooks.wait = on_wait;
}

const char *hooks_why_not(void)
{
	void ***allocator = hooks.lib ? dlsym(hooks.lib, ALLOCATOR) : NULL;

	if (recorder_bypass())
		return recorder_bypass();
	if (hooks.lib && !is_own(allocator))
		return "an allocator of its own";
	return NULL;
}

/* The map in the result is not destroyed: this is done once. */
void hooks_write_counters(void)
{
	char stats[COUNTERS_ROOM];

	intercepted_settle();
	for (int i = 0; hooks.allocator && i < process.device_count; i++) {
		memset(stats, 0, sizeof(stats));
		((void (*)(void *, void *,
			   signed char))hooks.slots[hooks.layout->stats])(
			stats, hooks.allocator, (signed char)i);
		if (!recorder_enter())
			return;
		entries_settle(i);
		entries_put("{\"devices\":[{\"device\":%d,\"memory_stats\":{",
			    i);
		counters_write(stats, hooks.layout->release);
		entries_put("}}]}\n");
		recorder_leave();
	}
}

/* ---- settings that change ---- */

/* A std::string, of either ABI, begins with the address of its text. */
static void note_settings(const char *const *string)
{
	for (int i = 0; i < process.device_count; i++) {
		if (!recorder_begin("set_allocator_settings", i))
			return;
		entries_put(",\"conf\":");
		recorder_put_text(*string);
		recorder_end();
	}
}

/* Not virtual, but exported: this library is searched first, so it defines
 * them. */
#define SET_SETTINGS "_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettings"
#define STRING	     "NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
#define PARSE                                                                  \
	"_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig"                \
	"9parseArgsERK" STRING

static void pass_settings(const char *name, const char *const *string)
{
	void (*set)(const char *const *);

	*(void **)&set = torch_symbol("c10_cuda", name);
	note_settings(string);
	if (set)
		set(string);
}

void set_settings_old(const char *const *string) __asm__(SET_SETTINGS "ERKSs");
void set_settings_old(const char *const *string)
{
	pass_settings(SET_SETTINGS "ERKSs", string);
}

void set_settings(const char *const *string) __asm__(SET_SETTINGS "ERK" STRING);
void set_settings(const char *const *string)
{
	pass_settings(SET_SETTINGS "ERK" STRING, string);
}

/* From 2.9 on it is a member function in libc10.so. PyTorch's libraries also
 * call it when they read the environment, which the journal's header already
 * has. A program that sets the same value again has changed it before. */
void parse_settings(void *self, const char *const *string) __asm__(PARSE);
void parse_settings(void *self, const char *const *string)
{
	static _Atomic bool is_changed;
	void (*parse)(void *, const char *const *);

	*(void **)&parse = torch_symbol("c10", PARSE);
	if (strcmp(*string, recorder_settings()) != 0)
		is_changed = true;
	if (is_changed)
		note_settings(string);
	if (parse)
		parse(self, string);
}
