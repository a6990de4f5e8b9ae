/* SPDX-License-Identifier: MIT */
/* The runs of a trace for a whole range of capacities. */
#include "study/branches.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "replay/requests.h"
#include "study/branch_steps.h"
#include "study/runs.h"
#include "study/space.h"
#include "study/sweep/thread_pool.h"

#define GRAIN GP_DEVICE_GRAIN

/* ---- which traces are supported ---- */

bool branches_follow(const struct gp_trace *trace, uint32_t device)
{
	const struct gp_device_trace *t = &trace->devices[device];

	for (size_t i = 0; i < t->start.segment_count; i++)
		if (t->start.segments[i].is_expandable)
			return false;
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *e = &t->events[i];

		if (e->kind == GP_OTHER_MEMORY || e->kind == GP_SET_FRACTION ||
		    e->kind == GP_SET_SETTINGS || e->flags & GP_RESTORED)
			return false;
	}
	return true;
}

/* ---- a branch ---- */

/* A range of capacities with a common past, and what is known of the run up to
 * the last merge of branches. */
struct member {
	uint64_t from, to;
	struct branch_facts before;
};

/*
 * A run in progress. Its device is the largest of its members', so that what it
 * refuses is refused by all of them. The branch is a proxy between its
 * allocator and the simulated device, in order to notice requests to the
 * device.
 */
struct branch {
	struct gp_device proxy; /* must be first; reach: ranges only */
	struct gp_device *sim;
	struct gp_allocator *allocator;
	struct gp_alike alike;
	/* Counts since the last merge; and, in _before, the allocator's
	 * counters at that merge. */
	uint64_t refused, reserved, allocated;
	int64_t retries_before, synchronizes_before;
	struct member *members; /* ascending */
	size_t member_count, member_room;
	size_t at;	/* index of the next step */
	uint64_t asked; /* bytes requested by the current step */
	const struct gp_settings *settings;
	/* Whether the current step has made a request to the device, and
	 * whether a smaller member could get another answer. kept: in that
	 * case, a copy of the branch from before the request; NULL: no copy
	 * could be made. */
	bool has_asked, is_contested;
	struct branch *kept;
	/* Whether a pool and stream ever had two reservations at once, and
	 * whether a reservation was ever released; until then each one lies
	 * above all earlier ones. */
	bool has_two_ranges, gave_range;
	struct gp_shape shape;
	bool is_shapeless, is_over;
};

static struct branch *branch_of(struct gp_device *device)
{
	return (struct branch *)device;
}

static const struct gp_device_reach no_reach = {
	.least_refused = UINT64_MAX,
	.shortest_range = UINT64_MAX,
};

static void branch_destroy(struct branch *b)
{
	if (!b)
		return;
	branch_destroy(b->kept);
	if (b->allocator)
		b->allocator->ops->destroy(b->allocator);
	gp_device_destroy(b->sim);
	free(b->members);
	free(b->shape.words);
	free(b);
}

static struct branch *branch_copy(struct branch *b)
{
	struct branch *copy = gp_mem_take(sizeof(*copy));

	*copy = *b;
	copy->members = NULL;
	copy->member_count = copy->member_room = 0;
	copy->shape = (struct gp_shape){ 0 };
	copy->kept = NULL;
	copy->has_asked = copy->is_contested = false;
	copy->sim = gp_sim_copy(b->sim);
	copy->allocator = b->allocator->ops->copy(b->allocator, &copy->proxy,
						  &copy->alike);
	if (copy->allocator)
		return copy;
	branch_destroy(copy);
	return NULL;
}

/* ---- requests to the device ---- */

/* An upper bound for what a request maps: the last part is rounded up to whole
 * pages. */
static uint64_t most_mapped(const struct branch *b)
{
	return gp_sum(gp_settings_round(b->settings, b->asked),
		      gp_larger(b->settings->large_segment_size, GRAIN));
}

/* To be called before a request to the device for at most `more` bytes, while
 * the branch is still unchanged by it. */
static void before_request(struct branch *b, uint64_t more)
{
	uint64_t free_bytes, total;

	b->has_asked = true;
	if (b->is_contested)
		return;
	b->sim->ops->info(b->sim, &free_bytes, &total);
	if (gp_sum(total - free_bytes, more) <= b->members->from)
		return;
	b->is_contested = true;
	b->kept = branch_copy(b);
}

