/* SPDX-License-Identifier: MIT */
/* man/gpupool-what-if.7, made from the table of what-ifs. */
#ifndef COMMANDS_WHAT_IF_PAGE_H
#define COMMANDS_WHAT_IF_PAGE_H

#include <stdio.h>

void gp_what_if_page(FILE *out);

#endif
