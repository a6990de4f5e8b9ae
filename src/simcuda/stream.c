/* SPDX-License-Identifier: MIT */
/* Streams: each has a number, and how much of what was recorded on it is
 * complete. Events: a place in a stream's work. */
#include "simcuda/stream.h"

#include <stdlib.h>

#include "base/mem.h"

/* Handles of streams created here. They are even: PyTorch uses odd ones for its
 * own. */
#define FIRST_HANDLE UINT64_C(0x53000000)
#define HANDLE_STEP  0x10

/* An allocator queries an event once per request: as many queries with no other
 * work in between are a polling loop. */
#define MOST_POLLS 10000

/*
 * The simulated clock: a fixed time for each piece of work, a PCI Express 5.0
 * rate for copies, and for launches the rate at which an A100's threads fill
 * memory. Nothing depends on the clock but the times that are reported.
 */
#define WORK_NS		    5000
#define COPIED_BYTES_PER_NS 50
#define THREADS_PER_NS	    100

static struct {
	struct stream *items;
	size_t count, room;
	struct gp_map by_handle;
	uint64_t created;
	uint64_t work;	  /* issued so far, on any stream */
	uint64_t time_ns; /* of that work */
	enum simcuda_events when;
	uint64_t lag;
} streams;

void stream_leave_capture(struct stream *stream)
{
	node_list_clear(&stream->next);
	stream->graph = NULL;
	stream->is_origin = false;
}

bool streams_are_captured(void)
{
	for (size_t i = 0; i < streams.count; i++)
		if (streams.items[i].graph)
			return true;
	return false;
}

void streams_forget(void)
{
	for (size_t i = 0; i < streams.count; i++) {
		if (streams.items[i].is_origin)
			graph_destroy(streams.items[i].graph);
		stream_leave_capture(&streams.items[i]);
	}
	free(streams.items);
	gp_map_release(&streams.by_handle);
	streams.items = NULL;
	streams.count = streams.room = 0;
	streams.created = streams.work = streams.time_ns = 0;
}

uint32_t stream_index(uint64_t handle)
{
	uint32_t index = gp_map_get(&streams.by_handle, handle);

	if (index != GP_MAP_NONE)
		return index;
	index = (uint32_t)streams.count++;
	GP_GROW(streams.items, streams.count, streams.room);
	streams.items[index] = (struct stream){ .handle = handle };
	gp_map_put(&streams.by_handle, handle, index);
	return index;
}

struct stream *stream_at(uint32_t index)
{
	return &streams.items[index];
}

size_t streams_count(void)
{
	return streams.count;
}

/* Counts a launch, a copy or a recorded event. */
static void streams_work(void)
{
	streams.work++;
	streams.time_ns += WORK_NS;
}

void streams_copy(uint64_t size)
{
	streams_work();
	streams.time_ns += size / COPIED_BYTES_PER_NS;
}

uint64_t streams_time_ns(void)
{
	return streams.time_ns;
}

void stream_node(uint64_t handle)
{
	struct stream *stream = stream_at(stream_index(handle));
	cudaGraphNode_t node;

	if (!stream->graph)
		return;
	node = graph_add(stream->graph, &stream->next, false);
	node_list_clear(&stream->next);
	node_list_add(&stream->next, node);
}

void stream_work(uint64_t handle)
{
	streams_work();
	stream_node(handle);
}

void stream_launch(uint64_t handle, uint64_t threads)
{
	stream_work(handle);
	streams.time_ns += threads / THREADS_PER_NS;
}

/* The stream's next work comes after these nodes of a graph being captured.
 * CUDA refuses this if the stream belongs to another graph, or if the nodes
 * belong to none. */
static cudaError_t stream_wait(uint32_t index, cudaGraph_t graph,
			       const struct node_list *nodes)
{
	struct stream *stream = stream_at(index);

	if (stream->graph && stream->graph != graph)
		return graph ? cudaErrorStreamCaptureMerge
			     : cudaErrorStreamCaptureIsolation;
	stream->graph = graph;
	node_list_join(&stream->next, nodes);
	return cudaSuccess;
}

/* ---- work that waits for other processes ---- */

/* For each place: the number of the wait that uses it. */
static uint64_t awaited_at[64];

void stream_await(uint64_t handle, unsigned place, uint64_t issued)
{
	struct stream *stream = stream_at(stream_index(handle));

	awaited_at[place] = issued;
	stream->awaited.places |= UINT64_C(1) << place;
	stream->awaited.issued = issued;
}

