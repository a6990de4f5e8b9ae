/* SPDX-License-Identifier: MIT */
/* Orders in which spans are placed. */
#include "study/floor/orders.h"

#include <stdlib.h>

#include "base/mem.h"

/* Larger keys first. */
struct keyed {
	uint64_t key[2];
	uint32_t span;
};

static int by_keys(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	for (int i = 0; i < 2; i++)
		if (x->key[i] != y->key[i])
			return x->key[i] > y->key[i] ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

int orders_class(uint64_t size)
{
	return size ? 63 - __builtin_clzll(size) : 0;
}

/* size * time, saturated to 64 bits. */
static uint64_t area_of(uint64_t size, uint64_t time)
{
	uint64_t area;

	return __builtin_mul_overflow(size, time, &area) ? UINT64_MAX : area;
}

static struct keyed key_of(const struct gp_span *span, enum order by)
{
	uint64_t size = span->size, time = span->upper - span->lower;

	switch (by) {
	case ORDER_AREA:
		return (struct keyed){ .key = { area_of(size, time), size } };
	case ORDER_TIME: return (struct keyed){ .key = { time, size } };
	case ORDER_CLASS:
		return (struct keyed){ .key = { (uint64_t)orders_class(size),
						time } };
	case ORDER_START:
		return (struct keyed){ .key = { UINT64_MAX - span->lower,
						size } };
	default: return (struct keyed){ .key = { size, time } };
	}
}

void orders_sort(const struct gp_spans *spans, enum order by, uint32_t *order)
{
	struct keyed *list = gp_mem_alloc(spans->count + 1, sizeof(*list));

	for (uint32_t i = 0; i < spans->count; i++) {
		list[i] = key_of(&spans->items[i], by);
		list[i].span = i;
	}
	qsort(list, spans->count, sizeof(*list), by_keys);
	for (uint32_t i = 0; i < spans->count; i++)
		order[i] = list[i].span;
	free(list);
}

/* ---- an adapted order ---- */

struct orders_push {
	const struct gp_spans *spans;
	uint32_t *order;
	struct pushed {
		uint32_t position; /* new position, before sorting */
		uint32_t before;   /* previous position */
		uint32_t span;
	} * list;
};

struct orders_push *orders_push_create(const struct gp_spans *spans,
				       const uint32_t *order)
{
	struct orders_push *push = gp_mem_alloc(1, sizeof(*push));

	push->spans = spans;
	push->order = gp_mem_alloc(spans->count + 1, sizeof(*push->order));
	push->list = gp_mem_alloc(spans->count + 1, sizeof(*push->list));
	for (size_t i = 0; i < spans->count; i++)
		push->order[i] = order[i];
	return push;
}

void orders_push_destroy(struct orders_push *push)
{
	free(push->order);
	free(push->list);
	free(push);
}

const uint32_t *orders_push_order(const struct orders_push *push)
{
	return push->order;
}

static int by_position(const void *a, const void *b)
{
	const struct pushed *x = a, *y = b;

	if (x->position != y->position)
		return x->position < y->position ? -1 : 1;
	return (x->before > y->before) - (x->before < y->before);
}

void orders_push_earlier(struct orders_push *push, const uint64_t *offsets,
			 uint64_t limit)
{
	for (uint32_t i = 0; i < push->spans->count; i++) {
		uint32_t span = push->order[i];
		uint64_t top = offsets[span] + push->spans->items[span].size;

		push->list[i] =
			(struct pushed){ top > limit ? i / 2 : i, i, span };
	}
	qsort(push->list, push->spans->count, sizeof(*push->list), by_position);
	for (uint32_t i = 0; i < push->spans->count; i++)
		push->order[i] = push->list[i].span;
}
