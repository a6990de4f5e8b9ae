/* SPDX-License-Identifier: MIT */
/*
 * What went wrong and what helps, on one screen: the verdict first, then the
 * line to paste, who holds the memory, how reliable the result is, and further
 * commands. What does not fit is left out, the least important first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "base/text_sink.h"
#include "study/metrics/explain.h"
#include "report/emit.h"
#include "report/explain_words.h"
#include "report/head.h"
#include "report/holders.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/trouble.h"
#include "report/verdict.h"

#define SCREEN_LINES 24

/* How much is shown, from most to least; the first that fits the screen is
 * used. */
static const struct amount {
	unsigned holders;
	bool has_notes;	 /* what a setting does, and what the recording says */
	bool has_blanks; /* between the parts */
	bool has_reason; /* how the release was determined */
} amounts[] = {
	{ 5, true, true, true },    { 5, true, true, false },
	{ 4, true, true, false },   { 4, false, true, false },
	{ 3, false, true, false },  { 3, false, false, false },
	{ 2, false, false, false }, { 0, false, false, false },
};

struct look {
	struct gp_page page;
	const struct gp_look_report *report;
	const struct gp_explain *explain;
	const struct gp_verdict *verdict;
	struct amount amount;
};

static void print_blank(const struct look *l)
{
	if (l->amount.has_blanks)
		gp_page_blank(&l->page);
}

/* ---- the verdict, and the line to paste ---- */

/* The advised setting, if it is in the table of candidates. */
static const struct gp_candidate_conf *candidate_of(const struct look *l)
{
	const struct gp_study *study = l->report->study;

	return l->verdict->conf ? study->trials[l->verdict->trial].candidate
				: NULL;
}

static bool has_candidate(const struct look *l)
{
	const struct gp_candidate_conf *candidate = candidate_of(l);

	return candidate && (candidate->warning || l->amount.has_notes);
}

/* What the advised setting does, or its drawbacks. */
static void print_candidate(const struct look *l)
{
	const struct gp_candidate_conf *candidate = candidate_of(l);

	if (!has_candidate(l))
		return;
	if (candidate->warning)
		gp_page_line(&l->page, GP_TONE_BAD, 0, "Beware: %s.",
			     candidate->warning);
	else
		gp_page_line(&l->page, GP_TONE_PLAIN, 0, "What it does: %s.",
			     candidate->about);
}

/* Warns if the recording had more reserved than the replay shows, but not so
 * much that the verdict would differ. */
static void print_recording(const struct look *l)
{
	const struct gp_replay_result *recorded = l->report->recorded;
	char words[GP_RECORDED_TEXT];

	if (!recorded || l->verdict->recorded ||
	    !gp_recorded_more(&recorded->recorded, recorded->at_peak.reserved,
			      words))
		return;
	/* Keep only the first sentence. */
	if (strstr(words, ". "))
		strstr(words, ". ")[1] = '\0';
	gp_page_line(&l->page, GP_TONE_BAD, 0,
		     "That is for the part that can be replayed. %s", words);
}

static void print_verdict(const struct look *l)
{
	const struct gp_verdict *v = l->verdict;
	struct gp_words limits = verdict_limits(v);
	char title[RANKS_TITLE];

	if (l->report->ranks)
		gp_page_line(
			&l->page, GP_TONE_TITLE, 0, "%s",
			ranks_title(l->report->ranks, l->report->path, title));
	gp_page_line(&l->page, verdict_is_bad(v) ? GP_TONE_BAD : GP_TONE_TITLE,
		     0, "%s", verdict_sentence(v).text);
	print_recording(l);
	if (v->conf) {
		print_blank(l);
		fprintf(l->page.out, "    %s\n", verdict_line(v->conf).text);
		if (*limits.text || has_candidate(l))
			print_blank(l);
		print_candidate(l);
	}
	if (*limits.text)
		gp_page_line(&l->page, GP_TONE_PLAIN, 0, "%s", limits.text);
	if (v->ends == GP_ENDS_FAILURE && v->capacity == GP_UNLIMITED)
		gp_page_line(
			&l->page, GP_TONE_BAD, 0,
			"The trace does not say how much memory the device "
			"has: add --capacity, such as --capacity 80GiB.");
	ranks_answer(&l->page, l->report->ranks, l->report->study,
		     l->report->worst);
}

