/* SPDX-License-Identifier: MIT */
/* Placement of memory, compared with plain lists of units. */
#include "device/space.h"

#include <string.h>
#include <time.h>

#include "base/map.h"
#include "gpupool/device.h"
#include "gpupool/knob.h"
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

/* Adopts and frees arbitrary ranges, parts of which may be in use or free
 * already. */
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

		ck_assert(space_is_free(&space, addr, size) ==
			  !memchr(taken + at, true, units));
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

/* Processor time of requests of that size. */
static double time_of(uint64_t size)
{
	struct space space = { .base = BASE };
	clock_t start = clock();

	for (int i = 0; i < 2000; i++)
		space_give(&space, space_take(&space, size), size);
	space_release(&space);
	return (double)(clock() - start) + 1;
}

/* ---- placement, as on Linux ---- */

#define CHUNK  16 /* grains */
#define GRAINS (256 * CHUNK)

/* Indexed by grain, from the highest address down: the range to which it
 * belongs (0: none), and whether it is allocated. */
struct plain {
	int range[GRAINS];
	bool is_taken[GRAINS];
	int ranges;
};

/* The lowest run of that many free grains in a range, or else the highest one
 * outside all ranges. */
static int plain_run(const struct plain *plain, int count, bool is_in_range)
{
	int found = -1;

	for (int at = 0; at + count <= GRAINS; at += is_in_range ? 1 : CHUNK) {
		int n = 0;

		while (n < count && !plain->is_taken[at + n] &&
		       plain->range[at + n] == plain->range[at] &&
		       (plain->range[at] != 0) == is_in_range)
			n++;
		if (n < count)
			continue;
		found = at;
		if (is_in_range)
			break;
	}
	return found;
}

static int plain_take(struct plain *plain, int count)
{
	int at = plain_run(plain, count, true);

	if (at < 0) {
		int length = (count + CHUNK - 1) / CHUNK * CHUNK;

		at = plain_run(plain, length, false);
		ck_assert_int_ge(at, 0);
		plain->ranges++;
		for (int i = 0; i < length; i++)
			plain->range[at + i] = plain->ranges;
	}
	memset(plain->is_taken + at, true, (size_t)count);
	return at;
}

static void plain_give(struct plain *plain, int at, int count)
{
	int range = plain->range[at];

	memset(plain->is_taken + at, false, (size_t)count);
	for (int i = 0; i < GRAINS; i++)
		if (plain->range[i] == range && plain->is_taken[i])
			return;
	for (int i = 0; i < GRAINS; i++)
		if (plain->range[i] == range)
			plain->range[i] = 0;
}

static struct gp_device *replaced(struct gp_device *device)
{
	struct gp_device *copy = gp_sim_copy(device);

	gp_device_destroy(device);
	return copy;
}

/* A range belongs to the allocation for which it was obtained. It returns to
 * the system when this one and all later ones in it are freed. */
START_TEST(takes_ranges_of_the_system_and_gives_them_back)
{
	static struct plain plain;
	struct gp_device *device = gp_sim_create(0, GP_UNLIMITED);
	uint64_t addr[ROOM], seed = 9, base = 0;
	int at[ROOM], count[ROOM] = { 0 };

	gp_sim_place_downward(device);
	for (int i = 0; i < 20000; i++) {
		size_t k = next_random(&seed) % (i % 1000 < 500 ? 6 : ROOM);

		/* A copy of the device behaves alike. */
		if (i % 5000 == 4000)
			device = replaced(device);
		if (count[k]) {
			device->ops->free(device, addr[k],
					  (uint64_t)count[k] * GP_DEVICE_GRAIN);
			plain_give(&plain, at[k], count[k]);
			count[k] = 0;
			continue;
		}
		count[k] = 1 + (int)(next_random(&seed) % (i % 3 ? 12 : 50));
		at[k] = plain_take(&plain, count[k]);
		ck_assert(device->ops->malloc(
			device, (uint64_t)count[k] * GP_DEVICE_GRAIN - 1,
			&addr[k]));
		if (!base)
			base = addr[k] - (uint64_t)at[k] * GP_DEVICE_GRAIN;
		ck_assert_uint_eq(addr[k] - base,
				  (uint64_t)at[k] * GP_DEVICE_GRAIN);
	}
	gp_device_destroy(device);
}
END_TEST

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

/* Ranges that begin within a unit: no unit that a range touches is handed out,
 * not even after another such range is freed. */
START_TEST(hands_out_no_part_of_a_unit)
{
	const uint64_t half = GP_DEVICE_GRAIN / 2, grain = GP_DEVICE_GRAIN;
	struct space space = { .base = BASE };

	space_adopt(&space, BASE + half, grain);
	space_adopt(&space, BASE + half + grain, grain);
	ck_assert_uint_eq(space_take(&space, grain), BASE + 3 * grain);
	ck_assert(!space_is_free(&space, BASE + 2 * grain, grain));
	ck_assert(!space_is_free(&space, BASE + 4 * grain - half, grain));
	ck_assert(space_is_free(&space, BASE + 4 * grain + half, grain));
	space_give(&space, BASE + half, grain);
	ck_assert(space_is_taken(&space, BASE + grain, grain));
	space_give(&space, BASE + 3 * grain, grain);
	ck_assert_uint_eq(space_take(&space, grain), BASE + 3 * grain);
	space_release(&space);
}
END_TEST

/* A range with whole units between its ends releases these. */
START_TEST(gives_back_whole_units)
{
	const uint64_t half = GP_DEVICE_GRAIN / 2, grain = GP_DEVICE_GRAIN;
	struct space space = { .base = BASE };

	space_adopt(&space, BASE + half, 3 * grain);
	space_give(&space, BASE + half, 3 * grain);
	ck_assert_uint_eq(space_take(&space, 2 * grain), BASE + grain);
	ck_assert_uint_eq(space_take(&space, grain), BASE + 4 * grain);
	space_release(&space);
}
END_TEST

START_TEST(leaves_foreign_addresses_alone)
{
	struct space space = { .base = BASE };

	space_adopt(&space, 0x1000, GP_DEVICE_GRAIN);
	space_give(&space, 0x1000, GP_DEVICE_GRAIN);
	space_adopt(&space, UINT64_MAX - 10, 5);
	ck_assert(!space_is_free(&space, 0x1000, 5));
	ck_assert(!space_is_free(&space, UINT64_MAX - 10, 5));
	ck_assert_uint_eq(space_take(&space, 1), BASE);
	space_release(&space);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ takes_the_lowest_run_that_fits, 0 },
		{ adopts_and_gives_back_what_overlaps, 0 },
		{ takes_ranges_of_the_system_and_gives_them_back, 0 },
		{ takes_no_longer_for_more, 0 },
		{ does_not_hand_out_what_was_adopted, 0 },
		{ hands_out_no_part_of_a_unit, 0 },
		{ gives_back_whole_units, 0 },
		{ leaves_foreign_addresses_alone, 0 },
	};

	return suite_run("space", tests, COUNT_OF(tests));
}
