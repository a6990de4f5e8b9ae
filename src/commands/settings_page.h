/* SPDX-License-Identifier: MIT */
/* man/gpupool-settings.7, made from the table of settings. */
#ifndef COMMANDS_SETTINGS_PAGE_H
#define COMMANDS_SETTINGS_PAGE_H

#include <stdio.h>

void gp_settings_page(FILE *out);

#endif
