/* SPDX-License-Identifier: MIT */
/* Signals that the program takes, where it was not told to ignore them. */
#include "commands/signals.h"

#include <signal.h>
#include <stddef.h>

void gp_signal_catch(int number, void (*handler)(int number))
{
	struct sigaction before, action = { .sa_handler = handler,
					    .sa_flags = (int)SA_RESETHAND };

	sigemptyset(&action.sa_mask);
	if (!sigaction(number, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}
