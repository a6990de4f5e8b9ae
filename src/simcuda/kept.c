/* SPDX-License-Identifier: MIT */
/*
 * Kept bytes are stored in grains of 256, found by their number. Each chunk of
 * 2 MiB has a bit for each of its grains, so that forgetting a large range need
 * not look up every grain. For each byte, one bit says whether it is known and
 * another whether it was drawn. A chunk filled with one value stands for all
 * grains that it does not have itself: buffers are often cleared and seldom
 * read. When all grains are in use, those of large writes go first, so that
 * weights that are rewritten in each step leave what is small.
 */
#include "simcuda/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "simcuda/memory.h"
#include "simcuda/stream.h"

#define GRAIN	 UINT64_C(256)
#define CHUNK	 (UINT64_C(2) << 20)
#define IN_CHUNK (CHUNK / GRAIN)
#define LITTLE	 65536 /* bytes of a write that is not large */

/* The first grains are the heads of rings. In a ring of grains in use the
 * oldest comes first. */
enum ring { FREE, SMALL, LARGE, RINGS };

struct grain {
	uint64_t number;	 /* address / GRAIN */
	uint32_t next, previous; /* in its ring */
	uint32_t age; /* `known` is valid if this is kept.age; else nothing
		       * is known */
	uint64_t known[GRAIN / 64];
	uint64_t drawn[GRAIN / 64]; /* valid like `known`; no byte is both */
	unsigned char bytes[GRAIN];
};

struct chunk {
	uint32_t count;
	uint32_t age; /* like a grain's, for the value it is filled with */
	bool is_filled;
	unsigned char filling;
	uint64_t has[IN_CHUNK / 64]; /* a bit for each grain */
};

static struct {
	struct grain *items;
	size_t count, room;
	uint32_t age; /* how often everything was doubted */
	struct gp_map by_number;
	struct chunk *chunks;
	size_t chunk_count, chunk_room;
	size_t filled; /* number of filled chunks */
	struct gp_map chunk_by_number;
	struct gp_map blocks; /* address -> number of grains */
	struct range {
		uint64_t begin, end;
	} * shared; /* with other processes */
	size_t shared_count, shared_room;
} kept;

static struct kept_limits limits = {
	.most = KEPT_MOST,
	.most_of_all = UINT64_C(64) << 20,
};

void kept_set_limits(const struct kept_limits *new_limits)
{
	limits = *new_limits;
}

const struct kept_limits *kept_limits(void)
{
	return &limits;
}

static uint32_t most_grains(void)
{
	return (uint32_t)(limits.most_of_all / GRAIN) + RINGS;
}

/* ---- which bytes of a grain are known ---- */

static uint64_t bits(size_t from, size_t to)
{
	uint64_t up_to = to == 64 ? UINT64_MAX : (UINT64_C(1) << to) - 1;

	return up_to & ~((UINT64_C(1) << from) - 1);
}

/* The bits of one word that belong to [at, at + size). */
static uint64_t bits_of_word(size_t word, size_t at, size_t size)
{
	size_t begin = word * 64, end = at + size;
	size_t from = at > begin ? at - begin : 0;
	size_t to = end < begin + 64 ? end - begin : 64;

	return at >= begin + 64 || end <= begin ? 0 : bits(from, to);
}

static void set_state(struct grain *grain, size_t at, size_t size,
		      enum kept_state state)
{
	if (grain->age != kept.age) {
		memset(grain->known, 0, sizeof(grain->known));
		memset(grain->drawn, 0, sizeof(grain->drawn));
	}
	grain->age = kept.age;
	for (size_t i = 0; i < GRAIN / 64; i++) {
		uint64_t these = bits_of_word(i, at, size);

		grain->known[i] &= ~these;
		grain->drawn[i] &= ~these;
		if (state == KEPT_KNOWN)
			grain->known[i] |= these;
		else if (state == KEPT_DRAWN)
			grain->drawn[i] |= these;
	}
}

