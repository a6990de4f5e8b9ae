/* SPDX-License-Identifier: MIT */
/* Events: a place in a stream's work. */
#include "simcuda/event.h"

#include <stdlib.h>

#include "base/mem.h"
#include "simcuda/stream.h"

/* An allocator asks once a request, so many are nobody's but a waiting loop's.
 */
#define MOST_POLLS 10000

struct CUevent_st {
	uint32_t stream; /* index */
	uint64_t number; /* 0: never recorded, and so complete */
	uint64_t work, time_ns;
	struct polls polls;
	/* Recorded on a stream that was captured: there, and only there, it can
	 * be waited for. */
	unsigned long long capture;
	struct node_list nodes;
	struct awaited awaited;
};

cudaEvent_t event_create(void)
{
	return gp_mem_alloc(1, sizeof(struct CUevent_st));
}

static cudaError_t create(enum simcuda_call call, cudaEvent_t *event)
{
	process_begin(call);
	*event = event_create();
	return process_end(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	return create(CALL_cudaEventCreate, event);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	(void)flags;
	return create(CALL_cudaEventCreateWithFlags, event);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	process_begin(CALL_cudaEventDestroy);
	node_list_clear(&event->nodes);
	free(event);
	return process_end(cudaSuccess);
}

static cudaError_t record(enum simcuda_call call, cudaEvent_t event,
			  cudaStream_t stream)
{
	struct stream *s;

	process_begin(call);
	streams_work();
	event->stream = stream_index((uintptr_t)stream);
	node_list_clear(&event->nodes);
	event->capture = 0;
	s = stream_at(event->stream);
	if (s->graph) {
		event->capture = s->graph->capture;
		node_list_join(&event->nodes, &s->next);
		return process_end(cudaSuccess);
	}
	event->number = ++s->issued;
	event->work = s->work = streams_work_done();
	event->time_ns = streams_time_ns();
	event->awaited = s->awaited;
	process_end(cudaSuccess);
	process_tell_event(event, false);
	return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	return record(CALL_cudaEventRecord, event, stream);
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream,
				     unsigned flags)
{
	(void)flags;
	return record(CALL_cudaEventRecordWithFlags, event, stream);
}

static void finish(cudaEvent_t event)
{
	struct stream *stream = stream_at(event->stream);

	if (stream->done < event->number)
		stream->done = event->number;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	bool is_done, is_awaited = process_is_awaited(&event->awaited);

	process_begin(CALL_cudaEventQuery);
	if (event->capture)
		return process_end(cudaErrorCapturedEvent);
	is_done = !event->number ||
		  stream_is_done(event->stream, event->number, event->work);
	if (!is_done && stream_polled_enough(&event->polls)) {
		finish(event);
		is_done = true;
	}
	is_done &= !is_awaited;
	process_end(is_done ? cudaSuccess : cudaErrorNotReady);
	if (is_done)
		process_tell_event(event, true);
	return is_done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	process_wait_for(&event->awaited);
	process_begin(CALL_cudaEventSynchronize);
	if (event->number)
		finish(event);
	process_end_waiting();
	process_tell_event(event, true);
	return cudaSuccess;
}

/* The graph that is being made, or NULL. */
static cudaGraph_t open_graph(unsigned long long capture)
{
	for (size_t i = 0; i < streams_count(); i++) {
		const struct stream *stream = stream_at((uint32_t)i);

		if (stream->graph && stream->graph->capture == capture)
			return stream->graph;
	}
	return NULL;
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event,
				unsigned flags)
{
	cudaGraph_t graph = NULL;
	cudaError_t error;
	uint64_t waited_for;
	uint32_t index;

	(void)flags;
	process_begin(CALL_cudaStreamWaitEvent);
	index = stream_index((uintptr_t)stream);
	if (event->capture) {
		graph = open_graph(event->capture);
		if (!graph)
			return process_end(cudaErrorCapturedEvent);
	}
	waited_for = stream_at(event->stream)->handle;
	stream_join(stream_at(index), &event->awaited);
	error = process_end(stream_wait(index, graph, &event->nodes));
	if (graph && error == cudaSuccess)
		process_tell_wait(waited_for, (uintptr_t)stream);
	return error;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	process_begin(CALL_cudaEventElapsedTime);
	*ms = 0;
	if (!from->number || !to->number)
		return process_end(cudaErrorInvalidResourceHandle);
	*ms = (float)((double)to->time_ns - (double)from->time_ns) / 1e6F;
	return process_end(cudaSuccess);
}
