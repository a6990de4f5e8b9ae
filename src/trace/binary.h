/* SPDX-License-Identifier: MIT */
/*
 * The compact binary form: a header, a table of sections, and the sections,
 * which are the arrays of struct gp_trace as they stand in memory, so that a
 * file is mapped and used where it lies.  gpupool-trace(5) describes it.
 *
 * Numbers are in the byte order of the machine that wrote them; a machine of
 * the other order refuses the file.  Everything is aligned to 8 bytes.
 */
#ifndef TRACE_BINARY_H
#define TRACE_BINARY_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/trace.h"

#define GP_BINARY_VERSION 1
#define GP_BINARY_ORDER	  0x01020304u
#define GP_BINARY_ALIGN	  8

struct gp_binary_header {
	char magic[8];
	uint32_t crc; /* crc32 of all bytes behind this number */
	uint32_t order;
	uint32_t version;
	uint32_t section_count;
	uint64_t length; /* of the file */
};

/* Sections that are not there are empty; unknown ones are passed over. */
enum gp_binary_kind {
	GP_BINARY_HEAD = 1,
	GP_BINARY_SOURCE,   /* text */
	GP_BINARY_SETTINGS, /* text; not there: not known */
	GP_BINARY_STREAMS,
	GP_BINARY_POOLS,
	GP_BINARY_TEXT_OFFSETS, /* uint64_t, into the texts */
	GP_BINARY_TEXTS,	/* each ends with a NUL */
	GP_BINARY_SITES,
	GP_BINARY_DEVICES,
	/* of one device each */
	GP_BINARY_GUESSES, /* uint64_t, in the order of gp_guess_table */
	GP_BINARY_EVENTS,
	GP_BINARY_NAMES,
	GP_BINARY_START_SEGMENTS,
	GP_BINARY_START_BLOCKS,
	GP_BINARY_END_SEGMENTS,
	GP_BINARY_END_BLOCKS,
	GP_BINARY_COUNTERS,
	GP_BINARY_VALUES, /* text, of no device; not there: not told */
};

struct gp_binary_section {
	uint32_t kind;	 /* enum gp_binary_kind */
	uint32_t device; /* index into the devices, or 0 */
	uint64_t offset; /* in the file */
	uint64_t count;	 /* of items */
	uint32_t item_bytes;
	uint32_t zero;
};

struct gp_binary_head {
	uint8_t release_first, release_last, is_complete;
	char why[sizeof(((struct gp_release_range *)0)->why)];
	char zero[5];
};

struct gp_binary_device {
	uint32_t ordinal, block_ids;
	uint64_t total_memory;
};

_Static_assert(sizeof(struct gp_binary_header) == 32 &&
		       sizeof(struct gp_binary_section) == 32 &&
		       sizeof(struct gp_binary_head) == 200 &&
		       sizeof(struct gp_binary_device) == 16 &&
		       sizeof(struct gp_segment) == 40 &&
		       sizeof(struct gp_block) == 40 &&
		       sizeof(struct gp_site) == 8 &&
		       sizeof(struct gp_counter) == 16 &&
		       sizeof(struct gp_pool_id) == 16,
	       "the format is these sizes; a change is a new version");

#endif
