/* SPDX-License-Identifier: MIT */
/* The file of a recording, which survives its writer. */
#include "simcuda/program/journal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define LINE "{\"op\":\"alloc\",\"id\":1234567}\n"
/* More than the window of a MiB, which is not a whole number of lines. */
#define MANY 50000

static char path[64];

static void set_path(void)
{
	snprintf(path, sizeof(path), "/tmp/gpupool-journal-%ld",
		 (long)getpid());
}

static void put_many(void)
{
	for (int i = 0; i < MANY; i++)
		journal_put(LINE, strlen(LINE));
}

/* All the lines are there, and then nothing but zeros; how many of those. */
static long zeros_behind(void)
{
	FILE *file = fopen(path, "rb");
	char line[sizeof(LINE)];
	long zeros = 0;
	int c;

	ck_assert_ptr_nonnull(file);
	for (int i = 0; i < MANY; i++) {
		ck_assert_ptr_nonnull(fgets(line, sizeof(line), file));
		ck_assert_str_eq(line, LINE);
	}
	while ((c = getc(file)) != EOF) {
		ck_assert_int_eq(c, 0);
		zeros++;
	}
	fclose(file);
	unlink(path);
	return zeros;
}

START_TEST(test_a_closed_one_holds_what_was_put)
{
	set_path();
	ck_assert(journal_open(path));
	put_many();
	journal_close();
	journal_put(LINE, strlen(LINE)); /* does nothing */
	ck_assert_int_eq(zeros_behind(), 0);
}
END_TEST

START_TEST(test_one_whose_writer_was_killed_does_too)
{
	pid_t child;

	set_path();
	child = fork();
	if (!child) {
		if (journal_open(path))
			put_many();
		kill(getpid(), SIGKILL);
	}
	waitpid(child, NULL, 0);
	ck_assert_int_gt(zeros_behind(), 0);
}
END_TEST

START_TEST(test_one_that_is_there_is_left_alone)
{
	FILE *file;

	set_path();
	file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("another's", file);
	fclose(file);
	ck_assert(!journal_open(path));
	journal_put(LINE, strlen(LINE));
	journal_close();
	file = fopen(path, "r");
	ck_assert_int_eq(getc(file), 'a');
	fclose(file);
	unlink(path);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_closed_one_holds_what_was_put, 0 },
		{ test_one_whose_writer_was_killed_does_too, 0 },
		{ test_one_that_is_there_is_left_alone, 0 },
	};

	return suite_run("journal", tests, COUNT_OF(tests));
}
