/* SPDX-License-Identifier: MIT */
/* How small the device may be: for a person, as JSON and as a table. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "gpupool/device.h"
#include "report/emit.h"
#include "report/head.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/report.h"
#include "report/schema.h"
#include "report/verdict.h"
#include "report/object.h"

#define MIB (UINT64_C(1) << 20)
#define BAR 16 /* columns of the longest */

/* Capacities are whole MiB, in a form that can be used on a command line. */
#define MIB_TEXT 24
static const char *mib_text(uint64_t bytes, char text[MIB_TEXT])
{
	snprintf(text, MIB_TEXT, "%" PRIu64 "MiB", bytes / MIB);
	return text;
}

static const char *bound_text(const struct gp_headroom_bound *bound,
			      char text[MIB_TEXT])
{
	if (!bound->is_there)
		return "none";
	return mib_text(bound->capacity, text);
}

/* ---- the answer ---- */

/* NULL: the replay is exact, because it begins with nothing or with what was
 * cached under its own settings. */
static const struct gp_estimate *estimate_of(
	const struct gp_headroom_report *report, size_t run, size_t device)
{
	const struct gp_estimate *one = &report->runs[run].estimates[device];

	return one->is_there ? one : NULL;
}

/* If a recording had more reserved than its requests explain, the answer is
 * only about those requests. */
static void print_answer(const struct gp_page *page,
			 const struct gp_headroom *h,
			 const struct gp_verdict *verdict,
			 const struct gp_estimate *estimate)
{
	const char *who = verdict->recorded ? "what the trace holds"
			  : estimate ? "a replay from what the trace begins "
				       "with"
				     : "it";
	const struct gp_headroom_bound *oom = &h->bounds[GP_NO_OOM];
	const struct gp_headroom_bound *retry = &h->bounds[GP_NO_RETRY];
	const char *most = h->start_reserved > h->live ? "at most " : "";
	char a[MIB_TEXT], b[MIB_TEXT], bounds[GP_ESTIMATE_TEXT];

	if (estimate)
		gp_page_line(page, GP_TONE_TITLE, 2, "It needs %s, %s.",
			     GP_BYTES(estimate->reserved),
			     gp_estimate_text(estimate, bounds));
	if (!oom->is_there) {
		gp_page_line(page, GP_TONE_BAD, 2,
			     "With the settings as they are, no device is "
			     "large enough: a request fails however much "
			     "memory there is.");
		return;
	}
	gp_page_line(page, GP_TONE_TITLE, 2,
		     "Without an out-of-memory error %s needs %s%s (%s).", who,
		     oom->capacity == h->least ? most : "",
		     mib_text(oom->capacity, a), GP_BYTES(oom->capacity));
	if (retry->is_there)
		gp_page_line(page, GP_TONE_TITLE, 2,
			     "Without a retry %s needs %s%s (%s).", who,
			     retry->capacity == h->least ? most : "",
			     mib_text(retry->capacity, b),
			     GP_BYTES(retry->capacity));
}

/* The verdict on the capacity that was asked for or recorded; prints nothing
 * without one. */
static void print_verdict(const struct gp_page *page,
			  const struct gp_verdict *v)
{
	bool is_on_one = v->capacity != GP_UNLIMITED;
	struct gp_verdict as_it_is = *v;
	struct gp_words limits;

	if (is_on_one) {
		gp_page_line(page,
			     verdict_is_bad(v) ? GP_TONE_BAD : GP_TONE_PLAIN, 2,
			     "On %s: %s", GP_BYTES(v->capacity),
			     verdict_sentence(v).text);
		if (v->conf)
			verdict_print_line(page, "    ", v);
	}
	/* Without a capacity, nothing is said about other settings here. */
	if (!is_on_one) {
		as_it_is.conf = NULL;
		as_it_is.high = 0;
	}
	limits = verdict_limits(&as_it_is);
	if ((is_on_one || v->was_refused || v->recorded) && *limits.text)
		gp_page_line(page, GP_TONE_PLAIN, 2, "%s", limits.text);
}

static bool has_estimates(const struct gp_headroom_report *report,
			  size_t device)
{
	for (size_t i = 0; i < report->run_count; i++)
		if (estimate_of(report, i, device))
			return true;
	return false;
}

