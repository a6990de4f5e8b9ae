/* SPDX-License-Identifier: MIT */
/* The numbers of a run on one device, by name. */
#include "report/number.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/metrics.h"
#include "gpupool/knob.h"

/*
 * ---- torch.cuda.memory_stats(), key for key: torch/cuda/memory.py,
 * memory_stats, which sorts the result of memory_stats_as_nested_dict ----
 */

enum shape {
	BY_POOL, /* key.<pool>.<field> */
	PLAIN,	 /* key.<field> */
	SCALAR,
	BY_PRIVATE_POOL, /* key.<id>.<pool>.<field> */
};

struct row {
	const char *key;
	enum shape shape;
	size_t offset; /* of the member of struct gp_stats */
	uint8_t since; /* minor release */
};

#define AT(member) offsetof(struct gp_stats, member)

static const struct row rows[] = {
	{ "active", BY_POOL, AT(by_pool[GP_STAT_ACTIVE]), 0 },
	{ "active_bytes", BY_POOL, AT(by_pool[GP_STAT_ACTIVE_BYTES]), 0 },
	{ "allocated_bytes", BY_POOL, AT(by_pool[GP_STAT_ALLOCATED_BYTES]), 0 },
	{ "allocation", BY_POOL, AT(by_pool[GP_STAT_ALLOCATION]), 0 },
	{ "inactive_split", BY_POOL, AT(by_pool[GP_STAT_INACTIVE_SPLIT]), 0 },
	{ "inactive_split_bytes", BY_POOL,
	  AT(by_pool[GP_STAT_INACTIVE_SPLIT_BYTES]), 0 },
	{ "max_split_size", SCALAR, AT(max_split_size), 0 },
	{ "num_alloc_retries", SCALAR, AT(num_alloc_retries), 0 },
	{ "num_device_alloc", SCALAR, AT(num_device_alloc), 3 },
	{ "num_device_free", SCALAR, AT(num_device_free), 3 },
	{ "num_oom_rejections", SCALAR, AT(num_oom_rejections), 12 },
	{ "num_ooms", SCALAR, AT(num_ooms), 0 },
	{ "num_sync_all_streams", SCALAR, AT(num_sync_all_streams), 3 },
	{ "oversize_allocations", PLAIN, AT(oversize_allocations), 0 },
	{ "oversize_segments", PLAIN, AT(oversize_segments), 0 },
	{ "requested_bytes", BY_POOL, AT(by_pool[GP_STAT_REQUESTED_BYTES]), 0 },
	{ "reserved_bytes", BY_POOL, AT(by_pool[GP_STAT_RESERVED_BYTES]), 0 },
	{ "reserved_bytes_by_private_pools", BY_PRIVATE_POOL, 0, 13 },
	{ "segment", BY_POOL, AT(by_pool[GP_STAT_SEGMENT]), 0 },
};

static const struct {
	const char *name;
	enum gp_stat_kind kind;
} pools[] = {
	{ "all", GP_STAT_ALL },
	{ "large_pool", GP_STAT_LARGE },
	{ "small_pool", GP_STAT_SMALL },
};

static const struct {
	const char *name;
	size_t offset; /* of the member of struct gp_stat */
} fields[] = {
	{ "allocated", offsetof(struct gp_stat, allocated) },
	{ "current", offsetof(struct gp_stat, current) },
	{ "freed", offsetof(struct gp_stat, freed) },
	{ "peak", offsetof(struct gp_stat, peak) },
};

static int64_t number_at(const void *base, size_t offset)
{
	return *(const int64_t *)((const char *)base + offset);
}

/* Who receives each key. */
struct listener {
	void (*key)(void *arg, const char *key, int64_t value);
	void *arg;
};

static void list_stat(const struct listener *to, const char *prefix,
		      const struct gp_stat *stat)
{
	char key[128];

	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		snprintf(key, sizeof(key), "%s.%s", prefix, fields[i].name);
		to->key(to->arg, key, number_at(stat, fields[i].offset));
	}
}

static void list_by_pool(const struct listener *to, const char *prefix,
			 const struct gp_stat *stats)
{
	char key[112];

	for (size_t i = 0; i < sizeof(pools) / sizeof(*pools); i++) {
		snprintf(key, sizeof(key), "%s.%s", prefix, pools[i].name);
		list_stat(to, key, &stats[pools[i].kind]);
	}
}

