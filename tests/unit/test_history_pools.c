/* SPDX-License-Identifier: MIT */
/* What a snapshot's history says about private pools. */
#include "gpupool/trace.h"

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

/* An oom has what is free in the place of an address. */
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

/* Whether the refused request of that snapshot is one of a private pool. */
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

/* Nothing is released for a request to a pool that is in use. */
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

/* What was at its address before was another segment. */
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

/* An expandable segment goes when nothing is mapped in it, and another may get
 * its address; whatever other segment the pool has. */
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
	struct gp_trace *trace = whole(SNAPSHOT(
		POOL_AT_END, IN(0, "segment_alloc") ", " WENT IN(
				     7, "segment_alloc") ", " IN(7, "alloc")));
	const struct gp_device_trace *d = &trace->devices[0];

	ck_assert_int_eq(d->events[0].kind, GP_SEGMENT_ALLOC);
	ck_assert_int_eq(d->events[0].pool, 0);
	ck_assert_int_ne(d->events[d->event_count - 1].pool, 0);
	gp_trace_destroy(trace);
}
END_TEST

/* A pool's segment goes for a request of that pool, or with its pool. */
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

/* A segment of pool 7, and one of all: made, free again, given back. */
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
	};

	return suite_run("history_pools", tests, COUNT_OF(tests));
}
