/* SPDX-License-Identifier: MIT */
/* Explaining a run by observed replays. */
#include "study/metrics/explain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/larger.h"
#include "base/mem.h"
#include "gpupool/study.h"
#include "study/floor/floor.h"
#include "study/metrics/culprit.h"
#include "study/metrics/track.h"
#include "study/what_if/what_if.h"
#include "trace/site.h"

static void notify(const struct gp_explain_config *config, const char *what)
{
	if (config->progress)
		config->progress(config->progress_arg, what);
}

/* ---- remedies other than settings ---- */

/* Each by a replay at the same capacity: what-ifs, and runs without the blocks
 * that pin most. */

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

	notify(config, trial->name);
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

/* Replays the run itself on the simulated device, like the what-ifs. */
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

/* Converts event numbers back to those of the trace: only preallocation adds
 * events, and at the beginning. */
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

/* What-ifs that are tried on one device. */
struct tries {
	const struct gp_explain_config *config;
	struct gp_explain *explain;
	/* The trace without what-ifs, if it has several devices; else no
	 * trace. */
	struct gp_what_ifs unchanged;
	struct gp_diag *diag;
};

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

/* Whether two start states differ in anything that a what-if may change. */
static bool starts_differ(const struct gp_state *a, const struct gp_state *b)
{
	bool differs = a->block_count != b->block_count ||
		       a->segment_count != b->segment_count;

	for (size_t i = 0; i < a->block_count && !differs; i++)
		differs = a->blocks[i].state != b->blocks[i].state ||
			  a->blocks[i].size != b->blocks[i].size;
	for (size_t i = 0; i < a->segment_count && !differs; i++)
		differs = a->segments[i].stream != b->segments[i].stream ||
			  a->segments[i].pool != b->segments[i].pool;
	return differs;
}

/* Whether the what-if changes this device: it may change only others. */
static bool changes_device(const struct tries *tries,
			   const struct gp_trace *altered)
{
	const struct gp_trace *unchanged = tries->unchanged.trace;
	const struct gp_device_trace *a, *b;

	if (!unchanged)
		return true;
	a = &altered->devices[tries->explain->device];
	b = &unchanged->devices[tries->explain->device];
	return a->event_count != b->event_count ||
	       (a->event_count &&
		memcmp(a->events, b->events,
		       a->event_count * sizeof(*a->events)) != 0) ||
	       starts_differ(&a->start, &b->start);
}

static enum gp_status try_what_if(const struct tries *tries,
				  const struct gp_what_if *asked,
				  const char *words)
{
	const struct gp_explain_config *config = tries->config;
	struct gp_explain *explain = tries->explain;
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
	if (made.notes->changes && changes_device(tries, made.trace) &&
	    still_asks(explain, made.trace)) {
		trial = add(explain, words);
		note_flag(trial, asked);
		status = play(config, made.trace, config->run->settings,
			      explain, trial, tries->diag);
		number_as_before(explain, made.trace, trial);
	}
	gp_what_ifs_release(&made);
	return status;
}

static enum gp_status try_what_ifs(const struct tries *tries)
{
	enum gp_status status = GP_OK;
	size_t count;
	const struct gp_what_if_row *rows = gp_what_if_table(&count);

	for (size_t i = 0; i < count && status == GP_OK; i++) {
		struct gp_what_if asked = { &rows[i], rows[i].tried };

		if (rows[i].words &&
		    gp_what_if_may_change(&rows[i], tries->explain->trace))
			status = try_what_if(tries, &asked, rows[i].words);
	}
	return status;
}

/* ---- remedies: to leave out the blocks that pin most ---- */

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

static enum gp_status try_without(const struct tries *tries)
{
	enum gp_status status = GP_OK;
	struct gp_explain *explain = tries->explain;
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
		status = try_what_if(tries, &asked, words);
		if (status == GP_OK)
			forget_if_large(explain, before);
	}
	return status;
}

