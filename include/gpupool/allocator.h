/* SPDX-License-Identifier: MIT */
/*
 * An allocator: an engine that serves requests from a device.
 *
 * Engines know no files, flags or clocks.  Blocks are known by the dense ids of
 * the trace, streams and pools by their index in the tables of the config.
 * A request that cannot be served is an answer (enum gp_answer), with the
 * reason in PyTorch's words where there is one.
 */
#ifndef GPUPOOL_ALLOCATOR_H
#define GPUPOOL_ALLOCATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/device.h"
#include "gpupool/knob.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum gp_answer {
	GP_SERVED,
	GP_OUT_OF_MEMORY,
	GP_REJECTED,	    /* throw_on_cudamalloc_oom: refused before asking */
	GP_REFUSED_BY_RULE, /* an error PyTorch raises; see refusal */
};

/* ---- counters: c10/core/CachingDeviceAllocator.h, struct DeviceStats ---- */

struct gp_stat {
	int64_t current, peak, allocated, freed;
};

enum gp_stat_kind { GP_STAT_ALL, GP_STAT_SMALL, GP_STAT_LARGE };

enum gp_stat_id {
	GP_STAT_ALLOCATION,
	GP_STAT_SEGMENT,
	GP_STAT_ACTIVE,
	GP_STAT_INACTIVE_SPLIT,
	GP_STAT_ALLOCATED_BYTES,
	GP_STAT_RESERVED_BYTES,
	GP_STAT_ACTIVE_BYTES,
	GP_STAT_INACTIVE_SPLIT_BYTES,
	GP_STAT_REQUESTED_BYTES,
	GP_STAT_COUNT,
};

struct gp_stats {
	struct gp_stat by_pool[GP_STAT_COUNT][3]; /* enum gp_stat_kind */
	struct gp_stat oversize_allocations, oversize_segments;
	int64_t num_alloc_retries, num_ooms, num_oom_rejections;
	int64_t num_sync_all_streams, num_device_alloc, num_device_free;
	int64_t max_split_size; /* -1: unlimited */
};

/* Their names in torch.cuda.memory_stats. */
extern const char *const gp_stat_names[GP_STAT_COUNT];
extern const char *const gp_stat_kind_names[3];
/* "current", "peak", "allocated" and "freed", and those of one. */
#define GP_STAT_PARTS 4
extern const char *const gp_stat_part_names[GP_STAT_PARTS];
int64_t gp_stat_part(const struct gp_stat *stat, size_t part);

/* A private pool's part of reserved_bytes (2.13 and later). */
struct gp_pool_reserved {
	uint16_t pool;
	struct gp_stat by_kind[3]; /* enum gp_stat_kind */
};

/* ---- what an allocator does, as PyTorch's trace entries tell it ---- */

struct gp_action {
	uint8_t kind; /* GP_ALLOC, GP_FREE (free_requested) or an outcome */
	uint16_t stream, pool;
	uint32_t id;   /* GP_NO_ID for segments, oom and snapshot */
	uint64_t addr; /* oom: device_free */
	uint64_t size;
	uint64_t block; /* bytes of its block; 0: the engine does not tell */
};

/* A free block that a request could have taken. */
struct gp_candidate {
	uint64_t addr, size, segment_addr, segment_size;
};

/* Where a request is looked for: among free blocks of its stream in the small
 * or the large one of a pool's two pools. */
struct gp_route {
	uint64_t rounded; /* bytes of the block that it gets at least */
	uint16_t pool;
	bool is_small;
	bool gives_back; /* the cache, before the request fails */
	bool collects;	 /* old segments of it, before the device is asked */
};

struct gp_allocator;

/* For engines that run PyTorch itself: where its own calls go to a device. */
struct gp_torch_cuda {
	const char *runtime;	  /* libcudart of the CUDA it was built for */
	char *const *environment; /* of its process, but for its settings */
};

struct gp_engine;

#define GP_NO_PLACE UINT64_MAX

struct gp_allocator_config {
	const struct gp_engine *engine; /* that is created; NULL: not told */
	const struct gp_settings *settings;
	struct gp_device *device; /* borrowed */
	uint32_t device_ordinal;
	const uint64_t *streams; /* ascending; borrowed */
	size_t stream_count;
	const struct gp_pool_id *pools; /* borrowed; [0] is {0, 0} */
	size_t pool_count;
	uint32_t block_ids;	      /* every id is below */
	const struct gp_state *start; /* NULL: empty */
	/* By start segment, its age: 0 is the oldest.  NULL: address order. */
	const uint32_t *start_ranks;
	/* For engines that run PyTorch itself: what settings was parsed from
	 * (NULL: the defaults), and the folder of a prepared engine. */
	const char *conf, *torch_lib;
	/* NULL: PyTorch asks config->device, by way of its process; else the
	 * device itself, and addresses are those of the runtime. */
	const struct gp_torch_cuda *torch_cuda;
	/* For the engine plan: by block id, where it is to lie in the memory
	 * of its stream and pool; GP_NO_PLACE: nobody knows.  NULL: of all. */
	const uint64_t *places;
	/* For the engine async; NULL: PyTorch's. */
	const struct gp_pool_settings *pool_settings;
	/* Narrowed with each decision, by engines that can: those widen it
	 * first.  Borrowed; NULL: nobody asks. */
	struct gp_alike *alike;
	/* Called for each action, in order; NULL: nobody listens. */
	void (*action)(void *arg, const struct gp_action *action);
	void *action_arg;
};

