/* SPDX-License-Identifier: MIT */
/* Signals that the program takes, where it was not told to ignore them. */
#ifndef COMMANDS_SIGNALS_H
#define COMMANDS_SIGNALS_H

/* nohup and shells that start a program in the background have it ignore
 * signals: those stay ignored.  The handler is called once, then the default
 * action is back. */
void gp_signal_catch(int number, void (*handler)(int number));

#endif
