/* SPDX-License-Identifier: MIT */
/* The CUDA runtime without a device: streams, events, capture, properties and
 * the driver's functions by name. */
#include <stdlib.h>
#include <string.h>

#include "simcuda/simcuda.h"
#include "simcuda/api/cuda.h"
#include "simcuda/api/cuda_runtime_api.h"
#include "simcuda/device.h"
#include "suite.h"

/* Streams whose handles the program chose itself. */
#define STREAM ((cudaStream_t)(uintptr_t)0x1010)
#define OTHER  ((cudaStream_t)(uintptr_t)0x1020)

static cudaEvent_t recorded(cudaStream_t stream)
{
	cudaEvent_t event = NULL;

	ck_assert_int_eq(
		cudaEventCreateWithFlags(&event, cudaEventDisableTiming),
		cudaSuccess);
	ck_assert_int_eq(cudaEventQuery(event), cudaSuccess);
	ck_assert_int_eq(cudaEventRecord(event, stream), cudaSuccess);
	return event;
}

START_TEST(test_manual_events_wait_to_be_told)
{
	cudaEvent_t first, second, other;

	simcuda_reset();
	simcuda_set_events(SIMCUDA_EVENTS_MANUAL, 0);
	first = recorded(STREAM);
	other = recorded(OTHER);
	ck_assert_int_eq(cudaEventQuery(first), cudaErrorNotReady);
	ck_assert_int_eq(cudaStreamSynchronize(STREAM), cudaSuccess);
	ck_assert_int_eq(cudaEventQuery(first), cudaErrorNotReady);
	simcuda_stream_done((uintptr_t)STREAM);
	ck_assert_int_eq(cudaEventQuery(first), cudaSuccess);
	ck_assert_int_eq(cudaEventQuery(other), cudaErrorNotReady);
	second = recorded(STREAM);
	ck_assert_int_eq(cudaEventQuery(second), cudaErrorNotReady);
	ck_assert_int_eq(cudaEventSynchronize(second), cudaSuccess);
	ck_assert_int_eq(cudaEventQuery(second), cudaSuccess);
	ck_assert_int_eq(cudaDeviceSynchronize(), cudaSuccess);
	ck_assert_int_eq(cudaEventQuery(other), cudaSuccess);
	cudaEventDestroy(first);
	cudaEventDestroy(second);
	cudaEventDestroy(other);
}
END_TEST

START_TEST(test_lagging_events_follow_later_work)
{
	cudaEvent_t event;
	char byte = 0;

	simcuda_reset();
	simcuda_set_events(SIMCUDA_EVENTS_LAG, 2);
	event = recorded(STREAM);
	ck_assert_int_eq(cudaStreamQuery(STREAM), cudaErrorNotReady);
	cudaMemset(&byte, 1, 1);
	ck_assert_int_eq(cudaEventQuery(event), cudaErrorNotReady);
	cudaMemset(&byte, 1, 1);
	ck_assert_int_eq(cudaEventQuery(event), cudaSuccess);
	cudaEventDestroy(event);
}
END_TEST

START_TEST(test_instant_events_are_complete)
{
	cudaEvent_t event;

	simcuda_reset();
	event = recorded(STREAM);
	ck_assert_int_eq(cudaEventQuery(event), cudaSuccess);
	cudaEventDestroy(event);
}
END_TEST

START_TEST(test_streams_are_even_numbers_of_their_own)
{
	cudaStream_t a, b;
	int priority = 0;

	simcuda_reset();
	ck_assert_int_eq(cudaStreamCreateWithPriority(&a, 1, -3), cudaSuccess);
	ck_assert_int_eq(cudaStreamCreate(&b), cudaSuccess);
	ck_assert_ptr_ne(a, b);
	ck_assert_uint_eq((uintptr_t)a & 1, 0);
	cudaStreamGetPriority(a, &priority);
	ck_assert_int_eq(priority, -3);
}
END_TEST

START_TEST(test_captures_have_ids_that_do_not_return)
{
	enum cudaStreamCaptureStatus status;
	unsigned long long first = 0, second = 0;
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	simcuda_reset();
	ck_assert_int_eq(cudaStreamEndCapture(STREAM, &graph),
			 cudaErrorStreamCaptureUnmatched);
	cudaStreamBeginCapture(STREAM, cudaStreamCaptureModeGlobal);
	cudaStreamGetCaptureInfo_v2(STREAM, &status, &first, NULL, NULL, NULL);
	ck_assert_int_eq(status, cudaStreamCaptureStatusActive);
	ck_assert_int_eq(cudaStreamIsCapturing(OTHER, &status), cudaSuccess);
	ck_assert_int_eq(status, cudaStreamCaptureStatusNone);
	ck_assert_int_eq(cudaStreamEndCapture(STREAM, &graph), cudaSuccess);
	ck_assert_int_eq(cudaGraphInstantiateWithFlags(&exec, graph, 0),
			 cudaSuccess);
	ck_assert_int_eq(cudaGraphLaunch(exec, STREAM), cudaSuccess);
	cudaGraphExecDestroy(exec);
	cudaGraphDestroy(graph);
	cudaStreamBeginCapture(STREAM, cudaStreamCaptureModeGlobal);
	cudaStreamGetCaptureInfo_v2(STREAM, &status, &second, NULL, NULL, NULL);
	ck_assert_uint_gt(second, first);
	cudaStreamEndCapture(STREAM, &graph);
	cudaGraphDestroy(graph);
}
END_TEST

