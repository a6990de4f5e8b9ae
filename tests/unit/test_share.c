/* SPDX-License-Identifier: MIT */
/* Who held memory in two runs, side by side, with the largest change first. */
#include <stdlib.h>
#include <string.h>

#include "played.h"
#include "random_trace.h"
#include "study/metrics/change.h"
#include "trace/site.h"

/* Blocks and bytes held at the peak; requests and requested bytes of the whole
 * run. */
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

/* A line that holds nothing at the peak has a row all the same. */
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

	/* Lines that hold nothing at the peak in either run have no row. */
	ck_assert_uint_eq(gp_share_match(a, 3, b, 3, &pairs), 2);
	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(pairs[i].fate, GP_SHARE_STAYED);
		ck_assert_str_eq(pairs[i].a.name, pairs[i].b.name);
	}
	free(pairs);
}
END_TEST

/* A line was inserted above: the lines below are paired, although some have the
 * numbers that others had. */
START_TEST(lines_that_all_moved_down_by_one_follow)
{
	const struct gp_share a[] = {
		LINE("t.py:30 f", 1, 100, 1, 100),
		LINE("t.py:31 f", 1, 400, 1, 400),
		LINE("t.py:32 f", 1, 50, 1, 50),
	};
	const struct gp_share b[] = {
		LINE("t.py:31 f", 1, 100, 1, 100),
		LINE("t.py:32 f", 1, 400, 2, /* by one more step */ 800),
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

/* One line is gone and another is new; those in between remain paired. */
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

/* ---- compared with all ways to pair a few lines ---- */

#define FEW 6

/* The lines of one function in two programs, by number. */
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

/* What a pair is worth. */
static unsigned worth(const struct gp_share *a, const struct gp_share *b)
{
	return 4 + 5 * (line_of(a) == line_of(b)) + 6 * asks_alike(a, b);
}

/* The most that pairs in order are worth, from there on: all possible pairs, or
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

static size_t make_side(struct gp_share *list, const char *of, uint64_t *seed)
{
	size_t count = next_random(seed) % (FEW + 1);
	unsigned line = 0;

	for (size_t i = 0; i < count; i++) {
		line += 1 + (unsigned)(next_random(seed) % 3);
		list[i] = (struct gp_share){ .blocks = 1 };
		snprintf(list[i].name, sizeof(list[i].name), of, line);
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

/* Each line occurs once, and lines left without a partner have no requests in
 * common. */
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

		s.a_count = make_side(s.a, "t.py:%u f", &seed);
		s.b_count = make_side(s.b, "t.py:%u f", &seed);
		count = gp_share_match(s.a, s.a_count, s.b, s.b_count, &pairs);
		compare_sides(&s, pairs, count);
		free(pairs);
	}
}
END_TEST

/* In their order. */
static const char *const some_functions[] = { "s.py:%u f", "t.py:%u f",
					      "t.py:%u g" };
#define FUNCTIONS COUNT_OF(some_functions)

static bool same_pair(const struct gp_share_pair *x,
		      const struct gp_share_pair *y)
{
	return x->fate == y->fate && !strcmp(x->a.name, y->a.name) &&
	       !strcmp(x->b.name, y->b.name);
}

/* By function, then by line. */
static unsigned place_of(const struct gp_share_pair *pair)
{
	const struct gp_share *share = gp_share_pair_some(pair);

	ck_assert_ptr_eq(share, *pair->b.name ? &pair->b : &pair->a);
	for (unsigned i = 0; i < FUNCTIONS; i++) {
		char name[GP_SITE_TEXT];

		snprintf(name, sizeof(name), some_functions[i], line_of(share));
		if (!strcmp(name, share->name))
			return 1000 * i + line_of(share);
	}
	ck_abort_msg("%s is of no function", share->name);
	return 0;
}

