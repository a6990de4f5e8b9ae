/* SPDX-License-Identifier: MIT */
/* The commands there are. */
#include "commands/command.h"

#include <string.h>

#include "commands/nearest.h"

const struct gp_command *const gp_commands[] = {
	&gp_look_command,	  &gp_replay_command,
	&gp_suggest_command,	  &gp_sweep_command,
	&gp_merge_command,	  &gp_headroom_command,
	&gp_explain_command,	  &gp_view_command,
	&gp_live_page_command,	  &gp_compare_command,
	&gp_floor_command,	  &gp_info_command,
	&gp_convert_command,	  &gp_verify_command,
	&gp_slice_command,	  &gp_gen_command,
	&gp_check_command,	  &gp_diff_command,
	&gp_record_command,	  &gp_fit_command,
	&gp_bench_command,	  &gp_mcp_command,
	&gp_check_engine_command, &gp_doctor_command,
	&gp_completions_command,  &gp_help_command,
	&gp_version_command,	  NULL,
};

/* NULL: it is not among the rows. */
static const struct gp_option *find(const struct gp_option *rows,
				    const char *name, size_t length)
{
	for (; rows && rows->name; rows++)
		if (strlen(rows->name) == length &&
		    !strncmp(rows->name, name, length))
			return rows;
	return NULL;
}

const struct gp_option *gp_command_option(const struct gp_command *command,
					  size_t index)
{
	const char *name = command->options ? command->options : "";
	const struct gp_option *row;
	size_t length = strcspn(name, " ");

	for (; index && *name; index--) {
		name += length + strspn(name + length, " ");
		length = strcspn(name, " ");
	}
	if (!*name)
		return index ? NULL : find(gp_common_options, "help", 4);
	row = find(command->own, name, length);
	return row ? row : find(gp_common_options, name, length);
}

#define COMMANDS (sizeof(gp_commands) / sizeof(*gp_commands) - 1)

const struct gp_command *gp_command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(gp_commands[i]->name, name))
			return gp_commands[i];
	return NULL;
}

enum gp_status gp_command_unknown(const char *name, struct gp_diag *diag)
{
	const char *names[COMMANDS], *near;

	for (size_t i = 0; i < COMMANDS; i++)
		names[i] = gp_commands[i]->name;
	near = gp_nearest(name, names, COMMANDS);
	if (near)
		gp_diag_hint(diag, "did you mean %s?", near);
	else
		gp_diag_hint(diag, "see: gpupool help");
	return gp_diag_set(diag, GP_USAGE, "there is no command %s", name);
}
