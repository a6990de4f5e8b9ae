/* SPDX-License-Identifier: MIT */
/* Scenarios: what a seed decides, how they replay, and what they refuse. */
#include "trace/scenario/scenario.h"

#include <stdio.h>
#include <stdlib.h>

#include "played.h"
#include "suite.h"
#include "trace_text.h"

/* from: for scenarios that are made from a trace. */
static struct gp_trace *make_from(const struct gp_scenario *scenario,
				  uint64_t seed, const struct gp_trace *from)
{
	uint64_t values[GP_PARAMETERS];
	struct gp_budget budget;
	struct gp_diag diag = { 0 };
	struct gp_trace *trace = NULL;
	struct gp_scenario_config config = { .scenario = scenario,
					     .values = values,
					     .seed = seed,
					     .from = from };

	ck_assert_uint_le(scenario->parameter_count, GP_PARAMETERS);
	for (size_t i = 0; i < scenario->parameter_count; i++)
		values[i] = scenario->parameters[i].fallback;
	ck_assert_int_eq(gp_scenario_make(&config, &trace, &budget, &diag),
			 GP_OK);
	return trace;
}

static struct gp_trace *make(const struct gp_scenario *scenario, uint64_t seed)
{
	struct gp_trace *trace, *from = NULL;

	if (scenario->needs_trace)
		from = make_from(gp_scenario_find("ragged"), 3, NULL);
	trace = make_from(scenario, seed, from);
	gp_trace_destroy(from);
	return trace;
}

START_TEST(test_a_seed_decides_the_trace)
{
	size_t count;
	const struct gp_scenario *const *table = gp_scenario_table(&count);

	for (size_t i = 0; i < count; i++) {
		struct gp_trace *a = make(table[i], 7), *b = make(table[i], 7);

		ck_assert_msg(gp_trace_equal(a, b), "%s", table[i]->name);
		gp_trace_destroy(a);
		gp_trace_destroy(b);
	}
}
END_TEST

START_TEST(test_another_seed_makes_other_batches)
{
	const struct gp_scenario *ragged = gp_scenario_find("ragged");
	struct gp_trace *a = make(ragged, 1), *b = make(ragged, 2);

	ck_assert(!gp_trace_equal(a, b));
	gp_trace_destroy(a);
	gp_trace_destroy(b);
}
END_TEST

/* With enough memory, every request is served. */
static void check_replay(const struct gp_trace *trace)
{
	struct gp_replay_result result = replayed(trace);

	ck_assert_uint_eq(result.dropped, 0);
	ck_assert_uint_gt(result.allocs, 0);
	gp_replay_release(&result);
}

START_TEST(test_nothing_is_refused)
{
	size_t count;
	const struct gp_scenario *const *table = gp_scenario_table(&count);

	for (size_t i = 0; i < count; i++) {
		struct gp_trace *trace = make(table[i], 1);

		check_replay(trace);
		gp_trace_destroy(trace);
	}
}
END_TEST

static uint64_t count_of(const struct gp_trace *trace, enum gp_event_kind kind)
{
	uint64_t count = 0;

	for (size_t i = 0; i < trace->devices[0].event_count; i++)
		count += trace->devices[0].events[i].kind == kind;
	return count;
}

START_TEST(test_a_histogram_keeps_what_it_counts)
{
	struct gp_trace *from = make(gp_scenario_find("ragged"), 3),
			*trace = make(gp_scenario_find("histogram"), 1);

	ck_assert_uint_eq(count_of(trace, GP_ALLOC), count_of(from, GP_ALLOC));
	ck_assert_uint_eq(count_of(trace, GP_FREE), count_of(from, GP_FREE));
	ck_assert_uint_gt(count_of(trace, GP_FREE), 0);
	gp_trace_destroy(from);
	gp_trace_destroy(trace);
}
END_TEST

/* Blocks with no bytes, or with more bytes than can be counted, have no
 * classes. */
START_TEST(test_a_histogram_leaves_out_the_largest)
{
	struct gp_trace *from = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 0},"
		"{\"op\": \"alloc\", \"id\": 2, \"size\": 17592186044416},"
		"{\"op\": \"alloc\", \"id\": 3, \"size\": 17592186044417},"
		"{\"op\": \"free\", \"id\": 3}"));
	struct gp_trace *trace =
		make_from(gp_scenario_find("histogram"), 1, from);

	ck_assert_uint_eq(count_of(trace, GP_ALLOC), 1);
	gp_trace_destroy(from);
	gp_trace_destroy(trace);
}
END_TEST

#define LIVED 512

static int life_of(int block)
{
	return 1 << block % 8 >> 1;
}

/* Each block outlives 0, 1, 2, 4, 8, 16, 32 or 64 later ones, and has that many
 * bytes above 512; one more block has no bytes. */
