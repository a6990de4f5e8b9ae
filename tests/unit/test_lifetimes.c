/* SPDX-License-Identifier: MIT */
/* Lifetimes and the bands made from them, compared with the allocator's own
 * numbers and with a count block by block. */
#include "study/metrics/bands.h"
#include "study/metrics/culprit.h"

#include <glob.h>
#include <stdlib.h>

#include "played.h"
#include "random_trace.h"

/* A run, and what the allocator itself reported after each event. */
struct watched {
	const struct gp_trace *trace;
	struct gp_film *film;
	struct gp_lifetimes lifetimes;
	uint64_t *allocated, *reserved;
};

static void hear(void *arg, const struct gp_action *action, uint64_t event)
{
	struct watched *w = arg;

	gp_film_action(w->film, action, event);
}

/* The memory that a film shows then. */
static void compare_states(const struct gp_state *a, const struct gp_state *b)
{
	ck_assert_uint_eq(a->segment_count, b->segment_count);
	ck_assert_uint_eq(a->block_count, b->block_count);
	for (size_t i = 0; i < a->segment_count; i++) {
		ck_assert_uint_eq(a->segments[i].addr, b->segments[i].addr);
		ck_assert_uint_eq(a->segments[i].size, b->segments[i].size);
		ck_assert_uint_eq(a->segments[i].blocks, b->segments[i].blocks);
		ck_assert_int_eq(a->segments[i].stream, b->segments[i].stream);
	}
	for (size_t i = 0; i < a->block_count; i++) {
		ck_assert_uint_eq(a->blocks[i].addr, b->blocks[i].addr);
		ck_assert_uint_eq(a->blocks[i].size, b->blocks[i].size);
		ck_assert_int_eq(a->blocks[i].state, b->blocks[i].state);
		if (a->blocks[i].state != GP_INACTIVE)
			ck_assert_uint_eq(a->blocks[i].id, b->blocks[i].id);
	}
}

#define FEW	    23 /* a look at all of memory every so many events */
#define MOST_EVENTS 1000

static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct watched *w = arg;
	struct gp_state state, filmed;
	const struct gp_level *levels = allocator->levels;

	gp_film_look(w->film, allocator);
	w->allocated[event] =
		(uint64_t)gp_level_now(&levels[GP_STAT_ALLOCATED_BYTES]);
	w->reserved[event] =
		(uint64_t)gp_level_now(&levels[GP_STAT_RESERVED_BYTES]);
	/* The film's state is built from all changes up to then. */
	if (event % FEW || w->trace->devices[0].event_count > MOST_EVENTS)
		return;
	allocator->ops->state(allocator, &state);
	gp_film_state(w->film, event, &filmed);
	compare_states(&state, &filmed);
	gp_state_release(&state);
	gp_state_release(&filmed);
}

static struct watched watch(const struct gp_trace *trace, uint32_t device,
			    const char *conf, uint64_t capacity)
{
	const struct gp_device_trace *d = &trace->devices[device];
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	struct watched w = {
		.trace = trace,
		.film = gp_film_create(d),
		.allocated = calloc(d->event_count + 1, sizeof(uint64_t)),
		.reserved = calloc(d->event_count + 1, sizeof(uint64_t)),
	};
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	config.device = device;
	config.capacity = capacity;
	config.action = hear;
	config.look = look;
	config.action_arg = config.look_arg = &w;
	result = played(&config);
	gp_replay_release(&result);
	gp_lifetimes_init(&w.lifetimes, w.film, d->event_count);
	for (size_t i = 0; i < d->event_count; i++) {
		ck_assert_uint_eq(w.lifetimes.allocated[i], w.allocated[i]);
		ck_assert_uint_eq(w.lifetimes.reserved[i], w.reserved[i]);
	}
	return w;
}

static void watched_release(struct watched *w)
{
	gp_film_destroy(w->film);
	gp_lifetimes_release(&w->lifetimes);
	free(w->allocated);
	free(w->reserved);
}

