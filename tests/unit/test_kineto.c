/* SPDX-License-Identifier: MIT */
/* Profiles of torch.profiler: what is taken, and how they are refused. */
#include "read_twice.h"
#include "suite.h"

/* Events begin with a comma; the first is none that matters. */
#define PROFILE(events) "{\"traceEvents\": [{}" events "]}"
#define ARGS(type, device, addr, bytes, total)                                 \
	", \"args\": {\"Device Type\": " #type ", \"Device Id\": " #device     \
	", \"Addr\": " #addr ", \"Bytes\": " #bytes                            \
	", \"Total Allocated\": " #total "}"
#define ON(device, ts, addr, bytes, total)                                     \
	", {\"name\": \"[memory]\", \"tid\": 1, \"ts\": " #ts ARGS(            \
		1, device, addr, bytes, total) "}"
#define MEMORY(ts, addr, bytes, total) ON(0, ts, addr, bytes, total)
#define SPAN(category, name, tid, ts, dur)                                     \
	", {\"ph\": \"X\", \"cat\": \"" category "\", \"name\": \"" name       \
	"\", \"tid\": " #tid ", \"ts\": " #ts ", \"dur\": " #dur "}"

static const struct gp_event *event(const struct gp_trace *trace, size_t i)
{
	ck_assert_uint_lt(i, trace->devices[0].event_count);
	return &trace->devices[0].events[i];
}

static const char *name_of(const struct gp_trace *trace, uint32_t site)
{
	return site == GP_NO_SITE ? "" : trace->texts[trace->sites[site].text];
}

START_TEST(test_time_orders_events)
{
	static const char text[] =
		PROFILE(MEMORY(30.5, 64, -512, 0) MEMORY(10, 64, 512, 512));
	struct gp_trace *t = trace_of(text);

	ck_assert_uint_eq(t->devices[0].event_count, 2);
	ck_assert_uint_eq(event(t, 0)->kind, GP_ALLOC);
	ck_assert_uint_eq(event(t, 1)->kind, GP_FREE);
	ck_assert_uint_eq(event(t, 1)->time_us, 30);
	ck_assert_uint_eq(t->devices[0].guesses.start_blocks, 0);
	gp_trace_destroy(t);
}
END_TEST

START_TEST(test_what_was_there_comes_first)
{
	static const char text[] =
		PROFILE(MEMORY(10, 64, 512, 5632) MEMORY(20, 8, -1024, 0));
	struct gp_trace *t = trace_of(text);

	ck_assert_uint_eq(t->devices[0].event_count, 4);
	ck_assert_uint_eq(event(t, 0)->size, 1024);
	ck_assert_uint_eq(event(t, 1)->size, 4096);
	ck_assert_uint_eq(event(t, 1)->flags, GP_INFERRED);
	ck_assert_uint_eq(event(t, 3)->id, event(t, 0)->id);
	ck_assert_uint_eq(t->devices[0].guesses.start_blocks, 2);
	gp_trace_destroy(t);
}
END_TEST

#define NESTED                                                                 \
	SPAN("cpu_op", "inner", 1, 2, 4)                                       \
	SPAN("cpu_op", "outer", 1, 1, 8)                                       \
	SPAN("kernel", "no operator", 1, 3, 9)                                 \
	SPAN("cpu_op", "of another thread", 2, 1, 9)

START_TEST(test_operators_are_stacks)
{
	static const char text[] = PROFILE(NESTED MEMORY(5, 1, 512, 512) MEMORY(
		8, 2, 512, 1024) MEMORY(10, 3, 512, 1536));
	struct gp_trace *t = trace_of(text);
	uint32_t inner = event(t, 0)->site;

	ck_assert_str_eq(name_of(t, inner), "inner");
	ck_assert_str_eq(name_of(t, t->sites[inner].caller), "outer");
	ck_assert_str_eq(name_of(t, event(t, 1)->site), "outer");
	ck_assert_str_eq(name_of(t, event(t, 2)->site), "");
	gp_trace_destroy(t);
}
END_TEST

/* One without a thread is of none but thread 0. */
START_TEST(test_what_has_no_thread_is_of_thread_0)
{
	static const char text[] =
		PROFILE(SPAN("cpu_op", "of thread 1", 1, 1, 8)
				SPAN("cpu_op", "of thread 0", 0, 1,
				     8) ", {\"name\": \"[memory]\", \"ts\": "
					"5" ARGS(1, 0, 1, 512, 512) "}");
	struct gp_trace *t = trace_of(text);

	ck_assert_str_eq(name_of(t, event(t, 0)->site), "of thread 0");
	gp_trace_destroy(t);
}
END_TEST

