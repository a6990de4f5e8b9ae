/* SPDX-License-Identifier: MIT */
/*
 * Runs of generated programs, written as PyTorch records them and read again:
 * each decision is found to be the same, the size of the device follows from
 * refused requests, and a recording that begins later has the memory that was
 * in use at that time.
 */
#include "replay/recorded.h"

#include <stdlib.h>

#include "gpupool/allocator.h"
#include "played.h"
#include "random_trace.h"
#include "report/exchange/exchange.h"

#define EVENTS 300
#define MOST   4000

struct run {
	const struct gp_trace *trace;
	struct gp_settings settings;
	const char *conf;
	uint64_t capacity;
	bool keeps_cache;
	struct gp_action actions[MOST];
	size_t count;
	struct gp_replay_result result;
};

static void note(void *arg, const struct gp_action *action, uint64_t event)
{
	struct run *run = arg;

	(void)event;
	ck_assert_uint_lt(run->count, MOST);
	run->actions[run->count++] = *action;
}

static void play(struct run *run)
{
	struct gp_settings ignored;
	struct gp_replay_config config = run_of(run->trace, &ignored);

	config.settings = &run->settings;
	config.capacity = run->capacity;
	config.keep_ooms = true;
	config.action = note;
	config.action_arg = run;
	run->result = played(&config);
}

/* ---- the form in which PyTorch writes it ---- */

static const char *const names[GP_EVENT_KINDS] = {
	[GP_ALLOC] = "alloc",
	[GP_FREE] = "free_requested",
	[GP_FREE_COMPLETED] = "free_completed",
	[GP_SEGMENT_ALLOC] = "segment_alloc",
	[GP_SEGMENT_FREE] = "segment_free",
	[GP_SEGMENT_MAP] = "segment_map",
	[GP_SEGMENT_UNMAP] = "segment_unmap",
	[GP_OOM] = "oom",
};

static void write_entry(const struct run *run, const struct gp_action *a,
			FILE *out)
{
	const struct gp_pool_id *pool = &run->trace->pools[a->pool];

	fprintf(out,
		"{\"action\": \"%s\", \"%s\": %" PRIu64 ", \"size\": %" PRIu64
		", \"stream\": %" PRIu64 ", \"time_us\": 5, "
		"\"pool_id\": [%" PRIu64 ", %" PRIu64 "]}",
		names[a->kind], a->kind == GP_OOM ? "device_free" : "addr",
		a->addr, a->size, run->trace->streams[a->stream], pool->first,
		pool->second);
}

static void write_blocks(const struct gp_state *state,
			 const struct gp_segment *s, FILE *out)
{
	static const char *const states[] = {
		[GP_INACTIVE] = "inactive",
		[GP_ACTIVE] = "active_allocated",
		[GP_PENDING_FREE] = "active_pending_free",
	};

	for (uint32_t i = 0; i < s->blocks; i++) {
		const struct gp_block *b = &state->blocks[s->first_block + i];

		fprintf(out,
			"%s{\"address\": %" PRIu64 ", \"size\": %" PRIu64
			", \"requested_size\": %" PRIu64 ", \"state\": \"%s\"}",
			i ? ", " : "", b->addr, b->size, b->requested,
			states[b->state]);
	}
}

static void write_segments(const struct run *run, FILE *out)
{
	const struct gp_state *end = &run->result.end;

	for (size_t i = 0; i < end->segment_count; i++) {
		const struct gp_segment *s = &end->segments[i];
		const struct gp_pool_id *pool = &run->trace->pools[s->pool];

		fprintf(out,
			"%s{\"device\": 0, \"address\": %" PRIu64
			", \"total_size\": %" PRIu64 ", \"stream\": %" PRIu64
			", \"segment_type\": \"%s\", \"segment_pool_id\": "
			"[%" PRIu64 ", %" PRIu64
			"], \"is_expandable\": %s, \"blocks\": [",
			i ? ",\n" : "", s->addr, s->size,
			run->trace->streams[s->stream],
			s->is_small ? "small" : "large", pool->first,
			pool->second, s->is_expandable ? "true" : "false");
		write_blocks(end, s, out);
		fputs("]}", out);
	}
}

