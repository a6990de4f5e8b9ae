/* SPDX-License-Identifier: MIT */
/*
 * The commands.  Each is declared in a file of its own: what it takes, what its
 * help says and what it does.  Help, parsing, suggestions and the lint of the
 * manual pages read these declarations.
 */
#ifndef COMMANDS_COMMAND_H
#define COMMANDS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "commands/options.h"
#include "gpupool/status.h"

enum gp_option_type {
	GP_OPTION_FLAG,	    /* bool */
	GP_OPTION_TEXT,	    /* const char * */
	GP_OPTION_WORD,	    /* uint32_t: which of the argument's words */
	GP_OPTION_FORMAT,   /* enum gp_format: one of the argument's words */
	GP_OPTION_BYTES,    /* uint64_t */
	GP_OPTION_CAPACITY, /* uint64_t */
	GP_OPTION_ROOM,	    /* the same, or a few bytes */
	GP_OPTION_COUNT,    /* uint64_t */
	GP_OPTION_SOME,	    /* uint64_t, 1 or more */
	GP_OPTION_LIST,	    /* struct gp_texts */
	GP_OPTION_CONF,	    /* const char *: settings */
	GP_OPTION_CONFS,    /* struct gp_texts of settings */
};

/* Those that several commands take are in a catalogue, gp_common_options; what
 * only one takes, or takes in another sense, is in its file. */
struct gp_option {
	const char *name;
	char letter; /* 0: none */
	enum gp_option_type type;
	size_t offset;	      /* of the member of struct gp_options */
	const char *argument; /* "FILE", "auto|always"; NULL for a FLAG */
	const char *sentence;
};
#define GP_AT(member) offsetof(struct gp_options, member)

struct gp_command {
	const char *name;
	const char *operands; /* "TRACE" */
	size_t least, most;   /* operands */
	const char *sentence;
	const char *about; /* paragraphs for its help; NULL: none */
	/* Names of those that it takes, in the order of its help, before
	 * --help; NULL: none.  See gp_command_option. */
	const char *options;
	const struct gp_option *own; /* not of the catalogue; ends with { 0 } */
	bool takes_settings;	     /* each by a flag: gp_knob_table */
	bool takes_what_ifs;	     /* gp_what_if_table */
	/* The status is the exit code; GP_USAGE with no file in the diag is of
	 * the command. */
	enum gp_status (*run)(const struct gp_options *options,
			      struct gp_diag *diag);
};

/* Of commands that take several traces. */
#define GP_ABOUT_RANKS                                                         \
	"TRACE may be a folder: all traces in it. Several traces are ranks "   \
	"of one job: those that are alike are replayed once, and the worst "   \
	"of them is told in full."

extern const struct gp_option gp_common_options[]; /* ends with { 0 } */
/* By index, --help being the last; NULL behind that. */
const struct gp_option *gp_command_option(const struct gp_command *command,
					  size_t index);

/* All that may stand behind -- on a command's line. */
struct gp_flag {
	const char *name;
	const char *argument; /* NULL: none */
	bool is_optional;     /* the argument: it may be left out */
	const char *sentence;
	/* What it is: one of them, or a format by its own name. */
	const struct gp_option *option;
	const struct gp_knob *knob;
	const struct gp_what_if_row *what_if;
	enum gp_format format;
};
/* Returns how many; the caller frees the list. */
size_t gp_command_flags(const struct gp_command *command,
			struct gp_flag **flags);

/* In the order of the overview. */
/* clang-format off */
#define GP_COMMANDS(ROW) \
	ROW(look) \
	ROW(replay) \
	ROW(suggest) \
	ROW(sweep) \
	ROW(merge) \
	ROW(headroom) \
	ROW(explain) \
	ROW(view) \
	ROW(live_page) \
	ROW(compare) \
	ROW(floor) \
	ROW(info) \
	ROW(convert) \
	ROW(verify) \
	ROW(slice) \
	ROW(gen) \
	ROW(check) \
	ROW(diff) \
	ROW(record) \
	ROW(fit) \
	ROW(bench) \
	ROW(mcp) \
	ROW(check_engine) \
	ROW(doctor) \
	ROW(completions) \
	ROW(help) \
	ROW(version)
/* clang-format on */

#define GP_COMMAND_DECLARE(name)                                               \
	extern const struct gp_command gp_##name##_command;
GP_COMMANDS(GP_COMMAND_DECLARE)

/* The same as a list; ends with NULL. */
extern const struct gp_command *const gp_commands[];

/* NULL: there is none of that name. */
const struct gp_command *gp_command_find(const char *name);

/* GP_USAGE, with what the name may have been meant to be. */
enum gp_status gp_command_unknown(const char *name, struct gp_diag *diag);

/* What is meant where a trace stands in a command's place. */
#define GP_COMMAND_OF_TRACE "look"

#endif
