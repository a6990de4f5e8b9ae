/* SPDX-License-Identifier: MIT */
/*
 * Version 1 of the binary form, which only this test still writes: it is read,
 * and hostile files are refused, never believed.
 */
#include <zlib.h>

#include "base/mem.h"
#include "binary_file.h"
#include "gpupool/write.h"
#include "suite.h"
#include "trace/binary.h"

/* ---- writing: first for the checksum, which stands in front ---- */

#define COMMON_SECTIONS 10
#define DEVICE_SECTIONS 8

struct writer {
	const struct gp_trace *trace;
	struct gp_binary_section *sections;
	const void **contents;
	size_t count;
	uint64_t offset; /* behind the last section */
	void **owned;	 /* contents made here */
	size_t owned_count;
	uint32_t crc;
	FILE *out; /* NULL: only the checksum is made */
};

static uint64_t aligned(uint64_t bytes)
{
	return (bytes + GP_BINARY_ALIGN - 1) / GP_BINARY_ALIGN *
	       GP_BINARY_ALIGN;
}

static void add(struct writer *w, enum gp_binary_kind kind, size_t device,
		const void *content, size_t count, size_t item_bytes)
{
	w->contents[w->count] = content;
	w->sections[w->count++] = (struct gp_binary_section){
		.kind = kind,
		.device = (uint32_t)device,
		.offset = w->offset,
		.count = count,
		.item_bytes = (uint32_t)item_bytes,
	};
	w->offset = aligned(w->offset + (uint64_t)count * item_bytes);
}

/* A zeroed array that is content; freed at the end. */
static void *own(struct writer *w, size_t count, size_t size)
{
	void *memory = gp_mem_alloc(count, size);

	w->owned[w->owned_count++] = memory;
	return memory;
}

/* Structs with gaps are copied field by field: no stray bytes in the file. */
static const struct gp_segment *tidy_segments(struct writer *w,
					      const struct gp_state *state)
{
	struct gp_segment *to = own(w, state->segment_count, sizeof(*to));
	size_t i;

	for (i = 0; i < state->segment_count; i++) {
		const struct gp_segment *from = &state->segments[i];

		to[i].addr = from->addr;
		to[i].size = from->size;
		to[i].stream = from->stream;
		to[i].pool = from->pool;
		to[i].is_small = from->is_small;
		to[i].is_expandable = from->is_expandable;
		to[i].first_block = from->first_block;
		to[i].blocks = from->blocks;
		to[i].site = from->site;
	}
	return to;
}

static const struct gp_block *tidy_blocks(struct writer *w,
					  const struct gp_state *state)
{
	struct gp_block *to = own(w, state->block_count, sizeof(*to));
	size_t i;

	for (i = 0; i < state->block_count; i++) {
		const struct gp_block *from = &state->blocks[i];

		to[i].addr = from->addr;
		to[i].size = from->size;
		to[i].requested = from->requested;
		to[i].id = from->id;
		to[i].state = from->state;
		to[i].site = from->site;
	}
	return to;
}

static void add_text(struct writer *w, enum gp_binary_kind kind,
		     const char *text)
{
	if (text)
		add(w, kind, 0, text, strlen(text) + 1, 1);
}

static void add_texts(struct writer *w)
{
	size_t count = w->trace->text_count, bytes = 0, i;
	uint64_t *offsets = own(w, count, sizeof(*offsets));
	char *texts;

	for (i = 0; i < count; i++) {
		offsets[i] = bytes;
		bytes += strlen(w->trace->texts[i]) + 1;
	}
	texts = own(w, bytes, 1);
	for (i = 0; i < count; i++)
		memcpy(texts + offsets[i], w->trace->texts[i],
		       strlen(w->trace->texts[i]) + 1);
	add(w, GP_BINARY_TEXT_OFFSETS, 0, offsets, count, sizeof(*offsets));
	add(w, GP_BINARY_TEXTS, 0, texts, bytes, 1);
}

