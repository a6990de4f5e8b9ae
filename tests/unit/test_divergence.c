/* SPDX-License-Identifier: MIT */
/* Who holds the live set, and where two programs diverge. */
#include "study/metrics/change.h"

#include <stdlib.h>

#include "suite.h"
#include "trace_text.h"

static const struct gp_share_pair *named(const struct gp_share_pair *pairs,
					 size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		const struct gp_share *some =
			pairs[i].b.blocks ? &pairs[i].b : &pairs[i].a;

		if (!strcmp(some->name, name))
			return &pairs[i];
	}
	ck_abort_msg("%s is not there", name);
	return NULL;
}

START_TEST(lines_that_moved_are_paired_within_their_function)
{
	const struct gp_share a[] = {
		{ .name = "m.py:10 f", .blocks = 1, .requested = 10 },
		{ .name = "m.py:20 f", .blocks = 1, .requested = 20 },
		{ .name = "m.py:30 g", .blocks = 1, .requested = 30 },
		{ .name = "n.py:20 f", .blocks = 1, .requested = 40 },
		{ .name = "C:\\m.py:20 f", .blocks = 1, .requested = 2 },
		{ .blocks = 1, .requested = 5 },
	};
	const struct gp_share b[] = {
		{ .name = "m.py:10 f", .blocks = 1, .requested = 10 },
		{ .name = "m.py:23 f", .blocks = 1, .requested = 25 },
		{ .name = "m.py:99 f", .blocks = 1, .requested = 1 },
		{ .name = "m.py:30 h", .blocks = 1, .requested = 30 },
		{ .name = "C:\\m.py:24 f", .blocks = 1, .requested = 2 },
		{ .blocks = 2, .requested = 7 },
	};
	struct gp_share_pair *pairs;
	size_t count = gp_share_match(a, COUNT_OF(a), b, COUNT_OF(b), &pairs);
	const struct gp_share_pair *moved = named(pairs, count, "m.py:23 f");

	ck_assert_uint_eq(count, 8);
	ck_assert_int_eq(moved->fate, GP_SHARE_MOVED);
	ck_assert_str_eq(moved->a.name, "m.py:20 f");
	ck_assert_int_eq(named(pairs, count, "C:\\m.py:24 f")->fate,
			 GP_SHARE_MOVED);
	ck_assert_int_eq(named(pairs, count, "m.py:10 f")->fate,
			 GP_SHARE_STAYED);
	ck_assert_int_eq(named(pairs, count, "m.py:99 f")->fate, GP_SHARE_NEW);
	ck_assert_int_eq(named(pairs, count, "m.py:30 g")->fate, GP_SHARE_GONE);
	ck_assert_str_eq(pairs[0].a.name, "n.py:20 f");
	free(pairs);
}
END_TEST

static struct gp_divergence part(const char *a, const char *b)
{
	struct gp_trace *x = trace_of(a), *y = trace_of(b);
	struct gp_divergence divergence = gp_divergence_find(x, 0, y, 0);

	/* The tests look at numbers only. */
	gp_trace_destroy(x);
	gp_trace_destroy(y);
	return divergence;
}

#define A(id, size) "{\"op\": \"alloc\", \"id\": " #id ", \"size\": " #size "}"
#define S(id, stream)                                                          \
	"{\"op\": \"alloc\", \"id\": " #id                                     \
	", \"size\": 8, \"stream\": " #stream "}"
#define F(id) "{\"op\": \"free\", \"id\": " #id "}"
#define M     "{\"op\": \"mark\", \"name\": \"step\"}"

START_TEST(names_of_blocks_and_streams_do_not_matter)
{
	struct gp_divergence p =
		part(ONE_DEVICE(A(1, 8) "," S(2, 77) "," F(1) "," S(3, 77)),
		     ONE_DEVICE(A(9, 8) "," S(4, 11) "," F(9) "," S(9, 11)));

	ck_assert(!p.is_there);
	ck_assert_uint_eq(p.common, 4);
}
END_TEST

