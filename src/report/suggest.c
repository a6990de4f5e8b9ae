/* SPDX-License-Identifier: MIT */
/* The setting to use, for a person. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "gpupool/report.h"
#include "report/head.h"
#include "report/page.h"

#define LABEL 24
#define VALUE 15

/* Milliseconds, as few digits as say something. */
static const char *time_text(double us, char text[GP_COUNT_TEXT])
{
	if (us < 1e6)
		snprintf(text, GP_COUNT_TEXT, "%.1f ms", us / 1e3);
	else
		snprintf(text, GP_COUNT_TEXT, "%.2f s", us / 1e6);
	return text;
}

static const struct gp_trial *chosen_of(const struct gp_suggest_report *report)
{
	return &report->suggestion->trials[report->suggestion->chosen];
}

/* ---- the answer ---- */

static void print_line(const struct gp_page *page, const char *conf)
{
	gp_page_blank(page);
	fprintf(page->out, "    PYTORCH_CUDA_ALLOC_CONF=%s\n", conf);
}

static void print_open_keep(const struct gp_page *page,
			    const struct gp_trial *recorded)
{
	char need[GP_BYTES_TEXT];

	gp_page_line(page, GP_TONE_GOOD, 0,
		     "Keep the settings: %s is enough, and nothing that was "
		     "tried runs on clearly less.",
		     gp_bytes_text(recorded->need, need));
}

static void print_keep(const struct gp_page *page,
		       const struct gp_trial *recorded)
{
	char spare[GP_BYTES_TEXT], retries[GP_COUNT_TEXT];

	gp_page_line(page, GP_TONE_GOOD, 0,
		     "Keep the settings: it fits, with %s to spare.",
		     gp_bytes_text(recorded->spare, spare));
	if (recorded->retries)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "There are retries (%s), and nothing that was "
			     "tried is clearly better.",
			     gp_count_text(recorded->retries, retries));
}

static void print_better(const struct gp_page *page,
			 const struct gp_suggestion *s)
{
	const struct gp_trial *chosen = &s->trials[s->chosen];
	char spare[GP_BYTES_TEXT], less[GP_BYTES_TEXT];

	if (s->is_open)
		gp_page_line(
			page, GP_TONE_GOOD, 0,
			"With another setting a device %s smaller is "
			"enough. Use:",
			gp_bytes_text(s->trials[0].need - chosen->need, less));
	else
		gp_page_line(page, GP_TONE_GOOD, 0,
			     s->trials[0].ooms
				     ? "Another setting fits, with %s to "
				       "spare. Use:"
				     : "It fits, with retries; another setting "
				       "is better, with %s to spare. Use:",
			     gp_bytes_text(chosen->spare, spare));
}

static void print_change(const struct gp_page *page,
			 const struct gp_suggestion *s)
{
	const struct gp_trial *chosen = &s->trials[s->chosen];

	print_better(page, s);
	print_line(page, *chosen->conf ? chosen->conf : "\"\"");
	if (chosen->about) {
		gp_page_blank(page);
		gp_page_line(page, GP_TONE_PLAIN, 0, "What it does: %s.",
			     chosen->about);
	}
}

static void print_capacity(const struct gp_page *page,
			   const struct gp_suggest_report *report)
{
	const struct gp_suggestion *s = report->suggestion;
	const struct gp_trial *best = chosen_of(report);
	char missing[GP_BYTES_TEXT], need[GP_BYTES_TEXT], live[GP_BYTES_TEXT];

	gp_page_line(page, GP_TONE_BAD, 0,
		     "No setting that was tried fits: it is the capacity.");
	if (best->missing == UINT64_MAX) {
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "A request fails however much memory there is.");
		return;
	}
	gp_page_line(
		page, GP_TONE_PLAIN, 0, "%s is missing: with %s it needs %s%s.",
		gp_bytes_text(best->missing, missing),
		gp_head_settings(best->conf), gp_bytes_text(best->need, need),
		s->is_exact ? ", and any larger device is fine"
			    : " (not every capacity above was tried)");
	gp_page_line(page, GP_TONE_PLAIN, 0,
		     "The program itself holds %s at once, which no setting "
		     "changes.",
		     gp_bytes_text(s->live, live));
}

