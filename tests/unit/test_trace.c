/* SPDX-License-Identifier: MIT */
/* Whether two traces are equal. */
#include "gpupool/trace.h"

#include "suite.h"
#include "trace_text.h"

/* Every key, so that each can be changed. */
static const char *const said =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"source\": "
	"{\"kind\": \"a recorder\", \"complete\": false}, "
	"\"release\": {\"first\": 6, \"last\": 9, \"why\": \"its keys\"}, "
	"\"settings\": \"max_split_size_mb:64\", "
	"\"values\": \"reads 2 unknown values\", "
	"\"sites\": [\"main\", \"step\", \"loss\"], \"callers\": [-1, 0, 0], "
	"\"owners\": [{\"category\": \"gradient\", \"module\": \"h.0\", "
	"\"class\": \"Linear\"}, {\"category\": \"buffer\"}], "
	"\"devices\": [{\"device\": 2, \"total_memory\": 8589934592, "
	"\"start\": {\"segments\": [{\"address\": 1073741824, "
	"\"total_size\": 2097152, \"stream\": 16, \"site\": 1, "
	"\"segment_type\": \"small\", \"segment_pool_id\": [0, 7], "
	"\"is_expandable\": false, \"blocks\": ["
	"{\"address\": 1073741824, \"size\": 512, \"requested_size\": 500, "
	"\"state\": \"active_allocated\", \"id\": 70, \"site\": 2}, "
	"{\"address\": 1073742336, \"size\": 2096640, \"requested_size\": 0, "
	"\"state\": \"inactive\"}]}, {\"address\": 2147483648, "
	"\"total_size\": 2097152, \"is_expandable\": true, \"blocks\": ["
	"{\"size\": 2097152, \"state\": \"inactive\"}]}]}, "
	"\"memory_stats\": {\"num_ooms\": 3}, "
	"\"events\": [{\"op\": \"alloc\", \"id\": 1, \"addr\": 1073742336, "
	"\"size\": 4096, \"stream\": 24, \"pool\": [0, 7], \"site\": 1, "
	"\"time\": 11, \"owner\": 0}, "
	"{\"op\": \"mark\", \"name\": \"epoch\", \"stage\": \"start\", "
	"\"time\": 15}, "
	"{\"op\": \"free\", \"id\": 1}, "
	"{\"op\": \"synchronize\", \"stream\": 24, \"by\": 16}]}]}";

