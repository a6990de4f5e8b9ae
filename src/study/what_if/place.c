/* SPDX-License-Identifier: MIT */
/* What-if: calls of empty_cache, at given places or at places found by
 * replays. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/sorted.h"
#include "gpupool/replay.h"
#include "study/what_if/scene.h"

#define PLACES	    24 /* candidate places per call */
#define MOST_CALLS  16
#define PLACES_TOLD 6

static const struct gp_event call = {
	.kind = GP_EMPTY_CACHE,
	.id = GP_NO_ID,
	.site = GP_NO_SITE,
};

static void add_call(struct scene *scene, uint32_t device, uint64_t before)
{
	struct gp_draft_device *d = &scene->draft->devices[device];
	struct gp_event event = call;

	if (before < d->event_count)
		event.time_us = d->events[before].time_us;
	gp_draft_add(d, before, &event);
	scene->note->changes++;
}

/* ---- given places ---- */

static bool at_event(struct scene *scene, const char *where)
{
	uint64_t event;

	if (!gp_count_parse(where, &event))
		return false;
	for (uint32_t d = 0; d < scene->config->trace->device_count; d++)
		if (event <= scene->draft->devices[d].event_count)
			add_call(scene, d, event);
	return true;
}

static bool at_steps(struct scene *scene, const char *where)
{
	if (strcmp(where, "step") != 0)
		return false;
	for (uint32_t d = 0; d < scene->config->trace->device_count; d++) {
		struct gp_steps steps;

		scene_steps(scene, d, &steps);
		for (size_t i = 0; i < steps.count; i++)
			add_call(scene, d, steps.list[i].first);
		free(steps.list);
	}
	return scene->note->changes > 0;
}

static void at_marks(struct scene *scene, const char *where)
{
	const struct gp_trace *trace = scene->config->trace;

	for (uint32_t d = 0; d < trace->device_count; d++) {
		const struct gp_draft_device *device =
			&scene->draft->devices[d];

		for (size_t i = 0; i < device->event_count; i++) {
			const struct gp_event *event = &device->events[i];

			if (event->kind == GP_MARK &&
			    event->mark != GP_MARK_END &&
			    scene_text_has(trace->texts[event->text], where))
				add_call(scene, d, i);
		}
	}
}

/* ---- searched places ---- */

/* The quantities to minimise, in this order: requests not served, reserved
 * memory, cudaMalloc calls. */
struct score {
	uint64_t dropped, reserved, mallocs;
};

static bool is_better(const struct score *a, const struct score *b)
{
	if (a->dropped != b->dropped)
		return a->dropped < b->dropped;
	if (a->reserved != b->reserved)
		return a->reserved < b->reserved;
	return a->mallocs < b->mallocs;
}

struct search {
	struct scene *scene;
	uint32_t device;
	struct gp_trace *trace; /* the trace without any of the calls */
	uint64_t chosen[MOST_CALLS];
	size_t chosen_count;
	uint64_t places[PLACES], gaps[PLACES];
	uint64_t replays;
};

static struct gp_replay_config config_of(const struct search *s,
					 const struct gp_trace *trace)
{
	const struct gp_what_if_config *config = s->scene->config;

	return (struct gp_replay_config){
		.trace = trace,
		.device = s->device,
		.settings = config->settings,
		.engine = config->engine,
		.conf = config->conf,
		.torch_lib = config->torch_lib,
		.mode = GP_WHAT_IF,
		.capacity = config->capacity[s->device],
	};
}

static enum gp_status play(struct search *s, struct gp_replay_config *config,
			   struct score *score)
{
	struct gp_replay_result result;
	enum gp_status status = gp_replay(config, &result, s->scene->diag);

	s->replays++;
	if (status != GP_OK)
		return status;
	*score = (struct score){ result.dropped, result.at_peak.reserved,
				 result.calls.malloc + result.calls.map };
	gp_replay_release(&result);
	return GP_OK;
}

/* Finds the event with the largest gap, in each part of the trace. */
static void look(void *arg, struct gp_allocator *allocator, uint64_t event)
{
	struct search *s = arg;
	size_t part = event * PLACES / s->trace->devices[s->device].event_count;
	struct gp_moment now = gp_moment_of(allocator, event);
	uint64_t gap = now.reserved - now.allocated;

	if (gap <= s->gaps[part])
		return;
	s->gaps[part] = gap;
	s->places[part] = event + 1;
}

/* Replays with the calls chosen so far and one more. */
static enum gp_status try_place(struct search *s, uint64_t place,
				struct score *score)
{
	struct gp_replay_config config;
	struct gp_draft draft;
	struct gp_trace *trace;
	enum gp_status status;

