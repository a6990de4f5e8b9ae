/* SPDX-License-Identifier: MIT */
/*
 * Estimates for windows.
 *
 * Several programs that may have led to the window are replayed from an empty
 * allocator; also under the recorded settings, for which the answer is known.
 * The estimate is the peak of the window alone, times powers of the factors by
 * which the other replays and the recording exceed it. The powers and the
 * bounds were fitted to many programs that were cut into windows
 * (tests/windows/README.md).
 */
#include "study/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gpupool/knob.h"
#include "gpupool/study.h"
#include "base/larger.h"
#include "base/mem.h"
#include "base/sorted.h"
#include "trace/draft.h"

/* Binary search for the size of the window's past from the recorded settings:
 * its limits, its number of replays, and when a result is near enough. */
#define SCALE_LEAST 0.1
#define SCALE_MOST  3.0
#define SCALE_TRIES 9
#define SCALE_NEAR  200 /* 1/200 of the recorded bytes */

/* Larger requests have segments made for them. */
#define LARGE_SIZE (UINT64_C(1) << 20)

/* ---- generated programs that may have led to the window ---- */

/*
 * What the generated program does first. Then it allocates the blocks that are
 * live at the window's start, and continues with the window.
 */
enum earlier {
	NOTHING_EARLIER,
	/* One request for each segment of the start state, of a size that could
	 * have made it; then all of them are freed. */
	SEGMENTS_EARLIER,
	/* The window from its lowest moment on, with requests `scale` times as
	 * large. A size that occurs among the blocks of the start state is
	 * assumed to belong to the model and is not scaled. */
	WINDOW_EARLIER,
};

struct history_config {
	const struct gp_trace *trace;
	uint32_t device;
	enum earlier earlier;
	double scale;
};

struct history {
	struct gp_trace *trace;
	uint64_t window; /* index of its first event */
};

/* Smaller requests do not grow with the size of a program's input. */
#define LEAST_SCALED (UINT64_C(4) << 10)

/* A block of the window; indexed by its id there. */
struct lifetime {
	struct gp_event request;
	uint32_t id; /* in the generated program */
	bool is_of_start, is_live;
};

struct making {
	struct gp_draft_device *device;
	const struct gp_state *state; /* at the window's start */
	const struct gp_event *events;
	size_t event_count;
	struct lifetime *lifetimes;
	uint32_t life_count;
	/* Blocks of the start state by address, which approximates their
	 * age. */
	uint32_t *start;
	uint64_t *start_sizes; /* ascending */
	size_t start_count;
};

/* ---- the window's blocks ---- */

static void add_start_block(struct making *m, const struct gp_segment *segment,
			    const struct gp_block *block)
{
	struct lifetime *lifetime = &m->lifetimes[block->id];
	uint64_t size = block->requested ? block->requested : block->size;

	lifetime->is_of_start = true;
	lifetime->request = (struct gp_event){
		.kind = GP_ALLOC,
		.id = block->id,
		.size = size,
		.stream = segment->stream,
		.pool = segment->pool,
		.site = block->site,
	};
	m->start_sizes[m->start_count] = size;
	m->start[m->start_count++] = block->id;
}

static void find_start(struct making *m)
{
	size_t room = m->state->block_count + 1;

	m->start = gp_mem_alloc(room, sizeof(*m->start));
	m->start_sizes = gp_mem_alloc(room, sizeof(*m->start_sizes));
	for (size_t i = 0; i < m->state->segment_count; i++) {
		const struct gp_segment *segment = &m->state->segments[i];
		const struct gp_block *block =
			&m->state->blocks[segment->first_block];

		for (size_t k = 0; k < segment->blocks; k++)
			if (block[k].state == GP_ACTIVE)
				add_start_block(m, segment, &block[k]);
	}
	gp_sort(GP_SORTED_NUMBERS(m->start_sizes, m->start_count));
}

static bool is_of_model(const struct making *m, uint64_t size)
{
	return gp_sorted_has(GP_SORTED_NUMBERS(m->start_sizes, m->start_count),
			     size);
}

