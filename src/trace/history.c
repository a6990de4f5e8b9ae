/* SPDX-License-Identifier: MIT */
/*
 * Infers the requests behind a PyTorch snapshot's history.
 *
 * A snapshot identifies blocks by address and lists what the allocator did.
 * Here blocks get ids and blocks from before the first entry are found. A free
 * whose completion was recorded later means that the block was used on another
 * stream (record_stream, which a snapshot does not list) until the completion
 * (synchronize).
 */
#include "trace/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"

/* The write position has reached the read position: from here on, events are
 * written to an array of their own. */
static void separate(struct history *h)
{
	h->out_room = 0;
	h->out = gp_mem_grow(NULL, &h->out_room, h->raw_count + h->out_count,
			     sizeof(*h->out));
	memcpy(h->out, h->raw, h->out_count * sizeof(*h->out));
}

/* Appends an event. */
static void push(struct history *h, const struct gp_event *event)
{
	const struct gp_event copy = *event; /* it may point into out */

	if (h->out == h->raw) {
		if (h->out_count == h->raw_at)
			separate(h);
	} else {
		GP_GROW(h->out, h->out_count + 1, h->out_room);
	}
	h->out[h->out_count++] = copy;
}

/*
 * ---- runs ----
 *
 * What the outcomes between two requests show about the program:
 *
 * - Segments are released and none is obtained afterwards: empty_cache, or the
 *   end of a MemPool if all are of one private pool.
 * - Segments are released, then one is obtained: the allocator made room for a
 *   request, which a what-if decides again. There are two exceptions, which
 *   also mean empty_cache. If more was reserved at some other time than this
 *   request needed, the device would not have refused it, so that only garbage
 *   collection could be the cause. If a released segment could have served the
 *   request, the allocator would have used it, because it looks there before it
 *   asks the device (get_free_block in malloc, all releases).
 * - A completion that no release forced: the work on the other stream is done.
 * - oom: a request that was not served; only its rounded size is known.
 */

#define TRIES 16 /* segments tried: bounds the time for a hostile file */

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

	push(h, &event);
}

/* A part of a run, up to the end of one request: where its releases are, and
 * what follows them. */
