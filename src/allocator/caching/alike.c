/* SPDX-License-Identifier: MIT */
/* Which other values of the settings would have led to the same decisions. */
#include "allocator/caching/caching.h"

#include <float.h>
#include <math.h>

void alike_begin(struct caching *c)
{
	c->alike = c->config.alike;
	if (!c->alike)
		return;
	*c->alike = (struct gp_alike){
		.max_split_most = GP_UNLIMITED,
		.non_split_most = GP_UNLIMITED,
		.large_most = GP_UNLIMITED,
		.gc_least = DBL_TRUE_MIN,
		.gc_most = nextafter(1, 0),
		.gc_off = true,
	};
}

/* ---- ranges ---- */

static void raise_to(uint64_t *least, uint64_t to)
{
	if (*least < to)
		*least = to;
}

static void lower_to(uint64_t *most, uint64_t to)
{
	if (*most > to)
		*most = to;
}

/* ---- free blocks: gp_settings_is_too_large ---- */

/* The block was taken. So would it be under every max_split_size larger than
 * the block; and, if the rest is below max_non_split_rounding, under every
 * max_split_size up to the request. */
static void narrow_taken(struct caching *c, uint64_t block, uint64_t rounded)
{
	const struct gp_settings *s = &c->settings;
	struct gp_alike *a = c->alike;
	uint64_t rest = block - rounded;

	if (!rest && s->max_non_split_rounding) {
		raise_to(&a->non_split_least, 1);
	} else if (s->max_split_size > block) {
		raise_to(&a->max_split_least, block + 1);
	} else {
		lower_to(&a->max_split_most, rounded);
		raise_to(&a->non_split_least, rest + 1);
	}
}

/* The block was too large. So would it be under every max_split_size greater
 * than the request and at most the block; and, if the rest is at least
 * max_non_split_rounding, under every max_split_size up to the request. */
static void narrow_refused(struct caching *c, uint64_t block, uint64_t rounded)
{
	struct gp_alike *a = c->alike;
	uint64_t rest = block - rounded;

	lower_to(&a->max_split_most, block);
	if (c->settings.max_non_split_rounding <= rest)
		lower_to(&a->non_split_most, rest);
	else
		raise_to(&a->max_split_least, rounded + 1);
}

void alike_narrow_fit(struct caching *c, uint64_t block, uint64_t rounded)
{
	if (gp_settings_is_too_large(&c->settings, block, rounded))
		narrow_refused(c, block, rounded);
	else
		narrow_taken(c, block, rounded);
}

void alike_split(struct caching *c, uint64_t rounded)
{
	if (rounded < c->settings.max_split_size)
		raise_to(&c->alike->max_split_least, rounded + 1);
	else
		lower_to(&c->alike->max_split_most, rounded);
}

/* ---- releasing oversize blocks: release_available ---- */

/* The first block from b downwards that is not in an expandable segment; those
 * are skipped. */
static const struct block *releasable(struct free_list *list,
				      const struct block *b)
{
	while (b && b->segment)
		b = free_list_prev(list, b);
	return b;
}

/*
 * Simulates release_available() from b downwards, until the sum is sufficient.
 * A limit larger than a block would end the loop there. Whether the sum is
 * sufficient does not depend on the limit: each released block is at least as
 * large as it.
 */
static void release_downwards(struct caching *c, struct free_list *list,
			      const struct block *b, uint64_t rounded)
{
	uint64_t limit = c->settings.max_split_size, sum = 0;
	uint64_t want = rounded > limit ? rounded : limit;
	struct gp_alike *a = c->alike;

	for (b = releasable(list, b); b && sum < want;
	     b = releasable(list, free_list_prev(list, b))) {
		if (b->size < limit) {
			raise_to(&a->max_split_least, b->size + 1);
			return;
		}
		lower_to(&a->max_split_most, b->size);
		if (block_is_split(b))
			return; /* refused */
		sum += b->size;
	}
}

