/* SPDX-License-Identifier: MIT */
/*
 * The adapter between struct gp_allocator and a plug-in engine
 * (gpupool/engine.h): does what such an engine need not do itself.
 *
 *     keeper.c         requests, and pending frees
 *     keeper_memory.c  memory obtained from the device, and the blocks in it
 *
 * The functions of a built-in table run in this process; those of a library are
 * called through plugin/, in a child process.
 */
#ifndef ALLOCATOR_KEEPER_H
#define ALLOCATOR_KEEPER_H

#include "base/map.h"
#include "gpupool/allocator.h"
#include "gpupool/engine.h"

struct keeper;

/* An allocator made by the table's create, and the stream and pool that it
 * serves. */
struct keeper_heap {
	struct keeper *keeper;
	struct gp_memory memory;
	void *self;
	uint32_t index;
	uint16_t stream, pool;
};

struct keeper_block {
	struct gp_piece piece;
	uint64_t requested;
	uint32_t heap;
	uint32_t uses; /* index + 1 of the latest use; 0: none */
	uint8_t state; /* enum gp_block_state; GP_INACTIVE: unused id */
};

/* A stream, other than the block's own, that used it. A linked list, which ends
 * with 0. */
struct keeper_use {
	uint32_t next; /* index + 1 */
	uint16_t stream;
};

/* Memory from the device, or a reservation. */
struct keeper_span {
	uint64_t addr, size;
	uint32_t heap;
	bool is_mapped;
};

struct keeper_spans { /* sorted by address */
	struct keeper_span *items;
	size_t count, room;
};

/* A routing of requests that name no pool. */
struct keeper_route {
	uint16_t pool, stream; /* requests on that stream, or GP_ALL_STREAMS */
};

struct keeper {
	struct gp_allocator head;
	struct gp_allocator_config config;
	const struct gp_engine_table *table;
	/* Whether each block is checked against the other blocks and the memory
	 * obtained from the device. */
	bool is_checked;
	void (*destroyed)(struct keeper *keeper); /* may be NULL */

	struct keeper_heap **heaps;
	size_t heap_count, heap_room;
	struct gp_map heap_of; /* key: stream and pool */

	struct keeper_block *blocks; /* by id */
	struct {
		struct keeper_use *items;
		size_t count, room;
		uint32_t spare; /* index + 1 */
	} uses;
	uint32_t *pending; /* ids in order of free */
	size_t pending_count, pending_room;
	struct keeper_route *routes;
	size_t route_count, route_room;

	struct keeper_spans memory, reserved;
	bool is_amount; /* memory is a single range: keeper_hold() */
	uint64_t limit; /* bytes that may be reserved; GP_UNLIMITED */
	uint32_t *live; /* ids sorted by address, if is_checked */
	size_t live_count, live_room;

	struct gp_stats stats;
	struct gp_level levels[GP_STAT_COUNT];
	struct {
		const char *name;
		uint64_t size, id; /* size 0: not about a block */
	} call;			   /* the call in progress, for messages */
	char trouble[512]; /* why the engine is no longer called; "": it is */
};

/* keeper_create() makes a keeper for an engine that runs in this process;
 * keeper_init() initialises a zeroed one that is the first member of a larger
 * struct. GP_INPUT: the engine cannot be created, or cannot adopt the start
 * state. */
enum gp_status keeper_create(const struct gp_engine_table *table,
			     const struct gp_allocator_config *config,
			     struct gp_allocator **allocator,
			     struct gp_diag *diag);
enum gp_status keeper_init(struct keeper *keeper,
			   const struct gp_engine_table *table,
			   const struct gp_allocator_config *config,
			   struct gp_diag *diag);

/* The value of an engine's setting: the one that was given, or its default. */
const char *keeper_setting(const struct gp_memory *memory, const char *name);

/* The planned place of a block, or GP_NO_PLACE. */
uint64_t keeper_planned(const struct gp_memory *memory, uint32_t id);

/* Stops using the engine because of the call in progress. If called again, the
 * first reason stays. */
void keeper_fail(struct keeper *l, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static inline bool keeper_is_broken(const struct keeper *l)
{
	return *l->trouble;
}

void keeper_count(struct keeper *l, enum gp_stat_id id, int64_t amount);
void keeper_act(struct keeper *l, enum gp_event_kind kind,
		const struct keeper_heap *heap, uint32_t id, uint64_t addr,
		uint64_t size);

/* keeper_memory.c */
struct gp_memory keeper_memory(struct keeper_heap *heap);
/* Registers a block. If it cannot be there, the keeper fails and the result is
 * false. */
bool keeper_place(struct keeper *l, uint32_t id);
void keeper_displace(struct keeper *l, uint32_t id);
/* The engine holds that many bytes, at unknown addresses: obtains as many from
 * the device. False: the device has too few. */
bool keeper_hold(struct keeper *l, uint64_t bytes);
void keeper_state(struct gp_allocator *allocator, struct gp_state *state);

#endif
