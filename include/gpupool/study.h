/* SPDX-License-Identifier: MIT */
/*
 * A study: which setting serves a trace on a device of a given size, and how
 * certain that is. All advice (a setting, a verdict, a need, a cause) comes
 * from here, so that no two commands answer a question differently.
 *
 * The settings that people use are in one table, and each of them is replayed
 * on each device of the trace. If none serves it, all values of the numeric
 * settings are searched: a run proves its result for every value under which
 * its decisions would be the same (struct gp_alike). So the search terminates,
 * and "no setting helps" is proven.
 *
 * Candidates are ranked by these criteria, in this order: whether every request
 * is served; the smallest need, ignoring differences below 1 % or 64 MiB; the
 * fewest retries; the fewest settings; the time of device calls, if prices are
 * given; the least unusual setting. A change is advised if it serves what was
 * not served, or lowers the need by at least 1 % and 64 MiB.
 */
#ifndef GPUPOOL_STUDY_H
#define GPUPOOL_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/device.h"
#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* ---- the settings that people use ---- */

struct gp_candidate_conf {
	const char *conf;
	const char *about;   /* what it does, and when not to use it */
	const char *warning; /* its drawback for programs; NULL: none */
};

/* In order, the least unusual one first. */
const struct gp_candidate_conf *gp_candidate_table(size_t *count);

/* Returns the settings of base, without those that any candidate sets, followed
 * by those of conf. The caller frees it. */
char *gp_candidate_apply(const char *base, const char *conf);
/* Iterates over the limits in base that can be lifted (a memory fraction,
 * requests rejected before the cache is released): sets *conf, which the caller
 * frees, to base without that limit. Start with *next = 0; returns NULL at the
 * end. */
const struct gp_candidate_conf *gp_candidate_lifted(const char *base,
						    size_t *next, char **conf);

/* ---- what is studied ---- */

/* A device of a trace, and the memory that it should have. */
struct gp_case {
	const struct gp_trace *trace;
	uint32_t device;   /* index into trace->devices */
	uint64_t capacity; /* bytes; GP_UNLIMITED: unknown */
	/* If the program had a memory limit that the trace does not hold: an
	 * upper bound for it, exclusive; capacity is then the lower bound. 0:
	 * there was none. */
	uint64_t below;
};

struct gp_study_config {
	/* One setting is sought that serves all cases, except those that no
	 * setting serves. */
	const struct gp_case *cases;
	size_t case_count;
	/* The present settings, with which changes are compared. NULL: the
	 * recorded settings of the first trace. */
	const char *conf;
	uint8_t release; /* PyTorch 2.x; there is no default: 0 is 2.0 */
	const struct gp_engine *engine; /* NULL: the default */
	const struct gp_prices *prices; /* NULL: the built-in ones */
	const char *const *without;	/* names: they keep their default */
	size_t without_count;
	uint32_t budget; /* most replays of the search; 0: the default */
	/* Number of threads; 0: one. Does not affect results. */
	size_t threads;
	void (*progress)(void *arg, const char *what);
	void *progress_arg;
};

/* ---- a trial: one setting ---- */

/* The result for one case. */
struct gp_trial_case {
	bool is_served; /* every request, and the memory of others */
	bool has_room;	/* there was memory for them: gp_replay_has_room */
	uint64_t ooms, retries;
	uint64_t reserved;	 /* peak */
	uint64_t mallocs, pages; /* cudaMalloc calls; pages mapped */
	double time_us;		 /* of all device calls, by config.prices */
	struct gp_oom first_oom;
	/* The smallest capacity such that it and every larger one serve all
	 * requests. 0: not measured, but above need_above; GP_UNLIMITED: no
	 * capacity is sufficient. */
	uint64_t need, need_above;
	/* For a window: the size of the device that has room for the estimated
	 * peak of reserved memory and for others, under the memory fraction;
	 * and bounds on that size (study/estimate.h). 0: not estimated, or the
	 * same as in the replay. */
	uint64_t estimated, low, high;
	bool is_estimated; /* estimated, low and high were computed */
};

