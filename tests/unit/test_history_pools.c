/* SPDX-License-Identifier: MIT */
/* What a snapshot's history says about private pools. */
#include "gpupool/trace.h"

#include <stdlib.h>
#include <string.h>

#include "snapshot_text.h"

#define TAKEN ENTRY("alloc", 20971520, 20971520)

/* In the private pool of that number, or 0. */
#define SEGMENT_OF(pool, addr, size, blocks)                                   \
	"{\"device\": 0, \"address\": " #addr ", \"total_size\": " #size       \
	", \"stream\": 0, \"segment_type\": \"large\", \"segment_pool_id\": "  \
	"[0, " #pool "], \"blocks\": [" blocks "]}"

#define ENTRY_OF(pool, action, addr, size)                                     \
	"{\"action\": \"" action "\", \"addr\": " #addr ", \"size\": " #size   \
	", \"stream\": 0, \"pool_id\": [0, " #pool "]}"

#define POOL_AT_END                                                            \
	SEGMENT_OF(7, 20971520, 20971520,                                      \
		   BLOCK(20971520, 20971520, 20971520, ACTIVE))

/* An oom entry has the free bytes in place of an address. */
#define MADE ENTRY("segment_alloc", 20971520, 20971520) ", "
#define FAILED                                                                 \
	", {\"action\": \"oom\", \"device_free\": 20971600, "                  \
	"\"size\": 900000000, \"stream\": 0}"

START_TEST(entries_without_a_pool_have_that_of_their_segment)
{
	struct gp_trace *trace = whole(
		SNAPSHOT(POOL_AT_END, ENTRY("alloc", 83886080, 512) FAILED
			 ", " MADE TAKEN ", " ENTRY("alloc", 83886592, 512)));
	const struct gp_device_trace *d = &trace->devices[0];

	for (size_t i = 0; i < d->event_count; i++) {
		const struct gp_event *event = &d->events[i];

		ck_assert_int_eq(event->pool != 0,
				 event->kind == GP_SEGMENT_ALLOC ||
					 (event->kind == GP_ALLOC &&
					  event->size == 20971520));
	}
	gp_trace_destroy(trace);
}
END_TEST

/* Whether the refused request of that snapshot is for a private pool. */
static bool is_refused_in_pool(const char *text)
{
	struct gp_trace *trace = whole(text);
	const struct gp_device_trace *d = &trace->devices[0];
	bool is_in_pool = false;

	for (size_t i = 0; i < d->event_count; i++)
		if (d->events[i].flags & GP_REFUSED)
			is_in_pool = d->events[i].pool != 0;
	gp_trace_destroy(trace);
	return is_in_pool;
}

/* No memory is released for a request to a pool that is in use. */
START_TEST(a_refused_request_has_the_pool_of_the_one_before_it)
{
	ck_assert(is_refused_in_pool(SNAPSHOT(POOL_AT_END, MADE TAKEN FAILED)));
	ck_assert(!is_refused_in_pool(SNAPSHOT(
		POOL_AT_END, MADE TAKEN
		", " ENTRY("segment_free", 419430400, 20971520) FAILED)));
	ck_assert(!is_refused_in_pool(
		SNAPSHOT(POOL_AT_END, MADE TAKEN
			 ", " ENTRY("alloc", 83886080, 512) FAILED)));
}
END_TEST

/* The segment previously at its address was another one. */
START_TEST(a_pool_has_its_segment_from_when_that_was_allocated)
{
#define HERE(action) ENTRY(action, 20971520, 20971520) ", "
#define EARLIER                                                                \
	HERE("segment_alloc")                                                  \
	HERE("alloc")                                                          \
	HERE("free_requested") HERE("free_completed") HERE("segment_free")
	struct gp_trace *trace =
		whole(SNAPSHOT(POOL_AT_END, EARLIER MADE TAKEN));
	const struct gp_device_trace *d = &trace->devices[0];

	ck_assert_uint_eq(d->guesses.pool_of_segment, 1);
	for (size_t i = 0; i < d->event_count; i++)
		ck_assert_int_eq(d->events[i].pool != 0,
				 i + 2 >= d->event_count);
	gp_trace_destroy(trace);
}
END_TEST

#define MAPPED_AT_END(blocks)                                                  \
	"{\"device\": 0, \"address\": 20971520, \"total_size\": 20971520, "    \
	"\"stream\": 0, \"segment_type\": \"large\", \"is_expandable\": "      \
	"true, "                                                               \
	"\"segment_pool_id\": [0, 7], \"blocks\": [" blocks "]}"

