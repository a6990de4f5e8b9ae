/* SPDX-License-Identifier: MIT */
/* The pickle opcodes that are rare, or whose arguments are of any length. */
#include <string.h>

#include "base/mem.h"
#include "formats/pickle.h"
#include "formats/pickle_machine.h"
#include "formats/pickle_opcode.h"

/* Longer texts mean nothing here, and are passed over. */
#define TEXT_BYTES 65536

static enum gp_status fail_opcode(struct gp_machine *m, unsigned char opcode)
{
	const char *name = gp_pickle_unsafe_name(opcode);

	if (name) {
		gp_machine_name_opcode(m);
		gp_diag_hint(m->diag, "a memory snapshot is plain data, and a "
				      "checkpoint is none: torch.cuda.memory."
				      "_dump_snapshot(\"file.pickle\") writes "
				      "one");
		return gp_diag_set(m->diag, GP_INPUT,
				   "opcode %s stands here, and gpupool "
				   "executes nothing",
				   name);
	}
	name = gp_pickle_text_name(opcode);
	if (name) {
		gp_machine_name_opcode(m);
		gp_diag_hint(m->diag, "dump it with protocol 2 or later");
		return gp_diag_set(m->diag, GP_INPUT,
				   "opcode %s belongs to pickle protocol 0, "
				   "which is not read",
				   name);
	}
	gp_machine_fail_damaged(m, "");
	return gp_diag_set(m->diag, GP_INPUT, "0x%02x is no pickle opcode",
			   opcode);
}

/* The newest n values, or NULL. */
static uint64_t *newest(const struct gp_machine *m, ptrdiff_t n)
{
	return m->top - gp_machine_fence(m) >= n ? m->top - n : NULL;
}

/*
 * Is that list the trace of a device?  It is if the stack is: the top dict, its
 * keys and values by turns, the key "device_traces", the list of traces, this
 * one; between the last two the traces before it, if there is a mark there.
 */
static bool is_trace(const struct gp_machine *m, const uint64_t *list,
		     uint64_t *ordinal)
{
	const uint64_t *first =
		gp_machine_fence(m) > m->stack + 1 ? gp_machine_fence(m) : list;
	ptrdiff_t outer = first - 1 - m->stack;
	const struct gp_object_list *traces;

	if (m->source->config->is_of_host || outer < 2 || outer % 2 ||
	    m->mark_count > 3 || gp_value_tag(m->stack[0]) != GP_VALUE_DICT ||
	    gp_value_tag(m->stack[outer]) != GP_VALUE_LIST ||
	    gp_value_word(m->stack[outer - 1]) != GP_WORD_DEVICE_TRACES)
		return false;
	traces = &m->objects.lists[gp_value_payload(m->stack[outer])];
	*ordinal = traces->count + (uint64_t)(list - first);
	return true;
}

static enum gp_status append(struct gp_machine *m, uint64_t *items)
{
	uint64_t *list = gp_machine_under(m, items), ordinal;
	enum gp_status status = GP_OK;

	if (!list)
		return gp_machine_fail_stack(m);
	if (gp_value_tag(*list) == GP_VALUE_LIST) {
		gp_objects_append(&m->objects, *list, items, m->top);
		if (is_trace(m, list, &ordinal))
			status = gp_objects_deliver_early(
				&m->objects, *list, ordinal, items, m->top);
	} else if (*list != GP_VALUE_OPAQUE) {
		return gp_machine_fail_damaged(
			m, "the pickle appends to what is no list");
	}
	m->top = items;
	return status;
}

