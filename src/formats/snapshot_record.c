/* SPDX-License-Identifier: MIT */
/* Records of a PyTorch snapshot, checked and delivered to a build. */
#include "formats/snapshot_record.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const gp_word_texts[GP_WORDS] = {
	[GP_WORD_ACTION] = "action",
	[GP_WORD_ADDR] = "addr",
	[GP_WORD_SIZE] = "size",
	[GP_WORD_STREAM] = "stream",
	[GP_WORD_TIME_US] = "time_us",
	[GP_WORD_COMPILE_CONTEXT] = "compile_context",
	[GP_WORD_USER_METADATA] = "user_metadata",
	[GP_WORD_POOL_ID] = "pool_id",
	[GP_WORD_FRAMES] = "frames",
	[GP_WORD_DEVICE_FREE] = "device_free",
	[GP_WORD_FILENAME] = "filename",
	[GP_WORD_LINE] = "line",
	[GP_WORD_NAME] = "name",
	[GP_WORD_STATE] = "state",
	[GP_WORD_ADDRESS] = "address",
	[GP_WORD_REQUESTED_SIZE] = "requested_size",
	[GP_WORD_HISTORY] = "history",
	[GP_WORD_REAL_SIZE] = "real_size",
	[GP_WORD_DEVICE] = "device",
	[GP_WORD_TOTAL_SIZE] = "total_size",
	[GP_WORD_SEGMENT_TYPE] = "segment_type",
	[GP_WORD_SEGMENT_POOL_ID] = "segment_pool_id",
	[GP_WORD_IS_EXPANDABLE] = "is_expandable",
	[GP_WORD_BLOCKS] = "blocks",
	[GP_WORD_STAGE] = "stage",
	[GP_WORD_SEGMENTS] = "segments",
	[GP_WORD_DEVICE_TRACES] = "device_traces",
	[GP_WORD_ALLOCATOR_SETTINGS] = "allocator_settings",
	[GP_WORD_EXTERNAL_ANNOTATIONS] = "external_annotations",
	[GP_WORD_HOST_SEGMENTS] = "host_segments",
	[GP_WORD_HOST_TRACES] = "host_traces",
	[GP_WORD_CONF] = "PYTORCH_CUDA_ALLOC_CONF",
	[GP_WORD_MAX_SPLIT_SIZE] = "max_split_size",
	[GP_WORD_GC_THRESHOLD] = "garbage_collection_threshold",
	[GP_WORD_EXPANDABLE_SEGMENTS] = "expandable_segments",
	[GP_WORD_RELEASE_LOCK] = "release_lock_on_cudamalloc",
	[GP_WORD_CAPTURE_REUSE] = "graph_capture_record_stream_reuse",
	[GP_WORD_ROUNDUP] = "roundup_power2_divisions",
	[GP_WORD_MAX_ROUND_THRESHOLD] = "max_round_threshold",
	[GP_WORD_ALLOC] = "alloc",
	[GP_WORD_FREE_REQUESTED] = "free_requested",
	[GP_WORD_FREE_COMPLETED] = "free_completed",
	[GP_WORD_SEGMENT_ALLOC] = "segment_alloc",
	[GP_WORD_SEGMENT_FREE] = "segment_free",
	[GP_WORD_SEGMENT_MAP] = "segment_map",
	[GP_WORD_SEGMENT_UNMAP] = "segment_unmap",
	[GP_WORD_SNAPSHOT] = "snapshot",
	[GP_WORD_OOM] = "oom",
	[GP_WORD_USER_DEFINED] = "user_defined",
	[GP_WORD_ANNOTATE] = "annotate",
	[GP_WORD_ACTIVE_ALLOCATED] = "active_allocated",
	[GP_WORD_ACTIVE_PENDING_FREE] = "active_pending_free",
	[GP_WORD_ACTIVE_AWAITING_FREE] = "active_awaiting_free",
	[GP_WORD_INACTIVE] = "inactive",
	[GP_WORD_SMALL] = "small",
	[GP_WORD_LARGE] = "large",
	[GP_WORD_START] = "START",
	[GP_WORD_END] = "END",
	[GP_WORD_DIVISION] = "1",
	[GP_WORD_DIVISION + 1] = "2",
	[GP_WORD_DIVISION + 2] = "4",
	[GP_WORD_DIVISION + 3] = "8",
	[GP_WORD_DIVISION + 4] = "16",
	[GP_WORD_DIVISION + 5] = "32",
	[GP_WORD_DIVISION + 6] = "64",
	[GP_WORD_DIVISION + 7] = "128",
	[GP_WORD_DIVISION + 8] = "256",
	[GP_WORD_DIVISION + 9] = "512",
	[GP_WORD_DIVISION + 10] = "1024",
	[GP_WORD_DIVISION + 11] = "2048",
	[GP_WORD_DIVISION + 12] = "4096",
	[GP_WORD_DIVISION + 13] = "8192",
	[GP_WORD_DIVISION + 14] = "16384",
	[GP_WORD_DIVISION_LAST] = "32768",
};

