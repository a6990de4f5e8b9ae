/* SPDX-License-Identifier: MIT */
/* The content of a sweep's report, as it is written to a file and read back. A
 * report in JSON is a head (what was asked for), a line for each run, and a
 * ranking. All other forms are made from the content of such a file, so that
 * merged parts give the same bytes as a sweep that was not split. */
#ifndef REPORT_SWEEP_REPORT_H
#define REPORT_SWEEP_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "report/report.h"
#include "gpupool/status.h"
#include "study/sweep/grid.h"
#include "study/sweep/rank.h"

/* A combination, as stored in the head. */
struct gp_sweep_report_entry {
	const char *conf, *torch, *engine;
	const char *reason; /* why it was not run; NULL: it can be */
	bool is_undecided;  /* reason says why the traces do not decide */
	bool is_excluded;   /* reason is the option that says so */
	uint64_t capacity;  /* GP_UNLIMITED; 0: each trace's own */
	unsigned searched;  /* bits of settings; box: the values that it stands
			       for */
	struct gp_box box;
};

/* A trace, and its replay as recorded. */
struct gp_sweep_report_trace {
	const char *path, *conf, *torch;
	const char *values, *not_told; /* as in a trace; NULL: none */
	uint64_t capacity;	       /* that of its first device */
	/* Of the devices whose memory is known, if their capacities differ;
	 * else 0. */
	uint64_t least_capacity, most_capacity;
	uint64_t checked, matched;
	struct gp_sweep_row row;
};

struct gp_sweep_report_run {
	char *body; /* the run's JSON without its end; NULL: not kept */
	struct gp_sweep_row row;
	bool is_done;
};

struct gp_sweep_report {
	char *head; /* of the JSON, up to the runs */
	size_t entry_count, trace_count;
	size_t files, unread; /* of ranks; a trace stands for those alike */
	/* Ranks without requests, which are judged but not swept. */
	size_t idle;
	const char *idle_path; /* of the first; NULL: there is none */
	struct gp_sweep_report_entry *entries;
	struct gp_sweep_report_trace *traces;
	/* Of each device of each trace, in their order. */
	struct gp_verdict *verdicts;
	const char **verdict_paths; /* the path of each verdict's trace */
	size_t verdict_count;
	size_t swept_count; /* verdicts of traces; idle ranks' follow */
	const char *prices; /* name of the list */
	/* Runs that cannot be best by reserved bytes were cut short. */
	bool is_cut;
	struct gp_classes classes;
	/* By combination, then trace. */
	struct gp_sweep_report_run *runs;
	struct gp_arena memory; /* owns the texts above */
};

/* ---- writing ---- */

/* Writes the head. */
struct gp_sweep_report_setup {
	const struct gp_grid *grid;
	const struct gp_prices *prices;
	/* For each class of ranks, a report with one run: the replay as
	 * recorded. The first trace_count of them are swept. */
	const struct gp_report *recorded;
	size_t trace_count;
	const struct gp_ranks *ranks; /* the traces are its classes; NULL: each
				       * trace stands for itself */
	/* A study of all of them for one setting, and its cases. */
	const struct gp_study *study;
	const struct gp_case *cases;
	bool is_cut;
	struct gp_classes classes;
};
void gp_sweep_report_write_head(const struct gp_sweep_report_setup *setup,
				FILE *out);

/* Takes ownership of head. */
enum gp_status gp_sweep_report_begin(struct gp_sweep_report *sweep, char *head,
				     struct gp_diag *diag);
void gp_sweep_report_release(struct gp_sweep_report *sweep);

/* The body of the report's first run; the caller frees it. */
char *gp_sweep_report_body(const struct gp_report *report);
/* The same for a run that failed: only its settings. */
char *gp_sweep_report_failed_body(const struct gp_run *run);

/* ---- reading ---- */

/* GP_INPUT: the file is not a report of a sweep. */
enum gp_status gp_sweep_report_read(struct gp_sweep_report *sweep,
				    const char *path, struct gp_diag *diag);

/* Moves the runs of `other` that are missing. MERGE takes all, and replaces
 * failed ones; RESUME takes only those that did not fail, because the others
 * are to be tried again. GP_INPUT: they are from another sweep. */
enum gp_sweep_join { GP_SWEEP_MERGE, GP_SWEEP_RESUME };
enum gp_status gp_sweep_report_join(struct gp_sweep_report *sweep,
				    struct gp_sweep_report *other,
				    enum gp_sweep_join purpose,
				    struct gp_diag *diag);

/* The number of runs that are asked for, and of those done. */
size_t gp_sweep_report_asked(const struct gp_sweep_report *sweep);
size_t gp_sweep_report_done(const struct gp_sweep_report *sweep);

/* ---- reports ---- */

struct gp_sweep_report_style {
	enum gp_rank_by by;
	bool is_part; /* a part of a split sweep: not ranked */
	struct gp_report_style style;
};

void gp_sweep_report_json(const struct gp_sweep_report *sweep,
			  const struct gp_sweep_report_style *style, FILE *out);
void gp_sweep_report_text(const struct gp_sweep_report *sweep,
			  const struct gp_sweep_report_style *style, FILE *out);
/* The text above the table. */
void gp_sweep_report_answer(const struct gp_sweep_report *sweep,
			    const struct gp_sweep_report_style *style,
			    FILE *out);
/* A self-contained page. */
void gp_sweep_report_html(const struct gp_sweep_report *sweep,
			  const struct gp_sweep_report_style *style, FILE *out);
void gp_sweep_report_csv(const struct gp_sweep_report *sweep,
			 const struct gp_sweep_report_style *style, FILE *out);
void gp_sweep_report_markdown(const struct gp_sweep_report *sweep,
			      const struct gp_sweep_report_style *style,
			      FILE *out);

#endif
