/* SPDX-License-Identifier: MIT */
/* Attempts, each by a replay at the same capacity: what-ifs, and runs without
 * the blocks that pin most. */
#include "study/metrics/attempt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "trace/site.h"
#include "study/what_if/what_if.h"

#define CULPRITS 2 /* culprits that are left out in an attempt */

static void note(struct gp_explain *explain, struct gp_attempt *trial,
		 const struct gp_replay_result *result)
{
	const struct gp_oom *oom = &result->first_oom;
	const struct gp_no_room *others = &result->others;

	trial->no_oom = gp_replay_has_room(result);
	trial->oom_event = oom->event;
	if (others->missing && (!oom->is_there || others->event < oom->event))
		trial->oom_event = others->event;
	trial->serves = trial->no_oom || trial->oom_event > explain->event;
	trial->peak_reserved = result->at_peak.reserved;
	trial->peak_allocated = gp_replay_peak_allocated(result);
	trial->retries = (uint64_t)result->counts.retries;
	trial->ooms = result->ooms.count;
	trial->mallocs_and_pages = result->calls.malloc + result->calls.map;
	if (trial == &explain->base)
		explain->base_calls = result->calls;
}

static enum gp_status play(const struct gp_explain_config *config,
			   const struct gp_trace *trace,
			   const struct gp_settings *with,
			   struct gp_explain *explain, struct gp_attempt *trial,
			   struct gp_diag *diag)
{
	struct gp_replay_config run = *config->run;
	struct gp_replay_result result;
	enum gp_status status;

	if (config->progress)
		config->progress(config->progress_arg, trial->name);
	run.trace = trace;
	run.settings = with;
	run.mode = GP_WHAT_IF;
	run.on_oom = GP_OOM_GO_ON;
	run.action = NULL;
	run.look = NULL;
	status = gp_replay(&run, &result, diag);
	if (status != GP_OK)
		return status;
	note(explain, trial, &result);
	gp_replay_release(&result);
	return GP_OK;
}

/* Replays the run itself on the simulated device, as the what-ifs are. */
static enum gp_status play_base(const struct gp_explain_config *config,
				struct gp_explain *explain,
				struct gp_diag *diag)
{
	const struct gp_replay_config *run = config->run;

	if (run->mode != GP_WHAT_IF || run->on_oom != GP_OOM_GO_ON)
		return play(config, explain->trace, run->settings, explain,
			    &explain->base, diag);
	note(explain, &explain->base, &explain->result);
	return GP_OK;
}

static struct gp_attempt *add(struct gp_explain *explain, const char *name)
{
	struct gp_attempt *trial = &explain->attempts[explain->attempt_count];

	explain->attempt_count++;
	snprintf(trial->name, sizeof(trial->name), "%s", name);
	return trial;
}

/* Only preallocation adds events, in front: converts event numbers back to
 * those of the trace. */
static void number_as_before(const struct gp_explain *explain,
			     const struct gp_trace *altered,
			     struct gp_attempt *trial)
{
	size_t before = explain->trace->devices[explain->device].event_count;
	size_t added = altered->devices[explain->device].event_count - before;

	trial->oom_event -= trial->oom_event < added ? trial->oom_event : added;
	trial->serves = trial->no_oom || trial->oom_event > explain->event;
}

/* Quotes text as one word for a shell; "" if that is not possible. */
static void quote(const char *text, char *word, size_t size)
{
	size_t safe = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				   "abcdefghijklmnopqrstuvwxyz"
				   "0123456789_./:%,+@=-");
	const char *mark = text[safe] ? "'" : "";

	*word = '\0';
	if (!strchr(text, '\'') && strlen(text) + 3 <= size)
		snprintf(word, size, "%s%s%s", mark, text, mark);
}

static void note_flag(struct gp_attempt *trial, const struct gp_what_if *asked)
{
	char word[128] = "";

	if (asked->argument)
		quote(asked->argument, word, sizeof(word));
	if (*word || !asked->argument)
		snprintf(trial->flag, sizeof(trial->flag), "--%s%s%s",
			 asked->row->name, *word ? " " : "", word);
}

/* Whether the request that failed is still made: one that is left out does not
 * count as served. */
static bool still_asks(const struct gp_explain *explain,
		       const struct gp_trace *altered)
{
	const struct gp_device_trace *a = &altered->devices[explain->device];
	const struct gp_device_trace *b =
		&explain->trace->devices[explain->device];

	return explain->base.no_oom || a->event_count != b->event_count ||
	       b->events[explain->event].kind != GP_ALLOC ||
	       a->events[explain->event].kind == GP_ALLOC;
}

static enum gp_status try_what_if(const struct gp_explain_config *config,
				  const struct gp_what_if *asked,
				  const char *words, struct gp_explain *explain,
				  struct gp_diag *diag)
{
	struct gp_what_if_config make = { .trace = explain->trace,
					  .asked = asked,
					  .count = 1 };
	struct gp_what_ifs made;
	struct gp_diag ignored = { 0 };
	struct gp_attempt *trial;
	enum gp_status status = GP_OK;