/* The weakest state of all bytes in the range. */
static enum kept_state state_of(const struct grain *grain, size_t at,
				size_t size)
{
	enum kept_state state = KEPT_KNOWN;

	if (!grain || grain->age != kept.age)
		return KEPT_UNKNOWN;
	for (size_t i = 0; i < GRAIN / 64; i++) {
		uint64_t these = bits_of_word(i, at, size);

		if (these & ~(grain->known[i] | grain->drawn[i]))
			return KEPT_UNKNOWN;
		if (these & grain->drawn[i])
			state = KEPT_DRAWN;
	}
	return state;
}

/* ---- which grains a chunk has ---- */

static struct chunk *chunk_of(uint64_t number)
{
	uint32_t index = gp_map_get(&kept.chunk_by_number, number / IN_CHUNK);

	return index == GP_MAP_NONE ? NULL : &kept.chunks[index];
}

static struct chunk *make_chunk(uint64_t number)
{
	struct chunk *chunk = chunk_of(number);
	uint32_t index = (uint32_t)kept.chunk_count;

	if (chunk)
		return chunk;
	GP_GROW(kept.chunks, ++kept.chunk_count, kept.chunk_room);
	kept.chunks[index] = (struct chunk){ 0 };
	gp_map_put(&kept.chunk_by_number, number / IN_CHUNK, index);
	return &kept.chunks[index];
}

static void mark(struct chunk *chunk, uint64_t number)
{
	uint64_t bit = number % IN_CHUNK;

	chunk->has[bit / 64] |= UINT64_C(1) << bit % 64;
	chunk->count++;
}

static void unmark(uint64_t number)
{
	struct chunk *chunk = chunk_of(number);
	uint64_t bit = number % IN_CHUNK;

	chunk->has[bit / 64] &= ~(UINT64_C(1) << bit % 64);
	chunk->count--;
}

/* The first grain in [number, last] with kept bytes; last + 1: there is none.
 */
static uint64_t next_kept(uint64_t number, uint64_t last)
{
	while (number <= last) {
		const struct chunk *chunk = chunk_of(number);
		uint64_t bit = number % IN_CHUNK, word;

		if (!chunk || !chunk->count) {
			number += IN_CHUNK - bit;
			continue;
		}
		word = chunk->has[bit / 64] >> bit % 64;
		if (word)
			return number + (uint64_t)__builtin_ctzll(word);
		number += 64 - bit % 64;
	}
	return number;
}

/* ---- grains ---- */

/* Clears the part of a grain in the range; true: nothing of the grain is left.
 */
static bool clear(struct grain *grain, uint64_t addr, uint64_t end)
{
	uint64_t begin = grain->number * GRAIN;
	uint64_t from = addr > begin ? addr : begin;
	uint64_t to = end < begin + GRAIN ? end : begin + GRAIN;

	if (from < to) {
		memset(grain->bytes + (from - begin), 0, to - from);
		set_state(grain, from - begin, to - from, KEPT_UNKNOWN);
	}
	return from == begin && to == begin + GRAIN;
}

/* To the end of a ring. */
static void add(uint32_t index, enum ring ring)
{
	struct grain *grain = &kept.items[index], *head = &kept.items[ring];

	grain->next = ring;
	grain->previous = head->previous;
	kept.items[grain->previous].next = index;
	head->previous = index;
}

static void take_out(uint32_t index)
{
	const struct grain *grain = &kept.items[index];

	kept.items[grain->previous].next = grain->next;
	kept.items[grain->next].previous = grain->previous;
}

static void drop(uint32_t index)
{
	struct grain *grain = &kept.items[index];

	unmark(grain->number);
	gp_map_take(&kept.by_number, grain->number);
	take_out(index);
	add(index, FREE);
}

static void unfill(struct chunk *chunk)
{
	chunk->is_filled = false;
	kept.filled--;
}

static void forget_oldest(void)
{
	uint32_t index = kept.items[LARGE].next;
	struct chunk *chunk;

	if (index == LARGE)
		index = kept.items[SMALL].next;
	chunk = chunk_of(kept.items[index].number);
	if (chunk->is_filled)
		unfill(chunk);
	drop(index);
}

