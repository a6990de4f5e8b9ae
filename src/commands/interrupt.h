/* SPDX-License-Identifier: MIT */
/* Ctrl-C and the like, for commands that have something to put in order first.
 */
#ifndef COMMANDS_INTERRUPT_H
#define COMMANDS_INTERRUPT_H

#include <stdatomic.h>
#include <stdbool.h>

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
