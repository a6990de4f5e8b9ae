/* SPDX-License-Identifier: MIT */
/* An engine's promises, each tested with one or more generated programs. */
#include "study/contract.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/rng.h"
#include "gpupool/knob.h"
#include "gpupool/replay.h"
#include "trace/build.h"

#define KIB	    (UINT64_C(1) << 10)
#define MIB	    (UINT64_C(1) << 20)
#define REQUESTS    4000
#define MOST_LIVE   150 /* most blocks at once */
#define STREAMS	    3
#define CHECK_EVERY 37 /* events between two checks of the state */

struct contract {
	const struct gp_contract_config *config;
	struct gp_promise *promise; /* the promise under test */
	bool is_hung;		    /* it did not answer in time */
};

/* ---- generated programs ---- */

struct program {
	struct gp_build *build;
	struct gp_rng rng;
	uint32_t device;
	uint16_t streams[STREAMS];
	uint64_t live[MOST_LIVE], names;
	size_t count;
};

static void put(struct program *p, enum gp_event_kind kind, uint64_t name,
		uint64_t size, uint16_t stream)
{
	const struct gp_event event = {
		.kind = (uint8_t)kind,
		.id = kind == GP_EMPTY_CACHE || kind == GP_SYNCHRONIZE
			      ? GP_NO_ID
			      : 0,
		.size = size,
		.stream = stream,
		.site = GP_NO_SITE,
	};

	gp_build_event(p->build, p->device, &event, name);
}

/* Mostly small sizes, as in real programs. */
static uint64_t some_size(struct gp_rng *rng)
{
	static const uint64_t most[] = { 4 * KIB, 4 * KIB, MIB,
					 MIB,	  8 * MIB, 64 * MIB };

	return gp_rng_between(
		rng, 1, most[gp_rng_below(rng, sizeof(most) / sizeof(*most))]);
}

static void free_some(struct program *p)
{
	size_t i = (size_t)gp_rng_below(&p->rng, p->count);

	put(p, GP_FREE, p->live[i], 0, 0);
	p->live[i] = p->live[--p->count];
}

static void alloc_some(struct program *p)
{
	uint16_t stream = p->streams[gp_rng_below(&p->rng, STREAMS)];

	if (p->count == MOST_LIVE)
		free_some(p);
	p->live[p->count++] = p->names;
	put(p, GP_ALLOC, p->names, some_size(&p->rng), stream);
	p->names++;
}

static void use_some(struct program *p)
{
	uint16_t stream = p->streams[gp_rng_below(&p->rng, STREAMS)];
	size_t i = (size_t)gp_rng_below(&p->rng, p->count);

	put(p, GP_RECORD_STREAM, p->live[i], 0, stream);
}

static void step(struct program *p)
{
	uint64_t die = gp_rng_below(&p->rng, 100);

	if (die < 50 || !p->count)
		alloc_some(p);
	else if (die < 92)
		free_some(p);
	else if (die < 97)
		use_some(p);
	else if (die < 99)
		put(p, GP_SYNCHRONIZE, 0, 0, GP_ALL_STREAMS);
	else
		put(p, GP_EMPTY_CACHE, 0, 0, 0);
}

static struct program begin(uint64_t seed)
{
	struct program p = { .build = gp_build_create(GP_BUILD_REQUESTS),
			     .rng = { seed } };
	struct gp_diag ignored;

	gp_build_device(p.build, 0, &p.device, &ignored);
	for (uint64_t i = 0; i < STREAMS; i++)
		gp_build_stream(p.build, i * 16, &p.streams[i], &ignored);
	return p;
}

static struct gp_trace *end(struct program *p)
{
	struct gp_diag ignored = { 0 };
	struct gp_trace *trace = NULL;

	gp_build_finish(p->build, &trace, &ignored);
	return trace;
}

/* At the end nothing is in use any more. */
static struct gp_trace *mixed_program(uint64_t seed)
{
	struct program p = begin(seed);

	for (int i = 0; i < REQUESTS; i++)
		step(&p);
	while (p.count)
		free_some(&p);
	put(&p, GP_SYNCHRONIZE, 0, 0, GP_ALL_STREAMS);
	put(&p, GP_EMPTY_CACHE, 0, 0, 0);
	return end(&p);
}

/* ---- runs ---- */

/* What is observed during a run. */
struct seen {
	const struct contract *contract;
	uint64_t print; /* a hash of all actions */
	char wrong[300];
};

static void hash_action(void *arg, const struct gp_action *action,
			uint64_t event)
{
	struct seen *seen = arg;
	const uint64_t parts[] = { action->kind, action->id,   action->addr,
				   action->size, action->pool, event };

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		seen->print = gp_hash64(seen->print * 31 + parts[i]);
}

