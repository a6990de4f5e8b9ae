/* SPDX-License-Identifier: MIT */
/*
 * PyTorch's caching allocator (c10/cuda/CUDACachingAllocator.cpp, releases 2.0
 * to 2.15): the state of one device's allocator, and the interfaces of these
 * files to each other.
 *
 *     caching.c     blocks, and every request but alloc
 *     alloc.c       alloc, from a free block to the device and back
 *     free_list.h   free blocks in best-fit order
 *     pool.h        default and private pools, routing
 *     expandable.c  segments that grow page by page
 *     events.h      pending frees: blocks that other streams may still use
 *     robin.h       hash maps that are iterated over as PyTorch's are
 *     counter.c     the statistics
 *     variant.c     allocators of other devices, and proposed changes
 *     alike.c       settings that lead to the same decisions
 *     state.c       adopting a start state, exporting the current one
 *     copy.c        copies, and shapes: allocators of equal shape make the same
 *                   decisions from here on
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

/* All blocks of an allocator, allocated in chunks, so that pointers stay
 * valid. */
#define BLOCKS_PER_CHUNK 128
struct block_table {
	struct block **chunks;
	size_t chunk_count, chunk_room;
	struct block *spare; /* unused blocks, linked through next */
};

/* What orders free blocks of equal size before their addresses do: nothing, the
 * number of the block object, or that of its segment (the counter in struct
 * block). */
enum block_order { BY_ADDRESS, BY_OBJECT, BY_SEGMENT };

/*
 * The statistics of one kind of pool, by enum gp_stat_id. What was freed is
 * derived: freed = allocated + start - current. Of GP_STAT_ALL, neither
 * allocated nor freed is kept: both are the sums over the two kinds.
 */
struct tally {
	struct gp_level levels[GP_STAT_COUNT];
	int64_t allocated[GP_STAT_COUNT];
	int64_t start[GP_STAT_COUNT]; /* value of current at the last reset */
};

struct caching {
	struct gp_allocator head;
	struct gp_allocator_config config;
	struct gp_settings settings;
	struct gp_device *device;
	uint64_t device_total; /* bytes, as reported by the device */

	struct block_table blocks;
	struct block **live; /* by block id; NULL: not live */
	struct pools pools;
	struct stream_events events;
	struct captures captures;
	struct tally tally[3]; /* enum gp_stat_kind */
	struct gp_stats stats; /* by_pool is only valid after counter_fill() */

	uint64_t reserved; /* bytes obtained from the device, all pools */
	uint64_t limit;	   /* bytes; GP_UNLIMITED: none */
	uint32_t counter;  /* the last one assigned: struct block */
	/* List of all expandable segments. */
	struct expandable_segment *expandable;
	enum block_order order;
	/* config.alike; NULL once its ranges are final */
	struct gp_alike *alike;
	bool gc_enabled; /* both a limit and a threshold are set */
	/* Sizes are rounded up to multiples of 512 only. */
	bool rounds_plainly;
	bool has_unmerged; /* the start state has adjacent free blocks */

	/* The engine's own settings; profile is NULL for CUDA's allocator. */
	const struct profile *profile;
	bool reuses_oversize;
	bool searches_again;

	/* Blocks collected for a walk that changes the free lists. */
	struct block **scratch;
	size_t scratch_room;

	const char *refusal;
	char refusal_text[256];
};

static inline struct caching *caching_of(struct gp_allocator *allocator)
{
	return (struct caching *)allocator;
}

/* ---- sizes: these constants are the same in all releases ---- */

#define MIB		(UINT64_C(1) << 20)
#define SMALL_BUFFER	(2 * MIB)  /* kSmallBuffer */
#define LARGE_BUFFER	(20 * MIB) /* kLargeBuffer */
/* Larger requests are clamped to this, so that sums of sizes cannot overflow;
 * no trace contains one. */
#define LARGEST_REQUEST ((uint64_t)INT64_MAX)

/* One request for memory. */
struct request {
	struct caching_pool *pool;
	uint64_t rounded; /* bytes */
	/* Bytes to ask the device for if no free block fits. */
	uint64_t segment_size;
	uint16_t stream;
	bool is_expandable; /* allocated and split as in expandable segments */
	bool is_restored;   /* the block has to be exactly this large */
};

