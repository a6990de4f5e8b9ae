/* SPDX-License-Identifier: MIT */
/*
 * A study: which setting serves a trace on a device of a given size, and how
 * sure that is.  Everything that is advised anywhere (a setting, a verdict, a
 * need, a cause) comes from here, so that no two commands answer one question
 * in two ways.
 *
 * The settings that people use are one table; each is replayed on each device
 * of the trace.  Where none of them serves it, all values of the numeric
 * settings are searched: a run proves its result for every value under which
 * its decisions would have been the same (struct gp_alike), so that the search
 * ends, and "no setting helps" is a fact.
 *
 * Best is, in this order: what serves every request; the least need, where less
 * than 1 % or less than 64 MiB is no difference; the fewest retries; the least
 * unusual setting; and the time of device calls, by measured prices only.  A
 * change is advised if it serves what was not served, or lowers the need by 1 %
 * and 64 MiB at least.
 */
#ifndef GPUPOOL_STUDY_H
#define GPUPOOL_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "gpupool/price.h"
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
	const char *about;   /* what it does, and where it must not be used */
	const char *warning; /* programs suffer from it; NULL: none */
};

/* The least unusual first. */
const struct gp_candidate_conf *gp_candidate_table(size_t *count);

/* The settings of base that no candidate is about, then those of conf; the
 * caller frees. */
char *gp_candidate_apply(const char *base, const char *conf);
/* base without a limit that it sets (a memory fraction, requests refused before
 * the cache is given back), in *conf, which the caller frees.  *next: 0 at
 * first; NULL: there are no more. */
const struct gp_candidate_conf *gp_candidate_lifted(const char *base,
						    size_t *next, char **conf);

/* ---- what is studied ---- */

/* A device of a trace, and the memory that it is to have. */
struct gp_case {
	const struct gp_trace *trace;
	uint32_t device;   /* index into trace->devices */
	uint64_t capacity; /* bytes; GP_UNLIMITED: not known */
};

struct gp_study_config {
	/* One setting is to serve them all, but for those that none serves. */
	const struct gp_case *cases;
	size_t case_count;
	/* As it is: what a change is compared with.  NULL: the recorded one of
	 * the first trace. */
	const char *conf;
	uint8_t release;
	const struct gp_engine *engine; /* NULL: the default */
	const struct gp_prices *prices; /* NULL: the built-in ones */
	const char *const *without;	/* settings that cannot be used */
	size_t without_count;
	uint32_t budget; /* replays at most that search; 0: by default */
	size_t threads;	 /* that make replays, which change nothing; 0: one */
	void (*progress)(void *arg, const char *what);
	void *progress_arg;
};

/* ---- one setting, tried ---- */

/* On one case. */
struct gp_trial_case {
	bool is_served; /* every request, and what others take */
	bool has_room;	/* memory was there for them: gp_replay_has_room */
	uint64_t ooms, retries;
	uint64_t reserved;	 /* the peak */
	uint64_t mallocs, pages; /* calls of cudaMalloc; pages mapped */
	double time_us;		 /* of all device calls, by the prices */
	struct gp_oom first_oom;
	/* The smallest capacity from which on every one serves all.  0: not
	 * measured, as it is above need_above; GP_UNLIMITED: no device is large
	 * enough. */
	uint64_t need, need_above;
	/* Of a window what it would reserve at its peak and at most
	 * (gpupool/estimate.h); 0: not asked, or as in the replay. */
	uint64_t estimated, high;
	bool is_estimated; /* it was asked */
};

struct gp_trial {
	char *conf; /* owned: all of it, to be pasted */
	const struct gp_candidate_conf
		*candidate; /* NULL: as it is, or found */
	bool is_excluded;   /* names a setting that cannot be used */
	char refusal[160];  /* why that release does not take it; "": it does */
	struct gp_trial_case *cases; /* owned; those undecided are zero */
	/* Of all cases that are not undecided. */
	bool is_served;
	uint64_t ooms, retries;
	uint64_t reserved; /* the peak, of the case with most */
	uint64_t mallocs, pages;
	double time_us;
	uint64_t need; /* of the case that needs most; 0: not measured of all */
};

/* ---- the verdict ---- */

enum gp_verdict_kind {
	GP_VERDICT_FITS,
	GP_VERDICT_SETTING,
	GP_VERDICT_TOO_SMALL,  /* what is live alone is more */
	GP_VERDICT_NO_SETTING, /* nothing searched serves it */
	GP_VERDICT_UNDECIDED,
};