struct part {
	size_t first_release, last_release; /* to: there is none */
	size_t growth; /* first growth or oom after it; to: none */
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

/* Whether garbage collection may have released that segment. */
static bool may_be_garbage(const struct history *h,
			   const struct gp_event *release)
{
	return h->settings.gc_threshold > 0 &&
	       release->kind == GP_SEGMENT_FREE && !release->pool &&
	       !gp_history_is_small(h, release);
}

/* Whether the request after the releases could have been served without
 * them. */
static bool had_room(const struct history *h, const struct part *part)
{
	const struct gp_event *growth = &h->raw[part->growth];

	if (growth->kind == GP_OOM ||
	    h->reserved + growth->size > h->most_reserved)
		return false;
	for (size_t i = part->first_release; i <= part->last_release; i++)
		if (gp_event_is_release(h->raw[i].kind) &&
		    !may_be_garbage(h, &h->raw[i]))
			return true;
	return false;
}

/* Whether the released segment is in the pool that serves the request, and is
 * large enough. */
static bool could_serve(const struct history *h, const struct gp_event *release,
			const struct gp_event *request)
{
	uint64_t size = gp_settings_round(&h->settings, request->size);

	return release->stream == request->stream &&
	       release->pool == request->pool && release->size >= size &&
	       (size <= GP_SMALL_SIZE) == gp_history_is_small(h, release);
}

/* Whether a free block of this many bytes, or up to `slack` more, could have
 * served the request. */
static bool is_fit(const struct history *h, uint64_t free, uint64_t slack,
		   uint64_t size)
{
	return free >= size &&
	       !gp_settings_is_too_large(&h->settings, free + slack, size);
}

/* Whether the segment could have served the request before the releases began:
 * all of it or, if blocks in it completed in this run, the part before or after
 * them. The allocator may have waited for these completions to make room. */
static bool was_free(const struct history *h, const struct part *part,
		     const struct gp_event *release, uint64_t size)
{
	uint64_t end = release->addr + release->size;
	uint64_t first = end, last = release->addr, slack = 0;
	bool is_small = gp_history_is_small(h, release);

	for (size_t i = h->raw_at; i < part->last_release; i++) {
		const struct gp_event *e = &h->raw[i];
		uint64_t block, more;

		if (e->kind != GP_FREE_COMPLETED || e->addr < release->addr ||
		    e->addr >= end)
			continue;
		first = gp_smaller(first, e->addr);
		block = gp_settings_round(&h->settings, e->size);
		more = is_small ? 0
				: gp_history_most_slack(&h->settings, block);
		if (e->addr + block + more > last) {
			last = e->addr + block + more;
			slack = more;
		}
	}
	if (first == end)
		return is_fit(h, release->size, 0, size);
	return is_fit(h, first - release->addr, 0, size) ||
	       (last <= end && is_fit(h, end - last, slack, size));
}

/* The request that a growth or an oom belongs to; NULL: the file ends before
 * it. */
static const struct gp_event *request_of(const struct history *h,
					 const struct part *part, size_t to)
{
	if (h->raw[part->growth].kind == GP_OOM)
		return &h->raw[part->growth];
	return to < h->raw_count && h->raw[to].kind == GP_ALLOC ? &h->raw[to]
								: NULL;
}

/* Whether one of the released segments could have served the request after the
 * releases. */
static bool was_cached(const struct history *h, const struct part *part,
		       size_t to)
{
	const struct gp_event *request = request_of(h, part, to);
	int tries = TRIES;
	uint64_t size;

	if (!request)
		return false;
	size = gp_settings_round(&h->settings, request->size);
	for (size_t i = part->first_release; i <= part->last_release; i++) {
		if (!gp_event_is_release(h->raw[i].kind) ||
		    !could_serve(h, &h->raw[i], request))
			continue;
		if (was_free(h, part, &h->raw[i], size))
			return true;
		if (!--tries)
			break;
	}
	return false;
}

/* Whether the request's block lies in pages that were mapped and free until
 * this release: no room had to be made for it. */
static bool was_whole(const struct history *h, const struct part *part,
		      const struct gp_event *release, size_t to)
{
	const struct gp_event *growth = &h->raw[part->growth];
	const struct gp_event *request = request_of(h, part, to);

	if (!request || part->growth + 1 != to ||
	    h->settings.max_split_size != GP_UNLIMITED ||
	    growth->addr + growth->size > release->addr + release->size)
		return false;
	for (size_t i = h->raw_at; i < part->last_release; i++)
		if (h->raw[i].kind == GP_FREE_COMPLETED &&
		    h->raw[i].addr - request->addr < request->size)
			return false;
	return true;
}

/* Whether the request's pages were mapped at addresses that a segment of
 * another stream or pool released: if that had been done to make room, the
 * request would have reserved addresses of its own before. */
static bool was_given_up(const struct history *h, const struct part *part,
			 size_t to)
{
	const struct gp_event *growth = &h->raw[part->growth];

	if (growth->kind != GP_SEGMENT_MAP)
		return false;
	for (size_t i = part->first_release; i <= part->last_release; i++) {
		const struct gp_event *e = &h->raw[i];

		if (e->kind == GP_SEGMENT_UNMAP &&
		    growth->addr - e->addr < e->size)
			return e->stream != growth->stream ||
			       e->pool != growth->pool ||
			       gp_history_is_small(h, e) !=
				       gp_history_is_small(h, growth) ||
			       was_whole(h, part, e, to);
	}
	return false;
}

/* Whether a block that is oversize by max_split_size_mb was released after
 * another one: to make room for a request of their stream and pool, oversize
 * blocks are released first (release_available_cached_blocks). */
static bool was_out_of_turn(const struct history *h, const struct part *part,
			    size_t to)
{
	const struct gp_event *request = request_of(h, part, to);
	bool is_later = false;

	if (!request || h->settings.gc_threshold > 0)
		return false;
	for (size_t i = h->raw_at; i <= part->last_release; i++) {
		const struct gp_event *e = &h->raw[i];
		bool is_oversize = e->kind == GP_SEGMENT_FREE &&
				   e->stream == request->stream &&
				   e->pool == request->pool &&
				   e->size >= h->settings.max_split_size;

		if (e->kind == GP_FREE_COMPLETED)
			return false;
		if (is_oversize)
			return is_later && request->size > GP_SMALL_SIZE;
		is_later |= gp_event_is_release(e->kind);
	}
	return false;
}

static bool is_programs(const struct history *h, const struct part *part,
			size_t to)
{
	if (part->first_release == to || part->had_growth_before)
		return false;
	return part->growth == to || had_room(h, part) ||
	       was_given_up(h, part, to) || was_cached(h, part, to) ||
	       was_out_of_turn(h, part, to);
}

/* The private pool of the releases, if all are of the same one; else 0. */
static uint16_t only_pool(const struct history *h, const struct part *part)
{
	uint16_t pool = h->raw[part->first_release].pool;

	for (size_t i = part->first_release; i <= part->last_release; i++)
		if (gp_event_is_release(h->raw[i].kind) &&
		    h->raw[i].pool != pool)
			return 0;
	return pool;
}

/* Segments of private pools are only released after the pool was destroyed, or
 * to make room for a request to the same pool. */
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

