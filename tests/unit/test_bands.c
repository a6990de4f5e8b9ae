/* SPDX-License-Identifier: MIT */
/* Bands of a few made-up blocks, many of them equally large, compared with
 * plain sums. */
#include "study/metrics/bands.h"

#include <stdlib.h>

#include "suite.h"

#define BLOCKS	60
#define MOMENTS 90

struct made_up {
	struct gp_lifetime list[BLOCKS];
	uint64_t allocated[MOMENTS], reserved[MOMENTS];
	struct gp_lifetimes lifetimes;
	struct gp_bands_window window;
};

static void make_up(struct made_up *m, uint64_t seed)
{
	uint64_t begin = 0;

	*m = (struct made_up){ .lifetimes = { .list = m->list } };
	m->lifetimes.moments = 1 + next_random(&seed) % MOMENTS;
	m->lifetimes.count = next_random(&seed) % (BLOCKS + 1);
	m->lifetimes.allocated = m->allocated;
	m->lifetimes.reserved = m->reserved;
	for (size_t i = 0; i < m->lifetimes.count; i++) {
		struct gp_lifetime *life = &m->list[i];

		begin += next_random(&seed) % 3;
		if (begin >= m->lifetimes.moments)
			begin = m->lifetimes.moments - 1;
		life->id = (uint32_t)i;
		life->alloc = begin;
		life->size = next_random(&seed) % 4;
		life->freed = begin + 1 + next_random(&seed) % 40;
		if (!(next_random(&seed) % 4))
			life->freed = GP_LIFE_NO_END;
		for (uint64_t k = begin; k < m->lifetimes.moments; k++)
			if (k < life->freed)
				m->allocated[k] += life->size;
	}
	for (uint64_t k = 0; k < m->lifetimes.moments; k++)
		m->reserved[k] = m->allocated[k] + next_random(&seed) % 3;
	m->window = (struct gp_bands_window){
		.from = next_random(&seed) % (m->lifetimes.moments + 2),
		.to = next_random(&seed) % (m->lifetimes.moments + 2),
		.columns = next_random(&seed) % 70,
		.most = next_random(&seed) % 25,
	};
}

/* The window that is shown. */
static void compare_window(const struct made_up *m,
			   const struct gp_bands *bands)
{
	uint64_t last = m->lifetimes.moments - 1, n = m->window.columns;
	uint64_t from = m->window.from < last ? m->window.from : last;
	uint64_t to = m->window.to <= from || m->window.to > last + 1
			      ? last + 1
			      : m->window.to;

	ck_assert_uint_eq(bands->from, from);
	ck_assert_uint_eq(bands->to, to);
	n = !n ? 1 : n > to - from ? to - from : n;
	ck_assert_uint_eq(bands->column_count, n);
	for (size_t i = 0; i < n; i++)
		ck_assert_uint_eq(bands->columns[i].from,
				  from + (to - from) * i / n);
}

static void compare_column(const struct made_up *m,
			   const struct gp_bands *bands, size_t i)
{
	const struct gp_band_column *c = &bands->columns[i];
	uint64_t end = i + 1 < bands->column_count ? c[1].from : bands->to;
	uint64_t moment = c->from, reserved = 0;

	for (uint64_t k = c->from; k < end; k++) {
		if (m->allocated[k] > m->allocated[moment])
			moment = k;
		if (m->reserved[k] > reserved)
			reserved = m->reserved[k];
	}
	ck_assert_uint_eq(c->moment, moment);
	ck_assert_uint_eq(c->allocated, m->allocated[moment]);
	ck_assert_uint_eq(c->reserved, reserved);
}

static size_t columns_of(const struct made_up *m, const struct gp_bands *bands,
			 size_t block)
{
	size_t n = 0;

	for (size_t i = 0; i < bands->column_count; i++)
		n += gp_life_is_at(&m->list[block], bands->columns[i].moment);
	return n;
}