/* What keeps it from being served as it is. */
enum gp_verdict_cause {
	GP_BY_NONE, /* it is served, or not known */
	GP_BY_CAPACITY,
	GP_BY_FRAGMENTATION,
	GP_BY_LIMIT,	/* the memory fraction, which what is live exceeds */
	GP_BY_SETTINGS, /* they refuse what the device has memory for */
	GP_BY_CHOICE,	/* it is served, by what must not be used */
	GP_BY_OTHERS,	/* what is reserved leaves them no room */
	GP_VERDICT_CAUSES,
};

enum gp_begins { GP_BEGINS_WHOLE, GP_BEGINS_WINDOW };
enum gp_ends { GP_ENDS_UNKNOWN, GP_ENDS_END, GP_ENDS_FAILURE };

/* The names in reports. */
extern const char *const gp_verdict_kinds[];
extern const char *const gp_verdict_causes[]; /* the first is "" */
extern const char *const gp_begins_names[];
extern const char *const gp_ends_names[];

/* Of one case. */
struct gp_verdict {
	enum gp_verdict_kind kind;
	enum gp_verdict_cause cause;
	char *conf; /* owned: what to use; NULL: nothing is advised */
	/* Owned: of a window that fails as it is and whose replays under other
	 * settings prove nothing, what is estimated to need least; or NULL. */
	char *likely;
	size_t trial; /* the study's that is advised, or lacks least */
	uint8_t release;
	uint64_t capacity; /* GP_UNLIMITED: not known */
	uint64_t live;	   /* most at once, each block in whole 512 B */
	uint64_t others;   /* what gp_study_live_beside has more */
	uint64_t start;	   /* reserved when the trace begins */
	/* Of what is advised, else of the best, and as it is; 0: not known. */
	uint64_t need, need_as_recorded;
	/* With the best; 0: one fits; GP_UNLIMITED: no device is large
	 * enough. */
	uint64_t missing;
	uint64_t spare; /* with what is to be used; 0: none, or not known */
	/* Settings that were decided on, and whether nothing is left that could
	 * make the verdict another kind. */
	uint32_t searched;
	bool is_complete;
	enum gp_begins begins;
	enum gp_ends ends;
	bool is_failure; /* undecided, but that it fails as it is */
	/* Of need, where it is an estimate, as a window does not tell what else
	 * would have been cached before it: what is live, and what may be
	 * reserved at most; else 0. */
	uint64_t low, high;
};

/* Nothing is known of it, not even how it goes as it is. */
static inline bool gp_verdict_is_open(const struct gp_verdict *verdict)
{
	return verdict->kind == GP_VERDICT_UNDECIDED && !verdict->is_failure;
}

struct gp_study {
	struct gp_trial *trials; /* the first is as it is */
	size_t count;
	size_t best;	 /* what is advised, or lacks least; 0: as it is */
	bool is_change;	 /* best is advised in place of what is */
	bool is_divided; /* each case is served, but no setting serves all */
	size_t unconstrained;	     /* best, were all settings allowed */
	struct gp_verdict *verdicts; /* by case */
	size_t case_count;
	uint32_t replays;
	/* Owned, by case: what was played, for whoever asks on
	 * (study/runs.h). */
	struct runs **runs;
};

enum gp_status gp_study(const struct gp_study_config *config,
			struct gp_study *study, struct gp_diag *diag);
/* Also of a zeroed one. */
void gp_study_release(struct gp_study *study);

/* The one that decides: failing before undecided before others, then the one
 * that needs most.  Where nothing is requested there is least to decide. */
size_t gp_verdict_worst(const struct gp_verdict *verdicts, size_t count);

/* The most that a program holds at once, each block rounded up.  To 512 bytes
 * (GP_MIN_BLOCK_SIZE): no allocator that leaves blocks where they are can do
 * with less. */
uint64_t gp_study_live(const struct gp_trace *trace, uint32_t device,
		       uint64_t round);

/* The most that it and others have of the device at once: none that has less
 * serves both.  *most: gp_study_live of blocks rounded to 512. */
uint64_t gp_study_live_beside(const struct gp_trace *trace, uint32_t device,
			      uint64_t *most);

/* The most that others have of the device at any moment, in bytes. */
uint64_t gp_study_others(const struct gp_trace *trace, uint32_t device);

/* The event behind which that is first so; 0: or when the trace begins. */
uint64_t gp_study_fullest(const struct gp_trace *trace, uint32_t device);

/* gp_study_live with each block as large as these settings round it. */
uint64_t gp_study_live_rounded(const struct gp_trace *trace, uint32_t device,
			       const struct gp_settings *settings);

enum gp_ends gp_study_ends(const struct gp_trace *trace, uint32_t device);

/* A difference of need that counts for something. */
bool gp_study_is_less(uint64_t need, uint64_t than);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