/* ---- the moment ---- */

static void print_failure(const struct look *l)
{
	const struct gp_explain *e = l->explain;
	const struct gp_oom *oom = &e->result.first_oom;
	char at[GP_EVENT_TEXT];
	char cached[160] = "";
	char largest[GP_TROUBLE_LARGEST];

	if (e->gap.bytes)
		snprintf(cached, sizeof(cached), ", %s reserved (%s)",
			 GP_BYTES(e->gap.bytes),
			 gp_trouble_largest(oom, largest));
	gp_page_field(&l->page, "Failed", "%s: no room for %s; free: %s %s%s",
		      gp_event_words_in(e->trace, e->device, &e->steps,
					oom->event, at),
		      GP_BYTES(oom->size), GP_BYTES(oom->room),
		      gp_trouble_where(oom), cached);
}

/* The gap at an earlier moment with as much reserved. This report explains the
 * moment with the most in use; explain and replay show the first one. */
static const char *gap_before(const struct gp_explain *e, char *text,
			      size_t size)
{
	const struct gp_moment *peak = &e->result.at_peak;
	char at[GP_EVENT_TEXT], gap[GP_BYTES_TEXT];

	*text = '\0';
	if (e->event == GP_AT_START || peak->event >= e->event ||
	    peak->reserved != e->gap.reserved)
		return text;
	gp_bytes_text(peak->reserved - peak->allocated, gap);
	if (e->result.peak_is_from_start)
		snprintf(text, size, "; %s at the start of the trace", gap);
	else
		snprintf(text, size, "; %s when the peak was reached, %s", gap,
			 gp_event_words_in(e->trace, e->device, &e->steps,
					   peak->event, at));
	return text;
}

static void print_peak(const struct look *l)
{
	const struct gp_explain *e = l->explain;
	char at[GP_EVENT_TEXT], reserved[GP_BYTES_TEXT];
	char allocated[GP_BYTES_TEXT], gap[GP_BYTES_TEXT];
	char before[GP_EVENT_TEXT + GP_BYTES_TEXT + 40];

	gp_bytes_text(e->gap.reserved, reserved);
	gp_bytes_text(e->gap.allocated, allocated);
	gp_bytes_text(e->gap.bytes, gap);
	if (e->has_requests)
		gp_page_field(&l->page, explain_is_peak(e) ? "Peak" : "Fullest",
			      "%s: %s reserved, %s allocated, a gap of %s%s",
			      gp_event_words_in(e->trace, e->device, &e->steps,
						e->event, at),
			      reserved, allocated, gap,
			      gap_before(e, before, sizeof(before)));
	else
		gp_page_field(&l->page, "Memory",
			      "%s reserved, %s allocated, a gap of %s",
			      reserved, allocated, gap);
}

/* Where the recorded program ran out of memory; false: it did not. */
static bool recorded_failure(const struct gp_explain *e, uint64_t *event)
{
	const struct gp_device_trace *d = &e->trace->devices[e->device];

	for (size_t i = d->event_count; i-- > 0;)
		if (d->events[i].kind == GP_ALLOC &&
		    d->events[i].flags & GP_REFUSED) {
			*event = i;
			return true;
		}
	return false;
}

static void print_moment(const struct look *l)
{
	const struct gp_explain *e = l->explain;
	const struct gp_oom *oom = &e->result.first_oom;
	char at[GP_EVENT_TEXT], others[GP_TROUBLE_OTHERS];
	uint64_t event;

	if (oom->is_there)
		print_failure(l);
	else
		print_peak(l);
	if (e->result.others.missing)
		gp_page_field(&l->page, "Others", "%s",
			      gp_trouble_others(e->trace, e->device,
						&e->result.others, others));
	if (recorded_failure(e, &event) &&
	    (!oom->is_there || event != oom->event))
		gp_page_field(&l->page, "Failed", "as recorded, at %s",
			      gp_event_words_in(e->trace, e->device, &e->steps,
						event, at));
}

/* ---- how reliable the result is ---- */

