/* SPDX-License-Identifier: MIT */
/* The gate's verdict in each format: it tells what is wrong, and nothing
 * else. */
#include "report/gate/gate_report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

static struct gp_numbers numbers;

static void write_text(const struct gp_gate_report *report, FILE *out)
{
	gp_report_gate_text(report, &(struct gp_report_style){ 0 }, out);
}

static void write_github(const struct gp_gate_report *report, FILE *out)
{
	gp_report_gate_github(report, &(struct gp_report_style){ 0 }, out);
}

/* A report on a file with one run, on a device with a limit. There are items
 * beyond the ends of its lists, which are worse or not. */
static char *report_of(void (*write)(const struct gp_gate_report *report,
				     FILE *out),
		       enum gp_status status, bool is_worse_behind)
{
	static struct gp_limit limit;
	const struct gp_gate_run run = { .name = "run", .trace = "t" };
	const struct gp_gate gate = { .path = "gate.json",
				      .baseline_path = "base.json" };
	struct gp_gate_verdict verdicts[] = {
		{ .limit = &limit,
		  .event = GP_EVENT_NONE,
		  .is_worse = status == GP_FAILED },
		{ .limit = &limit,
		  .event = GP_EVENT_NONE,
		  .is_worse = is_worse_behind,
		  .is_better = !is_worse_behind },
	};
	const struct gp_record now = { .device_count = 0 };
	struct gp_gate_device devices[] = {
		{ .verdicts = verdicts, .verdict_count = 1 },
		{ .verdicts = verdicts + 1, .verdict_count = is_worse_behind },
	};
	const struct gp_gate_result results[] = {
		{ .run = &run,
		  .now = &now,
		  .baseline = &now,
		  .status = status,
		  .diag = { .what = "the trace is torn" },
		  .devices = devices,
		  .device_count = 1 },
		{ .run = &run,
		  .now = &now,
		  .baseline = &now,
		  .status = is_worse_behind ? GP_FAILED : GP_OK,
		  .devices = devices + 1,
		  .device_count = 1 },
	};
	const struct gp_gate_file files[] = {
		{ .gate = &gate, .results = results, .count = 1 },
		{ .gate = &gate,
		  .results = results + 1,
		  .count = is_worse_behind },
	};
	const struct gp_gate_report report = { &numbers, files, 1 };
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	limit.number = gp_numbers_find(&numbers, "dropped");
	write(&report, out);
	fclose(out);
	return text;
}

/* GitHub's annotations, without the text that follows them. */
static void write_annotations(const struct gp_gate_report *report, FILE *out)
{
	size_t length, text_length;
	char *all, *text;
	FILE *whole = open_memstream(&all, &length);
	FILE *only_text = open_memstream(&text, &text_length);

	write_github(report, whole);
	write_text(report, only_text);
	fclose(whole);
	fclose(only_text);
	fwrite(all, 1, length - text_length, out);
	free(all);
	free(text);
}

START_TEST(test_what_is_in_a_list_is_told_and_nothing_else)
{
	static void (*const writers[])(const struct gp_gate_report *report,
				       FILE *out) = {
		write_text,
		write_annotations,
		gp_report_gate_json,
		gp_report_gate_junit,
		gp_report_gate_markdown,
		gp_report_gate_codequality,
	};

	for (size_t i = 0; i < COUNT_OF(writers); i++) {
		char *clean = report_of(writers[i], GP_OK, false);
		char *behind = report_of(writers[i], GP_OK, true);
		char *first = report_of(writers[i], GP_FAILED, false);
		char *torn = report_of(writers[i], GP_INPUT, false);

		ck_assert_str_eq(clean, behind);
		ck_assert_str_ne(clean, first);
		ck_assert(!strstr(first, "the trace is torn"));
		ck_assert(strstr(torn, "the trace is torn"));
		free(clean);
		free(behind);
		free(first);
		free(torn);
	}
}
END_TEST

static int times_in(const char *text, const char *word)
{
	int times = 0;

	for (; (text = strstr(text, word)); text++)
		times++;
	return times;
}

static const char *run_name = "run";

