/* SPDX-License-Identifier: MIT */
/*
 * Blocks that wait: freed while another stream may still use them; and captured
 * streams, whose graph says what they wait for.
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
 * Captured streams: which streams a CUDA graph is being made of, and what their
 * work comes behind.
 *
 * What the graph's nodes are does not matter, only their order.  A stream's
 * nodes follow each other, so a number per stream says which nodes a place
 * comes behind: the first so many of each.  PyTorch walks the graph instead
 * (record_free_markers, update_visited, free_safe_blocks_in_capture).
 *
 * What a stream does next comes behind its last node, and behind the last ones
 * of streams that it waited for since.  2.9 asks that each of these comes
 * behind where a block's uses end, and makes a node there of its own, on each
 * stream.
 */

/* The first so many nodes of a stream, at least one. */
struct nodes {
	uint16_t stream;
	uint32_t count;
};

/* Of some streams, in their order. */
struct node_set {
	struct nodes *list;
	size_t count, room;
};

struct captured_stream {
	uint32_t capture; /* its number, from 1; 0: not captured */
	/* What comes next is behind these nodes; and behind each of the nodes
	 * that it follows are at least those. */
	struct node_set behind, behind_each;
	uint16_t next; /* in the list of those that are in a capture */
};

struct captures {
	struct captured_stream *streams; /* by stream; NULL: none so far */
	uint32_t begun, open;
	uint16_t first; /* of the list; GP_NO_STREAM: it is empty */
};

void captures_release(struct caching *c);

/* A new capture of that stream, which is not captured; its number. */
uint32_t capture_begin(struct caching *c, uint16_t stream);
void capture_end(struct caching *c, uint32_t capture);

/* The capture a stream is in, or 0. */
uint32_t capture_of(const struct caching *c, uint16_t stream);

/* A node on the stream, where it is captured. */
void capture_work(struct caching *c, uint16_t stream);
/* What by does from here on comes behind what stream did so far: by is then in
 * the same capture. */
void capture_wait(struct caching *c, uint16_t stream, uint16_t by);

/*
 * Where the uses of a block that is freed now end; the caller frees the list.
 * Empty: a stream that uses it is not captured, or no node was made, so that
 * nothing in the graph tells.
 */
struct node_set capture_mark(struct caching *c, const struct block *b);
/* Whether all that the stream does from here on comes behind the mark. */
bool capture_is_past(const struct caching *c, uint16_t stream,
		     const struct node_set *mark);

/* ---- events ---- */

/* Streams a block was used on; once it is freed and waits for several, with the
 * number of its event on each. */
struct stream_set {
	struct robin streams; /* key: stream */
	struct stream_set *spare;
};

struct event {
	uint64_t number; /* among the stream's, from 1 */
	struct block *block;
};

/* One stream's events, oldest first. */
struct event_queue {
	struct event *events;
	size_t head, count, room; /* a window into events */
	uint64_t issued, done;	  /* numbers: done ones are complete */
	bool is_busy, is_touched; /* whether it is in the list */
};

struct stream_list {
	uint16_t *streams;
	size_t count, room;
};

/* A block freed while events are suspended. */
struct deferred {
	struct block *block;
	struct node_set mark; /* capture_mark */
};

struct deferred_list {
	struct deferred *items;
	size_t count, room;
};

/* Blocks through left and right, which no free list needs while they wait. */
struct block_list {
	struct block *first, *last;
};

/* A block while it has that id. */
struct ready_block {
	struct block *block;
	uint32_t id;
};

struct events {
	struct event_queue *queues; /* by stream */
	struct robin waiting;	    /* streams with events, in walking order */
	/* Streams that may have events, and those of them whose events may be
	 * complete; in any order. */
	struct stream_list busy, touched;
	bool all_done; /* nothing was issued since all was complete */
	/* Blocks whose stream the trace does not name, in order of free; ready
	 * are those of them that the trace says are done, if they still wait.
	 */
	struct block_list unnamed;
	struct ready_block *ready;
	size_t ready_count, ready_room;
	/* Freed while a routing suspends events, in order of free. */
	struct deferred_list deferred;
	struct stream_set *spare;
};

void events_init(struct caching *c);
void events_release(struct caching *c);

void events_record_use(struct caching *c, struct block *b, uint16_t stream);

/* After a free: true if the block has to wait (and now does). */
bool events_hold(struct caching *c, struct block *b);

/* Whether there is anything for events_process to do. */
static inline bool events_are_pending(const struct events *events)
{
	return (events->deferred.count | events->ready_count |
		events->touched.count) != 0;
}

/* Before each malloc: frees the blocks whose events are complete. */
void events_process(struct caching *c);

/* Before each malloc on a stream while events are suspended, under
 * graph_capture_record_stream_reuse: frees what the graph orders. */
void events_reuse(struct caching *c, uint16_t stream);

/* The end of a routing to that pool: from 2.12 on, what was deferred of it
 * waits no longer, under the same setting. */
void events_end_routing(struct caching *c, uint16_t pool);

/* Waits for all events, or those of one private pool (NULL: all). */
void events_synchronize(struct caching *c, const struct pool_pair *only);

/* The work issued so far on a stream, or GP_ALL_STREAMS, is done. */
void events_complete_stream(struct caching *c, uint16_t stream);
/* What a block on no named stream waits for is done. */
void events_complete_block(struct caching *c, struct block *b);

/* Of a block that is no more. */
void block_forget_captured(struct block *b);

#endif
