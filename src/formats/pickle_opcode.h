/* SPDX-License-Identifier: MIT */
/*
 * The opcodes of Python's pickle protocols 0 to 5, under the names of
 * pickletools.
 */
#ifndef FORMATS_PICKLE_OPCODE_H
#define FORMATS_PICKLE_OPCODE_H

enum gp_pickle_opcode {
	GP_OP_MARK = '(',
	GP_OP_STOP = '.',
	GP_OP_POP = '0',
	GP_OP_POP_MARK = '1',
	GP_OP_DUP = '2',
	GP_OP_BINBYTES = 'B',
	GP_OP_SHORT_BINBYTES = 'C',
	GP_OP_BINFLOAT = 'G',
	GP_OP_BININT = 'J',
	GP_OP_BININT1 = 'K',
	GP_OP_BININT2 = 'M',
	GP_OP_NONE = 'N',
	GP_OP_BINSTRING = 'T',
	GP_OP_SHORT_BINSTRING = 'U',
	GP_OP_BINUNICODE = 'X',
	GP_OP_EMPTY_LIST = ']',
	GP_OP_APPEND = 'a',
	GP_OP_DICT = 'd',
	GP_OP_APPENDS = 'e',
	GP_OP_BINGET = 'h',
	GP_OP_LONG_BINGET = 'j',
	GP_OP_LIST = 'l',
	GP_OP_BINPUT = 'q',
	GP_OP_LONG_BINPUT = 'r',
	GP_OP_SETITEM = 's',
	GP_OP_TUPLE = 't',
	GP_OP_EMPTY_TUPLE = ')',
	GP_OP_SETITEMS = 'u',
	GP_OP_EMPTY_DICT = '}',
	GP_OP_PROTO = 0x80,
	GP_OP_TUPLE1 = 0x85,
	GP_OP_TUPLE2 = 0x86,
	GP_OP_TUPLE3 = 0x87,
	GP_OP_NEWTRUE = 0x88,
	GP_OP_NEWFALSE = 0x89,
	GP_OP_LONG1 = 0x8a,
	GP_OP_LONG4 = 0x8b,
	GP_OP_SHORT_BINUNICODE = 0x8c,
	GP_OP_BINUNICODE8 = 0x8d,
	GP_OP_BINBYTES8 = 0x8e,
	GP_OP_EMPTY_SET = 0x8f,
	GP_OP_ADDITEMS = 0x90,
	GP_OP_FROZENSET = 0x91,
	GP_OP_MEMOIZE = 0x94,
	GP_OP_FRAME = 0x95,
	GP_OP_BYTEARRAY8 = 0x96,
};

/* The name of an opcode that makes Python import, call or ask for something;
 * NULL for any other. */
const char *gp_pickle_unsafe_name(unsigned char opcode);

/* The name of one of protocol 0's text opcodes, or NULL. */
const char *gp_pickle_text_name(unsigned char opcode);

#endif
