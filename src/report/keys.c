/* SPDX-License-Identifier: MIT */
/* Visits and prints the table of keys. */
#include "report/keys.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpupool/knob.h"
#include "gpupool/metrics.h"
#include "gpupool/trace.h"
#include "study/metrics/change.h"
#include "study/space.h"
#include "report/emit.h"
#include "report/explain_words.h"
#include "report/schema.h"
#include "report/head.h"

static const struct {
	const char *json; /* JSON Schema's type */
	const char *unit; /* for a person */
	bool has_sign;
} types[GP_KEY_TYPES] = {
	[GP_KEY_TEXT] = { "string", "text", false },
	[GP_KEY_WORD] = { "string", "one of:", false },
	[GP_KEY_RELEASE] = { "string", "release of PyTorch", false },
	[GP_KEY_BOOL] = { "boolean", "true or false", false },
	[GP_KEY_BYTES] = { "integer", "bytes", false },
	[GP_KEY_MORE_BYTES] = { "integer", "bytes, with a sign", true },
	[GP_KEY_CAPACITY] = { "integer", "bytes, or \"unlimited\"", false },
	[GP_KEY_COUNT] = { "integer", "count", false },
	[GP_KEY_INTEGER] = { "integer", "whole number, with a sign", true },
	[GP_KEY_EVENT] = { "integer", "index of an event, from 0", false },
	[GP_KEY_ADDRESS] = { "integer", "whole number", false },
	[GP_KEY_BYTE_EVENTS] = { "integer", "bytes times events", false },
	[GP_KEY_WHOLE_US] = { "integer", "microseconds", false },
	[GP_KEY_US] = { "number", "microseconds", false },
	[GP_KEY_NS] = { "number", "nanoseconds", false },
	[GP_KEY_SECONDS] = { "number", "seconds", false },
	[GP_KEY_RATIO] = { "number", "ratio", false },
	[GP_KEY_NUMBER] = { "number", "number", true },
	[GP_KEY_POOL] = { "array", "two whole numbers", false },
	[GP_KEY_RANGE] = { "array", "least and most; null: without an end",
			   false },
	[GP_KEY_DIVISIONS] = { "integer", "count, or one by interval", false },
	[GP_KEY_OBJECT] = { "object", "object", false },
};

/* ---- rows that stand for several keys ---- */

struct visitor {
	void (*visit)(void *arg, const struct gp_key *key);
	void *arg;
};

static void visit_measure(const struct visitor *to, unsigned flags, int id)
{
	static const enum gp_key_type of_unit[] = {
		[GP_UNIT_BYTES] = GP_KEY_BYTES,
		[GP_UNIT_COUNT] = GP_KEY_COUNT,
		[GP_UNIT_MICROSECONDS] = GP_KEY_WHOLE_US,
		[GP_UNIT_RATIO] = GP_KEY_RATIO,
	};
	const struct gp_measure *measure = &gp_measures[id];

	to->visit(
		to->arg,
		&(struct gp_key){
			.name = gp_measure_name(id),
			.type = of_unit[measure->unit],
			.flags = flags | (measure->is_known ? GP_KEY_MAYBE : 0),
			.sentence = measure->meaning,
		});
}

static void visit_knobs(const struct visitor *to)
{
	static const enum gp_key_type of_knob[] = {
		[GP_KNOB_MIB] = GP_KEY_COUNT,
		[GP_KNOB_RATIO] = GP_KEY_RATIO,
		[GP_KNOB_BOOL] = GP_KEY_BOOL,
		[GP_KNOB_DIVISIONS] = GP_KEY_DIVISIONS,
		[GP_KNOB_SIZE] = GP_KEY_NUMBER,
		[GP_KNOB_INTEGER] = GP_KEY_COUNT,
	};
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	for (size_t i = 0; i < count; i++)
		if (knobs[i].member)
			to->visit(to->arg,
				  &(struct gp_key){
					  .name = knobs[i].name,
					  .type = of_knob[knobs[i].type],
					  .flags = GP_KEY_MAYBE,
					  .sentence = knobs[i].sentence });
}

