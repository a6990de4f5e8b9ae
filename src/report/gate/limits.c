/* SPDX-License-Identifier: MIT */
/* Limits: parsing, comparing a baseline's numbers with the present ones, and
 * finding where a number that is worse first shows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "report/gate/gate.h"
#include "report/report.h"
#include "trace/site.h"

/* ---- limits: "+2%", "+64MiB", "72GiB", "100%", "0" ---- */

/* Digits with at most one point; the rest goes to *end. */
static bool parse_decimal(const char *text, double *value, const char **end)
{
	size_t length = strspn(text, "0123456789.");
	char *stop;

	*value = strtod(text, &stop);
	*end = text + length;
	return length && stop == *end && isfinite(*value);
}

static bool is_whole(double value)
{
	return value >= 0 && value < 9007199254740992.0 &&
	       value == floor(value);
}

static bool parse_bytes(const char *text, int64_t *amount)
{
	uint64_t bytes;

	if (!gp_bytes_parse(text, &bytes) || bytes > INT64_MAX)
		return false;
	*amount = (int64_t)bytes;
	return true;
}

static bool parse_count(const char *text, int64_t *amount)
{
	double value;
	const char *end;

	if (!parse_decimal(text, &value, &end) || *end || !is_whole(value))
		return false;
	*amount = (int64_t)value;
	return true;
}

/* 0.25, 25%, 25 points. */
static bool parse_ratio(const char *text, int64_t *amount)
{
	double value;
	const char *end;

	if (!parse_decimal(text, &value, &end))
		return false;
	end += strspn(end, " ");
	if (!strcmp(end, "%") || !strcmp(end, "points"))
		value /= 100;
	else if (*end)
		return false;
	if (value > 1)
		return false;
	*amount = (int64_t)round(value * GP_NUMBER_MILLION);
	return true;
}

static bool parse_amount(const struct gp_number *number, const char *text,
			 int64_t *amount)
{
	switch ((enum gp_number_unit)number->unit) {
	case GP_NUMBER_BYTES: return parse_bytes(text, amount);
	case GP_NUMBER_COUNT: return parse_count(text, amount);
	case GP_NUMBER_RATIO: return parse_ratio(text, amount);
	}
	return false;
}

static bool parse_share(const char *text, double *percent)
{
	const char *end;

	if (!parse_decimal(text, percent, &end))
		return false;
	end += strspn(end, " ");
	return !strcmp(end, "%");
}

static enum gp_status refuse(const struct gp_number *number, const char *text,
			     struct gp_diag *diag)
{
	static const char *const examples[] = {
		[GP_NUMBER_BYTES] = "\"+2%\", \"+64MiB\", \"72GiB\"",
		[GP_NUMBER_COUNT] = "0, \"+3\", \"+10%\"",
		[GP_NUMBER_RATIO] = "\"10%\", \"+2 points\", \"+5%\"",
	};

	gp_diag_hint(diag,
		     number->more_is_better
			     ? "for example: \"100%%\", \"-1 points\""
			     : "for example: %s; null for no limit",
		     examples[number->unit]);
	return gp_diag_set(diag, GP_INPUT, "\"%.32s\" is not a limit for %s",
			   text, number->name);
}

static enum gp_status refuse_sign(const struct gp_number *number,
				  struct gp_diag *diag)
{
	gp_diag_hint(diag, "a limit says how much worse than the baseline it "
			   "may be");
	return gp_diag_set(diag, GP_INPUT,
			   "a limit for %s begins with %c: %s is better",
			   number->name, number->more_is_better ? '-' : '+',
			   number->more_is_better ? "more" : "less");
}

enum gp_status gp_limit_parse(struct gp_limit *limit,
			      const struct gp_number *number, const char *text,
			      struct gp_diag *diag)
{
	bool is_relative = *text == '+' || *text == '-';
	const char *rest = text + is_relative;
	struct gp_limit made = { .number = limit->number };

	if (strlen(text) >= sizeof(made.text))
		return refuse(number, text, diag);
	if (is_relative && parse_share(rest, &made.share) && made.share <= 1e6)
		made.kind = GP_LIMIT_SHARE;
	else if (parse_amount(number, rest, &made.amount))
		made.kind = is_relative ? GP_LIMIT_BY : GP_LIMIT_VALUE;
	else
		return refuse(number, text, diag);
	if (is_relative && (*text == '-') != number->more_is_better)
		return refuse_sign(number, diag);
	snprintf(made.text, sizeof(made.text), "%s", text);
	*limit = made;
	return GP_OK;
}

