/* SPDX-License-Identifier: MIT */
/* Version 1 of the compact binary form, used where it is mapped: nothing in a
 * file is believed before it has been checked. */
#include <inttypes.h>
#include <string.h>
#include <zlib.h>

#include "base/utf8.h"
#include "trace/binary.h"
#include "trace/check.h"
#include "trace/store.h"

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

	if (m->length < sizeof(*header))
		return damaged(m->diag, "it is too short to be a binary trace");
	if (header->order != GP_BINARY_ORDER)
		return damaged(m->diag, "or from a machine of another byte "
					"order");
	if (header->version != 1) {
		gp_diag_hint(m->diag,
			     "this gpupool reads versions up to %d; convert it "
			     "to JSON with the one that wrote it",
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

enum gp_status gp_binary_read_v1(const char *bytes, uint64_t length,
				 struct gp_trace_store *store,
				 struct gp_diag *diag)
{
	struct map map = {
		.bytes = bytes, .length = length, .store = store, .diag = diag
	};
	enum gp_status status = check_header(&map);

	if (status)
		return status;
	get_head(&map);
	get_tables(&map);
	get_devices(&map);
	if (map.is_bad)
		return damaged(diag, "its sections do not fit together");
	return gp_trace_check(&store->trace, diag);
}
