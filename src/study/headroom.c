/* SPDX-License-Identifier: MIT */
/*
 * The search for the smallest capacity: binary search first, then a replay in
 * the middle of the widest unknown range, until all capacities are known or the
 * tries are used up.
 */
#include "study/headroom.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "gpupool/allocator.h"
#include "gpupool/study.h"
#include "study/known.h"

#define GRAIN	 GP_DEVICE_GRAIN
/* Bytes: some share of it, which a process may have, is still more than any
 * device has. */
#define MOST	 (UINT64_C(1) << 61)
#define INFINITE UINT64_MAX

/* ---- a lower bound, without a replay ---- */

/*
 * A lower bound for what the caching allocator reserves for a trace, whatever
 * the size of the device. No segment serves two streams, or both small and
 * large requests, so each combination of these has whole segments of its own.
 */
struct sum {
	const struct gp_settings *settings;
	uint64_t least_large; /* smallest segment of large requests, in bytes */
	uint64_t *shares;     /* live bytes by stream, small and large */
	uint64_t **of;	      /* by id: the block's share; NULL: not live */
	uint64_t *sizes;      /* by id */
	uint64_t now, most;
};

static uint64_t whole(uint64_t bytes)
{
	return gp_round_up(bytes, GRAIN);
}

static uint64_t reserved(const struct sum *sum, const uint64_t *share)
{
	bool is_large = (share - sum->shares) % 2;

	if (!*share)
		return 0;
	return is_large ? gp_larger(whole(*share), sum->least_large)
			: whole(*share);
}

static void change(struct sum *sum, uint64_t *share, uint64_t bytes)
{
	sum->now -= reserved(sum, share);
	*share = bytes;
	sum->now += reserved(sum, share);
	sum->most = gp_larger(sum->most, sum->now);
}

static void add(struct sum *sum, const struct gp_event *event)
{
	uint64_t size = gp_settings_round(sum->settings, event->size);
	uint64_t *share = &sum->shares[2 * (size_t)event->stream +
				       (size > GP_SMALL_SIZE)];

	if (!event->size)
		return;
	sum->of[event->id] = share;
	sum->sizes[event->id] = size;
	change(sum, share, *share + size);
}

static void take(struct sum *sum, const struct gp_event *event)
{
	uint64_t *share = sum->of[event->id];

	if (!share)
		return;
	sum->of[event->id] = NULL;
	change(sum, share, *share - sum->sizes[event->id]);
}

/* Finds the smallest segment of large requests. False: the trace contains
 * something that makes smaller or shared segments possible. */
static bool find_least(struct sum *sum, const struct gp_device_trace *t)
{
	sum->least_large = sum->settings->large_segment_size;
	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];
		uint64_t size;

		if (event->kind == GP_SET_SETTINGS)
			return false;
		if (event->kind != GP_ALLOC)
			continue;
		size = gp_settings_round(sum->settings, event->size);
		if (event->flags & GP_RESTORED || event->size > INT64_MAX)
			return false;
		if (size >= GP_MIN_LARGE_ALLOC)
			sum->least_large = gp_smaller(sum->least_large, size);
	}
	return true;
}

/* Returns a lower bound, in bytes and whole granules, for what the engine
 * caching needs to serve every request under these settings; 0: none is
 * known. */
static uint64_t least_reserved(const struct gp_trace *trace, uint32_t device,
			       const struct gp_settings *settings)
{
	const struct gp_device_trace *t = &trace->devices[device];
	struct sum sum = { .settings = settings };

	if (settings->large_segment_size % GRAIN || t->start.segment_count ||
	    trace->pool_count > 1 || !find_least(&sum, t))
		return 0;
	sum.shares =
		gp_mem_alloc(2 * trace->stream_count + 2, sizeof(*sum.shares));
	sum.of = gp_mem_alloc(t->block_ids + (size_t)1, sizeof(*sum.of));
	sum.sizes = gp_mem_alloc(t->block_ids + (size_t)1, sizeof(*sum.sizes));
	for (size_t i = 0; i < t->event_count; i++)
		if (t->events[i].kind == GP_ALLOC)
			add(&sum, &t->events[i]);
		else if (t->events[i].kind == GP_FREE)
			take(&sum, &t->events[i]);
	free(sum.shares);
	free(sum.of);
	free(sum.sizes);
	return sum.most;
}

