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
#include <stdint.h>

struct caching;
struct block;

struct captured_stream {
	uint32_t capture; /* its number, from 1; 0: not captured */
	/* Nodes by stream: what comes next is behind them; and behind each of
	 * the nodes that it follows are at least these.  NULL: none yet. */
	uint32_t *behind, *behind_each;
};

struct captures {
	struct captured_stream *streams; /* by stream; NULL: none so far */
	uint32_t begun, open;
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
 * Where the uses of a block that is freed now end: nodes by stream, which the
 * caller frees.  NULL: a stream that uses it is not captured, or no node was
 * made, so that nothing in the graph tells.
 */
uint32_t *capture_mark(struct caching *c, const struct block *b);
/* Whether all that the stream does from here on comes behind the mark. */
bool capture_is_past(const struct caching *c, uint16_t stream,
		     const uint32_t *mark);

#endif
