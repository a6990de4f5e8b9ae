/* SPDX-License-Identifier: MIT */
/* gpupool help, --help and version. */
#include "commands/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/output.h"
#include "commands/pages.h"
#include "gpupool/allocator.h"
#include "gpupool/gpupool.h"
#include "gpupool/input.h"
#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "gpupool/release.h"
#include "gpupool/trace.h"
#include "report/schema.h"
#include "study/what_if/what_if.h"

/* ---- gpupool help formats ---- */

#define TEXT 640 /* bytes of an entry */

struct row {
	const char *name, *sentence;
};

static const struct row written[] = {
	{ ".json .jsonl .gpt .bin",
	  "gpupool-trace: as one document, one event a line, or binary." },
};

/* With --run. */
static const struct row runs[] = {
	{ ".pickle .pkl",
	  "A PyTorch snapshot of the run: memory_viz shows it, gpupool replays "
	  "it." },
	{ ".perfetto.json",
	  "Memory over time, for ui.perfetto.dev and chrome://tracing." },
	{ ".speedscope.json",
	  "Memory at the peak by stack, for www.speedscope.app." },
	{ ".folded", "The same as folded stacks, for flame graphs." },
	{ ".csv", "One row for each request." },
};

static void print_read(const struct gp_input_format *format, unsigned columns,
		       FILE *out)
{
	const struct gp_trace trace = { .source = format->source };
	const char *unknown = gp_trace_unknown(&trace);
	char text[TEXT];

	snprintf(text, sizeof(text), "%s%s%s%s", format->sentence,
		 unknown ? " Not told: " : "", unknown ? unknown : "",
		 unknown ? "." : "");
	gp_help_entry(format->name, text, columns, out);
}

static void print_rows(const struct row *rows, size_t count, unsigned columns,
		       FILE *out)
{
	for (size_t i = 0; i < count; i++)
		gp_help_entry(rows[i].name, rows[i].sentence, columns, out);
}

#define PRINT(rows)                                                            \
	print_rows(rows, sizeof(rows) / sizeof(*(rows)), columns, out)

static void print_formats(unsigned columns, FILE *out)
{
	const struct gp_input_format *format;

	fputs("Read, whatever the file is called, also packed with gzip or "
	      "zstd:\n\n",
	      out);
	for (size_t i = 0; (format = gp_input_format(i)); i++)
		print_read(format, columns, out);
	fputs("\nWritten by gpupool convert, by the file's name; .gz or .zst "
	      "behind it packs:\n\n",
	      out);
	PRINT(written);
	fputs("\nWritten by gpupool convert --run, of a replay:\n\n", out);
	PRINT(runs);
}

/* ---- topics ---- */

#define TEXT 640 /* bytes of an entry */

static void print_settings(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);
	char text[TEXT];

	fputs("Settings as PYTORCH_CUDA_ALLOC_CONF and --alloc-conf take "
	      "them:\nkey:value,key:value. See gpupool-settings(7).\n\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct gp_knob *k = &knobs[i];

		snprintf(text, sizeof(text),
			 "%s\nTakes: %s. Default: %s. Since 2.%u.%s%s%s",
			 k->sentence, k->range, k->by_default, k->since,
			 k->flag ? " Flag: --" : "", k->flag ? k->flag : "",
			 k->flag ? "." : "");
		gp_help_entry(k->name, text, columns, out);
	}
}

static void print_release(uint8_t release, unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_change_row *rows = gp_change_table(&count);
	char name[8], text[TEXT];

	snprintf(name, sizeof(name), "2.%u", release);
	for (size_t i = 0; i < count; i++) {
		if (rows[i].since != release)
			continue;
		snprintf(text, sizeof(text), "%s [%s]", rows[i].sentence,
			 rows[i].source);
		gp_help_entry(name, text, columns, out);
		*name = 0;
	}
}

static void print_releases(unsigned columns, FILE *out)
{
	fputs("What PyTorch does otherwise from a release on, and the source: "
	      "a pull request, a\nfile, or run: seen by running the releases "
	      "themselves.\n\n",
	      out);
	for (uint8_t r = GP_RELEASE_FIRST; r <= GP_RELEASE_LAST; r++)
		print_release(r, columns, out);
	fputs("\nReleases also differ in the settings they know: "
	      "gpupool help settings\n",
	      out);
}

/* Indented below their engine. */
static void print_engine_settings(const struct gp_engine *engine,
				  unsigned columns, FILE *out)
{
	const struct gp_engine_setting *s = engine->settings;
	char name[100], text[TEXT];

	for (; s && s->name; s++) {
		snprintf(name, sizeof(name), "  %s:%s=", engine->name, s->name);
		if (s->words)
			snprintf(text, sizeof(text),
				 "%s Takes %s; %s unless "
				 "given.",
				 s->sentence, s->words, s->by_default);
		else
			snprintf(text, sizeof(text),
				 "%s Takes %g to %g; %s "
				 "unless given.",
				 s->sentence, s->least, s->most, s->by_default);
		gp_help_entry(name, text, columns, out);
	}
}

