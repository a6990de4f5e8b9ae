/* SPDX-License-Identifier: MIT */
/*
 * CRC-32C, of iSCSI and ext4 (RFC 3720, appendix B.4): x86-64 and 64-bit ARM
 * have an instruction for it; elsewhere it is looked up in tables.
 */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Goes on from crc, which is 0 at the beginning. */
uint32_t gp_crc32c(uint32_t crc, const void *bytes, size_t n);

/* The same without the instruction. */
uint32_t gp_crc32c_by_table(uint32_t crc, const void *bytes, size_t n);

#endif
