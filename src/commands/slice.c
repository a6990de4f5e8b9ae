/* SPDX-License-Identifier: MIT */
/* gpupool slice: a part of a trace that replays on its own. */
#include "trace/slice.h"

#include <stdlib.h>

#include "allocator/release.h"
#include "base/larger.h"
#include "base/mem.h"
#include "commands/command.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"

/* The replay that finds the state before a slice. */
struct watching {
	struct gp_slice *slice;
	bool *is_pending; /* by id: from the beginning of the slice on */
	struct gp_completed *completed;
	size_t count, room;
};

/* Keeps the allocator's state before the slice. */
static void keep(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct watching *w = arg;
	struct gp_state *start = &w->slice->start;

	(void)event;
	allocator->ops->state(allocator, start);
	for (size_t i = 0; i < start->block_count; i++)
		if (start->blocks[i].state == GP_PENDING_FREE &&
		    start->blocks[i].id != GP_NO_ID)
			w->is_pending[start->blocks[i].id] = true;
}

static void note_completed(void *arg, const struct gp_action *action,
			   uint64_t event)
{
	struct watching *w = arg;

	if (action->kind != GP_FREE_COMPLETED || action->id == GP_NO_ID ||
	    event < w->slice->from || !w->is_pending[action->id])
		return;
	w->is_pending[action->id] = false;
	GP_GROW(w->completed, w->count + 1, w->room);
	w->completed[w->count++] = (struct gp_completed){ event, action->id };
}

/* Memory before the first event of the slice, from a replay as recorded. */
static enum gp_status find_start(const struct gp_plan *plan, uint32_t device,
				 struct gp_slice *slice, struct gp_diag *diag)
{
	uint64_t last = slice->from - 1;
	size_t ids = plan->trace->devices[device].block_ids;
	struct watching watching = {
		.slice = slice,
		.is_pending = gp_mem_alloc(ids + 1, sizeof(bool)),
	};
	struct gp_replay_result result;
	struct gp_replay_config config = gp_plan_simulated(plan, device);
	enum gp_status status;

	config.look = keep;
	config.look_arg = &watching;
	config.looks = &last;
	config.look_count = 1;
	config.action = note_completed;
	config.action_arg = &watching;
	status = gp_replay(&config, &result, diag);
	free(watching.is_pending);
	slice->completed = watching.completed;
	slice->completed_count = watching.count;
	if (status != GP_OK)
		return status;
	gp_replay_release(&result);
	return gp_plan_check_state(plan, device, slice->from, &slice->start,
				   diag);
}

static enum gp_status cut_device(const struct gp_plan *plan, uint32_t device,
				 const struct gp_options *options,
				 struct gp_slice *slice, struct gp_diag *diag)
{
	const struct gp_device_trace *t = &plan->trace->devices[device];
	uint64_t count = t->event_count;

	slice->to = gp_slice_place(t, gp_smaller(options->to_event, count));
	slice->from = gp_slice_place(t, gp_smaller(options->from_event, count));
	slice->from = gp_smaller(slice->from, slice->to);
	slice->no_split_ends =
		gp_release_has(plan->settings.release, GP_CHANGE_NO_SPLIT_ENDS);
	if (slice->from)
		return find_start(plan, device, slice, diag);
	slice->start = plan->trace->devices[device].start;
	return GP_OK;
}

static void release(struct gp_slice *slices, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (slices[i].from)
			gp_state_release(&slices[i].start);
		free((void *)slices[i].completed);
	}
	free(slices);
}

static enum gp_status slice_trace(const struct gp_options *options,
				  const struct gp_trace *trace,
				  const struct gp_trace_form *form,
				  struct gp_diag *diag)
{
	size_t n = trace->device_count;
	struct gp_slice *slices = gp_mem_alloc(n + 1, sizeof(*slices));
	struct gp_plan plan = { 0 };
	struct gp_trace *part;
	enum gp_status status = gp_plan_recorded(&plan, trace, diag);

	for (uint32_t i = 0; i < n && status == GP_OK; i++)
		status = cut_device(&plan, i, options, &slices[i], diag);
	if (status == GP_OK) {
		part = gp_trace_slice(trace, slices);
		status = gp_trace_file_write(part, form, options->operands[1],
					     diag);
		gp_trace_destroy(part);
	} else if (!*diag->file) {
		gp_diag_file(diag, options->operands[0]);
	}
	gp_plan_release(&plan);
	release(slices, n);
	return status;
}

static enum gp_status check(const struct gp_options *options,
			    struct gp_diag *diag)
{
	if (options->from_event < options->to_event)
		return GP_OK;
	gp_diag_hint(diag, "--to is the first event that is left out");
	return gp_diag_set(diag, GP_USAGE,
			   "from event %llu to %llu there is nothing",
			   (unsigned long long)options->from_event,
			   (unsigned long long)options->to_event);
}

/* After the last event there is only the memory at the end. */
static enum gp_status check_begins(const struct gp_options *options,
				   const struct gp_trace *trace,
				   struct gp_diag *diag)
{
	uint64_t from = options->from_event;

	gp_diag_file(diag, options->operands[0]);
	return gp_check_event(from ? from - 1 : 0, gp_trace_moments(trace),
			      "from", from, diag);
}

static enum gp_status slice_command(const struct gp_options *options,
				    struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options);
	struct gp_trace *trace;
	struct gp_trace_form form;
	enum gp_status status = check(options, diag);

	if (status == GP_OK)
		status = gp_trace_form_of(options, options->operands[1], &form,
					  diag);
	if (status == GP_OK)
		status = gp_trace_file_read(options->operands[0], &progress,
					    &trace, diag);
	gp_progress_end(&progress);
	if (status != GP_OK)
		return status;
	status = check_begins(options, trace, diag);
	if (status == GP_OK)
		status = slice_trace(options, trace, &form, diag);
	gp_trace_destroy(trace);
	return status;
}

static const struct gp_option slice_options[] = {
	{ "from", 0, GP_OPTION_COUNT, GP_AT(from_event), "EVENT",
	  "The first event of the part; default: 0." },
	{ "to", 0, GP_OPTION_COUNT, GP_AT(to_event), "EVENT",
	  "The first event after the part; default: all events." },
	GP_TRACE_FORMAT_OPTION,
	{ 0 },
};

const struct gp_command gp_slice_command = {
	.name = "slice",
	.operands = "IN OUT",
	.least = 2,
	.most = 2,
	.sentence = "Cut out a part that replays on its own.",
	.about = "Keeps the events from --from up to, but not including, --to, "
		 "numbered as in reports. The state of memory before them "
		 "becomes the part's start state. A request is not separated "
		 "from its outcomes.",
	.options = "from to format anonymous max-input quiet",
	.own = slice_options,
	.run = slice_command,
};