static void add_common(struct writer *w)
{
	const struct gp_trace *trace = w->trace;
	struct gp_binary_head *head = own(w, 1, sizeof(*head));
	struct gp_binary_device *devices =
		own(w, trace->device_count, sizeof(*devices));
	size_t i;

	head->release_first = trace->release.first;
	head->release_last = trace->release.last;
	head->is_complete = trace->is_complete;
	memcpy(head->why, trace->release.why, strlen(trace->release.why));
	for (i = 0; i < trace->device_count; i++)
		devices[i] = (struct gp_binary_device){
			trace->devices[i].device, trace->devices[i].block_ids,
			trace->devices[i].total_memory
		};
	add(w, GP_BINARY_HEAD, 0, head, 1, sizeof(*head));
	add_text(w, GP_BINARY_SOURCE, trace->source);
	add_text(w, GP_BINARY_SETTINGS, trace->settings);
	add_text(w, GP_BINARY_VALUES, trace->values);
	add(w, GP_BINARY_STREAMS, 0, trace->streams, trace->stream_count,
	    sizeof(*trace->streams));
	add(w, GP_BINARY_POOLS, 0, trace->pools, trace->pool_count,
	    sizeof(*trace->pools));
	add_texts(w);
	add(w, GP_BINARY_SITES, 0, trace->sites, trace->site_count,
	    sizeof(*trace->sites));
	add(w, GP_BINARY_DEVICES, 0, devices, trace->device_count,
	    sizeof(*devices));
}

static void add_state(struct writer *w, size_t device,
		      const struct gp_state *state,
		      enum gp_binary_kind segments)
{
	add(w, segments, device, tidy_segments(w, state), state->segment_count,
	    sizeof(struct gp_segment));
	add(w, segments + 1, device, tidy_blocks(w, state), state->block_count,
	    sizeof(struct gp_block));
}

static void add_device(struct writer *w, size_t device)
{
	const struct gp_device_trace *d = &w->trace->devices[device];

	add(w, GP_BINARY_GUESSES, device, &d->guesses,
	    sizeof(d->guesses) / sizeof(uint64_t), sizeof(uint64_t));
	add(w, GP_BINARY_EVENTS, device, d->events, d->event_count,
	    sizeof(*d->events));
	add(w, GP_BINARY_NAMES, device, d->names, d->names ? d->block_ids : 0,
	    sizeof(*d->names));
	add_state(w, device, &d->start, GP_BINARY_START_SEGMENTS);
	add_state(w, device, &d->end, GP_BINARY_END_SEGMENTS);
	add(w, GP_BINARY_COUNTERS, device, d->counters, d->counter_count,
	    sizeof(*d->counters));
}

/* Bytes, and zeroes up to the next boundary. */
static void emit(struct writer *w, const void *bytes, uint64_t n)
{
	static const char zeroes[GP_BINARY_ALIGN];
	size_t rest = (size_t)(aligned(n) - n);

	if (w->out) {
		fwrite(bytes, 1, n, w->out);
		fwrite(zeroes, 1, rest, w->out);
		return;
	}
	w->crc = (uint32_t)crc32_z(w->crc, bytes, n);
	w->crc = (uint32_t)crc32_z(w->crc, (const void *)zeroes, rest);
}

static void emit_sections(struct writer *w)
{
	size_t i;

	emit(w, w->sections, w->count * sizeof(*w->sections));
	for (i = 0; i < w->count; i++)
		if (w->sections[i].count)
			emit(w, w->contents[i],
			     w->sections[i].count * w->sections[i].item_bytes);
}

static void emit_all(struct writer *w, FILE *out)
{
	struct gp_binary_header header = {
		.magic = GP_BINARY_MAGIC,
		.order = GP_BINARY_ORDER,
		.version = 1,
		.section_count = (uint32_t)w->count,
		.length = w->offset,
	};
	const size_t skip = offsetof(struct gp_binary_header, order);

	w->crc = (uint32_t)crc32_z(0, (const Bytef *)&header + skip,
				   sizeof(header) - skip);
	emit_sections(w);
	header.crc = w->crc;
	w->out = out;
	emit(w, &header, sizeof(header));
	emit_sections(w);
}

