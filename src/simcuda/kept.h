/* SPDX-License-Identifier: MIT */
/*
 * Bytes of small copies to a device, kept so that what goes there and comes
 * back survives; all others are zeros.  Of those that are kept some are known:
 * what a GPU would have there; others are drawn: something that it might have,
 * which where nothing is drawn is a guess.
 * Called under the lock.
 */
#ifndef SIMCUDA_KEPT_H
#define SIMCUDA_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes of one copy that are kept, unless it is set: objects that
 * ranks send each other are larger than most that a program reads back. */
#define KEPT_MOST 1048576

struct kept_limits {
	uint64_t most;	      /* bytes of one copy */
	uint64_t most_of_all; /* copies together; less than 1 TiB */
};
/* Before anything is kept. */
void kept_set_limits(const struct kept_limits *limits);
const struct kept_limits *kept_limits(void);

enum kept_state { KEPT_UNKNOWN, KEPT_DRAWN, KEPT_KNOWN };

/* What is written is known from then on.
 * They take any size; more than the most bytes of one copy are forgotten, or
 * zeros. */
void kept_write(uint64_t addr, const void *bytes, size_t size);
/* It is drawn from then on. */
void kept_draw(uint64_t addr, const void *bytes, size_t size);
void kept_read(uint64_t addr, void *bytes, size_t size);
/* Of more than the most bytes of one copy those are known that lie in whole
 * chunks of 2 MiB. */
void kept_fill(uint64_t addr, unsigned char value, size_t size);
/* Whether anything was kept of any of it. */
bool kept_has_any(uint64_t addr, size_t size);
/* Whether each byte of it is known; false: a kernel wrote one, if anybody. */
bool kept_has(uint64_t addr, size_t size);
/* Reads bytes that are all known or drawn, of any size; of fewer the least that
 * holds of any is returned. */
enum kept_state kept_take(uint64_t addr, void *bytes, size_t size);
/* Reads those that are known or drawn; the others are drawn from then on: as
 * they are given. */
void kept_fill_in(uint64_t addr, void *bytes, size_t size);
/* Reads it with a value in place of each byte that is not known; how many are.
 */
size_t kept_take_or(uint64_t addr, void *bytes, size_t size,
		    unsigned char otherwise);
/* They stay what they are, and are not known any more. */
void kept_doubt(uint64_t addr, size_t size);
void kept_doubt_all(void);
/* A block of memory that the program has from here on, of which nothing is kept
 * yet, and its end. */
void kept_begin_block(uint64_t addr, uint64_t size);
void kept_end_block(uint64_t addr);
/* Nothing in the block is known any more; false: none begins at the address, or
 * it has addresses in it, by which a kernel reaches others. */
bool kept_doubt_block(uint64_t addr);
/* From one device address to another, with what is known of it. */
void kept_copy(uint64_t to, uint64_t from, size_t size);
/* The same between any two addresses, of devices or not. */
void kept_move(uint64_t to, uint64_t from, size_t size);
/* Zeros from here on. */
void kept_forget(uint64_t addr, uint64_t size);
void kept_forget_all(void);

#endif
