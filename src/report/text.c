/* SPDX-License-Identifier: MIT */
/* A run for a person, most important first, with details after the first
 * screen; or two runs side by side. */
#include "report/report.h"

#include <math.h>
#include <stdio.h>

#include "base/bytes.h"
#include "gpupool/metrics.h"
#include "report/device_calls.h"
#include "report/drawing.h"
#include "report/group.h"
#include "report/head.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/trouble.h"

#define DRAWING_ROWS 6 /* a report's first screen is 24 lines */

/* Room for a row's note. */
#define NOTE_TEXT 192

static void bytes_row(const struct gp_page *page, enum gp_measure_id id,
		      const char *label, const struct gp_subject *subject,
		      const char *note)
{
	char value[GP_BYTES_TEXT];

	gp_page_row(page,
		    &(struct gp_page_row){
			    label,
			    gp_bytes_text(gp_measure_count(id, subject), value),
			    note, GP_TONE_PLAIN });
}

/* A value of the recording, next to that of the replay. */
static void recorded_row(const struct gp_page *page, enum gp_measure_id id,
			 const struct gp_subject *subject)
{
	if (gp_measure_is_known(id, subject))
		bytes_row(page, id, gp_measures[id].label, subject,
			  "at the peak, as the recording itself says");
}

static void print_peak(const struct gp_page *page, const struct gp_trace *trace,
		       uint32_t device, const struct gp_replay_result *result)
{
	struct gp_subject peak = gp_at_peak(result);
	char note[NOTE_TEXT + GP_EVENT_TEXT], event[GP_EVENT_TEXT];
	char percent[GP_PERCENT_TEXT];

	snprintf(note, sizeof(note), "held from the device, at %s",
		 result->peak_is_from_start && result->at_peak.reserved
			 ? "the start of the trace"
			 : gp_event_words(trace, device, result->at_peak.event,
					  event));
	bytes_row(page, GP_PEAK_RESERVED, "Peak reserved", &peak, note);
	recorded_row(page, GP_RECORDED_RESERVED, &peak);
	bytes_row(page, GP_ALLOCATED, "  allocated", &peak,
		  "in use by tensors at that moment");
	snprintf(note, sizeof(note), "held but not in use: %s of the peak",
		 gp_percent_text(gp_measure_ratio(GP_FRAGMENTATION, &peak),
				 percent));
	bytes_row(page, GP_GAP, "  gap", &peak, note);
	bytes_row(page, GP_INACTIVE_SPLIT, "  inactive_split", &peak,
		  "free pieces in segments that are partly in use");
	bytes_row(page, GP_PEAK_ALLOCATED, "Peak allocated", &peak,
		  "most in use at any moment");
	recorded_row(page, GP_RECORDED_ALLOCATED, &peak);
}

/* Takes the place of the replay's peak, which would be mistaken for exact. */
static void print_estimate(const struct gp_page *page,
			   const struct gp_replay_result *result,
			   const struct gp_estimate *estimate)
{
	struct gp_subject peak = gp_at_peak(result);
	char value[GP_BYTES_TEXT], note[GP_ESTIMATE_TEXT];

	gp_page_row(page,
		    &(struct gp_page_row){
			    "Peak reserved",
			    gp_bytes_text(estimate->reserved, value),
			    gp_estimate_text(estimate, note), GP_TONE_PLAIN });
	bytes_row(page, GP_PEAK_ALLOCATED, "Peak allocated", &peak,
		  "most in use at any moment");
}

static void count_row(const struct gp_page *page, const char *label,
		      uint64_t count, const char *note, enum gp_tone tone)
{
	char value[GP_COUNT_TEXT];

	gp_page_row(page,
		    &(struct gp_page_row){ label, gp_count_text(count, value),
					   note, tone });
}

static void print_ooms(const struct gp_page *page,
		       const struct gp_replay_result *result)
{
	char note[NOTE_TEXT];
	uint64_t ooms = result->ooms.count;

	snprintf(note, sizeof(note), "%s not served; the first is below",
		 GP_PLURAL(result->dropped, "request"));
	count_row(page, "Alloc retries", (uint64_t)result->counts.retries,
		  "no memory left: cache emptied, tried again", GP_TONE_PLAIN);
	count_row(page, "OOMs", ooms, ooms ? note : "",
		  ooms ? GP_TONE_BAD : GP_TONE_PLAIN);
}

