/* SPDX-License-Identifier: MIT */
/*
 * The trace: what a program asked of its allocator, in order, and what the
 * allocator answered when it was recorded.
 *
 * A trace is built once (gpupool/build.h), then never written again: any number
 * of replays on any number of threads read the same one.  Ids are dense: blocks
 * number 0..blocks-1 per device in order of first appearance, streams and pools
 * are indices into the trace's tables, so that a replay needs arrays and no
 * hashing.
 *
 * Sizes are bytes, addresses are device addresses (numbers, never pointers),
 * times are microseconds since the epoch or 0.
 */
#ifndef GPUPOOL_TRACE_H
#define GPUPOOL_TRACE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

#define GP_NO_ID       UINT32_MAX	/* an event that is about no block */
#define GP_NO_SITE     UINT32_MAX	/* no stack was recorded */
#define GP_NO_OWNER    UINT32_MAX	/* nothing is told of what it is for */
#define GP_ALL_STREAMS UINT16_MAX	/* GP_SYNCHRONIZE: every stream */
#define GP_NO_STREAM   (UINT16_MAX - 1) /* GP_RECORD_STREAM: not known which */

/*
 * Requests come from the program and are replayed; outcomes are the recorded
 * allocator's answers and are only ever compared with.  Outcomes of a request
 * stand before it (an alloc is recorded when it is done), except that those of
 * empty_cache and of a late free stand behind.
 */
enum gp_event_kind {
	/* requests */
	GP_ALLOC, /* id, size, stream, pool; addr: the recorded one or 0 */
	GP_FREE,  /* id; addr as recorded or 0 */
	GP_RECORD_STREAM, /* id, stream or GP_NO_STREAM */
	/* stream or GP_ALL_STREAMS; or id: that block's work.  With
	 * GP_STREAM_WAITS only the stream `by` waits: what is issued there
	 * later comes behind.
	 */
	GP_SYNCHRONIZE,
	GP_EMPTY_CACHE,	 /* pool: 0 all, else that private pool */
	GP_SET_FRACTION, /* fraction */
	GP_OTHER_MEMORY, /* size: bytes used by others from here on */
	GP_POOL_BEGIN,	 /* pool: this thread's allocations go there */
	GP_POOL_END,
	GP_POOL_RELEASE,
	GP_CAPTURE_BEGIN,   /* pool; stream, with GP_NAMES_STREAM */
	GP_CAPTURE_END,	    /* pool */
	GP_POOL_CREATE,	    /* pool: a MemPool object now holds it */
	GP_POOL_USE_ON_OOM, /* pool: serves what would fail otherwise */
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
	/* Not in the recording: concluded from it, and counted. */
	GP_INFERRED = 1 << 0,
	/* A snapshot's free_requested whose free_completed was the next entry,
	 * as it is for every block no other stream uses; the pair is one event.
	 */
	GP_AT_ONCE = 1 << 1,
	/* GP_ALLOC: the recording did not serve it (an oom stands before it).
	 */
	GP_REFUSED = 1 << 2,
	/* GP_SYNCHRONIZE: a stream waits, not the program. */
	GP_STREAM_WAITS = 1 << 3,
	/* GP_CAPTURE_BEGIN: that stream is captured, and those that wait for
	 * it; without, whatever is allocated meanwhile is the graph's. */
	GP_NAMES_STREAM = 1 << 4,
	/* GP_ALLOC: nobody asked; the allocator set a private pool back to what
	 * it was, and the block has to be at addr, as large as it says. */
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

/* PyTorch's mempool id; {0, 0} is the default pool and always index 0. */
struct gp_pool_id {
	uint64_t first, second;
};

/*
 * A site is a node of the tree of calls: a frame and who called it, so stacks
 * that share callers share nodes.  Callers come before their callees.
 */
struct gp_site {
	uint32_t text;	 /* "train.py:42 forward" */
	uint32_t caller; /* another site, or GP_NO_SITE */
};

/* What memory is for. */
enum gp_category {
	GP_CATEGORY_UNKNOWN,
	GP_CATEGORY_PARAMETER,
	GP_CATEGORY_BUFFER, /* of a module, and no parameter */
	GP_CATEGORY_GRADIENT,
	GP_CATEGORY_OPTIMIZER_STATE,
	GP_CATEGORY_ACTIVATION,
	GP_CATEGORY_TEMPORARY,
	GP_CATEGORY_CUBLAS_WORKSPACE,
	GP_CATEGORY_CUDNN_WORKSPACE,
	GP_CATEGORY_NCCL, /* what collectives are given */
	GP_CATEGORIES,
};

/* What a block is for, as far as its recording tells. */
struct gp_owner {
	uint32_t category; /* enum gp_category */
	uint32_t module;   /* text: "model.layers.3.mlp"; GP_NO_ID: none */
	uint32_t type;	   /* text: that module's class; GP_NO_ID */
};

/* Segments and blocks as PyTorch's snapshot lists them. */
struct gp_segment {
	uint64_t addr, size;
	uint16_t stream, pool;
	bool is_small, is_expandable;
	uint32_t first_block, blocks; /* range of the state's blocks */
	uint32_t site;
	/* Bytes of an expandable segment's reservation that lie below it, as
	 * far as is known; PyTorch's snapshots do not say. */
	uint64_t offset;
};

enum gp_block_state { GP_INACTIVE, GP_ACTIVE, GP_PENDING_FREE };

struct gp_block {
	uint64_t addr, size;
	uint64_t requested; /* of an inactive block: stale, as in PyTorch */
	uint32_t id;	    /* GP_NO_ID unless active, or freed and waiting */
	uint8_t state;	    /* enum gp_block_state */
	uint32_t site;
};

/* What a device's memory looks like at one moment; address order. */
struct gp_state {
	const struct gp_segment *segments;
	const struct gp_block *blocks; /* a segment's cover it without gaps */
	size_t segment_count, block_count;
};

/* Guesses made to rebuild a start state or the requests, each by a stated rule
 * (trace/start.c, trace/history.c). */
struct gp_guesses {
	uint64_t start_blocks;	/* live at the start, size from a later free */
	uint64_t block_slack;	/* live at the start, end moved by <= 1 MiB */
	uint64_t segment_order; /* start segments whose age is unknown */
	uint64_t empty_caches;	/* empty_cache concluded from segment_free */
	uint64_t late_frees;	/* frees that waited for another stream */
	uint64_t pool_of_segment; /* pool unknown, taken as the default */
	uint64_t lost_entries;	  /* free_completed of a block nobody freed */
};

/* A counter of torch.cuda.memory_stats(), as it was recorded. */
struct gp_counter {
	int64_t value;
	uint32_t text; /* "allocated_bytes.all.peak" */
	uint32_t zero;
};

/*
 * Counters that are not PyTorch's: what a recording tells of a device's memory
 * as it goes, behind its first event and at the most.
 */
#define GP_RECORDED_RESERVED_FIRST  "recorded.reserved_bytes.first"
#define GP_RECORDED_RESERVED_PEAK   "recorded.reserved_bytes.peak"
#define GP_RECORDED_ALLOCATED_FIRST "recorded.allocated_bytes.first"
#define GP_RECORDED_ALLOCATED_PEAK  "recorded.allocated_bytes.peak"

struct gp_device_trace {
	uint32_t device;       /* CUDA's ordinal */
	uint64_t total_memory; /* bytes; 0: not known */
	struct gp_state start;
	struct gp_state end; /* a snapshot's segments; empty if none */
	const struct gp_event *events;
	size_t event_count;
	uint32_t block_ids;    /* every id is below */
	const uint64_t *names; /* id -> the file's own id; NULL: the same */
	/* id -> one of the trace's owners or GP_NO_OWNER; NULL: none is told */
	const uint32_t *owners;
	struct gp_guesses guesses;
	const struct gp_counter *counters; /* behind the last event */
	size_t counter_count;		   /* 0: not known */
};

/* Inclusive range of PyTorch minor releases (2.x) that could have written it.
 */
struct gp_release_range {
	uint8_t first, last;
	char why[192]; /* "host_segments is there: 2.13 or later" */
};

/* Every value that the program read is what a GPU would have given. */
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
	/* Whether the program took the path that a GPU takes, as its recording
	 * says (GP_VALUES_KNOWN, or what it read that nobody knows); NULL: it
	 * says nothing. */
	const char *values;
	/* What this recording, other than all of its source, cannot tell; NULL:
	 * nothing.  See gp_trace_unknown. */
	const char *not_told;
	struct gp_release_range release;
	bool is_complete; /* covers the whole process; else a window */
	void *memory;	  /* owned: everything above lives there */
};

