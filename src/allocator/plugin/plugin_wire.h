/* SPDX-License-Identifier: MIT */
/*
 * The messages between an engine and the process of its library: requests in
 * one direction; device calls and one answer per request in the other. Both
 * ends are the same program, so structs are sent as they are.
 */
#ifndef ALLOCATOR_PLUGIN_PLUGIN_WIRE_H
#define ALLOCATOR_PLUGIN_PLUGIN_WIRE_H

#include <stdint.h>

#define PLUGIN_TEXT 400 /* bytes, including the NUL */

enum plugin_op {
	PLUGIN_HELLO,	/* answer: what, calls, text: "name: sentence" */
	PLUGIN_CREATE,	/* heap */
	PLUGIN_DESTROY, /* this and those below: heap */
	PLUGIN_ALLOC,	/* size, id, stream, pool; answer: addr, size, handle */
	PLUGIN_FREE,	/* addr, size, handle */
	PLUGIN_TRIM,
	PLUGIN_MARK,	     /* text */
	PLUGIN_LARGEST_FREE, /* answer: size */
};

struct plugin_request {
	uint32_t op, heap;
	uint64_t size, id, stream, pool[2], addr, handle;
	char text[PLUGIN_TEXT];
};

enum plugin_kind { PLUGIN_ANSWER, PLUGIN_DEVICE };

/* Why a library is refused. */
enum plugin_hello {
	PLUGIN_WELCOME,
	PLUGIN_NOT_LOADED, /* text */
	PLUGIN_NO_SYMBOL,
	PLUGIN_NO_TABLE,
	PLUGIN_OTHER_VERSION, /* size */
	PLUGIN_NO_CALLS,
	PLUGIN_NO_HOST, /* the allocator is not installed */
};

/* Optional functions of a library. */
enum plugin_call {
	PLUGIN_IS_SHARED = 1 << 0,
	PLUGIN_HAS_CREATE = 1 << 1,
	PLUGIN_HAS_DESTROY = 1 << 2,
	PLUGIN_HAS_TRIM = 1 << 3,
	PLUGIN_HAS_MARK = 1 << 4,
	PLUGIN_HAS_LARGEST_FREE = 1 << 5,
};

enum plugin_question {
	PLUGIN_MALLOC,
	PLUGIN_DEVICE_FREE,
	PLUGIN_RESERVE,
	PLUGIN_MAP,
	PLUGIN_UNMAP,
	PLUGIN_INFO,
};

struct plugin_message {
	uint32_t kind, what; /* enum plugin_hello or plugin_question */
	uint32_t heap;	     /* the heap that makes a device call */
	uint32_t calls;
	uint64_t is_done, addr, size, handle;
	uint64_t held; /* host allocator: bytes held, plus 1; 0: unknown */
	char text[PLUGIN_TEXT]; /* for PLUGIN_HELLO; else "" */
};

struct plugin_reply {
	uint64_t is_done, a, b;
};

#endif