static void print_calls(const struct gp_page *page,
			const struct gp_replay_result *result)
{
	struct gp_subject end = gp_at_end(result);
	const struct gp_device_calls *calls = &result->calls;
	char note[NOTE_TEXT], percent[GP_PERCENT_TEXT];

	snprintf(note, sizeof(note),
		 "%s cudaFree; %s of requests from the cache",
		 GP_COUNT(calls->free),
		 gp_percent_text(gp_measure_ratio(GP_HIT_RATE, &end), percent));
	count_row(page, "cudaMalloc calls", calls->malloc, note, GP_TONE_PLAIN);
	if (!calls->map)
		return;
	snprintf(note, sizeof(note),
		 "of expandable segments; %s unmapped again",
		 GP_COUNT(calls->unmap));
	count_row(page, "Pages mapped", calls->map, note, GP_TONE_PLAIN);
}

static bool is_faithful(const struct gp_fidelity *fidelity)
{
	return fidelity->matched == fidelity->checked &&
	       fidelity->segments_matched == fidelity->segments_checked;
}

static void print_fidelity(const struct gp_page *page,
			   const struct gp_fidelity *fidelity,
			   const struct gp_guesses *guesses)
{
	char note[NOTE_TEXT], value[GP_PERCENT_TEXT];
	uint64_t guessed = gp_guess_total(guesses);

	if (!fidelity->checked)
		return;
	snprintf(note, sizeof(note), "%s of %s addresses as recorded%s%s",
		 GP_COUNT(fidelity->matched), GP_COUNT(fidelity->checked),
		 guessed ? ", with " : "",
		 guessed ? GP_PLURAL(guessed, "guess") : "");
	gp_page_row(
		page,
		&(struct gp_page_row){
			"Fidelity",
			gp_percent_text((double)fidelity->matched /
						(double)fidelity->checked,
					value),
			note,
			is_faithful(fidelity) ? GP_TONE_GOOD : GP_TONE_BAD });
}

/* A failed verification is reported first. */
static void print_alarm(const struct gp_page *page,
			const struct gp_fidelity *fidelity)
{
	if (is_faithful(fidelity))
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_BAD, 2,
		     "NOT AS RECORDED: %s of %s addresses and %llu of %llu "
		     "segments differ. Do not trust the numbers below before "
		     "the first difference is understood.",
		     GP_COUNT(fidelity->checked - fidelity->matched),
		     GP_COUNT(fidelity->checked),
		     (unsigned long long)(fidelity->segments_checked -
					  fidelity->segments_matched),
		     (unsigned long long)fidelity->segments_checked);
}

static void print_numbers(const struct gp_page *page,
			  const struct gp_trace *trace, uint32_t device,
			  const struct gp_replay_result *result,
			  const struct gp_guesses *guesses,
			  const struct gp_estimate *estimate)
{
	char text[GP_RECORDED_TEXT];

	if (gp_recorded_more(&result->recorded, result->at_peak.reserved,
			     text)) {
		gp_page_blank(page);
		gp_page_line(page, GP_TONE_BAD, 2, "%s", text);
	}
	gp_page_blank(page);
	if (estimate)
		print_estimate(page, result, estimate);
	else
		print_peak(page, trace, device, result);
	print_ooms(page, result);
	print_calls(page, result);
	print_fidelity(page, &result->fidelity, guesses);
}

static void print_drawing(const struct gp_page *page,
			  const struct gp_trace *trace, uint32_t device,
			  const struct gp_replay_result *result,
			  uint64_t events)
{
	char peak[GP_EVENT_TEXT];
	struct gp_drawing drawing = {
		.timeline = &result->timeline,
		.events = events,
		.peak_event = result->at_peak.event,
		.peak = gp_event_when(trace, device, result->at_peak.event,
				      peak),
		.rows = DRAWING_ROWS,
	};

	gp_page_blank(page);
	gp_drawing_print(&drawing, page->style, page->out);
}

static void print_state(const struct gp_page *page,
			const struct gp_report *report,
			const struct gp_device_trace *device)
{
	const struct gp_state *state =
		device->end.segment_count ? &device->end : &device->start;

	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 0, "Nothing to replay: %s",
		     gp_trace_has_state(device)
			     ? "the file has no requests of this device, "
			       "only the state of its memory."
			     : "the file has no requests of this device.");
	gp_group_print(page, report->trace, state, "As recorded");
}

