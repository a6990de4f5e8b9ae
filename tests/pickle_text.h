/* SPDX-License-Identifier: MIT */
/*
 * Pickles written as texts, for tests, and the parts that snapshots are made
 * of.
 */
#ifndef TESTS_PICKLE_TEXT_H
#define TESTS_PICKLE_TEXT_H

#include "trace_text.h"

/*
 * Pickles are written here as opcodes, with 'text' for SHORT_BINUNICODE, a
 * decimal number for LONG1, and $hh for any byte: $30 is POP, $31 POP_MARK, $32
 * DUP.  Blanks are left out.
 */
struct pickle {
	unsigned char bytes[65536];
	size_t n;
};

static inline void add(struct pickle *pickle, int byte)
{
	ck_assert_uint_lt(pickle->n, sizeof(pickle->bytes));
	pickle->bytes[pickle->n++] = (unsigned char)byte;
}

static inline const char *add_text(struct pickle *pickle, const char *text)
{
	size_t length = strcspn(text, "'");

	add(pickle, 0x8c);
	add(pickle, (int)length);
	for (size_t i = 0; i < length; i++)
		add(pickle, text[i]);
	return text + length + 1;
}

static inline const char *add_number(struct pickle *pickle, const char *text)
{
	char *end;
	uint64_t number = *text == '-' ? (uint64_t)strtoll(text, &end, 10)
				       : strtoull(text, &end, 10);

	add(pickle, 0x8a);
	add(pickle, 9);
	for (int i = 0; i < 8; i++)
		add(pickle, number >> 8 * i & 255);
	add(pickle, *text == '-' ? 255 : 0);
	return end;
}

static inline void add_notation(struct pickle *pickle, const char *at)
{
	char hex[3] = "";

	while (*at) {
		if (*at == '\'') {
			at = add_text(pickle, at + 1);
		} else if (*at == '-' || (*at >= '0' && *at <= '9')) {
			at = add_number(pickle, at);
		} else if (*at == '$') {
			memcpy(hex, at + 1, 2);
			add(pickle, (int)strtol(hex, NULL, 16));
			at += 3;
		} else if (*at++ != ' ') {
			add(pickle, at[-1]);
		}
	}
}

static inline enum gp_status try_pickle(const char *notation,
					struct gp_trace **trace,
					struct gp_diag *diag)
{
	struct pickle pickle = { .n = 0 };

	add_notation(&pickle, "$80$04");
	add_notation(&pickle, notation);
	return try_bytes(pickle.bytes, pickle.n, trace, diag);
}

static inline struct gp_trace *unpickled(const char *notation)
{
	struct gp_trace *trace;
	struct gp_diag diag;
	enum gp_status status = try_pickle(notation, &trace, &diag);

	ck_assert_msg(status == GP_OK, "%s: %s in %s", diag.record, diag.what,
		      notation);
	return trace;
}

static inline const char *refusal_of(const char *notation)
{
	static char message[1024];
	struct gp_trace *trace;
	struct gp_diag diag;

	ck_assert_int_eq(try_pickle(notation, &trace, &diag), GP_INPUT);
	ck_assert_str_ne(diag.hint, "");
	snprintf(message, sizeof(message), "%s%s%s", diag.record,
		 *diag.record ? ": " : "", diag.what);
	return message;
}

#define PLACE "'addr'65536 'size'512 'stream'0 "
#define GROW                                                                   \
	"}('action''segment_alloc' 'addr'65536 'size'2097152 "                 \
	"'stream'0 u"
#define ALLOC	  "}('action''alloc'" PLACE "u"
#define FREE	  "}('action''free_requested'" PLACE "u"
#define DONE	  "}('action''free_completed'" PLACE "u"
#define TRACE(es) "'device_traces' ](](" es "ee"
#define BLOCKS                                                                 \
	"](}('address'65536 'size'512 'requested_size'512 "                    \
	"'state''active_allocated'u"                                           \
	"}('address'66048 'size'2096640 'requested_size'0 "                    \
	"'state''inactive'ue"
#define SEGMENT                                                                \
	"}('device'0 'address'65536 'total_size'2097152 'stream'0 "            \
	"'segment_type''small' 'is_expandable'$89 'blocks'" BLOCKS "u"
#define SEGMENTS    "'segments' ](" SEGMENT "e"
#define SNAPSHOT(x) "}(" x "u."

#endif
