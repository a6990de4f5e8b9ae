/* SPDX-License-Identifier: MIT */
/* The hash map, compared with a plain array that is searched linearly. */
#include "base/map.h"

#include <stdlib.h>
#include <time.h>

#include "suite.h"

#define MODEL_KEYS 200

struct model {
	uint64_t keys[MODEL_KEYS];
	uint32_t values[MODEL_KEYS];
	size_t count;
};

static size_t model_find(const struct model *model, uint64_t key)
{
	size_t i = 0;

	while (i < model->count && model->keys[i] != key)
		i++;
	return i;
}

static uint32_t model_get(const struct model *model, uint64_t key)
{
	size_t i = model_find(model, key);

	return i < model->count ? model->values[i] : GP_MAP_NONE;
}

static void model_put(struct model *model, uint64_t key, uint32_t value)
{
	size_t i = model_find(model, key);

	if (i == model->count)
		model->count++;
	model->keys[i] = key;
	model->values[i] = value;
}

static uint32_t model_take(struct model *model, uint64_t key)
{
	size_t i = model_find(model, key);
	uint32_t value;

	if (i == model->count)
		return GP_MAP_NONE;
	value = model->values[i];
	model->count--;
	model->keys[i] = model->keys[model->count];
	model->values[i] = model->values[model->count];
	return value;
}

/* With few keys, each is added and removed many times. */
static void one_step(struct gp_map *map, struct model *model, uint64_t *random)
{
	uint64_t key = next_random(random) % MODEL_KEYS << 21;
	uint32_t value = (uint32_t)(next_random(random) % 1000);

	switch (next_random(random) % 3) {
	case 0:
		gp_map_put(map, key, value);
		model_put(model, key, value);
		break;
	case 1:
		ck_assert_uint_eq(gp_map_take(map, key),
				  model_take(model, key));
		break;
	default: ck_assert_uint_eq(gp_map_get(map, key), model_get(model, key));
	}
	ck_assert_uint_eq(map->count, model->count);
}

START_TEST(test_it_does_what_a_plain_array_does)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct gp_map map = { 0 };
		struct model model = { 0 };
		uint64_t random = seed;

		for (int i = 0; i < 5000; i++)
			one_step(&map, &model, &random);
		for (size_t i = 0; i < model.count; i++)
			ck_assert_uint_eq(gp_map_get(&map, model.keys[i]),
					  model.values[i]);
		gp_map_release(&map);
	}
}
END_TEST

START_TEST(test_an_empty_map_has_nothing)
{
	struct gp_map map = { 0 };

	ck_assert_uint_eq(gp_map_get(&map, 0), GP_MAP_NONE);
	ck_assert_uint_eq(gp_map_take(&map, 0), GP_MAP_NONE);
	gp_map_release(&map);
}
END_TEST

START_TEST(test_every_key_is_a_key)
{
	const uint64_t keys[] = { 0, 1, UINT32_MAX, UINT64_MAX };
	struct gp_map map = { 0 };

	for (uint32_t i = 0; i < COUNT_OF(keys); i++)
		gp_map_put(&map, keys[i], i);
	for (uint32_t i = 0; i < COUNT_OF(keys); i++)
		ck_assert_uint_eq(gp_map_get(&map, keys[i]), i);
	gp_map_release(&map);
}
END_TEST

START_TEST(test_it_stays_half_empty)
{
	struct gp_map map = { 0 };

	for (uint64_t i = 0; i < 10000; i++) {
		gp_map_put(&map, i, 1);
		ck_assert_uint_le(map.count * 2, map.room);
	}
	ck_assert_uint_le(map.room, 10000 * 4);
	gp_map_release(&map);
}
END_TEST

/* The number x for which x ^ x >> bits is y. */
static uint64_t unshifted(uint64_t y, unsigned bits)
{
	uint64_t x = y;

	for (unsigned done = bits; done < 64; done += bits)
		x = y ^ x >> bits;
	return x;
}

/* Whose gp_hash64() is hash: each step of it undone. */
static uint64_t key_of(uint64_t hash)
{
	hash = unshifted(hash, 31) * UINT64_C(0x319642b2d24d8ec3);
	return unshifted(unshifted(hash, 27) * UINT64_C(0x96de1b173f119089),
			 30);
}

#define MANY 20000

static clock_t cost(const uint64_t *keys)
{
	struct gp_map map = { 0 };
	clock_t start = clock();

	for (uint32_t i = 0; i < MANY; i++)
		gp_map_put(&map, keys[i], i);
	gp_map_release(&map);
	return clock() - start;
}

/* Who writes a file chooses the keys, such as the ids of its blocks. */
START_TEST(test_keys_chosen_to_collide_do_not)
{
	uint64_t *chosen = malloc(MANY * sizeof(*chosen));
	uint64_t *others = malloc(MANY * sizeof(*others)), random = 1;
	clock_t a, b;

	for (uint64_t i = 0; i < MANY; i++) {
		chosen[i] = key_of((i + 1) << 40);
		ck_assert_uint_eq(gp_hash64(chosen[i]), (i + 1) << 40);
		others[i] = next_random(&random);
	}
	a = cost(chosen);
	b = cost(others);
	ck_assert_msg(a < 20 * (b + 1000), "%ld and %ld", (long)a, (long)b);
	free(chosen);
	free(others);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_it_does_what_a_plain_array_does, 0 },
		{ test_an_empty_map_has_nothing, 0 },
		{ test_every_key_is_a_key, 0 },
		{ test_it_stays_half_empty, 0 },
		{ test_keys_chosen_to_collide_do_not, 0 },
	};

	return suite_run("map", tests, COUNT_OF(tests));
}
