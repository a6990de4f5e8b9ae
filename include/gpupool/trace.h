/* SPDX-License-Identifier: MIT */
/*
 * A trace: the requests that a program made to its allocator, in order, and the
 * answers of the allocator when it was recorded.
 *
 * A trace is built once (trace/build.h) and is immutable from then on, so any
 * number of replays on any number of threads may share it. Ids are dense: the
 * blocks of a device are numbered 0 .. block_ids - 1 in order of first
 * appearance; streams and pools are indices into the trace's tables. So a
 * replay needs arrays and no hashing.
 *
 * Sizes are in bytes, addresses are device addresses (numbers, never pointers),
 * times are in microseconds since the epoch, or 0 if unknown.
 */
#ifndef GPUPOOL_TRACE_H
#define GPUPOOL_TRACE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/status.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define GP_NO_ID       UINT32_MAX	/* the event refers to no block */
#define GP_NO_SITE     UINT32_MAX	/* no stack was recorded */
#define GP_NO_OWNER    UINT32_MAX	/* its purpose is unknown */
#define GP_ALL_STREAMS UINT16_MAX	/* GP_SYNCHRONIZE: every stream */
#define GP_NO_STREAM   (UINT16_MAX - 1) /* GP_RECORD_STREAM: stream unknown */

/*
 * Requests come from the program and are replayed. Outcomes are the recorded
 * allocator's answers, which are only used for comparison. The outcomes of a
 * request precede it, because an alloc is recorded when it is done; only those
 * of empty_cache and of a pending free follow.
 */
enum gp_event_kind {
	/* requests */
	GP_ALLOC,	  /* id, size, stream, pool; addr as recorded or 0 */
	GP_FREE,	  /* id; addr as recorded or 0 */
	GP_RECORD_STREAM, /* id, stream or GP_NO_STREAM */
	/* Work is complete: of the stream, of GP_ALL_STREAMS, or that of the
	 * block with that id. With GP_STREAM_WAITS only the stream `by` waits:
	 * its later work comes after the stream's present work. */
	GP_SYNCHRONIZE,
	GP_EMPTY_CACHE,	 /* pool: that private pool; 0: all */
	GP_SET_FRACTION, /* fraction */
	GP_OTHER_MEMORY, /* size: bytes used by others from now on */
	GP_POOL_BEGIN,	 /* pool: allocations are routed to it */
	GP_POOL_END,
	GP_POOL_RELEASE,
	GP_CAPTURE_BEGIN,   /* pool; stream, with GP_NAMES_STREAM */
	GP_CAPTURE_END,	    /* pool */
	GP_POOL_CREATE,	    /* pool: a MemPool object now owns it */
	GP_POOL_USE_ON_OOM, /* pool: serves requests that would fail */
	GP_POOL_NO_USE_ON_OOM,
	GP_POOL_NO_SPLIT, /* pool: its blocks are never split */
	GP_SET_SETTINGS,  /* text: an alloc conf string */
	GP_RESET_PEAK,
	GP_RESET_ACCUMULATED,
	GP_MARK, /* text: the name; mark: start, end or neither */
	/* outcomes */
	GP_SEGMENT_ALLOC, /* addr, size, stream, pool */
	GP_SEGMENT_FREE,
	GP_SEGMENT_MAP,
	GP_SEGMENT_UNMAP,
	GP_FREE_COMPLETED, /* id, addr, size */
	GP_OOM,		   /* size: rounded request; addr: device_free */
	GP_SNAPSHOT,	   /* size: active bytes */
	GP_EVENT_KINDS,
};
#define GP_FIRST_OUTCOME GP_SEGMENT_ALLOC

enum gp_event_flag {
	/* The event is not in the recording but inferred from it; such events
	 * are counted. */
	GP_INFERRED = 1 << 0,
	/* A free_requested of a snapshot that was directly followed by its
	 * free_completed, as for every block that no other stream uses; this
	 * event stands for both. */
	GP_AT_ONCE = 1 << 1,
	/* GP_ALLOC: the request failed in the recording; a GP_OOM precedes
	 * it. */
	GP_REFUSED = 1 << 2,
	/* GP_SYNCHRONIZE: a stream waits, not the host. */
	GP_STREAM_WAITS = 1 << 3,
	/* GP_CAPTURE_BEGIN: the stream is captured, and those that come to wait
	 * for it. Without this flag, all allocations during the capture go to
	 * the graph's pool. */
	GP_NAMES_STREAM = 1 << 4,
	/* GP_ALLOC: not a request of the program: the allocator restored the
	 * checkpointed state of a private pool, and the block has to be at
	 * addr, with exactly this size. */
	GP_RESTORED = 1 << 5,
};

