/* SPDX-License-Identifier: MIT */
/*
 * A replay: one device's trace, through one engine, on one device.
 *
 * Verification: settings, release and memory are the recorded ones, the device
 * answers with the recorded segments, and every alloc's address is compared.
 * What-if: settings, release or capacity are the user's, the device is
 * simulated, recorded outcomes are passed over.
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

/* A run may end as soon as it has more reserved than that, or has not served
 * more requests than that. */
struct gp_replay_cut {
	uint64_t reserved; /* bytes; UINT64_MAX: however much */
	uint64_t dropped;
};

struct gp_replay_config {
	const struct gp_trace *trace;
	uint32_t device; /* index into trace->devices */
	/* NULL: those of conf, or where that is NULL the recorded ones, in the
	 * newest release that can have written the trace; and a capacity of 0
	 * is then what gp_replay_capacity_of tells. */
	const struct gp_settings *settings;
	const struct gp_engine *engine; /* NULL: the default */
	const char *conf, *torch_lib;	/* as in struct gp_allocator_config */
	const struct gp_torch_cuda *torch_cuda; /* likewise */
	const struct gp_pool_settings *pool_settings;
	const uint64_t *places; /* likewise */
	enum gp_replay_mode mode;
	enum gp_on_oom on_oom;
	bool until_mismatch; /* a verification ends at the first one */
	bool keep_peak;	     /* result->peak: costs a second run */
	bool keep_ooms;	     /* result->ooms.list: a walk of memory for each */
	bool keep_alike;     /* result->alike: costs a hundredth of the run */
	uint64_t capacity;   /* bytes; GP_UNLIMITED: no end */
	/* What the engine does, with the index of the request that caused it;
	 * NULL: nobody listens. */
	void (*action)(void *arg, const struct gp_action *action,
		       uint64_t event);
	void *action_arg;
	/* The engine itself, after each of these events, which ascend, or, with
	 * looks NULL, after every event.  It may be asked for its state and its
	 * counters; what else is done to it lasts.  NULL: nobody looks. */
	void (*look)(void *arg, struct gp_allocator *allocator, uint64_t event);
	void *look_arg;
	const uint64_t *looks; /* borrowed */
	size_t look_count;
	/* What-if: makes the device; NULL: the simulated one. */
	struct gp_device *(*make_device)(void *arg, uint32_t ordinal,
					 uint64_t capacity);
	void *make_device_arg;
	bool check_memory; /* write into blocks, if there is memory */
	/* Blocks that were restored are requests like others: for comparing
	 * engines of which one cannot place them. */
	bool places_nothing;
	/* Whether to end here; NULL: never. */
	bool (*is_interrupted)(void);
	const struct gp_replay_cut *cut; /* NULL: it goes on */
};

/* Blocks whose memory was written when they were handed out, and read again. */
struct gp_memory_check {
	uint64_t blocks, bytes;
	uint64_t changed; /* blocks that others wrote into */
	/* The first of them: its request, where it was read, its size. */
	uint64_t first_event, first_seen, first_size;
};

#define GP_CALL_TIMES 24

/* How much memory there was, over the run: one bin for each 1/GP_BINS of the
 * events, with the largest value seen in it. */
#define GP_BINS 240
struct gp_timeline {
	uint64_t reserved[GP_BINS], allocated[GP_BINS], active[GP_BINS];
	uint32_t bins; /* used; fewer than GP_BINS for short traces */
};

/* The first place where a verification and its recording part. */
#define GP_CANDIDATES 8
struct gp_mismatch {
	bool is_there;
	enum {
		GP_WRONG_ADDRESS,
		GP_WRONG_SEGMENT_SIZE,
		GP_UNEXPECTED_SEGMENT, /* asked for one; none was recorded */
		GP_MISSING_SEGMENT,    /* recorded one; none was asked for */
		GP_UNEXPECTED_OOM,
	} kind;
	uint64_t event;
	uint64_t requested; /* bytes */
	uint16_t stream, pool;
	uint32_t site;
	uint64_t chosen, recorded; /* addresses, or sizes of segments */
	struct gp_candidate candidates[GP_CANDIDATES];
	uint32_t candidate_count;
};

struct gp_fidelity {
	uint64_t checked, matched;		     /* addresses of allocs */
	uint64_t segments_checked, segments_matched; /* size and moment */
	struct gp_mismatch first;
};

enum gp_oom_cause {
	GP_CAUSE_CAPACITY,
	GP_CAUSE_FRAGMENTATION, /* enough was free, in pieces */
};

struct gp_oom {
	bool is_there;
	uint64_t alloc; /* ordinal among the device's allocs, from 1 */
	uint64_t event;
	uint64_t size; /* as requested */
	uint32_t site;
	enum gp_oom_cause cause;
	uint16_t stream;
	bool is_routed; /* else of route only the pool that it named is known */
	struct gp_route route;
	uint64_t free_bytes; /* reserved but not allocated, then */
	/* Free blocks of its stream and pool, their largest, and others. */
	uint64_t free_its_own, largest_free, free_other_stream, free_other_pool;
	uint64_t device_free;
	uint64_t reserved, allocated;
	/* What PyTorch's message tells besides. */
	uint8_t release;
	uint32_t device;       /* CUDA's ordinal */
	uint64_t segment_size; /* that was asked of the device */
	uint64_t device_total;
	uint64_t limit;	    /* that may be reserved; GP_UNLIMITED: none */
	uint64_t room;	    /* device_free, or what the limit leaves of it */
	uint64_t overdrawn; /* what is taken of the device beyond its total, as
			     * others take what they want */
	uint64_t pool_free; /* free blocks of private pools */
	uint64_t live;	    /* what allocated blocks need, in whole 512 B */
	uint64_t reserve;   /* address space a segment reserves;
			     * GP_UNLIMITED: not set */
	bool is_rejected;   /* by throw_on_cudamalloc_oom, unasked */
	bool is_expandable; /* expandable_segments, then */
};