static const struct {
	const char *this, *that;
} others[] = {
	{ "a recorder", "another" },
	{ "\"complete\": false", "\"complete\": true" },
	{ "\"first\": 6", "\"first\": 5" },
	{ "\"last\": 9", "\"last\": 10" },
	{ "its keys", "its shape" },
	{ "\"why\": \"its keys\"", "\"what\": 1" },
	{ "max_split_size_mb:64", "max_split_size_mb:65" },
	{ "\"settings\":", "\"setting\":" },
	{ "reads 2 unknown", "reads 3 unknown" },
	{ "\"values\":", "\"value\":" },
	{ "\"memory_stats\": {", "\"guesses\": {\"late_frees\": 1}, "
				 "\"memory_stats\": {" },
	{ "[{\"device\": 2",
	  "[{\"device\": 1, \"events\": []}, {\"device\": 2" },
	{ "\"device\": 2", "\"device\": 3" },
	{ "8589934592", "8589934593" },
	/* Segments, in the order of their keys. */
	{ "\"address\": 1073741824, \"total_size\": 2097152, \"stream\": 16",
	  "\"address\": 1073741824, \"total_size\": 2097152, \"stream\": 17" },
	{ "\"site\": 1, \"segment_type\"", "\"site\": 2, \"segment_type\"" },
	{ "\"site\": 1, \"segment_type\"", "\"segment_type\"" },
	{ "\"small\"", "\"large\"" },
	{ "\"segment_pool_id\": [0, 7]", "\"segment_pool_id\": [0, 8]" },
	{ "\"segment_pool_id\": [0, 7]", "\"segment_pool_id\": [1, 7]" },
	{ "\"is_expandable\": false", "\"is_expandable\": true" },
	{ "\"is_expandable\": true",
	  "\"is_expandable\": true, \"reservation_offset\": 4096" },
	{ "2096640, \"requested_size\": 0, \"state\": \"inactive\"}]}",
	  "2096640, \"requested_size\": 0, \"state\": \"inactive\"}]}, "
	  "{\"address\": 1610612736, \"total_size\": 2097152, \"blocks\": ["
	  "{\"size\": 2097152, \"state\": \"inactive\"}]}" },
	/* Blocks. */
	{ "\"size\": 512, \"requested_size\": 500",
	  "\"size\": 512, \"requested_size\": 501" },
	{ "active_allocated", "active_pending_free" },
	{ "\"id\": 70", "\"id\": 71" },
	{ "\"site\": 2}", "\"site\": 1}" },
	{ "{\"address\": 1073742336, \"size\": 2096640, ",
	  "{\"size\": 512, \"state\": \"inactive\"}, {\"size\": 2096128, " },
	/* Events. */
	{ "\"op\": \"free\"", "\"at_once\": true, \"op\": \"free\"" },
	{ "\"addr\": 1073742336", "\"addr\": 1073742848" },
	{ "4096", "4608" },
	{ "\"stream\": 24", "\"stream\": 25" },
	{ "\"pool\": [0, 7]", "\"pool\": [0, 8]" },
	{ "\"time\": 15", "\"time\": 16" },
	{ "\"site\": 1, \"time\"", "\"site\": 2, \"time\"" },
	{ "\"site\": 1, \"time\"", "\"site\": 0, \"time\"" },
	{ "\"site\": 1, \"time\"", "\"time\"" },
	{ "[-1, 0, 0]", "[-1, -1, 0]" },
	{ "epoch", "batch" },
	{ "\"stage\": \"start\"", "\"stage\": \"end\"" },
	{ ", {\"op\": \"free\", \"id\": 1}", "" },
	{ "\"stream\": 24, \"by\": 16", "\"stream\": 24" },
	{ "\"stream\": 24, \"by\": 16", "\"stream\": 24, \"by\": 0" },
	{ "\"synchronize\", \"stream\": 24, \"by\": 16", "\"synchronize\"" },
	/* Owners. */
	{ "\"time\": 11, \"owner\": 0", "\"time\": 11" },
	{ "\"time\": 11, \"owner\": 0", "\"time\": 11, \"owner\": 1" },
	{ "gradient", "parameter" },
	{ "h.0", "h.1" },
	{ "Linear", "Conv1D" },
	{ "\"module\": \"h.0\", ", "" },
	{ ", \"class\": \"Linear\"", "" },
	/* Counters. */
	{ "\"num_ooms\": 3", "\"num_ooms\": 4" },
	{ "num_ooms", "num_alloc_retries" },
	{ "{\"num_ooms\": 3}", "{}" },
};

/* That trace, with the first occurrence of a text replaced. */
static struct gp_trace *told_otherwise(const char *this, const char *that)
{
	const char *at = strstr(said, this);
	char text[4096];

	ck_assert_ptr_nonnull(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - said), said, that,
		 at + strlen(this));
	return trace_of(text);
}

START_TEST(what_is_told_otherwise_is_another_trace)
{
	struct gp_trace *trace = trace_of(said);
	struct gp_trace *other =
		told_otherwise(others[_i].this, others[_i].that);

	ck_assert_msg(!gp_trace_equal(trace, other), "%s", others[_i].that);
	ck_assert_msg(!gp_trace_equal(other, trace), "%s", others[_i].that);
	gp_trace_destroy(trace);
	gp_trace_destroy(other);
}
END_TEST

