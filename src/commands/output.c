/* SPDX-License-Identifier: MIT */
/*
 * The output of a command: its report, other files, and messages on standard
 * error; and how signals are handled meanwhile.
 *
 * A signal handler can only use globals: the two paths here, and the
 * interruption flags. The paths change while signals are blocked.
 */
#include "commands/output.h"

#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/safe.h"
#include "base/text_sink.h"

/* ---- standard output and error ---- */

static _Thread_local struct {
	FILE *out, *err; /* NULL: the program's */
} redirected;

void gp_outlet_redirect(FILE *out, FILE *err)
{
	redirected.out = out;
	redirected.err = err;
}

bool gp_outlet_is_redirected(void)
{
	return redirected.out != NULL;
}

FILE *gp_outlet_stdout(void)
{
	return redirected.out ? redirected.out : stdout;
}

FILE *gp_outlet_stderr(void)
{
	return redirected.err ? redirected.err : stderr;
}

bool gp_outlet_is_terminal(const FILE *stream)
{
	if (stream == stdout)
		return isatty(STDOUT_FILENO);
	return stream == stderr && isatty(STDERR_FILENO);
}

/* A newline at the end is ours; others in the text are made safe. */
void gp_notice(const char *format, ...)
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
	gp_safe_put(text, gp_outlet_stderr());
	if (end)
		putc('\n', gp_outlet_stderr());
}

/* ---- the terminal ---- */

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

	if (!gp_outlet_is_redirected() &&
	    !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && is_width(size.ws_col))
		return size.ws_col;
	return is_width(columns) ? (unsigned)columns : 80;
}

/* Whether the locale names another encoding than UTF-8: then the output is
 * ASCII. Containers often have no locale, but terminals that show Unicode. */
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
	return !options->output && gp_outlet_is_terminal(gp_outlet_stdout()) &&
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

/* ---- files, and what a signal does to them ---- */

#define OUTLETS 2 /* a report and its events */

static char unfinished[OUTLETS][PATH_MAX];

static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
#define SIGNALS (sizeof(signals) / sizeof(*signals))

static void remove_unfinished(void)
{
	for (size_t i = 0; i < OUTLETS; i++)
		if (*unfinished[i])
			unlink(unfinished[i]);
}

/* Installs a handler, unless the signal is ignored: nohup, and shells that
 * start a program in the background, set signals to be ignored, and these stay
 * so. */
