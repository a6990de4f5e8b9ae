/* SPDX-License-Identifier: MIT */
/*
 * A replay: the trace of one device, run through one engine on one device.
 *
 * Verification (GP_VERIFY): the settings, release and memory are the recorded
 * ones, the device answers with the recorded segments, and the address of every
 * alloc is compared. What-if (GP_WHAT_IF): the settings, release or capacity
 * are the caller's, the device is simulated, and recorded outcomes are ignored,
 * except for the addresses of segments: memory is placed where the recording's
 * driver placed it.
 */
#ifndef GPUPOOL_REPLAY_H
#define GPUPOOL_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum gp_replay_mode { GP_VERIFY, GP_WHAT_IF };

enum gp_on_oom { GP_OOM_GO_ON, GP_OOM_STOP };

/* A run ends as soon as its peak of reserved memory, or its number of requests
 * not served, exceeds these limits. */
struct gp_replay_cut {
	uint64_t reserved; /* bytes; UINT64_MAX: no limit */
	uint64_t dropped;
};

/* In place of an event: the moment before the first one. */
#define GP_AT_START UINT64_MAX

struct gp_replay_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	/* NULL: the settings of conf or, if that is NULL, the recorded ones, in
	 * the newest release that could have written the trace. A capacity of 0
	 * then stands for gp_replay_capacity_of(). */
	const struct gp_settings *settings;
	const struct gp_engine *engine; /* NULL: the default */
	/* As in struct gp_allocator_config. */
	const char *conf, *torch_lib;
	const struct gp_torch_cuda *torch_cuda;
	const struct gp_pool_settings *pool_settings;
	const uint64_t *places;
	enum gp_replay_mode mode;
	enum gp_on_oom on_oom;
	bool until_mismatch; /* end a verification at the first mismatch */
	bool keep_peak;	     /* fill result->peak; costs a second run */
	/* Fill result->ooms.list; walks all blocks for each. */
	bool keep_ooms;
	bool keep_alike; /* fill result->alike; costs 1 % of the run */
	/* Bytes; GP_UNLIMITED: no limit. 0 beside settings: no memory. */
	uint64_t capacity;
	/* Called for each action of the engine, with the index of the request
	 * that caused it; may be NULL. */
	void (*action)(void *arg, const struct gp_action *action,
		       uint64_t event);
	void *action_arg;
	/* Called with the engine after each of the events `looks`, which
	 * ascend, or after every event if looks is NULL. The first of them may
	 * be GP_AT_START. It may query the engine's state and counters; any
	 * other operation changes the run. May be NULL. */
	void (*look)(void *arg, struct gp_allocator *allocator, uint64_t event);
	void *look_arg;
	const uint64_t *looks; /* borrowed */
	size_t look_count;
	/* What-if: creates the device of a run, which the replay destroys after
	 * it; NULL: the simulated one. */
	struct gp_device *(*make_device)(void *arg, uint32_t ordinal,
					 uint64_t capacity);
	void *make_device_arg;
	/* Write to the blocks and verify them, on a real device. */
	bool check_memory;
	/* Treat restored blocks like other requests: to compare engines of
	 * which one cannot place them. */
	bool places_nothing;
	/* Called after each event, on the thread of the replay; returns whether
	 * the run should end now. NULL: never. */
	bool (*is_interrupted)(void);
	const struct gp_replay_cut *cut; /* NULL: no limits */
};

/* Blocks whose memory was written on allocation and read back later. */
struct gp_memory_check {
	uint64_t blocks, bytes;
	uint64_t changed; /* blocks overwritten by others */
	/* The first overwritten block: its request, the event at which it was
	 * read, its size. */
	uint64_t first_event, first_seen, first_size;
};

#define GP_CALL_TIMES 24

/* Memory over the run: GP_BINS bins of equally many events, each with the
 * largest value in it. */
#define GP_BINS 240
struct gp_timeline {
	uint64_t reserved[GP_BINS], allocated[GP_BINS], active[GP_BINS];
	uint32_t bins; /* bins used; fewer than GP_BINS for short traces */
};