/* What is recorded from an action on; earlier actions are missing. */
static struct gp_trace *recorded_from(const struct run *run, size_t from)
{
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	fputs("{\"segments\": [", out);
	write_segments(run, out);
	fputs("], \"device_traces\": [[", out);
	for (size_t i = from; i < run->count; i++) {
		fputs(i > from ? ",\n" : "", out);
		write_entry(run, &run->actions[i], out);
	}
	fputs("]]}", out);
	fclose(out);
	trace = trace_of(text);
	free(text);
	return trace;
}

/* The run as gpupool convert --run writes it. */
static struct gp_trace *converted(const struct run *run)
{
	FILE *out = tmpfile();
	const struct gp_exchange_config to = {
		.format = GP_EXCHANGE_PICKLE,
		.trace = run->trace,
		.settings = &run->settings,
		.conf = run->conf,
		.name = "run",
		.out = out,
	};
	struct gp_settings ignored;
	struct gp_replay_config config = run_of(run->trace, &ignored);
	struct gp_replay_result result;
	struct gp_exchange *exchange;
	struct gp_trace *trace;
	struct gp_diag diag = { 0 };

	config.settings = &run->settings;
	config.capacity = run->capacity;
	ck_assert_int_eq(gp_exchange_begin(&to, &exchange, &diag), GP_OK);
	gp_exchange_listen(exchange, &config);
	result = played(&config);
	gp_exchange_add(exchange, &result);
	gp_exchange_end(exchange);
	gp_replay_release(&result);
	ck_assert_int_eq(try_stream(out, &trace, &diag), GP_OK);
	fclose(out);
	return trace;
}

/* ---- a recording of the whole run ---- */

static void compare_states(const struct gp_trace *a, const struct gp_state *x,
			   const struct gp_trace *b, const struct gp_state *y)
{
	ck_assert_uint_eq(x->segment_count, y->segment_count);
	ck_assert_uint_eq(x->block_count, y->block_count);
	for (size_t i = 0; i < x->segment_count; i++) {
		const struct gp_segment *s = &x->segments[i];
		const struct gp_segment *t = &y->segments[i];

		ck_assert_uint_eq(s->addr, t->addr);
		ck_assert_uint_eq(s->size, t->size);
		ck_assert_uint_eq(s->blocks, t->blocks);
		ck_assert_uint_eq(a->streams[s->stream], b->streams[t->stream]);
		ck_assert_int_eq(s->is_small, t->is_small);
		ck_assert_int_eq(s->is_expandable, t->is_expandable);
	}
	for (size_t i = 0; i < x->block_count; i++) {
		ck_assert_uint_eq(x->blocks[i].addr, y->blocks[i].addr);
		ck_assert_uint_eq(x->blocks[i].size, y->blocks[i].size);
		ck_assert_uint_eq(x->blocks[i].state, y->blocks[i].state);
	}
}

/* The requests are those of the program; an OOM stands for a refused one. */
static void compare_requests(const struct run *run,
			     const struct gp_trace *trace)
{
	const struct gp_device_trace *d = trace->devices;
	size_t at = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct gp_action *a = &run->actions[i];
		const struct gp_event *event;

		if (a->kind != GP_ALLOC && a->kind != GP_FREE)
			continue;
		while (at < d->event_count &&
		       ((d->events[at].kind != GP_ALLOC &&
			 d->events[at].kind != GP_FREE) ||
			d->events[at].flags & GP_INFERRED))
			at++;
		ck_assert_uint_lt(at, d->event_count);
		event = &d->events[at++];
		ck_assert_int_eq(event->kind, a->kind);
		ck_assert_uint_eq(event->addr, a->addr);
		ck_assert_uint_eq(event->size, a->size);
		if (a->kind == GP_ALLOC)
			ck_assert_uint_eq(trace->streams[event->stream],
					  run->trace->streams[a->stream]);
	}
}

enum until { UNTIL_THE_END, UNTIL_A_MISMATCH };

static struct gp_replay_result verified(const struct run *run,
					const struct gp_trace *trace,
					enum until until)
{
	struct gp_settings ignored;
	struct gp_replay_config config = run_of(trace, &ignored);

	config.settings = &run->settings;
	config.capacity = run->capacity;
	config.mode = GP_VERIFY;
	config.until_mismatch = until == UNTIL_A_MISMATCH;
	return played(&config);
}

static size_t count_of(const struct run *run, enum gp_event_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++)
		count += run->actions[i].kind == kind;
	return count;
}

