/* SPDX-License-Identifier: MIT */
/* Requests that bring an empty allocator into a start state. */
#include "replay/verify/prologue.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* A block that occupies a place while others are cut. */
struct piece {
	const struct gp_segment *segment;
	const struct gp_block *block; /* of the start state, live; or NULL */
	uint64_t size;
	uint32_t id;   /* of the occupying block */
	bool is_final; /* occupied by the start state's own block */
};

struct pieces {
	struct piece *items;
	size_t count, room;
};

static void add(struct prologue *p, const struct gp_event *event)
{
	GP_GROW(p->events, p->count + 1, p->room);
	p->events[p->count++] = *event;
}

static void ask(struct prologue *p, const struct gp_segment *s, uint32_t id,
		uint64_t size)
{
	add(p, &(struct gp_event){
		       .kind = GP_ALLOC,
		       .id = id,
		       .size = size,
		       .stream = s->stream,
		       .pool = s->pool,
		       .site = GP_NO_SITE,
	       });
}

static void release_block(struct prologue *p, uint32_t id)
{
	add(p, &(struct gp_event){
		       .kind = GP_FREE, .id = id, .site = GP_NO_SITE });
}

/* Allocates a placeholder, which is no block of the trace. */
static uint32_t hold(struct prologue *p, const struct gp_segment *s,
		     uint64_t size)
{
	ask(p, s, p->next_id, size);
	return p->next_id++;
}

/* The largest request to the segment's pool whose block has at most that size;
 * 0: the block of every request is larger. */
static uint64_t largest_request(const struct prologue *p,
				const struct gp_segment *s, uint64_t size)
{
	uint64_t low = s->is_small ? 0 : GP_SMALL_SIZE, high = size;

	if (s->is_small && high > GP_SMALL_SIZE)
		high = GP_SMALL_SIZE;
	low /= GP_MIN_BLOCK_SIZE;
	high /= GP_MIN_BLOCK_SIZE;
	/* Binary search for the last request that fits. */
	while (low < high) {
		uint64_t middle = low + (high - low + 1) / 2;

		if (gp_settings_round(p->settings,
				      middle * GP_MIN_BLOCK_SIZE) <= size)
			low = middle;
		else
			high = middle - 1;
	}
	size = low * GP_MIN_BLOCK_SIZE;
	return !s->is_small && size <= GP_SMALL_SIZE ? 0 : size;
}

/* ---- filling segments ---- */

/* Fills a segment with placeholders; returns their number. Their ids are
 * consecutive. */
static uint32_t fill(struct prologue *p, const struct gp_segment *s)
{
	uint32_t before = p->next_id;

	if (s->is_expandable)
		return 0; /* it grows while it is cut */
	if (s->is_small) {
		for (uint64_t at = 0; at < s->size; at += GP_SMALL_SIZE)
			hold(p, s, GP_SMALL_SIZE);
	} else if (s->size >= GP_MIN_LARGE_ALLOC &&
		   gp_settings_round(p->settings, s->size) == s->size) {
		hold(p, s, s->size);
	}
	return p->next_id - before;
}

/* ---- cutting them ---- */

static void add_piece(struct pieces *pieces, struct piece piece)
{
	GP_GROW(pieces->items, pieces->count + 1, pieces->room);
	pieces->items[pieces->count++] = piece;
}

static uint64_t rounded_request(const struct prologue *p,
				const struct gp_block *block)
{
	return gp_settings_round(p->settings, block->requested);
}

/* Whether the block's own request recreates it exactly: it has the rounded
 * size, or it ends its segment and the remainder is too small to be split
 * off. */
static bool is_plain(const struct prologue *p, const struct piece *piece)
{
	const struct gp_segment *s = piece->segment;
	const struct gp_block *b = piece->block;
	uint64_t rounded = rounded_request(p, b);

	if (rounded == piece->size)
		return true;
	return !s->is_small && !s->is_expandable && piece->size == b->size &&
	       b->addr + b->size == s->addr + s->size && rounded < b->size &&
	       b->size - rounded <= GP_SMALL_SIZE;
}

static void cut_live(struct prologue *p, struct pieces *pieces,
		     struct piece piece)
{
	if (is_plain(p, &piece)) {
		piece.is_final = true;
		piece.id = piece.block->id;
		ask(p, piece.segment, piece.id, piece.block->requested);
	} else {
		piece.id = hold(p, piece.segment, piece.size);
	}
	add_piece(pieces, piece);
}

/* A free block may take several placeholders. */
static void cut_free(struct prologue *p, struct pieces *pieces,
		     struct piece piece)
{
	uint64_t rest = piece.size;

	while (rest) {
		uint64_t size = largest_request(p, piece.segment, rest);

		if (!size)
			break;
		piece.size = gp_settings_round(p->settings, size);
		piece.id = hold(p, piece.segment, size);
		add_piece(pieces, piece);
		rest -= piece.size < rest ? piece.size : rest;
	}
}

/* In the large pool no request is as small as some free blocks. These become
 * part of the placeholder of the live block before them, and are split off when
 * that block is requested. */
static bool joins_previous(const struct gp_segment *s, const struct gp_block *b)
{
	return !s->is_small && b->state == GP_INACTIVE &&
	       b->size <= GP_SMALL_SIZE;
}

