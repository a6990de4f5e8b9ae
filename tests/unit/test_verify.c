/* SPDX-License-Identifier: MIT */
/*
 * A verification in which the second allocator reports one action or counter
 * wrongly. This is found, with the actions around it and the free memory before
 * it.
 */
#include "replay/verify/verify.h"

#include <stdlib.h>

#include "played.h"
#include "random_trace.h"
#include "replay/verify/prologue.h"

#define EVENTS 80
#define MOST   1000

enum lie { NO_LIE, ADDRESS, SIZE, STREAM, KIND, LEFT_OUT, LIES, SWAPPED };

/* What the second run changes in its reports. */
static struct teller {
	enum lie lie;
	size_t at, count; /* the action that is changed; the number so far */
	bool is_second, is_next_second, has_device;
	void (*action)(void *arg, const struct gp_action *action);
	void *arg;
	struct gp_action held; /* reported after the next one */
	size_t counter;	       /* the word of a counter, from 1; 0: none */
	size_t from;	       /* number of actions before it is wrong */
	size_t made;	       /* allocators so far */
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
	((int64_t *)&stats)[teller.counter - 1] += teller.count >= teller.from;
	return &stats;
}

static enum gp_status create(const struct gp_allocator_config *config,
			     struct gp_allocator **allocator,
			     struct gp_diag *diag)
{
	static struct gp_allocator_ops lying;
	struct gp_allocator_config own = *config;
	enum gp_status status;

	/* If no run has a device of its own, every other allocator is the
	 * second one. */
	teller.is_second = teller.is_next_second ||
			   (!teller.has_device && teller.made % 2);
	teller.is_next_second = false;
	teller.made++;
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

/* ---- what both runs did ---- */

struct plain {
	struct gp_trace *trace;
	/* What is replayed: requests for the trace's start state, then its
	 * events. */
	struct prologue whole;
	struct gp_settings settings;
	uint64_t capacity;
	bool has_no_device; /* the second run has no device of its own, and is
			     * simulated, too */
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

/* The first events. */
static struct gp_replay_result play_some(struct plain *plain, size_t events,
					 bool notes)
{
	struct gp_device_trace device = plain->whole.device;
	struct gp_trace trace = plain->whole.trace;
	struct gp_settings ignored;
	struct gp_replay_config config = run_of(&trace, &ignored);

	device.event_count = events;
	trace.devices = &device;
	config.settings = &plain->settings;
	config.capacity = plain->capacity;
	if (notes)
		config.action = note;
	config.action_arg = plain;
	return played(&config);
}

static void play(struct plain *plain)
{
	struct gp_replay_result result;

	if (!plain->capacity)
		plain->capacity = GP_UNLIMITED;
	prologue_make(&plain->whole, plain->trace, 0, &plain->settings);
	result = play_some(plain, plain->whole.count, true);
	gp_replay_release(&result);
}

static void plain_release(struct plain *plain)
{
	prologue_release(&plain->whole);
	gp_trace_destroy(plain->trace);
}

static struct gp_verify_result verified(const struct plain *plain)
{
	static struct gp_engine engine;
	const struct gp_verify_config config = {
		.trace = plain->trace,
		.settings = &plain->settings,
		.capacity = plain->capacity,
		.engine = &engine,
		.make_device = plain->has_no_device ? NULL : make_device,
	};
	struct gp_verify_result result;
	struct gp_diag diag = { 0 };