static void visit_guesses(const struct visitor *to)
{
	size_t count;
	const struct gp_guess_row *rows = gp_guess_table(&count);

	for (size_t i = 0; i < count; i++)
		to->visit(to->arg,
			  &(struct gp_key){
				  .name = rows[i].name,
				  .type = GP_KEY_COUNT,
				  .sentence = gp_guess_sentence(&rows[i], 2) });
}

static void visit_gap_reasons(const struct visitor *to)
{
	for (int i = 0; i < GP_GAP_REASONS; i++)
		to->visit(to->arg,
			  &(struct gp_key)NAMED(explain_reasons[i].key, 0,
						"gap_part",
						explain_reasons[i].label));
}

/* The parts may be absent: two reports, or a single run, do not have all of
 * them. */
static void visit_parts(const struct visitor *to)
{
	for (int i = 0; i < GP_PARTS; i++)
		to->visit(to->arg,
			  &(struct gp_key)KEY(gp_parts[i].key, MORE_BYTES,
					      i < GP_PART_STREAMS ? 0 : MAYBE,
					      gp_parts[i].meaning));
	to->visit(to->arg,
		  &(struct gp_key)KEY("free", MORE_BYTES, MAYBE,
				      "of a report, which does not distinguish "
				      "these: streams, pools and packing"));
}

static void visit_event_kinds(const struct visitor *to)
{
	for (int i = 0; i < GP_EVENT_KINDS; i++)
		to->visit(to->arg,
			  &(struct gp_key)KEY(
				  gp_event_kind_name((enum gp_event_kind)i),
				  COUNT, MAYBE,
				  "events of that kind; see "
				  "gpupool-trace(5)"));
}

static void visit_axes(const struct visitor *to)
{
	for (int i = 0; i < GP_SPACE_AXES; i++)
		to->visit(to->arg, &(struct gp_key)KEY(
					   gp_space_names[i], RANGE, MAYBE,
					   "values that make no difference"));
}

void gp_key_visit(const struct gp_key *row,
		  void (*visit)(void *arg, const struct gp_key *key), void *arg)
{
	const struct visitor to = { visit, arg };

	switch (row->type) {
	case GP_KEY_MEASURE: visit_measure(&to, row->flags, row->id); break;
	case GP_KEY_SCOPE:
		for (int id = 0; id < GP_MEASURES; id++)
			if ((int)gp_measures[id].scope == row->id)
				visit_measure(&to, row->flags, id);
		break;
	case GP_KEY_KNOBS: visit_knobs(&to); break;
	case GP_KEY_GUESSES: visit_guesses(&to); break;
	case GP_KEY_GAP_REASONS: visit_gap_reasons(&to); break;
	case GP_KEY_PARTS: visit_parts(&to); break;
	case GP_KEY_EVENT_KINDS: visit_event_kinds(&to); break;
	case GP_KEY_AXES: visit_axes(&to); break;
	default: visit(arg, row); break;
	}
}

/* ---- objects ---- */

const struct gp_key *gp_key_object_after(const struct gp_key *object)
{
	if (!object)
		return keys_of_runs;
	while ((++object)->type != GP_KEY_NEW)
		;
	if (object->name)
		return object;
	if (object == keys_of_runs_end)
		return keys_of_advice;
	return object == keys_of_advice_end ? keys_of_changes : NULL;
}

const struct gp_key *gp_key_object(const char *name)
{
	return gp_key_object_next(&name);
}

const struct gp_key *gp_key_object_next(const char **of)
{
	size_t length = strcspn(*of, " ");
	const struct gp_key *object = NULL;
	const char *name = *of;

	*of += length + (name[length] == ' ');
	while ((object = gp_key_object_after(object)))
		if (!strncmp(object->name, name, length) &&
		    !object->name[length])
			return object;
	return NULL;
}