/* ---- the search ---- */

struct search {
	const struct gp_headroom_config *config;
	struct gp_headroom *result;
	struct gp_diag *diag;
	enum gp_status status;
	struct runs *runs;
	uint32_t made_before; /* replays made before this search */
	struct known known[GP_HEADROOM_GOALS];
	bool follows_size;
	struct gp_device_calls unlimited_calls;
};

/* ---- one replay, and what it shows ---- */

/* NULL: the replay failed. */
static const struct run_outcome *play(struct search *s, uint64_t capacity,
				      enum gp_on_oom on_oom)
{
	const struct gp_headroom_config *config = s->config;
	const struct run_asked asked = {
		.settings = config->settings,
		.conf = config->conf,
		.capacity = capacity,
		.on_oom = on_oom,
	};
	const struct run_outcome *outcome;

	if (s->status != GP_OK)
		return NULL;
	if (config->progress)
		config->progress(config->progress_arg,
				 runs_made(s->runs) - s->made_before);
	s->status = runs_ask(s->runs, &asked, &outcome, s->diag);
	return s->status == GP_OK ? outcome : NULL;
}

/* Refusals by a rule count only if there are more than without a limit: the
 * additional ones are a consequence of failures for lack of memory. */
static bool is_fine(const struct search *s, const struct run_outcome *outcome,
		    enum gp_headroom_goal goal)
{
	return outcome->has_room && outcome->refused <= s->result->refused &&
	       (goal == GP_NO_OOM || !outcome->retries);
}

/* Adds the capacities for which the run would have been the same. A run that
 * was made for another purpose may have bounds that are no multiples of
 * GRAIN. */
static void learn(struct search *s, uint64_t capacity,
		  const struct run_outcome *outcome)
{
	uint64_t from = runs_grid_up(gp_smaller(outcome->from, capacity));
	uint64_t to = gp_larger(runs_grid_up(outcome->to), capacity + GRAIN);

	for (unsigned goal = 0; goal < GP_HEADROOM_GOALS; goal++)
		known_add(&s->known[goal], from, to,
			  is_fine(s, outcome, (enum gp_headroom_goal)goal));
}

/* What is known about a capacity, after a replay if necessary. */
static const struct known_range *look(struct search *s,
				      enum gp_headroom_goal goal,
				      uint64_t capacity)
{
	const struct known_range *range = known_find(&s->known[goal], capacity);
	const struct run_outcome *outcome;

	if (range)
		return range;
	outcome = play(s, capacity, GP_OOM_STOP);
	if (!outcome)
		return NULL;
	learn(s, capacity, outcome);
	return known_find(&s->known[goal], capacity);
}

/* ---- the search for one goal ---- */

/* Binary search between a capacity that is not fine, or is just below the
 * least, and a fine one; returns a fine capacity whose predecessor is not
 * fine. */
static uint64_t halve(struct search *s, enum gp_headroom_goal goal,
		      uint64_t bad, uint64_t fine)
{
	while (fine - bad > GRAIN) {
		uint64_t middle = bad + (fine - bad) / 2 / GRAIN * GRAIN;
		const struct known_range *range = look(s, goal, middle);

		if (!range)
			break;
		if (range->is_fine)
			fine = range->from > bad ? range->from : bad + GRAIN;
		else
			bad = range->to < fine ? range->to - GRAIN
					       : fine - GRAIN;
	}
	return fine;
}

