/* SPDX-License-Identifier: MIT */
/*
 * The compact binary form, which gpupool-trace(5) describes.
 *
 * It is a stream of sections of packed numbers, independent of the machine's
 * byte order, and ends with a checksum. This header is what its writer and its
 * reader share.
 */
#ifndef TRACE_BINARY_H
#define TRACE_BINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/trace.h"

#define GP_BINARY_VERSION 2
#define GP_BINARY_ORDER	  0x01020304u

/* Missing sections are empty; unknown ones are skipped. */
enum gp_binary_kind {
	GP_BINARY_CHECKSUM, /* ends the file */
	GP_BINARY_HEAD,
	GP_BINARY_SOURCE,   /* text */
	GP_BINARY_SETTINGS, /* text; missing: unknown */
	GP_BINARY_STREAMS,
	GP_BINARY_POOLS,
	GP_BINARY_NOTHING, /* no longer written */
	GP_BINARY_TEXTS,   /* each ends with a NUL */
	GP_BINARY_SITES,
	GP_BINARY_DEVICES,
	/* of one device each, up to GP_BINARY_COUNTERS */
	GP_BINARY_GUESSES, /* in the order of gp_guess_table */
	GP_BINARY_EVENTS,  /* the next part of them */
	GP_BINARY_NAMES,
	GP_BINARY_START_SEGMENTS,
	GP_BINARY_START_BLOCKS,
	GP_BINARY_END_SEGMENTS,
	GP_BINARY_END_BLOCKS,
	GP_BINARY_COUNTERS,
	GP_BINARY_VALUES,   /* text, of the whole trace; missing: unknown */
	GP_BINARY_OWNERS,   /* of the whole trace */
	GP_BINARY_OWNED,    /* of a device: the owner of each id, or none */
	GP_BINARY_NOT_TOLD, /* text, of the whole trace; missing: nothing */
};

/* A file begins with the magic number and four 32-bit numbers, least
 * significant byte first: 0, the byte order, the version and 0. */
#define GP_BINARY_ORDER_AT     12
#define GP_BINARY_VERSION_AT   16
#define GP_BINARY_HEADER_BYTES 24
#define GP_BINARY_END_BYTES    5 /* a section's kind, 0, and the checksum */

/* Errors remain in the stream's error indicator. */
void gp_write_binary(const struct gp_trace *trace, FILE *out);

/* ---- numbers ---- */

/*
 * Numbers are written with seven bits per byte, lowest first, and the eighth
 * bit set in all bytes but the last (LEB128). Signed numbers are
 * zigzag-encoded, so that small ones of either sign are short.
 */
struct packed {
	unsigned char *bytes;
	size_t length, room;
};

static inline void pack(struct packed *to, uint64_t number)
{
	if (to->room - to->length < 10)
		GP_GROW(to->bytes, to->length + 10, to->room);
	for (; number > 0x7f; number >>= 7)
		to->bytes[to->length++] = (unsigned char)(number | 0x80);
	to->bytes[to->length++] = (unsigned char)number;
}

/* The difference between any two numbers, modulo 2^64. */
static inline void pack_change(struct packed *to, uint64_t from,
			       uint64_t number)
{
	uint64_t change = number - from;

	pack(to, change << 1 ^ (change >> 63 ? UINT64_MAX : 0));
}

static inline void pack_bytes(struct packed *to, const void *bytes, size_t n)
{
	if (!n)
		return;
	GP_GROW(to->bytes, to->length + n, to->room);
	memcpy(to->bytes + to->length, bytes, n);
	to->length += n;
}

struct unpacked {
	const unsigned char *at, *end;
	bool is_bad; /* it ended too early, or had an invalid number */
};

static inline uint64_t unpack_long(struct unpacked *from)
{
	uint64_t number = 0;

	for (unsigned shift = 0; shift < 64 && from->at < from->end;
	     shift += 7) {
		unsigned char byte = *from->at++;

		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte <= 0x7f)
			return number;
	}
	from->is_bad = true;
	return 0;
}

static inline uint64_t unpack(struct unpacked *from)
{
	if (from->at < from->end && *from->at <= 0x7f)
		return *from->at++;
	return unpack_long(from);
}

