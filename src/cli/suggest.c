/* SPDX-License-Identifier: MIT */
/* gpupool suggest: the setting under which a trace fits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "cli/command.h"
#include "cli/outlet.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "gpupool/report.h"
#include "gpupool/suggest.h"

#define TRIES 2000 /* to make sure of how much is missing */

/* All that one call of the command holds. */
struct session {
	const struct gp_options *options;
	const char *path;
	struct gp_trace *trace;
	struct gp_plan recorded; /* replayed for its fidelity */
	struct gp_plan asked;	 /* release and capacity */
	uint64_t capacity_below; /* where that is concluded; else 0 */
	struct gp_suggestion suggestion;
	struct gp_progress progress;
};

static enum gp_status check_names(const struct gp_texts *names,
				  struct gp_diag *diag)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < names->count; i++) {
		size_t k = 0;

		while (k < count && strcmp(knobs[k].name, names->items[i]) != 0)
			k++;
		if (k < count)
			continue;
		gp_diag_file(diag, "suggest");
		gp_diag_hint(diag, "PyTorch's names, such as "
				   "expandable_segments; see: gpupool help "
				   "settings");
		return gp_diag_set(diag, GP_USAGE,
				   "--without %s: there is no such setting",
				   names->items[i]);
	}
	return GP_OK;
}

/* A window's start state is as it was recorded, under every setting. */
static enum gp_status check_start(const struct session *s, size_t device,
				  struct gp_diag *diag)
{
	const struct gp_state *start = &s->trace->devices[device].start;
	char reserved[GP_BYTES_TEXT], capacity[GP_BYTES_TEXT];
	uint64_t sum = gp_state_reserved(start);

	if (sum <= s->asked.capacity[device])
		return GP_OK;
	gp_diag_file(diag, s->path);
	gp_diag_hint(diag, "record from the start of the program, or give a "
			   "larger --capacity");
	return gp_diag_set(diag, GP_USAGE,
			   "the trace begins with %s reserved, which does not "
			   "fit into %s under any setting",
			   gp_bytes_text(sum, reserved),
			   gp_bytes_text(s->asked.capacity[device], capacity));
}

/* Where no capacity is known, a request that was refused tells of one. */
static void conclude_capacity(struct session *s)
{
	struct gp_refused_room room;

	for (uint32_t i = 0; i < s->trace->device_count; i++) {
		if (s->asked.capacity[i] != GP_UNLIMITED ||
		    !gp_replay_refused_room(s->trace, i, &s->asked.settings,
					    &room))
			continue;
		s->asked.capacity[i] = room.least;
		if (!i)
			s->capacity_below = room.below;
	}
}

static enum gp_status make_plan(struct session *s, struct gp_diag *diag)
{
	struct gp_options options = { .command = "suggest",
				      .torch = s->options->torch,
				      .capacity = s->options->capacity };
	enum gp_status status =
		gp_plan_asked(&s->asked, s->trace, &options, diag);

	if (status != GP_OK)
		return status;
	if (!s->options->capacity)
		conclude_capacity(s);
	for (size_t i = 0; i < s->trace->device_count && status == GP_OK; i++)
		status = check_start(s, i, diag);
	return status;
}

/* As far as it can be replayed as recorded: that it cannot is no failure. */
static void replay_recorded(struct session *s)
{
	struct gp_diag ignored = { 0 };

	if (gp_plan_recorded(&s->recorded, s->trace, &ignored) == GP_OK)
		gp_plan_play(&s->recorded, NULL, &s->progress, &ignored);
}

static void tell(void *arg, uint32_t replays)
{
	char what[64];

	snprintf(what, sizeof(what), "trying settings: replay %u", replays + 1);
	gp_progress_step(arg, what);
}

static enum gp_status suggest(struct session *s, struct gp_diag *diag)
{
	struct gp_suggest_config config = {
		.trace = s->trace,
		.release = s->asked.settings.release,
		.conf = s->asked.conf,
		.engine = s->asked.engine,
		.capacity = s->asked.capacity,
		.prices = gp_prices_built_in(),
		.without = s->options->without.items,
		.without_count = s->options->without.count,
		.tries = TRIES,
		.progress = tell,
		.progress_arg = &s->progress,
	};

	return gp_suggest(&config, &s->suggestion, diag);
}

static enum gp_status report(struct session *s, struct gp_diag *diag)
{
	struct gp_report_style style = gp_terminal_style(s->options);
	struct gp_suggest_report report = {
		.path = s->path,
		.trace = s->trace,
		.suggestion = &s->suggestion,
		.capacity = s->asked.capacity,
		.capacity_below = s->capacity_below,
		.release = s->asked.settings.release,
		.choice = s->asked.has_choice ? &s->asked.choice : NULL,
		.prices = gp_prices_built_in(),
	};
	struct gp_output output;
	enum gp_status status =
		gp_outlet_open(&output, s->options->output, diag);

	if (status != GP_OK)
		return status;
	for (size_t i = 0; s->recorded.results && i < s->trace->device_count;
	     i++) {
		report.checked += s->recorded.results[i].fidelity.checked;
		report.matched += s->recorded.results[i].fidelity.matched;
	}
	if (s->options->format == GP_FORMAT_JSON)
		gp_report_suggest_json(&report, output.stream);
	else
		gp_report_suggest_text(&report, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}

enum gp_status gp_suggest_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.path = options->operands[0],
		.progress = gp_progress_make(options->quiet),
	};
	enum gp_status status = check_names(&options->without, diag);

	if (status == GP_OK)
		status = gp_trace_file_read_requests(s.path, &s.progress,
						     &s.trace, diag);
	if (status == GP_OK)
		status = make_plan(&s, diag);
	if (status == GP_OK)
		replay_recorded(&s);
	if (status == GP_OK)
		status = suggest(&s, diag);
	gp_progress_end(&s.progress);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s.path);
	if (status == GP_OK)
		status = report(&s, diag);
	gp_suggestion_release(&s.suggestion);
	gp_plan_release(&s.recorded);
	gp_plan_release(&s.asked);
	gp_trace_destroy(s.trace);
	return status;
}
