/* SPDX-License-Identifier: MIT */
/* The head of a report, and what the recording says about itself. */
#include "report/head.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "gpupool/allocator.h"

/* ---- what a recording says about itself ---- */

const char *gp_recorded_more(const struct gp_recorded *recorded,
			     uint64_t replayed, char text[GP_RECORDED_TEXT])
{
	int n;

	if (!recorded->has_reserved || recorded->reserved <= replayed)
		return NULL;
	n = snprintf(text, GP_RECORDED_TEXT,
		     "At least %s was reserved at the peak, as the recording "
		     "itself says. Its requests account for %s, which the "
		     "replay's numbers describe. ",
		     GP_BYTES(recorded->reserved), GP_BYTES(replayed));
	if (recorded->has_first)
		n += snprintf(text + n, GP_RECORDED_TEXT - (size_t)n,
			      "It began with %s reserved: %s in use, and %s "
			      "free in memory that the recording never shows. ",
			      GP_BYTES(recorded->first_reserved),
			      GP_BYTES(recorded->first_allocated),
			      GP_BYTES(recorded->first_reserved -
				       recorded->first_allocated));
	snprintf(text + n, GP_RECORDED_TEXT - (size_t)n,
		 "A recording from the start of the program would show "
		 "everything.");
	return text;
}

/* ---- guesses ---- */

#define AT(member) offsetof(struct gp_guesses, member)

static const struct {
	size_t offset; /* in struct gp_guesses */
	const char *one, *several;
} sentences[] = {
	{ AT(start_blocks),
	  "block live at the start whose size is known from a later free",
	  "blocks live at the start whose size is known from a later free" },
	{ AT(block_slack),
	  "block live at the start that is larger than its request",
	  "blocks live at the start that are larger than their requests" },
	{ AT(segment_order),
	  "segment at the start whose order of age is unknown",
	  "segments at the start whose order of age is unknown" },
	{ AT(empty_caches), "empty_cache call inferred from released segments",
	  "empty_cache calls inferred from released segments" },
	{ AT(late_frees),
	  "free that waited for another stream, which is unknown",
	  "frees that waited for another stream, which is unknown" },
	{ AT(pool_of_segment),
	  "segment whose pool is unknown, taken as the default pool",
	  "segments whose pool is unknown, taken as the default pool" },
	{ AT(lost_entries),
	  "request or free without its counterpart in the recording",
	  "requests and frees without their counterparts in the recording" },
};

const char *gp_guess_sentence(const struct gp_guess_row *row, uint64_t count)
{
	for (size_t i = 0; i < sizeof(sentences) / sizeof(*sentences); i++)
		if (sentences[i].offset == row->offset)
			return count == 1 ? sentences[i].one
					  : sentences[i].several;
	return row->name;
}

uint64_t gp_guess_count(const struct gp_guesses *guesses,
			const struct gp_guess_row *row)
{
	const char *base = (const char *)guesses;

	return *(const uint64_t *)(base + row->offset);
}

uint64_t gp_guess_total(const struct gp_guesses *guesses)
{
	size_t count;
	const struct gp_guess_row *rows = gp_guess_table(&count);
	uint64_t total = 0;

	for (size_t i = 0; i < count; i++)
		total += gp_guess_count(guesses, &rows[i]);
	return total;
}

void gp_guess_print(const struct gp_page *page,
		    const struct gp_guesses *guesses)
{
	size_t count;
	const struct gp_guess_row *rows = gp_guess_table(&count);

	if (!gp_guess_total(guesses))
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "Guessed, because the trace does not say:");
	for (size_t i = 0; i < count; i++) {
		uint64_t n = gp_guess_count(guesses, &rows[i]);

		if (n)
			gp_page_line(page, GP_TONE_PLAIN, 11, "%9s  %s",
				     GP_COUNT(n),
				     gp_guess_sentence(&rows[i], n));
	}
}

/* ---- the head ---- */

const char *gp_head_capacity(uint64_t capacity, char text[GP_BYTES_TEXT])
{
	return capacity == GP_UNLIMITED ? "no limit"
					: gp_bytes_text(capacity, text);
}

const char *gp_head_run_capacity(enum gp_replay_mode mode, uint64_t capacity,
				 char text[GP_BYTES_TEXT])
{
	return mode == GP_VERIFY && capacity == GP_UNLIMITED
		       ? "not known"
		       : gp_head_capacity(capacity, text);
}

const char *gp_head_memory(enum gp_replay_mode mode, const uint64_t *capacity,
			   size_t devices, char text[GP_HEAD_MEMORY])
{
	uint64_t least = devices ? capacity[0] : GP_UNLIMITED, most = least;
	char low[GP_BYTES_TEXT], high[GP_BYTES_TEXT];

	for (size_t i = 1; i < devices; i++) {
		least = gp_smaller(least, capacity[i]);
		most = gp_larger(most, capacity[i]);
	}
	snprintf(text, GP_HEAD_MEMORY, "%s%s%s%s",
		 gp_head_run_capacity(mode, least, low),
		 least == most ? "" : " to ",
		 least == most ? "" : gp_head_run_capacity(mode, most, high),
		 least == most ? "" : ", by device");
	return text;
}

