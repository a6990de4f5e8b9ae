/* SPDX-License-Identifier: MIT */
/*
 * PyTorch snapshots as Python pickles, protocols 2 to 5, read as a stream from
 * the first opcode to STOP.
 *
 * Only plain data is accepted: opcodes that import, call or build objects are
 * errors that name them, as nothing is ever executed. Memory grows with the
 * records and the memo, never with a length that a file claims.
 */
#include "formats/readers.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "trace/build.h"
#include "formats/pickle_machine.h"

#define FIRST_PROTOCOL 2
#define LAST_PROTOCOL  5

/* ---- the machine's memory ---- */

static void name_byte(struct gp_machine *m, uint64_t offset)
{
	gp_diag_record(m->diag, "byte %llu", (unsigned long long)offset);
}

static void name_opcode(struct gp_machine *m)
{
	name_byte(m, m->opcode_at);
}

static enum gp_status fail_early(struct gp_machine *m)
{
	if (m->source->status != GP_OK)
		return m->source->status;
	name_byte(m, m->source->base +
			     (uint64_t)(m->source->end - m->source->buffer));
	gp_diag_hint(m->diag, "was it copied while it was being written?");
	return gp_diag_set(m->diag, GP_INPUT,
			   "the file ends in the middle of the pickle");
}

static enum gp_status fail_damaged(struct gp_machine *m, const char *what)
{
	name_opcode(m);
	gp_diag_hint(m->diag, "is the file damaged?");
	return gp_diag_set(m->diag, GP_INPUT, "%s", what);
}

static enum gp_status fail_stack(struct gp_machine *m)
{
	return fail_damaged(m, "the pickle uses a value that does not exist");
}

/* Makes room for everything that the bytes of the window can create; called
 * after each change of the window. A count that exceeds 32 bits, which takes 4
 * GiB, is an error. */
static enum gp_status make_room(struct gp_machine *m)
{
	size_t n = (size_t)(m->source->end - m->source->at) + GP_LOOKAHEAD;
	size_t used = (size_t)(m->top - m->stack);
	size_t most = UINT32_MAX - n;

	if (n > UINT32_MAX || used > most || m->mark_count > most ||
	    m->memo_count > most || m->objects.dicts_count > most ||
	    m->objects.lists_count > most)
		return fail_damaged(m, "the pickle has over 4 billion objects");
	GP_GROW(m->stack, used + n, m->stack_room);
	m->top = m->stack + used;
	GP_GROW(m->marks, m->mark_count + n, m->mark_room);
	GP_GROW(m->memo, m->memo_count + n, m->memo_room);
	gp_objects_reserve(&m->objects, n);
	return GP_OK;
}

/* Makes at least GP_LOOKAHEAD bytes available, or all that are left. If the
 * position is beyond the end, an opcode's argument was cut off. */
static enum gp_status refill(struct gp_machine *m)
{
	if (m->source->at > m->source->end)
		return fail_early(m);
	gp_source_need(m->source, GP_LOOKAHEAD);
	if (m->source->at == m->source->end)
		return fail_early(m);
	return make_room(m);
}

static enum gp_status init(struct gp_machine *m, struct gp_source *source,
			   struct gp_build *build, struct gp_diag *diag)
{
	*m = (struct gp_machine){ .source = source, .diag = diag };
	gp_objects_init(&m->objects, build, diag);
	m->objects.delivery.is_of_host = source->config->is_of_host;
	m->marks = gp_mem_grow(NULL, &m->mark_room, 1, sizeof(*m->marks));
	m->marks[m->mark_count++] = 0;
	return make_room(m);
}

static void release(struct gp_machine *m)
{
	gp_objects_release(&m->objects);
	free(m->stack);
	free(m->marks);
	free(m->memo);
}

/* The items above the topmost mark, which is removed; NULL: there is no
 * mark. */
