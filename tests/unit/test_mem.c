/* SPDX-License-Identifier: MIT */
/* Host memory that never comes back as NULL. */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>

#include "gpupool/status.h"
#include "suite.h"

START_TEST(test_memory_is_zeroed)
{
	unsigned *items = gp_mem_alloc(1000, sizeof(*items));

	for (size_t i = 0; i < 1000; i++)
		ck_assert_uint_eq(items[i], 0);
	free(items);
}
END_TEST

START_TEST(test_growing_keeps_what_was_there)
{
	unsigned *items = NULL;
	size_t room = 0;

	for (unsigned i = 0; i < 1000; i++) {
		GP_GROW(items, i + 1, room);
		ck_assert_uint_gt(room, i);
		items[i] = i;
	}
	for (unsigned i = 0; i < 1000; i++)
		ck_assert_uint_eq(items[i], i);
	ck_assert_uint_le(room, 2000);
	free(items);
}
END_TEST

START_TEST(test_growing_moves_nothing_while_there_is_room)
{
	size_t room = 0;
	char *items = gp_mem_grow(NULL, &room, 10, 1);

	ck_assert_ptr_eq(gp_mem_grow(items, &room, room, 1), items);
	free(items);
}
END_TEST

START_TEST(test_shrinking_keeps_what_is_left)
{
	size_t room = 0;
	char *items = gp_mem_grow(NULL, &room, 1000, 1);

	items[0] = 'a';
	items = gp_mem_shrink(items, 1, 1);
	ck_assert_int_eq(items[0], 'a');
	items = gp_mem_shrink(items, 0, 1);
	ck_assert_ptr_nonnull(items);
	free(items);
}
END_TEST

START_TEST(test_text_is_copied_with_a_nul)
{
	char *copy = gp_mem_copy_text("pool", 2);

	ck_assert_str_eq(copy, "po");
	free(copy);
}
END_TEST

START_TEST(test_too_much_to_allocate_ends_the_run)
{
	gp_mem_alloc(SIZE_MAX / 2, 4);
}
END_TEST

START_TEST(test_too_much_to_grow_to_ends_the_run)
{
	size_t room = 0;

	gp_mem_grow(NULL, &room, SIZE_MAX / 2, 4);
}
END_TEST

static void end_with_70(void *arg, size_t bytes)
{
	if (bytes == *(const size_t *)arg)
		quick_exit(70);
}

START_TEST(test_a_handler_takes_the_place_of_the_message)
{
	size_t wanted = SIZE_MAX / 4 * 3;

	gp_memory_handle(end_with_70, &wanted);
	gp_mem_alloc(SIZE_MAX / 4, 3);
}
END_TEST

START_TEST(test_what_no_number_holds_is_as_much_as_there_is)
{
	size_t wanted = SIZE_MAX;

	gp_memory_handle(end_with_70, &wanted);
	gp_mem_alloc(SIZE_MAX / 2, 4);
}
END_TEST

START_TEST(test_a_handler_that_returns_ends_nothing_else)
{
	size_t other = 0;

	gp_memory_handle(end_with_70, &other);
	gp_mem_take(SIZE_MAX / 2);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_memory_is_zeroed, 0 },
		{ test_growing_keeps_what_was_there, 0 },
		{ test_growing_moves_nothing_while_there_is_room, 0 },
		{ test_shrinking_keeps_what_is_left, 0 },
		{ test_text_is_copied_with_a_nul, 0 },
		{ test_too_much_to_allocate_ends_the_run, GP_SYSTEM },
		{ test_too_much_to_grow_to_ends_the_run, GP_SYSTEM },
		{ test_a_handler_takes_the_place_of_the_message, 70 },
		{ test_what_no_number_holds_is_as_much_as_there_is, 70 },
		{ test_a_handler_that_returns_ends_nothing_else, GP_SYSTEM },
	};

	return suite_run("mem", tests, COUNT_OF(tests));
}
