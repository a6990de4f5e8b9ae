/* SPDX-License-Identifier: MIT */
/* Arenas: zeroed, aligned memory that is freed together. */
#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "gpupool/status.h"
#include "suite.h"

START_TEST(test_memory_is_zeroed_and_aligned)
{
	const size_t sizes[] = { 1, 3, 16, 100, 16384, 100000 };
	struct gp_arena arena = { 0 };

	for (size_t i = 0; i < COUNT_OF(sizes); i++) {
		char *memory = gp_arena_alloc(&arena, sizes[i], 1);

		ck_assert_uint_eq((uintptr_t)memory % _Alignof(max_align_t), 0);
		for (size_t k = 0; k < sizes[i]; k++)
			ck_assert_int_eq(memory[k], 0);
		memset(memory, 0xff, sizes[i]);
	}
	gp_arena_release(&arena);
}
END_TEST

START_TEST(test_allocations_keep_apart)
{
	enum { N = 5000 };
	static unsigned *items[N];
	struct gp_arena arena = { 0 };

	for (unsigned i = 0; i < N; i++) {
		items[i] = gp_arena_alloc(&arena, 1 + i % 7, sizeof(**items));
		items[i][i % 7] = i;
	}
	for (unsigned i = 0; i < N; i++)
		ck_assert_uint_eq(items[i][i % 7], i);
	gp_arena_release(&arena);
}
END_TEST

START_TEST(test_nothing_is_still_a_place)
{
	struct gp_arena arena = { 0 };

	ck_assert_ptr_nonnull(gp_arena_alloc(&arena, 0, 8));
	ck_assert_ptr_nonnull(gp_arena_alloc(&arena, 8, 0));
	gp_arena_release(&arena);
}
END_TEST

START_TEST(test_text_is_copied_with_a_nul)
{
	struct gp_arena arena = { 0 };
	char text[] = "stream";
	char *copy = gp_arena_text(&arena, text, 3);

	text[0] = 'x';
	ck_assert_str_eq(copy, "str");
	gp_arena_release(&arena);
}
END_TEST

START_TEST(test_adopted_memory_is_freed_with_the_rest)
{
	struct gp_arena arena = { 0 };
	char *first, *second;

	gp_arena_adopt(&arena, malloc(10));
	first = gp_arena_alloc(&arena, 4, 1);
	gp_arena_adopt(&arena, malloc(20));
	second = gp_arena_alloc(&arena, 4, 1);
	memcpy(first, "one", 4);
	memcpy(second, "two", 4);
	ck_assert_str_eq(first, "one");
	ck_assert_str_eq(second, "two");
	gp_arena_release(&arena);
}
END_TEST

START_TEST(test_a_released_arena_is_empty)
{
	struct gp_arena arena = { 0 };

	gp_arena_release(&arena);
	gp_arena_alloc(&arena, 1, 1);
	gp_arena_release(&arena);
	ck_assert_ptr_null(arena.chunks);
	gp_arena_release(&arena);
}
END_TEST

START_TEST(test_a_size_that_overflows_ends_the_run)
{
	struct gp_arena arena = { 0 };

	gp_arena_alloc(&arena, SIZE_MAX / 2, 16);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_memory_is_zeroed_and_aligned, 0 },
		{ test_allocations_keep_apart, 0 },
		{ test_nothing_is_still_a_place, 0 },
		{ test_text_is_copied_with_a_nul, 0 },
		{ test_adopted_memory_is_freed_with_the_rest, 0 },
		{ test_a_released_arena_is_empty, 0 },
		{ test_a_size_that_overflows_ends_the_run, GP_SYSTEM },
	};

	return suite_run("arena", tests, COUNT_OF(tests));
}