	/* The what-if does not apply to this trace. */
	if (gp_what_ifs_make(&make, &made, &ignored) != GP_OK)
		return GP_OK;
	if (made.notes->changes && still_asks(explain, made.trace)) {
		trial = add(explain, words);
		note_flag(trial, asked);
		status = play(config, made.trace, config->run->settings,
			      explain, trial, diag);
		number_as_before(explain, made.trace, trial);
	}
	gp_what_ifs_release(&made);
	return status;
}

static enum gp_status try_what_ifs(const struct gp_explain_config *config,
				   struct gp_explain *explain,
				   struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);

	for (size_t i = 0; i < count && status == GP_OK; i++) {
		struct gp_what_if asked = { &rows[i], rows[i].tried };

		if (rows[i].words)
			status = try_what_if(config, &asked, rows[i].words,
					     explain, diag);
	}
	return status;
}

/* ---- the blocks that pin most ---- */

/* Only blocks that are small compared with what they pin are tried: that
 * dropping large ones helps is obvious. */
static bool is_worth_dropping(const struct gp_culprit *culprit)
{
	return culprit->blocks * culprit->most <= culprit->bytes / 2;
}

/* A size as one word: "2.25MiB". */
static const char *bytes_word(uint64_t bytes, char text[GP_BYTES_TEXT])
{
	char *blank;

	gp_bytes_text(bytes, text);
	blank = strchr(text, ' ');
	if (blank)
		memmove(blank, blank + 1, strlen(blank));
	return text;
}

static void name_blocks(const struct gp_trace *trace,
			const struct gp_culprit *culprit, char *text,
			size_t size)
{
	char least[GP_BYTES_TEXT], most[GP_BYTES_TEXT], site[GP_SITE_TEXT];

	if (culprit->site != GP_NO_SITE)
		snprintf(text, size, "%s",
			 gp_site_text(trace, culprit->site, site));
	else if (culprit->least == culprit->most)
		snprintf(text, size, "size:%s",
			 bytes_word(culprit->most, most));
	else
		snprintf(text, size, "size:%s..%s",
			 bytes_word(culprit->least, least),
			 bytes_word(culprit->most, most));
}

/* Drops the attempt if too much was left out: blocks of the same site may be
 * most of the program. */
static void forget_if_large(struct gp_explain *explain, size_t before)
{
	const struct gp_attempt *trial = &explain->attempts[before];

	if (explain->attempt_count == before ||
	    trial->peak_allocated >= explain->base.peak_allocated / 10 * 9)
		return;
	explain->attempt_count = before;
}

static enum gp_status try_without(const struct gp_explain_config *config,
				  struct gp_explain *explain,
				  struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	const struct gp_culprits *now = &explain->now;

	for (size_t i = 0; i < now->count && i < CULPRITS && status == GP_OK;
	     i++) {
		struct gp_what_if asked = { gp_what_if_find("without-site"),
					    NULL };
		size_t before = explain->attempt_count;
		char blocks[GP_SITE_TEXT], words[64];

		if (!is_worth_dropping(&now->list[i]))
			continue;
		name_blocks(explain->trace, &now->list[i], blocks,
			    sizeof(blocks));
		asked.argument = blocks;
		snprintf(words, sizeof(words), "without %.50s", blocks);
		status = try_what_if(config, &asked, words, explain, diag);
		if (status == GP_OK)
			forget_if_large(explain, before);
	}
	return status;
}

/* ---- ranking ---- */

/* Most helpful first: without OOM, or with the latest first OOM; then by
 * reserved memory. */
static int by_worth(const void *a, const void *b)
{
	const struct gp_attempt *x = a, *y = b;

	if (x->no_oom != y->no_oom)
		return x->no_oom ? -1 : 1;
	if (!x->no_oom && x->oom_event != y->oom_event)
		return x->oom_event > y->oom_event ? -1 : 1;
	if (x->peak_reserved != y->peak_reserved)
		return x->peak_reserved < y->peak_reserved ? -1 : 1;
	return strcmp(x->name, y->name);
}

enum gp_status attempts_run(const struct gp_explain_config *config,
			    struct gp_explain *explain, struct gp_diag *diag)
{
	enum gp_status status;
	size_t what_ifs;

	if (!explain->has_requests)
		return GP_OK; /* nothing would change */
	gp_what_if_table(&what_ifs);
	explain->attempts =
		gp_mem_alloc(what_ifs + CULPRITS, sizeof(*explain->attempts));
	snprintf(explain->base.name, sizeof(explain->base.name), "as it is");
	status = play_base(config, explain, diag);
	if (status == GP_OK)
		status = try_what_ifs(config, explain, diag);
	if (status == GP_OK)
		status = try_without(config, explain, diag);
	qsort(explain->attempts, explain->attempt_count,
	      sizeof(*explain->attempts), by_worth);
	return status;
}
