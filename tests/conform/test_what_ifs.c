/* SPDX-License-Identifier: MIT */
/*
 * What-ifs, computed again by a literal reading of their definitions (gpupool
 * help what-if): they have the same requests in the same order, and the same
 * memory at the start.
 */
#include "study/what_if/what_if.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "conform/parts/author.h"
#include "gpupool/knob.h"
#include "played.h"
#include "random_trace.h"

#define NEVER UINT64_MAX

/* ---- a program as a list, with room for more events at any place ---- */

struct item {
	uint64_t before; /* the trace's event here; added ones precede */
	uint64_t order;
	bool is_own; /* it is that event itself */
	struct gp_event event;
};

struct model {
	const struct gp_trace *trace;
	const struct gp_device_trace *of;
	struct item *items; /* the trace's own events first, in their order */
	size_t count;
	uint32_t ids;
	bool *drops;  /* by id: never requested, and free at the start */
	bool no_wait; /* blocks pending free at the start are free */
};

static void leave_out(struct model *m, uint64_t i)
{
	m->items[i].event.kind = GP_SNAPSHOT;
}

static void add(struct model *m, uint64_t before, const struct gp_event *event)
{
	m->items[m->count] = (struct item){ before, m->count, false, *event };
	m->count++;
}

static int by_place(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	if (x->before != y->before)
		return x->before < y->before ? -1 : 1;
	if (x->is_own != y->is_own)
		return x->is_own ? 1 : -1;
	return (x->order > y->order) - (x->order < y->order);
}

static bool has_block(const struct gp_event *event)
{
	return gp_event_fields(event->kind) & GP_HAS_ID &&
	       event->id != GP_NO_ID;
}

static struct model model_of(const struct gp_trace *trace, size_t d)
{
	const struct gp_device_trace *of = &trace->devices[d];
	struct model m = {
		.trace = trace,
		.of = of,
		.items = gp_mem_alloc(3 * of->event_count +
					      of->start.block_count + 3,
				      sizeof(*m.items)),
		.ids = of->block_ids,
		.drops = gp_mem_alloc(of->block_ids + (size_t)1,
				      sizeof(*m.drops)),
	};

	for (uint64_t i = 0; i < of->event_count; i++) {
		m.items[m.count++] = (struct item){ i, i, true, of->events[i] };
		if (of->events[i].kind >= GP_FIRST_OUTCOME)
			leave_out(&m, i);
	}
	return m;
}

/* ---- blocks ---- */

/* The events of a block; NEVER: there is no such event. */
struct life {
	uint64_t born, freed, last_use;
	uint64_t size;
	bool is_used, is_private; /* by others; not in the default pool */
};

static struct life life_of(const struct model *m, uint32_t id)
{
	struct life life = { NEVER, NEVER, NEVER, 0, false, false };
	int depth = 0;

	for (size_t i = 0; i < m->of->start.block_count; i++)
		if (m->of->start.blocks[i].id == id)
			life.size = m->of->start.blocks[i].requested;
	for (uint64_t i = 0; i < m->of->event_count; i++) {
		const struct gp_event *e = &m->of->events[i];

		depth +=
			e->kind == GP_POOL_BEGIN || e->kind == GP_CAPTURE_BEGIN;
		if (depth &&
		    (e->kind == GP_POOL_END || e->kind == GP_CAPTURE_END))
			depth--;
		if (!has_block(e) || e->id != id)
			continue;
		if (e->kind == GP_FREE) {
			life.freed = i;
			continue;
		}
		life.last_use = i;
		life.is_used |= e->kind != GP_ALLOC;
		if (e->kind != GP_ALLOC)
			continue;
		life.born = i;
		life.size = e->size;
		life.is_private = e->pool || depth;
	}
	return life;
}

/* By id; the caller frees it. */
static struct life *lives_of(const struct model *m)
{
	struct life *lives =
		gp_mem_alloc(m->of->block_ids + (size_t)1, sizeof(*lives));

	for (uint32_t id = 0; id < m->of->block_ids; id++)
		lives[id] = life_of(m, id);
	return lives;
}

static bool is_of_site(const struct gp_trace *trace, uint32_t site,
		       const char *part)
{
	return site != GP_NO_SITE &&
	       strstr(trace->texts[trace->sites[site].text], part);
}

