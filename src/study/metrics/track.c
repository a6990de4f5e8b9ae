/* SPDX-License-Identifier: MIT */
/* Following a run action by action. */
#include "study/metrics/track.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sorted.h"
#include "gpupool/metrics.h"
#include "study/metrics/film.h"
#include "study/metrics/page.h"

/* ---- units by address ---- */

/* Units, that is, segments and pages of expandable segments, by address; each
 * with its free bytes and the sum of what each of its holders pins. */

struct unit {
	uint64_t addr, size, free; /* bytes */
	uint64_t holders;
	double pinned;	/* pinned per holder so far, in bytes x events */
	uint64_t since; /* event up to which pinned is computed */
};

struct unit_map {
	struct unit *units; /* sorted by address */
	size_t count, room;
	size_t found; /* index of the last unit found: often the next one */
};

/* The first unit that begins at or above addr. */
static size_t lower(const struct unit_map *map, uint64_t addr)
{
	return gp_sorted_from(
		GP_SORTED(map->units, map->count, struct unit, addr), addr);
}

static void unit_map_add(struct unit_map *map, uint64_t addr, uint64_t size,
			 uint64_t event)
{
	size_t at = lower(map, addr);

	GP_GROW(map->units, map->count + 1, map->room);
	memmove(&map->units[at + 1], &map->units[at],
		(map->count - at) * sizeof(*map->units));
	map->units[at] = (struct unit){
		.addr = addr, .size = size, .free = size, .since = event
	};
	map->count++;
}

/* Removes all units that begin in the range. */
static void unit_map_remove(struct unit_map *map, uint64_t addr, uint64_t size)
{
	size_t from = lower(map, addr), to = lower(map, addr + size);

	if (from == to)
		return;
	memmove(&map->units[from], &map->units[to],
		(map->count - to) * sizeof(*map->units));
	map->count -= to - from;
}

/* Whether that unit is the last one that begins at or below addr. */
static bool is_last(const struct unit_map *map, size_t index, uint64_t addr)
{
	return index < map->count && map->units[index].addr <= addr &&
	       (index + 1 == map->count || map->units[index + 1].addr > addr);
}

/* The unit that contains an address; NULL: none. */
static struct unit *unit_map_find(struct unit_map *map, uint64_t addr)
{
	struct unit *unit;

	if (!is_last(map, map->found, addr)) {
		size_t above = lower(map, addr + 1);

		if (!above)
			return NULL;
		map->found = above - 1;
	}
	unit = &map->units[map->found];
	return addr - unit->addr < unit->size ? unit : NULL;
}

/* Updates `pinned` to the event and returns it. */
static double unit_pinned(struct unit *unit, uint64_t event)
{
	if (unit->holders)
		unit->pinned += (double)unit->free / (double)unit->holders *
				(double)(event - unit->since);
	unit->since = event;
	return unit->pinned;
}

/* A block is allocated; its free becomes pending; it is freed. */
enum change { ALLOC, PEND, FREE };

static void unit_map_change(struct unit_map *map, uint64_t addr, uint64_t size,
			    uint64_t event, enum change change)
{
	struct unit *unit = unit_map_find(map, addr);
	struct unit *end = map->units + map->count;

	for (; size && unit && unit < end; unit++) {
		uint64_t part = unit->addr + unit->size - addr;

		if (part > size)
			part = size;
		unit_pinned(unit, event);
		if (change == ALLOC) {
			unit->free -= part < unit->free ? part : unit->free;
			unit->holders++;
		} else if (change == PEND) {
			unit->holders -= unit->holders != 0;
		} else {
			unit->free += part;
		}
		size -= part;
		addr += part;
	}
}

/* ---- what is followed ---- */

/* A block that is live or pending free. */
struct holding {
	uint64_t addr, size;
	uint64_t freed; /* event of its free; while pending */
	/* Pinned sums of its first and last unit when it began. */
	double first, last;
	bool is_there, is_pending;
};

/* The time during which a culprit has any block. */
struct presence {
	uint64_t live, since;
};

