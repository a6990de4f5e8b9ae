/* SPDX-License-Identifier: MIT */
/* Limits, gpupool.json and its baseline: read as meant, or refused. */
#include "report/gate/gate_report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpupool/allocator.h"
#include "report/gate/load.h"
#include "suite.h"
#include "trace_text.h"

#define BYTES "reserved_bytes.all.peak"

static struct gp_numbers numbers;

static const struct gp_number *number(const char *name)
{
	size_t i;

	if (!numbers.count)
		gp_numbers_init(&numbers);
	i = gp_numbers_find(&numbers, name);
	ck_assert_uint_ne(i, GP_NUMBER_NONE);
	return &numbers.items[i];
}

START_TEST(test_limits_have_bounds)
{
	static const struct {
		const char *name, *text;
		int64_t baseline, bound;
	} rows[] = {
		{ BYTES, "+2%", 1000, 1020 },
		{ BYTES, "+0%", 1000, 1000 },
		{ BYTES, "+0", 1000, 1000 },
		{ BYTES, "+29%", 100, 129 },
		{ BYTES, "+2.3%", 26000, 26598 },
		{ BYTES, "+1KiB", 1000, 2024 },
		{ BYTES, "+64 MiB", 0, 64 << 20 },
		{ BYTES, "1GiB", 5, 1 << 30 },
		{ BYTES, "12345", 5, 12345 },
		{ BYTES, "9223372036854775807", 5, INT64_MAX },
		{ BYTES, "9223372036854775808", 5, 0 },
		{ BYTES, "+00000000000000000000000000002%", 1000, 1020 },
		{ BYTES, "+8EiB", 5, 0 },
		{ BYTES, "+9000PiB", 5, 0 },
		{ BYTES, "+1000000%", INT64_MAX, INT64_MAX },
		{ "num_ooms", "0", 7, 0 },
		{ "num_ooms", "+3", 7, 10 },
		{ "num_ooms", "+3", 1, 4 },
		{ "num_ooms", "+3", -1, 3 },
		{ "num_ooms", "+10%", 7, 7 },
		{ "fragmentation", "10%", 0, 100000 },
		{ "fragmentation", "0.1", 0, 100000 },
		{ "fragmentation", "+2 points", 100000, 120000 },
		{ "fragmentation", "+2%", 100000, 102000 },
		{ "fidelity", "100%", 0, 1000000 },
		{ "fidelity", "-1 points", 1000000, 990000 },
		{ "hit_rate", "-50%", 800000, 400000 },
		{ "hit_rate", "-1", 800000, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct gp_number *n = number(rows[i].name);
		struct gp_limit limit = { 0 };
		struct gp_diag diag = { 0 };

		if (gp_limit_parse(&limit, n, rows[i].text, &diag) != GP_OK) {
			/* Units and amounts that do not exist. */
			ck_assert_msg(!rows[i].bound, "%s", rows[i].text);
			continue;
		}
		ck_assert_int_eq(gp_limit_bound(&limit, n, rows[i].baseline),
				 rows[i].bound);
	}
}
END_TEST

START_TEST(test_limits_that_are_none)
{
	static const struct {
		const char *name, *text;
	} rows[] = {
		{ BYTES, "" },
		{ BYTES, "+" },
		{ BYTES, "2%" },
		{ BYTES, "-2%" },
		{ BYTES, "+-2%" },
		{ BYTES, "2 apples" },
		{ BYTES, "+2%%" },
		{ BYTES, "+1e999%" },
		{ BYTES, "nan" },
		{ BYTES, "+inf" },
		{ BYTES, "+0x10%" },
		{ "num_ooms", "1.5" },
		{ "num_ooms", "1.0.5" },
		{ "num_ooms", "2MiB" },
		{ "num_ooms", "-1" },
		{ "fidelity", "101%" },
		{ "fidelity", "+1%" },
		{ "fragmentation", "3" },
		{ BYTES, "20EiB" },
		{ BYTES, "+000000000000000000000000000002%" },
		{ BYTES, "1111111111111111111111111111111111" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_limit limit = { 0 };
		struct gp_diag diag = { 0 };

		ck_assert_msg(gp_limit_parse(&limit, number(rows[i].name),
					     rows[i].text, &diag) == GP_INPUT,
			      "%s", rows[i].text);
		ck_assert(*diag.what);
	}
}
END_TEST

static enum gp_status parse(const char *text, struct gp_gate **gate,
			    struct gp_diag *diag)
{
	struct gp_gate_config config = { .path = "ci/gate.json",
					 .numbers = &numbers };

	number(BYTES);
	*diag = (struct gp_diag){ 0 };
	return gp_gate_parse(&config, text, strlen(text), gate, diag);
}

START_TEST(test_a_file_is_read)
{
	const char *text =
		"{\"limits\": {\"" BYTES "\": \"+2%\", \"num_ooms\": 0},"
		" \"runs\": [{\"name\": \"a\", \"trace\": \"t.json\","
		" \"capacity\": \"1GiB\", \"torch\": \"2.9\","
		" \"settings\": {\"max_split_size_mb\": 64,"
		" \"expandable_segments\": true},"
		" \"limits\": {\"num_ooms\": null, \"fidelity\": \"100%\","
		" \"fragmentation\": 0.0}}]}";
	struct gp_gate *gate;
	struct gp_diag diag;
	const struct gp_gate_run *run;
	char limits[512] = "";

	ck_assert_int_eq(parse(text, &gate, &diag), GP_OK);
	ck_assert_str_eq(gate->baseline_path, "ci/gate.baseline.json");
	run = &gate->runs[0];
	ck_assert_str_eq(run->path, "ci/t.json");
	ck_assert_str_eq(run->asked.settings,
			 "max_split_size_mb:64,expandable_segments:True");
	ck_assert_uint_eq(run->asked.capacity, 1 << 30);
	for (size_t i = 0; i < run->limit_count; i++) {
		size_t used = strlen(limits);

		snprintf(limits + used, sizeof(limits) - used, "%s=%s ",
			 numbers.items[run->limits[i].number].name,
			 run->limits[i].text);
	}
	/* dropped was replaced by its synonym, and the reserved memory has one
	 * limit, whether or not the program resets its peaks. */
	ck_assert_str_eq(limits, "fidelity=100% fragmentation=0.000000000 "
				 "num_alloc_retries=not worse "
				 "num_ooms=null peak_allocated_bytes=not worse "
				 "peak_reserved_bytes=+2% "
				 "reserved_bytes.all.peak=+2% ");
	gp_gate_destroy(gate);
}
END_TEST

/* This includes the first and the last number of the table. */
START_TEST(test_every_number_can_be_limited)
{
	number(BYTES);
	for (size_t n = 0; n < numbers.count; n++) {
		struct gp_gate *gate;
		struct gp_diag diag;
		char text[256];
		bool is_there = false;

		snprintf(text, sizeof(text),
			 "{\"runs\": [{\"name\": \"a\", \"trace\": \"t\","
			 " \"limits\": {\"%s\": null}}]}",
			 numbers.items[n].name);
		ck_assert_int_eq(parse(text, &gate, &diag), GP_OK);
		for (size_t i = 0; i < gate->runs[0].limit_count; i++)
			is_there |= gate->runs[0].limits[i].number == n;
		ck_assert_msg(is_there, "%s", numbers.items[n].name);
		gp_gate_destroy(gate);
	}
}
END_TEST

START_TEST(test_files_that_are_refused)
{
#define RUN(more) "{\"runs\": [{\"name\": \"a\", \"trace\": \"t\"" more "}]}"
	static const struct {
		const char *text, *what;
	} rows[] = {
		{ "", "not JSON" },
		{ "[]", "not an object" },
		{ "{}", "no runs" },
		{ "{\"runs\": []}", "no runs" },
		{ "{\"runs\": 7}", "no runs" },
		{ "{\"runs\": [7]}", "not an object" },
		{ "{\"runs\": [{}]}", "name is not a text" },
		{ "{\"runs\": [{\"name\": \"\"}]}", "name is empty" },
		{ "{\"runs\": [{\"name\": \"a\"}]}", "names no trace" },
		{ "{\"runs\": [{\"name\": \"a\\u001b\"}]}", "control" },
		{ "{\"runs\": [{\"name\": \"a\", \"name\": \"b\"}]}",
		  "duplicate" },
		{ RUN(", \"limts\": {}"), "no key limts" },
		{ RUN(", \"limits\": 3"), "not an object" },
		{ RUN(", \"limits\": {\"reserved\": 3}"),
		  "no number reserved" },
		{ RUN(", \"limits\": {\"num_ooms\": true}"), "neither" },
		{ RUN(", \"limits\": {\"num_ooms\": -1}"), "neither" },
		{ RUN(", \"limits\": {\"num_ooms\": \"few\"}"), "not a limit" },
		{ RUN(", \"limits\": {\"num_ooms\": 1e300}"),
		  "\"1000000000000000052504760255204\" is not a limit" },
		{ RUN(", \"limits\": {\"fragmentation\": -0.5}"), "neither" },
		{ RUN(", \"settings\": 3"), "settings is not a text" },
		{ RUN(", \"settings\": {\"max_split\": 3}"),
		  "no setting max_split" },
		{ RUN(", \"settings\": {\"max_split_size_mb\": []}"),
		  "no plain value" },
		{ RUN(", \"capacity\": 0"), "not a size" },
		{ RUN(", \"capacity\": \"lots\""), "not a size" },
		{ RUN(", \"torch\": 2.9"), "torch is not a text" },
		{ "{\"runs\": [{\"name\": \"a\", \"trace\": \"t\"},"
		  "{\"name\": \"a\", \"trace\": \"t\"}]}",
		  "two of that name" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_gate *gate;
		struct gp_diag diag;

		ck_assert_int_eq(parse(rows[i].text, &gate, &diag), GP_INPUT);
		ck_assert_msg(strstr(diag.what, rows[i].what) != NULL, "%s: %s",
			      rows[i].text, diag.what);
	}
}
END_TEST

/* Settings of a given number of bytes, in one text or one by one. */
static enum gp_status parse_settings(size_t bytes, bool is_text,
				     struct gp_diag *diag)
{
	static const char *const keys[] = {
		"max_split_size_mb",	      "garbage_collection_threshold",
		"roundup_power2_divisions",   "expandable_segments",
		"max_non_split_rounding_mb",  "large_segment_size_mb",
		"release_lock_on_cudamalloc", "pinned_num_register_threads",
	};
	char text[6000];
	struct gp_gate *gate;
	enum gp_status status;
	int n = snprintf(text, sizeof(text),
			 "{\"runs\": [{\"name\": \"a\", \"trace\": \"t\", "
			 "\"settings\": %s",
			 is_text ? "\"" : "{");

	if (is_text) {
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%0*d\"",
			      (int)bytes, 0);
	} else {
		for (size_t i = 0; i < COUNT_OF(keys); i++) {
			size_t left = COUNT_OF(keys) - i;
			size_t value = (bytes + 1) / left - strlen(keys[i]) - 2;

			n += snprintf(text + n, sizeof(text) - (size_t)n,
				      "%s\"%s\": \"%0*d\"", i ? ", " : "",
				      keys[i], (int)value, 0);
			bytes -= strlen(keys[i]) + 2 + value;
		}
		n += snprintf(text + n, sizeof(text) - (size_t)n, "}");
	}
	snprintf(text + n, sizeof(text) - (size_t)n, "}]}");
	status = parse(text, &gate, diag);
	if (status == GP_OK)
		gp_gate_destroy(gate);
	return status;
}

START_TEST(test_settings_have_so_many_bytes)
{
	for (int is_text = 0; is_text < 2; is_text++) {
		struct gp_diag diag;

		ck_assert_msg(parse_settings(4000, is_text, &diag) == GP_OK,
			      "%s", diag.what);
		ck_assert_int_eq(parse_settings(4001, is_text, &diag),
				 GP_INPUT);
		ck_assert_msg(strstr(diag.what, "too long"), "%s", diag.what);
	}
}
END_TEST

/* Names have 40 bytes at most. */
START_TEST(test_names_have_so_many_bytes)
{
	static const char *const keys[] = { "torch", "engine" };

	for (size_t i = 0; i < 2 * COUNT_OF(keys); i++) {
		const char *key = keys[i / 2];
		char text[256];
		struct gp_gate *gate;
		struct gp_diag diag = { 0 };

		snprintf(text, sizeof(text),
			 "{\"runs\": [{\"name\": \"a\", \"trace\": \"a\", "
			 "\"%s\": "
			 "\"%0*d\"}]}",
			 key, 40 + (int)(i % 2), 0);
		if (parse(text, &gate, &diag) == GP_OK)
			gp_gate_destroy(gate);
		ck_assert_int_eq(strstr(diag.what, "too long") != NULL, i % 2);
	}
}
END_TEST

START_TEST(test_the_bound_of_reserved_memory)
{
	static const struct {
		const char *names[3];
		int64_t amounts[3];
		size_t count;
		int64_t bound;
	} rows[] = {
		{ { BYTES, BYTES }, { 7, 5 }, 0, INT64_MAX },
		{ { BYTES, BYTES }, { 7, 5 }, 1, 7 },
		{ { BYTES, "peak_reserved_bytes" }, { 7, 5 }, 2, 5 },
		{ { BYTES, "peak_reserved_bytes" }, { 5, 7 }, 2, 5 },
		{ { "num_ooms", BYTES }, { 3, 9 }, 2, 9 },
	};
	struct gp_reading *baseline;

	number(BYTES);
	baseline = calloc(numbers.count, sizeof(*baseline));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_limit limits[3] = { 0 };
		const struct gp_gate_run run = { .limits = limits,
						 .limit_count = rows[i].count };

		for (size_t k = 0; k < 2; k++)
			limits[k] = (struct gp_limit){
				.number = gp_numbers_find(&numbers,
							  rows[i].names[k]),
				.kind = GP_LIMIT_VALUE,
				.amount = rows[i].amounts[k],
			};
		ck_assert_int_eq(
			gp_gate_reserved_bound(&run, &numbers, baseline),
			rows[i].bound);
	}
	free(baseline);
}
END_TEST

START_TEST(test_a_file_lists_so_many_runs)
{
	for (size_t count = 10000; count <= 10001; count++) {
		struct gp_gate *gate = NULL;
		struct gp_diag diag;
		size_t length;
		char *text;
		FILE *out = open_memstream(&text, &length);

		fputs("{\"runs\": [", out);
		for (size_t i = 0; i < count; i++)
			fprintf(out, "%s{\"name\": \"%zu\", \"trace\": \"t\"}",
				i ? "," : "", i);
		fputs("]}", out);
		fclose(out);
		if (count == 10000) {
			ck_assert_int_eq(parse(text, &gate, &diag), GP_OK);
			ck_assert_uint_eq(gate->run_count, count);
		} else {
			ck_assert_int_eq(parse(text, &gate, &diag), GP_INPUT);
			ck_assert_str_eq(diag.what,
					 "it lists more than 10000 runs");
		}
		gp_gate_destroy(gate);
		free(text);
	}
}
END_TEST

/* A file has 64 MiB at most. */
START_TEST(test_a_file_has_so_many_bytes)
{
	for (size_t more = 0; more < 2; more++) {
		struct gp_diag diag = { 0 };
		char path[32], *text;
		FILE *file = tmpfile();
		size_t size;

		snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
		ck_assert_int_eq(ftruncate(fileno(file),
					   (off_t)(GATE_MOST_BYTES + more)),
				 0);
		ck_assert_int_eq(load_file(path, &text, &size, NULL, &diag),
				 more ? GP_INPUT : GP_OK);
		if (!more) {
			ck_assert_uint_eq(size, GATE_MOST_BYTES);
			free(text);
		}
		fclose(file);
	}
}
END_TEST

/* ---- the baseline ---- */

static struct gp_reading *some_readings(void)
{
	struct gp_reading *readings = calloc(numbers.count, sizeof(*readings));

	readings[number(BYTES) - numbers.items] =
		(struct gp_reading){ true, 123456789 };
	readings[number("fragmentation") - numbers.items] =
		(struct gp_reading){ true, 123457 };
	return readings;
}

START_TEST(test_a_baseline_comes_back_as_it_was_written)
{
	struct gp_reading *readings = (number(BYTES), some_readings());
	struct gp_record_device device = {
		.device = 3,
		.readings = readings,
		.fingerprint = { .requests = 7,
				 .spacing = 1,
				 .count = 7,
				 .marks = { { 1, 2 }, { 0xffffff, 0xabcdef } },
				 .digest = UINT64_MAX },
	};
	struct gp_record record = {
		.name = "a \"b\"",
		.trace = "t",
		.asked = { .torch = "2.9", .capacity = GP_UNLIMITED },
		.conf = "",
		.torch = "2.9",
		.devices = &device,
		.device_count = 1,
	};
	const struct gp_record *records[] = { &record }, *back;
	struct gp_gate_run run = { .name = "a", .asked = record.asked };
	struct gp_baseline *baseline;
	struct gp_diag diag = { 0 };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gp_baseline_write(records, 1, &numbers, out);
	fclose(out);
	ck_assert_int_eq(
		gp_baseline_parse(text, size, &numbers, &baseline, &diag),
		GP_OK);
	back = gp_baseline_find(baseline, record.name);
	ck_assert_ptr_nonnull(back);
	ck_assert_int_eq(gp_record_check(back, &run, &diag), GP_OK);
	ck_assert_uint_eq(back->devices[0].device, 3);
	ck_assert_mem_eq(back->devices[0].readings, readings,
			 numbers.count * sizeof(*readings));
	ck_assert_mem_eq(&back->devices[0].fingerprint, &device.fingerprint,
			 sizeof(device.fingerprint));
	/* The baseline of another run is stale. */
	run.asked.torch = "2.10";
	ck_assert_int_eq(gp_record_check(back, &run, &diag), GP_INPUT);
	run.asked = record.asked;
	run.asked.settings = "";
	ck_assert_int_eq(gp_record_check(back, &run, &diag), GP_INPUT);
	run.asked = record.asked;
	run.asked.capacity = 5;
	ck_assert_int_eq(gp_record_check(back, &run, &diag), GP_INPUT);
	ck_assert_int_eq(gp_record_check(NULL, &run, &diag), GP_INPUT);
	gp_baseline_destroy(baseline);
	free(text);
	free(readings);
}
END_TEST

START_TEST(test_a_baseline_has_so_many_devices)
{
	struct gp_reading *readings = (number(BYTES), some_readings());
	static struct gp_record_device devices[1025];
	struct gp_record record = { .name = "a",
				    .trace = "t",
				    .conf = "",
				    .torch = "2.9",
				    .devices = devices };
	const struct gp_record *records[] = { &record };

	for (unsigned i = 0; i < COUNT_OF(devices); i++)
		devices[i] = (struct gp_record_device){
			.device = i,
			.readings = readings,
			.fingerprint = { .spacing = 1 },
		};
	for (size_t n = 1024; n <= COUNT_OF(devices); n++) {
		struct gp_baseline *baseline;
		struct gp_diag diag = { 0 };
		enum gp_status status;
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		record.device_count = n;
		gp_baseline_write(records, 1, &numbers, out);
		fclose(out);
		status = gp_baseline_parse(text, size, &numbers, &baseline,
					   &diag);
		ck_assert_int_eq(status, n > 1024 ? GP_INPUT : GP_OK);
		if (status == GP_OK)
			gp_baseline_destroy(baseline);
		else
			ck_assert_ptr_nonnull(
				strstr(diag.what, "too many devices"));
		free(text);
	}
	free(readings);
}
END_TEST

static const char *const kept =
	"{\"schema\": \"gpupool-baseline/1\", \"runs\": {\"a\": {"
	"\"asked\": {\"torch\": \"2.9\", \"capacity\": 1024}, \"trace\": "
	"\"t\", "
	"\"played\": {\"alloc_conf\": \"\", \"torch\": \"2.9\"}, \"devices\": "
	"[{\"device\": 3, \"numbers\": {\"num_ooms\": 5, \"fragmentation\": "
	"0.25}, \"fingerprint\": {\"requests\": 7, \"spacing\": 2, "
	"\"program\": \"0123456789abcdef\", \"marks\": "
	"[\"000001000002abcdefffffff\"]}}]}}}";

/* this is replaced by that; what: NULL if the result is valid. */
static const struct {
	const char *this, *that, *what;
} mistakes[] = {
	{ "gpupool-baseline/1", "gpupool-baseline/2", "its schema is not" },
	{ "\"runs\": {\"a\": {", "\"runs\": 7, \"b\": {\"a\": {",
	  "it has no runs" },
	{ "{\"a\": {", "{\"a\\u0007\": {", "a name has control characters" },
	{ "{\"a\": {", "{\"b\": 7, \"a\": {", "it is not an object" },
	{ "1024", "0", NULL },
	{ "1024", "-1", "its capacity is not a number" },
	{ "\"trace\": \"t\"", "\"trace\": 7", "trace is not a text" },
	{ "\"numbers\"", "\"digits\"", "a device has no numbers" },
	{ "\"num_ooms\": 5", "\"num_ooms\": null", NULL },
	{ "\"num_ooms\": 5", "\"num_ooms\": 0.5",
	  "one of its numbers is none that a run can have" },
	{ "\"num_ooms\": 5", "\"num_ooms\": -9223372036854775808",
	  "one of its numbers is none that a run can have" },
	{ "\"num_ooms\": 5", "\"num_ooms\": -1", NULL },
	{ "\"num_ooms\": 5", "\"no_more\": \"x\"", NULL },
	{ "0.25", "-0.25", NULL },
	{ "0.25", "\"x\"", "one of its numbers is none that a run can have" },
	{ "0.25", "1e6", "one of its numbers is none that a run can have" },
	{ "0.25", "-1e6", "one of its numbers is none that a run can have" },
	{ "7,", "0,", NULL },
	{ "7,", "-1,", "damaged" },
	{ "\"spacing\": 2", "\"spacing\": 1", NULL },
	{ "\"spacing\": 2", "\"spacing\": 0", "damaged" },
	{ "\"spacing\": 2", "\"spacing\": -1", "damaged" },
	{ "\"program\"", "\"programs\"", "damaged" },
	{ "9abcdef", "9abcde", "damaged" },
	{ "9abcdef", "9abcdef0", "damaged" },
	{ "9abcdef", "9abcdeg", "damaged" },
	{ "[\"000001000002abcdefffffff\"]", "[]", NULL },
	{ "[\"000001000002abcdefffffff\"]", "[\"\"]", NULL },
	{ "000001000002", "00000100000", "damaged" },
	{ "000001000002", "000001 00002", "damaged" },
	{ "\"000001000002", "7, \"000001000002", "damaged" },
};

START_TEST(test_damaged_baselines_are_refused)
{
	number(BYTES);
	for (size_t i = 0; i < COUNT_OF(mistakes); i++) {
		const char *this = mistakes[i].this;
		const char *at = strstr(kept, this);
		struct gp_baseline *baseline;
		struct gp_diag diag = { 0 };
		enum gp_status status;
		char text[1024];

		ck_assert_msg(at != NULL, "%s", this);
		snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - kept), kept,
			 mistakes[i].that, at + strlen(this));
		status = gp_baseline_parse(text, strlen(text), &numbers,
					   &baseline, &diag);
		ck_assert_msg(
			mistakes[i].what
				? status == GP_INPUT &&
					  strstr(diag.what, mistakes[i].what)
				: status == GP_OK,
			"%s: %s", mistakes[i].that, diag.what);
		if (status == GP_OK)
			gp_baseline_destroy(baseline);
	}
}
END_TEST

