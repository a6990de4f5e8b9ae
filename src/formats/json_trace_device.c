/* SPDX-License-Identifier: MIT */
/* The devices of a gpupool-trace: their states and events. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/json_trace.h"

/* The index of a key in a list; count: it is not one of them. */
static size_t find_key(const char *const *keys, size_t count, const char *key)
{
	size_t i = 0;

	while (i < count && strcmp(key, keys[i]) != 0)
		i++;
	return i;
}

/* ---- "start" and "end": PyTorch's segments and blocks ---- */

/* A segment while its keys are read; they may follow its blocks. */
struct segment {
	struct gp_json_trace *t;
	const char *key; /* "start" or "end" */
	struct gp_segment segment;
	bool has_addr, has_size;
	struct gp_block *blocks;
	uint64_t *names;
	uint32_t *owners;
	size_t block_count, block_room, name_room, owner_room;
};

static bool read_block_state(struct gp_json_trace *t, const json_t *object,
			     uint8_t *state)
{
	static const char *const words[] = {
		[GP_INACTIVE] = "inactive",
		[GP_ACTIVE] = "active_allocated",
		[GP_PENDING_FREE] = "active_pending_free",
	};
	const json_t *value = json_object_get(object, "state");

	for (*state = 0; *state <= GP_PENDING_FREE; ++*state)
		if (json_is_string(value) &&
		    !strcmp(json_string_value(value), words[*state]))
			return true;
	gp_json_trace_wrong(t, "a block", "state", value,
			    "active_allocated, active_pending_free or "
			    "inactive");
	return false;
}

static bool read_block(struct gp_json_trace *t, const json_t *object,
		       struct gp_block *block, uint64_t *name, uint32_t *owner)
{
	const json_t *id = json_object_get(object, "id");
	const json_t *size = json_object_get(object, "size");
	bool is_ok;

	if (!size) {
		gp_json_trace_wrong(t, "a block", "size", NULL, "");
		return false;
	}
	is_ok = gp_json_trace_number(t, "a block", "address",
				     json_object_get(object, "address"),
				     &block->addr) &&
		gp_json_trace_number(t, "a block", "size", size,
				     &block->size) &&
		gp_json_trace_number(t, "a block", "id", id, name) &&
		gp_json_trace_site(t, "a block",
				   json_object_get(object, "site"),
				   &block->site) &&
		gp_json_trace_owner(t, "a block",
				    json_object_get(object, "owner"), owner) &&
		read_block_state(t, object, &block->state);
	block->requested = block->size;
	block->id = id ? 0 : GP_NO_ID;
	return is_ok &&
	       gp_json_trace_number(t, "a block", "requested_size",
				    json_object_get(object, "requested_size"),
				    &block->requested);
}

static void read_blocks(struct segment *s)
{
	struct gp_json_scan *scan = s->t->scan;
	struct gp_json_walk walk;
	json_t *value;

	if (!gp_json_enter(scan, '[', &walk))
		return;
	while (gp_json_next(scan, &walk) && (value = gp_json_value(scan))) {
		struct gp_block block = { .site = GP_NO_SITE };
		uint32_t owner = GP_NO_OWNER;
		uint64_t name = 0;

		read_block(s->t, value, &block, &name, &owner);
		json_decref(value);
		GP_GROW(s->blocks, s->block_count + 1, s->block_room);
		GP_GROW(s->names, s->block_count + 1, s->name_room);
		GP_GROW(s->owners, s->block_count + 1, s->owner_room);
		s->blocks[s->block_count] = block;
		s->owners[s->block_count] = owner;
		s->names[s->block_count++] = name;
	}
}

static void read_type(struct segment *s, const json_t *value)
{
	const char *type = json_string_value(value);

	if (type && (!strcmp(type, "small") || !strcmp(type, "large")))
		s->segment.is_small = *type == 's';
	else
		gp_json_trace_wrong(s->t, "a segment", "segment_type", value,
				    "small or large");
}

static void read_member(struct segment *s, const char *key, const json_t *value)
{
	static const char owner[] = "a segment";

	if (json_is_null(value))
		return;
	if (!strcmp(key, "address")) {
		s->has_addr = gp_json_trace_number(s->t, owner, key, value,
						   &s->segment.addr);
	} else if (!strcmp(key, "total_size")) {
		s->has_size = gp_json_trace_number(s->t, owner, key, value,
						   &s->segment.size);
	} else if (!strcmp(key, "stream")) {
		gp_json_trace_stream(s->t, owner, "stream", value,
				     &s->segment.stream);
	} else if (!strcmp(key, "segment_type")) {
		read_type(s, value);
	} else if (!strcmp(key, "segment_pool_id")) {
		gp_json_trace_pool(s->t, owner, key, value, &s->segment.pool);
	} else if (!strcmp(key, "is_expandable")) {
		s->segment.is_expandable =
			gp_json_trace_flag(s->t, owner, key, value);
	} else if (!strcmp(key, "reservation_offset")) {
		gp_json_trace_number(s->t, owner, key, value,
				     &s->segment.offset);
	} else if (!strcmp(key, "site")) {
		gp_json_trace_site(s->t, owner, value, &s->segment.site);
	}
}

