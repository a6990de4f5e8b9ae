/* SPDX-License-Identifier: MIT */
/* Finds the engine that --engine names. */
#include "commands/engine_named.h"

#include <string.h>

#include "base/text_sink.h"
#include "commands/own_folder.h"

extern char **environ;

struct gp_engine_library gp_engine_here(char program[PATH_MAX])
{
	gp_own_path(program);
	return (struct gp_engine_library){
		.program = *program ? program : NULL,
		.environment = environ,
	};
}

/* Opens the engine in a process of its own, which is this program again. */
static enum gp_status open_engine(const char *path, struct gp_engine **opened,
				  struct gp_diag *diag)
{
	char program[PATH_MAX];
	struct gp_engine_library library = gp_engine_here(program);

	library.path = path;
	return gp_engine_open(&library, opened, diag);
}

enum gp_status gp_engine_named(const char *name, struct gp_engine **opened,
			       const struct gp_engine **engine,
			       struct gp_diag *diag)
{
	enum gp_status status;

	/* An engine that runs in its own process has to be opened with this
	 * program's path. */
	*engine = gp_engine_find(name);
	if (*engine && !((*engine)->settings && (*engine)->needs))
		return GP_OK;
	status = open_engine(name, opened, diag);
	if (status == GP_OK)
		*engine = *opened;
	return status;
}

/* ---- lists ---- */

static bool is_of_all(const struct gp_engine *engine)
{
	return !engine->simulated && !engine->needs &&
	       !gp_engine_is_of_host(engine);
}

static void put(FILE *out, const char *name, size_t length, size_t *count)
{
	fprintf(out, "%s%.*s", (*count)++ ? "," : "", (int)length, name);
}

char *gp_engine_names(const char *list, bool *has_all)
{
	struct gp_text_sink sink;
	FILE *out = gp_text_sink_open(&sink);
	size_t engine_count, length, count = 0;
	const struct gp_engine *engines = gp_engine_table(&engine_count);

	if (has_all)
		*has_all = false;
	for (; *list; list += length + (list[length] == ',')) {
		bool is_all, is_host;

		length = strcspn(list, ",");
		is_all = length == 3 && !memcmp(list, "all", 3);
		is_host = length == 4 && !memcmp(list, "host", 4);
		if (is_all && has_all)
			*has_all = true;
		for (size_t i = 0; i < engine_count; i++)
			if ((is_all && is_of_all(&engines[i])) ||
			    (is_host && gp_engine_is_malloc(&engines[i])))
				put(out, engines[i].name,
				    strlen(engines[i].name), &count);
		if (length && !is_all && !is_host)
			put(out, list, length, &count);
	}
	return gp_text_sink_close(&sink, out);
}
