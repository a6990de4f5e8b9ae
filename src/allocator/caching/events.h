/* SPDX-License-Identifier: MIT */
/*
 * Pending frees: blocks that were freed while another stream might still use
 * them; and streams under capture, for which the CUDA graph orders the uses.
 * PyTorch: recordStream, insert_events, process_events, deferred_blocks,
 * synchronize_and_free_events.
 */
#ifndef CACHING_EVENTS_H
#define CACHING_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "allocator/caching/robin.h"

struct caching;
struct block;
struct pool_pair;

/*
 * Streams under capture: which streams belong to which capture, and which
 * earlier work their next work depends on.
 *
 * Only the order of a graph's nodes matters, not what they do. The nodes of one
 * stream form a sequence, so a set of predecessors is one number per stream:
 * the first so many nodes of it. (PyTorch walks the graph instead:
 * record_free_markers, update_visited, free_safe_blocks_in_capture.)
 *
 * The next node of a stream depends on its last node and on the last nodes of
 * the streams that it has waited for since. 2.9 requires that each of these
 * nodes comes after the end of a block's uses, and inserts a marker node there
 * on each stream.
 */

/* The first `count` nodes of a stream; count is at least 1. */
struct nodes {
	uint16_t stream;
	uint32_t count;
};

/* Nodes of several streams, sorted by stream. */
struct node_set {
	struct nodes *list;
	size_t count, room;
};

struct captured_stream {
	uint32_t capture; /* number of the capture, from 1; 0: not captured */
	/* preds: the predecessors of the stream's next node. common_preds:
	 * nodes that precede each of the nodes which the next one directly
	 * depends on. */
	struct node_set preds, common_preds;
	uint16_t next; /* next stream of the list of captured streams */
};

struct captures {
	/* By stream; NULL: no capture so far. */
	struct captured_stream *streams;
	uint32_t begun, open;
	uint16_t first; /* head of the list; GP_NO_STREAM: empty */
};

void captures_release(struct caching *c);

/* Begins a capture of a stream that is not captured; returns its number. */
uint32_t capture_begin(struct caching *c, uint16_t stream);
void capture_end(struct caching *c, uint32_t capture);

/* The number of the capture that a stream is in, or 0. */
uint32_t capture_of(const struct caching *c, uint16_t stream);

/* Adds a node to the stream if it is captured. */
void capture_work(struct caching *c, uint16_t stream);
/* Stream `by` waits for the present work of `stream`, and joins its capture. */
void capture_wait(struct caching *c, uint16_t stream, uint16_t by);

/* ---- events ---- */

/* Streams that use a block; once its free is pending on several events, with
 * the number of the event on each stream. */
struct stream_set {
	struct robin streams; /* key: stream */
	struct stream_set *spare;
};

struct block_event {
	uint64_t number; /* number within the stream, from 1 */
	struct block *block;
};

/* The events of one stream, oldest first. */
struct event_queue {
	struct block_event *events;
	size_t head, count, room; /* events[head .. head + count) */
	/* Event numbers; up to done, all are complete. */
	uint64_t issued, done;
	/* Whether it is in events.busy, events.touched. */
	bool is_busy, is_touched;
};

struct stream_list {
	uint16_t *streams;
	size_t count, room;
};

/* A block freed while event processing is suspended. */
struct deferred {
	struct block *block;
	struct node_set mark; /* capture_mark */
};

struct deferred_list {
	struct deferred *items;
	size_t count, room;
};

/* Blocks linked through left and right, which are unused outside free lists. */
struct block_list {
	struct block *first, *last;
};

/* A block, as long as it has that id. */
struct ready_block {
	struct block *block;
	uint32_t id;
};

struct stream_events {
	struct event_queue *queues; /* by stream */
	/* Streams with events, in PyTorch's iteration order. */
	struct robin waiting;
	/* busy: streams that may have events. touched: those of them whose
	 * events may be complete. In any order. */
	struct stream_list busy, touched;
	bool all_done; /* all events are complete, and none was issued since */
	/* unnamed: pending blocks whose other stream the trace does not name,
	 * in order of free. ready: those of them that the trace reports
	 * complete; an entry is stale if the block is no longer pending under
	 * that id. */
	struct block_list unnamed;
	struct ready_block *ready;
	size_t ready_count, ready_room;
	/* Blocks freed while a routing suspends events, in order of free. */
	struct deferred_list deferred;
	struct stream_set *spare;
};

void events_init(struct caching *c);
void events_release(struct caching *c);

void events_record_use(struct caching *c, struct block *b, uint16_t stream);

/* To be called after a free: true if the block's free is now pending. */
bool events_hold(struct caching *c, struct block *b);

/* Whether events_process() has anything to do. */
static inline bool events_are_pending(const struct stream_events *events)
{
	return (events->deferred.count | events->ready_count |
		events->touched.count) != 0;
}

/* To be called before each malloc: frees the blocks whose events are
 * complete. */
void events_process(struct caching *c);

/* To be called before each malloc on a stream while events are suspended, under
 * graph_capture_record_stream_reuse: frees the blocks whose uses the graph
 * orders before the stream's next work. */
void events_reuse(struct caching *c, uint16_t stream);

/* The routing to a pool ends. From 2.12 on, under the same setting, its
 * deferred blocks get their events now. */
void events_end_routing(struct caching *c, uint16_t pool);

/* Waits for the events of one private pool's blocks; NULL: for all events. */
void events_synchronize(struct caching *c, const struct pool_pair *only);

/* All work issued so far on a stream, or on GP_ALL_STREAMS, is complete. */
void events_complete_stream(struct caching *c, uint16_t stream);
/* The events that this block's free is pending on are complete. */
void events_complete_block(struct caching *c, struct block *b);

/* Called when the block object is destroyed. */
void block_forget_captured(struct block *b);

#endif
