/* SPDX-License-Identifier: MIT */
/* The binary form: small, the same on every machine, and hostile files are
 * refused, never believed. */
#include "base/crc32c.h"
#include "binary_file.h"
#include "suite.h"
#include "trace/binary.h"

static const char small_trace[] = SMALL_TRACE(
	" \"owners\": [{\"category\": \"gradient\", \"module\": \"h.0\"}],",
	", \"owner\": 0");

static struct file file_of(const char *text)
{
	struct file file = { .trace = trace_of(text) };

	file.bytes = written(file.trace, GP_TRACE_BINARY, &file.n);
	return file;
}

/* So that what is before the checksum is looked at as well. */
static void set_checksum(char *bytes, size_t n)
{
	uint32_t crc = gp_crc32c(0, bytes, n - 4);

	for (unsigned i = 0; i < 4; i++)
		bytes[n - 4 + i] = (char)(crc >> 8 * i);
}

START_TEST(test_it_reads_back)
{
	struct file file = file_of(small_trace);
	struct gp_trace *copy = again(file.trace, GP_TRACE_BINARY);

	ck_assert(gp_trace_equal(file.trace, copy));
	gp_trace_destroy(copy);
	release(&file);
}
END_TEST

/* Whatever the byte order: a change of this number is a new version. */
START_TEST(test_the_same_trace_gives_the_same_bytes)
{
	struct file file = file_of(small_trace);

	ck_assert_uint_eq(file.n, 285);
	ck_assert_uint_eq(gp_crc32c(0, file.bytes, file.n), 1214729159);
	release(&file);
}
END_TEST

/* ---- many events ---- */

#define EVENTS 30000

static size_t random_event(char *to, size_t room, uint64_t *state, unsigned id)
{
	static const char *const addrs[] = { "512", "18446744073709551615",
					     "140000000000001", "0" };
	uint64_t r = next_random(state), size = r >> 20 & 0xffffff;
	unsigned other = id - (r >> 12) % (id < 900 ? id + 1 : 900);

	switch (r % 16) {
	case 0:
		return (size_t)snprintf(to, room,
					"{\"op\": \"mark\", \"name\": \"%u\", "
					"\"time\": %u}\n",
					other, (unsigned)(r >> 40));
	case 1:
		return (size_t)snprintf(
			to, room,
			"{\"op\": \"segment_alloc\", \"addr\": %s, "
			"\"size\": 2097152, \"stream\": %u}\n",
			addrs[r >> 50 & 3], (unsigned)(r >> 52) % 300);
	case 2:
		return (size_t)snprintf(to, room,
					"{\"op\": \"set_memory_fraction\", "
					"\"fraction\": 0.%u}\n",
					(unsigned)(r >> 52));
	default:
		return (size_t)snprintf(
			to, room,
			"{\"op\": \"alloc\", \"id\": %u, \"size\": %u, "
			"\"addr\": "
			"%s, \"time\": %u, \"site\": %u, \"pool\": [0, %u]}\n",
			id, (unsigned)size, addrs[r >> 50 & 3],
			(unsigned)(r >> 40), (unsigned)(r >> 8 & 1),
			(unsigned)(r >> 60));
	}
}

/* Some blocks are freed, with other sizes and addresses than they came with. */
static size_t random_free(char *to, size_t room, uint64_t *state, unsigned id)
{
	uint64_t r = next_random(state);

	if (r % 3 == 0)
		return (size_t)snprintf(to, room,
					"{\"op\": \"free\", \"id\": %u}\n", id);
	return (size_t)snprintf(to, room,
				"{\"op\": \"free\", \"id\": %u, \"addr\": %u, "
				"\"at_once\": %s, \"time\": %u}\n",
				id, (unsigned)(r >> 40),
				r & 4 ? "true" : "false", (unsigned)(r >> 50));
}

