/* SPDX-License-Identifier: MIT */
/* The gate: the runs that a file in the user's repository lists, the limits
 * that their numbers must keep, and the baseline to which limits such as "+2%"
 * refer. The caller replays; this reads the file and the baseline, and
 * compares. See man/gpupool-check.1. */
#ifndef REPORT_GATE_GATE_H
#define REPORT_GATE_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpupool/allocator.h"
#include "report/number.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

/* ---- limits ---- */

enum gp_limit_kind {
	GP_LIMIT_NONE,	/* null: the number may have any value */
	GP_LIMIT_VALUE, /* amount: the value itself */
	GP_LIMIT_BY,	/* amount: how much worse than the baseline it may be */
	GP_LIMIT_SHARE, /* share of the baseline's value: "+2%" */
};

struct gp_limit {
	size_t number; /* index into struct gp_numbers */
	enum gp_limit_kind kind;
	int64_t amount; /* of the number's unit */
	double share;
	bool is_default; /* not from the user: "nothing may get worse" */
	char text[32];	 /* as written */
};

/* "+2%", "+64MiB", "72GiB", "100%", "0": GP_INPUT and a reason otherwise. */
enum gp_status gp_limit_parse(struct gp_limit *limit,
			      const struct gp_number *number, const char *text,
			      struct gp_diag *diag);

/* The worst value that is within the limit. */
int64_t gp_limit_bound(const struct gp_limit *limit,
		       const struct gp_number *number, int64_t baseline);

/* ---- what is asked for: gpupool.json ---- */

/* The settings as given in the file. They identify a run: with other values it
 * is a different run. */
struct gp_gate_asked {
	const char *settings;	    /* NULL: the recorded ones */
	const char *torch, *engine; /* NULL: not given */
	uint64_t capacity;	    /* bytes; 0: not given */
};

struct gp_gate_run {
	const char *name;
	const char *trace; /* as written */
	const char *path;  /* to open */
	struct gp_gate_asked asked;
	struct gp_limit *limits; /* one for each number, in order */
	size_t limit_count;
};

struct gp_gate {
	const char *path, *baseline_path;
	struct gp_gate_run *runs;
	size_t run_count;
	void *memory; /* owned: all texts and lists above are in it */
};

struct gp_gate_config {
	const char *path;
	const struct gp_numbers *numbers;
	/* The word that was probably meant; NULL: none. */
	const char *(*nearest)(const char *word, const char *const *words,
			       size_t count);
};

enum gp_status gp_gate_read(const struct gp_gate_config *config,
			    struct gp_gate **gate, struct gp_diag *diag);
/* The same for text in memory. */
enum gp_status gp_gate_parse(const struct gp_gate_config *config,
			     const char *text, size_t size,
			     struct gp_gate **gate, struct gp_diag *diag);
void gp_gate_destroy(struct gp_gate *gate);

/* ---- fingerprints: where two runs diverge ---- */

/*
 * Rolling digests at every spacing-th request of a run: of the program's
 * requests, and of the allocator's actions. The last pair is from the end of
 * the run.
 */
#define GP_FINGERPRINT_MARKS 256
struct gp_fingerprint_mark {
	uint32_t program, allocator; /* 24 bits */
};
struct gp_fingerprint {
	uint64_t requests, spacing;
	uint32_t count; /* of marks */
	struct gp_fingerprint_mark marks[GP_FINGERPRINT_MARKS + 1];
	/* Index of the event after each mark; not stored in a baseline. */
	uint64_t events[GP_FINGERPRINT_MARKS + 1];
	uint64_t digest; /* of all requests of the program */
};

/* Computes a fingerprint during a run, and finds where reserved memory first
 * exceeds a bound. */
struct gp_fingerprint_maker {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	bool has_addresses; /* of the simulated device, so they count */
	uint64_t program, allocator, request, event;
	struct gp_fingerprint *fingerprint;
	int64_t reserved, reserved_bound; /* bytes */
	uint64_t reserved_event; /* first beyond the bound; GP_EVENT_NONE */
};
#define GP_EVENT_NONE UINT64_MAX

/* spacing 0: one that suits the trace; else a baseline's. */
void gp_fingerprint_begin(struct gp_fingerprint_maker *maker,
			  const struct gp_trace *trace, size_t device,
			  uint64_t spacing, struct gp_fingerprint *fingerprint);
/* struct gp_replay_config's action. */
void gp_fingerprint_action(void *maker, const struct gp_action *action,
			   uint64_t event);
void gp_fingerprint_end(struct gp_fingerprint_maker *maker);

struct gp_gate_divergence {
	bool is_there;
	bool is_program;      /* the program diverged, not just the allocator */
	uint64_t first, last; /* events of the new run around that place */
};
struct gp_gate_divergence gp_fingerprint_compare(
	const struct gp_fingerprint *baseline,
	const struct gp_fingerprint *now);

