/* SPDX-License-Identifier: MIT */
/* The head of a report: which run this is, how its release and settings were
 * determined, and how reliable the recording is. */
#ifndef REPORT_HEAD_H
#define REPORT_HEAD_H

#include <stddef.h>

#include "gpupool/replay.h"
#include "base/bytes.h"
#include "report/page.h"
#include "report/report.h"
#include "study/estimate.h"

/* "default settings" or the settings as given. */
const char *gp_head_settings(const char *conf);

/* The engine's name; NULL: it is the default one, PyTorch's. */
const char *gp_head_engine(const char *engine);

/* "no limit" or a size. */
const char *gp_head_capacity(uint64_t capacity, char text[GP_BYTES_TEXT]);

/* The same for a run: if the recording does not show how large the device is,
 * "not known", because it may have had a limit. */
const char *gp_head_run_capacity(enum gp_replay_mode mode, uint64_t capacity,
				 char text[GP_BYTES_TEXT]);

/* The same for several devices: "40.00 GiB to 80.00 GiB, by device". */
#define GP_HEAD_MEMORY (2 * GP_BYTES_TEXT + 16)
const char *gp_head_memory(enum gp_replay_mode mode, const uint64_t *capacity,
			   size_t devices, char text[GP_HEAD_MEMORY]);

/* choice NULL: the user chose. */
void gp_head_release(const struct gp_page *page, uint8_t release,
		     const struct gp_release_choice *choice);

/* Release, settings, and what the trace covers. */
void gp_head_run(const struct gp_page *page, const struct gp_report *report,
		 const struct gp_run *run);

/* Says if the program changes settings while it runs: the head does not have
 * these. */
void gp_head_changes(const struct gp_page *page, const struct gp_trace *trace);

/* In which respects the recording may differ from a run on a GPU, and what is
 * missing from it. */
void gp_head_doubts(const struct gp_page *page, const struct gp_trace *trace);

/* Whether a request was refused when it was recorded but this run has no limit:
 * then the run is no answer for that device. */
bool gp_run_refused_room(const struct gp_trace *trace, const struct gp_run *run,
			 size_t device, struct gp_refused_room *room);
/* A sentence on the recorded device: "with less than 4.49 GiB, as a request was
 * refused; ..." */
struct gp_words gp_head_room(const struct gp_refused_room *room);
/* Prints that sentence. */
void gp_head_refused_room(const struct gp_page *page,
			  const struct gp_report *report,
			  const struct gp_run *run, size_t device);
/* Capacity and length of one device's trace. */
void gp_head_device(const struct gp_page *page, const struct gp_report *report,
		    const struct gp_run *run, size_t device);

void gp_head_timing(const struct gp_page *page, const struct gp_timing *timing);

/* "--merge-streams: what it did" */
#define GP_HEAD_WHAT_IF 400
const char *gp_head_what_if(const struct gp_what_if_note *note,
			    char text[GP_HEAD_WHAT_IF]);
/* Prints a line for each; nothing for NULL. */
void gp_head_what_ifs(const struct gp_page *page,
		      const struct gp_what_ifs *what_ifs);

/* The number of events of a run's trace, which what-ifs may have changed; and
 * the largest number of all runs. */
uint64_t gp_head_events(const struct gp_report *report,
			const struct gp_run *run, size_t device);
uint64_t gp_head_most_events(const struct gp_report *report, size_t device);

/* Says that a file without devices is empty, and how to record one. */
void gp_head_nothing(const struct gp_page *page);

/* ---- estimates ---- */

/* The estimate; NULL: the run's own numbers are exact. */
const struct gp_estimate *gp_run_estimate(const struct gp_run *run,
					  size_t device);

/* "an estimate: 8.12 GiB to 9.30 GiB" */
#define GP_ESTIMATE_TEXT (2 * GP_BYTES_TEXT + 24)
const char *gp_estimate_text(const struct gp_estimate *estimate,
			     char text[GP_ESTIMATE_TEXT]);

/* ---- what a recording says about itself ---- */

/* For a recording that had more reserved than its replay: what is missing, and
 * a lower bound for the peak. NULL: it had not. */
#define GP_RECORDED_TEXT 512
const char *gp_recorded_more(const struct gp_recorded *recorded,
			     uint64_t replayed, char text[GP_RECORDED_TEXT]);

/* ---- what was missing from the recording and was guessed (gp_guess_table)
 * ---- */

/* What was guessed, as a noun that follows the count. */
const char *gp_guess_sentence(const struct gp_guess_row *row, uint64_t count);

uint64_t gp_guess_count(const struct gp_guesses *guesses,
			const struct gp_guess_row *row);
uint64_t gp_guess_total(const struct gp_guesses *guesses);

/* A line for each kind of guess that occurs; nothing without guesses. */
void gp_guess_print(const struct gp_page *page,
		    const struct gp_guesses *guesses);

#endif
