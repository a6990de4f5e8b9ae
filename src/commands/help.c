/* SPDX-License-Identifier: MIT */
/* gpupool help, --help and version. */
#include "commands/help.h"

#include <string.h>

#include "commands/terminal.h"
#include "commands/topic.h"
#include "commands/version.h"
#include "gpupool/knob.h"

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
	char name[64];

	fputs("gpupool replays the GPU memory requests of PyTorch programs, "
	      "without a GPU.\n\n"
	      "Usage: gpupool TRACE [OPTION]...            what went wrong, "
	      "and "
	      "what helps\n"
	      "       gpupool COMMAND [OPTION]... [TRACE]\n\n",
	      out);
	for (size_t i = 0; gp_commands[i]; i++) {
		const struct gp_command *command = gp_commands[i];

		snprintf(name, sizeof(name), "%s %s", command->name,
			 command->operands);
		gp_help_entry(name, command->sentence, columns, out);
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

static void explain_knobs(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);
	char flag[80], sentence[512];

	fputs("\nSettings of the allocator (PyTorch's names in brackets):\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct gp_knob *k = &knobs[i];

		if (!k->flag)
			continue;
		snprintf(flag, sizeof(flag), "--%s %s", k->flag,
			 k->type == GP_KNOB_BOOL  ? "[True|False]"
			 : k->type == GP_KNOB_MIB ? "MIB"
						  : "VALUE");
		snprintf(sentence, sizeof(sentence),
			 "[%s] %s (%s; default: %s; since 2.%u)", k->name,
			 k->sentence, k->range, k->by_default, k->since);
		gp_help_entry(flag, sentence, columns, out);
	}
}

static void explain_what_ifs(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);
	char flag[80];

	fputs("\nWhat-ifs, made in this order (gpupool help what-if):\n", out);
	for (size_t i = 0; i < count; i++) {
		snprintf(flag, sizeof(flag), "--%s%s%s", rows[i].name,
			 rows[i].argument ? " " : "",
			 rows[i].argument ? rows[i].argument : "");
		gp_help_entry(flag, rows[i].sentence, columns, out);
	}
}

static void explain_options(const struct gp_command *command, unsigned columns,
			    FILE *out)
{
	const struct gp_option *row;
	char flag[80];

	fputs("\nOptions:\n", out);
	for (size_t i = 0; (row = gp_command_option(command, i)); i++) {
		char letter[] = { '-', row->letter, ',', ' ', 0 };

		snprintf(flag, sizeof(flag), "%s--%s%s%s",
			 row->letter ? letter : "", row->name,
			 row->argument ? " " : "",
			 row->argument ? row->argument : "");
		gp_help_entry(flag, row->sentence, columns, out);
	}
	if (command->takes_what_ifs)
		explain_what_ifs(columns, out);
	if (command->takes_settings)
		explain_knobs(columns, out);
}

void gp_help_print(const struct gp_command *command, unsigned columns,
		   FILE *out)
{
	fprintf(out, "Usage: gpupool %s [OPTION]... %s\n\n", command->name,
		command->operands);
	wrap(command->sentence, 0, 0, columns, out);
	if (command->about)
		wrap(command->about, 0, 0, columns, out);
	explain_options(command, columns, out);
}

static enum gp_status help_command(const struct gp_options *options,
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
	gp_help_print(command, columns, stdout);
	return GP_OK;
}

static enum gp_status version_command(const struct gp_options *options,
				      struct gp_diag *diag)
{
	(void)options;
	(void)diag;
	puts("gpupool " GP_VERSION);
	return GP_OK;
}

const struct gp_command gp_help_command = {
	.name = "help",
	.operands = "[COMMAND]",
	.most = 1,
	.sentence = "Explain a command, or a topic.",
	.run = help_command,
};

const struct gp_command gp_version_command = {
	.name = "version",
	.operands = "",
	.sentence = "Print the version.",
	.run = version_command,
};
