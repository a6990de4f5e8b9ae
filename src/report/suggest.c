/* SPDX-License-Identifier: MIT */
/* The setting to use, for a person and for a program. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "report/emit.h"
#include "report/head.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/schema.h"
#include "report/trouble.h"
#include "report/verdict.h"

#define LABEL 24
#define VALUE 15

/* Milliseconds, with no more digits than are useful. */
static const char *time_text(double us, char text[GP_COUNT_TEXT])
{
	if (us < 1e6)
		snprintf(text, GP_COUNT_TEXT, "%.1f ms", us / 1e3);
	else
		snprintf(text, GP_COUNT_TEXT, "%.2f s", us / 1e6);
	return text;
}

static const struct gp_verdict *verdict_of(
	const struct gp_suggest_report *report)
{
	return &report->study->verdicts[report->worst];
}

static const struct gp_trial *best_of(const struct gp_suggest_report *report)
{
	return &report->study->trials[verdict_of(report)->trial];
}

/* ---- the answer ---- */

static void print_advice(const struct gp_page *page,
			 const struct gp_trial *best,
			 const struct gp_verdict *v)
{
	const struct gp_candidate_conf *candidate = best->candidate;

	gp_page_blank(page);
	verdict_print_line(page, "    ", v);
	if (!candidate)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 0, "What it does: %s.",
		     candidate->about);
	if (candidate->warning)
		gp_page_line(page, GP_TONE_BAD, 0, "Beware: %s.",
			     candidate->warning);
}

static void print_answer(const struct gp_page *page,
			 const struct gp_suggest_report *report)
{
	const struct gp_verdict *v = verdict_of(report);
	struct gp_words limits = verdict_limits(v);

	gp_page_line(page, verdict_is_bad(v) ? GP_TONE_BAD : GP_TONE_GOOD, 0,
		     "%s", verdict_sentence(v).text);
	if (v->conf)
		print_advice(page, best_of(report), v);
	else if (v->kind == GP_VERDICT_NO_SETTING)
		gp_page_line(page, GP_TONE_PLAIN, 0, "The best: %s.",
			     gp_head_settings(best_of(report)->conf));
	if (*limits.text && v->conf)
		gp_page_blank(page);
	if (*limits.text)
		gp_page_line(page, GP_TONE_PLAIN, 0, "%s", limits.text);
	ranks_answer(page, report->ranks, report->study, report->worst);
}

/* ---- the proof ---- */

static void print_oom(const struct gp_page *page,
		      const struct gp_suggest_report *report)
{
	const struct gp_oom *oom =
		&report->study->trials[0].cases[report->worst].first_oom;
	char who[RANKS_TITLE], event[GP_EVENT_TEXT], left[GP_TROUBLE_LEFT];

	if (!oom->is_there)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 0,
		     "With the settings as they are %s runs out of memory at "
		     "%s: no room for %s, with %s reserved, %s allocated, %s "
		     "and %s the largest free block%s%s.",
		     ranks_name(report->ranks, report->worst, who),
		     gp_event_words(report->trace,
				    ranks_device(report->ranks, report->worst),
				    oom->event, event),
		     GP_BYTES(oom->size), GP_BYTES(oom->reserved),
		     GP_BYTES(oom->allocated), gp_trouble_left(oom, left),
		     GP_BYTES(oom->largest_free), gp_trouble_which(oom),
		     oom->cause == GP_CAUSE_FRAGMENTATION
			     ? *gp_trouble_which(oom)
				       ? ": enough in total, but no single "
					 "block there is large enough"
				       : ": enough in total, but no single "
					 "block is large enough"
			     : "");
}

static void print_number(const struct gp_page *page, const char *label,
			 const char *a, const char *b)
{
	fprintf(page->out, "%-*s%*s", LABEL, label, VALUE, a);
	if (b)
		fprintf(page->out, "%*s", VALUE, b);
	putc('\n', page->out);
}

static void print_count(const struct gp_page *page, const char *label,
			uint64_t a, const uint64_t *b)
{
	print_number(page, label, GP_COUNT(a), b ? GP_COUNT(*b) : NULL);
}

/* The text in place of a number of OOMs, for a run without OOMs that does not
 * serve all requests. */
static const char *failed_text(const char *ooms, bool has_ooms, bool is_served,
			       bool has_room)
{
	if (is_served || has_ooms)
		return ooms;
	return has_room ? "refused" : "no room";
}

static const char *case_failed(const struct gp_trial_case *one,
			       char text[GP_COUNT_TEXT])
{
	return failed_text(gp_count_text(one->ooms, text), one->ooms,
			   one->is_served, one->has_room);
}

