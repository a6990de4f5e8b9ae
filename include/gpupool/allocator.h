/* SPDX-License-Identifier: MIT */
/*
 * An allocator: an engine that serves memory requests from a device.
 *
 * An engine has no access to files, command-line flags or clocks. Blocks are
 * identified by the dense ids of the trace; streams and pools by their index in
 * the tables of the config. A request that cannot be served is an answer (enum
 * gp_answer), not an error, with the reason in PyTorch's words where PyTorch
 * has one.
 *
 * Sizes and addresses are in bytes. An allocator may be used by one thread at a
 * time.
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
	GP_REJECTED, /* throw_on_cudamalloc_oom: the device was not asked */
	GP_REFUSED_BY_RULE, /* an error that PyTorch raises: refusal() */
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

/* The names of the counters in torch.cuda.memory_stats. */
extern const char *const gp_stat_names[GP_STAT_COUNT];
extern const char *const gp_stat_kind_names[3];
/* The names of a counter's members, "current", "peak", "allocated" and "freed",
 * and the value of the member with that index. */
#define GP_STAT_PARTS 4
extern const char *const gp_stat_part_names[GP_STAT_PARTS];
int64_t gp_stat_part(const struct gp_stat *stat, size_t part);

/* The part of reserved_bytes that belongs to a private pool (2.13 and
 * later). */
struct gp_pool_reserved {
	uint16_t pool;
	struct gp_stat by_kind[3]; /* enum gp_stat_kind */
};

/* ---- an allocator's actions, as in PyTorch's trace entries ---- */

struct gp_action {
	uint8_t kind; /* GP_ALLOC, GP_FREE (free_requested) or an outcome */
	uint16_t stream, pool;
	uint32_t id;   /* GP_NO_ID for segments, oom and snapshot */
	uint64_t addr; /* oom: device_free */
	uint64_t size;
	uint64_t block; /* bytes of its block; 0: not reported */
};

/* A free block that a request could have taken. */
struct gp_candidate {
	uint64_t addr, size, segment_addr, segment_size;
};

/* Where a request is served from: the free blocks of its stream, among the
 * small or the large blocks of a pool. */
struct gp_route {
	uint64_t rounded; /* least size of its block, in bytes */
	uint16_t pool;
	bool is_small;
	/* Before the request fails, cached memory is released. */
	bool gives_back;
	/* Garbage collection may run before the device is asked. */
	bool collects;
};

struct gp_allocator;

/* For engines that run PyTorch itself: the CUDA runtime that its calls go
 * to. */
struct gp_torch_cuda {
	/* Path of the libcudart that PyTorch was built for. */
	const char *runtime;
	/* Environment of the engine's process, without the allocator's
	 * settings. */
	char *const *environment;
};

struct gp_engine;

#define GP_NO_PLACE UINT64_MAX

/* What an allocator is created with. The struct itself is valid until create
 * returns, so an engine copies it; what it points to, until the allocator is
 * destroyed. */
struct gp_allocator_config {
	/* The engine to be created; NULL: unspecified. */
	const struct gp_engine *engine;
	const struct gp_settings *settings;
	struct gp_device *device;
	uint32_t device_ordinal; /* CUDA's */
	const uint64_t *streams; /* cudaStream_t, ascending */
	size_t stream_count;
	const struct gp_pool_id *pools; /* [0] is {0, 0} */
	size_t pool_count;
	uint32_t block_ids; /* all block ids are less than this */
	/* What was in use before the first request: the engine takes over these
	 * blocks under their ids, or cannot be created. NULL: nothing. */
	const struct gp_state *start;
	/* The age of each start segment, 0 being the oldest. NULL: they are in
	 * order of address. */
	const uint32_t *start_ranks;
	/* For engines that run PyTorch itself: conf is the string that settings
	 * was parsed from (NULL: the defaults), torch_lib is the folder of a
	 * prepared engine. */
	const char *conf, *torch_lib;
	/* NULL: PyTorch's process passes the CUDA calls on, and device serves
	 * them. Else PyTorch uses the GPU itself, and addresses are those of
	 * the CUDA runtime. */
	const struct gp_torch_cuda *torch_cuda;
	/* For the engine "plan": the offset of each block, by id, in the memory
	 * of its stream and pool; GP_NO_PLACE: unknown. NULL: unknown for all
	 * blocks. */
	const uint64_t *places;
	/* For the engine "async"; NULL: PyTorch's settings of the pool. */
	const struct gp_pool_settings *pool_settings;
	/* Set to the settings under which all decisions would be the same:
	 * engines that support this begin with all values and narrow the ranges
	 * with each decision. NULL: not wanted. */
	struct gp_alike *alike;
	/* Called by the engine for each of its actions, in order; may be
	 * NULL. */
	void (*action)(void *arg, const struct gp_action *action);
	void *action_arg;
};

