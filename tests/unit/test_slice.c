/* SPDX-License-Identifier: MIT */
/* A slice of a generated program: its events are those of the whole, and its
 * run does the same as the whole run does there. */
#include "trace/slice.h"

#include <stdlib.h>
#include <string.h>

#include "gpupool/allocator.h"
#include "played.h"
#include "random_trace.h"
#include "trace/check.h"

#define EVENTS 200
#define MOST   3000

struct run {
	const struct gp_trace *trace;
	struct gp_action actions[MOST];
	uint64_t events[MOST];
	size_t count;
	struct gp_state state; /* after the event that is looked at */
};

static void note(void *arg, const struct gp_action *action, uint64_t event)
{
	struct run *run = arg;

	ck_assert_uint_lt(run->count, MOST);
	run->events[run->count] = event;
	run->actions[run->count++] = *action;
}

static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct run *run = arg;

	(void)event;
	allocator->ops->state(allocator, &run->state);
}

static void play(struct run *run, const char *conf, const uint64_t *at)
{
	struct gp_settings settings;
	struct gp_replay_config config = run_of(run->trace, &settings);
	struct gp_replay_result result;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	config.action = note;
	config.action_arg = run;
	if (at) {
		config.look = look;
		config.look_arg = run;
		config.looks = at;
		config.look_count = 1;
	}
	result = played(&config);
	gp_replay_release(&result);
}

/* Completions of blocks that are pending free when the slice begins. */
static size_t list_completed(const struct run *run, uint64_t from,
			     struct gp_completed *list)
{
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++)
		for (size_t k = 0; k < run->state.block_count; k++)
			if (run->events[i] >= from &&
			    run->actions[i].kind == GP_FREE_COMPLETED &&
			    run->state.blocks[k].state == GP_PENDING_FREE &&
			    run->state.blocks[k].id == run->actions[i].id)
				list[count++] = (struct gp_completed){
					run->events[i], run->actions[i].id
				};
	return count;
}

static uint64_t name_of(const struct gp_device_trace *d, uint32_t id)
{
	return id == GP_NO_ID ? UINT64_MAX : d->names ? d->names[id] : id;
}

static bool is_completion(const struct gp_event *event)
{
	return event->kind == GP_SYNCHRONIZE && event->id != GP_NO_ID;
}

/* Uses of what has no block, because no bytes were requested before the
 * slice. */
static bool is_left_out(const struct gp_device_trace *whole,
			const struct run *run, uint64_t from, uint64_t at)
{
	const struct gp_event *event = &whole->events[at];

	if (event->kind != GP_FREE && event->kind != GP_RECORD_STREAM)
		return false;
	for (uint64_t i = from; i < at; i++)
		if (whole->events[i].kind == GP_ALLOC &&
		    whole->events[i].id == event->id)
			return false;
	for (size_t i = 0; i < run->state.block_count; i++)
		if (run->state.blocks[i].id == event->id)
			return false;
	return true;
}

/* In order, after the uses by other streams that continued, and without the
 * completions that the whole program does not need. */
static void compare_events(const struct run *run,
			   const struct gp_device_trace *part, uint64_t from,
			   uint64_t to)
{
	const struct gp_device_trace *whole = run->trace->devices;
	size_t at = part->event_count;

	for (uint64_t i = to; i-- > from;) {
		const struct gp_event *a = &whole->events[i], *b;

		if (is_left_out(whole, run, from, i))
			continue;
		do {
			ck_assert_uint_gt(at, 0);
			b = &part->events[--at];
		} while (is_completion(b));
		ck_assert_int_eq(a->kind, b->kind);
		ck_assert_uint_eq(a->size, b->size);
		ck_assert_uint_eq(a->stream, b->stream);
		ck_assert_uint_eq(a->pool, b->pool);
		ck_assert_uint_eq(a->site, b->site);
		if (a->kind == GP_MARK)
			ck_assert_uint_eq(a->text, b->text);
		else
			ck_assert_uint_eq(name_of(whole, a->id),
					  name_of(part, b->id));
	}
	while (at)
		ck_assert(part->events[--at].kind == GP_RECORD_STREAM ||
			  is_completion(&part->events[at]));
}