void gp_keys_each(const struct gp_key *object,
		  void (*visit)(void *arg, const struct gp_key *key), void *arg)
{
	while ((++object)->type != GP_KEY_NEW) {
		const char *of = object->of;

		if (object->type == GP_KEY_KEYS_OF)
			gp_keys_each(gp_key_object_next(&of), visit, arg);
		else
			gp_key_visit(object, visit, arg);
	}
}

const char *gp_key_sentence(const struct gp_key *key)
{
	const char *of = key->of;

	return key->sentence ? key->sentence
			     : gp_key_object_next(&of)->sentence;
}

const char *gp_key_unit(const struct gp_key *key, char text[GP_KEY_UNIT])
{
	bool is_named = key->type == GP_KEY_WORD || key->type == GP_KEY_OBJECT;

	snprintf(text, GP_KEY_UNIT, "%s%s%s%s%s%s%s",
		 key->flags & GP_KEY_LIST ? "list of " : "",
		 key->flags & GP_KEY_MAP ? "object; values: " : "",
		 types[key->type].unit, is_named ? " " : "",
		 is_named ? key->of : "",
		 key->flags & GP_KEY_NULL ? "; or null" : "",
		 key->flags & GP_KEY_MAYBE ? "; may be absent" : "");
	return text;
}

/* ---- as a JSON Schema, draft 2020-12 ---- */

static void write_values(struct gp_emit *json, const struct gp_key *key,
			 unsigned flags);

/* Writes the schema of a key under name. */
static void write_part(struct gp_emit *json, const char *name,
		       const struct gp_key *key, unsigned flags)
{
	gp_emit_open(json, name, '{', GP_EMIT_FLAT);
	write_values(json, key, flags);
	gp_emit_close(json, '}');
}

static void write_type(struct gp_emit *json, const char *type,
		       const char *other, bool is_nullable)
{
	if (!other && !is_nullable) {
		gp_emit_text(json, "type", type);
		return;
	}
	gp_emit_open(json, "type", '[', GP_EMIT_FLAT);
	gp_emit_text(json, NULL, type);
	if (other)
		gp_emit_text(json, NULL, other);
	if (is_nullable)
		gp_emit_text(json, NULL, "null");
	gp_emit_close(json, ']');
}

static void write_reference(struct gp_emit *json, const char *of)
{
	char path[64];

	snprintf(path, sizeof(path), "#/$defs/%s",
		 gp_key_object_next(&of)->name);
	gp_emit_text(json, "$ref", path);
}

