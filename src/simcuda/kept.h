/* SPDX-License-Identifier: MIT */
/*
 * The bytes of small copies to a device, kept so that data which a program
 * sends there and reads back survives; all other bytes are zeros. A kept byte
 * may be known: it is what a GPU would have there. It may be drawn: a value
 * that a GPU might have. In a run without drawn values such a byte is a guess.
 * Called under the lock.
 */
#ifndef SIMCUDA_KEPT_H
#define SIMCUDA_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes that are kept of one copy, by default. Objects that ranks send
 * each other are larger than most that a program reads back. */
#define KEPT_MOST 1048576

struct kept_limits {
	uint64_t most;	      /* bytes of one copy */
	uint64_t most_of_all; /* all copies together; less than 1 TiB */
};
/* To be called before anything is kept. */
void kept_set_limits(const struct kept_limits *limits);
const struct kept_limits *kept_limits(void);

enum kept_state { KEPT_UNKNOWN, KEPT_DRAWN, KEPT_KNOWN };

/* The bytes are known from now on. These functions take any size; copies larger
 * than the limit are forgotten, or read as zeros. */
void kept_write(uint64_t addr, const void *bytes, size_t size);
/* The bytes are drawn from now on. */
void kept_draw(uint64_t addr, const void *bytes, size_t size);
void kept_read(uint64_t addr, void *bytes, size_t size);
/* Of a fill larger than the limit, whole chunks of 2 MiB are known. */
void kept_fill(uint64_t addr, unsigned char value, size_t size);
/* Whether any byte of the range is kept. */
bool kept_has_any(uint64_t addr, size_t size);
/* Whether every byte is known. If not, a kernel may have written one. */
bool kept_has(uint64_t addr, size_t size);
/* Reads a range of any size, all of it if its bytes are all known or drawn.
 * Returns the weakest state of its bytes. */
enum kept_state kept_take(uint64_t addr, void *bytes, size_t size);
/* Reads the bytes that are known or drawn into `bytes`; the others are drawn
 * from now on, with the values given there. */
void kept_fill_in(uint64_t addr, void *bytes, size_t size);
/* Reads the range, with `otherwise` for bytes that are not known. Returns the
 * number of known bytes. */
size_t kept_take_or(uint64_t addr, void *bytes, size_t size,
		    unsigned char otherwise);
/* The bytes keep their values and are no longer known. */
void kept_doubt(uint64_t addr, size_t size);
void kept_doubt_all(void);
/* The program got or gave back a block of memory, of which nothing is kept at
 * the beginning. */
void kept_begin_block(uint64_t addr, uint64_t size);
void kept_end_block(uint64_t addr);
/* From now on another process may write there at any time, so what is kept of
 * it is a guess at best. This holds until the memory is returned to the
 * device. */
void kept_share(uint64_t addr, uint64_t size);
void kept_unshare(uint64_t addr, uint64_t size);
/* The same until the block that begins there ends; without a block, of these
 * bytes. */
void kept_share_block(uint64_t addr, uint64_t size);
/* Nothing in the block is known any more. false: no block begins at this
 * address, or the block contains addresses, through which a kernel reaches
 * other blocks. */
bool kept_doubt_block(uint64_t addr);
/* Copies between device addresses, with the state of each byte. */
void kept_copy(uint64_t to, uint64_t from, size_t size);
/* Copies between any two addresses, on the host or a device. */
void kept_move(uint64_t to, uint64_t from, size_t size);
/* The bytes are zeros from now on. */
void kept_forget(uint64_t addr, uint64_t size);
void kept_forget_all(void);

#endif