static uint32_t more(void)
{
	GP_GROW(kept.items, kept.count + 1, kept.room);
	return (uint32_t)kept.count++;
}

/* In no ring yet. */
static uint32_t new_grain(void)
{
	uint32_t index;

	while (kept.count < RINGS) {
		index = more();
		kept.items[index].next = kept.items[index].previous = index;
	}
	if (kept.items[FREE].next == FREE && kept.count == most_grains())
		forget_oldest();
	index = kept.items[FREE].next;
	if (index == FREE)
		return more();
	take_out(index);
	return index;
}

static struct grain *find(uint64_t number)
{
	uint32_t index = gp_map_get(&kept.by_number, number);

	return index == GP_MAP_NONE ? NULL : &kept.items[index];
}

/* Sets it to the state of those grains that the chunk does not have itself. */
static void fill_grain(struct grain *grain, const struct chunk *chunk)
{
	memset(grain->bytes, chunk->filling, GRAIN);
	memset(grain->known, 0xff, sizeof(grain->known));
	memset(grain->drawn, 0, sizeof(grain->drawn));
	grain->age = chunk->age;
}

static bool is_in_filled(uint64_t number)
{
	const struct chunk *chunk = kept.filled ? chunk_of(number) : NULL;

	return chunk && chunk->is_filled;
}

/* The grain, valid until the next call; NULL: nothing is kept. */
static const struct grain *look(uint64_t number)
{
	static struct grain filled;
	const struct grain *grain = find(number);

	if (grain || !is_in_filled(number))
		return grain;
	fill_grain(&filled, chunk_of(number));
	return &filled;
}

static struct grain *make(uint64_t number, enum ring ring)
{
	struct grain *grain = find(number);
	struct chunk *chunk;
	uint32_t index;

	if (grain)
		return grain;
	index = new_grain();
	chunk = make_chunk(number);
	grain = &kept.items[index];
	memset(grain, 0, sizeof(*grain));
	add(index, ring);
	grain->number = number;
	grain->age = kept.age;
	if (chunk->is_filled)
		fill_grain(grain, chunk);
	mark(chunk, number);
	gp_map_put(&kept.by_number, number, index);
	return grain;
}

/* From now on each grain of the chunk is stored by itself. If the chunk is
 * larger than a copy that is kept, nothing is known of it instead. */
static void make_all(uint64_t first)
{
	for (uint64_t i = 0; i < IN_CHUNK && CHUNK <= limits.most; i++)
		make(first + i, LARGE);
	if (chunk_of(first)->is_filled)
		unfill(chunk_of(first));
}

/* Calls `each` for the filled chunks that lie in the range. Of those that lie
 * in it only in part, the grains are made. */
static bool for_filled(uint64_t addr, uint64_t size,
		       bool (*each)(struct chunk *chunk))
{
	uint64_t end = addr + size;
	bool is_all = true;

	for (uint64_t at = addr / CHUNK * CHUNK; kept.filled && at < end;
	     at += CHUNK) {
		struct chunk *chunk = chunk_of(at / GRAIN);

		if (!chunk || !chunk->is_filled)
			continue;
		if (at < addr || at + CHUNK > end)
			make_all(at / GRAIN);
		else
			is_all &= each(chunk);
	}
	return is_all;
}

static bool empty(struct chunk *chunk)
{
	unfill(chunk);
	return true;
}

void kept_forget(uint64_t addr, uint64_t size)
{
	uint64_t end = addr + size, last = (end - 1) / GRAIN;

	if (!size)
		return;
	for_filled(addr, size, empty);
	for (uint64_t i = next_kept(addr / GRAIN, last); i <= last;
	     i = next_kept(i + 1, last)) {
		uint32_t index = gp_map_get(&kept.by_number, i);

		if (clear(&kept.items[index], addr, end))
			drop(index);
	}
}

/* The part of a range that lies in one grain. */
struct part {
	uint64_t number;
	size_t at, size;
};

