/* SPDX-License-Identifier: MIT */
/* Bytes as text: RFC 4648, with padding, on one line. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stddef.h>
#include <stdio.h>

void gp_base64_put(const void *bytes, size_t count, FILE *out);

#endif
