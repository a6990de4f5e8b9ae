/* SPDX-License-Identifier: MIT */
/* What --engine names. */
#include "commands/engine_named.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

bool gp_engine_is_file(const char *name)
{
	size_t length = strlen(name);

	return strchr(name, '/') ||
	       (length > 3 && !strcmp(name + length - 3, ".so"));
}

/* In a process that is this program again. */
static enum gp_status open_library(const char *path, struct gp_engine **opened,
				   struct gp_diag *diag)
{
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	const struct gp_engine_library library = {
		.path = path,
		.program = n > 0 ? program : NULL,
		.environment = environ,
	};

	program[n > 0 ? n : 0] = 0;
	return gp_engine_open(&library, opened, diag);
}

static enum gp_status there_is_none(const char *name, struct gp_diag *diag)
{
	size_t count;
	const struct gp_engine *engines = gp_engine_table(&count);

	for (size_t i = 0; i < count; i++) {
		size_t length = strlen(diag->hint);

		snprintf(diag->hint + length, sizeof(diag->hint) - length,
			 "%s%s", i ? ", " : "there are: ", engines[i].name);
	}
	return gp_diag_set(diag, GP_USAGE, "there is no engine %s", name);
}

enum gp_status gp_engine_named(const char *name, struct gp_engine **opened,
			       const struct gp_engine **engine,
			       struct gp_diag *diag)
{
	enum gp_status status;

	if (!gp_engine_is_file(name)) {
		*engine = gp_engine_find(name);
		return *engine ? GP_OK : there_is_none(name, diag);
	}
	status = open_library(name, opened, diag);
	if (status == GP_OK)
		*engine = *opened;
	return status;
}
