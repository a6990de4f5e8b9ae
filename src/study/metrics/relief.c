/* SPDX-License-Identifier: MIT */
/*
 * What would have to be freed for a request to be served: the fewest live bytes
 * whose segments, once free, would have been sufficient.
 *
 * A free segment can serve the request directly if it is large enough and of
 * the request's stream and pool. Otherwise segments return to the device,
 * except those of private pools: a set of these is sought that releases enough
 * and contains the fewest live bytes, which is a knapsack problem with a lower
 * bound on the gain, solved by dynamic programming.
 */
#include <stdlib.h>

#include "base/larger.h"
#include "base/mem.h"
#include "study/metrics/explain.h"

/* The live blocks to free; bytes NO_SUCH: impossible. */
#define NO_SUCH UINT64_MAX
struct hold {
	uint64_t bytes, segments, blocks;
};

/* A segment to be released, and the memory that the device would gain by it. */
struct unit {
	uint64_t gain; /* in grains */
	struct hold hold;
};

static bool is_better(const struct hold *a, const struct hold *b)
{
	if (a->bytes != b->bytes)
		return a->bytes < b->bytes;
	return a->segments < b->segments;
}

static struct hold sum_of(const struct hold *a, const struct hold *b)
{
	return (struct hold){ a->bytes + b->bytes, a->segments + b->segments,
			      a->blocks + b->blocks };
}

/* The live blocks of a segment. Pending frees do not count: releasing memory
 * waits for them. */
static struct hold hold_of(const struct gp_state *state,
			   const struct gp_segment *segment)
{
	struct hold hold = { .segments = 1 };

	for (uint32_t k = 0; k < segment->blocks; k++) {
		const struct gp_block *b =
			&state->blocks[segment->first_block + k];

		if (b->state != GP_ACTIVE)
			continue;
		hold.bytes += b->size;
		hold.blocks++;
	}
	return hold;
}

/* ---- a single segment of the pool ---- */

static bool is_its_own(const struct gp_oom *oom,
		       const struct gp_segment *segment)
{
	return segment->pool == oom->route.pool &&
	       segment->is_small == oom->route.is_small &&
	       segment->stream == oom->stream &&
	       segment->size >= oom->route.rounded;
}

static void find_own(const struct gp_oom *oom, const struct gp_state *state,
		     struct hold *best)
{
	for (size_t i = 0; i < state->segment_count; i++) {
		struct hold hold;

		if (!is_its_own(oom, &state->segments[i]))
			continue;
		hold = hold_of(state, &state->segments[i]);
		if (is_better(&hold, best))
			*best = hold;
	}
}

/* ---- a set of segments released to the device ---- */

#define GRAIN (UINT64_C(2) << 20) /* granularity of cudaMalloc */

/* The most grains in the table, that is, 8 GiB. For larger requests the grain
 * is doubled until it fits: then a set that is found is still sufficient, but
 * may not be the smallest, and a set may be missed. */
#define MOST_GRAINS 4096

static int by_gain(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	if (x->gain != y->gain)
		return x->gain < y->gain ? -1 : 1;
	return is_better(&y->hold, &x->hold) - is_better(&x->hold, &y->hold);
}

static size_t collect(const struct gp_state *state, uint64_t grain,
		      struct unit *units)
{
	size_t n = 0;

	for (size_t i = 0; i < state->segment_count; i++) {
		const struct gp_segment *s = &state->segments[i];

		if (!s->pool && s->size >= grain)
			units[n++] = (struct unit){ s->size / grain,
						    hold_of(state, s) };
	}
	qsort(units, n, sizeof(*units), by_gain);
	return n;
}

/* fewest[d] is the best set that gains at least d grains. Adds the option of
 * taking any of the n units, which have equal gain and are sorted by cost. */
static void add_group(struct hold *fewest, size_t want,
		      const struct unit *units, size_t n)
{
	for (size_t d = want; d; d--) {
		struct hold taken = { 0 };
		uint64_t gained = 0;

		for (size_t k = 0; k < n && gained < d; k++) {
			const struct hold *rest;
			struct hold all;

			gained += units[k].gain;
			taken = sum_of(&taken, &units[k].hold);
			rest = &fewest[gained < d ? d - gained : 0];
			if (rest->bytes == NO_SUCH)
				continue;
			all = sum_of(&taken, rest);
			if (is_better(&all, &fewest[d]))
				fewest[d] = all;
		}
	}
}

/* False: it is not known whether there is a set. */
static bool find_set(const struct gp_oom *oom, const struct gp_state *state,
		     struct hold *best)
{
	uint64_t lacking =
		oom->segment_size - gp_smaller(oom->room, oom->segment_size);
	uint64_t wanted = gp_sum(lacking, oom->overdrawn);
	uint64_t grain = GRAIN;
	struct unit *units = gp_mem_alloc(state->segment_count, sizeof(*units));
	struct hold *fewest;
	size_t n, want, group;

	while (wanted / grain >= MOST_GRAINS)
		grain *= 2;
	want = (size_t)(wanted / grain + (wanted % grain != 0));
	fewest = gp_mem_alloc(want + 1, sizeof(*fewest));
	for (size_t d = 1; d <= want; d++)
		fewest[d].bytes = NO_SUCH;
	n = collect(state, grain, units);
	for (size_t i = 0; i < n; i += group) {
		for (group = 1; i + group < n; group++)
			if (units[i + group].gain != units[i].gain)
				break;
		add_group(fewest, want, units + i, group);
	}
	if (want && is_better(&fewest[want], best))
		*best = fewest[want];
	free(fewest);
	free(units);
	return best->bytes != NO_SUCH || grain == GRAIN;
}

static bool has_expandable(const struct gp_state *state)
{
	for (size_t i = 0; i < state->segment_count; i++)
		if (state->segments[i].is_expandable)
			return true;
	return false;
}

void gp_relief_find(const struct gp_oom *oom, const struct gp_state *state,
		    struct gp_relief *relief)
{
	struct hold best = { .bytes = NO_SUCH };

	*relief = (struct gp_relief){ 0 };
	if (!oom->is_routed || oom->is_expandable || has_expandable(state) ||
	    (oom->route.collects && !oom->route.gives_back))
		return;
	find_own(oom, state, &best);
	relief->is_told = !oom->route.gives_back || find_set(oom, state, &best);
	if (best.bytes == NO_SUCH)
		return;
	relief->segments = best.segments;
	relief->blocks = best.blocks;
	relief->bytes = best.bytes;
}
