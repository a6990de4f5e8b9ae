/* SPDX-License-Identifier: MIT */
/*
 * A copy of an allocator, made after any request, continues as the original
 * does, and neither is affected by the other. An allocator with requests of its
 * own that has the same shape as the original also decides as the original
 * does.
 */
#include <stdlib.h>
#include <string.h>

#include "conform/parts/author.h"
#include "conform/parts/one.h"
#include "gpupool/knob.h"
#include "same_states.h"
#include "suite.h"
#include "trace_text.h"

#define SEEDS	      5 /* in each class */
#define MOST_ALIKE    4 /* at the same time */
#define COPY_EVERY    25
#define CHECK_EVERY   12
#define STRANGE_EVERY 2

struct all {
	const struct gp_trace *trace;
	const struct gp_device_trace *of;
	struct one *list[MOST_ALIKE];
	struct one *strange[MOST_ALIKE]; /* of the first one's shape */
	size_t count, strange_count, copies, shapes, strangers;
	struct dice *dice;
};

/* Gives it requests that the others do not get, and then destroys it. */
static void go_astray(const struct all *all, struct one *one)
{
	const struct gp_allocator_ops *ops = one->allocator->ops;
	uint64_t addr;

	for (uint32_t id = 0; id < all->of->block_ids; id++)
		if (dice_permille(all->dice, 700))
			ops->free(one->allocator, id);
	ops->synchronize(one->allocator, GP_ALL_STREAMS);
	for (uint32_t id = 0; id < all->of->block_ids; id++) {
		ops->free(one->allocator, id);
		ops->alloc(one->allocator, id,
			   1 + dice_below(all->dice, 3 * MIB),
			   (uint16_t)dice_below(all->dice,
						all->trace->stream_count),
			   0, &addr);
	}
	ops->empty_cache(one->allocator, 0);
	one_drop(one);
}

static void copy_or_drop(struct all *all)
{
	size_t which = dice_below(all->dice, all->count);
	struct one *copy;

	if (all->count == MOST_ALIKE) {
		one_drop(all->list[which]);
		all->list[which] = all->list[--all->count];
	}
	copy = one_copy(all->list[which % all->count]);
	if (!copy)
		return;
	all->copies++;
	if (dice_permille(all->dice, 300))
		go_astray(all, copy);
	else
		all->list[all->count++] = copy;
}

/* ---- the comparison ---- */

static void check_shapes(struct all *all, const struct one *a,
			 const struct one *b)
{
	struct gp_shape one = { 0 }, other = { 0 };
	bool has = a->allocator->ops->shape(a->allocator, &one);

	ck_assert_int_eq(b->allocator->ops->shape(b->allocator, &other), has);
	all->shapes += has;
	if (has) {
		ck_assert_uint_eq(one.count, other.count);
		ck_assert_mem_eq(one.words, other.words,
				 one.count * sizeof(*one.words));
	}
	free(one.words);
	free(other.words);
}

static void check_two(struct all *all, const struct one *a, const struct one *b)
{
	const struct gp_allocator_ops *ops = a->allocator->ops;
	struct gp_stats stats = *ops->stats(a->allocator);
	struct gp_state one, other;

	ck_assert_mem_eq(&stats, ops->stats(b->allocator), sizeof(stats));
	ck_assert_mem_eq(&a->device->calls, &b->device->calls,
			 sizeof(a->device->calls));
	ck_assert_mem_eq(&a->alike, &b->alike, sizeof(a->alike));
	ck_assert_uint_eq(ops->largest_free(a->allocator),
			  ops->largest_free(b->allocator));
	ops->state(a->allocator, &one);
	ops->state(b->allocator, &other);
	ck_assert(same_states(&one, &other));
	gp_state_release(&one);
	gp_state_release(&other);
	check_shapes(all, a, b);
}

/* ---- the same shape ---- */

static bool same_shape(const struct one *a, const struct one *b)
{
	struct gp_shape one = { 0 }, other = { 0 };
	bool has =
		a->allocator->ops->shape(a->allocator, &one) &&
		b->allocator->ops->shape(b->allocator, &other) &&
		one.count == other.count &&
		!memcmp(one.words, other.words, one.count * sizeof(*one.words));

	free(one.words);
	free(other.words);
	return has;
}