/* ---- the baseline: gpupool.baseline.json ---- */

struct gp_record_device {
	uint32_t device;	     /* CUDA's ordinal */
	struct gp_reading *readings; /* one for each name */
	struct gp_fingerprint fingerprint;
};

/* The numbers of a run when the baseline was written. */
struct gp_record {
	const char *name;
	const char *trace;
	struct gp_gate_asked asked;
	const char *conf; /* settings of the run */
	const char *torch;
	struct gp_record_device *devices;
	size_t device_count;
};

struct gp_baseline {
	struct gp_record *records; /* by name */
	size_t record_count;
	void *memory; /* owned: everything above is in it */
};

/* may_be_missing: without a file, the baseline is empty. */
enum gp_status gp_baseline_read(const char *path,
				const struct gp_numbers *numbers,
				bool may_be_missing,
				struct gp_baseline **baseline,
				struct gp_diag *diag);
enum gp_status gp_baseline_parse(const char *text, size_t size,
				 const struct gp_numbers *numbers,
				 struct gp_baseline **baseline,
				 struct gp_diag *diag);
/* Sorted by name, one number a line, for diffs. */
void gp_baseline_write(const struct gp_record *const *records, size_t count,
		       const struct gp_numbers *numbers, FILE *out);
void gp_baseline_destroy(struct gp_baseline *baseline);

/* NULL: there is no record of that name. */
const struct gp_record *gp_baseline_find(const struct gp_baseline *baseline,
					 const char *name);

/* The record's device with that ordinal; NULL: there is none, or record is
 * NULL. */
const struct gp_record_device *gp_record_find(const struct gp_record *record,
					      uint32_t ordinal);

/* GP_INPUT unless the record was made with the settings that are asked for
 * now. */
enum gp_status gp_record_check(const struct gp_record *record,
			       const struct gp_gate_run *run,
			       struct gp_diag *diag);

/* ---- the verdict ---- */

/* The lowest bound of the run's limits on the peak of reserved memory;
 * INT64_MAX: it has no such limit. */
int64_t gp_gate_reserved_bound(const struct gp_gate_run *run,
			       const struct gp_numbers *numbers,
			       const struct gp_reading *baseline);

#define GP_SOURCE_TEXT 512
struct gp_gate_verdict {
	const struct gp_limit *limit;
	struct gp_reading baseline, now;
	int64_t bound;
	bool is_worse;	 /* than the limit allows */
	bool is_better;	 /* than the baseline */
	uint64_t event;	 /* where it first shows; GP_EVENT_NONE: not known */
	char about[160]; /* that event: "alloc of 3.00 MiB" */
	char where[GP_EVENT_TEXT]; /* "step 20, 3.1 s, serve.py:90 (event
				    * 143)" */
	/* The program's own source file there; "": not known. It is the
	 * recorded path, until the caller finds the file in the working
	 * tree. */
	char source[GP_SOURCE_TEXT];
	uint64_t line;
	bool is_here; /* source is a file of the working tree */
};

/* Counters that are read after each event of a second run, which repeats the
 * first, to find since when each has been beyond its bound. */
enum gp_watched {
	GP_WATCH_ALLOCATED, /* the counter's peak, which can be reset */
	GP_WATCH_PEAK_ALLOCATED,
	GP_WATCH_RETRIES,
	GP_WATCH_OOMS,
	GP_WATCHES
};
struct gp_gate_watch {
	bool is_worse[GP_WATCHES]; /* this counter is searched for */
	int64_t bound[GP_WATCHES];
	uint64_t event[GP_WATCHES]; /* GP_EVENT_NONE: not found */
	/* For counters of the whole run: the sum before the last reset, and the
	 * last value. */
	int64_t before[GP_WATCHES], last[GP_WATCHES];
};

/* Chooses the counters to watch from the verdicts that are worse; false: none
 * needs another run. */
bool gp_gate_watch_begin(struct gp_gate_watch *watch,
			 const struct gp_numbers *numbers,
			 const struct gp_gate_verdict *verdicts, size_t count);
/* struct gp_replay_config's look. */
void gp_gate_watch_look(void *watch, struct gp_allocator *allocator,
			uint64_t event);

/* Finds where a number that is worse first shows, as far as the runs tell. */
void gp_verdict_locate(struct gp_gate_verdict *verdict,
		       const struct gp_numbers *numbers,
		       const struct gp_replay_result *result,
		       const struct gp_fingerprint_maker *maker,
		       const struct gp_gate_watch *watch);

/* Judges one device; verdicts has room for run->limit_count. GP_INPUT if a
 * limit that was asked for has nothing to be compared with. */
enum gp_status gp_gate_judge(const struct gp_gate_run *run,
			     const struct gp_numbers *numbers,
			     const struct gp_reading *baseline,
			     const struct gp_reading *now,
			     struct gp_gate_verdict *verdicts, size_t *count,
			     struct gp_diag *diag);

#endif