/* A window of ids is freed when the next one is made. */
static char *random_lines(void)
{
	const size_t room = EVENTS * 200, most = 200;
	char *text = malloc(room);
	uint64_t state = 11;
	size_t n =
		(size_t)snprintf(text, room,
				 "{\"format\": \"gpupool-trace\", "
				 "\"version\": 1, \"sites\": [\"a\", \"b\"], "
				 "\"devices\": [{\"device\": 3}]}\n");

	for (unsigned id = 0; id < EVENTS / 2; id++) {
		size_t before = n;

		n += random_event(text + n, most, &state, id);
		if (strstr(text + before, "\"alloc\"") && id % 5)
			n += random_free(text + n, most, &state, id);
	}
	return text;
}

START_TEST(test_many_events_are_the_same)
{
	char *text = random_lines();
	struct file file = file_of(text);
	struct gp_trace *copy = again(file.trace, GP_TRACE_BINARY);
	const struct gp_device_trace *a = file.trace->devices;
	const struct gp_device_trace *b = copy->devices;

	ck_assert(gp_trace_equal(file.trace, copy));
	ck_assert_uint_gt(a->event_count, EVENTS / 2);
	ck_assert_uint_eq(a->event_count, b->event_count);
	ck_assert_mem_eq(a->events, b->events,
			 a->event_count * sizeof(*a->events));
	gp_trace_destroy(copy);
	release(&file);
	free(text);
}
END_TEST

/* ---- damage ---- */

START_TEST(test_every_flipped_byte_is_noticed)
{
	struct file file = file_of(small_trace);

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
	struct file file = file_of(small_trace);

	for (size_t n = 0; n < file.n; n++)
		ck_assert_msg(!is_survived(file.bytes, n), "%zu bytes", n);
	release(&file);
}
END_TEST

START_TEST(test_a_cut_end_is_told)
{
	struct file file = file_of(small_trace);
	struct gp_trace *trace;
	struct gp_diag diag;

	for (size_t cut = 1; cut <= 5; cut++) {
		ck_assert_int_eq(
			try_bytes(file.bytes, file.n - cut, &trace, &diag),
			GP_INPUT);
		ck_assert_str_eq(diag.what, "it ends too early");
	}
	release(&file);
}
END_TEST

START_TEST(test_a_file_of_nothing_is_told)
{
	struct file file = file_of(small_trace);
	size_t n = GP_BINARY_HEADER_BYTES + GP_BINARY_END_BYTES;
	struct gp_trace *trace;
	struct gp_diag diag;

	memset(file.bytes + GP_BINARY_HEADER_BYTES, 0, GP_BINARY_END_BYTES);
	set_checksum(file.bytes, n);
	ck_assert_int_eq(try_bytes(file.bytes, n, &trace, &diag), GP_INPUT);
	ck_assert_ptr_nonnull(strstr(diag.what, "it is damaged"));
	release(&file);
}
END_TEST

