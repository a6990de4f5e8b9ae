/* SPDX-License-Identifier: MIT */
/* What a recording tells of itself, beside its replay. */
#ifndef REPORT_TOLD_H
#define REPORT_TOLD_H

#include "gpupool/trace.h"

/* Sentences for a recording that tells of more reserved than its replay comes
 * to: what is missing, and how little the peak can have been.  NULL: it does
 * not. */
#define GP_TOLD_TEXT 512
const char *gp_told_more(const struct gp_recorded *told, uint64_t replayed,
			 char text[GP_TOLD_TEXT]);

#endif
