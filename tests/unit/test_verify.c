/* SPDX-License-Identifier: MIT */
/*
 * A verification beside an allocator of which one action or counter is told
 * wrongly: that is found, with what was done around it and what was free before
 * it.
 */
#include "replay/verify/verify.h"

#include <stdlib.h>

#include "played.h"
#include "random_trace.h"

#define EVENTS 80
#define MOST   1000

enum lie { NO_LIE, ADDRESS, SIZE, STREAM, KIND, LEFT_OUT, LIES, SWAPPED };

/* What the second run tells of its actions. */
static struct teller {
	enum lie lie;
	size_t at, count; /* the action that it lies about; those so far */
	bool is_second, is_next_second;
	void (*action)(void *arg, const struct gp_action *action);
	void *arg;
	struct gp_action held; /* told behind the next one */
	size_t counter;	       /* a word of the counters, from 1; 0: none */
	const struct gp_allocator_ops *ops;
} teller;

static void tell(void *arg, const struct gp_action *action)
{
	struct gp_action told = *action;

	size_t number = teller.count++;

	(void)arg;
	if (teller.is_second && number == teller.at)
		switch (teller.lie) {
		case ADDRESS: told.addr ^= 512; break;
		case SIZE: told.size++; break;
		case STREAM: told.stream ^= 1; break;
		case KIND:
			told.kind = told.kind == GP_ALLOC ? GP_FREE : GP_ALLOC;
			break;
		case LEFT_OUT: return;
		case SWAPPED: teller.held = told; return;
		default: break;
		}
	teller.action(teller.arg, &told);
	if (teller.is_second && teller.lie == SWAPPED &&
	    number == teller.at + 1)
		teller.action(teller.arg, &teller.held);
}

static const struct gp_stats *lie_of(struct gp_allocator *allocator)
{
	static struct gp_stats stats;

	stats = *teller.ops->stats(allocator);
	((int64_t *)&stats)[teller.counter - 1]++;
	return &stats;
}

static enum gp_status create(const struct gp_allocator_config *config,
			     struct gp_allocator **allocator,
			     struct gp_diag *diag)
{
	static struct gp_allocator_ops lying;
	struct gp_allocator_config own = *config;
	enum gp_status status;

	teller.is_second = teller.is_next_second;
	teller.is_next_second = false;
	teller.count = 0;
	if (config->action) {
		teller.action = config->action;
		teller.arg = config->action_arg;
		own.action = tell;
	}
	status = gp_engine_find("caching")->create(&own, allocator, diag);
	if (!teller.is_second || !teller.counter || status != GP_OK)
		return status;
	lying = *(teller.ops = (*allocator)->ops);
	lying.stats = lie_of;
	(*allocator)->ops = &lying;
	return GP_OK;
}

/* Only the second run is given a device. */
static struct gp_device *make_device(void *arg, uint32_t ordinal,
				     uint64_t capacity)
{
	(void)arg;
	teller.is_next_second = true;
	return gp_sim_create(ordinal, capacity);
}

/* ---- what both did ---- */

struct plain {
	const struct gp_trace *trace;
	struct gp_settings settings;
	struct gp_caused_action actions[MOST];
	size_t count;
};

static void note(void *arg, const struct gp_action *action, uint64_t event)
{
	struct plain *plain = arg;

	ck_assert_uint_lt(plain->count, MOST);
	plain->actions[plain->count++] =
		(struct gp_caused_action){ *action, event };
}

static void play(struct plain *plain)
{
	struct gp_settings ignored;
	struct gp_replay_config config = run_of(plain->trace, &ignored);
	struct gp_replay_result result;

	config.settings = &plain->settings;
	config.action = note;
	config.action_arg = plain;
	result = played(&config);
	gp_replay_release(&result);
}