/* How many blocks have a larger area, or an equal one and are older. */
static size_t before(const struct made_up *m, const struct gp_bands *bands,
		     size_t block)
{
	uint64_t area = m->list[block].size * columns_of(m, bands, block);
	size_t n = 0;

	for (size_t i = 0; i < m->lifetimes.count; i++) {
		uint64_t other = m->list[i].size * columns_of(m, bands, i);

		n += columns_of(m, bands, i) &&
		     (other > area || (other == area && i < block));
	}
	return n;
}

static void compare_bands(const struct made_up *m, const struct gp_bands *bands)
{
	uint64_t rest[MOMENTS] = { 0 }, blocks[MOMENTS] = { 0 }, seen = 0;
	size_t n = 0;

	for (size_t b = 0; b < m->lifetimes.count; b++) {
		size_t columns = columns_of(m, bands, b);
		const struct gp_band *band = &bands->list[n];
		bool has_band = columns && before(m, bands, b) < m->window.most;

		seen += columns > 0;
		n += has_band;
		if (has_band) {
			ck_assert_uint_le(n, bands->count);
			ck_assert_uint_eq(band->lifetime, b);
			ck_assert_uint_eq(band->last - band->first + 1,
					  columns);
		}
		for (size_t i = 0; i < bands->column_count; i++) {
			bool is_at = gp_life_is_at(&m->list[b],
						   bands->columns[i].moment);

			if (has_band)
				ck_assert_int_eq(is_at,
						 i >= band->first &&
							 i <= band->last);
			else if (is_at)
				blocks[i]++, rest[i] += m->list[b].size;
		}
	}
	ck_assert_uint_eq(bands->count, n);
	ck_assert_uint_eq(bands->blocks, seen);
	for (size_t i = 0; i < bands->column_count; i++) {
		ck_assert_uint_eq(bands->columns[i].rest, rest[i]);
		ck_assert_uint_eq(bands->columns[i].rest_blocks, blocks[i]);
	}
}

START_TEST(the_largest_are_bands_and_the_others_the_rest)
{
	for (uint64_t seed = 1; seed <= 1500; seed++) {
		struct made_up m;
		struct gp_bands bands;

		make_up(&m, seed);
		gp_bands_init(&bands, &m.lifetimes, &m.window);
		compare_window(&m, &bands);
		for (size_t i = 0; i < bands.column_count; i++)
			compare_column(&m, &bands, i);
		compare_bands(&m, &bands);
		gp_bands_release(&bands);
	}
}
END_TEST

/* ---- ranks ---- */

#define CULPRITS 7

START_TEST(who_holds_more_for_longer_ranks_before)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct made_up m;
		struct asker list[BLOCKS];
		const struct askers askers = { .list = list,
					       .count = BLOCKS,
					       .culprit_count = CULPRITS };
		uint64_t sums[CULPRITS] = { 0 }, state = seed;
		uint32_t *ranks;

		make_up(&m, seed);
		for (size_t i = 0; i < m.lifetimes.count; i++) {
			size_t of = next_random(&state) % CULPRITS;

			list[i] = (struct asker){ .culprit = (uint32_t)of };
			for (uint64_t k = 0; k < m.lifetimes.moments; k++)
				if (gp_life_is_at(&m.list[i], k))
					sums[of] += m.list[i].size;
		}
		ranks = gp_bands_ranks(&m.lifetimes, &askers);
		for (size_t i = 0; i < CULPRITS; i++) {
			uint32_t rank = 0;

			for (size_t k = 0; k < CULPRITS; k++)
				rank += sums[k] > sums[i] ||
					(sums[k] == sums[i] && k < i);
			ck_assert_uint_eq(ranks[i], rank);
		}
		free(ranks);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_largest_are_bands_and_the_others_the_rest, 0 },
		{ who_holds_more_for_longer_ranks_before, 0 },
	};

	return suite_run("bands", tests, COUNT_OF(tests));
}
