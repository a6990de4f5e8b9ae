/* SPDX-License-Identifier: MIT */
/*
 * Pages of the manual that are made of tables: the words of each are a file in
 * pages/, in which a line "@name" stands for a table.
 */
#include "commands/pages.h"

#include <stdbool.h>
#include <string.h>

#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "gpupool/release.h"
#include "report/emit.h"
#include "report/schema.h"
#include "study/what_if/what_if.h"

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

static void print_key(void *arg, const struct gp_key *key)
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

static void print_object(const struct gp_key *object, FILE *out)
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
			gp_key_visit(object, print_key, out);
	fputs(".El\n", out);
}

/* Those that are a schema's, or those that are a part of others. */
static void print_objects(int of_schema, FILE *out)
{
	const struct gp_key *object = NULL;

	while ((object = gp_key_object_after(object)))
		if (!object->of == !of_schema)
			print_object(object, out);
}

static void print_measure(const struct gp_measure *measure, FILE *out)
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

static void print_scope(int scope, FILE *out)
{
	fputs(".Bl -tag -width Ds\n", out);
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if ((int)gp_measures[id].scope == scope)
			print_measure(&gp_measures[id], out);
	fputs(".El\n", out);
}

static void print_knob(const struct gp_knob *knob, FILE *out)
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

static void print_settings(int which, FILE *out)
{
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	(void)which;
	for (size_t i = 0; i < count; i++)
		print_knob(&knobs[i], out);
}

static void print_what_ifs(int which, FILE *out)
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
	int which; /* of several that are alike */
} tables[] = {
	{ "reports", print_objects, true },
	{ "objects", print_objects, false },
	{ "measures of a moment", print_scope, GP_SCOPE_MOMENT },
	{ "measures of a run", print_scope, GP_SCOPE_RUN },
	{ "counters", print_scope, GP_SCOPE_COUNTER },
	{ "measures of the device", print_scope, GP_SCOPE_CALLS },
	{ "measures of runs as rows", print_scope, GP_SCOPE_SUMMARY },
	{ "settings", print_settings, 0 },
	{ "what-ifs", print_what_ifs, 0 },
};

static void print_table(const char *name, size_t length, FILE *out)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		if (strlen(tables[i].name) == length &&
		    !memcmp(tables[i].name, name, length))
			tables[i].print(tables[i].which, out);
}

static void print_page(const char *words, FILE *out)
{
	while (*words) {
		size_t length = strcspn(words, "\n");

		if (*words == '@')
			print_table(words + 1, length - 1, out);
		else
			fprintf(out, "%.*s\n", (int)length, words);
		words += length + (words[length] != 0);
	}
}

void gp_report_page(FILE *out)
{
	print_page(gp_report_mdoc, out);
}

void gp_metrics_page(FILE *out)
{
	print_page(gp_metrics_mdoc, out);
}

void gp_settings_page(FILE *out)
{
	print_page(gp_settings_mdoc, out);
}

void gp_what_if_page(FILE *out)
{
	print_page(gp_what_if_mdoc, out);
}

/* ---- the table of settings for programs: gpupool help settings.json, of which
 * the page makes its controls ---- */

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

void gp_settings_json(FILE *out)
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
