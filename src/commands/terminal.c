/* SPDX-License-Identifier: MIT */
/* What the terminal is like. */
#include "commands/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define NARROWEST 40
#define WIDEST	  1000

static bool is_width(long columns)
{
	return columns >= NARROWEST && columns <= WIDEST;
}

unsigned gp_terminal_columns(void)
{
	const char *variable = getenv("COLUMNS");
	long columns = variable ? strtol(variable, NULL, 10) : 0;
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && is_width(size.ws_col))
		return size.ws_col;
	return is_width(columns) ? (unsigned)columns : 80;
}

/* Only a locale that says it is not UTF-8 keeps Unicode away: containers have
 * none at all, and their terminals show it well. */
static bool is_ascii_locale(void)
{
	static const char *const variables[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++) {
		const char *value = getenv(variables[i]);

		if (value && *value)
			return !strcasestr(value, "utf-8") &&
			       !strcasestr(value, "utf8");
	}
	return false;
}

static bool wants_color(const struct gp_options *options)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (options->color != GP_COLOR_AUTO)
		return options->color == GP_COLOR_ALWAYS;
	return !options->output && isatty(STDOUT_FILENO) &&
	       !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

struct gp_report_style gp_terminal_style(const struct gp_options *options)
{
	return (struct gp_report_style){
		.ascii = options->ascii || is_ascii_locale(),
		.color = wants_color(options),
		.columns = gp_terminal_columns(),
	};
}
