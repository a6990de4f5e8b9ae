/* SPDX-License-Identifier: MIT */
/* What is known of a block when a trace is complete: the event that freed it,
 * and where it lay. */
#include <inttypes.h>

#include "suite.h"
#include "trace_text.h"

#define BLOCKS 4
#define EVENTS 24

/* Four blocks of the start, each in its own segment. */
static void put_start(FILE *out)
{
	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"start\": {\"segments\": [",
	      out);
	for (unsigned i = 0; i < BLOCKS; i++)
		fprintf(out,
			"%s{\"address\": %u, \"total_size\": 2097152, "
			"\"blocks\": [{\"size\": 2097152, \"requested_size\": "
			"%u, \"state\": \"active_allocated\", \"id\": %u}]}",
			i ? ", " : "", 4194304 * (1 + i), 1000 + i, i);
	fputs("]}, \"events\": [", out);
}

static enum gp_status read_text(char *text, struct gp_trace **trace,
				struct gp_diag *diag)
{
	FILE *file = tmpfile();
	enum gp_status status;

	fputs(text, file);
	status = try_stream(file, trace, diag);
	fclose(file);
	free(text);
	return status;
}

/* ---- a block that is freed twice ---- */

/* Frees the blocks in the order of a permutation, then one of them again, after
 * that many other events. */
static void free_again(unsigned order, unsigned again, unsigned others)
{
	unsigned left[BLOCKS] = { 0, 1, 2, 3 }, at[BLOCKS];
	char *text, hint[64];
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };

	put_start(out);
	for (unsigned i = 0; i < BLOCKS; i++) {
		unsigned k = order % (BLOCKS - i);

		order /= BLOCKS - i;
		at[left[k]] = i;
		fprintf(out, "{\"op\": \"free\", \"id\": %u}, ", left[k]);
		left[k] = left[BLOCKS - 1 - i];
	}
	for (unsigned i = 0; i < others; i++)
		fprintf(out, "{\"op\": \"alloc\", \"id\": %u, \"size\": 512}, ",
			10 + i);
	fprintf(out, "{\"op\": \"free\", \"id\": %u}]}]}", again);
	fclose(out);
	ck_assert_int_ne(read_text(text, &trace, &diag), GP_OK);
	snprintf(hint, sizeof(hint), "event %u frees it", at[again]);
	ck_assert_str_eq(diag.hint, hint);
}

START_TEST(the_event_that_frees_a_block_is_named)
{
	for (unsigned order = 0; order < 24; order++)
		for (unsigned again = 0; again < BLOCKS; again++)
			free_again(order, again, order % 3);
}
END_TEST

/* ---- a block's address ---- */

struct block {
	uint64_t addr, size;
	enum { LIVE, FREED, DONE } state;
};

/* Requests, frees and their completions in any order; the latter only name the
 * block, or also have the address at which another tool saw it. */
static void put_events(FILE *out, uint64_t seed, struct block *blocks,
		       struct block *expected)
{
	uint32_t count = BLOCKS;

	for (size_t i = 0; i < EVENTS; i++) {
		uint32_t id = (uint32_t)(next_random(&seed) % count);
		struct block *b = &blocks[id];

		fputs(i ? ", " : "", out);
		if (b->state == DONE || !(next_random(&seed) % 3)) {
			id = count++;
			b = &blocks[id];
			*b = (struct block){ 8192 * (1 + i) +
						     next_random(&seed) % 512,
					     1 + next_random(&seed) % 4096,
					     LIVE };
			fprintf(out,
				"{\"op\": \"alloc\", \"id\": %u, \"addr\": "
				"%" PRIu64 ", \"size\": %" PRIu64 "}",
				id, b->addr, b->size);
		} else {
			fprintf(out, "{\"op\": \"%s\", \"id\": %u}",
				b->state == LIVE ? "free" : "free_completed",
				id);
			b->state++;
		}
		expected[i] = *b;
	}
}

START_TEST(frees_and_completions_are_where_the_block_is)
{
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct block blocks[BLOCKS + EVENTS], expected[EVENTS];
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		struct gp_trace *trace;
		struct gp_diag diag = { 0 };

		for (unsigned i = 0; i < BLOCKS; i++)
			blocks[i] = (struct block){ 4194304 * (1 + i), 1000 + i,
						    LIVE };
		put_start(out);
		put_events(out, seed, blocks, expected);
		fputs("]}]}", out);
		fclose(out);
		ck_assert_msg(!read_text(text, &trace, &diag), "%s", diag.what);
		for (size_t i = 0; i < EVENTS; i++) {
			const struct gp_event *event =
				&trace->devices[0].events[i];

			ck_assert_uint_eq(event->addr, expected[i].addr);
			ck_assert_uint_eq(event->size, expected[i].size);
		}
		gp_trace_destroy(trace);
	}
}
END_TEST

/* ---- names ---- */

#define NAMES 6
#define FEW   4

/* Blocks are numbered in the order of their requests, whatever their names. */
static void number_names(const unsigned *names)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": [",
	      out);
	for (unsigned i = 0; i < FEW; i++)
		fprintf(out, "{\"op\": \"alloc\", \"id\": %u, \"size\": %u}, ",
			names[i], 512 * (1 + i));
	for (unsigned i = FEW; i--;)
		fprintf(out, "{\"op\": \"free\", \"id\": %u}, ", names[i]);
	fputs("{\"op\": \"empty_cache\"}]}]}", out);
	fclose(out);
	ck_assert_msg(!read_text(text, &trace, &diag), "%s", diag.what);
	for (unsigned i = 0; i < FEW; i++) {
		ck_assert_uint_eq(trace->devices[0].events[i].id, i);
		ck_assert_uint_eq(trace->devices[0].events[FEW + i].id,
				  FEW - 1 - i);
	}
	gp_trace_destroy(trace);
}

START_TEST(blocks_of_any_names_are_numbered_in_order)
{
	for (unsigned i = 0; i < NAMES * NAMES * NAMES * NAMES; i++) {
		const unsigned names[] = { i % NAMES, i / NAMES % NAMES,
					   i / NAMES / NAMES % NAMES,
					   i / NAMES / NAMES / NAMES };
		unsigned seen = 0;

		for (size_t k = 0; k < FEW; k++)
			seen |= 1U << names[k];
		if (__builtin_popcount(seen) == FEW)
			number_names(names);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ the_event_that_frees_a_block_is_named, 0 },
		{ frees_and_completions_are_where_the_block_is, 0 },
		{ blocks_of_any_names_are_numbered_in_order, 0 },
	};

	return suite_run("finish", tests, COUNT_OF(tests));
}
