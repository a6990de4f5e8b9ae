/* SPDX-License-Identifier: MIT */
/* The sentences of gpupool explain, for the terminal and for pages. */
#ifndef REPORT_EXPLAIN_WORDS_H
#define REPORT_EXPLAIN_WORDS_H

#include "study/metrics/explain.h"
#include "report/report.h"
#include "trace/site.h"
#include "report/page.h"

/* Each is "" if there is nothing to say. */

/* Whether the moment explained is the peak. It is not if a window begins at its
 * peak but has more memory in use later. */
bool explain_is_peak(const struct gp_explain *e);

/* How full the device is at that moment, if no request failed. */
struct gp_words explain_moment(const struct gp_explain *explain,
			       const struct gp_verdict *verdict);
/* What was requested, and what was free. */
struct gp_words explain_request(const struct gp_explain *explain);
/* What would have to be freed for the request to be served. */
struct gp_words explain_relief(const struct gp_explain *explain);
/* The other requests that failed later. */
struct gp_words explain_others(const struct gp_explain *explain);

/* The command that shows what the advised setting does. */
struct gp_words explain_command(const struct gp_explanation *explanation,
				const struct gp_verdict *verdict);

#define EXPLAIN_SITE (GP_SITE_TEXT + 8)
/* " from train.py:42 forward (aten::mul)", or "" */
const char *explain_site(const struct gp_trace *trace, uint32_t site,
			 char text[EXPLAIN_SITE]);

/* "3 blocks of 2.00 KiB from optimizer.py:88 step" */
#define EXPLAIN_WHO (GP_SITE_TEXT + 160)
const char *explain_who(const struct gp_trace *trace,
			const struct gp_culprit *culprit,
			char text[EXPLAIN_WHO]);

/* "3 blocks of 2.00 KiB from optimizer.py:88 pin 1.90 GiB in ..." */
struct gp_words explain_culprit_now(const struct gp_trace *trace,
				    const struct gp_culprit *culprit);
struct gp_words explain_culprit_over_time(const struct gp_trace *trace,
					  const struct gp_culprit *culprit);
/* The number of culprits to show, at most `most`: those with more than a
 * twentieth of the first one's bytes. */
size_t explain_worth_showing(const struct gp_culprits *culprits, size_t most);

/* The command that shows the what-if that helps most. */
struct gp_words explain_what_if(const struct gp_explanation *explanation,
				const struct gp_explain *explain);

/* Whether the attempt serves what was not served, or reserves less. */
bool explain_helps(const struct gp_attempt *base,
		   const struct gp_attempt *trial);
/* "all work on one stream (--merge-streams)"; without the flag if that is too
 * long for a table. */
#define EXPLAIN_NAME 132
const char *explain_name(const struct gp_attempt *trial,
			 char text[EXPLAIN_NAME]);
/* An attempt's result: "3 OOMs", "3 OOMs, later", "no OOM", "-1.20 GiB"
 * compared with the run as it is, or "". */
#define EXPLAIN_FATE (GP_PLURAL_TEXT + 24)
/* What a run does not serve: "3 OOMs", or "no room" for other processes.
 * has_room: as gp_replay_has_room(). */
const char *explain_unserved(uint64_t ooms, bool has_room,
			     char text[GP_PLURAL_TEXT]);
/* The same for a run that serves what the run as it is does not: "no OOM". */
const char *explain_served(uint64_t ooms_as_it_is, bool has_room_as_it_is);
const char *explain_fate(const struct gp_attempt *base,
			 const struct gp_attempt *trial,
			 char text[EXPLAIN_FATE]);

/* "3 pieces, largest 2.00 MiB: only their stream and pool can use it" */
struct gp_words explain_reason(const struct gp_explain *explain,
			       enum gp_gap_reason reason);
const char *explain_note(const struct gp_explain *explain,
			 enum gp_gap_reason reason);
/* "pending free (waits for stream 7)", if it is a single stream. */
#define EXPLAIN_REASON 64
const char *explain_reason_label(const struct gp_explain *explain,
				 enum gp_gap_reason reason,
				 char text[EXPLAIN_REASON]);
/* What is lost within allocated blocks, by rounding. */
struct gp_words explain_within(const struct gp_gap *gap);

/* About the whole run. */
struct gp_words explain_pending(const struct gp_explain *explain);
struct gp_words explain_calls(const struct gp_explanation *explanation,
			      const struct gp_explain *explain);
struct gp_words explain_caches(const struct gp_explain *explain);
struct gp_words explain_drift(const struct gp_explain *explain);
struct gp_words explain_growth(const struct gp_explain *explain);

struct gp_explain_reason_row {
	const char *key, *label, *note;
};
extern const struct gp_explain_reason_row explain_reasons[GP_GAP_REASONS];

#endif
