/* SPDX-License-Identifier: MIT */
/*
 * Verification: two runs of the same requests, comparing each action and
 * counter. Against PyTorch: one run uses gpupool's allocator and the other
 * PyTorch's own, on equal simulated devices. Against a device: one run uses the
 * simulated device and the other the real one, with the same allocator.
 */
#ifndef REPLAY_VERIFY_VERIFY_H
#define REPLAY_VERIFY_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

struct gp_verify_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	const struct gp_settings *settings;
	const char *conf, *torch_lib; /* as in struct gp_allocator_config */
	uint64_t capacity;	      /* bytes, or GP_UNLIMITED */
	/* Of the second run; NULL: PyTorch's. The first run uses the same
	 * engine, or gpupool's if this is PyTorch's. */
	const struct gp_engine *engine;
	/* For the second run; NULL: a simulated device. */
	struct gp_device *(*make_device)(void *arg, uint32_t ordinal,
					 uint64_t capacity);
	void *make_device_arg;
	/* Free bytes of the second run's device: there is no second run if the
	 * first one reserved more. 0: there is always one. */
	uint64_t room;
	/* For the second run, or NULL. The memory of the first run is then
	 * placed at the addresses of the second one. */
	const struct gp_torch_cuda *torch_cuda;
	bool check_memory; /* in the second run */
	/* Returns true to end the run early, with a result that is not to be
	 * used; NULL: never. */
	bool (*is_interrupted)(void);
};

/* An action, and the index of the request that caused it. */
struct gp_caused_action {
	struct gp_action action;
	uint64_t event;
};

/* The actions of one run around the first difference. */
#define GP_VERIFY_BEFORE 4
#define GP_VERIFY_AFTER	 4
struct gp_verify_side {
	/* The last actions that are the same in both runs, then what
	 * follows. */
	struct gp_caused_action actions[GP_VERIFY_BEFORE + GP_VERIFY_AFTER];
	size_t count;
	/* Free blocks of the request's stream that are large enough, smallest
	 * first. */
	struct gp_candidate candidates[GP_CANDIDATES];
	size_t candidate_count;
	struct gp_stats stats;	/* after the request */
	char refusal[160];	/* its first error; "": none */
	uint64_t refusal_event; /* an index like gp_difference's event */
	bool is_refusal_in_start;
};

enum gp_difference_kind {
	GP_DIFFERENT_ACTION,
	GP_DIFFERENT_COUNTER,
	GP_DIFFERENT_ANSWER, /* served by one, refused by the other */
};

struct gp_difference {
	bool is_there;
	enum gp_difference_kind kind;
	uint64_t event;	    /* of the trace; see is_in_start */
	bool is_in_start;   /* while the start state was rebuilt */
	bool is_before_all; /* before the first request; event is 0 */
	struct gp_event request;
	size_t before; /* leading actions of a side that are the same */
	struct gp_verify_side ours, theirs;
};

struct gp_verify_result {
	uint64_t actions, counters; /* compared */
	/* Actions that came in another order, where PyTorch's order depends on
	 * the hash of a pointer. */
	uint64_t permuted;
	/* Of a window's start state: its segments, how many of them requests
	 * could rebuild exactly, and the number of those requests. */
	uint64_t start_segments, start_rebuilt, start_requests;
	uint64_t peak;		       /* bytes reserved by the first run */
	struct gp_memory_check memory; /* if it was checked */
	bool is_too_large; /* for config's room, so there was no second run */
	struct gp_difference first;
};

/* GP_OK even if the runs differ. Only reads the trace, settings and texts. */
enum gp_status gp_verify(const struct gp_verify_config *config,
			 struct gp_verify_result *result, struct gp_diag *diag);

/* The name of the index-th counter that is compared, as in
 * torch.cuda.memory_stats, and its value in both. false: there are no more. */
bool gp_verify_counter(size_t index, char *name, size_t size,
		       const struct gp_stats *a, const struct gp_stats *b,
		       int64_t *value_a, int64_t *value_b);

#endif