static struct gp_verify_result verified(const struct plain *plain)
{
	static struct gp_engine engine;
	const struct gp_verify_config config = {
		.trace = plain->trace,
		.settings = &plain->settings,
		.capacity = GP_UNLIMITED,
		.engine = &engine,
		.make_device = make_device,
	};
	struct gp_verify_result result;
	struct gp_diag diag = { 0 };

	engine = *gp_engine_find("caching");
	engine.create = create;
	ck_assert_int_eq(gp_verify(&config, &result, &diag), GP_OK);
	return result;
}

/* ---- the difference ---- */

static void same_action(const struct gp_caused_action *a,
			const struct gp_caused_action *b)
{
	ck_assert_int_eq(a->action.kind, b->action.kind);
	ck_assert_uint_eq(a->action.addr, b->action.addr);
	ck_assert_uint_eq(a->action.size, b->action.size);
	ck_assert_uint_eq(a->action.stream, b->action.stream);
	ck_assert_uint_eq(a->event, b->event);
}

static void compare_deeds(const struct plain *plain, size_t at,
			  const struct gp_difference *d)
{
	size_t from = at < GP_VERIFY_BEFORE ? 0 : at - GP_VERIFY_BEFORE;
	size_t skipped = teller.lie == LEFT_OUT;
	size_t stop = at + GP_VERIFY_AFTER;

	ck_assert_uint_eq(d->before, at - from);
	stop = stop < plain->count ? stop : plain->count;
	ck_assert_uint_eq(d->ours.count, stop - from);
	for (size_t i = from; i < stop; i++)
		same_action(&d->ours.actions[i - from], &plain->actions[i]);
	stop = at + GP_VERIFY_AFTER;
	if (stop > plain->count - skipped)
		stop = plain->count - skipped;
	ck_assert_uint_eq(d->theirs.count, stop - from);
	for (size_t i = from; i < stop; i++)
		if (i != at || skipped)
			same_action(&d->theirs.actions[i - from],
				    &plain->actions[i + (i >= at) * skipped]);
}

/* Free blocks of its stream that are large enough, the smallest first. */
static void compare_candidates(const struct plain *plain, uint64_t event,
			       const struct gp_verify_side *side)
{
	struct gp_trace trace = *plain->trace;
	struct gp_device_trace device = trace.devices[0];
	const struct gp_event *request = &device.events[event];
	uint64_t least = gp_settings_round(&plain->settings, request->size);
	struct gp_replay_result result;
	struct gp_candidate before = { 0 };
	size_t count = 0, i = 0;

	device.event_count = event;
	trace.devices = &device;
	result = replayed(&trace);
	for (size_t s = 0; s < result.end.segment_count; s++) {
		const struct gp_segment *segment = &result.end.segments[s];

		for (uint32_t k = 0; k < segment->blocks; k++) {
			const struct gp_block *b =
				&result.end.blocks[segment->first_block + k];
			bool is_listed = false;

			if (b->state != GP_INACTIVE || b->size < least ||
			    segment->stream != request->stream)
				continue;
			count++;
			for (i = 0; i < side->candidate_count; i++)
				is_listed |=
					side->candidates[i].addr == b->addr &&
					side->candidates[i].size == b->size &&
					side->candidates[i].segment_addr ==
						segment->addr &&
					side->candidates[i].segment_size ==
						segment->size;
			ck_assert(is_listed ||
				  (side->candidate_count == GP_CANDIDATES &&
				   side->candidates[GP_CANDIDATES - 1].size <=
					   b->size));
		}
	}
	for (i = 0; i < side->candidate_count; i++) {
		struct gp_candidate now = side->candidates[i];

		ck_assert(now.size > before.size ||
			  (now.size == before.size && now.addr > before.addr));
		before = now;
	}
	ck_assert_uint_eq(side->candidate_count,
			  count < GP_CANDIDATES ? count : GP_CANDIDATES);
	gp_replay_release(&result);
}

