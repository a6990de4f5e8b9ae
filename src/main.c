/* SPDX-License-Identifier: MIT */
/*
 * gpupool: the command line.  Finds the command, parses its flags, runs it and
 * tells what did not end well; the status is the exit code.
 */
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/help.h"
#include "cli/outlet.h"
#include "cli/terminal.h"

/* "gpupool: file: record: what" and the hint below. */
static void tell(const struct gp_diag *diag)
{
	const char *parts[] = { "gpupool", diag->file, diag->record,
				diag->what };
	const char *between = "";

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!*parts[i])
			continue;
		fprintf(stderr, "%s%s", between, parts[i]);
		between = ": ";
	}
	putc('\n', stderr);
	if (*diag->hint)
		fprintf(stderr, "%s\n", diag->hint);
}

static enum gp_status check_operands(const struct gp_command *command,
				     const struct gp_options *options,
				     struct gp_diag *diag)
{
	size_t count = options->operand_count;

	if (count >= command->least && count <= command->most)
		return GP_OK;
	gp_diag_file(diag, command->name);
	gp_diag_hint(diag, "see: gpupool help %s", command->name);
	if (count < command->least)
		return gp_diag_set(diag, GP_USAGE, "%s is missing",
				   count ? "OUT" : command->operands);
	return gp_diag_set(diag, GP_USAGE, "%s is one argument too many",
			   options->operands[command->most]);
}

static enum gp_status run(const struct gp_command *command, int argc,
			  char **argv, struct gp_diag *diag)
{
	struct gp_options options;
	enum gp_status status =
		gp_options_parse(&options, command->taker, argc, argv, diag);

	if (status == GP_OK && options.help) {
		gp_help_command(command, gp_terminal_columns(), stdout);
	} else if (status == GP_OK) {
		status = check_operands(command, &options, diag);
		if (status == GP_OK)
			status = command->run(&options, diag);
	}
	gp_options_release(&options);
	return status;
}

/* What stands in a command's place. */
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

/* What was left in stdio's hands: a full disk must not pass for success. */
static enum gp_status flush(struct gp_diag *diag)
{
	if (!fflush(stdout) && !ferror(stdout))
		return GP_OK;
	gp_diag_file(diag, "standard output");
	return gp_diag_set(diag, GP_SYSTEM, "cannot write it");
}

int main(int argc, char **argv)
{
	struct gp_diag diag = { 0 };
	const struct gp_command *command;
	enum gp_status status;

	gp_outlet_guard();
	if (argc < 2) {
		gp_help_overview(80, stderr);
		return GP_USAGE;
	}
	command = gp_command_find(command_name(argv[1]));
	if (!command)
		status = gp_command_unknown(argv[1], &diag);
	else
		status = run(command, argc - 1, argv + 1, &diag);
	if (status == GP_OK)
		status = flush(&diag);
	if (status != GP_OK)
		tell(&diag);
	return (int)status;
}
