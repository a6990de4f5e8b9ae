/* SPDX-License-Identifier: MIT */
/* gpupool help, and the parts of it that other commands use. */
#ifndef COMMANDS_HELP_H
#define COMMANDS_HELP_H

#include <stdio.h>

#include "commands/command.h"
#include "gpupool/status.h"

/* A flag or command, and its sentence wrapped beside it. */
void gp_help_entry(const char *name, const char *sentence, unsigned columns,
		   FILE *out);

/* All commands in a screen. */
void gp_help_overview(unsigned columns, FILE *out);

/* The names of the topics that it explains besides commands, each followed by a
 * space. */
void gp_help_topics(FILE *out);

/* The help of one command with its flags. */
void gp_help_print(const struct gp_command *command, unsigned columns,
		   FILE *out);

#endif