static void print_device(const struct gp_page *page,
			 const struct gp_report *report, size_t i)
{
	const struct gp_device_trace *device = &report->trace->devices[i];
	const struct gp_run *run = report->runs;
	const struct gp_replay_result *result = &run->results[i];
	const struct gp_estimate *estimate = gp_run_estimate(run, i);

	if (i)
		gp_page_blank(page);
	gp_head_device(page, report, run, i);
	if (!result->requests) {
		print_state(page, report, device);
		return;
	}
	print_alarm(page, &result->fidelity);
	print_numbers(page, report->trace, (uint32_t)i, result,
		      &device->guesses, estimate);
	if (estimate)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "The trace begins with memory in use, cached "
			     "under other settings: %s. The rest describes a "
			     "replay that begins with that memory.",
			     estimate->how);
	print_drawing(page, report->trace, (uint32_t)i, result,
		      device->event_count);
	gp_device_calls_print(page, report->trace, (uint32_t)i, result);
	gp_trouble_oom(page, report->trace, (uint32_t)i, &result->first_oom);
	gp_trouble_no_room(page, report->trace, (uint32_t)i, &result->others);
	gp_trouble_refusal(page, report->trace, (uint32_t)i, result);
	gp_trouble_mismatch(page, report->trace, (uint32_t)i,
			    &result->fidelity.first);
	gp_group_print(page, report->trace, &result->end, "At the end");
	gp_guess_print(page, &device->guesses);
}

static const char *mode_words(const struct gp_run *run)
{
	if (run->cuda)
		return "replayed on a real device";
	return run->mode == GP_VERIFY ? "replayed as recorded"
				      : "replayed on a simulated device";
}

static void print_run(const struct gp_page *page,
		      const struct gp_report *report)
{
	char title[RANKS_TITLE];

	gp_page_line(page, GP_TONE_TITLE, 2, "%s: %s",
		     ranks_run_title(report->ranks, report->rank_runs,
				     report->path, title),
		     mode_words(report->runs));
	ranks_head(page, report->ranks, RANKS_OWN_SETTINGS);
	gp_head_run(page, report, report->runs);
	ranks_runs(page, report->rank_runs);
	if (report->rank_runs)
		gp_page_blank(page);
	if (!report->trace->device_count)
		gp_head_nothing(page);
	for (size_t i = 0; i < report->trace->device_count; i++)
		print_device(page, report, i);
}

/* ---- two runs of one trace, side by side: a column each, and the difference
 * ---- */

#define PAIR_ROWS  5
#define LABEL	   22
#define VALUE	   13
#define DIFFERENCE 13

enum when { PEAK, END };

static const struct {
	const char *label;
	const struct gp_measure *measure;
	enum when when;
	const char *alone; /* its label without the first row; NULL: the same */
} rows[] = {
	{ "Peak reserved", &gp_measures[GP_PEAK_RESERVED], PEAK, NULL },
	{ "  allocated then", &gp_measures[GP_ALLOCATED], PEAK, NULL },
	{ "  gap", &gp_measures[GP_GAP], PEAK, NULL },
	{ "  fragmentation", &gp_measures[GP_FRAGMENTATION], PEAK, NULL },
	{ "  inactive_split", &gp_measures[GP_INACTIVE_SPLIT], PEAK, NULL },
	{ "Peak allocated", &gp_measures[GP_PEAK_ALLOCATED], PEAK, NULL },
	{ "Alloc retries", &gp_measures[GP_NUM_RETRIES], END, NULL },
	{ "OOMs", &gp_measures[GP_NUM_OOMS], END, NULL },
	{ "cudaMalloc calls", &gp_measures[GP_CALLS_MALLOC], END, NULL },
	{ "cudaFree calls", &gp_measures[GP_CALLS_FREE], END, NULL },
	{ "Pages mapped", &gp_measures[GP_CALLS_MAP], END, NULL },
	{ "Served from cache", &gp_measures[GP_HIT_RATE], END, NULL },
	{ "At the end: reserved", &gp_measures[GP_RESERVED], END, NULL },
	{ "  allocated", &gp_measures[GP_ALLOCATED], END,
	  "At the end: allocated" },
};

/* A measure of both runs. */
struct pair {
	const struct gp_measure *measure;
	struct gp_subject a, b;
};

/* "+4.59 GiB" and "+42 %"; "" if both are the same. */
static void difference_of_counts(const struct pair *pair, char *text,
				 char *percent)
{
	uint64_t a = pair->measure->count(&pair->a);
	uint64_t b = pair->measure->count(&pair->b);
	uint64_t by = a > b ? a - b : b - a;

	if (!by)
		return;
	if (pair->measure->unit == GP_UNIT_BYTES)
		gp_bytes_change(a, b, text);
	else
		snprintf(text, GP_COUNT_TEXT + 1, "%c%s", b > a ? '+' : '-',
			 GP_COUNT(by));
	gp_percent_change((double)a, (double)b, percent);
}

