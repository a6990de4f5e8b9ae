/* SPDX-License-Identifier: MIT */
/*
 * Reading the compact binary form: nothing in a file is trusted before it has
 * been checked. A file that another program truncates while it is mapped cannot
 * be guarded against.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "gpupool/trace.h"
#include "trace/binary.h"
#include "trace/check.h"
#include "trace/store.h"

static uint32_t get_32(const char *from)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < 4; i++)
		number |= (uint32_t)(unsigned char)from[i] << 8 * i;
	return number;
}

struct section {
	uint64_t kind, device, count;
	struct unpacked in;
};

struct reader {
	const char *bytes;
	uint64_t length;
	struct section *sections;
	size_t section_count, section_room;
	struct gp_trace_store *store;
	struct gp_diag *diag;
	bool is_bad; /* something was invalid */
	/* events */
	struct past past;
	uint64_t *shapes;
	size_t shape_count, shape_room;
	struct unpacked columns[COLUMNS];
};

static enum gp_status damaged(struct gp_diag *diag, const char *what)
{
	gp_diag_hint(diag, "convert the original file again");
	return gp_diag_set(diag, GP_INPUT, "it is damaged: %s", what);
}

static enum gp_status cut_short(struct gp_diag *diag)
{
	gp_diag_hint(diag, "was it copied while it was being written?");
	return gp_diag_set(diag, GP_INPUT, "it ends too early");
}

/* ---- sections ---- */

static bool find_section(struct reader *r, struct unpacked *in)
{
	struct section section = { .kind = unpack(in) };
	uint64_t bytes;

	if (section.kind == GP_BINARY_CHECKSUM)
		return false;
	section.device = unpack(in);
	section.count = unpack(in);
	bytes = unpack(in);
	if (bytes > (uint64_t)(in->end - in->at))
		in->is_bad = true;
	if (in->is_bad)
		return false;
	section.in.at = in->at;
	in->at += bytes;
	section.in.end = in->at;
	GP_GROW(r->sections, r->section_count + 1, r->section_room);
	r->sections[r->section_count++] = section;
	return true;
}

static enum gp_status find_sections(struct reader *r)
{
	const unsigned char *bytes = (const unsigned char *)r->bytes;
	struct unpacked in = { bytes + GP_BINARY_HEADER_BYTES,
			       bytes + r->length, false };

	while (find_section(r, &in))
		;
	if (in.is_bad || in.end - in.at < GP_BINARY_END_BYTES - 1)
		return cut_short(r->diag);
	if (in.end - in.at > GP_BINARY_END_BYTES - 1)
		return damaged(r->diag, "there is more after its end");
	if (gp_crc32c(0, r->bytes, r->length - 4) !=
	    get_32(r->bytes + r->length - 4))
		return damaged(r->diag, "its checksum does not match");
	return GP_OK;
}

/* The next section of that kind and device, from section on; NULL: none. */
static struct section *next_section(struct reader *r, struct section *from,
				    enum gp_binary_kind kind, size_t device)
{
	struct section *end;

	if (!r->section_count)
		return NULL;
	end = r->sections + r->section_count;
	for (; from < end; from++)
		if (from->kind == kind && from->device == device)
			return from;
	return NULL;
}

/* The number of items in a section, each of which takes at least one byte; 0 if
 * there are none, or fewer bytes than items. */
static size_t open_section(struct reader *r, enum gp_binary_kind kind,
			   size_t device, struct unpacked *in)
{
	struct section *found = next_section(r, r->sections, kind, device);

	*in = (struct unpacked){ NULL, NULL, false };
	if (!found)
		return 0;
	*in = found->in;
	if (found->count <= (uint64_t)(in->end - in->at))
		return (size_t)found->count;
	r->is_bad = true;
	in->at = in->end;
	return 0;
}

/* All of the section must have been read. */
static void close_section(struct reader *r, const struct unpacked *in)
{
	r->is_bad |= in->is_bad || in->at != in->end;
}

/* ---- what it holds ---- */

/* The text up to the end of the section, or NULL. */
static const char *text_of(struct reader *r, const struct unpacked *in)
{
	size_t length = (size_t)(in->end - in->at);

	if (gp_utf8_is_clean((const char *)in->at, length))
		return gp_arena_text(&r->store->arena, (const char *)in->at,
				     length);
	r->is_bad = true;
	return NULL;
}

static const char *read_text(struct reader *r, enum gp_binary_kind kind)
{
	struct section *found = next_section(r, r->sections, kind, 0);

	return found ? text_of(r, &found->in) : NULL;
}

