/* SPDX-License-Identifier: MIT */
/* The program of one device: blocks that are allocated and freed. */
#include "author.h"

void desk_add(struct author *author, struct desk *desk, struct op op)
{
	op.device = desk->device;
	trial_add(author->trial, &op);
}

static uint64_t throw_stream(struct author *author)
{
	if (author->stream_count < 2 || dice_permille(&author->dice, 400))
		return 0;
	return author->streams[dice_below(&author->dice, author->stream_count)];
}

static void record_stream(struct author *author, struct desk *desk)
{
	struct op op = { .kind = GP_RECORD_STREAM };
	uint64_t which = dice_below(&author->dice, desk->live_count);

	/* Mostly the newest block; a use on its own stream has no effect. */
	if (dice_permille(&author->dice, 500))
		which = desk->live_count - 1;
	op.id = desk->live[which].id;
	op.stream = author->streams[dice_below(&author->dice,
					       author->stream_count)];
	desk_add(author, desk, op);
}

/* The memory that is left, as far as the program knows. */
static uint64_t about_what_is_left(struct author *author,
				   const struct desk *desk)
{
	uint64_t capacity = author->trial->capacity;
	uint64_t left = capacity > desk->live_bytes + 4 * MIB
				? capacity - desk->live_bytes
				: 4 * MIB;
	uint64_t eighths = dice_between(&author->dice, 1, 9);

	return left / 8 * eighths + 1;
}

static void keep(struct desk *desk, uint64_t id, uint64_t size)
{
	desk->live[desk->live_count++] = (struct block_live){ id, size };
	/* Most requests that can never be served have absurd sizes. */
	if (size < UINT64_C(1) << 40)
		desk->live_bytes += size;
}

static void alloc_of(struct author *author, struct desk *desk, uint64_t size)
{
	struct op op = { .kind = GP_ALLOC, .size = size };

	if (desk->live_count == LIVE_MOST)
		desk_free(author, desk);
	op.id = ++author->next_id;
	op.stream = throw_stream(author);
	desk_add(author, desk, op);
	keep(desk, op.id, size);
	if (dice_permille(&author->dice, author->record_permille))
		record_stream(author, desk);
}

void desk_alloc(struct author *author, struct desk *desk)
{
	bool fills =
		author->features & FILLS && dice_permille(&author->dice, 80);

	if (fills)
		alloc_of(author, desk, about_what_is_left(author, desk));
	else
		alloc_of(author, desk,
			 sizes_throw(&author->sizes, &author->dice));
}

static size_t choose_victim(struct author *author, const struct desk *desk)
{
	enum victim victim = author->victim;

	if (dice_permille(&author->dice, 200))
		victim = VICTIM_ANY;
	switch (victim) {
	case VICTIM_NEWEST: return desk->live_count - 1;
	case VICTIM_OLDEST: return 0;
	default: return (size_t)dice_below(&author->dice, desk->live_count);
	}
}

static void free_at(struct author *author, struct desk *desk, size_t i)
{
	struct op op = { .kind = GP_FREE, .id = desk->live[i].id };

	desk_add(author, desk, op);
	if (desk->live[i].size < UINT64_C(1) << 40)
		desk->live_bytes -= desk->live[i].size;
	desk->live_count--;
	for (; i < desk->live_count; i++)
		desk->live[i] = desk->live[i + 1];
}

void desk_free(struct author *author, struct desk *desk)
{
	if (desk->live_count)
		free_at(author, desk, choose_victim(author, desk));
}

/* Like the forward and backward passes of a step. */
void desk_burst(struct author *author, struct desk *desk)
{
	size_t n = (size_t)dice_between(&author->dice, 4, 24);
	uint64_t size = sizes_throw(&author->sizes, &author->dice);
	bool is_one_size = dice_permille(&author->dice, 500);

	for (size_t i = 0; i < n; i++) {
		if (is_one_size)
			alloc_of(author, desk, size);
		else
			desk_alloc(author, desk);
	}
	for (size_t i = 0; i < n; i++)
		if (desk->live_count && dice_permille(&author->dice, 850))
			free_at(author, desk, desk->live_count - 1);
}

void desk_end(struct author *author, struct desk *desk)
{
	struct op empty = { .kind = GP_EMPTY_CACHE };
	size_t n = (size_t)dice_below(&author->dice, desk->live_count + 1);

	if (dice_permille(&author->dice, 800))
		turn_end_routes(author, desk);
	author->victim = VICTIM_ANY;
	for (size_t i = 0; i < n; i++)
		desk_free(author, desk);
	if (!desk->route_count && dice_permille(&author->dice, 400))
		desk_add(author, desk, empty);
}