static uint64_t *pop_mark(struct gp_machine *m)
{
	uint64_t *items = gp_machine_fence(m);

	if (m->mark_count == 1)
		return NULL;
	m->mark_count--;
	return items;
}

/* The container below items, or NULL. */
static uint64_t *container(const struct gp_machine *m, uint64_t *items)
{
	return items && items > gp_machine_fence(m) ? items - 1 : NULL;
}

/* SETITEMS with the items up to the top. NULL is an error that was already
 * reported. */
static enum gp_status set_items(struct gp_machine *m, uint64_t *items)
{
	uint64_t *dict = container(m, items);

	if (!dict || (m->top - items) % 2)
		return fail_stack(m);
	if (gp_value_tag(*dict) == GP_VALUE_DICT)
		gp_objects_set(&m->objects, *dict, items, m->top);
	else if (*dict != GP_VALUE_OPAQUE)
		return fail_damaged(m, "the pickle adds items to something "
				       "that is not a dict");
	m->top = items;
	return GP_OK;
}

/* ---- opcodes that are rejected ---- */

struct name {
	unsigned char opcode;
	const char *name;
};

/* Opcodes that make Python import, call or request something. */
static const struct name unsafe[] = {
	{ 'c', "GLOBAL" },
	{ 'i', "INST" },
	{ 'o', "OBJ" },
	{ 'b', "BUILD" },
	{ 'R', "REDUCE" },
	{ 'P', "PERSID" },
	{ 'Q', "BINPERSID" },
	{ 0x81, "NEWOBJ" },
	{ 0x82, "EXT1" },
	{ 0x83, "EXT2" },
	{ 0x84, "EXT4" },
	{ 0x92, "NEWOBJ_EX" },
	{ 0x93, "STACK_GLOBAL" },
	{ 0x97, "NEXT_BUFFER" },
	{ 0x98, "READONLY_BUFFER" },
	{ 0, NULL },
};

/* Opcodes of protocol 0. */
static const struct name texts[] = {
	{ 'I', "INT" }, { 'L', "LONG" }, { 'F', "FLOAT" },   { 'S', "STRING" },
	{ 'g', "GET" }, { 'p', "PUT" },	 { 'V', "UNICODE" }, { 0, NULL },
};

static const char *find_name(const struct name *names, unsigned char opcode)
{
	while (names->name && names->opcode != opcode)
		names++;
	return names->name;
}

static enum gp_status fail_opcode(struct gp_machine *m, unsigned char opcode)
{
	const char *name = find_name(unsafe, opcode);

	if (name) {
		name_opcode(m);
		gp_diag_hint(
			m->diag,
			"a memory snapshot is plain data, a checkpoint is not: "
			"torch.cuda.memory._dump_snapshot(\"file.pickle\") "
			"writes a snapshot");
		return gp_diag_set(
			m->diag, GP_INPUT,
			"opcode %s is not allowed: gpupool executes nothing",
			name);
	}
	name = find_name(texts, opcode);
	if (name) {
		name_opcode(m);
		gp_diag_hint(m->diag, "dump it with protocol 2 or later");
		return gp_diag_set(m->diag, GP_INPUT,
				   "opcode %s belongs to pickle protocol 0, "
				   "which is not read",
				   name);
	}
	fail_damaged(m, "");
	return gp_diag_set(m->diag, GP_INPUT, "0x%02x is not a pickle opcode",
			   opcode);
}

/* ---- rare opcodes ---- */

/* Longer texts are meaningless here, and skipped. */
#define TEXT_BYTES 65536

/* The topmost n values, or NULL. */
static uint64_t *newest(const struct gp_machine *m, ptrdiff_t n)
{
	return m->top - gp_machine_fence(m) >= n ? m->top - n : NULL;
}

