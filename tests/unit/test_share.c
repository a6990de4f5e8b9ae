/* SPDX-License-Identifier: MIT */
/* Who held memory in two runs, side by side: the largest change first. */
#include <stdlib.h>
#include <string.h>

#include "study/metrics/change.h"
#include "suite.h"
#include "trace_text.h"

/* Blocks and bytes held at the peak; requests, and bytes asked for, of the
 * whole run. */
#define LINE(name_, blocks_, requested_, requests_, asked_)                    \
	{                                                                      \
		.name = name_, .blocks = blocks_, .requested = requested_,     \
		.requests = requests_, .asked = asked_                         \
	}

START_TEST(the_largest_change_comes_first)
{
	const struct gp_share a[] = {
		{ .name = "t.py:1 f", .blocks = 1, .requested = 1000 },
		{ .name = "t.py:2 g", .blocks = 1, .requested = 100 },
		{ .name = "t.py:3 h", .blocks = 1, .requested = 300 },
	};
	const struct gp_share b[] = {
		{ .name = "t.py:1 f", .blocks = 1, .requested = 800 },
		{ .name = "t.py:2 g", .blocks = 1, .requested = 600 },
	};
	static const char *const order[] = { "t.py:2 g", "t.py:3 h",
					     "t.py:1 f" };
	struct gp_share_pair *pairs;

	ck_assert_uint_eq(gp_share_match(a, 3, b, 2, &pairs), 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_str_eq(pairs[i].a.name, order[i]);
	ck_assert_int_eq(pairs[0].fate, GP_SHARE_STAYED);
	ck_assert_int_eq(pairs[1].fate, GP_SHARE_GONE);
	free(pairs);
}
END_TEST

static const struct gp_share_pair *in_b(const struct gp_share_pair *pairs,
					size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(pairs[i].b.name, name))
			return &pairs[i];
	ck_abort_msg("%s is not there", name);
	return NULL;
}

/* A line that holds nothing at the peak is there all the same. */
START_TEST(a_line_that_holds_nothing_at_the_peak_is_not_gone)
{
	const struct gp_share a[] = {
		{ .name = "t.py:30 f",
		  .blocks = 1,
		  .requested = 200,
		  .most = 200,
		  .requests = 3,
		  .asked = 600 },
		{ .name = "t.py:31 f",
		  .most = 150,
		  .requests = 3,
		  .asked = 450 },
		{ .name = "t.py:32 f", .most = 1, .requests = 1, .asked = 1 },
	};
	const struct gp_share b[] = {
		{ .name = "t.py:30 f",
		  .most = 200,
		  .requests = 3,
		  .asked = 600 },
		{ .name = "t.py:31 f",
		  .blocks = 1,
		  .requested = 300,
		  .most = 300,
		  .requests = 3,
		  .asked = 900 },
		{ .name = "t.py:32 f", .most = 1, .requests = 1, .asked = 1 },
	};
	struct gp_share_pair *pairs;

	/* What neither holds at the peak has no row. */
	ck_assert_uint_eq(gp_share_match(a, 3, b, 3, &pairs), 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(pairs[i].fate, GP_SHARE_STAYED);
		ck_assert_str_eq(pairs[i].a.name, pairs[i].b.name);
	}
	free(pairs);
}
END_TEST

/* A line was added above: those below follow, though one now has the number
 * that another had. */
