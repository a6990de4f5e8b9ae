/* SPDX-License-Identifier: MIT */
/* gpupool help, --help and version. */
#include "commands/help.h"

#include <string.h>

#include "commands/terminal.h"
#include "commands/topic.h"
#include "commands/version.h"

#define INDENT 2
#define NAME   28 /* columns of a flag, with the indent */

/* Words of text from column indent on. */
static void wrap(const char *text, unsigned at, unsigned indent,
		 unsigned columns, FILE *out)
{
	while (*text) {
		size_t length = strcspn(text, " \n");
		bool is_end = text[length] == '\n';

		if (at > indent && at + 1 + length > columns) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (at > indent) {
			putc(' ', out);
			at++;
		}
		fwrite(text, 1, length, out);
		at += (unsigned)length;
		text += length + (text[length] != 0);
		if (is_end) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
		}
	}
	putc('\n', out);
}

void gp_help_entry(const char *name, const char *sentence, unsigned columns,
		   FILE *out)
{
	size_t used = INDENT + strlen(name);

	fprintf(out, "%*s%s", INDENT, "", name);
	if (used + 2 > NAME)
		fprintf(out, "\n%*s", NAME, "");
	else
		fprintf(out, "%*s", (int)(NAME - used), "");
	wrap(sentence, NAME, NAME, columns, out);
}

void gp_help_overview(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_command *commands = gp_command_table(&count);
	char name[64];

	fputs("gpupool replays the GPU memory requests of PyTorch programs, "
	      "without a GPU.\n\n"
	      "Usage: gpupool TRACE [OPTION]...            what went wrong, "
	      "and "
	      "what helps\n"
	      "       gpupool COMMAND [OPTION]... [TRACE]\n\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s %s", commands[i].name,
			 commands[i].operands);
		gp_help_entry(name, commands[i].sentence, columns, out);
	}
	fputs("\nMore help:\n", out);
	gp_topic_list(columns, out);
	fputs("\nA trace is a PyTorch memory snapshot (pickle or JSON), a "
	      "gpupool-trace, a profile\nof torch.profiler with memory events "
	      "or a log of RMM, as it is or packed with gzip\nor zstd; - is "
	      "standard input.\n\n"
	      "Try:  gpupool snapshot.pickle\n"
	      "      gpupool replay snapshot.pickle --max-split-mb 128 "
	      "--compare\n",
	      out);
}

void gp_help_command(const struct gp_command *command, unsigned columns,
		     FILE *out)
{
	fprintf(out, "Usage: gpupool %s [OPTION]... %s\n\n", command->name,
		command->operands);
	wrap(command->sentence, 0, 0, columns, out);
	if (command->about)
		wrap(command->about, 0, 0, columns, out);
	gp_options_help(command->taker, columns, out);
}

enum gp_status gp_help_run(const struct gp_options *options,
			   struct gp_diag *diag)
{
	unsigned columns = gp_terminal_columns();
	const struct gp_command *command;

	if (!options->operand_count) {
		gp_help_overview(columns, stdout);
		return GP_OK;
	}
	if (gp_topic_print(options->operands[0], columns, stdout))
		return GP_OK;
	command = gp_command_find(options->operands[0]);
	if (!command)
		return gp_command_unknown(options->operands[0], diag);
	gp_help_command(command, columns, stdout);
	return GP_OK;
}

enum gp_status gp_version_run(const struct gp_options *options,
			      struct gp_diag *diag)
{
	(void)options;
	(void)diag;
	puts("gpupool " GP_VERSION);
	return GP_OK;
}
