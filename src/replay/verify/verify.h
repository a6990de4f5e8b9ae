/* SPDX-License-Identifier: MIT */
/*
 * Verification: the same requests twice, and each action and counter compared.
 * Against PyTorch itself: through our allocator and through PyTorch's own, on
 * equal simulated devices.  Against a device: through an allocator on the
 * simulated device and on that one.
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
	const char *conf, *torch_lib; /* struct gp_allocator_config's */
	uint64_t capacity;	      /* bytes; GP_UNLIMITED: no end */
	/* Of the second run; NULL: PyTorch's.  The first one's is the same, or
	 * ours where that is PyTorch's. */
	const struct gp_engine *engine;
	/* Of the second run; NULL: the simulated one. */
	struct gp_device *(*make_device)(void *arg, uint32_t ordinal,
					 uint64_t capacity);
	void *make_device_arg;
	/* Bytes that this device has free: what reserves more is not run there.
	 * 0: it is run. */
	uint64_t room;
	/* Of the second run, or NULL.  The first one's memory is then put where
	 * the device has the second one's. */
	const struct gp_torch_cuda *torch_cuda;
	bool check_memory; /* of the second run */
	/* Whether to end here, with a result that says nothing; NULL: never. */
	bool (*is_interrupted)(void);
};

/* An action, and the request that caused it. */
struct gp_deed {
	struct gp_action action;
	uint64_t event;
};

/* What one of the two did around the first difference. */
#define GP_VERIFY_BEFORE 4
#define GP_VERIFY_AFTER	 4
struct gp_verify_side {
	/* The last of them that are alike, then what follows. */
	struct gp_deed deeds[GP_VERIFY_BEFORE + GP_VERIFY_AFTER];
	size_t count;
	/* Free blocks that the request could have taken, smallest first. */
	struct gp_candidate candidates[GP_CANDIDATES];
	size_t candidate_count;
	struct gp_stats stats;	/* behind the request */
	char refusal[160];	/* the error it raises first; "": none */
	uint64_t refusal_event; /* counted as the difference's */
};

enum gp_difference_kind {
	GP_DIFFERENT_ACTION,
	GP_DIFFERENT_COUNTER,
	GP_DIFFERENT_ANSWER, /* served by one, refused by the other */
};

struct gp_difference {
	bool is_there;
	enum gp_difference_kind kind;
	uint64_t event;	  /* of the trace; see is_in_start */
	bool is_in_start; /* while the start state was rebuilt */
	struct gp_event request;
	size_t before; /* deeds of a side that are alike */
	struct gp_verify_side ours, theirs;
};

struct gp_verify_result {
	uint64_t actions, counters; /* compared */
	/* Neighbours that came in another order, where PyTorch leaves it to the
	 * hash of a pointer. */
	uint64_t permuted;
	/* Of a window's start state: its segments, and those that could be
	 * rebuilt by requests as they were. */
	uint64_t start_segments, start_rebuilt, start_requests;
	uint64_t peak;		       /* bytes reserved by the first run */
	struct gp_memory_check memory; /* where it was checked */
	bool is_too_large; /* for config's room: there was no second run */
	struct gp_difference first;
};

/* GP_OK also when they differ.  Trace, settings and texts are only read. */
enum gp_status gp_verify(const struct gp_verify_config *config,
			 struct gp_verify_result *result, struct gp_diag *diag);

/* The counters that are compared, by PyTorch's names: of the index-th, the name
 * and its two values.  false: no more. */
bool gp_verify_counter(size_t index, char *name, size_t size,
		       const struct gp_stats *a, const struct gp_stats *b,
		       int64_t *value_a, int64_t *value_b);

#endif