	event.id = gp_map_take(&h->pending, entry->addr);
	if (event.id == GP_MAP_NONE) {
		/* Its free_requested is not in the recording. */
		event.id = gp_map_take(&h->live, entry->addr);
		if (event.id == GP_MAP_NONE) {
			h->device->guesses.lost_entries++;
			return;
		}
		event.kind = GP_FREE;
		event.flags |= GP_AT_ONCE;
		push(h, &event);
		return;
	}
	if (!is_forced)
		push_inferred(h, entry, GP_SYNCHRONIZE, event.id, 0);
	push(h, &event);
}

/* Appends the refused request, and its free in case a what-if can serve it. */
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

	push(h, entry);
	push(h, &event);
	event.kind = GP_FREE;
	event.flags = GP_INFERRED | GP_AT_ONCE;
	push(h, &event);
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
		push(h, entry);
}

/* The end of the entries up to and including the first oom, which ends a
 * request. */
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

/* Reads the entries up to `to`, which are the outcomes between two requests,
 * and appends the requests inferred from them. */
static void conclude(struct history *h, size_t to)
{
	while (h->raw_at < to)
		walk_part(h, end_of_request(h, h->raw_at, to));
}

/* ---- the history ---- */

/* A block that no request of this trace allocated was live at the start. */
static uint32_t add_start_block(struct history *h, const struct gp_event *entry,
				enum gp_block_state state)
{
	GP_GROW(h->start, h->start_count + 1, h->start_room);
	h->start[h->start_count++] = (struct start_block){
		.addr = entry->addr,
		.requested = entry->size,
		.freed_at = h->out_count,
		.id = h->ids,
		.site = GP_NO_SITE,
		.state = (uint8_t)state,
	};
	h->device->guesses.start_blocks++;
	return h->ids++;
}

static void walk_alloc(struct history *h)
{
	struct gp_event event = h->raw[h->raw_at++];

	event.id = h->ids++;
	/* A block is live at this address already: its free is not in the
	 * recording. */
	if (gp_map_take(&h->live, event.addr) != GP_MAP_NONE)
		h->device->guesses.lost_entries++;
	gp_map_put(&h->live, event.addr, event.id);
	h->pool_is_released[event.pool] = false;
	push(h, &event);
}