static void wait_for(cudaStream_t stream, cudaStream_t by)
{
	cudaEvent_t event;

	cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
	cudaEventRecord(event, stream);
	cudaStreamWaitEvent(by, event, 0);
	cudaEventDestroy(event);
}

static unsigned long long capture_of(cudaStream_t stream,
				     const cudaGraphNode_t **nodes, size_t *n)
{
	enum cudaStreamCaptureStatus status;
	unsigned long long id;

	cudaStreamGetCaptureInfo_v2(stream, &status, &id, NULL, nodes, n);
	return id;
}

/* A launch on STREAM, then one on OTHER after it, then one on STREAM after
 * both. */
START_TEST(test_nodes_come_behind_what_their_stream_waits_for)
{
	const cudaGraphNode_t *nodes;
	cudaGraph_t graph;
	size_t n = 2;

	simcuda_reset();
	cudaStreamBeginCapture(STREAM, cudaStreamCaptureModeGlobal);
	simcuda_launch((uintptr_t)STREAM);
	ck_assert_uint_eq(capture_of(OTHER, &nodes, &n), 0);
	wait_for(STREAM, OTHER);
	ck_assert_uint_eq(capture_of(OTHER, &nodes, &n),
			  capture_of(STREAM, &nodes, &n));
	simcuda_launch((uintptr_t)OTHER);
	wait_for(OTHER, STREAM);
	capture_of(STREAM, &nodes, &n);
	ck_assert_uint_eq(n, 2);
	simcuda_launch((uintptr_t)STREAM);
	capture_of(STREAM, &nodes, &n);
	ck_assert_uint_eq(n, 1);
#if SIMCUDA_MAJOR >= 13
	cudaGraphNodeGetDependencies(nodes[0], NULL, NULL, &n);
#else
	cudaGraphNodeGetDependencies(nodes[0], NULL, &n);
#endif
	ck_assert_uint_eq(n, 2);
	ck_assert_int_eq(cudaStreamEndCapture(STREAM, &graph), cudaSuccess);
	ck_assert_uint_eq(capture_of(OTHER, &nodes, &n), 0);
	cudaGraphDestroy(graph);
}
END_TEST

START_TEST(test_a_capture_ends_when_its_streams_are_joined)
{
	const cudaGraphNode_t *nodes;
	cudaGraph_t graph;
	size_t n;

	simcuda_reset();
	cudaStreamBeginCapture(STREAM, cudaStreamCaptureModeGlobal);
	wait_for(STREAM, OTHER);
	simcuda_launch((uintptr_t)OTHER);
	ck_assert_int_eq(cudaStreamEndCapture(OTHER, &graph),
			 cudaErrorStreamCaptureUnmatched);
	ck_assert_int_eq(cudaStreamEndCapture(STREAM, &graph),
			 cudaErrorStreamCaptureUnjoined);
	ck_assert_ptr_null(graph);
	ck_assert_uint_eq(capture_of(OTHER, &nodes, &n), 0);
}
END_TEST

/* A captured stream cannot wait for work outside of its capture, and an event
 * of captured work cannot be queried. */
START_TEST(test_captures_are_kept_apart)
{
	cudaEvent_t captured, plain;
	cudaGraph_t graph;

	simcuda_reset();
	plain = recorded(OTHER);
	cudaStreamBeginCapture(STREAM, cudaStreamCaptureModeGlobal);
	ck_assert_int_eq(cudaStreamWaitEvent(STREAM, plain, 0),
			 cudaErrorStreamCaptureIsolation);
	captured = recorded(STREAM);
	ck_assert_int_eq(cudaEventQuery(captured), cudaErrorCapturedEvent);
	cudaStreamBeginCapture(OTHER, cudaStreamCaptureModeGlobal);
	ck_assert_int_eq(cudaStreamWaitEvent(OTHER, captured, 0),
			 cudaErrorStreamCaptureMerge);
	cudaStreamEndCapture(OTHER, &graph);
	cudaGraphDestroy(graph);
	cudaStreamEndCapture(STREAM, &graph);
	cudaGraphDestroy(graph);
	ck_assert_int_eq(cudaStreamWaitEvent(OTHER, captured, 0),
			 cudaErrorCapturedEvent);
	cudaEventDestroy(captured);
	cudaEventDestroy(plain);
}
END_TEST

