/* SPDX-License-Identifier: MIT */
/*
 * gpupool completions: what a shell needs to complete command lines, made from
 * the declarations of the commands and from the tables in which their arguments
 * are looked up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text_sink.h"
#include "commands/command.h"
#include "commands/output.h"
#include "commands/help.h"
#include "device/gpu.h"
#include "gpupool/allocator.h"
#include "gpupool/knob.h"
#include "trace/scenario/scenario.h"

/* ---- words that an argument may be ---- */

static void put_releases(FILE *out)
{
	for (unsigned r = GP_RELEASE_FIRST; r <= GP_RELEASE_LAST; r++)
		fprintf(out, "2.%u ", r);
	fputs("latest ", out);
}

static void put_engines(FILE *out)
{
	size_t count;
	const struct gp_engine *engines = gp_engine_table(&count);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s ", engines[i].name);
}

static void put_gpus(FILE *out)
{
	size_t count;
	const struct gp_gpu *gpus = gp_gpu_table(&count);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s ", gpus[i].name);
}

static void put_capacities(FILE *out)
{
	put_gpus(out);
	fputs("unlimited ", out);
}

static void put_settings(FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s ", knobs[i].name);
}

static void put_axes(FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s= ", knobs[i].name);
	fputs("torch= capacity= engine= ", out);
}

static void put_scenarios(FILE *out)
{
	size_t count;
	const struct gp_scenario *const *table = gp_scenario_table(&count);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s ", table[i]->name);
}

static void put_commands(FILE *out)
{
	for (size_t i = 0; gp_commands[i]; i++)
		fprintf(out, "%s ", gp_commands[i]->name);
}

static void put_help(FILE *out)
{
	put_commands(out);
	gp_help_topics(out);
}

/* The words of some options, and of commands whose operands are not files. */
static const struct {
	const char *name;
	void (*put)(FILE *out);
} tables[] = {
	{ "--torch", put_releases },   { "--engine", put_engines },
	{ "--gpu", put_gpus },	       { "--capacity", put_capacities },
	{ "--without", put_settings }, { "--set", put_axes },
	{ "gen", put_scenarios },      { "help", put_help },
};

/* The words of "auto|always" or "FILE|none" that are typed literally. */
static void put_literal(const char *argument, FILE *out)
{
	static const char typed[] = "abcdefghijklmnopqrstuvwxyz-";

	while (*argument) {
		size_t length = strcspn(argument, "|");

		if (strspn(argument, typed) >= length)
			fprintf(out, "%.*s ", (int)length, argument);
		argument += length + (argument[length] != 0);
	}
}

/* The words, separated by spaces; "" if none are known. The caller frees. */
static char *words_of(const char *name, const char *argument)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	bool is_there = false;
	char *words;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (!strcmp(tables[i].name, name)) {
			tables[i].put(out);
			is_there = true;
		}
	if (!is_there)
		put_literal(argument, out);
	words = gp_text_sink_close(&sink, out);
	if (!words)
		return gp_mem_copy_text("", 0);
	if (*words)
		words[strlen(words) - 1] = '\0'; /* the last space */
	return words;
}

static bool is_file(const char *argument)
{
	return strstr(argument, "FILE") || strstr(argument, "PATH") ||
	       strstr(argument, "TRACE") || strstr(argument, "OUT") ||
	       strstr(argument, "A [B]") || strstr(argument, ".json");
}

/* ---- the flags of a command ---- */

struct flag {
	const char *name;     /* "--format" */
	char letter;	      /* 0: none */
	const char *argument; /* NULL: none, or it is optional */
	const char *words;    /* words that the argument may be; "": unknown */
	const char *sentence;
	bool is_repeated;
};

typedef void flag_writer(const struct flag *flag,
			 const struct gp_command *command, FILE *out);

static void show(const struct gp_flag *flag, flag_writer *write,
		 const struct gp_command *command, FILE *out)
{
	const struct gp_option *row = flag->option;
	const char *argument = flag->is_optional ? NULL : flag->argument;
	char name[80], as_format[80], *words;

	snprintf(name, sizeof(name), "--%s", flag->name);
	snprintf(as_format, sizeof(as_format), "The same as --format %s.",
		 flag->name);
	words = words_of(name, argument ? argument : "");
	write(&(struct flag){ .name = name,
			      .letter = row ? row->letter : 0,
			      .argument = argument,
			      .words = words,
			      .sentence = flag->sentence ? flag->sentence
							 : as_format,
			      .is_repeated =
				      row && (row->type == GP_OPTION_LIST ||
					      row->type == GP_OPTION_CONFS) },
	      command, out);
	free(words);
}

static void each_flag(const struct gp_command *command, flag_writer *write,
		      FILE *out)
{
	struct gp_flag *flags;
	size_t count = gp_command_flags(command, &flags);

	for (size_t i = 0; i < count; i++)
		show(&flags[i], write, command, out);
	free(flags);
}

/* Whether a sentence or part ends here: a dot within a name does not count. */
static bool ends_part(const char *text)
{
	return strchr(".;:", *text) && (!text[1] || text[1] == ' ');
}

