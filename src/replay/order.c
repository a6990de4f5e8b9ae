/* SPDX-License-Identifier: MIT */
/* Learning the age of start segments from the blocks that were taken. */
#include "replay/order.h"

#include <stdlib.h>

#include "base/mem.h"

/* The start segment an address lies in; count: none. */
static size_t segment_of(const struct gp_state *start, uint64_t addr)
{
	size_t i = 0;

	while (i < start->segment_count &&
	       addr - start->segments[i].addr >= start->segments[i].size)
		i++;
	return i;
}

static uint64_t size_at(const struct candidates *candidates, uint64_t addr)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->list[i].addr == addr)
			return candidates->list[i].size;
	return 0;
}

/* The segment of lowest address that is older than all that are left. */
static size_t next_oldest(const struct order *order, const bool *is_placed)
{
	for (size_t i = 0; i < order->count; i++) {
		bool is_oldest = !is_placed[i];

		for (size_t k = 0; k < order->lesson_count && is_oldest; k++)
			is_oldest = order->lessons[k].younger != i ||
				    is_placed[order->lessons[k].older];
		if (is_oldest)
			return i;
	}
	return order->count;
}

/* Ranks that keep to all lessons; false: they contradict each other. */
static bool rank(struct order *order)
{
	bool *is_placed = gp_mem_alloc(order->count, sizeof(*is_placed));
	uint32_t n = 0;
	size_t i;

	while ((i = next_oldest(order, is_placed)) < order->count) {
		order->ranks[i] = n++;
		is_placed[i] = true;
	}
	free(is_placed);
	return n == order->count;
}

static void add_lesson(struct order *order, size_t older, size_t younger)
{
	order->lessons =
		gp_mem_grow(order->lessons, &order->lesson_room,
			    order->lesson_count + 1, sizeof(*order->lessons));
	order->lessons[order->lesson_count++] =
		(struct order_lesson){ (uint32_t)older, (uint32_t)younger };
}

bool order_learn(struct order *order, const struct gp_state *start,
		 const struct gp_mismatch *mismatch,
		 const struct candidates *candidates)
{
	size_t chosen = segment_of(start, mismatch->chosen);
	size_t recorded = segment_of(start, mismatch->recorded);
	uint64_t size = size_at(candidates, mismatch->chosen);

	if (mismatch->kind != GP_WRONG_ADDRESS || chosen == recorded ||
	    chosen == start->segment_count ||
	    recorded == start->segment_count || !size ||
	    size_at(candidates, mismatch->recorded) != size)
		return false;
	if (order->ranks && order->ranks[recorded] < order->ranks[chosen])
		return false; /* that much was known: it is not the age */
	if (!order->ranks) {
		order->count = start->segment_count;
		order->ranks =
			gp_mem_alloc(order->count, sizeof(*order->ranks));
	}
	add_lesson(order, recorded, chosen);
	if (rank(order))
		return true;
	order->lesson_count--;
	rank(order);
	return false;
}

void order_release(struct order *order)
{
	free(order->ranks);
	free(order->lessons);
	*order = (struct order){ 0 };
}
