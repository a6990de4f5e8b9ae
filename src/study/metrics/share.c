/* SPDX-License-Identifier: MIT */
/*
 * The holders of the live set: its blocks by site, or by size class, and the
 * most that each of them holds at any time in the run.
 *
 * The holders of two runs are paired by size, or by line. As many lines of a
 * function as possible are paired in their order; a pair with similar requests
 * is preferred, then one with the same line number.
 */
#include "study/metrics/change.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "study/metrics/event_search.h"
#include "trace/site.h"

#define CLASSES 65 /* powers of two, and a class for 0 bytes */

/* ---- which share a request belongs to ---- */

static unsigned class_of(uint64_t size)
{
	unsigned bits = 0;

	while (size) {
		bits++;
		size >>= 1;
	}
	return bits;
}

/* Shares by index. If they are by site, the last one is for requests without a
 * known site. */
struct sharing {
	struct gp_share *shares;
	size_t count;
	enum gp_sharing kind;
	const uint32_t *shown; /* by site: the site that represents it */
};

static size_t index_of(const struct sharing *s, uint32_t site, uint64_t size)
{
	if (s->kind == GP_SHARE_BY_SIZE)
		return class_of(size);
	return site < s->count - 1 ? s->shown[site] : s->count - 1;
}

/* The requested bytes of a block. */
static uint64_t live_of(const struct gp_block *block)
{
	return block->requested < block->size ? block->requested : block->size;
}

/* ---- the whole run ---- */

/* A block that a request allocated: its share and its requested bytes. */
struct held {
	size_t share;
	uint64_t size; /* 0: not live */
};

struct walk {
	struct sharing *sharing;
	struct held *held; /* by id */
	uint64_t *now;	   /* by share: requested bytes that are live */
};

static void drop(struct walk *w, uint32_t id)
{
	w->now[w->held[id].share] -= w->held[id].size;
	w->held[id].size = 0;
}

static void ask(struct walk *w, uint32_t site, uint64_t size)
{
	struct gp_share *share =
		&w->sharing->shares[index_of(w->sharing, site, size)];

	share->requests++;
	share->asked += size;
}

static void take(struct walk *w, uint32_t id, uint32_t site, uint64_t size)
{
	size_t i = index_of(w->sharing, site, size);
	struct gp_share *share = &w->sharing->shares[i];

	drop(w, id);
	w->held[id] = (struct held){ i, size };
	w->now[i] += size;
	if (w->now[i] > share->most)
		share->most = w->now[i];
}

/* Sums what each share requests in the whole run, and finds the most that it
 * holds. */
static void follow(const struct gp_device_trace *device,
		   const struct gp_replay_result *result,
		   struct sharing *sharing)
{
	size_t oom = 0;
	size_t ids = (size_t)device->block_ids + 1;
	struct walk w = {
		.sharing = sharing,
		.held = gp_mem_alloc(ids, sizeof(*w.held)),
		.now = gp_mem_alloc(sharing->count, sizeof(*w.now)),
	};

	for (size_t i = 0; i < device->start.block_count; i++) {
		const struct gp_block *block = &device->start.blocks[i];

		if (block->state != GP_ACTIVE || block->id >= device->block_ids)
			continue;
		ask(&w, block->site, live_of(block));
		take(&w, block->id, block->site, live_of(block));
	}
	for (size_t i = 0; i < device->event_count; i++) {
		const struct gp_event *event = &device->events[i];

		if (event->kind == GP_FREE)
			drop(&w, event->id);
		if (event->kind != GP_ALLOC)
			continue;
		ask(&w, event->site, event->size);
		if (oom < result->ooms.count && result->ooms.events[oom] == i)
			oom++;
		else if (!result->refused || i != result->first_refusal_event)
			take(&w, event->id, event->site, event->size);
	}
	free(w.held);
	free(w.now);
}

/* ---- the moment ---- */