/* ---- the proof ---- */

static void print_oom(const struct gp_page *page, const struct gp_trial *trial)
{
	const struct gp_oom *oom = &trial->first_oom;
	char event[GP_COUNT_TEXT], size[GP_BYTES_TEXT], left[GP_BYTES_TEXT];
	char allocated[GP_BYTES_TEXT], reserved[GP_BYTES_TEXT];
	char largest[GP_BYTES_TEXT];

	if (!oom->is_there)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 0,
		     "As recorded it runs out of memory at event %s: no room "
		     "for %s, with %s reserved, %s allocated, %s left on the "
		     "device and %s the largest free piece. That is %s.",
		     gp_count_text(oom->event, event),
		     gp_bytes_text(oom->size, size),
		     gp_bytes_text(oom->reserved, reserved),
		     gp_bytes_text(oom->allocated, allocated),
		     gp_bytes_text(oom->device_free, left),
		     gp_bytes_text(oom->largest_free, largest),
		     oom->cause == GP_CAUSE_FRAGMENTATION
			     ? "fragmentation: together it would be enough"
			     : "capacity: even together it is not enough");
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
	char x[GP_COUNT_TEXT], y[GP_COUNT_TEXT];

	print_number(page, label, gp_count_text(a, x),
		     b ? gp_count_text(*b, y) : NULL);
}

/* b NULL: there is only one. */
static void print_numbers(const struct gp_page *page, const struct gp_trial *a,
			  const struct gp_trial *b)
{
	char x[GP_COUNT_TEXT], y[GP_COUNT_TEXT];

	gp_page_blank(page);
	print_number(page, "", "as recorded", b ? "suggested" : NULL);
	print_count(page, "OOMs", a->ooms, b ? &b->ooms : NULL);
	print_count(page, "Alloc retries", a->retries, b ? &b->retries : NULL);
	if (b)
		print_number(page, "Smallest device", gp_bytes_text(a->need, x),
			     gp_bytes_text(b->need, y));
	print_number(page, "Peak reserved", gp_bytes_text(a->peak_reserved, x),
		     b ? gp_bytes_text(b->peak_reserved, y) : NULL);
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
	char matched[GP_COUNT_TEXT], checked[GP_COUNT_TEXT];

	gp_page_blank(page);
	if (report->checked)
		gp_page_line(page,
			     report->matched == report->checked ? GP_TONE_GOOD
								: GP_TONE_BAD,
			     0,
			     "Fidelity: %s of %s recorded addresses come out "
			     "the same.",
			     gp_count_text(report->matched, matched),
			     gp_count_text(report->checked, checked));
	else
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "Fidelity: the trace has no addresses to compare "
			     "with.");
}

/* ---- what cannot be used ---- */

static void print_constraint(const struct gp_page *page,
			     const struct gp_suggest_report *report)
{
	const struct gp_suggestion *s = report->suggestion;
	const struct gp_trial *free, *chosen = chosen_of(report);
	char less[GP_BYTES_TEXT], a[GP_COUNT_TEXT], b[GP_COUNT_TEXT];

	if (s->unconstrained >= s->count ||
	    !s->trials[s->unconstrained].is_excluded)
		return;
	free = &s->trials[s->unconstrained];
	gp_page_blank(page);
	if (s->verdict == GP_CAPACITY) {
		gp_page_line(page, GP_TONE_BAD, 0,
			     "%s would fit, with %s to spare, but is not to be "
			     "used.",
			     free->conf, gp_bytes_text(free->spare, less));
		return;
	}
	if (free->need < chosen->need)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "With %s, which is not to be used, a device %s "
			     "smaller would do.",
			     free->conf,
			     gp_bytes_text(chosen->need - free->need, less));
	if (free->time_us < chosen->time_us)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "With %s, which is not to be used, device calls "
			     "would take %s instead of %s.",
			     free->conf, time_text(free->time_us, a),
			     time_text(chosen->time_us, b));
}

/* ---- all that was tried ---- */

