/* SPDX-License-Identifier: MIT */
/* The builder: dense ids, sorted tables, and what it refuses. */
#include "trace/build.h"

#include "suite.h"
#include "trace_text.h"

struct fixture {
	struct gp_build *build;
	struct gp_diag diag;
	uint32_t device;
};

static struct fixture start(enum gp_build_kind kind)
{
	struct fixture f = { .build = gp_build_create(kind) };

	ck_assert_int_eq(gp_build_device(f.build, 0, &f.device, &f.diag),
			 GP_OK);
	return f;
}

static struct gp_trace *finish(struct fixture *f)
{
	struct gp_trace *trace = NULL;

	ck_assert_msg(gp_build_finish(f->build, &trace, &f->diag) == GP_OK,
		      "%s: %s", f->diag.record, f->diag.what);
	return trace;
}

static void refuse(struct fixture *f, const char *record, const char *what)
{
	struct gp_trace *trace = NULL;

	ck_assert_int_eq(gp_build_finish(f->build, &trace, &f->diag), GP_INPUT);
	ck_assert_ptr_null(trace);
	ck_assert_str_eq(f->diag.record, record);
	ck_assert_str_eq(f->diag.what, what);
}

static void add(struct fixture *f, enum gp_event_kind kind, uint64_t name,
		uint64_t size)
{
	const struct gp_event event = { .kind = (uint8_t)kind,
					.size = size,
					.site = GP_NO_SITE };

	gp_build_event(f->build, f->device, &event, name);
}

static void add_segment(struct fixture *f, uint64_t addr, uint64_t size)
{
	const struct gp_segment segment = { .addr = addr,
					    .size = size,
					    .site = GP_NO_SITE };

	gp_build_segment(f->build, f->device, &segment);
}

static void add_block(struct fixture *f, uint64_t addr, uint64_t size,
		      enum gp_block_state state, uint64_t name)
{
	const struct gp_block block = { .addr = addr,
					.size = size,
					.state = (uint8_t)state,
					.id = state == GP_ACTIVE ? 0 : GP_NO_ID,
					.site = GP_NO_SITE };

	ck_assert_int_eq(
		gp_build_block(f->build, f->device, &block, name, &f->diag),
		GP_OK);
}

