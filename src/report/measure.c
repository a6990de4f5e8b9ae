/* The numbers of a report: one row each. */
#include "report/measure.h"

static double part_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t peak_reserved(const struct gp_subject *s)
{
	return s->result->at_peak.reserved;
}

/* Not the counter's peak, which a program may reset on the way. */
static uint64_t peak_allocated(const struct gp_subject *s)
{
	const struct gp_timeline *timeline = &s->result->timeline;
	uint64_t peak = s->result->at_end.allocated;

	for (uint32_t i = 0; i < timeline->bins; i++)
		if (timeline->allocated[i] > peak)
			peak = timeline->allocated[i];
	return peak;
}

static uint64_t allocs(const struct gp_subject *s)
{
	return s->result->allocs;
}

static uint64_t dropped(const struct gp_subject *s)
{
	return s->result->dropped;
}

static uint64_t device_allocs(const struct gp_subject *s)
{
	int64_t count = s->result->stats.num_device_alloc;

	return count > 0 ? (uint64_t)count : 0;
}

static double hit_rate(const struct gp_subject *s)
{
	return part_of(minus(minus(allocs(s), dropped(s)), device_allocs(s)),
		       allocs(s));
}

static uint64_t reserved(const struct gp_subject *s)
{
	return s->moment->reserved;
}

static uint64_t allocated(const struct gp_subject *s)
{
	return s->moment->allocated;
}

static uint64_t active(const struct gp_subject *s)
{
	return s->moment->active;
}

static uint64_t requested(const struct gp_subject *s)
{
	return s->moment->requested;
}

static uint64_t inactive_split(const struct gp_subject *s)
{
	return s->moment->inactive_split;
}

static uint64_t gap(const struct gp_subject *s)
{
	return minus(reserved(s), allocated(s));
}

static double fragmentation(const struct gp_subject *s)
{
	return part_of(gap(s), reserved(s));
}

static double inactive_split_ratio(const struct gp_subject *s)
{
	return part_of(inactive_split(s), reserved(s));
}

static double utilization(const struct gp_subject *s)
{
	return part_of(allocated(s), reserved(s));
}

/* Requests are counted until their memory is free again, allocations until
 * the program gives them up: with frees under way the first can be larger. */
static double internal(const struct gp_subject *s)
{
	return part_of(minus(allocated(s), requested(s)), allocated(s));
}

static uint64_t largest_free(const struct gp_subject *s)
{
	return s->result->largest_free_at_end;
}

static double external(const struct gp_subject *s)
{
	uint64_t free_bytes = minus(reserved(s), active(s));

	return part_of(minus(free_bytes, largest_free(s)), free_bytes);
}

const struct gp_measure gp_measures[GP_MEASURES] = {
	[GP_PEAK_RESERVED] = { "peak_reserved_bytes", "Peak reserved",
			       GP_UNIT_BYTES, GP_SCOPE_RUN,
			       "most memory held from the device at once",
			       peak_reserved, NULL },
	[GP_PEAK_ALLOCATED] = { "peak_allocated_bytes", "Peak allocated",
				GP_UNIT_BYTES, GP_SCOPE_RUN,
				"most memory in use by tensors at once",
				peak_allocated, NULL },
	[GP_ALLOCS] = { "allocs", "Requests", GP_UNIT_COUNT, GP_SCOPE_RUN,
			"requests for memory", allocs, NULL },
	[GP_DROPPED] = { "dropped", "Requests dropped", GP_UNIT_COUNT,
			 GP_SCOPE_RUN,
			 "requests not served; their frees are dropped too",
			 dropped, NULL },
	[GP_DEVICE_ALLOCS] = { "device_allocs", "Device allocations",
			       GP_UNIT_COUNT, GP_SCOPE_RUN,
			       "times the device was asked for memory and gave "
			       "it (num_device_alloc)",
			       device_allocs, NULL },
	[GP_HIT_RATE] = { "hit_rate", "Served from cache", GP_UNIT_RATIO,
			  GP_SCOPE_RUN,
			  "requests served without asking the device / "
			  "requests",
			  NULL, hit_rate },
	[GP_RESERVED] = { "reserved_bytes", "reserved", GP_UNIT_BYTES,
			  GP_SCOPE_MOMENT, "held from the device", reserved,
			  NULL },
	[GP_ALLOCATED] = { "allocated_bytes", "allocated", GP_UNIT_BYTES,
			   GP_SCOPE_MOMENT, "in use by tensors, as rounded",
			   allocated, NULL },
	[GP_ACTIVE_BYTES] = { "active_bytes", "active", GP_UNIT_BYTES,
			      GP_SCOPE_MOMENT,
			      "allocated, or freed but still waiting for a "
			      "stream",
			      active, NULL },
	[GP_REQUESTED] = { "requested_bytes", "requested", GP_UNIT_BYTES,
			   GP_SCOPE_MOMENT,
			   "active, as asked for before rounding", requested,
			   NULL },
	[GP_INACTIVE_SPLIT] = { "inactive_split_bytes", "inactive_split",
				GP_UNIT_BYTES, GP_SCOPE_MOMENT,
				"free pieces of segments that are partly in "
				"use",
				inactive_split, NULL },
	[GP_GAP] = { "gap_bytes", "gap", GP_UNIT_BYTES, GP_SCOPE_MOMENT,
		     "reserved - allocated", gap, NULL },
	[GP_FRAGMENTATION] = { "fragmentation", "fragmentation", GP_UNIT_RATIO,
			       GP_SCOPE_MOMENT,
			       "(reserved - allocated) / reserved", NULL,
			       fragmentation },
	[GP_INACTIVE_SPLIT_RATIO] = { "inactive_split_ratio",
				      "inactive_split ratio", GP_UNIT_RATIO,
				      GP_SCOPE_MOMENT,
				      "inactive_split / reserved", NULL,
				      inactive_split_ratio },
	[GP_UTILIZATION] = { "utilization", "utilization", GP_UNIT_RATIO,
			     GP_SCOPE_MOMENT, "allocated / reserved", NULL,
			     utilization },
	[GP_INTERNAL] = { "internal", "lost to rounding", GP_UNIT_RATIO,
			  GP_SCOPE_MOMENT,
			  "(allocated - requested) / allocated", NULL,
			  internal },
	[GP_LARGEST_FREE] = { "largest_free_bytes", "largest free block",
			      GP_UNIT_BYTES, GP_SCOPE_END,
			      "the largest block that is free", largest_free,
			      NULL },
	[GP_EXTERNAL] = { "external", "free memory in pieces", GP_UNIT_RATIO,
			  GP_SCOPE_END,
			  "1 - largest free block / (reserved - active)", NULL,
			  external },
};

struct gp_subject gp_at_peak(const struct gp_replay_result *result)
{
	return (struct gp_subject){ result, &result->at_peak };
}

struct gp_subject gp_at_end(const struct gp_replay_result *result)
{
	return (struct gp_subject){ result, &result->at_end };
}

uint64_t gp_measure_count(enum gp_measure_id id,
			  const struct gp_subject *subject)
{
	return gp_measures[id].count(subject);
}

double gp_measure_ratio(enum gp_measure_id id, const struct gp_subject *subject)
{
	return gp_measures[id].ratio(subject);
}
