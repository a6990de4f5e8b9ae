/* SPDX-License-Identifier: MIT */
/* Writing gpupool-trace: its contents, and that it is read back unchanged. */
#include "gpupool/trace.h"

#include <glob.h>

#include "gpupool/knob.h"
#include "suite.h"
#include "trace_text.h"

/* Everything: all ops, fields, flags and states. */
static const char everything[] =
	"{\"format\": \"gpupool-trace\", \"version\": 1,"
	" \"source\": {\"kind\": \"pytorch-snapshot\", \"complete\": true},"
	" \"release\": {\"first\": 9, \"last\": 11, \"why\": \"\\u00e4, and"
	" as much as a snapshot of a release in the middle can have to say"
	" about the keys that it has and about those that it does not have:"
	" two sentences.\"},"
	" \"settings\": \"max_split_size_mb:128\", \"frees\": \"at_once\","
	" \"values\": \"reads 2 unknown values: t.py:3\","
	" \"owners\": [{\"category\": \"parameter\", \"module\": \"net.0\","
	"   \"class\": \"Linear\"}, {\"category\": \"gradient\"}],"
	" \"sites\": [\"main\", \"a \\\"quoted\\\"\\n\\\\ text\", \"other\"],"
	" \"callers\": [-1, 0, -1],"
	" \"devices\": ["
	"{\"device\": 0, \"total_memory\": 85899345920,"
	" \"guesses\": {\"start_blocks\": 3, \"late_frees\": 1},"
	" \"start\": {\"segments\": [{\"address\": 4096, \"total_size\": 4096,"
	"   \"stream\": 16, \"segment_type\": \"small\", \"site\": 2,"
	"   \"segment_pool_id\": [0, 1], \"is_expandable\": true,"
	"   \"reservation_offset\": 4095, \"blocks\": ["
	"  {\"address\": 4096, \"size\": 512, \"requested_size\": 500,"
	"   \"state\": \"active_allocated\", \"id\": 70, \"site\": 1},"
	"  {\"size\": 512, \"state\": \"active_pending_free\", \"id\": 71},"
	"  {\"size\": 512, \"state\": \"active_pending_free\"},"
	"  {\"size\": 2560, \"requested_size\": 9, \"state\": \"inactive\"}"
	" ]}]},"
	" \"events\": ["
	"{\"op\": \"alloc\", \"id\": 18446744073709551615, \"size\": 9,"
	" \"stream\": 18446744073709551600, \"pool\": [1, 2],"
	" \"addr\": 18446744073709551104, \"time\": 1700000000000001,"
	" \"site\": 1},"
	"{\"op\": \"alloc\", \"id\": 8, \"size\": 0, \"refused\": true,"
	" \"inferred\": true},"
	"{\"op\": \"free\", \"id\": 8, \"inferred\": true},"
	"{\"op\": \"record_stream\", \"id\": 70, \"stream\": 0},"
	"{\"op\": \"record_stream\", \"id\": 70},"
	"{\"op\": \"free\", \"id\": 70, \"at_once\": false, \"size\": 12,"
	" \"addr\": 77},"
	"{\"op\": \"synchronize\"},"
	"{\"op\": \"synchronize\", \"stream\": 0},"
	"{\"op\": \"synchronize\", \"stream\": 16},"
	"{\"op\": \"synchronize\", \"stream\": 16, \"by\": 0},"
	"{\"op\": \"synchronize\", \"stream\": 0, \"by\": 16},"
	"{\"op\": \"synchronize\", \"id\": 70, \"inferred\": true},"
	"{\"op\": \"free_completed\", \"id\": 70},"
	"{\"op\": \"free_completed\", \"addr\": 5120, \"size\": 1},"
	"{\"op\": \"empty_cache\"},"
	"{\"op\": \"empty_cache\", \"pool\": [1, 2]},"
	"{\"op\": \"set_memory_fraction\", \"fraction\": 0.1},"
	"{\"op\": \"set_memory_fraction\", \"fraction\": 1},"
	"{\"op\": \"other_memory\", \"bytes\": 1048576},"
	"{\"op\": \"alloc\", \"id\": 9, \"size\": 512, \"owner\": 1,"
	" \"addr\": 512, \"restored\": true},"
	"{\"op\": \"free\", \"id\": 9, \"owner\": 0},"
	"{\"op\": \"pool_create\", \"pool\": [0, 1]},"
	"{\"op\": \"pool_use_on_oom\", \"pool\": [0, 1]},"
	"{\"op\": \"pool_no_use_on_oom\", \"pool\": [0, 1]},"
	"{\"op\": \"pool_no_split\", \"pool\": [0, 1]},"
	"{\"op\": \"pool_begin\", \"pool\": [0, 0]},"
	"{\"op\": \"pool_end\", \"pool\": [0, 1]},"
	"{\"op\": \"pool_release\", \"pool\": [0, 1]},"
	"{\"op\": \"capture_begin\", \"pool\": [0, 1]},"
	"{\"op\": \"capture_end\", \"pool\": [0, 1]},"
	"{\"op\": \"capture_begin\", \"pool\": [0, 1], \"stream\": 0},"
	"{\"op\": \"capture_end\", \"pool\": [0, 1]},"
	"{\"op\": \"capture_begin\", \"pool\": [0, 1], \"stream\": 16},"
	"{\"op\": \"capture_end\", \"pool\": [0, 1]},"
	"{\"op\": \"set_allocator_settings\", \"conf\": \"\"},"
	"{\"op\": \"reset_peak_stats\"},"
	"{\"op\": \"reset_accumulated_stats\"},"
	"{\"op\": \"mark\", \"name\": \"step\"},"
	"{\"op\": \"mark\", \"name\": \"\\u20ac\", \"stage\": \"start\"},"
	"{\"op\": \"mark\", \"name\": \"\\u20ac\", \"stage\": \"end\"},"
	"{\"op\": \"segment_alloc\", \"addr\": 8192, \"size\": 4096},"
	"{\"op\": \"segment_free\", \"addr\": 8192, \"size\": 4096,"
	" \"stream\": 16, \"pool\": [1, 2]},"
	"{\"op\": \"segment_map\", \"addr\": 8192, \"size\": 4096},"
	"{\"op\": \"segment_unmap\", \"addr\": 8192, \"size\": 4096},"
	"{\"op\": \"segment_alloc\", \"addr\": 0, \"size\": 4096},"
	"{\"op\": \"oom\", \"size\": 512, \"device_free\": 100,"
	" \"stream\": 16},"
	"{\"op\": \"snapshot\", \"size\": 512}],"
	" \"end\": {\"segments\": [{\"address\": 4096, \"total_size\": 512,"
	"   \"segment_type\": \"large\", \"blocks\": ["
	"  {\"size\": 512, \"state\": \"active_allocated\","
	"   \"id\": 18446744073709551615}]}]}},"
	"{\"device\": 5, \"events\": ["
	"{\"op\": \"alloc\", \"id\": 1, \"size\": 4},"
	"{\"op\": \"free\", \"id\": 1}]},"
	"{\"device\": 7}]}\n";