static void print_fidelity(const struct look *l)
{
	const struct gp_replay_result *recorded = l->report->recorded;
	const struct gp_fidelity *f = recorded ? &recorded->fidelity : NULL;

	if (!l->explain->has_requests)
		return;
	if (!f)
		gp_page_field(&l->page, "Fidelity", "not known: %s",
			      l->report->trouble);
	else if (!f->checked)
		gp_page_field(&l->page, "Fidelity",
			      "the trace has no addresses to compare with");
	else
		gp_page_field(&l->page, "Fidelity",
			      "%s of %s addresses are as recorded%s",
			      GP_COUNT(f->matched), GP_COUNT(f->checked),
			      f->matched == f->checked
				      ? ""
				      : ": what is said here is an estimate");
}

/* What the trace covers. If there is a verdict, that says whether it is a
 * window. */
static const char *coverage(const struct look *l)
{
	const struct gp_trace *trace = l->report->trace;

	if (!l->explain->has_requests)
		return gp_trace_has_state(&trace->devices[l->report->device])
			       ? "a state only, without requests"
			       : "no requests, and no state of the memory";
	if (l->verdict->begins == GP_BEGINS_WINDOW)
		return "a window";
	return trace->is_complete ? "whole" : "shows nothing in use before it";
}

static void print_trust(const struct look *l)
{
	const struct gp_look_report *r = l->report;
	uint64_t capacity = l->verdict->capacity;
	char release[16] = "";
	bool has_reason = r->choice && l->amount.has_reason;

	print_fidelity(l);
	if (!has_reason)
		snprintf(release, sizeof(release), "PyTorch 2.%u; ",
			 l->verdict->release);
	gp_page_field(&l->page, "Trace", "%s; %s%s; memory: %s", coverage(l),
		      release, gp_head_settings(r->conf),
		      capacity == GP_UNLIMITED ? "not known"
					       : GP_BYTES(capacity));
	if (has_reason)
		gp_page_field(&l->page, "PyTorch", "2.%u; %s",
			      l->verdict->release, r->choice->why);
	gp_head_changes(&l->page, r->trace);
	if (l->verdict->others)
		gp_page_field(
			&l->page, "Others",
			"use the device, too: together with the program they "
			"hold up to %s at once",
			GP_BYTES(l->verdict->live + l->verdict->others));
	if (r->trace->values)
		gp_page_field(&l->page, "Path", "%s", r->trace->values);
	if (gp_trace_unknown(r->trace))
		gp_page_field(&l->page, "Unknown", "%s",
			      gp_trace_unknown(r->trace));
}

/* ---- other devices ---- */

static void print_devices(const struct look *l)
{
	const struct gp_look_report *r = l->report;
	const struct gp_verdict *verdicts =
		r->study->verdicts + (r->worst - r->device);
	size_t count = r->trace->device_count, fit = 0, open = 0;
	char number[24], undecided[48] = "";

	if (count < 2)
		return;
	if (gp_verdict_is_open(l->verdict)) {
		gp_page_field(
			&l->page, "Device",
			"%u, the worst of %zu; explain --details shows all",
			r->trace->devices[r->device].device, count);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		fit += !verdict_is_bad(&verdicts[i]);
		open += gp_verdict_is_unknown(&verdicts[i]);
	}
	snprintf(number, sizeof(number), "%zu", fit);
	if (open)
		snprintf(undecided, sizeof(undecided), ", %zu undecided", open);
	gp_page_field(&l->page, "Device",
		      "%u, the worst of %zu, of which %s fit%s%s; explain "
		      "--details shows all",
		      r->trace->devices[r->device].device, count,
		      fit ? number : "none", fit > 1 ? "" : "s", undecided);
}

/* ---- further commands ---- */

static void print_command(const struct look *l, const char *command,
			  const char *rest)
{
	char path[GP_WORDS];

	fprintf(l->page.out, "  gpupool %s %s%s\n", command,
		gp_quote_shell(l->report->operand, path, sizeof(path)), rest);
}

static void print_replay(const struct look *l)
{
	const struct gp_explanation explanation = {
		.path = l->report->operand,
		.given = l->report->given,
	};

	if (l->verdict->conf)
		fprintf(l->page.out, "  %s\n",
			explain_command(&explanation, l->verdict).text);
	else if (gp_verdict_is_open(l->verdict))
		print_command(l, "info", "");
	else if (l->report->given_suggest)
		print_command(l, "suggest", l->report->given_suggest);
}