/* The lines of other functions do not affect the pairs of a function. */
static void compare_functions(const struct sides *each,
			      const struct gp_share_pair *all, size_t count)
{
	size_t sum = 0;

	for (size_t f = 0; f < FUNCTIONS; f++) {
		struct gp_share_pair *pairs;
		size_t n = gp_share_match(each[f].a, each[f].a_count, each[f].b,
					  each[f].b_count, &pairs);

		for (size_t i = 0; i < n; i++) {
			size_t k = 0;

			while (k < count && !same_pair(&pairs[i], &all[k]))
				k++;
			ck_assert_uint_lt(k, count);
		}
		sum += n;
		free(pairs);
	}
	ck_assert_uint_eq(sum, count);
	for (size_t i = 1; i < count; i++)
		ck_assert(difference(&all[i - 1]) != difference(&all[i]) ||
			  place_of(&all[i - 1]) <= place_of(&all[i]));
}

START_TEST(functions_are_paired_each_by_itself)
{
	uint64_t seed = 1;

	for (int round = 0; round < 600; round++) {
		struct sides each[FUNCTIONS];
		struct gp_share a[FUNCTIONS * FEW], b[FUNCTIONS * FEW];
		size_t a_count = 0, b_count = 0, count;
		struct gp_share_pair *pairs;

		for (size_t f = 0; f < FUNCTIONS; f++) {
			struct sides *s = &each[f];

			s->a_count = make_side(s->a, some_functions[f], &seed);
			s->b_count = make_side(s->b, some_functions[f], &seed);
		}
		/* First the first line of each function, then the second
		 * ones. */
		for (size_t i = 0; i < FEW * FUNCTIONS; i++) {
			const struct sides *s = &each[i % FUNCTIONS];

			if (i / FUNCTIONS < s->a_count)
				a[a_count++] = s->a[i / FUNCTIONS];
			if (i / FUNCTIONS < s->b_count)
				b[b_count++] = s->b[i / FUNCTIONS];
		}
		count = gp_share_match(a, a_count, b, b_count, &pairs);
		compare_functions(each, pairs, count);
		free(pairs);
	}
}
END_TEST

/* With this many lines, pairs are not weighed; lines with the same number are
 * paired. */
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
	/* Of the numbers below 4200, every sixth is in both. */
	ck_assert_uint_eq(stayed, 700);
	ck_assert_uint_eq(count, 2 * MANY - 700);
	free(pairs);
	/* With the largest number that is weighed, each line has one with the
	 * same requests. */
	count = gp_share_match(a, MOST_WEIGHED, b, MOST_WEIGHED, &pairs);
	ck_assert_uint_eq(count, MOST_WEIGHED);
	free(pairs);
	count = gp_share_match(a, MOST_WEIGHED, b, MOST_WEIGHED + 1, &pairs);
	ck_assert_uint_gt(count, MOST_WEIGHED + 1);
	free(pairs);
}
END_TEST

/* Blocks of the start count as requests like others, unless they are pending
 * free. */
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

