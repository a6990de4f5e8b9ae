/* SPDX-License-Identifier: MIT */
/* Signals that the program takes, where it was not told to ignore them. */
#ifndef COMMANDS_SIGNALS_H
#define COMMANDS_SIGNALS_H

#include <stdatomic.h>
#include <stdbool.h>

/* nohup and shells that start a program in the background have it ignore
 * signals: those stay ignored.  The handler is called once, then the default
 * action is back. */
void gp_signal_catch(int number, void (*handler)(int number));

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
