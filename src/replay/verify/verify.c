/* SPDX-License-Identifier: MIT */
/*
 * Two runs of the same requests, and the first place where they differ.
 */
#include "replay/verify/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/device.h"
#include "replay/verify/prologue.h"

/* ---- comparing actions ---- */

struct comparison {
	bool is_on_device; /* the second run */
};

/* The address of an OOM action is the device's free memory. */
static bool has_address(const struct comparison *terms, uint8_t kind)
{
	return kind != GP_OOM || !terms->is_on_device;
}

static bool action_is_equal(const struct comparison *terms,
			    const struct gp_caused_action *a,
			    const struct gp_caused_action *b)
{
	return a->action.kind == b->action.kind &&
	       (a->action.addr == b->action.addr ||
		!has_address(terms, a->action.kind)) &&
	       a->action.size == b->action.size &&
	       a->action.stream == b->action.stream;
}

static bool may_permute(uint8_t kind)
{
	return kind == GP_FREE_COMPLETED || kind == GP_SEGMENT_FREE ||
	       kind == GP_SEGMENT_UNMAP;
}

/* The number of leading actions of the same kind. */
static size_t run_length(const struct gp_caused_action *actions, size_t count)
{
	size_t i = 0;

	while (i < count && actions[i].action.kind == actions->action.kind)
		i++;
	return i;
}

static int by_address(const void *a, const void *b)
{
	const struct gp_caused_action *x = a, *y = b;

	return (x->action.addr > y->action.addr) -
	       (x->action.addr < y->action.addr);
}

/* The number of leading actions of one kind that are the same in both runs but
 * for their order, if the order of that kind may differ; 0: none. */
static size_t actions_permuted(const struct comparison *terms,
			       const struct gp_caused_action *a, size_t a_count,
			       const struct gp_caused_action *b, size_t b_count)
{
	size_t n = run_length(a, a_count), i = 0;
	struct gp_caused_action *x, *y;

	if (!may_permute(a->action.kind) || n != run_length(b, b_count))
		return 0;
	x = gp_mem_alloc(2 * n, sizeof(*x));
	y = x + n;
	memcpy(x, a, n * sizeof(*x));
	memcpy(y, b, n * sizeof(*y));
	qsort(x, n, sizeof(*x), by_address);
	qsort(y, n, sizeof(*y), by_address);
	while (i < n && action_is_equal(terms, &x[i], &y[i]))
		i++;
	free(x);
	return i == n ? n : 0;
}

/*
 * ---- a scripted device ----
 *
 * A simulated device that places memory at the addresses of another run. Which
 * block an allocator takes depends on addresses, and a real device chooses its
 * own.
 */

struct device_script {
	const struct gp_caused_action
		*actions; /* borrowed from the other run */
	size_t count;
};

struct place {
	uint64_t addr, planned, size;
};

struct scripted {
	struct gp_device device;
	struct gp_device *plan; /* decides what there is room for */
	const struct device_script *script;
	size_t next_alloc, next_map; /* the next actions to visit */
	struct place *places;
	size_t count, room;
};

static struct scripted *scripted_of(struct gp_device *device)
{
	return (struct scripted *)device;
}

/* The address in the next action of that kind; if there is none, the planned
 * one. */
static uint64_t addr_of(const struct scripted *t, enum gp_event_kind kind,
			size_t *next, uint64_t planned)
{
	while (*next < t->script->count &&
	       t->script->actions[*next].action.kind != kind)
		++*next;
	return *next < t->script->count ? t->script->actions[*next].action.addr
					: planned;
}

static void add(struct scripted *t, uint64_t addr, uint64_t planned,
		uint64_t size)
{
	GP_GROW(t->places, t->count + 1, t->room);
	t->places[t->count++] = (struct place){ addr, planned, size };
}

/* The newest place that contains the address; NULL: none does. */
static struct place *find(const struct scripted *t, uint64_t addr)
{
	for (size_t i = t->count; i--;)
		if (addr - t->places[i].addr < t->places[i].size)
			return &t->places[i];
	return NULL;
}

static uint64_t planned_of(const struct scripted *t, uint64_t addr)
{
	const struct place *place = find(t, addr);

	return place ? place->planned + (addr - place->addr) : addr;
}

static void drop(struct scripted *t, uint64_t addr)
{
	struct place *place = find(t, addr);

	if (place)
		*place = t->places[--t->count];
}