/* The first event at which a verification diverges from its recording. */
#define GP_CANDIDATES 8
struct gp_mismatch {
	bool is_there;
	enum {
		GP_WRONG_ADDRESS,
		GP_WRONG_SEGMENT_SIZE,
		GP_UNEXPECTED_SEGMENT, /* requested, but not recorded */
		GP_MISSING_SEGMENT,    /* recorded, but not requested */
		GP_UNEXPECTED_OOM,
	} kind;
	uint64_t event;
	uint64_t requested; /* bytes */
	uint16_t stream, pool;
	uint32_t site;
	uint64_t chosen, recorded; /* addresses or segment sizes */
	struct gp_candidate candidates[GP_CANDIDATES];
	uint32_t candidate_count;
};

struct gp_fidelity {
	uint64_t checked, matched;		     /* addresses of allocs */
	uint64_t segments_checked, segments_matched; /* by size and time */
	struct gp_mismatch first;
};

enum gp_oom_cause {
	GP_CAUSE_CAPACITY,
	GP_CAUSE_FRAGMENTATION, /* enough was free, but not contiguous */
};

struct gp_oom {
	bool is_there;
	uint64_t alloc; /* index among the device's allocs, from 1 */
	uint64_t event;
	uint64_t size; /* as requested */
	uint32_t site;
	enum gp_oom_cause cause;
	uint16_t stream;
	bool is_routed; /* false: of route, only pool is known */
	struct gp_route route;
	uint64_t free_bytes; /* reserved but not allocated */
	/* Bytes in free blocks of the request's own stream and pool, the
	 * largest of those blocks, and bytes in free blocks of other streams
	 * and of other pools. */
	uint64_t free_its_own, largest_free, free_other_stream, free_other_pool;
	uint64_t device_free;
	uint64_t reserved, allocated;
	/* Further values of PyTorch's message. */
	uint8_t release;
	uint32_t device;       /* CUDA's ordinal */
	uint64_t segment_size; /* the segment requested from the device */
	uint64_t device_total;
	uint64_t limit; /* of reserved bytes; GP_UNLIMITED: none */
	uint64_t room;	/* device_free, or less under the limit */
	/* Memory in use beyond the device's total, because the memory of others
	 * is not limited. */
	uint64_t overdrawn;
	uint64_t pool_free; /* bytes in free blocks of private pools */
	/* Allocated blocks as requested, rounded up to 512 B. */
	uint64_t live;
	/* Address space reserved by a segment; GP_UNLIMITED: not set. */
	uint64_t reserve;
	/* By throw_on_cudamalloc_oom, without asking the device. */
	bool is_rejected;
	bool is_expandable; /* expandable_segments was set */
};

/* All requests that found no memory; list has details of the first of them, on
 * request. */
#define GP_OOMS_KEPT 1000
struct gp_ooms {
	uint64_t *events; /* ascending */
	size_t count, room;
	struct gp_oom *list;
	size_t kept, list_room;
};

/* The first increase of the memory of others that the device had no room
 * for. */
struct gp_no_room {
	uint64_t event;
	uint64_t missing; /* bytes; 0: there was always room */
};

/* Memory at one moment, in bytes; other measures derive from these. */
struct gp_moment {
	uint64_t event;
	uint64_t reserved, allocated, active, requested, inactive_split;
	uint64_t largest_free; /* of the largest free block */
};

/* The memory of an allocator now; event is stored in the result. */
struct gp_moment gp_moment_of(struct gp_allocator *allocator, uint64_t event);

/* Totals of the whole run, unaffected by resets of the counters in the
 * program. */
struct gp_run_counts {
	int64_t retries, synchronizes, device_allocs, device_frees;
};