START_TEST(lines_that_all_moved_down_by_one_follow)
{
	const struct gp_share a[] = {
		LINE("t.py:30 f", 1, 100, 1, 100),
		LINE("t.py:31 f", 1, 400, 1, 400),
		LINE("t.py:32 f", 1, 50, 1, 50),
	};
	const struct gp_share b[] = {
		LINE("t.py:31 f", 1, 100, 1, 100),
		LINE("t.py:32 f", 1, 400, 2, /* of one more step */ 800),
		LINE("t.py:33 f", 2, 58, 2, 58),
	};
	struct gp_share_pair *pairs;
	size_t count = gp_share_match(a, 3, b, 3, &pairs);

	ck_assert_uint_eq(count, 3);
	ck_assert_str_eq(in_b(pairs, count, "t.py:31 f")->a.name, "t.py:30 f");
	ck_assert_str_eq(in_b(pairs, count, "t.py:32 f")->a.name, "t.py:31 f");
	ck_assert_str_eq(in_b(pairs, count, "t.py:33 f")->a.name, "t.py:32 f");
	free(pairs);
}
END_TEST

/* One line is gone and another is new; those between stay as they are. */
START_TEST(lines_between_a_gone_and_a_new_one_stay)
{
	const struct gp_share a[] = {
		LINE("t.py:30 f", 1, 100, 1, 100),
		LINE("t.py:40 f", 1, 400, 1, 400),
		LINE("t.py:50 f", 1, 50, 1, 50),
	};
	const struct gp_share b[] = {
		LINE("t.py:40 f", 1, 400, 1, 400),
		LINE("t.py:50 f", 1, 50, 1, 50),
		LINE("t.py:60 f", 1, 9, 1, 9),
	};
	struct gp_share_pair *pairs;
	size_t count = gp_share_match(a, 3, b, 3, &pairs);

	ck_assert_uint_eq(count, 4);
	ck_assert_int_eq(in_b(pairs, count, "t.py:40 f")->fate,
			 GP_SHARE_STAYED);
	ck_assert_int_eq(in_b(pairs, count, "t.py:50 f")->fate,
			 GP_SHARE_STAYED);
	ck_assert_int_eq(in_b(pairs, count, "t.py:60 f")->fate, GP_SHARE_NEW);
	free(pairs);
}
END_TEST

/* ---- beside all ways to pair a few lines ---- */

#define FEW 6

/* Two programs' lines of one function, by number. */
struct sides {
	struct gp_share a[FEW], b[FEW];
	size_t a_count, b_count;
};

static unsigned line_of(const struct gp_share *share)
{
	return (unsigned)strtoul(strchr(share->name, ':') + 1, NULL, 10);
}

static bool asks_alike(const struct gp_share *a, const struct gp_share *b)
{
	return a->requests && b->requests &&
	       a->asked / a->requests == b->asked / b->requests;
}

/* That many times as much as being in order counts. */
static unsigned worth(const struct gp_share *a, const struct gp_share *b)
{
	return 4 + 5 * (line_of(a) == line_of(b)) + 6 * asks_alike(a, b);
}

/* The most that any pairs in order count, from there on; of all pairs, or of
 * those that were made. */
static unsigned most(const struct sides *s, size_t i, size_t k,
		     const bool made[FEW][FEW])
{
	unsigned best, other;

	if (i == s->a_count || k == s->b_count)
		return 0;
	best = most(s, i + 1, k, made);
	other = most(s, i, k + 1, made);
	best = other > best ? other : best;
	if (made && !made[i][k])
		return best;
	other = worth(&s->a[i], &s->b[k]) + most(s, i + 1, k + 1, made);
	return other > best ? other : best;
}

static size_t make_side(struct gp_share *list, uint64_t *seed)
{
	size_t count = next_random(seed) % (FEW + 1);
	unsigned line = 0;

	for (size_t i = 0; i < count; i++) {
		line += 1 + (unsigned)(next_random(seed) % 3);
		list[i] = (struct gp_share){ .blocks = 1 };
		snprintf(list[i].name, sizeof(list[i].name), "t.py:%u f", line);
		list[i].requested = 512 * (next_random(seed) % 4);
		list[i].requests = next_random(seed) % 3;
		list[i].asked = 100 * (next_random(seed) % 3);
	}
	return count;
}

static size_t index_of(const struct gp_share *list, size_t count,
		       const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i].name, name))
			return i;
	ck_abort_msg("%s is not there", name);
	return 0;
}

