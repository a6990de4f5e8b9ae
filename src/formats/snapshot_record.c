/* SPDX-License-Identifier: MIT */
/* Records of a PyTorch snapshot, checked and delivered to a build. */
#include "formats/snapshot_record.h"

#include <stdlib.h>
#include <string.h>

#include "formats/snapshot_conf.h"

/* What an action becomes, and the keys it cannot do without. */
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
	/* Notes of the program to itself; nothing the allocator did. */
	[GP_WORD_USER_DEFINED] = { 0, true, false, 0 },
	[GP_WORD_ANNOTATE] = { 0, true, false, 0 },
};

static enum gp_word lowest(uint64_t mask)
{
	return (enum gp_word)__builtin_ctzll(mask);
}

/* What is wrong with a record that lacks keys or has bad ones. */
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
			   "its action is none that gpupool knows");
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

void gp_snapshot_deliver_settings(struct gp_snapshot_delivery *d,
				  const struct gp_snapshot_settings *settings)
{
	char *composed;

	gp_snapshot_keys_add(&d->keys, GP_IN_SETTINGS, settings->keys);
	if (settings->conf && *settings->conf) {
		gp_build_settings(d->build, settings->conf);
		return;
	}
	composed = gp_snapshot_conf(settings);
	gp_build_settings(d->build, composed);
	free(composed);
}