static bool is_size(const char *which, uint64_t size)
{
	char first[32], a[GP_BYTES_TEXT], b[GP_BYTES_TEXT];
	const char *dots = strstr(which, "..");
	uint64_t from, to;

	snprintf(first, sizeof(first), "%.*s", dots ? (int)(dots - which) : 31,
		 which);
	ck_assert(gp_bytes_parse(first, &from));
	ck_assert(gp_bytes_parse(dots ? dots + 2 : first, &to));
	/* A report would show the size as one of the two. */
	gp_bytes_text(size, a);
	return (size >= from && size <= to) ||
	       !strcmp(a, gp_bytes_text(from, b)) ||
	       !strcmp(a, gp_bytes_text(to, b));
}

static bool is_meant(const struct model *m, uint32_t id, const char *which)
{
	struct life life = life_of(m, id);
	uint32_t site = GP_NO_SITE;

	if (!strcmp(which, "all"))
		return true;
	if (!strncmp(which, "size:", 5))
		return is_size(which + 5, life.size);
	if (!strncmp(which, "id:", 3))
		return (m->of->names ? m->of->names[id] : id) ==
		       strtoull(which + 3, NULL, 0);
	if (!strncmp(which, "event:", 6))
		return life.born == strtoull(which + 6, NULL, 0);
	if (life.born != NEVER)
		site = m->of->events[life.born].site;
	for (size_t i = 0; i < m->of->start.block_count; i++)
		if (m->of->start.blocks[i].id == id)
			site = m->of->start.blocks[i].site;
	return is_of_site(m->trace, site, which);
}

/* ---- the definitions ---- */

static void without(struct model *m, const bool *meant, const char *argument)
{
	(void)argument;
	for (uint32_t id = 0; id < m->of->block_ids; id++)
		m->drops[id] = meant[id];
	for (uint64_t i = 0; i < m->of->event_count; i++)
		if (has_block(&m->items[i].event) &&
		    meant[m->items[i].event.id])
			leave_out(m, i);
}

static void without_frees(struct model *m, const bool *meant,
			  const char *argument)
{
	(void)argument;
	for (uint64_t i = 0; i < m->of->event_count; i++)
		if (m->items[i].event.kind == GP_FREE &&
		    meant[m->items[i].event.id])
			leave_out(m, i);
}

static bool is_pending_at_start(const struct model *m, uint32_t id)
{
	for (size_t i = 0; i < m->of->start.block_count; i++)
		if (m->of->start.blocks[i].id == id)
			return m->of->start.blocks[i].state == GP_PENDING_FREE;
	return false;
}

static void move_free(struct model *m, const struct life *life, uint32_t id,
		      uint64_t events)
{
	uint64_t end = life->freed == NEVER ? m->of->event_count : life->freed;
	uint64_t after = life->last_use == NEVER ? 0 : life->last_use + 1;
	uint64_t to = end > events ? end - events : 0;
	struct gp_event event = { .kind = GP_FREE,
				  .id = id,
				  .size = life->size,
				  .flags = GP_AT_ONCE,
				  .site = GP_NO_SITE };

	if (to < after)
		to = after;
	if (life->freed == NEVER) {
		add(m, to, &event);
	} else if (to < end) {
		add(m, to, &m->of->events[end]);
		leave_out(m, end);
	}
}

static void frees_earlier(struct model *m, const bool *meant,
			  const char *argument)
{
	const char *comma = strchr(argument, ',');
	uint64_t events = comma ? strtoull(comma + 1, NULL, 10) : NEVER;
	struct life *lives = lives_of(m);

	for (uint64_t i = 0; i < m->of->event_count; i++)
		if (m->of->events[i].kind == GP_FREE &&
		    meant[m->of->events[i].id])
			move_free(m, &lives[m->of->events[i].id],
				  m->of->events[i].id, events);
	for (uint32_t id = 0; id < m->of->block_ids; id++)
		if (meant[id] && lives[id].freed == NEVER &&
		    !is_pending_at_start(m, id))
			move_free(m, &lives[id], id, events);
	free(lives);
}

static uint64_t turn_of(const struct model *m, const struct life *lives,
			uint64_t first, uint64_t end)
{
	uint64_t turn = first;
	int64_t live = 0, most = INT64_MIN;

	for (uint64_t i = first; i < end; i++) {
		const struct gp_event *e = &m->of->events[i];

		if (e->kind == GP_FREE)
			live -= (int64_t)lives[e->id].size;
		if (e->kind != GP_ALLOC)
			continue;
		live += (int64_t)e->size;
		turn = live > most ? i : turn;
		most = live > most ? live : most;
	}
	return turn;
}

