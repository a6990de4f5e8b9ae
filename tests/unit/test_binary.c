/* SPDX-License-Identifier: MIT */
/* The binary form: hostile files are refused, never believed. */
#include <zlib.h>

#include "suite.h"
#include "trace/binary.h"
#include "trace_text.h"

static const char small_trace[] =
	"{\"format\": \"gpupool-trace\", \"version\": 1, \"settings\": \"\","
	" \"sites\": [\"main\", \"f\"], \"callers\": [-1, 0],"
	" \"devices\": [{\"device\": 0,"
	" \"start\": {\"segments\": [{\"address\": 4096, \"total_size\": 1024,"
	"   \"segment_type\": \"small\", \"blocks\": ["
	"  {\"size\": 512, \"state\": \"active_allocated\", \"id\": 7},"
	"  {\"size\": 512, \"state\": \"inactive\"}]}]},"
	" \"events\": ["
	"{\"op\": \"alloc\", \"id\": 8, \"size\": 100, \"stream\": 16,"
	" \"pool\": [0, 1], \"site\": 1},"
	"{\"op\": \"mark\", \"name\": \"step\", \"stage\": \"start\"},"
	"{\"op\": \"set_memory_fraction\", \"fraction\": 0.5},"
	"{\"op\": \"record_stream\", \"id\": 8, \"stream\": 0},"
	"{\"op\": \"free\", \"id\": 7},"
	"{\"op\": \"free\", \"id\": 8},"
	"{\"op\": \"synchronize\"},"
	"{\"op\": \"capture_begin\", \"pool\": [0, 1], \"stream\": 16},"
	"{\"op\": \"synchronize\", \"stream\": 16, \"by\": 0},"
	"{\"op\": \"free_completed\", \"id\": 8}]}]}";

struct file {
	struct gp_trace *trace;
	char *bytes;
	size_t n;
};

static struct file small_file(void)
{
	struct file file = { .trace = trace_of(small_trace) };

	file.bytes = written(file.trace, GP_TRACE_BINARY, &file.n);
	return file;
}

static void release(struct file *file)
{
	gp_trace_destroy(file->trace);
	free(file->bytes);
}

/* So that what is behind the checksum is looked at as well. */
static void set_checksum(char *bytes, size_t n)
{
	const size_t skip = offsetof(struct gp_binary_header, order);
	uint32_t crc =
		(uint32_t)crc32_z(0, (const Bytef *)bytes + skip, n - skip);

	memcpy(bytes + offsetof(struct gp_binary_header, crc), &crc,
	       sizeof(crc));
}

/* Refused with a message, or a trace that can be walked through. */
static bool is_survived(const char *bytes, size_t n)
{
	struct gp_trace *trace, *copy;
	struct gp_diag diag;
	enum gp_status status = try_bytes(bytes, n, &trace, &diag);

	if (status) {
		ck_assert_int_eq(status, GP_INPUT);
		ck_assert_str_ne(diag.what, "");
		return false;
	}
	copy = again(trace, GP_TRACE_JSON);
	gp_trace_destroy(copy);
	gp_trace_destroy(trace);
	return true;
}

START_TEST(test_it_reads_back)
{
	struct file file = small_file();
	struct gp_trace *copy = again(file.trace, GP_TRACE_BINARY);

	ck_assert(gp_trace_equal(file.trace, copy));
	gp_trace_destroy(copy);
	release(&file);
}
END_TEST

START_TEST(test_the_same_trace_gives_the_same_bytes)
{
	struct file one = small_file(), other = small_file();

	ck_assert_uint_eq(one.n, other.n);
	ck_assert_mem_eq(one.bytes, other.bytes, one.n);
	release(&one);
	release(&other);
}
END_TEST

START_TEST(test_every_flipped_byte_is_noticed)
{
	struct file file = small_file();

	for (size_t i = 0; i < file.n; i++) {
		file.bytes[i] ^= 0x55;
		ck_assert_msg(!is_survived(file.bytes, file.n), "byte %zu", i);
		file.bytes[i] ^= 0x55;
	}
	release(&file);
}
END_TEST

START_TEST(test_every_length_is_noticed)
{
	struct file file = small_file();

	for (size_t n = 0; n < file.n; n++)
		ck_assert_msg(!is_survived(file.bytes, n), "%zu bytes", n);
	release(&file);
}
END_TEST

/* As above, by somebody who means it: the checksum is right. */
START_TEST(test_no_byte_is_believed)
{
	static const unsigned char values[] = { 0x00, 0x01, 0x03, 0x7f, 0xff };
	struct file file = small_file();

	for (size_t i = offsetof(struct gp_binary_header, order); i < file.n;
	     i++)
		for (size_t k = 0; k < COUNT_OF(values); k++) {
			char was = file.bytes[i];

			file.bytes[i] = (char)values[k];
			set_checksum(file.bytes, file.n);
			is_survived(file.bytes, file.n);
			file.bytes[i] = was;
		}
	release(&file);
}
END_TEST

/* ---- one lie each, with the right checksum ---- */

static struct gp_binary_section *find(struct file *file,
				      enum gp_binary_kind kind)
{
	struct gp_binary_section *section =
		(void *)(file->bytes + sizeof(struct gp_binary_header));

