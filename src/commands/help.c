/* SPDX-License-Identifier: MIT */
/* gpupool help, --help and version; and the manual pages and other texts that
 * are generated from tables. */
#include "commands/help.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "commands/output.h"
#include "gpupool/allocator.h"
#include "gpupool/gpupool.h"
#include "gpupool/input.h"
#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "gpupool/trace.h"
#include "report/emit.h"
#include "report/schema.h"
#include "study/what_if/what_if.h"

/* ---- manual pages that are generated from tables: the text of each is a file
 * in pages/, in which a line "@name" stands for a table ---- */

#define LINE 78 /* columns of a page's source */

extern const char gp_report_mdoc[];
extern const char gp_metrics_mdoc[];
extern const char gp_settings_mdoc[];
extern const char gp_what_if_mdoc[];

static void put_words(const char *text, FILE *out)
{
	size_t column = 0;

	while (*text) {
		size_t length = strcspn(text, " ");
		bool is_end = length && text[length - 1] == '.';

		if (column && column + 1 + length > LINE) {
			putc('\n', out);
			column = 0;
		}
		fprintf(out, "%s%.*s", column ? " " : "", (int)length, text);
		column += length + (column != 0);
		text += length + (text[length] != 0);
		if (is_end && *text) { /* a sentence starts a line */
			putc('\n', out);
			column = 0;
		}
	}
	putc('\n', out);
}

/* ---- the tables ---- */

static void put_key(void *arg, const struct gp_key *key)
{
	FILE *out = arg;
	char unit[GP_KEY_UNIT];

	if (key->type == GP_KEY_KEYS_OF) {
		fprintf(out, ".It the keys of Cm %s\n", key->of);
		return;
	}
	fprintf(out, ".It Cm %s Pq %s\n", key->name, gp_key_unit(key, unit));
	put_words(gp_key_sentence(key), out);
}

static void put_object(const struct gp_key *object, FILE *out)
{
	fprintf(out, ".Ss %s\n", object->name);
	put_words(object->sentence, out);
	if (object->of)
		fprintf(out, "Schema\n.Ql %s .\n", object->of);
	fputs(".Bl -tag -width Ds -compact\n", out);
	while ((++object)->type != GP_KEY_NEW)
		if (object->type == GP_KEY_KNOBS)
			fputs(".It each of Xr gpupool-settings 7\n", out);
		else
			gp_key_visit(object, put_key, out);
	fputs(".El\n", out);
}

/* Describes the objects that are whole reports, or those that are parts of
 * others. */
static void put_objects(int of_schema, FILE *out)
{
	const struct gp_key *object = NULL;

	while ((object = gp_key_object_after(object)))
		if (!object->of == !of_schema)
			put_object(object, out);
}

static void put_measure(const struct gp_measure *measure, FILE *out)
{
	char formula[256];

	fprintf(out, ".It Cm %s\n", measure->key);
	put_words(measure->reading, out);
	fputs(".br\n", out);
	snprintf(formula, sizeof(formula), "Formula: %s", measure->formula);
	put_words(formula, out);
	fprintf(out, ".br\nUnit: %s; in text: %s\n",
		gp_unit_name(measure->unit), measure->label);
}

static void put_scope(int scope, FILE *out)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if ((int)gp_measures[id].scope == scope)
			put_measure(&gp_measures[id], out);
	fputs(".El\n", out);
}

static void put_knob(const struct gp_knob *knob, FILE *out)
{
	fprintf(out, ".It Cm %s\n", knob->name);
	put_words(knob->sentence, out);
	fputs(".br\nTakes: ", out);
	put_words(knob->range, out);
	fputs(".br\nDefault: ", out);
	put_words(knob->by_default, out);
	fprintf(out, ".br\nSince 2.%u", knob->since);
	if (knob->flag)
		fprintf(out, "; flag:\n.Fl -%s", knob->flag);
	putc('\n', out);
}

static void put_settings(int which, FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	(void)which;
	for (size_t i = 0; i < count; i++)
		put_knob(&knobs[i], out);
}

static void put_what_ifs(int which, FILE *out)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);

	(void)which;
	for (size_t i = 0; i < count; i++) {
		fprintf(out, ".It Fl -%s%s%s\n", rows[i].name,
			rows[i].argument ? " Ar " : "",
			rows[i].argument ? rows[i].argument : "");
		put_words(rows[i].sentence, out);
		put_words(rows[i].method, out);
	}
}

