/* SPDX-License-Identifier: MIT */
/*
 * The machine that executes a pickle: a stack of values with marks, and a memo
 * (CPython's Modules/_pickle.c and Lib/pickletools.py define the opcodes).
 *
 * It is fast because it needs only one bounds check per opcode, as GP_LOOKAHEAD
 * bytes are always readable, and no check for room: each byte of the window
 * creates at most one value, mark, memo entry, dict or list, and room for all
 * of them is made when the window is filled.
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
 * A stencil: the bytes of a trace entry in the pickle, with holes in place of
 * its numbers.
 *
 * The entries of a trace have the same keys in the same order, so most are byte
 * for byte the same as an earlier one, except for numbers and for references to
 * earlier parts of the pickle. Such an entry can be read without looking at its
 * opcodes: it consists of the stencil's entry and the contents of the holes.
 */

#define GP_STENCIL_BYTES 128 /* the longest */
#define GP_STENCIL_GETS	 4   /* references whose index may vary */
#define GP_STENCIL_MADE	 4   /* texts and pairs memoized */

enum gp_stencil_number {
	GP_STENCIL_ADDR,
	GP_STENCIL_SIZE,
	GP_STENCIL_STREAM,
	GP_STENCIL_TIME_US,
	GP_STENCIL_NUMBERS
};

/* Up to 8 bytes, little-endian, selected by a mask; 0: no hole. */
struct gp_stencil_hole {
	uint64_t mask;
	uint64_t sign; /* the sign bit, or 0 */
	uint8_t at;
};

struct gp_stencil {
	/* In the host's byte order; a mask of 0: any byte matches. */
	uint64_t bytes[GP_STENCIL_BYTES / 8];
	uint64_t mask[GP_STENCIL_BYTES / 8];
	struct gp_stencil_hole numbers[GP_STENCIL_NUMBERS];
	struct gp_stencil_hole gets[GP_STENCIL_GETS];
	uint64_t made[GP_STENCIL_MADE]; /* values, in the order of the memo */
	/* everything that is not in the holes */
	struct gp_snapshot_entry entry;
	uint8_t length, get_count, made_count;
	uint8_t action_get, frames_get; /* GP_STENCIL_GETS: the entry's own */
};

/* The stencils of a pickle so far. Zeroed: none. */
#define GP_STENCILS 8
struct gp_stencils {
	struct gp_stencil all[GP_STENCILS];
	unsigned count;
	unsigned last;	 /* the one that matched last */
	unsigned misses; /* entries that matched none while all are in use */
};

/* The longest opcode with an argument of fixed size, LONG1 of 8 bytes. */
#define GP_LOOKAHEAD GP_SOURCE_SLACK

struct gp_machine {
	struct gp_source *source;
	struct gp_diag *diag;
	uint64_t *stack, *top;
	size_t stack_room;
	/* positions on the stack; the first is 0, the bottom */
	uint32_t *marks;
	size_t mark_count, mark_room;
	uint64_t *memo;
	size_t memo_count, memo_room;
	uint64_t opcode_at; /* offset of the current opcode, for messages */
	struct gp_snapshot_objects objects;
	struct gp_stencils stencils;
};

/* gp_machine_read_dicts uses less of the window for one dict. */
#define GP_DICT_BYTES 256

/* Values below this belong to containers that are still open. */
static inline uint64_t *gp_machine_fence(const struct gp_machine *machine)
{
	return machine->stack + machine->marks[machine->mark_count - 1];
}

/*
 * Executes a run of dicts as written by protocols 4 and 5: EMPTY_DICT, MEMOIZE,
 * MARK, items, SETITEMS. Stops before anything else, with the machine in the
 * state at that point (pickle_dicts.c).
 */
void gp_machine_read_dicts(struct gp_machine *machine);

/* Called when a memo entry is replaced, because stencils refer to keys by
 * their index in the memo. */
void gp_stencils_forget(struct gp_stencils *stencils);

/* For the small functions that the fast path is made of. */
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

/* A signed integer of 1 to 7 bytes, which follows its length. */
GP_ALWAYS_INLINE uint64_t gp_load_long1(const unsigned char *at)
{
	int unused = 64 - 8 * *at;

	return (uint64_t)((int64_t)(gp_load64(at + 1) << unused) >> unused);
}

#endif
