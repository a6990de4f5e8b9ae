/* SPDX-License-Identifier: MIT */
/* Output files are complete or do not exist. */
#include "base/file.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

static char folder[] = "/tmp/gpupool-test-file-XXXXXX";

/* Each test runs in a process of its own, and so in an empty folder. */
static void enter(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(chdir(folder), 0);
}

static int count_files(void)
{
	DIR *dir = opendir(".");
	int count = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

static void leave(void)
{
	unlink("out");
	ck_assert_int_eq(count_files(), 0);
	ck_assert_int_eq(rmdir(folder), 0);
}

static const char *content(const char *path)
{
	static char text[100];
	FILE *file = fopen(path, "r");
	size_t n;

	if (!file)
		return NULL;
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = 0;
	fclose(file);
	return text;
}

static void put(const char *path, const char *text)
{
	struct gp_output output;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_output_open(&output, path, &diag), GP_OK);
	fputs(text, output.stream);
	ck_assert_int_eq(gp_output_commit(&output, &diag), GP_OK);
}

START_TEST(test_a_commit_puts_the_file_there)
{
	enter();
	put("out", "first");
	ck_assert_str_eq(content("out"), "first");
	put("out", "second");
	ck_assert_str_eq(content("out"), "second");
	ck_assert_int_eq(count_files(), 1);
	leave();
}
END_TEST

START_TEST(test_until_then_the_old_file_stays)
{
	struct gp_output output;
	struct gp_diag diag = { 0 };

	enter();
	put("out", "old");
	gp_output_open(&output, "out", &diag);
	fputs("new", output.stream);
	fflush(output.stream);
	ck_assert_str_eq(content("out"), "old");
	gp_output_abandon(&output);
	ck_assert_str_eq(content("out"), "old");
	leave();
}
END_TEST

START_TEST(test_an_abandoned_file_was_never_there)
{
	struct gp_output output;
	struct gp_diag diag = { 0 };

	enter();
	gp_output_open(&output, "out", &diag);
	gp_output_abandon(&output);
	gp_output_abandon(&output);
	ck_assert_ptr_null(content("out"));
	leave();
}
END_TEST

START_TEST(test_the_mode_is_what_the_mask_leaves)
{
	struct stat st;

	enter();
	umask(027);
	put("out", "");
	ck_assert_int_eq(stat("out", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0640);
	leave();
}
END_TEST

START_TEST(test_the_mode_of_a_file_that_was_there_is_kept)
{
	struct stat st;

	enter();
	put("out", "old");
	ck_assert_int_eq(chmod("out", 0600), 0);
	put("out", "new");
	ck_assert_int_eq(stat("out", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
	leave();
}
END_TEST

START_TEST(test_a_symbolic_link_stays_one)
{
	struct stat st;

	enter();
	ck_assert_int_eq(mkdir("far", 0777), 0);
	ck_assert_int_eq(symlink("far/away", "near"), 0);
	ck_assert_int_eq(symlink("near", "out"), 0);
	/* The link's target does not exist, then does. */
	put("out", "first");
	ck_assert_str_eq(content("far/away"), "first");
	put("out", "second");
	ck_assert_str_eq(content("far/away"), "second");
	ck_assert_int_eq(lstat("out", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(lstat("near", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	unlink("far/away");
	rmdir("far");
	unlink("near");
	leave();
}
END_TEST

START_TEST(test_hard_links_name_one_file_still)
{
	struct gp_output output;
	struct gp_diag diag = { 0 };

	enter();
	put("out", "a longer text that was there");
	ck_assert_int_eq(link("out", "other"), 0);
	gp_output_open(&output, "out", &diag);
	fputs("unfinished", output.stream);
	fflush(output.stream);
	gp_output_abandon(&output);
	ck_assert_str_eq(content("other"), "a longer text that was there");
	put("out", "short");
	ck_assert_str_eq(content("other"), "short");
	put("out", "long, longer than it was before");
	ck_assert_str_eq(content("other"), "long, longer than it was before");
	unlink("other");
	leave();
}
END_TEST

START_TEST(test_what_is_open_is_written_where_it_stands)
{
	char path[32];
	FILE *file;

	enter();
	file = fopen("out", "w");
	fputs("before, ", file);
	fflush(file);
	snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
	put(path, "then this, ");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(file));
	put(path, "and this");
	fclose(file);
	ck_assert_str_eq(content("out"), "before, then this, and this");
	leave();
}
END_TEST

START_TEST(test_a_folder_that_is_not_there_is_named)
{
	struct gp_output output;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_output_open(&output, "/no/such/folder/x", &diag),
			 GP_SYSTEM);
	ck_assert_str_eq(diag.file, "/no/such/folder/x");
	ck_assert_ptr_nonnull(strstr(diag.what, "No such file"));
}
END_TEST

START_TEST(test_a_full_disk_is_an_error)
{
	struct gp_output output;
	struct gp_diag diag = { 0 };

	if (access("/dev/full", W_OK))
		skip_test("test_a_full_disk_is_an_error",
			  "there is no /dev/full here");
	ck_assert_int_eq(gp_output_open(&output, "/dev/full", &diag), GP_OK);
	fputs("text", output.stream);
	ck_assert_int_eq(gp_output_commit(&output, &diag), GP_SYSTEM);
	ck_assert_ptr_nonnull(strstr(diag.what, "No space left"));
}
END_TEST

START_TEST(test_standard_output_stays_open)
{
	static const char *const rows[] = { NULL, "-" };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_output output;
		struct gp_diag diag = { 0 };

		gp_output_open(&output, rows[i], &diag);
		ck_assert_ptr_eq(output.stream, stdout);
		ck_assert_int_eq(gp_output_commit(&output, &diag), GP_OK);
		ck_assert_int_ge(fileno(stdout), 0);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_commit_puts_the_file_there, 0 },
		{ test_until_then_the_old_file_stays, 0 },
		{ test_an_abandoned_file_was_never_there, 0 },
		{ test_the_mode_is_what_the_mask_leaves, 0 },
		{ test_the_mode_of_a_file_that_was_there_is_kept, 0 },
		{ test_a_symbolic_link_stays_one, 0 },
		{ test_hard_links_name_one_file_still, 0 },
		{ test_what_is_open_is_written_where_it_stands, 0 },
		{ test_a_folder_that_is_not_there_is_named, 0 },
		{ test_a_full_disk_is_an_error, 0 },
		{ test_standard_output_stays_open, 0 },
	};

	return suite_run("file", tests, COUNT_OF(tests));
}
