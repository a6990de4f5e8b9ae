/* SPDX-License-Identifier: MIT */
/* Parsing of --engine: the name of an engine with settings of its own
 * (bfc:fraction=0.5:preallocate=true), or a library. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "allocator/engines.h"
#include "base/mem.h"
#include "base/text.h"

struct named {
	struct gp_engine engine;
	/* The argument of --engine, which becomes the engine's name. */
	char *text;
	char *program; /* owned */
	char **values; /* owned, as is each element */
	size_t count;  /* of settings */
};

static size_t count_of(const struct gp_engine_setting *settings)
{
	size_t count = 0;

	while (settings && settings[count].name)
		count++;
	return count;
}

static size_t find(const struct gp_engine *engine, const char *name,
		   size_t length)
{
	const struct gp_engine_setting *rows = engine->settings;
	size_t i = 0;

	while (i < count_of(rows) && (strlen(rows[i].name) != length ||
				      memcmp(rows[i].name, name, length) != 0))
		i++;
	return i;
}

const char *engine_setting(const struct gp_engine *engine, const char *name)
{
	size_t i = find(engine, name, strlen(name));

	return engine->values && engine->values[i]
		       ? engine->values[i]
		       : engine->settings[i].by_default;
}

bool engine_is_named(const struct gp_engine *engine, const char *name)
{
	size_t length = strcspn(engine->name, ":");

	return strlen(name) == length && !memcmp(name, engine->name, length);
}

/* Adds a name to the list of valid ones in the hint. */
static void hint(struct gp_diag *diag, const char *name)
{
	size_t n = strlen(diag->hint);

	snprintf(diag->hint + n, sizeof(diag->hint) - n, "%s%s",
		 n ? ", " : "there are: ", name);
}

/* ---- values ---- */

static bool is_number(const struct gp_engine_setting *row, const char *value)
{
	char *end;
	double number = strtod(value, &end);

	return end != value && !*end && isfinite(number) &&
	       number >= row->least && number <= row->most;
}

static enum gp_status take(const char *value,
			   const struct gp_engine_setting *row,
			   struct gp_diag *diag)
{
	if (row->words ? gp_word_index(row->words, value) != UINT32_MAX
		       : is_number(row, value))
		return GP_OK;
	if (row->words)
		return gp_diag_set(diag, GP_USAGE,
				   "%s is one of %s, not '%.80s'", row->name,
				   row->words, value);
	return gp_diag_set(diag, GP_USAGE,
			   "%s is a number from %g to %g, not '%.80s'",
			   row->name, row->least, row->most, value);
}

static enum gp_status no_setting(const struct gp_engine *engine,
				 const char *name, size_t length,
				 struct gp_diag *diag)
{
	for (size_t i = 0; i < count_of(engine->settings); i++)
		hint(diag, engine->settings[i].name);
	return gp_diag_set(diag, GP_USAGE,
			   "the engine %s has no setting '%.*s'", engine->name,
			   length > 80 ? 80 : (int)length, name);
}

/* One setting: name=value. */
static enum gp_status set(struct named *n, const struct gp_engine *of,
			  const char *text, size_t length, struct gp_diag *diag)
{
	const char *equals = memchr(text, '=', length);
	size_t name = equals ? (size_t)(equals - text) : length, i;

	i = find(of, text, name);
	if (i == n->count)
		return no_setting(of, text, name, diag);
	if (!equals)
		return gp_diag_set(diag, GP_USAGE, "%s: its value is missing",
				   of->settings[i].name);
	free(n->values[i]);
	n->values[i] = gp_mem_copy_text(equals + 1, length - name - 1);
	return take(n->values[i], &of->settings[i], diag);
}

/* ---- the name ---- */

static enum gp_status there_is_none(const char *name, int length,
				    struct gp_diag *diag)
{
	size_t count;
	const struct gp_engine *engines = gp_engine_table(&count);

	for (size_t i = 0; i < count; i++)
		hint(diag, engines[i].name);
	return gp_diag_set(diag, GP_USAGE, "there is no engine %.*s", length,
			   name);
}

