/* SPDX-License-Identifier: MIT */
/* Writing a sweep's report: for sweep and merge. */
#ifndef COMMANDS_SWEEP_REPORT_H
#define COMMANDS_SWEEP_REPORT_H

#include "commands/options.h"
#include "report/book.h"

#define GP_SWEEP_FORMAT_OPTION                                                 \
	{                                                                      \
		"format", 0, GP_OPTION_FORMAT, GP_AT(format),                  \
			"text|json|csv|markdown|html",                         \
			"For a person, for a program, as a table, or as a "    \
			"page for a "                                          \
			"browser."                                             \
	}
/* Where the options say. */
enum gp_status gp_sweep_report(const struct gp_book *book,
			       const struct gp_options *options, bool is_part,
			       struct gp_diag *diag);

#endif
