/* SPDX-License-Identifier: MIT */
/* What stands above a report: which run this is, how the release and the
 * settings came about, and how far the recording can be relied upon. */
#ifndef REPORT_HEAD_H
#define REPORT_HEAD_H

#include <stddef.h>

#include "base/bytes.h"
#include "report/page.h"
#include "report/report.h"
#include "study/estimate.h"

/* "default settings" or the settings as given. */
const char *gp_head_settings(const char *conf);

/* NULL: the default one, which is PyTorch's. */
const char *gp_head_engine(const char *engine);

/* "no limit" or a size. */
const char *gp_head_capacity(uint64_t capacity, char text[GP_BYTES_TEXT]);

/* The same of several devices: "40.00 GiB to 80.00 GiB, by device". */
#define GP_HEAD_MEMORY (2 * GP_BYTES_TEXT + 16)
const char *gp_head_memory(const uint64_t *capacity, size_t devices,
			   char text[GP_HEAD_MEMORY]);

/* choice NULL: the user chose. */
void gp_head_release(const struct gp_page *page, uint8_t release,
		     const struct gp_release_choice *choice);

/* Release, settings, and what the trace covers. */
void gp_head_run(const struct gp_page *page, const struct gp_report *report,
		 const struct gp_run *run);

/* Settings that the program changes while it runs, which are not in the head's;
 * nothing where it changes none. */
void gp_head_changes(const struct gp_page *page, const struct gp_trace *trace);

/* Path and what is not told, where the recording may not be what a GPU would
 * do. */
void gp_head_doubts(const struct gp_page *page, const struct gp_trace *trace);

/* Capacity and length of one device's trace. */
void gp_head_device(const struct gp_page *page, const struct gp_report *report,
		    const struct gp_run *run, size_t device);

void gp_head_timing(const struct gp_page *page, const struct gp_timing *timing);

/* "--merge-streams: what it did" */
#define GP_HEAD_WHAT_IF 400
const char *gp_head_what_if(const struct gp_what_if_note *note,
			    char text[GP_HEAD_WHAT_IF]);
/* A line for each; nothing for NULL. */
void gp_head_what_ifs(const struct gp_page *page,
		      const struct gp_what_ifs *what_ifs);

/* Events of a run's trace, which what-ifs may have added to; of the run with
 * most. */
uint64_t gp_head_events(const struct gp_report *report,
			const struct gp_run *run, size_t device);
uint64_t gp_head_most_events(const struct gp_report *report, size_t device);

/* That a file without devices holds nothing, and how to record another. */
void gp_head_nothing(const struct gp_page *page);

/* ---- estimates ---- */

/* NULL where the run's own numbers are the answer. */
const struct gp_estimate *gp_run_estimate(const struct gp_run *run,
					  size_t device);

/* "an estimate: 8.12 GiB to 9.30 GiB" */
#define GP_ESTIMATE_TEXT (2 * GP_BYTES_TEXT + 24)
const char *gp_estimate_text(const struct gp_estimate *estimate,
			     char text[GP_ESTIMATE_TEXT]);

/* ---- what a recording says of itself ---- */

/* Sentences for a recording that tells of more reserved than its replay comes
 * to: what is missing, and how little the peak can have been.  NULL: it does
 * not. */
#define GP_RECORDED_TEXT 512
const char *gp_recorded_more(const struct gp_recorded *recorded,
			     uint64_t replayed, char text[GP_RECORDED_TEXT]);

/* ---- what it does not tell, and was guessed (gp_guess_table) ---- */

/* What was guessed, in the plural. */
const char *gp_guess_sentence(const struct gp_guess_row *row);

uint64_t gp_guess_count(const struct gp_guesses *guesses,
			const struct gp_guess_row *row);
uint64_t gp_guess_total(const struct gp_guesses *guesses);

/* One line a kind that occurs; nothing without guesses. */
void gp_guess_print(const struct gp_page *page,
		    const struct gp_guesses *guesses);

#endif