	engine = *gp_engine_find("caching");
	engine.create = create;
	teller.has_device = !plain->has_no_device;
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

/* The free blocks of its stream that are large enough, the smallest first. */
static void compare_candidates(struct plain *plain, uint64_t event,
			       const struct gp_verify_side *side)
{
	const struct gp_event *request = &plain->whole.events[event];
	uint64_t least = gp_settings_round(&plain->settings, request->size);
	struct gp_replay_result result;
	struct gp_candidate before = { 0 };
	size_t count = 0, i = 0;

	result = play_some(plain, event, false);
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

/* What is reported for the last event of a side; for a release, its count. */
static void compare_end(struct plain *plain, uint64_t event,
			const struct gp_verify_side *side)
{
	struct gp_replay_result result = play_some(plain, event + 1, false);
	uint8_t release = plain->settings.release;
	uint64_t length = plain->whole.length;

	if (release < 12)
		result.stats.num_oom_rejections = 0;
	if (release < 4)
		result.stats.num_sync_all_streams =
			result.stats.num_device_alloc =
				result.stats.num_device_free = 0;
	ck_assert_mem_eq(&side->stats, &result.stats, sizeof(side->stats));
	ck_assert_str_eq(side->refusal, result.first_refusal);
	ck_assert_int_eq(side->is_refusal_in_start,
			 result.first_refusal_event < length);
	ck_assert_uint_eq(side->refusal_event,
			  result.first_refusal_event -
				  (side->is_refusal_in_start ? 0 : length));
	gp_replay_release(&result);
}

/* Returns the event's place in the replay. */
static uint64_t compare_event(const struct plain *plain, size_t at,
			      const struct gp_difference *d)
{
	uint64_t event = plain->actions[at].event;

	ck_assert(d->is_there);
	ck_assert_int_eq(d->is_in_start, event < plain->whole.length);
	ck_assert_uint_eq(d->event,
			  event - (d->is_in_start ? 0 : plain->whole.length));
	ck_assert(!d->is_before_all);
	ck_assert_mem_eq(&d->request, &plain->whole.events[event],
			 sizeof(d->request));
	return event;
}

static void compare(struct plain *plain, size_t at, enum lie lie)
{
	struct gp_verify_result result;
	const struct gp_difference *d = &result.first;
	uint64_t event;

	/* On a device, the address of a failed action is the device's free
	 * memory. */
	if (lie == ADDRESS && !plain->has_no_device &&
	    plain->actions[at].action.kind == GP_OOM)
		lie = NO_LIE;
	teller = (struct teller){ .lie = lie, .at = at };
	result = verified(plain);
	if (lie == NO_LIE) {
		ck_assert(!d->is_there);
		ck_assert_uint_eq(result.actions, plain->count);
		ck_assert_uint_eq(result.permuted, 0);
		return;
	}
	event = compare_event(plain, at, d);
	ck_assert_int_eq(d->kind, GP_DIFFERENT_ACTION);
	ck_assert_uint_eq(result.actions, at);
	compare_deeds(plain, at, d);
	if (d->request.kind == GP_ALLOC) {
		compare_candidates(plain, event, &d->ours);
		compare_candidates(plain, event, &d->theirs);
	} else {
		ck_assert_uint_eq(d->ours.candidate_count, 0);
		ck_assert_uint_eq(d->theirs.candidate_count, 0);
	}
	compare_end(plain, event, &d->ours);
	compare_end(plain, event, &d->theirs);
}

/* An omitted action may be taken for a later one of the same kind and event. */
static bool is_told(const struct plain *plain, size_t at, enum lie lie)
{
	return lie != LEFT_OUT || at + 1 == plain->count ||
	       plain->actions[at].event != plain->actions[at + 1].event ||
	       plain->actions[at].action.kind !=
		       plain->actions[at + 1].action.kind;
}

static const struct {
	bool has_start, has_no_device;
	uint64_t mib; /* of the device; 0: unlimited */
	uint8_t release;
} programs[] = {
	{ false, false, 0, GP_RELEASE_LAST },
	{ false, false, 0, 9 },
	{ true, false, 0, GP_RELEASE_LAST },
	{ true, false, 120, 12 },
	{ false, false, 50, 3 },
	{ false, true, 50, GP_RELEASE_LAST },
	{ false, true, 50, 11 },
};

static void make(struct plain *plain, size_t program, uint64_t seed)
{
	const struct trace_like like = {
		.events = EVENTS,
		.has_start = programs[program].has_start,
	};

	*plain = (struct plain){
		.trace = trace_like(seed, &like),
		.capacity = programs[program].mib << 20,
		.has_no_device = programs[program].has_no_device,
	};
	gp_settings_init(&plain->settings, programs[program].release);
	play(plain);
}

static void compare_all(size_t program)
{
	static struct plain plain;

	make(&plain, program, 1 + program);
	compare(&plain, 0, NO_LIE);
	for (size_t at = 0; at < plain.count; at += 1 + at % 3) {
		enum lie lie = 1 + (at + program) % (LIES - 1);

		if (is_told(&plain, at, lie))
			compare(&plain, at, lie);
		if (plain.actions[at].action.kind == GP_OOM)
			compare(&plain, at, ADDRESS);
	}
	compare(&plain, plain.count - 1, LEFT_OUT);
	plain_release(&plain);
}

START_TEST(an_action_told_wrongly_is_found)
{
	for (size_t i = 0; i < COUNT_OF(programs); i++)
		compare_all(i);
}
END_TEST

/* ---- the order of simultaneous actions ---- */

static bool may_come_in_any_order(uint8_t kind)
{
	return kind == GP_FREE_COMPLETED || kind == GP_SEGMENT_FREE ||
	       kind == GP_SEGMENT_UNMAP;
}

/* Two actions that PyTorch 2.9 to 2.12 may perform in any order, and others. */
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

	for (size_t i = 0; i < 2 * COUNT_OF(releases); i++) {
		struct gp_diag diag = { 0 };

		plain = (struct plain){ .trace = random_trace(i, 5 * EVENTS) };
		gp_settings_init(&plain.settings, releases[i / 2]);
		ck_assert(!gp_settings_parse(
			&plain.settings,
			i % 2 ? "expandable_segments:True" : "", &diag));
		play(&plain);
		for (size_t at = 0; at + 1 < plain.count; at++)
			if (at % 7 == 0 || plain.actions[at].event ==
						   plain.actions[at + 1].event)
				open += compare_swapped(&plain, at);
		plain_release(&plain);
	}
	ck_assert_uint_gt(open, 3);
}
END_TEST

/* ---- counters ---- */

#define WORDS (sizeof(struct gp_stats) / sizeof(int64_t))

/* Finds the counter that is wrong; false: the word is not a counter. */
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

/* In another order, other inactive blocks exist in between, but the final ones
 * are the same. Releases before 2.12 and 2.4 lack some counters. */
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
	size_t found = 0, counted = 0;

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
		found += is_compared_here;
		counted = result.counters;
		if (!is_compared_here)
			continue;
		ck_assert_int_eq(result.first.kind, GP_DIFFERENT_COUNTER);
		ck_assert(result.first.is_before_all);
		ck_assert_uint_eq(result.first.before, 0);
	}
	ck_assert_uint_eq(found, counted);
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
		plain_release(&plain);
	}
}
END_TEST