	while (section->kind != kind)
		section++;
	return section;
}

static void *content(struct file *file, enum gp_binary_kind kind)
{
	return file->bytes + find(file, kind)->offset;
}

static void lie_event_id(struct file *file)
{
	((struct gp_event *)content(file, GP_BINARY_EVENTS))[4].id = 9;
}

static void lie_event_twice(struct file *file)
{
	((struct gp_event *)content(file, GP_BINARY_EVENTS))[5].id = 0;
}

/* Both live at a time: a file could not say which of them is freed. */
static void lie_name(struct file *file)
{
	uint64_t *names = content(file, GP_BINARY_NAMES);

	names[1] = names[0];
}

static void lie_event_stream(struct file *file)
{
	((struct gp_event *)content(file, GP_BINARY_EVENTS))[0].stream =
		GP_ALL_STREAMS;
}

static void lie_event_site(struct file *file)
{
	((struct gp_event *)content(file, GP_BINARY_EVENTS))[0].site = 2;
}

static void lie_event_kind(struct file *file)
{
	((struct gp_event *)content(file, GP_BINARY_EVENTS))[0].kind =
		GP_EVENT_KINDS;
}

static void lie_event_size(struct file *file)
{
	((struct gp_event *)content(file, GP_BINARY_EVENTS))[0].size =
		UINT64_MAX;
}

static void lie_event_text(struct file *file)
{
	((struct gp_event *)content(file, GP_BINARY_EVENTS))[1].text = 1000;
}

static void lie_ids(struct file *file)
{
	((struct gp_binary_device *)content(file, GP_BINARY_DEVICES))
		->block_ids = UINT32_MAX;
}

static void lie_site_caller(struct file *file)
{
	((struct gp_site *)content(file, GP_BINARY_SITES))[1].caller = 1;
}

static void lie_bool(struct file *file)
{
	char *segment = content(file, GP_BINARY_START_SEGMENTS);

	segment[offsetof(struct gp_segment, is_small)] = 2;
}

static void lie_first_block(struct file *file)
{
	((struct gp_segment *)content(file, GP_BINARY_START_SEGMENTS))
		->first_block = 1;
}

static void lie_block_size(struct file *file)
{
	((struct gp_block *)content(file, GP_BINARY_START_BLOCKS))[1].size =
		256;
}

static void lie_text_offset(struct file *file)
{
	((uint64_t *)content(file, GP_BINARY_TEXT_OFFSETS))[0] = 1 << 30;
}

static void lie_count(struct file *file)
{
	find(file, GP_BINARY_EVENTS)->count = UINT64_MAX / 40 + 2;
}

static void lie_offset(struct file *file)
{
	find(file, GP_BINARY_EVENTS)->offset += 4;
}

static void lie_sections(struct file *file)
{
	((struct gp_binary_header *)(void *)file->bytes)->section_count =
		UINT32_MAX;
}

START_TEST(test_lies_are_told_apart)
{
	static const struct {
		void (*tell)(struct file *file);
		const char *message;
	} rows[] = {
		{ lie_event_id, "an impossible event" },
		{ lie_event_twice, "an impossible event" },
		{ lie_name, "an impossible event" },
		{ lie_event_stream, "an impossible event" },
		{ lie_event_site, "an impossible event" },
		{ lie_event_kind, "an impossible event" },
		{ lie_event_size, "an impossible event" },
		{ lie_event_text, "an impossible event" },
		{ lie_ids, "its sections do not fit together" },
		{ lie_site_caller, "a site that nobody can have called" },
		{ lie_bool, "an impossible segment" },
		{ lie_first_block, "an impossible segment" },
		{ lie_block_size, "its blocks do not cover the segment" },
		{ lie_text_offset, "its sections do not fit together" },
		{ lie_count, "its sections do not fit together" },
		{ lie_offset, "its sections do not fit together" },
		{ lie_sections, "more sections than bytes" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct file file = small_file();
		struct gp_trace *trace;
		struct gp_diag diag;

		rows[i].tell(&file);
		set_checksum(file.bytes, file.n);
		ck_assert_int_eq(try_bytes(file.bytes, file.n, &trace, &diag),
				 GP_INPUT);
		ck_assert_msg(strstr(diag.what, rows[i].message),
			      "\"%s\" for lie %zu", diag.what, i);
		release(&file);
	}
}
END_TEST

START_TEST(test_other_versions_are_told)
{
	struct file file = small_file();
	struct gp_binary_header *header = (void *)file.bytes;
	struct gp_trace *trace;
	struct gp_diag diag;

	header->version = 2;
	set_checksum(file.bytes, file.n);
	ck_assert_int_eq(try_bytes(file.bytes, file.n, &trace, &diag),
			 GP_INPUT);
	ck_assert_str_eq(diag.what, "binary trace version 2");
	release(&file);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_it_reads_back, 0 },
		{ test_the_same_trace_gives_the_same_bytes, 0 },
		{ test_every_flipped_byte_is_noticed, 0 },
		{ test_every_length_is_noticed, 0 },
		{ test_no_byte_is_believed, 0 },
		{ test_lies_are_told_apart, 0 },
		{ test_other_versions_are_told, 0 },
	};

	return suite_run("binary", tests, COUNT_OF(tests));
}
