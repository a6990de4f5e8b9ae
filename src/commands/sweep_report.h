/* SPDX-License-Identifier: MIT */
/* Writing a sweep's report: for sweep and merge. */
#ifndef COMMANDS_SWEEP_REPORT_H
#define COMMANDS_SWEEP_REPORT_H

#include "commands/options.h"
#include "report/book.h"

#define GP_SWEEP_FORMAT_OPTION                                                 \
	{                                                                      \
		"format", 0, GP_OPTION_WORD, GP_AT(format),                    \
			"text|json|csv|markdown|html",                         \
			"For a person, for a program, as a table, or as a "    \
			"page for a "                                          \
			"browser."                                             \
	}
/* The words of --format, in order. */
enum gp_sweep_format {
	GP_SWEEP_TEXT,
	GP_SWEEP_JSON,
	GP_SWEEP_CSV,
	GP_SWEEP_MARKDOWN,
	GP_SWEEP_HTML,
};

/* Where the options say. */
enum gp_status gp_sweep_report(const struct gp_book *book,
			       const struct gp_options *options, bool is_part,
			       struct gp_diag *diag);

#endif