static const enum gp_trace_format formats[] = { GP_TRACE_JSON, GP_TRACE_JSONL,
						GP_TRACE_BINARY };

static void check_round_trips(const struct gp_trace *trace, const char *name)
{
	for (size_t i = 0; i < COUNT_OF(formats); i++) {
		struct gp_trace *copy = again(trace, formats[i]);

		ck_assert_msg(gp_trace_equal(trace, copy),
			      "%s changes in format %zu", name, i);
		gp_trace_destroy(copy);
	}
}

#define TEXT(number)  TEXT_OF(number)
#define TEXT_OF(name) #name
#define NEWEST	      TEXT(GP_RELEASE_LAST)

START_TEST(test_everything_reads_back)
{
	struct gp_trace *trace = trace_of(everything);

	check_round_trips(trace, "everything");
	gp_trace_destroy(trace);
}
END_TEST

/* Events of a pool name it, also for the default pool. */
START_TEST(test_pools_are_named_where_they_change)
{
	for (unsigned kind = GP_POOL_BEGIN; kind <= GP_POOL_NO_SPLIT; kind++) {
		struct gp_trace *trace;
		char text[256];

		snprintf(text, sizeof(text),
			 ONE_DEVICE("{\"op\": \"%s\", \"pool\": [0, 0]}"),
			 gp_event_kind_name((enum gp_event_kind)kind));
		trace = trace_of(text);
		check_round_trips(trace, text);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(test_bundled_traces_read_back)
{
	static const char *const patterns[] = { "traces/tiny/*.json",
						"traces/recorded/*.gz" };
	size_t count = 0;

	for (size_t i = 0; i < COUNT_OF(patterns); i++) {
		glob_t found;

		if (glob(patterns[i], 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc; k++, count++) {
			struct gp_trace *trace = trace_at(found.gl_pathv[k]);

			check_round_trips(trace, found.gl_pathv[k]);
			gp_trace_destroy(trace);
		}
		globfree(&found);
	}
	if (!count)
		skip_test("bundled traces", "traces/ is not here");
}
END_TEST

START_TEST(test_what_is_default_is_not_written)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 4096, \"stream\": 0,"
		" \"pool\": [0, 0], \"addr\": 0},"
		"{\"op\": \"free\", \"id\": 1, \"size\": 4096}"));
	size_t n;
	char *text = written(trace, GP_TRACE_JSON, &n);

	ck_assert_str_eq(text,
			 "{\"format\":\"gpupool-trace\",\"version\":1,\n"
			 "\"source\":{\"kind\":\"gpupool-trace\","
			 "\"complete\":false},\n"
			 "\"release\":{\"first\":0,\"last\":" NEWEST ",\"why\":"
			 "\"\"},\n"
			 "\"devices\":[\n"
			 "{\"device\":0,\n"
			 "\"events\":[\n"
			 "{\"op\":\"alloc\",\"id\":1,\"size\":4096},\n"
			 "{\"op\":\"free\",\"id\":1}]}]}\n");
	free(text);
	gp_trace_destroy(trace);
}
END_TEST

#define LAST "{\"op\":\"empty_cache\"}"