/* Work on the stream waits for whatever the other work waits for. */
static void stream_join(struct stream *stream, const struct awaited *other)
{
	for (unsigned i = 0; i < 64; i++)
		if (other->places >> i & 1 && awaited_at[i] <= other->issued)
			stream->awaited.places |= UINT64_C(1) << i;
	if (stream->awaited.issued < other->issued)
		stream->awaited.issued = other->issued;
}

void streams_arrived(unsigned place)
{
	awaited_at[place] = UINT64_MAX;
	for (size_t i = 0; i < streams.count; i++)
		streams.items[i].awaited.places &= ~(UINT64_C(1) << place);
}

static uint64_t streams_work_done(void)
{
	return streams.work;
}

void streams_set_events(enum simcuda_events when, uint64_t lag)
{
	streams.when = when;
	streams.lag = lag;
}

/* Whether the event of this number on the stream is complete; `work` is the
 * amount of work that had been issued when it was recorded. */
static bool stream_is_done(uint32_t index, uint64_t number, uint64_t work)
{
	if (streams.when == SIMCUDA_EVENTS_INSTANT ||
	    streams.items[index].done >= number)
		return true;
	return streams.when == SIMCUDA_EVENTS_LAG &&
	       streams.work >= work + streams.lag;
}

/* A program that does nothing but query is waiting for it: complete it. */
static bool stream_polled_enough(struct polls *polls)
{
	if (polls->work != streams.work)
		polls->count = 0;
	polls->work = streams.work;
	return streams.when == SIMCUDA_EVENTS_LAG &&
	       ++polls->count >= MOST_POLLS;
}

static void finish(struct stream *stream)
{
	stream->done = stream->issued;
}

static void finish_all(void)
{
	for (size_t i = 0; i < streams.count; i++)
		finish(&streams.items[i]);
}

/* ---- the control interface ---- */

void simcuda_set_events(enum simcuda_events when, uint64_t lag)
{
	process_lock();
	streams_set_events(when, lag);
	process_unlock();
}

void simcuda_stream_done(uint64_t stream)
{
	process_lock();
	finish(stream_at(stream_index(stream)));
	process_unlock();
}

uint64_t simcuda_stream_issued(uint64_t stream)
{
	uint64_t issued;

	process_lock();
	issued = stream_at(stream_index(stream))->issued;
	process_unlock();
	return issued;
}

void simcuda_stream_done_to(uint64_t stream, uint64_t number)
{
	struct stream *s;

	process_lock();
	s = stream_at(stream_index(stream));
	if (s->done < number)
		s->done = number;
	process_unlock();
}

void simcuda_launch(uint64_t stream)
{
	process_lock();
	stream_work(stream);
	process_unlock();
}

void simcuda_all_done(void)
{
	process_lock();
	finish_all();
	process_unlock();
}

/* ---- CUDA's calls ---- */

static cudaError_t create(enum simcuda_call call, cudaStream_t *stream,
			  int priority)
{
	uint64_t handle;

	process_begin(call);
	handle = FIRST_HANDLE + HANDLE_STEP * streams.created++;
	stream_at(stream_index(handle))->priority = priority;
	*stream = (cudaStream_t)(uintptr_t)handle;
	return process_end(cudaSuccess);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	return create(CALL_cudaStreamCreate, stream, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	(void)flags;
	return create(CALL_cudaStreamCreateWithFlags, stream, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags,
					 int priority)
{
	(void)flags;
	return create(CALL_cudaStreamCreateWithPriority, stream, priority);
}

/* The stream's number stays valid: its events may still be queried. */
cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	process_begin(CALL_cudaStreamDestroy);
	finish(stream_at(stream_index((uintptr_t)stream)));
	return process_end(cudaSuccess);
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	process_begin(CALL_cudaStreamGetPriority);
	*priority = stream_at(stream_index((uintptr_t)stream))->priority;
	return process_end(cudaSuccess);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	struct stream *s;
	bool is_known, is_done;

	process_begin(CALL_cudaStreamQuery);
	s = stream_at(stream_index((uintptr_t)stream));
	is_known = s->done >= s->issued;
	is_done = is_known || streams.when != SIMCUDA_EVENTS_LAG ||
		  streams.work >= s->work + streams.lag;
	if (!is_done && stream_polled_enough(&s->polls)) {
		finish(s);
		is_done = true;
	}
	process_end(is_done ? cudaSuccess : cudaErrorNotReady);
	if (!is_known)
		process_notify_timed(true);
	return is_done ? cudaSuccess : cudaErrorNotReady;
}

/*
 * With manual events only the controlling program completes work: an allocator
 * that waits for a stream before it unmaps memory must not complete the events
 * of other blocks, or runs could not be compared.
 */
cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	struct awaited awaited;

	process_lock();
	awaited = stream_at(stream_index((uintptr_t)stream))->awaited;
	process_unlock();
	process_wait_for(&awaited);
	process_begin(CALL_cudaStreamSynchronize);
	if (streams.when != SIMCUDA_EVENTS_MANUAL)
		finish(stream_at(stream_index((uintptr_t)stream)));
	return process_end_waiting();
}

