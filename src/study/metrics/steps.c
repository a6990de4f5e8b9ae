/* SPDX-License-Identifier: MIT */
/*
 * The requests between marks. A step begins at a mark and ends at the next; two
 * steps are equal if they request the same kinds and sizes in the same order.
 */
#include "study/metrics/steps.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct step {
	const char *name;
	uint64_t ordinal;  /* among its name, from 1 */
	uint64_t requests; /* number of alloc and free events */
	uint64_t hash;	   /* hash of their kinds and sizes, in order */
	size_t index;	   /* index in the trace */
};

struct steps {
	struct step *list;
	size_t count;
};

static size_t marks_in(const struct gp_device_trace *device)
{
	size_t count = 0;

	for (size_t i = 0; i < device->event_count; i++)
		count += device->events[i].kind == GP_MARK;
	return count;
}

static void begin(struct steps *steps, const struct gp_trace *trace,
		  const struct gp_event *mark, uint64_t *ordinals)
{
	struct step *step = &steps->list[steps->count];

	if (mark->mark == GP_MARK_END)
		return;
	*step = (struct step){
		.name = trace->texts[mark->text],
		.ordinal = ++ordinals[mark->text],
		.index = steps->count,
	};
	steps->count++;
}

static void add(struct step *step, const struct gp_event *event)
{
	step->requests++;
	step->hash = gp_hash64(step->hash ^ event->size) + event->kind;
}

static struct steps steps_of(const struct gp_trace *trace,
			     const struct gp_device_trace *device)
{
	struct steps steps = {
		.list = gp_mem_alloc(marks_in(device), sizeof(*steps.list)),
	};
	uint64_t *ordinals = gp_mem_alloc(trace->text_count, sizeof(*ordinals));

	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		if (event->kind == GP_MARK)
			begin(&steps, trace, event, ordinals);
		else if (steps.count &&
			 (event->kind == GP_ALLOC || event->kind == GP_FREE))
			add(&steps.list[steps.count - 1], event);
	}
	free(ordinals);
	return steps;
}

static int compare(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	return x->ordinal < y->ordinal ? -1 : x->ordinal > y->ordinal;
}

/* Keeps the first difference, in A's order. */
static void note_difference(struct gp_divergence_steps *result, size_t *index,
			    const struct step *a, const struct step *b)
{
	if (result->first && *index < a->index)
		return;
	*index = a->index;
	result->first = a->name;
	result->first_ordinal = a->ordinal;
	result->a_requests = a->requests;
	result->b_requests = b->requests;
}

static void match(struct gp_divergence_steps *result, const struct steps *a,
		  const struct steps *b)
{
	size_t i = 0, k = 0, first = 0;

	while (i < a->count && k < b->count) {
		const struct step *x = &a->list[i], *y = &b->list[k];
		int order = compare(x, y);

		i += order <= 0;
		k += order >= 0;
		if (order)
			continue;
		result->both++;
		if (x->requests == y->requests && x->hash == y->hash)
			result->alike++;
		else
			note_difference(result, &first, x, y);
	}
}

struct gp_divergence_steps steps_compare(const struct gp_trace *a,
					 const struct gp_device_trace *a_device,
					 const struct gp_trace *b,
					 const struct gp_device_trace *b_device)
{
	struct steps x = steps_of(a, a_device), y = steps_of(b, b_device);
	struct gp_divergence_steps result = { .a = x.count, .b = y.count };

	qsort(x.list, x.count, sizeof(*x.list), compare);
	qsort(y.list, y.count, sizeof(*y.list), compare);
	match(&result, &x, &y);
	free(x.list);
	free(y.list);
	return result;
}
