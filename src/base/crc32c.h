/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C, as in iSCSI and ext4 (RFC 3720, appendix B.4): uses the instruction
 * of x86-64 and 64-bit ARM, and tables elsewhere.
 */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continues from crc, which is 0 at the beginning. */
uint32_t gp_crc32c(uint32_t crc, const void *bytes, size_t n);

/* The same without the instruction. */
uint32_t gp_crc32c_by_table(uint32_t crc, const void *bytes, size_t n);

#endif