/* ---- remedies by their worth ---- */

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

/* Fills in base and attempts of explain, whose moment has been examined. */
static enum gp_status attempts_run(const struct gp_explain_config *config,
				   struct gp_explain *explain,
				   struct gp_diag *diag)
{
	struct gp_what_if_config none = { .trace = explain->trace };
	struct tries tries = { .config = config,
			       .explain = explain,
			       .diag = diag };
	struct gp_diag ignored = { 0 };
	enum gp_status status;
	size_t what_ifs;

	snprintf(explain->base.name, sizeof(explain->base.name), "as it is");
	if (!explain->has_requests) { /* nothing would change */
		note(explain, &explain->base, &explain->result);
		return GP_OK;
	}
	gp_what_if_table(&what_ifs);
	explain->attempts =
		gp_mem_alloc(what_ifs + CULPRITS, sizeof(*explain->attempts));
	if (explain->trace->device_count > 1)
		gp_what_ifs_make(&none, &tries.unchanged, &ignored);
	status = play_base(config, explain, diag);
	if (status == GP_OK)
		status = try_what_ifs(&tries);
	if (status == GP_OK)
		status = try_without(&tries);
	gp_what_ifs_release(&tries.unchanged);
	qsort(explain->attempts, explain->attempt_count,
	      sizeof(*explain->attempts), by_worth);
	return status;
}

/* ---- whether live memory leaves room at all for what was not served ---- */

static uint64_t available(const struct gp_oom *oom)
{
	uint64_t device = oom->reserved + oom->device_free;

	return oom->limit < device ? oom->limit : device;
}

static uint64_t rounded(uint64_t size)
{
	return gp_round_up(size, GP_MIN_BLOCK_SIZE);
}

/* Requests that failed earlier and would be live now. */
struct dropped {
	uint64_t *sizes; /* by id */
	uint64_t bytes, event;
};

static void pass(struct dropped *d, const struct gp_event *events, uint64_t to)
{
	for (; d->bytes && d->event < to; d->event++) {
		const struct gp_event *e = &events[d->event];

		if (e->kind != GP_FREE)
			continue;
		d->bytes -= d->sizes[e->id];
		d->sizes[e->id] = 0;
	}
	d->event = to;
}

/* Requests that also failed in the recording do not count: the program
 * continued without them. */
static void drop(struct dropped *d, const struct gp_event *e)
{
	if (e->flags & GP_REFUSED || e->id == GP_NO_ID)
		return;
	d->sizes[e->id] = rounded(e->size);
	d->bytes += d->sizes[e->id];
}

static struct gp_failure judge(const struct gp_oom *oom, uint64_t dropped)
{
	struct gp_failure f = { .needed = oom->live + dropped +
					  rounded(oom->size),
				.available = available(oom) };

	f.is_too_small = f.needed > f.available;
	return f;
}

/* Judges all OOMs that the run kept, and stores the results in explain. */
static void failures_judge(struct gp_explain *explain)
{
	const struct gp_ooms *ooms = &explain->result.ooms;
	const struct gp_device_trace *device =
		&explain->trace->devices[explain->device];
	struct dropped d = { .sizes = gp_mem_alloc(device->block_ids, 8) };

	explain->failures =
		gp_mem_alloc(ooms->kept, sizeof(*explain->failures));
	explain->failure_count = ooms->kept;
	for (size_t i = 0; i < ooms->kept; i++) {
		const struct gp_oom *oom = &ooms->list[i];

		pass(&d, device->events, oom->event);
		explain->failures[i] = judge(oom, d.bytes);
		drop(&d, &device->events[oom->event]);
	}
	free(d.sizes);
}

/* ---- the moment ---- */

static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct gp_explain *explain = arg;

	(void)event;
	allocator->ops->state(allocator, &explain->state);
}

/* Replays the run while tracking it, and examines the state at the moment to
 * explain. */