static void write_object(struct gp_emit *json, const struct gp_key *key,
			 bool is_nullable)
{
	const char *of = key->of;

	if (!is_nullable && !strchr(of, ' ')) {
		write_reference(json, of);
		return;
	}
	gp_emit_open(json, "anyOf", '[', GP_EMIT_FLAT);
	while (*of) {
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		write_reference(json, of);
		gp_emit_close(json, '}');
		gp_key_object_next(&of);
	}
	if (is_nullable) {
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(json, "type", "null");
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}

static void write_words(struct gp_emit *json, const char *words,
			bool is_nullable)
{
	char word[64];

	gp_emit_open(json, "enum", '[', GP_EMIT_FLAT);
	while (*words) {
		size_t length = strcspn(words, " ");

		snprintf(word, sizeof(word), "%.*s", (int)length, words);
		gp_emit_text(json, NULL, word);
		words += length + (words[length] != 0);
	}
	if (is_nullable)
		gp_emit_null(json, NULL);
	gp_emit_close(json, ']');
}

static void write_two(struct gp_emit *json, const char *type, bool is_nullable)
{
	gp_emit_open(json, "items", '{', GP_EMIT_FLAT);
	write_type(json, type, NULL, is_nullable);
	gp_emit_uint(json, "minimum", 0);
	gp_emit_close(json, '}');
	gp_emit_uint(json, "minItems", 2);
	gp_emit_uint(json, "maxItems", 2);
}

static void write_plain(struct gp_emit *json, const struct gp_key *key,
			bool is_nullable)
{
	const char *type = types[key->type].json;
	bool is_number = !strcmp(type, "integer") || !strcmp(type, "number");

	write_type(json, type,
		   key->type == GP_KEY_CAPACITY	   ? "string"
		   : key->type == GP_KEY_DIVISIONS ? "object"
						   : NULL,
		   is_nullable);
	if (is_number && !types[key->type].has_sign)
		gp_emit_uint(json, "minimum", 0);
	if (key->type == GP_KEY_WORD)
		write_words(json, key->of, is_nullable);
	if (key->type == GP_KEY_POOL)
		write_two(json, "integer", false);
	if (key->type == GP_KEY_RANGE)
		write_two(json, "number", true);
	if (key->type == GP_KEY_RELEASE)
		gp_emit_text(json, "pattern", "^2\\.[0-9]+$");
}

static void write_values(struct gp_emit *json, const struct gp_key *key,
			 unsigned flags)
{
	bool is_nullable = flags & GP_KEY_NULL;

	if (flags & GP_KEY_LIST) {
		write_type(json, "array", NULL, is_nullable);
		write_part(json, "items", key, 0);
	} else if (flags & GP_KEY_MAP) {
		write_type(json, "object", NULL, is_nullable);
		write_part(json, "additionalProperties", key, 0);
	} else if (key->type == GP_KEY_OBJECT) {
		write_object(json, key, is_nullable);
	} else {
		write_plain(json, key, is_nullable);
	}
}

static void write_property(void *arg, const struct gp_key *key)
{
	struct gp_emit *json = arg;
	char unit[GP_KEY_UNIT];

	gp_emit_open(json, key->name, '{', GP_EMIT_FLAT);
	gp_emit_text(json, "description", gp_key_sentence(key));
	gp_emit_text(json, "$comment", gp_key_unit(key, unit));
	write_values(json, key, key->flags);
	gp_emit_close(json, '}');
}

static void write_required(void *arg, const struct gp_key *key)
{
	if (!(key->flags & GP_KEY_MAYBE))
		gp_emit_text(arg, NULL, key->name);
}

static void write_definition(struct gp_emit *json, const struct gp_key *object)
{
	gp_emit_open(json, object->name, '{', GP_EMIT_LINES);
	gp_emit_text(json, "description", object->sentence);
	gp_emit_text(json, "type", "object");
	gp_emit_open(json, "properties", '{', GP_EMIT_LINES);
	if (object->of) {
		gp_emit_open(json, "schema", '{', GP_EMIT_FLAT);
		gp_emit_text(json, "const", object->of);
		gp_emit_close(json, '}');
	}
	gp_keys_each(object, write_property, json);
	gp_emit_close(json, '}');
	gp_emit_open(json, "required", '[', GP_EMIT_FLAT);
	if (object->of)
		gp_emit_text(json, NULL, "schema");
	gp_keys_each(object, write_required, json);
	gp_emit_close(json, ']');
	gp_emit_bool(json, "additionalProperties", false);
	gp_emit_close(json, '}');
}

void gp_key_schema(FILE *out)
{
	struct gp_emit json = { .out = out };
	const struct gp_key *object = NULL;

	gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(&json, "$schema",
		     "https://json-schema.org/draft/2020-12/schema");
	gp_emit_text(&json, "title", "What gpupool writes with --format json");
	gp_emit_open(&json, "anyOf", '[', GP_EMIT_LINES);
	while ((object = gp_key_object_after(object))) {
		if (!object->of)
			continue;
		gp_emit_open(&json, NULL, '{', GP_EMIT_FLAT);
		write_reference(&json, object->name);
		gp_emit_close(&json, '}');
	}
	gp_emit_close(&json, ']');
	gp_emit_open(&json, "$defs", '{', GP_EMIT_LINES);
	while ((object = gp_key_object_after(object)))
		write_definition(&json, object);
	gp_emit_close(&json, '}');
	gp_emit_close(&json, '}');
}
