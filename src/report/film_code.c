/* SPDX-License-Identifier: MIT */
/* Films and timelines in a few bytes. */
#include "report/film_code.h"

#include <stdlib.h>

#include "base/mem.h"

#define UNIT 512 /* kMinBlockSize */

/* ---- numbers ---- */

void gp_code_release(struct gp_code *code)
{
	free(code->bytes);
	*code = (struct gp_code){ 0 };
}

static void put_byte(struct gp_code *code, uint8_t byte)
{
	code->bytes = gp_mem_grow(code->bytes, &code->room, code->count + 1, 1);
	code->bytes[code->count++] = byte;
}

static void put(struct gp_code *code, uint64_t value)
{
	for (; value >= 128; value >>= 7)
		put_byte(code, (uint8_t)(value | 128));
	put_byte(code, (uint8_t)value);
}

/* b - a, signed. */
static void put_difference(struct gp_code *code, uint64_t a, uint64_t b)
{
	put(code, b >= a ? (b - a) << 1 : ((a - b) << 1) - 1);
}

void gp_code_base64(const struct gp_code *code, FILE *out)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghij"
				     "klmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < code->count; i += 3) {
		size_t left = code->count - i;
		uint32_t word = (uint32_t)code->bytes[i] << 16;

		word |= left > 1 ? (uint32_t)code->bytes[i + 1] << 8 : 0;
		word |= left > 2 ? code->bytes[i + 2] : 0;
		putc(digits[word >> 18], out);
		putc(digits[word >> 12 & 63], out);
		putc(left > 1 ? digits[word >> 6 & 63] : '=', out);
		putc(left > 2 ? digits[word & 63] : '=', out);
	}
}

/* ---- moments ---- */

void gp_code_moments(struct gp_code *code, const struct gp_moment *moments,
		     size_t count)
{
	struct gp_moment last = { 0 };

	for (size_t i = 0; i < count; i++) {
		const struct gp_moment *m = &moments[i];

		put(code, m->event - last.event);
		put_difference(code, last.reserved, m->reserved);
		put_difference(code, last.allocated, m->allocated);
		put_difference(code, last.active, m->active);
		put_difference(code, last.requested, m->requested);
		put_difference(code, last.inactive_split, m->inactive_split);
		put_difference(code, last.largest_free, m->largest_free);
		last = *m;
	}
}

/* ---- films ---- */

/* By id, the alloc under way: its shot and its ordinal in the code. */
struct live {
	size_t shot;
	uint64_t ordinal;
};

struct coder {
	struct gp_code *code;
	const struct gp_film_limits *limits;
	const struct gp_shot *shots;
	size_t count;
	bool *is_left_out; /* by shot */
	struct live *live; /* by id */
	size_t ids;
	uint64_t event, memory, block; /* of the last shots */
	uint64_t allocs;
};

/* Which frame an event is in: changes when a frame ends. */
static uint64_t frame_of(const struct coder *c, uint64_t event, uint64_t every)
{
	uint64_t frame = event / every;

	for (size_t i = 0; i < c->limits->end_count; i++)
		frame += event >= c->limits->ends[i];
	return frame;
}

static void leave_out(struct coder *c, uint64_t every)
{
	for (size_t i = 0; i < c->count; i++) {
		const struct gp_shot *shot = &c->shots[i];

		c->is_left_out[i] = false;
		if (every == 1 || shot->id == GP_NO_ID)
			continue;
		if (shot->kind == GP_SHOT_ALLOC)
			c->live[shot->id].shot = i;
		if (shot->kind == GP_SHOT_FREE) {
			size_t first = c->live[shot->id].shot;

			c->is_left_out[first] = c->is_left_out[i] =
				frame_of(c, c->shots[first].event, every) ==
				frame_of(c, shot->event, every);
		}
	}
	/* What waits in between goes with its block. */
	for (size_t i = 0; i < c->count && every > 1; i++) {
		const struct gp_shot *shot = &c->shots[i];

		if (shot->kind == GP_SHOT_ALLOC)
			c->live[shot->id].shot = i;
		if (shot->kind == GP_SHOT_WAIT)
			c->is_left_out[i] =
				c->is_left_out[c->live[shot->id].shot];
	}
}

static void put_memory(struct coder *c, const struct gp_shot *shot)
{
	uint64_t addr = shot->addr / UNIT;

	put_difference(c->code, c->memory, addr);
	put(c->code, shot->size / UNIT);
	if (shot->kind == GP_SHOT_MAP) {
		put(c->code, shot->stream);
		put(c->code, shot->pool);
	}
	c->memory = shot->kind == GP_SHOT_MAP ? addr + shot->size / UNIT : addr;
}

static void put_block(struct coder *c, const struct gp_shot *shot)
{
	uint32_t name =
		shot->site == GP_NO_SITE
			? GP_NO_SITE
			: c->limits->name_site(c->limits->arg, shot->site);

	put_difference(c->code, c->block, shot->addr / UNIT);
	put(c->code, shot->size / UNIT);
	put_difference(c->code, shot->requested, shot->size);
	put(c->code, name == GP_NO_SITE ? 0 : name + UINT64_C(1));
	c->block = shot->addr / UNIT;
	c->live[shot->id].ordinal = c->allocs++;
}

static void put_shot(struct coder *c, const struct gp_shot *shot)
{
	put(c->code, shot->kind | (unsigned)shot->is_expandable << 3 |
			     (unsigned)shot->is_small << 4);
	put(c->code, shot->event - c->event);
	c->event = shot->event;
	if (shot->kind == GP_SHOT_ALLOC)
		put_block(c, shot);
	else if (shot->id == GP_NO_ID)
		put_memory(c, shot);
	else
		put(c->code, c->allocs - c->live[shot->id].ordinal);
}

static void put_film(struct coder *c, uint64_t every)
{
	c->code->count = 0;
	c->event = c->memory = c->block = c->allocs = 0;
	leave_out(c, every);
	for (size_t i = 0; i < c->count; i++)
		if (!c->is_left_out[i])
			put_shot(c, &c->shots[i]);
}

static size_t ids_of(const struct gp_shot *shots, size_t count)
{
	size_t ids = 0;

	for (size_t i = 0; i < count; i++)
		if (shots[i].id != GP_NO_ID && shots[i].id >= ids)
			ids = (size_t)shots[i].id + 1;
	return ids;
}

void gp_code_film(struct gp_code *code, const struct gp_film *film,
		  const struct gp_film_limits *limits, uint64_t *every)
{
	struct coder c = { .code = code, .limits = limits };

	c.count = gp_film_shots(film, &c.shots);
	c.ids = ids_of(c.shots, c.count);
	c.is_left_out = gp_mem_alloc(c.count + 1, sizeof(bool));
	c.live = gp_mem_alloc(c.ids + 1, sizeof(*c.live));
	*every = 1;
	put_film(&c, *every);
	while (code->count > limits->bytes && *every < limits->events) {
		*every *= *every == 1 ? 16 : 2;
		put_film(&c, *every);
	}
	free(c.is_left_out);
	free(c.live);
}
