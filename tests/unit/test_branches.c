/* SPDX-License-Identifier: MIT */
/* Branches, compared with a replay at each capacity. */
#include "study/branches.h"

#include <inttypes.h>

#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "study/runs.h"
#include "suite.h"
#include "trace/slice.h"
#include "trace_text.h"

#define MIB	(UINT64_C(1) << 20)
#define GRAIN	GP_DEVICE_GRAIN
#define TRACES	10
#define EVENTS	700
#define LIVE	40
#define STEP	50
/* blocks that stay */
#define STAYING 5

static const char *const confs[] = {
	"",
	"max_split_size_mb:32",
	"roundup_power2_divisions:4",
	"large_segment_size_mb:12",
	"expandable_segments:True",
	"expandable_segments:True,max_split_size_mb:64",
	"expandable_segments:True,large_segment_size_mb:40",
};

static const uint8_t releases[] = { 0, 11, 12, 13, GP_RELEASE_LAST };

/* ---- generated programs: some on one stream, some with several and with pools
 * ---- */

struct program {
	FILE *out;
	uint64_t seed;
	uint32_t live[LIVE];
	size_t count;
	uint32_t ids;
	bool is_plain, is_in_pool;
};

static uint64_t draw(struct program *p, uint64_t below)
{
	return next_random(&p->seed) % below;
}

static void put_alloc(struct program *p)
{
	static const uint64_t most[] = { 3 * MIB / 2, 8 * MIB, 30 * MIB,
					 50 * MIB };
	uint64_t size = 1 + draw(p, most[draw(p, COUNT_OF(most))]);

	fprintf(p->out,
		"{\"op\":\"alloc\",\"id\":%u,\"size\":%" PRIu64
		",\"stream\":%d}\n",
		p->ids, size, p->is_plain || draw(p, 5) ? 0 : 9);
	p->live[p->count++] = p->ids++;
	if (draw(p, 6))
		return;
	fprintf(p->out, "{\"op\":\"free\",\"id\":%u}\n", p->live[--p->count]);
}

static void put_free(struct program *p)
{
	size_t at = draw(p, p->count);

	if (!p->is_plain && !draw(p, 4))
		fprintf(p->out,
			"{\"op\":\"record_stream\",\"id\":%u,\"stream\":%d}\n",
			p->live[at], draw(p, 2) ? 9 : 17);
	fprintf(p->out, "{\"op\":\"free\",\"id\":%u}\n", p->live[at]);
	p->live[at] = p->live[--p->count];
}

static void put_other(struct program *p)
{
	switch (draw(p, p->is_plain ? 2 : 5)) {
	case 0: fputs("{\"op\":\"empty_cache\"}\n", p->out); break;
	case 1: fputs("{\"op\":\"reset_accumulated_stats\"}\n", p->out); break;
	case 2:
		fprintf(p->out, "{\"op\":\"pool_%s\",\"pool\":[0,1]}\n",
			p->is_in_pool ? "end" : "begin");
		p->is_in_pool = !p->is_in_pool;
		break;
	default:
		fprintf(p->out, "{\"op\":\"synchronize\",\"stream\":%d}\n",
			draw(p, 2) ? 9 : 17);
		break;
	}
}

static struct gp_trace *made_up(uint64_t seed)
{
	struct program p = { .seed = seed, .is_plain = seed % 2 };
	struct gp_trace *trace;
	size_t length;
	char *text;

	p.out = open_memstream(&text, &length);
	fputs("{\"format\":\"gpupool-trace\",\"version\":1,"
	      "\"devices\":[{\"device\":0}]}\n",
	      p.out);
	for (int i = 0; i < EVENTS; i++) {
		if (!draw(&p, 60))
			put_other(&p);
		else if (p.count && (p.count == LIVE || !draw(&p, 3)))
			put_free(&p);
		else
			put_alloc(&p);
		/* Frees most blocks at the end of a step. */
		while (i % STEP == 0 && p.count > STAYING)
			put_free(&p);
	}
	ck_assert_int_eq(fclose(p.out), 0);
	trace = trace_of(text);
	free(text);
	return trace;
}

static void keep_state(void *arg, struct gp_allocator *allocator,
		       uint64_t event)
{
	struct gp_slice *slice = arg;

	if (event + 1 == slice->from)
		allocator->ops->state(allocator, &slice->start);
}

/* The second half of a trace; its start state is the memory in use at that
 * point. */
static struct gp_trace *window_of(const struct gp_trace *trace)
{
	uint64_t count = trace->devices->event_count;
	struct gp_slice slice = {
		.from = gp_slice_place(trace->devices, count / 2),
		.to = count,
	};
	const struct gp_replay_config config = {
		.trace = trace,
		.mode = GP_WHAT_IF,
		.capacity = GP_UNLIMITED,
		.look = keep_state,
		.look_arg = &slice,
	};
	struct gp_replay_result result;
	struct gp_trace *window;
	struct gp_diag diag;

	ck_assert_int_eq(gp_replay(&config, &result, &diag), GP_OK);
	gp_replay_release(&result);
	window = gp_trace_slice(trace, &slice);
	gp_state_release(&slice.start);
	ck_assert(gp_trace_has_start(window));
	return window;
}

/* ---- comparison with replays ---- */

static void check_reach(const struct gp_device_reach *a,
			const struct gp_device_reach *b)
{
	ck_assert_uint_eq(a->most_granted, b->most_granted);
	ck_assert_uint_eq(a->least_refused, b->least_refused);
	ck_assert_uint_eq(a->longest_range, b->longest_range);
	ck_assert_uint_eq(a->shortest_range, b->shortest_range);
}

