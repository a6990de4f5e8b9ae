/* SPDX-License-Identifier: MIT */
/* Writing the compact binary form: a section at a time, in one pass. */
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/map.h"
#include "base/mem.h"
#include "gpupool/trace.h"
#include "trace/binary.h"

struct writer {
	const struct gp_trace *trace;
	FILE *out;
	uint32_t crc;
	struct packed section; /* the section in progress */
	/* events */
	struct past past;
	struct gp_map shapes; /* the number of each shape */
	struct packed columns[COLUMNS];
};

static void emit(struct writer *w, const void *bytes, size_t n)
{
	w->crc = gp_crc32c(w->crc, bytes, n);
	if (n)
		fwrite(bytes, 1, n, w->out);
}

static void emit_section(struct writer *w, enum gp_binary_kind kind,
			 size_t device, size_t count)
{
	struct packed head = { 0 };

	pack(&head, kind);
	pack(&head, device);
	pack(&head, count);
	pack(&head, w->section.length);
	emit(w, head.bytes, head.length);
	emit(w, w->section.bytes, w->section.length);
	w->section.length = 0;
	free(head.bytes);
}

static void write_text(struct writer *w, enum gp_binary_kind kind,
		       const char *text)
{
	if (!text)
		return;
	pack_bytes(&w->section, text, strlen(text));
	emit_section(w, kind, 0, 1);
}

static void write_head(struct writer *w)
{
	const struct gp_trace *trace = w->trace;

	pack(&w->section, trace->release.first);
	pack(&w->section, trace->release.last);
	pack(&w->section, trace->is_complete);
	pack_bytes(&w->section, trace->release.why, strlen(trace->release.why));
	emit_section(w, GP_BINARY_HEAD, 0, 1);
	write_text(w, GP_BINARY_SOURCE, trace->source);
	write_text(w, GP_BINARY_SETTINGS, trace->settings);
	write_text(w, GP_BINARY_VALUES, trace->values);
	write_text(w, GP_BINARY_NOT_TOLD, trace->not_told);
}

static void write_tables(struct writer *w)
{
	const struct gp_trace *trace = w->trace;
	size_t i;

	for (i = 0; i < trace->stream_count; i++)
		pack(&w->section, trace->streams[i]);
	emit_section(w, GP_BINARY_STREAMS, 0, i);
	for (i = 0; i < trace->pool_count; i++) {
		pack(&w->section, trace->pools[i].first);
		pack(&w->section, trace->pools[i].second);
	}
	emit_section(w, GP_BINARY_POOLS, 0, i);
	for (i = 0; i < trace->text_count; i++)
		pack_bytes(&w->section, trace->texts[i],
			   strlen(trace->texts[i]) + 1);
	emit_section(w, GP_BINARY_TEXTS, 0, i);
	for (i = 0; i < trace->site_count; i++) {
		pack_change(&w->section, i ? trace->sites[i - 1].text : 0,
			    trace->sites[i].text);
		pack_or_none(&w->section, trace->sites[i].caller);
	}
	emit_section(w, GP_BINARY_SITES, 0, i);
	for (i = 0; i < trace->owner_count; i++) {
		pack(&w->section, trace->owners[i].category);
		pack_or_none(&w->section, trace->owners[i].module);
		pack_or_none(&w->section, trace->owners[i].type);
	}
	if (i)
		emit_section(w, GP_BINARY_OWNERS, 0, i);
	for (i = 0; i < trace->device_count; i++) {
		const struct gp_device_trace *d = &trace->devices[i];

		pack(&w->section, d->device);
		pack(&w->section, d->block_ids);
		pack(&w->section, d->total_memory);
		pack(&w->section, d->event_count);
	}
	emit_section(w, GP_BINARY_DEVICES, 0, i);
}

static void write_state(struct writer *w, size_t device,
			const struct gp_state *state,
			enum gp_binary_kind segments)
{
	uint64_t end = 0;
	size_t i;

	for (i = 0; i < state->segment_count; i++) {
		const struct gp_segment *segment = &state->segments[i];

		pack_change(&w->section, end, segment->addr);
		pack(&w->section, segment->size);
		pack(&w->section, segment->stream);
		pack(&w->section, segment->pool);
		pack(&w->section, segment->is_small);
		pack(&w->section,
		     segment->offset ? 2u : segment->is_expandable);
		if (segment->offset)
			pack(&w->section, segment->offset);
		pack(&w->section, segment->blocks);
		pack_or_none(&w->section, segment->site);
		end = segment->addr + segment->size;
	}
	emit_section(w, segments, device, i);
	end = 0;
	for (i = 0; i < state->block_count; i++) {
		const struct gp_block *block = &state->blocks[i];

		pack_change(&w->section, end, block->addr);
		pack(&w->section, block->size);
		pack_change(&w->section, block->size, block->requested);
		pack_or_none(&w->section, block->id);
		pack(&w->section, block->state);
		pack_or_none(&w->section, block->site);
		end = block->addr + block->size;
	}
	emit_section(w, segments + 1, device, i);
}

static void write_shape(struct writer *w, const struct gp_event *event,
			unsigned listed)
{
	struct packed *to = &w->columns[SHAPES];
	uint64_t shape = shape_of(event, listed);
	uint32_t number = gp_map_get(&w->shapes, shape);

	if (number != GP_MAP_NONE) {
		pack(to, number);
		return;
	}
	number = (uint32_t)w->shapes.count;
	gp_map_put(&w->shapes, shape, number);
	pack(to, number);
	pack(to, event->kind);
	pack(to, event->flags);
	pack(to, listed);
	pack(to, event->stream);
	pack(to, event->pool);
}

