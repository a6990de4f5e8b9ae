/* SPDX-License-Identifier: MIT */
/* Orders in which to place spans. */
#ifndef STUDY_FLOOR_ORDERS_H
#define STUDY_FLOOR_ORDERS_H

#include "study/floor/floor.h"

enum order {
	ORDER_SIZE,  /* the largest first */
	ORDER_AREA,  /* size x time */
	ORDER_TIME,  /* that lives longest first */
	ORDER_CLASS, /* by powers of two of the size, then by time */
	ORDER_START, /* that begins first */
	ORDERS,
};

/* The power of two at or below a size. */
int orders_class(uint64_t size);

/* order: room for all spans. */
void orders_sort(const struct gp_spans *spans, enum order by, uint32_t *order);

/* An order that changes: what lies too high is placed earlier, by half of its
 * position each time (D. Joslin, D. Clements, "Squeaky wheel optimization",
 * 1999). */
struct orders_push;

struct orders_push *orders_push_create(const struct gp_spans *spans,
				       const uint32_t *order);
void orders_push_destroy(struct orders_push *push);
const uint32_t *orders_push_order(const struct orders_push *push);
/* What ends above limit. */
void orders_push_earlier(struct orders_push *push, const uint64_t *offsets,
			 uint64_t limit);

#endif
