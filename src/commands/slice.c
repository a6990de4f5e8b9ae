/* SPDX-License-Identifier: MIT */
/* gpupool slice: a part of a trace that replays on its own. */
#include "trace/slice.h"

#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "commands/command.h"
#include "commands/plan.h"
#include "commands/progress.h"
#include "commands/trace_file.h"

/* Keeps the allocator's state when it is looked at. */
static void keep(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	(void)event;
	allocator->ops->state(allocator, arg);
}

/* Memory before the first event of the slice, from a replay as recorded. */
static enum gp_status find_start(const struct gp_plan *plan, uint32_t device,
				 struct gp_slice *slice, struct gp_diag *diag)
{
	uint64_t last = slice->from - 1;
	struct gp_replay_result result;
	struct gp_replay_config config = gp_plan_simulated(plan, device);
	enum gp_status status;

	config.look = keep;
	config.look_arg = &slice->start;
	config.looks = &last;
	config.look_count = 1;
	status = gp_replay(&config, &result, diag);
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
	uint64_t count = plan->trace->devices[device].event_count;

	slice->to = options->to_event ? gp_smaller(options->to_event, count)
				      : count;
	slice->from = gp_smaller(options->from_event, slice->to);
	if (slice->from)
		return find_start(plan, device, slice, diag);
	slice->start = plan->trace->devices[device].start;
	return GP_OK;
}

static void release(struct gp_slice *slices, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (slices[i].from)
			gp_state_release(&slices[i].start);
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
	if (!options->to_event || options->from_event < options->to_event)
		return GP_OK;
	gp_diag_hint(diag, "--to is the first event that is left out");
	return gp_diag_set(diag, GP_USAGE, "from event %llu to %llu is nothing",
			   (unsigned long long)options->from_event,
			   (unsigned long long)options->to_event);
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
	status = slice_trace(options, trace, &form, diag);
	gp_trace_destroy(trace);
	return status;
}

static const struct gp_option slice_options[] = {
	{ "from", 0, GP_OPTION_COUNT, GP_AT(from_event), "EVENT",
	  "The first event of the part; 0 unless given." },
	{ "to", 0, GP_OPTION_COUNT, GP_AT(to_event), "EVENT",
	  "The first event behind the part; all unless given." },
	GP_TRACE_FORMAT_OPTION,
	{ 0 },
};

const struct gp_command gp_slice_command = {
	.name = "slice",
	.operands = "IN OUT",
	.least = 2,
	.most = 2,
	.sentence = "Cut out a part that replays on its own.",
	.about = "Events from --from up to, but not including, --to, numbered "
		 "as in reports. Memory as it is by then becomes the part's "
		 "start state.",
	.options = "from to format anonymous max-input quiet",
	.own = slice_options,
	.run = slice_command,
};
