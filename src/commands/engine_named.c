/* SPDX-License-Identifier: MIT */
/* What --engine names. */
#include "commands/engine_named.h"

#include <limits.h>
#include <unistd.h>

extern char **environ;

/* In a process that is this program again. */
static enum gp_status open_engine(const char *path, struct gp_engine **opened,
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

enum gp_status gp_engine_named(const char *name, struct gp_engine **opened,
			       const struct gp_engine **engine,
			       struct gp_diag *diag)
{
	enum gp_status status;

	/* One with settings may need to know where its program is. */
	*engine = gp_engine_find(name);
	if (*engine && !(*engine)->settings)
		return GP_OK;
	status = open_engine(name, opened, diag);
	if (status == GP_OK)
		*engine = *opened;
	return status;
}
