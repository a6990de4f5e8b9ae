/* SPDX-License-Identifier: MIT */
/* What-ifs that merge or omit: each item that changes is counted, wherever it
 * is in its list, and no other item changes. */
#include "study/what_if/what_if.h"

#include "suite.h"
#include "trace_text.h"

#define MOST 3 /* of each kind of thing */

/* Segments, blocks and events that a what-if changes, or does not. */
struct scenery {
	const char *segment, *other_segment;
	const char *block, *other_block;
	const char *event, *other_event;
};

#define SEGMENT_OF(stream, pool)                                               \
	"\"stream\": " #stream ", \"segment_pool_id\": [0, " #pool "]"
#define IN_USE	"active_allocated"
#define WAITING "active_pending_free"
#define ALLOC(stream, pool)                                                    \
	"{\"op\": \"alloc\", \"id\": 9, \"size\": 512, \"stream\": " #stream   \
	", \"pool\": [0, " #pool "]}, {\"op\": \"free\", \"id\": 9}"
#define EMPTY "{\"op\": \"empty_cache\"}"

static const struct {
	const char *name;
	bool segments, blocks, events; /* the item that it changes */
	struct scenery scenery;
} rows[] = {
	{ "merge-streams",
	  true,
	  true,
	  true,
	  { SEGMENT_OF(7, 0), SEGMENT_OF(0, 1), WAITING, IN_USE, ALLOC(7, 0),
	    ALLOC(0, 1) } },
	{ "no-private-pools",
	  true,
	  false,
	  true,
	  { SEGMENT_OF(0, 1), SEGMENT_OF(7, 0), WAITING, IN_USE, ALLOC(0, 1),
	    ALLOC(7, 0) } },
	{ "no-delay",
	  false,
	  true,
	  false,
	  { SEGMENT_OF(7, 1), SEGMENT_OF(0, 0), WAITING, IN_USE, ALLOC(7, 1),
	    ALLOC(0, 0) } },
	{ "no-empty-cache",
	  false,
	  false,
	  true,
	  { SEGMENT_OF(7, 1), SEGMENT_OF(0, 0), WAITING, IN_USE, EMPTY,
	    ALLOC(7, 1) } },
};

static struct gp_trace *trace_like(const struct scenery *s, unsigned bits)
{
	char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"start\": {\"segments\": [",
	      out);
	for (int i = 0; i < MOST; i++)
		fprintf(out,
			"%s{\"address\": %d, \"total_size\": 20971520, "
			"\"segment_type\": \"large\", %s, \"blocks\": ["
			"{\"size\": 20971520, \"state\": \"%s\", \"id\": "
			"%d}]}",
			i ? ", " : "", (i + 1) << 25,
			bits >> i & 1 ? s->segment : s->other_segment,
			bits >> (MOST + i) & 1 ? s->block : s->other_block, i);
	fputs("]}, \"events\": [", out);
	for (int i = 0; i < MOST; i++)
		fprintf(out, "%s%s", i ? ", " : "",
			bits >> (2 * MOST + i) & 1 ? s->event : s->other_event);
	fputs("]}]}", out);
	fclose(out);
	return trace_of(text);
}

/* Returns how many of MOST bits are set, beginning at bit from. */
static unsigned count_bits(unsigned bits, int from)
{
	unsigned n = 0;

	for (int i = 0; i < MOST; i++)
		n += bits >> (from + i) & 1;
	return n;
}

START_TEST(each_that_changes_counts)
{
	size_t r = (size_t)_i;
	const struct gp_what_if_row *row = gp_what_if_find(rows[r].name);

	for (unsigned bits = 0; bits < 1U << 3 * MOST; bits++) {
		struct gp_trace *trace = trace_like(&rows[r].scenery, bits);
		struct gp_what_if asked = { row, NULL };
		struct gp_what_if_config config = { .trace = trace,
						    .asked = &asked,
						    .count = 1 };
		struct gp_what_ifs made;
		struct gp_diag diag = { 0 };
		unsigned n = (rows[r].segments ? count_bits(bits, 0) : 0) +
			     (rows[r].blocks ? count_bits(bits, MOST) : 0) +
			     (rows[r].events ? count_bits(bits, 2 * MOST) : 0);

		ck_assert_int_eq(gp_what_if_may_change(row, trace), n != 0);
		ck_assert_int_eq(gp_what_ifs_make(&config, &made, &diag),
				 GP_OK);
		ck_assert_msg(made.notes->changes == n, "%s, %u: %llu, not %u",
			      rows[r].name, bits,
			      (unsigned long long)made.notes->changes, n);
		gp_what_ifs_release(&made);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("merge");

	tcase_add_loop_test(tcase, each_that_changes_counts, 0,
			    (int)COUNT_OF(rows));
	return suite_play("merge", tcase);
}
