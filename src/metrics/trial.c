/* SPDX-License-Identifier: MIT */
/* What is tried, each by a replay at the same capacity. */
#include "metrics/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gpupool/remedy.h"
#include "gpupool/what_if.h"

enum gp_status trial_play(const struct gp_explain_config *config,
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
	trial->peak_allocated = gp_replay_peak_allocated(&result);
	trial->retries = (uint64_t)result.stats.num_alloc_retries;
	trial->ooms = (uint64_t)result.stats.num_ooms;
	trial->device_allocs = (uint64_t)result.stats.num_device_alloc;
	if (trial == &explain->base)
		explain->base_calls = result.calls;
	gp_replay_release(&result);
	return GP_OK;
}

struct gp_attempt *trial_add(struct gp_explain *explain, const char *name)
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
	trial = trial_add(explain,
			  *remedy->conf ? remedy->conf : "default settings");
	trial->conf = conf;
	trial->is_setting = trial->is_proof = true;
	return trial_play(config, explain->trace, &settings, explain, trial,
			  diag);
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
	explain->trials = gp_mem_alloc(remedies + what_ifs + TRIAL_CULPRITS,
				       sizeof(*explain->trials));
	snprintf(explain->base.name, sizeof(explain->base.name), "as it is");
	status = trial_play(config, explain->trace, config->run->settings,
			    explain, &explain->base, diag);
	if (status == GP_OK)
		status = try_remedies(config, explain, diag);
	if (status == GP_OK)
		status = trials_of_what_ifs(config, explain, diag);
	rank(explain);
	return status;
}