static void print_engines(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_engine *engines = gp_engine_table(&count);

	fputs("What --engine names: the allocator that serves a replay.\n\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		const struct gp_engine *e = &engines[i];
		char text[TEXT];

		snprintf(text, sizeof(text), "%s%s%s%s", e->sentence,
			 e->simulated ? ". On a simulated device: " : "",
			 e->simulated ? e->simulated : "",
			 i ? "." : "; the default.");
		gp_help_entry(e->name, text, columns, out);
		print_engine_settings(e, columns, out);
	}
	gp_help_entry("./mine.so",
		      "A library of your own, in a process of its own: "
		      "gpupool/engine.h says what it has, examples/engine/ is "
		      "one.",
		      columns, out);
	gp_help_entry("NAME:SETTING=VALUE",
		      "An engine under settings of its own, each behind a "
		      "colon.",
		      columns, out);
}

static void print_metrics(unsigned columns, FILE *out)
{
	char text[TEXT];

	fputs("The numbers of reports, timelines and thresholds (--alert). See "
	      "gpupool-metrics(7).\n\n",
	      out);
	for (unsigned i = 0; i < GP_MEASURES; i++) {
		const struct gp_measure *m = &gp_measures[i];

		snprintf(text, sizeof(text), "%s [%s; %s%s]", m->reading,
			 m->formula, gp_unit_name(m->unit),
			 m->scope == GP_SCOPE_MOMENT ? ", over time" : "");
		gp_help_entry(m->key, text, columns, out);
	}
}

static void print_what_ifs(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);
	char flag[80], text[TEXT];

	fputs("The same program, had it asked otherwise: flags of replay, "
	      "explain and convert,\nmade in this order. BLOCKS are "
	      "\"train.py:42\" or a function, size:2MiB,\n"
	      "size:1MiB..8MiB, event:812, addr:0x7f00, id:91 or all. See "
	      "gpupool-what-if(7).\n\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		snprintf(flag, sizeof(flag), "--%s%s%s", rows[i].name,
			 rows[i].argument ? " " : "",
			 rows[i].argument ? rows[i].argument : "");
		snprintf(text, sizeof(text), "%s %s", rows[i].sentence,
			 rows[i].method);
		gp_help_entry(flag, text, columns, out);
	}
}

static const struct topic {
	const char *name;
	const char *sentence; /* NULL: not listed */
	/* One of them; a page is what it is on every terminal. */
	void (*print)(unsigned columns, FILE *out);
	void (*print_page)(FILE *out);
} topics[] = {
	{ "settings", "The allocator's settings.", print_settings, NULL },
	{ "releases", "What differs between releases of PyTorch.",
	  print_releases, NULL },
	{ "metrics", "The numbers, and how to read them.", print_metrics,
	  NULL },
	{ "engines", "The allocators that a trace can be replayed with.",
	  print_engines, NULL },
	{ "formats", "What is read, and what is written.", print_formats,
	  NULL },
	{ "what-if", "What a program could have asked otherwise.",
	  print_what_ifs, NULL },
	{ "report-schema", "What --format json writes, as a JSON Schema.", NULL,
	  gp_key_schema },
	/* Source of the manual page, for man/. */
	{ "metrics.7", NULL, NULL, gp_metrics_page },
	{ "report.5", NULL, NULL, gp_report_page },
	{ "settings.7", NULL, NULL, gp_settings_page },
	{ "what-if.7", NULL, NULL, gp_what_if_page },
	/* For the page's controls. */
	{ "settings.json", NULL, NULL, gp_settings_json },
};

#define TOPICS (sizeof(topics) / sizeof(*topics))

/* False: there is no such topic. */
static bool print_topic(const char *name, unsigned columns, FILE *out)
{
	for (size_t i = 0; i < TOPICS; i++) {
		if (strcmp(name, topics[i].name) != 0)
			continue;
		if (topics[i].print)
			topics[i].print(columns, out);
		else
			topics[i].print_page(out);
		return true;
	}
	return false;
}

/* Their names, each with a sentence. */
void gp_help_topics(FILE *out)
{
	for (size_t i = 0; i < TOPICS; i++)
		if (topics[i].sentence)
			fprintf(out, "%s ", topics[i].name);
}

static void list_topics(unsigned columns, FILE *out)
{
	char name[32];

	for (size_t i = 0; i < TOPICS; i++) {
		if (!topics[i].sentence)
			continue;
		snprintf(name, sizeof(name), "help %s", topics[i].name);
		gp_help_entry(name, topics[i].sentence, columns, out);
	}
}

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
	list_topics(columns, out);
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
	FILE *out = gp_outlet_stdout();

	if (!options->operand_count) {
		gp_help_overview(columns, out);
		return GP_OK;
	}
	if (print_topic(options->operands[0], columns, out))
		return GP_OK;
	command = gp_command_find(options->operands[0]);
	if (!command)
		return gp_command_unknown(options->operands[0], diag);
	gp_help_print(command, columns, out);
	return GP_OK;
}

static enum gp_status version_command(const struct gp_options *options,
				      struct gp_diag *diag)
{
	(void)options;
	(void)diag;
	fputs("gpupool " GP_VERSION "\n", gp_outlet_stdout());
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
