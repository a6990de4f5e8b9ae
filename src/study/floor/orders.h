/* SPDX-License-Identifier: MIT */
/* Orders in which spans are placed. */
#ifndef STUDY_FLOOR_ORDERS_H
#define STUDY_FLOOR_ORDERS_H

#include "study/floor/floor.h"

enum order {
	ORDER_SIZE,  /* largest first */
	ORDER_AREA,  /* size x lifetime */
	ORDER_TIME,  /* longest lifetime first */
	ORDER_CLASS, /* by power of two of the size, then by lifetime */
	ORDER_START, /* earliest first */
	ORDERS,
};

/* The power of two at or below a size. */
int orders_class(uint64_t size);

/* Writes the indices of all spans to `order`. */
void orders_sort(const struct gp_spans *spans, enum order by, uint32_t *order);

/* An order that is adapted: spans that end too high are moved forward, to half
 * their position each time (D. Joslin, D. Clements, "Squeaky wheel
 * optimization", 1999). */
struct orders_push;

struct orders_push *orders_push_create(const struct gp_spans *spans,
				       const uint32_t *order);
void orders_push_destroy(struct orders_push *push);
const uint32_t *orders_push_order(const struct orders_push *push);
/* Moves the spans that end above limit. */
void orders_push_earlier(struct orders_push *push, const uint64_t *offsets,
			 uint64_t limit);

#endif
