/* SPDX-License-Identifier: MIT */
/*
 * Runs of one device of a trace, each of which answers more than one question.
 *
 * A run is valid for every setting under which all of its decisions would have
 * been the same (struct gp_alike), for every rounding that leaves the trace's
 * sizes the same, and, if it is plain, for every capacity that would have given
 * each request the same answer (struct gp_device_reach). A question about any
 * of these is answered without another replay.
 */
#ifndef STUDY_RUNS_H
#define STUDY_RUNS_H

#include "base/larger.h"
#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

/* Rounds up to a multiple of GP_DEVICE_GRAIN, or down to the last one. */
static inline uint64_t runs_grid_up(uint64_t bytes)
{
	const uint64_t last = UINT64_MAX / GP_DEVICE_GRAIN * GP_DEVICE_GRAIN;

	return bytes > UINT64_MAX - GP_DEVICE_GRAIN
		       ? last
		       : gp_round_up(bytes, GP_DEVICE_GRAIN);
}

/* The smallest capacity with which an expandable segment's reservation has that
 * many bytes, before it is rounded up to a page. */
static inline uint64_t runs_with_range(uint64_t bytes)
{
	return runs_grid_up(bytes / 9 * 8 + 8);
}

/* The result of a run. */
struct run_outcome {
	/* Capacities for which the run is the same: from <= capacity < to;
	 * UINT64_MAX: no upper bound. */
	uint64_t from, to;
	/* follows_size: a limit or a fraction depends on the size of the
	 * device, so the run is valid for its own capacity only. is_plain: the
	 * run depends on the size only through the device's answers and the
	 * addresses that expandable segments reserve, which the engine
	 * reports. */
	bool follows_size, is_plain;
	uint64_t capacity; /* of the replay */
	uint64_t ooms, retries, refused;
	uint64_t reserved, peak_allocated;
	uint64_t least_capacity; /* that grants all that was granted */
	bool has_room;		 /* gp_replay_has_room */
	struct gp_device_calls calls;
	int64_t synchronizes; /* for gp_price_of() */
	struct gp_oom first_oom;
};

struct runs_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	const struct gp_engine *engine;
	const char *torch_lib;	/* as in struct gp_allocator_config */
	const uint64_t *places; /* likewise */
};

/* A question about a run; conf: what settings were parsed from. */
struct run_asked {
	const struct gp_settings *settings;
	const char *conf;
	uint64_t capacity;
	/* GP_OOM_STOP: what follows the first failure does not matter. */
	enum gp_on_oom on_oom;
};

struct runs;

/* Keeps a copy of config, but borrows what it points to. */
struct runs *runs_create(const struct runs_config *config);
void runs_destroy(struct runs *runs);

/* Makes a run if no existing one answers. */
enum gp_status runs_ask(struct runs *runs, const struct run_asked *asked,
			const struct run_outcome **outcome,
			struct gp_diag *diag);
/* Most runs to make in advance at a time; each uses memory. */
#define RUNS_FORESEEN 8

/*
 * Makes runs in advance that runs_ask() will probably be called with soon, on
 * several threads, once the first one is neither made nor foreseen: this one,
 * and as many of the others as there are threads. A foreseen run is used and
 * counted only when runs_ask() asks for exactly this run, so that results do
 * not depend on the number of threads. Borrows each conf until runs_forget();
 * settings that differ need strings of their own.
 */
void runs_foresee(struct runs *runs, const struct run_asked *asked,
		  size_t count, size_t threads);
/*
 * Makes the runs of all capacities of a range at once (study/branches.h), if
 * the settings are plain. Such a run is used and counted only when runs_ask()
 * asks for its capacity. most: limits the work to that of this many replays.
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
/* Drops the runs made by runs_foresee() that were not used. */
void runs_forget(struct runs *runs);

/* The number of runs made. */
uint32_t runs_made(const struct runs *runs);

#endif
