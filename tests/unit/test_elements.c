/* SPDX-License-Identifier: MIT */
/* Sums and other reductions of NCCL's types, each of numbers that the type
 * holds exactly. */
#include "simcuda/program/elements.h"

#include <stdint.h>
#include <string.h>

#include "suite.h"

enum { SUM, PRODUCT, MAXIMUM, MINIMUM, AVERAGE };

START_TEST(test_whole_numbers)
{
	int64_t numbers[] = { -3, 5 }, others[] = { 4, -2 };
	uint8_t bytes[] = { 200 }, more[] = { 100 };

	elements_reduce(numbers, others, 2, 4, SUM);
	ck_assert_int_eq(numbers[0], 1);
	ck_assert_int_eq(numbers[1], 3);
	elements_reduce(numbers, others, 2, 4, MINIMUM);
	ck_assert_int_eq(numbers[0], 1);
	ck_assert_int_eq(numbers[1], -2);
	elements_reduce(bytes, more, 1, 1, MAXIMUM);
	ck_assert_uint_eq(bytes[0], 200);
	elements_reduce(bytes, more, 1, 1, SUM);
	ck_assert_uint_eq(bytes[0], 44);
}
END_TEST

START_TEST(test_an_average_is_a_sum_at_first)
{
	float numbers[] = { 1, 2.5F }, others[] = { 2, 0.5F };

	elements_reduce(numbers, others, 2, 7, AVERAGE);
	elements_finish(numbers, 2, 7, AVERAGE, 2);
	ck_assert_float_eq(numbers[0], 1.5F);
	ck_assert_float_eq(numbers[1], 1.5F);
	elements_finish(numbers, 2, 7, SUM, 2);
	ck_assert_float_eq(numbers[0], 1.5F);
}
END_TEST

/* The operands as bits: 1.5 + 2.25 = 3.75, and the largest number plus
 * itself. */
START_TEST(test_floating_point_in_fewer_bits)
{
	const struct {
		int type;
		uint16_t one, other, sum;
	} rows[] = {
		{ 6, 0x3e00, 0x4080, 0x4380 },	/* half */
		{ 6, 0x7bff, 0x7bff, 0x7c00 },	/* infinite */
		{ 6, 0x0001, 0x0001, 0x0002 },	/* without an exponent */
		{ 6, 0xbe00, 0x3e00, 0x0000 },	/* -1.5 + 1.5 */
		{ 9, 0x3fc0, 0x4010, 0x4070 },	/* bfloat16 */
		{ 11, 0x003c, 0x0040, 0x0042 }, /* E5M2: 1 + 2 */
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint16_t sum = rows[i].one;

		elements_reduce(&sum, &rows[i].other, 1, rows[i].type, SUM);
		ck_assert_uint_eq(sum, rows[i].sum);
	}
}
END_TEST

START_TEST(test_types_that_are_not_known_do_nothing)
{
	uint8_t byte = 3;

	ck_assert_uint_eq(elements_bytes(99), 0);
	ck_assert_uint_eq(elements_bytes(-1), 0);
	elements_reduce(&byte, &byte, 1, 99, SUM);
	ck_assert_uint_eq(byte, 3);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_whole_numbers, 0 },
		{ test_an_average_is_a_sum_at_first, 0 },
		{ test_floating_point_in_fewer_bits, 0 },
		{ test_types_that_are_not_known_do_nothing, 0 },
	};

	return suite_run("elements", tests, COUNT_OF(tests));
}
