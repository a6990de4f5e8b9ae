/* SPDX-License-Identifier: MIT */
/* The moments of spans, in order, and the spans of a trace, compared with a
 * straightforward computation. */
#include "study/floor/spans.h"

#include <stdlib.h>
#include <string.h>

#include "random_trace.h"
#include "span_use.h"

/* ---- moments ---- */

#define MOST	  400
#define MOST_GAPS 3

/* Spans with gaps, some of them partly in use; times with that many bits, of
 * which only the lowest or only the highest ones may differ. */
struct spans_like {
	size_t count;
	int bits;
	unsigned pieces; /* of a span, at most */
	uint64_t step;
	unsigned early; /* most bytes are in use early if this is more than 1 */
};

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct gp_spans spans_like(uint64_t *seed, const struct spans_like *like)
{
	static struct gp_span items[MOST];
	static struct gp_span_gap gaps[MOST * MOST_GAPS];
	struct gp_spans spans = { .items = items, .gaps = gaps };
	uint64_t mask = UINT64_MAX >> (64 - like->bits);

	for (; spans.count < like->count; spans.count++) {
		struct gp_span *span = &items[spans.count];
		uint64_t times[2 * MOST_GAPS + 2];
		size_t n = next_random(seed) % like->pieces;

		for (size_t i = 0; i < 2 * n + 2; i++)
			times[i] = ((next_random(seed) & mask) >>
				    next_random(seed) % like->early) /
				   like->step * like->step;
		qsort(times, 2 * n + 2, sizeof(*times), by_number);
		*span = (struct gp_span){ .lower = times[0],
					  .upper = times[2 * n + 1],
					  .size = 1,
					  .gaps = (uint32_t)n };
		if (span->lower == span->upper && span->lower)
			span->lower--;
		else if (span->lower == span->upper)
			span->upper++;
		span->first_gap = (uint32_t)spans.gap_count;
		for (size_t i = 0; i < n; i++)
			gaps[spans.gap_count++] = (struct gp_span_gap){
				.lower = times[2 * i + 1],
				.upper = times[2 * i + 2],
				.to = next_random(seed) % 3 == 0,
			};
	}
	return spans;
}