static void difference_of_ratios(const struct pair *pair, char *text)
{
	double by =
		pair->measure->ratio(&pair->b) - pair->measure->ratio(&pair->a);

	if (fabs(by) >= 0.0005)
		snprintf(text, GP_COUNT_TEXT, "%+.1f points", by * 100);
}

static void print_pair(const struct gp_page *page, const char *label,
		       const struct pair *pair)
{
	char a[GP_COUNT_TEXT], b[GP_COUNT_TEXT];
	char difference[GP_COUNT_TEXT + 1] = "=",
					percent[GP_PERCENT_CHANGE] = "";

	gp_measure_text(pair->measure, &pair->a, a);
	gp_measure_text(pair->measure, &pair->b, b);
	if (pair->measure->unit == GP_UNIT_RATIO)
		difference_of_ratios(pair, difference);
	else
		difference_of_counts(pair, difference, percent);
	fprintf(page->out, "%-*s%*s%*s%*s", LABEL, label, VALUE, a, VALUE, b,
		DIFFERENCE, difference);
	if (*percent && page->columns >= 72)
		fprintf(page->out, "  %9s", percent);
	putc('\n', page->out);
}

/* Whether the measure is only estimated, because the replay begins with memory
 * cached under other settings. */
static bool is_estimated(const struct gp_measure *measure, enum when when)
{
	return (when == PEAK && measure != &gp_measures[GP_PEAK_ALLOCATED]) ||
	       measure == &gp_measures[GP_RESERVED];
}

static void compare_numbers(const struct gp_page *page,
			    const struct gp_replay_result *a,
			    const struct gp_replay_result *b,
			    const struct gp_estimate *estimate)
{
	gp_page_blank(page);
	fprintf(page->out, "%-*s%*s%*s%*s\n", LABEL, "", VALUE, "A", VALUE, "B",
		DIFFERENCE, "B - A");
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bool at_peak = rows[i].when == PEAK;
		struct pair pair = {
			rows[i].measure,
			at_peak ? gp_at_peak(a) : gp_at_end(a),
			at_peak ? gp_at_peak(b) : gp_at_end(b),
		};

		if (rows[i].measure == &gp_measures[GP_CALLS_MAP] &&
		    !a->calls.map && !b->calls.map)
			continue;
		if (estimate && is_estimated(rows[i].measure, rows[i].when))
			continue;
		print_pair(page,
			   estimate && rows[i].alone ? rows[i].alone
						     : rows[i].label,
			   &pair);
	}
}

static void print_verdict(const struct gp_page *page,
			  const struct gp_replay_result *a,
			  const struct gp_replay_result *b,
			  const struct gp_estimate *estimate)
{
	uint64_t ra = a->at_peak.reserved;
	uint64_t rb = estimate ? estimate->reserved : b->at_peak.reserved;
	uint64_t oa = a->ooms.count, ob = b->ooms.count;
	char percent[GP_PERCENT_CHANGE];

	if (oa != ob)
		gp_page_line(page, ob > oa ? GP_TONE_BAD : GP_TONE_GOOD, 2,
			     "%s has %s, %s %lld.", ob > oa ? "B" : "A",
			     GP_PLURAL(ob > oa ? ob : oa, "OOM"),
			     ob > oa ? "A" : "B",
			     (long long)(ob > oa ? oa : ob));
	else if (ra == rb)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Both reserve the same at their peaks.");
	else
		gp_page_line(page, rb > ra ? GP_TONE_BAD : GP_TONE_GOOD, 2,
			     "B reserves %s %s than A at the peak%s.",
			     GP_BYTES(rb > ra ? rb - ra : ra - rb),
			     rb > ra ? "more" : "less",
			     gp_percent_aside((double)ra, (double)rb, percent));
}

static void print_estimate_of_b(const struct gp_page *page,
				const struct gp_estimate *estimate)
{
	char text[GP_ESTIMATE_TEXT];

	if (estimate)
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "B's peak is %s; the trace begins with memory in "
			     "use, cached under other settings: %s.",
			     gp_estimate_text(estimate, text), estimate->how);
}

static void print_matched(const struct gp_page *page, const char *name,
			  const struct gp_run *run, size_t device)
{
	const struct gp_fidelity *f = &run->results[device].fidelity;

	if (f->checked)
		gp_page_line(page,
			     f->matched == f->checked ? GP_TONE_GOOD
						      : GP_TONE_BAD,
			     2, "%s: %s of %s addresses as recorded.", name,
			     GP_COUNT(f->matched), GP_COUNT(f->checked));
}

