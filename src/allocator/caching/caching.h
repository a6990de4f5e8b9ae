/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp, releases 2.0
 * to 2.15): the state of one device's allocator, shared by the files here.
 *
 *     caching.c     blocks, and every request but alloc
 *     alloc.h       alloc
 *     size.h        pools and segments by size
 *     pool.h        default and private pools, routing
 *     shelf.h       free blocks in best-fit order, with bin.h and tree.h
 *     segment.h     memory from the device and back; the retry ladder
 *     expandable.h  segments that grow page by page
 *     gc.h          garbage collection of old segments
 *     events.h      blocks that wait for other streams
 *     counter.h     the statistics
 *     alike.h       settings that lead to the same decisions
 *     state.h       taking over a start state, showing the present one
 */
#ifndef CACHING_CACHING_H
#define CACHING_CACHING_H

#include "allocator/caching/block.h"
#include "allocator/caching/capture.h"
#include "allocator/caching/events.h"
#include "allocator/caching/pool.h"
#include "gpupool/allocator.h"

enum block_order { BY_ADDRESS, BY_OBJECT, BY_SEGMENT };

/*
 * One pool kind's statistics, by enum gp_stat_id.  What was freed is not kept:
 * freed = allocated + start - current.  Of GP_STAT_ALL, neither is allocated.
 */
struct tally {
	struct gp_level levels[GP_STAT_COUNT];
	int64_t allocated[GP_STAT_COUNT];
	int64_t start[GP_STAT_COUNT]; /* current at the last reset */
};

struct caching {
	struct gp_allocator head;
	struct gp_allocator_config config;
	struct gp_settings settings;
	struct gp_device *device;
	uint64_t device_total; /* bytes, as the device tells */

	struct block_table blocks;
	struct block **live; /* by id; NULL: not live */
	struct pools pools;
	struct events events;
	struct captures captures;
	struct tally tally[3]; /* enum gp_stat_kind */
	struct gp_stats stats; /* by_pool: only when counter_tell made it */

	uint64_t reserved; /* bytes from the device, all pools */
	uint64_t limit;	   /* bytes; GP_UNLIMITED: none */
	uint32_t counter;  /* the last one given: see block.h */
	struct expandable_segment *expandable; /* all of them */
	enum block_order order;
	struct gp_alike *alike; /* config.alike until it is settled: alike.h */
	bool gc_enabled;	/* a limit and a threshold are set */
	bool rounds_plainly;	/* no roundup_power2_divisions: to 512 */

	struct block **scratch; /* blocks to walk while the shelves change */
	size_t scratch_room;

	const char *refusal;
	char refusal_text[256];
};

static inline struct caching *caching_of(struct gp_allocator *allocator)
{
	return (struct caching *)allocator;
}

void caching_tell(struct caching *c, enum gp_event_kind kind,
		  const struct block *b, uint64_t addr, uint64_t size);

/* Tells the listener, if there is one. */
static inline void caching_act(struct caching *c, enum gp_event_kind kind,
			       const struct block *b, uint64_t addr,
			       uint64_t size)
{
	if (c->config.action)
		caching_tell(c, kind, b, addr, size);
}

/* An error PyTorch raises, in its words. */
enum gp_answer caching_refuse(struct caching *c, const char *reason);

/* A new object in the segment of like: a part of it. */
static inline struct block *caching_part(struct caching *c,
					 const struct block *like,
					 uint64_t addr, uint64_t size)
{
	struct block *b = block_create(&c->blocks);

	b->addr = addr;
	b->size = size;
	b->stream = like->stream;
	b->pool = like->pool;
	b->segment = like->segment;
	b->counter = c->order == BY_OBJECT ? ++c->counter : like->counter;
	return b;
}

/* The block goes on its pool's shelf. */
void caching_shelve(struct block *b);

/* dst swallows src where both are idle and equally mapped; returns the bytes
 * gained. */
uint64_t caching_merge(struct caching *c, struct block *dst, struct block *src);

/* A freed block that waits for nothing any more. */
void caching_free_block(struct caching *c, struct block *b);

/* All shelved blocks of a pool in order, in c->scratch; returns how many. */
size_t caching_collect(struct caching *c, struct caching_pool *pool);

#endif
