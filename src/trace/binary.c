/* SPDX-License-Identifier: MIT */
/* The compact binary form, written and mapped. */
#include "trace/binary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "gpupool/write.h"
#include "trace/check.h"
#include "trace/store.h"
#include "trace/write.h"

/*
 * ---- writing ----
 *
 * Twice over the same sections, first for the checksum, which stands in front.
 */

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
		.version = GP_BINARY_VERSION,
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

void gp_write_binary(const struct gp_trace *trace, FILE *out)
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

/*
 * ---- mapping ----
 *
 * Nothing in a file is believed before it has been checked.  A file that
 * another program cuts short while it is mapped cannot be guarded against.
 */

struct map {
	const char *bytes;
	uint64_t length;
	const struct gp_binary_section *sections;
	uint32_t section_count;
	struct gp_trace_store *store;
	struct gp_diag *diag;
	bool is_bad; /* something was not where it should be */
};

static enum gp_status damaged(struct gp_diag *diag, const char *what)
{
	gp_diag_hint(diag, "convert it again from what it was made of");
	return gp_diag_set(diag, GP_INPUT, "it is damaged: %s", what);
}

/* ---- header and table ---- */

static enum gp_status check_length(const struct gp_binary_header *header,
				   uint64_t size, struct gp_diag *diag)
{
	if (header->length == size)
		return GP_OK;
	gp_diag_hint(diag, "was it copied while it was being written?");
	return gp_diag_set(diag, GP_INPUT,
			   "it has %" PRIu64 " bytes of %" PRIu64, size,
			   header->length);
}

static enum gp_status check_header(struct map *m)
{
	const struct gp_binary_header *header = (const void *)m->bytes;
	const size_t skip = offsetof(struct gp_binary_header, order);
	uint32_t crc;

	if (memcmp(header->magic, GP_BINARY_MAGIC, sizeof(header->magic)) != 0)
		return damaged(m->diag, "it does not begin as a binary trace");
	if (header->order != GP_BINARY_ORDER)
		return damaged(m->diag, "or from a machine of another byte "
					"order");
	if (header->version != GP_BINARY_VERSION) {
		gp_diag_hint(m->diag,
			     "this gpupool reads version %d; convert "
			     "it to JSON with the one that wrote it",
			     GP_BINARY_VERSION);
		return gp_diag_set(m->diag, GP_INPUT,
				   "binary trace version %" PRIu32,
				   header->version);
	}
	if (check_length(header, m->length, m->diag))
		return GP_INPUT;
	crc = (uint32_t)crc32_z(0, (const Bytef *)m->bytes + skip,
				m->length - skip);
	if (crc != header->crc)
		return damaged(m->diag, "its checksum does not match");
	m->section_count = header->section_count;
	m->sections = (const void *)(m->bytes + sizeof(*header));
	if (m->section_count >
	    (m->length - sizeof(*header)) / sizeof(struct gp_binary_section))
		return damaged(m->diag, "more sections than bytes");
	return GP_OK;
}

/* An array; NULL and 0 where there is none, or not where it says. */
static const void *get(struct map *m, enum gp_binary_kind kind, size_t device,
		       size_t item_bytes, size_t *count)
{
	const struct gp_binary_section *section = m->sections;
	const struct gp_binary_section *end = section + m->section_count;

	*count = 0;
	while (section < end &&
	       (section->kind != kind || section->device != device))
		section++;
	if (section == end || !section->count)
		return NULL;
	if (section->offset % GP_BINARY_ALIGN || section->offset > m->length ||
	    section->item_bytes != item_bytes ||
	    section->count > (m->length - section->offset) / item_bytes) {
		m->is_bad = true;
		return NULL;
	}
	*count = section->count;
	return m->bytes + section->offset;
}

/* ---- what it holds ---- */

/* A text that ends in its section, or NULL. */
static const char *get_text(struct map *m, enum gp_binary_kind kind)
{
	size_t length;
	const char *text = get(m, kind, 0, 1, &length);

	if (text &&
	    (text[length - 1] != '\0' || !gp_utf8_is_clean(text, strlen(text))))
		m->is_bad = true;
	return m->is_bad ? NULL : text;
}

static void get_texts(struct map *m)
{
	struct gp_trace *trace = &m->store->trace;
	const char *bytes, **texts;
	const uint64_t *offsets;
	size_t count, length, i;

	offsets = get(m, GP_BINARY_TEXT_OFFSETS, 0, sizeof(*offsets), &count);
	bytes = get(m, GP_BINARY_TEXTS, 0, 1, &length);
	if (length && bytes[length - 1] != '\0')
		m->is_bad = true;
	texts = gp_arena_alloc(&m->store->arena, count, sizeof(*texts));
	for (i = 0; i < count && !m->is_bad; i++) {
		/* Apart from one another, so that all are read but once. */
		if (offsets[i] >= length ||
		    (i && offsets[i] <= offsets[i - 1]) ||
		    (i && bytes[offsets[i] - 1] != '\0')) {
			m->is_bad = true;
			break;
		}
		texts[i] = bytes + offsets[i];
		m->is_bad = !gp_utf8_is_clean(texts[i], strlen(texts[i]));
	}
	trace->texts = texts;
	trace->text_count = count;
}