START_TEST(test_ids_become_dense_in_order_of_appearance)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	const struct gp_device_trace *d;
	struct gp_trace *trace;

	add(&f, GP_ALLOC, 77, 1);
	add(&f, GP_ALLOC, UINT64_MAX, 2);
	add(&f, GP_FREE, 77, 0);
	add(&f, GP_ALLOC, 77, 3); /* another block of the same name */
	add(&f, GP_FREE, UINT64_MAX, 0);
	trace = finish(&f);
	d = &trace->devices[0];
	ck_assert_uint_eq(d->block_ids, 3);
	ck_assert_uint_eq(d->events[1].id, 1);
	ck_assert_uint_eq(d->events[2].id, 0);
	ck_assert_uint_eq(d->events[3].id, 2);
	ck_assert_uint_eq(d->events[4].id, 1);
	ck_assert_uint_eq(d->names[0], 77);
	ck_assert_uint_eq(d->names[1], UINT64_MAX);
	ck_assert_uint_eq(d->names[2], 77);
	ck_assert_uint_eq(d->events[4].size, 2); /* as its alloc's */
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_names_that_are_the_ids_are_not_kept)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	struct gp_trace *trace;

	add(&f, GP_ALLOC, 0, 1);
	add(&f, GP_ALLOC, 1, 1);
	add(&f, GP_FREE, 0, 0);
	trace = finish(&f);
	ck_assert_ptr_null(trace->devices[0].names);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_blocks_of_the_start_come_first)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	const struct gp_device_trace *d;
	struct gp_trace *trace;

	add_segment(&f, 8192, 4096); /* behind the other: gets sorted */
	add_block(&f, 0, 1024, GP_ACTIVE, 5);
	add_block(&f, 0, 3072, GP_INACTIVE, 0);
	add_segment(&f, 4096, 4096);
	add_block(&f, 0, 4096, GP_ACTIVE, 6);
	add(&f, GP_FREE, 5, 0);
	trace = finish(&f);
	d = &trace->devices[0];
	ck_assert_uint_eq(d->start.segments[0].addr, 4096);
	ck_assert_uint_eq(d->start.blocks[0].id, 0);
	ck_assert_uint_eq(d->names[0], 6);
	ck_assert_uint_eq(d->start.blocks[1].addr, 8192);
	ck_assert_uint_eq(d->start.blocks[2].id, GP_NO_ID);
	ck_assert_uint_eq(d->events[0].id, 1);
	ck_assert_uint_eq(d->events[0].addr, 8192);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_streams_and_pools_are_sorted)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	const uint64_t handles[] = { 32, UINT64_MAX, 0, 16 };
	const struct gp_pool_id pools[] = {
		{ 1, 0 }, { 0, 2 }, { 0, 0 }, { 0, 1 }
	};
	struct gp_trace *trace;

	for (size_t i = 0; i < 4; i++) {
		struct gp_event event = { .kind = GP_ALLOC,
					  .site = GP_NO_SITE };

		gp_build_stream(f.build, handles[i], &event.stream, &f.diag);
		gp_build_pool(f.build, pools[i], &event.pool, &f.diag);
		gp_build_event(f.build, f.device, &event, i);
	}
	trace = finish(&f);
	for (size_t i = 0; i < 4; i++) {
		const struct gp_event *event = &trace->devices[0].events[i];

		ck_assert_uint_eq(trace->streams[event->stream], handles[i]);
		ck_assert_uint_eq(trace->pools[event->pool].first,
				  pools[i].first);
		ck_assert_uint_eq(trace->pools[event->pool].second,
				  pools[i].second);
		if (i)
			ck_assert(trace->streams[i] > trace->streams[i - 1]);
	}
	ck_assert_uint_eq(trace->pools[0].first, 0);
	ck_assert_uint_eq(trace->pools[0].second, 0);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_there_is_an_end_to_streams)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	enum gp_status status = GP_OK;
	uint64_t handle = 0;
	uint16_t stream;

	while (!status)
		status = gp_build_stream(f.build, handle++, &stream, &f.diag);
	ck_assert_str_eq(f.diag.what, "more than 65533 streams");
	ck_assert_uint_eq(stream, 65532);
	gp_build_destroy(f.build);
}
END_TEST

START_TEST(test_there_is_an_end_to_pools)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	enum gp_status status = GP_OK;
	struct gp_pool_id id = { 0, 0 };
	uint16_t pool;

	for (; !status; id.second++)
		status = gp_build_pool(f.build, id, &pool, &f.diag);
	ck_assert_str_eq(f.diag.what, "more than 65535 memory pools");
	ck_assert_uint_eq(pool, 65534);
	gp_build_destroy(f.build);
}
END_TEST

