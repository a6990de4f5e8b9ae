/* SPDX-License-Identifier: MIT */
/*
 * The compact binary form; gpupool-trace(5) describes it.
 *
 * It is a stream of sections of packed numbers, read on any machine, and ends
 * with a checksum.
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
	GP_BINARY_CHECKSUM, /* ends the file */
	GP_BINARY_HEAD,
	GP_BINARY_SOURCE,   /* text */
	GP_BINARY_SETTINGS, /* text; not there: not known */
	GP_BINARY_STREAMS,
	GP_BINARY_POOLS,
	GP_BINARY_NOTHING, /* no longer written */
	GP_BINARY_TEXTS,   /* each ends with a NUL */
	GP_BINARY_SITES,
	GP_BINARY_DEVICES,
	/* of one device each */
	GP_BINARY_GUESSES, /* in the order of gp_guess_table */
	GP_BINARY_EVENTS,  /* a part of them, the next */
	GP_BINARY_NAMES,
	GP_BINARY_START_SEGMENTS,
	GP_BINARY_START_BLOCKS,
	GP_BINARY_END_SEGMENTS,
	GP_BINARY_END_BLOCKS,
	GP_BINARY_COUNTERS,
	GP_BINARY_VALUES,   /* text, of no device; not there: not told */
	GP_BINARY_OWNERS,   /* of no device */
	GP_BINARY_OWNED,    /* of a device: each id's owner, or none */
	GP_BINARY_NOT_TOLD, /* text, of no device; not there: nothing */
};

/* It begins with the magic number and four numbers of 32 bits, the least byte
 * first: 0, the order, the version and 0. */
#define GP_BINARY_ORDER_AT     12
#define GP_BINARY_VERSION_AT   16
#define GP_BINARY_HEADER_BYTES 24
#define GP_BINARY_END_BYTES    5 /* a section's kind, 0, and the checksum */

#endif
