/* SPDX-License-Identifier: MIT */
/* Against what PyTorch printed on GPUs, in issues and programs of others. */
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

/* The first and the last that Dropout(0.1) made 0 of 2,097,152 ones on an RTX
 * 4080 SUPER, after torch.cuda.manual_seed_all(1): torch-xpu-ops#2926. */
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

/* Eight side by side are those of two counters. */
START_TEST(test_two_counters)
{
	struct generator generator = { true, 1, 8, 132 * 8 };
	struct random_numbers numbers = { RANDOM_UNIFORM, 64, 8, false, 1 };
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

/* Of one seed and offset, whatever is made of them. */
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
		{ test_uniform, 0 },	  { test_normal, 0 },
		{ test_integers, 0 },	  { test_dropout, 0 },
		{ test_two_counters, 0 }, { test_wide_numbers, 0 },
	};

	return suite_run("philox", tests, COUNT_OF(tests));
}