static inline uint64_t unpack_change(struct unpacked *from, uint64_t before)
{
	uint64_t zigzag = unpack(from);

	return before + (zigzag >> 1 ^ (zigzag & 1 ? UINT64_MAX : 0));
}

/* A number of at most `most`; a larger one is invalid. */
static inline uint64_t unpack_most(struct unpacked *from, uint64_t most)
{
	uint64_t number = unpack(from);

	if (number <= most)
		return number;
	from->is_bad = true;
	return 0;
}

/* Sites and ids; the highest number means none. */
static inline void pack_or_none(struct packed *to, uint32_t number)
{
	pack(to, (uint32_t)(number + 1));
}

static inline uint32_t unpack_or_none(struct unpacked *from)
{
	return (uint32_t)unpack_most(from, UINT32_MAX) - 1;
}

/* ---- events ---- */

/*
 * An event is written as its shape, which most events share with many others,
 * and the numbers that its shape lists, each in a column of its own. What is
 * not listed follows from earlier events; a free, for instance, takes most from
 * its alloc.
 */
enum listed_number {
	LISTS_ID = 1 << 0,   /* else GP_NO_ID, or see IS_NEXT */
	IS_NEXT = 1 << 1,    /* the id after the highest so far */
	LISTS_SIZE = 1 << 2, /* else the size of the id's alloc, or 0 */
	LISTS_ADDR = 1 << 3, /* likewise */
	IN_PAGES = 1 << 4,   /* the change of the address is in units of PAGE */
	LISTS_TIME = 1 << 5, /* else that of the previous event */
	LISTS_SITE = 1 << 6, /* likewise */
	LISTS_MARK = 1 << 7, /* else 0 */
};

#define PAGE	 512
#define PART	 8192 /* most events of a section */
#define NO_ALLOC UINT32_MAX

enum column { SHAPES, IDS, SIZES, ADDRS, TIMES, SITES, MARKS, COLUMNS };

/* Kind, flags, listed numbers, stream and pool. */
static inline uint64_t shape_of(const struct gp_event *event, unsigned listed)
{
	return event->kind | (uint64_t)event->flags << 8 |
	       (uint64_t)listed << 16 | (uint64_t)event->stream << 24 |
	       (uint64_t)event->pool << 40;
}

/* What writer and reader know of the events before the current one. */
struct past {
	const struct gp_event *events;
	size_t count;
	uint32_t ids;	    /* of the device */
	uint64_t next_id;   /* after the highest so far */
	uint64_t addr;	    /* the last one that was listed */
	uint64_t time_us;   /* of the previous event */
	uint32_t site;	    /* likewise */
	uint32_t *alloc_of; /* by id: the number of its alloc event */
};

static inline void begin_past(struct past *past, const struct gp_event *events,
			      uint32_t ids)
{
	*past = (struct past){ .events = events,
			       .ids = ids,
			       .site = GP_NO_SITE,
			       .alloc_of =
				       gp_mem_alloc(ids, sizeof(uint32_t)) };
	memset(past->alloc_of, 0xff, ids * sizeof(uint32_t));
}

static inline bool names_text(uint8_t kind)
{
	return kind < GP_EVENT_KINDS && gp_event_fields(kind) & GP_HAS_TEXT;
}

static const struct gp_event no_alloc;

/* The alloc of an event's block; if there is none, an alloc of 0 bytes. */
static inline const struct gp_event *alloc_of(const struct past *past,
					      const struct gp_event *event)
{
	if (event->kind == GP_ALLOC || names_text(event->kind) ||
	    event->id >= past->ids || past->alloc_of[event->id] == NO_ALLOC)
		return &no_alloc;
	return &past->events[past->alloc_of[event->id]];
}

/* The event becomes the previous one. */
static inline void past_add(struct past *past, const struct gp_event *event)
{
	past->time_us = event->time_us;
	past->site = event->site;
	if (!names_text(event->kind) && event->id != GP_NO_ID) {
		if (event->kind == GP_ALLOC && event->id < past->ids &&
		    past->count < NO_ALLOC)
			past->alloc_of[event->id] = (uint32_t)past->count;
		if (event->id >= past->next_id)
			past->next_id = (uint64_t)event->id + 1;
	}
	past->count++;
}

#endif