/*
 * Whether that list is the trace of a device. It is if the stack contains: the
 * top dict, its keys and values alternating, the key "device_traces", the list
 * of traces, and this list; if there is a mark between the last two, it is
 * followed by the earlier traces.
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
	uint64_t *list = container(m, items), ordinal;
	enum gp_status status = GP_OK;

	if (!list)
		return fail_stack(m);
	if (gp_value_tag(*list) == GP_VALUE_LIST) {
		gp_objects_append(&m->objects, *list, items, m->top);
		if (is_trace(m, list, &ordinal))
			status = gp_objects_deliver_early(
				&m->objects, *list, ordinal, items, m->top);
	} else if (*list != GP_VALUE_OPAQUE) {
		return fail_damaged(
			m,
			"the pickle appends to something that is not a list");
	}
	m->top = items;
	return status;
}

/* Turns n values into a new dict or list, or a tuple. */
static enum gp_status collect(struct gp_machine *m, unsigned char opcode,
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

static enum gp_status drop(struct gp_machine *m)
{
	if (m->top > gp_machine_fence(m))
		m->top--;
	else if (m->mark_count > 1)
		m->mark_count--;
	else
		return fail_stack(m);
	return GP_OK;
}

static enum gp_status duplicate(struct gp_machine *m)
{
	if (m->top == gp_machine_fence(m))
		return fail_stack(m);
	m->top[0] = m->top[-1];
	m->top++;
	return GP_OK;
}

/* Stores at a memo index that is not the next one (the loop handles that): one
 * that is used again, or that skips smaller ones. It never exceeds the number
 * of bytes read. */
static enum gp_status put(struct gp_machine *m, uint32_t index)
{
	if (m->top == gp_machine_fence(m) ||
	    index > gp_source_offset(m->source))
		return fail_stack(m);
	gp_stencils_forget(&m->stencils);
	GP_GROW(m->memo, (size_t)index + 1, m->memo_room);
	while (m->memo_count <= index)
		m->memo[m->memo_count++] = 0;
	m->memo[index] = m->top[-1];
	return make_room(m);
}

/* Skips meaningless bytes, in whatever pieces they come. */
static enum gp_status skip(struct gp_machine *m, uint64_t n)
{
	if (!gp_source_take(m->source, NULL, n))
		return fail_early(m);
	*m->top++ = GP_VALUE_OPAQUE;
	return make_room(m);
}

static enum gp_status read_text(struct gp_machine *m, uint64_t n)
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

/* Little-endian two's complement; numbers of more than 64 bits become
 * opaque. */
static enum gp_status read_integer(struct gp_machine *m, uint32_t n)
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
	number = gp_load64(bytes);
	if (bytes[8] != (is_negative ? 0xff : 0) || (is_negative && !number))
		*m->top++ = GP_VALUE_OPAQUE;
	else
		*m->top++ = gp_objects_integer(&m->objects,
					       is_negative ? -number : number,
					       is_negative);
	return make_room(m);
}

static enum gp_status push(struct gp_machine *m, uint64_t value)
{
	*m->top++ = value;
	return GP_OK;
}

static enum gp_status read_protocol(struct gp_machine *m,
				    unsigned char protocol)
{
	if (protocol <= LAST_PROTOCOL)
		return GP_OK;
	gp_diag_hint(m->diag, "protocols 2 to 5 are read");
	name_opcode(m);
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

/* Skips an argument of n bytes; if it is cut off, moves to the end, where the
 * next opcode is found missing. */
static const unsigned char *argument(struct gp_machine *m, ptrdiff_t n)
{
	const unsigned char *at = m->source->at;

	m->source->at = m->source->end - at < n ? m->source->end : at + n;
	return at;
}

/* Executes one opcode, after its byte, if it is rare or has an argument of
 * variable length; fails for unknown and rejected opcodes. */
static enum gp_status step(struct gp_machine *m, unsigned char opcode)
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
		m->top = gp_machine_fence(m);
		return pop_mark(m) ? GP_OK : fail_stack(m);
	case GP_OP_DUP: return duplicate(m);
	default: return fail_opcode(m, opcode);
	}
}

