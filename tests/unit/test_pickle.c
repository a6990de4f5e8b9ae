/* SPDX-License-Identifier: MIT */
/* The pickle reader: what it accepts, and how it refuses the rest. */
#include "pickle_text.h"
#include "suite.h"

START_TEST(test_a_snapshot_is_a_trace)
{
	struct gp_trace *trace =
		unpickled(SNAPSHOT(SEGMENTS TRACE(GROW ALLOC FREE DONE ALLOC)));

	ck_assert_uint_eq(trace->device_count, 1);
	ck_assert_uint_eq(trace->devices[0].event_count, 4);
	ck_assert_uint_eq(trace->devices[0].end.segment_count, 1);
	ck_assert_uint_eq(trace->devices[0].end.block_count, 2);
	gp_trace_destroy(trace);
}
END_TEST

/* Each is read as the same trace as the first. */
static const char *const same[] = {
	SNAPSHOT(SEGMENTS TRACE(GROW ALLOC)),
	/* another order */
	SNAPSHOT(TRACE(GROW ALLOC) SEGMENTS),
	/* items one by one */
	"} 'segments' ] " SEGMENT "a s 'device_traces' ] ] " GROW "a" ALLOC
	"a a s .",
	"}(" SEGMENTS "'device_traces' ](](" GROW
	"} 'action''alloc's 'size'512 s 'addr'65536 s e e u.",
	/* LIST and DICT */
	"('segments' (" SEGMENT "l 'device_traces' ((" GROW
	"('action''alloc'" PLACE "dl ld.",
	/* memo by BINPUT, MEMOIZE, LONG_BINPUT */
	SNAPSHOT("'size'q$00 0" SEGMENTS "'device_traces' ](](" GROW
		 "}('action''alloc' 'addr'65536 h$00 512 ueeh$00 N"),
	SNAPSHOT("'size'$94 0" SEGMENTS "'device_traces' ](](" GROW
		 "}('action''alloc' 'addr'65536 j$00$00$00$00 512 ueeh$00 N"),
	SNAPSHOT("'size'r$03$00$00$00 0" SEGMENTS "'device_traces' ](](" GROW
		 "}('action''alloc' 'addr'65536 h$03 512 ueeh$03 N"),
	/* the largest index at this place */
	"Nr$08$00$00$00$30" SNAPSHOT(SEGMENTS TRACE(GROW ALLOC)),
	/* a memo entry is overwritten with something else */
	SNAPSHOT("'addr'q$00'size'q$00 0 0" SEGMENTS "'device_traces' ](](" GROW
		 "}('action''alloc' 'addr'65536 h$00 512 ueeh$00 N"),
	SNAPSHOT("'addr'r$00$00$00$00'size'r$00$00$00$00 0 0" SEGMENTS
		 "'device_traces' ](](" GROW
		 "}('action''alloc' 'addr'65536 j$00$00$00$00 512 ueeh$00 N"),
	/* dicts without items; 28 is also the code of MARK */
	SNAPSHOT(SEGMENTS "'x'}$94 'x'}q$28" TRACE(GROW ALLOC)),
	/* in batches, with MARKs in other places */
	SNAPSHOT(SEGMENTS "'device_traces' ](](" GROW "e(" ALLOC "ee"),
	/* short integers */
	SNAPSHOT(SEGMENTS "'device_traces' ](](" GROW
			  "}('action''alloc' 'addr'J$00$00$01$00"
			  "'size'M$00$02 'stream'K$00uee"),
	/* keys and values without a meaning */
	SNAPSHOT("'x'}'categories'](N$88$89 G$00$00$00$00$00$00$00$00 "
		 ")C$01xB$01$00$00$00x$8e$01$00$00$00$00$00$00$00x "
		 "$96$01$00$00$00$00$00$00$00x $8f($88$90 ($88$91 K$01$85"
		 "K$01K$02K$03$87 (K$01tes'y'$8a$0bxxxxxxxxxxx 2 $8b"
		 "$02$00$00$00xx" SEGMENTS TRACE(GROW ALLOC)),
	/* values that are pushed and popped */
	"N$32$30$30 ($30 (K$01$31 " SNAPSHOT(
		SEGMENTS "'device_traces' 'x'$30](](" GROW ALLOC "ee"),
	/* the last value twice: as a value, and as the next key */
	SNAPSHOT(SEGMENTS "'x''device_traces'$32](](" GROW ALLOC "ee"),
	/* FRAME, whatever its length */
	"$95$ff$ff$ff$ff$00$00$00$00" SNAPSHOT(SEGMENTS TRACE(GROW ALLOC)),
	/* pinned host memory looks similar, but is not a device's */
	SNAPSHOT("'host_segments' ](" SEGMENT "e 'host_traces' ](](" ALLOC
		 "ee" SEGMENTS TRACE(GROW ALLOC)),
	/* similar to a trace of the first device, but in a tuple */
	SNAPSHOT("'x'(N(NN'device_traces' ](](" ALLOC
		 "eett" SEGMENTS TRACE(GROW ALLOC)),
	/* contains another dict with segments */
	SNAPSHOT("'x'}('segments' ](" SEGMENT
		 "e'device_traces' ]u" SEGMENTS TRACE(GROW ALLOC)),
	/* an integer of zero bytes */
	SNAPSHOT(SEGMENTS TRACE("}('action''segment_alloc' 'addr'65536 "
				"'size'2097152 'stream'$8a$00u" ALLOC)),
	/* other devices, all empty */
	SNAPSHOT(SEGMENTS "'device_traces' ](](" GROW ALLOC "e]]e"),
	/* annotations that are not events */
	SNAPSHOT(SEGMENTS TRACE(GROW "}('action''user_defined'" PLACE
				     "u}('action''annotate'u" ALLOC)),
};