static int64_t share_of(int64_t base, double percent)
{
	uint64_t share = gp_percent_of((uint64_t)base, percent);

	return share < INT64_MAX ? (int64_t)share : INT64_MAX;
}

int64_t gp_limit_bound(const struct gp_limit *limit,
		       const struct gp_number *number, int64_t baseline)
{
	int64_t by = limit->amount, base = baseline > 0 ? baseline : 0;

	if (limit->kind == GP_LIMIT_VALUE)
		return limit->amount;
	if (limit->kind == GP_LIMIT_SHARE)
		by = share_of(base, limit->share);
	if (number->more_is_better)
		return by > base ? 0 : base - by;
	return by > INT64_MAX - base ? INT64_MAX : base + by;
}

/* ---- verdicts ---- */

static enum gp_status cannot_hold(const struct gp_number *number,
				  struct gp_diag *diag)
{
	gp_diag_hint(diag,
		     strcmp(number->name, "fidelity") != 0
			     ? "the trace does not hold it, or that release of "
			       "PyTorch does not count it"
			     : "the trace has no addresses to compare, or "
			       "cannot be replayed as recorded");
	return gp_diag_set(diag, GP_INPUT,
			   "the limit for %s cannot be checked: the run has no "
			   "such number",
			   number->name);
}

static enum gp_status not_in_baseline(const struct gp_number *number,
				      struct gp_diag *diag)
{
	gp_diag_hint(
		diag,
		"look at the new number, then run: gpupool check --update");
	return gp_diag_set(diag, GP_INPUT,
			   "the baseline is stale: it has no %s to compare "
			   "with",
			   number->name);
}

static bool is_beyond(const struct gp_number *number, int64_t value,
		      int64_t bound)
{
	return number->more_is_better ? value < bound : value > bound;
}

static enum gp_status judge(const struct gp_number *number,
			    struct gp_gate_verdict *v, struct gp_diag *diag)
{
	bool needs_baseline = v->limit->kind != GP_LIMIT_VALUE;

	if (!v->now.is_there && !v->limit->is_default)
		return cannot_hold(number, diag);
	if (needs_baseline && !v->baseline.is_there)
		return not_in_baseline(number, diag);
	v->bound = gp_limit_bound(v->limit, number, v->baseline.value);
	v->is_worse =
		!v->now.is_there || is_beyond(number, v->now.value, v->bound);
	v->is_better = v->now.is_there && v->baseline.is_there &&
		       is_beyond(number, v->baseline.value, v->now.value);
	return GP_OK;
}

enum gp_status gp_gate_judge(const struct gp_gate_run *run,
			     const struct gp_numbers *numbers,
			     const struct gp_reading *baseline,
			     const struct gp_reading *now,
			     struct gp_gate_verdict *verdicts, size_t *count,
			     struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	size_t made = 0;

	for (size_t i = 0; i < run->limit_count && status == GP_OK; i++) {
		const struct gp_limit *limit = &run->limits[i];
		struct gp_gate_verdict v = {
			.limit = limit,
			.baseline = baseline[limit->number],
			.now = now[limit->number],
			.event = GP_EVENT_NONE,
		};

		if (limit->kind == GP_LIMIT_NONE)
			continue;
		/* The number is absent in both: a default limit does not
		 * apply. */
		if (limit->is_default && !v.now.is_there &&
		    !v.baseline.is_there)
			continue;
		status = judge(&numbers->items[limit->number], &v, diag);
		verdicts[made++] = v;
	}
	*count = made;
	return status;
}

/* ---- where it first shows ---- */

enum clue {
	CLUE_RESERVED,	/* the first moment beyond the bound */
	CLUE_DROPPED,	/* the first request beyond the bound */
	CLUE_FIDELITY,	/* the first mismatch */
	CLUE_ALLOCATED, /* since when the counter has been beyond the bound */
	CLUE_PEAK_ALLOCATED, /* the first moment beyond the bound */
	CLUE_RETRIES,	     /* the first retry beyond the bound */
	CLUE_OOMS,	     /* likewise */
};