static uint64_t difference(const struct gp_share_pair *pair)
{
	return pair->a.requested > pair->b.requested
		       ? pair->a.requested - pair->b.requested
		       : pair->b.requested - pair->a.requested;
}

/* Each line once, and what is left asks for nothing that is the same. */
static void compare_sides(const struct sides *s,
			  const struct gp_share_pair *pairs, size_t count)
{
	bool made[FEW][FEW] = { { false } };
	size_t as = 0, bs = 0;

	for (size_t i = 0; i < count; i++) {
		const struct gp_share_pair *p = &pairs[i];
		bool is_moved = *p->a.name && *p->b.name &&
				line_of(&p->a) != line_of(&p->b);

		as += *p->a.name != 0;
		bs += *p->b.name != 0;
		ck_assert_int_eq(p->fate, !*p->b.name	? GP_SHARE_GONE
					  : !*p->a.name ? GP_SHARE_NEW
					  : is_moved	? GP_SHARE_MOVED
							: GP_SHARE_STAYED);
		ck_assert(!i || difference(&pairs[i - 1]) >= difference(p));
		if (*p->a.name && *p->b.name)
			made[index_of(s->a, s->a_count, p->a.name)]
			    [index_of(s->b, s->b_count, p->b.name)] = true;
		for (size_t k = 0; p->fate == GP_SHARE_GONE && k < count; k++)
			ck_assert(pairs[k].fate != GP_SHARE_NEW ||
				  p->a.requests != pairs[k].b.requests ||
				  p->a.asked != pairs[k].b.asked);
	}
	ck_assert_uint_eq(as, s->a_count);
	ck_assert_uint_eq(bs, s->b_count);
	ck_assert_uint_eq(most(s, 0, 0, (const bool(*)[FEW])made),
			  most(s, 0, 0, NULL));
}

START_TEST(no_other_pairs_count_more)
{
	uint64_t seed = 1;

	for (int round = 0; round < 600; round++) {
		struct sides s;
		struct gp_share_pair *pairs;
		size_t count;

		s.a_count = make_side(s.a, &seed);
		s.b_count = make_side(s.b, &seed);
		count = gp_share_match(s.a, s.a_count, s.b, s.b_count, &pairs);
		compare_sides(&s, pairs, count);
		free(pairs);
	}
}
END_TEST

/* So many lines that pairs are not weighed: those of one number are one. */
START_TEST(very_many_lines_are_paired_by_number)
{
	enum { MOST_WEIGHED = 2048, MANY = 2100 };
	static struct gp_share a[MANY], b[MANY];
	struct gp_share_pair *pairs;
	size_t count, stayed = 0;

	for (size_t i = 0; i < MANY; i++) {
		a[i] = b[i] = (struct gp_share){ .blocks = 1, .requests = 1 };
		a[i].asked = b[i].asked = i;
		snprintf(a[i].name, sizeof(a[i].name), "t.py:%zu f", 2 * i);
		snprintf(b[i].name, sizeof(b[i].name), "t.py:%zu f", 3 * i);
	}
	count = gp_share_match(a, MANY, b, MANY, &pairs);
	for (size_t i = 0; i < count; i++) {
		const struct gp_share_pair *p = &pairs[i];

		ck_assert_int_ne(p->fate, GP_SHARE_MOVED);
		if (p->fate == GP_SHARE_STAYED)
			ck_assert_uint_eq(line_of(&p->a), line_of(&p->b));
		stayed += p->fate == GP_SHARE_STAYED;
	}
	/* Of the numbers below 4200 each sixth is in both. */
	ck_assert_uint_eq(stayed, 700);
	ck_assert_uint_eq(count, 2 * MANY - 700);
	free(pairs);
	/* Of the most that are weighed, each has one that asks the same. */
	count = gp_share_match(a, MOST_WEIGHED, b, MOST_WEIGHED, &pairs);
	ck_assert_uint_eq(count, MOST_WEIGHED);
	free(pairs);
	count = gp_share_match(a, MOST_WEIGHED, b, MOST_WEIGHED + 1, &pairs);
	ck_assert_uint_gt(count, MOST_WEIGHED + 1);
	free(pairs);
}
END_TEST

