/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp, releases 2.0
 * to 2.15): the state of one device's allocator, and what the files here have
 * of each other.
 *
 *     caching.c     blocks, and every request but alloc
 *     alloc.c       alloc, from a free block to the device and back
 *     free_list.h   free blocks in best-fit order
 *     pool.h        default and private pools, routing
 *     expandable.c  segments that grow page by page
 *     events.h      blocks that wait for other streams
 *     counter.c     the statistics
 *     variant.c     other devices' allocators, and proposed changes
 *     alike.c       settings that lead to the same decisions
 *     state.c       taking over a start state, showing the present one
 */
#ifndef CACHING_CACHING_H
#define CACHING_CACHING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/caching/events.h"
#include "allocator/caching/pool.h"
#include "allocator/caching/free_list.h"
#include "allocator/engines.h"
#include "base/larger.h"
#include "gpupool/allocator.h"
#include "gpupool/knob.h"

/* All blocks of an allocator: chunks, so that pointers stay. */
#define BLOCKS_PER_CHUNK 512
struct block_table {
	struct block **chunks;
	size_t chunk_count, chunk_room;
	struct block *spare; /* through next */
};

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
	struct gp_stats stats; /* by_pool: only when counter_fill made it */

	uint64_t reserved; /* bytes from the device, all pools */
	uint64_t limit;	   /* bytes; GP_UNLIMITED: none */
	uint32_t counter;  /* the last one given: see free_list.h */
	struct expandable_segment *expandable; /* all of them */
	enum block_order order;
	struct gp_alike *alike; /* config.alike until it is settled */
	bool gc_enabled;	/* a limit and a threshold are set */
	bool rounds_plainly;	/* to the next multiple of 512, no more */
	bool has_unmerged; /* a start state with free blocks beside each other
			    */

	/* The engine's own settings; NULL: CUDA's allocator. */
	const struct profile *profile;
	bool reuses_oversize;
	bool searches_again;

	struct block **scratch; /* blocks to walk while the free lists change */
	size_t scratch_room;

	const char *refusal;
	char refusal_text[256];
};

static inline struct caching *caching_of(struct gp_allocator *allocator)
{
	return (struct caching *)allocator;
}

/* ---- sizes: the constants are the same in all releases ---- */

#define MIB		(UINT64_C(1) << 20)
#define SMALL_SIZE	MIB	   /* kSmallSize: largest of the small pool */
#define SMALL_BUFFER	(2 * MIB)  /* kSmallBuffer */
#define LARGE_BUFFER	(20 * MIB) /* kLargeBuffer */
/* Larger requests are cut to this, so that sums of sizes cannot overflow; no
 * trace has them. */
#define LARGEST_REQUEST ((uint64_t)INT64_MAX)

/* What one malloc asks for. */
struct request {
	struct caching_pool *pool;
	uint64_t rounded;      /* bytes */
	uint64_t segment_size; /* bytes it would ask the device for */
	uint16_t stream;
	bool is_expandable; /* served and split as expandable segments are */
	bool is_restored;   /* the block has to be exactly as large */
};

/* ---- blocks and what is done with them: caching.c ---- */

void block_table_grow(struct block_table *table);

/* The new object is idle, mapped, in no segment; who makes it says where it
 * lies, its pool, stream and counter. */
static inline struct block *block_create(struct block_table *table)
{
	struct block *b;

	if (!table->spare)
		block_table_grow(table);
	b = table->spare;
	table->spare = b->next;
	b->prev = b->next = NULL;
	b->is_mapped = true;
	b->is_object = true;
	b->id = GP_NO_ID;
	return b;
}

/* Of an idle block. */
static inline void block_destroy(struct block_table *table, struct block *b)
{
	if (b->captured)
		block_forget_captured(b);
	b->requested = 0;
	b->segment = NULL;
	b->is_object = false;
	b->next = table->spare;
	table->spare = b;
}

void block_table_release(struct block_table *table);

void caching_notify(struct caching *c, enum gp_event_kind kind,
		    const struct block *b, uint64_t addr, uint64_t size);

