/* SPDX-License-Identifier: MIT */
/* The output of a command: its report, in a style that suits the terminal,
 * other files, and messages on standard error; and how signals are handled
 * meanwhile. */
#ifndef COMMANDS_OUTPUT_H
#define COMMANDS_OUTPUT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/file.h"
#include "commands/options.h"
#include "gpupool/status.h"
#include "report/report.h"

/* Standard output and error: the program's, or those of the question that this
 * thread answers (gpupool/ask.h). The latter are not terminals, and files are
 * left to the caller to clean up. */
FILE *gp_outlet_stdout(void);
FILE *gp_outlet_stderr(void);
bool gp_outlet_is_terminal(const FILE *stream);
/* Redirects this thread's output from here on; NULL: the program's again. */
void gp_outlet_redirect(FILE *out, FILE *err);
bool gp_outlet_is_redirected(void);

/* As fprintf to standard error; names from outside are made safe (base/safe.h).
 */
void gp_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The width in columns of standard output's terminal; else COLUMNS; else 80. */
unsigned gp_terminal_columns(void);

struct gp_report_style gp_terminal_style(const struct gp_options *options);

/* From here on, unfinished files are removed when SIGINT, SIGTERM, SIGHUP or
 * SIGPIPE, or a lack of host memory, ends the program. */
void gp_outlet_guard(void);
/* Restores the default: for a child, before it executes another program. */
void gp_outlet_unguard(void);

enum gp_status gp_outlet_open(struct gp_output *output, const char *path,
			      struct gp_diag *diag);
/* For a report: text for people is made safe for terminals and logs
 * (base/safe.h). */
enum gp_status gp_outlet_open_report(struct gp_output *output,
				     const struct gp_options *options,
				     struct gp_diag *diag);
typedef void gp_outlet_writer(void *arg, const struct gp_report_style *style,
			      FILE *out);
/* Writes a command's report: opens the output that the options name, calls
 * write, and closes it. In Markdown, the text is a fenced block. */
enum gp_status gp_outlet_report(const struct gp_options *options,
				gp_outlet_writer *write, void *arg,
				struct gp_diag *diag);
/* The same for a writer that produces Markdown itself. */
enum gp_status gp_outlet_report_as_is(const struct gp_options *options,
				      gp_outlet_writer *write, void *arg,
				      struct gp_diag *diag);
/* Writes to a stream what gp_outlet_report would write. */
void gp_outlet_write(const struct gp_options *options, gp_outlet_writer *write,
		     void *arg, FILE *out);

/* Commits if status is GP_OK, else abandons; nothing for a zeroed or committed
 * output. */
enum gp_status gp_outlet_close(struct gp_output *output, enum gp_status status,
			       struct gp_diag *diag);

/* ---- Ctrl-C and the like, for commands that have to finish something first
 * ---- */

/* From here on the first SIGINT, SIGTERM or SIGHUP is noted, unless ignored; a
 * second SIGINT ends the program. No effect while a question is answered
 * (gpupool/ask.h). */
void gp_interrupt_catch(void);
bool gp_interrupt_came(void);
/* Sets or clears that note: for callers that no longer want an answer. */
void gp_interrupt_set(bool is_interrupted);
/* The same as a flag, for threads that check it themselves. */
const atomic_bool *gp_interrupt_flag(void);
/* From here on this thread is interrupted by that flag instead; NULL: as
 * before. */
void gp_interrupt_by(const atomic_bool *flag);

#endif
