/* SPDX-License-Identifier: MIT */
/*
 * What an explanation says about a run, compared with a plain computation: all
 * actions of the run, and after each event a loop over all segments, pages and
 * blocks.
 */
#include <math.h>
#include <stdlib.h>

#include "gpupool/allocator.h"
#include "played.h"
#include "random_trace.h"
#include "study/metrics/explain.h"
#include "study/metrics/culprit.h"
#include "study/metrics/page.h"
#include "trace/slice.h"

#define EVENTS	    300
#define MOST	    4000
#define MOST_BLOCKS (EVENTS + START_BLOCKS + 2)

/* ---- the run, action by action ---- */

struct acted {
	struct gp_action action;
	uint64_t event;
};

struct block {
	uint64_t addr, size, requested, freed, asked;
	bool is_there, is_pending, from_start;
};

struct unit {
	uint64_t addr, size;
};

struct run {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	struct gp_settings settings;
	uint64_t capacity;
	struct acted acted[MOST];
	size_t count;
	/* as after an event */
	struct block blocks[MOST_BLOCKS];
	struct unit units[MOST];
	size_t unit_count;
};

static void note(void *arg, const struct gp_action *action, uint64_t event)
{
	struct run *run = arg;

	ck_assert_uint_lt(run->count, MOST);
	run->acted[run->count++] = (struct acted){ *action, event };
}

static struct gp_replay_config config_of(struct run *run)
{
	struct gp_settings ignored;
	struct gp_replay_config config = run_of(run->trace, &ignored);

	config.settings = &run->settings;
	config.capacity = run->capacity;
	return config;
}

static void play(struct run *run)
{
	struct gp_replay_config config = config_of(run);
	struct gp_replay_result result;

	config.action = note;
	config.action_arg = run;
	result = played(&config);
	gp_replay_release(&result);
}

/* ---- memory after each event ---- */

static void add_units(struct run *run, uint64_t addr, uint64_t size,
		      uint64_t page)
{
	for (uint64_t at = 0; at < size; at += page)
		run->units[run->unit_count++] =
			(struct unit){ addr + at, page };
}

/* Large pages if the range consists of them, else PyTorch's small ones. */
static void map_units(struct run *run, uint64_t addr, uint64_t size,
		      bool is_small)
{
	uint64_t page = run->settings.large_segment_size;

	if (is_small || size % page)
		page = METRICS_SMALL_PAGE;
	add_units(run, addr, size, page);
}

static void drop_units(struct run *run, uint64_t addr, uint64_t size)
{
	size_t kept = 0;

	for (size_t i = 0; i < run->unit_count; i++)
		if (run->units[i].addr < addr ||
		    run->units[i].addr >= addr + size)
			run->units[kept++] = run->units[i];
	run->unit_count = kept;
}

static void begin_at_start(struct run *run)
{
	const struct gp_state *start = &run->device->start;

	for (size_t i = 0; i < start->segment_count; i++) {
		const struct gp_segment *s = &start->segments[i];

		if (s->is_expandable)
			map_units(run, s->addr, s->size, s->is_small);
		else
			add_units(run, s->addr, s->size, s->size);
	}
	for (size_t i = 0; i < start->block_count; i++) {
		const struct gp_block *b = &start->blocks[i];

		if (b->state != GP_INACTIVE)
			run->blocks[b->id] = (struct block){
				.addr = b->addr,
				.size = b->size,
				.requested = b->requested,
				.is_there = true,
				.is_pending = b->state == GP_PENDING_FREE,
				.from_start = true,
			};
	}
}

static void act(struct run *run, const struct acted *acted)
{
	const struct gp_action *a = &acted->action;
	struct block *b = a->id == GP_NO_ID ? NULL : &run->blocks[a->id];

	switch (a->kind) {
	case GP_SEGMENT_ALLOC: add_units(run, a->addr, a->size, a->size); break;
	case GP_SEGMENT_MAP:
		map_units(run, a->addr, a->size, a->size == METRICS_SMALL_PAGE);
		break;
	case GP_SEGMENT_FREE:
	case GP_SEGMENT_UNMAP: drop_units(run, a->addr, a->size); break;
	case GP_ALLOC:
		*b = (struct block){ .addr = a->addr,
				     .size = a->block,
				     .requested = a->size,
				     .asked = acted->event,
				     .is_there = true };
		break;
	case GP_FREE:
		b->is_pending = true;
		b->freed = acted->event;
		break;
	case GP_FREE_COMPLETED: b->is_there = false; break;
	default: break;
	}
}

