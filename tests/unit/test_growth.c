/* SPDX-License-Identifier: MIT */
/*
 * A replay takes time in proportion to its events, however many streams and
 * pools there are, and on however many of them a single block was used; and so
 * do reports that name the sites of requests, however deep a stack is. For
 * eight times the events, work in proportion is far from 64 times as much; the
 * ratio of the processor times of two runs is measured.
 */
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include <time.h>

#include "played.h"
#include "report/exchange/exchange.h"
#include "study/metrics/change.h"
#include "study/what_if/what_if.h"
#include "suite.h"
#include "trace_text.h"

#define SMALL	1500
#define TIMES	8
#define AT_MOST 26.0 /* linear is 8, quadratic 64 */
#define TRIES	50

/* Writes the events of a trace of about n events. */
typedef void author(FILE *out, unsigned n);

static void alloc(FILE *out, unsigned id, unsigned stream, unsigned pool)
{
	fprintf(out,
		"{\"op\":\"alloc\",\"id\":%u,\"size\":512,\"stream\":%u,"
		"\"pool\":[0,%u]}\n",
		id, stream, pool);
}

static void about_block(FILE *out, const char *op, unsigned id)
{
	fprintf(out, "{\"op\":\"%s\",\"id\":%u}\n", op, id);
}

static void about_pool(FILE *out, const char *op, unsigned pool)
{
	fprintf(out, "{\"op\":\"%s\",\"pool\":[0,%u]}\n", op, pool);
}

static void use(FILE *out, unsigned id, unsigned stream)
{
	fprintf(out, "{\"op\":\"record_stream\",\"id\":%u,\"stream\":%u}\n", id,
		stream);
}

static void frees(FILE *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		about_block(out, "free", i);
}

static void streams(FILE *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		alloc(out, i, i, 0);
	frees(out, n);
}

static void streams_emptied(FILE *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		alloc(out, i, i, 0);
		about_block(out, "free", i);
		fprintf(out, "{\"op\":\"empty_cache\"}\n");
	}
}

/* Each checks whether any free block could be released. */
static void out_of_memory(FILE *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		alloc(out, i, i, 0);
	fprintf(out, "{\"op\":\"other_memory\",\"bytes\":%llu}\n", 1ULL << 47);
	for (unsigned i = 0; i < n; i++)
		alloc(out, n + i, n, 0);
}

static void pools(FILE *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		about_pool(out, "pool_create", i + 1);
		about_pool(out, "pool_begin", i + 1);
		alloc(out, i, i, 0);
		about_pool(out, "pool_end", i + 1);
	}
	frees(out, n);
}

static void captures(FILE *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		fprintf(out,
			"{\"op\":\"capture_begin\",\"pool\":[0,%u],"
			"\"stream\":%u}\n",
			i + 1, i + 1);
		alloc(out, i, i + 1, 0);
		about_pool(out, "capture_end", i + 1);
	}
	frees(out, n);
}

static void streams_on_a_block(FILE *out, unsigned n)
{
	alloc(out, 0, 0, 0);
	for (unsigned i = 0; i < n; i++)
		use(out, 0, i + 1);
	about_block(out, "free", 0);
	for (unsigned i = 0; i < n; i++)
		alloc(out, i + 1, 0, 0);
}

/* Pending frees are waited for one by one, the last one first. */
static void waiting(FILE *out, unsigned n, bool has_streams)
{
	for (unsigned i = 0; i < n; i++) {
		alloc(out, i, 0, 0);
		if (has_streams)
			use(out, i, i + 1);
		else
			about_block(out, "record_stream", i);
	}
	frees(out, n);
	for (unsigned i = 0; i < n; i++) {
		about_block(out, "synchronize", n - 1 - i);
		alloc(out, n + i, 0, 0);
	}
}

static void waiting_for_streams(FILE *out, unsigned n)
{
	waiting(out, n, true);
}

static void waiting_for_unnamed(FILE *out, unsigned n)
{
	waiting(out, n, false);
}

/* One stack, whose frames request memory each. */
static void deep_stack(FILE *out, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "%s\"f%u\"", i ? "," : "{\"sites\":[", i);
	for (unsigned i = 0; i < n; i++)
		fprintf(out, "%s%d", i ? "," : "],\"callers\":[", (int)i - 1);
	fprintf(out, "]}\n");
	for (unsigned i = 0; i < n; i++)
		fprintf(out,
			"{\"op\":\"alloc\",\"id\":%u,\"size\":512,"
			"\"site\":%u}\n",
			i, i);
}

static void replay(struct gp_trace *trace)
{
	struct gp_replay_result result = replayed(trace);

	gp_replay_release(&result);
}

