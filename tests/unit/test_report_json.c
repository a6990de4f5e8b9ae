/* SPDX-License-Identifier: MIT */
/* Reports for programs: valid JSON, PyTorch's keys, and exact numbers. */
#include "report/report.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "gpupool/knob.h"
#include "suite.h"

static const uint64_t streams[] = { 0, UINT64_MAX };
static const struct gp_pool_id pools[] = { { 0, 0 }, { UINT64_MAX, 1 } };
static const char *const texts[] = { "a.py:1 \"f\"\n\xff", "b.py:2 g" };
static const struct gp_site sites[] = { { 1, GP_NO_SITE }, { 0, 0 } };

/* One device without events, in a trace with awkward strings. */
struct scene {
	struct gp_device_trace device;
	struct gp_trace trace;
	struct gp_settings settings;
	struct gp_replay_result result;
	uint64_t capacity;
	struct gp_run run;
	struct gp_report report;
};

static void make_scene(struct scene *s)
{
	*s = (struct scene){ .device = { .device = 3 },
			     .capacity = GP_UNLIMITED };
	s->trace = (struct gp_trace){
		.devices = &s->device,
		.device_count = 1,
		.streams = streams,
		.stream_count = 2,
		.pools = pools,
		.pool_count = 2,
		.texts = texts,
		.text_count = 2,
		.sites = sites,
		.site_count = 2,
		.source = "test",
	};
	gp_settings_init(&s->settings, GP_RELEASE_LAST);
	s->run = (struct gp_run){
		.settings = &s->settings,
		.conf = "",
		.engine = "caching",
		.capacity = &s->capacity,
		.results = &s->result,
	};
	s->report = (struct gp_report){ .path = "a\\b\xc3\x28\xe2\x82\xac",
					.trace = &s->trace,
					.runs = &s->run,
					.run_count = 1 };
}

/* The caller frees it. */
static char *write_report(const struct scene *s)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gp_report_json(&s->report, out);
	fclose(out);
	return text;
}

static json_t *parse_report(const struct scene *s)
{
	char *text = write_report(s);
	json_error_t error;
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);

	ck_assert_msg(root != NULL, "line %d: %s\n%s", error.line, error.text,
		      text);
	free(text);
	return root;
}

static json_t *first_run(json_t *root)
{
	return json_array_get(json_object_get(root, "runs"), 0);
}

static json_t *first_device(json_t *root)
{
	return json_array_get(json_object_get(first_run(root), "devices"), 0);
}

static json_int_t number(json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

START_TEST(test_awkward_texts_stay_json)
{
	struct scene s;
	json_t *root, *trace;

	make_scene(&s);
	root = parse_report(&s);
	trace = json_object_get(root, "trace");
	ck_assert_str_eq(json_string_value(json_object_get(root, "schema")),
			 "gpupool-report/2");
	ck_assert_str_eq(json_string_value(json_object_get(trace, "path")),
			 "a\\b\xef\xbf\xbd(\xe2\x82\xac");
	ck_assert(json_is_null(json_object_get(trace, "settings")));
	json_decref(root);
}
END_TEST

START_TEST(test_memory_stats_has_the_keys_of_the_release)
{
	static const struct {
		uint8_t release;
		size_t keys;
	} rows[] = {
		{ 0, 119 },  { 2, 119 },  { 3, 122 },  { 4, 122 },
		{ 11, 122 }, { 12, 123 }, { 15, 123 },
	};
	struct scene s;

	make_scene(&s);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		json_t *root, *stats;

		gp_settings_init(&s.settings, rows[i].release);
		root = parse_report(&s);
		stats = json_object_get(first_device(root), "memory_stats");
		ck_assert_uint_eq(json_object_size(stats), rows[i].keys);
		json_decref(root);
	}
}
END_TEST

START_TEST(test_counters_have_their_keys)
{
	struct gp_stat *stat;
	struct scene s;
	json_t *root, *stats;

	make_scene(&s);
	stat = &s.result.stats
			.by_pool[GP_STAT_INACTIVE_SPLIT_BYTES][GP_STAT_LARGE];
	*stat = (struct gp_stat){ 1, 2, 3, 4 };
	s.result.stats.oversize_segments.freed = 5;
	s.result.stats.max_split_size = -1;
	root = parse_report(&s);
	stats = json_object_get(first_device(root), "memory_stats");
	ck_assert_int_eq(
		number(stats, "inactive_split_bytes.large_pool.current"), 1);
	ck_assert_int_eq(number(stats, "inactive_split_bytes.large_pool.peak"),
			 2);
	ck_assert_int_eq(
		number(stats, "inactive_split_bytes.large_pool.allocated"), 3);
	ck_assert_int_eq(number(stats, "inactive_split_bytes.large_pool.freed"),
			 4);
	ck_assert_int_eq(number(stats, "oversize_segments.freed"), 5);
	ck_assert_int_eq(number(stats, "max_split_size"), -1);
	json_decref(root);
}
END_TEST