static void get_head(struct map *m)
{
	struct gp_trace *trace = &m->store->trace;
	const struct gp_binary_head *head;
	size_t count;

	head = get(m, GP_BINARY_HEAD, 0, sizeof(*head), &count);
	trace->source = get_text(m, GP_BINARY_SOURCE);
	trace->settings = get_text(m, GP_BINARY_SETTINGS);
	trace->values = get_text(m, GP_BINARY_VALUES);
	if (!head || !trace->source || head->is_complete > 1 ||
	    head->release_first > head->release_last ||
	    !memchr(head->why, '\0', sizeof(head->why)) ||
	    !gp_utf8_is_clean(head->why, strlen(head->why))) {
		m->is_bad = true;
		return;
	}
	trace->release.first = head->release_first;
	trace->release.last = head->release_last;
	memcpy(trace->release.why, head->why, sizeof(head->why));
	trace->is_complete = head->is_complete;
}

static void get_tables(struct map *m)
{
	struct gp_trace *trace = &m->store->trace;

	trace->streams = get(m, GP_BINARY_STREAMS, 0, sizeof(*trace->streams),
			     &trace->stream_count);
	trace->pools = get(m, GP_BINARY_POOLS, 0, sizeof(*trace->pools),
			   &trace->pool_count);
	trace->sites = get(m, GP_BINARY_SITES, 0, sizeof(*trace->sites),
			   &trace->site_count);
	get_texts(m);
}

static void get_state(struct map *m, size_t device,
		      enum gp_binary_kind segments, struct gp_state *state)
{
	state->segments = get(m, segments, device, sizeof(*state->segments),
			      &state->segment_count);
	state->blocks = get(m, segments + 1, device, sizeof(*state->blocks),
			    &state->block_count);
}

static void get_guesses(struct map *m, size_t device, struct gp_guesses *to)
{
	const uint64_t *guesses;
	size_t count;

	guesses = get(m, GP_BINARY_GUESSES, device, sizeof(*guesses), &count);
	if (count * sizeof(*guesses) > sizeof(*to))
		m->is_bad = true;
	else if (count)
		memcpy(to, guesses, count * sizeof(*guesses));
}

static void get_device(struct map *m, size_t i,
		       const struct gp_binary_device *from,
		       struct gp_device_trace *to)
{
	size_t names;

	to->device = from->ordinal;
	to->block_ids = from->block_ids;
	to->total_memory = from->total_memory;
	to->events = get(m, GP_BINARY_EVENTS, i, sizeof(*to->events),
			 &to->event_count);
	to->names = get(m, GP_BINARY_NAMES, i, sizeof(*to->names), &names);
	if ((to->names && names != to->block_ids) ||
	    from->ordinal >= GP_DEVICES)
		m->is_bad = true;
	get_guesses(m, i, &to->guesses);
	get_state(m, i, GP_BINARY_START_SEGMENTS, &to->start);
	get_state(m, i, GP_BINARY_END_SEGMENTS, &to->end);
	to->counters = get(m, GP_BINARY_COUNTERS, i, sizeof(*to->counters),
			   &to->counter_count);
	for (size_t k = 0; k < to->counter_count; k++)
		if (to->counters[k].text >= m->store->trace.text_count)
			m->is_bad = true;
}

static void get_devices(struct map *m)
{
	struct gp_trace *trace = &m->store->trace;
	const struct gp_binary_device *from;
	struct gp_device_trace *devices;
	size_t count, i;

	from = get(m, GP_BINARY_DEVICES, 0, sizeof(*from), &count);
	if (count > GP_DEVICES) {
		m->is_bad = true;
		return;
	}
	devices = gp_arena_alloc(&m->store->arena, count, sizeof(*devices));
	for (i = 0; i < count; i++)
		get_device(m, i, &from[i], &devices[i]);
	trace->devices = devices;
	trace->device_count = count;
}

static enum gp_status load(struct map *m)
{
	enum gp_status status = check_header(m);

	if (status)
		return status;
	get_head(m);
	get_tables(m);
	get_devices(m);
	if (m->is_bad)
		return damaged(m->diag, "its sections do not fit together");
	return gp_trace_check(&m->store->trace, m->diag);
}

enum gp_status gp_trace_map(int fd, uint64_t size, struct gp_trace **trace,
			    struct gp_diag *diag)
{
	struct map map = { .length = size, .diag = diag };
	enum gp_status status;
	void *bytes;

	if (size < sizeof(struct gp_binary_header) || size > SIZE_MAX)
		return damaged(diag, "it is too short to be a binary trace");
	bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return gp_diag_set(diag, GP_SYSTEM, "cannot map it: %s",
				   strerror(errno));
	map.bytes = bytes;
	map.store = gp_trace_store_create();
	map.store->mapping = bytes;
	map.store->mapping_bytes = size;
	status = load(&map);
	if (status)
		gp_trace_destroy(&map.store->trace);
	else
		*trace = &map.store->trace;
	return status;
}
