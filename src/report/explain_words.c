/* SPDX-License-Identifier: MIT */
/* What gpupool explain says of one moment, and of the whole run, in words. */
#include "report/explain_words.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/text.h"
#include "gpupool/device.h"
#include "report/group.h"
#include "report/page.h"
#include "report/trouble.h"

const char *explain_site(const struct gp_trace *trace, uint32_t site,
			 char text[EXPLAIN_SITE])
{
	char name[GP_SITE_TEXT];

	*text = '\0';
	if (site != GP_NO_SITE)
		snprintf(text, EXPLAIN_SITE, " from %s",
			 gp_site_text(trace, site, name));
	return text;
}

static const char *event_text(const struct gp_explain *e, uint64_t event,
			      char text[GP_EVENT_TEXT])
{
	return gp_event_words_in(e->trace, e->device, &e->steps, event, text);
}

/* ---- the moment ---- */

bool explain_is_peak(const struct gp_explain *e)
{
	return e->gap.reserved >= e->result.at_peak.reserved;
}

struct gp_words explain_moment(const struct gp_explain *e,
			       const struct gp_verdict *verdict)
{
	/* See gp_explaining_run(). */
	bool is_limited = !gp_verdict_is_open(verdict) ||
			  verdict->capacity == GP_UNLIMITED;
	const struct gp_gap *gap = &e->gap;
	struct gp_words words = { 0 };
	char percent[GP_PERCENT_TEXT], at[GP_EVENT_TEXT];
	char others[GP_TROUBLE_OTHERS];
	double ratio =
		gap->reserved ? (double)gap->bytes / (double)gap->reserved : 0;

	if (e->result.first_oom.is_there)
		return words;
	if (e->has_requests)
		gp_say(&words, "%s failed. ",
		       is_limited ? "No request"
				  : "Without a limit, no request");
	if (e->result.others.missing)
		gp_say(&words, "%s. ",
		       gp_trouble_others(e->trace, e->device, &e->result.others,
					 others));
	if (e->has_requests)
		gp_say(&words, "%s, %s: ",
		       explain_is_peak(e) ? "At the peak"
					  : "Where most is in use",
		       event_text(e, e->event, at));
	gp_say(&words, "%s reserved, %s allocated, a gap of %s (%s).",
	       GP_BYTES(gap->reserved), GP_BYTES(gap->allocated),
	       GP_BYTES(gap->bytes), gp_percent_text(ratio, percent));
	return words;
}

/* ---- the request ---- */

/* Free memory of other streams and pools, if any. */
static void say_elsewhere(struct gp_words *words, const struct gp_oom *oom)
{
	if (oom->free_other_stream)
		gp_say(words, ", %s in other streams",
		       GP_BYTES(oom->free_other_stream));
	if (oom->free_other_pool)
		gp_say(words, ", %s in other pools",
		       GP_BYTES(oom->free_other_pool));
}

/* Names the pool. Each pool has a part for small and a part for large
 * blocks. */
static void say_pool(struct gp_words *words, const struct gp_explain *e)
{
	const struct gp_oom *oom = &e->result.first_oom;
	char stream[GP_GROUP_LABEL], pool[GP_GROUP_LABEL];

	gp_say(words, ", for %s in the %s",
	       gp_group_label(e->trace, GP_BY_STREAM, oom->stream, stream),
	       gp_group_label(e->trace, GP_BY_POOL, oom->route.pool, pool));
	if (oom->is_routed)
		gp_say(words, " of %s blocks",
		       oom->route.is_small ? "small" : "large");
}

struct gp_words explain_request(const struct gp_explain *e)
{
	const struct gp_oom *oom = &e->result.first_oom;
	bool is_elsewhere = oom->free_other_stream || oom->free_other_pool;
	struct gp_words words = { 0 };
	char at[GP_EVENT_TEXT], site[EXPLAIN_SITE], left[GP_TROUBLE_LEFT];