/* Any request of the program, out of order, or a temporary block. */
static void give_another(const struct all *all, const struct one *one)
{
	struct gp_event event =
		all->of->events[dice_below(all->dice, all->of->event_count)];

	if (event.kind == GP_FREE && dice_permille(all->dice, 800))
		event.kind = GP_RECORD_STREAM;
	if (event.kind == GP_RECORD_STREAM)
		event.stream = (uint16_t)dice_below(all->dice,
						    all->trace->stream_count);
	if (event.kind == GP_ALLOC)
		event.id = all->of->block_ids;
	/* What all of them share: the settings and the device. */
	if (event.kind == GP_SET_SETTINGS || event.kind == GP_SET_FRACTION ||
	    event.kind == GP_OTHER_MEMORY)
		return;
	one_give(one, all->trace, &event);
	if (event.kind == GP_ALLOC) {
		event.kind = GP_FREE;
		one_give(one, all->trace, &event);
	}
}

static void add_stranger(struct all *all)
{
	struct one *one = one_copy(all->list[0]);

	if (!one)
		return;
	for (uint64_t n = 1 + dice_below(all->dice, 3); n; n--)
		give_another(all, one);
	if (all->strange_count == MOST_ALIKE ||
	    !same_shape(all->list[0], one)) {
		one_drop(one);
		return;
	}
	all->strange[all->strange_count++] = one;
	all->strangers++;
}

static uint64_t reserved_by(const struct one *one)
{
	return (uint64_t)gp_level_now(
		&one->allocator->levels[GP_STAT_RESERVED_BYTES]);
}

static uint64_t largest_in(const struct one *one)
{
	return one->allocator->ops->largest_free(one->allocator);
}

static uint64_t mix(uint64_t sum, uint64_t value)
{
	return gp_hash64(sum ^ value);
}

/* All of its state, except for the addresses. */
static uint64_t census_of(const struct one *one)
{
	struct gp_state state;
	uint64_t sum = 0;

	one->allocator->ops->state(one->allocator, &state);
	for (size_t i = 0; i < state.segment_count; i++) {
		const struct gp_segment *s = &state.segments[i];
		uint64_t of =
			mix((uint64_t)s->pool << 16 | s->stream,
			    (uint64_t)s->is_small << 1 | s->is_expandable);

		for (uint32_t k = 0; k < s->blocks; k++) {
			const struct gp_block *b =
				&state.blocks[s->first_block + k];

			of = mix(mix(mix(of, b->size), b->state), b->id);
		}
		sum += of;
	}
	gp_state_release(&state);
	return sum;
}

/* Addresses differ, and so do earlier counts. */
static void give_strange(struct all *all, const struct gp_event *event,
			 enum gp_answer first)
{
	uint64_t census = all->strange_count ? census_of(all->list[0]) : 0;

	for (size_t i = 0; i < all->strange_count; i++) {
		const struct one *one = all->strange[i];

		if (one_give(one, all->trace, event).answer != first ||
		    reserved_by(one) != reserved_by(all->list[0]) ||
		    largest_in(one) != largest_in(all->list[0]) ||
		    census_of(one) != census)
			ck_abort_msg("one of the same shape goes on otherwise");
	}
	if (all->strange_count && !dice_below(all->dice, COPY_EVERY))
		one_drop(all->strange[--all->strange_count]);
	if (!dice_below(all->dice, STRANGE_EVERY))
		add_stranger(all);
}

/* Called again at once, it does nothing and returns the same. */
static void empty_again(const struct all *all, const struct gp_event *event,
			enum gp_answer before)
{
	struct one *copy = one_copy(all->list[0]);
	struct gp_device_calls calls;

	if (!copy)
		return;
	calls = copy->device->calls;
	ck_assert_int_eq(one_give(copy, all->trace, event).answer, before);
	ck_assert_mem_eq(&calls, &copy->device->calls, sizeof(calls));
	one_drop(copy);
}

static void step(struct all *all, const struct gp_event *event)
{
	struct answer first = one_give(all->list[0], all->trace, event);

	if (event->kind == GP_EMPTY_CACHE)
		empty_again(all, event, first.answer);
	give_strange(all, event, first.answer);
	for (size_t i = 1; i < all->count; i++) {
		struct answer answer =
			one_give(all->list[i], all->trace, event);

		if (answer.answer != first.answer || answer.addr != first.addr)
			ck_abort_msg("a copy answers otherwise");
		if (!dice_below(all->dice, CHECK_EVERY))
			check_two(all, all->list[0], all->list[i]);
	}
	if (!dice_below(all->dice, COPY_EVERY))
		copy_or_drop(all);
}

