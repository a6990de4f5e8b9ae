/* gpupool headroom: how small the device may be. */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/outlet.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/terminal.h"
#include "cli/trace_file.h"
#include "gpupool/headroom.h"
#include "gpupool/price.h"
#include "gpupool/report.h"

#define POINTS 12
#define TRIES  4000 /* all capacities of most traces, in seconds */

/* All that one call of the command holds: of each run its plan, and what came
 * of it. */
struct session {
	const struct gp_options *options;
	const char *path;
	struct gp_trace *trace;
	struct gp_plan *plans;
	struct gp_headroom_run *runs;
	size_t run_count;
	struct gp_progress progress;
};

/* conf NULL: the recorded settings, to which the flags add. */
static enum gp_status add_plan(struct session *s, const char *conf,
			       const char *knobs, struct gp_diag *diag)
{
	struct gp_options options = *s->options;
	struct gp_plan *plan = &s->plans[s->run_count++];
	enum gp_status status;

	options.alloc_conf = conf;
	options.knobs = (char *)(knobs ? knobs : "");
	options.capacity = GP_UNLIMITED;
	status = gp_plan_asked(plan, s->trace, &options, diag);
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	return status;
}

static enum gp_status make_plans(struct session *s, struct gp_diag *diag)
{
	const struct gp_options *options = s->options;
	const struct gp_texts *confs = &options->confs;
	enum gp_status status = GP_OK;

	s->plans = gp_mem_alloc(confs->count + 2, sizeof(*s->plans));
	s->runs = gp_mem_alloc(confs->count + 2, sizeof(*s->runs));
	if (options->compare)
		status = add_plan(s, NULL, NULL, diag);
	for (size_t i = 0; i < confs->count && status == GP_OK; i++)
		status = add_plan(s, confs->items[i], options->knobs, diag);
	if (!confs->count && status == GP_OK)
		status = add_plan(s, NULL, options->knobs, diag);
	return status;
}

static void tell(void *arg, uint32_t replays)
{
	char what[64];

	snprintf(what, sizeof(what), "searching: replay %u", replays + 1);
	gp_progress_step(arg, what);
}

static uint32_t count_or(uint64_t asked, uint32_t by_default)
{
	return asked == GP_COUNT_BY_DEFAULT ? by_default : (uint32_t)asked;
}

static enum gp_status measure(struct session *s, size_t index,
			      struct gp_diag *diag)
{
	const struct gp_plan *plan = &s->plans[index];
	struct gp_headroom_run *run = &s->runs[index];
	struct gp_headroom *devices =
		gp_mem_alloc(s->trace->device_count + 1, sizeof(*devices));
	enum gp_status status = GP_OK;

	*run = (struct gp_headroom_run){
		.settings = &plan->settings,
		.conf = plan->conf,
		.choice = plan->has_choice ? &plan->choice : NULL,
		.devices = devices,
	};
	for (uint32_t i = 0; i < s->trace->device_count && status == GP_OK;
	     i++) {
		struct gp_headroom_config config = {
			.trace = s->trace,
			.device = i,
			.settings = &plan->settings,
			.engine = plan->engine,
			.conf = plan->conf,
			.tries = count_or(s->options->tries, TRIES),
			.points = count_or(s->options->points, POINTS),
			.progress = tell,
			.progress_arg = &s->progress,
		};

		status = gp_headroom(&config, &devices[i], diag);
	}
	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, s->path);
	return status;
}

static enum gp_status report(struct session *s, struct gp_diag *diag)
{
	struct gp_report_style style = gp_terminal_style(s->options);
	struct gp_headroom_report report = {
		.path = s->path,
		.trace = s->trace,
		.runs = s->runs,
		.run_count = s->run_count,
		.prices = gp_prices_built_in(),
	};
	struct gp_output output;
	enum gp_status status =
		gp_outlet_open(&output, s->options->output, diag);

	if (status != GP_OK)
		return status;
	if (s->options->format == GP_FORMAT_JSON)
		gp_report_headroom_json(&report, output.stream);
	else if (s->options->format == GP_FORMAT_CSV)
		gp_report_headroom_csv(&report, output.stream);
	else
		gp_report_headroom_text(&report, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}

static void release(struct session *s)
{
	for (size_t i = 0; i < s->run_count; i++) {
		struct gp_headroom *devices =
			(struct gp_headroom *)s->runs[i].devices;

		for (size_t d = 0; devices && d < s->trace->device_count; d++)
			gp_headroom_release(&devices[d]);
		free(devices);
		gp_plan_release(&s->plans[i]);
	}
	free(s->plans);
	free(s->runs);
	gp_trace_destroy(s->trace);
}

enum gp_status gp_headroom_command(const struct gp_options *options,
				   struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.path = options->operands[0],
		.progress = gp_progress_make(options->quiet),
	};
	enum gp_status status = gp_trace_file_read_requests(s.path, &s.progress,
							    &s.trace, diag);

	if (status == GP_OK)
		status = make_plans(&s, diag);
	for (size_t i = 0; i < s.run_count && status == GP_OK; i++)
		status = measure(&s, i, diag);
	gp_progress_end(&s.progress);
	if (status == GP_OK)
		status = report(&s, diag);
	release(&s);
	return status;
}
