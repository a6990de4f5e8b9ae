/* SPDX-License-Identifier: MIT */
/*
 * A search of all values of the numeric settings.
 *
 * The space of all settings is divided into slices: with and without expandable
 * segments, and by each rounding. Within a slice, every max_split_size_mb and
 * every garbage_collection_threshold is covered by few replays (cover.h). Every
 * large_segment_size_mb up to 1024 is covered as well: first in slices of its
 * own, without a rounding, and then together with all the others.
 */
#include "study/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/larger.h"
#include "base/mem.h"
#include "study/choice.h"
#include "study/cover.h"
#include "study/space.h"
#include "study/sweep/thread_pool.h"

#define MOST_DIVISIONS 64 /* above, rounding adds 1.6 % at most */
#define SOME_LARGE     "large_segment_size_mb:11"
#define MOST_LARGE     1024 /* MiB */
#define MOST_FOUND     16   /* most trials that a slice adds */
#define SLICES	       18   /* 2 times: none, 1 to MOST_DIVISIONS, and LARGE */
#define TOGETHER       32   /* 1/32 of the budget */
#define BELOW	       256  /* 1/256 of it for the least need */
#define FEW	       1000
#define TURNS	       8 /* turns in which a slice gets its budget */

/* What is covered within a slice: a bit mask of the axes of space.h. */
enum {
	LARGE = 1U << GP_SPACE_LARGE,
	SPLIT_AND_GC = 1U << GP_SPACE_SPLIT | 1U << GP_SPACE_GC,
};

struct slice {
	bool is_expandable;
	unsigned divisions; /* 0: none */
	unsigned searched;
	/* 0: the case's own; otherwise it is lowered to find the least need. */
	uint64_t capacity;
	size_t index; /* the case that is searched */
};

static char *conf_of(const struct study_state *s, const struct slice *slice)
{
	char conf[96] = "";
	size_t n = 0;

	if (slice->is_expandable)
		n = (size_t)snprintf(conf, sizeof(conf), "%s",
				     "expandable_segments:True");
	if (slice->divisions)
		snprintf(conf + n, sizeof(conf) - n,
			 "%sroundup_power2_divisions:%u", n ? "," : "",
			 slice->divisions);
	return gp_candidate_apply(s->config->conf, conf);
}

static const struct gp_case *case_of(const struct study_state *s,
				     const struct slice *slice)
{
	return &s->config->cases[slice->index];
}

static uint64_t capacity_of(const struct study_state *s,
			    const struct slice *slice)
{
	return slice->capacity ? slice->capacity : case_of(s, slice)->capacity;
}

/* Whether the slice has to be searched: the release accepts the settings, they
 * may be used, and live memory, rounded by them, fits. */
static bool is_open(struct study_state *s, const struct slice *slice,
		    const char *conf)
{
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };

	gp_settings_init(&settings, s->config->release);
	if (s->status != GP_OK || trial_must_not(s, conf) ||
	    gp_settings_parse(&settings, conf, &ignored) != GP_OK)
		return false;
	/* The value with which most may be reserved. */
	if (slice->searched & LARGE)
		settings.large_segment_size = MOST_LARGE << 20;
	return !trial_is_below_live(s, &settings, slice->index,
				    capacity_of(s, slice));
}

static void add_found(struct study_state *s, const char *conf)
{
	struct gp_trial *trial =
		trial_add(s, gp_mem_copy_text(conf, strlen(conf)), NULL);

	if (trial)
		trial_play(s, trial);
}

/* Lowers the capacity to a granule below the least need of all trials; false:
 * it is not above that. */
static bool lower(struct study_state *s, uint64_t *capacity)
{
	size_t nearest = choice_nearest(s);
	uint64_t need = trial_need(s, &s->study->trials[nearest]);

	if (need == GP_UNLIMITED || need <= GP_DEVICE_GRAIN ||
	    need - GP_DEVICE_GRAIN >= *capacity)
		return false;
	*capacity = need - GP_DEVICE_GRAIN;
	return true;
}

/* ---- the slices ---- */

static void take_over(struct study_state *s, const struct gp_cover *cover,
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
	struct study_state *s;
	struct part items[SLICES];
	size_t count;
	struct part *turn[SLICES]; /* those that are searched on */
	size_t turn_count;
	uint32_t runs;
	bool is_descending;
};

