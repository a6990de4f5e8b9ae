/* SPDX-License-Identifier: MIT */
/* Messages about what failed. */
#include "gpupool/status.h"

#include <stdarg.h>
#include <stdio.h>

enum gp_status gp_diag_set(struct gp_diag *diag, enum gp_status status,
			   const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(diag->what, sizeof(diag->what), format, args);
	va_end(args);
	return status;
}

void gp_diag_hint(struct gp_diag *diag, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(diag->hint, sizeof(diag->hint), format, args);
	va_end(args);
}

void gp_diag_record(struct gp_diag *diag, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(diag->record, sizeof(diag->record), format, args);
	va_end(args);
}

void gp_diag_file(struct gp_diag *diag, const char *file)
{
	snprintf(diag->file, sizeof(diag->file), "%s", file);
}

enum gp_status gp_diag_foreign(struct gp_diag *diag, const char *what)
{
	diag->is_foreign = true;
	return gp_diag_set(diag, GP_INPUT, "%s", what);
}

enum gp_status gp_diag_usage(struct gp_diag *diag, const char *command,
			     const char *what, const char *hint)
{
	gp_diag_file(diag, command);
	gp_diag_hint(diag, "%s", hint);
	return gp_diag_set(diag, GP_USAGE, "%s", what);
}
