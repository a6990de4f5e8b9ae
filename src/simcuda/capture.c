/* SPDX-License-Identifier: MIT */
/*
 * Capture: which streams are being captured, into which graph, and behind which
 * of its nodes their next work comes.
 */
#include "simcuda/graph.h"
#include "simcuda/stream.h"

/* Ids are never used twice in a process, as the runtime has it. */
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

	(void)mode;
	process_begin(CALL_cudaStreamBeginCapture);
	s = of(stream);
	if (s->graph)
		return process_end(cudaErrorInvalidValue);
	s->graph = graph_create(++last_id);
	s->is_origin = true;
	return process_end(cudaSuccess);
}

/* Lets all streams of the graph go; false: the origin does not wait for one of
 * them. */
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

static void tell(const struct stream *s, enum cudaStreamCaptureStatus *status,
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
	tell(of(stream), status, NULL);
	return process_end(cudaSuccess);
}

/* The nodes are the stream's own until the next call about it. */
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
	tell(s, status, id);
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
	(void)edges;
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