static void read_head(struct reader *r)
{
	struct gp_trace *trace = &r->store->trace;
	struct gp_release_range *release = &trace->release;
	struct unpacked in;
	const char *why;

	open_section(r, GP_BINARY_HEAD, 0, &in);
	release->first = (uint8_t)unpack_most(&in, UINT8_MAX);
	release->last = (uint8_t)unpack_most(&in, UINT8_MAX);
	trace->is_complete = unpack_most(&in, 1);
	why = in.is_bad ? NULL : text_of(r, &in);
	trace->source = read_text(r, GP_BINARY_SOURCE);
	trace->settings = read_text(r, GP_BINARY_SETTINGS);
	trace->values = read_text(r, GP_BINARY_VALUES);
	trace->not_told = read_text(r, GP_BINARY_NOT_TOLD);
	if (!why || strlen(why) >= sizeof(release->why) ||
	    release->first > release->last || !trace->source)
		r->is_bad = true;
	else
		memcpy(release->why, why, strlen(why) + 1);
}

static void read_texts(struct reader *r)
{
	struct gp_trace *trace = &r->store->trace;
	struct unpacked in;
	size_t count = open_section(r, GP_BINARY_TEXTS, 0, &in);
	size_t length = (size_t)(in.end - in.at);
	const char **texts =
		gp_arena_alloc(&r->store->arena, count, sizeof(*texts));
	/* One copy of all texts, so that they are read only once. */
	char *bytes = gp_arena_alloc(&r->store->arena, length, 1);
	size_t i;

	if (length)
		memcpy(bytes, in.at, length);
	for (i = 0; i < count; i++) {
		char *nul = memchr(bytes, '\0', length);
		size_t n = nul ? (size_t)(nul - bytes) : 0;

		if (!nul || !gp_utf8_is_clean(bytes, n))
			break;
		texts[i] = bytes;
		bytes += n + 1;
		length -= n + 1;
	}
	r->is_bad |= i < count || length;
	trace->texts = texts;
	trace->text_count = i;
}

static void read_sites(struct reader *r)
{
	struct gp_trace *trace = &r->store->trace;
	struct unpacked in;
	size_t count = open_section(r, GP_BINARY_SITES, 0, &in);
	struct gp_site *sites =
		gp_arena_alloc(&r->store->arena, count, sizeof(*sites));
	uint64_t text = 0;

	for (size_t i = 0; i < count; i++) {
		text = unpack_change(&in, text);
		in.is_bad |= text > UINT32_MAX;
		sites[i].text = (uint32_t)text;
		sites[i].caller = unpack_or_none(&in);
	}
	close_section(r, &in);
	trace->sites = sites;
	trace->site_count = count;
}

static void read_owners(struct reader *r)
{
	struct gp_trace *trace = &r->store->trace;
	struct unpacked in;
	size_t count = open_section(r, GP_BINARY_OWNERS, 0, &in);
	struct gp_owner *owners =
		gp_arena_alloc(&r->store->arena, count, sizeof(*owners));

	for (size_t i = 0; i < count; i++) {
		owners[i].category = (uint32_t)unpack_most(&in, UINT32_MAX);
		/* from a newer writer */
		if (owners[i].category >= GP_CATEGORIES)
			owners[i].category = GP_CATEGORY_UNKNOWN;
		owners[i].module = unpack_or_none(&in);
		owners[i].type = unpack_or_none(&in);
	}
	close_section(r, &in);
	trace->owners = owners;
	trace->owner_count = count;
}

static void read_tables(struct reader *r)
{
	struct gp_trace *trace = &r->store->trace;
	struct unpacked in;
	struct gp_pool_id *pools;
	uint64_t *streams;
	size_t count, i;

	count = open_section(r, GP_BINARY_STREAMS, 0, &in);
	streams = gp_arena_alloc(&r->store->arena, count, sizeof(*streams));
	for (i = 0; i < count; i++)
		streams[i] = unpack(&in);
	close_section(r, &in);
	trace->streams = streams;
	trace->stream_count = count;
	count = open_section(r, GP_BINARY_POOLS, 0, &in);
	pools = gp_arena_alloc(&r->store->arena, count, sizeof(*pools));
	for (i = 0; i < count; i++) {
		pools[i].first = unpack(&in);
		pools[i].second = unpack(&in);
	}
	close_section(r, &in);
	trace->pools = pools;
	trace->pool_count = count;
	read_texts(r);
	read_sites(r);
	read_owners(r);
}

