/* SPDX-License-Identifier: MIT */
/*
 * A search of all values of the numeric settings.
 *
 * The space of all settings is divided into slices: with and without expandable
 * segments, and by each rounding. Within a slice, every max_split_size_mb and
 * every garbage_collection_threshold is covered by few replays (cover.h). In
 * addition, every large_segment_size_mb up to 1024 is searched: first alone,
 * with sizes only rounded to 512 bytes, and then together with all the others.
 */
#include "study/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "study/choice.h"
#include "study/cover.h"
#include "study/sweep/thread_pool.h"

#define MIB	       (UINT64_C(1) << 20)
#define MOST_DIVISIONS 64 /* above, rounding adds 1.6 % at most */
#define LEAST_LARGE    11 /* MiB of large_segment_size_mb */
#define MOST_LARGE     1024
#define MOST_FOUND     16  /* most trials that a slice adds */
#define SLICES	       16  /* 2 times: none, and 1 to MOST_DIVISIONS */
#define TOGETHER       32  /* 1/32 of the budget */
#define BELOW	       256 /* 1/256 of it for the least need */
#define FEW	       1000
#define TURNS	       8 /* in which a slice gets its part of the budget */

struct slice {
	bool is_expandable;
	unsigned divisions;   /* 0: none */
	uint64_t large_bytes; /* 0: the default */
	uint64_t large_most;  /* largest one to cover, in MiB; 0: none */
	/* 0: the case's own; else it goes down to find the least need. */
	uint64_t capacity;
	size_t index; /* the case that is searched */
};

static char *conf_of(const struct session *s, const struct slice *slice)
{
	char conf[128] = "", part[48];
	size_t n = 0;

	if (slice->is_expandable)
		n += (size_t)snprintf(conf, sizeof(conf), "%s",
				      "expandable_segments:True");
	if (slice->divisions) {
		snprintf(part, sizeof(part), "%sroundup_power2_divisions:%u",
			 n ? "," : "", slice->divisions);
		n += (size_t)snprintf(conf + n, sizeof(conf) - n, "%s", part);
	}
	if (slice->large_bytes)
		snprintf(conf + n, sizeof(conf) - n,
			 "%slarge_segment_size_mb:%llu", n ? "," : "",
			 (unsigned long long)(slice->large_bytes / MIB));
	return gp_candidate_apply(s->config->conf, conf);
}

static const struct gp_case *case_of(const struct session *s,
				     const struct slice *slice)
{
	return &s->config->cases[slice->index];
}

static uint64_t capacity_of(const struct session *s, const struct slice *slice)
{
	return slice->capacity ? slice->capacity : case_of(s, slice)->capacity;
}

/* Whether the slice has to be searched: the release accepts the settings, they
 * may be used, and live memory, rounded by them, fits. */
static bool is_open(const struct session *s, const struct slice *slice,
		    const char *conf, struct gp_settings *settings)
{
	const struct gp_case *c = case_of(s, slice);
	struct gp_diag ignored = { 0 };

	gp_settings_init(settings, s->config->release);
	return s->status == GP_OK && !trial_must_not(s, conf) &&
	       gp_settings_parse(settings, conf, &ignored) == GP_OK &&
	       gp_study_live_rounded(c->trace, c->device, settings) <=
		       capacity_of(s, slice);
}

static void add_found(struct session *s, const char *conf)
{
	struct gp_trial *trial =
		trial_add(s, gp_mem_copy_text(conf, strlen(conf)), NULL);

	if (trial)
		trial_play(s, trial);
}

/* Lowers the capacity to a granule below the least need of all trials; false:
 * it is not above that. */
static bool lower(struct session *s, uint64_t *capacity)
{
	size_t nearest = choice_nearest(s);
	uint64_t need = trial_need(s, &s->study->trials[nearest]);

	if (need == GP_UNLIMITED || need <= GP_DEVICE_GRAIN ||
	    need - GP_DEVICE_GRAIN >= *capacity)
		return false;
	*capacity = need - GP_DEVICE_GRAIN;
	return true;
}

/* ---- max_split_size_mb and garbage_collection_threshold ---- */

static void take_over(struct session *s, const struct gp_cover *cover,
		      struct search *search)
{
	size_t found = 0;

