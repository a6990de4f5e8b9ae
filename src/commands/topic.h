/* SPDX-License-Identifier: MIT */
/* What gpupool help explains besides commands: tables of the library. */
#ifndef COMMANDS_TOPIC_H
#define COMMANDS_TOPIC_H

#include <stdbool.h>
#include <stdio.h>

/* False: there is no such topic. */
bool gp_topic_print(const char *name, unsigned columns, FILE *out);

/* Their names, each with a sentence. */
void gp_topic_list(unsigned columns, FILE *out);

#endif
