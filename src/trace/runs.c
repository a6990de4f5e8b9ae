/* SPDX-License-Identifier: MIT */
/*
 * What the outcomes between two requests tell about the program.
 *
 * - Segments given back and none asked for afterwards: empty_cache, or the end
 *   of a MemPool when they are all of one private pool.
 * - Segments given back, then one asked for: the allocator made room for a
 *   request (its own affair: a what-if decides again).  Unless there was room:
 *   when more was reserved at some other time than this request would have
 *   needed, the device did not refuse it, so it was empty_cache as well.  So it
 *   was when a segment given back could have served it: the allocator looks
 *   there before it asks the device (get_free_block in malloc, all releases).
 * - A completion that a release did not force: the other stream is done.
 * - oom: a request whose size is known only rounded, and that was not served.
 */
#include "trace/history.h"

#define SMALL_SIZE (UINT64_C(1) << 20) /* kSmallSize */
#define TRIES	   16 /* of segments, that a hostile file is read in time */

static void push_inferred(struct history *h, const struct gp_event *at,
			  enum gp_event_kind kind, uint32_t id, uint16_t pool)
{
	struct gp_event event = {
		.kind = (uint8_t)kind,
		.flags = GP_INFERRED,
		.id = id,
		.time_us = at->time_us,
		.pool = pool,
		.site = GP_NO_SITE,
	};

	gp_history_push(h, &event);
}

/* A part of a run: entries up to and with one release, and what follows. */
struct part {
	size_t first_release, last_release; /* to: there is none */
	size_t growth; /* first growth or oom behind it; to: none */
	bool had_growth_before;
};

static struct part look(const struct history *h, size_t from, size_t to)
{
	struct part part = { .first_release = to,
			     .last_release = to,
			     .growth = to };

	for (size_t i = from; i < to; i++) {
		const struct gp_event *entry = &h->raw[i];

		if (gp_event_is_release(entry->kind)) {
			if (part.first_release == to)
				part.first_release = i;
			part.last_release = i;
			part.growth = to;
		} else if (gp_event_is_growth(entry->kind) ||
			   entry->kind == GP_OOM) {
			if (part.first_release == to)
				part.had_growth_before = true;
			else if (part.growth == to)
				part.growth = i;
		}
	}
	return part;
}

/* Whether the request behind a release could have been served without. */
static bool had_room(const struct history *h, const struct gp_event *growth)
{
	return growth->kind != GP_OOM && h->settings.gc_threshold <= 0 &&
	       h->settings.max_split_size == GP_UNLIMITED &&
	       h->settings.memory_fraction >= 1 &&
	       h->reserved + growth->size <= h->most_reserved;
}

/* Whether it was of the pool that has the request's blocks, and large enough.
 */
static bool could_serve(const struct history *h, const struct gp_event *release,
			const struct gp_event *request)
{
	uint64_t size = gp_settings_round(&h->settings, request->size);

	return release->stream == request->stream &&
	       release->pool == request->pool && release->size >= size &&
	       !gp_settings_is_too_large(&h->settings, release->size, size) &&
	       (size <= SMALL_SIZE) == gp_history_is_small(h, release);
}

/* Whether it was free before the release began: a completion may have been
 * waited for to make room. */
static bool was_free(const struct history *h, const struct part *part,
		     const struct gp_event *release)
{
	for (size_t i = h->raw_at; i < part->last_release; i++)
		if (h->raw[i].kind == GP_FREE_COMPLETED &&
		    h->raw[i].addr >= release->addr &&
		    h->raw[i].addr - release->addr < release->size)
			return false;
	return true;
}

/* The request that a growth or an oom is of; NULL: the file ends before it. */
static const struct gp_event *request_of(const struct history *h,
					 const struct part *part, size_t to)
{
	if (h->raw[part->growth].kind == GP_OOM)
		return &h->raw[part->growth];
	return to < h->raw_count && h->raw[to].kind == GP_ALLOC ? &h->raw[to]
								: NULL;
}

/* Whether the request behind the releases would have found its block in one of
 * them. */
static bool was_cached(const struct history *h, const struct part *part,
		       size_t to)
{
	const struct gp_event *request = request_of(h, part, to);
	int tries = TRIES;

	if (!request)
		return false;
	for (size_t i = part->first_release; i <= part->last_release; i++) {
		if (!gp_event_is_release(h->raw[i].kind) ||
		    !could_serve(h, &h->raw[i], request))
			continue;
		if (was_free(h, part, &h->raw[i]))
			return true;
		if (!--tries)
			break;
	}
	return false;
}