static void compare_whole(const struct run *run, const struct gp_trace *trace)
{
	struct gp_replay_result result = verified(run, trace, UNTIL_THE_END);

	ck_assert(trace->is_complete);
	ck_assert_uint_eq(trace->devices[0].start.segment_count, 0);
	compare_requests(run, trace);
	compare_states(run->trace, &run->result.end, trace,
		       &trace->devices[0].end);
	ck_assert(!result.fidelity.first.is_there);
	ck_assert_uint_eq(result.fidelity.checked, count_of(run, GP_ALLOC));
	ck_assert_uint_eq(result.fidelity.matched, result.fidelity.checked);
	ck_assert_uint_eq(result.fidelity.segments_matched,
			  result.fidelity.segments_checked);
	compare_states(run->trace, &run->result.end, trace, &result.end);
	gp_replay_release(&result);
}

static size_t allocs_before(const struct gp_trace *trace, size_t event)
{
	size_t count = 0;

	for (size_t i = 0; i < event; i++)
		count += trace->devices[0].events[i].kind == GP_ALLOC &&
			 !(trace->devices[0].events[i].flags & GP_REFUSED);
	return count;
}

/* Verification continues after a mismatch, or it stops there. */
static void compare_until(const struct run *run, const struct gp_trace *trace)
{
	size_t end = trace->devices[0].event_count;
	struct gp_replay_result all = verified(run, trace, UNTIL_THE_END);
	struct gp_replay_result some = verified(run, trace, UNTIL_A_MISMATCH);
	const struct gp_mismatch *first = &all.fidelity.first;

	ck_assert_uint_eq(all.fidelity.checked, allocs_before(trace, end));
	ck_assert_int_eq(some.fidelity.first.is_there, first->is_there);
	if (first->is_there) {
		ck_assert_uint_eq(some.fidelity.first.event, first->event);
		ck_assert_uint_le(some.fidelity.matched,
				  allocs_before(trace, first->event));
		ck_assert_uint_le(some.fidelity.checked,
				  allocs_before(trace, first->event) + 1);
	} else {
		ck_assert_uint_eq(some.fidelity.matched, all.fidelity.checked);
	}
	gp_replay_release(&all);
	gp_replay_release(&some);
}

/* An address that the allocator did not choose is reported. */
static void compare_altered(const struct run *run, struct gp_trace *trace,
			    uint64_t *seed)
{
	const struct gp_device_trace *d = trace->devices;
	size_t at = next_random(seed) % d->event_count;
	struct gp_event *event = (struct gp_event *)&d->events[at];
	struct gp_replay_result result;
	const struct gp_mismatch *first;

	if (event->kind != GP_ALLOC || event->flags & GP_REFUSED)
		return;
	event->addr += 512;
	result = verified(run, trace, UNTIL_THE_END);
	first = &result.fidelity.first;
	ck_assert(first->is_there);
	ck_assert_int_eq(first->kind, GP_WRONG_ADDRESS);
	ck_assert_uint_eq(first->event, at);
	ck_assert_uint_eq(first->requested, event->size);
	ck_assert_uint_eq(first->stream, event->stream);
	ck_assert_uint_eq(first->pool, event->pool);
	ck_assert_uint_eq(first->recorded, event->addr);
	ck_assert_uint_eq(first->chosen, event->addr - 512);
	gp_replay_release(&result);
	compare_until(run, trace);
	event->addr -= 512;
}

/* Refused requests show the size of the device, unless the program itself
 * released memory, which is not recorded. */
static void compare_capacity(const struct run *run,
			     const struct gp_trace *trace)
{
	struct gp_refused_room room;
	bool is_told = gp_replay_refused_room(trace, 0, &run->settings, &room);

	ck_assert_uint_eq(gp_replay_capacity_of(trace, 0),
			  count_of(run, GP_OOM) ? run->capacity : GP_UNLIMITED);
	ck_assert_uint_eq(room.least, run->result.at_peak.reserved);
	if (is_told && run->keeps_cache) {
		ck_assert_uint_le(room.least, run->capacity);
		ck_assert_uint_gt(room.below, run->capacity);
	}
}

/* ---- a recording of a part of the run ---- */

struct memory {
	struct gp_action live[MOST], segments[MOST];
	bool is_pending[MOST];
	size_t count, segment_count;
};

static void drop_range(struct memory *m, uint64_t addr, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->segment_count; i++) {
		struct gp_action s = m->segments[i];

		if (s.addr >= addr && s.addr < addr + size)
			continue;
		m->segments[kept++] = s;
	}
	m->segment_count = kept;
}

