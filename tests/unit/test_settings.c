/* SPDX-License-Identifier: MIT */
/*
 * PYTORCH_CUDA_ALLOC_CONF is accepted and refused as PyTorch's own parsers
 * did: tests/conform/conf.tsv, every row in every release that it names.
 */
#include "gpupool/knob.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define TABLE "tests/conform/conf.tsv"
#define GIB   (UINT64_C(1) << 30)

struct row {
	char *from, *to, *when, *before, *conf, *verdict, *answer, *after;
};

/* Splits at the tabs; a field that is not there is empty. */
static struct row split(char *line)
{
	char *fields[8];

	line[strcspn(line, "\n")] = 0;
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		fields[i] = line;
		line += strcspn(line, "\t");
		if (*line)
			*line++ = 0;
	}
	return (struct row){ fields[0], fields[1], fields[2], fields[3],
			     fields[4], fields[5], fields[6], fields[7] };
}

/* "\t" in a conf or an answer is a tab. */
static void unescape(char *text)
{
	for (char *at; (at = strstr(text, "\\t"));) {
		*at = '\t';
		memmove(at + 1, at + 2, strlen(at + 2) + 1);
	}
}

static uint64_t reserve_of(const struct gp_settings *s)
{
	return s->reserve_bytes
		       ? s->reserve_bytes
		       : (uint64_t)(s->reserve_fraction * 80 * (double)GIB);
}

static void print_divisions(const struct gp_settings *s, FILE *out)
{
	bool any = false;

	for (size_t i = 0; i < GP_DIVISIONS; i++)
		any |= s->divisions[i] != 0;
	for (size_t i = 0; any && i < GP_DIVISIONS; i++)
		fprintf(out, "%s%" PRIu64,
			i ? "," : " divisions=", s->divisions[i]);
}

/* What differs from the defaults, as the table writes it. */
static void print_settings(const struct gp_settings *s, FILE *out)
{
	if (s->max_split_size != GP_UNLIMITED)
		fprintf(out, " max_split_size=%" PRIu64, s->max_split_size);
	if (s->max_non_split_rounding != 20 * GIB / 1024)
		fprintf(out, " max_non_split_rounding=%" PRIu64,
			s->max_non_split_rounding);
	if (s->large_segment_size != 20 * GIB / 1024)
		fprintf(out, " large_segment_size=%" PRIu64,
			s->large_segment_size);
	if (s->gc_threshold != 0)
		fprintf(out, " gc_threshold=%g", s->gc_threshold);
	if (s->memory_fraction != 1)
		fprintf(out, " memory_fraction=%g", s->memory_fraction);
	print_divisions(s, out);
	if (s->expandable_segments)
		fprintf(out, " expandable=1");
	if (s->throw_on_oom)
		fprintf(out, " throw_on_oom=1");
	if (s->reserve_bytes || s->reserve_fraction > 0)
		fprintf(out, " reserve=%" PRIu64, reserve_of(s));
}

static char *text_of(const struct gp_settings *settings)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	putc(' ', out);
	print_settings(settings, out);
	fclose(out);
	return text;
}

static void check_settings(const struct gp_settings *settings,
			   const char *expected, const char *where)
{
	char *text = text_of(settings);
	const char *got = text + strspn(text, " ");

	if (strcmp(expected, "?") != 0)
		ck_assert_msg(!strcmp(got, expected),
			      "%s: settings \"%s\", expected \"%s\"", where,
			      got, expected);
	free(text);
}

static void check_row(const struct row *row, uint8_t release)
{
	struct gp_settings settings;
	struct gp_diag diag = { 0 };
	bool at_start = !strcmp(row->when, "start");
	bool accepted;
	char where[512];

	snprintf(where, sizeof(where), "2.%u %s \"%s\" \"%s\"", release,
		 row->when, row->before, row->conf);
	gp_settings_init(&settings, release);
	ck_assert_msg(gp_settings_parse(&settings, row->before, &diag) == GP_OK,
		      "%s: %s", where, diag.what);
	accepted = (at_start ? gp_settings_parse(&settings, row->conf, &diag)
			     : gp_settings_set(&settings, row->conf, &diag)) ==
		   GP_OK;
	ck_assert_msg(accepted == !strcmp(row->verdict, "yes"), "%s: %s", where,
		      accepted ? "accepted" : diag.what);
	if (!accepted) {
		ck_assert_msg(!strcmp(diag.what, row->answer),
			      "%s: \"%s\", expected \"%s\"", where, diag.what,
			      row->answer);
		ck_assert_msg(diag.hint[0], "%s: no hint", where);
	}
	if (accepted || !at_start)
		check_settings(&settings, accepted ? row->answer : row->after,
			       where);
}

