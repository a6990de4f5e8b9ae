/* What is tried, each by a replay at the same capacity. */
#include "metrics/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "gpupool/remedy.h"
#include "gpupool/what_if.h"

#define CULPRITS 2 /* that are dropped, to see what that would save */

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
	trial->no_oom = !result.first_oom.is_there;
	trial->oom_event = result.first_oom.event;
	trial->oom_events = result.ooms.events;
	trial->oom_event_count = result.ooms.count;
	result.ooms.events = NULL;
	trial->serves = trial->no_oom || trial->oom_event > explain->event;
	trial->peak_reserved = result.at_peak.reserved;
	trial->peak_allocated =
		(uint64_t)result.stats
			.by_pool[GP_STAT_ALLOCATED_BYTES][GP_STAT_ALL]
			.peak;
	trial->retries = (uint64_t)result.stats.num_alloc_retries;
	trial->ooms = (uint64_t)result.stats.num_ooms;
	trial->device_allocs = (uint64_t)result.stats.num_device_alloc;
	if (trial == &explain->base)
		explain->base_calls = result.calls;
	gp_replay_release(&result);
	return GP_OK;
}

static struct gp_attempt *add(struct gp_explain *explain, const char *name)
{
	struct gp_attempt *trial = &explain->trials[explain->trial_count];

	trial->order = (uint32_t)explain->trial_count++;
	snprintf(trial->name, sizeof(trial->name), "%s", name);
	return trial;
}

static bool differ(const struct gp_settings *a, const struct gp_settings *b)
{
	return a->max_split_size != b->max_split_size ||
	       a->max_non_split_rounding != b->max_non_split_rounding ||
	       a->large_segment_size != b->large_segment_size ||
	       a->gc_threshold != b->gc_threshold ||
	       memcmp(a->divisions, b->divisions, sizeof(a->divisions)) != 0 ||
	       a->expandable_segments != b->expandable_segments;
}

/* False: not known to the run's release, or not another setting. */
static bool is_other(const struct gp_explain_config *config, const char *conf,
		     struct gp_settings *settings)
{
	const struct gp_replay_config *run = config->run;
	struct gp_diag ignored = { 0 };

	gp_settings_init(settings, run->settings->release);
	if (gp_settings_parse(settings, conf, &ignored) != GP_OK)
		return false;
	/* Collection begins at a share of a limit; without one there is none.
	 */
	if (settings->gc_threshold > 0 && run->capacity == GP_UNLIMITED)
		return false;
	return differ(settings, run->settings);
}

static enum gp_status try_remedy(const struct gp_explain_config *config,
				 const struct gp_remedy *remedy,
				 struct gp_explain *explain,
				 struct gp_diag *diag)
{
	char *conf = gp_remedy_conf(config->conf ? config->conf : "", remedy);
	struct gp_settings settings;
	struct gp_attempt *trial;

	if (!is_other(config, conf, &settings)) {
		free(conf);
		return GP_OK;
	}
	trial = add(explain, *remedy->conf ? remedy->conf : "default settings");
	trial->conf = conf;
	trial->is_setting = trial->is_proof = true;
	return play(config, explain->trace, &settings, explain, trial, diag);
}

static enum gp_status try_remedies(const struct gp_explain_config *config,
				   struct gp_explain *explain,
				   struct gp_diag *diag)
{
	enum gp_status status = GP_OK;
	size_t count;
	const struct gp_remedy *remedies = gp_remedy_table(&count);

	for (size_t i = 0; i < count && status == GP_OK; i++)
		status = try_remedy(config, &remedies[i], explain, diag);
	return status;
}

/* Of what is tried, only preallocation adds events: in front. */
static void number_as_before(const struct gp_explain *explain,
			     const struct gp_trace *altered,
			     struct gp_attempt *trial)
{
	size_t before = explain->trace->devices[explain->device].event_count;
	size_t added = altered->devices[explain->device].event_count - before;

	trial->oom_event -= trial->oom_event < added ? trial->oom_event : added;
	trial->serves = trial->no_oom || trial->oom_event > explain->event;
}

/* As a shell takes it for one word; "" where it cannot be. */
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

