/* SPDX-License-Identifier: MIT */
/* Signals that the program takes, where it was not told to ignore them. */
#include "commands/signals.h"

#include <signal.h>
#include <stddef.h>

#include "commands/output.h"

void gp_signal_catch(int number, void (*handler)(int number))
{
	struct sigaction before, action = { .sa_handler = handler,
					    .sa_flags = (int)SA_RESETHAND };

	sigemptyset(&action.sa_mask);
	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

/* ---- Ctrl-C, for commands that have something to put in order first ---- */

/* A signal handler knows only globals. */
static atomic_bool came;

static void note(int number)
{
	atomic_store(&came, true);
	gp_signal_catch(number, gp_outlet_end);
}

void gp_interrupt_catch(void)
{
	if (gp_outlet_is_redirected())
		return;
	gp_signal_catch(SIGINT, note);
	gp_signal_catch(SIGTERM, note);
	gp_signal_catch(SIGHUP, note);
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