/* A report on a file of several runs, each with one number and one limit. */
static char *report_of_runs(void (*write)(const struct gp_gate_report *report,
					  FILE *out),
			    const enum gp_status *statuses, size_t count,
			    enum gp_limit_kind kind)
{
	const struct gp_limit limit = {
		.number = gp_numbers_find(&numbers, "dropped"), .kind = kind
	};
	const struct gp_gate_run run = { .name = run_name, .trace = "t" };
	const struct gp_gate gate = { .path = "gate.json",
				      .baseline_path = "base.json" };
	const struct gp_record now = { .device_count = 0 };
	struct gp_gate_verdict verdicts[3];
	struct gp_gate_device devices[3];
	struct gp_gate_result results[3];
	const struct gp_gate_file file = { &gate, results, count, NULL };
	const struct gp_gate_report report = { &numbers, &file, 1 };
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	ck_assert_uint_le(count, COUNT_OF(results));
	for (size_t i = 0; i < count; i++) {
		verdicts[i] = (struct gp_gate_verdict){
			.limit = &limit,
			.event = GP_EVENT_NONE,
			.is_worse = statuses[i] == GP_FAILED,
		};
		devices[i] = (struct gp_gate_device){ .verdicts = &verdicts[i],
						      .verdict_count = 1 };
		results[i] = (struct gp_gate_result){
			.run = &run,
			.now = &now,
			.baseline = &now,
			.status = statuses[i],
			.devices = &devices[i],
			.device_count = statuses[i] < GP_INPUT,
		};
	}
	write(&report, out);
	fclose(out);
	return text;
}

START_TEST(test_runs_are_counted_by_what_came_of_them)
{
	static const struct {
		size_t count;
		enum gp_status statuses[3];
		const char *text, *markdown, *junit;
	} rows[] = {
		{ 1,
		  { GP_OK },
		  "gate.json: 1 run, all limits kept",
		  "memory: 1 run, all limits kept\n",
		  "tests=\"1\" failures=\"0\" errors=\"0\"" },
		{ 2,
		  { GP_FAILED, GP_OK },
		  "gate.json: 1 of 2 runs got worse than the limits allow",
		  "memory: 1 of 2 runs got worse than the limits allow\n",
		  "tests=\"2\" failures=\"1\" errors=\"0\"" },
		{ 2,
		  { GP_OK, GP_INPUT },
		  "gate.json: 1 of 2 runs could not be judged, 0 got worse",
		  "memory: 1 of 2 runs could not be judged\n",
		  "tests=\"2\" failures=\"0\" errors=\"1\"" },
		{ 3,
		  { GP_FAILED, GP_SYSTEM, GP_FAILED },
		  "gate.json: 1 of 3 runs could not be judged, 2 got worse",
		  "memory: 1 of 3 runs could not be judged, 2 of 3 runs got "
		  "worse than the limits allow\n",
		  "tests=\"3\" failures=\"2\" errors=\"1\"" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const enum gp_status *statuses = rows[i].statuses;
		char *text = report_of_runs(write_text, statuses, rows[i].count,
					    GP_LIMIT_VALUE);
		char *markdown =
			report_of_runs(gp_report_gate_markdown, statuses,
				       rows[i].count, GP_LIMIT_VALUE);
		char *junit = report_of_runs(gp_report_gate_junit, statuses,
					     rows[i].count, GP_LIMIT_VALUE);

		ck_assert_msg(strstr(text, rows[i].text), "%s", text);
		ck_assert_msg(strstr(markdown, rows[i].markdown), "%s",
			      markdown);
		ck_assert_msg(strstr(junit, rows[i].junit), "%s", junit);
		free(text);
		free(markdown);
		free(junit);
	}
}
END_TEST

/* The file's path within its repository, however it was named. */
START_TEST(test_a_path_begins_at_the_repository)
{
	static const char *const rows[][2] = {
		{ "gate.json", "gate.json" },
		{ "./gate.json", "gate.json" },
		{ "././a/gate.json", "a/gate.json" },
		{ ".//.//gate.json", "gate.json" },
		{ "../gate.json", "../gate.json" },
		{ ".gate.json", ".gate.json" },
		{ "a/./gate.json", "a/./gate.json" },
		{ "/gate.json", "/gate.json" },
	};
	char here[4096], path[8192];
	struct gp_gate gate = { .path = path };

	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		snprintf(path, sizeof(path), "%s", rows[i][0]);
		ck_assert_str_eq(gp_gate_repository_path(&gate), rows[i][1]);
	}
	snprintf(path, sizeof(path), "%s/a/gate.json", here);
	ck_assert_str_eq(gp_gate_repository_path(&gate), "a/gate.json");
	snprintf(path, sizeof(path), "%s//gate.json", here);
	ck_assert_str_eq(gp_gate_repository_path(&gate), "gate.json");
	snprintf(path, sizeof(path), "%sx/gate.json", here);
	ck_assert_str_eq(gp_gate_repository_path(&gate), path);
}
END_TEST