enum gp_mark_stage { GP_MARK_POINT, GP_MARK_START, GP_MARK_END };

struct gp_event {
	union {
		uint64_t addr;
		double fraction;
	};
	uint64_t size; /* alloc, free: as requested, not rounded */
	uint64_t time_us;
	union {
		uint32_t id;
		uint32_t text; /* index into texts */
	};
	uint32_t site;
	uint16_t stream;
	uint16_t pool;
	uint8_t kind;  /* enum gp_event_kind */
	uint8_t flags; /* enum gp_event_flag */
	union {
		uint16_t mark; /* enum gp_mark_stage */
		uint16_t by;   /* GP_STREAM_WAITS: a stream */
	};
};
static_assert(sizeof(struct gp_event) == 40, "one event is 40 bytes");

/* PyTorch's mempool id. {0, 0} is the default pool, which always has index 0.
 * The first number is not 0 if a capture made the pool for itself. */
struct gp_pool_id {
	uint64_t first, second;
};

/*
 * A site is a node of the call tree: a frame and its caller, so stacks with
 * common callers share nodes. Callers precede their callees.
 */
struct gp_site {
	uint32_t text;	 /* "train.py:42 forward" */
	uint32_t caller; /* another site, or GP_NO_SITE */
};

/* Platforms on which early releases of PyTorch lack expandable_segments: they
 * warn, and ignore the setting (PYTORCH_C10_DRIVER_API_SUPPORTED in
 * c10/cuda). */
enum gp_platform {
	GP_PLATFORM_UNKNOWN,
	GP_PLATFORM_MS_WINDOWS,
	GP_PLATFORM_ROCM, /* since 2.12: pytorch#177974 */
};

/* The purpose of memory. */
enum gp_category {
	GP_CATEGORY_UNKNOWN,
	GP_CATEGORY_PARAMETER,
	GP_CATEGORY_BUFFER, /* of a module, and not a parameter */
	GP_CATEGORY_GRADIENT,
	GP_CATEGORY_OPTIMIZER_STATE,
	GP_CATEGORY_ACTIVATION,
	GP_CATEGORY_TEMPORARY,
	GP_CATEGORY_CUBLAS_WORKSPACE,
	GP_CATEGORY_CUDNN_WORKSPACE,
	GP_CATEGORY_NCCL, /* buffers of collectives */
	GP_CATEGORIES,
};

/* The purpose of a block, as far as the recording states it. */
struct gp_owner {
	uint32_t category; /* enum gp_category */
	uint32_t module;   /* text: "model.layers.3.mlp"; GP_NO_ID: none */
	uint32_t type;	   /* text: that module's class; GP_NO_ID */
};

/* Segments and blocks, as PyTorch's snapshots list them. */
struct gp_segment {
	uint64_t addr, size;
	uint16_t stream, pool;
	bool is_small, is_expandable;
	uint32_t first_block, blocks; /* range in the state's blocks */
	uint32_t site;
	/* The bytes of an expandable segment's reservation that precede this
	 * mapped range, or 0 if unknown; PyTorch's snapshots do not contain
	 * it. */
	uint64_t offset;
};

enum gp_block_state { GP_INACTIVE, GP_ACTIVE, GP_PENDING_FREE };

struct gp_block {
	uint64_t addr, size;
	uint64_t requested; /* stale for an inactive block, as in PyTorch */
	uint32_t id;	    /* GP_NO_ID unless active or pending free */
	uint8_t state;	    /* enum gp_block_state */
	uint32_t site;
};

/* A device's memory at one moment, in address order. */
struct gp_state {
	const struct gp_segment *segments;
	/* The blocks of a segment cover it without gaps. */
	const struct gp_block *blocks;
	size_t segment_count, block_count;
};

/* The number of guesses made while inferring a start state or requests, each by
 * a documented rule (trace/start.c, trace/history.c). */