struct track {
	const struct gp_trace *trace;
	const struct gp_device_trace *device;
	const struct gp_settings *settings;
	const struct askers *askers;
	struct gp_explain *explain;
	struct unit_map units;
	struct holding *holdings;    /* by id */
	struct gp_culprit *culprits; /* parallel to askers.culprits */
	struct presence *presences;  /* parallel to culprits */
	uint64_t event;		     /* of the last action */
	size_t step;		     /* index of the current step */
	/* Events within which memory counts as obtained again. */
	uint64_t window;
	uint64_t reserved, allocated, pending, pending_since;
	uint64_t by_class[GP_SIZE_CLASSES];
};

/* ---- segments ---- */

static void add_pages(struct track *t, uint64_t addr, uint64_t size,
		      uint64_t page, uint64_t event)
{
	if (!page || size % page)
		page = METRICS_SMALL_PAGE;
	for (uint64_t at = 0; at < size; at += page)
		unit_map_add(&t->units, addr + at,
			     size - at < page ? size - at : page, event);
}

/* The small pool maps one page of 2 MiB at a time, the large pool always
 * more. */
static void map_pages(struct track *t, const struct gp_action *a,
		      uint64_t event)
{
	add_pages(t, a->addr, a->size,
		  a->size == METRICS_SMALL_PAGE
			  ? METRICS_SMALL_PAGE
			  : t->settings->large_segment_size,
		  event);
}

/* ---- blocks ---- */

static double pinned_at(struct track *t, uint64_t addr, uint64_t event)
{
	struct unit *unit = unit_map_find(&t->units, addr);

	return unit ? unit_pinned(unit, event) : 0;
}

static bool is_in_one(struct track *t, const struct holding *h)
{
	return unit_map_find(&t->units, h->addr) ==
	       unit_map_find(&t->units, h->addr + h->size - 1);
}

static void begin_block(struct track *t, uint32_t id, uint64_t addr,
			uint64_t size, uint64_t event)
{
	struct holding *h = &t->holdings[id];
	uint32_t culprit = t->askers->list[id].culprit;

	*h = (struct holding){ .addr = addr, .size = size, .is_there = true };
	unit_map_change(&t->units, addr, size, event, ALLOC);
	h->first = pinned_at(t, addr, event);
	h->last = pinned_at(t, addr + size - 1, event);
	t->culprits[culprit].blocks++;
	if (!t->presences[culprit].live++)
		t->presences[culprit].since = event;
	t->allocated += size;
	t->by_class[size_class(size)] += size;
}

/* Ends a block's pinning. */
static void end_hold(struct track *t, uint32_t id, uint64_t event)
{
	struct holding *h = &t->holdings[id];
	uint32_t culprit = t->askers->list[id].culprit;
	double sum = pinned_at(t, h->addr, event) - h->first;

	if (!is_in_one(t, h))
		sum += pinned_at(t, h->addr + h->size - 1, event) - h->last;
	t->culprits[culprit].byte_events += sum;
	if (!--t->presences[culprit].live)
		t->culprits[culprit].events +=
			event - t->presences[culprit].since;
	unit_map_change(&t->units, h->addr, h->size, event, PEND);
}

/* ---- pending frees ---- */

static void change_pending(struct track *t, uint64_t bytes, uint64_t event)
{
	struct gp_waiting *w = &t->explain->waiting;

	w->byte_events +=
		(double)t->pending * (double)(event - t->pending_since);
	t->pending_since = event;
	t->pending = bytes;
}

static void begin_free(struct track *t, uint32_t id, uint64_t event)
{
	struct holding *h = &t->holdings[id];

	if (!h->is_there || h->is_pending)
		return;
	end_hold(t, id, event);
	h->freed = event;
	h->is_pending = true;
	t->allocated -= h->size;
	t->by_class[size_class(h->size)] -= h->size;
	change_pending(t, t->pending + h->size, event);
}