/* A short form of a sentence, for a text in single quotes; characters in
 * special are escaped with a backslash. */
static void put_brief(const char *sentence, const char *special, FILE *out)
{
	for (size_t i = 0; sentence[i] && !ends_part(sentence + i); i++) {
		if (sentence[i] == '\'')
			fputs("'\\'", out);
		else if (strchr(special, sentence[i]))
			putc('\\', out);
		putc(sentence[i], out);
	}
}

/* ---- bash ---- */

static void bash_flag(const struct flag *flag, const struct gp_command *command,
		      FILE *out)
{
	(void)command;
	if (flag->letter)
		fprintf(out, "-%c ", flag->letter);
	fprintf(out, "%s ", flag->name);
}

static void bash_argument(const struct flag *flag,
			  const struct gp_command *command, FILE *out)
{
	char letter[] = { '-', flag->letter, ' ', '|', ' ', 0 };

	(void)command;
	if (flag->argument)
		fprintf(out, "\t\t%s%s) takes=yes words='%s' ;;\n",
			flag->letter ? letter : "", flag->name, flag->words);
}

static void bash_command(const struct gp_command *command, FILE *out)
{
	char *words = words_of(command->name, command->operands);

	fprintf(out, "\t%s)\n\t\tflags='", command->name);
	each_flag(command, bash_flag, out);
	fprintf(out, "'\n");
	if (*words)
		fprintf(out, "\t\toperands='%s'\n", words);
	fprintf(out, "\t\tcase $previous in\n");
	each_flag(command, bash_argument, out);
	fprintf(out, "\t\tesac\n\t\t;;\n");
	free(words);
}

static void put_bash(FILE *out)
{
	fputs("# Completions of gpupool for bash, in ~/.bashrc:\n"
	      "#\teval \"$(gpupool completions bash)\"\n"
	      "_gpupool()\n"
	      "{\n"
	      "\tlocal current=${COMP_WORDS[COMP_CWORD]}\n"
	      "\tlocal previous=${COMP_WORDS[COMP_CWORD - 1]}\n"
	      "\tlocal command=look flags='' operands='' takes='' words=''\n"
	      "\n"
	      "\tCOMPREPLY=()\n"
	      "\t# --format=json comes as three words.\n"
	      "\t[[ $current == = ]] && current=\n"
	      "\t[[ $previous == = ]] &&"
	      " previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
	      "\t# After -- comes another program.\n"
	      "\t[[ \" ${COMP_WORDS[*]:0:COMP_CWORD} \" == *' -- '* ]] &&"
	      " return\n"
	      "\t[[ $COMP_CWORD -gt 1 && \" ",
	      out);
	put_commands(out);
	fputs("\" == *\" ${COMP_WORDS[1]} \"* ]] &&\n"
	      "\t\tcommand=${COMP_WORDS[1]}\n"
	      "\tcase $command in\n",
	      out);
	for (size_t i = 0; gp_commands[i]; i++)
		bash_command(gp_commands[i], out);
	fputs("\tesac\n"
	      "\t[[ $COMP_CWORD -eq 1 ]] && operands='",
	      out);
	put_commands(out);
	fputs("'\n"
	      "\tif [[ $takes ]]; then\n"
	      "\t\toperands=$words\n"
	      "\telif [[ $current == -* ]]; then\n"
	      "\t\toperands=$flags\n"
	      "\tfi\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$operands\" --"
	      " \"$current\")\n"
	      "\t[[ ${COMPREPLY-} == *= ]] && compopt -o nospace\n"
	      "}\n"
	      "# Files, where nothing else is known.\n"
	      "complete -o default -F _gpupool gpupool\n",
	      out);
}

/* ---- zsh ---- */

/* Texts are in single quotes. */
static void zsh_flag(const struct flag *flag, const struct gp_command *command,
		     FILE *out)
{
	const char *more = flag->argument ? "=" : "";

	(void)command;
	fputs(" \\\n\t\t\t", out);
	if (flag->letter)
		fprintf(out, "'(-%c %s)'{-%c%s,%s%s}'[", flag->letter,
			flag->name, flag->letter, flag->argument ? "+" : "",
			flag->name, more);
	else
		fprintf(out, "'%s%s%s[", flag->is_repeated ? "*" : "",
			flag->name, more);
	put_brief(flag->sentence, "[]", out);
	putc(']', out);
	if (flag->argument)
		fprintf(out, ":%s:%s%s%s", *flag->words ? "one of" : "argument",
			*flag->words ? "(" : "",
			*flag->words		  ? flag->words
			: is_file(flag->argument) ? "_files"
						  : " ",
			*flag->words ? ")" : "");
	putc('\'', out);
}

static void zsh_command(const struct gp_command *command, FILE *out)
{
	char *words = words_of(command->name, command->operands);

	fprintf(out, "\t%s)\n\t\t_arguments -s -S", command->name);
	each_flag(command, zsh_flag, out);
	if (*words)
		fprintf(out, " \\\n\t\t\t'*:operand:(%s)'", words);
	else if (is_file(command->operands))
		fputs(" \\\n\t\t\t'*:file:_files'", out);
	else if (command == &gp_record_command)
		fputs(" \\\n\t\t\t'*:::program:_normal'", out);
	fputs("\n\t\t;;\n", out);
	free(words);
}