struct gp_guesses {
	/* Live at the start; size taken from a later free. */
	uint64_t start_blocks;
	/* Live at the start; larger than the rounded request. */
	uint64_t block_slack;
	uint64_t segment_order; /* start segments whose age is unknown */
	uint64_t empty_caches;	/* empty_cache inferred from segment_free */
	uint64_t late_frees;	/* frees that were pending on another stream */
	/* Unknown pools, assumed to be the default one. */
	uint64_t pool_of_segment;
	/* A free without its request, or the other way around. */
	uint64_t lost_entries;
};

/* A counter of torch.cuda.memory_stats(), as recorded. */
struct gp_counter {
	int64_t value;
	uint32_t text; /* "allocated_bytes.all.peak" */
	uint32_t zero; /* padding */
};

/*
 * Counters beside PyTorch's: a device's memory as the recording reports it,
 * after its first event and at the peak.
 */
#define GP_RECORDED_RESERVED_FIRST  "recorded.reserved_bytes.first"
#define GP_RECORDED_RESERVED_PEAK   "recorded.reserved_bytes.peak"
#define GP_RECORDED_ALLOCATED_FIRST "recorded.allocated_bytes.first"
#define GP_RECORDED_ALLOCATED_PEAK  "recorded.allocated_bytes.peak"

struct gp_device_trace {
	uint32_t device;       /* CUDA's ordinal */
	uint64_t total_memory; /* bytes; 0: not known */
	struct gp_state start;
	struct gp_state end; /* the segments of a snapshot, or empty */
	const struct gp_event *events;
	size_t event_count;
	uint32_t block_ids;    /* all block ids are less than this */
	const uint64_t *names; /* id -> the id in the file; NULL: the same */
	/* The index of each id in the trace's owners, or GP_NO_OWNER; NULL: no
	 * owner is known. */
	const uint32_t *owners;
	struct gp_guesses guesses;
	const struct gp_counter *counters; /* after the last event */
	size_t counter_count;		   /* 0: unknown */
};

/* The inclusive range of PyTorch minor releases (2.x) that could have written
 * the trace. */
struct gp_release_range {
	uint8_t first, last;
	char why[192]; /* "host_segments is there: 2.13 or later" */
};

/* gp_trace.values: every value that the program read is the one that a GPU
 * would have computed. */
#define GP_VALUES_KNOWN "all values known"

struct gp_trace {
	const struct gp_device_trace *devices;
	size_t device_count;
	const uint64_t *streams; /* cudaStream_t, ascending */
	size_t stream_count;
	const struct gp_pool_id *pools;
	size_t pool_count;
	const char *const *texts;
	size_t text_count;
	const struct gp_site *sites;
	size_t site_count;
	const struct gp_owner *owners;
	size_t owner_count;
	const char *source;   /* "pytorch-snapshot", "gpupool-trace", ... */
	const char *settings; /* PYTORCH_CUDA_ALLOC_CONF; NULL: not known */
	/* Whether the program took the path that it would take on a GPU,
	 * according to its recording: GP_VALUES_KNOWN, or which unknown values
	 * it read. NULL: the recording does not say. */
	const char *values;
	/* What this recording lacks beyond what every recording of its source
	 * lacks; NULL: nothing. See gp_trace_unknown(). */
	const char *not_told;
	struct gp_release_range release;
	bool is_complete; /* covers the whole process; otherwise a window */
	void *memory;	  /* owned; holds everything above */
};

/* Drops one reference; the last one destroys the trace. NULL has no effect.
 * This and gp_trace_share() are safe from any thread. */
void gp_trace_destroy(struct gp_trace *trace);
/* Adds a reference and returns the trace; each reference is dropped with
 * gp_trace_destroy(). */
struct gp_trace *gp_trace_share(struct gp_trace *trace);

/* What this trace, or every recording of its source, does not contain, in a few
 * words; NULL: nothing, or the trace itself shows it. */
const char *gp_trace_unknown(const struct gp_trace *trace);

/* Whether the recording says that not all values were known; false if it says
 * nothing. */
bool gp_trace_doubts_path(const struct gp_trace *trace);

/* The name in the trace format, such as "optimizer_state". */
const char *gp_category_name(enum gp_category category);
/* The owner of a block; of category GP_CATEGORY_UNKNOWN if there is none. */
struct gp_owner gp_trace_owner(const struct gp_trace *trace,
			       const struct gp_device_trace *device,
			       uint32_t id);