static void compare(const struct plain *plain, size_t at, enum lie lie)
{
	struct gp_verify_result result;
	const struct gp_difference *d = &result.first;
	const struct gp_event *request;

	teller = (struct teller){ .lie = lie, .at = at };
	result = verified(plain);
	if (lie == NO_LIE) {
		ck_assert(!d->is_there);
		ck_assert_uint_eq(result.actions, plain->count);
		ck_assert_uint_eq(result.permuted, 0);
		return;
	}
	ck_assert(d->is_there);
	ck_assert_int_eq(d->kind, GP_DIFFERENT_ACTION);
	ck_assert_uint_eq(result.actions, at);
	ck_assert_uint_eq(d->event, plain->actions[at].event);
	ck_assert(!d->is_in_start);
	request = &plain->trace->devices[0].events[d->event];
	ck_assert_mem_eq(&d->request, request, sizeof(*request));
	compare_deeds(plain, at, d);
	if (request->kind == GP_ALLOC) {
		compare_candidates(plain, d->event, &d->ours);
		compare_candidates(plain, d->event, &d->theirs);
	} else {
		ck_assert_uint_eq(d->ours.candidate_count, 0);
		ck_assert_uint_eq(d->theirs.candidate_count, 0);
	}
	ck_assert_mem_eq(&d->ours.stats, &d->theirs.stats,
			 sizeof(d->ours.stats));
	ck_assert_str_eq(d->ours.refusal, "");
}

/* One that is left out before another of its event may be told of that. */
static bool is_told(const struct plain *plain, size_t at, enum lie lie)
{
	return lie != LEFT_OUT || at + 1 == plain->count ||
	       plain->actions[at].event != plain->actions[at + 1].event ||
	       plain->actions[at].action.kind !=
		       plain->actions[at + 1].action.kind;
}

START_TEST(an_action_told_wrongly_is_found)
{
	static struct plain plain;

	for (uint64_t seed = 1; seed <= 4; seed++) {
		plain = (struct plain){ .trace = random_trace(seed, EVENTS) };
		gp_settings_init(&plain.settings, GP_RELEASE_LAST);
		play(&plain);
		compare(&plain, 0, NO_LIE);
		for (size_t at = 0; at < plain.count; at += 1 + at % 3) {
			enum lie lie = 1 + (at + seed) % (LIES - 1);

			if (is_told(&plain, at, lie))
				compare(&plain, at, lie);
		}
		compare(&plain, plain.count - 1, LEFT_OUT);
		gp_trace_destroy((struct gp_trace *)plain.trace);
	}
}
END_TEST

/* ---- the order of what is done at once ---- */

static bool may_come_in_any_order(uint8_t kind)
{
	return kind == GP_FREE_COMPLETED || kind == GP_SEGMENT_FREE ||
	       kind == GP_SEGMENT_UNMAP;
}

/* Two that PyTorch 2.9 to 2.12 may do in any order, and others. */
static bool compare_swapped(const struct plain *plain, size_t at)
{
	const struct gp_caused_action *a = &plain->actions[at];
	struct gp_verify_result result;
	bool is_open = may_come_in_any_order(a->action.kind) &&
		       a->action.kind == a[1].action.kind;
	size_t length = 0;

	teller = (struct teller){ .lie = SWAPPED, .at = at };
	result = verified(plain);
	while (at + length < plain->count &&
	       plain->actions[at + length].action.kind == a->action.kind)
		length++;
	is_open &=
		plain->settings.release >= 9 && plain->settings.release <= 12;
	ck_assert_int_eq(result.first.is_there, !is_open);
	ck_assert_uint_eq(result.actions, is_open ? plain->count : at);
	ck_assert_uint_eq(result.permuted, is_open ? length : 0);
	return is_open;
}

