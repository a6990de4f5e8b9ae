/* SPDX-License-Identifier: MIT */
/*
 * A command line, from its first word to its exit status: finds the command,
 * parses its flags, runs it and says on standard error what did not end well.
 */
#ifndef COMMANDS_DISPATCH_H
#define COMMANDS_DISPATCH_H

#include "gpupool/status.h"

/* argv as main() has it; it is reordered.  The status is the exit code. */
enum gp_status gp_command_line(int argc, char **argv, struct gp_diag *diag);

#endif