/* The number of other blocks of the step with a shorter life. */
static uint64_t median_of(const struct model *m, const struct life *lives,
			  uint64_t first, uint64_t end, uint64_t turn)
{
	uint64_t counts[4096] = { 0 }, n = 0, below = 0;

	for (uint64_t i = first; i < end; i++) {
		const struct gp_event *e = &m->of->events[i];
		uint64_t freed;

		if (e->kind != GP_ALLOC)
			continue;
		freed = lives[e->id].freed;
		if (freed >= end || (i <= turn && freed > turn))
			continue;
		counts[freed - i]++;
		n++;
	}
	for (uint64_t life = 0; life < 4096; life++)
		if ((below += counts[life]) > n / 2)
			return life;
	return 1;
}

static void recompute(struct model *m, const bool *meant, uint64_t first,
		      uint64_t end, const struct life *lives)
{
	uint64_t turn = turn_of(m, lives, first, end);
	uint64_t n = median_of(m, lives, first, end, turn);

	for (uint64_t i = first; i < turn; i++) {
		struct gp_event request = m->of->events[i], done;
		uint64_t freed;

		if (request.kind != GP_ALLOC || !meant[request.id])
			continue;
		freed = lives[request.id].freed;
		if (freed >= end || freed <= turn ||
		    lives[request.id].is_used || lives[request.id].is_private ||
		    i + n >= turn || freed - n <= turn)
			continue;
		done = m->of->events[freed];
		done.time_us = m->of->events[i + n].time_us;
		add(m, i + n, &done);
		request.id = m->ids++;
		request.time_us = m->of->events[freed - n].time_us;
		add(m, freed - n, &request);
		m->items[freed].event.id = request.id;
	}
}

/* Steps begin at marks, of which there are at least three, or none. */
static void recomputed(struct model *m, const bool *meant, const char *argument)
{
	struct life *lives = lives_of(m);
	uint64_t first = NEVER;

	(void)argument;
	for (uint64_t i = 0; i < m->of->event_count; i++) {
		if (m->of->events[i].kind != GP_MARK)
			continue;
		if (first != NEVER)
			recompute(m, meant, first, i, lives);
		first = i;
	}
	recompute(m, meant, first == NEVER ? 0 : first, m->of->event_count,
		  lives);
	free(lives);
}

/* The smallest size of the classes that is large enough. */
static uint64_t class_of(uint64_t size, const char *classes)
{
	uint64_t steps = classes[4] ? strtoull(classes + 5, NULL, 10) : 1;
	uint64_t one = 0;

	if (!size)
		return 0;
	for (uint64_t power = 1; !strncmp(classes, "pow2", 4); power *= 2) {
		uint64_t step = power > steps ? power / steps : 1;

		for (one = power; one < 2 * power; one += step)
			if (one >= size)
				return one;
	}
	if (!strchr(classes, ',')) {
		ck_assert(gp_bytes_parse(classes, &one));
		return (size + one - 1) / one * one;
	}
	for (const char *at = classes; at; at = strchr(at, ',')) {
		char text[32];

		at += *at == ',';
		snprintf(text, sizeof(text), "%.*s", (int)strcspn(at, ","), at);
		ck_assert(gp_bytes_parse(text, &one));
		if (one >= size)
			return one;
	}
	return size;
}

static void rounded(struct model *m, const bool *meant, const char *argument)
{
	struct life *lives = lives_of(m);

	(void)meant;
	for (uint64_t i = 0; i < m->of->event_count; i++) {
		struct gp_event *e = &m->items[i].event;

		if (e->kind == GP_ALLOC ||
		    (e->kind == GP_FREE && lives[e->id].born != NEVER &&
		     lives[e->id].size))
			e->size = class_of(lives[e->id].size, argument);
	}
	free(lives);
}

static void on_one_stream(struct model *m, const bool *meant,
			  const char *argument)
{
	(void)meant;
	(void)argument;
	for (uint64_t i = 0; i < m->of->event_count; i++) {
		struct gp_event *e = &m->items[i].event;

		if (e->kind == GP_RECORD_STREAM ||
		    (e->kind == GP_SYNCHRONIZE &&
		     (e->id != GP_NO_ID || e->flags & GP_STREAM_WAITS)))
			leave_out(m, i);
		else if (gp_event_fields(e->kind) & GP_HAS_STREAM)
			e->stream =
				e->kind == GP_SYNCHRONIZE ? GP_ALL_STREAMS : 0;
	}
	m->no_wait = true;
}

