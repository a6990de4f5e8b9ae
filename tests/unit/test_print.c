/* SPDX-License-Identifier: MIT */
/* How events are printed, compared with vsnprintf. */
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "simcuda/program/journal.h"
#include "suite.h"

static size_t print(char *to, size_t room, const char *format, ...)
{
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = print_fast(to, room, format, arguments);
	va_end(arguments);
	return length;
}

#define SAME(format, ...)                                                      \
	do {                                                                   \
		char fast[200], slow[200];                                     \
		size_t length =                                                \
			print(fast, sizeof(fast), format, __VA_ARGS__);        \
		snprintf(slow, sizeof(slow), format, __VA_ARGS__);             \
		ck_assert_uint_eq(length, strlen(slow));                       \
		ck_assert_mem_eq(fast, slow, length);                          \
	} while (0)

START_TEST(test_the_same_as_printf)
{
	SAME("{\"op\":\"%s\"", "alloc");
	SAME(",\"pool\":[%" PRIu64 ",%" PRIu64 "]", UINT64_MAX, UINT64_C(0));
	SAME("%u %u %u", 0u, 10u, UINT_MAX);
	SAME("%d %d %d", 0, INT_MAX, INT_MIN);
	SAME("%c%s%%", 'x', "");
}
END_TEST

START_TEST(test_what_it_does_not_know_is_left)
{
	char text[8];

	ck_assert_uint_eq(print(text, sizeof(text), "%.17g", 0.5), 0);
	ck_assert_uint_eq(print(text, sizeof(text), "%zu", sizeof(text)), 0);
	ck_assert_uint_eq(print(text, sizeof(text), "a %"), 0);
}
END_TEST

START_TEST(test_no_more_than_there_is_room_for)
{
	char text[8] = "-------";

	ck_assert_uint_eq(print(text, 4, "%s", "abc"), 3);
	ck_assert_uint_eq(print(text, 4, "%s", "abcdefghij"), 0);
	ck_assert_uint_eq(print(text, 4, "%u%u%u", 11u, 22u, 33u), 0);
	ck_assert_mem_eq(text + 4, "---", 3);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_the_same_as_printf, 0 },
		{ test_what_it_does_not_know_is_left, 0 },
		{ test_no_more_than_there_is_room_for, 0 },
	};

	return suite_run("print", tests, COUNT_OF(tests));
}