static void write_v1(const struct gp_trace *trace, FILE *out)
{
	size_t room = COMMON_SECTIONS + DEVICE_SECTIONS * trace->device_count;
	struct writer w = {
		.trace = trace,
		.sections = gp_mem_alloc(room, sizeof(*w.sections)),
		.contents = gp_mem_alloc(room, sizeof(*w.contents)),
		.owned = gp_mem_alloc(room, sizeof(*w.owned)),
	};
	size_t i;

	/* One section fewer where no settings are known; so with values. */
	w.offset = sizeof(struct gp_binary_header) +
		   (room - !trace->settings - !trace->values) *
			   sizeof(*w.sections);
	add_common(&w);
	for (i = 0; i < trace->device_count; i++)
		add_device(&w, i);
	emit_all(&w, out);
	for (i = 0; i < w.owned_count; i++)
		free(w.owned[i]);
	free(w.owned);
	free(w.sections);
	free(w.contents);
}

/* ---- what is read of it ---- */

static const char small_trace[] = SMALL_TRACE("", "");

static struct file file_of(const char *text)
{
	struct file file = { .trace = trace_of(text) };
	FILE *out;

	out = open_memstream(&file.bytes, &file.n);
	write_v1(file.trace, out);
	fclose(out);
	return file;
}

static struct file small_file(void)
{
	return file_of(small_trace);
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

START_TEST(test_it_reads_back)
{
	static const char *const texts[] = {
		small_trace,
		/* Of one release. */
		SMALL_TRACE(" \"source\": {\"torch\": \"2.11.0\"},", ""),
	};

	for (size_t i = 0; i < COUNT_OF(texts); i++) {
		struct file file = file_of(texts[i]);
		struct gp_trace *copy = NULL;
		struct gp_diag diag;

		ck_assert_int_eq(try_bytes(file.bytes, file.n, &copy, &diag),
				 GP_OK);
		ck_assert(gp_trace_equal(file.trace, copy));
		gp_trace_destroy(copy);
		release(&file);
	}
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

static struct gp_binary_head *head_of(struct file *file)
{
	return content(file, GP_BINARY_HEAD);
}

static void lie_releases(struct file *file)
{
	head_of(file)->release_first = 12;
	head_of(file)->release_last = 11;
}

static void lie_complete(struct file *file)
{
	head_of(file)->is_complete = 2;
}

static void lie_why_has_no_end(struct file *file)
{
	memset(head_of(file)->why, 'y', sizeof(head_of(file)->why));
}

static void lie_why_is_no_text(struct file *file)
{
	memcpy(head_of(file)->why, "\xff", 2);
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

static void lie_who_waits(struct file *file, uint16_t stream, uint16_t by)
{
	struct gp_event *event =
		(struct gp_event *)content(file, GP_BINARY_EVENTS) + 6;

	ck_assert_int_eq(event->kind, GP_SYNCHRONIZE);
	event->flags |= GP_STREAM_WAITS;
	event->stream = stream;
	event->by = by;
}

static void lie_all_streams_wait(struct file *file)
{
	lie_who_waits(file, GP_ALL_STREAMS, 0);
}

static void lie_waiting_stream(struct file *file)
{
	lie_who_waits(file, 0, 1000);
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
		{ lie_releases, "its sections do not fit together" },
		{ lie_complete, "its sections do not fit together" },
		{ lie_why_has_no_end, "its sections do not fit together" },
		{ lie_why_is_no_text, "its sections do not fit together" },
		{ lie_event_id, "an impossible event" },
		{ lie_event_twice, "an impossible event" },
		{ lie_name, "an impossible event" },
		{ lie_event_stream, "an impossible event" },
		{ lie_event_site, "an impossible event" },
		{ lie_event_kind, "an impossible event" },
		{ lie_event_size, "an impossible event" },
		{ lie_event_text, "an impossible event" },
		{ lie_all_streams_wait, "an impossible event" },
		{ lie_waiting_stream, "an impossible event" },
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
		ck_assert_msg(try_bytes(file.bytes, file.n, &trace, &diag) ==
				      GP_INPUT,
			      "lie %zu is believed", i);
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

	header->version = 3;
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
		{ test_every_flipped_byte_is_noticed, 0 },
		{ test_every_length_is_noticed, 0 },
		{ test_no_byte_is_believed, 0 },
		{ test_lies_are_told_apart, 0 },
		{ test_other_versions_are_told, 0 },
	};

	return suite_run("binary, version 1", tests, COUNT_OF(tests));
}
