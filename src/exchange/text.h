/* SPDX-License-Identifier: MIT */
/* Texts inside JSON. */
#ifndef EXCHANGE_TEXT_H
#define EXCHANGE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* In quotes; UTF-8 without NULs. */
void text_json(FILE *out, const char *text, size_t length);

#endif