START_TEST(test_a_baseline_has_so_many_marks)
{
	static const char row[] = "000001000002";
	const char *rest = strstr(kept, row);

	number(BYTES);
	for (int count = 256; count <= 259; count++) {
		struct gp_baseline *baseline = NULL;
		struct gp_diag diag = { 0 };
		enum gp_status status;
		char text[8192];
		int n = snprintf(text, sizeof(text), "%.*s", (int)(rest - kept),
				 kept);

		/* The text has one already. */
		for (int i = 1; i < count; i++)
			n += snprintf(text + n, sizeof(text) - (size_t)n, "%s",
				      row);
		snprintf(text + n, sizeof(text) - (size_t)n, "%s",
			 rest + strlen(row));
		status = gp_baseline_parse(text, strlen(text), &numbers,
					   &baseline, &diag);
		ck_assert_int_eq(status, count <= 257 ? GP_OK : GP_INPUT);
		gp_baseline_destroy(baseline);
	}
}
END_TEST

START_TEST(test_a_baseline_is_what_it_says)
{
	const struct gp_record_device *device;
	struct gp_baseline *baseline;
	struct gp_diag diag = { 0 };

	number(BYTES);
	ck_assert_int_eq(gp_baseline_parse(kept, strlen(kept), &numbers,
					   &baseline, &diag),
			 GP_OK);
	device = gp_record_find(gp_baseline_find(baseline, "a"), 3);
	ck_assert_ptr_nonnull(device);
	ck_assert_uint_eq(device->fingerprint.requests, 7);
	ck_assert_uint_eq(device->fingerprint.spacing, 2);
	ck_assert_uint_eq(device->fingerprint.digest,
			  UINT64_C(0x0123456789abcdef));
	ck_assert_uint_eq(device->fingerprint.count, 2);
	ck_assert_uint_eq(device->fingerprint.marks[0].program, 1);
	ck_assert_uint_eq(device->fingerprint.marks[0].allocator, 2);
	ck_assert_uint_eq(device->fingerprint.marks[1].program, 0xabcdef);
	ck_assert_uint_eq(device->fingerprint.marks[1].allocator, 0xffffff);
	gp_baseline_destroy(baseline);
}
END_TEST

