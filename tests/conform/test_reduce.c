/* SPDX-License-Identifier: MIT */
/* Failing trials are cut down to the part that fails. */
#include "conform/parts/reduce.h"

#include <string.h>

#include "conform/parts/author.h"
#include "suite.h"

/* Fails if a block of at least 3 MiB is freed under max_split_size_mb. */
static bool frees_a_large_block(void *arg, const struct trial *trial)
{
	unsigned *runs = arg;

	++*runs;
	if (!strstr(trial->conf, "max_split_size_mb"))
		return false;
	for (size_t i = 0; i < trial->count; i++)
		for (size_t k = i + 1; k < trial->count; k++)
			if (trial->ops[i].kind == GP_ALLOC &&
			    trial->ops[k].kind == GP_FREE &&
			    trial->ops[i].id == trial->ops[k].id &&
			    trial->ops[i].size >= 3 * MIB)
				return true;
	return false;
}

START_TEST(test_only_what_fails_is_left)
{
	const struct trial_class *of = trial_class_find("oom-split");
	unsigned runs = 0;
	const struct reducer reducer = { frees_a_large_block, &runs };
	struct trial trial;

	author_write(&trial, 3, of);
	ck_assert(frees_a_large_block(&runs, &trial));
	reduce(&trial, &reducer);
	ck_assert_uint_eq(trial.count, 2);
	ck_assert_int_eq(trial.ops[0].kind, GP_ALLOC);
	ck_assert_uint_eq(trial.ops[0].id, 1);
	ck_assert_uint_eq(trial.ops[0].stream, 0);
	ck_assert_uint_eq(trial.ops[0].size % MIB, 0);
	ck_assert_int_eq(trial.ops[1].kind, GP_FREE);
	ck_assert_uint_eq(trial.ops[1].id, 1);
	ck_assert_ptr_eq(strstr(trial.conf, "max_split_size_mb"), trial.conf);
	ck_assert_ptr_null(strchr(trial.conf, ','));
	ck_assert_uint_lt(runs, 500);
	trial_release(&trial);
}
END_TEST

/* Requests about a block are removed with its alloc, whatever else fails. */
static bool is_whole(void *arg, const struct trial *trial)
{
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };

	(void)arg;
	ck_assert_int_eq(trial_trace(trial, &trace, &diag), GP_OK);
	gp_trace_destroy(trace);
	return trial->count >= 7;
}

START_TEST(test_what_is_left_is_a_trace)
{
	const struct trial_class *of = trial_class_find("pools-streams");
	const struct reducer reducer = { is_whole, NULL };

	for (uint64_t seed = 0; seed < 5; seed++) {
		struct trial trial;

		author_write(&trial, seed, of);
		reduce(&trial, &reducer);
		ck_assert_uint_eq(trial.count, 7);
		trial_release(&trial);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_only_what_fails_is_left, 0 },
		{ test_what_is_left_is_a_trace, 0 },
	};

	return suite_run("reduce", tests, COUNT_OF(tests));
}
