/* SPDX-License-Identifier: MIT */
/*
 * What a command writes: its report, in the style that the terminal asks for,
 * other files, and words on standard error; and what signals do to it.
 */
#ifndef COMMANDS_OUTPUT_H
#define COMMANDS_OUTPUT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/file.h"
#include "commands/options.h"
#include "gpupool/status.h"
#include "report/report.h"

/*
 * Standard output and error: the program's, or those of the question that this
 * thread answers (gpupool/ask.h), which are no terminals, and whose files are
 * its caller's to clean up.
 */
FILE *gp_outlet_stdout(void);
FILE *gp_outlet_stderr(void);
bool gp_outlet_is_terminal(const FILE *stream);
/* From here on in this thread; NULL: the program's again. */
void gp_outlet_redirect(FILE *out, FILE *err);
bool gp_outlet_is_redirected(void);

/* As fprintf to standard error; what strangers named in it is made safe
 * (base/safe.h). */
void gp_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Of standard output's terminal; COLUMNS where it does not tell; 80. */
unsigned gp_terminal_columns(void);

struct gp_report_style gp_terminal_style(const struct gp_options *options);

/* Ends by SIGINT, SIGTERM, SIGHUP and SIGPIPE, and ends for want of host
 * memory, remove unfinished files. */
void gp_outlet_guard(void);
/* They only end it again: in a child, before it becomes another program. */
void gp_outlet_unguard(void);
/* What such a signal does. */
void gp_outlet_end(int number);
/* From here on it does that, unless it is ignored: nohup and shells that start
 * a program in the background have it ignore signals, and those stay ignored.
 */
void gp_outlet_catch(int number, void (*handler)(int number));

enum gp_status gp_outlet_open(struct gp_output *output, const char *path,
			      struct gp_diag *diag);
/* For a report: one that is a text for people is made safe for a terminal and a
 * log (base/safe.h). */
enum gp_status gp_outlet_open_report(struct gp_output *output,
				     const struct gp_options *options,
				     struct gp_diag *diag);
typedef void gp_outlet_writer(void *arg, const struct gp_report_style *style,
			      FILE *out);
/* The report that a command is for: opened where the options say, written by
 * write, and closed.  As Markdown it is the text, between fences. */
enum gp_status gp_outlet_report(const struct gp_options *options,
				gp_outlet_writer *write, void *arg,
				struct gp_diag *diag);
/* The same where write has Markdown of its own. */
enum gp_status gp_outlet_report_as_is(const struct gp_options *options,
				      gp_outlet_writer *write, void *arg,
				      struct gp_diag *diag);
/* What gp_outlet_report writes, onto a stream. */
void gp_outlet_write(const struct gp_options *options, gp_outlet_writer *write,
		     void *arg, FILE *out);

/* Commits when all went well so far, else abandons; nothing for a zeroed or
 * committed one. */
enum gp_status gp_outlet_close(struct gp_output *output, enum gp_status status,
			       struct gp_diag *diag);

/* ---- Ctrl-C and the like, for commands that have something to put in order
 * first ---- */

/* Nothing while a question is answered (gpupool/ask.h).  From here on the first
 * SIGINT, SIGTERM or SIGHUP is noted, where they are not ignored; a second
 * SIGINT ends the program. */
void gp_interrupt_catch(void);
bool gp_interrupt_came(void);
/* As if one had come, or none: where nobody wants an answer any more. */
void gp_interrupt_set(bool is_interrupted);
/* The same, for threads that look by themselves. */
const atomic_bool *gp_interrupt_flag(void);

#endif