cudaError_t cudaDeviceSynchronize(void)
{
	process_wait_for(&AWAITED_EVERYTHING);
	process_begin(CALL_cudaDeviceSynchronize);
	finish_all();
	return process_end_waiting();
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	process_begin(CALL_cudaDeviceGetStreamPriorityRange);
	if (least)
		*least = 0;
	if (greatest)
		*greatest = -5; /* as reported by devices since Ampere */
	return process_end(cudaSuccess);
}

/* ---- events ---- */

struct CUevent_st {
	uint32_t stream; /* index */
	uint64_t number; /* 0: never recorded, and so complete */
	uint64_t work, time_ns;
	struct polls polls;
	/* If it was recorded on a captured stream, it can only be waited for
	 * within that capture. */
	unsigned long long capture;
	struct node_list nodes;
	struct awaited awaited;
	bool is_waited_for; /* by a stream or the host */
};

cudaEvent_t event_create(void)
{
	return gp_mem_alloc(1, sizeof(struct CUevent_st));
}

static cudaError_t create_event(enum simcuda_call call, cudaEvent_t *event)
{
	process_begin(call);
	*event = event_create();
	return process_end(cudaSuccess);
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	return create_event(CALL_cudaEventCreate, event);
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	(void)flags;
	return create_event(CALL_cudaEventCreateWithFlags, event);
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
	event->is_waited_for = false;
	process_end(cudaSuccess);
	process_notify_event(event, false);
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

static void finish_event(cudaEvent_t event)
{
	struct stream *stream = stream_at(event->stream);

	if (stream->done < event->number)
		stream->done = event->number;
}

/* The last thing that this thread did with an event: it waited for it, or it
 * queried whether it is complete. */
static _Thread_local bool has_waited;

bool streams_have_waited(void)
{
	return has_waited;
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	bool is_done, is_awaited = process_is_awaited(&event->awaited);
	bool is_known, is_loose;

	has_waited = false;
	process_begin(CALL_cudaEventQuery);
	if (event->capture)
		return process_end(cudaErrorCapturedEvent);
	is_known = !event->number ||
		   stream_at(event->stream)->done >= event->number;
	is_done = !event->number ||
		  stream_is_done(event->stream, event->number, event->work);
	if (!is_done && stream_polled_enough(&event->polls)) {
		finish_event(event);
		is_done = true;
	}
	is_done &= !is_awaited;
	is_loose = is_awaited && !event->is_waited_for;
	process_end(is_done ? cudaSuccess : cudaErrorNotReady);
	if (is_done)
		process_notify_event(event, true);
	else if (is_loose)
		process_notify_unfinished(&event->awaited);
	if (!is_known)
		process_notify_timed(true);
	return is_done ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	cudaError_t error;

	process_wait_for(&event->awaited);
	has_waited = true;
	process_begin(CALL_cudaEventSynchronize);
	event->is_waited_for = true;
	if (event->number)
		finish_event(event);
	error = process_end_waiting();
	process_notify_event(event, true);
	return error;
}

/* The graph being captured under this id; NULL: its capture has ended. */
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
	event->is_waited_for = true;
	waited_for = stream_at(event->stream)->handle;
	stream_join(stream_at(index), &event->awaited);
	error = process_end(stream_wait(index, graph, &event->nodes));
	if (graph && error == cudaSuccess)
		process_notify_wait(waited_for, (uintptr_t)stream);
	return error;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to)
{
	process_begin(CALL_cudaEventElapsedTime);
	*ms = 0;
	if (!from->number || !to->number)
		return process_end(cudaErrorInvalidResourceHandle);
	*ms = (float)((double)to->time_ns - (double)from->time_ns) / 1e6F;
	process_end(cudaSuccess);
	process_notify_timed(false);
	return cudaSuccess;
}