static enum gp_status follow(const struct gp_explain_config *config,
			     const struct askers *askers,
			     struct gp_explain *explain, struct gp_diag *diag)
{
	struct gp_replay_config run = *config->run;
	struct gp_replay_result again;
	enum gp_status status;
	struct track *track = track_create(run.trace, run.device, run.settings,
					   askers, explain);

	notify(config, "following the run");
	run.action = track_action;
	run.action_arg = track;
	run.look = look;
	run.look_arg = explain;
	run.looks = &explain->event;
	run.look_count = 1;
	status = gp_replay(&run, &again, diag);
	track_end(track);
	if (status == GP_OK)
		gp_replay_release(&again);
	return status;
}

/* The work for a packing: some tenths of a second. */
#define FLOOR_WORK (UINT64_C(1) << 25)
#define TENTH	   10

static void find_floor(struct gp_explain *explain)
{
	struct gp_spans spans;
	const struct gp_floor_config config = { .spans = &spans,
						.work = FLOOR_WORK };
	struct gp_floor floor;

	gp_spans_of_trace(explain->trace, explain->device, GP_FLOOR_ROUND,
			  &spans);
	gp_floor_find(&config, &floor);
	explain->floor.bound = floor.bound;
	explain->floor.packing = floor.height;
	gp_floor_release(&floor);
	gp_spans_release(&spans);
}

/* The event to explain; without requests, that of the state in the file. The
 * start of a window may be the peak only because of cached memory, which
 * nothing in the window explains. */
static uint64_t moment_of(const struct gp_explain_config *config,
			  const struct gp_explain *explain)
{
	const struct gp_replay_result *result = &explain->result;

	if (result->first_oom.is_there)
		return result->first_oom.event;
	/* GP_AT_START without any event. */
	if (!explain->has_requests)
		return explain->trace->devices[explain->device].event_count -
		       UINT64_C(1);
	if (result->peak_is_from_start && !result->at_fullest.event)
		return gp_study_most_live(explain->trace, explain->device);
	return result->at_peak.event && !config->look_at_fullest
		       ? result->at_peak.event
		       : result->at_fullest.event;
}

/* Clears the durations: a state alone has no history. */
static void forget_times(struct gp_culprits *culprits)
{
	for (size_t i = 0; i < culprits->count; i++) {
		culprits->list[i].from_start = false;
		culprits->list[i].events = 0;
	}
}

static void hold_by(enum gp_hold_by by, const struct gp_explain *explain,
		    const struct gp_state *state, struct gp_culprits *live)
{
	struct askers askers;

	if (!askers_can_be(by, explain->trace))
		return;
	askers_init_by(&askers, by, explain->trace,
		       &explain->trace->devices[explain->device], NULL);
	culprits_live(&askers, state, explain->live_event, live);
	askers_release(&askers);
}

static void look_at_use(const struct askers *askers,
			const struct gp_state *state, uint64_t event,
			struct gp_explain *explain)
{
	explain->live_event = event;
	culprits_live(askers, state, event, &explain->live);
	hold_by(GP_HOLD_BY_CATEGORY, explain, state, &explain->by_category);
	hold_by(GP_HOLD_BY_MODULE, explain, state, &explain->by_module);
	for (size_t i = 0; i < explain->live.count; i++)
		explain->live_bytes += explain->live.list[i].bytes;
}

static void take_state(void *arg, struct gp_allocator *allocator,
		       uint64_t event)
{
	(void)event;
	allocator->ops->state(allocator, arg);
}

/* Examines what is in use at the moment of most memory in use on an unlimited
 * device. */
static enum gp_status look_at_most_use(const struct gp_explain_config *config,
				       const struct askers *askers,
				       struct gp_explain *explain,
				       struct gp_diag *diag)
{
	struct gp_replay_config run = *config->run;
	uint64_t event = config->is_too_small
				 ? gp_study_fullest(run.trace, run.device)
				 : gp_study_most_live(run.trace, run.device);
	struct gp_replay_result endless;
	struct gp_state state = { 0 };
	enum gp_status status;