struct gp_trial {
	char *conf; /* owned: the complete setting */
	/* NULL: the present setting, or one found by the search. */
	const struct gp_candidate_conf *candidate;
	bool is_excluded; /* contains one of config.without */
	/* Why that release does not accept it; "": it does. */
	char refusal[160];
	struct gp_trial_case *cases; /* owned; zeroed where undecided */
	/* Over all cases that are not undecided. */
	bool is_served;
	bool has_room; /* for others, in all of them */
	uint64_t ooms, retries;
	uint64_t reserved; /* peak of the case with the highest */
	uint64_t mallocs, pages;
	double time_us;
	uint64_t need; /* of the case that needs most; 0: not known for all */
};

/* ---- the verdict ---- */

enum gp_verdict_kind {
	GP_VERDICT_FITS,
	GP_VERDICT_SETTING,
	GP_VERDICT_TOO_SMALL,  /* live memory alone exceeds the capacity */
	GP_VERDICT_NO_SETTING, /* no setting that was searched serves it */
	GP_VERDICT_UNDECIDED,
};

/* Why the trace is not served with the present setting. */
enum gp_verdict_cause {
	GP_BY_NONE, /* it is served, or unknown */
	GP_BY_CAPACITY,
	GP_BY_FRAGMENTATION,
	GP_BY_LIMIT, /* live memory exceeds the memory fraction */
	/* The settings reject requests that the device has memory for. */
	GP_BY_SETTINGS,
	GP_BY_CHOICE, /* it is served, but only by an excluded setting */
	GP_BY_OTHERS, /* reserved memory leaves no room for others */
	GP_VERDICT_CAUSES,
};

enum gp_begins { GP_BEGINS_WHOLE, GP_BEGINS_WINDOW };
enum gp_ends { GP_ENDS_UNKNOWN, GP_ENDS_END, GP_ENDS_FAILURE };

/* Their names in reports. */
extern const char *const gp_verdict_kinds[];
extern const char *const gp_verdict_causes[]; /* the first is "" */
extern const char *const gp_begins_names[];
extern const char *const gp_ends_names[];

/* The verdict on one case. */
struct gp_verdict {
	enum gp_verdict_kind kind;
	enum gp_verdict_cause cause;
	char *conf; /* owned: the setting to use; NULL: none is advised */
	/* Owned; may be NULL. For a window that fails with the present setting
	 * and for which other replays prove nothing: the setting with the
	 * smallest estimated need. */
	char *likely;
	/* Index into the study's trials: the one that is advised, or else the
	 * one with the smallest need or estimated need. */
	size_t trial;
	uint8_t release;
	uint64_t capacity;	 /* GP_UNLIMITED: unknown */
	uint64_t capacity_below; /* gp_case.below */
	/* Peak of live memory, each block rounded up to 512 B. */
	uint64_t live;
	uint64_t others; /* gp_study_live_beside() less live */
	uint64_t start;	 /* reserved at the beginning of the trace */
	/* Bytes reserved in the recording, if the requests in the trace account
	 * for clearly less: settings cannot be compared on part of a program.
	 * 0: they account for all, or it is unknown. */
	uint64_t recorded;
	/* The need of the advised setting, or else of the best one; and of the
	 * present one. 0: unknown. */
	uint64_t need, need_as_recorded;
	/* The present setting fits, and may need less than was measured: the
	 * window begins with that much reserved, and on a smaller device less
	 * would have been cached. */
	bool is_at_most;
	/* Bytes missing with the best setting. 0: a setting fits; GP_UNLIMITED:
	 * no device is large enough. */
	uint64_t missing;
	/* Bytes left over with the advised setting; 0: none or unknown. */
	uint64_t spare;
	/* The number of settings decided, and whether no undecided one could
	 * change the kind of verdict. */
	uint32_t searched;
	bool is_complete;
	enum gp_begins begins;
	enum gp_ends ends;
	bool was_refused; /* gp_study_refused() */
	bool is_failure;  /* undecided, except that the present setting fails */
	/* The trace begins with more reserved than the capacity, or requests
	 * nothing: no run was made. Live memory alone may still prove that the
	 * device is too small; the need is then unknown, and missing is a lower
	 * bound. */
	bool is_unplayable;
	bool was_limited; /* gp_replay_was_limited() */
	/* GP_VERDICT_NO_SETTING, but an excluded one serves it. */
	bool is_constrained;
	/* A request failed when it was recorded, and none in its replay with
	 * the same settings and memory. */
	bool is_unexplained;
	enum gp_platform platform; /* where the trace was recorded */
	/* Bounds on need if it is not exact, because a window does not show
	 * what else would have been cached before it: live memory, and the most
	 * that may be reserved. Else 0. */
	uint64_t low, high;
};