	if (!oom->is_there)
		return words;
	gp_say(&words, "At %s, %s were asked for%s",
	       gp_event_moment(e->trace, e->device, &e->steps, oom->event, at),
	       GP_BYTES(oom->size), explain_site(e->trace, oom->site, site));
	if (is_elsewhere)
		say_pool(&words, e);
	gp_say(&words, ". Free: %s; %s reserved but unallocated",
	       gp_trouble_left(oom, left), GP_BYTES(e->gap.bytes));
	if (is_elsewhere)
		gp_say(&words, ": %s in that stream and pool",
		       GP_BYTES(oom->free_its_own));
	if (oom->free_its_own)
		gp_say(&words, ", the largest piece %s",
		       GP_BYTES(oom->largest_free));
	say_elsewhere(&words, oom);
	gp_say(&words, ".");
	return words;
}

struct gp_words explain_relief(const struct gp_explain *e)
{
	struct gp_words words = { 0 };

	if (e->relief.segments)
		gp_say(&words,
		       "If %s (%s) in %s were free, it would have been served.",
		       GP_PLURAL(e->relief.blocks, "block"),
		       GP_BYTES(e->relief.bytes),
		       GP_PLURAL(e->relief.segments, "segment"));
	return words;
}

/* ---- the other requests that failed ---- */

/* How many of the failed requests that were examined do not fit, however blocks
 * are placed. */
static void say_too_small(struct gp_words *words, size_t looked, size_t small,
			  uint64_t others)
{
	char first[GP_COUNT_TEXT + 16] = "them";

	if (looked < others)
		snprintf(first, sizeof(first), "the first %s",
			 GP_COUNT(looked));
	if (others == 1)
		gp_say(words, "; it does not fit");
	else if (small == looked)
		gp_say(words, "; none of %s fits", first);
	else
		gp_say(words, "; %s of %s do%s not fit", GP_COUNT(small), first,
		       small == 1 ? "es" : "");
	gp_say(words, " beside what is live");
}

struct gp_words explain_others(const struct gp_explain *e)
{
	struct gp_words words = { 0 };
	uint64_t others = e->result.ooms.count - 1;
	size_t small = 0;

	if (e->failure_count < 2)
		return words;
	for (size_t i = 1; i < e->failure_count; i++)
		small += e->failures[i].is_too_small;
	gp_say(&words, "%s after it fail%s, too", GP_PLURAL(others, "request"),
	       others == 1 ? "s" : "");
	if (small)
		say_too_small(&words, e->failure_count - 1, small, others);
	gp_say(&words, ".");
	return words;
}

/* ---- what to do ---- */

/* Appends the other options that the user gave. */
static void say_given(struct gp_words *words, const struct gp_explanation *x)
{
	for (size_t i = 0; x->what_ifs && i < x->what_ifs->count; i++) {
		const struct gp_what_if *asked = &x->what_ifs->notes[i].asked;

		gp_say(words, " --%s%s%s", asked->row->name,
		       asked->argument ? " " : "",
		       asked->argument ? asked->argument : "");
	}
	gp_say(words, "%s", x->given ? x->given : "");
}

struct gp_words explain_command(const struct gp_explanation *x,
				const struct gp_verdict *v)
{
	struct gp_words words = { 0 };
	char path[GP_WORDS / 2], conf[GP_WORDS / 4];

	if (!v->conf)
		return words;
	gp_say(&words, "gpupool replay %s --alloc-conf %s",
	       gp_quote_shell(x->operand ? x->operand : x->path, path,
			      sizeof(path)),
	       gp_quote_shell(v->conf, conf, sizeof(conf)));
	say_given(&words, x);
	gp_say(&words, " --compare");
	return words;
}

/* Whether a what-if avoids the OOMs of the run as it is, or reserves at least 1
 * % less. */