struct gp_replay_result {
	struct gp_stats stats;
	struct gp_run_counts counts;
	struct gp_recorded recorded;	/* as reported by the recording */
	struct gp_pool_reserved *pools; /* private pools that had memory */
	size_t pool_count;
	struct gp_device_calls calls;
	struct gp_device_reach reach;
	struct gp_no_room others;
	/* Real device: the time taken by its calls. */
	struct gp_call_time times[GP_CALL_TIMES];
	size_t time_count;
	struct gp_memory_check memory;
	bool is_interrupted;
	bool is_cut;	     /* ended by config.cut */
	uint64_t cut_events; /* events replayed by then */
	struct gp_timeline timeline;
	/* fidelity.checked is 0 if nothing can be compared. */
	struct gp_fidelity fidelity;
	struct gp_oom first_oom;
	struct gp_ooms ooms;
	struct gp_moment at_peak; /* first moment with the most reserved */
	/* Of the moments with as much reserved as at_peak, the first one with
	 * the most allocated. */
	struct gp_moment at_fullest;
	struct gp_moment at_end;
	uint64_t requests, allocs;
	uint64_t dropped; /* requests not served; their frees are skipped */
	uint64_t refused; /* of those, GP_REFUSED_BY_RULE */
	char first_refusal[160];
	uint64_t first_refusal_event;
	/* The segments and blocks after the last event; and, with keep_peak,
	 * those at the moment at_fullest, else empty. */
	struct gp_state end, peak;
	bool peak_is_from_start; /* the peak of reserved is the start state */
	bool fullest_is_start;	 /* at_fullest is before the first event */
	/* keep_alike: the settings under which every decision of the run, as
	 * far as it went, would be the same. For a verification, and for
	 * engines that do not support it: just the settings of the run. */
	struct gp_alike alike;
};

/* Replays the trace. The caller releases *result. If the device is not in the
 * trace, or the settings, the engine or the start state cannot be used, the
 * status and diag say why, *result is zeroed, and there is nothing to release.
 * A request that is not served is not a failure. Borrows all of config until it
 * returns. Thread-safe. */
enum gp_status gp_replay(const struct gp_replay_config *config,
			 struct gp_replay_result *result, struct gp_diag *diag);
/* Frees what a result owns. Accepts a zeroed result. */
void gp_replay_release(struct gp_replay_result *result);

/* Whether there was memory for every request and for every increase of the
 * memory of others. */
bool gp_replay_has_room(const struct gp_replay_result *result);

/* The peak of allocated bytes. Like at_peak.reserved, and unlike the counters'
 * peaks, it is not affected by resets in the program. */
uint64_t gp_replay_peak_allocated(const struct gp_replay_result *result);

/*
 * The release that wrote a trace: of those that its keys permit, the newest one
 * whose verification matches best. For a trace without addresses, the newest
 * one permitted.
 */
struct gp_release_choice {
	uint8_t release;
	char why[256]; /* a sentence */
	uint64_t checked, matched;
};
/* Chooses the release by replays. conf: the settings of the recording, "" for
 * the defaults; GP_INPUT if PyTorch rejects them. */
enum gp_status gp_replay_release_of(const struct gp_trace *trace,
				    const char *conf,
				    struct gp_release_choice *choice,
				    struct gp_diag *diag);

/*
 * Whether a replay with this capacity is meaningless, because the start state
 * of a window, which is always the recorded one, has more reserved than that.
 * Returns the bytes reserved at the start if so, else 0.
 */
uint64_t gp_replay_undecided(const struct gp_trace *trace, uint32_t device,
			     uint64_t capacity);
/* The same for all devices of a trace: GP_OK, or GP_INPUT with a sentence and
 * what would help. */
enum gp_status gp_replay_decides(const struct gp_trace *trace,
				 uint64_t capacity, struct gp_diag *diag);

/* The memory of the recording's device in bytes, as far as the trace shows it:
 * its total memory, or what its first oom shows, or GP_UNLIMITED. */
uint64_t gp_replay_capacity_of(const struct gp_trace *trace, uint32_t device);

/*
 * Bounds on the device's memory, derived from requests that were served only
 * after the recorded allocator had released cached memory, or that a memory
 * limit refused: the device had room for the most that was reserved, and no
 * room for the request that it refused. False: there is no such request, or the
 * settings have garbage collection or a memory fraction, which release memory
 * too.
 */
struct gp_refused_room {
	uint64_t least, below; /* least <= bytes of memory < below */
};
bool gp_replay_refused_room(const struct gp_trace *trace, uint32_t device,
			    const struct gp_settings *settings,
			    struct gp_refused_room *room);

/* Whether a recorded request failed although the device had room for it:
 * because of a limit, such as set_per_process_memory_fraction(), that the trace
 * does not hold. */
bool gp_replay_was_limited(const struct gp_trace *trace, uint32_t device);

/*
 * Like gp_replay_capacity_of(), for a verification under settings with a memory
 * limit or garbage collection, whose decisions depend on the size of the
 * device: if the trace does not show the size, the one with which most
 * addresses match.
 */
uint64_t gp_replay_fit_capacity(const struct gp_trace *trace, uint32_t device,
				const struct gp_settings *settings);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