static void open_part(struct parts *parts, const struct slice *slice)
{
	struct study_state *s = parts->s;
	const struct gp_case *c = case_of(s, slice);
	struct part *part = &parts->items[parts->count++];

	part->conf = conf_of(s, slice);
	part->is_open = is_open(s, slice, part->conf);
	part->config = (struct gp_cover_config){
		.trace = c->trace,
		.device = c->device,
		.release = s->config->release,
		.conf = part->conf,
		.engine = s->config->engine,
		.capacity = capacity_of(s, slice),
		.searched = slice->searched,
		.large_most = MOST_LARGE,
		.refused = s->refused[slice->index],
		.first_only = slice->capacity ||
			      (slice->searched == (LARGE | SPLIT_AND_GC) &&
			       !s->config->without_count),
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
	const struct study_state *s = parts->s;
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
	for (size_t i = 0; i < parts->count; i++) {
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
 * Continues below the need of the setting that a part has found. Settings that
 * failed with more memory need at least that much, so they stay covered. The
 * setting that was found fails below its need; it is tried once more to learn
 * which others fail with it.
 */
static void descend(struct study_state *s, struct part *part,
		    struct search *search)
{
	const char *conf = part->cover.boxes->conf;
	bool may_be_used = !trial_must_not(s, conf), is_lower;

	if (may_be_used)
		add_found(s, conf);
	is_lower = lower(s, &part->config.capacity);
	/* Otherwise it fails with more memory, and other values of its box may
	 * not. */
	search->is_complete &= is_lower || !may_be_used;
	gp_cover_resume(&part->cover, !is_lower);
}

static void close_part(struct study_state *s, struct part *part,
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
	for (size_t i = 0; i < parts->count; i++) {
		struct part *part = &parts->items[i];

		parts->runs += part->cover.runs;
		if (parts->is_descending && part->cover.count)
			descend(parts->s, part, search);
		capacity = gp_smaller(capacity, part->config.capacity);
	}
	for (size_t i = 0; i < parts->count; i++)
		parts->items[i].config.capacity = capacity;
}

/* Opens all slices that differ from this one in expandable segments and
 * rounding. */
static void open_parts(struct parts *parts, struct slice slice)
{
	for (int e = 0; e < 2; e++)
		for (unsigned d = 0; d <= MOST_DIVISIONS; d = d ? d * 2 : 1) {
			slice.is_expandable = e;
			slice.divisions = d;
			open_part(parts, &slice);
		}
}

/*
 * Searches the slices on as many threads as are allowed. Each slice repeatedly
 * gets the same part of what is left of the budget, so that the result does not
 * depend on the number of threads.
 */
static void search_parts(struct parts *parts, uint32_t budget,
			 struct search *search)
{
	struct study_state *s = parts->s;

	while (s->status == GP_OK && take_turn(parts, budget)) {
		const struct gp_thread_pool_config pool = {
			.threads = s->config->threads,
			.count = parts->turn_count,
			.work = search_part,
			.done = notify,
			.arg = parts,
		};

		gp_thread_pool_run(&pool);
		end_turn(parts, search);
	}
	for (size_t i = 0; i < parts->count; i++)
		close_part(s, &parts->items[i], search);
}

static uint32_t left_of(const struct search *search)
{
	return search->budget - gp_smaller(search->runs, search->budget);
}

/* Whether the release has large_segment_size_mb and it may be used. */
static bool may_vary_large(const struct study_state *s)
{
	char *conf = gp_candidate_apply(s->config->conf, SOME_LARGE);
	struct gp_settings settings;
	struct gp_diag ignored = { 0 };
	bool may;

	gp_settings_init(&settings, s->config->release);
	may = !trial_must_not(s, conf) &&
	      gp_settings_parse(&settings, conf, &ignored) == GP_OK;
	free(conf);
	return may;
}

static void search_apart(struct study_state *s, struct slice slice,
			 struct search *search)
{
	struct parts parts = { .s = s, .is_descending = slice.capacity };

	search->is_complete = true;
	slice.searched = SPLIT_AND_GC;
	open_parts(&parts, slice);
	slice.searched = LARGE;
	for (int e = 0; e < 2 && may_vary_large(s); e++) {
		slice.is_expandable = e;
		open_part(&parts, &slice);
	}
	search_parts(&parts, left_of(search), search);
}

void search_serving(struct study_state *s, struct search *search)
{
	const struct slice slice = { .index = search->index };

	search_apart(s, slice, search);
}

/* Makes `most` runs at most. */
static void search_whole(struct study_state *s, struct slice slice,
			 uint64_t most, struct search *search)
{
	struct parts parts = { .s = s, .is_descending = slice.capacity };

	if (!may_vary_large(s))
		return;
	slice.searched = LARGE | SPLIT_AND_GC;
	open_parts(&parts, slice);
	search_parts(&parts, (uint32_t)gp_smaller(most, left_of(search)),
		     search);
}

void search_together(struct study_state *s, struct search *search)
{
	const struct slice slice = { .index = search->index };

	search_whole(s, slice,
		     gp_larger(search->runs, search->budget / TOGETHER),
		     search);
}

void search_least(struct study_state *s, bool together, struct search *search)
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
static bool complete_each_other(const struct study_state *s,
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

static bool is_tried(const struct study_state *s, const char *conf)
{
	for (size_t i = 0; i < s->study->count; i++)
		if (!strcmp(s->study->trials[i].conf, conf))
			return true;
	return false;
}

/* Takes ownership of conf. Keeps a trial only if it serves all cases. */
static void try_pair(struct study_state *s, char *conf, struct search *search)
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
static void try_both(struct study_state *s, size_t i, size_t k,
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

void search_pairs(struct study_state *s, struct search *search)
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
