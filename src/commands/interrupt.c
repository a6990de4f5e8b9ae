/* SPDX-License-Identifier: MIT */
/* Ctrl-C, for commands that have something to put in order first. */
#include "commands/interrupt.h"

#include <signal.h>

#include "commands/outlet.h"
#include "commands/signals.h"

/* A signal handler knows only globals. */
static atomic_bool came;

static void note(int number)
{
	atomic_store(&came, true);
	gp_signal_catch(number, gp_outlet_end);
}

void gp_interrupt_catch(void)
{
	gp_signal_catch(SIGINT, note);
	gp_signal_catch(SIGTERM, note);
	gp_signal_catch(SIGHUP, note);
}

bool gp_interrupt_came(void)
{
	return atomic_load(&came);
}

const atomic_bool *gp_interrupt_flag(void)
{
	return &came;
}
