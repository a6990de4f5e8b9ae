/* SPDX-License-Identifier: MIT */
/* Writes JSON to a stream, one key per line, or a whole container on one line;
 * and the objects that several reports have in common. */
#include "report/emit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "report/group.h"
#include "report/object.h"
#include "report/head.h"
#include "trace/site.h"

static bool is_flat(const struct gp_emit *json)
{
	return json->flat_depth && json->depth >= json->flat_depth;
}

static void new_line(struct gp_emit *json)
{
	putc('\n', json->out);
	for (unsigned i = 0; i < json->depth; i++)
		putc(' ', json->out);
}

/* The comma, line break and key before a value. */
static void put_key(struct gp_emit *json, const char *key)
{
	if (json->has_items)
		putc(',', json->out);
	if (json->depth && !is_flat(json))
		new_line(json);
	else if (json->has_items)
		putc(' ', json->out);
	if (key) {
		gp_quote_json(key, strlen(key), json->out);
		fputs(": ", json->out);
	}
	json->has_items = true;
}

void gp_emit_open(struct gp_emit *json, const char *key, char bracket,
		  enum gp_emit_shape shape)
{
	put_key(json, key);
	putc(bracket, json->out);
	json->depth++;
	if (shape == GP_EMIT_FLAT && !json->flat_depth)
		json->flat_depth = json->depth;
	json->has_items = false;
}

void gp_emit_close(struct gp_emit *json, char bracket)
{
	bool flat = is_flat(json);

	if (json->flat_depth == json->depth)
		json->flat_depth = 0;
	json->depth--;
	if (!flat && json->has_items)
		new_line(json);
	putc(bracket, json->out);
	json->has_items = true;
	if (!json->depth)
		putc('\n', json->out);
}

struct gp_emit gp_emit_begin(const char *schema, FILE *out)
{
	struct gp_emit json = { .out = out };

	gp_emit_open(&json, NULL, '{', GP_EMIT_LINES);
	gp_emit_text(&json, "schema", schema);
	return json;
}

