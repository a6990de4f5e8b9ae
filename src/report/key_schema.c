/* SPDX-License-Identifier: MIT */
/* The table of keys as a JSON Schema, draft 2020-12. */
#include "report/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "report/emit.h"
#include "report/keys.h"

static void write_values(struct gp_emit *json, const struct gp_key *key,
			 unsigned flags);

/* A schema that stands under name. */
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
	const char *type = key_types[key->type].json;
	bool is_number = !strcmp(type, "integer") || !strcmp(type, "number");

	write_type(json, type,
		   key->type == GP_KEY_CAPACITY	   ? "string"
		   : key->type == GP_KEY_DIVISIONS ? "object"
						   : NULL,
		   is_nullable);
	if (is_number && !key_types[key->type].has_sign)
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
