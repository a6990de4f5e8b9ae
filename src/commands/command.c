/* SPDX-License-Identifier: MIT */
/* The commands there are. */
#include "commands/command.h"

#include <string.h>

#include "commands/nearest.h"

#define ROW(name) &gp_##name##_command,
const struct gp_command *const gp_commands[] = { GP_COMMANDS(ROW) NULL };

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
