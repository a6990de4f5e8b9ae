/* SPDX-License-Identifier: MIT */
/*
 * The process of a host allocator. Each stream of each pool has its own thread,
 * because these allocators keep arenas and caches per thread.
 */
#include "allocator/plugin/host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- statistics of each allocator ---- */

struct allocator {
	const char *name;
	const char *symbol; /* identifies the allocator */
	uint64_t (*held)(void);
	void (*trim)(void);
};

/* Global, because malloc applies to the whole process. */
static struct {
	const struct allocator *loaded;
	void *symbol; /* the value of loaded->symbol */
	bool is_touched;
	bool has_main;	   /* the main thread has a heap */
	uint64_t first;	   /* address of the first block */
	char rollup[4096]; /* a buffer that is not allocated */
} host_process;

/* glibc's struct mallinfo2, from 2.33 on. mallinfo2() is looked up at run time,
 * because musl and older glibcs lack it. */
struct info {
	size_t arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks,
		uordblks, fordblks, keepcost;
};
typedef struct info info_call(void);
typedef int trim_call(size_t pad);

/* The main arena's heap, the other arenas, and blocks that are mapped
 * individually. */
static uint64_t held_by_glibc(void)
{
	info_call *call;
	struct info now;

	memcpy(&call, &host_process.symbol, sizeof(call));
	now = call();
	return now.arena + now.hblkhd;
}

static void trim_glibc(void)
{
	void *found = dlsym(RTLD_DEFAULT, "malloc_trim");
	trim_call *call;

	memcpy(&call, &found, sizeof(call));
	if (call)
		call(0);
}

typedef int mallctl_call(const char *name, void *old, size_t *old_size,
			 void *new, size_t new_size);

static mallctl_call *mallctl(void)
{
	mallctl_call *call;

	memcpy(&call, &host_process.symbol, sizeof(call));
	return call;
}

/* Counts allocated pages as if they were touched. The numbers are those of the
 * last epoch. */
static uint64_t held_by_jemalloc(void)
{
	uint64_t epoch = 1;
	size_t held = 0, size = sizeof(held);

	mallctl()("epoch", NULL, NULL, &epoch, sizeof(epoch));
	mallctl()("stats.resident", &held, &size, NULL, 0);
	return held;
}

/* MALLCTL_ARENAS_ALL is 4096. */
static void trim_jemalloc(void)
{
	mallctl()("thread.tcache.flush", NULL, NULL, NULL, 0);
	mallctl()("arena.4096.purge", NULL, NULL, NULL, 0);
}

/* The C interface of gperftools' MallocExtension. */
static uint64_t property(const char *name)
{
	int (*get)(const char *name, size_t *value);
	size_t value = 0;

	memcpy(&get, &host_process.symbol, sizeof(get));
	get(name, &value);
	return value;
}

static uint64_t held_by_tcmalloc(void)
{
	return property("generic.heap_size") -
	       property("tcmalloc.pageheap_unmapped_bytes");
}

static void call_named(const char *name)
{
	void *found = dlsym(RTLD_DEFAULT, name);
	void (*call)(void);

	if (!found)
		return;
	memcpy(&call, &found, sizeof(call));
	call();
}

static void trim_tcmalloc(void)
{
	call_named("MallocExtension_MarkThreadIdle");
	call_named("MallocExtension_ReleaseFreeMemory");
}

static uint64_t held_by_mimalloc(void)
{
	void (*info)(size_t * elapsed, size_t * user, size_t * system,
		     size_t * rss, size_t * peak_rss, size_t * commit,
		     size_t * peak_commit, size_t * faults);
	size_t commit = 0;

	memcpy(&info, &host_process.symbol, sizeof(info));
	info(NULL, NULL, NULL, NULL, NULL, &commit, NULL, NULL);
	return commit;
}

static void trim_mimalloc(void)
{
	void (*collect)(bool force);
	void *found = dlsym(RTLD_DEFAULT, "mi_collect");

	memcpy(&collect, &found, sizeof(collect));
	collect(true);
}