const char *gp_head_settings(const char *conf)
{
	return conf && *conf ? conf : "default settings";
}

const char *gp_head_what_if(const struct gp_what_if_note *note,
			    char text[GP_HEAD_WHAT_IF])
{
	const char *argument = note->asked.argument;

	snprintf(text, GP_HEAD_WHAT_IF, "--%s%s%.150s: %s%s",
		 note->asked.row->name, argument ? " " : "",
		 argument ? argument : "", note->text,
		 note->changes ? "" : " (nothing changes)");
	return text;
}

void gp_head_what_ifs(const struct gp_page *page,
		      const struct gp_what_ifs *what_ifs)
{
	char text[GP_HEAD_WHAT_IF];

	for (size_t i = 0; what_ifs && i < what_ifs->count; i++)
		gp_page_line(page, GP_TONE_PLAIN, 7, "   %s",
			     gp_head_what_if(&what_ifs->notes[i], text));
}

const char *gp_head_engine(const char *engine)
{
	size_t count;

	return strcmp(engine, gp_engine_table(&count)->name) ? engine : NULL;
}

/* A note on what a simulated device does not know. */
static const char *engine_note(const struct gp_run *run)
{
	return run->cuda ? NULL : gp_engine_note(run->engine);
}

void gp_head_release(const struct gp_page *page, uint8_t release,
		     const struct gp_release_choice *choice)
{
	if (choice)
		gp_page_field(page, "PyTorch", "2.%u; %s", release,
			      choice->why);
	else
		gp_page_field(page, "PyTorch", "2.%u, as asked for", release);
}

/* The settings that the program changes itself, on all devices. */
struct changes {
	const struct gp_event *first; /* the first change; NULL: none */
	size_t most;		      /* changes on one device */
	double least_fraction, most_fraction;
	bool differ; /* the first changes of the devices differ */
};

static bool is_change(const struct gp_event *e)
{
	return e->kind == GP_SET_SETTINGS || e->kind == GP_SET_FRACTION;
}

static double fraction_of(const struct gp_event *e)
{
	return e->kind == GP_SET_FRACTION ? e->fraction : 0;
}

static bool is_like(const struct gp_trace *trace, const struct gp_event *a,
		    const struct gp_event *b)
{
	if (a->kind != b->kind)
		return false;
	return a->kind == GP_SET_FRACTION
		       ? a->fraction == b->fraction
		       : !strcmp(trace->texts[a->text], trace->texts[b->text]);
}

static void add_changes(struct changes *changes, const struct gp_trace *trace,
			const struct gp_device_trace *device)
{
	const struct gp_event *first = NULL;
	size_t count = 0;
	double fraction;

	for (size_t i = 0; i < device->event_count; i++) {
		if (!is_change(&device->events[i]))
			continue;
		first = first ? first : &device->events[i];
		count++;
	}
	if (!first)
		return;
	fraction = fraction_of(first);
	if (!changes->first) {
		changes->first = first;
		changes->least_fraction = changes->most_fraction = fraction;
	}
	changes->differ |= !is_like(trace, changes->first, first);
	changes->least_fraction = fmin(changes->least_fraction, fraction);
	changes->most_fraction = fmax(changes->most_fraction, fraction);
	if (count > changes->most)
		changes->most = count;
}

void gp_head_changes(const struct gp_page *page, const struct gp_trace *trace)
{
	struct changes changes = { 0 };
	char what[128], more[64] = "";

	for (size_t d = 0; d < trace->device_count; d++)
		add_changes(&changes, trace, &trace->devices[d]);
	if (!changes.first)
		return;
	if (changes.differ && changes.least_fraction > 0)
		snprintf(what, sizeof(what),
			 "sets memory fractions of %g to %g itself, by device",
			 changes.least_fraction, changes.most_fraction);
	else if (changes.differ)
		snprintf(what, sizeof(what),
			 "changes settings itself, by device");
	else if (changes.first->kind == GP_SET_SETTINGS)
		snprintf(what, sizeof(what), "sets %.80s itself",
			 trace->texts[changes.first->text]);
	else
		snprintf(what, sizeof(what),
			 "sets a memory fraction of %g itself",
			 changes.first->fraction);
	if (changes.most > 1)
		snprintf(more, sizeof(more), ", and changes settings %zu times",
			 changes.most);
	gp_page_field(page, "Program",
		      "%s%s, whatever was set before it started", what, more);
}