static bool proxy_malloc(struct gp_device *device, uint64_t size,
			 uint64_t *addr)
{
	struct branch *b = branch_of(device);

	before_request(b, gp_round_up(size, GRAIN));
	return b->sim->ops->malloc(b->sim, size, addr);
}

static void proxy_free(struct gp_device *device, uint64_t addr, uint64_t size)
{
	struct gp_device *sim = branch_of(device)->sim;

	sim->ops->free(sim, addr, size);
}

/* An allocator only asks for the total when it is created. */
static void proxy_info(struct gp_device *device, uint64_t *free_bytes,
		       uint64_t *total_bytes)
{
	struct gp_device *sim = branch_of(device)->sim;

	sim->ops->info(sim, free_bytes, total_bytes);
}

static bool proxy_reserve(struct gp_device *device, uint64_t size,
			  uint64_t *addr)
{
	struct branch *b = branch_of(device);

	before_request(b, most_mapped(b));
	return b->sim->ops->reserve(b->sim, size, addr);
}

static void proxy_unreserve(struct gp_device *device, uint64_t addr,
			    uint64_t size)
{
	struct branch *b = branch_of(device);

	b->gave_range = true;
	b->sim->ops->unreserve(b->sim, addr, size);
}

static bool proxy_map(struct gp_device *device, uint64_t addr, uint64_t size,
		      uint64_t page)
{
	struct branch *b = branch_of(device);

	before_request(b, most_mapped(b));
	return b->sim->ops->map(b->sim, addr, size, page);
}

static void proxy_unmap(struct gp_device *device, uint64_t addr, uint64_t size,
			uint64_t page)
{
	struct gp_device *sim = branch_of(device)->sim;

	sim->ops->unmap(sim, addr, size, page);
}

static void proxy_adopt(struct gp_device *device, uint64_t addr, uint64_t size,
			bool is_mapped)
{
	struct gp_device *sim = branch_of(device)->sim;

	sim->ops->adopt(sim, addr, size, is_mapped);
}

static void proxy_adopt_range(struct gp_device *device, uint64_t addr,
			      uint64_t size)
{
	struct gp_device *sim = branch_of(device)->sim;

	sim->ops->adopt_range(sim, addr, size);
}

static const struct gp_device_ops proxy_ops = {
	.name = "branch",
	.malloc = proxy_malloc,
	.free = proxy_free,
	.info = proxy_info,
	.reserve = proxy_reserve,
	.unreserve = proxy_unreserve,
	.map = proxy_map,
	.unmap = proxy_unmap,
	.adopt = proxy_adopt,
	.adopt_range = proxy_adopt_range,
};

/* ---- the facts of a run ---- */

static const uint64_t *words_of(const struct gp_device_calls *calls)
{
	return (const uint64_t *)calls;
}

static void add_calls(struct gp_device_calls *sum,
		      const struct gp_device_calls *calls)
{
	uint64_t *to = (uint64_t *)sum;

	static_assert(sizeof(*sum) % sizeof(*to) == 0, "counters alone");
	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += words_of(calls)[i];
}

static struct gp_device_reach reach_of(const struct branch *b)
{
	return (struct gp_device_reach){
		.most_granted = b->sim->reach.most_granted,
		.least_refused = b->sim->reach.least_refused,
		.longest_range = b->proxy.reach.longest_range,
		.shortest_range = b->proxy.reach.shortest_range,
	};
}

static struct gp_device_reach both_reaches(const struct gp_device_reach *a,
					   const struct gp_device_reach *b)
{
	return (struct gp_device_reach){
		.most_granted = gp_larger(a->most_granted, b->most_granted),
		.least_refused = gp_smaller(a->least_refused, b->least_refused),
		.longest_range = gp_larger(a->longest_range, b->longest_range),
		.shortest_range =
			gp_smaller(a->shortest_range, b->shortest_range),
	};
}