static bool scripted_malloc(struct gp_device *device, uint64_t size,
			    uint64_t *addr)
{
	struct scripted *t = scripted_of(device);
	uint64_t planned;

	if (!t->plan->ops->malloc(t->plan, size, &planned))
		return false;
	*addr = addr_of(t, GP_SEGMENT_ALLOC, &t->next_alloc, planned);
	t->next_alloc++;
	add(t, *addr, planned, size);
	return true;
}

static void scripted_free(struct gp_device *device, uint64_t addr,
			  uint64_t size)
{
	struct scripted *t = scripted_of(device);

	t->plan->ops->free(t->plan, planned_of(t, addr), size);
	drop(t, addr);
}

static void scripted_info(struct gp_device *device, uint64_t *free_bytes,
			  uint64_t *total_bytes)
{
	struct gp_device *plan = scripted_of(device)->plan;

	plan->ops->info(plan, free_bytes, total_bytes);
}

static void scripted_set_other(struct gp_device *device, uint64_t bytes)
{
	struct gp_device *plan = scripted_of(device)->plan;

	plan->ops->set_other(plan, bytes);
}

/* A reservation begins where its first pages are mapped. */
static bool scripted_reserve(struct gp_device *device, uint64_t size,
			     uint64_t *addr)
{
	struct scripted *t = scripted_of(device);
	uint64_t planned;

	if (!t->plan->ops->reserve(t->plan, size, &planned))
		return false;
	*addr = addr_of(t, GP_SEGMENT_MAP, &t->next_map, planned);
	add(t, *addr, planned, size);
	return true;
}

static void scripted_unreserve(struct gp_device *device, uint64_t addr,
			       uint64_t size)
{
	struct scripted *t = scripted_of(device);

	t->plan->ops->unreserve(t->plan, planned_of(t, addr), size);
	drop(t, addr);
}

static bool scripted_map(struct gp_device *device, uint64_t addr, uint64_t size,
			 uint64_t page)
{
	struct scripted *t = scripted_of(device);

	if (!t->plan->ops->map(t->plan, planned_of(t, addr), size, page))
		return false;
	addr_of(t, GP_SEGMENT_MAP, &t->next_map, 0);
	t->next_map++;
	return true;
}

static void scripted_unmap(struct gp_device *device, uint64_t addr,
			   uint64_t size, uint64_t page)
{
	struct scripted *t = scripted_of(device);

	t->plan->ops->unmap(t->plan, planned_of(t, addr), size, page);
}

static void scripted_adopt(struct gp_device *device, uint64_t addr,
			   uint64_t size, bool is_mapped)
{
	struct gp_device *plan = scripted_of(device)->plan;

	plan->ops->adopt(plan, addr, size, is_mapped);
}

static void scripted_adopt_range(struct gp_device *device, uint64_t addr,
				 uint64_t size)
{
	struct gp_device *plan = scripted_of(device)->plan;

	plan->ops->adopt_range(plan, addr, size);
}

static void scripted_destroy(struct gp_device *device)
{
	struct scripted *t = scripted_of(device);

	gp_device_destroy(t->plan);
	free(t->places);
	free(t);
}

static const struct gp_device_ops scripted_ops = {
	.name = "told",
	.malloc = scripted_malloc,
	.free = scripted_free,
	.info = scripted_info,
	.set_other = scripted_set_other,
	.reserve = scripted_reserve,
	.unreserve = scripted_unreserve,
	.map = scripted_map,
	.unmap = scripted_unmap,
	.adopt = scripted_adopt,
	.adopt_range = scripted_adopt_range,
	.destroy = scripted_destroy,
};

/* For struct gp_replay_config's make_device; script: its argument. */
static struct gp_device *scripted_create(void *script, uint32_t ordinal,
					 uint64_t capacity)
{
	struct scripted *t = gp_mem_alloc(1, sizeof(*t));

	t->device.ops = &scripted_ops;
	t->device.reach.least_refused = UINT64_MAX;
	t->script = script;
	t->plan = gp_sim_create(ordinal, capacity);
	return &t->device;
}

/* ---- the counters that are compared, by the names of memory_stats ---- */

#define BY_POOL	 (GP_STAT_COUNT * 3 * 4)
#define OVERSIZE (2 * 4)