START_TEST(test_stacks_share_their_callers)
{
	struct fixture f = start(GP_BUILD_HISTORY);
	uint32_t main_ = gp_build_frame(f.build, "train.py", 7, "main");
	uint32_t step = gp_build_frame(f.build, "train.py", 42, "step");
	uint32_t alloc = gp_build_frame(f.build, "??", 0, "malloc");
	const uint32_t one[] = { alloc, step, main_ };
	const uint32_t other[] = { step, main_ };
	uint32_t site = gp_build_site(f.build, one, 3);
	struct gp_trace *trace;

	ck_assert_uint_eq(gp_build_site(f.build, one, 3), site);
	ck_assert_uint_eq(gp_build_site(f.build, other, 2), site - 1);
	ck_assert_uint_eq(gp_build_site(f.build, one, 0), GP_NO_SITE);
	trace = finish(&f);
	ck_assert_uint_eq(trace->site_count, 3);
	ck_assert_uint_eq(trace->sites[0].caller, GP_NO_SITE);
	ck_assert_str_eq(trace->texts[trace->sites[site].text], "malloc");
	ck_assert_str_eq(trace->texts[trace->sites[1].text],
			 "train.py:42 step");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_texts_are_made_fit_for_json)
{
	static const struct {
		const char *text;
		size_t length;
		const char *want;
	} rows[] = {
		{ "plain", 5, "plain" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9,
		  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "a\0b", 3,
		  "a\xef\xbf\xbd"
		  "b" },
		{ "\xff", 1, "\xef\xbf\xbd" },
		{ "\xc0\x80", 2, "\xef\xbf\xbd\xef\xbf\xbd" }, /* overlong */
		{ "\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd" }, /* cut off */
		{ "\xed\xa0\x80", 3,			       /* a surrogate */
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
	};
	struct fixture f = start(GP_BUILD_REQUESTS);
	struct gp_trace *trace;
	uint32_t texts[COUNT_OF(rows)];

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		texts[i] = gp_build_text(f.build, rows[i].text, rows[i].length);
	trace = finish(&f);
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		ck_assert_str_eq(trace->texts[texts[i]], rows[i].want);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_releases_intersect)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	struct gp_trace *trace;

	gp_build_release_from(f.build, 2, "two");
	gp_build_release_from(f.build, 9, "nine");
	gp_build_release_from(f.build, 9, "nine too");
	gp_build_release_from(f.build, 3, "three");
	gp_build_release_to(f.build, 11, "eleven");
	gp_build_release_to(f.build, 12, "twelve");
	trace = finish(&f);
	ck_assert_uint_eq(trace->release.first, 9);
	ck_assert_uint_eq(trace->release.last, 11);
	ck_assert_str_eq(trace->release.why, "nine; eleven");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_what_is_there_outweighs_what_is_missing)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	struct gp_trace *trace;

	gp_build_release_from(f.build, 13, "is there");
	gp_build_release_to(f.build, 7, "is missing");
	trace = finish(&f);
	ck_assert_uint_eq(trace->release.first, 13);
	ck_assert_uint_eq(trace->release.last, 13);
	ck_assert_str_eq(trace->release.why, "is there");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_devices_are_in_order)
{
	struct fixture f = start(GP_BUILD_REQUESTS);
	struct gp_trace *trace;
	uint32_t device;

	gp_build_device(f.build, 3, &device, &f.diag);
	gp_build_device(f.build, 1, &device, &f.diag);
	ck_assert_uint_eq(device, 2);
	ck_assert_int_eq(gp_build_device(f.build, 1024, &device, &f.diag),
			 GP_INPUT);
	trace = finish(&f);
	ck_assert_uint_eq(trace->device_count, 3);
	ck_assert_uint_eq(trace->devices[1].device, 1);
	ck_assert_uint_eq(trace->devices[2].device, 3);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_a_free_needs_a_live_block)
{
	struct fixture f = start(GP_BUILD_REQUESTS);

	add(&f, GP_ALLOC, 91, 512);
	add(&f, GP_FREE, 91, 0);
	add(&f, GP_FREE, 91, 0);
	refuse(&f, "event 2", "free of id 91, which is not live");
	ck_assert_str_eq(f.diag.hint, "event 1 frees it");
}
END_TEST

START_TEST(test_an_id_is_one_live_block)
{
	struct fixture f = start(GP_BUILD_REQUESTS);

	add(&f, GP_ALLOC, 3, 512);
	add(&f, GP_ALLOC, 3, 512);
	refuse(&f, "event 1", "alloc of id 3, which is live");
}
END_TEST

START_TEST(test_completion_comes_after_the_free)
{
	struct fixture f = start(GP_BUILD_REQUESTS);

	add(&f, GP_ALLOC, 3, 512);
	add(&f, GP_FREE_COMPLETED, 3, 0);
	refuse(&f, "event 1", "free_completed of id 3, which is live");
}
END_TEST

START_TEST(test_sizes_have_a_limit)
{
	struct fixture f = start(GP_BUILD_REQUESTS);

	add(&f, GP_ALLOC, 1, INT64_MAX);
	add(&f, GP_ALLOC, 2, (uint64_t)INT64_MAX + 1);
	refuse(&f, "event 1", "alloc of 9223372036854775808 bytes");
}
END_TEST

