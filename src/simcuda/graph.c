/* SPDX-License-Identifier: MIT */
/*
 * Graphs, and stream capture. Nodes have an order but do no work: launching a
 * graph does nothing.
 */
#include "simcuda/stream.h"

#include <stdlib.h>

#include "base/mem.h"
#include "simcuda/kept.h"

/* Few arguments of CUDA's functions matter here. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct CUgraphExec_st {
	unsigned long long capture;
};
struct CUuserObject_st {
	void *data;
	cudaHostFn_t destroy;
	unsigned references;
};

/* ---- nodes ---- */

static bool has(const struct node_list *list, cudaGraphNode_t node)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->nodes[i] == node)
			return true;
	return false;
}

static void push(struct node_list *list, cudaGraphNode_t node)
{
	GP_GROW(list->nodes, list->count + 1, list->room);
	list->nodes[list->count++] = node;
}

void node_list_add(struct node_list *list, cudaGraphNode_t node)
{
	if (!has(list, node))
		push(list, node);
}

void node_list_join(struct node_list *to, const struct node_list *from)
{
	for (size_t i = 0; i < from->count; i++)
		node_list_add(to, from->nodes[i]);
}

void node_list_clear(struct node_list *list)
{
	free(list->nodes);
	*list = (struct node_list){ 0 };
}

static cudaGraph_t graph_create(unsigned long long capture)
{
	cudaGraph_t graph = gp_mem_alloc(1, sizeof(*graph));

	graph->capture = capture;
	return graph;
}

void graph_destroy(cudaGraph_t graph)
{
	if (!graph)
		return;
	for (size_t i = 0; i < graph->all.count; i++) {
		node_list_clear(&graph->all.nodes[i]->behind);
		free(graph->all.nodes[i]);
	}
	node_list_clear(&graph->all);
	free(graph);
}

cudaGraphNode_t graph_add(cudaGraph_t graph, const struct node_list *behind,
			  bool is_empty)
{
	cudaGraphNode_t node = gp_mem_alloc(1, sizeof(*node));

	node_list_join(&node->behind, behind);
	node->is_empty = is_empty;
	push(&graph->all, node);
	return node;
}

/* Whether each node of `to` is a node of `from` or a predecessor of one. */
static bool graph_reaches(const struct node_list *from,
			  const struct node_list *to)
{
	struct node_list seen = { 0 };
	size_t i;

	node_list_join(&seen, from);
	for (i = 0; i < seen.count; i++)
		node_list_join(&seen, &seen.nodes[i]->behind);
	for (i = 0; i < to->count && has(&seen, to->nodes[i]);)
		i++;
	node_list_clear(&seen);
	return i == to->count;
}

/* ---- queries about nodes ---- */

/* With `to` NULL, only returns the count. */
static cudaError_t dependencies(cudaGraphNode_t node, cudaGraphNode_t *to,
				size_t *count)
{
	const struct node_list *behind = &node->behind;

	process_begin(CALL_cudaGraphNodeGetDependencies);
	for (size_t i = 0; to && i < *count; i++)
		to[i] = i < behind->count ? behind->nodes[i] : NULL;
	if (!to || *count > behind->count)
		*count = behind->count;
	return process_end(cudaSuccess);
}

#if SIMCUDA_MAJOR >= 13
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
					 cudaGraphNode_t *to,
					 cudaGraphEdgeData *edges,
					 size_t *count)
{
	size_t room = *count;
	cudaError_t error = dependencies(node, to, count);

	for (size_t i = 0; to && edges && i < room; i++)
		edges[i] = (cudaGraphEdgeData){ 0 };
	return error;
}
#else
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
					 cudaGraphNode_t *to, size_t *count)
{
	return dependencies(node, to, count);
}
#endif

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node,
				 enum cudaGraphNodeType *type)
{
	process_begin(CALL_cudaGraphNodeGetType);
	*type = node->is_empty ? cudaGraphNodeTypeEmpty
			       : cudaGraphNodeTypeKernel;
	return process_end(cudaSuccess);
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
				  const cudaGraphNode_t *behind, size_t count)
{
	struct node_list list = { 0 };

	process_begin(CALL_cudaGraphAddEmptyNode);
	for (size_t i = 0; i < count; i++)
		node_list_add(&list, behind[i]);
	*node = graph_add(graph, &list, true);
	node_list_clear(&list);
	return process_end(cudaSuccess);
}