static bool is_worth_it(const struct gp_attempt *base,
			const struct gp_attempt *trial)
{
	uint64_t least = base->peak_reserved - base->peak_reserved / 100;

	return trial->no_oom &&
	       (!base->no_oom || trial->peak_reserved <= least);
}

/* The first what-if that is worth showing, which is the best; NULL: none is. */
static const struct gp_attempt *what_if_of(const struct gp_explain *e)
{
	for (size_t i = 0; i < e->attempt_count; i++)
		if (*e->attempts[i].flag &&
		    is_worth_it(&e->base, &e->attempts[i]))
			return &e->attempts[i];
	return NULL;
}

struct gp_words explain_what_if(const struct gp_explanation *x,
				const struct gp_explain *e)
{
	const struct gp_attempt *best = what_if_of(e);
	const char *recorded = x->trace->settings;
	struct gp_words words = { 0 };
	char path[GP_WORDS / 2], conf[GP_WORDS / 4];

	if (!best)
		return words;
	gp_say(&words, "gpupool replay %s %s",
	       gp_quote_shell(x->operand ? x->operand : x->path, path,
			      sizeof(path)),
	       best->flag);
	if (strcmp(x->conf, recorded ? recorded : "") != 0)
		gp_say(&words, " --alloc-conf %s",
		       gp_quote_shell(x->conf, conf, sizeof(conf)));
	say_given(&words, x);
	return words;
}

bool explain_helps(const struct gp_attempt *base,
		   const struct gp_attempt *trial)
{
	if (!base->no_oom)
		return trial->serves && !base->serves;
	return trial->no_oom && trial->peak_reserved < base->peak_reserved;
}

#define NAME_COLUMNS 51 /* of the table */

const char *explain_name(const struct gp_attempt *trial,
			 char text[EXPLAIN_NAME])
{
	size_t flag = strlen(trial->flag);
	bool fits = flag && strlen(trial->name) + flag + 3 <= NAME_COLUMNS;

	snprintf(text, EXPLAIN_NAME, "%s%s%.60s%s", trial->name,
		 fits ? " (" : "", fits ? trial->flag : "", fits ? ")" : "");
	return text;
}

const char *explain_unserved(uint64_t ooms, bool has_room,
			     char text[GP_PLURAL_TEXT])
{
	if (ooms)
		return gp_plural_text(ooms, "OOM", text);
	return has_room ? "refused" : "no room";
}

const char *explain_served(uint64_t ooms_as_it_is, bool has_room_as_it_is)
{
	if (ooms_as_it_is)
		return "no OOM";
	return has_room_as_it_is ? "none refused" : "enough room";
}

const char *explain_fate(const struct gp_attempt *base,
			 const struct gp_attempt *trial,
			 char text[EXPLAIN_FATE])
{
	uint64_t was = base->peak_reserved, is = trial->peak_reserved;

	*text = '\0';
	if (!trial->no_oom && (!trial->ooms || base->no_oom || !trial->serves))
		return explain_unserved(trial->ooms, false, text);
	/* If there are several, the table has no room to say so. */
	if (!trial->no_oom)
		snprintf(text, EXPLAIN_FATE, "%s%s",
			 GP_PLURAL(trial->ooms, "OOM"),
			 trial->ooms < 100 ? ", later" : "");
	else if (!base->no_oom)
		return explain_served(base->ooms, false);
	else if (is != was)
		gp_bytes_change(was, is, text);
	return text;
}

/* ---- memory and blocks ---- */

#define WORTH 20 /* at least a twentieth of the first: its own line */

const struct gp_explain_reason_row explain_reasons[GP_GAP_REASONS] = {
	[GP_GAP_HELD] = { "held", "free, inside segments that are partly used",
			  "only their stream and pool can use it" },
	[GP_GAP_CACHED] = { "cached", "free, whole segments",
			    "released when memory runs out" },
	[GP_GAP_POOL] = { "private_pools",
			  "free, whole segments of private pools",
			  "for their pool only" },
	[GP_GAP_WAITING] = { "pending_free", "pending free",
			     "freed; another stream may still use it, or a "
			     "part of "
			     "its segment" },
};