static void catch_signal(int number, void (*handler)(int number))
{
	struct sigaction before, action = { .sa_handler = handler };

	sigemptyset(&action.sa_mask);
	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

/* Ends by the default action, so that the shell sees the signal. */
static void end_by(int number)
{
	remove_unfinished();
	catch_signal(number, SIG_DFL);
	raise(number);
}

void gp_outlet_guard(void)
{
	for (size_t i = 0; i < SIGNALS; i++)
		catch_signal(signals[i], end_by);
	at_quick_exit(remove_unfinished);
}

void gp_outlet_unguard(void)
{
	for (size_t i = 0; i < SIGNALS; i++)
		catch_signal(signals[i], SIG_DFL);
}

static void hold_signals(sigset_t *before)
{
	sigset_t held;

	sigemptyset(&held);
	for (size_t i = 0; i < SIGNALS; i++)
		sigaddset(&held, signals[i]);
	sigprocmask(SIG_BLOCK, &held, before);
}

static void let_signals(const sigset_t *before)
{
	sigprocmask(SIG_SETMASK, before, NULL);
}

static void remember(const char *path)
{
	for (size_t i = 0; i < OUTLETS; i++) {
		if (*unfinished[i])
			continue;
		snprintf(unfinished[i], sizeof(unfinished[i]), "%s", path);
		return;
	}
}

static void forget(const char *path)
{
	for (size_t i = 0; i < OUTLETS; i++)
		if (!strcmp(unfinished[i], path))
			*unfinished[i] = 0;
}

enum gp_status gp_outlet_open(struct gp_output *output, const char *path,
			      struct gp_diag *diag)
{
	enum gp_status status;
	sigset_t before;

	if (gp_outlet_is_redirected()) {
		status = gp_output_open(output, path, diag);
		if (output->stream == stdout)
			output->stream = gp_outlet_stdout();
		return status;
	}
	hold_signals(&before);
	status = gp_output_open(output, path, diag);
	if (status == GP_OK && output->temporary)
		remember(output->temporary);
	let_signals(&before);
	return status;
}

static bool is_text(enum gp_format format)
{
	return format == GP_FORMAT_TEXT || format == GP_FORMAT_MARKDOWN ||
	       format == GP_FORMAT_SUMMARY ||
	       format == GP_FORMAT_SUMMARY_ABBREVIATED;
}

enum gp_status gp_outlet_open_report(struct gp_output *output,
				     const struct gp_options *options,
				     struct gp_diag *diag)
{
	enum gp_status status = gp_outlet_open(output, options->output, diag);

	if (status == GP_OK && is_text(options->format))
		gp_output_make_safe(output);
	return status;
}

static enum gp_status finish(struct gp_output *output, bool commit,
			     struct gp_diag *diag)
{
	char temporary[PATH_MAX] = "";
	enum gp_status status = GP_OK;
	sigset_t before;

	/* Signals stay unblocked here: the reader of a pipe or terminal may be
	 * slow or gone. */
	if (output->way == GP_OUTPUT_DIRECT) {
		if (commit)
			return gp_output_commit(output, diag);
		gp_output_abandon(output);
		return GP_OK;
	}
	if (output->temporary)
		snprintf(temporary, sizeof(temporary), "%s", output->temporary);
	hold_signals(&before);
	if (commit)
		status = gp_output_commit(output, diag);
	else
		gp_output_abandon(output);
	if (*temporary)
		forget(temporary);
	let_signals(&before);
	return status;
}

enum gp_status gp_outlet_close(struct gp_output *output, enum gp_status status,
			       struct gp_diag *diag)
{
	if (status == GP_OK && output->stream)
		return finish(output, true, diag);
	finish(output, false, NULL);
	return status;
}

/* ---- reports ---- */

static size_t longest_fence(const char *text)
{
	size_t longest = 0, length;

	for (; *text; text += length ? length : 1) {
		length = strspn(text, "`");
		if (length > longest)
			longest = length;
	}
	return longest;
}

static void put_fence(size_t length, const char *word, FILE *out)
{
	for (size_t i = 0; i < length; i++)
		putc('`', out);
	fprintf(out, "%s\n", word);
}

/* A fenced block keeps the alignment, and nothing in it is taken as markup or a
 * mention. */
static void write_fenced(const struct gp_options *options,
			 gp_outlet_writer *write, void *arg, FILE *out)
{
	struct gp_report_style style = gp_terminal_style(options);
	struct gp_text_sink sink;
	FILE *stream = gp_text_sink_open(&sink);
	size_t fence;
	char *text;

	style.color = false;
	write(arg, &style, stream);
	text = gp_text_sink_close(&sink, stream);
	fence = longest_fence(text) + 1;
	if (fence < 3)
		fence = 3;
	put_fence(fence, "text", out);
	fputs(text, out);
	put_fence(fence, "", out);
	free(text);
}

void gp_outlet_write(const struct gp_options *options, gp_outlet_writer *write,
		     void *arg, FILE *out)
{
	struct gp_report_style style = gp_terminal_style(options);

	if (options->format == GP_FORMAT_MARKDOWN)
		write_fenced(options, write, arg, out);
	else
		write(arg, &style, out);
}

enum gp_status gp_outlet_report(const struct gp_options *options,
				gp_outlet_writer *write, void *arg,
				struct gp_diag *diag)
{
	struct gp_output output;
	enum gp_status status = gp_outlet_open_report(&output, options, diag);

	if (status != GP_OK)
		return status;
	gp_outlet_write(options, write, arg, output.stream);
	return gp_outlet_close(&output, status, diag);
}

enum gp_status gp_outlet_report_as_is(const struct gp_options *options,
				      gp_outlet_writer *write, void *arg,
				      struct gp_diag *diag)
{
	struct gp_report_style style = gp_terminal_style(options);
	struct gp_output output;
	enum gp_status status = gp_outlet_open_report(&output, options, diag);

	if (status != GP_OK)
		return status;
	write(arg, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}

/* ---- Ctrl-C and the like ---- */

/* A signal handler can only use globals. */
static atomic_bool came;
/* The flag of the question that this thread answers. */
static _Thread_local const atomic_bool *by;

static void note(int number)
{
	atomic_store(&came, true);
	if (number == SIGINT)
		catch_signal(number, end_by);
}

/* A second Ctrl-C ends the program at once. A second signal of another kind
 * does not: timeout(1) and logging out send theirs twice. */
void gp_interrupt_catch(void)
{
	if (gp_outlet_is_redirected())
		return;
	catch_signal(SIGINT, note);
	catch_signal(SIGTERM, note);
	catch_signal(SIGHUP, note);
}

bool gp_interrupt_came(void)
{
	return atomic_load(gp_interrupt_flag());
}

void gp_interrupt_set(bool is_interrupted)
{
	atomic_store(&came, is_interrupted);
}

const atomic_bool *gp_interrupt_flag(void)
{
	return by ? by : &came;
}

void gp_interrupt_by(const atomic_bool *flag)
{
	by = flag;
}