/* ---- which release wrote it ---- */

/*
 * Keys and releases: sections 7 and 11 of the allocator's description, which is
 * based on torch/csrc/cuda/Module.cpp and torch/cuda/memory.py of each release.
 */

/* A key that was introduced by 2.since; 0: no bound. */
struct row {
	enum gp_key_place place;
	enum gp_word key;
	uint8_t since;
	const char *is_there;
	const char *is_missing; /* NULL: some writers omit it */
};

static const struct row rows[] = {
	{ GP_IN_BLOCK, GP_WORD_ADDRESS, 1,
	  "blocks have an address: 2.1 or later",
	  "blocks have no address: 2.0" },
	{ GP_IN_SEGMENT, GP_WORD_IS_EXPANDABLE, 1,
	  "segments have is_expandable: 2.1 or later",
	  "segments have no is_expandable: 2.0" },
	{ GP_IN_ENTRY, GP_WORD_TIME_US, 2, "entries have time_us: 2.2 or later",
	  "entries have no time_us: 2.1 or earlier" },
	{ GP_IN_TOP, GP_WORD_ALLOCATOR_SETTINGS, 3,
	  "allocator_settings is there: 2.3 or later", NULL },
	{ GP_IN_TOP, GP_WORD_EXTERNAL_ANNOTATIONS, 5,
	  "external_annotations is there: 2.5 or later", NULL },
	{ GP_IN_ENTRY, GP_WORD_COMPILE_CONTEXT, 8,
	  "entries have compile_context: 2.8 or later",
	  "entries have no compile_context: 2.7 or earlier" },
	{ GP_IN_SETTINGS, GP_WORD_CAPTURE_REUSE, 9,
	  "settings have graph_capture_record_stream_reuse: 2.9 or later",
	  "settings have no graph_capture_record_stream_reuse: "
	  "2.8 or earlier" },
	{ GP_IN_ENTRY, GP_WORD_USER_METADATA, 10,
	  "entries have user_metadata: 2.10 or later",
	  "entries have no user_metadata: 2.9 or earlier" },
	{ GP_IN_ENTRY, GP_WORD_POOL_ID, 12,
	  "entries have a pool_id: 2.12 or later",
	  "entries have no pool_id: 2.11 or earlier" },
	{ GP_IN_SETTINGS, GP_WORD_MAX_ROUND_THRESHOLD, 12,
	  "settings have max_round_threshold: 2.12 or later", NULL },
	{ GP_IN_TOP, GP_WORD_HOST_SEGMENTS, 13,
	  "host_segments is there: 2.13 or later", NULL },
	{ GP_IN_TOP, GP_WORD_HOST_TRACES, 13,
	  "host_traces is there: 2.13 or later", NULL },
};

void gp_snapshot_keys_bound(const struct gp_snapshot_keys *keys,
			    struct gp_build *build)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row *row = &rows[i];

		if (!keys->is_there[row->place])
			continue;
		if (keys->seen[row->place] & GP_WORD_BIT(row->key))
			gp_build_release_from(build, row->since, row->is_there);
		else if (row->is_missing)
			gp_build_release_to(build, row->since - 1,
					    row->is_missing);
	}
}

/* ---- delivery ---- */

/* The event that an action becomes, and the keys that it requires. */
struct action {
	uint8_t kind;
	bool is_known, is_event;
	uint16_t needs;
};

#define PLACE (GP_WORD_BIT(GP_WORD_ADDR) | GP_WORD_BIT(GP_WORD_SIZE))
#define SIZE  GP_WORD_BIT(GP_WORD_SIZE)