const char *explain_note(const struct gp_explain *e, enum gp_gap_reason reason)
{
	const struct gp_oom *oom = &e->result.first_oom;

	if (reason == GP_GAP_CACHED && oom->is_routed && !oom->route.gives_back)
		return "kept while a pool is in use or a graph is captured; "
		       "torch.cuda.empty_cache() before that releases it";
	return explain_reasons[reason].note;
}

struct gp_words explain_reason(const struct gp_explain *e,
			       enum gp_gap_reason reason)
{
	const struct gp_gap_part *part = &e->gap.by_reason[reason];
	struct gp_words words;

	snprintf(words.text, GP_WORDS, "%s, largest %s; %s",
		 GP_PLURAL(part->blocks, "piece"), GP_BYTES(part->largest),
		 explain_note(e, reason));
	return words;
}

/* The stream that all pending blocks wait for; GP_NO_STREAM: none, several, or
 * unknown. */
static uint16_t awaited_stream(const struct gp_explain *e)
{
	const struct gp_device_trace *device = &e->trace->devices[e->device];
	bool *is_pending = gp_mem_alloc((size_t)device->block_ids + 1,
					sizeof(*is_pending));
	uint16_t stream = GP_NO_STREAM;
	bool is_one = true;

	for (size_t i = 0; i < e->state.block_count; i++) {
		const struct gp_block *b = &e->state.blocks[i];

		if (b->state == GP_PENDING_FREE && b->id < device->block_ids)
			is_pending[b->id] = true;
	}
	/* GP_AT_START + 1 is 0. */
	for (size_t i = 0; i < device->event_count && i < e->event + 1; i++) {
		const struct gp_event *event = &device->events[i];

		if (event->kind != GP_RECORD_STREAM || !is_pending[event->id])
			continue;
		is_one &= stream == GP_NO_STREAM || stream == event->stream;
		stream = event->stream;
	}
	free(is_pending);
	return is_one && stream < e->trace->stream_count ? stream
							 : GP_NO_STREAM;
}

const char *explain_reason_label(const struct gp_explain *e,
				 enum gp_gap_reason reason,
				 char text[EXPLAIN_REASON])
{
	uint16_t stream =
		reason == GP_GAP_WAITING ? awaited_stream(e) : GP_NO_STREAM;
	char name[GP_GROUP_LABEL];

	if (stream == GP_NO_STREAM)
		snprintf(text, EXPLAIN_REASON, "%s",
			 explain_reasons[reason].label);
	else
		snprintf(text, EXPLAIN_REASON, "%s (waits for %s)",
			 explain_reasons[reason].label,
			 gp_group_stream(e->trace->streams[stream], name));
	return text;
}

struct gp_words explain_within(const struct gp_gap *gap)
{
	struct gp_words words = { 0 };

	if (gap->rounding + gap->unsplit)
		snprintf(words.text, GP_WORDS,
			 "and within allocated memory: %s lost to rounding, %s "
			 "to blocks that were not split",
			 GP_BYTES(gap->rounding), GP_BYTES(gap->unsplit));
	return words;
}

const char *explain_who(const struct gp_trace *trace,
			const struct gp_culprit *c, char text[EXPLAIN_WHO])
{
	char least[GP_BYTES_TEXT], most[GP_BYTES_TEXT], site[EXPLAIN_SITE];
	bool is_range;

	gp_bytes_text(c->least, least);
	gp_bytes_text(c->most, most);
	is_range = strcmp(least, most) != 0;
	snprintf(text, EXPLAIN_WHO, "%s of %s%s%s%s",
		 GP_PLURAL(c->blocks, "block"), least, is_range ? " to " : "",
		 is_range ? most : "", explain_site(trace, c->site, site));
	return text;
}

