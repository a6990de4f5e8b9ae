/* SPDX-License-Identifier: MIT */
/*
 * Output files of a command, and what a signal does to them.
 *
 * A signal handler knows only globals: the two paths here are the one mutable
 * state of the program.  They change while signals are held back.
 */
#include "commands/outlet.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands/signals.h"
#include "commands/terminal.h"

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

/* The default action is back: the shell learns the signal. */
void gp_outlet_end(int number)
{
	remove_unfinished();
	raise(number);
}

void gp_outlet_guard(void)
{
	for (size_t i = 0; i < SIGNALS; i++)
		gp_signal_catch(signals[i], gp_outlet_end);
	at_quick_exit(remove_unfinished);
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

	/* The reader of a pipe or a terminal may be slow or gone, and a signal
	 * must still get through. */
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

enum gp_status gp_outlet_commit(struct gp_output *output, struct gp_diag *diag)
{
	return finish(output, true, diag);
}

void gp_outlet_abandon(struct gp_output *output)
{
	finish(output, false, NULL);
}

enum gp_status gp_outlet_close(struct gp_output *output, enum gp_status status,
			       struct gp_diag *diag)
{
	if (status == GP_OK && output->stream)
		return gp_outlet_commit(output, diag);
	gp_outlet_abandon(output);
	return status;
}

enum gp_status gp_outlet_report(
	const struct gp_options *options,
	void (*write)(void *arg, const struct gp_report_style *style,
		      FILE *out),
	void *arg, struct gp_diag *diag)
{
	struct gp_report_style style = gp_terminal_style(options);
	struct gp_output output;
	enum gp_status status = gp_outlet_open_report(&output, options, diag);

	if (status != GP_OK)
		return status;
	write(arg, &style, output.stream);
	return gp_outlet_close(&output, status, diag);
}