static const struct action actions[GP_WORDS + 1] = {
	[GP_WORD_ALLOC] = { GP_ALLOC, true, true, PLACE },
	[GP_WORD_FREE_REQUESTED] = { GP_FREE, true, true, PLACE },
	[GP_WORD_FREE_COMPLETED] = { GP_FREE_COMPLETED, true, true, PLACE },
	[GP_WORD_SEGMENT_ALLOC] = { GP_SEGMENT_ALLOC, true, true, PLACE },
	[GP_WORD_SEGMENT_FREE] = { GP_SEGMENT_FREE, true, true, PLACE },
	[GP_WORD_SEGMENT_MAP] = { GP_SEGMENT_MAP, true, true, PLACE },
	[GP_WORD_SEGMENT_UNMAP] = { GP_SEGMENT_UNMAP, true, true, PLACE },
	[GP_WORD_SNAPSHOT] = { GP_SNAPSHOT, true, true, SIZE },
	[GP_WORD_OOM] = { GP_OOM, true, true, SIZE },
	/* Annotations of the program, not actions of the allocator. */
	[GP_WORD_USER_DEFINED] = { 0, true, false, 0 },
	[GP_WORD_ANNOTATE] = { 0, true, false, 0 },
};

static enum gp_word lowest(uint64_t mask)
{
	return (enum gp_word)__builtin_ctzll(mask);
}

/* Reports that a record lacks keys or has invalid ones. */
static enum gp_status fail_keys(struct gp_diag *diag, uint64_t lacks,
				uint64_t bad)
{
	gp_diag_hint(diag, "is it damaged, or changed by another tool?");
	if (bad)
		return gp_diag_set(diag, GP_INPUT,
				   "its %s is not what it "
				   "should be: a whole number of 0 or more, "
				   "or one of PyTorch's words",
				   gp_word_texts[lowest(bad)]);
	return gp_diag_set(diag, GP_INPUT, "it has no %s",
			   gp_word_texts[lowest(lacks)]);
}

static enum gp_status find_device(struct gp_snapshot_delivery *d,
				  uint64_t ordinal)
{
	enum gp_status status;

	if (d->has_device && d->last_ordinal == ordinal)
		return GP_OK;
	status = gp_build_device(d->build, ordinal, &d->last_device, d->diag);
	d->has_device = status == GP_OK;
	d->last_ordinal = ordinal;
	return status;
}

static inline enum gp_status find_stream(struct gp_snapshot_delivery *d,
					 uint64_t stream, uint16_t *index)
{
	enum gp_status status = GP_OK;

	if (!d->has_stream || d->last_stream != stream) {
		status = gp_build_stream(d->build, stream,
					 &d->last_stream_index, d->diag);
		d->has_stream = status == GP_OK;
		d->last_stream = stream;
	}
	*index = d->last_stream_index;
	return status;
}

static inline enum gp_status find_pool(struct gp_snapshot_delivery *d,
				       uint32_t pair, uint16_t *index)
{
	struct gp_snapshot_pair *p = &d->pairs[pair];
	enum gp_status status = GP_OK;

	if (p->pool == GP_NO_POOL)
		status = gp_build_pool(d->build, p->id, &p->pool, d->diag);
	*index = p->pool;
	return status;
}

static enum gp_status fail_entry(const struct gp_snapshot_entry *entry,
				 struct gp_diag *diag)
{
	const struct action *action = &actions[entry->action];

	if (entry->bad || action->is_known)
		return fail_keys(diag, action->needs & ~entry->keys,
				 entry->bad);
	gp_diag_hint(diag, "was it recorded by a PyTorch newer than gpupool?");
	return gp_diag_set(diag, GP_INPUT,
			   "its action is not known to gpupool");
}

static inline enum gp_status read_entry(struct gp_snapshot_delivery *d,
					const struct gp_snapshot_entry *entry,
					struct gp_event *event)
{
	const struct action *action = &actions[entry->action];
	enum gp_status status;

	if (entry->bad || !action->is_known || action->needs & ~entry->keys)
		return fail_entry(entry, d->diag);
	event->addr = entry->addr;
	event->size = entry->size;
	event->time_us = entry->time_us;
	event->id = GP_NO_ID;
	event->site = entry->site;
	event->kind = action->kind;
	event->flags = 0;
	event->mark = 0;
	status = find_stream(d, entry->stream, &event->stream);
	if (status == GP_OK)
		status = find_pool(d, entry->pair, &event->pool);
	return status;
}