/* "2 segments", of expandable ones "3 pages", of both "1 segment and 3 pages".
 */
#define UNITS_TEXT (2 * GP_PLURAL_TEXT + 8)
static const char *units_text(const struct gp_culprit *c, char text[UNITS_TEXT])
{
	uint64_t segments = c->units - c->pages;
	char a[GP_PLURAL_TEXT], b[GP_PLURAL_TEXT];

	gp_plural_text(segments, "segment", a);
	gp_plural_text(c->pages, "page", b);
	snprintf(text, UNITS_TEXT, "%s%s%s", segments ? a : "",
		 segments && c->pages ? " and " : "", c->pages ? b : "");
	return text;
}

struct gp_words explain_culprit_now(const struct gp_trace *trace,
				    const struct gp_culprit *c)
{
	struct gp_words words;
	char text[EXPLAIN_WHO], units[UNITS_TEXT], events[GP_PLURAL_TEXT];

	gp_plural_text(c->events, "event", events);
	snprintf(words.text, GP_WORDS, "%s %s %s in %s%s%s",
		 explain_who(trace, c, text), c->blocks == 1 ? "pins" : "pin",
		 GP_BYTES(c->bytes), units_text(c, units),
		 c->from_start ? ", some since before the trace"
		 : c->events   ? "; the oldest has lived for "
			       : "",
		 c->from_start || !c->events ? "" : events);
	return words;
}

struct gp_words explain_culprit_over_time(const struct gp_trace *trace,
					  const struct gp_culprit *c)
{
	struct gp_words words;
	char text[EXPLAIN_WHO];

	snprintf(words.text, GP_WORDS, "%s %s %s on average, for %s",
		 explain_who(trace, c, text), c->blocks == 1 ? "pins" : "pin",
		 GP_BYTES(c->bytes), GP_PLURAL(c->events, "event"));
	return words;
}

static double weight(const struct gp_culprit *c)
{
	return c->byte_events > 0 ? c->byte_events : (double)c->bytes;
}

size_t explain_worth_showing(const struct gp_culprits *culprits, size_t most)
{
	size_t n = 0;

	while (n < culprits->count && n < most &&
	       weight(&culprits->list[n]) * WORTH > weight(&culprits->list[0]))
		n++;
	return n;
}

/* ---- streams and pools ---- */

struct gp_words explain_pending(const struct gp_explain *e)
{
	struct gp_words words = { 0 };
	const struct gp_waiting *w = &e->waiting;
	char at[GP_EVENT_TEXT];

	if (!w->frees)
		return words;
	snprintf(words.text, GP_WORDS,
		 "%s pending, for another stream (record_stream): up to %s "
		 "at once, at %s; %s MiB x events in all.",
		 GP_PLURAL(w->frees, "free"), GP_BYTES(w->peak),
		 gp_event_words_in(e->trace, e->device, &e->steps,
				   w->peak_event, at),
		 GP_COUNT((uint64_t)(w->byte_events / 1048576)));
	return words;
}

/* ---- driver calls ---- */

struct gp_words explain_calls(const struct gp_explanation *x,
			      const struct gp_explain *e)
{
	struct gp_words words = { 0 };
	/* A verification makes no device calls: the recording stands in for the
	 * device. */
	const struct gp_device_calls *calls = &e->base_calls;
	double us =
		gp_price_of(x->prices, calls, e->result.counts.synchronizes);
	uint64_t given = e->retries.bytes;

	snprintf(words.text, GP_WORDS,
		 "%s cudaMalloc or map, %s cudaFree or unmap: driver calls of "
		 "about %.1f ms; %s retried%s%s%s.",
		 GP_COUNT((uint64_t)e->result.counts.device_allocs),
		 GP_COUNT((uint64_t)e->result.counts.device_frees), us / 1e3,
		 GP_PLURAL((uint64_t)e->result.counts.retries, "request"),
		 given ? ", " : "", given ? GP_BYTES(given) : "",
		 given ? " released to serve requests" : "");
	return words;
}

