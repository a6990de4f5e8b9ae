/*
 * The recorder: what PyTorch's allocator tells its trace trackers, and calls on
 * it that it tells nobody, as a gpupool-trace in JSON Lines.
 *
 * The allocator is an object in libc10_cuda.so with virtual functions.  Those
 * that matter are led here first (their slots in its table are exchanged), and
 * when it is initialised a tracker is attached: a std::function, made by hand
 * as libstdc++ lays it out.  Both are PyTorch's own affair and change with its
 * releases, hence layout.h.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "simcuda/process.h"
#include "simcuda/program/entries.h"
#include "simcuda/program/journal.h"
#include "simcuda/program/layout.h"
#include "simcuda/program/stand_in.h"

typedef void (*function)(void);

/* One in a process, as the allocator is. */
static struct {
	const struct layout *layout;
	char path[4096];
	pthread_mutex_t lock;
	bool is_hooked, is_open;
	function *slots; /* the allocator's table */
	function original[64];
} recorder = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- the tracker ---- */

static uint64_t word_at(const char *from, size_t offset)
{
	uint64_t word;

	memcpy(&word, from + offset, sizeof(word));
	return word;
}

static void read_entry(const char *from, struct entry *e)
{
	uint8_t pool = recorder.layout->pool;

	e->action = (uint32_t)word_at(from, 0);
	e->device = (signed char)from[ENTRY_DEVICE];
	e->addr = word_at(from, ENTRY_ADDR);
	e->size = word_at(from, ENTRY_SIZE);
	e->stream = word_at(from, ENTRY_STREAM);
	e->pool[0] = pool ? word_at(from, pool) : 0;
	e->pool[1] = pool ? word_at(from, pool + 8u) : 0;
}

static void track(const void *functor, const void *from)
{
	struct entry e;

	(void)functor;
	read_entry(from, &e);
	if (e.device < 0 || e.device >= SIMCUDA_MOST_DEVICES)
		return;
	pthread_mutex_lock(&recorder.lock);
	if (recorder.is_open)
		entries_write(&e);
	pthread_mutex_unlock(&recorder.lock);
}

/* It holds nothing, so there is nothing to copy or destroy. */
static bool manage(void *to, const void *from, int operation)
{
	(void)to;
	(void)from;
	(void)operation;
	return false;
}

/* std::function<void(const TraceEntry &)> in libstdc++. */
struct callable {
	uint64_t functor[2];
	bool (*manage)(void *to, const void *from, int operation);
	void (*invoke)(const void *functor, const void *entry);
};

/* ---- calls on the allocator ---- */

#define ORIGINAL(slot, ...)                                                    \
	((void (*)(__VA_ARGS__))recorder.original[recorder.layout->slot])

/* Locks, when something is to be written; noted unlocks. */
static bool note(int device, const char *op)
{
	pthread_mutex_lock(&recorder.lock);
	if (!recorder.is_open) {
		pthread_mutex_unlock(&recorder.lock);
		return false;
	}
	entries_begin(op, device);
	return true;
}

static void noted(void)
{
	entries_put("}\n");
	pthread_mutex_unlock(&recorder.lock);
}

static void on_set_fraction(void *self, double fraction, signed char device)
{
	if (note(device, "set_memory_fraction")) {
		entries_put(",\"fraction\":%.17g", fraction);
		noted();
	}
	ORIGINAL(set_fraction, void *, double, signed char)
	(self, fraction, device);
}

/* 2.9 and later say which pool; others leave whatever was there. */
static void on_empty_cache(void *self, uint64_t first, uint64_t second)
{
	bool has_pool = recorder.layout->release >= 9 && (first || second);

	for (int i = 0; i < process.device_count; i++) {
		if (!note(i, "empty_cache"))
			continue;
		if (has_pool)
			entries_put(",\"pool\":[%" PRIu64 ",%" PRIu64 "]",
				    first, second);
		noted();
	}
	ORIGINAL(empty_cache, void *, uint64_t, uint64_t)(self, first, second);
}

/* c10::cuda::CUDAStream, which is passed in two registers. */
struct torch_stream {
	uint64_t device, id;
};

/* Without the stream: when its work was done is told of the block, by
 * synchronize, and holds for all the streams that used it. */
static void put_record_stream(uint64_t addr)
{
	pthread_mutex_lock(&recorder.lock);
	if (recorder.is_open)
		entries_record_stream(addr);
	pthread_mutex_unlock(&recorder.lock);
}

/* A DataPtr begins with the address. */
static void on_record_stream(void *self, const uint64_t *data,
			     struct torch_stream stream)
{
	put_record_stream(*data);
	ORIGINAL(record_stream, void *, const uint64_t *, struct torch_stream)
	(self, data, stream);
}

static void on_reset_accumulated(void *self, signed char device)
{
	if (note(device, "reset_accumulated_stats"))
		noted();
	ORIGINAL(reset_accumulated, void *, signed char)(self, device);
}

static void on_reset_peak(void *self, signed char device)
{
	if (note(device, "reset_peak_stats"))
		noted();
	ORIGINAL(reset_peak, void *, signed char)(self, device);
}

static void on_release_pool(void *self, signed char device, uint64_t first,
			    uint64_t second)
{
	if (note(device, "pool_release")) {
		entries_put(",\"pool\":[%" PRIu64 ",%" PRIu64 "]", first,
			    second);
		noted();
	}
	ORIGINAL(release_pool, void *, signed char, uint64_t, uint64_t)
	(self, device, first, second);
}

/* ---- beginning and end ---- */

static void put_text(const char *text)
{
	entries_put("\"");
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			entries_put("\\%c", *text);
		else if ((unsigned char)*text >= ' ')
			entries_put("%c", *text);
	}
	entries_put("\"");
}

