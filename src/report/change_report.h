/* SPDX-License-Identifier: MIT */
/* What changed between two runs, and runs that are read back from reports. */
#ifndef REPORT_CHANGE_REPORT_H
#define REPORT_CHANGE_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "gpupool/replay.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"
#include "study/metrics/change.h"
#include "report/report.h"

/* ---- the report ---- */

struct gp_change_side {
	const char *path, *conf, *engine;
	const char *name;     /* of the file, in the text */
	const char *of_trace; /* of several in a report; NULL: the only one */
	const char *what_if;  /* as a command line has it; NULL: none */
	uint8_t release;
	enum gp_replay_mode mode;
	uint64_t capacity; /* GP_UNLIMITED: none, or it is not known */
	const struct gp_trace *trace; /* NULL: known from a report */
	/* From the recording, if this run has no limit; below 0: not known. */
	struct gp_refused_room recorded;
	/* If the breakdown is that of a replay which begins with the window's
	 * memory; NULL: the breakdown is exact. */
	const struct gp_estimate *estimate;
	struct gp_breakdown breakdown;
};

/* One device of both sides. */
struct gp_change {
	uint32_t device; /* CUDA's ordinal */
	struct gp_change_side a, b;
	/* Both make the same requests, and are compared at the same moment. */
	bool is_same;
	const struct gp_share_pair *sites, *sizes;
	size_t site_count, size_count;
	const struct gp_divergence *divergence; /* NULL: both are runs of one
						 * trace, or reports */
	size_t files; /* for ranks: pairs of files like this one; else 0 */
};

/* Ranks of two jobs, pair by pair. */
struct gp_change_ranks {
	const struct gp_ranks *a, *b; /* b NULL: the same as a */
	size_t first, count; /* the changes of the pair that grows most */
	bool tells_idle;     /* the report says which are not compared */
	/* Files without a counterpart, and one of them; NULL: none. */
	size_t only_a, only_b;
	const char *a_name, *b_name;
	/* Files of A that could not be read and have a counterpart in B, and
	 * one of them; and the other way round. */
	size_t lost_a, lost_b;
	const struct gp_rank_unread *a_lost, *b_lost;
};

/* ranks NULL: there are two files, or one. */
void gp_change_text(const struct gp_change *changes, size_t count,
		    const struct gp_change_ranks *ranks,
		    const struct gp_report_style *style, FILE *out);
void gp_change_json(const struct gp_change *changes, size_t count,
		    const struct gp_change_ranks *ranks, FILE *out);

/* ---- from a report ---- */

/* One device of one run. */
struct gp_report_run {
	char *conf, *engine; /* owned */
	char *what_if;	     /* owned; NULL: none */
	/* Owned. If the report has several traces: the trace's path below their
	 * common folder, and the run's title. NULL: the only trace. */
	char *of_trace, *name;
	uint8_t release;
	enum gp_replay_mode mode;
	uint32_t device; /* CUDA's ordinal */
	uint64_t capacity;
	struct gp_estimate estimate;
	char *how; /* owned: that of the estimate */
	struct gp_breakdown breakdown;
};

/* Whether the file begins as a gpupool-report does. */
enum gp_status gp_report_is_one(const char *path, bool *is_one,
				struct gp_diag *diag);

/* The caller releases the runs. */
enum gp_status gp_report_read(const char *path, struct gp_report_run **runs,
			      size_t *count, struct gp_diag *diag);
void gp_report_runs_release(struct gp_report_run *runs, size_t count);

/* The number of runs of that device. */
size_t gp_report_runs_of(const struct gp_report_run *runs, size_t count,
			 uint32_t device);

/* The number of runs without a counterpart, on devices that the other report
 * has, too. */
size_t gp_report_runs_alone(const struct gp_report_run *runs, size_t count,
			    const struct gp_report_run *others,
			    size_t other_count);

/* Pairs the runs of two reports by device, trace and settings, or by device if
 * each report has one run of it; returns the number of pairs. *changes has room
 * for a_count, and borrows from both. */
size_t gp_report_pair(const char *a_path, const struct gp_report_run *a,
		      size_t a_count, const char *b_path,
		      const struct gp_report_run *b, size_t b_count,
		      struct gp_change *changes);

#endif