static const struct {
	const char *name;
	enum clue clue;
} clues[] = {
	{ "peak_reserved_bytes", CLUE_RESERVED },
	{ "reserved_bytes.all.peak", CLUE_RESERVED },
	{ "peak_allocated_bytes", CLUE_PEAK_ALLOCATED },
	{ "allocated_bytes.all.peak", CLUE_ALLOCATED },
	{ "num_alloc_retries", CLUE_RETRIES },
	{ "num_ooms", CLUE_OOMS },
	{ "dropped", CLUE_DROPPED },
	{ "fidelity", CLUE_FIDELITY },
};

/* Of the requests that PyTorch refuses, only the first is known. */
static uint64_t dropped_beyond(const struct gp_replay_result *result,
			       int64_t bound)
{
	size_t n = bound > 0 ? (size_t)bound : 0;
	uint64_t oom =
		n < result->ooms.count ? result->ooms.events[n] : GP_EVENT_NONE;

	if (!result->refused)
		return oom;
	if (n)
		return GP_EVENT_NONE;
	return gp_smaller(oom, result->first_refusal_event);
}

static uint64_t event_of(enum clue clue, int64_t bound,
			 const struct gp_replay_result *result,
			 const struct gp_fingerprint_maker *maker,
			 const struct gp_gate_watch *watch)
{
	switch (clue) {
	case CLUE_ALLOCATED: return watch->event[GP_WATCH_ALLOCATED];
	case CLUE_PEAK_ALLOCATED: return watch->event[GP_WATCH_PEAK_ALLOCATED];
	case CLUE_RETRIES: return watch->event[GP_WATCH_RETRIES];
	case CLUE_RESERVED: return maker->reserved_event;
	case CLUE_OOMS: return watch->event[GP_WATCH_OOMS];
	case CLUE_DROPPED: return dropped_beyond(result, bound);
	case CLUE_FIDELITY:
		return result->fidelity.first.is_there
			       ? result->fidelity.first.event
			       : GP_EVENT_NONE;
	}
	return GP_EVENT_NONE;
}

#define MOST_LINE_DIGITS 9

/* The colon in "train.py:42 forward"; NULL: the text has no line. */
static const char *find_colon(const char *text)
{
	const char *colon;
	size_t digits;

	for (colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		digits = strspn(colon + 1, "0123456789");
		if (digits && digits <= MOST_LINE_DIGITS &&
		    (!colon[1 + digits] || colon[1 + digits] == ' '))
			return colon;
	}
	return NULL;
}

static void find_line(struct gp_gate_verdict *verdict,
		      const struct gp_trace *trace, uint32_t site)
{
	uint32_t frame = gp_site_frame(trace, site);
	const char *text, *colon;
	size_t length;

	if (frame == GP_NO_SITE)
		return;
	text = trace->texts[trace->sites[frame].text];
	colon = find_colon(text);
	length = colon ? (size_t)(colon - text) : 0;
	if (!length || length >= sizeof(verdict->source))
		return;
	memcpy(verdict->source, text, length);
	verdict->source[length] = '\0';
	verdict->line = strtoull(colon + 1, NULL, 10);
}

static void describe(struct gp_gate_verdict *verdict,
		     const struct gp_fingerprint_maker *maker)
{
	const struct gp_event *event = &maker->device->events[verdict->event];
	const char *kind = gp_event_kind_name(event->kind);

	snprintf(verdict->about, sizeof(verdict->about), "%s", kind);
	if (event->kind == GP_ALLOC)
		snprintf(verdict->about, sizeof(verdict->about), "%s of %s",
			 kind, GP_BYTES(event->size));
	gp_event_words(maker->trace,
		       (uint32_t)(maker->device - maker->trace->devices),
		       verdict->event, verdict->where);
	find_line(verdict, maker->trace, event->site);
}

static bool has_clue(const char *name, enum clue clue)
{
	for (size_t i = 0; i < sizeof(clues) / sizeof(*clues); i++)
		if (clues[i].clue == clue && !strcmp(clues[i].name, name))
			return true;
	return false;
}