	search->runs += cover->runs;
	s->study->replays += cover->runs;
	search->is_complete &= cover->complete;
	for (size_t i = 0; i < cover->count; i++) {
		/* The conf of a box leaves the setting unset if the box allows
		 * it. */
		if (trial_must_not(s, cover->boxes[i].conf))
			continue;
		/* The box was proven for one case at one capacity, and its conf
		 * may fail for the other cases or with more memory. Then other
		 * values of the box would have to be tried. */
		search->is_complete = false;
		if (found++ < MOST_FOUND)
			add_found(s, cover->boxes[i].conf);
	}
}

/* A slice that is searched. */
struct part {
	char *conf; /* owned */
	bool is_open;
	struct gp_cover_config config;
	struct gp_cover cover;
	struct gp_diag diag;
	enum gp_status status;
};

/* Slices that are searched side by side. */
struct parts {
	struct session *s;
	struct part items[SLICES];
	struct part *turn[SLICES]; /* those that are searched on */
	size_t turn_count;
	uint32_t runs;
	bool is_descending;
};

static void open_part(struct parts *parts, struct part *part,
		      const struct slice *slice)
{
	const struct session *s = parts->s;
	const struct gp_case *c = case_of(s, slice);
	struct gp_settings settings;

	part->conf = conf_of(s, slice);
	part->is_open = is_open(s, slice, part->conf, &settings);
	part->config = (struct gp_cover_config){
		.trace = c->trace,
		.device = c->device,
		.release = s->config->release,
		.conf = part->conf,
		.engine = s->config->engine,
		.capacity = capacity_of(s, slice),
		.large_most = slice->large_most,
		.refused = s->refused[slice->index],
		.first_only = slice->capacity ||
			      (slice->large_most && !s->config->without_count),
	};
}

static void search_part(void *arg, size_t piece)
{
	const struct parts *parts = arg;
	struct part *part = parts->turn[piece];

	part->status =
		gp_cover_search(&part->config, &part->cover, &part->diag);
}

static void notify(void *arg, size_t piece)
{
	const struct parts *parts = arg;
	const struct session *s = parts->s;
	char what[64];

	(void)piece;
	if (!s->config->progress)
		return;
	snprintf(what, sizeof(what), "searching all values: %u replays",
		 s->study->replays + parts->runs);
	s->config->progress(s->config->progress_arg, what);
}

/* Chooses the slices to search on, and how many replays each may make. false:
 * there are none, or nothing is left of the budget. */
static bool take_turn(struct parts *parts, uint32_t budget)
{
	uint32_t left = budget - parts->runs, share;

	parts->turn_count = 0;
	for (size_t i = 0; i < SLICES; i++) {
		struct part *part = &parts->items[i];

		if (part->is_open && part->status == GP_OK &&
		    !part->cover.is_over && parts->turn_count < left)
			parts->turn[parts->turn_count++] = part;
	}
	if (!parts->turn_count)
		return false;
	share = left / (uint32_t)parts->turn_count;
	share = (share + TURNS - 1) / TURNS;
	for (size_t i = 0; i < parts->turn_count; i++)
		parts->turn[i]->config.budget =
			parts->turn[i]->cover.runs + share;
	return true;
}

/*
 * Goes on below the need of what a part has found. What failed with more memory
 * needs that much at least, so it stays covered. What was found fails with less
 * than its need, and is tried once more to learn what fails with it.
 */
static void descend(struct session *s, struct part *part, struct search *search)
{
	const char *conf = part->cover.boxes->conf;
	bool may_be_used = !trial_must_not(s, conf), is_lower;

	if (may_be_used)
		add_found(s, conf);
	is_lower = lower(s, &part->config.capacity);
	/* It fails with more memory, as others of its box may not. */
	search->is_complete &= is_lower || !may_be_used;
	gp_cover_resume(&part->cover, !is_lower);
}

static void close_part(struct session *s, struct part *part,
		       struct search *search)
{
	if (part->is_open && s->status == GP_OK) {
		s->status = part->status;
		if (s->status == GP_OK)
			take_over(s, &part->cover, search);
		else
			*s->diag = part->diag;
	}
	gp_cover_release(&part->cover);
	free(part->conf);
}

