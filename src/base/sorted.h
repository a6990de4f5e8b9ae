/* SPDX-License-Identifier: MIT */
/* Binary search in arrays that are sorted by a number. */
#ifndef BASE_SORTED_H
#define BASE_SORTED_H

#include <stddef.h>
#include <stdint.h>

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

/* The index of the first item whose number is at least x; count: none. */
static inline size_t gp_sorted_from(struct gp_sorted array, uint64_t x)
{
	size_t low = 0, high = array.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *item =
			(const char *)array.items + middle * array.size;

		if (*(const uint64_t *)(const void *)(item + array.offset) < x)
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

#endif
