/* SPDX-License-Identifier: MIT */
/* What gpupool diff compares: one side of it, replayed or read. */
#ifndef COMMANDS_DIFF_H
#define COMMANDS_DIFF_H

#include "commands/options.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "report/change_report.h"
#include "trace/ranks.h"

/* A trace, and a run of it. */
struct gp_diff_side {
	const char *path;
	const struct gp_trace *trace; /* borrowed */
	struct gp_plan plan;
	struct gp_makeup *makeups; /* by device */
	uint64_t *moments;	   /* by device; GP_AT_FULLEST: its own */
};

/* options NULL: as recorded.  The moments are set. */
enum gp_status gp_diff_side_make(struct gp_diff_side *side,
				 const struct gp_options *options,
				 struct gp_progress *progress,
				 struct gp_diag *diag);
void gp_diff_side_release(struct gp_diff_side *side);

/* Classes of ranks that are compared: so many pairs of files. */
struct gp_diff_pair {
	const struct gp_rank_class *a, *b; /* borrowed */
	const char *a_path, *b_path;	   /* of the first pair */
	size_t files;
};

struct gp_diff_pairs {
	struct gp_diff_pair *items; /* owned */
	size_t count, room;
	/* Files without a counterpart, and one of them; NULL: none. */
	size_t only_a, only_b;
	const char *a_name, *b_name;
};

/* By the names of their files; where no name is the same and there are as many,
 * in the order of the names; a single file is compared with all.  b NULL: each
 * with itself.  GP_INPUT where no two belong together. */
enum gp_status gp_diff_pair_ranks(const struct gp_ranks *a,
				  const struct gp_ranks *b,
				  struct gp_diff_pairs *pairs,
				  struct gp_diag *diag);

/* Reports, paired by what their runs were made under; *changes borrows from
 * both. */
size_t gp_diff_pair_reports(const char *a_path, const struct gp_report_run *a,
			    size_t a_count, const char *b_path,
			    const struct gp_report_run *b, size_t b_count,
			    struct gp_change *changes);

/* How much more B may reserve: "2%" or "100MiB". */
struct gp_diff_limit {
	bool is_there, is_ratio;
	uint64_t bytes;
	double ratio;
};
enum gp_status gp_diff_limit_parse(const char *text,
				   struct gp_diff_limit *limit,
				   struct gp_diag *diag);
/* GP_FAILED when some device reserves more than that. */
enum gp_status gp_diff_limit_hold(const struct gp_diff_limit *limit,
				  const struct gp_change *changes, size_t count,
				  struct gp_diag *diag);

#endif