static void read_segments(struct reader *r, size_t device,
			  enum gp_binary_kind kind, struct gp_state *state)
{
	struct unpacked in;
	size_t count = open_section(r, kind, device, &in), blocks = 0;
	struct gp_segment *segments =
		gp_arena_alloc(&r->store->arena, count, sizeof(*segments));
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		struct gp_segment *segment = &segments[i];
		uint64_t expandable;

		segment->addr = unpack_change(&in, end);
		segment->size = unpack(&in);
		segment->stream = (uint16_t)unpack_most(&in, UINT16_MAX);
		segment->pool = (uint16_t)unpack_most(&in, UINT16_MAX);
		segment->is_small = unpack_most(&in, 1);
		expandable = unpack_most(&in, 2);
		segment->is_expandable = expandable != 0;
		segment->offset = expandable == 2 ? unpack(&in) : 0;
		segment->blocks = (uint32_t)unpack_most(&in, UINT32_MAX);
		segment->site = unpack_or_none(&in);
		segment->first_block = (uint32_t)blocks;
		blocks += segment->blocks;
		end = segment->addr + segment->size;
	}
	close_section(r, &in);
	state->segments = segments;
	state->segment_count = count;
}

static void read_blocks(struct reader *r, size_t device,
			enum gp_binary_kind kind, struct gp_state *state)
{
	struct unpacked in;
	size_t count = open_section(r, kind, device, &in);
	struct gp_block *blocks =
		gp_arena_alloc(&r->store->arena, count, sizeof(*blocks));
	uint64_t end = 0;

	for (size_t i = 0; i < count; i++) {
		struct gp_block *block = &blocks[i];

		block->addr = unpack_change(&in, end);
		block->size = unpack(&in);
		block->requested = unpack_change(&in, block->size);
		block->id = unpack_or_none(&in);
		block->state = (uint8_t)unpack_most(&in, UINT8_MAX);
		block->site = unpack_or_none(&in);
		end = block->addr + block->size;
	}
	close_section(r, &in);
	state->blocks = blocks;
	state->block_count = count;
}

static void read_names(struct reader *r, size_t device,
		       struct gp_device_trace *to)
{
	struct unpacked in;
	size_t count = open_section(r, GP_BINARY_NAMES, device, &in);
	uint64_t *names;

	if (!count)
		return;
	names = gp_arena_alloc(&r->store->arena, count, sizeof(*names));
	for (size_t i = 0; i < count; i++)
		names[i] = unpack_change(&in, i ? names[i - 1] + 1 : 0);
	close_section(r, &in);
	r->is_bad |= count != to->block_ids;
	to->names = names;
}

static void read_owned(struct reader *r, size_t device,
		       struct gp_device_trace *to)
{
	struct unpacked in;
	size_t count = open_section(r, GP_BINARY_OWNED, device, &in);
	uint32_t *owners;

	if (!count)
		return;
	owners = gp_arena_alloc(&r->store->arena, count, sizeof(*owners));
	for (size_t i = 0; i < count; i++)
		owners[i] = unpack_or_none(&in);
	close_section(r, &in);
	r->is_bad |= count != to->block_ids;
	to->owners = owners;
}

static void read_guesses(struct reader *r, size_t device,
			 struct gp_guesses *guesses)
{
	uint64_t *to = (uint64_t *)guesses;
	struct unpacked in;
	size_t count = open_section(r, GP_BINARY_GUESSES, device, &in);

	if (count > sizeof(*guesses) / sizeof(*to)) {
		r->is_bad = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		to[i] = unpack(&in);
	close_section(r, &in);
}

static void read_counters(struct reader *r, size_t device,
			  struct gp_device_trace *to)
{
	struct unpacked in;
	size_t count = open_section(r, GP_BINARY_COUNTERS, device, &in);
	struct gp_counter *counters =
		gp_arena_alloc(&r->store->arena, count, sizeof(*counters));