/* Offsets of members of struct cudaDeviceProp, as offsetof() gives them with
 * each version's driver_types.h. */
START_TEST(test_properties_by_version)
{
	static const struct {
		int cuda;
		size_t size, multiprocessors, l2;
	} layouts[] = {
		{ 11, 728, 388, 616 },
		{ 12, 1032, 388, 616 },
		{ 13, 1008, 384, 596 },
	};
	unsigned char prop[1200];
	uint64_t total;
	int count, l2;

	simcuda_reset();
	simcuda_set_capacity(0, UINT64_C(7) << 30);
	for (size_t i = 0; i < COUNT_OF(layouts); i++) {
		memset(prop, 0xee, sizeof(prop));
		properties_write(prop, layouts[i].cuda, 0);
		memcpy(&total, prop + 288, sizeof(total));
		memcpy(&count, prop + layouts[i].multiprocessors,
		       sizeof(count));
		memcpy(&l2, prop + layouts[i].l2, sizeof(l2));
		ck_assert_uint_eq(total, UINT64_C(7) << 30);
		ck_assert_int_eq(count, 132);
		ck_assert_int_eq(l2, 50 << 20);
		ck_assert_uint_eq(prop[layouts[i].size - 1], 0);
		ck_assert_uint_eq(prop[layouts[i].size], 0xee);
	}
}
END_TEST

START_TEST(test_unknown_driver_functions_are_counted_and_named)
{
	union {
		void *object;
		CUresult (*function)(unsigned);
	} known, unknown;
	uint64_t calls = 0;

	simcuda_reset();
	cudaGetDriverEntryPoint("cuInit", &known.object, 0, NULL);
	ck_assert_int_eq(known.function(0), CUDA_SUCCESS);
	ck_assert_uint_eq(simcuda_calls("cuInit"), 1);
	/* Functions that only set something succeed, because CUTLASS prints an
	 * error otherwise. */
	cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &known.object, 0,
				NULL);
	ck_assert_int_eq(known.function(0), CUDA_SUCCESS);
	ck_assert_ptr_null(simcuda_unknown(0, &calls));
	cudaGetDriverEntryPoint("cuGreenCtxCreate", &unknown.object, 0, NULL);
	ck_assert_int_eq(unknown.function(0), CUDA_ERROR_NOT_SUPPORTED);
	ck_assert_int_eq(unknown.function(0), CUDA_ERROR_NOT_SUPPORTED);
	ck_assert_str_eq(simcuda_unknown(0, &calls), "cuGreenCtxCreate");
	ck_assert_uint_eq(calls, 2);
	ck_assert_ptr_null(simcuda_unknown(1, &calls));
}
END_TEST

/* More names than there are stand-ins must not overflow them; a stand-in that
 * several share reports none of their names. */
START_TEST(test_many_unknown_functions)
{
	union {
		void *object;
		CUresult (*function)(void);
	} unknown;
	const char *said = NULL;
	char name[32];
	uint64_t calls;

	simcuda_reset();
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "cuNobodyKnows%d", i);
		ck_assert_int_eq(
			cudaGetDriverEntryPoint(name, &unknown.object, 0, NULL),
			cudaSuccess);
		ck_assert_ptr_nonnull(unknown.object);
	}
	unknown.function();
	for (size_t i = 0; simcuda_unknown(i, &calls); i++)
		said = calls ? simcuda_unknown(i, &calls) : said;
	ck_assert_str_eq(said, "other functions of the driver");
}
END_TEST

START_TEST(test_the_environment_is_heard)
{
	size_t free_bytes, total;
	int count = 0;

	setenv("SIMCUDA_CAPACITY", "1073741824", 1);
	setenv("SIMCUDA_DEVICES", "3", 1);
	simcuda_reset();
	cudaGetDeviceCount(&count);
	cudaMemGetInfo(&free_bytes, &total);
	ck_assert_int_eq(count, 3);
	ck_assert_uint_eq(total, 1 << 30);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_manual_events_wait_to_be_told, 0 },
		{ test_lagging_events_follow_later_work, 0 },
		{ test_instant_events_are_complete, 0 },
		{ test_streams_are_even_numbers_of_their_own, 0 },
		{ test_captures_have_ids_that_do_not_return, 0 },
		{ test_nodes_come_behind_what_their_stream_waits_for, 0 },
		{ test_a_capture_ends_when_its_streams_are_joined, 0 },
		{ test_captures_are_kept_apart, 0 },
		{ test_properties_by_version, 0 },
		{ test_unknown_driver_functions_are_counted_and_named, 0 },
		{ test_many_unknown_functions, 0 },
		{ test_the_environment_is_heard, 0 },
	};

	return suite_run("simcuda_stream", tests, COUNT_OF(tests));
}
