/* SPDX-License-Identifier: MIT */
/*
 * torch.cuda.memory_stats(), key for key: torch/cuda/memory.py, memory_stats,
 * which sorts what memory_stats_as_nested_dict gives.
 */
#include "report/emit_parts.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

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

/* Who is told the keys. */
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

static int by_name(const void *a, const void *b)
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
		qsort(named, n, sizeof(*named), by_name);
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

static void emit(void *arg, const char *key, int64_t value)
{
	gp_emit_int(arg, key, value);
}

void gp_emit_stats(struct gp_emit *json, const char *key,
		   const struct gp_trace *trace,
		   const struct gp_replay_result *result, uint8_t release)
{
	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	gp_stats_each(trace, result, release, emit, json);
	gp_emit_close(json, '}');
}