void gp_head_run(const struct gp_page *page, const struct gp_report *report,
		 const struct gp_run *run)
{
	const char *engine = gp_head_engine(run->engine),
		   *note = engine_note(run);

	gp_head_release(page, run->settings->release, run->choice);
	gp_page_field(page, "Settings", "%s", gp_head_settings(run->conf));
	gp_head_changes(page, report->trace);
	if (engine)
		gp_page_field(page, "Engine", "%s%s%s", engine,
			      note ? ": " : "", note ? note : "");
	if (run->cuda)
		gp_page_field(page, "GPU", "%s%s", run->cuda->gpu,
			      run->cuda->is_stand_in
				      ? ": a stand-in, with no device behind it"
				      : "");
	if (gp_trace_unknown(report->trace))
		gp_page_field(page, "Unknown", "%s",
			      gp_trace_unknown(report->trace));
	if (report->trace->values)
		gp_page_field(page, "Path", "%s", report->trace->values);
	if (!report->trace->is_complete && gp_trace_has_start(report->trace))
		gp_page_field(
			page, "Coverage",
			"a window; what was live at its start is rebuilt");
}

void gp_head_doubts(const struct gp_page *page, const struct gp_trace *trace)
{
	if (gp_trace_doubts_path(trace))
		gp_page_field(page, "Path", "%s", trace->values);
	if (gp_trace_unknown(trace))
		gp_page_field(page, "Unknown", "%s", gp_trace_unknown(trace));
}

/* Whether the capacity was not recorded, but follows from the recorded
 * decisions. */
static bool is_fitted(const struct gp_report *report, const struct gp_run *run,
		      size_t device)
{
	return run->mode == GP_VERIFY &&
	       run->capacity[device] != GP_UNLIMITED &&
	       gp_replay_capacity_of(report->trace, (uint32_t)device) ==
		       GP_UNLIMITED;
}

struct gp_words gp_head_room(const struct gp_refused_room *room)
{
	char least[GP_BYTES_TEXT];
	struct gp_words words = { "" };

	gp_say(&words,
	       "with less than %s, as a request was refused; --capacity %s is "
	       "the least that was enough",
	       GP_BYTES(room->below), gp_bytes_exact(room->least, least));
	return words;
}

bool gp_run_refused_room(const struct gp_trace *trace, const struct gp_run *run,
			 size_t device, struct gp_refused_room *room)
{
	return run->mode == GP_WHAT_IF &&
	       run->capacity[device] == GP_UNLIMITED &&
	       gp_replay_refused_room(trace, (uint32_t)device, run->settings,
				      room);
}

void gp_head_refused_room(const struct gp_page *page,
			  const struct gp_report *report,
			  const struct gp_run *run, size_t device)
{
	struct gp_refused_room room;

	if (gp_run_refused_room(report->trace, run, device, &room))
		gp_page_field(page, "Recorded", "%s", gp_head_room(&room).text);
}

void gp_head_device(const struct gp_page *page, const struct gp_report *report,
		    const struct gp_run *run, size_t device)
{
	const struct gp_replay_result *result = &run->results[device];
	const struct gp_device_trace *trace = &report->trace->devices[device];
	char label[32], bytes[GP_BYTES_TEXT];

	snprintf(label, sizeof(label), "Device %u", trace->device);
	gp_page_field(
		page, label, "memory: %s%s; %s in %s",
		gp_head_run_capacity(run->mode, run->capacity[device], bytes),
		is_fitted(report, run, device) ? " (fitted to the recording)"
					       : "",
		GP_PLURAL(result->allocs, "allocation"),
		GP_PLURAL(trace->event_count, "event"));
	gp_head_refused_room(page, report, run, device);
}

void gp_head_timing(const struct gp_page *page, const struct gp_timing *timing)
{
	if (!timing)
		return;
	gp_page_blank(page);
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "Time: %.1f ms to read, %.1f ms to replay, %s",
		     timing->read_s * 1e3, timing->replay_s * 1e3,
		     GP_PLURAL(timing->events, "event"));
}

uint64_t gp_head_events(const struct gp_report *report,
			const struct gp_run *run, size_t device)
{
	const struct gp_trace *trace = run->trace ? run->trace : report->trace;

	return trace->devices[device].event_count;
}

uint64_t gp_head_most_events(const struct gp_report *report, size_t device)
{
	uint64_t most = 0;

	for (size_t i = 0; i < report->run_count; i++) {
		uint64_t events =
			gp_head_events(report, &report->runs[i], device);

		if (events > most)
			most = events;
	}
	return most;
}

void gp_head_nothing(const struct gp_page *page)
{
	gp_page_line(page, GP_TONE_TITLE, 2,
		     "The file holds nothing: no segments and no requests.");
	gp_page_line(page, GP_TONE_PLAIN, 2,
		     "To record, call torch.cuda.memory."
		     "_record_memory_history() before the work, and "
		     "torch.cuda.memory._dump_snapshot(\"file.pickle\") "
		     "after it.");
}

/* ---- estimates ---- */

const struct gp_estimate *gp_run_estimate(const struct gp_run *run,
					  size_t device)
{
	return run->estimates && run->estimates[device].is_there
		       ? &run->estimates[device]
		       : NULL;
}

const char *gp_estimate_text(const struct gp_estimate *estimate,
			     char text[GP_ESTIMATE_TEXT])
{
	snprintf(text, GP_ESTIMATE_TEXT, "an estimate: %s to %s",
		 GP_BYTES(estimate->low), GP_BYTES(estimate->high));
	return text;
}