static int count_in(const char *text, const char *what)
{
	int n = 0;

	for (; (text = strstr(text, what)); text++)
		n++;
	return n;
}

/* The rarer kind of free is marked; of equally many, those that complete at
 * once. */
START_TEST(test_what_most_frees_are_is_written_once)
{
	static const struct {
		int at_once, late;
		bool is_once;
	} rows[] = { { 0, 0, false }, { 1, 0, true }, { 0, 1, false },
		     { 1, 1, false }, { 2, 1, true }, { 1, 2, false } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		int frees = rows[i].at_once + rows[i].late;
		char text[1024] = "", whole[2048], *again;
		size_t n = 0;
		struct gp_trace *trace;

		for (int id = 0; id < frees; id++)
			n += (size_t)snprintf(
				text + n, sizeof(text) - n,
				"{\"op\":\"alloc\",\"id\":%d,\"size\":4},"
				"{\"op\":\"free\",\"id\":%d%s},",
				id, id,
				id < rows[i].at_once ? ",\"at_once\":true"
						     : "");
		snprintf(whole, sizeof(whole), ONE_DEVICE("%s" LAST), text);
		trace = trace_of(whole);
		again = written(trace, GP_TRACE_JSON, &n);
		ck_assert_int_eq(strstr(again, "\"frees\":\"at_once\"") != NULL,
				 rows[i].is_once);
		ck_assert_int_eq(count_in(again, "\"at_once\":true"),
				 rows[i].is_once ? 0 : rows[i].at_once);
		ck_assert_int_eq(count_in(again, "\"at_once\":false"),
				 rows[i].is_once ? rows[i].late : 0);
		free(again);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(test_lines_begin_with_the_header)
{
	struct gp_trace *trace = trace_of(everything);
	const char *line;
	size_t n;
	char *text = written(trace, GP_TRACE_JSONL, &n);

	line = strchr(text, '\n') + 1;
	ck_assert_ptr_null(strstr(text, "\"events\""));
	ck_assert(!strncmp(line, "{\"op\":\"alloc\",\"id\":1844", 23));
	ck_assert_ptr_nonnull(
		strstr(line, "\n{\"op\":\"alloc\",\"device\":5,\"id\":1,"));
	free(text);
	gp_trace_destroy(trace);
}
END_TEST

START_TEST(test_a_full_disk_is_told)
{
	struct gp_trace *trace = trace_of(everything);
	struct gp_diag diag = { 0 };
	FILE *full = fopen("/dev/full", "w");

	if (full) {
		ck_assert_int_eq(
			gp_trace_write(trace, GP_TRACE_JSON, full, &diag),
			GP_SYSTEM);
		ck_assert_str_eq(diag.what,
				 "cannot write: No space left on device");
		fclose(full);
	}
	gp_trace_destroy(trace);
	if (!full)
		skip_test("a full disk", "/dev/full is not here");
}
END_TEST

START_TEST(test_equal_is_not_blind)
{
	static const char *const others[] = {
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1}"),
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 2, \"size\": 1}"),
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 2}"),
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1,"
			   " \"stream\": 1}"),
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1,"
			   " \"pool\": [0, 1]}"),
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1,"
			   " \"addr\": 1}"),
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1,"
			   " \"time\": 1}"),
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 1,"
			   " \"refused\": true}"),
		ONE_DEVICE("{\"op\": \"synchronize\"}"),
		ONE_DEVICE("{\"op\": \"synchronize\", \"stream\": 0}"),
		ONE_DEVICE("{\"op\": \"synchronize\", \"stream\": 0,"
			   " \"by\": 0}"),
		ONE_DEVICE("{\"op\": \"synchronize\", \"stream\": 0,"
			   " \"by\": 16}"),
		ONE_DEVICE("{\"op\": \"capture_begin\", \"pool\": [0, 1]}"),
		ONE_DEVICE("{\"op\": \"capture_begin\", \"pool\": [0, 1],"
			   " \"stream\": 0}"),
		ONE_DEVICE("{\"op\": \"mark\", \"name\": \"a\"}"),
		ONE_DEVICE("{\"op\": \"mark\", \"name\": \"b\"}"),
		ONE_DEVICE(""),
	};

	for (size_t i = 0; i < COUNT_OF(others); i++)
		for (size_t k = 0; k < COUNT_OF(others); k++) {
			struct gp_trace *a = trace_of(others[i]);
			struct gp_trace *b = trace_of(others[k]);

			ck_assert_int_eq(gp_trace_equal(a, b), i == k);
			gp_trace_destroy(a);
			gp_trace_destroy(b);
		}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_everything_reads_back, 0 },
		{ test_pools_are_named_where_they_change, 0 },
		{ test_bundled_traces_read_back, 0 },
		{ test_what_is_default_is_not_written, 0 },
		{ test_what_most_frees_are_is_written_once, 0 },
		{ test_lines_begin_with_the_header, 0 },
		{ test_a_full_disk_is_told, 0 },
		{ test_equal_is_not_blind, 0 },
	};

	return suite_run("write_json", tests, COUNT_OF(tests));
}
