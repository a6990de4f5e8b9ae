/* SPDX-License-Identifier: MIT */
/* Sorting arrays by a number, and binary search in them. */
#ifndef BASE_SORTED_H
#define BASE_SORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* An array, and where in its items the number is. */
struct gp_sorted {
	const void *items;
	size_t count, size, offset;
};

/* By a uint64_t in a struct; an array or member of another type does not
 * compile. */
#define GP_SORTED(array, length, type, member)                                 \
	((struct gp_sorted){                                                   \
		.items = _Generic((array),                                     \
			type *: (array),                                       \
			const type *: (array)),                                \
		.count = (length),                                             \
		.size = sizeof(type),                                          \
		.offset = _Generic(((type *)0)->member,                        \
			uint64_t: offsetof(type, member)) })
/* The items are the numbers. */
#define GP_SORTED_NUMBERS(array, length)                                       \
	((struct gp_sorted){ .items = _Generic((array),                        \
			     uint64_t *: (array),                              \
			     const uint64_t *: (array)),                       \
			     .count = (length),                                \
			     .size = sizeof(uint64_t) })

static inline uint64_t gp_sorted_number(const void *item, size_t offset)
{
	return *(const uint64_t *)(const void *)((const char *)item + offset);
}

static inline int gp_sorted_order(const void *a, const void *b, void *offset)
{
	uint64_t x = gp_sorted_number(a, *(const size_t *)offset);
	uint64_t y = gp_sorted_number(b, *(const size_t *)offset);

	return (x > y) - (x < y);
}

/* In ascending order. */
static inline void gp_sort(struct gp_sorted array)
{
	if (array.count)
		qsort_r((void *)array.items, array.count, array.size,
			gp_sorted_order, &array.offset);
}

/* The index of the first item whose number is at least x; count: none. */
static inline size_t gp_sorted_from(struct gp_sorted array, uint64_t x)
{
	size_t low = 0, high = array.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *item =
			(const char *)array.items + middle * array.size;

		if (gp_sorted_number(item, array.offset) < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same above x, which is also how many are at most x. */
static inline size_t gp_sorted_above(struct gp_sorted array, uint64_t x)
{
	return x == UINT64_MAX ? array.count : gp_sorted_from(array, x + 1);
}

static inline bool gp_sorted_has(struct gp_sorted array, uint64_t x)
{
	return gp_sorted_above(array, x) > gp_sorted_from(array, x);
}

#endif