/* A request that is not made is not served. */
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

	/* Not of this trace. */
	if (gp_what_ifs_make(&make, &made, &ignored) != GP_OK)
		return GP_OK;
	if (made.notes->changes && still_asks(explain, made.trace)) {
		trial = add(explain, words);
		trial->is_proof = asked->row->is_proof;
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

/* ---- the blocks that hold most ---- */

/* Small ones that hold much: that it helps to drop what is large goes without
 * saying. */
static bool is_worth_dropping(const struct gp_culprit *culprit)
{
	return culprit->blocks * culprit->most <= culprit->bytes / 2;
}

/* "2.25MiB" */
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
	char least[GP_BYTES_TEXT], most[GP_BYTES_TEXT];

	if (culprit->site != GP_NO_SITE)
		snprintf(text, size, "%s",
			 trace->texts[trace->sites[culprit->site].text]);
	else if (culprit->least == culprit->most)
		snprintf(text, size, "size:%s",
			 bytes_word(culprit->most, most));
	else
		snprintf(text, size, "size:%s..%s",
			 bytes_word(culprit->least, least),
			 bytes_word(culprit->most, most));
}

/* What else has the same site can be most of the program. */
static void forget_if_large(struct gp_explain *explain, size_t before)
{
	const struct gp_attempt *trial = &explain->trials[before];

	if (explain->trial_count == before ||
	    trial->peak_allocated >= explain->base.peak_allocated / 10 * 9)
		return;
	free(trial->oom_events);
	explain->trial_count = before;
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
		size_t before = explain->trial_count;
		char blocks[128], words[64];

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

/* Who goes further: without OOM, else with a later one. */
static int by_reach(const struct gp_attempt *x, const struct gp_attempt *y)
{
	if (x->no_oom != y->no_oom)
		return x->no_oom ? -1 : 1;
	if (!x->no_oom && x->oom_event != y->oom_event)
		return x->oom_event > y->oom_event ? -1 : 1;
	return 0;
}

/* Best first: those that go furthest, then by what they reserve. */
static int by_worth(const void *a, const void *b)
{
	const struct gp_attempt *x = a, *y = b;
	int order = by_reach(x, y);

	if (order)
		return order;
	if (x->peak_reserved != y->peak_reserved)
		return x->peak_reserved < y->peak_reserved ? -1 : 1;
	return x->order < y->order ? -1 : 1;
}

/* Whoever is out of memory wants the least unusual setting that helps: the
 * first that was tried of those that go as far as the best. */
static size_t cure_of(const struct gp_explain *explain)
{
	const struct gp_attempt *list = explain->trials;
	size_t n = explain->trial_count, best = 0, cure;

	while (best < n && !list[best].is_setting)
		best++;
	cure = best;
	for (size_t i = best; !explain->base.no_oom && i < n; i++)
		if (list[i].is_setting && !by_reach(&list[i], &list[best]) &&
		    list[i].order < list[cure].order)
			cure = i;
	return cure;
}

static void rank(struct gp_explain *explain)
{
	struct gp_attempt *list = explain->trials, cure;
	size_t n = explain->trial_count, at;

	if (!n)
		return;
	qsort(list, n, sizeof(*list), by_worth);
	at = cure_of(explain);
	if (at == n || by_reach(&list[at], &explain->base) >= 0)
		return;
	/* What is no setting stays before it when it goes further. */
	cure = list[at];
	for (;
	     at && (list[at - 1].is_setting || !by_reach(&list[at - 1], &cure));
	     at--)
		list[at] = list[at - 1];
	list[at] = cure;
}

const struct gp_attempt *gp_explain_cure(const struct gp_explain *explain)
{
	const struct gp_attempt *base = &explain->base, *cure = NULL;

	for (size_t i = 0; i < explain->trial_count && !cure; i++)
		if (explain->trials[i].is_setting)
			cure = &explain->trials[i];
	if (!cure)
		return NULL;
	if (base->no_oom)
		return cure->no_oom && cure->peak_reserved < base->peak_reserved
			       ? cure
			       : NULL;
	return by_reach(cure, base) < 0 ? cure : NULL;
}

enum gp_status trials_run(const struct gp_explain_config *config,
			  struct gp_explain *explain, struct gp_diag *diag)
{
	enum gp_status status;
	size_t remedies, what_ifs;

	if (explain->verdict == GP_NO_REQUESTS)
		return GP_OK; /* nothing would come out otherwise */
	gp_remedy_table(&remedies);
	gp_what_if_table(&what_ifs);
	explain->trials = gp_mem_alloc(remedies + what_ifs + CULPRITS,
				       sizeof(*explain->trials));
	snprintf(explain->base.name, sizeof(explain->base.name), "as it is");
	status = play(config, explain->trace, config->run->settings, explain,
		      &explain->base, diag);
	if (status == GP_OK)
		status = try_remedies(config, explain, diag);
	if (status == GP_OK)
		status = try_what_ifs(config, explain, diag);
	if (status == GP_OK)
		status = try_without(config, explain, diag);
	rank(explain);
	return status;
}