static void end_turn(struct parts *parts, struct search *search)
{
	uint64_t capacity = GP_UNLIMITED;

	parts->runs = 0;
	for (size_t i = 0; i < SLICES; i++) {
		struct part *part = &parts->items[i];

		parts->runs += part->cover.runs;
		if (parts->is_descending && part->cover.count)
			descend(parts->s, part, search);
		capacity = gp_smaller(capacity, part->config.capacity);
	}
	for (size_t i = 0; i < SLICES; i++)
		parts->items[i].config.capacity = capacity;
}

/*
 * Searches all slices that differ from this one in expandable segments and
 * rounding, on as many threads as there may be. Each gets the same part of what
 * is left of the budget, again and again, so that the result does not depend on
 * the number of threads.
 */
static void search_slices(struct session *s, struct slice slice,
			  uint32_t budget, struct search *search)
{
	struct parts parts = { .s = s, .is_descending = slice.capacity };
	size_t count = 0;

	for (int e = 0; e < 2; e++)
		for (unsigned d = 0; d <= MOST_DIVISIONS; d = d ? d * 2 : 1) {
			slice.is_expandable = e;
			slice.divisions = d;
			open_part(&parts, &parts.items[count++], &slice);
		}
	while (s->status == GP_OK && take_turn(&parts, budget)) {
		const struct gp_thread_pool_config pool = {
			.threads = s->config->threads,
			.count = parts.turn_count,
			.work = search_part,
			.done = notify,
			.arg = &parts,
		};

		gp_thread_pool_run(&pool);
		end_turn(&parts, search);
	}
	for (size_t i = 0; i < SLICES; i++)
		close_part(s, &parts.items[i], search);
}

/* ---- large_segment_size_mb ---- */

/* Returns the next value that is not equivalent; 0: there is none. */
static uint64_t try_large(struct session *s, struct slice *slice,
			  const char *conf, const struct gp_settings *settings,
			  struct search *search)
{
	const struct gp_case *c = case_of(s, slice);
	struct gp_replay_config replay = {
		.trace = c->trace,
		.device = c->device,
		.settings = settings,
		.engine = s->config->engine,
		.conf = conf,
		.mode = GP_WHAT_IF,
		.on_oom = GP_OOM_STOP,
		.capacity = capacity_of(s, slice),
		.keep_alike = true,
	};
	struct gp_replay_result result;
	uint64_t next;

	s->status = gp_replay(&replay, &result, s->diag);
	if (s->status != GP_OK)
		return 0;
	search->runs++;
	s->study->replays++;
	next = result.alike.large_most;
	if (gp_replay_has_room(&result) &&
	    result.refused <= s->refused[slice->index]) {
		add_found(s, conf);
		if (slice->capacity && lower(s, &slice->capacity))
			next = slice->large_bytes - 1; /* once more */
		else
			search->is_complete = false;
	}
	gp_replay_release(&result);
	return next == GP_UNLIMITED ? 0 : (next / MIB + 1) * MIB;
}

static void search_large(struct session *s, struct slice slice,
			 struct search *search)
{
	slice.large_bytes = LEAST_LARGE * MIB;
	while (slice.large_bytes && slice.large_bytes <= MOST_LARGE * MIB) {
		char *conf = conf_of(s, &slice);
		struct gp_settings settings;

		if (search->runs >= search->budget) {
			search->is_complete = false;
			slice.large_bytes = 0;
		} else if (is_open(s, &slice, conf, &settings)) {
			slice.large_bytes =
				try_large(s, &slice, conf, &settings, search);
		} else {
			slice.large_bytes = 0;
		}
		free(conf);
	}
}

static uint32_t left_of(const struct search *search)
{
	return search->budget - gp_smaller(search->runs, search->budget);
}

static void search_apart(struct session *s, struct slice slice,
			 struct search *search)
{
	search->is_complete = true;
	search_slices(s, slice, left_of(search), search);
	for (int e = 0; e < 2; e++) {
		if (slice.capacity)
			lower(s, &slice.capacity);
		slice.is_expandable = e;
		search_large(s, slice, search);
	}
}

void search_serving(struct session *s, struct search *search)
{
	const struct slice slice = { .index = search->index };

	search_apart(s, slice, search);
}