static void cut(struct prologue *p, struct pieces *pieces,
		const struct gp_state *state, const struct gp_segment *s)
{
	const struct gp_block *b = state->blocks + s->first_block;
	const struct gp_block *end = b + s->blocks;

	while (b < end) {
		struct piece piece = { .segment = s, .size = b->size };

		if (b->state == GP_INACTIVE) {
			cut_free(p, pieces, piece);
			b++;
			continue;
		}
		piece.block = b++;
		for (; b < end && joins_previous(s, b); b++)
			piece.size += b->size;
		cut_live(p, pieces, piece);
	}
}

/* ---- replacing the placeholders ---- */

static void replace(struct prologue *p, const struct piece *piece)
{
	if (!piece->block || piece->is_final)
		return;
	release_block(p, piece->id);
	ask(p, piece->segment, piece->block->id, piece->block->requested);
}

/* Makes the block pending free: freed, but still in use by another stream. */
static void make_pending(struct prologue *p, const struct piece *piece)
{
	if (!piece->block || piece->block->state != GP_PENDING_FREE)
		return;
	add(p, &(struct gp_event){
		       .kind = GP_RECORD_STREAM,
		       .id = piece->block->id,
		       .stream = GP_NO_STREAM,
		       .site = GP_NO_SITE,
	       });
	release_block(p, piece->block->id);
}

static void replace_all(struct prologue *p, const struct pieces *pieces)
{
	/* In reverse order, so that a remainder does not merge with the place
	 * before it. */
	for (size_t i = pieces->count; i--;)
		replace(p, &pieces->items[i]);
	for (size_t i = 0; i < pieces->count; i++)
		if (!pieces->items[i].block)
			release_block(p, pieces->items[i].id);
	for (size_t i = 0; i < pieces->count; i++)
		make_pending(p, &pieces->items[i]);
}

/* Whether the segment must be cut without being filled first: as one free block
 * it would be larger than max_split_size, and smaller requests, for which it
 * was allocated, cannot use such a block. */
static bool must_not_be_filled(const struct prologue *p,
			       const struct gp_state *state,
			       const struct gp_segment *s)
{
	const struct gp_block *first = &state->blocks[s->first_block];

	if (s->is_small || s->is_expandable ||
	    s->size < p->settings->max_split_size)
		return false;
	return s->blocks > 1 ||
	       (first->state != GP_INACTIVE &&
		rounded_request(p, first) < p->settings->max_split_size);
}

/* Allocates a segment; returns the number of placeholders that fill it until it
 * is cut, 0 if it is cut already. */
static uint32_t obtain(struct prologue *p, struct pieces *pieces,
		       const struct gp_state *state, const struct gp_segment *s)
{
	if (!must_not_be_filled(p, state, s))
		return fill(p, s);
	cut(p, pieces, state, s);
	return 0;
}

struct filling {
	uint32_t first_id, count;
};

static void rebuild(struct prologue *p, const struct gp_state *state)
{
	struct filling *fillings =
		gp_mem_alloc(state->segment_count, sizeof(*fillings));
	struct pieces pieces = { 0 };

	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *s = &state->segments[i];
		uint32_t id = p->next_id;

		fillings[i] =
			(struct filling){ id, obtain(p, &pieces, state, s) };
	}
	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *s = &state->segments[i];

		for (uint32_t k = 0; k < fillings[i].count; k++)
			release_block(p, fillings[i].first_id + k);
		if (!must_not_be_filled(p, state, s))
			cut(p, &pieces, state, s);
	}
	replace_all(p, &pieces);
	free(pieces.items);
	free(fillings);
}

void prologue_make(struct prologue *p, const struct gp_trace *trace,
		   uint32_t device, const struct gp_settings *settings)
{
	const struct gp_device_trace *from = &trace->devices[device];

	*p = (struct prologue){ .trace = *trace, .device = *from };
	p->settings = settings;
	p->next_id = from->block_ids;
	if (from->start.segment_count)
		rebuild(p, &from->start);
	p->length = p->count;
	GP_GROW(p->events, p->count + from->event_count + 1, p->room);
	if (from->event_count)
		memcpy(p->events + p->count, from->events,
		       from->event_count * sizeof(*p->events));
	p->count += from->event_count;
	p->device.start = (struct gp_state){ 0 };
	p->device.events = p->events;
	p->device.event_count = p->count;
	p->device.block_ids = p->next_id;
	p->trace.devices = &p->device;
	p->trace.device_count = 1;
}

void prologue_release(struct prologue *p)
{
	free(p->events);
	p->events = NULL;
}

/* ---- comparing the result ---- */

static bool is_alike(const struct gp_state *a, const struct gp_segment *x,
		     const struct gp_state *b, const struct gp_segment *y)
{
	if (x->size != y->size || x->stream != y->stream ||
	    x->pool != y->pool || x->is_small != y->is_small ||
	    x->blocks != y->blocks)
		return false;
	for (uint32_t i = 0; i < x->blocks; i++) {
		const struct gp_block *m = &a->blocks[x->first_block + i];
		const struct gp_block *n = &b->blocks[y->first_block + i];

		if (m->size != n->size || m->state != n->state ||
		    (m->state != GP_INACTIVE && m->id != n->id))
			return false;
	}
	return true;
}

uint64_t prologue_alike(const struct gp_state *a, const struct gp_state *b)
{
	uint64_t alike = 0;

	for (size_t i = 0; i < a->segment_count && i < b->segment_count; i++)
		alike += is_alike(a, &a->segments[i], b, &b->segments[i]);
	return alike;
}
