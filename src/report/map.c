/* SPDX-License-Identifier: MIT */
/*
 * A memory map for a terminal: each segment is a row, as long as the segment is
 * large, that shows what is allocated, pending free and free.
 *
 * The largest segment comes first. Small segments of similar size and of the
 * same pool and stream, and all that do not fit on the page, are combined in
 * one row, one after another.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "study/metrics/film.h"
#include "report/group.h"
#include "report/page.h"
#include "report/report.h"

/* ---- which event is drawn ---- */

uint64_t gp_map_event(const struct gp_map_choice *choice,
		      const struct gp_replay_result *result, const char **what)
{
	switch (choice->when) {
	case GP_MAP_EVENT: *what = "as asked"; return choice->event;
	case GP_MAP_END: *what = "the end"; return result->at_end.event;
	case GP_MAP_OOM:
		if (result->first_oom.is_there) {
			*what = "the first out-of-memory error";
			return result->first_oom.event;
		}
		break;
	case GP_MAP_PEAK: break;
	}
	*what = "the peak of reserved";
	return result->at_peak.event;
}

#define LABEL	  32 /* columns before the bar */
#define MOST_ROWS 24 /* segments with a row of their own */

enum fill { ALLOCATED, PENDING, FREE, FILLS };

static const struct {
	const char *unicode, *ascii, *color, *word;
} fills[] = {
	[ALLOCATED] = { "█", "#", "\033[34m", "allocated" },
	[PENDING] = { "▓", "+", "\033[35m", "pending free" },
	[FREE] = { "░", ".", "\033[33m", "free" },
};

struct map {
	const struct gp_page *page;
	const struct gp_trace *trace;
	const struct gp_state *state;
	const struct gp_segment **order; /* largest first */
	uint64_t widest;		 /* bytes of a full bar */
	unsigned width;			 /* columns of a full bar */
};

