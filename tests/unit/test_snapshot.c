/* SPDX-License-Identifier: MIT */
/* The meaning of the dicts and lists of a snapshot, and how they are
 * refused. */
#include "gpupool/knob.h"
#include "pickle_text.h"
#include "suite.h"

#define SHOULD                                                                 \
	"what it should be: a whole number of 0 or more, or one of PyTorch's " \
	"words"

static const struct {
	const char *items, *message;
} bad_entries[] = {
	{ "'action''alloc' 'addr'65536", "it has no size" },
	{ "'action''alloc' 'size'512", "it has no addr" },
	{ "'action''oom' 'device_free'512", "it has no size" },
	{ "'action''alloc' 'addr'65536 'size'-512", "its size is not " SHOULD },
	{ "'action''alloc' 'addr''x' 'size'512", "its addr is not " SHOULD },
	{ "'action''alloc' 'addr'65536 'size'N", "its size is not " SHOULD },
	{ "'action''alloc' 'addr'65536 'size'$8a$0axxxxxxxxxx",
	  "its size is not " SHOULD },
	{ "'action''alloc'" PLACE "'pool_id'K$01",
	  "its pool_id is not " SHOULD },
	{ "'action''alloc'" PLACE "'time_us'-1", "its time_us is not " SHOULD },
	{ "'action''dance'" PLACE, "its action is not known to gpupool" },
	{ "'action'K$01" PLACE, "its action is not known to gpupool" },
};

START_TEST(test_bad_entries_are_named)
{
	for (size_t i = 0; i < COUNT_OF(bad_entries); i++) {
		char notation[1024], want[256];

		snprintf(notation, sizeof(notation),
			 SNAPSHOT(TRACE(GROW "}(%su")), bad_entries[i].items);
		snprintf(want, sizeof(want), "device 0, entry 1: %s",
			 bad_entries[i].message);
		ck_assert_str_eq(refusal_of(notation), want);
	}
}
END_TEST

