/* SPDX-License-Identifier: MIT */
/* Profiles of torch.profiler: what is read from them, and how they are
 * refused. */
#include "read_twice.h"
#include "suite.h"

/* Events begin with a comma, so an empty one precedes them. */
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

/* An operator that begins where another one ends is not called by it, unless it
 * also ends at that time. */
START_TEST(test_operators_follow_each_other)
{
	static const char text[] = PROFILE(
		SPAN("cpu_op", "outer", 1, 1,
		     19) SPAN("cpu_op", "first", 1, 2,
			      4) SPAN("cpu_op", "second", 1, 6,
				      4) SPAN("cpu_op", "at once", 1, 10, 0)
			SPAN("cpu_op", "third", 1, 10.0004,
			     3) SPAN("cpu_op", "after", 1, 20, 5)
				MEMORY(7, 1, 512, 512) MEMORY(11, 2, 512, 1024)
					MEMORY(21, 3, 512, 1536)
						MEMORY(10, 4, 512, 2048));
	static const struct {
		size_t event;
		const char *name, *caller;
	} rows[] = {
		{ 0, "second", "outer" },
		{ 1, "at once", "second" },
		{ 2, "third", "outer" },
		{ 3, "after", "" },
	};
	struct gp_trace *t = trace_of(text);

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint32_t site = event(t, rows[i].event)->site;

		ck_assert_str_eq(name_of(t, site), rows[i].name);
		ck_assert_str_eq(name_of(t, t->sites[site].caller),
				 rows[i].caller);
	}
	gp_trace_destroy(t);
}
END_TEST

/* Of operators that begin at the same time, the longer one is the caller; of
 * equally long ones, the first. */
START_TEST(test_operators_that_begin_together_are_stacks)
{
	static const char text[] = PROFILE(
		SPAN("cpu_op", "short", 1, 1, 4) SPAN("cpu_op", "long", 1, 1, 8)
			SPAN("cpu_op", "inner", 1, 1, 2)
				SPAN("cpu_op", "innermost", 1, 1, 2)
					MEMORY(2, 1, 512, 512));
	static const char *const names[] = { "innermost", "inner", "short",
					     "long" };
	struct gp_trace *t = trace_of(text);
	uint32_t site = event(t, 0)->site;

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		ck_assert_str_eq(name_of(t, site), names[i]);
		site = t->sites[site].caller;
	}
	ck_assert_uint_eq(site, GP_NO_SITE);
	gp_trace_destroy(t);
}
END_TEST

/* An event without a thread belongs to thread 0 only. */
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

START_TEST(test_steps_are_told_by_how_they_begin)
{
	static const struct {
		const char *name;
		size_t marks;
	} rows[] = { { "ProfilerStep", 0 },
		     { "ProfilerStep#", 2 },
		     { "ProfilerStep#1", 2 },
		     { "ProfilerStepx1", 0 } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char text[512];
		struct gp_trace *t;

		snprintf(text, sizeof(text),
			 PROFILE(MEMORY(5, 1, 512, 512) SPAN("user_annotation",
							     "%s", 1, 5, 5)),
			 rows[i].name);
		t = trace_of(text);
		ck_assert_uint_eq(t->devices[0].event_count, 1 + rows[i].marks);
		gp_trace_destroy(t);
	}
}
END_TEST

#define CPU_MEMORY                                                             \
	", {\"name\": \"[memory]\", \"ts\": 2" ARGS(0, -1, 8, 64, 64) "}"

