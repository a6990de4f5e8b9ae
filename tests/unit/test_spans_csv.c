/* SPDX-License-Identifier: MIT */
/* minimalloc's CSV, read and written. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "study/floor/floor.h"
#include "suite.h"

static struct gp_spans spans_of(const char *text)
{
	struct gp_spans spans;
	struct gp_diag diag = { 0 };

	ck_assert_msg(gp_spans_parse(text, strlen(text), &spans, &diag) ==
			      GP_OK,
		      "%s: %s", diag.record, diag.what);
	return spans;
}

/* The text is read, written and read again. */
static char *written(const char *text, const uint64_t *offsets)
{
	struct gp_spans spans = spans_of(text);
	char *bytes = NULL;
	size_t n;
	FILE *out = open_memstream(&bytes, &n);

	gp_spans_write(&spans, offsets, NULL, out);
	fclose(out);
	gp_spans_release(&spans);
	return bytes;
}

START_TEST(columns_come_in_any_order)
{
	struct gp_spans spans = spans_of("lower,size,id,upper\r\n"
					 "6,18,one,12\r\n5,15,zero,10\r\n");

	ck_assert_uint_eq(spans.count, 2);
	ck_assert_str_eq(spans.names[0], "one");
	ck_assert_uint_eq(spans.items[0].lower, 6);
	ck_assert_uint_eq(spans.items[0].upper, 12);
	ck_assert_uint_eq(spans.items[0].size, 18);
	ck_assert_uint_eq(spans.items[0].align, 1);
	gp_spans_release(&spans);
}
END_TEST

START_TEST(end_is_the_last_time_where_upper_is_behind_it)
{
	struct gp_spans spans = spans_of("start,size,buffer,end,gaps\n"
					 "6,18,1,11,7-8\n");

	ck_assert_uint_eq(spans.items[0].upper, 12);
	ck_assert_uint_eq(spans.gaps[0].lower, 7);
	ck_assert_uint_eq(spans.gaps[0].upper, 9);
	gp_spans_release(&spans);
}
END_TEST

START_TEST(what_was_read_is_written_with_its_offsets)
{
	static const struct {
		const char *in, *out;
	} rows[] = {
		{ "id,lower,upper,size\n0,5,10,15\n1,6,12,18\n",
		  "id,lower,upper,size,offset\n0,5,10,15,1\n1,6,12,18,21\n" },
		{ "id,lower,upper,size,alignment,hint,gaps\n"
		  "0,5,10,15,1,0,\n1,6,12,18,2,-1,7-8 9-10@1:17\n",
		  "id,lower,upper,size,alignment,hint,gaps,offset\n"
		  "0,5,10,15,1,0,,1\n1,6,12,18,2,-1,7-8 9-10@1:17,21\n" },
		/* The largest numbers of gaps, and the largest numbers. */
		{ "id,lower,upper,size,alignment,gaps\n"
		  "0,2,9,4,17592186044416,2-5 5-9@0:4\n"
		  "1,0,4611686018427387904,17592186044416,1,\n",
		  "id,lower,upper,size,alignment,gaps,offset\n"
		  "0,2,9,4,17592186044416,2-5 5-9@0:4,1\n"
		  "1,0,4611686018427387904,17592186044416,1,,21\n" },
		/* The offsets of an answer are not part of the question. */
		{ "id,lower,upper,size,offset\nLittle,5,10,15,99\nBig,6,12,18,"
		  "0\n",
		  "id,lower,upper,size,offset\nLittle,5,10,15,1\n"
		  "Big,6,12,18,21\n" },
	};
	const uint64_t offsets[] = { 1, 21 };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		char *out = written(rows[i].in, offsets);

		ck_assert_str_eq(out, rows[i].out);
		free(out);
	}
}
END_TEST