/* ---- where runs diverge ---- */

/* That many requests, with a mark at every second one and one at the end; from
 * one request on, the marks differ. */
static struct gp_fingerprint print_of(uint64_t requests, uint64_t other_from,
				      bool is_program)
{
	struct gp_fingerprint print = {
		.requests = requests,
		.spacing = 2,
		.count = !requests,
	};

	for (uint64_t r = 1; r <= requests; r++) {
		uint32_t own = r > other_from ? 1000 : 0;

		if (r % 2 && r != requests)
			continue;
		if (r == requests || r % 2 == 0) {
			struct gp_fingerprint_mark *mark =
				&print.marks[print.count];

			mark->program = (uint32_t)r + (is_program ? own : 0);
			mark->allocator = (uint32_t)r + own;
			print.events[print.count++] = 10 * r;
		}
	}
	print.digest = requests + (is_program && requests > other_from);
	return print;
}

START_TEST(test_where_runs_part)
{
	static const struct {
		uint64_t requests, other_from;
		bool is_program, is_there;
		uint64_t first, last;
	} rows[] = {
		{ 9, 9, false, false, 0, 0 },  { 9, 0, true, true, 0, 19 },
		{ 9, 4, false, true, 40, 59 }, { 9, 5, true, true, 40, 59 },
		{ 9, 8, false, true, 80, 89 }, { 20, 20, true, true, 80, 99 },
		{ 6, 6, true, true, 60, 60 },  { 0, 0, true, true, 0, 0 },
	};
	struct gp_fingerprint baseline = print_of(9, 9, false);

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_fingerprint now =
			print_of(rows[i].requests, rows[i].other_from,
				 rows[i].is_program);
		struct gp_gate_divergence divergence =
			gp_fingerprint_compare(&baseline, &now);

		ck_assert_int_eq(divergence.is_there, rows[i].is_there);
		if (!divergence.is_there)
			continue;
		ck_assert_int_eq(divergence.is_program, rows[i].is_program);
		ck_assert_uint_eq(divergence.first, rows[i].first);
		ck_assert_uint_eq(divergence.last, rows[i].last);
	}
}
END_TEST

