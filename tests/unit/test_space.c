/* SPDX-License-Identifier: MIT */
/* First fit in an address range, against a plain list of units. */
#include "device/space.h"

#include <string.h>
#include <time.h>

#include "base/map.h"
#include "gpupool/device.h"
#include "suite.h"

#define UNITS 400
#define BASE  UINT64_C(0x700000000000)
#define ROOM  64

static size_t model_take(bool *taken, size_t units)
{
	size_t at = 0, free_units = 0;

	for (; free_units < units; at++)
		free_units = taken[at] ? 0 : free_units + 1;
	memset(taken + at - units, true, units);
	return at - units;
}

START_TEST(takes_the_lowest_run_that_fits)
{
	struct space space = { .base = BASE };
	static bool taken[UNITS * ROOM];
	size_t at[ROOM], units[ROOM] = { 0 };
	uint64_t seed = 7;

	for (int i = 0; i < 4000; i++) {
		size_t k = next_random(&seed) % ROOM;

		if (units[k]) {
			space_give(&space, BASE + at[k] * GP_DEVICE_GRAIN,
				   units[k] * GP_DEVICE_GRAIN);
			memset(taken + at[k], false, units[k]);
			units[k] = 0;
			continue;
		}
		units[k] = 1 + next_random(&seed) % (i % 7 ? 8 : 200);
		at[k] = model_take(taken, units[k]);
		ck_assert_uint_eq(
			space_take(&space, units[k] * GP_DEVICE_GRAIN - 1),
			BASE + at[k] * GP_DEVICE_GRAIN);
	}
	space_release(&space);
}
END_TEST

/* Ranges that are adopted or given back wherever they lie: part of them may be
 * taken already, or free. */
START_TEST(adopts_and_gives_back_what_overlaps)
{
	struct space space = { .base = BASE };
	static bool taken[UNITS * ROOM];
	uint64_t seed = 8;

	for (int i = 0; i < 4000; i++) {
		size_t at = next_random(&seed) % UNITS;
		size_t units = 1 + next_random(&seed) % 9;
		uint64_t addr = BASE + at * GP_DEVICE_GRAIN;
		uint64_t size = units * GP_DEVICE_GRAIN;

		switch (i % 5) {
		case 0:
			space_adopt(&space, addr, size);
			memset(taken + at, true, units);
			break;
		case 1:
			at = model_take(taken, units);
			ck_assert_uint_eq(space_take(&space, size),
					  BASE + at * GP_DEVICE_GRAIN);
			break;
		default:
			space_give(&space, addr, size);
			memset(taken + at, false, units);
			break;
		}
	}
	space_release(&space);
}
END_TEST

/* Processor time of so many requests of that size. */
static double time_of(uint64_t size)
{
	struct space space = { .base = BASE };
	clock_t start = clock();

	for (int i = 0; i < 2000; i++)
		space_give(&space, space_take(&space, size), size);
	space_release(&space);
	return (double)(clock() - start) + 1;
}

/* 64 TiB are 2^25 units. */
START_TEST(takes_no_longer_for_more)
{
	double small = time_of(GP_DEVICE_GRAIN);

	ck_assert_double_lt(time_of(UINT64_C(1) << 46), 50 * small);
}
END_TEST

START_TEST(does_not_hand_out_what_was_adopted)
{
	struct space space = { .base = BASE };

	space_adopt(&space, BASE + GP_DEVICE_GRAIN, GP_DEVICE_GRAIN);
	ck_assert_uint_eq(space_take(&space, 1), BASE);
	ck_assert_uint_eq(space_take(&space, 1), BASE + 2 * GP_DEVICE_GRAIN);
	space_release(&space);
}
END_TEST

START_TEST(leaves_foreign_addresses_alone)
{
	struct space space = { .base = BASE };

	space_adopt(&space, 0x1000, GP_DEVICE_GRAIN);
	space_give(&space, 0x1000, GP_DEVICE_GRAIN);
	space_adopt(&space, UINT64_MAX - 10, 5);
	ck_assert_uint_eq(space_take(&space, 1), BASE);
	space_release(&space);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ takes_the_lowest_run_that_fits, 0 },
		{ adopts_and_gives_back_what_overlaps, 0 },
		{ takes_no_longer_for_more, 0 },
		{ does_not_hand_out_what_was_adopted, 0 },
		{ leaves_foreign_addresses_alone, 0 },
	};

	return suite_run("space", tests, COUNT_OF(tests));
}