static struct part part_of(uint64_t addr, uint64_t size)
{
	size_t at = addr % GRAIN;

	return (struct part){
		.number = addr / GRAIN,
		.at = at,
		.size = size < GRAIN - at ? (size_t)size : GRAIN - at,
	};
}

/* ---- memory that other processes may write ---- */

static bool is_shared(uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < kept.shared_count; i++)
		if (addr < kept.shared[i].end &&
		    addr + size > kept.shared[i].begin)
			return true;
	return false;
}

static bool is_all_shared(uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < kept.shared_count; i++)
		if (kept.shared[i].begin <= begin && kept.shared[i].end >= end)
			return true;
	return false;
}

void kept_share(uint64_t addr, uint64_t size)
{
	uint64_t last = (addr + size - 1) / GRAIN;

	if (!size || is_all_shared(addr, addr + size))
		return;
	GP_GROW(kept.shared, kept.shared_count + 1, kept.shared_room);
	kept.shared[kept.shared_count++] = (struct range){ addr, addr + size };
	for_filled(addr, size, empty);
	for (uint64_t i = next_kept(addr / GRAIN, last); i <= last;
	     i = next_kept(i + 1, last)) {
		struct grain *grain = find(i);

		for (size_t j = 0; j < GRAIN / 64; j++) {
			grain->drawn[j] |= grain->known[j];
			grain->known[j] = 0;
		}
	}
}

void kept_unshare(uint64_t addr, uint64_t size)
{
	for (size_t i = 0; i < kept.shared_count; i++)
		if (kept.shared[i].begin == addr &&
		    kept.shared[i].end == addr + size)
			kept.shared[i--] = kept.shared[--kept.shared_count];
}

/* ---- writing and reading ---- */

static enum ring ring_for(size_t size)
{
	return size > LITTLE ? LARGE : SMALL;
}

static void write_as(enum kept_state state, uint64_t addr, const void *bytes,
		     size_t size)
{
	const enum ring ring = ring_for(size);
	const char *from = bytes;

	if (state == KEPT_KNOWN && is_shared(addr, size))
		state = KEPT_DRAWN;

	if (size > limits.most) {
		kept_forget(addr, size);
		return;
	}
	while (size) {
		struct part part = part_of(addr, size);
		struct grain *grain = make(part.number, ring);

		memcpy(grain->bytes + part.at, from, part.size);
		set_state(grain, part.at, part.size, state);
		addr += part.size;
		from += part.size;
		size -= part.size;
	}
}

void kept_write(uint64_t addr, const void *bytes, size_t size)
{
	write_as(KEPT_KNOWN, addr, bytes, size);
}

void kept_draw(uint64_t addr, const void *bytes, size_t size)
{
	write_as(KEPT_DRAWN, addr, bytes, size);
}

void kept_read(uint64_t addr, void *bytes, size_t size)
{
	char *to = bytes;

	memset(to, 0, size);
	if (size > limits.most)
		return;
	while (size) {
		struct part part = part_of(addr, size);
		const struct grain *grain = look(part.number);

		if (grain)
			memcpy(to, grain->bytes + part.at, part.size);
		addr += part.size;
		to += part.size;
		size -= part.size;
	}
}

static enum kept_state lesser(enum kept_state a, enum kept_state b)
{
	return a < b ? a : b;
}

bool kept_has(uint64_t addr, size_t size)
{
	if (size > limits.most)
		return false;
	while (size) {
		struct part part = part_of(addr, size);

		if (state_of(look(part.number), part.at, part.size) !=
		    KEPT_KNOWN)
			return false;
		addr += part.size;
		size -= part.size;
	}
	return true;
}

enum kept_state kept_take(uint64_t addr, void *bytes, size_t size)
{
	enum kept_state state = KEPT_KNOWN;
	char *to = bytes;

