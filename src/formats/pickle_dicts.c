/* SPDX-License-Identifier: MIT */
/*
 * The fast path for dicts. A trace is a long list of dicts with the same keys
 * in the same order, so most of the time for a large file is spent here.
 */
#include <string.h>

#include "formats/pickle_machine.h"

/* ---- reading entries by stencils ---- */

/* Words compared at once: a branch per word would cost more than comparing
 * them. */
#define STRIDE 4
_Static_assert(GP_STENCIL_BYTES % (8 * STRIDE) == 0, "whole strides");
_Static_assert(GP_STENCIL_BYTES <= GP_DICT_BYTES, "in the window");

GP_ALWAYS_INLINE uint64_t load_word(const unsigned char *at)
{
	uint64_t bytes;

	memcpy(&bytes, at, sizeof(bytes));
	return bytes;
}

GP_ALWAYS_INLINE bool fits(const struct gp_stencil *s, const unsigned char *at)
{
	for (size_t i = 0; 8 * i < s->length; i += STRIDE) {
		uint64_t differs = 0;

		for (size_t k = i; k < i + STRIDE; k++)
			differs |= (load_word(at + 8 * k) ^ s->bytes[k]) &
				   s->mask[k];
		if (differs)
			return false;
	}
	return true;
}

static const struct gp_stencil *find(struct gp_stencils *stencils,
				     const unsigned char *at)
{
	for (unsigned i = 0; i < stencils->count; i++) {
		if (!fits(&stencils->all[i], at))
			continue;
		stencils->last = i;
		return &stencils->all[i];
	}
	return NULL;
}

GP_ALWAYS_INLINE uint64_t load_hole(const struct gp_stencil_hole *hole,
				    const unsigned char *at)
{
	return gp_load64(at + hole->at) & hole->mask;
}

/* False: a number is negative. */
GP_ALWAYS_INLINE bool read_numbers(const struct gp_stencil *s,
				   const unsigned char *at,
				   struct gp_snapshot_entry *entry)
{
	const struct gp_stencil_hole *n = s->numbers;
	uint64_t negative;

	entry->addr = load_hole(&n[GP_STENCIL_ADDR], at);
	entry->size = load_hole(&n[GP_STENCIL_SIZE], at);
	entry->stream = load_hole(&n[GP_STENCIL_STREAM], at);
	entry->time_us = load_hole(&n[GP_STENCIL_TIME_US], at);
	negative = (entry->addr & n[GP_STENCIL_ADDR].sign) |
		   (entry->size & n[GP_STENCIL_SIZE].sign) |
		   (entry->stream & n[GP_STENCIL_STREAM].sign) |
		   (entry->time_us & n[GP_STENCIL_TIME_US].sign);
	return !negative;
}

/* False: a reference has no target. */
GP_ALWAYS_INLINE bool read_gets(const struct gp_stencil *s,
				const unsigned char *at,
				const struct gp_machine *m, size_t memo_count,
				uint64_t *values)
{
	for (size_t i = 0; i < s->get_count; i++) {
		uint64_t index = load_hole(&s->gets[i], at);

		values[i] = index < memo_count ? m->memo[index] : 0;
		if (!values[i])
			return false;
	}
	return true;
}

/* Writes the entry after the last one; false: the stencil does not apply. */
GP_ALWAYS_INLINE bool fill_entry(struct gp_machine *m,
				 const struct gp_stencil *s,
				 const unsigned char *at, size_t memo_count)
{
	struct gp_snapshot_entry *entry = gp_objects_next_entry(&m->objects);
	uint64_t values[GP_STENCIL_GETS];

	if (!read_numbers(s, at, entry) ||
	    !read_gets(s, at, m, memo_count, values))
		return false;
	entry->site = s->entry.site;
	entry->pair = s->entry.pair;
	entry->keys = s->entry.keys;
	entry->bad = 0;
	entry->action = s->entry.action;
	if (s->action_get < GP_STENCIL_GETS)
		entry->action = (uint8_t)gp_value_word(values[s->action_get]);
	if (s->frames_get < GP_STENCIL_GETS)
		entry->site =
			gp_objects_site(&m->objects, values[s->frames_get]);
	return true;
}

/*
 * Executes a run of entries that match stencils. Stops before the first dict
 * that does not, with the machine in the same state as after executing the
 * opcodes.
 */
static void read_by_stencils(struct gp_machine *m)
{
	const struct gp_stencil *s = &m->stencils.all[m->stencils.last];
	const unsigned char *at = m->source->at, *end = m->source->end;
	size_t memo_count = m->memo_count;
	uint64_t *top = m->top;

	for (; end - at >= GP_DICT_BYTES; at += s->length) {
		if (!fits(s, at) || !s->length) {
			s = find(&m->stencils, at);
			if (!s)
				break;
		}
		if (!fill_entry(m, s, at, memo_count))
			break;
		*top = gp_objects_entry_dict(&m->objects);
		m->memo[memo_count++] = *top++;
		for (size_t i = 0; i < s->made_count; i++)
			m->memo[memo_count++] = s->made[i];
	}
	m->source->at = at;
	m->memo_count = memo_count;
	m->top = top;
}

