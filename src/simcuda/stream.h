/* SPDX-License-Identifier: MIT */
/* Streams, events, the work on them, and the graphs into which it is captured;
 * called under the lock. */
#ifndef SIMCUDA_STREAM_H
#define SIMCUDA_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "simcuda/process.h"

/* ---- graphs: nodes and their dependencies (graph.c) ---- */

/* A set of nodes of a graph; empty if zeroed. */
struct node_list {
	cudaGraphNode_t *nodes;
	size_t count, room;
};

struct CUgraphNode_st {
	struct node_list behind;
	bool is_empty; /* else a kernel, a copy or the like */
};

struct CUgraph_st {
	unsigned long long capture; /* id of the capture it came from */
	struct node_list all;	    /* owned */
};

void node_list_add(struct node_list *list, cudaGraphNode_t node);
void node_list_join(struct node_list *to, const struct node_list *from);
void node_list_clear(struct node_list *list);

void graph_destroy(cudaGraph_t graph);
/* Adds a node that depends on those. */
cudaGraphNode_t graph_add(cudaGraph_t graph, const struct node_list *behind,
			  bool is_empty);

/* ---- streams ---- */

/* How often something was queried while no other work was issued. */
struct polls {
	uint64_t work;
	uint32_t count;
};

struct stream {
	uint64_t handle;
	uint64_t issued, done; /* numbers of recorded events */
	uint64_t work;	       /* total work when the last event was recorded */
	struct polls polls;
	cudaGraph_t graph;     /* it is captured into; NULL: not captured */
	bool is_origin;	       /* its capture began here: it owns the graph */
	struct node_list next; /* its next work comes after these nodes */
	int priority;
	struct awaited awaited;
};

/* A handle that was never seen is a stream too: programs may bring their own.
 */
uint32_t stream_index(uint64_t handle);
struct stream *stream_at(uint32_t index); /* valid until a stream is added */

size_t streams_count(void);

void streams_copy(uint64_t size);
/* The simulated clock, which work advances. */
uint64_t streams_time_ns(void);
/* Work on a stream: also a graph node, if the stream is captured. */
void stream_work(uint64_t handle);
void stream_launch(uint64_t handle, uint64_t threads);
void stream_node(uint64_t handle); /* adds only the node */
/* Further work on the stream waits for this too. */
void stream_await(uint64_t handle, unsigned place, uint64_t issued);
void streams_arrived(unsigned place);
bool streams_are_captured(void);
void stream_leave_capture(struct stream *stream);

void streams_set_events(enum simcuda_events when, uint64_t lag);
/* Whether this thread waited for the last event it looked at, instead of asking
 * whether that is done. */
bool streams_have_waited(void);
/* An event that was never recorded, and so is complete. */
cudaEvent_t event_create(void);

#endif