static void end_free(struct track *t, uint32_t id, uint64_t event)
{
	struct holding *h = &t->holdings[id];

	if (!h->is_there)
		return;
	begin_free(t, id, event);
	t->explain->waiting.frees += h->freed != event;
	change_pending(t, t->pending - h->size, event);
	unit_map_change(&t->units, h->addr, h->size, event, FREE);
	h->is_there = false;
}

/* ---- memory released and obtained again ---- */

static void note_release(struct track *t, uint64_t bytes, uint64_t event)
{
	const struct gp_event *e = &t->device->events[event];
	struct gp_releases *r = e->kind == GP_EMPTY_CACHE
					? &t->explain->empty_caches
					: &t->explain->retries;
	struct gp_release *last = r->count ? &r->list[r->count - 1] : NULL;

	if (e->kind != GP_EMPTY_CACHE && e->kind != GP_ALLOC)
		return;
	if (!last || last->event != event) {
		GP_GROW(r->list, r->count + 1, r->room);
		last = &r->list[r->count++];
		*last = (struct gp_release){ .event = event, .site = e->site };
	}
	last->bytes += bytes;
	last->segments++;
	r->bytes += bytes;
}

static void note_paid(struct track *t, struct gp_releases *r, uint64_t bytes,
		      uint64_t event)
{
	struct gp_release *last = r->count ? &r->list[r->count - 1] : NULL;

	if (!last || event - last->event >= t->window || event == last->event)
		return;
	if (bytes > last->bytes - last->paid_again)
		bytes = last->bytes - last->paid_again;
	last->paid_again += bytes;
	r->paid_again += bytes;
}

static void note_device(struct track *t, const struct gp_action *a,
			uint64_t event, bool is_more)
{
	if (is_more) {
		t->reserved += a->size;
		note_paid(t, &t->explain->empty_caches, a->size, event);
		note_paid(t, &t->explain->retries, a->size, event);
	} else {
		t->reserved -= a->size;
		note_release(t, a->size, event);
	}
}

/* ---- steps ---- */

static void raise_to(uint64_t *most, uint64_t value)
{
	if (value > *most)
		*most = value;
}

static void end_step(struct track *t, struct gp_step *step)
{
	step->live_at_end = t->allocated;
	memcpy(step->by_class, t->by_class, sizeof(t->by_class));
}

/* Updates sums and peaks after the event of the last actions. */
static void settle(struct track *t)
{
	struct gp_steps *steps = &t->explain->steps;
	struct gp_waiting *w = &t->explain->waiting;
	struct gp_step *step;

	if (t->pending > w->peak) {
		w->peak = t->pending;
		w->peak_event = t->event;
	}
	if (t->step >= steps->count)
		return;
	step = &steps->list[t->step];
	if (t->event < step->first)
		return;
	raise_to(&step->reserved, t->reserved);
	raise_to(&step->allocated, t->allocated);
	raise_to(&step->gap, t->reserved - t->allocated);
}

static void move_to(struct track *t, uint64_t event)
{
	struct gp_steps *steps = &t->explain->steps;

	settle(t);
	t->event = event;
	settle(t); /* a step's peak includes its beginning */
	while (t->step < steps->count && event >= steps->list[t->step].end) {
		end_step(t, &steps->list[t->step++]);
		settle(t);
	}
}

/* ---- the run ---- */

void track_action(void *arg, const struct gp_action *a, uint64_t event)
{
	struct track *t = arg;

	if (event != t->event)
		move_to(t, event);
	switch (a->kind) {
	case GP_SEGMENT_ALLOC:
		unit_map_add(&t->units, a->addr, a->size, event);
		note_device(t, a, event, true);
		break;
	case GP_SEGMENT_MAP:
		map_pages(t, a, event);
		note_device(t, a, event, true);
		break;
	case GP_SEGMENT_FREE:
	case GP_SEGMENT_UNMAP:
		unit_map_remove(&t->units, a->addr, a->size);
		note_device(t, a, event, false);
		break;
	case GP_ALLOC: begin_block(t, a->id, a->addr, a->block, event); break;
	case GP_FREE: begin_free(t, a->id, event); break;
	case GP_FREE_COMPLETED: end_free(t, a->id, event); break;
	default: break;
	}
}