/* Outcomes do not matter; here, the first and the last kind of them. */
START_TEST(what_was_recorded_of_the_allocator_does_not_matter)
{
	static const char *const outcomes[] = {
		"{\"op\": \"segment_alloc\", \"addr\": 2097152, \"size\": "
		"2097152}",
		"{\"op\": \"segment_free\", \"addr\": 2097152, \"size\": "
		"2097152}",
		"{\"op\": \"oom\", \"size\": 512, \"device_free\": 0}",
		"{\"op\": \"snapshot\", \"size\": 512}",
	};

	for (size_t i = 0; i < COUNT_OF(outcomes); i++) {
		struct gp_divergence p;
		char text[1024];

		snprintf(text, sizeof(text),
			 ONE_DEVICE("%s," A(1, 8) ", %s," F(1) ", %s"),
			 outcomes[i], outcomes[i], outcomes[i]);
		p = part(text, ONE_DEVICE(A(1, 8) "," F(1)));
		ck_assert_msg(!p.is_there, "%s", outcomes[i]);
		ck_assert_uint_eq(p.common, 2);
	}
}
END_TEST

/* Only the live blocks of a start state count, whatever lies between them. */
START_TEST(other_blocks_at_the_start_are_told)
{
#define LIVE(size)                                                             \
	"{\"size\": " #size ", \"id\": 9, \"state\": \"active_allocated\"}"
#define FREE(size) "{\"size\": " #size ", \"state\": \"inactive\"}"
#define STARTS_WITH                                                            \
	"{\"format\": \"gpupool-trace\", \"version\": 1, "                     \
	"\"devices\": [{\"device\": 0, \"start\": {\"segments\": [{"           \
	"\"address\": 20971520, \"total_size\": 20971520, "                    \
	"\"segment_type\": \"large\", \"blocks\": [%s]}]}}]}"
	static const struct {
		const char *blocks;
		bool differ;
	} rows[] = {
		{ LIVE(4194304) ", " FREE(16777216), false },
		{ FREE(16777216) ", " LIVE(4194304), false },
		{ LIVE(4194304) ", " FREE(6291456) ", " FREE(10485760), false },
		{ LIVE(6291456) ", " FREE(14680064), true },
		{ FREE(20971520), true },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char a[512], b[512];

		snprintf(a, sizeof(a), STARTS_WITH, rows[0].blocks);
		snprintf(b, sizeof(b), STARTS_WITH, rows[i].blocks);
		ck_assert_msg(part(a, b).starts_differ == rows[i].differ, "%zu",
			      i);
	}
}
END_TEST

/* Each block of the start state has its own size. */
START_TEST(a_free_of_another_block_of_the_start_is_where_they_part)
{
#define FREES(id)                                                              \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": [{"      \
	"\"device\": 0, \"start\": {\"segments\": [{\"address\": 20971520, "   \
	"\"total_size\": 20971520, \"segment_type\": \"large\", \"blocks\": "  \
	"[{"                                                                   \
	"\"size\": 4194304, \"id\": 1, \"state\": \"active_allocated\"}, {"    \
	"\"size\": 16777216, \"id\": 2, \"state\": "                           \
	"\"active_allocated\"}]}]}, "                                          \
	"\"events\": [" F(id) "]}]}"
	struct gp_divergence p = part(FREES(1), FREES(2));

	ck_assert(!p.starts_differ);
	ck_assert_uint_eq(p.common, 0);
	ck_assert_uint_eq(p.a.size, 4194304);
	ck_assert_uint_eq(p.b.size, 16777216);
}
END_TEST

START_TEST(another_stream_is_where_they_part)
{
	struct gp_divergence p = part(ONE_DEVICE(S(1, 77) "," S(2, 77)),
				      ONE_DEVICE(S(1, 77) "," S(2, 88)));

	ck_assert(p.is_there);
	ck_assert_uint_eq(p.common, 1);
}
END_TEST

START_TEST(a_free_of_another_block_is_where_they_part)
{
	struct gp_divergence p = part(ONE_DEVICE(A(1, 8) "," A(2, 8) "," F(1)),
				      ONE_DEVICE(A(1, 8) "," A(2, 8) "," F(2)));

	ck_assert_uint_eq(p.common, 2);
	ck_assert_uint_eq(p.b.event, 2);
	ck_assert_uint_eq(p.b.size, 8);
}
END_TEST