START_TEST(test_as_pytorch_reads_it)
{
	char line[1024];
	FILE *file = fopen(TABLE, "r");
	size_t rows = 0;

	if (!file)
		skip_test("as_pytorch_reads_it", TABLE " is not here");
	while (fgets(line, sizeof(line), file)) {
		struct row row;

		if (*line == '#')
			continue;
		row = split(line);
		unescape(row.conf);
		unescape(row.answer);
		for (long r = strtol(row.from + 2, NULL, 10);
		     r <= strtol(row.to + 2, NULL, 10); r++)
			check_row(&row, (uint8_t)r);
		rows++;
	}
	fclose(file);
	ck_assert_uint_gt(rows, 400);
}
END_TEST

START_TEST(test_refused_settings_stay)
{
	struct gp_settings settings;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(gp_settings_parse(&settings,
					   "max_split_size_mb:64,colour:red",
					   &diag),
			 GP_INPUT);
	check_settings(&settings, "", "refused at start");
}
END_TEST

START_TEST(test_later_key_is_hinted)
{
	struct gp_settings settings;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, 5);
	ck_assert_int_eq(gp_settings_parse(&settings,
					   "max_non_split_rounding_mb:64",
					   &diag),
			 GP_INPUT);
	ck_assert_str_eq(diag.hint,
			 "max_non_split_rounding_mb exists from PyTorch 2.6 "
			 "on; this is 2.5 (--torch chooses another)");
}
END_TEST

START_TEST(test_async_is_refused)
{
	for (uint8_t release = 0; release <= GP_RELEASE_LAST; release++) {
		struct gp_settings settings;
		struct gp_diag diag = { 0 };

		gp_settings_init(&settings, release);
		ck_assert_int_eq(gp_settings_parse(&settings,
						   "backend:cudaMallocAsync",
						   &diag),
				 GP_INPUT);
		ck_assert_str_eq(diag.what,
				 "backend:cudaMallocAsync cannot be replayed");
	}
}
END_TEST

/* Blocks of releases 2.3, 2.4 and 2.15 for a request of so many bytes. */
START_TEST(test_rounding)
{
	const struct {
		const char *conf;
		uint64_t size, sizes[3];
	} rows[] = {
		{ "", 1, { 512, 512, 512 } },
		{ "", 513, { 1024, 1024, 1024 } },
		{ "roundup_power2_divisions:1", 1000, { 1000, 1024, 1024 } },
		{ "roundup_power2_divisions:1", 512, { 512, 512, 512 } },
		{ "roundup_power2_divisions:4", 2049, { 2560, 2560, 2560 } },
		{ "roundup_power2_divisions:4", 2048, { 2048, 2048, 2048 } },
		{ "roundup_power2_divisions:1048576",
		  (512 << 20) + 1,
		  { 536871424, 536871424, 536871424 } },
		{ "roundup_power2_divisions:[1:2,>:8]",
		  3 * GIB + 1,
		  { 3 * GIB + GIB / 4, 3 * GIB + GIB / 4, 3 * GIB + GIB / 4 } },
	};
	const uint8_t releases[] = { 3, 4, 15 };

	for (size_t i = 0; i < COUNT_OF(rows) * 3; i++) {
		struct gp_settings settings;
		struct gp_diag diag = { 0 };

		gp_settings_init(&settings, releases[i % 3]);
		ck_assert_int_eq(
			gp_settings_parse(&settings, rows[i / 3].conf, &diag),
			GP_OK);
		ck_assert_uint_eq(
			gp_settings_round(&settings, rows[i / 3].size),
			rows[i / 3].sizes[i % 3]);
	}
}
END_TEST

/* 512 * 2^55 is nothing in 64 bits, so that even small requests are rounded:
 * to the next power of two, there being no smaller step. */
START_TEST(test_more_divisions_than_bytes)
{
	struct gp_settings settings;
	struct gp_diag diag = { 0 };

	gp_settings_init(&settings, GP_RELEASE_LAST);
	ck_assert_int_eq(
		gp_settings_parse(&settings,
				  "roundup_power2_divisions:36028797018963968",
				  &diag),
		GP_OK);
	ck_assert_uint_eq(gp_settings_round(&settings, 1000), 1024);
	ck_assert_uint_eq(gp_settings_round(&settings, 1025), 2048);
}
END_TEST

START_TEST(test_table_is_whole)
{
	size_t count;
	const struct gp_knob *table = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++) {
		ck_assert(table[i].name && table[i].range);
		ck_assert(table[i].by_default && table[i].sentence);
		ck_assert_uint_le(table[i].since, GP_RELEASE_LAST);
		if (i)
			ck_assert_int_lt(
				strcmp(table[i - 1].name, table[i].name), 0);
		if (table[i].flag)
			ck_assert_ptr_eq(gp_knob_by_flag(table[i].flag),
					 &table[i]);
	}
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_as_pytorch_reads_it, 0 },
		{ test_refused_settings_stay, 0 },
		{ test_later_key_is_hinted, 0 },
		{ test_async_is_refused, 0 },
		{ test_rounding, 0 },
		{ test_more_divisions_than_bytes, 0 },
		{ test_table_is_whole, 0 },
	};

	return suite_run("settings", tests, COUNT_OF(tests));
}