START_TEST(test_a_change_has_its_sign)
{
	static const struct {
		const char *name;
		int64_t now;
		const char *text;
	} rows[] = {
		{ "fragmentation", 500000, "+0.00 points" },
		{ "fragmentation", 512300, "+1.23 points" },
		{ "fragmentation", 487700, "-1.23 points" },
		{ "dropped", 500000, "+0" },
		{ "dropped", 500001, "+1" },
		{ "dropped", 499999, "-1" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const struct gp_number *number =
			&numbers.items[gp_numbers_find(&numbers, rows[i].name)];
		const struct gp_reading from = { true, 500000 };
		const struct gp_reading to = { true, rows[i].now };
		char text[2 * GP_GATE_TEXT];

		gp_gate_change_text(number, &from, &to, text);
		ck_assert_msg(
			!strncmp(text, rows[i].text, strlen(rows[i].text)),
			"%s: %s", rows[i].text, text);
	}
}
END_TEST

/* Numbers better than before are told if all limits are kept. */
START_TEST(test_what_is_better_is_told)
{
	const struct gp_limit limit = { .number = gp_numbers_find(&numbers,
								  "dropped") };
	const struct gp_gate_run run = { .name = "run", .trace = "t" };
	const struct gp_gate gate = { .path = "gate.json",
				      .baseline_path = "base.json" };
	const struct gp_record now = { .device_count = 0 };

	for (int better = 0; better < 8; better++) {
		struct gp_gate_verdict verdicts[3];
		struct gp_gate_device device = { .verdicts = verdicts,
						 .verdict_count = 3 };
		const struct gp_gate_result result = {
			.run = &run,
			.now = &now,
			.baseline = &now,
			.devices = &device,
			.device_count = 1,
		};
		const struct gp_gate_file file = { &gate, &result, 1, NULL };
		const struct gp_gate_report report = { &numbers, &file, 1 };
		size_t length;
		char *text;
		FILE *out = open_memstream(&text, &length);

		for (int i = 0; i < 3; i++)
			verdicts[i] = (struct gp_gate_verdict){
				.limit = &limit,
				.event = GP_EVENT_NONE,
				.baseline = { true, 9 },
				.now = { true, 9 - i },
				.is_better = better >> i & 1,
			};
		write_text(&report, out);
		fclose(out);
		ck_assert_int_eq(times_in(text, "dropped is better: "),
				 __builtin_popcount((unsigned)better));
		free(text);
	}
}
END_TEST

/* The advice depends on the kind of the limit, if there is one to change. */
START_TEST(test_what_to_do_is_told_where_a_limit_was_passed)
{
	static const struct {
		enum gp_status status;
		enum gp_limit_kind kind;
		int update, change; /* how often each advice is given */
	} rows[] = {
		{ GP_OK, GP_LIMIT_VALUE, 0, 0 },
		{ GP_INPUT, GP_LIMIT_VALUE, 0, 0 },
		{ GP_FAILED, GP_LIMIT_VALUE, 0, 1 },
		{ GP_FAILED, GP_LIMIT_BY, 1, 0 },
	};
	static void (*const writers[])(const struct gp_gate_report *report,
				       FILE *out) = { write_text,
						      gp_report_gate_markdown };

	for (size_t i = 0; i < COUNT_OF(rows); i++)
		for (size_t k = 0; k < COUNT_OF(writers); k++) {
			char *text = report_of_runs(writers[k], &rows[i].status,
						    1, rows[i].kind);

			ck_assert_int_eq(times_in(text, "check --update"),
					 rows[i].update);
			ck_assert_int_eq(times_in(text, "change the limit"),
					 rows[i].change);
			free(text);
		}
}
END_TEST

/* On a narrow terminal, each number begins after two blanks and continues after
 * four. */
START_TEST(test_changes_are_wrapped)
{
	const struct gp_gate_run run = { .name = "run" };
	const struct gp_gate gate = { .path = "gate.json",
				      .baseline_path = "base.json" };
	struct gp_reading *then = calloc(numbers.count, sizeof(*then));
	struct gp_reading *now = calloc(numbers.count, sizeof(*now));
	struct gp_record_device old_device = { .readings = then };
	struct gp_record_device new_device = { .readings = now };
	const struct gp_record old = { .devices = &old_device,
				       .device_count = 1 };
	const struct gp_record new = { .devices = &new_device,
				       .device_count = 1 };
	const struct gp_gate_result result = { .run = &run,
					       .now = &new,
					       .baseline = &old };
	const struct gp_gate_file file = { &gate, &result, 1, NULL };
	size_t length, begin = 0, more = 0;
	char *text, *rest = NULL;
	FILE *out = open_memstream(&text, &length);

	for (size_t i = 0; i < numbers.count; i++) {
		then[i] = (struct gp_reading){ true, 1000 };
		now[i] = (struct gp_reading){ true, 987654321 };
	}
	gp_report_update(&file, &numbers,
			 &(struct gp_report_style){ .columns = 60 }, out);
	fclose(out);
	for (char *line = strtok_r(text, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest)) {
		size_t blanks = strspn(line, " ");

		begin += blanks == 2 && strchr(line, ':');
		more += blanks == 4;
		ck_assert_msg(blanks == 0 || blanks == 2 || blanks == 4, "%s",
			      line);
	}
	ck_assert_uint_eq(begin, numbers.count);
	ck_assert_uint_gt(more, 0);
	free(text);
	free(then);
	free(now);
}
END_TEST

static void write_narrow(const struct gp_gate_report *report, FILE *out)
{
	gp_report_gate_text(report, &(struct gp_report_style){ .columns = 60 },
			    out);
}

/* The first line of a run continues after four blanks, whatever its outcome. */
START_TEST(test_a_run_goes_on_behind_four_blanks)
{
	static const enum gp_status statuses[] = { GP_OK, GP_FAILED, GP_INPUT };

	run_name = "the run of a name that is longer than a line of so few "
		   "columns may be";
	for (size_t i = 0; i < COUNT_OF(statuses); i++) {
		char *text = report_of_runs(write_narrow, &statuses[i], 1,
					    GP_LIMIT_VALUE);
		const char *at = strstr(text, "the run of");

		ck_assert_ptr_nonnull(at);
		at = strchr(at, '\n');
		ck_assert_msg(at && strspn(at + 1, " ") == 4, "%s", text);
		free(text);
	}
	run_name = "run";
}
END_TEST

/* The Markdown for a single number. */
static char *markdown_of(const char *name, struct gp_gate_verdict verdict)
{
	const struct gp_limit limit = { .number = gp_numbers_find(&numbers,
								  name) };
	struct gp_gate_device device = { .verdicts = &verdict,
					 .verdict_count = 1 };
	const struct gp_gate_run run = { .name = "run" };
	const struct gp_gate_result result = {
		.run = &run,
		.status = GP_FAILED,
		.devices = &device,
		.device_count = 1,
	};
	const struct gp_gate gate = { .path = "gate.json",
				      .baseline_path = "base.json" };
	const struct gp_gate_file file = { &gate, &result, 1, NULL };
	const struct gp_gate_report report = { &numbers, &file, 1 };
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);

	verdict.limit = &limit;
	gp_report_gate_markdown(&report, out);
	fclose(out);
	return text;
}