/* Followed by other bytes, so that no value is near the end: values near the
 * end are read one opcode at a time. */
static struct gp_trace *unpickled_far_from_the_end(const char *notation)
{
	struct pickle pickle = { .n = 0 };
	struct gp_trace *trace;
	struct gp_diag diag;

	add_notation(&pickle, "$80$04");
	add_notation(&pickle, notation);
	for (int i = 0; i < 300; i++)
		add(&pickle, 0);
	ck_assert_msg(try_bytes(pickle.bytes, pickle.n, &trace, &diag) == GP_OK,
		      "%s: %s in %s", diag.record, diag.what, notation);
	return trace;
}

START_TEST(test_other_pickles_say_the_same)
{
	struct gp_trace *first = unpickled(same[0]);

	for (size_t i = 1; i < 2 * COUNT_OF(same); i++) {
		const char *notation = same[i % COUNT_OF(same)];
		struct gp_trace *trace =
			i < COUNT_OF(same)
				? unpickled(notation)
				: unpickled_far_from_the_end(notation);

		ck_assert_uint_eq(trace->device_count, 1);
		ck_assert_uint_eq(trace->devices[0].event_count,
				  first->devices[0].event_count);
		ck_assert_msg(!memcmp(trace->devices[0].events,
				      first->devices[0].events,
				      first->devices[0].event_count *
					      sizeof(struct gp_event)),
			      "pickle %zu differs", i);
		ck_assert_uint_eq(trace->devices[0].end.block_count, 2);
		gp_trace_destroy(trace);
	}
	gp_trace_destroy(first);
}
END_TEST

/*
 * Entries as Python writes them, with keys by reference, so similar that one is
 * read by comparison with the bytes of another (pickle_machine.h). Memo: 0
 * action, 1 addr, 2 size, 3 stream, 4 alloc, 5 free_requested, then those of
 * the entries.
 */
#define KEYS                                                                   \
	"'action'$94$30'addr'$94$30'size'$94$30'stream'$94$30"                 \
	"'alloc'$94$30'free_requested'$94$30"
#define ALIKE(action, addr, size, stream)                                      \
	"}$94(h$00h" action "h$01J" addr "h$02M" size "h$03" stream "u"
#define GREEN	 ALIKE("$04", "$00$00$01$00", "$00$02", "K$00")
#define RED	 ALIKE("$05", "$00$00$01$00", "$00$02", "K$00")
#define OWN_TEXT "}$94(h$00'alloc'$94h$01J$00$00$01$00h$02M$00$02h$03K$00u"
#define FILL	 "zzzzzzzzzzzzzzzzzzzzz"
/* Entries as close to the end as this are read one opcode at a time. */
#define TAIL                                                                   \
	"'x'C$ff" FILL FILL FILL FILL FILL FILL FILL FILL FILL FILL FILL FILL  \
	"zzz"