static uint64_t shared(const struct block *b, const struct unit *u)
{
	uint64_t from = b->addr > u->addr ? b->addr : u->addr;
	uint64_t to = b->addr + b->size < u->addr + u->size ? b->addr + b->size
							    : u->addr + u->size;

	return to > from ? to - from : 0;
}

struct look {
	uint64_t reserved, allocated, pending;
	uint64_t by_class[GP_SIZE_CLASSES];
};

static struct look look_at(const struct run *run)
{
	struct look look = { 0 };

	for (size_t i = 0; i < run->unit_count; i++)
		look.reserved += run->units[i].size;
	for (size_t i = 0; i < MOST_BLOCKS; i++) {
		const struct block *b = &run->blocks[i];

		if (b->is_there && b->is_pending)
			look.pending += b->size;
		if (!b->is_there || b->is_pending)
			continue;
		look.allocated += b->size;
		for (unsigned class = 0; class < GP_SIZE_CLASSES; class ++)
			if (b->size >> class == 1)
				look.by_class[class] += b->size;
	}
	return look;
}

/* ---- over the whole run ---- */

struct sums {
	double byte_events[MOST_BLOCKS];
	uint64_t events[MOST_BLOCKS], blocks[MOST_BLOCKS];
	bool from_start[MOST_BLOCKS];
	struct gp_waiting waiting;
	struct look looks[EVENTS + 2]; /* at the start, then after each event */
};

/* Each live block of a unit pins an equal share of the unit's free bytes. */
static void add_shares(const struct run *run, const struct askers *askers,
		       struct sums *sums)
{
	for (size_t i = 0; i < run->unit_count; i++) {
		const struct unit *u = &run->units[i];
		uint64_t free = u->size, holders = 0;

		for (size_t k = 0; k < MOST_BLOCKS; k++) {
			const struct block *b = &run->blocks[k];
			uint64_t bytes = b->is_there ? shared(b, u) : 0;

			free -= bytes;
			holders += bytes && !b->is_pending;
		}
		for (size_t k = 0; k < MOST_BLOCKS; k++) {
			const struct block *b = &run->blocks[k];

			if (b->is_there && !b->is_pending && shared(b, u))
				sums->byte_events[askers->list[k].culprit] +=
					(double)free / (double)holders;
		}
	}
}

static void add_presence(const struct run *run, const struct askers *askers,
			 struct sums *sums)
{
	bool is_present[MOST_BLOCKS] = { false };

	for (size_t k = 0; k < askers->count; k++)
		if (run->blocks[k].is_there && !run->blocks[k].is_pending)
			is_present[askers->list[k].culprit] = true;
	for (size_t c = 0; c < askers->culprit_count; c++)
		sums->events[c] += is_present[c];
}

static void add_waiting(struct sums *sums, uint64_t pending, uint64_t event)
{
	if (pending > sums->waiting.peak) {
		sums->waiting.peak = pending;
		sums->waiting.peak_event = event;
	}
	sums->waiting.byte_events += (double)pending;
}

static void sum_up(struct run *run, const struct askers *askers,
		   struct sums *sums)
{
	size_t next = 0;

	begin_at_start(run);
	for (size_t k = 0; k < askers->count; k++)
		if (run->blocks[k].is_there) {
			sums->blocks[askers->list[k].culprit]++;
			sums->from_start[askers->list[k].culprit] = true;
		}
	sums->looks[0] = look_at(run);
	for (uint64_t event = 0; event < run->device->event_count; event++) {
		for (; next < run->count && run->acted[next].event == event;
		     next++) {
			const struct gp_action *a = &run->acted[next].action;

			if (a->kind == GP_FREE_COMPLETED)
				sums->waiting.frees +=
					run->blocks[a->id].freed != event;
			if (a->kind == GP_ALLOC)
				sums->blocks[askers->list[a->id].culprit]++;
			act(run, &run->acted[next]);
		}
		sums->looks[event + 1] = look_at(run);
		add_shares(run, askers, sums);
		add_presence(run, askers, sums);
		add_waiting(sums, sums->looks[event + 1].pending, event);
	}
	for (size_t k = 0; k < askers->count; k++)
		sums->waiting.frees +=
			run->blocks[k].is_there && run->blocks[k].is_pending;
	ck_assert_uint_eq(next, run->count);
}