/* Page by page, because ranges that are unmapped may differ from those that
 * were mapped. */
static void add_range(struct memory *m, const struct gp_action *a)
{
	const uint64_t page = a->kind == GP_SEGMENT_MAP ? 2 << 20 : a->size;

	for (uint64_t at = 0; at < a->size; at += page) {
		m->segments[m->segment_count] = *a;
		m->segments[m->segment_count].addr += at;
		m->segments[m->segment_count++].size = page;
	}
}

static void follow(struct memory *m, const struct gp_action *a)
{
	size_t i = 0;

	switch (a->kind) {
	case GP_SEGMENT_ALLOC:
	case GP_SEGMENT_MAP: add_range(m, a); return;
	case GP_SEGMENT_FREE:
	case GP_SEGMENT_UNMAP: drop_range(m, a->addr, a->size); return;
	case GP_ALLOC:
		m->is_pending[m->count] = false;
		m->live[m->count++] = *a;
		return;
	case GP_FREE:
	case GP_FREE_COMPLETED: break;
	default: return;
	}
	while (m->live[i].id != a->id)
		ck_assert_uint_lt(++i, m->count);
	if (a->kind == GP_FREE) {
		m->is_pending[i] = true;
		return;
	}
	m->is_pending[i] = m->is_pending[--m->count];
	m->live[i] = m->live[m->count];
}

static const struct gp_block *block_at(const struct gp_state *state,
				       uint64_t addr)
{
	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].addr == addr)
			return &state->blocks[i];
	ck_abort_msg("no block at %" PRIx64, addr);
}

static const struct gp_segment *segment_at(const struct gp_state *state,
					   uint64_t addr)
{
	for (size_t i = 0; i < state->segment_count; i++)
		if (state->segments[i].addr <= addr &&
		    addr < state->segments[i].addr + state->segments[i].size)
			return &state->segments[i];
	ck_abort_msg("no segment at %" PRIx64, addr);
}

/* A block is as large as its request, rounded; or larger, if the recording
 * shows that. */
static void compare_start(const struct memory *m, const struct run *run,
			  const struct gp_trace *trace)
{
	const struct gp_state *start = &trace->devices[0].start;
	uint64_t reserved = 0;
	size_t live = 0;

	for (size_t i = 0; i < m->segment_count; i++) {
		const struct gp_segment *s =
			segment_at(start, m->segments[i].addr);

		reserved += m->segments[i].size;
		ck_assert_uint_eq(trace->streams[s->stream],
				  run->trace->streams[m->segments[i].stream]);
		ck_assert_int_eq(s->is_expandable,
				 m->segments[i].kind == GP_SEGMENT_MAP);
	}
	ck_assert_uint_eq(gp_state_reserved(start), reserved);
	for (size_t i = 0; i < m->count; i++) {
		const struct gp_block *b = block_at(start, m->live[i].addr);
		uint64_t rounded;

		ck_assert_uint_eq(b->requested, m->live[i].size);
		ck_assert_int_eq(b->state, m->is_pending[i] ? GP_PENDING_FREE
							    : GP_ACTIVE);
		rounded = gp_settings_round(&run->settings, b->requested);
		if (m->live[i].block == rounded)
			ck_assert_uint_eq(b->size, rounded);
		ck_assert_uint_ge(b->size, rounded);
		ck_assert_uint_le(b->size, m->live[i].block);
	}
	for (size_t i = 0; i < start->block_count; i++)
		live += start->blocks[i].state != GP_INACTIVE;
	ck_assert_uint_eq(live, m->count);
}

static void compare_windows(const struct run *run)
{
	static struct memory m;

	m.count = m.segment_count = 0;
	for (size_t i = 0; i < run->count; i++) {
		const struct gp_action *a = &run->actions[i];

		/* A recording that begins between the halves of a free has lost
		 * one of them; one that begins within a request takes it for
		 * another request. */
		if (i % 9 == 0 && a->kind == GP_ALLOC && i &&
		    run->actions[i - 1].kind == GP_ALLOC) {
			struct gp_trace *trace = recorded_from(run, i);

			compare_start(&m, run, trace);
			compare_until(run, trace);
			gp_trace_destroy(trace);
		}
		follow(&m, a);
	}
}