static void without_delay(struct model *m, const bool *meant,
			  const char *argument)
{
	(void)meant;
	(void)argument;
	for (uint64_t i = 0; i < m->of->event_count; i++) {
		const struct gp_event *e = &m->items[i].event;

		if (e->kind == GP_RECORD_STREAM ||
		    (e->kind == GP_SYNCHRONIZE && e->id != GP_NO_ID))
			leave_out(m, i);
	}
	m->no_wait = true;
}

static void without_pools(struct model *m, const bool *meant,
			  const char *argument)
{
	(void)meant;
	(void)argument;
	for (uint64_t i = 0; i < m->of->event_count; i++) {
		struct gp_event *e = &m->items[i].event;

		if ((e->kind >= GP_POOL_BEGIN && e->kind <= GP_POOL_NO_SPLIT) ||
		    (e->kind == GP_EMPTY_CACHE && e->pool))
			leave_out(m, i);
		e->pool = 0;
	}
}

static void without_empty_cache(struct model *m, const bool *meant,
				const char *argument)
{
	(void)meant;
	(void)argument;
	for (uint64_t i = 0; i < m->of->event_count; i++)
		if (m->items[i].event.kind == GP_EMPTY_CACHE)
			leave_out(m, i);
}

/* Takes the largest of the remaining blocks each time. */
static void long_lived_first(struct model *m, const bool *meant,
			     const char *argument)
{
	uint64_t share = strtoull(argument, NULL, 10), first = 0;
	struct life *lives = lives_of(m);

	(void)meant;
	while (first < m->of->event_count &&
	       (m->of->events[first].kind == GP_MARK ||
		m->of->events[first].kind == GP_SET_SETTINGS ||
		m->of->events[first].kind == GP_SET_FRACTION ||
		m->of->events[first].kind == GP_OTHER_MEMORY))
		first++;
	for (;;) {
		uint64_t best = NEVER;

		for (uint64_t i = 0; i < m->of->event_count; i++) {
			const struct gp_event *e = &m->items[i].event;
			uint64_t end;

			if (e->kind != GP_ALLOC || lives[e->id].is_private)
				continue;
			end = lives[e->id].freed == NEVER ? m->of->event_count
							  : lives[e->id].freed;
			if ((end - i) * 100 < share * m->of->event_count)
				continue;
			if (best == NEVER ||
			    e->size > m->items[best].event.size)
				best = i;
		}
		if (best == NEVER)
			break;
		add(m, first, &m->of->events[best]);
		leave_out(m, best);
	}
	free(lives);
}

/* Swaps neighbours until none is smaller than the next one. */
static void sorted(struct model *m, const bool *meant, const char *argument)
{
	bool swaps = true;

	(void)meant;
	(void)argument;
	while (swaps) {
		struct item *last = NULL;

		swaps = false;
		for (uint64_t i = 0; i < m->of->event_count; i++) {
			struct item *item = &m->items[i];

			if (item->event.kind >= GP_FIRST_OUTCOME)
				continue;
			if (item->event.kind == GP_ALLOC && last &&
			    last->event.kind == GP_ALLOC &&
			    last->event.size < item->event.size) {
				struct gp_event event = item->event;
				uint64_t time_us = event.time_us;

				item->event = last->event;
				event.time_us = last->event.time_us;
				item->event.time_us = time_us;
				last->event = event;
				swaps = true;
			}
			last = item;
		}
	}
}

static void emptied_at(struct model *m, const bool *meant, const char *argument)
{
	struct gp_event event = { .kind = GP_EMPTY_CACHE,
				  .id = GP_NO_ID,
				  .site = GP_NO_SITE };
	uint64_t at = strtoull(argument, NULL, 10);

	(void)meant;
	for (uint64_t i = 0; i <= m->of->event_count; i++) {
		bool is_step = i < m->of->event_count &&
			       m->of->events[i].kind == GP_MARK;

		if (strcmp(argument, "step") != 0 ? i != at : !is_step)
			continue;
		event.time_us =
			i < m->of->event_count ? m->of->events[i].time_us : 0;
		add(m, i, &event);
	}
}

