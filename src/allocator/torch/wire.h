/* SPDX-License-Identifier: MIT */
/*
 * The messages between the engine "torch" and its helper process: requests in
 * one direction; actions, device calls and one answer per request in the other.
 * Both ends are built from the same sources and run on one machine, so structs
 * are sent as they are. C and C++.
 */
#ifndef ALLOCATOR_TORCH_WIRE_H
#define ALLOCATOR_TORCH_WIRE_H

#include <stdint.h>

/* A helper with another version is refused. */
#define TORCH_WIRE_VERSION 3
#define TORCH_WIRE_FD	   3	/* the helper's end: CHANNEL_FD */
#define TORCH_TEXT_MOST	   8192 /* bytes of an error or a setting */

enum torch_op {
	/* size 1: use the real device; answer: addr is TORCH_HELLO_ADDR */
	TORCH_HELLO,
	TORCH_ALLOC,	     /* id, size, stream, pool */
	TORCH_FREE,	     /* id */
	TORCH_RECORD_STREAM, /* id, stream */
	TORCH_STREAM_DONE,   /* stream */
	TORCH_ALL_DONE,
	TORCH_EMPTY_CACHE,  /* pool */
	TORCH_SET_FRACTION, /* fraction */
	TORCH_SET_SETTINGS, /* text */
	TORCH_POOL_BEGIN,   /* pool */
	TORCH_POOL_END,
	TORCH_POOL_RELEASE,
	TORCH_CAPTURE_BEGIN,
	TORCH_CAPTURE_END,
	TORCH_POOL_CREATE,
	TORCH_POOL_USE_ON_OOM,
	TORCH_POOL_NO_USE_ON_OOM,
	TORCH_POOL_NO_SPLIT,
	TORCH_RESET_PEAK,
	TORCH_RESET_ACCUMULATED,
	TORCH_STATE,	/* segments and blocks come before the answer */
	TORCH_CAPTURE,	/* pool, stream: begin a capture */
	TORCH_WAIT,	/* stream; size: the stream that waits */
	TORCH_COMPLETE, /* id: its pending work is complete */
};

/* The minor number of the release, and the version of this protocol. */
#define TORCH_HELLO_ADDR(minor) ((uint64_t)TORCH_WIRE_VERSION << 8 | (minor))
#define TORCH_HELLO_MINOR(addr) ((uint8_t)(addr))
#define TORCH_HELLO_WIRE(addr)	((uint8_t)((addr) >> 8))

struct torch_request {
	uint32_t op, text_size; /* text follows */
	uint32_t id, ordinal;
	uint64_t size, stream;
	uint64_t pool[2];
	double fraction;
};

enum torch_message_kind {
	TORCH_ACTION,  /* action, size, addr, stream, pool */
	TORCH_DEVICE,  /* op, addr, size, page; wants a struct torch_reply */
	TORCH_SEGMENT, /* addr, size, stream, pool, flags */
	TORCH_BLOCK,   /* of the last segment: size, requested, state */
	TORCH_ANSWER,  /* answer, addr; text_size; then the counters */
};

enum torch_device_op {
	TORCH_MALLOC,
	TORCH_DEVICE_FREE,
	TORCH_INFO,
	TORCH_RESERVE,
	TORCH_UNRESERVE,
	TORCH_MAP,
	TORCH_UNMAP,
};

enum torch_segment_flag { TORCH_IS_SMALL = 1, TORCH_IS_EXPANDABLE = 2 };

struct torch_message {
	uint32_t kind;	    /* enum torch_message_kind */
	uint32_t what;	    /* an action, an operation, an answer, flags */
	uint32_t text_size; /* of an answer: the error's message follows */
	uint32_t unused;
	uint64_t addr, size, stream, page;
	uint64_t pool[2];
};

struct torch_reply {
	uint64_t is_done, a, b;
};

/* Actions as PyTorch 2.1 and later number them (TraceEntry::Action). */
enum torch_action {
	TORCH_DID_ALLOC,
	TORCH_DID_FREE_REQUESTED,
	TORCH_DID_FREE_COMPLETED,
	TORCH_DID_SEGMENT_ALLOC,
	TORCH_DID_SEGMENT_FREE,
	TORCH_DID_SEGMENT_MAP,
	TORCH_DID_SEGMENT_UNMAP,
	TORCH_DID_SNAPSHOT,
	TORCH_DID_OOM,
	TORCH_DID_ACTIONS,
};

enum torch_answer {
	TORCH_SERVED,
	TORCH_OUT_OF_MEMORY,
	TORCH_ERROR, /* any other exception */
};

/*
 * Counters in the order of struct gp_stats: nine statistics for three pools,
 * then the two of oversize blocks, with four values each; then seven numbers.
 */
#define TORCH_STATS    9
#define TORCH_NUMBERS  7
#define TORCH_COUNTERS (TORCH_STATS * 3 * 4 + 2 * 4 + TORCH_NUMBERS)

struct torch_counters {
	int64_t by_pool[TORCH_STATS][3][4];
	int64_t oversize[2][4];		/* allocations, segments */
	int64_t numbers[TORCH_NUMBERS]; /* gp_stats from num_alloc_retries on */
};

#endif
