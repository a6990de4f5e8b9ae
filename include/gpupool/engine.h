/* SPDX-License-Identifier: MIT */
/*
 * The plug-in interface: an allocator of your own, to be tried on traces.
 *
 *	cc -shared -fPIC $(pkg-config --cflags gpupool) mine.c -o mine.so
 *	gpupool check-engine ./mine.so
 *	gpupool replay snapshot.pickle --engine ./mine.so
 *
 * A plug-in is a table of functions that find a block and take it back. gpupool
 * does the rest: it counts; it delays the reuse of a block until other streams
 * are done with it; it retries when memory runs out; and it checks every
 * answer, that a block lies in memory which the engine obtained from the
 * device, is as large as requested, and overlaps no other block. The library
 * runs in a separate process, so that a crash ends one run, with a message.
 *
 * Guarantees of one interface version never change; a table of another version
 * is refused. For C and C++; this header needs no other header and no library.
 * examples/engine/ has an allocator in C and one in Python.
 */
#ifndef GPUPOOL_ENGINE_H
#define GPUPOOL_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GP_ENGINE_VERSION 1

/* Memory is mapped into reserved addresses in pages of 2 MiB. */
#define GP_ENGINE_PAGE (UINT64_C(2) << 20)

/*
 * The device, from which an engine obtains memory. Addresses are numbers: there
 * is nothing to read or write. Each call is counted, and charged the time that
 * a GPU takes for it.
 */
struct gp_memory {
	void *device; /* the first argument of each call */
	/* cudaMalloc and cudaFree. malloc returns false when it is out of
	 * memory. Addresses are multiples of 2 MiB. */
	bool (*malloc)(void *device, uint64_t size, uint64_t *addr);
	void (*free)(void *device, uint64_t addr);
	/* reserve() reserves an address range without memory; map() and unmap()
	 * add and remove memory, in whole pages. A range stays reserved until
	 * the engine is destroyed. */
	bool (*reserve)(void *device, uint64_t size, uint64_t *addr);
	bool (*map)(void *device, uint64_t addr, uint64_t size);
	void (*unmap)(void *device, uint64_t addr, uint64_t size);
	/* cudaMemGetInfo */
	void (*info)(void *device, uint64_t *free_bytes, uint64_t *total_bytes);
};

/* A request for memory. */
struct gp_ask {
	uint64_t size; /* bytes, not 0 */
	uint64_t id;   /* of the block in the trace: 0, 1, 2 ... */
	uint64_t stream;
	uint64_t pool[2]; /* {0, 0}: the default pool */
};

/* The block that serves a request. */
struct gp_piece {
	uint64_t addr;
	uint64_t size;	 /* at least the requested size */
	uint64_t handle; /* the engine's own value, passed back to free() */
};

/*
 * alloc and free are mandatory. Any other function may be NULL; gpupool then
 * does what its comment says. self is the result of create.
 */
struct gp_engine_table {
	uint32_t version; /* GP_ENGINE_VERSION */
	/* Not 0: one allocator serves all streams and pools. 0: each stream of
	 * each pool gets an allocator of its own, as in PyTorch a freed block
	 * serves only its own stream. */
	uint32_t is_shared;
	const char *name;
	const char *sentence; /* a description; may be NULL */
	/* Creates an allocator without blocks. `memory` is valid until destroy.
	 * NULL: it failed. If there is no create, self is `memory`. */
	void *(*create)(const struct gp_memory *memory);
	void (*destroy)(void *self);
	/* Returns false when it is out of memory: gpupool then waits for all
	 * streams, calls trim, and tries once more. */
	bool (*alloc)(void *self, const struct gp_ask *ask,
		      struct gp_piece *piece);
	void (*free)(void *self, const struct gp_piece *piece);
	/* Returns unused memory to the device, as empty_cache does. NULL: no
	 * effect. */
	void (*trim)(void *self);
	/* The program reached a mark in the trace, such as a step. NULL: no
	 * effect. */
	void (*mark)(void *self, const char *name);
	/* The size of the largest free block. NULL: gpupool computes it from
	 * the gaps between blocks. */
	uint64_t (*largest_free)(void *self);
};

/* The function that a library exports: const struct gp_engine_table
 * *gpupool_engine(void). */
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