static uint64_t memory_of(int device)
{
	uint64_t free_bytes, total;
	struct gp_device *memory;

	process_lock();
	memory = process_memory(device);
	memory->ops->info(memory, &free_bytes, &total);
	process_unlock();
	return total;
}

static const char *settings(void)
{
	const char *names[] = { "PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF",
				"PYTORCH_HIP_ALLOC_CONF" };

	for (size_t i = recorder.layout->release < 9; i < 2; i++)
		if (getenv(names[i]))
			return getenv(names[i]);
	return "";
}

static void put_header(void)
{
	entries_put("{\"format\":\"gpupool-trace\",\"version\":1,\"source\":{"
		    "\"kind\":"
		    "\"gpupool-record\",\"torch\":\"2.%u\",\"complete\":true},"
		    "\"settings\":",
		    recorder.layout->release);
	put_text(settings());
	entries_put(",\"frees\":\"at_once\",\"devices\":[");
	for (int i = 0; i < process.device_count; i++)
		entries_put("%s{\"device\":%d,\"total_memory\":%" PRIu64 "}",
			    i ? "," : "", i, memory_of(i));
	entries_put("]}\n");
}

static void open_journal(void)
{
	char path[sizeof(recorder.path) + 32];

	if (recorder.is_open)
		return;
	snprintf(path, sizeof(path), "%s/%ld.jsonl", recorder.path,
		 (long)getpid());
	recorder.is_open = journal_open(path);
	if (recorder.is_open)
		put_header();
}

static void attach(void *self)
{
	struct callable tracker = { .manage = manage, .invoke = track };

	pthread_mutex_lock(&recorder.lock);
	open_journal();
	pthread_mutex_unlock(&recorder.lock);
	((void (*)(void *, struct callable *))
		 recorder.slots[recorder.layout->attach])(self, &tracker);
}

static void on_init(void *self, int device_count)
{
	ORIGINAL(init, void *, int)(self, device_count);
	attach(self);
}

/* The table is read-only: its pages are opened for a moment. */
static bool exchange(uint8_t slot, function mine)
{
	uintptr_t at = (uintptr_t)&recorder.slots[slot];
	uintptr_t page = at & ~(uintptr_t)(getpagesize() - 1);
	size_t size = at + sizeof(mine) - page;

	if (mprotect((void *)page, size, PROT_READ | PROT_WRITE))
		return false;
	recorder.original[slot] = recorder.slots[slot];
	recorder.slots[slot] = mine;
	mprotect((void *)page, size, PROT_READ);
	return true;
}

static void hook(void)
{
	const struct layout *l = recorder.layout;
	const struct {
		uint8_t slot;
		function mine;
	} all[] = {
		{ l->init, (function)on_init },
		{ l->set_fraction, (function)on_set_fraction },
		{ l->empty_cache, (function)on_empty_cache },
		{ l->record_stream, (function)on_record_stream },
		{ l->reset_accumulated, (function)on_reset_accumulated },
		{ l->reset_peak, (function)on_reset_peak },
		{ l->release_pool, (function)on_release_pool },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		exchange(all[i].slot, all[i].mine);
	recorder.is_hooked = true;
}

/* Called before the first use of a device, and so before the allocator is
 * initialised. */
static void find_allocator(void)
{
	void *lib, ***allocator;

	if (recorder.is_hooked || !recorder.layout)
		return;
	lib = dlopen("libc10_cuda.so", RTLD_NOLOAD | RTLD_LAZY);
	if (!lib)
		return;
	allocator = dlsym(lib, "_ZN3c104cuda20CUDACachingAllocator9allocatorE");
	if (!allocator || !*allocator)
		return;
	recorder.slots = (function *)**allocator;
	hook();
}

/* No lock is held by a thread that the child does not have. */
static void before_fork(void)
{
	pthread_mutex_lock(&recorder.lock);
	process_lock();
}

static void after_fork(void)
{
	process_unlock();
	pthread_mutex_unlock(&recorder.lock);
}

/* A child has its parent's file mapped; it must not write there.  One that is
 * made before the device is used has a trace of its own. */
static void after_fork_in_child(void)
{
	if (recorder.is_open)
		recorder.layout = NULL;
	recorder.is_open = false;
	after_fork();
}

static void write_called(void)
{
	char path[sizeof(recorder.path) + 32];
	const char *name;
	uint64_t calls;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%ld.calls", recorder.path,
		 (long)getpid());
	file = fopen(path, "w");
	if (!file)
		return;
	for (uint32_t i = 0; (name = stand_in_called(i, &calls)); i++)
		fprintf(file, "%" PRIu64 " %s\n", calls, name);
	for (size_t i = 0; (name = simcuda_unknown(i, &calls)); i++)
		if (calls)
			fprintf(file, "%" PRIu64 " %s\n", calls, name);
	fclose(file);
}

__attribute__((constructor)) static void start(void)
{
	const char *path = getenv("SIMCUDA_RECORD");
	const char *release = getenv("SIMCUDA_TORCH"); /* "15" of 2.15 */

	if (!path || !release || strlen(path) >= sizeof(recorder.path))
		return;
	memcpy(recorder.path, path, strlen(path) + 1);
	recorder.layout = layout_of((unsigned)strtoul(release, NULL, 10));
	process_observe(find_allocator);
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

__attribute__((destructor)) static void finish(void)
{
	pthread_mutex_lock(&recorder.lock);
	if (recorder.is_open) {
		for (int i = 0; i < process.device_count; i++)
			entries_settle(i);
		journal_close();
		write_called();
	}
	recorder.is_open = false;
	pthread_mutex_unlock(&recorder.lock);
}
