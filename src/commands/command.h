/* SPDX-License-Identifier: MIT */
/* The commands: one table. */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include <stddef.h>

#include "commands/options.h"
#include "gpupool/status.h"

struct gp_command {
	const char *name;
	const char *operands; /* "TRACE" */
	size_t least, most;   /* operands */
	const char *sentence;
	const char *about; /* paragraphs for its help; NULL: none */
	enum gp_taker taker;
	/* The status is the exit code. */
	enum gp_status (*run)(const struct gp_options *options,
			      struct gp_diag *diag);
};

const struct gp_command *gp_command_table(size_t *count);
const struct gp_command *gp_command_find(const char *name);

/* GP_USAGE, with what the name may have been meant to be. */
enum gp_status gp_command_unknown(const char *name, struct gp_diag *diag);

/* What is meant where a trace stands in a command's place. */
#define GP_COMMAND_OF_TRACE "look"

/* One file each. */
enum gp_status gp_look_command(const struct gp_options *options,
			       struct gp_diag *diag);
enum gp_status gp_replay_command(const struct gp_options *options,
				 struct gp_diag *diag);
enum gp_status gp_suggest_command(const struct gp_options *options,
				  struct gp_diag *diag);
enum gp_status gp_headroom_command(const struct gp_options *options,
				   struct gp_diag *diag);
enum gp_status gp_sweep_command(const struct gp_options *options,
				struct gp_diag *diag);
enum gp_status gp_merge_command(const struct gp_options *options,
				struct gp_diag *diag);
enum gp_status gp_info_command(const struct gp_options *options,
			       struct gp_diag *diag);
enum gp_status gp_convert_command(const struct gp_options *options,
				  struct gp_diag *diag);
enum gp_status gp_verify_command(const struct gp_options *options,
				 struct gp_diag *diag);
enum gp_status gp_slice_command(const struct gp_options *options,
				struct gp_diag *diag);
enum gp_status gp_gen_command(const struct gp_options *options,
			      struct gp_diag *diag);
enum gp_status gp_check_command(const struct gp_options *options,
				struct gp_diag *diag);
enum gp_status gp_diff_command(const struct gp_options *options,
			       struct gp_diag *diag);
enum gp_status gp_explain_command(const struct gp_options *options,
				  struct gp_diag *diag);
enum gp_status gp_floor_command(const struct gp_options *options,
				struct gp_diag *diag);
enum gp_status gp_record_command(const struct gp_options *options,
				 struct gp_diag *diag);
enum gp_status gp_bench_command(const struct gp_options *options,
				struct gp_diag *diag);
enum gp_status gp_help_run(const struct gp_options *options,
			   struct gp_diag *diag);
enum gp_status gp_version_run(const struct gp_options *options,
			      struct gp_diag *diag);

#endif