static void close_named(struct gp_engine *engine)
{
	struct named *n = (struct named *)engine;

	for (size_t i = 0; i < n->count; i++)
		free(n->values[i]);
	free(n->values);
	free(n->text);
	free(n->program);
	free(n);
}

static enum gp_status open_named(const struct gp_engine_library *library,
				 struct gp_engine **engine,
				 struct gp_diag *diag)
{
	const char *text = library->path, *program = library->program;
	size_t length = strcspn(text, ":");
	const struct gp_engine *of = engine_find(text, length);
	enum gp_status status = GP_OK;
	struct named *n;

	if (!of)
		return there_is_none(text, (int)length, diag);
	n = gp_mem_alloc(1, sizeof(*n));
	n->count = count_of(of->settings);
	n->values = gp_mem_alloc(n->count, sizeof(char *));
	n->text = gp_mem_copy_text(text, strlen(text));
	n->engine = *of;
	n->engine.name = n->text;
	n->engine.values = n->values;
	n->engine.close = close_named;
	if (program)
		n->program = gp_mem_copy_text(program, strlen(program));
	n->engine.program = n->program;
	for (text += length; *text && status == GP_OK; text += length) {
		length = strcspn(++text, ":");
		status = set(n, of, text, length, diag);
	}
	if (status == GP_OK)
		*engine = &n->engine;
	else
		close_named(&n->engine);
	return status;
}

bool gp_engine_is_file(const char *name)
{
	size_t length = strlen(name);

	return strchr(name, '/') ||
	       (length > 3 && !strcmp(name + length - 3, ".so"));
}

enum gp_status gp_engine_open(const struct gp_engine_library *library,
			      struct gp_engine **engine, struct gp_diag *diag)
{
	return gp_engine_is_file(library->path)
		       ? engine_open_library(library, engine, diag)
		       : open_named(library, engine, diag);
}

bool gp_engine_is_pytorch(const char *name)
{
	const struct gp_engine of = { .name = name };

	return engine_is_named(&of, "caching") ||
	       engine_is_named(&of, "torch") || engine_is_named(&of, "pinned");
}

const char *gp_engine_note(const char *name)
{
	static const char key[] = ":device=";
	const struct gp_engine *of = engine_find(name, strcspn(name, ":"));
	const char *device = strstr(name, key);

	if (of && gp_engine_is_pytorch(of->name) && device &&
	    strncmp(device + strlen(key), "cuda", 4) != 0)
		return "written after that allocator's source, not compared "
		       "with its runs; device calls and their sizes are CUDA's";
	return of ? of->simulated : NULL;
}

const struct gp_engine_setting *gp_engine_setting(const char *name,
						  const char *setting)
{
	size_t count;
	const struct gp_engine *of = gp_engine_table(&count);

	if (name) {
		of = engine_find(name, strcspn(name, ":"));
		count = of != NULL;
	}
	for (; count; count--, of++) {
		size_t i = find(of, setting, strlen(setting));

		if (i < count_of(of->settings))
			return &of->settings[i];
	}
	return NULL;
}

const char *gp_engine_value(const struct gp_engine *engine, const char *setting)
{
	return find(engine, setting, strlen(setting)) <
			       count_of(engine->settings)
		       ? engine_setting(engine, setting)
		       : NULL;
}

char *gp_engine_with(const char *name, const char *setting, const char *value)
{
	size_t length = strcspn(name, ":"), named = strlen(setting), used;
	size_t room = strlen(name) + named + (value ? strlen(value) : 0) + 3;
	char *made = gp_mem_alloc(room, 1);

	used = (size_t)snprintf(made, room, "%.*s", (int)length, name);
	for (name += length; *name; name += length) {
		length = strcspn(++name, ":");
		if (length > named && name[named] == '=' &&
		    !memcmp(name, setting, named))
			continue;
		used += (size_t)snprintf(made + used, room - used, ":%.*s",
					 (int)length, name);
	}
	if (value)
		snprintf(made + used, room - used, ":%s=%s", setting, value);
	return made;
}

void gp_engine_close(struct gp_engine *engine)
{
	if (engine && engine->close)
		engine->close(engine);
}