#define ANOTHER_AT_END                                                         \
	SEGMENT_OF(7, 62914560, 20971520,                                      \
		   BLOCK(62914560, 20971520, 20971520, ACTIVE))
#define MAPPED_TWICE                                                           \
	HERE("segment_map")                                                    \
	HERE("alloc")                                                          \
	HERE("free_requested")                                                 \
	HERE("free_completed") HERE("segment_unmap") HERE("segment_map") TAKEN

/* An expandable segment is released when nothing is mapped in it, and another
 * one may get its address, whatever other segments the pool has. */
START_TEST(a_pool_has_its_expandable_segment_from_the_first_mapping)
{
#define MAPPED MAPPED_AT_END(BLOCK(20971520, 20971520, 20971520, ACTIVE))
	static const char *const texts[] = {
		SNAPSHOT(MAPPED, MAPPED_TWICE),
		SNAPSHOT(MAPPED ", " ANOTHER_AT_END, MAPPED_TWICE),
	};

	for (size_t t = 0; t < COUNT_OF(texts); t++) {
		struct gp_trace *trace = whole(texts[t]);
		const struct gp_device_trace *d = &trace->devices[0];

		for (size_t i = 0; i < d->event_count; i++)
			ck_assert_int_eq(d->events[i].pool != 0,
					 i + 2 >= d->event_count);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(entries_with_a_pool_keep_it)
{
#define IN(pool, action) ENTRY_OF(pool, action, 20971520, 20971520)
#define WENT		 IN(0, "segment_free") ", "
#define KEPT(pool)                                                             \
	SNAPSHOT(POOL_AT_END,                                                  \
		 IN(0, "segment_alloc") ", " WENT IN(                          \
			 7, "segment_alloc") ", " IN(pool, "alloc"))
	static const char *const texts[] = { KEPT(0), KEPT(7) };

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct gp_trace *trace = whole(texts[i]);
		const struct gp_device_trace *d = &trace->devices[0];

		ck_assert_int_eq(d->events[0].kind, GP_SEGMENT_ALLOC);
		ck_assert_int_eq(d->events[0].pool, 0);
		ck_assert_int_eq(d->events[d->event_count - 1].pool != 0,
				 i != 0);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* A pool's segment is released for a request to that pool, or with its pool. */
#define OWN(action) IN(7, action) ", "
#define GOES_FOR(pool)                                                         \
	SNAPSHOT(SEGMENT_OF(pool, 62914560, 41943040,                          \
			    BLOCK(62914560, 41943040, 41943040, ACTIVE)),      \
		 OWN("segment_alloc") OWN("alloc") OWN("free_requested")       \
			 OWN("free_completed") OWN("segment_free") ENTRY_OF(   \
				 pool, "segment_alloc", 62914560,              \
				 41943040) ", " ENTRY_OF(pool, "alloc",        \
							 62914560, 41943040))

START_TEST(a_pool_makes_room_for_itself_alone)
{
	struct gp_trace *own = whole(GOES_FOR(7)), *other = whole(GOES_FOR(0));

	ck_assert_uint_eq(own->devices[0].guesses.segment_order, 0);
	ck_assert_ptr_null(strstr(kinds_of(own), "pool_release"));
	ck_assert_ptr_nonnull(strstr(kinds_of(other), "pool_release"));
	gp_trace_destroy(own);
	gp_trace_destroy(other);
}
END_TEST

/* A segment of pool 7, and one that all share: allocated, free again,
 * released. */
#define ITS(action) ENTRY_OF(0, action, 62914560, 41943040) ", "
#define MADE_OWN    OWN("segment_alloc") OWN("alloc")
#define MADE_ITS    ITS("segment_alloc") ITS("alloc")
#define FREE_OWN    OWN("free_requested") OWN("free_completed")
#define FREE_ITS    ITS("free_requested") ITS("free_completed")

START_TEST(a_cache_is_emptied_of_one_pool_or_of_all)
{
	static const struct {
		const char *text;
		bool is_of_one;
	} rows[] = {
		{ SNAPSHOT("", MADE_OWN FREE_OWN IN(7, "segment_free")), true },
		{ SNAPSHOT("", MADE_OWN MADE_ITS FREE_OWN FREE_ITS ITS(
				       "segment_free") IN(7, "segment_free")),
		  false },
		{ SNAPSHOT("", MADE_OWN MADE_ITS FREE_OWN FREE_ITS OWN(
				       "segment_free")
				       ENTRY_OF(0, "segment_free", 62914560,
						41943040)),
		  false },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = whole(rows[i].text);
		const struct gp_event *event = trace->devices[0].events;

		while (event->kind != GP_EMPTY_CACHE)
			event++;
		ck_assert_int_eq(event->pool != 0, rows[i].is_of_one);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* ---- generated windows, for which only the end state has pools ---- */

#define SLOTS 8
#define SLOT  2097152
#define MOST  64

/* What a slot may contain: a segment, or pages that belong together with those
 * of other slots of the same kind. */
struct slot {
	unsigned pool, stream;
	bool is_small, is_expandable, is_there;
};

struct entry {
	const char *action;
	unsigned slot, count;
	bool is_alloc, is_refused, grows, shrinks;
};

struct past {
	uint64_t seed;
	struct slot slots[SLOTS];
	struct entry entries[MOST];
	unsigned count;
	/* By slot: the first of the slots whose segment has its addresses at
	 * the end, and the number of these slots. */
	unsigned first[SLOTS], width[SLOTS];
};

static unsigned below(struct past *p, unsigned n)
{
	return (unsigned)(next_random(&p->seed) % n);
}

static bool are_alike(const struct slot *a, const struct slot *b)
{
	return a->is_expandable && b->is_expandable && a->pool == b->pool &&
	       a->stream == b->stream && a->is_small == b->is_small;
}

static void note(struct past *p, struct entry entry)
{
	p->entries[p->count++] = entry;
}

static void step(struct past *p)
{
	unsigned i = below(p, SLOTS), n = 1 + below(p, 3), k = i;
	struct slot *slots = p->slots;
	bool is_there = slots[i].is_there, is_range = slots[i].is_expandable;

	if (!below(p, 6)) {
		note(p, (struct entry){ "oom", i, 1, .is_refused = true });
		return;
	}
	if (is_there && below(p, 2)) {
		note(p, (struct entry){ "alloc", i, 1, .is_alloc = true });
		return;
	}
	for (; k < SLOTS && k < i + n && slots[k].is_there == is_there &&
	       (k == i || are_alike(&slots[i], &slots[k]));
	     k++)
		slots[k].is_there = !is_there;
	note(p, (struct entry){
			is_range   ? is_there ? "segment_unmap" : "segment_map"
			: is_there ? "segment_free"
				   : "segment_alloc",
			i, k - i, .grows = !is_there, .shrinks = is_there });
}

/* A slot like the previous one, or a different one. */
static void begin(struct past *p)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		p->slots[i] =
			i && below(p, 3)
				? p->slots[i - 1]
				: (struct slot){ .pool = 7 * below(p, 2),
						 .stream = 9 * below(p, 2),
						 .is_small = below(p, 2),
						 .is_expandable = below(p, 4) };
		p->slots[i].is_there = below(p, 2);
	}
	for (unsigned n = 1 + below(p, MOST - 1); n; n--)
		step(p);
}

/* The segments at the end. The pages in a slot belong to the segment of the
 * slots before it if these are mapped and adjacent. */
static void write_segments(struct past *p, FILE *out)
{
	const char *comma = "";

	for (unsigned i = 0, n; i < SLOTS; i += n) {
		const struct slot *s = &p->slots[i];

		for (n = 1; s->is_there && i + n < SLOTS &&
			    p->slots[i + n].is_there &&
			    are_alike(s, &p->slots[i + n]);)
			n++;
		for (unsigned k = i; k < i + n; k++) {
			p->first[k] = i;
			p->width[k] = n;
		}
		if (!s->is_there)
			continue;
		fprintf(out,
			"%s{\"address\": %u, \"total_size\": %u, \"stream\": "
			"%u, \"segment_type\": \"%s\", \"segment_pool_id\": "
			"[0, %u], \"is_expandable\": %s, \"blocks\": "
			"[{\"size\": %u, \"state\": \"inactive\"}]}",
			comma, (i + 1) * SLOT, n * SLOT, s->stream,
			s->is_small ? "small" : "large", s->pool,
			s->is_expandable ? "true" : "false", n * SLOT);
		comma = ", ";
	}
}

static void write_entries(const struct past *p, FILE *out)
{
	for (unsigned i = 0; i < p->count; i++) {
		const struct entry *e = &p->entries[i];
		unsigned addr = (e->slot + 1) * SLOT;
		unsigned size = e->is_alloc ? 512 : e->count * SLOT;

		fprintf(out,
			"%s{\"action\": \"%s\", \"%s\": %u, \"size\": %u, "
			"\"stream\": %u}",
			i ? ", " : "", e->action,
			e->is_refused ? "device_free" : "addr", addr, size,
			p->slots[e->slot].stream);
	}
}

/*
 * The rule, from the end backward: an entry belongs to the segment that has its
 * address at the end, for as long as that existed: since it was allocated, or
 * since any of its pages, or of adjacent ones of the same kind, are mapped.
 */
static unsigned find_pools(const struct past *p, unsigned *pools)
{
	/* Allocated segments of unknown pools, if there is a pool. */
	unsigned unknown = 0, is_pool = 0;
	unsigned group[SLOTS], mapped[SLOTS] = { 0 }, last = SLOTS;
	bool is_before[SLOTS] = { false };

	for (unsigned i = 0; i < SLOTS; i++) {
		if (!p->slots[i].is_there)
			continue;
		is_pool |= p->slots[i].pool;
		group[i] =
			last < SLOTS && are_alike(&p->slots[last], &p->slots[i])
				? group[last]
				: i;
		mapped[group[i]]++;
		last = i;
	}
	for (unsigned i = p->count; i--;) {
		const struct entry *e = &p->entries[i];
		unsigned s = e->slot, n;

		pools[i] = 0;
		if (e->is_refused)
			continue;
		if (!p->slots[s].is_there || is_before[group[s]]) {
			unknown += !strcmp(e->action, "segment_alloc");
			continue;
		}
		pools[i] = p->slots[s].pool;
		n = p->first[s] + p->width[s] - s;
		n = n < e->count ? n : e->count;
		if (e->shrinks)
			mapped[group[s]] += n;
		if (e->grows)
			mapped[group[s]] -=
				n < mapped[group[s]] ? n : mapped[group[s]];
		is_before[group[s]] = !mapped[group[s]];
	}
	return is_pool ? unknown : 0;
}

/* A refused request belongs to the pool of its stream's last request, unless
 * memory was released since. */
static void find_pools_of_refused(const struct past *p, unsigned *pools)
{
	unsigned last[] = { 0, 0 };
	bool has_released = false;

	for (unsigned i = 0; i < p->count; i++) {
		const struct entry *e = &p->entries[i];
		unsigned *of = &last[p->slots[e->slot].stream != 0];

		has_released = (has_released || e->shrinks) && !e->is_alloc;
		if (e->is_alloc)
			*of = pools[i];
		if (e->is_refused)
			pools[i] = has_released ? 0 : *of;
	}
}

static bool has_pools(const struct gp_trace *trace, const struct past *p,
		      const unsigned *pools)
{
	const struct gp_device_trace *d = &trace->devices[0];
	unsigned at = 0;

	for (size_t i = 0; i < d->event_count; i++) {
		const struct gp_event *e = &d->events[i];

		if (e->flags & GP_INFERRED)
			continue;
		if (at == p->count ||
		    trace->pools[e->pool].second != pools[at++])
			return false;
	}
	return at == p->count;
}

START_TEST(entries_are_of_what_is_there_at_the_end)
{
	for (uint64_t seed = 0; seed < 2000; seed++) {
		struct past p = { .seed = seed };
		unsigned pools[MOST], unknown;
		char *text;
		size_t length;
		FILE *out = open_memstream(&text, &length);
		struct gp_trace *trace;

		begin(&p);
		fputs("{\"segments\": [", out);
		write_segments(&p, out);
		fputs("], \"device_traces\": [[", out);
		write_entries(&p, out);
		fputs("]]}", out);
		ck_assert_int_eq(fclose(out), 0);
		unknown = find_pools(&p, pools);
		find_pools_of_refused(&p, pools);
		trace = whole(text);
		ck_assert_msg(has_pools(trace, &p, pools), "%u: %s",
			      (unsigned)seed, text);
		ck_assert_uint_eq(trace->devices[0].guesses.pool_of_segment,
				  unknown);
		gp_trace_destroy(trace);
		free(text);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ entries_without_a_pool_have_that_of_their_segment, 0 },
		{ a_refused_request_has_the_pool_of_the_one_before_it, 0 },
		{ a_pool_has_its_segment_from_when_that_was_allocated, 0 },
		{ a_pool_has_its_expandable_segment_from_the_first_mapping, 0 },
		{ entries_with_a_pool_keep_it, 0 },
		{ a_pool_makes_room_for_itself_alone, 0 },
		{ a_cache_is_emptied_of_one_pool_or_of_all, 0 },
		{ entries_are_of_what_is_there_at_the_end, 0 },
	};

	return suite_run("history_pools", tests, COUNT_OF(tests));
}
