/* SPDX-License-Identifier: MIT */
/* What gpupool explain says of one moment, in words. */
#include "report/explain_words.h"

#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"
#include "base/quote.h"
#include "report/group.h"
#include "report/page.h"

static void say(struct explain_words *words, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Adds to what is said. */
static void say(struct explain_words *words, const char *format, ...)
{
	size_t n = strlen(words->text);
	va_list args;

	va_start(args, format);
	vsnprintf(words->text + n, sizeof(words->text) - n, format, args);
	va_end(args);
}

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

struct explain_words explain_moment(const struct gp_explain *e)
{
	const struct gp_gap *gap = &e->gap;
	struct explain_words words = { 0 };
	char reserved[GP_BYTES_TEXT], allocated[GP_BYTES_TEXT];
	char bytes[GP_BYTES_TEXT], percent[GP_PERCENT_TEXT], at[GP_EVENT_TEXT];
	double ratio =
		gap->reserved ? (double)gap->bytes / (double)gap->reserved : 0;

	if (e->result.first_oom.is_there)
		return words;
	if (e->has_requests)
		say(&words, "No request failed. At the peak, %s: ",
		    event_text(e, e->event, at));
	say(&words, "%s reserved, %s allocated, a gap of %s (%s).",
	    gp_bytes_text(gap->reserved, reserved),
	    gp_bytes_text(gap->allocated, allocated),
	    gp_bytes_text(gap->bytes, bytes), gp_percent_text(ratio, percent));
	return words;
}

/* ---- the request ---- */

/* Whose memory there is besides, where there is any. */
static void say_elsewhere(struct explain_words *words,
			  const struct gp_explain *e)
{
	char bytes[GP_BYTES_TEXT];

	if (e->free_other_stream)
		say(words, ", %s in other streams",
		    gp_bytes_text(e->free_other_stream, bytes));
	if (e->free_other_pool)
		say(words, ", %s in other pools",
		    gp_bytes_text(e->free_other_pool, bytes));
}

struct explain_words explain_request(const struct gp_explain *e)
{
	const struct gp_oom *oom = &e->result.first_oom;
	const struct gp_event *event;
	bool is_elsewhere = e->free_other_stream || e->free_other_pool;
	struct explain_words words = { 0 };
	char at[GP_EVENT_TEXT], size[GP_BYTES_TEXT], site[EXPLAIN_SITE];
	char held[GP_BYTES_TEXT], left[GP_BYTES_TEXT], own[GP_BYTES_TEXT];
	char largest[GP_BYTES_TEXT];
	char stream[GP_GROUP_LABEL], pool[GP_GROUP_LABEL];

	if (!oom->is_there)
		return words;
	event = &e->trace->devices[e->device].events[oom->event];
	say(&words, "At %s, %s were asked for%s",
	    gp_event_moment(e->trace, e->device, &e->steps, oom->event, at),
	    gp_bytes_text(oom->size, size),
	    explain_site(e->trace, oom->site, site));
	if (is_elsewhere)
		say(&words, ", for %s in the %s",
		    gp_group_label(e->trace, GP_BY_STREAM, event->stream,
				   stream),
		    gp_group_label(e->trace, GP_BY_POOL, event->pool, pool));
	say(&words,
	    ". Free: %s left on the device; %s reserved but unallocated",
	    gp_bytes_text(oom->device_free, left),
	    gp_bytes_text(e->gap.bytes, held));
	if (is_elsewhere)
		say(&words, ": %s in that stream and pool",
		    gp_bytes_text(e->free_its_own, own));
	if (e->free_its_own)
		say(&words, ", the largest piece %s",
		    gp_bytes_text(oom->largest_free, largest));
	say_elsewhere(&words, e);
	say(&words, ".");
	return words;
}

struct explain_words explain_release(const struct gp_explain *e)
{
	struct explain_words words = { 0 };
	char segments[GP_PLURAL_TEXT], blocks[GP_PLURAL_TEXT];
	char bytes[GP_BYTES_TEXT];

	if (e->to_release.segments)
		say(&words,
		    "Without %s (%s) %s would go back to the device: enough.",
		    gp_plural_text(e->to_release.blocks, "block", blocks),
		    gp_bytes_text(e->to_release.bytes, bytes),
		    gp_plural_text(e->to_release.segments, "segment",
				   segments));
	return words;
}

/* ---- the other requests that failed ---- */

struct explain_words explain_others(const struct gp_explain *e)
{
	struct explain_words words = { 0 };
	uint64_t others = e->result.ooms.count - 1;
	size_t small = 0;
	char count[GP_PLURAL_TEXT], text[GP_COUNT_TEXT];

	if (e->failure_count < 2)
		return words;
	for (size_t i = 1; i < e->failure_count; i++)
		small += e->failures[i].is_too_small;
	say(&words, "%s after it fail%s, too",
	    gp_plural_text(others, "request", count), others == 1 ? "s" : "");
	if (e->failure_count - 1 < others)
		say(&words, "; of the first %s",
		    gp_count_text(e->failure_count - 1, text));
	if (small)
		say(&words, ", for %s of them even what is live is too much",
		    gp_count_text(small, text));
	say(&words, ".");
	return words;
}

/* ---- what to do ---- */

/* What else the command was given. */
static void say_given(struct explain_words *words,
		      const struct gp_explanation *x)
{
	for (size_t i = 0; x->what_ifs && i < x->what_ifs->count; i++) {
		const struct gp_what_if *asked = &x->what_ifs->notes[i].asked;

		say(words, " --%s%s%s", asked->row->name,
		    asked->argument ? " " : "",
		    asked->argument ? asked->argument : "");
	}
	say(words, "%s", x->given ? x->given : "");
}

struct explain_words explain_command(const struct gp_explanation *x,
				     const struct gp_verdict *v)
{
	struct explain_words words = { 0 };
	char path[EXPLAIN_WORDS / 2], conf[EXPLAIN_WORDS / 4];

	if (!v->conf)
		return words;
	say(&words, "gpupool replay %s --alloc-conf %s",
	    gp_quote_shell(x->operand ? x->operand : x->path, path,
			   sizeof(path)),
	    gp_quote_shell(v->conf, conf, sizeof(conf)));
	say_given(&words, x);
	say(&words, " --compare");
	return words;
}

/* Runs where it did not, or saves a hundredth. */
static bool is_worth_it(const struct gp_attempt *base,
			const struct gp_attempt *trial)
{
	uint64_t least = base->peak_reserved - base->peak_reserved / 100;

	return trial->no_oom &&
	       (!base->no_oom || trial->peak_reserved <= least);
}

/* The best one, if it helps. */
static const struct gp_attempt *what_if_of(const struct gp_explain *e)
{
	for (size_t i = 0; i < e->attempt_count; i++)
		if (*e->attempts[i].flag &&
		    is_worth_it(&e->base, &e->attempts[i]))
			return &e->attempts[i];
	return NULL;
}

struct explain_words explain_what_if(const struct gp_explanation *x,
				     const struct gp_explain *e)
{
	const struct gp_attempt *best = what_if_of(e);
	struct explain_words words = { 0 };
	char path[EXPLAIN_WORDS / 2];

	if (!best)
		return words;
	say(&words, "gpupool replay %s %s",
	    gp_quote_shell(x->operand ? x->operand : x->path, path,
			   sizeof(path)),
	    best->flag);
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

const char *explain_fate(const struct gp_attempt *base,
			 const struct gp_attempt *trial,
			 char text[EXPLAIN_FATE])
{
	uint64_t was = base->peak_reserved, is = trial->peak_reserved;
	char part[GP_COUNT_TEXT];

	*text = '\0';
	if (!trial->no_oom)
		gp_plural_text(trial->ooms, "OOM", text);
	else if (!base->no_oom)
		snprintf(text, EXPLAIN_FATE, "no OOM");
	else if (is != was)
		snprintf(text, EXPLAIN_FATE, "%s%s", is > was ? "+" : "-",
			 gp_bytes_text(is > was ? is - was : was - is, part));
	return text;
}
