/* SPDX-License-Identifier: MIT */
/*
 * Extracts numbers from JSON, for the test scripts:
 *
 *	json FILE PATH...	prints the values there, one per line
 *
 * FILE "-" is standard input; of JSON Lines, the first line is read.  A PATH is
 * keys and indices between dots; "*" is all members; keys may contain dots
 * themselves ("memory_stats.num_ooms", "memory_stats.active.all.peak").  What
 * is not there prints nothing.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 65536

struct values {
	const json_t *at[MAX_VALUES];
	size_t count;
};

static void find(const json_t *value, const char *path, struct values *found);

static void find_in_all(const json_t *value, const char *rest,
			struct values *found)
{
	const char *key;
	json_t *member;
	size_t i;

	json_array_foreach(value, i, member) find(member, rest, found);
	json_object_foreach((json_t *)value, key, member)
		find(member, rest, found);
}

/* Tries the longest key first, since keys may hold dots. */
static void find_in_object(const json_t *value, const char *path,
			   struct values *found)
{
	char key[256];

	for (size_t length = strlen(path); length; length--) {
		const json_t *member;

		if ((path[length] && path[length] != '.') ||
		    length >= sizeof(key))
			continue;
		memcpy(key, path, length);
		key[length] = 0;
		member = json_object_get(value, key);
		if (!member)
			continue;
		find(member, path + length + (path[length] == '.'), found);
		return;
	}
}

static void find(const json_t *value, const char *path, struct values *found)
{
	size_t length = strcspn(path, ".");
	const char *rest = path + length + (path[length] == '.');

	if (!value)
		return;
	if (!*path) {
		if (found->count < MAX_VALUES)
			found->at[found->count++] = value;
	} else if (length == 1 && *path == '*') {
		find_in_all(value, rest, found);
	} else if (json_is_array(value)) {
		find(json_array_get(value, strtoul(path, NULL, 10)), rest,
		     found);
	} else if (json_is_object(value)) {
		find_in_object(value, path, found);
	}
}

/* Prints a string as it is, and anything else as JSON. */
static char *text_of(const json_t *value)
{
	if (json_is_string(value))
		return strdup(json_string_value(value));
	return json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
					 JSON_REAL_PRECISION(12));
}

static void print(const json_t *root, char *const *paths, int count)
{
	static struct values found;

	for (int i = 0; i < count; i++)
		find(root, paths[i], &found);
	for (size_t i = 0; i < found.count; i++) {
		char *text = text_of(found.at[i]);

		puts(text);
		free(text);
	}
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *root;
	FILE *file;

	if (argc < 3) {
		fputs("usage: json FILE PATH...\n", stderr);
		return 2;
	}
	file = strcmp(argv[1], "-") ? fopen(argv[1], "r") : stdin;
	if (!file) {
		fprintf(stderr, "json: cannot read %s\n", argv[1]);
		return 2;
	}
	root = json_loadf(file, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL,
			  &error);
	fclose(file);
	if (!root) {
		fprintf(stderr, "json: %s: line %d: %s\n", argv[1], error.line,
			error.text);
		return 2;
	}
	print(root, argv + 2, argc - 2);
	json_decref(root);
	return 0;
}
