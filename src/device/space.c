/* SPDX-License-Identifier: MIT */
/* Addresses, first fit upward, by a bitmap that grows as it is needed. */
#include "device/space.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/device.h"

static void make_room(struct space *space, size_t units)
{
	size_t room = space->word_count, need = (units + 63) / 64;

	if (need <= room)
		return;
	space->words =
		gp_mem_grow(space->words, &room, need, sizeof(*space->words));
	memset(space->words + space->word_count, 0,
	       (room - space->word_count) * sizeof(*space->words));
	space->word_count = room;
}

static int is_taken(const struct space *space, size_t unit)
{
	return unit / 64 < space->word_count &&
	       space->words[unit / 64] >> unit % 64 & 1;
}

static void mark(struct space *space, size_t from, size_t units, int taken)
{
	for (size_t i = from; i < from + units;) {
		if (i % 64 == 0 && from + units - i >= 64) {
			space->words[i / 64] = taken ? ~UINT64_C(0) : 0;
			i += 64;
			continue;
		}
		if (taken)
			space->words[i / 64] |= UINT64_C(1) << i % 64;
		else
			space->words[i / 64] &= ~(UINT64_C(1) << i % 64);
		i++;
	}
}

static size_t units_of(uint64_t size)
{
	return (size_t)((size + GP_DEVICE_GRAIN - 1) / GP_DEVICE_GRAIN);
}

/* The lowest run of free units that is long enough. */
static size_t first_fit(const struct space *space, size_t units)
{
	size_t start = space->full_words * 64, i = start;

	while (i - start < units && i / 64 < space->word_count) {
		if (i % 64 == 0 && space->words[i / 64] == ~UINT64_C(0))
			start = i += 64;
		else if (i % 64 == 0 && !space->words[i / 64])
			i += 64;
		else if (is_taken(space, i))
			start = ++i;
		else
			i++;
	}
	return start;
}

uint64_t space_take(struct space *space, uint64_t size)
{
	size_t units = units_of(size), at;

	while (space->full_words < space->word_count &&
	       space->words[space->full_words] == ~UINT64_C(0))
		space->full_words++;
	at = first_fit(space, units);
	make_room(space, at + units);
	mark(space, at, units, 1);
	return space->base + at * GP_DEVICE_GRAIN;
}

void space_give(struct space *space, uint64_t addr, uint64_t size)
{
	size_t at = (size_t)((addr - space->base) / GP_DEVICE_GRAIN);
	size_t units = units_of(size);

	if (addr < space->base || at + units > space->word_count * 64)
		return; /* adopted from elsewhere */
	mark(space, at, units, 0);
	if (at / 64 < space->full_words)
		space->full_words = at / 64;
}

/* Farther than any device reaches: such addresses are somebody else's. */
#define SPACE_UNITS (UINT64_C(1) << 22)

void space_adopt(struct space *space, uint64_t addr, uint64_t size)
{
	uint64_t at, units = units_of(size);

	if (addr < space->base)
		return;
	at = (addr - space->base) / GP_DEVICE_GRAIN;
	if (at >= SPACE_UNITS || units > SPACE_UNITS)
		return;
	make_room(space, (size_t)(at + units));
	mark(space, (size_t)at, (size_t)units, 1);
}

void space_release(struct space *space)
{
	free(space->words);
	*space = (struct space){ 0 };
}
