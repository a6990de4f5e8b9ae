/* The shelf of free blocks, against an array that is always sorted anew. */
#include "allocator/caching/shelf.h"

#include <stdlib.h>

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
	struct shelf shelf;
	struct block blocks[BLOCKS];
	struct block *sorted[BLOCKS];
	size_t count;
};

/* Few sizes and counters, so that ties are common. */
static void fill(struct model *model, uint64_t seed)
{
	for (size_t i = 0; i < BLOCKS; i++) {
		struct block *b = &model->blocks[i];
		unsigned shift = next_random(&seed) % 24;

		b->addr = 512 * i;
		b->size = (1 + next_random(&seed) % 3) * 512 << shift;
		b->counter = (uint32_t)(next_random(&seed) % 3);
		shelf_insert(&model->shelf, b);
		model->sorted[model->count++] = b;
	}
	qsort(model->sorted, model->count, sizeof(struct block *), by_key);
}

static struct block *model_best(const struct model *model, uint64_t size)
{
	for (size_t i = 0; i < model->count; i++)
		if (model->sorted[i]->size >= size)
			return model->sorted[i];
	return NULL;
}

static void check_order(const struct model *model)
{
	struct block *b = shelf_best(&model->shelf, 0);

	for (size_t i = 0; i < model->count; i++) {
		ck_assert_ptr_eq(b, model->sorted[i]);
		ck_assert_ptr_eq(shelf_prev(&model->shelf, b),
				 i ? model->sorted[i - 1] : NULL);
		b = shelf_next(&model->shelf, b);
	}
	ck_assert_ptr_null(b);
	ck_assert_ptr_eq(shelf_last(&model->shelf),
			 model->count ? model->sorted[model->count - 1] : NULL);
}

START_TEST(walks_by_size_then_counter_then_address)
{
	static struct model model;

	fill(&model, 1);
	check_order(&model);
}
END_TEST

START_TEST(best_is_the_first_that_is_large_enough)
{
	static struct model model;

	fill(&model, 2);
	for (uint64_t size = 512; size < UINT64_C(1) << 36; size += size / 3)
		ck_assert_ptr_eq(shelf_best(&model.shelf, size),
				 model_best(&model, size));
}
END_TEST

START_TEST(order_holds_while_blocks_leave)
{
	static struct model model;
	uint64_t seed = 3;

	fill(&model, seed);
	while (model.count) {
		size_t at = next_random(&seed) % model.count;

		shelf_remove(&model.shelf, model.sorted[at]);
		for (model.count--; at < model.count; at++)
			model.sorted[at] = model.sorted[at + 1];
		check_order(&model);
	}
}
END_TEST

START_TEST(a_shrunk_block_finds_its_new_place)
{
	static struct model model;
	uint64_t seed = 4;

	fill(&model, seed);
	for (int i = 0; i < 200; i++) {
		struct block *b = &model.blocks[next_random(&seed) % BLOCKS];

		if (b->size > 512)
			shelf_shrink(&model.shelf, b, b->size / 512 / 2 * 512);
		qsort(model.sorted, model.count, sizeof(struct block *),
		      by_key);
		check_order(&model);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ walks_by_size_then_counter_then_address, 0 },
		{ best_is_the_first_that_is_large_enough, 0 },
		{ order_holds_while_blocks_leave, 0 },
		{ a_shrunk_block_finds_its_new_place, 0 },
	};

	return suite_run("shelf", tests, COUNT_OF(tests));
}
