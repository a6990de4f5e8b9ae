/* SPDX-License-Identifier: MIT */
/* The combinations of a sweep that are done, best first. */
#ifndef REPORT_SWEEP_RANK_H
#define REPORT_SWEEP_RANK_H

#include "report/book.h"

struct ranking {
	struct gp_contender *contenders; /* index: of the combination */
	struct gp_sweep_row *rows;	 /* by combination */
	size_t count;
	size_t *cut; /* combinations that were cut short, in the grid's order */
	size_t cut_count;
	struct gp_sweep_row recorded; /* of all traces */
};

/* Combinations of which each trace is done; those cut short have no place. */
struct ranking ranking_make(const struct gp_book *book, enum gp_rank_by by);
void ranking_release(struct ranking *ranking);

/* Place from 1 of a combination; 0: none. */
size_t ranking_place(const struct ranking *ranking, size_t combination);

/* "after 812 events it already reserved 1.20 GiB" */
#define CUT_TEXT 128
const char *ranking_cut_text(const struct gp_sweep_row *row,
			     char text[CUT_TEXT]);

/* Why a combination has no numbers though it is possible: the traces do not
 * tell, or its run failed; NULL: it has, or is not done. */
const char *ranking_no_answer(const struct gp_book *book,
			      const struct ranking *ranking,
			      size_t combination);
/* Why it cannot be; NULL: it can. */
const char *ranking_impossible(const struct gp_book *book, size_t combination);

/* "max_split_size_mb 52..71": the values that a combination stands for;
 * "..none" ends with "not set".  Empty: itself alone.  The caller frees. */
char *sweep_alike(const struct gp_book *book, size_t combination);

/* "max_split_size_mb:128; PyTorch 2.9": what differs between combinations. */
char *sweep_label(const struct gp_book *book, size_t combination);

#endif