/* Writes the id; returns the flags for the shape. */
static unsigned write_id(struct writer *w, const struct gp_event *event)
{
	if (event->id == GP_NO_ID)
		return 0;
	if (names_text(event->kind))
		pack(&w->columns[IDS], event->text);
	else if (event->id == w->past.next_id)
		return IS_NEXT;
	else
		pack_change(&w->columns[IDS], event->id, w->past.next_id);
	return LISTS_ID;
}

static unsigned write_addr(struct writer *w, uint64_t addr)
{
	uint64_t change = addr - w->past.addr;
	unsigned listed = LISTS_ADDR;

	if (change % PAGE) {
		pack_change(&w->columns[ADDRS], 0, change);
	} else {
		listed |= IN_PAGES;
		/* An arithmetic shift, which keeps the sign. */
		change = change / PAGE |
			 (change >> 63 ? ~(UINT64_MAX / PAGE) : 0);
		pack_change(&w->columns[ADDRS], 0, change);
	}
	w->past.addr = addr;
	return listed;
}

static void write_event(struct writer *w, const struct gp_event *event)
{
	const struct gp_event *alloc = alloc_of(&w->past, event);
	unsigned listed = write_id(w, event);

	if (event->size != alloc->size) {
		listed |= LISTS_SIZE;
		pack(&w->columns[SIZES], event->size);
	}
	if (event->addr != alloc->addr)
		listed |= write_addr(w, event->addr);
	if (event->time_us != w->past.time_us) {
		listed |= LISTS_TIME;
		pack_change(&w->columns[TIMES], w->past.time_us,
			    event->time_us);
	}
	if (event->site != w->past.site) {
		listed |= LISTS_SITE;
		pack_or_none(&w->columns[SITES], event->site);
	}
	if (event->mark) {
		listed |= LISTS_MARK;
		pack(&w->columns[MARKS], event->mark);
	}
	write_shape(w, event, listed);
	past_add(&w->past, event);
}

/* Writes the lengths of the columns, then the columns. */
static void emit_part(struct writer *w, size_t device, size_t count)
{
	for (unsigned i = 0; i < COLUMNS; i++)
		pack(&w->section, w->columns[i].length);
	for (unsigned i = 0; i < COLUMNS; i++) {
		pack_bytes(&w->section, w->columns[i].bytes,
			   w->columns[i].length);
		w->columns[i].length = 0;
	}
	emit_section(w, GP_BINARY_EVENTS, device, count);
}

static void write_events(struct writer *w, size_t device)
{
	const struct gp_device_trace *d = &w->trace->devices[device];
	size_t part = 0;

	begin_past(&w->past, d->events, d->block_ids);
	for (size_t i = 0; i < d->event_count; i++) {
		write_event(w, &d->events[i]);
		if (++part == PART || i + 1 == d->event_count) {
			emit_part(w, device, part);
			part = 0;
		}
	}
	free(w->past.alloc_of);
	gp_map_release(&w->shapes);
}

static void write_device(struct writer *w, size_t device)
{
	const struct gp_device_trace *d = &w->trace->devices[device];
	const uint64_t *guesses = (const uint64_t *)&d->guesses;
	size_t i;

	for (i = 0; i < sizeof(d->guesses) / sizeof(*guesses); i++)
		pack(&w->section, guesses[i]);
	emit_section(w, GP_BINARY_GUESSES, device, i);
	if (d->names) {
		for (i = 0; i < d->block_ids; i++)
			pack_change(&w->section, i ? d->names[i - 1] + 1 : 0,
				    d->names[i]);
		emit_section(w, GP_BINARY_NAMES, device, i);
	}
	for (i = 0; d->owners && i < d->block_ids; i++)
		pack_or_none(&w->section, d->owners[i]);
	if (d->owners)
		emit_section(w, GP_BINARY_OWNED, device, i);
	write_state(w, device, &d->start, GP_BINARY_START_SEGMENTS);
	write_events(w, device);
	write_state(w, device, &d->end, GP_BINARY_END_SEGMENTS);
	for (i = 0; i < d->counter_count; i++) {
		pack_change(&w->section, 0, (uint64_t)d->counters[i].value);
		pack(&w->section, d->counters[i].text);
	}
	emit_section(w, GP_BINARY_COUNTERS, device, i);
}

static void set_32(unsigned char *to, uint32_t number)
{
	for (unsigned i = 0; i < 4; i++)
		to[i] = (unsigned char)(number >> 8 * i);
}

void gp_write_binary(const struct gp_trace *trace, FILE *out)
{
	unsigned char header[GP_BINARY_HEADER_BYTES] = GP_BINARY_MAGIC;
	unsigned char end[GP_BINARY_END_BYTES] = { GP_BINARY_CHECKSUM };
	struct writer w = { .trace = trace, .out = out };

	set_32(header + GP_BINARY_ORDER_AT, GP_BINARY_ORDER);
	set_32(header + GP_BINARY_VERSION_AT, GP_BINARY_VERSION);
	emit(&w, header, sizeof(header));
	write_head(&w);
	write_tables(&w);
	for (size_t i = 0; i < trace->device_count; i++)
		write_device(&w, i);
	emit(&w, end, 1);
	set_32(end + 1, w.crc);
	fwrite(end + 1, 1, sizeof(end) - 1, out);
	free(w.section.bytes);
	for (unsigned i = 0; i < COLUMNS; i++)
		free(w.columns[i].bytes);
}