struct gp_words explain_caches(const struct gp_explain *e)
{
	struct gp_words words = { 0 };
	const struct gp_releases *r = &e->empty_caches;

	if (!r->count)
		return words;
	snprintf(words.text, GP_WORDS,
		 "%s of empty_cache released %s, of which %s were requested "
		 "again %s.",
		 GP_PLURAL(r->count, "call"), GP_BYTES(r->bytes),
		 GP_BYTES(r->paid_again),
		 e->steps.count ? "within a step" : "before the next one");
	return words;
}

/* ---- drift ---- */

/* The first step that reserves the most. */
static size_t fullest_step(const struct gp_steps *steps)
{
	uint64_t most = 0;
	size_t at = 0;

	for (size_t i = 0; i < steps->count; i++)
		if (steps->list[i].reserved > most) {
			most = steps->list[i].reserved;
			at = i;
		}
	return at;
}

/* The size class whose live bytes grew most between two steps. */
static unsigned grown_class(const struct gp_step *from,
			    const struct gp_step *to, uint64_t *bytes)
{
	unsigned class = 0;

	*bytes = 0;
	for (unsigned i = 0; i < GP_SIZE_CLASSES; i++)
		if (to->by_class[i] > from->by_class[i] &&
		    to->by_class[i] - from->by_class[i] > *bytes) {
			*bytes = to->by_class[i] - from->by_class[i];
			class = i;
		}
	return class;
}

struct gp_words explain_growth(const struct gp_explain *e)
{
	struct gp_words words = { 0 };
	const struct gp_steps *steps = &e->steps;
	const struct gp_step *from, *to;
	uint64_t grown = 0, by_class;
	unsigned class;

	if (!steps->count)
		return words;
	from = &steps->list[steps->count / 2];
	to = &steps->list[steps->count - 1];
	class = grown_class(from, to, &by_class);
	if (to->live_at_end > from->live_at_end)
		grown = to->live_at_end - from->live_at_end;
	if (!grown)
		return words;
	snprintf(words.text, GP_WORDS,
		 "What is live at a step's end grew by %s from step %" PRIu64
		 " to %" PRIu64 " (%s to %s), most in blocks of %s and up: %s.",
		 GP_BYTES(grown),
		 gp_step_number(e->trace, e->device, steps, steps->count / 2),
		 gp_step_number(e->trace, e->device, steps, steps->count - 1),
		 GP_BYTES(from->live_at_end), GP_BYTES(to->live_at_end),
		 GP_BYTES(UINT64_C(1) << class), GP_BYTES(by_class));
	return words;
}

struct gp_words explain_drift(const struct gp_explain *e)
{
	struct gp_words words = { 0 };
	const struct gp_steps *steps = &e->steps;
	const struct gp_step *first, *last;
	char from[2][GP_BYTES_TEXT], to[2][GP_BYTES_TEXT];
	size_t fullest;

	if (!steps->count) {
		snprintf(words.text, GP_WORDS,
			 "no steps found: no marks that repeat, and the "
			 "requests have no period.");
		return words;
	}
	fullest = fullest_step(steps);
	first = &steps->list[0];
	last = &steps->list[steps->count - 1];
	snprintf(words.text, GP_WORDS,
		 "%zu steps by %s%s: reserved %s in the first, %s in the "
		 "last, most in step %" PRIu64 "; largest gap %s and %s.",
		 steps->count,
		 steps->source == GP_STEPS_MARKS
			 ? *steps->name ? "marks of " : "numbered marks"
			 : "their period",
		 steps->name, gp_bytes_text(first->reserved, from[0]),
		 gp_bytes_text(last->reserved, to[0]),
		 gp_step_number(e->trace, e->device, steps, fullest),
		 gp_bytes_text(first->gap, from[1]),
		 gp_bytes_text(last->gap, to[1]));
	return words;
}