static const char *trial_failed(const struct gp_trial *trial,
				char text[GP_COUNT_TEXT])
{
	snprintf(text, GP_COUNT_TEXT, "%" PRIu64, trial->ooms);
	return failed_text(text, trial->ooms,
			   trial->is_served || *trial->refusal,
			   trial->has_room);
}

static const char *need_text(uint64_t need, char text[GP_BYTES_TEXT])
{
	if (!need)
		return "";
	return need == GP_UNLIMITED ? "none" : gp_bytes_text(need, text);
}

/* b NULL: there is only one run. */
static void print_numbers(const struct gp_page *page,
			  const struct gp_trial_case *a,
			  const struct gp_trial_case *b)
{
	char x[GP_COUNT_TEXT], y[GP_COUNT_TEXT];

	gp_page_blank(page);
	print_number(page, "", "as recorded", b ? "suggested" : NULL);
	print_number(page, "OOMs", case_failed(a, x),
		     b ? case_failed(b, y) : NULL);
	print_count(page, "Alloc retries", a->retries, b ? &b->retries : NULL);
	print_number(page, "Need (smallest device)", need_text(a->need, x),
		     b ? need_text(b->need, y) : NULL);
	print_number(page, "Peak reserved", gp_bytes_text(a->reserved, x),
		     b ? gp_bytes_text(b->reserved, y) : NULL);
	print_count(page, "cudaMalloc calls", a->mallocs,
		    b ? &b->mallocs : NULL);
	print_count(page, "Pages mapped", a->pages, b ? &b->pages : NULL);
	print_number(page, "Time of device calls", time_text(a->time_us, x),
		     b ? time_text(b->time_us, y) : NULL);
	if (a->ooms && b)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "(of a run that goes on without the requests that "
			     "failed; the time is estimated)");
	else
		gp_page_line(page, GP_TONE_PLAIN, 0, "(the time is estimated)");
}

static void print_proof(const struct gp_page *page,
			const struct gp_suggest_report *report)
{
	gp_page_blank(page);
	if (report->checked)
		gp_page_line(
			page,
			report->matched == report->checked ? GP_TONE_GOOD
							   : GP_TONE_BAD,
			0,
			"Fidelity: %s of %s recorded addresses are the same.",
			GP_COUNT(report->matched), GP_COUNT(report->checked));
	else
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "Fidelity: the trace has no addresses to compare "
			     "with.");
}

/* ---- what cannot be used ---- */

static void print_constraint(const struct gp_page *page,
			     const struct gp_suggest_report *report)
{
	const struct gp_study *study = report->study;
	const struct gp_trial *free;
	char need[GP_BYTES_TEXT];

	if (study->unconstrained >= study->count ||
	    !study->trials[study->unconstrained].is_excluded)
		return;
	free = &study->trials[study->unconstrained];
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 0,
		     "%s, which must not be used, would need %s.",
		     gp_head_settings(free->conf), need_text(free->need, need));
}

/* ---- all that was tried ---- */

#define NAME 35

/* If the column needs more width, the name gets less. */
static int name_width(const char *failed)
{
	int wide = (int)strlen(failed);

	return wide > 4 ? NAME - (wide - 4) : NAME;
}

/* Whether a trace holds only a part of what was reserved when it was recorded:
 * then its need is unknown. */
static bool is_of_part(const struct gp_study *study)
{
	for (size_t i = 0; i < study->case_count; i++)
		if (study->verdicts[i].recorded)
			return true;
	return false;
}

static bool has_window(const struct gp_study *study)
{
	for (size_t i = 0; i < study->case_count; i++)
		if (study->verdicts[i].begins == GP_BEGINS_WINDOW)
			return true;
	return false;
}

static void print_trial(const struct gp_page *page,
			const struct gp_suggest_report *report, size_t index)
{
	const struct gp_study *study = report->study;
	const struct gp_trial *trial = &study->trials[index];
	char time[GP_COUNT_TEXT], need[GP_BYTES_TEXT], count[GP_COUNT_TEXT];
	const char *name = gp_head_settings(trial->conf);
	bool is_answer = study->is_change && index == study->best;
	const char *failed = trial_failed(trial, count);
	int width = name_width(failed);

	fprintf(page->out, "%c ",
		is_answer	     ? '*'
		: trial->is_excluded ? 'x'
				     : ' ');
	if ((int)strlen(name) < width)
		fprintf(page->out, "%-*s", width, name);
	else
		fprintf(page->out, "%s\n%*s", name, width + 2, "");
	if (*trial->refusal) {
		fprintf(page->out, "  %.36s\n", "not in this release");
		return;
	}
	fprintf(page->out, "%4s%8" PRIu64 "%11s%11s%9s\n", failed,
		trial->retries, GP_BYTES(trial->reserved),
		is_of_part(study) ? "" : need_text(trial->need, need),
		time_text(trial->time_us, time));
}