static const struct {
	const char *entries;
	uint64_t addr, size, stream; /* of the last event */
	size_t events;
	enum gp_event_kind kind;
} alike[] = {
	{ GREEN RED GREEN, 65536, 512, 0, 3, GP_ALLOC },
	{ GREEN GREEN RED, 65536, 512, 0, 3, GP_FREE },
	{ GREEN ALIKE("$04", "$00$02$01$00", "$00$04", "K$00"), 66048, 1024, 0,
	  2, GP_ALLOC },
	{ GREEN ALIKE("$04", "$00$02$01$00", "$00$04", "K$05"), 66048, 1024, 1,
	  2, GP_ALLOC },
	/* a stream's handle with its top bits set */
	{ ALIKE("$04", "$00$02$01$00", "$00$04", "J$00$01$00$00")
		  ALIKE("$04", "$00$04$01$00", "$00$04", "J$00$ff$ff$ff"),
	  66560, 1024, 2, 2, GP_ALLOC },
	/* keys that are in another order from there on: size 1, addr 2 */
	{ GREEN "'size'q$01$30'addr'q$02$30"
		"}$94(h$00h$04h$01J$00$02$00$00h$02J$00$00$01$00h$03K$00u",
	  65536, 512, 0, 2, GP_ALLOC },
	{ GREEN "'size'q$01$30'addr'q$02$30"
		"}$94(h$00h$04h$01J$00$02$00$00h$02M$00$08h$03K$00u",
	  2048, 512, 0, 2, GP_ALLOC },
	/* an action by reference to the text of a similar entry: 6 and 8 are
	 * the entries, 7 and 9 their texts */
	{ OWN_TEXT OWN_TEXT ALIKE("$09", "$00$02$01$00", "$00$04", "K$00"),
	  66048, 1024, 0, 3, GP_ALLOC },
};

