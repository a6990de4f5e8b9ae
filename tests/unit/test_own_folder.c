/* SPDX-License-Identifier: MIT */
/* Folders that belong to this user alone. */
#include "commands/own_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "suite.h"

static char folder[] = "/tmp/gpupool-test-own-XXXXXX";
static char cache[PATH_MAX];

/* Each test runs in a process of its own. */
static void enter(void)
{
	ck_assert_ptr_nonnull(mkdtemp(folder));
	ck_assert_int_eq(setenv("XDG_CACHE_HOME", folder, 1), 0);
	ck_assert(gp_own_cache("record", cache));
}

static void leave(void)
{
	gp_own_remove(folder);
	ck_assert_int_ne(access(folder, F_OK), 0);
}

static const char *above(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/gpupool", folder);
	return path;
}

START_TEST(test_a_cache_is_made_for_its_user_only)
{
	struct stat about;

	enter();
	umask(0);
	ck_assert(gp_own_make(cache));
	ck_assert_int_eq(stat(cache, &about), 0);
	ck_assert_int_eq(about.st_mode & 0777, 0700);
	ck_assert_int_eq(stat(above(), &about), 0);
	ck_assert_int_eq(about.st_mode & 0777, 0700);
	/* The folder is used again. */
	ck_assert(gp_own_make(cache));
	leave();
}
END_TEST

START_TEST(test_a_folder_that_others_can_write_is_not_trusted)
{
	enter();
	ck_assert(gp_own_make(cache));
	ck_assert_int_eq(chmod(cache, 0777), 0);
	ck_assert(!gp_own_make(cache));
	ck_assert_int_eq(chmod(cache, 0755), 0);
	ck_assert(gp_own_make(cache));
	ck_assert_int_eq(chmod(above(), 0775), 0);
	ck_assert(!gp_own_make(cache));
	leave();
}
END_TEST

START_TEST(test_the_folder_of_another_user_is_not_trusted)
{
	if (geteuid())
		skip_test("test_the_folder_of_another_user_is_not_trusted",
			  "only root can give a folder away");
	enter();
	ck_assert(gp_own_make(cache));
	ck_assert_int_eq(chown(cache, 12345, (gid_t)-1), 0);
	ck_assert(!gp_own_make(cache));
	leave();
}
END_TEST

START_TEST(test_without_a_home_there_is_no_cache)
{
	unsetenv("XDG_CACHE_HOME");
	unsetenv("HOME");
	ck_assert(!gp_own_cache("record", cache));
	ck_assert_str_eq(cache, "");
}
END_TEST

START_TEST(test_a_fresh_folder_is_new_each_time)
{
	char first[PATH_MAX], second[PATH_MAX];
	struct gp_diag diag = { 0 };
	struct stat about;

	ck_assert_int_eq(gp_own_fresh("record", first, &diag), GP_OK);
	ck_assert_int_eq(gp_own_fresh("record", second, &diag), GP_OK);
	ck_assert_str_ne(first, second);
	ck_assert_int_eq(stat(first, &about), 0);
	ck_assert_int_eq(about.st_mode & 0777, 0700);
	gp_own_remove(first);
	gp_own_remove(second);
	ck_assert_int_ne(access(first, F_OK), 0);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_cache_is_made_for_its_user_only, 0 },
		{ test_a_folder_that_others_can_write_is_not_trusted, 0 },
		{ test_the_folder_of_another_user_is_not_trusted, 0 },
		{ test_without_a_home_there_is_no_cache, 0 },
		{ test_a_fresh_folder_is_new_each_time, 0 },
	};

	return suite_run("own_folder", tests, COUNT_OF(tests));
}