START_TEST(test_settings_are_those_that_differ)
{
	static const struct {
		const char *conf, *json;
	} rows[] = {
		{ "", "{}" },
		{ "max_split_size_mb:128,expandable_segments:True",
		  "{\"expandable_segments\":true,\"max_split_size_mb\":128}" },
		{ "garbage_collection_threshold:0.8",
		  "{\"garbage_collection_threshold\":0.8}" },
		{ "roundup_power2_divisions:4",
		  "{\"roundup_power2_divisions\":4}" },
		{ "large_segment_size_mb:64",
		  "{\"large_segment_size_mb\":64}" },
		{ "expandable_segments:False", "{}" },
	};
	struct scene s;

	make_scene(&s);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_diag diag = { 0 };
		json_t *root;
		char *text;

		gp_settings_init(&s.settings, GP_RELEASE_LAST);
		ck_assert_int_eq(
			gp_settings_parse(&s.settings, rows[i].conf, &diag),
			GP_OK);
		root = parse_report(&s);
		text = json_dumps(json_object_get(first_run(root), "settings"),
				  JSON_COMPACT | JSON_SORT_KEYS |
					  JSON_REAL_PRECISION(6));
		ck_assert_str_eq(text, rows[i].json);
		free(text);
		json_decref(root);
	}
}
END_TEST

START_TEST(test_numbers_are_written_in_full)
{
	struct scene s;
	char *text;

	make_scene(&s);
	s.result.first_oom = (struct gp_oom){
		.is_there = true, .alloc = 9, .size = UINT64_MAX, .site = 1
	};
	text = write_report(&s);
	ck_assert_ptr_nonnull(strstr(text, "\"size\": 18446744073709551615"));
	ck_assert_ptr_nonnull(strstr(text, "\"capacity\": null"));
	ck_assert_ptr_nonnull(strstr(text, "a.py:1 \\\"f\\\"\\u000a\\ufffd"));
	free(text);
}
END_TEST

START_TEST(test_a_mismatch_is_told)
{
	struct scene s;
	json_t *root, *fidelity, *first;

	make_scene(&s);
	s.result.fidelity = (struct gp_fidelity){
		.checked = 10,
		.matched = 9,
		.first = { .is_there = true,
			   .kind = GP_WRONG_ADDRESS,
			   .event = 4,
			   .site = GP_NO_SITE,
			   .chosen = 1024,
			   .recorded = 2048,
			   .candidates = { { 1024, 512, 0, 4096 } },
			   .candidate_count = 1 },
	};
	root = parse_report(&s);
	fidelity = json_object_get(first_device(root), "fidelity");
	first = json_object_get(fidelity, "first_mismatch");
	ck_assert_int_eq(number(fidelity, "matched"), 9);
	ck_assert_int_eq(number(first, "recorded"), 2048);
	ck_assert_uint_eq(json_array_size(json_object_get(first, "candidates")),
			  1);
	json_decref(root);
}
END_TEST

START_TEST(test_an_action_is_a_line)
{
	static const struct gp_action actions[] = {
		{ GP_ALLOC, 1, 1, 2, 4096, 512, 512 },
		{ GP_FREE, 0, 0, 0, 4096, 512, 512 },
		{ GP_OOM, 0, 0, GP_NO_ID, 77, 1024, 0 },
	};
	static const uint64_t names[] = { 10, 11, UINT64_MAX };
	static const char *const lines[] = {
		"{\"action\":\"alloc\",\"addr\":4096,\"size\":512,"
		"\"stream\":18446744073709551615,"
		"\"pool\":[18446744073709551615,1],\"device\":3,"
		"\"id\":18446744073709551615,\"event\":5}\n",
		"{\"action\":\"free_requested\",\"addr\":4096,\"size\":512,"
		"\"stream\":0,\"pool\":[0,0],\"device\":3,\"id\":10,"
		"\"event\":5}\n",
		/* parenthesised: clang suspects a comma was forgotten */
		("{\"action\":\"oom\",\"device_free\":77,\"size\":1024,"
		 "\"stream\":0,\"pool\":[0,0],\"device\":3,\"event\":5}\n"),
	};
	struct scene s;

	make_scene(&s);
	s.device.names = names;
	for (size_t i = 0; i < COUNT_OF(actions); i++) {
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		gp_report_action(&s.trace, &s.device, &actions[i], 5, out);
		fclose(out);
		ck_assert_str_eq(text, lines[i]);
		free(text);
	}
}
END_TEST

START_TEST(test_info_is_json)
{
	struct scene s;
	struct gp_info info;
	json_error_t error;
	json_t *root;
	char *text;
	size_t size;
	FILE *out;

	make_scene(&s);
	s.trace.stream_count = 1; /* jansson has no room for more */
	s.trace.pool_count = 1;
	info = (struct gp_info){ .path = "x", .trace = &s.trace };
	out = open_memstream(&text, &size);
	gp_report_info_json(&info, out);
	fclose(out);
	root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	ck_assert_msg(root != NULL, "line %d: %s\n%s", error.line, error.text,
		      text);
	json_decref(root);
	free(text);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_awkward_texts_stay_json, 0 },
		{ test_memory_stats_has_the_keys_of_the_release, 0 },
		{ test_counters_have_their_keys, 0 },
		{ test_settings_are_those_that_differ, 0 },
		{ test_numbers_are_written_in_full, 0 },
		{ test_a_mismatch_is_told, 0 },
		{ test_an_action_is_a_line, 0 },
		{ test_info_is_json, 0 },
	};

	return suite_run("report_json", tests, COUNT_OF(tests));
}
