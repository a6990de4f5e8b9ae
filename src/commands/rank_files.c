/* SPDX-License-Identifier: MIT */
/* Reading the ranks of a job. */
#include "commands/rank_files.h"

#include "commands/tell.h"

static void tell(const struct gp_diag *diag, struct gp_progress *progress,
		 const char *path, const char *fate)
{
	gp_progress_end(progress);
	gp_tell("gpupool: %s: %s%s%s: %s\n", path, diag->record,
		*diag->record ? ": " : "", fate, diag->what);
}

static enum gp_status read_one(const struct gp_paths *paths, size_t index,
			       gp_trace_file_reader *read,
			       struct gp_progress *progress,
			       struct gp_ranks *ranks, struct gp_diag *diag)
{
	const char *path = paths->items[index];
	struct gp_trace *trace;
	enum gp_status status = read(path, progress, &trace, diag);

	if (status == GP_OK) {
		gp_ranks_add(ranks, path, trace);
		return GP_OK;
	}
	if (!*diag->file)
		gp_diag_file(diag, path);
	if (gp_paths_is_named(paths, index))
		return status;
	if (!diag->is_foreign)
		gp_ranks_add_unread(ranks, path, diag->what);
	tell(diag, progress, path,
	     diag->is_foreign ? "passed over" : "cannot be read");
	*diag = (struct gp_diag){ 0 };
	return GP_OK;
}

static enum gp_status read_all(const struct gp_paths *paths,
			       gp_trace_file_reader *read,
			       struct gp_progress *progress,
			       struct gp_ranks *ranks, struct gp_diag *diag)
{
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < paths->count && status == GP_OK; i++)
		status = read_one(paths, i, read, progress, ranks, diag);
	return status;
}

static enum gp_status read_operands(const char *const *operands, size_t count,
				    gp_trace_file_reader *read,
				    struct gp_progress *progress,
				    struct gp_ranks *ranks,
				    struct gp_diag *diag)
{
	struct gp_paths paths = { 0 };
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < count && status == GP_OK; i++)
		status = gp_paths_add(&paths, operands[i], diag);
	if (status == GP_OK)
		status = read_all(&paths, read, progress, ranks, diag);
	if (status == GP_OK && !ranks->count) {
		gp_diag_file(diag, operands[0]);
		status = gp_diag_set(diag, GP_INPUT,
				     ranks->unread_count
					     ? "no trace in this folder can "
					       "be read"
					     : "no traces are in this folder");
	}
	gp_ranks_sort(ranks);
	gp_paths_release(&paths);
	return status;
}

enum gp_status gp_rank_files(const struct gp_options *options,
			     gp_trace_file_reader *read,
			     struct gp_progress *progress,
			     struct gp_ranks *ranks, struct gp_diag *diag)
{
	return read_operands(options->operands, options->operand_count, read,
			     progress, ranks, diag);
}

enum gp_status gp_rank_files_of(const char *operand, gp_trace_file_reader *read,
				struct gp_progress *progress,
				struct gp_ranks *ranks, struct gp_diag *diag)
{
	return read_operands(&operand, 1, read, progress, ranks, diag);
}

enum gp_status gp_rank_files_verdict(const struct gp_ranks *ranks,
				     struct gp_diag *diag)
{
	if (!ranks->unread_count)
		return GP_OK;
	gp_diag_file(diag, ranks->unread->path);
	return gp_diag_set(diag, GP_INPUT,
			   "%zu of %zu traces cannot be read: the report is "
			   "without them",
			   ranks->unread_count,
			   ranks->unread_count + ranks->files);
}