	while (size) {
		struct part part = part_of(addr, size);
		const struct grain *grain = look(part.number);

		state = lesser(state, state_of(grain, part.at, part.size));
		if (state == KEPT_UNKNOWN)
			break;
		memcpy(to, grain->bytes + part.at, part.size);
		addr += part.size;
		to += part.size;
		size -= part.size;
	}
	return state;
}

void kept_fill_in(uint64_t addr, void *bytes, size_t size)
{
	const enum ring ring = ring_for(size);
	char *at = bytes;

	if (size > limits.most)
		return;
	while (size) {
		struct part part = part_of(addr, size);
		struct grain *grain = make(part.number, ring);

		for (size_t i = 0; i < part.size; i++) {
			if (state_of(grain, part.at + i, 1) != KEPT_UNKNOWN) {
				at[i] = (char)grain->bytes[part.at + i];
				continue;
			}
			grain->bytes[part.at + i] = (unsigned char)at[i];
			set_state(grain, part.at + i, 1, KEPT_DRAWN);
		}
		addr += part.size;
		at += part.size;
		size -= part.size;
	}
}

size_t kept_take_or(uint64_t addr, void *bytes, size_t size,
		    unsigned char otherwise)
{
	unsigned char *to = bytes;
	size_t known = 0;

	memset(to, otherwise, size);
	while (size) {
		struct part part = part_of(addr, size);
		const struct grain *grain = look(part.number);

		for (size_t i = 0; grain && i < part.size; i++)
			if (state_of(grain, part.at + i, 1) == KEPT_KNOWN) {
				to[i] = grain->bytes[part.at + i];
				known++;
			}
		addr += part.size;
		to += part.size;
		size -= part.size;
	}
	return known;
}

void kept_doubt(uint64_t addr, size_t size)
{
	const enum ring ring = ring_for(size);

	while (size && size <= limits.most) {
		struct part part = part_of(addr, size);
		struct grain *grain = is_in_filled(part.number)
					      ? make(part.number, ring)
					      : find(part.number);

		if (grain)
			set_state(grain, part.at, part.size, KEPT_UNKNOWN);
		addr += part.size;
		size -= part.size;
	}
}

void kept_doubt_all(void)
{
	kept.age++;
}

void kept_begin_block(uint64_t addr, uint64_t size)
{
	kept_forget(addr, size);
	gp_map_put(&kept.blocks, addr, (uint32_t)((size + GRAIN - 1) / GRAIN));
}

void kept_end_block(uint64_t addr)
{
	uint32_t grains = gp_map_take(&kept.blocks, addr);

	if (grains != GP_MAP_NONE)
		kept_unshare(addr, grains * GRAIN);
}

void kept_share_block(uint64_t addr, uint64_t size)
{
	uint32_t grains = gp_map_get(&kept.blocks, addr);

	kept_share(addr, grains == GP_MAP_NONE ? size : grains * GRAIN);
}

static bool has_address(const struct grain *grain)
{
	uint64_t word;

	for (size_t at = 0; at < GRAIN; at += sizeof(word)) {
		memcpy(&word, grain->bytes + at, sizeof(word));
		if (memory_is_device(word))
			return true;
	}
	return false;
}

static bool doubt_filled(struct chunk *chunk)
{
	struct grain grain;

	fill_grain(&grain, chunk);
	chunk->age = kept.age - 1;
	return !has_address(&grain);
}

bool kept_doubt_block(uint64_t addr)
{
	uint32_t grains = gp_map_get(&kept.blocks, addr);
	uint64_t first = addr / GRAIN, last = first + grains - 1;
	bool is_all;

	if (grains == GP_MAP_NONE || !grains)
		return false;
	is_all = for_filled(addr, grains * GRAIN, doubt_filled);
	for (uint64_t i = next_kept(first, last); i <= last;
	     i = next_kept(i + 1, last)) {
		struct grain *grain = find(i);

		is_all &= !has_address(grain);
		grain->age = kept.age - 1;
	}
	return is_all;
}