/* ---- the comparison ---- */

static const struct {
	const char *name, *argument;
	void (*make)(struct model *m, const bool *meant, const char *argument);
} rows[] = {
	{ "without-site", "all", without },
	{ "without-site", "size:64KiB..2MiB", without },
	{ "without-site", "size:1MiB..33554432", without },
	{ "without-site", "id:5001", without },
	{ "without-site", "id:17", without },
	{ "without-site", "event:9", without },
	{ "without-site", "b.py", without },
	{ "without-site", "b.py:2", without },
	{ "keep-site", "a.py", without_frees },
	{ "keep-site", "size:0B..1KiB", without_frees },
	{ "free-earlier", "all", frees_earlier },
	{ "free-earlier", "all,1", frees_earlier },
	{ "free-earlier", "b.py,20", frees_earlier },
	{ "checkpointing", "all", recomputed },
	{ "checkpointing", "size:4KiB..64MiB", recomputed },
	{ "round-sizes", "pow2", rounded },
	{ "round-sizes", "pow2/8", rounded },
	{ "round-sizes", "3MiB", rounded },
	{ "round-sizes", "512,4KiB,1MiB,3000001", rounded },
	{ "merge-streams", NULL, on_one_stream },
	{ "no-delay", NULL, without_delay },
	{ "no-private-pools", NULL, without_pools },
	{ "no-empty-cache", NULL, without_empty_cache },
	{ "preallocate", "50%", long_lived_first },
	{ "preallocate", "7%", long_lived_first },
	{ "sort-step", NULL, sorted },
	{ "empty-cache-at", "0", emptied_at },
	{ "empty-cache-at", "31", emptied_at },
	{ "empty-cache-at", "step", emptied_at },
};

static void check_event(const struct gp_event *made,
			const struct gp_event *event)
{
	uint8_t fields = gp_event_fields(event->kind);

	ck_assert_int_eq(made->kind, event->kind);
	if (fields & GP_HAS_SIZE)
		ck_assert_uint_eq(made->size, event->size);
	if (fields & GP_HAS_STREAM)
		ck_assert_uint_eq(made->stream, event->stream);
	if (fields & GP_HAS_TEXT)
		ck_assert_uint_eq(made->text, event->text);
	if (fields & GP_HAS_FRACTION)
		ck_assert(made->fraction == event->fraction);
	ck_assert_uint_eq(made->pool, event->pool);
	ck_assert_uint_eq(made->time_us, event->time_us);
	ck_assert_uint_eq(made->site, event->site);
	ck_assert_int_eq(made->flags, event->flags & ~GP_REFUSED);
}

/* Ids may differ, but correspond one to one. */
static void check_id(uint32_t *numbers, uint32_t *taken, uint32_t id,
		     uint32_t made)
{
	if (!numbers[id] && !taken[made]) {
		numbers[id] = made + 1;
		taken[made] = id + 1;
	}
	ck_assert_uint_eq(numbers[id], made + 1);
	ck_assert_uint_eq(taken[made], id + 1);
}

static uint8_t state_at_start(const struct model *m, const struct gp_block *b)
{
	return b->id == GP_NO_ID || m->drops[b->id] ||
			       (m->no_wait && b->state == GP_PENDING_FREE)
		       ? GP_INACTIVE
		       : b->state;
}

/* Every 512 bytes are in a block of the same state; free blocks are joined. */
static void check_start(const struct model *m, const struct gp_state *made,
			uint32_t *numbers, uint32_t *taken)
{
	const struct gp_state *start = &m->of->start;
	size_t k = 0;

	for (size_t i = 0; i < start->block_count; i++) {
		const struct gp_block *b = &start->blocks[i];
		uint8_t state = state_at_start(m, b);

		while (k < made->block_count &&
		       made->blocks[k].addr + made->blocks[k].size <= b->addr)
			k++;
		ck_assert_uint_lt(k, made->block_count);
		ck_assert_int_eq(made->blocks[k].state, state);
		if (state == GP_INACTIVE)
			continue;
		ck_assert_uint_eq(made->blocks[k].addr, b->addr);
		ck_assert_uint_eq(made->blocks[k].size, b->size);
		check_id(numbers, taken, b->id, made->blocks[k].id);
	}
	for (size_t i = 0; i < made->segment_count; i++) {
		const struct gp_segment *s = &made->segments[i];
		const struct gp_block *b = &made->blocks[s->first_block];

		for (uint32_t n = 1; n < s->blocks; n++)
			ck_assert(b[n - 1].state != GP_INACTIVE ||
				  b[n].state != GP_INACTIVE);
	}
}