/* All requests without memory; list has the first ones, when asked for. */
#define GP_OOMS_KEPT 1000
struct gp_ooms {
	uint64_t *events; /* ascending */
	size_t count, room;
	struct gp_oom *list;
	size_t kept, list_room;
};

/* What others took first of the device that it had no room for. */
struct gp_no_room {
	uint64_t event;
	uint64_t missing; /* bytes; 0: they had room */
};

/* Memory at one moment; the rest is arithmetic. */
struct gp_moment {
	uint64_t event;
	uint64_t reserved, allocated, active, requested, inactive_split;
	uint64_t largest_free; /* block */
};

/* Memory now; event is the caller's to say. */
struct gp_moment gp_moment_of(struct gp_allocator *allocator, uint64_t event);

struct gp_replay_result {
	struct gp_stats stats;
	struct gp_recorded recorded;	/* what the recording tells of itself */
	struct gp_pool_reserved *pools; /* private ones that had memory */
	size_t pool_count;
	struct gp_device_calls calls;
	struct gp_device_reach reach;
	struct gp_no_room others;
	/* Of a device that is there: what its calls took. */
	struct gp_call_time times[GP_CALL_TIMES];
	size_t time_count;
	struct gp_memory_check memory;
	bool is_interrupted;
	bool is_cut;	     /* it ended there */
	uint64_t cut_events; /* that it played until then */
	struct gp_timeline timeline;
	struct gp_fidelity fidelity; /* checked 0: nothing to compare with */
	struct gp_oom first_oom;
	struct gp_ooms ooms;
	struct gp_moment at_peak; /* first moment of the largest reserved */
	/* Of the moments with as much reserved, the first of those with the
	 * most allocated. */
	struct gp_moment at_fullest;
	struct gp_moment at_end;
	uint64_t requests, allocs;
	uint64_t dropped; /* requests not served, with their frees */
	uint64_t refused; /* of those, refused by a rule */
	char first_refusal[160];
	uint64_t first_refusal_event;
	struct gp_state end;	 /* gp_replay_release */
	struct gp_state peak;	 /* keep_peak: memory at_fullest */
	bool peak_is_from_start; /* the run begins with all it reserves */
	/* keep_alike: the settings whose run is this one, event by event, as
	 * far as it went.  Of a verification, and of engines that do not tell:
	 * the settings it had. */
	struct gp_alike alike;
};

enum gp_status gp_replay(const struct gp_replay_config *config,
			 struct gp_replay_result *result, struct gp_diag *diag);
void gp_replay_release(struct gp_replay_result *result);

/* Whether memory was there for every request, and for what others took. */
bool gp_replay_has_room(const struct gp_replay_result *result);

/* The most that was allocated at any moment of the run.  As at_peak.reserved,
 * and unlike the counters' peaks, whatever the program reset. */
uint64_t gp_replay_peak_allocated(const struct gp_replay_result *result);

/*
 * Which release wrote a trace: of those its keys allow, the newest whose
 * verification matches best.  Traces without addresses: the newest allowed.
 */
struct gp_release_choice {
	uint8_t release;
	char why[256]; /* a sentence */
	uint64_t checked, matched;
};
enum gp_status gp_replay_release_of(const struct gp_trace *trace,
				    const char *conf,
				    struct gp_release_choice *choice,
				    struct gp_diag *diag);

/*
 * Whether a replay in so much memory would tell nothing: a window's start is
 * as it was recorded, whatever is asked, and has more reserved than that.
 * Returns the bytes it has reserved; 0: the replay is good.
 */
uint64_t gp_replay_undecided(const struct gp_trace *trace, uint32_t device,
			     uint64_t capacity);
/* Of all devices; GP_INPUT with a sentence and what would decide it. */
enum gp_status gp_replay_decides(const struct gp_trace *trace,
				 uint64_t capacity, struct gp_diag *diag);

/* Bytes the recording's device had, as far as its trace tells: its total
 * memory, what its first oom shows, or GP_UNLIMITED. */
uint64_t gp_replay_capacity_of(const struct gp_trace *trace, uint32_t device);

/*
 * What requests tell for which the recording's allocator made room, though none
 * failed: the device had room for what was reserved at most, and none for what
 * it then refused.  False: there are none, or collection made room too.
 */
struct gp_refused_room {
	uint64_t least, below; /* bytes: least <= the memory < below */
};
bool gp_replay_refused_room(const struct gp_trace *trace, uint32_t device,
			    const struct gp_settings *settings,
			    struct gp_refused_room *room);

/*
 * gp_replay_capacity_of() for a verification under settings with a memory limit
 * or garbage collection, whose decisions depend on the device's size: where the
 * trace does not tell it, the size under which most addresses come out as
 * recorded.
 */
uint64_t gp_replay_fit_capacity(const struct gp_trace *trace, uint32_t device,
				const struct gp_settings *settings);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