START_TEST(test_devices_are_their_own)
{
	static const char text[] =
		"{\"deviceProperties\": [{\"id\": 3, \"totalGlobalMem\": 4096},"
		" {\"id\": 4, \"totalGlobalMem\": 1},"
		" {\"id\": 0, \"totalGlobalMem\": 2048}], "
		"\"traceEvents\": [{}" ON(3, 1, 8, 512, 512)
			ON(2, 2, 8, 1024, 1024) ON(0, 3, 8, 1536, 1536)
				CPU_MEMORY "], \"baseTimeNanoseconds\": 5000}";
	struct gp_trace *t = trace_of(text);

	ck_assert_uint_eq(t->device_count, 3);
	ck_assert_uint_eq(t->devices[0].device, 0);
	ck_assert_uint_eq(t->devices[0].total_memory, 2048);
	ck_assert_uint_eq(t->devices[1].device, 2);
	ck_assert_uint_eq(t->devices[1].total_memory, 0);
	ck_assert_uint_eq(t->devices[1].events[0].size, 1024);
	ck_assert_uint_eq(t->devices[1].events[0].time_us, 7);
	ck_assert_uint_eq(t->devices[2].total_memory, 4096);
	gp_trace_destroy(t);
}
END_TEST

/* The memory of that many devices is kept, and of no more. */
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

/* A value that is not a time, or too large for one, counts as the beginning of
 * the profile. */
