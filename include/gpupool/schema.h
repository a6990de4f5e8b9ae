/* SPDX-License-Identifier: MIT */
/*
 * The name of gpupool's reports, with the number that rises where a key changes
 * its name or meaning.
 */
#ifndef GPUPOOL_SCHEMA_H
#define GPUPOOL_SCHEMA_H

#include "gpupool/status.h"

/* What `gpupool SOMETHING --format json` writes, unless it says otherwise. */
#define GP_REPORT_FAMILY "gpupool-report/"
#define GP_REPORT_SCHEMA GP_REPORT_FAMILY "2"

/* schema: of a report, as it stands there, up to a quote or its end.
 * GP_INPUT with what to do in diag: another gpupool's, which names the numbers
 * otherwise. */
enum gp_status gp_report_check(const char *schema, struct gp_diag *diag);

#endif