static const struct allocator allocators[] = {
	{ "glibc", "mallinfo2", held_by_glibc, trim_glibc },
	{ "jemalloc", "mallctl", held_by_jemalloc, trim_jemalloc },
	{ "tcmalloc", "MallocExtension_GetNumericProperty", held_by_tcmalloc,
	  trim_tcmalloc },
	{ "mimalloc", "mi_process_info", held_by_mimalloc, trim_mimalloc },
};

/* The anonymous memory of this process as reported by the kernel, read into a
 * buffer that the allocator does not provide. */
static uint64_t held_by_smaps(void)
{
	char *text = host_process.rollup;
	int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0
			    ? 0
			    : read(file, text, sizeof(host_process.rollup) - 1);
	const char *found;

	if (file >= 0)
		close(file);
	text[n > 0 ? n : 0] = 0;
	found = strstr(text, "\nAnonymous:");
	return found ? strtoull(strchr(found, ':') + 1, NULL, 10) * 1024 : 0;
}

static void touch(char *block, size_t size)
{
	for (size_t i = 0; i < size; i += 4096)
		block[i] = 1;
	block[size - 1] = 1;
}

bool host_begin(const char *marked)
{
	const char *name = marked + 1;

	host_process.is_touched = *marked == HOST_TOUCHED;
	for (size_t i = 0; i < sizeof(allocators) / sizeof(*allocators); i++)
		if (!strcmp(allocators[i].name, name))
			host_process.loaded = &allocators[i];
	host_process.symbol =
		host_process.loaded
			? dlsym(RTLD_DEFAULT, host_process.loaded->symbol)
			: NULL;
	return host_process.symbol;
}

uint64_t host_held(void)
{
	return host_process.is_touched ? held_by_smaps()
				       : host_process.loaded->held();
}

/* ---- threads ---- */

enum job { ALLOC, FREE, TRIM, END };

struct thread {
	bool is_main; /* uses the main thread */
	pthread_t thread;
	sem_t go, done;
	enum job job;
	size_t size;
	void *block;
};

static void do_job(struct thread *t)
{
	switch (t->job) {
	case ALLOC: t->block = malloc(t->size); break;
	case FREE: free(t->block); break;
	case TRIM: host_process.loaded->trim(); break;
	case END: break;
	}
}

static void *serve(void *arg)
{
	struct thread *t = arg;

	do {
		while (sem_wait(&t->go))
			;
		do_job(t);
		sem_post(&t->done);
	} while (t->job != END);
	return NULL;
}

static void run(struct thread *t, enum job job)
{
	t->job = job;
	if (t->is_main) {
		do_job(t);
		return;
	}
	sem_post(&t->go);
	while (sem_wait(&t->done))
		;
}

static void *create(const struct gp_memory *memory)
{
	struct thread *t = calloc(1, sizeof(*t));

	(void)memory;
	if (!t || sem_init(&t->go, 0, 0) || sem_init(&t->done, 0, 0))
		return NULL;
	t->is_main = !host_process.has_main;
	host_process.has_main = true;
	return t->is_main || !pthread_create(&t->thread, NULL, serve, t) ? t
									 : NULL;
}

static void destroy(void *self)
{
	struct thread *t = self;

	run(t, END);
	if (!t->is_main)
		pthread_join(t->thread, NULL);
}

/* Some allocators begin at a random address, so addresses are reported relative
 * to the first block. */
static uint64_t from_first(uint64_t addr)
{
	if (!host_process.first)
		host_process.first = addr;
	return (UINT64_C(1) << 47) + addr - host_process.first;
}

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	struct thread *t = self;

	t->size = ask->size;
	run(t, ALLOC);
	if (!t->block)
		return false;
	if (host_process.is_touched)
		touch(t->block, malloc_usable_size(t->block));
	*piece = (struct gp_piece){ from_first((uintptr_t)t->block),
				    malloc_usable_size(t->block),
				    (uintptr_t)t->block };
	return true;
}

static void release(void *self, const struct gp_piece *piece)
{
	struct thread *t = self;

	memcpy(&t->block, &piece->handle, sizeof(t->block));
	run(t, FREE);
}

static void trim(void *self)
{
	run(self, TRIM);
}

const struct gp_engine_table host_table = {
	.version = GP_ENGINE_VERSION,
	.name = "host",
	.create = create,
	.destroy = destroy,
	.alloc = alloc,
	.free = release,
	.trim = trim,
};