static void print_commands(const struct look *l)
{
	char rest[GP_WORDS];

	print_blank(l);
	print_command(l, "explain", l->report->given_explain);
	print_replay(l);
	/* An undecided verdict has no setting to replay with. */
	snprintf(rest, sizeof(rest), "%s --format html -o page.html",
		 gp_verdict_is_open(l->verdict) ? "" : l->report->given_replay);
	print_command(l, "replay", rest);
}

/* ---- the screen ---- */

static void print_screen(const struct look *l)
{
	print_verdict(l);
	print_blank(l);
	if (l->amount.holders)
		gp_report_holders_brief(&l->page, l->explain,
					l->amount.holders);
	if (l->amount.holders && l->explain->live.count)
		print_blank(l);
	print_moment(l);
	ranks_head(&l->page, l->report->ranks, RANKS_BRIEFLY);
	print_devices(l);
	print_trust(l);
	print_commands(l);
}

/* Writes the screen into a text, to count its lines; the caller frees it. */
static char *make_screen(struct look *l, const struct gp_report_style *style)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);

	l->page = gp_page_make(style, out);
	print_screen(l);
	return gp_text_sink_close(&sink, out);
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

/* minimalloc's CSV: nothing is replayed. */
static void print_spans(const struct gp_look_report *report,
			const struct gp_report_style *style, FILE *out)
{
	struct look l = { .page = gp_page_make(style, out), .report = report };

	gp_page_line(&l.page, GP_TONE_TITLE, 0,
		     "%s at once: with less memory it cannot be packed.",
		     GP_BYTES(report->spans_live));
	gp_page_line(&l.page, GP_TONE_PLAIN, 0,
		     "%s: %s with the times of their use, not requests of a "
		     "program: there is no setting to find, but a packing.",
		     gp_page_name(report->path),
		     GP_PLURAL(report->spans, "block"));
	gp_page_blank(&l.page);
	print_command(&l, "floor", "");
	print_command(&l, "floor", " -o packed.csv");
}

void gp_report_look_text(const struct gp_look_report *report,
			 const struct gp_report_style *style, FILE *out)
{
	struct look l = { .report = report, .explain = report->explain };
	struct gp_page page = gp_page_make(style, out);
	char *text = NULL;

	if (!report->trace) {
		print_spans(report, style, out);
		return;
	}
	if (!report->study->case_count) {
		gp_head_nothing(&page);
		return;
	}
	l.verdict = &report->study->verdicts[report->worst];
	for (size_t i = 0; i < sizeof(amounts) / sizeof(*amounts); i++) {
		free(text);
		l.amount = amounts[i];
		text = make_screen(&l, style);
		if (!text || lines_of(text) <= SCREEN_LINES)
			break;
	}
	if (text)
		fputs(text, out);
	free(text);
}

/* ---- for a program ---- */

#define MOST_HOLDERS 20

/* The device that determines the verdict, at the moment shown. */
static void write_worst(struct gp_emit *json,
			const struct gp_look_report *report)
{
	const struct gp_explain *e = report->explain;

	gp_emit_uint(json, "device",
		     report->trace->devices[report->device].device);
	gp_emit_explained(json, "event", "before", e->event);
	gp_emit_bool(json, "out_of_memory", e->result.first_oom.is_there);
	gp_emit_count(json, GP_RESERVED, e->gap.reserved);
	gp_emit_count(json, GP_ALLOCATED, e->gap.allocated);
	if (report->recorded)
		gp_emit_matched(json, report->recorded->fidelity.checked,
				report->recorded->fidelity.matched);
	else
		gp_emit_null(json, "fidelity");
	gp_emit_in_use(json, e, MOST_HOLDERS);
}

void gp_report_look_json(const struct gp_look_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_trace_path(&json, report->path, report->trace);
	if (!report->trace) {
		gp_emit_uint(&json, "blocks", report->spans);
		gp_emit_uint(&json, "live", report->spans_live);
		gp_emit_close(&json, '}');
		return;
	}
	gp_emit_choice(&json, "release_choice", report->choice);
	gp_emit_ranks(&json, report->ranks);
	if (report->ranks)
		gp_emit_rank_verdicts(&json, report->ranks, report->study);
	else
		gp_emit_verdicts(&json, report->trace, report->study);
	if (report->study->case_count)
		write_worst(&json, report);
	gp_emit_close(&json, '}');
}