/* Adds what happened since the last merge. */
static void add_facts(struct branch_facts *facts, struct branch *b)
{
	const struct gp_stats *stats = b->allocator->ops->stats(b->allocator);
	struct gp_device_reach reach = reach_of(b);

	facts->reach = both_reaches(&facts->reach, &reach);
	facts->alike = gp_alike_both(&facts->alike, &b->alike);
	add_calls(&facts->calls, &b->sim->calls);
	facts->retries +=
		(uint64_t)(stats->num_alloc_retries - b->retries_before);
	facts->synchronizes += (uint64_t)(stats->num_sync_all_streams -
					  b->synchronizes_before);
	facts->refused += b->refused;
	facts->reserved = gp_larger(facts->reserved, b->reserved);
	facts->allocated = gp_larger(facts->allocated, b->allocated);
}

static void note_levels(struct branch *b)
{
	const struct gp_level *levels = b->allocator->levels;

	b->reserved = gp_larger(
		b->reserved,
		(uint64_t)gp_level_now(&levels[GP_STAT_RESERVED_BYTES]));
	b->allocated = gp_larger(
		b->allocated,
		(uint64_t)gp_level_now(&levels[GP_STAT_ALLOCATED_BYTES]));
}

/* Called before torch.cuda.reset_accumulated_memory_stats(): the counters
 * restart from 0, and what they counted so far is carried over. */
static void carry_counts(struct branch *b)
{
	const struct gp_stats *stats = b->allocator->ops->stats(b->allocator);

	b->retries_before -= stats->num_alloc_retries;
	b->synchronizes_before -= stats->num_sync_all_streams;
}

static void add_member(struct branch *b, const struct member *member,
		       uint64_t from, uint64_t to)
{
	if (from >= to)
		return;
	GP_GROW(b->members, b->member_count + 1, b->member_room);
	b->members[b->member_count] = *member;
	b->members[b->member_count].from = from;
	b->members[b->member_count++].to = to;
}

static uint64_t top_of(const struct branch *b)
{
	return b->members[b->member_count - 1].to;
}

/* ---- one branch, and those that split off from it ---- */

struct list {
	struct branch **items;
	size_t count, room;
};

struct batch {
	const struct gp_trace *trace;
	const struct reading *reading;
	struct list list;
	struct branches results; /* of branches that ended */
	bool has_asked;		 /* a request was made to a device */
};

static void add_branch(struct list *list, struct branch *b)
{
	GP_GROW(list->items, list->count + 1, list->room);
	list->items[list->count++] = b;
}

/* Ends a branch, and records the facts of each member. */
static void end_branch(struct branches *results, struct branch *b, bool is_out,
		       size_t event)
{
	for (size_t i = 0; i < b->member_count; i++) {
		struct branch_result *result;

		GP_GROW(results->list, results->count + 1, results->room);
		result = &results->list[results->count++];
		result->from = b->members[i].from;
		result->to = b->members[i].to;
		result->facts = b->members[i].before;
		add_facts(&result->facts, b);
		result->facts.is_out = is_out;
		result->facts.event = event;
	}
	b->is_over = true;
}

/* ---- splitting ---- */

/* Keeps the members from low on; smaller ones move to the copy from before the
 * request. */
static void split_members(struct branch *b, uint64_t low)
{
	struct member *members = b->members;
	size_t count = b->member_count;

	b->members = NULL;
	b->member_count = b->member_room = 0;
	for (size_t i = 0; i < count; i++) {
		const struct member *m = &members[i];

		if (b->kept)
			add_member(b->kept, m, m->from, gp_smaller(m->to, low));
		add_member(b, m, gp_larger(m->from, low), m->to);
	}
	free(members);
}

/* All members use reservations of the length that the largest one has. Members
 * for which these might be too short are given up; so is the whole branch if
 * two reservations might come in another order. */
static void check_ranges(struct branch *b)
{
	uint64_t least = runs_with_range(b->proxy.reach.longest_range);

	if (b->member_count && least > b->members->from)
		split_members(b, least);
	b->has_two_ranges |= b->proxy.reach.has_two_ranges;
	b->is_over |= !b->member_count || (b->has_two_ranges && b->gave_range);
}

/* Splits off the members that refuse what the branch was granted. */
static void split(struct batch *batch, struct branch *b)
{
	uint64_t granted = runs_grid_up(b->sim->reach.most_granted);

	if (granted > b->members->from)
		split_members(b, granted);
	if (b->kept && b->kept->member_count) {
		gp_sim_resize(b->kept->sim, top_of(b->kept) - GRAIN);
		add_branch(&batch->list, b->kept);
		b->kept = NULL;
	}
	branch_destroy(b->kept);
	b->kept = NULL;
	b->has_asked = b->is_contested = false;
	batch->has_asked = true;
	check_ranges(b);
}