/* Tells the listener, if there is one. */
static inline void caching_act(struct caching *c, enum gp_event_kind kind,
			       const struct block *b, uint64_t addr,
			       uint64_t size)
{
	if (c->config.action)
		caching_notify(c, kind, b, addr, size);
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
	b->list = like->list;
	b->segment = like->segment;
	b->counter = c->order == BY_OBJECT ? ++c->counter : like->counter;
	return b;
}

/* The block goes on its pool's free list. */
void caching_insert_free(struct block *b);

/* dst swallows src where both are idle and equally mapped; returns the bytes
 * gained. */
uint64_t caching_merge(struct caching *c, struct block *dst, struct block *src);

/* A freed block that waits for nothing any more. */
void caching_free_block(struct caching *c, struct block *b);

/* All shelved blocks of a pool in order, in c->scratch; returns how many. */
size_t caching_collect(struct caching *c, struct caching_pool *pool);

/* ---- serving a request: alloc.c ---- */

enum gp_answer alloc_serve(struct gp_allocator *allocator, uint32_t id,
			   uint64_t size, uint16_t stream, uint16_t pool,
			   uint64_t *addr);
uint64_t alloc_and_free(struct gp_allocator *allocator, uint64_t size,
			uint16_t stream, uint16_t pool, uint64_t most);
enum gp_answer alloc_restore(struct gp_allocator *allocator, uint32_t id,
			     uint64_t size, uint16_t stream, uint16_t pool,
			     uint64_t *addr);
bool alloc_route(struct gp_allocator *allocator, uint64_t size, uint16_t stream,
		 uint16_t pool, struct gp_route *route);

/* An unsplit free block goes back to the device. */
void segment_release(struct caching *c, struct block *b);

/* release_cached_blocks: index 0 for all, else one private pool's. */
enum gp_answer segment_release_cached(struct caching *c, uint16_t index);

/* ---- expandable segments: expandable.c ---- */

struct expandable_segment {
	uint64_t addr, size, page;		 /* bytes */
	struct expandable_segment *next, **link; /* all of an allocator */
};

/* Bytes that a segment of such pages reserves: 9/8 of the device, or what
 * expandable_segments_reserve says if less. */
uint64_t expandable_range(const struct caching *c, uint64_t page);

/* What a decision showed of a segment's reservation, in bytes from its start
 * on (struct gp_device_reach): there were so many, or with so many it would
 * have been another. */
void expandable_note_range(struct caching *c, uint64_t bytes, bool is_there);

/* A mapped free block of at least the request, off its free list; *found is
 * written only when served. */
enum gp_answer expandable_obtain(struct caching *c,
				 const struct request *request,
				 struct block **found);

/* Gives the whole pages of a shelved block back. */
enum gp_answer expandable_unmap(struct caching *c, struct block *b);

/*
 * ---- statistics: counter.c ----
 *
 * Updated as PyTorch updates them: each change counts for all and for the pool
 * kind of the block's pool (for_each_selected_stat_type).
 */

/* Of a level that is below 0 below its peak. */
void counter_new_peak(struct gp_level *level);

/* By less than nothing, too. */
static inline void counter_raise(struct gp_level *level, int64_t amount)
{
	level->below -= amount;
	if (__builtin_expect(level->below < 0, false))
		counter_new_peak(level);
}

static inline void counter_add(struct caching *c, enum gp_stat_id id,
			       struct tally *own, uint64_t amount)
{
	counter_raise(&c->tally[GP_STAT_ALL].levels[id], (int64_t)amount);
	counter_raise(&own->levels[id], (int64_t)amount);
	stat_grow(&own->allocated[id], (int64_t)amount);
}

static inline void counter_sub(struct caching *c, enum gp_stat_id id,
			       struct tally *own, uint64_t amount)
{
	c->tally[GP_STAT_ALL].levels[id].below += (int64_t)amount;
	own->levels[id].below += (int64_t)amount;
}

/* A net change: one increase or one decrease. */
static inline void counter_net(struct caching *c, enum gp_stat_id id,
			       struct tally *own, int64_t amount)
{
	counter_raise(&c->tally[GP_STAT_ALL].levels[id], amount);
	counter_raise(&own->levels[id], amount);
	stat_grow(&own->allocated[id], amount > 0 ? amount : 0);
}