static void near(double a, double b)
{
	ck_assert_msg(fabs(a - b) <= 1e-6 * (1 + fabs(a)), "%f and %f", a, b);
}

static void compare_sums(const struct gp_explain *explain,
			 const struct askers *askers, const struct sums *sums)
{
	size_t culprits = 0;

	for (size_t i = 0; i < explain->over_time.count; i++) {
		const struct gp_culprit *c = &explain->over_time.list[i];
		double average = sums->byte_events[c->index] /
				 (double)sums->events[c->index];

		near(c->byte_events, sums->byte_events[c->index]);
		ck_assert_uint_eq(c->events, sums->events[c->index]);
		ck_assert_uint_eq(c->blocks, sums->blocks[c->index]);
		ck_assert_int_eq(c->from_start, sums->from_start[c->index]);
		ck_assert(fabs((double)c->bytes - average) < 1.001);
		ck_assert(!i || c[-1].byte_events >= c->byte_events);
	}
	for (size_t c = 0; c < askers->culprit_count; c++)
		culprits += sums->events[c] &&
			    sums->byte_events[c] >= (double)sums->events[c];
	ck_assert_uint_eq(culprits, explain->over_time.count);
	ck_assert_uint_eq(explain->waiting.frees, sums->waiting.frees);
	ck_assert_uint_eq(explain->waiting.peak, sums->waiting.peak);
	ck_assert_uint_eq(explain->waiting.peak_event,
			  sums->waiting.peak_event);
	near(explain->waiting.byte_events, sums->waiting.byte_events);
}

/* A step's peaks include its events and the memory with which it begins. */
static void compare_steps(const struct gp_steps *steps, const struct sums *sums)
{
	for (size_t i = 0; i < steps->count; i++) {
		const struct gp_step *step = &steps->list[i];
		const struct look *end = &sums->looks[step->end];
		uint64_t reserved = 0, allocated = 0, gap = 0;

		for (uint64_t event = step->first; event <= step->end;
		     event++) {
			const struct look *l = &sums->looks[event];
			uint64_t between = l->reserved - l->allocated;

			reserved =
				l->reserved > reserved ? l->reserved : reserved;
			allocated = l->allocated > allocated ? l->allocated
							     : allocated;
			gap = between > gap ? between : gap;
		}
		ck_assert_uint_eq(step->reserved, reserved);
		ck_assert_uint_eq(step->allocated, allocated);
		ck_assert_uint_eq(step->gap, gap);
		ck_assert_uint_eq(step->live_at_end, end->allocated);
		ck_assert_mem_eq(step->by_class, end->by_class,
				 sizeof(end->by_class));
	}
}

/* ---- released, and obtained again ---- */

/* Memory obtained within a step after a release is paid again. */
static void pay(struct gp_release *last, const struct acted *acted,
		uint64_t window)
{
	uint64_t left = last->bytes - last->paid_again;

	if (acted->event != last->event && acted->event - last->event < window)
		last->paid_again +=
			acted->action.size < left ? acted->action.size : left;
}

/* What the requests of a kind released, and had to obtain again. */
static void compare_releases(const struct run *run, uint8_t kind,
			     const struct gp_releases *releases,
			     uint64_t window)
{
	static struct gp_release list[MOST_BLOCKS];
	uint64_t bytes = 0, paid_again = 0;
	size_t count = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct acted *a = &run->acted[i];
		const struct gp_event *event = &run->device->events[a->event];

		if (gp_event_is_growth(a->action.kind) && count)
			pay(&list[count - 1], a, window);
		if (!gp_event_is_release(a->action.kind) || event->kind != kind)
			continue;
		if (!count || list[count - 1].event != a->event)
			list[count++] =
				(struct gp_release){ .event = a->event,
						     .site = event->site };
		list[count - 1].bytes += a->action.size;
		list[count - 1].segments++;
	}
	ck_assert_uint_eq(count, releases->count);
	for (size_t i = 0; i < count; i++) {
		const struct gp_release *r = &releases->list[i];

		ck_assert_uint_eq(r->event, list[i].event);
		ck_assert_uint_eq(r->site, list[i].site);
		ck_assert_uint_eq(r->bytes, list[i].bytes);
		ck_assert_uint_eq(r->segments, list[i].segments);
		ck_assert_uint_eq(r->paid_again, list[i].paid_again);
		bytes += list[i].bytes;
		paid_again += list[i].paid_again;
	}
	ck_assert_uint_eq(bytes, releases->bytes);
	ck_assert_uint_eq(paid_again, releases->paid_again);
}

