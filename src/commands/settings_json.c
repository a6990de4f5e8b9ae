/* SPDX-License-Identifier: MIT */
/* The table of settings for programs: gpupool help settings.json, of which the
 * page makes its controls. */
#include "commands/pages.h"

#include "gpupool/knob.h"
#include "gpupool/release.h"
#include "report/emit.h"

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
