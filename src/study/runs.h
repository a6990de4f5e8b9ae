/* SPDX-License-Identifier: MIT */
/*
 * Runs of one device of a trace, and what else each of them answers.
 *
 * A run speaks for every setting under which all of its decisions would have
 * been the same (struct gp_alike), for every rounding that leaves the sizes of
 * the trace alike, and, where it is plain, for every capacity that would have
 * given each request the same answer (struct gp_device_reach).  Who asks for
 * one of those is answered without another replay.
 */
#ifndef STUDY_RUNS_H
#define STUDY_RUNS_H

#include "base/larger.h"
#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

/* The next capacity that is a whole multiple of GP_DEVICE_GRAIN, or the last.
 */
static inline uint64_t runs_grid_up(uint64_t bytes)
{
	const uint64_t last = UINT64_MAX / GP_DEVICE_GRAIN * GP_DEVICE_GRAIN;

	return bytes > UINT64_MAX - GP_DEVICE_GRAIN
		       ? last
		       : gp_round_up(bytes, GP_DEVICE_GRAIN);
}

/* The least capacity at which an expandable segment's reservation has that many
 * bytes, as it is rounded up to a page. */
static inline uint64_t runs_with_range(uint64_t bytes)
{
	return runs_grid_up(bytes / 9 * 8 + 8);
}

/* What a run told. */
struct run_outcome {
	/* Capacities at which it goes the same way: from <= capacity < to;
	 * UINT64_MAX: no end. */
	uint64_t from, to;
	/* Whether a limit, or a share of the device, is measured by its size:
	 * then the run tells of its own capacity alone.  is_plain: the size
	 * reaches it only through the device's answers and the addresses that
	 * expandable segments reserve, of which the engine tells. */
	bool follows_size, is_plain;
	uint64_t capacity; /* at which it was played */
	uint64_t ooms, retries, refused;
	uint64_t reserved, peak_allocated;
	uint64_t least_capacity; /* that grants what was granted */
	bool has_room;		 /* gp_replay_has_room */
	struct gp_device_calls calls;
	int64_t synchronizes; /* gp_price_of's */
	struct gp_oom first_oom;
};

struct runs_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	const struct gp_engine *engine;
	const char *torch_lib;	/* as in struct gp_allocator_config */
	const uint64_t *places; /* likewise */
};

/* Settings, and the conf that they were parsed from. */
struct run_asked {
	const struct gp_settings *settings;
	const char *conf;
	uint64_t capacity;
	/* GP_OOM_STOP: what comes behind the first failure does not matter. */
	enum gp_on_oom on_oom;
};

struct runs;

/* Keeps a copy of config, whose parts are borrowed. */
struct runs *runs_create(const struct runs_config *config);
void runs_destroy(struct runs *runs);

/* NULL: no run that was made tells.  Valid until the next that is made. */
const struct run_outcome *runs_find(const struct runs *runs,
				    const struct run_asked *asked);
/* Makes it where none tells. */
enum gp_status runs_ask(struct runs *runs, const struct run_asked *asked,
			const struct run_outcome **outcome,
			struct gp_diag *diag);
/* What will be asked for soon, at those capacities. */
struct runs_ahead {
	const uint64_t *capacities;
	size_t count, threads;
};

/*
 * Makes such runs on several threads: as soon as the first is neither made nor
 * foreseen, and with it as many of the others as there are threads.  A run that
 * is foreseen answers nobody until that very run is asked for, and counts from
 * then on, so that nothing else depends on it.  asked's parts are borrowed
 * until runs_forget.
 */
void runs_foresee(struct runs *runs, const struct run_asked *asked,
		  const struct runs_ahead *ahead);
/*
 * Makes those of all capacities of a range at once (study/branches.h), where
 * the settings leave the size of the device no other way than its answers.  One
 * answers nobody until a run at such a capacity is asked for, and counts from
 * then on.  most: as many replays are never longer.
 */
struct runs_range {
	uint64_t from, to; /* whole multiples of GP_DEVICE_GRAIN */
	uint64_t most;
	size_t threads; /* 0: one */
	void (*progress)(void *arg);
	void *progress_arg;
};
enum gp_status runs_foresee_range(struct runs *runs,
				  const struct run_asked *asked,
				  const struct runs_range *range,
				  struct gp_diag *diag);
/* What was foreseen one by one, and was not asked for. */
void runs_forget(struct runs *runs);

/* How many were made. */
uint32_t runs_made(const struct runs *runs);

#endif