/* Blocks of the start are requests of a share like others, unless they only
 * wait to be freed. */
START_TEST(a_window_shares_out_what_was_there_at_its_start)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
		"[\"t.py:1 f\", \"t.py:2 f\", \"t.py:3 f\"], \"devices\": "
		"[{\"device\": 0, \"start\": {\"segments\": [{\"address\": "
		"4194304, \"total_size\": 20971520, \"blocks\": ["
		"{\"size\": 10485760, \"requested_size\": 10000000, "
		"\"state\": \"active_allocated\", \"id\": 1, \"site\": 0}, "
		"{\"size\": 10485760, \"state\": \"active_pending_free\", "
		"\"id\": 2, \"site\": 1}]}]}, \"events\": ["
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 512, \"site\": 0}, "
		"{\"op\": \"free\", \"id\": 1}, "
		"{\"op\": \"alloc\", \"id\": 4, \"size\": 1024, \"site\": 2}"
		"]}]}");
	const struct gp_replay_result result = {
		.peak = trace->devices[0].start,
	};
	struct gp_share *shares;

	ck_assert_uint_eq(
		gp_share_out(trace, 0, &result, GP_SHARE_BY_SITE, &shares), 2);
	ck_assert_str_eq(shares[0].name, "t.py:1 f");
	ck_assert_uint_eq(shares[0].blocks, 1);
	ck_assert_uint_eq(shares[0].requested, 10000000);
	ck_assert_uint_eq(shares[0].rounding, 485760);
	ck_assert_uint_eq(shares[0].requests, 2);
	ck_assert_uint_eq(shares[0].asked, 10000512);
	ck_assert_uint_eq(shares[0].most, 10000512);
	ck_assert_str_eq(shares[1].name, "t.py:3 f");
	ck_assert_uint_eq(shares[1].blocks, 0);
	ck_assert_uint_eq(shares[1].requests, 1);
	ck_assert_uint_eq(shares[1].most, 1024);
	free(shares);
	gp_trace_destroy(trace);
}
END_TEST

/* A request that is not served is one of its line, which does not hold it; one
 * that failed only when it was recorded is held. */
START_TEST(what_is_not_served_is_not_held)
{
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"sites\": "
		"[\"t.py:1 f\", \"t.py:2 f\"], \"devices\": "
		"[{\"device\": 0, \"events\": ["
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 512, \"site\": 0}, "
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 1024, \"site\": 0}, "
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 2048, \"site\": 1, "
		"\"refused\": true}]}]}");
	uint64_t second = 1;
	const struct gp_replay_result result = {
		.ooms = { .events = &second, .count = 1 },
	};
	struct gp_share *shares;

	ck_assert_uint_eq(
		gp_share_out(trace, 0, &result, GP_SHARE_BY_SITE, &shares), 2);
	ck_assert_uint_eq(shares[0].requests, 2);
	ck_assert_uint_eq(shares[0].most, 512);
	ck_assert_uint_eq(shares[1].most, 2048);
	free(shares);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ what_is_not_served_is_not_held, 0 },
		{ the_largest_change_comes_first, 0 },
		{ a_line_that_holds_nothing_at_the_peak_is_not_gone, 0 },
		{ lines_that_all_moved_down_by_one_follow, 0 },
		{ lines_between_a_gone_and_a_new_one_stay, 0 },
		{ no_other_pairs_count_more, 0 },
		{ very_many_lines_are_paired_by_number, 0 },
		{ a_window_shares_out_what_was_there_at_its_start, 0 },
	};

	return suite_run("share", tests, COUNT_OF(tests));
}