static void compare_from(struct plain *plain, size_t at)
{
	struct gp_verify_result result;
	uint64_t event;
	size_t before = at;

	teller = (struct teller){ .counter = 1 + at % 12, .from = at + 1 };
	result = verified(plain);
	event = compare_event(plain, at, &result.first);
	ck_assert_int_eq(result.first.kind, GP_DIFFERENT_COUNTER);
	while (before && plain->actions[before - 1].event == event)
		before--;
	compare_deeds(plain, before, &result.first);
	compare_end(plain, event, &result.first.ours);
}

/* The counter is wrong from some action on: the request of this action is
 * reported. */
START_TEST(so_is_the_request_from_which_on_it_is_wrong)
{
	static struct plain plain;

	for (size_t i = 0; i < COUNT_OF(programs); i++) {
		make(&plain, i, 20 + i);
		for (size_t at = 0; at < plain.count; at += 1 + at % 5)
			compare_from(&plain, at);
		plain_release(&plain);
	}
}
END_TEST

static bool is_counter(size_t i, const char *name)
{
	const struct gp_stats none = { 0 };
	char found[64];
	int64_t x, y;

	return gp_verify_counter(i, found, sizeof(found), &none, &none, &x,
				 &y) &&
	       !strcmp(name, found);
}

START_TEST(counters_have_the_names_of_memory_stats)
{
	static const char *const kinds[] = { "all", "small_pool",
					     "large_pool" };
	static const char *const parts[] = { "current", "peak", "allocated",
					     "freed" };
	static const char *const rest[] = {
		"num_alloc_retries",  "num_ooms",
		"num_oom_rejections", "num_sync_all_streams",
		"num_device_alloc",   "num_device_free",
		"max_split_size",
	};
	char name[64];
	size_t i = 0;

	for (size_t k = 0; k < (size_t)GP_STAT_COUNT * 12; k++) {
		snprintf(name, sizeof(name), "%s.%s.%s", gp_stat_names[k / 12],
			 kinds[k / 4 % 3], parts[k % 4]);
		ck_assert(is_counter(i++, name));
	}
	for (size_t k = 0; k < 8; k++) {
		snprintf(name, sizeof(name), "oversize_%s.%s",
			 k < 4 ? "allocations" : "segments", parts[k % 4]);
		ck_assert(is_counter(i++, name));
	}
	for (size_t k = 0; k < COUNT_OF(rest); k++)
		ck_assert(is_counter(i++, rest[k]));
	ck_assert(!is_counter(i, ""));
}
END_TEST

