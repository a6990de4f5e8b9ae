/* SPDX-License-Identifier: MIT */
/* Trace files: reading with progress, choosing the format by the file's name,
 * and writing either the whole file or nothing. */
#ifndef COMMANDS_TRACE_FILE_H
#define COMMANDS_TRACE_FILE_H

#include <stdio.h>

#include "commands/options.h"
#include "commands/progress.h"
#include "gpupool/input.h"
#include "gpupool/status.h"
#include "gpupool/trace.h"

enum gp_packing { GP_PACK_NONE, GP_PACK_GZIP, GP_PACK_ZSTD };

/* Calls write with a stream that compresses into under, which stays open. The
 * result is reproducible. */
enum gp_status gp_pack_write(FILE *under, enum gp_packing packing,
			     enum gp_status (*write)(void *arg, FILE *out,
						     struct gp_diag *diag),
			     void *arg, struct gp_diag *diag);

/* As gp_input_read; if a held trace (gpupool/ask.h) has that name, it is used
 * instead of a file. The caller destroys the trace. */
enum gp_status gp_trace_file_input(const struct gp_input_config *config,
				   struct gp_trace **trace,
				   struct gp_diag *diag);
/* The same with progress. */
enum gp_status gp_trace_file_read(const char *path,
				  struct gp_progress *progress,
				  struct gp_trace **trace,
				  struct gp_diag *diag);
/* For commands that need requests: GP_INPUT for a snapshot without history. */
enum gp_status gp_trace_file_read_requests(const char *path,
					   struct gp_progress *progress,
					   struct gp_trace **trace,
					   struct gp_diag *diag);

/* GP_INPUT for a trace without requests, saying why it cannot be replayed. */
enum gp_status gp_trace_file_is_idle(const struct gp_trace *trace,
				     const char *path, struct gp_diag *diag);

/* The number of events of the device that has most; at least 1, because event 0
 * is the beginning even of a trace without events. */
uint64_t gp_trace_moments(const struct gp_trace *trace);

/* GP_USAGE: there is no event with the number that was given to a flag. */
enum gp_status gp_check_event(uint64_t event, uint64_t moments,
			      const char *flag, uint64_t given,
			      struct gp_diag *diag);

/* For commands that write only traces. */
#define GP_TRACE_FORMAT_OPTION                                                 \
	{                                                                      \
		"format", 0, GP_OPTION_FORMAT, GP_AT(format),                  \
			"json|jsonl|binary",                                   \
			"The format to write, where the file's name does not " \
			"say."                                                 \
	}

struct gp_trace_form {
	enum gp_trace_format format;
	enum gp_packing packing;
	bool is_anonymous; /* see gp_trace_anonymous */
};

/* The format of --format if given, else that of the file's name; "-" is JSON.
 * Binary data is not written to a terminal. */
enum gp_status gp_trace_form_of(const struct gp_options *options,
				const char *path, struct gp_trace_form *form,
				struct gp_diag *diag);

/* The packing that a path's suffix names; subtracts the suffix from *length. */
enum gp_packing gp_packing_of(const char *path, size_t *length);

/* Whether the first length bytes of a path end with suffix. */
bool gp_path_ends(const char *path, size_t length, const char *suffix);

enum gp_status gp_trace_file_write(const struct gp_trace *trace,
				   const struct gp_trace_form *form,
				   const char *path, struct gp_diag *diag);

#endif