/* ---- blocks: caching.c ---- */

void block_table_grow(struct block_table *table);

/* The new block is free and mapped, in no segment; the caller sets its address,
 * size, free list, stream and counter. */
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

/* The block must be free and in no free list. */
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

void caching_notify(struct caching *c, enum gp_event_kind kind,
		    const struct block *b, uint64_t addr, uint64_t size);

/* Notifies the listener, if there is one. */
static inline void caching_act(struct caching *c, enum gp_event_kind kind,
			       const struct block *b, uint64_t addr,
			       uint64_t size)
{
	if (c->config.action)
		caching_notify(c, kind, b, addr, size);
}

/* Refuses a request with an error that PyTorch raises, in PyTorch's words. */
enum gp_answer caching_refuse(struct caching *c, const char *reason);

/* A new block in the same segment as `like`, of which it is a part. */
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

/* Inserts a free block into its free list. */
void caching_insert_free(struct block *b);

/* Merges src into its neighbour dst if src is free and both are mapped or both
 * unmapped; returns the bytes gained. src may be NULL. */
uint64_t caching_merge(struct caching *c, struct block *dst, struct block *src);

/* Frees a block that no stream uses any more, and coalesces it with its free
 * neighbours. */
void caching_free_block(struct caching *c, struct block *b);

/* Collects the free blocks of a pool in c->scratch, by stream and then in
 * best-fit order; returns how many there are. */
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

/* release_cached_blocks: index 0 for all pools, or the index of one private
 * pool. */
enum gp_answer alloc_release_cached(struct caching *c, uint16_t index);

/* ---- expandable segments: expandable.c ---- */

struct expandable_segment {
	uint64_t addr, size, page;		 /* bytes */
	const struct free_list *list;		 /* of its blocks */
	struct expandable_segment *next, **link; /* in caching.expandable */
};

/* The bytes that a segment of such pages reserves: 9/8 of the device's memory,
 * or less if expandable_segments_reserve says so. */
uint64_t expandable_range(const struct caching *c, uint64_t page);

/* Records what a decision depended on, for struct gp_device_reach. bytes: from
 * the start of a segment's reservation. is_there: the reservation has that many
 * bytes, as the decision required; else it has fewer, and the decision would
 * have differed if it had as many. */
void expandable_note_range(struct caching *c, uint64_t bytes, bool is_there);

/* Obtains a mapped free block of at least the requested size, already removed
 * from its free list. *found is only written on success. */
enum gp_answer expandable_obtain(struct caching *c,
				 const struct request *request,
				 struct block **found);

/* Unmaps the whole pages of a free block. */
enum gp_answer expandable_unmap(struct caching *c, struct block *b);

/*
 * ---- statistics: counter.c ----
 *
 * Updated exactly as PyTorch updates them: each change counts for all pools and
 * for the kind of the block's pool (for_each_selected_stat_type).
 */

/* Raises the peak to the current value; for a level whose `below`, the distance
 * to its peak, has become negative. */
void counter_new_peak(struct gp_level *level);

/* The amount may be negative. */
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

/* A net change, counted as a single increase or decrease. */
static inline void counter_net(struct caching *c, enum gp_stat_id id,
			       struct tally *own, int64_t amount)
{
	counter_raise(&c->tally[GP_STAT_ALL].levels[id], amount);
	counter_raise(&own->levels[id], amount);
	stat_grow(&own->allocated[id], amount > 0 ? amount : 0);
}

/* An increase followed by the same decrease: only the peak may change. */
static inline void counter_touch_level(struct gp_level *level, int64_t amount)
{
	if (__builtin_expect(level->below < amount, false)) {
		level->peak += amount - level->below;
		level->below = amount;
	}
}

/* A net change and its reversal. One of the two is an increase, by rise. */
static inline void counter_touch(struct caching *c, enum gp_stat_id id,
				 struct tally *own, int64_t amount,
				 int64_t rise)
{
	counter_touch_level(&c->tally[GP_STAT_ALL].levels[id], amount);
	counter_touch_level(&own->levels[id], amount);
	stat_grow(&own->allocated[id], rise);
}