static uint64_t middle_of(const struct known_range *gap)
{
	return gap->from + (gap->to - gap->from) / 2 / GRAIN * GRAIN;
}

/* The middles of the widest unknown ranges are the next runs, so they are made
 * in advance on several threads. */
static void foresee(struct search *s, const struct known_range *gaps, size_t n)
{
	struct run_asked asked[RUNS_FORESEEN];

	for (size_t i = 0; i < n; i++)
		asked[i] = (struct run_asked){
			.settings = s->config->settings,
			.conf = s->config->conf,
			.capacity = middle_of(&gaps[i]),
			.on_oom = GP_OOM_STOP,
		};
	runs_foresee(s->runs, asked, n, s->config->threads);
}

/* Replays the middle of the widest unknown range, until there is none. */
static void fill(struct search *s, enum gp_headroom_goal goal, uint64_t from,
		 uint64_t to)
{
	struct known_range gaps[RUNS_FORESEEN];

	for (uint32_t i = 0; i < s->config->tries && s->status == GP_OK; i++) {
		size_t n = known_gaps(&s->known[goal], from, to, gaps,
				      RUNS_FORESEEN);

		if (!n)
			break;
		foresee(s, gaps, n);
		look(s, goal, middle_of(gaps));
	}
	runs_forget(s->runs);
}

static uint64_t unknown(const struct known *known, uint64_t from, uint64_t to)
{
	struct known_range gap;

	return known_gaps(known, from, to, &gap, 1) ? gap.to - gap.from : 0;
}

static bool is_known_fine(struct search *s, enum gp_headroom_goal goal,
			  uint64_t capacity)
{
	const struct known_range *range = look(s, goal, capacity);

	return range && range->is_fine;
}

/* Finds a fine capacity; INFINITE: there is none. If settings depend on the
 * size of the device, more memory than the peak without a limit may be needed,
 * and more may be worse; then a capacity larger by a quarter must be fine,
 * too. */
static uint64_t find_fine(struct search *s, enum gp_headroom_goal goal)
{
	const struct gp_headroom *h = s->result;
	uint64_t at = h->unlimited > h->least ? h->unlimited : h->least;

	for (; at <= MOST && s->status == GP_OK; at *= 2) {
		uint64_t beyond = runs_grid_up(at + at / 4);
		bool is_fine = is_known_fine(s, goal, at);

		if (h->is_settled)
			return is_fine ? at : INFINITE;
		if (is_fine && is_known_fine(s, goal, beyond))
			return beyond;
	}
	return INFINITE;
}

static void describe(struct search *s, enum gp_headroom_goal goal,
		     uint64_t capacity, uint64_t top)
{
	const struct known *known = &s->known[goal];
	uint64_t least = s->result->least;
	/* A run without a call is fine below the least, too. */
	uint64_t lowest = gp_larger(known_lowest_fine(known, capacity), least);

	s->result->bounds[goal] = (struct gp_headroom_bound){
		.is_there = true,
		.capacity = capacity,
		.failing = capacity > least ? capacity - GRAIN : 0,
		.top = top,
		.unknown_above = unknown(known, capacity, top),
		.fine_below = lowest < capacity ? lowest : 0,
		.unknown_below = unknown(known, least, capacity),
	};
}

static void search(struct search *s, enum gp_headroom_goal goal)
{
	const struct known *known = &s->known[goal];
	uint64_t below = s->result->least - GRAIN; /* not tried itself */
	uint64_t top = find_fine(s, goal), at, bad;

	if (top == INFINITE)
		return;
	at = halve(s, goal, below, top);
	fill(s, goal, at, top);
	bad = known_highest_bad(known, top, GRAIN);
	if (bad != INFINITE && bad > at)
		at = halve(s, goal, bad, top);
	if (goal == GP_NO_OOM && !s->config->only_need)
		fill(s, goal, s->result->least, at);
	describe(s, goal, at, top);
}

