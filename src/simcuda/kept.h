/* SPDX-License-Identifier: MIT */
/*
 * Bytes of small copies to a device, kept so that what goes there and comes
 * back survives; all others are zeros.  Of those that are kept some are known:
 * what a GPU would have there.  Called under the lock.
 */
#ifndef SIMCUDA_KEPT_H
#define SIMCUDA_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most bytes of one copy that are kept: objects that ranks send each other
 * are larger than most that a program reads back. */
#define KEPT_MOST 1048576

/* The most bytes that are kept of all copies. */
#define KEPT_MOST_OF_ALL (UINT64_C(64) << 20)

/* What is written is known from then on.
 * Both take any size; more than KEPT_MOST bytes are forgotten, or zeros. */
void kept_write(uint64_t addr, const void *bytes, size_t size);
void kept_read(uint64_t addr, void *bytes, size_t size);
void kept_fill(uint64_t addr, unsigned char value, size_t size);
/* Whether anything was kept of any of it. */
bool kept_has_any(uint64_t addr, size_t size);
/* Whether each byte of it is known; false: a kernel wrote one, if anybody. */
bool kept_has(uint64_t addr, size_t size);
/* Reads it if so, of any size. */
bool kept_take(uint64_t addr, void *bytes, size_t size);
/* Reads it with a value in place of each byte that is not known; how many are.
 */
size_t kept_take_or(uint64_t addr, void *bytes, size_t size,
		    unsigned char otherwise);
/* They stay what they are, and are not known any more. */
void kept_doubt(uint64_t addr, size_t size);
void kept_doubt_all(void);
/* From one device address to another, with what is known of it. */
void kept_copy(uint64_t to, uint64_t from, size_t size);
/* Zeros from here on. */
void kept_forget(uint64_t addr, uint64_t size);
void kept_forget_all(void);

#endif