/* ---- the pages ---- */

static const struct table {
	const char *name;
	void (*print)(int which, FILE *out);
	int which; /* selects one of several similar tables */
} tables[] = {
	{ "reports", put_objects, true },
	{ "objects", put_objects, false },
	{ "measures of a moment", put_scope, GP_SCOPE_MOMENT },
	{ "measures of a run", put_scope, GP_SCOPE_RUN },
	{ "counters", put_scope, GP_SCOPE_COUNTER },
	{ "measures of the device", put_scope, GP_SCOPE_CALLS },
	{ "measures of runs as rows", put_scope, GP_SCOPE_SUMMARY },
	{ "settings", put_settings, 0 },
	{ "what-ifs", put_what_ifs, 0 },
};

static void put_table(const char *name, size_t length, FILE *out)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (strlen(tables[i].name) == length &&
		    !memcmp(tables[i].name, name, length))
			tables[i].print(tables[i].which, out);
}

static void put_page(const char *words, FILE *out)
{
	while (*words) {
		size_t length = strcspn(words, "\n");

		if (*words == '@')
			put_table(words + 1, length - 1, out);
		else
			fprintf(out, "%.*s\n", (int)length, words);
		words += length + (words[length] != 0);
	}
}

/* ---- the table of settings for programs: gpupool help settings.json, from
 * which the page makes its controls ---- */

static const char *const types[] = {
	[GP_KNOB_MIB] = "MiB",
	[GP_KNOB_RATIO] = "ratio",
	[GP_KNOB_BOOL] = "bool",
	[GP_KNOB_SIZE] = "size",
	[GP_KNOB_DIVISIONS] = "divisions",
	[GP_KNOB_INTEGER] = "integer",
	[GP_KNOB_WORD] = "word",
};

