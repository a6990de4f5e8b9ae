/* SPDX-License-Identifier: MIT */
/* How an event is described to a person: by its step, time and source line. */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sorted.h"
#include "report/report.h"
#include "trace/site.h"
#include "trace/steps.h"

/* ---- the step ---- */

/* Reads the number at the end of "ProfilerStep#12"; false: there is none. */
static bool number_in(const char *text, uint64_t *number)
{
	size_t end = strlen(text), first;

	while (end && !isdigit((unsigned char)text[end - 1]))
		end--;
	for (first = end; first && isdigit((unsigned char)text[first - 1]);)
		first--;
	if (first == end || end - first > 18)
		return false;
	*number = strtoull(text + first, NULL, 10);
	return true;
}

static bool mark_number(const struct gp_trace *trace, uint32_t device,
			const struct gp_step *step, uint64_t *number)
{
	const struct gp_event *mark =
		&trace->devices[device].events[step->first];

	return mark->kind == GP_MARK &&
	       number_in(trace->texts[mark->text], number);
}

/* Whether the program numbers its steps in ascending order. */
static bool has_numbers(const struct gp_trace *trace, uint32_t device,
			const struct gp_steps *steps)
{
	uint64_t before = 0, number;

	if (steps->source != GP_STEPS_MARKS)
		return false;
	for (size_t i = 0; i < steps->count; i++) {
		if (!mark_number(trace, device, &steps->list[i], &number) ||
		    (i && number <= before))
			return false;
		before = number;
	}
	return true;
}

uint64_t gp_step_number(const struct gp_trace *trace, uint32_t device,
			const struct gp_steps *steps, size_t step)
{
	uint64_t number;

	if (has_numbers(trace, device, steps) &&
	    mark_number(trace, device, &steps->list[step], &number))
		return number;
	return step + 1;
}

/* The step that the event is in; steps->count: in none. */
static size_t step_at(const struct gp_steps *steps, uint64_t event)
{
	size_t low = gp_sorted_above(
		GP_SORTED(steps->list, steps->count, struct gp_step, end),
		event);

	return low < steps->count && steps->list[low].first <= event
		       ? low
		       : steps->count;
}

const char *gp_event_step(const struct gp_trace *trace, uint32_t device,
			  const struct gp_steps *steps, uint64_t event,
			  char text[GP_STEP_TEXT])
{
	size_t at = step_at(steps, event);

	*text = '\0';
	if (at < steps->count)
		snprintf(text, GP_STEP_TEXT, "step %" PRIu64,
			 gp_step_number(trace, device, steps, at));
	return text;
}

/* ---- the time ---- */

#define TIME_TEXT 32

/* Time since the first event that has one; "" if this event has none. */
static const char *time_text(const struct gp_device_trace *device,
			     uint64_t event, char text[TIME_TEXT])
{
	uint64_t now = device->events[event].time_us, us;
	size_t first = 0;

	*text = '\0';
	while (first < event && !device->events[first].time_us)
		first++;
	if (!now || now < device->events[first].time_us)
		return text;
	us = now - device->events[first].time_us;
	if (us < 1000000)
		snprintf(text, TIME_TEXT, "%.1f ms", (double)us / 1e3);
	else
		snprintf(text, TIME_TEXT, "%.1f s", (double)us / 1e6);
	return text;
}

/* ---- the report ---- */

static void add(char text[GP_EVENT_TEXT], const char *part)
{
	size_t length = strlen(text);

	if (*part)
		snprintf(text + length, GP_EVENT_TEXT - length, "%s%s",
			 length ? ", " : "", part);
}

/* Appends the step and the time. */
static void add_moment(const struct gp_trace *trace, uint32_t device,
		       const struct gp_steps *steps, uint64_t event,
		       char text[GP_EVENT_TEXT])
{
	const struct gp_device_trace *d = &trace->devices[device];
	char step[GP_STEP_TEXT], time[TIME_TEXT];

	*text = '\0';
	add(text, gp_event_step(trace, device, steps, event, step));
	if (event < d->event_count)
		add(text, time_text(d, event, time));
}

static const char *add_number(char text[GP_EVENT_TEXT], uint64_t event)
{
	size_t length = strlen(text);

	if (event == GP_AT_START) /* nothing is known of it */
		snprintf(text, GP_EVENT_TEXT, "the start of the trace");
	else
		snprintf(text + length, GP_EVENT_TEXT - length,
			 length ? " (event %s)" : "event %s", GP_COUNT(event));
	return text;
}

const char *gp_event_moment(const struct gp_trace *trace, uint32_t device,
			    const struct gp_steps *steps, uint64_t event,
			    char text[GP_EVENT_TEXT])
{
	add_moment(trace, device, steps, event, text);
	return add_number(text, event);
}

const char *gp_event_when(const struct gp_trace *trace, uint32_t device,
			  uint64_t event, char text[GP_EVENT_TEXT])
{
	struct gp_steps steps;

	gp_steps_find(trace, device, &steps);
	gp_event_moment(trace, device, &steps, event, text);
	free(steps.list);
	return text;
}

const char *gp_event_words_in(const struct gp_trace *trace, uint32_t device,
			      const struct gp_steps *steps, uint64_t event,
			      char text[GP_EVENT_TEXT])
{
	const struct gp_device_trace *d = &trace->devices[device];
	char site[GP_SITE_TEXT];

	add_moment(trace, device, steps, event, text);
	if (event < d->event_count)
		add(text, gp_site_place(trace, d->events[event].site, site));
	return add_number(text, event);
}

const char *gp_event_words(const struct gp_trace *trace, uint32_t device,
			   uint64_t event, char text[GP_EVENT_TEXT])
{
	struct gp_steps steps;

	gp_steps_find(trace, device, &steps);
	gp_event_words_in(trace, device, &steps, event, text);
	free(steps.list);
	return text;
}
