/* SPDX-License-Identifier: MIT */
/*
 * Pages of the manual that are made of tables, as mdoc's source: for man/.
 *
 *	gpupool help report.5 > man/gpupool-report.5
 */
#ifndef COMMANDS_PAGES_H
#define COMMANDS_PAGES_H

#include <stdio.h>

void gp_report_page(FILE *out);

void gp_metrics_page(FILE *out);

void gp_settings_page(FILE *out);

void gp_what_if_page(FILE *out);

/* Not a page of the manual, but the same table for programs. */
void gp_settings_json(FILE *out);

#endif