/* Whether the release has the setting and it may be used. */
static bool may_vary_large(const struct session *s, const struct search *search)
{
	const struct slice slice = { .large_bytes = LEAST_LARGE * MIB,
				     .index = search->index };
	struct gp_settings settings;
	char *conf = conf_of(s, &slice);
	bool may = is_open(s, &slice, conf, &settings);

	free(conf);
	return may;
}

/* Makes `most` runs at most. */
static void search_whole(struct session *s, struct slice slice, uint64_t most,
			 struct search *search)
{
	slice.large_most = MOST_LARGE;
	if (may_vary_large(s, search))
		search_slices(s, slice,
			      (uint32_t)gp_smaller(most, left_of(search)),
			      search);
}

void search_together(struct session *s, struct search *search)
{
	const struct slice slice = { .index = search->index };

	search_whole(s, slice,
		     gp_larger(search->runs, search->budget / TOGETHER),
		     search);
}

void search_least(struct session *s, bool together, struct search *search)
{
	struct slice slice = {
		.capacity = GP_UNLIMITED,
		.index = search->index,
	};

	if (!lower(s, &slice.capacity))
		return;
	search_apart(s, slice, search);
	lower(s, &slice.capacity);
	if (together)
		search_whole(s, slice,
			     gp_larger(gp_smaller(search->runs, FEW),
				       search->budget / BELOW),
			     search);
}

/* ---- two settings together ---- */

/* Whether each trial serves a case that the other does not, and together they
 * serve the whole group. */
static bool complete_each_other(const struct session *s,
				const struct gp_trial *a,
				const struct gp_trial *b)
{
	bool a_alone = false, b_alone = false;

	for (size_t i = 0; i < s->study->case_count; i++) {
		bool by_a = a->cases[i].is_served, by_b = b->cases[i].is_served;

		if (!s->is_in[i])
			continue;
		if (!by_a && !by_b)
			return false;
		a_alone |= by_a && !by_b;
		b_alone |= by_b && !by_a;
	}
	return a_alone && b_alone;
}

/* The settings of both; for a setting that is in both, the value of b. */
static char *both_of(const char *a, const char *b)
{
	char *conf = gp_mem_copy_text(a, strlen(a)), *made;
	const char *item;
	size_t length;

	while ((item = gp_conf_next(&b, &length))) {
		const char *colon = memchr(item, ':', length);
		char *name, *value;

		if (!colon)
			continue;
		name = gp_mem_copy_text(item, (size_t)(colon - item));
		value = gp_mem_copy_text(colon + 1,
					 length - (size_t)(colon + 1 - item));
		made = gp_conf_with(conf, name, value);
		free(name);
		free(value);
		free(conf);
		conf = made;
	}
	return conf;
}

static bool is_tried(const struct session *s, const char *conf)
{
	for (size_t i = 0; i < s->study->count; i++)
		if (!strcmp(s->study->trials[i].conf, conf))
			return true;
	return false;
}

/* Takes ownership of conf. Keeps a trial only if it serves all cases. */
static void try_pair(struct session *s, char *conf, struct search *search)
{
	uint32_t before = s->study->replays;

	if (is_tried(s, conf) || trial_must_not(s, conf) ||
	    !trial_serves_group(s, conf))
		free(conf);
	else
		trial_play(s, trial_add(s, conf, NULL));
	search->runs += s->study->replays - before;
}

/* The order only matters if a setting is in both. */
static void try_both(struct session *s, size_t i, size_t k,
		     struct search *search)
{
	const char *a = s->study->trials[i].conf;
	const char *b = s->study->trials[k].conf;
	char *conf = both_of(a, b);

	if (i > k &&
	    gp_conf_length(conf) == gp_conf_length(a) + gp_conf_length(b))
		free(conf);
	else
		try_pair(s, conf, search);
}

void search_pairs(struct session *s, struct search *search)
{
	size_t count = s->study->count;

	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++) {
			const struct gp_trial *a = &s->study->trials[i];
			const struct gp_trial *b = &s->study->trials[k];

			if (i == k || a->is_excluded || b->is_excluded ||
			    search->runs >= search->budget ||
			    !complete_each_other(s, a, b))
				continue;
			try_both(s, i, k, search);
		}
}
