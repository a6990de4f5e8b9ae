/* SPDX-License-Identifier: MIT */
/*
 * A range of addresses, handed out first fit upward in units of
 * GP_DEVICE_GRAIN: one bit a unit.
 */
#ifndef DEVICE_SPACE_H
#define DEVICE_SPACE_H

#include <stddef.h>
#include <stdint.h>

struct space {
	uint64_t base;
	uint64_t *words; /* bit set: taken */
	size_t word_count;
	size_t full_words; /* all words below are all ones */
};

/* size is rounded up to whole units. */
uint64_t space_take(struct space *space, uint64_t size);
void space_give(struct space *space, uint64_t addr, uint64_t size);
/* Marks what lies in the range as taken; the rest is not this space's. */
void space_adopt(struct space *space, uint64_t addr, uint64_t size);
void space_release(struct space *space);

#endif
