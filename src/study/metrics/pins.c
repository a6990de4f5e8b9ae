/* SPDX-License-Identifier: MIT */
/*
 * What pins free memory: the live blocks of each segment, or of each page of an
 * expandable one, that also has free bytes.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "study/metrics/explain.h"
#include "study/metrics/page.h"

struct pinning {
	const struct gp_state *state;
	const struct gp_settings *settings;
	struct gp_pins *pins;
	size_t unit_room, holder_room;
};

static bool is_live(const struct gp_block *block)
{
	return block->state == GP_ACTIVE;
}

static void add_holder(struct pinning *p, const struct gp_block *block)
{
	struct gp_pins *pins = p->pins;

	GP_GROW(pins->holders, pins->holder_count + 1, p->holder_room);
	pins->holders[pins->holder_count++] = (struct gp_holder){
		.id = block->id,
		.addr = block->addr,
		.size = block->size,
		.requested = block->requested,
	};
}

/* Divides the unit's free bytes into equal shares; the bytes that remain go to
 * the first holders, one each. */
static void share_out(struct gp_pins *pins, const struct gp_unit *unit)
{
	for (uint32_t i = 0; i < unit->holders; i++)
		pins->holders[unit->first_holder + i].share =
			unit->free / unit->holders +
			(i < unit->free % unit->holders);
}

/* Adds a unit with the blocks from `first` on, if some are free and some are
 * not. */
static void add_unit(struct pinning *p, uint32_t segment, uint64_t addr,
		     uint64_t size, uint32_t first)
{
	struct gp_pins *pins = p->pins;
	const struct gp_segment *s = &p->state->segments[segment];
	struct gp_unit unit = {
		.addr = addr,
		.size = size,
		.segment = segment,
		.is_page = s->is_expandable,
		.first_holder = (uint32_t)pins->holder_count,
	};

	for (uint32_t k = first; k < s->blocks; k++) {
		const struct gp_block *block =
			&p->state->blocks[s->first_block + k];

		if (block->addr >= addr + size)
			break;
		if (is_live(block))
			add_holder(p, block);
		else if (block->state == GP_INACTIVE)
			unit.free += overlap(block, addr, size);
	}
	unit.holders = (uint32_t)pins->holder_count - unit.first_holder;
	if (!unit.free || !unit.holders) {
		pins->holder_count = unit.first_holder;
		return;
	}
	share_out(pins, &unit);
	GP_GROW(pins->units, pins->unit_count + 1, p->unit_room);
	pins->units[pins->unit_count++] = unit;
}

/* Adds the pages of an expandable segment: only pages in which a free block
 * begins or ends can have pinned bytes. */
static void add_pages(struct pinning *p, uint32_t segment)
{
	const struct gp_segment *s = &p->state->segments[segment];
	uint64_t page = page_of_segment(p->settings, s);
	uint64_t done = s->addr; /* end of the pages already added */
	uint32_t first = 0;	 /* first block that overlaps the page */

	for (uint32_t k = 0; k < s->blocks; k++) {
		const struct gp_block *b =
			&p->state->blocks[s->first_block + k];
		uint64_t ends[] = { b->addr, b->addr + b->size - 1 };

		for (int i = 0; i < 2 && b->state == GP_INACTIVE; i++) {
			uint64_t at =
				s->addr + (ends[i] - s->addr) / page * page;

			if (at < done)
				continue;
			while (p->state->blocks[s->first_block + first].addr +
				       p->state->blocks[s->first_block + first]
					       .size <=
			       at)
				first++;
			done = gp_smaller(at + page, s->addr + s->size);
			add_unit(p, segment, at, done - at, first);
		}
	}
}

static int by_free(const void *a, const void *b)
{
	const struct gp_unit *x = a, *y = b;

	if (x->free != y->free)
		return x->free > y->free ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

void gp_pins_of(const struct gp_settings *settings,
		const struct gp_state *state, struct gp_pins *pins)
{
	struct pinning p = { state, settings, pins, 0, 0 };

	*pins = (struct gp_pins){ 0 };
	for (uint32_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *s = &state->segments[i];

		if (s->is_expandable)
			add_pages(&p, i);
		else
			add_unit(&p, i, s->addr, s->size, 0);
	}
	if (pins->unit_count)
		qsort(pins->units, pins->unit_count, sizeof(*pins->units),
		      by_free);
	for (uint32_t i = 0; i < pins->unit_count; i++)
		for (uint32_t k = 0; k < pins->units[i].holders; k++)
			pins->holders[pins->units[i].first_holder + k].unit = i;
}

void gp_pins_release(struct gp_pins *pins)
{
	free(pins->units);
	free(pins->holders);
}