/* ---- making a stencil ---- */

/* The position while learning, and what was found so far. */
struct lesson {
	struct gp_stencil *stencil;
	const unsigned char *start, *at;
	const uint64_t *memo;
	const uint64_t *made; /* the next memo entry */
	uint64_t seen;	      /* keys of the entry's own members */
};

/* Once all stencils are in use, one in this many entries that match none gets
 * one. */
#define MISSES 16

/* The next n bytes may vary. */
static struct gp_stencil_hole cut(struct lesson *l, size_t n, bool is_signed)
{
	struct gp_stencil_hole hole = {
		.mask = UINT64_MAX >> (64 - 8 * n),
		.sign = is_signed ? UINT64_C(1) << (8 * n - 1) : 0,
		.at = (uint8_t)(l->at - l->start),
	};

	memset((unsigned char *)l->stencil->mask + hole.at, 0, n);
	l->at += n;
	return hole;
}

/* False: the entry has a member twice. */
static bool see(struct lesson *l, enum gp_word key)
{
	uint64_t bit;

	if (key >= GP_WORD_ENTRY_KEYS)
		return true;
	bit = GP_WORD_BIT(key == GP_WORD_DEVICE_FREE ? GP_WORD_ADDR : key);
	if (l->seen & bit)
		return false;
	l->seen |= bit;
	return true;
}

static bool keep_number(struct lesson *l, enum gp_word key,
			struct gp_stencil_hole hole)
{
	struct gp_stencil_hole *numbers = l->stencil->numbers;

	switch (key) {
	case GP_WORD_ADDR:
	case GP_WORD_DEVICE_FREE: numbers[GP_STENCIL_ADDR] = hole; break;
	case GP_WORD_SIZE: numbers[GP_STENCIL_SIZE] = hole; break;
	case GP_WORD_STREAM: numbers[GP_STENCIL_STREAM] = hole; break;
	case GP_WORD_TIME_US: numbers[GP_STENCIL_TIME_US] = hole; break;
	default: break; /* meaningless */
	}
	return true;
}

/* A reference, whose index may vary unless it is a pool id's. */
static bool keep_get(struct lesson *l, enum gp_word key, size_t n)
{
	uint64_t index = n == 1 ? *l->at : gp_load32(l->at);
	struct gp_stencil *s = l->stencil;

	switch (key) {
	case GP_WORD_POOL_ID:
		l->at += n;
		return gp_value_tag(l->memo[index]) == GP_VALUE_PAIR;
	case GP_WORD_ADDR:
	case GP_WORD_DEVICE_FREE:
	case GP_WORD_SIZE:
	case GP_WORD_STREAM:
	/* numbers are not references in a usual file */
	case GP_WORD_TIME_US: return false;
	case GP_WORD_ACTION: s->action_get = s->get_count; break;
	case GP_WORD_FRAMES: s->frames_get = s->get_count; break;
	default: break;
	}
	if (s->get_count == GP_STENCIL_GETS)
		return false;
	s->gets[s->get_count++] = cut(l, n, false);
	return true;
}

/* A text or pair of n bytes, and whether it is memoized, must not vary. */
static bool keep_made(struct lesson *l, size_t n)
{
	struct gp_stencil *s = l->stencil;

	l->at += n;
	if (*l->at != GP_OP_MEMOIZE)
		return true;
	if (s->made_count == GP_STENCIL_MADE)
		return false;
	s->made[s->made_count++] = *l->made++;
	l->at++;
	return true;
}

static bool learn_value(struct lesson *l, enum gp_word key)
{
	const unsigned char *value = l->at++;

	switch (*value) {
	case GP_OP_BINGET: return keep_get(l, key, 1);
	case GP_OP_LONG_BINGET: return keep_get(l, key, 4);
	case GP_OP_BININT1:
		if (value[2] == GP_OP_BININT1 && value[4] == GP_OP_TUPLE2)
			return keep_made(l, 4);
		return keep_number(l, key, cut(l, 1, false));
	case GP_OP_BININT2: return keep_number(l, key, cut(l, 2, false));
	case GP_OP_BININT: return keep_number(l, key, cut(l, 4, true));
	case GP_OP_LONG1:
		l->at++;
		return keep_number(l, key, cut(l, value[1], true));
	case GP_OP_SHORT_BINUNICODE: return keep_made(l, 1 + (size_t)value[1]);
	default: return false;
	}
}