/* ---- private pools: "reserved_bytes_by_private_pools.0_1.all.current" ---- */

struct named_pool {
	char name[48];
	const struct gp_stat *stats;
};

static int by_pool_name(const void *a, const void *b)
{
	const struct named_pool *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void list_private(const struct listener *to,
			 const struct gp_trace *trace,
			 const struct gp_replay_result *result)
{
	size_t n = result->pool_count;
	struct named_pool *named = gp_mem_alloc(n, sizeof(*named));
	char key[96];

	for (size_t i = 0; i < n; i++) {
		const struct gp_pool_id *id =
			&trace->pools[result->pools[i].pool];

		snprintf(named[i].name, sizeof(named[i].name),
			 "%" PRIu64 "_%" PRIu64, id->first, id->second);
		named[i].stats = result->pools[i].by_kind;
	}
	if (n)
		qsort(named, n, sizeof(*named), by_pool_name);
	for (size_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "reserved_bytes_by_private_pools.%s",
			 named[i].name);
		list_by_pool(to, key, named[i].stats);
	}
	free(named);
}

static void list_row(const struct listener *to, const struct row *row,
		     const struct gp_trace *trace,
		     const struct gp_replay_result *result)
{
	const void *at = (const char *)&result->stats + row->offset;

	switch (row->shape) {
	case BY_POOL: list_by_pool(to, row->key, at); break;
	case PLAIN: list_stat(to, row->key, at); break;
	case SCALAR: to->key(to->arg, row->key, number_at(at, 0)); break;
	case BY_PRIVATE_POOL:
		if (trace)
			list_private(to, trace, result);
		break;
	}
}

void gp_stats_each(const struct gp_trace *trace,
		   const struct gp_replay_result *result, uint8_t release,
		   void (*key)(void *arg, const char *key, int64_t value),
		   void *arg)
{
	struct listener to = { key, arg };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (release >= rows[i].since)
			list_row(&to, &rows[i], trace, result);
}

/* ---- names ---- */

static void add(struct gp_numbers *numbers, size_t *room, const char *name,
		enum gp_number_unit unit, bool more_is_better)
{
	struct gp_number *number;

	GP_GROW(numbers->items, numbers->count + 1, *room);
	number = &numbers->items[numbers->count++];
	snprintf(number->name, sizeof(number->name), "%s", name);
	number->unit = (uint8_t)unit;
	number->more_is_better = more_is_better;
}

struct growing {
	struct gp_numbers *numbers;
	size_t *room;
};

/* max_split_size is a setting and is left out; for all others, less is
 * better. */
static void add_stat(void *arg, const char *key, int64_t value)
{
	const struct growing *growing = arg;

	(void)value;
	if (strcmp(key, "max_split_size") != 0)
		add(growing->numbers, growing->room, key,
		    strstr(key, "_bytes.") ? GP_NUMBER_BYTES : GP_NUMBER_COUNT,
		    false);
}

static enum gp_number_unit unit_of(const struct gp_measure *measure)
{
	switch (measure->unit) {
	case GP_UNIT_BYTES: return GP_NUMBER_BYTES;
	case GP_UNIT_COUNT:
	case GP_UNIT_MICROSECONDS: return GP_NUMBER_COUNT;
	case GP_UNIT_RATIO: break;
	}
	return GP_NUMBER_RATIO;
}

/* A measure of a moment is read at the peak of reserved memory, under its own
 * name and with the prefix at_peak, and at the end. */
static const char *const moments[] = { "", "at_peak.", "at_end." };

static bool has_moment(const struct gp_measure *measure, size_t moment)
{
	return measure->scope == GP_SCOPE_MOMENT ||
	       ((measure->scope == GP_SCOPE_RUN ||
		 measure->scope == GP_SCOPE_CALLS) &&
		!moment);
}

static bool more_is_better(enum gp_measure_id id)
{
	return id == GP_HIT_RATE || id == GP_UTILIZATION ||
	       id == GP_LARGEST_FREE;
}

static void measure_name(const struct gp_measure *measure, size_t moment,
			 char name[64])
{
	snprintf(name, 64, "%s%s", moments[moment], measure->key);
}

