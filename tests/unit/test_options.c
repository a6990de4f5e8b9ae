/* SPDX-License-Identifier: MIT */
/* Flags: each value is stored in its member, and an unknown flag is named in an
 * error. */
#include "commands/options.h"

#include <string.h>

#include "commands/command.h"
#include "commands/nearest.h"
#include "suite.h"

#define MOST 8 /* arguments of a row, including the NULL after them */

/* Parses argv, which getopt_long reorders. */
static enum gp_status parse(struct gp_options *options,
			    const struct gp_command *command,
			    const char *const *words, struct gp_diag *diag)
{
	static char texts[MOST][64];
	static char *argv[MOST + 1];
	int argc = 0;

	*diag = (struct gp_diag){ 0 };
	for (; words[argc]; argc++) {
		snprintf(texts[argc], sizeof(texts[argc]), "%s", words[argc]);
		argv[argc] = texts[argc];
	}
	argv[argc] = NULL;
	return gp_options_parse(options, command, argc, argv, diag);
}

START_TEST(test_flags_and_operands_stand_in_any_order)
{
	static const char *const words[] = { "replay",	 "--format=json",
					     "a.pickle", "--capacity",
					     "80GiB",	 "-o",
					     "report",	 NULL };
	struct gp_options options;
	struct gp_diag diag;

	ck_assert_int_eq(parse(&options, &gp_replay_command, words, &diag),
			 GP_OK);
	ck_assert_uint_eq(options.format, GP_FORMAT_JSON);
	ck_assert_uint_eq(options.capacity, UINT64_C(80) << 30);
	ck_assert_str_eq(options.output, "report");
	ck_assert_uint_eq(options.operand_count, 1);
	ck_assert_str_eq(options.operands[0], "a.pickle");
	gp_options_release(&options);
}
END_TEST

START_TEST(test_flags_of_settings_become_a_conf)
{
	static const struct {
		const char *words[MOST];
		const char *knobs; /* NULL: none */
		size_t operands;
	} rows[] = {
		{ { "replay", "x" }, NULL, 1 },
		{ { "replay", "--max-split-mb", "128", "x" },
		  "max_split_size_mb:128",
		  1 },
		{ { "replay", "--max-split-mb=1", "--max-split-mb=2", "x" },
		  "max_split_size_mb:1,max_split_size_mb:2",
		  1 },
		{ { "replay", "--expandable-segments", "x" },
		  "expandable_segments:True",
		  1 },
		{ { "replay", "--expandable-segments", "false", "x" },
		  "expandable_segments:False",
		  1 },
		{ { "replay", "--expandable-segments=True", "False" },
		  "expandable_segments:True",
		  1 },
		{ { "replay", "x", "--expandable-segments" },
		  "expandable_segments:True",
		  1 },
		{ { "replay", "--gc-threshold", "0.8", "--", "--x" },
		  "garbage_collection_threshold:0.8",
		  1 },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_options options;
		struct gp_diag diag;

		ck_assert_int_eq(parse(&options, &gp_replay_command,
				       rows[i].words, &diag),
				 GP_OK);
		ck_assert_uint_eq(options.operand_count, rows[i].operands);
		if (rows[i].knobs)
			ck_assert_str_eq(options.knobs, rows[i].knobs);
		else
			ck_assert_ptr_null(options.knobs);
		gp_options_release(&options);
	}
}
END_TEST

START_TEST(test_settings_are_flags_by_the_names_of_pytorch)
{
	static const char *const words[] = {
		"replay",   "--max_split_size_mb=128",
		"a.pickle", "--garbage-collection-threshold",
		"0.8",	    "--json",
		NULL
	};
	struct gp_options options;
	struct gp_diag diag;

	ck_assert_int_eq(parse(&options, &gp_replay_command, words, &diag),
			 GP_OK);
	ck_assert_str_eq(options.knobs, "max_split_size_mb:128,"
					"garbage_collection_threshold:0.8");
	ck_assert_uint_eq(options.format, GP_FORMAT_JSON);
	ck_assert_uint_eq(options.operand_count, 1);
	gp_options_release(&options);
}
END_TEST

/* A program's own flags are left alone. */
START_TEST(test_what_follows_two_dashes_is_left_as_it_is)
{
	static const char *const words[] = { "record", "--", "python",
					     "--max_len", NULL };
	struct gp_options options;
	struct gp_diag diag;

	ck_assert_int_eq(parse(&options, &gp_record_command, words, &diag),
			 GP_OK);
	ck_assert_str_eq(options.operands[1], "--max_len");
	gp_options_release(&options);
}
END_TEST