static int by_size(const void *a, const void *b)
{
	const struct gp_segment *x = *(const struct gp_segment *const *)a;
	const struct gp_segment *y = *(const struct gp_segment *const *)b;

	if (x->size != y->size)
		return x->size > y->size ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static enum fill fill_of(const struct gp_block *block)
{
	return block->state == GP_ACTIVE	 ? ALLOCATED
	       : block->state == GP_PENDING_FREE ? PENDING
						 : FREE;
}

/* The bytes of one column of a bar, by kind of fill. */
struct column {
	uint64_t bytes[FILLS];
};

/* Adds bytes [from, to) of a bar to its columns. */
static void pour(const struct map *map, struct column *columns, uint64_t from,
		 uint64_t to, enum fill fill)
{
	double scale = (double)map->widest / map->width;

	while (from < to) {
		unsigned x = (unsigned)((double)from / scale);
		uint64_t next = (uint64_t)((x + 1) * scale);

		if (x >= map->width)
			return;
		if (next <= from)
			next = from + 1;
		if (next > to)
			next = to;
		columns[x].bytes[fill] += next - from;
		from = next;
	}
}

static void pour_segment(const struct map *map, struct column *columns,
			 const struct gp_segment *segment, uint64_t at)
{
	for (uint32_t i = 0; i < segment->blocks; i++) {
		const struct gp_block *block =
			&map->state->blocks[segment->first_block + i];

		pour(map, columns, at, at + block->size, fill_of(block));
		at += block->size;
	}
}

/* What a column shows: free only if less than a quarter of it is in use. */
static int fill_of_column(const struct column *column)
{
	uint64_t used = column->bytes[ALLOCATED] + column->bytes[PENDING];
	uint64_t all = used + column->bytes[FREE];

	if (!all)
		return -1;
	if (used * 4 < all)
		return FREE;
	return column->bytes[PENDING] > column->bytes[ALLOCATED] ? PENDING
								 : ALLOCATED;
}

static void print_bar(const struct map *map, const struct column *columns)
{
	const struct gp_report_style *style = map->page->style;
	int before = -1;

	for (unsigned x = 0; x < map->width; x++) {
		int fill = fill_of_column(&columns[x]);

		if (fill < 0)
			break;
		if (style->color && fill != before)
			fputs(fills[fill].color, map->page->out);
		before = fill;
		fputs(style->ascii ? fills[fill].ascii : fills[fill].unicode,
		      map->page->out);
	}
	if (style->color && before >= 0)
		fputs("\033[0m", map->page->out);
	putc('\n', map->page->out);
}

static uint64_t bytes_in_use(const struct map *map,
			     const struct gp_segment *segment)
{
	uint64_t used = 0;

	for (uint32_t i = 0; i < segment->blocks; i++) {
		const struct gp_block *block =
			&map->state->blocks[segment->first_block + i];

		used += block->state == GP_ACTIVE ? block->size : 0;
	}
	return used;
}

/* "large", "small s1": with the stream's number if it is not the first one. */
static const char *kind_text(const struct gp_segment *segment, char text[16])
{
	const char *pool = segment->pool       ? "private"
			   : segment->is_small ? "small"
					       : "large";

	if (segment->stream)
		snprintf(text, 16, "%s s%u", pool, segment->stream);
	else
		snprintf(text, 16, "%s", pool);
	return text;
}

/* Prints one row for segments [first, last). */
static void print_row(const struct map *map, size_t first, size_t last)
{
	const struct gp_segment *segment = map->order[first];
	struct column *columns = gp_mem_alloc(map->width, sizeof(*columns));
	char text[64], kind[16];
	uint64_t at = 0, used = 0, all = 0;

	for (size_t i = first; i < last; i++) {
		pour_segment(map, columns, map->order[i], at);
		at += map->order[i]->size;
		used += bytes_in_use(map, map->order[i]);
		all += map->order[i]->size;
	}
	if (last - first > 1)
		snprintf(text, sizeof(text), "%zu x %s", last - first,
			 GP_BYTES(segment->size));
	else
		snprintf(text, sizeof(text), "%s", GP_BYTES(segment->size));
	fprintf(map->page->out, "%15s %-11s%3.0f%% ", text,
		kind_text(segment, kind),
		all ? (double)used * 100 / (double)all : 0.0);
	print_bar(map, columns);
	free(columns);
}

/* The number of segments, from `first` on, that are alike and fit into one
 * bar. */
static size_t alike(const struct map *map, size_t first)
{
	const struct gp_segment *a = map->order[first];
	uint64_t all = a->size;
	size_t last = first + 1;

	for (; last < map->state->segment_count; last++) {
		const struct gp_segment *b = map->order[last];

		if (a->size != b->size || a->stream != b->stream ||
		    a->pool != b->pool || a->is_small != b->is_small ||
		    all + b->size > map->widest)
			break;
		all += b->size;
	}
	return last;
}

static void print_rest(const struct map *map, size_t first)
{
	uint64_t all = 0, used = 0;

	for (size_t i = first; i < map->state->segment_count; i++) {
		all += map->order[i]->size;
		used += bytes_in_use(map, map->order[i]);
	}
	gp_page_line(map->page, GP_TONE_PLAIN, 2,
		     "and %s more of %s in all, %s of it allocated",
		     GP_PLURAL(map->state->segment_count - first, "segment"),
		     GP_BYTES(all), GP_BYTES(used));
}

/* The legend of streams: s1, s2, ... */
static void print_streams(const struct map *map)
{
	char label[GP_GROUP_LABEL];

	for (size_t i = 1; i < map->trace->stream_count; i++) {
		bool is_there = false;

		for (size_t k = 0; k < map->state->segment_count; k++)
			is_there |= map->state->segments[k].stream == i;
		if (is_there)
			fprintf(map->page->out, "%*ss%zu: %s\n", LABEL, "", i,
				gp_group_label(map->trace, GP_BY_STREAM,
					       (uint32_t)i, label));
	}
}

static void print_legend(const struct map *map)
{
	const struct gp_report_style *style = map->page->style;

	fprintf(map->page->out, "%*s", LABEL, "");
	for (unsigned i = 0; i < FILLS; i++)
		fprintf(map->page->out, "%s%s%s%s %s", i ? "  " : "",
			style->color ? fills[i].color : "",
			style->ascii ? fills[i].ascii : fills[i].unicode,
			style->color ? "\033[0m" : "", fills[i].word);
	fprintf(map->page->out, "\n%*sfull width: %s\n", LABEL, "",
		GP_BYTES(map->widest));
	print_streams(map);
}

static void print_state(const struct gp_page *page,
			const struct gp_trace *trace,
			const struct gp_state *state, uint64_t widest)
{
	struct map map = {
		.page = page,
		.trace = trace,
		.state = state,
		.widest = widest,
		.width =
			page->columns > LABEL + 16 ? page->columns - LABEL : 16,
	};
	size_t next = 0;

	map.order = gp_mem_alloc(state->segment_count + 1, sizeof(*map.order));
	for (size_t i = 0; i < state->segment_count; i++)
		map.order[i] = &state->segments[i];
	if (state->segment_count)
		qsort(map.order, state->segment_count, sizeof(*map.order),
		      by_size);
	for (unsigned rows = 0; rows < MOST_ROWS && next < state->segment_count;
	     rows++) {
		size_t last = alike(&map, next);

		print_row(&map, next, last);
		next = last;
	}
	if (next < state->segment_count)
		print_rest(&map, next);
	print_legend(&map);
	free(map.order);
}

static uint64_t widest_of(const struct gp_state *state)
{
	uint64_t widest = 1;

	for (size_t i = 0; i < state->segment_count; i++)
		if (state->segments[i].size > widest)
			widest = state->segments[i].size;
	return widest;
}

static void print_title(const struct gp_page *page, const char *name,
			const char *event, const char *what,
			const struct gp_state *state)
{
	struct gp_group total = gp_group_total(state);

	gp_page_blank(page);
	gp_page_line(page, GP_TONE_TITLE, 2,
		     "%sMemory at %s, %s: %s reserved, %s allocated", name,
		     event, what, GP_BYTES(total.reserved),
		     GP_BYTES(total.allocated));
}

/* The name of the run and the device, if there are several. */
static const char *name_of(const struct gp_report *report, size_t run,
			   size_t device, char name[32])
{
	int n = 0;

	*name = '\0';
	if (report->run_count > 1)
		n = snprintf(name, 32, "%s", run ? "B: " : "A: ");
	if (report->trace->device_count > 1)
		snprintf(name + n, 32 - (size_t)n,
			 "Device %u: ", report->trace->devices[device].device);
	return name;
}

/* The maps of both runs, on the same scale. */
static void print_device(const struct gp_page *page,
			 const struct gp_report *report,
			 const struct gp_map_choice *choice, size_t device)
{
	struct gp_state states[2];
	char name[32], event[GP_EVENT_TEXT];
	const char *what[2];
	uint64_t events[2], widest = 1;

	for (size_t i = 0; i < report->run_count; i++) {
		const struct gp_run *run = &report->runs[i];

		events[i] =
			gp_map_event(choice, &run->results[device], &what[i]);
		gp_film_state(run->tracks[device].film, events[i], &states[i]);
		if (widest_of(&states[i]) > widest)
			widest = widest_of(&states[i]);
	}
	for (size_t i = 0; i < report->run_count; i++) {
		print_title(page, name_of(report, i, device, name),
			    gp_event_words(report->trace, (uint32_t)device,
					   events[i], event),
			    what[i], &states[i]);
		print_state(page, report->trace, &states[i], widest);
		gp_state_release(&states[i]);
	}
}

void gp_report_map(const struct gp_report *report,
		   const struct gp_map_choice *choice,
		   const struct gp_report_style *style, FILE *out)
{
	struct gp_page page = gp_page_make(style, out);

	for (size_t i = 0; i < report->trace->device_count; i++)
		print_device(&page, report, choice, i);
}
