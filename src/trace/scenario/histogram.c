/* SPDX-License-Identifier: MIT */
/*
 * Histogram: blocks that are allocated and freed at random, with the
 * frequencies of a real trace. It counts blocks by stream, pool, size, and
 * lifetime in requests. The order of the program is lost, so peaks caused by
 * its phases are flattened. Blocks that exist from the start or are never freed
 * are allocated first.
 */
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "trace/scenario/scenarios.h"

enum { BLOCKS, DEVICE };

static const struct gp_parameter parameters[] = {
	[BLOCKS] = { "blocks", GP_PARAMETER_COUNT, 0, 0, 100000000, NULL,
		     "number of blocks; 0: as many as in the trace" },
	[DEVICE] = { "device", GP_PARAMETER_COUNT, 0, 0, 1023, NULL,
		     "which of the trace's devices, from 0" },
};

/* the lifetime of blocks that are never freed */
#define FOR_GOOD    UINT64_MAX
#define MOST_SIZE   (UINT64_C(1) << 44) /* larger requests are never served */
#define CLASS_PARTS 4			/* size classes per power of two */

/* ---- counting ---- */

/* One block of the trace. */
struct lifetime {
	uint16_t stream, pool;
	uint32_t size_class, time_class;
	uint64_t size, time; /* bytes; requests, or FOR_GOOD */
};

/* Blocks of one class; drawn between its smallest and largest values. */
struct bin {
	uint16_t stream, pool;
	uint64_t before, count; /* blocks in the bins before it, and in it */
	uint64_t least_size, most_size, grain;
	uint64_t least_time, most_time;
};

struct tally {
	struct lifetime *lifetimes;
	size_t count, room;
	struct bin *bins;
	size_t bin_count;
	/* blocks that are freed, and those that are not */
	uint64_t passing, lasting;
	uint64_t live, peak; /* bytes */
};

static uint32_t time_class_of(uint64_t time)
{
	return time ? 64 - (uint32_t)__builtin_clzll(time) : 0;
}

static uint32_t size_class_of(uint64_t size)
{
	uint32_t power = 63 - (uint32_t)__builtin_clzll(size);
	uint64_t above = size - (UINT64_C(1) << power);

	return power * CLASS_PARTS + (uint32_t)(above * CLASS_PARTS >> power);
}

static void begin(struct tally *tally, const struct gp_event *event,
		  uint64_t time, size_t *open)
{
	if (!event->size || event->size > MOST_SIZE || open[event->id])
		return;
	GP_GROW(tally->lifetimes, tally->count + 1, tally->room);
	tally->lifetimes[tally->count] = (struct lifetime){
		.stream = event->stream,
		.pool = event->pool,
		.size = event->size,
		.time = time, /* until its end is known */
	};
	open[event->id] = ++tally->count;
	tally->live += event->size;
	if (tally->live > tally->peak)
		tally->peak = tally->live;
}

static void end(struct tally *tally, uint32_t id, uint64_t time, size_t *open)
{
	struct lifetime *lifetime;

	if (!open[id])
		return;
	lifetime = &tally->lifetimes[open[id] - 1];
	lifetime->time = time - lifetime->time;
	tally->live -= lifetime->size;
	open[id] = 0;
}

static void begin_start(struct tally *tally, const struct gp_state *start,
			size_t *open)
{
	for (size_t i = 0; i < start->segment_count; i++) {
		const struct gp_segment *s = &start->segments[i];

		for (uint32_t k = 0; k < s->blocks; k++) {
			const struct gp_block *b =
				&start->blocks[s->first_block + k];

			if (b->state == GP_ACTIVE && b->id != GP_NO_ID)
				begin(tally,
				      &(struct gp_event){ .id = b->id,
							  .size = b->requested,
							  .stream = s->stream,
							  .pool = s->pool },
				      0, open);
		}
	}
}

static void count_lives(struct tally *tally, const struct gp_device_trace *t)
{
	size_t *open = gp_mem_alloc(t->block_ids, sizeof(*open));
	uint64_t time = 0;
	size_t at_start;

	begin_start(tally, &t->start, open);
	at_start = tally->count;
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (event->kind == GP_ALLOC)
			begin(tally, event, ++time, open);
		else if (event->kind == GP_FREE)
			end(tally, event->id, time, open);
	}
	for (uint32_t id = 0; id < t->block_ids; id++)
		if (open[id])
			tally->lifetimes[open[id] - 1].time = FOR_GOOD;
	for (size_t i = 0; i < at_start; i++)
		tally->lifetimes[i].time = FOR_GOOD;
	free(open);
}

/* ---- bins ---- */

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_class(const void *a, const void *b)
{
	const struct lifetime *x = a, *y = b;
	const int keys[] = { compare(x->time == FOR_GOOD, y->time == FOR_GOOD),
			     compare(x->stream, y->stream),
			     compare(x->pool, y->pool),
			     compare(x->size_class, y->size_class),
			     compare(x->time_class, y->time_class) };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i])
			return keys[i];
	return 0;
}