/* Differences in numbering, which is up to a reader, and in unknown keys. */
static const struct {
	const char *this, *that;
} alike[] = {
	{ "main", "main" },
	{ "\"version\"", "\"unknown\": 0, \"version\"" },
	{ "\"loss\"], \"callers\": [-1, 0, 0]",
	  "\"loss\", \"unused\"], \"callers\": [-1, 0, 0, 0]" },
};

START_TEST(the_order_of_tables_says_nothing)
{
	struct gp_trace *trace = trace_of(said);
	struct gp_trace *other = told_otherwise(alike[_i].this, alike[_i].that);

	ck_assert(gp_trace_equal(trace, other));
	ck_assert(gp_trace_equal(other, trace));
	gp_trace_destroy(trace);
	gp_trace_destroy(other);
}
END_TEST

/* PyTorch's own peaks count from the beginning of the program, without a reset;
 * those that a recorder measured always count. */
START_TEST(recorded_peaks_are_those_of_the_trace)
{
	static const char *texts[] = {
		GP_RECORDED_RESERVED_PEAK,  GP_RECORDED_ALLOCATED_PEAK,
		GP_RECORDED_RESERVED_FIRST, GP_RECORDED_ALLOCATED_FIRST,
		"reserved_bytes.all.peak",  "allocated_bytes.all.peak",
	};
	static const struct {
		bool is_complete;
		size_t reset_at;		 /* event; 3: there is none */
		int64_t values[COUNT_OF(texts)]; /* -1: there is none */
		int64_t reserved, allocated, first; /* likewise */
	} rows[] = {
		{ true, 3, { -1, -1, -1, -1, 9, 8 }, 9, 8, -1 },
		{ true, 3, { -1, -1, -1, -1, 0, 0 }, 0, 0, -1 },
		{ true, 0, { -1, -1, -1, -1, 9, 8 }, -1, -1, -1 },
		{ true, 2, { -1, -1, -1, -1, 9, 8 }, -1, -1, -1 },
		{ false, 3, { -1, -1, -1, -1, 9, 8 }, -1, -1, -1 },
		{ false, 0, { 7, 6, -1, -1, 9, 8 }, 7, 6, -1 },
		{ true, 3, { 7, -1, -1, -1, 9, 8 }, 7, 8, -1 },
		{ true, 3, { -1, 6, -1, -1, 9, 8 }, 9, 6, -1 },
		{ true, 3, { 7, 6, 5, 5, -1, -1 }, 7, 6, 5 },
		{ true, 3, { 7, 6, 5, 6, -1, -1 }, 7, 6, -1 },
		{ true, 3, { 7, 6, 5, -1, -1, -1 }, 7, 6, -1 },
		{ true, 3, { 7, 6, -1, 5, -1, -1 }, 7, 6, -1 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_event events[4] = { { .kind = GP_ALLOC },
					      { .kind = GP_FREE },
					      { .kind = GP_EMPTY_CACHE } };
		struct gp_counter counters[COUNT_OF(texts)];
		const struct gp_device_trace device = {
			.events = events,
			.event_count = 3,
			.counters = counters,
			.counter_count = COUNT_OF(texts),
		};
		const struct gp_trace trace = {
			.texts = texts,
			.text_count = COUNT_OF(texts),
			.is_complete = rows[i].is_complete,
			.devices = &device,
			.device_count = 1,
		};
		struct gp_recorded told;

		/* beyond the end it does not count */
		events[rows[i].reset_at].kind = GP_RESET_PEAK;
		for (unsigned k = 0; k < COUNT_OF(texts); k++)
			counters[k] = (struct gp_counter){
				.text = k, .value = rows[i].values[k]
			};
		told = gp_trace_recorded(&trace, 0);
		ck_assert_int_eq(told.has_reserved, rows[i].reserved >= 0);
		ck_assert_int_eq(told.has_allocated, rows[i].allocated >= 0);
		ck_assert_int_eq(told.has_first, rows[i].first >= 0);
		if (told.has_reserved)
			ck_assert_int_eq(told.reserved, rows[i].reserved);
		if (told.has_allocated)
			ck_assert_int_eq(told.allocated, rows[i].allocated);
		if (told.has_first)
			ck_assert_int_eq(told.first_reserved, rows[i].first);
	}
}
END_TEST

/* A single event, on either of two devices, shows where blocks were or what
 * others used. */
START_TEST(one_event_tells_it)
{
	const struct gp_event of_block = { .kind = GP_ALLOC, .addr = 512 };
	const struct gp_event of_others = { .kind = GP_OTHER_MEMORY,
					    .size = 7,
					    .addr = 512 };

	for (unsigned i = 0; i < 2; i++) {
		struct gp_device_trace devices[2] = { 0 };
		const struct gp_trace trace = { .devices = devices,
						.device_count = 2 };

		devices[i].events = &of_others;
		devices[i].event_count = 1;
		ck_assert(!gp_trace_has_addresses(&trace));
		ck_assert_uint_eq(gp_trace_others(&devices[i]), 7);
		ck_assert_uint_eq(gp_trace_others(&devices[!i]), 0);
		devices[i].events = &of_block;
		ck_assert(gp_trace_has_addresses(&trace));
		ck_assert_uint_eq(gp_trace_others(&devices[i]), 0);
	}
}
END_TEST

/* A recorder's own statement has priority. */
START_TEST(what_a_source_does_not_tell_is_known)
{
	static const struct {
		const char *source, *said, *told;
	} rows[] = {
		{ NULL, NULL, NULL },
		{ "a recorder", NULL, NULL },
		{ "rmm-log", NULL, "pools, " },
		{ "torch-profiler", NULL, "streams, " },
		{ "rmm-log", "streams", "streams" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct gp_trace trace = { .source = rows[i].source,
						.not_told = rows[i].said };
		const char *told = gp_trace_unknown(&trace);

		ck_assert_int_eq(!told, !rows[i].told);
		if (told)
			ck_assert(!strncmp(told, rows[i].told,
					   strlen(rows[i].told)));
	}
}
END_TEST

START_TEST(a_category_has_the_formats_name)
{
	ck_assert_str_eq(gp_category_name(GP_CATEGORY_UNKNOWN), "unknown");
	ck_assert_str_eq(gp_category_name(GP_CATEGORIES - 1), "nccl");
	/* of a program that knows more kinds of them */
	ck_assert_str_eq(gp_category_name(GP_CATEGORIES), "unknown");
}
END_TEST

/* A sanitizer sees whether anything leaks. */
START_TEST(the_last_reference_destroys_a_trace)
{
	struct gp_trace *trace = trace_of(said);

	ck_assert_ptr_eq(gp_trace_share(trace), trace);
	ck_assert_ptr_eq(gp_trace_share(trace), trace);
	gp_trace_destroy(trace);
	gp_trace_destroy(trace);
	ck_assert_str_eq(trace->source, "a recorder");
	gp_trace_destroy(trace);
}
END_TEST

int main(void)
{
	TCase *tcase = tcase_create("trace");

	tcase_add_loop_test(tcase, what_is_told_otherwise_is_another_trace, 0,
			    COUNT_OF(others));
	tcase_add_loop_test(tcase, the_order_of_tables_says_nothing, 0,
			    COUNT_OF(alike));
	tcase_add_test(tcase, recorded_peaks_are_those_of_the_trace);
	tcase_add_test(tcase, one_event_tells_it);
	tcase_add_test(tcase, what_a_source_does_not_tell_is_known);
	tcase_add_test(tcase, a_category_has_the_formats_name);
	tcase_add_test(tcase, the_last_reference_destroys_a_trace);
	return suite_play("trace", tcase);
}