static void add(struct gp_share *share, const struct gp_block *block)
{
	uint64_t live = live_of(block);

	share->blocks++;
	share->requested += live;
	share->rounding += block->size - live;
	if (share->requested > share->most)
		share->most = share->requested;
}

/* Sums the live blocks of the state. */
static void sum(const struct gp_device_trace *device,
		const struct gp_state *state, struct sharing *sharing)
{
	uint32_t *sites = gp_alloc_sites(device);

	for (size_t i = 0; i < state->block_count; i++) {
		const struct gp_block *block = &state->blocks[i];
		uint32_t site = GP_NO_SITE;

		if (block->state != GP_ACTIVE)
			continue;
		if (block->id < device->block_ids)
			site = sites[block->id];
		add(&sharing->shares[index_of(sharing, site, block->requested)],
		    block);
	}
	free(sites);
}

/* ---- the shares ---- */

static void name_shares(const struct gp_trace *trace, struct sharing *sharing)
{
	struct gp_site_known *known = gp_sites_known(trace);

	for (size_t i = 0; i < sharing->count; i++) {
		struct gp_share *share = &sharing->shares[i];

		if (sharing->kind == GP_SHARE_BY_SIZE)
			share->floor = i ? UINT64_C(1) << (i - 1) : 0;
		else if (i < trace->site_count &&
			 (share->requests || share->blocks))
			gp_site_known_text(trace, known, (uint32_t)i,
					   share->name);
	}
	free(known);
}

/* Moves the shares that have anything to the front; returns their number. */
static size_t pack(struct gp_share *shares, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (shares[i].requests || shares[i].blocks)
			shares[kept++] = shares[i];
	return kept;
}

size_t gp_share_out(const struct gp_trace *trace, uint32_t device,
		    const struct gp_replay_result *result, enum gp_sharing kind,
		    struct gp_share **shares)
{
	const struct gp_device_trace *t = &trace->devices[device];
	uint32_t *shown = gp_sites_shown(trace);
	struct sharing sharing = {
		.count = kind == GP_SHARE_BY_SIZE ? CLASSES
						  : trace->site_count + 1,
		.kind = kind,
		.shown = shown,
	};

	sharing.shares = gp_mem_alloc(sharing.count, sizeof(*sharing.shares));
	follow(t, result, &sharing);
	sum(t, &result->peak, &sharing);
	name_shares(trace, &sharing);
	free(shown);
	*shares = sharing.shares;
	return pack(sharing.shares, sharing.count);
}

/* ---- pairing: lines ---- */

/* The parts of "train.py:42 forward" around the line number. */
struct place {
	size_t file;	/* length of the file's name */
	const char *at; /* the function, with the blank before it */
	unsigned long line;
};

static bool find_place(const char *name, struct place *place)
{
	for (const char *c = strchr(name, ':'); c; c = strchr(c + 1, ':')) {
		char *end;

		if (!isdigit((unsigned char)c[1]))
			continue;
		place->line = strtoul(c + 1, &end, 10);
		place->file = (size_t)(c - name);
		place->at = end;
		if (!*end || *end == ' ')
			return true;
	}
	return false;
}

/* Sorts by file and function; a name without a line is a function of its
 * own. */
static int compare_functions(const char *a, const char *b)
{
	struct place x, y;
	bool has_x = find_place(a, &x), has_y = find_place(b, &y);
	int order;

	if (!has_x || !has_y)
		return has_x != has_y ? has_x - has_y : strcmp(a, b);
	order = strncmp(a, b, x.file < y.file ? x.file : y.file);
	if (!order && x.file != y.file)
		order = x.file < y.file ? -1 : 1;
	return order ? order : strcmp(x.at, y.at);
}

static unsigned long line_of(const struct gp_share *share)
{
	struct place place;

	return find_place(share->name, &place) ? place.line : 0;
}

static int compare_groups(const struct gp_share *x, const struct gp_share *y)
{
	if (x->floor != y->floor)
		return x->floor < y->floor ? -1 : 1;
	return compare_functions(x->name, y->name);
}