static void print_trials(const struct gp_page *page,
			 const struct gp_suggest_report *report)
{
	const struct gp_study *study = report->study;
	bool is_any_excluded = false;

	gp_page_blank(page);
	fprintf(page->out, "%-*s%4s%8s%11s%11s%9s\n", NAME + 2,
		"Tried, the least unusual first", "OOMs", "retries", "reserved",
		"need", "time");
	for (size_t i = 0; i < study->count; i++) {
		print_trial(page, report, i);
		is_any_excluded |= study->trials[i].is_excluded;
	}
	gp_page_line(page, GP_TONE_PLAIN, 0, "%s%s%s",
		     is_of_part(study)
			     ? "All of it is of the requests in the trace, a "
			       "part of what was reserved: what the whole "
			       "program needs under each is not known."
			     : "need: the smallest device such that it and "
			       "every larger one serve all requests; found "
			       "only where it decides.",
		     study->is_change ? " * the one to use." : "",
		     is_any_excluded ? " x must not be used." : "");
	if (has_window(study) && !is_of_part(study))
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "reserved: from what the window begins with; "
			     "gpupool sweep estimates what each would reserve "
			     "in the whole program.");
	if (study->case_count > 1)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "Of %zu %s: OOMs, retries and time are sums, "
			     "reserved and need are of the one that has most.",
			     study->case_count,
			     report->ranks ? "that differ" : "devices");
}

/* ---- the whole ---- */

static void print_head(const struct gp_page *page,
		       const struct gp_suggest_report *report)
{
	uint64_t capacity = verdict_of(report)->capacity;
	char title[RANKS_TITLE];

	ranks_title(report->ranks, report->path, title);
	if (capacity == GP_UNLIMITED)
		gp_page_line(page, GP_TONE_TITLE, 0, "%s: the smallest device",
			     title);
	else
		gp_page_line(page, GP_TONE_TITLE, 0, "%s on %s of memory",
			     title, GP_BYTES(capacity));
	ranks_head(page, report->ranks, RANKS_ONE_SETTING);
	if (!report->ranks && report->trace->device_count > 1)
		gp_page_field(page, "Device", "%u, the worst of %zu",
			      report->trace->devices[report->worst].device,
			      report->trace->device_count);
	gp_head_release(page, verdict_of(report)->release, report->choice);
	gp_page_field(page, "Settings", "%s, as recorded",
		      gp_head_settings(report->study->trials[0].conf));
	gp_head_changes(page, report->trace);
	gp_head_doubts(page, report->trace);
	if (report->capacity_below)
		gp_page_field(page, "Memory",
			      "less than %s, as a request was refused; the "
			      "least that was enough is taken",
			      GP_BYTES(report->capacity_below));
	if (capacity == GP_UNLIMITED)
		gp_page_field(page, "Memory",
			      "no limit is known; --capacity 80GiB asks what "
			      "fits that");
	gp_page_blank(page);
}

void gp_report_suggest_text(const struct gp_suggest_report *report,
			    const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);
	const struct gp_study *study = report->study;

	print_head(&page, report);
	print_answer(&page, report);
	if (gp_verdict_is_open(verdict_of(report)))
		return;
	print_constraint(&page, report);
	print_oom(&page, report);
	print_numbers(&page, &study->trials[0].cases[report->worst],
		      verdict_of(report)->conf
			      ? &best_of(report)->cases[report->worst]
			      : NULL);
	ranks_table(&page, report->ranks, study);
	print_proof(&page, report);
	print_trials(&page, report);
}

/* ---- for a program ---- */

void gp_report_suggest_json(const struct gp_suggest_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);
	const struct gp_study *study = report->study;

	gp_emit_trace_path(&json, report->path, report->trace);
	gp_emit_ranks(&json, report->ranks);
	if (report->ranks)
		gp_emit_rank_verdicts(&json, report->ranks, study);
	else
		gp_emit_verdicts(&json, report->trace, study);
	if (report->capacity_below)
		gp_emit_uint(&json, "capacity_below", report->capacity_below);
	if (study->unconstrained < study->count)
		gp_emit_text(&json, "unconstrained",
			     study->trials[study->unconstrained].conf);
	else
		gp_emit_null(&json, "unconstrained");
	gp_emit_matched(&json, report->checked, report->matched);
	gp_emit_trials(&json, study);
	gp_emit_close(&json, '}');
}
