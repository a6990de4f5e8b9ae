/* SPDX-License-Identifier: MIT */
/* Engines that gpupool must end with a message: one for each BAD_ macro. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <gpupool/engine.h>

#define MIB (UINT64_C(1) << 20)

/* A bump allocator on one range of memory, which is released on request. */
static uint64_t base, used;

static bool alloc(void *self, const struct gp_ask *ask, struct gp_piece *piece)
{
	const struct gp_memory *memory = self;
	uint64_t size = (ask->size + 511) / 512 * 512;

#if defined BAD_FORKS
	/* A fork that also goes on to answer, and a child that stays. */
	if (!used++ && !fork() && !fork()) {
		FILE *file = fopen("writing", "w");

		fprintf(file, "%ld\n", (long)getpid());
		fclose(file);
		rename("writing", "left");
		for (;;)
			pause();
	}
	while (access("left", F_OK))
		usleep(1000);
#endif
#if defined BAD_LEAKS || defined BAD_DRAWS || defined BAD_FORKS
	/* Everything is right except for this. */
	*piece = (struct gp_piece){ 0, size, 7 };
#if defined BAD_DRAWS
	piece->size += 512 * (uint64_t)(getpid() & 0xff);
#endif
	return memory->malloc(memory->device, piece->size, &piece->addr);
#endif
	if (!base && !memory->malloc(memory->device, 64 * MIB, &base))
		return false;
	*piece = (struct gp_piece){ base + used, size, 7 };
	used += size;
#if defined BAD_OVERLAP
	used = 0;
#elif defined BAD_OUTSIDE
	piece->addr = base + 64 * MIB - 512;
#elif defined BAD_WRAPS
	piece->size = UINT64_MAX - 511;
#elif defined BAD_SIZE
	piece->size = ask->size - 1;
#elif defined BAD_CRASH
	raise(SIGSEGV);
#elif defined BAD_EXIT
	exit(3);
#elif defined BAD_HANG
	for (;;)
		raise(0);
#elif defined BAD_ENDLESS
	for (uint64_t bytes, total;;)
		memory->info(memory->device, &bytes, &total);
#elif defined BAD_TALKS
	/* As after writing to it without end. */
	return !ftruncate(STDOUT_FILENO, INT64_C(1) << 40);
#elif defined BAD_NOTHING
	memory->malloc(memory->device, 0, &base);
#elif defined BAD_PAGES
	memory->map(memory->device, base, 2 * MIB);
#elif defined BAD_MAPS_TWICE || defined BAD_UNMAPS ||                          \
	defined BAD_UNMAPS_USED || defined BAD_FREES_PAGES
	uint64_t pages;

	memory->reserve(memory->device, 8 * MIB, &pages);
	memory->map(memory->device, pages, 4 * MIB);
#if defined BAD_MAPS_TWICE
	memory->map(memory->device, pages + 2 * MIB, 2 * MIB);
#elif defined BAD_UNMAPS
	memory->unmap(memory->device, pages + 4 * MIB, 2 * MIB);
#elif defined BAD_FREES_PAGES
	memory->free(memory->device, pages);
#endif
	piece->addr = pages + 2 * MIB;
	base = pages;
#elif defined BAD_TOO_EARLY
	memory->free(memory->device, base);
#endif
	return true;
}

static void release(void *self, const struct gp_piece *piece)
{
#if defined BAD_FREE
	const struct gp_memory *memory = self;

	memory->free(memory->device, base + 512);
#elif defined BAD_GIVES_USED
	const struct gp_memory *memory = self;

	memory->free(memory->device, base);
#elif defined BAD_UNMAPS_USED
	const struct gp_memory *memory = self;

	memory->unmap(memory->device, base, 2 * MIB);
	memory->unmap(memory->device, base + 2 * MIB, 2 * MIB);
#elif defined BAD_FREE_CRASH
	raise(SIGABRT);
#elif defined BAD_DRAWS
	const struct gp_memory *memory = self;

	memory->free(memory->device, piece->addr);
#endif
	(void)self;
	if (piece->handle != 7)
		abort();
}

/* Reports what it was told about, and has no free blocks. */
#if defined BAD_MARKS
static void mark(void *self, const char *name)
{
	FILE *file = fopen("marks", "a");

	(void)self;
	fprintf(file, "%s\n", name);
	fclose(file);
}

static uint64_t largest_free(void *self)
{
	(void)self;
	return 12345;
}
#endif

#if defined BAD_CREATE
static void *create(const struct gp_memory *memory)
{
	(void)memory;
	return NULL;
}
#endif

static const struct gp_engine_table table = {
	.version = GP_ENGINE_VERSION
#if defined BAD_VERSION
		   + 41
#endif
	,
	.name = "bad",
	.is_shared = true,
#if defined BAD_CREATE
	.create = create,
#endif
#if defined BAD_MARKS
	.mark = mark,
	.largest_free = largest_free,
#endif
	.alloc = alloc,
#if !defined BAD_CALLS
	.free = release,
#endif
};

#if defined BAD_SYMBOL
const struct gp_engine_table *bad_engine(void);
const struct gp_engine_table *bad_engine(void)
{
	(void)release;
	return &table;
}
#elif defined BAD_TABLE
const struct gp_engine_table *gpupool_engine(void);
const struct gp_engine_table *gpupool_engine(void)
{
	(void)release;
	(void)table;
	return NULL;
}
#else
GP_ENGINE(table)
#endif
