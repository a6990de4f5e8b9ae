/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4): a page's content security policy allows scripts by
 * it. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H

#include <stddef.h>

/* Base64, including the NUL. */
#define GP_SHA256_TEXT 45
const char *gp_sha256_base64(const char *bytes, size_t size,
			     char text[GP_SHA256_TEXT]);

#endif
