/* gpupool explain: why memory that is reserved cannot be used. */
#include "gpupool/explain.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/outlet.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "gpupool/input.h"
#include "gpupool/report.h"

static void show(void *arg, const char *what)
{
	gp_progress_step(arg, what);
}

static enum gp_status explain_device(const struct gp_plan *plan,
				     uint32_t device,
				     struct gp_progress *progress,
				     struct gp_explain *explain,
				     struct gp_diag *diag)
{
	struct gp_replay_config run = {
		.trace = plan->trace,
		.device = device,
		.settings = &plan->settings,
		.engine = plan->engine,
		.conf = plan->conf,
		.mode = plan->mode,
		.capacity = plan->capacity[device],
	};
	struct gp_explain_config config = {
		.run = &run,
		.conf = plan->conf,
		.progress = show,
		.progress_arg = progress,
	};

	return gp_explain(&config, explain, diag);
}

static enum gp_status write_report(const struct gp_options *options,
				   const struct gp_explanation *explanation,
				   struct gp_diag *diag)
{
	struct gp_report_style style = gp_terminal_style(options);
	struct gp_output output;
	enum gp_status status = gp_outlet_open(&output, options->output, diag);

	if (status != GP_OK)
		return status;
	if (options->format == GP_FORMAT_JSON)
		gp_report_explain_json(explanation, output.stream);
	else
		gp_report_explain_text(explanation, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}

static enum gp_status explain_all(const struct gp_options *options,
				  const struct gp_plan *plan,
				  struct gp_progress *progress,
				  struct gp_diag *diag)
{
	size_t count = plan->trace->device_count;
	struct gp_explain *explains =
		gp_mem_alloc(count + 1, sizeof(*explains));
	char capacity[32];
	struct gp_explanation explanation = {
		.path = options->operands[0],
		.conf = plan->conf,
		.given = options->capacity ? capacity : NULL,
		.settings = &plan->settings,
		.devices = explains,
		.count = count,
		.has_details = options->details,
	};
	enum gp_status status = GP_OK;
	uint32_t done = 0;

	snprintf(capacity, sizeof(capacity), "%llu",
		 (unsigned long long)options->capacity);
	for (; done < count && status == GP_OK; done++)
		status = explain_device(plan, done, progress, &explains[done],
					diag);
	gp_progress_end(progress);
	if (status == GP_OK)
		status = write_report(options, &explanation, diag);
	while (done)
		gp_explain_release(&explains[--done]);
	free(explains);
	return status;
}

static enum gp_status make_plan(const struct gp_options *options,
				const struct gp_trace *trace,
				struct gp_plan *plan, struct gp_diag *diag)
{
	enum gp_status status =
		gp_plan_is_asked(options)
			? gp_plan_asked(plan, trace, options, diag)
			: gp_plan_recorded(plan, trace, diag);

	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, options->operands[0]);
	return status;
}

enum gp_status gp_explain_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options->quiet);
	struct gp_input_config config = {
		.path = options->operands[0],
		.progress = gp_progress_read,
		.progress_arg = &progress,
	};
	struct gp_plan plan = { 0 };
	struct gp_trace *trace = NULL;
	enum gp_status status = gp_input_read(&config, &trace, diag);

	if (status == GP_OK)
		status = make_plan(options, trace, &plan, diag);
	if (status == GP_OK)
		status = explain_all(options, &plan, &progress, diag);
	gp_progress_end(&progress);
	gp_plan_release(&plan);
	gp_trace_destroy(trace);
	return status;
}