bool kept_has_any(uint64_t addr, size_t size)
{
	uint64_t first = addr / GRAIN, last = (addr + size - 1) / GRAIN;

	if (!size)
		return false;
	for (uint64_t i = first; kept.filled && i <= last;
	     i += IN_CHUNK - i % IN_CHUNK)
		if (is_in_filled(i))
			return true;
	return next_kept(first, last) <= last;
}

/* The next bytes of a range that have the same state, within one grain. */
static size_t alike(uint64_t addr, size_t size, enum kept_state *state)
{
	struct part part = part_of(addr, size);
	const struct grain *grain = look(part.number);
	size_t n = 1;

	*state = state_of(grain, part.at, part.size);
	if (*state == KEPT_KNOWN)
		return part.size;
	*state = state_of(grain, part.at, 1);
	while (n < part.size && state_of(grain, part.at + n, 1) == *state)
		n++;
	return n;
}

void kept_copy(uint64_t to, uint64_t from, size_t size)
{
	enum kept_state state;
	unsigned char *states; /* of each byte */
	size_t n;
	char *bytes;

	if (size > limits.most || !kept_has_any(from, size)) {
		kept_forget(to, size);
		return;
	}
	bytes = gp_mem_alloc(size, 1);
	kept_read(from, bytes, size);
	if (kept_has(from, size)) {
		kept_write(to, bytes, size);
		free(bytes);
		return;
	}
	/* The ranges may overlap: read all states first. */
	states = gp_mem_alloc(size, 1);
	for (size_t i = 0; i < size; i += n) {
		n = alike(from + i, size - i, &state);
		memset(states + i, (int)state, n);
	}
	for (size_t i = 0; i < size; i += n) {
		for (n = 1; i + n < size && states[i + n] == states[i];)
			n++;
		write_as((enum kept_state)states[i], to + i, bytes + i, n);
	}
	free(states);
	free(bytes);
}

static void fill_chunk(uint64_t addr, unsigned char value)
{
	struct chunk *chunk;

	kept_forget(addr, CHUNK);
	chunk = make_chunk(addr / GRAIN);
	chunk->is_filled = true;
	chunk->filling = value;
	chunk->age = kept.age;
	kept.filled++;
}

void kept_fill(uint64_t addr, unsigned char value, size_t size)
{
	bool is_small = size <= limits.most;
	unsigned char *bytes;
	size_t n;

	for (uint64_t end = addr + size; addr < end; addr += n) {
		uint64_t in_chunk = CHUNK - addr % CHUNK;

		n = end - addr < in_chunk ? end - addr : in_chunk;
		if (n == CHUNK && !is_shared(addr, n)) {
			fill_chunk(addr, value);
		} else if (!is_small) {
			kept_forget(addr, n);
		} else {
			bytes = gp_mem_take(n);
			memset(bytes, value, n);
			kept_write(addr, bytes, n);
			free(bytes);
		}
	}
}

void kept_forget_all(void)
{
	free(kept.items);
	free(kept.chunks);
	free(kept.shared);
	gp_map_release(&kept.by_number);
	gp_map_release(&kept.chunk_by_number);
	gp_map_release(&kept.blocks);
	memset(&kept, 0, sizeof(kept));
}

/* ---- copies ---- */

/* Device addresses have no memory behind them: bytes that are not kept are read
 * as zeros. */

/* Asynchronous operations on a captured stream become nodes of its graph, and
 * happen when it is launched. false: the stream is not captured. */
static bool capture(cudaStream_t stream)
{
	bool is_captured;

	process_lock();
	is_captured = stream_at(stream_index((uintptr_t)stream))->graph;
	stream_node((uintptr_t)stream);
	process_unlock();
	return is_captured;
}

static void *host(uint64_t addr)
{
	return (void *)(uintptr_t)addr;
}

void kept_move(uint64_t to, uint64_t from, size_t size)
{
	bool is_to_device = memory_is_device(to);

	if (memory_is_device(from)) {
		if (is_to_device)
			kept_copy(to, from, size);
		else
			kept_read(from, host(to), size);
	} else if (is_to_device) {
		kept_write(to, host(from), size);
	} else {
		memmove(host(to), host(from), size);
	}
}