static void compare_start(const struct gp_trace *whole, const struct run *run,
			  const struct gp_device_trace *part)
{
	const struct gp_state *a = &run->state, *b = &part->start;

	ck_assert_uint_eq(a->segment_count, b->segment_count);
	ck_assert_uint_eq(a->block_count, b->block_count);
	for (size_t i = 0; i < a->segment_count; i++) {
		ck_assert_uint_eq(a->segments[i].addr, b->segments[i].addr);
		ck_assert_uint_eq(a->segments[i].size, b->segments[i].size);
		ck_assert_uint_eq(a->segments[i].stream, b->segments[i].stream);
	}
	for (size_t i = 0; i < a->block_count; i++) {
		const struct gp_block *x = &a->blocks[i], *y = &b->blocks[i];

		ck_assert_uint_eq(x->addr, y->addr);
		ck_assert_uint_eq(x->size, y->size);
		ck_assert_int_eq(x->state, y->state);
		ck_assert_uint_eq(name_of(whole->devices, x->id),
				  name_of(part, y->id));
		if (x->id == GP_NO_ID)
			continue;
		ck_assert_uint_eq(x->requested, y->requested);
	}
}

static bool is_of_block(const struct gp_action *action)
{
	return action->kind == GP_ALLOC || action->kind == GP_FREE;
}

/* The requests, and the blocks that serve them; new memory may have other
 * addresses, and be obtained in another order. */
static void compare_actions(const struct run *whole, const struct run *part,
			    uint64_t from, uint64_t to)
{
	uint64_t grown[2] = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < part->count; i++)
		if (gp_event_is_growth(part->actions[i].kind))
			grown[1] += part->actions[i].size;
	for (size_t i = 0; i < whole->count; i++) {
		const struct gp_action *a = &whole->actions[i], *b;

		if (whole->events[i] < from || whole->events[i] >= to)
			continue;
		if (gp_event_is_growth(a->kind))
			grown[0] += a->size;
		if (!is_of_block(a))
			continue;
		while (at < part->count && !is_of_block(&part->actions[at]))
			at++;
		ck_assert_uint_lt(at, part->count);
		b = &part->actions[at++];
		ck_assert_int_eq(a->kind, b->kind);
		ck_assert_uint_eq(a->size, b->size);
		ck_assert_uint_eq(a->block, b->block);
		ck_assert_uint_eq(a->stream, b->stream);
		ck_assert_uint_eq(name_of(whole->trace->devices, a->id),
				  name_of(part->trace->devices, b->id));
	}
	ck_assert_uint_eq(grown[0], grown[1]);
}

static void compare(const struct gp_trace *trace, const char *conf,
		    uint64_t from, uint64_t to)
{
	static struct gp_completed completed[MOST];
	static struct run whole, part;
	struct gp_slice slice = { .from = from, .to = to };
	struct gp_trace *cut;
	struct gp_diag diag = { 0 };
	uint64_t last = from - 1;

	whole = (struct run){ .trace = trace };
	play(&whole, conf, &last);
	slice.start = whole.state;
	slice.completed_count = list_completed(&whole, from, completed);
	slice.completed = completed;
	cut = gp_trace_slice(trace, &slice);
	ck_assert_int_eq(gp_trace_check(cut, &diag), GP_OK);
	ck_assert(!cut->is_complete);
	compare_events(&whole, cut->devices, from, to);
	compare_start(trace, &whole, cut->devices);
	part = (struct run){ .trace = cut };
	play(&part, conf, NULL);
	compare_actions(&whole, &part, from, to);
	gp_state_release(&whole.state);
	gp_trace_destroy(cut);
}

static const char *const confs[] = { "", "expandable_segments:True" };

