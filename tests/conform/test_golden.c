/* SPDX-License-Identifier: MIT */
/*
 * Our engine does what PyTorch's own allocator did when the goldens were
 * recorded: golden/CLASS.txt, each trial in each release that a line names.
 */
#include "conform/parts/golden.h"

#include <inttypes.h>

#include "gpupool/knob.h"
#include "conform/parts/author.h"
#include "suite.h"
#include "trace_text.h"

#define FOLDER "tests/conform/golden"

/* ---- goldens ---- */

static void digest_release(struct digest *digest, const struct gp_trace *trace,
			   uint8_t release)
{
	struct outcome_of of = { .trace = trace, .release = release };

	digest_init(digest);
	for (; of.device < trace->device_count; of.device++) {
		struct outcome outcome;
		struct gp_diag diag = { 0 };

		ck_assert_msg(outcome_run(&outcome, &of, &diag) == GP_OK,
			      "2.%u does not take it: %s", release, diag.what);
		outcome_settle(&outcome);
		digest_add(digest, &outcome,
			   trace->devices[of.device].event_count);
		outcome_release(&outcome);
	}
}

/* Prints each difference, so that a single run shows all of them. */
static unsigned compare_line(const struct golden *golden,
			     const struct trial *trial)
{
	unsigned differences = 0;
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(trial_trace(trial, &trace, &diag), GP_OK);
	for (uint8_t i = 0; i <= GP_RELEASE_LAST; i++) {
		struct digest digest;
		const char *difference;

		if (!(golden->releases >> i & 1))
			continue;
		digest_release(&digest, trace, i);
		difference = digest_difference(&digest, &golden->digest);
		if (!difference)
			continue;
		differences++;
		printf("%s, PyTorch 2.%u: other %s\n", trial->about, i,
		       difference);
	}
	gp_trace_destroy(trace);
	return differences;
}

static FILE *open_class(const struct trial_class *of)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), FOLDER "/%s.txt", of->name);
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "%s is missing", path);
	return file;
}

static void compare_class(const struct trial_class *of)
{
	FILE *file = open_class(of);
	unsigned differences = 0, lines = 0;
	char line[256];

	while (fgets(line, sizeof(line), file)) {
		struct golden golden;
		struct trial trial;

		if (*line == '#')
			continue;
		ck_assert_msg(golden_scan(&golden, line), "%s: %s", of->name,
			      line);
		author_write(&trial, golden.seed, of);
		differences += compare_line(&golden, &trial);
		trial_release(&trial);
		lines++;
	}
	fclose(file);
	fflush(stdout);
	ck_assert_uint_gt(lines, 0);
	ck_assert_msg(!differences, "%u differences in class %s", differences,
		      of->name);
}

START_TEST(test_as_pytorch_did)
{
	size_t count;
	const struct trial_class *classes = trial_class_table(&count);

	ck_assert_uint_lt((size_t)_i, count);
	compare_class(&classes[_i]);
}
END_TEST

/* ---- trials ---- */

/* The goldens are for exactly the trials that these throws generate. */
START_TEST(test_a_seed_throws_the_same)
{
	static const uint64_t thrown[] = {
		UINT64_C(0xe220a8397b1dcdaf),
		UINT64_C(0x6e789e6aa1b965f4),
		UINT64_C(0x06c45d188009454f),
	};
	struct dice dice = { 0 };

	for (size_t i = 0; i < COUNT_OF(thrown); i++)
		ck_assert_uint_eq(dice_next(&dice), thrown[i]);
}
END_TEST

static struct gp_trace *printed(const struct trial *trial)
{
	struct gp_trace *trace;
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	ck_assert_ptr_nonnull(out);
	trial_print(trial, out);
	ck_assert_int_eq(fclose(out), 0);
	trace = trace_of(text);
	free(text);
	return trace;
}

/* Printed and read again, or converted to a trace and back, the requests are
 * the same. */
START_TEST(test_a_trial_is_one_trace)
{
	size_t count;
	const struct trial_class *classes = trial_class_table(&count);
	struct trial trial, copy;

	for (size_t i = 0; i < count; i++) {
		struct gp_trace *made, *read, *again;
		struct gp_diag diag = { 0 };

		author_write(&trial, i, &classes[i]);
		ck_assert_int_eq(trial_trace(&trial, &made, &diag), GP_OK);
		read = printed(&trial);
		ck_assert(gp_trace_equal(made, read));
		ck_assert(trial_of_trace(&copy, read));
		ck_assert_uint_eq(copy.count, trial.count);
		ck_assert_int_eq(trial_trace(&copy, &again, &diag), GP_OK);
		ck_assert_uint_eq(again->devices[0].event_count,
				  made->devices[0].event_count);
		gp_trace_destroy(made);
		gp_trace_destroy(read);
		gp_trace_destroy(again);
		trial_release(&trial);
		trial_release(&copy);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("golden");
	size_t classes;

	trial_class_table(&classes);
	tcase_add_loop_test(tcase, test_as_pytorch_did, 0, (int)classes);
	tcase_add_test(tcase, test_a_seed_throws_the_same);
	tcase_add_test(tcase, test_a_trial_is_one_trace);
	return suite_play("golden", tcase);
}