/* A value that the program depends on and that is not known: a loss, or the
 * number of nonzero elements. */
static bool is_guess(uint64_t to, uint64_t from, size_t size)
{
	return size && memory_is_device(from) && !memory_is_device(to) &&
	       !kept_has(from, size);
}

/* The operator that is running may know the value all the same. */
static void note_guess(void *to, uint64_t from, size_t size)
{
	if (!process_ask_read(to, from, size))
		process_notify_guess();
}

/* An operation captured into a graph happens when the graph is launched, if at
 * all. */
static void doubt_captured(uint64_t to, size_t size)
{
	if (streams_are_captured() && memory_is_device(to))
		kept_doubt(to, size);
}

/* There is no notification when the program reads what a graph copies to the
 * host: it counts as read when it is captured. */
static bool is_for_later(bool is_captured, const void *to)
{
	return is_captured && !memory_is_device((uintptr_t)to);
}

static cudaError_t copy(enum simcuda_call call, void *to, const void *from,
			size_t size, bool is_captured)
{
	bool guesses, is_later = is_for_later(is_captured, to);

	process_before_read((uintptr_t)from, size);
	process_before_write((uintptr_t)to, size);
	process_begin(call);
	streams_copy(size);
	guesses = is_guess((uintptr_t)to, (uintptr_t)from, size);
	if (!is_later)
		kept_move((uintptr_t)to, (uintptr_t)from, size);
	doubt_captured((uintptr_t)to, size);
	process_end(cudaSuccess);
	if (is_later)
		process_notify_guess();
	else if (guesses)
		note_guess(to, (uintptr_t)from, size);
	return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size,
		       enum cudaMemcpyKind kind)
{
	(void)kind;
	return copy(CALL_cudaMemcpy, to, from, size, false);
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
			    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)kind;
	return copy(CALL_cudaMemcpyAsync, to, from, size, capture(stream));
}

cudaError_t cudaMemcpyPeerAsync(void *to, int to_device, const void *from,
				int from_device, size_t size,
				cudaStream_t stream)
{
	(void)to_device;
	(void)from_device;
	return copy(CALL_cudaMemcpyPeerAsync, to, from, size, capture(stream));
}

/* Rows of width bytes; each begins pitch bytes after the previous one. */
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
			      size_t from_pitch, size_t width, size_t height,
			      enum cudaMemcpyKind kind, cudaStream_t stream)
{
	bool is_later = is_for_later(capture(stream), to), guesses = is_later;

	(void)kind;
	process_before_read((uintptr_t)from, from_pitch * height);
	process_before_write((uintptr_t)to, to_pitch * height);
	process_begin(CALL_cudaMemcpy2DAsync);
	streams_copy(width * height);
	for (size_t row = 0; row < height && !is_later; row++) {
		uint64_t source = (uintptr_t)from + row * from_pitch;

		guesses |= is_guess((uintptr_t)to, source, width);
		kept_move((uintptr_t)to + row * to_pitch, source, width);
		doubt_captured((uintptr_t)to + row * to_pitch, width);
	}
	process_end(cudaSuccess);
	if (guesses)
		process_notify_guess();
	return cudaSuccess;
}

static void fill(uint64_t addr, int value, size_t size)
{
	if (!memory_is_device(addr))
		memset(host(addr), value, size);
	else
		kept_fill(addr, (unsigned char)value, size);
}

static cudaError_t set(enum simcuda_call call, void *at, int value, size_t size)
{
	process_before_write((uintptr_t)at, size);
	process_begin(call);
	streams_copy(size);
	fill((uintptr_t)at, value, size);
	doubt_captured((uintptr_t)at, size);
	return process_end(cudaSuccess);
}

cudaError_t cudaMemset(void *at, int value, size_t size)
{
	return set(CALL_cudaMemset, at, value, size);
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t size,
			    cudaStream_t stream)
{
	capture(stream);
	return set(CALL_cudaMemsetAsync, at, value, size);
}
