/* gpupool verify: every decision against PyTorch's own allocator. */
#include <stdio.h>

#include "cli/command.h"
#include "cli/plan.h"
#include "cli/progress.h"
#include "cli/torch_lib.h"
#include "cli/verify_text.h"
#include "cli/trace_file.h"
#include "gpupool/verify.h"

struct session {
	const struct gp_options *options;
	struct gp_trace *trace;
	struct gp_plan plan;
	struct gp_progress progress;
	uint8_t ran; /* PyTorch's release: the minor number */
	bool is_different;
};

static enum gp_status read_trace(struct session *s, struct gp_diag *diag)
{
	return gp_trace_file_read(s->options->operands[0], &s->progress,
				  &s->trace, diag);
}

/* The plan of a replay with that engine tells release, settings and memory. */
static enum gp_status make_plan(struct session *s, struct gp_diag *diag)
{
	struct gp_options asked = *s->options;
	enum gp_status status;

	asked.engine = "torch";
	status = gp_plan_asked(&s->plan, s->trace, &asked, diag);
	if (status != GP_OK)
		return status;
	return gp_torch_lib_release(s->plan.torch_lib, &s->ran, diag);
}

static enum gp_status verify_device(struct session *s, uint32_t device,
				    struct gp_diag *diag)
{
	struct gp_verify_config config = {
		.trace = s->trace,
		.device = device,
		.settings = &s->plan.settings,
		.conf = s->plan.conf,
		.torch_lib = s->plan.torch_lib,
		.capacity = s->plan.capacity[device],
	};
	struct gp_verify_result result;
	enum gp_status status;

	gp_progress_step(&s->progress, "running both allocators");
	status = gp_verify(&config, &result, diag);
	gp_progress_end(&s->progress);
	if (status != GP_OK)
		return status;
	gp_verify_text(s->trace, device, s->plan.settings.release, s->ran,
		       &result, stdout);
	s->is_different |= result.first.is_there;
	return GP_OK;
}

static enum gp_status run(struct session *s, struct gp_diag *diag)
{
	enum gp_status status = read_trace(s, diag);

	if (status == GP_OK)
		status = make_plan(s, diag);
	for (uint32_t i = 0; status == GP_OK && i < s->trace->device_count; i++)
		status = verify_device(s, i, diag);
	gp_progress_end(&s->progress);
	if (status != GP_OK || !s->is_different)
		return status;
	return gp_diag_set(diag, GP_FAILED,
			   "the allocators do not decide alike");
}

enum gp_status gp_verify_command(const struct gp_options *options,
				 struct gp_diag *diag)
{
	struct session s = {
		.options = options,
		.progress = gp_progress_make(options->quiet),
	};
	enum gp_status status = run(&s, diag);

	if (status != GP_OK && !*diag->file)
		gp_diag_file(diag, options->operands[0]);
	gp_plan_release(&s.plan);
	gp_trace_destroy(s.trace);
	return status;
}