/* Checks that the segment's blocks are contiguous; returns the bytes in use. */
static uint64_t walk(struct seen *seen, const struct gp_state *state,
		     const struct gp_segment *segment)
{
	uint64_t at = segment->addr, used = 0;

	for (uint32_t k = 0; k < segment->blocks; k++) {
		const struct gp_block *b =
			&state->blocks[segment->first_block + k];

		if (b->addr != at && !*seen->wrong)
			snprintf(seen->wrong, sizeof(seen->wrong),
				 "a block of %" PRIu64 " bytes at 0x%" PRIx64
				 " overlaps its neighbour or leaves a gap",
				 b->size, b->addr);
		at = b->addr + b->size;
		used += b->state == GP_INACTIVE ? 0 : b->size;
	}
	if (at != segment->addr + segment->size && !*seen->wrong)
		snprintf(seen->wrong, sizeof(seen->wrong),
			 "the blocks end at 0x%" PRIx64
			 ", but their segment ends at 0x%" PRIx64,
			 at, segment->addr + segment->size);
	return used;
}

static void expect(struct seen *seen, const char *what, uint64_t said,
		   uint64_t there)
{
	if (said != there && !*seen->wrong)
		snprintf(seen->wrong, sizeof(seen->wrong),
			 "it counts %" PRIu64
			 " bytes %s, but there are %" PRIu64,
			 said, what, there);
}

static void notify(const struct contract *c)
{
	if (c->config->step)
		c->config->step(c->config->arg, c->promise->sentence);
}

static void check_state(void *arg, struct gp_allocator *allocator,
			uint64_t event)
{
	const struct gp_level *levels = allocator->levels;
	uint64_t reserved = 0, active = 0;
	struct seen *seen = arg;
	struct gp_state state;

	if (event % CHECK_EVERY)
		return;
	notify(seen->contract);
	allocator->ops->state(allocator, &state);
	for (size_t i = 0; i < state.segment_count; i++) {
		reserved += state.segments[i].size;
		active += walk(seen, &state, &state.segments[i]);
	}
	gp_state_release(&state);
	expect(seen, "reserved",
	       (uint64_t)gp_level_now(&levels[GP_STAT_RESERVED_BYTES]),
	       reserved);
	expect(seen, "in use",
	       (uint64_t)gp_level_now(&levels[GP_STAT_ACTIVE_BYTES]), active);
}

/* False: the engine failed, and the promise's note says why. */
static bool play(struct contract *c, struct gp_trace *trace, uint64_t capacity,
		 struct seen *seen, struct gp_replay_result *result)
{
	struct gp_settings settings;
	struct gp_diag diag = { 0 };
	const struct gp_replay_config config = {
		.trace = trace,
		.settings = &settings,
		.conf = "",
		.engine = c->config->engine,
		.torch_lib = c->config->torch_lib,
		.mode = GP_WHAT_IF,
		.capacity = capacity,
		.action = hash_action,
		.action_arg = seen,
		.look = check_state,
		.look_arg = seen,
	};

	*seen = (struct seen){ .contract = c };
	notify(c);
	gp_settings_init(&settings, GP_RELEASE_LAST);
	if (gp_replay(&config, result, &diag) == GP_OK)
		return true;
	snprintf(c->promise->note, sizeof(c->promise->note), "%s", diag.what);
	c->is_hung |= strstr(diag.what, "did not answer") != NULL;
	return false;
}

static void keep(struct contract *c, bool is_kept, const char *note)
{
	c->promise->is_kept = is_kept;
	snprintf(c->promise->note, sizeof(c->promise->note), "%s", note);
}

static uint64_t reserved_at_end(const struct gp_replay_result *result)
{
	return (uint64_t)result->stats
		.by_pool[GP_STAT_RESERVED_BYTES][GP_STAT_ALL]
		.current;
}

/* ---- promises ---- */

static void serves(struct contract *c, struct gp_trace *trace)
{
	struct gp_replay_result result;
	struct seen seen;
	char note[100];

	if (!play(c, trace, GP_UNLIMITED, &seen, &result))
		return;
	snprintf(note, sizeof(note),
		 "%" PRIu64 " of %" PRIu64 " requests served",
		 result.allocs - result.dropped, result.allocs);
	keep(c, !result.dropped, note);
	gp_replay_release(&result);
}

static void keeps_apart(struct contract *c, struct gp_trace *trace)
{
	struct gp_replay_result result;
	struct seen seen;

	if (!play(c, trace, GP_UNLIMITED, &seen, &result))
		return;
	keep(c, !*seen.wrong,
	     *seen.wrong ? seen.wrong : "checked every 37 events");
	gp_replay_release(&result);
}