/* ---- at one moment ---- */

static void compare_pins(const struct run *run, const struct gp_state *state,
			 const struct gp_pins *pins)
{
	size_t units = 0, holders = 0;

	for (size_t i = 0; i < run->unit_count; i++) {
		const struct unit *u = &run->units[i];
		const struct gp_unit *found = NULL;
		uint64_t free = u->size, live = 0;

		for (size_t k = 0; k < MOST_BLOCKS; k++) {
			const struct block *b = &run->blocks[k];
			uint64_t bytes = b->is_there ? shared(b, u) : 0;

			free -= bytes;
			live += bytes && !b->is_pending;
		}
		for (size_t k = 0; k < pins->unit_count; k++)
			if (pins->units[k].addr == u->addr)
				found = &pins->units[k];
		ck_assert_int_eq(found != NULL, free && live);
		if (!found)
			continue;
		units++;
		holders += live;
		ck_assert_uint_eq(found->size, u->size);
		ck_assert_uint_eq(found->free, free);
		ck_assert_uint_eq(found->holders, live);
		ck_assert_uint_ge(found->addr,
				  state->segments[found->segment].addr);
		ck_assert_uint_lt(found->addr,
				  state->segments[found->segment].addr +
					  state->segments[found->segment].size);
	}
	ck_assert_uint_eq(units, pins->unit_count);
	for (size_t i = 0; i < pins->unit_count; i++) {
		const struct gp_unit *u = &pins->units[i];
		uint64_t sum = 0, most = 0, least = UINT64_MAX;

		ck_assert(!i || u[-1].free > u->free ||
			  (u[-1].free == u->free && u[-1].addr < u->addr));
		for (uint32_t k = 0; k < u->holders; k++) {
			const struct gp_holder *h =
				&pins->holders[u->first_holder + k];
			const struct block *b = &run->blocks[h->id];

			ck_assert_uint_eq(h->unit, i);
			ck_assert_uint_eq(h->addr, b->addr);
			ck_assert_uint_eq(h->size, b->size);
			ck_assert_uint_eq(h->requested, b->requested);
			ck_assert(!k || h[-1].addr < h->addr);
			ck_assert(!k || h[-1].share >= h->share);
			sum += h->share;
			most = h->share > most ? h->share : most;
			least = h->share < least ? h->share : least;
		}
		ck_assert_uint_eq(sum, u->free);
		ck_assert_uint_le(most - least, 1);
	}
	ck_assert_uint_eq(holders, pins->holder_count);
}

struct group {
	uint64_t blocks, bytes, units, least, most, age;
	bool from_start;
};

static void add_to(struct group *g, const struct block *b, uint64_t bytes,
		   uint64_t event)
{
	uint64_t age = b->from_start ? event + 1 : event - b->asked;

	g->least =
		!g->blocks || b->requested < g->least ? b->requested : g->least;
	g->most = b->requested > g->most ? b->requested : g->most;
	g->age = age > g->age ? age : g->age;
	g->from_start |= b->from_start;
	g->bytes += bytes;
	g->blocks++;
}

static void compare_groups(const struct gp_culprits *culprits,
			   const struct group *groups, size_t count)
{
	size_t there = 0;

	for (size_t i = 0; i < count; i++)
		there += groups[i].bytes > 0;
	ck_assert_uint_eq(culprits->count, there);
	for (size_t i = 0; i < culprits->count; i++) {
		const struct gp_culprit *c = &culprits->list[i];
		const struct group *g = &groups[c->index];

		ck_assert_uint_eq(c->blocks, g->blocks);
		ck_assert_uint_eq(c->bytes, g->bytes);
		ck_assert_uint_eq(c->units, g->units);
		ck_assert_uint_eq(c->least, g->least);
		ck_assert_uint_eq(c->most, g->most);
		ck_assert_uint_eq(c->events, g->age);
		ck_assert_int_eq(c->from_start, g->from_start);
		ck_assert(!i || c[-1].bytes >= c->bytes);
	}
}

