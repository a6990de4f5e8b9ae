/* SPDX-License-Identifier: MIT */
/* Bytes as text. */
#include "base/base64.h"

#include <stdint.h>

void gp_base64_put(const void *bytes, size_t count, FILE *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij"
				     "klmnopqrstuvwxyz0123456789+/";
	const uint8_t *at = bytes;

	for (size_t i = 0; i < count; i += 3) {
		size_t left = count - i;
		uint32_t word = (uint32_t)at[i] << 16;

		word |= left > 1 ? (uint32_t)at[i + 1] << 8 : 0;
		word |= left > 2 ? at[i + 2] : 0;
		putc(digits[word >> 18], out);
		putc(digits[word >> 12 & 63], out);
		putc(left > 1 ? digits[word >> 6 & 63] : '=', out);
		putc(left > 2 ? digits[word & 63] : '=', out);
	}
}
