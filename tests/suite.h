/* SPDX-License-Identifier: MIT */
/*
 * What every Check program here needs: main() for a list of tests, a way to say
 * that a test could not be run, and pseudorandom numbers.
 */
#ifndef TESTS_SUITE_H
#define TESTS_SUITE_H

#include <check.h>
#include <stdint.h>
#include <stdio.h>

#include "base/map.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* Ends the test; tests/run.sh counts it as skipped, not as passed. */
#define skip_test(name, why)                                                   \
	do {                                                                   \
		printf("skip %s: %s\n", name, why);                            \
		fflush(stdout);                                                \
		return;                                                        \
	} while (0)

/* splitmix64's step: the same numbers on every machine. */
static inline uint64_t next_random(uint64_t *state)
{
	*state += UINT64_C(0x9e3779b97f4a7c15);
	return gp_hash64(*state);
}

struct suite_test {
	const TTest *test;
	int exit_code; /* that the test must end with */
};

/* Runs the case; returns main()'s exit status. */
static inline int suite_play(const char *name, TCase *tcase)
{
	Suite *suite = suite_create(name);
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}

/* Runs all tests; returns main()'s exit status. */
static inline int suite_run(const char *name, const struct suite_test *tests,
			    size_t count)
{
	TCase *tcase = tcase_create(name);

	for (size_t i = 0; i < count; i++)
		tcase_add_exit_test(tcase, tests[i].test, tests[i].exit_code);
	return suite_play(name, tcase);
}

#endif