/* A use on an unnamed stream, or work that is already complete. */
static void interject(struct all *all)
{
	struct gp_event event = { .kind = GP_SYNCHRONIZE,
				  .stream = GP_ALL_STREAMS };

	if (dice_permille(all->dice, 700)) {
		event.kind = GP_RECORD_STREAM;
		event.id = (uint32_t)dice_below(all->dice, all->of->block_ids);
		event.stream = GP_NO_STREAM;
	}
	step(all, &event);
}

static void try_device(struct all *all, const struct gp_settings *settings)
{
	all->list[0] = one_make(all->trace, all->of, settings, NULL);
	all->count = 1;
	for (size_t i = 0; i < all->of->event_count; i++) {
		step(all, &all->of->events[i]);
		if (all->of->block_ids && dice_permille(all->dice, 100))
			interject(all);
	}
	while (all->count)
		one_drop(all->list[--all->count]);
	while (all->strange_count)
		one_drop(all->strange[--all->strange_count]);
}

static void try_trial(struct all *all, const struct trial *trial)
{
	struct gp_settings settings;
	struct gp_trace *trace;
	struct gp_diag diag;

	ck_assert_int_eq(trial_trace(trial, &trace, &diag), GP_OK);
	all->trace = trace;
	gp_settings_init(&settings,
			 (uint8_t)dice_between(all->dice, trial_since(trial),
					       GP_RELEASE_LAST));
	if (gp_settings_parse(&settings, trial->conf, &diag) == GP_OK)
		for (uint32_t d = 0; d < trace->device_count; d++) {
			all->of = &trace->devices[d];
			try_device(all, &settings);
		}
	gp_trace_destroy(trace);
}

START_TEST(test_a_copy_goes_on_as_the_original)
{
	size_t classes;
	const struct trial_class *table = trial_class_table(&classes);
	struct dice dice;
	struct all all = { .dice = &dice };

	dice_init(&dice, 1, "copy");
	for (size_t i = 0; i < classes; i++)
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct trial trial;

			author_write(&trial, 5000 + seed, &table[i]);
			try_trial(&all, &trial);
			trial_release(&trial);
		}
	ck_assert_uint_gt(all.copies, 10 * classes);
	ck_assert_uint_gt(all.shapes, 10 * classes);
	ck_assert_uint_gt(all.strangers, 5 * classes);
}
END_TEST

/* ---- differences that shapes show ---- */

#define MARK(op)    "{\"op\": \"" op "\"}"
#define SIZED(size) "\"id\": 1, \"size\": " #size "}"
#define ALLOC(size) "{\"op\": \"alloc\", " SIZED(size)
#define OTHER(id)   "{\"op\": \"alloc\", \"id\": " #id ", \"size\": 30000000}"
#define ON(stream, size)                                                       \
	"{\"op\": \"alloc\", \"stream\": " #stream ", " SIZED(size)
#define IN(pool, size)                                                         \
	"{\"op\": \"alloc\", \"pool\": [0, " #pool "], " SIZED(size)
#define FREE(id) "{\"op\": \"free\", \"id\": " #id "}"
#define USE(id, stream)                                                        \
	"{\"op\": \"record_stream\", \"id\": " #id ", \"stream\": " #stream "}"
#define USE_SOMEWHERE(id) "{\"op\": \"record_stream\", \"id\": " #id "}"
/* Two blocks that are free as soon as both are complete. */
#define TWO_SOMEWHERE                                                          \
	ALLOC(30000000)                                                        \
	"," OTHER(2) "," USE_SOMEWHERE(1) "," USE_SOMEWHERE(2) "," FREE(       \
		1) "," FREE(2) ","
#define DONE(id)                                                               \
	"{\"op\": \"free_completed\", \"id\": " #id                            \
	", \"addr\": 4194304, \"size\": 512}"
#define SYNC(stream)   "{\"op\": \"synchronize\", \"stream\": " #stream "}"
#define POOL(op, pool) "{\"op\": \"pool_" op "\", \"pool\": [0, " #pool "]}"