/* ---- running ---- */

static bool serve(struct batch *batch, struct branch *b,
		  const struct branch_step *step)
{
	enum gp_answer answer;
	uint64_t addr;

	b->asked = step->size;
	answer = b->allocator->ops->alloc(b->allocator, step->id, step->size,
					  step->stream, step->pool, &addr);
	note_levels(b);
	if (answer == GP_REFUSED_BY_RULE)
		b->refused++;
	if (b->has_asked)
		split(batch, b);
	if (b->is_over || answer == GP_SERVED || answer == GP_REFUSED_BY_RULE)
		return !b->is_over;
	end_branch(&batch->results, b, true, step->event);
	return false;
}

static bool serve_both(struct batch *batch, struct branch *b,
		       const struct branch_step *step)
{
	const struct gp_allocator_ops *ops = b->allocator->ops;
	uint64_t bytes = ops->alloc_and_free(
		b->allocator, step->size, step->stream, step->pool, UINT64_MAX);

	if (bytes) {
		b->allocated = gp_larger(
			b->allocated,
			(uint64_t)gp_level_now(
				&b->allocator
					 ->levels[GP_STAT_ALLOCATED_BYTES]) +
				bytes);
		return true;
	}
	if (!serve(batch, b, step))
		return false;
	ops->free(b->allocator, step->id);
	return true;
}

static bool serve_other(struct batch *batch, struct branch *b,
			const struct branch_step *step)
{
	if (step->other.kind == GP_SEGMENT_ALLOC) {
		request_prefers(b->sim, &step->other);
		return true;
	}
	if (step->other.kind == GP_RESET_ACCUMULATED)
		carry_counts(b);
	if (request_other(b->allocator, batch->trace, &step->other) ==
	    GP_REFUSED_BY_RULE)
		b->refused++;
	note_levels(b);
	return true;
}

static bool play_step(struct batch *batch, struct branch *b,
		      const struct branch_step *step)
{
	switch (step->kind) {
	case STEP_FREE:
		b->allocator->ops->free(b->allocator, step->id);
		return true;
	case STEP_ALLOC: return serve(batch, b, step);
	case STEP_BOTH: return serve_both(batch, b, step);
	default: return serve_other(batch, b, step);
	}
}

static void play(struct batch *batch, struct branch *b)
{
	const struct reading *r = batch->reading;
	size_t begun = b->at;

	while (b->at < r->count && play_step(batch, b, &r->steps[b->at]))
		b->at++;
	batch->results.played += b->at - begun;
	b->at = 0;
	check_ranges(b);
}

/* ---- all branches ---- */

struct family {
	const struct branches_config *config;
	struct branches *results;
	struct reading reading;
	struct list list;
	size_t most; /* branches */
	struct gp_alike widest;
	struct batch *batches; /* of a round */
	uint32_t quiet;	       /* rounds without a request to a device */
};

/* Thread pool callback. */
static void play_batch(void *arg, size_t piece)
{
	struct family *f = arg;
	struct batch *batch = &f->batches[piece];

	for (size_t i = 0; i < batch->list.count; i++)
		play(batch, batch->list.items[i]);
}

static void take_over(struct family *f, struct batch *batch)
{
	struct branches *results = f->results;

	for (size_t i = 0; i < batch->list.count; i++)
		if (batch->list.items[i]->is_over)
			branch_destroy(batch->list.items[i]);
		else
			add_branch(&f->list, batch->list.items[i]);
	if (batch->results.count) {
		GP_GROW(results->list, results->count + batch->results.count,
			results->room);
		memcpy(results->list + results->count, batch->results.list,
		       batch->results.count * sizeof(*results->list));
		results->count += batch->results.count;
	}
	results->played += batch->results.played;
	if (batch->has_asked)
		f->quiet = 0;
	free(batch->list.items);
	branches_release(&batch->results);
}

/* More work than it takes to start a thread. */
#define STEPS_OF_THREAD 4000