static void print_floor(const struct gp_page *page,
			const struct gp_headroom_report *report, size_t device)
{
	const struct gp_headroom *h = &report->runs[0].devices[device];
	const struct gp_verdict *verdict =
		&report->study->verdicts[report->first_case + device];

	/* Otherwise the verdict on the given capacity has said it. */
	if (verdict->capacity == GP_UNLIMITED || !verdict_tells_live(verdict))
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The program itself holds %s at once, which no "
			     "setting changes.",
			     GP_BYTES(h->live));
	if (h->start_reserved > h->live)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The trace begins with %s reserved, below which "
			     "nothing was tried.",
			     GP_BYTES(h->start_reserved));
	if (has_estimates(report, device))
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "What the trace begins with was cached under the "
			     "recorded settings: under others, only the "
			     "estimates are of the whole program.");
	if (h->other)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Others use up to %s of the device, which is part "
			     "of these capacities.",
			     GP_BYTES(h->other));
}

/* ---- the settings side by side ---- */

#define NAME 40

static bool has_releases(const struct gp_headroom_report *report)
{
	for (size_t i = 1; i < report->run_count; i++)
		if (report->runs[i].settings->release !=
		    report->runs[0].settings->release)
			return true;
	return false;
}

/* The settings, and the release if there are several. */
#define LABEL_TEXT 512
static const char *label_of(const struct gp_headroom_report *report, size_t run,
			    char text[LABEL_TEXT])
{
	const struct gp_headroom_run *r = &report->runs[run];

	if (!has_releases(report))
		return gp_head_settings(r->conf);
	snprintf(text, LABEL_TEXT, "%s; 2.%u", gp_head_settings(r->conf),
		 r->settings->release);
	return text;
}

static void print_row(const struct gp_page *page,
		      const struct gp_headroom_report *report, size_t run,
		      size_t device)
{
	const struct gp_headroom *h = &report->runs[run].devices[device];
	const struct gp_estimate *estimate = estimate_of(report, run, device);
	char oom[MIB_TEXT], retry[MIB_TEXT], unlimited[MIB_TEXT];
	char text[LABEL_TEXT];
	const char *name = label_of(report, run, text);

	gp_page_cell(page, NAME, name);
	fprintf(page->out, "%12s%12s%12s\n",
		bound_text(&h->bounds[GP_NO_OOM], oom),
		bound_text(&h->bounds[GP_NO_RETRY], retry),
		mib_text(h->unlimited, unlimited));
	if (estimate)
		gp_page_line(page, GP_TONE_PLAIN, 4, "  needs %s, %s",
			     GP_BYTES(estimate->reserved),
			     gp_estimate_text(estimate, text));
}

static void print_rows(const struct gp_page *page,
		       const struct gp_headroom_report *report, size_t device)
{
	gp_page_blank(page);
	fprintf(page->out, "%-*s%12s%12s%12s\n", NAME, "", "no OOM", "no retry",
		"no limit");
	for (size_t i = 0; i < report->run_count; i++)
		print_row(page, report, i, device);
}

/* UINT64_MAX: no device is large enough. */
static uint64_t need_of(const struct gp_headroom_report *report, size_t run,
			size_t device)
{
	const struct gp_headroom_bound *bound =
		&report->runs[run].devices[device].bounds[GP_NO_OOM];
	const struct gp_estimate *estimate = estimate_of(report, run, device);

	return estimate		 ? estimate->reserved
	       : bound->is_there ? bound->capacity
				 : UINT64_MAX;
}

/* Prints which settings need the least memory. */
static void print_best(const struct gp_page *page,
		       const struct gp_headroom_report *report, size_t device)
{
	char capacity[MIB_TEXT], text[LABEL_TEXT], bounds[GP_ESTIMATE_TEXT];
	const struct gp_estimate *estimate;
	uint64_t least = UINT64_MAX;
	size_t best = 0;

	for (size_t i = 0; i < report->run_count; i++)
		if (need_of(report, i, device) < least) {
			least = need_of(report, i, device);
			best = i;
		}
	estimate = estimate_of(report, best, device);
	if (estimate)
		gp_page_line(page, GP_TONE_TITLE, 2,
			     "The least that is needed is %s, %s: %s.",
			     GP_BYTES(least),
			     gp_estimate_text(estimate, bounds),
			     label_of(report, best, text));
	else if (least != UINT64_MAX)
		gp_page_line(page, GP_TONE_TITLE, 2,
			     "Without an out-of-memory error the least is %s: "
			     "%s.",
			     mib_text(least, capacity),
			     label_of(report, best, text));
}

static void print_refused(const struct gp_page *page,
			  const struct gp_headroom_report *report)
{
	if (!report->refused_count)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_TITLE, 2, "PyTorch refuses");
	for (size_t i = 0; i < report->refused_count; i++)
		gp_page_line(page, GP_TONE_PLAIN, 4, "  %s (2.%u): %s",
			     gp_head_settings(report->refused[i].conf),
			     report->refused[i].release,
			     report->refused[i].reason);
}

