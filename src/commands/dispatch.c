/* SPDX-License-Identifier: MIT */
/* Runs a command line, from its first word to its exit status. */
#include "commands/command.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/safe.h"
#include "commands/help.h"
#include "commands/output.h"
#include "commands/session.h"

/* "gpupool: file: record: what" and the hint below. */
static void print_diag(const struct gp_diag *diag)
{
	const char *parts[] = { "gpupool", diag->file, diag->record,
				diag->what };
	const char *between = "";

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!*parts[i])
			continue;
		fputs(between, gp_outlet_stderr());
		gp_safe_put(parts[i], gp_outlet_stderr());
		between = ": ";
	}
	putc('\n', gp_outlet_stderr());
	if (*diag->hint)
		gp_notice("%s\n", diag->hint);
}

/* The names of the operands that are missing. */
static const char *operands_behind(const struct gp_command *command,
				   size_t given)
{
	const char *names = command->operands;

	for (const char *space; given && (space = strchr(names, ' ')); given--)
		names = space + 1;
	return names;
}

static enum gp_status check_operands(const struct gp_command *command,
				     const struct gp_options *options,
				     struct gp_diag *diag)
{
	size_t count = options->operand_count;

	if (count >= command->least && count <= command->most)
		return GP_OK;
	gp_diag_hint(diag, "see: gpupool help %s", command->name);
	if (count < command->least)
		return gp_diag_set(diag, GP_USAGE, "%s is missing",
				   operands_behind(command, count));
	return gp_diag_set(diag, GP_USAGE, "%s is one argument too many",
			   options->operands[command->most]);
}

/* ---- outputs must not overwrite inputs ---- */

static bool is_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && S_ISREG(x.st_mode) &&
	       x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The folder of a path, with its slash; "." where it names none. */
static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? gp_mem_copy_text(path, (size_t)(slash - path) + 1)
		     : gp_mem_copy_text(".", 1);
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The same name in the same folder: the files need not exist yet. */
static bool is_same_place(const char *a, const char *b)
{
	char *of_a = folder_of(a), *of_b = folder_of(b);
	struct stat x, y;
	bool is_same = !strcmp(name_of(a), name_of(b)) && !stat(of_a, &x) &&
		       !stat(of_b, &y) && x.st_dev == y.st_dev &&
		       x.st_ino == y.st_ino;

	free(of_a);
	free(of_b);
	return is_same;
}

/* The operand that the command writes, by its name in the help; NULL: none. */
static const char *written_operand(const struct gp_command *command,
				   const struct gp_options *options)
{
	const char *names = command->operands;
	const char *out = names ? strstr(names, "OUT") : NULL;
	size_t at = 0;

	if (!out)
		return NULL;
	for (; names < out; names++)
		at += *names == ' ';
	return at < options->operand_count ? options->operands[at] : NULL;
}

#define FILES_OF_FLAGS 3

/* The inputs: the operands except the one that is written, and the files that
 * flags name. */
static size_t inputs_of(const struct gp_options *options, const char *written,
			const char **inputs)
{
	size_t count = 0;

	for (size_t i = 0; i < options->operand_count; i++)
		if (options->operands[i] != written)
			inputs[count++] = options->operands[i];
	if (options->from_trace)
		inputs[count++] = options->from_trace;
	if (options->prices)
		inputs[count++] = options->prices;
	if (options->confs_file)
		inputs[count++] = options->confs_file;
	return count;
}

/* The words of a program to be run are not checked. */
static enum gp_status check_inputs(const struct gp_command *command,
				   const char *const *inputs, size_t count,
				   struct gp_diag *diag)
{
	bool is_taken = false;

	if (command->operands && strstr(command->operands, "COMMAND"))
		return GP_OK;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(inputs[i], "-") != 0)
			continue;
		if (is_taken) {
			gp_diag_hint(diag, "give all but one of them as files");
			return gp_diag_set(diag, GP_USAGE,
					   "standard input can be read only "
					   "once");
		}
		is_taken = true;
	}
	return GP_OK;
}

static enum gp_status check_output(const char *output,
				   const char *const *inputs, size_t count,
				   struct gp_diag *diag)
{
	if (!*output)
		return gp_diag_set(diag, GP_USAGE,
				   "the name of an output is empty");
	for (size_t i = 0; i < count; i++)
		if (is_same_file(output, inputs[i]))
			return gp_diag_set(
				diag, GP_USAGE,
				"the output %s would overwrite the input",
				output);
	return GP_OK;
}

