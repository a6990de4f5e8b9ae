/* SPDX-License-Identifier: MIT */
/* gpupool help formats: what is read, and what is written. */
#ifndef COMMANDS_FORMATS_TOPIC_H
#define COMMANDS_FORMATS_TOPIC_H

#include <stdio.h>

void gp_formats_topic(unsigned columns, FILE *out);

#endif
