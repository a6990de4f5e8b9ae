/* SPDX-License-Identifier: MIT */
/* The file of a recording, which survives its writer. */
#include "simcuda/program/journal.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "suite.h"

#define LINE "{\"op\":\"alloc\",\"id\":1234567}\n"
/* More than the window of a MiB, and not a whole number of lines. */
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

/* All the lines are there, followed only by zeros; returns how many of
 * these. */
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

/* A name may be cut within a character. */
START_TEST(test_a_text_is_json_whatever_is_in_it)
{
	static const char *const texts[][2] = {
		{ "a \"b\" \\ c", "a \\\"b\\\" \\\\ c" },
		{ "a\tb\n", "ab" },
		{ "caf\u00e9 \u4e2d \U0001f600",
		  "caf\u00e9 \u4e2d \U0001f600" },
		{ "caf\xc3", "caf?" },
		{ "\xe9t\xe9 \xed\xa0\x80", "?t? ???" },
	};
	char read[64];

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		FILE *file;

		set_path();
		ck_assert(journal_open(path));
		journal_put_escaped(texts[i][0]);
		journal_close();
		file = fopen(path, "rb");
		ck_assert_ptr_nonnull(file);
		read[fread(read, 1, sizeof(read) - 1, file)] = '\0';
		fclose(file);
		unlink(path);
		ck_assert_str_eq(read, texts[i][1]);
	}
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

/* Only one of two windows has room: its lines are kept, and the program
 * continues. */
START_TEST(test_a_full_disk_ends_it_and_not_the_program)
{
	const struct rlimit room = { 1 << 20, RLIM_INFINITY };
	char said[200] = "";
	int status = -1, ends[2];
	struct stat about;
	pid_t child;

	set_path();
	ck_assert_int_eq(pipe(ends), 0);
	child = fork();
	if (!child) {
		dup2(ends[1], STDERR_FILENO);
		signal(SIGXFSZ, SIG_IGN);
		if (setrlimit(RLIMIT_FSIZE, &room) || !journal_open(path))
			_exit(1);
		put_many();
		journal_close();
		_exit(0);
	}
	waitpid(child, &status, 0);
	close(ends[1]);
	ck_assert_int_gt(read(ends[0], said, sizeof(said) - 1), 0);
	close(ends[0]);
	ck_assert_int_eq(status, 0);
	ck_assert_str_eq(said, "gpupool: what the program does from now on is "
			       "not recorded: File too large\n");
	ck_assert_int_eq(stat(path, &about), 0);
	ck_assert_int_eq(about.st_size, 1 << 20);
	unlink(path);
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
		{ test_a_text_is_json_whatever_is_in_it, 0 },
		{ test_one_whose_writer_was_killed_does_too, 0 },
		{ test_a_full_disk_ends_it_and_not_the_program, 0 },
		{ test_one_that_is_there_is_left_alone, 0 },
	};

	return suite_run("journal", tests, COUNT_OF(tests));
}