	for (size_t i = 0; i < count; i++) {
		counters[i].value = (int64_t)unpack_change(&in, 0);
		counters[i].text = (uint32_t)unpack_most(&in, UINT32_MAX);
		in.is_bad |= counters[i].text >= r->store->trace.text_count;
	}
	close_section(r, &in);
	to->counters = counters;
	to->counter_count = count;
}

/* ---- events ---- */

static uint64_t read_new_shape(struct reader *r, struct unpacked *in)
{
	struct gp_event event = { 0 };
	unsigned listed;

	event.kind = (uint8_t)unpack_most(in, GP_EVENT_KINDS - 1);
	event.flags = (uint8_t)unpack_most(in, UINT8_MAX);
	listed = (unsigned)unpack_most(in, UINT8_MAX);
	event.stream = (uint16_t)unpack_most(in, UINT16_MAX);
	event.pool = (uint16_t)unpack_most(in, UINT16_MAX);
	GP_GROW(r->shapes, r->shape_count + 1, r->shape_room);
	return r->shapes[r->shape_count++] = shape_of(&event, listed);
}

static inline uint64_t read_shape(struct reader *r)
{
	struct unpacked *in = &r->columns[SHAPES];
	uint64_t number = unpack(in);

	if (number < r->shape_count)
		return r->shapes[number];
	in->is_bad |= number > r->shape_count;
	return in->is_bad ? 0 : read_new_shape(r, in);
}

static uint32_t read_id(struct reader *r, const struct gp_event *event,
			unsigned listed)
{
	struct unpacked *in = &r->columns[IDS];
	uint64_t id = GP_NO_ID;

	if (listed & IS_NEXT)
		id = r->past.next_id;
	else if (listed & LISTS_ID && names_text(event->kind))
		id = unpack(in);
	else if (listed & LISTS_ID)
		id = r->past.next_id - unpack_change(in, 0);
	in->is_bad |= id > UINT32_MAX;
	return (uint32_t)id;
}

static uint64_t read_addr(struct reader *r, unsigned listed)
{
	uint64_t change = unpack_change(&r->columns[ADDRS], 0);

	r->past.addr += listed & IN_PAGES ? change * PAGE : change;
	return r->past.addr;
}

static inline void read_event(struct reader *r, struct gp_event *event)
{
	uint64_t shape = read_shape(r);
	unsigned listed = shape >> 16 & 0xff;
	const struct gp_event *alloc;

	event->kind = shape & 0xff;
	event->flags = shape >> 8 & 0xff;
	event->stream = shape >> 24 & 0xffff;
	event->pool = shape >> 40 & 0xffff;
	event->id = read_id(r, event, listed);
	alloc = alloc_of(&r->past, event);
	event->size =
		listed & LISTS_SIZE ? unpack(&r->columns[SIZES]) : alloc->size;
	event->addr = listed & LISTS_ADDR ? read_addr(r, listed) : alloc->addr;
	event->time_us = listed & LISTS_TIME ? unpack_change(&r->columns[TIMES],
							     r->past.time_us)
					     : r->past.time_us;
	event->site = listed & LISTS_SITE ? unpack_or_none(&r->columns[SITES])
					  : r->past.site;
	event->mark =
		listed & LISTS_MARK
			? (uint16_t)unpack_most(&r->columns[MARKS], UINT16_MAX)
			: 0;
	past_add(&r->past, event);
}

static void open_columns(struct reader *r, struct unpacked *in)
{
	uint64_t lengths[COLUMNS];

	for (unsigned i = 0; i < COLUMNS; i++)
		lengths[i] = unpack(in);
	for (unsigned i = 0; i < COLUMNS; i++) {
		struct unpacked *column = &r->columns[i];

		if (lengths[i] > (uint64_t)(in->end - in->at)) {
			in->is_bad = true;
			lengths[i] = 0;
		}
		column->at = in->at;
		in->at += lengths[i];
		column->end = in->at;
		column->is_bad = false;
	}
	close_section(r, in);
}

/* Invalid values are harmless while a part is read, and are reported after
 * it. */
static void read_part(struct reader *r, struct section *part,
		      struct gp_event *to)
{
	struct unpacked in = part->in;

	open_columns(r, &in);
	for (size_t i = 0; i < part->count && !r->is_bad; i++)
		read_event(r, &to[i]);
	for (unsigned i = 0; i < COLUMNS; i++)
		close_section(r, &r->columns[i]);
}

/* Whether the parts have as many events as the device; each event takes at
 * least one byte. */
static bool parts_fit(struct reader *r, size_t device, uint64_t count)
{
	struct section *part = r->sections;
	uint64_t sum = 0;

	while ((part = next_section(r, part, GP_BINARY_EVENTS, device))) {
		if (part->count > (uint64_t)(part->in.end - part->in.at))
			return false;
		sum += part++->count;
	}
	return sum == count;
}

static void read_events(struct reader *r, size_t device,
			struct gp_device_trace *to)
{
	struct section *part = r->sections;
	struct gp_event *events;