/* ---- what an empty_cache releases ---- */

/* What follows an empty_cache of a pool (0: of all), and which of these events
 * ends its effect. */
static const struct {
	uint16_t pool;
	struct gp_event then[3];
	size_t count;
} returns[] = {
	{ 0, { { .kind = GP_SEGMENT_FREE }, { .kind = GP_ALLOC } }, 1 },
	{ 0, { { .kind = GP_SEGMENT_FREE, .pool = 2 } }, 1 },
	{ 0, { { .kind = GP_SEGMENT_UNMAP, .pool = 2 } }, 1 },
	{ 2, { { .kind = GP_SEGMENT_FREE, .pool = 2 } }, 1 },
	{ 2, { { .kind = GP_SEGMENT_UNMAP, .pool = 2 } }, 1 },
	{ 2, { { .kind = GP_SEGMENT_FREE, .pool = 1 } }, 0 },
	{ 2, { { .kind = GP_SEGMENT_UNMAP } }, 0 },
	{ 0, { { .kind = GP_SEGMENT_ALLOC } }, 0 },
	{ 0, { { .kind = GP_SEGMENT_MAP } }, 0 },
	{ 0,
	  { { .kind = GP_FREE_COMPLETED },
	    { .kind = GP_SNAPSHOT },
	    { .kind = GP_SYNCHRONIZE, .id = 1 } },
	  3 },
	{ 0, { { .kind = GP_SYNCHRONIZE, .id = GP_NO_ID } }, 0 },
	{ 0, { { .kind = GP_FREE } }, 0 },
};

START_TEST(what_is_returned_ends_with_the_first_thing_that_is_not)
{
	for (size_t i = 0; i < COUNT_OF(returns); i++) {
		struct gp_event events[] = {
			{ .kind = GP_MARK },
			{ .kind = GP_EMPTY_CACHE, .pool = returns[i].pool },
			returns[i].then[0],
			returns[i].then[1],
			returns[i].then[2],
		};
		struct gp_device_trace trace = { .events = events };

		/* The trace may also end earlier. */
		for (size_t n = 0; n <= 3; n++) {
			size_t most =
				n < returns[i].count ? n : returns[i].count;

			trace.event_count = 2 + n;
			ck_assert_msg(recorded_end_of_returns(&trace, 1) ==
					      2 + most,
				      "%zu", i);
		}
	}
}
END_TEST

/* ---- the whole ---- */

static const struct {
	const char *conf;
	uint64_t capacity;
} runs[] = {
	{ "", GP_UNLIMITED },
	{ "expandable_segments:True", GP_UNLIMITED },
	{ "", UINT64_C(500) << 20 },
	{ "expandable_segments:True", UINT64_C(400) << 20 },
	{ "max_split_size_mb:32", UINT64_C(600) << 20 },
	{ "", UINT64_C(150) << 20 },
};

START_TEST(what_is_written_down_is_what_was)
{
	static struct run run;
	uint64_t seed_of_event = 1;

	for (uint64_t seed = 1; seed <= 10; seed++) {
		const struct trace_like like = { .events = EVENTS,
						 .keeps_cache = seed % 2 };
		struct gp_trace *trace = trace_like(seed, &like), *read;
		struct gp_diag diag = { 0 };

		run = (struct run){ .trace = trace,
				    .conf = runs[_i].conf,
				    .capacity = runs[_i].capacity,
				    .keeps_cache = like.keeps_cache };
		gp_settings_init(&run.settings, GP_RELEASE_LAST);
		ck_assert_int_eq(
			gp_settings_parse(&run.settings, run.conf, &diag),
			GP_OK);
		play(&run);
		read = recorded_from(&run, 0);
		compare_whole(&run, read);
		compare_capacity(&run, read);
		for (int i = 0; i < 12; i++)
			compare_altered(&run, read, &seed_of_event);
		gp_trace_destroy(read);
		read = converted(&run);
		ck_assert_str_eq(read->settings, run.conf);
		compare_whole(&run, read);
		gp_trace_destroy(read);
		compare_windows(&run);
		gp_replay_release(&run.result);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("recorded");

	tcase_add_loop_test(tcase, what_is_written_down_is_what_was, 0,
			    COUNT_OF(runs));
	tcase_add_test(tcase,
		       what_is_returned_ends_with_the_first_thing_that_is_not);
	return suite_play("recorded", tcase);
}
