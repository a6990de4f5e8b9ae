/* SPDX-License-Identifier: MIT */
/* Thinning a run's moments without losing a peak: see gpupool/metrics.h. */
#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sorted.h"
#include "gpupool/metrics.h"

struct extreme {
	double value;
	struct gp_moment moment;
};

/* Indexed by enum gp_measure_id; only measures of a moment are used. */
struct bucket {
	struct extreme least[GP_MEASURES], most[GP_MEASURES];
};

struct gp_thin {
	struct bucket buckets[GP_THIN_BUCKETS];
	bool is_used[GP_THIN_BUCKETS];
	uint64_t width; /* number of events per bucket */
	struct gp_moment last;
	bool has_last;
};

struct gp_thin *gp_thin_create(void)
{
	struct gp_thin *thin = gp_mem_alloc(1, sizeof(*thin));

	thin->width = 1;
	return thin;
}

void gp_thin_destroy(struct gp_thin *thin)
{
	free(thin);
}

static bool is_of_moment(unsigned id)
{
	return gp_measures[id].scope == GP_SCOPE_MOMENT;
}

/* Merges the extremes of two buckets; of equal ones the earlier stays. */
static void widen(struct bucket *into, const struct bucket *by)
{
	for (unsigned id = 0; id < GP_MEASURES; id++) {
		if (!is_of_moment(id))
			continue;
		if (by->least[id].value < into->least[id].value)
			into->least[id] = by->least[id];
		if (by->most[id].value > into->most[id].value)
			into->most[id] = by->most[id];
	}
}

static void add_bucket(struct gp_thin *thin, size_t index,
		       const struct bucket *bucket)
{
	if (thin->is_used[index])
		widen(&thin->buckets[index], bucket);
	else
		thin->buckets[index] = *bucket;
	thin->is_used[index] = true;
}

/* Merges pairs of adjacent buckets. */
static void fold(struct gp_thin *thin)
{
	for (size_t i = 0; i < GP_THIN_BUCKETS; i++) {
		if (!thin->is_used[i])
			continue;
		thin->is_used[i] = i == 0;
		if (i)
			add_bucket(thin, i / 2, &thin->buckets[i]);
	}
	thin->width *= 2;
}

static bool has_changed(const struct gp_thin *thin,
			const struct gp_moment *moment)
{
	const struct gp_moment *last = &thin->last;

	return !thin->has_last || moment->reserved != last->reserved ||
	       moment->allocated != last->allocated ||
	       moment->active != last->active ||
	       moment->requested != last->requested ||
	       moment->inactive_split != last->inactive_split ||
	       moment->largest_free != last->largest_free;
}

void gp_thin_add(struct gp_thin *thin, const struct gp_moment *moment)
{
	struct gp_subject subject = { .moment = moment };
	struct bucket bucket;

	assert(!thin->has_last || moment->event >= thin->last.event);
	while (moment->event / thin->width >= GP_THIN_BUCKETS)
		fold(thin);
	/* Unchanged values are no new extreme, except in a new bucket. */
	if (!has_changed(thin, moment) &&
	    thin->is_used[moment->event / thin->width]) {
		thin->last = *moment;
		return;
	}
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if (is_of_moment(id))
			bucket.least[id] = bucket.most[id] = (struct extreme){
				gp_measure_value(id, &subject), *moment
			};
	add_bucket(thin, moment->event / thin->width, &bucket);
	thin->last = *moment;
	thin->has_last = true;
}

static size_t unique(struct gp_moment *moments, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (!kept || moments[i].event != moments[kept - 1].event)
			moments[kept++] = moments[i];
	return kept;
}

size_t gp_thin_moments(const struct gp_thin *thin, struct gp_moment **moments)
{
	size_t count = 0;
	struct gp_moment *list = gp_mem_alloc(
		(size_t)GP_THIN_BUCKETS * GP_MEASURES * 2 + 1, sizeof(*list));

	for (size_t i = 0; i < GP_THIN_BUCKETS; i++) {
		const struct bucket *bucket = &thin->buckets[i];

		for (unsigned id = 0; thin->is_used[i] && id < GP_MEASURES;
		     id++) {
			if (!is_of_moment(id))
				continue;
			list[count++] = bucket->least[id].moment;
			list[count++] = bucket->most[id].moment;
		}
	}
	if (thin->has_last)
		list[count++] = thin->last;
	gp_sort(GP_SORTED(list, count, struct gp_moment, event));
	*moments = list;
	return unique(list, count);
}
