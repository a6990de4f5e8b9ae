/*
 * A pickle machine (CPython's Modules/_pickle.c and Lib/pickletools.py define
 * the opcodes) whose values are 64 bits and whose dicts and lists are reduced
 * by snapshot_object.h as they fill.
 *
 * The loop in run() is all that a large file costs.  What makes it fast: one
 * bounds check an opcode, as LOOKAHEAD bytes are always readable; no check that
 * there is room, as each byte of the window makes at most one value, mark, memo
 * entry, dict or list, and room for all of them is made with the window.
 */
#include "input/pickle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/build.h"
#include "input/pickle_opcode.h"
#include "input/snapshot_object.h"

/* The longest opcode with an argument of fixed size, LONG1 of 8 bytes. */
#define LOOKAHEAD GP_SOURCE_SLACK

/* Longer texts mean nothing here, and are passed over. */
#define TEXT_BYTES 65536

/* For what read_items is made of, many times over. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

struct machine {
	struct gp_source *source;
	struct gp_diag *diag;
	uint64_t *stack, *top;
	size_t stack_room;
	uint32_t *marks; /* where on the stack; the first is 0, the bottom */
	size_t mark_count, mark_room;
	uint64_t *memo;
	size_t memo_count, memo_room;
	uint64_t opcode_at; /* offset of the one being done, for messages */
	struct gp_snapshot_objects objects;
};