static struct gp_trace *of_eight_lifetimes(void)
{
	char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	struct gp_trace *trace;

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
	      "[{\"device\": 0, \"events\": ["
	      "{\"op\": \"alloc\", \"id\": 9999, \"size\": 0}",
	      out);
	for (int i = 0; i < LIVED; i++) {
		fprintf(out, ",{\"op\": \"alloc\", \"id\": %d, \"size\": %d}",
			i, 512 + life_of(i));
		for (int k = 0; k <= i; k++)
			if (k + life_of(k) == i)
				fprintf(out, ",{\"op\": \"free\", \"id\": %d}",
					k);
	}
	fputs("]}]}", out);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

START_TEST(test_a_histogram_keeps_lifetimes)
{
	struct gp_trace *from = of_eight_lifetimes();
	struct gp_trace *trace =
		make_from(gp_scenario_find("histogram"), 1, from);
	const struct gp_device_trace *d = &trace->devices[0];
	struct {
		uint64_t born, life;
		bool is_freed;
	} *blocks = calloc(d->block_ids, sizeof(*blocks));
	uint64_t time = 0;

	ck_assert_uint_eq(count_of(trace, GP_ALLOC), LIVED);
	for (size_t i = 0; time < LIVED; i++) {
		const struct gp_event *event = &d->events[i];

		if (event->kind == GP_ALLOC) {
			blocks[event->id].born = ++time;
			blocks[event->id].life = event->size - 512;
		} else {
			ck_assert_uint_eq(time - blocks[event->id].born,
					  blocks[event->id].life);
			blocks[event->id].is_freed = true;
		}
	}
	/* Those that live longest come first. */
	for (uint64_t id = LIVED - count_of(from, GP_FREE); id < LIVED; id++)
		ck_assert_int_eq(blocks[id].is_freed,
				 blocks[id].born + blocks[id].life < LIVED);
	free(blocks);
	gp_trace_destroy(from);
	gp_trace_destroy(trace);
}
END_TEST

static const char *const words[] = { "no", "yes" };
static const struct gp_parameter count_row = {
	"steps", GP_PARAMETER_COUNT, 1, 1, 10, NULL, ""
};
static const struct gp_parameter bytes_row = {
	"size", GP_PARAMETER_BYTES, 1, 1, 1 << 20, NULL, ""
};
static const struct gp_parameter word_row = {
	"kept", GP_PARAMETER_WORD, 0, 0, 1, words, ""
};

START_TEST(test_values_keep_to_their_range)
{
	static const struct {
		const struct gp_parameter *parameter;
		const char *text;
		enum gp_status status;
		uint64_t value;
	} rows[] = {
		{ &count_row, "10", GP_OK, 10 },
		{ &count_row, "11", GP_USAGE, 0 },
		{ &count_row, "0", GP_USAGE, 0 },
		{ &count_row, "-1", GP_USAGE, 0 },
		{ &count_row, "", GP_USAGE, 0 },
		{ &count_row, "3 ", GP_USAGE, 0 },
		{ &count_row, "99999999999999999999999", GP_USAGE, 0 },
		{ &bytes_row, "4KiB", GP_OK, 4096 },
		{ &bytes_row, "2MiB", GP_USAGE, 0 },
		{ &word_row, "yes", GP_OK, 1 },
		{ &word_row, "maybe", GP_USAGE, 0 },
	};
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };
		uint64_t value;

		ck_assert_int_eq(gp_parameter_parse(rows[i].parameter,
						    rows[i].text, &value,
						    &diag),
				 rows[i].status);
		if (rows[i].status == GP_OK)
			ck_assert_uint_eq(value, rows[i].value);
		else
			ck_assert_str_ne(diag.hint, "");
	}
	for (uint64_t n = 0; n <= 200; n++) {
		const struct gp_parameter row = {
			"n", GP_PARAMETER_COUNT, 1, 7, 190, NULL, ""
		};
		struct gp_diag diag = { 0 };
		uint64_t value = 0;
		char text[24];

		snprintf(text, sizeof(text), "%d", (int)n);
		ck_assert_int_eq(gp_parameter_parse(&row, text, &value, &diag),
				 n >= 7 && n <= 190 ? GP_OK : GP_USAGE);
		ck_assert_uint_eq(value, n);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_seed_decides_the_trace, 0 },
		{ test_another_seed_makes_other_batches, 0 },
		{ test_nothing_is_refused, 0 },
		{ test_a_histogram_keeps_what_it_counts, 0 },
		{ test_a_histogram_leaves_out_the_largest, 0 },
		{ test_a_histogram_keeps_lifetimes, 0 },
		{ test_values_keep_to_their_range, 0 },
	};

	return suite_run("scenario", tests, COUNT_OF(tests));
}
