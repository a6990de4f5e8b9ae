/* SPDX-License-Identifier: MIT */
/* Runs a command line: finds the command, parses its flags, runs it, and prints
 * an error to standard error. */
#ifndef COMMANDS_DISPATCH_H
#define COMMANDS_DISPATCH_H

#include "gpupool/status.h"

/* argv as main() has it; it is reordered.  The status is the exit code. */
enum gp_status gp_command_line(int argc, char **argv, struct gp_diag *diag);

#endif
