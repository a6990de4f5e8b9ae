/* SPDX-License-Identifier: MIT */
/* Values of the gate in words. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "report/emit.h"
#include "report/gate_report.h"
#include "report/page.h"

static uint64_t magnitude(int64_t value)
{
	return value < 0 ? (uint64_t)-value : (uint64_t)value;
}

const char *gp_gate_value_text(const struct gp_number *number, int64_t value,
			       char text[GP_GATE_TEXT])
{
	const char *sign = value < 0 ? "-" : "";
	char part[GP_COUNT_TEXT];

	switch ((enum gp_number_unit)number->unit) {
	case GP_NUMBER_BYTES: gp_bytes_text(magnitude(value), part); break;
	case GP_NUMBER_COUNT: gp_count_text(magnitude(value), part); break;
	case GP_NUMBER_RATIO:
		gp_percent_text((double)magnitude(value) / GP_NUMBER_MILLION,
				part);
		break;
	}
	snprintf(text, GP_GATE_TEXT, "%s%s", sign, part);
	return text;
}

const char *gp_gate_reading_text(const struct gp_number *number,
				 const struct gp_reading *reading,
				 char text[GP_GATE_TEXT])
{
	if (reading->is_there)
		return gp_gate_value_text(number, reading->value, text);
	snprintf(text, GP_GATE_TEXT, "none");
	return text;
}

const char *gp_gate_change_text(const struct gp_number *number,
				const struct gp_reading *from,
				const struct gp_reading *to,
				char text[2 * GP_GATE_TEXT])
{
	int64_t by = to->value - from->value;
	char value[GP_GATE_TEXT], part[GP_GATE_TEXT] = "";

	*text = 0;
	if (!from->is_there || !to->is_there)
		return text;
	gp_gate_value_text(number, by, value);
	if (number->unit == GP_NUMBER_RATIO)
		snprintf(value, sizeof(value), "%s%.2f points",
			 by < 0 ? "-" : "",
			 (double)magnitude(by) * 100 / GP_NUMBER_MILLION);
	else if (from->value > 0)
		snprintf(part, sizeof(part), " (%+.1f %%)",
			 100 * (double)by / (double)from->value);
	snprintf(text, 2 * GP_GATE_TEXT, "%s%s%s", by < 0 ? "" : "+", value,
		 part);
	return text;
}

const char *gp_gate_limit_text(const struct gp_number *number,
			       const struct gp_gate_verdict *verdict,
			       char text[GP_GATE_LIMIT])
{
	const struct gp_limit *limit = verdict->limit;
	const char *least = number->more_is_better ? "at least" : "at most";
	char bound[GP_GATE_TEXT];

	gp_gate_value_text(number, verdict->bound, bound);
	if (limit->is_default)
		snprintf(text, GP_GATE_LIMIT, "no worse than the baseline");
	else if (limit->kind == GP_LIMIT_VALUE)
		snprintf(text, GP_GATE_LIMIT, "%s %s", least, bound);
	else
		snprintf(text, GP_GATE_LIMIT, "%s, %s %s", limit->text, least,
			 bound);
	return text;
}

static bool is_same(const struct gp_reading *a, const struct gp_reading *b)
{
	return a->is_there && b->is_there && a->value == b->value;
}

static const char *where(const struct gp_gate_verdict *verdict, char text[32])
{
	if (*verdict->where)
		return verdict->where;
	snprintf(text, 32, "event %" PRIu64, verdict->event);
	return text;
}

/* Two that look alike are told apart by what one has more. */
static void tell_apart(const struct gp_number *number,
		       const struct gp_gate_verdict *verdict, const char *now,
		       char limit[GP_GATE_LIMIT])
{
	int64_t more = verdict->now.value - verdict->bound;
	char bound[GP_GATE_TEXT], count[GP_COUNT_TEXT];
	size_t length = strlen(limit);

	gp_gate_value_text(number, verdict->bound, bound);
	if (number->unit != GP_NUMBER_BYTES || !more || strcmp(now, bound) != 0)
		return;
	snprintf(limit + length, GP_GATE_LIMIT - length,
		 ", which is %s bytes %s",
		 gp_count_text(magnitude(more), count),
		 more < 0 ? "more" : "less");
}

