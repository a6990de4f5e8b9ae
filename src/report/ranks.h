/* SPDX-License-Identifier: MIT */
/* The ranks of a job, for a person and for a program. */
#ifndef REPORT_RANKS_H
#define REPORT_RANKS_H

#include "trace/ranks.h"
#include "gpupool/study.h"
#include "report/emit.h"
#include "report/page.h"

/* The subject of a report: the file's name, or "a.pickle, the worst of 64
 * ranks". */
#define RANKS_TITLE 320
const char *ranks_title(const struct gp_ranks *ranks, const char *path,
			char text[RANKS_TITLE]);
/* The same for the rank that needs most: "a.pickle, the largest need of 64
 * ranks". */
const char *ranks_need_title(const struct gp_ranks *ranks, const char *path,
			     char text[RANKS_TITLE]);
/* The same if the replays chose the worst (gp_rank_runs_worst): "a.pickle,
 * largest of 64 ranks", or "fails most of 64 ranks". */
const char *ranks_run_title(const struct gp_ranks *ranks,
			    const struct gp_rank_runs *runs, const char *path,
			    char text[RANKS_TITLE]);

/* The file of a study's case; "it" if ranks is NULL. */
const char *ranks_name(const struct gp_ranks *ranks, size_t index,
		       char text[RANKS_TITLE]);

/* The index of the case's device in its own trace. */
uint32_t ranks_device(const struct gp_ranks *ranks, size_t index);

/* Ranks are replayed under the settings of the first class, or each under its
 * own. BRIEFLY: under those of the first class, and differences are not
 * listed. */
enum ranks_settings { RANKS_ONE_SETTING, RANKS_OWN_SETTINGS, RANKS_BRIEFLY };

/* Names the ranks without requests; prints nothing if all have some. */
void ranks_idle(const struct gp_page *page, const struct gp_ranks *ranks);

/* How many ranks are alike, which could not be read, and which were recorded
 * under other settings; nothing for NULL. */
void ranks_head(const struct gp_page *page, const struct gp_ranks *ranks,
		enum ranks_settings settings);
/* The same for one of two jobs, in a field with that label. */
void ranks_side(const struct gp_page *page, const char *label,
		const struct gp_ranks *ranks);
/* The replay of each class, in as many lines as fit; nothing for NULL, or if
 * all ranks are alike. */
void ranks_runs(const struct gp_page *page, const struct gp_rank_runs *runs);
/* The same as a paragraph of an HTML page. */
void ranks_paragraph(const struct gp_ranks *ranks, const char *path, FILE *out);
/* In addition to the worst rank's verdict: how many ranks fit, and what serves
 * the others if nothing serves that one. */
void ranks_answer(const struct gp_page *page, const struct gp_ranks *ranks,
		  const struct gp_study *study, size_t first_case);
/* What each class needs, the worst first; nothing for NULL, or if all ranks are
 * alike. */
void ranks_table(const struct gp_page *page, const struct gp_ranks *ranks,
		 const struct gp_study *study);

/* "ranks": {"files": 64, "classes": [...]}; nothing for NULL. */
void gp_emit_ranks(struct gp_emit *json, const struct gp_ranks *ranks);
/* "rank_devices": [...], the same for a program; nothing for NULL. */
void gp_emit_rank_runs(struct gp_emit *json, const struct gp_rank_runs *runs);
/* "trace" of the device of a case; nothing for NULL. */
void gp_emit_rank_of(struct gp_emit *json, const struct gp_ranks *ranks,
		     size_t index);
/* {"device": 0, "trace": "a.pickle", "verdict": {...}} */
void gp_emit_rank_verdict(struct gp_emit *json, const struct gp_ranks *ranks,
			  const struct gp_study *study, size_t index);
/* "devices": [...], like gp_emit_verdicts, for all classes. */
void gp_emit_rank_verdicts(struct gp_emit *json, const struct gp_ranks *ranks,
			   const struct gp_study *study);

#endif