static void making_init(struct making *m, struct gp_draft_device *device,
			const struct gp_state *state)
{
	*m = (struct making){
		.device = device,
		.state = state,
		.events = device->events,
		.event_count = device->event_count,
		.life_count = device->block_ids,
		.lifetimes = gp_mem_alloc((size_t)device->block_ids + 1,
					  sizeof(*m->lifetimes)),
	};
	find_start(m);
	for (size_t i = 0; i < m->event_count; i++)
		if (m->events[i].kind == GP_ALLOC)
			m->lifetimes[m->events[i].id].request = m->events[i];
}

static void making_release(struct making *m)
{
	free(m->lifetimes);
	free(m->start);
	free(m->start_sizes);
}

static void follow(struct making *m, const struct gp_event *event)
{
	if (event->kind == GP_ALLOC)
		m->lifetimes[event->id].is_live = true;
	else if (event->kind == GP_FREE)
		m->lifetimes[event->id].is_live = false;
}

/* Sets is_live to the state before that event. */
static void set_live(struct making *m, size_t event)
{
	for (uint32_t id = 0; id < m->life_count; id++)
		m->lifetimes[id].is_live = m->lifetimes[id].is_of_start;
	for (size_t i = 0; i < event; i++)
		follow(m, &m->events[i]);
}

/* The first event in the first half of the window before which live memory is
 * about as low as it ever gets there: between two steps, if there are steps. */
static size_t find_lowest(struct making *m)
{
	uint64_t *live = gp_mem_alloc(m->event_count + 1, sizeof(*live));
	uint64_t now = 0, least = UINT64_MAX;
	size_t half = m->event_count / 2, lowest = 0;

	set_live(m, 0);
	for (size_t i = 0; i < m->start_count; i++)
		now += m->start_sizes[i];
	for (size_t i = 0; i <= half && i < m->event_count; i++) {
		const struct gp_event *event = &m->events[i];

		live[i] = now;
		least = now < least ? now : least;
		if (event->kind == GP_ALLOC)
			now += event->size;
		else if (event->kind == GP_FREE &&
			 m->lifetimes[event->id].is_live)
			now -= m->lifetimes[event->id].request.size;
		follow(m, event);
	}
	while (lowest < half && live[lowest] > least + least / 50)
		lowest++;
	free(live);
	return lowest;
}

/* ---- the requests of the generated program ---- */

static void add(struct making *m, struct gp_event event)
{
	gp_draft_add(m->device, 0, &event);
}

static void add_free(struct making *m, uint32_t id)
{
	add(m,
	    (struct gp_event){ .kind = GP_FREE, .id = id, .site = GP_NO_SITE });
}

static void add_alloc(struct making *m, uint32_t id)
{
	struct gp_event event = m->lifetimes[id].request;

	event.id = m->lifetimes[id].id = gp_draft_add_block(m->device);
	m->lifetimes[id].is_live = true;
	add(m, event);
}

static void add_window(struct making *m, size_t from, double scale)
{
	for (size_t i = from; i < m->event_count; i++) {
		struct gp_event event = m->events[i];

		follow(m, &event);
		if (event.kind == GP_ALLOC) {
			m->lifetimes[event.id].id =
				gp_draft_add_block(m->device);
			if (event.size > LEAST_SCALED &&
			    !is_of_model(m, event.size))
				event.size =
					(uint64_t)((double)event.size * scale);
		}
		if (gp_draft_has_block(&event))
			event.id = m->lifetimes[event.id].id;
		add(m, event);
	}
}

/* Frees and allocates until just the blocks of the window's start are live. */
static void restore_start(struct making *m)
{
	for (uint32_t id = 0; id < m->life_count; id++)
		if (m->lifetimes[id].is_live && !m->lifetimes[id].is_of_start) {
			add_free(m, m->lifetimes[id].id);
			m->lifetimes[id].is_live = false;
		}
	for (size_t i = 0; i < m->start_count; i++)
		if (!m->lifetimes[m->start[i]].is_live)
			add_alloc(m, m->start[i]);
}

static void add_segment(struct making *m, const struct gp_segment *segment)
{
	uint64_t size = segment->is_small ? GP_SMALL_SIZE : segment->size;

	for (uint64_t left = segment->size; left >= size; left -= size)
		add(m, (struct gp_event){ .kind = GP_ALLOC,
					  .id = gp_draft_add_block(m->device),
					  .size = size,
					  .stream = segment->stream,
					  .pool = segment->pool,
					  .site = GP_NO_SITE });
}