static void adopt_start(struct track *t)
{
	const struct gp_state *start = &t->device->start;

	for (size_t i = 0; i < start->segment_count; i++) {
		const struct gp_segment *s = &start->segments[i];

		t->reserved += s->size;
		if (s->is_expandable)
			add_pages(t, s->addr, s->size,
				  page_of_segment(t->settings, s), 0);
		else
			unit_map_add(&t->units, s->addr, s->size, 0);
	}
	for (size_t i = 0; i < start->block_count; i++) {
		const struct gp_block *b = &start->blocks[i];

		if (b->state == GP_INACTIVE)
			continue;
		begin_block(t, b->id, b->addr, b->size, 0);
		t->culprits[t->askers->list[b->id].culprit].from_start = true;
		if (b->state == GP_PENDING_FREE)
			begin_free(t, b->id, 0);
	}
}

/* The average length of a step. Without steps the only limit is the next
 * empty_cache. */
static uint64_t window_of(const struct gp_steps *steps)
{
	const struct gp_step *list = steps->list;

	return steps->count ? (list[steps->count - 1].end - list[0].first) /
				      steps->count
			    : UINT64_MAX;
}

struct track *track_create(const struct gp_trace *trace, uint32_t device,
			   const struct gp_settings *settings,
			   const struct askers *askers,
			   struct gp_explain *explain)
{
	struct track *t = gp_mem_alloc(1, sizeof(*t));
	size_t n = askers->culprit_count;

	*t = (struct track){
		.trace = trace,
		.device = &trace->devices[device],
		.settings = settings,
		.askers = askers,
		.explain = explain,
		.holdings = gp_mem_alloc(askers->count, sizeof(*t->holdings)),
		.culprits = gp_mem_alloc(n, sizeof(*t->culprits)),
		.presences = gp_mem_alloc(n, sizeof(*t->presences)),
		.window = window_of(&explain->steps),
	};
	for (size_t i = 0; i < n; i++)
		t->culprits[i] = askers->culprits[i];
	adopt_start(t);
	return t;
}

static void finish_culprits(struct track *t)
{
	for (size_t i = 0; i < t->askers->culprit_count; i++) {
		struct gp_culprit *c = &t->culprits[i];

		if (c->events)
			c->bytes =
				(uint64_t)(c->byte_events / (double)c->events);
	}
	t->explain->over_time =
		culprits_rank(t->culprits, t->askers->culprit_count);
}

void track_end(struct track *t)
{
	uint64_t end = t->device->event_count;

	move_to(t, end);
	if (t->step < t->explain->steps.count)
		end_step(t, &t->explain->steps.list[t->step]);
	change_pending(t, 0, end);
	for (uint32_t id = 0; id < t->askers->count; id++) {
		const struct holding *h = &t->holdings[id];

		t->explain->waiting.frees += h->is_there && h->is_pending;
		if (h->is_there && !h->is_pending)
			end_hold(t, id, end);
	}
	finish_culprits(t);
	free(t->units.units);
	free(t->holdings);
	free(t->presences);
	free(t);
}

/* ---- recording data during a run ---- */

void gp_track_look(struct gp_track *track, struct gp_allocator *allocator,
		   uint64_t event)
{
	struct gp_moment moment;

	if (track->film)
		gp_film_look(track->film, allocator);
	if (!track->thin && !track->alert_count)
		return;
	moment = gp_moment_of(allocator, event);
	if (track->thin)
		gp_thin_add(track->thin, &moment);
	for (size_t i = 0; i < track->alert_count; i++)
		gp_alert_look(&track->alerts[i], &moment);
}

void gp_track_release(struct gp_track *track)
{
	gp_thin_destroy(track->thin);
	gp_film_destroy(track->film);
	free(track->alerts);
	*track = (struct gp_track){ 0 };
}