static enum gp_status check_outputs(const char *const *outputs, size_t count,
				    const char *const *inputs,
				    size_t input_count, struct gp_diag *diag)
{
	for (size_t i = 0; i < count; i++) {
		enum gp_status status =
			outputs[i] ? check_output(outputs[i], inputs,
						  input_count, diag)
				   : GP_OK;

		if (status != GP_OK)
			return status;
		for (size_t k = 0; k < i && outputs[i]; k++)
			if (outputs[k] && strcmp(outputs[i], "-") != 0 &&
			    (is_same_file(outputs[i], outputs[k]) ||
			     is_same_place(outputs[i], outputs[k])))
				return gp_diag_set(diag, GP_USAGE,
						   "%s would be written twice",
						   outputs[i]);
	}
	return GP_OK;
}

static enum gp_status check_files(const struct gp_command *command,
				  const struct gp_options *options,
				  struct gp_diag *diag)
{
	const char *operand = written_operand(command, options);
	const char *outputs[] = { options->output,   options->events,
				  options->timeline, options->prices_out,
				  options->kept,     operand };
	const char **inputs = gp_mem_alloc(
		options->operand_count + FILES_OF_FLAGS, sizeof(*inputs));
	size_t count = inputs_of(options, operand, inputs);
	enum gp_status status = check_inputs(command, inputs, count, diag);

	if (status == GP_OK)
		status = check_outputs(outputs,
				       sizeof(outputs) / sizeof(*outputs),
				       inputs, count, diag);
	free((void *)inputs);
	return status;
}

static enum gp_status run(const struct gp_command *command, int argc,
			  char **argv, struct gp_diag *diag)
{
	struct gp_options options;
	enum gp_status status =
		gp_options_parse(&options, command, argc, argv, diag);

	if (status == GP_OK && options.help) {
		gp_help_print(command, gp_terminal_columns(),
			      gp_outlet_stdout());
	} else if (status == GP_OK) {
		status = check_operands(command, &options, diag);
		if (status == GP_OK)
			status = check_files(command, &options, diag);
		if (status == GP_OK)
			status = command->run(&options, diag);
		/* The argument of help is a command, so the message is not
		 * about help. */
		if (status == GP_USAGE && !*diag->file &&
		    command != &gp_help_command)
			gp_diag_file(diag, command->name);
	}
	gp_options_release(&options);
	return status;
}

/* Flags that stand in place of a command. */
static const struct {
	const char *flag, *command;
} aliases[] = {
	{ "--help", "help" },
	{ "-h", "help" },
	{ "--version", "version" },
	{ "-V", "version" },
};

static const char *command_name(const char *given)
{
	for (size_t i = 0; i < sizeof(aliases) / sizeof(*aliases); i++)
		if (!strcmp(given, aliases[i].flag))
			return aliases[i].command;
	return given;
}

/* Whether the argument is a trace, or looks like a path: no command has such a
 * name. */
static bool is_trace(const char *argument)
{
	struct gp_trace *held = gp_session_held(argument);

	gp_trace_destroy(held);
	return held || !strcmp(argument, "-") || !access(argument, F_OK) ||
	       (*argument != '-' && strpbrk(argument, "/."));
}

/* "gpupool TRACE", possibly with options before it. */
static bool begins_with_trace(int argc, char **argv)
{
	if (*argv[1] != '-' || !strcmp(argv[1], "-"))
		return is_trace(argv[1]);
	for (int i = 2; i < argc; i++)
		if (is_trace(argv[i]))
			return true;
	return false;
}

static enum gp_status dispatch(int argc, char **argv, struct gp_diag *diag)
{
	static const char look[] = GP_COMMAND_OF_TRACE;
	const struct gp_command *command =
		gp_command_find(command_name(argv[1]));

	if (command)
		return run(command, argc - 1, argv + 1, diag);
	if (!begins_with_trace(argc, argv))
		return gp_command_unknown(argv[1], diag);
	argv[0] = (char *)(uintptr_t)look;
	return run(gp_command_find(look), argc, argv, diag);
}

/* Flushes standard output: a full disk must be reported. */
static enum gp_status flush(struct gp_diag *diag)
{
	FILE *out = gp_outlet_stdout();

	if (!fflush(out) && !ferror(out))
		return GP_OK;
	gp_diag_file(diag, "standard output");
	return gp_diag_set(diag, GP_SYSTEM, "cannot write it");
}

enum gp_status gp_command_line(int argc, char **argv, struct gp_diag *diag)
{
	enum gp_status status;

	if (argc < 2) {
		gp_help_overview(80, gp_outlet_stderr());
		return GP_USAGE;
	}
	status = dispatch(argc, argv, diag);
	if (status == GP_OK)
		status = flush(diag);
	if (status != GP_OK)
		print_diag(diag);
	return status;
}
