/* SPDX-License-Identifier: MIT */
/*
 * The compact binary form; gpupool-trace(5) describes it.
 *
 * Version 2 is a stream of sections of packed numbers, read on any machine, and
 * ends with a checksum.  Version 1, which is read but no longer written, holds
 * the arrays of struct gp_trace as they stand in memory, behind a table.
 */
#ifndef TRACE_BINARY_H
#define TRACE_BINARY_H

#include <stddef.h>
#include <stdint.h>

#include "gpupool/status.h"
#include "gpupool/trace.h"
#include "trace/store.h"

#define GP_BINARY_VERSION 2
#define GP_BINARY_ORDER	  0x01020304u

/* Sections that are not there are empty; unknown ones are passed over. */
enum gp_binary_kind {
	GP_BINARY_CHECKSUM, /* version 2: ends the file */
	GP_BINARY_HEAD,
	GP_BINARY_SOURCE,   /* text */
	GP_BINARY_SETTINGS, /* text; not there: not known */
	GP_BINARY_STREAMS,
	GP_BINARY_POOLS,
	GP_BINARY_TEXT_OFFSETS, /* version 1: uint64_t, into the texts */
	GP_BINARY_TEXTS,	/* each ends with a NUL */
	GP_BINARY_SITES,
	GP_BINARY_DEVICES,
	/* of one device each */
	GP_BINARY_GUESSES, /* in the order of gp_guess_table */
	GP_BINARY_EVENTS,  /* version 2: a part of them, the next */
	GP_BINARY_NAMES,
	GP_BINARY_START_SEGMENTS,
	GP_BINARY_START_BLOCKS,
	GP_BINARY_END_SEGMENTS,
	GP_BINARY_END_BLOCKS,
	GP_BINARY_COUNTERS,
	GP_BINARY_VALUES, /* text, of no device; not there: not told */
	GP_BINARY_OWNERS, /* of no device */
	GP_BINARY_OWNED,  /* of a device: each id's owner, or none */
};

/*
 * Version 2 begins with the magic number and four numbers of 32 bits, the
 * least byte first: 0, the order, the version and 0.  The order and the version
 * stand where version 1 has them, so that its readers name the version that
 * they do not know.
 */
#define GP_BINARY_ORDER_AT     12
#define GP_BINARY_VERSION_AT   16
#define GP_BINARY_HEADER_BYTES 24
#define GP_BINARY_END_BYTES    5 /* a section's kind, 0, and the checksum */

/* ---- version 1: numbers in the byte order of the machine that wrote them */

#define GP_BINARY_ALIGN 8

struct gp_binary_header {
	char magic[8];
	uint32_t crc; /* crc32 of all bytes behind this number */
	uint32_t order;
	uint32_t version;
	uint32_t section_count;
	uint64_t length; /* of the file */
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
	       "version 1 is these sizes");

/* Fills the store's trace, which then lies in the bytes. */
enum gp_status gp_binary_read_v1(const char *bytes, uint64_t length,
				 struct gp_trace_store *store,
				 struct gp_diag *diag);

#endif