/* ---- a device's own addresses ---- */

#define OTHERS	   40
#define PAGE	   (UINT64_C(2) << 20)
#define MOST_PAGES 12

/* Memory that others left free comes first, in any order; there is as much room
 * as in the first run. */
static struct gp_device *make_used(void *arg, uint32_t ordinal,
				   uint64_t capacity)
{
	uint64_t more = OTHERS * MOST_PAGES * PAGE, seed = *(uint64_t *)arg;
	uint64_t addr[OTHERS], size[OTHERS], held = 0;
	struct gp_device *device = gp_sim_create(ordinal + 1, capacity + more);

	for (size_t i = 0; i < OTHERS; i++) {
		size[i] = PAGE * (1 + next_random(&seed) % MOST_PAGES);
		ck_assert(device->ops->malloc(device, size[i], &addr[i]));
	}
	for (size_t i = 0; i < OTHERS; i++)
		if (next_random(&seed) % 3)
			device->ops->free(device, addr[i], size[i]);
		else
			held += size[i];
	device->ops->set_other(device, more - held);
	return device;
}

START_TEST(the_first_run_has_the_addresses_of_the_second)
{
	static struct plain plain;
	const struct gp_torch_cuda own = { 0 };

	for (uint64_t seed = 1; seed <= 20; seed++) {
		uint64_t state = seed;
		struct gp_verify_config config = {
			.settings = &plain.settings,
			.capacity = (UINT64_C(30) << 20) * (1 + seed % 9),
			.engine = gp_engine_find("caching"),
			.make_device = make_used,
			.make_device_arg = &state,
			.torch_cuda = &own,
		};
		struct gp_verify_result result;
		struct gp_diag diag = { 0 };

		plain = (struct plain){ .trace = random_trace(seed, EVENTS) };
		config.trace = plain.trace;
		gp_settings_init(&plain.settings, GP_RELEASE_LAST);
		ck_assert(!gp_settings_parse(
			&plain.settings,
			seed % 2 ? "expandable_segments:True" : "", &diag));
		play(&plain);
		ck_assert_int_eq(gp_verify(&config, &result, &diag), GP_OK);
		ck_assert_msg(!result.first.is_there, "seed %llu",
			      (unsigned long long)seed);
		plain_release(&plain);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ an_action_told_wrongly_is_found, 0 },
		{ so_is_the_request_from_which_on_it_is_wrong, 0 },
		{ a_counter_told_wrongly_is_found, 0 },
		{ counters_have_the_names_of_memory_stats, 0 },
		{ what_is_done_at_once_may_come_in_another_order, 0 },
		{ the_first_run_has_the_addresses_of_the_second, 0 },
	};

	return suite_run("verify", tests, COUNT_OF(tests));
}