START_TEST(test_entries_may_be_alike)
{
	char notation[4096];

	for (size_t i = 0; i < COUNT_OF(alike); i++) {
		const struct gp_event *last;
		struct gp_trace *trace;

		snprintf(notation, sizeof(notation),
			 KEYS "}('device_traces' ](](%see" TAIL "u.",
			 alike[i].entries);
		trace = unpickled(notation);
		ck_assert_uint_eq(trace->devices[0].event_count,
				  alike[i].events);
		last = &trace->devices[0].events[alike[i].events - 1];
		ck_assert_uint_eq(last->kind, alike[i].kind);
		ck_assert_uint_eq(last->addr, alike[i].addr);
		ck_assert_uint_eq(last->size, alike[i].size);
		ck_assert_uint_eq(last->stream, alike[i].stream);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* A list that was used as a pool id, and then grows. */
START_TEST(test_a_pool_id_is_what_it_is_when_it_is_used)
{
#define POOLED "}$94(h$00h$04h$01J$00$00$01$00h$02M$00$02h$03K$00h$06h$07u"
	static const char *const grows =
		KEYS "'pool_id'$94$30](K$00K$01e$94$30"
		     "}('device_traces' ](](" POOLED "%s" POOLED "ee" TAIL "u.";
	char notation[4096];
	struct gp_trace *trace;

	snprintf(notation, sizeof(notation), grows, "");
	trace = unpickled(notation);
	ck_assert_uint_eq(trace->devices[0].events[1].pool, 1);
	gp_trace_destroy(trace);
	snprintf(notation, sizeof(notation), grows, "h$07K$05a$30");
	ck_assert_str_eq(refusal_of(notation),
			 "device 0, entry 1: its pool_id is not what it should "
			 "be: a whole number of 0 or more, or one of PyTorch's "
			 "words");
}
END_TEST

/* 75 is also the code of the opcode for a small integer. */
START_TEST(test_a_pool_id_is_another_than_the_one_before)
{
#define IN_POOL(a, b)                                                          \
	"}$94(h$00h$04h$01J$00$00$01$00h$02M$00$02h$03K$00h$06K$" #a "K$" #b   \
	"$86u"
	struct gp_trace *trace = unpickled(
		KEYS "'pool_id'$94$30}('device_traces' ](](" IN_POOL(4b, 01)
			IN_POOL(02, 01) IN_POOL(4b, 01) "ee" TAIL "u.");
	const struct gp_event *events = trace->devices[0].events;

	ck_assert_int_ne(events[0].pool, events[1].pool);
	ck_assert_int_eq(events[0].pool, events[2].pool);
	gp_trace_destroy(trace);
}
END_TEST

/* Short texts that differ in a single bit, at either end. */
#define FRAME(file, name) "}$94(h$00'" file "'$94h$01K$01h$02'" name "'$94u"
#define FRAMES                                                                 \
	FRAME("b", "fa") FRAME("c", "ga") FRAME("b", "fb") FRAME("c", "gb")

START_TEST(test_short_texts_are_told_apart)
{
	static const char *const texts[] = { "b:1 fa", "c:1 ga", "b:1 fb",
					     "c:1 gb" };
	struct gp_trace *trace = unpickled(
		"'filename'$94$30'line'$94$30'name'$94$30"
		"}('device_traces' ](](" GROW "}('action''alloc'" PLACE
		"'frames'](" FRAMES FRAMES "euee" TAIL "u.");
	uint32_t site = trace->devices[0].events[1].site;

	for (size_t i = 0; i < 2 * COUNT_OF(texts); i++) {
		ck_assert_str_eq(trace->texts[trace->sites[site].text],
				 texts[i % COUNT_OF(texts)]);
		site = trace->sites[site].caller;
	}
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_lists_by_themselves_are_traces)
{
	static const struct {
		const char *notation;
		size_t events, segments;
	} rows[] = {
		{ "](](" GROW ALLOC "e]e.", 2, 0 },
		{ "](" GROW ALLOC "e.", 2, 0 },
		{ "](" SEGMENT "e.", 0, 1 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *trace = unpickled(rows[i].notation);

		ck_assert_uint_eq(trace->devices[0].event_count,
				  rows[i].events);
		ck_assert_uint_eq(trace->devices[0].end.segment_count,
				  rows[i].segments);
		gp_trace_destroy(trace);
	}
}
END_TEST

#define N16 "NNNNNNNNNNNNNNNN"
#define N64 N16 N16 N16 N16
#define FAR N64 N64 N64 N64 N64

#define NO_SIZE "}('action''alloc' 'addr'65536 'stream'0 u"

static const struct {
	const char *notation, *message;
} bad_pickles[] = {
	/* nothing is executed */
	{ "cos\nsystem\n.", "byte 2: opcode GLOBAL is not allowed: gpupool "
			    "executes nothing" },
	{ "'os''system'$93.", "byte 14: opcode STACK_GLOBAL is not allowed: "
			      "gpupool executes nothing" },
	{ "NR.", "byte 3: opcode REDUCE is not allowed: gpupool executes "
		 "nothing" },
	{ "Nb.", "byte 3: opcode BUILD is not allowed: gpupool executes "
		 "nothing" },
	{ "io\ns\n.", "byte 2: opcode INST is not allowed: gpupool executes "
		      "nothing" },
	{ "(o.", "byte 3: opcode OBJ is not allowed: gpupool executes "
		 "nothing" },
	{ "$81.", "byte 2: opcode NEWOBJ is not allowed: gpupool executes "
		  "nothing" },
	{ "$82.", "byte 2: opcode EXT1 is not allowed: gpupool executes "
		  "nothing" },
	{ "Px\n.", "byte 2: opcode PERSID is not allowed: gpupool executes "
		   "nothing" },
	{ "NQ.", "byte 3: opcode BINPERSID is not allowed: gpupool executes "
		 "nothing" },
	/* not pickles of these protocols */
	{ "$80$06", "byte 2: the pickle is of protocol 6, which is not known" },
	{ "IK\n.", "byte 2: opcode INT belongs to pickle protocol 0, which is "
		   "not read" },
	{ "N$ff", "byte 3: 0xff is not a pickle opcode" },
	/* cut off */
	{ "", "byte 2: the file ends in the middle of the pickle" },
	{ "(((((", "byte 7: the file ends in the middle of the pickle" },
	{ "$8c$05ab", "byte 6: the file ends in the middle of the pickle" },
	{ "X$ff$ff$ff$ff",
	  "byte 7: the file ends in the middle of the pickle" },
	{ "$8b$ff$ff$ff$ff", "byte 7: the file ends in the middle of the "
			     "pickle" },
	{ "$8e$ff$ff$ff$ff$ff$ff$ff$ff", "byte 11: the file ends in the middle "
					 "of the pickle" },
	{ "h", "byte 3: the file ends in the middle of the pickle" },
	{ "j$00", "byte 4: the file ends in the middle of the pickle" },
	/* values that do not exist */
	{ ".", "byte 2: the pickle uses a value that does not exist" },
	{ "$30", "byte 2: the pickle uses a value that does not exist" },
	{ "$31", "byte 2: the pickle uses a value that does not exist" },
	{ "$32", "byte 2: the pickle uses a value that does not exist" },
	{ "a", "byte 2: the pickle uses a value that does not exist" },
	{ "e", "byte 2: the pickle uses a value that does not exist" },
	{ "u", "byte 2: the pickle uses a value that does not exist" },
	{ "}(Nu", "byte 5: the pickle uses a value that does not exist" },
	{ "(u", "byte 3: the pickle uses a value that does not exist" },
	{ "]}((u", "byte 6: the pickle uses a value that does not exist" },
	{ "(Nd", "byte 4: the pickle uses a value that does not exist" },
	{ "$94", "byte 2: the pickle uses a value that does not exist" },
	{ "](q$00", "byte 4: the pickle uses a value that does not exist" },
	{ "]r$ff$ff$ff$ff",
	  "byte 3: the pickle uses a value that does not exist" },
	{ "Nr$09$00$00$00",
	  "byte 3: the pickle uses a value that does not exist" },
	{ "h$00",
	  "byte 2: the pickle refers to a memo entry that does not exist" },
	{ "j$00$00$00$00",
	  "byte 2: the pickle refers to a memo entry that does not exist" },
	{ "]q$05h$04",
	  "byte 5: the pickle refers to a memo entry that does not exist" },
	{ "X$01$00$00$00x", "byte 8: the file ends in the middle of the "
			    "pickle" },
	/* among items that are read in bulk, because the end is far */
	{ "]q$05}$94(h$04" FAR,
	  "byte 8: the pickle refers to a memo entry that does not exist" },
	{ "]q$05}$94(h$63" FAR,
	  "byte 8: the pickle refers to a memo entry that does not exist" },
	{ "]($94" FAR, "byte 4: the pickle uses a value that does not exist" },
	{ "](q$00" FAR, "byte 4: the pickle uses a value that does not exist" },
	{ "](r$00$00$00$00" FAR,
	  "byte 4: the pickle uses a value that does not exist" },
	{ "N(NNu",
	  "byte 6: the pickle adds items to something that is not a dict" },
	{ "NNa", "byte 4: the pickle appends to something that is not a list" },
	/* not snapshots */
	{ "N.", "it is a pickle, but not of a PyTorch memory snapshot" },
	{ "].", "it is a pickle, but not of a PyTorch memory snapshot" },
	{ "}.", "it is a pickle, but not of a PyTorch memory snapshot" },
	{ "](K$01K$02e.", "it is a pickle, but not of a PyTorch memory "
			  "snapshot" },
	{ "(}]'device_traces'](](}('action''dance'" PLACE "ueet.",
	  "it is a pickle, but not of a PyTorch memory snapshot" },
	{ "](](K$01ee.", "device 0: the list of trace entries has something "
			 "else as element 0" },
	{ "](](K$01K$02ee.", "device 0: it is not a list of trace entries" },
	{ SNAPSHOT("'segments'N'device_traces'}"),
	  "device_traces: it is not a list of lists of trace entries" },
	{ SNAPSHOT("'segments''device_traces'"),
	  "segments: it is not a list of segments" },
	/* something else among them */
	{ SNAPSHOT(TRACE(GROW "}" ALLOC)),
	  "device 0: the list of trace entries has something else as "
	  "element 1" },
	{ SNAPSHOT("'segments'](" SEGMENT GROW "e"),
	  "segments: the list of segments has something else as element 1" },
	/* whichever entry it is */
	{ SNAPSHOT("'x'](" ALLOC "e 'segments'](" SEGMENT GROW "e"),
	  "segments: the list of segments has something else as element 1" },
	{ SNAPSHOT("'x'](" ALLOC ALLOC "e 'segments'](" SEGMENT GROW "e"),
	  "segments: the list of segments has something else as element 1" },
	{ SNAPSHOT("'x'](" ALLOC "e 'segments']" SEGMENT "a(" GROW "e"),
	  "segments: the list of segments has something else as element 1" },
	/* of two errors, the first is reported: a trace is checked while it is
	 * read, also that of an only device whose list has no MARK */
	{ "}('device_traces' ](](" NO_SIZE "e$ff",
	  "device 0, entry 0: it has no size" },
	{ "}('device_traces' ]](" NO_SIZE "e$ff",
	  "device 0, entry 0: it has no size" },
	/* a pool id is two numbers */
	{ SNAPSHOT(TRACE("}('action''alloc' 'pool_id'](K$01K$02K$03e" PLACE
			 "u")),
	  "device 0, entry 0: its pool_id is not what it should be: a whole "
	  "number of 0 or more, or one of PyTorch's words" },
	{ SNAPSHOT(TRACE("}('action''alloc' 'pool_id'](K$01e" PLACE "u")),
	  "device 0, entry 0: its pool_id is not what it should be: a whole "
	  "number of 0 or more, or one of PyTorch's words" },
	{ SNAPSHOT(TRACE("}('action''alloc' 'pool_id'](K$01'x'e" PLACE "u")),
	  "device 0, entry 0: its pool_id is not what it should be: a whole "
	  "number of 0 or more, or one of PyTorch's words" },
	/* ten bytes are more than a number has */
	{ SNAPSHOT(TRACE("}('action''alloc' 'addr'65536 'stream'0 'size'"
			 "$8a$0a$00$02$00$00$00$00$00$00$00$01u")),
	  "device 0, entry 0: its size is not what it should be: a whole "
	  "number of "
	  "0 or more, or one of PyTorch's words" },
	/* one list in two places could expand to any size */
	{ SNAPSHOT("'x'](" ALLOC "e$94 'device_traces' ](h$00h$00e"),
	  "device 1: the same list of trace entries is in two places" },
	{ SNAPSHOT("'x'" BLOCKS "$94'segments'("
		   "}('address'65536 'total_size'2097152 'segment_type''small' "
		   "'blocks'h$00u"
		   "}('address'4259840 'total_size'2097152 "
		   "'segment_type''small' 'blocks'h$00u l"),
	  "segment 1: the same list of blocks is in two places" },
	/* a trace that is read, then dropped */
	{ SNAPSHOT("'device_traces' ](](" ALLOC "e$30](" ALLOC "ee"),
	  "device_traces: the trace of a device is also in another place" },
	/* an entry is gone once its trace is read */
	{ SNAPSHOT("'device_traces' ](](" ALLOC "$94e](h$00ee"),
	  "device 1: the list of trace entries has something else as element "
	  "0" },
	/* cycles */
	{ "]$94h$00a.", "device 0: it is not a list of trace entries" },
	{ SNAPSHOT("'segments' ]$94h$00a"),
	  "segments: it is not a list of segments" },
};

START_TEST(test_bad_pickles_are_explained)
{
	for (size_t i = 0; i < COUNT_OF(bad_pickles); i++) {
		const char *message = refusal_of(bad_pickles[i].notation);

		ck_assert_msg(!strcmp(message, bad_pickles[i].message),
			      "%s: %s", bad_pickles[i].notation, message);
	}
}
END_TEST

START_TEST(test_each_cut_is_an_error)
{
	struct pickle pickle = { .n = 0 };
	struct gp_trace *trace;
	struct gp_diag diag;

	add_notation(&pickle, "$80$04");
	add_notation(&pickle, same[12]);
	for (size_t n = 0; n < pickle.n; n++) {
		ck_assert_int_eq(try_bytes(pickle.bytes, n, &trace, &diag),
				 GP_INPUT);
		ck_assert_str_ne(diag.what, "");
	}
}
END_TEST

/* More bytes than a window has, and a text longer than any that is kept. */
START_TEST(test_long_values_are_passed_over)
{
	size_t n = 300000, at = 0;
	unsigned char *bytes = calloc(1, n + 1024);
	struct pickle tail = { .n = 0 };
	struct gp_trace *trace;
	struct gp_diag diag;

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, "\x80\x04X\xe0\x93\x04\x00", 7); /* 300000 */
	at = 7 + n;
	add_notation(&tail, "$30" SNAPSHOT(TRACE(GROW ALLOC)));
	memcpy(bytes + at, tail.bytes, tail.n);
	ck_assert_int_eq(try_bytes(bytes, at + tail.n, &trace, &diag), GP_OK);
	ck_assert_uint_eq(trace->devices[0].event_count, 2);
	gp_trace_destroy(trace);
	free(bytes);
}
END_TEST

/* The name of an annotation, in the middle of a snapshot. */
START_TEST(test_texts_of_so_many_bytes_are_kept)
{
	for (size_t length = 65535; length <= 65537; length++) {
		unsigned char *bytes = malloc(70000);
		struct pickle head = { .n = 0 }, tail = { .n = 0 };
		struct gp_trace *trace;
		struct gp_diag diag;
		const struct gp_event *mark;
		size_t n;

		ck_assert_ptr_nonnull(bytes);
		add_notation(&head,
			     "$80$04}('external_annotations'](}('name'X");
		for (int i = 0; i < 4; i++)
			add(&head, (int)(length >> 8 * i & 255));
		add_notation(&tail,
			     "'stage''START' 'device'0 'time_us'4 ue" TRACE(
				     "}('action''segment_alloc' 'addr'65536 "
				     "'size'2097152 'time_us'2 u") "u.");
		memcpy(bytes, head.bytes, head.n);
		memset(bytes + head.n, 'x', length);
		n = head.n + length;
		memcpy(bytes + n, tail.bytes, tail.n);
		n += tail.n;
		ck_assert_msg(try_bytes(bytes, n, &trace, &diag) ==
				      (length <= 65536 ? GP_OK : GP_INPUT),
			      "%zu: %s", length, diag.what);
		free(bytes);
		if (length > 65536)
			continue;
		mark = &trace->devices[0].events[1];
		ck_assert_int_eq(mark->kind, GP_MARK);
		ck_assert_uint_eq(strlen(trace->texts[mark->text]), length);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* Texts of 254 bytes, each with its opcode and a POP; a window of 128 KiB ends
 * within one of them, at any of its bytes. */
START_TEST(test_windows_end_anywhere_in_a_text)
{
	unsigned char *bytes = malloc(140000);
	struct pickle tail = { .n = 0 };

	add_notation(&tail, SNAPSHOT(TRACE(GROW ALLOC)));
	for (size_t first = 0; first < 256; first++) {
		size_t n = 2;
		struct gp_trace *trace;
		struct gp_diag diag;

		memcpy(bytes, "\x80\x04", 2);
		for (size_t length = first; n < 131072; length = 254) {
			bytes[n++] = 0x8c;
			bytes[n++] = (unsigned char)length;
			memset(bytes + n, 'x', length);
			n += length;
			bytes[n++] = '0';
		}
		memcpy(bytes + n, tail.bytes, tail.n);
		ck_assert_int_eq(try_bytes(bytes, n + tail.n, &trace, &diag),
				 GP_OK);
		ck_assert_uint_eq(trace->devices[0].event_count, 2);
		gp_trace_destroy(trace);
	}
	free(bytes);
}
END_TEST

/* Python sets 1000 items at a time: the key that shows what a dict is may be in
 * the second batch, and its other keys in the first. */
START_TEST(test_large_dicts_come_in_batches)
{
	struct pickle pickle = { .n = 0 };
	struct gp_trace *trace;
	struct gp_diag diag;

	add_notation(&pickle, "$80$04}('segments' ]}('address'65536 'device'0 "
			      "'stream'0 ");
	for (int i = 0; i < 997; i++)
		add_notation(&pickle, "'x'N");
	add_notation(&pickle, "u(");
	for (int i = 0; i < 1000; i++)
		add_notation(&pickle, "'x'N");
	add_notation(&pickle, "u('total_size'2097152 'segment_type''small' "
			      "'is_expandable'$89 'blocks'" BLOCKS
			      "ua" TRACE(GROW ALLOC) "u.");
	ck_assert_int_eq(try_bytes(pickle.bytes, pickle.n, &trace, &diag),
			 GP_OK);
	ck_assert_uint_eq(trace->devices[0].end.segment_count, 1);
	ck_assert_uint_eq(trace->devices[0].end.segments[0].addr, 65536);
	gp_trace_destroy(trace);
}
END_TEST

static void split(size_t i, size_t at[5])
{
	static const size_t counts[5] = { 5, 7, 9, 3, 2 };

	for (int k = 0; k < 5; k++) {
		at[k] = i % counts[k];
		i /= counts[k];
	}
}

/* A text and a pair in every notation, one of them memoized in each way, in
 * dicts of each kind and protocol, near the end and far from it. */
START_TEST(test_a_value_is_the_same_in_every_notation)
{
	static const char *const texts[] = {
		"'alloc'",
		"U$05alloc",
		"T$05$00$00$00alloc",
		"X$05$00$00$00alloc",
		"$8d$05$00$00$00$00$00$00$00alloc",
	};
	static const char *const pairs[] = {
		"(K$00K$07t",
		"(K$00K$07l",
		"K$00K$07$86",
		"](K$00K$07e",
		"M$00$00J$07$00$00$00$86",
		"](K$00K$01K$02$87e$30(K$03$85$31K$00K$07$86",
		"(K$00K$01$86$31 (K$05$85$31 K$00K$07$86",
	};
	static const char *const ways[] = {
		"%s",		"%sq$00$30h$00",
		"%s$94$30h$00", "%sr$00$00$00$00$30j$00$00$00$00",
		"%s$32$30",
	};
	static const char *const dicts[] = {
		"}('action'%s'pool_id'%s" PLACE "u",
		"}'action'%ss'pool_id'%ss('addr'65536 'size'512 'stream'0 u",
		"('action'%s'pool_id'%s" PLACE "d",
	};
	const struct gp_event *event;
	size_t at[5];

	for (size_t i = 0; i < 5 * 7 * 9 * 3 * 2; i++) {
		struct pickle pickle = { .n = 0 };
		struct gp_trace *trace;
		struct gp_diag diag;
		char text[128], pair[128], entry[1024];

		split(i, at);
		snprintf(text, sizeof(text), ways[at[2] < 5 ? at[2] : 0],
			 texts[at[0]]);
		snprintf(pair, sizeof(pair), ways[at[2] < 5 ? 0 : at[2] - 4],
			 pairs[at[1]]);
		snprintf(entry, sizeof(entry), dicts[at[3]], text, pair);
		add_notation(&pickle, "$80");
		add(&pickle, 2 + (int)(i % 4));
		add_notation(&pickle, "}('device_traces' ](](");
		add_notation(&pickle, entry);
		add_notation(&pickle, "eeu.");
		for (size_t k = 0; k < 300 * at[4]; k++)
			add(&pickle, 0);
		ck_assert_msg(try_bytes(pickle.bytes, pickle.n, &trace,
					&diag) == GP_OK,
			      "%s: %s", entry, diag.what);
		event = trace->devices[0].events;
		ck_assert_msg(trace->devices[0].event_count == 1 &&
				      event->kind == GP_ALLOC &&
				      event->size == 512 &&
				      trace->pools[event->pool].second == 7,
			      "%s", entry);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_a_snapshot_is_a_trace, 0 },
		{ test_other_pickles_say_the_same, 0 },
		{ test_entries_may_be_alike, 0 },
		{ test_a_pool_id_is_what_it_is_when_it_is_used, 0 },
		{ test_a_pool_id_is_another_than_the_one_before, 0 },
		{ test_short_texts_are_told_apart, 0 },
		{ test_lists_by_themselves_are_traces, 0 },
		{ test_bad_pickles_are_explained, 0 },
		{ test_each_cut_is_an_error, 0 },
		{ test_long_values_are_passed_over, 0 },
		{ test_texts_of_so_many_bytes_are_kept, 0 },
		{ test_windows_end_anywhere_in_a_text, 0 },
		{ test_large_dicts_come_in_batches, 0 },
		{ test_a_value_is_the_same_in_every_notation, 0 },
	};

	return suite_run("pickle", tests, COUNT_OF(tests));
}
