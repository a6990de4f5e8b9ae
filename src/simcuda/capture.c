/*
 * Capture: which streams are capturing, and under what id.  A graph holds
 * nothing; launching one succeeds.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "simcuda/stream.h"

struct CUgraph_st {
	unsigned long long capture; /* id it came from */
};
struct CUgraphExec_st {
	unsigned long long capture;
};
struct CUuserObject_st {
	void *data;
	cudaHostFn_t destroy;
	unsigned references;
};

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
	(void)mode;
	process_begin(CALL_cudaStreamBeginCapture);
	if (of(stream)->capture)
		return process_end(cudaErrorInvalidValue);
	of(stream)->capture = ++last_id;
	return process_end(cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	process_begin(CALL_cudaStreamEndCapture);
	*graph = NULL;
	if (!of(stream)->capture)
		return process_end(cudaErrorStreamCaptureUnmatched);
	*graph = gp_mem_alloc(1, sizeof(**graph));
	(*graph)->capture = of(stream)->capture;
	of(stream)->capture = 0;
	return process_end(cudaSuccess);
}

static void tell(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
		 unsigned long long *id)
{
	unsigned long long capture = of(stream)->capture;

	*status = capture ? cudaStreamCaptureStatusActive
			  : cudaStreamCaptureStatusNone;
	if (id)
		*id = capture;
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
				  enum cudaStreamCaptureStatus *status)
{
	process_begin(CALL_cudaStreamIsCapturing);
	tell(stream, status, NULL);
	return process_end(cudaSuccess);
}

cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
					enum cudaStreamCaptureStatus *status,
					unsigned long long *id,
					cudaGraph_t *graph,
					const cudaGraphNode_t **nodes,
					size_t *count)
{
	process_begin(CALL_cudaStreamGetCaptureInfo_v2);
	tell(stream, status, id);
	if (graph)
		*graph = NULL;
	if (nodes)
		*nodes = NULL;
	if (count)
		*count = 0;
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

cudaError_t cudaThreadExchangeStreamCaptureMode(
	enum cudaStreamCaptureMode *mode)
{
	enum cudaStreamCaptureMode before = mode_of_thread;

	process_begin(CALL_cudaThreadExchangeStreamCaptureMode);
	mode_of_thread = *mode;
	*mode = before;
	return process_end(cudaSuccess);
}

/* ---- graphs ---- */

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	process_begin(CALL_cudaGraphDestroy);
	free(graph);
	return process_end(cudaSuccess);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec,
					  cudaGraph_t graph,
					  unsigned long long flags)
{
	(void)flags;
	process_begin(CALL_cudaGraphInstantiateWithFlags);
	*exec = gp_mem_alloc(1, sizeof(**exec));
	(*exec)->capture = graph->capture;
	return process_end(cudaSuccess);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	(void)exec;
	(void)stream;
	process_begin(CALL_cudaGraphLaunch);
	streams_work();
	return process_end(cudaSuccess);
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
	(void)flags;
	process_begin(CALL_cudaUserObjectCreate);
	*object = gp_mem_alloc(1, sizeof(**object));
	**object = (struct CUuserObject_st){ data, destroy, references };
	return process_end(cudaSuccess);
}

/* The callback runs outside the lock: it may call CUDA. */
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

/* Graphs hold nothing, so the reference that moves is never given back. */
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph,
				      cudaUserObject_t object, unsigned count,
				      unsigned flags)
{
	(void)graph;
	process_begin(CALL_cudaGraphRetainUserObject);
	if (!(flags & cudaGraphUserObjectMove))
		object->references += count;
	return process_end(cudaSuccess);
}