/* ---- how well it is known ---- */

static void print_above(const struct gp_page *page,
			const struct gp_headroom_bound *bound, const char *what,
			bool is_settled)
{
	char top[MIB_TEXT], from[MIB_TEXT];

	if (!bound->is_there)
		return;
	mib_text(bound->capacity, from);
	if (bound->unknown_above)
		gp_page_line(page, GP_TONE_BAD, 2,
			     "  No %s from %s on, as far as tried: the "
			     "capacities tried are up to %s apart.",
			     what, from, GP_BYTES(bound->unknown_above));
	else if (is_settled)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "  No %s at any capacity from %s on.", what, from);
	else
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "  No %s at any capacity from %s to %s; larger "
			     "ones were not tried.",
			     what, from, mib_text(bound->top, top));
}

static const char *other_failures(const struct gp_headroom *h)
{
	for (size_t i = 0; i < h->point_count; i++)
		if (h->points[i].is_refused)
			return ", or a request that PyTorch refuses";
	return h->other ? ", or no room for the others" : "";
}

static void print_below(const struct gp_page *page, const struct gp_headroom *h)
{
	const struct gp_headroom_bound *bound = &h->bounds[GP_NO_OOM];
	char fine[MIB_TEXT];

	if (!bound->is_there || !bound->failing)
		return;
	if (bound->fine_below)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "  Some smaller capacities are enough, too, the "
			     "first at %s, but not all from there on.",
			     mib_text(bound->fine_below, fine));
	else if (!bound->unknown_below)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "  An OOM at every smaller one%s.",
			     other_failures(h));
	if (bound->unknown_below)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "  Below, a range of %s was not tried.",
			     GP_BYTES(bound->unknown_below));
}

static void print_known(const struct gp_page *page, const struct gp_headroom *h)
{
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "How certain that is (%s, in steps of 2 MiB):",
		     GP_PLURAL(h->replays, "replay"));
	print_above(page, &h->bounds[GP_NO_OOM], "OOM", h->is_settled);
	print_below(page, h);
	print_above(page, &h->bounds[GP_NO_RETRY], "retry", h->is_settled);
}

/* ---- the curve ---- */

static double time_of(const struct gp_prices *prices,
		      const struct gp_headroom_point *point)
{
	return gp_price_of(prices, &point->calls, point->synchronizes);
}

static double longest(const struct gp_prices *prices,
		      const struct gp_headroom *h)
{
	double most = 1;

	for (size_t i = 0; i < h->point_count; i++)
		if (time_of(prices, &h->points[i]) > most)
			most = time_of(prices, &h->points[i]);
	return most;
}

static const char *note_of(const struct gp_headroom *h,
			   const struct gp_headroom_point *point)
{
	bool oom = h->bounds[GP_NO_OOM].capacity == point->capacity;
	bool retry = h->bounds[GP_NO_RETRY].capacity == point->capacity;

	if (!point->ooms && !point->has_room)
		return "no room for others";
	if (!point->ooms && point->is_refused)
		return "refused";
	if (oom && retry)
		return "no OOM, no retry";
	return oom ? "no OOM" : retry ? "no retry" : "";
}

/* A point of the curve, with a bar relative to the longest. */
static void print_point(const struct gp_page *page, const struct gp_headroom *h,
			const struct gp_headroom_point *point, double time_us,
			double most_us)
{
	const char *ink = page->style->ascii ? "#" : "█";
	unsigned width = (unsigned)ceil(time_us * BAR / most_us);
	const char *note = note_of(h, point);
	char capacity[MIB_TEXT];

	fprintf(page->out, "%12s%8s%9s%11.1f ms  ",
		mib_text(point->capacity, capacity), GP_COUNT(point->ooms),
		GP_COUNT(point->retries), time_us / 1e3);
	for (unsigned i = 0; i < width; i++)
		fputs(ink, page->out);
	if (*note)
		fprintf(page->out, "%*s%s", (int)(BAR + 2 - width), "", note);
	putc('\n', page->out);
}

static void print_curve(const struct gp_page *page, const struct gp_headroom *h,
			const struct gp_prices *prices)
{
	double most_us = longest(prices, h);

	if (!h->point_count)
		return;
	gp_page_blank(page);
	fprintf(page->out, "%12s%8s%9s%14s\n", "capacity", "OOMs", "retries",
		"device calls");
	for (size_t i = 0; i < h->point_count; i++)
		print_point(page, h, &h->points[i],
			    time_of(prices, &h->points[i]), most_us);
	gp_page_line(page, GP_TONE_PLAIN, 0,
		     "(estimated time in calls of the device, without what "
		     "they wait for)");
}