/* ---- the same, counted block by block ---- */

static size_t columns_with(const struct gp_bands *bands,
			   const struct gp_lifetime *lifetime)
{
	size_t count = 0;

	for (size_t c = 0; c < bands->column_count; c++)
		count += gp_life_is_at(lifetime, bands->columns[c].moment);
	return count;
}

static void check_column(const struct gp_bands *bands, size_t c,
			 const struct gp_lifetimes *lifetimes)
{
	const struct gp_band_column *column = &bands->columns[c];
	uint64_t end = c + 1 < bands->column_count ? column[1].from : bands->to;
	uint64_t reserved = 0, sum = column->rest, there = column->rest_blocks;
	uint64_t blocks = 0;

	ck_assert_uint_lt(column->from, end);
	ck_assert_uint_le(column->from, column->moment);
	ck_assert_uint_lt(column->moment, end);
	for (uint64_t m = column->from; m < end; m++) {
		ck_assert_uint_le(lifetimes->allocated[m], column->allocated);
		/* It is the first moment with that much. */
		ck_assert(m >= column->moment ||
			  lifetimes->allocated[m] < column->allocated);
		if (lifetimes->reserved[m] > reserved)
			reserved = lifetimes->reserved[m];
	}
	ck_assert_uint_eq(column->reserved, reserved);
	for (size_t i = 0; i < bands->count; i++) {
		bool is_in =
			c >= bands->list[i].first && c <= bands->list[i].last;
		const struct gp_lifetime *lifetime =
			&lifetimes->list[bands->list[i].lifetime];

		ck_assert_int_eq(is_in,
				 gp_life_is_at(lifetime, column->moment));
		sum += is_in ? lifetime->size : 0;
		there += is_in;
	}
	ck_assert_uint_eq(sum, lifetimes->allocated[column->moment]);
	for (size_t i = 0; i < lifetimes->count; i++)
		blocks += gp_life_is_at(&lifetimes->list[i], column->moment);
	ck_assert_uint_eq(there, blocks);
}

static bool has_band(const struct gp_bands *bands, size_t lifetime)
{
	for (size_t i = 0; i < bands->count; i++)
		if (bands->list[i].lifetime == lifetime)
			return true;
	return false;
}

/* No block without a band has a larger area than one with a band. */
static void check_choice(const struct gp_bands *bands,
			 const struct gp_lifetimes *lifetimes, size_t most)
{
	uint64_t least = UINT64_MAX, largest = 0, seen = 0;

	for (size_t i = 0; i < lifetimes->count; i++) {
		const struct gp_lifetime *lifetime = &lifetimes->list[i];
		uint64_t area = lifetime->size * columns_with(bands, lifetime);

		seen += columns_with(bands, lifetime) > 0;
		if (has_band(bands, i) && area < least)
			least = area;
		if (!has_band(bands, i) && area > largest)
			largest = area;
	}
	ck_assert_uint_ge(least, largest);
	ck_assert_uint_eq(bands->blocks, seen);
	ck_assert_uint_eq(bands->count, seen < most ? seen : most);
	for (size_t i = 1; i < bands->count; i++)
		ck_assert_uint_lt(bands->list[i - 1].lifetime,
				  bands->list[i].lifetime);
}

/* The band at a byte of a column of stacked bands; GP_NO_ID: the byte belongs
 * to the rest, or is above all bands. */
static uint32_t hit_at(const struct gp_bands *bands,
		       const struct gp_lifetimes *lifetimes, size_t column,
		       uint64_t byte)
{
	uint64_t at = 0;

	for (size_t i = 0; i < bands->count; i++) {
		const struct gp_band *band = &bands->list[i];
		uint64_t size = lifetimes->list[band->lifetime].size;

		if (column < band->first || column > band->last)
			continue;
		if (byte - at < size)
			return band->lifetime;
		at += size;
	}
	return GP_NO_ID;
}