/* Finds whether all larger devices give the same answers. With expandable
 * segments they do if the run at the unlimited peak makes the same calls as
 * without a limit: then reservations were long enough, and on larger devices
 * they are longer. */
static void settle(struct search *s)
{
	struct gp_headroom *h = s->result;
	const struct run_outcome *outcome;

	h->is_settled = h->is_plain;
	if (h->is_plain || s->follows_size)
		return;
	outcome = play(s, h->unlimited, GP_OOM_STOP);
	if (!outcome)
		return;
	learn(s, h->unlimited, outcome);
	h->is_settled = !memcmp(&outcome->calls, &s->unlimited_calls,
				sizeof(outcome->calls));
}

/* ---- the start of the search ---- */

/* Finds the first request that failed in the recording, and whether other
 * requests follow it. */
static void find_recorded_oom(const struct gp_device_trace *t,
			      struct gp_headroom *h)
{
	bool is_refused = false;

	for (size_t i = 0; i < t->event_count; i++) {
		const struct gp_event *event = &t->events[i];

		if (event->kind != GP_ALLOC)
			continue;
		h->goes_on_after_oom |= is_refused;
		if (!is_refused && event->flags & GP_REFUSED) {
			is_refused = true;
			h->recorded_oom = i;
		}
	}
}

/* Adds capacities that are known to be too small. If some requests are refused
 * even without a limit, these bounds are not valid. */
static void learn_least(struct search *s)
{
	const struct gp_headroom_config *config = s->config;
	const struct gp_headroom *h = s->result;
	size_t count;

	if (h->refused || config->engine != gp_engine_table(&count))
		return;
	for (unsigned goal = 0; goal < GP_HEADROOM_GOALS; goal++)
		known_add(&s->known[goal], h->least,
			  runs_grid_up(least_reserved(config->trace,
						      config->device,
						      config->settings)),
			  false);
}

static void begin(struct search *s)
{
	const struct gp_headroom_config *config = s->config;
	const struct gp_device_trace *t =
		&config->trace->devices[config->device];
	struct gp_headroom *h = s->result;
	const struct run_outcome *outcome;
	uint64_t start;

	h->live =
		gp_study_live(config->trace, config->device, GP_MIN_BLOCK_SIZE);
	h->other = gp_trace_others(t);
	h->start_reserved = gp_state_reserved(&t->start);
	find_recorded_oom(t, h);
	start = gp_settings_device_for(config->settings, h->start_reserved);
	h->least = gp_larger(runs_grid_up(gp_larger(h->live, start)), GRAIN);
	outcome = play(s, GP_UNLIMITED, GP_OOM_STOP);
	if (!outcome)
		return;
	h->is_plain = outcome->is_plain;
	s->follows_size = outcome->follows_size;
	h->unlimited = gp_larger(outcome->least_capacity, h->least);
	h->refused = outcome->refused;
	h->peak_allocated = outcome->peak_allocated;
	s->unlimited_calls = outcome->calls;
	if (h->is_plain)
		learn(s, h->unlimited, outcome);
	if (!outcome->first_oom.is_there)
		learn_least(s);
}

/* ---- runs in advance ---- */

static void notify(void *arg)
{
	const struct search *s = arg;

	if (s->config->progress)
		s->config->progress(s->config->progress_arg,
				    runs_made(s->runs) - s->made_before);
}

/* Makes all runs between the least and the unlimited peak in advance. */
static void foresee_all(struct search *s)
{
	const struct gp_headroom_config *config = s->config;
	const struct gp_headroom *h = s->result;
	const struct run_asked asked = {
		.settings = config->settings,
		.conf = config->conf,
		.on_oom = GP_OOM_STOP,
	};
	struct known_range gap;

	if (s->status != GP_OK ||
	    !known_gaps(&s->known[GP_NO_OOM], h->least, h->unlimited, &gap, 1))
		return;
	s->status = runs_foresee_range(s->runs, &asked,
				       &(struct runs_range){
					       .from = gap.from,
					       .to = gap.to,
					       .most = config->tries,
					       .threads = config->threads,
					       .progress = notify,
					       .progress_arg = s,
				       },
				       s->diag);
}