/* Statistics that are not kept per pool: oversize_allocations,
 * oversize_segments. */
void counter_increase(struct gp_stat *stat, int64_t amount);
void counter_decrease(struct gp_stat *stat, int64_t amount);

/* reserved_bytes: of all pools, of the kind of pool, and of a private pool. */
void counter_reserve(struct caching *c, const struct caching_pool *pool,
		     uint64_t bytes);
void counter_unreserve(struct caching *c, const struct caching_pool *pool,
		       uint64_t bytes);

/* Computes c->stats.by_pool from the tallies. */
void counter_fill(struct caching *c);

/* resetPeakStats, resetAccumulatedStats */
void counter_reset_peak(struct caching *c);
void counter_reset_accumulated(struct caching *c);

/* ---- start state and snapshots: state.c ---- */

/* Sets the allocator up as if it had obtained and split these segments
 * itself. */
void state_adopt(struct caching *c, const struct gp_state *start);

/* The caller owns the result: gp_state_release(). */
void state_export(struct caching *c, struct gp_state *state);

size_t state_candidates(struct caching *c, uint64_t size, uint16_t stream,
			uint16_t pool, struct gp_candidate *out, size_t room);

/* ---- copies: copy.c ---- */

struct gp_allocator *copy_make(struct gp_allocator *allocator,
			       struct gp_device *device,
			       struct gp_alike *alike);

/* Only for releases in which addresses do not decide between segments. */
bool copy_shape(struct gp_allocator *allocator, struct gp_shape *shape);

/* ---- other devices and proposed changes: variant.c ---- */

void variant_apply(struct caching *c, const struct gp_engine *engine);

/* Resets the settings that the device's allocator does not have. To be called
 * after every change of the settings. */
void variant_restrict(struct caching *c);

/* The rounded size of a request, where more than rounding up to 512 is
 * involved. */
uint64_t variant_round(const struct caching *c, uint64_t size);

/*
 * ---- alike: alike.c ----
 *
 * Which other values of the settings would have led to the same decisions.
 *
 * struct gp_alike starts with all possible values. Each comparison with a
 * setting narrows that setting's range to the side that the comparison took.
 * Invariant: every combination of settings within the ranges would have led to
 * the current state. Where a decision depends on two settings, some equivalent
 * combinations are lost, because the ranges form a box.
 */

/* Starts with all values that the settings may have. */
void alike_begin(struct caching *c);

/* Narrows the ranges by the decision whether a best-fit block of this size may
 * serve the request (gp_settings_is_too_large). */
void alike_narrow_fit(struct caching *c, uint64_t block, uint64_t rounded);

static inline void alike_fit(struct caching *c, uint64_t block,
			     uint64_t rounded)
{
	/* Every max_split_size in the range is larger than the block, so the
	 * decision would always be the same. */
	if (c->alike && block >= c->alike->max_split_least)
		alike_narrow_fit(c, block, rounded);
}

/* A block with more than GP_SMALL_SIZE bytes to spare was split, or was not. */
void alike_split(struct caching *c, uint64_t rounded);

/* Called before a request releases oversize blocks. */
void alike_release(struct caching *c, const struct request *request);

/* large_segment_size was used as a size: only its present value leads here. */
static inline void alike_large(struct caching *c)
{
	if (!c->alike)
		return;
	c->alike->large_least = c->settings.large_segment_size;
	c->alike->large_most = c->settings.large_segment_size;
}

/* Called before a request asks the device, which may start a garbage
 * collection. */
void alike_before_gc(struct caching *c);

/* What a garbage collection did. */
struct alike_gc {
	uint64_t reserved; /* reserved bytes when it began */
	uint64_t reclaimed;
	/* Reclaimed before the last round that reclaimed anything. */
	uint64_t before_last;
	bool reached_target; /* it stopped because it had reclaimed enough */
};
void alike_after_gc(struct caching *c, const struct alike_gc *gc);

/* The program sets new settings; c->settings still has the former ones. */
void alike_end(struct caching *c, const char *conf);

#endif
