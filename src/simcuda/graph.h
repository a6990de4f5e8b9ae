/* SPDX-License-Identifier: MIT */
/* Graphs: nodes, and what each comes behind; called under the lock. */
#ifndef SIMCUDA_GRAPH_H
#define SIMCUDA_GRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "simcuda/process.h"

/* Some nodes of a graph, each once; zeroed is none. */
struct node_list {
	cudaGraphNode_t *nodes;
	size_t count, room;
};

struct CUgraphNode_st {
	struct node_list behind;
	bool is_empty; /* else a kernel, a copy or the like */
};

struct CUgraph_st {
	unsigned long long capture; /* id of what it came from */
	struct node_list all;	    /* owned */
};

void node_list_add(struct node_list *list, cudaGraphNode_t node);
void node_list_join(struct node_list *to, const struct node_list *from);
void node_list_clear(struct node_list *list);

cudaGraph_t graph_create(unsigned long long capture);
void graph_destroy(cudaGraph_t graph);
/* A node behind those. */
cudaGraphNode_t graph_add(cudaGraph_t graph, const struct node_list *behind,
			  bool is_empty);
/* Whether each of the second's nodes is one of the first's, or before it. */
bool graph_reaches(const struct node_list *from, const struct node_list *to);

#endif
