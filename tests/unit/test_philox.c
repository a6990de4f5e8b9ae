/* SPDX-License-Identifier: MIT */
/* Compared with what PyTorch printed on GPUs, in issues and in programs of
 * others. */
#include "simcuda/program/philox.h"

#include <stdlib.h>

#include "suite.h"

static void draw(uint64_t kind, uint64_t seed, uint64_t count, uint64_t range,
		 void *to)
{
	const struct generator generator = { true, seed, 0, 132 * 8 };
	const struct random_numbers numbers = { .kind = kind,
						.count = count,
						.range = range };

	random_numbers(&generator, &numbers, to);
}

/* torch.manual_seed(42); torch.rand(3, 4, device="cuda") */
START_TEST(test_uniform)
{
	static const float printed[] = { 0.6130F, 0.0101F, 0.3984F, 0.0403F,
					 0.1563F, 0.4825F, 0.7362F, 0.4060F,
					 0.5189F, 0.2867F, 0.2416F, 0.9228F };
	float made[12];

	draw(RANDOM_UNIFORM, 42, 12, 1, made);
	for (int i = 0; i < 12; i++)
		ck_assert_float_eq_tol(made[i], printed[i], 0.5e-4F);
}
END_TEST

/* torch.manual_seed(0); torch.randn(..., device="cuda"), and with seed 10. */
START_TEST(test_normal)
{
	static const float printed[] = {
		-0.9247F, -0.4253F, -2.6438F, 0.1452F,
		-0.1209F, -0.5797F, -0.6229F, -0.3284F
	};
	static const float of_10[] = { -0.1029F, 1.6810F, -0.2708F };
	float made[8];

	draw(RANDOM_NORMAL, 0, 8, 1, made);
	for (int i = 0; i < 8; i++)
		ck_assert_float_eq_tol(made[i], printed[i], 0.5e-4F);
	draw(RANDOM_NORMAL, 10, 3, 1, made);
	for (int i = 0; i < 3; i++)
		ck_assert_float_eq_tol(made[i], of_10[i], 0.5e-4F);
}
END_TEST

/* torch.manual_seed(0); torch.randint(0, 100, (8,), device="cuda") */
START_TEST(test_integers)
{
	static const int64_t printed[] = { 41, 97, 91, 72, 53, 4, 3, 33 };
	int64_t made[8];

	draw(RANDOM_BITS, 0, 8, 100, made);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(made[i], printed[i]);
}
END_TEST

/* The first and the last element that Dropout(0.1) set to 0, of 2,097,152 ones,
 * on an RTX 4080 SUPER after torch.cuda.manual_seed_all(1): torch-xpu-ops#2926.
 */
START_TEST(test_dropout)
{
	const struct generator generator = { true, 1, 0, 80 * 6 };
	const struct random_numbers numbers = { .kind = RANDOM_UNIFORM,
						.count = 2097152,
						.neighbours = 4 };
	static const uint64_t first[] = { 8, 14, 20 };
	static const uint64_t last[] = { 2097151, 2097140, 2097121 };
	float *made = malloc(numbers.count * sizeof(*made));
	uint64_t found = 0;

	random_numbers(&generator, &numbers, made);
	for (uint64_t i = 0; found < 3; i++)
		if (made[i] >= 0.9F)
			ck_assert_uint_eq(i, first[found++]);
	found = 0;
	for (uint64_t i = numbers.count; found < 3; i--)
		if (made[i - 1] >= 0.9F)
			ck_assert_uint_eq(i - 1, last[found++]);
	free(made);
}
END_TEST