/* All of an engine's state that its later decisions depend on, as words that
 * only the engine can interpret. */
struct gp_shape {
	uint64_t *words; /* malloc's */
	size_t count, room;
};

/*
 * The operations of an engine. alloc, free, stats, state and destroy are
 * mandatory. Any other may be NULL: such a request then has no effect, and
 * counts as served.
 */
struct gp_allocator_ops {
	const char *name;
	/* Allocates a block. *addr is only written if the answer is GP_SERVED.
	 * A request for 0 bytes is served and has no effect. */
	enum gp_answer (*alloc)(struct gp_allocator *allocator, uint32_t id,
				uint64_t size, uint16_t stream, uint16_t pool,
				uint64_t *addr);
	/* Allocates a block and frees it at once; returns the bytes of the
	 * block. Returns 0 and changes nothing if the two calls would have any
	 * effect beyond the counters, or if more than `most` bytes would be
	 * allocated in between: the caller then makes both calls. NULL: the
	 * caller always makes both calls. */
	uint64_t (*alloc_and_free)(struct gp_allocator *allocator,
				   uint64_t size, uint16_t stream,
				   uint16_t pool, uint64_t most);
	/* setCheckpointPoolState: allocates a block of exactly size bytes at
	 * *addr if that is free in its pool, and otherwise behaves like alloc.
	 * NULL: alloc is called. */
	enum gp_answer (*restore)(struct gp_allocator *allocator, uint32_t id,
				  uint64_t size, uint16_t stream, uint16_t pool,
				  uint64_t *addr);
	/* Frees a block. Here and below, an id that is not live (because its
	 * request was not served) is ignored. */
	void (*free)(struct gp_allocator *allocator, uint32_t id);
	/* The block is used on that stream; GP_NO_STREAM: on some stream other
	 * than its own. */
	void (*record_stream)(struct gp_allocator *allocator, uint32_t id,
			      uint16_t stream);
	/* All work issued so far on the stream, or on GP_ALL_STREAMS, is
	 * complete. */
	void (*synchronize)(struct gp_allocator *allocator, uint16_t stream);
	/* The stream `by` waits for all work issued so far on `stream`. */
	void (*wait)(struct gp_allocator *allocator, uint16_t stream,
		     uint16_t by);
	/* The work that the freed block's pending free waits for is
	 * complete. */
	void (*complete)(struct gp_allocator *allocator, uint32_t id);
	/* Releases cached memory: of all pools if pool is 0. This operation and
	 * those below answer GP_SERVED or GP_REFUSED_BY_RULE. */
	enum gp_answer (*empty_cache)(struct gp_allocator *allocator,
				      uint16_t pool);
	enum gp_answer (*set_fraction)(struct gp_allocator *allocator,
				       double fraction);
	enum gp_answer (*set_settings)(struct gp_allocator *allocator,
				       const char *conf);
	enum gp_answer (*pool_begin)(struct gp_allocator *allocator,
				     uint16_t pool, bool is_capture);
	/* Begins a capture of that stream, and of the streams that come to wait
	 * for it, until pool_end. NULL: pool_begin is called. */
	enum gp_answer (*capture)(struct gp_allocator *allocator, uint16_t pool,
				  uint16_t stream);
	enum gp_answer (*pool_end)(struct gp_allocator *allocator,
				   uint16_t pool);
	enum gp_answer (*pool_release)(struct gp_allocator *allocator,
				       uint16_t pool);
	/* change: GP_POOL_CREATE to GP_POOL_NO_SPLIT. */
	enum gp_answer (*pool_change)(struct gp_allocator *allocator,
				      uint16_t pool, enum gp_event_kind change);
	void (*reset_peak)(struct gp_allocator *allocator);
	void (*reset_accumulated)(struct gp_allocator *allocator);
	/* The counters so far; valid until the next operation. */
	const struct gp_stats *(*stats)(struct gp_allocator *allocator);
	/* reserved_bytes_by_private_pools. Returns false if the pool never had
	 * a segment. NULL: not counted. */
	bool (*pool_reserved)(struct gp_allocator *allocator, uint16_t pool,
			      struct gp_pool_reserved *reserved);
	/* The current segments and blocks, in address order. The caller
	 * releases *state with gp_state_release(). */
	void (*state)(struct gp_allocator *allocator, struct gp_state *state);
	/* Writes up to `room` free blocks that could serve such a request, best
	 * first; returns how many were written. Events are processed first, as
	 * they would be for the request. */
	size_t (*candidates)(struct gp_allocator *allocator, uint64_t size,
			     uint16_t stream, uint16_t pool,
			     struct gp_candidate *out, size_t room);
	/* Where such a request would be served from; false: nowhere. NULL:
	 * unknown. */
	bool (*route)(struct gp_allocator *allocator, uint64_t size,
		      uint16_t stream, uint16_t pool, struct gp_route *route);
	/* The size of the largest free block. NULL: derive it from state(). */
	uint64_t (*largest_free)(struct gp_allocator *allocator);
	/* Why the last answer was GP_REFUSED_BY_RULE, in PyTorch's words.
	 * Engines that run PyTorch also say why it was GP_OUT_OF_MEMORY. */
	const char *(*refusal)(struct gp_allocator *allocator);
	/* GP_OK while the engine itself works. */
	enum gp_status (*health)(struct gp_allocator *allocator,
				 struct gp_diag *diag);
	void (*destroy)(struct gp_allocator *allocator);
	/* The program reached a mark that is not the end of a range. */
	void (*mark)(struct gp_allocator *allocator, const char *name);
	/* A copy of the allocator in its present state, without callbacks, on a
	 * device that is in the same state as the original's; alike is as in
	 * struct gp_allocator_config, and is not widened. May be called while
	 * the original asks its device for memory for the first time in a
	 * request: the copy then has yet to serve that request. NULL: not
	 * possible now. */
	struct gp_allocator *(*copy)(struct gp_allocator *allocator,
				     struct gp_device *device,
				     struct gp_alike *alike);
	/* Two allocators that were given the same requests and have the same
	 * shape make the same decisions from here on, as long as their devices
	 * give the same answers. False: it has no shape now. */
	bool (*shape)(struct gp_allocator *allocator, struct gp_shape *shape);
};

