/* SPDX-License-Identifier: MIT */
/* The binary format: small, the same on every machine; and damaged or hostile
 * files are refused. */
#include <stddef.h>

#include "base/crc32c.h"
#include "binary_file.h"
#include "suite.h"
#include "trace/binary.h"
#include "trace/check.h"
#include "trace/store.h"

static const char small_trace[] = SMALL_TRACE(
	" \"owners\": [{\"category\": \"gradient\", \"module\": \"h.0\"}],",
	", \"owner\": 0");

static struct file file_of(const char *text)
{
	struct file file = { .trace = trace_of(text) };

	file.bytes = written(file.trace, GP_TRACE_BINARY, &file.n);
	return file;
}

/* So that the reader also checks what precedes the checksum. */
static void set_checksum(char *bytes, size_t n)
{
	uint32_t crc = gp_crc32c(0, bytes, n - 4);

	for (unsigned i = 0; i < 4; i++)
		bytes[n - 4 + i] = (char)(crc >> 8 * i);
}

START_TEST(test_it_reads_back)
{
	/* Also if each event is the first of its block. */
	static const char *const texts[] = {
		small_trace,
		ONE_DEVICE("{\"op\": \"alloc\", \"id\": 1, \"size\": 512}"),
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct file file = file_of(texts[i]);
		struct gp_trace *copy = again(file.trace, GP_TRACE_BINARY);

		ck_assert(gp_trace_equal(file.trace, copy));
		gp_trace_destroy(copy);
		release(&file);
	}
}
END_TEST

/* As many devices as there can be. */
START_TEST(test_each_device_reads_back)
{
	size_t length;
	char *text;
	FILE *out = open_memstream(&text, &length);
	struct file file;
	struct gp_trace *copy;

	fputs("{\"format\": \"gpupool-trace\", \"version\": 1, \"devices\": [",
	      out);
	for (int i = 0; i < GP_DEVICES; i++)
		fprintf(out,
			"%s{\"device\": %d, \"events\": [{\"op\": \"alloc\", "
			"\"id\": 1, \"size\": %d}]}",
			i ? ", " : "", i, 512 + i);
	fputs("]}", out);
	fclose(out);
	file = file_of(text);
	copy = again(file.trace, GP_TRACE_BINARY);
	ck_assert_uint_eq(copy->device_count, GP_DEVICES);
	ck_assert(gp_trace_equal(file.trace, copy));
	gp_trace_destroy(copy);
	release(&file);
	free(text);
}
END_TEST

/* The byte order does not matter; a change to this number is a new version. */
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

/* Frees some of the blocks, with sizes and addresses that differ from those of
 * the allocs. */
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

/* Frees a window of ids when the next one is made. */
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