static int by_name(const void *a, const void *b)
{
	const struct gp_number *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void gp_numbers_init(struct gp_numbers *numbers)
{
	const struct gp_replay_result none = { 0 };
	size_t room = 0;
	struct growing growing = { numbers, &room };
	char name[64];

	*numbers = (struct gp_numbers){ 0 };
	gp_stats_each(NULL, &none, GP_RELEASE_LAST, add_stat, &growing);
	for (unsigned id = 0; id < GP_MEASURES; id++)
		for (size_t m = 0; m < 3; m++) {
			const struct gp_measure *measure = &gp_measures[id];

			if (!has_moment(measure, m))
				continue;
			measure_name(measure, m, name);
			add(numbers, &room, name, unit_of(measure),
			    more_is_better(id));
		}
	add(numbers, &room, "fidelity", GP_NUMBER_RATIO, true);
	qsort(numbers->items, numbers->count, sizeof(*numbers->items), by_name);
}

void gp_numbers_release(struct gp_numbers *numbers)
{
	free(numbers->items);
	*numbers = (struct gp_numbers){ 0 };
}

size_t gp_numbers_find(const struct gp_numbers *numbers, const char *name)
{
	size_t low = 0, high = numbers->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, numbers->items[middle].name);

		if (!order)
			return middle;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return GP_NUMBER_NONE;
}

/* ---- values ---- */

struct reader {
	const struct gp_numbers *numbers;
	struct gp_reading *readings;
};

static void put(void *arg, const char *name, int64_t value)
{
	const struct reader *reader = arg;
	size_t i = gp_numbers_find(reader->numbers, name);

	if (i != GP_NUMBER_NONE)
		reader->readings[i] = (struct gp_reading){ true, value };
}

static int64_t millionths(double ratio)
{
	return (int64_t)(ratio * GP_NUMBER_MILLION + (ratio < 0 ? -0.5 : 0.5));
}

static int64_t whole(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static void put_measure(const struct reader *reader, enum gp_measure_id id,
			const struct gp_replay_result *result)
{
	const struct gp_measure *measure = &gp_measures[id];
	struct gp_subject at[] = {
		gp_at_peak(result),
		gp_at_peak(result),
		gp_at_end(result),
	};
	char name[64];

	for (size_t m = 0; m < 3; m++) {
		if (!has_moment(measure, m) || !gp_measure_is_known(id, &at[m]))
			continue;
		measure_name(measure, m, name);
		put((void *)reader, name,
		    measure->unit == GP_UNIT_RATIO
			    ? millionths(measure->ratio(&at[m]))
			    : whole(measure->count(&at[m])));
	}
}

/* Counts of the whole run, whereas PyTorch's start again when the program
 * resets them. */
static void put_counters(const struct reader *reader,
			 const struct gp_replay_result *result)
{
	const struct gp_subject at = gp_at_end(result);

	for (size_t id = 0; id < GP_MEASURES; id++)
		if (gp_measures[id].scope == GP_SCOPE_COUNTER)
			put((void *)reader, gp_measures[id].key,
			    whole(gp_measures[id].count(&at)));
}

/* Rounded down, so that only a complete match gives 100 %. */
static void put_fidelity(const struct reader *reader,
			 const struct gp_fidelity *fidelity)
{
	uint64_t checked = fidelity->checked + fidelity->segments_checked;
	uint64_t matched = fidelity->matched + fidelity->segments_matched;

	if (checked)
		put((void *)reader, "fidelity",
		    (int64_t)((double)matched / (double)checked *
			      GP_NUMBER_MILLION));
}

void gp_numbers_read(const struct gp_numbers *numbers,
		     const struct gp_trace *trace, const struct gp_run *run,
		     size_t device, struct gp_reading *readings)
{
	const struct gp_replay_result *result = &run->results[device];
	struct reader reader = { numbers, readings };

	memset(readings, 0, numbers->count * sizeof(*readings));
	gp_stats_each(trace, result, run->settings->release, put, &reader);
	for (size_t id = 0; id < GP_MEASURES; id++)
		put_measure(&reader, id, result);
	put_counters(&reader, result);
	put_fidelity(&reader, &result->fidelity);
}
