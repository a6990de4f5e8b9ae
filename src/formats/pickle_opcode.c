/* SPDX-License-Identifier: MIT */
/* Opcodes that are not read, by name. */
#include "formats/pickle_opcode.h"

#include <stddef.h>

struct name {
	unsigned char opcode;
	const char *name;
};

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

static const struct name texts[] = {
	{ 'I', "INT" }, { 'L', "LONG" }, { 'F', "FLOAT" },   { 'S', "STRING" },
	{ 'g', "GET" }, { 'p', "PUT" },	 { 'V', "UNICODE" }, { 0, NULL },
};

static const char *find(const struct name *names, unsigned char opcode)
{
	while (names->name && names->opcode != opcode)
		names++;
	return names->name;
}

const char *gp_pickle_unsafe_name(unsigned char opcode)
{
	return find(unsafe, opcode);
}

const char *gp_pickle_text_name(unsigned char opcode)
{
	return find(texts, opcode);
}