static void add_segments(struct making *m)
{
	uint32_t first = m->device->block_ids;

	for (size_t i = 0; i < m->state->segment_count; i++)
		add_segment(m, &m->state->segments[i]);
	for (uint32_t id = first; id < m->device->block_ids; id++)
		add_free(m, id);
}

static void add_scaled(struct making *m, double scale)
{
	size_t lowest = find_lowest(m);

	set_live(m, lowest);
	for (size_t i = 0; i < m->start_count; i++)
		if (m->lifetimes[m->start[i]].is_live)
			add_alloc(m, m->start[i]);
	for (uint32_t id = 0; id < m->life_count; id++)
		if (m->lifetimes[id].is_live && !m->lifetimes[id].is_of_start)
			add_alloc(m, id);
	add_window(m, lowest, scale);
}

static void history_init(struct history *history,
			 const struct history_config *config)
{
	struct gp_draft draft;
	struct making m;

	gp_draft_init(&draft, config->trace);
	making_init(&m, &draft.devices[config->device],
		    &config->trace->devices[config->device].start);
	m.device->segment_count = 0;
	m.device->block_count = 0;
	if (config->earlier == SEGMENTS_EARLIER)
		add_segments(&m);
	if (config->earlier == WINDOW_EARLIER)
		add_scaled(&m, config->scale);
	restore_start(&m);
	history->window = m.device->addition_count;
	add_window(&m, 0, 1);
	m.device->event_count = 0;
	making_release(&m);
	history->trace = gp_draft_finish(&draft);
}

static void history_release(struct history *history)
{
	gp_trace_destroy(history->trace);
	*history = (struct history){ 0 };
}

/* ---- replays ---- */

struct total {
	uint64_t before; /* reserved bytes when the window begins */
	uint64_t peak;	 /* peak of reserved bytes from then on */
};

struct meter {
	uint64_t now, window;
	struct total total;
};

static void count(void *arg, const struct gp_action *action, uint64_t event)
{
	struct meter *m = arg;

	if (gp_event_is_growth(action->kind))
		m->now += action->size;
	else if (gp_event_is_release(action->kind))
		m->now -= action->size;
	if (event < m->window)
		m->total.before = m->total.peak = m->now;
	else if (m->now > m->total.peak)
		m->total.peak = m->now;
}

struct study {
	const struct gp_replay_config *what_if;
	const struct gp_device_trace *device;
	struct gp_settings recorded;
	double novelty;
	struct gp_diag *diag;
};

static enum gp_status play(const struct study *s, const struct gp_trace *trace,
			   const struct gp_settings *settings, struct meter *m)
{
	const struct gp_replay_config config = {
		.trace = trace,
		.device = s->what_if->device,
		.settings = settings,
		.engine = s->what_if->engine,
		.mode = GP_WHAT_IF,
		.capacity = s->what_if->capacity,
		.is_interrupted = s->what_if->is_interrupted,
		.action = count,
		.action_arg = m,
	};
	struct gp_replay_result result;
	enum gp_status status = gp_replay(&config, &result, s->diag);

	if (status == GP_OK)
		gp_replay_release(&result);
	return status;
}

/* Replays the window from the recorded start state. */
static enum gp_status play_recorded(const struct study *s,
				    const struct gp_settings *settings,
				    struct total *total)
{
	struct meter m = { .now = gp_state_reserved(&s->device->start) };
	enum gp_status status;

	m.total.before = m.total.peak = m.now;
	status = play(s, s->what_if->trace, settings, &m);
	*total = m.total;
	return status;
}

static enum gp_status play_history(const struct study *s, enum earlier earlier,
				   double scale,
				   const struct gp_settings *settings,
				   struct total *total)
{
	const struct history_config config = {
		.trace = s->what_if->trace,
		.device = s->what_if->device,
		.earlier = earlier,
		.scale = scale,
	};
	struct history history;
	enum gp_status status;
	struct meter m = { 0 };

	history_init(&history, &config);
	m.window = history.window;
	status = play(s, history.trace, settings, &m);
	history_release(&history);
	*total = m.total;
	return status;
}