START_TEST(what_is_done_at_once_may_come_in_another_order)
{
	static struct plain plain;
	static const uint8_t releases[] = { 8, 9, 12, 13 };
	size_t open = 0;

	for (size_t i = 0; i < COUNT_OF(releases); i++) {
		plain = (struct plain){ .trace = random_trace(i, 5 * EVENTS) };
		gp_settings_init(&plain.settings, releases[i]);
		play(&plain);
		for (size_t at = 0; at + 1 < plain.count; at++)
			if (plain.actions[at].event ==
			    plain.actions[at + 1].event)
				open += compare_swapped(&plain, at);
		gp_trace_destroy((struct gp_trace *)plain.trace);
	}
	ck_assert_uint_gt(open, 3);
}
END_TEST

/* ---- counters ---- */

#define WORDS (sizeof(struct gp_stats) / sizeof(int64_t))

/* The counter that is told wrongly; false: no counter is this word. */
static bool name_of(size_t word, char *name, size_t size)
{
	struct gp_stats a = { 0 }, b = { 0 };
	int64_t x, y;

	((int64_t *)&b)[word] = 1;
	for (size_t i = 0; gp_verify_counter(i, name, size, &a, &b, &x, &y);
	     i++)
		if (x != y)
			return true;
	return false;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), length = strlen(end);

	return n >= length && !strcmp(text + n - length, end);
}

/* In another order, inactive blocks come and go otherwise, but what is left of
 * them is the same.  Releases before 2.12 and 2.4 lack some counters. */
static bool is_compared(const char *name, uint8_t release, bool is_permuted)
{
	if (!strncmp(name, "inactive", 8) && is_permuted)
		return ends_with(name, ".current");
	if (!strcmp(name, "num_oom_rejections"))
		return release >= 12;
	return release >= 4 || (strcmp(name, "num_sync_all_streams") != 0 &&
				strncmp(name, "num_device_", 11) != 0);
}

static size_t compare_counters(const struct plain *plain, size_t swapped)
{
	char name[64];
	size_t found = 0;

	for (size_t word = 0; word < WORDS; word++) {
		struct gp_verify_result result;
		bool is_compared_here;

		teller = (struct teller){ .lie = swapped ? SWAPPED : NO_LIE,
					  .at = swapped,
					  .counter = word + 1 };
		if (!name_of(word, name, sizeof(name)))
			continue;
		result = verified(plain);
		is_compared_here = is_compared(name, plain->settings.release,
					       result.permuted);
		ck_assert_int_eq(result.permuted > 0, swapped > 0);
		ck_assert_msg(result.first.is_there == is_compared_here, "%s",
			      name);
		if (is_compared_here)
			ck_assert_int_eq(result.first.kind,
					 GP_DIFFERENT_COUNTER);
		found += is_compared_here;
	}
	return found;
}

START_TEST(a_counter_told_wrongly_is_found)
{
	static struct plain plain;
	static const uint8_t releases[] = { 3, 4, 9, 12, GP_RELEASE_LAST };

	for (size_t i = 0; i < COUNT_OF(releases); i++) {
		size_t at = 1;

		plain = (struct plain){ .trace = random_trace(2, 5 * EVENTS) };
		gp_settings_init(&plain.settings, releases[i]);
		play(&plain);
		ck_assert_uint_gt(compare_counters(&plain, 0), 100);
		while (at + 1 < plain.count &&
		       (!may_come_in_any_order(plain.actions[at].action.kind) ||
			plain.actions[at].event !=
				plain.actions[at + 1].event ||
			plain.actions[at].action.kind !=
				plain.actions[at + 1].action.kind))
			at++;
		if (releases[i] >= 9 && releases[i] <= 12)
			compare_counters(&plain, at);
		gp_trace_destroy((struct gp_trace *)plain.trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ an_action_told_wrongly_is_found, 0 },
		{ a_counter_told_wrongly_is_found, 0 },
		{ what_is_done_at_once_may_come_in_another_order, 0 },
	};

	return suite_run("verify", tests, COUNT_OF(tests));
}
