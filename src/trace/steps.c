/* SPDX-License-Identifier: MIT */
/*
 * Where a program's steps begin: at marks that recur, or else at the period
 * with which the sizes of its requests repeat.
 */
#include "trace/steps.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define FEWEST_STEPS 3
#define MOST_STEPS   100000

static void add_step(struct gp_steps *steps, size_t *room, uint64_t first)
{
	if (steps->count)
		steps->list[steps->count - 1].end = first;
	GP_GROW(steps->list, steps->count + 1, *room);
	steps->list[steps->count++] = (struct gp_step){ .first = first };
}

static void drop_steps(struct gp_steps *steps)
{
	free(steps->list);
	*steps = (struct gp_steps){ 0 };
}

/* ---- marks ---- */

/* "ProfilerStep#12" and "ProfilerStep#13" have the same name: digits are
 * removed. */
static void name_of(const char *text, char name[64])
{
	size_t n = 0;

	for (; *text && n < 63; text++)
		if (!isdigit((unsigned char)*text))
			name[n++] = *text;
	while (n && strchr("# _-:", name[n - 1]))
		n--;
	name[n] = '\0';
}

static bool is_step(const char *name)
{
	return strcasestr(name, "step") || strcasestr(name, "iter");
}

struct candidate {
	char name[64];
	size_t count;
};

/* Names with "step" or "iter" come first, then the least frequent. */
static bool is_better(const struct candidate *a, const struct candidate *b)
{
	if (is_step(a->name) != is_step(b->name))
		return is_step(a->name);
	return a->count < b->count;
}

static bool begins(const struct gp_event *event)
{
	return event->kind == GP_MARK && event->mark != GP_MARK_END;
}

static void count_names(const struct gp_trace *trace,
			const struct gp_device_trace *device,
			struct candidate **list, size_t *count)
{
	size_t room = 0;

	for (size_t i = 0; i < device->event_count; i++) {
		char name[64];
		size_t k = 0;

		if (!begins(&device->events[i]))
			continue;
		name_of(trace->texts[device->events[i].text], name);
		while (k < *count && strcmp((*list)[k].name, name) != 0)
			k++;
		if (k == 256) /* more names than steps ever have */
			continue;
		if (k == *count) {
			GP_GROW(*list, k + 1, room);
			(*list)[k].count = 0;
			snprintf((*list)[k].name, sizeof(name), "%s", name);
			(*count)++;
		}
		(*list)[k].count++;
	}
}

static void take_marks(const struct gp_trace *trace,
		       const struct gp_device_trace *device,
		       struct gp_steps *steps)
{
	struct candidate *list = NULL;
	const struct candidate *best = NULL;
	size_t count = 0, room = 0;

	count_names(trace, device, &list, &count);
	for (size_t k = 0; k < count; k++)
		if (list[k].count >= FEWEST_STEPS &&
		    list[k].count <= MOST_STEPS &&
		    (!best || is_better(&list[k], best)))
			best = &list[k];
	for (size_t i = 0; best && i < device->event_count; i++) {
		char name[64];

		if (!begins(&device->events[i]))
			continue;
		name_of(trace->texts[device->events[i].text], name);
		if (!strcmp(name, best->name))
			add_step(steps, &room, i);
	}
	if (best) {
		snprintf(steps->name, sizeof(steps->name), "%s", best->name);
		steps->source = GP_STEPS_MARKS;
		steps->list[steps->count - 1].end = device->event_count;
	}
	free(list);
}

/* ---- the period ---- */

#define GRAM	16   /* requests compared at once */
#define PROBES	64   /* places from which the period is looked for */
#define SAMPLES 4096 /* requests compared for one lag */

struct requests {
	uint64_t *sizes;
	uint64_t *events; /* the same requests' events */
	size_t count;
};

static struct requests collect(const struct gp_device_trace *device)
{
	struct requests r = {
		gp_mem_alloc(device->event_count, sizeof(*r.sizes)),
		gp_mem_alloc(device->event_count, sizeof(*r.events)),
		0,
	};

	for (size_t i = 0; i < device->event_count; i++) {
		if (device->events[i].kind != GP_ALLOC)
			continue;
		r.sizes[r.count] = device->events[i].size;
		r.events[r.count++] = i;
	}
	return r;
}

/* The fraction of the requests in [from, to) that recur after the lag. */
static double agreement(const struct requests *r, size_t from, size_t to,
			size_t lag)
{
	size_t stride = (to - from) / SAMPLES + 1, same = 0, all = 0;

	for (size_t i = from; i < to; i += stride) {
		same += r->sizes[i] == r->sizes[i + lag];
		all++;
	}
	return all ? (double)same / (double)all : 0;
}

/* The distance to the previous occurrence of the requests at that place; 0:
 * none within `most`. */
static size_t seen_before(const struct requests *r, size_t at, size_t most)
{
	const uint64_t *gram = r->sizes + at;

	for (size_t lag = 1; lag <= most && lag <= at; lag++)
		if (*gram == *(gram - lag) &&
		    !memcmp(gram, gram - lag, GRAM * sizeof(*gram)))
			return lag;
	return 0;
}

/* The number of requests per step; 0: there is no period. */
static size_t find_period(const struct requests *r)
{
	size_t best = 0, half = r->count / 2;
	size_t stride = half / PROBES + 1;
	double most = 0.9; /* less does not count as a repetition */

	if (r->count < 8 * GRAM)
		return 0;
	for (size_t i = half; i + GRAM <= r->count; i += stride) {
		size_t lag = seen_before(r, i, r->count / FEWEST_STEPS);
		double same;

		if (lag < GRAM)
			continue;
		same = agreement(r, half - half / 4, r->count - lag, lag);
		if (same > most || (same == most && lag < best)) {
			most = same;
			best = lag;
		}
	}
	return best;
}

/* Steps backwards from the end for as long as the requests recur. */
static void take_period(const struct gp_device_trace *device,
			struct gp_steps *steps)
{
	struct requests r = collect(device);
	size_t lag = find_period(&r), at = r.count, room = 0;

	while (lag && at >= lag &&
	       (at == r.count || agreement(&r, at - lag, at, lag) >= 0.8))
		at -= lag;
	for (; lag && at + lag <= r.count; at += lag)
		add_step(steps, &room, r.events[at]);
	if (steps->count) {
		steps->source = GP_STEPS_PERIOD;
		steps->list[steps->count - 1].end = device->event_count;
	}
	if (steps->count < FEWEST_STEPS)
		drop_steps(steps);
	free(r.sizes);
	free(r.events);
}

void gp_steps_find(const struct gp_trace *trace, uint32_t device,
		   struct gp_steps *steps)
{
	const struct gp_device_trace *d = &trace->devices[device];

	*steps = (struct gp_steps){ 0 };
	take_marks(trace, d, steps);
	if (!steps->count)
		take_period(d, steps);
}