/* As above, by somebody who means it: the checksum is right. */
START_TEST(test_no_byte_is_believed)
{
	static const unsigned char values[] = { 0x00, 0x01, 0x03, 0x04, 0x10,
						0x40, 0x7f, 0x80, 0xff };
	struct file file = file_of(small_trace);

	for (size_t i = 0; i < file.n - 4; i++)
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

/* ---- one lie each, as no honest writer is asked to write it ---- */

static struct gp_event *events_of(struct gp_trace *trace)
{
	return (struct gp_event *)trace->devices[0].events;
}

static void lie_event_id(struct gp_trace *trace)
{
	events_of(trace)[4].id = 9;
}

static void lie_event_twice(struct gp_trace *trace)
{
	events_of(trace)[5].id = 0;
}

/* Both live at a time: a file could not say which of them is freed. */
static void lie_name(struct gp_trace *trace)
{
	uint64_t *names = (uint64_t *)trace->devices[0].names;

	names[1] = names[0];
}

static void lie_event_stream(struct gp_trace *trace)
{
	events_of(trace)[0].stream = GP_ALL_STREAMS;
}

static void lie_event_site(struct gp_trace *trace)
{
	events_of(trace)[0].site = 2;
}

static void lie_event_kind(struct gp_trace *trace)
{
	events_of(trace)[6].kind = GP_EVENT_KINDS;
}

static void lie_event_size(struct gp_trace *trace)
{
	events_of(trace)[0].size = UINT64_MAX;
}

static void lie_event_text(struct gp_trace *trace)
{
	events_of(trace)[1].text = 1000;
}

static void lie_ids(struct gp_trace *trace)
{
	((struct gp_device_trace *)trace->devices)->block_ids = 100;
	((struct gp_device_trace *)trace->devices)->names = NULL;
	((struct gp_device_trace *)trace->devices)->owners = NULL;
}

static void lie_site_caller(struct gp_trace *trace)
{
	((struct gp_site *)trace->sites)[1].caller = 1;
}

static void lie_site_text(struct gp_trace *trace)
{
	((struct gp_site *)trace->sites)[1].text = 1000;
}

static void lie_blocks(struct gp_trace *trace)
{
	((struct gp_segment *)trace->devices[0].start.segments)->blocks = 1;
}

static void lie_block_size(struct gp_trace *trace)
{
	((struct gp_block *)trace->devices[0].start.blocks)[1].size = 256;
}

static void lie_block_state(struct gp_trace *trace)
{
	((struct gp_block *)trace->devices[0].start.blocks)[1].state = 9;
}

static void lie_device(struct gp_trace *trace)
{
	((struct gp_device_trace *)trace->devices)->device = GP_DEVICES;
}

START_TEST(test_lies_are_told_apart)
{
	static const struct {
		void (*tell)(struct gp_trace *trace);
		const char *message;
	} rows[] = {
		{ lie_event_id, "an impossible event" },
		{ lie_event_twice, "an impossible event" },
		{ lie_name, "an impossible event" },
		{ lie_event_stream, "an impossible event" },
		{ lie_event_site, "an impossible event" },
		{ lie_event_kind, "its sections do not fit together" },
		{ lie_event_size, "an impossible event" },
		{ lie_event_text, "an impossible event" },
		{ lie_ids, "its sections do not fit together" },
		{ lie_site_caller, "a site that nobody can have called" },
		{ lie_site_text, "a site that nobody can have called" },
		{ lie_blocks, "a block without a segment" },
		{ lie_block_size, "its blocks do not cover the segment" },
		{ lie_block_state, "an impossible block" },
		{ lie_device, "its sections do not fit together" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct gp_trace *honest = trace_of(small_trace), *trace;
		struct gp_diag diag;
		size_t n;
		char *bytes;

		rows[i].tell(honest);
		bytes = written(honest, GP_TRACE_BINARY, &n);
		ck_assert_int_eq(try_bytes(bytes, n, &trace, &diag), GP_INPUT);
		ck_assert_msg(strstr(diag.what, rows[i].message),
			      "\"%s\" for lie %zu", diag.what, i);
		gp_trace_destroy(honest);
		free(bytes);
	}
}
END_TEST

START_TEST(test_other_versions_are_told)
{
	struct file file = file_of(small_trace);
	struct gp_trace *trace;
	struct gp_diag diag;

	file.bytes[GP_BINARY_VERSION_AT] = 3;
	set_checksum(file.bytes, file.n);
	ck_assert_int_eq(try_bytes(file.bytes, file.n, &trace, &diag),
			 GP_INPUT);
	ck_assert_str_eq(diag.what, "binary trace version 3");
	release(&file);
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_it_reads_back, 0 },
		{ test_the_same_trace_gives_the_same_bytes, 0 },
		{ test_many_events_are_the_same, 0 },
		{ test_every_flipped_byte_is_noticed, 0 },
		{ test_every_length_is_noticed, 0 },
		{ test_a_cut_end_is_told, 0 },
		{ test_a_file_of_nothing_is_told, 0 },
		{ test_no_byte_is_believed, 0 },
		{ test_lies_are_told_apart, 0 },
		{ test_other_versions_are_told, 0 },
	};

	return suite_run("binary", tests, COUNT_OF(tests));
}