static void play_round(struct family *f)
{
	size_t count = f->list.count;
	bool is_long = count * f->reading.count > STEPS_OF_THREAD;

	f->batches = gp_mem_alloc(count, sizeof(*f->batches));
	for (size_t i = 0; i < count; i++) {
		f->batches[i].trace = f->config->trace;
		f->batches[i].reading = &f->reading;
		add_branch(&f->batches[i].list, f->list.items[i]);
	}
	f->list.count = 0;
	gp_thread_pool_run(&(struct gp_thread_pool_config){
		.threads = is_long ? f->config->threads : 1,
		.count = count,
		.work = play_batch,
		.arg = f,
	});
	for (size_t i = 0; i < count; i++)
		take_over(f, &f->batches[i]);
	free(f->batches);
}

/* ---- merging ---- */

/* Gets the branch's shape, once. Two branches of one shape behave the same from
 * then on. */
static void look(struct branch *b)
{
	if (!b->shape.count && !b->is_shapeless)
		b->is_shapeless =
			!b->allocator->ops->shape(b->allocator, &b->shape);
}

static bool may_be_one(const struct branch *a, const struct branch *b)
{
	static const enum gp_stat_id ids[] = {
		GP_STAT_RESERVED_BYTES,
		GP_STAT_SEGMENT,
		GP_STAT_INACTIVE_SPLIT_BYTES,
		GP_STAT_ACTIVE_BYTES,
	};

	for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
		if (gp_level_now(&a->allocator->levels[ids[i]]) !=
		    gp_level_now(&b->allocator->levels[ids[i]]))
			return false;
	return true;
}

/* alike.max_split_least must be equal: below it an allocator records nothing in
 * alike. */
static bool are_one(struct branch *a, struct branch *b)
{
	if (a->alike.max_split_least != b->alike.max_split_least ||
	    !may_be_one(a, b))
		return false;
	look(a);
	look(b);
	return !a->is_shapeless && !b->is_shapeless &&
	       a->shape.count == b->shape.count &&
	       !memcmp(a->shape.words, b->shape.words,
		       a->shape.count * sizeof(*a->shape.words));
}

/* Adds what happened since the last merge to each member, and starts again. */
static void close_facts(struct family *f, struct branch *b)
{
	const struct gp_stats *stats = b->allocator->ops->stats(b->allocator);
	uint64_t looked_from = b->alike.max_split_least;

	for (size_t i = 0; i < b->member_count; i++)
		add_facts(&b->members[i].before, b);
	b->proxy.reach = b->sim->reach = no_reach;
	b->sim->calls = (struct gp_device_calls){ 0 };
	b->alike = f->widest;
	b->alike.max_split_least = looked_from;
	b->refused = b->reserved = b->allocated = 0;
	b->retries_before = stats->num_alloc_retries;
	b->synchronizes_before = stats->num_sync_all_streams;
}

static void join(struct family *f, struct branch *into, struct branch *b)
{
	close_facts(f, into);
	close_facts(f, b);
	for (size_t i = 0; i < b->member_count; i++)
		add_member(into, &b->members[i], b->members[i].from,
			   b->members[i].to);
	gp_sort(GP_SORTED(into->members, into->member_count, struct member,
			  from));
	gp_sim_resize(into->sim, top_of(into) - GRAIN);
	into->has_two_ranges |= b->has_two_ranges;
	into->gave_range |= b->gave_range;
	b->is_over = true;
}

static void drop_over(struct list *list)
{
	size_t kept = 0;

	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->is_over)
			branch_destroy(list->items[i]);
		else
			list->items[kept++] = list->items[i];
	list->count = kept;
}

/* The longer no request was made to a device, the less often merging is tried:
 * after 1, 2, 4 ... rounds. */
static bool is_due(struct family *f)
{
	uint32_t quiet = f->quiet++;

	return !(quiet & (quiet + 1));
}

static void join_all(struct family *f)
{
	struct branch **list = f->list.items;
	size_t count = f->list.count;

	for (size_t i = 0; i < count; i++) {
		list[i]->shape.count = 0;
		list[i]->is_shapeless = false;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count && !list[i]->is_over; k++)
			if (!list[k]->is_over && are_one(list[i], list[k]))
				join(f, list[i], list[k]);
	drop_over(&f->list);
}

/* ---- start and end ---- */

