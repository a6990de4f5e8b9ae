/* SPDX-License-Identifier: MIT */
/* Writes pickles. Opcodes have the names of pickletools. */
#include "report/exchange/pickler.h"

#include <string.h>

enum opcode {
	OP_MARK = '(',
	OP_STOP = '.',
	OP_BINFLOAT = 'G',
	OP_BININT = 'J',
	OP_BININT1 = 'K',
	OP_BININT2 = 'M',
	OP_BINUNICODE = 'X',
	OP_EMPTY_LIST = ']',
	OP_APPENDS = 'e',
	OP_BINGET = 'h',
	OP_LONG_BINGET = 'j',
	OP_SETITEMS = 'u',
	OP_EMPTY_DICT = '}',
	OP_PROTO = 0x80,
	OP_TUPLE2 = 0x86,
	OP_NEWTRUE = 0x88,
	OP_NEWFALSE = 0x89,
	OP_LONG1 = 0x8a,
	OP_SHORT_BINUNICODE = 0x8c,
	OP_MEMOIZE = 0x94,
};

#define PROTOCOL 4
#define BATCH	 1000 /* items, as pickle.dump's */

static void flush(struct pickler *p)
{
	fwrite(p->buffer, 1, p->count, p->out);
	p->count = 0;
}

static void put(struct pickler *p, const void *bytes, size_t n)
{
	if (n > PICKLER_BUFFER - p->count)
		flush(p);
	if (n > PICKLER_BUFFER) {
		fwrite(bytes, 1, n, p->out);
		return;
	}
	memcpy(p->buffer + p->count, bytes, n);
	p->count += n;
}

static void put_op(struct pickler *p, enum opcode opcode)
{
	const unsigned char byte = (unsigned char)opcode;

	put(p, &byte, 1);
}

/* An opcode and its argument of n bytes, little endian. */
static void put_number(struct pickler *p, enum opcode opcode, uint64_t value,
		       unsigned n)
{
	unsigned char bytes[1 + sizeof(value)] = { (unsigned char)opcode };

	for (unsigned i = 0; i < n; i++)
		bytes[1 + i] = (unsigned char)(value >> 8 * i);
	put(p, bytes, 1 + n);
}

void pickler_begin(struct pickler *p, FILE *out)
{
	p->out = out;
	p->memos = 0;
	p->count = 0;
	put_number(p, OP_PROTO, PROTOCOL, 1);
}

void pickler_end(struct pickler *p)
{
	put_op(p, OP_STOP);
	flush(p);
}

/* LONG1: two's complement in as few bytes as possible. */
static void put_long(struct pickler *p, uint64_t value)
{
	unsigned char bytes[2 + sizeof(value) + 1] = { OP_LONG1 };
	unsigned n = 0;

	for (uint64_t rest = value; rest; rest >>= 8)
		bytes[2 + n++] = (unsigned char)rest;
	/* one byte more if the sign bit would be set; it is 0 */
	n += bytes[1 + n] >> 7;
	bytes[1] = (unsigned char)n;
	put(p, bytes, 2 + n);
}

void pickler_uint(struct pickler *p, uint64_t value)
{
	if (value <= UINT8_MAX)
		put_number(p, OP_BININT1, value, 1);
	else if (value <= UINT16_MAX)
		put_number(p, OP_BININT2, value, 2);
	else if (value <= INT32_MAX)
		put_number(p, OP_BININT, value, 4);
	else
		put_long(p, value);
}

void pickler_int(struct pickler *p, int64_t value)
{
	unsigned char bytes[2 + sizeof(value)] = { OP_LONG1, sizeof(value) };

	if (value >= 0) {
		pickler_uint(p, (uint64_t)value);
	} else if (value >= INT32_MIN) {
		put_number(p, OP_BININT, (uint32_t)value, 4);
	} else {
		for (unsigned i = 0; i < sizeof(value); i++)
			bytes[2 + i] =
				(unsigned char)((uint64_t)value >> 8 * i);
		put(p, bytes, sizeof(bytes));
	}
}

void pickler_real(struct pickler *p, double value)
{
	unsigned char bytes[1 + sizeof(value)] = { OP_BINFLOAT };
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (unsigned i = 0; i < sizeof(bits); i++)
		bytes[sizeof(bits) - i] = (unsigned char)(bits >> 8 * i);
	put(p, bytes, sizeof(bytes));
}

void pickler_bool(struct pickler *p, bool value)
{
	put_op(p, value ? OP_NEWTRUE : OP_NEWFALSE);
}

void pickler_text(struct pickler *p, const char *text, size_t length)
{
	if (length <= UINT8_MAX)
		put_number(p, OP_SHORT_BINUNICODE, length, 1);
	else
		put_number(p, OP_BINUNICODE, length, 4);
	put(p, text, length);
}

void pickler_pair(struct pickler *p, uint64_t a, uint64_t b)
{
	pickler_uint(p, a);
	pickler_uint(p, b);
	put_op(p, OP_TUPLE2);
}

void pickler_open_dict(struct pickler *p)
{
	put_op(p, OP_EMPTY_DICT);
	put_op(p, OP_MARK);
}

void pickler_close_dict(struct pickler *p)
{
	put_op(p, OP_SETITEMS);
}

struct pickler_list pickler_open_list(struct pickler *p)
{
	put_op(p, OP_EMPTY_LIST);
	return (struct pickler_list){ 0 };
}

void pickler_item(struct pickler *p, struct pickler_list *list)
{
	if (list->items == BATCH) {
		put_op(p, OP_APPENDS);
		list->items = 0;
	}
	if (!list->items++)
		put_op(p, OP_MARK);
}

void pickler_close_list(struct pickler *p, const struct pickler_list *list)
{
	if (list->items)
		put_op(p, OP_APPENDS);
}

uint32_t pickler_keep(struct pickler *p)
{
	put_op(p, OP_MEMOIZE);
	return ++p->memos;
}

void pickler_again(struct pickler *p, uint32_t kept)
{
	if (kept - 1 <= UINT8_MAX)
		put_number(p, OP_BINGET, kept - 1, 1);
	else
		put_number(p, OP_LONG_BINGET, kept - 1, 4);
}