START_TEST(test_bad_segments_are_named)
{
	static const struct {
		const char *items, *message;
	} rows[] = {
		{ "'total_size'512", "segment 1: it has no address" },
		{ "'total_size'-1 'address'0 'segment_type''small'",
		  "segment 1: its total_size is not " SHOULD },
		{ "'total_size'512 'address'1 'segment_type''tiny'",
		  "segment 1: its segment_type is not " SHOULD },
		{ "'total_size'512 'address'8388608 'segment_type''small' "
		  "'blocks'](}('state''inactive' 'x'Nue",
		  "segment 1, block 0: it has no size" },
		{ "'total_size'512 'address'8388608 'segment_type''small' "
		  "'blocks'](}('state''asleep' 'size'512 ue",
		  "segment 1, block 0: its state is not " SHOULD },
		{ "'total_size'512 'address'8388608 'segment_type''small' "
		  "'blocks'](Ne",
		  "segment 1: the list of blocks has something else as "
		  "element 0" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char notation[2048];

		snprintf(notation, sizeof(notation),
			 SNAPSHOT("'segments' (" SEGMENT "}(%sul"),
			 rows[i].items);
		ck_assert_str_eq(refusal_of(notation), rows[i].message);
	}
}
END_TEST

#define ENTRY(keys) "}('action''alloc'" PLACE keys "u"
#define KEYS_2_2    "'time_us'5 "
#define KEYS_2_8    KEYS_2_2 "'compile_context''N/A' "
#define KEYS_2_10   KEYS_2_8 "'user_metadata''' "
#define KEYS_2_12   KEYS_2_10 "'pool_id'(K$00K$00t "
#define SETTINGS    "'allocator_settings'}('PYTORCH_CUDA_ALLOC_CONF''' "

START_TEST(test_keys_bound_the_release)
{
	static const struct {
		const char *notation;
		uint8_t first, last;
	} rows[] = {
		{ SNAPSHOT(TRACE(ENTRY(""))), 0, 1 },
		{ SNAPSHOT(TRACE(ENTRY(KEYS_2_2))), 2, 7 },
		{ SNAPSHOT(TRACE(ENTRY(KEYS_2_8))), 8, 9 },
		{ SNAPSHOT(TRACE(ENTRY(KEYS_2_10))), 10, 11 },
		{ SNAPSHOT(TRACE(ENTRY(KEYS_2_12))), 12, GP_RELEASE_LAST },
		{ SNAPSHOT(TRACE(ENTRY(KEYS_2_12)) "'host_traces']"), 13,
		  GP_RELEASE_LAST },
		{ SNAPSHOT(SEGMENTS "'device_traces']"), 1, GP_RELEASE_LAST },
		{ SNAPSHOT(SEGMENTS "'external_annotations']"), 5,
		  GP_RELEASE_LAST },
		{ SNAPSHOT(SEGMENTS SETTINGS "'max_split_size'-1u"), 3, 8 },
		{ SNAPSHOT(SEGMENTS SETTINGS
			   "'graph_capture_record_stream_reuse'$89u"),
		  9, GP_RELEASE_LAST },
		{ SNAPSHOT("'segments'](}('device'0 'address'65536 "
			   "'total_size'512 'segment_type''small' 'blocks']("
			   "}('size'512 'requested_size'5 'state''inactive'"
			   "ueue"),
		  0, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = unpickled(rows[i].notation);

		ck_assert_uint_eq(trace->release.first, rows[i].first);
		ck_assert_uint_eq(trace->release.last, rows[i].last);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(test_settings_are_a_string)
{
	static const struct {
		const char *items, *settings;
	} rows[] = {
		{ "'PYTORCH_CUDA_ALLOC_CONF''max_split_size_mb:64' "
		  "'max_split_size'67108864",
		  "max_split_size_mb:64" },
		{ "'PYTORCH_CUDA_ALLOC_CONF''' 'max_split_size'-1", "" },
		{ "'PYTORCH_CUDA_ALLOC_CONF''' 'max_split_size'67108864 "
		  "'garbage_collection_threshold'G$3f$e6$66$66$66$66$66$66 "
		  "'expandable_segments'$88",
		  "max_split_size_mb:64,garbage_collection_threshold:0.7,"
		  "expandable_segments:True" },
		{ "'roundup_power2_divisions'}('1'4 '2'4 '4'4 '8'4 '16'4 '32'4 "
		  "'64'4 '128'4 '256'4 '512'4 '1024'4 '2048'4 '4096'4 '8192'4 "
		  "'16384'4 '32768'4 u 'max_split_size'-1",
		  "roundup_power2_divisions:4" },
		{ "'roundup_power2_divisions'}('1'2 '2'4 '32768'8 u "
		  "'max_split_size'-1",
		  "roundup_power2_divisions:[1:2,2:4,32768:8]" },
		{ "'roundup_power2_divisions'}('1'2 '256'4 u "
		  "'max_split_size'-1",
		  "roundup_power2_divisions:[1:2,256:4]" },
		{ "'roundup_power2_divisions'}('1'0 '256'4 '512'8 u "
		  "'max_split_size'-1",
		  "roundup_power2_divisions:[1:0,256:4,512:8]" },
		{ "'roundup_power2_divisions'}('256'4 '512'8 u "
		  "'max_split_size'-1",
		  "roundup_power2_divisions:[1:0,256:4,512:8]" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char notation[4096];
		struct gp_trace *trace;

		snprintf(notation, sizeof(notation),
			 SNAPSHOT(SEGMENTS "'allocator_settings'}(%su"),
			 rows[i].items);
		trace = unpickled(notation);
		ck_assert_str_eq(trace->settings, rows[i].settings);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* Dicts that look like a snapshot's, under unknown keys. */
START_TEST(test_settings_are_those_of_their_key)
{
	static const struct {
		const char *before, *after;
	} rows[] = {
		{ "", "" },
		{ "'a'}('max_split_size'67108864u", "" },
		{ "'a'}('max_split_size'67108864u"
		  "'b'}('max_split_size'134217728u",
		  "" },
		{ "", "'a'}('max_split_size'67108864u" },
		{ "'a'}('roundup_power2_divisions'}('256'4 u u", "" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char notation[4096];
		struct gp_trace *trace;

		snprintf(notation, sizeof(notation),
			 SNAPSHOT(SEGMENTS
				  "%s'allocator_settings'}('max_split_size'"
				  "33554432 'roundup_power2_divisions'}("
				  "'1'2 '256'4 uu%s"),
			 rows[i].before, rows[i].after);
		trace = unpickled(notation);
		ck_assert_str_eq(trace->settings,
				 "max_split_size_mb:32,"
				 "roundup_power2_divisions:[1:2,256:4]");
		gp_trace_destroy(trace);
	}
}
END_TEST

#define FRAME(n) "}('filename''a.py' 'line'K$0" #n "'name''f'u"

START_TEST(test_equal_stacks_are_one_site)
{
	struct gp_trace *trace = unpickled(SNAPSHOT(TRACE(
		"}('action''segment_alloc' 'addr'65536 'size'2097152 "
		"'frames'](" FRAME(1) FRAME(
			2) "e$94u"
			   "}('action''alloc'" PLACE
			   "'frames']" FRAME(1) "a" FRAME(
				   2) "au"
				      "}('action''free_requested'" PLACE
				      "'frames'h$00u"
				      "}('action''free_completed'" PLACE
				      "'frames']u"
				      "}('action''alloc'" PLACE "'frames'Nu")));
	const struct gp_event *events = trace->devices[0].events;
	const struct gp_site *site = &trace->sites[events[0].site];

	ck_assert_uint_eq(events[0].site, events[1].site);
	ck_assert_uint_eq(events[0].site, events[2].site);
	ck_assert_uint_eq(events[3].site, GP_NO_SITE);
	ck_assert_str_eq(trace->texts[site->text], "a.py:1 f");
	ck_assert_str_eq(trace->texts[trace->sites[site->caller].text],
			 "a.py:2 f");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_what_is_no_frame_is_left_out_of_a_stack)
{
	struct gp_trace *trace = unpickled(SNAPSHOT(
		TRACE("}('action''segment_alloc' 'addr'65536 'size'2097152 "
		      "'frames'](" FRAME(1) "N 7 'x' ](e" FRAME(
			      2) "eu"
				 "}('action''alloc'" PLACE "'frames'](" FRAME(1)
					 FRAME(2) "eu")));
	const struct gp_event *events = trace->devices[0].events;

	ck_assert_uint_eq(events[0].site, events[1].site);
	gp_trace_destroy(trace);
}
END_TEST

/* Python appends a thousand items at a time. */
START_TEST(test_a_frame_without_a_line_has_none)
{
	struct gp_trace *trace = unpickled(
		SNAPSHOT(TRACE("}('action''alloc'" PLACE
			       "'frames'](}('filename''a.py' 'name''f'ueu")));

	ck_assert_str_eq(
		trace->texts[trace->sites[trace->devices[0].events[0].site]
				     .text],
		"f");
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_a_long_stack_keeps_all_its_frames)
{
	struct pickle pickle = { .n = 0 };
	struct gp_trace *trace;
	struct gp_diag diag;
	size_t depth = 0;
	uint32_t site;

	add_notation(&pickle, "$80$04}('device_traces'](](}('action''alloc'"
			      "'addr'65536 'size'512 'frames'](");
	for (int i = 0; i < 1500; i++) {
		char frame[64];

		snprintf(frame, sizeof(frame),
			 "%s}('line'M$%02x$%02x'name''f'u",
			 i == 1000 ? "e(" : "", i & 255, i >> 8);
		add_notation(&pickle, frame);
	}
	add_notation(&pickle, "eueeu.");
	ck_assert_int_eq(try_bytes(pickle.bytes, pickle.n, &trace, &diag),
			 GP_OK);
	for (site = trace->devices[0].events[0].site; site != GP_NO_SITE;
	     site = trace->sites[site].caller)
		depth++;
	ck_assert_uint_eq(depth, 1500);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_blocks_of_2_0_lie_behind_each_other)
{
	struct gp_trace *trace = unpickled(SNAPSHOT(
		"'segments'](}('device'0 'address'65536 'total_size'2097152 "
		"'segment_type''small' 'blocks']("
		"}('size'512 'requested_size'5 'state''active_allocated' "
		"'history'](}('addr'65536 'real_size'5 'frames'](" FRAME(
			1) "eueu"
			   "}('size'2096640 'requested_size'0 "
			   "'state''inactive'ueue 'device_traces'](]e"));
	const struct gp_block *blocks = trace->devices[0].end.blocks;

	ck_assert_uint_eq(blocks[1].addr, 65536 + 512);
	ck_assert_str_eq(trace->texts[trace->sites[blocks[0].site].text],
			 "a.py:1 f");
	gp_trace_destroy(trace);
}
END_TEST

/* Keys may be set one by one, by any number of SETITEMS. */
START_TEST(test_an_entry_may_come_in_parts)
{
	static const char *const entries[] = {
		"}('action''alloc' 'addr'66048 u('size'1024 'stream'0 u",
		"}('action''alloc'u('addr'66048 'size'1024 u('stream'0 u",
		"}'action''alloc's'addr'66048 s'size'1024 s'stream'0 s",
	};

	for (size_t i = 0; i < COUNT_OF(entries); i++) {
		char notation[1024];
		struct gp_trace *trace;
		const struct gp_event *alloc;

		snprintf(notation, sizeof(notation), SNAPSHOT(TRACE(GROW "%s")),
			 entries[i]);
		trace = unpickled(notation);
		alloc = &trace->devices[0].events[1];
		ck_assert_int_eq(alloc->kind, GP_ALLOC);
		ck_assert_uint_eq(alloc->addr, 66048);
		ck_assert_uint_eq(alloc->size, 1024);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(test_wide_numbers_keep_every_bit)
{
	struct gp_trace *trace = unpickled(SNAPSHOT(TRACE(
		"}('action''segment_alloc' 'addr'18446744073707454464 "
		"'size'2097152 'stream'-2 'pool_id'](K$01 9223372036854775809 "
		"eu")));

	ck_assert_uint_eq(trace->devices[0].events[0].addr,
			  18446744073707454464u);
	ck_assert_uint_eq(trace->streams[trace->devices[0].events[0].stream],
			  UINT64_MAX - 1);
	ck_assert_uint_eq(trace->pools[trace->devices[0].events[0].pool].second,
			  9223372036854775809u);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_annotations_are_marks)
{
	struct gp_trace *trace = unpickled(SNAPSHOT(
		"'external_annotations'](}('name''step' "
		"'stage''START' 'device'0 'time_us'4 u"
		/* there can be no such device */
		"}('name''other' "
		"'stage''START' 'device'$8a$05$00$00$00$00$01 'time_us'4 "
		"ue" TRACE("}('action''segment_alloc' 'addr'65536 "
			   "'size'2097152 'time_us'4 u" ENTRY(KEYS_2_2))));
	const struct gp_device_trace *device = &trace->devices[0];
	const struct gp_event *mark = NULL;

	for (size_t i = 0; i < device->event_count; i++)
		if (device->events[i].kind == GP_MARK) {
			ck_assert_ptr_null(mark);
			mark = &device->events[i];
		}
	ck_assert_ptr_nonnull(mark);
	ck_assert_str_eq(trace->texts[mark->text], "step");
	ck_assert_uint_eq(mark->mark, GP_MARK_START);
	gp_trace_destroy(trace);
}
END_TEST

/* Before later events, and after the events up to that time. */
START_TEST(test_annotations_stand_where_their_time_is)
{
	static const size_t places[] = { 0, 0, 1, 1, 2, 3, 3 };

	for (unsigned time = 1; time < COUNT_OF(places); time++) {
		char text[1024];
		struct gp_trace *trace;
		const struct gp_event *events;

		snprintf(text, sizeof(text),
			 SNAPSHOT("'external_annotations'](}('name''step' "
				  "'stage''START' 'device'0 'time_us'%u ue"
				  "%s"),
			 time,
			 TRACE("}('action''segment_alloc' 'addr'65536 "
			       "'size'2097152 'time_us'2 u"
			       "}('action''segment_alloc' 'addr'4259840 "
			       "'size'2097152 'time_us'4 u"
			       "}('action''segment_alloc' 'addr'8454144 "
			       "'size'2097152 'time_us'5 u"));
		trace = unpickled(text);
		events = trace->devices[0].events;
		ck_assert_uint_eq(trace->devices[0].event_count, 4);
		for (size_t i = 0; i < 4; i++)
			ck_assert_int_eq(events[i].kind == GP_MARK,
					 i == places[time]);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_bad_entries_are_named, 0 },
		{ test_bad_segments_are_named, 0 },
		{ test_keys_bound_the_release, 0 },
		{ test_settings_are_a_string, 0 },
		{ test_settings_are_those_of_their_key, 0 },
		{ test_equal_stacks_are_one_site, 0 },
		{ test_what_is_no_frame_is_left_out_of_a_stack, 0 },
		{ test_a_frame_without_a_line_has_none, 0 },
		{ test_a_long_stack_keeps_all_its_frames, 0 },
		{ test_blocks_of_2_0_lie_behind_each_other, 0 },
		{ test_an_entry_may_come_in_parts, 0 },
		{ test_wide_numbers_keep_every_bit, 0 },
		{ test_annotations_are_marks, 0 },
		{ test_annotations_stand_where_their_time_is, 0 },
	};

	return suite_run("snapshot", tests, COUNT_OF(tests));
}
