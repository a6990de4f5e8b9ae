/* SPDX-License-Identifier: MIT */
/*
 * The traces that a command's operands name, read as the ranks of a job: files,
 * and all files of folders.  What is found in a folder and is no trace is
 * passed over, with a word on standard error; and so is a trace that cannot be
 * read, which the report and the exit status tell, too.
 */
#ifndef COMMANDS_RANK_FILES_H
#define COMMANDS_RANK_FILES_H

#include "commands/options.h"
#include "commands/progress.h"
#include "commands/trace_paths.h"
#include "trace/ranks.h"

typedef enum gp_status gp_trace_file_reader(const char *path,
					    struct gp_progress *progress,
					    struct gp_trace **trace,
					    struct gp_diag *diag);

/* All operands, sorted into classes, one of them at least.  Released in any
 * case. */
enum gp_status gp_rank_files(const struct gp_options *options,
			     gp_trace_file_reader *read,
			     struct gp_progress *progress,
			     struct gp_ranks *ranks, struct gp_diag *diag);
/* Of one operand that may be a folder. */
enum gp_status gp_rank_files_of(const char *operand, gp_trace_file_reader *read,
				struct gp_progress *progress,
				struct gp_ranks *ranks, struct gp_diag *diag);

/* GP_INPUT where some could not be read: the report is without them. */
enum gp_status gp_rank_files_verdict(const struct gp_ranks *ranks,
				     struct gp_diag *diag);

#endif