static enum gp_status deliver_all(struct gp_snapshot_delivery *d,
				  const struct gp_snapshot_entry *entries,
				  size_t n, size_t *done)
{
	struct gp_event *room = gp_build_room(d->build, d->last_device, n);
	enum gp_status status = GP_OK;
	size_t i, events = 0;
	uint64_t keys = 0;

	for (i = 0; i < n && status == GP_OK; i++) {
		status = read_entry(d, &entries[i], &room[events]);
		keys |= entries[i].keys;
		events += actions[entries[i].action].is_event;
	}
	*done = status == GP_OK ? n : i - 1;
	d->keys.seen[GP_IN_ENTRY] |= keys;
	if (status == GP_OK)
		gp_build_events(d->build, d->last_device, events);
	return status;
}

enum gp_status gp_snapshot_deliver_entries(
	struct gp_snapshot_delivery *d, uint64_t ordinal,
	const struct gp_snapshot_entry *entries, size_t n, size_t first)
{
	enum gp_status status = find_device(d, ordinal);
	size_t done = 0;

	d->keys.is_there[GP_IN_ENTRY] |= n > 0;
	if (status == GP_OK && n)
		status = deliver_all(d, entries, n, &done);
	if (status != GP_OK)
		gp_diag_record(d->diag, "device %llu, entry %zu",
			       (unsigned long long)ordinal, first + done);
	return status;
}

enum gp_status gp_snapshot_deliver_segment(struct gp_snapshot_delivery *d,
					   const struct gp_snapshot_segment *s,
					   size_t number)
{
	static const uint64_t needs = GP_WORD_BIT(GP_WORD_ADDRESS) |
				      GP_WORD_BIT(GP_WORD_TOTAL_SIZE) |
				      GP_WORD_BIT(GP_WORD_SEGMENT_TYPE);
	struct gp_segment segment = {
		.addr = s->addr,
		.size = s->size,
		.is_small = s->type == GP_WORD_SMALL,
		.is_expandable = s->is_expandable,
		.site = s->site,
	};
	uint64_t lacks = needs & ~s->keys;
	enum gp_status status;

	gp_snapshot_keys_add(&d->keys, GP_IN_SEGMENT, s->keys);
	status = lacks || s->bad ? fail_keys(d->diag, lacks, s->bad)
				 : find_device(d, s->device);
	if (status == GP_OK)
		status = find_stream(d, s->stream, &segment.stream);
	if (status == GP_OK)
		status = find_pool(d, s->pair, &segment.pool);
	if (status == GP_OK)
		gp_build_segment(d->build, d->last_device, &segment);
	else
		gp_diag_record(d->diag, "segment %zu", number);
	return status;
}

static enum gp_status deliver_block(struct gp_snapshot_delivery *d,
				    const struct gp_snapshot_block *b)
{
	static const uint64_t needs =
		GP_WORD_BIT(GP_WORD_SIZE) | GP_WORD_BIT(GP_WORD_STATE);
	static const uint64_t has_requested =
		GP_WORD_BIT(GP_WORD_REQUESTED_SIZE);
	struct gp_block block = {
		.addr = b->addr,
		.size = b->size,
		.requested = b->keys & has_requested ? b->requested : b->size,
		.id = GP_NO_ID,
		.state = b->state == GP_WORD_ACTIVE_ALLOCATED ? GP_ACTIVE
			 : b->state == GP_WORD_INACTIVE	      ? GP_INACTIVE
							      : GP_PENDING_FREE,
		.site = b->site,
	};
	uint64_t lacks = needs & ~b->keys;

	gp_snapshot_keys_add(&d->keys, GP_IN_BLOCK, b->keys);
	if (lacks || b->bad)
		return fail_keys(d->diag, lacks, b->bad);
	return gp_build_block(d->build, d->last_device, &block, 0, d->diag);
}

enum gp_status gp_snapshot_deliver_blocks(
	struct gp_snapshot_delivery *d, const struct gp_snapshot_block *blocks,
	size_t n, size_t segment, size_t first)
{
	enum gp_status status = GP_OK;

	for (size_t i = 0; i < n && status == GP_OK; i++) {
		status = deliver_block(d, &blocks[i]);
		if (status != GP_OK)
			gp_diag_record(d->diag, "segment %zu, block %zu",
				       segment, first + i);
	}
	return status;
}