	notify(config, "looking for the moment with the most in use");
	run.capacity = GP_UNLIMITED;
	run.look = take_state;
	run.look_arg = &state;
	run.looks = &event;
	run.look_count = 1;
	status = gp_replay(&run, &endless, diag);
	if (status != GP_OK)
		return status;
	look_at_use(askers, &state, event, explain);
	gp_state_release(&state);
	gp_replay_release(&endless);
	return GP_OK;
}

/* Whether clearly more memory is in use at another moment. */
static bool is_use_elsewhere(const struct gp_explain_config *config,
			     const struct gp_explain *explain)
{
	const struct gp_replay_result *result = &explain->result;
	uint64_t peak = gp_replay_peak_allocated(result);

	if (!explain->has_requests)
		return false;
	return config->is_too_small ||
	       (config->look_at_most_use && !result->first_oom.is_there &&
		explain->gap.allocated < peak - peak / TENTH);
}

/* Evaluates the state at the moment explained. */
static void look_at_state(const struct askers *askers,
			  const struct gp_settings *settings,
			  struct gp_explain *explain)
{
	gp_gap_of(explain->trace, settings, &explain->state, &explain->gap);
	gp_pins_of(settings, &explain->state, &explain->pins);
	culprits_now(askers, &explain->pins, explain->event, &explain->now);
	if (!explain->has_requests)
		explain->over_time.count = 0;
	if (explain->result.first_oom.is_there)
		gp_relief_find(&explain->result.first_oom, &explain->state,
			       &explain->relief);
}

enum gp_status gp_explain(const struct gp_explain_config *config,
			  struct gp_explain *explain, struct gp_diag *diag)
{
	struct gp_replay_config run = *config->run;
	const struct gp_device_trace *device = &run.trace->devices[run.device];
	struct askers askers;
	enum gp_status status;

	*explain = (struct gp_explain){ .trace = run.trace,
					.device = run.device,
					.capacity = run.capacity };
	notify(config, "replaying");
	run.keep_ooms = true;
	status = gp_replay(&run, &explain->result, diag);
	if (status != GP_OK)
		return status;
	explain->has_requests = gp_trace_has_allocs(device);
	explain->event = moment_of(config, explain);
	askers_init(&askers, run.trace, device);
	gp_steps_find(run.trace, run.device, &explain->steps);
	status = follow(config, &askers, explain, diag);
	if (status == GP_OK) {
		look_at_state(&askers, run.settings, explain);
		if (is_use_elsewhere(config, explain))
			status = look_at_most_use(config, &askers, explain,
						  diag);
		else
			look_at_use(&askers, &explain->state, explain->event,
				    explain);
		if (!explain->has_requests) {
			forget_times(&explain->now);
			forget_times(&explain->live);
		}
	}
	askers_release(&askers);
	if (status == GP_OK && !config->skip_attempts)
		status = attempts_run(config, explain, diag);
	if (status == GP_OK && !config->skip_attempts) {
		notify(config, "looking for a packing");
		find_floor(explain);
	}
	failures_judge(explain);
	if (status != GP_OK)
		gp_explain_release(explain);
	return status;
}

void gp_explain_release(struct gp_explain *explain)
{
	gp_replay_release(&explain->result);
	gp_state_release(&explain->state);
	gp_gap_release(&explain->gap);
	gp_pins_release(&explain->pins);
	free(explain->now.list);
	free(explain->over_time.list);
	free(explain->live.list);
	free(explain->by_category.list);
	free(explain->by_module.list);
	free(explain->retries.list);
	free(explain->empty_caches.list);
	free(explain->steps.list);
	free(explain->attempts);
	free(explain->failures);
	*explain = (struct gp_explain){ 0 };
}