/* ---- the curve ---- */

static void add_point(struct gp_headroom *h, uint64_t capacity)
{
	for (size_t i = 0; i < h->point_count; i++)
		if (h->points[i].capacity == capacity)
			return;
	h->points[h->point_count++].capacity = capacity;
}

/* Points at even distances from the least capacity to the largest of interest,
 * and the results. */
static void choose_points(struct search *s)
{
	struct gp_headroom *h = s->result;
	uint32_t n = s->config->points;
	uint64_t top = h->unlimited;

	for (unsigned goal = 0; goal < GP_HEADROOM_GOALS; goal++)
		top = gp_larger(top, h->bounds[goal].capacity);
	h->points = gp_mem_alloc(n + 2 * (size_t)GP_HEADROOM_GOALS,
				 sizeof(*h->points));
	for (unsigned goal = 0; goal < GP_HEADROOM_GOALS; goal++) {
		if (!h->bounds[goal].is_there)
			continue;
		add_point(h, h->bounds[goal].capacity);
		if (h->bounds[goal].failing)
			add_point(h, h->bounds[goal].failing);
	}
	for (uint32_t i = 0; i < n; i++)
		add_point(h, h->least + (uint64_t)((double)(top - h->least) *
						   i / (n > 1 ? n - 1 : 1)) /
						GRAIN * GRAIN);
	gp_sort(GP_SORTED(h->points, h->point_count, struct gp_headroom_point,
			  capacity));
}

static void draw_curve(struct search *s)
{
	struct gp_headroom *h = s->result;

	if (!s->config->points)
		return;
	choose_points(s);
	for (size_t i = 0; i < h->point_count; i++) {
		struct gp_headroom_point *point = &h->points[i];
		const struct run_outcome *outcome =
			play(s, point->capacity, GP_OOM_GO_ON);

		if (!outcome)
			return;
		point->ooms = outcome->ooms;
		point->has_room = outcome->has_room;
		point->is_refused = outcome->refused > h->refused;
		point->retries = outcome->retries;
		point->peak_reserved = outcome->reserved;
		point->calls = outcome->calls;
		point->synchronizes = outcome->synchronizes;
	}
}

/* Runs for this search only, if the caller has none to share. */
static struct runs *own_runs(const struct gp_headroom_config *config)
{
	return runs_create(&(struct runs_config){
		.trace = config->trace,
		.device = config->device,
		.engine = config->engine,
		.torch_lib = config->torch_lib,
		.places = config->places,
	});
}

enum gp_status gp_headroom(const struct gp_headroom_config *config,
			   struct gp_headroom *headroom, struct gp_diag *diag)
{
	struct search s = {
		.config = config,
		.result = headroom,
		.diag = diag,
		.runs = config->runs ? config->runs : own_runs(config),
	};

	*headroom = (struct gp_headroom){ 0 };
	s.made_before = runs_made(s.runs);
	begin(&s);
	settle(&s);
	foresee_all(&s);
	search(&s, GP_NO_OOM);
	if (!config->only_need)
		search(&s, GP_NO_RETRY);
	draw_curve(&s);
	for (unsigned goal = 0; goal < GP_HEADROOM_GOALS; goal++)
		known_release(&s.known[goal]);
	headroom->replays = runs_made(s.runs);
	if (!config->runs)
		runs_destroy(s.runs);
	if (s.status != GP_OK)
		gp_headroom_release(headroom);
	return s.status;
}

void gp_headroom_release(struct gp_headroom *headroom)
{
	free(headroom->points);
	*headroom = (struct gp_headroom){ 0 };
}