/* In the table of all numbers, and in the table of those that are worse. */
START_TEST(test_each_number_has_its_rows)
{
	char *ok = markdown_of("dropped", (struct gp_gate_verdict){ 0 });
	char *worse = markdown_of("dropped",
				  (struct gp_gate_verdict){ .is_worse = true });

	ck_assert_msg(times_in(ok, "| ok | `run` | `dropped` |") == 1 &&
			      times_in(ok, "| worse |") == 0,
		      "%s", ok);
	ck_assert_msg(
		times_in(worse, "| ok |") == 0 &&
			times_in(worse, "| worse | `run` | `dropped` |") == 2,
		"%s", worse);
	free(ok);
	free(worse);
}
END_TEST

/* Where it shows first, or what was done there, or both. */
START_TEST(test_a_place_is_as_much_as_is_known)
{
	static const struct {
		const char *where, *about, *told;
	} rows[] = {
		{ "step 2", "alloc", "`step 2: alloc`" },
		{ "step 2", "", "`step 2`" },
		{ "", "alloc", "`alloc`" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_gate_verdict verdict = { .is_worse = true };
		char *text;

		snprintf(verdict.where, sizeof(verdict.where), "%s",
			 rows[i].where);
		snprintf(verdict.about, sizeof(verdict.about), "%s",
			 rows[i].about);
		text = markdown_of("dropped", verdict);
		ck_assert_msg(strstr(text, rows[i].told), "%s", text);
		free(text);
	}
}
END_TEST

/* Bars need bytes that the baseline has, too, and of which 30 times as many can
 * be represented. filled: how many cells of both bars are filled. */
START_TEST(test_bytes_are_drawn_as_bars)
{
	static const char *const bytes = "peak_reserved_bytes";
	static const struct {
		const char *name;
		struct gp_reading from, to;
		int filled; /* -1: there are no bars */
	} rows[] = {
		{ bytes, { true, 15 }, { true, 30 }, 45 },
		{ bytes, { true, 30 }, { true, 15 }, 45 },
		{ bytes, { true, 1 }, { true, 300 }, 31 },
		{ bytes, { true, 0 }, { true, 1 }, 30 },
		{ bytes, { true, 1 }, { true, 0 }, -1 },
		{ bytes, { true, -1 }, { true, 1 }, -1 },
		{ bytes, { true, 1 }, { true, -1 }, -1 },
		{ bytes, { false, 1 }, { true, 1 }, -1 },
		{ bytes, { true, 1 }, { false, 1 }, -1 },
		{ "dropped", { true, 1 }, { true, 1 }, -1 },
		{ bytes, { true, 1 }, { true, INT64_MAX / 30 - 1 }, 31 },
		{ bytes, { true, 1 }, { true, INT64_MAX / 30 }, -1 },
		{ bytes, { true, INT64_MAX / 30 - 1 }, { true, 1 }, 31 },
		{ bytes, { true, INT64_MAX / 30 }, { true, 1 }, -1 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *text = markdown_of(
			rows[i].name,
			(struct gp_gate_verdict){ .is_worse = true,
						  .baseline = rows[i].from,
						  .now = rows[i].to });
		bool has_bars = strstr(text, "```text\nrun: ") != NULL;
		int filled = times_in(text, "█");

		ck_assert_int_eq(filled + times_in(text, "░"),
				 has_bars ? 60 : 0);
		ck_assert_msg(has_bars == (rows[i].filled >= 0) &&
				      filled == (has_bars ? rows[i].filled : 0),
			      "%zu: %s", i, text);
		free(text);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_is_in_a_list_is_told_and_nothing_else, 0 },
		{ test_runs_are_counted_by_what_came_of_them, 0 },
		{ test_a_path_begins_at_the_repository, 0 },
		{ test_a_change_has_its_sign, 0 },
		{ test_what_is_better_is_told, 0 },
		{ test_what_to_do_is_told_where_a_limit_was_passed, 0 },
		{ test_changes_are_wrapped, 0 },
		{ test_a_run_goes_on_behind_four_blanks, 0 },
		{ test_each_number_has_its_rows, 0 },
		{ test_a_place_is_as_much_as_is_known, 0 },
		{ test_bytes_are_drawn_as_bars, 0 },
	};
	int status;

	gp_numbers_init(&numbers);
	status = suite_run("gate_report", tests, COUNT_OF(tests));
	gp_numbers_release(&numbers);
	return status;
}