/*
 * What an engine does.  alloc, free, stats, state and destroy have to be there;
 * any other may be NULL: such a request then means nothing to the engine, and
 * is served.
 */
struct gp_allocator_ops {
	const char *name;
	/* *addr is written only when served. size 0: served, nothing done. */
	enum gp_answer (*alloc)(struct gp_allocator *allocator, uint32_t id,
				uint64_t size, uint16_t stream, uint16_t pool,
				uint64_t *addr);
	/* alloc, and free of what it gave, in one: the block's bytes; 0:
	 * nothing was done, as the two calls would do more than hand out a free
	 * block and take it back, or as there would be more than most bytes
	 * allocated between them.  NULL: the two calls are made. */
	uint64_t (*alloc_and_free)(struct gp_allocator *allocator,
				   uint64_t size, uint16_t stream,
				   uint16_t pool, uint64_t most);
	/* As setCheckpointPoolState has it, a block of size bytes at *addr
	 * where that is free in its pool, and else as alloc, as if NULL. */
	enum gp_answer (*restore)(struct gp_allocator *allocator, uint32_t id,
				  uint64_t size, uint16_t stream, uint16_t pool,
				  uint64_t *addr);
	/* An id that is not live (its request was not served) is ignored, here
	 * and below. */
	void (*free)(struct gp_allocator *allocator, uint32_t id);
	/* stream GP_NO_STREAM: it is used on some other stream. */
	void (*record_stream)(struct gp_allocator *allocator, uint32_t id,
			      uint16_t stream);
	/* All work issued so far on the stream, or GP_ALL_STREAMS, is done. */
	void (*synchronize)(struct gp_allocator *allocator, uint16_t stream);
	/* What is issued on by from here on comes behind all that was issued
	 * on stream. */
	void (*wait)(struct gp_allocator *allocator, uint16_t stream,
		     uint16_t by);
	/* What the freed block still waits for is done. */
	void (*complete)(struct gp_allocator *allocator, uint32_t id);
	/* Those below answer GP_SERVED or GP_REFUSED_BY_RULE. */
	enum gp_answer (*empty_cache)(struct gp_allocator *allocator,
				      uint16_t pool);
	enum gp_answer (*set_fraction)(struct gp_allocator *allocator,
				       double fraction);
	enum gp_answer (*set_settings)(struct gp_allocator *allocator,
				       const char *conf);
	enum gp_answer (*pool_begin)(struct gp_allocator *allocator,
				     uint16_t pool, bool is_capture);
	/* A capture of that stream, and of those that wait for it, until
	 * pool_end.  NULL: pool_begin is asked. */
	enum gp_answer (*capture)(struct gp_allocator *allocator, uint16_t pool,
				  uint16_t stream);
	enum gp_answer (*pool_end)(struct gp_allocator *allocator,
				   uint16_t pool);
	enum gp_answer (*pool_release)(struct gp_allocator *allocator,
				       uint16_t pool);
	/* GP_POOL_CREATE and the kinds behind it. */
	enum gp_answer (*pool_change)(struct gp_allocator *allocator,
				      uint16_t pool, enum gp_event_kind change);
	void (*reset_peak)(struct gp_allocator *allocator);
	void (*reset_accumulated)(struct gp_allocator *allocator);
	/* Counters so far; valid until the next call. */
	const struct gp_stats *(*stats)(struct gp_allocator *allocator);
	/* reserved_bytes_by_private_pools; false: that pool never had a
	 * segment.  NULL: it is not counted. */
	bool (*pool_reserved)(struct gp_allocator *allocator, uint16_t pool,
			      struct gp_pool_reserved *reserved);
	/* Segments and blocks now, in address order, in memory of *state that
	 * the caller frees with gp_state_release. */
	void (*state)(struct gp_allocator *allocator, struct gp_state *state);
	/* Free blocks that could serve such a request, best first. */
	size_t (*candidates)(struct gp_allocator *allocator, uint64_t size,
			     uint16_t stream, uint16_t pool,
			     struct gp_candidate *out, size_t room);
	/* Where such a request is looked for; false: nowhere.  NULL: the engine
	 * does not tell. */
	bool (*route)(struct gp_allocator *allocator, uint64_t size,
		      uint16_t stream, uint16_t pool, struct gp_route *route);
	/* The largest free block, in bytes; NULL: state() must be asked. */
	uint64_t (*largest_free)(struct gp_allocator *allocator);
	/* Why the last request was GP_REFUSED_BY_RULE, in PyTorch's words; from
	 * PyTorch itself also why it was out of memory. */
	const char *(*refusal)(struct gp_allocator *allocator);
	/* Whether the engine itself still works. */
	enum gp_status (*health)(struct gp_allocator *allocator,
				 struct gp_diag *diag);
	void (*destroy)(struct gp_allocator *allocator);
	/* The program has come to a mark, which is not the end of another. */
	void (*mark)(struct gp_allocator *allocator, const char *name);
};