static bool is_programs(const struct history *h, const struct part *part,
			size_t to)
{
	if (part->first_release == to || part->had_growth_before)
		return false;
	return part->growth == to || had_room(h, &h->raw[part->growth]) ||
	       was_cached(h, part, to);
}

/* The one private pool all of a run's releases are of; else 0. */
static uint16_t only_pool(const struct history *h, const struct part *part)
{
	uint16_t pool = h->raw[part->first_release].pool;

	for (size_t i = part->first_release; i <= part->last_release; i++)
		if (gp_event_is_release(h->raw[i].kind) &&
		    h->raw[i].pool != pool)
			return 0;
	return pool;
}

/* Private pools' segments only go when the pool is given up, which was before,
 * or to make room for a request to the same pool. */
static void push_pool_releases(struct history *h, const struct part *part,
			       size_t to)
{
	const struct gp_event *request =
		part->growth == to ? NULL : request_of(h, part, to);

	for (size_t i = part->first_release; i <= part->last_release; i++) {
		const struct gp_event *entry = &h->raw[i];

		if (!gp_event_is_release(entry->kind) || !entry->pool ||
		    h->pool_is_released[entry->pool] ||
		    (request && request->pool == entry->pool))
			continue;
		h->pool_is_released[entry->pool] = true;
		push_inferred(h, entry, GP_POOL_RELEASE, GP_NO_ID, entry->pool);
	}
}

static void walk_completed(struct history *h, const struct gp_event *entry,
			   bool is_forced)
{
	struct gp_event event = *entry;

	event.id = gp_map_take(&h->waiting, entry->addr);
	if (event.id == GP_MAP_NONE) {
		/* Its free_requested was left out of the recording. */
		event.id = gp_map_take(&h->live, entry->addr);
		if (event.id == GP_MAP_NONE) {
			h->device->guesses.lost_entries++;
			return;
		}
		event.kind = GP_FREE;
		event.flags |= GP_AT_ONCE;
		gp_history_push(h, &event);
		return;
	}
	if (!is_forced)
		push_inferred(h, entry, GP_SYNCHRONIZE, event.id, 0);
	gp_history_push(h, &event);
}

/* The refused request, given back at once if a what-if can serve it. */
static void walk_oom(struct history *h, const struct gp_event *entry)
{
	struct gp_event event = {
		.kind = GP_ALLOC,
		.flags = GP_INFERRED | GP_REFUSED,
		.id = h->ids++,
		.size = entry->size,
		.time_us = entry->time_us,
		.stream = entry->stream,
		.pool = entry->pool,
		.site = entry->site,
	};

	gp_history_push(h, entry);
	gp_history_push(h, &event);
	event.kind = GP_FREE;
	event.flags = GP_INFERRED | GP_AT_ONCE;
	gp_history_push(h, &event);
}

static void follow_reserved(struct history *h, const struct gp_event *entry)
{
	if (gp_event_is_growth(entry->kind))
		h->reserved += entry->size;
	else if (gp_event_is_release(entry->kind))
		h->reserved -=
			entry->size < h->reserved ? entry->size : h->reserved;
}

static void walk_entry(struct history *h, bool is_forced)
{
	const struct gp_event copy = h->raw[h->raw_at++], *entry = &copy;

	follow_reserved(h, entry);
	if (entry->kind == GP_FREE_COMPLETED)
		walk_completed(h, entry, is_forced);
	else if (entry->kind == GP_OOM)
		walk_oom(h, entry);
	else
		gp_history_push(h, entry);
}

/* Up to and with the first oom, which ends a request. */
static size_t end_of_request(const struct history *h, size_t from, size_t to)
{
	while (from < to && h->raw[from].kind != GP_OOM)
		from++;
	return from < to ? from + 1 : to;
}

static void walk_part(struct history *h, size_t to)
{
	struct part part = look(h, h->raw_at, to);

	if (part.first_release != to)
		push_pool_releases(h, &part, to);
	if (is_programs(h, &part, to)) {
		const struct gp_event first = h->raw[h->raw_at];

		push_inferred(h, &first, GP_EMPTY_CACHE, GP_NO_ID,
			      only_pool(h, &part));
		h->device->guesses.empty_caches++;
	}
	while (h->raw_at < to)
		walk_entry(h, part.last_release != to &&
				      h->raw_at < part.last_release);
}

void gp_history_run(struct history *h, size_t to)
{
	while (h->raw_at < to)
		walk_part(h, end_of_request(h, h->raw_at, to));
}
