/* SPDX-License-Identifier: MIT */
/* The hash map with PyTorch's order: what it finds, and the order itself. */
#include "allocator/caching/robin.h"

#include "base/map.h"
#include "played.h"
#include "suite.h"
#include "trace_text.h"

#define KEYS 64

static uint64_t stream_hash(uint64_t handle)
{
	return UINT64_C(1) << 56 | handle;
}

START_TEST(finds_what_was_inserted_and_not_erased)
{
	struct robin map = { 0 };
	bool is_there[KEYS] = { false };
	uint64_t seed = 1;

	for (int i = 0; i < 5000; i++) {
		uint32_t key = (uint32_t)(next_random(&seed) % KEYS);
		uint64_t hash = stream_hash(0x1000 + 16 * key);

		if (is_there[key])
			robin_erase(&map, hash, key);
		else
			robin_insert(&map, hash, key, NULL);
		is_there[key] = !is_there[key];
		for (uint32_t k = 0; k < KEYS; k++)
			ck_assert_int_eq(
				robin_find(&map, stream_hash(0x1000 + 16 * k),
					   k) != NULL,
				is_there[k]);
	}
	robin_release(&map);
}
END_TEST

START_TEST(a_walk_meets_each_entry_once)
{
	struct robin map = { 0 };
	int met[KEYS] = { 0 };

	for (uint32_t key = 0; key < KEYS; key++)
		robin_insert(&map, stream_hash(key * 4096), key, NULL);
	for (size_t i = robin_begin(&map); i < robin_end(&map);
	     i = robin_after(&map, i))
		met[map.slots[i].key]++;
	for (int key = 0; key < KEYS; key++)
		ck_assert_int_eq(met[key], 1);
	robin_release(&map);
}
END_TEST

/* PyTorch completes the block used on stream 4144 before the one on 4112. */
START_TEST(walks_in_slot_order)
{
	struct robin map = { 0 };

	robin_insert(&map, stream_hash(4112), 4112, NULL);
	robin_insert(&map, stream_hash(4144), 4144, NULL);
	ck_assert_uint_eq(map.slots[robin_begin(&map)].key, 4144);
	robin_release(&map);
}
END_TEST

/* The home of a hash in a map of 16. */
static uint64_t home_of_16(uint64_t hash)
{
	return hash * UINT64_C(11400714819323198485) >> 60;
}

/* The map doubles when an entry would be four places from its home, even if
 * there is room. */
START_TEST(five_of_one_home_are_too_many_for_a_small_map)
{
	struct robin map = { 0 };
	uint32_t key = 0, count = 0;

	for (uint32_t k = 0; k < 8; k++)
		robin_insert(&map, stream_hash(k), k, NULL);
	for (uint32_t k = 0; k < 8; k++)
		robin_erase(&map, stream_hash(k), k);
	ck_assert_uint_eq(map.size, 16);
	for (; count < 5; key++) {
		if (home_of_16(stream_hash(key)) != 7)
			continue;
		ck_assert_uint_eq(map.size, 16);
		robin_insert(&map, stream_hash(key), key, NULL);
		count++;
	}
	ck_assert_uint_eq(map.size, 32);
	robin_release(&map);
}
END_TEST

/* ---- in a run ---- */

#define STREAMS 6

struct completed {
	uint32_t ids[STREAMS];
	size_t count;
};

static void note_completed(void *arg, const struct gp_action *action,
			   uint64_t event)
{
	struct completed *c = arg;

	(void)event;
	if (action->kind == GP_FREE_COMPLETED && action->id < STREAMS)
		c->ids[c->count++] = action->id;
}

/* Blocks that are freed one by one, each in use on its own stream; all these
 * uses are complete before the next request. */
static struct gp_trace *blocks_on(const uint64_t *streams, unsigned device)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	fprintf(out,
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
		"[{\"device\": %u, \"events\": [",
		device);
	for (unsigned i = 0; i < STREAMS; i++)
		fprintf(out, "{\"op\": \"alloc\", \"id\": %u, \"size\": 512}, ",
			i);
	for (unsigned i = 0; i < STREAMS; i++)
		fprintf(out,
			"{\"op\": \"record_stream\", \"id\": %u, "
			"\"stream\": %llu}, {\"op\": \"free\", \"id\": %u}, ",
			i, (unsigned long long)streams[i], i);
	fputs("{\"op\": \"synchronize\"}, "
	      "{\"op\": \"alloc\", \"id\": 99, \"size\": 512}]}]}",
	      out);
	ck_assert_int_eq(fclose(out), 0);
	trace = trace_of(text);
	free(text);
	return trace;
}

/* The hash of a stream combines its device and 48 bits of its handle. */
START_TEST(streams_complete_in_the_order_of_their_hashes)
{
	uint64_t seed = 1;

	for (int round = 0; round < 120; round++) {
		static const uint64_t ranges[] = { 8, 100, UINT64_C(1) << 47,
						   UINT64_C(1) << 62 };
		uint64_t range = ranges[round % 4], streams[STREAMS];
		unsigned device = (unsigned)(round / 4 % 8);
		struct completed completed = { .count = 0 };
		struct robin map = { 0 };
		struct gp_settings settings;
		struct gp_trace *trace;
		struct gp_replay_config config;
		struct gp_replay_result result;
		size_t at = 0;

		for (uint32_t i = 0; i < STREAMS; i++) {
			streams[i] = 1 + i * range + next_random(&seed) % range;
			if (range > UINT64_C(1) << 60)
				streams[i] >>= 3;
			robin_insert(&map,
				     stream_hash((uint64_t)device << 48 |
						 (streams[i] << 16 >> 16)),
				     i, NULL);
		}
		trace = blocks_on(streams, device);
		config = run_of(trace, &settings);
		config.action = note_completed;
		config.action_arg = &completed;
		result = played(&config);
		ck_assert_uint_eq(completed.count, STREAMS);
		for (size_t i = robin_begin(&map); i < robin_end(&map);
		     i = robin_after(&map, i))
			ck_assert_uint_eq(map.slots[i].key,
					  completed.ids[at++]);
		gp_replay_release(&result);
		gp_trace_destroy(trace);
		robin_release(&map);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ finds_what_was_inserted_and_not_erased, 0 },
		{ a_walk_meets_each_entry_once, 0 },
		{ walks_in_slot_order, 0 },
		{ five_of_one_home_are_too_many_for_a_small_map, 0 },
		{ streams_complete_in_the_order_of_their_hashes, 0 },
	};

	return suite_run("robin", tests, COUNT_OF(tests));
}
