/* SPDX-License-Identifier: MIT */
/* Thresholds: see gpupool/metrics.h. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "gpupool/metrics.h"

static const struct {
	const char *sign, *words;
} operators[] = {
	[GP_ABOVE] = { ">", "above" },
	[GP_AT_LEAST] = { ">=", "at least" },
	[GP_BELOW] = { "<", "below" },
	[GP_AT_MOST] = { "<=", "at most" },
};

/* ---- parsing ---- */

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

static void cut_blanks(char *text)
{
	size_t length = strlen(text);

	while (length && strchr(" \t", text[length - 1]))
		text[--length] = 0;
}

static enum gp_status bad(const char *text, const char *what, const char *hint,
			  struct gp_diag *diag)
{
	gp_diag_hint(diag, "%s", hint);
	return gp_diag_set(diag, GP_USAGE, "--alert \"%.100s\": %s", text,
			   what);
}

static bool find_measure(const char *name, size_t length,
			 enum gp_measure_id *id)
{
	for (unsigned i = 0; i < GP_MEASURES; i++)
		if (strlen(gp_measures[i].key) == length &&
		    !strncmp(gp_measures[i].key, name, length)) {
			*id = i;
			return true;
		}
	return false;
}

/* Parses a limit: "0.3" or "30%"; "12"; "4GiB". */
static bool parse_limit(const char *text, enum gp_measure_unit unit,
			double *limit)
{
	uint64_t bytes;
	char *end;

	if (unit == GP_UNIT_BYTES) {
		if (!gp_bytes_parse(text, &bytes))
			return false;
		*limit = (double)bytes;
		return true;
	}
	if (!isdigit((unsigned char)*text) && *text != '.')
		return false;
	*limit = strtod(text, &end);
	end += strspn(end, " ");
	if (unit == GP_UNIT_RATIO && *end == '%') {
		*limit /= 100;
		end++;
	}
	return !*skip_blanks(end) && *limit < 1e18;
}

/* Splits off " for 100 events" if present. */
static bool parse_duration(char *limit, uint64_t *events)
{
	char *words = strstr(limit, " for "), *end;

	*events = 1;
	if (!words)
		return true;
	*words = 0;
	words += strlen(" for ");
	words += strspn(words, " ");
	if (!isdigit((unsigned char)*words))
		return false;
	*events = strtoull(words, &end, 10);
	end += strspn(end, " ");
	return *events &&
	       (!*end || !strcmp(end, "events") || !strcmp(end, "event"));
}

static const char *parse_operator(const char *text, enum gp_alert_operator *op)
{
	bool or_equal = *text && text[1] == '=';

	if (*text == '>')
		*op = or_equal ? GP_AT_LEAST : GP_ABOVE;
	else if (*text == '<')
		*op = or_equal ? GP_AT_MOST : GP_BELOW;
	else
		return NULL;
	return text + 1 + or_equal;
}

enum gp_status gp_alert_parse(const char *text, struct gp_alert *alert,
			      struct gp_diag *diag)
{
	const char *name = skip_blanks(text);
	size_t length = strcspn(name, " \t<>=");
	const char *rest = skip_blanks(name + length);
	struct gp_alert new = { 0 };
	char limit[128];

	if (!length || !find_measure(name, length, &new.id))
		return bad(text, "there is no such measure",
			   "see: gpupool help metrics", diag);
	rest = parse_operator(rest, &new.op);
	if (!rest)
		return bad(text, "a comparison is missing: >, >=, < or <=",
			   "for example: fragmentation>0.3 for 100 events",
			   diag);
	if (snprintf(limit, sizeof(limit), "%s", skip_blanks(rest)) >=
	    (int)sizeof(limit))
		return bad(text, "it is too long",
			   "for example: fragmentation>0.3 for 100 events",
			   diag);
	cut_blanks(limit);
	if (!parse_duration(limit, &new.events))
		return bad(text,
			   "after the limit, only \"for N events\" can follow",
			   "for example: fragmentation>0.3 for 100 events",
			   diag);
	if (new.events > 1 && gp_measures[new.id].scope != GP_SCOPE_MOMENT)
		return bad(text, "this measure is one number for the whole run",
			   "leave out: for N events", diag);
	if (!parse_limit(limit, gp_measures[new.id].unit, &new.limit))
		return bad(
			text,
			"the limit is not a number in the unit of this measure",
			"bytes: 512MiB, 4GiB; a ratio: 0.3 or 30%", diag);
	*alert = new;
	return GP_OK;
}