static void add_lifetime(struct bin *bin, const struct lifetime *lifetime)
{
	if (!bin->count++) {
		bin->stream = lifetime->stream;
		bin->pool = lifetime->pool;
		bin->least_size = bin->most_size = lifetime->size;
		bin->least_time = bin->most_time = lifetime->time;
	}
	bin->grain = gp_common_divisor(lifetime->size, bin->grain);
	if (lifetime->size < bin->least_size)
		bin->least_size = lifetime->size;
	if (lifetime->size > bin->most_size)
		bin->most_size = lifetime->size;
	if (lifetime->time < bin->least_time)
		bin->least_time = lifetime->time;
	if (lifetime->time > bin->most_time)
		bin->most_time = lifetime->time;
}

/* Blocks that are freed come first. */
static void make_bins(struct tally *tally)
{
	struct lifetime *lifetimes = tally->lifetimes;

	tally->bins = gp_mem_alloc(tally->count, sizeof(*tally->bins));
	for (size_t i = 0; i < tally->count; i++) {
		lifetimes[i].size_class = size_class_of(lifetimes[i].size);
		lifetimes[i].time_class = time_class_of(lifetimes[i].time);
		tally->lasting += lifetimes[i].time == FOR_GOOD;
	}
	tally->passing = tally->count - tally->lasting;
	if (tally->count)
		qsort(lifetimes, tally->count, sizeof(*lifetimes), by_class);
	for (size_t i = 0; i < tally->count; i++) {
		if (!i || by_class(&lifetimes[i - 1], &lifetimes[i]))
			tally->bins[tally->bin_count++].before = i;
		add_lifetime(&tally->bins[tally->bin_count - 1], &lifetimes[i]);
	}
}

/* The bin of the n-th block. */
static const struct bin *bin_of(const struct tally *tally, uint64_t n)
{
	size_t low = 0, high = tally->bin_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (tally->bins[middle].before <= n)
			low = middle;
		else
			high = middle;
	}
	return &tally->bins[low];
}

/* ---- drawing ---- */

/* A live block, and when it ends. */
struct due {
	uint64_t time;
	struct written_block held;
};

/* A heap; the block that ends first is at the top. */
struct dues {
	struct due *items;
	size_t count, room;
};

static bool is_before(const struct due *a, const struct due *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	return a->held.name < b->held.name;
}

static void swap(struct due *a, struct due *b)
{
	struct due c = *a;

	*a = *b;
	*b = c;
}

static void add_due(struct dues *dues, struct due due)
{
	size_t i = dues->count++;

	GP_GROW(dues->items, dues->count, dues->room);
	dues->items[i] = due;
	for (; i && is_before(&dues->items[i], &dues->items[(i - 1) / 2]);
	     i = (i - 1) / 2)
		swap(&dues->items[i], &dues->items[(i - 1) / 2]);
}

static struct due take_due(struct dues *dues)
{
	struct due first = dues->items[0];
	size_t i = 0;

	dues->items[0] = dues->items[--dues->count];
	for (;;) {
		size_t least = i, child = 2 * i + 1;

		for (size_t k = child; k < child + 2 && k < dues->count; k++)
			if (is_before(&dues->items[k], &dues->items[least]))
				least = k;
		if (least == i)
			return first;
		swap(&dues->items[i], &dues->items[least]);
		i = least;
	}
}

static struct written_block draw(struct trace_writer *writer,
				 const struct bin *bin)
{
	uint64_t steps = (bin->most_size - bin->least_size) / bin->grain;

	writer->stream = bin->stream ? writer_stream(writer, bin->stream) : 0;
	writer->pool = bin->pool ? writer_pool(writer, bin->pool) : 0;
	return writer_alloc(
		writer,
		bin->least_size +
			bin->grain * gp_rng_between(&writer->rng, 0, steps));
}

static void free_due(struct trace_writer *writer, struct dues *dues,
		     uint64_t time)
{
	while (dues->count && dues->items[0].time < time) {
		struct due due = take_due(dues);

		writer_free(writer, &due.held);
	}
}

static void draw_all(struct trace_writer *writer, const struct tally *tally,
		     uint64_t blocks)
{
	struct dues dues = { 0 };

	for (uint64_t i = 0; i < tally->lasting; i++)
		draw(writer, bin_of(tally, tally->passing + i));
	for (uint64_t i = 0; i < blocks; i++) {
		const struct bin *bin = bin_of(
			tally, gp_rng_below(&writer->rng, tally->passing));
		uint64_t time = gp_rng_between(&writer->rng, bin->least_time,
					       bin->most_time);

		free_due(writer, &dues, i);
		add_due(&dues, (struct due){ i + time, draw(writer, bin) });
	}
	free_due(writer, &dues, UINT64_MAX);
	free(dues.items);
}

static void write(struct trace_writer *writer, const uint64_t *values,
		  struct gp_budget *budget)
{
	const struct gp_trace *from = writer->from;
	struct tally tally = { 0 };

	if (values[DEVICE] < from->device_count)
		count_lives(&tally, &from->devices[values[DEVICE]]);
	make_bins(&tally);
	budget_add(budget, "live at the peak of the trace it is from",
		   tally.peak);
	if (tally.passing || tally.lasting)
		draw_all(writer, &tally,
			 !tally.passing	  ? 0
			 : values[BLOCKS] ? values[BLOCKS]
					  : tally.passing);
	free(tally.lifetimes);
	free(tally.bins);
}

const struct gp_scenario histogram_scenario = {
	.name = "histogram",
	.sentence = "random blocks, distributed as in a trace (--from TRACE)",
	.parameters = parameters,
	.parameter_count = sizeof(parameters) / sizeof(*parameters),
	.needs_trace = true,
	.write = write,
};