/* A request that is not served counts for its line, but holds nothing; one that
 * failed only in the recording holds memory. */
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
	const struct gp_replay_result results[] = {
		{ .ooms = { .events = &second, .count = 1 } },
		{ .refused = 1, .first_refusal_event = 1 },
		{ .refused = 0, .first_refusal_event = 1 }, /* none was */
	};
	struct gp_share *shares;

	for (size_t i = 0; i < COUNT_OF(results); i++) {
		ck_assert_uint_eq(gp_share_out(trace, 0, &results[i],
					       GP_SHARE_BY_SITE, &shares),
				  2);
		ck_assert_uint_eq(shares[0].requests, 2);
		ck_assert_uint_eq(shares[0].most, i < 2 ? 512 : 1536);
		ck_assert_uint_eq(shares[1].most, 2048);
		free(shares);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* ---- compared with a plain count ---- */

#define EVENTS 300

static bool belongs(const struct gp_trace *trace, enum gp_sharing kind,
		    const struct gp_share *share, uint32_t site, uint64_t size)
{
	char name[GP_SITE_TEXT] = "";

	if (kind == GP_SHARE_BY_SIZE)
		return share->floor
			       ? size >= share->floor && size / 2 < share->floor
			       : !size;
	if (site < trace->site_count)
		gp_site_text(trace, site, name);
	return !strcmp(name, share->name);
}

static bool is_served(const struct gp_replay_result *result, uint64_t event)
{
	for (size_t i = 0; i < result->ooms.count; i++)
		if (result->ooms.events[i] == event)
			return false;
	return true;
}

static uint64_t live_of(const struct gp_block *b)
{
	return b->requested < b->size ? b->requested : b->size;
}

/* The sums over the whole program; sites gets the site of each block. */
static void count_requests(const struct gp_trace *trace, enum gp_sharing kind,
			   const struct gp_replay_result *result,
			   struct gp_share *share, uint32_t *sites)
{
	const struct gp_device_trace *d = &trace->devices[0];
	uint64_t *live = calloc(d->block_ids, sizeof(*live)), now = 0;

	for (size_t i = 0; i < d->start.block_count; i++) {
		const struct gp_block *b = &d->start.blocks[i];

		if (b->state != GP_ACTIVE)
			continue;
		sites[b->id] = b->site;
		if (!belongs(trace, kind, share, b->site, live_of(b)))
			continue;
		share->requests++;
		share->asked += live_of(b);
		now += live[b->id] = live_of(b);
	}
	share->most = now;
	for (size_t i = 0; i < d->event_count; i++) {
		const struct gp_event *e = &d->events[i];

		if (e->kind == GP_FREE) {
			now -= live[e->id];
			live[e->id] = 0;
		}
		if (e->kind != GP_ALLOC)
			continue;
		sites[e->id] = e->site;
		if (!belongs(trace, kind, share, e->site, e->size))
			continue;
		share->requests++;
		share->asked += e->size;
		if (!is_served(result, i))
			continue;
		now += live[e->id] = e->size;
		share->most = now > share->most ? now : share->most;
	}
	free(live);
}

static struct gp_share counted(const struct gp_trace *trace,
			       enum gp_sharing kind,
			       const struct gp_replay_result *result,
			       const struct gp_share *of)
{
	struct gp_share share = { .floor = of->floor };
	uint32_t *sites = calloc(trace->devices[0].block_ids, sizeof(*sites));

	memcpy(share.name, of->name, sizeof(share.name));
	count_requests(trace, kind, result, &share, sites);
	for (size_t i = 0; i < result->peak.block_count; i++) {
		const struct gp_block *b = &result->peak.blocks[i];

		if (b->state != GP_ACTIVE ||
		    !belongs(trace, kind, &share, sites[b->id], b->requested))
			continue;
		share.blocks++;
		share.requested += live_of(b);
		share.rounding += b->size - live_of(b);
	}
	free(sites);
	return share;
}

static void compare_shares(const struct gp_trace *trace, enum gp_sharing kind,
			   uint64_t capacity)
{
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct gp_replay_result result;
	struct gp_share *shares;
	size_t count;
	uint64_t requests = 0, all = 0;

	config.capacity = capacity;
	config.keep_peak = true;
	result = played(&config);
	count = gp_share_out(trace, 0, &result, kind, &shares);
	for (size_t i = 0; i < count; i++) {
		const struct gp_share *share = &shares[i];
		struct gp_share plain = counted(trace, kind, &result, share);

		ck_assert(kind == GP_SHARE_BY_SITE || !i ||
			  shares[i - 1].floor < share->floor);
		ck_assert_uint_eq(share->requests, plain.requests);
		ck_assert_uint_eq(share->asked, plain.asked);
		ck_assert_uint_eq(share->most, plain.most);
		ck_assert_uint_eq(share->blocks, plain.blocks);
		ck_assert_uint_eq(share->requested, plain.requested);
		ck_assert_uint_eq(share->rounding, plain.rounding);
		requests += share->requests;
	}
	for (size_t i = 0; i < trace->devices[0].start.block_count; i++)
		all += trace->devices[0].start.blocks[i].state == GP_ACTIVE;
	for (size_t i = 0; i < trace->devices[0].event_count; i++)
		all += trace->devices[0].events[i].kind == GP_ALLOC;
	ck_assert_uint_eq(requests, all);
	free(shares);
	gp_replay_release(&result);
}

START_TEST(each_request_is_of_one_share)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct gp_trace *trace = trace_like(
			seed, &(struct trace_like){ .events = EVENTS,
						    .has_start = seed % 2 });
		uint64_t capacity =
			seed % 4 < 2 ? GP_UNLIMITED : (UINT64_C(200) << 20);

		compare_shares(trace, GP_SHARE_BY_SITE, capacity);
		compare_shares(trace, GP_SHARE_BY_SIZE, capacity);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* ---- names ---- */

/* Only lines of the same file and function are paired; a name without a line is
 * a line of its own. */
static const struct {
	const char *file, *function;
	bool has_line;
} functions[] = {
	{ "t.py", " f", true },
	{ "t.py", "", true },
	{ "t.py", " g", true },
	{ "t.pyx", " f", true },
	{ "t.p", " f", true },
	{ "s.py", " f", true },
	{ "C:\\t.py", " f", true },
	{ "a:5x.py", " f", true },
	{ "t.py:", " f", true },
	{ "", " f", true },
	{ "t.py", " std::f<3>:4", true },
	{ "t.py", "", false },
	{ "t.py:1f", "", false },
	{ "t.py:1a", "", false },
	{ "t.py: f", "", false },
	{ "std::f", "", false },
	{ "", "", false },
};

static struct gp_share share_of(size_t function, unsigned line)
{
	struct gp_share share = { .blocks = 1 };

	if (functions[function].has_line)
		snprintf(share.name, sizeof(share.name), "%s:%u%s",
			 functions[function].file, line,
			 functions[function].function);
	else
		snprintf(share.name, sizeof(share.name), "%s",
			 functions[function].file);
	return share;
}

START_TEST(lines_of_one_function_are_paired_and_no_others)
{
	static const unsigned lines[] = { 1, 9, 10, 128 };

	for (size_t i = 0; i < COUNT_OF(functions) * COUNT_OF(functions); i++) {
		size_t x = i / COUNT_OF(functions), y = i % COUNT_OF(functions);

		for (size_t k = 0; k < COUNT_OF(lines); k++) {
			struct gp_share a = share_of(x, lines[k]),
					b = share_of(y, 10);
			bool is_same = !strcmp(a.name, b.name);
			struct gp_share_pair *pairs;
			size_t n = gp_share_match(&a, 1, &b, 1, &pairs);

			ck_assert_uint_eq(n, x == y ? 1 : 2);
			ck_assert_int_eq(pairs[0].fate,
					 x != y	   ? pairs[0].fate
					 : is_same ? GP_SHARE_STAYED
						   : GP_SHARE_MOVED);
			free(pairs);
		}
	}
}
END_TEST

/* Lists of several functions, in any order. */
START_TEST(so_are_those_of_many_functions)
{
	uint64_t seed = 1;

	for (int round = 0; round < 400; round++) {
		struct gp_share sides[2][COUNT_OF(functions)];
		size_t counts[2] = { 0 }, both = 0, paired = 0;
		struct gp_share_pair *pairs;
		size_t n, first = next_random(&seed) % COUNT_OF(functions);

		for (size_t i = 0; i < COUNT_OF(functions); i++) {
			size_t of = (i * 7 + first) % COUNT_OF(functions);
			uint64_t in = next_random(&seed) % 4;

			for (size_t k = 0; k < 2; k++)
				if (in >> k & 1)
					sides[k][counts[k]++] = share_of(
						of, 5 + 8 * (unsigned)k);
			both += in == 3;
		}
		n = gp_share_match(sides[0], counts[0], sides[1], counts[1],
				   &pairs);
		for (size_t i = 0; i < n; i++)
			paired += pairs[i].fate == GP_SHARE_MOVED ||
				  pairs[i].fate == GP_SHARE_STAYED;
		ck_assert_uint_eq(paired, both);
		ck_assert_uint_eq(n, counts[0] + counts[1] - both);
		free(pairs);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ each_request_is_of_one_share, 0 },
		{ lines_of_one_function_are_paired_and_no_others, 0 },
		{ so_are_those_of_many_functions, 0 },
		{ what_is_not_served_is_not_held, 0 },
		{ the_largest_change_comes_first, 0 },
		{ a_line_that_holds_nothing_at_the_peak_is_not_gone, 0 },
		{ lines_that_all_moved_down_by_one_follow, 0 },
		{ lines_between_a_gone_and_a_new_one_stay, 0 },
		{ no_other_pairs_count_more, 0 },
		{ functions_are_paired_each_by_itself, 0 },
		{ very_many_lines_are_paired_by_number, 0 },
		{ a_window_shares_out_what_was_there_at_its_start, 0 },
	};

	return suite_run("share", tests, COUNT_OF(tests));
}
