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

#include "formats/pickle_stencil.h"
#include "formats/snapshot_object.h"
#include "formats/source.h"

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

/* The source at its first byte; nothing is read yet. */
enum gp_status gp_machine_init(struct gp_machine *machine,
			       struct gp_source *source, struct gp_build *build,
			       struct gp_diag *diag);
void gp_machine_release(struct gp_machine *machine);

/* Room for all that the window's bytes can make; after each change of it. */
enum gp_status gp_machine_make_room(struct gp_machine *machine);

/* At least GP_LOOKAHEAD bytes in the window, or all that are left. */
enum gp_status gp_machine_refill(struct gp_machine *machine);

/* More than gp_machine_read_dicts uses of the window for one dict. */
#define GP_DICT_BYTES 256

/* Below this, values belong to something that is not done yet. */
static inline uint64_t *gp_machine_fence(const struct gp_machine *machine)
{
	return machine->stack + machine->marks[machine->mark_count - 1];
}

/* The container under items, or NULL. */
static inline uint64_t *gp_machine_under(const struct gp_machine *machine,
					 uint64_t *items)
{
	return items && items > gp_machine_fence(machine) ? items - 1 : NULL;
}

/* The items above the newest mark, which goes; NULL: there is none. */
uint64_t *gp_machine_pop_mark(struct gp_machine *machine);

/* SETITEMS for the items up to the top; NULL is an error told. */
enum gp_status gp_machine_set_items(struct gp_machine *machine,
				    uint64_t *items);

/* Does one opcode, whose byte is passed, if it is rare or its argument is of
 * any length; fails for what is no opcode, and for those that are not done
 * (pickle_step.c). */
enum gp_status gp_machine_step(struct gp_machine *machine,
			       unsigned char opcode);

/*
 * Does a run of dicts as protocols 4 and 5 write them: EMPTY_DICT, MEMOIZE,
 * MARK, items, SETITEMS.  Stops before whatever is anything else, with the
 * machine as it is there (pickle_dicts.c).
 */
void gp_machine_read_dicts(struct gp_machine *machine);

/* Names the opcode's byte as the record that is at fault. */
void gp_machine_name_opcode(struct gp_machine *machine);

/* Each returns GP_INPUT, or what the source failed with. */
enum gp_status gp_machine_fail_early(struct gp_machine *machine);
enum gp_status gp_machine_fail_damaged(struct gp_machine *machine,
				       const char *what);
enum gp_status gp_machine_fail_stack(struct gp_machine *machine);

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
