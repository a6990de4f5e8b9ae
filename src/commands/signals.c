/* SPDX-License-Identifier: MIT */
/* Signals that the program takes, where it was not told to ignore them. */
#include "commands/signals.h"

#include <signal.h>
#include <stddef.h>

#include "commands/output.h"

static void take(int number, void (*handler)(int number), int flags)
{
	struct sigaction before, action = { .sa_handler = handler,
					    .sa_flags = flags };

	sigemptyset(&action.sa_mask);
	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

void gp_signal_catch(int number, void (*handler)(int number))
{
	take(number, handler, (int)SA_RESETHAND);
}

/* ---- Ctrl-C, for commands that have something to put in order first ---- */

/* A signal handler knows only globals. */
static atomic_bool came;

static void note(int number)
{
	atomic_store(&came, true);
	if (number == SIGINT)
		gp_signal_catch(number, gp_outlet_end);
}

/* timeout(1) and a log-out send theirs twice, at once: only a second Ctrl-C is
 * somebody who does not want to wait. */
void gp_interrupt_catch(void)
{
	if (gp_outlet_is_redirected())
		return;
	take(SIGINT, note, 0);
	take(SIGTERM, note, 0);
	take(SIGHUP, note, 0);
}

bool gp_interrupt_came(void)
{
	return atomic_load(&came);
}

void gp_interrupt_set(bool is_interrupted)
{
	atomic_store(&came, is_interrupted);
}

const atomic_bool *gp_interrupt_flag(void)
{
	return &came;
}