static void compare_moment(const struct run *run, const struct askers *askers,
			   const struct gp_explain *explain)
{
	struct group live[MOST_BLOCKS] = { 0 }, now[MOST_BLOCKS] = { 0 };
	uint32_t in[MOST_BLOCKS] = { 0 };
	bool pins[MOST_BLOCKS] = { 0 }; /* each block counts once */

	compare_pins(run, &explain->state, &explain->pins);
	for (size_t k = 0; k < askers->count; k++)
		if (run->blocks[k].is_there && !run->blocks[k].is_pending)
			add_to(&live[askers->list[k].culprit], &run->blocks[k],
			       run->blocks[k].size, explain->event);
	compare_groups(&explain->live, live, askers->culprit_count);
	for (uint32_t u = 0; u < explain->pins.unit_count; u++)
		for (size_t k = 0; k < explain->pins.holder_count; k++) {
			const struct gp_holder *h = &explain->pins.holders[k];
			uint32_t c = askers->list[h->id].culprit;

			if (h->unit != u)
				continue;
			add_to(&now[c], &run->blocks[h->id], h->share,
			       explain->event);
			now[c].blocks -= pins[h->id];
			pins[h->id] = true;
			now[c].units += in[c] != u + 1;
			in[c] = u + 1;
		}
	compare_groups(&explain->now, now, askers->culprit_count);
}

/* ---- all of it ---- */

/* Each run ends at an event, and shows the memory then. */
static void play_until(struct run *run, uint64_t event)
{
	memset(run->blocks, 0, sizeof(run->blocks));
	run->unit_count = 0;
	begin_at_start(run);
	for (size_t i = 0; i < run->count && run->acted[i].event <= event; i++)
		act(run, &run->acted[i]);
}

static uint64_t window_of(const struct gp_steps *steps)
{
	return steps->count ? (steps->list[steps->count - 1].end -
			       steps->list[0].first) /
				      steps->count
			    : UINT64_MAX;
}

static void compare(struct run *run)
{
	static struct sums sums;
	struct gp_replay_config config = config_of(run);
	const struct gp_explain_config explained = { .run = &config,
						     .skip_attempts = true };
	struct gp_explain explain;
	struct askers askers;
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(gp_explain(&explained, &explain, &diag), GP_OK);
	play(run);
	askers_init(&askers, run->trace, run->device);
	sums = (struct sums){ 0 };
	sum_up(run, &askers, &sums);
	compare_sums(&explain, &askers, &sums);
	compare_steps(&explain.steps, &sums);
	compare_releases(run, GP_EMPTY_CACHE, &explain.empty_caches,
			 window_of(&explain.steps));
	compare_releases(run, GP_ALLOC, &explain.retries,
			 window_of(&explain.steps));
	play_until(run, explain.event);
	compare_moment(run, &askers, &explain);
	askers_release(&askers);
	gp_explain_release(&explain);
}

static const struct {
	const char *conf;
	uint64_t capacity;
} runs[] = {
	{ "", GP_UNLIMITED },
	{ "expandable_segments:True", GP_UNLIMITED },
	{ "", UINT64_C(500) << 20 },
	{ "expandable_segments:True", UINT64_C(400) << 20 },
	{ "max_split_size_mb:32", UINT64_C(600) << 20 },
};

START_TEST(each_event_is_walked_over)
{
	static struct run run;

	for (uint64_t seed = 1; seed <= 8; seed++) {
		const struct trace_like like = {
			.events = EVENTS,
			.every = seed % 3 ? 40 : 0,
			.has_start = seed % 2,
		};
		struct gp_trace *trace = trace_like(seed, &like);
		struct gp_diag diag = { 0 };

		run = (struct run){ .trace = trace,
				    .device = trace->devices,
				    .capacity = runs[_i].capacity };
		gp_settings_init(&run.settings, GP_RELEASE_LAST);
		ck_assert_int_eq(
			gp_settings_parse(&run.settings, runs[_i].conf, &diag),
			GP_OK);
		compare(&run);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("track");

	tcase_add_loop_test(tcase, each_event_is_walked_over, 0,
			    COUNT_OF(runs));
	return suite_play("track", tcase);
}