/* Finds the scale of the past: with the window as its past, at `scale` times
 * its sizes, a replay reserves as much as the recording had reserved at its
 * start. */
static enum gp_status find_scale(const struct study *s, double *scale)
{
	double low = SCALE_LEAST, high = SCALE_MOST;
	uint64_t wanted = gp_state_reserved(&s->device->start);
	enum gp_status status = GP_OK;

	*scale = 1;
	for (int i = 0; status == GP_OK && i < SCALE_TRIES; i++) {
		struct total total;
		uint64_t off;

		if (i)
			*scale = (low + high) / 2;
		status = play_history(s, WINDOW_EARLIER, *scale, &s->recorded,
				      &total);
		if (total.before > wanted)
			high = *scale;
		else
			low = *scale;
		off = total.before > wanted ? total.before - wanted
					    : wanted - total.before;
		if (off < wanted / SCALE_NEAR)
			break;
	}
	return status;
}

/* ---- the window's novelty ---- */

/* 0: every step is like the previous one. 1: at least half of the bytes that
 * the window's second half requests are of sizes that its first half lacks. */
static double find_novelty(const struct gp_device_trace *device)
{
	size_t half = device->event_count / 2, known = 0;
	uint64_t *sizes = gp_mem_alloc(half + 1, sizeof(*sizes));
	double all = 0, unknown = 0;

	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];
		uint64_t size = (event->size + GP_MIN_BLOCK_SIZE - 1) /
				GP_MIN_BLOCK_SIZE;

		if (i == half)
			gp_sort(GP_SORTED_NUMBERS(sizes, known));
		if (event->kind != GP_ALLOC || event->size <= LARGE_SIZE)
			continue;
		if (i < half) {
			sizes[known++] = size;
			continue;
		}
		all += (double)size;
		if (!gp_sorted_has(GP_SORTED_NUMBERS(sizes, known), size))
			unknown += (double)size;
	}
	free(sizes);
	return all > 0 ? fmin(1, 2 * unknown / all) : 0;
}

/* ---- from replays to an estimate ---- */

/* Logarithms of the ratio to the peak of the window alone; 0: not replayed. */
enum clue {
	RECORDED, /* from the recorded start state */
	SEGMENTS, /* after requests for all segments of the start at once */
	/* After a past as large as the recording shows, weighted by novelty. */
	PAST,
	/* With the recorded settings: the reserved bytes at the start, and the
	 * peak from the recorded start state. */
	RECORDED_MISSES,
	RECORDED_TOTAL,
	CLUES,
};

/* How to estimate a kind of what-if; kinds differ in the recorded and the given
 * settings. */
struct rule {
	const char *how;
	double powers[CLUES];
	/* Margins below and above the logarithm of the estimate: a constant,
	 * plus factors for the distance to the extreme clue and for novelty. */
	struct margin {
		double least, of_reach, of_novelty;
	} below, above;
};

enum kind {
	EXPANDABLE_ALIKE,
	EXPANDABLE_TO_SEGMENTS,
	TO_EXPANDABLE,
	SEGMENTS_ALIKE,
	SPLIT_TO_SEGMENTS,
	KINDS,
};

static const struct rule rules[KINDS] = {
	[EXPANDABLE_ALIKE] = {
		.how = "the window replayed from an empty cache, times what "
		       "that misses of the recording",
		.powers = { [RECORDED_TOTAL] = 1 },
		.below = { 0.03, 0.05, 0 },
		.above = { 0.04, 0, 0.04 },
	},
	[EXPANDABLE_TO_SEGMENTS] = {
		.how = "the window replayed from an empty cache, and after a "
		       "past as large as the recording's",
		.powers = { [SEGMENTS] = 0.12,
			    [PAST] = 0.58,
			    [RECORDED_MISSES] = 0.75 },
		.below = { 0.24, 0.06, 0 },
		.above = { 0.03, 0.5, 0.23 },
	},
	[TO_EXPANDABLE] = {
		.how = "the window replayed from an empty cache, or more "
		       "where more was reserved before it",
		.powers = { [RECORDED_MISSES] = 0.9 },
		.below = { 0.015, 1, 0 },
		.above = { 0.005, 1, 0 },
	},
	[SEGMENTS_ALIKE] = {
		.how = "the window replayed after requests for all segments "
		       "that it begins with",
		.powers = { [SEGMENTS] = 1 },
		.below = { 0.065, 0.55, 0 },
		.above = { 0.06, 0, 0.33 },
	},
	[SPLIT_TO_SEGMENTS] = {
		.how = "between the window replayed from an empty cache and "
		       "after requests for all segments that it begins with",
		.powers = { [SEGMENTS] = 0.51, [RECORDED_MISSES] = 0.23 },
		.below = { 0.28, 0.11, 0 },
		.above = { 0.04, 0.85, 0.11 },
	},
};