static const char *const segment_keys[] = {
	"address",
	"total_size",
	"stream",
	"segment_type",
	"segment_pool_id",
	"is_expandable",
	"reservation_offset",
	"site",
	"blocks",
};
#define SEGMENT_KEYS (sizeof(segment_keys) / sizeof(*segment_keys))

static void read_members(struct segment *s)
{
	struct gp_json_scan *scan = s->t->scan;
	bool has[SEGMENT_KEYS + 1] = { false };
	char key[GP_JSON_KEY_ROOM];
	struct gp_json_walk walk;
	json_t *value;

	if (!gp_json_enter(scan, '{', &walk))
		return;
	while (gp_json_next_key(scan, &walk, key)) {
		size_t known = find_key(segment_keys, SEGMENT_KEYS, key);

		if (known == SEGMENT_KEYS) {
			gp_json_skip(scan);
		} else if (has[known]) {
			gp_json_trace_twice(s->t, "a segment", key);
		} else if (!strcmp(key, "blocks")) {
			read_blocks(s);
		} else if ((value = gp_json_value(scan))) {
			read_member(s, key, value);
			json_decref(value);
		}
		has[known] = true;
	}
}

/* For the start state only: any other block of the end state has the owner of
 * its alloc. */
static void claim(const struct segment *s, uint32_t device, size_t i)
{
	if (s->owners[i] != GP_NO_OWNER && s->blocks[i].id != GP_NO_ID &&
	    s->blocks[i].state != GP_INACTIVE)
		gp_build_claim(s->t->build, device, s->names[i], s->owners[i],
			       true);
}

static void read_segment(struct gp_json_trace *t, uint32_t device,
			 const char *key, size_t number)
{
	struct segment s = { .t = t, .key = key };
	size_t i;

	s.segment.site = GP_NO_SITE;
	read_members(&s);
	if (!s.has_addr)
		gp_json_trace_wrong(t, "a segment", "address", NULL, "");
	if (!s.has_size)
		gp_json_trace_wrong(t, "a segment", "total_size", NULL, "");
	if (!t->scan->status)
		gp_build_segment(t->build, device, &s.segment);
	for (i = 0; i < s.block_count && !t->scan->status; i++) {
		t->scan->status = gp_build_block(t->build, device, &s.blocks[i],
						 s.names[i], t->diag);
		if (!strcmp(key, "start"))
			claim(&s, device, i);
	}
	if (t->scan->status && !*t->diag->record)
		gp_diag_record(t->diag, "%s, segment %zu", key, number);
	free(s.blocks);
	free(s.names);
	free(s.owners);
}

/* The value of "start" or "end". */
static void read_state(struct gp_json_trace *t, uint32_t device, bool is_end)
{
	const char *name = is_end ? "end" : "start";
	struct gp_json_walk walk, list;
	char key[GP_JSON_KEY_ROOM];
	bool has_segments = false;
	size_t number = 0;

	gp_build_end_state(t->build, device, is_end);
	if (!gp_json_enter(t->scan, '{', &walk))
		return;
	while (gp_json_next_key(t->scan, &walk, key)) {
		if (strcmp(key, "segments") != 0) {
			gp_json_skip(t->scan);
			continue;
		}
		if (has_segments)
			gp_json_trace_twice(t, name, key);
		has_segments = true;
		if (gp_json_enter(t->scan, '[', &list))
			while (gp_json_next(t->scan, &list))
				read_segment(t, device, name, number++);
	}
}

/* ---- a device ---- */

bool gp_json_trace_device(struct gp_json_trace *t, uint64_t ordinal,
			  uint32_t *device)
{
	t->scan->status = gp_build_device(t->build, ordinal, device, t->diag);
	if (t->scan->status)
		return false;
	if (*device == t->device_count) {
		GP_GROW(t->devices, t->device_count + 1, t->device_room);
		t->devices[t->device_count++] =
			(struct gp_json_device){ .ordinal = ordinal };
	}
	return true;
}

static void read_events(struct gp_json_trace *t, uint32_t device)
{
	struct gp_json_walk walk;
	json_t *value;

	if (!gp_json_enter(t->scan, '[', &walk))
		return;
	while (gp_json_next(t->scan, &walk)) {
		if (gp_json_trace_plain_event(t, device))
			continue;
		value = gp_json_value(t->scan);
		if (!value)
			return;
		gp_json_trace_event(t, device, value);
		json_decref(value);
	}
}