/* Draws both runs on the same scale. */
static void print_drawings(const struct gp_page *page,
			   const struct gp_report *report, size_t device)
{
	static const char *const names[] = { "A", "B" };
	const struct gp_replay_result *results[] = {
		&report->runs[0].results[device],
		&report->runs[1].results[device],
	};
	uint64_t a = gp_drawing_top(&results[0]->timeline);
	uint64_t b = gp_drawing_top(&results[1]->timeline);

	for (size_t i = 0; i < 2; i++) {
		char peak[GP_EVENT_TEXT];
		struct gp_drawing drawing = {
			.timeline = &results[i]->timeline,
			.events = gp_head_events(report, &report->runs[i],
						 device),
			.peak_event = results[i]->at_peak.event,
			.peak = gp_event_when(report->trace, (uint32_t)device,
					      results[i]->at_peak.event, peak),
			.top = a > b ? a : b,
			.rows = PAIR_ROWS,
		};

		gp_page_blank(page);
		gp_page_line(page, GP_TONE_TITLE, 0, "%s", names[i]);
		gp_drawing_print(&drawing, page->style, page->out);
	}
}

static void compare_device(const struct gp_page *page,
			   const struct gp_report *report, size_t device)
{
	const struct gp_replay_result *a = &report->runs[0].results[device];
	const struct gp_replay_result *b = &report->runs[1].results[device];
	const struct gp_estimate *estimate =
		gp_run_estimate(&report->runs[1], device);
	char text[GP_RECORDED_TEXT];

	gp_page_blank(page);
	if (report->trace->device_count > 1)
		gp_page_line(page, GP_TONE_TITLE, 0, "Device %u",
			     report->trace->devices[device].device);
	if (!a->requests) {
		gp_page_line(page, GP_TONE_PLAIN, 2,
			     "Nothing to replay: the file has no requests of "
			     "this device.");
		return;
	}
	if (gp_recorded_more(&a->recorded, a->at_peak.reserved, text)) {
		gp_page_line(page, GP_TONE_BAD, 2, "%s", text);
		gp_page_blank(page);
	}
	print_verdict(page, a, b, estimate);
	gp_head_refused_room(page, report, &report->runs[1], device);
	print_estimate_of_b(page, estimate);
	compare_numbers(page, a, b, estimate);
	print_matched(page, "A", &report->runs[0], device);
	print_drawings(page, report, device);
	gp_device_calls_print(page, report->trace, (uint32_t)device, b);
	gp_trouble_oom(page, report->trace, device, &b->first_oom);
	gp_trouble_no_room(page, report->trace, device, &b->others);
	gp_trouble_refusal(page, report->trace, device, b);
	gp_trouble_mismatch(page, report->trace, device, &a->fidelity.first);
}

static void print_side(const struct gp_page *page, const char *name,
		       const struct gp_run *run, size_t devices)
{
	const char *engine = gp_head_engine(run->engine);
	char memory[GP_HEAD_MEMORY];

	gp_page_line(page, GP_TONE_PLAIN, 3,
		     "%s  %s%s%s; PyTorch 2.%u; memory: %s", name,
		     engine ? engine : "", engine ? "; " : "",
		     gp_head_settings(run->conf), run->settings->release,
		     gp_head_memory(run->mode, run->capacity, devices, memory));
	gp_head_what_ifs(page, run->what_ifs);
}

static void print_both(const struct gp_page *page,
		       const struct gp_report *report)
{
	char title[RANKS_TITLE];

	gp_page_line(page, GP_TONE_TITLE, 2, "%s: %s (A) and %s (B)",
		     ranks_run_title(report->ranks, report->rank_runs,
				     report->path, title),
		     report->runs[0].mode == GP_VERIFY ||
				     !report->runs[1].what_ifs
			     ? "as recorded"
			     : "as it is",
		     report->runs[1].what_ifs ? "what if"
		     : gp_head_engine(report->runs[1].engine)
			     ? "by another allocator"
			     : "with other settings");
	for (int i = 0; i < 2; i++)
		print_side(page, i ? "B" : "A", &report->runs[i],
			   report->trace->device_count);
	gp_head_doubts(page, report->trace);
	ranks_head(page, report->ranks, RANKS_OWN_SETTINGS);
	ranks_runs(page, report->rank_runs);
	for (size_t i = 0; i < report->trace->device_count; i++)
		compare_device(page, report, i);
}

void gp_report_text(const struct gp_report *report,
		    const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	if (report->run_count == 2)
		print_both(&page, report);
	else
		print_run(&page, report);
	gp_head_timing(&page, report->timing);
}