static void name_stat(size_t index, char *name, size_t size,
		      const struct gp_stats *a, const struct gp_stats *b,
		      int64_t *x, int64_t *y)
{
	size_t stat = index / 12, pool = index / 4 % 3, value = index % 4;

	snprintf(name, size, "%s.%s.%s", gp_stat_names[stat],
		 gp_stat_kind_names[pool], gp_stat_part_names[value]);
	*x = gp_stat_part(&a->by_pool[stat][pool], value);
	*y = gp_stat_part(&b->by_pool[stat][pool], value);
}

static void name_oversize(size_t index, char *name, size_t size,
			  const struct gp_stats *a, const struct gp_stats *b,
			  int64_t *x, int64_t *y)
{
	bool is_segments = index >= 4;

	snprintf(name, size, "oversize_%s.%s",
		 is_segments ? "segments" : "allocations",
		 gp_stat_part_names[index % 4]);
	*x = gp_stat_part(is_segments ? &a->oversize_segments
				      : &a->oversize_allocations,
			  index % 4);
	*y = gp_stat_part(is_segments ? &b->oversize_segments
				      : &b->oversize_allocations,
			  index % 4);
}

static const struct {
	const char *name;
	size_t offset;
} numbers[] = {
#define NUMBER(name)                                                           \
	{                                                                      \
#name, offsetof(struct gp_stats, name)                         \
	}
	NUMBER(num_alloc_retries),  NUMBER(num_ooms),
	NUMBER(num_oom_rejections), NUMBER(num_sync_all_streams),
	NUMBER(num_device_alloc),   NUMBER(num_device_free),
	NUMBER(max_split_size),
#undef NUMBER
};

static int64_t number_in(const struct gp_stats *stats, size_t index)
{
	return *(const int64_t *)((const char *)stats + numbers[index].offset);
}

bool gp_verify_counter(size_t index, char *name, size_t size,
		       const struct gp_stats *a, const struct gp_stats *b,
		       int64_t *value_a, int64_t *value_b)
{
	if (index < BY_POOL) {
		name_stat(index, name, size, a, b, value_a, value_b);
		return true;
	}
	index -= BY_POOL;
	if (index < OVERSIZE) {
		name_oversize(index, name, size, a, b, value_a, value_b);
		return true;
	}
	index -= OVERSIZE;
	if (index >= sizeof(numbers) / sizeof(*numbers))
		return false;
	snprintf(name, size, "%s", numbers[index].name);
	*value_a = number_in(a, index);
	*value_b = number_in(b, index);
	return true;
}

/* Releases in which PyTorch visits blocks or pools in the order of a hash of
 * pointers. */
#define FIRST_HASHED 9
#define LAST_HASHED  12

struct run {
	struct gp_caused_action *actions;
	size_t count, room;
	struct gp_replay_result result;
};

struct verify {
	const struct gp_verify_config *config;
	struct gp_verify_result *result;
	struct gp_diag *diag;
	struct prologue prologue;
	struct run ours, theirs;
	struct device_script script; /* for our run, if it has one */
};

/* ---- runs ---- */

static void keep(void *arg, const struct gp_action *action, uint64_t event)
{
	struct run *run = arg;

	if (action->kind == GP_SNAPSHOT)
		return;
	GP_GROW(run->actions, run->count + 1, run->room);
	run->actions[run->count++] =
		(struct gp_caused_action){ *action, event };
}

static void run_release(struct run *run)
{
	free(run->actions);
	gp_replay_release(&run->result);
}

enum side { OURS, THEIRS };

static const struct gp_engine *engine_of(const struct verify *v, enum side side)
{
	const struct gp_engine *torch = gp_engine_find("torch");
	const struct gp_engine *engine =
		v->config->engine ? v->config->engine : torch;

	return side == OURS && engine == torch ? gp_engine_find("caching")
					       : engine;
}

/* Runs the first `events` events on one side. */
static enum gp_status play(struct verify *v, enum side side, size_t events,
			   struct run *run)
{
	struct gp_trace trace = v->prologue.trace;
	struct gp_device_trace device = v->prologue.device;
	struct gp_replay_config config = {
		.trace = &trace,
		.settings = v->config->settings,
		.engine = engine_of(v, side),
		.conf = v->config->conf,
		.torch_lib = v->config->torch_lib,
		.mode = GP_WHAT_IF,
		.capacity = v->config->capacity,
		.places_nothing = true,
		.action = keep,
		.action_arg = run,
		.is_interrupted = v->config->is_interrupted,
	};