static int compare_shares(const void *a, const void *b)
{
	int order = compare_groups(a, b);
	unsigned long x, y;

	if (order)
		return order;
	x = line_of(a);
	y = line_of(b);
	return x < y ? -1 : x > y;
}

/* ---- pairing: the lines of a function ---- */

/* The weight of a pair of lines. A pair with similar requests outweighs a pair
 * with the same line number, which outweighs a pair that only keeps the
 * order. */
#define IN_ORDER   4
#define SAME_LINE  5
#define ALIKE	   6
/* If the product of the line counts of both sides exceeds this, a function's
 * lines are paired by number only. */
#define MOST_PAIRS (1U << 22)

/* The shares of one function on both sides, by line. */
struct group {
	const struct gp_share *a, *b;
	size_t a_count, b_count;
};

static bool asks_the_same(const struct gp_share *a, const struct gp_share *b)
{
	return a->requests == b->requests && a->asked == b->asked;
}

/* Whether the requests of both have the same average size; one program may have
 * made more steps. */
static bool asks_alike(const struct gp_share *a, const struct gp_share *b)
{
	return a->requests && b->requests &&
	       a->asked / a->requests == b->asked / b->requests;
}

static unsigned weight(const struct gp_share *a, const struct gp_share *b)
{
	return IN_ORDER + (line_of(a) == line_of(b) ? SAME_LINE : 0) +
	       (asks_alike(a, b) ? ALIKE : 0);
}

static void put(struct gp_share_pair *pairs, size_t *count,
		const struct gp_share *a, const struct gp_share *b)
{
	struct gp_share_pair *pair = &pairs[(*count)++];

	*pair = (struct gp_share_pair){
		.fate = !b			   ? GP_SHARE_GONE
			: !a			   ? GP_SHARE_NEW
			: line_of(a) == line_of(b) ? GP_SHARE_STAYED
						   : GP_SHARE_MOVED,
	};
	if (a)
		pair->a = *a;
	if (b)
		pair->b = *b;
}

static void pair_by_number(const struct group *g, struct gp_share_pair *pairs,
			   size_t *count)
{
	size_t i = 0, k = 0;

	while (i < g->a_count || k < g->b_count) {
		int order = i == g->a_count ? 1
			    : k == g->b_count
				    ? -1
				    : compare_shares(&g->a[i], &g->b[k]);

		put(pairs, count, order <= 0 ? &g->a[i] : NULL,
		    order >= 0 ? &g->b[k] : NULL);
		i += order <= 0;
		k += order >= 0;
	}
}

/* best[i][k]: the largest total weight of pairs among the lines from a[i] and
 * from b[k] on. */
static unsigned *count_pairs(const struct group *g)
{
	size_t row = g->b_count + 1;
	unsigned *best = gp_mem_alloc((g->a_count + 1) * row, sizeof(*best));

	for (size_t i = g->a_count; i-- > 0;)
		for (size_t k = g->b_count; k-- > 0;) {
			unsigned both = weight(&g->a[i], &g->b[k]) +
					best[(i + 1) * row + k + 1];
			unsigned skip = best[(i + 1) * row + k];

			if (best[i * row + k + 1] > skip)
				skip = best[i * row + k + 1];
			best[i * row + k] = both > skip ? both : skip;
		}
	return best;
}

static void pair_in_order(const struct group *g, struct gp_share_pair *pairs,
			  size_t *count)
{
	size_t row = g->b_count + 1, i = 0, k = 0;
	unsigned *best = count_pairs(g);

	while (i < g->a_count || k < g->b_count) {
		unsigned now = best[i * row + k];
		bool no_a = i == g->a_count, no_b = k == g->b_count;

		if (!no_a && !no_b &&
		    now == weight(&g->a[i], &g->b[k]) +
				    best[(i + 1) * row + k + 1])
			put(pairs, count, &g->a[i++], &g->b[k++]);
		else if (no_b || (!no_a && now == best[(i + 1) * row + k]))
			put(pairs, count, &g->a[i++], NULL);
		else
			put(pairs, count, NULL, &g->b[k++]);
	}
	free(best);
}