/* Other blocks, which were used on all streams and freed. */
#define PAST                                                                   \
	OTHER(2)                                                               \
	"," USE(2, 7) "," USE(2, 9) "," FREE(                                  \
		2) ","                                                         \
		   "{\"op\": \"alloc\", \"id\": 3, \"size\": 30000000, "       \
		   "\"stream\": 7}," USE(3, 0) "," FREE(3) "," MARK(           \
			   "synchron"                                          \
			   "ize") "," OTHER(4) "," FREE(4) "," MARK("empty_"   \
								    "cache")
/* On a device of 8 GiB; names all streams and pools, so that these have the
 * same numbers. */
#define BEFORE                                                                 \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "        \
	"[{\"device\": 0, \"total_memory\": 8589934592, \"events\": [" PAST    \
	"," IN(1, 512) "," FREE(1) "," IN(2, 512) "," FREE(1) ","

/* The shape after the events; false: there is none. */
static bool shape_of(const char *events, const char *conf, uint8_t release,
		     struct gp_shape *shape)
{
	struct gp_trace *trace = trace_of(events);
	struct all all = { .trace = trace, .of = trace->devices };
	struct gp_settings settings;
	struct gp_diag diag;
	struct one *one;
	bool has;

	gp_settings_init(&settings, release);
	ck_assert_int_eq(gp_settings_parse(&settings, conf, &diag), GP_OK);
	one = one_make(trace, all.of, &settings,
		       all.of->start.segment_count ? &all.of->start : NULL);
	for (size_t i = 0; i < all.of->event_count; i++)
		one_give(one, all.trace, &all.of->events[i]);
	has = one->allocator->ops->shape(one->allocator, shape);
	one_drop(one);
	gp_trace_destroy(trace);
	return has;
}

