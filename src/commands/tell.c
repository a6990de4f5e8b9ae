/* SPDX-License-Identifier: MIT */
/* What is said about a run, on standard error. */
#include "commands/tell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/safe.h"

/* Newlines are ours where they end a text. */
void gp_tell(const char *format, ...)
{
	char text[4096], *end;
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	end = text + strlen(text);
	if (end > text && end[-1] == '\n')
		*--end = '\0';
	else
		end = NULL;
	gp_safe_put(text, stderr);
	if (end)
		putc('\n', stderr);
}