/* The program's marks and outcomes do not count as requests. */
START_TEST(test_requests_are_counted)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"mark\", \"name\": \"step\"}, {\"op\": "
		"\"segment_alloc\", \"addr\": 2097152, \"size\": 2097152}, "
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 512}, "
		"{\"op\": \"free\", \"id\": 1}"));
	struct gp_fingerprint_maker maker;
	struct gp_fingerprint print;

	gp_fingerprint_begin(&maker, trace, 0, 0, &print);
	ck_assert_uint_eq(print.requests, 2);
	gp_trace_destroy(trace);
}
END_TEST

/* The mark of a request for 20 MiB that gets a block of that many bytes. */
static uint32_t mark_of_block(uint64_t block)
{
	struct gp_trace *trace = trace_of(ONE_DEVICE(
		"{\"op\": \"alloc\", \"id\": 1, \"size\": 20971520}"));
	struct gp_fingerprint_maker maker;
	struct gp_fingerprint print;

	gp_fingerprint_begin(&maker, trace, 0, 0, &print);
	gp_fingerprint_action(&maker,
			      &(struct gp_action){ .kind = GP_ALLOC,
						   .size = 20971520,
						   .block = block },
			      0);
	gp_fingerprint_end(&maker);
	gp_trace_destroy(trace);
	return print.marks[0].allocator;
}