/* A use on an unknown stream, which a snapshot does not list. */
static void push_use(struct history *h, const struct gp_event *entry,
		     uint32_t id)
{
	struct gp_event use = {
		.kind = GP_RECORD_STREAM,
		.flags = GP_INFERRED,
		.id = id,
		.time_us = entry->time_us,
		.stream = GP_NO_STREAM,
		.site = GP_NO_SITE,
	};

	h->device->guesses.late_frees++;
	push(h, &use);
}

/* Whether the end state has a pending block there. */
static bool is_pending_at_end(const struct history *h, uint64_t addr)
{
	const struct gp_build_state *end = &h->device->end;
	size_t low = gp_sorted_from(
		GP_SORTED(end->blocks, end->block_count, struct gp_block, addr),
		addr);

	return low < end->block_count && end->blocks[low].addr == addr &&
	       end->blocks[low].state == GP_PENDING_FREE;
}

static void walk_free(struct history *h)
{
	struct gp_event event = h->raw[h->raw_at++];

	event.id = gp_map_take(&h->live, event.addr);
	if (event.id == GP_MAP_NONE)
		event.id = add_start_block(h, &event, GP_ACTIVE);
	if (event.flags & GP_AT_ONCE ||
	    (!h->has_completions && !is_pending_at_end(h, event.addr))) {
		event.flags |= GP_AT_ONCE;
		push(h, &event);
		return;
	}
	push_use(h, &event, event.id);
	gp_map_put(&h->pending, event.addr, event.id);
	push(h, &event);
}

static bool is_request(const struct gp_event *entry)
{
	return entry->kind == GP_ALLOC || entry->kind == GP_FREE;
}

/* A completion of an unknown block: it was pending free at the first entry. */
static void meet_completed(struct history *h, const struct gp_event *entry)
{
	if (gp_map_get(&h->pending, entry->addr) != GP_MAP_NONE ||
	    gp_map_get(&h->live, entry->addr) != GP_MAP_NONE)
		return;
	gp_map_put(&h->pending, entry->addr,
		   add_start_block(h, entry, GP_PENDING_FREE));
}

/* If the first entry is a completion, the ring buffer just dropped the first
 * half of the free, which happened before the outcomes that follow. */
static void walk_cut_free(struct history *h)
{
	if (!h->raw_count || h->raw[0].kind != GP_FREE_COMPLETED)
		return;
	gp_map_put(&h->live, h->raw[0].addr,
		   add_start_block(h, &h->raw[0], GP_ACTIVE));
	walk_entry(h, false);
}

static void walk(struct history *h)
{
	size_t i;

	walk_cut_free(h);
	while (h->raw_at < h->raw_count) {
		for (i = h->raw_at; i < h->raw_count && !is_request(&h->raw[i]);
		     i++)
			if (h->raw[i].kind == GP_FREE_COMPLETED)
				meet_completed(h, &h->raw[i]);
		if (i > h->raw_at)
			conclude(h, i);
		if (h->raw_at == h->raw_count)
			break;
		if (h->raw[h->raw_at].kind == GP_FREE)
			walk_free(h);
		else
			walk_alloc(h);
	}
}

/* Assigns ids to the end state's blocks; those without one were live all
 * along. */
static void name_end_blocks(struct history *h)
{
	struct gp_build_state *end = &h->device->end;

	for (size_t i = 0; i < end->block_count; i++) {
		struct gp_block *b = &end->blocks[i];
		const struct gp_map *map =
			b->state == GP_ACTIVE ? &h->live : &h->pending;

		b->id = GP_NO_ID;
		if (b->state == GP_INACTIVE)
			continue;
		b->id = gp_map_get(map, b->addr);
		if (b->id != GP_MAP_NONE)
			continue;
		b->id = add_start_block(
			h,
			&(struct gp_event){ .addr = b->addr,
					    .size = b->requested },
			b->state);
		h->device->guesses.start_blocks--; /* this one is not a guess */
		h->start[h->start_count - 1].freed_at = SIZE_MAX;
		h->start[h->start_count - 1].size = b->size;
		h->start[h->start_count - 1].site = b->site;
	}
}

