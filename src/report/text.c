/* SPDX-License-Identifier: MIT */
/* A run for a person: most important first, a screen before the details. */
#include "report/report.h"

#include <stdio.h>

#include "base/bytes.h"
#include "gpupool/metrics.h"
#include "report/compare.h"
#include "report/device_calls.h"
#include "report/drawing.h"
#include "report/head.h"
#include "report/recording.h"
#include "report/page.h"
#include "report/ranks.h"
#include "report/group.h"
#include "report/trouble.h"

#define DRAWING_ROWS 6 /* a report's first screen is 24 lines */

/* What a row's note is put together in. */
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

/* Beside the replay's. */
static void recorded_row(const struct gp_page *page, enum gp_measure_id id,
			 const struct gp_subject *subject)
{
	if (gp_measure_is_known(id, subject))
		bytes_row(page, id, gp_measures[id].label, subject,
			  "at the most, as the recording itself says");
}

static void print_peak(const struct gp_page *page, const struct gp_trace *trace,
		       uint32_t device, const struct gp_replay_result *result)
{
	struct gp_subject peak = gp_at_peak(result);
	char note[NOTE_TEXT + GP_EVENT_TEXT], event[GP_EVENT_TEXT];
	char percent[GP_PERCENT_TEXT];

	snprintf(note, sizeof(note), "held from the device, at %s",
		 gp_event_words(trace, device, result->at_peak.event, event));
	bytes_row(page, GP_PEAK_RESERVED, "Peak reserved", &peak, note);
	recorded_row(page, GP_RECORDED_RESERVED, &peak);
	bytes_row(page, GP_ALLOCATED, "  allocated", &peak,
		  "in use by tensors at that moment");
	snprintf(note, sizeof(note), "held but not in use: %s of the peak",
		 gp_percent_text(gp_measure_ratio(GP_FRAGMENTATION, &peak),
				 percent));
	bytes_row(page, GP_GAP, "  gap", &peak, note);
	bytes_row(page, GP_INACTIVE_SPLIT, "  inactive_split", &peak,
		  "free pieces stuck in segments partly in use");
	bytes_row(page, GP_PEAK_ALLOCATED, "Peak allocated", &peak,
		  "most in use at any moment");
	recorded_row(page, GP_RECORDED_ALLOCATED, &peak);
}

/* What a replay from this start reserves would be taken for exact. */
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
	char note[NOTE_TEXT], count[GP_PLURAL_TEXT];
	uint64_t ooms = result->ooms.count;

	snprintf(note, sizeof(note), "%s not served; the first is below",
		 gp_plural_text(result->dropped, "request", count));
	count_row(page, "Alloc retries",
		  (uint64_t)result->stats.num_alloc_retries,
		  "no memory left: cache emptied, tried again", GP_TONE_PLAIN);
	count_row(page, "OOMs", ooms, ooms ? note : "",
		  ooms ? GP_TONE_BAD : GP_TONE_PLAIN);
}

static void print_calls(const struct gp_page *page,
			const struct gp_replay_result *result)
{
	struct gp_subject end = gp_at_end(result);
	const struct gp_device_calls *calls = &result->calls;
	char note[NOTE_TEXT], frees[GP_COUNT_TEXT], percent[GP_PERCENT_TEXT];

	snprintf(note, sizeof(note),
		 "%s cudaFree; %s of requests from the cache",
		 gp_count_text(calls->free, frees),
		 gp_percent_text(gp_measure_ratio(GP_HIT_RATE, &end), percent));
	count_row(page, "cudaMalloc calls", calls->malloc, note, GP_TONE_PLAIN);
	if (!calls->map)
		return;
	snprintf(note, sizeof(note),
		 "of expandable segments; %s unmapped again",
		 gp_count_text(calls->unmap, frees));
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
	char note[NOTE_TEXT], value[GP_PERCENT_TEXT], count[GP_PLURAL_TEXT];
	char matched[GP_COUNT_TEXT], checked[GP_COUNT_TEXT];
	uint64_t guessed = gp_guess_total(guesses);

	if (!fidelity->checked)
		return;
	snprintf(note, sizeof(note), "%s of %s addresses as recorded%s%s",
		 gp_count_text(fidelity->matched, matched),
		 gp_count_text(fidelity->checked, checked),
		 guessed ? ", with " : "",
		 guessed ? gp_plural_text(guessed, "guess", count) : "");
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

/* A verification that failed is the first thing to know. */
static void print_alarm(const struct gp_page *page,
			const struct gp_fidelity *fidelity)
{
	char wrong[GP_COUNT_TEXT], checked[GP_COUNT_TEXT];

	if (is_faithful(fidelity))
		return;
	gp_page_blank(page);
	gp_page_line(
		page, GP_TONE_BAD, 2,
		"NOT AS RECORDED: %s of %s addresses and %llu of %llu "
		"segments differ. Do not trust the numbers below before "
		"the first difference is understood.",
		gp_count_text(fidelity->checked - fidelity->matched, wrong),
		gp_count_text(fidelity->checked, checked),
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
	bool has_state = device->end.segment_count;

	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 0, "Nothing to replay: %s",
		     has_state ? "the file has no requests of this device, "
				 "only the state of its memory."
			       : "the file has no requests of this device.");
	gp_group_print(page, report->trace, &device->end, "As recorded");
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
			     "under other settings: %s. The rest is of a "
			     "replay from that memory.",
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
		return "replayed with a device's own memory";
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

void gp_report_text(const struct gp_report *report,
		    const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	if (report->run_count == 2)
		gp_compare_print(&page, report);
	else
		print_run(&page, report);
	gp_head_timing(&page, report->timing);
}