/* By default, a block keeps up to 1 MiB beyond its request. */
START_TEST(test_a_block_that_was_not_split_is_another_action)
{
	uint32_t exact = mark_of_block(20971520);

	ck_assert_uint_eq(mark_of_block(20971520 + 1048576), exact);
	ck_assert_uint_ne(mark_of_block(20971520 + 1048576 + 512), exact);
}
END_TEST

/* ---- where a worse number shows first ---- */

/* The verdict on dropped, which is worse, with result's first failure. */
static struct gp_gate_verdict locate(const struct gp_trace *trace,
				     const struct gp_replay_result *result,
				     int64_t bound)
{
	static struct gp_limit limit;
	const struct gp_fingerprint_maker maker = {
		.trace = trace,
		.device = trace->devices,
	};
	const struct gp_gate_watch watch = { 0 };
	struct gp_gate_verdict verdict = {
		.limit = &limit,
		.bound = bound,
		.is_worse = true,
		.event = GP_EVENT_NONE,
	};

	number("dropped");
	limit.number = gp_numbers_find(&numbers, "dropped");
	gp_verdict_locate(&verdict, &numbers, result, &maker, &watch);
	return verdict;
}

/* Events after those of the run do not count. */
START_TEST(test_the_first_request_dropped_beyond_a_bound)
{
	static const struct {
		uint64_t events[3];
		size_t ooms;
		uint64_t refused, refusal;
		int64_t bound;
		uint64_t event;
	} rows[] = {
		{ { 4, 6, 8 }, 2, 0, 0, 0, 4 },
		{ { 4, 6, 8 }, 2, 0, 0, 1, 6 },
		{ { 4, 6, 8 }, 2, 0, 0, -1, 4 },
		/* Of requests refused by a rule, only the first is known. */
		{ { 4, 6, 8 }, 2, 1, 5, 0, 4 },
		{ { 4, 6, 8 }, 2, 1, 3, 0, 3 },
		{ { 4, 6, 8 }, 0, 1, 5, 0, 5 },
		{ { 4, 6, 8 }, 2, 1, 5, 1, GP_EVENT_NONE },
		{ { 4, 6, 8 }, 2, 1, 5, 2, GP_EVENT_NONE },
	};
	struct gp_trace *trace = trace_of(ONE_DEVICE(""));

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		uint64_t events[3];
		const struct gp_replay_result result = {
			.ooms = { .events = events, .count = rows[i].ooms },
			.refused = rows[i].refused,
			.first_refusal_event = rows[i].refusal,
		};

		memcpy(events, rows[i].events, sizeof(events));
		ck_assert_uint_eq(locate(trace, &result, rows[i].bound).event,
				  rows[i].event);
	}
	gp_trace_destroy(trace);
}
END_TEST

