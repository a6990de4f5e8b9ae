/* SPDX-License-Identifier: MIT */
/* The rows of the command line's flags. */
#ifndef COMMANDS_OPTION_TABLE_H
#define COMMANDS_OPTION_TABLE_H

#include <stddef.h>

#include "commands/options.h"

enum gp_option_type {
	FLAG,	  /* bool */
	TEXT,	  /* const char * */
	WORD,	  /* uint32_t: which of the words in the row's argument */
	BYTES,	  /* uint64_t */
	CAPACITY, /* uint64_t */
	ROOM,	  /* the same, or a few bytes */
	COUNT,	  /* uint64_t */
	LIST,	  /* struct gp_texts */
	CONF,	  /* const char *: settings */
	CONFS,	  /* struct gp_texts of settings */
};

struct gp_option_row {
	const char *name;
	char letter; /* 0: none */
	enum gp_option_type type;
	size_t offset;	      /* of the member of struct gp_options */
	const char *argument; /* NULL for a FLAG */
	unsigned takers;
	const char *sentence;
};

/* Who takes the flags of the settings, and of the what-ifs. */
#define KNOB_TAKERS                                                            \
	(GP_TAKER_REPLAY | GP_TAKER_VERIFY | GP_TAKER_DIFF |                   \
	 GP_TAKER_HEADROOM | GP_TAKER_EXPLAIN | GP_TAKER_FLOOR |               \
	 GP_TAKER_CONVERT | GP_TAKER_LOOK)

#define WHAT_IF_TAKERS (GP_TAKER_REPLAY | GP_TAKER_EXPLAIN | GP_TAKER_CONVERT)

extern const struct gp_option_row gp_option_table[];
extern const size_t gp_option_count;

#endif