START_TEST(test_pasted_settings_are_settings)
{
	static const struct {
		const char *text, *conf;
	} rows[] = {
		{ "expandable_segments:True", "expandable_segments:True" },
		{ "", "" },
		{ "\"\"", "" },
		{ "'max_split_size_mb:9'", "max_split_size_mb:9" },
		{ " PYTORCH_CUDA_ALLOC_CONF=a:b ", "a:b" },
		{ "PYTORCH_ALLOC_CONF='a:b, c:d'", "a:b, c:d" },
		{ "export  PYTORCH_CUDA_ALLOC_CONF=\"a:b\";", "a:b" },
		{ "PYTORCH_HIP_ALLOC_CONF=a:b; python x.py", "a:b" },
		{ "PYTORCH_CUDA_ALLOC_CONF=a:b python x.py", "a:b" },
		{ "PYTORCH_CUDA_ALLOC_CONF=", "" },
		/* unchanged: PyTorch reports what is wrong with them */
		{ "export a:b", "export a:b" },
		{ "\"a:b", "\"a:b" },
		{ "a:b, c:d", "a:b, c:d" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *words[] = { "replay", "--alloc-conf", rows[i].text,
					NULL };
		struct gp_options options;
		struct gp_diag diag;

		ck_assert_int_eq(
			parse(&options, &gp_replay_command, words, &diag),
			GP_OK);
		ck_assert_str_eq(options.alloc_conf, rows[i].conf);
		gp_options_release(&options);
	}
}
END_TEST

START_TEST(test_what_is_not_known_is_named)
{
	static const struct {
		const struct gp_command *command;
		const char *words[MOST];
		const char *what, *hint;
	} rows[] = {
		{ &gp_replay_command,
		  { "replay", "--no-such-flag" },
		  "there is no flag --no-such-flag",
		  "see: gpupool help replay" },
		{ &gp_replay_command,
		  { "replay", "--capacty", "3" },
		  "there is no flag --capacty",
		  "did you mean --capacity?" },
		{ &gp_replay_command,
		  { "replay", "--max-splits-mb=3" },
		  "there is no flag --max-splits-mb",
		  "did you mean --max-split-mb?" },
		{ &gp_info_command,
		  { "info", "--compare" },
		  "there is no flag --compare",
		  "see: gpupool help info" },
		{ &gp_replay_command,
		  { "replay", "--torch" },
		  "--torch needs an argument",
		  "see: gpupool help replay" },
		{ &gp_replay_command,
		  { "replay", "--timing=yes" },
		  "--timing takes no argument",
		  "see: gpupool help replay" },
		{ &gp_replay_command,
		  { "replay", "-x" },
		  "there is no flag -x",
		  "see: gpupool help replay" },
		{ &gp_replay_command,
		  { "replay", "--format", "xml" },
		  "--format xml: it takes "
		  "text|json|markdown|memory-summary|memory-summary-"
		  "abbreviated|html|"
		  "svg",
		  "see: gpupool help replay" },
		{ &gp_replay_command,
		  { "replay", "--capacity", "0" },
		  "--capacity 0: not a size",
		  "write a size such as 80GiB, a device such as h100, or "
		  "unlimited" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_options options;
		struct gp_diag diag;

		ck_assert_int_eq(
			parse(&options, rows[i].command, rows[i].words, &diag),
			GP_USAGE);
		ck_assert_str_eq(diag.file, rows[i].words[0]);
		ck_assert_str_eq(diag.what, rows[i].what);
		ck_assert_str_eq(diag.hint, rows[i].hint);
		gp_options_release(&options);
	}
}
END_TEST

START_TEST(test_a_format_of_convert)
{
	static const char *const given[] = { "convert", "--to", "binary",
					     NULL };
	static const char *const left[] = { "convert", NULL };
	struct gp_options options;
	struct gp_diag diag;

	ck_assert_int_eq(parse(&options, &gp_convert_command, given, &diag),
			 GP_OK);
	ck_assert_uint_eq(options.format, GP_FORMAT_BINARY);
	ck_assert_int_eq(parse(&options, &gp_convert_command, left, &diag),
			 GP_OK);
	ck_assert_uint_eq(options.format, GP_FORMAT_BY_NAME);
}
END_TEST

static void check_option(const struct gp_command *command, size_t index)
{
	const struct gp_option *row = gp_command_option(command, index);

	ck_assert_ptr_nonnull(row->name);
	ck_assert_int_eq(row->sentence[strlen(row->sentence) - 1], '.');
	ck_assert_uint_lt(row->offset, sizeof(struct gp_options));
	ck_assert(!row->argument == (row->type == GP_OPTION_FLAG));
	for (size_t i = 0; i < index; i++)
		ck_assert_str_ne(gp_command_option(command, i)->name,
				 row->name);
}

START_TEST(test_each_command_lists_its_options_and_help)
{
	for (size_t i = 0; gp_commands[i]; i++) {
		size_t count = 0;

		for (; gp_command_option(gp_commands[i], count); count++)
			check_option(gp_commands[i], count);
		ck_assert_uint_gt(count, 0);
		ck_assert_str_eq(
			gp_command_option(gp_commands[i], count - 1)->name,
			"help");
		ck_assert_ptr_null(
			gp_command_option(gp_commands[i], count + 1));
	}
}
END_TEST

START_TEST(test_suggestions_are_near)
{
	static const char *const words[] = { "replay", "info", "convert" };
	static const struct {
		const char *word, *near;
	} rows[] = {
		{ "repaly", "replay" },
		{ "inof", "info" },
		{ "conver", "convert" },
		{ "xyz", NULL },
		{ "", NULL },
		{ "benchmarking", NULL },
		{ "replaying", "replay" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *near =
			gp_nearest(rows[i].word, words, COUNT_OF(words));

		if (rows[i].near)
			ck_assert_str_eq(near, rows[i].near);
		else
			ck_assert_ptr_null(near);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_flags_and_operands_stand_in_any_order, 0 },
		{ test_flags_of_settings_become_a_conf, 0 },
		{ test_settings_are_flags_by_the_names_of_pytorch, 0 },
		{ test_what_follows_two_dashes_is_left_as_it_is, 0 },
		{ test_pasted_settings_are_settings, 0 },
		{ test_what_is_not_known_is_named, 0 },
		{ test_a_format_of_convert, 0 },
		{ test_each_command_lists_its_options_and_help, 0 },
		{ test_suggestions_are_near, 0 },
	};

	return suite_run("options", tests, COUNT_OF(tests));
}
