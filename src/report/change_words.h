/* SPDX-License-Identifier: MIT */
/* Differences as people read them. */
#ifndef REPORT_CHANGE_WORDS_H
#define REPORT_CHANGE_WORDS_H

#include "base/bytes.h"
#include "report/change_report.h"

/* "+1.2 GiB", "-512 B" or "=". */
#define GP_SIGNED_TEXT (GP_BYTES_TEXT + 1)
const char *gp_signed_text(uint64_t a, uint64_t b, char text[GP_SIGNED_TEXT]);

/* "1 MiB to 2 MiB" */
#define GP_CLASS_TEXT 64
const char *gp_class_text(uint64_t floor, char text[GP_CLASS_TEXT]);

/* JSON's word, and what stands behind a name. */
extern const char *const gp_fate_words[];

#endif
