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
	enum gp_measure_id ids[GP_MEASURES]; /* the measures of a moment */
	size_t id_count;
	uint64_t width; /* number of events per bucket */
	struct gp_moment last;
	bool has_last;
};

struct gp_thin *gp_thin_create(void)
{
	struct gp_thin *thin = gp_mem_alloc(1, sizeof(*thin));

	thin->width = 1;
	for (unsigned id = 0; id < GP_MEASURES; id++)
		if (gp_measures[id].scope == GP_SCOPE_MOMENT)
			thin->ids[thin->id_count++] = id;
	return thin;
}

void gp_thin_destroy(struct gp_thin *thin)
{
	free(thin);
}

/* Merges the extremes of two buckets; of equal ones the earlier stays. */
static void widen(struct gp_thin *thin, size_t index, const struct bucket *by)
{
	struct bucket *into = &thin->buckets[index];

	if (!thin->is_used[index])
		*into = *by;
	for (size_t i = 0; i < thin->id_count; i++) {
		enum gp_measure_id id = thin->ids[i];

		if (by->least[id].value < into->least[id].value)
			into->least[id] = by->least[id];
		if (by->most[id].value > into->most[id].value)
			into->most[id] = by->most[id];
	}
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
			widen(thin, i / 2, &thin->buckets[i]);
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

/* Most moments are no new extreme; nothing is written for them. */
static void add_moment(struct gp_thin *thin, size_t index,
		       const struct gp_moment *moment)
{
	struct gp_subject subject = { .moment = moment };
	bool is_first = !thin->is_used[index];

	for (size_t i = 0; i < thin->id_count; i++) {
		enum gp_measure_id id = thin->ids[i];
		struct extreme *least = &thin->buckets[index].least[id];
		struct extreme *most = &thin->buckets[index].most[id];
		double value = gp_measure_value(id, &subject);

		if (is_first || value < least->value)
			*least = (struct extreme){ value, *moment };
		if (is_first || value > most->value)
			*most = (struct extreme){ value, *moment };
	}
	thin->is_used[index] = true;
}

void gp_thin_add(struct gp_thin *thin, const struct gp_moment *moment)
{
	size_t index;

	assert(!thin->has_last || moment->event >= thin->last.event);
	while (moment->event / thin->width >= GP_THIN_BUCKETS)
		fold(thin);
	index = moment->event / thin->width;
	/* Unchanged values are no new extreme, except in a new bucket. */
	if (has_changed(thin, moment) || !thin->is_used[index])
		add_moment(thin, index, moment);
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

		for (size_t j = 0; thin->is_used[i] && j < thin->id_count;
		     j++) {
			list[count++] = bucket->least[thin->ids[j]].moment;
			list[count++] = bucket->most[thin->ids[j]].moment;
		}
	}
	if (thin->has_last)
		list[count++] = thin->last;
	gp_sort(GP_SORTED(list, count, struct gp_moment, event));
	*moments = list;
	return unique(list, count);
}