static void read_guesses(struct gp_json_trace *t, uint32_t device,
			 const json_t *object)
{
	struct gp_guesses guesses = { 0 };
	const struct gp_guess_row *rows;
	size_t count, i;

	if (!gp_json_trace_has(t, "the device", "guesses", object, JSON_OBJECT))
		return;
	rows = gp_guess_table(&count);
	for (i = 0; i < count; i++)
		gp_json_trace_number(
			t, "guesses", rows[i].name,
			json_object_get(object, rows[i].name),
			(uint64_t *)((char *)&guesses + rows[i].offset));
	gp_build_guesses(t->build, device, &guesses);
}

void gp_json_trace_counters(struct gp_json_trace *t, uint32_t device,
			    const json_t *object)
{
	const char *name;
	json_t *value;

	if (!json_is_object(object))
		gp_json_trace_wrong(t, "the device", "memory_stats", object,
				    "an object of numbers");
	json_object_foreach((json_t *)object, name, value)
	{
		if (json_is_integer(value))
			gp_build_counter(t->build, device, name,
					 json_integer_value(value));
		else
			gp_json_trace_wrong(t, "memory_stats", name, value,
					    "a whole number");
	}
}

/* Keys with small values, of a device that is known. */
static void read_device_value(struct gp_json_trace *t, uint32_t device,
			      const char *key)
{
	json_t *value = gp_json_value(t->scan);
	uint64_t bytes = 0;

	if (!value)
		return;
	if (!strcmp(key, "guesses"))
		read_guesses(t, device, value);
	else if (json_is_null(value))
		; /* unknown */
	else if (!strcmp(key, "memory_stats"))
		gp_json_trace_counters(t, device, value);
	else if (gp_json_trace_number(t, "the device", key, value, &bytes))
		gp_build_total_memory(t->build, device, bytes);
	json_decref(value);
}

static bool read_ordinal(struct gp_json_trace *t, uint32_t *device)
{
	json_t *value = gp_json_value(t->scan);
	size_t before = t->device_count;
	uint64_t ordinal = 0;
	bool is_ok = value && gp_json_trace_number(t, "the device", "device",
						   value, &ordinal);

	json_decref(value);
	if (!is_ok || !gp_json_trace_device(t, ordinal, device))
		return false;
	if (*device == before)
		return true;
	gp_diag_hint(t->diag, "put everything about a device into one element");
	t->scan->status = gp_diag_set(
		t->diag, GP_INPUT,
		"device %" PRIu64 " appears twice in \"devices\"", ordinal);
	return false;
}

static const char *const device_keys[] = { "device",	  "events",
					   "start",	  "end",
					   "guesses",	  "memory_stats",
					   "total_memory" };
#define DEVICE_KEYS (sizeof(device_keys) / sizeof(*device_keys))

static void read_device_key(struct gp_json_trace *t, uint32_t device,
			    const char *key)
{
	if (!strcmp(key, "events"))
		read_events(t, device);
	else if (!strcmp(key, "start") || !strcmp(key, "end"))
		read_state(t, device, *key == 'e');
	else
		read_device_value(t, device, key);
}

/* Messages about what follows name the device. */
static void require_device(struct gp_json_trace *t, size_t number,
			   const char *key)
{
	gp_diag_record(t->diag, "devices, element %zu", number);
	gp_diag_hint(t->diag, "write {\"device\": 0, ...");
	t->scan->status = gp_diag_set(
		t->diag, GP_INPUT, "\"device\" must come before \"%s\"", key);
}

void gp_json_trace_read_device(struct gp_json_trace *t, size_t number)
{
	char key[GP_JSON_KEY_ROOM];
	struct gp_json_walk walk;
	bool has[DEVICE_KEYS] = { false };
	uint32_t device = 0;

	if (!gp_json_enter(t->scan, '{', &walk))
		return;
	while (gp_json_next_key(t->scan, &walk, key)) {
		size_t known = find_key(device_keys, DEVICE_KEYS, key);

		if (known == DEVICE_KEYS) {
			gp_json_skip(t->scan);
		} else if (has[known]) {
			gp_json_trace_twice(t, "the device", key);
		} else if (!known) {
			has[known] = read_ordinal(t, &device);
		} else if (!*has) {
			require_device(t, number, key);
		} else {
			has[known] = true;
			read_device_key(t, device, key);
		}
	}
	if (*has)
		return;
	gp_json_trace_wrong(t, "the device", "device", NULL, "");
	if (!*t->diag->record)
		gp_diag_record(t->diag, "devices, element %zu", number);
}