void gp_emit_uint(struct gp_emit *json, const char *key, uint64_t value)
{
	put_key(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void gp_emit_int(struct gp_emit *json, const char *key, int64_t value)
{
	put_key(json, key);
	fprintf(json->out, "%" PRId64, value);
}

void gp_emit_ratio(struct gp_emit *json, const char *key, double value)
{
	put_key(json, key);
	fprintf(json->out, "%.6f", value);
}

void gp_emit_real(struct gp_emit *json, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.15g", value);
	if (strtod(text, NULL) != value)
		snprintf(text, sizeof(text), "%.17g", value);
	put_key(json, key);
	fputs(text, json->out);
}

void gp_emit_bool(struct gp_emit *json, const char *key, bool value)
{
	put_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

void gp_emit_text(struct gp_emit *json, const char *key, const char *text)
{
	if (!text) {
		gp_emit_null(json, key);
		return;
	}
	put_key(json, key);
	gp_quote_json(text, strlen(text), json->out);
}

void gp_emit_null(struct gp_emit *json, const char *key)
{
	put_key(json, key);
	fputs("null", json->out);
}

#define MIB (UINT64_C(1) << 20)

/* ---- measures ---- */

void gp_emit_count(struct gp_emit *json, enum gp_measure_id id, uint64_t count)
{
	gp_emit_uint(json, gp_measure_name(id), count);
}

void gp_emit_measure(struct gp_emit *json, enum gp_measure_id id,
		     const struct gp_subject *subject)
{
	const struct gp_measure *measure = &gp_measures[id];

	if (!gp_measure_is_known(id, subject))
		return;
	if (measure->unit == GP_UNIT_RATIO)
		gp_emit_ratio(json, measure->key, measure->ratio(subject));
	else
		gp_emit_count(json, id, measure->count(subject));
}

void gp_emit_measures(struct gp_emit *json, enum gp_measure_scope scope,
		      const struct gp_subject *subject)
{
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if (gp_measures[id].scope == scope)
			gp_emit_measure(json, id, subject);
}

void gp_emit_moment(struct gp_emit *json, const char *key,
		    const struct gp_moment *moment)
{
	struct gp_subject subject = { .moment = moment };

	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	gp_emit_uint(json, "event", moment->event);
	gp_emit_measures(json, GP_SCOPE_MOMENT, &subject);
	gp_emit_close(json, '}');
}

void gp_emit_outcome(struct gp_emit *json, uint64_t peak_reserved,
		     uint64_t retries, uint64_t ooms)
{
	gp_emit_count(json, GP_PEAK_RESERVED, peak_reserved);
	gp_emit_count(json, GP_NUM_RETRIES, retries);
	gp_emit_count(json, GP_NUM_OOMS, ooms);
}

void gp_emit_calls(struct gp_emit *json, const struct gp_device_calls *calls)
{
	const struct gp_replay_result result = { .calls = *calls };
	struct gp_subject subject = { .result = &result };

	gp_emit_open(json, "device_calls", '{', GP_EMIT_LINES);
	gp_emit_measures(json, GP_SCOPE_CALLS, &subject);
	gp_emit_close(json, '}');
}

void gp_emit_matched(struct gp_emit *json, uint64_t checked, uint64_t matched)
{
	gp_emit_open(json, "fidelity", '{', GP_EMIT_FLAT);
	gp_emit_uint(json, "checked", checked);
	gp_emit_uint(json, "matched", matched);
	gp_emit_close(json, '}');
}

void gp_emit_told(struct gp_emit *json, const struct gp_trace *trace)
{
	if (trace->values)
		gp_emit_text(json, "values", trace->values);
	if (gp_trace_unknown(trace))
		gp_emit_text(json, "not_told", gp_trace_unknown(trace));
}

void gp_emit_trace_path(struct gp_emit *json, const char *path,
			const struct gp_trace *trace)
{
	gp_emit_open(json, "trace", '{', GP_EMIT_LINES);
	gp_emit_text(json, "path", path);
	if (trace)
		gp_emit_told(json, trace);
	gp_emit_close(json, '}');
}

/* ---- settings ---- */

/* A single number if it is the same for all intervals; else an object whose
 * keys are the first MiB of each interval. */
static void divisions(struct gp_emit *json, const char *key,
		      const uint64_t *values)
{
	char name[16];
	size_t differ = 0;

	for (size_t i = 1; i < GP_DIVISIONS; i++)
		differ += values[i] != values[0];
	if (!differ && values[0])
		gp_emit_uint(json, key, values[0]);
	if (!differ)
		return;
	gp_emit_open(json, key, '{', GP_EMIT_FLAT);
	for (size_t i = 0; i < GP_DIVISIONS; i++) {
		snprintf(name, sizeof(name), "%" PRIu64, UINT64_C(1) << i);
		gp_emit_uint(json, name, values[i]);
	}
	gp_emit_close(json, '}');
}

/* Writes nothing for a setting that has its default value. */
static void write_knob(struct gp_emit *json, const struct gp_knob *knob,
		       const struct gp_settings *settings,
		       const struct gp_settings *by_default)
{
	const void *value = (const char *)settings + knob->member;
	const uint64_t *bytes = value;

	if (gp_knob_is_equal(knob, settings, by_default))
		return;
	switch (knob->type) {
	case GP_KNOB_MIB: gp_emit_uint(json, knob->name, *bytes / MIB); break;
	case GP_KNOB_SIZE:
		if (settings->reserve_bytes) {
			gp_emit_uint(json, knob->name, settings->reserve_bytes);
			break;
		} /* fall through */
	case GP_KNOB_RATIO:
		gp_emit_real(json, knob->name, *(const double *)value);
		break;
	case GP_KNOB_BOOL:
		gp_emit_bool(json, knob->name, *(const bool *)value);
		break;
	case GP_KNOB_DIVISIONS: divisions(json, knob->name, bytes); break;
	default: break;
	}
}

void gp_emit_settings(struct gp_emit *json, const char *key,
		      const struct gp_settings *settings)
{
	struct gp_settings by_default;
	size_t count;
	const struct gp_knob *knobs = gp_knob_table(&count);

	gp_settings_init(&by_default, settings->release);
	by_default.max_non_split_rounding = settings->large_segment_size;
	gp_emit_open(json, key, '{', GP_EMIT_FLAT);
	for (size_t i = 0; i < count; i++)
		if (knobs[i].member)
			write_knob(json, &knobs[i], settings, &by_default);
	gp_emit_close(json, '}');
}

/* ---- the rest ---- */

void gp_emit_release(struct gp_emit *json, const char *key, uint8_t release)
{
	char text[8];

	snprintf(text, sizeof(text), "2.%u", release);
	gp_emit_text(json, key, text);
}

void gp_emit_choice(struct gp_emit *json, const char *key,
		    const struct gp_release_choice *choice)
{
	gp_emit_object(json, key, "release_choice", choice, GP_EMIT_LINES);
}

void gp_emit_pool(struct gp_emit *json, const char *key, struct gp_pool_id pool)
{
	gp_emit_open(json, key, '[', GP_EMIT_FLAT);
	gp_emit_uint(json, NULL, pool.first);
	gp_emit_uint(json, NULL, pool.second);
	gp_emit_close(json, ']');
}

static void emit_name(struct gp_emit *json, const struct gp_trace *trace,
		      uint32_t site)
{
	char name[GP_SITE_TEXT];

	gp_site_text(trace, site, name);
	gp_emit_text(json, "site_name", *name ? name : NULL);
}

static void emit_stack(struct gp_emit *json, const struct gp_trace *trace,
		       uint32_t site)
{
	if (site == GP_NO_SITE) {
		gp_emit_null(json, "site");
		return;
	}
	gp_emit_open(json, "site", '[', GP_EMIT_LINES);
	for (; site != GP_NO_SITE; site = trace->sites[site].caller)
		gp_emit_text(json, NULL, trace->texts[trace->sites[site].text]);
	gp_emit_close(json, ']');
}

void gp_emit_site(struct gp_emit *json, const struct gp_trace *trace,
		  uint32_t site)
{
	emit_name(json, trace, site);
	emit_stack(json, trace, site);
}

void gp_emit_sites(struct gp_emit *json, const struct gp_trace *trace,
		   uint32_t site)
{
	emit_name(json, trace, site);
	emit_stack(json, trace, gp_site_frame(trace, site));
}

void gp_emit_guesses(struct gp_emit *json, const char *key,
		     const struct gp_guesses *guesses)
{
	size_t count;
	const struct gp_guess_row *rows = gp_guess_table(&count);

	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++)
		gp_emit_uint(json, rows[i].name,
			     gp_guess_count(guesses, &rows[i]));
	gp_emit_close(json, '}');
}

static void write_sums(struct gp_emit *json, const struct gp_group *group)
{
	gp_emit_uint(json, "segments", group->segments);
	gp_emit_uint(json, "blocks", group->blocks);
	gp_emit_count(json, GP_RESERVED, group->reserved);
	gp_emit_count(json, GP_ALLOCATED, group->allocated);
	gp_emit_count(json, GP_ACTIVE_BYTES, group->active);
	gp_emit_count(json, GP_REQUESTED, group->requested);
	gp_emit_count(json, GP_LARGEST_FREE, group->largest_free);
}

static void write_name(struct gp_emit *json, const struct gp_trace *trace,
		       enum gp_grouping grouping, uint32_t key)
{
	switch (grouping) {
	case GP_BY_SIZE:
		gp_emit_text(json, "segment_type", key ? "large" : "small");
		break;
	case GP_BY_STREAM:
		gp_emit_uint(json, "stream", trace->streams[key]);
		break;
	case GP_BY_POOL: gp_emit_pool(json, "pool", trace->pools[key]); break;
	default: break;
	}
}

static void write_groups(struct gp_emit *json, const char *key,
			 const struct gp_trace *trace,
			 const struct gp_state *state,
			 enum gp_grouping grouping)
{
	struct gp_group *groups;
	size_t count = gp_group_state(trace, state, grouping, &groups);

	gp_emit_open(json, key, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < count; i++) {
		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		write_name(json, trace, grouping, groups[i].key);
		write_sums(json, &groups[i]);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
	free(groups);
}

void gp_emit_state(struct gp_emit *json, const char *key,
		   const struct gp_trace *trace, const struct gp_state *state)
{
	struct gp_group total = gp_group_total(state);

	gp_emit_open(json, key, '{', GP_EMIT_LINES);
	write_sums(json, &total);
	write_groups(json, "by_segment_type", trace, state, GP_BY_SIZE);
	write_groups(json, "by_stream", trace, state, GP_BY_STREAM);
	write_groups(json, "by_pool", trace, state, GP_BY_POOL);
	gp_emit_close(json, '}');
}

void gp_emit_limit(struct gp_emit *json, const char *key, uint64_t bytes)
{
	if (bytes == GP_UNLIMITED)
		gp_emit_null(json, key);
	else
		gp_emit_uint(json, key, bytes);
}

void gp_emit_what_ifs(struct gp_emit *json, const char *key,
		      const struct gp_what_ifs *what_ifs)
{
	gp_emit_open(json, key, '[', GP_EMIT_LINES);
	for (size_t i = 0; i < what_ifs->count; i++) {
		const struct gp_what_if_note *note = &what_ifs->notes[i];

		gp_emit_open(json, NULL, '{', GP_EMIT_FLAT);
		gp_emit_text(json, "name", note->asked.row->name);
		gp_emit_text(json, "argument", note->asked.argument);
		gp_emit_uint(json, "changes", note->changes);
		gp_emit_text(json, "what", note->text);
		gp_emit_close(json, '}');
	}
	gp_emit_close(json, ']');
}