static void emit_knob(struct gp_emit *json, const struct gp_knob *knob)
{
	gp_emit_open(json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(json, "name", knob->name);
	gp_emit_text(json, "flag", knob->flag);
	gp_emit_text(json, "type", types[knob->type]);
	gp_emit_uint(json, "since", knob->since);
	gp_emit_text(json, "takes", knob->range);
	gp_emit_text(json, "default", knob->by_default);
	gp_emit_text(json, "alias_of", knob->alias_of);
	gp_emit_text(json, "sentence", knob->sentence);
	gp_emit_close(json, '}');
}

static void print_settings_json(FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);
	struct gp_emit json = gp_emit_begin("gpupool-settings/1", out);

	gp_emit_uint(&json, "first_release", GP_RELEASE_FIRST);
	gp_emit_uint(&json, "last_release", GP_RELEASE_LAST);
	gp_emit_open(&json, "settings", '[', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		emit_knob(&json, &knobs[i]);
	gp_emit_close(&json, ']');
	gp_emit_close(&json, '}');
	fputc('\n', out);
}

/* ---- gpupool help formats ---- */

#define TEXT 640 /* bytes of an entry */

struct row {
	const char *name, *sentence;
};

static const struct row written[] = {
	{ ".json .jsonl .gpt .bin",
	  "gpupool-trace: as one document, one event a line, or binary." },
};

/* Formats written with --run. */
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
		 unknown ? " Not recorded: " : "", unknown ? unknown : "",
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

	fputs("Read, whatever the file's name is, also compressed with gzip or "
	      "zstd,\nin a zip file or in a page of memory_viz:\n\n",
	      out);
	for (size_t i = 0; (format = gp_input_format(i)); i++)
		print_read(format, columns, out);
	fputs("\nWritten by gpupool convert, by the file's ending; .gz or .zst "
	      "after it compresses:\n\n",
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
	fputs("What PyTorch does differently from a release on, and the "
	      "source: a pull request, a\nfile, or run: seen by running the "
	      "releases themselves.\n\n",
	      out);
	for (uint8_t r = GP_RELEASE_FIRST; r <= GP_RELEASE_LAST; r++)
		print_release(r, columns, out);
	fputs("\nReleases also differ in the settings they know: "
	      "gpupool help settings\n",
	      out);
}

/* Settings of an engine, indented below it. */
static void print_engine_settings(const struct gp_engine *engine,
				  unsigned columns, FILE *out)
{
	const struct gp_engine_setting *s = engine->settings;
	char name[100], text[TEXT];

	for (; s && s->name; s++) {
		snprintf(name, sizeof(name), "  %s:%s=", engine->name, s->name);
		if (s->words)
			snprintf(text, sizeof(text),
				 "%s Takes %s; default: %s.", s->sentence,
				 s->words, s->by_default);
		else
			snprintf(text, sizeof(text),
				 "%s Takes %g to %g; default: %s.", s->sentence,
				 s->least, s->most, s->by_default);
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
		      "A library of your own, run in its own process: "
		      "gpupool/engine.h says what it must have, "
		      "examples/engine/ is an example.",
		      columns, out);
	gp_help_entry("NAME:SETTING=VALUE",
		      "An engine with settings of its own, each after a colon.",
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

/* "-o, --output FILE"; letter 0: none, argument NULL: none */
#define FLAG_TEXT 80
static void flag_text(char letter, const char *name, const char *argument,
		      char text[FLAG_TEXT])
{
	const char before[] = { '-', letter, ',', ' ', 0 };

	snprintf(text, FLAG_TEXT, "%s--%s%s%s", letter ? before : "", name,
		 argument ? " " : "", argument ? argument : "");
}

static void print_what_ifs(unsigned columns, FILE *out)
{
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);
	char flag[FLAG_TEXT], text[TEXT];

	fputs("What the same program could have requested instead: flags of "
	      "replay, explain and\nconvert, applied in this order. BLOCKS are "
	      "\"train.py:42\" or a function, size:2MiB,\n"
	      "size:1MiB..8MiB, event:812, addr:0x7f00, id:91 or all. See "
	      "gpupool-what-if(7).\n\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		flag_text(0, rows[i].name, rows[i].argument, flag);
		snprintf(text, sizeof(text), "%s %s", rows[i].sentence,
			 rows[i].method);
		gp_help_entry(flag, text, columns, out);
	}
}

static const struct topic {
	const char *name;
	const char *sentence; /* NULL: not listed */
	/* Either of them; print_plain's output is the same on every
	 * terminal. */
	void (*print)(unsigned columns, FILE *out);
	void (*print_plain)(FILE *out);
	const char *page; /* source of a manual page */
} topics[] = {
	{ "settings", "The allocator's settings.", .print = print_settings },
	{ "releases", "What differs between releases of PyTorch.",
	  .print = print_releases },
	{ "metrics", "The numbers, and how to read them.",
	  .print = print_metrics },
	{ "engines", "The allocators that a trace can be replayed with.",
	  .print = print_engines },
	{ "formats", "What is read, and what is written.",
	  .print = print_formats },
	{ "what-if", "What a program could have requested instead.",
	  .print = print_what_ifs },
	{ "report-schema", "What --format json writes, as a JSON Schema.",
	  .print_plain = gp_key_schema },
	/* Source of the manual page, for man/. */
	{ "metrics.7", .page = gp_metrics_mdoc },
	{ "report.5", .page = gp_report_mdoc },
	{ "settings.7", .page = gp_settings_mdoc },
	{ "what-if.7", .page = gp_what_if_mdoc },
	/* For the page's controls. */
	{ "settings.json", .print_plain = print_settings_json },
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
		else if (topics[i].print_plain)
			topics[i].print_plain(out);
		else
			put_page(topics[i].page, out);
		return true;
	}
	return false;
}

/* The names of all topics, each with a sentence. */
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

/* Prints text wrapped to columns, indented. */
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
	      "or a log of RMM, as it is or compressed with\ngzip, zstd "
	      "or zip; - is standard input.\n\n"
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
	char flag[FLAG_TEXT];

	fputs("\nWhat-ifs, applied in this order (gpupool help what-if):\n",
	      out);
	for (size_t i = 0; i < count; i++) {
		flag_text(0, rows[i].name, rows[i].argument, flag);
		gp_help_entry(flag, rows[i].sentence, columns, out);
	}
}

static void explain_options(const struct gp_command *command, unsigned columns,
			    FILE *out)
{
	const struct gp_option *row;
	char flag[FLAG_TEXT];

	fputs("\nOptions:\n", out);
	for (size_t i = 0; (row = gp_command_option(command, i)); i++) {
		flag_text(row->letter, row->name, row->argument, flag);
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