START_TEST(what_is_wrong_is_told_with_its_line)
{
	static const struct {
		const char *text, *record, *what;
	} rows[] = {
		{ "", "line 1", "there is no column upper" },
		{ "id,lower,size\n", "line 1", "there is no column upper" },
		{ "lower,upper,size\n", "line 1", "there is no column id" },
		{ "id,id,lower,upper,size\n", "line 1",
		  "the column appears twice: id" },
		{ "id,lower,upper,end,size\n", "line 1",
		  "the columns upper and end mean the same: only one is "
		  "allowed" },
		{ "id,lower,upper,size\na,b,c,d\n", "line 2",
		  "this number is not valid here: b" },
		{ "id,lower,upper,size\n1,2,3,0\n", "line 2",
		  "this number is not valid here: 0" },
		{ "id,lower,upper,size\n1,2,3,99999999999999999999\n", "line 2",
		  "this number is not valid here: 99999999999999999999" },
		{ "id,lower,upper,size\n1,2,3\n", "line 2",
		  "there are fewer cells than columns: 1,2,3" },
		{ "id,lower,upper,size\n1,2,3,4,5\n", "line 2",
		  "there are more cells than columns: 1,2,3,4,5" },
		{ "id,lower,upper,size\n\nx,3,3,4\n", "line 3",
		  "it ends before it begins: x" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,1-2-3\n", "line 2",
		  "that is not a gap such as 7-9: 1-2-3" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,A-B\n", "line 2",
		  "that is not a gap such as 7-9: A-B" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,3-5 4-6\n", "line 2",
		  "gap 2 is not within its span" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,3-5@0:5\n", "line 2",
		  "gap 1 is not within its span" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,1-5\n", "line 2",
		  "gap 1 is not within its span" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,3-10\n", "line 2",
		  "gap 1 is not within its span" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,3-3\n", "line 2",
		  "that is not a gap such as 7-9: 3-3" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,3-3@0:2\n", "line 2",
		  "that is not a gap such as 7-9: 3-3@0:2" },
		{ "id,lower,upper,size\n1,,3,4\n", "line 2",
		  "this number is not valid here: " },
		{ "id,lower,upper,size,alignment\n1,2,3,4,0\n", "line 2",
		  "this number is not valid here: 0" },
		{ "id,lower,upper,size,alignment\n1,2,3,4,-\n", "line 2",
		  "this number is not valid here: -" },
		{ "id,lower,upper,size,gaps\n1,2,9,4,3-5@2:2\n", "line 2",
		  "that is not a gap such as 7-9: 3-5@2:2" },
		{ "id,lower,upper,size\n1,4611686018427387905,9,4\n", "line 2",
		  "this number is not valid here: 4611686018427387905" },
		{ "id,lower,upper,size\n1,2,9,17592186044417\n", "line 2",
		  "this number is not valid here: 17592186044417" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_spans spans;
		struct gp_diag diag = { 0 };

		ck_assert_int_eq(gp_spans_parse(rows[i].text,
						strlen(rows[i].text), &spans,
						&diag),
				 GP_INPUT);
		ck_assert_str_eq(diag.record, rows[i].record);
		ck_assert_str_eq(diag.what, rows[i].what);
	}
}
END_TEST

/* A cell of any length is shown, up to its first 64 characters. */
START_TEST(a_long_cell_is_told_in_part)
{
	static const char begin[] = "id,lower,upper,size\n1,";

	for (size_t n = 60; n < 70; n++) {
		char text[256], what[256];
		struct gp_spans spans;
		struct gp_diag diag = { 0 };
		int shown = n < 64 ? (int)n : 64;

		snprintf(text, sizeof(text), "%s%0*d,3,4\n", begin, (int)n, 0);
		text[sizeof(begin) - 1] = 'x';
		ck_assert_int_eq(
			gp_spans_parse(text, strlen(text), &spans, &diag),
			GP_INPUT);
		snprintf(what, sizeof(what),
			 "this number is not valid here: x%0*d", shown - 1, 0);
		ck_assert_str_eq(diag.what, what);
	}
}
END_TEST

/* Only files that can be read twice; nothing is read from a pipe. */
START_TEST(a_pipe_is_no_csv)
{
	static const char csv[] = "id,lower,upper,size\n1,2,3,4\n";
	char folder[] = "/tmp/gpupool-XXXXXX", path[64];
	int pipe, waiting = 0;

	ck_assert(mkdtemp(folder) != NULL);
	snprintf(path, sizeof(path), "%s/pipe", folder);
	ck_assert(!gp_spans_is_csv(folder) && !gp_spans_is_csv(path));
	ck_assert(!mkfifo(path, 0600));
	pipe = open(path, O_RDWR);
	ck_assert_int_eq(write(pipe, csv, sizeof(csv) - 1), sizeof(csv) - 1);
	ck_assert(!gp_spans_is_csv(path));
	ck_assert(!ioctl(pipe, FIONREAD, &waiting));
	ck_assert_int_eq(waiting, sizeof(csv) - 1);
	close(pipe);
	unlink(path);
	rmdir(folder);
}
END_TEST

/* ---- any columns ---- */

static const struct {
	const char *name;
	char is; /* what a column has; '-': nothing that is needed */
} columns[] = {
	{ "id", 'i' },	   { "buffer", 'i' }, { "buffer_id", 'i' },
	{ "lower", 'l' },  { "start", 'l' },  { "begin", 'l' },
	{ "upper", 'u' },  { "end", 'u' },    { "size", 's' },
	{ "offset", '-' }, { "hint", 'h' },   { "alignment", 'a' },
	{ "x", '-' },
};

/* Two lines with some of the columns; is_there: by what they have. */
static size_t write_columns(char text[512], uint64_t seed, bool is_there[128])
{
	char head[256] = "", row[256] = "";
	size_t n = 0, m = 0;

	for (uint64_t count = 2 + next_random(&seed) % 6; count; count--) {
		size_t at = next_random(&seed) % COUNT_OF(columns);
		unsigned char is = (unsigned char)columns[at].is;

		if (is_there[is] && is != '-')
			continue;
		is_there[is] = true;
		n += (size_t)snprintf(head + n, sizeof(head) - n, "%s%s",
				      n ? "," : "", columns[at].name);
		m += (size_t)snprintf(row + m, sizeof(row) - m, "%s%d",
				      m ? "," : "", is == 'u' ? 8 : 4);
	}
	return (size_t)snprintf(text, 512, "%s\n%s\n", head, row);
}

START_TEST(any_columns_are_spans_if_all_that_is_needed_is_there)
{
	char path[32], text[512];
	size_t read = 0;

	for (uint64_t seed = 0; seed < 3000; seed++) {
		bool is[128] = { false };
		size_t n = write_columns(text, seed, is);
		FILE *file = tmpfile();
		struct gp_spans spans;
		struct gp_diag diag = { 0 };
		enum gp_status status;

		fputs(text, file);
		fflush(file);
		snprintf(path, sizeof(path), "/dev/fd/%d", fileno(file));
		ck_assert_int_eq(gp_spans_is_csv(path), is['l'] && is['s']);
		fclose(file);
		status = gp_spans_parse(text, n, &spans, &diag);
		ck_assert_msg((status == GP_OK) == (is['i'] && is['l'] &&
						    is['s'] && is['u']),
			      "%s%s", text, diag.what);
		if (status != GP_OK)
			continue;
		ck_assert_uint_eq(spans.count, 1);
		ck_assert_uint_eq(spans.items->lower, 4);
		ck_assert_uint_eq(spans.items->size, 4);
		ck_assert_uint_eq(spans.items->align, is['a'] ? 4 : 1);
		gp_spans_release(&spans);
		read++;
	}
	ck_assert_uint_gt(read, 50);
}
END_TEST

/* 2^18 spans of 2^44 bytes each, and one more span with more bytes. */
static enum gp_status parse_total(unsigned more, struct gp_diag *diag)
{
	struct gp_spans spans;
	enum gp_status status;
	char *text;
	size_t n;
	FILE *out = open_memstream(&text, &n);

	fputs("id,lower,upper,size\n", out);
	for (unsigned i = 0; i < 1u << 18; i++)
		fprintf(out, "%u,0,1,17592186044416\n", i);
	if (more)
		fprintf(out, "more,0,1,%u\n", more);
	fclose(out);
	status = gp_spans_parse(text, n, &spans, diag);
	if (status == GP_OK)
		gp_spans_release(&spans);
	free(text);
	return status;
}

START_TEST(all_sizes_together_have_a_limit)
{
	struct gp_diag diag = { 0 };

	ck_assert_int_eq(parse_total(0, &diag), GP_OK);
	ck_assert_int_eq(parse_total(1, &diag), GP_INPUT);
	ck_assert_str_eq(diag.what, "the sum of the sizes is too large: more");
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ columns_come_in_any_order, 0 },
		{ end_is_the_last_time_where_upper_is_behind_it, 0 },
		{ what_was_read_is_written_with_its_offsets, 0 },
		{ what_is_wrong_is_told_with_its_line, 0 },
		{ a_long_cell_is_told_in_part, 0 },
		{ a_pipe_is_no_csv, 0 },
		{ any_columns_are_spans_if_all_that_is_needed_is_there, 0 },
		{ all_sizes_together_have_a_limit, 0 },
	};

	return suite_run("spans_csv", tests, COUNT_OF(tests));
}