static enum gp_status begin(struct family *f, struct gp_diag *diag)
{
	const struct branches_config *config = f->config;
	const struct gp_device_trace *t = f->reading.trace;
	struct branch *b = gp_mem_alloc(1, sizeof(*b));
	const struct member all = { .before = { .reach = no_reach } };
	const struct gp_allocator_config made = {
		.engine = config->engine,
		.settings = config->settings,
		.device = &b->proxy,
		.device_ordinal = t->device,
		.streams = config->trace->streams,
		.stream_count = config->trace->stream_count,
		.pools = config->trace->pools,
		.pool_count = config->trace->pool_count,
		.block_ids = f->reading.ids.most,
		.start = t->start.segment_count ? &f->reading.start : NULL,
		.conf = config->conf,
		.alike = &b->alike,
	};
	enum gp_status status;

	b->proxy.ops = &proxy_ops;
	b->proxy.reach = no_reach;
	b->settings = config->settings;
	b->sim = gp_sim_create(t->device, config->to - GRAIN);
	request_places(b->sim, config->trace, t);
	status = config->engine->create(&made, &b->allocator, diag);
	if (status != GP_OK) {
		branch_destroy(b);
		return status;
	}
	f->widest = b->alike;
	add_member(b, &all, config->from, config->to);
	b->members->before.alike = f->widest;
	note_levels(b);
	add_branch(&f->list, b);
	return GP_OK;
}

/* Approximate memory that all branches may use together, and estimates of what
 * one branch uses: a constant, an amount per live block, and one per stream. */
#define MOST_BYTES	(UINT64_C(64) << 20)
#define BYTES_OF_BRANCH (UINT64_C(128) << 10)
#define BYTES_OF_BLOCK	256
#define BYTES_OF_STREAM 4096

static size_t most_branches(const struct family *f)
{
	uint64_t streams = f->config->trace->stream_count;
	uint64_t blocks = f->reading.ids.most;

	return 2 + (size_t)(MOST_BYTES /
			    (BYTES_OF_BRANCH + blocks * BYTES_OF_BLOCK +
			     streams * BYTES_OF_STREAM));
}

/* Gives up the branches with the smallest devices. */
static void thin(struct list *list, size_t most)
{
	while (list->count > most) {
		size_t least = 0;

		for (size_t i = 1; i < list->count; i++)
			if (top_of(list->items[i]) < top_of(list->items[least]))
				least = i;
		list->items[least]->is_over = true;
		drop_over(list);
	}
}

#define LEAST_EVENTS 128
#define ROUNDS	     64

static void play_all(struct family *f)
{
	const struct branches_config *config = f->config;
	size_t events = f->reading.trace->event_count;
	size_t round = gp_larger(events / ROUNDS, LEAST_EVENTS);

	while (f->reading.at < events && f->list.count &&
	       f->results->played <= config->most_events) {
		read_steps(&f->reading, round);
		play_round(f);
		if (is_due(f))
			join_all(f);
		thin(&f->list, f->most);
		if (config->progress)
			config->progress(config->progress_arg);
	}
	for (size_t i = 0; i < f->list.count && f->reading.at == events; i++)
		end_branch(f->results, f->list.items[i], false, 0);
}

enum gp_status branches_play(const struct branches_config *config,
			     struct branches *branches, struct gp_diag *diag)
{
	struct family f = { .config = config, .results = branches };
	enum gp_status status;

	*branches = (struct branches){ 0 };
	reading_init(&f.reading, &config->trace->devices[config->device]);
	f.most = most_branches(&f);
	status = begin(&f, diag);
	if (status == GP_OK)
		play_all(&f);
	for (size_t i = 0; i < f.list.count; i++)
		branch_destroy(f.list.items[i]);
	free(f.list.items);
	reading_release(&f.reading);
	gp_sort(GP_SORTED(branches->list, branches->count, struct branch_result,
			  from));
	return status;
}

const struct branch_result *branches_find(const struct branches *branches,
					  uint64_t capacity)
{
	size_t at = gp_sorted_above(GP_SORTED(branches->list, branches->count,
					      struct branch_result, to),
				    capacity);

	return at < branches->count && branches->list[at].from <= capacity
		       ? &branches->list[at]
		       : NULL;
}

void branches_release(struct branches *branches)
{
	free(branches->list);
	*branches = (struct branches){ 0 };
}
