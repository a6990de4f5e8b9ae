/* SPDX-License-Identifier: MIT */
/* Binary search in arrays that are sorted by a number. */
#ifndef BASE_SORTED_H
#define BASE_SORTED_H

#include <stddef.h>
#include <stdint.h>

/* Where the number of an item is. */
struct gp_sorted_by {
	size_t size, offset; /* of an item; of the number in it */
};

/* A uint64_t of a struct; other types do not compile. */
#define GP_SORTED_BY(type, member)                                             \
	((struct gp_sorted_by){ .size = sizeof(type),                          \
				.offset =                                      \
					_Generic(((type *)0)->member, uint64_t \
						 : offsetof(type, member)) })
/* The items are the numbers. */
#define GP_SORTED_NUMBERS ((struct gp_sorted_by){ .size = sizeof(uint64_t) })

/* The index of the first item whose number is at least x; count: none. */
static inline size_t gp_sorted_from(const void *items, size_t count,
				    struct gp_sorted_by by, uint64_t x)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const char *item = (const char *)items + middle * by.size;

		if (*(const uint64_t *)(const void *)(item + by.offset) < x)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The same above x, which is also how many are at most x. */
static inline size_t gp_sorted_above(const void *items, size_t count,
				     struct gp_sorted_by by, uint64_t x)
{
	return x == UINT64_MAX ? count
			       : gp_sorted_from(items, count, by, x + 1);
}

#endif
