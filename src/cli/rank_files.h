/* SPDX-License-Identifier: MIT */
/*
 * The traces that a command's operands name, read as the ranks of a job: files,
 * and all files of folders.  What is found in a folder and is no trace is
 * passed over, with a word on standard error.
 */
#ifndef CLI_RANK_FILES_H
#define CLI_RANK_FILES_H

#include "cli/options.h"
#include "cli/progress.h"
#include "cli/trace_paths.h"
#include "gpupool/ranks.h"

typedef enum gp_status gp_trace_file_reader(const char *path,
					    struct gp_progress *progress,
					    struct gp_trace **trace,
					    struct gp_diag *diag);

/* One path: *trace NULL where it was passed over. */
enum gp_status gp_rank_file_read(const struct gp_paths *paths, size_t index,
				 gp_trace_file_reader *read,
				 struct gp_progress *progress,
				 struct gp_trace **trace, struct gp_diag *diag);

/* All operands, sorted into classes, one of them at least.  Released in any
 * case. */
enum gp_status gp_rank_files(const struct gp_options *options,
			     gp_trace_file_reader *read,
			     struct gp_progress *progress,
			     struct gp_ranks *ranks, struct gp_diag *diag);

#endif