START_TEST(test_shapes_differ_where_what_comes_may)
{
	static const struct {
		const char *one, *other, *conf;
		bool are_same;
	} rows[] = {
#define WITH(conf, a, b) { BEFORE a "]}]}", BEFORE b "]}]}", conf, false }
#define DIFFER(a, b)	 WITH("", a, b)
#define SAME(a, b)                                                             \
	{                                                                      \
		BEFORE a "]}]}", BEFORE b "]}]}", "", true                     \
	}
		DIFFER(ALLOC(3000000), ALLOC(3000512)),
		DIFFER(ALLOC(512), ALLOC(3000000)),
		DIFFER(ALLOC(30000000), ALLOC(33000000)),
		/* Each block fills its segment. */
		DIFFER(ALLOC(31457280), ALLOC(33554432)),
		DIFFER(ALLOC(30000000), ALLOC(30000000) "," FREE(1)),
		DIFFER(ALLOC(30000000), ON(7, 30000000)),
		DIFFER(ON(7, 30000000), ON(9, 30000000)),
		DIFFER(ALLOC(30000000), IN(1, 30000000)),
		DIFFER(IN(1, 30000000), IN(2, 30000000)),
		DIFFER(ALLOC(30000000), ALLOC(30000000) "," USE(1, 7)),
		DIFFER(ALLOC(30000000) "," USE(1, 7),
		       ALLOC(30000000) "," USE(1, 9)),
		DIFFER(ALLOC(30000000) "," USE(1, 7),
		       ALLOC(30000000) "," USE_SOMEWHERE(1)),
		DIFFER(ALLOC(30000000) "," USE(1, 7),
		       ALLOC(30000000) "," USE(1, 7) "," FREE(1)),
		DIFFER(ALLOC(30000000) "," USE(1, 7) "," FREE(1),
		       ALLOC(30000000) "," USE(1, 9) "," FREE(1)),
		DIFFER(ALLOC(30000000) "," USE(1, 7) "," FREE(1),
		       ALLOC(30000000) "," USE(1, 7) "," FREE(1) "," SYNC(7)),
		DIFFER(ALLOC(30000000) "," USE_SOMEWHERE(1) "," FREE(1),
		       ALLOC(30000000) "," FREE(1)),
		/* The first one freed is the first one to complete. */
		DIFFER(ALLOC(30000000) "," OTHER(2) "," USE(1, 7) "," USE(
			       2, 7) "," FREE(1) "," FREE(2),
		       ALLOC(30000000) "," OTHER(2) "," USE(1, 7) "," USE(
			       2, 7) "," FREE(2) "," FREE(1)),
		DIFFER(ALLOC(30000000) "," OTHER(2) "," USE_SOMEWHERE(
			       1) "," USE_SOMEWHERE(2) "," FREE(1) "," FREE(2),
		       ALLOC(30000000) "," OTHER(2) "," USE_SOMEWHERE(
			       1) "," USE_SOMEWHERE(2) "," FREE(2) "," FREE(1)),
		/* The streams for which each block waits. */
		DIFFER(ALLOC(30000000) "," OTHER(2) "," USE(1, 7) "," USE(
			       2, 9) "," FREE(1) "," FREE(2),
		       ALLOC(30000000) "," OTHER(2) "," USE(1, 9) "," USE(
			       2, 7) "," FREE(2) "," FREE(1)),
		/* The block that no longer waits. */
		DIFFER(ALLOC(30000000) "," USE_SOMEWHERE(1) "," FREE(1),
		       ALLOC(30000000) "," USE_SOMEWHERE(1) "," FREE(
			       1) "," MARK("synchronize")),
		DIFFER(TWO_SOMEWHERE DONE(1), TWO_SOMEWHERE DONE(2)),
		/* It matters which block it is, but not how many there were
		 * before. */
		DIFFER(ALLOC(30000000),
		       ALLOC(30000000) "," FREE(1) "," ALLOC(30000000)),
		SAME(ALLOC(30000000), ALLOC(30000000) "," PAST),
		SAME(ALLOC(30000000) "," USE(1, 7) "," FREE(1),
		     ALLOC(30000000) "," PAST "," USE(1, 7) "," FREE(1)),
		SAME(ALLOC(30000000) "," USE(1, 7) "," USE(1, 9) "," FREE(1),
		     ALLOC(30000000) "," PAST
				     "," USE(1, 7) "," USE(1, 9) "," FREE(1)),
		SAME(ALLOC(30000000) "," USE_SOMEWHERE(1) "," FREE(1),
		     ALLOC(30000000) "," PAST "," USE_SOMEWHERE(1) "," FREE(1)),
		DIFFER(POOL("begin", 1) "," POOL("end", 1),
		       POOL("begin", 2) "," POOL("end", 2)),
		DIFFER(POOL("begin", 1), POOL("begin", 2)),
		/* Both pools are held, and one is routed to. */
		DIFFER(POOL("begin", 1) "," POOL("begin", 2) "," POOL("end", 2),
		       POOL("begin", 2) "," POOL("begin", 1) "," POOL("end",
								      1)),
		DIFFER(POOL("begin", 1) "," POOL("end", 1),
		       POOL("begin", 1) "," POOL("end", 1) "," POOL("release",
								    1)),
		/* Settings. */
		WITH("expandable_segments:True", ALLOC(30000000),
		     ON(7, 30000000)),
		WITH("expandable_segments:True", ALLOC(30000000),
		     ALLOC(30000000) "," FREE(1)),
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_shape one = { 0 }, other = { 0 };
		bool same;

		ck_assert(shape_of(rows[i].one, rows[i].conf, GP_RELEASE_LAST,
				   &one));
		ck_assert(shape_of(rows[i].other, rows[i].conf, GP_RELEASE_LAST,
				   &other));
		same = one.count == other.count &&
		       !memcmp(one.words, other.words,
			       one.count * sizeof(*one.words));
		ck_assert_msg(same == rows[i].are_same, "row %zu", i);
		free(one.words);
		free(other.words);
	}
}
END_TEST

/* A single reason is enough. */
START_TEST(test_what_no_shape_tells)
{
	static const struct {
		const char *events, *conf;
		uint8_t release;
		bool has;
	} rows[] = {
#define EVENTS(events) BEFORE events "]}]}"
#define START(block)                                                           \
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": "        \
	"[{\"device\": 0, \"start\": {\"segments\": [{\"address\": 4194304, "  \
	"\"total_size\": 20971520, \"segment_type\": \"large\", "              \
	"\"blocks\": [{" block ", \"state\": \"inactive\"}]}]}, "              \
	"\"events\": [" ALLOC(512) "]}]}"
		{ EVENTS(ALLOC(512)), "", GP_RELEASE_LAST, true },
		/* Addresses decide; in 2.12, the order in which blocks were
		 * created. */
		{ EVENTS(ALLOC(512)), "", 12, false },
		{ ONE_DEVICE(ALLOC(512)), "", GP_RELEASE_LAST, true },
		{ ONE_DEVICE(ALLOC(512)), "", 11, false },
		{ ONE_DEVICE(ALLOC(31457280)), "", 12, false },
		/* Free blocks that would never be compared with each other. */
		{ START("\"size\": 20971520"), "", GP_RELEASE_LAST, true },
		{ START("\"size\": 10485760, \"state\": \"inactive\"}, {"
			"\"size\": 10485760"),
		  "", GP_RELEASE_LAST, false },
		/* Ages decide. */
		{ EVENTS(ALLOC(512)),
		  "per_process_memory_fraction:0.5,"
		  "garbage_collection_threshold:0.5",
		  GP_RELEASE_LAST, false },
		/* A capture is open. */
		{ EVENTS("{\"op\": \"capture_begin\", \"pool\": [0, 1], "
			 "\"stream\": 7}"),
		  "graph_capture_record_stream_reuse:True", GP_RELEASE_LAST,
		  false },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_shape shape = { 0 };

		ck_assert_int_eq(shape_of(rows[i].events, rows[i].conf,
					  rows[i].release, &shape),
				 rows[i].has);
		free(shape.words);
	}
}
END_TEST

