/* SPDX-License-Identifier: MIT */
/* Texts inside JSON. */
#ifndef REPORT_EXCHANGE_TEXT_H
#define REPORT_EXCHANGE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* In quotes; UTF-8 without NULs. */
void text_json(FILE *out, const char *text, size_t length);

#endif