/* When the last of its owners does it.  NULL: nothing. */
void gp_trace_destroy(struct gp_trace *trace);
/* One owner more, of any thread: each destroys it. */
struct gp_trace *gp_trace_share(struct gp_trace *trace);

/* What it cannot tell, or recordings of its source cannot, in a few words; NULL
 * where that is said in other ways. */
const char *gp_trace_unknown(const struct gp_trace *trace);

/* Whether its values are not told to be known: false, if it says nothing. */
bool gp_trace_doubts_path(const struct gp_trace *trace);

/* "optimizer_state", as the format has it. */
const char *gp_category_name(enum gp_category category);
/* Of a block, by its id; a category that is not known where none is told. */
struct gp_owner gp_trace_owner(const struct gp_trace *trace,
			       const struct gp_device_trace *device,
			       uint32_t id);

/* Whether a device's recording begins with memory in use. */
bool gp_trace_has_start(const struct gp_trace *trace);
/* Whether a device is asked for memory at all. */
bool gp_trace_has_allocs(const struct gp_device_trace *device);
/* The most that others than PyTorch's allocator have of it at once. */
uint64_t gp_trace_others(const struct gp_device_trace *device);
/* Bytes of all segments. */
uint64_t gp_state_reserved(const struct gp_state *state);

/* What a recording tells of itself, whatever its requests come to. */
struct gp_recorded {
	bool has_reserved, has_allocated; /* else not told */
	uint64_t reserved, allocated;	  /* bytes, at the most */
	bool has_first;			  /* behind the first event */
	uint64_t first_reserved, first_allocated;
};
struct gp_recorded gp_trace_recorded(const struct gp_trace *trace,
				     uint32_t device);

/* Two traces that any replay treats alike. */
bool gp_trace_equal(const struct gp_trace *a, const struct gp_trace *b);

const char *gp_event_kind_name(enum gp_event_kind kind); /* format's "op" */

/* Which members a kind uses, besides time_us, site and flags, which all have.
 */
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
uint8_t gp_event_fields(enum gp_event_kind kind);

/* About a private pool itself: where it is used, what may be done with it, and
 * captures, each of which has one. */
bool gp_event_is_of_pool(enum gp_event_kind kind);

/* Outcomes: memory that came from the device, and that went back. */
bool gp_event_is_growth(enum gp_event_kind kind);
bool gp_event_is_release(enum gp_event_kind kind);

/* The members of struct gp_guesses, by name. */
struct gp_guess_row {
	const char *name;
	size_t offset; /* of a uint64_t */
};
const struct gp_guess_row *gp_guess_table(size_t *count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
