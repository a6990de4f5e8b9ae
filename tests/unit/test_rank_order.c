/* SPDX-License-Identifier: MIT */
/* Which class of ranks comes first, which one leads and which is the worst,
 * compared with a slow computation for all short lists. */
#include <string.h>

#include "suite.h"
#include "trace/ranks.h"

#define MOST 4

/* ---- the order of classes ---- */

/* A class of one of four kinds: with or without requests, with one file or
 * two. */
static struct gp_rank_class class_like(unsigned kind, size_t index)
{
	return (struct gp_rank_class){
		.is_idle = kind & 1,
		.count = 1 + (kind >> 1 & 1),
		.first_case = index,
	};
}

static bool goes_before(const struct gp_rank_class *a,
			const struct gp_rank_class *b)
{
	if (a->is_idle != b->is_idle)
		return b->is_idle;
	if (a->count != b->count)
		return a->count > b->count;
	return a->first_case < b->first_case;
}

START_TEST(those_with_requests_and_many_files_come_first)
{
	for (unsigned n = 0; n < 1U << 2 * MOST; n++)
		for (size_t count = 0; count <= MOST; count++) {
			struct gp_rank_class list[MOST];
			struct gp_ranks ranks = { .classes = list,
						  .count = count };
			size_t busy = 0;

			for (size_t i = 0; i < count; i++) {
				list[i] = class_like(n >> 2 * i & 3, i);
				busy += !list[i].is_idle;
			}
			gp_ranks_sort(&ranks);
			for (size_t i = 1; i < count; i++)
				ck_assert(goes_before(&list[i - 1], &list[i]));
			ck_assert_uint_eq(gp_ranks_busy(&ranks), busy);
		}
}
END_TEST

/* ---- the class that leads ---- */

#define LEADERS 3

static size_t files_of(const struct gp_rank_class *list,
		       const struct gp_rank_class *like)
{
	size_t files = 0;

	for (size_t i = 0; i < LEADERS; i++)
		if (list[i].release == like->release &&
		    !strcmp(list[i].conf, like->conf))
			files += list[i].count;
	return files;
}

/* Whether more files have its release and settings than those of the other, or
 * as many and the release is newer. */
static bool leads(const struct gp_rank_class *list, size_t a, size_t b)
{
	size_t x = files_of(list, &list[a]), y = files_of(list, &list[b]);

	return x != y ? x > y : list[a].release > list[b].release;
}

START_TEST(what_most_files_have_leads)
{
	static char confs[][2] = { "", "a" };

	for (unsigned n = 0; n < 1U << 3 * LEADERS; n++)
		for (size_t busy = 0; busy <= LEADERS; busy++) {
			struct gp_rank_class list[LEADERS];
			const struct gp_ranks ranks = { .classes = list,
							.count = LEADERS };
			size_t lead, end = busy ? busy : LEADERS;

			for (size_t i = 0; i < LEADERS; i++)
				list[i] = (struct gp_rank_class){
					.is_idle = i >= busy,
					.count = 1 + (n >> 3 * i & 1),
					.release = 14 + (n >> (3 * i + 1) & 1),
					.conf = confs[n >> (3 * i + 2) & 1],
				};
			lead = gp_ranks_lead(&ranks);
			ck_assert_uint_lt(lead, end);
			for (size_t i = 0; i < end; i++) {
				ck_assert(!leads(list, i, lead));
				ck_assert(i >= lead || leads(list, lead, i));
			}
		}
}
END_TEST

/* ---- the worst ---- */

static bool is_worse(const struct gp_rank_run *a, const struct gp_rank_run *b)
{
	const uint64_t x[] = { a->is_there, a->dropped, a->ooms, a->reserved };
	const uint64_t y[] = { b->is_there, b->dropped, b->ooms, b->reserved };

	for (size_t i = 0; i < COUNT_OF(x); i++)
		if (x[i] != y[i])
			return x[i] > y[i];
	return false;
}

static size_t worst_of(const struct gp_rank_run *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		bool is_worst = true;

		for (size_t k = 0; k < count && is_worst; k++)
			is_worst = !is_worse(&list[k], &list[i]) &&
				   (k >= i || is_worse(&list[i], &list[k]));
		if (is_worst)
			return i;
	}
	ck_abort_msg("none is the worst");
}

/* Three ranks, each with one device or two. */
static void check_worst(unsigned devices, unsigned values)
{
	struct gp_trace traces[3];
	struct gp_rank_class list[3] = { 0 };
	struct gp_ranks ranks = { .classes = list, .count = 3 };
	struct gp_rank_runs runs;
	size_t class_of[6], cases = 0;

	for (size_t i = 0; i < 3; i++) {
		traces[i] = (struct gp_trace){
			.device_count = 1 + (devices >> i & 1),
		};
		list[i].trace = &traces[i];
		for (uint32_t d = 0; d < traces[i].device_count; d++)
			class_of[cases++] = i;
	}
	gp_rank_runs_init(&runs, &ranks);
	ck_assert_uint_eq(runs.count, cases);
	for (size_t i = 0; i < cases; i++) {
		unsigned bits = values >> 4 * (i % 3) ^ (unsigned)(i / 3);

		ck_assert_uint_eq(gp_ranks_class_of(&ranks, i), class_of[i]);
		runs.runs[i] = (struct gp_rank_run){
			.is_there = bits & 1,
			.dropped = bits >> 1 & 1,
			.ooms = bits >> 2 & 1,
			.reserved = bits >> 3 & 1,
		};
	}
	ck_assert_uint_eq(gp_rank_runs_worst(&runs),
			  class_of[worst_of(runs.runs, cases)]);
	gp_rank_runs_release(&runs);
}

START_TEST(the_worst_is_the_first_of_those_with_most_failures)
{
	for (unsigned devices = 0; devices < 8; devices++)
		for (unsigned values = 0; values < 1U << 12; values++)
			check_worst(devices, values);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ those_with_requests_and_many_files_come_first, 0 },
		{ what_most_files_have_leads, 0 },
		{ the_worst_is_the_first_of_those_with_most_failures, 0 },
	};

	return suite_run("rank_order", tests, COUNT_OF(tests));
}
