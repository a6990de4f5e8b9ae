/* SPDX-License-Identifier: MIT */
#include "commands/interrupt.h"

#include <signal.h>

#include "commands/output.h"

/* A signal handler knows only globals. */
static atomic_bool came;

static void note(int number)
{
	atomic_store(&came, true);
	if (number == SIGINT)
		gp_outlet_catch(number, gp_outlet_end);
}

/* timeout(1) and a log-out send theirs twice, at once: only a second Ctrl-C is
 * somebody who does not want to wait. */
void gp_interrupt_catch(void)
{
	if (gp_outlet_is_redirected())
		return;
	gp_outlet_catch(SIGINT, note);
	gp_outlet_catch(SIGTERM, note);
	gp_outlet_catch(SIGHUP, note);
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
