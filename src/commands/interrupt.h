/* SPDX-License-Identifier: MIT */
/* Ctrl-C, for commands that have something to put in order first. */
#ifndef COMMANDS_INTERRUPT_H
#define COMMANDS_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

/* From here on the first SIGINT, SIGTERM or SIGHUP is noted, where they are not
 * ignored; the second one ends the program. */
void gp_interrupt_catch(void);
bool gp_interrupt_came(void);
/* The same, for threads that look by themselves. */
const atomic_bool *gp_interrupt_flag(void);

#endif