	/* If PyTorch ran on a real device, the driver chose the addresses, and
	 * our run has to use the same. */
	if (side == OURS && v->script.count) {
		config.make_device = scripted_create;
		config.make_device_arg = &v->script;
	}
	if (side == THEIRS) {
		config.make_device = v->config->make_device;
		config.make_device_arg = v->config->make_device_arg;
		config.check_memory = v->config->check_memory;
		config.torch_cuda = v->config->torch_cuda;
	}
	device.event_count = events;
	trace.devices = &device;
	*run = (struct run){ 0 };
	return gp_replay(&config, &run->result, v->diag);
}

static enum gp_status play_both(struct verify *v, size_t events,
				struct run *ours, struct run *theirs)
{
	enum gp_status status = play(v, OURS, events, ours);

	*theirs = (struct run){ 0 };
	return status == GP_OK ? play(v, THEIRS, events, theirs) : status;
}

/* ---- actions ---- */

static bool has_event(const struct verify *v, enum gp_event_kind kind,
		      uint16_t stream)
{
	for (size_t i = 0; i < v->prologue.count; i++)
		if (v->prologue.events[i].kind == kind &&
		    (stream == GP_ALL_STREAMS ||
		     v->prologue.events[i].stream == stream))
			return true;
	return false;
}

/* Whether the order of completions is undefined. Since 2.13 that is the case
 * only if a capture defers blocks. Blocks that wait for a stream which the
 * trace does not name are also visited in an arbitrary order. */
static bool order_is_open(const struct verify *v)
{
	uint8_t release = v->config->settings->release;

	if (release >= FIRST_HASHED &&
	    (release <= LAST_HASHED ||
	     has_event(v, GP_CAPTURE_BEGIN, GP_ALL_STREAMS)))
		return true;
	return has_event(v, GP_RECORD_STREAM, GP_NO_STREAM);
}

static size_t permuted(const struct verify *v, const struct comparison *terms,
		       size_t at)
{
	return actions_permuted(terms, v->ours.actions + at, v->ours.count - at,
				v->theirs.actions + at, v->theirs.count - at);
}

/* The index of the first action that differs, or SIZE_MAX. */
static size_t compare_actions(struct verify *v)
{
	struct comparison terms = {
		.is_on_device = v->config->make_device != NULL,
	};
	bool is_open = order_is_open(v);
	size_t i = 0, n;

	while (i < v->ours.count && i < v->theirs.count) {
		if (action_is_equal(&terms, &v->ours.actions[i],
				    &v->theirs.actions[i])) {
			i++;
			continue;
		}
		n = is_open ? permuted(v, &terms, i) : 0;
		if (!n)
			return i;
		v->result->permuted += n;
		i += n;
	}
	v->result->actions = i;
	return v->ours.count == v->theirs.count ? SIZE_MAX : i;
}

/* ---- counters ---- */

/* Peaks and totals of inactive blocks depend on the order of completions;
 * current values do not. */
static bool is_loose(const struct verify *v, const char *name)
{
	static const char last[] = "current";
	size_t length = strlen(name);

	return v->result->permuted && !strncmp(name, "inactive", 8) &&
	       (length < sizeof(last) ||
		strcmp(name + length - (sizeof(last) - 1), last) != 0);
}

/* Counters that the release does not have are 0 in PyTorch's answer. */
static bool is_counted(const struct verify *v, const char *name)
{
	uint8_t release = v->config->settings->release;

	if (!strcmp(name, "num_oom_rejections"))
		return release >= 12;
	if (!strcmp(name, "num_sync_all_streams") ||
	    !strncmp(name, "num_device", 10))
		return release >= 4;
	return true;
}

static bool counters_are_equal(struct verify *v, const struct gp_stats *a,
			       const struct gp_stats *b)
{
	uint64_t compared = 0;
	bool equal = true;
	int64_t x, y;
	char name[64];

	for (size_t i = 0;
	     gp_verify_counter(i, name, sizeof(name), a, b, &x, &y); i++) {
		if (is_loose(v, name) || !is_counted(v, name))
			continue;
		compared++;
		equal = equal && x == y;
	}
	v->result->counters = compared;
	return equal;
}

/* ---- the first difference ---- */

