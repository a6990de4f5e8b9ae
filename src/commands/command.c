/* SPDX-License-Identifier: MIT */
/* The commands there are. */
#include "commands/command.h"

#include <string.h>

#include "commands/nearest.h"

const struct gp_command *const gp_commands[] = {
	&gp_look_command,    &gp_replay_command,
	&gp_suggest_command, &gp_sweep_command,
	&gp_merge_command,   &gp_headroom_command,
	&gp_explain_command, &gp_floor_command,
	&gp_info_command,    &gp_convert_command,
	&gp_verify_command,  &gp_slice_command,
	&gp_gen_command,     &gp_check_command,
	&gp_diff_command,    &gp_record_command,
	&gp_bench_command,   &gp_help_command,
	&gp_version_command, NULL,
};

const struct gp_option *gp_command_option(const struct gp_command *command,
					  size_t index)
{
	static const struct gp_option none[] = { { 0 } };
	const struct gp_option *row =
		command->options ? command->options : none;
	size_t i = 0;

	while (i < index && row[i].name)
		i++;
	if (row[i].name)
		return row[i].sentence ? &row[i]
				       : gp_common_option(row[i].name);
	return i == index ? gp_common_option("help") : NULL;
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