int64_t gp_gate_reserved_bound(const struct gp_gate_run *run,
			       const struct gp_numbers *numbers,
			       const struct gp_reading *baseline)
{
	int64_t least = INT64_MAX;

	for (size_t i = 0; i < run->limit_count; i++) {
		const struct gp_limit *limit = &run->limits[i];
		const struct gp_number *number = &numbers->items[limit->number];
		int64_t bound;

		if (limit->kind == GP_LIMIT_NONE ||
		    !has_clue(number->name, CLUE_RESERVED))
			continue;
		bound = gp_limit_bound(limit, number,
				       baseline[limit->number].value);
		least = bound < least ? bound : least;
	}
	return least;
}

static int64_t watched(const struct gp_stats *stats, enum gp_watched which)
{
	const struct gp_stat *allocated =
		&stats->by_pool[GP_STAT_ALLOCATED_BYTES][GP_STAT_ALL];

	if (which == GP_WATCH_RETRIES)
		return stats->num_alloc_retries;
	if (which == GP_WATCH_OOMS)
		return stats->num_ooms;
	if (which == GP_WATCH_PEAK_ALLOCATED)
		return allocated->current;
	return allocated->peak;
}

bool gp_gate_watch_begin(struct gp_gate_watch *watch,
			 const struct gp_numbers *numbers,
			 const struct gp_gate_verdict *verdicts, size_t count)
{
	static const enum clue clue_of[GP_WATCHES] = {
		[GP_WATCH_ALLOCATED] = CLUE_ALLOCATED,
		[GP_WATCH_PEAK_ALLOCATED] = CLUE_PEAK_ALLOCATED,
		[GP_WATCH_RETRIES] = CLUE_RETRIES,
		[GP_WATCH_OOMS] = CLUE_OOMS,
	};
	bool any = false;

	*watch = (struct gp_gate_watch){ 0 };
	for (int w = 0; w < GP_WATCHES; w++) {
		watch->event[w] = GP_EVENT_NONE;
		watch->bound[w] = INT64_MAX;
		for (size_t i = 0; i < count; i++) {
			const struct gp_gate_verdict *v = &verdicts[i];
			size_t number = v->limit->number;

			if (!v->is_worse ||
			    !has_clue(numbers->items[number].name, clue_of[w]))
				continue;
			any = watch->is_worse[w] = true;
			if (v->bound < watch->bound[w])
				watch->bound[w] = v->bound;
		}
	}
	return any;
}

/* The value of a counter over the whole run: the program may reset
 * PyTorch's. */
static int64_t whole_run(struct gp_gate_watch *watch, enum gp_watched which,
			 int64_t now)
{
	if (now < watch->last[which])
		watch->before[which] += watch->last[which];
	watch->last[which] = now;
	return watch->before[which] + now;
}

void gp_gate_watch_look(void *arg, struct gp_allocator *allocator,
			uint64_t event)
{
	const struct gp_stats *stats = allocator->ops->stats(allocator);
	struct gp_gate_watch *watch = arg;

	for (int w = 0; w < GP_WATCHES; w++) {
		int64_t now = watched(stats, (enum gp_watched)w);
		bool is_beyond;

		if (!watch->is_worse[w])
			continue;
		if (w == GP_WATCH_RETRIES || w == GP_WATCH_OOMS)
			now = whole_run(watch, (enum gp_watched)w, now);
		is_beyond = now > watch->bound[w];
		/* The program has reset the counter: forget the event. */
		if (!is_beyond && w != GP_WATCH_PEAK_ALLOCATED)
			watch->event[w] = GP_EVENT_NONE;
		else if (is_beyond && watch->event[w] == GP_EVENT_NONE)
			watch->event[w] = event;
	}
}

void gp_verdict_locate(struct gp_gate_verdict *verdict,
		       const struct gp_numbers *numbers,
		       const struct gp_replay_result *result,
		       const struct gp_fingerprint_maker *maker,
		       const struct gp_gate_watch *watch)
{
	const char *name = numbers->items[verdict->limit->number].name;

	if (!verdict->is_worse)
		return;
	for (size_t i = 0; i < sizeof(clues) / sizeof(*clues); i++)
		if (!strcmp(clues[i].name, name))
			verdict->event = event_of(clues[i].clue, verdict->bound,
						  result, maker, watch);
	if (verdict->event < maker->device->event_count)
		describe(verdict, maker);
}