/* ---- the state of a copy ---- */

/* A start state with two free blocks of each power of two. */
static struct gp_trace *any_sizes(void)
{
	enum { MOST = 24 };
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct gp_trace *trace;

	fprintf(out,
		"{\"format\": \"gpupool-trace\", \"version\": 1, "
		"\"devices\": [{\"device\": 0, \"total_memory\": 8589934592, "
		"\"start\": {\"segments\": ["
		"{\"address\": 4194304, \"total_size\": %u, \"segment_type\": "
		"\"large\", \"blocks\": [{\"size\": 2, \"state\": "
		"\"active_allocated\", \"id\": 100}",
		2 * ((1U << MOST) - 1 + 512 * MOST) + 2);
	for (unsigned i = 0; i < 2 * MOST; i++)
		fprintf(out,
			", {\"size\": %u, \"state\": \"inactive\"}, {\"size\": "
			"512, \"state\": \"active_allocated\", \"id\": %u}",
			1U << i / 2, i);
	fputs("]}]}, \"events\": [" OTHER(200) "]}]}", out);
	ck_assert_int_eq(fclose(out), 0);
	trace = trace_of(text);
	free(text);
	return trace;
}

START_TEST(test_a_copy_has_lists_of_its_own_for_any_size)
{
	struct gp_trace *trace = any_sizes();
	const struct gp_device_trace *of = trace->devices;
	struct all all = { .trace = trace, .of = of };
	struct gp_settings settings;
	struct one *one, *copy;

	gp_settings_init(&settings, GP_RELEASE_LAST);
	one = one_make(trace, of, &settings, &of->start);
	one_drop(one_copy(one));
	copy = one_copy(one);
	check_two(&all, one, copy);
	one_drop(one);
	ck_assert_int_eq(one_give(copy, trace, of->events).answer, GP_SERVED);
	one_drop(copy);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_a_copy_says_what_was_refused_before)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(ALLOC(512)));
	struct gp_settings settings;
	struct one *one, *copy;
	const struct gp_allocator_ops *ops;
	char said[256];

	gp_settings_init(&settings, GP_RELEASE_LAST);
	one = one_make(trace, trace->devices, &settings, NULL);
	ops = one->allocator->ops;
	copy = one_copy(one);
	ck_assert_ptr_eq(ops->refusal(copy->allocator),
			 ops->refusal(one->allocator));
	one_drop(copy);
	ck_assert_int_eq(ops->set_settings(one->allocator, "no_such:1"),
			 GP_REFUSED_BY_RULE);
	snprintf(said, sizeof(said), "%s", ops->refusal(one->allocator));
	copy = one_copy(one);
	ck_assert_int_eq(ops->set_settings(one->allocator, "nor_this:1"),
			 GP_REFUSED_BY_RULE);
	ck_assert_str_eq(ops->refusal(copy->allocator), said);
	ck_assert_str_ne(ops->refusal(one->allocator), said);
	one_drop(one);
	ck_assert_str_eq(ops->refusal(copy->allocator), said);
	one_drop(copy);
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_copy_goes_on_as_the_original, 0 },
		{ test_shapes_differ_where_what_comes_may, 0 },
		{ test_what_no_shape_tells, 0 },
		{ test_a_copy_has_lists_of_its_own_for_any_size, 0 },
		{ test_a_copy_says_what_was_refused_before, 0 },
	};

	return suite_run("copy", tests, COUNT_OF(tests));
}
