/* SPDX-License-Identifier: MIT */
/* man/gpupool-settings.7, made from the table of settings. */
#ifndef CLI_SETTINGS_PAGE_H
#define CLI_SETTINGS_PAGE_H

#include <stdio.h>

void gp_settings_page(FILE *out);

#endif