/* A rank without requests needs what it holds, and possibly more. */
static void print_idle(const struct gp_page *page,
		       const struct gp_headroom_report *report)
{
	const struct gp_ranks *ranks = report->ranks;
	const struct gp_study *study = report->study;
	size_t busy = ranks ? gp_ranks_busy(ranks) : 0, most;
	char name[RANKS_TITLE];

	if (!busy || busy == ranks->count)
		return;
	most = ranks->classes[busy].first_case;
	for (size_t i = most; i < study->case_count; i++)
		if (study->verdicts[i].live > study->verdicts[most].live)
			most = i;
	if (most < study->case_count &&
	    study->verdicts[most].live >
		    study->verdicts[report->first_case].need_as_recorded)
		gp_page_line(page, GP_TONE_BAD, 2,
			     "%s, without requests, holds %s: it needs that at "
			     "least.",
			     ranks_name(ranks, most, name),
			     GP_BYTES(study->verdicts[most].live));
}

/* ---- the whole report ---- */

static void print_run(const struct gp_page *page,
		      const struct gp_headroom_report *report, size_t run,
		      size_t device)
{
	const struct gp_headroom *h = &report->runs[run].devices[device];
	char text[LABEL_TEXT];

	gp_page_blank(page);
	if (report->run_count > 1)
		gp_page_line(page, GP_TONE_TITLE, 2, "%s",
			     label_of(report, run, text));
	else
		print_floor(page, report, device);
	print_known(page, h);
	print_curve(page, h, report->prices);
}

/* The capacities that runs without requests need say nothing about the
 * program. */
static void print_unasked(const struct gp_page *page,
			  const struct gp_headroom *h, bool is_one)
{
	gp_page_line(page, GP_TONE_TITLE, 2, "Nothing is requested %s.",
		     is_one ? "in the trace" : "of this device");
	if (h->live)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The program holds %s: it needs that at least.",
			     GP_BYTES(h->live));
}

static void print_device(const struct gp_page *page,
			 const struct gp_headroom_report *report, size_t device)
{
	const struct gp_headroom *first = &report->runs[0].devices[device];
	const struct gp_verdict *verdict =
		&report->study->verdicts[report->first_case + device];

	gp_page_blank(page);
	if (report->trace->device_count > 1)
		gp_page_line(page, GP_TONE_TITLE, 0, "Device %u",
			     report->trace->devices[device].device);
	if (!gp_trace_has_allocs(&report->trace->devices[device])) {
		print_unasked(page, first, report->trace->device_count == 1);
		print_verdict(page, verdict);
		return;
	}
	if (report->run_count == 1) {
		print_answer(page, first, verdict,
			     estimate_of(report, 0, device));
		print_verdict(page, verdict);
	} else {
		print_best(page, report, device);
		print_verdict(page, verdict);
		print_floor(page, report, device);
		print_rows(page, report, device);
	}
	for (size_t i = 0; i < report->run_count; i++)
		print_run(page, report, i, device);
}

static void print_head(const struct gp_page *page,
		       const struct gp_headroom_report *report)
{
	const struct gp_headroom_run *run = &report->runs[0];

	char title[RANKS_TITLE];

	gp_page_line(page, GP_TONE_TITLE, 2,
		     "%s: the smallest device it runs on",
		     ranks_need_title(report->ranks, report->path, title));
	ranks_head(page, report->ranks, RANKS_ONE_SETTING);
	gp_head_doubts(page, report->trace);
	if (has_releases(report))
		return;
	gp_head_release(page, run->settings->release, run->choice);
	if (report->run_count == 1)
		gp_page_field(page, "Settings", "%s",
			      gp_head_settings(run->conf));
}

void gp_report_headroom_text(const struct gp_headroom_report *report,
			     const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	print_head(&page, report);
	if (report->ranks && report->ranks->count > 1)
		ranks_answer(&page, report->ranks, report->study,
			     report->first_case);
	ranks_table(&page, report->ranks, report->study);
	print_idle(&page, report);
	for (size_t i = 0; i < report->trace->device_count; i++)
		print_device(&page, report, i);
	print_refused(&page, report);
}

/* ---- for programs ---- */

static void write_bound(struct gp_emit *json, const char *key,
			const struct gp_headroom_bound *bound)
{
	gp_emit_object(json, key, "bound", bound->is_there ? bound : NULL,
		       GP_EMIT_LINES);
}

