/* SPDX-License-Identifier: MIT */
/*
 * The table has the slots that g++ gives for the class in
 * c10/cuda/CUDACachingAllocator.h of each release's wheel (a pointer to a
 * virtual member function contains its slot). Checked with 2.2.2, 2.3.1, 2.4.1,
 * 2.5.1, 2.6.0, 2.7.1, 2.8.0, 2.9.1, 2.10.0, 2.11.0, 2.12.1, 2.13.0, 2.14.1 and
 * 2.15.0.
 */
#include "simcuda/program/layout.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "simcuda/program/entries.h"

static const struct layout
	table[] = {
		{ 1,  2,  4,  5,  7, 8, 9, 10, 13, 14, 15,
		  16, 18, 19, 20, 0, 0, 0, 0,  0,  0 },
		{ 2,  2,  4,  5,  7, 8, 9, 10, 13, 14, 15,
		  16, 18, 19, 20, 0, 0, 0, 26, 30, 0 },
		{ 3,  2,  6,  7,  9, 10, 11, 12, 15, 16, 17,
		  18, 20, 21, 22, 0, 0,	 0,  28, 32, 0 },
		{ 4,  2,  6,  7,  9, 10, 11, 12, 15, 16, 17,
		  18, 20, 21, 22, 0, 0,	 0,  28, 32, 0 },
		{ 5,  2,  6,  7,  9, 10, 11, 12, 15, 16, 17,
		  18, 20, 21, 22, 0, 0,	 0,  30, 34, 0 },
		{ 6,  2,  6,  7,  9,  10, 12, 13, 18, 19, 20,
		  21, 23, 24, 25, 27, 0,  0,  35, 39, 0 },
		{ 7,  2,  6,  7,  9,  10, 12, 13, 18, 19, 20,
		  21, 23, 24, 25, 27, 0,  0,  35, 39, 0 },
		{ 8,  2,  6,  7,  9,  10, 12, 13, 18, 19, 20,
		  21, 23, 24, 25, 27, 28, 0,  38, 42, 48 },
		{ 9,  2,  12, 13, 15, 6,  17, 7,  22, 9, 10,
		  11, 24, 25, 26, 28, 29, 0,  39, 43, 48 },
		{ 10, 2,  13, 14, 16, 6,  18, 7,  24, 9, 10,
		  11, 26, 27, 28, 30, 31, 32, 44, 48, 48 },
		{ 11, 2,  13, 14, 16, 6,  18, 7,  24, 9, 10,
		  11, 26, 27, 28, 30, 31, 32, 44, 48, 48 },
		{ 12, 2,  13, 14, 16, 6,  18, 7,  24, 9, 10,
		  11, 26, 27, 28, 30, 31, 32, 46, 50, 48 },
		{ 13, 2,  13, 14, 16, 6,  18, 7,  24, 9, 10,
		  11, 26, 27, 30, 32, 33, 34, 48, 52, 48 },
		{ 14, 2,  13, 14, 16, 6,  18, 7,  24, 9, 10,
		  11, 26, 27, 30, 32, 33, 34, 50, 54, 48 },
		{ 15, 2,  13, 14, 16, 6,  18, 7,  24, 9, 10,
		  11, 26, 27, 30, 32, 33, 34, 50, 54, 48 },
	};

const struct layout *layout_of(unsigned release)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (table[i].release == release)
			return &table[i];
	return NULL;
}

/* ---- counters ---- */

/*
 * struct DeviceStats: its members in order, which is the same in all releases;
 * later releases have more. c10/core/CachingDeviceAllocator.h, and before 2.5
 * c10/cuda/CUDACachingAllocator.h.
 */

enum shape {
	BY_POOL, /* a Stat each for all, small and large */
	PLAIN,	 /* a Stat */
	SCALAR,
	BY_PRIVATE_POOL, /* a ska::flat_hash_map */
};