void alike_release(struct caching *c, const struct request *request)
{
	uint64_t limit = c->settings.max_split_size;
	uint64_t rounded = request->rounded;
	uint64_t want = rounded > limit ? rounded : limit;
	struct free_list *list = pool_free_list(request->pool, request->stream);
	const struct block *b, *prev, *last;

	if (!list)
		return;
	last = free_list_last(list);
	b = limit == GP_UNLIMITED ? NULL : free_list_best_fit(list, want);
	if (!b) {
		/* No limit in the range is so low that a single block would be
		 * enough. */
		if (last && last->size >= rounded)
			raise_to(&c->alike->max_split_least, last->size + 1);
		release_downwards(c, list, last, rounded);
		return;
	}
	/* The best fit must remain this block. */
	prev = free_list_prev(list, b);
	lower_to(&c->alike->max_split_most, b->size);
	if (prev && prev->size >= rounded)
		raise_to(&c->alike->max_split_least, prev->size + 1);
	if (b->segment)
		release_downwards(c, list, prev, rounded);
}

/* ---- garbage collection ---- */

/* The lowest threshold at which this many reserved bytes cause no
 * collection. */
static double least_ratio(uint64_t reserved, uint64_t limit)
{
	double bytes = (double)reserved, ratio;

	if (!limit)
		return reserved ? INFINITY : DBL_TRUE_MIN;
	ratio = bytes / (double)limit;
	while (ratio * (double)limit < bytes)
		ratio = nextafter(ratio, INFINITY);
	while (ratio > DBL_TRUE_MIN &&
	       nextafter(ratio, 0) * (double)limit >= bytes)
		ratio = nextafter(ratio, 0);
	return ratio > 0 ? ratio : DBL_TRUE_MIN;
}

static void raise_ratio(struct caching *c, uint64_t reserved)
{
	double ratio = least_ratio(reserved, c->limit);

	if (c->alike->gc_least < ratio)
		c->alike->gc_least = ratio;
}

/* Whether the default large pool has a whole free segment. */
static bool has_whole(const struct caching *c)
{
	struct free_list **free_lists;
	size_t count = pool_listed(&c->pools.pairs[0]->large, &free_lists);

	for (size_t i = 0; i < count; i++) {
		struct free_list *list = free_lists[i];
		const struct block *b = free_list_last(list);

		for (; b; b = free_list_prev(list, b))
			if (!b->segment && !block_is_split(b))
				return true;
	}
	return false;
}

static uint64_t threshold_of(const struct caching *c, double ratio)
{
	return (uint64_t)(ratio * (double)c->limit);
}

/* No collection happens now. If there is anything to collect, that holds only
 * for thresholds that permit what is reserved. */
void alike_before_gc(struct caching *c)
{
	if (c->limit == GP_UNLIMITED)
		return;
	if (c->gc_enabled &&
	    c->reserved > threshold_of(c, c->settings.gc_threshold))
		return; /* alike_after_gc */
	if (c->alike->gc_least < 1 &&
	    c->reserved > threshold_of(c, c->alike->gc_least) && has_whole(c))
		raise_ratio(c, c->reserved);
}

void alike_after_gc(struct caching *c, const struct alike_gc *gc)
{
	struct gp_alike *a = c->alike;
	double ratio;

	if (!gc->reclaimed)
		return;
	a->gc_off = false;
	ratio = nextafter(least_ratio(gc->reserved - gc->before_last, c->limit),
			  0);
	if (a->gc_most > ratio)
		a->gc_most = ratio;
	if (gc->reached_target && gc->reclaimed < gc->reserved)
		raise_ratio(c, gc->reserved - gc->reclaimed);
}

/* ---- settings changed by the program ---- */

/*
 * From here on max_split_size and gc_threshold no longer depend on their former
 * values, because the program has set them. But blocks only age while there is
 * a threshold, and a later threshold may use their ages. large_segment_size is
 * fixed to its present value, since other settings are compared with it; so is
 * max_non_split_rounding, if the change leaves it as it is.
 */
void alike_end(struct caching *c, const char *conf)
{
	struct gp_settings one = c->settings, other = c->settings;
	struct gp_diag ignored = { 0 };

	if (!c->alike)
		return;
	alike_large(c);
	if (c->settings.gc_threshold > 0)
		c->alike->gc_off = false;
	else
		c->alike->gc_least = INFINITY;
	other.max_non_split_rounding++;
	gp_settings_set(&one, conf, &ignored);
	gp_settings_set(&other, conf, &ignored);
	if (one.max_non_split_rounding != other.max_non_split_rounding) {
		c->alike->non_split_least = c->settings.max_non_split_rounding;
		c->alike->non_split_most = c->settings.max_non_split_rounding;
	}
	c->alike = NULL;
}
