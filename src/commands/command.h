/* SPDX-License-Identifier: MIT */
/* The commands. Each is declared in its own file: its options, its help and
 * what it runs. Help, parsing, suggestions and the lint of the manual pages
 * read these declarations. */
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
	GP_OPTION_ROOM,	    /* the same; may be a few bytes */
	GP_OPTION_COUNT,    /* uint64_t */
	GP_OPTION_SOME,	    /* uint64_t, 1 or more */
	GP_OPTION_ANY,	    /* uint64_t of any size */
	GP_OPTION_LIST,	    /* struct gp_texts */
	GP_OPTION_CONF,	    /* const char *: settings */
	GP_OPTION_CONFS,    /* struct gp_texts of settings */
};

/* An option that several commands take is a row of gp_common_options; one that
 * a single command takes, or takes in another sense, is a row in its file. */
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
	/* Names of the options that it takes, in the order of its help, before
	 * --help; NULL: none. See gp_command_option. */
	const char *options;
	/* Its options that are not in gp_common_options; ends with { 0 }. */
	const struct gp_option *own;
	bool takes_settings; /* each by a flag: gp_knob_table */
	bool takes_what_ifs; /* gp_what_if_table */
	/* Returns the exit status. With GP_USAGE, a diag without a file is
	 * about the command. */
	enum gp_status (*run)(const struct gp_options *options,
			      struct gp_diag *diag);
};

/* The paragraph on ranks, for commands that take several traces. */
#define GP_ABOUT_RANKS                                                         \
	"TRACE may be a folder: all traces in it. Several traces are ranks "   \
	"of one job: those that are alike are replayed once, and the worst "   \
	"of them is reported in full."

extern const struct gp_option gp_common_options[]; /* ends with { 0 } */
/* The option with that index; the last one is --help, followed by NULL. */
const struct gp_option *gp_command_option(const struct gp_command *command,
					  size_t index);

/* A flag of a command: one of its options, a setting, a what-if or a format. */
struct gp_flag {
	const char *name;
	const char *argument; /* NULL: none */
	bool is_optional;     /* the argument may be left out */
	const char *sentence;
	/* What the flag is: one of these; a format has only its name. */
	const struct gp_option *option;
	const struct gp_knob *knob;
	const struct gp_what_if_row *what_if;
	enum gp_format format;
};
/* All flags of a command: returns their number; the caller frees the list. */
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

/* GP_USAGE, with a hint about the name that was probably meant. */
enum gp_status gp_command_unknown(const char *name, struct gp_diag *diag);

/*
 * Runs a command line: finds the command, parses its flags, runs it, and prints
 * an error to standard error.  argv as main() has it; it is reordered.  Returns
 * the exit status.
 */
enum gp_status gp_command_line(int argc, char **argv, struct gp_diag *diag);

/* The command that runs if a trace takes the place of a command. */
#define GP_COMMAND_OF_TRACE "look"

#endif