static void check_device(struct model *m, const struct gp_device_trace *made)
{
	uint32_t *numbers = gp_mem_alloc(m->ids + 1, sizeof(*numbers));
	uint32_t *taken =
		gp_mem_alloc(made->block_ids + (size_t)1, sizeof(*taken));
	size_t k = 0;

	qsort(m->items, m->count, sizeof(*m->items), by_place);
	check_start(m, &made->start, numbers, taken);
	for (size_t i = 0; i < m->count; i++) {
		const struct gp_event *event = &m->items[i].event;

		if (event->kind >= GP_FIRST_OUTCOME)
			continue;
		while (k < made->event_count &&
		       made->events[k].kind >= GP_FIRST_OUTCOME)
			k++;
		ck_assert_uint_lt(k, made->event_count);
		check_event(&made->events[k], event);
		if (has_block(event))
			check_id(numbers, taken, event->id, made->events[k].id);
		k++;
	}
	for (; k < made->event_count; k++)
		ck_assert_int_ge(made->events[k].kind, GP_FIRST_OUTCOME);
	free(numbers);
	free(taken);
	free(m->items);
	free(m->drops);
}

static uint64_t try_row(const struct gp_trace *trace, size_t row)
{
	struct gp_what_if asked = { gp_what_if_find(rows[row].name),
				    rows[row].argument };
	struct gp_what_if_config config = { .trace = trace,
					    .asked = &asked,
					    .count = 1 };
	struct gp_what_ifs made;
	struct gp_diag diag = { 0 };
	char which[64] = "all";
	uint64_t changes;

	/* There is no such block or mark. */
	if (gp_what_ifs_make(&config, &made, &diag) != GP_OK)
		return 0;
	if (rows[row].argument && strcmp(asked.row->argument, "CLASSES") != 0)
		snprintf(which, sizeof(which), "%.*s",
			 (int)strcspn(rows[row].argument, ","),
			 rows[row].argument);
	for (size_t d = 0; d < trace->device_count; d++) {
		struct model m = model_of(trace, d);
		bool *meant = gp_mem_alloc(m.ids + (size_t)1, sizeof(*meant));

		for (uint32_t id = 0; id < m.ids; id++)
			meant[id] = is_meant(&m, id, which);
		rows[row].make(&m, meant, rows[row].argument);
		check_device(&m, &made.trace->devices[d]);
		free(meant);
	}
	changes = made.notes->changes;
	ck_assert(!changes || gp_what_if_may_change(asked.row, trace));
	gp_what_ifs_release(&made);
	return changes;
}

static void try_all(const struct gp_trace *trace, uint64_t *changes)
{
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		changes[i] += try_row(trace, i);
}

START_TEST(test_what_ifs_are_what_is_said_of_them)
{
	static const char *const classes[] = {
		"pools",   "pool-flags", "captured-streams",
		"devices", "mixed",	 "settings"
	};
	uint64_t changes[COUNT_OF(rows)] = { 0 };
	struct gp_trace *trace;

	for (uint64_t seed = 0; seed < 12; seed++) {
		const struct trace_like like = {
			.events = 150,
			.every = seed % 3 ? 40 : 0,
			.has_start = seed % 2,
			.keeps_cache = seed % 4 == 0,
		};

		trace = trace_like(seed, &like);
		try_all(trace, changes);
		gp_trace_destroy(trace);
	}
	for (uint64_t seed = 0; seed < COUNT_OF(classes); seed++) {
		struct gp_diag diag = { 0 };
		struct trial trial;

		author_write(&trial, seed, trial_class_find(classes[seed]));
		ck_assert_int_eq(trial_trace(&trial, &trace, &diag), GP_OK);
		try_all(trace, changes);
		gp_trace_destroy(trace);
		trial_release(&trial);
	}
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_msg(changes[i], "%s %s never changes anything",
			      rows[i].name, rows[i].argument);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_ifs_are_what_is_said_of_them, 0 },
	};

	return suite_run("what_ifs", tests, COUNT_OF(tests));
}
