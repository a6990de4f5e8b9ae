/* SPDX-License-Identifier: MIT */
/*
 * A stencil: a trace entry's bytes in the pickle, with holes where its numbers
 * are.
 *
 * The entries of a trace have the same keys in the same order, so most are
 * byte for byte what another was before, except for their numbers and their
 * references to what the pickle already has.  One that is so needs no opcode
 * looked at: what lies in the holes and the entry that the stencil was made
 * from are all there is to it.
 */
#ifndef FORMATS_PICKLE_STENCIL_H
#define FORMATS_PICKLE_STENCIL_H

#include <stddef.h>
#include <stdint.h>

#include "formats/snapshot_record.h"

#define GP_STENCIL_BYTES 128 /* the longest */
#define GP_STENCIL_GETS	 4   /* references whose index may be another */
#define GP_STENCIL_MADE	 4   /* texts and pairs memoized */

enum gp_stencil_number {
	GP_STENCIL_ADDR,
	GP_STENCIL_SIZE,
	GP_STENCIL_STREAM,
	GP_STENCIL_TIME_US,
	GP_STENCIL_NUMBERS
};

/* Up to 8 bytes, little-endian, under a mask; a mask of 0 for no hole. */
struct gp_stencil_hole {
	uint64_t mask;
	uint64_t sign; /* the bit that says negative, or 0 */
	uint8_t at;
};

struct gp_stencil {
	/* Bytes in the host's order; a mask of 0: any byte may stand there. */
	uint64_t bytes[GP_STENCIL_BYTES / 8];
	uint64_t mask[GP_STENCIL_BYTES / 8];
	struct gp_stencil_hole numbers[GP_STENCIL_NUMBERS];
	struct gp_stencil_hole gets[GP_STENCIL_GETS];
	uint64_t made[GP_STENCIL_MADE]; /* values, in the memo's order */
	struct gp_snapshot_entry entry; /* what the holes do not say */
	uint8_t length, get_count, made_count;
	uint8_t action_get, frames_get; /* GP_STENCIL_GETS: the entry's own */
};

/* Those of a pickle so far.  Zeroed is none. */
#define GP_STENCILS 8
struct gp_stencils {
	struct gp_stencil all[GP_STENCILS];
	unsigned count;
	unsigned last;	 /* the one that fitted last */
	unsigned misses; /* entries that none fitted, once there are all */
};

struct gp_machine;

/*
 * Does a run of entries that stencils fit: leaves the machine where it is
 * before the first dict that is another, with the machine's memory as the
 * opcodes would.
 */
void gp_stencils_read(struct gp_machine *machine);

/*
 * Makes a stencil of the dict from at to the machine's place, which is done, if
 * one can be: it is the newest, an entry without fault, and all of it is
 * opcodes that gp_machine_read_dicts does.  memo_count: before it.
 */
void gp_stencils_learn(struct gp_machine *machine, const unsigned char *at,
		       size_t memo_count);

/* For when a memo entry is replaced: a stencil knows the keys by their place
 * in the memo. */
void gp_stencils_forget(struct gp_stencils *stencils);

#endif