static enum kind kind_of(const struct gp_settings *recorded,
			 const struct gp_settings *asked)
{
	if (recorded->expandable_segments)
		return asked->expandable_segments ? EXPANDABLE_ALIKE
						  : EXPANDABLE_TO_SEGMENTS;
	if (asked->expandable_segments)
		return TO_EXPANDABLE;
	return recorded->max_split_size == GP_UNLIMITED ? SEGMENTS_ALIKE
							: SPLIT_TO_SEGMENTS;
}

static double times(uint64_t part, uint64_t whole)
{
	return log((double)(part ? part : 1) / (double)(whole ? whole : 1));
}

/* If sizes never change, there was nothing else before the window. */
static enum gp_status find_past(const struct study *s, uint64_t alone,
				double *clue)
{
	double scale;
	enum gp_status status = GP_OK;
	struct total total;

	*clue = 0;
	if (s->novelty <= 0)
		return GP_OK;
	status = find_scale(s, &scale);
	if (status == GP_OK)
		status = play_history(s, WINDOW_EARLIER, scale,
				      s->what_if->settings, &total);
	if (status == GP_OK)
		*clue = s->novelty * times(total.peak, alone);
	return status;
}

/* The factors by which the recording exceeds replays under its own settings. */
static enum gp_status find_misses(const struct study *s, double clues[CLUES])
{
	uint64_t before = gp_state_reserved(&s->device->start);
	struct total alone = { 0 }, recorded = { 0 };
	enum gp_status status =
		play_history(s, NOTHING_EARLIER, 1, &s->recorded, &alone);

	if (status == GP_OK)
		status = play_recorded(s, &s->recorded, &recorded);
	clues[RECORDED_MISSES] = fmax(0, times(before, alone.peak));
	clues[RECORDED_TOTAL] = times(recorded.peak, alone.peak);
	return status;
}

static enum gp_status find_clues(const struct study *s, enum kind kind,
				 uint64_t *alone, double clues[CLUES])
{
	const struct gp_settings *asked = s->what_if->settings;
	struct total window = { 0 }, recorded = { 0 }, segments = { 0 };
	enum gp_status status =
		play_history(s, NOTHING_EARLIER, 1, asked, &window);

	if (status == GP_OK)
		status = play_recorded(s, asked, &recorded);
	if (status == GP_OK)
		status = play_history(s, SEGMENTS_EARLIER, 1, asked, &segments);
	*alone = window.peak;
	clues[RECORDED] = times(recorded.peak, window.peak);
	clues[SEGMENTS] = times(segments.peak, window.peak);
	if (status == GP_OK)
		status = find_misses(s, clues);
	if (status == GP_OK && rules[kind].powers[PAST] != 0)
		status = find_past(s, window.peak, &clues[PAST]);
	return status;
}

static uint64_t bytes(const struct study *s, uint64_t alone, double clue)
{
	double n = (double)alone * exp(clue);
	uint64_t capacity = s->what_if->capacity;

	if (capacity != GP_UNLIMITED && n > (double)capacity)
		return capacity;
	return (uint64_t)(n + 0.5);
}

static double margin(const struct margin *margin, double reach, double novelty)
{
	return margin->least + margin->of_reach * fmax(0, reach) +
	       margin->of_novelty * novelty;
}

/* No setting reserves less than what is live, in blocks as it rounds them. */
static void raise_to_live(const struct study *s, struct gp_estimate *estimate)
{
	const struct gp_replay_config *what_if = s->what_if;
	uint64_t live = gp_study_live_rounded(what_if->trace, what_if->device,
					      what_if->settings);

	live = gp_smaller(live, what_if->capacity);
	estimate->low = gp_larger(estimate->low, live);
	estimate->reserved = gp_larger(estimate->reserved, live);
	estimate->high = gp_larger(estimate->high, live);
}

