/* SPDX-License-Identifier: MIT */
/*
 * Dicts the fast way.  A trace is a long list of dicts that have the same keys
 * in the same order, so this is where the time for a large file goes.
 */
#include "formats/pickle_machine.h"
#include "formats/pickle_opcode.h"

/* A text of 1 to 7 bytes behind its length, as gp_objects_short_slot has it. */
GP_ALWAYS_INLINE uint64_t short_text(const unsigned char *at)
{
	int n = 8 * *at;

	return (gp_load64(at + 1) & ((UINT64_C(1) << n) - 1)) | (uint64_t)*at
									<< 56;
}

/* Where read_dicts is; in registers. */
struct cursor {
	const unsigned char *at;
	uint64_t *top, *memo;
	size_t memo_count;
	uint64_t mask; /* of the keys so far */
};

GP_ALWAYS_INLINE bool read_get(struct cursor *c, uint32_t index, int bytes,
			       uint64_t *value)
{
	if (index >= c->memo_count || !c->memo[index])
		return false;
	*value = c->memo[index];
	c->at += bytes;
	return true;
}

GP_ALWAYS_INLINE bool read_int(struct cursor *c, uint64_t integer, int bytes,
			       uint64_t *value)
{
	*value = gp_value(GP_VALUE_INT, integer);
	c->at += bytes;
	return true;
}

GP_ALWAYS_INLINE bool read_new(struct cursor *c, uint64_t made, int bytes,
			       uint64_t *value)
{
	*value = made;
	c->at += bytes;
	if (*c->at == GP_OP_MEMOIZE) {
		c->memo[c->memo_count++] = made;
		c->at++;
	}
	return true;
}

/* Two integers and TUPLE2: the pool id that the entry before had too. */
GP_ALWAYS_INLINE bool read_pair(struct cursor *c,
				const struct gp_snapshot_objects *objects,
				uint64_t *value)
{
	if (!gp_objects_is_last_pair(objects, gp_value(GP_VALUE_INT, c->at[1]),
				     gp_value(GP_VALUE_INT, c->at[3])))
		return false;
	return read_new(c, gp_value(GP_VALUE_PAIR, objects->last_pair), 5,
			value);
}

GP_ALWAYS_INLINE bool read_short_text(struct cursor *c,
				      struct gp_snapshot_objects *objects,
				      uint64_t *value)
{
	const struct gp_short_text *text;
	uint64_t bytes;

	if (c->at[1] - 1u >= GP_SHORT_TEXT)
		return false;
	bytes = short_text(c->at + 1);
	text = gp_objects_short_slot(objects, bytes);
	if (text->bytes != bytes)
		return false;
	return read_new(c, text->value, 2 + c->at[1], value);
}

/* A value of one opcode, or nearly; false: it is another opcode. */
GP_ALWAYS_INLINE bool read_value(struct cursor *c,
				 struct gp_snapshot_objects *objects,
				 uint64_t *value)
{
	const unsigned char *at = c->at;

	if (*at == GP_OP_LONG_BINGET)
		return read_get(c, gp_load32(at + 1), 5, value);
	if (*at == GP_OP_LONG1 && at[1] - 1u < GP_VALUE_INT_BITS / 8)
		return read_int(c, gp_load_long1(at + 1), 2 + at[1], value);
	if (*at == GP_OP_BININT1) {
		if (at[2] == GP_OP_BININT1 && at[4] == GP_OP_TUPLE2)
			return read_pair(c, objects, value);
		return read_int(c, at[1], 2, value);
	}
	if (*at == GP_OP_BININT)
		return read_int(c, (uint64_t)(int32_t)gp_load32(at + 1), 5,
				value);
	if (*at == GP_OP_BININT2)
		return read_int(c, gp_load16(at + 1), 3, value);
	if (*at == GP_OP_BINGET)
		return read_get(c, at[1], 2, value);
	if (*at == GP_OP_SHORT_BINUNICODE)
		return read_short_text(c, objects, value);
	return false;
}

/* A key and its value, pushed and gathered; false: the key or neither was, as
 * another opcode is in the way. */
GP_ALWAYS_INLINE bool read_item(struct cursor *c,
				struct gp_snapshot_objects *objects)
{
	const unsigned char *at = c->at;
	uint64_t key, value;

	if (*at == GP_OP_LONG_BINGET) {
		if (!read_get(c, gp_load32(at + 1), 5, &key))
			return false;
	} else if (*at != GP_OP_BINGET || !read_get(c, at[1], 2, &key)) {
		return false;
	}
	*c->top++ = key;
	if (!read_value(c, objects, &value))
		return false;
	*c->top++ = value;
	c->mask |= gp_objects_gather(objects, key, value);
	return true;
}

/* Ten items of up to 15 bytes. */
_Static_assert(GP_DICT_BYTES > 10 * 15 + 4, "a dict stays in the window");

/*
 * Up to ten items.  Written out so that each has branches of its own: the
 * entries of a trace differ little from one to the next, so a branch that only
 * sees, say, sixth items is foreseen by the processor; one jump by opcode for
 * all of them is not, and that was half the time of a large file.
 */
GP_ALWAYS_INLINE void read_items(struct cursor *c,
				 struct gp_snapshot_objects *o)
{
	bool goes_on = read_item(c, o) && read_item(c, o) && read_item(c, o) &&
		       read_item(c, o) && read_item(c, o) && read_item(c, o) &&
		       read_item(c, o) && read_item(c, o) && read_item(c, o) &&
		       read_item(c, o);

	(void)goes_on;
}

/* One dict; false: something else comes before its end. */
static bool read_dict(struct gp_machine *m)
{
	struct cursor c = { m->source->at, m->top, m->memo, m->memo_count, 0 };
	uint64_t dict = gp_objects_dict(&m->objects);
	uint64_t *items = c.top + 1;
	bool is_done;

	*c.top++ = dict;
	c.memo[c.memo_count++] = dict;
	c.at += 3;
	read_items(&c, &m->objects);
	is_done = *c.at == GP_OP_SETITEMS && (c.top - items) % 2 == 0;
	if (is_done) {
		gp_objects_fill(&m->objects, dict, c.mask, items, c.top);
		c.top = items;
		c.at++;
	} else {
		m->marks[m->mark_count++] = (uint32_t)(items - m->stack);
	}
	m->source->at = c.at;
	m->top = c.top;
	m->memo_count = c.memo_count;
	return is_done;
}

/*
 * A run of dicts as protocols 4 and 5 write them: EMPTY_DICT, MEMOIZE, MARK,
 * items, SETITEMS.  Stops before whatever is anything else, with the machine as
 * run() would have it there.
 */
void gp_machine_read_dicts(struct gp_machine *m)
{
	const struct gp_source *source = m->source;

	for (;;) {
		const unsigned char *at;
		size_t memo_count;

		gp_stencils_read(m);
		at = source->at;
		memo_count = m->memo_count;
		if (source->end - at < GP_DICT_BYTES ||
		    at[0] != GP_OP_EMPTY_DICT || at[1] != GP_OP_MEMOIZE ||
		    at[2] != GP_OP_MARK || !read_dict(m))
			return;
		gp_stencils_learn(m, at, memo_count);
	}
}