static void share_out(struct gp_trace *trace)
{
	struct gp_replay_result result = replayed(trace);
	struct gp_share *shares;

	gp_share_out(trace, 0, &result, GP_SHARE_BY_SITE, &shares);
	free(shares);
	gp_replay_release(&result);
}

static void find_by_name(struct gp_trace *trace)
{
	struct gp_settings settings;
	struct gp_what_if list[] = { { NULL, "f7" } };
	struct gp_what_if_config config = {
		.trace = trace,
		.asked = list,
		.count = 1,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.conf = "",
		.capacity = &(uint64_t){ GP_UNLIMITED },
	};
	struct gp_what_ifs made;
	struct gp_diag diag;
	size_t rows;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	list->row = gp_what_if_table(&rows);
	while (strcmp(list->row->name, "without-site") != 0)
		list->row++;
	ck_assert_int_eq(gp_what_ifs_make(&config, &made, &diag), GP_OK);
	gp_what_ifs_release(&made);
}

static void write_run(struct gp_trace *trace, enum gp_exchange_format format)
{
	FILE *out = fopen("/dev/null", "w");
	struct gp_settings settings;
	struct gp_replay_config config = run_of(trace, &settings);
	const struct gp_exchange_config to = {
		.format = format,
		.trace = trace,
		.settings = &settings,
		.conf = "",
		.name = "run",
		.out = out,
	};
	struct gp_replay_result result;
	struct gp_exchange *exchange;
	struct gp_diag diag;

	ck_assert_int_eq(gp_exchange_begin(&to, &exchange, &diag), GP_OK);
	gp_exchange_listen(exchange, &config);
	result = played(&config);
	gp_exchange_add(exchange, &result);
	gp_exchange_end(exchange);
	gp_replay_release(&result);
	fclose(out);
}

static void write_csv(struct gp_trace *trace)
{
	write_run(trace, GP_EXCHANGE_CSV);
}

static void write_perfetto(struct gp_trace *trace)
{
	write_run(trace, GP_EXCHANGE_PERFETTO);
}

static const struct {
	const char *name;
	author *write;
	void (*work)(struct gp_trace *trace);
} rows[] = {
	{ "streams", streams, replay },
	{ "streams, emptied", streams_emptied, replay },
	{ "out of memory", out_of_memory, replay },
	{ "pools", pools, replay },
	{ "captures", captures, replay },
	{ "streams on a block", streams_on_a_block, replay },
	{ "blocks that wait for streams", waiting_for_streams, replay },
	{ "blocks that wait for unnamed streams", waiting_for_unnamed, replay },
	{ "shares of a deep stack", deep_stack, share_out },
	{ "names in a deep stack", deep_stack, find_by_name },
	{ "a deep stack as CSV", deep_stack, write_csv },
	{ "a deep stack for Perfetto", deep_stack, write_perfetto },
};

static struct gp_trace *make(author *write, unsigned n)
{
	struct gp_trace *trace;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	fprintf(out, "{\"format\":\"gpupool-trace\",\"version\":1,"
		     "\"devices\":[{\"device\":0}]}\n");
	write(out, n);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

/* Processor time, in ticks. */
static clock_t cost(struct gp_trace *trace,
		    void (*work)(struct gp_trace *trace))
{
	clock_t start = clock();

	work(trace);
	return clock() - start;
}

static bool is_linear(clock_t small, clock_t large)
{
	return (double)large <= AT_MOST * (double)(small + 200);
}

/* The ratio of the shortest times: other programs can only add to a time, so a
 * single undisturbed round is enough, and a busy machine has many rounds to get
 * one. */
START_TEST(test_time_is_linear)
{
	void (*work)(struct gp_trace * trace) = rows[_i].work;
	struct gp_trace *few = make(rows[_i].write, SMALL);
	struct gp_trace *many = make(rows[_i].write, SMALL * TIMES);
	clock_t small = cost(few, work), large = cost(many, work);

	for (int i = 0; i < TRIES && !is_linear(small, large); i++) {
		clock_t again = cost(few, work);

		small = again < small ? again : small;
		again = cost(many, work);
		large = again < large ? again : large;
	}
	ck_assert_msg(is_linear(small, large),
		      "%s: %d times the events, %.1f times the time",
		      rows[_i].name, TIMES, (double)large / (double)small);
	gp_trace_destroy(few);
	gp_trace_destroy(many);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("growth");

	/* The kernel's work for pages that are mapped and unmapped does not
	 * count, and only the longer runs would have any. */
	mallopt(M_MMAP_THRESHOLD, INT_MAX);
	mallopt(M_TRIM_THRESHOLD, INT_MAX);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_time_is_linear, 0, (int)COUNT_OF(rows));
	return suite_play("growth", tcase);
}