const char *gp_gate_sentence(const struct gp_gate_report *report,
			     const struct gp_gate_verdict *verdict,
			     char text[GP_GATE_SENTENCE])
{
	const struct gp_number *number =
		&report->numbers->items[verdict->limit->number];
	char from[GP_GATE_TEXT], to[GP_GATE_TEXT], by[2 * GP_GATE_TEXT];
	char limit[GP_GATE_LIMIT];

	gp_gate_change_text(number, &verdict->baseline, &verdict->now, by);
	gp_gate_reading_text(number, &verdict->baseline, from);
	gp_gate_reading_text(number, &verdict->now, to);
	gp_gate_limit_text(number, verdict, limit);
	if (!verdict->limit->is_default)
		tell_apart(number, verdict, to, limit);
	if (is_same(&verdict->baseline, &verdict->now))
		snprintf(text, GP_GATE_SENTENCE,
			 "%s: %s, as in the baseline; limit: %s", number->name,
			 to, limit);
	else
		snprintf(text, GP_GATE_SENTENCE, "%s: %s -> %s%s%s; limit: %s",
			 number->name, from, to, *by ? ", " : "", by, limit);
	if (verdict->event != GP_EVENT_NONE) {
		size_t length = strlen(text);
		char event[32];

		snprintf(text + length, GP_GATE_SENTENCE - length,
			 "; first at %s%s%s", where(verdict, event),
			 *verdict->about ? ": " : "", verdict->about);
	}
	return text;
}

const char *gp_gate_divergence(const struct gp_divergence *divergence,
			       char text[GP_GATE_SENTENCE])
{
	const char *who = divergence->is_program
				  ? "the program asks for something else"
				  : "the same requests are served otherwise";

	*text = 0;
	if (!divergence->is_there)
		return text;
	if (divergence->first == divergence->last)
		snprintf(text, GP_GATE_SENTENCE,
			 "the runs diverge at event %" PRIu64 ": %s",
			 divergence->first, who);
	else
		snprintf(text, GP_GATE_SENTENCE,
			 "the runs diverge between events %" PRIu64
			 " and %" PRIu64 ": %s",
			 divergence->first, divergence->last, who);
	return text;
}

const char *gp_gate_trouble(const struct gp_diag *diag,
			    char text[GP_GATE_TROUBLE])
{
	const char *parts[] = { diag->file, diag->record, diag->what };
	size_t length = 0;

	*text = 0;
	for (size_t i = 0; i < 3; i++)
		if (*parts[i])
			length += (size_t)snprintf(
				text + length, GP_GATE_TROUBLE - length, "%s%s",
				length ? ": " : "", parts[i]);
	if (*diag->hint && length < GP_GATE_TROUBLE)
		snprintf(text + length, GP_GATE_TROUBLE - length, "; %s",
			 diag->hint);
	return text;
}

void gp_gate_emit_value(struct gp_emit *json, const char *key,
			const struct gp_number *number, int64_t value)
{
	if (number->unit == GP_NUMBER_RATIO)
		gp_emit_ratio(json, key, (double)value / GP_NUMBER_MILLION);
	else
		gp_emit_int(json, key, value);
}

void gp_gate_emit_asked(struct gp_emit *json, const struct gp_gate_asked *asked)
{
	gp_emit_open(json, "asked", '{', GP_EMIT_LINES);
	if (asked->capacity == GP_UNLIMITED)
		gp_emit_text(json, "capacity", "unlimited");
	else if (asked->capacity)
		gp_emit_uint(json, "capacity", asked->capacity);
	else
		gp_emit_null(json, "capacity");
	gp_emit_text(json, "engine", asked->engine);
	gp_emit_text(json, "settings", asked->settings);
	gp_emit_text(json, "torch", asked->torch);
	gp_emit_close(json, '}');
}

/* The rest of an absolute path that lies below the working directory. */
static const char *below_here(const char *path)
{
	char here[PATH_MAX];
	size_t length;

	if (path[0] != '/' || !getcwd(here, sizeof(here)))
		return path;
	length = strlen(here);
	if (strncmp(path, here, length) != 0 || path[length] != '/')
		return path;
	return path + length + strspn(path + length, "/");
}

const char *gp_gate_repository_path(const struct gp_gate *gate)
{
	const char *path = below_here(gate->path);

	while (path[0] == '.' && path[1] == '/') {
		path += 2;
		path += strspn(path, "/");
	}
	return path;
}

bool gp_gate_is_relative(const struct gp_gate_file *file)
{
	for (size_t i = 0; i < file->count; i++)
		for (size_t d = 0; d < file->results[i].device_count; d++) {
			const struct gp_gate_device *device =
				&file->results[i].devices[d];

			for (size_t k = 0; k < device->verdict_count; k++)
				if (device->verdicts[k].is_worse &&
				    device->verdicts[k].limit->kind !=
					    GP_LIMIT_VALUE)
					return true;
		}
	return false;
}

size_t gp_gate_count(const struct gp_gate_file *file, enum gp_status status)
{
	size_t count = 0;

	for (size_t i = 0; i < file->count; i++)
		count += status >= GP_INPUT ? file->results[i].status >= status
					    : file->results[i].status == status;
	return count;
}