/* If each block has a band, the one at a byte is the one found by adding sizes
 * in the order of allocs. */
static void check_hits(const struct gp_bands *bands,
		       const struct gp_lifetimes *lifetimes, uint64_t *seed)
{
	for (int i = 0; i < 20; i++) {
		size_t c = next_random(seed) % bands->column_count;
		const struct gp_band_column *column = &bands->columns[c];
		uint64_t byte = next_random(seed) % (column->allocated + 5);
		uint64_t bottom = UINT64_MAX;
		uint32_t hit = hit_at(bands, lifetimes, c, byte);
		const struct gp_lifetime *lifetime = gp_lifetimes_stacked(
			lifetimes, column->moment, byte, &bottom);

		ck_assert_int_eq(lifetime != NULL, byte < column->allocated);
		if (!lifetime)
			continue;
		ck_assert_uint_le(bottom, byte);
		ck_assert_uint_lt(byte - bottom, lifetime->size);
		ck_assert(gp_life_is_at(lifetime, column->moment));
		if (!column->rest)
			ck_assert_ptr_eq(lifetime, &lifetimes->list[hit]);
	}
}

static void check_windows(const struct gp_lifetimes *lifetimes, uint64_t seed)
{
	for (int i = 0; i < 12; i++) {
		struct gp_bands_window window = {
			.from = next_random(&seed) % (lifetimes->moments + 2),
			.to = next_random(&seed) % (lifetimes->moments + 2),
			.columns = next_random(&seed) % 90,
			.most = i % 3 ? next_random(&seed) % 40 : 20000,
		};
		struct gp_bands bands;

		if (!i)
			window = (struct gp_bands_window){ .columns = 33,
							   .most = 20000 };
		gp_bands_init(&bands, lifetimes, &window);
		for (size_t c = 0; c < bands.column_count; c++)
			check_column(&bands, c, lifetimes);
		check_choice(&bands, lifetimes, window.most);
		check_hits(&bands, lifetimes, &seed);
		gp_bands_release(&bands);
	}
}

START_TEST(random_traces_are_what_they_are_block_by_block)
{
	for (uint64_t seed = 1; seed <= 24; seed++) {
		struct gp_trace *trace =
			random_trace(seed, (uint32_t)(seed * seed));
		struct watched w = watch(
			trace, 0, seed % 2 ? "" : "expandable_segments:True",
			seed % 3 ? GP_UNLIMITED : UINT64_C(100) << 20);

		check_windows(&w.lifetimes, seed);
		watched_release(&w);
		gp_trace_destroy(trace);
	}
}
END_TEST

static void check_trace(const char *path)
{
	struct gp_trace *trace = trace_at(path);

	for (uint32_t d = 0; trace && d < trace->device_count; d++) {
		struct watched w = watch(trace, d, "", GP_UNLIMITED);

		if (w.lifetimes.count < 4000)
			check_windows(&w.lifetimes, d + 1);
		watched_release(&w);
	}
	gp_trace_destroy(trace);
}

static size_t check_traces(const char *pattern)
{
	glob_t files;
	size_t count = 0;

	if (!glob(pattern, 0, NULL, &files)) {
		count = files.gl_pathc;
		for (size_t i = 0; i < count; i++)
			check_trace(files.gl_pathv[i]);
		globfree(&files);
	}
	return count;
}

START_TEST(bundled_traces_are_what_they_are_block_by_block)
{
	ck_assert_uint_gt(check_traces("traces/tiny/*.json"), 20);
	check_traces("traces/recorded/*.*");
}
END_TEST

START_TEST(snapshots_are_what_they_are_block_by_block)
{
	if (!check_traces("../shared/snapshots/*.pickle"))
		skip_test("lifetimes-of-snapshots", "../shared is not there");
}
END_TEST

static const char two_blocks[] =
	ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1024},"
		   "{\"op\": \"alloc\", \"id\": 2, \"size\": 512},"
		   "{\"op\": \"free\", \"id\": 1}");