static int by_size(const void *a, const void *b)
{
	const struct gp_candidate *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? -1 : 1;
	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static size_t free_blocks(const struct gp_state *state, size_t segment,
			  uint64_t least, struct gp_candidate *found)
{
	const struct gp_segment *s = &state->segments[segment];
	size_t n = 0;

	for (uint32_t i = 0; i < s->blocks; i++) {
		const struct gp_block *b = &state->blocks[s->first_block + i];

		if (b->state == GP_INACTIVE && b->size >= least)
			found[n++] = (struct gp_candidate){ b->addr, b->size,
							    s->addr, s->size };
	}
	return n;
}

static void list_candidates(const struct verify *v,
			    const struct gp_event *request,
			    const struct gp_state *state,
			    struct gp_verify_side *side)
{
	struct gp_candidate *found =
		gp_mem_alloc(state->block_count, sizeof(*found));
	uint64_t least = gp_settings_round(v->config->settings, request->size);
	size_t n = 0;

	for (size_t i = 0; i < state->segment_count; i++)
		if (state->segments[i].stream == request->stream)
			n += free_blocks(state, i, least, found + n);
	qsort(found, n, sizeof(*found), by_size);
	side->candidate_count = n < GP_CANDIDATES ? n : GP_CANDIDATES;
	memcpy(side->candidates, found, side->candidate_count * sizeof(*found));
	free(found);
}

static void list_actions(const struct run *run, size_t from, size_t stop,
			 struct gp_verify_side *side)
{
	for (size_t i = from; i < stop && i < run->count; i++)
		side->actions[side->count++] = run->actions[i];
}

/* Keeps the counters and the refusal of a side, without counters that the
 * release does not have. */
static void keep_end(const struct verify *v, const struct run *run,
		     struct gp_verify_side *side)
{
	_Static_assert(sizeof(side->refusal) ==
			       sizeof(run->result.first_refusal),
		       "one text goes into the other");
	side->stats = run->result.stats;
	if (!is_counted(v, "num_oom_rejections"))
		side->stats.num_oom_rejections = 0;
	if (!is_counted(v, "num_sync_all_streams"))
		side->stats.num_sync_all_streams =
			side->stats.num_device_alloc =
				side->stats.num_device_free = 0;
	memcpy(side->refusal, run->result.first_refusal, sizeof(side->refusal));
	side->refusal_event = run->result.first_refusal_event;
	side->is_refusal_in_start = side->refusal_event < v->prologue.length;
	if (!side->is_refusal_in_start)
		side->refusal_event -= v->prologue.length;
}

/* Collects the free blocks before the request, and the counters after it. */
static enum gp_status look_closer(struct verify *v, size_t event)
{
	struct gp_difference *d = &v->result->first;
	struct run ours, theirs;
	enum gp_status status = play_both(v, event, &ours, &theirs);

	if (status == GP_OK && d->request.kind == GP_ALLOC) {
		list_candidates(v, &d->request, &ours.result.end, &d->ours);
		list_candidates(v, &d->request, &theirs.result.end, &d->theirs);
	}
	run_release(&ours);
	run_release(&theirs);
	if (status == GP_OK)
		status =
			play_both(v, event + !d->is_before_all, &ours, &theirs);
	keep_end(v, &ours, &d->ours);
	keep_end(v, &theirs, &d->theirs);
	run_release(&ours);
	run_release(&theirs);
	return status;
}

static enum gp_status differ(struct verify *v, enum gp_difference_kind kind,
			     size_t event, size_t action)
{
	struct gp_difference *d = &v->result->first;
	size_t from = action > GP_VERIFY_BEFORE ? action - GP_VERIFY_BEFORE : 0;

	d->is_there = true;
	d->kind = kind;
	d->is_in_start = event < v->prologue.length;
	d->event = d->is_in_start ? event : event - v->prologue.length;
	d->request = v->prologue.events[event];
	d->before = action - from;
	list_actions(&v->ours, from, action + GP_VERIFY_AFTER, &d->ours);
	list_actions(&v->theirs, from, action + GP_VERIFY_AFTER, &d->theirs);
	return look_closer(v, event);
}

static size_t event_of(const struct run *run, size_t action, size_t otherwise)
{
	return action < run->count ? run->actions[action].event : otherwise;
}

static enum gp_status differ_in_action(struct verify *v, size_t action)
{
	size_t last = v->prologue.count ? v->prologue.count - 1 : 0;
	size_t a = event_of(&v->ours, action, last);
	size_t b = event_of(&v->theirs, action, last);

	return differ(v, GP_DIFFERENT_ACTION, a < b ? a : b, action);
}

/* The number of actions that were caused by earlier requests. */
static size_t actions_before(const struct run *run, size_t event)
{
	size_t i = 0;

	while (i < run->count && run->actions[i].event < event)
		i++;
	return i;
}

static bool is_alike_after(struct verify *v, size_t events,
			   enum gp_status *status)
{
	struct run ours, theirs;
	bool alike;

	*status = play_both(v, events, &ours, &theirs);
	alike = counters_are_equal(v, &ours.result.stats,
				   &theirs.result.stats) &&
		ours.result.dropped == theirs.result.dropped &&
		ours.result.refused == theirs.result.refused;
	run_release(&ours);
	run_release(&theirs);
	return alike;
}

/* Binary search for the request after which the counters differ. */
static enum gp_status differ_in_counter(struct verify *v,
					enum gp_difference_kind kind)
{
	size_t low = 0, high = v->prologue.count; /* the same, and different */
	enum gp_status status = GP_OK;

	v->result->first.is_before_all = !is_alike_after(v, 0, &status);
	if (status == GP_OK && v->result->first.is_before_all)
		return differ(v, kind, 0, 0);
	while (high - low > 1 && status == GP_OK) {
		size_t middle = low + (high - low) / 2;

		if (is_alike_after(v, middle, &status))
			low = middle;
		else
			high = middle;
	}
	if (status != GP_OK)
		return status;
	return differ(v, kind, low, actions_before(&v->ours, low));
}

/* ---- the verification ---- */

static enum gp_status check_start(struct verify *v)
{
	const struct gp_state *start =
		&v->config->trace->devices[v->config->device].start;
	enum gp_status status;
	struct run run;

	v->result->start_segments = start->segment_count;
	v->result->start_requests = v->prologue.length;
	if (!v->prologue.length)
		return GP_OK;
	status = play(v, OURS, v->prologue.length, &run);
	v->result->start_rebuilt = prologue_alike(start, &run.result.end);
	run_release(&run);
	return status;
}

/* Whether the second run has room for what the first one reserved. */
static void check_room(struct verify *v)
{
	struct gp_verify_result *result = v->result;

	result->peak = v->ours.result.at_peak.reserved;
	result->is_too_large =
		v->config->room && result->peak > v->config->room;
}

/* Repeats the first run with its memory at the addresses of the second. */
static enum gp_status repeat_first(struct verify *v)
{
	v->script =
		(struct device_script){ v->theirs.actions, v->theirs.count };
	run_release(&v->ours);
	return play(v, OURS, v->prologue.count, &v->ours);
}

static enum gp_status compare(struct verify *v)
{
	size_t action = compare_actions(v);

	if (action != SIZE_MAX) {
		v->result->actions = action;
		return differ_in_action(v, action);
	}
	if (!counters_are_equal(v, &v->ours.result.stats,
				&v->theirs.result.stats))
		return differ_in_counter(v, GP_DIFFERENT_COUNTER);
	if (v->ours.result.dropped != v->theirs.result.dropped ||
	    v->ours.result.refused != v->theirs.result.refused)
		return differ_in_counter(v, GP_DIFFERENT_ANSWER);
	return GP_OK;
}

enum gp_status gp_verify(const struct gp_verify_config *config,
			 struct gp_verify_result *result, struct gp_diag *diag)
{
	struct verify v = { .config = config, .result = result, .diag = diag };
	enum gp_status status;

	*result = (struct gp_verify_result){ 0 };
	prologue_make(&v.prologue, config->trace, config->device,
		      config->settings);
	status = check_start(&v);
	if (status == GP_OK)
		status = play(&v, OURS, v.prologue.count, &v.ours);
	if (status == GP_OK)
		check_room(&v);
	if (status == GP_OK && !result->is_too_large) {
		status = play(&v, THEIRS, v.prologue.count, &v.theirs);
		result->memory = v.theirs.result.memory;
		if (status == GP_OK && config->torch_cuda)
			status = repeat_first(&v);
		if (status == GP_OK)
			status = compare(&v);
	}
	run_release(&v.ours);
	run_release(&v.theirs);
	prologue_release(&v.prologue);
	return status;
}
