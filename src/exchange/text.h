/* Texts inside JSON and CSV. */
#ifndef EXCHANGE_TEXT_H
#define EXCHANGE_TEXT_H

#include <stddef.h>
#include <stdio.h>

/* In quotes; UTF-8 without NULs. */
void text_json(FILE *out, const char *text, size_t length);
/* In quotes where it needs them. */
void text_csv(FILE *out, const char *text);

#endif
