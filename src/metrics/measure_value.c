/* SPDX-License-Identifier: MIT */
/* What each measure comes to. */
#include "metrics/measure_value.h"

#include "gpupool/price.h"

static double part_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static uint64_t positive(int64_t count)
{
	return count > 0 ? (uint64_t)count : 0;
}

uint64_t measure_peak_reserved(const struct gp_subject *s)
{
	return s->result->at_peak.reserved;
}

uint64_t measure_peak_allocated(const struct gp_subject *s)
{
	return gp_replay_peak_allocated(s->result);
}

bool measure_knows_reserved(const struct gp_subject *s)
{
	return s->result->recorded.has_reserved;
}

uint64_t measure_recorded_reserved(const struct gp_subject *s)
{
	return s->result->recorded.reserved;
}

bool measure_knows_allocated(const struct gp_subject *s)
{
	return s->result->recorded.has_allocated;
}

uint64_t measure_recorded_allocated(const struct gp_subject *s)
{
	return s->result->recorded.allocated;
}

bool measure_knows_start(const struct gp_subject *s)
{
	return s->result->recorded.has_first;
}

uint64_t measure_recorded_start(const struct gp_subject *s)
{
	return s->result->recorded.first_reserved;
}

uint64_t measure_allocs(const struct gp_subject *s)
{
	return s->result->allocs;
}

uint64_t measure_dropped(const struct gp_subject *s)
{
	return s->result->dropped;
}

uint64_t measure_device_allocs(const struct gp_subject *s)
{
	return positive(s->result->stats.num_device_alloc);
}

double measure_hit_rate(const struct gp_subject *s)
{
	return part_of(minus(minus(measure_allocs(s), measure_dropped(s)),
			     measure_device_allocs(s)),
		       measure_allocs(s));
}

uint64_t measure_reserved(const struct gp_subject *s)
{
	return s->moment->reserved;
}

uint64_t measure_allocated(const struct gp_subject *s)
{
	return s->moment->allocated;
}

uint64_t measure_active(const struct gp_subject *s)
{
	return s->moment->active;
}

uint64_t measure_requested(const struct gp_subject *s)
{
	return s->moment->requested;
}

uint64_t measure_inactive_split(const struct gp_subject *s)
{
	return s->moment->inactive_split;
}

uint64_t measure_gap(const struct gp_subject *s)
{
	return minus(measure_reserved(s), measure_allocated(s));
}

double measure_fragmentation(const struct gp_subject *s)
{
	return part_of(measure_gap(s), measure_reserved(s));
}

double measure_inactive_split_ratio(const struct gp_subject *s)
{
	return part_of(measure_inactive_split(s), measure_reserved(s));
}

double measure_utilization(const struct gp_subject *s)
{
	return part_of(measure_allocated(s), measure_reserved(s));
}

/* Requests are counted until their memory is free again, allocations until
 * the program gives them up: with frees under way the first can be larger. */
double measure_internal(const struct gp_subject *s)
{
	return part_of(minus(measure_allocated(s), measure_requested(s)),
		       measure_allocated(s));
}

uint64_t measure_largest_free(const struct gp_subject *s)
{
	return s->moment->largest_free;
}

double measure_external(const struct gp_subject *s)
{
	uint64_t free_bytes = minus(measure_reserved(s), measure_active(s));

	return part_of(minus(free_bytes, measure_largest_free(s)), free_bytes);
}

uint64_t measure_retries(const struct gp_subject *s)
{
	return positive(s->result->stats.num_alloc_retries);
}

uint64_t measure_ooms(const struct gp_subject *s)
{
	return positive(s->result->stats.num_ooms);
}

/* A row of calls: the device's own counter of them. */
#define CALLS(member)                                                          \
	uint64_t measure_##member##_calls(const struct gp_subject *s)          \
	{                                                                      \
		return s->result->calls.member;                                \
	}
CALLS(malloc)
CALLS(malloc_failed)
CALLS(free)
CALLS(reserve)
CALLS(unreserve)
CALLS(map)
CALLS(map_failed)
CALLS(unmap)

uint64_t measure_device_frees(const struct gp_subject *s)
{
	return positive(s->result->stats.num_device_free);
}

uint64_t measure_device_time(const struct gp_subject *s)
{
	return gp_price_whole_us(gp_prices_built_in(), &s->result->calls,
				 s->result->stats.num_sync_all_streams);
}

uint64_t measure_first_oom_alloc(const struct gp_subject *s)
{
	const struct gp_oom *oom = &s->result->first_oom;

	return oom->is_there ? oom->alloc : 0;
}

uint64_t measure_first_oom_event(const struct gp_subject *s)
{
	const struct gp_oom *oom = &s->result->first_oom;

	return oom->is_there ? oom->event : 0;
}
