/* SPDX-License-Identifier: MIT */
/* CRC-32C, eight bytes at a time. */
#include "base/crc32c.h"

#include <endian.h>
#include <string.h>

/* reflected: the lowest bit is the highest power */
#define POLYNOMIAL 0x82f63b78u
#define TABLES	   8

/* The contribution of a byte that is followed by that many more. Computed for
 * each call, in 2,048 steps, so that threads share nothing. */
struct tables {
	uint32_t of[TABLES][256];
};

static void make_tables(struct tables *t)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		uint32_t crc = byte;

		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		t->of[0][byte] = crc;
	}
	for (unsigned k = 1; k < TABLES; k++)
		for (uint32_t byte = 0; byte < 256; byte++) {
			uint32_t crc = t->of[k - 1][byte];

			t->of[k][byte] = crc >> 8 ^ t->of[0][crc & 255];
		}
}

/* Kounavis and Berry 2005, "A systematic approach to building high performance
 * software-based CRC generators". */
uint32_t gp_crc32c_by_table(uint32_t crc, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	struct tables t;
	uint64_t eight;

	make_tables(&t);
	crc = ~crc;
	for (; n >= sizeof(eight); at += sizeof(eight), n -= sizeof(eight)) {
		memcpy(&eight, at, sizeof(eight));
		eight = le64toh(eight) ^ crc;
		crc = 0;
		for (unsigned k = 0; k < TABLES; k++)
			crc ^= t.of[TABLES - 1 - k][eight >> 8 * k & 255];
	}
	for (; n; n--)
		crc = crc >> 8 ^ t.of[0][(crc ^ *at++) & 255];
	return ~crc;
}

#if defined(__x86_64__)
#if defined(__clang__) && __clang_major__ >= 14
/* In SSE 4.2, but a target feature of its own for the compiler. */
#define BY_INSTRUCTION __attribute__((target("sse4.2,crc32")))
#else
#define BY_INSTRUCTION __attribute__((target("sse4.2")))
#endif
#define STEP_8(crc, to) (uint32_t) __builtin_ia32_crc32di(crc, to)
#define STEP_1(crc, to) __builtin_ia32_crc32qi(crc, to)

static int has_instruction(void)
{
	return __builtin_cpu_supports("sse4.2");
}
#elif defined(__ARM_FEATURE_CRC32)
#include <arm_acle.h>
#define BY_INSTRUCTION
#define STEP_8(crc, to) __crc32cd(crc, to)
#define STEP_1(crc, to) __crc32cb(crc, to)

static int has_instruction(void)
{
	return 1;
}
#endif

#ifdef BY_INSTRUCTION
BY_INSTRUCTION
static uint32_t by_instruction(uint32_t crc, const void *bytes, size_t n)
{
	const unsigned char *at = bytes;
	uint64_t eight;

	crc = ~crc;
	for (; n >= sizeof(eight); at += sizeof(eight), n -= sizeof(eight)) {
		memcpy(&eight, at, sizeof(eight));
		crc = STEP_8(crc, le64toh(eight));
	}
	for (; n; n--)
		crc = STEP_1(crc, *at++);
	return ~crc;
}

uint32_t gp_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	return has_instruction() ? by_instruction(crc, bytes, n)
				 : gp_crc32c_by_table(crc, bytes, n);
}
#else
uint32_t gp_crc32c(uint32_t crc, const void *bytes, size_t n)
{
	return gp_crc32c_by_table(crc, bytes, n);
}
#endif