static void check_alike(const struct gp_alike *a, const struct gp_alike *b)
{
	ck_assert_uint_eq(a->max_split_least, b->max_split_least);
	ck_assert_uint_eq(a->max_split_most, b->max_split_most);
	ck_assert_uint_eq(a->non_split_least, b->non_split_least);
	ck_assert_uint_eq(a->non_split_most, b->non_split_most);
	ck_assert_uint_eq(a->large_least, b->large_least);
	ck_assert_uint_eq(a->large_most, b->large_most);
	ck_assert(a->gc_least == b->gc_least && a->gc_most == b->gc_most);
	ck_assert_int_eq(a->gc_off, b->gc_off);
}

static void check_facts(const struct branch_facts *facts,
			const struct gp_replay_result *result)
{
	ck_assert_int_eq(facts->is_out, result->first_oom.is_there);
	ck_assert_uint_eq(facts->event, result->first_oom.event);
	check_reach(&facts->reach, &result->reach);
	check_alike(&facts->alike, &result->alike);
	ck_assert_uint_eq(facts->retries, (uint64_t)result->counts.retries);
	ck_assert_uint_eq(facts->synchronizes,
			  (uint64_t)result->counts.synchronizes);
	ck_assert_uint_eq(facts->refused, result->refused);
	ck_assert_uint_eq(facts->reserved, result->at_peak.reserved);
	ck_assert_uint_eq(facts->allocated, gp_replay_peak_allocated(result));
	ck_assert_mem_eq(&facts->calls, &result->calls, sizeof(facts->calls));
}

static struct gp_replay_result replay_at(const struct branches_config *config,
					 uint64_t capacity)
{
	const struct gp_replay_config replay = {
		.trace = config->trace,
		.settings = config->settings,
		.engine = config->engine,
		.conf = config->conf,
		.mode = GP_WHAT_IF,
		.on_oom = GP_OOM_STOP,
		.capacity = capacity,
		.keep_alike = true,
	};
	struct gp_replay_result result;
	struct gp_diag diag;

	ck_assert_int_eq(gp_replay(&replay, &result, &diag), GP_OK);
	return result;
}

/* Requests run in branches, and requests that replays of all known capacities
 * would run; known and unknown capacities. */
struct sum {
	uint64_t played, replays, told, missing;
};

static void check_conf(const struct gp_trace *trace, const char *conf,
		       uint8_t release, struct sum *sum)
{
	struct gp_settings settings;
	struct branches_config config = {
		.trace = trace,
		.settings = &settings,
		.engine = gp_engine_find("caching"),
		.conf = conf,
		.from = gp_larger(
			runs_grid_up(gp_state_reserved(&trace->devices->start)),
			60 * MIB),
		.most_events = UINT64_MAX,
		.threads = 2,
	};
	struct branches branches;
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };
	size_t at = 0;

	gp_settings_init(&settings, release);
	if (gp_settings_parse(&settings, conf, &diag) != GP_OK)
		return;
	result = replay_at(&config, GP_UNLIMITED);
	config.to = gp_larger(result.reach.most_granted, config.from) + 8 * MIB;
	gp_replay_release(&result);
	ck_assert(branches_follow(trace, 0));
	ck_assert_int_eq(branches_play(&config, &branches, &diag), GP_OK);
	for (uint64_t c = config.from; c < config.to; c += GRAIN) {
		while (at < branches.count && branches.list[at].to <= c)
			at++;
		if (at == branches.count || branches.list[at].from > c) {
			sum->missing++;
			continue;
		}
		result = replay_at(&config, c);
		check_facts(&branches.list[at].facts, &result);
		sum->replays += result.requests;
		sum->told++;
		gp_replay_release(&result);
	}
	sum->played += branches.played;
	branches_release(&branches);
}

static void check_trace(const struct gp_trace *trace,
			struct sum sums[COUNT_OF(releases)])
{
	for (size_t k = 0; k < COUNT_OF(confs); k++)
		for (size_t r = 0; r < COUNT_OF(releases); r++)
			check_conf(trace, confs[k], releases[r], &sums[r]);
}

START_TEST(what_is_told_of_a_capacity_is_what_a_replay_tells)
{
	struct gp_trace *trace = made_up((uint64_t)_i);
	struct sum sums[COUNT_OF(releases)] = { { 0 } };

	check_trace(trace, sums);
	for (size_t r = 0; r < COUNT_OF(releases); r++) {
		ck_assert_uint_lt(sums[r].played * 4, sums[r].replays);
		ck_assert_uint_lt(sums[r].missing, sums[r].told / 2);
	}
	/* Since release 2.13, branches can merge. */
	if (_i % 2)
		ck_assert_uint_lt(sums[3].played * 4, sums[2].played * 3);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(so_it_is_of_windows)
{
	struct gp_trace *trace = made_up((uint64_t)_i);
	struct gp_trace *window = window_of(trace);
	struct sum sums[COUNT_OF(releases)] = { { 0 } };

	check_trace(window, sums);
	for (size_t r = 0; r < COUNT_OF(releases); r++)
		ck_assert_uint_lt(sums[r].missing, sums[r].told);
	gp_trace_destroy(window);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("branches");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase,
			    what_is_told_of_a_capacity_is_what_a_replay_tells,
			    0, TRACES);
	tcase_add_loop_test(tcase, so_it_is_of_windows, 0, TRACES);
	return suite_play("branches", tcase);
}
