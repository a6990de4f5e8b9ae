/* SPDX-License-Identifier: MIT */
/*
 * The machine that runs a pickle: a stack of values with marks, and a memo
 * (CPython's Modules/_pickle.c and Lib/pickletools.py define the opcodes).
 *
 * What makes it fast: one bounds check an opcode, as GP_LOOKAHEAD bytes are
 * always readable; no check that there is room, as each byte of the window
 * makes at most one value, mark, memo entry, dict or list, and room for all of
 * them is made with the window.
 */
#ifndef FORMATS_PICKLE_MACHINE_H
#define FORMATS_PICKLE_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "formats/snapshot_object.h"
#include "formats/source.h"

/* The opcodes of protocols 0 to 5, under pickletools' names. */
enum gp_pickle_opcode {
	GP_OP_MARK = '(',
	GP_OP_STOP = '.',
	GP_OP_POP = '0',
	GP_OP_POP_MARK = '1',
	GP_OP_DUP = '2',
	GP_OP_BINBYTES = 'B',
	GP_OP_SHORT_BINBYTES = 'C',
	GP_OP_BINFLOAT = 'G',
	GP_OP_BININT = 'J',
	GP_OP_BININT1 = 'K',
	GP_OP_BININT2 = 'M',
	GP_OP_NONE = 'N',
	GP_OP_BINSTRING = 'T',
	GP_OP_SHORT_BINSTRING = 'U',
	GP_OP_BINUNICODE = 'X',
	GP_OP_EMPTY_LIST = ']',
	GP_OP_APPEND = 'a',
	GP_OP_DICT = 'd',
	GP_OP_APPENDS = 'e',
	GP_OP_BINGET = 'h',
	GP_OP_LONG_BINGET = 'j',
	GP_OP_LIST = 'l',
	GP_OP_BINPUT = 'q',
	GP_OP_LONG_BINPUT = 'r',
	GP_OP_SETITEM = 's',
	GP_OP_TUPLE = 't',
	GP_OP_EMPTY_TUPLE = ')',
	GP_OP_SETITEMS = 'u',
	GP_OP_EMPTY_DICT = '}',
	GP_OP_PROTO = 0x80,
	GP_OP_TUPLE1 = 0x85,
	GP_OP_TUPLE2 = 0x86,
	GP_OP_TUPLE3 = 0x87,
	GP_OP_NEWTRUE = 0x88,
	GP_OP_NEWFALSE = 0x89,
	GP_OP_LONG1 = 0x8a,
	GP_OP_LONG4 = 0x8b,
	GP_OP_SHORT_BINUNICODE = 0x8c,
	GP_OP_BINUNICODE8 = 0x8d,
	GP_OP_BINBYTES8 = 0x8e,
	GP_OP_EMPTY_SET = 0x8f,
	GP_OP_ADDITEMS = 0x90,
	GP_OP_FROZENSET = 0x91,
	GP_OP_MEMOIZE = 0x94,
	GP_OP_FRAME = 0x95,
	GP_OP_BYTEARRAY8 = 0x96,
};

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

/* The longest opcode with an argument of fixed size, LONG1 of 8 bytes. */
#define GP_LOOKAHEAD GP_SOURCE_SLACK

struct gp_machine {
	struct gp_source *source;
	struct gp_diag *diag;
	uint64_t *stack, *top;
	size_t stack_room;
	uint32_t *marks; /* where on the stack; the first is 0, the bottom */
	size_t mark_count, mark_room;
	uint64_t *memo;
	size_t memo_count, memo_room;
	uint64_t opcode_at; /* offset of the one being done, for messages */
	struct gp_snapshot_objects objects;
	struct gp_stencils stencils;
};

/* More than gp_machine_read_dicts uses of the window for one dict. */
#define GP_DICT_BYTES 256

/* Below this, values belong to something that is not done yet. */
static inline uint64_t *gp_machine_fence(const struct gp_machine *machine)
{
	return machine->stack + machine->marks[machine->mark_count - 1];
}

/*
 * Does a run of dicts as protocols 4 and 5 write them: EMPTY_DICT, MEMOIZE,
 * MARK, items, SETITEMS.  Stops before whatever is anything else, with the
 * machine as it is there (pickle_dicts.c).
 */
void gp_machine_read_dicts(struct gp_machine *machine);

/* For when a memo entry is replaced: a stencil knows the keys by their place
 * in the memo. */
void gp_stencils_forget(struct gp_stencils *stencils);

/* For what the fast path is made of, many times over. */
#define GP_ALWAYS_INLINE static inline __attribute__((always_inline))

GP_ALWAYS_INLINE uint32_t gp_load16(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

GP_ALWAYS_INLINE uint32_t gp_load32(const unsigned char *at)
{
	return gp_load16(at) | gp_load16(at + 2) << 16;
}

GP_ALWAYS_INLINE uint64_t gp_load64(const unsigned char *at)
{
	return gp_load32(at) | (uint64_t)gp_load32(at + 4) << 32;
}

/* An integer of 1 to 7 bytes, sign and all, behind its length. */
GP_ALWAYS_INLINE uint64_t gp_load_long1(const unsigned char *at)
{
	int unused = 64 - 8 * *at;

	return (uint64_t)((int64_t)(gp_load64(at + 1) << unused) >> unused);
}

#endif