static uint64_t whole_us_of(const struct gp_prices *prices,
			    const struct gp_headroom_point *point)
{
	return gp_price_whole_us(prices, &point->calls, point->synchronizes);
}

static void write_point(struct gp_emit *json, const struct gp_prices *prices,
			const struct gp_headroom_point *point)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "capacity", point->capacity);
	gp_emit_outcome(json, point->peak_reserved, point->retries,
			point->ooms);
	gp_emit_count(json, GP_DEVICE_TIME, whole_us_of(prices, point));
	gp_emit_calls(json, &point->calls);
	gp_emit_close(json, '}');
}

static void write_device(struct gp_emit *json,
			 const struct gp_headroom_report *report, size_t run,
			 size_t device)
{
	const struct gp_headroom *h = &report->runs[run].devices[device];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "device", report->trace->devices[device].device);
	write_bound(json, "no_oom", &h->bounds[GP_NO_OOM]);
	write_bound(json, "no_retry", &h->bounds[GP_NO_RETRY]);
	gp_emit_count(json, GP_PEAK_RESERVED, h->unlimited);
	gp_emit_object(json, "estimate", "estimate",
		       estimate_of(report, run, device), GP_EMIT_LINES);
	gp_emit_uint(json, "grain", GP_DEVICE_GRAIN);
	gp_emit_uint(json, "live", h->live);
	gp_emit_count(json, GP_PEAK_ALLOCATED, h->peak_allocated);
	gp_emit_uint(json, "other", h->other);
	gp_emit_uint(json, "least_tried", h->least);
	if (h->goes_on_after_oom)
		gp_emit_uint(json, "goes_on_after_oom", h->recorded_oom);
	else
		gp_emit_null(json, "goes_on_after_oom");
	gp_emit_bool(json, "known_beyond", h->is_settled);
	gp_emit_uint(json, "replays", h->replays);
	gp_emit_open(json, "curve", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < h->point_count; i++)
		write_point(json, report->prices, &h->points[i]);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

static void write_run(struct gp_emit *json,
		      const struct gp_headroom_report *report, size_t index)
{
	const struct gp_headroom_run *run = &report->runs[index];

	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_settings(json, "settings", run->settings);
	gp_emit_text(json, "alloc_conf", run->conf);
	gp_emit_release(json, "torch", run->settings->release);
	gp_emit_open(json, "devices", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->trace->device_count; i++)
		write_device(json, report, index, i);
	gp_emit_close(json, ']');
	gp_emit_close(json, '}');
}

void gp_report_headroom_json(const struct gp_headroom_report *report, FILE *out)
{
	struct gp_emit json = gp_emit_begin(GP_REPORT_SCHEMA, out);

	gp_emit_trace_path(&json, report->path, report->trace);
	gp_emit_ranks(&json, report->ranks);
	if (report->ranks)
		gp_emit_rank_verdicts(&json, report->ranks, report->study);
	else
		gp_emit_verdicts(&json, report->trace, report->study);
	gp_emit_open(&json, "headroom", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->run_count; i++)
		write_run(&json, report, i);
	gp_emit_close(&json, ']');
	gp_emit_open(&json, "refused", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < report->refused_count; i++) {
		gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(&json, "alloc_conf", report->refused[i].conf);
		gp_emit_release(&json, "torch", report->refused[i].release);
		gp_emit_text(&json, "reason", report->refused[i].reason);
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
}

static void put_points(FILE *out, const struct gp_headroom_report *report,
		       const struct gp_headroom_run *run, size_t device)
{
	const struct gp_headroom *h = &run->devices[device];

	for (size_t i = 0; i < h->point_count; i++) {
		const struct gp_headroom_point *point = &h->points[i];

		gp_quote_csv(run->conf, out);
		fprintf(out,
			",%u,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
			",%" PRIu64 ",2.%u\n",
			report->trace->devices[device].device, point->capacity,
			point->ooms, point->retries, point->peak_reserved,
			point->calls.malloc, point->calls.free,
			point->calls.map, point->calls.unmap,
			whole_us_of(report->prices, point),
			run->settings->release);
	}
}

void gp_report_headroom_csv(const struct gp_headroom_report *report, FILE *out)
{
	fputs("settings,device,capacity,num_ooms,num_alloc_retries,"
	      "peak_reserved_bytes,device_calls.malloc,device_calls.free,"
	      "device_calls.map,device_calls.unmap,device_time_us,torch\n",
	      out);
	for (size_t i = 0; i < report->run_count; i++)
		for (size_t d = 0; d < report->trace->device_count; d++)
			put_points(out, report, &report->runs[i], d);
}
