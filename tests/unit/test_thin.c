/* SPDX-License-Identifier: MIT */
/* Thinning: the size is bounded, and no peak is lost. */
#include <stdlib.h>

#include "gpupool/metrics.h"
#include "suite.h"

#define EVENTS 100000

static struct gp_moment moment(uint64_t event, uint64_t reserved,
			       uint64_t allocated)
{
	return (struct gp_moment){ .event = event,
				   .reserved = reserved,
				   .allocated = allocated,
				   .active = allocated,
				   .requested = allocated };
}

static struct gp_moment *thinned(size_t *count, uint64_t peak, uint64_t low)
{
	struct gp_thin *thin = gp_thin_create();
	struct gp_moment *moments;

	for (uint64_t i = 0; i < EVENTS; i++)
		gp_thin_add(thin,
			    &(struct gp_moment){
				    .event = i,
				    .reserved = i == peak ? 999 : 500,
				    .allocated = i == low ? 1 : 100 + i % 7 });
	*count = gp_thin_moments(thin, &moments);
	gp_thin_destroy(thin);
	return moments;
}

START_TEST(one_event_of_a_hundred_thousand_is_kept)
{
	static const uint64_t events[] = { 0, 1, 4711, 65535, EVENTS - 1 };
	size_t count;

	for (size_t i = 0; i < COUNT_OF(events); i++) {
		uint64_t peak = events[i], low = (peak + 5) % EVENTS;
		struct gp_moment *m = thinned(&count, peak, low);
		unsigned found = 0;

		for (size_t k = 0; k < count; k++)
			found += (m[k].event == peak && m[k].reserved == 999) +
				 (m[k].event == low && m[k].allocated == 1);
		ck_assert_uint_eq(found, 2);
		free(m);
	}
}
END_TEST

/* Of equal extremes, the first one within its part of the run is kept. A part
 * has more than 8 events, which may have been separate at first. */
START_TEST(the_first_extreme_is_kept)
{
	static const uint64_t places[] = { 64, 4096, 90112 };

	for (size_t place = 0; place < COUNT_OF(places); place++) {
		struct gp_thin *thin = gp_thin_create();
		struct gp_moment *m;
		size_t count;
		const uint64_t from = places[place];
		unsigned found[8] = { 0 };

		for (uint64_t i = 0; i < EVENTS; i++) {
			bool is_low = i == from + 1 || i == from + 3;
			bool is_high = i == from + 5 || i == from + 7;
			uint64_t bytes = is_low ? 1 : is_high ? 900 : 500;
			struct gp_moment one = moment(i, 999, bytes);

			gp_thin_add(thin, &one);
		}
		count = gp_thin_moments(thin, &m);
		for (size_t i = 0; i < count; i++)
			if (m[i].event >= from &&
			    m[i].event - from < COUNT_OF(found))
				found[m[i].event - from]++;
		ck_assert_uint_eq(found[1], 1);
		ck_assert_uint_eq(found[3], 0);
		ck_assert_uint_eq(found[5], 1);
		ck_assert_uint_eq(found[7], 0);
		free(m);
		gp_thin_destroy(thin);
	}
}
END_TEST

START_TEST(they_are_few_in_order_and_end_at_the_end)
{
	size_t count;
	struct gp_moment *m = thinned(&count, 10, 20);

	ck_assert_uint_le(count, GP_THIN_BUCKETS * GP_MEASURES * 2 + 1);
	ck_assert_uint_le(count, 3000);
	for (size_t i = 1; i < count; i++) {
		ck_assert_uint_gt(m[i].event, m[i - 1].event);
		/* The density is the same everywhere: each bucket has one or
		 * two moments. */
		ck_assert_uint_le(m[i].event - m[i - 1].event,
				  4 * EVENTS / GP_THIN_BUCKETS);
	}
	ck_assert_uint_eq(m[0].event, 0);
	ck_assert_uint_eq(m[count - 1].event, EVENTS - 1);
	free(m);
}
END_TEST

START_TEST(a_short_run_is_kept_whole)
{
	struct gp_thin *thin = gp_thin_create();
	struct gp_moment *moments;
	size_t count;

	for (uint64_t i = 0; i < 5; i++) {
		struct gp_moment m = moment(i, 10, i);

		gp_thin_add(thin, &m);
	}
	count = gp_thin_moments(thin, &moments);
	ck_assert_uint_eq(count, 5);
	free(moments);
	gp_thin_destroy(thin);
}
END_TEST

START_TEST(of_nothing_nothing_is_kept)
{
	struct gp_thin *thin = gp_thin_create();
	struct gp_moment *moments;

	ck_assert_uint_eq(gp_thin_moments(thin, &moments), 0);
	free(moments);
	gp_thin_destroy(thin);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ one_event_of_a_hundred_thousand_is_kept, 0 },
		{ the_first_extreme_is_kept, 0 },
		{ they_are_few_in_order_and_end_at_the_end, 0 },
		{ a_short_run_is_kept_whole, 0 },
		{ of_nothing_nothing_is_kept, 0 },
	};

	return suite_run("thin", tests, COUNT_OF(tests));
}