/* Uses of a block by other streams do not change its size. */
START_TEST(a_block_is_as_large_as_it_was_asked_for)
{
#define R "{\"op\": \"record_stream\", \"id\": 2, \"stream\": 7}"
	struct gp_divergence p =
		part(ONE_DEVICE(A(1, 8) "," A(2, 8) "," R "," F(1)),
		     ONE_DEVICE(A(1, 8) "," A(2, 8) "," R "," F(2)));

	ck_assert_uint_eq(p.common, 3);
	ck_assert_uint_eq(p.b.size, 8);
}
END_TEST

/* All streams or one are waited for; the work of a block, or of a stream. */
START_TEST(what_is_waited_for_is_where_they_part)
{
	static const char *const waits[] = {
		"{\"op\": \"synchronize\"}",
		"{\"op\": \"synchronize\", \"stream\": 7}",
		"{\"op\": \"synchronize\", \"id\": 1}",
	};

	for (size_t i = 0; i < COUNT_OF(waits); i++)
		for (size_t k = 0; k < COUNT_OF(waits); k++) {
			char a[512], b[512];
			struct gp_divergence p;

			snprintf(a, sizeof(a), ONE_DEVICE(A(1, 8) ",%s"),
				 waits[i]);
			snprintf(b, sizeof(b), ONE_DEVICE(A(1, 8) ",%s"),
				 waits[k]);
			p = part(a, b);
			ck_assert_msg(p.is_there == (i != k), "%s, %s",
				      waits[i], waits[k]);
			ck_assert_uint_eq(p.common, i == k ? 2 : 1);
		}
}
END_TEST

START_TEST(the_end_of_one_is_where_they_part)
{
	struct gp_divergence p =
		part(ONE_DEVICE(A(1, 8)), ONE_DEVICE(A(1, 8) "," A(2, 8)));

	ck_assert(p.is_there);
	ck_assert(!p.a.is_there);
	ck_assert(p.b.is_there);
}
END_TEST

START_TEST(steps_are_compared_one_by_one)
{
	struct gp_divergence p =
		part(ONE_DEVICE(A(1, 4) "," M "," A(2, 8) "," M "," A(3, 8)),
		     ONE_DEVICE(A(1, 5) "," M "," A(2, 8) "," M "," A(
			     3, 8) "," F(2) "," M));

	ck_assert_uint_eq(p.common, 0);
	ck_assert_uint_eq(p.steps.a, 2);
	ck_assert_uint_eq(p.steps.b, 3);
	ck_assert_uint_eq(p.steps.both, 2);
	ck_assert_uint_eq(p.steps.alike, 1);
	ck_assert_uint_eq(p.steps.first_ordinal, 2);
	ck_assert_uint_eq(p.steps.b_requests, 2);
}
END_TEST