/* ---- frequent opcodes ---- */

/*
 * Runs up to STOP. at, end, top and bottom (the fence) are copies of the
 * machine's members in registers; leave and enter synchronise them around calls
 * that may change them.
 */
static enum gp_status run(struct gp_machine *m)
{
	const unsigned char *at, *end;
	uint64_t *top, *bottom, *items;
	enum gp_status status;
	unsigned char opcode;
	uint64_t value;
	uint32_t index;

enter:
	at = m->source->at;
	end = m->source->end;
	top = m->top;
	bottom = gp_machine_fence(m);
	for (;;) {
		if (end - at < GP_LOOKAHEAD) {
			m->source->at = at;
			m->top = top;
			status = refill(m);
			if (status != GP_OK)
				return status;
			at = m->source->at;
			end = m->source->end;
			top = m->top;
			bottom = gp_machine_fence(m);
		}
		opcode = *at++;
		switch (opcode) {
		case GP_OP_MARK:
			m->marks[m->mark_count++] = (uint32_t)(top - m->stack);
			bottom = top;
			break;
		case GP_OP_EMPTY_DICT:
			if (end - at >= GP_DICT_BYTES &&
			    at[0] == GP_OP_MEMOIZE && at[1] == GP_OP_MARK) {
				m->source->at = at - 1;
				m->top = top;
				gp_machine_read_dicts(m);
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
			if (top == bottom || gp_load32(at) != m->memo_count)
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
			index = gp_load32(at);
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
			*top++ = gp_value(GP_VALUE_INT, gp_load16(at));
			at += 2;
			break;
		case GP_OP_BININT:
			value = (uint64_t)(int64_t)(int32_t)gp_load32(at);
			*top++ = gp_value(GP_VALUE_INT, value);
			at += 4;
			break;
		case GP_OP_LONG1:
			if (*at - 1u >= GP_VALUE_INT_BITS / 8)
				goto leave;
			*top++ = gp_value(GP_VALUE_INT, gp_load_long1(at));
			at += 1 + *at;
			break;
		case GP_OP_SHORT_BINUNICODE:
			if (end - at <= *at)
				goto leave;
			*top++ = gp_objects_text(&m->objects,
						 (const char *)at + 1, *at);
			at += 1 + *at;
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
			bottom = gp_machine_fence(m);
			break;
		case GP_OP_STOP: goto stop;
		default: goto leave;
		}
	}
leave:
	/* An opcode for step, or one that fails. */
	m->source->at = at;
	m->top = top;
	m->opcode_at = gp_source_offset(m->source) - 1;
	switch (opcode) {
	case GP_OP_MEMOIZE: return fail_stack(m);
	case GP_OP_BINGET:
	case GP_OP_LONG_BINGET:
		if (end - at < (opcode == GP_OP_BINGET ? 1 : 4))
			return fail_early(m);
		return fail_damaged(m, "the pickle refers to a memo entry that "
				       "does not exist");
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

bool gp_pickle_is(const unsigned char *at, size_t n)
{
	return n >= 2 && at[0] == GP_OP_PROTO && at[1] >= FIRST_PROTOCOL &&
	       at[1] <= LAST_PROTOCOL;
}

enum gp_status gp_pickle_read(struct gp_source *source, struct gp_trace **trace,
			      struct gp_diag *diag)
{
	struct gp_build *build = gp_build_create(GP_BUILD_HISTORY);
	struct gp_machine m;
	enum gp_status status = init(&m, source, build, diag);

	if (status == GP_OK)
		status = run(&m);
	if (status == GP_OK)
		status = gp_objects_deliver(&m.objects, m.top[-1]);
	release(&m);
	if (status == GP_OK)
		return gp_build_finish(build, trace, diag);
	gp_build_destroy(build);
	return status;
}