/* Up by the amount, and down again. */
static inline void counter_touch_level(struct gp_level *level, int64_t amount)
{
	if (__builtin_expect(level->below < amount, false)) {
		level->peak += amount - level->below;
		level->below = amount;
	}
}

/* A net change and the opposite one, of which one is up by rise. */
static inline void counter_touch(struct caching *c, enum gp_stat_id id,
				 struct tally *own, int64_t amount,
				 int64_t rise)
{
	counter_touch_level(&c->tally[GP_STAT_ALL].levels[id], amount);
	counter_touch_level(&own->levels[id], amount);
	stat_grow(&own->allocated[id], rise);
}

/* The single ones: oversize_allocations and oversize_segments. */
void counter_increase(struct gp_stat *stat, int64_t amount);
void counter_decrease(struct gp_stat *stat, int64_t amount);

/* reserved_bytes, of all, of the pool kind and of a private pool. */
void counter_reserve(struct caching *c, const struct caching_pool *pool,
		     uint64_t bytes);
void counter_unreserve(struct caching *c, const struct caching_pool *pool,
		       uint64_t bytes);

/* Makes c->stats.by_pool what the tallies say. */
void counter_fill(struct caching *c);

/* resetPeakStats, resetAccumulatedStats */
void counter_reset_peak(struct caching *c);
void counter_reset_accumulated(struct caching *c);

/* ---- states: state.c ---- */

/* As if the state's segments had been obtained and cut just so. */
void state_adopt(struct caching *c, const struct gp_state *start);

/* Memory of the state is malloc's: gp_state_release. */
void state_export(struct caching *c, struct gp_state *state);

size_t state_candidates(struct caching *c, uint64_t size, uint16_t stream,
			uint16_t pool, struct gp_candidate *out, size_t room);

/* ---- other devices, proposed changes: variant.c ---- */

void variant_apply(struct caching *c, const struct gp_engine *engine);

/* What the settings are on that device, whenever they were set. */
void variant_restrict(struct caching *c);

/* A request's size, where it is not just rounded up to 512. */
uint64_t variant_round(const struct caching *c, uint64_t size);

/*
 * ---- alike: alike.c ----
 *
 * Which other values of the settings would have led to the same decisions.
 *
 * struct gp_alike begins with all values there are.  Each comparison with a
 * setting narrows its range to the side that the comparison took, so that at
 * any moment every setting within the ranges has led to the present state.
 * Where two settings decide together, a part of what is possible is left out:
 * the ranges are a box, of which each combination holds.
 */

/* All values that its settings may have. */
void alike_begin(struct caching *c);

/* The best free block of that size was taken, or was too large. */
void alike_narrow_fit(struct caching *c, uint64_t block, uint64_t rounded);

static inline void alike_fit(struct caching *c, uint64_t block,
			     uint64_t rounded)
{
	/* Below every limit there is nothing to decide. */
	if (c->alike && block >= c->alike->max_split_least)
		alike_narrow_fit(c, block, rounded);
}

/* More than SMALL_SIZE of a block was or was not split off. */
void alike_split(struct caching *c, uint64_t rounded);

/* A request is about to release oversize blocks. */
void alike_release(struct caching *c, const struct request *request);

/* large_segment_size is used as a size. */
static inline void alike_large(struct caching *c)
{
	if (!c->alike)
		return;
	c->alike->large_least = c->settings.large_segment_size;
	c->alike->large_most = c->settings.large_segment_size;
}

/* A request is about to ask the device: collection may come first. */
void alike_before_gc(struct caching *c);

/* What a collection did. */
struct alike_gc {
	uint64_t reserved; /* when it began */
	uint64_t reclaimed;
	uint64_t before_last; /* reclaimed before the last round that did */
	bool reached_target;  /* it ended for having reclaimed enough */
};
void alike_after_gc(struct caching *c, const struct alike_gc *gc);

/* The program sets them anew; c->settings are still the former ones. */
void alike_end(struct caching *c, const char *conf);

#endif
