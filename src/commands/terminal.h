/* SPDX-License-Identifier: MIT */
/* What the terminal is like, and how a report should look there. */
#ifndef COMMANDS_TERMINAL_H
#define COMMANDS_TERMINAL_H

#include "commands/options.h"
#include "report/report.h"

/* Of standard output's terminal; COLUMNS where it does not tell; 80. */
unsigned gp_terminal_columns(void);

struct gp_report_style gp_terminal_style(const struct gp_options *options);

#endif
