/* SPDX-License-Identifier: MIT */
/* man/gpupool-metrics.7, made from the table of measures. */
#ifndef COMMANDS_METRICS_PAGE_H
#define COMMANDS_METRICS_PAGE_H

#include <stdio.h>

void gp_metrics_page(FILE *out);

#endif