/* A site of that many x, followed by the text. */
static struct gp_gate_verdict locate_at(int times, const char *text)
{
	char site[GP_SOURCE_TEXT + 64], json[2 * GP_SOURCE_TEXT];
	uint64_t event = 0;
	const struct gp_replay_result result = {
		.ooms = { .events = &event, .count = 1 },
	};
	struct gp_gate_verdict verdict;
	struct gp_trace *trace;

	memset(site, 'x', sizeof(site));
	snprintf(site + times, sizeof(site) - (size_t)times, "%s", text);
	snprintf(json, sizeof(json),
		 "{\"format\": \"gpupool-trace\", \"version\": 1, "
		 "\"sites\": [\"%s\"], \"devices\": [{\"device\": 0, "
		 "\"events\": [{\"op\": \"alloc\", \"id\": 1, "
		 "\"size\": 3072, \"site\": 0}]}]}",
		 site);
	trace = trace_of(json);
	verdict = locate(trace, &result, 0);
	gp_trace_destroy(trace);
	return verdict;
}

START_TEST(test_the_line_of_the_program_is_named)
{
	static const struct {
		int times;
		const char *text;
		size_t length; /* of the file's name; 0: there is no file */
		uint64_t line;
	} rows[] = {
		{ 1, ":42 forward", 1, 42 },
		{ 1, ":42", 1, 42 },
		{ 1, ":42forward", 0, 0 },
		{ 1, ":42x", 0, 0 },
		{ 1, ": forward", 0, 0 },
		{ 0, "C:/a.py:7 f", 7, 7 },
		{ 1, ":8:9 f", 3, 9 },
		{ 1, "::9 f", 2, 9 },
		{ 1, ":999999999 f", 1, 999999999 },
		{ 1, ":1000000000 f", 0, 0 },
		{ 0, ":42 forward", 0, 0 },
		{ GP_SOURCE_TEXT - 1, ":1 f", GP_SOURCE_TEXT - 1, 1 },
		{ GP_SOURCE_TEXT, ":1 f", 0, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_gate_verdict verdict =
			locate_at(rows[i].times, rows[i].text);

		ck_assert_str_eq(verdict.about, "alloc of 3.00 KiB");
		ck_assert_uint_eq(strlen(verdict.source), rows[i].length);
		ck_assert_uint_eq(verdict.line, rows[i].line);
	}
}
END_TEST

/* ---- counters that are watched ---- */

static struct gp_stats counted;

static const struct gp_stats *stats_of(struct gp_allocator *allocator)
{
	(void)allocator;
	return &counted;
}

static void count(int64_t value)
{
	struct gp_stat *allocated =
		&counted.by_pool[GP_STAT_ALLOCATED_BYTES][GP_STAT_ALL];

	counted.num_alloc_retries = value;
	counted.num_ooms = value;
	allocated->current = value;
	allocated->peak = value;
}

/* Each has one bound; a counter that falls was reset by the program. */
START_TEST(test_when_a_counter_went_beyond_its_bound)
{
	static const struct {
		int64_t values[6], bound;
		/* The first event beyond the bound: if values before a reset
		 * count; if not; and since when it stays beyond. */
		uint64_t whole, first, since;
	} rows[] = {
		{ { 0, 1, 2, 2, 3, 3 }, 1, 2, 2, 2 },
		{ { 0, 1, 1, 1, 1, 1 },
		  1,
		  GP_EVENT_NONE,
		  GP_EVENT_NONE,
		  GP_EVENT_NONE },
		{ { 2, 2, 0, 0, 1, 2 }, 1, 0, 0, 5 },
		{ { 2, 0, 0, 0, 1, 1 }, 2, 4, GP_EVENT_NONE, GP_EVENT_NONE },
		{ { 2, 0, 2, 0, 2, 0 }, 5, 4, GP_EVENT_NONE, GP_EVENT_NONE },
		{ { 3, 0, 0, 0, 0, 0 }, 2, 0, 0, GP_EVENT_NONE },
		{ { 0, 0, 0, 0, 0, 9 }, 0, 5, 5, 5 },
	};
	static const char *const names[] = {
		"allocated_bytes.all.peak",
		"peak_allocated_bytes",
		"num_alloc_retries",
		"num_ooms",
	};
	const struct gp_allocator_ops ops = { .stats = stats_of };
	struct gp_allocator allocator = { .ops = &ops };

	number(BYTES);
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_limit limits[COUNT_OF(names)];
		struct gp_gate_verdict verdicts[COUNT_OF(names)];
		struct gp_gate_watch watch;

		for (size_t n = 0; n < COUNT_OF(names); n++) {
			limits[n] = (struct gp_limit){
				.number = gp_numbers_find(&numbers, names[n]),
			};
			verdicts[n] = (struct gp_gate_verdict){
				.limit = &limits[n],
				.bound = rows[i].bound,
				.is_worse = true,
			};
		}
		ck_assert(gp_gate_watch_begin(&watch, &numbers, verdicts,
					      COUNT_OF(names)));
		for (uint64_t event = 0; event < 6; event++) {
			count(rows[i].values[event]);
			gp_gate_watch_look(&watch, &allocator, event);
		}
		ck_assert_uint_eq(watch.event[GP_WATCH_RETRIES], rows[i].whole);
		ck_assert_uint_eq(watch.event[GP_WATCH_OOMS], rows[i].whole);
		ck_assert_uint_eq(watch.event[GP_WATCH_PEAK_ALLOCATED],
				  rows[i].first);
		ck_assert_uint_eq(watch.event[GP_WATCH_ALLOCATED],
				  rows[i].since);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_limits_have_bounds, 0 },
		{ test_limits_that_are_none, 0 },
		{ test_a_file_is_read, 0 },
		{ test_every_number_can_be_limited, 0 },
		{ test_files_that_are_refused, 0 },
		{ test_names_have_so_many_bytes, 0 },
		{ test_settings_have_so_many_bytes, 0 },
		{ test_the_bound_of_reserved_memory, 0 },
		{ test_a_file_lists_so_many_runs, 0 },
		{ test_a_file_has_so_many_bytes, 0 },
		{ test_a_baseline_comes_back_as_it_was_written, 0 },
		{ test_a_baseline_has_so_many_devices, 0 },
		{ test_damaged_baselines_are_refused, 0 },
		{ test_a_baseline_has_so_many_marks, 0 },
		{ test_a_baseline_is_what_it_says, 0 },
		{ test_a_block_that_was_not_split_is_another_action, 0 },
		{ test_where_runs_part, 0 },
		{ test_requests_are_counted, 0 },
		{ test_the_first_request_dropped_beyond_a_bound, 0 },
		{ test_the_line_of_the_program_is_named, 0 },
		{ test_when_a_counter_went_beyond_its_bound, 0 },
	};

	return suite_run("gate", tests, COUNT_OF(tests));
}