/* A quantity now, kept as what is cheapest to keep: a request that does not
 * reach a new peak changes one number.  now = peak - below. */
struct gp_level {
	int64_t peak, below;
};

static inline int64_t gp_level_now(const struct gp_level *level)
{
	return level->peak - level->below;
}

/* The head of every engine. */
struct gp_allocator {
	const struct gp_allocator_ops *ops;
	/* GP_STAT_ALL's of each statistic, by enum gp_stat_id; always up to
	 * date, where stats() may have to add up. */
	const struct gp_level *levels;
};

/* A setting of an engine's own, as in "bfc:fraction=0.75". */
struct gp_engine_setting {
	const char *name;
	const char *words; /* that it takes: "true|false"; NULL: a number */
	double least, most;
	const char *by_default;
	const char *sentence;
};

struct gp_engine {
	const char *name;
	const char *sentence;
	/* What its numbers are on a simulated device, where the driver would
	 * place its memory; NULL: what they are on a real one. */
	const char *simulated;
	enum gp_status (*create)(const struct gp_allocator_config *config,
				 struct gp_allocator **allocator,
				 struct gp_diag *diag);
	/* What has to be installed for it, Debian's package where there is
	 * one; NULL: nothing. */
	const char *needs;
	/* Why it holds memory that nothing is in; NULL: all goes back when the
	 * program empties the cache. */
	const char *keeps;
	/* Whose memory it has when the device's is used up; NULL: nobody's. */
	const char *beyond;
	/* The last has no name; NULL: it has none. */
	const struct gp_engine_setting *settings;
	/* One for each, NULL: its default; NULL: all by default. */
	char *const *values;
	/* The command that its process is made of; NULL: gpupool, by PATH. */
	const char *program;
	void (*close)(struct gp_engine *engine); /* of an opened one */
};

/* As PyTorch's backend cudaMallocAsync sets its pool. */
extern const struct gp_pool_settings gp_pool_settings_pytorch;

/*
 * The engines that come along; the first is the default.  A replay takes any
 * other one by its address, too: a table of ops and a create of the caller's
 * (examples/engine.c).
 */
const struct gp_engine *gp_engine_table(size_t *count);
const struct gp_engine *gp_engine_find(const char *name);
/* What an engine's numbers are without the device it is for, by what --engine
 * says; NULL: what they are with it. */
const char *gp_engine_note(const char *name);
/* Its memory is the host's, pinned, and so are its requests: it is compared
 * with no other.  engine may be NULL. */
bool gp_engine_is_of_host(const struct gp_engine *engine);
/* It is a malloc that programs on the host use. */
bool gp_engine_is_malloc(const struct gp_engine *engine);

/*
 * An engine by what --engine says: one that comes along, under settings of its
 * own, "bfc:fraction=0.5:preallocate=true"; or out of a shared library, as
 * gpupool/engine.h has it, in a process of its own for each replay.  path is
 * also its name.  GP_USAGE: there is no such engine, setting or value;
 * GP_INPUT: the library is none.  The caller closes it behind the last replay.
 */
struct gp_engine_library {
	const char *path;
	/* The command that the process is made of; NULL: gpupool, by PATH. */
	const char *program;
	char *const *environment; /* of the process, borrowed; NULL: none */
};
enum gp_status gp_engine_open(const struct gp_engine_library *library,
			      struct gp_engine **engine, struct gp_diag *diag);
void gp_engine_close(struct gp_engine *engine); /* takes NULL */
/* Whether that is a library: it has a slash, or ends as libraries do. */
bool gp_engine_is_file(const char *name);
/* Whether an engine of that name, with settings of its own or without, is
 * an allocator of PyTorch's, and so takes PyTorch's settings. */
bool gp_engine_is_pytorch(const char *name);
/* A setting of the engine that is so named; of any where name is NULL.  NULL:
 * there is none. */
const struct gp_engine_setting *gp_engine_setting(const char *name,
						  const char *setting);
/* What a setting of it is set to; NULL: it has no such setting. */
const char *gp_engine_value(const struct gp_engine *engine,
			    const char *setting);
/* The name with that setting, in place of one before; value NULL: without it.
 * The caller frees it. */
char *gp_engine_with(const char *name, const char *setting, const char *value);

void gp_state_release(struct gp_state *state);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