static int by_moment(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind == ENDS ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

static size_t put_piece(struct moment *list, size_t n, uint32_t span,
			uint64_t lower, uint64_t upper)
{
	if (lower < upper) {
		list[n++] = (struct moment){ lower, span, BEGINS };
		list[n++] = (struct moment){ upper, span, ENDS };
	}
	return n;
}

static size_t plain_moments(const struct gp_spans *spans, bool with_gaps,
			    struct moment *list)
{
	size_t n = 0;

	for (uint32_t i = 0; i < spans->count; i++) {
		const struct gp_span *span = &spans->items[i];
		uint64_t from = span->lower;

		for (uint32_t k = 0; k < span->gaps; k++) {
			const struct gp_span_gap *gap =
				&spans->gaps[span->first_gap + k];

			if (!with_gaps || gap->to)
				continue;
			n = put_piece(list, n, i, from, gap->lower);
			from = gap->upper;
		}
		n = put_piece(list, n, i, from, span->upper);
	}
	qsort(list, n, sizeof(*list), by_moment);
	return n;
}

/* The first time with the most bytes in use. */
static uint64_t plain_bound(const struct gp_spans *spans, uint64_t *first)
{
	uint64_t most = 0;

	*first = 0;
	for (uint64_t time = 0; time < 64; time++)
		if (bytes_at(spans, time) > most) {
			most = bytes_at(spans, time);
			*first = time;
		}
	return most;
}

static void compare_moments(const struct gp_spans *spans, bool with_gaps)
{
	static struct moment plain[MOST * 2 * (MOST_GAPS + 1)];
	size_t n = plain_moments(spans, with_gaps, plain);
	struct moment *moments;

	ck_assert_uint_eq(spans_moments(spans, with_gaps, &moments), n);
	for (size_t i = 0; i < n; i++) {
		ck_assert_uint_eq(moments[i].time, plain[i].time);
		ck_assert_uint_eq(moments[i].span, plain[i].span);
		ck_assert_uint_eq(moments[i].kind, plain[i].kind);
	}
	free(moments);
}

START_TEST(moments_come_in_order_of_time)
{
	static const size_t counts[] = { 1, 8, 9, 60, MOST };
	/* near the bits of a digit, 11 */
	static const int widths[] = { 1, 4, 10, 11, 12, 21, 22, 23, 45, 64 };
	uint64_t seed = 1;

	for (size_t w = 0; w < COUNT_OF(widths); w++)
		for (size_t i = 0; i < COUNT_OF(counts) * 3; i++) {
			static const int fixed[] = { 0, 7, 30 };
			int low = fixed[i / COUNT_OF(counts)], bits = widths[w];
			struct spans_like like = {
				.count = counts[i % COUNT_OF(counts)],
				.bits = bits,
				.pieces = 1 + MOST_GAPS,
				.step = low < bits ? UINT64_C(1) << low : 1,
				.early = i % 2 ? 1 : (unsigned)bits,
			};
			struct gp_spans spans = spans_like(&seed, &like);

			/* the largest of all times, at one end of the list */
			spans.items[w % 2 ? spans.count - 1 : 0].upper =
				UINT64_MAX >> (64 - bits);
			compare_moments(&spans, false);
			compare_moments(&spans, true);
		}
}
END_TEST

/* ---- whether two spans are in use at the same time ---- */

START_TEST(spans_meet_where_both_are_in_use)
{
	uint64_t seed = 1;

	for (int round = 0; round < 3000; round++) {
		const struct spans_like like = { 4, 4, 1 + MOST_GAPS, 1, 1 };
		struct gp_spans spans = spans_like(&seed, &like);

		for (uint32_t i = 0; i < spans.count; i++)
			for (uint32_t k = 0; k < i; k++) {
				bool meet = false;

				for (uint64_t t = 0; t < 16; t++)
					meet |= is_in_use(&spans, i, t) &&
						is_in_use(&spans, k, t);
				ck_assert_int_eq(spans_meet(&spans, i, k),
						 meet);
			}
	}
}
END_TEST

START_TEST(the_bound_is_the_most_that_is_in_use)
{
	uint64_t seed = 1, time, at;

	for (int round = 0; round < 2000; round++) {
		const struct spans_like like = { (size_t)round % 9, 5,
						 1 + MOST_GAPS, 1, 1 };
		struct gp_spans spans = spans_like(&seed, &like);

		for (size_t i = 0; i < spans.count; i++)
			spans.items[i].size = 1 + next_random(&seed) % 5;
		ck_assert_uint_eq(gp_floor_bound(&spans, &time),
				  plain_bound(&spans, &at));
		ck_assert_uint_eq(time, at);
	}
}
END_TEST

/* ---- the spans of a trace ---- */

/* The event that frees it, from 1; one beyond the last if none does. */
static uint64_t end_of(const struct gp_device_trace *d, uint32_t id)
{
	for (size_t i = 0; i < d->event_count; i++)
		if (d->events[i].kind == GP_FREE && d->events[i].id == id)
			return i + 1;
	return d->event_count + 1;
}

static void is_span(const struct gp_spans *spans, size_t i,
		    const struct gp_device_trace *d, uint32_t id,
		    uint64_t lower, uint64_t size)
{
	const uint64_t round = 512;

	ck_assert_uint_lt(i, spans->count);
	ck_assert_uint_eq(spans->items[i].id, id);
	ck_assert_uint_eq(spans->items[i].lower, lower);
	ck_assert_uint_eq(spans->items[i].upper, end_of(d, id));
	ck_assert_uint_eq(spans->items[i].size,
			  (size + round - 1) / round * round);
}

static void compare_spans(struct gp_trace *trace)
{
	const struct gp_device_trace *d = &trace->devices[0];
	struct gp_spans spans;
	size_t n = 0;

	gp_spans_of_trace(trace, 0, 512, &spans);
	for (size_t i = 0; i < d->start.block_count; i++)
		if (d->start.blocks[i].state == GP_ACTIVE)
			is_span(&spans, n++, d, d->start.blocks[i].id, 0,
				d->start.blocks[i].requested);
	for (size_t i = 0; i < d->event_count; i++)
		if (d->events[i].kind == GP_ALLOC && d->events[i].size)
			is_span(&spans, n++, d, d->events[i].id, i + 1,
				d->events[i].size);
	ck_assert_uint_eq(spans.count, n);
	gp_spans_release(&spans);
}

START_TEST(each_block_that_has_bytes_is_a_span)
{
	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct gp_trace *trace = trace_like(
			seed, &(struct trace_like){ .events = 300,
						    .has_start = seed % 2 });
		struct gp_device_trace later = trace->devices[0];
		struct gp_trace shorter = *trace;

		compare_spans(trace);
		/* without the first event, which is not a request for a
		 * block */
		later.events++;
		later.event_count--;
		shorter.devices = &later;
		compare_spans(&shorter);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* All spans together have 4 EiB at most; blocks beyond that are left out. */
START_TEST(blocks_of_more_than_4_eib_together_are_left_out)
{
	const uint64_t most = UINT64_C(1) << 62;
	static const uint64_t parts[] = { 0, 1, 512, UINT64_C(1) << 61 };

	for (size_t i = 0; i < COUNT_OF(parts); i++)
		for (uint64_t more = 0; more < 3; more++) {
			struct gp_event events[] = {
				{ .kind = GP_ALLOC, .size = parts[i] },
				{ .kind = GP_ALLOC,
				  .id = 1,
				  .size = most - parts[i] + more - 1 },
				{ .kind = GP_ALLOC, .id = 2, .size = 1 },
			};
			struct gp_device_trace device = { .events = events,
							  .event_count = 3,
							  .block_ids = 3 };
			const struct gp_trace trace = { .devices = &device,
							.device_count = 1 };
			struct gp_spans spans;

			gp_spans_of_trace(&trace, 0, 512, &spans);
			/* the last one has room if there is room for another */
			ck_assert_uint_eq(spans.count, (parts[i] > 0) +
							       (more < 2) +
							       (more != 1));
			ck_assert_uint_eq(spans.items[0].lower, parts[i]   ? 1
								: more < 2 ? 2
									   : 3);
			gp_spans_release(&spans);
		}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ moments_come_in_order_of_time, 0 },
		{ spans_meet_where_both_are_in_use, 0 },
		{ the_bound_is_the_most_that_is_in_use, 0 },
		{ each_block_that_has_bytes_is_a_span, 0 },
		{ blocks_of_more_than_4_eib_together_are_left_out, 0 },
	};

	return suite_run("spans", tests, COUNT_OF(tests));
}