START_TEST(test_steps_are_marks)
{
	static const char text[] = PROFILE(MEMORY(5, 1, 512, 512) SPAN(
		"user_annotation", "ProfilerStep#7", 1, 5, 5));
	struct gp_trace *t = trace_of(text);

	ck_assert_uint_eq(t->devices[0].event_count, 3);
	ck_assert_uint_eq(event(t, 0)->kind, GP_MARK);
	ck_assert_uint_eq(event(t, 0)->mark, GP_MARK_START);
	ck_assert_uint_eq(event(t, 2)->mark, GP_MARK_END);
	gp_trace_destroy(t);
}
END_TEST

#define CPU_MEMORY                                                             \
	", {\"name\": \"[memory]\", \"ts\": 2" ARGS(0, -1, 8, 64, 64) "}"

START_TEST(test_devices_are_their_own)
{
	static const char text[] =
		"{\"deviceProperties\": [{\"id\": 3, \"totalGlobalMem\": 4096},"
		" {\"id\": 4, \"totalGlobalMem\": 1}], \"traceEvents\": [{}" ON(
			3, 1, 8, 512, 512) ON(2, 2, 8, 1024, 1024) CPU_MEMORY
		"], \"baseTimeNanoseconds\": 5000}";
	struct gp_trace *t = trace_of(text);

	ck_assert_uint_eq(t->device_count, 2);
	ck_assert_uint_eq(t->devices[0].device, 2);
	ck_assert_uint_eq(t->devices[0].total_memory, 0);
	ck_assert_uint_eq(t->devices[1].total_memory, 4096);
	ck_assert_uint_eq(event(t, 0)->size, 1024);
	ck_assert_uint_eq(event(t, 0)->time_us, 7);
	gp_trace_destroy(t);
}
END_TEST

/* The memory of so many devices is kept, and no more. */
START_TEST(test_only_so_many_devices_are_told_of)
{
	char text[8192] = "{\"deviceProperties\": [";
	size_t n = strlen(text);
	struct gp_trace *t;

	for (int id = 0; id < 65; id++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%s{\"id\": %d, \"totalGlobalMem\": 77}",
				      id ? ", " : "", id < 64 ? id : 65);
	snprintf(text + n, sizeof(text) - n, "%s",
		 "], \"traceEvents\": [{}" ON(63, 1, 8, 512, 512)
			 ON(65, 2, 8, 512, 512) "]}");
	t = trace_of(text);
	ck_assert_uint_eq(t->devices[0].total_memory, 77);
	ck_assert_uint_eq(t->devices[1].total_memory, 0);
	gp_trace_destroy(t);
}
END_TEST

static const struct {
	const char *text, *message;
} bad[] = {
	{ PROFILE(""), "it is a profile without memory events of a GPU" },
	{ "{\"traceEvents\": 5}",
	  "it is a profile without memory events of a GPU" },
	{ PROFILE(", {\"name\": \"[memory]\", \"ts\": 1}"),
	  "its \"Device Type\" is not what it should be" },
	{ PROFILE(MEMORY("1", 8, 512, 512)),
	  "its \"ts\" is not what it should be" },
	{ PROFILE(MEMORY(1, -8, 512, 512)),
	  "its \"Addr\" is not what it should be" },
	{ PROFILE(MEMORY(1, 8, 0.5, 512)),
	  "its \"Bytes\" is not what it should be" },
	{ PROFILE(ON(99999999999, 1, 8, 512, 512)),
	  "its \"Device Id\" is not what it should be" },
	{ PROFILE(ON(999999, 1, 8, 512, 512)), "there is no device 999999" },
	{ PROFILE(MEMORY(1, 8, 512, 512)) " x", "there is more after its end" },
};

START_TEST(test_bad_profiles_are_explained)
{
	struct gp_trace *trace;
	struct gp_diag diag;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		ck_assert_int_eq(try_text(bad[i].text, &trace, &diag),
				 GP_INPUT);
		ck_assert_str_eq(diag.what, bad[i].message);
	}
}
END_TEST

/* ---- without jansson where an event is plain, which must not show ---- */

static const char *const numbers[] = {
	"0",
	"-1",
	"01",
	"1.5",
	"-0.25",
	"1e3",
	"1.",
	".5",
	"1.5e2",
	"9223372036854775807",
	"9223372036854775808",
	"-9223372036854775808",
	"18446744073709551615",
	"18446744073709551616",
	"1669783687464181.123",
	"1234567890123456789.5",
	"0.1234567890123456789012345678901234567890",
	"null",
	"true",
	"\"7\"",
	"\"stream 7\"",
	"[0]",
	"{}",
	" 5",
	"\n5 ",
	"",
};

