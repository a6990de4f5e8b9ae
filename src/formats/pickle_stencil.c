/* SPDX-License-Identifier: MIT */
/* Stencils: making one of an entry's bytes, and reading entries by them. */
#include "formats/pickle_stencil.h"

#include <string.h>

#include "formats/pickle_machine.h"
#include "formats/pickle_opcode.h"

/* ---- reading ---- */

/* So many words are compared at once: a branch for each would cost more than
 * the words do. */
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

GP_ALWAYS_INLINE uint64_t load(const struct gp_stencil_hole *hole,
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

	entry->addr = load(&n[GP_STENCIL_ADDR], at);
	entry->size = load(&n[GP_STENCIL_SIZE], at);
	entry->stream = load(&n[GP_STENCIL_STREAM], at);
	entry->time_us = load(&n[GP_STENCIL_TIME_US], at);
	negative = (entry->addr & n[GP_STENCIL_ADDR].sign) |
		   (entry->size & n[GP_STENCIL_SIZE].sign) |
		   (entry->stream & n[GP_STENCIL_STREAM].sign) |
		   (entry->time_us & n[GP_STENCIL_TIME_US].sign);
	return !negative;
}

/* False: a reference is to what is not there. */
GP_ALWAYS_INLINE bool read_gets(const struct gp_stencil *s,
				const unsigned char *at,
				const struct gp_machine *m, size_t memo_count,
				uint64_t *values)
{
	for (size_t i = 0; i < s->get_count; i++) {
		uint64_t index = load(&s->gets[i], at);

		values[i] = index < memo_count ? m->memo[index] : 0;
		if (!values[i])
			return false;
	}
	return true;
}

/* Writes the entry behind the last; false: it is nothing for a stencil. */
GP_ALWAYS_INLINE bool read_entry(struct gp_machine *m,
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

void gp_stencils_read(struct gp_machine *m)
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
		if (!read_entry(m, s, at, memo_count))
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

/* ---- making one ---- */

/* Where learning is in the bytes, and what it has found. */
struct lesson {
	struct gp_stencil *stencil;
	const unsigned char *start, *at;
	const uint64_t *memo;
	const uint64_t *made; /* in the memo, what comes next */
	uint64_t seen;	      /* keys that the entry is read from */
};

/* Entries that no stencil fits, to one that gets one for it. */
#define MISSES 16

/* The next n bytes may be others. */
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

/* False: it is a key that the entry is read from, and was there already. */
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
	default: break; /* it means nothing */
	}
	return true;
}

/* A reference; the index may be another, unless it is a pool id's. */
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
	case GP_WORD_TIME_US: return false; /* a number with an odd writer */
	case GP_WORD_ACTION: s->action_get = s->get_count; break;
	case GP_WORD_FRAMES: s->frames_get = s->get_count; break;
	default: break;
	}
	if (s->get_count == GP_STENCIL_GETS)
		return false;
	s->gets[s->get_count++] = cut(l, n, false);
	return true;
}

/* A text or pair of n bytes, and that it is memoized, stay as they are. */
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

/* A place for a new one: when there is none, that of an old one, but not often,
 * as a file whose entries are all different would be slowed down. */
static struct gp_stencil *take_place(struct gp_stencils *stencils)
{
	if (stencils->count < GP_STENCILS)
		return &stencils->all[stencils->count];
	if (stencils->misses++ % MISSES)
		return NULL;
	return &stencils->all[stencils->misses / MISSES % GP_STENCILS];
}

/* The newest dict's entry, if that is what it is. */
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

void gp_stencils_learn(struct gp_machine *m, const unsigned char *at,
		       size_t memo_count)
{
	const struct gp_snapshot_entry *entry = newest_entry(&m->objects);
	size_t length = (size_t)(m->source->at - at);
	struct gp_stencil s = { .action_get = GP_STENCIL_GETS,
				.frames_get = GP_STENCIL_GETS };
	struct lesson l = {
		.stencil = &s,
		.start = at,
		.at = at + 3, /* behind EMPTY_DICT, MEMOIZE, MARK */
		.memo = m->memo,
		.made = m->memo + memo_count + 1, /* behind the dict */
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