/* Whether nothing is known about the case, not even whether the present setting
 * works. */
static inline bool gp_verdict_is_unknown(const struct gp_verdict *verdict)
{
	return verdict->kind == GP_VERDICT_UNDECIDED && !verdict->is_failure;
}

/* Whether no run shows anything about the case; live memory may still decide
 * it. */
static inline bool gp_verdict_is_open(const struct gp_verdict *verdict)
{
	return gp_verdict_is_unknown(verdict) || verdict->is_unplayable;
}

struct gp_study {
	struct gp_trial *trials; /* the first is the present setting */
	size_t count;
	/* Index of the trial that is advised, or else of the one with the
	 * smallest need; 0: the present setting. */
	size_t best;
	bool is_change; /* best is advised in place of the present setting */
	/* Each case has a setting that serves it, but none serves all. */
	bool is_divided;
	size_t unconstrained;	     /* best without config.without */
	struct gp_verdict *verdicts; /* by case */
	size_t case_count;
	uint32_t replays;
	/* Owned, by case: the runs made, for further questions
	 * (study/runs.h). */
	struct runs **runs;
};

/* Makes the replays and the verdicts. The caller releases *study, which the
 * traces and the engine must outlive; on failure there is nothing to release.
 * Thread-safe. */
enum gp_status gp_study(const struct gp_study_config *config,
			struct gp_study *study, struct gp_diag *diag);
/* Accepts a zeroed study. */
void gp_study_release(struct gp_study *study);

/* The index of the decisive verdict: a failing one, else an undecided one, else
 * any; of several, the one that needs most. Cases without requests come last;
 * of these, the one with most reserved. */
size_t gp_verdict_worst(const struct gp_verdict *verdicts, size_t count);

/* The peak of a program's live memory in bytes, with each block rounded up to a
 * multiple of `round`, which is not 0. With 512 bytes (GP_MIN_BLOCK_SIZE) it is
 * a lower bound for every allocator that does not move blocks. */
uint64_t gp_study_live(const struct gp_trace *trace, uint32_t device,
		       uint64_t round);

/* The peak of the live memory together with the memory of others: no smaller
 * device serves both. *most is set to gp_study_live() for multiples of 512. */
uint64_t gp_study_live_beside(const struct gp_trace *trace, uint32_t device,
			      uint64_t *most);

/* The first event after which that peak is reached; GP_AT_START: none exceeds
 * what is live before all events. */
uint64_t gp_study_fullest(const struct gp_trace *trace, uint32_t device);

/* The same for gp_study_live(): the memory of others does not count. */
uint64_t gp_study_most_live(const struct gp_trace *trace, uint32_t device);

/* The peak of live memory right after requests, as long as the memory fraction
 * in force at an event applies. */
uint64_t gp_study_live_under(const struct gp_trace *trace, uint32_t device,
			     uint64_t event);

/* gp_study_live() with each block rounded as these settings do. */
uint64_t gp_study_live_rounded(const struct gp_trace *trace, uint32_t device,
			       const struct gp_settings *settings);

/* How a device's trace ends, as far as the recording shows. */
enum gp_ends gp_study_ends(const struct gp_trace *trace, uint32_t device);

/* Whether a request failed when the trace was recorded; *device and *event are
 * set to the first one of the first device that has any. What the program would
 * have done with that memory is not in the trace. */
bool gp_study_refused(const struct gp_trace *trace, uint32_t *device,
		      uint64_t *event);
/* The same of one device. */
bool gp_study_refused_on(const struct gp_trace *trace, uint32_t device);

/* Whether need is less than `than` by a significant amount. */
bool gp_study_is_less(uint64_t need, uint64_t than);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