static void combine(const struct study *s, const struct rule *rule,
		    uint64_t alone, const double clues[CLUES],
		    struct gp_estimate *estimate)
{
	double middle = 0, least = 0, most = 0, below, above;

	for (int i = 0; i < CLUES; i++)
		middle += rule->powers[i] * clues[i];
	for (int i = 0; i <= PAST; i++) {
		least = fmin(least, clues[i]);
		most = fmax(most, clues[i]);
	}
	below = margin(&rule->below, middle - least, s->novelty);
	above = margin(&rule->above, most - middle, s->novelty);
	*estimate = (struct gp_estimate){
		.is_there = true,
		.reserved = bytes(s, alone, middle),
		.low = bytes(s, alone, middle - below),
		.high = bytes(s, alone, middle + above),
		.how = rule->how,
	};
	raise_to_live(s, estimate);
}

/* ---- whether an estimate is needed ---- */

static bool limits_are_alike(const struct gp_settings *a,
			     const struct gp_settings *b, uint64_t capacity)
{
	return capacity == GP_UNLIMITED ||
	       (a->gc_threshold == b->gc_threshold &&
		a->memory_fraction == b->memory_fraction &&
		a->throw_on_oom == b->throw_on_oom);
}

bool gp_settings_cache_alike(const struct gp_settings *a,
			     const struct gp_settings *b, uint64_t capacity)
{
	return gp_release_alike(a->release, b->release) &&
	       a->max_split_size == b->max_split_size &&
	       a->max_non_split_rounding == b->max_non_split_rounding &&
	       a->large_segment_size == b->large_segment_size &&
	       !memcmp(a->divisions, b->divisions, sizeof(a->divisions)) &&
	       a->expandable_segments == b->expandable_segments &&
	       a->capture_reuse == b->capture_reuse &&
	       a->reserve_fraction == b->reserve_fraction &&
	       a->reserve_bytes == b->reserve_bytes &&
	       limits_are_alike(a, b, capacity);
}

static bool is_wanted(const struct study *s)
{
	const struct gp_replay_config *what_if = s->what_if;

	return s->device->start.segment_count && s->device->event_count &&
	       what_if->mode == GP_WHAT_IF && !what_if->make_device &&
	       what_if->engine == gp_engine_table(&(size_t){ 0 }) &&
	       !gp_settings_cache_alike(&s->recorded, what_if->settings,
					what_if->capacity);
}

enum gp_status gp_estimate(const struct gp_replay_config *what_if,
			   const char *recorded_conf, uint8_t recorded_release,
			   struct gp_estimate *estimate, struct gp_diag *diag)
{
	struct study s = {
		.what_if = what_if,
		.device = &what_if->trace->devices[what_if->device],
		.diag = diag,
	};
	struct gp_diag ignored = { 0 };
	double clues[CLUES] = { 0 };
	enum gp_status status;
	uint64_t alone = 0;
	enum kind kind;

	*estimate = (struct gp_estimate){ 0 };
	gp_settings_init(&s.recorded, recorded_release);
	if (recorded_conf)
		gp_settings_parse(&s.recorded, recorded_conf, &ignored);
	if (!is_wanted(&s))
		return GP_OK;
	s.novelty = find_novelty(s.device);
	kind = kind_of(&s.recorded, what_if->settings);
	status = find_clues(&s, kind, &alone, clues);
	if (status == GP_OK)
		combine(&s, &rules[kind], alone, clues, estimate);
	return status;
}

/* ---- the device ---- */

static uint64_t device_for(const struct gp_settings *settings,
			   uint64_t reserved, uint64_t others)
{
	return gp_larger(gp_sum(reserved, others),
			 gp_settings_device_for(settings, reserved));
}

struct gp_estimate gp_estimate_need(const struct gp_estimate *reserved,
				    const struct gp_settings *settings,
				    uint64_t others)
{
	struct gp_estimate need = *reserved;

	need.reserved = device_for(settings, reserved->reserved, others);
	need.low = device_for(settings, reserved->low, others);
	need.high = device_for(settings, reserved->high, others);
	return need;
}
