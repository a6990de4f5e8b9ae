/* SPDX-License-Identifier: MIT */
/* The drawing of memory over a run. */
#include "report/drawing.h"

#include <stdlib.h>
#include <string.h>

#include "suite.h"

#define MIB (UINT64_C(1) << 20)

/* The caller frees it. */
static char *draw(const struct gp_drawing *drawing, bool ascii,
		  unsigned columns)
{
	struct gp_report_style style = { .ascii = ascii, .columns = columns };
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	gp_drawing_print(drawing, &style, out);
	fclose(out);
	return text;
}

static struct gp_timeline some_timeline(void)
{
	return (struct gp_timeline){
		.reserved = { 4 * MIB, 8 * MIB, 8 * MIB, 8 * MIB },
		.allocated = { 4 * MIB, 4 * MIB, 8 * MIB, 0 },
		.bins = 4,
	};
}

START_TEST(test_areas_axis_and_peak)
{
	struct gp_timeline timeline = some_timeline();
	struct gp_drawing drawing = { &timeline, 400, 200, "event 200", 0, 2 };
	char *text = draw(&drawing, true, 36);

	ck_assert_str_eq(text, "  8.00 MiB |      ......######......\n"
			       "  4.00 MiB |##################......\n"
			       "       0 B +------------^-----------\n"
			       "            0    peak: event 200 400\n"
			       "            # allocated  . reserved, not "
			       "allocated\n");
	free(text);
}
END_TEST

/* Counts columns rather than bytes: continuation bytes of UTF-8 take none. */
static unsigned widest(const char *text)
{
	unsigned width = 0, most = 0;

	for (; *text; text++) {
		if (*text == '\n')
			width = 0;
		else if ((*text & 0xc0) != 0x80)
			width++;
		most = width > most ? width : most;
	}
	return most;
}

START_TEST(test_no_line_is_wider_than_the_terminal)
{
	static const unsigned columns[] = { 60, 80, 120, 200 };
	struct gp_timeline timeline = some_timeline();
	struct gp_drawing drawing = { &timeline,       1000000, 999999,
				      "event 999,999", 0,	8 };

	for (size_t i = 0; i < COUNT_OF(columns); i++)
		for (int ascii = 0; ascii < 2; ascii++) {
			char *text = draw(&drawing, ascii, columns[i]);

			ck_assert_uint_le(widest(text), columns[i]);
			free(text);
		}
}
END_TEST

START_TEST(test_ascii_is_ascii)
{
	struct gp_timeline timeline = some_timeline();
	struct gp_drawing drawing = { &timeline, 400, 200, "event 200", 0, 8 };
	char *text = draw(&drawing, true, 80);

	for (const char *at = text; *at; at++)
		ck_assert_int_gt(*at, 0);
	free(text);
}
END_TEST

START_TEST(test_the_largest_value_of_a_column_shows)
{
	struct gp_timeline timeline = { .bins = GP_BINS };
	struct gp_drawing drawing = {
		&timeline, GP_BINS, 100, "event 100", 0, 4
	};
	char *text;

	timeline.reserved[100] = MIB;
	timeline.allocated[100] = MIB;
	text = draw(&drawing, true, 60);
	ck_assert_ptr_nonnull(strchr(text, '#'));
	free(text);
}
END_TEST

START_TEST(test_nothing_is_not_drawn)
{
	struct gp_timeline timeline = { 0 };
	struct gp_drawing drawing = { .timeline = &timeline };
	char *text = draw(&drawing, false, 80);

	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_areas_axis_and_peak, 0 },
		{ test_no_line_is_wider_than_the_terminal, 0 },
		{ test_ascii_is_ascii, 0 },
		{ test_the_largest_value_of_a_column_shows, 0 },
		{ test_nothing_is_not_drawn, 0 },
	};

	return suite_run("drawing", tests, COUNT_OF(tests));
}
