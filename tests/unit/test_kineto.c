/* SPDX-License-Identifier: MIT */
/* Profiles of torch.profiler: what is taken, and how they are refused. */
#include "suite.h"
#include "trace_text.h"

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
	{ PROFILE(MEMORY(1, 8, 512, 512)) " x",
	  "there is more behind its end" },
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

int main(void)
{
	const struct suite_test tests[] = {
		{ test_time_orders_events, 0 },
		{ test_what_was_there_comes_first, 0 },
		{ test_operators_are_stacks, 0 },
		{ test_steps_are_marks, 0 },
		{ test_devices_are_their_own, 0 },
		{ test_bad_profiles_are_explained, 0 },
	};

	return suite_run("kineto", tests, COUNT_OF(tests));
}
