/* SPDX-License-Identifier: MIT */
/* Pages of the manual that are made of tables. */
#ifndef COMMANDS_MDOC_H
#define COMMANDS_MDOC_H

#include <stdio.h>

/* Words of text on lines that are not too long, as mdoc's source has them. */
void gp_mdoc_words(const char *text, FILE *out);

#endif
