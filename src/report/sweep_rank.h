/* SPDX-License-Identifier: MIT */
/* The finished combinations of a sweep, best first, and their table. */
#ifndef REPORT_SWEEP_RANK_H
#define REPORT_SWEEP_RANK_H

#include "report/sweep_report.h"
#include "report/table.h"

/* Why a combination has no rank. */
enum sweep_other_kind {
	SWEEP_CUT,	  /* it was cut short, as it cannot be best */
	SWEEP_EXCLUDED,	  /* it must not be used */
	SWEEP_NO_ANSWER,  /* the traces do not decide, or its run failed */
	SWEEP_IMPOSSIBLE, /* PyTorch accepts no such settings */
	SWEEP_OTHERS
};
extern const char *const sweep_other_titles[SWEEP_OTHERS];

#define SWEEP_CUT_TEXT 128 /* why one is cut short */
struct sweep_other {
	size_t index; /* index of the combination */
	enum sweep_other_kind kind;
	char *why; /* owned: "after 812 events it already reserved 1.20 GiB" */
};

struct ranking {
	const struct gp_sweep_report *sweep;
	struct gp_contender *contenders; /* with the combination's index */
	struct gp_sweep_row *rows;	 /* by combination */
	size_t count;
	/* The combinations without a rank, sorted by kind, in the grid's
	 * order. */
	struct sweep_other *others;
	size_t other_count;
	struct gp_sweep_row recorded; /* of all traces */
};

/* Ranks the combinations whose runs are all done; those that were cut short are
 * not ranked. */
struct ranking ranking_make(const struct gp_sweep_report *sweep,
			    enum gp_rank_by by);
void ranking_release(struct ranking *ranking);

/* "max_split_size_mb:128; PyTorch 2.9": what differs between combinations. */
char *sweep_label(const struct gp_sweep_report *sweep, size_t combination);

/* ---- as a table ---- */

struct gp_table sweep_table(const struct gp_sweep_report *sweep,
			    enum gp_table_format format, FILE *out);
void sweep_table_contender(const struct gp_table *table,
			   const struct ranking *ranking, size_t i);
void sweep_table_recorded(const struct gp_table *table,
			  const struct ranking *ranking);

/* Whether a trace holds clearly less than was reserved when it was recorded, so
 * that its settings cannot be ranked for the whole program. */
bool sweep_is_of_part(const struct gp_sweep_report *sweep);

#endif