static void put_zsh(FILE *out)
{
	fputs("#compdef gpupool\n"
	      "# Completions of gpupool for zsh: the file _gpupool in a folder "
	      "of $fpath, or\n"
	      "#\tsource <(gpupool completions zsh)\n"
	      "_gpupool()\n"
	      "{\n"
	      "\tlocal command=look\n"
	      "\tlocal -a commands\n"
	      "\n"
	      "\tcommands=(\n",
	      out);
	for (size_t i = 0; gp_commands[i]; i++) {
		fprintf(out, "\t\t'%s:", gp_commands[i]->name);
		put_brief(gp_commands[i]->sentence, "", out);
		fputs("'\n", out);
	}
	fputs("\t)\n"
	      "\tif ((CURRENT == 2)) && [[ $words[2] != -* ]]; then\n"
	      "\t\t_describe -t commands command commands\n"
	      "\t\t_files\n"
	      "\t\treturn\n"
	      "\tfi\n"
	      "\tif ((${commands[(I)$words[2]:*]})); then\n"
	      "\t\tcommand=$words[2]\n"
	      "\t\tshift words\n"
	      "\t\t((CURRENT--))\n"
	      "\tfi\n"
	      "\tcase $command in\n",
	      out);
	for (size_t i = 0; gp_commands[i]; i++)
		zsh_command(gp_commands[i], out);
	fputs("\tesac\n"
	      "}\n"
	      "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
	      "\t_gpupool \"$@\"\n"
	      "else\n"
	      "\tcompdef _gpupool gpupool\n"
	      "fi\n",
	      out);
}

/* ---- fish ---- */

/* The condition for an option of the command. After a trace, the options are
 * those of look. */
static void fish_condition(const struct gp_command *command, FILE *out)
{
	if (command == &gp_look_command)
		fputs("complete -c gpupool -n __gpupool_looks", out);
	else
		fprintf(out,
			"complete -c gpupool -n "
			"'__fish_seen_subcommand_from %s'",
			command->name);
}

static void fish_flag(const struct flag *flag, const struct gp_command *command,
		      FILE *out)
{
	fish_condition(command, out);
	fprintf(out, " -l %s", flag->name + 2);
	if (flag->letter)
		fprintf(out, " -s %c", flag->letter);
	if (flag->argument)
		fputs(is_file(flag->argument) ? " -r -F" : " -x", out);
	if (*flag->words)
		fprintf(out, " -a '%s'", flag->words);
	fputs(" -d '", out);
	put_brief(flag->sentence, "", out);
	fputs("'\n", out);
}

static void fish_command(const struct gp_command *command, FILE *out)
{
	char *words = words_of(command->name, command->operands);

	fprintf(out, "complete -c gpupool -n __fish_use_subcommand -a %s -d '",
		command->name);
	put_brief(command->sentence, "", out);
	fputs("'\n", out);
	if (*words) {
		fish_condition(command, out);
		fprintf(out, " -f -a '%s'\n", words);
	}
	each_flag(command, fish_flag, out);
	free(words);
}

static void put_fish(FILE *out)
{
	fputs("# Completions of gpupool for fish:\n"
	      "#\tgpupool completions fish >"
	      " ~/.config/fish/completions/gpupool.fish\n"
	      "function __gpupool_looks\n"
	      "\tnot __fish_seen_subcommand_from",
	      out);
	for (size_t i = 0; gp_commands[i]; i++)
		if (gp_commands[i] != &gp_look_command)
			fprintf(out, " %s", gp_commands[i]->name);
	fputs("\nend\n", out);
	for (size_t i = 0; gp_commands[i]; i++)
		fish_command(gp_commands[i], out);
}

/* ---- the command ---- */

static const struct {
	const char *name;
	void (*put)(FILE *out);
} shells[] = {
	{ "bash", put_bash },
	{ "zsh", put_zsh },
	{ "fish", put_fish },
};

static enum gp_status completions_command(const struct gp_options *options,
					  struct gp_diag *diag)
{
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (!strcmp(shells[i].name, options->operands[0])) {
			shells[i].put(gp_outlet_stdout());
			return GP_OK;
		}
	gp_diag_hint(diag, "the shells are bash, zsh and fish");
	return gp_diag_set(diag, GP_USAGE, "there is no shell %s",
			   options->operands[0]);
}

const struct gp_command gp_completions_command = {
	.name = "completions",
	.operands = "bash|zsh|fish",
	.least = 1,
	.most = 1,
	.sentence =
		"Print the completions of gpupool's command line for a shell.",
	.about = "For bash, in ~/.bashrc: eval \"$(gpupool completions "
		 "bash)\"\n"
		 "For zsh: gpupool completions zsh > _gpupool, in a folder of "
		 "$fpath\n"
		 "For fish: gpupool completions fish > "
		 "~/.config/fish/completions/gpupool.fish",
	.run = completions_command,
};
