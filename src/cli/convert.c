/* gpupool convert: a trace in another format. */
#include "cli/command.h"
#include "cli/progress.h"
#include "cli/trace_file.h"
#include "gpupool/input.h"

enum gp_status gp_convert_command(const struct gp_options *options,
				  struct gp_diag *diag)
{
	struct gp_progress progress = gp_progress_make(options->quiet);
	struct gp_input_config config = {
		.path = options->operands[0],
		.progress = gp_progress_read,
		.progress_arg = &progress,
	};
	struct gp_trace *trace;
	struct gp_trace_form form;
	enum gp_status status = gp_trace_form_of(
		options, "convert", options->operands[1], &form, diag);

	if (status == GP_OK)
		status = gp_input_read(&config, &trace, diag);
	gp_progress_end(&progress);
	if (status != GP_OK)
		return status;
	status = gp_trace_file_write(trace, &form, options->operands[1], diag);
	gp_trace_destroy(trace);
	return status;
}
