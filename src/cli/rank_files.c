/* SPDX-License-Identifier: MIT */
/* Reading the ranks of a job. */
#include "cli/rank_files.h"

#include "cli/tell.h"

enum gp_status gp_rank_file_read(const struct gp_paths *paths, size_t index,
				 gp_trace_file_reader *read,
				 struct gp_progress *progress,
				 struct gp_trace **trace, struct gp_diag *diag)
{
	const char *path = paths->items[index];
	enum gp_status status = read(path, progress, trace, diag);

	if (status == GP_OK)
		return GP_OK;
	*trace = NULL;
	if (!*diag->file)
		gp_diag_file(diag, path);
	if (!diag->is_foreign || gp_paths_is_named(paths, index))
		return status;
	gp_progress_end(progress);
	gp_tell("gpupool: %s: passed over: %s\n", path, diag->what);
	*diag = (struct gp_diag){ 0 };
	return GP_OK;
}

static enum gp_status read_all(const struct gp_paths *paths,
			       gp_trace_file_reader *read,
			       struct gp_progress *progress,
			       struct gp_ranks *ranks, struct gp_diag *diag)
{
	for (size_t i = 0; i < paths->count; i++) {
		struct gp_trace *trace;
		enum gp_status status = gp_rank_file_read(
			paths, i, read, progress, &trace, diag);

		if (status != GP_OK)
			return status;
		if (trace)
			gp_ranks_add(ranks, paths->items[i], trace);
	}
	return GP_OK;
}

enum gp_status gp_rank_files(const struct gp_options *options,
			     gp_trace_file_reader *read,
			     struct gp_progress *progress,
			     struct gp_ranks *ranks, struct gp_diag *diag)
{
	struct gp_paths paths = { 0 };
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < options->operand_count && status == GP_OK; i++)
		status = gp_paths_add(&paths, options->operands[i], diag);
	if (status == GP_OK)
		status = read_all(&paths, read, progress, ranks, diag);
	if (status == GP_OK && !ranks->count) {
		gp_diag_file(diag, options->operands[0]);
		status = gp_diag_set(diag, GP_INPUT,
				     "no traces are in this folder");
	}
	gp_ranks_sort(ranks);
	gp_paths_release(&paths);
	return status;
}
