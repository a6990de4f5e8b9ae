/* SPDX-License-Identifier: MIT */
/* What pins free memory, compared with a slow recomputation for every layout of
 * a small segment. */
#include <string.h>

#include "study/metrics/explain.h"
#include "suite.h"

/* A layout is a word with a letter for each half of a page; adjacent equal
 * letters are one block. 'l' and 'L' are live, 'p' is pending free, 'f' is
 * free. */
#define LETTERS "lLpf"
#define CELLS	7
#define CELL	(UINT64_C(1) << 20)
#define PAGE	(2 * CELL)
#define ADDR	(UINT64_C(1) << 30)

struct layout {
	char word[CELLS];
	struct gp_segment segment;
	struct gp_block blocks[CELLS];
	uint32_t block_of[CELLS];
	uint32_t count; /* blocks */
};

static void make(struct layout *l, unsigned n, bool is_expandable)
{
	l->count = 0;
	for (uint32_t i = 0; i < CELLS; i++, n /= strlen(LETTERS)) {
		char letter = LETTERS[n % strlen(LETTERS)];

		l->word[i] = letter;
		if (!i || letter != l->word[i - 1])
			l->blocks[l->count++] = (struct gp_block){
				.addr = ADDR + i * CELL,
				.id = i,
				.state = letter == 'f'	 ? GP_INACTIVE
					 : letter == 'p' ? GP_PENDING_FREE
							 : GP_ACTIVE,
			};
		l->block_of[i] = l->count - 1;
		l->blocks[l->count - 1].size += CELL;
		l->blocks[l->count - 1].requested += CELL;
	}
	l->segment = (struct gp_segment){
		.addr = ADDR,
		.size = CELLS * CELL,
		.blocks = l->count,
		.is_small = is_expandable,
		.is_expandable = is_expandable,
	};
}

/* ---- the recomputation ---- */

/* Whether the cell is the first one, within the unit, of a live block. */
static bool begins_holder(const struct layout *l, uint32_t first, uint32_t i)
{
	return strchr("lL", l->word[i]) &&
	       (i == first || l->block_of[i] != l->block_of[i - 1]);
}

static uint64_t count_free(const struct layout *l, uint32_t first, uint32_t end)
{
	uint64_t n = 0;

	for (uint32_t i = first; i < end; i++)
		n += l->word[i] == 'f';
	return n;
}

static void check_unit(const struct layout *l, const struct gp_pins *pins,
		       const struct gp_unit *unit, uint32_t first, uint32_t end)
{
	uint32_t at = unit->first_holder;
	uint64_t shared = 0;

	ck_assert_uint_eq(unit->size, (end - first) * CELL);
	ck_assert_uint_eq(unit->free, count_free(l, first, end) * CELL);
	ck_assert(unit->is_page == l->segment.is_expandable);
	for (uint32_t i = first; i < end; i++) {
		const struct gp_holder *holder = &pins->holders[at];

		if (!begins_holder(l, first, i))
			continue;
		ck_assert_uint_eq(holder->id, l->blocks[l->block_of[i]].id);
		ck_assert_uint_eq(holder->addr, l->blocks[l->block_of[i]].addr);
		ck_assert_uint_eq(holder->unit, unit - pins->units);
		ck_assert_uint_eq(holder->share,
				  unit->free / unit->holders +
					  (at - unit->first_holder <
					   unit->free % unit->holders));
		shared += holder->share;
		at++;
	}
	ck_assert_uint_eq(unit->holders, at - unit->first_holder);
	ck_assert_uint_eq(shared, unit->free);
}

static const struct gp_unit *unit_at(const struct gp_pins *pins, uint64_t addr)
{
	for (size_t i = 0; i < pins->unit_count; i++)
		if (pins->units[i].addr == addr)
			return &pins->units[i];
	return NULL;
}

static void check_order(const struct gp_pins *pins)
{
	for (size_t i = 1; i < pins->unit_count; i++) {
		const struct gp_unit *a = &pins->units[i - 1], *b = a + 1;

		ck_assert(a->free > b->free ||
			  (a->free == b->free && a->addr < b->addr));
	}
}

static void check(const struct layout *l, const struct gp_pins *pins)
{
	uint32_t cells = l->segment.is_expandable ? PAGE / CELL : CELLS;
	size_t pinned = 0;

	for (uint32_t first = 0; first < CELLS; first += cells) {
		uint32_t end = first + cells < CELLS ? first + cells : CELLS;
		uint32_t holders = 0;

		for (uint32_t i = first; i < end; i++)
			holders += begins_holder(l, first, i);
		if (!holders || !count_free(l, first, end))
			continue;
		pinned++;
		ck_assert_ptr_nonnull(unit_at(pins, ADDR + first * CELL));
		check_unit(l, pins, unit_at(pins, ADDR + first * CELL), first,
			   end);
	}
	ck_assert_uint_eq(pins->unit_count, pinned);
	check_order(pins);
}

START_TEST(each_layout_pins_what_is_beside_live_blocks)
{
	struct gp_settings settings;
	unsigned layouts = 1;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	for (int i = 0; i < CELLS; i++)
		layouts *= (unsigned)strlen(LETTERS);
	for (unsigned n = 0; n < layouts; n++) {
		struct layout l;
		const struct gp_state state = { .segments = &l.segment,
						.segment_count = 1,
						.blocks = l.blocks };
		struct gp_pins pins;

		make(&l, n, _i);
		gp_pins_of(&settings, &state, &pins);
		check(&l, &pins);
		gp_pins_release(&pins);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("pins");

	tcase_add_loop_test(tcase, each_layout_pins_what_is_beside_live_blocks,
			    0, 2);
	return suite_play("pins", tcase);
}
