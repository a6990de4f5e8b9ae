/* SPDX-License-Identifier: MIT */
/*
 * An engine in a few calls: an allocator of one's own, to be tried on traces.
 *
 *	cc -shared -fPIC $(pkg-config --cflags gpupool) mine.c -o mine.so
 *	gpupool check-engine ./mine.so
 *	gpupool replay snapshot.pickle --engine ./mine.so
 *
 * A table of calls says how a block is found and given back.  gpupool does the
 * rest: it counts, keeps blocks from being used again before other streams are
 * done with them, tries again when memory ran out, and watches what it is
 * given: that a block lies in memory that the engine took from the device, is
 * as large as was asked for, and shares no byte with another one.  A library
 * runs in a process of its own; a crash there ends one run, with a sentence.
 *
 * Everything that gpupool says in one version, it goes on saying; a table of
 * another version is refused.  C and C++; this header needs no other, and no
 * library.  examples/engine/ has an allocator in C and one in Python.
 */
#ifndef GPUPOOL_ENGINE_H
#define GPUPOOL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GP_ENGINE_VERSION 1

/* Memory for reserved addresses comes in pages of 2 MiB. */
#define GP_ENGINE_PAGE (UINT64_C(2) << 20)

/*
 * The device, to be asked for memory.  Addresses are numbers: nothing can be
 * written there.  Each call is counted, and costs what a GPU takes for it.
 */
struct gp_memory {
	void *device; /* the first argument of each call */
	/* cudaMalloc and cudaFree; false: out of memory.  Addresses are
	 * multiples of 2 MiB. */
	bool (*malloc)(void *device, uint64_t size, uint64_t *addr);
	void (*free)(void *device, uint64_t addr);
	/* Addresses without memory, and memory for some of them: whole pages.
	 * Addresses stay reserved to the end. */
	bool (*reserve)(void *device, uint64_t size, uint64_t *addr);
	bool (*map)(void *device, uint64_t addr, uint64_t size);
	void (*unmap)(void *device, uint64_t addr, uint64_t size);
	/* cudaMemGetInfo */
	void (*info)(void *device, uint64_t *free_bytes, uint64_t *total_bytes);
};

/* What a program asks for. */
struct gp_ask {
	uint64_t size; /* bytes, not 0 */
	uint64_t id;   /* of the block in the trace: 0, 1, 2 ... */
	uint64_t stream;
	uint64_t pool[2]; /* {0, 0}: the default one */
};

/* What it gets. */
struct gp_piece {
	uint64_t addr;
	uint64_t size;	 /* of the block: as much as was asked for, or more */
	uint64_t handle; /* the engine's own: free() gets it back */
};

/*
 * alloc and free have to be there, any other may be NULL: gpupool then does
 * what is said.  self is what create returned.
 */
struct gp_engine_table {
	uint32_t version; /* GP_ENGINE_VERSION */
	/* One allocator serves all streams and pools; else each stream of each
	 * pool has one of its own, as blocks that PyTorch has freed serve their
	 * stream alone. */
	uint32_t is_shared;
	const char *name;
	const char *sentence; /* what it is; NULL: nothing is told */
	/* An allocator without blocks; memory stays there as long as it does.
	 * NULL is what create answers where it cannot, and where there is no
	 * create self is memory. */
	void *(*create)(const struct gp_memory *memory);
	void (*destroy)(void *self);
	/* false: out of memory.  gpupool then waits for all streams, asks for
	 * trim, and tries once more. */
	bool (*alloc)(void *self, const struct gp_ask *ask,
		      struct gp_piece *piece);
	void (*free)(void *self, const struct gp_piece *piece);
	/* Gives back to the device what it can: empty_cache of the program. */
	void (*trim)(void *self);
	/* The program has come to a mark in the trace: a step, for example. */
	void (*mark)(void *self, const char *name);
	/* The largest free block, in bytes.  NULL: gpupool looks at what lies
	 * between blocks. */
	uint64_t (*largest_free)(void *self);
};

/* What a library shows: const struct gp_engine_table *gpupool_engine(void). */
#define GP_ENGINE_SYMBOL "gpupool_engine"
#ifdef __cplusplus
#define GP_ENGINE(table)                                                       \
	extern "C" __attribute__((visibility("default")))                      \
	const struct gp_engine_table *                                         \
	gpupool_engine()                                                       \
	{                                                                      \
		return &(table);                                               \
	}
#else
#define GP_ENGINE(table)                                                       \
	__attribute__((visibility("default"))) const struct gp_engine_table *  \
	gpupool_engine(void);                                                  \
	const struct gp_engine_table *gpupool_engine(void)                     \
	{                                                                      \
		return &(table);                                               \
	}
#endif

#ifdef __cplusplus
}
#endif

#endif
