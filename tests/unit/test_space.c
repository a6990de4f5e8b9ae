/* SPDX-License-Identifier: MIT */
/* First fit in an address range, against a plain list of units. */
#include "device/space.h"

#include <string.h>

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
		{ does_not_hand_out_what_was_adopted, 0 },
		{ leaves_foreign_addresses_alone, 0 },
	};

	return suite_run("space", tests, COUNT_OF(tests));
}