static bool names_block(const struct gp_event *event)
{
	return event->kind != GP_MARK && event->id != GP_NO_ID;
}

static void rename_blocks(struct gp_build_state *state, const uint32_t *names)
{
	for (size_t i = 0; i < state->block_count; i++)
		if (state->blocks[i].id != GP_NO_ID)
			state->blocks[i].id = names[state->blocks[i].id];
}

/* Drops events about blocks that have no place in the start state, as they
 * cannot have existed then. The other ids are renumbered. */
static void drop_lost(struct history *h)
{
	uint32_t *names = gp_mem_alloc(h->ids, sizeof(*names)), ids = 0;
	size_t kept = 0;

	for (size_t i = 0; i < h->start_count; i++)
		if (h->start[i].is_lost)
			names[h->start[i].id] = GP_NO_ID;
	for (uint32_t id = 0; id < h->ids; id++)
		if (names[id] != GP_NO_ID)
			names[id] = ids++;
	h->ids = ids;
	for (size_t i = 0; i < h->out_count; i++) {
		struct gp_event event = h->out[i];

		if (names_block(&event)) {
			event.id = names[event.id];
			if (event.id == GP_NO_ID)
				continue;
		}
		h->out[kept++] = event;
	}
	h->out_count = kept;
	rename_blocks(&h->device->start, names);
	rename_blocks(&h->device->end, names);
	free(names);
}

static struct gp_event make_mark(const struct gp_build_mark *mark)
{
	return (struct gp_event){
		.kind = GP_MARK,
		.mark = mark->stage,
		.text = mark->text,
		.time_us = mark->time_us,
		.site = GP_NO_SITE,
	};
}

/* Inserts each annotation before the first later event; starts from the end, so
 * that each event moves only once. */
static void place_marks(struct history *h)
{
	const struct gp_build_device *d = h->device;
	size_t event = h->out_count, mark = d->mark_count;
	size_t at = event + mark;

	if (!mark || !event || !h->out[event - 1].time_us)
		return;
	GP_GROW(h->out, at, h->out_room);
	h->out_count = at;
	while (mark) {
		if (event &&
		    h->out[event - 1].time_us > d->marks[mark - 1].time_us)
			h->out[--at] = h->out[--event];
		else
			h->out[--at] = make_mark(&d->marks[--mark]);
	}
}

/* An oom has no address. Assumes the pool of the stream's last allocation,
 * unless segments were released for it, which does not happen while a routing
 * is open. */
static void find_pools_of_failures(struct history *h)
{
	uint16_t *last = gp_mem_alloc(h->build->stream_count, sizeof(*last));
	struct gp_event *raw = h->raw;
	bool has_released = false;

	for (size_t i = 0; i < h->raw_count; i++) {
		if (gp_event_is_release(raw[i].kind))
			has_released = true;
		else if (is_request(&raw[i]))
			has_released = false;
		if (raw[i].kind == GP_ALLOC)
			last[raw[i].stream] = raw[i].pool;
		else if (raw[i].kind == GP_OOM && !has_released)
			raw[i].pool = last[raw[i].stream];
	}
	free(last);
}

/* A range of an expandable segment; `mapped` and `is_before` are only kept in
 * the segment's first range. */
struct range {
	size_t first;
	uint64_t mapped; /* bytes, of all of them */
	bool is_before;	 /* the segment did not exist yet */
};

static bool is_continued(const struct gp_segment *a, const struct gp_segment *b)
{
	return a->is_expandable && b->is_expandable && a->stream == b->stream &&
	       a->pool == b->pool && a->is_small == b->is_small;
}