START_TEST(test_states_must_fit_together)
{
	static const struct {
		uint64_t segment, first, second; /* sizes */
		uint64_t addr;			 /* of the second block */
		const char *what;
	} rows[] = {
		{ 4096, 1024, 1024, 0, "its blocks do not cover the segment" },
		{ 4096, 1024, 4096, 0,
		  "its blocks are larger than the segment" },
		{ 4096, 1024, 3072, 4096 + 2048, "a gap between its blocks" },
		{ 4096, 1024, 3072, 4096 + 512, "its blocks overlap" },
		{ 4096, 4096, 0, 0, "a block of 0 bytes" },
		{ UINT64_MAX, 1024, 1024, 0, "it ends beyond 2^64" },
		{ UINT64_C(1) << 63, 1024, 1024, 0, "it ends beyond 2^64" },
		{ INT64_MAX, 1024, INT64_MAX - 1024, 0,
		  "more memory than a device can address" },
		{ 0, 1024, 1024, 0, "a segment of 0 bytes" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fixture f = start(GP_BUILD_REQUESTS);

		add_segment(&f, 4096, rows[i].segment);
		add_block(&f, 0, rows[i].first, GP_INACTIVE, 0);
		add_block(&f, rows[i].addr, rows[i].second, GP_INACTIVE, 0);
		refuse(&f, "segment 0x1000", rows[i].what);
	}
}
END_TEST

START_TEST(test_segments_do_not_overlap)
{
	struct fixture f = start(GP_BUILD_REQUESTS);

	add_segment(&f, 6144, 4096);
	add_block(&f, 0, 4096, GP_INACTIVE, 0);
	add_segment(&f, 4096, 4096);
	add_block(&f, 0, 4096, GP_INACTIVE, 0);
	refuse(&f, "segment 0x1800", "it overlaps the segment before it");
}
END_TEST

/* A segment ends below 2^64, and its reservation begins at 0 or above. */
START_TEST(test_segments_are_within_the_addresses)
{
	static const struct {
		uint64_t addr, size, offset;
		const char *what;
	} rows[] = {
		{ UINT64_MAX - 1024, 1024, 0, NULL },
		{ UINT64_MAX - 1023, 1024, 0, "it ends beyond 2^64" },
		{ 4096, 1024, 4096, NULL },
		{ 4096, 1024, 4097,
		  "its reservation would begin below address 0" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fixture f = start(GP_BUILD_REQUESTS);
		const struct gp_segment segment = {
			.addr = rows[i].addr,
			.size = rows[i].size,
			.offset = rows[i].offset,
			.is_expandable = rows[i].offset > 0,
			.site = GP_NO_SITE,
		};
		char record[64];

		gp_build_segment(f.build, f.device, &segment);
		add_block(&f, 0, rows[i].size, GP_INACTIVE, 0);
		snprintf(record, sizeof(record), "segment 0x%llx",
			 (unsigned long long)rows[i].addr);
		if (rows[i].what)
			refuse(&f, record, rows[i].what);
		else
			gp_trace_destroy(finish(&f));
	}
}
END_TEST

/* All segments of a device have less than 2^56 bytes. */
START_TEST(test_segments_have_so_many_bytes)
{
	const uint64_t half = UINT64_C(1) << 55;
	const uint64_t rows[][2] = {
		{ 2 * half, 512 },	  { 2 * half - 512, 512 },
		{ 2 * half - 1024, 512 }, { half, half },
		{ half, half - 512 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct fixture f = start(GP_BUILD_REQUESTS);
		struct gp_trace *trace = NULL;
		bool fits = rows[i][0] + rows[i][1] < 2 * half;

		for (size_t k = 0; k < 2; k++) {
			add_segment(&f, (k + 1) << 57, rows[i][k]);
			add_block(&f, 0, rows[i][k], GP_INACTIVE, 0);
		}
		ck_assert_int_eq(gp_build_finish(f.build, &trace, &f.diag),
				 fits ? GP_OK : GP_INPUT);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_ids_become_dense_in_order_of_appearance, 0 },
		{ test_names_that_are_the_ids_are_not_kept, 0 },
		{ test_blocks_of_the_start_come_first, 0 },
		{ test_streams_and_pools_are_sorted, 0 },
		{ test_there_is_an_end_to_streams, 0 },
		{ test_there_is_an_end_to_pools, 0 },
		{ test_stacks_share_their_callers, 0 },
		{ test_texts_are_made_fit_for_json, 0 },
		{ test_releases_intersect, 0 },
		{ test_what_is_there_outweighs_what_is_missing, 0 },
		{ test_devices_are_in_order, 0 },
		{ test_a_free_needs_a_live_block, 0 },
		{ test_an_id_is_one_live_block, 0 },
		{ test_completion_comes_after_the_free, 0 },
		{ test_sizes_have_a_limit, 0 },
		{ test_states_must_fit_together, 0 },
		{ test_segments_do_not_overlap, 0 },
		{ test_segments_are_within_the_addresses, 0 },
		{ test_segments_have_so_many_bytes, 0 },
	};

	return suite_run("build", tests, COUNT_OF(tests));
}