	/* Before memory is allocated: each id is born exactly once. */
	if (!parts_fit(r, device, to->event_count) ||
	    to->block_ids > to->event_count + to->start.block_count)
		r->is_bad = true;
	if (r->is_bad)
		return;
	events = gp_arena_alloc(&r->store->arena, to->event_count,
				sizeof(*events));
	begin_past(&r->past, events, to->block_ids);
	r->shape_count = 0;
	while ((part = next_section(r, part, GP_BINARY_EVENTS, device)) &&
	       !r->is_bad)
		read_part(r, part++, events + r->past.count);
	free(r->past.alloc_of);
	to->events = events;
}

static void read_device(struct reader *r, size_t i, struct gp_device_trace *to)
{
	read_guesses(r, i, &to->guesses);
	read_names(r, i, to);
	read_owned(r, i, to);
	read_segments(r, i, GP_BINARY_START_SEGMENTS, &to->start);
	read_blocks(r, i, GP_BINARY_START_BLOCKS, &to->start);
	read_segments(r, i, GP_BINARY_END_SEGMENTS, &to->end);
	read_blocks(r, i, GP_BINARY_END_BLOCKS, &to->end);
	read_counters(r, i, to);
	read_events(r, i, to);
}

static void read_devices(struct reader *r)
{
	struct unpacked in;
	size_t count = open_section(r, GP_BINARY_DEVICES, 0, &in);
	struct gp_device_trace *devices;

	if (count > GP_DEVICES) {
		r->is_bad = true;
		return;
	}
	devices = gp_arena_alloc(&r->store->arena, count, sizeof(*devices));
	for (size_t i = 0; i < count; i++) {
		devices[i].device = (uint32_t)unpack_most(&in, GP_DEVICES - 1);
		devices[i].block_ids = (uint32_t)unpack_most(&in, UINT32_MAX);
		devices[i].total_memory = unpack(&in);
		devices[i].event_count = unpack_most(&in, SIZE_MAX / 64);
	}
	close_section(r, &in);
	for (size_t i = 0; i < count && !r->is_bad; i++)
		read_device(r, i, &devices[i]);
	r->store->trace.devices = devices;
	r->store->trace.device_count = count;
}

static enum gp_status check_head(const char *bytes, uint64_t size,
				 struct gp_diag *diag)
{
	const size_t magic = sizeof(GP_BINARY_MAGIC) - 1;
	uint32_t version;

	if (size < GP_BINARY_HEADER_BYTES || size > SIZE_MAX)
		return damaged(diag, "it is too short to be a binary trace");
	if (memcmp(bytes, GP_BINARY_MAGIC, magic) != 0 ||
	    get_32(bytes + GP_BINARY_ORDER_AT) != GP_BINARY_ORDER)
		return damaged(diag, "it does not begin as a binary trace");
	version = get_32(bytes + GP_BINARY_VERSION_AT);
	if (version == GP_BINARY_VERSION)
		return GP_OK;
	gp_diag_hint(diag,
		     "this gpupool reads version %d; convert it to JSON with "
		     "the one that wrote it",
		     GP_BINARY_VERSION);
	return gp_diag_set(diag, GP_INPUT, "binary trace version %" PRIu32,
			   version);
}

static enum gp_status read_sections(const char *bytes, uint64_t length,
				    struct gp_trace_store *store,
				    struct gp_diag *diag)
{
	struct reader r = {
		.bytes = bytes, .length = length, .store = store, .diag = diag
	};
	enum gp_status status = find_sections(&r);

	if (status == GP_OK) {
		read_head(&r);
		read_tables(&r);
		read_devices(&r);
		if (r.is_bad)
			status = damaged(diag, "its sections do not fit "
					       "together");
	}
	free(r.sections);
	free(r.shapes);
	return status ? status : gp_trace_check(&store->trace, diag);
}

enum gp_status gp_trace_from_bytes(const void *bytes, uint64_t size,
				   struct gp_trace **trace,
				   struct gp_diag *diag)
{
	struct gp_trace_store *store;
	enum gp_status status = check_head(bytes, size, diag);

	if (status)
		return status;
	store = gp_trace_store_create();
	status = read_sections(bytes, size, store, diag);
	if (status == GP_OK)
		*trace = &store->trace;
	else
		gp_trace_destroy(&store->trace);
	return status;
}

enum gp_status gp_trace_map(int fd, uint64_t size, struct gp_trace **trace,
			    struct gp_diag *diag)
{
	enum gp_status status;
	void *bytes;

	if (size < GP_BINARY_HEADER_BYTES || size > SIZE_MAX)
		return damaged(diag, "it is too short to be a binary trace");
	bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return gp_diag_set(diag, GP_SYSTEM, "cannot map it: %s",
				   strerror(errno));
	status = gp_trace_from_bytes(bytes, size, trace, diag);
	munmap(bytes, size);
	return status;
}