/* n values become one: a new dict or list, or a tuple. */
static enum gp_status collect(struct gp_machine *m, unsigned char opcode,
			      uint64_t *items)
{
	uint64_t made = GP_VALUE_OPAQUE, first, second;

	if (!items)
		return gp_machine_fail_stack(m);
	if (opcode == GP_OP_DICT) {
		if ((m->top - items) % 2)
			return gp_machine_fail_stack(m);
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

static enum gp_status drop(struct gp_machine *m)
{
	if (m->top > gp_machine_fence(m))
		m->top--;
	else if (m->mark_count > 1)
		m->mark_count--;
	else
		return gp_machine_fail_stack(m);
	return GP_OK;
}

static enum gp_status duplicate(struct gp_machine *m)
{
	if (m->top == gp_machine_fence(m))
		return gp_machine_fail_stack(m);
	m->top[0] = m->top[-1];
	m->top++;
	return GP_OK;
}

/* An index comes after a put of each one below it, so it is never beyond the
 * bytes read. */
static enum gp_status put(struct gp_machine *m, uint32_t index)
{
	if (m->top == gp_machine_fence(m) ||
	    index > gp_source_offset(m->source))
		return gp_machine_fail_stack(m);
	if (index >= m->memo_count) {
		size_t n = index - m->memo_count + 1;

		m->memo = gp_mem_grow(m->memo, &m->memo_room, m->memo_count + n,
				      sizeof(*m->memo));
		memset(m->memo + m->memo_count, 0, n * sizeof(*m->memo));
		m->memo_count += n;
	} else {
		gp_stencils_forget(&m->stencils);
	}
	m->memo[index] = m->top[-1];
	return gp_machine_make_room(m);
}

/* Bytes that mean nothing: passed over in whatever pieces they come. */
static enum gp_status skip(struct gp_machine *m, uint64_t n)
{
	if (!gp_source_take(m->source, NULL, n))
		return gp_machine_fail_early(m);
	*m->top++ = GP_VALUE_OPAQUE;
	return gp_machine_make_room(m);
}

static enum gp_status read_text(struct gp_machine *m, uint64_t n)
{
	if (n > TEXT_BYTES)
		return skip(m, n);
	if (!gp_source_need(m->source, n))
		return gp_machine_fail_early(m);
	*m->top++ =
		gp_objects_text(&m->objects, (const char *)m->source->at, n);
	m->source->at += n;
	return gp_machine_make_room(m);
}

/* Little-endian two's complement; beyond 64 bits it is only a value. */
static enum gp_status read_integer(struct gp_machine *m, uint32_t n)
{
	unsigned char bytes[9] = { 0 };
	bool is_negative;
	uint64_t number;

	if (n > sizeof(bytes))
		return skip(m, n);
	if (!gp_source_take(m->source, bytes, n))
		return gp_machine_fail_early(m);
	is_negative = n && bytes[n - 1] & 0x80;
	for (uint32_t i = n; is_negative && i < sizeof(bytes); i++)
		bytes[i] = 0xff;
	number = gp_load64(bytes);
	if (bytes[8] != (is_negative ? 0xff : 0) || (is_negative && !number))
		*m->top++ = GP_VALUE_OPAQUE;
	else
		*m->top++ = gp_objects_integer(&m->objects,
					       is_negative ? -number : number,
					       is_negative);
	return gp_machine_make_room(m);
}

static enum gp_status push(struct gp_machine *m, uint64_t value)
{
	*m->top++ = value;
	return GP_OK;
}

static enum gp_status read_protocol(struct gp_machine *m,
				    unsigned char protocol)
{
	if (protocol <= GP_PICKLE_LAST_PROTOCOL)
		return GP_OK;
	gp_diag_hint(m->diag, "protocols 2 to 5 are read");
	gp_machine_name_opcode(m);
	return gp_diag_set(m->diag, GP_INPUT,
			   "the pickle is of protocol %u, which is not known",
			   protocol);
}

static enum gp_status read_float(struct gp_machine *m, const unsigned char *at)
{
	uint64_t bits = 0;

	for (int i = 0; i < 8; i++)
		bits = bits << 8 | at[i];
	return push(m, (bits & ~UINT64_C(255)) | GP_VALUE_FLOAT);
}

/* Moves past an argument of n bytes; if it is cut off, to the end, where the
 * next opcode is missed. */
static const unsigned char *argument(struct gp_machine *m, ptrdiff_t n)
{
	const unsigned char *at = m->source->at;

	m->source->at = m->source->end - at < n ? m->source->end : at + n;
	return at;
}

enum gp_status gp_machine_step(struct gp_machine *m, unsigned char opcode)
{
	switch (opcode) {
	case GP_OP_PROTO: return read_protocol(m, *argument(m, 1));
	case GP_OP_NONE: return push(m, GP_VALUE_NONE);
	case GP_OP_EMPTY_SET:
	case GP_OP_EMPTY_TUPLE: return push(m, GP_VALUE_OPAQUE);
	case GP_OP_BINFLOAT: return read_float(m, argument(m, 8));
	case GP_OP_LONG1: return read_integer(m, *argument(m, 1));
	case GP_OP_LONG4: return read_integer(m, gp_load32(argument(m, 4)));
	case GP_OP_SHORT_BINSTRING:
	case GP_OP_SHORT_BINUNICODE: return read_text(m, *argument(m, 1));
	case GP_OP_BINSTRING:
	case GP_OP_BINUNICODE: return read_text(m, gp_load32(argument(m, 4)));
	case GP_OP_BINUNICODE8: return read_text(m, gp_load64(argument(m, 8)));
	case GP_OP_SHORT_BINBYTES: return skip(m, *argument(m, 1));
	case GP_OP_BINBYTES: return skip(m, gp_load32(argument(m, 4)));
	case GP_OP_BYTEARRAY8:
	case GP_OP_BINBYTES8: return skip(m, gp_load64(argument(m, 8)));
	case GP_OP_BINPUT: return put(m, *argument(m, 1));
	case GP_OP_LONG_BINPUT: return put(m, gp_load32(argument(m, 4)));
	case GP_OP_SETITEM: return gp_machine_set_items(m, newest(m, 2));
	case GP_OP_APPEND: return append(m, newest(m, 1));
	case GP_OP_APPENDS:
	case GP_OP_ADDITEMS: return append(m, gp_machine_pop_mark(m));
	case GP_OP_DICT:
	case GP_OP_LIST:
	case GP_OP_FROZENSET:
	case GP_OP_TUPLE: return collect(m, opcode, gp_machine_pop_mark(m));
	case GP_OP_TUPLE1: return collect(m, opcode, newest(m, 1));
	case GP_OP_TUPLE2: return collect(m, opcode, newest(m, 2));
	case GP_OP_TUPLE3: return collect(m, opcode, newest(m, 3));
	case GP_OP_POP: return drop(m);
	case GP_OP_POP_MARK:
		m->top = gp_machine_fence(m);
		return gp_machine_pop_mark(m) ? GP_OK
					      : gp_machine_fail_stack(m);
	case GP_OP_DUP: return duplicate(m);
	default: return fail_opcode(m, opcode);
	}
}
