/* SPDX-License-Identifier: MIT */
/* Loads the gate's JSON files. */
#include "report/gate/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

static enum gp_status failed(const char *verb, int error, struct gp_diag *diag)
{
	return gp_diag_set(diag, gp_file_status(error), "cannot %s it: %s",
			   verb, strerror(error));
}

enum gp_status load_file(const char *path, char **text, size_t *size,
			 bool *missing, struct gp_diag *diag)
{
	FILE *in = fopen(path, "re");
	int error;

	if (missing)
		*missing = !in && errno == ENOENT;
	if (!in)
		return failed("open", errno, diag);
	error = gp_file_load(in, GATE_MOST_BYTES, text, size);
	fclose(in);
	if (error)
		return failed("read", error, diag);
	if (*size <= GATE_MOST_BYTES)
		return GP_OK;
	free(*text);
	return gp_diag_set(diag, GP_INPUT, "it is larger than any such file");
}

enum gp_status load_json(const char *text, size_t size, json_t **root,
			 struct gp_diag *diag)
{
	json_error_t error;
	json_t *value = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	const char *near;

	if (!value) {
		/* jansson's message goes on with text from the file: cut it
		 * off. */
		near = strstr(error.text, " near ");
		gp_diag_record(diag, "line %d column %d", error.line,
			       error.column);
		return gp_diag_set(diag, GP_INPUT, "not JSON: %.*s",
				   near ? (int)(near - error.text) : 100,
				   error.text);
	}
	if (!json_is_object(value)) {
		json_decref(value);
		return gp_diag_set(diag, GP_INPUT, "it is not an object");
	}
	*root = value;
	return GP_OK;
}

bool load_is_plain(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

enum gp_status load_text(const json_t *value, const char *key, size_t most,
			 struct gp_arena *arena, const char **text,
			 struct gp_diag *diag)
{
	const char *string = json_string_value(value);
	size_t length = json_string_length(value);

	if (!string)
		return gp_diag_set(diag, GP_INPUT, "%s is not a text", key);
	if (length > most)
		return gp_diag_set(diag, GP_INPUT, "%s is too long", key);
	if (!load_is_plain(string))
		return gp_diag_set(diag, GP_INPUT, "%s has control characters",
				   key);
	*text = gp_arena_text(arena, string, length);
	return GP_OK;
}
