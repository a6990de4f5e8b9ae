/* SPDX-License-Identifier: MIT */
/* Bytes that are kept, compared with an array that has a state for each
 * byte. */
#include "simcuda/kept.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "suite.h"

#define MIB  (UINT64_C(1) << 20)
/* Not at the beginning of a chunk, and spanning five of them. */
#define BASE (2 * MIB * 1000 + 700)
#define SIZE (9 * MIB)

static struct {
	unsigned char bytes[SIZE], states[SIZE];
} model;

struct range {
	uint64_t at;
	size_t size;
};

static struct range some_range(struct gp_rng *rng)
{
	static const uint64_t most[] = { 3, 300, 70000, 5 * MIB };
	uint64_t size = 1 + gp_rng_below(rng, most[gp_rng_below(rng, 4)]);

	return (struct range){ gp_rng_below(rng, SIZE - size), size };
}

static void set(struct range r, unsigned char byte, enum kept_state state)
{
	memset(model.bytes + r.at, byte, r.size);
	memset(model.states + r.at, state, r.size);
}

static void write_some(struct range r, unsigned char byte, bool is_drawn)
{
	unsigned char *bytes = malloc(r.size);

	memset(bytes, byte, r.size);
	if (is_drawn)
		kept_draw(BASE + r.at, bytes, r.size);
	else
		kept_write(BASE + r.at, bytes, r.size);
	free(bytes);
	set(r, byte, is_drawn ? KEPT_DRAWN : KEPT_KNOWN);
}

static void copy_some(struct range r, struct range to)
{
	if (r.size > to.size)
		r.size = to.size;
	kept_copy(BASE + to.at, BASE + r.at, r.size);
	memmove(model.bytes + to.at, model.bytes + r.at, r.size);
	memmove(model.states + to.at, model.states + r.at, r.size);
}

static void step(struct gp_rng *rng)
{
	struct range r = some_range(rng);
	unsigned char byte = (unsigned char)gp_rng_below(rng, 256);

	switch (gp_rng_below(rng, 8)) {
	case 0:
	case 1:
	case 2:
		kept_fill(BASE + r.at, byte, r.size);
		set(r, byte, KEPT_KNOWN);
		break;
	case 3: write_some(r, byte, byte % 2); break;
	case 4:
		kept_forget(BASE + r.at, r.size);
		set(r, 0, KEPT_UNKNOWN);
		break;
	case 5:
		kept_doubt(BASE + r.at, r.size);
		memset(model.states + r.at, KEPT_UNKNOWN, r.size);
		break;
	case 6: copy_some(r, some_range(rng)); break;
	default:
		if (byte < 32) {
			kept_doubt_all();
			memset(model.states, KEPT_UNKNOWN, SIZE);
		}
	}
}

/* Ranges of whole grains, so that no other byte of a grain becomes doubtful. */
static void doubt_block(struct gp_rng *rng)
{
	struct range r = some_range(rng);
	uint64_t begin = (BASE + r.at + 255) / 256 * 256;

	r.size = r.size / 256 * 256;
	r.at = begin - BASE;
	if (!r.size || r.at + r.size > SIZE)
		return;
	kept_begin_block(begin, r.size);
	set(r, 0, KEPT_UNKNOWN);
	kept_fill(begin, 7, r.size);
	set(r, 7, KEPT_UNKNOWN);
	ck_assert(kept_doubt_block(begin));
	kept_end_block(begin);
}

static enum kept_state least(struct range r)
{
	unsigned char state = KEPT_KNOWN;

	for (size_t i = 0; i < r.size; i++)
		if (model.states[r.at + i] < state)
			state = model.states[r.at + i];
	return (enum kept_state)state;
}

static void compare(struct range r)
{
	unsigned char *bytes = malloc(r.size);
	size_t wrong = 0;

	kept_read(BASE + r.at, bytes, r.size);
	ck_assert_mem_eq(bytes, model.bytes + r.at, r.size);
	ck_assert_int_eq(kept_take(BASE + r.at, bytes, r.size), least(r));
	ck_assert_int_eq(kept_has(BASE + r.at, r.size), least(r) == KEPT_KNOWN);
	ck_assert(kept_has_any(BASE + r.at, r.size) ||
		  least(r) == KEPT_UNKNOWN);
	kept_take_or(BASE + r.at, bytes, r.size, 9);
	for (size_t i = 0; i < r.size; i++)
		wrong += bytes[i] != (model.states[r.at + i] == KEPT_KNOWN
					      ? model.bytes[r.at + i]
					      : 9);
	ck_assert_uint_eq(wrong, 0);
	free(bytes);
}

static void run(uint64_t seed)
{
	struct gp_rng rng = { seed };

	kept_set_limits(&(struct kept_limits){ SIZE, 64 * MIB });
	kept_forget_all();
	memset(&model, 0, sizeof(model));
	for (int i = 0; i < 60; i++) {
		step(&rng);
		if (i % 8 == 0)
			doubt_block(&rng);
		compare(some_range(&rng));
	}
	compare((struct range){ 0, SIZE });
	kept_forget_all();
}

START_TEST(test_what_is_kept_is_what_was_written)
{
	for (uint64_t seed = 0; seed < 3; seed++)
		run(seed);
}
END_TEST

/* When the program frees the block, what it writes there is its own again; the
 * other process's block stays shared. */
START_TEST(test_a_shared_block_is_unknown_until_it_ends)
{
	const uint64_t begin = (BASE + 255) / 256 * 256, block = begin + 512;

	kept_forget_all();
	kept_fill(begin, 1, 2048);
	kept_begin_block(block, 1024);
	kept_fill(block, 1, 1024);
	kept_share_block(block, 900);
	kept_share_block(block, 900);
	kept_fill(block, 1, 1024);
	ck_assert(kept_has(begin, 512));
	ck_assert(!kept_has(block, 1));
	ck_assert(!kept_has(block + 1023, 1));
	ck_assert(kept_has(block + 1024, 512));
	kept_end_block(block);
	kept_fill(block, 2, 1024);
	ck_assert(kept_has(block, 1024));
	kept_begin_block(block, 1024);
	kept_share_block(block, 900);
	kept_share(block, 2048);
	kept_end_block(block);
	kept_fill(block, 2, 4096);
	ck_assert(!kept_has(block, 1));
	ck_assert(!kept_has(block + 2047, 1));
	kept_unshare(block, 2048);
	kept_fill(block, 2, 2048);
	ck_assert(kept_has(block, 2048));
	kept_share_block(begin, 100);
	kept_fill(begin, 2, 512);
	ck_assert(!kept_has(begin + 99, 1));
	kept_write(begin + 100, "x", 1);
	ck_assert(kept_has(begin + 100, 1));
	kept_forget_all();
}
END_TEST

int main(void)
{
	const struct suite_test tests[] = {
		{ test_what_is_kept_is_what_was_written, 0 },
		{ test_a_shared_block_is_unknown_until_it_ends, 0 },
	};

	return suite_run("kept", tests, COUNT_OF(tests));
}