/* ---- checking moments ---- */

static bool is_beyond(const struct gp_alert *alert, double value)
{
	switch (alert->op) {
	case GP_ABOVE: return value > alert->limit;
	case GP_AT_LEAST: return value >= alert->limit;
	case GP_BELOW: return value < alert->limit;
	case GP_AT_MOST: return value <= alert->limit;
	}
	return false;
}

static void note_worst(struct gp_alert *alert, double value)
{
	bool is_upper = alert->op == GP_ABOVE || alert->op == GP_AT_LEAST;

	if (!alert->length ||
	    (is_upper ? value > alert->worst : value < alert->worst))
		alert->worst = value;
}

/* Ends the first violation that fired. */
static void end_row(struct gp_alert *alert)
{
	if (alert->has_fired && !alert->has_ended) {
		alert->fired_length = alert->length;
		alert->has_ended = true;
	}
	alert->length = 0;
}

static void look(struct gp_alert *alert, double value, uint64_t event)
{
	if (!is_beyond(alert, value)) {
		end_row(alert);
		return;
	}
	if (alert->has_ended)
		return;
	if (!alert->length)
		alert->first = event;
	note_worst(alert, value);
	alert->length = event - alert->first + 1;
	if (alert->length >= alert->events && !alert->has_fired) {
		alert->has_fired = true;
		alert->fired_first = alert->first;
	}
}

void gp_alert_look(struct gp_alert *alert, const struct gp_moment *moment)
{
	struct gp_subject subject = { .moment = moment };

	if (gp_measures[alert->id].scope == GP_SCOPE_MOMENT)
		look(alert, gp_measure_value(alert->id, &subject),
		     moment->event);
}

void gp_alert_end(struct gp_alert *alert, const struct gp_replay_result *result)
{
	struct gp_subject subject = gp_at_end(result);

	if (gp_measures[alert->id].scope != GP_SCOPE_MOMENT)
		look(alert, gp_measure_value(alert->id, &subject), 0);
	end_row(alert);
}

/* ---- the message ---- */

static const char *value_text(enum gp_measure_unit unit, double value,
			      char text[GP_COUNT_TEXT])
{
	if (unit == GP_UNIT_BYTES)
		return gp_bytes_text((uint64_t)value, text);
	if (unit != GP_UNIT_RATIO)
		return gp_count_text((uint64_t)value, text);
	snprintf(text, GP_COUNT_TEXT, "%.4g", value);
	return text;
}

const char *gp_alert_text(const struct gp_alert *alert,
			  char text[GP_ALERT_TEXT])
{
	const struct gp_measure *measure = &gp_measures[alert->id];
	bool is_upper = alert->op == GP_ABOVE || alert->op == GP_AT_LEAST;
	char limit[GP_COUNT_TEXT], worst[GP_COUNT_TEXT];

	value_text(measure->unit, alert->limit, limit);
	value_text(measure->unit, alert->worst, worst);
	if (measure->scope != GP_SCOPE_MOMENT)
		snprintf(text, GP_ALERT_TEXT, "%s is %s, %s %s", measure->key,
			 worst, operators[alert->op].words, limit);
	else
		snprintf(text, GP_ALERT_TEXT,
			 "%s was %s %s for %s event%s from event %s on, %s at "
			 "the %s",
			 measure->key, operators[alert->op].words, limit,
			 GP_COUNT(alert->fired_length),
			 alert->fired_length == 1 ? "" : "s",
			 GP_COUNT(alert->fired_first), worst,
			 is_upper ? "most" : "least");
	return text;
}
