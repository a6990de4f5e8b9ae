/* SPDX-License-Identifier: MIT */
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
#ifndef CACHING_CAPTURE_H
#define CACHING_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct caching;
struct block;

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

#endif