/* By segment of the end state. */
static struct range *make_ranges(const struct gp_build_state *end)
{
	struct range *ranges =
		gp_mem_alloc(end->segment_count, sizeof(*ranges));
	const struct gp_segment *s = end->segments;

	for (size_t i = 0; i < end->segment_count; i++) {
		ranges[i].first = i && is_continued(&s[i - 1], &s[i])
					  ? ranges[i - 1].first
					  : i;
		ranges[ranges[i].first].mapped += s[i].size;
	}
	return ranges;
}

/* Undoes the entry, which is in that segment. An expandable segment exists
 * while memory is mapped in it. */
static void go_back(struct range *range, const struct gp_segment *segment,
		    const struct gp_event *entry)
{
	uint64_t size = gp_smaller(entry->size,
				   segment->addr + segment->size - entry->addr);

	if (entry->kind == GP_SEGMENT_ALLOC) {
		range->is_before = true;
	} else if (entry->kind == GP_SEGMENT_UNMAP) {
		range->mapped += size;
	} else if (entry->kind == GP_SEGMENT_MAP) {
		range->mapped -= gp_smaller(size, range->mapped);
		range->is_before = !range->mapped;
	}
}

/* For PyTorch releases whose entries have no pool_id. Assumes the pool of the
 * segment that contains the address, if that segment exists at the end, and for
 * entries since it was allocated. */
static void find_pools(struct history *h)
{
	const struct gp_build_state *end = &h->device->end;
	struct gp_event *raw = h->device->events;
	struct range *ranges;

	if (h->build->pool_count == 1 || h->build->release_first >= 12)
		return;
	ranges = make_ranges(end);
	for (size_t i = h->raw_count; i--;) {
		const struct gp_segment *segment;
		struct range *range;
		size_t at;

		if (raw[i].kind == GP_OOM || raw[i].kind == GP_SNAPSHOT)
			continue;
		at = gp_history_segment_behind(end, raw[i].addr);
		segment = at ? &end->segments[at - 1] : NULL;
		range = at ? &ranges[ranges[at - 1].first] : NULL;
		if (at && !range->is_before &&
		    raw[i].addr - segment->addr < segment->size) {
			raw[i].pool = segment->pool;
			go_back(range, segment, &raw[i]);
		} else if (raw[i].kind == GP_SEGMENT_ALLOC) {
			h->device->guesses.pool_of_segment++;
		}
	}
	free(ranges);
	find_pools_of_failures(h);
}

static void read_settings(struct history *h)
{
	struct gp_diag ignored;

	gp_settings_init(&h->settings, h->build->release_last);
	if (h->build->settings)
		gp_settings_parse(&h->settings, h->build->settings, &ignored);
}

static void init(struct history *h)
{
	read_settings(h);
	h->pool_is_released = gp_mem_alloc(h->build->pool_count, sizeof(bool));
	for (size_t i = 0; i < h->raw_count && !h->has_completions; i++)
		h->has_completions = h->raw[i].kind == GP_FREE_COMPLETED ||
				     h->raw[i].flags & GP_AT_ONCE;
	find_pools(h);
}

enum gp_status gp_history_finish_device(struct gp_build *build,
					struct gp_build_device *device,
					struct gp_diag *diag)
{
	struct history h = {
		.build = build,
		.device = device,
		.raw = device->events,
		.out = device->events,
		.raw_count = device->event_count,
		.out_room = device->event_room,
	};

	(void)diag;
	init(&h);
	gp_history_start_segments(&h);
	walk(&h);
	name_end_blocks(&h);
	if (gp_history_start_blocks(&h))
		drop_lost(&h);
	if (h.out != h.raw)
		free(h.raw);
	place_marks(&h);
	device->events = h.out;
	device->event_count = h.out_count;
	device->block_ids = h.ids;
	build->is_complete &= !device->start.segment_count;
	gp_map_release(&h.live);
	gp_map_release(&h.pending);
	free(h.pool_is_released);
	free(h.start);
	return GP_OK;
}