ALWAYS_INLINE uint32_t load16(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

ALWAYS_INLINE uint32_t load32(const unsigned char *at)
{
	return load16(at) | load16(at + 2) << 16;
}

ALWAYS_INLINE uint64_t load64(const unsigned char *at)
{
	return load32(at) | (uint64_t)load32(at + 4) << 32;
}

/* An integer of 1 to 7 bytes, sign and all, behind its length. */
ALWAYS_INLINE uint64_t long1(const unsigned char *at)
{
	int unused = 64 - 8 * *at;

	return (uint64_t)((int64_t)(load64(at + 1) << unused) >> unused);
}

/* A text of 1 to 7 bytes behind its length, as gp_objects_short_slot has it. */
ALWAYS_INLINE uint64_t short_text(const unsigned char *at)
{
	int n = 8 * *at;

	return (load64(at + 1) & ((UINT64_C(1) << n) - 1)) | (uint64_t)*at
								     << 56;
}

static uint64_t *fence(const struct machine *m)
{
	return m->stack + m->marks[m->mark_count - 1];
}

static void name_byte(struct machine *m, uint64_t offset)
{
	gp_diag_record(m->diag, "byte %llu", (unsigned long long)offset);
}

static enum gp_status fail_early(struct machine *m)
{
	if (m->source->status != GP_OK)
		return m->source->status;
	name_byte(m, m->source->base +
			     (uint64_t)(m->source->end - m->source->buffer));
	gp_diag_hint(m->diag, "was it copied while it was being written?");
	return gp_diag_set(m->diag, GP_INPUT,
			   "the file ends in the middle of the pickle");
}

static enum gp_status fail_damaged(struct machine *m, const char *what)
{
	name_byte(m, m->opcode_at);
	gp_diag_hint(m->diag, "is the file damaged?");
	return gp_diag_set(m->diag, GP_INPUT, "%s", what);
}

static enum gp_status fail_opcode(struct machine *m, unsigned char opcode)
{
	const char *name = gp_pickle_unsafe_name(opcode);

	if (name) {
		name_byte(m, m->opcode_at);
		gp_diag_hint(m->diag, "a memory snapshot is plain data; this "
				      "pickle would run code, or ask for "
				      "more, when Python loads it");
		return gp_diag_set(m->diag, GP_INPUT,
				   "opcode %s stands here, and gpupool "
				   "executes nothing",
				   name);
	}
	name = gp_pickle_text_name(opcode);
	if (name) {
		name_byte(m, m->opcode_at);
		gp_diag_hint(m->diag, "dump it with protocol 2 or later");
		return gp_diag_set(m->diag, GP_INPUT,
				   "opcode %s belongs to pickle protocol 0, "
				   "which is not read",
				   name);
	}
	fail_damaged(m, "");
	return gp_diag_set(m->diag, GP_INPUT, "0x%02x is no pickle opcode",
			   opcode);
}

/*
 * Room for all that the window's bytes can make.  A count that no longer fits
 * its 32 bits is an error; it takes a file of 4 GiB.
 */
static enum gp_status make_room(struct machine *m)
{
	size_t n = (size_t)(m->source->end - m->source->at) + LOOKAHEAD;
	size_t used = (size_t)(m->top - m->stack);
	size_t most = UINT32_MAX - n;

	if (n > UINT32_MAX || used > most || m->mark_count > most ||
	    m->memo_count > most || m->objects.dicts_count > most ||
	    m->objects.lists_count > most)
		return fail_damaged(m, "the pickle has over 4 billion objects");
	m->stack = gp_mem_grow(m->stack, &m->stack_room, used + n,
			       sizeof(*m->stack));
	m->top = m->stack + used;
	m->marks = gp_mem_grow(m->marks, &m->mark_room, m->mark_count + n,
			       sizeof(*m->marks));
	m->memo = gp_mem_grow(m->memo, &m->memo_room, m->memo_count + n,
			      sizeof(*m->memo));
	gp_objects_reserve(&m->objects, n);
	return GP_OK;
}

/* At least LOOKAHEAD bytes in the window, or all that are left.  A position
 * beyond the end is that of an opcode whose argument was cut off. */
static enum gp_status refill(struct machine *m)
{
	if (m->source->at > m->source->end)
		return fail_early(m);
	gp_source_need(m->source, LOOKAHEAD);
	if (m->source->at == m->source->end)
		return fail_early(m);
	return make_room(m);
}

/* The items above the newest mark, which goes; NULL: there is none. */
static uint64_t *pop_mark(struct machine *m)
{
	uint64_t *items = fence(m);

	if (m->mark_count == 1)
		return NULL;
	m->mark_count--;
	return items;
}

/* The newest n values, or NULL. */
static uint64_t *newest(const struct machine *m, ptrdiff_t n)
{
	return m->top - fence(m) >= n ? m->top - n : NULL;
}

/* The container under the items, or NULL. */
static uint64_t *under(const struct machine *m, uint64_t *items)
{
	return items && items > fence(m) ? items - 1 : NULL;
}

static enum gp_status fail_stack(struct machine *m)
{
	return fail_damaged(m, "the pickle uses a value that is not there");
}

static enum gp_status set_items(struct machine *m, uint64_t *items)
{
	uint64_t *dict = under(m, items);

	if (!dict || (m->top - items) % 2)
		return fail_stack(m);
	if (gp_value_tag(*dict) == GP_VALUE_DICT)
		gp_objects_set(&m->objects, *dict, items, m->top);
	else if (*dict != GP_VALUE_OPAQUE)
		return fail_damaged(m, "the pickle adds items to what is no "
				       "dict");
	m->top = items;
	return GP_OK;
}

/*
 * Is that list the trace of a device?  It is if the stack is: the top dict, its
 * keys and values by turns, the key "device_traces", the list of traces, this
 * one; between the last two the traces before it, if there is a mark there.
 */
static bool is_trace(const struct machine *m, const uint64_t *list,
		     uint64_t *ordinal)
{
	const uint64_t *first = fence(m) > m->stack + 1 ? fence(m) : list;
	ptrdiff_t outer = first - 1 - m->stack;
	const struct gp_object_list *traces;

	if (outer < 2 || outer % 2 || m->mark_count > 3 ||
	    gp_value_tag(m->stack[0]) != GP_VALUE_DICT ||
	    gp_value_tag(m->stack[outer]) != GP_VALUE_LIST ||
	    gp_value_word(m->stack[outer - 1]) != GP_WORD_DEVICE_TRACES)
		return false;
	traces = &m->objects.lists[gp_value_payload(m->stack[outer])];
	*ordinal = traces->count + (uint64_t)(list - first);
	return true;
}

static enum gp_status append(struct machine *m, uint64_t *items)
{
	uint64_t *list = under(m, items), ordinal;
	enum gp_status status = GP_OK;

	if (!list)
		return fail_stack(m);
	if (gp_value_tag(*list) == GP_VALUE_LIST) {
		gp_objects_append(&m->objects, *list, items, m->top);
		if (is_trace(m, list, &ordinal))
			status = gp_objects_deliver_early(
				&m->objects, *list, ordinal, items, m->top);
	} else if (*list != GP_VALUE_OPAQUE) {
		return fail_damaged(m, "the pickle appends to what is no list");
	}
	m->top = items;
	return status;
}

/* n values become one: a new dict or list, or a tuple. */
static enum gp_status collect(struct machine *m, unsigned char opcode,
			      uint64_t *items)
{
	uint64_t made = GP_VALUE_OPAQUE, first, second;

	if (!items)
		return fail_stack(m);
	if (opcode == GP_OP_DICT) {
		if ((m->top - items) % 2)
			return fail_stack(m);
		made = gp_objects_dict(&m->objects);
		gp_objects_set(&m->objects, made, items, m->top);
	} else if (opcode == GP_OP_LIST) {
		made = gp_objects_list(&m->objects);
		gp_objects_append(&m->objects, made, items, m->top);
	} else if (m->top - items == 2 &&
		   gp_objects_number(&m->objects, items[0], &first) &&
		   gp_objects_number(&m->objects, items[1], &second)) {
		made = gp_objects_pair(&m->objects, first, second);
	}
	m->top = items;
	*m->top++ = made;
	return GP_OK;
}

static enum gp_status drop(struct machine *m)
{
	if (m->top > fence(m))
		m->top--;
	else if (m->mark_count > 1)
		m->mark_count--;
	else
		return fail_stack(m);
	return GP_OK;
}

static enum gp_status duplicate(struct machine *m)
{
	if (m->top == fence(m))
		return fail_stack(m);
	m->top[0] = m->top[-1];
	m->top++;
	return GP_OK;
}

/* An index comes after a put of each one below it, so it is never beyond the
 * bytes read. */
static enum gp_status put(struct machine *m, uint32_t index)
{
	if (m->top == fence(m) || index > gp_source_offset(m->source))
		return fail_stack(m);
	if (index >= m->memo_count) {
		size_t n = index - m->memo_count + 1;

		m->memo = gp_mem_grow(m->memo, &m->memo_room, m->memo_count + n,
				      sizeof(*m->memo));
		memset(m->memo + m->memo_count, 0, n * sizeof(*m->memo));
		m->memo_count += n;
	}
	m->memo[index] = m->top[-1];
	return make_room(m);
}

/* Bytes that mean nothing: passed over in whatever pieces they come. */
static enum gp_status skip(struct machine *m, uint64_t n)
{
	if (!gp_source_take(m->source, NULL, n))
		return fail_early(m);
	*m->top++ = GP_VALUE_OPAQUE;
	return make_room(m);
}

static enum gp_status read_text(struct machine *m, uint64_t n)
{
	if (n > TEXT_BYTES)
		return skip(m, n);
	if (!gp_source_need(m->source, n))
		return fail_early(m);
	*m->top++ =
		gp_objects_text(&m->objects, (const char *)m->source->at, n);
	m->source->at += n;
	return make_room(m);
}

/* Little-endian two's complement; beyond 64 bits it is only a value. */
static enum gp_status read_integer(struct machine *m, uint32_t n)
{
	unsigned char bytes[9] = { 0 };
	bool is_negative;
	uint64_t number;

	if (n > sizeof(bytes))
		return skip(m, n);
	if (!gp_source_take(m->source, bytes, n))
		return fail_early(m);
	is_negative = n && bytes[n - 1] & 0x80;
	for (uint32_t i = n; is_negative && i < sizeof(bytes); i++)
		bytes[i] = 0xff;
	number = load64(bytes);
	if (bytes[8] != (is_negative ? 0xff : 0) || (is_negative && !number))
		*m->top++ = GP_VALUE_OPAQUE;
	else
		*m->top++ = gp_objects_integer(&m->objects,
					       is_negative ? -number : number,
					       is_negative);
	return make_room(m);
}

static enum gp_status push(struct machine *m, uint64_t value)
{
	*m->top++ = value;
	return GP_OK;
}

static enum gp_status read_protocol(struct machine *m, unsigned char protocol)
{
	if (protocol <= GP_PICKLE_LAST_PROTOCOL)
		return GP_OK;
	gp_diag_hint(m->diag, "protocols 2 to 5 are read");
	name_byte(m, m->opcode_at);
	return gp_diag_set(m->diag, GP_INPUT,
			   "the pickle is of protocol %u, which is not known",
			   protocol);
}

static enum gp_status read_float(struct machine *m, const unsigned char *at)
{
	uint64_t bits = 0;

	for (int i = 0; i < 8; i++)
		bits = bits << 8 | at[i];
	return push(m, (bits & ~UINT64_C(255)) | GP_VALUE_FLOAT);
}

/* Moves past an argument of n bytes; if it is cut off, to the end, where the
 * next opcode is missed. */
static const unsigned char *argument(struct machine *m, ptrdiff_t n)
{
	const unsigned char *at = m->source->at;

	m->source->at = m->source->end - at < n ? m->source->end : at + n;
	return at;
}

/* The opcodes that are rare, or whose arguments are of any length. */
static enum gp_status step(struct machine *m, unsigned char opcode)
{
	switch (opcode) {
	case GP_OP_PROTO: return read_protocol(m, *argument(m, 1));
	case GP_OP_NONE: return push(m, GP_VALUE_NONE);
	case GP_OP_EMPTY_SET:
	case GP_OP_EMPTY_TUPLE: return push(m, GP_VALUE_OPAQUE);
	case GP_OP_BINFLOAT: return read_float(m, argument(m, 8));
	case GP_OP_LONG1: return read_integer(m, *argument(m, 1));
	case GP_OP_LONG4: return read_integer(m, load32(argument(m, 4)));
	case GP_OP_SHORT_BINSTRING:
	case GP_OP_SHORT_BINUNICODE: return read_text(m, *argument(m, 1));
	case GP_OP_BINSTRING:
	case GP_OP_BINUNICODE: return read_text(m, load32(argument(m, 4)));
	case GP_OP_BINUNICODE8: return read_text(m, load64(argument(m, 8)));
	case GP_OP_SHORT_BINBYTES: return skip(m, *argument(m, 1));
	case GP_OP_BINBYTES: return skip(m, load32(argument(m, 4)));
	case GP_OP_BYTEARRAY8:
	case GP_OP_BINBYTES8: return skip(m, load64(argument(m, 8)));
	case GP_OP_BINPUT: return put(m, *argument(m, 1));
	case GP_OP_LONG_BINPUT: return put(m, load32(argument(m, 4)));
	case GP_OP_SETITEM: return set_items(m, newest(m, 2));
	case GP_OP_APPEND: return append(m, newest(m, 1));
	case GP_OP_APPENDS:
	case GP_OP_ADDITEMS: return append(m, pop_mark(m));
	case GP_OP_DICT:
	case GP_OP_LIST:
	case GP_OP_FROZENSET:
	case GP_OP_TUPLE: return collect(m, opcode, pop_mark(m));
	case GP_OP_TUPLE1: return collect(m, opcode, newest(m, 1));
	case GP_OP_TUPLE2: return collect(m, opcode, newest(m, 2));
	case GP_OP_TUPLE3: return collect(m, opcode, newest(m, 3));
	case GP_OP_POP: return drop(m);
	case GP_OP_POP_MARK:
		m->top = fence(m);
		return pop_mark(m) ? GP_OK : fail_stack(m);
	case GP_OP_DUP: return duplicate(m);
	default: return fail_opcode(m, opcode);
	}
}

/* Where read_dicts is; in registers. */
struct cursor {
	const unsigned char *at;
	uint64_t *top, *memo;
	size_t memo_count;
	uint64_t mask; /* of the keys so far */
};

ALWAYS_INLINE bool read_get(struct cursor *c, uint32_t index, int bytes)
{
	uint64_t value = index < c->memo_count ? c->memo[index] : 0;

	if (!value)
		return false;
	*c->top++ = value;
	c->at += bytes;
	return true;
}

ALWAYS_INLINE bool read_int(struct cursor *c, uint64_t value, int bytes)
{
	*c->top++ = gp_value(GP_VALUE_INT, value);
	c->at += bytes;
	return true;
}

ALWAYS_INLINE void read_memoize(struct cursor *c)
{
	if (*c->at != GP_OP_MEMOIZE)
		return;
	c->memo[c->memo_count++] = c->top[-1];
	c->at++;
}

/* Two integers and TUPLE2: the pool id that the entry before had too. */
ALWAYS_INLINE bool read_pair(struct cursor *c,
			     const struct gp_snapshot_objects *objects)
{
	if (!gp_objects_is_last_pair(objects, gp_value(GP_VALUE_INT, c->at[1]),
				     gp_value(GP_VALUE_INT, c->at[3])))
		return false;
	*c->top++ = gp_value(GP_VALUE_PAIR, objects->last_pair);
	c->at += 5;
	read_memoize(c);
	return true;
}

ALWAYS_INLINE bool read_short_text(struct cursor *c,
				   struct gp_snapshot_objects *objects)
{
	const struct gp_short_text *text;
	uint64_t bytes;

	if (c->at[1] - 1u >= GP_SHORT_TEXT)
		return false;
	bytes = short_text(c->at + 1);
	text = gp_objects_short_slot(objects, bytes);
	if (text->bytes != bytes)
		return false;
	*c->top++ = text->value;
	c->at += 2 + c->at[1];
	read_memoize(c);
	return true;
}

/* A value of one opcode, or nearly, pushed; false: it is another opcode. */
ALWAYS_INLINE bool read_value(struct cursor *c,
			      struct gp_snapshot_objects *objects)
{
	const unsigned char *at = c->at;

	if (*at == GP_OP_LONG_BINGET)
		return read_get(c, load32(at + 1), 5);
	if (*at == GP_OP_LONG1 && at[1] - 1u < GP_VALUE_INT_BITS / 8)
		return read_int(c, long1(at + 1), 2 + at[1]);
	if (*at == GP_OP_BININT1) {
		if (at[2] == GP_OP_BININT1 && at[4] == GP_OP_TUPLE2)
			return read_pair(c, objects);
		return read_int(c, at[1], 2);
	}
	if (*at == GP_OP_BININT)
		return read_int(c, (uint64_t)(int32_t)load32(at + 1), 5);
	if (*at == GP_OP_BININT2)
		return read_int(c, load16(at + 1), 3);
	if (*at == GP_OP_BINGET)
		return read_get(c, at[1], 2);
	if (*at == GP_OP_SHORT_BINUNICODE)
		return read_short_text(c, objects);
	return false;
}

/* A key and its value; false: another opcode is in the way. */
ALWAYS_INLINE bool read_item(struct cursor *c,
			     struct gp_snapshot_objects *objects)
{
	const unsigned char *at = c->at;

	if (*at == GP_OP_LONG_BINGET) {
		if (!read_get(c, load32(at + 1), 5))
			return false;
	} else if (*at != GP_OP_BINGET || !read_get(c, at[1], 2)) {
		return false;
	}
	if (!read_value(c, objects))
		return false;
	c->mask |= gp_objects_gather(objects, c->top[-2], c->top[-1]);
	return true;
}

/* More than read_items can use, at up to 15 bytes an item. */
#define DICT_BYTES 256

/*
 * Up to ten items.  Written out so that each has branches of its own: the
 * entries of a trace differ little from one to the next, so a branch that only
 * sees, say, sixth items is foreseen by the processor; one jump by opcode for
 * all of them is not, and that was half the time of a large file.
 */
ALWAYS_INLINE void read_items(struct cursor *c, struct gp_snapshot_objects *o)
{
	bool goes_on = read_item(c, o) && read_item(c, o) && read_item(c, o) &&
		       read_item(c, o) && read_item(c, o) && read_item(c, o) &&
		       read_item(c, o) && read_item(c, o) && read_item(c, o) &&
		       read_item(c, o);

	(void)goes_on;
}

/*
 * A run of dicts as protocols 4 and 5 write them: EMPTY_DICT, MEMOIZE, MARK,
 * items, SETITEMS.  Stops before whatever is anything else, with the machine as
 * run() would have it there.
 */
static void read_dicts(struct machine *m)
{
	const unsigned char *end = m->source->end;
	struct cursor c = { m->source->at, m->top, m->memo, m->memo_count, 0 };

	while (end - c.at >= DICT_BYTES && c.at[0] == GP_OP_EMPTY_DICT &&
	       c.at[1] == GP_OP_MEMOIZE && c.at[2] == GP_OP_MARK) {
		uint64_t dict = gp_objects_dict(&m->objects);
		uint64_t *items = c.top + 1;

		*c.top++ = dict;
		c.memo[c.memo_count++] = dict;
		c.at += 3;
		c.mask = 0;
		read_items(&c, &m->objects);
		if (*c.at != GP_OP_SETITEMS || (c.top - items) % 2) {
			m->marks[m->mark_count++] =
				(uint32_t)(items - m->stack);
			break;
		}
		gp_objects_fill(&m->objects, dict, c.mask, items, c.top);
		c.top = items;
		c.at++;
	}
	m->source->at = c.at;
	m->top = c.top;
	m->memo_count = c.memo_count;
}

/*
 * Runs to STOP.  at, end, top and bottom (the fence) are the machine's, kept
 * in registers; leave and enter carry them over calls that may move them.
 */
static enum gp_status run(struct machine *m)
{
	const unsigned char *at, *end;
	uint64_t *top, *bottom, *items;
	enum gp_status status;
	unsigned char opcode;
	const struct gp_short_text *text;
	uint64_t value;
	uint32_t index;

enter:
	at = m->source->at;
	end = m->source->end;
	top = m->top;
	bottom = fence(m);
	for (;;) {
		if (end - at < LOOKAHEAD) {
			m->source->at = at;
			m->top = top;
			status = refill(m);
			if (status != GP_OK)
				return status;
			at = m->source->at;
			end = m->source->end;
			top = m->top;
			bottom = fence(m);
		}
		opcode = *at++;
		switch (opcode) {
		case GP_OP_MARK:
			m->marks[m->mark_count++] = (uint32_t)(top - m->stack);
			bottom = top;
			break;
		case GP_OP_EMPTY_DICT:
			if (end - at >= DICT_BYTES && at[0] == GP_OP_MEMOIZE &&
			    at[1] == GP_OP_MARK) {
				m->source->at = at - 1;
				m->top = top;
				read_dicts(m);
				goto enter;
			}
			*top++ = gp_objects_dict(&m->objects);
			break;
		case GP_OP_EMPTY_LIST:
			*top++ = gp_objects_list(&m->objects);
			break;
		case GP_OP_MEMOIZE:
			if (top == bottom)
				goto leave;
			m->memo[m->memo_count++] = top[-1];
			break;
		case GP_OP_BINPUT:
			if (top == bottom || *at != m->memo_count)
				goto leave;
			m->memo[m->memo_count++] = top[-1];
			at++;
			break;
		case GP_OP_LONG_BINPUT:
			if (top == bottom || load32(at) != m->memo_count)
				goto leave;
			m->memo[m->memo_count++] = top[-1];
			at += 4;
			break;
		case GP_OP_BINGET:
			value = *at < m->memo_count ? m->memo[*at] : 0;
			if (!value)
				goto leave;
			*top++ = value;
			at++;
			break;
		case GP_OP_LONG_BINGET:
			index = load32(at);
			value = index < m->memo_count ? m->memo[index] : 0;
			if (!value)
				goto leave;
			*top++ = value;
			at += 4;
			break;
		case GP_OP_BININT1:
			*top++ = gp_value(GP_VALUE_INT, *at++);
			break;
		case GP_OP_BININT2:
			*top++ = gp_value(GP_VALUE_INT, load16(at));
			at += 2;
			break;
		case GP_OP_BININT:
			value = (uint64_t)(int64_t)(int32_t)load32(at);
			*top++ = gp_value(GP_VALUE_INT, value);
			at += 4;
			break;
		case GP_OP_LONG1:
			if (*at - 1u >= GP_VALUE_INT_BITS / 8)
				goto leave;
			*top++ = gp_value(GP_VALUE_INT, long1(at));
			at += 1 + *at;
			break;
		case GP_OP_SHORT_BINUNICODE:
			if (end - at <= *at)
				goto leave;
			if (*at - 1u < GP_SHORT_TEXT) {
				value = short_text(at);
				text = gp_objects_short_slot(&m->objects,
							     value);
				if (text->bytes == value) {
					*top++ = text->value;
					at += 1 + *at;
					break;
				}
			}
			*top++ = gp_objects_text(&m->objects,
						 (const char *)at + 1, *at);
			at += 1 + *at;
			break;
		case GP_OP_TUPLE2:
			if (top - bottom < 2 ||
			    !gp_objects_is_last_pair(&m->objects, top[-2],
						     top[-1]))
				goto leave;
			top[-2] = gp_value(GP_VALUE_PAIR, m->objects.last_pair);
			top--;
			break;
		case GP_OP_NEWTRUE: *top++ = GP_VALUE_TRUE; break;
		case GP_OP_NEWFALSE: *top++ = GP_VALUE_FALSE; break;
		case GP_OP_FRAME: at += 8; break;
		case GP_OP_SETITEMS:
			m->top = top;
			m->source->at = at;
			m->opcode_at = gp_source_offset(m->source) - 1;
			items = pop_mark(m);
			status = set_items(m, items);
			if (status != GP_OK)
				return status;
			top = items;
			bottom = fence(m);
			break;
		case GP_OP_STOP: goto stop;
		default: goto leave;
		}
	}
leave:
	/* An opcode that step does, or that gets no further. */
	m->source->at = at;
	m->top = top;
	m->opcode_at = gp_source_offset(m->source) - 1;
	switch (opcode) {
	case GP_OP_MEMOIZE: return fail_stack(m);
	case GP_OP_BINGET:
	case GP_OP_LONG_BINGET:
		return fail_damaged(m, "the pickle refers to a memo entry "
				       "that is not there");
	}
	status = step(m, opcode);
	if (status != GP_OK)
		return status;
	goto enter;
stop:
	m->source->at = at;
	m->top = top;
	m->opcode_at = gp_source_offset(m->source) - 1;
	return top > bottom ? GP_OK : fail_stack(m);
}

enum gp_status gp_pickle_read(struct gp_source *source, struct gp_trace **trace,
			      struct gp_diag *diag)
{
	struct gp_build *build = gp_build_create(GP_BUILD_HISTORY);
	struct machine m = { .source = source, .diag = diag };
	enum gp_status status;

	gp_objects_init(&m.objects, build, diag);
	m.marks = gp_mem_grow(NULL, &m.mark_room, 1, sizeof(*m.marks));
	m.marks[m.mark_count++] = 0;
	status = make_room(&m);
	if (status == GP_OK)
		status = run(&m);
	if (status == GP_OK)
		status = gp_objects_deliver(&m.objects, m.top[-1]);
	gp_objects_release(&m.objects);
	free(m.stack);
	free(m.marks);
	free(m.memo);
	if (status == GP_OK)
		return gp_build_finish(build, trace, diag);
	gp_build_destroy(build);
	return status;
}