/* Whichever program has more steps, and wherever these are. */
START_TEST(steps_are_matched_by_their_names)
{
#define MARK(name) "{\"op\": \"mark\", \"name\": \"" name "\"}"
	static const struct {
		const char *a, *b;
		uint64_t both;
	} rows[] = {
		{ ONE_DEVICE(MARK("b")), ONE_DEVICE(MARK("a")), 0 },
		{ ONE_DEVICE(MARK("b")), ONE_DEVICE(MARK("a") "," MARK("b")),
		  1 },
		{ ONE_DEVICE(MARK("b")), ONE_DEVICE(MARK("b") "," MARK("c")),
		  1 },
		{ ONE_DEVICE(MARK("a") "," MARK("c")),
		  ONE_DEVICE(MARK("b") "," MARK("c") "," MARK("d")), 1 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		ck_assert_uint_eq(part(rows[i].a, rows[i].b).steps.both,
				  rows[i].both);
		ck_assert_uint_eq(part(rows[i].b, rows[i].a).steps.both,
				  rows[i].both);
	}
}
END_TEST

/* A step has the blocks that are allocated and freed in it. */
START_TEST(steps_are_alike_whatever_else_they_do)
{
#define E "{\"op\": \"empty_cache\"}"
	static const char *const others[] = {
		ONE_DEVICE(M "," A(1, 8) "," F(1)),
		ONE_DEVICE(M "," E "," A(1, 8) "," F(1)),
		ONE_DEVICE(M "," A(1, 8) "," E "," F(1) "," E),
		ONE_DEVICE(E "," A(2, 9) "," M "," A(1, 8) "," F(1)),
	};

	for (size_t i = 0; i < COUNT_OF(others); i++)
		ck_assert_uint_eq(part(others[0], others[i]).steps.alike, 1);
}
END_TEST

/* ---- steps of any two programs, compared with a plain count ---- */

#define STEPS 6

/* Marks by name, and the requests after each, as a text. */
struct steps {
	struct {
		char name, requests[64];
		unsigned ordinal, count;
	} list[STEPS];
	size_t count;
};

static struct gp_trace *made_up(struct steps *steps, uint64_t *seed)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;
	unsigned id = 1;

	*steps = (struct steps){ .count = next_random(seed) % (STEPS + 1) };
	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [",
	      out);
	for (size_t i = 0; i < steps->count; i++) {
		char name = (char)('a' + next_random(seed) % 3);

		steps->list[i].name = name;
		for (size_t k = 0; k <= i; k++)
			steps->list[i].ordinal += steps->list[k].name == name;
		fprintf(out, "{\"op\": \"mark\", \"name\": \"%c\"},", name);
		for (unsigned n = next_random(seed) % 3; n; n--, id++) {
			unsigned size = 8 + (unsigned)next_random(seed) % 2;

			fprintf(out,
				"{\"op\": \"alloc\", \"id\": %u, \"size\": "
				"%u},",
				id, size);
			steps->list[i].count++;
			snprintf(strchr(steps->list[i].requests, 0), 8, "%u ",
				 size);
			if (next_random(seed) % 4)
				continue;
			fprintf(out, "{\"op\": \"free\", \"id\": %u},", id);
			steps->list[i].count++;
			snprintf(strchr(steps->list[i].requests, 0), 8,
				 "free ");
		}
	}
	fputs("{\"op\": \"empty_cache\"}]}]}", out);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

static void compare_steps(const struct steps *a, const struct steps *b,
			  const struct gp_divergence_steps *found)
{
	uint64_t both = 0, alike = 0;
	bool is_first = true;

	ck_assert_uint_eq(found->a, a->count);
	ck_assert_uint_eq(found->b, b->count);
	for (size_t i = 0; i < a->count; i++)
		for (size_t k = 0; k < b->count; k++) {
			if (a->list[i].name != b->list[k].name ||
			    a->list[i].ordinal != b->list[k].ordinal)
				continue;
			both++;
			if (!strcmp(a->list[i].requests, b->list[k].requests)) {
				alike++;
				continue;
			}
			if (is_first) {
				ck_assert_int_eq(found->first[0],
						 a->list[i].name);
				ck_assert_uint_eq(found->first_ordinal,
						  a->list[i].ordinal);
				ck_assert_uint_eq(found->a_requests,
						  a->list[i].count);
				ck_assert_uint_eq(found->b_requests,
						  b->list[k].count);
			}
			is_first = false;
		}
	ck_assert_uint_eq(found->both, both);
	ck_assert_uint_eq(found->alike, alike);
	ck_assert_int_eq(found->first == NULL, is_first);
}

START_TEST(steps_of_any_programs_are_matched)
{
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		struct steps a, b;
		struct gp_trace *x = made_up(&a, &seed);
		struct gp_trace *y = made_up(&b, &seed);
		struct gp_divergence d = gp_divergence_find(x, 0, y, 0);

		compare_steps(&a, &b, &d.steps);
		gp_trace_destroy(x);
		gp_trace_destroy(y);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ steps_of_any_programs_are_matched, 0 },
		{ lines_that_moved_are_paired_within_their_function, 0 },
		{ names_of_blocks_and_streams_do_not_matter, 0 },
		{ what_was_recorded_of_the_allocator_does_not_matter, 0 },
		{ other_blocks_at_the_start_are_told, 0 },
		{ a_free_of_another_block_of_the_start_is_where_they_part, 0 },
		{ another_stream_is_where_they_part, 0 },
		{ a_free_of_another_block_is_where_they_part, 0 },
		{ a_block_is_as_large_as_it_was_asked_for, 0 },
		{ what_is_waited_for_is_where_they_part, 0 },
		{ the_end_of_one_is_where_they_part, 0 },
		{ steps_are_compared_one_by_one, 0 },
		{ steps_are_matched_by_their_names, 0 },
		{ steps_are_alike_whatever_else_they_do, 0 },
	};

	return suite_run("divergence", tests, COUNT_OF(tests));
}