/* ---- graphs ---- */

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	process_begin(CALL_cudaGraphDestroy);
	graph_destroy(graph);
	return process_end(cudaSuccess);
}

/* With `nodes` NULL, only returns the count. */
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
			      size_t *count)
{
	process_begin(CALL_cudaGraphGetNodes);
	for (size_t i = 0; nodes && i < *count; i++)
		nodes[i] = i < graph->all.count ? graph->all.nodes[i] : NULL;
	if (!nodes || *count > graph->all.count)
		*count = graph->all.count;
	return process_end(cudaSuccess);
}

static cudaError_t instantiate(enum simcuda_call call, cudaGraphExec_t *exec,
			       cudaGraph_t graph)
{
	process_begin(call);
	*exec = gp_mem_alloc(1, sizeof(**exec));
	(*exec)->capture = graph->capture;
	return process_end(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec,
					  cudaGraph_t graph,
					  unsigned long long flags)
{
	return instantiate(CALL_cudaGraphInstantiateWithFlags, exec, graph);
}

/* The signature of CUDA 12 and 13; in 11 the parameters after the first two
 * differ. */
cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
				 unsigned long long flags)
{
	return instantiate(CALL_cudaGraphInstantiate, exec, graph);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	process_begin(CALL_cudaGraphLaunch);
	stream_work((uintptr_t)stream);
	/* Operators do not know what a graph writes, so this holds within an
	 * operator, too. */
	kept_doubt_all();
	process_end(cudaSuccess);
	process_notify_work(NULL);
	return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
	process_begin(CALL_cudaGraphExecDestroy);
	free(exec);
	return process_end(cudaSuccess);
}

/* ---- objects that live as long as a graph ---- */

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data,
				 cudaHostFn_t destroy, unsigned references,
				 unsigned flags)
{
	process_begin(CALL_cudaUserObjectCreate);
	*object = gp_mem_alloc(1, sizeof(**object));
	**object = (struct CUuserObject_st){ data, destroy, references };
	return process_end(cudaSuccess);
}

/* The callback runs outside the lock, as it may call CUDA. */
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
	struct CUuserObject_st last = { 0 };

	process_begin(CALL_cudaUserObjectRelease);
	object->references -=
		count < object->references ? count : object->references;
	if (!object->references) {
		last = *object;
		free(object);
	}
	process_end(cudaSuccess);
	if (last.destroy)
		last.destroy(last.data);
	return cudaSuccess;
}

/* Graphs hold no references, so one that is moved to a graph is never released.
 */
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph,
				      cudaUserObject_t object, unsigned count,
				      unsigned flags)
{
	process_begin(CALL_cudaGraphRetainUserObject);
	if (!(flags & cudaGraphUserObjectMove))
		object->references += count;
	return process_end(cudaSuccess);
}

/* ---- capture ---- */

/*
 * Which streams are being captured, into which graph, and after which of its
 * nodes their next work comes.
 */

/* Capture ids are unique in a process, as in the real runtime. */
static unsigned long long last_id;
static _Thread_local enum cudaStreamCaptureMode mode_of_thread;

static struct stream *of(cudaStream_t stream)
{
	return stream_at(stream_index((uintptr_t)stream));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream,
				   enum cudaStreamCaptureMode mode)
{
	struct stream *s;

	process_begin(CALL_cudaStreamBeginCapture);
	s = of(stream);
	if (s->graph)
		return process_end(cudaErrorInvalidValue);
	s->graph = graph_create(++last_id);
	s->is_origin = true;
	return process_end(cudaSuccess);
}

/* Ends the capture of all streams of the graph; false: one of them was not
 * joined to the origin stream. */
