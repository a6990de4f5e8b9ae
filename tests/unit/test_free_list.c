/* SPDX-License-Identifier: MIT */
/* The list of free blocks, compared with an array that is sorted again after
 * each change. */
#include "allocator/caching/free_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "suite.h"

#define BLOCKS 300

static int by_key(const void *a, const void *b)
{
	const struct block *x = *(struct block *const *)a;
	const struct block *y = *(struct block *const *)b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	if (x->counter != y->counter)
		return x->counter < y->counter ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

struct model {
	struct free_list list;
	struct block blocks[BLOCKS];
	struct block *sorted[BLOCKS];
	size_t count;
};

/* Sizes in units of 512: in each octave, that many from its first one on. */
static const struct spread {
	unsigned first, sizes, octaves;
} spreads[] = {
	{ 1, 3, 24 },
	{ 1, 3, 1 },	/* more of one size than the list of a bin can have */
	{ 992, 16, 1 }, /* sizes that share a bin */
};

/* Few sizes and counters, so that ties are common. */
static void draw(struct model *model, size_t i, const struct spread *spread,
		 uint64_t *seed)
{
	struct block *b = &model->blocks[i];

	b->addr = 512 * (next_random(seed) % 1000 * BLOCKS + i);
	b->size = (spread->first + next_random(seed) % spread->sizes) * 512
		  << next_random(seed) % spread->octaves;
	b->counter = (uint32_t)(next_random(seed) % 3);
}

static void sort(struct model *model)
{
	qsort(model->sorted, model->count, sizeof(struct block *), by_key);
}

static void fill(struct model *model, uint64_t seed,
		 const struct spread *spread)
{
	memset(model, 0, sizeof(*model));
	for (size_t i = 0; i < BLOCKS; i++) {
		draw(model, i, spread, &seed);
		free_list_insert(&model->list, &model->blocks[i]);
		model->sorted[model->count++] = &model->blocks[i];
	}
	sort(model);
}

static struct block *model_best(const struct model *model, uint64_t size)
{
	for (size_t i = 0; i < model->count; i++)
		if (model->sorted[i]->size >= size)
			return model->sorted[i];
	return NULL;
}

static void check_order(struct model *model)
{
	struct block *b = free_list_best_fit(&model->list, 0);

	for (size_t i = 0; i < model->count; i++) {
		ck_assert_ptr_eq(b, model->sorted[i]);
		ck_assert_ptr_eq(free_list_prev(&model->list, b),
				 i ? model->sorted[i - 1] : NULL);
		b = free_list_next(&model->list, b);
	}
	ck_assert_ptr_null(b);
	ck_assert_ptr_eq(free_list_last(&model->list),
			 model->count ? model->sorted[model->count - 1] : NULL);
}

/* ---- each test with every spread ---- */

static void check_walk(struct model *model, const struct spread *spread)
{
	fill(model, 1, spread);
	check_order(model);
}

static void check_best(struct model *model, const struct spread *spread)
{
	fill(model, 2, spread);
	for (uint64_t size = 512; size < UINT64_C(1) << 36; size += size / 3)
		ck_assert_ptr_eq(free_list_best_fit(&model->list, size),
				 model_best(model, size));
	for (size_t i = 0; i < BLOCKS; i++)
		ck_assert_ptr_eq(
			free_list_best_fit(&model->list, model->blocks[i].size),
			model_best(model, model->blocks[i].size));
}

static void check_leaving(struct model *model, const struct spread *spread)
{
	uint64_t seed = 3;

	fill(model, seed, spread);
	while (model->count) {
		size_t at = next_random(&seed) % model->count;

		free_list_remove(&model->list, model->sorted[at]);
		for (model->count--; at < model->count; at++)
			model->sorted[at] = model->sorted[at + 1];
		check_order(model);
	}
}

static void check_returning(struct model *model, const struct spread *spread)
{
	uint64_t seed = 4;

	fill(model, seed, spread);
	for (int i = 0; i < 200; i++) {
		size_t at = next_random(&seed) % BLOCKS;

		free_list_remove(&model->list, &model->blocks[at]);
		draw(model, at, spread, &seed);
		free_list_insert(&model->list, &model->blocks[at]);
		sort(model);
		check_order(model);
	}
}

static void check_shrinking(struct model *model, const struct spread *spread)
{
	uint64_t seed = 5;

	fill(model, seed, spread);
	for (int i = 0; i < 200; i++) {
		struct block *b = &model->blocks[next_random(&seed) % BLOCKS];

		if (b->size > 512)
			free_list_shrink(&model->list, b,
					 b->size / 512 / 2 * 512);
		sort(model);
		check_order(model);
	}
}

/* A bin's blocks may all be in its tree. */
static void check_trees(struct model *model, const struct spread *spread)
{
	struct block *out[BLOCKS];
	size_t count = 0;

	fill(model, 6, spread);
	check_order(model);
	model->count = 0;
	for (size_t i = 0; i < BLOCKS; i++)
		if (model->blocks[i].is_in_tree)
			model->sorted[model->count++] = &model->blocks[i];
		else
			out[count++] = &model->blocks[i];
	for (size_t i = 0; i < count; i++)
		free_list_remove(&model->list, out[i]);
	sort(model);
	check_order(model);
	while (count--) {
		/* Also at a place behind all blocks in the list. */
		out[count]->counter += 3 * (count % 2);
		free_list_insert(&model->list, out[count]);
		model->sorted[model->count++] = out[count];
		sort(model);
		check_order(model);
	}
}

static void with_each(void (*check)(struct model *model,
				    const struct spread *spread))
{
	static struct model model;

	for (size_t i = 0; i < COUNT_OF(spreads); i++) {
		check(&model, &spreads[i]);
		free_list_release(&model.list);
	}
}

START_TEST(walks_by_size_then_counter_then_address)
{
	with_each(check_walk);
}
END_TEST

START_TEST(best_is_the_first_that_is_large_enough)
{
	with_each(check_best);
}
END_TEST

START_TEST(order_holds_while_blocks_leave)
{
	with_each(check_leaving);
}
END_TEST

START_TEST(order_holds_while_blocks_leave_and_return)
{
	with_each(check_returning);
}
END_TEST

START_TEST(a_shrunk_block_finds_its_new_place)
{
	with_each(check_shrinking);
}
END_TEST

START_TEST(order_holds_where_only_trees_are_left)
{
	with_each(check_trees);
}
END_TEST

/* The sizes that requests are rounded to: 2^63 at most. */
START_TEST(no_request_is_too_large_to_look_for)
{
	static struct model model;

	fill(&model, 1, &spreads[0]);
	ck_assert_uint_lt(bin_index(UINT64_C(1) << 63) >> BIN_PAGE_SHIFT,
			  BIN_PAGES);
	ck_assert_ptr_null(free_list_best_fit(&model.list, UINT64_C(1) << 63));
	ck_assert_ptr_null(free_list_best_fit(&model.list, INT64_MAX));
	free_list_release(&model.list);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ walks_by_size_then_counter_then_address, 0 },
		{ best_is_the_first_that_is_large_enough, 0 },
		{ order_holds_while_blocks_leave, 0 },
		{ order_holds_while_blocks_leave_and_return, 0 },
		{ a_shrunk_block_finds_its_new_place, 0 },
		{ order_holds_where_only_trees_are_left, 0 },
		{ no_request_is_too_large_to_look_for, 0 },
	};

	return suite_run("free_list", tests, COUNT_OF(tests));
}