/* Eight neighbouring numbers come from two counters. */
START_TEST(test_two_counters)
{
	struct generator generator = { true, 1, 8, 132 * 8 };
	struct random_numbers numbers = { .kind = RANDOM_UNIFORM,
					  .count = 64,
					  .neighbours = 8 };
	float eight[64], four[2][32];

	random_numbers(&generator, &numbers, eight);
	numbers.neighbours = 4;
	numbers.count = 32;
	random_numbers(&generator, &numbers, four[0]);
	generator.offset += 4;
	random_numbers(&generator, &numbers, four[1]);
	for (int i = 0; i < 64; i++)
		ck_assert_float_eq(eight[i],
				   four[i / 4 % 2][i / 8 * 4 + i % 4]);
}
END_TEST

/* A thread's numbers for seed 42, one after another: the first is the first
 * that torch.rand() prints. */
START_TEST(test_weights_are_dropped_in_their_order)
{
	const struct generator generator = { true, 42, 0, 0 };
	struct random_numbers numbers = { .kind = RANDOM_UNIFORM,
					  .count = 30,
					  .is_one = true };
	float made[30], alone[4];

	random_numbers(&generator, &numbers, made);
	ck_assert_float_eq_tol(made[0], 0.6130F, 0.5e-4F);
	numbers.count = 4;
	for (uint64_t i = 0; i < 28; i += 4) {
		const struct generator later = { true, 42, i, 0 };

		random_numbers(&later, &numbers, alone);
		ck_assert_mem_eq(alone, made + i, sizeof(alone));
	}
}
END_TEST

/* Philox4x32-7 of zeros gives 5f6fb709 0d893f64 4f121f81 4f730a48 (Random123's
 * known answers): the first thread's of the first tile. */
START_TEST(test_flash_attention_drops_by_tiles)
{
	const struct generator generator = { true, 0, 0, 0 };
	const struct flash_weights weights = { 2, 16, 32 };
	static const unsigned char first[] = { 0x09, 0xb7, 0x6f, 0x5f,
					       0x64, 0x3f, 0x89, 0x0d,
					       0x81, 0x1f, 0x12, 0x4f,
					       0x48, 0x0a, 0x73, 0x4f };
	const struct generator next = { true, 0, 32, 0 };
	const struct flash_weights odd = { 1, 20, 40 };
	unsigned char made[2][16][32], one[16][32], of_odd[20][40];

	random_flash(&generator, &weights, **made);
	for (int i = 0; i < 16; i++)
		ck_assert_uint_eq(made[0][i / 2 % 2 * 8][i / 4 * 8 + i % 2],
				  first[i]);
	/* Each matrix has its own counters. */
	random_flash(&next, &(struct flash_weights){ 1, 16, 32 }, *one);
	ck_assert_mem_eq(one, made[1], sizeof(one));
	/* Numbers beyond the edge of a matrix are dropped. */
	random_flash(&generator, &odd, *of_odd);
	for (int row = 0; row < 16; row++)
		ck_assert_mem_eq(of_odd[row], made[0][row], 32);
}
END_TEST

/* From the same seed and offset, whatever the distribution. */
START_TEST(test_wide_numbers)
{
	double uniform[2], normal[2];
	int64_t bits[2];

	draw(RANDOM_WIDE_UNIFORM, 5, 2, 1, uniform);
	draw(RANDOM_WIDE_NORMAL, 5, 2, 1, normal);
	draw(RANDOM_WIDE_BITS, 5, 2, (uint64_t)1 << 40, bits);
	for (int i = 0; i < 2; i++) {
		ck_assert(uniform[i] > 0 && uniform[i] <= 1);
		ck_assert(normal[i] > -9 && normal[i] < 9);
		ck_assert(bits[i] >= 0 && bits[i] < (int64_t)1 << 40);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_uniform, 0 },
		{ test_normal, 0 },
		{ test_integers, 0 },
		{ test_dropout, 0 },
		{ test_two_counters, 0 },
		{ test_wide_numbers, 0 },
		{ test_weights_are_dropped_in_their_order, 0 },
		{ test_flash_attention_drops_by_tiles, 0 },
	};

	return suite_run("philox", tests, COUNT_OF(tests));
}