/* Among the unpaired lines, one that is gone and a new one with the same
 * requests are the same line, which moved past another. */
static void pair_moves(struct gp_share_pair *pairs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count && pairs[i].fate == GP_SHARE_GONE;
		     k++)
			if (pairs[k].fate == GP_SHARE_NEW &&
			    asks_the_same(&pairs[i].a, &pairs[k].b)) {
				pairs[i].b = pairs[k].b;
				pairs[i].fate = GP_SHARE_MOVED;
				pairs[k] = (struct gp_share_pair){
					.fate = GP_SHARE_STAYED
				};
			}
}

static void pair_group(const struct group *g, struct gp_share_pair *pairs,
		       size_t *count)
{
	size_t first = *count;

	if (g->a_count && g->b_count > MOST_PAIRS / g->a_count) {
		pair_by_number(g, pairs, count);
		return;
	}
	pair_in_order(g, pairs, count);
	pair_moves(pairs + first, *count - first);
}

/* ---- pairing: all holders ---- */

static struct gp_share *sorted(const struct gp_share *shares, size_t count)
{
	struct gp_share *copy = gp_mem_alloc(count, sizeof(*copy));

	for (size_t i = 0; i < count; i++)
		copy[i] = shares[i];
	qsort(copy, count, sizeof(*copy), compare_shares);
	return copy;
}

/* The number of leading shares that belong to the same group as `of`. */
static size_t run_of(const struct gp_share *shares, size_t count,
		     const struct gp_share *of)
{
	size_t n = 0;

	while (n < count && !compare_groups(&shares[n], of))
		n++;
	return n;
}

static size_t pair_groups(const struct gp_share *a, size_t a_count,
			  const struct gp_share *b, size_t b_count,
			  struct gp_share_pair *pairs)
{
	size_t count = 0;

	while (a_count || b_count) {
		const struct gp_share *first =
			!a_count			      ? b
			: b_count && compare_groups(b, a) < 0 ? b
							      : a;
		struct group g = {
			.a = a,
			.b = b,
			.a_count = run_of(a, a_count, first),
			.b_count = run_of(b, b_count, first),
		};

		pair_group(&g, pairs, &count);
		a += g.a_count;
		a_count -= g.a_count;
		b += g.b_count;
		b_count -= g.b_count;
	}
	return count;
}

static uint64_t change_of(const struct gp_share_pair *pair)
{
	uint64_t a = pair->a.requested, b = pair->b.requested;

	return a > b ? a - b : b - a;
}

const struct gp_share *gp_share_pair_some(const struct gp_share_pair *pair)
{
	return pair->fate == GP_SHARE_GONE ? &pair->a : &pair->b;
}

static int by_change(const void *a, const void *b)
{
	uint64_t x = change_of(a), y = change_of(b);

	if (x != y)
		return x > y ? -1 : 1;
	return compare_shares(gp_share_pair_some(a), gp_share_pair_some(b));
}

size_t gp_share_match(const struct gp_share *a, size_t a_count,
		      const struct gp_share *b, size_t b_count,
		      struct gp_share_pair **pairs)
{
	struct gp_share *x = sorted(a, a_count), *y = sorted(b, b_count);
	struct gp_share_pair *all =
		gp_mem_alloc(a_count + b_count, sizeof(*all));
	size_t count = pair_groups(x, a_count, y, b_count, all), kept = 0;

	for (size_t i = 0; i < count; i++)
		if (all[i].a.blocks || all[i].b.blocks)
			all[kept++] = all[i];
	qsort(all, kept, sizeof(*all), by_change);
	free(x);
	free(y);
	*pairs = all;
	return kept;
}