/* Whether a device's recording begins with memory in use. */
bool gp_trace_has_start(const struct gp_trace *trace);
/* The recorded settings; "": the defaults, or unknown. */
const char *gp_trace_conf(const struct gp_trace *trace);
/* Whether the device's trace has any alloc. */
bool gp_trace_has_allocs(const struct gp_device_trace *device);
/* Whether it has any segment, at the start or at the end. */
bool gp_trace_has_state(const struct gp_device_trace *device);
/* Whether an allocation's address was recorded, on any device. */
bool gp_trace_has_addresses(const struct gp_trace *trace);
/* The peak in bytes of the device memory used by anything but PyTorch's
 * allocator. */
uint64_t gp_trace_others(const struct gp_device_trace *device);
/* The sum of the segments' sizes, in bytes. */
uint64_t gp_state_reserved(const struct gp_state *state);

/* The memory that a recording reports, independent of any replay. */
struct gp_recorded {
	bool has_reserved, has_allocated; /* false: not reported */
	uint64_t reserved, allocated;	  /* peak, in bytes */
	bool has_first;			  /* after the first event */
	uint64_t first_reserved, first_allocated;
};
/* The memory reported for a device, an index into trace->devices. */
struct gp_recorded gp_trace_recorded(const struct gp_trace *trace,
				     uint32_t device);

/* Whether all replays of the two traces are the same. */
bool gp_trace_equal(const struct gp_trace *a, const struct gp_trace *b);

const char *gp_event_kind_name(enum gp_event_kind kind); /* the format's "op" */

/* The members that a kind of event uses. time_us, site and flags are used by
 * all. */
enum gp_event_field {
	GP_HAS_ID = 1 << 0,
	GP_HAS_ADDR = 1 << 1,
	GP_HAS_SIZE = 1 << 2,
	GP_HAS_STREAM = 1 << 3,
	GP_HAS_POOL = 1 << 4,
	GP_HAS_FRACTION = 1 << 5,
	GP_HAS_TEXT = 1 << 6,
	GP_HAS_MARK = 1 << 7,
};
/* A set of bits of enum gp_event_field. */
uint8_t gp_event_fields(enum gp_event_kind kind);

/* Whether the event concerns a private pool itself: its routing, its
 * properties, or a capture, each of which has a pool. */
bool gp_event_is_of_pool(enum gp_event_kind kind);

/* Whether the kind is an outcome that obtains memory from the device, or
 * returns memory to it. */
bool gp_event_is_growth(enum gp_event_kind kind);
bool gp_event_is_release(enum gp_event_kind kind);

/* The names of the members of struct gp_guesses. */
struct gp_guess_row {
	const char *name;
	size_t offset; /* of a uint64_t */
};
/* All members; *count is set to their number. */
const struct gp_guess_row *gp_guess_table(size_t *count);

/* ---- writing ---- */

/* The gpupool-trace format as JSON, as JSON Lines, or in the compact binary
 * form. Reading any of them back gives an equal trace. */

enum gp_trace_format {
	GP_TRACE_JSON,
	GP_TRACE_JSONL,
	GP_TRACE_BINARY,
};

/* Writes to an open stream and leaves it open. GP_SYSTEM if that fails. */
enum gp_status gp_trace_write(const struct gp_trace *trace,
			      enum gp_trace_format format, FILE *out,
			      struct gp_diag *diag);

/* ---- reading the binary form, and no other: see gp_input_read() ---- */

/* How the binary form (trace/binary.h) begins. */
#define GP_BINARY_MAGIC "gpupool\x1a"
/* Loads a trace of `size` bytes from a file, which stays open. The caller
 * destroys *trace. GP_INPUT: it is not a valid trace; GP_SYSTEM: it cannot be
 * read. */
enum gp_status gp_trace_map(int fd, uint64_t size, struct gp_trace **trace,
			    struct gp_diag *diag);
/* The same from bytes in memory, which must be aligned as by malloc() and are
 * not needed after the call. */
enum gp_status gp_trace_from_bytes(const void *bytes, uint64_t size,
				   struct gp_trace **trace,
				   struct gp_diag *diag);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
