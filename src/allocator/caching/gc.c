/* SPDX-License-Identifier: MIT */
/* Garbage collection: free segments of the default large pool, oldest first. */
#include "allocator/caching/gc.h"

#include "allocator/caching/alike.h"
#include "allocator/caching/caching.h"
#include "allocator/caching/segment.h"

static uint64_t age_of(const struct block *b)
{
	return b->pool->searches - b->gc_base;
}

/* Keeps the whole segments of the n collected blocks; sums their ages. */
static size_t keep_whole(struct caching *c, size_t n, double *total_age)
{
	size_t whole = 0;

	for (size_t i = 0; i < n; i++) {
		struct block *b = c->scratch[i];

		if (block_is_split(b))
			continue;
		*total_age += (double)age_of(b);
		c->scratch[whole++] = b;
	}
	return whole;
}

/* One round over the blocks left, with one threshold; returns bytes. */
static uint64_t release_old(struct caching *c, size_t *n, size_t *count,
			    double *total_age)
{
	double threshold = *total_age / (double)*count;
	uint64_t reclaimed = 0;
	size_t left = 0;

	for (size_t i = 0; i < *n; i++) {
		struct block *b = c->scratch[i];

		if (b->segment || (double)age_of(b) < threshold) {
			c->scratch[left++] = b;
			continue;
		}
		*total_age -= (double)age_of(b);
		(*count)--;
		reclaimed += b->size;
		segment_release(c, b);
	}
	*n = left;
	return reclaimed;
}

void gc_collect(struct caching *c)
{
	uint64_t threshold =
		(uint64_t)(c->settings.gc_threshold * (double)c->limit);
	struct alike_gc did = { .reserved = c->reserved };
	uint64_t target, more = 1;
	double total_age = 0;
	size_t n, count;

	if (c->reserved <= threshold)
		return;
	target = c->reserved - threshold;
	n = caching_collect(c, &c->pools.pairs[0]->large);
	n = count = keep_whole(c, n, &total_age);
	while (did.reclaimed < target && more && count) {
		more = release_old(c, &n, &count, &total_age);
		if (more)
			did.before_last = did.reclaimed;
		did.reclaimed += more;
	}
	did.is_content = did.reclaimed >= target && count;
	if (c->alike)
		alike_after_gc(c, &did);
}