/* A value and its peak, in the form that is cheapest to update: unless there is
 * a new peak, only `below` changes. Current value = peak - below. */
struct gp_level {
	int64_t peak, below;
};

static inline int64_t gp_level_now(const struct gp_level *level)
{
	return level->peak - level->below;
}

/* The first member of every engine's own struct. */
struct gp_allocator {
	const struct gp_allocator_ops *ops;
	/* The GP_STAT_ALL value of each statistic, by enum gp_stat_id. Always
	 * up to date, whereas stats() may have to compute sums. A replay only
	 * reads present values here: an engine may keep below at 0. */
	const struct gp_level *levels;
};

/* A setting that is specific to an engine, as in "bfc:fraction=0.75". */
struct gp_engine_setting {
	const char *name;
	/* The accepted words, "true|false"; NULL: it is a number. */
	const char *words;
	double least, most;
	const char *by_default;
	const char *sentence;
};

struct gp_engine {
	const char *name;
	const char *sentence;
	/* What the engine's numbers mean on a simulated device, if on a real
	 * one the driver places its memory; NULL: they mean the same. */
	const char *simulated;
	/* Creates an allocator for one run. One replay may make several runs,
	 * one after the other, and replays on several threads may call this at
	 * the same time. */
	enum gp_status (*create)(const struct gp_allocator_config *config,
				 struct gp_allocator **allocator,
				 struct gp_diag *diag);
	/* What has to be installed to use it: a Debian package where there is
	 * one. NULL: nothing. */
	const char *needs;
	/* Why it keeps memory that holds no block; NULL: emptying the cache
	 * releases all such memory. */
	const char *keeps;
	/* The owner of the memory that it uses once the device's is exhausted,
	 * such as "the host's"; NULL: it uses none. */
	const char *beyond;
	/* Ends with an entry without a name; NULL: no settings. */
	const struct gp_engine_setting *settings;
	/* The values of these settings, in the same order; NULL: the default.
	 * NULL instead of the array: all are defaults. */
	char *const *values;
	/* The command that its process runs; NULL: gpupool, found by PATH. */
	const char *program;
	void (*close)(struct gp_engine *engine); /* NULL unless it was opened */
};

