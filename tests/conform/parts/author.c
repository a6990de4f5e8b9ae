/* SPDX-License-Identifier: MIT */
/* Generating a trial: its settings, its devices, and its course. */
#include "author.h"

#include <inttypes.h>
#include <stdio.h>

static void throw_features(struct author *author, const struct trial_class *of)
{
	author->features = of->has;
	for (unsigned bit = 1; bit <= of->may_have; bit <<= 1)
		if (of->may_have & bit && dice_permille(&author->dice, 300))
			author->features |= bit;
}

/* cudaStream_t is a pointer, whose hash determines an order. */
static void throw_streams(struct author *author)
{
	static const size_t few[] = { 2, 3, 3, 5, 9 };
	static const unsigned records[] = { 50, 150, 300 };
	bool are_pointers = dice_permille(&author->dice, 500);

	author->stream_count = 1;
	if (author->features & MANY_STREAMS)
		author->stream_count =
			dice_between(&author->dice, 10, STREAMS_MOST);
	else if (author->features & FEW_STREAMS)
		author->stream_count = DICE_PICK(&author->dice, few);
	if (author->stream_count > 1)
		author->record_permille = DICE_PICK(&author->dice, records);
	for (size_t i = 1; i < author->stream_count; i++)
		author->streams[i] =
			are_pointers ? UINT64_C(0x55d000000000) +
					       (dice_next(&author->dice) &
						0xfffffff0)
				     : 0x1000 + 0x10 * i;
}

static void throw_capacity(struct author *author)
{
	static const uint64_t tight[] = {
		128, 256, 400, 777, 1024, 2048, 4096
	};
	struct trial *trial = author->trial;
	uint64_t third;

	trial->capacity = 80 * GIB;
	if (author->features & TIGHT)
		trial->capacity = DICE_PICK(&author->dice, tight) * MIB;
	if (author->features & TIGHT && dice_permille(&author->dice, 200))
		trial->capacity += dice_below(&author->dice, 2 * MIB);
	/* Expandable segments map a large device page by page until it is full,
	 * which takes seconds. */
	author->sizes.absurd =
		author->features & TIGHT ? UINT64_C(1) << 50 : 3 * MIB;
	third = trial->capacity / 3;
	author->sizes.most = third < 600 * MIB ? third : 600 * MIB;
}

static void throw_desks(struct author *author)
{
	uint32_t device = 0;

	author->desk_count = 1;
	if (author->features & DEVICES) {
		author->desk_count =
			dice_between(&author->dice, 1, DEVICES_MOST);
		device = (uint32_t)dice_below(&author->dice, 2);
	}
	for (size_t i = 0; i < author->desk_count; i++)
		author->desks[i].device = device++;
}

static size_t throw_length(struct author *author)
{
	static const size_t lengths[] = { 60, 120, 200, 400, 700 };

	if (author->features & LONG)
		return dice_between(&author->dice, 2000, 4000);
	if (author->features & SHORT)
		return dice_between(&author->dice, 8, 40);
	return DICE_PICK(&author->dice, lengths);
}

static void throw_phase(struct author *author)
{
	static const unsigned frees[] = { 350, 500, 500, 650, 150, 850 };

	author->free_permille = DICE_PICK(&author->dice, frees);
	author->victim = (enum victim)dice_below(&author->dice, VICTIMS);
}

static void take_turn(struct author *author, struct desk *desk)
{
	if (turn_take(author, desk))
		return;
	if (desk->live_count &&
	    dice_permille(&author->dice, author->free_permille))
		desk_free(author, desk);
	else
		desk_alloc(author, desk);
}

static void prepare(struct author *author, uint64_t seed,
		    const struct trial_class *of)
{
	struct trial *trial = author->trial;

	snprintf(trial->about, sizeof(trial->about), "class %s, seed %" PRIu64,
		 of->name, seed);
	dice_init(&author->dice, seed, of->name);
	throw_features(author, of);
	author->changeable = of->always | of->sometimes;
	conf_throw(&author->conf, &author->dice, of->always, of->sometimes,
		   trial->conf, sizeof(trial->conf));
	author->sizes.conf = &author->conf;
	author->sizes.is_beside = author->features & BOUNDARIES;
	throw_streams(author);
	throw_capacity(author);
	throw_desks(author);
	for (size_t i = 0; i < author->desk_count; i++)
		if (author->features & LIMIT)
			turn_limit(author, &author->desks[i]);
}

void author_write(struct trial *trial, uint64_t seed,
		  const struct trial_class *of)
{
	struct author author = { .trial = trial };
	size_t length;

	*trial = (struct trial){ 0 };
	prepare(&author, seed, of);
	length = throw_length(&author);
	for (size_t i = 0; i < length; i++) {
		if (i % 50 == 0)
			throw_phase(&author);
		take_turn(&author, &author.desks[dice_below(
					   &author.dice, author.desk_count)]);
	}
	for (size_t i = 0; i < author.desk_count; i++)
		desk_end(&author, &author.desks[i]);
}
