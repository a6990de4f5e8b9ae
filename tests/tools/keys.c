/* SPDX-License-Identifier: MIT */
/*
 * Compares reports with the table of their keys (gpupool/schema.h):
 *
 *	keys FOLDER/OBJECT-ANYTHING.json...
 *
 * prints keys of a report that are not in the table, keys that are missing, and
 * values of another type; then, for all reports together, the keys of the table
 * that none of them has: "never OBJECT.KEY".
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/schema.h"

static json_t *seen; /* "object.key" */
static const char *file;
static unsigned long mistakes;

/* ---- one value ---- */

static void mistake(const char *object, const char *key, const char *what)
{
	mistakes++;
	printf("%s: %s.%s: %s\n", file, object, key, what);
}

static bool is_word(const char *text, const char *words)
{
	size_t length = strlen(text);

	for (; *words; words += strcspn(words, " "), words += *words != 0)
		if (strcspn(words, " ") == length &&
		    !strncmp(words, text, length))
			return true;
	return false;
}

static bool are_numbers(const json_t *list, bool may_be_null)
{
	for (size_t i = 0; i < json_array_size(list); i++)
		if (!json_is_number(json_array_get(list, i)) &&
		    !(may_be_null && json_is_null(json_array_get(list, i))))
			return false;
	return json_array_size(list) == 2;
}

static bool is_plain(const struct gp_key *key, const json_t *value)
{
	switch (key->type) {
	case GP_KEY_TEXT: return json_is_string(value);
	case GP_KEY_WORD:
		return json_is_string(value) &&
		       is_word(json_string_value(value), key->of);
	case GP_KEY_RELEASE:
		return json_is_string(value) &&
		       !strncmp(json_string_value(value), "2.", 2);
	case GP_KEY_BOOL: return json_is_boolean(value);
	case GP_KEY_CAPACITY:
		return json_is_integer(value) ||
		       (json_is_string(value) &&
			!strcmp(json_string_value(value), "unlimited"));
	case GP_KEY_US:
	case GP_KEY_NS:
	case GP_KEY_SECONDS:
	case GP_KEY_RATIO:
	case GP_KEY_NUMBER: return json_is_number(value);
	case GP_KEY_POOL: return are_numbers(value, false);
	case GP_KEY_RANGE: return are_numbers(value, true);
	case GP_KEY_DIVISIONS:
		return json_is_integer(value) || json_is_object(value);
	default: return json_is_integer(value);
	}
}

static bool fits(const char *name, const json_t *value);
static void check_object(const char *name, const json_t *value);

/* Of several objects, the first whose keys are all there. */
static void check_one_of(const char *object, const struct gp_key *key,
			 const json_t *value)
{
	const char *of = key->of;
	const struct gp_key *one;

	while (*of) {
		one = gp_key_object_next(&of);
		if (!*of || fits(one->name, value)) {
			check_object(one->name, value);
			return;
		}
	}
	mistake(object, key->name, "is no object of the table");
}

static void check_value(const char *object, const struct gp_key *key,
			unsigned flags, json_t *value)
{
	const char *name;
	json_t *member;
	size_t i;

	if (json_is_null(value) && flags & GP_KEY_NULL)
		return;
	if (flags & GP_KEY_LIST) {
		if (!json_is_array(value))
			mistake(object, key->name, "is no list");
		json_array_foreach(value, i, member)
			check_value(object, key, 0, member);
	} else if (flags & GP_KEY_MAP) {
		if (!json_is_object(value))
			mistake(object, key->name, "is no object");
		json_object_foreach(value, name, member)
			check_value(object, key, 0, member);
	} else if (key->type == GP_KEY_OBJECT) {
		check_one_of(object, key, value);
	} else if (!is_plain(key, value)) {
		mistake(object, key->name, "is of another type");
	}
}

/* ---- an object ---- */

struct visit {
	const char *object;
	const json_t *value;
	size_t known; /* keys that the table has */
	size_t missing;
	bool is_silent;
};

static void visit_key(void *arg, const struct gp_key *key)
{
	struct visit *v = arg;
	json_t *value = json_object_get(v->value, key->name);
	char name[160];

	if (!value) {
		v->missing += !(key->flags & GP_KEY_MAYBE);
		if (!v->is_silent && !(key->flags & GP_KEY_MAYBE))
			mistake(v->object, key->name, "is missing");
		return;
	}
	v->known++;
	if (v->is_silent)
		return;
	snprintf(name, sizeof(name), "%s.%s", v->object, key->name);
	json_object_set_new(seen, name, json_true());
	check_value(v->object, key, key->flags, value);
}

static const struct gp_key *object_of(const char *name)
{
	const char *of = name;

	return gp_key_object_next(&of);
}

static bool fits(const char *name, const json_t *value)
{
	struct visit v = { name, value, 0, 0, true };

	gp_keys_each(object_of(name), visit_key, &v);
	return !v.missing && v.known == json_object_size(value);
}

static void has_key(void *arg, const struct gp_key *key)
{
	struct visit *v = arg;

	v->known += !strcmp(key->name, v->object);
}

static void check_object(const char *name, const json_t *value)
{
	const struct gp_key *object = object_of(name);
	struct visit v = { .object = name, .value = value };
	const char *key;
	json_t *member;

	gp_keys_each(object, visit_key, &v);
	json_object_foreach((json_t *)value, key, member)
	{
		struct visit one = { .object = key };

		gp_keys_each(object, has_key, &one);
		if (!one.known && !(object->of && !strcmp(key, "schema")))
			mistake(name, key, "is not in the table");
	}
}

/* ---- files ---- */

static void check_file(const char *path)
{
	const char *base = strrchr(path, '/');
	char name[64] = "";
	json_error_t error;
	json_t *report = json_load_file(path, 0, &error);
	const struct gp_key *object;
	const char *schema;

	base = base ? base + 1 : path;
	file = base;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(base, "-"), base);
	object = object_of(name);
	schema = json_string_value(json_object_get(report, "schema"));
	if (!report)
		mistake(name, "", error.text);
	else if (!object || !schema || strcmp(schema, object->of) != 0)
		mistake(name, "schema", "is not this report's");
	else
		check_object(name, report);
	json_decref(report);
}

static void tell_unseen(void *arg, const struct gp_key *key)
{
	char name[160];

	snprintf(name, sizeof(name), "%s.%s", (const char *)arg, key->name);
	if (!json_object_get(seen, name))
		printf("never %s\n", name);
}

/* Whether anything has this object under its own name; otherwise it is part of
 * others. */
static bool is_named(const struct gp_key *wanted)
{
	const struct gp_key *object = NULL;

	while ((object = gp_key_object_after(object)))
		for (const struct gp_key *k = object + 1; k->type != GP_KEY_NEW;
		     k++)
			if (k->type == GP_KEY_OBJECT &&
			    is_word(wanted->name, k->of))
				return true;
	return wanted->of != NULL;
}

int main(int argc, char **argv)
{
	const struct gp_key *object = NULL;

	seen = json_object();
	for (int i = 1; i < argc; i++)
		check_file(argv[i]);
	while ((object = gp_key_object_after(object))) {
		char name[64];

		snprintf(name, sizeof(name), "%s", object->name);
		if (is_named(object))
			gp_keys_each(object, tell_unseen, name);
	}
	json_decref(seen);
	return mistakes ? 1 : 0;
}