/* The settings that PyTorch's backend cudaMallocAsync gives its pool. */
extern const struct gp_pool_settings gp_pool_settings_pytorch;

/*
 * The built-in engines; the first is the default. A replay also accepts any
 * other engine by address: a table of operations with a create function of the
 * caller's own (examples/engine.c).
 */
const struct gp_engine *gp_engine_table(size_t *count);
/* The built-in engine with that name; NULL: there is none. */
const struct gp_engine *gp_engine_find(const char *name);
/* What the numbers of the engine that --engine names mean, if it is made for a
 * device or driver that is not used here; NULL: nothing to note. */
const char *gp_engine_note(const char *name);
/* Whether the engine allocates pinned host memory. Its requests are of another
 * kind, so it is not compared with other engines. engine may be NULL. */
bool gp_engine_is_of_host(const struct gp_engine *engine);
/* Whether the engine is a malloc of host programs. */
bool gp_engine_is_malloc(const struct gp_engine *engine);

/* An engine as an --engine option names it. */
struct gp_engine_library {
	const char *path; /* also its name */
	/* The command that the process runs; NULL: gpupool, found by PATH. */
	const char *program;
	char *const *environment; /* of the process, borrowed; NULL: empty */
};
/*
 * Opens a built-in engine with settings of its own,
 * "bfc:fraction=0.5:preallocate=true"; or one in a shared library
 * (gpupool/engine.h), which runs in a separate process for each run. Returns
 * GP_USAGE if there is no such engine, setting or value, and GP_INPUT if the
 * library is not an engine. The caller closes the engine after the last replay.
 */
enum gp_status gp_engine_open(const struct gp_engine_library *library,
			      struct gp_engine **engine, struct gp_diag *diag);
void gp_engine_close(struct gp_engine *engine); /* accepts NULL */
/* Whether the name is that of a library: it contains a slash, or has the suffix
 * of a library. */
bool gp_engine_is_file(const char *name);
/* Whether an engine of that name, with or without settings of its own, is one
 * of PyTorch's allocators, and so accepts PyTorch's settings. */
bool gp_engine_is_pytorch(const char *name);
/* The setting of the named engine, or of any engine if name is NULL. NULL:
 * there is none. */
const struct gp_engine_setting *gp_engine_setting(const char *name,
						  const char *setting);
/* The value of an engine's setting; NULL: it has no such setting. */
const char *gp_engine_value(const struct gp_engine *engine,
			    const char *setting);
/* The engine's name with that setting added or replaced; without it if value is
 * NULL. The caller frees it. */
char *gp_engine_with(const char *name, const char *setting, const char *value);

/* Frees what a state from ops->state() owns. */
void gp_state_release(struct gp_state *state);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
