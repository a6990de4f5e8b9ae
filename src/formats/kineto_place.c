/* SPDX-License-Identifier: MIT */
/* Which operators a memory event happened in. */
#include <stdlib.h>

#include "base/mem.h"
#include "formats/kineto_record.h"

static int compare(double a, double b)
{
	return a < b ? -1 : a > b;
}

/* By thread, then by time; of those that begin together, the longest first. */
static int by_begin(const void *a, const void *b)
{
	const struct kineto_span *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ts != y->ts)
		return compare(x->ts, y->ts);
	if (x->end != y->end)
		return compare(y->end, x->end);
	return x->order < y->order ? -1 : x->order > y->order;
}

static int by_thread(const void *a, const void *b)
{
	const struct kineto_record *x = *(struct kineto_record *const *)a;
	const struct kineto_record *y = *(struct kineto_record *const *)b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ts != y->ts)
		return compare(x->ts, y->ts);
	return x->order < y->order ? -1 : x->order > y->order;
}

/* What runs, outermost first. */
struct stack {
	struct gp_build *build;
	struct open {
		double end;
		uint32_t site;
	} * open;
	size_t depth, room;
	uint64_t thread;
};

static void close_until(struct stack *stack, double ts)
{
	while (stack->depth && stack->open[stack->depth - 1].end < ts)
		stack->depth--;
}

static void open_span(struct stack *stack, const struct kineto_span *span)
{
	uint32_t caller = GP_NO_SITE;

	if (span->thread != stack->thread)
		stack->depth = 0;
	stack->thread = span->thread;
	close_until(stack, span->ts);
	if (stack->depth)
		caller = stack->open[stack->depth - 1].site;
	stack->open = gp_mem_grow(stack->open, &stack->room, stack->depth + 1,
				  sizeof(*stack->open));
	stack->open[stack->depth++] =
		(struct open){ span->end, gp_build_call(stack->build,
							span->text, caller) };
}

/* Whether the span begins before the event, or on an earlier thread. */
static bool is_before(const struct kineto_span *span,
		      const struct kineto_record *record)
{
	if (span->thread != record->thread)
		return span->thread < record->thread;
	return span->ts <= record->ts;
}

void kineto_place(struct gp_build *build, struct kineto_record *records,
		  size_t record_count, struct kineto_span *spans,
		  size_t span_count)
{
	struct kineto_record **sorted =
		gp_mem_alloc(record_count + 1, sizeof(*sorted));
	struct stack stack = { .build = build };
	size_t span = 0, count = 0;

	for (size_t i = 0; i < record_count; i++)
		if (records[i].kind == KINETO_MEMORY)
			sorted[count++] = &records[i];
	qsort(sorted, count, sizeof(*sorted), by_thread);
	if (span_count)
		qsort(spans, span_count, sizeof(*spans), by_begin);
	for (size_t i = 0; i < count; i++) {
		while (span < span_count && is_before(&spans[span], sorted[i]))
			open_span(&stack, &spans[span++]);
		close_until(&stack, sorted[i]->ts);
		if (stack.depth && stack.thread == sorted[i]->thread)
			sorted[i]->site = stack.open[stack.depth - 1].site;
	}
	free(stack.open);
	free(sorted);
}