START_TEST(a_part_does_what_the_whole_does_there)
{
	uint64_t seed = 3;

	for (uint64_t round = 0; round < 60; round++) {
		const struct trace_like like = { .events = EVENTS,
						 .every = 30,
						 .has_start = round % 2,
						 .keeps_cache = round % 3 };
		struct gp_trace *trace = trace_like(round, &like);
		uint64_t n = trace->devices[0].event_count;
		uint64_t from = 1 + next_random(&seed) % (n - 1);
		uint64_t to = from + next_random(&seed) % (n + 1 - from);

		compare(trace, confs[round / 2 % 2], from, to);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* Requests, and the actions for them: before an alloc, and after an
 * empty_cache. */
#define ASKS(id)      ASKS_LAST(id) ", "
#define ASKS_LAST(id) "{\"op\": \"alloc\", \"id\": " #id ", \"size\": 512}"
#define GROWS                                                                  \
	"{\"op\": \"segment_alloc\", \"addr\": 4194304, \"size\": 2097152}, "
#define GIVES                                                                  \
	"{\"op\": \"segment_free\", \"addr\": 4194304, \"size\": 2097152}, "
#define EMPTIES "{\"op\": \"empty_cache\"}, "
#define NOTES	"{\"op\": \"mark\", \"name\": \"step\"}, "
#define WAITS	"{\"op\": \"synchronize\", \"stream\": 0}, "
#define END	"{\"op\": \"empty_cache\"}"

static const struct {
	const char *events;
	uint64_t asked, place;
} places[] = {
	{ ASKS(1) ASKS(2) END, 1, 1 },
	{ ASKS(1) GROWS ASKS(2) END, 2, 1 },
	{ ASKS(1) GIVES GROWS ASKS(2) END, 3, 1 },
	{ ASKS(1) GIVES GROWS ASKS(2) END, 4, 4 },
	{ ASKS(1) EMPTIES GIVES GIVES ASKS(2) END, 2, 4 },
	{ ASKS(1) EMPTIES GIVES GROWS ASKS(2) END, 4, 3 },
	/* Events that belong to no request are not part of it. */
	{ ASKS(1) NOTES GROWS ASKS(2) END, 1, 1 },
	{ ASKS(1) NOTES GROWS ASKS(2) END, 3, 2 },
	{ ASKS(1) WAITS GROWS ASKS(2) END, 3, 2 },
	{ ASKS(1) GROWS NOTES ASKS(2) END, 3, 1 },
	{ ASKS(1) GROWS WAITS ASKS(2) END, 3, 1 },
};

START_TEST(no_request_is_cut_from_what_is_done_about_it)
{
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		char text[2048];
		struct gp_trace *trace;

		snprintf(text, sizeof(text), ONE_DEVICE("%s"),
			 places[i].events);
		trace = trace_of(text);
		ck_assert_uint_eq(
			gp_slice_place(trace->devices, places[i].asked),
			places[i].place);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* The rule, for all lists of a few events: back to the last request; forward
 * over what it released, if it emptied the cache; then to the next actions of
 * the allocator. */
static size_t plain_place(const struct gp_event *events, size_t count,
			  size_t asked)
{
	size_t at = 0;

	for (size_t i = 0; i < asked; i++)
		if (events[i].kind == GP_ALLOC ||
		    events[i].kind == GP_EMPTY_CACHE)
			at = i + 1;
	if (at && events[at - 1].kind == GP_EMPTY_CACHE)
		for (; at < count && events[at].kind == GP_SEGMENT_FREE; at++)
			;
	for (; at < asked; at++)
		if (events[at].kind == GP_SEGMENT_ALLOC ||
		    events[at].kind == GP_SEGMENT_FREE ||
		    events[at].kind == GP_OOM)
			break;
	return at;
}

START_TEST(so_it_is_for_any_few_events)
{
	static const uint8_t kinds[] = {
		GP_ALLOC,	  GP_EMPTY_CACHE,  GP_MARK, GP_SYNCHRONIZE,
		GP_SEGMENT_ALLOC, GP_SEGMENT_FREE, GP_OOM,  GP_FREE_COMPLETED,
	};
	enum { FEW = 5, KINDS = COUNT_OF(kinds) };
	struct gp_event events[FEW] = { 0 };
	struct gp_device_trace device = { .events = events,
					  .event_count = FEW };

	for (size_t i = 0; i < KINDS * KINDS * KINDS * KINDS * KINDS; i++) {
		size_t rest = i;

		for (size_t k = 0; k < FEW; k++, rest /= KINDS)
			events[k].kind = kinds[rest % KINDS];
		for (size_t asked = 0; asked <= FEW; asked++)
			if (gp_slice_place(&device, asked) !=
			    plain_place(events, FEW, asked))
				ck_abort_msg("list %zu, event %zu", i, asked);
	}
}
END_TEST

/* The recorded end state is kept with the last event, if the slice has all its
 * blocks. */
START_TEST(the_end_is_kept_where_its_blocks_are_known)
{
	static const struct {
		uint64_t to;
		size_t blocks; /* of the state at the beginning of the slice */
		size_t at_end;
	} rows[] = { { 2, 2, 3 }, { 2, 0, 0 }, { 1, 2, 0 } };
	static const struct gp_segment segment = {
		.addr = 2097152,
		.size = 2097152,
		.is_small = true,
		.blocks = 2,
		.site = GP_NO_SITE,
	};
	static const struct gp_block blocks[] = {
		{ .addr = 2097152,
		  .size = 512,
		  .requested = 512,
		  .site = GP_NO_SITE },
		{ .addr = 2097664,
		  .size = 2096640,
		  .id = GP_NO_ID,
		  .state = GP_INACTIVE,
		  .site = GP_NO_SITE },
	};
	struct gp_trace *trace = trace_of(
		"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "
		"[{\"device\": 0, \"events\": [" ASKS(1) ASKS_LAST(
			2) "], "
			   "\"end\": {\"segments\": [{\"address\": 2097152, "
			   "\"total_size\": 2097152, \"segment_type\": "
			   "\"small\", "
			   "\"blocks\": [{\"size\": 512, \"id\": 1, \"state\": "
			   "\"active_allocated\"}, {\"size\": 512, \"id\": 2, "
			   "\"state\": "
			   "\"active_allocated\"}, {\"size\": 2096128, "
			   "\"state\": "
			   "\"inactive\"}]}]}}]}");

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct gp_slice slice = {
			.from = 1,
			.to = rows[i].to,
			.start = { &segment, blocks, rows[i].blocks != 0,
				   rows[i].blocks },
		};
		struct gp_trace *cut = gp_trace_slice(trace, &slice);

		ck_assert_uint_eq(cut->devices[0].end.block_count,
				  rows[i].at_end);
		gp_trace_destroy(cut);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* Before the slice, a pool ends when it is released; later events are about
 * another pool of that number. */
START_TEST(of_a_pool_that_ended_nothing_is_kept)
{
#define POOL(op) "{\"op\": \"" op "\", \"pool\": [0, 1]},"
#define ONE_POOL POOL("pool_begin") POOL("pool_end")
#define NO_SPLIT POOL("pool_no_split")
#define LET_GO	 POOL("pool_release")
#define IN_POOL                                                                \
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 512, \"pool\": [0, 1]},"     \
	"{\"op\": \"free\", \"id\": 1},"
#define LAST_EVENT "{\"op\": \"mark\", \"name\": \"end\"}"
	static const struct {
		const char *text;
		bool no_split_ends;
		size_t kept;
	} rows[] = {
		{ ONE_DEVICE(ONE_POOL NO_SPLIT LAST_EVENT), true, 3 },
		{ ONE_DEVICE(ONE_POOL NO_SPLIT LET_GO LAST_EVENT), true, 0 },
		{ ONE_DEVICE(ONE_POOL NO_SPLIT LET_GO LAST_EVENT), false, 1 },
		{ ONE_DEVICE(ONE_POOL LET_GO NO_SPLIT LAST_EVENT), true, 1 },
		{ ONE_DEVICE(ONE_POOL ONE_POOL NO_SPLIT LET_GO LAST_EVENT),
		  true, 6 },
		{ ONE_DEVICE(IN_POOL NO_SPLIT LET_GO LAST_EVENT), true, 0 },
		{ ONE_DEVICE(ONE_POOL LET_GO ONE_POOL LAST_EVENT), true, 2 },
		{ ONE_DEVICE(ONE_POOL NO_SPLIT LET_GO NO_SPLIT ONE_POOL
				     LAST_EVENT),
		  true, 3 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = trace_of(rows[i].text), *cut;
		size_t count = trace->devices->event_count;
		const struct gp_slice slice = {
			.from = count - 1,
			.to = count,
			.no_split_ends = rows[i].no_split_ends,
		};

		cut = gp_trace_slice(trace, &slice);
		ck_assert_msg(cut->devices->event_count == rows[i].kept + 1,
			      "%zu: %zu", i, cut->devices->event_count);
		gp_trace_destroy(cut);
		gp_trace_destroy(trace);
	}
}
END_TEST

static const char *kinds_of(const struct gp_device_trace *d)
{
	static char text[512];
	size_t n = 0;

	text[0] = '\0';
	for (size_t i = 0; i < d->event_count; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      i ? " " : "",
				      gp_event_kind_name(d->events[i].kind));
	return text;
}

#define WAIT_ALL "{\"op\": \"synchronize\"},"
/* A segment of a pool, or of none, and a device with some of them at its
 * start. */
#define HAD(addr, pool)                                                        \
	"{\"address\": " addr ", \"total_size\": 2097152, \"segment_type\": "  \
	"\"small\", \"segment_pool_id\": [0, " pool "], \"blocks\": ["         \
	"{\"size\": 2097152, \"state\": \"inactive\"}]}"
#define HAD_POOL  HAD("8388608", "1")
#define HAD_OTHER HAD("4194304", "0") ", "
#define FROM_START                                                             \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "        \
	"[{\"device\": 0, \"start\": {\"segments\": [%s]}, \"events\": "       \
	"[%s" LAST_EVENT "]}]}"

/* The events before a slice that are kept; the slice is the last event, or
 * several. */
static const struct {
	const char *start, *events;
	bool has_memory; /* the pool has memory when the slice begins */
	const char *kinds;
	size_t more; /* events of the slice beyond the first */
} earlier[] = {
#define CAPTURE(op) "{\"op\": \"capture_" op "\", \"pool\": [0, 1]},"
#define JOINS	    "{\"op\": \"synchronize\", \"stream\": 7, \"by\": 8},"
	/* A stream that joins a capture, while the capture lasts. */
	{ "", JOINS, false, "mark", 0 },
	{ "", CAPTURE("begin") JOINS, false, "capture_begin synchronize mark",
	  0 },
	{ "", CAPTURE("begin") JOINS CAPTURE("end") JOINS, false,
	  "capture_begin synchronize capture_end mark", 0 },
	{ "", CAPTURE("end") JOINS, false, "capture_end mark", 0 },
	{ "", CAPTURE("begin") WAIT_ALL, false, "capture_begin mark", 0 },
	/* Memory at the start of a slice needs a pool that is in use, which a
	 * creation is, too. */
	{ "", ONE_POOL, false, "pool_begin pool_end mark", 0 },
	{ "", ONE_POOL, true, "pool_begin pool_release pool_end mark", 0 },
	{ "", IN_POOL ONE_POOL, true, "pool_begin pool_end mark", 0 },
	{ "", ONE_POOL ONE_POOL, true,
	  "pool_begin pool_end pool_begin pool_release pool_end mark", 0 },
	{ HAD_POOL, ONE_POOL, true, "pool_begin pool_end mark", 0 },
	{ HAD_POOL, LET_GO ONE_POOL, false, "pool_begin pool_end mark", 0 },
	{ HAD_POOL, ONE_POOL LET_GO LET_GO, false, "mark", 0 },
	{ HAD_OTHER HAD_POOL, ONE_POOL LET_GO LET_GO, false, "mark", 0 },
	/* Later events do not matter. */
	{ "", ONE_POOL LET_GO, false, "pool_begin pool_end pool_release mark",
	  1 },
};

START_TEST(what_lasts_is_told_before_a_slice)
{
	static const struct gp_block block = { .size = 2097152,
					       .id = GP_NO_ID,
					       .state = GP_INACTIVE,
					       .site = GP_NO_SITE };

	for (size_t i = 0; i < COUNT_OF(earlier); i++) {
		const struct gp_segment segment = { .size = 2097152,
						    .is_small = true,
						    .blocks = 1,
						    .pool = 1,
						    .site = GP_NO_SITE };
		struct gp_slice slice = { 0 };
		struct gp_trace *trace, *cut;
		char text[2048];

		snprintf(text, sizeof(text), FROM_START, earlier[i].start,
			 earlier[i].events);
		trace = trace_of(text);
		slice.to = trace->devices->event_count;
		slice.from = slice.to - 1 - earlier[i].more;
		if (earlier[i].has_memory)
			slice.start =
				(struct gp_state){ &segment, &block, 1, 1 };
		cut = gp_trace_slice(trace, &slice);
		ck_assert_msg(!strcmp(kinds_of(cut->devices), earlier[i].kinds),
			      "%zu: %s", i, kinds_of(cut->devices));
		gp_trace_destroy(cut);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ no_request_is_cut_from_what_is_done_about_it, 0 },
		{ so_it_is_for_any_few_events, 0 },
		{ a_part_does_what_the_whole_does_there, 0 },
		{ the_end_is_kept_where_its_blocks_are_known, 0 },
		{ of_a_pool_that_ended_nothing_is_kept, 0 },
		{ what_lasts_is_told_before_a_slice, 0 },
	};

	return suite_run("slice", tests, COUNT_OF(tests));
}