START_TEST(test_what_begins_otherwise_is_no_binary_trace)
{
	struct file file = file_of(small_trace);

	for (size_t i = 0; i < strlen(GP_BINARY_MAGIC); i++) {
		struct gp_trace *trace;
		struct gp_diag diag = { 0 };

		file.bytes[i] ^= 1;
		ck_assert(gp_trace_from_bytes(file.bytes, file.n, &trace,
					      &diag) != GP_OK);
		ck_assert_str_eq(diag.what,
				 "it is damaged: it does not begin as a "
				 "binary trace");
		file.bytes[i] ^= 1;
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

/* As above, but deliberate: the checksum is right. */
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

/* ---- single false values, which no correct writer writes ---- */

static struct gp_event *events_of(struct gp_trace *trace)
{
	return (struct gp_event *)trace->devices[0].events;
}

static void lie_event_id(struct gp_trace *trace)
{
	events_of(trace)[4].id = 9;
}

static void lie_event_next_id(struct gp_trace *trace)
{
	events_of(trace)[4].id = trace->devices[0].block_ids;
}

static void lie_event_twice(struct gp_trace *trace)
{
	events_of(trace)[5].id = 0;
}

/* Both are live at once, so a free in the file would be ambiguous. */
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

static void lie_site_text_none(struct gp_trace *trace)
{
	((struct gp_site *)trace->sites)[1].text = UINT32_MAX;
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

static void lie_releases(struct gp_trace *trace)
{
	trace->release.first = 9;
	trace->release.last = 8;
}

START_TEST(test_lies_are_told_apart)
{
	static const struct {
		void (*tell)(struct gp_trace *trace);
		const char *message;
	} rows[] = {
		{ lie_event_id, "an impossible event" },
		{ lie_event_next_id, "an impossible event" },
		{ lie_event_twice, "an impossible event" },
		{ lie_name, "an impossible event" },
		{ lie_event_stream, "an impossible event" },
		{ lie_event_site, "an impossible event" },
		{ lie_event_kind, "its sections do not fit together" },
		{ lie_event_size, "an impossible event" },
		{ lie_event_text, "an impossible event" },
		{ lie_ids, "its sections do not fit together" },
		{ lie_site_caller, "a site that cannot have a caller" },
		{ lie_site_text, "a site that cannot have a caller" },
		{ lie_site_text_none, "a site that cannot have a caller" },
		{ lie_blocks, "a block without a segment" },
		{ lie_block_size, "its blocks do not cover the segment" },
		{ lie_block_state, "an impossible block" },
		{ lie_device, "its sections do not fit together" },
		{ lie_releases, "its sections do not fit together" },
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

/* The reason for the release may fill its array, and no more; here it is made a
 * byte longer, by an insertion. */
START_TEST(test_a_reason_is_as_long_as_its_place)
{
	struct gp_trace *trace = trace_of(small_trace), *copy;
	size_t most = sizeof(trace->release.why) - 1, n;
	struct gp_diag diag;
	char *bytes, *longer, *why;

	memset(trace->release.why, 'y', most);
	copy = again(trace, GP_TRACE_BINARY);
	ck_assert_str_eq(copy->release.why, trace->release.why);
	gp_trace_destroy(copy);
	bytes = written(trace, GP_TRACE_BINARY, &n);
	longer = malloc(n + 1);
	why = memmem(bytes, n, "yyyy", 4);
	/* Before it are the length of the section, in two bytes, the releases
	 * and whether the trace is complete. */
	ck_assert_int_eq((unsigned char)why[-5], ((3 + most) & 127) | 128);
	why[-5]++;
	memcpy(longer, bytes, (size_t)(why - bytes));
	longer[why - bytes] = 'y';
	memcpy(longer + (why - bytes) + 1, why, n - (size_t)(why - bytes));
	set_checksum(longer, n + 1);
	ck_assert_int_eq(try_bytes(longer, n + 1, &copy, &diag), GP_INPUT);
	ck_assert_str_eq(diag.what,
			 "it is damaged: its sections do not fit together");
	gp_trace_destroy(trace);
	free(bytes);
	free(longer);
}
END_TEST

/* ---- each index, at its largest value and one beyond ---- */

enum part {
	STREAMS,
	POOLS,
	ALL_SITES,
	OWNERS,
	OWNED,
	SEGMENTS,
	BLOCKS,
	EVENTS_OF
};

static void *part_of(const struct gp_trace *trace, enum part part)
{
	const struct gp_device_trace *d = trace->devices;
	const void *const parts[] = {
		[STREAMS] = trace->streams, [POOLS] = trace->pools,
		[ALL_SITES] = trace->sites, [OWNERS] = trace->owners,
		[OWNED] = d->owners,	    [SEGMENTS] = d->start.segments,
		[BLOCKS] = d->start.blocks, [EVENTS_OF] = d->events,
	};

	return (void *)(uintptr_t)parts[part];
}

/* A member of the item with that index in a part, and its value. */
#define SAYS(part, type, index, member, value)                                 \
	part, (index) * sizeof(type) + offsetof(type, member),                 \
		sizeof(((type *)0)->member), value
#define POOL(i, member, value) SAYS(POOLS, struct gp_pool_id, i, member, value)
#define SITE(i, member, value) SAYS(ALL_SITES, struct gp_site, i, member, value)
#define OWNER(member, value)   SAYS(OWNERS, struct gp_owner, 0, member, value)
#define SEGMENT(member, value)                                                 \
	SAYS(SEGMENTS, struct gp_segment, 0, member, value)
#define BLOCK(i, member, value) SAYS(BLOCKS, struct gp_block, i, member, value)
#define EVENT(i, member, value)                                                \
	SAYS(EVENTS_OF, struct gp_event, i, member, value)

#define TEXTS	     4 /* main, f, h.0 and step */
#define EVENT_IS_BAD "an impossible event"
#define BLOCK_IS_BAD "an impossible block"
#define STATE_IS_BAD "an impossible segment"
#define SITE_IS_BAD  "a site that cannot have a caller"
#define OWNER_IS_BAD "an owner that does not exist"

/* what: the message; NULL: the value is accepted. */
static const struct says {
	enum part part;
	size_t at, size;
	uint64_t value;
	const char *what;
} says[] = {
	{ STREAMS, 8, 8, 1, NULL },
	{ STREAMS, 8, 8, 0, "streams out of order" },
	{ POOL(0, second, 1), "pools out of order" },
	{ POOL(0, first, 1), "pools out of order" },
	{ POOL(1, second, 0), "pools out of order" },
	{ POOL(1, first, 1), NULL },
	{ SITE(1, caller, 1), SITE_IS_BAD },
	{ SITE(1, caller, GP_NO_SITE), NULL },
	{ SITE(1, text, TEXTS - 1), NULL },
	{ SITE(1, text, TEXTS), SITE_IS_BAD },
	{ OWNER(module, TEXTS - 1), NULL },
	{ OWNER(module, TEXTS), OWNER_IS_BAD },
	{ OWNER(module, GP_NO_ID), NULL },
	{ OWNER(type, TEXTS - 1), NULL },
	{ OWNER(type, TEXTS), OWNER_IS_BAD },
	{ OWNED, 0, 4, GP_NO_OWNER, NULL },
	{ OWNED, 0, 4, 1, OWNER_IS_BAD },
	{ SEGMENT(stream, 1), NULL },
	{ SEGMENT(stream, 2), STATE_IS_BAD },
	{ SEGMENT(pool, 1), NULL },
	{ SEGMENT(pool, 2), STATE_IS_BAD },
	{ SEGMENT(is_small, 2), STATE_IS_BAD },
	{ SEGMENT(is_expandable, 1), NULL },
	{ SEGMENT(is_expandable, 2), STATE_IS_BAD },
	{ SEGMENT(offset, 1), STATE_IS_BAD },
	{ SEGMENT(first_block, 1), STATE_IS_BAD },
	{ SEGMENT(blocks, 1), "a block without a segment" },
	{ SEGMENT(blocks, 3), STATE_IS_BAD },
	{ SEGMENT(site, 1), NULL },
	{ SEGMENT(site, 2), STATE_IS_BAD },
	{ SEGMENT(addr, 0), "a segment at address 0" },
	{ BLOCK(0, state, GP_INACTIVE), BLOCK_IS_BAD },
	{ BLOCK(0, state, GP_PENDING_FREE), EVENT_IS_BAD }, /* its free */
	{ BLOCK(1, state, GP_PENDING_FREE + 1), BLOCK_IS_BAD },
	{ BLOCK(0, id, 1), EVENT_IS_BAD }, /* the alloc's */
	{ BLOCK(0, id, 2), BLOCK_IS_BAD },
	{ BLOCK(0, id, GP_NO_ID), "two blocks of one id" },
	{ BLOCK(1, id, 1), BLOCK_IS_BAD },
	{ BLOCK(1, site, 1), NULL },
	{ BLOCK(1, site, 2), BLOCK_IS_BAD },
	/* alloc, of what lives from there on */
	{ EVENT(0, stream, 0), NULL },
	{ EVENT(0, stream, 2), EVENT_IS_BAD },
	{ EVENT(0, stream, GP_NO_STREAM), EVENT_IS_BAD },
	{ EVENT(0, stream, GP_ALL_STREAMS), EVENT_IS_BAD },
	{ EVENT(0, pool, 0), NULL },
	{ EVENT(0, pool, 2), EVENT_IS_BAD },
	{ EVENT(0, site, GP_NO_SITE), NULL },
	{ EVENT(0, site, 2), EVENT_IS_BAD },
	{ EVENT(0, size, INT64_MAX), NULL },
	{ EVENT(0, size, UINT64_C(1) << 63), EVENT_IS_BAD },
	{ EVENT(0, id, 0), EVENT_IS_BAD },
	{ EVENT(0, id, 2), EVENT_IS_BAD },
	{ EVENT(0, id, GP_NO_ID), EVENT_IS_BAD },
	{ EVENT(0, flags, GP_INFERRED | GP_REFUSED), NULL },
	{ EVENT(0, flags, GP_RESTORED), NULL },
	{ EVENT(0, flags, GP_STREAM_WAITS), EVENT_IS_BAD },
	{ EVENT(0, flags, GP_NAMES_STREAM), EVENT_IS_BAD },
	{ EVENT(0, flags, 0x80), EVENT_IS_BAD },
	{ EVENT(0, mark, GP_MARK_END + 1), EVENT_IS_BAD },
	/* a mark, and a fraction */
	{ EVENT(1, text, TEXTS - 1), NULL },
	{ EVENT(1, text, TEXTS), EVENT_IS_BAD },
	{ EVENT(1, mark, GP_MARK_END), NULL },
	{ EVENT(1, mark, GP_MARK_END + 1), EVENT_IS_BAD },
	{ EVENT(2, addr, UINT64_C(0x7fefffffffffffff)), NULL },
	{ EVENT(2, addr, UINT64_C(0x7ff0000000000000)), EVENT_IS_BAD },
	{ EVENT(2, addr, UINT64_C(0x7ff8000000000000)), EVENT_IS_BAD },
	{ EVENT(2, id, 0), EVENT_IS_BAD },
	{ EVENT(2, stream, 1), EVENT_IS_BAD },
	{ EVENT(2, kind, GP_EVENT_KINDS), EVENT_IS_BAD },
	/* record_stream, free, free */
	{ EVENT(3, stream, 1), NULL },
	{ EVENT(3, stream, GP_NO_STREAM), NULL },
	{ EVENT(3, stream, GP_ALL_STREAMS), EVENT_IS_BAD },
	{ EVENT(3, id, 0), NULL },
	{ EVENT(3, id, 2), EVENT_IS_BAD },
	{ EVENT(4, id, 1), EVENT_IS_BAD },
	{ EVENT(4, size, 0), EVENT_IS_BAD },
	{ EVENT(4, flags, GP_AT_ONCE), NULL },
	{ EVENT(4, flags, GP_RESTORED), EVENT_IS_BAD },
	{ EVENT(5, id, 0), EVENT_IS_BAD },
	{ EVENT(5, id, 2), EVENT_IS_BAD },
	/* synchronize, capture_begin, a stream that waits */
	{ EVENT(6, stream, 1), NULL },
	{ EVENT(6, stream, 2), EVENT_IS_BAD },
	{ EVENT(6, stream, GP_NO_STREAM), EVENT_IS_BAD },
	{ EVENT(6, flags, GP_STREAM_WAITS), EVENT_IS_BAD },
	{ EVENT(6, id, 1), NULL },
	{ EVENT(6, id, 2), EVENT_IS_BAD },
	{ EVENT(7, mark, 1), EVENT_IS_BAD },
	{ EVENT(7, flags, 0), NULL },
	{ EVENT(7, flags, GP_STREAM_WAITS), EVENT_IS_BAD },
	{ EVENT(8, by, 1), NULL },
	{ EVENT(8, by, 2), EVENT_IS_BAD },
	{ EVENT(8, id, 1), EVENT_IS_BAD },
	{ EVENT(8, stream, GP_ALL_STREAMS), EVENT_IS_BAD },
	/* free_completed */
	{ EVENT(9, id, 0), NULL },
	{ EVENT(9, id, 2), EVENT_IS_BAD },
	{ EVENT(9, id, GP_NO_ID), NULL },
	{ EVENT(9, size, 0), EVENT_IS_BAD },
};

START_TEST(test_each_index_is_in_its_range)
{
	for (size_t i = 0; i < COUNT_OF(says); i++) {
		struct gp_trace *trace = trace_of(small_trace);
		struct gp_diag diag = { 0 };
		enum gp_status status;

		ck_assert_uint_eq(trace->text_count, TEXTS);
		memcpy((char *)part_of(trace, says[i].part) + says[i].at,
		       &says[i].value, says[i].size);
		status = gp_trace_check(trace, &diag);
		ck_assert_msg(says[i].what
				      ? status == GP_INPUT &&
						strstr(diag.what, says[i].what)
				      : status == GP_OK,
			      "row %zu: %s", i, diag.what);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(test_devices_ascend)
{
	static const uint32_t numbers[][2] = { { 3, 4 }, { 3, 3 }, { 4, 3 } };

	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		struct gp_device_trace devices[] = {
			{ .device = numbers[i][0] },
			{ .device = numbers[i][1] },
		};
		struct gp_trace *trace = trace_of(small_trace);
		struct gp_trace two = *trace;
		struct gp_diag diag;

		two.devices = devices;
		two.device_count = 2;
		ck_assert_int_eq(gp_trace_check(&two, &diag),
				 i ? GP_INPUT : GP_OK);
		gp_trace_destroy(trace);
	}
}
END_TEST

/* A trace by a newer writer has a category that is not known. */
START_TEST(test_categories_are_those_that_are_known)
{
	for (uint32_t c = 0; c <= GP_CATEGORIES + 1; c++) {
		struct gp_trace *trace = trace_of(small_trace), *copy;

		((struct gp_owner *)trace->owners)->category = c;
		copy = again(trace, GP_TRACE_BINARY);
		ck_assert_uint_eq(copy->owners->category,
				  c < GP_CATEGORIES ? c : GP_CATEGORY_UNKNOWN);
		gp_trace_destroy(copy);
		gp_trace_destroy(trace);
	}
}
END_TEST

START_TEST(test_counters_have_a_text_that_is_there)
{
	for (uint32_t text = TEXTS - 1; text <= TEXTS; text++) {
		const struct gp_counter counter = { .text = text };
		struct gp_trace *trace = trace_of(small_trace), *copy;
		struct gp_device_trace *d = (void *)(uintptr_t)trace->devices;
		struct gp_diag diag;
		enum gp_status status;
		char *bytes;
		size_t n;

		d->counters = &counter;
		d->counter_count = 1;
		bytes = written(trace, GP_TRACE_BINARY, &n);
		status = try_bytes(bytes, n, &copy, &diag);
		ck_assert_int_eq(status, text < TEXTS ? GP_OK : GP_INPUT);
		gp_trace_destroy(copy);
		gp_trace_destroy(trace);
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
		{ test_each_device_reads_back, 0 },
		{ test_the_same_trace_gives_the_same_bytes, 0 },
		{ test_many_events_are_the_same, 0 },
		{ test_every_flipped_byte_is_noticed, 0 },
		{ test_what_begins_otherwise_is_no_binary_trace, 0 },
		{ test_every_length_is_noticed, 0 },
		{ test_a_cut_end_is_told, 0 },
		{ test_a_file_of_nothing_is_told, 0 },
		{ test_no_byte_is_believed, 0 },
		{ test_lies_are_told_apart, 0 },
		{ test_a_reason_is_as_long_as_its_place, 0 },
		{ test_each_index_is_in_its_range, 0 },
		{ test_devices_ascend, 0 },
		{ test_categories_are_those_that_are_known, 0 },
		{ test_counters_have_a_text_that_is_there, 0 },
		{ test_other_versions_are_told, 0 },
	};

	return suite_run("binary", tests, COUNT_OF(tests));
}