static bool end(cudaGraph_t graph, const struct node_list *last)
{
	bool is_joined = true;

	for (size_t i = 0; i < streams_count(); i++) {
		struct stream *s = stream_at((uint32_t)i);

		if (s->graph != graph || s->is_origin)
			continue;
		is_joined &= graph_reaches(last, &s->next);
		stream_leave_capture(s);
	}
	return is_joined;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	struct stream *s;
	bool is_joined;

	process_begin(CALL_cudaStreamEndCapture);
	*graph = NULL;
	s = of(stream);
	if (!s->graph || !s->is_origin)
		return process_end(cudaErrorStreamCaptureUnmatched);
	*graph = s->graph;
	is_joined = end(s->graph, &s->next);
	stream_leave_capture(s);
	if (is_joined)
		return process_end(cudaSuccess);
	graph_destroy(*graph);
	*graph = NULL;
	return process_end(cudaErrorStreamCaptureUnjoined);
}

static void capture_info(const struct stream *s,
			 enum cudaStreamCaptureStatus *status,
			 unsigned long long *id)
{
	*status = s->graph ? cudaStreamCaptureStatusActive
			   : cudaStreamCaptureStatusNone;
	if (id)
		*id = s->graph ? s->graph->capture : 0;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
				  enum cudaStreamCaptureStatus *status)
{
	process_begin(CALL_cudaStreamIsCapturing);
	capture_info(of(stream), status, NULL);
	return process_end(cudaSuccess);
}

/* The nodes belong to the stream and are valid until the next call on it. */
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
					enum cudaStreamCaptureStatus *status,
					unsigned long long *id,
					cudaGraph_t *graph,
					const cudaGraphNode_t **nodes,
					size_t *count)
{
	const struct stream *s;

	process_begin(CALL_cudaStreamGetCaptureInfo_v2);
	s = of(stream);
	capture_info(s, status, id);
	if (graph)
		*graph = s->graph;
	if (nodes)
		*nodes = s->next.nodes;
	if (count)
		*count = s->next.count;
	return process_end(cudaSuccess);
}

#if SIMCUDA_MAJOR >= 13
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
				     enum cudaStreamCaptureStatus *status,
				     unsigned long long *id, cudaGraph_t *graph,
				     const cudaGraphNode_t **nodes,
				     const void **edges, size_t *count)
{
	if (edges)
		*edges = NULL;
	return cudaStreamGetCaptureInfo_v2(stream, status, id, graph, nodes,
					   count);
}
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
				     enum cudaStreamCaptureStatus *status,
				     unsigned long long *id)
{
	return cudaStreamGetCaptureInfo_v2(stream, status, id, NULL, NULL,
					   NULL);
}
#endif

static cudaError_t update(cudaStream_t stream, const cudaGraphNode_t *nodes,
			  size_t count, unsigned flags)
{
	struct stream *s;

	process_begin(CALL_cudaStreamUpdateCaptureDependencies);
	s = of(stream);
	if (!s->graph)
		return process_end(cudaErrorIllegalState);
	if (flags == cudaStreamSetCaptureDependencies)
		node_list_clear(&s->next);
	for (size_t i = 0; i < count; i++)
		node_list_add(&s->next, nodes[i]);
	return process_end(cudaSuccess);
}

#if SIMCUDA_MAJOR >= 13
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
						cudaGraphNode_t *nodes,
						const cudaGraphEdgeData *edges,
						size_t count, unsigned flags)
{
	return update(stream, nodes, count, flags);
}
#else
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
						cudaGraphNode_t *nodes,
						size_t count, unsigned flags)
{
	return update(stream, nodes, count, flags);
}
#endif

cudaError_t cudaThreadExchangeStreamCaptureMode(
	enum cudaStreamCaptureMode *mode)
{
	enum cudaStreamCaptureMode before = mode_of_thread;

	process_begin(CALL_cudaThreadExchangeStreamCaptureMode);
	mode_of_thread = *mode;
	*mode = before;
	return process_end(cudaSuccess);
}