START_TEST(test_times_have_two_ends)
{
#define AT(ts)                                                                 \
	"{\"baseTimeNanoseconds\": 5000, \"traceEvents\": [{}" MEMORY(         \
		ts, 8, 512, 512) "]}"
	static const struct {
		const char *text;
		uint64_t time_us;
	} rows[] = {
		{ AT(-1), 5 },
		{ AT(0), 5 },
		{ AT(0.5), 5 },
		{ AT(1), 6 },
		{ AT(7.9), 12 },
		{ AT(900000000000000000.0), UINT64_C(900000000000000005) },
		{ AT(1e18), 5 },
		{ AT(1e19), 5 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *t = trace_of(rows[i].text);

		ck_assert_uint_eq(event(t, 0)->time_us, rows[i].time_us);
		gp_trace_destroy(t);
	}
}
END_TEST

/* Steps are those of all devices, if these are few enough. */
START_TEST(test_steps_are_marks_of_so_many_devices)
{
	for (int devices = 15; devices <= 17; devices++) {
		char text[8192] = "{\"traceEvents\": [{}" SPAN(
			"user_annotation", "ProfilerStep#3", 1, 500, 9);
		size_t n = strlen(text);
		struct gp_trace *t;

		for (int d = 0; d < devices; d++)
			n += (size_t)snprintf(
				text + n, sizeof(text) - n,
				", {\"name\": \"[memory]\", \"tid\": 1, "
				"\"ts\": 2, \"args\": {\"Device Type\": 1, "
				"\"Device Id\": %d, \"Addr\": 8, \"Bytes\": "
				"512, \"Total Allocated\": 512}}",
				d);
		snprintf(text + n, sizeof(text) - n, "]}");
		t = trace_of(text);
		ck_assert_uint_eq(t->device_count, (size_t)devices);
		for (int d = 0; d < devices; d++)
			ck_assert_uint_eq(t->devices[d].event_count,
					  devices > 16 ? 1 : 3);
		gp_trace_destroy(t);
	}
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
	{ PROFILE(ON(4294967296, 1, 8, 512, 512)),
	  "its \"Device Id\" is not what it should be" },
	{ PROFILE(ON(4294967295, 1, 8, 512, 512)),
	  "there is no device 4294967295" },
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

/* ---- plain events are read without jansson, which must not show ---- */

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

/* An argument that is skipped. */
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

/* Windows may end anywhere, also within an event that is longer than one. */
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

/* ---- generated programs ---- */

#define TIME	400 /* of the profile */
#define THREADS 3
#define SPANS	60
#define BLOCKS	8 /* addresses, of each device */

/* Spans begin at even times and end at odd ones, each within its caller. */
struct made_span {
	uint64_t begin, end, thread;
	int caller;
};

struct made_event {
	uint64_t time, thread, device, addr, size, total;
	bool is_free;
};

struct made {
	FILE *out;
	uint64_t seed;
	struct made_span spans[SPANS];
	size_t span_count;
	struct made_event events[TIME];
	size_t event_count;
	/* of each device: blocks that are live, and that were live at the
	 * start */
	uint64_t sizes[2][BLOCKS], total[2], unseen[2];
};

static uint64_t pick(struct made *m, uint64_t below)
{
	return next_random(&m->seed) % below;
}

static void make_spans(struct made *m, uint64_t begin, uint64_t end,
		       uint64_t thread, int caller)
{
	while (m->span_count < SPANS && begin + 6 < end) {
		uint64_t length = 3 + pick(m, (end - begin) / 2) / 2 * 2;
		int number = (int)m->span_count++;

		m->spans[number] = (struct made_span){ begin, begin + length,
						       thread, caller };
		make_spans(m, begin + 2, begin + length, thread, number);
		begin += length + 1 + 2 * pick(m, 9);
	}
}

/* The innermost span that is running then; -1: none is. */
static int span_at(const struct made *m, uint64_t time, uint64_t thread)
{
	int found = -1;

	for (size_t i = 0; i < m->span_count; i++)
		if (m->spans[i].thread == thread && m->spans[i].begin <= time &&
		    m->spans[i].end >= time &&
		    (found < 0 || m->spans[i].begin > m->spans[found].begin))
			found = (int)i;
	return found;
}

static void make_event_at(struct made *m, uint64_t time)
{
	struct made_event e = { .time = time,
				.thread = pick(m, THREADS),
				.device = pick(m, 2),
				.addr = pick(m, BLOCKS) };
	uint64_t *size = &m->sizes[e.device][e.addr];

	e.is_free = *size != 0;
	e.size = e.is_free ? *size : 512 * (1 + pick(m, 9));
	*size = e.is_free ? 0 : e.size;
	m->total[e.device] += e.is_free ? -e.size : e.size;
	e.total = m->total[e.device];
	m->events[m->event_count++] = e;
}

/* Some blocks exist at the start; some bytes are part of the total only. */
static void make_program(struct made *m)
{
	for (uint64_t d = 0; d < 2; d++) {
		m->unseen[d] = 512 * pick(m, 3);
		m->total[d] = m->unseen[d];
		for (uint64_t i = 0; i < BLOCKS; i += 1 + pick(m, 3)) {
			m->sizes[d][i] = 512 * (1 + pick(m, 9));
			m->total[d] += m->sizes[d][i];
		}
	}
	for (uint64_t thread = 0; thread < THREADS; thread++)
		make_spans(m, 2 * pick(m, 5), TIME, thread, -1);
	for (uint64_t time = 0; time < TIME; time += 1 + pick(m, 9))
		make_event_at(m, time);
}

static void write_span(struct made *m, size_t i)
{
	const struct made_span *s = &m->spans[i];

	fprintf(m->out,
		", {\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"op %zu\", "
		"\"tid\": %d, \"ts\": %d, \"dur\": %d}",
		i, (int)s->thread, (int)s->begin, (int)(s->end - s->begin));
}

static void write_event(struct made *m, size_t i)
{
	const struct made_event *e = &m->events[i];

	fprintf(m->out,
		", {\"name\": \"[memory]\", \"tid\": %d, \"ts\": %d%s, "
		"\"args\": {\"Device Type\": 1, \"Device Id\": %d, \"Addr\": "
		"%d, \"Bytes\": %s%d, \"Total Allocated\": %d}}",
		(int)e->thread, (int)e->time, i % 2 ? ".0" : "", (int)e->device,
		(int)e->addr + 1, e->is_free ? "-" : "", (int)e->size,
		(int)e->total);
}

/* In any order: a profile is ordered by thread. */
static struct gp_trace *written_profile(struct made *m)
{
	size_t order[SPANS + TIME], n = m->span_count + m->event_count, length;
	char *text;
	struct gp_trace *trace;

	m->out = open_memstream(&text, &length);
	fputs("{\"traceEvents\": [{}", m->out);
	for (size_t i = 0; i < n; i++) {
		size_t k = pick(m, i + 1);

		order[i] = order[k];
		order[k] = i;
	}
	for (size_t i = 0; i < n; i++)
		if (order[i] < m->span_count)
			write_span(m, order[i]);
		else
			write_event(m, order[i] - m->span_count);
	fputs("]}", m->out);
	fclose(m->out);
	trace = trace_of(text);
	free(text);
	return trace;
}

static void compare_stack(const struct made *m, const struct made_event *e,
			  const struct gp_trace *t, uint32_t site)
{
	int span = span_at(m, e->time, e->thread);
	char name[16];

	for (; span >= 0; span = m->spans[span].caller) {
		snprintf(name, sizeof(name), "op %d", span);
		ck_assert_str_eq(name_of(t, site), name);
		site = t->sites[site].caller;
	}
	ck_assert_uint_eq(site, GP_NO_SITE);
}

/* Blocks that are freed without an alloc, in that order, then the rest. */
static size_t compare_before(const struct made *m, uint64_t ordinal,
			     const struct gp_device_trace *d)
{
	bool has_come[BLOCKS] = { false };
	uint64_t before = 0, known = 0;
	size_t count = 0;

	for (size_t i = 0; i < m->event_count; i++) {
		const struct made_event *e = &m->events[i];

		if (e->device != ordinal)
			continue;
		if (!before && !known)
			before = e->is_free ? e->total + e->size
					    : e->total - e->size;
		if (e->is_free && !has_come[e->addr]) {
			ck_assert_uint_eq(d->events[count].size, e->size);
			ck_assert_uint_eq(d->events[count++].flags,
					  GP_INFERRED);
			known += e->size;
		}
		has_come[e->addr] = !e->is_free;
		if (!before)
			before = UINT64_MAX; /* nothing existed at the start */
	}
	if (before != UINT64_MAX && before > known) {
		ck_assert_uint_eq(d->events[count].kind, GP_ALLOC);
		ck_assert_uint_eq(d->events[count++].size, before - known);
	}
	ck_assert_uint_eq(d->guesses.start_blocks, count);
	ck_assert_uint_eq(d->guesses.lost_entries, 0);
	return count;
}

static void compare_program(const struct made *m, const struct gp_trace *t)
{
	for (size_t k = 0; k < t->device_count; k++) {
		const struct gp_device_trace *d = &t->devices[k];
		size_t at = compare_before(m, d->device, d);

		for (size_t i = 0; i < m->event_count; i++) {
			const struct made_event *e = &m->events[i];
			const struct gp_event *event = &d->events[at];

			if (e->device != d->device)
				continue;
			ck_assert_uint_lt(at++, d->event_count);
			ck_assert_int_eq(event->kind,
					 e->is_free ? GP_FREE : GP_ALLOC);
			ck_assert_uint_eq(event->size, e->size);
			ck_assert_uint_eq(event->time_us, e->time);
			compare_stack(m, e, t, event->site);
		}
		ck_assert_uint_eq(at, d->event_count);
	}
}

START_TEST(test_made_up_programs_are_read_as_they_are)
{
	static struct made m;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct gp_trace *trace;

		m = (struct made){ .seed = seed };
		make_program(&m);
		trace = written_profile(&m);
		compare_program(&m, trace);
		gp_trace_destroy(trace);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_time_orders_events, 0 },
		{ test_what_was_there_comes_first, 0 },
		{ test_operators_are_stacks, 0 },
		{ test_operators_follow_each_other, 0 },
		{ test_operators_that_begin_together_are_stacks, 0 },
		{ test_what_has_no_thread_is_of_thread_0, 0 },
		{ test_steps_are_marks, 0 },
		{ test_steps_are_told_by_how_they_begin, 0 },
		{ test_devices_are_their_own, 0 },
		{ test_only_so_many_devices_are_told_of, 0 },
		{ test_times_have_two_ends, 0 },
		{ test_steps_are_marks_of_so_many_devices, 0 },
		{ test_bad_profiles_are_explained, 0 },
		{ test_changed_profiles, 0 },
		{ test_many_windows, 0 },
		{ test_made_up_programs_are_read_as_they_are, 0 },
	};

	return suite_run("kineto", tests, COUNT_OF(tests));
}
