/* SPDX-License-Identifier: MIT */
/*
 * What an engine of a few calls (gpupool/engine.h) need not do by itself.
 *
 *     keeper.c         requests, and blocks that wait for other streams
 *     keeper_memory.c  what is taken from the device, and what lies there
 *
 * The table's calls go on in this process; those of plugin/ are passed on to a
 * library in another one.
 */
#ifndef ALLOCATOR_KEEPER_H
#define ALLOCATOR_KEEPER_H

#include "base/map.h"
#include "gpupool/allocator.h"
#include "gpupool/engine.h"

struct keeper;

/* An allocator of the table's, and whom it serves. */
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
	uint32_t uses; /* index + 1 of its last use; 0: none */
	uint8_t state; /* enum gp_block_state; GP_INACTIVE: it is not there */
};

/* A stream that used a block beside its own; 0 ends the list. */
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

struct keeper_spans { /* by address */
	struct keeper_span *items;
	size_t count, room;
};

/* Where requests without a pool go. */
struct keeper_route {
	uint16_t pool, stream; /* of that stream, or GP_ALL_STREAMS */
};

struct keeper {
	struct gp_allocator head;
	struct gp_allocator_config config;
	const struct gp_engine_table *table;
	/* Whether each block is compared with the others and with the memory
	 * there is. */
	bool is_checked;
	void (*destroyed)(struct keeper *keeper); /* NULL: nobody asks */

	struct keeper_heap **heaps;
	size_t heap_count, heap_room;
	struct gp_map heap_of; /* by stream and pool */

	struct keeper_block *blocks; /* by id */
	struct {
		struct keeper_use *items;
		size_t count, room;
		uint32_t spare; /* index + 1 */
	} uses;
	uint32_t *pending; /* ids, in the order of their frees */
	size_t pending_count, pending_room;
	struct keeper_route *routes;
	size_t route_count, route_room;

	struct keeper_spans memory, reserved;
	bool is_amount; /* memory is one range, by keeper_hold */
	uint64_t limit; /* bytes that may be reserved; GP_UNLIMITED */
	uint32_t *live; /* ids by address, when is_checked */
	size_t live_count, live_room;

	struct gp_stats stats;
	struct gp_level levels[GP_STAT_COUNT];
	struct {
		const char *name;
		uint64_t size, id; /* size 0: it is about no block */
	} call;			   /* the one under way, for messages */
	char trouble[512]; /* why the engine is not asked any more; "": it is */
};

/* A keeper for an engine whose calls go on in this process, or one that begins
 * a larger struct, zeroed.  GP_INPUT: it cannot begin so. */
enum gp_status keeper_create(const struct gp_engine_table *table,
			     const struct gp_allocator_config *config,
			     struct gp_allocator **allocator,
			     struct gp_diag *diag);
enum gp_status keeper_init(struct keeper *keeper,
			   const struct gp_engine_table *table,
			   const struct gp_allocator_config *config,
			   struct gp_diag *diag);

/* Of the engine, by its name: what it was set to, or its default. */
const char *keeper_setting(const struct gp_memory *memory, const char *name);

/* Where the block is to lie; GP_NO_PLACE. */
uint64_t keeper_planned(const struct gp_memory *memory, uint32_t id);

/* The engine is not to be trusted any more, since the call under way: the first
 * reason stands. */
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
/* Notes a block; false, and the keeper has failed, where it cannot lie there.
 */
bool keeper_place(struct keeper *l, uint32_t id);
void keeper_displace(struct keeper *l, uint32_t id);
/* The engine has so many bytes, wherever they are: the device is asked for as
 * many.  False: it has not so many. */
bool keeper_hold(struct keeper *l, uint64_t bytes);
void keeper_state(struct gp_allocator *allocator, struct gp_state *state);

#endif