enum gp_status gp_snapshot_deliver_annotation(
	struct gp_snapshot_delivery *d, const struct gp_snapshot_annotation *a,
	const char *text, size_t number)
{
	static const uint64_t needs =
		GP_WORD_BIT(GP_WORD_NAME) | GP_WORD_BIT(GP_WORD_TIME_US);
	uint64_t lacks = needs & ~a->keys;
	enum gp_mark_stage stage = a->stage == GP_WORD_START ? GP_MARK_START
				   : a->stage == GP_WORD_END ? GP_MARK_END
							     : GP_MARK_POINT;

	if (lacks || a->bad) {
		gp_diag_record(d->diag, "annotation %zu", number);
		return fail_keys(d->diag, lacks, a->bad);
	}
	gp_build_annotation(d->build, a->device,
			    gp_build_text(d->build, text, strlen(text)), stage,
			    a->time_us);
	return GP_OK;
}

/* ---- settings ---- */

#define MIB 1048576

/* More than all knobs need with their longest values. */
#define CONF_BYTES 1024

struct conf {
	char text[CONF_BYTES];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct conf *conf,
						      const char *format, ...)
{
	size_t room = sizeof(conf->text) - conf->length;
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(conf->text + conf->length, room, format, args);
	va_end(args);
	if (n > 0)
		conf->length += (size_t)n < room ? (size_t)n : room - 1;
}

static void add_knob(struct conf *conf, const char *name)
{
	add(conf, "%s%s:", conf->length ? "," : "", name);
}

static void add_true(struct conf *conf, const char *name, bool is_set)
{
	if (!is_set)
		return;
	add_knob(conf, name);
	add(conf, "True");
}

/*
 * One number if all intervals have it; else the list form. The first pair of a
 * list also applies to the intervals below it, so the lowest interval is always
 * named.
 */
static void add_divisions(struct conf *conf, const uint32_t *divisions)
{
	bool is_uniform = true, is_default = true;

	for (int i = 0; i < GP_DIVISIONS; i++) {
		is_uniform &= divisions[i] == divisions[0];
		is_default &= !divisions[i];
	}
	if (is_default)
		return;
	add_knob(conf, "roundup_power2_divisions");
	if (is_uniform) {
		add(conf, "%u", divisions[0]);
		return;
	}
	add(conf, "[1:%u", divisions[0]);
	for (int i = 1; i < GP_DIVISIONS; i++)
		if (divisions[i])
			add(conf, ",%d:%u", 1 << i, divisions[i]);
	add(conf, "]");
}

/*
 * The PYTORCH_CUDA_ALLOC_CONF that gives the values in a snapshot's
 * allocator_settings, for snapshots that contain values but no such string; ""
 * if all values are the defaults. The caller frees it.
 */
static char *compose_conf(const struct gp_snapshot_settings *settings)
{
	struct conf conf = { .length = 0 };

	if (settings->max_split_size) {
		add_knob(&conf, "max_split_size_mb");
		add(&conf, "%llu",
		    (unsigned long long)settings->max_split_size / MIB);
	}
	if (settings->gc_threshold > 0) {
		add_knob(&conf, "garbage_collection_threshold");
		add(&conf, "%g", settings->gc_threshold);
	}
	if (settings->divisions)
		add_divisions(&conf, settings->divisions);
	add_true(&conf, "expandable_segments", settings->is_expandable);
	add_true(&conf, "release_lock_on_cudamalloc", settings->releases_lock);
	add_true(&conf, "graph_capture_record_stream_reuse",
		 settings->reuses_in_capture);
	return gp_mem_copy_text(conf.text, conf.length);
}

void gp_snapshot_deliver_settings(struct gp_snapshot_delivery *d,
				  const struct gp_snapshot_settings *settings)
{
	char *composed;

	gp_snapshot_keys_add(&d->keys, GP_IN_SETTINGS, settings->keys);
	if (settings->conf && *settings->conf) {
		gp_build_settings(d->build, settings->conf);
		return;
	}
	composed = compose_conf(settings);
	gp_build_settings(d->build, composed);
	free(composed);
}
