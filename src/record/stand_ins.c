/* SPDX-License-Identifier: MIT */
/* The folder of libraries that stand in for CUDA's. */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/record.h"

#define ALL_SYMBOLS "libgpupool-stand-ins.so"

static enum gp_status write_object(const struct gp_object *object,
				   const char *folder, struct gp_diag *diag)
{
	char path[PATH_MAX];

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder,
			     object->soname) >= sizeof(path))
		return gp_diag_set(diag, GP_SYSTEM, "a path is too long");
	if (!access(path, R_OK))
		return GP_OK;
	return gp_object_write(object, path, diag);
}

/* dlsym on the handle of an empty library looks into what it depends on. */
static enum gp_status write_empty(const struct gp_wants *wants, size_t index,
				  const char *folder, struct gp_diag *diag)
{
	static const char *const needed[] = { "libgpupool-simcuda.so",
					      ALL_SYMBOLS };
	const struct gp_object object = {
		.soname = wants->sonames[index],
		.needed = needed,
		.needed_count = 2,
	};

	return write_object(&object, folder, diag);
}

enum gp_status gp_stand_ins_write(const struct gp_wants *wants,
				  const char *folder, struct gp_diag *diag)
{
	const struct gp_object all = {
		.soname = ALL_SYMBOLS,
		.symbols = wants->symbols,
		.symbol_count = wants->symbol_count,
	};
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < wants->soname_count && status == GP_OK; i++)
		status = write_empty(wants, i, folder, diag);
	/* Last: who sees it may take all of them to be there. */
	return status == GP_OK ? write_object(&all, folder, diag) : status;
}