static void decides_alike(struct contract *c, struct gp_trace *trace)
{
	struct gp_replay_result result;
	struct seen one, two;

	if (!play(c, trace, GP_UNLIMITED, &one, &result))
		return;
	gp_replay_release(&result);
	if (!play(c, trace, GP_UNLIMITED, &two, &result))
		return;
	gp_replay_release(&result);
	keep(c, one.print == two.print,
	     one.print == two.print ? "two runs"
				    : "the second run was different");
}

static void goes_on(struct contract *c, struct gp_trace *trace)
{
	struct gp_replay_result result;
	struct seen seen;
	char note[500];

	if (!play(c, trace, 256 * MIB, &seen, &result))
		return;
	snprintf(note, sizeof(note),
		 "with 256 MiB: %" PRIu64 " requests failed, %" PRIu64
		 " served%s%s",
		 result.dropped, result.allocs - result.dropped,
		 *seen.wrong ? "; " : "", seen.wrong);
	keep(c, !*seen.wrong && result.allocs > result.dropped, note);
	gp_replay_release(&result);
}

static void gives_back(struct contract *c, struct gp_trace *trace)
{
	struct gp_replay_result result;
	struct seen seen;
	const char *why = c->config->engine->keeps;
	char note[200];

	if (!play(c, trace, GP_UNLIMITED, &seen, &result))
		return;
	snprintf(note, sizeof(note), "%" PRIu64 " bytes remain reserved%s%s",
		 reserved_at_end(&result), why ? ": " : "", why ? why : "");
	keep(c, why || !reserved_at_end(&result), note);
	gp_replay_release(&result);
}

static struct gp_trace *edge_program(void)
{
	struct program p = begin(0);

	put(&p, GP_ALLOC, 0, 1, 0);
	put(&p, GP_ALLOC, 1, 0, 0);
	put(&p, GP_ALLOC, 2, UINT64_C(1) << 40, 0);
	put(&p, GP_ALLOC, 3, (UINT64_C(1) << 62) + 1, 0);
	put(&p, GP_ALLOC, 4, 2 * MIB - 1, 0);
	for (uint64_t name = 0; name < 5; name++)
		put(&p, GP_FREE, name, 0, 0);
	return end(&p);
}

static void knows_edges(struct contract *c, struct gp_trace *unused)
{
	struct gp_trace *trace = edge_program();
	const char *beyond = c->config->engine->beyond;
	struct gp_replay_result result;
	struct seen seen;
	char note[100];

	(void)unused;
	if (play(c, trace, 1024 * MIB, &seen, &result)) {
		/* Only the request of 2^62 bytes is larger than any host's
		 * memory. */
		uint64_t refused = beyond ? 1 : 2;

		snprintf(note, sizeof(note),
			 "%" PRIu64 " of 5 requests failed, with 1 GiB%s%s",
			 result.dropped, beyond ? " and " : "",
			 beyond ? beyond : "");
		keep(c, result.dropped == refused && !*seen.wrong,
		     *seen.wrong ? seen.wrong : note);
		gp_replay_release(&result);
	}
	gp_trace_destroy(trace);
}

/* Repeats the checks with programs from other seeds. */
static void holds_elsewhere(struct contract *c, struct gp_trace *unused)
{
	(void)unused;
	for (uint64_t seed = 2; seed < 6; seed++) {
		struct gp_trace *trace = mixed_program(seed);
		struct gp_replay_result result;
		struct seen seen;
		bool is_played =
			play(c, trace, seed * 128 * MIB, &seen, &result);

		gp_trace_destroy(trace);
		if (!is_played)
			return;
		gp_replay_release(&result);
		if (*seen.wrong) {
			keep(c, false, seen.wrong);
			return;
		}
	}
	keep(c, true, "four programs, 256 to 640 MiB");
}

static const struct {
	const char *sentence;
	void (*try)(struct contract *c, struct gp_trace *trace);
} promises[GP_PROMISES] = {
	{ "serves every request while there is memory", serves },
	{ "returns blocks within its segments that do not overlap",
	  keeps_apart },
	{ "makes the same decisions in every run", decides_alike },
	{ "continues after an OOM", goes_on },
	{ "releases all memory when nothing is in use, or says why not",
	  gives_back },
	{ "serves a request for one byte, and refuses one for more memory than "
	  "exists",
	  knows_edges },
	{ "does the same with other programs and capacities", holds_elsewhere },
};

void gp_contract_try(const struct gp_contract_config *config,
		     struct gp_promise out[GP_PROMISES])
{
	struct contract c = { .config = config };
	struct gp_trace *trace = mixed_program(1);

	for (size_t i = 0; i < GP_PROMISES; i++) {
		out[i] = (struct gp_promise){ promises[i].sentence, false, "" };
		c.promise = &out[i];
		/* Do not wait again for an engine that did not answer. */
		if (c.is_hung)
			keep(&c, false, "not tried: it did not answer");
		else
			promises[i].try(&c, trace);
	}
	gp_trace_destroy(trace);
}