	if (s->scene->config->progress)
		s->scene->config->progress(
			s->scene->config->progress_arg,
			"looking for places for empty_cache");
	gp_draft_init(&draft, s->trace);
	for (size_t i = 0; i < s->chosen_count; i++)
		gp_draft_add(&draft.devices[s->device], s->chosen[i], &call);
	gp_draft_add(&draft.devices[s->device], place, &call);
	trace = gp_draft_finish(&draft);
	config = config_of(s, trace);
	status = play(s, &config, score);
	gp_trace_destroy(trace);
	return status;
}

/* Chooses one more call; *found is false if none improves the score. */
static enum gp_status choose(struct search *s, struct score *best, bool *found)
{
	enum gp_status status = GP_OK;
	uint64_t place = 0;

	*found = false;
	for (size_t i = 0; i < PLACES && status == GP_OK; i++) {
		struct score score;

		if (!s->gaps[i])
			continue;
		status = try_place(s, s->places[i], &score);
		if (status != GP_OK || !is_better(&score, best))
			continue;
		*best = score;
		place = s->places[i];
		*found = true;
	}
	if (*found)
		s->chosen[s->chosen_count++] = place;
	return status;
}

static enum gp_status search_device(struct search *s, size_t calls)
{
	struct gp_replay_config first = config_of(s, s->trace);
	struct score best;
	enum gp_status status;
	bool found = true;

	if (!s->trace->devices[s->device].event_count)
		return GP_OK;
	first.look = look;
	first.look_arg = s;
	status = play(s, &first, &best);
	while (status == GP_OK && found && s->chosen_count < calls)
		status = choose(s, &best, &found);
	return status;
}

/* "before events 812, 1,004; by 25 replays". */
static void note_places(struct gp_what_if_note *note, const struct search *s)
{
	size_t n = strlen(note->text);

	for (size_t i = 0; i < s->chosen_count && i < PLACES_TOLD; i++) {
		n += (size_t)snprintf(note->text + n, sizeof(note->text) - n,
				      "%s%s",
				      i	  ? ", "
				      : n ? "; "
					  : "called before event ",
				      GP_COUNT(s->chosen[i]));
		if (n >= sizeof(note->text))
			return;
	}
	if (s->chosen_count > PLACES_TOLD)
		snprintf(note->text + n, sizeof(note->text) - n, " and others");
}

/* Turns the draft into a trace, which can be replayed, and begins a new draft
 * from that trace. */
static void freeze(struct scene *scene)
{
	struct gp_trace *before = scene->before;

	scene->before = gp_draft_finish(scene->draft);
	gp_draft_init(scene->draft, scene->before);
	gp_trace_destroy(before);
}

static enum gp_status at_best(struct scene *scene, size_t calls)
{
	enum gp_status status = GP_OK;
	uint64_t replays = 0;
	size_t n;

	freeze(scene);
	for (uint32_t d = 0;
	     d < scene->config->trace->device_count && status == GP_OK; d++) {
		struct search s = { .scene = scene,
				    .device = d,
				    .trace = scene->before };

		status = search_device(&s, calls);
		gp_sort(GP_SORTED_NUMBERS(s.chosen, s.chosen_count));
		for (size_t i = 0; i < s.chosen_count; i++)
			add_call(scene, d, s.chosen[i]);
		note_places(scene->note, &s);
		replays += s.replays;
	}
	n = strlen(scene->note->text);
	snprintf(scene->note->text + n, sizeof(scene->note->text) - n,
		 "%s; %llu replays of up to %d places",
		 n ? "" : "no place helps", (unsigned long long)replays,
		 PLACES);
	return status;
}

/* "best" or "best:3"; false: neither. */
static bool parse_best(const char *where, size_t *calls)
{
	char *end;

	*calls = 1;
	if (strncmp(where, "best", 4) != 0)
		return false;
	if (!where[4])
		return true;
	if (where[4] != ':' || where[5] < '1')
		return false;
	*calls = strtoul(where + 5, &end, 10);
	return !*end && *calls <= MOST_CALLS;
}

/* ---- the what-if ---- */

bool gp_what_if_is_searched(const struct gp_what_if *what_if)
{
	size_t calls;

	return !strcmp(what_if->row->name, "empty-cache-at") &&
	       what_if->argument && parse_best(what_if->argument, &calls);
}

enum gp_status empty_cache_at(struct scene *scene)
{
	const char *where = scene->note->asked.argument;
	size_t calls;

	if (parse_best(where, &calls)) {
		if (scene->config->settings)
			return at_best(scene, calls);
		return scene_usage(
			scene,
			"there is nothing to replay, so no place can be tried");
	}
	if (!at_event(scene, where) && !at_steps(scene, where))
		at_marks(scene, where);
	if (!scene->note->changes)
		return scene_usage(scene,
				   "not an event of the trace, not the name of "
				   "a mark, and not best or best:3");
	scene_note(scene, scene->note->changes, "call", "of empty_cache");
	return GP_OK;
}