START_TEST(a_column_a_moment_shows_each_of_them)
{
	struct gp_trace *trace = trace_of(two_blocks);
	struct watched w = watch(trace, 0, "", GP_UNLIMITED);
	const struct gp_bands_window window = { .columns = 99, .most = 1 };
	struct gp_bands bands;

	gp_bands_init(&bands, &w.lifetimes, &window);
	ck_assert_uint_eq(bands.column_count, 3);
	ck_assert_uint_eq(bands.columns[1].allocated, 1536);
	ck_assert_uint_eq(bands.columns[2].allocated, 512);
	ck_assert_uint_eq(bands.count, 1);
	ck_assert_uint_eq(bands.list[0].last, 1);
	ck_assert_uint_eq(bands.columns[1].rest, 512);
	ck_assert_uint_eq(bands.columns[1].rest_blocks, 1);
	ck_assert_uint_eq(hit_at(&bands, &w.lifetimes, 1, 1023), 0);
	ck_assert_uint_eq(hit_at(&bands, &w.lifetimes, 1, 1024), GP_NO_ID);
	gp_bands_release(&bands);
	watched_release(&w);
	gp_trace_destroy(trace);
}
END_TEST

/* The first block has the largest product of bytes and events. */
START_TEST(who_holds_most_ranks_first)
{
	struct gp_trace *trace = trace_of(two_blocks);
	struct watched w = watch(trace, 0, "", GP_UNLIMITED);
	struct asker list[] = { { .culprit = 1 }, { .culprit = 0 } };
	const struct askers askers = { .list = list,
				       .count = COUNT_OF(list),
				       .culprit_count = 2 };
	uint32_t *ranks = gp_bands_ranks(&w.lifetimes, &askers);

	ck_assert_uint_eq(ranks[1], 0);
	ck_assert_uint_eq(ranks[0], 1);
	free(ranks);
	watched_release(&w);
	gp_trace_destroy(trace);
}
END_TEST

/* Freed at event 2 while in use on another stream, so it is pending free; the
 * next request completes the free. */
START_TEST(a_block_is_gone_when_its_free_completes)
{
	struct gp_trace *trace = trace_of(
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 512},"
			   "{\"op\": \"record_stream\", \"id\": 1,"
			   " \"stream\": 16},"
			   "{\"op\": \"free\", \"id\": 1},"
			   "{\"op\": \"synchronize\", \"stream\": 16},"
			   "{\"op\": \"alloc\", \"id\": 2, \"size\": 512}"));
	struct watched w = watch(trace, 0, "", GP_UNLIMITED);

	ck_assert_uint_eq(w.lifetimes.list[0].freed, 2);
	ck_assert_uint_eq(w.lifetimes.list[0].gone, 4);
	watched_release(&w);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(nothing_at_all_is_one_empty_column)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(""));
	struct watched w = watch(trace, 0, "", GP_UNLIMITED);
	const struct gp_bands_window window = { .from = 7, .columns = 99 };
	struct gp_bands bands;

	gp_bands_init(&bands, &w.lifetimes, &window);
	ck_assert_uint_eq(bands.column_count, 1);
	ck_assert_uint_eq(bands.columns[0].allocated, 0);
	ck_assert_uint_eq(bands.count, 0);
	gp_bands_release(&bands);
	watched_release(&w);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ random_traces_are_what_they_are_block_by_block, 0 },
		{ bundled_traces_are_what_they_are_block_by_block, 0 },
		{ snapshots_are_what_they_are_block_by_block, 0 },
		{ a_column_a_moment_shows_each_of_them, 0 },
		{ who_holds_most_ranks_first, 0 },
		{ a_block_is_gone_when_its_free_completes, 0 },
		{ nothing_at_all_is_one_empty_column, 0 },
	};

	return suite_run("lifetimes", tests, COUNT_OF(tests));
}
