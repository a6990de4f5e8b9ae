/* SPDX-License-Identifier: MIT */
/* A shelf of free blocks: bins, and which of them hold any. */
#include "allocator/caching/shelf.h"

#include <assert.h>
#include <string.h>

#include "allocator/caching/pool.h"
#include "base/mem.h"

/* Below SHELF_EXACT units there is nothing to shift: a bin for each. */
static unsigned bin_of(uint64_t size)
{
	uint64_t units = size >> SHELF_UNIT_SHIFT;
	unsigned shift = 63 - SHELF_STEPS_SHIFT -
			 (unsigned)__builtin_clzll(units | SHELF_EXACT / 2);

	return (shift << SHELF_STEPS_SHIFT) + (unsigned)(units >> shift);
}

/* ---- the bitmap ---- */

static void set_bit(struct shelf *shelf, unsigned bin)
{
	shelf->words[bin / 64] |= UINT64_C(1) << bin % 64;
	shelf->summary |= UINT64_C(1) << bin / 64;
}

static void clear_bit(struct shelf *shelf, unsigned bin)
{
	uint64_t *word = &shelf->words[bin / 64];

	*word &= ~(UINT64_C(1) << bin % 64);
	shelf->summary &= ~((uint64_t) !*word << bin / 64);
}

/* The first bin at or above that holds a block; SHELF_BINS: none. */
static unsigned bin_from(const struct shelf *shelf, unsigned bin)
{
	unsigned word = bin / 64;
	uint64_t bits;

	if (bin >= SHELF_BINS)
		return SHELF_BINS;
	bits = shelf->words[word] & ~UINT64_C(0) << bin % 64;
	if (!bits) {
		uint64_t above =
			shelf->summary & ~(~UINT64_C(0) >> (63 - word));

		if (!above)
			return SHELF_BINS;
		word = (unsigned)__builtin_ctzll(above);
		bits = shelf->words[word];
	}
	return word * 64 + (unsigned)__builtin_ctzll(bits);
}

/* The last bin below that holds a block; SHELF_BINS: none. */
static unsigned bin_below(const struct shelf *shelf, unsigned bin)
{
	while (bin-- > 0) {
		uint64_t bits = shelf->words[bin / 64] &
				~UINT64_C(0) >> (63 - bin % 64);

		if (bits)
			return bin / 64 * 64 + 63 -
			       (unsigned)__builtin_clzll(bits);
		bin = bin / 64 * 64; /* go on with the word below */
	}
	return SHELF_BINS;
}

/* ---- the shelf ---- */

static void put(struct shelf *shelf, unsigned bin, struct block *b)
{
	set_bit(shelf, bin);
	bin_insert(&shelf->bins[bin], b);
}

static void take(struct shelf *shelf, unsigned bin, struct block *b)
{
	bin_remove(&shelf->bins[bin], b);
	if (bin_is_empty(&shelf->bins[bin]))
		clear_bit(shelf, bin);
}

void shelf_insert(struct shelf *shelf, struct block *b)
{
	pool_note(shelf, SHELF_LISTED | SHELF_CHANGED);
	put(shelf, bin_of(b->size), b);
}

void shelf_remove(struct shelf *shelf, struct block *b)
{
	pool_note(shelf, SHELF_CHANGED);
	take(shelf, bin_of(b->size), b);
}

void shelf_shrink(struct shelf *shelf, struct block *b, uint64_t bytes)
{
	unsigned from = bin_of(b->size), to = bin_of(b->size - bytes);
	bool moves = from != to || shelf->bins[from].first != b;

	pool_note(shelf, SHELF_CHANGED);
	if (moves)
		take(shelf, from, b);
	b->addr += bytes;
	b->size -= bytes;
	if (moves)
		put(shelf, to, b);
}

/* The first block of the bins from there on. */
static struct block *first_from(const struct shelf *shelf, unsigned bin)
{
	bin = bin_from(shelf, bin);
	return bin < SHELF_BINS ? bin_first(&shelf->bins[bin]) : NULL;
}

struct block *shelf_best(struct shelf *shelf, uint64_t size)
{
	unsigned own = bin_of(size), bin = bin_from(shelf, own);
	struct block *best;

	if (bin == own) {
		best = bin_best(&shelf->bins[own], size);
		return best ? best : first_from(shelf, own + 1);
	}
	return bin < SHELF_BINS ? bin_first(&shelf->bins[bin]) : NULL;
}

struct block *shelf_next(const struct shelf *shelf, const struct block *b)
{
	unsigned bin = bin_of(b->size);
	struct block *next = bin_next(&shelf->bins[bin], b);

	return next ? next : first_from(shelf, bin + 1);
}

/* The last block of the bins below that one. */
static struct block *last_below(const struct shelf *shelf, unsigned bin)
{
	bin = bin_below(shelf, bin);
	return bin < SHELF_BINS ? bin_last(&shelf->bins[bin]) : NULL;
}

struct block *shelf_prev(const struct shelf *shelf, const struct block *b)
{
	unsigned bin = bin_of(b->size);
	struct block *prev = bin_prev(&shelf->bins[bin], b);

	return prev ? prev : last_below(shelf, bin);
}

struct block *shelf_last(const struct shelf *shelf)
{
	return last_below(shelf, SHELF_BINS);
}

/* ---- unmapped blocks: few, so a sorted array ---- */

static size_t unmapped_at(const struct shelf *shelf, uint64_t addr)
{
	size_t low = 0, high = shelf->unmapped_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (shelf->unmapped[middle]->addr < addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void shelf_insert_unmapped(struct shelf *shelf, struct block *b)
{
	size_t at = unmapped_at(shelf, b->addr);

	shelf->unmapped = gp_mem_grow(shelf->unmapped, &shelf->unmapped_room,
				      shelf->unmapped_count + 1,
				      sizeof(*shelf->unmapped));
	memmove(shelf->unmapped + at + 1, shelf->unmapped + at,
		(shelf->unmapped_count - at) * sizeof(*shelf->unmapped));
	shelf->unmapped[at] = b;
	shelf->unmapped_count++;
}

void shelf_remove_unmapped(struct shelf *shelf, const struct block *b)
{
	size_t at = unmapped_at(shelf, b->addr);

	assert(at < shelf->unmapped_count && shelf->unmapped[at] == b);
	shelf->unmapped_count--;
	memmove(shelf->unmapped + at, shelf->unmapped + at + 1,
		(shelf->unmapped_count - at) * sizeof(*shelf->unmapped));
}