static bool learn_item(struct lesson *l)
{
	bool is_short = *l->at == GP_OP_BINGET;
	uint32_t index = is_short ? l->at[1] : gp_load32(l->at + 1);
	enum gp_word key = gp_value_word(l->memo[index]);

	l->at += is_short ? 2 : 5;
	return see(l, key) && learn_value(l, key);
}

/* A place for a new stencil. If all are in use, an old one is replaced, but
 * only now and then: a file whose entries all differ would be slowed down. */
static struct gp_stencil *take_place(struct gp_stencils *stencils)
{
	if (stencils->count < GP_STENCILS)
		return &stencils->all[stencils->count];
	if (stencils->misses++ % MISSES)
		return NULL;
	return &stencils->all[stencils->misses / MISSES % GP_STENCILS];
}

/* The entry that the latest dict became; NULL: it is not an entry. */
static const struct gp_snapshot_entry *newest_entry(
	const struct gp_snapshot_objects *o)
{
	uint64_t dict = o->dicts[o->dicts_count - 1];

	return (uint8_t)dict == GP_OBJECT_ENTRY ? &o->entries[dict >> 8] : NULL;
}

static bool make(struct lesson *l, const struct gp_snapshot_entry *entry,
		 size_t length)
{
	struct gp_stencil *s = l->stencil;

	s->entry = *entry;
	s->length = (uint8_t)length;
	memcpy(s->bytes, l->start, length);
	memset(s->mask, 0xff, length);
	while (*l->at != GP_OP_SETITEMS)
		if (!learn_item(l))
			return false;
	return true;
}

/*
 * Makes a stencil of the dict that was read from `at` up to the machine's
 * position, if possible: it must be the latest dict, a valid entry, and consist
 * of opcodes that read_dict executes. memo_count: before the dict.
 */
static void learn(struct gp_machine *m, const unsigned char *at,
		  size_t memo_count)
{
	const struct gp_snapshot_entry *entry = newest_entry(&m->objects);
	size_t length = (size_t)(m->source->at - at);
	struct gp_stencil s = { .action_get = GP_STENCIL_GETS,
				.frames_get = GP_STENCIL_GETS };
	struct lesson l = {
		.stencil = &s,
		.start = at,
		.at = at + 3, /* after EMPTY_DICT, MEMOIZE, MARK */
		.memo = m->memo,
		.made = m->memo + memo_count + 1, /* after the dict */
	};
	struct gp_stencil *place;

	if (!entry || entry->bad || length > GP_STENCIL_BYTES ||
	    find(&m->stencils, at))
		return;
	place = take_place(&m->stencils);
	if (!place || !make(&l, entry, length))
		return;
	*place = s;
	m->stencils.count += m->stencils.count < GP_STENCILS;
}

void gp_stencils_forget(struct gp_stencils *stencils)
{
	stencils->count = 0;
	stencils->last = 0;
	stencils->all[0].length = 0;
}

/* ---- one dict, item by item ---- */

/* A text of 1 to 7 bytes that follows its length, as gp_objects_short_slot
 * expects it. */
GP_ALWAYS_INLINE uint64_t short_text(const unsigned char *at)
{
	int n = 8 * *at;

	return (gp_load64(at + 1) & ((UINT64_C(1) << n) - 1)) | (uint64_t)*at
									<< 56;
}

/* The position of read_dicts, in registers. */
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

/* Two integers and TUPLE2: the same pool id as in the previous entry. */
GP_ALWAYS_INLINE bool read_pool_pair(struct cursor *c,
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

/* A value, usually of one opcode; false: another opcode. */
GP_ALWAYS_INLINE bool read_item_value(struct cursor *c,
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
			return read_pool_pair(c, objects, value);
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

/* Pushes and gathers a key and its value; false: another opcode follows, and
 * the key or neither was pushed. */
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
	if (!read_item_value(c, objects, &value))
		return false;
	*c->top++ = value;
	c->mask |= gp_objects_gather(objects, key, value);
	return true;
}

/* Ten items of up to 15 bytes. */
_Static_assert(GP_DICT_BYTES > 10 * 15 + 4, "a dict stays in the window");

/*
 * Up to ten items, written out so that each has branches of its own. The
 * entries of a trace differ little from each other, so a branch that only sees,
 * say, sixth items is predicted well; a single jump for all opcodes is not, and
 * took half the time of a large file.
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

/* Reads one dict; false: something else precedes its end. */
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

void gp_machine_read_dicts(struct gp_machine *m)
{
	const struct gp_source *source = m->source;

	for (;;) {
		const unsigned char *at;
		size_t memo_count;

		read_by_stencils(m);
		at = source->at;
		memo_count = m->memo_count;
		if (source->end - at < GP_DICT_BYTES ||
		    at[0] != GP_OP_EMPTY_DICT || at[1] != GP_OP_MEMOIZE ||
		    at[2] != GP_OP_MARK || !read_dict(m))
			return;
		learn(m, at, memo_count);
	}
}