static const struct {
	const char *name;
	enum shape shape;
	unsigned since; /* first release that has it */
} members[] = {
	{ "allocation", BY_POOL, 0 },
	{ "segment", BY_POOL, 0 },
	{ "active", BY_POOL, 0 },
	{ "inactive_split", BY_POOL, 0 },
	{ "allocated_bytes", BY_POOL, 0 },
	{ "reserved_bytes", BY_POOL, 0 },
	{ "reserved_bytes_by_private_pools", BY_PRIVATE_POOL, 13 },
	{ "active_bytes", BY_POOL, 0 },
	{ "inactive_split_bytes", BY_POOL, 0 },
	{ "requested_bytes", BY_POOL, 0 },
	{ "num_alloc_retries", SCALAR, 0 },
	{ "num_ooms", SCALAR, 0 },
	{ "oversize_allocations", PLAIN, 0 },
	{ "oversize_segments", PLAIN, 0 },
	{ "num_sync_all_streams", SCALAR, 3 },
	{ "num_device_alloc", SCALAR, 3 },
	{ "num_device_free", SCALAR, 3 },
	{ "num_oom_rejections", SCALAR, 12 },
	{ "max_split_size", SCALAR, 0 },
};

#define STAT_BYTES	32
#define POOL_BYTES	(3 * STAT_BYTES)
#define MAP_BYTES	32
/* An entry of the map's table: its distance from the ideal slot (negative:
 * empty), pool, stats. */
#define MAP_ENTRY_BYTES (8 + 16 + POOL_BYTES)

static bool has_written; /* a member was written before */

static void put(const char *name, const char *number)
{
	int64_t value;

	memcpy(&value, number, sizeof(value));
	entries_put("%s\"%s\":%" PRId64, has_written ? "," : "", name, value);
	has_written = true;
}

static void put_stat(const char *name, const char *stat)
{
	static const char *const fields[] = { "current", "peak", "allocated",
					      "freed" };
	char key[160];

	for (size_t i = 0; i < 4; i++) {
		snprintf(key, sizeof(key), "%s.%s", name, fields[i]);
		put(key, stat + 8 * i);
	}
}

static void put_by_pool(const char *name, const char *stats)
{
	static const char *const kinds[] = { "all", "small_pool",
					     "large_pool" };
	char key[128];

	for (size_t i = 0; i < 3; i++) {
		snprintf(key, sizeof(key), "%s.%s", name, kinds[i]);
		put_stat(key, stats + STAT_BYTES * i);
	}
}

static void put_private(const char *name, const char *map)
{
	uint64_t slots_minus_one, pool[2];
	const char *entry;
	char key[96];
	size_t end;

	memcpy(&entry, map, sizeof(entry));
	memcpy(&slots_minus_one, map + 8, sizeof(slots_minus_one));
	end = slots_minus_one + (size_t)(signed char)map[17]; /* max_lookups */
	for (size_t i = 0; i < end; i++, entry += MAP_ENTRY_BYTES) {
		if ((signed char)*entry < 0)
			continue;
		memcpy(pool, entry + 8, sizeof(pool));
		snprintf(key, sizeof(key), "%s.%" PRIu64 "_%" PRIu64, name,
			 pool[0], pool[1]);
		put_by_pool(key, entry + 8 + sizeof(pool));
	}
}

void counters_write(const char *stats, unsigned release)
{
	has_written = false;
	for (size_t i = 0; i < sizeof(members) / sizeof(*members); i++) {
		if (release < members[i].since)
			continue;
		switch (members[i].shape) {
		case BY_POOL:
			put_by_pool(members[i].name, stats);
			stats += POOL_BYTES;
			break;
		case PLAIN:
			put_stat(members[i].name, stats);
			stats += STAT_BYTES;
			break;
		case SCALAR:
			put(members[i].name, stats);
			stats += 8;
			break;
		case BY_PRIVATE_POOL:
			put_private(members[i].name, stats);
			stats += MAP_BYTES;
			break;
		}
	}
}