static const char *const names[] = {
	"\"[memory]\"",
	"\"aten::empty\"",
	"\"ProfilerStep#3\"",
	"\"[memory]\\u0000\"",
	"\"[mem\\u006fry]\"",
	"\"\"",
	"\"\xc3\xa4\"",
	"\"<built-in \\\"f\\\">\"",
	"7",
	"null",
};

static const char *const categories[] = {
	"\"cpu_op\"", "\"user_annotation\"",   "\"python_function\"",
	"\"kernel\"", "\"cpu_instant_event\"", "\"cpu_op\\u0000\"",
	"null",
};

/* What stands among the arguments and is passed over. */
static const char *const others[] = {
	"[[1, 2], [], [[3]]]",
	"[\"\", \"False\"]",
	"\"a\\\\b\\n\"",
	"\"\\u00e4\"",
	"\"\\ud800\"",
	"\"\xff\"",
	"{\"name\": \"f\"}",
	"{}",
	"[",
	"nul",
	"{\"a\": 1, \"a\": 2}",
	"-",
	"1.5e300",
	"{ }",
	"[ 1 ,\n2 ]",
	"[[[[[[[[[[[[[[[[[[0]]]]]]]]]]]]]]]]]]",
	"tru",
};

#define PICK(list, r) (list)[(r) % COUNT_OF(list)]

static const char *number(uint64_t *state, char text[24])
{
	uint64_t r = next_random(state);

	if (r % 60 == 0)
		return PICK(numbers, r >> 8);
	snprintf(text, 24, "%llu%s", (unsigned long long)(r >> 44),
		 r % 7 ? "" : ".125");
	return text;
}

static size_t make_event(char *to, size_t room, uint64_t *state)
{
	char ts[24], dur[24], addr[24], total[24];
	uint64_t r = next_random(state);
	bool is_memory = r >> 60 & 1;

	return (size_t)snprintf(
		to, room,
		",\n  {\"ph\": \"X\", \"cat\": %s,\"name\": %s, \"tid\": %s, "
		"\"ts\": %s, \"dur\": %s,\n \"args\": {%s\"Device Type\": 1, "
		"\"Other\": %s, \"Device Id\": %s, \"Addr\": %s, \"Bytes\": "
		"%s, "
		"\"Total Allocated\": %s } }",
		PICK(categories, r % 9 ? r >> 8 & 1 : r >> 8),
		r % 11 ? names[!is_memory] : PICK(names, r >> 16),
		r % 13 ? "4" : PICK(numbers, r >> 24), number(state, ts),
		number(state, dur), r % 50 ? "" : "\"Addr\": 3, ",
		PICK(others, r % 17 ? r >> 32 & 1 : r >> 32),
		r % 19 ? "0" : PICK(numbers, r >> 40), number(state, addr),
		r % 5	 ? "512"
		: r % 23 ? "-512"
			 : PICK(numbers, r >> 48),
		number(state, total));
}

static size_t make_profile(char *text, size_t room, uint64_t *state)
{
	uint64_t count = next_random(state) % 8;
	size_t n = (size_t)snprintf(text, room, "{\"traceEvents\": [{}");

	for (uint64_t i = 0; i < count; i++)
		n += make_event(text + n, room - n, state);
	return n + (size_t)snprintf(text + n, room - n, "]}\n");
}

START_TEST(test_changed_profiles)
{
	read_changed(make_profile, 2);
}
END_TEST

/* Windows end anywhere, also within an event that is longer than one. */
START_TEST(test_many_windows)
{
	size_t room = 2 << 20, most = 400000, n;
	char *text = malloc(room + most);

	n = (size_t)snprintf(text, room, "{\"traceEvents\": [{}");
	for (unsigned i = 0; n < room; i++)
		n += (size_t)snprintf(
			text + n, most,
			", {\"name\": \"[memory]\", \"ts\": %u.5, \"other\": "
			"\"%*s\", \"args\": {\"Device Type\": 1, \"Device "
			"Id\": 0, \"Addr\": %u, \"Bytes\": 512}}",
			i, i == 500 ? 300000 : (int)(i % 200), "", 512 * i);
	n += (size_t)snprintf(text + n, room + most - n, "]}");
	ck_assert(read_twice(text, n));
	free(text);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_time_orders_events, 0 },
		{ test_what_was_there_comes_first, 0 },
		{ test_operators_are_stacks, 0 },
		{ test_what_has_no_thread_is_of_thread_0, 0 },
		{ test_steps_are_marks, 0 },
		{ test_devices_are_their_own, 0 },
		{ test_only_so_many_devices_are_told_of, 0 },
		{ test_bad_profiles_are_explained, 0 },
		{ test_changed_profiles, 0 },
		{ test_many_windows, 0 },
	};

	return suite_run("kineto", tests, COUNT_OF(tests));
}