#define NAME 38

static void print_trial(const struct gp_page *page,
			const struct gp_suggestion *s, size_t index)
{
	const struct gp_trial *trial = &s->trials[index];
	char reserved[GP_BYTES_TEXT], time[GP_COUNT_TEXT];
	const char *name = gp_head_settings(trial->conf);
	bool is_answer = index == s->chosen && s->verdict != GP_CAPACITY;

	fprintf(page->out, "%c ", is_answer ? '*' : ' ');
	if (strlen(name) < NAME)
		fprintf(page->out, "%-*s", NAME, name);
	else
		fprintf(page->out, "%s\n%*s", name, NAME + 2, "");
	if (*trial->refusal) {
		fprintf(page->out, "  %.36s\n", "not in this release");
		return;
	}
	fprintf(page->out, "%5" PRIu64 "%8" PRIu64 "%12s%12s%s\n", trial->ooms,
		trial->retries, gp_bytes_text(trial->peak_reserved, reserved),
		time_text(trial->time_us, time),
		trial->is_excluded ? "  x" : "");
}

static void print_trials(const struct gp_page *page,
			 const struct gp_suggestion *s)
{
	bool is_any_excluded = false;

	gp_page_blank(page);
	fprintf(page->out, "%-*s%5s%8s%12s%12s\n", NAME + 2,
		"Tried, the least unusual first", "OOMs", "retries", "reserved",
		"time");
	for (size_t i = 0; i < s->count; i++) {
		print_trial(page, s, i);
		is_any_excluded |= s->trials[i].is_excluded;
	}
	if (s->verdict == GP_CHANGE)
		gp_page_line(page, GP_TONE_PLAIN, 0,
			     "* the first of those that have no OOM, take at "
			     "most twice the least time, and then need about "
			     "the smallest device (within 1 %% of %s)",
			     s->is_open ? "that" : "the capacity");
	if (is_any_excluded)
		gp_page_line(page, GP_TONE_PLAIN, 0, "x not to be used");
}

/* ---- the whole ---- */

static void print_head(const struct gp_page *page,
		       const struct gp_suggest_report *report)
{
	const struct gp_suggestion *s = report->suggestion;
	char capacity[GP_BYTES_TEXT] = "no device";

	if (report->trace->device_count)
		gp_bytes_text(report->capacity[0], capacity);
	if (s->is_open)
		gp_page_line(page, GP_TONE_TITLE, 0, "%s: the smallest device",
			     gp_page_name(report->path));
	else
		gp_page_line(page, GP_TONE_TITLE, 0, "%s on %s of memory",
			     gp_page_name(report->path), capacity);
	gp_head_release(page, report->release, report->choice);
	gp_page_field(page, "Settings", "%s, as recorded",
		      gp_head_settings(s->trials[0].conf));
	if (gp_trace_has_start(report->trace))
		gp_page_field(page, "Coverage",
			      "a window; what it begins with stays as it was "
			      "recorded under every setting");
	if (report->capacity_below)
		gp_page_field(page, "Memory",
			      "less than %s, as a request was refused; the "
			      "least that was enough is taken",
			      gp_bytes_text(report->capacity_below, capacity));
	if (s->is_open)
		gp_page_field(page, "Memory",
			      "no limit is known; --capacity 80GiB asks what "
			      "fits that");
	gp_page_blank(page);
}

void gp_report_suggest_text(const struct gp_suggest_report *report,
			    const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);
	const struct gp_suggestion *s = report->suggestion;

	print_head(&page, report);
	if (s->verdict == GP_KEEP && s->is_open)
		print_open_keep(&page, &s->trials[0]);
	else if (s->verdict == GP_KEEP)
		print_keep(&page, &s->trials[0]);
	else if (s->verdict == GP_CHANGE)
		print_change(&page, s);
	else
		print_capacity(&page, report);
	print_constraint(&page, report);
	print_oom(&page, &s->trials[0]);
	print_numbers(&page, &s->trials[0],
		      s->verdict == GP_CHANGE ? chosen_of(report) : NULL);
	print_proof(&page, report);
	print_trials(&page, s);
}
