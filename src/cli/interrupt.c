/* SPDX-License-Identifier: MIT */
/* Ctrl-C, for commands that have something to put in order first. */
#include "cli/interrupt.h"

#include <signal.h>

/* A signal handler knows only globals. */
static atomic_bool came;

static void note(int number)
{
	(void)number;
	atomic_store(&came, true);
}

void gp_interrupt_catch(void)
{
	struct sigaction action = { .sa_handler = note,
				    .sa_flags = (int)SA_RESETHAND };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

bool gp_interrupt_came(void)
{
	return atomic_load(&came);
}

const atomic_bool *gp_interrupt_flag(void)
{
	return &came;
}
